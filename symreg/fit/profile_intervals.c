/* profile_intervals.c - profile intervals of a formula's constants: a constant is moved away from
 * its optimum, and all others are refitted, until the loss has risen by what noise explains (Bates
 * and Watts, Nonlinear Regression Analysis and Its Applications, 1988, chapter 6; Venzon and
 * Moolgavkar, Applied Statistics 37, 1988). */
#include "fit.h"

#include <float.h>
#include <math.h>

enum {
    FIT_STEPS = 30,
    EXPANSIONS = 16, /* steps outwards, each up to 4 times as far; then there is no bound */
    REFINEMENTS = 40
};
/* How exactly a bound is found: an error of `rise`, in half-widths of the interval. */
static const double rise = 1e-5;

/* The profile of one constant. */
struct profile {
    const struct sr_loss *loss;
    struct sr_work *work;
    int constant;        /* its place in the formula */
    double optimum;      /* its value there */
    const double *along; /* (constants) how the others follow it, from the covariance */
    double least, limit; /* loss at the optimum and at the bounds */
};

/* The root of the share of the rise to the limit, of the smallest loss with the constant at a
 * distance from its optimum: 0 there, 1 at the bound, and nearly linear between. Starts from the
 * other constants of *expr, moved as their covariance with this one says: of exp(c - x / b) with
 * dates, b has to follow c to ten digits. Leaves the fitted ones there. Infinite where the formula
 * has no value. */
static double height_at(const struct profile *p, double distance, struct sr_expr *expr)
{
    double constant[SR_NODES];
    const int n = sr_expr_constants(expr, constant);
    const double moved = p->optimum + distance - constant[p->constant];
    struct sr_expr following = *expr;
    constant[p->constant] = p->optimum + distance;
    sr_expr_set_constants(expr, constant);
    for (int c = 0; c < n; c++)
        constant[c] += c == p->constant ? 0 : p->along[c] * moved;
    sr_expr_set_constants(&following, constant);
    if (sr_expr_finite(&following, 0) &&
        sr_eval_plain(&following, p->loss, p->work) < sr_eval_plain(expr, p->loss, p->work))
        *expr = following;
    const double loss =
        sr_constants_fit_others(p->loss, expr, UINT64_C(1) << p->constant, FIT_STEPS, p->work);
    return loss < HUGE_VAL ? sqrt(fmax(loss - p->least, 0) / (p->limit - p->least)) : HUGE_VAL;
}

/* The bound between the distances in[0] and out[0] of heights in[1] <= 1 < out[1], by the Illinois
 * method; *expr is the fit at in[0]. */
static double find_bound(const struct profile *p, double in[2], double out[2], struct sr_expr *expr)
{
    double held = 1; /* factor of the end that stays */
    int last = 0;
    for (int k = 0; k < REFINEMENTS && fabs(out[0] - in[0]) > rise * fabs(out[0]); k++) {
        struct sr_expr here = *expr;
        const double below = (1 - in[1]) * (last < 0 ? held : 1),
                     above = (out[1] - 1) * (last > 0 ? held : 1);
        const double share = isfinite(above) && below + above > 0 ? below / (below + above) : 0.5;
        const double at = in[0] + share * (out[0] - in[0]), height = height_at(p, at, &here);
        const int side = height > 1 ? -1 : 1; /* the end that stays: in, out */
        held = side == last ? held / 2 : 1;
        last = side;
        double *const end = side < 0 ? out : in;
        end[0] = at;
        end[1] = height;
        if (side > 0)
            *expr = here;
        if (fabs(height - 1) < rise)
            return at;
    }
    return in[0];
}

/* The distance of the bound on the side of `step`, the first one tried; infinite where there is no
 * bound. */
static double bound_of(const struct profile *p, double step, const struct sr_expr *fitted)
{
    struct sr_expr inner = *fitted;
    double in[2] = {0, 0}, out[2] = {step, 0};
    for (int k = 0; k < EXPANSIONS; k++) {
        struct sr_expr here = inner;
        out[1] = height_at(p, out[0], &here);
        if (out[1] > 1)
            return find_bound(p, in, out, &inner);
        inner = here;
        in[0] = out[0];
        in[1] = out[1];
        out[0] *= fmin(4, 1.05 / fmax(in[1], 0.1));
    }
    return copysign(INFINITY, step);
}

/* The intervals of the constants at the n places of a formula that is fitted. */
static void find_intervals(const struct sr_loss *loss, struct sr_work *work,
                           const struct sr_expr *fitted, double least, double limit,
                           const struct sr_uncertainty *u, double factor, int n, const int *place,
                           double *low, double *high)
{
    double optimum[SR_NODES];
    sr_expr_constants(fitted, optimum);
    const bool exact = !(least > loss->noise); /* its rise would be rounding errors */
    for (int k = 0; k < n; k++) {
        const int c = place[k];
        const double size = fmax(fabs(optimum[c]), DBL_EPSILON), width = factor * u->error[c];
        const double step = width > 0 && isfinite(width) ? width : 0.1 * size;
        const double variance = u->covariance[c][c];
        double along[SR_NODES];
        for (int a = 0; a < u->constants; a++)
            along[a] = isnormal(variance) ? u->covariance[a][c] / variance : 0;
        const struct profile p = {loss, work, c, optimum[c], along, least, limit};
        low[k] = optimum[c] + (exact ? -width : bound_of(&p, -step, fitted));
        high[k] = optimum[c] + (exact ? width : bound_of(&p, step, fitted));
    }
}

int sr_constants_profile(const struct sr_expr *expr, const struct sr_data *data, double variance,
                         double level, double *low, double *high)
{
    struct sr_expr fitted;
    struct sr_uncertainty u;
    struct sr_loss loss;
    struct sr_work work;
    double from[SR_NODES], to[SR_NODES];
    int place[SR_NODES], of[SR_NODES]; /* in the fitted formula; in expr */
    int n = sr_expr_constants(expr, NULL);
    for (int c = 0; c < n; c++)
        low[c] = high[c] = NAN;
    if (n == 0 || data->rows > SR_PROFILE_ROWS || data->low) /* a rise of the loss is no chi^2 */
        return 0;
    TRY(sr_loss_init(&loss, ORR_SR_L2, data));
    int rc = sr_constants_uncertainty(expr, data, variance, &u);
    const int others = !rc && sr_is_singular(&u) ? sr_fix_ones(expr, &fitted, of) : 0;
    if (!others)
        sr_free_phases(expr, data, 1, &fitted, place);
    n = others ? others : n;
    for (int c = 0; c < n; c++)
        (others ? place : of)[c] = c;
    if (!rc)
        rc = sr_work_init(&work, data->rows, 2 * sr_expr_constants(&fitted, NULL));
    if (rc)
        goto out;
    const double least = sr_constants_fit_others(&loss, &fitted, 0, FIT_STEPS, &work);
    rc = sr_constants_uncertainty(&fitted, data, variance, &u);
    const double factor = sr_interval_factor(level, u.freedom);
    const double limit = least + factor * factor * u.noise * u.repeats / loss.total;
    if (!rc && isfinite(limit) && !orr_signal_seen())
        find_intervals(&loss, &work, &fitted, least, limit, &u, factor, n, place, from, to);
    else
        n = 0;
    for (int c = 0; c < n && !orr_signal_seen(); c++) { /* an interrupted fit decides nothing */
        low[of[c]] = from[c];
        high[of[c]] = to[c];
    }
    sr_work_free(&work);
out:
    sr_loss_free(&loss);
    return rc;
}
