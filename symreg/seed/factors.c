/* factors.c - ranks small formulas, and products and quotients of two, as factors of y. */
#include "sums.h"

#include <math.h>
#include <stdlib.h>

#include "shared.h"

enum { PRODUCTS = 2500 }; /* formulas combined into products and quotients */

/* Centred logarithms of y and of the bank's first formulas. */
struct logs {
    int count, index[PRODUCTS];
    float y[SR_ROWS], value[PRODUCTS][SR_ROWS], with_y[PRODUCTS], square[PRODUCTS];
    bool plain[SR_BANK];
};

static bool take_logarithms(const double *value, float *out)
{
    double sum = 0, z[SR_ROWS];
    for (int i = 0; i < SR_ROWS; i++) {
        z[i] = sr_op_table[SR_LOG].value(fabs(value[i]), 0);
        sum += z[i] / SR_ROWS;
    }
    for (int i = 0; i < SR_ROWS; i++)
        out[i] = (float)(z[i] - sum);
    return isfinite(sum);
}

static void logs_init(struct logs *logs, const struct sr_bank *bank)
{
    const struct sr_vec *vec = sr_vec_best();
    if (!take_logarithms(bank->y, logs->y))
        return;
    for (int e = 0; e < bank->all.count && logs->count < PRODUCTS; e++) {
        const int n = logs->count;
        if (bank->all.entry[e].constants || !take_logarithms(bank->all.value[e], logs->value[n]))
            continue;
        logs->with_y[n] = vec->dot_rows(logs->value[n], logs->y);
        logs->square[n] = vec->dot_rows(logs->value[n], logs->value[n]);
        logs->index[n] = e;
        logs->count++;
    }
}

static void keep_factor(struct sr_factor list[SR_FACTORS], int *n, double score, int a, int b,
                        enum sr_op op)
{
    const struct sr_factor item = {score, a, b, op};
    if (*n == SR_CLOSE && !(score < list[SR_CLOSE - 1].score))
        return;
    sr_best_insert(list, sizeof item, n, SR_CLOSE, &item);
}

/* Lists the formulas without constants, and products and quotients of two, with the smallest
 * variance of log(y / h), which a penalty per node enlarges. */
static int rank_factors(const struct sr_bank *bank, const struct logs *logs, bool divide,
                        struct sr_factor list[SR_FACTORS])
{
    int n = 0;
    const struct sr_vec *vec = sr_vec_best();
    const double yy = (double)vec->dot_rows(logs->y, logs->y), price = 0.1;
    for (int a = 0; a < logs->count; a++) {
        const int size = bank->all.entry[logs->index[a]].size;
        const double rest = (double)(logs->square[a] - 2 * logs->with_y[a]) + yy;
        keep_factor(list, &n, rest * (1 + price * size), logs->index[a], -1, SR_MUL);
        for (int b = 0; b < a && size > 1; b++) {
            const double c = (double)vec->dot_rows(logs->value[a], logs->value[b]);
            const double sum = rest + (double)(logs->square[b]), w = (double)logs->with_y[b];
            const double more = 1 + price * (size + 1 + bank->all.entry[logs->index[b]].size);
            keep_factor(list, &n, (sum + 2 * c - 2 * w) * more, logs->index[a], logs->index[b],
                        SR_MUL);
            if (divide)
                keep_factor(list, &n, (sum - 2 * c + 2 * w) * more, logs->index[a], logs->index[b],
                            SR_DIV);
        }
    }
    return n;
}

int sr_factors_find(const struct sr_bank *bank, bool divide, struct sr_factor list[SR_FACTORS],
                    int *close)
{
    const uint64_t arithmetic = (uint64_t)1 << SR_ADD | (uint64_t)1 << SR_SUB |
                                (uint64_t)1 << SR_MUL | (uint64_t)1 << SR_DIV;
    struct logs *logs = orr_alloc(1, sizeof *logs);
    *close = 0;
    if (!logs)
        return 0;
    logs_init(logs, bank);
    int n = *close = rank_factors(bank, logs, divide, list);
    sr_bank_made_of(bank, arithmetic, logs->plain);
    for (int e = 0; e < bank->all.count && n < SR_FACTORS; e++)
        if (logs->plain[e])
            list[n++] = (struct sr_factor){0, e, -1, SR_MUL};
    free(logs);
    return n;
}

bool sr_factor_expr(const struct sr_bank *bank, const struct sr_factor *factor,
                    struct sr_expr *expr)
{
    struct sr_expr b;
    if (!sr_bank_expr(bank, factor->a, expr))
        return false;
    if (factor->b >= 0) {
        if (!sr_bank_expr(bank, factor->b, &b))
            return false;
        sr_put_expr(expr, &b);
        sr_put_op(expr, factor->op);
    }
    return sr_put_end(bank->all.settings->language, expr, SR_NODES);
}
