/* attention_case.h - a random attention problem and its passes, for the tests of attention. */
#ifndef TEST_ATTENTION_CASE_H
#define TEST_ATTENTION_CASE_H

#include "test_data.h"

/* One problem with its results. */
struct attention {
    struct k_attention_shape shape;
    struct outputs memory;
    size_t n; /* reals of out; qkv has 3 n */
    real *qkv, *dout, *row_stats;
};

static inline struct attention make(const char *variant, int B, int T, int H, int D, double p,
                                    int window)
{
    struct attention a = {.shape = {.B = B, .T = T, .H = H, .D = D, .power = p, .window = window}};
    struct stream s = {(uint64_t)(T * 1000 + D * 10 + window), 0};
    a.shape.variant = k_attention_find(variant);
    assert_non_null(a.shape.variant);
    a.n = (size_t)B * (size_t)T * (size_t)H * (size_t)D;
    a.qkv = input(&a.memory, &s, 3 * a.n, 1);
    a.dout = input(&a.memory, &s, a.n, 1);
    a.row_stats = input(&a.memory, &s, k_attention_row_stats(NULL, &a.shape), 0);
    return a;
}

static inline void drop(struct attention *a)
{
    outputs_free(&a->memory);
}

/* Vector `which` (q, k, v) of head h at position t of sequence b. */
static inline real *at(const struct attention *a, int b, int t, int which, int h)
{
    const struct k_attention_shape *s = &a->shape;
    return a->qkv +
           (((size_t)(b * s->T + t) * 3 + (size_t)which) * (size_t)s->H + (size_t)h) * (size_t)s->D;
}

static inline void fill_vector(const struct attention *a, int t, int which, real value)
{
    for (int b = 0; b < a->shape.B; b++)
        for (int h = 0; h < a->shape.H; h++)
            for (int c = 0; c < a->shape.D; c++)
                at(a, b, t, which, h)[c] = value;
}

static inline void run(const struct k_ops *ops, const struct attention *a, bool generic,
                       struct outputs *o)
{
    real *out = output(o, "out", a->n), *dqkv = output(o, "dqkv", 3 * a->n);
    if (generic) {
        assert_int_equal(ops->attention_generic_forward(out, a->row_stats, a->qkv, &a->shape), 0);
        assert_int_equal(
            ops->attention_generic_backward(dqkv, a->dout, out, a->row_stats, a->qkv, &a->shape),
            0);
    } else {
        assert_int_equal(ops->attention_forward(out, a->row_stats, a->qkv, &a->shape), 0);
        assert_int_equal(
            ops->attention_backward(dqkv, a->dout, out, a->row_stats, a->qkv, &a->shape), 0);
    }
}

/* Keys that row i (0-based) attends. */
static inline int attended(const struct attention *a, int i)
{
    return a->shape.window && i + 1 > a->shape.window ? a->shape.window : i + 1;
}

#endif
