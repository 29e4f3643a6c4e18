/* pretrain.h - next-state training of one model of a run; shared with main_pretrain.c. */
#ifndef GPT_PRETRAIN_H
#define GPT_PRETRAIN_H

#include "model/train/train.h"
#include "stage/engine.h"

/* One pretraining of one attention variant, on the preset's orbits or its planet runs. */
struct gpt_pretraining {
    char folder[4096]; /* where checkpoints go */
    const struct orr_settings *settings;
    const struct orr_train_settings *train;
    const struct k_ops *ops;
    const char *attention;
    const char *orbits_dir;
    bool planets; /* planet runs instead of orbits */
    /* start at step 0 from these weights (the average, where the file has one); a token head
     * keeps its bias if it has one; "" = new weights */
    const char *checkpoint;
    /* of the run: the records of what this training should be made from */
    struct orr_lineage *lineage;
    bool resume, quiet;
    bool force; /* weights of other settings or data, or any without resume, may be replaced */
    /* Called on rank 0 before data are opened, and again when all ranks have opened theirs;
     * fails if the data are not those that were checked before. May be NULL. */
    int (*verify)(void *of, bool opened);
    void *of;
};
/* Checks that the data of this rank and, at rank 0, the checkpoint can be read; keeps nothing
 * open. */
int gpt_pretrain_check(const struct gpt_pretraining *job);
/* The stage, each of whose outputs is a job: its training and, where the settings ask for one,
 * its evaluation.json (next-state metrics on the test split, gpt_final_split; of text: loss,
 * perplexity, bits per token of the held-out part) of the weights that the training stands for
 * (gpt_final_checkpoint). With resume, a training continues last.safetensors when that has an
 * equal record, or one with fewer steps. Other weights in its place are an error, ORR_EINVAL;
 * with force they are replaced, and a note says what differs. */
extern const struct orr_stage_row gpt_pretrain_stage;

/* Writes <job->folder>/rollouts.csv (docs/formats.md): the continuation of each body of
 * planets_solar from half of its steps on. *written = false where a folder of data sets made
 * elsewhere has no planets_solar. */
#define GPT_ROLLOUTS "rollouts.csv"
int gpt_rollouts_write(const struct gpt_pretraining *job, struct gpt_model *model, bool *written);

#endif
