/* rates_list.c - lists the columns g(c u) and the factors h of a table (rates.h). */
#include "rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/elementary.h"
#include "shared.h"

enum {
    MANY = 8,          /* more columns than this make no products and quotients */
    FEW = 2,           /* more make no factors that are exponentials */
    EXPONENTS = 17,    /* c of an exponential, a factor sqrt(2) apart */
    WIDTHS = 6,        /* c of exp(c (x - b)^2), a factor 2 apart */
    CENTRES = 7,       /* b */
    SINES = 64,        /* frequencies of a sine */
    MANY_SINES = 1024, /* of all columns, where these are few */
    FALLS = 5,         /* c of an exponential that is a factor, a factor 2 apart */
};
/* c times the range of u: the smallest of an exponential; the step between frequencies, whose phase
 * errs at the ends of the range by at most 3/8. */
static const double least_exponent = 0.15, step_of_sines = 1.5;

/* ---- factors and variables */

/* Appends a formula whose values are finite to a list that is not full. */
static void append(const struct sr_rates *r, const struct sr_expr *expr, struct sr_rates_forms *to)
{
    const int n = to->count;
    if (n == to->most)
        return;
    double *const value = to->value[n];
    to->expr[n] = *expr;
    if (!expr->count)
        sr_fill(value, (size_t)r->rows, 1);
    else if (!sr_put_end(r->data.language, &to->expr[n], SR_NODES) ||
             !sr_eval(&to->expr[n], &r->data, value))
        return;
    gsl_stats_minmax(&to->low[n], &to->high[n], value, 1, (size_t)r->rows);
    to->range[n] = to->high[n] - to->low[n];
    to->count++;
}

/* Appends a text of a column u, another one v and a number b. */
static void append_text(const struct sr_rates *r, const char *text, int u, int v, double b,
                        struct sr_rates_forms *to)
{
    const struct sr_expr of[2] = {{.count = 1, .node = {sr_feature_node(u)}},
                                  {.count = 1, .node = {sr_feature_node(v)}}};
    struct sr_expr expr = {.count = 0};
    sr_put_text(text, of, "b", &b, &expr);
    append(r, &expr, to);
}

static bool has_quotients(uint64_t operators)
{
    return sr_has(operators, SR_DIV) || sr_has(operators, SR_INV);
}

/* The columns, their reciprocals and squares, products and quotients of two. A reciprocal is
 * written as such, as sr_proposal_shorten() makes quotients of it. */
static void list_products(const struct sr_rates *r, uint64_t operators, struct sr_rates_forms *to)
{
    const int n = r->data.features, few = n <= MANY ? n : 0;
    const bool divides = has_quotients(operators);
    for (int a = 0; a < n; a++)
        append_text(r, "u", a, a, 0, to);
    for (int a = 0; a < few && divides; a++)
        append_text(r, "inv(u)", a, a, 0, to);
    for (int a = 0; a < few; a++)
        for (int b = 0; b < few; b++) {
            if (b >= a)
                append_text(r, a == b && sr_has(operators, SR_SQUARE) ? "square(u)" : "u * v", a, b,
                            0, to);
            if (b != a && divides)
                append_text(r, "u / v", a, b, 0, to);
        }
}

/* ---- columns */

static double value_of(const struct sr_rate *rate, double u)
{
    if (rate->g == SR_INV)
        return rate->d / (orr_exp(rate->c * u) + rate->d);
    return sr_op_table[rate->g].value(rate->c * u - (rate->g == SR_EXP ? rate->d : 0), 0);
}

/* d: of a step; of an exponential it is what makes its maximum 1. variable -1: the column 1. */
static void put_column(struct sr_rates *r, int variable, enum sr_op g, double c, double d)
{
    const int n = r->count, block = n / SR_RATES_BLOCK, f = n % SR_RATES_BLOCK;
    const double *u = variable < 0 ? NULL : r->u.value[variable];
    struct sr_rate rate = {variable, g, c, d};
    if (n == SR_RATES)
        return;
    if (g == SR_EXP)
        rate.d = fmax(c * r->u.low[variable], c * r->u.high[variable]);
    for (int i = 0; i < r->rows; i++) {
        const double v = u ? value_of(&rate, u[i]) : 1;
        r->value[block][i][f] = (float)v;
        r->square[block][i][f] =
            (float)(g == SR_COS ? v * sr_op_table[SR_SIN].value(c * u[i], 0) : v * v);
    }
    r->rate[r->count++] = rate;
}

/* Exponentials of the variables from `first` on, falling ones only with `falls`. */
static void put_exponentials(struct sr_rates *r, int first, int count, double step, bool falls)
{
    for (int v = first; v < r->u.count; v++)
        for (int k = 0; k < count && r->u.range[v] > 0; k++) {
            const double c = least_exponent * orr_pow(step, k) / r->u.range[v];
            put_column(r, v, SR_EXP, -c, 0);
            if (!falls)
                put_column(r, v, SR_EXP, c, 0);
        }
}

/* Reciprocal squares and, for waves that fall or grow, exponentials of few columns as factors. */
static void list_more_factors(struct sr_rates *r, uint64_t operators)
{
    const int n = r->data.features;
    const bool waves = sr_has(operators, SR_SIN) || sr_has(operators, SR_COS);
    for (int f = 0; f < n && n <= MANY && sr_has(operators, SR_INV); f++)
        append_text(r, sr_has(operators, SR_SQUARE) ? "inv(square(u))" : "inv(u * u)", f, f, 0,
                    &r->h);
    r->falls = r->h.count;
    for (int f = 0; f < n && n <= FEW && waves && sr_has(operators, SR_EXP); f++)
        for (int k = 0; k < FALLS && r->u.range[f] > 0; k++)
            append_text(r, "exp(b * u)", f, f, -ldexp(1, k) / r->u.range[f], &r->h);
}

/* The smallest difference of two values; 0: all are equal. */
static double smallest_gap(const struct sr_rates *r, const double *value)
{
    double sorted[SR_RATES_ROWS], gap = 0;
    memcpy(sorted, value, (size_t)r->rows * sizeof *sorted);
    gsl_sort(sorted, 1, (size_t)r->rows);
    for (int i = 1; i < r->rows; i++) {
        const double own = sorted[i] - sorted[i - 1];
        gap = own > 0 && (own < gap || !(gap > 0)) ? own : gap;
    }
    return gap;
}

/* Pairs of sine and cosine of the columns; of few columns up to half a turn in the smallest gap, as
 * faster ones of a regular column are aliases. */
static void put_sines(struct sr_rates *r, uint64_t operators)
{
    static const double half_turn = 3.141592653589793;
    const bool wanted = sr_has(operators, SR_SIN) || sr_has(operators, SR_COS);
    const int n = r->data.features, most = n <= FEW ? MANY_SINES / n : SINES;
    for (int v = 0; v < n && wanted; v++) {
        const double fastest = half_turn / smallest_gap(r, r->u.value[v]), range = r->u.range[v];
        for (int k = 1; k <= most && range > 0 && r->count + 2 <= SR_RATES; k++) {
            const double c = step_of_sines * (k - 0.5) / range;
            if (k > SINES && !(c < fastest))
                break;
            put_column(r, v, SR_SIN, c, 0);
            put_column(r, v, SR_COS, c, 0);
        }
    }
}

/* tanh(c u), and steps from 0 to 1 at some places. */
static void put_steps(struct sr_rates *r, uint64_t operators)
{
    for (int v = 0; v < r->data.features && sr_has(operators, SR_TANH); v++)
        for (int k = 0; k < EXPONENTS / 2 && r->u.range[v] > 0; k++)
            put_column(r, v, SR_TANH, least_exponent * orr_pow(2, k) / r->u.range[v], 0);
    const bool steps = sr_has(operators, SR_EXP) && sr_has(operators, SR_ADD) &&
                       (sr_has(operators, SR_INV) || sr_has(operators, SR_DIV));
    for (int v = 0; v < r->data.features && steps && r->data.features <= MANY; v++) {
        const double low = r->u.low[v], range = r->u.range[v];
        for (int k = 0; k < 2 * WIDTHS * CENTRES && range > 0; k++) {
            const double b = low + range * (k % CENTRES + 1) / (CENTRES + 1);
            const int doubled = k / 2 / CENTRES;
            const double width = 3 * orr_pow(2, doubled) / range;
            const double c = k / CENTRES % 2 ? -width : width, d = orr_exp(c * b);
            if (isnormal(d))
                put_column(r, v, SR_INV, c, d);
        }
        for (int k = 0; k < 2 * EXPONENTS && low > 0; k++) { /* as in Planck's law and in tanh */
            const int pair = k / 2;
            put_column(r, v, SR_INV, least_exponent * orr_pow(2, pair / 2.0) / range,
                       k % 2 ? 1 : -1);
        }
    }
}

/* (x - b)^2 for some b; x (x - 2 b), which is as good, where there is no square. */
static void list_centred(struct sr_rates *r, uint64_t operators)
{
    const bool squares = sr_has(operators, SR_SQUARE);
    for (int f = 0; f < r->data.features && (squares || sr_has(operators, SR_MUL)); f++)
        for (int k = 1; k <= CENTRES && r->u.range[f] > 0; k++) {
            const double centre = r->u.low[f] + r->u.range[f] * k / (CENTRES + 1);
            append_text(r, squares ? "square(u + b)" : "u * (u + b)", f, f,
                        squares ? -centre : -2 * centre, &r->u);
        }
}

void sr_rates_list(struct sr_rates *r, uint64_t operators)
{
    r->h.most = SR_RATES_FACTORS;
    r->u.most = SR_RATES_VARIABLES;
    list_products(r, operators, &r->u);
    append(r, &(struct sr_expr){.count = 0}, &r->h);
    list_products(r, operators, &r->h);
    list_more_factors(r, operators);
    put_sines(r, operators); /* first, so that no block of columns parts a pair */
    put_steps(r, operators);
    put_column(r, -1, SR_CONSTANT, 0, 0); /* so that a factor alone is a term */
    if (sr_has(operators, SR_EXP)) {
        put_exponentials(r, 0, EXPONENTS, 1.4142135623730951, false);
        const int first = r->u.count;
        list_centred(r, operators);
        put_exponentials(r, first, WIDTHS, 4, true);
    }
}
