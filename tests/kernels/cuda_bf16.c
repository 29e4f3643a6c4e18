/* cuda_bf16.c - tensors of the CUDA backend that are bf16 in place of float, against the
 * reference on the same numbers: inputs are numbers that bf16 has, so that what differs is the
 * rounding of results and of sums.
 *
 * Bounds: bf16 keeps 8 bits, so that a result that is rounded to it is off by 2^-8 of itself at
 * most; a float sum of n products is off by (n + 4) 2^-24 of the sum of their sizes. Every case
 * runs with threads and blocks in three orders, which must give the same bits. */
#include "bf16.h"
#include "test_data.h"

#include <float.h>

enum { ITEMS = 12, ORDERS = 3 };
static const double eps = FLT_EPSILON / 2;
static const double form_eps = 0x1p-14; /* of GELU and of its slope where they are bf16 */
static const double half = 0x1p-8;      /* of one rounding to bf16 */

extern void cuda_host_set_order(int order) __attribute__((weak));
static const struct k_ops *cuda;

/* ---- a case: tensors, of which the reference has floats and the device what it says */

struct item {
    const char *name; /* of an output; NULL: an input */
    size_t n;
    bool bf16, hidden; /* hidden: on the device not a number, for nothing may read it */
    float *start, *expected;
    double *allowed;
    void *found[ORDERS];
};
struct bf16_case {
    const char *name;
    int N, C, OC, shift; /* shift: elements that device pointers are off 64 bytes */
    bool inp_bf16, out_bf16, copies, bias;
    enum bf16_form { PLAIN, RESIDUAL, GELU } form;
    struct stream stream;
    int count;
    struct item item[ITEMS];
};
typedef void operation(const struct k_ops *ops, const struct bf16_case *c, void **x);

/* n numbers that bf16 has. */
static float *tensor(struct bf16_case *c, const char *name, size_t n, bool bf16, double size)
{
    assert_true(c->count < ITEMS);
    struct item *t = &c->item[c->count++];
    *t = (struct item){.name = name, .n = n, .bf16 = bf16};
    t->start = orr_alloc(n + 1, sizeof *t->start);
    t->expected = orr_alloc(n + 1, sizeof *t->expected);
    t->allowed = orr_alloc(n + 1, sizeof *t->allowed);
    assert_true(t->start && t->expected && t->allowed);
    for (size_t i = 0; i < n; i++)
        t->start[i] = bf16_widen(bf16_of((float)bell(&c->stream, size)));
    return t->start;
}

static size_t size_of(const struct item *t)
{
    return t->bf16 ? sizeof(uint16_t) : sizeof(float);
}

/* As the device has it. */
static void *packed(const struct item *t)
{
    void *memory = orr_alloc(t->n + 1, size_of(t));
    assert_non_null(memory);
    for (size_t i = 0; i < t->n; i++) {
        const float x = t->hidden ? NAN : t->start[i];
        if (t->bf16)
            ((uint16_t *)memory)[i] = bf16_of(x);
        else
            ((float *)memory)[i] = x;
    }
    return memory;
}

static void on_device(struct bf16_case *c, operation *run, int order)
{
    void *block[ITEMS], *x[ITEMS];
    for (int i = 0; i < c->count; i++) {
        const struct item *t = &c->item[i];
        void *from = packed(t);
        assert_int_equal(cuda->alloc(&block[i], (t->n + (size_t)c->shift) * size_of(t)), 0);
        x[i] = (char *)block[i] + (size_t)c->shift * size_of(t);
        assert_int_equal(cuda->upload(x[i], from, t->n * size_of(t)), 0);
        free(from);
    }
    if (cuda_host_set_order)
        cuda_host_set_order(order);
    run(cuda, c, x);
    for (int i = 0; i < c->count; i++) {
        struct item *t = &c->item[i];
        t->found[order] = orr_alloc(t->n + 1, size_of(t));
        assert_int_equal(cuda->download(t->found[order], x[i], t->n * size_of(t)), 0);
        cuda->release(block[i]);
    }
    if (cuda_host_set_order)
        cuda_host_set_order(0);
}

static double found_at(const struct item *t, size_t i)
{
    return t->bf16 ? (double)bf16_widen(((const uint16_t *)t->found[0])[i])
                   : (double)((const float *)t->found[0])[i];
}

static void compare(const struct bf16_case *c, const struct item *t)
{
    for (int order = 1; order < ORDERS; order++)
        assert_memory_equal(t->found[0], t->found[order], t->n * size_of(t));
    for (size_t i = 0; i < t->n; i++) {
        const double found = found_at(t, i), expected = (double)t->expected[i];
        if (!(fabs(found - expected) <= t->allowed[i]))
            fail_msg("%s (%d, %d, %d), shift %d, bf16 %d %d, copies %d, bias %d, form %d: "
                     "%s[%zu] is %.9g, not %.9g within %.3g",
                     c->name, c->N, c->C, c->OC, c->shift, c->inp_bf16, c->out_bf16, c->copies,
                     c->bias, (int)c->form, t->name, i, found, expected, t->allowed[i]);
    }
}

/* Runs the reference, asks for the bounds, runs the device and compares. Frees the case. */
static void check(struct bf16_case *c, operation *run, void (*bounds)(struct bf16_case *))
{
    void *x[ITEMS];
    for (int i = 0; i < c->count; i++) {
        memcpy(c->item[i].expected, c->item[i].start, c->item[i].n * sizeof(float));
        x[i] = c->item[i].expected;
    }
    run(&k_ref, c, x);
    bounds(c);
    for (int order = 0; order < ORDERS; order++)
        on_device(c, run, order);
    for (int i = 0; i < c->count; i++) {
        struct item *t = &c->item[i];
        if (t->name)
            compare(c, t);
        for (int order = 0; order < ORDERS; order++)
            free(t->found[order]);
        free(t->start);
        free(t->expected);
        free(t->allowed);
    }
}

static double size_at(const struct item *t, size_t i)
{
    return fabs((double)t->expected[i]);
}

/* ---- rounding: every bit as it should be */

TEST(numbers_are_rounded)
{
    static const float odd[] = {0.0F,        -0.0F,       INFINITY,
                                -INFINITY,   FLT_MAX,     0x1p-140F,
                                1 + 0x1p-8F, 1 + 0x3p-8F, 1 + 0x1p-8F + 0x1p-20F};
    enum { N = 1030, ODD = sizeof odd / sizeof *odd };
    struct stream s = {.seed = 4};
    float x[N];
    uint16_t found[N + 1];
    for (size_t i = 0; i < N; i++)
        x[i] = i < ODD ? odd[i] : (float)bell(&s, 3);
    void *from, *to;
    assert_int_equal(cuda->alloc(&from, (N + 3) * sizeof *x), 0);
    assert_int_equal(cuda->alloc(&to, (N + 1) * sizeof *found), 0);
    assert_true(cuda->has_bf16_tensors());
    for (size_t shift = 0; shift < 2; shift++)
        for (size_t n = N - 9; n <= N; n++) {
            assert_int_equal(cuda->upload((float *)from + shift, x, n * sizeof *x), 0);
            assert_int_equal(cuda->zero(to, (N + 1) * sizeof *found), 0);
            assert_int_equal(cuda->to_bf16(to, (const float *)from + shift, n), 0);
            assert_int_equal(cuda->download(found, to, sizeof found), 0);
            for (size_t i = 0; i <= N; i++)
                assert_int_equal(found[i], i < n ? bf16_of(x[i]) : 0);
        }
    const float none = NAN;
    assert_int_equal(cuda->upload(from, &none, sizeof none), 0);
    assert_int_equal(cuda->to_bf16(to, from, 1), 0);
    assert_int_equal(cuda->download(found, to, sizeof *found), 0);
    assert_true(isnan(bf16_widen(found[0])));
    cuda->release(from);
    cuda->release(to);
}

/* ---- layer norm: out, mean, rstd, x, gamma, beta; dx, dgamma, dbeta, dout, ... */

static void run_layernorm(const struct k_ops *ops, const struct bf16_case *c, void **x)
{
    const struct k_layernorm l = {.N = c->N,
                                  .C = c->C,
                                  .x = x[3],
                                  .gamma = x[4],
                                  .beta = x[5],
                                  .mean = x[1],
                                  .rstd = x[2],
                                  .out = x[0],
                                  .bf16 = ops == cuda};
    assert_int_equal(ops->layernorm_forward(&l), 0);
}

static void layernorm_bounds(struct bf16_case *c)
{
    const double sum = eps * (c->C + 16);
    const struct item *beta = &c->item[5];
    for (size_t i = 0; i < c->item[0].n; i++) {
        const double size = size_at(&c->item[0], i) + size_at(beta, i % (size_t)c->C);
        c->item[0].allowed[i] = half * size_at(&c->item[0], i) + 8 * sum * size + sum;
    }
    for (size_t i = 0; i < (size_t)c->N; i++) {
        c->item[1].allowed[i] = 4 * sum;
        c->item[2].allowed[i] = 4 * sum * size_at(&c->item[2], i);
    }
}

/* dx, dx_bf16, dx_sums, dgamma, dbeta, dout, x, mean, rstd, gamma */
static void run_layernorm_backward(const struct k_ops *ops, const struct bf16_case *c, void **x)
{
    const int N = c->N, C = c->C;
    struct k_layernorm l = {.N = N,
                            .C = C,
                            .x = x[6],
                            .gamma = x[9],
                            .mean = x[7],
                            .rstd = x[8],
                            .dout = x[5],
                            .dx = x[0],
                            .dgamma = x[3],
                            .dbeta = x[4]};
    if (ops == cuda) {
        l.bf16 = true;
        l.dx_bf16 = c->copies ? x[1] : NULL;
        l.dx_sums = c->bias ? x[2] : NULL;
    }
    assert_int_equal(ops->layernorm_backward(&l), 0);
    if (ops == cuda)
        return;
    const float *dx = x[0];
    float *copy = x[1], *sums = x[2];
    for (int i = 0; i < N * C; i++) {
        copy[i] = c->copies ? dx[i] : copy[i];
        sums[i % C] += c->bias ? dx[i] : 0;
    }
}

/* Numbers are of order 10 at most; dx_bf16 alone is rounded to bf16. */
static void layernorm_backward_bounds(struct bf16_case *c)
{
    const double row = 100.0 * (c->C + 16), column = 20.0 * c->N * (c->N + 16);
    const double sizes[] = {row, row, c->N * row + column, column, column};
    for (int k = 0; k < 5; k++)
        for (size_t i = 0; i < c->item[k].n; i++)
            c->item[k].allowed[i] =
                eps * sizes[k] + (k == 1 ? half * (1 + half) * size_at(&c->item[1], i) : 0);
}

static void layernorm(int N, int C, int shift)
{
    const size_t n = (size_t)N * (size_t)C, rows = (size_t)N, columns = (size_t)C;
    struct bf16_case c = {.name = "layernorm", .N = N, .C = C, .shift = shift};
    tensor(&c, "out", n, true, 1);
    tensor(&c, "mean", rows, false, 1);
    tensor(&c, "rstd", rows, false, 1);
    tensor(&c, NULL, n, false, 1);
    tensor(&c, NULL, columns, false, 1);
    tensor(&c, NULL, columns, false, 1);
    check(&c, run_layernorm, layernorm_bounds);
    for (int with = 0; with < 4; with++) {
        struct bf16_case b = {.name = "layernorm backward", .N = N, .C = C, .shift = shift};
        b.copies = with & 1;
        b.bias = with & 2;
        tensor(&b, "dx", n, false, 1);
        tensor(&b, "dx_bf16", n, true, 1);
        tensor(&b, "dx_sums", columns, false, 1);
        tensor(&b, "dgamma", columns, false, 1);
        tensor(&b, "dbeta", columns, false, 1);
        tensor(&b, NULL, n, true, 1);
        tensor(&b, NULL, n, false, 1);
        tensor(&b, NULL, rows, false, 0.1);
        float *rstd = tensor(&b, NULL, rows, false, 0.2);
        tensor(&b, NULL, columns, false, 1);
        for (size_t i = 0; i < rows; i++)
            rstd[i] = bf16_widen(bf16_of(rstd[i] + 1));
        check(&b, run_layernorm_backward, layernorm_backward_bounds);
    }
}

TEST(norms_agree)
{
    static const int shapes[][2] = {{1, 8},    {7, 24},   {65, 96},  {9, 768},
                                    {5, 1032}, {3, 2056}, {2, 4104}, {33, 27}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int shift = 0; shift < 2; shift++)
            layernorm(shapes[k][0], shapes[k][1], shift);
}

/* ---- linear layers, forward: out, inp, w, b, residual or pre, w_bf16, b_bf16 */

static void run_forward(const struct k_ops *ops, const struct bf16_case *c, void **x)
{
    const bool bf16 = ops == cuda;
    const struct k_linear l = {.N = c->N,
                               .C = c->C,
                               .OC = c->OC,
                               .out = x[0],
                               .inp = x[1],
                               .w = x[2],
                               .b = c->bias ? x[3] : NULL,
                               .residual = c->form == RESIDUAL ? x[4] : NULL,
                               .pre = c->form == GELU ? x[4] : NULL,
                               .inp_bf16 = bf16 && c->inp_bf16,
                               .out_bf16 = bf16 && c->out_bf16,
                               .w_bf16 = bf16 && c->copies ? x[5] : NULL,
                               .b_bf16 = bf16 && c->copies ? x[6] : NULL};
    assert_int_equal(ops->linear_forward(&l), 0);
}

static void forward_bounds(struct bf16_case *c)
{
    struct item *out = &c->item[0], *last = &c->item[4];
    const float *inp = c->item[1].start, *w = c->item[2].start, *b = c->item[3].start;
    for (size_t i = 0; i < out->n; i++) {
        const size_t n = i / (size_t)c->OC, oc = i % (size_t)c->OC, C = (size_t)c->C;
        double size = c->bias ? fabs((double)b[oc]) : 0, sum = 0;
        for (size_t k = 0; k < C; k++) {
            size += fabs((double)inp[n * C + k] * (double)w[oc * C + k]);
            sum += (double)inp[n * C + k] * (double)w[oc * C + k];
        }
        const double product = eps * (c->C + 6) * size;
        const double pre = c->form == GELU ? size_at(last, i) : size_at(out, i);
        /* where the bias is added afterwards, the sum without it is rounded as well */
        const double roundings =
            c->out_bf16 ? half * (pre + (c->bias ? fabs(sum) : 0)) * (1 + half) : 0;
        if (c->form == GELU) { /* the slope is at most 1.13 */
            last->allowed[i] = roundings + product;
            const double own = c->out_bf16 ? form_eps + half * (1 + half) : 8 * eps;
            out->allowed[i] = 1.13 * last->allowed[i] + own * size_at(out, i);
        } else {
            out->allowed[i] = roundings + product + 2 * eps * size_at(out, i);
        }
    }
}

static void forward(struct bf16_case c)
{
    const size_t N = (size_t)c.N, C = (size_t)c.C, OC = (size_t)c.OC;
    c.name = "forward";
    tensor(&c, "out", N * OC, c.out_bf16, 1);
    tensor(&c, NULL, N * C, c.inp_bf16, 1);
    const float *w = tensor(&c, NULL, OC * C, false, 0.2);
    const float *b = tensor(&c, NULL, OC, false, 1);
    tensor(&c, c.form == GELU ? "pre" : NULL, N * OC, c.form == GELU && c.out_bf16, 1);
    memcpy(tensor(&c, NULL, OC * C, true, 1), w, OC * C * sizeof *w);
    memcpy(tensor(&c, NULL, OC, true, 1), b, OC * sizeof *b);
    c.item[2].hidden = c.copies; /* the copy is what is taken */
    check(&c, run_forward, forward_bounds);
}

/* ---- backward: dinp, dw, db, inp_db, dout, inp, w, inp_pre, w_bf16 */

static void run_backward(const struct k_ops *ops, const struct bf16_case *c, void **x)
{
    const bool bf16 = ops == cuda, gelu = c->form == GELU;
    const struct k_linear l = {.N = c->N,
                               .C = c->C,
                               .OC = c->OC,
                               .dinp = x[0],
                               .dw = x[1],
                               .db = c->bias ? x[2] : NULL,
                               .inp_db = bf16 && c->inp_bf16 && gelu ? x[3] : NULL,
                               .dout = x[4],
                               .inp = x[5],
                               .w = x[6],
                               .inp_pre = gelu ? x[7] : NULL,
                               .inp_bf16 = bf16 && c->inp_bf16,
                               .out_bf16 = bf16 && c->out_bf16,
                               .w_bf16 = bf16 && c->copies ? x[8] : NULL};
    assert_int_equal(ops->linear_backward(&l), 0);
    float *inp_db = x[3];
    const float *dinp = x[0];
    for (int i = 0; !bf16 && c->inp_bf16 && gelu && i < c->N * c->C; i++)
        inp_db[i % c->C] += dinp[i];
}

static void backward_bounds(struct bf16_case *c)
{
    struct item *dinp = &c->item[0], *dw = &c->item[1], *db = &c->item[2], *inp_db = &c->item[3];
    const float *dout = c->item[4].start, *inp = c->item[5].start, *w = c->item[6].start;
    const size_t N = (size_t)c->N, C = (size_t)c->C, OC = (size_t)c->OC;
    for (size_t i = 0; i < OC * C; i++) {
        double size = fabs((double)dw->start[i]);
        for (size_t n = 0; n < N; n++)
            size += fabs((double)dout[n * OC + i / C] * (double)inp[n * C + i % C]);
        dw->allowed[i] = eps * (c->N + 6) * size;
    }
    for (size_t i = 0; i < N * OC; i++)
        db->allowed[i % OC] += 2 * eps * (c->N + 4) * fabs((double)dout[i]);
    for (size_t i = 0; i < OC; i++)
        db->allowed[i] += 2 * eps * fabs((double)db->start[i]);
    for (size_t i = 0; i < N * C; i++) {
        double size = 0;
        for (size_t o = 0; o < OC; o++)
            size += fabs((double)dout[i / C * OC + o] * (double)w[o * C + i % C]);
        /* the product is rounded, and what GELU makes of it, whose slope is at most 1.13 */
        const double product = 1.13 * eps * (c->OC + 12) * size;
        const double once = c->inp_bf16 ? half * (1 + half) * size_at(dinp, i) : 0;
        /* GELU's slope is off by so much of Phi, though it may be near 0 */
        const double slope = c->inp_bf16 && c->form == GELU ? form_eps * size : 0;
        dinp->allowed[i] = product + slope + (c->form == GELU ? 2 * once : once);
        inp_db->allowed[i % C] += product + slope + once + 2 * eps * (c->N + 4) * size_at(dinp, i);
    }
    for (size_t i = 0; i < C; i++)
        inp_db->allowed[i] += 2 * eps * fabs((double)inp_db->start[i]);
}

static void backward(struct bf16_case c)
{
    const size_t N = (size_t)c.N, C = (size_t)c.C, OC = (size_t)c.OC;
    c.name = "backward";
    tensor(&c, "dinp", N * C, c.inp_bf16, 1);
    tensor(&c, "dw", OC * C, false, 1);
    tensor(&c, "db", OC, false, 1);
    tensor(&c, "inp_db", C, false, 1);
    tensor(&c, NULL, N * OC, c.out_bf16, 1);
    tensor(&c, NULL, N * C, c.inp_bf16, 1);
    const float *w = tensor(&c, NULL, OC * C, false, 0.2);
    tensor(&c, NULL, N * C, c.inp_bf16, 1);
    memcpy(tensor(&c, NULL, OC * C, true, 1), w, OC * C * sizeof *w);
    c.item[6].hidden = c.copies;
    check(&c, run_backward, backward_bounds);
}

/* Whole pieces of 16 bytes and not, small enough for the plain product and not; all that is bf16
 * beside all that is not. */
TEST(layers_agree)
{
    static const int shapes[][3] = {{5, 8, 16},    {17, 24, 40},  {3, 7, 9},    {65, 32, 264},
                                    {130, 48, 24}, {40, 33, 261}, {600, 8, 16}, {9, 264, 8}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int bits = 0; bits < 32; bits++)
            for (int form = 0; form < 3; form++) {
                const struct bf16_case c = {.N = shapes[k][0],
                                            .C = shapes[k][1],
                                            .OC = shapes[k][2],
                                            .inp_bf16 = bits & 1,
                                            .out_bf16 = bits & 2,
                                            .copies = bits & 4,
                                            .bias = bits & 8,
                                            .shift = bits & 16 ? 1 : 0,
                                            .form = (enum bf16_form)form};
                if (form != RESIDUAL || !c.out_bf16)
                    forward(c);
                if (form != RESIDUAL)
                    backward(c);
            }
}

FIXTURE(open_cuda)
{
    return k_find("cuda", &cuda) || cuda->open(1, K_PRECISION_BF16);
}

FIXTURE(close_cuda)
{
    cuda->close();
    return 0;
}

TESTS(open_cuda, close_cuda)
