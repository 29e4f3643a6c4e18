/* muon.c - the step of Muon (struct k_muon): each thread takes whole matrices, whose products are
 * oneDNN's. The order of sums depends on the shape alone, so results do not depend on the number of
 * threads. Matrices with more rows than columns are not transposed: their products are X^T X and
 * X B instead of X X^T and B X. */
#include <math.h>

#include "base/base.h"
#include "linear.h"

struct plan {
    const struct k_muon *k;
    size_t n, r; /* numbers of a matrix, and of rows of A */
    bool tall, bf16;
    struct k_cpu_matmul *gram, *square, *apply; /* A, A A, and the sum with B X or X B */
    size_t product_bytes;
};

/* A thread's memory: two matrices that take turns, A, A A, and bf16 copies. */
struct workspace {
    float *next, *a, *b;
    uint16_t *x_bf16, *a_bf16;
    char *product;
};

static size_t lay_out(const struct plan *p, char *memory, struct workspace *w)
{
    size_t at = 0;
    char *const start = memory;
    const size_t bytes[] = {
        p->product_bytes,
        p->n * sizeof(float),
        p->r * p->r * sizeof(float),
        p->r * p->r * sizeof(float),
        p->bf16 ? p->n * 2 : 0,
        p->bf16 ? p->r * p->r * 2 : 0,
    };
    char *piece[sizeof bytes / sizeof *bytes];
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        piece[i] = start ? start + at : NULL;
        at += k_cpu_lines(bytes[i]);
    }
    *w = (struct workspace){
        .product = piece[0],
        .next = (float *)(void *)piece[1],
        .a = (float *)(void *)piece[2],
        .b = (float *)(void *)piece[3],
        .x_bf16 = (uint16_t *)(void *)piece[4],
        .a_bf16 = (uint16_t *)(void *)piece[5],
    };
    return at;
}

static int find_products(struct plan *p)
{
    const int rows = p->k->rows, cols = p->k->cols, r = (int)p->r;
    const struct k_cpu_matmul_shape gram = {.M = r,
                                            .N = r,
                                            .K = p->tall ? rows : cols,
                                            .a_transposed = p->tall,
                                            .b_transposed = !p->tall,
                                            .bf16 = p->bf16},
                                    square = {.M = r, .N = r, .K = r, .bf16 = p->bf16},
                                    apply = {.M = rows,
                                             .N = cols,
                                             .K = r,
                                             .bf16 = p->bf16,
                                             .accumulate = true};
    TRY(k_cpu_matmul_find(&gram, &p->gram));
    TRY(k_cpu_matmul_find(&square, &p->square));
    TRY(k_cpu_matmul_find(&apply, &p->apply));
    const struct k_cpu_matmul *const all[] = {p->gram, p->square, p->apply};
    for (int i = 0; i < 3; i++)
        if (k_cpu_matmul_scratch(all[i]) > p->product_bytes)
            p->product_bytes = k_cpu_matmul_scratch(all[i]);
    return 0;
}

/* An operand as the products of the plan take it: x, or its rounded copy. */
static const void *operand(const struct plan *p, const float *x, uint16_t *rounded, size_t n)
{
    if (!p->bf16)
        return x;
    k_cpu_bf16_round(rounded, x, n);
    return rounded;
}

/* One step from x to w->next. */
static int newton_schulz(const struct plan *p, const struct workspace *w, const float *x)
{
    const size_t rr = p->r * p->r;
    const void *const from = operand(p, x, w->x_bf16, p->n);
    int failed = k_cpu_matmul_run(p->gram, w->a, from, from, NULL, w->product);
    const void *gram = operand(p, w->a, w->a_bf16, rr);
    failed |= k_cpu_matmul_run(p->square, w->b, gram, gram, NULL, w->product);
#pragma omp simd
    for (size_t i = 0; i < rr; i++)
        w->b[i] = (float)K_MUON_B * w->a[i] + (float)K_MUON_C * w->b[i];
#pragma omp simd
    for (size_t i = 0; i < p->n; i++)
        w->next[i] = (float)K_MUON_A * x[i];
    const void *const b = operand(p, w->b, w->a_bf16, rr);
    return failed | k_cpu_matmul_run(p->apply, w->next, p->tall ? from : b, p->tall ? b : from,
                                     NULL, w->product);
}

static int update_matrix(const struct plan *p, float *param, float *x)
{
    struct workspace w;
    double squares = 0;
    int failed = 0;
    (void)lay_out(p, k_cpu_scratch_local(), &w);
#pragma omp simd reduction(+ : squares)
    for (size_t i = 0; i < p->n; i++)
        squares += (double)x[i] * (double)x[i];
    const double scale = squares > 0 ? 1 / sqrt(squares) : 0;
#pragma omp simd
    for (size_t i = 0; i < p->n; i++)
        x[i] = (float)((double)x[i] * scale);
    for (int step = 0; step < p->k->steps && !failed; step++) {
        float *const last = x;
        failed = newton_schulz(p, &w, x);
        x = w.next;
        w.next = last;
    }
    const float keep = (float)p->k->keep, rate = (float)p->k->rate;
#pragma omp simd
    for (size_t i = 0; i < p->n; i++)
        param[i] = keep * param[i] - rate * x[i];
    return failed;
}

static int cpu_muon(float *param, float *update, const struct k_muon *k)
{
    struct workspace none;
    struct plan p = {.k = k,
                     .n = (size_t)k->rows * (size_t)k->cols,
                     .r = (size_t)(k->rows < k->cols ? k->rows : k->cols),
                     .tall = k->rows > k->cols,
                     .bf16 = k_cpu_rounds(k->cols, k->rows)};
    int failed = 0;
    TRY(find_products(&p));
    TRY(k_cpu_scratch_reserve(0, lay_out(&p, NULL, &none)));
#pragma omp parallel for schedule(dynamic) num_threads(k_cpu_threads()) reduction(| : failed)
    for (int i = 0; i < k->count; i++)
        failed |= update_matrix(&p, param + k->at[i], update + k->at[i]);
    return failed ? ORR_FAIL(ORR_EDEVICE, "oneDNN failed in Muon's step on matrices of %d x %d",
                             k->rows, k->cols)
                  : 0;
}

void k_cpu_install_muon(struct k_ops *ops)
{
    ops->muon = cpu_muon;
}
