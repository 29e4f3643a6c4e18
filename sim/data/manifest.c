/* manifest.c - manifest.json, which lists finished sets, and progress.json, which lists unfinished
 * ones; finished shards of unfinished sets have records (records.c). Both files hold "sets", each
 * with the record of what it was made from, which is compared with the settings set by set. */
#include "sim/data/dataset.h"
#include "stage/engine.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cjson.h"

cJSON *sim_manifest_create(const struct orr_settings *settings)
{
    const struct orr_orbits_settings *o = &settings->orbits;
    cJSON *json = orr_json_create("orrery-orbits-1");
    cJSON_AddStringToObject(json, "preset", settings->name);
    cJSON_AddStringToObject(json, "protocol",
                            o->protocol == ORR_PROTOCOL_VAFA2025 ? "vafa2025" : "identifiable");
    if (o->output == ORR_OUTPUT_TOKENS) {
        cJSON_AddNumberToObject(json, "bins", o->bins);
        cJSON_AddNumberToObject(json, "extent_au", o->extent_au);
    }
    if (o->dimensions == 3)
        cJSON_AddNumberToObject(json, "dimensions", o->dimensions);
    orr_json_add_u64(json, "seed", settings->seed);
    cJSON_AddObjectToObject(json, "sets");
    return json;
}

void sim_manifest_add(cJSON *set, const char *name, uint64_t bytes, uint64_t checksum)
{
    char sum[32];
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)checksum);
    cJSON *file = cJSON_AddObjectToObject(orr_json_get(set, "files"), name);
    cJSON_AddNumberToObject(file, "bytes", (double)bytes);
    cJSON_AddStringToObject(file, "xxh64", sum);
}

bool sim_file_matches(const char *dir, const cJSON *file, bool sums)
{
    char path[4096], why[ORR_WHY] = "";
    struct stat info;
    const cJSON *bytes = orr_json_get(file, "bytes");
    return file->string && orr_is_name(file->string) &&
           !orr_path(path, "%s/%s", dir, file->string) && !stat(path, &info) &&
           cJSON_IsNumber(bytes) && (double)info.st_size == bytes->valuedouble &&
           (!sums || orr_file_same(dir, file, why));
}

/* The name of the set's first file that is missing or has another size (with --force: other bytes);
 * NULL if all are intact. */
static const char *broken_file(const struct sim_inventory *inventory, const cJSON *set)
{
    const cJSON *file;
    cJSON_ArrayForEach (file, orr_json_get(set, "files"))
        if (!sim_file_matches(inventory->dir, file, inventory->force))
            return file->string ? file->string : "?";
    return NULL;
}

/* Whether there is a manifest or progress file, damaged or not. */
static bool has_list(const char *dir)
{
    char path[4096];
    return (!orr_path(path, "%s/manifest.json", dir) && orr_exists(path)) ||
           (!orr_path(path, "%s/progress.json", dir) && orr_exists(path));
}

bool sim_dataset_is_foreign(const char *dir)
{
    const bool is = !has_list(dir) && sim_folder_has_data(dir);
    orr_error_clear();
    return is;
}

/* Checks the counts that a set has. */
static int check_counts(const char *path, const cJSON *set)
{
    static const char *const keys[] = {"sequences", "planned", "clipped_coordinates",
                                       "redrawn_systems"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const cJSON *item = orr_json_get(set, keys[k]);
        uint64_t count;
        if (item && !(cJSON_IsNumber(item) && orr_json_u64(set, keys[k], &count)))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: set \"%s\": \"%s\": expected a whole number from 0 to 2^53, found "
                            "%.17g",
                            path, set->string, keys[k], orr_json_number(set, keys[k]));
    }
    return 0;
}

/* Checks that file names lie in this folder, because listed files are read and replaced. */
static int check_sets(const char *path, const cJSON *sets)
{
    const cJSON *set, *file;
    cJSON_ArrayForEach (set, sets) {
        const cJSON *files = orr_json_get(set, "files");
        if (!set->string || (files && !cJSON_IsObject(files)))
            return ORR_FAIL(ORR_EFORMAT, "%s: \"sets\": expected objects with an object \"files\"",
                            path);
        TRY(check_counts(path, set));
        cJSON_ArrayForEach (file, files)
            if (!orr_is_name(file->string))
                return ORR_FAIL(ORR_EFORMAT,
                                "%s: set \"%s\": expected names of files in that folder, found "
                                "\"%s\"",
                                path, set->string, file->string);
    }
    return 0;
}

/* *json is NULL if there is no file. A damaged file may describe finished sets: it is an error,
 * unless force, which treats it as missing. */
static int read_sets(const char *dir, const char *name, bool force, cJSON **json)
{
    char path[4096], message[1024];
    int rc = orr_path(path, "%s/%s", dir, name);
    *json = NULL;
    if (rc || !orr_exists(path))
        return rc;
    rc = orr_json_read(path, json);
    if (!rc && !cJSON_IsObject(orr_json_get(*json, "sets")))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: no object \"sets\"", path);
    if (!rc)
        rc = check_sets(path, orr_json_get(*json, "sets"));
    if (!rc)
        return 0;
    cJSON_Delete(*json);
    *json = NULL;
    snprintf(message, sizeof message, "%s", orr_error());
    orr_error_clear();
    return force ? 0 : ORR_FAIL(rc, "%s; orbits --force makes all data sets there again", message);
}

int sim_manifest_read(const char *dir, cJSON **json)
{
    return read_sets(dir, "manifest.json", false, json);
}

/* ---------------------------------------------------------------------- what is to be made */

int sim_inventory_foreign(const struct sim_inventory *inventory, char foreign[SIM_NAME])
{
    const bool damaged = inventory->force && !inventory->sets; /* then the owner is unknown */
    DIR *folder = opendir(inventory->dir);
    foreign[0] = '\0';
    if (!folder)
        return errno == ENOENT || errno == ENOTDIR /* making the folder reports the error */
                   ? 0
                   : ORR_FAIL(ORR_EIO, "%s: cannot list: %s", inventory->dir, strerror(errno));
    for (const struct dirent *entry; !*foreign && (entry = readdir(folder)) != NULL;)
        if (sim_is_unlisted(entry->d_name, inventory->sets))
            snprintf(foreign, SIM_NAME, "%.100s", entry->d_name);
    closedir(folder);
    if (damaged && has_list(inventory->dir))
        foreign[0] = '\0';
    return 0;
}

int sim_inventory_open(struct sim_inventory *inventory, const struct orr_settings *settings,
                       const char *dir, bool force)
{
    *inventory = (struct sim_inventory){.settings = settings, .dir = dir, .force = force};
    int rc = read_sets(dir, "manifest.json", force, &inventory->manifest);
    if (!rc && !inventory->manifest)
        rc = read_sets(dir, "progress.json", force, &inventory->progress);
    const cJSON *json = inventory->manifest ? inventory->manifest : inventory->progress;
    inventory->sets = orr_json_get(json, "sets");
    if (!rc && inventory->progress) {
        inventory->sets = inventory->merged = cJSON_Duplicate(inventory->sets, true);
        rc = sim_records_merge(dir, inventory->merged, orr_json_number(json, "shard_sequences"),
                               force);
    }
    return rc ? rc : orr_records_create(&inventory->records);
}

void sim_inventory_close(struct sim_inventory *inventory)
{
    cJSON_Delete(inventory->manifest);
    cJSON_Delete(inventory->progress);
    cJSON_Delete(inventory->merged);
    orr_records_free(&inventory->records);
}

/* Whether an unfinished set has the layout of the settings; only then it can be continued. */
static bool same_layout(const struct sim_inventory *inventory)
{
    const cJSON *layout = orr_json_get(inventory->progress, "shard_sequences");
    return cJSON_IsNumber(layout) &&
           layout->valuedouble == (double)inventory->settings->orbits.shard_sequences;
}

/* The name of a file that is missing or damaged, or that a finished set, or a shard of an
 * unfinished set, should list; NULL for none. */
static const char *missing_file(const struct sim_inventory *inventory, enum sim_split split,
                                const cJSON *set, char name[SIM_NAME])
{
    const struct orr_settings *settings = inventory->settings;
    const char *broken = broken_file(inventory, set);
    const uint64_t shards = cJSON_HasObjectItem(set, "planned")
                                ? sim_shard_count(settings, sim_split_written(settings, split))
                                : sim_set_shards(set, split);
    if (broken)
        return broken;
    return sim_set_lacks(set, split, settings->orbits.output == ORR_OUTPUT_TOKENS, shards, name)
               ? name
               : NULL;
}

/* The set has these settings: is it complete, unfinished or damaged? */
static enum orr_action extent_status(const struct sim_inventory *inventory, enum sim_split split,
                                     const cJSON *set, char why[ORR_WHY])
{
    const cJSON *count = orr_json_get(set, "sequences");
    const cJSON *planned = orr_json_get(set, "planned"); /* set if unfinished */
    char name[SIM_NAME];
    const char *broken = missing_file(inventory, split, set, name);
    const double wanted = (double)sim_split_written(inventory->settings, split);
    const double there = cJSON_IsNumber(count) ? count->valuedouble : 0;
    if (broken || !cJSON_IsNumber(orr_json_get(set, "clipped_coordinates"))) {
        snprintf(why, ORR_WHY, "%.200s is not %s", broken ? broken : "a file",
                 broken == name ? "listed" : "there, or not whole");
        return ORR_REMAKE;
    }
    if (planned) {
        const bool same = same_layout(inventory) && planned->valuedouble == wanted;
        snprintf(why, ORR_WHY, "%.0f of %.0f sequences are written%s", there, planned->valuedouble,
                 same ? "" : ", and others or other files are expected");
        return same ? ORR_GO_ON : ORR_REMAKE;
    }
    if (there >= wanted)
        return ORR_KEEP;
    snprintf(why, ORR_WHY, "%.0f sequences are written, expected %.0f (orbits.train_files)", there,
             wanted);
    return ORR_REFUSE;
}

int sim_inventory_status(struct sim_inventory *inventory, enum sim_split split,
                         struct orr_artefact *status)
{
    const char *name = sim_split_name(split);
    const cJSON *set = orr_json_get(inventory->sets, name);
    char digest[ORR_DIGEST];
    cJSON *expected = NULL;
    *status = (struct orr_artefact){.action = ORR_MAKE};
    TRY(orr_path(status->path, "%s/%s", inventory->dir, name));
    if (!set)
        return 0;
    int rc = orr_set_made(inventory->settings, name, digest, &expected);
    if (!rc)
        rc = orr_records_import(&inventory->records, expected, name, digest);
    cJSON_Delete(expected);
    if (rc)
        return rc;
    const cJSON *made = orr_json_get(set, "made");
    const cJSON *count = orr_json_get(set, "sequences");
    const bool same = orr_made_same(&inventory->records, digest, made, status->why);
    status->action = same ? extent_status(inventory, split, set, status->why) : ORR_REFUSE;
    if (orr_json_get(set, "planned") && cJSON_IsNumber(count) &&
        count->valuedouble == 0) { /* planned, but nothing is written */
        status->action = ORR_MAKE;
        status->why[0] = '\0';
    }
    orr_artefact_trace(status);
    return 0;
}

int sim_inventory_whole(struct sim_inventory *inventory, bool *whole)
{
    *whole = true;
    for (int i = 0; i < SIM_SPLITS; i++) {
        struct orr_artefact status;
        if (sim_split_written(inventory->settings, (enum sim_split)i) == 0)
            continue;
        TRY(sim_inventory_status(inventory, (enum sim_split)i, &status));
        *whole = *whole && status.action == ORR_KEEP;
    }
    return 0;
}

bool sim_dataset_has(const struct orr_settings *settings, const char *dir, enum sim_split split)
{
    struct sim_inventory inventory;
    struct orr_artefact status = {.action = ORR_MAKE};
    int rc = sim_inventory_open(&inventory, settings, dir, false);
    if (!rc)
        rc = sim_inventory_status(&inventory, split, &status);
    const bool has = !rc && inventory.manifest && status.action == ORR_KEEP;
    sim_inventory_close(&inventory);
    orr_error_clear();
    return has;
}

bool sim_dataset_complete(const struct orr_settings *settings, const char *dir, bool sums)
{
    struct sim_inventory inventory;
    bool whole = false;
    int rc = sim_inventory_open(&inventory, settings, dir, sums);
    if (!rc && inventory.manifest)
        rc = sim_inventory_whole(&inventory, &whole);
    sim_inventory_close(&inventory);
    orr_error_clear();
    return !rc && whole;
}

/* Plans a set. force replaces sets of other settings; nothing is written beside external files. */
static int plan_set(struct sim_inventory *inventory, enum sim_split split, const char *foreign)
{
    struct orr_artefact status;
    TRY(sim_inventory_status(inventory, split, &status));
    if (status.action == ORR_REFUSE && inventory->force)
        status.action = ORR_REMAKE;
    if (status.action != ORR_KEEP && *foreign) {
        status.action = ORR_REFUSE;
        snprintf(status.why, ORR_WHY, "%s was made elsewhere and is not overwritten", foreign);
    }
    orr_artefact_plan(&status);
    return 0;
}

int sim_dataset_plan(const struct orr_settings *settings, const char *dir, bool force)
{
    struct sim_inventory inventory;
    char foreign[SIM_NAME] = "";
    int rc = sim_inventory_open(&inventory, settings, dir, force);
    if (!rc)
        rc = sim_inventory_foreign(&inventory, foreign);
    for (int i = 0; i < SIM_SPLITS && !rc; i++)
        if (sim_split_written(settings, (enum sim_split)i) > 0)
            rc = plan_set(&inventory, (enum sim_split)i, foreign);
    sim_inventory_close(&inventory);
    return rc;
}

/* ------------------------------------------------------------------------- the progress file */

/* The set for the plan. An unfinished set is taken from the progress file, without the records of
 * its shards, which are counted again; any other set with everything that exists. */
static cJSON *planned_set(const struct sim_inventory *inventory, const cJSON *set, bool asked)
{
    const cJSON *sets = orr_json_get(inventory->progress, "sets");
    const cJSON *begun = orr_json_get(sets, set->string);
    return cJSON_Duplicate(asked && begun ? begun : set, true);
}

/* Keeps finished and continued sets, and sets that the settings do not include while their files
 * exist. */
int sim_inventory_keep(struct sim_inventory *inventory, bool force, cJSON **kept)
{
    cJSON *set = inventory->sets ? inventory->sets->child : NULL, *next;
    int rc = 0;
    *kept = cJSON_CreateObject();
    for (; set && !rc; set = next) {
        struct orr_artefact status = {.action = ORR_KEEP};
        next = set->next;
        enum sim_split split = SIM_SPLIT_TRAIN;
        while (split < SIM_SPLITS && strcmp(sim_split_name(split), set->string) != 0)
            split++;
        const bool asked = split < SIM_SPLITS && sim_split_written(inventory->settings, split) > 0;
        if (asked)
            rc = sim_inventory_status(inventory, split, &status);
        else if (broken_file(inventory, set))
            status.action = ORR_REMAKE;
        if (!rc && status.action == ORR_REFUSE && !force)
            rc = ORR_FAIL(ORR_EINVAL, "%s: data set %s: %s; --force replaces it", inventory->dir,
                          set->string, status.why);
        if (!rc && (status.action == ORR_KEEP || status.action == ORR_GO_ON))
            cJSON_AddItemToObject(*kept, set->string, planned_set(inventory, set, asked));
    }
    return rc;
}

bool sim_inventory_follows(const struct sim_inventory *inventory, const cJSON *plan)
{
    const cJSON *json = inventory->manifest ? inventory->manifest : inventory->progress;
    return (inventory->manifest || same_layout(inventory)) &&
           cJSON_Compare(orr_json_get(json, "sets"), plan, true);
}

int sim_progress_write(const struct orr_settings *settings, const char *dir, const cJSON *plan)
{
    char path[4096];
    cJSON *json = sim_manifest_create(settings);
    cJSON_AddNumberToObject(json, "shard_sequences", (double)settings->orbits.shard_sequences);
    cJSON_ReplaceItemInObjectCaseSensitive(json, "sets", cJSON_Duplicate(plan, true));
    int rc = orr_path(path, "%s/progress.json", dir);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}
