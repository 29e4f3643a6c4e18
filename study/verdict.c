/* verdict.c - collects the values of every cell of a grid and what is missing; means over seeds and
 * paired differences. */
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures/origin.h"

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
    for (size_t i = 0; i < v->cells.count; i++) {
        const struct compare_cell *cell = &v->cells.cell[i];
        if (cell->record && verdict_record_has(cell, probe))
            return 0;
        for (int s = 0; s < cell->sources && !cell->record; s++) {
            TRY(orr_path(path, "%s/%s/probe/%s.json", cell->path,
                         compare_cell_source(&v->cells, cell, s), probe));
            if (orr_exists(path))
                return 0;
        }
    }
    snprintf(v->unasked.item[v->unasked.count++], ORR_NAME, "%s", probe);
    return 0;
}

/* Copies the numbers of another row to the row of question q. */
static void take_row(const struct verdict *v, const struct compare_cell *cell, int s, int q,
                     const struct orr_row *from)
{
    struct orr_row *row = compare_cell_row(&v->cells, cell, s, COMPARE_COLUMNS + q);
    row->value = from->value;
    row->upper_bound = from->upper_bound;
    row->baseline = from->baseline;
    row->raw = from->raw;
}

static int take_probe(struct verdict *v, const struct compare_cell *cell, int s, int q,
                      const char *path, const struct orr_table *rows)
{
    const struct verdict_question *question = &v->question[q];
    const struct orr_row *row = compare_probe_row(rows, question->quantity, question->measure,
                                                  question->context, question->last_layer);
    if (row)
        take_row(v, cell, s, q, row);
    return row || question->topic == VERDICT_LABELS /* fewer numbers of labels are allowed */
               ? 0
               : compare_miss(&v->missing, path, question->title);
}

/* Reads the values of one probe. */
static int read_probe(struct verdict *v, const struct compare_cell *cell, int s, const char *probe)
{
    const char *attention = compare_cell_source(&v->cells, cell, s);
    char path[REPORT_PATH];
    struct orr_table rows = {0};
    if (is_unasked(v, probe))
        return 0;
    TRY(orr_path(path, "%s/%s/probe/%s.json", cell->path, attention, probe));
    int rc = compare_probe_read(cell->path, &cell->settings, attention, probe, &rows);
    if (rc && rc != ORR_ENOMEM) {
        rc = compare_miss(&v->missing, path, orr_error());
        orr_error_clear();
    } else {
        for (int q = 0; v->question[q].id && !rc; q++)
            if (v->question[q].kind == VERDICT_PROBE && !strcmp(v->question[q].probe, probe))
                rc = take_probe(v, cell, s, q, path, &rows);
    }
    orr_table_free(&rows);
    return rc;
}

/* --------------------------------------------------------------------------- other files */

static int read_column(struct verdict *v, const struct compare_cell *cell, int s, int q)
{
    char path[REPORT_PATH];
    TRY(orr_path(path, "%s/%s/pretrain/evaluation.json", cell->path,
                 compare_cell_source(&v->cells, cell, s)));
    if (v->question[q].value == COMPARE_NEXT_STATE && !orr_exists(path))
        return compare_miss(&v->missing, path, "not found");
    take_row(v, cell, s, q, compare_cell_row(&v->cells, cell, s, v->question[q].value));
    return 0;
}

/* Agreement of forces for the eccentric bodies and for the planets; NaN where the source has
 * none. */
static int measure_planets(const struct report_run *run, const char *source,
                           enum report_baseline baseline, double figure[VERDICT_BODIES_VALUES])
{
    const int s = report_find(run, source), all = report_bodies(run);
    for (int k = 0; k < VERDICT_BODIES_VALUES; k++)
        figure[k] = NAN;
    if (s < 0 || !run->source[s].has_vectors)
        return 0;
    for (int planets = 0; planets < 2; planets++) {
        struct report_agreement agreement;
        const int first = planets ? 0 : REPORT_PLANETS, last = planets ? REPORT_PLANETS : all;
        if (first >= last)
            continue;
        TRY(report_agree(&run->source[s].orbit[first], (size_t)(last - first),
                         REPORT_EVEN_IN_ANOMALY, baseline, &agreement));
        figure[planets ? VERDICT_PLANETS_COSINE : VERDICT_ECCENTRIC_COSINE] = agreement.cosine;
        figure[planets ? VERDICT_PLANETS_ERROR : VERDICT_ECCENTRIC_ERROR] =
            agreement.relative_error;
    }
    return 0;
}

static int measure_bodies(const struct report_run *run, const char *attention,
                          double own[VERDICT_BODIES_VALUES], double baseline[VERDICT_BODIES_VALUES],
                          double raw[VERDICT_BODIES_VALUES])
{
    /* random weights have the shape of the run's first attention, so they are a baseline only for
     * it */
    const char *shape = orr_source_attention(&run->settings, "untrained");
    TRY(measure_planets(run, attention, REPORT_NO_BASELINE, own));
    TRY(measure_planets(run, shape && !strcmp(shape, attention) ? "untrained" : "",
                        REPORT_NO_BASELINE, baseline));
    return measure_planets(run, attention, REPORT_BASELINE_SQUARE, raw);
}

/* The raw value is the baseline "towards the Sun, by 1/r^2 from the labels". */
static int read_bodies(struct verdict *v, const struct compare_cell *cell, int s)
{
    const char *attention = compare_cell_source(&v->cells, cell, s);
    double own[VERDICT_BODIES_VALUES], baseline[VERDICT_BODIES_VALUES], raw[VERDICT_BODIES_VALUES];
    if (!orr_has_task(&cell->settings, true))
        return 0;
    struct report_run *run = orr_alloc(1, sizeof *run);
    if (!run)
        return ORR_ENOMEM;
    int rc = report_origin_vectors(cell->path, &cell->settings);
    rc = rc ? rc : report_read(run, cell->path, attention, NULL);
    rc = rc ? rc : measure_bodies(run, attention, own, baseline, raw);
    report_free(run);
    free(run);
    if (rc && rc != ORR_ENOMEM) {
        rc = compare_miss(&v->missing, cell->path, orr_error());
        orr_error_clear();
        return rc;
    }
    for (int q = 0; v->question[q].id && !rc; q++) {
        const int k = v->question[q].value;
        if (v->question[q].kind == VERDICT_BODIES)
            take_row(v, cell, s, q,
                     &(struct orr_row){
                         .value = own[k],
                         .upper_bound =
                             k == VERDICT_ECCENTRIC_ERROR || k == VERDICT_PLANETS_ERROR ? 0 : 1,
                         .baseline = baseline[k],
                         .raw = raw[k]});
    }
    return rc;
}

/* ------------------------------------------------------------------------------- a model */

/* Whether the question is the first of its probe. */
static bool begins_probe(const struct verdict *v, int q)
{
    if (v->question[q].kind != VERDICT_PROBE)
        return false;
    for (int k = 0; k < q; k++)
        if (v->question[k].kind == VERDICT_PROBE &&
            !strcmp(v->question[k].probe, v->question[q].probe))
            return false;
    return true;
}

static int read_model(struct verdict *v, const struct compare_cell *cell, int s)
{
    TRY(read_bodies(v, cell, s));
    for (int q = 0; v->question[q].id; q++)
        if (begins_probe(v, q))
            TRY(read_probe(v, cell, s, v->question[q].probe));
        else if (v->question[q].kind == VERDICT_COLUMN)
            TRY(read_column(v, cell, s, q));
    return 0;
}

static int by_seed(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Orders softmax first, then the others by name. */
static int by_attention(const void *a, const void *b)
{
    const bool p = !strcmp(a, "softmax"), q = !strcmp(b, "softmax");
    return p || q ? (int)q - (int)p : strcmp(a, b);
}

/* Checks that all cells belong to one group, so that they are seeds and attentions of one grid. */
static int check_group(const struct compare_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        if (cells->cell[i].group != cells->cell[0].group)
            return ORR_FAIL(ORR_EINVAL, "%s: of other settings (%s) than %s (%s)",
                            cells->cell[i].path, cells->cell[i].label, cells->cell[0].path,
                            cells->cell[0].label);
    return 0;
}

static int list_model(struct verdict *v, const struct compare_cell *cell, int s)
{
    const char *attention = compare_cell_source(&v->cells, cell, s);
    bool has = false, has_seed = false;
    v->count++;
    for (int a = 0; a < v->attentions; a++)
        has |= !strcmp(v->attention[a], attention);
    for (int k = 0; k < v->seeds; k++)
        has_seed |= v->seed[k] == cell->settings.seed;
    if (!has_seed)
        v->seed[v->seeds++] = cell->settings.seed;
    if (has)
        return 0;
    if (v->attentions == ORR_LIST)
        return ORR_FAIL(ORR_EINVAL, "%s: expected at most %d attentions", cell->path, ORR_LIST);
    snprintf(v->attention[v->attentions++], ORR_NAME, "%s", attention);
    return 0;
}

/* Lists the attentions and seeds, and collects the rows of each question. */
static int list_models(struct verdict *v)
{
    v->seed = orr_alloc(v->cells.count, sizeof *v->seed);
    v->value = orr_alloc(v->cells.count, sizeof *v->value);
    TRY(v->seed && v->value ? 0 : ORR_ENOMEM);
    for (size_t i = 0; i < v->cells.count; i++)
        for (int s = 0; s < v->cells.cell[i].sources; s++)
            if (compare_is_model(&v->cells, &v->cells.cell[i], s))
                TRY(list_model(v, &v->cells.cell[i], s));
    qsort(v->seed, (size_t)v->seeds, sizeof *v->seed, by_seed);
    qsort(v->attention, (size_t)v->attentions, ORR_NAME, by_attention);
    for (int q = 0; v->question[q].id; q++)
        TRY(compare_cells_view(&v->cells, 0, COMPARE_COLUMNS + q, &v->figure[q]));
    return 0;
}

int verdict_read(struct verdict *v, const char *const *path, int n)
{
    *v = (struct verdict){.planned = n};
    TRY(verdict_questions_read(NULL, &v->questions));
    v->question = v->questions.at;
    TRY(compare_cells_read_these(&v->cells, v->questions.id, path, n));
    for (size_t i = 0; i < v->cells.left_out.count; i++)
        TRY(compare_miss(&v->missing, v->cells.left_out.at[i].what, v->cells.left_out.at[i].why));
    TRY(check_group(&v->cells));
    for (int q = 0; v->question[q].id; q++)
        if (begins_probe(v, q))
            TRY(list_unasked(v, v->question[q].probe));
    for (size_t i = 0; i < v->cells.count; i++) {
        const struct compare_cell *cell = &v->cells.cell[i];
        if (cell->record)
            TRY(verdict_take_record(v, cell));
        for (int s = 0; s < cell->sources && !cell->record; s++)
            if (compare_is_model(&v->cells, cell, s))
                TRY(read_model(v, cell, s));
    }
    return list_models(v);
}

void verdict_free(struct verdict *v)
{
    compare_cells_free(&v->cells);
    verdict_questions_free(&v->questions);
    free(v->missing.at);
    free(v->seed);
    free(v->value);
    for (int q = 0; q < VERDICT_MOST_QUESTIONS; q++)
        orr_table_free(&v->figure[q]);
    *v = (struct verdict){0};
}

/* ----------------------------------------------------------------------------- over seeds */

const double *verdict_values(const struct verdict *v, int question, int attention, int minus,
                             enum orr_row_number number)
{
    char of[ORR_NAME + 16], from[ORR_NAME + 16] = "";
    snprintf(of, sizeof of, "attention=%s", v->attention[attention]);
    if (minus >= 0)
        snprintf(from, sizeof from, "attention=%s", v->attention[minus]);
    orr_table_values(&v->figure[question], v->seed, v->seeds, of, from, number, v->value);
    return v->value;
}

struct orr_mean verdict_mean(const struct verdict *v, int question, int attention, int minus,
                             enum orr_row_number number)
{
    return orr_mean_of(verdict_values(v, question, attention, minus, number), v->seeds);
}

bool verdict_compares(const struct verdict *v, int question, int attention)
{
    return verdict_mean(v, question, attention, 0, ORR_ROW_VALUE).n > 0;
}

double verdict_half(double mean, double half, int n, bool is_difference)
{
    if (n < 1 || !(half <= 1e-12 * (1 + fabs(mean))))
        return half;
    const double reach = is_difference ? 1 + fabs(mean) : fmax(fabs(mean), fabs(1 - mean));
    return reach * (1 - pow(0.05, 1.0 / n));
}

bool verdict_significant(struct orr_mean mean)
{
    const double half = verdict_half(mean.mean, mean.half, mean.n, true);
    return mean.n >= 3 && isfinite(half) && fabs(mean.mean) > half;
}
