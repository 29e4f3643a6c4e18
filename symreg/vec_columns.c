/* vec_columns.c - every unary operator of every feature, computed once for a table: exp(r) and its
 * like stand in most formulas, and a search asks for them millions of times. */
#include <stdlib.h>

#include "vec.h"

enum { UNARY = SR_OPS - SR_NEG }; /* the unary operators are the last of the list */

int sr_columns_init(struct sr_loss *loss)
{
    const struct sr_data *data = loss->data;
    const size_t most = (size_t)16 << 20, columns = UNARY * (size_t)data->features;
    if (columns == 0 || data->rows == 0 || data->rows > most / sizeof(double) / columns)
        return 0;
    loss->column = orr_alloc(columns * data->rows, sizeof *loss->column);
    loss->column_finite = orr_alloc(columns, sizeof *loss->column_finite);
    if (!loss->column || !loss->column_finite) {
        sr_columns_free(loss);
        return ORR_ENOMEM;
    }
    for (int op = SR_NEG; op < SR_OPS; op++)
        for (int f = 0; f < data->features; f++) {
            const size_t index = sr_column_index(loss, op, f);
            const double *x = data->x + (size_t)f * data->rows;
            double *out = loss->column + index * data->rows;
            bool finite = true;
            for (size_t first = 0; first < data->rows && finite; first += SR_TILE) {
                const size_t left = data->rows - first;
                finite = sr_op_apply((enum sr_op)op, left < SR_TILE ? (int)left : SR_TILE,
                                     x + first, x + first, out + first);
            }
            loss->column_finite[index] = finite;
        }
    return 0;
}

void sr_columns_free(struct sr_loss *loss)
{
    free(loss->column);
    free(loss->column_finite);
    loss->column = NULL;
    loss->column_finite = NULL;
}
