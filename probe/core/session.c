/* session.c - see session.h. */
#include "session.h"

static int measure_and_write(struct probe_session *s, const struct probe_steps *steps, void *of)
{
    if (steps->script)
        TRY(orr_picture_check(steps->script));
    TRY(steps->measure(of));
    TRY(probe_results_begin(&s->results, s->folder, steps->name));
    if (steps->write)
        TRY(steps->write(of));
    TRY(probe_results_write(&s->results, &s->probe, s->options, s->folder, steps->name, s->key));
    s->measured = true;
    if (!s->options->no_table)
        probe_results_print(&s->results, &s->probe, steps->name, steps->is_shown);
    return 0;
}

static int run_steps(struct probe_session *s, const struct probe_steps *steps, void *of)
{
    TRY(steps->open(of));
    TRY(probe_folder(&s->probe, s->options, s->folder));
    TRY(probe_key(s->options, steps->name, steps->revision, s->more, s->key));
    if ((!steps->is_same || steps->is_same(of)) &&
        probe_results_there(s->options, s->folder, steps->name, s->key))
        return 0;
    return measure_and_write(s, steps, of);
}

int probe_session_run(struct probe_session *s, const struct probe_options *options,
                      const struct probe_steps *steps, void *of)
{
    s->options = options;
    s->name = steps->name;
    const int rc = run_steps(s, steps, of);
    probe_results_free(&s->results);
    probe_rewind(&s->arena, 0);
    gpt_free(&s->baseline);
    probe_close(&s->probe);
    return rc;
}

int probe_session_tick(struct probe_session *s)
{
    if (orr_signal_seen())
        return ORR_FAIL(ORR_EINTR, "stopped by a signal; nothing was written");
    orr_progress_set(&s->progress, ++s->done, NULL);
    return 0;
}
