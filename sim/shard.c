/* shard.c - names of data files: kinds, splits, shards; which of them are stale. */
#include "dataset.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

const struct sim_array sim_arrays[SIM_KINDS] = {
    [SIM_KIND_OBS] = {"obs", ORR_U16, 2},
    [SIM_KIND_COORDS] = {"coords", ORR_F32, 2},
    [SIM_KIND_NUM_BODIES] = {"num_bodies", ORR_U8, 0},
    [SIM_KIND_FULL_STATE] = {"full_state", ORR_F32, 6},
    [SIM_KIND_STATE] = {"state", ORR_F32, 5},
    [SIM_KIND_FORCE_MAGNITUDE] = {"force_magnitude", ORR_F32, 1},
    [SIM_KIND_FORCE_VECTOR] = {"force_vector", ORR_F32, 2},
    [SIM_KIND_SCALE] = {"scale", ORR_F32, 0},
};

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
    default:
        return sim_split_labelled(split);
    }
}

size_t sim_kind_bytes(enum sim_kind kind, int positions)
{
    const struct sim_array *array = &sim_arrays[kind];
    return orr_dtype_size(array->dtype) * (array->cols ? array->cols * (size_t)positions : 1);
}

uint64_t sim_split_written(const struct orr_preset *preset, enum sim_split split)
{
    const uint64_t n = sim_split_count(preset, split);
    const uint64_t most = (uint64_t)preset->orbits.train_files;
    return split == SIM_SPLIT_TRAIN && most < n ? most : n;
}

uint64_t sim_shard_count(const struct orr_preset *preset, uint64_t n)
{
    const uint64_t most = (uint64_t)preset->orbits.shard_sequences;
    return n > most ? (n + most - 1) / most : 1;
}

void sim_shard_name(char name[SIM_NAME], enum sim_kind kind, enum sim_split split, uint64_t shard,
                    uint64_t shards)
{
    if (shards == 1)
        snprintf(name, SIM_NAME, "%s_%s.npy", sim_arrays[kind].name, sim_split_name(split));
    else
        snprintf(name, SIM_NAME, "%s_%s-%05llu-of-%05llu.npy", sim_arrays[kind].name,
                 sim_split_name(split), (unsigned long long)shard, (unsigned long long)shards);
}

/* Reads "-00002-of-00005" when it stands at *at; *shards = 5, else 1. */
static bool parse_shard(const char **at, uint64_t *shards)
{
    *shards = 1;
    if (**at != '-')
        return true;
    char *end;
    if (!isdigit((unsigned char)(*at)[1]))
        return false;
    (void)strtoull(*at + 1, &end, 10);
    if (strncmp(end, "-of-", 4) || !isdigit((unsigned char)end[4]))
        return false;
    *shards = strtoull(end + 4, &end, 10);
    *at = end;
    return true;
}

/* A temporary name of a file whose own has so many bytes. */
static bool is_temporary(const char *name, size_t bytes)
{
    size_t stem;
    return orr_is_temporary(name, &stem) && stem == bytes;
}

static bool parse(const char *name, bool partial, enum sim_kind kind, enum sim_split split,
                  uint64_t *shards)
{
    char start[SIM_NAME];
    const int length =
        snprintf(start, sizeof start, "%s_%s", sim_arrays[kind].name, sim_split_name(split));
    const char *at = name + length;
    if (strncmp(name, start, (size_t)length) || !parse_shard(&at, shards) || strncmp(at, ".npy", 4))
        return false;
    return !at[4] || (partial && is_temporary(name, (size_t)(at + 4 - name)));
}

bool sim_name_parse(const char *name, bool partial, enum sim_kind *kind, enum sim_split *split)
{
    uint64_t shards;
    for (int k = 0; k < SIM_KINDS; k++)
        for (int s = 0; s < SIM_SPLITS; s++)
            if (parse(name, partial, (enum sim_kind)k, (enum sim_split)s, &shards)) {
                *kind = (enum sim_kind)k;
                *split = (enum sim_split)s;
                return true;
            }
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
        return 0; /* the plain name will be missed */
    for (struct dirent *entry; !rc && (entry = readdir(folder)) != NULL;) {
        uint64_t found;
        if (!parse(entry->d_name, false, kind, split, &found))
            continue;
        if (*shards > 1 && *shards != found)
            rc = ORR_FAIL(ORR_EFORMAT,
                          "%s/%s: shards of two writings: expected -of-%05llu as others; run "
                          "orbits again",
                          dir, entry->d_name, (unsigned long long)*shards);
        *shards = found;
    }
    closedir(folder);
    return rc;
}

static bool is_listed(const cJSON *sets, const char *name)
{
    const cJSON *set;
    cJSON_ArrayForEach (set, sets)
        if (cJSON_HasObjectItem(cJSON_GetObjectItemCaseSensitive(set, "files"), name))
            return true;
    return false;
}

uint64_t sim_set_shards(const cJSON *set, enum sim_split split)
{
    const cJSON *file;
    uint64_t shards;
    cJSON_ArrayForEach (file, cJSON_GetObjectItemCaseSensitive(set, "files"))
        for (int kind = 0; kind < SIM_KINDS; kind++)
            if (parse(file->string, false, (enum sim_kind)kind, split, &shards) && shards > 0)
                return shards;
    return 1;
}

bool sim_set_lacks(const cJSON *set, enum sim_split split, bool tokens, uint64_t shards,
                   char name[SIM_NAME])
{
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(set, "files");
    const bool unfinished = cJSON_HasObjectItem(set, "planned");
    for (uint64_t shard = 0; shard < shards; shard++) {
        bool any = !unfinished, lacks = false;
        for (int kind = SIM_KINDS - 1; kind >= 0; kind--) {
            char expected[SIM_NAME];
            if (!sim_kind_used((enum sim_kind)kind, split, tokens))
                continue;
            sim_shard_name(expected, (enum sim_kind)kind, split, shard, shards);
            if (cJSON_GetObjectItemCaseSensitive(files, expected)) {
                any = true;
                continue;
            }
            lacks = true;
            memcpy(name, expected, SIM_NAME); /* the first of several */
        }
        if (any && lacks)
            return true;
    }
    return false;
}

/* A set in the making: what lies under its names is part of it, or of the one that it replaces. */
static bool is_unfinished(const cJSON *sets, enum sim_split split)
{
    const cJSON *set = cJSON_GetObjectItemCaseSensitive(sets, sim_split_name(split));
    return cJSON_HasObjectItem(set, "planned");
}

bool sim_is_unlisted(const char *name, const cJSON *sets)
{
    enum sim_kind kind;
    enum sim_split split;
    return sim_name_parse(name, false, &kind, &split) && !is_listed(sets, name) &&
           !is_unfinished(sets, split);
}

static bool is_stale(const char *name, const cJSON *keep)
{
    enum sim_kind kind;
    enum sim_split split;
    static const char *const others[] = {"manifest.json", "progress.json"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncmp(name, others[i], strlen(others[i])))
            return is_temporary(name, strlen(others[i]));
    if (!sim_name_parse(name, true, &kind, &split) || is_listed(keep, name))
        return false;
    return is_unfinished(keep, split) || !sim_name_parse(name, false, &kind, &split);
}

int sim_stale_remove(const char *dir, const cJSON *keep)
{
    DIR *folder = opendir(dir);
    if (!folder)
        return ORR_FAIL(ORR_EIO, "%s: cannot list: %s", dir, strerror(errno));
    int rc = 0;
    for (struct dirent *entry; !rc && (entry = readdir(folder)) != NULL;) {
        char path[4096];
        if (!is_stale(entry->d_name, keep))
            continue;
        rc = orr_path(path, "%s/%s", dir, entry->d_name);
        if (!rc && unlink(path) && errno != ENOENT && errno != EISDIR && errno != EPERM)
            rc = ORR_FAIL(ORR_EIO, "%s: cannot remove: %s", path, strerror(errno));
    }
    closedir(folder);
    return rc;
}
