/* factors.c - ranks small formulas, and products and quotients of two, as factors of y. */
#include "sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

enum { PRODUCTS = 2500 }; /* formulas combined into products and quotients */

/* Centred logarithms of y and of the bank's first formulas. */
struct logs {
    int count, index[PRODUCTS];
    float y[SR_ROWS], value[PRODUCTS][SR_ROWS], with_y[PRODUCTS], square[PRODUCTS];
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
    for (int e = 0; e < bank->count && logs->count < PRODUCTS; e++) {
        const int n = logs->count;
        if (bank->entry[e].constants || !take_logarithms(bank->value[e], logs->value[n]))
            continue;
        logs->with_y[n] = vec->dot_rows(logs->value[n], logs->y);
        logs->square[n] = vec->dot_rows(logs->value[n], logs->value[n]);
        logs->index[n] = e;
        logs->count++;
    }
}

/* Entry a of the bank or, with b >= 0, its product with or quotient by b. */
struct made {
    double score;
    int a, b;
    enum sr_op op;
};

static void keep_factor(struct made list[SR_CLOSE], int *n, double score, int a, int b,
                        enum sr_op op)
{
    const struct made item = {score, a, b, op};
    if (*n < SR_CLOSE || score < list[SR_CLOSE - 1].score)
        sr_best_insert(list, sizeof item, n, SR_CLOSE, &item);
}

/* Lists the formulas without constants, and products and quotients of two, with the smallest
 * variance of log(y / h), which a penalty per node enlarges. */
static int rank_factors(const struct sr_bank *bank, const struct logs *logs, bool divide,
                        struct made list[SR_CLOSE])
{
    int n = 0;
    const struct sr_vec *vec = sr_vec_best();
    const double yy = (double)vec->dot_rows(logs->y, logs->y), price = 0.1;
    for (int a = 0; a < logs->count; a++) {
        const int of_a = logs->index[a], size = bank->entry[of_a].size;
        const double rest = (double)(logs->square[a] - 2 * logs->with_y[a]) + yy;
        keep_factor(list, &n, rest * (1 + price * size), of_a, -1, SR_MUL);
        for (int b = 0; b < a && size > 1; b++) {
            const int of_b = logs->index[b];
            const double c = (double)vec->dot_rows(logs->value[a], logs->value[b]);
            const double sum = rest + (double)(logs->square[b]), w = (double)logs->with_y[b];
            const double more = 1 + price * (size + 1 + bank->entry[of_b].size);
            keep_factor(list, &n, (sum + 2 * c - 2 * w) * more, of_a, of_b, SR_MUL);
            if (divide)
                keep_factor(list, &n, (sum - 2 * c + 2 * w) * more, of_a, of_b, SR_DIV);
        }
    }
    return n;
}

static void write_factor(const struct sr_bank *bank, const struct made *made, struct sr_factor *h)
{
    memcpy(h->value, bank->value[made->a], sizeof h->value);
    h->expr.count = 0;
    sr_bank_put(bank, made->a, &h->expr);
    if (made->b >= 0) {
        sr_op_apply(NULL, made->op, SR_ROWS, h->value, bank->value[made->b], h->value);
        sr_bank_put(bank, made->b, &h->expr);
        sr_put_op(&h->expr, made->op);
    }
    sr_put_end(bank->settings->language, &h->expr, SR_NODES);
}

int sr_factors_find(const struct sr_bank *bank, bool divide, struct sr_factor list[SR_FACTORS],
                    int *close)
{
    const uint64_t plain = (uint64_t)1 << SR_FEATURE | (uint64_t)1 << SR_ADD |
                           (uint64_t)1 << SR_SUB | (uint64_t)1 << SR_MUL | (uint64_t)1 << SR_DIV;
    struct logs *logs = orr_alloc(1, sizeof *logs);
    struct made best[SR_CLOSE];
    int n = 1;
    *close = 0;
    list[0].expr.count = 0;
    sr_fill(list[0].value, SR_ROWS, 1);
    if (!logs)
        return n;
    logs_init(logs, bank);
    *close = rank_factors(bank, logs, divide, best);
    for (int k = 0; k < *close; k++)
        write_factor(bank, &best[k], &list[n++]);
    for (int e = 0; e < bank->count && n < SR_FACTORS; e++) {
        write_factor(bank, &(struct made){.a = e, .b = -1}, &list[n]);
        n += !(sr_expr_operators(&list[n].expr) & ~plain);
    }
    free(logs);
    return n;
}
