/* test_attention.c - every line of the table: the cpu backend against the reference over many
 * shapes, closed forms, causality, windows, silent rows, zero vectors and extreme powers. */
#include "test_data.h"

/* One problem with its results. */
struct attention {
    struct k_attention_shape shape;
    struct outputs memory;
    size_t n; /* reals of out; qkv has 3 n */
    real *qkv, *dout, *saved;
};

static struct attention make(const char *variant, int B, int T, int H, int D, double p, int window)
{
    struct attention a = {.shape = {.B = B, .T = T, .H = H, .D = D, .p = p, .window = window}};
    struct stream s = {(uint64_t)(T * 1000 + D * 10 + window), 0};
    a.shape.variant = k_attention_find(variant);
    assert_non_null(a.shape.variant);
    a.n = (size_t)B * (size_t)T * (size_t)H * (size_t)D;
    a.qkv = input(&a.memory, &s, 3 * a.n, 1);
    a.dout = input(&a.memory, &s, a.n, 1);
    a.saved = input(&a.memory, &s, k_attention_saved(&a.shape), 0);
    return a;
}

static void drop(struct attention *a)
{
    outputs_free(&a->memory);
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

static void run(const struct k_ops *ops, const struct attention *a, bool generic, struct outputs *o)
{
    real *out = output(o, "out", a->n), *dqkv = output(o, "dqkv", 3 * a->n);
    if (generic) {
        assert_int_equal(ops->attention_generic_forward(out, a->saved, a->qkv, &a->shape), 0);
        assert_int_equal(
            ops->attention_generic_backward(dqkv, a->dout, out, a->saved, a->qkv, &a->shape), 0);
    } else {
        assert_int_equal(ops->attention_forward(out, a->saved, a->qkv, &a->shape), 0);
        assert_int_equal(ops->attention_backward(dqkv, a->dout, out, a->saved, a->qkv, &a->shape),
                         0);
    }
}

/* Powers enlarge rounding by their own size. */
static double tolerance(const struct attention *a)
{
    return a->shape.variant->sharpen ? 3e-5 * (1 + a->shape.p) : 2e-5;
}

static void compare(const struct attention *a)
{
    struct outputs expected = {0}, one = {0}, two = {0}, generic = {0};
    char what[128];
    snprintf(what, sizeof what, "%s, T %d, H %d, D %d, window %d, p %g", a->shape.variant->name,
             a->shape.T, a->shape.H, a->shape.D, a->shape.window, a->shape.p);
    run(&k_ref, a, false, &expected);
    assert_int_equal(k_cpu.open(1, false), 0);
    run(&k_cpu, a, false, &one);
    assert_int_equal(k_cpu.open(2, true), 0); /* bf16 is for matrices of weights */
    run(&k_cpu, a, false, &two);
    run(&k_cpu, a, true, &generic);
    outputs_near(what, &one, &expected, tolerance(a));
    outputs_near(what, &generic, &expected, tolerance(a));
    outputs_same(what, &one, &two);
    outputs_free(&expected);
    outputs_free(&one);
    outputs_free(&two);
    outputs_free(&generic);
}

static void agrees_with_reference(void **state)
{
    (void)state;
    static const int T[] = {1, 2, 3, 4, 5, 63, 64, 65, 130}, D[] = {4, 8, 16, 24, 32, 64};
    static const int window[] = {0, 1, 2, 4, 7, 100};
    static const double p[] = {2.5, 15, 1, 3};
    int turn = 0;
    for (const struct k_attention *v = k_attention_table; v->name; v++)
        for (int t = 0; t < 9; t++)
            for (int d = 0; d < 6; d++)
                for (int w = 0; w < 6; w++, turn++) {
                    if (T[t] > 60 && (t + d + w) % 3) /* a third of the long ones */
                        continue;
                    const int B = T[t] < 60 ? 3 : 1, H = 1 + (d + w) % 3;
                    struct attention a = make(v->name, B, T[t], H, D[d], p[turn % 4], window[w]);
                    compare(&a);
                    drop(&a);
                }
    k_cpu.close();
}

/* A = (0.4, 0.3, 0.2, 0.1): n A - 1 = (0.6, 0.2, <0, <0), squared and normed (0.9, 0.1, 0, 0). */
static void known_weights(void **state)
{
    (void)state;
    static const double weight[4] = {0.4, 0.3, 0.2, 0.1};
    for (const struct k_ops *const *all = k_backends(); *all; all++)
        for (int sharpen = 0; sharpen < 2; sharpen++) {
            struct attention a = make(sharpen ? "rw_softmax" : "softmax", 1, 4, 1, 4, 2, 0);
            for (int t = 0; t < 4; t++) {
                fill_vector(&a, t, 0, 0);
                fill_vector(&a, t, 1, 0);
                at(&a, 0, t, 0, 0)[0] = 2; /* sqrt(D) */
                at(&a, 0, t, 1, 0)[0] = (real)log(weight[t]);
            }
            struct outputs o = {0};
            assert_int_equal((*all)->open(1, false), 0);
            run(*all, &a, false, &o);
            for (int c = 0; c < 4; c++) {
                double row = 0, third = 0;
                for (int t = 0; t < 4; t++)
                    row += (sharpen ? (const double[]){0.9, 0.1, 0, 0} : weight)[t] *
                           (double)at(&a, 0, t, 2, 0)[c];
                /* three keys are not shifted: (4, 3, 2) squared or as they are */
                const double sum = sharpen ? 29 : 9;
                for (int t = 0; t < 3; t++)
                    third +=
                        (sharpen ? pow(4 - t, 2) : 4 - t) / sum * (double)at(&a, 0, t, 2, 0)[c];
                assert_near((double)o.item[0].data[12 + c], row, 1e-5);
                assert_near((double)o.item[0].data[8 + c], third, 1e-5);
                assert_near((double)o.item[0].data[c], (double)at(&a, 0, 0, 2, 0)[c], 1e-6);
            }
            (*all)->close();
            outputs_free(&o);
            drop(&a);
        }
}

/* Position `moved` may change rows [moved, moved + window) and no other, gradients alike. */
static void nothing_looks_ahead_or_beyond_the_window(void **state)
{
    (void)state;
    static const int windows[] = {0, 1, 4, 7};
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        assert_int_equal((*all)->open(2, false), 0);
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int w = 0; w < 4; w++) {
                enum { T = 37, D = 8, H = 2, MOVED = 19 };
                struct attention a = make(v->name, 1, T, H, D, 2.5, windows[w]);
                const int end = windows[w] ? MOVED + windows[w] : T;
                struct outputs before = {0}, after = {0}, back = {0};
                run(*all, &a, false, &before);
                for (int which = 0; which < 3; which++)
                    for (int c = 0; c < H * D; c++)
                        at(&a, 0, MOVED, which, 0)[c] += (real)(1 + c % 3);
                run(*all, &a, false, &after);
                int changed = 0;
                for (int t = 0; t < T; t++) {
                    const size_t row = (size_t)t * H * D;
                    const bool same = !memcmp(before.item[0].data + row, after.item[0].data + row,
                                              H * D * sizeof(real));
                    if (t < MOVED || t >= end)
                        assert_true(same);
                    changed += !same;
                }
                assert_true(changed >= 1);
                /* a gradient that enters at row MOVED reaches (MOVED - window, MOVED] only */
                for (size_t i = 0; i < a.n; i++)
                    a.dout[i] = i / (H * D) == MOVED ? 1 : 0;
                run(*all, &a, false, &back);
                for (size_t i = 0; i < 3 * a.n; i++) {
                    const int t = (int)(i / (3 * H * D));
                    if (t > MOVED || (windows[w] && t <= MOVED - windows[w]))
                        assert_true(back.item[1].data[i] == 0);
                }
                outputs_free(&before);
                outputs_free(&after);
                outputs_free(&back);
                drop(&a);
            }
        (*all)->close();
    }
}

/* Equal keys: every weight is 1/n. Re-weighted rows with more than free_rows keys are silent -
 * output and gradient exactly 0 - the others give the mean of the values. */
static void equal_keys_make_uniform_or_silent_rows(void **state)
{
    (void)state;
    static const int windows[] = {0, 2, 3, 4};
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        assert_int_equal((*all)->open(2, false), 0);
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int zero = 0; zero < 2; zero++) /* equal keys, or zero queries */
                for (int w = 0; w < 4; w++) {
                    enum { T = 21, D = 4 };
                    struct attention a = make(v->name, 1, T, 1, D, 15, windows[w]);
                    for (int t = 0; t < T; t++)
                        fill_vector(&a, t, zero ? 0 : 1, zero ? 0 : (real)0.7);
                    struct outputs o = {0};
                    run(*all, &a, false, &o);
                    for (int t = 0; t < T; t++) {
                        const int n = windows[w] && t + 1 > windows[w] ? windows[w] : t + 1;
                        const bool silent = v->sharpen && n > v->free_rows;
                        for (int c = 0; c < D; c++) {
                            double mean = 0;
                            for (int j = t - n + 1; j <= t; j++)
                                mean += (double)at(&a, 0, j, 2, 0)[c] / n;
                            const double out = (double)o.item[0].data[t * D + c];
                            if (silent)
                                assert_true(out == 0);
                            else
                                assert_near(out, mean, 1e-5);
                            if (silent || zero) /* of the query; a zero vector has no direction */
                                if (silent || v->score == K_SCORE_COS_LOGN)
                                    assert_true(o.item[1].data[t * 3 * D + c] == 0);
                        }
                    }
                    outputs_free(&o);
                    drop(&a);
                }
        (*all)->close();
    }
}

/* With values 1 the output is the sum of the weights: 1, or 0 in a silent row; a window of at
 * most free_rows keys never silences a row. */
static void weights_sum_to_one(void **state)
{
    (void)state;
    static const double powers[] = {1, 2.5, 15, 50};
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        assert_int_equal((*all)->open(2, false), 0);
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int p = 0; p < 4; p++)
                for (int window = 0; window < 5; window++) {
                    enum { T = 40 };
                    struct attention a = make(v->name, 1, T, 2, 8, powers[p], window);
                    for (int t = 0; t < T; t++)
                        fill_vector(&a, t, 2, 1);
                    struct outputs o = {0};
                    run(*all, &a, false, &o);
                    for (size_t i = 0; i < a.n; i++)
                        assert_near((double)o.item[0].data[i], 1, 1e-5);
                    outputs_free(&o);
                    drop(&a);
                }
        (*all)->close();
    }
}

/* Tiny and huge vectors, an exact zero query and key, p = 50: everything stays finite and equals
 * the reference. */
static void extremes_stay_finite(void **state)
{
    (void)state;
    static const double scales[] = {1e-15, 1e-6, 30};
    for (const struct k_attention *v = k_attention_table; v->name; v++)
        for (int k = 0; k < 3; k++) {
            struct attention a = make(v->name, 1, 33, 2, 8, 50, 0);
            for (size_t i = 0; i < 3 * a.n; i++)
                if (i / (2 * 8) % 3 < 2) /* q and k */
                    a.qkv[i] *= (real)scales[k];
            fill_vector(&a, 7, 0, 0);
            fill_vector(&a, 9, 1, 0);
            struct outputs expected = {0}, found = {0};
            assert_int_equal(k_cpu.open(2, false), 0);
            run(&k_ref, &a, false, &expected);
            run(&k_cpu, &a, false, &found);
            for (int i = 0; i < 2; i++)
                for (size_t j = 0; j < found.item[i].n; j++) {
                    assert_true(isfinite(expected.item[i].data[j]));
                    assert_true(isfinite(found.item[i].data[j]));
                }
            char what[64];
            snprintf(what, sizeof what, "%s at scale %g", v->name, scales[k]);
            found.count = expected.count = 1; /* gradients of tiny vectors have no fixed scale */
            outputs_near(what, &found, &expected, 2e-3);
            found.count = expected.count = 2;
            outputs_free(&expected);
            outputs_free(&found);
            drop(&a);
        }
    k_cpu.close();
}

static void table_is_sound(void **state)
{
    (void)state;
    assert_null(k_attention_find("hardmax"));
    assert_null(k_attention_find(""));
    for (const struct k_attention *v = k_attention_table; v->name; v++) {
        assert_ptr_equal(k_attention_find(v->name), v);
        assert_true(strlen(v->source) > 0);
        struct k_attention_shape shape = {.B = 2, .T = 3, .H = 5, .D = 4, .variant = v, .p = 3};
        assert_true(k_attention_saved(&shape) >= 2 * 3 * 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_sound),
        cmocka_unit_test(known_weights),
        cmocka_unit_test(agrees_with_reference),
        cmocka_unit_test(nothing_looks_ahead_or_beyond_the_window),
        cmocka_unit_test(equal_keys_make_uniform_or_silent_rows),
        cmocka_unit_test(weights_sum_to_one),
        cmocka_unit_test(extremes_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
