/* user_defined.c - values and derivatives of user-defined operators and losses. */
#include "value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARGUMENTS = 2,
    PIECE = 64 /* PIECE: rows; small, as operators nest and the stack is limited */
};

/* ---- values and derivatives */

/* A table of two columns that holds a tile's rows. */
static struct sr_data tile_of(const struct sr_language *language, int n, const double *a,
                              const double *b, double x[2 * SR_TILE])
{
    memcpy(x, a, (size_t)n * sizeof *x);
    memcpy(x + n, b, (size_t)n * sizeof *x);
    return (struct sr_data){.rows = (size_t)n, .features = ARGUMENTS, .x = x, .language = language};
}

bool sr_custom_apply(const struct sr_language *language, enum sr_op op, int n, const double *a,
                     const double *b, double *out)
{
    double x[2 * SR_TILE];
    const struct sr_data data = tile_of(language, n, a, b, x);
    if (!sr_eval_infinite(sr_op_formula(language, (int)op), &data, out)) {
        for (int i = 0; i < n; i++)
            out[i] = NAN;
        return false;
    }
    bool finite = true;
    for (int i = 0; i < n; i++)
        finite = finite && isfinite(out[i]);
    return finite;
}

/* What an argument's slope adds to that of an operator. Where the argument does not occur, an
 * infinite derivative is ignored; 0 times infinity is 0, as in sr_eval_jacobian(). */
static double part_of_slope(double slope, double product)
{
    return slope != 0 && !isnan(product) ? product : 0;
}

/* Derivative of n <= PIECE rows by one argument, accumulated forward along the formula. */
static void chain_piece(const struct sr_language *language, enum sr_op op, int operand, int n,
                        const double *a, const double *b, const double *outer, double *d)
{
    const struct sr_expr *expr = sr_op_formula(language, (int)op);
    double value[SR_NODES / 2 + 1][PIECE], slope[SR_NODES / 2 + 1][PIECE];
    double kept[PIECE], left[PIECE], right[PIECE];
    int depth = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        const enum sr_op inner = (enum sr_op)node->op;
        const int arity = sr_expr_arity(expr, i);
        if (arity == 0) {
            for (int k = 0; k < n; k++) {
                const double argument = node->feature ? b[k] : a[k];
                value[depth][k] = inner == SR_CONSTANT ? node->value : argument;
                slope[depth][k] = inner == SR_FEATURE && node->feature == operand;
            }
            depth++;
            continue;
        }
        depth -= arity;
        double *const first = value[depth], *const second = value[depth + arity - 1];
        sr_op_apply(language, inner, n, first, second, kept);
        sr_op_chain(language, inner, 0, n, first, second, kept, slope[depth], left);
        if (arity == 2)
            sr_op_chain(language, inner, 1, n, first, second, kept, slope[depth + 1], right);
        for (int k = 0; k < n; k++) {
            value[depth][k] = kept[k];
            slope[depth][k] = part_of_slope(slope[depth][k], left[k]) +
                              (arity == 2 ? part_of_slope(slope[depth + 1][k], right[k]) : 0);
        }
        depth++;
    }
    for (int k = 0; k < n; k++)
        d[k] = outer[k] * slope[0][k];
}

void sr_custom_chain(const struct sr_language *language, enum sr_op op, int operand, int n,
                     const double *a, const double *b, const double *outer, double *d)
{
    for (int first = 0; first < n; first += PIECE)
        chain_piece(language, op, operand, n - first < PIECE ? n - first : PIECE, a + first,
                    b + first, outer + first, d + first);
}

/* ---- the loss */

double sr_custom_loss(const struct sr_language *language, size_t rows, const double *p,
                      const double *t, const double *weight, double scale)
{
    double total = 0, weights = 0, x[2 * SR_TILE], value[SR_TILE];
    for (size_t first = 0; first < rows; first += SR_TILE) {
        const size_t n = rows - first < SR_TILE ? rows - first : SR_TILE;
        for (size_t i = 0; i < n; i++) {
            x[i] = scale * p[first + i];
            x[n + i] = t[first + i];
        }
        const struct sr_data data = {.rows = n, .features = 2, .x = x, .language = language};
        if (!sr_eval(&language->loss, &data, value))
            return HUGE_VAL;
        for (size_t i = 0; i < n; i++) {
            const double w = weight ? weight[first + i] : 1;
            total += w * value[i];
            weights += w;
        }
    }
    return total / weights;
}

/* Range of the targets; where all are equal, their size, or 1 if that is 0. */
static double spread_of(const struct sr_data *data)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < data->rows; i++) {
        low = fmin(low, data->y[i]);
        high = fmax(high, data->y[i]);
    }
    return high > low ? high - low : fabs(high) > 0 ? fabs(high) : 1;
}

size_t sr_custom_loss_least(const struct sr_language *language, size_t rows, const double *t,
                            double *least)
{
    double x[2 * SR_TILE];
    for (size_t first = 0; first < rows; first += SR_TILE) {
        const size_t n = rows - first < SR_TILE ? rows - first : SR_TILE;
        memcpy(x, t + first, n * sizeof *x);
        memcpy(x + n, t + first, n * sizeof *x);
        const struct sr_data data = {.rows = n, .features = 2, .x = x, .language = language};
        if (sr_eval(&language->loss, &data, least + first))
            continue;
        for (size_t i = first; i < first + n; i++)
            if (!isfinite(sr_custom_loss(language, 1, t + i, t + i, NULL, 1)))
                return i;
    }
    return rows;
}

int sr_custom_loss_check(const struct sr_language *language, const struct sr_data *data,
                         const char *file, const size_t *line)
{
    /* p = t (1 + share), and p = t + shift * spread */
    static const double share[] = {-0.03, 0.03},
                        shift[] = {-0.003, 0.003, -0.03, 0.03, -0.3, 0.3, -3, 3, -30, 30};
    enum { SHARES = sizeof share / sizeof *share, SHIFTS = sizeof shift / sizeof *shift };
    const double rounding = 1e-9, spread = spread_of(data);
    const double at_t = sr_custom_loss(language, data->rows, data->y, data->y, data->weight, 1);
    char where[40], number[SR_NUMBER];
    bool rises = false;
    double *p = orr_alloc(data->rows, sizeof *p);
    if (!p)
        return ORR_ENOMEM;
    const size_t wrong = sr_custom_loss_least(language, data->rows, data->y, p);
    int rc = 0;
    if (wrong < data->rows) {
        sr_number_print(data->y[wrong], number);
        rc = ORR_FAIL(ORR_EUSAGE,
                      "%s%s--loss: it is not finite at p = t = %s, in %s %zu; expected a loss that "
                      "is smallest at p = t",
                      file ? file : "", file ? ": " : "", number, line && line[0] ? "line" : "row",
                      line ? line[wrong] : wrong + 1);
    }
    for (int k = 0; k < SHARES + SHIFTS && !rc; k++) {
        for (size_t i = 0; i < data->rows; i++)
            p[i] =
                k < SHARES ? data->y[i] * (1 + share[k]) : data->y[i] + shift[k - SHARES] * spread;
        const double value = sr_custom_loss(language, data->rows, p, data->y, data->weight, 1);
        rises = rises || value > at_t;
        if (!(value < at_t - rounding * fmax(fabs(at_t), fabs(value))))
            continue;
        if (k < SHARES)
            snprintf(where, sizeof where, "%.4g t", 1 + share[k]);
        else
            snprintf(where, sizeof where, "t %+.4g", shift[k - SHARES] * spread);
        rc = ORR_FAIL(ORR_EUSAGE,
                      "--loss: expected a loss that is smallest at p = t, found %.4g there and "
                      "%.4g at p = %s",
                      at_t, value, where);
    }
    if (!rc && !rises)
        rc = ORR_FAIL(ORR_EUSAGE,
                      "--loss: expected a loss that grows away from p = t, found %.4g "
                      "there and no larger one elsewhere",
                      at_t);
    free(p);
    return rc;
}

/* Finite differences with a step of a millionth of the residual, tile by tile. */
void sr_custom_loss_weights(const struct sr_language *language, size_t rows, const double *p,
                            const double *t, double scale, double *weight)
{
    double up[2 * SR_TILE], down[2 * SR_TILE], gap[SR_TILE], above[SR_TILE], below[SR_TILE];
    for (size_t first = 0; first < rows; first += SR_TILE) {
        const size_t n = rows - first < SR_TILE ? rows - first : SR_TILE;
        for (size_t i = 0; i < n; i++) {
            const double value = scale * p[first + i], target = t[first + i];
            const double d = value - target, size = fmax(fabs(value), fabs(target));
            const double step = 1e-6 * fmax(fabs(d), 1e-6 * size);
            gap[i] = fabs(d) > step ? d : step;
            up[i] = value + step;
            down[i] = value - step;
            up[n + i] = down[n + i] = target;
        }
        const struct sr_data high = {.rows = n, .features = 2, .x = up, .language = language};
        const struct sr_data low = {.rows = n, .features = 2, .x = down, .language = language};
        const bool finite =
            sr_eval(&language->loss, &high, above) && sr_eval(&language->loss, &low, below);
        for (size_t i = 0; i < n; i++) {
            const double w = finite ? (above[i] - below[i]) / ((up[i] - down[i]) * gap[i]) : 0;
            weight[first + i] = isfinite(w) && w > 0 ? w : 0;
        }
    }
}
