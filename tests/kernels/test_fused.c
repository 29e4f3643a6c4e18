/* test_fused.c - the fused attention kernels of the cpu backend against the generic path and the
 * reference: shapes on both sides of tiles, panels, strips and blocks, windows, powers, re-weighted
 * copies of lines, degenerate rows, zero vectors, large scores, thread counts, memory. */
#ifdef K_DOUBLE
#error "the fused kernels are float"
#endif
#include "test_data.h"

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/fused.h"

/* Keys of a block on the widest machine; the tests are not compiled for this one. */
enum { VARIANTS = 6, BLOCK = 384 };

/* The four lines, and re-weighted copies that no name gives away. */
static struct k_attention variants[VARIANTS];

FIXTURE(set_variants)
{
    static const char *const names[] = {"softmax", "lssa", "lssar", "rw_softmax"};
    for (int i = 0; i < 4; i++)
        variants[i] = *k_attention_find(names[i]);
    for (int i = 0; i < 2; i++) {
        variants[4 + i] = variants[i];
        variants[4 + i].name = i ? "copy of lssa" : "copy of softmax";
        variants[4 + i].reweight = true;
        variants[4 + i].unshifted_rows = i ? 0 : 5;
    }
    return 0;
}

/* One problem with its inputs. */
struct attention {
    struct k_attention_shape shape;
    struct outputs memory;
    size_t n; /* reals of out; qkv has 3 n */
    real *qkv, *dout, *row_stats;
};

static struct attention make(const struct k_attention *variant, int B, int T, int H, int D,
                             double p, int window)
{
    struct attention a = {
        .shape = {
            .B = B, .T = T, .H = H, .D = D, .variant = variant, .power = p, .window = window}};
    struct stream s = {(uint64_t)(T * 1000 + D * 10 + window), 0};
    a.n = (size_t)B * (size_t)T * (size_t)H * (size_t)D;
    a.qkv = input(&a.memory, &s, 3 * a.n, 1);
    a.dout = input(&a.memory, &s, a.n, 1);
    a.row_stats = input(&a.memory, &s, k_attention_row_stats(NULL, &a.shape), 0);
    return a;
}

/* Vector `which` (q, k, v) of head h at position t of sequence b. */
static real *at(const struct attention *a, int b, int t, int which, int h)
{
    const struct k_attention_shape *s = &a->shape;
    return a->qkv +
           (((size_t)(b * s->T + t) * 3 + (size_t)which) * (size_t)s->H + (size_t)h) * (size_t)s->D;
}

static void fill_vector(const struct attention *a, int t, int which, real value)
{
    for (int b = 0; b < a->shape.B; b++)
        for (int h = 0; h < a->shape.H; h++)
            for (int c = 0; c < a->shape.D; c++)
                at(a, b, t, which, h)[c] = value;
}

static void run(const struct k_ops *ops, const struct attention *a, int threads, struct outputs *o)
{
    real *out = output(o, "out", a->n), *dqkv = output(o, "dqkv", 3 * a->n);
    long degenerate = 0;
    assert_int_equal(ops->open(threads, false), 0);
    assert_int_equal(ops->attention_forward(out, a->row_stats, a->qkv, &a->shape), 0);
    assert_int_equal(ops->attention_degenerate(&degenerate, a->row_stats, &a->shape), 0);
    assert_int_equal(ops->attention_backward(dqkv, a->dout, out, a->row_stats, a->qkv, &a->shape),
                     0);
    output_number(o, "degenerate", (double)degenerate);
    ops->close();
}

static double worst(const struct outputs *found, const struct outputs *expected)
{
    double error = 0;
    for (int i = 0; i < found->count; i++)
        error = fmax(error, tensor_error(&found->item[i], &expected->item[i], 1e-6));
    return error;
}

/* The fused kernels against the generic path, and against the reference where that is quick; one,
 * two and three threads give the same bits. Powers enlarge rounding by their own size. */
enum { WITH_REF = 1, WITH_THREADS = 2, WITH_ALL = 3 };
static void compare(const struct attention *a, double scale, int with)
{
    const double tolerance =
        scale * (a->shape.variant->reweight ? 3e-5 * (1 + a->shape.power) : 2e-5);
    struct outputs one = {0}, two = {0}, three = {0}, other = {0};
    struct k_ops generic;
    char what[128];
    snprintf(what, sizeof what, "%s, B %d, T %d, H %d, D %d, window %d, p %g",
             a->shape.variant->name, a->shape.B, a->shape.T, a->shape.H, a->shape.D,
             a->shape.window, a->shape.power);
    assert_true(k_cpu_loops_of(orr_isa())->fused_serves(&a->shape));
    run(k_cpu(), a, 1, &one);
    if (with & WITH_THREADS) {
        run(k_cpu(), a, 2, &two);
        run(k_cpu(), a, 3, &three);
        outputs_same(what, &one, &two);
        outputs_same(what, &one, &three);
    }
    run(k_generic_attention(k_cpu(), &generic), a, 1, &other);
    if ((with & WITH_REF) || worst(&one, &other) > tolerance) {
        struct outputs ref = {0};
        run(&k_ref, a, 1, &ref);
        /* near-uniform rows magnify the rounding of any path */
        const double by_generic = worst(&other, &ref);
        outputs_near(what, &one, &ref, fmax(tolerance, 4 * by_generic));
        assert_true(by_generic < 50 * tolerance);
        outputs_free(&ref);
    }
    outputs_free(&other);
    outputs_free(&one);
    outputs_free(&two);
    outputs_free(&three);
}

static const int T_all[] = {1, 3, 4, 17, 64, 65, 129, 300, 700}, D_all[] = {1, 8, 17, 64, 80};
static const int window_all[] = {0, 1, 3, 5, 64, 100};
static const double p_all[] = {15, 1, 2.5, 50};

/* The shortest sequences in every combination, those of 3 so many that workers take all heads of
 * one; the longer ones take turns. */
TEST(agrees)
{
    int turn = 0;
    for (int v = 0; v < VARIANTS; v++)
        for (int t = 0; t < 9; t++)
            for (int d = 0; d < 5; d++)
                for (int w = 0; w < 6; w++, turn++) {
                    const int T = T_all[t], every = T < 20    ? 1
                                                    : T < 100 ? 3
                                                    : T < 200 ? 7
                                                    : T < 400 ? 11
                                                              : 23;
                    if (turn % every)
                        continue;
                    const int B = T == 3 ? 13 : T < 20 ? 3 : 1;
                    struct attention a = make(&variants[v], B, T, 1 + turn % 2, D_all[d],
                                              p_all[(turn / every) % 4], window_all[w]);
                    const bool ref = T < 20 || (T < 200 && turn % 4 == 0);
                    compare(&a, 1, (ref ? WITH_REF : 0) | (turn % 5 == 0 ? WITH_THREADS : 0));
                    outputs_free(&a.memory);
                }
}

/* Every variant beyond one block of keys, at every power, several sequences. */
TEST(agrees_beyond_a_block)
{
    for (int v = 0; v < VARIANTS; v++)
        for (int p = 0; p < 4; p++) {
            if (p > 0 && !variants[v].reweight)
                continue;
            struct attention a = make(&variants[v], 2, BLOCK + 33, 2, 17, p_all[p], 0);
            compare(&a, 1, v == 2 && p == 0 ? WITH_ALL : WITH_THREADS);
            outputs_free(&a.memory);
            a = make(&variants[v], 1, BLOCK + 97, 1, 8, p_all[p], BLOCK - 5);
            compare(&a, 1, v == 3 && p == 0 ? WITH_ALL : WITH_THREADS);
            outputs_free(&a.memory);
        }
}

/* Six times larger queries: peaked rows. */
TEST(large_scores)
{
    for (int v = 0; v < VARIANTS; v++)
        for (int w = 0; w < 6; w += 4) {
            struct attention a = make(&variants[v], 1, 129, 2, 64, 15, window_all[w]);
            for (int t = 0; t < 129; t++)
                for (int h = 0; h < 2; h++)
                    for (int c = 0; c < 64; c++)
                        at(&a, 0, t, 0, h)[c] *= 6;
            compare(&a, 6, WITH_ALL);
            outputs_free(&a.memory);
        }
}

/* Equal keys up to EQUAL: rows there are degenerate when re-weighted and not free; the others are
 * not. */
TEST(degenerate_rows)
{
    enum { T = 129, EQUAL = 70, D = 8 };
    for (int v = 0; v < VARIANTS; v++)
        for (int window = 0; window < 6; window += 5) {
            struct attention a = make(&variants[v], 2, T, 1, D, 15, window);
            for (int t = 0; t < EQUAL; t++)
                fill_vector(&a, t, 1, (real)0.7);
            struct outputs o = {0};
            run(k_cpu(), &a, 2, &o);
            for (int b = 0; b < 2; b++)
                for (int t = 0; t < EQUAL; t++) {
                    const int n = window && t + 1 > window ? window : t + 1;
                    const bool degenerate = variants[v].reweight && n > variants[v].unshifted_rows;
                    for (int c = 0; c < D; c++) {
                        double mean = 0;
                        for (int j = t - n + 1; j <= t; j++)
                            mean += (double)at(&a, b, j, 2, 0)[c] / n;
                        const size_t row = (size_t)(b * T + t);
                        const double out = (double)o.item[0].data[row * D + (size_t)c];
                        if (degenerate)
                            assert_true(out == 0 && o.item[1].data[3 * row * D + (size_t)c] == 0);
                        else
                            assert_near(out, mean, 1e-5);
                    }
                    assert_true((a.row_stats[b * T + t] == 0) == degenerate);
                }
            outputs_free(&o);
            compare(&a, 1, WITH_ALL);
            outputs_free(&a.memory);
        }
}

/* Zero vectors have no direction: no gradient. All values zero: all outputs zero. */
TEST(zero_vectors)
{
    enum { T = 80, D = 17, ZERO_Q = 66, ZERO_K = 9 };
    for (int v = 0; v < VARIANTS; v++) {
        struct attention a = make(&variants[v], 1, T, 2, D, 2.5, 0);
        fill_vector(&a, ZERO_Q, 0, 0);
        fill_vector(&a, ZERO_K, 1, 0);
        compare(&a, 1, WITH_ALL);
        struct outputs o = {0};
        run(k_cpu(), &a, 1, &o);
        for (int c = 0; c < 2 * D && variants[v].score == K_SCORE_COS_LOGN; c++) {
            assert_true(o.item[1].data[ZERO_Q * 6 * D + c] == 0);
            assert_true(o.item[1].data[ZERO_K * 6 * D + 2 * D + c] == 0);
        }
        outputs_free(&o);
        outputs_free(&a.memory);
    }
}

/* What moves at MOVED changes rows [MOVED, MOVED + window) and no other; the gradient that enters
 * at that row reaches (MOVED - window, MOVED]. Across the ends of blocks. */
TEST(nothing_looks_ahead_or_beyond_the_window)
{
    enum { T = BLOCK + 120, MOVED = BLOCK + 20, D = 8, ALL = T };
    static const int windows[] = {0, 1, 30, 100};
    for (int v = 0; v < VARIANTS; v++)
        for (int w = 0; w < 4; w++) {
            const int window = windows[w] ? windows[w] : ALL;
            struct attention a = make(&variants[v], 1, T, 1, D, 2.5, windows[w]);
            struct outputs before = {0}, after = {0}, back = {0};
            run(k_cpu(), &a, 2, &before);
            for (int which = 0; which < 3; which++)
                at(&a, 0, MOVED, which, 0)[3] += 2;
            run(k_cpu(), &a, 2, &after);
            for (int t = 0; t < T; t++)
                if (t < MOVED || t >= MOVED + window)
                    assert_memory_equal(before.item[0].data + t * D, after.item[0].data + t * D,
                                        D * sizeof(real));
            for (size_t i = 0; i < a.n; i++)
                a.dout[i] = i / D == MOVED ? 1 : 0;
            run(k_cpu(), &a, 2, &back);
            int reached = 0;
            for (int t = 0; t < T; t++)
                for (int c = 0; c < D; c++) {
                    const bool zero = back.item[1].data[(t * 3 + 2) * D + c] == 0 &&
                                      back.item[1].data[(t * 3 + 1) * D + c] == 0;
                    if (t > MOVED || t <= MOVED - window)
                        assert_true(zero);
                    reached += !zero;
                }
            assert_true(reached > 0 || a.row_stats[MOVED] == 0);
            outputs_free(&before);
            outputs_free(&after);
            outputs_free(&back);
            outputs_free(&a.memory);
        }
}

/* The rule looks at fields; what it does not serve takes the generic path. */
TEST(serves_by_fields)
{
    struct k_attention_shape shape = {.B = 1, .T = 9, .H = 1, .D = 8, .power = 15};
    for (const struct k_attention *v = k_attention_table; v->name; v++) {
        shape.variant = v;
        const bool expected = !strcmp(v->name, "softmax") || !strcmp(v->name, "lssa") ||
                              !strcmp(v->name, "lssar") || !strcmp(v->name, "rw_softmax") ||
                              !strcmp(v->name, "phi_exp") || !strcmp(v->name, "decomp_IV");
        if (strcmp(v->name, "decomp_II") != 0)
            assert_int_equal(k_cpu_loops_of(orr_isa())->fused_serves(&shape), expected);
    }
    struct attention wide = make(&variants[2], 1, 20, 1, CPU_FUSED_LARGEST_D + 1, 3, 0);
    assert_false(k_cpu_loops_of(orr_isa())->fused_serves(&wide.shape));
    struct outputs found = {0}, expected = {0};
    run(k_cpu(), &wide, 2, &found);
    run(&k_ref, &wide, 1, &expected);
    outputs_near("wide heads", &found, &expected, 1e-4);
    outputs_free(&found);
    outputs_free(&expected);
    outputs_free(&wide.memory);
    struct attention widest = make(&variants[2], 1, 70, 1, CPU_FUSED_LARGEST_D, 3, 0);
    compare(&widest, 1, WITH_ALL);
    outputs_free(&widest.memory);
}

/* Scratch of one worker: linear in T, far below T x T. */
TEST(memory_is_linear)
{
    for (int v = 0; v < VARIANTS; v++)
        for (int backward = 0; backward < 2; backward++) {
            size_t bytes[2];
            for (int i = 0; i < 2; i++) {
                const struct k_attention_shape shape = {.B = 1,
                                                        .T = i ? 32768 : 16384,
                                                        .H = 1,
                                                        .D = 64,
                                                        .power = 15,
                                                        .variant = &variants[v]};
                bytes[i] = k_cpu_loops_of(orr_isa())->fused_scratch(&shape, backward);
            }
            assert_true(bytes[1] < 2 * bytes[0] + 4096);
            assert_true(bytes[0] < (size_t)32 * 16384 * 64); /* eight floats per key and column */
        }
}

TESTS(set_variants, NULL)
