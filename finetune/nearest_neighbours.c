/* nearest_neighbours.c - the study's oracles: k nearest neighbours on the true state. */
#include "ft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KNN_MOST = 64 };

struct neighbours {
    int count;
    float distance[KNN_MOST];
    size_t index[KNN_MOST];
};

/* Inserts a distance if it is among the k smallest. Ties go to the lower index, since points
 * come in ascending order. */
static void offer_neighbour(struct neighbours *list, int k, float distance, size_t index)
{
    if (list->count == k && !(distance < list->distance[k - 1]))
        return;
    int at = list->count < k ? list->count++ : k - 1;
    for (; at > 0 && list->distance[at - 1] > distance; at--) {
        list->distance[at] = list->distance[at - 1];
        list->index[at] = list->index[at - 1];
    }
    list->distance[at] = distance;
    list->index[at] = index;
}

/* Finds the k nearest points. Points are stored by column, so that the distances of a block are
 * vectorised. */
static void find_nearest(int k, size_t dims, size_t n, const float *columns, const float *query,
                         struct neighbours *list)
{
    enum { BLOCK = 256 };
    float d[BLOCK];
    list->count = 0;
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        memset(d, 0, sizeof d);
        for (size_t c = 0; c < dims; c++) {
            const float *column = columns + c * n + at, q = query[c];
            for (size_t i = 0; i < count; i++)
                d[i] += (column[i] - q) * (column[i] - q);
        }
        for (size_t i = 0; i < count; i++)
            offer_neighbour(list, k, d[i], at + i);
    }
}

int ft_knn(int k, size_t dims, size_t n, const float *points, size_t cols, const float *values,
           size_t m, const float *queries, float *out)
{
    if (k < 1 || k > KNN_MOST || n < (size_t)k)
        return ORR_FAIL(ORR_EINVAL,
                        "k nearest neighbours: expected 1 <= k <= %d and at least k "
                        "points, found k = %d, %zu points",
                        KNN_MOST, k, n);
    float *columns = orr_alloc(n * dims, sizeof *columns);
    if (!columns)
        return ORR_ENOMEM;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < dims; c++)
            columns[c * n + i] = points[i * dims + c];
#pragma omp parallel for schedule(static)
    for (size_t q = 0; q < m; q++) {
        struct neighbours list;
        find_nearest(k, dims, n, columns, queries + q * dims, &list);
        for (size_t c = 0; c < cols; c++) {
            double sum = 0;
            for (int j = 0; j < k; j++)
                sum += (double)values[list.index[j] * cols + c];
            out[q * cols + c] = (float)(sum / k);
        }
    }
    free(columns);
    return 0;
}

void ft_standardise(size_t dims, size_t n, float *a, size_t m, float *b)
{
    for (size_t c = 0; c < dims; c++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++)
            mean += (double)a[i * dims + c];
        mean /= (double)n;
        for (size_t i = 0; i < n; i++)
            square += ((double)a[i * dims + c] - mean) * ((double)a[i * dims + c] - mean);
        const double std = sqrt(square / (double)n);
        const double scale = std > 0 ? 1 / std : 1;
        for (size_t i = 0; i < n; i++)
            a[i * dims + c] = (float)(((double)a[i * dims + c] - mean) * scale);
        for (size_t i = 0; i < m; i++)
            b[i * dims + c] = (float)(((double)b[i * dims + c] - mean) * scale);
    }
}
