/* collapse.h - inside symreg/: where y is a small formula times a function of one variable.
 *
 * For small formulas h and u without constants, y / h is compared with u: where neighbours in the
 * order of u have nearly the same y / h, the table collapses to a curve, y = h phi(u). Then phi is
 * searched among all functions of one variable with up to two constants, their derivatives by the
 * constants included, so that a coarse grid of constants is enough. Products and quotients of the
 * features are treated alike: nothing here knows a law. */
#ifndef SR_COLLAPSE_H
#define SR_COLLAPSE_H

#include "enumerate.h"
#include "propose.h"

/* ---- functions of one variable */

enum {
    SR_CURVE_SIZE = 12,    /* nodes of a function, at most */
    SR_CURVE_KEPT = 12,    /* of every size and target */
    SR_CURVE_TARGETS = 84, /* curves searched at once, at most */
};
/* Values at the points, to be met by a f + b. Targets that are not `deep` are left out of the
 * search among the costlier functions. */
struct sr_curve_target {
    double unit[SR_ROWS]; /* mean 0, length 1 */
    bool deep;
};
struct sr_curve_found {
    double score;        /* 1 - R^2, constants moved to first order */
    struct sr_expr expr; /* feature 0 is the variable; constants moved likewise */
};
/* The best of every target and size, best first. */
struct sr_curves {
    int count[SR_CURVE_TARGETS][SR_CURVE_SIZE + 1];
    struct sr_curve_found found[SR_CURVE_TARGETS][SR_CURVE_SIZE + 1][SR_CURVE_KEPT];
};
/* Tries functions by increasing cost until `budget` were tried; of the costly ones it takes part
 * number `part` of `parts`. curves must be zeroed. */
int sr_curves_find(const struct sr_settings *settings, const double x[SR_ROWS],
                   const struct sr_curve_target *target, int targets, double budget, int part,
                   int parts, struct sr_curves *curves);
/* Adds what `other` found; the same curves whatever was found by whom. */
void sr_curves_merge(struct sr_curves *curves, const struct sr_curves *other, int targets);

/* Mean 0 and length 1; false when there is hardly any variation. */
bool sr_curve_normalise(const double value[SR_ROWS], double unit[SR_ROWS]);

/* ---- tables that collapse */

enum { SR_COLLAPSE_VARIABLES = 48, SR_COLLAPSE_PARTS = 4 };
/* What is looked at. */
struct sr_collapse {
    const struct sr_settings *settings;
    const struct sr_loss *loss;
    struct sr_thread *thread;
    int threads;
    size_t rows;
    struct sr_data data; /* (rows) */
    double *x;           /* its storage */
    int factors, variables;
    struct sr_expr *expr;  /* (factors); number 0 is 1: count 0 */
    double *value, *shape; /* (factors, rows): of h, and of y / h on a scale of equal ratios */
    double *spread;        /* (factors) variance of shape */
    int variable[SR_COLLAPSE_VARIABLES];
    uint16_t *order; /* (SR_COLLAPSE_VARIABLES, rows) by u */
    float *rough;    /* (factors, SR_COLLAPSE_VARIABLES) */
};

/* One of the functions that phi may be. */
struct sr_collapse_target {
    struct sr_expr factor; /* h; count 0: 1 */
    enum sr_op outer;      /* phi = outer(a f + b); SR_CONSTANT: a f + b */
    double z[SR_ROWS], inverted[SR_ROWS];
};
struct sr_curve {
    int variable, count;
    double x[SR_ROWS];
    struct sr_collapse_target target[SR_CURVE_TARGETS];
    struct sr_curve_target unit[SR_CURVE_TARGETS];
    struct sr_curves *found[SR_COLLAPSE_PARTS];
};

/* Searches and fits the curves, and appends the best of every size to the seeds. */
int sr_collapse_fit(const struct sr_collapse *collapse, struct sr_curve *list, int count,
                    struct sr_seeds *seeds);

/* ---- formulas under way: nodes beyond SR_NODES are counted, not kept */

static inline void sr_put_node(struct sr_expr *out, struct sr_node node)
{
    if (out->count < SR_NODES)
        out->node[out->count] = node;
    out->count++;
}

static inline void sr_put_expr(struct sr_expr *out, const struct sr_expr *in)
{
    for (int i = 0; i < in->count; i++)
        sr_put_node(out, in->node[i]);
}

/* ---- the stages */

/* Appends fitted formulas to the seeds. `thread` has `threads`. */
int sr_collapse_find(const struct sr_settings *settings, const struct sr_loss *loss,
                     struct sr_thread *thread, int threads, struct sr_seeds *seeds);
/* Likewise sums of up to three small formulas, h H(a f + b g + c k + d). */
int sr_pursuit_find(const struct sr_settings *settings, const struct sr_loss *loss,
                    struct sr_thread *thread, int threads, struct sr_seeds *seeds);

#endif
