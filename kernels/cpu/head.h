/* head.h - private to the cpu backend: copies the rows of one head into scratch memory and back.
 *
 * In scratch a row of D numbers is padded with zeros to whole vectors: Dp numbers. */
#ifndef K_CPU_HEAD_H
#define K_CPU_HEAD_H

#include <math.h>
#include <string.h>

#include "kernels/attention.h"
#include "vec.h"

/* Rows are far apart, and hardware prefetchers do not cross page borders: CPU_ROWS_AHEAD rows
 * ahead are prefetched. */
enum { CPU_ROWS_AHEAD = 8 };
static inline void cpu_row_foresee(const float *row, int D)
{
    for (int d = 0; d < D; d += 16)
        __builtin_prefetch(row + d);
}
static inline void cpu_row_foresee_write(float *row, int D)
{
    for (int d = 0; d < D; d += 16)
        __builtin_prefetch(row + d, 1);
}

static inline void cpu_row_load(float *to, const float *from, int D, int Dp)
{
    int d = 0;
    for (; d + CPU_LANES <= D; d += CPU_LANES)
        cpu_store(to + d, cpu_load(from + d));
    if (d < Dp)
        cpu_store(to + d, cpu_load_first(from + d, D - d));
}

/* to (D) = scale from. */
static inline void cpu_row_store(float *to, const float *from, float scale, int D)
{
    int d = 0;
    for (; d + CPU_LANES <= D; d += CPU_LANES)
        cpu_store(to + d, cpu_load(from + d) * scale);
    if (d < D)
        cpu_store_first(to + d, cpu_load(from + d) * scale, D - d);
}

static inline float cpu_row_dot(const float *a, const float *b, int Dp)
{
    cpu_vec sum = {0};
    for (int d = 0; d < Dp; d += CPU_LANES)
        sum = cpu_fma(cpu_load(a + d), cpu_load(b + d), sum);
    return cpu_sum(sum);
}

static inline void cpu_row_scale(float *x, float scale, int Dp)
{
    for (int d = 0; d < Dp; d += CPU_LANES)
        cpu_store(x + d, cpu_load(x + d) * scale);
}

/* to (rows, Dp) = the first `used` rows, `stride` apart; the other rows are zero. */
static inline void cpu_rows_gather(float *to, const float *from, size_t stride, int used, int rows,
                                   int D, int Dp)
{
    for (int t = 0; t < used; t++) {
        if (t + CPU_ROWS_AHEAD < used)
            cpu_row_foresee(from + (size_t)(t + CPU_ROWS_AHEAD) * stride, D);
        cpu_row_load(to + (size_t)t * (size_t)Dp, from + (size_t)t * stride, D, Dp);
    }
    if (used < rows)
        memset(to + (size_t)used * (size_t)Dp, 0, (size_t)(rows - used) * (size_t)Dp * sizeof *to);
}

/* 1 / |x|; 0 for vectors shorter than K_L2_EPSILON. */
static inline float cpu_row_inverse_length(const float *x, int Dp)
{
    const float length = sqrtf(cpu_row_dot(x, x, Dp));
    return length > (float)K_L2_EPSILON ? 1.0f / length : 0.0f;
}

#endif
