/* symmetric.h - private to the cpu backend: products of small matrices in registers (tile.h), where
 * the result is known to be symmetric only half of it. */
#ifndef K_CPU_SYMMETRIC_H
#define K_CPU_SYMMETRIC_H

#include "tile.h"

/* Up to here half of a product in registers is faster than all of it by oneDNN, which blocks for
 * caches: by 1.4 at r = 768 on an AMD EPYC. */
enum { K_CPU_SYMMETRIC_MOST = 1024 };

/* Whether matrices (rows, cols) consist of whole tiles and vectors. */
static inline bool k_cpu_symmetric_fits(int rows, int cols)
{
    return rows % CPU_TILE_ROWS == 0 && rows % CPU_LANES == 0 && cols % CPU_TILE_ROWS == 0 &&
           cols % CPU_LANES == 0;
}

/* c (rows, cols) = a (rows, K) b (K, cols); b and c contiguous. */
static inline void k_cpu_tiles(float *c, int rows, int cols, const float *a, const float *b, int K)
{
    for (int i = 0; i < rows; i += CPU_TILE_ROWS) {
        const struct cpu_tile t = {.a = a + (size_t)i * (size_t)K,
                                   .a_row = (size_t)K,
                                   .a_k = 1,
                                   .b = b,
                                   .b_row = (size_t)cols,
                                   .c = c + (size_t)i * (size_t)cols,
                                   .c_row = (size_t)cols,
                                   .K = K};
        cpu_tile_run(&t, 0, cols / CPU_LANES, false);
    }
}

/* c (r, r) = a^T b of a, b (K, r), where that is symmetric: b = a, or both are symmetric and
 * commute. Vectors left of the diagonal and on it are computed, the others are their mirror image.
 */
static inline void k_cpu_symmetric(float *c, int r, const float *a, const float *b, int K)
{
    const size_t row = (size_t)r;
    for (int i = 0; i < r; i += CPU_TILE_ROWS) {
        const struct cpu_tile t = {.a = a + i,
                                   .a_row = 1,
                                   .a_k = row,
                                   .b = b,
                                   .b_row = row,
                                   .c = c + (size_t)i * row,
                                   .c_row = row,
                                   .K = K};
        cpu_tile_run(&t, 0, i / CPU_LANES + 1, false);
    }
    for (int i = CPU_LANES; i < r; i += CPU_LANES)
        cpu_transpose(c + i, row, c + (size_t)i * row, row, CPU_LANES, i);
}

#endif
