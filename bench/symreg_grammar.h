/* symreg_grammar.h - random laws in the manner of physics, with ranges and units.
 *
 * law_make(set, number, &law) draws one law from the random stream of (set, number): products of
 * powers, a function of a dimensionless group, sums of products, distances, laws of cosines, means,
 * differences of inverses. Every column is used in one place, or in few. A law is drawn again until
 * it is finite over its ranges, spans less than 10^4 and depends on each column.
 * Set HELD_OUT_SET measures whole versions of the engine, and the ablation of their stages; set
 * DEVELOPMENT_SET is for work on the engine. Set CHOICE_SET measures rules of choice, once
 * (bench_symreg_rules.c); nobody looks at its laws before.
 * Of the 60 laws of a set, number i has 2 + i mod 8 columns. */
#ifndef SYMREG_GRAMMAR_H
#define SYMREG_GRAMMAR_H

#include <gsl/gsl_rng.h>
#include <stdarg.h>

#include "symreg_judge.h"

enum { HELD_OUT_SET = 71403, DEVELOPMENT_SET = 9001, CHOICE_SET = 52817 };
enum { LAWS = 60, LAW_BASES = 3, LAW_TEXT = 2048 };

struct law {
    struct problem problem;
    char text[LAW_TEXT], units[512]; /* "a=kg*m^2, ..., y=..."; empty: all are numbers */
    char name[PROBLEM_FEATURES][16];
    int columns, angle[PROBLEM_FEATURES]; /* 1: an angle, 2: below 0.9 by ten */
};

/* ---- text */

static inline void law_add(char *text, const char *format, ...)
{
    va_list list;
    const size_t length = strlen(text);
    va_start(list, format);
    vsnprintf(text + length, LAW_TEXT - length, format, list);
    va_end(list);
}

static inline int law_below(gsl_rng *rng, int n)
{
    return (int)(gsl_rng_uniform(rng) * n);
}

/* The next unused column. */
static inline const char *law_column(struct law *law)
{
    snprintf(law->name[law->columns], sizeof law->name[0], "v%d", law->columns + 1);
    return law->name[law->columns++];
}

/* ---- parts: each uses exactly n new columns */

/* A product of powers; `plain`: of powers 1 and -1, the first 1. */
static inline void law_product(struct law *law, gsl_rng *rng, int n, bool plain, char *out)
{
    static const char *const power[] = {"",      "",       "",        "",      "",
                                        " ^ 2",  " ^ 2",   " ^ -1",   " ^ -1", " ^ -1",
                                        " ^ -2", " ^ 0.5", " ^ -0.5", " ^ 3"};
    static const char *const sign[] = {"", " ^ -1"};
    if (n == 0)
        law_add(out, "1");
    for (int i = 0; i < n; i++) {
        const char *p = plain ? sign[i ? law_below(rng, 2) : 0] : power[law_below(rng, 14)];
        law_add(out, "%s%s%s", i ? " * " : "", law_column(law), p);
    }
}

static inline void law_factor(gsl_rng *rng, char *out)
{
    static const char *const factor[] = {"1",
                                         "1",
                                         "1",
                                         "1",
                                         "1",
                                         "0.5",
                                         "2",
                                         "3",
                                         "1.5",
                                         "0.25",
                                         "0.3333333333333333",
                                         "6.283185307179586",
                                         "12.566370614359172",
                                         "0.07957747154594767"};
    law_add(out, "%s", factor[law_below(rng, 14)]);
}

/* f of a group of n columns. */
static inline void law_function(struct law *law, gsl_rng *rng, int n, char *out)
{
    char group[LAW_TEXT] = "", angle[LAW_TEXT] = "";
    const int kind = law_below(rng, 12);
    const int first = law->columns;
    if (kind < 2 && n > 1) { /* angles: one column, or a product of frequency and time */
        law_product(law, rng, n, true, angle);
        law_add(out, "%s(%s)", kind ? "cos" : "sin", angle);
        return;
    }
    law_product(law, rng, n, true, group);
    switch (kind) {
    case 0:
    case 1:
        law->angle[first] = 1;
        law_add(out, "%s(%s)", kind ? "cos" : "sin", group);
        break;
    case 2:
        law_add(out, "exp(-1 * %s)", group);
        break;
    case 3:
        law_add(out, "1 / (exp(%s) - 1)", group);
        break;
    case 4:
        law_add(out, "(1 - exp(-1 * %s))", group);
        break;
    case 5:
        law_add(out, "(1 - 2 / (exp(2 * %s) + 1))", group);
        break;
    case 6:
        law->angle[first] = 2;
        law_add(out, "sqrt(1 - (%s) ^ 2)", group);
        break;
    case 7:
        law->angle[first] = 2;
        law_add(out, "1 / sqrt(1 - (%s) ^ 2)", group);
        break;
    case 8:
        law_add(out, "1 / (1 + %s)", group);
        break;
    case 9:
        law_add(out, "sqrt(1 + (%s) ^ 2)", group);
        break;
    case 10:
        law_add(out, "exp(-0.5 * (%s) ^ 2)", group);
        break;
    default:
        law_add(out, "log(1 + %s)", group);
    }
}

/* Sums of two or three products. */
static inline void law_sum(struct law *law, gsl_rng *rng, int n, char *out)
{
    const int terms = n >= 5 && law_below(rng, 3) == 0 ? 3 : 2;
    law_add(out, "(");
    for (int k = 0; k < terms; k++) {
        const int left = terms - k - 1;
        int most = left ? 1 + law_below(rng, n - left) : n;
        most = most > 3 ? 3 : most; /* where columns are left over the law is drawn again */
        law_add(out, "%s", k == 0 ? "" : law_below(rng, 2) ? " + " : " - ");
        law_factor(rng, out);
        law_add(out, " * ");
        law_product(law, rng, most, false, out);
        n -= most;
    }
    law_add(out, ")");
}

/* Squares, or squared differences of pairs, under a root. */
static inline void law_distance(struct law *law, gsl_rng *rng, int n, char *out)
{
    static const char *const power[] = {"0.5", "-0.5", "-1", "1", "-1.5"};
    const bool pairs = n % 2 == 0 && law_below(rng, 2);
    law_add(out, "(");
    for (int k = 0; k < n; k += pairs ? 2 : 1) {
        const char *a = law_column(law), *b = pairs ? law_column(law) : NULL;
        if (b)
            law_add(out, "%s(%s - %s) ^ 2", k ? " + " : "", a, b);
        else
            law_add(out, "%s%s ^ 2", k ? " + " : "", a);
    }
    law_add(out, ") ^ %s", power[law_below(rng, 5)]);
}

static inline void law_cosines(struct law *law, gsl_rng *rng, char *out)
{
    const char *a = law_column(law), *b = law_column(law);
    law->angle[law->columns] = 1;
    const char *t = law_column(law);
    law_add(out, "%s(%s ^ 2 + %s ^ 2 %c 2 * %s * %s * cos(%s))", law_below(rng, 3) ? "sqrt" : "", a,
            b, law_below(rng, 2) ? '+' : '-', a, b, t);
}

/* 1/a - 1/b, a^2 - b^2, a - b, a + b, a b / (a + b) */
static inline void law_pair(struct law *law, gsl_rng *rng, char *out)
{
    static const char *const form[] = {
        "(1 / %s - 1 / %s)", "(%s ^ 2 - %s ^ 2)",      "(%s - %s)",
        "(%s + %s)",         "(1 / %s + 1 / %s) ^ -1", "(1 + %s / %s)"};
    const char *a = law_column(law), *b = law_column(law);
    const char *chosen = form[law_below(rng, 6)];
    const char *at = strstr(chosen, "%s"), *second = strstr(at + 2, "%s");
    law_add(out, "%.*s%s%.*s%s%s", (int)(at - chosen), chosen, a, (int)(second - at - 2), at + 2, b,
            second + 2);
}

static inline void law_mean(struct law *law, char *out)
{
    const char *m = law_column(law), *a = law_column(law);
    const char *n = law_column(law), *b = law_column(law);
    law_add(out, "(%s * %s + %s * %s) / (%s + %s)", m, a, n, b, m, n);
}

static inline void law_orbit(struct law *law, gsl_rng *rng, char *out)
{
    law->angle[law->columns] = 2;
    const char *e = law_column(law);
    law->angle[law->columns] = 1;
    const char *t = law_column(law);
    law_add(out, "(1 + %s * cos(%s))%s", e, t, law_below(rng, 2) ? "" : " ^ -1");
}

/* The law's text over exactly n columns. */
static inline void law_write(struct law *law, gsl_rng *rng, int n)
{
    char *out = law->text;
    const int kind = law_below(rng, 16);
    int inner = n - law_below(rng, n < 5 ? n : 5); /* columns that are not in the factor */
    inner = inner > 5 ? 5 : inner;
    law_factor(rng, out);
    if (kind == 0) {
        law_add(out, " * ");
        law_product(law, rng, n, false, out);
    } else if (kind < 6) {
        law_add(out, " * ");
        law_product(law, rng, n - inner, false, out);
        law_add(out, " * ");
        law_function(law, rng, inner, out);
    } else if (kind < 9) {
        inner = n - law_below(rng, n < 5 ? n - 1 : 5);
        law_add(out, " * ");
        law_product(law, rng, n - inner, false, out);
        law_add(out, " * ");
        law_sum(law, rng, inner, out);
    } else if (kind < 11) {
        inner = n - law_below(rng, n < 6 ? n - 1 : 5);
        law_add(out, " * ");
        law_product(law, rng, n - inner, false, out);
        law_add(out, " * ");
        law_distance(law, rng, inner, out);
    } else if (kind == 11 && n >= 3) {
        law_add(out, " * ");
        law_product(law, rng, n - 3, false, out);
        law_add(out, " * ");
        law_cosines(law, rng, out);
    } else if (kind == 12 && n >= 4) {
        law_add(out, " * ");
        law_product(law, rng, n - 4, false, out);
        law_add(out, " * ");
        law_mean(law, out);
    } else if (kind == 13) {
        law_add(out, " * ");
        law_product(law, rng, n - 2, false, out);
        law_add(out, " * ");
        law_orbit(law, rng, out);
    } else if (kind == 14 && n >= 4) { /* a product and a product with a function */
        const int used = 1 + law_below(rng, 2);
        inner = n - used > 3 ? 1 + law_below(rng, 2) : 1;
        law_add(out, " * ");
        law_product(law, rng, used, false, out);
        law_add(out, " + ");
        law_product(law, rng, n - used - inner, false, out);
        law_add(out, " * ");
        law_function(law, rng, inner, out);
    } else {
        law_add(out, " * ");
        law_product(law, rng, n - 2, false, out);
        law_add(out, " * ");
        law_pair(law, rng, out);
    }
}

/* ---- units: dimensions that make the law consistent */

/* Equations over the columns' exponents; each row is a sum of exponents that is 0. */
struct law_equations {
    int count;
    double row[SR_NODES * 2][PROBLEM_FEATURES];
};

static inline void law_equal(struct law_equations *e, const double *a, const double *b)
{
    for (int f = 0; f < PROBLEM_FEATURES; f++)
        e->row[e->count][f] = a[f] - (b ? b[f] : 0);
    e->count++;
}

/* Dimensions of the whole as a sum of the columns' exponents; pure numbers are known to be. */
static inline void law_dimension(const struct sr_expr *expr, struct law_equations *e, double *whole)
{
    struct form {
        double sum[PROBLEM_FEATURES];
        bool constant;
        double value;
    } stack[SR_NODES + 1];
    int depth = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        const int arity = sr_op(NULL, node->op)->arity;
        struct form *a = &stack[depth - arity], *b = a + 1;
        if (arity == 0) {
            a = &stack[depth++];
            *a = (struct form){.constant = node->op == SR_CONSTANT, .value = node->value};
            if (!a->constant)
                a->sum[node->feature] = 1;
            continue;
        }
        depth -= arity - 1;
        double times = node->op == SR_SQUARE ? 2 : node->op == SR_CUBE ? 3 : 1;
        times = node->op == SR_SQRT ? 0.5 : node->op == SR_INV ? -1 : times;
        if (node->op == SR_ADD || node->op == SR_SUB)
            law_equal(e, a->sum, b->sum);
        else if (node->op == SR_POW)
            times = b->value;
        else if (arity == 1 && node->op >= SR_EXP)
            law_equal(e, a->sum, NULL);
        for (int f = 0; f < PROBLEM_FEATURES; f++) {
            if (node->op == SR_MUL || node->op == SR_DIV)
                a->sum[f] += node->op == SR_MUL ? b->sum[f] : -b->sum[f];
            a->sum[f] *= times;
        }
        a->constant = a->constant && (arity == 1 || b->constant);
    }
    memcpy(whole, stack[0].sum, sizeof stack[0].sum);
}

/* Gauss-Jordan; pivot[f] is the row of column f, -1: its exponent is free. */
static inline void law_reduce(struct law_equations *e, int n, int pivot[PROBLEM_FEATURES])
{
    int rank = 0;
    for (int f = 0; f < n; f++) {
        int best = rank;
        pivot[f] = -1;
        for (int k = rank; k < e->count; k++)
            if (fabs(e->row[k][f]) > fabs(e->row[best][f]))
                best = k;
        if (rank >= e->count || fabs(e->row[best][f]) < 1e-9)
            continue;
        for (int c = 0; c < n; c++) {
            const double swap = e->row[best][c];
            e->row[best][c] = e->row[rank][c];
            e->row[rank][c] = swap;
        }
        const double first = e->row[rank][f];
        for (int c = 0; c < n; c++)
            e->row[rank][c] /= first;
        for (int k = 0; k < e->count; k++) {
            const double share = e->row[k][f];
            for (int c = 0; c < n && k != rank; c++)
                e->row[k][c] -= share * e->row[rank][c];
        }
        pivot[f] = rank++;
    }
}

static inline void law_print_unit(char *out, const char *name, double power[LAW_BASES])
{
    static const char *const base[LAW_BASES] = {"m", "kg", "s"};
    bool any = false;
    law_add(out, "%s%s=", *out ? ", " : "", name);
    for (int b = 0; b < LAW_BASES; b++) {
        if (fabs(power[b]) < 1e-9)
            continue;
        law_add(out, "%s%s^(%d/4)", any ? "*" : "", base[b], (int)lround(4 * power[b]));
        any = true;
    }
    law_add(out, "%s", any ? "" : "1");
}

static inline void law_units(struct law *law, const struct sr_expr *expr, gsl_rng *rng)
{
    struct law_equations e = {0};
    const int n = law->problem.features;
    double whole[PROBLEM_FEATURES], power[PROBLEM_FEATURES][LAW_BASES] = {{0}};
    double target[LAW_BASES] = {0};
    int pivot[PROBLEM_FEATURES];
    char text[LAW_TEXT] = "";
    law_dimension(expr, &e, whole);
    law_reduce(&e, n, pivot);
    for (int b = 0; b < LAW_BASES; b++) {
        for (int f = 0; f < n; f++)
            power[f][b] = pivot[f] < 0 ? law_below(rng, 5) - 2 : 0;
        for (int f = 0; f < n; f++)
            for (int c = 0; c < n && pivot[f] >= 0; c++)
                if (c != f && pivot[c] < 0)
                    power[f][b] -= e.row[pivot[f]][c] * power[c][b];
        for (int f = 0; f < n; f++)
            target[b] += whole[f] * power[f][b];
    }
    for (int f = 0; f < n; f++)
        law_print_unit(text, law->name[f], power[f]);
    law_print_unit(text, "y", target);
    snprintf(law->units, sizeof law->units, "%s", text);
}

/* ---- ranges, and whether a law is fit for the purpose */

static inline void law_ranges(struct law *law, gsl_rng *rng)
{
    static const double range[][2] = {{1, 5}, {1, 5}, {1, 3}, {1, 10}, {0.5, 2}, {2, 6}, {0.1, 1}};
    static const double angles[][2] = {{0.1, 3}, {0, 6.283185307179586}, {0.2, 1.5}};
    static const double small[][2] = {{0.05, 0.9}, {0.1, 0.8}, {0.2, 0.95}};
    for (int f = 0; f < law->problem.features; f++) {
        const double *pick = law->angle[f] == 1   ? angles[law_below(rng, 3)]
                             : law->angle[f] == 2 ? small[law_below(rng, 3)]
                                                  : range[law_below(rng, 7)];
        law->problem.low[f] = pick[0];
        law->problem.high[f] = pick[1];
    }
}

/* Finite, of no more than 10^4 times its median, and moved by every column. */
static inline bool law_is_fit(const struct law *law, const struct sr_expr *expr, gsl_rng *rng)
{
    enum { POINTS = 1000 };
    static double x[POINTS][PROBLEM_FEATURES], y[POINTS], size[POINTS];
    const int n = law->problem.features;
    double mean = 0, spread = 0;
    for (int i = 0; i < POINTS; i++) {
        for (int f = 0; f < n; f++)
            x[i][f] = law->problem.low[f] +
                      (law->problem.high[f] - law->problem.low[f]) * gsl_rng_uniform(rng);
        y[i] = (double)long_value(NULL, expr, x[i]);
        size[i] = fabs(y[i]);
        mean += y[i] / POINTS;
        if (!isfinite(y[i]))
            return false;
    }
    for (int i = 0; i < POINTS; i++)
        spread += (y[i] - mean) * (y[i] - mean) / POINTS;
    qsort(size, POINTS, sizeof *size, by_difference);
    if (!(size[POINTS - 1] < 1e4 * size[POINTS / 2]) || !(spread > 1e-4 * mean * mean))
        return false;
    for (int f = 0; f < n; f++) {
        double moved = 0;
        for (int i = 0; i < POINTS; i++) {
            double at[PROBLEM_FEATURES];
            memcpy(at, x[i], sizeof at);
            at[f] = 0.5 * (law->problem.low[f] + law->problem.high[f]);
            const double d = (double)long_value(NULL, expr, at) - y[i];
            moved += d * d / POINTS;
        }
        if (!(moved > 0.0025 * spread))
            return false;
    }
    return true;
}

/* Law number 0 .. LAWS - 1 of a set. It must not move. */
static inline int law_make(int set, int number, struct law *law)
{
    gsl_rng *rng = orr_rng_create((uint64_t)set, ORR_STAGE_TEST_SUITE, (uint64_t)number + 5000);
    const int n = 2 + number % 8;
    struct sr_expr expr;
    int rc = rng ? 0 : ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (bool fit = false; !rc && !fit;) {
        *law = (struct law){.problem.features = n};
        law_write(law, rng, n);
        if (law->columns != n)
            continue; /* the drawn form has no room for so many */
        law->problem.name = law->problem.formula = law->text;
        for (int f = 0; f < n; f++)
            law->problem.feature[f] = law->name[f];
        if (sr_expr_parse(NULL, law->text, law->problem.feature, n, &expr)) {
            orr_error_clear();
            continue;
        }
        law_ranges(law, rng);
        fit = law_is_fit(law, &expr, rng);
    }
    if (!rc)
        law_units(law, &expr, rng);
    gsl_rng_free(rng);
    return rc;
}

#endif
