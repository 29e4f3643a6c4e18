/* constants.c - Levenberg-Marquardt fit of a formula's constants.
 *
 * Absolute losses are minimised by iteratively re-weighted least squares: weights 1 / |residual|
 * make the quadratic model touch the loss. A step is accepted only when the loss itself falls. */
#include "fit.h"
#include "symreg/value/vec.h"

#include <assert.h>
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
    double residuals; /* sum of |residuals| where the loss was found last */
    struct sr_equations equations;
};

/* The equations, dozens of kilobytes, are not cleared. */
static void begin_fit(struct fit *fit, const struct sr_loss *loss, struct sr_expr *expr,
                      uint64_t held, struct sr_work *work)
{
    fit->loss = loss;
    fit->expr = expr;
    fit->work = work;
    fit->held = held;
    fit->residuals = 0;
}

static double outer_scale(const struct fit *fit, const double *parameter)
{
    return fit->parameters > fit->constants ? parameter[fit->constants] : 1;
}

/* Whether the weights of a step depend on the mean residual of several blocks, which must be known
 * before the first of them. */
static bool needs_residuals(const struct sr_loss *loss, const struct sr_work *work)
{
    return loss->data->rows > work->rows && !sr_loss_of_squares(loss->kind);
}

/* The loss at the given parameters; infinite where the formula is not finite. */
static double loss_at(struct fit *fit, const double *parameter)
{
    double loss;
    double *const residuals = needs_residuals(fit->loss, fit->work) ? &fit->residuals : NULL;
    sr_expr_set_constants(fit->expr, parameter);
    if (!sr_eval_parts(fit->expr, fit->loss, outer_scale(fit, parameter), fit->work->rows,
                       fit->work->trial, &loss, residuals))
        return HUGE_VAL;
    return isfinite(loss) ? loss : HUGE_VAL;
}

/* The rows of a step, block by block. */
struct step {
    const struct sr_loss *loss;
    const struct sr_expr *expr;
    double scale;
    int constants, parameters;
    struct sr_work *work;
    double floor; /* smaller residuals have the weight of this one */
    struct sr_equations *out;
};

static size_t block_at(const struct step *s, size_t first)
{
    return sr_block_at(s->loss->data->rows, first, s->work->rows);
}

static bool is_one_block(const struct step *s)
{
    return s->loss->data->rows <= s->work->rows;
}

/* The smallest residual that has a weight of its own. Outliers may raise the mean, but not above
 * the size of the target. */
static double floor_of(const struct sr_loss *loss, double sum_of_residuals)
{
    const double mean = sum_of_residuals / (double)loss->data->rows;
    return fmax(1e-4 * fmin(mean, loss->unit), 1e-14 * loss->unit);
}

/* Weights for a user-defined loss, of n rows. */
static void weigh_custom(const struct sr_loss *loss, size_t first, size_t n, const double *value,
                         double scale, double *weight)
{
    sr_custom_loss_weights(loss->data->language, n, value, loss->data->y + first, scale, weight);
    for (size_t i = 0; i < n && loss->weight; i++)
        weight[i] *= loss->weight[first + i];
}

/* A row inside of its interval takes little part in a step: enough to keep the matrix definite
 * where few rows are outside, and so little that steps are hardly shorter. */
static const double inside = 1e-3;

static void weigh_inside(const double *residual, size_t n, double *weight)
{
    for (size_t i = 0; i < n; i++)
        weight[i] *= fabs(residual[i]) > 0 ? 1 : inside;
}

/* Values, derivatives by the parameters over out->scale, residuals and weights of a block. */
static bool fill_block(struct step *s, size_t first)
{
    const struct sr_vec *vec = sr_vec_best();
    const struct sr_loss *loss = s->loss;
    const size_t n = block_at(s, first), derivatives = (size_t)s->constants * n;
    double *value = s->work->value, *jacobian = s->work->jacobian;
    double *residual = s->work->scratch, *weight = residual + n;
    const bool intervals = loss->data->low;
    const struct sr_vec_loss how = {.kind = loss->kind,
                                    .parameter = loss->parameter,
                                    .t = intervals ? s->work->trial : loss->data->y + first,
                                    .weight = loss->weight ? loss->weight + first : NULL};
    if (!sr_eval_jacobian_rows(s->expr, loss->data, first, n, value, jacobian))
        return false;
    if (intervals)
        sr_interval_nearest(loss->data, first, n, value, s->scale, s->work->trial);
    const double sum = vec->residuals(how.t, value, s->scale, n, residual);
    if (is_one_block(s))
        s->floor = floor_of(loss, sum);
    for (size_t k = 0; k < derivatives && s->scale != 1; k++)
        jacobian[k] *= s->scale;
    if (s->parameters > s->constants)
        memcpy(jacobian + derivatives, value, n * sizeof *value);
    for (int a = 0; a < s->parameters; a++)
        for (size_t i = 0; i < n && s->out->scale[a] != 1; i++)
            jacobian[(size_t)a * n + i] *= s->out->scale[a];
    vec->reweigh(&how, residual, s->floor, n, weight);
    if (loss->kind == ORR_SR_CUSTOM)
        weigh_custom(loss, first, n, value, s->scale, weight);
    if (intervals)
        weigh_inside(residual, n, weight);
    return true;
}

/* Adds J^T W J and J^T W residual of a block, which is filled. */
static void add_block(const struct step *s, size_t first)
{
    const struct sr_vec *vec = sr_vec_best();
    const size_t n = block_at(s, first);
    const double *jacobian = s->work->jacobian, *residual = s->work->scratch;
    const double *weight = residual + n;
    double *weighted = s->work->trial;
    for (int a = 0; a < s->parameters; a++) {
        const double *const column = jacobian + (size_t)a * n;
        const double gradient = vec->weigh(column, weight, residual, n, weighted);
        s->out->gradient[a] = first ? s->out->gradient[a] + gradient : gradient;
        for (int b = 0; b <= a; b++) {
            const double sum = vec->dot(weighted, jacobian + (size_t)b * n, n);
            s->out->normal[a][b] = first ? s->out->normal[a][b] + sum : sum;
        }
    }
}

/* J^T W J and J^T W residual of all rows, of the parameters over out->scale. *finite: all their
 * numbers are. False where the formula is not. */
static bool add_blocks(struct step *s, bool *finite)
{
    *finite = true;
    for (size_t first = 0; first < s->loss->data->rows; first += s->work->rows) {
        if (!fill_block(s, first))
            return false;
        add_block(s, first);
    }
    for (int a = 0; a < s->parameters; a++) {
        for (int b = 0; b < a; b++)
            s->out->normal[b][a] = s->out->normal[a][b];
        *finite = *finite && isfinite(s->out->gradient[a]) && isfinite(s->out->normal[a][a]);
    }
    return true;
}

/* Whether the square is at an end of the range of numbers. */
static bool is_at_end(double square)
{
    static const double few = 0x1p-900, many = 0x1p900;
    return !(square > few && square < many);
}

/* The largest derivatives by the parameters whose squares are at an end of the range. The only
 * block, or the last one, is still filled. */
static bool find_most(struct step *s, double most[SR_NODES + 1])
{
    bool any = false;
    for (int a = 0; a < s->parameters; a++) {
        most[a] = 0;
        any = any || is_at_end(s->out->normal[a][a]);
    }
    for (size_t first = 0; any && first < s->loss->data->rows; first += s->work->rows) {
        const size_t n = block_at(s, first);
        if (!is_one_block(s) && !fill_block(s, first))
            return false;
        for (int a = 0; a < s->parameters; a++)
            for (size_t i = 0; i < n && is_at_end(s->out->normal[a][a]); i++)
                most[a] = fmax(most[a], fabs(s->work->jacobian[(size_t)a * n + i]));
    }
    return any;
}

/* Sets out->scale to powers of two that bring such derivatives to numbers near 1. False where none
 * is changed. */
static bool choose_scales(struct step *s)
{
    double most[SR_NODES + 1];
    bool any = false;
    if (!find_most(s, most))
        return false;
    for (int a = 0; a < s->parameters; a++) {
        int power;
        if (!(most[a] > 0 && most[a] < HUGE_VAL))
            continue;
        frexp(most[a], &power);
        s->out->scale[a] = ldexp(1, power < -1000 ? 1000 : -power);
        any = any || s->out->scale[a] != 1;
    }
    return any;
}

/* fill_equations() at the closest points, where x has errors. */
static bool fill_closest(const struct sr_loss *loss, const struct sr_expr *expr, double scale,
                         int parameters, double residuals, struct sr_work *work,
                         struct sr_equations *out);

/* residuals: the sum of |residuals|, where needs_residuals(). */
static bool fill_equations(const struct sr_loss *loss, const struct sr_expr *expr, double scale,
                           int parameters, double residuals, struct sr_work *work,
                           struct sr_equations *out)
{
    if (loss->data->x_variance)
        return fill_closest(loss, expr, scale, parameters, residuals, work, out);
    struct step step = {.loss = loss,
                        .expr = expr,
                        .scale = scale,
                        .constants = sr_expr_constants(expr, NULL),
                        .parameters = parameters,
                        .work = work,
                        .floor = floor_of(loss, residuals),
                        .out = out};
    bool finite;
    for (int a = 0; a < parameters; a++)
        out->scale[a] = 1;
    if (!add_blocks(&step, &finite))
        return false;
    return choose_scales(&step) ? add_blocks(&step, &finite) && finite : finite;
}

static bool fill_closest(const struct sr_loss *loss, const struct sr_expr *expr, double scale,
                         int parameters, double residuals, struct sr_work *work,
                         struct sr_equations *out)
{
    struct sr_closest closest;
    if (!sr_closest_make(expr, loss->data, scale, &closest))
        return false;
    struct sr_loss there = *loss;
    there.data = &closest.data;
    there.weight = (double *)(uintptr_t)closest.data.weight; /* only read */
    there.columns = NULL;
    const bool ok = fill_equations(&there, expr, scale, parameters, residuals, work, out);
    sr_closest_free(&closest);
    return ok;
}

bool sr_constants_equations(const struct sr_loss *loss, const struct sr_expr *expr, double scale,
                            int parameters, struct sr_work *work, struct sr_equations *out)
{
    double reached, residuals = 0;
    if (needs_residuals(loss, work) &&
        !sr_eval_parts(expr, loss, scale, work->rows, work->value, &reached, &residuals))
        return false;
    return fill_equations(loss, expr, scale, parameters, residuals, work, out);
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
    const double residuals = fit->residuals, loss = any ? loss_at(fit, other) : HUGE_VAL;
    if (!(loss < reached)) {
        fit->residuals = residuals;
        return reached;
    }
    memcpy(trial, other, (size_t)fit->parameters * sizeof *trial);
    return loss;
}

/* Moves the numbers of the formula into their bounds, where the language has some. */
static void keep_bounds(const struct fit *fit, double *number)
{
    const struct sr_language *language = fit->loss->data->language;
    double low[SR_NODES], high[SR_NODES];
    if (!language || !language->bounded)
        return;
    sr_expr_bounds(language, fit->expr, low, high);
    for (int i = 0; i < fit->constants; i++)
        number[i] = fmin(fmax(number[i], low[i]), high[i]);
}

/* Whether a fit that falls from step to step by no more than this share stays above the loss that
 * it has to reach, where there is one. */
static bool is_hopeless(const struct sr_work *work, double loss, double gain, int steps)
{
    for (int k = 0; k < steps && loss > work->enough; k++)
        loss *= 1 - gain;
    return work->enough > 0 && loss > work->enough;
}

/* Improves the parameters from their current values, where loss_at() was called last; returns the
 * loss. */
static double descend_loss(struct fit *fit, double loss, int iterations)
{
    enum { TRIES = 6 };
    double lambda = 1e-3, step[SR_NODES + 1], trial[SR_NODES + 1];
    const bool large = fit->loss->data->rows > 100000; /* an attempt takes milliseconds */
    for (int it = 0; it < iterations; it++) {
        if (loss <= fit->loss->noise || sr_fit_over(fit->work))
            break;
        sr_expr_set_constants(fit->expr, fit->parameter);
        if (!fill_equations(fit->loss, fit->expr, outer_scale(fit, fit->parameter), fit->parameters,
                            fit->residuals, fit->work, &fit->equations))
            break;
        leave_held(fit);
        double reached = HUGE_VAL;
        for (int attempt = 0;
             attempt < TRIES && !(reached < loss) && !(large && sr_fit_over(fit->work));
             attempt++) {
            if (solve_step(fit, lambda, step)) {
                for (int i = 0; i < fit->parameters; i++)
                    trial[i] = fit->parameter[i] + step[i];
                keep_bounds(fit, trial);
                reached = try_factors(fit, step, loss_at(fit, trial), trial);
            }
            lambda = reached < loss ? fmax(lambda / 8, 1e-12) : lambda * 8;
        }
        if (!(reached < loss))
            break;
        const double gain = (loss - reached) / loss;
        memcpy(fit->parameter, trial, (size_t)fit->parameters * sizeof *trial);
        loss = reached;
        if (gain < 1e-7 || (it && is_hopeless(fit->work, loss, gain, iterations - it - 1)))
            break;
    }
    return loss;
}

double sr_constants_fit_others(const struct sr_loss *loss, struct sr_expr *expr, uint64_t held,
                               int iterations, struct sr_work *work)
{
    struct fit fit;
    begin_fit(&fit, loss, expr, held, work);
    fit.constants = fit.parameters = sr_expr_constants(expr, fit.parameter);
    keep_bounds(&fit, fit.parameter);
    double reached = loss_at(&fit, fit.parameter);
    if (reached < HUGE_VAL && fit.parameters <= work->columns)
        reached = descend_loss(&fit, reached, iterations);
    sr_expr_set_constants(expr, fit.parameter);
    return reached;
}

double sr_constants_fit(const struct sr_loss *loss, struct sr_expr *expr, bool with_scale,
                        int iterations, int restarts, gsl_rng *rng, struct sr_work *work)
{
    struct fit fit;
    double first[SR_NODES + 1], best[SR_NODES + 1], scale = 1, reached;
    begin_fit(&fit, loss, expr, 0, work);
    if (with_scale) {
        assert(loss->data->rows <= work->rows); /* its median orders all rows */
        if (!sr_eval(expr, loss->data, work->value))
            return HUGE_VAL;
        scale = sr_loss_scale(loss, work->value, work->scratch);
        /* a factor that the constants can absorb would make the equations singular */
        if (scale != 0 && sr_expr_absorb(expr, scale)) {
            with_scale = false;
            scale = 1;
        }
    }
    if (loss->data->language && loss->data->language->bounded) {
        fit.constants = sr_expr_constants(expr, first);
        keep_bounds(&fit, first);
        sr_expr_set_constants(expr, first);
        with_scale = false; /* a factor that no constant has taken would become one */
    }
    if (with_scale)
        reached = sr_loss_value(loss, work->value, scale);
    else if (!sr_eval_parts(expr, loss, 1, work->rows, work->value, &reached, NULL))
        return HUGE_VAL;
    fit.constants = sr_expr_constants(expr, first);
    fit.parameters = fit.constants + (with_scale ? 1 : 0);
    first[fit.constants] = scale;
    memcpy(best, first, sizeof first);
    if (!isfinite(reached))
        reached = HUGE_VAL;
    if (fit.constants == 0 || fit.parameters > work->columns)
        return reached;
    for (int start = 0; start <= restarts && reached > loss->noise; start++) {
        memcpy(fit.parameter, first, sizeof first);
        for (int i = 0; i < fit.constants && start; i++)
            fit.parameter[i] *= 1 + 0.5 * orr_draw_normal(rng);
        keep_bounds(&fit, fit.parameter);
        double here = loss_at(&fit, fit.parameter);
        if (here < HUGE_VAL)
            here = descend_loss(&fit, here, iterations);
        if (here < reached) {
            reached = here;
            memcpy(best, fit.parameter, sizeof first);
        }
    }
    sr_expr_set_constants(expr, best);
    return with_scale || !sr_has_steps(expr) ? reached
                                             : sr_steps_fit(loss, expr, reached, iterations, work);
}
