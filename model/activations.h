/* activations.h - the tensors that a pass saves for its backward pass; inside model/ only. */
#ifndef GPT_ACTIVATIONS_H
#define GPT_ACTIVATIONS_H

#include "forward.h"

/* A copy on the host of a tensor of the backend, allocated on first use. */
struct gpt_host_copy {
    real *data;
    size_t capacity; /* capacity in reals */
};

/* Everything that a backward pass needs from one layer. N = B T rows. With gpt_activations.bf16,
 * tensors marked * are bf16 instead of reals. */
struct gpt_layer_activations {
    real *x;                   /* (N, C) input of the block */
    real *ln1, *mean1, *rstd1; /* (N, C) *, (N), (N) */
    real *qkv;                 /* (N, 3C) *, rotated when positions are rope */
    real *row_stats;           /* attention statistics */
    real *y;                   /* (N, C) * attention output */
    real *gate, *gated;        /* (N, C) ln1 W_g^T, y * act(gate); with a gate only */
    real *mid;                 /* (N, C) x after attention */
    real *ln2, *mean2, *rstd2; /* as ln1 */
    real *pre, *up;            /* (N, F) * before and after GELU */
    struct gpt_host_copy host_qkv;
};

/* The recorded kernels of a training pass, and the conditions under which they were recorded. */
struct gpt_replay {
    struct k_recording *recording; /* NULL: not yet */
    bool warm;                     /* such a pass has run once without being recorded */
    bool off;                      /* recording failed: passes run without it */
    int B, frozen;
    int made; /* gpt_activations.made after the pass */
    bool weighted;
    const real *param, *grad;
    struct gpt_config config;
    struct k_attention variant;
};

struct gpt_activations {
    const struct k_ops *ops; /* the backend whose memory it is */
    int layers, B, T;        /* capacity: B T rows, as sequences of T positions */
    bool bf16;               /* the blocks keep their tensors as bf16 */
    bool trains;             /* a backward pass will follow the current forward pass */
    int sequences;           /* B of the last forward pass */
    int made;     /* with recomputation: the layer whose activations are in memory, -1 = none */
    void *memory; /* memory of every tensor below except out */
    struct gpt_batch input;              /* the batch, where the backend has its own memory */
    struct gpt_layer_activations *layer; /* (layers) */
    real *embed;                         /* (N, 2C), tokens only */
    real *last;                          /* (N, C) after the last block */
    real *ln, *mean, *rstd;              /* final norm */
    real *out;                           /* (rows, OC) outputs of a piece of rows, or (N, OC) */
    size_t out_capacity;                 /* capacity of out in reals */
    real *dout;                          /* (N, OC), for heads that hold all outputs in training */
    real *dx, *dy, *dwide;               /* (N, C), (N, C), (N, max(3C, F, 2C)); the last two hold
                                          * gradients of bf16 tensors as bf16 */
    /* (N, C) bf16 copy of dx as a norm's backward pass left it; or NULL */
    void *dx_bf16;
    unsigned char *param_bf16; /* bf16 copies of all parameters, made in each pass; or NULL */
    real *dgate;               /* (N, C), with a gate only */
    /* Written asynchronously by kernels; valid after k_ops.wait(). */
    /* of gpt_loss, of gpt_loss_backward: one number per head channel */
    double loss[2], pass_loss[2];
    long *degenerate; /* (layers) zero-output rows of the last forward pass */
    struct gpt_replay replay;
    struct gpt_host_copy host_out, host_residual;
};

/* Reserves `count` reals in act->out. */
int gpt_activations_reserve_out(struct gpt_activations *act, size_t count);
/* Reserves memory for all outputs and their gradients; call it after gpt_activations_take. */
int gpt_activations_reserve_dout(struct gpt_model *model);
/* Reserves memory for the batch; *on = the batch in memory of the backend: `batch` itself, or a
 * copy. */
int gpt_activations_take(struct gpt_model *model, const struct gpt_batch *batch,
                         struct gpt_batch *on);
/* *seen = `count` reals of a tensor on the host: the tensor itself, or a copy in `copy`, valid
 * until `copy` is used again. */
int gpt_copy_to_host(const struct k_ops *ops, struct gpt_host_copy *copy, const real *tensor,
                     size_t count, const real **seen);
/* gpt_copy_to_host of a tensor that may be bf16. */
int gpt_copy_to_host_as(const struct k_ops *ops, struct gpt_host_copy *copy, const real *tensor,
                        bool bf16, size_t count, const real **seen);
void gpt_host_copy_free(struct gpt_host_copy *copy);
/* Waits for the results that kernels write, also when an entry failed with rc, because their
 * memory may be released afterwards. Returns the first failure. */
int gpt_settle(const struct k_ops *ops, int rc);

void gpt_activations_free(struct gpt_activations *act);
/* One training pass over a batch in memory of the backend, for which memory is reserved:
 * forward, loss (written to act->pass_loss), backward. It consists of kernels only, and can be
 * recorded. */
int gpt_pass(struct gpt_model *model, const struct gpt_batch *on);
/* gpt_pass, recorded once and replayed where the backend supports it (replay.c). */
int gpt_replay_pass(struct gpt_model *model, const struct gpt_batch *on);
void gpt_replay_free(const struct k_ops *ops, struct gpt_replay *replay);
/* Recomputes the activations of layer l from its input, except the block's output. */
int gpt_block_redo(struct gpt_model *model, int l, int B, int T);

/* The pass from the batch to the final norm, act->ln (N, C); *on = the batch in memory of the
 * backend. */
int gpt_body(struct gpt_model *model, const struct gpt_batch *batch, struct gpt_batch *on);
/* The attention shape of a pass, whose tensors may be bf16. */
struct k_attention_shape gpt_pass_shape(const struct gpt_model *model, int B, int T);

#endif
