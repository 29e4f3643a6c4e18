/* writer.c - writing data sets: threads make blocks of sequences in place, a bounded number ahead;
 * this thread hashes and writes them in order. Bytes depend neither on threads nor on
 * interruptions, and sets may exceed memory. Processes write side by side: each makes the shards of
 * its part, and whoever finds that all are there writes the manifest. */
#include "sim/data/dataset.h"

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
    uint64_t n, shards; /* sequences; files per kind */
    uint64_t per_shard; /* sequences of every shard but the last */
    int part, parts;    /* which shards: every parts-th from `part` on */
    int threads;
    bool tokens, used[SIM_KINDS];
    const cJSON *sets, *set;         /* what is there: of the folder, of the split */
    struct orr_file file[SIM_KINDS]; /* of the shard in work */
    struct sim_tally tally;          /* of it so far */
    struct commit *commit;           /* the shard before, on its way to the disk; or NULL */
};

/* ------------------------------------------------------------------------------ one shard */

static int open_shard(struct writer *w, uint64_t shard)
{
    int rc = 0;
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++) {
        const struct sim_array *array = &sim_arrays[kind];
        char path[4096], name[SIM_NAME];
        if (!w->used[kind])
            continue;
        const size_t shape[3] = {sim_shard_size(w->preset, w->n, shard),
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
 * while the next one is made. */
struct commit {
    const struct writer *w;
    uint64_t shard;
    struct sim_tally tally;
    struct orr_file file[SIM_KINDS];
    struct sim_failure failure;
    pthread_t thread;
};

/* The shard's files are there: its record counts them (records.c). */
static int write_record(const struct commit *c)
{
    const struct writer *w = c->w;
    char name[SIM_NAME], path[4096];
    const char *digest =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(w->set, "digest"));
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
                            (double)sim_shard_size(w->preset, w->n, c->shard));
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

/* The shard's files get their names, then it gets its record. */
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
    return end == shard * w->per_shard + sim_shard_size(w->preset, w->n, shard) ? finish_shard(w, shard) : 0;
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

/* A set that is to be made, none of its shards written yet: its records add files and counts. */
static int plan_set(const struct orr_preset *preset, cJSON *plan, enum sim_split split)
{
    const char *name = sim_split_name(split);
    const uint64_t n = sim_split_written(preset, split);
    char digest[ORR_DIGEST], unused[256];
    cJSON *made = NULL, *set = cJSON_GetObjectItemCaseSensitive(plan, name);
    if (n == 0 || (set && (!cJSON_HasObjectItem(set, "planned") ||
                           cJSON_HasObjectItem(set, "digest"))))
        return 0;
    TRY(orr_set_made(preset, name, digest, &made));
    if (!set) {
        set = cJSON_AddObjectToObject(plan, name);
        if (!cJSON_AddItemToObject(set, "made", made)) {
            cJSON_Delete(made);
            return ORR_FAIL(ORR_ENOMEM, "data set %s: out of memory", name);
        }
        cJSON_AddObjectToObject(set, "files");
        cJSON_AddNumberToObject(set, "sequences", 0);
        cJSON_AddNumberToObject(set, "clipped_coordinates", 0);
        if (!orr_preset_unused(preset, "orbits.encounters", unused))
            cJSON_AddNumberToObject(set, "redrawn_systems", 0);
        cJSON_AddNumberToObject(set, "planned", (double)n);
    } else {
        cJSON_Delete(made); /* an earlier version planned it, without a digest */
    }
    cJSON_AddStringToObject(set, "digest", digest);
    return 0;
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
static bool is_to_be_made(const struct writer *w, uint64_t shard)
{
    return shard < w->shards && shard % (uint64_t)w->parts == (uint64_t)w->part &&
           !sim_set_has(w->set, &(struct sim_shard){w->split, shard, w->shards}, w->tokens);
}

/* The split's layout; whether the set is in the making. */
static bool select_split(struct writer *w, enum sim_split split)
{
    w->split = split;
    w->n = sim_split_written(w->preset, split);
    w->shards = sim_shard_count(w->preset, w->n);
    w->per_shard = sim_shard_size(w->preset, w->n, 0);
    for (int kind = 0; kind < SIM_KINDS; kind++)
        w->used[kind] = sim_kind_used((enum sim_kind)kind, split, w->tokens);
    w->set = cJSON_GetObjectItemCaseSensitive(w->sets, sim_split_name(split));
    return w->n > 0 && cJSON_HasObjectItem(w->set, "planned");
}

/* Shards in order: each run of such as are to be made is one stream. */
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

/* Sequences of this part in the sets that are in the making, and how many of them are there. */
static void count_sequences(struct writer *w, uint64_t *total, uint64_t *there)
{
    *total = *there = 0;
    for (int i = 0; i < SIM_SPLITS; i++)
        for (uint64_t shard = (uint64_t)w->part;
             select_split(w, (enum sim_split)i) && shard < w->shards; shard += (uint64_t)w->parts) {
            const uint64_t size = sim_shard_size(w->preset, w->n, shard);
            *total += size;
            *there += is_to_be_made(w, shard) ? 0 : size;
        }
}

/* ------------------------------------------------------------------------------ all sets */

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
    struct sim_shard shard;
    int rc = 0;
    cJSON_ArrayForEach (file, cJSON_GetObjectItemCaseSensitive(set, "files"))
        if (!rc && sim_name_parse(file->string, false, &kind, &shard)) /* no other was ours */
            rc = remove_file(dir, file->string);
    return rc;
}

/* From here on nothing looks complete, what is not of these sets is gone, and the next run knows
 * where to go on. In this order, so that it holds at every instant. */
static int begin_sets(const struct orr_preset *preset, const struct sim_inventory *before,
                      const cJSON *plan)
{
    const char *dir = before->dir;
    const cJSON *set;
    int rc = 0;
    cJSON_ArrayForEach (set, before->sets) /* broken ones that nobody asks for */
        if (!rc && !cJSON_HasObjectItem(plan, set->string))
            rc = remove_files(dir, set);
    if (!rc)
        rc = sim_outdated_remove(dir, preset, plan, before->progress ? before->sets : NULL);
    if (!rc)
        rc = sim_progress_write(preset, dir, plan);
    return rc ? rc : remove_file(dir, "manifest.json");
}

/* Earlier versions wrote parts into folders of their own. */
static int refuse_old_parts(const char *dir)
{
    char path[4096], old[300] = "";
    TRY(orr_path(path, "%s/parts", dir));
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (strstr(entry->d_name, "-of-"))
            snprintf(old, sizeof old, "%s", entry->d_name);
    if (folder)
        closedir(folder);
    return *old ? ORR_FAIL(ORR_EINVAL,
                           "%s/%s: a part by an earlier version, which is not read any more: "
                           "delete %s; --part writes its files into %s itself",
                           path, old, path, dir)
                : 0;
}

/* What is there, and the plan: what stays of it, and what is to be made. In a folder that may be
 * written to. Close the inventory and delete *plan also after an error. */
static int plan_sets(const struct orr_preset *preset, const char *dir, bool force,
                     struct sim_inventory *before, cJSON **plan)
{
    char foreign[SIM_NAME];
    *plan = NULL;
    int rc = sim_inventory_open(before, preset, dir, force);
    if (!rc)
        rc = refuse_old_parts(dir);
    if (!rc)
        rc = sim_inventory_foreign(before, foreign);
    if (!rc && *foreign)
        rc = ORR_FAIL(ORR_EIO,
                      "%s/%s: there, but not listed in manifest.json: made elsewhere and not "
                      "overwritten; choose another --out, or delete it",
                      dir, foreign);
    if (!rc)
        rc = sim_inventory_keep(before, force, plan);
    for (int i = 0; i < SIM_SPLITS && !rc; i++)
        rc = plan_set(preset, *plan, (enum sim_split)i);
    return rc;
}

int sim_dataset_may_write(const struct orr_preset *preset, const char *dir, bool force)
{
    struct sim_inventory before;
    cJSON *plan;
    const int rc = plan_sets(preset, dir, force, &before, &plan);
    cJSON_Delete(plan);
    sim_inventory_close(&before);
    return rc;
}

/* Makes the plan the folder's. alone: nobody else writes there. With force also records of files
 * whose bytes are others go. */
static int begin_folder(const struct orr_preset *preset, const char *dir, bool force, bool alone)
{
    struct sim_inventory before;
    cJSON *plan;
    int rc = plan_sets(preset, dir, force, &before, &plan);
    const bool follows = !rc && sim_inventory_follows(&before, plan);
    if (!rc && alone && (force || !follows))
        rc = begin_sets(preset, &before, plan);
    else if (!rc && !follows)
        rc = ORR_FAIL(ORR_EIO,
                      "%s: another process is writing data sets there, of other settings or in "
                      "files of other sizes",
                      dir);
    cJSON_Delete(plan);
    sim_inventory_close(&before);
    return rc;
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
    if (!rc)
        rc = remove_file(dir, "progress.json");
    return rc ? rc : sim_scaffold_remove(dir);
}

/* Whether every set that the settings ask for is whole. */
static int are_whole(struct sim_inventory *inventory, bool *whole)
{
    *whole = true;
    for (int i = 0; i < SIM_SPLITS; i++) {
        enum orr_verdict verdict;
        char why[ORR_WHY];
        if (sim_split_written(inventory->preset, (enum sim_split)i) == 0)
            continue;
        TRY(sim_inventory_judge(inventory, (enum sim_split)i, &verdict, why));
        *whole = *whole && verdict == ORR_KEEP;
    }
    return 0;
}

/* Writes the manifest where all is there. Otherwise parts are missing, which others make: the last
 * of them comes here again. */
static int finish_folder(const struct writer *w, bool quiet)
{
    struct sim_inventory inventory;
    bool whole = false;
    int rc = sim_inventory_open(&inventory, w->preset, w->dir, false);
    if (!rc)
        rc = are_whole(&inventory, &whole);
    if (!rc && whole && !inventory.manifest)
        rc = write_manifest(w->preset, w->dir, inventory.sets);
    else if (!rc && !whole && w->parts == 1)
        rc = ORR_FAIL(ORR_EIO, "%s: files are gone that were written; run the same command again",
                      w->dir);
    else if (!rc && !whole)
        orr_note(quiet, "orbits: part %d of %d is there; the last part writes manifest.json",
                 w->part + 1, w->parts);
    sim_inventory_close(&inventory);
    return rc;
}

/* The line at the end, of all sets of the folder. */
static void summarise_sets(const struct writer *w, uint64_t total, double per_s, char summary[160])
{
    struct sim_inventory inventory;
    double clipped = 0, redrawn = 0;
    const cJSON *set;
    if (!sim_inventory_open(&inventory, w->preset, w->dir, false)) {
        cJSON_ArrayForEach (set, inventory.sets) {
            const double again = orr_json_number(set, "redrawn_systems");
            clipped += orr_json_number(set, "clipped_coordinates");
            redrawn += again > 0 ? again : 0;
        }
    }
    sim_inventory_close(&inventory);
    const int used =
        snprintf(summary, 160, "%llu sequences, %.0f per second, %.0f clipped coordinates",
                 (unsigned long long)total, per_s, clipped);
    if (redrawn > 0)
        snprintf(summary + used, 160 - (size_t)used, ", %.0f systems drawn again", redrawn);
}

/* Makes what is missing of this part. */
static int write_sets(struct writer *w, bool quiet)
{
    struct sim_inventory there;
    struct orr_progress progress;
    uint64_t total = 0, done = 0;
    char summary[160];
    int rc = sim_inventory_open(&there, w->preset, w->dir, false);
    w->sets = there.sets;
    if (!rc)
        count_sequences(w, &total, &done);
    if (done > 0)
        orr_note(quiet, "orbits: %s: going on after %llu sequences", w->dir,
                 (unsigned long long)done);
    orr_progress_init(&progress, "orbits", total, quiet);
    progress.done = done;
    for (int i = 0; i < SIM_SPLITS && !rc; i++)
        if (select_split(w, (enum sim_split)i))
            rc = write_split(w, &progress);
    if (!rc)
        summarise_sets(w, total, (double)(total - done) / (orr_time_s() - progress.start_s),
                       summary);
    orr_progress_end(&progress, rc ? NULL : summary);
    sim_inventory_close(&there);
    return rc;
}

/* Without one finished file there is nothing to go on with. */
static void forget_plan(const char *dir)
{
    if (!sim_folder_has_data(dir) && remove_file(dir, "progress.json"))
        orr_error_clear();
}

static const char writing[] = "writing data sets";

/* Parts share the folder. Whoever changes what is to be made there has it alone: the first part, or
 * the only process. */
static int lock_folder(const char *dir, int parts, bool *alone, int *fd)
{
    *alone = true;
    if (parts == 1)
        return orr_lock(dir, writing, ORR_LOCK_WAIT_S, fd);
    const int rc = orr_lock(dir, writing, 0, fd);
    if (rc != ORR_EIO)
        return rc;
    orr_error_clear();
    *alone = false;
    return orr_lock_shared(dir, writing, ORR_LOCK_WAIT_S, fd);
}

/* The same for the manifest: -1 in *fd where another part is still at work, which writes it. */
static int lock_alone(const char *dir, int *fd)
{
    const int rc = orr_lock(dir, writing, 0, fd);
    if (rc != ORR_EIO)
        return rc;
    orr_error_clear();
    *fd = -1;
    return 0;
}

int sim_dataset_write_part(const struct orr_preset *preset, const char *dir, int part, int parts,
                           int threads, bool force, bool quiet)
{
    struct writer w = {.preset = preset,
                       .dir = dir,
                       .threads = threads,
                       .part = part,
                       .parts = parts,
                       .tokens = preset->orbits.output == ORR_OUTPUT_TOKENS};
    bool alone;
    int fd;
    TRY(orr_mkdir(dir));
    TRY(lock_folder(dir, parts, &alone, &fd));
    int rc = begin_folder(preset, dir, force, alone);
    if (!rc && alone && parts > 1) {
        orr_unlock(fd);
        TRY(orr_lock_shared(dir, writing, ORR_LOCK_WAIT_S, &fd));
    }
    if (!rc)
        rc = write_sets(&w, quiet);
    if (rc && parts == 1) {
        struct sim_failure first;
        sim_failure_keep(&first, rc);
        forget_plan(dir);
        rc = sim_failure_raise(&first);
    }
    if (!rc && parts > 1) {
        orr_unlock(fd);
        TRY(lock_alone(dir, &fd));
    }
    if (!rc && fd >= 0)
        rc = finish_folder(&w, quiet);
    else if (!rc)
        orr_note(quiet, "orbits: part %d of %d is there; the last part writes manifest.json",
                 part + 1, parts);
    if (fd >= 0)
        orr_unlock(fd);
    return rc;
}

int sim_dataset_write(const struct orr_preset *preset, const char *dir, int threads, bool force,
                      bool quiet)
{
    return sim_dataset_write_part(preset, dir, 0, 1, threads, force, quiet);
}

int sim_dataset_tidy(const char *dir)
{
    int fd;
    TRY(orr_lock(dir, writing, ORR_LOCK_WAIT_S, &fd));
    int rc = remove_file(dir, "progress.json");
    if (!rc)
        rc = sim_scaffold_remove(dir);
    orr_unlock(fd);
    return rc;
}
