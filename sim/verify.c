/* verify.c - data sets against their manifest, before hours are spent on them. */
#include "sim.h"

#include <string.h>

#include <cjson/cJSON.h>

static int verify_file(const char *dir, const cJSON *file)
{
    char path[4096], found[32];
    uint64_t sum, bytes;
    const cJSON *expected = cJSON_GetObjectItemCaseSensitive(file, "xxh64");
    int rc = orr_path(path, "%s/%s", dir, file->string);
    if (!rc && !cJSON_IsString(expected))
        return ORR_FAIL(ORR_EFORMAT, "%s/manifest.json: no checksum of %s", dir, file->string);
    if (!rc)
        rc = orr_file_checksum(path, &sum, &bytes);
    if (rc)
        return rc;
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(file, "bytes");
    const double size_bytes = cJSON_IsNumber(size) ? size->valuedouble : -1;
    if (size_bytes < (double)bytes || size_bytes > (double)bytes)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: expected %.0f bytes as in manifest.json, found %llu; "
                        "run orbits again",
                        path, size_bytes, (unsigned long long)bytes);
    snprintf(found, sizeof found, "%016llx", (unsigned long long)sum);
    if (strcmp(found, expected->valuestring))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: corrupt: checksum expected %s as in manifest.json, "
                        "found %s; delete it and run orbits again",
                        path, expected->valuestring, found);
    return 0;
}

static int verify_set(const struct orr_preset *preset, const char *dir, const cJSON *sets,
                      const char *name)
{
    const cJSON *set = cJSON_GetObjectItemCaseSensitive(sets, name), *file;
    int rc = 0;
    if (!set)
        return ORR_FAIL(ORR_EMISSING,
                        "%s/manifest.json: no data set \"%s\"; make it with: orbits "
                        "--preset %s",
                        dir, name, preset->name);
    cJSON_ArrayForEach (file, cJSON_GetObjectItemCaseSensitive(set, "files"))
        if (!rc)
            rc = verify_file(dir, file);
    return rc;
}

int sim_dataset_verify(const struct orr_preset *preset, const char *dir,
                       const enum sim_split splits[], int count, bool quiet)
{
    char path[4096], digest[32];
    cJSON *json = NULL;
    int rc = orr_path(path, "%s/manifest.json", dir);
    if (!rc && !orr_exists(path))
        rc = ORR_FAIL(ORR_EMISSING, "%s: no data sets there; make them with: orbits --preset %s",
                      dir, preset->name);
    if (!rc)
        rc = orr_json_read(path, &json);
    for (int i = 0; i < count && !rc; i++)
        rc = verify_set(preset, dir, cJSON_GetObjectItemCaseSensitive(json, "sets"),
                        sim_split_name(splits[i]));
    snprintf(digest, sizeof digest, "%016llx",
             (unsigned long long)orr_preset_digest(preset, SIM_DIGEST_GROUPS));
    const cJSON *made = cJSON_GetObjectItemCaseSensitive(json, "digest");
    if (!rc && (!cJSON_IsString(made) || strcmp(made->valuestring, digest)))
        orr_note(quiet, "%s: note: made with another seed or other settings of orbits or planets",
                 path);
    cJSON_Delete(json);
    return rc;
}
