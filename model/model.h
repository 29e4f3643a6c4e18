/* model.h - a model: its table of parameters, and the tensors that the table describes. */
#ifndef GPT_MODEL_H
#define GPT_MODEL_H

#include "config.h"

enum { GPT_NAME = 64, GPT_DIMS = 2 };
/* One line of the parameter table, which determines memory, initialisation, decay and
 * checkpoints. */
struct gpt_parameter {
    char name[GPT_NAME]; /* "block.0.attention.qkv.weight" */
    int ndim;
    size_t shape[GPT_DIMS], count, offset; /* offset in reals into each arena */
    double init_std;                       /* normal; < 0: constant 1; 0: zero */
    bool decay;                            /* weight decay applies (matrices) */
    /* How many matrices of (shape[0] / matrices, shape[1]) it is for optimisers of matrices: 3 for
     * qkv, 1 for the other matrices of a block; 0 where no such optimiser takes it: embeddings,
     * heads, norms, biases and gates. */
    int matrices;
    size_t second; /* offset in v, where the optimiser has one for it */
    int stream;    /* random stream of its initialisation */
};

struct gpt_block {                          /* indices into the table */
    int ln1_w, ln1_b, qkv_w, qkv_b, gate_w; /* gate_w: -1 without a gate */
    int proj_w, proj_b, ln2_w, ln2_b, up_w, up_b, down_w, down_b;
};

struct gpt_activations;

/* A vector that a probe adds to the residual stream (probe/intervene/intervene.c). `vector` (B, C)
 * has a row for each sequence of the batch, which is added at position `row` of the stream of
 * `layer`, numbered as in gpt_residual. */
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
    /* In memory of the backend. Where that is not the host's (k_ops.host), the host reaches them
     * only through ops->upload and ops->download. */
    real *param, *grad, *m, *v;   /* (total), v (seconds); m, v NULL until training */
    enum orr_optimizer optimizer; /* whose moments m and v are (gpt_choose_optimizer) */
    size_t seconds; /* reals in v: without parameters whose optimiser has one moment */
    real *average;  /* (total), exponential moving average, or NULL */
    int embed_x, embed_y, combine_w, combine_b, embed_w, embed_b, position;
    struct gpt_block *block;              /* (layers) */
    int final_w, final_b, head_w, head_b; /* -1 where absent; a tied head_w is embed_w */
    struct gpt_activations *act;
    /* number of lines at the start of the table that are not trained (gpt_freeze) */
    int frozen;
    bool overridden;           /* attention differs from the trained one */
    struct gpt_config trained; /* with `overridden`: the configuration as trained */
    /* Owned by the caller, and applied by every pass; NULL: none. Passes fail with ORR_EUSAGE on
     * backends with their own memory, and with ORR_EINVAL where the row does not exist. */
    const struct gpt_activation_patch *patch;
    /* during a pass over one more row (decode.c); NULL: passes are over all rows */
    struct gpt_cache *cache;
    /* Set by the caller, or NULL. Training passes on the host's memory (k_ops.host) call it each
     * time the gradient of the pass has become final from element `from` of the arena on. If it
     * fails, the pass fails with its status. */
    int (*on_gradient_ready)(void *context, size_t from);
    void *gradient_ready_context;
};

/* Allocates parameters and gradients; initialises from (seed, ORR_STAGE_INIT). */
int gpt_create(struct gpt_model *model, const struct gpt_config *config, const struct k_ops *ops,
               uint64_t seed);
void gpt_free(struct gpt_model *model);
/* Gives the model a new head, initialised from (seed, ORR_STAGE_INIT, 1). All other weights
 * stay, and a tied head is no longer tied. The optimiser's state is dropped. */
int gpt_replace_head(struct gpt_model *model, enum gpt_head head, int outputs, uint64_t seed);
/* Chooses the weights that later trainings change. The others keep their bits: no optimiser
 * step, no decay, no part in the norm for clipping. The backward pass stops above them. */
void gpt_freeze(struct gpt_model *model, enum orr_trained trained);
/* Pointer to a parameter's values or gradients, in memory of the backend. */
real *gpt_param(struct gpt_model *model, int index);
real *gpt_grad(struct gpt_model *model, int index);

/* Makes the model's table of parameters without memory for tensors; call gpt_free(), also after
 * an error. */
int gpt_plan(struct gpt_model *model, const struct gpt_config *config, const struct k_ops *ops);
/* *tensor = `count` reals in memory of the backend, zeroed. */
int gpt_tensor_alloc(const struct k_ops *ops, real **tensor, size_t count);

#endif
