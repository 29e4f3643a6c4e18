/* muon.c - the step of Muon (struct k_muon): each thread takes whole matrices. The order of sums
 * depends on the shape and the instruction set alone, so results do not depend on the number of
 * threads. Matrices with at least as many rows as columns are not transposed: their products are
 * X^T X and X B instead of X X^T and B X.
 *
 * With Z = a + b A + c A A a step is X = Z X. All Z are polynomials of the first A and commute, so
 * for long matrices it is cheaper to multiply them first: A = Z A Z, Q = Z Q, and X = Q X at the
 * end, of MOST steps at a time. Where X has no singular values each step multiplies rounding errors
 * of A by up to the square of its a, which a fifth step would make large; and as rounded matrices
 * do not commute, the first Z of a product stays next to X (else errors are 30 times as large).
 * Updates of rank 1 are within 1% of their largest number. Rounding to bf16 would take too much
 * from A.
 *
 * All products but those with X are symmetric. Small matrices of whole vectors are multiplied in
 * registers, half of what is symmetric (symmetric.h), others by oneDNN. */
#include <math.h>

#include "base/base.h"
#include "linear.h"
#include "symmetric.h"

/* (r, r) matrices of a workspace; long: longer than r by LONG; steps at once */
enum { SQUARES = 4, LONG = 2, MOST = 4 };

struct plan {
    const struct k_muon *k;
    size_t n, r;                                /* numbers of a matrix, and of rows of A */
    bool tall, bf16, first, tiles;              /* first: the polynomials are multiplied first */
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
                                             .accumulate = p->bf16};
    if (p->tiles)
        return 0;
    TRY(k_cpu_matmul_find(&gram, &p->gram));
    TRY(k_cpu_matmul_find(&square, &p->square));
    TRY(k_cpu_matmul_find(&apply, &p->apply));
    const struct k_cpu_matmul *const all[] = {p->gram, p->square, p->apply};
    for (int i = 0; i < 3; i++)
        if (k_cpu_matmul_scratch(all[i]) > p->product_bytes)
            p->product_bytes = k_cpu_matmul_scratch(all[i]);
    return 0;
}

/* a (r, r) = X X^T, or X^T X of tall ones. */
static int gram_of(const struct plan *p, const struct workspace *w, float *a, const void *x)
{
    if (!p->tiles)
        return k_cpu_matmul_run(p->gram, a, x, x, NULL, w->product);
    const float *transposed = x;
    if (!p->tall) { /* w->next is free until the product with X */
        cpu_transpose(w->next, p->r, x, (size_t)p->k->cols, p->k->rows, p->k->cols);
        transposed = w->next;
    }
    k_cpu_symmetric(a, (int)p->r, transposed, transposed, p->tall ? p->k->rows : p->k->cols);
    return 0;
}

/* c = a b (r, r), which commute and are symmetric. */
static int square_of(const struct plan *p, const struct workspace *w, float *c, const void *a,
                     const void *b)
{
    if (!p->tiles)
        return k_cpu_matmul_run(p->square, c, a, b, NULL, w->product);
    k_cpu_symmetric(c, (int)p->r, a, b, (int)p->r);
    return 0;
}

/* w->next = Z X, or X Z of tall ones; bf16: is added to it. */
static int apply_to(const struct plan *p, const struct workspace *w, const void *z, const void *x)
{
    const void *const left = p->tall ? x : z, *const right = p->tall ? z : x;
    if (!p->tiles)
        return k_cpu_matmul_run(p->apply, w->next, left, right, NULL, w->product);
    k_cpu_tiles(w->next, p->k->rows, p->k->cols, left, right, (int)p->r);
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

/* b (r, r) = p.b a + p.c b, and p.a on the diagonal where that is wanted */
static void combine(float *b, const float *a, size_t r, struct k_muon_polynomial p, bool diagonal)
{
    const float first = (float)p.b, second = (float)p.c;
#pragma omp simd
    for (size_t i = 0; i < r * r; i++)
        b[i] = first * a[i] + second * b[i];
    for (size_t i = 0; i < r && diagonal; i++)
        b[i * (r + 1)] += (float)p.a;
}

/* One step from x to w->next. */
static int newton_schulz(const struct plan *p, const struct workspace *w, int step, const float *x)
{
    const struct k_muon_polynomial poly = k_muon_polynomial(step);
    const size_t rr = p->r * p->r;
    float *const a = w->square[0], *const b = w->square[1], factor = (float)poly.a;
    const void *const from = operand(p, x, w->x_bf16, p->n);
    int failed = gram_of(p, w, a, from);
    const void *gram = operand(p, a, w->a_bf16, rr);
    failed |= square_of(p, w, b, gram, gram);
    combine(b, a, p->r, poly, !p->bf16);
    for (size_t i = 0; i < p->n && p->bf16; i++)
        w->next[i] = factor * x[i]; /* not rounded */
    return failed | apply_to(p, w, operand(p, b, w->a_bf16, rr), from);
}

static void swap(float **x, float **y)
{
    float *const keep = *x;
    *x = *y;
    *y = keep;
}

/* Steps `begin` to `end` - 1 from x to w->next, the polynomials first. */
static int newton_schulz_at_once(const struct plan *p, const struct workspace *w, const float *x,
                                 int begin, int end)
{
    float *a = w->square[0], *z = w->square[1], *q = w->square[2], *other = w->square[3];
    int failed = gram_of(p, w, a, x);
    for (int step = begin; step < end; step++) {
        const struct k_muon_polynomial poly = k_muon_polynomial(step);
        failed |= square_of(p, w, z, a, a);
        combine(z, a, p->r, poly, true);
        if (step > begin)
            failed |= p->tall ? square_of(p, w, other, q, z) : square_of(p, w, other, z, q);
        if (step + 1 < end) {
            float *const product = step > begin ? q : other;
            failed |= square_of(p, w, product, z, a);
            failed |= square_of(p, w, a, product, z);
        }
        swap(&q, step > begin ? &other : &z);
    }
    return failed | apply_to(p, w, q, x);
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
    for (int step = 0; step < p->k->steps && !failed; step += p->first ? MOST : 1) {
        const int end = step + MOST < p->k->steps ? step + MOST : p->k->steps;
        failed =
            p->first ? newton_schulz_at_once(p, &w, x, step, end) : newton_schulz(p, &w, step, x);
        swap(&x, &w.next);
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
                     .tall = k->rows >= k->cols,
                     .bf16 = k_cpu_rounds(k->cols, k->rows)};
    int failed = 0;
    p.first = !p.bf16 && p.n >= LONG * p.r * p.r;
    p.tiles = !p.bf16 && p.r <= K_CPU_SYMMETRIC_MOST && k_cpu_symmetric_fits(k->rows, k->cols);
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
