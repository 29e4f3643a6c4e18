/* manifest.c - manifest.json, which vouches for finished sets, and progress.json, which lists the
 * finished files of unfinished ones. Both hold the same "sets". */
#include "dataset.h"

#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

static void digest_text(const struct orr_preset *preset, char text[32])
{
    snprintf(text, 32, "%016llx", (unsigned long long)orr_preset_digest(preset, SIM_DIGEST_GROUPS));
}

cJSON *sim_manifest_create(const struct orr_preset *preset)
{
    char digest[32];
    const struct orr_orbits_preset *o = &preset->orbits;
    cJSON *json = cJSON_CreateObject();
    digest_text(preset, digest);
    cJSON_AddStringToObject(json, "format", "orrery-orbits-1");
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "preset", preset->name);
    cJSON_AddStringToObject(json, "protocol",
                            o->protocol == ORR_PROTOCOL_VAFA2025 ? "vafa2025" : "identifiable");
    if (o->output == ORR_OUTPUT_TOKENS) {
        cJSON_AddNumberToObject(json, "bins", o->bins);
        cJSON_AddNumberToObject(json, "extent_au", o->extent_au);
    }
    orr_json_add_u64(json, "seed", preset->seed);
    cJSON_AddStringToObject(json, "digest", digest);
    cJSON_AddObjectToObject(json, "sets");
    return json;
}

void sim_manifest_add(cJSON *set, const char *name, uint64_t bytes, uint64_t checksum)
{
    char sum[32];
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)checksum);
    cJSON *file = cJSON_AddObjectToObject(cJSON_GetObjectItemCaseSensitive(set, "files"), name);
    cJSON_AddNumberToObject(file, "bytes", (double)bytes);
    cJSON_AddStringToObject(file, "xxh64", sum);
}

/* There, and as long as it should be. */
static bool file_matches(const char *dir, const cJSON *file)
{
    char path[4096];
    struct stat info;
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(file, "bytes");
    return file->string && !orr_path(path, "%s/%s", dir, file->string) && !stat(path, &info) &&
           cJSON_IsNumber(bytes) && (double)info.st_size == bytes->valuedouble;
}

static bool set_matches(const char *dir, const cJSON *set)
{
    const cJSON *file;
    cJSON_ArrayForEach (file, cJSON_GetObjectItemCaseSensitive(set, "files"))
        if (!file_matches(dir, file))
            return false;
    return cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(set, "sequences")) &&
           cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(set, "clipped_coordinates"));
}

static bool text_is(const cJSON *json, const char *key, const char *text)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, key);
    return cJSON_IsString(found) && !strcmp(found->valuestring, text);
}

/* NULL when there is none, or none that can be read: these are questions, not failures. */
static cJSON *read_quietly(const char *dir, const char *name)
{
    char path[4096];
    cJSON *json = NULL;
    if (orr_path(path, "%s/%s", dir, name) || !orr_exists(path) || orr_json_read(path, &json)) {
        orr_error_clear();
        return NULL;
    }
    return json;
}

bool sim_dataset_complete(const struct orr_preset *preset, const char *dir)
{
    char digest[32];
    cJSON *json = read_quietly(dir, "manifest.json");
    digest_text(preset, digest);
    bool same = text_is(json, "digest", digest);
    const cJSON *set;
    cJSON_ArrayForEach (set, cJSON_GetObjectItemCaseSensitive(json, "sets"))
        same = same && set_matches(dir, set);
    cJSON_Delete(json);
    return same;
}

/* What progress is of: content, layout, program. */
static cJSON *progress_create(const struct orr_preset *preset)
{
    cJSON *json = sim_manifest_create(preset);
    cJSON_DeleteItemFromObject(json, "sets");
    cJSON_DeleteItemFromObject(json, "preset");
    cJSON_AddNumberToObject(json, "shard_sequences", (double)preset->orbits.shard_sequences);
    return json;
}

cJSON *sim_progress_read(const struct orr_preset *preset, const char *dir)
{
    cJSON *found = read_quietly(dir, "progress.json"), *expected = progress_create(preset);
    cJSON *sets = cJSON_DetachItemFromObject(found, "sets"), *kept = cJSON_CreateObject();
    /* seeds are compared through the digest: digits just made are no number to cJSON_Compare() */
    cJSON_DeleteItemFromObject(found, "seed");
    cJSON_DeleteItemFromObject(expected, "seed");
    const bool same = cJSON_Compare(found, expected, true);
    for (int split = 0; split < SIM_SPLITS && same; split++) {
        const char *name = sim_split_name((enum sim_split)split);
        cJSON *set = cJSON_DetachItemFromObject(sets, name);
        if (set && set_matches(dir, set))
            cJSON_AddItemToObject(kept, name, set);
        else
            cJSON_Delete(set);
    }
    cJSON_Delete(sets);
    cJSON_Delete(found);
    cJSON_Delete(expected);
    return kept;
}

int sim_progress_write(const struct orr_preset *preset, const char *dir, const cJSON *sets)
{
    char path[4096];
    cJSON *json = progress_create(preset);
    cJSON_AddItemToObject(json, "sets", cJSON_Duplicate(sets, true));
    int rc = orr_path(path, "%s/progress.json", dir);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}
