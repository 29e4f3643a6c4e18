/* kernels.h - the table of tensor operations and its backends.
 *
 * `ref` (ref/) is plain loops: the specification. `cpu` (cpu/) starts as a copy of its table, so
 * that every entry is valid, and overrides entries with oneDNN matmuls and fused, threaded loops.
 * `cuda` (cuda/) has memory of its own and therefore every entry of its own.
 *
 * Dimensions: B batch, T time (positions), C channels, H heads, D = C / H head size, V
 * vocabulary, N = B T rows. All tensors are dense, C order, of type `real`: float, or double when
 * built with -DK_DOUBLE (reference backend only, for gradient checks and golden vectors).
 * Weights of a linear layer are (OC, C) as in PyTorch: out = inp W^T + b.
 *
 * Gradients: d<x> of an activation is overwritten unless the comment says "adds"; gradients of
 * parameters always add, so that passes accumulate.
 *
 * An operation with more than a handful of arguments takes them in a struct, whose members both
 * passes share. Every operation returns 0 or an orr_status with its message set (memory,
 * device). */
#ifndef K_KERNELS_H
#define K_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attention.h"

#ifdef K_DOUBLE
typedef double real;
#else
typedef float real; /* type of tensors, and of what other folders compute from them */
#endif

struct k_attention_shape {
    int B, T, H, D;
    const struct k_attention *variant;
    double power; /* of re-weighted variants, >= 1 */
    int window;   /* 0 = all earlier positions; w: row i attends (i - w, i] */
    /* Forward: only rows first .. end - 1 are needed (end 0 means T). Rows of qkv from `end` on
     * are not read; other rows of out and row_stats may or may not be written. */
    int first, end;
    /* qkv, out and their gradients are bf16 (k_ops.has_bf16_tensors); row_stats never is */
    bool bf16;
    bool forward_only; /* no backward pass follows, and row_stats need not be valid */
    /* The forward pass may overwrite q and k of qkv, although it is const, by scaled copies,
     * which the backward pass with this member set then reads. The caller must not use their
     * lengths afterwards. */
    bool may_overwrite_qk;
};

static inline int k_attention_end(const struct k_attention_shape *shape)
{
    return shape->end > 0 ? shape->end : shape->T;
}

/* One pass of a linear layer over N rows: out = inp W^T + b, and its gradients. A pass reads the
 * members of its own part and those above; optional tensors that are NULL are skipped. */
struct k_linear {
    int N, C, OC;
    const real *inp; /* (N, C) */
    const real *w;   /* (OC, C) */
    /* inputs are not rounded, whatever open() allowed: for coordinates as inputs, and for
     * coordinates and forces as outputs */
    bool fp32_only;
    /* forward; at most one of `residual` and `pre` */
    real *out;            /* (N, OC) */
    const real *b;        /* (OC) */
    const real *residual; /* (N, OC), is added to out; must not be out */
    real *pre; /* (N, OC): pre = inp W^T + b and out = gelu(pre), both kept. GELU in its erf form */
    /* backward */
    const real *dout; /* (N, OC) */
    real *dinp;       /* (N, C) = dout W */
    real *dw;         /* (OC, C) adds dout^T inp; never NULL */
    real *db;         /* (OC) adds the column sums of dout */
    /* (N, C) where inp = gelu(inp_pre), or NULL. dinp is then multiplied by gelu'(inp_pre), and
     * is the gradient with respect to inp_pre */
    const real *inp_pre;
    /* Tensors that are bf16 (k_ops.has_bf16_tensors): the pointers above then point to bf16. Not
     * with `fp32_only`. */
    bool inp_bf16;               /* inp, dinp and inp_pre are bf16 */
    bool out_bf16;               /* out, pre and dout are bf16; not with `residual` */
    const void *w_bf16, *b_bf16; /* bf16 copies of w and b, or NULL */
    real *inp_db; /* (C) or NULL, only with inp_bf16 and inp_pre: adds the column sums of dinp,
                   * the gradient of the bias of the layer that made inp_pre */
};

/* One pass of layer norm over N rows, out = (x - mean) rstd gamma + beta with eps 1e-5, and its
 * gradients. A pass reads the members of its own part and those above. */
struct k_layernorm {
    int N, C;
    const real *x;     /* (N, C) */
    const real *gamma; /* (C) */
    real *mean, *rstd; /* (N) each: the forward pass writes them, the backward pass reads them */
    bool bf16;         /* out and dout are bf16 (k_ops.has_bf16_tensors) */
    /* forward */
    const real *beta; /* (C) */
    real *out;        /* (N, C) */
    /* backward */
    const real *dout;     /* (N, C) */
    real *dx;             /* (N, C) adds */
    real *dgamma, *dbeta; /* (C) add */
    /* Computed from the final dx, for the linear layer before, which takes the copy as dout and
     * adds the sums to db. Only with `bf16`; each may be NULL. */
    void *dx_bf16; /* (N, C) a bf16 copy */
    real *dx_sums; /* (C) adds the column sums */
};

/* One pass of an embedding: columns [at, at + C) of row n of `out` are row token[n token_stride] of
 * the table. */
struct k_embedding {
    int N, V, C;
    const uint16_t *token;
    int token_stride;
    int stride, at; /* row stride of out and dout; first column */
    /* forward */
    const real *table; /* (V, C) */
    real *out;         /* (N, stride) */
    /* backward */
    const real *dout; /* (N, stride) */
    real *dtable;     /* (V, C) adds */
};

/* A rotation of q and k inside qkv (B, T, 3, H, D) by their positions: pairs (m, m + D/2), 0-based
 * position t + offset, angle (t + offset) base^(-2m/D). NTK scaling is folded into base by the
 * caller. Su et al. 2021. */
struct k_rope {
    int B, T, H, D;
    double base;
    int offset;
    bool inverse; /* rotates back: the gradient */
};

/* One pass of an output gate over n elements: out = y act(pre). */
struct k_gating {
    enum k_gate act;
    size_t n;
    const real *y, *pre;
    /* forward */
    real *out; /* may be y */
    /* backward */
    const real *dout;
    real *dy;   /* = dout act(pre); may be dout */
    real *dpre; /* = dout y act'(pre) */
};

/* Softmax cross entropy of columns [at, at + V) of logits (N, stride) against
 * target[n target_stride]. */
struct k_cross_entropy {
    int N, V;
    const real *logits;
    int stride, at;
    const uint16_t *target;
    int target_stride;
    const real *weight; /* (N), or NULL: 1 each */
    real *dlogits;      /* as logits, and may be logits; NULL: loss only */
};

/* A head of `channels` V-way classifiers without bias, and its loss: logits = inp W^T, and the
 * mean over channels of their cross entropies. The cpu and cuda backends never hold all logits
 * in memory. */
struct k_token_head {
    int N, C, V, channels;
    const real *inp;        /* (N, C) */
    const real *w;          /* (channels V, C) */
    const uint16_t *target; /* (N, channels) */
    const real *weight;     /* (N), or NULL: 1 each */
    real *dinp;             /* (N, C) is overwritten */
    real *dw;               /* (channels V, C) adds */
};

/* Regression. delta 0: the mean over weighted rows and columns of (pred - target)^2. delta > 0:
 * the pseudo-Huber loss of each row's distance s = |pred - target|, which is 2 delta^2 (sqrt(1 +
 * s^2 / delta^2) - 1) in place of s^2: s^2 for small distances, 2 delta s for large ones, and
 * independent of the axes (Charbonnier et al. 1997). */
struct k_regression {
    int N, C;
    double delta;
    const real *pred, *target; /* (N, C) */
    const real *weight;        /* (N), or NULL: 1 each */
    real *dpred;               /* (N, C), or NULL: loss only */
};

enum { K_DECAYS = 256 };
/* Weight decay of a range of the numbers: from the end of the range before (at first 0) to
 * `end`. */
struct k_decay {
    size_t end;
    double weight_decay;
};
struct k_adamw {
    double lr, beta1, beta2, eps;
    double weight_decay; /* of all numbers; ignored with `decays` */
    /* (count) ranges, at most K_DECAYS, the last of which ends at n: weight decays of tensors
     * that lie one after the other and are updated at once; or NULL */
    const struct k_decay *decays;
    int count;
    double grad_scale; /* multiplies the gradient first (clipping, 1 / accumulation) */
    long step;         /* 1-based, for the bias corrections */
};

/* The step of Muon on matrices of one shape (Jordan et al. 2024,
 * kellerjordan.github.io/posts/muon): param = keep param - rate O, where O is the update U brought
 * near to the closest matrix with orthonormal rows or columns. With X = U / |U| (Frobenius norm),
 * `steps` times X = a X + (b A + c A A) X, A = X X^T (or X = a X + X (b A + c A A), A = X^T X,
 * where there are more rows than columns). A matrix of zeros stays one. */
struct k_muon_polynomial {
    double a, b, c; /* a s + b s^3 + c s^5 of a singular value s */
};
/* The polynomial of a step, from 0 on: by Amsel et al. 2025 (Polar Express, arXiv 2505.16932,
 * theorem 3.1) the odd polynomial of degree 5 nearest to 1 on the interval into which the earlier
 * ones bring [3e-4, 1], made wider by 1% above for errors of rounding. Four steps bring singular
 * values from 3e-4 |U| on into [.16, 1.84], six into [.91, 1.09]. */
static inline struct k_muon_polynomial k_muon_polynomial(int step)
{
    static const struct k_muon_polynomial of_step[] = {
        {8.4170, -24.4880, 17.8174}, {4.1935, -3.0529, 0.5565}, {4.1257, -3.0068, 0.5513},
        {3.8712, -2.8337, 0.5325},   {3.1402, -2.3130, 0.4756}, {2.1750, -1.5345, 0.3933},
        {1.8733, -1.2392, 0.3660},
    };
    const int last = (int)(sizeof of_step / sizeof *of_step) - 1;
    return of_step[step < last ? step : last];
}
enum { K_MATRICES = 256 };
struct k_muon {
    int count, rows, cols; /* count <= K_MATRICES */
    const size_t *at;      /* (count) where each matrix begins in param and in update, ascending */
    int steps;             /* >= 1 */
    double rate, keep;     /* learning rate times scale; 1 - learning rate times weight decay */
};

struct k_recording; /* each backend defines its own */

/* Rounding of the inputs of matmuls. The sums of matmuls are float; those of ref, which never
 * rounds, are double. The order of the members makes false and true mean fp32 and bf16. tf32 is
 * fp32 where the machine has no tf32. */
enum k_precision { K_PRECISION_FP32, K_PRECISION_BF16, K_PRECISION_TF32 };

/* What the cpu backend's choice between bf16 and fp32 depends on (precision.c). */
struct k_cpu_kind {
    bool amd, avx512_bf16, amx_bf16;
};
/* Fills in the kind of this machine, as far as the operating system and ORRERY_ISA let programs
 * use it. */
void k_cpu_kind(struct k_cpu_kind *kind);
const char *k_cpu_kind_name(const struct k_cpu_kind *kind);
/* Whether products in bf16 are faster than in fp32 on such a CPU: AMX, or AMD with AVX512-BF16. */
bool k_bf16_pays(const struct k_cpu_kind *kind);

struct k_ops {
    const char *name; /* "ref", "cpu", "cuda" */

    /* Prepares threads and scratch memory (threads <= 0: all usable cores); precision: what
     * matmuls may round their inputs to, where the machine gains from it. close releases
     * everything but alloc's memory. One backend is open once per process. */
    int (*open)(int threads, enum k_precision precision);
    void (*close)(void);
    /* Chooses the device that the next open() takes, from 0 on; 0 by default. NULL where there
     * is only one device. */
    void (*choose)(int device);
    /* *gflops = the best rate of matmuls on the open backend, in billions of floating-point
     * operations per second, measured now in about a tenth of a second. The speed of training is
     * compared with this rate. cpu: large matmuls by all threads, in bf16 where open() allowed
     * it and the machine has it; ref: its plain loops. */
    int (*peak)(double *gflops);

    /* Exchanges between ranks for backends with their own memory (collectives.h); NULL for other
     * backends. */
    const struct k_collectives *collectives;

    /* ---- memory: every tensor, token and weight passed to an entry lies in memory of the
     * backend. `host`: that is ordinary memory; otherwise the host reaches it only by these
     * entries. Work is done in the order of the calls. */
    bool host;
    /* *memory = `bytes` of memory, zeroed, aligned to 64 bytes; ORR_ENOMEM naming the size. */
    int (*alloc)(void **memory, size_t bytes);
    void (*release)(void *memory); /* NULL is allowed */
    int (*zero)(void *memory, size_t bytes);
    int (*copy)(void *to, const void *from,
                size_t bytes); /* both in memory of the backend, not overlapping */
    /* Copies from the host; the caller may change `from` as soon as this returns. */
    int (*upload)(void *to, const void *from, size_t bytes);
    /* Copies to the host; all earlier work is done when this returns. */
    int (*download)(void *to, const void *from, size_t bytes);
    /* Results that entries return through a pointer (loss, sum, rows) are valid after wait();
     * the pointers must stay valid until then. ref and cpu write them at once. Errors of
     * asynchronous work are returned here or by download(). */
    int (*wait)(void);
    /* Work between record_begin and record_end is recorded instead of done; replay does it, with
     * the recorded pointers, sizes and numbers. No alloc, upload, download or wait in between,
     * and all the work must have run once before. Each of these may fail without having done
     * anything; the caller then does the work without a recording. All four are NULL where
     * recording gains nothing, or with ORRERY_CUDA_GRAPHS=0. */
    int (*record_begin)(void);
    int (*record_end)(struct k_recording **recording);
    int (*replay)(const struct k_recording *recording);
    void (*record_free)(struct k_recording *recording);

    /* ---- bf16 tensors in place of `real` ones, where a member of a struct says so, in a
     * backend whose has_bf16_tensors() is true. They halve the bytes to move, and products use
     * them directly. Both entries are NULL in a backend that never supports them. */
    /* Whether bf16 tensors should be used: open() allowed bf16. */
    bool (*has_bf16_tensors)(void);
    /* out (n) = x, rounded to nearest even; out is aligned to 16 bytes. */
    int (*to_bf16)(void *out, const real *x, size_t n);

    /* ---- linear layers: see struct k_linear */
    int (*linear_forward)(const struct k_linear *layer);
    int (*linear_backward)(const struct k_linear *layer);

    /* ---- element-wise and rows */
    /* dpre (N) = dout * gelu'(pre); may alias dout. */
    int (*gelu_backward)(real *dpre, const real *dout, const real *pre, size_t n);
    /* out = a + b over n elements; out may alias either. */
    int (*add)(real *out, const real *a, const real *b, size_t n);
    /* x *= factor over n elements. */
    int (*scale)(real *x, double factor, size_t n);
    int (*layernorm_forward)(const struct k_layernorm *norm);
    int (*layernorm_backward)(const struct k_layernorm *norm);
    /* x (N, C) += bias rows of position t = n mod T, table (T, C); backward adds to dtable. */
    int (*position_forward)(real *x, const real *table, int N, int T, int C);
    int (*position_backward)(real *dtable, const real *dx, int N, int T, int C);
    int (*embed_forward)(const struct k_embedding *embedding);
    int (*embed_backward)(const struct k_embedding *embedding);

    /* ---- attention qkv (B, T, 3, H, D), out (B, T, H, D). `row_stats`, k_attention_row_stats()
     * reals, are the statistics of rows that the backward pass needs beside the scores; the
     * first B H T of them, one per row (b, h, t), are 0 for degenerate rows and not 0 for
     * others. Backward needs out and row_stats of a forward pass by its own path, generic or
     * fused. dqkv is overwritten. */
    int (*attention_forward)(real *out, real *row_stats, const real *qkv,
                             const struct k_attention_shape *shape);
    int (*attention_backward)(real *dqkv, const real *dout, const real *out, const real *row_stats,
                              const real *qkv, const struct k_attention_shape *shape);
    /* Attention by the generic path, which runs any line of the table; attention_forward uses it
     * where the backend has no fused kernels for the variant. */
    int (*attention_generic_forward)(real *out, real *row_stats, const real *qkv,
                                     const struct k_attention_shape *shape);
    int (*attention_generic_backward)(real *dqkv, const real *dout, const real *out,
                                      const real *row_stats, const real *qkv,
                                      const struct k_attention_shape *shape);
    /* *rows = number of degenerate rows of the forward pass that filled `row_stats`. */
    int (*attention_degenerate)(long *rows, const real *row_stats,
                                const struct k_attention_shape *shape);
    int (*gate_forward)(const struct k_gating *gate);
    int (*gate_backward)(const struct k_gating *gate);
    int (*rope)(real *qkv, const struct k_rope *rotation);

    /* ---- losses: *loss is the weighted mean over rows; gradients are of this mean,
     * overwritten. Rows with weight 0 do not count, and may hold anything; where all weights are
     * 0 the loss and the gradients are 0. */
    int (*cross_entropy)(double *loss, const struct k_cross_entropy *entropy);
    int (*head_cross_entropy)(double *loss, const struct k_token_head *head);
    int (*regression)(double *loss, const struct k_regression *regression);

    /* ---- optimiser over n elements */
    /* *sum = sum of squares, in double and in a fixed order. */
    int (*sum_squares)(double *sum, const real *x, size_t n);
    /* Decoupled weight decay (Loshchilov & Hutter 2019); m, v: first and second moments. */
    int (*adamw)(real *param, const real *grad, real *m, real *v, size_t n,
                 const struct k_adamw *k);
    /* See struct k_muon; may overwrite update. cpu and cuda round inputs of products to bf16 where
     * open() allowed it. */
    int (*muon)(real *param, real *update, const struct k_muon *k);
    /* average = decay * average + (1 - decay) * x. */
    int (*average)(real *average, const real *x, size_t n, double decay);
};

/* Number of reals in `row_stats` for a shape, enough for every path of the backend; ops NULL: of
 * any backend and variant. */
size_t k_attention_row_stats(const struct k_ops *ops, const struct k_attention_shape *shape);
/* Offset in `row_stats` after the statistics of rows, a multiple of 16 bytes, at which a backend
 * may keep more data. */
size_t k_attention_beside(const struct k_attention_shape *shape);

/* Attention weights of rows first .. first + rows - 1 of head h of sequence b, for diagnostics:
 * weights (rows, T), exactly 0 where not attended. By the reference path, in double. */
int k_attention_weights(double *weights, const real *qkv, const struct k_attention_shape *shape,
                        int b, int h, int first, int rows);

extern const struct k_ops k_ref; /* always available */
#ifndef K_DOUBLE
/* The cpu backend is compiled for several instruction sets; returns the table for the one in use
 * (base/isa.h). Always available in a float build. */
const struct k_ops *k_cpu(void);
/* Whether oneDNN is available. It always is in programs, which are linked with it. Where it is
 * not, no entry of k_cpu() may be called. */
bool k_cpu_usable(void);
#endif
#ifdef K_CUDA_HOST
extern const struct k_ops k_cuda; /* for tests, on an emulated device; programs open the plugin */
#endif

/* All backends of this build, NULL-terminated; without cuda, which is a separate library. */
const struct k_ops *const *k_backends(void);
/* *ops = the backend of this name: "ref", "cpu", "cuda" or "auto"; ORR_EDEVICE when it is not in
 * this build.
 *
 * "cuda" opens orrery_cuda.so beside the program (or $ORRERY_CUDA_PLUGIN); whether there is a
 * GPU is checked when the backend is opened. "auto" is cuda where that library exists and finds
 * a GPU, otherwise cpu. The choice of cpu is silent, except for a line on stderr where the
 * driver's device file exists but CUDA finds no GPU, which is a fault of the machine. */
int k_find(const char *name, const struct k_ops **ops);
/* Whether the machine has an NVIDIA GPU, with or without a driver: by its PCI devices (for
 * tests, those of the folder $ORRERY_PCI) or the driver's /dev/nvidia0. False where
 * CUDA_VISIBLE_DEVICES is empty or negative. */
bool k_gpu_here(void);
/* The backend `ops` with its generic attention path for every variant. *copy is filled in and
 * must live as long as the result is used. */
const struct k_ops *k_generic_attention(const struct k_ops *ops, struct k_ops *copy);

#endif
