/* pretrain.h - next-state training of one model of a run; shared with main_pretrain.c. */
#ifndef GPT_PRETRAIN_H
#define GPT_PRETRAIN_H

#include "gpt.h"

/* One pretraining of one attention variant: the orbits of the preset, or its planet runs. */
struct gpt_pretraining {
    const struct orr_preset *preset;
    const struct orr_train_preset *train;
    const struct k_ops *ops;
    const char *attention;
    const char *orbits_dir;
    bool planets;           /* planet runs instead of orbits */
    const char *checkpoint; /* start from these weights (the average, where the file has one) at
                               step 0; a token head keeps the bias that it has; "" = fresh */
    bool resume, quiet;
    char folder[4096]; /* where checkpoints go */
};
/* Trains to the preset's last step, then writes evaluation.json (next-state metrics on the test
 * split, gpt_final_split; of text: loss, perplexity, bits per token of the held-out part) of the
 * weights that the training stands for (gpt_final_checkpoint). With resume, continues
 * last.safetensors when its settings are the same, and starts anew, saying so, when they are
 * others. */
int gpt_pretrain(const struct gpt_pretraining *job);

/* Settings that a pretrained checkpoint depends on. */
#define GPT_PRETRAIN_GROUPS "seed,orbits,text,model,pretrain"
#define GPT_PLANETS_GROUPS  "seed,planets,model,pretrain_planets"

#endif
