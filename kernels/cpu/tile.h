/* tile.h - private to the cpu backend: small matrix products in registers, for attention.
 *
 * All five products of attention are c (M, N) [+]= a (M, K) b (K, N) with b and c in rows of
 * whole vectors; `a` is read one number at a time with any strides, and may thus be transposed. */
#ifndef K_CPU_TILE_H
#define K_CPU_TILE_H

#include <stdbool.h>
#include <stddef.h>

#include "vec.h"

/* The largest tile of sums that fits in the registers: 24 of 32 (AVX-512), or 12 of 16. */
#if CPU_LANES == 16
#define CPU_TILE_ROWS 8
#else
#define CPU_TILE_ROWS 4
#endif
#define CPU_TILE_VECS 3

struct cpu_tile {
    const float *a;
    size_t a_row, a_k; /* strides of a */
    const float *b;
    size_t b_row;
    float *c;
    size_t c_row;
    int K;
};

/* CPU_TILE_ROWS rows, `vecs` vectors; vecs is a compile-time constant after inlining. */
static inline __attribute__((always_inline)) void cpu_tile_vecs(const struct cpu_tile *t, int first,
                                                                const int vecs, bool add)
{
    cpu_vec sum[CPU_TILE_ROWS][CPU_TILE_VECS];
    float *c = t->c + (size_t)first * CPU_LANES;
    const float *a = t->a, *b = t->b + (size_t)first * CPU_LANES;
    const size_t a_row = t->a_row, a_k = t->a_k, b_row = t->b_row, c_row = t->c_row;
#pragma GCC unroll 8
    for (int r = 0; r < CPU_TILE_ROWS; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            sum[r][v] = add ? cpu_load(c + (size_t)r * c_row + (size_t)v * CPU_LANES) : cpu_set(0);
    for (int k = t->K; k > 0; k--, a += a_k, b += b_row) {
        cpu_vec row[CPU_TILE_VECS];
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            row[v] = cpu_load(b + v * CPU_LANES);
#pragma GCC unroll 8
        for (int r = 0; r < CPU_TILE_ROWS; r++) {
            const cpu_vec x = cpu_set(a[(size_t)r * a_row]);
#pragma GCC unroll 3
            for (int v = 0; v < vecs; v++)
                sum[r][v] = cpu_fma(x, row[v], sum[r][v]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < CPU_TILE_ROWS; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            cpu_store(c + (size_t)r * c_row + (size_t)v * CPU_LANES, sum[r][v]);
}

/* CPU_TILE_ROWS rows of c over vectors [first, end). */
static inline void cpu_tile_run(const struct cpu_tile *t, int first, int end, bool add)
{
    while (first < end) {
        const int left = end - first;
        if (left == 1) {
            cpu_tile_vecs(t, first, 1, add);
            return;
        }
        if (left == 2 || left == 4) {
            cpu_tile_vecs(t, first, 2, add);
            first += 2;
        } else {
            cpu_tile_vecs(t, first, 3, add);
            first += 3;
        }
    }
}

/* to (cols, to_row) = from (rows, from_row) transposed; rows and cols whole vectors. Square blocks
 * are transposed in registers by exchanging halves of growing size. */
static inline void cpu_transpose(float *to, size_t to_row, const float *from, size_t from_row,
                                 int rows, int cols)
{
    cpu_ivec lane = {0};
    for (int i = 0; i < CPU_LANES; i++)
        lane[i] = i;
    for (int r0 = 0; r0 < rows; r0 += CPU_LANES) {
        for (int c0 = 0; c0 < cols; c0 += CPU_LANES) {
            cpu_vec x[CPU_LANES];
#pragma GCC unroll 16
            for (int r = 0; r < CPU_LANES; r++)
                x[r] = cpu_load(from + (size_t)(r0 + r) * from_row + c0);
#pragma GCC unroll 4
            for (int step = 1; step < CPU_LANES; step *= 2) {
                const cpu_ivec odd = (cpu_ivec)((lane & step) != 0);
                const cpu_ivec low = lane + (odd & (CPU_LANES - step));
                const cpu_ivec high = lane + step + (odd & (CPU_LANES - step));
#pragma GCC unroll 16
                for (int r = 0; r < CPU_LANES; r++) {
                    if (r & step)
                        continue;
                    const cpu_vec a = x[r], b = x[r + step];
                    x[r] = cpu_shuffle(a, b, low);
                    x[r + step] = cpu_shuffle(a, b, high);
                }
            }
#pragma GCC unroll 16
            for (int r = 0; r < CPU_LANES; r++)
                cpu_store(to + (size_t)(c0 + r) * to_row + r0, x[r]);
        }
    }
}

#endif
