/* fuzz_manifest.c - any bytes as manifest.json (first byte even) or progress.json (odd) of a folder
 * of data sets, or (4 in it) as the record of a set that is in the making: what is to be kept or
 * made again, or an error; never more.
 *
 * So that mutated lists get past digests and checksums, "made": "own" of a set stands for what the
 * settings make, and "xxh64": "own" of a file for its true size and sum. */
#include <string.h>

#include <cjson/cJSON.h>

#include "fuzz.h"
#include "sim/data/dataset.h"

static struct orr_settings settings;
static char sets_folder[4096];

/* Two small data sets, made once. */
static void prepare(void)
{
    if (*sets_folder)
        return;
    orr_settings_defaults(&settings);
    settings.orbits.positions = 5;
    settings.orbits.train = settings.orbits.train_files = 3;
    settings.orbits.val = 2;
    settings.orbits.test = settings.orbits.two_body_train = settings.orbits.two_body_val = 0;
    settings.orbits.two_body_test = 0;
    settings.orbits.solar_system = false;
    settings.planets.enabled = false;
    snprintf(sets_folder, sizeof sets_folder, "%s/sets", fuzz_folder());
    if (sim_dataset_write(&settings, sets_folder, 1, false, true)) {
        fprintf(stderr, "%s\n", orr_error());
        abort();
    }
}

static bool is_own(const cJSON *object, const char *key)
{
    return orr_json_says(object, key, "own");
}

static void own_file(cJSON *file)
{
    char path[4096], text[32];
    uint64_t sum = 0, bytes = 0;
    if (!is_own(file, "xxh64") || !file->string ||
        orr_path(path, "%s/%s", sets_folder, file->string) || orr_file_checksum(path, &sum, &bytes))
        return;
    snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
    cJSON_DeleteItemFromObjectCaseSensitive(file, "xxh64");
    cJSON_DeleteItemFromObjectCaseSensitive(file, "bytes");
    cJSON_AddStringToObject(file, "xxh64", text);
    cJSON_AddNumberToObject(file, "bytes", (double)bytes);
}

/* The text with everything "own" filled in; NULL where it is no JSON. free() it. */
static char *fill_in(const char *text)
{
    char digest[ORR_DIGEST];
    cJSON *json = cJSON_Parse(text), *set, *file, *made;
    cJSON_ArrayForEach (file, cJSON_GetObjectItemCaseSensitive(json, "files")) /* of a record */
        own_file(file);
    cJSON_ArrayForEach (set, cJSON_GetObjectItemCaseSensitive(json, "sets")) {
        cJSON_ArrayForEach (file, cJSON_GetObjectItemCaseSensitive(set, "files"))
            own_file(file);
        if (!is_own(set, "made") || !set->string ||
            orr_set_made(&settings, set->string, digest, &made))
            continue;
        cJSON_DeleteItemFromObjectCaseSensitive(set, "made");
        cJSON_AddItemToObject(set, "made", made);
    }
    char *filled = json ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    return filled;
}

static void judge(bool force)
{
    struct sim_inventory inventory;
    cJSON *kept = NULL;
    char foreign[SIM_NAME];
    const int rc = sim_inventory_open(&inventory, &settings, sets_folder, force);
    FUZZ_EXPECT(!rc || *orr_error());
    for (int s = 0; !rc && s < SIM_SPLITS; s++) {
        struct orr_artefact found;
        if (sim_split_written(&settings, (enum sim_split)s) == 0)
            continue;
        FUZZ_EXPECT(sim_inventory_status(&inventory, (enum sim_split)s, &found) == 0);
        FUZZ_EXPECT(found.action == ORR_KEEP || found.action == ORR_MAKE || *found.why);
    }
    if (!rc) {
        FUZZ_EXPECT(sim_inventory_foreign(&inventory, foreign) == 0);
        (void)sim_inventory_keep(&inventory, force, &kept);
    }
    cJSON_Delete(kept);
    sim_inventory_close(&inventory);
}

/* Writes the text as a file of the sets, and removes what the other inputs were. */
static void write_list(const char *name, const char *text, size_t bytes)
{
    static const char *const names[] = {"sets/manifest.json", "sets/progress.json",
                                        "sets/progress_val.json"};
    char path[4096];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", fuzz_folder(), names[i]);
        if (strcmp(names[i], name) && strcmp(name, names[2]))
            (void)remove(path);
    }
    char *filled = fill_in(text);
    fuzz_file(path, name, filled ? filled : text, filled ? strlen(filled) : bytes);
    free(filled);
}

FUZZ_TARGET(manifest)
{
    static const char *const plan =
        "{\"shard_sequences\": 200000, \"sets\": {\"val\": {\"made\": \"own\", \"files\": {}, "
        "\"sequences\": 0, \"clipped_coordinates\": 0, \"planned\": 2, \"digest\": \"d\"}}}";
    const enum sim_split both[] = {SIM_SPLIT_TRAIN, SIM_SPLIT_VAL};
    prepare();
    if (size < 1)
        return 0;
    char *text = malloc(size);
    FUZZ_EXPECT(text);
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    if (bytes[0] & 4)
        write_list("sets/progress.json", plan, strlen(plan));
    write_list(bytes[0] & 4   ? "sets/progress_val.json"
               : bytes[0] & 1 ? "sets/progress.json"
                              : "sets/manifest.json",
               text, size - 1);
    free(text);
    judge(false);
    judge(true);
    fuzz_quiet();
    (void)sim_dataset_verify(&settings, sets_folder, both, 2, bytes[0] & 2, true);
    (void)sim_dataset_check(sets_folder);
    return 0;
}
