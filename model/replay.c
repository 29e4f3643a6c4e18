/* replay.c - the kernels of a training pass, recorded once and replayed.
 *
 * A pass of one shape asks for the same kernels with the same pointers every time: the batch is
 * copied into one place, and every number that changes is in memory. So the first pass runs as it
 * is (which makes what is made on first use), the second is recorded, and from then on it is
 * replayed. What it depends on is kept beside the recording and compared: another shape, other
 * weights (gpt_swap_average), others that are trained (gpt_freeze) or another way to attend record
 * anew; another plan of the activations takes the recording with it.
 *
 * A recording only saves time: where it cannot be made or replayed, a note says so once, and passes
 * run as they are, with the same numbers. */
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

/* Byte by byte: bytes between members may make it record again, never replay what is old. */
static bool same_bytes(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

static bool fits(const struct gpt_replay *replay, const struct gpt_model *model,
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

static int record(struct gpt_model *model, const struct gpt_batch *on)
{
    const struct k_ops *k = model->ops;
    struct gpt_replay *replay = &model->act->replay;
    TRY(k->record_begin());
    const int rc = gpt_pass(model, on);
    const int end = k->record_end(&replay->recording); /* also after a failure: it has begun */
    replay->made = model->act->made;
    if (rc || end)
        gpt_replay_free(k, replay);
    return rc ? rc : end;
}

/* The pass as it is, from here on. Nothing of it was done: what is recorded is not, and a replay
 * that was refused has not begun. An error that stays will come back from the pass itself. */
static int without(struct gpt_model *model, const struct gpt_batch *on)
{
    struct gpt_replay *replay = &model->act->replay;
    orr_note(cluster_rank() > 0, "note: passes are not recorded, and take longer to start: %s",
             orr_error());
    orr_error_recover(); /* (a GPU may have too little memory for a recording) */
    gpt_replay_free(model->ops, replay);
    replay->off = true;
    return gpt_pass(model, on);
}

int gpt_replay_pass(struct gpt_model *model, const struct gpt_batch *on)
{
    struct gpt_replay *replay = &model->act->replay;
    if (!model->ops->record_begin || replay->off)
        return gpt_pass(model, on);
    if (!fits(replay, model, on))
        return warm_up(model, on);
    if (!replay->recording && record(model, on))
        return without(model, on);
    model->act->sequences = on->B;
    model->act->made = replay->made;
    return model->ops->replay(replay->recording) ? without(model, on) : 0;
}
