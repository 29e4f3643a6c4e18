/* verify.c - verifies data sets against their manifest before long work is based on them. */
#include "sim/data/dataset.h"

#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

/* ------------------------------------------------------------------ the command to make them */

/* Begins a command of bin/orbits with the given options, without --resume at its end. */
static void begin_command(const char *const *options, char command[ORR_COMMAND])
{
    static const char end[] = " --resume";
    orr_command("orbits", options, command, ORR_COMMAND);
    const size_t length = strlen(command);
    if (length >= strlen(end) && !strcmp(command + length - strlen(end), end))
        command[length - strlen(end)] = '\0';
}

/* The command that imports tracks again, without its options, which the manifest has. */
static const char *import_again(const char *dir, char command[ORR_COMMAND])
{
    static const char *const none[] = {NULL};
    begin_command(none, command);
    strncat(command, " import FILE --force --out", ORR_COMMAND - strlen(command) - 1);
    orr_command_add(command, ORR_COMMAND, dir);
    strncat(command, " and the options that its manifest has", ORR_COMMAND - strlen(command) - 1);
    return command;
}

/* The command that makes the sets of dir, for the reader's folder. own: they are the sets of the
 * run. Settings come from this program's options, else from its preset. */
static const char *command_to_make(const struct orr_settings *wanted, const char *dir, bool own,
                                   char command[ORR_COMMAND])
{
    static const char *const settings[] = {"--preset", "--run", NULL};
    static const char *const shared[] = {"--preset", "--set", "--seed", "--run", NULL};
    if (*wanted->tracks)
        return import_again(dir, command);
    begin_command(settings, command);
    const bool given = strchr(command, ' ') != NULL;
    begin_command(shared, command);
    if (!given && !own) {
        orr_command_add(command, ORR_COMMAND, "--preset");
        orr_command_add(command, ORR_COMMAND, wanted->name);
    }
    if (!own) {
        orr_command_add(command, ORR_COMMAND, "--out");
        orr_command_add(command, ORR_COMMAND, dir);
    }
    return command;
}

static bool has_tracks(const char *dir)
{
    cJSON *json = NULL;
    const bool has = !sim_manifest_read(dir, &json) && orr_json_get(json, "tracks");
    cJSON_Delete(json);
    orr_error_clear();
    return has;
}

/* The command for a folder without given settings: with the settings of its run, or any. */
static const char *command_to_make_again(const char *dir, char command[ORR_COMMAND])
{
    static const char *const none[] = {NULL};
    char run[4096], path[4096];
    if (has_tracks(dir))
        return import_again(dir, command);
    bool own = !orr_path(run, "%s", dir);
    char *slash = own ? strrchr(run, '/') : NULL;
    own = slash && !strcmp(slash, "/orbits");
    if (own)
        *slash = '\0';
    begin_command(none, command);
    if (own && !orr_path(path, "%s/preset.json", run) && orr_exists(path)) {
        orr_command_add(command, ORR_COMMAND, "--run");
        orr_command_add(command, ORR_COMMAND, run);
        return command;
    }
    orr_command_add(command, ORR_COMMAND, "--out");
    orr_command_add(command, ORR_COMMAND, dir);
    orr_error_clear();
    strncat(command, " and its settings", ORR_COMMAND - strlen(command) - 1);
    return command;
}

/* ---------------------------------------------------------------------------------- files */

/* Checks size before checksum: a truncated file is found without reading it. again: the command
 * that remakes it. */
static int verify_file(const char *dir, const cJSON *file, const char *again)
{
    char path[4096], found[32];
    uint64_t sum, bytes;
    struct stat info;
    const cJSON *expected = orr_json_get(file, "xxh64");
    const cJSON *size = orr_json_get(file, "bytes");
    if (!file->string || !orr_is_name(file->string))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s/manifest.json: \"files\": expected names of files in that folder, "
                        "found \"%s\"",
                        dir, file->string ? file->string : "a list");
    int rc = orr_path(path, "%s/%s", dir, file->string);
    if (!rc && !cJSON_IsString(expected))
        return ORR_FAIL(ORR_EFORMAT, "%s/manifest.json: no checksum of %s", dir, file->string);
    if (!rc && stat(path, &info))
        return ORR_FAIL(ORR_EMISSING,
                        "%s: expected as in manifest.json, not found; make it again with: %s", path,
                        again);
    const double size_bytes = cJSON_IsNumber(size) ? size->valuedouble : -1;
    if (!rc && (double)info.st_size != size_bytes)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: expected %.0f bytes as in manifest.json, found %llu; "
                        "make it again with: %s",
                        path, size_bytes, (unsigned long long)info.st_size, again);
    if (!rc)
        rc = orr_file_checksum(path, &sum, &bytes);
    if (rc)
        return rc;
    snprintf(found, sizeof found, "%016llx", (unsigned long long)sum);
    if (strcmp(found, expected->valuestring))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: corrupt: checksum expected %s as in manifest.json, "
                        "found %s; delete it and make it again with: %s",
                        path, expected->valuestring, found, again);
    return 0;
}

static int verify_files(const char *dir, const cJSON *set, const char *again)
{
    const cJSON *file;
    int rc = 0;
    cJSON_ArrayForEach (file, orr_json_get(set, "files"))
        if (!rc)
            rc = orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped while reading %s", dir)
                                   : verify_file(dir, file, again);
    return rc;
}

static int verify_set(const char *dir, const cJSON *manifest, const char *name, const char *command)
{
    const cJSON *set = orr_json_get(orr_json_get(manifest, "sets"), name);
    const cJSON *how = orr_json_get(orr_json_get(manifest, "tracks"), "how");
    const char *split = orr_json_text(how, "split");
    if (!set && *split && (!strcmp(name, "val") || !strcmp(name, "test")))
        return ORR_FAIL(ORR_EMISSING,
                        "%s/manifest.json: no data set \"%s\", because the import had \"%s\"; with "
                        "--%s above 0 it makes one",
                        dir, name, split, name);
    if (!set)
        return ORR_FAIL(ORR_EMISSING, "%s/manifest.json: no data set \"%s\"; make it with: %s", dir,
                        name, command);
    return verify_files(dir, set, command);
}

/* Reports a folder without a manifest: empty, unfinished, or external data sets. */
static int verify_foreign(const struct orr_settings *settings, const char *dir,
                          const enum sim_split splits[], int count, const char *command, bool quiet)
{
    char path[4096];
    struct sim_dataset set;
    TRY(orr_path(path, "%s/progress.json", dir));
    if (orr_exists(path))
        return ORR_FAIL(ORR_EMISSING, "%s: data sets there are not finished; continue with: %s",
                        dir, command);
    if (!sim_folder_has_data(dir))
        return ORR_FAIL(ORR_EMISSING, "%s: no data sets there; make them with: %s", dir, command);
    for (int i = 0; i < count; i++) {
        TRY(sim_dataset_open(&set, settings, dir, splits[i]));
        sim_dataset_close(&set);
    }
    orr_note(quiet, "%s: note: no manifest.json: made elsewhere, not verified", dir);
    return 0;
}

/* Whether the sets were made from the settings. */
static int verify_settings(const struct orr_settings *settings, const char *dir,
                           const enum sim_split splits[], int count, const char *command, bool own,
                           bool quiet)
{
    struct sim_inventory inventory;
    int rc = sim_inventory_open(&inventory, settings, dir, false);
    for (int i = 0; i < count && !rc; i++) {
        struct orr_artefact status;
        rc = sim_inventory_status(&inventory, splits[i], &status);
        if (rc || status.action == ORR_KEEP)
            continue;
        if (own)
            rc = ORR_FAIL(ORR_EINVAL,
                          "%s: data set %s: %s; make it with: %s (--force replaces what is "
                          "there), or name data sets of other settings with --orbits",
                          dir, sim_split_name(splits[i]), status.why, command);
        else
            orr_note(quiet, "%s: note: data set %s: %s", dir, sim_split_name(splits[i]),
                     status.why);
    }
    sim_inventory_close(&inventory);
    return rc;
}

int sim_dataset_verify(const struct orr_settings *settings, const char *dir,
                       const enum sim_split splits[], int count, bool own, bool quiet)
{
    char path[4096], buffer[ORR_COMMAND];
    cJSON *json = NULL;
    const char *command = command_to_make(settings, dir, own, buffer);
    int rc = orr_path(path, "%s/manifest.json", dir);
    if (!rc && !orr_exists(path))
        return verify_foreign(settings, dir, splits, count, command, quiet);
    if (!rc)
        rc = orr_json_read(path, &json);
    for (int i = 0; i < count && !rc; i++)
        rc = verify_set(dir, json, sim_split_name(splits[i]), command);
    cJSON_Delete(json);
    return rc || *settings->tracks /* the settings follow the folder */
               ? rc
               : verify_settings(settings, dir, splits, count, command, own, quiet);
}

/* ---------------------------------------------------------------------- without a preset */

/* Checks that the headers' kinds, types and shapes agree, and that they have the listed number of
 * sequences. */
static int check_headers(const char *dir, const cJSON *set, double *bytes, int *files)
{
    enum sim_kind kind;
    struct sim_shard shard = {.split = SIM_SPLIT_TRAIN};
    const cJSON *file, *sequences = orr_json_get(set, "sequences");
    cJSON_ArrayForEach (file, orr_json_get(set, "files")) {
        if (!sim_name_parse(file->string, false, &kind, &shard) ||
            strcmp(sim_split_name(shard.split), set->string))
            return ORR_FAIL(ORR_EFORMAT, "%s/manifest.json: %s is not a file of set %s", dir,
                            file->string, set->string);
        *bytes += orr_json_get(file, "bytes")->valuedouble;
        ++*files;
    }
    struct sim_dataset data;
    const int rc = *files > 0 ? sim_dataset_open_any(&data, dir, shard.split)
                              : ORR_FAIL(ORR_EFORMAT, "%s/manifest.json: no files of set %s", dir,
                                         set->string);
    if (rc)
        return rc;
    char name[SIM_NAME];
    const double n = (double)data.n;
    const bool lacks =
        sim_set_lacks(set, shard.split, sim_dataset_tokens(&data, 0) != NULL, data.shards, name);
    sim_dataset_close(&data);
    if (lacks)
        return ORR_FAIL(ORR_EFORMAT, "%s/manifest.json: set %s: expected a line for %s, found none",
                        dir, set->string, name);
    if (!cJSON_IsNumber(sequences) || sequences->valuedouble != n)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: set %s: expected %.0f sequences as in manifest.json, "
                        "found %.0f",
                        dir, set->string, cJSON_IsNumber(sequences) ? sequences->valuedouble : -1,
                        n);
    return 0;
}

int sim_dataset_check(const char *dir)
{
    char path[4096], buffer[ORR_COMMAND];
    const char *again = command_to_make_again(dir, buffer);
    cJSON *json = NULL;
    const cJSON *set;
    double all_bytes = 0, sequences = 0;
    int all_files = 0, rc = orr_path(path, "%s/manifest.json", dir);
    if (!rc && !orr_exists(path))
        rc = ORR_FAIL(ORR_EMISSING, "%s: not found: nothing to verify against", path);
    if (!rc)
        rc = orr_json_read(path, &json);
    const cJSON *sets = orr_json_get(json, "sets");
    if (!rc && !cJSON_IsObject(sets))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected an object \"sets\", found none", path);
    cJSON_ArrayForEach (set, sets) {
        double bytes = 0;
        int files = 0;
        if (!rc)
            rc = verify_files(dir, set, again);
        if (!rc)
            rc = check_headers(dir, set, &bytes, &files);
        if (rc)
            break;
        const double n = orr_json_get(set, "sequences")->valuedouble;
        printf("%-22s %9.0f sequences, %3d files, %11.3f MB: as written\n", set->string, n, files,
               bytes / 1e6);
        all_bytes += bytes;
        all_files += files;
        sequences += n;
    }
    if (!rc)
        printf("%-22s %9.0f sequences, %3d files, %11.3f MB: as written\n", "total", sequences,
               all_files, all_bytes / 1e6);
    cJSON_Delete(json);
    return rc;
}
