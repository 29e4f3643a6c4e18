/* model.h - shared inside model/ only. */
#ifndef GPT_MODEL_H
#define GPT_MODEL_H

#include "gpt.h"

#include <pthread.h>

/* What the host sees of a tensor of the backend: a copy, allocated when it is first needed. */
struct gpt_view {
    real *copy;
    size_t room; /* reals */
};

/* Everything a backward pass needs from one layer. N = B T rows. Where gpt_activations.narrow says
 * so, what is marked * points to bf16 (k_ops.narrow) instead of reals. */
struct gpt_layer_activations {
    real *x;                   /* (N, C) input of the block */
    real *ln1, *mean1, *rstd1; /* (N, C) *, (N), (N) */
    real *qkv;                 /* (N, 3C) *, rotated when positions are rope */
    real *saved;               /* attention statistics */
    real *y;                   /* (N, C) * attention output */
    real *gate, *gated;        /* (N, C) ln1 W_g^T, y * act(gate); with a gate only */
    real *mid;                 /* (N, C) x after attention */
    real *ln2, *mean2, *rstd2; /* as ln1 */
    real *pre, *up;            /* (N, F) * before and after GELU */
    struct gpt_view qkv_view;
};

/* The kernels of a training pass, recorded; what they were recorded for. */
struct gpt_replay {
    struct k_recording *recording; /* NULL: not yet */
    bool warm;                     /* such a pass has run once, not recorded */
    bool off;                      /* recording failed: passes run as they are */
    int B, frozen;
    int made; /* of the activations, after it */
    bool weighted;
    const real *param, *grad;
    struct gpt_config config;
    struct k_attention variant;
};

struct gpt_activations {
    const struct k_ops *ops; /* whose memory it is */
    int layers, B, T;        /* capacity is for B T rows of T positions */
    bool narrow;             /* the blocks keep their tensors as bf16 */
    bool trains;             /* a backward pass follows the forward pass that is being made */
    int sequences;           /* B of the last forward pass */
    int made;     /* with recomputation: the layer whose activations are there, -1 = none */
    void *memory; /* every tensor below but out */
    struct gpt_batch input;              /* the batch, where the backend's memory is its own */
    struct gpt_layer_activations *layer; /* (layers) */
    real *embed;                         /* (N, 2C), tokens only */
    real *last;                          /* (N, C) after the last block */
    real *ln, *mean, *rstd;              /* final norm */
    real *out;                           /* outputs of a piece of rows, or (N, OC) */
    size_t out_room;                     /* of out, in reals */
    real *dout;                          /* (N, OC), of heads with whole outputs in training */
    real *dx, *dy, *dwide;               /* (N, C), (N, C), (N, max(3C, F, 2C)); the last two hold
                                          * gradients of bf16 tensors as bf16 */
    void *dx_narrow;                     /* (N, C) bf16 copy of dx as a norm left it; or NULL */
    unsigned char *param_narrow; /* bf16 copies of all parameters, made by each pass; or NULL */
    real *dgate;                 /* (N, C), with a gate only */
    /* Numbers that kernels give, here because they come as late as k_ops.wait(). */
    double loss[2], pass_loss[2]; /* of gpt_loss, of gpt_loss_backward: one per head channel */
    long *silent;                 /* (layers) silent rows of the last forward pass */
    struct gpt_replay replay;
    struct gpt_view out_view, residual_view;
};

/* Settings that cannot be a model: ORR_EUSAGE naming the setting and what was found. */
int gpt_config_check(const struct gpt_config *config);
/* Fails with ORR_EUSAGE and the names of all variants. */
int gpt_config_unknown_attention(const char *attention);
/* Room for `count` reals in act->out. */
int gpt_activations_reserve_out(struct gpt_activations *act, size_t count);
/* Room for whole outputs and their gradients, after gpt_activations_take. */
int gpt_activations_reserve_dout(struct gpt_model *model);
/* Makes room for the batch, and *on = the batch in memory of the backend: itself, or a copy. */
int gpt_activations_take(struct gpt_model *model, const struct gpt_batch *batch,
                         struct gpt_batch *on);
/* *seen = `count` reals of a tensor for the host: itself, or a copy in the view, until the view's
 * next use. */
int gpt_see(const struct k_ops *ops, struct gpt_view *view, const real *tensor, size_t count,
            const real **seen);
/* The same of a tensor that is bf16 where `narrow`. */
int gpt_see_either(const struct k_ops *ops, struct gpt_view *view, const real *tensor, bool narrow,
                   size_t count, const real **seen);
void gpt_view_free(struct gpt_view *view);
/* Waits for the numbers that entries were asked for, also when one of them failed with rc: where
 * they go to is not there for ever. Returns the first failure. */
int gpt_settle(const struct k_ops *ops, int rc);
/* The model's table of parameters alone, no memory for tensors; gpt_free() it, also after an
 * error. */
int gpt_plan(struct gpt_model *model, const struct gpt_config *config, const struct k_ops *ops);
/* *tensor = count reals of the backend, zero. */
int gpt_tensor_alloc(const struct k_ops *ops, real **tensor, size_t count);
void gpt_activations_free(struct gpt_activations *act);
/* One training pass over a batch in memory of the backend, for which there is room: forward, loss
 * (numbers into act->pass_loss), backward. Only kernels: this is what is recorded. */
int gpt_pass(struct gpt_model *model, const struct gpt_batch *on);
/* The same, recorded once and replayed where the backend can (replay.c). */
int gpt_replay_pass(struct gpt_model *model, const struct gpt_batch *on);
void gpt_replay_free(const struct k_ops *ops, struct gpt_replay *replay);
/* Makes the activations of layer l again from its input, all but the block's output. */
int gpt_block_redo(struct gpt_model *model, int l, int B, int T);

/* From the batch to the final norm, act->ln (N, C); *on = the batch in memory of the backend. */
int gpt_body(struct gpt_model *model, const struct gpt_batch *batch, struct gpt_batch *on);
/* The shape of the attention of a pass, whose tensors may be narrow. */
struct k_attention_shape gpt_pass_shape(const struct gpt_model *model, int B, int T);

/* ------------------------------------------------------------- head.c: outputs and their loss */

/* *out = outputs (rows, OC) of the first rows of the last pass, for the host. */
int gpt_head_see(struct gpt_model *model, size_t rows, const real **out);
/* The sum of the weights of these rows of a batch of the host; without weights each counts 1. */
double gpt_rows_weight(const struct gpt_batch *batch, size_t first, size_t rows);
/* Shows the outputs of the first rows of the last pass piece by piece, in memory of the backend. */
int gpt_head_pieces(struct gpt_model *model, size_t rows, gpt_see_rows *see, void *context);
/* Of a training pass: loss, and act->dy (N, C) = its gradient by act->ln; logits of token heads
 * without bias are never whole. */
int gpt_head_backward(struct gpt_model *model, const struct gpt_batch *batch);

/* --------------------------------------------------------------- decode.c: row after row */

/* q, k and v of the rows so far, for passes over one more row of every sequence. */
struct gpt_cache {
    int B, T;        /* sequences, rows that there is room for */
    int row;         /* that is being made; 0: all of them are */
    real **qkv;      /* (layers) of (B, T, 3C), narrow where the model is */
    real *y, *saved; /* attention of all rows, of which one is asked for; NULL while all are made */
};
/* Outputs of a batch row after row; whoever decodes fills in the next row between two calls. */
struct gpt_decoder {
    struct gpt_model *model;
    const struct gpt_batch *batch;
    struct gpt_cache cache;
    struct gpt_activations *whole; /* of the pass over all rows; model->act is of one row */
    struct gpt_batch row;
    bool owns; /* the caches' memory, because layers share theirs (recompute) */
};
/* A pass over the batch, whose last rows may not be known yet. Until gpt_decoder_close(), which
 * also follows an error of the other calls, the model does nothing else. */
int gpt_decoder_open(struct gpt_decoder *decoder, struct gpt_model *model,
                     const struct gpt_batch *batch);
/* *out = outputs (B, OC) of row t of that pass, for the host, until the next call. */
int gpt_decoder_first(struct gpt_decoder *decoder, int t, const real **out);
/* The same of a row t > 0 that was filled in since: of every row in turn. */
int gpt_decoder_next(struct gpt_decoder *decoder, int t, const real **out);
void gpt_decoder_close(struct gpt_decoder *decoder);
/* Attention of a layer in a pass with a cache, which takes its rows. */
int gpt_cache_attend(struct gpt_model *model, int layer);
/* Which row of the sequences the first one of the pass is. */
int gpt_first_row(const struct gpt_model *model);

/* ------------------------------------------------------- residual.c: the stream between blocks */

/* model->addition, where it is for this layer, whose stream was just made. */
int gpt_residual_add(struct gpt_model *model, int layer, int B, int T);

/* ----------------- layers.c: w and b are indices of parameters, b < 0 where there is no bias */

/* Makes bf16 copies of all parameters for the products of a pass, where the model is narrow. */
int gpt_narrow_parameters(struct gpt_model *model);
/* The layer, whose weights and their gradients are filled in. */
int gpt_linear_forward(struct gpt_model *model, int w, int b, struct k_linear layer);
int gpt_linear_backward(struct gpt_model *model, int w, int b, struct k_linear layer);
/* The norm inside a block of x (N, C). */
int gpt_norm_forward(struct gpt_model *model, int w, int b, real *out, real *mean, real *rstd,
                     const real *x, int N);
/* act->dx adds the gradient by x; that of the output is in act->dy. A narrow model also copies dx
 * to act->dx_narrow, and the gradient of parameter `db`, the bias of the layer before, adds its
 * column sums; db < 0: neither. */
int gpt_norm_backward(struct gpt_model *model, int w, int b, const real *x, real *mean, real *rstd,
                      int db, int N);

/* ------------------------------------------------------------------ optimiser, in two steps */

/* Global norm of the gradient, accumulation taken into account; not finite: ORR_EDIVERGED as
 * gpt_update, step 0-based. */
int gpt_gradient_norm(struct gpt_model *model, const struct orr_train_preset *train, long step,
                      double *norm);
/* The update of a gradient of this norm, which model->grad holds times `divisor`. */
int gpt_apply(struct gpt_model *model, const struct orr_train_preset *train, long step, double norm,
              double divisor);
/* Its numbers, but for the weight decay, which depends on the parameter. */
struct k_adamw gpt_adamw_of(const struct orr_train_preset *train, long step, double norm,
                            double divisor);
/* AdamW on numbers begin .. end of the arenas, each with its parameter's weight decay; their
 * moments m, v (end - begin). What pads parameters is 0 and stays so. */
int gpt_adamw(struct gpt_model *model, const struct orr_train_preset *train, struct k_adamw k,
              size_t begin, size_t end, real *m, real *v);
/* The decay of the average at 0-based step; first: there is none yet, and it begins as the weights.
 */
double gpt_average_decay(double decay, bool first, long step);
/* The first number of the arenas that is trained; what is trained goes to their end. */
size_t gpt_first_trained(const struct gpt_model *model);

/* -------------------------------------------------- tree.c: micro-batches, summed in one order */

/* What micro-batches come to: sums over them of weight x loss, and of their weights. The weight of
 * one is the share of its rows that count, so that the mean over a step is that over all its rows,
 * however it is cut. */
struct gpt_sum {
    double loss, weight;
};
enum { GPT_TREE_DEPTH = 32 };
struct gpt_tree {
    const struct k_ops *ops;
    real *sum; /* (count): the leaf that is computed, then the sum; the caller's */
    real
        *aside[GPT_TREE_DEPTH]; /* (depth) of (count): left halves that wait for their right ones */
    size_t count;
    int leaves, depth; /* 2^depth >= leaves */
    int (*leaf)(void *context, int index, struct gpt_sum *sum);
    void *context;
    /* of the last leaf: left halves that it is added to, and from where on it has been */
    int waiting;
    size_t folded;
};
/* A tree over `leaves` >= 1 vectors of `count` reals in memory of the backend. ORR_ENOMEM. */
int gpt_tree_create(struct gpt_tree *tree, const struct k_ops *ops, real *sum, size_t count,
                    int leaves);
void gpt_tree_free(struct gpt_tree *tree);
/* Asks for the leaves first .. first + leaves - 1 in this order: leaf() adds its vector to
 * tree->sum, which is zero, and says what it came to. tree->sum = the sum of all, and *out. The
 * first failure of a leaf comes back. */
int gpt_tree_sum(struct gpt_tree *tree, int first,
                 int (*leaf)(void *context, int index, struct gpt_sum *sum), void *context,
                 struct gpt_sum *out);
/* For the last leaf, while it is computed: its numbers from `from` on are final, and so are those
 * of tree->sum when this returns; the same bits. Before the last leaf: nothing. `from` goes down
 * from call to call. */
int gpt_tree_fold(struct gpt_tree *tree, size_t from);
/* The sum of x (n) by the same tree. */
double gpt_tree_of(const double *x, size_t n);

/* Sums of squares go over blocks of so many reals, whose sums a tree adds: ranks that hold some of
 * the blocks each come to the same bits. */
enum { GPT_BLOCK = 16384 };
/* Blocks of so many numbers, the last one perhaps shorter. */
static inline size_t gpt_blocks(size_t count)
{
    return (count + GPT_BLOCK - 1) / GPT_BLOCK;
}
/* squares (ceil(count / GPT_BLOCK)) of x (count). */
int gpt_block_squares(const struct k_ops *ops, const real *x, size_t count, double *squares);
/* As gpt_gradient_norm, of model->grad / divisor, by blocks and their tree. */
int gpt_sum_norm(struct gpt_model *model, long step, double divisor, double *norm);

/* ---------------------------------------------------- watch.c: training decides by its past */

struct gpt_watch {
    const struct orr_train_preset *train;
    int window, count, next; /* 0 = outliers are not looked for; values; where the next one goes */
    double *loss, *norm;     /* (window) of the last accepted steps */
    long skipped;            /* steps without an update, since step 0 */
    int in_row;              /* of these, at the end */
    double best;             /* least held-out loss so far */
    long since_best;         /* evaluations since then */
    bool ended;              /* patience is over: the training is complete */
};
int gpt_watch_create(struct gpt_watch *watch, const struct orr_train_preset *train);
void gpt_watch_free(struct gpt_watch *watch);
/* Judges a finished pass over a step, 1-based: *reason = "loss" or "grad_norm" where that is more
 * than outlier_sigma standard deviations above the mean of the last outlier_window accepted steps:
 * an outlier, to be skipped. NULL: accepted, and in the window from now on. Before the window is
 * full every step is. More than outlier_most in a row: ORR_EDIVERGED. */
int gpt_watch_step(struct gpt_watch *watch, long step, double loss, double norm,
                   const char **reason);
/* Takes a held-out loss; true for a new best. Sets ended when patience is over. */
bool gpt_watch_evaluation(struct gpt_watch *watch, double loss);
/* The whole state as text (free() it), and from the text of checkpoint `path`, bit for bit. */
int gpt_watch_print(const struct gpt_watch *watch, char **text);
int gpt_watch_parse(struct gpt_watch *watch, const char *path, const char *text);

/* checkpoint.c: the metadata "step" of the file `path`; ORR_EFORMAT where it is no count. */
int gpt_step_parse(const char *path, const char *text, long *step);

/* --------------------------------------- watch_layers.c: numbers that are not; steps 1-based */

/* ORR_EDIVERGED naming the first layer of the last forward pass with a number that is not
 * finite. */
int gpt_diverged_loss(struct gpt_model *model, const struct gpt_batch *batch, long step);
/* The same for gradients, in the order of the backward pass. */
int gpt_diverged_gradient(struct gpt_model *model, long step);
/* ORR_EDIVERGED naming the first weight that is not finite. */
int gpt_check_weights(struct gpt_model *model, long step);

/* ----------------------------------------------------------- watch_log.c: speeds and the log */

/* Speeds of steps alone: evaluations and checkpoints are left out. The log has that since its last
 * line, the live line that of the last full second (before there was one: from the start on), which
 * can be read. */
struct gpt_meter {
    double positions, seconds; /* since the last line of the log */
    double live_positions, live_seconds;
    double live; /* positions per second; NaN before the first step */
    bool steady; /* there was a full second */
    double flop; /* per position, forward and backward, of matmuls */
    double peak; /* measured flop per second, NaN where it is not known */
    double positions_per_step;
};
void gpt_meter_open(struct gpt_meter *meter, const struct gpt_model *model, int B, int T,
                    int passes);
void gpt_meter_add(struct gpt_meter *meter, double seconds);
/* One line of the log: everything of the step. skipped: why there was no update, or NULL. Starts
 * the next interval of the meter. */
struct gpt_log_entry {
    long step, steps; /* 1-based */
    double loss, lr, norm;
    long silent;
    const char *skipped;
    long skipped_steps;
};
int gpt_log_step(struct orr_log *log, const struct gpt_log_entry *entry, struct gpt_meter *meter);
/* What the live line shows. */
void gpt_log_detail(const struct gpt_log_entry *entry, const struct gpt_meter *meter,
                    char text[160]);
/* What a run that was killed logged after its last checkpoint will be logged again: keeps the
 * lines up to `step`. */
int gpt_log_trim(const char *path, long step);

/* -------------------------------------------------------------- prefetch.c: batches ahead */

struct gpt_feed {
    const struct gpt_task *task;
    struct gpt_batch batch[2];
    int current;  /* the batch in use; the thread fills the other */
    bool running; /* the thread is there and makes (step, pass) */
    long step;
    int pass, rc;
    pthread_t thread;
    char message[4096];
};
int gpt_feed_open(struct gpt_feed *feed, const struct gpt_task *task,
                  const struct gpt_config *config, int B);
/* The batch of (step, pass), valid until the next call; the thread has then ended. */
int gpt_feed_take(struct gpt_feed *feed, long step, int pass, struct gpt_batch **batch);
/* Starts on (step, pass), which will probably be asked for next. */
void gpt_feed_ahead(struct gpt_feed *feed, long step, int pass);
void gpt_feed_close(struct gpt_feed *feed);

/* ----------------------------------------------------- rotate.c: step-numbered checkpoints */

/* A step-numbered checkpoint belongs to this step. */
bool gpt_rotate_due(const struct orr_train_preset *train, long step);
/* Keeps the last checkpoint, of this step, under its number, and of all numbers the newest
 * train->keep. */
int gpt_rotate(const struct gpt_task *task, const struct orr_train_preset *train, const char *last,
               long step);
/* Removes all but the newest `keep`. */
int gpt_rotate_clear(const struct gpt_task *task, int keep);

#endif
