/* shard.c - file names of data sets: kinds, splits, shards; and which files are outdated. */
#include "sim/data/dataset.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

const struct sim_array sim_arrays[SIM_KINDS] = {
    [SIM_KIND_OBS] = {"obs", ORR_U16, 2, 0},
    [SIM_KIND_COORDS] = {"coords", ORR_F32, 0, 1},
    [SIM_KIND_NUM_BODIES] = {"num_bodies", ORR_U8, 0, 0},
    [SIM_KIND_FULL_STATE] = {"full_state", ORR_F32, 2, 2},
    [SIM_KIND_STATE] = {"state", ORR_F32, 1, 2},
    [SIM_KIND_FORCE_MAGNITUDE] = {"force_magnitude", ORR_F32, 1, 0},
    [SIM_KIND_FORCE_VECTOR] = {"force_vector", ORR_F32, 0, 1},
    [SIM_KIND_SCALE] = {"scale", ORR_F32, 0, 0},
    [SIM_KIND_MASS] = {"mass", ORR_F32, 1, 0},
    [SIM_KIND_VELOCITY] = {"velocity", ORR_F32, 0, 1},
};

size_t sim_kind_cols(enum sim_kind kind, int dimensions)
{
    return sim_arrays[kind].cols + sim_arrays[kind].per_axis * (size_t)dimensions;
}

bool sim_kind_used(enum sim_kind kind, enum sim_split split, bool tokens)
{
    switch (kind) {
    case SIM_KIND_OBS:
        return tokens;
    case SIM_KIND_COORDS:
        return !tokens;
    case SIM_KIND_NUM_BODIES:
        return true;
    case SIM_KIND_SCALE:
        return split >= SIM_SPLIT_PLANETS_TRAIN;
    case SIM_KIND_MASS:
    case SIM_KIND_VELOCITY:
        return false;
    default:
        return sim_split_labelled(split);
    }
}

size_t sim_kind_bytes(enum sim_kind kind, int positions, int dimensions)
{
    const size_t cols = sim_kind_cols(kind, dimensions);
    return orr_dtype_size(sim_arrays[kind].dtype) * (cols ? cols * (size_t)positions : 1);
}

uint64_t sim_split_written(const struct orr_settings *settings, enum sim_split split)
{
    const uint64_t n = sim_split_count(settings, split);
    const uint64_t most = (uint64_t)settings->orbits.train_files;
    return split == SIM_SPLIT_TRAIN && most < n ? most : n;
}

uint64_t sim_shard_count(const struct orr_settings *settings, uint64_t n)
{
    const uint64_t most = (uint64_t)settings->orbits.shard_sequences;
    return n > most ? (n + most - 1) / most : 1;
}

uint64_t sim_shard_size(const struct orr_settings *settings, uint64_t n, uint64_t shard)
{
    const uint64_t shards = sim_shard_count(settings, n),
                   each = shards == 1 ? n : (uint64_t)settings->orbits.shard_sequences;
    return shard + 1 < shards ? each : n - shard * each;
}

static void make_name(char name[SIM_NAME], const char *stem, const char *ending,
                      const struct sim_shard *shard)
{
    const char *set = sim_split_name(shard->split);
    if (shard->count == 1)
        snprintf(name, SIM_NAME, "%s_%s%s", stem, set, ending);
    else
        snprintf(name, SIM_NAME, "%s_%s-%05llu-of-%05llu%s", stem, set,
                 (unsigned long long)shard->number, (unsigned long long)shard->count, ending);
}

void sim_shard_name(char name[SIM_NAME], enum sim_kind kind, enum sim_split split, uint64_t shard,
                    uint64_t shards)
{
    make_name(name, sim_arrays[kind].name, ".npy", &(struct sim_shard){split, shard, shards});
}

void sim_record_name(char name[SIM_NAME], const struct sim_shard *shard)
{
    make_name(name, "progress", ".json", shard);
}

/* Parses "-00002-of-00005" at *at, if it is there: shard 2 of 5; else shard 0 of 1. */
static bool parse_shard(const char **at, struct sim_shard *shard)
{
    shard->number = 0;
    shard->count = 1;
    if (**at != '-')
        return true;
    char *end;
    if (!isdigit((unsigned char)(*at)[1]))
        return false;
    shard->number = strtoull(*at + 1, &end, 10);
    if (strncmp(end, "-of-", 4) || !isdigit((unsigned char)end[4]))
        return false;
    shard->count = strtoull(end + 4, &end, 10);
    *at = end;
    return true;
}

/* Whether a name is a temporary name of a file whose final name has `bytes` bytes. */
static bool is_temporary(const char *name, size_t bytes)
{
    size_t stem;
    return orr_is_temporary(name, &stem) && stem == bytes;
}

/* Parses "<stem>_<set>[-00002-of-00005]<ending>". */
static bool parse_name(const char *name, bool partial, const char *stem, const char *ending,
                       enum sim_split split, struct sim_shard *shard)
{
    char start[SIM_NAME];
    const int length = snprintf(start, sizeof start, "%s_%s", stem, sim_split_name(split));
    const char *at = name + length;
    shard->split = split;
    if (strncmp(name, start, (size_t)length) || !parse_shard(&at, shard) ||
        strncmp(at, ending, strlen(ending)))
        return false;
    at += strlen(ending);
    return !*at || (partial && is_temporary(name, (size_t)(at - name)));
}

bool sim_name_parse(const char *name, bool partial, enum sim_kind *kind, struct sim_shard *shard)
{
    for (int k = 0; k < SIM_KINDS; k++)
        for (int s = 0; s < SIM_SPLITS; s++)
            if (parse_name(name, partial, sim_arrays[k].name, ".npy", (enum sim_split)s, shard)) {
                *kind = (enum sim_kind)k;
                return true;
            }
    return false;
}

bool sim_record_parse(const char *name, bool partial, struct sim_shard *shard)
{
    for (int s = 0; s < SIM_SPLITS; s++)
        if (parse_name(name, partial, "progress", ".json", (enum sim_split)s, shard))
            return true;
    return false;
}

int sim_shards_find(const char *dir, enum sim_kind kind, enum sim_split split, uint64_t *shards)
{
    char name[SIM_NAME], path[4096];
    *shards = 1;
    sim_shard_name(name, kind, split, 0, 1);
    int rc = orr_path(path, "%s/%s", dir, name);
    if (rc || orr_exists(path))
        return rc;
    DIR *folder = opendir(dir);
    if (!folder)
        return 0; /* opening the plain name will fail */
    for (struct dirent *entry; !rc && (entry = readdir(folder)) != NULL;) {
        struct sim_shard found;
        if (!parse_name(entry->d_name, false, sim_arrays[kind].name, ".npy", split, &found))
            continue;
        if (*shards > 1 && *shards != found.count)
            rc = ORR_FAIL(ORR_EFORMAT,
                          "%s/%s: shards of two writings: expected -of-%05llu as others; run "
                          "orbits again",
                          dir, entry->d_name, (unsigned long long)*shards);
        *shards = found.count;
    }
    closedir(folder);
    return rc;
}

bool sim_folder_has_data(const char *dir)
{
    enum sim_kind kind;
    struct sim_shard shard;
    bool any = false;
    DIR *folder = opendir(dir);
    for (const struct dirent *entry; folder && !any && (entry = readdir(folder)) != NULL;)
        any = sim_name_parse(entry->d_name, false, &kind, &shard);
    if (folder)
        closedir(folder);
    return any;
}

static bool is_listed(const cJSON *sets, const char *name)
{
    const cJSON *set;
    cJSON_ArrayForEach (set, sets)
        if (cJSON_HasObjectItem(orr_json_get(set, "files"), name))
            return true;
    return false;
}

uint64_t sim_set_shards(const cJSON *set, enum sim_split split)
{
    const cJSON *file;
    enum sim_kind kind;
    struct sim_shard shard;
    cJSON_ArrayForEach (file, orr_json_get(set, "files"))
        if (sim_name_parse(file->string, false, &kind, &shard) && shard.split == split &&
            shard.count > 0)
            return shard.count;
    return 1;
}

bool sim_set_lacks(const cJSON *set, enum sim_split split, bool tokens, uint64_t shards,
                   char name[SIM_NAME])
{
    const cJSON *files = orr_json_get(set, "files");
    const bool unfinished = cJSON_HasObjectItem(set, "planned");
    for (uint64_t shard = 0; shard < shards; shard++) {
        bool any = !unfinished, lacks = false;
        for (int kind = SIM_KINDS - 1; kind >= 0; kind--) {
            char expected[SIM_NAME];
            if (!sim_kind_used((enum sim_kind)kind, split, tokens))
                continue;
            sim_shard_name(expected, (enum sim_kind)kind, split, shard, shards);
            if (orr_json_get(files, expected)) {
                any = true;
                continue;
            }
            lacks = true;
            memcpy(name, expected, SIM_NAME); /* the first missing one */
        }
        if (any && lacks)
            return true;
    }
    return false;
}

/* Whether a set is unfinished: files with its names belong to it, or to the set that it
 * replaces. */
static bool is_unfinished(const cJSON *sets, enum sim_split split)
{
    const cJSON *set = orr_json_get(sets, sim_split_name(split));
    return cJSON_HasObjectItem(set, "planned");
}

bool sim_is_unlisted(const char *name, const cJSON *sets)
{
    enum sim_kind kind;
    struct sim_shard shard;
    return sim_name_parse(name, false, &kind, &shard) && !is_listed(sets, name) &&
           !is_unfinished(sets, shard.split);
}

/* Whether a name is temporary or a record: none of the final names of data files, manifest and
 * progress file. */
static bool is_scaffold(const char *name)
{
    static const char *const lists[] = {"manifest.json", "progress.json"};
    enum sim_kind kind;
    struct sim_shard shard;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (is_temporary(name, strlen(lists[i])))
            return !strncmp(name, lists[i], strlen(lists[i]));
    return sim_record_parse(name, true, &shard) || (sim_name_parse(name, true, &kind, &shard) &&
                                                    !sim_name_parse(name, false, &kind, &shard));
}

/* Whether a data file has another shard layout than the unfinished set, or a record's files are not
 * listed. */
static bool is_outdated(const struct orr_settings *settings, const char *name, const cJSON *plan,
                        const cJSON *there)
{
    enum sim_kind kind;
    struct sim_shard shard;
    if (sim_record_parse(name, false, &shard)) {
        const cJSON *set = orr_json_get(there, sim_split_name(shard.split));
        return !is_unfinished(plan, shard.split) ||
               !sim_set_has(set, &shard, settings->orbits.output == ORR_OUTPUT_TOKENS);
    }
    const bool data = sim_name_parse(name, false, &kind, &shard);
    const uint64_t n = data ? sim_split_written(settings, shard.split) : 0;
    return n > 0 && is_unfinished(plan, shard.split) &&
           (shard.count != sim_shard_count(settings, n) || shard.number >= shard.count);
}

bool sim_set_has(const cJSON *set, const struct sim_shard *shard, bool tokens)
{
    const cJSON *files = orr_json_get(set, "files");
    char name[SIM_NAME];
    for (int kind = 0; kind < SIM_KINDS; kind++) {
        if (!sim_kind_used((enum sim_kind)kind, shard->split, tokens))
            continue;
        sim_shard_name(name, (enum sim_kind)kind, shard->split, shard->number, shard->count);
        if (!cJSON_HasObjectItem(files, name))
            return false;
    }
    return true;
}

/* Removes outdated files; if `preset` is NULL, temporary files and records. */
static int remove_where(const char *dir, const struct orr_settings *settings, const cJSON *plan,
                        const cJSON *there)
{
    DIR *folder = opendir(dir);
    if (!folder)
        return ORR_FAIL(ORR_EIO, "%s: cannot list: %s", dir, strerror(errno));
    int rc = 0;
    for (struct dirent *entry; !rc && (entry = readdir(folder)) != NULL;) {
        char path[4096];
        if (!(settings ? is_outdated(settings, entry->d_name, plan, there)
                       : is_scaffold(entry->d_name)))
            continue;
        rc = orr_path(path, "%s/%s", dir, entry->d_name);
        if (!rc && unlink(path) && errno != ENOENT && errno != EISDIR && errno != EPERM)
            rc = ORR_FAIL(ORR_EIO, "%s: cannot remove: %s", path, strerror(errno));
    }
    closedir(folder);
    return rc;
}

int sim_outdated_remove(const char *dir, const struct orr_settings *settings, const cJSON *plan,
                        const cJSON *there)
{
    return remove_where(dir, settings, plan, there);
}

int sim_scaffold_remove(const char *dir)
{
    return remove_where(dir, NULL, NULL, NULL);
}
