/* factors.c - small formulas, their products and quotients, by how close y is to them in ratio. */
#include "enumerate.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/vec.h"

enum { PRODUCTS = 2500 }; /* formulas whose products and quotients are tried */

static void keep_factor(struct sr_factor list[SR_FACTORS], int *n, struct sr_factor item)
{
    if (*n == SR_CLOSE && item.score >= list[SR_CLOSE - 1].score)
        return;
    int k = *n < SR_CLOSE ? (*n)++ : SR_CLOSE - 1;
    for (; k > 0 && item.score < list[k - 1].score; k--)
        list[k] = list[k - 1];
    list[k] = item;
}

/* Logarithms of y and of the bank's first formulas, about their means. */
struct logs {
    int count, index[PRODUCTS];
    float y[SR_ROWS], value[PRODUCTS][SR_ROWS], with_y[PRODUCTS], square[PRODUCTS];
};

static bool logarithms(const double *value, float *out)
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
    if (!logarithms(bank->y, logs->y))
        return;
    for (int e = 0; e < bank->count && logs->count < PRODUCTS; e++) {
        const int n = logs->count;
        if (bank->entry[e].constants || !logarithms(bank->value[e], logs->value[n]))
            continue;
        logs->with_y[n] = vec->dot_rows(logs->value[n], logs->y);
        logs->square[n] = vec->dot_rows(logs->value[n], logs->value[n]);
        logs->index[n] = e;
        logs->count++;
    }
}

/* The formulas without constants, products and quotients of two to which y is closest in ratio:
 * those with the smallest variance of log(y / h), a little more for every node. */
static int rank_factors(const struct sr_bank *bank, const struct logs *logs, bool divide,
                        struct sr_factor list[SR_FACTORS])
{
    int n = 0;
    const struct sr_vec *vec = sr_vec_best();
    const double yy = (double)vec->dot_rows(logs->y, logs->y), price = 0.1;
    for (int a = 0; a < logs->count; a++) {
        const int size = bank->entry[logs->index[a]].size;
        const double rest = (double)(logs->square[a] - 2 * logs->with_y[a]) + yy;
        keep_factor(list, &n,
                    (struct sr_factor){logs->index[a], -1, SR_MUL, rest * (1 + price * size)});
        for (int b = 0; b < a && size > 1; b++) {
            const double c = (double)vec->dot_rows(logs->value[a], logs->value[b]);
            const double sum = rest + (double)(logs->square[b]), w = (double)logs->with_y[b];
            const double more = 1 + price * (size + 1 + bank->entry[logs->index[b]].size);
            keep_factor(list, &n,
                        (struct sr_factor){logs->index[a], logs->index[b], SR_MUL,
                                           (sum + 2 * c - 2 * w) * more});
            if (divide)
                keep_factor(list, &n,
                            (struct sr_factor){logs->index[a], logs->index[b], SR_DIV,
                                               (sum - 2 * c + 2 * w) * more});
        }
    }
    return n;
}

/* Only + - * / of features? Entries below stand before it: plain[] is known of them. */
static int add_plain(const struct sr_bank *bank, struct sr_factor *list, int n)
{
    bool *plain = orr_alloc((size_t)bank->count, sizeof *plain);
    for (int e = 0; e < bank->count && plain && n < SR_FACTORS; e++) {
        const struct sr_bank_entry *entry = &bank->entry[e];
        const bool arithmetic = entry->op >= SR_ADD && entry->op <= SR_DIV;
        plain[e] = entry->op == SR_FEATURE || (arithmetic && plain[entry->a] && plain[entry->b]);
        if (plain[e])
            list[n++] = (struct sr_factor){e, -1, SR_MUL, 0};
    }
    free(plain);
    return n;
}

int sr_factors_find(const struct sr_bank *bank, bool divide, struct sr_factor list[SR_FACTORS],
                    int *close)
{
    struct logs *logs = orr_alloc(1, sizeof *logs);
    if (!logs)
        return 0;
    logs_init(logs, bank);
    *close = rank_factors(bank, logs, divide, list);
    free(logs);
    return add_plain(bank, list, *close);
}
