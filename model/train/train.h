/* train.h - the training loop, and decisions about existing trainings. */
#ifndef GPT_TRAIN_H
#define GPT_TRAIN_H

#include "stage/provenance.h"
#include "model/forward.h"

struct gpt_task {
    void *context;
    /* Fills the batch for (step, pass): a pure function of its arguments, so that a resumed run
     * trains on equal data. It runs in a separate thread while the step before is computed,
     * never twice at a time; no other code may use its part of the context meanwhile. */
    int (*fill)(void *context, long step, int pass, struct gpt_batch *batch);
    /* Computes the held-out loss; NULL for none. */
    int (*evaluate)(void *context, struct gpt_model *model, double *loss);
    const char *label;        /* progress line */
    const char *folder;       /* where checkpoints and logs go */
    const char *checkpoint;   /* "last.safetensors" */
    const char *best;         /* best-on-validation weights, NULL for none */
    const char *log;          /* "log.jsonl" */
    const char *const *extra; /* metadata of checkpoints */
    int T;
    bool fill_in_step; /* fill() is called between steps, in the caller's thread */
    bool lengthened;   /* existing checkpoints get `extra` before the first step */
    bool quiet;
};
/* Trains from *step to train->steps, or until patience is exhausted (*step is then smaller), and
 * writes checkpoints. SIGINT and SIGTERM: stops after the step or, between its passes, before
 * it; saves and returns ORR_EINTR. Loss, gradient or weights not finite: ORR_EDIVERGED naming
 * step and layer; the last good checkpoint is kept. Too many outlier steps in a row:
 * ORR_EDIVERGED. The best checkpoint has only the weights that were evaluated (the average,
 * where one is kept). A training from step 0 removes old checkpoints and the old log. A training
 * from a later step needs the optimiser's state (ORR_EINVAL), and the log keeps its lines up to
 * *step. */
int gpt_train(struct gpt_model *model, const struct orr_train_settings *train,
              const struct gpt_task *task, long *step);
/* A training in a folder, and the options for it. */
struct gpt_training {
    struct orr_lineage *lineage;
    enum orr_kind kind;
    const char *source; /* attention of a pretraining, source of a fine-tuning */
    const struct orr_train_settings *train;
    const char *folder, *last, *best; /* best: "" = none, only used with patience */
    bool resume;                      /* continue existing checkpoints */
    bool force;                       /* existing weights may be lost */
};
/* Decides what to do about a training. With resume, it is kept when it is complete, and
 * continued when its record is equal or differs only by fewer steps. Any other training that has
 * done a step is refused, or replaced with force. Afterwards the lineage expects the record that
 * the training will have. */
int gpt_training_status(const struct gpt_training *training, struct orr_artefact *status);
/* Fails with ORR_EINVAL, saying what would be lost and what can be done instead. */
int gpt_training_refuse(const struct gpt_training *training, const struct orr_artefact *status);
/* Notes why a training is made again, or is continued as a longer one. */
void gpt_training_tell(const struct orr_artefact *status, const char *label, bool quiet);
/* The checkpoint with a training's final weights, which are evaluated and fine-tuned: with
 * patience those of the least held-out loss ("best.safetensors"), otherwise those of the last
 * step ("last.safetensors"). */
const char *gpt_final_checkpoint(const struct orr_train_settings *train);
/* The step of a checkpoint, and whether patience ended the training there. */
int gpt_progress(const char *path, long *step, bool *ended);
/* ORR_EMISSING where the training of a last.safetensors was stopped (bin/pretrain ends without
 * error then), with what can be done about it. */
int gpt_check_complete(const char *path, long steps, const char *advice);
/* Floating-point operations of matmuls in one forward and backward pass over B x T positions: 6
 * per weight and position, and 12 C per attended pair of positions; for frozen weights 2, for
 * frozen blocks 4 C. Operations repeated by recomputation do not count. */
double gpt_pass_flop(const struct gpt_model *model, int B, int T);
/* Flop per second of matmuls on the open backend (k_ops.peak), measured once per process in about a
 * tenth of a second; NaN where it cannot be measured. */
double gpt_matmul_peak(const struct k_ops *ops);

#endif
