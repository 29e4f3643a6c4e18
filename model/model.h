/* model.h - a model: its table of parameters, and the tensors that the table describes. */
#ifndef GPT_MODEL_H
#define GPT_MODEL_H

#include "config.h"

enum { GPT_NAME = 64, GPT_DIMS = 2 };
/* One line of the parameter table: drives memory, initialisation, decay and checkpoints. */
struct gpt_parameter {
    char name[GPT_NAME]; /* "block.0.attention.qkv.weight" */
    int ndim;
    size_t shape[GPT_DIMS], count, offset; /* offset in reals into each arena */
    double init_std;                       /* normal; < 0: constant 1; 0: zero */
    bool decay;                            /* weight decay applies (matrices) */
    int stream;                            /* of initialisation */
};

struct gpt_block {                          /* indices into the table */
    int ln1_w, ln1_b, qkv_w, qkv_b, gate_w; /* gate_w: -1 without a gate */
    int proj_w, proj_b, ln2_w, ln2_b, up_w, up_b, down_w, down_b;
};

struct gpt_activations;

/* What a probe adds to the residual stream (probe/intervene.c): `vector` (B, C), a row for each
 * sequence of the batch, goes to position `row` of the stream of `layer`, numbered as for
 * gpt_residual. */
struct gpt_activation_patch {
    int layer, row;
    const real *vector;
};

struct gpt_model {
    struct gpt_config config;
    const struct k_ops *ops;
    struct k_attention variant; /* the model's own copy of its line of the table */
    struct gpt_parameter *table;
    int parameters; /* lines of the table */
    size_t total;   /* reals in one arena, padding included */
    size_t count;   /* trainable numbers */
    /* In memory of the backend: where it is not the host's (k_ops.host), the host reaches them by
     * ops->upload and ops->download alone. */
    real *param, *grad, *m, *v; /* (total); m, v NULL until training */
    real *average;              /* (total), exponential moving average, or NULL */
    int embed_x, embed_y, combine_w, combine_b, embed_w, embed_b, position;
    struct gpt_block *block;              /* (layers) */
    int final_w, final_b, head_w, head_b; /* -1 where absent; a tied head_w is embed_w */
    struct gpt_activations *act;
    int frozen;      /* the first so many lines of the table are not trained (gpt_freeze) */
    bool overridden; /* attends otherwise than it was trained */
    struct gpt_config trained; /* overridden: the configuration before */
    /* The caller's, taken by every pass from here on; NULL: none. Passes fail with ORR_EUSAGE on
     * backends whose memory is their own, and with ORR_EINVAL where there is no such row. */
    const struct gpt_activation_patch *patch;
    struct gpt_cache *cache; /* of a pass over one more row (decode.c); NULL: over all rows */
    /* The caller's, called by training passes on the host's memory (k_ops.host) each time that the
     * gradient of this pass is final from number `from` of the arena on; NULL: not. Its failure is
     * that of the pass. */
    int (*on_gradient_ready)(void *context, size_t from);
    void *gradient_ready_context;
};

/* Allocates parameters and gradients; initialises from (seed, ORR_STAGE_INIT). */
int gpt_create(struct gpt_model *model, const struct gpt_config *config, const struct k_ops *ops,
               uint64_t seed);
void gpt_free(struct gpt_model *model);
/* Gives the model a fresh head (re-initialised from (seed, ORR_STAGE_INIT, 1)); all other weights
 * stay, and a tied head ends being tied. Optimiser state is dropped. */
int gpt_replace_head(struct gpt_model *model, enum gpt_head head, int outputs, uint64_t seed);
/* Which weights trainings change from here on. The others keep their bits: no step of the
 * optimiser, no decay, no part in the norm that gradients are clipped by; the backward pass ends
 * above them. */
void gpt_freeze(struct gpt_model *model, enum orr_trained trained);
/* Pointer to a parameter's values or gradients, in memory of the backend. */
real *gpt_param(struct gpt_model *model, int index);
real *gpt_grad(struct gpt_model *model, int index);

/* The model's table of parameters alone, no memory for tensors; gpt_free() it, also after an
 * error. */
int gpt_plan(struct gpt_model *model, const struct gpt_config *config, const struct k_ops *ops);
/* *tensor = count reals of the backend, zero. */
int gpt_tensor_alloc(const struct k_ops *ops, real **tensor, size_t count);

#endif
