/* predict.h - how long kernels should take, from counted work and published rates alone. Nothing is
 * measured here, and every line that is printed says so.
 *
 * A kernel keeps pipes busy for some time each: the schedulers' slots, tensor cores, arithmetic,
 * special functions, shared memory, L2 and DRAM. It takes at least the time of the busiest pipe, if
 * all of them overlap, and about the sum of their times, if none do: the prediction is that
 * interval, and its geometric mean where one number is wanted.
 *
 * Left out: latency, dependencies between instructions, occupancy, the last wave of blocks,
 * conflicts of banks, misses of caches, launches, and clocks that fall under load. A kernel that
 * waits for any of them takes longer than the lower end, and may take longer than the upper one. */
#ifndef PREDICT_H
#define PREDICT_H

#include "sass.h"

enum predict_pipe {
    PREDICT_PIPE_ISSUE,
    PREDICT_PIPE_TENSOR,
    PREDICT_PIPE_FMA,
    PREDICT_PIPE_HALF,
    PREDICT_PIPE_FP64,
    PREDICT_PIPE_ALU,
    PREDICT_PIPE_XU,
    PREDICT_PIPE_SHARED, /* shared memory, local memory and shuffles */
    PREDICT_PIPE_L2,
    PREDICT_PIPE_DRAM,
    PREDICT_PIPES
};
extern const char *const predict_pipe_name[PREDICT_PIPES];

/* Rates of a GPU; per clock and multiprocessor where nothing else is said. */
struct predict_machine {
    const char *name, *target; /* "A100", "sm_80" */
    double multiprocessors, clock_ghz;
    double slots;                                    /* instructions of warps */
    double mma, wgmma;                               /* multiply-adds of bf16; 0: has none */
    double fp32, imad, half, fp64, alu, xu, shuffle; /* results, of lanes */
    double shared_bytes;
    double l2_bytes; /* per clock, of the whole GPU */
    double dram_gbs; /* GB/s */
    const char *source;
};
extern const struct predict_machine predict_machines[]; /* ended by name == NULL */
/* NULL when there is none of the name. */
const struct predict_machine *predict_machine_find(const char *name);

/* Seconds of each pipe of one kernel, or of kernels one after the other. */
struct predict_time {
    double pipe_s[PREDICT_PIPES];
    double low_s, high_s; /* largest pipe, sum of pipes; of several kernels: sums of these */
};
/* The time of a kernel whose warps do `tally` in all, and whose blocks move dram_bytes. */
void predict_time_of(struct predict_time *time, const struct predict_machine *machine,
                     const struct predict_tally *tally, double dram_bytes);
/* sum += factor * more */
void predict_time_add(struct predict_time *sum, const struct predict_time *more, double factor);
enum predict_pipe predict_time_largest(const struct predict_time *time);
/* Geometric mean of both ends. */
double predict_time_middle_s(const struct predict_time *time);

/* A product of bf16, M x N x K multiply-adds, whose results are of out_bytes each. */
struct predict_gemm {
    double M, N, K, out_bytes;
};
/* As whole tiles of 256 x 128 (128 x 128 where these are fewer than the multiprocessors), in whole
 * waves of a tile for each multiprocessor, on tensor cores at their full rate; DRAM moves every
 * matrix once. After NVIDIA, "Matrix Multiplication Background User's Guide": tile and wave
 * quantisation. */
void predict_gemm_time(struct predict_time *time, const struct predict_machine *machine,
                       const struct predict_gemm *gemm);

/* ---- expressions of a description: numbers, names, + - * / ^ and functions: ceil(x), min(a, b),
 * max(a, b), pairs(T, rows, columns): tiles of `rows` queries and `columns` keys on or below the
 * diagonal of T positions; masked(T, rows, columns): those of them that it passes through. */

struct predict_names; /* values by name */
int predict_names_create(struct predict_names **names);
void predict_names_free(struct predict_names *names);
int predict_names_set(struct predict_names *names, const char *name, double value);
/* ORR_EFORMAT with `where` in front: a name that is not known, no number, below 0. */
int predict_evaluate(const struct predict_names *names, const char *text, const char *where,
                     double *value);
double predict_tiles(double T, double rows, double columns, bool masked);

/* ---- descriptions (JSON, docs/predict.md) */

struct predict_options {
    const char *path;
    const char *only; /* cases whose names contain it; NULL: all */
    bool kernels;     /* a line for each kernel as well */
};
/* Prints the table of a description to stdout. */
int predict_table(const struct predict_options *options);
/* Prints counts (predict_counts_write) beside the limits of a JSON file, docs/predict.md; an error
 * where one is beyond. */
int predict_limits(const char *path, const char *counts);

#endif
