/* linear.c - linear layers: oneDNN on pieces of rows that stay in a worker's cache.
 *
 * A worker rounds a piece of rows to bf16 (where allowed), multiplies it and applies bias, GELU
 * and column sums before it takes the next piece. Gradients of weights are summed within GROUPS
 * ranges of pieces, and the groups are added in order.
 *
 * bf16 is used by rule, never by timing: allowed by open(), bf16 multiplication in hardware, and
 * at least BF16_LEAST inputs and outputs (bench/bench_kernels.c has the measurements behind the
 * rule). */
#include <math.h>
#include <omp.h>

#include "base/base.h"
#include "linear.h"
#include "vec.h"

enum {
    FORWARD_ROWS = 128,  /* rows of a piece */
    BACKWARD_ROWS = 256, /* longer sums reread the weight gradient less often */
    LEAST_ROWS = 16,     /* a piece of fewer rows is the last */
    GROUPS = 8,          /* partial sums of a weight gradient, at most */
    BF16_LEAST = 16,
};

/* ---- pieces of rows */

static int piece_rows(int left, int full)
{
    if (left < LEAST_ROWS)
        return left;
    int rows = full;
    while (rows > left)
        rows /= 2;
    return rows;
}

int k_cpu_piece_count(int N, int full)
{
    int count = N / full;
    for (int left = N % full; left > 0; left -= piece_rows(left, full))
        count++;
    return count;
}

int k_cpu_piece_at(int N, int full, int index, int *rows)
{
    int at = 0;
    const int whole = N / full;
    if (index < whole) {
        *rows = full;
        return index * full;
    }
    at = whole * full;
    *rows = piece_rows(N - at, full);
    for (int i = whole; i < index; i++) {
        at += *rows;
        *rows = piece_rows(N - at, full);
    }
    return at;
}

/* Sets the rows of a shape: rows are M of forward products and K of weight gradients. */
static struct k_cpu_matmul_shape shape_with_rows(struct k_cpu_matmul_shape shape, int rows)
{
    if (shape.a_transposed)
        shape.K = rows;
    else
        shape.M = rows;
    return shape;
}

int k_cpu_plan_make(struct k_cpu_plan *plan, int N, int full,
                    const struct k_cpu_matmul_shape *shape)
{
    plan->sizes = 0;
    plan->scratch_bytes = 0;
    for (int at = N >= full ? N / full * full - full : 0; at < N;) {
        const int rows = piece_rows(N - at, full);
        const struct k_cpu_matmul_shape s = shape_with_rows(*shape, rows);
        const int i = plan->sizes++;
        plan->rows[i] = rows;
        TRY(k_cpu_matmul_find(&s, &plan->matmul[i]));
        const size_t bytes = k_cpu_matmul_scratch(plan->matmul[i]);
        if (bytes > plan->scratch_bytes)
            plan->scratch_bytes = bytes;
        at += rows;
    }
    return 0;
}

struct k_cpu_matmul *k_cpu_plan_matmul(const struct k_cpu_plan *plan, int rows)
{
    int i = 0;
    while (plan->rows[i] != rows)
        i++;
    return plan->matmul[i];
}

static int matmul_failed(int N, int C, int OC)
{
    return ORR_FAIL(ORR_EDEVICE, "oneDNN failed in a linear layer of %d rows, %d -> %d", N, C, OC);
}

/* ---- rounding to bf16, to nearest even */

void k_cpu_bf16_round(uint16_t *to, const float *from, size_t n)
{
    size_t i = 0;
#if defined __AVX512BF16__ && defined __AVX512F__
    for (; i + 16 <= n; i += 16) {
        const __m256bh v = _mm512_cvtneps_pbh(_mm512_loadu_ps(from + i));
        memcpy(to + i, &v, sizeof v);
    }
#endif
    for (; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, from + i, sizeof bits);
        bits += 0x7fffU + ((bits >> 16) & 1U);
        to[i] = isnan(from[i]) ? 0x7fc0U : (uint16_t)(bits >> 16);
    }
}

void k_cpu_column_sums(float *sum, const float *x, int rows, int C)
{
    int r = 0;
    for (; r + 4 <= rows; r += 4) {
        const float *x0 = x + (size_t)r * (size_t)C;
        const float *x1 = x0 + C, *x2 = x1 + C, *x3 = x2 + C;
#pragma omp simd
        for (int c = 0; c < C; c++)
            sum[c] += (x0[c] + x1[c]) + (x2[c] + x3[c]);
    }
    for (; r < rows; r++) {
        const float *x0 = x + (size_t)r * (size_t)C;
#pragma omp simd
        for (int c = 0; c < C; c++)
            sum[c] += x0[c];
    }
}

/* ---- forward */

struct layer {
    const struct k_linear *of;
    float *sums; /* (N, OC): out, or the argument of GELU */
    bool bf16;
    bool wide; /* whether weights are packed */
};

static void add_piece(float *to, const float *from, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

static int forward_piece(const struct layer *l, const struct k_cpu_plan *plan, int at, int rows)
{
    const struct k_linear *of = l->of;
    const size_t C = (size_t)of->C, OC = (size_t)of->OC, first = (size_t)at, n = (size_t)rows;
    char *local = k_cpu_scratch_local();
    const void *a = of->inp + first * C, *b = of->w;
    if (l->bf16) {
        uint16_t *rounded = (uint16_t *)(void *)(local + k_cpu_lines(plan->scratch_bytes));
        k_cpu_bf16_round(rounded, of->inp + first * C, n * C);
        a = rounded;
    }
    if (l->bf16 || l->wide)
        b = k_cpu_scratch_shared();
    float *sums = l->sums + first * OC;
    const int failed = k_cpu_matmul_run(k_cpu_plan_matmul(plan, rows), sums, a, b, of->b, local);
    if (!failed && of->pre)
        k_cpu_gelu_piece(of->out + first * OC, sums, n * OC);
    if (!failed && of->residual)
        add_piece(sums, of->residual + first * OC, n * OC);
    return failed;
}

/* Puts the weights into shared scratch, in the layout that the multiplications need. */
static int forward_weights(const struct layer *l, struct k_cpu_pack *pack)
{
    if (l->wide)
        return k_cpu_pack_run(pack, k_cpu_scratch_shared(), l->of->w, true);
    if (l->bf16)
        k_cpu_bf16_round(k_cpu_scratch_shared(), l->of->w, (size_t)l->of->OC * (size_t)l->of->C);
    return 0;
}

static int layer_forward(const struct layer *l)
{
    const int N = l->of->N, C = l->of->C, OC = l->of->OC;
    const struct k_cpu_matmul_shape shape = {.N = OC,
                                             .K = C,
                                             .b_transposed = !l->wide,
                                             .b_packed = l->wide,
                                             .bf16 = l->bf16,
                                             .bias = l->of->b != NULL};
    struct k_cpu_plan plan;
    struct k_cpu_pack *pack = NULL;
    TRY(k_cpu_plan_make(&plan, N, FORWARD_ROWS, &shape));
    if (l->wide)
        TRY(k_cpu_pack_find(C, OC, l->bf16, &pack));
    size_t local = k_cpu_lines(plan.scratch_bytes), shared = 0;
    if (l->bf16) {
        local += sizeof(uint16_t) * FORWARD_ROWS * (size_t)C;
        shared = sizeof(uint16_t) * (size_t)OC * (size_t)C;
    }
    TRY(k_cpu_scratch_reserve(pack ? k_cpu_pack_bytes(pack) : shared, local));
    TRY(forward_weights(l, pack));
    int failed = 0;
    const int pieces = k_cpu_piece_count(N, FORWARD_ROWS);
#pragma omp parallel for schedule(dynamic) num_threads(k_cpu_threads()) reduction(| : failed)
    for (int i = 0; i < pieces; i++) {
        int rows;
        const int at = k_cpu_piece_at(N, FORWARD_ROWS, i, &rows);
        failed |= forward_piece(l, &plan, at, rows);
    }
    return failed ? matmul_failed(N, C, OC) : 0;
}

/* ---- backward */

struct gradients {
    const struct k_linear *of;
    bool bf16;
    int pieces, groups;
    struct k_cpu_plan dinp_plan, dw_first, dw_next;
    size_t scratch_bytes;
    /* in shared scratch */
    uint16_t *w_rounded;
    float *dw_part; /* (groups, OC, C) */
    float *db_part; /* (groups, OC) */
};

/* One piece: writes dinp, and adds to the group's partial sums of dw and db. */
static int backward_piece(const struct gradients *g, int group, bool first_of_group, int index)
{
    int rows;
    const size_t at = (size_t)k_cpu_piece_at(g->of->N, BACKWARD_ROWS, index, &rows);
    const size_t C = (size_t)g->of->C, OC = (size_t)g->of->OC, n = (size_t)rows;
    char *local = k_cpu_scratch_local();
    const void *dout = g->of->dout + at * OC, *inp = g->of->inp + at * C, *w = g->of->w;
    uint16_t *rounded = (uint16_t *)(void *)(local + k_cpu_lines(g->scratch_bytes));
    if (g->bf16) {
        k_cpu_bf16_round(rounded, g->of->dout + at * OC, n * OC);
        dout = rounded;
        w = g->w_rounded;
    }
    int failed = 0;
    if (g->of->dinp)
        failed |= k_cpu_matmul_run(k_cpu_plan_matmul(&g->dinp_plan, rows), g->of->dinp + at * C,
                                   dout, w, NULL, local);
    if (g->of->dinp && g->of->inp_pre)
        k_cpu_gelu_backward_piece(g->of->dinp + at * C, g->of->dinp + at * C,
                                  g->of->inp_pre + at * C, n * C);
    if (g->of->db)
        k_cpu_column_sums(g->db_part + (size_t)group * OC, g->of->dout + at * OC, rows, g->of->OC);
    if (!g->of->dw)
        return failed;
    if (g->bf16) {
        uint16_t *inp_rounded = rounded + k_cpu_lines(n * OC);
        k_cpu_bf16_round(inp_rounded, g->of->inp + at * C, n * C);
        inp = inp_rounded;
    }
    const struct k_cpu_plan *plan = first_of_group ? &g->dw_first : &g->dw_next;
    float *part = g->dw_part + (size_t)group * OC * C;
    return failed | k_cpu_matmul_run(k_cpu_plan_matmul(plan, rows), part, dout, inp, NULL, local);
}

void k_cpu_add_groups(float *to, const float *part, int groups, size_t n)
{
    const size_t block = 4096;
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) if (n > block)
    for (size_t at = 0; at < n; at += block) {
        const size_t end = at + block < n ? at + block : n;
        for (int g = 0; g < groups; g++) {
            const float *from = part + (size_t)g * n;
#pragma omp simd
            for (size_t i = at; i < end; i++)
                to[i] += from[i];
        }
    }
}

static int backward_plan(struct gradients *g)
{
    const struct k_cpu_matmul_shape dinp = {.N = g->of->C, .K = g->of->OC, .bf16 = g->bf16};
    struct k_cpu_matmul_shape dw = {
        .M = g->of->OC, .N = g->of->C, .a_transposed = true, .bf16 = g->bf16};
    if (g->of->dinp)
        TRY(k_cpu_plan_make(&g->dinp_plan, g->of->N, BACKWARD_ROWS, &dinp));
    if (g->of->dw) {
        TRY(k_cpu_plan_make(&g->dw_first, g->of->N, BACKWARD_ROWS, &dw));
        dw.accumulate = true;
        TRY(k_cpu_plan_make(&g->dw_next, g->of->N, BACKWARD_ROWS, &dw));
    }
    g->scratch_bytes = g->dinp_plan.scratch_bytes;
    if (g->dw_first.scratch_bytes > g->scratch_bytes)
        g->scratch_bytes = g->dw_first.scratch_bytes;
    if (g->dw_next.scratch_bytes > g->scratch_bytes)
        g->scratch_bytes = g->dw_next.scratch_bytes;
    g->pieces = k_cpu_piece_count(g->of->N, BACKWARD_ROWS);
    g->groups = g->pieces < GROUPS ? g->pieces : GROUPS;
    return 0;
}

static int backward_scratch(struct gradients *g)
{
    const size_t C = (size_t)g->of->C, OC = (size_t)g->of->OC, groups = (size_t)g->groups;
    const size_t rounded = g->bf16 ? k_cpu_lines(sizeof(uint16_t) * OC * C) : 0;
    const size_t sums = k_cpu_lines(sizeof(float) * groups * OC);
    size_t local = k_cpu_lines(g->scratch_bytes);
    if (g->bf16)
        local += sizeof(uint16_t) * (k_cpu_lines(BACKWARD_ROWS * OC) + BACKWARD_ROWS * C);
    const size_t parts = g->of->dw ? sizeof(float) * groups * OC * C : 0;
    TRY(k_cpu_scratch_reserve(rounded + sums + parts, local));
    char *shared = k_cpu_scratch_shared();
    g->w_rounded = (uint16_t *)(void *)shared;
    g->db_part = (float *)(void *)(shared + rounded);
    g->dw_part = (float *)(void *)(shared + rounded + sums);
    memset(g->db_part, 0, sums);
    if (g->bf16 && g->of->dinp)
        k_cpu_bf16_round(g->w_rounded, g->of->w, OC * C);
    return 0;
}

static int layer_backward(struct gradients *g)
{
    TRY(backward_plan(g));
    TRY(backward_scratch(g));
    int failed = 0;
#pragma omp parallel for schedule(static) num_threads(k_cpu_threads()) reduction(| : failed)
    for (int group = 0; group < g->groups; group++) {
        const int first = (int)((long)group * g->pieces / g->groups);
        const int end = (int)((long)(group + 1) * g->pieces / g->groups);
        for (int i = first; i < end; i++)
            failed |= backward_piece(g, group, i == first, i);
    }
    if (failed)
        return matmul_failed(g->of->N, g->of->C, g->of->OC);
    if (g->of->dw)
        k_cpu_add_groups(g->of->dw, g->dw_part, g->groups, (size_t)g->of->OC * (size_t)g->of->C);
    if (g->of->db)
        k_cpu_add_groups(g->of->db, g->db_part, g->groups, (size_t)g->of->OC);
    return 0;
}

/* ---- entries */

static bool is_narrow(int C, int OC)
{
    return C <= K_CPU_NARROW || OC <= K_CPU_NARROW;
}

bool k_cpu_rounds(int C, int OC)
{
    return k_cpu_bf16() && C >= BF16_LEAST && OC >= BF16_LEAST;
}

static bool layer_rounds(const struct k_linear *l)
{
    return !l->fp32_only && k_cpu_rounds(l->C, l->OC);
}

static int narrow_forward(const struct k_linear *l)
{
    const size_t n = (size_t)l->N * (size_t)l->OC;
    TRY(k_cpu_narrow_forward(l, l->pre ? l->pre : l->out));
    if (l->pre)
        k_cpu_gelu_piece(l->out, l->pre, n);
    if (l->residual)
        add_piece(l->out, l->residual, n);
    return 0;
}

static int cpu_linear_forward(const struct k_linear *l)
{
    if (is_narrow(l->C, l->OC))
        return narrow_forward(l);
    return layer_forward(&(struct layer){.of = l,
                                         .sums = l->pre ? l->pre : l->out,
                                         .bf16 = layer_rounds(l),
                                         .wide = k_cpu_is_wide(l->C, l->OC)});
}

static int narrow_backward(const struct k_linear *l)
{
    TRY(k_cpu_narrow_backward(l));
    if (l->inp_pre && l->dinp)
        k_cpu_gelu_backward_piece(l->dinp, l->dinp, l->inp_pre, (size_t)l->N * (size_t)l->C);
    return 0;
}

static int cpu_linear_backward(const struct k_linear *l)
{
    if (is_narrow(l->C, l->OC))
        return narrow_backward(l);
    if (k_cpu_is_wide(l->C, l->OC))
        return k_cpu_wide_backward(l, layer_rounds(l));
    return layer_backward(&(struct gradients){.of = l, .bf16 = layer_rounds(l)});
}

void k_cpu_install_linear(struct k_ops *ops)
{
    ops->linear_forward = cpu_linear_forward;
    ops->linear_backward = cpu_linear_backward;
}
