/* symreg_smooth.h - tables whose y carries a small error that is smooth along the rows or along a
 * column, as numerical work leaves it. A kind of error, a set and a number make a table:
 *   centred      the derivative of a state of an ordinary differential equation, by centred
 *                differences of the states at neighbouring rows; the columns are the states
 *   spline       that derivative by the natural cubic spline through the states of the rows
 *   integration  the solution of a differential equation over time, by RK4 or the midpoint rule
 *                with one step a row; the law is the closed form
 *   float32      that solution by RK4 of float32 numbers with 20 steps a row
 *   interpolation  a function of one or two columns, read off a coarse grid of the first column by
 *                straight lines or a natural cubic spline
 * The stream of (set, kind, number) draws law, constants, first state, spacing and rows. A table is
 * drawn again unless the rms of its error is between 1e-7 and 1e-2 of the rms spread of y. */
#ifndef SYMREG_SMOOTH_H
#define SYMREG_SMOOTH_H

#include <gsl/gsl_spline.h>

#include "symreg_judge.h"

enum { SMOOTH_DEVELOPMENT = 1, SMOOTH_HELD_OUT = 3 }; /* sets */
enum { SMOOTH_STATES = 3, SMOOTH_NUMBERS = 4, SMOOTH_ROWS = 400, SMOOTH_TEXT = 256 };
enum smooth_kind { CENTRED, SPLINE, INTEGRATION, FLOAT32, INTERPOLATION, SMOOTH_KINDS };
static const char *const smooth_kind_name[SMOOTH_KINDS] = {"centred", "spline", "integration",
                                                           "float32", "interpolation"};

/* Formulas with constants p0 ... and their ranges. Of a system: the derivative of each state, the
 * ranges of the first states, the longest time. Of a closed form: `closed` of t, and rate[]. */
struct smooth_family {
    int states, numbers;
    const char *name[SMOOTH_STATES], *rate[SMOOTH_STATES], *closed;
    double low[SMOOTH_NUMBERS], high[SMOOTH_NUMBERS], first_low[SMOOTH_STATES],
        first_high[SMOOTH_STATES], time;
};
/* clang-format off */
static const struct smooth_family smooth_system[] = {
    {3, 2, {"s", "i", "r"}, {"-1 * p0 * s * i", "p0 * s * i - p1 * i", "p1 * i"}, NULL,
     {0.3, 0.1}, {0.9, 0.25}, {0.9, 0.005, 0}, {0.99, 0.05, 0.02}, 30},
    {2, 2, {"a", "w"}, {"w", "-1 * p0 * sin(a) - p1 * w"}, NULL,
     {2, 0.05}, {10, 0.4}, {1, -1}, {2.5, 1}, 10},
    {2, 4, {"x", "y"}, {"p0 * x - p1 * x * y", "p2 * x * y - p3 * y"}, NULL,
     {0.6, 0.3, 0.2, 0.4}, {1.2, 0.8, 0.6, 1}, {0.5, 0.5}, {2, 2}, 15},
    {2, 1, {"x", "v"}, {"v", "p0 * (1 - x * x) * v - x"}, NULL,
     {0.3}, {1.5}, {0.5, -1}, {2, 1}, 12},
    {2, 3, {"x", "v"}, {"v", "p0 * x - p1 * x ^ 3 - p2 * v"}, NULL,
     {0.5, 0.5, 0.05}, {1.5, 1.5, 0.3}, {0.5, -1}, {2, 1}, 15},
    {1, 2, {"n"}, {"p0 * n * (1 - n / p1)"}, NULL, {0.3, 2}, {1.2, 9}, {0.05}, {0.4}, 12},
    {3, 2, {"a", "b", "c"}, {"-1 * p0 * a * b", "-1 * p0 * a * b", "p0 * a * b - p1 * c"}, NULL,
     {0.3, 0.1}, {1.5, 0.6}, {1, 1, 0}, {2, 3, 0.3}, 8},
    {3, 3, {"x", "y", "z"}, {"p0 * (y - x)", "x * (p1 - z) - y", "x * y - p2 * z"}, NULL,
     {6, 20, 2}, {12, 30, 3}, {-6, -6, 15}, {6, 6, 25}, 3},
    {2, 2, {"s", "q"}, {"-1 * p0 * s / (p1 + s)", "p0 * s / (p1 + s)"}, NULL,
     {0.5, 0.3}, {2, 2}, {2, 0}, {5, 0.1}, 8},
    {1, 2, {"v"}, {"p0 - p1 * v ^ 2"}, NULL, {5, 0.05}, {12, 0.4}, {0}, {1}, 3},
};
static const struct smooth_family smooth_closed[] = {
    {1, 2, {"y"}, {"-1 * p1 * y"}, "p0 * exp(-1 * p1 * t)", {1, 0.2}, {9, 0.9}, {0}, {0}, 6},
    {1, 3, {"y"}, {"p2 * y * (1 - y / p1)"}, "p1 / (1 + p0 * exp(-1 * p2 * t))",
     {5, 2, 0.5}, {40, 9, 1.2}, {0}, {0}, 10},
    {2, 2, {"y", "u"}, {"u", "-1 * p1 ^ 2 * y"}, "p0 * cos(p1 * t)",
     {1, 0.7}, {5, 2.5}, {0}, {0}, 8},
    {1, 2, {"y"}, {"-1 * p1 / p0 * y ^ 2"}, "p0 / (1 + p1 * t)", {1, 0.3}, {9, 2}, {0}, {0}, 8},
    {1, 2, {"y"}, {"p0 * p1 - p1 * y"}, "p0 * (1 - exp(-1 * p1 * t))",
     {1, 0.2}, {9, 1.2}, {0}, {0}, 6},
    {2, 3, {"y", "u"}, {"u", "-1 * (p1 ^ 2 + p2 ^ 2) * y - 2 * p1 * u"},
     "p0 * exp(-1 * p1 * t) * cos(p2 * t)", {1, 0.1, 0.8}, {5, 0.5, 2.5}, {0}, {0}, 8},
};
static const struct smooth_family smooth_function[] = {
    {2, 2, {"a", "b"}, {NULL}, "p0 * a * b / (p1 + a)", {1, 0.5}, {5, 3}, {0.2, 1}, {5, 4}, 0},
    {1, 2, {"a"}, {NULL}, "p0 * exp(-1 * a / p1)", {1, 0.8}, {9, 3}, {0}, {5}, 0},
    {2, 1, {"a", "b"}, {NULL}, "p0 * sqrt(a) * b", {0.5}, {5}, {0.5, 1}, {6, 4}, 0},
    {2, 1, {"a", "b"}, {NULL}, "p0 * b / a ^ 2", {1}, {5}, {1, 1}, {4, 4}, 0},
    {1, 2, {"a"}, {NULL}, "p0 / (a ^ 2 + p1)", {1, 0.5}, {5, 3}, {-3}, {3}, 0},
    {1, 2, {"a"}, {NULL}, "p0 * sin(p1 * a)", {1, 0.6}, {5, 2}, {0}, {6}, 0},
    {2, 2, {"a", "b"}, {NULL}, "p0 * a ^ 2 + p1 * a * b", {0.5, 0.5}, {3, 3}, {0.5, 1}, {4, 4}, 0},
    {1, 2, {"a"}, {NULL}, "p0 * log(1 + p1 * a)", {1, 0.5}, {5, 3}, {0}, {6}, 0},
};
/* clang-format on */

struct smooth_table {
    struct problem problem; /* the law, its columns and their ranges in the table */
    char law[SMOOTH_TEXT];
    int rows;
    double error; /* rms of the error of y, in rms spreads of y */
    /* column-major: states, or t */
    double x[SMOOTH_STATES * SMOOTH_ROWS], y[SMOOTH_ROWS], exact[SMOOTH_ROWS];
};

/* What one table is drawn from. */
struct smooth_draw {
    const struct smooth_family *family;
    gsl_rng *rng;
    double number[SMOOTH_NUMBERS];
    struct sr_expr rate[SMOOTH_STATES];
};

static inline double smooth_between(gsl_rng *rng, double low, double high)
{
    return low + (high - low) * gsl_rng_uniform(rng);
}

/* Writes a formula with the drawn constants in place of p0 ... */
static inline void smooth_write(const struct smooth_draw *d, const char *formula, char *text)
{
    size_t at = 0;
    for (const char *c = formula; *c; c++)
        if (*c == 'p' && c[1] >= '0' && c[1] < '0' + SMOOTH_NUMBERS)
            at += (size_t)snprintf(text + at, SMOOTH_TEXT - at, "%g", d->number[*++c - '0']);
        else
            text[at++] = *c;
    text[at] = '\0';
}

static inline int smooth_rates(struct smooth_draw *d)
{
    char text[SMOOTH_TEXT];
    for (int k = 0; k < d->family->states && d->family->rate[k]; k++) {
        smooth_write(d, d->family->rate[k], text);
        TRY(sr_expr_parse(NULL, text, d->family->name, d->family->states, &d->rate[k]));
    }
    return 0;
}

/* Values are rounded to float32 where `single`. */
static inline double smooth_round(double value, bool single)
{
    return single ? (double)(float)value : value;
}

static inline void smooth_slope(const struct smooth_draw *d, const double *x, bool single,
                                double *slope)
{
    for (int k = 0; k < d->family->states; k++)
        slope[k] = smooth_round((double)long_value(NULL, &d->rate[k], x), single);
}

/* One step of RK4, or of the midpoint rule. */
static inline void smooth_step(const struct smooth_draw *d, double step, bool midpoint, bool single,
                               double *x)
{
    static const double at[] = {0, 0.5, 0.5, 1}, share[] = {1, 2, 2, 1};
    double k[4][SMOOTH_STATES], y[SMOOTH_STATES];
    const int stages = midpoint ? 2 : 4, n = d->family->states;
    for (int stage = 0; stage < stages; stage++) {
        for (int i = 0; i < n; i++)
            y[i] = smooth_round(x[i] + (stage ? at[stage] * step * k[stage - 1][i] : 0), single);
        smooth_slope(d, y, single, k[stage]);
    }
    for (int i = 0; i < n; i++) {
        double sum = k[1][i];
        for (int stage = 0; stage < 4 && !midpoint; stage++)
            sum = (stage ? sum : 0) + share[stage] * k[stage][i] / 6;
        x[i] = smooth_round(x[i] + step * sum, single);
    }
}

/* Derivatives of a state at the rows of a trajectory x, which has one row more at both ends. */
static inline void smooth_differences(const double *x, int rows, double spacing, double *y)
{
    for (int i = 0; i < rows; i++)
        y[i] = (x[i + 2] - x[i]) / (2 * spacing);
}
static inline int smooth_splined(const double *x, int rows, double spacing, double *y)
{
    double t[SMOOTH_ROWS + 2];
    const size_t count = (size_t)rows + 2;
    gsl_interp_accel *accel = gsl_interp_accel_alloc();
    gsl_spline *spline = gsl_spline_alloc(gsl_interp_cspline, count);
    if (!accel || !spline)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        t[i] = spacing * (double)i;
    gsl_spline_init(spline, t, x, count);
    for (int i = 0; i < rows; i++)
        y[i] = gsl_spline_eval_deriv(spline, t[i + 1], accel);
    gsl_spline_free(spline);
    gsl_interp_accel_free(accel);
    return 0;
}

/* Derivatives of one state of a system. */
static inline int smooth_derivatives(struct smooth_draw *d, bool spline, struct smooth_table *t)
{
    enum { FINE = 50 };
    static double path[SMOOTH_STATES][SMOOTH_ROWS + 2];
    const struct smooth_family *f = d->family;
    const int goal = (int)(gsl_rng_uniform(d->rng) * f->states);
    const double spacing = f->time * smooth_between(d->rng, 0.5, 1) / (t->rows + 1);
    double x[SMOOTH_STATES];
    TRY(smooth_rates(d));
    for (int k = 0; k < f->states; k++)
        x[k] = smooth_between(d->rng, f->first_low[k], f->first_high[k]);
    for (int i = 0; i < t->rows + 2; i++) {
        for (int k = 0; k < f->states; k++)
            path[k][i] = x[k];
        for (int k = 0; k < FINE; k++)
            smooth_step(d, spacing / FINE, false, false, x);
    }
    smooth_write(d, f->rate[goal], t->law);
    for (int k = 0; k < f->states; k++) {
        t->problem.feature[k] = f->name[k];
        memcpy(t->x + k * t->rows, path[k] + 1, (size_t)t->rows * sizeof *t->x);
    }
    if (spline)
        return smooth_splined(path[goal], t->rows, spacing, t->y);
    smooth_differences(path[goal], t->rows, spacing, t->y);
    return 0;
}

/* The solution of a differential equation with a closed form. */
static inline int smooth_solution(struct smooth_draw *d, bool single, struct smooth_table *t)
{
    const struct smooth_family *f = d->family;
    const int steps = single ? 20 : 1;
    const bool midpoint = !single && gsl_rng_uniform(d->rng) < 0.5;
    const double spacing = smooth_round(f->time / t->rows, single);
    const double zero[1] = {0}, near[1] = {1e-7};
    struct sr_expr closed;
    TRY(smooth_rates(d));
    smooth_write(d, f->closed, t->law);
    t->problem.feature[0] = "t";
    TRY(sr_expr_parse(NULL, t->law, t->problem.feature, 1, &closed));
    const long double first = long_value(NULL, &closed, zero);
    double x[2] = {(double)first, (double)((long_value(NULL, &closed, near) - first) / 1e-7L)};
    for (int i = 0; i < t->rows; i++) {
        t->x[i] = spacing * i;
        t->y[i] = x[0];
        for (int k = 0; k < steps; k++)
            smooth_step(d, spacing / steps, midpoint, single, x);
    }
    return 0;
}

/* A function of the columns, read off a grid of the first. */
static inline int smooth_grid(struct smooth_draw *d, struct smooth_table *t)
{
    enum { MOST_KNOTS = 40 };
    const struct smooth_family *f = d->family;
    const bool cubic = gsl_rng_uniform(d->rng) < 0.5;
    const size_t knots = (size_t)smooth_between(d->rng, cubic ? 8 : 20, cubic ? 20 : MOST_KNOTS);
    double at[MOST_KNOTS], value[MOST_KNOTS], point[SMOOTH_STATES];
    struct sr_expr law;
    smooth_write(d, f->closed, t->law);
    for (int k = 0; k < f->states; k++)
        t->problem.feature[k] = f->name[k];
    TRY(sr_expr_parse(NULL, t->law, t->problem.feature, f->states, &law));
    gsl_interp *way = gsl_interp_alloc(cubic ? gsl_interp_cspline : gsl_interp_linear, knots);
    if (!way)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (int i = 0; i < t->rows; i++) {
        for (int k = 0; k < f->states; k++)
            t->x[k * t->rows + i] = point[k] =
                smooth_between(d->rng, f->first_low[k], f->first_high[k]);
        for (size_t k = 0; k < knots; k++) {
            at[k] = point[0] = f->first_low[0] + (f->first_high[0] - f->first_low[0]) * (double)k /
                                                     (double)(knots - 1);
            value[k] = (double)long_value(NULL, &law, point);
        }
        gsl_interp_init(way, at, value, knots);
        t->y[i] = gsl_interp_eval(way, at, value, t->x[i], NULL);
    }
    gsl_interp_free(way);
    return 0;
}

/* The exact law at the rows, ranges of the columns, and the size of the error. */
static inline int smooth_measure(struct smooth_table *t)
{
    double mean = 0, spread = 0, error = 0, point[SMOOTH_STATES];
    struct sr_expr law;
    TRY(sr_expr_parse(NULL, t->law, t->problem.feature, t->problem.features, &law));
    for (int k = 0; k < t->problem.features; k++) {
        t->problem.low[k] = HUGE_VAL;
        t->problem.high[k] = -HUGE_VAL;
    }
    for (int i = 0; i < t->rows; i++) {
        for (int k = 0; k < t->problem.features; k++) {
            point[k] = t->x[k * t->rows + i];
            t->problem.low[k] = fmin(t->problem.low[k], point[k]);
            t->problem.high[k] = fmax(t->problem.high[k], point[k]);
        }
        t->exact[i] = (double)long_value(NULL, &law, point);
        mean += t->exact[i] / t->rows;
        error += pow(t->y[i] - t->exact[i], 2);
    }
    for (int i = 0; i < t->rows; i++)
        spread += pow(t->exact[i] - mean, 2);
    t->error = sqrt(error / spread);
    return 0;
}

/* Makes a table; numbers count from 0. */
static inline int smooth_make(int set, enum smooth_kind kind, int number, struct smooth_table *t)
{
#define FAMILIES(list)                                                                             \
    {                                                                                              \
        list, (int)(sizeof list / sizeof *list)                                                    \
    }
    static const struct {
        const struct smooth_family *family;
        int count;
    } of[SMOOTH_KINDS] = {FAMILIES(smooth_system), FAMILIES(smooth_system), FAMILIES(smooth_closed),
                          FAMILIES(smooth_closed), FAMILIES(smooth_function)};
#undef FAMILIES
    static const int size[] = {40, 80, 150, 300};
    struct smooth_draw d = {.rng = orr_rng_create((uint64_t)set, ORR_STAGE_TEST_SUITE,
                                                  (uint64_t)(9000 + 100 * (int)kind + number))};
    int rc = d.rng ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    t->error = 0;
    while (!rc && !(t->error > 1e-7 && t->error < 1e-2)) {
        d.family = &of[kind].family[(int)(gsl_rng_uniform(d.rng) * of[kind].count)];
        t->rows = size[(int)(gsl_rng_uniform(d.rng) * 4)];
        for (int k = 0; k < d.family->numbers; k++) {
            char text[32];
            snprintf(text, sizeof text, "%.3g",
                     smooth_between(d.rng, d.family->low[k], d.family->high[k]));
            d.number[k] = strtod(text, NULL);
        }
        t->problem = (struct problem){.formula = t->law};
        t->problem.features = kind == INTEGRATION || kind == FLOAT32 ? 1 : d.family->states;
        rc = kind == CENTRED || kind == SPLINE ? smooth_derivatives(&d, kind == SPLINE, t)
             : kind == INTERPOLATION           ? smooth_grid(&d, t)
                                               : smooth_solution(&d, kind == FLOAT32, t);
        rc = rc ? rc : smooth_measure(t);
    }
    gsl_rng_free(d.rng);
    return rc;
}

#endif
