/* lineage_sets.c - the data sets at the beginning of every lineage: made from the settings,
 * described by the manifest of a folder, or external and identified by their bytes. */
#include "base/error.h"
#include "base/json.h"
#include "provenance.h"

#include <dirent.h>
#include <string.h>

#include "base/cjson.h"
#include <xxhash.h>

const char *const orr_set_names[ORR_SETS] = {
    "train",         "val",           "test",          "two_body_train",
    "two_body_val",  "two_body_test", "solar_system",  "solar_system_two_body",
    "planets_train", "planets_val",   "planets_solar", "planets_test",
};

static enum orr_kind kind_of_set(const char *set)
{
    if (!strcmp(set, "planets_solar"))
        return ORR_KIND_PLANETS_SOLAR;
    return !strncmp(set, "planets", 7)    ? ORR_KIND_PLANETS
           : !strncmp(set, "two_body", 8) ? ORR_KIND_TWO_BODY
           : !strncmp(set, "solar", 5)    ? ORR_KIND_SOLAR
                                          : ORR_KIND_STATES;
}

long orr_set_count_at(const struct orr_settings *settings, int set)
{
    const struct orr_orbits_settings *o = &settings->orbits;
    const struct orr_planets_settings *p = &settings->planets;
    const bool solar = o->solar_system && o->output == ORR_OUTPUT_TOKENS;
    const long count[ORR_SETS] = {
        o->train,
        o->val,
        o->test,
        o->two_body_train,
        o->two_body_val,
        o->two_body_test,
        solar ? 1 : 0,
        solar ? ORR_SUN_PLANETS : 0,
        p->enabled ? p->train : 0,
        p->enabled ? p->val : 0,
        !p->enabled    ? 0
        : p->eccentric ? ORR_SUN_BODIES
                       : ORR_SUN_PLANETS,
        p->enabled ? p->test : 0,
    };
    return count[set];
}

long orr_set_count(const struct orr_settings *settings, const char *set)
{
    for (int i = 0; i < ORR_SETS; i++)
        if (!strcmp(orr_set_names[i], set))
            return orr_set_count_at(settings, i);
    return 0;
}

static cJSON *set_record(const struct orr_settings *settings, const char *set)
{
    char count[32];
    cJSON *record = orr_record_create(kind_of_set(set), settings);
    snprintf(count, sizeof count, "%ld", orr_set_count(settings, set));
    orr_record_fact(record, "set", set);
    orr_record_fact(record, "sequences", count);
    return record;
}

int orr_set_made(const struct orr_settings *settings, const char *set, char digest[ORR_DIGEST],
                 cJSON **made)
{
    struct orr_records records;
    TRY(orr_records_create(&records));
    int rc = orr_records_add(&records, set_record(settings, set), digest);
    if (!rc && made)
        *made = orr_records_made(&records, digest);
    orr_records_free(&records);
    return rc;
}

/* Whether a file belongs to a set: "<kind>_<set>.npy", "<kind>_<set>-00000-of-00005.npy". */
static bool is_file_of(const char *name, const char *set)
{
    const size_t length = strlen(set);
    const char *at = strstr(name, set);
    const char *dot = strrchr(name, '.');
    if (!dot || strcmp(dot, ".npy"))
        return false;
    for (; at; at = strstr(at + 1, set))
        if (at > name && at[-1] == '_' && (at + length == dot || at[length] == '-')) {
            /* "obs_two_body_train.npy" does not belong to the set "train" */
            const size_t kind = (size_t)(at - name) - 1;
            static const char *const kinds[] = {
                "obs",   "coords",       "num_bodies",      "state", "full_state",
                "scale", "force_vector", "force_magnitude", "mass",  "velocity"};
            for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                if (strlen(kinds[i]) == kind && !strncmp(kinds[i], name, kind))
                    return true;
        }
    return false;
}

/* XXH64 of the names and contents of a set's files, ordered by name; *files: how many there are,
 * none where the folder is missing. */
static int hash_files(const char *folder, const char *set, uint64_t *hash, size_t *files)
{
    struct orr_entries entries;
    int rc = orr_entries_read(folder, &entries);
    *hash = *files = 0;
    if (rc == ORR_EMISSING) {
        orr_error_clear();
        return 0;
    }
    for (int i = 0; i < entries.count && !rc; i++) {
        const char *name = entries.at[i]->d_name;
        char path[4096];
        uint64_t sum = 0, bytes;
        if (!is_file_of(name, set))
            continue;
        rc = orr_path(path, "%s/%s", folder, name);
        if (!rc)
            rc = orr_file_checksum(path, &sum, &bytes);
        *hash = XXH64(&sum, sizeof sum, XXH64(name, strlen(name), *hash));
        ++*files;
    }
    orr_entries_free(&entries);
    return rc;
}

/* The record of a set in the folder's manifest; *found: whether there is one. */
static int set_of_manifest(struct orr_lineage *lineage, const char *set, bool *found,
                           char digest[ORR_DIGEST])
{
    char path[4096];
    cJSON *json = NULL;
    *found = false;
    TRY(orr_path(path, "%s/manifest.json", lineage->orbits));
    if (!orr_exists(path))
        return 0;
    TRY(orr_json_read(path, &json));
    const cJSON *sets = orr_json_get(json, "sets");
    const cJSON *made = orr_json_get(orr_json_get(sets, set), "made");
    int rc = 0;
    if (made) {
        rc = orr_records_import(&lineage->records, made, path, digest);
        *found = !rc;
    }
    cJSON_Delete(json);
    return rc;
}

int orr_lineage_set(struct orr_lineage *lineage, const char *set, char digest[ORR_DIGEST])
{
    uint64_t hash;
    size_t files = 0;
    bool found = false;
    const bool streamed = !strcmp(set, "train") && orr_settings_streams(lineage->settings);
    const bool named = *lineage->orbits && !streamed;
    if (named)
        TRY(set_of_manifest(lineage, set, &found, digest));
    if (found)
        return 0;
    if (named)
        TRY(hash_files(lineage->orbits, set, &hash, &files));
    if (files > 0)
        return orr_records_add(
            &lineage->records,
            orr_record_external("data set made elsewhere", hash, lineage->orbits), digest);
    return orr_records_add(&lineage->records, set_record(lineage->settings, set), digest);
}
