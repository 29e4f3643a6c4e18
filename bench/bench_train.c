/* bench_train.c - whole training steps: milliseconds, tokens/s, share of the matmul peak, memory.
 *
 * Usage: below, or --help.
 *
 * A step is what training does: gradients to zero, forward, loss, backward, norm, AdamW. Batches
 * are synthetic. Every case is a process of its own, so that its peak memory is its own, and steps
 * in turns with a second process: softmax with the same model in PyTorch (bench/peer_train.py, if
 * torch is installed), lssar with our softmax: paired runs. llm.c's CPU trainer (LLMC) runs in its
 * folder, with GPT-2 124M, B = 4, T = 64, as its own file says; the "took ... ms" of its lines are
 * the peer of our 12 x 768 model of that shape.
 *
 * Model floating-point operations of a step of N = B T tokens (multiply and add count as two):
 *     6 N P + 6 L N T C
 * P = weights that multiply: all matrices but the embedding tables; the attention term is the
 * causal half of its products, two forward and four backward. Recomputation does not count. The
 * peak is measured in the same process by the backend's own matmul (k_ops.peak).
 *
 * --device cuda (make bench-gpu), always with --compile: the shapes of a GPU, 999 inputs of the
 * study's sequences, bf16 unless told otherwise. The peer is on the same GPU, with flash attention;
 * both stay there while they step in turns. Three steps warm up: ours runs once, is recorded, is
 * replayed. MFU is the share of the rate that the vendor states for dense bf16 products (`stated`
 * below), beside the share of the measured peak. Memory is what a process adds to the GPU's, by
 * nvidia-smi: context and workspaces count, and other programs must leave the GPU alone. Writes
 * bench/results/gpu.json.
 *
 * --table A7: time and memory, training and evaluation, at the shape of GPT-2 124M, batch 4,
 * L = 1024, the generic attention path and the fused one. Results: train.json, train_a7.json. */
#include "bench.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shape.h"

enum { MOST_RUNS = 50, LINE = 256 };

static const struct shape shapes[] = {
    {"quick", false, 3, 96, 4, 32, 64, 31},
    {"10M", true, 4, 256, 4, 256, 8, 11},
    {"25M", true, 6, 448, 7, 512, 4, 7},
    {"109M", true, 12, 768, 12, 999, 2, 3},
};

static const char usage[] =
    "bench_train - whole training steps: milliseconds, tokens/s, share of the matmul peak, memory\n"
    "\nusage: bench_train [options]\n\n"
    "  --device cpu|cuda            where (default: cpu); cuda has shapes 25M, 109M, 355M\n"
    "  --shape quick|10M|25M|109M   one model (default: all)\n"
    "  --precision fp32|tf32|bf16   one precision (default: fp32 and bf16; cuda: bf16)\n"
    "  --batch N                    sequences per step (default: by the model)\n"
    "  --threads N                  default: all cores\n"
    "  --runs N                     steps per case, at most 50 (default: 3 to 31 by the model)\n"
    "  --no-peer                    without the same model in PyTorch\n"
    "  --compile                    PyTorch's model by torch.compile\n"
    "  --table A7                   time and memory, training and evaluation, generic and fused\n\n"
    "LLMC=path/to/train_gpt2 in the environment adds llm.c's CPU trainer.\n"
    "Prints a table, writes bench/results/train.json (gpu.json). make bench-train "
    "BENCH_ARGS=\"options\".\n";

static const struct shape gpu_shapes[] = {
    {"25M", true, 8, 384, 6, 999, 64, 21},
    {"109M", true, 12, 768, 12, 999, 32, 21},
    {"355M", true, 24, 1024, 16, 999, 16, 11},
};

/* Dense bf16 products in TFLOP/s, from the data sheets; the first name that fits. */
static const struct {
    const char *name;
    double tflops;
} stated[] = {{"H100 PCIe", 756}, {"H100 NVL", 835}, {"H100", 989},
              {"H200", 989},      {"GH200", 989},    {"A100", 312}};

static struct {
    int threads, runs, batch;
    const char *device, *shape, *precision, *table;
    bool peer, compile, cuda;
} options = {.threads = 0, .peer = true};

static const char *const precisions[] = {"fp32", "bf16", "tf32"}; /* as enum k_precision */
static char gpu[128];                                             /* its name */

static struct bench_results results;

/* ---- the worker: our trainer behind a pair of pipes */

static int answer(const struct k_ops *ops, struct gpt_model *model, const struct gpt_batch *batch,
                  const char *line, long *step, double *value)
{
    static const struct orr_train_settings train = {.steps = 1000000,
                                                    .batch = 1,
                                                    .lr = 1e-4,
                                                    .beta1 = 0.9,
                                                    .beta2 = 0.95,
                                                    .weight_decay = 0.1,
                                                    .clip = 1};
    double loss, norm;
    if (strncmp(line, "peak", 4) == 0)
        return ops->peak(value);
    if (strncmp(line, "memory", 6) == 0) {
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        *value = (double)used.ru_maxrss;
        return 0;
    }
    if (strncmp(line, "cpu", 3) == 0) {
        *value = 1e3 * bench_processor_s();
        return 0;
    }
    const double start = orr_time_s();
    int rc = 0;
    if (strncmp(line, "train", 5) == 0) {
        rc = gpt_zero_grad(model);
        rc = rc ? rc : gpt_loss_backward(model, batch, &loss);
        rc = rc ? rc : gpt_update(model, &train, (*step)++, &norm);
    } else {
        rc = gpt_loss(model, batch, &loss);
    }
    rc = rc ? rc : ops->wait(); /* for the update, too */
    *value = 1e3 * (orr_time_s() - start);
    return rc;
}

static int worker(const struct shape *s, const char *attention, enum k_precision precision,
                  bool generic)
{
    struct k_ops copy;
    const struct k_ops *ops;
    struct gpt_config config;
    struct gpt_model model = {0};
    struct gpt_batch batch = {0};
    shape_config(&config, s, attention);
    int rc = k_find(options.cuda ? "cuda" : "cpu", &ops);
    if (!rc && generic)
        ops = k_generic_attention(ops, &copy);
    rc = rc ? rc : ops->open(options.threads, precision);
    if (rc)
        return orr_error_exit("bench_train", rc);
    rc = rc ? rc : gpt_create(&model, &config, ops, 1);
    rc = rc ? rc : gpt_batch_create(&batch, &config, s->B, s->T);
    if (!rc)
        shape_fill(&batch, &config);
    char line[LINE];
    double value;
    long step = 0;
    while (!rc && fgets(line, sizeof line, stdin)) {
        rc = answer(ops, &model, &batch, line, &step, &value);
        if (!rc) {
            printf("%.17g\n", value);
            fflush(stdout);
        }
    }
    gpt_batch_free(&batch);
    gpt_free(&model);
    ops->close();
    return orr_error_exit("bench_train", rc);
}

/* ---- processes that answer */

struct process {
    pid_t pid;
    FILE *ask, *answer;
};

/* Starts argv, or the worker (argv NULL). */
static int process_start(struct process *p, char *const argv[], const struct shape *s,
                         const char *attention, enum k_precision precision, bool generic)
{
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0)
        return ORR_FAIL(ORR_EIO, "bench_train: no pipe");
    fflush(NULL);
    p->pid = fork();
    if (p->pid < 0)
        return ORR_FAIL(ORR_EIO, "bench_train: cannot start a process");
    if (p->pid == 0) {
        if (dup2(to[0], 0) < 0 || dup2(from[1], 1) < 0)
            _exit(1);
        close(to[0]), close(to[1]), close(from[0]), close(from[1]);
        if (!argv)
            exit(worker(s, attention, precision, generic));
        execvp(argv[0], argv);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    /* or the next process keeps this one's input open, which then never ends */
    fcntl(to[1], F_SETFD, FD_CLOEXEC);
    fcntl(from[0], F_SETFD, FD_CLOEXEC);
    p->ask = fdopen(to[1], "w");
    p->answer = fdopen(from[0], "r");
    return p->ask && p->answer ? 0 : ORR_FAIL(ORR_EIO, "bench_train: no pipe");
}

/* NAN: the process has no answer (it is not installed, or out of memory). */
static double process_ask(struct process *p, const char *what)
{
    char line[LINE];
    fprintf(p->ask, "%s\n", what);
    if (fflush(p->ask) != 0 || !fgets(line, sizeof line, p->answer))
        return NAN;
    return atof(line);
}

static void process_end(struct process *p)
{
    fclose(p->ask);
    fclose(p->answer);
    waitpid(p->pid, NULL, 0);
}

static int peer_start(struct process *p, const struct shape *s, enum k_precision precision)
{
    char text[6][16];
    const int number[6] = {s->layers, s->width, s->heads, s->T, s->B, SHAPE_VOCABULARY};
    char threads[16];
    for (int i = 0; i < 6; i++)
        snprintf(text[i], sizeof text[i], "%d", number[i]);
    snprintf(threads, sizeof threads, "%d", options.threads);
    char *argv[] = {"python3",
                    "bench/peer_train.py",
                    s->tokens ? "tokens" : "continuous",
                    text[0],
                    text[1],
                    text[2],
                    text[3],
                    text[4],
                    text[5],
                    (char *)(uintptr_t)precisions[precision],
                    options.compile ? "compile" : "eager",
                    threads,
                    options.cuda ? "cuda" : "cpu",
                    NULL};
    return process_start(p, argv, NULL, NULL, precision, false);
}

/* ---- cases */

/* What steps in turns with the case. */
enum peer { PEER_NONE, PEER_PYTORCH, PEER_SOFTMAX };
static const char *const peer_name[] = {NULL, "PyTorch", "our softmax"};

struct measured {
    enum peer peer;
    struct bench_value ms, peer_ms;
    double ratio;               /* median of the paired quotients; NAN without a peer */
    double cpu_ms, peer_cpu_ms; /* processor time of a step, all threads: what a busy machine
                                   does not stretch (threads that wait must sleep) */
    double peak, memory_mb, peer_mb;
};

/* What all programs hold of the GPU, in MB; NAN without nvidia-smi. */
static double gpu_mb(void)
{
    char text[64];
    bench_ask("nvidia-smi -i 0 --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null",
              "", text, sizeof text);
    return *text ? atof(text) * 1.048576 : NAN;
}

/* The first steps, which are not counted; *mb = what the process then holds. */
static void warm_up(struct process *p, const char *what, double others_mb, double *mb)
{
    for (int i = 0; i < (options.cuda ? 3 : 1); i++)
        process_ask(p, what);
    *mb = options.cuda ? gpu_mb() - others_mb : NAN;
}

static int measure(struct measured *m, const struct shape *s, const char *attention,
                   enum k_precision precision, bool generic, enum peer with, const char *what)
{
    const bool with_peer = with != PEER_NONE;
    const int runs = options.runs > 0 ? options.runs : s->runs;
    const double before_mb = options.cuda ? gpu_mb() : NAN;
    double our_gpu_mb, peer_gpu_mb = NAN;
    double ms[MOST_RUNS], peer_ms[MOST_RUNS], ratio[MOST_RUNS];
    struct process our, peer;
    int rc = process_start(&our, NULL, s, attention, precision, generic);
    if (rc)
        return rc;
    m->peak = process_ask(&our, "peak"); /* before the peer: its start takes the cores */
    warm_up(&our, what, before_mb, &our_gpu_mb);
    if (with == PEER_PYTORCH)
        rc = peer_start(&peer, s, precision);
    else if (with == PEER_SOFTMAX)
        rc = process_start(&peer, NULL, s, "softmax", precision, generic);
    if (rc)
        return rc;
    m->peer = with;
    if (with_peer)
        warm_up(&peer, what, before_mb + our_gpu_mb, &peer_gpu_mb);
    m->cpu_ms = -process_ask(&our, "cpu");
    m->peer_cpu_ms = with_peer ? -process_ask(&peer, "cpu") : NAN;
    for (int i = 0; i < runs; i++) {
        const double a = process_ask(&our, what);
        const double b = with_peer ? process_ask(&peer, what) : NAN;
        if (isnan(a))
            return ORR_FAIL(ORR_EDEVICE, "bench_train: %s %s failed", s->name, attention);
        ms[i] = a;
        peer_ms[i] = b;
        ratio[i] = b / a;
    }
    m->ms = bench_median(ms, runs);
    m->peak = fmax(m->peak, process_ask(&our, "peak")); /* the less disturbed of two */
    m->cpu_ms = (m->cpu_ms + process_ask(&our, "cpu")) / runs;
    m->memory_mb = options.cuda ? our_gpu_mb : process_ask(&our, "memory") / 1024;
    m->peer_ms = (struct bench_value){NAN, NAN};
    m->ratio = m->peer_mb = NAN;
    if (with_peer) {
        if (!isnan(peer_ms[0])) {
            m->peer_ms = bench_median(peer_ms, runs);
            m->ratio = bench_median(ratio, runs).median;
            m->peer_cpu_ms = (m->peer_cpu_ms + process_ask(&peer, "cpu")) / runs;
            m->peer_mb = options.cuda ? peer_gpu_mb : process_ask(&peer, "memory") / 1024;
        }
        process_end(&peer); /* first: it was forked with a copy of the other's pipe */
    }
    process_end(&our);
    return 0;
}

/* NAN on the CPU and where no data sheet is known. */
static double stated_tflops(void)
{
    for (size_t i = 0; i < sizeof stated / sizeof *stated; i++)
        if (strstr(gpu, stated[i].name))
            return stated[i].tflops;
    return NAN;
}

static void add_rows(const char *name, const struct shape *s, const struct measured *m)
{
    char text[LINE + 32];
    /* above 1 the peak was measured beside other work, and is none */
    const double tokens = 1e3 * s->B * s->T,
                 of_peak = shape_gflop(s) / (m->ms.median * 1e-3) / m->peak,
                 share = of_peak <= 1 ? of_peak : NAN;
    const bool peer = isfinite(m->ratio);
    const struct bench_value values[] = {m->ms,
                                         {tokens / m->ms.median, m->ms.spread},
                                         {share, m->ms.spread},
                                         {m->peak, NAN},
                                         {m->memory_mb, NAN},
                                         {m->cpu_ms, NAN}};
    static const char *const units[] = {"ms",           "tokens/s", "share of peak",
                                        "GFLOP/s peak", "MB",       "ms of processor"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        snprintf(text, sizeof text, "%s %s", name, units[i]);
        bench_add(&results, text, values[i], units[i],
                  peer && (i == 0 || i >= 4) ? peer_name[m->peer] : NULL,
                  i == 0   ? m->ratio
                  : i == 4 ? m->peer_mb / m->memory_mb
                           : m->peer_cpu_ms / m->cpu_ms);
    }
    printf("%-26s %9.1f ms %10.0f tok/s %5.1f%% of %6.1f %7.0f MB", name, m->ms.median,
           tokens / m->ms.median, 100 * share, m->peak, m->memory_mb);
    if (peer)
        printf("   %s %9.1f ms %7.0f MB  ratio %.2f", peer_name[m->peer], m->peer_ms.median,
               m->peer_mb, m->ratio);
    printf("   cpu %.0f ms", m->cpu_ms);
    if (peer)
        printf(", ratio %.2f", m->peer_cpu_ms / m->cpu_ms);
    const double mfu = 1e-3 * shape_gflop(s) / (m->ms.median * 1e-3) / stated_tflops();
    if (isfinite(mfu)) {
        snprintf(text, sizeof text, "%s MFU", name);
        bench_add(&results, text, (struct bench_value){mfu, m->ms.spread}, "MFU", NULL, 0);
        printf("   MFU %.1f%%", 100 * mfu);
    }
    printf("\n");
    fflush(stdout);
}

static int bench_shapes(void)
{
    static const char *const attentions[] = {"softmax", "lssar"};
    const struct shape *list = options.cuda ? gpu_shapes : shapes;
    const size_t count =
        options.cuda ? sizeof gpu_shapes / sizeof *gpu_shapes : sizeof shapes / sizeof *shapes;
    for (size_t i = 0; i < count; i++) {
        struct shape chosen = list[i];
        const struct shape *s = &chosen;
        if (options.shape && strcmp(options.shape, s->name) != 0)
            continue;
        if (options.batch > 0)
            chosen.B = options.batch;
        for (int p = 0; p < 3; p++) {
            const bool asked = options.precision && strcmp(options.precision, precisions[p]) == 0;
            if (!asked && (options.precision || (options.cuda ? p != K_PRECISION_BF16 : p > 1)))
                continue;
            for (int a = 0; a < 2; a++) {
                struct measured m = {0};
                char name[LINE];
                /* PyTorch has no such attention: softmax is the pair */
                const enum peer peer = a == 1         ? PEER_SOFTMAX
                                       : options.peer ? PEER_PYTORCH
                                                      : PEER_NONE;
                const int rc =
                    measure(&m, s, attentions[a], (enum k_precision)p, false, peer, "train");
                if (rc)
                    return rc;
                snprintf(name, sizeof name, "%s %s %s", s->name, attentions[a], precisions[p]);
                add_rows(name, s, &m);
            }
        }
    }
    return 0;
}

static int bench_a7(void)
{
    static const char *const attentions[] = {"softmax", "lssa", "lssar"};
    static const struct shape s = {"A7", true, 12, 768, 12, 1024, 4, 3};
    const bool bf16 = !options.precision || strcmp(options.precision, "bf16") == 0;
    const enum k_precision precision = bf16 ? K_PRECISION_BF16 : K_PRECISION_FP32;
    for (int generic = 1; generic >= 0; generic--)
        for (int a = 0; a < 3; a++)
            for (int train = 1; train >= 0; train--) {
                struct measured m = {0};
                char name[LINE];
                const int rc = measure(&m, &s, attentions[a], precision, generic, PEER_NONE,
                                       train ? "train" : "eval");
                if (rc)
                    return rc;
                snprintf(name, sizeof name, "%s %s %s", attentions[a],
                         generic ? "generic" : "fused", train ? "training" : "evaluation");
                printf("%-32s %9.1f ms %8.0f MB\n", name, m.ms.median, m.memory_mb);
                fflush(stdout);
                char row[LINE + 8];
                snprintf(row, sizeof row, "%s time", name);
                bench_add(&results, row, m.ms, "ms", NULL, 0);
                snprintf(row, sizeof row, "%s memory", name);
                bench_add(&results, row, (struct bench_value){m.memory_mb, NAN}, "MB", NULL, 0);
            }
    return 0;
}

/* llm.c's CPU trainer prints a line per step with the time it "took". */
static int bench_llmc(const char *program)
{
    static const struct shape s = {"llm.c shape", true, 12, 768, 12, 64, 4, 5};
    char command[1024], line[LINE];
    double ms[MOST_RUNS];
    int n = 0;
    /* a line at a time, and an end when we have read enough */
    snprintf(command, sizeof command,
             "cd \"$(dirname '%s')\" && env --default-signal=PIPE OMP_NUM_THREADS=%d "
             "stdbuf -oL '%s'",
             program, options.threads, program);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return ORR_FAIL(ORR_EIO, "bench_train: cannot start %s", program);
    for (int seen = 0; n < s.runs && fgets(line, sizeof line, pipe);) {
        const char *took = strstr(line, "took ");
        if (took && seen++ > 0) /* the first warms up */
            ms[n++] = atof(took + 5);
    }
    pclose(pipe);
    if (n == 0)
        return ORR_FAIL(ORR_EIO, "bench_train: %s printed no step", program);
    const double peer = bench_median(ms, n).median;
    struct measured m = {0};
    const int rc = measure(&m, &s, "softmax", K_PRECISION_BF16, false, PEER_NONE, "train");
    if (rc)
        return rc;
    bench_add(&results, "GPT-2 124M B4 T64 step", m.ms, "ms", "llm.c", peer / m.ms.median);
    printf("GPT-2 124M B4 T64          %9.1f ms   llm.c %9.1f ms  ratio %.2f\n", m.ms.median, peer,
           peer / m.ms.median);
    return 0;
}

static int arguments(int argc, char **argv)
{
    int rc = 0;
    for (int i = 1; i < argc && !rc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        const struct {
            const char *name, **value;
        } texts[] = {{"--device", &options.device},
                     {"--shape", &options.shape},
                     {"--precision", &options.precision},
                     {"--table", &options.table}};
        size_t text = 0;
        while (text < 4 && strcmp(name, texts[text].name))
            text++;
        if (strcmp(name, "--no-peer") == 0)
            options.peer = false;
        else if (strcmp(name, "--compile") == 0)
            options.compile = true;
        else if (strcmp(name, "--threads") == 0)
            rc = bench_number(name, argv[++i], 1, &options.threads);
        else if (strcmp(name, "--runs") == 0)
            rc = bench_number(name, argv[++i], 1, &options.runs);
        else if (strcmp(name, "--batch") == 0)
            rc = bench_number(name, argv[++i], 1, &options.batch);
        else if (text < 4 && value)
            *texts[text].value = argv[++i];
        else
            return ORR_FAIL(ORR_EUSAGE, "%s: unknown, or without its value; see --help", name);
    }
    rc = rc ? rc : bench_choice("--table", options.table, "A7");
    rc = rc ? rc : bench_choice("--device", options.device, "cpu cuda");
    options.cuda = options.device && strcmp(options.device, "cuda") == 0;
    rc = rc ? rc : bench_choice("--shape", options.shape, "quick 10M 25M 109M 355M");
    rc = rc ? rc : bench_choice("--precision", options.precision, "fp32 bf16 tf32");
    if (options.runs > MOST_RUNS)
        options.runs = MOST_RUNS;
    if (options.threads <= 0)
        options.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return rc;
}

int main(int argc, char **argv)
{
    bench_help(argc, argv, usage);
    int rc = arguments(argc, argv);
    if (rc)
        return orr_error_exit("bench_train", rc);
    signal(SIGPIPE, SIG_IGN); /* a peer that is not there ends its pipe */
    if (options.cuda) {
        options.compile = true;
        if (!getenv("ORRERY_CUDA_PLUGIN")) /* the programs', not beside this one */
            setenv("ORRERY_CUDA_PLUGIN", "bin/orrery_cuda.so", 1);
        bench_ask("nvidia-smi -i 0 --query-gpu=name --format=csv,noheader 2>/dev/null",
                  "unknown GPU", gpu, sizeof gpu);
    }
    rc = bench_open(&results,
                    options.table   ? "train_a7"
                    : !options.cuda ? "train"
                                    : (bench_without_hopper() ? "gpu_sm_80" : "gpu"),
                    options.threads);
    if (!rc && options.cuda) {
        cJSON_AddStringToObject(results.json, "gpu", gpu);
        cJSON_AddNumberToObject(results.json, "stated_tflops", stated_tflops());
        printf("%s, stated: %.0f TFLOP/s of dense bf16 products\n", gpu, stated_tflops());
    }
    const char *llmc = getenv("LLMC");
    if (!rc)
        rc = options.table ? bench_a7() : bench_shapes();
    if (!rc && llmc && !options.table)
        rc = bench_llmc(llmc);
    return orr_error_exit("bench_train", bench_close(&results, rc));
}
