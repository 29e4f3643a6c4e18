/* bench_gpu_attention.c - attention alone on a GPU: the fused kernels beside PyTorch's.
 *
 * Usage: below, or --help.
 *
 * Causal attention of bf16 tensors as a training asks for it, 32,768 positions of 768 numbers (of
 * length 1,000: 32,000), heads of 64 and of 128: forward, with all that a backward pass needs, and
 * backward. As many calls as take some 20 ms are a sample, from an idle GPU to an idle GPU.
 * Variants take turns, and their ratios are of samples of one turn. Operations: 4 d per attended
 * pair of a head forward, 10 d backward, whatever a variant needs to get there.
 *
 * PyTorch, when python3 has it, does the same shapes right after (peer_gpu_attention.py): its best
 * scaled_dot_product_attention beside softmax, the formulas of LSSAR (Eqs. (4), (5)) as they are
 * written, eager and by torch.compile, beside lssar; no figure where these do not fit. */
#include <sys/wait.h>

#include "bench.h"

#include "kernels/kernels.h"

enum { VARIANTS = 4, MOST_RUNS = 50, PASSES = 2, MOST_PEERS = 8, WIDTH = 768, POSITIONS = 32768 };
static const char *const variants[VARIANTS] = {"softmax", "lssa", "lssar", "rw_softmax"};
static const char *const pass_name[PASSES] = {"forward", "backward"};

static const char usage[] =
    "bench_gpu_attention - attention alone on a GPU: the fused kernels beside PyTorch's\n\n"
    "usage: bench_gpu_attention [options]\n\n"
    "  --runs N     samples of each variant, at most 50 (default: 11)\n"
    "  --no-peer    without PyTorch\n"
    "  --small      tiny shapes, one call a sample: whether it runs, no figures of a GPU\n\n"
    "Prints a table, writes bench/results/gpu_attention.json (--small: nothing); minutes.\n"
    "make bench-gpu-attention BENCH_ARGS=\"options\".\n";

static struct {
    int runs;
    bool peer, small;
} options = {.runs = 11, .peer = true};

static struct bench_results results;
static const struct k_ops *cuda;

struct size {
    int T, D, B, H;
};

static struct size size_of(int T, int D)
{
    if (options.small)
        return (struct size){.T = T / 50, .D = D, .B = 1, .H = 1};
    return (struct size){.T = T, .D = D, .B = POSITIONS / T, .H = WIDTH / D};
}

/* ---- tensors of the GPU */

enum tensor { OUT, SAVED, QKV, DOUT, DQKV, GIVEN, TENSORS }; /* GIVEN: qkv before it is spent */

struct problem {
    struct k_attention_shape shape;
    void *x[TENSORS];
};

/* Random numbers as bf16. */
static int fill(void *to, size_t n)
{
    uint32_t state = 2463534242U;
    void *wide = NULL;
    float *x = orr_alloc(n, sizeof *x);
    if (x)
        bench_normal(&state, x, n);
    int rc = x ? cuda->alloc(&wide, n * sizeof *x) : ORR_ENOMEM;
    rc = rc ? rc : cuda->upload(wide, x, n * sizeof *x);
    rc = rc ? rc : cuda->to_bf16(to, wide, n);
    rc = rc ? rc : cuda->wait();
    cuda->release(wide);
    free(x);
    return rc;
}

static void problem_free(struct problem *p)
{
    for (int i = 0; i < TENSORS; i++)
        cuda->release(p->x[i]);
}

static int problem_create(struct problem *p, const struct size *s)
{
    const size_t n = (size_t)s->B * (size_t)s->T * (size_t)s->H * (size_t)s->D;
    *p = (struct problem){.shape = {.B = s->B,
                                    .T = s->T,
                                    .H = s->H,
                                    .D = s->D,
                                    .power = 15,
                                    .bf16 = true,
                                    .may_overwrite_qk = true}};
    const size_t bytes[TENSORS] = {
        [OUT] = 2 * n,  [SAVED] = k_attention_row_stats(NULL, &p->shape) * sizeof(real),
        [QKV] = 6 * n,  [DOUT] = 2 * n,
        [DQKV] = 6 * n, [GIVEN] = 6 * n};
    int rc = 0;
    for (int i = 0; i < TENSORS && !rc; i++)
        rc = cuda->alloc(&p->x[i], bytes[i]);
    rc = rc ? rc : fill(p->x[GIVEN], 3 * n);
    return rc ? rc : fill(p->x[DOUT], n);
}

/* ---- time */

/* Milliseconds by variant, pass, run. */
static double taken[VARIANTS][PASSES][MOST_RUNS];

static int call(const struct problem *p, int pass)
{
    return pass == 0 ? cuda->attention_forward(p->x[OUT], p->x[SAVED], p->x[QKV], &p->shape)
                     : cuda->attention_backward(p->x[DQKV], p->x[DOUT], p->x[OUT], p->x[SAVED],
                                                p->x[QKV], &p->shape);
}

/* *ms = of one of `calls`. Forward passes of cosines after the first normalise what they have
 * normalised: the same work. */
static int sample(const struct problem *p, int pass, int calls, double *ms)
{
    char one;
    const size_t n =
        3 * (size_t)p->shape.B * (size_t)p->shape.T * (size_t)p->shape.H * (size_t)p->shape.D;
    int rc = pass ? 0 : cuda->copy(p->x[QKV], p->x[GIVEN], 2 * n);
    rc = rc ? rc : cuda->download(&one, p->x[OUT], 1); /* the GPU is idle */
    const double start = orr_time_s();
    for (int i = 0; i < calls && !rc; i++)
        rc = call(p, pass);
    rc = rc ? rc : cuda->download(&one, p->x[OUT], 1);
    *ms = 1e3 * (orr_time_s() - start) / calls;
    return rc;
}

static int measure(struct problem *p)
{
    int calls[VARIANTS][PASSES];
    int rc = 0;
    for (int run = -2; run < options.runs && !rc; run++)
        for (int v = 0; v < VARIANTS && !rc; v++)
            for (int pass = 0; pass < PASSES && !rc; pass++) {
                double ms;
                const int times = run < 0 || options.small ? 1 : calls[v][pass];
                p->shape.variant = k_attention_find(variants[v]);
                rc = sample(p, pass, times, &ms);
                if (run < 0) /* the second is of a GPU that has seen it */
                    calls[v][pass] = ms > 20 ? 1 : ms < 0.1 ? 200 : (int)(20 / ms);
                else
                    taken[v][pass][run] = ms;
            }
    return rc;
}

/* Median of v's time over softmax's; PASSES: of both passes. */
static struct bench_value over_softmax(int v, int pass)
{
    double ratio[MOST_RUNS];
    for (int run = 0; run < options.runs; run++)
        ratio[run] = pass < PASSES ? taken[v][pass][run] / taken[0][pass][run]
                                   : (taken[v][0][run] + taken[v][1][run]) /
                                         (taken[0][0][run] + taken[0][1][run]);
    return bench_median(ratio, options.runs);
}

/* ---- PyTorch */

struct peer {
    char variant[32], name[64];
    double ms[PASSES];
};

static int ask_peers(const struct size *s, struct peer peers[MOST_PEERS])
{
    char line[256];
    int count = 0;
    if (!options.peer)
        return 0;
    snprintf(line, sizeof line, "python3 bench/peer_gpu_attention.py %d %d %d %d %d %s", s->B, s->H,
             s->T, s->D, options.runs, options.small ? "cpu" : "cuda");
    FILE *pipe = popen(line, "r");
    while (pipe && count < MOST_PEERS && fgets(line, sizeof line, pipe)) {
        struct peer *p = &peers[count];
        if (sscanf(line, "%31s %63s %lf %lf", p->variant, p->name, &p->ms[0], &p->ms[1]) == 4)
            count++;
    }
    const int status = pipe ? pclose(pipe) : -1;
    if (status) /* what it said is on the terminal */
        printf("no PyTorch beside L %d, d %d: it ended with status %d\n", s->T, s->D,
               WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return count;
}

/* The quickest of a variant's in a pass; NULL where there is none (NaN: did not fit). */
static const struct peer *quickest(const struct peer *peers, int count, const char *variant,
                                   int pass)
{
    const struct peer *best = NULL;
    for (int i = 0; i < count; i++)
        if (!strcmp(peers[i].variant, variant) && isfinite(peers[i].ms[pass]) &&
            (!best || peers[i].ms[pass] < best->ms[pass]))
            best = &peers[i];
    return best;
}

/* ---- the table */

static void report(const struct size *s, int v, int pass, const struct peer *peers, int count)
{
    char name[128], peer[80];
    double of_runs[MOST_RUNS];
    const double pairs = 0.5 * s->B * s->H * (double)s->T * (s->T + 1);
    memcpy(of_runs, taken[v][pass], sizeof of_runs);
    const struct bench_value ms = bench_median(of_runs, options.runs);
    const struct peer *best = quickest(peers, count, variants[v], pass);
    printf("%6d %4d %-10s %-8s %9.3f %5.0f%% %8.1f %8.2f", s->T, s->D, variants[v], pass_name[pass],
           ms.median, 100 * (isfinite(ms.spread) ? ms.spread : 0),
           1e-9 * pairs * (pass ? 10 : 4) * s->D / ms.median, over_softmax(v, pass).median);
    snprintf(name, sizeof name, "%s %s L%d d%d", variants[v], pass_name[pass], s->T, s->D);
    if (best)
        snprintf(peer, sizeof peer, "PyTorch %s", best->name);
    bench_add(&results, name, ms, "ms", best ? peer : NULL, best ? best->ms[pass] / ms.median : 0);
    for (int i = 0; i < count; i++)
        if (!strcmp(peers[i].variant, variants[v]) && isfinite(peers[i].ms[pass]))
            printf("  %s %.3f ms, %.2f", peers[i].name, peers[i].ms[pass],
                   peers[i].ms[pass] / ms.median);
    printf("\n");
}

static int bench_size(struct size s)
{
    struct problem p = {0};
    struct peer peers[MOST_PEERS];
    int rc = problem_create(&p, &s);
    rc = rc ? rc : measure(&p);
    problem_free(&p); /* before the peer wants the memory */
    if (rc)
        return rc;
    const int count = ask_peers(&s, peers);
    for (int v = 0; v < VARIANTS; v++) {
        char name[128];
        const struct bench_value both = over_softmax(v, PASSES);
        for (int pass = 0; pass < PASSES; pass++)
            report(&s, v, pass, peers, count);
        printf("%6d %4d %-10s %-8s %9s %6s %8s %8.2f\n", s.T, s.D, variants[v], "both", "", "", "",
               both.median);
        snprintf(name, sizeof name, "%s over softmax L%d d%d forward and backward", variants[v],
                 s.T, s.D);
        bench_add(&results, name, both, "ratio", NULL, 0);
    }
    fflush(stdout);
    return 0;
}

static int arguments(int argc, char **argv)
{
    int rc = 0;
    for (int i = 1; i < argc && !rc; i++)
        if (!strcmp(argv[i], "--no-peer"))
            options.peer = false;
        else if (!strcmp(argv[i], "--small"))
            options.small = true;
        else if (!strcmp(argv[i], "--runs"))
            rc = bench_number(argv[i], i + 1 < argc ? argv[i + 1] : NULL, 1, &options.runs), i++;
        else
            rc = ORR_FAIL(ORR_EUSAGE, "%s: unknown; see --help", argv[i]);
    if (options.runs > MOST_RUNS)
        options.runs = MOST_RUNS;
    return rc;
}

int main(int argc, char **argv)
{
    static const int T[] = {1000, 1024, 4096, 16384}, D[] = {64, 128};
    char gpu[128];
    bench_help(argc, argv, usage);
    int rc = arguments(argc, argv);
    if (!rc && !getenv("ORRERY_CUDA_PLUGIN")) /* the programs', not beside this one */
        setenv("ORRERY_CUDA_PLUGIN", "bin/orrery_cuda.so", 1);
    rc = rc ? rc : k_find("cuda", &cuda);
    rc = rc ? rc : cuda->open(0, K_PRECISION_BF16);
    if (rc)
        return orr_error_exit("bench_gpu_attention", rc);
    rc = bench_open(&results, bench_without_hopper() ? "gpu_attention_sm_80" : "gpu_attention", 1);
    bench_ask("nvidia-smi -i 0 --query-gpu=name --format=csv,noheader 2>/dev/null", "unknown GPU",
              gpu, sizeof gpu);
    if (!rc) {
        cJSON_AddStringToObject(results.json, "gpu", gpu);
        printf("%s: causal attention in bf16, p = 15, %s; medians of %d\n"
               "%6s %4s %-10s %-8s %9s %6s %8s %8s  PyTorch, its time over ours\n",
               gpu, options.small ? "tiny shapes" : "32 x 1,000 or 32,768 positions of 768 numbers",
               options.runs, "L", "d", "variant", "pass", "ms", "spread", "TFLOP/s", "softmax");
    }
    for (size_t d = 0; d < sizeof D / sizeof *D && !rc; d++)
        for (size_t t = 0; t < sizeof T / sizeof *T && !rc; t++)
            rc = bench_size(size_of(T[t], D[d]));
    if (!rc)
        printf("softmax: time over that of softmax in the same turn\n");
    cuda->close();
    if (options.small && !rc) { /* nothing of it is worth keeping */
        cJSON_Delete(results.json);
        return 0;
    }
    return orr_error_exit("bench_gpu_attention", bench_close(&results, rc));
}
