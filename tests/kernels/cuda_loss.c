/* cuda_loss.c - losses and the optimiser of the CUDA backend against the reference: rows that
 * stay in registers and rows that do not, weights of all kinds, classes that are padded, several
 * chunks of a head, all in place and not. */
#include "cuda_case.h"
#include "op_calls.h"

static const int rows[] = {1, 7, 65};

/* ---- cross entropy */

/* dlogits, logits, target, weight */
static void run_cross_entropy(const struct k_ops *ops, const struct problem *p, double *loss,
                              void **x)
{
    assert_ok(call_cross_entropy(ops, &loss[1], NULL, x[1], p->stride, p->at, x[2], 2,
                                 p->weights ? x[3] : NULL, p->N, p->V));
    assert_ok(call_cross_entropy(ops, loss, x[0], x[1], p->stride, p->at, x[2], 2,
                                 p->weights ? x[3] : NULL, p->N, p->V));
}

/* Weights: 1 has some of 0, 2 only 0. Rows of weight 0 have no valid target. Returns the sum. */
static double set_weights(struct problem *p, float *weight, uint16_t *target, int per_row)
{
    double sum = 0;
    for (int n = 0; n < p->N; n++) {
        weight[n] = p->weights == 2 || n % 3 == 1 ? 0 : 0.5F + (float)uniform(&p->stream);
        if (p->weights && weight[n] == 0 && target)
            target[n * per_row] = 65535;
        sum += p->weights ? (double)weight[n] : 1;
    }
    return sum;
}

/* Bounds for the gradient of one row of logits that differ by `error` from exact ones, and what
 * the row adds to the bound of the loss. */
static double softmax_bounds(double *bound, const float *x, int V, double share, double error)
{
    double largest = (double)x[0], z = 0;
    for (int v = 1; v < V; v++)
        largest = fmax(largest, (double)x[v]);
    for (int v = 0; v < V; v++)
        z += exp((double)x[v] - largest);
    /* exponentials within 3 roundings, and their sum by 256 threads */
    const double sum_error = eps * (V / 256.0 + 16);
    double spread = 0;
    for (int v = 0; v < V; v++) {
        const double p = exp((double)x[v] - largest) / z, off = largest - (double)x[v];
        spread += p * off;
        bound[v] = share * (p * (eps * (off + 8) + sum_error + 2 * error) + 2 * eps) + 1e-43;
    }
    return share * (sum_error + eps * spread + 2 * error);
}

static void cross_entropy(int N, int V, int stride, int at, int weights, int shift, int alias)
{
    struct problem p = {.name = "cross entropy", .N = N, .V = V, .stride = stride, .at = at};
    p.weights = weights, p.shift = shift, p.alias = alias;
    const size_t n = (size_t)N * (size_t)stride;
    float *d = numbers(&p, "dlogits", n, 1);
    float *logits = numbers(&p, NULL, n, 4);
    uint16_t *target = tokens(&p, 2 * (size_t)N, V);
    float *weight = numbers(&p, NULL, (size_t)N, 1);
    const double total = set_weights(&p, weight, target, 2);
    if (alias) /* the columns that are not touched are those of logits then */
        memcpy(d, logits, n * sizeof *d);
    for (int i = 0; i < N; i++) {
        const double share = total > 0 ? (weights ? (double)weight[i] : 1) / total : 0;
        p.loss_allowed +=
            softmax_bounds(allowed(&p, 0) + i * stride + at, logits + i * stride + at, V, share, 0);
    }
    check(&p, run_cross_entropy);
}

TEST(cross_entropy_agrees)
{
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (int weights = 0; weights < 3; weights++)
            for (int alias = 0; alias < 2; alias++) {
                cross_entropy(rows[i], 1, 1, 0, weights, 0, alias);
                cross_entropy(rows[i], 5, 11, 6, weights, 0, alias);
                cross_entropy(rows[i], 8, 16, 8, weights, 0, alias);
                cross_entropy(rows[i], 8, 16, 8, weights, 1, alias);
            }
    for (int weights = 0; weights < 2; weights++) {
        cross_entropy(7, 33, 40, 4, weights, 0, 1); /* blocks of one, of two warps, of all */
        cross_entropy(7, 130, 133, 2, weights, 0, 0);
        cross_entropy(7, 132, 136, 4, weights, 0, 0);
        cross_entropy(7, 1023, 1023, 0, weights, 1, 1);
        cross_entropy(3, 1024, 1024, 0, weights, 0, 1); /* the last that four registers keep */
        cross_entropy(3, 1028, 1032, 4, weights, 0, 0);
        cross_entropy(3, 8192, 8192, 0, weights, 0, 1); /* the last that are kept at all */
        cross_entropy(2, 8196, 8196, 0, weights, 0, 1);
        cross_entropy(5, 7003, 14006, 7003, weights, 0, 1);
        cross_entropy(5, 7003, 7003, 0, weights, 0, 0);
    }
}

/* Logits of 1e4 apart, -inf, and NaN, which must be seen. */
TEST(extreme_logits)
{
    const float special[] = {1e4F, -1e4F, -INFINITY, NAN};
    for (int V = 4; V <= 5; V++) /* kept, and not */
        for (size_t i = 0; i < LENGTH(special); i++) {
            struct problem p = {.name = "extreme logits", .N = 2, .V = V, .stride = V};
            numbers(&p, "dlogits", (size_t)(2 * V), 1);
            float *x = numbers(&p, NULL, (size_t)(2 * V), 1);
            uint16_t *target = tokens(&p, 4, V);
            numbers(&p, NULL, 2, 1);
            target[0] = target[2] = 0;
            x[1] = special[i];
            for (int v = 0; v < 2 * V; v++)
                allowed(&p, 0)[v] = 16 * eps;
            p.loss_allowed = i == 0 ? 1e4 * 16 * eps : 16 * eps;
            check(&p, run_cross_entropy);
        }
}

/* A target beyond the classes, in a row that counts, makes the loss NaN. */
static void run_wrong_target(const struct k_ops *ops, const struct problem *p, double *loss,
                             void **x)
{
    if (ops == &k_ref)
        loss[0] = NAN; /* (it may read anything) */
    else
        assert_ok(call_cross_entropy(ops, loss, x[0], x[0], p->V, 0, x[1], 1, NULL, p->N, p->V));
}

TEST(targets_beyond_are_seen)
{
    for (int V = 4; V <= 5; V++) {
        struct problem p = {.name = "wrong target", .N = 3, .V = V};
        numbers(&p, NULL, (size_t)(3 * V), 1);
        tokens(&p, 3, V)[1] = (uint16_t)V;
        check(&p, run_wrong_target);
    }
}

/* ---- the head: in fp32, and in bf16 of inputs and weights that bf16 has, where gradients of
 * logits alone are rounded */

static bool bf16_head;

static void round_numbers(float *x, size_t n)
{
    for (size_t i = 0; i < n && bf16_head; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits = (bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff0000U;
        memcpy(x + i, &bits, sizeof bits);
    }
}

/* dinp, dw, inp, w, target, weight */
static void run_head(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    assert_ok(call_head_cross_entropy(ops, loss, x[0], x[1], x[2], x[3], x[4],
                                      p->weights ? x[5] : NULL, p->N, p->C, p->V, p->channels));
}

/* One row and channel: what its logits' errors make of dinp and dw. */
static void head_bounds(struct problem *p, int n, int channel, double share)
{
    const int C = p->C, V = p->V;
    const float *inp = (float *)p->item[2].start + n * C;
    const float *w = (float *)p->item[3].start + channel * V * C;
    double *dinp = allowed(p, 0) + n * C, *dw = allowed(p, 1) + channel * V * C, error = 0;
    float *logits = orr_alloc((size_t)V, sizeof *logits);
    double *bound = orr_alloc((size_t)V, sizeof *bound);
    assert_true(logits && bound);
    for (int v = 0; v < V; v++) {
        double sum = 0, size = 0;
        for (int c = 0; c < C; c++) {
            const double term = (double)inp[c] * (double)w[v * C + c];
            sum += term, size += fabs(term);
        }
        logits[v] = (float)sum;
        error = fmax(error, eps * (C + 2) * size);
    }
    p->loss_allowed += softmax_bounds(bound, logits, V, share, error);
    double largest = -INFINITY, z = 0;
    for (int v = 0; v < V; v++)
        largest = fmax(largest, (double)logits[v]);
    for (int v = 0; v < V; v++)
        z += exp((double)logits[v] - largest);
    const int answer = ((uint16_t *)p->item[4].start)[n * p->channels + channel];
    for (int v = 0; v < V; v++) {
        const double d = share * fabs(exp((double)logits[v] - largest) / z - (v == answer ? 1 : 0));
        bound[v] += bf16_head ? 0x1p-8 * (d + bound[v]) : 0;
        for (int c = 0; c < C; c++) {
            dinp[c] += fabs((double)w[v * C + c]) * (bound[v] + eps * (p->channels * V + 2) * d);
            dw[v * C + c] += fabs((double)inp[c]) * (bound[v] + eps * (p->N + 2) * d);
        }
    }
    free(logits);
    free(bound);
}

static void head(int N, int C, int V, int channels, int weights, int shift)
{
    struct problem p = {.name = "head", .N = N, .C = C, .V = V, .channels = channels};
    p.weights = weights, p.shift = shift;
    const size_t OC = (size_t)channels * (size_t)V;
    numbers(&p, "dinp", (size_t)(N * C), 1);
    const float *dw = numbers(&p, "dw", OC * (size_t)C, 1);
    round_numbers(numbers(&p, NULL, (size_t)(N * C), 1), (size_t)(N * C));
    round_numbers(numbers(&p, NULL, OC * (size_t)C, 1), OC * (size_t)C);
    uint16_t *target = tokens(&p, (size_t)(N * channels), V);
    float *weight = numbers(&p, NULL, (size_t)N, 1);
    const double total = set_weights(&p, weight, NULL, 0);
    for (int n = 0; n < N; n++)
        for (int c = 0; c < channels; c++) {
            const double share = total > 0 ? (weights ? (double)weight[n] : 1) / total : 0;
            if (share == 0)
                target[n * channels + c] = 65535;
            else
                head_bounds(&p, n, c, share / channels);
        }
    for (size_t i = 0; i < OC * (size_t)C; i++) /* sums of chunks are added to what is there */
        allowed(&p, 1)[i] += 3 * eps * fabs((double)dw[i]);
    check(&p, run_head);
}

TEST(head_agrees)
{
    for (int weights = 0; weights < 3; weights++)
        for (int shift = 0; shift < 2; shift++) {
            head(1, 3, 5, 2, weights, shift);
            head(7, 12, 9, 1, weights, shift);
            head(65, 4, 16, 2, weights, shift);   /* no padding */
            head(150, 3, 130, 2, weights, shift); /* three chunks */
            head(129, 1, 256, 1, weights, shift); /* two chunks without padding */
        }
    head(65, 3, 7003, 2, 1, 0); /* a chunk of one row */
    head(2, 2, 8195, 1, 0, 0);  /* padded, and not kept */
}

TEST(head_agrees_in_bf16)
{
    cuda->close();
    assert_ok(cuda->open(1, K_PRECISION_BF16));
    bf16_head = true;
    head_agrees(state);
    bf16_head = false;
    cuda->close();
    assert_ok(cuda->open(1, K_PRECISION_FP32));
}

/* ---- mean squared error */

/* dpred, pred, target, weight */
static void run_mse(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    float *weight = p->weights ? x[3] : NULL;
    assert_ok(call_regression(ops, &loss[1], NULL, x[1], x[2], weight, p->N, p->C, p->delta));
    assert_ok(call_regression(ops, loss, x[0], x[1], x[2], weight, p->N, p->C, p->delta));
}

TEST(regression_agrees)
{
    static const int all_rows[] = {1, 7, 65, 2000}, columns[] = {1, 2, 33};
    for (size_t i = 0; i < LENGTH(all_rows); i++)
        for (size_t k = 0; k < LENGTH(columns); k++)
            for (int kind = 0; kind < 6; kind++) {
                const int weights = kind % 3;
                struct problem p = {.name = "regression", .N = all_rows[i], .C = columns[k]};
                p.weights = weights;
                p.delta = kind < 3 ? 0 : 0.7;
                const size_t n = (size_t)(p.N * p.C);
                numbers(&p, "dpred", n, 1);
                float *pred = numbers(&p, NULL, n, 1), *target = numbers(&p, NULL, n, 1);
                const double total = set_weights(&p, numbers(&p, NULL, (size_t)p.N, 1), NULL, 0);
                const float *weight = p.item[3].start;
                for (size_t j = 0; j < n; j++) { /* in double, then rounded once by both */
                    const float w = weights ? weight[j / (size_t)p.C] : 1;
                    if (w == 0)
                        target[j] = INFINITY;
                    else
                        allowed(&p, 0)[j] = 2 * eps * 2 * (double)w / total / p.C *
                                            fabs((double)pred[j] - (double)target[j]);
                    p.loss_allowed = 1e-16 * (double)n * 10; /* losses are about 2 */
                }
                check(&p, run_mse);
            }
}

/* ---- the optimiser */

static void run_squares(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    assert_ok(ops->sum_squares(loss, x[0], p->item[0].n));
}

static void run_adamw(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    const size_t n = p->item[0].n;
    /* one decay; ranges that end between fours; anywhere */
    const size_t first = p->T == 501 ? n / 3 / 4 * 4 : n / 3, second = first + n / 8 * 4;
    const struct k_decay decays[] = {{first, 0.1}, {second, 0}, {n, 0.1}};
    const struct k_adamw k = {.lr = 0.01,
                              .beta1 = 0.9,
                              .beta2 = 0.95,
                              .eps = 1e-8,
                              .weight_decay = 0.1,
                              .decays = p->T > 1 ? decays : NULL,
                              .count = 3,
                              .grad_scale = 0.37,
                              .step = p->T};
    assert_ok(ops->adamw(x[0], x[3], x[1], x[2], n, &k));
}

static void run_average(const struct k_ops *ops, const struct problem *p, double *loss, void **x)
{
    (void)loss;
    assert_ok(ops->average(x[0], x[1], p->item[0].n, p->T ? 0.999 : 0));
}

static const size_t sizes[] = {1, 3, 4, 33, 1023, 4096, 70001};

TEST(squares_agree)
{
    for (size_t k = 0; k < LENGTH(sizes); k++)
        for (int shift = 0; shift < 2; shift++) {
            struct problem p = {.name = "sum of squares", .N = (int)sizes[k], .shift = shift};
            const float *x = numbers(&p, NULL, sizes[k], 1);
            double sum = 0;
            for (size_t i = 0; i < sizes[k]; i++)
                sum += (double)x[i] * (double)x[i];
            p.loss_allowed = DBL_EPSILON * (double)sizes[k] * sum;
            check(&p, run_squares);
        }
}

/* One step from anywhere: first, and late, when nothing is corrected any more. */
TEST(adamw_agrees)
{
    for (size_t k = 0; k < LENGTH(sizes); k++)
        for (int step = 1; step <= 1001; step += 500)
            for (int shift = 0; shift < 2; shift++) {
                struct problem p = {.name = "adamw", .N = (int)sizes[k], .T = step};
                p.shift = shift;
                const size_t n = sizes[k];
                const float *x = numbers(&p, "param", n, 1), *m = numbers(&p, "m", n, 1);
                float *v = numbers(&p, "v", n, 1), *grad = numbers(&p, NULL, n, 1);
                grad[0] = 0;
                for (size_t i = 0; i < n; i++)
                    v[i] = i == 0 ? 0 : v[i] * v[i] + 1e-3F;
                for (size_t i = 0; i < n; i++) {
                    const double g = 0.37 * fabs((double)grad[i]);
                    const double mean = 0.9 * fabs((double)m[i]) + 0.1 * g;
                    const double square = 0.95 * (double)v[i] + 0.05 * g * g;
                    const double move = 0.01 * mean / (1 - pow(0.9, step)) /
                                        (sqrt(square / (1 - pow(0.95, step))) + 1e-8);
                    /* products of up to 4 roundings, the factors rounded too */
                    allowed(&p, 1)[i] = 5 * eps * mean;
                    allowed(&p, 2)[i] = 7 * eps * square;
                    allowed(&p, 0)[i] = eps * (3 * fabs((double)x[i]) + 16 * move);
                }
                check(&p, run_adamw);
            }
}

TEST(average_agrees)
{
    for (size_t k = 0; k < LENGTH(sizes); k++)
        for (int shift = 0; shift < 2; shift++)
            for (int keep = 0; keep < 2; keep++) {
                struct problem p = {.name = "average", .N = (int)sizes[k], .T = keep};
                p.shift = shift;
                const float *a = numbers(&p, "average", sizes[k], 1);
                const float *x = numbers(&p, NULL, sizes[k], 1);
                for (size_t i = 0; i < sizes[k]; i++) /* decay 0: x itself */
                    allowed(&p, 0)[i] =
                        keep * eps * (4 * 0.999 * fabs((double)a[i]) + 4 * fabs((double)x[i]));
                check(&p, run_average);
            }
}

TESTS(open_cuda, close_cuda)
