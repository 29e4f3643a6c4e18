/* runs_trained.c - what a run says of the pretraining of a source: errors, at the trained length
 * and beyond it, time and memory. */
#include "runs.h"

#include "stage/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

bool report_runs_is_of(const cJSON *json, const char *checkpoint)
{
    const char *found =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "checkpoint_xxh64"));
    char content[17];
    uint64_t is, bytes;
    if (!found || !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(json, "changed")) ||
        !orr_exists(checkpoint))
        return false;
    if (orr_file_checksum(checkpoint, &is, &bytes)) {
        orr_error_clear(); /* (memory that ran out is remembered) */
        return false;
    }
    snprintf(content, sizeof content, "%016llx", (unsigned long long)is);
    return !strcmp(found, content);
}

/* NULL where there is no file, or none that can be read and is as it was written: it says
 * nothing. */
static cJSON *read_if_there(const char *path)
{
    cJSON *json = NULL;
    char why[ORR_WHY];
    if (orr_exists(path) && orr_json_read(path, &json))
        orr_error_clear();
    if (orr_sum_kept(json, why))
        return json;
    cJSON_Delete(json);
    return NULL;
}

int report_runs_random(const char *run, const char *name, double trained, double *random,
                       double *fit)
{
    char path[REPORT_PATH];
    *random = NAN;
    TRY(orr_path(path, "%s/%s/probe/evaluate.json", run, name));
    cJSON *json = read_if_there(path);
    const cJSON *of = cJSON_GetObjectItemCaseSensitive(json, "as_trained");
    if (orr_json_number(of, "teacher_forced") == trained) {
        *random = orr_json_number(of, "random_weights");
        if (isfinite(orr_json_number(of, "orbit_fit")))
            *fit = orr_json_number(of, "orbit_fit");
    }
    cJSON_Delete(json);
    return 0;
}

/* Errors of a model beyond its trained length, of the truth's own orbits and of random weights. */
struct errors {
    double model, truth, random;
};

/* Of the longest sequences that bin/probe length measured. What is of another model says nothing of
 * this one. */
static void read_beyond(const char *path, const char *checkpoint, struct errors *beyond)
{
    cJSON *json = read_if_there(path);
    const cJSON *row;
    double longest = 0;
    *beyond = (struct errors){NAN, NAN, NAN};
    if (json && report_runs_is_of(json, checkpoint))
        cJSON_ArrayForEach (row, cJSON_GetObjectItemCaseSensitive(json, "rows")) {
            const double context = orr_json_number(row, "context");
            if (!orr_json_says(row, "quantity", "next place, beyond") || !(context > longest))
                continue;
            longest = context;
            *beyond =
                (struct errors){orr_json_number(row, "value"), orr_json_number(row, "ceiling"),
                                orr_json_number(row, "floor")};
        }
    cJSON_Delete(json);
}

/* Median seconds of a step, and memory, of the lines of a training log that have them. A line that
 * a kill has cut short has none. */
static int read_cost(const char *path, double positions, struct runs_source *source)
{
    char *text = NULL, *rest = NULL;
    size_t bytes = 0, lines = 1, n = 0;
    if (!orr_exists(path))
        return 0;
    TRY(orr_log_read(path, &text, &bytes));
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    double *ms = orr_alloc(lines, sizeof *ms);
    for (char *line = ms ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        cJSON *json = cJSON_ParseWithOpts(line, NULL, 1);
        const double rate = orr_json_number(json, "tokens_per_s"),
                     memory = orr_json_number(json, "memory_mb");
        if (rate > 0)
            ms[n++] = 1000 * positions / rate;
        if (memory > 0)
            source->figure[RUNS_MEMORY_MB] = memory;
        cJSON_Delete(json);
    }
    if (n > 0)
        source->figure[RUNS_STEP_MS] = orr_median(ms, n);
    const int rc = ms ? 0 : ORR_ENOMEM;
    free(ms);
    free(text);
    return rc;
}

int report_runs_checkpoint(const char *run, const struct orr_settings *preset, const char *name,
                           char path[REPORT_PATH])
{
    return orr_path(path, "%s/%s/pretrain/%s.safetensors", run, name,
                    preset->pretrain.patience > 0 ? "best" : "last");
}

static struct runs_source *find(struct runs_run *into, const char *title)
{
    const struct runs_source *found = report_runs_find(into, title);
    return found ? into->source + (found - into->source) : NULL;
}

int report_runs_trained(const char *run, const char *name, struct runs_run *into)
{
    char path[REPORT_PATH], checkpoint[REPORT_PATH], untrained[sizeof into->source->title];
    const struct orr_settings *preset = &into->preset;
    const double positions = (double)preset->pretrain.batch * preset->pretrain.accumulation *
                             (preset->orbits.positions - 1);
    struct runs_source *source = find(into, name), *truth = find(into, "truth");
    struct errors beyond;
    double fit = NAN, random;
    snprintf(untrained, sizeof untrained, "untrained (%s)", name);
    struct runs_source *floor = find(into, untrained);
    TRY(orr_path(path, "%s/%s/pretrain/evaluation.json", run, name));
    TRY(report_read_number(path, "teacher_forced", &source->figure[RUNS_NEXT_STATE]));
    TRY(report_read_number(path, "orbit_fit", &fit)); /* of older versions */
    TRY(report_runs_random(run, name, source->figure[RUNS_NEXT_STATE], &random, &fit));
    TRY(orr_path(path, "%s/%s/probe/length.json", run, name));
    TRY(report_runs_checkpoint(run, preset, name, checkpoint));
    read_beyond(path, checkpoint, &beyond);
    source->figure[RUNS_BEYOND] = beyond.model;
    if (truth && !isfinite(truth->figure[RUNS_NEXT_STATE]))
        truth->figure[RUNS_NEXT_STATE] = fit;
    if (truth && !isfinite(truth->figure[RUNS_BEYOND]))
        truth->figure[RUNS_BEYOND] = beyond.truth;
    if (floor) {
        floor->figure[RUNS_NEXT_STATE] = random;
        floor->figure[RUNS_BEYOND] = beyond.random;
    }
    TRY(orr_path(path, "%s/%s/pretrain/log.jsonl", run, name));
    return read_cost(path, positions, source);
}
