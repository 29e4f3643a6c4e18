/* test_data.h - random inputs, named outputs and their comparison, for the tests of kernels/.
 *
 * An operation under test fills a `struct outputs` from inputs that depend on the seed alone, so
 * that two backends, or two thread counts, can be compared tensor by tensor. */
#ifndef TEST_DATA_H
#define TEST_DATA_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "kernels/kernels.h"
#include "testing.h"

/* ---- random numbers: a stream that any test may start again */

struct stream {
    uint64_t seed, next;
};

/* In [0, 1). SplitMix64 (Steele, Lea, Flood 2014): fast, since the tests draw many millions. */
static inline double uniform(struct stream *s)
{
    uint64_t z = s->seed * 0xd1342543de82ef95u + ++s->next * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Roughly normal (the sum of three uniforms), standard deviation `scale`. */
static inline double bell(struct stream *s, double scale)
{
    return scale * 2 * (uniform(s) + uniform(s) + uniform(s) - 1.5);
}

static inline void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("expected %.12g within %.3g, found %.12g", expected, tolerance, found);
}

/* ---- cases that are too slow for where they run: `work` is about the number of elements */

#ifdef K_TEST_CUDA
extern void cuda_host_set_order(int order) __attribute__((weak)); /* there under the emulation */
#endif

/* 0 where everything runs, 1 under the emulation, 2 where a checker of memory is at work too. */
static inline int slowness(void)
{
#ifdef K_TEST_CUDA
#ifdef __SANITIZE_ADDRESS__
    return 2;
#else
    return getenv("ORRERY_TEST_SMALL") ? 2 : cuda_host_set_order ? 1 : 0;
#endif
#else
    return 0;
#endif
}

static inline bool too_large(double work)
{
    return slowness() && work > (slowness() == 1 ? 7e4 : 2e4);
}

/* Of a long list of cases, every so manieth: a number that shares no factor with small ones. */
static inline int step_of_cases(void)
{
    return slowness() == 0 ? 1 : slowness() == 1 ? 7 : 29;
}

/* ---- memory of one case: every piece is freed by outputs_free */

enum { OUTPUTS = 16, INPUTS = 16 };
struct outputs {
    int count, inputs;
    struct tensor {
        const char *name;
        size_t n;
        real *data;
    } item[OUTPUTS];
    void *input[INPUTS];
};

static inline void *input_memory(struct outputs *o, size_t n, size_t size)
{
    assert_true(o->inputs < INPUTS);
    void *memory = orr_alloc(n ? n : 1, size);
    assert_non_null(memory);
    return o->input[o->inputs++] = memory;
}

static inline real *input(struct outputs *o, struct stream *s, size_t n, double scale)
{
    real *x = input_memory(o, n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (real)bell(s, scale);
    return x;
}

static inline uint16_t *input_tokens(struct outputs *o, struct stream *s, size_t n, int V)
{
    uint16_t *x = input_memory(o, n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (uint16_t)(uniform(s) * V);
    return x;
}

/* A tensor to compare; what an operation overwrites starts as NaN, what it adds to as numbers. */
static inline real *output(struct outputs *o, const char *name, size_t n)
{
    assert_true(o->count < OUTPUTS);
    struct tensor *t = &o->item[o->count++];
    *t = (struct tensor){name, n, orr_alloc(n ? n : 1, sizeof(real))};
    assert_non_null(t->data);
    for (size_t i = 0; i < n; i++)
        t->data[i] = (real)NAN;
    return t->data;
}

static inline real *output_added(struct outputs *o, struct stream *s, const char *name, size_t n)
{
    real *x = output(o, name, n);
    for (size_t i = 0; i < n; i++)
        x[i] = (real)bell(s, 1);
    return x;
}

static inline void output_number(struct outputs *o, const char *name, double value)
{
    *output(o, name, 1) = (real)value;
}

static inline void outputs_free(struct outputs *o)
{
    for (int i = 0; i < o->count; i++)
        free(o->item[i].data);
    for (int i = 0; i < o->inputs; i++)
        free(o->input[i]);
    memset(o, 0, sizeof *o);
}

/* ---- comparison */

/* Largest difference of one tensor from the expected one, in units of its largest entry (at least
 * `baseline`); infinity where anything is not finite. */
static inline double tensor_error(const struct tensor *found, const struct tensor *expected,
                                  double baseline)
{
    double largest = baseline, worst = 0;
    for (size_t i = 0; i < found->n; i++)
        largest = fmax(largest, fabs((double)expected->data[i]));
    for (size_t i = 0; i < found->n; i++) {
        const double d = fabs((double)found->data[i] - (double)expected->data[i]);
        worst = isfinite(d) ? fmax(worst, d) : INFINITY;
    }
    return worst / largest;
}

/* Root of the summed squared differences, in units of the norm of the expected tensor. */
static inline double tensor_error_norm(const struct tensor *found, const struct tensor *expected)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < found->n; i++) {
        const double d = (double)found->data[i] - (double)expected->data[i];
        sum += d * d;
        square += (double)expected->data[i] * (double)expected->data[i];
    }
    return sqrt(sum / fmax(square, 1e-30));
}

static inline void outputs_near(const char *what, const struct outputs *found,
                                const struct outputs *expected, double tolerance)
{
    assert_int_equal(found->count, expected->count);
    for (int i = 0; i < found->count; i++) {
        const double error = tensor_error(&found->item[i], &expected->item[i], 1e-6);
        if (!(error <= tolerance))
            fail_msg("%s: %s differs by %.3g of its largest entry, allowed %.3g", what,
                     found->item[i].name, error, tolerance);
    }
}

static inline void outputs_same(const char *what, const struct outputs *a, const struct outputs *b)
{
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++)
        if (memcmp(a->item[i].data, b->item[i].data, a->item[i].n * sizeof(real)))
            fail_msg("%s: %s is not the same in every bit", what, a->item[i].name);
}

#endif
