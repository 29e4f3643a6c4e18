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

/* The row "next place, beyond" of the longest sequences, of bin/probe length. */
static void take_beyond(const cJSON *json, double *beyond)
{
    const cJSON *row;
    double longest = 0;
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(json, "rows");
    for (row = cJSON_IsArray(rows) ? rows->child : NULL; row; row = row->next) {
        const char *quantity =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "quantity"));
        const double context = orr_json_number(row, "context");
        if (quantity && !strcmp(quantity, "next place, beyond") && context > longest) {
            longest = context;
            *beyond = orr_json_number(row, "value");
        }
    }
}

/* What cannot be read, or is of another model, says nothing of this one. */
static void read_beyond(const char *path, const char *checkpoint, double *beyond)
{
    cJSON *json = NULL;
    if (!orr_exists(path))
        return;
    if (orr_json_read(path, &json))
        orr_error_clear();
    if (report_runs_is_of(json, checkpoint))
        take_beyond(json, beyond);
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

int report_runs_trained(const char *run, const struct orr_preset *preset, const char *name,
                        struct runs_source *source)
{
    char path[REPORT_PATH], checkpoint[REPORT_PATH];
    const double positions = (double)preset->pretrain.batch * preset->pretrain.accumulation *
                             (preset->orbits.positions - 1);
    source->next_state = source->beyond = source->step_ms = source->memory_mb = NAN;
    TRY(orr_path(path, "%s/%s/pretrain/evaluation.json", run, name));
    TRY(report_read_number(path, "teacher_forced", &source->next_state));
    TRY(orr_path(path, "%s/%s/probe/length.json", run, name));
    TRY(report_runs_checkpoint(run, preset, name, checkpoint));
    read_beyond(path, checkpoint, &source->beyond);
    TRY(orr_path(path, "%s/%s/pretrain/log.jsonl", run, name));
    return read_cost(path, positions, source);
}
