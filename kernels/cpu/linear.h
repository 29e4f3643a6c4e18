/* linear.h - private to the cpu backend: how linear layers and the head divide rows into pieces.
 *
 * N rows are divided into full pieces, then powers of two, then the remaining rows. There are
 * few different sizes, so that few multiplications must be planned for any N. */
#ifndef K_CPU_LINEAR_H
#define K_CPU_LINEAR_H

#include "cpu.h"

enum { K_CPU_PIECE_SIZES = 16 }; /* at most this many different piece sizes for one N */

int k_cpu_piece_count(int N, int full);
/* Returns the first row of a piece; *rows = its number of rows. */
int k_cpu_piece_at(int N, int full, int index, int *rows);

/* The multiplications of all piece sizes of one N. */
struct k_cpu_plan {
    int sizes, rows[K_CPU_PIECE_SIZES];
    struct k_cpu_matmul *matmul[K_CPU_PIECE_SIZES];
    size_t scratch_bytes;
};
/* Rows are M of forward products and K of weight gradients (a transposed). */
int k_cpu_plan_make(struct k_cpu_plan *plan, int N, int full,
                    const struct k_cpu_matmul_shape *shape);
struct k_cpu_matmul *k_cpu_plan_matmul(const struct k_cpu_plan *plan, int rows);

/* Whether a layer multiplies in bf16: allowed by open(), supported in hardware, and wide enough
 * to gain. */
bool k_cpu_rounds(int C, int OC);
/* Rounds n floats to bf16, to nearest even. */
void k_cpu_bf16_round(uint16_t *to, const float *from, size_t n);
/* Adds the columns of x (rows, C) to sum (C), rows in order. */
void k_cpu_column_sums(float *sum, const float *x, int rows, int C);
/* Adds the partial sums of all groups to `to` (n), in order. */
void k_cpu_add_groups(float *to, const float *part, int groups, size_t n);

/* Whether a layer is wide both ways, which selects packed operands (linear_backward.c). */
bool k_cpu_is_wide(int C, int OC);
int k_cpu_wide_backward(const struct k_linear *layer, bool bf16);

/* Number of rows that one product of a weight gradient sums over. */
enum { K_CPU_CHUNK = 2048 };
/* Adds dout^T inp over `rows` rows to dw (OC, C). a is dout in blocks of columns
 * (k_cpu_weights_take), b is inp, packed (rows, C). k_cpu_weights_run needs scratch_bytes for
 * each thread. */
struct k_cpu_weights {
    int rows, C, OC;
    bool bf16;
    struct k_cpu_matmul *full, *rest;
    size_t scratch_bytes;
};
int k_cpu_weights_make(struct k_cpu_weights *weights, int rows, int C, int OC, bool bf16);
/* Stores n rows of dout, from row `at` of the chunk, into a; dout is float or bf16 as the layer
 * is. */
void k_cpu_weights_take(const struct k_cpu_weights *weights, void *a, const void *dout, size_t at,
                        size_t n);
int k_cpu_weights_run(const struct k_cpu_weights *weights, float *dw, const void *a, const void *b);

#endif
