/* flow.h - systems of differential equations whose right-hand sides are formulas: integrated from a
 * start, and their constants refitted to tracks by integrating.
 *
 *   lanes.c               solutions side by side, with their derivatives by start and constants
 *   flow.c                one solution
 *   category_constants.c  constants of each category
 *   piece_starts.c        where a fit starts each piece of a track
 *   follow_pieces.c       all pieces followed from their starts
 *   condense.c            the equations of a step of a fit, with the pieces of a track joined
 *   shooting.c            the fit
 *   conserved.c           what a system conserves
 *   simulate.c            `symreg simulate`
 *
 * The integrator is the pair of orders 5 and 4 of Dormand and Prince (Journal of Computational and
 * Applied Mathematics 6 (1980) 19) with adaptive steps. Formulas are evaluated by the loops of
 * value.h, so that results have the same bits on every CPU. */
#ifndef SR_FLOW_H
#define SR_FLOW_H

#include "symreg/symreg.h"

enum { SR_FLOW_STATES = 8, SR_FLOW_INPUTS = 8 };

/* Constants that have a value in each category of tracks, as the friction of each pendulum. In
 * formulas they are the features from SR_EACH_FIRST on, SR_EACH_OWN of each equation. */
enum {
    SR_EACH_FIRST = 32, /* behind all states, velocities, the time and inputs */
    SR_EACH_OWN = 4,
    SR_EACH = SR_EACH_OWN * SR_FLOW_STATES,
    SR_CATEGORIES = 128,      /* at most */
    SR_FLOW_CONSTANTS = 1024, /* of all equations and categories that a fit determines, at most */
};
/* Those of one equation. */
struct sr_each_own {
    double value[SR_EACH_OWN][SR_CATEGORIES];
};
struct sr_each {
    double value[SR_EACH][SR_CATEGORIES];
};
static inline bool sr_is_each(const struct sr_node *node)
{
    return node->op == SR_FEATURE && node->feature >= SR_EACH_FIRST;
}
/* Which of these constants a formula contains, one bit each. */
uint32_t sr_each_used(const struct sr_expr *expr);
/* Lists those that a fit of the flow changes; returns how many. */
struct sr_flow;
int sr_each_fitted(const struct sr_flow *flow, int slot[SR_EACH]);
/* Replaces them by the numbers that they are in one category. */
void sr_each_settle(const struct sr_each *each, size_t category, struct sr_expr *expr);
/* The same of a formula that has those of one equation, from `first` on. */
void sr_each_fill(const struct sr_each_own *own, int first, size_t category, struct sr_expr *expr);
/* ... by their means over the categories. */
void sr_each_average(const struct sr_each_own *own, int first, int categories,
                     struct sr_expr *expr);

/* order 1: dx_i/dt = equation[i](x, t, u); order 2: d2x_i/dt2 = equation[i](x, v, t, u). Features
 * of the formulas, in this order: x (dims), with order 2 the velocities v (dims), the time t, and
 * the inputs u (inputs). The caller keeps the language and the formulas. */
struct sr_flow {
    int dims, order, inputs;
    const struct sr_language *language; /* NULL: operators of the table alone */
    struct sr_expr *equation;           /* (dims) */
    /* (dims): of each number of each equation the fitted number that it is, counted from 0, or -1:
     * it stays. NULL: each is one of its own */
    const int (*group)[SR_NODES];
    /* the constants of each category, which a fit changes but for those held, one bit each. NULL:
     * the formulas have none */
    struct sr_each *each;
    int categories;
    uint32_t held;
};
/* The number of states of the solution: x and, with order 2, v behind them. */
static inline int sr_flow_states(const struct sr_flow *flow)
{
    return flow->order * flow->dims;
}

/* Solves from `start` (states) at t[0] to the rising times t (n): x (states, n). The inputs
 * (inputs, n) are linear between these times. The error of each step is at most `tolerance` times
 * the largest value that the state has had. Constants of categories have to be settled.
 * ORR_EINVAL where a start or a time is not finite, times
 * do not rise, or the solution cannot be continued, as it is infinite or outside a function's
 * domain: the message names the time, and the rows behind it are NAN. */
int sr_flow_solve(const struct sr_flow *flow, const double *start, size_t n, const double *t,
                  const double *input, double tolerance, double *x);

/* ---- fits */

/* What was measured along one track. */
struct sr_flow_track {
    size_t n, category;
    const double *t;     /* (n), rising */
    const double *x;     /* (dims, n); NAN: not measured */
    const double *sigma; /* (dims, n) standard deviations of x; NULL: all 1, to be estimated */
    const double *input; /* (inputs, n), linear between rows; NULL without inputs */
    /* (states, n) smoothed states, near which pieces of the track start; NULL: x itself, and its
     * differences as velocities */
    const double *guess;
    double *model; /* (states, n) receives the fitted solution, NAN where there is none; or NULL */
};
struct sr_flow_options {
    double seconds;      /* the fit ends after so many; 0: no limit */
    int iterations;      /* 0: 60 */
    double tolerance;    /* of the integration; 0: a thousandth of the noise */
    bool free_exponents; /* also fits exponents that are whole numbers */
    /* 0: a track is one solution, but for chaotic ones, on which an error of the start grows by
     * more than 1e6: these are followed by as few solutions as that allows. Otherwise the longest
     * track is followed by about so many solutions, each with a start of its own, and shorter ones
     * by fewer */
    int segments;
};
struct sr_flow_result {
    double chi2;   /* sum of squared residuals over sigma^2; infinite where there is no solution */
    size_t rows;   /* numbers compared */
    int starts;    /* solutions, each with a start of its own: one for each track, if not chaotic */
    int constants; /* fitted constants of all equations and categories */
    int shared;    /* of these the numbers of the equations, which come first; behind them follow,
                      category by category, the constants of each in the order of their features */
    /* (constants) numbers in the order of equations and nodes, and standard errors by the normal
     * matrix at the optimum, starts free; scaled by chi2 over the degrees of freedom where sigma
     * was NULL; NAN where the tracks do not determine the constants */
    double *value, *error;
    double *covariance; /* (constants, constants) */
    double *start;      /* (tracks, states) fitted states at the first row of each track */
    bool converged;
};
/* Changes the constants of the equations to those of least chi2 along the tracks: multiple shooting
 * (Bock, in: Modelling of Chemical Reaction Systems, Springer 1981, 102). A track is cut into
 * pieces, which start near the smoothed track, and the gaps between pieces close as the fit
 * converges. Fitted are the numbers of the formulas, as sr_constants_fit() fits them, but for
 * exponents that are whole numbers. ORR_EINVAL: tracks of fewer than two rows, times that do not
 * rise, values that are not finite. Where no solution is found, chi2 is infinite, and the constants
 * stay, as they do where there are more than SR_FLOW_CONSTANTS of them. The caller frees the
 * result, after errors too. */
int sr_flow_fit(struct sr_flow *flow, size_t tracks, const struct sr_flow_track *track,
                const struct sr_flow_options *options, struct sr_flow_result *result);
void sr_flow_result_free(struct sr_flow_result *result);

#endif
