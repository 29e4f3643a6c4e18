/* cuda_case.h - one operation of the CUDA backend against the reference, for the tests of its
 * kernels: tensors on both sides, bounds for every number of the result.
 *
 * Tolerances are bounds: so many roundings of so much. Every case runs with threads and blocks in
 * three orders, for a sum that depends on the order of execution would differ in a bit; and it is
 * recorded and replayed. */
#ifndef CUDA_CASE_H
#define CUDA_CASE_H

#include "test_data.h"

#include <float.h>

enum { TENSORS = 8, ORDERS = 3, REPLAYED = ORDERS, RUNS };
static const double eps = FLT_EPSILON / 2; /* of one rounding */

/* Of the emulation, where that is linked. */
extern void cuda_host_set_order(int order) __attribute__((weak));
static const struct k_ops *cuda; /* open while tests run */

static inline void set_order(int order)
{
    if (cuda_host_set_order)
        cuda_host_set_order(order);
}

static inline int open_cuda(void **state)
{
    (void)state;
    return k_find("cuda", &cuda) || cuda->open(1, K_PRECISION_FP32);
}

static inline int close_cuda(void **state)
{
    (void)state;
    cuda->close();
    return 0;
}

struct problem {
    const char *name;
    int N, C, V, T, stride, at, channels, weights; /* weights: 0 none, 1 some are 0, 2 all are */
    int shift; /* floats that device pointers are off 16 bytes */
    int alias; /* the tensor that stands for tensor 0 when that may be */
    enum k_gate gate;
    bool inverse;
    double delta; /* of the pseudo-Huber loss */
    struct stream stream;
    int count;
    struct pair {
        const char *name; /* of an output; NULL: an input */
        size_t n, size;
        void *start, *expected; /* as it was; as the reference left it */
        double *allowed;
        char *found[RUNS];
    } item[TENSORS];
    double loss[2][2]; /* the numbers of the backend, of the reference */
    double loss_allowed;
};

static inline void assert_ok(int rc)
{
    if (rc != 0)
        fail_msg("%s", orr_error());
}

/* NaN is near NaN. */
static inline void assert_number(double found, double expected, double tolerance)
{
    if (!isnan(found) || !isnan(expected))
        assert_near(found, expected, tolerance);
}

/* The operation, that may give two numbers, on tensors x, the reference's or the device's. */
typedef void operation(const struct k_ops *ops, const struct problem *p, double *loss, void **x);

/* ---- tensors of a problem */

static inline void *tensor(struct problem *p, const char *name, size_t n, size_t size)
{
    assert_true(p->count < TENSORS);
    struct pair *t = &p->item[p->count++];
    *t = (struct pair){.name = name, .n = n, .size = size};
    t->start = orr_alloc(n + 1, size);
    t->expected = orr_alloc(n + 1, size);
    t->allowed = name ? orr_alloc(n + 1, sizeof *t->allowed) : NULL;
    assert_true(t->start && t->expected && (!name || t->allowed));
    return t->start;
}

static inline float *numbers(struct problem *p, const char *name, size_t n, double scale)
{
    float *x = tensor(p, name, n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)bell(&p->stream, scale);
    return x;
}

static inline uint16_t *tokens(struct problem *p, size_t n, int V)
{
    uint16_t *x = tensor(p, NULL, n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (uint16_t)(uniform(&p->stream) * V);
    return x;
}

static inline double *allowed(struct problem *p, int tensor_index)
{
    return p->item[tensor_index].allowed;
}

/* Runs the operation on the device; what it left of every output is kept. */
static inline void on_device(struct problem *p, operation *run, int order)
{
    void *block[TENSORS], *x[TENSORS];
    struct k_recording *recording = NULL;
    p->loss[0][0] = p->loss[0][1] = 0;
    set_order(order == REPLAYED ? 0 : order);
    for (int i = 0; i < p->count; i++) {
        const struct pair *t = &p->item[i];
        assert_ok(cuda->alloc(&block[i], (t->n + 4) * t->size));
        x[i] = (char *)block[i] + (size_t)p->shift * t->size;
        assert_ok(cuda->upload(x[i], t->start, t->n * t->size));
    }
    if (p->alias)
        x[0] = x[p->alias];
    if (order == REPLAYED) /* what it does has been done before */
        assert_ok(cuda->record_begin());
    run(cuda, p, p->loss[0], x);
    if (order == REPLAYED) {
        assert_ok(cuda->record_end(&recording));
        assert_ok(cuda->replay(recording));
    }
    assert_ok(cuda->wait());
    if (recording)
        cuda->record_free(recording);
    for (int i = 0; i < p->count; i++) {
        struct pair *t = &p->item[i];
        t->found[order] = orr_alloc(t->n + 1, t->size);
        assert_non_null(t->found[order]);
        assert_ok(cuda->download(t->found[order], x[i], t->n * t->size));
    }
    for (int i = 0; i < p->count; i++)
        cuda->release(block[i]);
    set_order(0);
}

static inline void compare(const struct problem *p, const struct pair *t)
{
    const float *found = (const float *)(const void *)t->found[0], *expected = t->expected;
    for (int order = 1; order < RUNS; order++)
        if (memcmp(t->found[0], t->found[order], t->n * t->size))
            fail_msg("%s, N %d, C %d, V %d: %s %s", p->name, p->N, p->C, p->V, t->name,
                     order == REPLAYED ? "is not the same when replayed"
                                       : "depends on the order of execution");
    for (size_t i = 0; i < t->n; i++) {
        const bool same = isnan(expected[i]) && isnan(found[i]);
        if (!same && !(fabs((double)found[i] - (double)expected[i]) <= t->allowed[i]))
            fail_msg("%s, N %d, C %d, V %d, shift %d: %s[%zu] is %.9g, not %.9g within %.3g",
                     p->name, p->N, p->C, p->V, p->shift, t->name, i, (double)found[i],
                     (double)expected[i], t->allowed[i]);
    }
}

static inline void problem_free(struct problem *p)
{
    for (int i = 0; i < p->count; i++) {
        struct pair *t = &p->item[i];
        for (int order = 0; order < RUNS; order++)
            free(t->found[order]);
        free(t->start);
        free(t->expected);
        free(t->allowed);
    }
}

/* Inputs are in place, and bounds. Frees the problem. */
static inline void check(struct problem *p, operation *run)
{
    void *x[TENSORS];
    for (int i = 0; i < p->count; i++) {
        struct pair *t = &p->item[i];
        memcpy(t->expected, t->start, t->n * t->size);
        x[i] = t->expected;
    }
    run(&k_ref, p, p->loss[1], x);
    double first[2];
    /* the forward order last: what it leaves in shared memory would be right for the others */
    static const int orders[RUNS] = {2, 1, 0, REPLAYED};
    for (int i = 0; i < RUNS; i++) {
        on_device(p, run, orders[i]);
        for (int k = 0; k < 2; k++) { /* the same bits */
            first[k] = i == 0 ? p->loss[0][k] : first[k];
            assert_number(p->loss[0][k], first[k], 0);
        }
    }
    for (int k = 0; k < 2; k++)
        assert_number(p->loss[0][k], p->loss[1][k], p->loss_allowed);
    for (int i = 0; i < p->count; i++) {
        struct pair *t = &p->item[i];
        if (t->name && (!p->alias || i != p->alias))
            compare(p, t);
    }
    problem_free(p);
}

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#endif
