/* arcs.h - inside symreg/motion/: constants of a law fitted to the positions themselves, by
 * integrating the paths of bodies about each other or about a centre. */
#ifndef SR_ARCS_H
#define SR_ARCS_H

#include "motion.h"

/* A formula and which of its numbers are fitted: those of one parameter stay equal. */
struct sr_form {
    struct sr_expr expr;
    int numbers, params;
    int param[SR_NODES]; /* (numbers) -1: the number stays */
};
/* Every number is a parameter of its own, but for exponents that are whole numbers. */
void sr_form_make(const struct sr_expr *expr, struct sr_form *form);
void sr_form_get(const struct sr_form *form, double value[SR_NODES]);
void sr_form_set(struct sr_form *form, const double *value);
/* The derivatives by parameters (params, rows) of those by numbers (numbers, rows), in place. */
void sr_form_collect(const struct sr_form *form, size_t rows, double *jacobian);

/* Two bodies of a path, or a body and the origin, attract each other by the law's value F: the
 * acceleration of body a is share_a F towards b, that of b share_b F towards a. Where the body at
 * the origin is the centre of the frame, share_frame F towards b is the frame's acceleration, which
 * all bodies have less. */
struct sr_pair {
    size_t a;
    int b; /* -1: the origin */
    double m1, m2, share_a, share_b, share_frame;
};
enum { SR_PATH_STATES = 2 * SR_MOTION_DIMS * SR_MOTION_BODIES };
/* The paths of bodies that attract each other: the one of a body relative to another or to a
 * centre, or those of all bodies of a system that move. */
struct sr_path {
    size_t n, bodies, pairs;
    size_t from; /* where its states begin among those of all paths */
    const double *t;
    double *x;              /* (bodies, dims, n) */
    double *sigma, *extent; /* (bodies) of a coordinate: standard deviation of the noise, rms */
    double size;            /* the largest extent */
    struct sr_pair *pair;   /* (pairs) */
};
struct sr_paths {
    int dims, features;
    int column[3]; /* of r, m1, m2 among the features; -1: absent */
    const struct sr_language *language;
    size_t count, bodies, rows; /* paths, bodies of all, rows of all bodies */
    bool together;              /* some are those of three bodies and more */
    struct sr_path *path;       /* (count) */
    size_t states;
    double *state; /* (states) of each path (n, 2 bodies dims): positions and velocities of the
                      smoothed tracks */
    struct sr_pair *pair; /* of all paths */
    double *chi2;         /* (count) of each path, by the fit that ended last */
    double *sorted;       /* (count) for path_noise.c */
};
/* The paths of a table whose features are these: one for each pair of a system of two bodies, for
 * each body about a centre, and for each system of more bodies, relative to the one that rests if
 * one does. count is 0 where bodies of a system have other times, or other times than the centre.
 * At most so many rows of bodies, of the first paths; longer systems are cut. ORR_ENOMEM. The
 * caller frees the paths, after errors too. */
int sr_paths_create(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                    const char *const *features, int count, size_t most, struct sr_paths *paths);
void sr_paths_free(struct sr_paths *paths);
/* Whether the time (0: there is no limit) or a signal ends fits. */
bool sr_arcs_over(double until_s);

/* A fit of a law to paths, cut into arcs of about so many rows, each with a start of its own. */
struct sr_arcs_fit {
    double chi2;    /* squared residuals over the variance of the noise; infinite: no solution */
    size_t numbers; /* compared */
    size_t starts;  /* numbers of all starts */
    bool converged;
    bool whole;              /* the arcs are whole paths */
    double value[SR_NODES];  /* (params) */
    struct sr_uncertainty u; /* of them, for noise of the paths' sigma; NAN: not determined */
};
/* Changes the form's parameters to those of least chi2, in at most so many steps. state
 * (paths->states): positions and velocities where the arcs begin; of the fitted solution in return.
 * ORR_ENOMEM. */
int sr_arcs_fit(const struct sr_paths *paths, size_t rows, int steps, double until_s,
                struct sr_form *form, double *state, struct sr_arcs_fit *fit);
/* Fits arcs of so many rows, then of twice as many, up to whole paths. fit->whole: whole paths were
 * fitted before the time ended. ORR_ENOMEM. */
int sr_arcs_fit_whole(const struct sr_paths *paths, size_t rows, double until_s,
                      struct sr_form *form, double *state, struct sr_arcs_fit *fit);

/* ---- the noise of paths (path_noise.c) */

/* Mean squared residual, in variances of the noise, below which a law is as good as exact. */
double sr_paths_exact(const struct sr_paths *paths);
/* Nats of what the fit that ended last leaves of all numbers. */
double sr_paths_nats(const struct sr_paths *paths, const struct sr_arcs_fit *fit);
/* Raises sigma of paths that were smoothed badly: those of which short arcs leave far more than of
 * most, by each of so many laws; any law bends to a short arc. ORR_ENOMEM. */
int sr_paths_correct_noise(struct sr_paths *paths, const struct sr_form *const *form, int forms,
                           double until_s);

#endif
