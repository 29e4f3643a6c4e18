/* forces_fixture.h - a tiny run with an untrained model, for probes that fine-tune to forces. */
#ifndef TESTS_PROBE_FORCES_FIXTURE_H
#define TESTS_PROBE_FORCES_FIXTURE_H

#include "base/scratch.h"
#include "probe/asked.h"

struct forces_fixture {
    struct tiny tiny;
    struct probe_options options;
    char checkpoint[4096], run[4096], out[4096];
};

/* Data sets in files, and a model of this attention saved as a pretrained one; 12 steps, 2 draws
 * of fine-tuning. */
static inline void forces_open(struct forces_fixture *f, const char *attention)
{
    const char *const extra[] = {"stage", "pretrain", "source", attention, NULL};
    struct gpt_config config;
    struct gpt_model model;
    memset(f, 0, sizeof *f);
    tiny_preset(&f->tiny.settings, false);
    f->tiny.settings.finetune.magnitude.lr = 0.02;
    tiny_open(&f->tiny);
    tiny_close_run(&f->tiny);
    scratch_path(f->run, f->tiny.dir, "");
    scratch_path(f->checkpoint, f->tiny.dir, "model.safetensors");
    scratch_path(f->out, f->tiny.dir, "out");
    assert_int_equal(gpt_config_from_preset(&config, &f->tiny.settings, attention, 33), 0);
    assert_int_equal(gpt_create(&model, &config, &k_ref, 3), 0);
    assert_int_equal(gpt_save(&model, f->checkpoint, 9, false, extra), 0);
    gpt_free(&model);
    f->options = asked_of(&f->tiny.settings, f->checkpoint, f->out);
    f->options.run = f->run;
    f->options.steps = 12;
    f->options.draws = 2;
}

static inline void forces_close(struct forces_fixture *f)
{
    scratch_remove(f->tiny.dir);
}

/* A file of the results, read whole; free() it. */
static inline char *forces_content(const struct forces_fixture *f, const char *folder,
                                   const char *name)
{
    char path[4096], *text;
    size_t bytes;
    assert_int_equal(orr_path(path, "%s/%s/%s", f->tiny.dir, folder, name), 0);
    if (orr_file_read(path, &text, &bytes))
        fail_msg("%s", orr_error());
    return text;
}

#endif
