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

/* Marks the rows in which a rarely vanishing column is 0. */
static void mark_column(const double *column, size_t rows, bool *edge)
{
    size_t zeros = 0;
    for (size_t i = 0; i < rows; i++)
        zeros += column[i] == 0;
    for (size_t i = 0; i < rows && zeros <= rows / ONE_IN; i++)
        edge[i] = edge[i] || column[i] == 0;
}

/* Lists the rows inside; returns how many, or all where nothing is to be left out. */
static size_t list_inside(const struct sr_data *data, bool *edge, size_t *row)
{
    size_t count = 0;
    for (int f = 0; f < data->features; f++)
        mark_column(data->x + (size_t)f * data->rows, data->rows, edge);
    mark_column(data->y, data->rows, edge);
    for (size_t i = 0; i < data->rows; i++)
        if (!edge[i])
            row[count++] = i;
    return count >= LEAST_ROWS && count >= data->rows - data->rows / 4 ? count : data->rows;
}

/* The losses of the seeds on all rows; infinite where one has no value in a row left out. */
static void judge_seeds(const struct sr_loss *loss, struct sr_thread *thread, int threads,
                        struct sr_seeds *seeds)
{
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) copyin(orr_stop_of_call)
    for (int i = 0; i < seeds->count; i++) {
        double scale;
        seeds->loss[i] =
            sr_eval_loss(&seeds->expr[i], loss, &thread[omp_get_thread_num()].work, &scale);
    }
}

int sr_seeds_inside(sr_seeds_function *find, const struct sr_settings *settings,
                    const struct sr_loss *loss, struct sr_limit limit, struct sr_thread *thread,
                    int threads, struct sr_seeds *seeds)
{
    const struct sr_data *data = loss->data;
    struct sr_data inside = {0};
    struct sr_loss own = {0};
    double *storage = NULL;
    bool *edge = orr_alloc(data->rows, sizeof *edge);
    size_t *row = orr_alloc(data->rows, sizeof *row), count = data->rows;
    int rc = edge && row ? 0 : ORR_ENOMEM;
    if (!rc && data->rows <= MOST_ROWS)
        count = list_inside(data, edge, row);
    if (!rc && count == data->rows) {
        rc = find(settings, loss, limit, thread, threads, seeds);
    } else if (!rc) {
        rc = sr_rows_take(data, count, row, &inside, &storage);
        inside.digits = data->digits;
        rc = rc ? rc : sr_loss_init_like(&own, loss, &inside);
        rc = rc ? rc : find(settings, &own, limit, thread, threads, seeds);
        if (!rc)
            judge_seeds(loss, thread, threads, seeds);
        sr_loss_free(&own);
    }
    free(storage);
    free(row);
    free(edge);
    return rc;
}
