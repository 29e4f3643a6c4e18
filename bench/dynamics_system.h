/* dynamics_system.h - the systems of a set of the benchmark of dynamics, and their tables.
 *
 * dyn_make() draws a system of the grammar again until it is fit: both its solutions are bounded,
 * move to the end, are resolved by the table's rows, follow from starts that are slightly off, and
 * the table can tell every term of every equation. */
#ifndef DYNAMICS_SYSTEM_H
#define DYNAMICS_SYSTEM_H

#include <gsl/gsl_multifit.h>

#include "dynamics_grammar.h"

/* ---- whether a system is fit for the purpose */

enum { DYN_EASY = 40000, DYN_HALF = DYN_ROWS / 2 };

/* Standard deviation of state d in rows from `first` on. */
static inline double dyn_spread(const struct dyn_system *s, const double *x, int d, int first)
{
    double mean = 0, spread = 0;
    const int rows = DYN_ROWS - first;
    for (int i = first; i < DYN_ROWS; i++)
        mean += x[i * s->dims + d] / rows;
    for (int i = first; i < DYN_ROWS; i++)
        spread += (x[i * s->dims + d] - mean) * (x[i * s->dims + d] - mean) / rows;
    return sqrt(spread);
}

/* Bounded, moving to the end, and resolved: in one step no state passes 30% of its range. */
static inline bool dyn_is_lively(const struct dyn_system *s, const double *x)
{
    for (int d = 0; d < s->dims; d++) {
        double low = HUGE_VAL, high = -HUGE_VAL, step = 0;
        for (int i = 0; i < DYN_ROWS; i++) {
            const double at = x[i * s->dims + d];
            low = fmin(low, at);
            high = fmax(high, at);
            step = i ? fmax(step, fabs(at - x[(i - 1) * s->dims + d])) : 0;
        }
        const double spread = dyn_spread(s, x, d, 0), size = fmax(fabs(low), fabs(high));
        if (!(size < 100) || !(spread > 0.05) || !(spread > 0.03 * size))
            return false;
        if (!(dyn_spread(s, x, d, DYN_HALF) > 0.02 * spread) || !(step < 0.3 * (high - low)))
            return false;
    }
    return true;
}

/* Starts that differ by one part in 10,000 lead to the same track: R2 > 0.99. */
static inline bool dyn_is_steady(const struct dyn_system *s, struct dyn_flow *flow, int which)
{
    double start[DYN_DIMS], x[DYN_ROWS * DYN_DIMS];
    for (int d = 0; d < s->dims; d++)
        start[d] = 1.0001 * s->start[which][d];
    bool steady = dyn_solve(flow, start, DYN_ROWS, s->t, 1e-10, x);
    for (int d = 0; d < s->dims && steady; d++)
        steady = dyn_r2(s->dims, d, DYN_ROWS, s->x[which], x) > 0.99;
    return steady;
}

/* Over a time ten times as long the solution stays bounded and moving, and a change of the start by
 * one part in 10^6 has grown to the size of the motion. */
static inline bool dyn_is_irregular(const struct dyn_system *s, struct dyn_flow *flow)
{
    static double t[DYN_ROWS], x[2][DYN_ROWS * DYN_DIMS];
    double start[DYN_DIMS];
    for (int i = 0; i < DYN_ROWS; i++)
        t[i] = 10 * s->t[i];
    for (int d = 0; d < s->dims; d++)
        start[d] = (1 + 1e-6) * s->start[0][d];
    if (!dyn_solve(flow, s->start[0], DYN_ROWS, t, 1e-10, x[0]) ||
        !dyn_solve(flow, start, DYN_ROWS, t, 1e-10, x[1]))
        return false;
    bool irregular = true;
    for (int d = 0; d < s->dims; d++) {
        double apart = 0;
        const double spread = dyn_spread(s, x[0], d, DYN_HALF);
        for (int k = DYN_HALF * s->dims + d; k < DYN_ROWS * s->dims; k += s->dims)
            apart = fmax(apart, fabs(x[1][k] - x[0][k]));
        irregular = irregular && spread > 0.3 * dyn_spread(s, x[0], d, 0) && apart > 0.5 * spread;
    }
    return irregular;
}

/* Values of the terms of equation i at the rows of the table. */
static inline int dyn_term_values(const struct dyn_system *s, int i, gsl_matrix *value)
{
    struct sr_expr term;
    for (int k = 0; k < s->terms[i]; k++) {
        char text[DYN_TERM + 4];
        snprintf(text, sizeof text, "0 %s", s->term[i][k]);
        const int rc = sr_expr_parse(NULL, text, s->feature, s->dims + 1, &term);
        if (rc)
            return rc;
        for (int row = 0; row < DYN_ROWS; row++) {
            double point[DYN_DIMS + 1];
            memcpy(point, s->x[0] + row * s->dims, (size_t)s->dims * sizeof *point);
            point[s->dims] = s->t[row];
            gsl_matrix_set(value, (size_t)row, (size_t)k, dyn_value(&term, point));
        }
    }
    return 0;
}

/* Whether the table can tell each term of equation i: without it the other terms, with factors of
 * their own, miss the derivative by more than 1% of its root mean square. */
static inline bool dyn_is_told(const struct dyn_system *s, int i)
{
    const size_t terms = (size_t)s->terms[i];
    gsl_matrix *value = gsl_matrix_alloc(DYN_ROWS, terms);
    bool told = !dyn_term_values(s, i, value);
    double square = 0;
    for (size_t row = 0; row < DYN_ROWS; row++) {
        double sum = 0;
        for (size_t k = 0; k < terms; k++)
            sum += gsl_matrix_get(value, row, k);
        square += sum * sum;
    }
    for (size_t k = 0; k < terms && told && terms > 1; k++) {
        gsl_matrix *X = gsl_matrix_alloc(DYN_ROWS, terms - 1);
        gsl_matrix *cov = gsl_matrix_alloc(terms - 1, terms - 1);
        gsl_vector *c = gsl_vector_alloc(terms - 1);
        gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(DYN_ROWS, terms - 1);
        double miss = 0;
        for (size_t j = 0; j < terms; j++) {
            gsl_vector_const_view from = gsl_matrix_const_column(value, j);
            if (j != k)
                gsl_matrix_set_col(X, j - (j > k), &from.vector);
        }
        gsl_vector_const_view y = gsl_matrix_const_column(value, k);
        told = !gsl_multifit_linear(X, &y.vector, c, cov, &miss, work) && miss > 1e-4 * square;
        gsl_multifit_linear_free(work);
        gsl_vector_free(c);
        gsl_matrix_free(cov);
        gsl_matrix_free(X);
    }
    gsl_matrix_free(value);
    return told;
}

static inline bool dyn_is_fit(struct dyn_system *s, bool irregular)
{
    struct dyn_flow flow = {.dims = s->dims, .equation = s->equation};
    for (int which = 0; which < 2; which++)
        if (!dyn_solve(&flow, s->start[which], DYN_ROWS, s->t, DYN_TOLERANCE, s->x[which]) ||
            flow.evaluations > DYN_EASY || !dyn_is_lively(s, s->x[which]) ||
            !dyn_is_steady(s, &flow, which))
            return false;
    for (int i = 0; i < s->dims; i++)
        if (!dyn_is_told(s, i))
            return false;
    return !irregular || dyn_is_irregular(s, &flow);
}

/* ---- systems */

/* Joins the terms to equations and parses them. False where one is too long. */
static inline bool dyn_join(struct dyn_system *s)
{
    for (int i = 0; i < s->dims; i++) {
        size_t used = 0;
        for (int k = 0; k < s->terms[i]; k++) {
            const char *term = s->term[i][k];
            const char *plain = k == 0 && *term == '+' ? term + 2 : term; /* no sign in front */
            used +=
                (size_t)snprintf(s->text[i] + used, DYN_TEXT - used, "%s%s", k ? " " : "", plain);
        }
        if (sr_expr_parse(NULL, s->text[i], s->feature, s->dims + 1, &s->equation[i])) {
            orr_error_clear();
            return false;
        }
        if (s->equation[i].count > DYN_NODES)
            return false;
    }
    return true;
}

/* Starts on one scale, and times of a table, every fourth with uneven ones. */
static inline void dyn_times(struct dyn_system *s, const struct dyn_kind *kind, gsl_rng *rng)
{
    const double step = dyn_constant(rng, 4, 30) / (DYN_ROWS - 1);
    s->uneven = dyn_below(rng, 4) == 0;
    for (int i = 0; i < DYN_ROWS; i++) {
        const double move = 0.8 * gsl_rng_uniform(rng) - 0.4;
        s->t[i] = step * (i + (s->uneven && i ? move : 0));
    }
    for (int which = 0; which < 2; which++)
        for (int d = 0; d < s->dims; d++) {
            double start = dyn_constant(rng, fmax(kind->low, 0.1), kind->high);
            if (kind->low < 0 && dyn_below(rng, 2))
                start = -start;
            s->start[which][d] = start;
        }
}

/* Kinds take turns among the systems of one number of equations. */
static inline const struct dyn_kind *dyn_turn(int number, const int dims[10])
{
    const int n = dims[number % 10];
    int turn = 0, kinds = 0;
    for (int k = 0; k < number; k++)
        turn += dims[k % 10] == n;
    for (int k = 0; k < DYN_KINDS; k++)
        kinds += n >= dyn_kinds[k].least && n <= dyn_kinds[k].most;
    turn %= kinds;
    const struct dyn_kind *kind = dyn_kinds;
    while (n < kind->least || n > kind->most || turn-- > 0)
        kind++;
    return kind;
}

/* System number 0 .. DYN_SYSTEMS - 1 of a set; ORR_EINVAL where 20,000 draws hold none that fits.
 */
static inline int dyn_make(int set, int number, struct dyn_system *s)
{
    static const int dims[] = {1, 2, 2, 3, 2, 1, 3, 2, 4, 3}; /* 2.3 equations a system */
    gsl_rng *rng = orr_rng_create((uint64_t)set, ORR_STAGE_TEST_SUITE, (uint64_t)number + 8000);
    if (!rng)
        return ORR_ENOMEM;
    const int n = dims[number % 10];
    const struct dyn_kind *kind = dyn_turn(number, dims);
    bool fit = false;
    for (int draw = 0; draw < 20000 && !fit; draw++) {
        *s = (struct dyn_system){.dims = n, .kind = kind->name};
        memcpy(s->feature, dyn_name, (size_t)n * sizeof *dyn_name);
        s->feature[n] = "t";
        kind->write(s, rng);
        dyn_times(s, kind, rng);
        fit = dyn_join(s) && dyn_is_fit(s, kind->write == dyn_irregular);
    }
    gsl_rng_free(rng);
    return fit ? 0
               : ORR_FAIL(ORR_EINVAL, "set %d, system %d: no %s fits", set, number + 1, kind->name);
}

/* The table's states with every value multiplied by 1 + noise N(0, 1): x (rows, dims). */
static inline int dyn_table(int set, int number, const struct dyn_system *s, double noise,
                            double *x)
{
    gsl_rng *rng = orr_rng_create((uint64_t)set, ORR_STAGE_TEST_SUITE, (uint64_t)number + 9000);
    if (!rng)
        return ORR_ENOMEM;
    for (int k = 0; k < DYN_ROWS * s->dims; k++)
        x[k] = s->x[0][k] * (1 + noise * gsl_ran_ugaussian(rng));
    gsl_rng_free(rng);
    return 0;
}

#endif
