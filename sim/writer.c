/* writer.c - writing data sets: threads make blocks of sequences in place, a bounded number ahead;
 * this thread hashes and writes them in order. Bytes depend neither on threads nor on
 * interruptions, and sets may exceed memory. */
#include "dataset.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

/* Bytes of a block: small enough to be in a cache when it is hashed and written. */
enum { BLOCK_BYTES = 1 << 19, BLOCK_MOST = 1024 };

struct writer {
    const struct orr_preset *preset;
    const char *dir;
    enum sim_split split;
    uint64_t n, shards, per_shard; /* sequences; files */
    int part, parts;               /* which shards: every parts-th from `part` on */
    struct sim_parts *others;      /* whose shards are taken over, NULL: none */
    int threads;
    bool used[SIM_KINDS];
    cJSON *sets, *set;               /* of the manifest */
    struct orr_file file[SIM_KINDS]; /* of the shard in work */
    struct sim_tally tally;          /* of it so far */
    struct commit *commit;           /* the shard before, on its way to the disk; or NULL */
};

/* ------------------------------------------------------------------------------ one shard */

static uint64_t shard_size(const struct writer *w, uint64_t shard)
{
    const uint64_t first = shard * w->per_shard;
    return w->n - first < w->per_shard ? w->n - first : w->per_shard;
}

static int open_shard(struct writer *w, uint64_t shard)
{
    int rc = 0;
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++) {
        const struct sim_array *array = &sim_arrays[kind];
        char path[4096], name[SIM_NAME];
        if (!w->used[kind])
            continue;
        const size_t shape[3] = {shard_size(w, shard),
                                 (size_t)sim_split_positions(w->preset, w->split), array->cols};
        sim_shard_name(name, (enum sim_kind)kind, w->split, shard, w->shards);
        rc = orr_path(path, "%s/%s", w->dir, name);
        if (!rc)
            rc = orr_file_create(&w->file[kind], path);
        if (!rc)
            rc = orr_npy_write_header(&w->file[kind], array->dtype, array->cols ? 3 : 1, shape);
    }
    return rc;
}

/* A shard whose rows are all written. It is synced by a thread of its own: the disk works on it
 * while the next one is made. Only this thread touches the manifest's JSON until it is joined. */
struct commit {
    struct writer *w;
    uint64_t shard;
    struct sim_tally tally;
    struct orr_file file[SIM_KINDS];
    struct sim_failure failure;
    pthread_t thread;
};

/* The shard, whose files the set lists, is written: its sequences count, and the progress file says
 * so. */
static int count_shard(struct writer *w, uint64_t shard, const struct sim_tally *tally)
{
    cJSON *done = cJSON_GetObjectItemCaseSensitive(w->set, "sequences");
    cJSON *clipped = cJSON_GetObjectItemCaseSensitive(w->set, "clipped_coordinates");
    cJSON *redrawn = cJSON_GetObjectItemCaseSensitive(w->set, "redrawn_systems");
    cJSON_SetNumberValue(done, done->valuedouble + (double)shard_size(w, shard));
    cJSON_SetNumberValue(clipped, clipped->valuedouble + (double)tally->clipped);
    if (redrawn)
        cJSON_SetNumberValue(redrawn, redrawn->valuedouble + (double)tally->redrawn);
    if (w->parts > 1)
        sim_part_note(w->set, shard, tally);
    if (done->valuedouble >= (double)w->n)
        cJSON_DeleteItemFromObjectCaseSensitive(w->set, "planned"); /* finished */
    return sim_progress_write(w->preset, w->dir, w->sets);
}

/* The shard gets its names, then its lines in the progress file. */
static int commit_shard(struct commit *c)
{
    struct writer *w = c->w;
    int rc = 0;
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++)
        if (w->used[kind])
            rc = orr_file_commit(&c->file[kind]);
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++) {
        char name[SIM_NAME];
        if (!w->used[kind])
            continue;
        sim_shard_name(name, (enum sim_kind)kind, w->split, c->shard, w->shards);
        sim_manifest_add(w->set, name, c->file[kind].bytes, c->file[kind].checksum);
    }
    for (int kind = 0; kind < SIM_KINDS; kind++)
        orr_file_close(&c->file[kind]);
    return rc ? rc : count_shard(w, c->shard, &c->tally);
}

static void *run_commit(void *argument)
{
    struct commit *c = argument;
    const int rc = commit_shard(c);
    if (rc)
        sim_failure_keep(&c->failure, rc);
    return NULL;
}

/* Waits for the shard before; its error. */
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
    memcpy(c->file, w->file, sizeof c->file); /* they are the other thread's now */
    memset(w->file, 0, sizeof w->file);
    w->tally = (struct sim_tally){0};
    if (pthread_create(&c->thread, NULL, run_commit, c) == 0) {
        w->commit = c;
        return 0;
    }
    const int alone = commit_shard(c);
    free(c);
    return alone;
}

/* Entries from .. to - 1 of a block, all of one shard. */
static int write_rows(struct writer *w, const struct sim_block *block, int from, int to)
{
    const uint64_t first = block->first + (uint64_t)from, shard = first / w->per_shard;
    int rc = first % w->per_shard == 0 ? open_shard(w, shard) : 0;
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++)
        if (w->used[kind])
            rc = orr_file_write(&w->file[kind], block->rows[kind] + (size_t)from * block->row[kind],
                                (size_t)(to - from) * block->row[kind]);
    if (rc)
        return rc;
    for (int k = from; k < to; k++) {
        w->tally.clipped += block->tally[k].clipped;
        w->tally.redrawn += block->tally[k].redrawn;
    }
    const uint64_t end = block->first + (uint64_t)to;
    return end == shard * w->per_shard + shard_size(w, shard) ? finish_shard(w, shard) : 0;
}

/* ------------------------------------------------------------------------------ one set */

/* Sequences of a block. */
static int block_size(const struct writer *w)
{
    size_t bytes = 1;
    for (int kind = 0; kind < SIM_KINDS; kind++)
        if (w->used[kind])
            bytes += sim_kind_bytes((enum sim_kind)kind, sim_split_positions(w->preset, w->split));
    const size_t fit = BLOCK_BYTES / bytes;
    return fit < 1 ? 1 : fit < BLOCK_MOST ? (int)fit : BLOCK_MOST;
}

/* Sequences from `at` to end - 1, whole shards. */
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
            continue; /* says where */
        if (rc)
            return rc; /* there is no block */
        for (int from = (int)(at % size), to;
             from < block->count && block->first + (uint64_t)from < end && !rc; from = to) {
            const uint64_t room = w->per_shard - (block->first + (uint64_t)from) % w->per_shard;
            to = room < (uint64_t)(block->count - from) ? from + (int)room : block->count;
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

/* Entries of the sets that are to be made, none of their files written yet. */
static int plan_sets(const struct orr_preset *preset, cJSON *sets)
{
    int rc = 0;
    for (int i = 0; i < SIM_SPLITS && !rc; i++) {
        const char *name = sim_split_name((enum sim_split)i);
        const uint64_t n = sim_split_written(preset, (enum sim_split)i);
        char digest[ORR_DIGEST];
        cJSON *made = NULL;
        if (n == 0 || cJSON_HasObjectItem(sets, name))
            continue;
        cJSON *set = cJSON_AddObjectToObject(sets, name);
        rc = orr_set_made(preset, name, digest, &made);
        if (!rc && !cJSON_AddItemToObject(set, "made", made)) {
            cJSON_Delete(made);
            rc = ORR_FAIL(ORR_ENOMEM, "data set %s: out of memory", name);
        }
        cJSON_AddObjectToObject(set, "files");
        cJSON_AddNumberToObject(set, "sequences", 0);
        cJSON_AddNumberToObject(set, "clipped_coordinates", 0);
        char unused[256];
        if (!orr_preset_unused(preset, "orbits.encounters", unused))
            cJSON_AddNumberToObject(set, "redrawn_systems", 0);
        cJSON_AddNumberToObject(set, "planned", (double)n);
    }
    return rc;
}

static int write_range(struct writer *w, uint64_t from, uint64_t end, struct orr_progress *progress)
{
    const struct sim_stream_order order = {.count = w->n};
    struct sim_stream *stream = NULL;
    const int size = block_size(w);
    int rc = sim_stream_open_blocks(&stream, w->preset, w->split, &order, w->threads, size, true);
    if (!rc)
        rc = write_blocks(w, stream, (uint64_t)size, from, end, progress);
    sim_stream_close(stream);
    if (rc && w->commit) { /* the first error is told; a shard that is whole stays */
        struct sim_failure first;
        sim_failure_keep(&first, rc);
        (void)wait_commit(w);
        rc = sim_failure_raise(&first);
    } else if (!rc) {
        rc = wait_commit(w);
    }
    for (int kind = 0; kind < SIM_KINDS; kind++)
        orr_file_close(&w->file[kind]); /* of a shard that was not finished: goes away */
    return rc;
}

/* Whether the shard is to be made here: it is of this part, and not there yet. */
static bool is_mine(const struct writer *w, uint64_t shard)
{
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(w->set, "files");
    char name[SIM_NAME];
    if (shard % (uint64_t)w->parts != (uint64_t)w->part)
        return false;
    for (int kind = 0; kind < SIM_KINDS; kind++) {
        sim_shard_name(name, (enum sim_kind)kind, w->split, shard, w->shards);
        if (w->used[kind] && !cJSON_HasObjectItem(files, name))
            return true;
    }
    return false;
}

/* Takes the shard over from a part that has it. */
static int adopt(struct writer *w, uint64_t shard, struct orr_progress *progress, bool *adopted)
{
    struct sim_tally tally;
    if (orr_signal_seen()) /* files are read for their sums, which takes its time */
        return ORR_FAIL(ORR_EINTR, "stopped while putting %s together; run the same command again",
                        w->dir);
    TRY(sim_parts_adopt(w->others, w->split, w->used, shard, w->shards, progress, w->set, &tally,
                        adopted));
    if (!*adopted)
        return 0;
    orr_progress_set(progress, progress->done + shard_size(w, shard), NULL);
    return count_shard(w, shard, &tally);
}

static void set_layout(struct writer *w)
{
    w->shards = sim_shard_count(w->preset, w->n);
    w->per_shard = w->shards == 1 ? w->n : (uint64_t)w->preset->orbits.shard_sequences;
    for (int kind = 0; kind < SIM_KINDS; kind++)
        w->used[kind] = sim_kind_used((enum sim_kind)kind, w->split,
                                      w->preset->orbits.output == ORR_OUTPUT_TOKENS);
    w->set = cJSON_GetObjectItemCaseSensitive(w->sets, sim_split_name(w->split));
}

/* Shards in order: those of others are taken over, runs of such as are to be made are made. */
static int write_split(struct writer *w, struct orr_progress *progress)
{
    int rc = 0;
    set_layout(w);
    if (!cJSON_HasObjectItem(w->set, "planned")) /* whole */
        return 0;
    for (uint64_t shard = 0, end; shard < w->shards && !rc; shard = end) {
        bool adopted = false;
        end = shard + 1;
        if (!is_mine(w, shard)) { /* there already, or of another part */
            if (shard % (uint64_t)w->parts == (uint64_t)w->part)
                orr_progress_set(progress, progress->done + shard_size(w, shard), NULL);
            continue;
        }
        if (w->others)
            rc = adopt(w, shard, progress, &adopted);
        if (rc || adopted)
            continue;
        while (end < w->shards && is_mine(w, end) &&
               !(w->others && sim_parts_have(w->others, w->split, w->used, end, w->shards)))
            end++;
        const uint64_t last = end * w->per_shard < w->n ? end * w->per_shard : w->n;
        rc = write_range(w, shard * w->per_shard, last, progress);
    }
    return rc;
}

/* ------------------------------------------------------------------------------ all sets */

/* One writer at a time. */
static int lock_folder(const char *dir, int *fd)
{
    return orr_lock(dir, "writing data sets", ORR_LOCK_WAIT_S, fd);
}

static int remove_file(const char *dir, const char *name)
{
    char path[4096];
    int rc = orr_path(path, "%s/%s", dir, name);
    if (!rc && unlink(path) && errno != ENOENT)
        rc = ORR_FAIL(ORR_EIO, "%s: cannot replace: %s", path, strerror(errno));
    return rc;
}

static int remove_files(const char *dir, const cJSON *set)
{
    const cJSON *file;
    enum sim_kind kind;
    enum sim_split split;
    int rc = 0;
    cJSON_ArrayForEach (file, cJSON_GetObjectItemCaseSensitive(set, "files"))
        if (!rc && sim_name_parse(file->string, false, &kind, &split)) /* no other was ours */
            rc = remove_file(dir, file->string);
    return rc;
}

/* From here on nothing looks complete, what is not of these sets is gone, and the next run knows
 * where to go on. In this order, so that it holds at every instant. */
static int begin(const struct orr_preset *preset, const struct sim_inventory *before,
                 const cJSON *sets)
{
    const char *dir = before->dir;
    const cJSON *set;
    int rc = 0;
    cJSON_ArrayForEach (set, before->sets) /* broken ones that nobody asks for */
        if (!rc && !cJSON_HasObjectItem(sets, set->string))
            rc = remove_files(dir, set);
    if (!rc)
        rc = sim_progress_write(preset, dir, sets);
    if (!rc)
        rc = remove_file(dir, "manifest.json");
    return rc ? rc : sim_stale_remove(dir, sets);
}

/* The sets are always in the same order, whichever of them were made anew. */
static int write_manifest(const struct orr_preset *preset, const char *dir, const cJSON *sets)
{
    char path[4096];
    cJSON *json = sim_manifest_create(preset), *all = cJSON_Duplicate(sets, true);
    for (int i = 0; i < SIM_SPLITS; i++) {
        const char *name = sim_split_name((enum sim_split)i);
        cJSON *set = cJSON_DetachItemFromObjectCaseSensitive(all, name);
        if (set)
            cJSON_AddItemToObject(all, name, set);
    }
    cJSON_ReplaceItemInObjectCaseSensitive(json, "sets", all);
    int rc = orr_path(path, "%s/manifest.json", dir);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc ? rc : remove_file(dir, "progress.json");
}

static int write_all(const struct writer *first, const struct sim_inventory *before, bool quiet)
{
    const struct orr_preset *preset = first->preset;
    const char *dir = first->dir;
    cJSON *sets = first->sets;
    struct orr_progress progress;
    uint64_t total = 0, there = 0;
    double clipped = 0, redrawn = 0;
    const cJSON *set;
    for (int i = 0; i < SIM_SPLITS; i++) {
        struct writer w = *first;
        w.split = (enum sim_split)i;
        w.n = sim_split_written(preset, w.split);
        const uint64_t wanted = sim_part_share(preset, w.n, w.part, w.parts);
        set = cJSON_GetObjectItemCaseSensitive(sets, sim_split_name((enum sim_split)i));
        const cJSON *found = cJSON_GetObjectItemCaseSensitive(set, "sequences");
        const uint64_t done = cJSON_IsNumber(found) ? (uint64_t)found->valuedouble : 0;
        total += done < wanted ? wanted : 0; /* whole sets are no work, in whole or in part */
        there += done < wanted ? done : 0;
    }
    if (there > 0)
        orr_note(quiet, "orbits: %s: going on after %llu sequences", dir,
                 (unsigned long long)there);
    orr_progress_init(&progress, "orbits", total, quiet);
    int rc = plan_sets(preset, sets);
    if (!rc)
        rc = begin(preset, before, sets);
    for (int i = 0; i < SIM_SPLITS && !rc; i++) {
        struct writer w = *first;
        w.split = (enum sim_split)i;
        w.n = sim_split_written(preset, w.split);
        if (w.n > 0)
            rc = write_split(&w, &progress);
    }
    cJSON_ArrayForEach (set, sets) {
        const cJSON *again = cJSON_GetObjectItemCaseSensitive(set, "redrawn_systems");
        clipped += cJSON_GetObjectItemCaseSensitive(set, "clipped_coordinates")->valuedouble;
        redrawn += cJSON_IsNumber(again) ? again->valuedouble : 0;
    }
    char summary[160];
    int used = snprintf(summary, sizeof summary,
                        "%llu sequences, %.0f per second, %.0f clipped coordinates",
                        (unsigned long long)total,
                        (double)(total - there) / (orr_time_s() - progress.start_s), clipped);
    if (redrawn > 0)
        snprintf(summary + used, sizeof summary - (size_t)used, ", %.0f systems drawn again",
                 redrawn);
    orr_progress_end(&progress, rc ? NULL : summary);
    if (rc || first->parts > 1) /* a part vouches for no set */
        return rc;
    return write_manifest(preset, dir, sets);
}

/* Without one finished file there is nothing to go on with. */
static void forget_empty(const char *dir)
{
    char path[4096];
    if (sim_folder_bytes(dir) <= 0 && !orr_path(path, "%s/progress.json", dir))
        (void)unlink(path);
}

/* What is there, and what stays of it, in a folder that may be written to. Close the inventory and
 * delete *sets also after an error. */
static int keep_sets(const struct orr_preset *preset, const char *dir, bool force,
                     struct sim_inventory *before, cJSON **sets)
{
    char foreign[SIM_NAME];
    *sets = NULL;
    int rc = sim_inventory_open(before, preset, dir, force);
    if (!rc)
        rc = sim_inventory_foreign(before, foreign);
    if (!rc && *foreign)
        rc = ORR_FAIL(ORR_EIO,
                      "%s/%s: there, but not listed in manifest.json: made elsewhere and not "
                      "overwritten; choose another --out, or delete it",
                      dir, foreign);
    return rc ? rc : sim_inventory_keep(before, force, sets);
}

int sim_dataset_may_write(const struct orr_preset *preset, const char *dir, bool force)
{
    struct sim_inventory before;
    cJSON *sets;
    const int rc = keep_sets(preset, dir, force, &before, &sets);
    cJSON_Delete(sets);
    sim_inventory_close(&before);
    return rc;
}

/* parts == 1: all of it, with what parts there are. */
static int write_folder(const struct orr_preset *preset, const char *dir, int part, int parts,
                        int threads, bool force, bool quiet)
{
    struct sim_inventory before;
    struct sim_parts *others = NULL;
    cJSON *sets = NULL;
    int fd, rc = orr_mkdir(dir);
    if (!rc)
        rc = lock_folder(dir, &fd);
    if (rc)
        return rc;
    rc = keep_sets(preset, dir, force, &before, &sets);
    if (!rc && parts == 1)
        rc = sim_parts_open(preset, dir, &others);
    if (!rc) {
        const struct writer w = {.preset = preset,
                                 .dir = dir,
                                 .threads = threads,
                                 .sets = sets,
                                 .part = part,
                                 .parts = parts,
                                 .others = others};
        rc = write_all(&w, &before, quiet);
        if (rc)
            forget_empty(dir);
    }
    if (!rc)
        sim_parts_tidy(others, preset, quiet);
    sim_parts_close(others);
    cJSON_Delete(sets);
    sim_inventory_close(&before);
    orr_unlock(fd);
    return rc;
}

int sim_dataset_write(const struct orr_preset *preset, const char *dir, int threads, bool force,
                      bool quiet)
{
    return write_folder(preset, dir, 0, 1, threads, force, quiet);
}

int sim_dataset_write_part(const struct orr_preset *preset, const char *dir, int part, int parts,
                           int threads, bool force, bool quiet)
{
    char own[4096];
    if (parts == 1) /* a part vouches for no set, and this one has them all */
        return sim_dataset_write(preset, dir, threads, force, quiet);
    TRY(sim_part_path(own, dir, part, parts));
    TRY(write_folder(preset, own, part, parts, threads, force, quiet));
    orr_note(quiet,
             "orbits: part %d of %d is there; without --part, bin/orbits puts all parts together",
             part + 1, parts);
    return 0;
}

int sim_dataset_tidy(const char *dir)
{
    char path[4096];
    cJSON *json = NULL;
    int fd, rc = orr_path(path, "%s/manifest.json", dir);
    if (!rc)
        rc = lock_folder(dir, &fd);
    if (rc)
        return rc;
    rc = orr_json_read(path, &json);
    if (!rc)
        rc = remove_file(dir, "progress.json");
    if (!rc)
        rc = sim_stale_remove(dir, cJSON_GetObjectItemCaseSensitive(json, "sets"));
    cJSON_Delete(json);
    orr_unlock(fd);
    return rc;
}
