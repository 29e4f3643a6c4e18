/* runs_record.c - a run's results as one small file, and the same read again: what bin/report
 * --runs and bin/verdict put together of runs that lie elsewhere (docs/formats.md, cell.json). */
#include "runs.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

static const char format[] = "orrery-cell-1";

/* ------------------------------------------------------------------------------- writing */

static void add_numbers(const struct runs_source *source, int first, int end, cJSON *json)
{
    for (int f = first; f < end; f++)
        if (report_runs_name[f].in_cell)
            orr_json_add_exact(json, report_runs_name[f].in_cell, source->figure[f]);
}

static void add_source(const struct runs_source *source, cJSON *list)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "source", source->title);
    cJSON_AddBoolToObject(json, "is_model", source->is_model);
    cJSON_AddNumberToObject(json, "samples", source->samples);
    cJSON_AddNumberToObject(json, "selected", source->selected);
    cJSON_AddNumberToObject(json, "on_front", source->on_front);
    cJSON_AddNumberToObject(json, "k_close", source->k_close);
    add_numbers(source, RUNS_K, RUNS_R2, json);
    orr_json_add_list(json, "exponents", source->figure + RUNS_EXPONENT, 3);
    add_numbers(source, RUNS_R2, RUNS_FIGURES, json);
}

int report_runs_record(const struct runs_run *run, cJSON **record)
{
    cJSON *json = cJSON_CreateObject(), *settings = orr_settings_json(&run->preset);
    *record = json;
    cJSON_AddStringToObject(json, "format", format);
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(settings, "name", run->preset.name);
    cJSON_AddItemToObject(json, "settings", settings);
    cJSON *law = cJSON_AddObjectToObject(json, "true_law");
    cJSON_AddBoolToObject(law, "newton", run->true_law.newton);
    cJSON_AddStringToObject(law, "formula", run->true_law.formula);
    cJSON_AddNumberToObject(law, "constants", run->true_law.constants);
    orr_json_add_list(law, "k", run->true_law.k, 2);
    orr_json_add_list(law, "exponents", run->true_law.exponent, 3);
    cJSON_AddStringToObject(json, "rule", run->rule);
    cJSON *list = cJSON_AddArrayToObject(json, "sources");
    for (int s = 0; s < run->source_count; s++)
        add_source(&run->source[s], list);
    return list ? 0 : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", run->path);
}

/* ------------------------------------------------------------------------------- reading */

static int take_text(const cJSON *json, const char *key, char *text, size_t bytes, const char *path)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
    if (!value || strlen(value) >= bytes || !orr_is_label(value))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a line of at most %zu bytes, found %s",
                        path, key, bytes - 1, value ? value : "none");
    memcpy(text, value, strlen(value) + 1);
    return 0;
}

/* A whole number from 0 to most. */
static int take_count(const cJSON *json, const char *key, int most, int *count, const char *path)
{
    const double value = orr_json_number(json, key);
    if (!(value >= 0 && value <= most && value == floor(value)))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a whole number from 0 to %d, found %g",
                        path, key, most, value);
    *count = (int)value;
    return 0;
}

static int take_list(const cJSON *json, const char *key, double *x, int n, const char *path)
{
    return orr_json_list(json, key, x, n)
               ? 0
               : ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected %d numbers", path, key, n);
}

static int take_source(const cJSON *json, const char *path, struct runs_source *source)
{
    enum { MOST_SAMPLES = 1000000 };
    TRY(take_text(json, "source", source->title, sizeof source->title, path));
    source->is_model = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "is_model"));
    TRY(take_count(json, "samples", MOST_SAMPLES, &source->samples, path));
    TRY(take_count(json, "selected", source->samples, &source->selected, path));
    TRY(take_count(json, "k_close", source->selected, &source->k_close, path));
    TRY(take_count(json, "on_front", source->samples, &source->on_front, path));
    TRY(take_list(json, "exponents", source->figure + RUNS_EXPONENT, 3, path));
    for (int f = RUNS_SHARE; f < RUNS_FIGURES; f++)
        source->figure[f] =
            report_runs_name[f].in_cell ? orr_json_number(json, report_runs_name[f].in_cell) : NAN;
    report_runs_shares(source);
    return 0;
}

int report_runs_take_record(const cJSON *json, const char *path, struct runs_run *run)
{
    const cJSON *law = cJSON_GetObjectItemCaseSensitive(json, "true_law"), *source,
                *list = cJSON_GetObjectItemCaseSensitive(json, "sources");
    if (!orr_json_says(json, "format", format))
        return ORR_FAIL(ORR_EFORMAT, "%s: expected a cell's results (\"format\": \"%s\")", path,
                        format);
    TRY(orr_settings_from_json(&run->preset, cJSON_GetObjectItemCaseSensitive(json, "settings"),
                               path));
    TRY(take_text(json, "rule", run->rule, sizeof run->rule, path));
    TRY(take_text(law, "formula", run->true_law.formula, sizeof run->true_law.formula, path));
    TRY(take_count(law, "constants", 2, &run->true_law.constants, path));
    TRY(take_list(law, "k", run->true_law.k, 2, path));
    TRY(take_list(law, "exponents", run->true_law.exponent, 3, path));
    run->true_law.newton = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(law, "newton"));
    cJSON_ArrayForEach (source, list) {
        if (run->source_count == REPORT_SOURCES)
            return ORR_FAIL(ORR_EFORMAT, "%s: expected at most %d sources", path, REPORT_SOURCES);
        TRY(take_source(source, path, &run->source[run->source_count++]));
    }
    return run->source_count
               ? 0
               : ORR_FAIL(ORR_EFORMAT, "%s: \"sources\": expected at least one", path);
}
