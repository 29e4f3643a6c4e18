/* stream.c - makes sequences on the fly, ahead of the reader: a ring of blocks of draws, filled by
 * threads and read in order. A block is a pure function of its number, so its bytes depend neither
 * on the number of threads nor on their timing. */
#include "sim/data/dataset.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

enum { SLOTS = 16, CHECKSUM_BLOCK = 64 }; /* least blocks ahead; draws */

struct slot {
    struct sim_block block;
    bool ready;
    struct sim_failure failure;
};

struct sim_stream {
    const struct orr_settings *settings;
    enum sim_split split;
    struct sim_stream_order order;
    int threads, started;
    int size;  /* draws of a block */
    bool once; /* no draws at or above the order's count */
    size_t slots;
    struct sim_sequence *sequence; /* (threads) */
    pthread_t *thread;
    struct slot *slot; /* (slots); block b uses slot b % slots */
    /* protected by the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t first, next; /* blocks: the oldest one kept; the next one to make */
    int busy;             /* threads that make a block */
    bool stop, hold;      /* hold: start no block while the reader moves the ring */
};

struct worker {
    struct sim_stream *stream;
    int number;
};

uint64_t sim_stream_index(const struct sim_stream_order *order, uint64_t d)
{
    return (order->shuffled ? orr_rng_hash(order->seed, ORR_STAGE_SHUFFLE, order->stream, d) : d) %
           order->count;
}

static void make_block(struct sim_stream *s, struct slot *slot, uint64_t number,
                       struct sim_sequence *q)
{
    slot->failure.rc = 0;
    const uint64_t first = slot->block.first = number * (uint64_t)s->size;
    const uint64_t left = first < s->order.count ? s->order.count - first : 0;
    slot->block.count = s->once && left < (uint64_t)s->size ? (int)left : s->size;
    for (int k = 0; k < slot->block.count; k++) {
        const uint64_t i = sim_stream_index(&s->order, first + (uint64_t)k);
        const int rc = sim_block_make(&slot->block, k, q, s->settings, s->split, i);
        if (rc) {
            sim_failure_keep(&slot->failure, rc);
            return;
        }
    }
}

static void fill_slots(struct sim_stream *s, struct sim_sequence *q)
{
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->stop && (s->hold || s->next == s->first + s->slots))
            pthread_cond_wait(&s->changed, &s->lock);
        if (s->stop)
            break;
        const uint64_t number = s->next++;
        struct slot *slot = &s->slot[number % s->slots];
        s->busy++;
        pthread_mutex_unlock(&s->lock);
        make_block(s, slot, number, q);
        pthread_mutex_lock(&s->lock);
        slot->ready = true;
        s->busy--;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
}

static void *run_worker(void *argument)
{
    const struct worker worker = *(struct worker *)argument;
    free(argument);
    fill_slots(worker.stream, &worker.stream->sequence[worker.number]);
    return NULL;
}

static int start_threads(struct sim_stream *s)
{
    int rc = 0;
    for (; s->started < s->threads && !rc; s->started += !rc) {
        struct worker *worker = malloc(sizeof *worker);
        if (!worker) {
            rc = ORR_FAIL(ORR_ENOMEM, "sequences: out of memory");
            break;
        }
        *worker = (struct worker){s, s->started};
        const int failed = orr_thread_start(&s->thread[s->started], run_worker, worker);
        if (failed) {
            free(worker);
            rc = ORR_FAIL(ORR_ENOMEM, "sequences: cannot start a thread: %s", strerror(failed));
        }
    }
    return rc;
}

int sim_stream_open_blocks(struct sim_stream **stream, const struct orr_settings *settings,
                           enum sim_split split, const struct sim_stream_order *order, int threads,
                           int size, bool once)
{
    *stream = NULL;
    if (order->count == 0)
        return ORR_FAIL(ORR_EINVAL, "training data: the set \"%s\" is empty",
                        sim_split_name(split));
    struct sim_stream *s = calloc(1, sizeof *s);
    if (!s)
        return ORR_FAIL(ORR_ENOMEM, "sequences: out of memory");
    s->settings = settings;
    s->split = split;
    s->order = *order;
    s->size = size;
    s->once = once;
    s->slots = SLOTS + 2 * (size_t)threads;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->slot = calloc(s->slots, sizeof *s->slot);
    s->sequence = calloc((size_t)threads, sizeof *s->sequence);
    s->thread = calloc((size_t)threads, sizeof *s->thread);
    int rc =
        s->slot && s->sequence && s->thread ? 0 : ORR_FAIL(ORR_ENOMEM, "sequences: out of memory");
    for (; !rc && s->threads < threads; s->threads += !rc)
        rc = sim_sequence_create(&s->sequence[s->threads], settings, split);
    for (size_t i = 0; i < s->slots && !rc; i++)
        rc = sim_block_create(&s->slot[i].block, settings, split, size);
    if (rc) {
        sim_stream_close(s);
        return rc;
    }
    *stream = s;
    return 0;
}

int sim_stream_open(struct sim_stream **stream, const struct orr_settings *settings,
                    enum sim_split split, const struct sim_stream_order *order, int threads)
{
    return sim_stream_open_blocks(stream, settings, split, order, threads, SIM_STREAM_BLOCK, false);
}

void sim_stream_close(struct sim_stream *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (int t = 0; t < s->started; t++)
        pthread_join(s->thread[t], NULL);
    for (int t = 0; t < s->threads; t++)
        sim_sequence_free(&s->sequence[t]);
    for (size_t i = 0; s->slot && i < s->slots; i++)
        sim_block_free(&s->slot[i].block);
    free(s->slot);
    free(s->sequence);
    free(s->thread);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Frees the blocks before `number`; if it lies outside the ring, restarts the ring there. */
static void move_ring(struct sim_stream *s, uint64_t number)
{
    if (number >= s->first && number < s->first + s->slots) {
        if (number == s->first)
            return;
        for (; s->first < number; s->first++) {
            struct slot *slot = &s->slot[s->first % s->slots];
            while (s->first < s->next && !slot->ready) /* wait while a thread still makes it */
                pthread_cond_wait(&s->changed, &s->lock);
            slot->ready = false;
        }
        s->next = s->next < number ? number : s->next;
    } else {
        s->hold = true;
        while (s->busy > 0)
            pthread_cond_wait(&s->changed, &s->lock);
        for (size_t i = 0; i < s->slots; i++)
            s->slot[i].ready = false;
        s->first = s->next = number;
        s->hold = false;
    }
    pthread_cond_broadcast(&s->changed);
}

int sim_stream_take(struct sim_stream *s, uint64_t number, const struct sim_block **block)
{
    if (orr_signal_seen())
        return ORR_FAIL(ORR_EINTR, "stopped while making sequences");
    pthread_mutex_lock(&s->lock);
    if (s->started == 0) /* threads start with the first read */
        s->first = s->next = number;
    else
        move_ring(s, number);
    pthread_mutex_unlock(&s->lock);
    if (s->started < s->threads) {
        const int rc = start_threads(s);
        if (rc)
            return rc;
    }
    struct slot *slot = &s->slot[number % s->slots];
    pthread_mutex_lock(&s->lock);
    while (!slot->ready)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    *block = &slot->block;
    return sim_failure_raise(&slot->failure);
}

int sim_stream_draw(struct sim_stream *s, uint64_t d, const uint16_t **tokens, const float **coords,
                    int *bodies)
{
    const struct sim_block *block;
    const int rc = sim_stream_take(s, d / SIM_STREAM_BLOCK, &block);
    if (rc)
        return rc;
    const size_t k = (size_t)(d % SIM_STREAM_BLOCK);
    const void *obs = block->rows[SIM_KIND_OBS], *xy = block->rows[SIM_KIND_COORDS];
    *tokens = obs ? (const uint16_t *)obs + k * block->row[SIM_KIND_OBS] / sizeof **tokens : NULL;
    *coords = xy ? (const float *)xy + k * block->row[SIM_KIND_COORDS] / sizeof **coords : NULL;
    *bodies = block->rows[SIM_KIND_NUM_BODIES][k];
    return 0;
}

int sim_stream_checksum(const struct orr_settings *settings, int threads, bool quiet, uint64_t *sum)
{
    const struct sim_stream_order order = {.count = sim_split_count(settings, SIM_SPLIT_TRAIN)};
    const enum sim_kind kind =
        settings->orbits.output == ORR_OUTPUT_TOKENS ? SIM_KIND_OBS : SIM_KIND_COORDS;
    struct orr_progress progress;
    struct sim_stream *stream = NULL;
    XXH64_state_t *state = XXH64_createState();
    int rc = state ? 0 : ORR_FAIL(ORR_ENOMEM, "checksum: out of memory");
    if (!rc)
        rc = sim_stream_open_blocks(&stream, settings, SIM_SPLIT_TRAIN, &order, threads,
                                    CHECKSUM_BLOCK, true);
    if (!rc)
        XXH64_reset(state, 0);
    orr_progress_init(&progress, "checksum", order.count, quiet);
    for (uint64_t done = 0, number = 0; done < order.count && !rc; number++) {
        const struct sim_block *block;
        rc = sim_stream_take(stream, number, &block);
        if (rc)
            break;
        XXH64_update(state, block->rows[kind], (size_t)block->count * block->row[kind]);
        done += (uint64_t)block->count;
        orr_progress_set(&progress, done, NULL);
    }
    orr_progress_end(&progress, NULL);
    if (!rc)
        *sum = XXH64_digest(state);
    sim_stream_close(stream);
    XXH64_freeState(state);
    return rc;
}
