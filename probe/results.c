/* results.c - writes, reads and prints the results of probes. */
#include "results.h"

#include "stage/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define FORMAT "orrery-probe-1"

bool probe_same_figure(const struct probe_row *a, const struct probe_row *b)
{
    return !strcmp(a->quantity, b->quantity) && !strcmp(a->measure, b->measure) &&
           a->layer == b->layer && a->context == b->context;
}

const struct probe_row *probe_results_find(const struct probe_results *results,
                                           const struct probe_row *figure)
{
    for (int r = 0; r < results->count; r++)
        if (probe_same_figure(&results->row[r], figure))
            return &results->row[r];
    return NULL;
}

int probe_results_add(struct probe_results *results, const struct probe_row *row)
{
    if (results->count == results->capacity) {
        const int capacity = results->capacity ? 2 * results->capacity : 64;
        struct probe_row *more = realloc(results->row, (size_t)capacity * sizeof *more);
        if (!more)
            return ORR_FAIL(ORR_ENOMEM, "results of a probe: out of memory");
        results->row = more;
        results->capacity = capacity;
    }
    results->row[results->count++] = *row;
    return 0;
}

static void unlock(struct probe_results *results)
{
    if (results->lock)
        orr_unlock(results->lock);
    results->lock = 0;
}

void probe_results_free(struct probe_results *results)
{
    unlock(results);
    free(results->row);
    cJSON_Delete(results->about);
    cJSON_Delete(results->files);
    *results = (struct probe_results){0};
}

int probe_key(const struct probe_options *o, const char *name, int revision, const char *more,
              char key[PROBE_KEY])
{
    const struct gpt_attention_override *c = &o->change;
    uint64_t content, bytes;
    TRY(orr_file_checksum(o->checkpoint, &content, &bytes));
    const int used = snprintf(
        key, PROBE_KEY, "%s-%d %016llx %016llx %d %d %s %d %g %d %d %d %s", name, revision,
        (unsigned long long)content,
        (unsigned long long)orr_settings_checksum(o->preset, "seed,orbits,planets,finetune,text"),
        o->sequences, o->length, c->attention ? c->attention : "-", (int)c->reweight, c->p,
        c->set_window, c->window, c->ntk, more);
    return used < PROBE_KEY
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s: options too long to be recorded: %s", name, more);
}

/* --------------------------------------------------------------------------------- columns */

/* The columns of the CSV and the keys of rows in JSON; the names of the row come before them. */
static const struct column {
    const char *name;
    size_t offset;
} numbers[] = {
    {"value", offsetof(struct probe_row, value)},
    {"low", offsetof(struct probe_row, low)},
    {"high", offsetof(struct probe_row, high)},
    {"upper_bound", offsetof(struct probe_row, upper_bound)},
    {"baseline", offsetof(struct probe_row, baseline)},
    {"raw", offsetof(struct probe_row, raw)},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static double *number_of(struct probe_row *row, size_t k)
{
    return (double *)(void *)((char *)row + numbers[k].offset);
}

/* Writes a text in quotes; quotes inside are doubled (RFC 4180). */
static void write_text(struct orr_file *file, const char *text)
{
    orr_file_printf(file, "\"");
    for (const char *c = text; *c; c++)
        orr_file_printf(file, *c == '"' ? "%c\"" : "%c", *c);
    orr_file_printf(file, "\",");
}

static int write_csv(const struct probe_results *results, const char *path)
{
    struct orr_file file = {0};
    TRY(orr_file_create(&file, path));
    orr_file_printf(&file, "quantity,measure,layer,context");
    for (size_t k = 0; k < NUMBERS; k++)
        orr_file_printf(&file, ",%s", numbers[k].name);
    orr_file_printf(&file, ",n\n");
    for (int i = 0; i < results->count; i++) {
        struct probe_row *row = &results->row[i];
        write_text(&file, row->quantity);
        write_text(&file, row->measure);
        orr_file_printf(&file, "%d,%d", row->layer, row->context);
        for (size_t k = 0; k < NUMBERS; k++)
            orr_file_printf(&file, ",%.9g", *number_of(row, k));
        orr_file_printf(&file, ",%ld\n", row->n);
    }
    const int rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* The settings that the results depend on and that have an effect, as in a preset file. */
static cJSON *settings_json(const struct orr_settings *preset)
{
    cJSON *json = orr_settings_json(preset);
    const char *key;
    for (int k = 0; (key = orr_settings_key(k)) != NULL; k++) {
        char group[ORR_NAME], why[256];
        const char *dot = strchr(key, '.');
        if (orr_made_from(key) && !orr_settings_unused(preset, key, why))
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
    cJSON *json = cJSON_CreateObject();
    probe_describe(&probe->model, text);
    cJSON_AddStringToObject(json, "format", FORMAT);
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "probe", name);
    cJSON_AddStringToObject(json, "checkpoint", options->checkpoint);
    cJSON_AddStringToObject(json, "source", probe->source);
    cJSON_AddStringToObject(json, "stage", probe->stage);
    cJSON_AddStringToObject(json, "attention", text);
    cJSON_AddStringToObject(json, "preset", options->preset->name);
    orr_json_add_u64(json, "seed", options->preset->seed);
    cJSON_AddStringToObject(json, "key", key);
    (void)sscanf(key, "%*s %16s", content); /* in the format of probe_key() */
    cJSON_AddStringToObject(json, "checkpoint_xxh64", content);
    cJSON_AddBoolToObject(json, "changed", probe_is_changed(options));
    cJSON_AddItemToObject(json, "settings", settings_json(options->preset));
    if (results->about)
        cJSON_AddItemToObject(json, "about", cJSON_Duplicate(results->about, true));
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    for (int i = 0; i < results->count; i++) {
        struct probe_row *from = &results->row[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "quantity", from->quantity);
        cJSON_AddStringToObject(row, "measure", from->measure);
        cJSON_AddNumberToObject(row, "layer", from->layer);
        cJSON_AddNumberToObject(row, "context", from->context);
        for (size_t k = 0; k < NUMBERS; k++) /* cJSON prints NaN as null */
            cJSON_AddNumberToObject(row, numbers[k].name, *number_of(from, k));
        cJSON_AddNumberToObject(row, "n", (double)from->n);
        cJSON_AddItemToArray(rows, row);
    }
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

/* Writes the CSV, and lists the picture that most probes draw. */
static int write_files(struct probe_results *results, const char *folder, const char *name)
{
    char file[ORR_NAME], path[4096];
    snprintf(file, sizeof file, "%s.png", name);
    TRY(orr_path(path, "%s/%s", folder, file));
    if (orr_exists(path))
        TRY(probe_results_file(results, folder, file));
    snprintf(file, sizeof file, "%s.csv", name);
    TRY(orr_path(path, "%s/%s", folder, file));
    TRY(write_csv(results, path));
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
    const int rc = orr_sum_add(json) ? orr_json_write(path, json)
                                     : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
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
    unlock(results);
    return rc;
}

bool probe_results_there(const struct probe_options *options, const char *folder, const char *name,
                         const char key[PROBE_KEY])
{
    char path[4096], why[ORR_WHY] = "";
    cJSON *json = NULL;
    if (!options->resume || orr_path(path, "%s/%s.json", folder, name) || !orr_exists(path) ||
        orr_json_read(path, &json))
        return false;
    const bool same = orr_json_says(json, "key", key) && orr_sum_same(json, why) &&
                      orr_files_same(folder, orr_json_get(json, "files"), why);
    cJSON_Delete(json);
    if (same)
        orr_note(options->quiet, "%s: %s: complete", name, path);
    return same;
}

/* ------------------------------------------------------------------------------------ read */

static int read_text(const char *path, const cJSON *row, const char *name, char *to, size_t bytes)
{
    const char *text = cJSON_GetStringValue(orr_json_get(row, name));
    if (!text || !orr_is_label(text) || (size_t)snprintf(to, bytes, "%s", text) >= bytes)
        return ORR_FAIL(ORR_EFORMAT, "%s: a row's \"%s\": expected a short text, found %s", path,
                        name, text ? text : "none");
    return 0;
}

/* Reads a number, or null as NaN. */
static int read_value(const char *path, const cJSON *row, const char *name, double *value)
{
    const cJSON *item = orr_json_get(row, name);
    *value = orr_json_item_number(item);
    if (!item || cJSON_IsNull(item) || isfinite(*value))
        return 0;
    return ORR_FAIL(ORR_EFORMAT, "%s: a row's \"%s\": expected a number or null", path, name);
}

/* Reads an integer from `least` to `most`. */
static int read_whole(const char *path, const cJSON *row, const char *name, double least,
                      double most, double *value)
{
    *value = orr_json_number(row, name);
    if (*value >= least && *value <= most && *value == floor(*value))
        return 0;
    return ORR_FAIL(ORR_EFORMAT,
                    "%s: a row's \"%s\": expected a whole number from %.0f to %.0f, found %g", path,
                    name, least, most, *value);
}

static int read_row(const char *path, const cJSON *json, struct probe_row *row)
{
    double layer, context, n;
    TRY(read_text(path, json, "quantity", row->quantity, sizeof row->quantity));
    TRY(read_text(path, json, "measure", row->measure, sizeof row->measure));
    TRY(read_whole(path, json, "layer", -1, 1e6, &layer));
    TRY(read_whole(path, json, "context", -1e9, 1e9, &context));
    TRY(read_whole(path, json, "n", 0, 1e15, &n));
    row->layer = (int)layer;
    row->context = (int)context;
    row->n = (long)n;
    for (size_t k = 0; k < NUMBERS; k++)
        TRY(read_value(path, json, numbers[k].name, number_of(row, k)));
    return 0;
}

/* Rejects results in which a quantity occurs twice. */
static int check_figures(const char *path, const struct probe_results *results)
{
    for (int i = 0; i < results->count; i++) {
        const struct probe_row *row = &results->row[i];
        if (probe_results_find(results, row) != row)
            return ORR_FAIL(ORR_EFORMAT, "%s: %s of \"%s\", layer %d, context %d, is there twice",
                            path, row->measure, row->quantity, row->layer, row->context);
    }
    return 0;
}

int probe_results_read(const char *path, struct probe_results *results, cJSON **json)
{
    const cJSON *item;
    char why[ORR_WHY];
    *results = (struct probe_results){0};
    TRY(orr_json_read(path, json));
    const char *format = cJSON_GetStringValue(orr_json_get(*json, "format"));
    const cJSON *rows = orr_json_get(*json, "rows");
    int rc = 0;
    if (!format || strcmp(format, FORMAT) != 0 || !cJSON_IsArray(rows))
        rc =
            ORR_FAIL(ORR_EFORMAT, "%s: expected \"format\": \"" FORMAT "\" with \"rows\", found %s",
                     path, format ? format : "none");
    if (!rc && !orr_sum_kept(*json, why))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: %s", path, why);
    for (item = rc ? NULL : rows->child; item; item = item->next) {
        struct probe_row row;
        rc = rc ? rc : read_row(path, item, &row);
        rc = rc ? rc : probe_results_add(results, &row);
    }
    rc = rc ? rc : check_figures(path, results);
    if (rc) {
        probe_results_free(results);
        cJSON_Delete(*json);
        *json = NULL;
    }
    return rc;
}

/* ----------------------------------------------------------------------------------- table */

static void print_number(double value)
{
    if (isfinite(value))
        printf(" %.4g |", value);
    else
        printf(" - |");
}

void probe_results_print(const struct probe_results *results, const struct probe *probe,
                         const char *name)
{
    printf("%s of %s (%s), seed %llu; 95%% intervals over %s\n\n", name, probe->source,
           probe->stage, (unsigned long long)probe->preset.seed,
           results->over ? results->over : "held-out sequences");
    printf("| quantity | measure | layer | context | value | interval | upper bound | baseline | "
           "raw | n "
           "|\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < results->count; i++) {
        const struct probe_row *row = &results->row[i];
        printf("| %s | %s |", row->quantity, row->measure);
        print_number(row->layer < 0 ? (double)NAN : (double)row->layer);
        print_number(row->context ? (double)row->context : (double)NAN);
        print_number(row->value);
        if (isfinite(row->low) && isfinite(row->high))
            printf(" %.4g to %.4g |", row->low, row->high);
        else
            printf(" - |");
        print_number(row->upper_bound);
        print_number(row->baseline);
        print_number(row->raw);
        printf(" %ld |\n", row->n);
    }
    printf("\n");
}
