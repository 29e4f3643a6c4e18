/* linear_backward.c - the backward pass of linear layers that are wide both ways.
 *
 * Rows come in chunks. Within a chunk, pieces of rows are rounded, multiplied by the packed
 * weights and finished while they are in cache (GELU's slope, column sums); then the gradient of
 * the weights is computed in blocks of outputs, each by one sum over all rows of the chunk,
 * directly into dw. Neither division depends on the number of threads, so the assignment of
 * tasks to workers does not change results. */
#include <string.h>

#include "base/base.h"
#include "linear.h"

enum {
    WIDE_LEAST = 192, /* least number of inputs and of outputs */
    ROWS = 128,       /* rows of a piece */
    OUTPUTS = 128,    /* outputs of a block of dw */
};

bool k_cpu_is_wide(int C, int OC)
{
    return C >= WIDE_LEAST && OC >= WIDE_LEAST;
}

/* ---- gradients of weights */

int k_cpu_weights_make(struct k_cpu_weights *weights, int rows, int C, int OC, bool bf16)
{
    *weights = (struct k_cpu_weights){.rows = rows, .C = C, .OC = OC, .bf16 = bf16};
    struct k_cpu_matmul_shape shape = {.M = OUTPUTS,
                                       .N = C,
                                       .K = rows,
                                       .a_transposed = true,
                                       .b_packed = true,
                                       .bf16 = bf16,
                                       .accumulate = true};
    TRY(OC >= OUTPUTS ? k_cpu_matmul_find(&shape, &weights->full) : 0);
    shape.M = OC % OUTPUTS;
    if (shape.M > 0)
        TRY(k_cpu_matmul_find(&shape, &weights->rest));
    if (weights->full)
        weights->scratch_bytes = k_cpu_matmul_scratch(weights->full);
    if (weights->rest && k_cpu_matmul_scratch(weights->rest) > weights->scratch_bytes)
        weights->scratch_bytes = k_cpu_matmul_scratch(weights->rest);
    return 0;
}

/* Stores column block after column block, each (rows, its columns) and dense: oneDNN has no fast
 * way to multiply a transposed operand whose rows are not adjacent. */
void k_cpu_weights_take(const struct k_cpu_weights *weights, void *a, const void *dout, size_t at,
                        size_t n)
{
    const size_t item = weights->bf16 ? sizeof(uint16_t) : sizeof(float);
    const size_t OC = (size_t)weights->OC, rows = (size_t)weights->rows;
    for (size_t first = 0; first < OC; first += OUTPUTS) {
        const size_t width = first + OUTPUTS <= OC ? OUTPUTS : OC - first;
        char *to = (char *)a + (first * rows + at * width) * item;
        const char *from = (const char *)dout + first * item;
        for (size_t r = 0; r < n; r++)
            memcpy(to + r * width * item, from + r * OC * item, width * item);
    }
}

int k_cpu_weights_run(const struct k_cpu_weights *weights, float *dw, const void *a, const void *b)
{
    const size_t item = weights->bf16 ? sizeof(uint16_t) : sizeof(float);
    const size_t rows = (size_t)weights->rows;
    const int OC = weights->OC;
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(k_cpu_threads()) reduction(| : failed)
    for (int first = 0; first < OC; first += OUTPUTS) {
        struct k_cpu_matmul *matmul = first + OUTPUTS <= OC ? weights->full : weights->rest;
        failed |= k_cpu_matmul_run(matmul, dw + (size_t)first * (size_t)weights->C,
                                   (const char *)a + (size_t)first * rows * item, b, NULL,
                                   k_cpu_scratch_local());
    }
    return failed ? ORR_FAIL(ORR_EDEVICE, "oneDNN failed in a weight gradient of %d x %d", OC,
                             weights->C)
                  : 0;
}

/* ---- the backward pass */

struct wide {
    const struct k_linear *g;
    bool bf16;
    struct k_cpu_pack *w_pack, *inp_pack;
    struct k_cpu_plan plan;
    struct k_cpu_weights weights;
    size_t scratch_bytes;
    /* in shared scratch */
    void *w_packed, *inp_packed;
    void *dout;     /* dout of the chunk, in blocks of columns */
    float *db_part; /* (pieces, OC) */
};

/* Plans and scratch memory for chunks of `rows` rows. */
static int wide_prepare(struct wide *d, int rows)
{
    const struct k_linear *g = d->g;
    const size_t OC = (size_t)g->OC;
    const struct k_cpu_matmul_shape shape = {
        .N = g->C, .K = g->OC, .b_packed = true, .bf16 = d->bf16};
    const int pieces = k_cpu_piece_count(rows, ROWS);
    if (g->dinp) {
        TRY(k_cpu_pack_find(g->OC, g->C, d->bf16, &d->w_pack));
        TRY(k_cpu_plan_make(&d->plan, rows, ROWS, &shape));
    }
    if (g->dw) {
        TRY(k_cpu_pack_find(rows, g->C, d->bf16, &d->inp_pack));
        TRY(k_cpu_weights_make(&d->weights, rows, g->C, g->OC, d->bf16));
    }
    size_t local = d->plan.scratch_bytes;
    if (d->weights.scratch_bytes > local)
        local = d->weights.scratch_bytes;
    const size_t w = g->dinp ? k_cpu_lines(k_cpu_pack_bytes(d->w_pack)) : 0;
    const size_t inp = g->dw ? k_cpu_lines(k_cpu_pack_bytes(d->inp_pack)) : 0;
    const size_t item = d->bf16 ? sizeof(uint16_t) : sizeof(float);
    const size_t dout = g->dw ? k_cpu_lines(item * (size_t)rows * OC) : 0;
    const size_t db = g->db ? sizeof(float) * (size_t)pieces * OC : 0;
    d->scratch_bytes = k_cpu_lines(local);
    local = d->scratch_bytes + (d->bf16 ? sizeof(uint16_t) * ROWS * OC : 0);
    TRY(k_cpu_scratch_reserve(w + inp + dout + db, local));
    char *shared = k_cpu_scratch_shared();
    d->w_packed = shared;
    d->inp_packed = shared + w;
    d->dout = shared + w + inp;
    d->db_part = (float *)(void *)(shared + w + inp + dout);
    return 0;
}

/* Rows at .. at + rows of the layer, piece `index` of the chunk that starts at `start`. */
static int wide_piece(const struct wide *d, size_t start, int index, size_t at, int rows)
{
    const struct k_linear *g = d->g;
    const size_t C = (size_t)g->C, OC = (size_t)g->OC, n = (size_t)rows;
    const float *from = g->dout + at * OC;
    const void *dout = from;
    if (d->bf16) {
        uint16_t *rounded = (uint16_t *)(void *)((char *)k_cpu_scratch_local() + d->scratch_bytes);
        k_cpu_bf16_round(rounded, from, n * OC);
        dout = rounded;
    }
    if (g->dw)
        k_cpu_weights_take(&d->weights, d->dout, dout, at - start, n);
    if (g->db) {
        float *part = d->db_part + (size_t)index * OC;
        memset(part, 0, OC * sizeof *part);
        k_cpu_column_sums(part, from, rows, g->OC);
    }
    if (!g->dinp)
        return 0;
    float *dinp = g->dinp + at * C;
    const int failed = k_cpu_matmul_run(k_cpu_plan_matmul(&d->plan, rows), dinp, dout, d->w_packed,
                                        NULL, k_cpu_scratch_local());
    if (g->inp_pre)
        k_cpu_gelu_backward_piece(dinp, dinp, g->inp_pre + at * C, n * C);
    return failed;
}

static int wide_chunk(const struct wide *d, int start, int rows)
{
    const struct k_linear *g = d->g;
    const size_t at = (size_t)start, C = (size_t)g->C, OC = (size_t)g->OC;
    const int pieces = k_cpu_piece_count(rows, ROWS);
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(k_cpu_threads()) reduction(| : failed)
    for (int i = 0; i < pieces; i++) {
        int n;
        const size_t first = at + (size_t)k_cpu_piece_at(rows, ROWS, i, &n);
        failed |= wide_piece(d, at, i, first, n);
    }
    if (failed)
        return ORR_FAIL(ORR_EDEVICE, "oneDNN failed in a linear layer of %d rows, %d -> %d", g->N,
                        g->C, g->OC);
    if (g->db)
        k_cpu_add_groups(g->db, d->db_part, pieces, OC);
    if (!g->dw)
        return 0;
    TRY(k_cpu_pack_run(d->inp_pack, d->inp_packed, g->inp + at * C, false));
    return k_cpu_weights_run(&d->weights, g->dw, d->dout, d->inp_packed);
}

int k_cpu_wide_backward(const struct k_linear *g, bool bf16)
{
    const int chunks = (g->N + K_CPU_CHUNK - 1) / K_CPU_CHUNK;
    int planned = 0;
    struct wide d = {.g = g, .bf16 = bf16};
    for (int i = 0; i < chunks; i++) { /* chunks differ by at most one row */
        const int start = (int)((long)i * g->N / chunks);
        const int rows = (int)((long)(i + 1) * g->N / chunks) - start;
        if (rows != planned) {
            TRY(wide_prepare(&d, rows));
            if (g->dinp) /* once more, since the scratch memory may have moved */
                TRY(k_cpu_pack_run(d.w_pack, d.w_packed, g->w, false));
            planned = rows;
        }
        TRY(wide_chunk(&d, start, rows));
    }
    return 0;
}
