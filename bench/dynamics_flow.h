/* dynamics_flow.h - systems of formulas integrated by GSL, for the benchmark of dynamics.
 *
 * dx_i/dt = equation i of the states x0, x1 ... and t. The integrator is Prince-Dormand 8(9), not
 * the engine's own, so that the benchmark judges the engine rather than repeats it. A solution
 * counts as diverged where a state is not finite or exceeds DYN_BOUND, or where it takes more than
 * DYN_EVALUATIONS right-hand sides. */
#ifndef DYNAMICS_FLOW_H
#define DYNAMICS_FLOW_H

#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <math.h>

#include "symreg/symreg.h"

enum { DYN_DIMS = 4, DYN_ROWS = 150, DYN_EVALUATIONS = 200000 };
#define DYN_BOUND 1e6

/* dims formulas of the features x0 ... and, as feature `dims`, t. */
struct dyn_flow {
    int dims;
    const struct sr_expr *equation; /* (dims) */
    long evaluations;               /* of the right-hand side, in this solution */
};

/* Value at one point x (features) in double; NaN or infinite outside the domain. */
static inline double dyn_value(const struct sr_expr *expr, const double *x)
{
    double stack[SR_NODES + 1] = {0};
    int depth = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        const int arity = sr_expr_arity(expr, i);
        if (arity == 0) {
            stack[depth++] = node->op == SR_CONSTANT ? node->value : x[node->feature];
            continue;
        }
        depth -= arity;
        stack[depth] = sr_op_table[node->op].value(stack[depth], arity == 2 ? stack[depth + 1] : 0);
        depth++;
    }
    return stack[0];
}

/* Derivatives dx (dims) at time t of the states x (dims). */
static inline int dyn_right_hand_side(double t, const double x[], double dx[], void *context)
{
    struct dyn_flow *flow = context;
    double point[DYN_DIMS + 1];
    memcpy(point, x, (size_t)flow->dims * sizeof *point);
    point[flow->dims] = t;
    if (++flow->evaluations > DYN_EVALUATIONS)
        return GSL_EBADFUNC;
    for (int i = 0; i < flow->dims; i++) { /* after GSL_FAILURE a shorter step is tried */
        dx[i] = dyn_value(&flow->equation[i], point);
        if (!(fabs(x[i]) < DYN_BOUND) || !isfinite(dx[i]))
            return GSL_FAILURE;
    }
    return GSL_SUCCESS;
}

/* The solution from `start` (dims) at times t (rows), of which the first is the start's: x (rows,
 * dims). False where it diverges; rows after that are NaN. */
static inline bool dyn_solve(struct dyn_flow *flow, const double *start, int rows, const double *t,
                             double tolerance, double *x)
{
    const size_t dims = (size_t)flow->dims;
    gsl_odeiv2_system system = {dyn_right_hand_side, NULL, dims, flow};
    gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(
        &system, gsl_odeiv2_step_rk8pd, 1e-3 * (t[1] - t[0]), tolerance, tolerance);
    double now = t[0], state[DYN_DIMS];
    int row = 1;
    flow->evaluations = 0;
    memcpy(state, start, dims * sizeof *state);
    memcpy(x, start, dims * sizeof *x);
    for (; row < rows && driver; row++) {
        if (gsl_odeiv2_driver_apply(driver, &now, t[row], state) != GSL_SUCCESS)
            break;
        memcpy(x + (size_t)row * dims, state, dims * sizeof *x);
    }
    const bool whole = row == rows;
    for (size_t k = (size_t)row * dims; k < (size_t)rows * dims; k++)
        x[k] = NAN;
    gsl_odeiv2_driver_free(driver);
    return whole;
}

/* R2 of state d of `found` (rows, dims) against `truth`; minus infinity where it is not finite. */
static inline double dyn_r2(int dims, int d, int rows, const double *truth, const double *found)
{
    double mean = 0, spread = 0, miss = 0;
    for (int i = 0; i < rows; i++)
        mean += truth[i * dims + d] / rows;
    for (int i = 0; i < rows; i++) {
        const double off = truth[i * dims + d] - mean;
        const double error = found[i * dims + d] - truth[i * dims + d];
        spread += off * off;
        miss += error * error;
    }
    return isfinite(miss) ? 1 - miss / spread : -HUGE_VAL;
}

#endif
