/* machine.c - published rates of GPUs, and the time that counted work takes of each pipe.
 *
 * Sources. Results per clock and multiprocessor: CUDA C++ Programming Guide, "Throughput of Native
 * Arithmetic Instructions", compute capability 8.0 and 9.0 (float 64 and 128, double 32 and 64,
 * pairs of bf16 64 and 128 lanes, integers, comparisons and logic 64, products of integers 64,
 * special functions and conversions 16, shuffles 32). One instruction per clock of each of four
 * schedulers, shared memory of 32 banks of 4 bytes: the same guide, compute capabilities. A100:
 * NVIDIA A100 Tensor Core GPU Architecture whitepaper (108 multiprocessors, 1410 MHz, 1024
 * multiply-adds of halves, L2 of 5120 bytes per clock) and the data sheet of A100 80GB SXM (2039
 * GB/s, 312 TFLOP/s). H100: data sheet of H100 SXM (3350 GB/s, 989 TFLOP/s) and the NVIDIA H100
 * whitepaper (132 multiprocessors, 2048 multiply-adds), which give 1830 MHz while tensor cores
 * work.
 *
 * mma of an H100: Luo et al., "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking
 * and Multiple Level Analysis" (arXiv:2501.12084), section 6.2: mma instructions, which Ampere has
 * as well, reach 62.9% of the peak on average; wgmma alone reaches it. L2 of an H100: no figure is
 * published; the A100's per clock. */
#include "predict.h"

#include <math.h>
#include <string.h>

const struct predict_machine predict_machines[] = {
    {.name = "A100",
     .target = "sm_80",
     .multiprocessors = 108,
     .clock_ghz = 1.41,
     .slots = 4,
     .mma = 1024,
     .wgmma = 0,
     .fp32 = 64,
     .imad = 64,
     .half = 64,
     .fp64 = 32,
     .alu = 64,
     .xu = 16,
     .shuffle = 32,
     .shared_bytes = 128,
     .l2_bytes = 5120,
     .dram_gbs = 2039,
     .source = "A100 80GB SXM: whitepaper, data sheet, CUDA C++ Programming Guide"},
    {.name = "H100",
     .target = "sm_90",
     .multiprocessors = 132,
     .clock_ghz = 1.83,
     .slots = 4,
     .mma = 0.629 * 2048,
     .wgmma = 2048,
     .fp32 = 128,
     .imad = 64,
     .half = 128,
     .fp64 = 64,
     .alu = 64,
     .xu = 16,
     .shuffle = 32,
     .shared_bytes = 128,
     .l2_bytes = 5120,
     .dram_gbs = 3350,
     .source = "H100 SXM: whitepaper, data sheet, CUDA C++ Programming Guide; mma: "
               "arXiv:2501.12084; L2: the A100's"},
    {0}};

const char *const predict_pipe_name[PREDICT_PIPES] = {"issue", "tensor", "fma",    "half", "fp64",
                                                      "alu",   "xu",     "shared", "L2",   "DRAM"};

const struct predict_machine *predict_machine_find(const char *name)
{
    for (const struct predict_machine *m = predict_machines; m->name; m++)
        if (!strcmp(m->name, name))
            return m;
    return NULL;
}

static void set_ends(struct predict_time *time)
{
    time->low_s = time->high_s = 0;
    for (int p = 0; p < PREDICT_PIPES; p++) {
        time->low_s = fmax(time->low_s, time->pipe_s[p]);
        time->high_s += time->pipe_s[p];
    }
}

void predict_time_of(struct predict_time *time, const struct predict_machine *m,
                     const struct predict_tally *t, double dram_bytes)
{
    enum { LANES = 32 };
    const double *n = t->count;
    double clocks[PREDICT_PIPES] = {0}; /* of one multiprocessor that would do everything */
    clocks[PREDICT_PIPE_ISSUE] = predict_tally_instructions(t) / m->slots;
    clocks[PREDICT_PIPE_TENSOR] = t->multiply_adds[PREDICT_MMA] / m->mma;
    if (t->multiply_adds[PREDICT_WGMMA] > 0) /* infinite where there is none */
        clocks[PREDICT_PIPE_TENSOR] += t->multiply_adds[PREDICT_WGMMA] / m->wgmma;
    clocks[PREDICT_PIPE_FMA] = LANES * (n[PREDICT_FP32] / m->fp32 + n[PREDICT_IMAD] / m->imad);
    clocks[PREDICT_PIPE_HALF] = LANES * n[PREDICT_HALF] / m->half;
    clocks[PREDICT_PIPE_FP64] = LANES * n[PREDICT_FP64] / m->fp64;
    clocks[PREDICT_PIPE_ALU] = LANES * n[PREDICT_ALU] / m->alu;
    clocks[PREDICT_PIPE_XU] = LANES * n[PREDICT_XU] / m->xu;
    clocks[PREDICT_PIPE_SHARED] = (t->shared_bytes + t->local_bytes) / m->shared_bytes +
                                  LANES * n[PREDICT_SHUFFLE] / m->shuffle;
    clocks[PREDICT_PIPE_L2] = t->global_bytes / m->l2_bytes * m->multiprocessors;
    for (int p = 0; p < PREDICT_PIPES; p++)
        time->pipe_s[p] = clocks[p] / m->multiprocessors / (m->clock_ghz * 1e9);
    time->pipe_s[PREDICT_PIPE_DRAM] = dram_bytes / (m->dram_gbs * 1e9);
    set_ends(time);
}

void predict_time_add(struct predict_time *sum, const struct predict_time *more, double factor)
{
    for (int p = 0; p < PREDICT_PIPES; p++)
        sum->pipe_s[p] += factor * more->pipe_s[p];
    sum->low_s += factor * more->low_s;
    sum->high_s += factor * more->high_s;
}

enum predict_pipe predict_time_largest(const struct predict_time *time)
{
    int largest = 0;
    for (int p = 1; p < PREDICT_PIPES; p++)
        if (time->pipe_s[p] > time->pipe_s[largest])
            largest = p;
    return (enum predict_pipe)largest;
}

double predict_time_middle_s(const struct predict_time *time)
{
    return sqrt(time->low_s * time->high_s);
}

/* Multiply-adds of the tiles of a product, with those of the last wave that stay empty. */
static double multiply_adds_of(const struct predict_machine *m, const struct predict_gemm *g)
{
    double rows = 256, columns = 128;
    double tiles = ceil(g->M / rows) * ceil(g->N / columns);
    if (tiles < m->multiprocessors) {
        rows = 128;
        tiles = ceil(g->M / rows) * ceil(g->N / columns);
    }
    /* few tiles and a long sum: the sum is split among the multiprocessors */
    const double waves = tiles < m->multiprocessors ? 1 : ceil(tiles / m->multiprocessors);
    const double split = tiles < m->multiprocessors ? floor(m->multiprocessors / tiles) : 1;
    return waves * m->multiprocessors * rows * columns * g->K / split;
}

void predict_gemm_time(struct predict_time *time, const struct predict_machine *m,
                       const struct predict_gemm *g)
{
    const double rate = m->wgmma > 0 ? m->wgmma : m->mma;
    *time = (struct predict_time){0};
    time->pipe_s[PREDICT_PIPE_TENSOR] =
        multiply_adds_of(m, g) / rate / m->multiprocessors / (m->clock_ghz * 1e9);
    time->pipe_s[PREDICT_PIPE_DRAM] =
        (2 * (g->M * g->K + g->K * g->N) + g->out_bytes * g->M * g->N) / (m->dram_gbs * 1e9);
    set_ends(time);
}
