/* compat.c - what SymbolicRegression.jl does otherwise: its start, its mutations, its constants.
 *
 * Constants from github.com/MilesCranmer/SymbolicRegression.jl, today's defaults of PySR. Formulas
 * are judged as they stand, without an outer scale; there is no enumeration and no polish; a child
 * may be infinitely bad; constants are fitted by BFGS with the exact gradient. */
#include "search.h"
#include "vec.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_multimin.h>
#include <gsl/gsl_randist.h>

enum { STEPS = 8, RESTARTS = 2, START_APPENDS = 3 };
static const double dead_zone = 1e-8; /* of the study's loss */

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

static void move_to(struct problem *p, const gsl_vector *x)
{
    double constants[SR_NODES];
    for (size_t i = 0; i < x->size; i++)
        constants[i] = gsl_vector_get(x, i);
    sr_expr_set_constants(p->expr, constants);
}

static double finite_or_worst(double loss)
{
    return isfinite(loss) ? loss : HUGE_VAL;
}

static double loss_at(const gsl_vector *x, void *context)
{
    struct problem *p = context;
    move_to(p, x);
    return sr_eval_plain(p->expr, p->loss, p->work);
}

/* A loss of the user has no derivative that is known. */
static void gradient_by_differences(const struct sr_loss *loss, const struct sr_expr *expr,
                                    struct sr_work *work, double *gradient)
{
    struct sr_expr moved = *expr;
    double constant[SR_NODES];
    const int n = sr_expr_constants(expr, constant);
    for (int i = 0; i < n; i++) {
        const double here = constant[i], step = 1e-6 * fmax(fabs(here), 1e-3);
        double side[2] = {HUGE_VAL, HUGE_VAL};
        for (int k = 0; k < 2; k++) {
            constant[i] = k ? here - step : here + step;
            sr_expr_set_constants(&moved, constant);
            if (sr_eval(&moved, loss->data, work->trial))
                side[k] = sr_loss_value(loss, work->trial, 1);
        }
        constant[i] = here;
        gradient[i] = (side[0] - side[1]) / (2 * step);
    }
}

double sr_compat_gradient(const struct sr_loss *loss, const struct sr_expr *expr,
                          struct sr_work *work, double *gradient)
{
    const struct sr_vec *vec = sr_vec_best();
    const size_t n = loss->data->rows;
    double *residual = work->scratch, *weight = residual + n, constant[SR_NODES];
    const int constants = sr_expr_constants(expr, constant);
    const bool finite = sr_eval_jacobian(expr, loss->data, work->value, work->jacobian);
    for (int k = 0; k < constants; k++)
        gradient[k] = NAN;
    if (!finite)
        return HUGE_VAL;
    if (loss->kind == ORR_SR_CUSTOM) {
        gradient_by_differences(loss, expr, work, gradient);
        return finite_or_worst(sr_loss_value(loss, work->value, 1));
    }
    vec->residuals(loss->data->y, work->value, 1, n, residual);
    for (size_t i = 0; i < n && loss->kind == ORR_SR_STUDY; i++)
        residual[i] = fabs(residual[i]) > dead_zone ? residual[i] : 0;
    const struct sr_vec_loss how = {.kind = loss->kind,
                                    .parameter = loss->parameter,
                                    .t = loss->data->y,
                                    .weight = loss->weight};
    vec->reweigh(&how, residual, 1e-200, n, weight); /* slope over residual; of l2 half of it */
    const double unit = loss->kind == ORR_SR_L2 ? -2 / loss->total : -1 / loss->total;
    for (int k = 0; k < constants; k++)
        gradient[k] =
            unit * vec->weigh(work->jacobian + (size_t)k * n, weight, residual, n, work->trial);
    return finite_or_worst(sr_loss_value(loss, work->value, 1));
}

static void both_at(const gsl_vector *x, void *context, double *value, gsl_vector *gradient)
{
    struct problem *p = context;
    move_to(p, x);
    *value = sr_compat_gradient(p->loss, p->expr, p->work, gradient->data);
}

static void gradient_at(const gsl_vector *x, void *context, gsl_vector *gradient)
{
    double value;
    both_at(x, context, &value, gradient);
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
    if (n == 0 || n > worker->work.columns)
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
