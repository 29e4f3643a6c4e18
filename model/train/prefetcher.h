/* prefetcher.h - prefetches batches in a thread. */
#ifndef GPT_PREFETCHER_H
#define GPT_PREFETCHER_H

#include "train.h"

#include <pthread.h>

struct gpt_prefetcher {
    const struct gpt_task *task;
    struct gpt_batch batch[2];
    int current;  /* the batch in use; the thread fills the other */
    bool running; /* the thread is running, and makes (step, pass) */
    long step;
    int pass, rc;
    pthread_t thread;
    char message[4096];
};
int gpt_prefetcher_open(struct gpt_prefetcher *prefetcher, const struct gpt_task *task,
                        const struct gpt_config *config, int B);
/* *batch = the batch of (step, pass), valid until the next call; no thread is running
 * afterwards. */
int gpt_prefetcher_take(struct gpt_prefetcher *prefetcher, long step, int pass,
                        struct gpt_batch **batch);
/* Starts to make (step, pass), which will probably be requested next. */
void gpt_prefetcher_start(struct gpt_prefetcher *prefetcher, long step, int pass);
void gpt_prefetcher_close(struct gpt_prefetcher *prefetcher);

#endif
