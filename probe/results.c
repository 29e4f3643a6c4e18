/* results.c - files and tables of what probes measured. */
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define FORMAT "orrery-probe-1"

int probe_results_add(struct probe_results *results, const struct probe_row *row)
{
    if (results->count == results->room) {
        const int room = results->room ? 2 * results->room : 64;
        struct probe_row *more = realloc(results->row, (size_t)room * sizeof *more);
        if (!more)
            return ORR_FAIL(ORR_ENOMEM, "results of a probe: out of memory");
        results->row = more;
        results->room = room;
    }
    results->row[results->count++] = *row;
    return 0;
}

void probe_results_free(struct probe_results *results)
{
    free(results->row);
    cJSON_Delete(results->about);
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
        (unsigned long long)orr_preset_checksum(o->preset, "seed,orbits,planets,finetune,text"),
        o->sequences, o->length, c->attention ? c->attention : "-", (int)c->reweight, c->p,
        c->set_window, c->window, c->ntk, more);
    return used < PROBE_KEY
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s: options too long to be recorded: %s", name, more);
}

/* --------------------------------------------------------------------------------- columns */

/* The columns of the CSV and the keys of rows in JSON; names of quantities come before them. */
static const struct column {
    const char *name;
    size_t offset;
} numbers[] = {
    {"value", offsetof(struct probe_row, value)}, {"low", offsetof(struct probe_row, low)},
    {"high", offsetof(struct probe_row, high)},   {"ceiling", offsetof(struct probe_row, ceiling)},
    {"floor", offsetof(struct probe_row, floor)}, {"raw", offsetof(struct probe_row, raw)},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static double *number_of(struct probe_row *row, size_t k)
{
    return (double *)(void *)((char *)row + numbers[k].offset);
}

static int write_csv(const struct probe_results *results, const char *path, uint64_t *checksum)
{
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_file_printf(&file, "quantity,measure,layer,context");
    for (size_t k = 0; k < NUMBERS && !rc; k++)
        rc = orr_file_printf(&file, ",%s", numbers[k].name);
    if (!rc)
        rc = orr_file_printf(&file, ",n\n");
    for (int i = 0; i < results->count && !rc; i++) {
        struct probe_row *row = &results->row[i];
        rc = orr_file_printf(&file, "\"%s\",\"%s\",%d,%d", row->quantity, row->measure, row->layer,
                             row->context);
        for (size_t k = 0; k < NUMBERS && !rc; k++)
            rc = orr_file_printf(&file, ",%.9g", *number_of(row, k));
        if (!rc)
            rc = orr_file_printf(&file, ",%ld\n", row->n);
    }
    if (!rc)
        rc = orr_file_commit(&file);
    *checksum = file.checksum;
    orr_file_close(&file);
    return rc;
}

static void hex(uint64_t value, char text[17])
{
    snprintf(text, 17, "%016llx", (unsigned long long)value);
}

/* The settings that something is made from and that have an effect, as in a preset file. */
static cJSON *settings_json(const struct orr_preset *preset)
{
    cJSON *json = orr_preset_json(preset);
    const char *key;
    for (int k = 0; (key = orr_preset_key(k)) != NULL; k++) {
        char group[ORR_NAME], why[256];
        const char *dot = strchr(key, '.');
        if (orr_made_from(key) && !orr_preset_unused(preset, key, why))
            continue;
        snprintf(group, sizeof group, "%.*s", dot ? (int)(dot - key) : 0, key);
        cJSON_DeleteItemFromObjectCaseSensitive(
            dot ? cJSON_GetObjectItemCaseSensitive(json, group) : json, dot ? dot + 1 : key);
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
    (void)sscanf(key, "%*s %16s", content); /* as probe_key writes it */
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
        for (size_t k = 0; k < NUMBERS; k++) /* cJSON prints null for what is no number */
            cJSON_AddNumberToObject(row, numbers[k].name, *number_of(from, k));
        cJSON_AddNumberToObject(row, "n", (double)from->n);
        cJSON_AddItemToArray(rows, row);
    }
    return json;
}

int probe_results_write(const struct probe_results *results, const struct probe *probe,
                        const struct probe_options *options, const char *folder, const char *name,
                        const char key[PROBE_KEY])
{
    char path[4096], sum[17];
    uint64_t checksum;
    TRY(orr_mkdir(folder));
    TRY(orr_path(path, "%s/%s.csv", folder, name));
    TRY(write_csv(results, path, &checksum));
    TRY(orr_path(path, "%s/%s.json", folder, name));
    cJSON *json = to_json(results, probe, options, name, key);
    hex(checksum, sum);
    cJSON_AddStringToObject(json, "csv_xxh64", sum);
    const int rc = orr_json_write(path, json);
    cJSON_Delete(json);
    if (!rc)
        orr_note(options->quiet, "%s: %s", name, path);
    return rc;
}

int probe_results_begin(const char *folder, const char *name)
{
    char path[4096];
    TRY(orr_path(path, "%s/%s.json", folder, name));
    return orr_remove(path);
}

bool probe_results_there(const struct probe_options *options, const char *folder, const char *name,
                         const char key[PROBE_KEY])
{
    char path[4096], csv[4096], sum[17];
    uint64_t checksum, bytes;
    cJSON *json = NULL;
    if (!options->resume || orr_path(path, "%s/%s.json", folder, name) || !orr_exists(path) ||
        orr_path(csv, "%s/%s.csv", folder, name) || !orr_exists(csv) ||
        orr_file_checksum(csv, &checksum, &bytes) || orr_json_read(path, &json))
        return false;
    hex(checksum, sum);
    const char *was = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "key"));
    const char *csv_was = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "csv_xxh64"));
    const bool same = was && !strcmp(was, key) && csv_was && !strcmp(csv_was, sum);
    cJSON_Delete(json);
    if (same)
        orr_note(options->quiet, "%s: %s: complete", name, path);
    return same;
}

/* ------------------------------------------------------------------------------------ read */

static int read_text(const char *path, const cJSON *row, const char *name, char *to, size_t bytes)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, name));
    if (!text || (size_t)snprintf(to, bytes, "%s", text) >= bytes)
        return ORR_FAIL(ORR_EFORMAT, "%s: a row's \"%s\": expected a short text, found %s", path,
                        name, text ? text : "none");
    return 0;
}

static double read_number(const cJSON *row, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static int read_row(const char *path, const cJSON *json, struct probe_row *row)
{
    TRY(read_text(path, json, "quantity", row->quantity, sizeof row->quantity));
    TRY(read_text(path, json, "measure", row->measure, sizeof row->measure));
    const double layer = read_number(json, "layer"), context = read_number(json, "context"),
                 n = read_number(json, "n");
    if (!(fabs(layer) < 1e6 && fabs(context) < 1e9 && fabs(n) < 1e15))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: a row of \"%s\": expected numbers \"layer\", \"context\" "
                        "and \"n\"",
                        path, row->quantity);
    row->layer = (int)layer;
    row->context = (int)context;
    row->n = (long)n;
    for (size_t k = 0; k < NUMBERS; k++)
        *number_of(row, k) = read_number(json, numbers[k].name);
    return 0;
}

int probe_results_read(const char *path, struct probe_results *results, cJSON **json)
{
    const cJSON *item;
    *results = (struct probe_results){0};
    TRY(orr_json_read(path, json));
    const char *format = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(*json, "format"));
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(*json, "rows");
    int rc = 0;
    if (!format || strcmp(format, FORMAT) != 0 || !cJSON_IsArray(rows))
        rc =
            ORR_FAIL(ORR_EFORMAT, "%s: expected \"format\": \"" FORMAT "\" with \"rows\", found %s",
                     path, format ? format : "none");
    for (item = rc ? NULL : rows->child; item; item = item->next) {
        struct probe_row row;
        rc = rc ? rc : read_row(path, item, &row);
        rc = rc ? rc : probe_results_add(results, &row);
    }
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
    printf("| quantity | measure | layer | context | value | interval | ceiling | floor | raw | n "
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
        print_number(row->ceiling);
        print_number(row->floor);
        print_number(row->raw);
        printf(" %ld |\n", row->n);
    }
    printf("\n");
}
