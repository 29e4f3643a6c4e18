/* prefetcher.c - makes the batch of the next pass while the current one is computed.
 *
 * There are two batches and one thread at a time. The thread fills the batch that the step does
 * not use, and is joined before the caller uses that batch. Caller and thread then share only
 * the task's context, which fill() alone uses. Filling is a pure function of (step, pass): if
 * another batch is requested than the prefetched one, it is made anew. */
#include "prefetcher.h"

#include <string.h>

static void *fill_ahead(void *argument)
{
    struct gpt_prefetcher *prefetcher = argument;
    prefetcher->rc =
        prefetcher->task->fill(prefetcher->task->context, prefetcher->step, prefetcher->pass,
                               &prefetcher->batch[1 - prefetcher->current]);
    if (prefetcher->rc) /* error messages are per thread */
        snprintf(prefetcher->message, sizeof prefetcher->message, "%s", orr_error());
    return NULL;
}

int gpt_prefetcher_open(struct gpt_prefetcher *prefetcher, const struct gpt_task *task,
                        const struct gpt_config *config, int B)
{
    memset(prefetcher, 0, sizeof *prefetcher);
    prefetcher->task = task;
    int rc = gpt_batch_create(&prefetcher->batch[0], config, B, task->T);
    if (!rc && !task->fill_in_step)
        rc = gpt_batch_create(&prefetcher->batch[1], config, B, task->T);
    if (rc)
        gpt_prefetcher_close(prefetcher);
    return rc;
}

static void join_thread(struct gpt_prefetcher *prefetcher)
{
    if (prefetcher->running)
        pthread_join(prefetcher->thread, NULL);
    prefetcher->running = false;
}

void gpt_prefetcher_start(struct gpt_prefetcher *prefetcher, long step, int pass)
{
    if (prefetcher->task->fill_in_step)
        return;
    join_thread(prefetcher);
    prefetcher->step = step;
    prefetcher->pass = pass;
    prefetcher->running = orr_thread_start(&prefetcher->thread, fill_ahead, prefetcher) == 0;
}

int gpt_prefetcher_take(struct gpt_prefetcher *prefetcher, long step, int pass,
                        struct gpt_batch **batch)
{
    const bool ahead = prefetcher->running && prefetcher->step == step && prefetcher->pass == pass;
    join_thread(prefetcher);
    if (ahead) {
        prefetcher->current = 1 - prefetcher->current;
        *batch = &prefetcher->batch[prefetcher->current];
        return prefetcher->rc ? ORR_FAIL(prefetcher->rc, "%s", prefetcher->message) : 0;
    }
    *batch = &prefetcher->batch[prefetcher->current];
    return prefetcher->task->fill(prefetcher->task->context, step, pass, *batch);
}

void gpt_prefetcher_close(struct gpt_prefetcher *prefetcher)
{
    join_thread(prefetcher);
    gpt_batch_free(&prefetcher->batch[0]);
    gpt_batch_free(&prefetcher->batch[1]);
}
