/* powers_fit.c - fits the exponents of a sum of products of powers by variable projection. */
#include "powers.h"

#include <math.h>
#include <string.h>

#include "shared.h"
#include "symreg/value/cholesky.h"

/* Rests below this share are rounding errors. */
static const double exact = 1e-26, largest_step = 1, largest_exponent = 9;
/* Squared share of a direction that is left of it where it depends on the others. */
static const double dependent = 1e-18;

/* ---- the linear part */

/* Weighted values of a product of powers. */
static bool eval_term(const struct sr_power_table *t, const double *exponent, double *value)
{
    const int n = t->rows;
    memset(value, 0, (size_t)n * sizeof *value);
    for (int j = 0; j < t->columns; j++)
        for (int i = 0; i < n && exponent[j] != 0; i++)
            value[i] += exponent[j] * t->log[j * SR_POWER_ROWS + i];
    if (!sr_op_apply(NULL, SR_EXP, n, value, value, value))
        return false;
    for (int j = 0; j < t->columns; j++)
        for (int i = 0; i < n && (t->negative >> j & 1) && fmod(exponent[j], 2) != 0; i++)
            value[i] *= t->sign[j * SR_POWER_ROWS + i];
    for (int i = 0; i < n; i++)
        value[i] *= t->weight[i];
    return true;
}

bool sr_power_weigh(const struct sr_power_table *t, struct sr_power_sum *sum,
                    struct sr_power_work *w)
{
    const int n = t->rows, basis = t->extras + sum->terms;
    double *r = w->residual, share[SR_POWER_BASIS];
    sum->rest = HUGE_VAL;
    w->basis = basis;
    for (int k = 0; k < basis; k++) {
        const bool extra = k < t->extras;
        for (int i = 0; i < n && extra; i++)
            w->q[k][i] = t->weight[i] * (k ? t->log[(k - 1) * SR_POWER_ROWS + i] : 1);
        if (!extra && !eval_term(t, sum->exponent[k - t->extras], w->term[k - t->extras]))
            return false;
        if (!extra)
            memcpy(w->q[k], w->term[k - t->extras], (size_t)n * sizeof *r);
        if (!sr_orthogonalise(w->q[k], w->q[0], k, SR_POWER_ROWS, n, dependent, w->upper[k]))
            return false;
    }
    for (int i = 0; i < n; i++)
        r[i] = t->weight[i] * t->z[i];
    const double all = sr_dot(r, r, n);
    for (int k = 0; k < basis; k++)
        share[k] = sr_remove(r, w->q[k], n);
    for (int k = basis - 1; k >= 0; k--) {
        for (int j = k + 1; j < basis; j++)
            share[k] -= w->upper[j][k] * sum->weight[j];
        sum->weight[k] = share[k] / w->upper[k][k];
    }
    const double rest = sr_dot(r, r, n) / all;
    sum->rest = isfinite(rest) ? rest : HUGE_VAL;
    return isfinite(rest);
}

/* ---- the exponents */

void sr_power_slopes(const struct sr_power_table *t, const struct sr_power_sum *sum,
                     struct sr_power_work *w)
{
    const int n = t->rows;
    w->free = 0;
    for (int i = 0; i < sum->terms; i++)
        for (int j = 0; j < t->columns; j++) {
            const int place = i * SR_POWER_COLUMNS + j;
            if ((t->negative >> j & 1) || (sum->held >> place & 1))
                continue;
            double *slope = w->slope[w->free];
            const double c = sum->weight[t->extras + i];
            for (int row = 0; row < n; row++)
                slope[row] = c * w->term[i][row] * t->log[j * SR_POWER_ROWS + row];
            const double before = sr_dot(slope, slope, n);
            for (int k = 0; k < w->basis; k++)
                sr_remove(slope, w->q[k], n);
            if (!(sr_dot(slope, slope, n) > dependent * before)) /* a constant column */
                continue;
            w->gradient[w->free] = sr_dot(slope, w->residual, n);
            w->place[w->free++] = place;
        }
}

/* Solves (J^T J + lambda diag) step = gradient and moves the exponents; false where it cannot. */
static bool move_exponents(const struct sr_power_table *t, const struct sr_power_sum *from,
                           double lambda, struct sr_power_work *w, struct sr_power_sum *to)
{
    const int n = w->free;
    double a[SR_POWER_FREE * SR_POWER_FREE], step[SR_POWER_FREE];
    memcpy(a, w->normal, (size_t)(n * n) * sizeof *a);
    memcpy(step, w->gradient, (size_t)n * sizeof *step);
    for (int k = 0; k < n; k++)
        a[k * n + k] += lambda * a[k * n + k] + 1e-300;
    if (!sr_cholesky(a, (size_t)n, (size_t)n, 0))
        return false;
    sr_cholesky_solve(a, (size_t)n, (size_t)n, step);
    *to = *from;
    for (int k = 0; k < n; k++) {
        double *e = &to->exponent[w->place[k] / SR_POWER_COLUMNS][w->place[k] % SR_POWER_COLUMNS];
        *e += fmax(-largest_step, fmin(largest_step, step[k]));
        if (!(fabs(*e) <= largest_exponent))
            return false;
    }
    return sr_power_weigh(t, to, w);
}

void sr_power_fit(const struct sr_power_table *t, int steps, struct sr_power_sum *sum,
                  struct sr_power_work *w)
{
    enum { TRIES = 6 };
    double lambda = 1e-3;
    if (!sr_power_weigh(t, sum, w))
        return;
    for (int step = 0; step < steps && sum->rest > exact; step++) {
        struct sr_power_sum trial = *sum;
        sr_power_slopes(t, sum, w);
        for (int a = 0; a < w->free; a++)
            for (int b = 0; b <= a; b++)
                w->normal[a * w->free + b] = w->normal[b * w->free + a] =
                    sr_dot(w->slope[a], w->slope[b], t->rows);
        trial.rest = HUGE_VAL;
        for (int k = 0; k < TRIES && !(trial.rest < sum->rest) && w->free; k++) {
            if (!move_exponents(t, sum, lambda, w, &trial))
                trial.rest = HUGE_VAL;
            lambda = trial.rest < sum->rest ? fmax(lambda / 8, 1e-12) : lambda * 8;
        }
        if (!(trial.rest < sum->rest))
            break;
        const double gain = 1 - trial.rest / sum->rest;
        *sum = trial;
        if (gain < 1e-5)
            break;
    }
    sr_power_weigh(t, sum, w);
}

/* ---- simple exponents */

/* Holds every free exponent of `places` that is within `most` of a fraction p / below, refits the
 * others, and keeps that where the rest stays within the limit. */
static bool hold_near(const struct sr_power_table *t, uint64_t places, int below, double most,
                      double first, struct sr_power_sum *sum, struct sr_power_work *w)
{
    enum { STEPS = 12 };
    /* nats that an exponent costs in a description of the formula */
    static const double nats = 4;
    struct sr_power_sum trial = *sum;
    int held = 0;
    for (int i = 0; i < sum->terms; i++)
        for (int j = 0; j < t->columns; j++) {
            const uint64_t bit = (uint64_t)1 << (i * SR_POWER_COLUMNS + j);
            double *e = &trial.exponent[i][j];
            const double simple = nearbyint(*e * below) / below;
            if ((places & bit) && !(trial.held & bit) && fabs(*e - simple) <= most) {
                *e = simple;
                trial.held |= bit;
            }
            held += (trial.held & bit) != 0;
        }
    if (trial.held == sum->held)
        return false;
    sr_power_fit(t, STEPS, &trial, w);
    if (!(trial.rest <= fmax(first * (1 + 2 * nats * held / t->rows), 100 * exact)))
        return false;
    *sum = trial;
    return true;
}

void sr_power_round(const struct sr_power_table *t, struct sr_power_sum *sum,
                    struct sr_power_work *w)
{
    enum { MOST_BELOW = 4 };
    static const double near[] = {0.2, 0.05, 0.01};
    const double first = sum->rest;
    for (int below = 1; below <= MOST_BELOW; below++) {
        bool done = false;
        for (size_t k = 0; k < sizeof near / sizeof *near && !done; k++)
            done = hold_near(t, ~(uint64_t)0, below, near[k] / below, first, sum, w);
        for (int place = 0; place < SR_POWER_FREE && below == 1; place++)
            hold_near(t, (uint64_t)1 << place, below, near[0], first, sum, w);
    }
}
