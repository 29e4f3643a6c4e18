/* vectors.h - inside symreg/dynamics/: accelerations as sums of vectors, each a number times a
 * scalar of r, v^2, r.v, a height and the time, times a direction, which every component shares. */
#ifndef SR_VECTORS_H
#define SR_VECTORS_H

#include "flow.h"

struct sr_states;
enum {
    SR_VECTOR_TERMS = 64, /* vectors to choose from, at most */
    SR_FORM_TERMS = 6,    /* vectors of a form, at most */
    SR_FORMS = 48,        /* forms that are tried by the tracks, at most */
};
enum sr_direction {
    SR_RADIAL,   /* the position (x, y, z) */
    SR_VELOCITY, /* the velocity */
    SR_TURNED,   /* axis x velocity: in a plane (-v_y, v_x) */
    SR_UNIT,     /* the unit vector of the axis */
    SR_ACROSS,   /* axis x position, which no form has: a force that is not central */
};
/* r^power |v|^speed (r.v)^along (coordinate of the axis)^height t^time times the direction, and
 * times exp(rate t) where it fades. */
struct sr_vector {
    enum sr_direction direction;
    int axis, speed, along, height, time;
    bool fades;
    double power, rate;
};
/* A sum of vectors. */
struct sr_form {
    int count;
    struct sr_vector term[SR_FORM_TERMS];
    double value[SR_FORM_TERMS], error[SR_FORM_TERMS]; /* error: NAN where it is not known */
    /* whether the power of r is fitted, too, or where the vector fades its rate; the error of that
     * number */
    bool free[SR_FORM_TERMS];
    double free_error[SR_FORM_TERMS];
    /* errors with all other numbers known, by which digits are counted */
    double alone[SR_FORM_TERMS], free_alone[SR_FORM_TERMS];
};
/* The number of a term that is fitted beside its coefficient, and how many times it is what stands
 * in formulas, where r^p is (r^2)^(p / 2). */
static inline double *sr_form_number(struct sr_form *form, int k)
{
    return form->term[k].fades ? &form->term[k].rate : &form->term[k].power;
}
static inline double sr_form_times(const struct sr_form *form, int k)
{
    return form->term[k].fades ? 1 : 2;
}
/* Lists the vectors that forms are made of: those without the time, then those with it. Returns how
 * many; *timeless: of the first kind. */
int sr_vectors_list(const struct sr_states *states, struct sr_vector term[SR_VECTOR_TERMS],
                    int *timeless);
bool sr_vector_is(const struct sr_vector *a, const struct sr_vector *b);
/* Whether a vector of the form has the time. */
bool sr_form_is_timed(const struct sr_form *form);
/* The vector (dims) with a coefficient of 1 at position and velocity x (2 dims) and time t. */
void sr_vector_at(const struct sr_states *states, const struct sr_vector *term, const double *x,
                  double t, double *vector);
/* Writes a form as a formula of each component, expr (dims). group[d][k]: which term's coefficient
 * number k of component d is; from form->count on: which free number, of a power half; -1: a power
 * that stays. False where a component is longer than a formula. */
bool sr_form_components(const struct sr_states *states, const struct sr_form *form,
                        struct sr_expr *expr, int (*group)[SR_NODES]);
/* The standard errors of the components' numbers, error (dims), by `group` of these; NAN: a number
 * that has none. */
void sr_form_errors(const struct sr_form *form, int dims, const struct sr_expr *expr,
                    const int (*group)[SR_NODES], double (*error)[SR_NODES]);
/* What the form costs in nats without its coefficients, written once for all components. */
double sr_vectors_nats(const struct sr_form *form);
/* "r^-3 * (x, y)", "(-v_y, v_x)", "t * (0, 1)". */
void sr_vector_text(const struct sr_states *states, const struct sr_vector *term, char *text,
                    size_t bytes);
/* "a = -39.48 * r^-3 * (x, y) - 0.1 * (v_x, v_y)". */
void sr_form_text(const struct sr_states *states, const struct sr_form *form, char *text,
                  size_t bytes);

/* ---- which sums explain the tracks, before any is integrated (vector_sums.c) */

struct sr_sums;
/* Prepares least squares over all vectors of the list. solved: the smoothed tracks are a solution
 * near the tracks, and their accelerations say nothing. ORR_ENOMEM; the caller frees the sums,
 * after errors too. */
int sr_sums_create(const struct sr_states *states, bool solved, struct sr_sums **sums);
void sr_sums_free(struct sr_sums *sums);
/* Lists sums, the most promising of each length first; timed: those with the time alone, else those
 * without. Returns how many. */
int sr_sums_list(struct sr_sums *sums, bool timed, struct sr_form form[SR_FORMS]);
/* Lists the `most` (at most SR_FORMS) likeliest sums without the time, the best first. Returns how
 * many. */
int sr_sums_likeliest(struct sr_sums *sums, int most, struct sr_form *form);
/* By how many nats the likeliest sum with the time is shorter than that without, by the least
 * squares that favour it most, if the best of both leaves no more than noise. */
double sr_sums_time(struct sr_sums *sums);
/* Lists central forces and drag that fade or grow with exp(rate t), alone and with another vector,
 * those that leave least. The rate does not enter linearly, so that a grid of rates is tried.
 * *gain: by about how many nats one of them is shorter than all sums without the time.
 * ORR_ENOMEM. */
enum { SR_FADING = 6 };
int sr_sums_fading(struct sr_sums *sums, struct sr_form form[SR_FADING], int *count, double *gain);
/* Lists the `most` vectors that a form, added to it, would gain most from, the best first; timed:
 * those with the time alone, else those without. Returns how many. */
int sr_sums_more(const struct sr_sums *sums, const struct sr_form *form, bool timed, int most,
                 struct sr_vector *term);

#endif
