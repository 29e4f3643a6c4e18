/* gpt.h - the GPT of the study (nanoGPT layout), for binned or continuous orbits.
 *
 * Dimensions: B sequences, T positions, C width, H heads, F input features, V vocabulary of one
 * channel, OC head columns, N = B T. Blocks are pre-norm: x += proj(attention(ln1 x));
 * x += down(gelu(up(ln2 x))). Source: Vafa et al. 2025 (arXiv 2507.06952), spec of the study.
 * With an output gate the first is x += proj(y * act(h W_g^T)), h = ln1 x, y = attention(h), W_g
 * (C, C) zero at the start (softplus-gated attention, 2025).
 *
 * Inputs. Tokens: x and y embeddings concatenated, then Linear(2C -> C). Continuous: features of
 * one row (x, y, is_dt, Fourier features) through Linear(F -> C). Text: one embedding (V, C).
 * Heads. Tokens: two V-way heads, without bias unless asked for. Regression: Linear(C -> OC),
 * bias. Text: one V-way head without bias; tied, its weights are those of the embedding (as in
 * GPT-2). */
#ifndef GPT_GPT_H
#define GPT_GPT_H

#include "base/base.h"
#include "base/provenance.h"
#include "kernels/kernels.h"
#include "sim/sim.h"

/* numbers are part of the checkpoint format */
enum gpt_input { GPT_INPUT_TOKENS, GPT_INPUT_CONTINUOUS, GPT_INPUT_TEXT };
enum gpt_head { GPT_HEAD_TOKENS, GPT_HEAD_REGRESSION, GPT_HEAD_TEXT };

struct gpt_config {
    int layers, heads, width, ffn;
    int context; /* largest T */
    enum gpt_input input;
    int vocab;   /* tokens: V per channel; text: V */
    int fourier; /* continuous: bands */
    double fourier_min_au;
    enum gpt_head head;
    int outputs;     /* OC: 2 V for tokens, V for text */
    int tied;        /* text head: 1 = the weights of the embedding */
    int head_bias;   /* 1: a token head with bias, as in models of the study's own code; or 0 */
    double init_std; /* of a block's random weights, 0 = 0.02; no matter of a trained model, but of
                        the untrained one beside it */
    double huber;    /* regression head: delta of its pseudo-Huber loss, 0 = squared errors */
    double rope_base;
    char attention[ORR_NAME];
    double attention_p;
    int attention_window;
    enum k_gate gate;
    enum orr_positions positions;
    int recompute; /* 0, or 1: how to compute, not what: no part of a checkpoint. Only the inputs of
                      blocks are kept for the backward pass, which redoes the rest block by block */
};
/* Configurations are compared as bytes: there are none between the members. */
_Static_assert(sizeof(struct gpt_config) == 16 * sizeof(int) + 5 * sizeof(double) + ORR_NAME,
               "padding in struct gpt_config");

/* The model of a preset for sequences of `positions` rows (context = positions - 1), with the
 * next-state head that belongs to its input. ffn = ffn_mult width, with an output gate less
 * width / 2: the published 3.5 for 4, as many weights. Unknown attention: ORR_EUSAGE. Text: looks
 * into the first file for its kind, bytes or tokens. */
int gpt_config_from_preset(struct gpt_config *config, const struct orr_preset *preset,
                           const char *attention, int positions);
/* Features per row of a continuous input: 3 + 4 fourier. */
int gpt_config_features(const struct gpt_config *config);
/* Tokens per row of a token or text input: 2 or 1. */
int gpt_config_channels(const struct gpt_config *config);

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
struct gpt_addition {
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
    const struct gpt_addition *addition;
    struct gpt_cache *cache; /* of a pass over one more row (decode.c); NULL: over all rows */
    /* The caller's, called by training passes on the host's memory (k_ops.host) each time that the
     * gradient of this pass is final from number `from` of the arena on; NULL: not. Its failure is
     * that of the pass. */
    int (*graded)(void *context, size_t from);
    void *graded_context;
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

/* Where a program computes. It is read through its own address: not to be copied. */
struct gpt_device {
    const struct k_ops *ops;
    struct k_ops generic; /* with --attention-impl generic */
    bool optional;        /* a GPU where there is one, else the CPU */
};
/* Finds the backend of --device or, where that is auto, of the preset's model.device. */
int gpt_device_find(struct gpt_device *device, const struct orr_cli *cli);
/* Decides model.precision = auto: bf16 on a GPU, and on CPUs that gain from it (k_bf16_pays); else
 * fp32. Where `checkpoint` is there and was made with a precision of its own, that one. Call it
 * before anything is derived from the settings. */
int gpt_precision_decide(struct orr_cli *cli, const struct gpt_device *device,
                         const char *checkpoint);
/* Says what was decided, once there is something to compute, and where this machine cannot. */
void gpt_precision_tell(const struct orr_cli *given, const struct orr_cli *decided,
                        const struct gpt_device *device);
/* Opens it with the preset's precision, exact: with fp32; ops->close() it. Where a GPU was optional
 * and cannot be used, says why and opens the CPU. ops may change. */
int gpt_device_open(struct gpt_device *device, const struct orr_cli *cli, bool exact);

/* Whether threads have little to share in one such model, on the CPU, so that models are better
 * trained side by side (orr_side_by_side): tensors (batch, positions, width) of at most 2^20
 * numbers. */
bool gpt_is_small(const struct orr_cli *cli, const struct gpt_device *device, long batch,
                  long positions);

/* What goes in and what is asked for; buffers of the host, owned by whoever made the batch, which
 * may change as soon as a pass over it returns. */
struct gpt_batch {
    int B, T;
    uint16_t *tokens;        /* (B, T, 2), text (B, T), or NULL */
    real *features;          /* (B, T, F) or NULL */
    uint16_t *target_tokens; /* (B, T, 2): token head; (B, T): text head */
    real *target;            /* (B, T, OC): regression head */
    real *weight;            /* (B, T): 0 = not in the loss */
};
int gpt_batch_create(struct gpt_batch *batch, const struct gpt_config *config, int B, int T);
void gpt_batch_free(struct gpt_batch *batch);
/* Fills the features of one row; x, y in the data set's units, is_dt for row 0. */
void gpt_features(const struct gpt_config *config, double x, double y, bool is_dt, real *row);

/* Head outputs (B, T, OC) for the host, valid until the next forward; memory grows by itself. */
int gpt_forward(struct gpt_model *model, const struct gpt_batch *batch, const real **out);
/* Looks at outputs (rows, OC) of the rows from `first` on, of B T; anything but 0 ends the pass. */
typedef int gpt_see_rows(void *context, size_t first, size_t rows, const real *out);
/* The same outputs in pieces of rows, in their order, for heads whose outputs are many: a piece is
 * 2^23 numbers at most. see: NULL for nobody; loss: as gpt_loss, or NULL. */
int gpt_forward_pieces(struct gpt_model *model, const struct gpt_batch *batch, gpt_see_rows *see,
                       void *context, double *loss);
/* A forward pass without outputs: for what gpt_layer_qkv and gpt_residual say of it. */
int gpt_forward_body(struct gpt_model *model, const struct gpt_batch *batch);
/* *qkv = (B, T, 3, H, D) of a layer in the last forward pass for the host, q and k rotated when
 * positions are rope (of a pass with gradients, and cosine scores, perhaps multiples of them),
 * valid until the next call for the layer or forward; with recomputation NULL but for the last
 * layer, after a pass with gradients for the first. */
int gpt_layer_qkv(struct gpt_model *model, int layer, const real **qkv);
/* *stream = (B, T, C) of the residual stream in the last forward pass for the host, valid until the
 * next call or forward: layer 0 is the embedding of the input, layer l = 1 .. L what block l - 1
 * put out, before the final norm. Also with recomputation. ORR_EINVAL where there is no such layer,
 * or was no forward pass. */
int gpt_residual(struct gpt_model *model, int layer, const real **stream);
/* The shape of the attention of a pass over B sequences of T rows. */
struct k_attention_shape gpt_attention_shape(const struct gpt_model *model, int B, int T);
/* *rows = silent rows (kernels/attention.h) of the last forward pass, summed over layers and heads:
 * of layers B H T. ORR_EINVAL before any forward pass. */
int gpt_silent_rows(const struct gpt_model *model, long *rows);
/* Loss of the batch under the model's head: mean over weighted rows; cross entropy averages the
 * two channels, regression is the mean squared error over rows and columns. */
int gpt_loss(struct gpt_model *model, const struct gpt_batch *batch, double *loss);
/* The sum of the weights of a batch's rows: how many count. */
double gpt_batch_weight(const struct gpt_batch *batch);
/* Adds what the batch contributes to a mean over the rows that count of several batches: its loss
 * times the sum of its rows' weights, and that sum. */
int gpt_loss_add(struct gpt_model *model, const struct gpt_batch *batch, double *sum,
                 double *weight);
/* forward + loss + backward: gradients add to model->grad. Where the backend can record, the second
 * pass of a shape is recorded, and replayed until shape, weights or how the model attends
 * change. */
int gpt_loss_backward(struct gpt_model *model, const struct gpt_batch *batch, double *loss);
int gpt_zero_grad(struct gpt_model *model);
/* Bytes of activations of a training pass over B x T. */
size_t gpt_activation_bytes(const struct gpt_model *model, int B, int T);
/* How many sequences of T positions a pass without gradients is best made of: at most `most`, and
 * no more than keep its activations within 1 GiB, but one. */
int gpt_evaluation_batch(const struct gpt_model *model, int T, int most);

/* -------------------------------------------------------------------------- optimiser */

/* How a step is cut into passes: `count` of them, over `batch` sequences each. Pass p of a step has
 * the sequences from p * batch on, of count * batch. */
struct gpt_passes {
    int count, batch;
};
/* accumulation passes of the batch; with micro_batches so many, over the same sequences. */
struct gpt_passes gpt_passes_of(const struct orr_train_preset *train);
/* Learning rate of 0-based step. */
double gpt_lr(const struct orr_train_preset *train, long step);
/* Clips by the global norm, AdamW, moving average. Non-finite norm: ORR_EDIVERGED naming the step
 * and the first parameter with a non-finite gradient, in the order of the backward pass;
 * parameters are then untouched. */
int gpt_update(struct gpt_model *model, const struct orr_train_preset *train, long step,
               double *grad_norm);
/* Exchanges parameters and their moving average (call twice to restore); no-op without one. The
 * pointers are exchanged, nothing moves. */
void gpt_swap_average(struct gpt_model *model);
/* Releases the moments and the moving average, in memory of the backend: the weights stay, and a
 * training from here is one of its own. */
void gpt_drop_training(struct gpt_model *model);

/* ------------------------------------------------------------------------ checkpoints */

/* Weights (the moving average as "average.<name>"), and with optimiser = true the moments
 * "adam.m.<name>", "adam.v.<name>"; metadata: format, version, config, step, and the pairs of
 * `extra` (key, value, ..., NULL; may be NULL). Atomic. A model that attends otherwise than it was
 * trained (gpt_override_attention): ORR_EINVAL. */
int gpt_save(const struct gpt_model *model, const char *path, long step, bool optimiser,
             const char *const *extra);
/* Reads the configuration and weights into a new model; *step and optimiser state when there. */
int gpt_load(struct gpt_model *model, const char *path, const struct k_ops *ops, long *step);
/* The same and checks that the checkpoint has this configuration (its head may differ when
 * any_head; whether a token head has a bias is the file's own): ORR_EINVAL naming every key that
 * differs, found and expected, and the setting of presets that decides it. */
int gpt_load_as(struct gpt_model *model, const char *path, const struct gpt_config *config,
                bool any_head, const struct k_ops *ops, long *step);
/* Value of a metadata key of a checkpoint file into buffer ("" when absent). */
int gpt_checkpoint_metadata(const char *path, const char *key, char *buffer, size_t bytes);
/* *made = what a checkpoint says it was made from (base/provenance.h), NULL when it does not say or
 * is not there; cJSON_Delete() it. */
int gpt_checkpoint_made(const char *path, struct cJSON **made);
/* Whether the file whose weights a training stands for (gpt_final_checkpoint) was made from the
 * record `digest` of the book, if not why: also because it cannot be read. One that is not there is
 * missed once the training is whole. */
int gpt_best_same(const char *path, const struct orr_book *book, const char digest[ORR_DIGEST],
                  bool whole, bool *same, char why[ORR_WHY]);

/* ------------------------------------------------------------------ changes at evaluation */

enum gpt_reweight { GPT_REWEIGHT_AS_TRAINED, GPT_REWEIGHT_ON, GPT_REWEIGHT_OFF };
/* How a trained model attends, changed without training; all zero changes nothing. */
struct gpt_attention_override {
    const char *attention;      /* another variant; NULL: as trained */
    enum gpt_reweight reweight; /* the sharpening stage of LSSAR Eq. (5) on or off */
    double p;                   /* its power, >= 1; 0: as trained; unused without sharpening */
    bool set_window;
    int window;  /* with set_window: 0 = all earlier positions */
    int context; /* larger than trained: rope or no positions only; 0: as trained */
    bool ntk;    /* rope_base *= (context / trained context)^(d / (d - 2)), NTK-aware scaling;
                    a context up to the trained one leaves the base */
};
/* Whether NTK scaling means anything: rotary positions, of heads of more than two numbers. */
bool gpt_has_ntk(const struct gpt_config *config);
/* Applies it to the model as it was trained: a second call replaces the first, an override that is
 * all zero undoes it. model->config then says how the model attends; model->variant has the name
 * of the line of the table it equals, else the name of the line it was made from. ORR_EUSAGE where
 * it has no meaning for the model (unknown variant, re-weighting of rows that are no distribution,
 * learned positions beyond their table, ntk without rope), which leaves the model as it was. An
 * overridden model is for evaluation only: gpt_save refuses it. */
int gpt_override_attention(struct gpt_model *model, const struct gpt_attention_override *change);

/* --------------------------------------------------------------------------- training */

struct gpt_task {
    void *context;
    /* Fills the batch for (step, pass): a pure function of its arguments, so that a resumed run
     * sees the same data. Called in a thread of its own while the step before is computed, never
     * twice at a time; what it uses of the context, nothing else may use meanwhile. */
    int (*fill)(void *context, long step, int pass, struct gpt_batch *batch);
    /* Held-out loss; NULL for none. */
    int (*evaluate)(void *context, struct gpt_model *model, double *loss);
    const char *label;        /* progress line */
    const char *folder;       /* where checkpoints and logs go */
    const char *checkpoint;   /* "last.safetensors" */
    const char *best;         /* best-on-validation weights, NULL for none */
    const char *log;          /* "log.jsonl" */
    const char *const *extra; /* metadata of checkpoints */
    int T;
    bool fill_in_step; /* fill() is called between steps, in the caller's thread */
    bool lengthened;   /* checkpoints that are there get `extra` before the first step */
    bool quiet;
};
/* Trains from *step to train->steps, or until patience is over (*step then stays below),
 * checkpointing; on SIGINT/SIGTERM finishes the step, saves and returns ORR_EINTR. Loss, gradient
 * or weights not finite: ORR_EDIVERGED naming step and layer, the last good checkpoint stays; too
 * many outlier steps in a row: ORR_EDIVERGED. The best checkpoint holds the weights that were
 * measured (the average, where one is kept) alone. From step 0 it, step-numbered ones and the log
 * start anew; from later the optimiser's state must be there (ORR_EINVAL), and the log keeps its
 * lines up to *step. */
int gpt_train(struct gpt_model *model, const struct orr_train_preset *train,
              const struct gpt_task *task, long *step);
/* A training in a folder, and what is asked of it. */
struct gpt_training {
    struct orr_chain *chain;
    enum orr_kind kind;
    const char *source; /* attention of a pretraining, source of a fine-tuning */
    const struct orr_train_preset *train;
    const char *folder, *last, *best; /* best: "" = none; matters with patience */
    bool resume;                      /* continue what is there */
    bool force;                       /* weights that are there may be lost */
};
struct gpt_judgement {
    enum orr_verdict verdict;
    bool lengthened; /* goes on as a longer one: files get their new record before the first step */
    char why[ORR_WHY];
};
/* What is to be done about it. With resume: keep it when it is complete, go on with it when it was
 * made from the same things, also when it was made with fewer steps. Anything else that has done a
 * step is refused, or remade with force. The chain then expects the record that the training will
 * have. */
int gpt_training_judge(const struct gpt_training *training, struct gpt_judgement *judgement);
/* ORR_EINVAL, saying what would be lost and what can be done instead. */
int gpt_training_refuse(const struct gpt_training *training, const struct gpt_judgement *judgement);
/* The checkpoint that a finished training stands for, which is judged and fine-tuned: of the least
 * held-out loss where patience ends trainings ("best.safetensors"), otherwise of the last step
 * ("last.safetensors"). */
const char *gpt_final_checkpoint(const struct orr_train_preset *train);
/* Of a checkpoint: its step, and whether patience ended the training there. */
int gpt_progress(const char *path, long *step, bool *ended);
/* Floating-point operations of matmuls in one forward and backward pass over B x T positions:
 * 6 per weight and position, and 12 C per pair of positions that attends; of frozen weights 2, of
 * frozen blocks 4 C. What recomputation repeats does not count. */
double gpt_pass_flop(const struct gpt_model *model, int B, int T);
/* Flop per second of matmuls on the open backend (k_ops.peak), measured once per process in about a
 * tenth of a second; NaN where it cannot be measured. */
double gpt_matmul_peak(const struct k_ops *ops);

/* ------------------------------------------------------------------ next-state training */

/* Sequences for next-state training: from files, or streamed from (seed, split, index): training
 * sequences that were not all written, and any split when orbits_dir is NULL. preset and config
 * must live as long as the source.
 *
 * Of a text preset (orbits_dir is not used), P = text.positions, N the tokens of the split:
 * sequence i is the P tokens from i (P - 1), so that every token but the first is a target once;
 * draw number d is the P tokens from a place that is a pure function of (seed, d), any of
 * N - P + 1. The train split ends where the held-out part begins. */
struct gpt_source;
int gpt_source_open(struct gpt_source **source, const struct orr_preset *preset,
                    const char *orbits_dir, enum sim_split split, const struct gpt_config *config);
void gpt_source_close(struct gpt_source *source);
long gpt_source_count(const struct gpt_source *source);
/* Rows 0..T-1 of B sequences as inputs (noise added: Gaussian, noise_au), rows 1..T as
 * targets. Continuous: targets of time step 0 carry weight 0 (they are draws of the prior).
 * first + b is the sequence index when in_order, else the draw number of a random pick. */
int gpt_source_fill(struct gpt_source *source, uint64_t first, bool in_order, double noise_au,
                    uint64_t seed, struct gpt_batch *batch);
/* XXH64 of the whole text of a text preset, what is held out included. Unless quiet, a line on
 * stderr per setting says what its files are read as. */
int gpt_text_content(const struct orr_preset *preset, bool quiet, uint64_t *content);
/* A record that hides a key: "\n", words, "{" key "}", words, "?" key, with the key at a random
 * place; record (length), length at least GPT_PASSKEY_LEAST. The text "passkey:N" consists of such
 * ones; (seed, index > 0) are none of them. */
enum { GPT_PASSKEY_DIGITS = 4, GPT_PASSKEY_LEAST = 2 * GPT_PASSKEY_DIGITS + 5 };
int gpt_passkey(uint64_t seed, uint64_t index, int length, uint8_t *record);
/* Sequence i's rows: tokens (P, 2), of text (P), or coordinates (P, 2); bodies = number of bodies,
 * of text 0. */
int gpt_source_sequence(struct gpt_source *source, uint64_t i, const uint16_t **tokens,
                        const float **coords, int *bodies);

/* The split that final next-state figures are measured on: the test split, or, where the preset has
 * no test sequences, the validation split, which checkpoints are selected on; of text the held-out
 * part. */
enum sim_split gpt_final_split(const struct orr_preset *preset, bool planets);

/* Next-state evaluation against persistence and means (spec/probes.md item 1), and a rollout
 * from `prefix` rows. Errors are distances in AU (planet runs: in separations at step 0),
 * planets only, averaged over sequences; not a number where no sequence has such a row. */
struct gpt_next_state {
    int sequences;
    double loss, teacher_forced, persistence, sequence_mean;
    int prefix, horizons;
    int horizon[3]; /* in positions */
    double rollout[3], rollout_persistence[3];
    /* of gpt_orbit_ceiling; not a number where it was not asked or has none */
    double orbit_fit, orbit_fit_half, orbit_fit_late; /* half: of its 95% interval */
    int orbit_fit_sequences;
};
int gpt_evaluate_next_state(struct gpt_model *model, struct gpt_source *source, int sequences,
                            double extent_au, struct gpt_next_state *result);
/* The upper bound of teacher_forced: the same error, over the same result->sequences, of an
 * observer who knows Newton's law, and fits the orbit of the places so far, at most the first 64
 * (model/evaluate/orbit_fit.h). While these are too few the observer expects what the first 256 training
 * sequences are like. Of two bodies under Newton's law, in coordinates. ORR_EINTR: a signal. */
int gpt_orbit_ceiling(struct gpt_source *source, const struct orr_preset *preset, bool planets,
                      int positions, int late_from, struct gpt_next_state *result);
/* Adds these numbers to a JSON object (docs/formats.md, evaluation.json); null for what is none. */
void gpt_next_state_add(struct cJSON *json, const struct gpt_next_state *result);
/* Held-out loss of a text model: mean cross entropy in nats over the sequences from the first one,
 * context = the model's. `late`: over positions from `late_from` on alone (not a number where there
 * are none). ORR_EINVAL without held-out text. */
struct gpt_text_result {
    int sequences, positions; /* of one sequence: targets */
    double loss, perplexity, bits_per_token;
    int late_from;
    double late_loss;
};
int gpt_evaluate_text(struct gpt_model *model, struct gpt_source *source, int sequences,
                      int late_from, struct gpt_text_result *result);

/* Continues each sequence of the batch from `prefix` rows to T rows by its own predictions
 * (tokens: the most probable bin; continuous: the predicted coordinates). rows >= prefix of
 * path (B, T, 2) are written, in AU or scaled units. */
int gpt_rollout(struct gpt_model *model, struct gpt_batch *batch, int prefix, double extent_au,
                real *path);

#endif
