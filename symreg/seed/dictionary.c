/* dictionary.c - columns of small formulas for sums, and the factors by which y may be divided. */
#include "dictionary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

enum {
    ROWS = SR_DICTIONARY_ROWS,
    COLUMNS = SR_DICTIONARY,
    FACTORS = SR_DICTIONARY_FACTORS,
};

bool sr_dictionary_unit(const double *value, double *unit)
{
    return sr_unit(value, ROWS, 1e-14, unit);
}

/* A feature to the power 1, 2 or 3. */
static void put_power(struct sr_expr *out, int feature, int power, bool square)
{
    const struct sr_node x = {.op = SR_FEATURE, .feature = (uint8_t)feature};
    sr_put_node(out, x);
    if (power > 1 && square)
        sr_put_op(out, SR_SQUARE);
    for (int k = square ? 3 : 2; k <= power; k++) {
        sr_put_node(out, x);
        sr_put_op(out, SR_MUL);
    }
}

enum { MOST_POWERS = 16 };

/* log |v| minus its mean, at the rows where y is not 0; false where it is not finite or does not
 * vary. */
static bool take_log(const struct sr_dictionary *d, const double *v, double column[ROWS])
{
    double mean = 0, square = 0;
    int n = 0;
    for (int i = 0; i < ROWS; i++) {
        column[i] = d->data.y[i] == 0 ? 0 : sr_op_table[SR_LOG].value(fabs(v[i]), 0);
        mean += column[i];
        n += d->data.y[i] == 0 ? 0 : 1;
    }
    mean /= n;
    for (int i = 0; i < ROWS; i++) {
        column[i] -= d->data.y[i] == 0 ? 0 : mean;
        square += column[i] * column[i];
    }
    return isfinite(square) && square > 1e-12 * (1 + mean * mean) * n;
}

struct logarithm {
    double score; /* minus the squared correlation with log |y| */
    int feature;
    double column[ROWS];
};

/* Removes columns that are linear combinations of earlier ones, such as a column in another unit.
 * Returns how many remain. */
static int drop_spanned(struct logarithm *list, int n)
{
    double q[MOST_POWERS][ROWS];
    int kept = 0;
    for (int f = 0; f < n; f++) {
        double *rest = q[kept];
        memcpy(rest, list[f].column, sizeof q[kept]);
        for (int k = 0; k < kept; k++) {
            const double r = sr_dot(rest, q[k], ROWS) / sr_dot(q[k], q[k], ROWS);
            for (int i = 0; i < ROWS; i++)
                rest[i] -= r * q[k][i];
        }
        if (sr_dot(rest, rest, ROWS) > 1e-9 * sr_dot(list[f].column, list[f].column, ROWS))
            list[kept++] = list[f];
    }
    return kept;
}

/* Integer powers of the features whose product is closest to y, by linear regression of the
 * logarithms of absolute values. The power is 0 for features that are 0 somewhere, do not vary, or
 * are spanned by others; of many features only the most correlated are used. False where none
 * remains. */
static bool fit_powers(const struct sr_dictionary *d, int power[SR_FEATURES])
{
    double a[MOST_POWERS * (MOST_POWERS + 1)] = {0}, target[ROWS];
    struct logarithm list[MOST_POWERS], item;
    int n = 0;
    for (int f = 0; f < d->data.features; f++)
        power[f] = 0;
    if (!take_log(d, d->data.y, target))
        return false;
    for (item.feature = 0; item.feature < d->data.features; item.feature++) {
        if (!take_log(d, d->x + (size_t)item.feature * ROWS, item.column))
            continue;
        const double both = sr_dot(item.column, target, ROWS);
        item.score = -both * both / sr_dot(item.column, item.column, ROWS);
        sr_best_insert(list, sizeof item, &n, MOST_POWERS, &item);
    }
    n = drop_spanned(list, n);
    for (int f = 0; f < n; f++) {
        for (int g = 0; g < n; g++)
            a[f * (n + 1) + g] = sr_dot(list[f].column, list[g].column, ROWS);
        a[f * (n + 1) + n] = sr_dot(list[f].column, target, ROWS);
    }
    if (!n || !sr_sum_solve(a, n))
        return false;
    for (int f = 0; f < n; f++)
        power[list[f].feature] = (int)fmin(3, fmax(-3, round(a[f * (n + 1) + n])));
    return true;
}

/* Writes the features to their powers: the numerator (sides & 1) and the denominator (sides & 2).
 * False where nothing remains. */
static bool write_powers(const struct sr_dictionary *d, uint64_t operators, const int *powers,
                         int sides, struct sr_expr *out)
{
    out->count = 0;
    for (int side = 1; side >= -1; side -= 2)
        for (int f = 0; f < d->data.features; f++) {
            const int power = sides & (side > 0 ? 1 : 2) ? side * powers[f] : 0;
            const bool first = out->count == 0, divides = sr_has(operators, SR_DIV);
            if (power <= 0)
                continue;
            put_power(out, f, power, sr_has(operators, SR_SQUARE));
            if (side < 0 && (first || !divides))
                sr_put_op(out, SR_INV);
            if (!first)
                sr_put_op(out, side < 0 && divides ? SR_DIV : SR_MUL);
            if (side < 0 && (first || !divides) && !sr_has(operators, SR_INV))
                return false;
        }
    return out->count && sr_put_end(d->data.language, out, SR_NODES);
}

/* Variance of log |y / h| over the rows where y is not 0. It is equal up to rounding for formulas
 * that differ only by a factor. */
static double ratio_variance(const struct sr_dictionary *d, const struct sr_expr *h)
{
    double value[ROWS], sum = 0, square = 0;
    int n = 0;
    if (!sr_eval(h, &d->data, value))
        return HUGE_VAL;
    for (int i = 0; i < ROWS; i++) {
        if (d->data.y[i] == 0)
            continue;
        n++;
        const double z = sr_op_table[SR_LOG].value(fabs(d->data.y[i] / value[i]), 0);
        sum += z;
        square += z * z;
    }
    const double result = square / n - sum / n * (sum / n);
    return isfinite(result) ? result : HUGE_VAL;
}

struct rated {
    double score;
    double pure; /* variance of log |y / h| */
    struct sr_expr expr;
};

/* Lists the factors h closest to y at all rows, with a penalty per node. The fitted power law, its
 * numerator and its denominator are always listed: for m / (x^2 + y^2 + z^2) the fitted law is m /
 * (x y z), which is not close. */
static void list_factors(struct sr_dictionary *d, const struct sr_bank *bank, int entries,
                         uint64_t operators)
{
    struct sr_factor factor[SR_FACTORS];
    int powers[SR_FEATURES];
    const bool has_law = fit_powers(d, powers);
    struct rated list[FACTORS - 1], item; /* without the factor 1, which comes first */
    int close = 0, n = 0;
    sr_factors_find(bank, entries, sr_has(operators, SR_DIV), factor, &close);
    for (int i = has_law ? -3 : 0; i < close; i++) {
        bool seen = i < 0 ? !write_powers(d, operators, powers, -i, &item.expr)
                          : !sr_factor_expr(bank, &factor[i], &item.expr);
        item.pure = seen ? HUGE_VAL : ratio_variance(d, &item.expr);
        item.score = i < 0 ? 0 : item.pure * (1 + 0.1 * item.expr.count);
        for (int k = 0; k < n && !seen; k++)
            seen = fabs(list[k].pure - item.pure) <= 1e-9 * item.pure &&
                   list[k].score <= item.score * (1 + 1e-9);
        if (!seen && item.pure < HUGE_VAL)
            sr_best_insert(list, sizeof item, &n, FACTORS - 1, &item);
    }
    d->factors = 1 + n;
    d->factor[0].count = 0;
    for (int k = 0; k < n; k++)
        d->factor[k + 1] = list[k].expr;
}

int sr_dictionary_init(struct sr_dictionary *d, const struct sr_bank *bank, int entries,
                       uint64_t operators, const struct sr_data *data)
{
    int rc = sr_rows_take(data, ROWS, NULL, &d->data, &d->x);
    d->expr = orr_alloc(COLUMNS, sizeof *d->expr);
    d->column = orr_alloc(SR_DICTIONARY / SR_DICTIONARY_BLOCK, sizeof *d->column);
    d->value = orr_alloc(COLUMNS, sizeof *d->value);
    d->unit = orr_alloc(SR_DICTIONARY_SMALL, sizeof *d->unit);
    if (rc || !d->expr || !d->column || !d->value || !d->unit)
        return ORR_ENOMEM;
    for (int e = 0; e < entries && d->count < COLUMNS; e++) {
        double unit[ROWS];
        if (bank->all.entry[e].constants || !sr_bank_expr(bank, e, &d->expr[d->count]) ||
            !sr_eval(&d->expr[d->count], &d->data, d->value[d->count]) ||
            !sr_dictionary_unit(d->value[d->count], unit))
            continue;
        for (int i = 0; i < ROWS; i++)
            d->column[d->count / SR_DICTIONARY_BLOCK][i][d->count % SR_DICTIONARY_BLOCK] =
                (float)unit[i];
        if (d->count < SR_DICTIONARY_SMALL)
            memcpy(d->unit[d->count], unit, sizeof unit);
        d->count++;
    }
    for (int a = 0; a < SR_DICTIONARY_SMALL && a < d->count; a++)
        for (int b = 0; b <= a; b++)
            d->gram[a][b] = d->gram[b][a] = sr_dot(d->unit[a], d->unit[b], ROWS);
    list_factors(d, bank, entries, operators);
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
