/* symreg_judge.h - tables of the benchmark's problems, and when one counts as recovered.
 *
 * A formula recovers a law when both hold:
 *   form       with its own constants fitted to the law without noise it is the law: within 1e-5
 *              at 98% of 512 points over the ranges and at 90% over 10 times wider ones;
 *   agreement  as found it lies within 0.001 + noise of the law, at 90% of the points over the
 *              ranges and at half of them over 10 times wider ones. */
#ifndef SYMREG_JUDGE_H
#define SYMREG_JUDGE_H

#include <gsl/gsl_randist.h>

#include "bench.h"
#include "stage/settings.h"
#include "symreg/symreg.h"
#include "symreg_problems.h"
#include "symreg_same.h"

enum { ROWS = 1000, JUDGE_ROWS = 200 };

struct truth {
    const struct problem *problem;
    struct sr_expr expr;
    double low[SR_FEATURES], high[SR_FEATURES], wide_low[SR_FEATURES], wide_high[SR_FEATURES];
    struct sr_data data; /* (JUDGE_ROWS), without noise */
    struct sr_loss loss;
    struct sr_work work;
    double *x;
    gsl_rng *rng;
};

/* y of the law at x (features, rows). */
static inline void truth_values(const struct truth *t, size_t rows, const double *x, double *y)
{
    double point[SR_FEATURES];
    for (size_t i = 0; i < rows; i++) {
        for (int f = 0; f < t->problem->features; f++)
            point[f] = x[(size_t)f * rows + i];
        y[i] = (double)long_value(NULL, &t->expr, point);
    }
}

static inline int truth_init(struct truth *t, const struct problem *problem)
{
    const int features = problem->features;
    double point[SR_FEATURES];
    *t = (struct truth){.problem = problem};
    int rc = sr_expr_parse(NULL, problem->formula, problem->feature, features, &t->expr);
    if (rc)
        return rc;
    t->x = orr_alloc((size_t)(features + 1) * JUDGE_ROWS, sizeof *t->x);
    t->rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 2);
    if (!t->x || !t->rng)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (int f = 0; f < features; f++) {
        t->low[f] = t->wide_low[f] = problem_low(problem, f);
        t->high[f] = t->wide_high[f] = problem_high(problem, f);
        widen(10, &t->wide_low[f], &t->wide_high[f]);
    }
    for (int i = 0; i < JUDGE_ROWS; i++) {
        quasi_random(i, features, t->low, t->high, point);
        for (int f = 0; f < features; f++)
            t->x[f * JUDGE_ROWS + i] = point[f];
    }
    double *y = t->x + features * JUDGE_ROWS;
    truth_values(t, JUDGE_ROWS, t->x, y);
    t->data = (struct sr_data){.rows = JUDGE_ROWS, .features = features, .x = t->x, .y = y};
    rc = sr_loss_init(&t->loss, ORR_SR_L2, &t->data);
    return rc ? rc : sr_work_init(&t->work, JUDGE_ROWS, SR_NODES);
}

static inline void truth_free(struct truth *t)
{
    sr_loss_free(&t->loss);
    sr_work_free(&t->work);
    gsl_rng_free(t->rng);
    free(t->x);
}

/* A table of ROWS rows, x (features + 1, ROWS) with y last; the same for every tool. */
static inline int truth_table(const struct truth *t, int number, int sample, double noise,
                              double *x)
{
    const int features = t->problem->features;
    gsl_rng *rng = orr_rng_create((uint64_t)sample, ORR_STAGE_TEST_SUITE, (uint64_t)number + 100);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (int f = 0; f < features; f++)
        for (int i = 0; i < ROWS; i++)
            x[f * ROWS + i] = t->low[f] + (t->high[f] - t->low[f]) * gsl_rng_uniform(rng);
    truth_values(t, ROWS, x, x + features * ROWS);
    for (int i = 0; i < ROWS; i++)
        x[features * ROWS + i] *= 1 + noise * gsl_ran_ugaussian(rng);
    gsl_rng_free(rng);
    return 0;
}

/* Whether the formula with its constants fitted to the law is the law. */
static inline bool has_form(struct truth *t, const struct sr_expr *expr)
{
    const int features = t->problem->features;
    struct sr_expr fitted = *expr;
    sr_constants_fit(&t->loss, &fitted, false, 100, 0, t->rng, &t->work);
    return disagreement(&fitted, &t->expr, features, t->low, t->high, 0.98) <= 1e-5 &&
           disagreement(&fitted, &t->expr, features, t->wide_low, t->wide_high, 0.9) <= 1e-5;
}

static inline bool recovers(struct truth *t, const struct sr_expr *expr, double noise)
{
    const int features = t->problem->features;
    const double tolerance = 0.001 + noise;
    return disagreement(expr, &t->expr, features, t->low, t->high, 0.9) <= tolerance &&
           disagreement(expr, &t->expr, features, t->wide_low, t->wide_high, 0.5) <= tolerance &&
           has_form(t, expr);
}

#endif
