/* writer.c - writing data sets: all threads make blocks of sequences in place while one more
 * thread hashes and writes the blocks before, in order. Bytes depend neither on threads nor on
 * interruptions, and sets may exceed memory. */
#include "dataset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <omp.h>

/* Blocks between the makers and the disk: a wait for the disk (syncing a finished shard) of this
 * many blocks does not stop the makers. Bytes of a block: within a core's cache. */
enum { SLOTS = 8, BLOCK_BYTES = 1 << 20, BLOCK_MOST = 1024 };

struct writer {
    const struct orr_preset *preset;
    const char *dir;
    enum sim_split split;
    uint64_t n, start, shards, per_shard; /* sequences: all, those already written; files */
    int threads, capacity;                /* capacity: sequences of a block */
    struct sim_sequence *sequence;        /* (threads) */
    cJSON *sets, *set;                    /* of the manifest */
    struct orr_file file[SIM_KINDS];      /* of the shard in work; the writing thread's */
    /* between the threads, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct sim_block block[SLOTS];
    long clipped[SLOTS];
    uint64_t made, written; /* blocks */
    bool ended, dropped;    /* no more blocks; those left are not wanted */
    struct sim_failure failure;
};

/* ------------------------------------------------------------------- the writing thread */

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
        if (!w->block[0].rows[kind])
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

/* The shard gets its names, then its lines in the progress file. */
static int finish_shard(struct writer *w, uint64_t shard)
{
    int rc = 0;
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++)
        if (w->block[0].rows[kind])
            rc = orr_file_commit(&w->file[kind]);
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++) {
        char name[SIM_NAME];
        if (!w->block[0].rows[kind])
            continue;
        sim_shard_name(name, (enum sim_kind)kind, w->split, shard, w->shards);
        sim_manifest_add(w->set, name, w->file[kind].bytes, w->file[kind].checksum);
        orr_file_close(&w->file[kind]);
    }
    if (rc)
        return rc;
    cJSON *done = cJSON_GetObjectItemCaseSensitive(w->set, "sequences");
    cJSON_SetNumberValue(done, done->valuedouble + (double)shard_size(w, shard));
    return sim_progress_write(w->preset, w->dir, w->sets);
}

static int write_block(struct writer *w, const struct sim_block *block, long clipped)
{
    const uint64_t shard = block->first / w->per_shard;
    int rc = block->first % w->per_shard == 0 ? open_shard(w, shard) : 0;
    for (int kind = 0; kind < SIM_KINDS && !rc; kind++)
        if (block->rows[kind])
            rc = orr_file_write(&w->file[kind], block->rows[kind],
                                (size_t)block->count * block->row[kind]);
    if (rc)
        return rc;
    cJSON *sum = cJSON_GetObjectItemCaseSensitive(w->set, "clipped_coordinates");
    cJSON_SetNumberValue(sum, sum->valuedouble + (double)clipped);
    const uint64_t end = block->first + (uint64_t)block->count;
    return end == shard * w->per_shard + shard_size(w, shard) ? finish_shard(w, shard) : 0;
}

static void *write_blocks(void *argument)
{
    struct writer *w = argument;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->made == w->written && !w->ended)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->dropped || w->made == w->written)
            break;
        const size_t slot = w->written % SLOTS;
        pthread_mutex_unlock(&w->lock);
        const int rc = write_block(w, &w->block[slot], w->clipped[slot]);
        pthread_mutex_lock(&w->lock);
        w->written++;
        if (rc)
            sim_failure_keep(&w->failure, rc);
        pthread_cond_broadcast(&w->changed);
        if (rc)
            break;
    }
    pthread_mutex_unlock(&w->lock);
    for (int kind = 0; kind < SIM_KINDS; kind++)
        orr_file_close(&w->file[kind]); /* of a shard that was not finished: goes away */
    return NULL;
}

/* ------------------------------------------------------------------------------ makers */

/* Fills a block with sequences first .. first + count - 1. */
static int make_block(struct writer *w, size_t slot)
{
    int rc = 0;
    long clipped = 0;
    struct sim_block *block = &w->block[slot];
#pragma omp parallel for schedule(dynamic, 4) num_threads(w->threads) reduction(+ : clipped)
    for (int i = 0; i < block->count; i++) {
        struct sim_sequence *q = &w->sequence[omp_get_thread_num()];
        const int one =
            sim_block_make(block, i, q, w->preset, w->split, block->first + (uint64_t)i);
        if (one) {
#pragma omp critical
            rc = one;
            continue;
        }
        clipped += q->clipped;
    }
    w->clipped[slot] = clipped;
    for (int i = 0; rc && i < block->count; i++) { /* the message may be another thread's */
        const int again = sim_block_make(block, i, &w->sequence[0], w->preset, w->split,
                                         block->first + (uint64_t)i);
        if (again)
            return again;
    }
    return rc;
}

/* Waits for a free slot; false when the writing thread has failed. */
static bool wait_slot(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->made - w->written == SLOTS && !w->failure.rc)
        pthread_cond_wait(&w->changed, &w->lock);
    const bool ok = !w->failure.rc;
    pthread_mutex_unlock(&w->lock);
    return ok;
}

static void tell(struct writer *w, uint64_t made, bool ended, bool dropped)
{
    pthread_mutex_lock(&w->lock);
    w->made += made;
    w->ended = ended;
    w->dropped = dropped;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static int make_blocks(struct writer *w, struct orr_progress *progress)
{
    for (uint64_t first = w->start, next; first < w->n; first = next) {
        if (!wait_slot(w))
            return 0; /* the failure is the other thread's */
        const uint64_t shard_end = (first / w->per_shard + 1) * w->per_shard;
        const uint64_t end = shard_end < w->n ? shard_end : w->n;
        const size_t slot = w->made % SLOTS;
        w->block[slot].first = first;
        w->block[slot].count =
            end - first < (uint64_t)w->capacity ? (int)(end - first) : w->capacity;
        const int rc = make_block(w, slot);
        if (rc)
            return rc;
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped while writing %s; run the same command again",
                            w->dir);
        next = first + (uint64_t)w->block[slot].count;
        tell(w, 1, false, false);
        orr_progress_set(progress, progress->done + (next - first), sim_split_name(w->split));
    }
    return 0;
}

/* ------------------------------------------------------------------------------ one set */

static int open_writer(struct writer *w)
{
    size_t bytes = 1;
    for (int kind = 0; kind < SIM_KINDS; kind++)
        if (sim_kind_used((enum sim_kind)kind, w->split,
                          w->preset->orbits.output == ORR_OUTPUT_TOKENS))
            bytes += sim_kind_bytes((enum sim_kind)kind, sim_split_positions(w->preset, w->split));
    const size_t fit = BLOCK_BYTES / bytes, least = 4 * (size_t)w->threads;
    w->capacity = (int)(fit < least ? least : fit < BLOCK_MOST ? fit : BLOCK_MOST);
    w->sequence = calloc((size_t)w->threads, sizeof *w->sequence);
    if (!w->sequence)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", w->dir);
    int rc = 0;
    for (int t = 0; t < w->threads && !rc; t++)
        rc = sim_sequence_create(&w->sequence[t], w->preset, w->split);
    for (int s = 0; s < SLOTS && !rc; s++)
        rc = sim_block_create(&w->block[s], w->preset, w->split, w->capacity);
    return rc;
}

static void close_writer(struct writer *w)
{
    for (int s = 0; s < SLOTS; s++)
        sim_block_free(&w->block[s]);
    for (int t = 0; w->sequence && t < w->threads; t++)
        sim_sequence_free(&w->sequence[t]);
    free(w->sequence);
}

/* The set's entry, with what is already written. */
static void resume_set(struct writer *w)
{
    const char *name = sim_split_name(w->split);
    w->set = cJSON_GetObjectItemCaseSensitive(w->sets, name);
    if (!w->set) {
        w->set = cJSON_AddObjectToObject(w->sets, name);
        cJSON_AddObjectToObject(w->set, "files");
        cJSON_AddNumberToObject(w->set, "sequences", 0);
        cJSON_AddNumberToObject(w->set, "clipped_coordinates", 0);
    }
    w->start = (uint64_t)cJSON_GetObjectItemCaseSensitive(w->set, "sequences")->valuedouble;
}

static int write_split(struct writer *w, struct orr_progress *progress)
{
    pthread_t thread;
    w->shards = sim_shard_count(w->preset, w->n);
    w->per_shard = w->shards == 1 ? w->n : (uint64_t)w->preset->orbits.shard_sequences;
    resume_set(w);
    orr_progress_set(progress, progress->done + w->start, NULL);
    if (w->start >= w->n)
        return 0;
    int rc = open_writer(w);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (!rc && pthread_create(&thread, NULL, write_blocks, w))
        rc = ORR_FAIL(ORR_ENOMEM, "%s: cannot start a thread", w->dir);
    else if (!rc) {
        rc = make_blocks(w, progress);
        tell(w, 0, true, rc != 0);
        pthread_join(thread, NULL);
        if (!rc)
            rc = sim_failure_raise(&w->failure);
    }
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    close_writer(w);
    return rc;
}

/* ------------------------------------------------------------------------------ all sets */

/* Data files without manifest and progress file are not ours to overwrite. */
static int check_foreign(const char *dir)
{
    char path[4096];
    int rc = orr_path(path, "%s/manifest.json", dir);
    if (rc || orr_exists(path))
        return rc;
    rc = orr_path(path, "%s/progress.json", dir);
    if (rc || orr_exists(path))
        return rc;
    DIR *folder = opendir(dir);
    if (!folder)
        return ORR_FAIL(ORR_EIO, "%s: cannot list: %s", dir, strerror(errno));
    for (struct dirent *entry; !rc && (entry = readdir(folder)) != NULL;) {
        enum sim_kind kind;
        enum sim_split split;
        if (sim_name_parse(entry->d_name, false, &kind, &split))
            rc = ORR_FAIL(ORR_EIO,
                          "%s/%s: there without manifest.json: made elsewhere and not overwritten; "
                          "choose another --out, or delete it",
                          dir, entry->d_name);
    }
    closedir(folder);
    return rc;
}

/* One writer at a time; *fd keeps the folder locked until it is closed, or the process ends. */
static int lock_folder(const char *dir, int *fd)
{
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return ORR_FAIL(ORR_EIO, "%s: cannot open: %s", dir, strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0; /* not all file systems can */
    close(*fd);
    return ORR_FAIL(ORR_EIO, "%s: another process is writing data sets there", dir);
}

static int remove_file(const char *dir, const char *name)
{
    char path[4096];
    int rc = orr_path(path, "%s/%s", dir, name);
    if (!rc && unlink(path) && errno != ENOENT)
        rc = ORR_FAIL(ORR_EIO, "%s: cannot replace: %s", path, strerror(errno));
    return rc;
}

/* From here on nothing looks complete, what is not of these sets is gone, and the next run knows
 * where to go on. In this order, so that it holds at every instant. */
static int begin(const struct orr_preset *preset, const char *dir, const cJSON *sets)
{
    int rc = check_foreign(dir);
    if (!rc)
        rc = sim_progress_write(preset, dir, sets);
    if (!rc)
        rc = remove_file(dir, "manifest.json");
    return rc ? rc : sim_stale_remove(dir, sets);
}

static int write_manifest(const struct orr_preset *preset, const char *dir, const cJSON *sets)
{
    char path[4096];
    cJSON *json = sim_manifest_create(preset);
    cJSON_ReplaceItemInObjectCaseSensitive(json, "sets", cJSON_Duplicate(sets, true));
    int rc = orr_path(path, "%s/manifest.json", dir);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc ? rc : remove_file(dir, "progress.json");
}

static int write_all(const struct orr_preset *preset, const char *dir, int threads, bool quiet,
                     cJSON *sets)
{
    struct orr_progress progress;
    uint64_t total = 0, there = 0;
    double clipped = 0;
    const cJSON *set;
    for (int i = 0; i < SIM_SPLITS; i++)
        total += sim_split_written(preset, (enum sim_split)i);
    cJSON_ArrayForEach (set, sets)
        there += (uint64_t)cJSON_GetObjectItemCaseSensitive(set, "sequences")->valuedouble;
    if (there > 0)
        orr_note(quiet, "orbits: %s: going on after %llu sequences", dir,
                 (unsigned long long)there);
    orr_progress_init(&progress, "orbits", total, quiet);
    int rc = begin(preset, dir, sets);
    for (int i = 0; i < SIM_SPLITS && !rc; i++) {
        struct writer w = {.preset = preset,
                           .dir = dir,
                           .split = (enum sim_split)i,
                           .n = sim_split_written(preset, (enum sim_split)i),
                           .threads = threads,
                           .sets = sets};
        if (w.n > 0)
            rc = write_split(&w, &progress);
    }
    cJSON_ArrayForEach (set, sets)
        clipped += cJSON_GetObjectItemCaseSensitive(set, "clipped_coordinates")->valuedouble;
    char summary[160];
    snprintf(summary, sizeof summary, "%llu sequences, %.0f per second, %.0f clipped coordinates",
             (unsigned long long)total, (double)(total - there) / (orr_time_s() - progress.start_s),
             clipped);
    orr_progress_end(&progress, rc ? NULL : summary);
    return rc ? rc : write_manifest(preset, dir, sets);
}

/* Without one finished file there is nothing to go on with. */
static void forget_empty(const char *dir)
{
    char path[4096];
    if (sim_dataset_bytes_there(dir) <= 0 && !orr_path(path, "%s/progress.json", dir))
        (void)unlink(path);
}

int sim_dataset_write(const struct orr_preset *preset, const char *dir, int threads, bool quiet)
{
    int fd, rc = orr_mkdir(dir);
    if (!rc)
        rc = lock_folder(dir, &fd);
    if (rc)
        return rc;
    cJSON *sets = sim_progress_read(preset, dir);
    rc = write_all(preset, dir, threads, quiet, sets);
    if (rc)
        forget_empty(dir);
    cJSON_Delete(sets);
    close(fd);
    return rc;
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
    close(fd);
    return rc;
}

double sim_dataset_bytes(const struct orr_preset *preset)
{
    double bytes = 0;
    for (int i = 0; i < SIM_SPLITS; i++) {
        const enum sim_split split = (enum sim_split)i;
        for (int kind = 0; kind < SIM_KINDS; kind++)
            if (sim_kind_used((enum sim_kind)kind, split,
                              preset->orbits.output == ORR_OUTPUT_TOKENS))
                bytes +=
                    (double)sim_split_written(preset, split) *
                    (double)sim_kind_bytes((enum sim_kind)kind, sim_split_positions(preset, split));
    }
    return bytes;
}

double sim_dataset_bytes_there(const char *dir)
{
    double bytes = 0;
    DIR *folder = opendir(dir);
    if (!folder)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        enum sim_kind kind;
        enum sim_split split;
        struct stat info;
        char path[4096];
        if (sim_name_parse(entry->d_name, true, &kind, &split) &&
            !orr_path(path, "%s/%s", dir, entry->d_name) && !stat(path, &info) &&
            S_ISREG(info.st_mode))
            bytes += (double)info.st_size;
    }
    closedir(folder);
    return bytes;
}
