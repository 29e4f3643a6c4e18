/* train.h - the training loop, and what is to be done about a training that is there. */
#ifndef GPT_TRAIN_H
#define GPT_TRAIN_H

#include "stage/provenance.h"
#include "model/forward.h"

struct gpt_task {
    void *context;
    /* Fills the batch for (step, pass): a pure function of its arguments, so that a resumed run
     * trains on the same data. Called in a thread of its own while the step before is computed,
     * never twice at a time; what it uses of the context, nothing else may use meanwhile. */
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
 * or weights not finite: ORR_EDIVERGED naming step and layer, the last good checkpoint is kept; too
 * many outlier steps in a row: ORR_EDIVERGED. The best checkpoint holds the weights that were
 * measured (the average, where one is kept) alone. From step 0 it, step-numbered ones and the log
 * start anew; from later the optimiser's state must be there (ORR_EINVAL), and the log keeps its
 * lines up to *step. */
int gpt_train(struct gpt_model *model, const struct orr_train_settings *train,
              const struct gpt_task *task, long *step);
/* A training in a folder, and what is asked of it. */
struct gpt_training {
    struct orr_lineage *lineage;
    enum orr_kind kind;
    const char *source; /* attention of a pretraining, source of a fine-tuning */
    const struct orr_train_settings *train;
    const char *folder, *last, *best; /* best: "" = none; matters with patience */
    bool resume;                      /* continue what is there */
    bool force;                       /* weights that are there may be lost */
};
/* What is to be done about it. With resume: keep it when it is complete, go on with it when it was
 * made from the same things, also when it was made with fewer steps. Anything else that has done a
 * step is refused, or remade with force. The chain then expects the record that the training will
 * have. */
int gpt_training_status(const struct gpt_training *training, struct orr_artefact *status);
/* ORR_EINVAL, saying what would be lost and what can be done instead. */
int gpt_training_refuse(const struct gpt_training *training, const struct orr_artefact *status);
/* Notes why it is made again, or goes on as a longer one. */
void gpt_training_tell(const struct orr_artefact *status, const char *label, bool quiet);
/* The checkpoint that a finished training stands for, which is evaluated and fine-tuned: of the
 * least held-out loss where patience ends trainings ("best.safetensors"), otherwise of the last
 * step ("last.safetensors"). */
const char *gpt_final_checkpoint(const struct orr_train_settings *train);
/* Of a checkpoint: its step, and whether patience ended the training there. */
int gpt_progress(const char *path, long *step, bool *ended);
/* Floating-point operations of matmuls in one forward and backward pass over B x T positions:
 * 6 per weight and position, and 12 C per pair of positions that attends; of frozen weights 2, of
 * frozen blocks 4 C. What recomputation repeats does not count. */
double gpt_pass_flop(const struct gpt_model *model, int B, int T);
/* Flop per second of matmuls on the open backend (k_ops.peak), measured once per process in about a
 * tenth of a second; NaN where it cannot be measured. */
double gpt_matmul_peak(const struct k_ops *ops);

#endif
