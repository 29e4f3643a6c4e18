/* bench_attention.c - the fused attention kernels beside the generic path and PyTorch.
 *
 * Usage: below, or --help.
 *
 * Per length L: forward and backward of each variant, fused and generic, one after the other in
 * every run; medians, and medians of the ratios within a run. Times are of one core per element, an
 * element being one attended (query, key) pair of one head: wall time times threads or, with
 * --cpu-time for a machine that does other work too, the CPU time of the process.
 * Arithmetic: 4 d operations per element forward, 10 d backward. PyTorch, when python3 has it, does
 * the same shapes with the same threads right after (peer_attention.py). Memory: what the process
 * grows by in one forward and backward pass, each in a process of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "kernels/kernels.h"

enum { D = 64, VARIANTS = 4, MOST_RUNS = 31, PEERS = 4, TIMES = 4 };
static const char *const variants[VARIANTS] = {"softmax", "lssa", "lssar", "rw_softmax"};

/* B H heads: enough elements to time, two at the longest. */
static const struct size {
    int T, B, H, runs;
} sizes[] = {{256, 4, 8, 31}, {1000, 1, 8, 15}, {4096, 1, 2, 7}, {16384, 1, 2, 3}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static const char usage[] =
    "bench_attention - the fused attention kernels beside the generic path and PyTorch\n\n"
    "usage: bench_attention [--cpu-time] [threads]\n\n"
    "  --cpu-time    processor time in place of wall time: for a machine that does other work\n"
    "  threads       default 2\n\n"
    "Prints a table and writes bench/results/attention.json; minutes. make bench-attention.\n";

static struct bench_results results;
static int threads = 2;
static bool cpu_time; /* of the process, all threads, in the place of wall time */

/* ---- one problem */

struct problem {
    struct k_attention_shape shape;
    float *qkv, *dqkv, *out, *dout, *saved;
};

static float *allocated(size_t n, bool filled)
{
    static uint32_t state = 2463534242U;
    float *x = orr_alloc(n, sizeof *x);
    if (!x)
        exit(orr_error_exit("bench_attention", ORR_ENOMEM));
    memset(x, 0, n * sizeof *x); /* so that its pages are counted before the run */
    if (filled)
        bench_normal(&state, x, n);
    return x;
}

static struct problem problem_create(const struct size *s)
{
    struct problem a = {.shape = {.B = s->B, .T = s->T, .H = s->H, .D = D, .power = 15}};
    const size_t n = (size_t)s->B * (size_t)s->T * (size_t)s->H * D;
    a.qkv = allocated(3 * n, true);
    a.dqkv = allocated(3 * n, false);
    a.out = allocated(n, false);
    a.dout = allocated(n, true);
    a.saved = allocated(k_attention_row_stats(NULL, &a.shape), false);
    return a;
}

static void problem_free(struct problem *a)
{
    float *const all[] = {a->qkv, a->dqkv, a->out, a->dout, a->saved};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static double now(void)
{
    return cpu_time ? bench_processor_s() : orr_time_s();
}

/* Cores that a second of now() is of. */
static double cores(void)
{
    return cpu_time ? 1 : threads;
}

/* Seconds of one forward and one backward pass. */
static void pass(const struct k_ops *ops, const struct problem *a, double seconds[2])
{
    const double start = now();
    int rc = ops->attention_forward(a->out, a->saved, a->qkv, &a->shape);
    const double middle = now();
    if (rc == 0)
        rc = ops->attention_backward(a->dqkv, a->dout, a->out, a->saved, a->qkv, &a->shape);
    if (rc != 0)
        exit(orr_error_exit("bench_attention", rc));
    seconds[0] = middle - start;
    seconds[1] = now() - middle;
}

/* ---- time */

/* Seconds by variant, [fused forward, fused backward, generic forward, generic backward], run. */
static double taken[VARIANTS][TIMES][MOST_RUNS];

static void measure(const struct size *s, struct problem *a)
{
    struct k_ops generic;
    k_generic_attention(k_cpu(), &generic);
    for (int run = s->runs > 3 ? -1 : 0; run < s->runs; run++)
        for (int v = 0; v < VARIANTS; v++) {
            double seconds[TIMES];
            a->shape.variant = k_attention_find(variants[v]);
            pass(k_cpu(), a, seconds);
            pass(&generic, a, seconds + 2);
            for (int i = 0; i < TIMES && run >= 0; i++)
                taken[v][i][run] = seconds[i];
        }
}

static double at(int v, int what, int run)
{
    return what < TIMES ? taken[v][what][run]
                        : taken[v][what - TIMES][run] + taken[v][what - TIMES + 1][run];
}

/* Median over the runs of a's time over b's; what = TIMES + i: of both i and i + 1. */
static double ratio_of(int runs, int v, int what, int over_v, int over_what)
{
    double ratio[MOST_RUNS];
    for (int run = 0; run < runs; run++)
        ratio[run] = at(v, what, run) / at(over_v, over_what, run);
    return bench_median(ratio, runs).median;
}

/* PyTorch's milliseconds: sdpa forward, backward, eager forward, backward; 0 where it has none. */
static void ask_peer(const struct size *s, double ms[PEERS])
{
    static const char *const names[PEERS] = {"sdpa_forward", "sdpa_backward", "eager_forward",
                                             "eager_backward"};
    char line[256], name[64];
    double value;
    memset(ms, 0, PEERS * sizeof *ms);
    snprintf(line, sizeof line, "python3 bench/peer_attention.py %d %d %d %d %s 2>/dev/null", s->T,
             s->B * s->H, s->runs < 7 ? s->runs : 7, threads, cpu_time ? "cpu" : "wall");
    FILE *pipe = popen(line, "r");
    while (pipe && fgets(line, sizeof line, pipe))
        for (int i = 0; i < PEERS; i++)
            if (sscanf(line, "%63s %lf", name, &value) == 2 && !strcmp(name, names[i]))
                ms[i] = value;
    if (pipe)
        pclose(pipe);
}

/* One cell of the table: a number, or a dash. */
static void print_ratio(double ratio)
{
    if (ratio > 0)
        printf(" %7.2f", ratio);
    else
        printf(" %7s", "-");
}

/* A row of the table and of the results: `what` 0 forward, 1 backward. peer_ms 0: no peer. */
static void report(const struct size *s, int v, int what, const char *peer, double peer_ms)
{
    static const char *const names[2] = {"forward", "backward"};
    char name[128];
    double ns[MOST_RUNS];
    const double elements = 0.5 * s->B * s->H * (double)s->T * (s->T + 1);
    for (int run = 0; run < s->runs; run++)
        ns[run] = 1e9 * taken[v][what][run] * cores() / elements;
    const struct bench_value value = bench_median(ns, s->runs);
    const double flops = (what ? 10.0 : 4.0) * D;
    const double generic = ratio_of(s->runs, v, 2 + what, v, what);
    const double softmax = ratio_of(s->runs, v, what, 0, what);
    const double ms = 1e-6 * value.median * elements / cores();
    const double beside = peer_ms > 0 ? peer_ms / ms : 0;
    printf("%6d %-10s %-8s %8.2f %5.0f%% %8.1f %7.2f %7.2f", s->T, variants[v], names[what],
           value.median, 100 * (isfinite(value.spread) ? value.spread : 0), flops / value.median,
           softmax, generic);
    print_ratio(beside);
    printf(" %s\n", beside > 0 ? peer : "");
    snprintf(name, sizeof name, "%s %s L%d d%d", variants[v], names[what], s->T, D);
    bench_add(&results, name, value,
              cpu_time ? "ns of CPU time per element" : "ns per element and core", "generic path",
              generic);
    if (beside > 0) {
        snprintf(name, sizeof name, "%s %s L%d d%d beside PyTorch", variants[v], names[what], s->T,
                 D);
        bench_add(&results, name, (struct bench_value){ms, value.spread},
                  cpu_time ? "ms of CPU time" : "ms", peer, beside);
    }
}

/* Forward and backward of a variant over those of softmax. */
static void report_ratio(const struct size *s, int v)
{
    char name[128];
    const double forward = ratio_of(s->runs, v, 0, 0, 0);
    const double both = ratio_of(s->runs, v, TIMES, 0, TIMES);
    const double generic = ratio_of(s->runs, v, TIMES + 2, v, TIMES);
    printf("%6d %-10s %-8s %8s %6s %8s %7.2f %7.2f\n", s->T, variants[v], "both", "", "", "", both,
           generic);
    snprintf(name, sizeof name, "%s over softmax L%d d%d forward", variants[v], s->T, D);
    bench_add(&results, name, (struct bench_value){forward, NAN}, "ratio", NULL, 0);
    snprintf(name, sizeof name, "%s over softmax L%d d%d forward and backward", variants[v], s->T,
             D);
    bench_add(&results, name, (struct bench_value){both, NAN}, "ratio", NULL, 0);
}

static void bench_size(const struct size *s)
{
    struct problem a = problem_create(s);
    double peer[PEERS];
    measure(s, &a);
    problem_free(&a);
    ask_peer(s, peer);
    for (int v = 0; v < VARIANTS; v++) {
        const bool softmax = v == 0, lssar = !strcmp(variants[v], "lssar");
        const char *const name = softmax ? "PyTorch sdpa" : "PyTorch eager";
        for (int what = 0; what < 2; what++)
            report(s, v, what, name, softmax ? peer[what] : lssar ? peer[2 + what] : 0);
        report_ratio(s, v);
    }
    fflush(stdout);
}

/* ---- memory */

/* A number of kB of /proc/self/status. */
static long status_kb(const char *field)
{
    char line[256];
    long kb = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, field, strlen(field)))
            kb = strtol(line + strlen(field), NULL, 10);
    if (file)
        fclose(file);
    return kb;
}

/* Prints the kB by which a forward and a backward pass raise the peak of this process. */
static int print_memory(const char *variant, int T)
{
    struct problem a = problem_create(&(struct size){T, 1, threads, 1});
    double seconds[2];
    if (k_cpu()->open(threads, false) != 0)
        return orr_error_exit("bench_attention", ORR_EDEVICE);
    struct problem warm = problem_create(&(struct size){4, 1, threads, 1});
    warm.shape.variant = k_attention_find(variant);
    pass(k_cpu(), &warm, seconds);
    a.shape.variant = k_attention_find(variant);
    FILE *clear = fopen("/proc/self/clear_refs", "w");
    if (clear) {
        fputs("5", clear); /* the peak starts again from here */
        fclose(clear);
    }
    const long before = status_kb("VmRSS:");
    pass(k_cpu(), &a, seconds);
    printf("%ld\n", status_kb("VmHWM:") - before);
    problem_free(&warm);
    problem_free(&a);
    k_cpu()->close();
    return 0;
}

/* Beside the floats of q, k and v of a head, and of an L x L matrix. */
static void bench_memory(const char *program)
{
    printf("\nmemory that a forward and backward pass needs beyond its tensors, per head of "
           "%d threads\n%6s %-10s %10s %12s %14s %10s\n",
           threads, "L", "variant", "MiB", "over q, k, v", "L x L MiB", "part");
    for (int i = 0; i < SIZES; i++)
        for (int v = 0; v < VARIANTS; v++) {
            char command[512], text[64];
            const double T = sizes[i].T, square = T * T * 4 / 1048576;
            snprintf(command, sizeof command, "'%s' --memory %s %d %d", program, variants[v],
                     sizes[i].T, threads);
            bench_ask(command, "-1", text, sizeof text);
            const double mib = strtod(text, NULL) / 1024 / threads;
            printf("%6d %-10s %10.2f %12.2f %14.1f %10.4f\n", sizes[i].T, variants[v], mib,
                   mib * 1048576 / (3 * T * D * 4), square, mib / square);
            snprintf(text, sizeof text, "%s memory L%d d%d per head", variants[v], sizes[i].T, D);
            bench_add(&results, text, (struct bench_value){mib, NAN}, "MiB", "L x L floats",
                      square / mib);
        }
}

int main(int argc, char **argv)
{
    if (argc == 5 && !strcmp(argv[1], "--memory")) { /* what bench_memory runs */
        threads = atoi(argv[4]);
        return print_memory(argv[2], atoi(argv[3]));
    }
    bench_help(argc, argv, usage);
    int rc = 0;
    for (int i = 1; i < argc && !rc; i++)
        if (!strcmp(argv[i], "--cpu-time"))
            cpu_time = true;
        else
            rc = bench_number("threads", argv[i], 1, &threads);
    if (rc)
        return orr_error_exit("bench_attention", rc);
    rc = bench_open(&results, "attention", threads);
    if (rc == 0)
        rc = k_cpu()->open(threads, false);
    if (rc == 0) {
        printf("causal attention in fp32, d = %d, p = 15, %d threads; ns and GFLOP/s of one core, "
               "%s time\n"
               "%6s %-10s %-8s %8s %6s %8s %7s %7s %7s\n",
               D, threads, cpu_time ? "CPU" : "wall", "L", "variant", "pass", "ns", "spread",
               "GFLOP/s", "softmax", "generic", "PyTorch");
        for (int i = 0; i < SIZES; i++)
            bench_size(&sizes[i]);
        bench_memory(argv[0]);
        printf("\nsoftmax: time over that of fused softmax; generic, PyTorch: their time over "
               "ours\n");
    }
    k_cpu()->close();
    return orr_error_exit("bench_attention", bench_close(&results, rc));
}
