/* constants.c - Levenberg-Marquardt fit of a formula's constants.
 *
 * Absolute losses are minimised by iteratively re-weighted least squares: weights 1 / |residual|
 * make the quadratic model touch the loss. A step is accepted only when the loss itself falls. */
#include "fit.h"
#include "symreg/value/vec.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A fit under way. The parameters are the constants, followed by the outer scale if it is
 * fitted. */
struct fit {
    const struct sr_loss *loss;
    struct sr_expr *expr;
    struct sr_work *work;
    int constants, parameters;
    uint64_t held; /* constants that stay, one bit each */
    double parameter[SR_NODES + 1];
    struct sr_equations equations;
};

static double outer_scale(const struct fit *fit, const double *parameter)
{
    return fit->parameters > fit->constants ? parameter[fit->constants] : 1;
}

/* The loss at the given parameters; infinite where the formula is not finite. */
static double loss_at(struct fit *fit, const double *parameter)
{
    sr_expr_set_constants(fit->expr, parameter);
    if (!sr_eval(fit->expr, fit->loss->data, fit->work->trial))
        return HUGE_VAL;
    const double loss = sr_loss_value(fit->loss, fit->work->trial, outer_scale(fit, parameter));
    return isfinite(loss) ? loss : HUGE_VAL;
}

/* Weights for a user-defined loss. */
static void weigh_custom(const struct sr_loss *loss, const double *value, double scale,
                         double *weight)
{
    sr_custom_loss_weights(loss->data->language, loss->data->rows, value, loss->data->y, scale,
                           weight);
    for (size_t i = 0; i < loss->data->rows && loss->weight; i++)
        weight[i] *= loss->weight[i];
}

/* J^T W J and J^T W residual; false where a number of them is not finite. */
static bool fill_equations(const double *jacobian, const double *weight, const double *residual,
                           size_t n, int parameters, double *weighted, struct sr_equations *out)
{
    const struct sr_vec *vec = sr_vec_best();
    bool finite = true;
    for (int a = 0; a < parameters; a++) {
        out->gradient[a] = vec->weigh(jacobian + (size_t)a * n, weight, residual, n, weighted);
        for (int b = 0; b <= a; b++)
            out->normal[a][b] = out->normal[b][a] = vec->dot(weighted, jacobian + (size_t)b * n, n);
        finite = finite && isfinite(out->gradient[a]) && isfinite(out->normal[a][a]);
    }
    return finite;
}

/* Multiplies the columns of the Jacobian by powers of two to numbers near 1, where `out` shows
 * squares at the ends of the range of numbers. False where none was changed. */
static bool scale_columns(double *jacobian, size_t n, int parameters, struct sr_equations *out)
{
    static const double few = 0x1p-900, many = 0x1p900;
    bool any = false;
    for (int a = 0; a < parameters; a++) {
        double *const column = jacobian + (size_t)a * n, most = 0;
        int power;
        if (out->normal[a][a] > few && out->normal[a][a] < many)
            continue;
        for (size_t i = 0; i < n; i++)
            most = fmax(most, fabs(column[i]));
        if (!(most > 0 && most < HUGE_VAL))
            continue;
        frexp(most, &power);
        out->scale[a] = ldexp(1, power < -1000 ? 1000 : -power);
        for (size_t i = 0; i < n; i++)
            column[i] *= out->scale[a];
        any = any || out->scale[a] != 1;
    }
    return any;
}

bool sr_constants_equations(const struct sr_loss *loss, const struct sr_expr *expr, double scale,
                            int parameters, struct sr_work *work, struct sr_equations *out)
{
    const struct sr_vec *vec = sr_vec_best();
    const size_t n = loss->data->rows;
    const int constants = sr_expr_constants(expr, NULL);
    double *value = work->value, *jacobian = work->jacobian;
    double *residual = work->scratch, *weight = residual + n, *weighted = work->trial;
    if (!sr_eval_jacobian(expr, loss->data, value, jacobian))
        return false;
    const double mean = vec->residuals(loss->data->y, value, scale, n, residual) / (double)n;
    for (size_t k = 0; k < (size_t)constants * n && scale != 1; k++)
        jacobian[k] *= scale;
    if (parameters > constants)
        memcpy(jacobian + (size_t)constants * n, value, n * sizeof *value);
    /* outliers may raise the mean, but not above the size of the target */
    const double typical = fmin(mean, loss->unit);
    const struct sr_vec_loss how = {.kind = loss->kind,
                                    .parameter = loss->parameter,
                                    .t = loss->data->y,
                                    .weight = loss->weight};
    vec->reweigh(&how, residual, fmax(1e-4 * typical, 1e-14 * loss->unit), n, weight);
    if (loss->kind == ORR_SR_CUSTOM)
        weigh_custom(loss, value, scale, weight);
    for (int a = 0; a < parameters; a++)
        out->scale[a] = 1;
    const bool finite = fill_equations(jacobian, weight, residual, n, parameters, weighted, out);
    return scale_columns(jacobian, n, parameters, out)
               ? fill_equations(jacobian, weight, residual, n, parameters, weighted, out)
               : finite;
}

/* The constants that are held take no part: their step is 0. */
static void leave_held(struct fit *fit)
{
    struct sr_equations *q = &fit->equations;
    for (int a = 0; a < fit->parameters && fit->held; a++) {
        if (!(fit->held >> a & 1))
            continue;
        for (int b = 0; b < fit->parameters; b++)
            q->normal[a][b] = q->normal[b][a] = a == b;
        q->gradient[a] = 0;
    }
}

/* Solves (J^T W J + lambda diag) step = gradient by Cholesky; false when it is not definite. */
static bool solve_step(const struct fit *fit, double lambda, double *step)
{
    const int n = fit->parameters;
    double c[SR_NODES + 1][SR_NODES + 1];
    for (int i = 0; i < n; i++) {
        double s = fit->equations.gradient[i];
        for (int j = 0; j <= i; j++) {
            double a = fit->equations.normal[i][j];
            if (i == j)
                a += lambda * a + DBL_MIN;
            for (int k = 0; k < j; k++)
                a -= c[i][k] * c[j][k];
            if (i == j && !(a > 0))
                return false;
            c[i][j] = i == j ? sqrt(a) : a / c[j][j];
        }
        for (int k = 0; k < i; k++)
            s -= c[i][k] * step[k];
        step[i] = s / c[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            step[i] -= c[k][i] * step[k];
        step[i] /= c[i][i];
    }
    for (int i = 0; i < n; i++) {
        step[i] *= fit->equations.scale[i];
        if (!isfinite(step[i]))
            return false;
    }
    return true;
}

bool sr_fit_over(const struct sr_work *work)
{
    return work->finishing ? orr_time_over() : orr_signal_seen();
}

/* Tries a step that changes constants far from 1 by a factor in place of a difference: 2e-208 in
 * 2e-208 exp(0.24 year) falls by a factor of e^20 where 0.24 grows by 0.01, so that differences
 * creep along a curved valley. Takes it into `trial` where it reaches less than `reached`; returns
 * the smaller loss. */
static double try_factors(struct fit *fit, const double *step, double reached, double *trial)
{
    static const double far = 1e12, least = 0.01, most = 100;
    double other[SR_NODES + 1];
    bool any = false;
    for (int i = 0; i < fit->parameters; i++) {
        const double from = fit->parameter[i], share = step[i] / from;
        const bool factor =
            fabs(share) > least && fabs(share) < most && (fabs(from) > far || fabs(from) < 1 / far);
        other[i] = factor ? from * orr_exp(share) : trial[i];
        any = any || factor;
    }
    const double loss = any ? loss_at(fit, other) : HUGE_VAL;
    if (!(loss < reached))
        return reached;
    memcpy(trial, other, (size_t)fit->parameters * sizeof *trial);
    return loss;
}

/* Improves the parameters from their current values; returns the loss. */
static double descend_loss(struct fit *fit, double loss, int iterations)
{
    enum { TRIES = 6 };
    double lambda = 1e-3, step[SR_NODES + 1], trial[SR_NODES + 1];
    const bool large = fit->loss->data->rows > 100000; /* an attempt takes milliseconds */
    for (int it = 0; it < iterations; it++) {
        if (loss <= fit->loss->noise || sr_fit_over(fit->work))
            break;
        sr_expr_set_constants(fit->expr, fit->parameter);
        if (!sr_constants_equations(fit->loss, fit->expr, outer_scale(fit, fit->parameter),
                                    fit->parameters, fit->work, &fit->equations))
            break;
        leave_held(fit);
        double reached = HUGE_VAL;
        for (int attempt = 0;
             attempt < TRIES && !(reached < loss) && !(large && sr_fit_over(fit->work));
             attempt++) {
            if (solve_step(fit, lambda, step)) {
                for (int i = 0; i < fit->parameters; i++)
                    trial[i] = fit->parameter[i] + step[i];
                reached = try_factors(fit, step, loss_at(fit, trial), trial);
            }
            lambda = reached < loss ? fmax(lambda / 8, 1e-12) : lambda * 8;
        }
        if (!(reached < loss))
            break;
        const double gain = (loss - reached) / loss;
        memcpy(fit->parameter, trial, (size_t)fit->parameters * sizeof *trial);
        loss = reached;
        if (gain < 1e-7)
            break;
    }
    return loss;
}

double sr_constants_fit_others(const struct sr_loss *loss, struct sr_expr *expr, uint64_t held,
                               int iterations, struct sr_work *work)
{
    struct fit fit = {.loss = loss, .expr = expr, .work = work, .held = held};
    fit.constants = fit.parameters = sr_expr_constants(expr, fit.parameter);
    double reached = loss_at(&fit, fit.parameter);
    if (reached < HUGE_VAL && fit.parameters <= work->columns)
        reached = descend_loss(&fit, reached, iterations);
    sr_expr_set_constants(expr, fit.parameter);
    return reached;
}

double sr_constants_fit(const struct sr_loss *loss, struct sr_expr *expr, bool with_scale,
                        int iterations, int restarts, gsl_rng *rng, struct sr_work *work)
{
    struct fit fit = {.loss = loss, .expr = expr, .work = work};
    double first[SR_NODES + 1], best[SR_NODES + 1], scale = 1;
    if (!sr_eval(expr, loss->data, work->value))
        return HUGE_VAL;
    if (with_scale) {
        scale = sr_loss_scale(loss, work->value, work->scratch);
        /* a factor that the constants can absorb would make the equations singular */
        if (scale != 0 && sr_expr_absorb(expr, scale)) {
            with_scale = false;
            scale = 1;
            if (!sr_eval(expr, loss->data, work->value))
                return HUGE_VAL;
        }
    }
    fit.constants = sr_expr_constants(expr, first);
    fit.parameters = fit.constants + (with_scale ? 1 : 0);
    first[fit.constants] = scale;
    memcpy(best, first, sizeof first);
    double reached = sr_loss_value(loss, work->value, scale);
    if (!isfinite(reached))
        reached = HUGE_VAL;
    if (fit.constants == 0 || fit.parameters > work->columns)
        return reached;
    for (int start = 0; start <= restarts && reached > loss->noise; start++) {
        memcpy(fit.parameter, first, sizeof first);
        for (int i = 0; i < fit.constants && start; i++)
            fit.parameter[i] *= 1 + 0.5 * orr_draw_normal(rng);
        double here = loss_at(&fit, fit.parameter);
        if (here < HUGE_VAL)
            here = descend_loss(&fit, here, iterations);
        if (here < reached) {
            reached = here;
            memcpy(best, fit.parameter, sizeof first);
        }
    }
    sr_expr_set_constants(expr, best);
    return reached;
}
