/* batch_prefetcher.c - the batch of the next pass is made while this one is computed.
 *
 * Two batches, one thread at a time: it fills the batch that the step does not use, and is joined
 * before anybody looks at that batch, so that nothing is shared while both run but the task's own
 * context, of which fill() is the only user. Filling is a pure function of (step, pass): what was
 * made ahead and is not asked for is made again. */
#include "batch_prefetcher.h"

#include <string.h>

static void *fill_ahead(void *argument)
{
    struct gpt_feed *feed = argument;
    feed->rc = feed->task->fill(feed->task->context, feed->step, feed->pass,
                                &feed->batch[1 - feed->current]);
    if (feed->rc) /* messages belong to the thread that fails */
        snprintf(feed->message, sizeof feed->message, "%s", orr_error());
    return NULL;
}

int gpt_feed_open(struct gpt_feed *feed, const struct gpt_task *task,
                  const struct gpt_config *config, int B)
{
    memset(feed, 0, sizeof *feed);
    feed->task = task;
    int rc = gpt_batch_create(&feed->batch[0], config, B, task->T);
    if (!rc && !task->fill_in_step)
        rc = gpt_batch_create(&feed->batch[1], config, B, task->T);
    if (rc)
        gpt_feed_close(feed);
    return rc;
}

static void join(struct gpt_feed *feed)
{
    if (feed->running)
        pthread_join(feed->thread, NULL);
    feed->running = false;
}

void gpt_feed_ahead(struct gpt_feed *feed, long step, int pass)
{
    if (feed->task->fill_in_step)
        return;
    join(feed);
    feed->step = step;
    feed->pass = pass;
    feed->running = orr_thread_start(&feed->thread, fill_ahead, feed) == 0;
}

int gpt_feed_take(struct gpt_feed *feed, long step, int pass, struct gpt_batch **batch)
{
    const bool ahead = feed->running && feed->step == step && feed->pass == pass;
    join(feed);
    if (ahead) {
        feed->current = 1 - feed->current;
        *batch = &feed->batch[feed->current];
        return feed->rc ? ORR_FAIL(feed->rc, "%s", feed->message) : 0;
    }
    *batch = &feed->batch[feed->current];
    return feed->task->fill(feed->task->context, step, pass, *batch);
}

void gpt_feed_close(struct gpt_feed *feed)
{
    join(feed);
    gpt_batch_free(&feed->batch[0]);
    gpt_batch_free(&feed->batch[1]);
}
