/* read.c - figures of every cell, and what is missing. */
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "stage/provenance.h"
#include "figures/origin.h"
#include "figures/report.h"

int verdict_miss(struct verdict *v, const char *what, const char *why)
{
    struct verdict_missing *more = realloc(v->missing, (v->missing_count + 1) * sizeof *v->missing);
    if (!more)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", what);
    v->missing = more;
    snprintf(more[v->missing_count].what, sizeof more->what, "%s", what);
    snprintf(more[v->missing_count].why, sizeof more->why, "%s", why);
    orr_one_line(more[v->missing_count].what); /* of a file, and for a list */
    orr_one_line(more[v->missing_count].why);
    v->missing_count++;
    return 0;
}

/* ------------------------------------------------------------------------------- a probe */

static const char *const number[4] = {"value", "ceiling", "floor", "raw"};

/* The row that the question asks for, NULL when there is none. */
static const cJSON *row_of(const cJSON *rows, const struct verdict_question *question)
{
    const cJSON *row, *best = NULL;
    double most = -1;
    for (row = cJSON_IsArray(rows) ? rows->child : NULL; row; row = row->next) {
        const double layer = orr_json_number(row, "layer"),
                     context = orr_json_number(row, "context");
        if (!orr_json_says(row, "quantity", question->quantity) ||
            !orr_json_says(row, "measure", question->measure) ||
            (layer >= 0) != question->last_layer ||
            (question->context >= 0 && context != question->context))
            continue;
        const double rank = question->last_layer ? layer : context;
        if (rank > most) {
            most = rank;
            best = row;
        }
    }
    return best;
}

/* Whether two rows are of one figure. */
static bool is_same(const cJSON *a, const cJSON *b)
{
    static const char *const text[] = {"quantity", "measure"};
    for (int k = 0; k < 2; k++) {
        const char *of_b = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(b, text[k]));
        if (!of_b || !orr_json_says(a, text[k], of_b))
            return false;
    }
    return orr_json_number(a, "layer") == orr_json_number(b, "layer") &&
           orr_json_number(a, "context") == orr_json_number(b, "context");
}

/* Whether a figure is there once and in numbers (or null, where there is none), if not why: files
 * of earlier versions have no sum that would tell. */
static bool is_sound(const cJSON *rows, const cJSON *row, char why[ORR_WHY])
{
    const cJSON *other;
    for (int k = 0; k < 4; k++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, number[k]);
        if (item && !cJSON_IsNumber(item) && !cJSON_IsNull(item)) {
            snprintf(why, ORR_WHY, "a row's \"%s\": expected a number or null", number[k]);
            return false;
        }
    }
    for (other = rows->child; other; other = other->next)
        if (other != row && is_same(row, other)) {
            snprintf(why, ORR_WHY, "%s of \"%s\" is there twice",
                     cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "measure")),
                     cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "quantity")));
            return false;
        }
    return true;
}

/* Whether no cell has results of the probe. */
static bool is_unasked(const struct verdict *v, const char *probe)
{
    for (int i = 0; i < v->unasked.count; i++)
        if (!strcmp(v->unasked.item[i], probe))
            return true;
    return false;
}

static int list_unasked(struct verdict *v, const char *probe)
{
    char path[REPORT_PATH];
    for (size_t i = 0; i < v->runs.count; i++) {
        const struct runs_run *run = &v->runs.run[i];
        if (run->record && verdict_record_has(run, probe))
            return 0;
        for (int s = 0; s < run->source_count && !run->record; s++) {
            TRY(orr_path(path, "%s/%s/probe/%s.json", run->path, run->source[s].title, probe));
            if (orr_exists(path))
                return 0;
        }
    }
    snprintf(v->unasked.item[v->unasked.count++], ORR_NAME, "%s", probe);
    return 0;
}

/* The figures of one probe. */
static int read_probe(struct verdict *v, const struct runs_run *run, struct verdict_cell *cell,
                      const char *probe)
{
    char path[REPORT_PATH], checkpoint[REPORT_PATH];
    cJSON *json = NULL;
    if (is_unasked(v, probe))
        return 0;
    TRY(orr_path(path, "%s/%s/probe/%s.json", run->path, cell->attention, probe));
    TRY(report_runs_checkpoint(run->path, &run->preset, cell->attention, checkpoint));
    if (!orr_exists(path))
        return verdict_miss(v, path, "not found");
    if (orr_json_read(path, &json)) {
        const int rc = verdict_miss(v, path, orr_error());
        orr_error_clear();
        return rc;
    }
    int rc = 0;
    char why[ORR_WHY];
    if (!orr_sum_kept(json, why))
        rc = verdict_miss(v, path, why);
    else if (!report_runs_is_of(json, checkpoint))
        rc = verdict_miss(v, path, "of another checkpoint, or of a changed one");
    else
        for (int q = 0; verdict_table[q].id; q++) {
            const struct verdict_question *question = &verdict_table[q];
            if (question->kind != VERDICT_PROBE || strcmp(question->probe, probe) != 0)
                continue;
            const cJSON *rows = cJSON_GetObjectItemCaseSensitive(json, "rows");
            const cJSON *row = row_of(rows, question);
            if (row && !is_sound(rows, row, why)) {
                rc = rc ? rc : verdict_miss(v, path, why);
                continue;
            }
            if (!row && question->topic != VERDICT_LABELS) /* of labels there may be fewer */
                rc = rc ? rc : verdict_miss(v, path, question->title);
            for (int k = 0; k < 4; k++)
                cell->figure[q][k] = orr_json_number(row, number[k]);
        }
    cJSON_Delete(json);
    return rc;
}

/* --------------------------------------------------------------------------- other files */

static int read_next(struct verdict *v, const struct runs_run *run, struct verdict_cell *cell,
                     int q)
{
    char path[REPORT_PATH];
    double *figure = cell->figure[q], *value = figure, *ceiling = figure + 1, *floor = figure + 2;
    TRY(orr_path(path, "%s/%s/pretrain/evaluation.json", run->path, cell->attention));
    if (!orr_exists(path))
        return verdict_miss(v, path, "not found");
    TRY(report_read_number(path, "teacher_forced", value));
    TRY(report_read_number(path, "orbit_fit", ceiling)); /* of older versions */
    TRY(report_runs_random(run->path, cell->attention, *value, floor, ceiling));
    return report_read_number(path, "persistence", figure + 3);
}

static void read_run(const struct runs_run *run, struct verdict_cell *cell, int q)
{
    char untrained[2 * ORR_NAME + 8];
    snprintf(untrained, sizeof untrained, "untrained (%s)", cell->attention);
    const char *const source[4] = {cell->attention, "truth", untrained, "oracle"};
    for (int k = 0; k < 4; k++)
        cell->figure[q][k] = report_runs_figure(run, source[k], verdict_table[q].context);
}

/* Agreement on the eccentric bodies and on the planets; NaN where the source has none. */
static int bodies(const struct report_run *run, const char *source, enum report_floor floor,
                  double figure[4])
{
    const int s = report_find(run, source), all = report_bodies(run);
    for (int k = 0; k < 4; k++)
        figure[k] = NAN;
    if (s < 0 || !run->source[s].has_vectors)
        return 0;
    for (int planets = 0; planets < 2; planets++) {
        struct report_agreement agreement;
        const int first = planets ? 0 : REPORT_PLANETS, last = planets ? REPORT_PLANETS : all;
        if (first >= last)
            continue;
        TRY(report_agree(&run->source[s].orbit[first], (size_t)(last - first),
                         REPORT_EVEN_IN_ANOMALY, floor, &agreement));
        figure[2 * planets] = agreement.cosine;
        figure[2 * planets + 1] = agreement.relative_error;
    }
    return 0;
}

/* The raw figure is "towards the Sun, by 1/r^2 from the labels". */
static int read_bodies(struct verdict *v, const struct runs_run *cell_run,
                       struct verdict_cell *cell)
{
    static struct report_run run;
    double own[4], floor[4], raw[4];
    if (!orr_has_task(&cell_run->preset, true))
        return 0;
    int rc = report_origin_vectors(cell_run->path, &cell_run->preset);
    if (!rc)
        rc = report_read(&run, cell_run->path, cell->attention);
    rc = rc ? rc : bodies(&run, cell->attention, REPORT_NO_FLOOR, own);
    /* random weights have the shape of the first attention of a run: no floor of another */
    const char *shape = orr_source_attention(&cell_run->preset, "untrained");
    rc = rc ? rc
            : bodies(&run, shape && !strcmp(shape, cell->attention) ? "untrained" : "",
                     REPORT_NO_FLOOR, floor);
    rc = rc ? rc : bodies(&run, cell->attention, REPORT_FLOOR_SQUARE, raw);
    report_free(&run);
    if (rc && rc != ORR_ENOMEM) {
        rc = verdict_miss(v, cell_run->path, orr_error());
        orr_error_clear();
        return rc;
    }
    for (int q = 0; verdict_table[q].id && !rc; q++)
        if (verdict_table[q].kind == VERDICT_BODIES) {
            const int k = verdict_table[q].context;
            const double figure[4] = {own[k], k % 2 ? 0 : 1, floor[k], raw[k]};
            memcpy(cell->figure[q], figure, sizeof figure);
        }
    return rc;
}

/* -------------------------------------------------------------------------------- a cell */

/* Whether the question is the first one of its probe. */
static bool begins_probe(int q)
{
    if (verdict_table[q].kind != VERDICT_PROBE)
        return false;
    for (int k = 0; k < q; k++)
        if (verdict_table[k].kind == VERDICT_PROBE &&
            !strcmp(verdict_table[k].probe, verdict_table[q].probe))
            return false;
    return true;
}

int verdict_add_cell(struct verdict *v, const struct runs_run *run, const char *attention,
                     struct verdict_cell **added)
{
    struct verdict_cell *cell = realloc(v->cell, (v->count + 1) * sizeof *v->cell);
    if (!cell)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", run->path);
    v->cell = cell;
    cell += v->count++;
    *cell = (struct verdict_cell){.path = run->path, .seed = run->preset.seed};
    snprintf(cell->attention, sizeof cell->attention, "%s", attention);
    for (int q = 0; q < VERDICT_QUESTIONS; q++)
        for (int k = 0; k < 4; k++)
            cell->figure[q][k] = NAN;
    *added = cell;
    return 0;
}

static int read_cell(struct verdict *v, const struct runs_run *run, const char *attention)
{
    struct verdict_cell *cell;
    TRY(verdict_add_cell(v, run, attention, &cell));
    TRY(read_bodies(v, run, cell));
    for (int q = 0; verdict_table[q].id; q++) {
        const struct verdict_question *question = &verdict_table[q];
        if (begins_probe(q))
            TRY(read_probe(v, run, cell, question->probe));
        else if (question->kind == VERDICT_NEXT)
            TRY(read_next(v, run, cell, q));
        else if (question->kind == VERDICT_RUN)
            read_run(run, cell, q);
    }
    return 0;
}

static int by_seed(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* softmax, then the others by name. */
static int by_attention(const void *a, const void *b)
{
    const bool p = !strcmp(a, "softmax"), q = !strcmp(b, "softmax");
    return p || q ? (int)q - (int)p : strcmp(a, b);
}

/* Every figure of all cells as one table. */
static int make_tables(struct verdict *v)
{
    char model[ORR_NAME + 16];
    for (int q = 0; verdict_table[q].id; q++)
        for (size_t i = 0; i < v->count; i++) {
            const struct verdict_cell *cell = &v->cell[i];
            const double *figure = cell->figure[q];
            snprintf(model, sizeof model, "attention=%s", cell->attention);
            const struct orr_row row = {.model = model,
                                        .quantity = verdict_table[q].id,
                                        .measure = "",
                                        .seed = cell->seed,
                                        .value = figure[0],
                                        .half = NAN,
                                        .ceiling = figure[1],
                                        .floor = figure[2],
                                        .raw = figure[3]};
            TRY(orr_table_add(&v->figure[q], &row));
        }
    return 0;
}

/* Which attentions and seeds there are. */
static int list(struct verdict *v)
{
    v->seed = orr_alloc(v->count ? v->count : 1, sizeof *v->seed);
    v->value = orr_alloc(v->count ? v->count : 1, sizeof *v->value);
    if (!v->seed || !v->value)
        return ORR_ENOMEM;
    for (size_t i = 0; i < v->count; i++) {
        const struct verdict_cell *cell = &v->cell[i];
        bool has = false, has_seed = false;
        for (int a = 0; a < v->attentions; a++)
            has |= !strcmp(v->attention[a], cell->attention);
        for (int s = 0; s < v->seeds; s++)
            has_seed |= v->seed[s] == cell->seed;
        if (!has_seed)
            v->seed[v->seeds++] = cell->seed;
        if (has)
            continue;
        if (v->attentions == ORR_LIST)
            return ORR_FAIL(ORR_EINVAL, "%s: expected at most %d attentions", cell->path, ORR_LIST);
        snprintf(v->attention[v->attentions++], ORR_NAME, "%s", cell->attention);
    }
    qsort(v->seed, (size_t)v->seeds, sizeof *v->seed, by_seed);
    qsort(v->attention, (size_t)v->attentions, ORR_NAME, by_attention);
    return make_tables(v);
}

int verdict_read(struct verdict *v, const char *const *path, int n)
{
    *v = (struct verdict){.planned = n};
    TRY(report_runs_read_these(&v->runs, path, n));
    for (size_t i = 0; i < v->runs.left_out_count; i++)
        TRY(verdict_miss(v, v->runs.left_out[i].path, v->runs.left_out[i].why));
    if (v->runs.groups > 1) {
        size_t other = 1;
        while (v->runs.run[other].group == v->runs.run[0].group)
            other++;
        return ORR_FAIL(ORR_EINVAL, "%s: of other settings (%s) than %s (%s)",
                        v->runs.run[other].path, v->runs.run[other].label, v->runs.run[0].path,
                        v->runs.run[0].label);
    }
    for (int q = 0; verdict_table[q].id; q++)
        if (begins_probe(q))
            TRY(list_unasked(v, verdict_table[q].probe));
    for (size_t i = 0; i < v->runs.count; i++) {
        const struct runs_run *run = &v->runs.run[i];
        if (run->record)
            TRY(verdict_take_record(v, run));
        for (int s = 0; s < run->source_count && !run->record; s++)
            if (run->source[s].is_model)
                TRY(read_cell(v, run, run->source[s].title));
    }
    return list(v);
}

void verdict_free(struct verdict *v)
{
    report_runs_free(&v->runs);
    free(v->cell);
    free(v->missing);
    free(v->seed);
    free(v->value);
    for (int q = 0; q < VERDICT_QUESTIONS; q++)
        orr_table_free(&v->figure[q]);
    *v = (struct verdict){0};
}
