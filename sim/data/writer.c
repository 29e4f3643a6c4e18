/* writer.c - writes data sets: threads make blocks of sequences in place, a bounded number ahead;
 * the calling thread hashes and writes them in order. The bytes depend neither on threads nor on
 * interruptions, and sets may exceed memory. */
#include "sim/data/dataset.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Bytes of a block, small enough to stay in the cache until it is hashed and written. */
enum { BLOCK_BYTES = 1 << 19, BLOCK_MOST = 1024 };

struct writer {
    const struct orr_settings *settings;
    const char *dir;
    enum sim_split split;
    uint64_t n, shards; /* sequences; files per kind */
    uint64_t per_shard; /* sequences per shard, except the last */
    int part, parts;    /* this call's shards: every parts-th from `part` on */
    int threads;
    bool tokens, used[SIM_KINDS];
    const cJSON *sets, *set;         /* existing sets of the folder; set of the split */
    struct orr_file file[SIM_KINDS]; /* of the shard being written */
    struct sim_tally tally, all;     /* of this shard so far; of all shards of this call */
    struct commit *commit;           /* the previous shard, being synced; or NULL */
};

/* ------------------------------------------------------------------------------ one shard */

static int open_shard(struct writer *w, uint64_t shard)
{
    int rc = 0;
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++) {
        const size_t cols = sim_kind_cols((enum sim_kind)kind, w->settings->orbits.dimensions);
        char path[4096], name[SIM_NAME];
        if (!w->used[kind])
            continue;
        const size_t shape[3] = {sim_shard_size(w->settings, w->n, shard),
                                 (size_t)sim_split_positions(w->settings, w->split), cols};
        sim_shard_name(name, (enum sim_kind)kind, w->split, shard, w->shards);
        rc = orr_path(path, "%s/%s", w->dir, name);
        if (!rc)
            rc = orr_file_create(&w->file[kind], path);
        if (!rc)
            rc = orr_npy_write_header(&w->file[kind], sim_arrays[kind].dtype, cols ? 3 : 1, shape);
    }
    return rc;
}

/* A shard whose rows are all written. A separate thread syncs it to disk while the next shard is
 * made. */
struct commit {
    const struct writer *w;
    uint64_t shard;
    struct sim_tally tally;
    struct orr_file file[SIM_KINDS];
    struct sim_failure failure;
    pthread_t thread;
};

/* Writes the record of a shard whose files exist (records.c). */
static int write_record(const struct commit *c)
{
    const struct writer *w = c->w;
    char name[SIM_NAME], path[4096];
    const char *digest = cJSON_GetStringValue(orr_json_get(w->set, "digest"));
    cJSON *record = cJSON_CreateObject();
    cJSON_AddStringToObject(record, "digest", digest ? digest : "");
    cJSON_AddObjectToObject(record, "files");
    for (int kind = 0; kind < SIM_KINDS; kind++) {
        if (!w->used[kind])
            continue;
        sim_shard_name(name, (enum sim_kind)kind, w->split, c->shard, w->shards);
        sim_manifest_add(record, name, c->file[kind].bytes, c->file[kind].checksum);
    }
    cJSON_AddNumberToObject(record, "sequences",
                            (double)sim_shard_size(w->settings, w->n, c->shard));
    cJSON_AddNumberToObject(record, "clipped_coordinates", (double)c->tally.clipped);
    if (cJSON_HasObjectItem(w->set, "redrawn_systems"))
        cJSON_AddNumberToObject(record, "redrawn_systems", (double)c->tally.redrawn);
    sim_record_name(name, &(struct sim_shard){w->split, c->shard, w->shards});
    int rc = orr_path(path, "%s/%s", w->dir, name);
    if (!rc)
        rc = orr_json_write(path, record);
    cJSON_Delete(record);
    return rc;
}

/* Renames the shard's files to their final names, then writes its record. */
static int commit_shard(struct commit *c)
{
    int rc = 0;
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++)
        if (c->w->used[kind])
            rc = orr_file_commit(&c->file[kind]);
    if (!rc)
        rc = write_record(c);
    for (int kind = 0; kind < SIM_KINDS; kind++)
        orr_file_close(&c->file[kind]);
    return rc;
}

static void *run_commit(void *argument)
{
    struct commit *c = argument;
    const int rc = commit_shard(c);
    if (rc)
        sim_failure_keep(&c->failure, rc);
    return NULL;
}

/* Waits for the previous shard and returns its error. */
static int wait_commit(struct writer *w)
{
    if (!w->commit)
        return 0;
    pthread_join(w->commit->thread, NULL);
    const int rc = sim_failure_raise(&w->commit->failure);
    free(w->commit);
    w->commit = NULL;
    return rc;
}

static int finish_shard(struct writer *w, uint64_t shard)
{
    const int rc = wait_commit(w);
    if (rc)
        return rc;
    struct commit *c = calloc(1, sizeof *c);
    if (!c)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", w->dir);
    c->w = w;
    c->shard = shard;
    c->tally = w->tally;
    memcpy(c->file, w->file, sizeof c->file); /* now owned by the other thread */
    memset(w->file, 0, sizeof w->file);
    w->all.clipped += w->tally.clipped;
    w->all.redrawn += w->tally.redrawn;
    w->tally = (struct sim_tally){0};
    if (pthread_create(&c->thread, NULL, run_commit, c) == 0) {
        w->commit = c;
        return 0;
    }
    const int alone = commit_shard(c);
    free(c);
    return alone;
}

/* Writes entries from .. to - 1 of a block, all of one shard. */
static int write_rows(struct writer *w, const struct sim_block *block, int from, int to)
{
    const uint64_t first = block->first + (uint64_t)from, shard = first / w->per_shard;
    TRY(first % w->per_shard == 0 ? open_shard(w, shard) : 0);
    for (int kind = 0; kind < SIM_KINDS; kind++)
        if (w->used[kind])
            TRY(orr_file_write(&w->file[kind], block->rows[kind] + (size_t)from * block->row[kind],
                               (size_t)(to - from) * block->row[kind]));
    for (int k = from; k < to; k++) {
        w->tally.clipped += block->tally[k].clipped;
        w->tally.redrawn += block->tally[k].redrawn;
    }
    const uint64_t end = block->first + (uint64_t)to;
    return end % w->per_shard == 0 || end == w->n ? finish_shard(w, shard) : 0;
}

/* ----------------------------------------------------------------------- one set, all sets */

/* The number of sequences in a block. */
static int block_size(const struct writer *w)
{
    size_t bytes = 1;
    for (int kind = 0; kind < SIM_KINDS; kind++)
        if (w->used[kind])
            bytes += sim_kind_bytes((enum sim_kind)kind, sim_split_positions(w->settings, w->split),
                                    w->settings->orbits.dimensions);
    const size_t fit = BLOCK_BYTES / bytes;
    return fit < 1 ? 1 : fit < BLOCK_MOST ? (int)fit : BLOCK_MOST;
}

/* Writes sequences at .. end - 1, which are whole shards. */
static int write_blocks(struct writer *w, struct sim_stream *stream, uint64_t size, uint64_t at,
                        uint64_t end, struct orr_progress *progress)
{
    while (at < end) {
        const struct sim_block *block;
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped while writing %s; run the same command again",
                            w->dir);
        int rc = sim_stream_take(stream, at / size, &block);
        if (rc == ORR_EINTR)
            continue; /* reported above */
        if (rc)
            return rc; /* there is no block */
        for (int from = (int)(at % size), to;
             from < block->count && block->first + (uint64_t)from < end && !rc; from = to) {
            const uint64_t left = w->per_shard - (block->first + (uint64_t)from) % w->per_shard;
            to = left < (uint64_t)(block->count - from) ? from + (int)left : block->count;
            rc = write_rows(w, block, from, to);
        }
        if (rc)
            return rc;
        uint64_t next = block->first + (uint64_t)block->count;
        next = next < end ? next : end;
        orr_progress_set(progress, progress->done + (next - at), sim_split_name(w->split));
        at = next;
    }
    return 0;
}

static int write_range(struct writer *w, uint64_t from, uint64_t end, struct orr_progress *progress)
{
    const struct sim_stream_order order = {.count = w->n};
    struct sim_stream *stream = NULL;
    const int size = block_size(w);
    int rc = sim_stream_open_blocks(&stream, w->settings, w->split, &order, w->threads, size, true);
    if (!rc)
        rc = write_blocks(w, stream, (uint64_t)size, from, end, progress);
    sim_stream_close(stream);
    if (rc && w->commit) { /* report the first error; a complete shard stays */
        struct sim_failure first;
        sim_failure_keep(&first, rc);
        (void)wait_commit(w);
        rc = sim_failure_raise(&first);
    } else if (!rc) {
        rc = wait_commit(w);
    }
    for (int kind = 0; kind < SIM_KINDS; kind++)
        orr_file_close(&w->file[kind]); /* removes unfinished files */
    return rc;
}

/* Whether this call makes the shard: it belongs to this part and does not exist. */
static bool is_to_be_made(const struct writer *w, uint64_t shard)
{
    return shard < w->shards && shard % (uint64_t)w->parts == (uint64_t)w->part &&
           !sim_set_has(w->set, &(struct sim_shard){w->split, shard, w->shards}, w->tokens);
}

/* Selects a split and its layout; returns whether the set is unfinished. */
static bool select_split(struct writer *w, enum sim_split split)
{
    w->split = split;
    w->n = sim_split_written(w->settings, split);
    w->shards = sim_shard_count(w->settings, w->n);
    w->per_shard = sim_shard_size(w->settings, w->n, 0);
    for (int kind = 0; kind < SIM_KINDS; kind++)
        w->used[kind] = sim_kind_used((enum sim_kind)kind, split, w->tokens);
    w->set = orr_json_get(w->sets, sim_split_name(split));
    return w->n > 0 && cJSON_HasObjectItem(w->set, "planned");
}

/* Writes the missing shards in order; each run of consecutive ones is one stream. */
static int write_split(struct writer *w, struct orr_progress *progress)
{
    int rc = 0;
    for (uint64_t shard = 0, end; shard < w->shards && !rc; shard = end) {
        end = shard + 1;
        if (!is_to_be_made(w, shard))
            continue;
        while (is_to_be_made(w, end))
            end++;
        const uint64_t last = end * w->per_shard < w->n ? end * w->per_shard : w->n;
        rc = write_range(w, shard * w->per_shard, last, progress);
    }
    return rc;
}

/* Counts this part's sequences in unfinished sets, and how many of them exist. */
static void count_sequences(struct writer *w, uint64_t *total, uint64_t *there)
{
    *total = *there = 0;
    for (int i = 0; i < SIM_SPLITS; i++)
        for (uint64_t shard = (uint64_t)w->part;
             select_split(w, (enum sim_split)i) && shard < w->shards; shard += (uint64_t)w->parts) {
            const uint64_t size = sim_shard_size(w->settings, w->n, shard);
            *total += size;
            *there += is_to_be_made(w, shard) ? 0 : size;
        }
}

/* The summary line: counts of existing sequences and of those made here. */
static void summarise_sets(const struct writer *w, uint64_t total, double per_s, char summary[160])
{
    double clipped = (double)w->all.clipped, redrawn = (double)w->all.redrawn;
    const cJSON *set;
    cJSON_ArrayForEach (set, w->sets) {
        const double again = orr_json_number(set, "redrawn_systems");
        clipped += orr_json_number(set, "clipped_coordinates");
        redrawn += again > 0 ? again : 0;
    }
    snprintf(summary, 160, "%llu sequences, %.0f per second, %.0f clipped coordinates",
             (unsigned long long)total, per_s, clipped);
    if (redrawn > 0)
        orr_append(summary, 160, ", %.0f systems drawn again", redrawn);
}

int sim_shards_write(const struct orr_settings *settings, const char *dir, const cJSON *sets,
                     int part, int parts, int threads, bool quiet)
{
    struct writer w = {.settings = settings,
                       .dir = dir,
                       .sets = sets,
                       .part = part,
                       .parts = parts,
                       .threads = threads,
                       .tokens = settings->orbits.output == ORR_OUTPUT_TOKENS};
    struct orr_progress progress;
    uint64_t total, done;
    char summary[160];
    int rc = 0;
    count_sequences(&w, &total, &done);
    if (done > 0)
        orr_note(quiet, "orbits: %s: continuing after %llu sequences", dir,
                 (unsigned long long)done);
    orr_progress_init(&progress, "orbits", total, quiet);
    progress.done = done;
    for (int i = 0; i < SIM_SPLITS && !rc; i++)
        if (select_split(&w, (enum sim_split)i))
            rc = write_split(&w, &progress);
    summarise_sets(&w, total, (double)(total - done) / (orr_time_s() - progress.start_s), summary);
    orr_progress_end(&progress, rc ? NULL : summary);
    return rc;
}
