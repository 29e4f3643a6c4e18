/* compat.c - what SymbolicRegression.jl does otherwise: its start, its mutations, its constants.
 *
 * Constants from github.com/MilesCranmer/SymbolicRegression.jl, today's defaults of PySR. Formulas
 * are judged as they stand, without an outer scale; there is no enumeration and no polish; a child
 * may be infinitely bad; constants are fitted by BFGS with gradients from differences. */
#include "search.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_multimin.h>
#include <gsl/gsl_randist.h>

enum { STEPS = 8, RESTARTS = 2, START_APPENDS = 3 };

int sr_compat_find(const char *name, bool *compat)
{
    *compat = name != NULL;
    if (name && strcmp(name, "pysr"))
        return ORR_FAIL(ORR_EUSAGE, "--compat: expected pysr, found \"%s\"", name);
    return 0;
}

void sr_compat_random(const struct sr_settings *settings, int features, gsl_rng *rng,
                      struct sr_expr *expr)
{
    expr->count = 1;
    expr->node[0] = (struct sr_node){.op = SR_CONSTANT, .size = 1, .value = 1};
    for (int k = 0; k < START_APPENDS; k++)
        sr_append(settings, features, rng, expr);
}

/* ---- BFGS */

struct problem {
    const struct sr_loss *loss;
    struct sr_expr *expr;
    struct sr_work *work;
};

static double loss_at(const gsl_vector *x, void *context)
{
    struct problem *p = context;
    double constants[SR_NODES];
    for (size_t i = 0; i < x->size; i++)
        constants[i] = gsl_vector_get(x, i);
    sr_expr_set_constants(p->expr, constants);
    if (!sr_eval(p->expr, p->loss->data, p->work->value))
        return HUGE_VAL;
    const double value = sr_loss_value(p->loss, p->work->value, 1);
    return isfinite(value) ? value : HUGE_VAL;
}

static void gradient_at(const gsl_vector *x, void *context, gsl_vector *gradient)
{
    gsl_vector *at = (gsl_vector *)x; /* moved and put back */
    for (size_t i = 0; i < x->size; i++) {
        const double here = gsl_vector_get(x, i), step = 1e-6 * fmax(fabs(here), 1e-3);
        gsl_vector_set(at, i, here + step);
        const double above = loss_at(at, context);
        gsl_vector_set(at, i, here - step);
        const double below = loss_at(at, context);
        gsl_vector_set(at, i, here);
        gsl_vector_set(gradient, i, (above - below) / (2 * step));
    }
}

static void both_at(const gsl_vector *x, void *context, double *value, gsl_vector *gradient)
{
    *value = loss_at(x, context);
    gradient_at(x, context, gradient);
}

/* From the constants in `best`, which get what is better. */
static double descend(struct problem *p, gsl_multimin_fdfminimizer *minimizer, gsl_vector *start,
                      double *best, double reached)
{
    gsl_multimin_function_fdf function = {
        .f = loss_at, .df = gradient_at, .fdf = both_at, .n = start->size, .params = p};
    if (!isfinite(loss_at(start, p)) ||
        gsl_multimin_fdfminimizer_set(minimizer, &function, start, 0.1, 0.1))
        return reached;
    for (int step = 0; step < STEPS; step++)
        if (gsl_multimin_fdfminimizer_iterate(minimizer))
            break;
    if (!(minimizer->f < reached))
        return reached;
    for (size_t i = 0; i < start->size; i++)
        best[i] = gsl_vector_get(minimizer->x, i);
    return minimizer->f;
}

void sr_compat_constants(const struct sr_loss *loss, struct sr_expr *expr, gsl_rng *rng,
                         struct sr_worker *worker)
{
    struct problem p = {loss, expr, &worker->work};
    double first[SR_NODES], best[SR_NODES];
    const int n = sr_expr_constants(expr, first);
    if (n == 0)
        return;
    gsl_vector *start = gsl_vector_alloc((size_t)n);
    gsl_multimin_fdfminimizer *minimizer =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, (size_t)n);
    memcpy(best, first, sizeof best);
    if (start && minimizer) {
        double reached = HUGE_VAL;
        for (int k = 0; k <= RESTARTS; k++) {
            for (int i = 0; i < n; i++)
                gsl_vector_set(start, (size_t)i,
                               k ? first[i] * (1 + 0.5 * gsl_ran_ugaussian(rng)) : first[i]);
            if (k == 0)
                reached = loss_at(start, &p);
            reached = descend(&p, minimizer, start, best, reached);
        }
    }
    sr_expr_set_constants(expr, best);
    if (minimizer)
        gsl_multimin_fdfminimizer_free(minimizer);
    gsl_vector_free(start);
}
