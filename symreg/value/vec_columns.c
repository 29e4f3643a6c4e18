/* vec_columns.c - stores one or two unary operators of every feature for a table. Expressions such
 * as exp(r) or inv(sqrt(r)) occur in most formulas, and a search needs them millions of times. The
 * first thread that needs a column computes it; until it is ready, other threads evaluate without
 * it, with the same bits. */
#include <stdatomic.h>
#include <stdlib.h>

#include "vec.h"

enum { UNARY = SR_OPS - SR_UNARY };
/* A column that is made has the state MADE plus what was found. */
enum state { NOTHING, BEING_MADE, MADE };

struct sr_columns {
    bool pairs; /* combinations of two operators are stored, too */
    double *value;
    /* (1 + UNARY, UNARY, features): inner operator or none, outer operator, feature */
    _Atomic unsigned char *state;
};

int sr_columns_init(struct sr_loss *loss)
{
    const struct sr_data *data = loss->data;
    const size_t most = (size_t)32 << 20, single = UNARY * (size_t)data->features;
    loss->columns = NULL;
    if (single == 0 || data->rows == 0 || data->rows > most / sizeof(double) / single)
        return 0;
    const bool pairs = data->rows <= most / sizeof(double) / (single * (1 + UNARY));
    const size_t columns = pairs ? single * (1 + UNARY) : single;
    const size_t bytes = (columns * data->rows * sizeof(double) + 63) / 64 * 64;
    struct sr_columns *c = loss->columns = orr_alloc(1, sizeof *c);
    if (!c)
        return ORR_ENOMEM;
    c->pairs = pairs;
    c->state = orr_alloc(columns, sizeof *c->state);
    c->value = aligned_alloc(64, bytes); /* not zeroed, as most columns are never used */
    if (c->state && c->value)
        return 0;
    sr_columns_free(loss);
    return ORR_FAIL(ORR_ENOMEM, "out of memory: %zu bytes", bytes);
}

void sr_columns_free(struct sr_loss *loss)
{
    if (loss->columns) {
        free(loss->columns->value);
        free((void *)loss->columns->state);
    }
    free(loss->columns);
    loss->columns = NULL;
}

static enum sr_found compute_column(int op, const double *x, size_t rows, double *out)
{
    enum sr_found found = SR_FINITE;
    for (size_t first = 0; first < rows && found != SR_UNDEFINED; first += SR_TILE) {
        const size_t left = rows - first;
        const int n = left < SR_TILE ? (int)left : SR_TILE;
        const bool finite = sr_op_apply(NULL, (enum sr_op)op, n, x + first, x + first, out + first);
        const enum sr_found here = sr_found_in(finite, n, out + first);
        found = here < found ? here : found;
    }
    return found;
}

const double *sr_columns_find(const struct sr_loss *loss, int feature, int inner, int outer,
                              const double *x, enum sr_found *found)
{
    const struct sr_columns *c = loss->columns;
    const size_t rows = loss->data->rows;
    if (!c || (inner && (!c->pairs || sr_op_table[outer].traits & SR_CHEAP)))
        return NULL;
    const size_t before = inner ? 1 + (size_t)(inner - SR_UNARY) : 0;
    const size_t index =
        (before * UNARY + (size_t)(outer - SR_UNARY)) * (size_t)loss->data->features +
        (size_t)feature;
    double *out = c->value + index * rows;
    unsigned char state = atomic_load_explicit(&c->state[index], memory_order_acquire);
    if (state == NOTHING && atomic_compare_exchange_strong(&c->state[index], &state, BEING_MADE)) {
        state = (unsigned char)(MADE + compute_column(outer, x, rows, out));
        atomic_store_explicit(&c->state[index], state, memory_order_release);
    }
    if (state < MADE)
        return NULL;
    *found = (enum sr_found)(state - MADE);
    return out;
}
