/* bodies.h - inside symreg/motion/: bodies that attract each other, integrated along arcs of their
 * paths, with derivatives by starts and by the parameters of a law. */
#ifndef SR_BODIES_H
#define SR_BODIES_H

#include "arcs.h"
#include "dormand_prince.h"

/* Consecutive rows of a system, which are followed from a start of their own. `states` numbers of a
 * start: positions of all bodies, then their velocities; `columns` parameters: the start's, then
 * the law's. */
struct sr_arc {
    const struct sr_path *path;
    size_t first, last, row; /* rows; the one that comes next */
    size_t states, columns, width;
    size_t pair; /* where its pairs stand among those of all arcs on their way */
    double t, step;
    double chi2;    /* of its rows; infinite: it has no solution */
    double damping; /* of its start alone */
    bool idle;      /* is not followed */
    double *peak;   /* (bodies) the largest velocity so far */
    double *z;      /* (width) state, then tangents (states, columns) */
    double *trial, *rate[SR_DP_STAGES];
    double *normal, *gradient; /* (columns, columns), (columns) sums over its residuals */
    double *solved;            /* (states, params + 1) the start's change by parameters, constant */
    double *start;             /* (states) */
};
struct sr_arcs {
    const struct sr_paths *paths;
    const struct sr_form *form;
    size_t count, active, pairs;          /* arcs, those on their way, the pairs of these */
    struct sr_arc *arc;                   /* (count) */
    size_t *list;                         /* (count) those on their way */
    double *x, *value, *slope, *jacobian; /* of the formula, for the pairs of arcs on their way */
    double *state;                        /* of all paths along the solution */
    double chi2, until_s;                 /* until_s: 0: no limit */
    void *block;
};
/* Arcs of about so many rows, whose starts the caller fills in. ORR_ENOMEM; the caller frees the
 * arcs, after errors too. */
int sr_arcs_create(const struct sr_paths *paths, const struct sr_form *form, size_t rows,
                   struct sr_arcs *arcs);
void sr_arcs_free(struct sr_arcs *arcs);
/* Follows all arcs but idle ones from their starts. chi2 is infinite where one has no solution, or
 * none in time. */
void sr_arcs_follow(struct sr_arcs *arcs);
/* Adds chi2 of all arcs. */
void sr_arcs_add_up(struct sr_arcs *arcs);
/* Fits the start of every arc alone, with the law as it is; `other` is as large (arcs.c). */
void sr_arcs_settle(struct sr_arcs *arcs, struct sr_arcs *other);
/* Moves arc p of `other` to *arcs, with its start and solution. */
void sr_arcs_take(struct sr_arcs *arcs, struct sr_arcs *other, size_t p);
/* Solves paths anew that leave far more than most do (grow_arcs.c). ORR_ENOMEM. */
int sr_arcs_regrow(struct sr_arcs *arcs, struct sr_arcs *other, const struct sr_form *form);

#endif
