/* dictionary.c - columns for sums: small formulas, and what y may have to be divided by. */
#include "dictionary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = SR_DICTIONARY_ROWS,
    COLUMNS = SR_DICTIONARY,
    FACTORS = SR_DICTIONARY_FACTORS,
};

bool sr_dictionary_unit(const double *value, double *unit)
{
    double sum = 0, square = 0, whole = 0;
    for (int i = 0; i < ROWS; i++)
        sum += value[i] / ROWS;
    for (int i = 0; i < ROWS; i++) {
        unit[i] = value[i] - sum;
        square += unit[i] * unit[i];
        whole += value[i] * value[i];
    }
    if (!(square > 1e-14 * whole) || !isfinite(whole))
        return false;
    for (int i = 0; i < ROWS; i++)
        unit[i] /= sqrt(square);
    return true;
}

double sr_dictionary_dot(const double *a, const double *b)
{
    double lane[8] = {0};
    for (int i = 0; i < ROWS; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += a[i + l] * b[i + l];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

static int take_rows(struct sr_dictionary *d, const struct sr_data *all)
{
    d->x = orr_alloc(((size_t)all->features + 1) * ROWS, sizeof *d->x);
    if (!d->x)
        return ORR_ENOMEM;
    double *y = d->x + (size_t)all->features * ROWS;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t row = i * all->rows / ROWS;
        for (size_t f = 0; f < (size_t)all->features; f++)
            d->x[f * ROWS + i] = all->x[f * all->rows + row];
        y[i] = all->y[row];
    }
    d->data = (struct sr_data){.rows = ROWS, .features = all->features, .x = d->x, .y = y};
    return 0;
}

static bool write_factor(const struct sr_bank *bank, const struct sr_factor *from,
                         struct sr_expr *to)
{
    struct sr_expr b;
    if (!sr_bank_expr(bank, &bank->entry[from->a], to))
        return false;
    if (from->b < 0)
        return true;
    if (!sr_bank_expr(bank, &bank->entry[from->b], &b) || to->count + b.count + 1 > SR_NODES)
        return false;
    memcpy(to->node + to->count, b.node, (size_t)b.count * sizeof *b.node);
    to->count += b.count;
    to->node[to->count++] = (struct sr_node){.op = (uint8_t)from->op};
    return sr_expr_measure(to);
}

bool sr_dictionary_solve(double *a, int n)
{
    const int width = n + 1;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) {
            const double share = a[j * width + k] / a[k * width + k];
            for (int m = n; j != k && m >= k; m--)
                a[j * width + m] -= share * a[k * width + m];
        }
    for (int k = 0; k < n; k++) {
        a[k * width + n] /= a[k * width + k];
        if (!isfinite(a[k * width + n]))
            return false;
    }
    return true;
}

/* x to a power of 1, 2 or 3. */
static void put_power(struct sr_expr *out, int feature, int power, bool square)
{
    const struct sr_node x = {.op = SR_FEATURE, .feature = (uint8_t)feature};
    sr_put_node(out, x);
    if (power > 1 && square) {
        sr_put_node(out, (struct sr_node){.op = SR_SQUARE});
    } else if (power > 1) {
        sr_put_node(out, x);
        sr_put_node(out, (struct sr_node){.op = SR_MUL});
    }
    if (power > 2) {
        sr_put_node(out, x);
        sr_put_node(out, (struct sr_node){.op = SR_MUL});
    }
}

/* The product of whole powers of the features that follows y best: linear regression of logarithms.
 * False where a feature is not positive or no power is left. */
static bool fit_power_law(const struct sr_dictionary *d, uint64_t operators, struct sr_expr *out)
{
    enum { MOST = 16 };
    const int n = d->data.features, width = n + 1;
    double a[MOST * (MOST + 1)] = {0}, column[MOST + 1][ROWS];
    out->count = 0;
    if (n > MOST)
        return false;
    for (int f = 0; f <= n; f++) {
        double mean = 0;
        for (int i = 0; i < ROWS; i++) {
            const double v = f < n ? d->x[f * ROWS + i] : fabs(d->data.y[i]);
            if (!(v > 0))
                return false;
            column[f][i] = sr_op_table[SR_LOG].value(v, 0);
            mean += column[f][i] / ROWS;
        }
        for (int i = 0; i < ROWS; i++)
            column[f][i] -= mean;
    }
    for (int f = 0; f < n; f++)
        for (int g = 0; g <= n; g++)
            a[f * width + g] = sr_dictionary_dot(column[f], column[g]);
    if (!sr_dictionary_solve(a, n))
        return false;
    for (int side = 1; side >= -1; side -= 2) /* what multiplies, then what divides */
        for (int f = 0; f < n; f++) {
            const int power = (int)fmin(3, fmax(0, round(side * a[f * width + n])));
            const bool first = out->count == 0, divides = operators >> SR_DIV & 1;
            if (!power)
                continue;
            put_power(out, f, power, operators >> SR_SQUARE & 1);
            if (side < 0 && (first || !divides))
                sr_put_node(out, (struct sr_node){.op = SR_INV});
            if (!first)
                sr_put_node(out, (struct sr_node){.op = side < 0 && divides ? SR_DIV : SR_MUL});
            if (side < 0 && (first || !divides) && !(operators >> SR_INV & 1))
                return false;
        }
    return out->count && out->count <= SR_NODES && sr_expr_measure(out);
}

/* Variance of log |y / h|; equal to rounding where formulas are one but for a factor. */
static double variance(const struct sr_dictionary *d, const struct sr_expr *h)
{
    double value[ROWS], sum = 0, square = 0;
    if (!sr_eval(h, &d->data, value))
        return HUGE_VAL;
    for (int i = 0; i < ROWS; i++) {
        const double z = sr_op_table[SR_LOG].value(fabs(d->data.y[i] / value[i]), 0);
        sum += z;
        square += z * z;
    }
    const double result = square / ROWS - sum / ROWS * (sum / ROWS);
    return isfinite(result) ? result : HUGE_VAL;
}

/* The closest of them to y at all rows, a little nearer for every node less. */
static void list_factors(struct sr_dictionary *d, const struct sr_bank *bank, uint64_t operators)
{
    struct sr_factor factor[SR_FACTORS];
    double score[FACTORS], pure[FACTORS];
    int close = 0;
    sr_factors_find(bank, (operators >> SR_DIV & 1) != 0, factor, &close);
    d->factor[0].count = 0; /* 1 comes first */
    d->factors = 1;
    for (int i = -1; i < close; i++) {
        struct sr_expr h;
        bool seen = i < 0 ? !fit_power_law(d, operators, &h) : !write_factor(bank, &factor[i], &h);
        const double rest = seen ? HUGE_VAL : variance(d, &h);
        const double mine = i < 0 ? 0 : rest * (1 + 0.1 * h.count); /* the power law stays */
        for (int k = 1; k < d->factors && !seen; k++)
            seen = fabs(pure[k] - rest) <= 1e-9 * rest && score[k] <= mine;
        if (seen || !(rest < HUGE_VAL) || (d->factors == FACTORS && mine >= score[FACTORS - 1]))
            continue;
        int k = d->factors < FACTORS ? d->factors++ : FACTORS - 1;
        for (; k > 1 && mine < score[k - 1]; k--) {
            score[k] = score[k - 1];
            pure[k] = pure[k - 1];
            d->factor[k] = d->factor[k - 1];
        }
        score[k] = mine;
        pure[k] = rest;
        d->factor[k] = h;
    }
}

int sr_dictionary_init(struct sr_dictionary *d, const struct sr_settings *s,
                       const struct sr_data *data)
{
    struct sr_bank bank = {0};
    int rc = take_rows(d, data);
    d->expr = orr_alloc(COLUMNS, sizeof *d->expr);
    d->column = orr_alloc(ROWS, sizeof *d->column);
    d->value = orr_alloc(COLUMNS, sizeof *d->value);
    d->unit = orr_alloc(SR_DICTIONARY_SMALL, sizeof *d->unit);
    if (rc || !d->expr || !d->column || !d->value || !d->unit)
        return ORR_ENOMEM;
    rc = sr_bank_init(&bank, s, data, s->enumerate / 8);
    if (rc)
        return rc;
    for (int e = 0; e < bank.count && d->count < COLUMNS; e++) {
        double unit[ROWS];
        if (bank.entry[e].constants || !sr_bank_expr(&bank, &bank.entry[e], &d->expr[d->count]) ||
            !sr_eval(&d->expr[d->count], &d->data, d->value[d->count]) ||
            !sr_dictionary_unit(d->value[d->count], unit))
            continue;
        for (int i = 0; i < ROWS; i++)
            d->column[i][d->count] = (float)unit[i];
        if (d->count < SR_DICTIONARY_SMALL)
            memcpy(d->unit[d->count], unit, sizeof unit);
        d->count++;
    }
    for (int a = 0; a < SR_DICTIONARY_SMALL && a < d->count; a++)
        for (int b = 0; b <= a; b++)
            d->gram[a][b] = d->gram[b][a] = sr_dictionary_dot(d->unit[a], d->unit[b]);
    list_factors(d, &bank, sr_settings_operators(s));
    sr_bank_free(&bank);
    return 0;
}

void sr_dictionary_free(struct sr_dictionary *d)
{
    free(d->x);
    free(d->expr);
    free(d->column);
    free(d->value);
    free(d->unit);
}
