/* vec_screen.c - the loss of a formula on few rows, drawn evenly over the order of the targets. */
#include "vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

/* Copies the rows that stand in the middle of `rows` equal parts of the order of y. */
static void draw(const struct sr_data *from, const double *weights, size_t rows,
                 const size_t *order, struct sr_screen *screen)
{
    double *x = screen->storage, *y = x + (size_t)from->features * rows, *weight = y + rows;
    for (size_t k = 0; k < rows; k++) {
        const size_t i = order[(2 * k + 1) * from->rows / (2 * rows)];
        for (size_t f = 0; f < (size_t)from->features; f++)
            x[f * rows + k] = from->x[f * from->rows + i];
        y[k] = from->y[i];
        weight[k] = weights ? weights[i] : 1;
        screen->loss.total += from->weight ? from->weight[i] : 1;
    }
    screen->data = (struct sr_data){
        .rows = rows, .features = from->features, .x = x, .y = y, .language = from->language};
    screen->loss.weight = weights ? weight : NULL;
    screen->loss.data = &screen->data;
}

int sr_screen_init(struct sr_screen *screen, const struct sr_loss *loss)
{
    const struct sr_data *from = loss->data;
    const size_t rows = from->rows < 4 * SR_SCREEN_ROWS ? from->rows : SR_SCREEN_ROWS;
    *screen = (struct sr_screen){.loss = *loss};
    screen->loss.weight = NULL;
    screen->loss.columns = NULL;
    screen->loss.total = 0;
    screen->storage = orr_alloc(((size_t)from->features + 2) * rows, sizeof(double));
    size_t *order = orr_alloc(from->rows, sizeof *order);
    if (!screen->storage || !order) {
        free(order);
        sr_screen_free(screen);
        return ORR_ENOMEM;
    }
    gsl_sort_index(order, from->y, 1, from->rows);
    draw(from, loss->weight, rows, order, screen);
    free(order);
    const int rc = sr_columns_init(&screen->loss);
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
    struct sr_loss loss = screen->loss; /* the screen may have been moved */
    loss.data = &screen->data;
    if (!(loss.total > 0))
        return 0;
    double scale;
    return sr_eval_loss(expr, &loss, work, &scale);
}
