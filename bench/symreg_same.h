/* symreg_same.h - whether two formulas are the same function, for benchmarks and tests.
 *
 * Formulas are evaluated in long double by the C library, apart from the engine's own operators,
 * so that this judges the engine rather than repeats it. */
#ifndef SYMREG_SAME_H
#define SYMREG_SAME_H

#include <math.h>
#include <stdlib.h>

#include "symreg/symreg.h"

/* ---- values in long double */

static inline long double long_value_of(const struct sr_language *language,
                                        const struct sr_expr *expr, const long double *x);

static inline long double long_operator(const struct sr_language *language, enum sr_op op,
                                        long double a, long double b)
{
    if ((int)op >= SR_CUSTOM) /* a formula of its arguments, which uses earlier ones only */
        return long_value_of(language, sr_op_formula(language, (int)op),
                             (const long double[2]){a, b});
    switch (op) {
    case SR_ADD:
        return a + b;
    case SR_SUB:
        return a - b;
    case SR_MUL:
        return a * b;
    case SR_DIV:
        return a / b;
    case SR_POW:
        return powl(a, b);
    case SR_MIN:
        return a < b ? a : b;
    case SR_MAX:
        return a > b ? a : b;
    case SR_NEG:
        return -a;
    case SR_INV:
        return 1 / a;
    case SR_SQUARE:
        return a * a;
    case SR_CUBE:
        return a * a * a;
    case SR_SQRT:
        return sqrtl(a);
    case SR_ABS:
        return fabsl(a);
    case SR_EXP:
        return expl(a);
    case SR_LOG:
        return logl(a);
    case SR_SIN:
        return sinl(a);
    case SR_COS:
        return cosl(a);
    case SR_TAN:
        return tanl(a);
    case SR_ASIN:
        return asinl(a);
    case SR_ACOS:
        return acosl(a);
    case SR_ATAN:
        return atanl(a);
    case SR_SINH:
        return sinhl(a);
    case SR_COSH:
        return coshl(a);
    case SR_TANH:
        return tanhl(a);
    case SR_SIGN:
        return (long double)((a > 0) - (a < 0));
    case SR_HYPOT:
        return hypotl(a, b);
    case SR_ATAN2:
        return atan2l(a, b);
    case SR_CBRT:
        return cbrtl(a);
    case SR_LOG10:
        return log10l(a);
    default: /* its double precision has to do */
        return (long double)sr_op_table[op].value((double)a, (double)b);
    }
}

static inline long double long_value_of(const struct sr_language *language,
                                        const struct sr_expr *expr, const long double *x)
{
    long double stack[SR_NODES + 1] = {0};
    int depth = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        const int arity = sr_op(language, node->op)->arity;
        if (node->op == SR_CONSTANT) {
            stack[depth++] = (long double)node->value;
            continue;
        }
        if (node->op == SR_FEATURE) {
            stack[depth++] = x[node->feature];
            continue;
        }
        depth -= arity;
        stack[depth] = long_operator(language, (enum sr_op)node->op, stack[depth],
                                     arity == 2 ? stack[depth + 1] : stack[depth]);
        depth++;
    }
    return stack[0]; /* cppcheck-suppress uninitvar; a formula has at least one node */
}

/* Value at one point x (features) in long double; NaN or infinite outside the domain. */
static inline long double long_value(const struct sr_language *language, const struct sr_expr *expr,
                                     const double *x)
{
    long double wide[SR_FEATURES] = {0};
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == SR_FEATURE)
            wide[expr->node[i].feature] = (long double)x[expr->node[i].feature];
    return long_value_of(language, expr, wide);
}

/* ---- agreement */

/* Point number k of a quasi-random sequence (Roberts' R_d) over low .. high, in equal ratios where
 * low > 0. */
static inline void quasi_random(int k, int features, const double *low, const double *high,
                                double *x)
{
    /* R_d of Roberts: multiples of the powers of the root of g^(d+1) = g + 1 */
    double g = 2, step = 1;
    for (int i = 0; i < 60; i++)
        g = orr_pow(1 + g, 1.0 / (features + 1));
    for (int f = 0; f < features; f++) {
        step /= g;
        double u = 0.5 + step * (k + 1);
        u -= floor(u);
        x[f] = low[f] > 0 ? low[f] * orr_pow(high[f] / low[f], u) : low[f] + u * (high[f] - low[f]);
    }
}

/* A range `factor` times as wide: to low / factor .. high * factor where low > 0, else about its
 * middle. */
static inline void widen(double factor, double *low, double *high)
{
    if (*low > 0) {
        *low /= factor;
        *high *= factor;
    } else {
        const double middle = (*low + *high) / 2, half = (*high - *low) / 2 * factor;
        *low = middle - half;
        *high = middle + half;
    }
}

static inline int by_difference(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The difference |a - b| / max(|a|, |b|) that `share` of 512 quasi-random points stay below;
 * points where neither is defined do not count. Infinite when one is defined where the other is
 * not at more than 1 of 20 points, or hardly any point is left. */
static inline double disagreement(const struct sr_expr *a, const struct sr_expr *b, int features,
                                  const double *low, const double *high, double share)
{
    enum { POINTS = 512 };
    double difference[POINTS], x[SR_FEATURES];
    int compared = 0, one_sided = 0;
    for (int k = 0; k < POINTS; k++) {
        quasi_random(k, features, low, high, x);
        const long double p = long_value(NULL, a, x), q = long_value(NULL, b, x);
        const bool p_is = isfinite(p), q_is = isfinite(q);
        one_sided += p_is != q_is;
        if (!p_is || !q_is)
            continue;
        const long double size = fmaxl(fabsl(p), fabsl(q));
        difference[compared++] = size < 1e-290L ? 0 : (double)(fabsl(p - q) / size);
    }
    if (compared < POINTS / 8 || one_sided > POINTS / 20)
        return HUGE_VAL;
    qsort(difference, (size_t)compared, sizeof *difference, by_difference);
    int rank = (int)ceil(share * compared) - 1;
    rank = rank < 0 ? 0 : rank >= compared ? compared - 1 : rank;
    return difference[rank];
}

/* The same function: the same normal form, or values within `tolerance` at 98% of the points both
 * over low .. high and over 10 times wider ranges. */
static inline bool equivalent(const struct sr_expr *a, const struct sr_expr *b, int features,
                              const double *low, const double *high, double tolerance)
{
    double wide_low[SR_FEATURES], wide_high[SR_FEATURES];
    if (sr_expr_canonical_hash(NULL, a) == sr_expr_canonical_hash(NULL, b))
        return true;
    for (int f = 0; f < features; f++) {
        wide_low[f] = low[f];
        wide_high[f] = high[f];
        widen(10, &wide_low[f], &wide_high[f]);
    }
    return disagreement(a, b, features, wide_low, wide_high, 0.98) <= tolerance &&
           disagreement(a, b, features, low, high, 0.98) <= tolerance;
}

#endif
