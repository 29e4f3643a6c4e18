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

/* The path of a body relative to the one that it attracts, or to the centre. Its acceleration is
 * `share` times the law's value, towards the origin. */
struct sr_path {
    size_t n, from; /* rows; where its states begin */
    const double *t;
    double *x;          /* (dims, n) */
    double sigma, size; /* of a coordinate: standard deviation of the noise, rms */
    double m1, m2, share;
};
struct sr_paths {
    int dims, features;
    int column[3]; /* of r, m1, m2 among the features; -1: absent */
    const struct sr_language *language;
    size_t count, rows;
    struct sr_path *path; /* (count) */
    double *state;        /* (rows, 2 dims) positions and velocities of the smoothed tracks */
    double *block;
};
/* The paths of a table whose features are these: one for each pair of a system of two bodies, or
 * for each body about a centre. count is 0 where bodies have other times than the centre, or where
 * systems have more bodies. At most so many rows, of the first paths. ORR_ENOMEM. The caller frees
 * the paths, after errors too. */
int sr_paths_create(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                    const char *const *features, int count, size_t most, struct sr_paths *paths);
void sr_paths_free(struct sr_paths *paths);
/* A fit of a law to paths, cut into arcs of about so many rows, each with a start of its own. */
struct sr_arcs_fit {
    double chi2;    /* squared residuals over the variance of the noise; infinite: no solution */
    size_t numbers; /* compared */
    size_t starts;  /* numbers of all starts */
    bool converged;
    double value[SR_NODES];  /* (params) */
    struct sr_uncertainty u; /* of them, for noise of the paths' sigma; NAN: not determined */
};
/* Changes the form's parameters to those of least chi2, in at most so many steps. state (rows,
 * 2 dims): positions and velocities where the arcs begin; of the fitted solution in return.
 * ORR_ENOMEM. */
int sr_arcs_fit(const struct sr_paths *paths, size_t rows, int steps, double until_s,
                struct sr_form *form, double *state, struct sr_arcs_fit *fit);

#endif
