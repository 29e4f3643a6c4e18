/* writer.c - writing data sets: blocks of sequences made in parallel, rows streamed to files in
 * order, so that bytes do not depend on threads and sets may exceed memory. */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <omp.h>

enum { ARRAYS = 7, BLOCK = 512 };

/* One .npy file of a split; row = bytes of one sequence. */
struct array {
    const char *kind;
    enum orr_dtype dtype;
    int ndim;
    size_t shape[3], row;
    struct orr_file file;
    unsigned char *block; /* (BLOCK, row) */
};

struct writer {
    const struct orr_preset *preset;
    const char *dir;
    enum sim_split split;
    uint64_t n;
    struct array array[ARRAYS];
    int arrays, threads;
    struct sim_sequence *sequence; /* (threads) */
    long clipped;
    struct orr_progress *progress;
    uint64_t *done;
};

/* Sequences of a split that go to files. */
static uint64_t written_count(const struct orr_preset *preset, enum sim_split split)
{
    const uint64_t n = sim_split_count(preset, split);
    const uint64_t most = (uint64_t)preset->orbits.train_files;
    return split == SIM_SPLIT_TRAIN && most < n ? most : n;
}

/* The arrays of a split, in the order of their files. */
static int list_arrays(const struct orr_preset *preset, enum sim_split split, uint64_t n,
                       struct array list[ARRAYS])
{
    const size_t P = (size_t)sim_split_positions(preset, split);
    const bool tokens = preset->orbits.output == ORR_OUTPUT_TOKENS;
    int count = 0;
    list[count++] = (struct array){.kind = tokens ? "obs" : "coords",
                                   .dtype = tokens ? ORR_U16 : ORR_F32,
                                   .ndim = 3,
                                   .shape = {n, P, 2}};
    list[count++] = (struct array){.kind = "num_bodies", .dtype = ORR_U8, .ndim = 1, .shape = {n}};
    if (sim_split_labelled(split)) {
        static const struct {
            const char *kind;
            size_t cols;
        } labels[] = {{"full_state", 6}, {"state", 5}, {"force_magnitude", 1}, {"force_vector", 2}};
        for (int i = 0; i < 4; i++)
            list[count++] = (struct array){.kind = labels[i].kind,
                                           .dtype = ORR_F32,
                                           .ndim = 3,
                                           .shape = {n, P, labels[i].cols}};
    }
    if (split >= SIM_SPLIT_PLANETS_TRAIN)
        list[count++] = (struct array){.kind = "scale", .dtype = ORR_F32, .ndim = 1, .shape = {n}};
    for (int i = 0; i < count; i++) {
        list[i].row = orr_dtype_size(list[i].dtype);
        for (int k = 1; k < list[i].ndim; k++)
            list[i].row *= list[i].shape[k];
    }
    return count;
}

static const void *array_source(const struct sim_sequence *q, const char *kind, uint8_t *bodies)
{
    *bodies = (uint8_t)q->num_bodies;
    if (!strcmp(kind, "obs"))
        return q->tokens;
    if (!strcmp(kind, "coords"))
        return q->coords;
    if (!strcmp(kind, "num_bodies"))
        return bodies;
    if (!strcmp(kind, "full_state"))
        return q->full_state;
    if (!strcmp(kind, "state"))
        return q->state;
    if (!strcmp(kind, "force_magnitude"))
        return q->force_magnitude;
    if (!strcmp(kind, "force_vector"))
        return q->force_vector;
    return &q->scale;
}

/* Makes sequences first .. first + count - 1 into the blocks. */
static int make_block(struct writer *w, uint64_t first, int count)
{
    int rc = 0;
    long clipped = 0;
#pragma omp parallel for schedule(static) num_threads(w->threads) reduction(+ : clipped)
    for (int i = 0; i < count; i++) {
        struct sim_sequence *q = &w->sequence[omp_get_thread_num()];
        const int one = sim_sequence_make(q, w->preset, w->split, first + (uint64_t)i);
        if (one) {
#pragma omp critical
            rc = one;
            continue;
        }
        clipped += q->clipped;
        for (int a = 0; a < w->arrays; a++) {
            uint8_t bodies;
            memcpy(w->array[a].block + (size_t)i * w->array[a].row,
                   array_source(q, w->array[a].kind, &bodies), w->array[a].row);
        }
    }
    w->clipped += clipped;
    if (rc) /* the message may belong to another thread: make it again here */
        for (int i = 0; i < count; i++) {
            rc = sim_sequence_make(&w->sequence[0], w->preset, w->split, first + (uint64_t)i);
            if (rc)
                return rc;
        }
    return 0;
}

static int write_rows(struct writer *w)
{
    for (uint64_t first = 0; first < w->n; first += BLOCK) {
        const int count = w->n - first < BLOCK ? (int)(w->n - first) : BLOCK;
        int rc = make_block(w, first, count);
        for (int a = 0; a < w->arrays && !rc; a++)
            rc = orr_file_write(&w->array[a].file, w->array[a].block,
                                (size_t)count * w->array[a].row);
        if (!rc && orr_signal_seen())
            rc =
                ORR_FAIL(ORR_EINTR, "stopped while writing %s; run the same command again", w->dir);
        if (rc)
            return rc;
        *w->done += (uint64_t)count;
        orr_progress_set(w->progress, *w->done, sim_split_name(w->split));
    }
    return 0;
}

static int open_writer(struct writer *w)
{
    int rc = 0;
    w->arrays = list_arrays(w->preset, w->split, w->n, w->array);
    w->sequence = calloc((size_t)w->threads, sizeof *w->sequence);
    if (!w->sequence)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", w->dir);
    for (int t = 0; t < w->threads && !rc; t++)
        rc = sim_sequence_create(&w->sequence[t], w->preset, w->split);
    for (int a = 0; a < w->arrays && !rc; a++) {
        char path[4096];
        struct array *array = &w->array[a];
        array->block = orr_alloc(BLOCK, array->row);
        if (!array->block)
            return ORR_ENOMEM;
        rc = orr_path(path, "%s/%s_%s.npy", w->dir, array->kind, sim_split_name(w->split));
        if (!rc)
            rc = orr_file_create(&array->file, path);
        if (!rc)
            rc = orr_npy_write_header(&array->file, array->dtype, array->ndim, array->shape);
    }
    return rc;
}

static void close_writer(struct writer *w)
{
    for (int a = 0; a < w->arrays; a++) {
        orr_file_close(&w->array[a].file);
        free(w->array[a].block);
    }
    for (int t = 0; w->sequence && t < w->threads; t++)
        sim_sequence_free(&w->sequence[t]);
    free(w->sequence);
}

static int write_split(struct writer *w, cJSON *sets)
{
    int rc = open_writer(w);
    if (!rc)
        rc = write_rows(w);
    cJSON *entry = cJSON_CreateObject(), *files = cJSON_AddObjectToObject(entry, "files");
    cJSON_AddNumberToObject(entry, "sequences", (double)w->n);
    for (int a = 0; a < w->arrays && !rc; a++) {
        char name[128], sum[32];
        rc = orr_file_commit(&w->array[a].file);
        snprintf(name, sizeof name, "%s_%s.npy", w->array[a].kind, sim_split_name(w->split));
        snprintf(sum, sizeof sum, "%016llx", (unsigned long long)w->array[a].file.checksum);
        cJSON *file = cJSON_AddObjectToObject(files, name);
        cJSON_AddNumberToObject(file, "bytes", (double)w->array[a].file.bytes);
        cJSON_AddStringToObject(file, "xxh64", sum);
    }
    cJSON_AddNumberToObject(entry, "clipped_coordinates", (double)w->clipped);
    cJSON_AddItemToObject(sets, sim_split_name(w->split), entry);
    close_writer(w);
    return rc;
}

static cJSON *manifest_head(const struct orr_preset *preset)
{
    char digest[32], seed[32];
    cJSON *json = cJSON_CreateObject();
    snprintf(digest, sizeof digest, "%016llx",
             (unsigned long long)orr_preset_digest(preset, SIM_DIGEST_GROUPS));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)preset->seed);
    cJSON_AddStringToObject(json, "format", "orrery-orbits-1");
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "preset", preset->name);
    cJSON_AddStringToObject(json, "protocol",
                            preset->orbits.protocol == ORR_PROTOCOL_VAFA2025 ? "vafa2025"
                                                                             : "identifiable");
    cJSON_AddRawToObject(json, "seed", seed); /* every digit */
    cJSON_AddStringToObject(json, "digest", digest);
    return json;
}

int sim_dataset_write(const struct orr_preset *preset, const char *dir, int threads, bool quiet)
{
    char path[4096];
    uint64_t total = 0, done = 0;
    long clipped = 0;
    struct orr_progress progress;
    for (int i = 0; i < SIM_SPLITS; i++)
        total += written_count(preset, (enum sim_split)i);
    int rc = orr_mkdir(dir);
    if (!rc)
        rc = orr_path(path, "%s/manifest.json", dir);
    if (rc)
        return rc;
    /* without a manifest, a write that is interrupted leaves nothing that looks complete */
    if (remove(path) && errno != ENOENT)
        return ORR_FAIL(ORR_EIO, "%s: cannot replace: %s", path, strerror(errno));
    cJSON *json = manifest_head(preset), *sets = cJSON_AddObjectToObject(json, "sets");
    orr_progress_init(&progress, "orbits", total, quiet);
    for (int i = 0; i < SIM_SPLITS && !rc; i++) {
        struct writer w = {.preset = preset,
                           .dir = dir,
                           .split = (enum sim_split)i,
                           .n = written_count(preset, (enum sim_split)i),
                           .threads = threads,
                           .progress = &progress,
                           .done = &done};
        if (w.n > 0)
            rc = write_split(&w, sets);
        clipped += w.clipped;
    }
    char summary[160];
    snprintf(summary, sizeof summary, "%llu sequences, %.0f per second, %ld clipped coordinates",
             (unsigned long long)done, (double)done / (orr_time_s() - progress.start_s), clipped);
    orr_progress_end(&progress, rc ? NULL : summary);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

double sim_dataset_bytes(const struct orr_preset *preset)
{
    double bytes = 0;
    for (int i = 0; i < SIM_SPLITS; i++) {
        struct array list[ARRAYS];
        const uint64_t n = written_count(preset, (enum sim_split)i);
        const int arrays = list_arrays(preset, (enum sim_split)i, n, list);
        for (int a = 0; a < arrays; a++)
            bytes += (double)n * (double)list[a].row;
    }
    return bytes;
}

static bool file_matches(const char *dir, const cJSON *file)
{
    char path[4096];
    struct orr_npy npy;
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(file, "bytes");
    if (orr_path(path, "%s/%s", dir, file->string) || orr_npy_open(path, &npy))
        return false;
    const bool same = cJSON_IsNumber(bytes) && (double)npy.map_bytes == bytes->valuedouble;
    orr_npy_close(&npy);
    return same;
}

bool sim_dataset_complete(const struct orr_preset *preset, const char *dir)
{
    char path[4096], digest[32];
    cJSON *json = NULL;
    if (orr_path(path, "%s/manifest.json", dir) || !orr_exists(path) ||
        orr_json_read(path, &json)) {
        orr_error_clear(); /* a question, not a failure */
        return false;
    }
    snprintf(digest, sizeof digest, "%016llx",
             (unsigned long long)orr_preset_digest(preset, SIM_DIGEST_GROUPS));
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, "digest");
    bool same = cJSON_IsString(found) && !strcmp(found->valuestring, digest);
    const cJSON *set, *file;
    cJSON_ArrayForEach (set, cJSON_GetObjectItemCaseSensitive(json, "sets"))
        cJSON_ArrayForEach (file, cJSON_GetObjectItemCaseSensitive(set, "files"))
            same = same && file_matches(dir, file);
    cJSON_Delete(json);
    orr_error_clear();
    return same;
}
