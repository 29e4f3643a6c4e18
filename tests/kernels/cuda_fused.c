/* cuda_fused.c - fused attention of the CUDA backend (bf16) against the reference.
 *
 * The reference gets what the kernels get: inputs rounded to bf16, those of cosines after they were
 * divided by their lengths. What is left between the two are the roundings of weights and of d s,
 * each once, to 8 bits: 2^-8 of each number at most, less than half of that as a root mean square.
 * Errors are root sums of squares over a tensor, in units of its norm; bounds are stated where they
 * are used. Every case runs with threads and blocks in three orders, recorded and replayed: the
 * same bits every time. */
#include "cuda_case.h"

#include "attention_case.h"
#include "bf16.h"

#include <fnmatch.h>
#include <limits.h>

static const char *const kinds[] = {"softmax", "lssa", "rw_softmax", "lssar"};
enum { KINDS = 4, OUT, ROW_STATS, DQKV, QKV, DOUT, PARTS = 4 };

FIXTURE(open_bf16)
{
    return k_find("cuda", &cuda) || cuda->open(1, K_PRECISION_BF16);
}

static float rounded(double x)
{
    return bf16_widen(bf16_of((float)x));
}

/* A vector as the kernels take it, in its own length; of a cosine, `factor` times its direction is
 * rounded. */
static void round_vector(float *x, int D, double factor)
{
    double square = 0;
    for (int c = 0; c < D; c++)
        square += (double)x[c] * (double)x[c];
    const double by = factor > 0 && square > 0 ? factor / sqrt(square) : 1;
    for (int c = 0; c < D; c++)
        x[c] = (float)((double)rounded((double)x[c] * by) / by);
}

static void round_inputs(const struct attention *a)
{
    const struct k_attention_shape *s = &a->shape;
    const bool cosine = s->variant->score == K_SCORE_COS_LOGN;
    const double scale = log(s->D) / log(2);
    for (int b = 0; b < s->B; b++)
        for (int t = 0; t < s->T; t++)
            for (int h = 0; h < s->H; h++)
                for (int which = 0; which < 3; which++)
                    round_vector(at(a, b, t, which, h), s->D,
                                 !cosine || which == 2 ? 0
                                 : which == 1          ? 1
                                                       : scale * log(attended(a, t)));
    for (size_t i = 0; i < a->n; i++)
        a->dout[i] = rounded((double)a->dout[i]);
}

/* ---- a case */

static struct k_attention_shape shape_under_test;
static int shift_under_test; /* numbers that tensors of the device are off 64 bytes */

static void run_attention(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    if (shape_under_test.may_overwrite_qk) /* it is spent: the tensor is kept behind the others */
        assert_ok(ops->copy(x[2], x[5], p->item[5].n * p->item[5].size));
    assert_ok(ops->attention_forward(x[0], x[1], x[2], &shape_under_test));
    assert_ok(ops->attention_backward(x[4], x[3], x[0], x[1], x[2], &shape_under_test));
}

/* The tensors of a case on the device, in every order; size: bytes of a number of the model's
 * tensors. */
static void run_orders(struct problem *p, const struct attention *a, const void *qkv,
                       const void *dout, size_t size)
{
    static const int orders[RUNS] = {2, 1, 0, REPLAYED};
    *p = (struct problem){.name = a->shape.variant->name,
                          .N = a->shape.T,
                          .C = a->shape.D,
                          .shift = shift_under_test};
    shape_under_test = a->shape;
    memset(tensor(p, "out", a->n, size), 0xff, a->n * size);
    numbers(p, "saved", k_attention_row_stats(NULL, &a->shape), 1);
    memcpy(tensor(p, NULL, 3 * a->n, size), qkv, 3 * a->n * size);
    memcpy(tensor(p, NULL, a->n, size), dout, a->n * size);
    memset(tensor(p, "dqkv", 3 * a->n, size), 0xff, 3 * a->n * size);
    if (a->shape.may_overwrite_qk)
        memcpy(tensor(p, NULL, 3 * a->n, size), qkv, 3 * a->n * size);
    for (int i = 0; i < RUNS; i++)
        on_device(p, run_attention, orders[i]);
    for (int i = 0; i < p->count; i++)
        for (int order = 1; order < RUNS && p->item[i].name; order++)
            if (memcmp(p->item[i].found[0], p->item[i].found[order],
                       p->item[i].n * p->item[i].size))
                fail_msg("%s, T %d, D %d: %s depends on the order of execution, or is another when "
                         "replayed",
                         p->name, p->N, p->C, p->item[i].name);
}

/* Error of the part of a tensor that is q, k or v (which, of 3), or of all (of = 1). */
static double error(const struct attention *a, const float *found, const float *expected, int which,
                    int of)
{
    const size_t row = (size_t)(a->shape.H * a->shape.D), n = (size_t)of * a->n;
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        if (i / row % (size_t)of == (size_t)which) {
            const double d = (double)found[i] - (double)expected[i];
            sum += isfinite(d) ? d * d : INFINITY;
            square += (double)expected[i] * (double)expected[i];
        }
    double least = 0; /* gradients of rows with one key are 0: then of a part of dout */
    for (size_t i = 0; i < a->n; i++)
        least += 1e-3 * (double)a->dout[i] * (double)a->dout[i];
    return sum == 0 ? 0 : sqrt(sum / fmax(square, least));
}

struct errors {
    double of[PARTS]; /* out, dq, dk, dv */
};
static const char *const part_name[PARTS] = {"out", "dq", "dk", "dv"};

/* Runs a prepared case, frees it; *e = its errors. */
static void measure(struct attention *a, struct errors *e)
{
    struct problem p;
    struct outputs expected = {0};
    run(&k_ref, a, false, &expected);
    run_orders(&p, a, a->qkv, a->dout, sizeof(float));
    const float *out = (const float *)(const void *)p.item[0].found[0];
    const float *dqkv = (const float *)(const void *)p.item[4].found[0];
    e->of[0] = error(a, out, expected.item[0].data, 0, 1);
    for (int which = 0; which < 3; which++)
        e->of[1 + which] = error(a, dqkv, expected.item[1].data, which, 3);
    problem_free(&p);
    outputs_free(&expected);
    drop(a);
}

static void near(const char *name, int T, int D, double p, int window, const struct errors *e,
                 const double bound[PARTS])
{
    if (getenv("ORRERY_TEST_ERRORS"))
        printf("%-10s T %3d D %3d p %4g window %3d: %.5f %.5f %.5f %.5f\n", name, T, D, p, window,
               e->of[0], e->of[1], e->of[2], e->of[3]);
    for (int i = 0; i < PARTS; i++)
        if (!(e->of[i] <= bound[i]))
            fail_msg("%s, T %d, D %d, p %g, window %d: %s is off by %.5f of its norm, allowed %.5f",
                     name, T, D, p, window, part_name[i], e->of[i], bound[i]);
}

/* Weights are rounded once, by less than 2^-9 of their norm; d s too, and it is a difference of two
 * numbers of about its size, of which one (outer) has the roundings of the weights: twice that. The
 * reference gives a rounded cosine's vector length 1 again, by which its score differs by some
 * 2^-11, and z^p by up to p times as much of a score that is several heights high. */
static void one(const char *name, int T, int D, double p, int window)
{
    struct attention a = make(name, 2, T, 2, D, p, window);
    const struct k_attention *v = a.shape.variant;
    const double again = v->score == K_SCORE_COS_LOGN && v->reweight ? p / 2048 : 0;
    const double rounding = 1.0 / 512, once = rounding + again / 4, twice = 2 * rounding + again;
    const double bound[PARTS] = {once, twice, twice, once};
    struct errors e;
    round_inputs(&a);
    measure(&a, &e);
    near(name, T, D, p, window, &e, bound);
}

TEST(agree_with_the_reference)
{
    static const int T[] = {1, 2, 3, 4, 16, 17, 63, 64, 65, 100, 129, 200};
    static const int D[] = {64, 32, 128, 24, 8, 80, 10, 48};
    static const int window[] = {0, 1, 7, 40, 64, 100};
    static const double p[] = {15, 1, 2.5, 3, 64, 50};
    int turn = 0;
    for (int k = 0; k < KINDS; k++)
        for (size_t t = 0; t < LENGTH(T); t++, turn++)
            one(kinds[k], T[t], D[(turn + k) % 8], p[turn % 6],
                turn % 3 ? window[turn / 3 % 6] : 0);
}

/* Heads of few columns alone, for where kernels take long to compile. */
TEST(width_32_agrees)
{
    for (int k = 0; k < KINDS; k++) {
        one(kinds[k], 100, 32, 15, 0);
        one(kinds[k], 130, 24, 3, 40);
    }
}

/* ---- rows that are not like others */

/* Runs a case; what the device found is in p. */
static void run_case(struct problem *p, const struct attention *a)
{
    run_orders(p, a, a->qkv, a->dout, sizeof(float));
}

static const float *found(const struct problem *p, int tensor)
{
    return (const float *)(const void *)p->item[tensor].found[0];
}

/* Vectors of position t are 1 in column t mod D and 0 elsewhere, and re-weighted rows are not
 * shifted: a key that is missing, or one too many, is a fifth or more of some number of the
 * result. */
static void window_ends(const char *kind, int T, int D, int window)
{
    struct problem p;
    struct outputs expected = {0};
    struct attention a = make(kind, 1, T, 1, D, 1, window);
    struct k_attention unshifted = *a.shape.variant;
    unshifted.unshifted_rows = T;
    a.shape.variant = &unshifted;
    for (int i = 0; i < T * D; i++) {
        for (int which = 0; which < 3; which++)
            at(&a, 0, i / D, which, 0)[i % D] = i % D == i / D % D;
        a.dout[i] = i % D == i / D % D;
    }
    run(&k_ref, &a, false, &expected);
    run_case(&p, &a);
    for (size_t i = 0; i < 4 * a.n; i++) { /* out, then dqkv */
        const size_t row = (i < a.n ? i : i - a.n) / (size_t)D * (size_t)D, column = i % (size_t)D;
        const real *e = expected.item[i >= a.n].data + row;
        double largest = 0;
        for (int c = 0; c < D; c++)
            largest = fmax(largest, fabs((double)e[c]));
        const double d = (double)(found(&p, i < a.n ? 0 : 4) + row)[column];
        if (!(fabs(d - (double)e[column]) <= fabs((double)e[column]) / 8 + largest / 256 + 1e-5))
            fail_msg("%s, T %d, D %d, window %d: %s of row %zu, column %zu is %g, not %g", kind, T,
                     D, window, i < a.n ? "out" : "dqkv", row / (size_t)D, column, d,
                     (double)e[column]);
    }
    problem_free(&p);
    outputs_free(&expected);
    drop(&a);
}

/* Windows begin and end at the edges of tiles, of a warp's rows, and beside them; one ends with the
 * last query where a tile begins with it. */
TEST(windows_end_where_they_should)
{
    static const int windows[] = {0, 1, 2, 14, 15, 16, 17, 18, 33, 34, 63, 64, 65, 66, 129, 130},
                     wide[] = {64, 65, 66};
    for (int k = 0; k < KINDS; k++) {
        for (size_t w = 0; w < LENGTH(windows); w++)
            window_ends(kinds[k], 200, 32, windows[w]);
        for (size_t w = 0; w < LENGTH(wide); w++)
            window_ends(kinds[k], 193, 128, wide[w]);
        window_ends(kinds[k], 257, 32, 129);
    }
}

/* What a backward pass alone needs is not made where none follows: the same output. */
TEST(without_a_backward_pass)
{
    for (int k = 0; k < KINDS; k++) {
        struct attention a = make(kinds[k], 1, 130, 2, 64, 3, 0);
        const size_t row_stats = 6 * 2 * 130, kept = k_attention_row_stats(NULL, &a.shape);
        void *tensors[3];
        float *found[2] = {orr_alloc(a.n, sizeof(float)), orr_alloc(a.n, sizeof(float))};
        uint16_t *rest = orr_alloc(2 * kept, sizeof *rest);
        const size_t bytes[3] = {a.n * sizeof(float), kept * sizeof(float),
                                 3 * a.n * sizeof(float)};
        for (int i = 0; i < 3; i++)
            assert_ok(cuda->alloc(&tensors[i], bytes[i]));
        assert_ok(cuda->upload(tensors[2], a.qkv, bytes[2]));
        for (int only = 0; only < 2; only++) {
            a.shape.forward_only = only;
            assert_ok(cuda->zero(tensors[1], bytes[1]));
            assert_ok(cuda->attention_forward(tensors[0], tensors[1], tensors[2], &a.shape));
            assert_ok(cuda->download(found[only], tensors[0], bytes[0]));
            assert_ok(cuda->download(rest, tensors[1], bytes[1]));
            bool made = false;
            for (size_t i = 2 * row_stats; i < 2 * kept; i++)
                made |= rest[i] != 0;
            assert_int_equal(made, !only && a.shape.variant->reweight);
        }
        assert_memory_equal(found[0], found[1], bytes[0]);
        for (int i = 0; i < 3; i++)
            cuda->release(tensors[i]);
        free(found[0]);
        free(found[1]);
        free(rest);
        drop(&a);
    }
}

/* A window as long as the sequence, and the longest that settings allow, is none: the same bits. */
TEST(a_window_of_all_is_none)
{
    enum { T = 130 };
    static const int windows[] = {T, T + 1, INT_MAX - 100, INT_MAX};
    for (int k = 0; k < KINDS; k++) {
        struct problem none, whole;
        struct attention a = make(kinds[k], 1, T, 1, 32, 3, 0);
        run_case(&none, &a);
        for (size_t w = 0; w < LENGTH(windows); w++) {
            a.shape.window = windows[w];
            run_case(&whole, &a);
            assert_memory_equal(found(&none, 0), found(&whole, 0), a.n * sizeof(float));
            assert_memory_equal(found(&none, 4), found(&whole, 4), 3 * a.n * sizeof(float));
            problem_free(&whole);
        }
        problem_free(&none);
        drop(&a);
    }
}

/* All keys of the first 40 positions are one: the rows are uniform, and degenerate once they are
 * shifted. */
TEST(uniform_rows_are_degenerate)
{
    for (int k = 2; k < KINDS; k++) {
        struct problem p;
        struct outputs expected = {0};
        struct attention a = make(kinds[k], 1, 70, 2, 64, 15, 0);
        for (int t = 0; t < 40; t++)
            fill_vector(&a, t, 1, 0.5f);
        round_inputs(&a);
        run(&k_ref, &a, false, &expected);
        run_case(&p, &a);
        for (int row = 0; row < 2 * 70; row++)
            assert_int_equal(found(&p, 1)[row] == 0, a.row_stats[row] == 0);
        for (int t = 3; t < 40; t++)
            for (int c = 0; c < 2 * 64; c++) {
                assert_true(found(&p, 0)[t * 128 + c] == 0);
                assert_true(found(&p, 4)[t * 384 + c] == 0); /* dq */
            }
        for (size_t i = 0; i < 3 * a.n; i++)
            assert_true(isfinite(found(&p, 4)[i]));
        problem_free(&p);
        outputs_free(&expected);
        drop(&a);
    }
}

/* A query of length 0 has no direction and no gradient; a key neither. */
TEST(zero_vectors_have_no_gradient)
{
    for (int k = 0; k < KINDS; k++) {
        struct problem p;
        struct attention a = make(kinds[k], 1, 70, 1, 32, 15, 0);
        fill_vector(&a, 50, 0, 0);
        fill_vector(&a, 20, 1, 0);
        run_case(&p, &a);
        for (size_t i = 0; i < a.n; i++)
            assert_true(isfinite(found(&p, 0)[i]));
        for (size_t i = 0; i < 3 * a.n; i++)
            assert_true(isfinite(found(&p, 4)[i]));
        for (int c = 0; c < 32 && a.shape.variant->score == K_SCORE_COS_LOGN; c++) {
            assert_true(found(&p, 4)[50 * 96 + c] == 0);
            assert_true(found(&p, 4)[20 * 96 + 32 + c] == 0);
        }
        problem_free(&p);
        drop(&a);
    }
}

/* NaN in a key is NaN in every later row of its head, and nowhere else. */
TEST(nan_is_seen)
{
    for (int k = 0; k < KINDS; k++) {
        struct problem p;
        struct attention a = make(kinds[k], 1, 70, 2, 32, 15, 0);
        at(&a, 0, 30, 1, 1)[5] = (real)NAN;
        run_case(&p, &a);
        for (int t = 0; t < 70; t++)
            for (int c = 0; c < 64; c++)
                assert_int_equal(isnan(found(&p, 0)[t * 64 + c]) != 0, t >= 30 && c >= 32);
        problem_free(&p);
        drop(&a);
    }
}

/* A row of one key has weight 1 whatever its score: no gradient, also of a dout that is rounded on
 * its way. */
TEST(one_key_has_no_gradient)
{
    for (int k = 0; k < KINDS; k++) {
        struct problem p;
        struct attention a = make(kinds[k], 1, 70, 1, 64, 15, 1);
        run_case(&p, &a);
        for (size_t i = 0; i < 3 * a.n; i++)
            if (i % 192 < 128)
                assert_near((double)found(&p, 4)[i], 0, 1e-3);
        problem_free(&p);
        drop(&a);
    }
}

/* Keys that look away from all queries: e to the score is far below the last place of 1. Where
 * they all do re-weighted rows are flat; after position 100 half of them do. Scores are near -20,
 * and the reference's differ by 2^-11 of that: see one(). */
TEST(cosines_near_minus_one)
{
    static const double bound[2][PARTS] = {{1.0 / 256, 1.0 / 64, 1.0 / 64, 1.0 / 256},
                                           {1.0 / 64, 1.0 / 16, 1.0 / 16, 1.0 / 64}};
    for (int k = 1; k < KINDS; k += 2) {
        struct attention a = make(kinds[k], 1, 200, 1, 128, 3, 0);
        struct errors e;
        for (int t = 0; t < 200; t++)
            for (int c = 0; c < 128; c++) {
                const bool away = t < 100 || t % 2 != 0;
                at(&a, 0, t, 0, 0)[c] = 1 + (real)0.5 * at(&a, 0, t, 0, 0)[c];
                at(&a, 0, t, 1, 0)[c] = (away ? -1 : 0) + (real)0.5 * at(&a, 0, t, 1, 0)[c];
            }
        round_inputs(&a);
        measure(&a, &e);
        near(kinds[k], 200, 128, 3, 0, &e, bound[k / 2]);
    }
}

/* Products of hundreds: the largest has all the weight. */
TEST(large_scores)
{
    static const double bound[PARTS] = {1.0 / 512, 1.0 / 64, 1.0 / 64, 1.0 / 512};
    for (int k = 0; k < KINDS; k += 2) {
        struct attention a = make(kinds[k], 1, 130, 1, 64, 15, 0);
        struct errors e;
        for (size_t i = 0; i < 3 * a.n; i++)
            a.qkv[i] *= i % 192 < 128 ? 8 : 1;
        round_inputs(&a);
        measure(&a, &e);
        near(kinds[k], 130, 64, 15, 0, &e, bound);
    }
}

/* ---- what is not fused, and bf16 tensors */

/* The path of any variant, bit for bit: other variants, odd, small and wide heads, fp32, powers
 * that float has no digits for. */
TEST(others_take_the_generic_path)
{
    static const struct {
        const char *name;
        int D;
        enum k_precision precision;
        double p;
        const char *capability; /* of the emulated GPU */
    } cases[] = {{"softmax", 33, K_PRECISION_BF16, 15, NULL},
                 {"softmax", 6, K_PRECISION_BF16, 15, NULL},
                 {"lssar", 160, K_PRECISION_BF16, 15, NULL},
                 {"rw_sigmoid", 64, K_PRECISION_BF16, 15, NULL},
                 {"softmax_inverse", 64, K_PRECISION_BF16, 15, NULL},
                 {"phi_softplus", 64, K_PRECISION_BF16, 15, NULL},
                 {"lssar", 64, K_PRECISION_FP32, 15, NULL},
                 {"softmax", 64, K_PRECISION_TF32, 15, NULL},
                 {"lssar", 64, K_PRECISION_BF16, 1e6, NULL},
                 {"rw_softmax", 64, K_PRECISION_BF16, 1e6, NULL},
                 {"lssar", 64, K_PRECISION_BF16, 15, "86"},
                 {"softmax", 40, K_PRECISION_BF16, 15, "89"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct problem p[2];
        if (cases[i].capability && getenv("ORRERY_CUDA_PLUGIN"))
            continue; /* a GPU that there is */
        struct attention a = make(cases[i].name, 1, 70, 2, cases[i].D, cases[i].p, 0);
        const struct k_ops *open = cuda;
        struct k_ops generic;
        cuda->close();
        if (cases[i].capability) /* blocks have no room on such a GPU */
            setenv("ORR_CUDA_HOST_CAPABILITY", cases[i].capability, 1);
        assert_ok(cuda->open(1, cases[i].precision));
        run_case(&p[0], &a);
        cuda = k_generic_attention(cuda, &generic);
        run_case(&p[1], &a);
        cuda = open;
        assert_memory_equal(found(&p[0], 0), found(&p[1], 0), a.n * sizeof(float));
        assert_memory_equal(found(&p[0], 4), found(&p[1], 4), 3 * a.n * sizeof(float));
        problem_free(&p[0]);
        problem_free(&p[1]);
        drop(&a);
        cuda->close();
        unsetenv("ORR_CUDA_HOST_CAPABILITY");
        assert_ok(cuda->open(1, K_PRECISION_BF16));
    }
}

/* A case on a device of some compute capability; NULL: the one there is. */
static void on_capability(const char *capability, struct problem *p, const struct attention *a)
{
    cuda->close();
    if (capability)
        setenv("ORR_CUDA_HOST_CAPABILITY", capability, 1);
    assert_ok(cuda->open(1, K_PRECISION_BF16));
    run_case(p, a);
    cuda->close();
    unsetenv("ORR_CUDA_HOST_CAPABILITY");
    assert_ok(cuda->open(1, K_PRECISION_BF16));
}

static bool same_results(const struct problem p[2], size_t n)
{
    return !memcmp(found(&p[0], 0), found(&p[1], 0), n * sizeof(float)) &&
           !memcmp(found(&p[0], 4), found(&p[1], 4), 3 * n * sizeof(float));
}

/* Where wide heads have no room, smaller ones do; and 163 KiB, an A100's, are enough for all: the
 * same bits as where there are 227. */
TEST(small_gpus_take_what_fits)
{
    static const char *const capability[] = {"86", "80"};
    for (int i = 0; i < 2; i++) {
        struct attention a = make("lssar", 1, 70, 1, i ? 128 : 32, 15, 0);
        struct problem p[2];
        on_capability("100", &p[0], &a);
        on_capability(capability[i], &p[1], &a);
        assert_true(same_results(p, a.n));
        problem_free(&p[0]);
        problem_free(&p[1]);
        drop(&a);
    }
}

/* The tensor cores of 9.0 are those of 9.0 alone, and are taken unless they are not wanted: their
 * sums have another order. */
TEST(hopper_is_taken_unless_refused)
{
    const char *asked = getenv("ORRERY_CUDA_HOPPER");
    if (getenv("ORRERY_CUDA_PLUGIN")) /* a GPU that there is */
        skip();
    for (int k = 0; k < KINDS; k++) {
        struct attention a = make(kinds[k], 1, 150, 1, 64, 15, 0);
        struct problem p[2];
        on_capability("80", &p[0], &a);
        on_capability("90", &p[1], &a);
        assert_int_equal(same_results(p, a.n), asked && !strcmp(asked, "0"));
        problem_free(&p[0]);
        problem_free(&p[1]);
        drop(&a);
    }
}

/* Of bf16 inputs a bf16 output is the float one, rounded; gradients are rounded, too, and come
 * from the rounded output: one more rounding, of a number of which another is taken away. */
static void bf16_as_float(const char *name, int T, int H, int D, int window)
{
    struct problem p[2];
    struct attention a = make(name, 2, T, H, D, 3, window);
    uint16_t *qkv = orr_alloc(3 * a.n, sizeof *qkv), *dout = orr_alloc(a.n, sizeof *dout);
    float *out = orr_alloc(4 * a.n, sizeof *out), *dqkv = out + a.n;
    for (size_t i = 0; i < 3 * a.n; i++)
        a.qkv[i] = bf16_widen(qkv[i] = bf16_of(a.qkv[i]));
    for (size_t i = 0; i < a.n; i++)
        a.dout[i] = bf16_widen(dout[i] = bf16_of(a.dout[i]));
    run_case(&p[0], &a);
    a.shape.bf16 = true;
    run_orders(&p[1], &a, qkv, dout, sizeof *qkv);
    for (size_t i = 0; i < a.n; i++)
        out[i] = bf16_widen(((const uint16_t *)(const void *)p[1].item[0].found[0])[i]);
    for (size_t i = 0; i < 3 * a.n; i++)
        dqkv[i] = bf16_widen(((const uint16_t *)(const void *)p[1].item[4].found[0])[i]);
    for (size_t i = 0; i < a.n; i++)
        assert_true(out[i] == rounded((double)found(&p[0], 0)[i]));
    for (int which = 0; which < 3; which++)
        assert_near(error(&a, dqkv, found(&p[0], 4), which, 3), 0, 3.0 / 512);
    problem_free(&p[0]);
    problem_free(&p[1]);
    free(qkv);
    free(dout);
    free(out);
    drop(&a);
}

/* Inputs of a case as bf16: qkv (3 n) and dout (n). */
static void inputs_to_bf16(const struct attention *a, uint16_t *qkv, uint16_t *dout)
{
    for (size_t i = 0; i < 3 * a->n; i++)
        qkv[i] = bf16_of(a->qkv[i]);
    for (size_t i = 0; i < a->n; i++)
        dout[i] = bf16_of(a->dout[i]);
}

/* Tensors that begin anywhere: the same bits. */
TEST(tensors_need_no_alignment)
{
    static const int D[] = {64, 10};
    for (int k = 0; k < KINDS; k++)
        for (int as_bf16 = 0; as_bf16 < 2; as_bf16++)
            for (size_t d = 0; d < LENGTH(D); d++) {
                struct problem p[2];
                struct attention a = make(kinds[k], 1, 70, 2, D[d], 3, 0);
                const size_t size = as_bf16 ? sizeof(uint16_t) : sizeof(float);
                uint16_t *qkv = orr_alloc(3 * a.n, sizeof *qkv), *dout = orr_alloc(a.n, 2);
                a.shape.bf16 = as_bf16;
                inputs_to_bf16(&a, qkv, dout);
                for (int i = 0; i < 2; i++) {
                    shift_under_test = i;
                    run_orders(&p[i], &a, as_bf16 ? (void *)qkv : a.qkv,
                               as_bf16 ? (void *)dout : a.dout, size);
                }
                shift_under_test = 0;
                assert_memory_equal(p[0].item[0].found[0], p[1].item[0].found[0], a.n * size);
                assert_memory_equal(p[0].item[4].found[0], p[1].item[4].found[0], 3 * a.n * size);
                problem_free(&p[0]);
                problem_free(&p[1]);
                free(qkv);
                free(dout);
                drop(&a);
            }
}

/* Queries and keys that the forward pass leaves in their place for the backward pass: the same
 * bits, and of cosines they are others indeed where they can be read there. */
TEST(spent_vectors_change_nothing)
{
    static const int D[] = {64, 32, 128, 24};
    for (int k = 0; k < KINDS; k++)
        for (size_t d = 0; d < LENGTH(D); d++) {
            struct problem p[2];
            struct attention a = make(kinds[k], 2, 71, 3, D[d], 3, d == 1 ? 20 : 0);
            uint16_t *qkv = orr_alloc(3 * a.n, sizeof *qkv), *dout = orr_alloc(a.n, 2);
            const size_t row = (size_t)(a.shape.H * D[d]);
            a.shape.bf16 = true;
            inputs_to_bf16(&a, qkv, dout);
            for (int overwrites = 0; overwrites < 2; overwrites++) {
                a.shape.may_overwrite_qk = overwrites;
                run_orders(&p[overwrites], &a, qkv, dout, sizeof *qkv);
            }
            assert_memory_equal(p[0].item[0].found[0], p[1].item[0].found[0], 2 * a.n);
            assert_memory_equal(p[0].item[4].found[0], p[1].item[4].found[0], 6 * a.n);
            const uint16_t *left = (const void *)p[1].item[2].found[0];
            size_t changed[3] = {0};
            for (size_t i = 0; i < 3 * a.n; i++)
                changed[i / row % 3] += left[i] != qkv[i];
            const bool cosine = a.shape.variant->score == K_SCORE_COS_LOGN && D[d] != 24;
            assert_int_equal(changed[0] > a.n / 2, cosine);
            assert_int_equal(changed[1] > a.n / 2, cosine);
            assert_int_equal(changed[2], 0);
            problem_free(&p[0]);
            problem_free(&p[1]);
            free(qkv);
            free(dout);
            drop(&a);
        }
}

TEST(bf16_tensors)
{
    static const int D[] = {64, 32, 128, 24, 10};
    for (int k = 0; k < KINDS; k++)
        for (size_t d = 0; d < LENGTH(D); d++)
            bf16_as_float(kinds[k], 90, 2, D[d], d == 3 ? 20 : 0);
    bf16_as_float("softmax", 150, 1, 64, 0); /* one head, whose rows follow each other */
}

/* The path of any variant takes them, too. */
TEST(bf16_tensors_of_others)
{
    const struct k_ops *open = cuda;
    struct k_ops generic;
    bf16_as_float("softmax", 90, 2, 33, 0);
    bf16_as_float("lssar", 90, 2, 160, 20);
    bf16_as_float("rw_sigmoid", 90, 2, 64, 0);
    bf16_as_float("decomp_III", 90, 2, 7, 0);
    cuda = k_generic_attention(cuda, &generic);
    for (int k = 0; k < KINDS; k++)
        bf16_as_float(kinds[k], 90, 2, k % 2 ? 32 : 6, k == 3 ? 20 : 0);
    cuda = open;
}

int main(void)
{
    const char *only = getenv("ORRERY_TEST_ONLY"); /* a name, with * and ? */
    size_t chosen = 0;
    for (size_t i = 0; i < LENGTH(tests); i++)
        chosen += !only || !fnmatch(only, tests[i].name, 0);
    if (chosen == 0) {
        fprintf(stderr, "ORRERY_TEST_ONLY: no test is named \"%s\"\n", only);
        return 1;
    }
    if (only)
        cmocka_set_test_filter(only);
    return cmocka_run_group_tests(tests, open_bf16, close_cuda);
}
