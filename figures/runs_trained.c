/* runs_trained.c - what a run says of the pretraining of a source: errors, at the trained length
 * and beyond it, time and memory. */
#include "runs.h"

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
        !orr_exists(checkpoint) || orr_file_checksum(checkpoint, &is, &bytes))
        return false;
    snprintf(content, sizeof content, "%016llx", (unsigned long long)is);
    return !strcmp(found, content);
}

/* Next-state errors of a model, of the truth's own orbits and of random weights. */
struct errors {
    double model, truth, random;
};

/* Those of the quantity in the longest sequences that bin/probe length measured, or the shortest,
 * of the trained length. */
static struct errors errors_of(const cJSON *json, const char *quantity, bool longest)
{
    struct errors errors = {NAN, NAN, NAN};
    double best = NAN;
    const cJSON *row;
    cJSON_ArrayForEach (row, cJSON_GetObjectItemCaseSensitive(json, "rows")) {
        const double context = orr_json_number(row, "context");
        if (!orr_json_says(row, "quantity", quantity) ||
            (longest ? context <= best : context >= best))
            continue;
        best = context;
        errors = (struct errors){orr_json_number(row, "value"), orr_json_number(row, "ceiling"),
                                 orr_json_number(row, "floor")};
    }
    return errors;
}

/* What cannot be read, or is of another model, says nothing of this one. */
static void read_length(const char *path, const char *checkpoint, struct errors *trained,
                        struct errors *beyond)
{
    cJSON *json = NULL;
    if (orr_exists(path) && orr_json_read(path, &json))
        orr_error_clear();
    const cJSON *of = json && report_runs_is_of(json, checkpoint) ? json : NULL;
    *trained = errors_of(of, "next place", false);
    *beyond = errors_of(of, "next place, beyond", true);
    cJSON_Delete(json);
}

/* Median seconds of a step, and memory, of the lines of a training log that have them. A line that
 * a kill has cut short has none. */
static int read_cost(const char *path, double positions, struct runs_source *source)
{
    char *text = NULL;
    size_t bytes = 0, lines = 1, n = 0;
    if (!orr_exists(path))
        return 0;
    TRY(orr_file_read(path, &text, &bytes));
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    double *ms = orr_alloc(lines, sizeof *ms);
    for (char *line = text, *next; ms && line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        cJSON *json = cJSON_Parse(line);
        const double rate = orr_json_number(json, "tokens_per_s"),
                     memory = orr_json_number(json, "memory_mb");
        if (rate > 0)
            ms[n++] = 1000 * positions / rate;
        if (memory > 0)
            source->memory_mb = memory;
        cJSON_Delete(json);
    }
    if (n > 0)
        source->step_ms = orr_median(ms, n);
    const int rc = ms ? 0 : ORR_ENOMEM;
    free(ms);
    free(text);
    return rc;
}

int report_runs_checkpoint(const char *run, const struct orr_preset *preset, const char *name,
                           char path[REPORT_PATH])
{
    return orr_path(path, "%s/%s/pretrain/%s.safetensors", run, name,
                    preset->pretrain.patience > 0 ? "best" : "last");
}

static struct runs_source *find(struct runs_run *into, const char *title)
{
    for (int s = 0; s < into->source_count; s++)
        if (!strcmp(into->source[s].title, title))
            return &into->source[s];
    return NULL;
}

int report_runs_trained(const char *run, const char *name, struct runs_run *into)
{
    char path[REPORT_PATH], checkpoint[REPORT_PATH], untrained[sizeof into->source->title];
    const struct orr_preset *preset = &into->preset;
    const double positions = (double)preset->pretrain.batch * preset->pretrain.accumulation *
                             (preset->orbits.positions - 1);
    struct runs_source *source = find(into, name), *truth = find(into, "truth");
    struct errors trained, beyond;
    double fit = NAN;
    snprintf(untrained, sizeof untrained, "untrained (%s)", name);
    struct runs_source *floor = find(into, untrained);
    TRY(orr_path(path, "%s/%s/pretrain/evaluation.json", run, name));
    TRY(report_read_number(path, "teacher_forced", &source->next_state));
    TRY(report_read_number(path, "orbit_fit", &fit));
    TRY(orr_path(path, "%s/%s/probe/length.json", run, name));
    TRY(report_runs_checkpoint(run, preset, name, checkpoint));
    read_length(path, checkpoint, &trained, &beyond);
    source->beyond = beyond.model;
    if (truth && !isfinite(truth->next_state))
        truth->next_state = fit;
    if (truth && !isfinite(truth->beyond))
        truth->beyond = beyond.truth;
    if (floor) {
        floor->next_state = trained.random;
        floor->beyond = beyond.random;
    }
    TRY(orr_path(path, "%s/%s/pretrain/log.jsonl", run, name));
    return read_cost(path, positions, source);
}
