/* asked.h - what tests of probes ask of which models. */
#ifndef TESTS_PROBE_ASKED_H
#define TESTS_PROBE_ASKED_H

#include "finetune/tiny.h"

#include "probe/probe.h"

/* Quietly, by the reference backend, of a model that belongs to no run. */
static inline struct probe_options asked_of(const struct orr_settings *settings,
                                            const char *checkpoint, const char *out)
{
    return (struct probe_options){.settings = settings,
                                  .ops = &k_ref,
                                  .checkpoint = checkpoint,
                                  .run = "",
                                  .orbits = "",
                                  .out = out,
                                  .layer = -1,
                                  .head = -1,
                                  .quiet = true};
}

/* Untrained models of the preset, saved as trained ones of stages pretrain and magnitude, in a
 * scratch folder of their own. 0, or not. */
static inline int asked_untrained(struct tiny *tiny, char checkpoint[2][4096])
{
    static const char *const stages[] = {"pretrain", "magnitude"};
    scratch_create(tiny->dir);
    for (int k = 0; k < 2; k++) {
        const char *const extra[] = {"stage", stages[k], NULL};
        struct gpt_config config;
        struct gpt_model model;
        scratch_path(checkpoint[k], tiny->dir, stages[k]);
        if (gpt_config_from_preset(&config, &tiny->settings, "softmax", 33))
            return 1;
        config.outputs = k ? 1 : 2;
        if (gpt_create(&model, &config, &k_ref, 3) ||
            gpt_save(&model, checkpoint[k], 0, false, extra))
            return 1;
        gpt_free(&model);
    }
    return 0;
}

#endif
