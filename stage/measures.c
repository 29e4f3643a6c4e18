/* measures.c - see measures.h. */
#include "measures.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cjson.h"

const char *const orr_measured_probes[] = {"evaluate",  "rollout",     "linear",
                                           "labels",    "extrapolate", "inductive",
                                           "intervene", "planets",     NULL};

/* Which rows of a quantity and a measure are shown: every context, the largest one, or the layer
 * whose readout is best in the measure `by` of the same quantity. */
enum pick { EACH, LARGEST, BY_LAYER };

/* The rows that become lines; %d in a text is the row's context. */
static const struct wanted {
    const char *probe, *quantity, *measure;
    enum pick pick;
    int context; /* 0: any */
    const char *by;
    bool high;
    const char *text, *brief;
} wanted[] = {
    {"rollout", "position", "AU", LARGEST, 0, NULL, false, "rollout of %d steps, position, AU",
     "rollout %d, position, AU"},
    {"rollout", "energy", "drift", LARGEST, 0, NULL, false, "rollout of %d steps, energy, drift",
     "rollout %d, energy drift"},
    {"linear", "log force", "R^2, best layer", LARGEST, 0, NULL, true,
     "linear readout of log force, R^2", "readout of log force, R^2"},
    {"labels", "log force", "R^2", EACH, 0, NULL, true,
     "log force after %d labelled sequences, R^2", "%d labels, log force, R^2"},
    {"extrapolate", "log force, r outside", "R^2", LARGEST, 0, NULL, true,
     "log force at r beyond the labels, R^2", "beyond labels in r, R^2"},
    {"extrapolate", "log force, m1 m2 outside", "R^2", LARGEST, 0, NULL, true,
     "log force at m1 m2 beyond the labels, R^2", "beyond labels in m1 m2, R^2"},
    {"inductive", "target", "R^2", LARGEST, 0, NULL, true, "random function of the state, R^2",
     "inductive bias, R^2"},
    {"intervene", "1/r^2", "slope, likely", BY_LAYER, 1, "R^2, inner", true,
     "1/r^2 changed inside, slope of next position", "1/r^2 set inside, slope"},
    {"intervene", "angular momentum", "slope, likely", BY_LAYER, 1, "R^2, inner", true,
     "angular momentum changed inside, slope", "L set inside, slope"},
    {"planets", "next position, mean", "separations", LARGEST, 0, NULL, false,
     "real planets, next position, separations", "planets, next position"},
    {"planets", "force, mean", "cosine", LARGEST, 0, NULL, true, "real planets, force, cosine",
     "planets, force, cosine"},
    {"planets", "force, mean", "error of size", LARGEST, 0, NULL, false,
     "real planets, force, error of size", "planets, error of force"},
};
enum { WANTED = sizeof wanted / sizeof *wanted };

/* Writes a text with the context in the place of %d. */
static void write_text(char *to, size_t bytes, const char *text, int context)
{
    const char *place = strstr(text, "%d");
    if (place)
        snprintf(to, bytes, "%.*s%d%s", (int)(place - text), text, context, place + 2);
    else
        snprintf(to, bytes, "%s", text);
}

static int add_line(struct orr_measures *m, const struct wanted *w, const struct orr_row *row)
{
    if (m->count == ORR_MEASURES)
        return ORR_FAIL(ORR_EINVAL, "%s: more than %d rows of %s", w->probe, ORR_MEASURES,
                        w->quantity);
    struct orr_measure *to = &m->at[m->count++];
    *to = (struct orr_measure){.probe = w->probe,
                               .high = w->high,
                               .context = row->context,
                               .value = row->value,
                               .low = row->low,
                               .high_end = row->high,
                               .upper_bound = row->upper_bound,
                               .baseline = row->baseline,
                               .raw = row->raw,
                               .n = row->n};
    write_text(to->text, sizeof to->text, w->text, row->context);
    write_text(to->brief, sizeof to->brief, w->brief, row->context);
    return 0;
}

/* The layer with the largest value of the measure `by`; -1: none. */
static int best_layer(const struct orr_table *table, const struct wanted *w)
{
    double best = -INFINITY;
    int layer = -1;
    for (size_t i = 0; i < table->count; i++) {
        const struct orr_row *row = &table->row[i];
        if (strcmp(row->quantity, w->quantity) || strcmp(row->measure, w->by) ||
            !(row->value > best))
            continue;
        best = row->value;
        layer = row->layer;
    }
    return layer;
}

static int take_wanted(struct orr_measures *m, const struct wanted *w,
                       const struct orr_table *table)
{
    const int layer = w->pick == BY_LAYER ? best_layer(table, w) : -1;
    const struct orr_row *largest = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct orr_row *row = &table->row[i];
        if (strcmp(row->quantity, w->quantity) || strcmp(row->measure, w->measure) ||
            (w->context && row->context != w->context) ||
            (w->pick == BY_LAYER && row->layer != layer))
            continue;
        if (w->pick == EACH)
            TRY(add_line(m, w, row));
        else if (!largest || row->context > largest->context)
            largest = row;
    }
    return largest ? add_line(m, w, largest) : 0;
}

/* Next-state errors are in files of their own formats, without an interval: in evaluate.json below
 * "as_trained". */
static int take_evaluation(struct orr_measures *m, const char *path, bool of_training)
{
    static const struct wanted next = {
        .probe = "evaluate", .text = "next position, AU", .brief = "next position, AU"};
    struct orr_row row = orr_row_none;
    cJSON *json = NULL;
    TRY(orr_json_read(path, &json));
    const cJSON *e = of_training ? json : orr_json_get(json, "as_trained");
    const double n = orr_json_number(e, "sequences");
    row.context = 0;
    row.value = orr_json_number(e, "teacher_forced");
    row.low = row.high = NAN;
    row.upper_bound = orr_json_number(e, "orbit_fit");
    row.baseline = orr_json_number(e, "random_weights");
    row.raw = orr_json_number(e, "persistence");
    row.n = isfinite(n) ? (long)n : 0;
    const int rc = e && isfinite(n)
                       ? add_line(m, &next, &row)
                       : ORR_FAIL(ORR_EFORMAT, "%s: expected errors \"as_trained\"", path);
    cJSON_Delete(json);
    return rc;
}

int orr_measures_evaluation(const char *path, struct orr_measures *m)
{
    return take_evaluation(m, path, true);
}

static int take_rows(struct orr_measures *m, const char *probe, const char *path)
{
    struct orr_table table = {0};
    cJSON *json = NULL;
    int rc = orr_rows_read(path, &table, &json);
    for (int k = 0; k < WANTED && !rc; k++)
        if (!strcmp(wanted[k].probe, probe))
            rc = take_wanted(m, &wanted[k], &table);
    cJSON_Delete(json);
    orr_table_free(&table);
    return rc;
}

int orr_measures_read(const char *folder, struct orr_measures *m)
{
    char path[4096];
    m->count = 0;
    for (const char *const *probe = orr_measured_probes; *probe; probe++) {
        TRY(orr_path(path, "%s/%s.json", folder, *probe));
        if (!orr_exists(path))
            continue;
        TRY(probe == orr_measured_probes ? take_evaluation(m, path, false)
                                         : take_rows(m, *probe, path));
    }
    return 0;
}

bool orr_measure_beyond(const struct orr_measure *m, bool *known)
{
    *known = isfinite(m->low) && isfinite(m->high_end) && isfinite(m->baseline);
    return *known && (m->high ? m->low > m->baseline : m->high_end < m->baseline);
}
