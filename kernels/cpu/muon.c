/* muon.c - the step of Muon (struct k_muon): each thread takes whole matrices, whose products are
 * oneDNN's. The order of sums depends on the shape alone, so results do not depend on the number of
 * threads. Matrices with more rows than columns are not transposed: their products are X^T X and
 * X B instead of X X^T and B X.
 *
 * With Z = a + b A + c A A a step is X = Z X. All Z are polynomials of the first A and commute, so
 * for long matrices it is cheaper to multiply them first: A = Z A Z, Q = Z Q, and X = Q X at the
 * end. Rounding to bf16 would take too much from A, which then has no small singular values. */
#include <math.h>

#include "base/base.h"
#include "linear.h"

enum { SQUARES = 4, LONG = 2 }; /* (r, r) matrices of a workspace; long: longer than r by LONG */

struct plan {
    const struct k_muon *k;
    size_t n, r;                                /* numbers of a matrix, and of rows of A */
    bool tall, bf16, first;                     /* first: the polynomials are multiplied first */
    struct k_cpu_matmul *gram, *square, *apply; /* A, (r, r) times (r, r), and the product with X */
    size_t product_bytes;
};

/* A thread's memory: a matrix that takes turns with the update, (r, r) matrices, bf16 copies. */
struct workspace {
    float *next, *square[SQUARES];
    uint16_t *x_bf16, *a_bf16;
    char *product;
};

static size_t lay_out(const struct plan *p, char *memory, struct workspace *w)
{
    size_t at = 0;
    char *const start = memory;
    const size_t rr = p->r * p->r, bytes[] = {
                                       p->product_bytes,
                                       p->n * sizeof(float),
                                       rr * sizeof(float),
                                       rr * sizeof(float),
                                       p->first ? rr * sizeof(float) : 0,
                                       p->first ? rr * sizeof(float) : 0,
                                       p->bf16 ? p->n * 2 : 0,
                                       p->bf16 ? rr * 2 : 0,
                                   };
    char *piece[sizeof bytes / sizeof *bytes];
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        piece[i] = start ? start + at : NULL;
        at += k_cpu_lines(bytes[i]);
    }
    *w = (struct workspace){
        .product = piece[0],
        .next = (float *)(void *)piece[1],
        .x_bf16 = (uint16_t *)(void *)piece[2 + SQUARES],
        .a_bf16 = (uint16_t *)(void *)piece[3 + SQUARES],
    };
    for (int i = 0; i < SQUARES; i++)
        w->square[i] = (float *)(void *)piece[2 + i];
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
                                             .accumulate = !p->first};
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

/* b = p.b a + p.c b */
static void combine(float *b, const float *a, size_t n, struct k_muon_polynomial p)
{
    const float first = (float)p.b, second = (float)p.c;
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        b[i] = first * a[i] + second * b[i];
}

/* One step from x to w->next. */
static int newton_schulz(const struct plan *p, const struct workspace *w, int step, const float *x)
{
    const struct k_muon_polynomial poly = k_muon_polynomial(step);
    const size_t rr = p->r * p->r;
    float *const a = w->square[0], *const b = w->square[1], factor = (float)poly.a;
    const void *const from = operand(p, x, w->x_bf16, p->n);
    int failed = k_cpu_matmul_run(p->gram, a, from, from, NULL, w->product);
    const void *gram = operand(p, a, w->a_bf16, rr);
    failed |= k_cpu_matmul_run(p->square, b, gram, gram, NULL, w->product);
    combine(b, a, rr, poly);
#pragma omp simd
    for (size_t i = 0; i < p->n; i++)
        w->next[i] = factor * x[i];
    const void *const sum = operand(p, b, w->a_bf16, rr);
    return failed | k_cpu_matmul_run(p->apply, w->next, p->tall ? from : sum, p->tall ? sum : from,
                                     NULL, w->product);
}

static void swap(float **x, float **y)
{
    float *const keep = *x;
    *x = *y;
    *y = keep;
}

/* All steps from x to w->next, the polynomials first. */
static int newton_schulz_at_once(const struct plan *p, const struct workspace *w, const float *x)
{
    const size_t rr = p->r * p->r;
    float *a = w->square[0], *z = w->square[1], *q = w->square[2], *other = w->square[3];
    int failed = k_cpu_matmul_run(p->gram, a, x, x, NULL, w->product);
    for (int step = 0; step < p->k->steps; step++) {
        const struct k_muon_polynomial poly = k_muon_polynomial(step);
        failed |= k_cpu_matmul_run(p->square, z, a, a, NULL, w->product);
        combine(z, a, rr, poly);
        for (size_t i = 0; i < rr; i += p->r + 1)
            z[i] += (float)poly.a;
        if (step > 0)
            failed |= k_cpu_matmul_run(p->square, other, z, q, NULL, w->product);
        if (step + 1 < p->k->steps) {
            float *const product = step > 0 ? q : other;
            failed |= k_cpu_matmul_run(p->square, product, z, a, NULL, w->product);
            failed |= k_cpu_matmul_run(p->square, a, product, z, NULL, w->product);
        }
        swap(&q, step > 0 ? &other : &z);
    }
    return failed |
           k_cpu_matmul_run(p->apply, w->next, p->tall ? x : q, p->tall ? q : x, NULL, w->product);
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
    if (p->first)
        failed = newton_schulz_at_once(p, &w, x);
    for (int step = 0; step < p->k->steps && !p->first && !failed; step++) {
        failed = newton_schulz(p, &w, step, x);
        swap(&x, &w.next);
    }
    const float *const o = p->first ? w.next : x;
    const float keep = (float)p->k->keep, rate = (float)p->k->rate;
#pragma omp simd
    for (size_t i = 0; i < p->n; i++)
        param[i] = keep * param[i] - rate * o[i];
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
    p.first = !p.bf16 && p.n >= LONG * p.r * p.r;
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
