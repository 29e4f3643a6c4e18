/* pysr_fit.c - fits constants as SymbolicRegression.jl does by default: BFGS from the unit matrix,
 * or Newton's method for one constant, 8 steps from the current constants and from 2 perturbed
 * points. The backtracking line search starts from the whole step (Nocedal & Wright, Numerical
 * Optimization, 2nd ed. 2006, sections 3.1, 3.5, 6.1).
 *
 * GSL's BFGS uses other line-search conditions, which need five times as many evaluations. Two
 * things differ from SymbolicRegression.jl: the gradient is exact (except for user-defined losses),
 * and the second derivative is a finite difference of the gradient. */
#include "fit.h"
#include "symreg/value/vec.h"

#include <math.h>
#include <string.h>

enum { STEPS = 8, RESTARTS = 2 };
enum { MOST = SR_NODES / 2 + 1 }; /* constants: leaves of a binary tree */

struct descent {
    const struct sr_loss *loss;
    struct sr_expr *expr;
    struct sr_work *work;
    int n;
    double at[MOST], f, gradient[MOST];
    double inverse[MOST][MOST]; /* estimated inverse Hessian */
};

static double loss_at(struct descent *d, const double *constants)
{
    sr_expr_set_constants(d->expr, constants);
    return sr_eval_plain(d->expr, d->loss, d->work);
}

/* For a user-defined loss, whose derivative is not known. */
static void gradient_by_differences(const struct sr_loss *loss, const struct sr_expr *expr,
                                    struct sr_work *work, int n, double *constant, double *gradient)
{
    struct sr_expr moved = *expr;
    for (int i = 0; i < n; i++) {
        const double here = constant[i], step = 1e-6 * fmax(fabs(here), 1e-3);
        double side[2];
        for (int k = 0; k < 2; k++) {
            constant[i] = k ? here - step : here + step;
            sr_expr_set_constants(&moved, constant);
            side[k] = sr_eval_plain(&moved, loss, work);
        }
        constant[i] = here;
        gradient[i] = (side[0] - side[1]) / (2 * step);
    }
}

bool sr_compat_gradient(const struct sr_loss *loss, const struct sr_expr *expr,
                        struct sr_work *work, double *gradient)
{
    double constant[SR_NODES];
    const int n = sr_expr_constants(expr, constant);
    if (loss->kind == ORR_SR_CUSTOM)
        gradient_by_differences(loss, expr, work, n, constant, gradient);
    else if (!sr_eval_gradient(expr, loss, gradient))
        return false;
    for (int i = 0; i < n; i++)
        if (!isfinite(gradient[i]))
            return false;
    return true;
}

static bool gradient_at(struct descent *d, const double *constants, double *gradient)
{
    sr_expr_set_constants(d->expr, constants);
    return sr_compat_gradient(d->loss, d->expr, d->work, gradient);
}

static double dot_product(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Moves along `step` by a fraction of it that lowers the loss enough; false where none does.
 * `slope` is the directional derivative of the loss, negative. */
static bool move_along(struct descent *d, const double *step, double slope)
{
    enum { SHORTER = 40 };
    /* shares of the decrease that the slope predicts */
    static const double enough = 1e-4, least = 0.1, most = 0.5;
    double share = 1, before = 0, f_before = HUGE_VAL, trial[MOST];
    for (int k = 0; k < SHORTER; k++) {
        bool moved = false;
        for (int i = 0; i < d->n; i++) {
            trial[i] = d->at[i] + share * step[i];
            moved = moved || fabs(trial[i] - d->at[i]) > 1e-12 * fabs(d->at[i]);
        }
        if (!moved)
            return false;
        const double f = loss_at(d, trial);
        if (f <= d->f + enough * share * slope) {
            memcpy(d->at, trial, sizeof trial);
            d->f = f;
            return true;
        }
        /* the minimum of the parabola through both losses and the slope, or of the cubic that also
         * passes through the previous loss */
        double next = -slope * share * share / (2 * (f - d->f - slope * share));
        if (f_before < HUGE_VAL) {
            const double now = (f - d->f - slope * share) / (share * share);
            const double then = (f_before - d->f - slope * before) / (before * before);
            const double a = (now - then) / (share - before);
            const double b = (share * then - before * now) / (share - before);
            const double root = b * b - 3 * a * slope;
            next = fabs(a) <= 1e-300 ? -slope / (2 * b) : (-b + sqrt(fmax(root, 0))) / (3 * a);
        }
        before = share;
        f_before = f;
        share *= fmin(fmax(f < HUGE_VAL ? next / share : most, least), most); /* NaN: least */
    }
    return false;
}

/* Newton's step, turned downhill where the curvature is negative. */
static bool newton_step(struct descent *d, double *step)
{
    const double h = 6e-6 * fmax(fabs(d->at[0]), 1);
    double side[2];
    for (int k = 0; k < 2; k++) {
        const double moved = k ? d->at[0] - h : d->at[0] + h;
        if (!gradient_at(d, &moved, &side[k]))
            return false;
    }
    const double bend = fabs(side[0] - side[1]) / (2 * h);
    *step = -d->gradient[0] / (bend > 1e-8 ? bend : 1);
    return true;
}

static void unit_matrix(struct descent *d)
{
    for (int i = 0; i < d->n; i++)
        for (int k = 0; k < d->n; k++)
            d->inverse[i][k] = i == k;
}

static void quasi_newton_step(const struct descent *d, double *step)
{
    for (int i = 0; i < d->n; i++)
        step[i] = -dot_product(d->n, d->inverse[i], d->gradient);
}

/* BFGS update of the inverse Hessian for a move dx that changed the gradient by dg. */
static void update_inverse(struct descent *d, const double *dx, const double *dg)
{
    const double along = dot_product(d->n, dx, dg);
    double image[MOST];
    if (!(along > 0))
        return;
    for (int i = 0; i < d->n; i++)
        image[i] = dot_product(d->n, d->inverse[i], dg);
    const double factor = (1 + dot_product(d->n, dg, image) / along) / along;
    for (int i = 0; i < d->n; i++)
        for (int k = 0; k < d->n; k++)
            d->inverse[i][k] +=
                factor * dx[i] * dx[k] - (image[i] * dx[k] + dx[i] * image[k]) / along;
}

static bool is_flat(const struct descent *d)
{
    double largest = 0;
    for (int i = 0; i < d->n; i++)
        largest = fmax(largest, fabs(d->gradient[i]));
    return largest <= 1e-8;
}

/* Minimises the loss from the constants in d->at, whose loss is d->f. */
static void descend_loss(struct descent *d)
{
    double step[MOST], from[MOST], before[MOST];
    if (!isfinite(d->f))
        return;
    unit_matrix(d);
    for (int it = 0; it < STEPS && !orr_signal_seen(); it++) {
        memcpy(before, d->gradient, sizeof before);
        if (!gradient_at(d, d->at, d->gradient) || is_flat(d))
            return;
        if (it > 0) {
            for (int i = 0; i < d->n; i++) {
                step[i] = d->at[i] - from[i];
                before[i] = d->gradient[i] - before[i];
            }
            update_inverse(d, step, before);
        }
        if (d->n > 1)
            quasi_newton_step(d, step);
        else if (!newton_step(d, step))
            return;
        if (!(dot_product(d->n, step, d->gradient) < 0)) {
            unit_matrix(d);
            quasi_newton_step(d, step);
        }
        memcpy(from, d->at, sizeof from);
        if (!move_along(d, step, dot_product(d->n, step, d->gradient)))
            return;
    }
}

void sr_compat_constants(const struct sr_loss *loss, struct sr_expr *expr, struct sr_thread *thread)
{
    struct descent d = {.loss = loss, .expr = expr, .work = &thread->work};
    double first[SR_NODES], best[SR_NODES], reached = HUGE_VAL;
    d.n = sr_expr_constants(expr, first);
    if (d.n == 0 || d.n > MOST)
        return;
    memcpy(best, first, sizeof best);
    for (int k = 0; k <= RESTARTS; k++) {
        for (int i = 0; i < d.n; i++)
            d.at[i] = k ? first[i] * (1 + 0.5 * orr_draw_normal(thread->rng)) : first[i];
        d.f = loss_at(&d, d.at);
        descend_loss(&d);
        if (d.f < reached) {
            reached = d.f;
            memcpy(best, d.at, sizeof d.at);
        }
    }
    sr_expr_set_constants(expr, best);
}
