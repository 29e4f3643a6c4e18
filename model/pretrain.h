/* pretrain.h - next-state training of one model of a run; shared with main_pretrain.c. */
#ifndef GPT_PRETRAIN_H
#define GPT_PRETRAIN_H

#include "model/train/train.h"
#include "stage/engine.h"

/* One pretraining of one attention variant: the orbits of the preset, or its planet runs. */
struct gpt_pretraining {
    char folder[4096]; /* where checkpoints go */
    const struct orr_settings *preset;
    const struct orr_train_settings *train;
    const struct k_ops *ops;
    const char *attention;
    const char *orbits_dir;
    bool planets;           /* planet runs instead of orbits */
    const char *checkpoint; /* start from these weights (the average, where the file has one) at
                               step 0; a token head keeps the bias that it has; "" = fresh */
    struct orr_lineage *lineage; /* of the run: what this training should be made from */
    bool resume, quiet;
    bool force; /* weights of other settings or data, or without resume, may be lost */
    /* Asked on rank 0 before data are opened, and when all ranks have opened theirs: an error where
     * they are not those that were looked at before. NULL: not asked. */
    int (*verify)(void *of, bool opened);
    void *of;
};
/* The data that this rank reads, and at rank 0 the checkpoint, can be read; nothing is kept. */
int gpt_pretrain_check(const struct gpt_pretraining *job);
/* The stage, each of whose outputs is a job: its training and, where the settings ask for one, its
 * evaluation.json (next-state metrics on the test split, gpt_final_split; of text: loss,
 * perplexity, bits per token of the held-out part) of the weights that the training stands for
 * (gpt_final_checkpoint). With resume, it continues last.safetensors when that was made from the
 * same things, or with fewer steps. Where other weights are in the way, ORR_EINVAL, or with force
 * they are replaced, saying what differs. */
extern const struct orr_stage_row gpt_pretrain_stage;

/* Writes <job->folder>/rollouts.csv (docs/formats.md): the continuation of each body of
 * planets_solar from half of its steps on. *written = false: a folder of data sets made elsewhere
 * has none. */
#define GPT_ROLLOUTS "rollouts.csv"
int gpt_rollouts_write(const struct gpt_pretraining *job, struct gpt_model *model, bool *written);

#endif
