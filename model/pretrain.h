/* pretrain.h - next-state training of one model of a run; shared with main_pretrain.c. */
#ifndef GPT_PRETRAIN_H
#define GPT_PRETRAIN_H

#include "model/train/train.h"

/* One pretraining of one attention variant: the orbits of the preset, or its planet runs. */
struct gpt_pretraining {
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
    bool force;        /* weights of other settings or data, or without resume, may be lost */
    char folder[4096]; /* where checkpoints go */
    /* Asked on rank 0 when all ranks have opened their data: an error where these may be others
     * than those that were looked at before. NULL: not asked. */
    int (*unchanged)(const void *of);
    const void *of;
};
/* The data that this rank reads, and at rank 0 the checkpoint, can be read; nothing is kept. */
int gpt_pretrain_check(const struct gpt_pretraining *job);
/* What gpt_pretrain would do, and why (gpt_training_judge). The same about its evaluation.json,
 * given that about the training; measured = the settings ask for one. */
int gpt_pretrain_judge(const struct gpt_pretraining *job, struct gpt_judgement *judgement);
int gpt_pretrain_refuse(const struct gpt_pretraining *job, const struct gpt_judgement *judgement);
int gpt_evaluation_judge(const struct gpt_pretraining *job, enum orr_action trained, bool *measured,
                         enum orr_action *verdict, char why[ORR_WHY]);
/* Nothing is left to do. */
int gpt_pretrain_complete(const struct gpt_pretraining *job, bool *complete);
/* Trains to the preset's last step, then writes evaluation.json (next-state metrics on the test
 * split, gpt_final_split; of text: loss, perplexity, bits per token of the held-out part) of the
 * weights that the training stands for (gpt_final_checkpoint). With resume, continues
 * last.safetensors when it was made from the same things, or with fewer steps. Where other weights
 * are in the way, ORR_EINVAL, or with force they are replaced, saying what differs. */
int gpt_pretrain(const struct gpt_pretraining *job);

/* Writes <job->folder>/rollouts.csv (docs/formats.md): the continuation of each body of
 * planets_solar from half of its steps on. *written = false: a folder of data sets made elsewhere
 * has none. */
#define GPT_ROLLOUTS "rollouts.csv"
int gpt_rollouts_write(const struct gpt_pretraining *job, struct gpt_model *model, bool *written);

#endif
