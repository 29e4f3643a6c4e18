/* bench_kernels.c - milliseconds and GFLOP/s of the tensor operations, cpu beside ref in one run.
 *
 * Shapes are those of small GPTs: N = 64 sequences of T rows, C wide, four heads. Every figure is
 * the median of 15 runs after one to warm up, of ref one run; `ratio` is ref / cpu. Usage: --help.
 * Matmuls and the whole step are measured with full and with bf16 inputs. Elements of matmuls
 * count as multiply and add; attention counts the causal half of its products (2 forward, 5
 * backward). Writes bench/results/kernels.json, too. */
#include "bench.h"
#include "kernels/kernels.h"
#include "tests/op_calls.h"

enum { B = 64, H = 4, LAYERS = 3, RUNS = 15, REF_RUNS = 1, BUFFERS = 12, VOCABULARY = 7003 };

/* Shared by all cases; buffers hold the largest operand of any of them. */
struct data {
    float *x[BUFFERS];
    uint16_t *token;
    struct k_attention_shape attention;
    int T, N, C, IC, OC, V;
};

struct bench_case {
    const char *name;
    int (*run)(const struct k_ops *ops, const struct data *d);
    double (*gflop)(const struct data *d); /* NULL: no GFLOP/s */
};

static const char usage[] =
    "bench_kernels - milliseconds and GFLOP/s of the tensor operations, cpu beside ref\n\n"
    "usage: bench_kernels [--no-ref] [threads]\n\n"
    "  --no-ref      cpu alone\n"
    "  threads       default 2\n\n"
    "Prints a table and writes bench/results/kernels.json. make bench-kernels.\n";

static int ref_runs = REF_RUNS;
static struct bench_results results;
static const char *precision; /* of the backend while it is open */

/* ---- one function per operation */

static int linear_forward(const struct k_ops *ops, const struct data *d)
{
    return call_linear_forward(ops, d->x[0], d->x[1], d->x[2], d->x[3], d->N, d->IC, d->OC);
}
static int linear_gelu_forward(const struct k_ops *ops, const struct data *d)
{
    return call_linear_gelu_forward(ops, d->x[0], d->x[4], d->x[1], d->x[2], d->x[3], d->N, d->IC,
                                    d->OC);
}
static int linear_backward(const struct k_ops *ops, const struct data *d)
{
    return call_linear_backward(ops, d->x[0], d->x[5], d->x[3], d->x[1], d->x[4], d->x[2], d->N,
                                d->IC, d->OC);
}
static int exact_forward(const struct k_ops *ops, const struct data *d)
{
    return call_linear_fp32_only_forward(ops, d->x[0], d->x[1], d->x[2], d->x[3], d->N, d->IC,
                                         d->OC);
}
static int exact_backward(const struct k_ops *ops, const struct data *d)
{
    return call_linear_fp32_only_backward(ops, d->x[0], d->x[5], d->x[3], d->x[1], d->x[4], d->x[2],
                                          d->N, d->IC, d->OC);
}
static double forward_gflop(const struct data *d)
{
    return 2e-9 * d->N * d->IC * d->OC;
}
static double backward_gflop(const struct data *d)
{
    return 2 * forward_gflop(d);
}

static int gelu_backward(const struct k_ops *ops, const struct data *d)
{
    return ops->gelu_backward(d->x[0], d->x[1], d->x[4], (size_t)d->N * (size_t)(4 * d->C));
}
static int add(const struct k_ops *ops, const struct data *d)
{
    return ops->add(d->x[0], d->x[1], d->x[4], (size_t)d->N * (size_t)d->C);
}
static int layernorm_forward(const struct k_ops *ops, const struct data *d)
{
    return call_layernorm_forward(ops, d->x[0], d->x[6], d->x[7], d->x[1], d->x[2], d->x[3], d->N,
                                  d->C);
}
static int layernorm_backward(const struct k_ops *ops, const struct data *d)
{
    return call_layernorm_backward(ops, d->x[0], d->x[5], d->x[3], d->x[1], d->x[4], d->x[6],
                                   d->x[7], d->x[2], d->N, d->C);
}
static int position_forward(const struct k_ops *ops, const struct data *d)
{
    return ops->position_forward(d->x[8], d->x[2], d->N, d->T, d->C);
}
static int position_backward(const struct k_ops *ops, const struct data *d)
{
    return ops->position_backward(d->x[5], d->x[1], d->N, d->T, d->C);
}
static int embed_forward(const struct k_ops *ops, const struct data *d)
{
    return call_embed_forward(ops, d->x[0], d->C, 0, d->x[1], d->token, 1, d->N, d->V, d->C);
}
static int embed_backward(const struct k_ops *ops, const struct data *d)
{
    return call_embed_backward(ops, d->x[0], d->x[1], d->C, 0, d->token, 1, d->N, d->V, d->C);
}
static int rope(const struct k_ops *ops, const struct data *d)
{
    return call_rope(ops, d->x[9], B, d->T, H, d->C / H, 10000.0, 0, false);
}
static int cross_entropy(const struct k_ops *ops, const struct data *d)
{
    double loss;
    return call_cross_entropy(ops, &loss, d->x[0], d->x[1], d->V, 0, d->token, 1, NULL, 256, d->V);
}
static int mse(const struct k_ops *ops, const struct data *d)
{
    double loss;
    return call_regression(ops, &loss, d->x[0], d->x[1], d->x[4], NULL, d->N, 2, 0);
}
/* All matrices of the blocks: as many numbers as adamw() updates. */
static int muon(const struct k_ops *ops, const struct data *d)
{
    const size_t C = (size_t)d->C, square = C * C;
    const struct {
        int rows, cols, count;
    } shapes[] = {{d->C, d->C, 4 * LAYERS}, {4 * d->C, d->C, LAYERS}, {d->C, 4 * d->C, LAYERS}};
    size_t at[4 * LAYERS], next = 0;
    for (int i = 0; i < 3; i++) {
        for (int m = 0; m < shapes[i].count; m++, next += (i ? 4 : 1) * square)
            at[m] = next;
        const struct k_muon k = {shapes[i].count, shapes[i].rows, shapes[i].cols, at, 4, 1e-3, 1};
        TRY(ops->muon(d->x[0], d->x[10], &k));
    }
    return 0;
}
static int adamw(const struct k_ops *ops, const struct data *d)
{
    const struct k_adamw k = {.lr = 1e-3,
                              .beta1 = 0.9,
                              .beta2 = 0.95,
                              .eps = 1e-8,
                              .weight_decay = 0.1,
                              .grad_scale = 1,
                              .step = 3};
    return ops->adamw(d->x[0], d->x[1], d->x[10], d->x[11], (size_t)(12 * LAYERS * d->C * d->C),
                      &k);
}
static int sum_squares(const struct k_ops *ops, const struct data *d)
{
    double sum;
    return ops->sum_squares(&sum, d->x[1], (size_t)(12 * LAYERS * d->C * d->C));
}

static int attention_forward(const struct k_ops *ops, const struct data *d)
{
    return ops->attention_forward(d->x[0], d->x[6], d->x[1], &d->attention);
}
static int attention_backward(const struct k_ops *ops, const struct data *d)
{
    return ops->attention_backward(d->x[8], d->x[4], d->x[0], d->x[6], d->x[1], &d->attention);
}
static double attention_product(const struct data *d)
{
    return 1e-9 * B * d->T * (d->T + 1) * d->C;
}
static double attention_forward_gflop(const struct data *d)
{
    return 2 * attention_product(d);
}
static double attention_backward_gflop(const struct data *d)
{
    return 5 * attention_product(d);
}

/* ---- a whole training step of the trunk: LAYERS blocks, forward, backward, AdamW */

struct block {
    float *x, *ln1, *qkv, *saved, *att, *mid, *ln2, *pre, *act, *stat; /* activations */
    float *w, *g, *m, *v; /* 12 C C + 13 C parameters, gradients, moments */
};
static struct block blocks[LAYERS];
static float *grad_x, *grad_wide, *grad_out, *grad_qkv;

/* Where each weight (0..3: qkv, proj, up, down), then bias or gain is in a block's parameters. */
static float *weight(float *base, int which, int C)
{
    static const int at[4] = {0, 3, 4, 8};
    return base + at[which] * C * C;
}
static float *vector(float *base, int which, int C)
{
    static const int at[8] = {0, 3, 4, 8, 9, 10, 11, 12}; /* biases, gain and shift of two norms */
    return base + 12 * C * C + at[which] * C;
}

static int block_forward(const struct k_ops *ops, const struct data *d, struct block *b, float *out)
{
    const int N = d->N, C = d->C;
    const size_t n = (size_t)N * (size_t)C;
    float *w = b->w;
    return call_layernorm_forward(ops, b->ln1, b->stat, b->stat + N, b->x, vector(w, 4, C),
                                  vector(w, 5, C), N, C) ||
           call_linear_forward(ops, b->qkv, b->ln1, weight(w, 0, C), vector(w, 0, C), N, C,
                               3 * C) ||
           ops->attention_forward(b->att, b->saved, b->qkv, &d->attention) ||
           call_linear_forward(ops, grad_out, b->att, weight(w, 1, C), vector(w, 1, C), N, C, C) ||
           ops->add(b->mid, b->x, grad_out, n) ||
           call_layernorm_forward(ops, b->ln2, b->stat + 2 * N, b->stat + 3 * N, b->mid,
                                  vector(w, 6, C), vector(w, 7, C), N, C) ||
           call_linear_gelu_forward(ops, b->act, b->pre, b->ln2, weight(w, 2, C), vector(w, 2, C),
                                    N, C, 4 * C) ||
           call_linear_forward(ops, grad_out, b->act, weight(w, 3, C), vector(w, 3, C), N, 4 * C,
                               C) ||
           ops->add(out, b->mid, grad_out, n);
}

static int block_backward(const struct k_ops *ops, const struct data *d, struct block *b)
{
    const int N = d->N, C = d->C;
    float *w = b->w, *g = b->g, *wide = grad_wide;
    return call_linear_backward(ops, wide, weight(g, 3, C), vector(g, 3, C), grad_x, b->act,
                                weight(w, 3, C), N, 4 * C, C) ||
           ops->gelu_backward(wide, wide, b->pre, (size_t)N * (size_t)(4 * C)) ||
           call_linear_backward(ops, grad_out, weight(g, 2, C), vector(g, 2, C), wide, b->ln2,
                                weight(w, 2, C), N, C, 4 * C) ||
           call_layernorm_backward(ops, grad_x, vector(g, 6, C), vector(g, 7, C), grad_out, b->mid,
                                   b->stat + 2 * N, b->stat + 3 * N, vector(w, 6, C), N, C) ||
           call_linear_backward(ops, grad_out, weight(g, 1, C), vector(g, 1, C), grad_x, b->att,
                                weight(w, 1, C), N, C, C) ||
           ops->attention_backward(grad_qkv, grad_out, b->att, b->saved, b->qkv, &d->attention) ||
           call_linear_backward(ops, grad_out, weight(g, 0, C), vector(g, 0, C), grad_qkv, b->ln1,
                                weight(w, 0, C), N, C, 3 * C) ||
           call_layernorm_backward(ops, grad_x, vector(g, 4, C), vector(g, 5, C), grad_out, b->x,
                                   b->stat, b->stat + N, vector(w, 4, C), N, C);
}

static int step(const struct k_ops *ops, const struct data *d)
{
    const struct k_adamw k = {.lr = 1e-4,
                              .beta1 = 0.9,
                              .beta2 = 0.95,
                              .eps = 1e-8,
                              .weight_decay = 0.1,
                              .grad_scale = 1,
                              .step = 3};
    const size_t parameters = (size_t)(12 * d->C * d->C + 13 * d->C);
    int rc = 0;
    for (int l = 0; rc == 0 && l < LAYERS; l++)
        rc = block_forward(ops, d, &blocks[l], l + 1 < LAYERS ? blocks[l + 1].x : grad_x);
    for (int l = LAYERS - 1; rc == 0 && l >= 0; l--)
        rc = block_backward(ops, d, &blocks[l]);
    for (int l = 0; rc == 0 && l < LAYERS; l++) {
        struct block *b = &blocks[l];
        double sum;
        rc = ops->sum_squares(&sum, b->g, parameters) ||
             ops->adamw(b->w, b->g, b->m, b->v, parameters, &k);
        memset(b->g, 0, parameters * sizeof *b->g);
    }
    return rc;
}
static double step_gflop(const struct data *d)
{
    return LAYERS * (6e-9 * d->N * 12 * d->C * d->C + 7 * attention_product(d));
}

/* ---- data */

static void fill(float *x, size_t n, float scale)
{
    static uint32_t state = 2463534242U; /* xorshift32 (Marsaglia 2003) */
    for (size_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        x[i] = scale * ((float)(state >> 8) * 0x1p-23f - 1.0f);
    }
}

static float *filled(size_t n, float scale)
{
    float *x = orr_alloc(n, sizeof *x);
    if (!x)
        exit(orr_error_exit("bench_kernels", ORR_ENOMEM));
    fill(x, n, scale);
    return x;
}

static void data_create(struct data *d, int T, int C)
{
    d->T = T;
    d->N = B * T;
    d->C = d->IC = d->OC = C;
    d->V = VOCABULARY;
    const size_t rows = (size_t)d->N, c = (size_t)C, wide = rows * 4 * c;
    for (int i = 0; i < BUFFERS; i++)
        d->x[i] = filled(wide > 256 * VOCABULARY ? wide : 256 * VOCABULARY, 1.0f);
    for (size_t i = 0; i < rows * c; i++) /* second moments are not negative */
        d->x[11][i] *= d->x[11][i];
    d->token = orr_alloc(rows, sizeof *d->token);
    if (!d->token)
        exit(orr_error_exit("bench_kernels", ORR_ENOMEM));
    for (size_t i = 0; i < rows; i++)
        d->token[i] = (uint16_t)(i * 2385 % VOCABULARY);
    const size_t parameters = 12 * c * c + 13 * c;
    for (int l = 0; l < LAYERS; l++) {
        float **const narrow[] = {&blocks[l].x,   &blocks[l].ln1,   &blocks[l].att, &blocks[l].mid,
                                  &blocks[l].ln2, &blocks[l].saved, &blocks[l].stat};
        for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++)
            *narrow[i] = filled(rows * c, 1.0f);
        blocks[l].qkv = filled(rows * 3 * c, 1.0f);
        blocks[l].pre = filled(wide, 1.0f);
        blocks[l].act = filled(wide, 1.0f);
        blocks[l].w = filled(parameters, 0.1f);
        blocks[l].g = filled(parameters, 0.0f);
        blocks[l].m = filled(parameters, 0.0f);
        blocks[l].v = filled(parameters, 0.0f);
    }
    grad_x = filled(rows * c, 1.0f);
    grad_out = filled(rows * c, 1.0f);
    grad_qkv = filled(rows * 3 * c, 1.0f);
    grad_wide = filled(wide, 1.0f);
}

static void data_free(struct data *d)
{
    for (int i = 0; i < BUFFERS; i++)
        free(d->x[i]);
    free(d->token);
    for (int l = 0; l < LAYERS; l++) {
        struct block *b = &blocks[l];
        float *const all[] = {b->x,   b->ln1, b->qkv,  b->saved, b->att, b->mid, b->ln2,
                              b->pre, b->act, b->stat, b->w,     b->g,   b->m,   b->v};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            free(all[i]);
    }
    free(grad_x);
    free(grad_out);
    free(grad_qkv);
    free(grad_wide);
}

/* ---- measuring */

static struct bench_value median_ms(const struct k_ops *ops, const struct bench_case *c,
                                    const struct data *d, int runs)
{
    double ms[RUNS];
    for (int i = runs > 1 ? -1 : 0; i < runs; i++) { /* seconds of ref need no warming up */
        const double start = orr_time_s();
        if (c->run(ops, d) != 0)
            exit(orr_error_exit("bench_kernels", ORR_EINVAL));
        if (i >= 0)
            ms[i] = 1e3 * (orr_time_s() - start);
    }
    return bench_median(ms, runs);
}

static void report(const struct bench_case *c, const struct data *d, const char *shape)
{
    const struct bench_value cpu = median_ms(k_cpu(), c, d, RUNS);
    char name[128];
    snprintf(name, sizeof name, "%s %s T%d C%d %s", c->name, shape, d->T, d->C, precision);
    printf("%-22s %-26s %9.3f", c->name, shape, cpu.median);
    if (c->gflop)
        printf(" %9.1f", c->gflop(d) / cpu.median * 1e3);
    else
        printf(" %9s", "-");
    if (ref_runs > 0) {
        const double ref = median_ms(&k_ref, c, d, ref_runs).median;
        printf(" %9.2f %8.1f", ref, ref / cpu.median);
        bench_add(&results, name, cpu, "ms", "ref", ref / cpu.median);
    } else {
        bench_add(&results, name, cpu, "ms", NULL, 0);
    }
    printf("\n");
    fflush(stdout);
}

static void heading(const char *what)
{
    printf("\n%s\n%-22s %-26s %9s %9s", what, "operation", "shape", "cpu ms", "GFLOP/s");
    if (ref_runs > 0)
        printf(" %9s %8s", "ref ms", "ratio");
    printf("\n");
}

static void bench_linear(struct data *d)
{
    static const struct bench_case forward = {"linear_forward", linear_forward, forward_gflop},
                                   gelu = {"linear_gelu_forward", linear_gelu_forward,
                                           forward_gflop},
                                   backward = {"linear_backward", linear_backward, backward_gflop};
    const int C = d->C, in[4] = {C, C, C, 4 * C}, out[4] = {3 * C, C, 4 * C, C};
    for (int i = 0; i < 4; i++) {
        char shape[64];
        d->IC = in[i];
        d->OC = out[i];
        snprintf(shape, sizeof shape, "%d x %d -> %d", d->N, d->IC, d->OC);
        report(i == 2 ? &gelu : &forward, d, shape);
        report(&backward, d, shape);
    }
}

static void bench_exact(struct data *d)
{
    static const struct bench_case forward = {"linear_exact_forward", exact_forward, forward_gflop},
                                   backward = {"linear_exact_backward", exact_backward,
                                               backward_gflop};
    const int in[3] = {3, d->C, d->C}, out[3] = {d->C, 2, 1};
    for (int i = 0; i < 3; i++) {
        char shape[64];
        d->IC = in[i];
        d->OC = out[i];
        snprintf(shape, sizeof shape, "%d x %d -> %d", d->N, d->IC, d->OC);
        report(&forward, d, shape);
        report(&backward, d, shape);
    }
}

static void bench_attention(struct data *d)
{
    static const struct bench_case forward = {"attention_forward", attention_forward,
                                              attention_forward_gflop},
                                   backward = {"attention_backward", attention_backward,
                                               attention_backward_gflop};
    static const char *const variants[] = {"softmax", "lssa", "lssar"};
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        char shape[64];
        d->attention.variant = k_attention_find(variants[i]);
        snprintf(shape, sizeof shape, "%s B%d H%d T%d D%d", variants[i], B, H, d->T, d->C / H);
        report(&forward, d, shape);
        report(&backward, d, shape);
    }
}

static void bench_step(struct data *d, const char *variant)
{
    static const struct bench_case whole = {"step", step, step_gflop};
    char shape[64];
    d->attention.variant = k_attention_find(variant);
    snprintf(shape, sizeof shape, "%s %s %d layers x %d", variant, precision, LAYERS, d->C);
    report(&whole, d, shape);
}

static void bench_rows(const struct data *d)
{
    static const struct bench_case cases[] = {
        {"gelu_backward", gelu_backward, NULL},
        {"add", add, NULL},
        {"layernorm_forward", layernorm_forward, NULL},
        {"layernorm_backward", layernorm_backward, NULL},
        {"position_forward", position_forward, NULL},
        {"position_backward", position_backward, NULL},
        {"embed_forward", embed_forward, NULL},
        {"embed_backward", embed_backward, NULL},
        {"rope", rope, NULL},
        {"cross_entropy", cross_entropy, NULL},
        {"mse", mse, NULL},
        {"adamw", adamw, NULL},
        {"muon", muon, NULL},
        {"sum_squares", sum_squares, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        report(&cases[i], d, "");
}

static int bench_shape(int threads, int T, int C)
{
    struct data d = {.attention = {.B = B, .T = T, .H = H, .D = C / H, .power = 15}};
    data_create(&d, T, C);
    for (int bf16 = 0; bf16 < 2; bf16++) {
        const int rc = k_cpu()->open(threads, bf16);
        char title[128];
        if (rc != 0)
            return rc;
        precision = bf16 ? "bf16" : "f32";
        snprintf(title, sizeof title, "T = %d, C = %d, N = %d: %s", T, C, d.N,
                 bf16 ? "bf16 allowed" : "full precision");
        heading(title);
        bench_linear(&d);
        bench_step(&d, "softmax");
        bench_step(&d, "lssar");
        if (!bf16) {
            bench_exact(&d);
            bench_attention(&d);
            bench_rows(&d);
        }
        k_cpu()->close();
    }
    data_free(&d);
    return 0;
}

/* What the rule of kernels/precision.c rests on: products in bf16 beside fp32, in turns. */
static int bench_precision(int threads)
{
    double rate[2][RUNS];
    char name[160];
    struct k_cpu_kind kind;
    int rc = 0;
    for (int run = 0; run < RUNS && !rc; run++)
        for (int bf16 = 0; bf16 < 2 && !rc; bf16++) {
            rc = k_cpu()->open(threads, bf16 ? K_PRECISION_BF16 : K_PRECISION_FP32);
            if (!rc)
                rc = k_cpu()->peak(&rate[bf16][run]);
            k_cpu()->close();
        }
    if (rc)
        return rc;
    k_cpu_kind(&kind);
    const struct bench_value f32 = bench_median(rate[0], RUNS), b16 = bench_median(rate[1], RUNS);
    heading("products by precision");
    printf("  fp32 %.0f GFLOP/s, bf16 %.0f GFLOP/s, %.2f times; %s: auto is %s\n", f32.median,
           b16.median, b16.median / f32.median, k_cpu_kind_name(&kind),
           k_bf16_pays(&kind) ? "bf16" : "fp32");
    snprintf(name, sizeof name, "products, bf16 (%s, auto is %s)", k_cpu_kind_name(&kind),
             k_bf16_pays(&kind) ? "bf16" : "fp32");
    bench_add(&results, "products, fp32", f32, "GFLOP/s", NULL, 0);
    bench_add(&results, name, b16, "GFLOP/s", "fp32", b16.median / f32.median);
    return 0;
}

int main(int argc, char **argv)
{
    int threads = 2, rc = 0;
    bench_help(argc, argv, usage);
    for (int i = 1; i < argc && !rc; i++) {
        if (strcmp(argv[i], "--no-ref") == 0)
            ref_runs = 0;
        else
            rc = bench_number("threads", argv[i], 1, &threads);
    }
    if (rc)
        return orr_error_exit("bench_kernels", rc);
    rc = bench_open(&results, "kernels", threads);
    if (rc == 0)
        rc = k_ref.open(1, false);
    if (rc == 0)
        rc = bench_precision(threads);
    if (rc == 0)
        rc = bench_shape(threads, 64, 96);
    if (rc == 0)
        rc = bench_shape(threads, 97, 128);
    k_ref.close();
    return orr_error_exit("bench_kernels", bench_close(&results, rc));
}
