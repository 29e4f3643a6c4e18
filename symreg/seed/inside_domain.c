/* inside_domain.c - looks for seeds on the rows inside the domain of a table.
 *
 * In a few rows a column or the target is exactly 0, as temperatures, concentrations and the first
 * of a series are. There logarithms and reciprocals, by which the stages turn a law into a sum or a
 * product, are infinite, and one row would end them: 3.5 exp(-1500 / T) is a line in log(y) and
 * 1 / T but for T = 0. Seeds are therefore sought without these rows, and judged on all. */
#include "seed.h"
#include "shared.h"

#include <omp.h>
#include <stdlib.h>

#include "base/stop.h"

enum {
    LEAST_ROWS = 20,   /* of fewer rows none is left out */
    MOST_ROWS = 65536, /* larger tables are not copied */
    ONE_IN = 20        /* at most so many rows, of each column, are left out */
};

/* Lists the rows in which no rarely vanishing column is 0; returns how many, or all where nothing
 * is to be left out. */
static size_t list_inside(const struct sr_data *data, size_t *row)
{
    const double *rare[SR_FEATURES + 1];
    int n = 0;
    size_t count = 0;
    for (int f = 0; f <= data->features; f++) {
        rare[n] = f < data->features ? data->x + (size_t)f * data->rows : data->y;
        size_t zeros = 0;
        for (size_t i = 0; i < data->rows; i++)
            zeros += rare[n][i] == 0;
        n += zeros && zeros <= data->rows / ONE_IN;
    }
    for (size_t i = 0; i < data->rows; i++) {
        bool inside = true;
        for (int k = 0; k < n && inside; k++)
            inside = rare[k][i] != 0;
        row[count] = i;
        count += inside;
    }
    return count >= LEAST_ROWS && count >= data->rows - data->rows / 4 ? count : data->rows;
}

int sr_seeds_inside(sr_seeds_function *find, const struct sr_settings *settings,
                    const struct sr_loss *loss, struct sr_limit limit, struct sr_thread *thread,
                    int threads, struct sr_seeds *seeds)
{
    const struct sr_data *data = loss->data;
    struct sr_data inside = {0};
    struct sr_loss own = {0};
    double *storage = NULL;
    size_t *row = orr_alloc(data->rows, sizeof *row);
    if (!row)
        return ORR_ENOMEM;
    const size_t count = data->rows <= MOST_ROWS ? list_inside(data, row) : data->rows;
    int rc = 0;
    if (count == data->rows) {
        rc = find(settings, loss, limit, thread, threads, seeds);
    } else {
        rc = sr_rows_take(data, count, row, &inside, &storage);
        inside.digits = data->digits;
        rc = rc ? rc : sr_loss_init_like(&own, loss, &inside);
        rc = rc ? rc : find(settings, &own, limit, thread, threads, seeds);
        seeds->count = rc ? 0 : seeds->count;
        sr_loss_free(&own);
        /* the losses on all rows, infinite where one left out has no value */
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) copyin(orr_stop_of_call)
        for (int i = 0; i < seeds->count; i++) {
            struct sr_work *work = &thread[omp_get_thread_num()].work;
            double scale;
            seeds->loss[i] = sr_eval_loss(&seeds->expr[i], loss, work, &scale);
        }
    }
    free(storage);
    free(row);
    return rc;
}
