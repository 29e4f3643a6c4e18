/* records.c - finished shards of unfinished data sets. progress.json lists these sets and does not
 * change while they are made. Each finished shard has a small file beside its arrays, with their
 * checksums and counts. Parallel processes therefore write no common file, and the process that
 * finds all records writes the manifest without reading the data. */
#include "sim/data/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static const char *const counts[] = {"sequences", "clipped_coordinates", "redrawn_systems"};
enum { COUNTS = sizeof counts / sizeof *counts };

static int is_record(const struct dirent *entry)
{
    struct sim_shard shard;
    return sim_record_parse(entry->d_name, false, &shard);
}

/* Orders shards: the manifest lists files in the order of the records. */
static int compare_shards(const struct dirent **a, const struct dirent **b)
{
    struct sim_shard x = {0}, y = {0};
    (void)sim_record_parse((*a)->d_name, false, &x);
    (void)sim_record_parse((*b)->d_name, false, &y);
    return x.split != y.split ? (x.split < y.split ? -1 : 1)
                              : (x.number > y.number) - (x.number < y.number);
}

/* Whether the shard belongs to the set, by the set's number of sequences; *size: the shard's
 * sequences. */
static bool has_shard(const cJSON *set, double shard_sequences, const struct sim_shard *shard,
                      double *size)
{
    const double planned = orr_json_number(set, "planned");
    if (!(planned > 0 && shard_sequences >= 1))
        return false;
    const double shards = planned > shard_sequences ? ceil(planned / shard_sequences) : 1;
    const double first = (double)shard->number * shard_sequences;
    *size = fmin(planned - first, shard_sequences);
    return (double)shard->count == shards && shard->number < shard->count;
}

/* Whether the record has this set's digest and lists the files of this shard. */
static bool fits_set(const char *dir, const cJSON *record, const cJSON *set, double size,
                     const struct sim_shard *shard, bool sums)
{
    const cJSON *digest = orr_json_get(set, "digest"), *file;
    const cJSON *files = orr_json_get(record, "files");
    if (!cJSON_IsString(digest) || !orr_json_says(record, "digest", digest->valuestring) ||
        orr_json_number(record, "sequences") != size || !cJSON_IsObject(files))
        return false;
    for (int i = 0; i < COUNTS; i++) {
        uint64_t count;
        if (cJSON_HasObjectItem(set, counts[i]) && !orr_json_u64(record, counts[i], &count))
            return false;
    }
    cJSON_ArrayForEach (file, files) {
        enum sim_kind kind;
        struct sim_shard found;
        if (!sim_name_parse(file->string, false, &kind, &found) || found.split != shard->split ||
            found.number != shard->number || found.count != shard->count ||
            cJSON_HasObjectItem(orr_json_get(set, "files"), file->string) ||
            !sim_file_matches(dir, file, sums))
            return false;
    }
    return true;
}

/* Moves the shard's files and counts into the set. */
static void add_record(cJSON *set, cJSON *record)
{
    cJSON *from = orr_json_get(record, "files"), *to = orr_json_get(set, "files");
    while (from->child) {
        cJSON *file = cJSON_DetachItemViaPointer(from, from->child);
        cJSON_AddItemToObject(to, file->string, file);
    }
    for (int i = 0; i < COUNTS; i++) {
        cJSON *count = orr_json_get(set, counts[i]);
        if (count)
            cJSON_SetNumberValue(count, count->valuedouble + orr_json_number(record, counts[i]));
    }
}

static int merge_record(const char *dir, cJSON *sets, double shard_sequences, const char *name,
                        bool sums)
{
    struct sim_shard shard;
    char path[4096];
    double size;
    cJSON *record = NULL;
    if (!sim_record_parse(name, false, &shard))
        return 0;
    cJSON *set = orr_json_get(sets, sim_split_name(shard.split));
    if (!has_shard(set, shard_sequences, &shard, &size))
        return 0;
    TRY(orr_path(path, "%s/%s", dir, name));
    if (orr_json_read(path, &record)) /* removed meanwhile or damaged: counts as missing */
        orr_error_clear();
    else if (fits_set(dir, record, set, size, &shard, sums))
        add_record(set, record);
    cJSON_Delete(record);
    return orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped while reading %s", dir) : 0;
}

int sim_records_merge(const char *dir, cJSON *sets, double shard_sequences, bool sums)
{
    struct dirent **entry = NULL;
    cJSON *set;
    int rc = 0;
    const int count = scandir(dir, &entry, is_record, compare_shards);
    if (count < 0)
        return ORR_FAIL(ORR_EIO, "%s: cannot list: %s", dir, strerror(errno));
    for (int i = 0; i < count; i++) {
        rc = rc ? rc : merge_record(dir, sets, shard_sequences, entry[i]->d_name, sums);
        free(entry[i]);
    }
    free(entry);
    cJSON_ArrayForEach (set, sets)
        if (orr_json_number(set, "sequences") >= orr_json_number(set, "planned")) {
            cJSON_DeleteItemFromObjectCaseSensitive(set, "planned");
            cJSON_DeleteItemFromObjectCaseSensitive(set, "digest");
        }
    return rc;
}
