/* cells_read.c - reads a run directory: laws of each source, errors of its models at the trained
 * length and beyond, time and memory of pretraining, rows of probes. */
#include "cells.h"

#include "figures/origin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"

#include "stage/rows.h"

/* ------------------------------------------------------------------------------- sources */

/* Whether k is close to a constant of the law, which has two where labels lie on both sides of a
 * jump of G. */
static bool is_close(const struct report_true_law *law, double k)
{
    bool close = false;
    for (int i = 0; i < law->constants; i++)
        close |= fabs(k / law->k[i] - 1) <= COMPARE_CLOSE;
    return close;
}

/* Computes the law columns of a source from its samples, by the cell's rule. */
static void take_laws(const struct report_run *run, int s, const char *rule, struct orr_row *row)
{
    static const int counts[] = {COMPARE_SAMPLES, COMPARE_SELECTED, COMPARE_ON_FRONT,
                                 COMPARE_K_CLOSE};
    int last = -1, constants = 0;
    double k = 0, loss = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        row[counts[i]].value = 0;
    for (size_t i = 0; i < run->law_count; i++) {
        const struct report_law *law = &run->law[i];
        if (law->source != s || strcmp(law->rule, rule) != 0 || law->sample == last)
            continue;
        last = law->sample;
        row[COMPARE_SAMPLES].value++;
        row[COMPARE_SELECTED].value += law->selected_true;
        row[COMPARE_ON_FRONT].value += law->on_front;
        loss += law->loss;
        if (law->selected_true && isfinite(law->constant)) {
            k += law->constant;
            constants++;
            row[COMPARE_K_CLOSE].value += is_close(&run->true_law, law->constant);
        }
    }
    row[COMPARE_K].value = constants ? k / constants : (double)NAN;
    row[COMPARE_LOSS].value = loss / row[COMPARE_SAMPLES].value;
}

static int take_source(const struct report_run *run, int s, struct compare_cells *cells,
                       struct compare_cell *cell)
{
    const struct report_source *from = &run->source[s];
    char name[2 * ORR_NAME + 8];
    if (from->role == REPORT_UNTRAINED)
        snprintf(name, sizeof name, "%s (%s)", from->name,
                 orr_source_attention(&run->settings, from->name));
    else
        snprintf(name, sizeof name, "%s", from->name);
    TRY(compare_add_source(cells, cell, name, from->role == REPORT_ATTENTION));
    struct orr_row *row = compare_cell_row(cells, cell, cell->sources - 1, 0);
    take_laws(run, s, cell->rule, row);
    for (int e = 0; e < 3; e++)
        row[COMPARE_EXPONENT + e].value = from->exponent[e].value;
    row[COMPARE_K_DROPPED].value = from->k_dropped_mean;
    row[COMPARE_R2].value = from->r2_log;
    return 0;
}

/* -------------------------------------------------------------------------------- probes */

/* Whether results belong to the checkpoint of pretraining, unchanged. */
static bool is_of(const cJSON *json, const char *checkpoint)
{
    const char *found = cJSON_GetStringValue(orr_json_get(json, "checkpoint_xxh64"));
    char content[17];
    uint64_t is, bytes;
    if (!found || !cJSON_IsFalse(orr_json_get(json, "changed")) || !orr_exists(checkpoint))
        return false;
    if (orr_file_checksum(checkpoint, &is, &bytes)) {
        orr_error_clear(); /* a failed allocation stays recorded */
        return false;
    }
    snprintf(content, sizeof content, "%016llx", (unsigned long long)is);
    return !strcmp(found, content);
}

static int take_probe(const cJSON *json, const char *path, const char *checkpoint,
                      struct orr_table *table)
{
    if (!is_of(json, checkpoint))
        return ORR_FAIL(ORR_EINVAL, "of another checkpoint, or of a changed one");
    return orr_rows_take(path, json, table);
}

int compare_probe_read(const char *run, const struct orr_settings *settings, const char *name,
                       const char *probe, struct orr_table *table)
{
    char path[REPORT_PATH], checkpoint[REPORT_PATH];
    cJSON *json = NULL;
    TRY(orr_path(path, "%s/%s/probe/%s.json", run, name, probe));
    TRY(orr_path(checkpoint, "%s/%s/pretrain/%s.safetensors", run, name,
                 settings->pretrain.patience > 0 ? "best" : "last"));
    if (!orr_exists(path))
        return ORR_FAIL(ORR_EMISSING, "not found");
    int rc = orr_json_read(path, &json);
    rc = rc ? rc : take_probe(json, path, checkpoint, table);
    cJSON_Delete(json);
    return rc;
}

const struct orr_row *compare_probe_row(const struct orr_table *table, const char *quantity,
                                        const char *measure, int context, bool last_layer)
{
    const struct orr_row *best = NULL;
    int most = -1;
    for (size_t i = 0; i < table->count; i++) {
        const struct orr_row *row = &table->row[i];
        if (strcmp(row->quantity, quantity) != 0 ||
            (measure && strcmp(row->measure, measure) != 0) || (row->layer >= 0) != last_layer ||
            (context >= 0 && row->context != context))
            continue;
        const int rank = last_layer ? row->layer : row->context;
        if (rank > most) {
            most = rank;
            best = row;
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------ training */

/* Reads a JSON file; NULL where it is missing, unreadable or changed since it was written. */
static cJSON *read_if_there(const char *path)
{
    cJSON *json = NULL;
    if (orr_exists(path) && orr_json_read(path, &json))
        orr_error_clear();
    return json;
}

/* Reads the next-state errors of random weights of a model's shape and of fitted orbits, from
 * bin/probe evaluate. They count only if they were measured on the sequences of the trained model
 * and found its error. */
static int read_random(const char *run, const char *name, struct orr_row *next)
{
    char path[REPORT_PATH];
    TRY(orr_path(path, "%s/%s/probe/evaluate.json", run, name));
    cJSON *json = read_if_there(path);
    const cJSON *of = orr_json_get(json, "as_trained");
    if (orr_json_number(of, "teacher_forced") == next->value) {
        next->baseline = orr_json_number(of, "random_weights");
        if (isfinite(orr_json_number(of, "orbit_fit")))
            next->upper_bound = orr_json_number(of, "orbit_fit");
    }
    cJSON_Delete(json);
    return 0;
}

/* Reads the errors beyond the trained length, from the longest sequences of bin/probe length. Files
 * that belong to another model or cannot be read are ignored. */
static int read_beyond(const char *run, const struct orr_settings *settings, const char *name,
                       struct orr_row *beyond)
{
    struct orr_table table = {0};
    const int rc = compare_probe_read(run, settings, name, "length", &table);
    const struct orr_row *row = compare_probe_row(&table, "next position, beyond", NULL, -1, false);
    if (!rc && row) {
        beyond->value = row->value;
        beyond->upper_bound = row->upper_bound;
        beyond->baseline = row->baseline;
    }
    orr_table_free(&table);
    if (rc && rc != ORR_ENOMEM)
        orr_error_clear();
    return rc == ORR_ENOMEM ? rc : 0;
}

/* Reads the median seconds per step and the memory from the lines of a training log that contain
 * them. A line cut short by a kill is ignored. */
static int read_cost(const char *path, double positions, struct orr_row *row)
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
            row[COMPARE_MEMORY_MB].value = memory;
        cJSON_Delete(json);
    }
    if (n > 0)
        row[COMPARE_STEP_MS].value = orr_median(ms, n);
    const int rc = ms ? 0 : ORR_ENOMEM;
    free(ms);
    free(text);
    return rc;
}

/* Sets the value of another source (the truth, random weights) from a bound of the model, unless
 * that source has a value already. */
static void set_bound(const struct compare_cells *cells, const struct compare_cell *cell,
                      const char *source, int column, double value)
{
    const int s = compare_cell_find(cells, cell, source);
    struct orr_row *row = s < 0 ? NULL : compare_cell_row(cells, cell, s, column);
    if (row && !isfinite(row->value))
        row->value = value;
}

/* Reads errors, time and memory of a model from its pretraining files; and, where measured, errors
 * of the truth (an orbit fitted to the same noisy positions) and of random weights of the model's
 * shape. */
static int read_trained(const struct compare_cells *cells, const struct compare_cell *cell, int s,
                        const char *run)
{
    const char *name = compare_cell_source(cells, cell, s);
    char path[REPORT_PATH], untrained[2 * ORR_NAME + 16];
    const struct orr_settings *settings = &cell->settings;
    const double positions = (double)settings->pretrain.batch * settings->pretrain.accumulation *
                             (settings->orbits.positions - 1);
    struct orr_row *row = compare_cell_row(cells, cell, s, 0), *next = row + COMPARE_NEXT_STATE,
                   *beyond = row + COMPARE_BEYOND;
    snprintf(untrained, sizeof untrained, "untrained (%s)", name);
    TRY(orr_path(path, "%s/%s/pretrain/evaluation.json", run, name));
    TRY(report_read_number(path, "teacher_forced", &next->value));
    TRY(report_read_number(path, "orbit_fit", &next->upper_bound)); /* written by older versions */
    TRY(report_read_number(path, "persistence", &next->raw));
    TRY(read_random(run, name, next));
    TRY(read_beyond(run, settings, name, beyond));
    set_bound(cells, cell, "truth", COMPARE_NEXT_STATE, next->upper_bound);
    set_bound(cells, cell, "truth", COMPARE_BEYOND, beyond->upper_bound);
    set_bound(cells, cell, untrained, COMPARE_NEXT_STATE, next->baseline);
    set_bound(cells, cell, untrained, COMPARE_BEYOND, beyond->baseline);
    TRY(orr_path(path, "%s/%s/pretrain/log.jsonl", run, name));
    return read_cost(path, positions, row);
}

/* ----------------------------------------------------------------------------- everything */

static int take_run(const struct report_run *run, const char *path, struct compare_cells *cells,
                    struct compare_cell *cell)
{
    cell->settings = run->settings;
    cell->true_law = run->true_law;
    snprintf(cell->rule, sizeof cell->rule, "%s", report_headline_rule(run));
    for (int s = 0; s < run->source_count; s++)
        if (run->source[s].has_laws)
            TRY(take_source(run, s, cells, cell));
    for (int s = 0; s < cell->sources; s++)
        if (compare_is_model(cells, cell, s))
            TRY(read_trained(cells, cell, s, path));
    return 0;
}

int compare_cell_read(struct compare_cells *cells, struct compare_cell *cell, const char *path)
{
    struct report_run *run = orr_alloc(1, sizeof *run);
    if (!run)
        return ORR_ENOMEM;
    int rc = report_read_settings(run, path, "");
    if (!rc && !orr_has_task(&run->settings, false))
        rc = ORR_FAIL(ORR_EINVAL, "%s: its settings have no force magnitudes", path);
    rc = rc ? rc : report_read_laws_json(run);
    rc = rc ? rc : report_origin_laws(path, &run->settings);
    rc = rc ? rc : take_run(run, path, cells, cell);
    report_free(run);
    free(run);
    return rc;
}
