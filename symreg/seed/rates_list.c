/* rates_list.c - lists the columns g(c u) and the factors h of a table (rates.h). */
#include "rates.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

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

void sr_rates_scale(struct sr_expr *expr, int from, double factor)
{
    assert(expr->count + 2 <= SR_NODES);
    memmove(expr->node + from + 1, expr->node + from,
            (size_t)(expr->count - from) * sizeof *expr->node);
    expr->node[from] = sr_constant_node(factor);
    expr->count++;
    sr_put_op(expr, SR_MUL);
}

void sr_rates_shift(struct sr_expr *expr, double summand)
{
    sr_put_constant(expr, summand);
    sr_put_op(expr, SR_ADD);
}

/* ---- factors and variables */

/* Appends a formula whose values are finite to a list, which holds `most`. */
static bool append(const struct sr_rates *r, const struct sr_expr *expr, int most,
                   struct sr_expr *list, double (*value)[SR_RATES_ROWS], int *count)
{
    struct sr_expr own = *expr;
    if (*count == most)
        return false;
    if (!own.count)
        sr_fill(value[*count], (size_t)r->rows, 1);
    else if (!sr_put_end(r->data.language, &own, SR_NODES) ||
             !sr_eval(&own, &r->data, value[*count]))
        return false;
    list[(*count)++] = own;
    return true;
}

/* Two columns joined; b < 0: the reciprocal of a. False where the operators have no such formula;
 * a reciprocal is written as such, as sr_proposal_shorten() makes quotients of it. */
static bool join(uint64_t operators, int a, int b, enum sr_op op, struct sr_expr *out)
{
    const bool divides = sr_has(operators, SR_DIV) || sr_has(operators, SR_INV);
    out->count = 0;
    sr_put_node(out, sr_leaf_node(a));
    if (b < 0) {
        sr_put_op(out, SR_INV);
        return divides;
    }
    if (a == b && sr_has(operators, SR_SQUARE)) {
        sr_put_op(out, SR_SQUARE);
        return true;
    }
    sr_put_node(out, sr_leaf_node(b));
    sr_put_op(out, op);
    return op == SR_DIV ? divides : true;
}

/* The columns, their reciprocals and squares, products and quotients of two: into the factors and,
 * where not `factors`, into the variables. */
static void list_products(struct sr_rates *r, uint64_t operators, bool factors)
{
    const int n = r->data.features, most = factors ? SR_RATES_FACTORS : SR_RATES_VARIABLES;
    struct sr_expr *list = factors ? r->factor : r->variable, expr;
    double(*value)[SR_RATES_ROWS] = factors ? r->h : r->u;
    int *count = factors ? &r->factors : &r->variables;
    for (int a = 0; a < n; a++) {
        expr = (struct sr_expr){.count = 1, .node = {sr_leaf_node(a)}};
        append(r, &expr, most, list, value, count);
    }
    for (int a = 0; a < n && n <= MANY; a++)
        if (join(operators, a, -1, SR_INV, &expr))
            append(r, &expr, most, list, value, count);
    for (int a = 0; a < n && n <= MANY; a++)
        for (int b = 0; b < n; b++) {
            if (b >= a && join(operators, a, b, SR_MUL, &expr))
                append(r, &expr, most, list, value, count);
            if (b != a && join(operators, a, b, SR_DIV, &expr))
                append(r, &expr, most, list, value, count);
        }
}

static void range_of(const struct sr_rates *r, const double *value, double *low, double *high)
{
    *low = *high = value[0];
    for (int i = 1; i < r->rows; i++) {
        *low = fmin(*low, value[i]);
        *high = fmax(*high, value[i]);
    }
}

double sr_rates_range(const struct sr_rates *r, int variable)
{
    double low, high;
    range_of(r, r->u[variable], &low, &high);
    return high - low;
}

/* ---- columns */

static double value_of(const struct sr_rate *rate, double u)
{
    if (rate->g == SR_INV)
        return rate->d / (orr_exp(rate->c * u) + rate->d);
    return sr_op_table[rate->g].value(rate->c * u - (rate->g == SR_EXP ? rate->d : 0), 0);
}

/* d: of a step; of an exponential it is what makes its maximum 1. */
static void put_column(struct sr_rates *r, int variable, enum sr_op g, double c, double d)
{
    const int n = r->count, block = n / SR_RATES_BLOCK, f = n % SR_RATES_BLOCK;
    const double *u = r->u[variable];
    struct sr_rate rate = {variable, g, c, d};
    double low, high;
    if (n == SR_RATES)
        return;
    range_of(r, u, &low, &high);
    if (g == SR_EXP)
        rate.d = fmax(c * low, c * high);
    for (int i = 0; i < r->rows; i++) {
        const double v = value_of(&rate, u[i]);
        r->value[block][i][f] = (float)v;
        r->square[block][i][f] =
            (float)(g == SR_COS ? v * sr_op_table[SR_SIN].value(c * u[i], 0) : v * v);
    }
    r->rate[r->count++] = rate;
}

/* Exponentials of the variables from `first` on, falling ones only with `falls`. */
static void put_exponentials(struct sr_rates *r, int first, int count, double step, bool falls)
{
    for (int v = first; v < r->variables; v++) {
        double low, high;
        range_of(r, r->u[v], &low, &high);
        for (int k = 0; k < count && high > low; k++) {
            const double c = least_exponent * orr_pow(step, k) / (high - low);
            put_column(r, v, SR_EXP, -c, 0);
            if (!falls)
                put_column(r, v, SR_EXP, c, 0);
        }
    }
}

/* Reciprocal squares and, for waves that fall or grow, exponentials of few columns as factors. */
static void list_more_factors(struct sr_rates *r, uint64_t operators)
{
    const int n = r->data.features;
    const bool waves = sr_has(operators, SR_SIN) || sr_has(operators, SR_COS);
    struct sr_expr expr;
    for (int f = 0; f < n && n <= MANY; f++)
        if (join(operators, f, f, SR_MUL, &expr) && sr_has(operators, SR_INV)) {
            sr_put_op(&expr, SR_INV);
            append(r, &expr, SR_RATES_FACTORS, r->factor, r->h, &r->factors);
        }
    r->falls = r->factors;
    for (int f = 0; f < n && n <= FEW && waves && sr_has(operators, SR_EXP); f++) {
        double low, high;
        range_of(r, r->data.x + (size_t)f * (size_t)r->rows, &low, &high);
        for (int k = 0; k < FALLS && high > low; k++) {
            expr = (struct sr_expr){.count = 1, .node = {sr_leaf_node(f)}};
            sr_rates_scale(&expr, 0, -ldexp(1, k) / (high - low));
            sr_put_op(&expr, SR_EXP);
            append(r, &expr, SR_RATES_FACTORS, r->factor, r->h, &r->factors);
        }
    }
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
        double low, high;
        range_of(r, r->u[v], &low, &high);
        const double fastest = half_turn / smallest_gap(r, r->u[v]);
        for (int k = 1; k <= most && high > low && r->count + 2 <= SR_RATES; k++) {
            const double c = step_of_sines * (k - 0.5) / (high - low);
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
    for (int v = 0; v < r->data.features && sr_has(operators, SR_TANH); v++) {
        double low, high;
        range_of(r, r->u[v], &low, &high);
        for (int k = 0; k < EXPONENTS / 2 && high > low; k++)
            put_column(r, v, SR_TANH, least_exponent * orr_pow(2, k) / (high - low), 0);
    }
    const bool steps = sr_has(operators, SR_EXP) && sr_has(operators, SR_ADD) &&
                       (sr_has(operators, SR_INV) || sr_has(operators, SR_DIV));
    for (int v = 0; v < r->data.features && steps && r->data.features <= MANY; v++) {
        double low, high;
        range_of(r, r->u[v], &low, &high);
        for (int k = 0; k < 2 * WIDTHS * CENTRES && high > low; k++) {
            const double b = low + (high - low) * (k % CENTRES + 1) / (CENTRES + 1);
            const double width = 3 * orr_pow(2, k / 2 / CENTRES) / (high - low);
            const double c = k / CENTRES % 2 ? -width : width, d = orr_exp(c * b);
            if (isnormal(d))
                put_column(r, v, SR_INV, c, d);
        }
        for (int k = 0; k < 2 * EXPONENTS && low > 0; k++) /* as in Planck's law and in tanh */
            put_column(r, v, SR_INV, least_exponent * orr_pow(2, k / 2 / 2.0) / (high - low),
                       k % 2 ? 1 : -1);
    }
}

/* The column 1, so that a factor alone is a term. */
static void put_one(struct sr_rates *r)
{
    if (r->count == SR_RATES)
        return;
    const int block = r->count / SR_RATES_BLOCK, f = r->count % SR_RATES_BLOCK;
    for (int i = 0; i < r->rows; i++)
        r->value[block][i][f] = r->square[block][i][f] = 1;
    r->rate[r->count++] = (struct sr_rate){.variable = -1};
}

/* (x - b)^2 for some b; x (x - 2 b), which is as good, where there is no square. */
static void list_centred(struct sr_rates *r, uint64_t operators)
{
    for (int f = 0; f < r->data.features; f++) {
        double low, high;
        range_of(r, r->u[f], &low, &high);
        for (int k = 1; k <= CENTRES && high > low; k++) {
            const double centre = low + (high - low) * k / (CENTRES + 1);
            const bool squares = sr_has(operators, SR_SQUARE);
            struct sr_expr expr = {.count = 1, .node = {sr_leaf_node(f)}};
            if (!squares && !sr_has(operators, SR_MUL))
                return;
            if (!squares)
                sr_put_node(&expr, sr_leaf_node(f));
            sr_rates_shift(&expr, squares ? -centre : -2 * centre);
            sr_put_op(&expr, squares ? SR_SQUARE : SR_MUL);
            append(r, &expr, SR_RATES_VARIABLES, r->variable, r->u, &r->variables);
        }
    }
}

int sr_rates_init(struct sr_rates *r, const struct sr_proposal *p)
{
    const struct sr_data *all = p->loss->data;
    *r = (struct sr_rates){0};
    r->rows = (int)(all->rows < SR_RATES_ROWS ? all->rows / 8 * 8 : SR_RATES_ROWS);
    r->value = orr_alloc(SR_RATES / SR_RATES_BLOCK, sizeof *r->value);
    r->square = orr_alloc(SR_RATES / SR_RATES_BLOCK, sizeof *r->square);
    r->h = orr_alloc(SR_RATES_FACTORS, sizeof *r->h);
    r->u = orr_alloc(SR_RATES_VARIABLES, sizeof *r->u);
    if (!r->value || !r->square || !r->h || !r->u)
        return ORR_ENOMEM;
    return sr_rows_take(all, (size_t)r->rows, NULL, &r->data, &r->x);
}

void sr_rates_list(struct sr_rates *r, uint64_t operators)
{
    append(r, &(struct sr_expr){.count = 0}, 1, r->factor, r->h, &r->factors);
    list_products(r, operators, true);
    list_more_factors(r, operators);
    list_products(r, operators, false);
    put_sines(r, operators); /* first, so that no block of columns parts a pair */
    put_steps(r, operators);
    put_one(r);
    if (sr_has(operators, SR_EXP)) {
        put_exponentials(r, 0, EXPONENTS, 1.4142135623730951, false);
        const int first = r->variables;
        list_centred(r, operators);
        put_exponentials(r, first, WIDTHS, 4, true);
    }
}

void sr_rates_free(struct sr_rates *r)
{
    free(r->x);
    free(r->value);
    free(r->square);
    free(r->h);
    free(r->u);
}
