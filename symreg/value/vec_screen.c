/* vec_screen.c - estimates the loss of a formula on a few rows, drawn evenly over the order of the
 * targets. */
#include "vec.h"

#include <stdlib.h>

#include <gsl/gsl_sort.h>

int sr_rows_take(const struct sr_data *all, size_t rows, const size_t *row, struct sr_data *sample,
                 double **storage)
{
    const size_t features = (size_t)all->features;
    double *x = *storage = orr_alloc((features + (all->low ? 4 : 2)) * rows, sizeof *x);
    if (!x)
        return ORR_ENOMEM;
    double *y = x + features * rows, *weight = y + rows, *low = weight + rows, *high = low + rows;
    for (size_t i = 0; i < rows; i++) {
        const size_t at = row ? row[i] : i * all->rows / rows;
        for (size_t f = 0; f < features; f++)
            x[f * rows + i] = all->x[f * all->rows + at];
        y[i] = all->y[at];
        weight[i] = all->weight ? all->weight[at] : 1;
        if (all->low) {
            low[i] = all->low[at];
            high[i] = all->high[at];
        }
    }
    *sample = (struct sr_data){.rows = rows,
                               .features = all->features,
                               .x = x,
                               .y = y,
                               .weight = all->weight ? weight : NULL,
                               .low = all->low ? low : NULL,
                               .high = all->low ? high : NULL,
                               .language = all->language};
    return 0;
}

int sr_screen_init(struct sr_screen *screen, const struct sr_loss *loss)
{
    const struct sr_data *from = loss->data;
    const size_t rows = from->rows < 4 * SR_SCREEN_ROWS ? from->rows : SR_SCREEN_ROWS;
    *screen = (struct sr_screen){.loss = *loss};
    screen->loss.weight = NULL;
    screen->loss.columns = NULL;
    screen->loss.total = 0;
    size_t *order = orr_alloc(from->rows, sizeof *order);
    int rc = order ? 0 : ORR_ENOMEM;
    if (!rc) {
        gsl_sort_index(order, from->y, 1, from->rows);
        for (size_t k = 0; k < rows; k++) /* the middle of equal parts of the order of y */
            order[k] = order[(2 * k + 1) * from->rows / (2 * rows)];
        rc = sr_rows_take(from, rows, order, &screen->data, &screen->storage);
    }
    if (!rc) {
        double *weight = screen->storage + ((size_t)from->features + 1) * rows;
        for (size_t k = 0; k < rows; k++) {
            weight[k] = loss->weight ? loss->weight[order[k]] : 1;
            screen->loss.total += sr_row_weight(from, order[k]);
        }
        screen->loss.weight = loss->weight ? weight : NULL;
        screen->loss.data = &screen->data;
        screen->data.weight = NULL;
        rc = sr_columns_init(&screen->loss);
    }
    free(order);
    if (rc)
        sr_screen_free(screen);
    return rc;
}

void sr_screen_free(struct sr_screen *screen)
{
    free(screen->storage);
    sr_columns_free(&screen->loss);
    *screen = (struct sr_screen){0};
}

double sr_screen_loss(const struct sr_screen *screen, const struct sr_expr *expr,
                      struct sr_work *work)
{
    struct sr_loss loss = screen->loss; /* a copy, as the screen may have been moved */
    loss.data = &screen->data;
    if (!(loss.total > 0))
        return 0;
    double scale;
    return sr_eval_loss(expr, &loss, work, &scale);
}
