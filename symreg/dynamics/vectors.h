/* vectors.h - inside symreg/dynamics/: accelerations as sums of vectors, each a number times a
 * scalar of r, v^2, r.v and a height times a direction, which every component shares. */
#ifndef SR_VECTORS_H
#define SR_VECTORS_H

#include "flow.h"

struct sr_states;
enum {
    SR_VECTOR_TERMS = 48, /* vectors to choose from, at most */
    SR_FORM_TERMS = 6,    /* vectors of a form, at most */
    SR_FORMS = 24,        /* forms that are tried by the tracks */
};
enum sr_direction {
    SR_RADIAL,   /* the position (x, y, z) */
    SR_VELOCITY, /* the velocity */
    SR_TURNED,   /* axis x velocity: in a plane (-v_y, v_x) */
    SR_UNIT,     /* the unit vector of the axis */
    SR_ACROSS,   /* axis x position, which no form has: a force that is not central */
};
/* r^power |v|^speed (r.v)^along (coordinate of the axis)^height times the direction. */
struct sr_vector {
    enum sr_direction direction;
    int axis, power, speed, along, height;
};
/* A sum of vectors. */
struct sr_form {
    int count;
    struct sr_vector term[SR_FORM_TERMS];
    double value[SR_FORM_TERMS], error[SR_FORM_TERMS]; /* error: NAN where it is not known */
    double left; /* sum of squares that it leaves on the smoothed accelerations, in variances */
};
/* Lists the vectors that forms are made of. Returns how many. */
int sr_vectors_list(const struct sr_states *states, struct sr_vector term[SR_VECTOR_TERMS]);
/* Finds sums that explain the smoothed accelerations by least squares over all components: of each
 * number of vectors the best few, best first. ORR_ENOMEM. */
int sr_vectors_find(const struct sr_states *states, struct sr_form form[SR_FORMS], int *count);
/* Writes a form as a formula of each component, expr (dims). group[d][k]: which term's coefficient
 * number k of component d is; -1: an exponent. False where a component is longer than a formula. */
bool sr_form_components(const struct sr_states *states, const struct sr_form *form,
                        struct sr_expr *expr, int (*group)[SR_NODES]);
/* What the form costs in nats without its coefficients, written once for all components. */
double sr_vectors_nats(const struct sr_form *form);
/* "(x, y)", "(-v_y, v_x)", "(0, 1)". */
void sr_vector_text(const struct sr_states *states, const struct sr_vector *term, char *text,
                    size_t bytes);
/* "a = -39.48 * r^-3 * (x, y) - 0.1 * (v_x, v_y)". */
void sr_form_text(const struct sr_states *states, const struct sr_form *form, char *text,
                  size_t bytes);

#endif
