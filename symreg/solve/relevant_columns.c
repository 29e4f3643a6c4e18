/* relevant_columns.c - chooses the columns most related to the target.
 *
 * The rows are sorted by a column and divided into bins. The share of variance between bins
 * measures how much the column alone predicts, for two quantities: the target's rank, and the
 * distance of the rank from the middle. The second detects factors whose mean is 0, which do not
 * change the target's mean. */
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>

#include "solve.h"

enum { BINS = 16, MOST_ROWS = 4096 };

/* Arrays of the rows used. */
struct view {
    size_t rows;
    double *x, *rank, *middle; /* (rows) the column; the target's ranks; their distance from 1/2 */
    size_t *order;             /* (rows) */
};

static double value_at(const struct orr_csv *csv, const struct view *v, size_t row, int column)
{
    return csv->values[row * csv->rows / v->rows * csv->cols + (size_t)column];
}

/* Share of the variance that lies between the bins of the sorted rows. */
static double variance_between(const struct view *v, const double *y)
{
    double mean = 0, all = 0, bins = 0;
    for (size_t i = 0; i < v->rows; i++)
        mean += y[i] / (double)v->rows;
    for (size_t b = 0; b < BINS; b++) {
        const size_t first = b * v->rows / BINS, last = (b + 1) * v->rows / BINS;
        double sum = 0;
        for (size_t i = first; i < last; i++) {
            const double off = y[v->order[i]] - mean;
            sum += off;
            all += off * off;
        }
        bins += last > first ? sum * sum / (double)(last - first) : 0;
    }
    return all > 0 ? bins / all : 0;
}

static double score_of(const struct orr_csv *csv, struct view *v, int column)
{
    for (size_t i = 0; i < v->rows; i++) {
        v->x[i] = value_at(csv, v, i, column);
        if (!isfinite(v->x[i]))
            v->x[i] = 0;
    }
    gsl_sort_index(v->order, v->x, 1, v->rows);
    if (!(v->x[v->order[0]] < v->x[v->order[v->rows - 1]]))
        return 0; /* a constant column */
    return fmax(variance_between(v, v->rank), variance_between(v, v->middle));
}

static void rank_target(const struct orr_csv *csv, struct view *v, int goal)
{
    for (size_t i = 0; i < v->rows; i++)
        v->x[i] = value_at(csv, v, i, goal);
    gsl_sort_index(v->order, v->x, 1, v->rows);
    for (size_t i = 0; i < v->rows; i++) {
        v->rank[v->order[i]] = ((double)i + 0.5) / (double)v->rows;
        v->middle[v->order[i]] = fabs(v->rank[v->order[i]] - 0.5);
    }
}

int sr_table_select(const struct orr_csv *csv, int goal, int most, const int *wanted,
                    int wanted_count, int *column, int *count)
{
    struct view v = {.rows = csv->rows < MOST_ROWS ? csv->rows : MOST_ROWS};
    double *score = orr_alloc((size_t)*count, sizeof *score);
    size_t *best = orr_alloc((size_t)*count, sizeof *best);
    v.x = orr_alloc(3 * v.rows, sizeof *v.x);
    v.order = orr_alloc(v.rows, sizeof *v.order);
    const bool there = score && best && v.x && v.order;
    if (there) {
        v.rank = v.x + v.rows;
        v.middle = v.rank + v.rows;
        rank_target(csv, &v, goal);
        for (int c = 0; c < *count; c++) {
            score[c] = -score_of(csv, &v, column[c]);
            for (int k = 0; k < wanted_count; k++)
                if (wanted[k] == column[c])
                    score[c] = -2; /* a share of the variance is at most 1 */
        }
        gsl_sort_index(best, score, 1, (size_t)*count);
        const double least = score[best[most - 1]];
        int kept = 0, ties = most;
        for (int c = 0; c < *count; c++)
            ties -= score[c] < least;
        for (int c = 0; c < *count; c++) /* in the order of the table; ties go to the first */
            if (score[c] < least || (score[c] <= least && ties-- > 0))
                column[kept++] = column[c];
        *count = kept;
    }
    free(score);
    free(best);
    free(v.x);
    free(v.order);
    return there ? 0 : ORR_ENOMEM;
}
