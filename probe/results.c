/* results.c - writes and prints the results of probes. */
#include "probe/core/answers.h"

#include "stage/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static void unlock_results(struct probe_results *results)
{
    if (results->lock)
        orr_unlock(results->lock);
    results->lock = 0;
}

void probe_results_free(struct probe_results *results)
{
    unlock_results(results);
    orr_table_free(&results->table);
    cJSON_Delete(results->about);
    cJSON_Delete(results->files);
    *results = (struct probe_results){0};
}

int probe_key(const struct probe_options *o, const char *name, int revision, const char *more,
              char key[PROBE_KEY])
{
    const struct gpt_attention_override *c = &o->change;
    uint64_t content, bytes;
    if (o->answers)
        content = o->answers->content;
    else
        TRY(orr_file_checksum(o->checkpoint, &content, &bytes));
    if (o->twin) /* the options of the key are those that seeds share */
        content = (content << 1 | content >> 63) ^ o->twin->content;
    const int used =
        snprintf(key, PROBE_KEY, "%s-%d %016llx %016llx %d %d %s %d %g %d %d %d %s", name, revision,
                 (unsigned long long)content,
                 (unsigned long long)orr_settings_checksum(o->settings, PROBE_SETTINGS),
                 o->sequences, o->length, c->attention ? c->attention : "-", (int)c->reweight,
                 c->power, c->set_window, c->window, c->ntk, more);
    return used < PROBE_KEY
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s: options too long to be recorded: %s", name, more);
}

/* ----------------------------------------------------------------------------------- write */

/* The settings that the results depend on and that have an effect, as in a preset file. */
static cJSON *settings_json(const struct orr_settings *settings)
{
    cJSON *json = orr_settings_json(settings);
    const char *key;
    for (int k = 0; (key = orr_settings_key(k)) != NULL; k++) {
        char group[ORR_NAME], why[256];
        const char *dot = strchr(key, '.');
        if (orr_made_from(key) && !orr_settings_unused(settings, key, why))
            continue;
        snprintf(group, sizeof group, "%.*s", dot ? (int)(dot - key) : 0, key);
        cJSON_DeleteItemFromObjectCaseSensitive(dot ? orr_json_get(json, group) : json,
                                                dot ? dot + 1 : key);
    }
    return json;
}

static cJSON *to_json(const struct probe_results *results, const struct probe *probe,
                      const struct probe_options *options, const char *name, const char *key)
{
    char text[PROBE_TEXT], content[17] = "";
    cJSON *json = orr_json_create(ORR_ROWS_FORMAT);
    probe_describe(&probe->model, text);
    cJSON_AddStringToObject(json, "probe", name);
    cJSON_AddStringToObject(json, "checkpoint", options->checkpoint);
    cJSON_AddStringToObject(json, "source", probe->source);
    cJSON_AddStringToObject(json, "stage", probe->stage);
    cJSON_AddStringToObject(json, "attention", text);
    cJSON_AddStringToObject(json, "preset", options->settings->name);
    orr_json_add_u64(json, "seed", options->settings->seed);
    cJSON_AddStringToObject(json, "key", key);
    (void)sscanf(key, "%*s %16s", content); /* in the format of probe_key() */
    cJSON_AddStringToObject(json, "checkpoint_xxh64", content);
    if (options->answers)
        cJSON_AddStringToObject(json, "untrained", options->twin ? options->twin->folder : "");
    cJSON_AddBoolToObject(json, "changed", probe_is_changed(options));
    cJSON_AddItemToObject(json, "settings", settings_json(options->settings));
    if (results->about)
        cJSON_AddItemToObject(json, "about", cJSON_Duplicate(results->about, true));
    orr_rows_json(&results->table, json);
    return json;
}

int probe_results_begin(struct probe_results *results, const char *folder, const char *name)
{
    char path[4096];
    TRY(orr_mkdir(folder));
    TRY(probe_lock(folder, &results->lock));
    TRY(orr_path(path, "%s/%s.json", folder, name));
    return orr_remove(path);
}

int probe_results_file(struct probe_results *results, const char *folder, const char *file)
{
    if (!results->files)
        results->files = cJSON_CreateObject();
    return orr_files_add(results->files, folder, file);
}

int probe_results_picture(struct probe_results *results, const char *folder, const char *name)
{
    char file[ORR_NAME], path[4096];
    snprintf(file, sizeof file, "%s.png", name);
    TRY(orr_path(path, "%s/%s", folder, file));
    return orr_exists(path) ? probe_results_file(results, folder, file) : 0;
}

/* Writes the CSV, and lists the picture that most probes draw. */
static int write_files(struct probe_results *results, const char *folder, const char *name)
{
    char file[ORR_NAME], path[4096];
    TRY(probe_results_picture(results, folder, name));
    snprintf(file, sizeof file, "%s.csv", name);
    TRY(orr_path(path, "%s/%s", folder, file));
    TRY(orr_rows_write_csv(&results->table, path));
    return probe_results_file(results, folder, file);
}

static int write_all(struct probe_results *results, const struct probe *probe,
                     const struct probe_options *options, const char *folder, const char *name,
                     const char key[PROBE_KEY])
{
    char path[4096];
    TRY(write_files(results, folder, name));
    TRY(orr_path(path, "%s/%s.json", folder, name));
    cJSON *json = to_json(results, probe, options, name, key);
    cJSON_AddItemToObject(json, "files", cJSON_Duplicate(results->files, true));
    const int rc = orr_json_write(path, json);
    cJSON_Delete(json);
    if (!rc)
        orr_note(options->quiet, "%s: %s", name, path);
    return rc;
}

int probe_results_write(struct probe_results *results, const struct probe *probe,
                        const struct probe_options *options, const char *folder, const char *name,
                        const char key[PROBE_KEY])
{
    const int rc = write_all(results, probe, options, folder, name, key);
    unlock_results(results);
    return rc;
}

bool probe_results_there(const struct probe_options *options, const char *folder, const char *name,
                         const char key[PROBE_KEY])
{
    char path[4096], why[ORR_WHY] = "";
    cJSON *json = NULL;
    if (!options->resume || orr_path(path, "%s/%s.json", folder, name) || !orr_exists(path) ||
        orr_result_read(path, &json, why))
        return false;
    const bool same = json && orr_json_says(json, "key", key) &&
                      orr_files_same(folder, orr_json_get(json, "files"), why);
    cJSON_Delete(json);
    if (same)
        orr_note(options->quiet, "%s: %s: complete", name, path);
    return same;
}

/* ----------------------------------------------------------------------------------- table */

bool probe_row_of_model(const struct orr_row *row)
{
    return row->layer < 0;
}

static void print_number(double value)
{
    printf(isfinite(value) ? " %.4g |" : " - |", value);
}

void probe_results_print(const struct probe_results *results, const struct probe *probe,
                         const char *name, bool (*is_shown)(const struct orr_row *row))
{
    printf("%s of %s (%s), seed %llu; 95%% intervals over %s\n\n", name, probe->source,
           probe->stage, (unsigned long long)probe->settings.seed,
           results->over ? results->over : "held-out sequences");
    printf("| quantity | measure | layer | context | value | interval | upper bound | baseline | "
           "raw | n "
           "|\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < results->table.count; i++) {
        const struct orr_row *row = &results->table.row[i];
        if (is_shown && !is_shown(row))
            continue;
        printf("| %s | %s |", row->quantity, row->measure);
        print_number(row->layer < 0 ? (double)NAN : (double)row->layer);
        print_number(row->context ? (double)row->context : (double)NAN);
        print_number(row->value);
        printf(isfinite(row->low) && isfinite(row->high) ? " %.4g to %.4g |" : " - |", row->low,
               row->high);
        print_number(row->upper_bound);
        print_number(row->baseline);
        print_number(row->raw);
        printf(" %ld |\n", row->n);
    }
    printf("\n");
}
