/* replay.c - the kernels of a training pass, recorded once and replayed.
 *
 * All passes of one shape call the same kernels with the same pointers: the batch is copied to a
 * fixed place, and every number that changes is in memory. The first pass runs without a
 * recording (and allocates what is allocated on first use), the second is recorded, and later
 * passes replay the recording. The conditions of a recording are stored and compared: another
 * shape, other weights (gpt_swap_average), another choice of trained weights (gpt_freeze) or
 * another attention cause a new recording; a new layout of the activations frees the recording.
 *
 * A recording only saves time: where it cannot be made or replayed, a note says so once, and
 * passes run without it, with equal results. */
#include "activations.h"
#include "model/ranks/cluster.h"

#include <string.h>

void gpt_replay_free(const struct k_ops *ops, struct gpt_replay *replay)
{
    if (replay->recording)
        ops->record_free(replay->recording);
    const bool off = replay->off;
    memset(replay, 0, sizeof *replay);
    replay->off = off;
}

/* Compares byte by byte: different padding may cause a needless recording, but never a wrong
 * replay. */
static bool same_bytes(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

static bool fits_batch(const struct gpt_replay *replay, const struct gpt_model *model,
                       const struct gpt_batch *on)
{
    return replay->warm && replay->B == on->B && replay->frozen == model->frozen &&
           replay->weighted == (on->weight != NULL) && replay->param == model->param &&
           replay->grad == model->grad &&
           same_bytes(&replay->config, &model->config, sizeof model->config) &&
           same_bytes(&replay->variant, &model->variant, sizeof model->variant);
}

static int warm_up(struct gpt_model *model, const struct gpt_batch *on)
{
    struct gpt_replay *replay = &model->act->replay;
    gpt_replay_free(model->ops, replay);
    TRY(gpt_pass(model, on));
    replay->B = on->B;
    replay->frozen = model->frozen;
    replay->weighted = on->weight != NULL;
    replay->param = model->param;
    replay->grad = model->grad;
    memcpy(&replay->config, &model->config, sizeof model->config);
    memcpy(&replay->variant, &model->variant, sizeof model->variant);
    replay->warm = true;
    return 0;
}

static int record_step(struct gpt_model *model, const struct gpt_batch *on)
{
    const struct k_ops *k = model->ops;
    struct gpt_replay *replay = &model->act->replay;
    TRY(k->record_begin());
    const int rc = gpt_pass(model, on);
    /* also after a failure, since the recording has begun */
    const int end = k->record_end(&replay->recording);
    replay->made = model->act->made;
    if (rc || end)
        gpt_replay_free(k, replay);
    return rc ? rc : end;
}

/* Runs passes without recordings from now on. Nothing was computed yet: a recording does not
 * execute, and a replay that failed has not begun. If the error persists, the pass itself will
 * return it. */
static int step_without(struct gpt_model *model, const struct gpt_batch *on)
{
    struct gpt_replay *replay = &model->act->replay;
    orr_note(cluster_rank() > 0, "note: passes are not recorded, and take longer to start: %s",
             orr_error());
    orr_error_recover(); /* a GPU may have too little memory for a recording */
    gpt_replay_free(model->ops, replay);
    replay->off = true;
    return gpt_pass(model, on);
}

int gpt_replay_pass(struct gpt_model *model, const struct gpt_batch *on)
{
    struct gpt_replay *replay = &model->act->replay;
    if (!model->ops->record_begin || replay->off)
        return gpt_pass(model, on);
    if (!fits_batch(replay, model, on))
        return warm_up(model, on);
    if (!replay->recording && record_step(model, on))
        return step_without(model, on);
    model->act->sequences = on->B;
    model->act->made = replay->made;
    return model->ops->replay(replay->recording) ? step_without(model, on) : 0;
}
