/* cuda_rows.c - elements, rows, positions and embedding of the CUDA backend against the
 * reference, at sizes that its kernels cut in different ways: rows shorter than a warp, longer than
 * a block keeps, pointers on 4 bytes and on 16, tokens that fill many pieces. */
#include "cuda_case.h"
#include "op_calls.h"

static const int rows[] = {1, 7, 65};
static const int columns[] = {1, 3, 33, 96, 768, 1023};
/* ---- elements */

static void run_gelu(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    assert_ok(ops->gelu_backward(x[0], x[1], x[2], p->item[0].n));
}

static void run_add(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    assert_ok(ops->add(x[0], x[1], x[2], p->item[0].n));
}

static void run_gate(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    assert_ok(call_gate_forward(ops, x[0], x[1], x[2], p->gate, p->item[0].n));
}

/* dy, dout, pre, dpre, y */
static void run_gate_backward(const struct k_ops *ops, const struct problem *p, double *loss,
                              void **x)
{
    (void)loss;
    assert_ok(call_gate_backward(ops, x[0], x[3], x[1], x[4], x[2], p->gate, p->item[0].n));
}

/* Two inputs, of which the second goes through a function; alias 1: out is the first. */
static void elements(operation *run, const char *name, enum k_gate gate, size_t n, int shift,
                     int alias)
{
    struct problem p = {.name = name, .N = (int)n, .shift = shift, .alias = alias, .gate = gate};
    p.stream.seed = 5;
    numbers(&p, "out", n, 1);
    const float *a = numbers(&p, NULL, n, 1);
    float *b = numbers(&p, NULL, n, 3);
    if (run == run_gate_backward) {
        numbers(&p, "dpre", n, 1);
        numbers(&p, NULL, n, 1);
    }
    const float special[] = {-40, 40, 0, -6, -100};
    for (size_t i = 0; i < n && i < 5; i++)
        b[i] = special[i];
    for (size_t i = 0; i < n; i++) {
        const double x = (double)b[i], f = fabs((double)a[i]);
        /* e^-|x| of an argument that is off by eps |x|; functions of the device are within 4
         * units of the last place, 8 roundings */
        const double few = eps * (16 + fabs(x));
        const double density = 0.399 * exp(-0.5 * x * x), cdf = 0.5 * erfc(-x / sqrt(2));
        if (run == run_gelu)
            allowed(&p, 0)[i] =
                f * eps * (16 * cdf + fabs(x) * density * (x * x + 16)) + (double)FLT_MIN;
        else if (run == run_add)
            allowed(&p, 0)[i] = 0;
        else
            allowed(&p, 0)[i] =
                f * few * (gate == K_GATE_SOFTPLUS ? log1p(exp(x)) : 1) + (double)FLT_MIN;
        if (run == run_gate_backward)
            allowed(&p, 3)[i] =
                few * f * fabs((double)((float *)p.item[4].start)[i]) + (double)FLT_MIN;
    }
    check(&p, run);
}

TEST(elements_agree)
{
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (size_t k = 0; k < LENGTH(columns); k++)
            for (int shift = 0; shift < 2; shift++)
                for (int alias = 0; alias < 2; alias++) {
                    const size_t n = (size_t)rows[i] * (size_t)columns[k];
                    if (n > 10000)
                        continue;
                    elements(run_gelu, "gelu", K_GATE_NONE, n, shift, alias);
                    elements(run_add, "add", K_GATE_NONE, n, shift, alias ? 2 : 0);
                    for (int gate = K_GATE_NONE; gate <= (int)K_GATE_SOFTPLUS; gate++) {
                        elements(run_gate, "gate", (enum k_gate)gate, n, shift, alias);
                        elements(run_gate_backward, "gate backward", (enum k_gate)gate, n, shift,
                                 alias);
                    }
                }
}

TEST(scale_agrees)
{
    for (size_t k = 0; k < LENGTH(columns); k++)
        for (int shift = 0; shift < 2; shift++) {
            struct problem p = {.name = "scale", .N = columns[k], .shift = shift};
            const size_t n = (size_t)columns[k];
            const float *x = numbers(&p, "x", n, 1);
            void *block;
            float found[1023];
            assert_ok(cuda->alloc(&block, (n + 1) * sizeof *x));
            float *device = (float *)block + shift;
            assert_ok(cuda->upload(device, x, n * sizeof *x));
            assert_ok(cuda->scale(device, 1.0 / 3, n));
            assert_ok(cuda->download(found, device, n * sizeof *x));
            for (size_t i = 0; i < n; i++)
                assert_true(found[i] == x[i] * (float)(1.0 / 3));
            cuda->release(block);
            problem_free(&p);
        }
}

static void run_rope(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    assert_ok(call_rope(ops, x[0], p->N, p->T, p->V, p->C, 10000, 3, p->inverse));
}

/* (B, T, 3, H, D) = (2, 19, 3, 3, D) */
TEST(rope_agrees)
{
    static const int sizes[] = {2, 6, 64, 130};
    for (size_t k = 0; k < LENGTH(sizes); k++)
        for (int inverse = 0; inverse < 2; inverse++) {
            const int D = sizes[k];
            struct problem p = {
                .name = "rope", .N = 2, .T = 19, .V = 3, .C = D, .inverse = inverse};
            const size_t n = (size_t)(p.N * p.T * 3 * p.V * D), half = (size_t)D / 2;
            const float *x = numbers(&p, "qkv", n, 1);
            for (size_t i = 0; i < n; i++) { /* two products, each of two roundings, and a sum */
                const size_t other = i % (size_t)D < half ? i + half : i - half;
                allowed(&p, 0)[i] = 3 * eps * (fabs((double)x[i]) + fabs((double)x[other]));
            }
            check(&p, run_rope);
        }
}

/* ---- layer norm */

static void run_layernorm(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    assert_ok(call_layernorm_forward(ops, x[0], x[1], x[2], x[3], x[4], x[5], p->N, p->C));
}

/* dx, dgamma, dbeta, dout, x, mean, rstd, gamma */
static void run_layernorm_backward(const struct k_ops *ops, const struct problem *p, double *loss,
                                   void **x)
{
    (void)loss;
    assert_ok(
        call_layernorm_backward(ops, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], p->N, p->C));
}

/* Roundings of a sum over C columns by a warp, a column per lane: it may be four. */
static double depth(int C)
{
    return C / 32.0 + 8;
}

/* Means far from 0; row 0 is constant. */
static void layernorm_rows(float *x, int N, int C)
{
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            x[n * C + c] = n == 0 ? 3 : x[n * C + c] + 5 * (float)(n % 3);
}

static void layernorm(int N, int C, int shift)
{
    struct problem p = {.name = "layernorm", .N = N, .C = C, .shift = shift};
    const size_t n = (size_t)N * (size_t)C;
    numbers(&p, "out", n, 1);
    numbers(&p, "mean", (size_t)N, 1);
    numbers(&p, "rstd", (size_t)N, 1);
    float *x = numbers(&p, NULL, n, 2);
    const float *gamma = numbers(&p, NULL, (size_t)C, 1), *beta = numbers(&p, NULL, (size_t)C, 1);
    layernorm_rows(x, N, C);
    for (int i = 0; i < N; i++) {
        const float *row = x + i * C;
        double sum = 0, size = 0, squares = 0;
        for (int c = 0; c < C; c++)
            sum += (double)row[c], size += fabs((double)row[c]);
        for (int c = 0; c < C; c++)
            squares += ((double)row[c] - sum / C) * ((double)row[c] - sum / C);
        const double m = sum / C, r = 1 / sqrt(squares / C + 1e-5);
        const double m_error = eps * depth(C) * size / C;
        /* half the relative error of the variance, and what a wrong mean adds to it */
        const double r_error = r * (eps * (depth(C) + 6) + 0.5 * r * r * m_error * m_error);
        allowed(&p, 1)[i] = m_error;
        allowed(&p, 2)[i] = r_error;
        for (int c = 0; c < C; c++) {
            const double d = fabs((double)row[c] - m), g = fabs((double)gamma[c]);
            allowed(&p, 0)[i * C + c] = g * (r * (m_error + 4 * eps * d) + d * r_error) +
                                        eps * (fabs((double)beta[c]) + g * r * d);
        }
    }
    check(&p, run_layernorm);
}

static void layernorm_backward(int N, int C, int shift)
{
    struct problem p = {.name = "layernorm backward", .N = N, .C = C, .shift = shift};
    const size_t n = (size_t)N * (size_t)C;
    numbers(&p, "dx", n, 1);
    numbers(&p, "dgamma", (size_t)C, 1);
    numbers(&p, "dbeta", (size_t)C, 1);
    const float *dout = numbers(&p, NULL, n, 1);
    float *x = numbers(&p, NULL, n, 2), *mean = numbers(&p, NULL, (size_t)N, 1);
    float *rstd = numbers(&p, NULL, (size_t)N, 1);
    const float *gamma = numbers(&p, NULL, (size_t)C, 1);
    layernorm_rows(x, N, C);
    for (int i = 0; i < N; i++) {
        rstd[i] = fabsf(rstd[i]) + 1;
        mean[i] += 5 * (float)(i % 3);
    }
    for (int i = 0; i < 2 * C; i++)
        allowed(&p, 1 + i / C)[i % C] =
            eps * fabs((double)((float *)p.item[1 + i / C].start)[i % C]);
    for (int i = 0; i < N; i++) {
        double size_g = 0, size_gh = 0;
        for (int c = 0; c < C; c++) {
            const double d = fabs((double)dout[i * C + c]);
            const double h = fabs((double)(x[i * C + c] - mean[i]) * (double)rstd[i]);
            size_g += d * fabs((double)gamma[c]) / C;
            size_gh += d * fabs((double)gamma[c]) * h / C;
            /* sums down the columns: at most N roundings of what has been added, products */
            allowed(&p, 1)[c] += eps * (N + 6) * d * h;
            allowed(&p, 2)[c] += eps * (N + 2) * d;
        }
        for (int c = 0; c < C; c++) {
            const double g = fabs((double)dout[i * C + c] * (double)gamma[c]), r = (double)rstd[i];
            const double h = fabs((double)(x[i * C + c] - mean[i]) * r);
            const double start = fabs((double)((float *)p.item[0].start)[i * C + c]);
            allowed(&p, 0)[i * C + c] =
                eps *
                (start + r * (6 * g + (depth(C) + 6) * size_g + h * (depth(C) + 10) * size_gh));
        }
    }
    check(&p, run_layernorm_backward);
}

TEST(layernorm_agrees)
{
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (size_t k = 0; k < LENGTH(columns); k++)
            for (int shift = 0; shift < 2; shift++) {
                if (rows[i] * columns[k] > 60000)
                    continue;
                layernorm(rows[i], columns[k], shift);
                layernorm_backward(rows[i], columns[k], shift);
            }
    /* rows that no thread keeps, and many ranges of short rows */
    layernorm(5, 2052, 0);
    layernorm_backward(5, 4096, 0);
    layernorm_backward(9, 4100, 0);
    layernorm_backward(9, 4101, 1);
    layernorm(700, 4, 0);
    layernorm_backward(700, 4, 0);
    layernorm_backward(701, 5, 1);
}

/* ---- positions and embedding */

static void run_position(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    assert_ok(ops->position_forward(x[0], x[1], p->N, p->T, p->C));
    assert_ok(ops->position_backward(x[2], x[3], p->N, p->T, p->C));
}

static void position(int N, int T, int C, int shift)
{
    struct problem p = {.name = "position", .N = N, .T = T, .C = C, .shift = shift};
    const size_t n = (size_t)N * (size_t)C, width = (size_t)T * (size_t)C;
    numbers(&p, "x", n, 1);
    numbers(&p, NULL, width, 1);
    const float *dtable = numbers(&p, "dtable", width, 1), *dx = numbers(&p, NULL, n, 1);
    double *bound = allowed(&p, 2); /* forward is one sum, rounded once by all: 0 */
    for (size_t i = 0; i < width; i++)
        bound[i] = fabs((double)dtable[i]);
    for (size_t i = 0; i < n; i++)
        bound[i % width] += fabs((double)dx[i]);
    for (size_t i = 0; i < width; i++)
        bound[i] *= 2 * eps * (N / T + 2); /* (the reference rounds as often) */
    check(&p, run_position);
}

TEST(position_agrees)
{
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (size_t k = 0; k < LENGTH(columns); k++)
            for (int shift = 0; shift < 2; shift++)
                for (int T = 1; T <= 65; T += 16)
                    if (rows[i] * columns[k] <= 7168)
                        position(rows[i], T, columns[k], shift);
}

/* out, table, dtable, dout, token */
static void run_embed(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    assert_ok(call_embed_forward(ops, x[0], p->stride, p->at, x[1], x[4], 2, p->N, p->V, p->C));
    assert_int_equal(
        call_embed_backward(ops, x[2], x[3], p->stride, p->at, x[4], 2, p->N, p->V, p->C), 0);
}

/* `favoured`: this share of the tokens are one and the same. */
static void embed(int N, int C, int V, int stride, int at, int shift, double favoured)
{
    struct problem p = {.name = "embed", .N = N, .C = C, .V = V, .stride = stride, .at = at};
    p.shift = shift;
    const size_t width = (size_t)V * (size_t)C;
    numbers(&p, "out", (size_t)N * (size_t)stride, 1);
    numbers(&p, NULL, width, 1);
    const float *dtable = numbers(&p, "dtable", width, 1);
    const float *dout = numbers(&p, NULL, (size_t)N * (size_t)stride, 1);
    uint16_t *token = tokens(&p, 2 * (size_t)N, V);
    double *bound = allowed(&p, 2);
    for (int n = 0; n < N; n++)
        if (uniform(&p.stream) < favoured)
            token[2 * n] = (uint16_t)(V / 2);
    for (size_t i = 0; i < width; i++) {
        bound[i] = fabs((double)dtable[i]);
        size_t terms = 1;
        for (int n = 0; n < N; n++)
            if (token[2 * n] == i / (size_t)C) {
                bound[i] += fabs((double)dout[n * stride + at + (int)(i % (size_t)C)]);
                terms++;
            }
        bound[i] *= 2 * eps * (double)terms; /* (the reference rounds as often) */
    }
    check(&p, run_embed);
}

TEST(embed_agrees)
{
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (int shift = 0; shift < 2; shift++) {
            embed(rows[i], 1, 5, 1, 0, shift, 0);
            embed(rows[i], 3, 7, 8, 4, shift, 0.5);
            embed(rows[i], 96, 5, 192, 96, shift, 0);
            embed(rows[i], 132, 3, 140, 4, shift, 1);
        }
    embed(65, 33, 7003, 33, 0, 0, 0.3);
    embed(1500, 4, 40, 8, 4, 0, 0); /* many pieces, several ranges */
    embed(1500, 3, 5, 7, 2, 0, 0.7);
    embed(777, 8, 2000, 8, 0, 0, 0.1);
    embed(64, 8, 3, 8, 0, 0, 1); /* whole pieces of one token */
}

/* A token beyond the vocabulary: its row is NaN, its gradient goes nowhere. */
static void tokens_outside(int C)
{
    enum { N = 40, WIDEST = 5, V = 3 };
    struct problem p = {.N = N, .stride = C};
    const size_t rows_bytes = (size_t)(N * C) * sizeof(float);
    const size_t table_bytes = (size_t)(V * C) * sizeof(float);
    const float *table = numbers(&p, NULL, (size_t)(V * C), 1);
    const float *dout = numbers(&p, NULL, (size_t)(N * C), 1);
    uint16_t *token = tokens(&p, N, V);
    token[7] = V;
    token[8] = 65535;
    void *device[5];
    const void *const from[] = {table, dout, token};
    const size_t bytes[] = {table_bytes, rows_bytes, N * sizeof *token, rows_bytes, table_bytes};
    for (int i = 0; i < 5; i++)
        assert_ok(cuda->alloc(&device[i], bytes[i]));
    for (int i = 0; i < 3; i++)
        assert_ok(cuda->upload(device[i], from[i], bytes[i]));
    assert_ok(call_embed_forward(cuda, device[3], C, 0, device[0], device[2], 1, N, V, C));
    assert_ok(call_embed_backward(cuda, device[4], device[1], C, 0, device[2], 1, N, V, C));
    float out[N * WIDEST], dtable[V * WIDEST];
    assert_ok(cuda->download(out, device[3], rows_bytes));
    assert_ok(cuda->download(dtable, device[4], table_bytes));
    double sum = 0, expected = 0;
    for (int i = 0; i < N * C; i++) {
        const int t = token[i / C];
        assert_true(t < V ? out[i] == table[t * C + i % C] : isnan(out[i]));
        expected += t < V ? (double)dout[i] : 0;
    }
    for (int i = 0; i < V * C; i++)
        sum += (double)dtable[i];
    assert_near(sum, expected, 2 * eps * N * N * C);
    for (int i = 0; i < 5; i++)
        cuda->release(device[i]);
    problem_free(&p);
}

TEST(tokens_outside_are_seen)
{
    tokens_outside(4);
    tokens_outside(5);
}

TESTS(open_cuda, close_cuda)
