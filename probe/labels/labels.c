/* labels.c - bin/probe labels: how good forces become with n labelled sequences, for the pretrained
 * model, the same shape with random weights and neighbours of the true state, and how many labels
 * pretraining saves. */
#include "label_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { REVISION = 2, HELD_OUT = 512, ROWS = 8, DRAWS = 3, RESAMPLES = 1000, LEVELS = 3 };
/* Fewer are learned badly by all models, more take more steps than the default has. */
static const int standard[] = {100, 300, 1000, 3000};
enum { STANDARD = sizeof standard / sizeof *standard };
static const double level[LEVELS] = {0.8, 0.9, 0.95};

struct curves {
    const struct probe_options *options;
    struct probe probe;
    struct probe_forces forces;
    struct probe_judged judged;
    struct probe_arms arms;
    struct probe_cells cells;
    struct probe_results results;
    size_t *order; /* of the labelled sequences */
    int n[PROBE_SIZES], sizes, draws;
    char folder[4096], key[PROBE_KEY];
    char cells_key[PROBE_KEY]; /* of a cell: neither other sizes nor other draws change it */
};

/* -------------------------------------------------------------------------------- cells */

/* The learning rate of the first draw is that of all. */
static int measure(struct curves *c, enum probe_arm arm, int size, int draw)
{
    const int n = c->n[size];
    const struct probe_cell *first = probe_cells_find(&c->cells, arm, n, 0);
    const long steps = c->arms.steps[arm];
    const double seconds = c->arms.seconds[arm];
    struct probe_cell cell = {.arm = arm, .n = n, .draw = draw, .lr = first ? first->lr : 0};
    struct ft_labels subset = {.sequence = orr_alloc((size_t)n, sizeof(size_t))};
    double *log_f = orr_alloc(c->judged.rows, sizeof *log_f);
    cell.residual = orr_alloc(c->judged.sequences, sizeof *cell.residual);
    int rc = subset.sequence && log_f && cell.residual ? 0 : ORR_ENOMEM;
    if (!rc) {
        probe_labels_draw(&c->forces.labels, c->order, draw, (size_t)n, &subset);
        rc = first ? 0 : probe_arm_rate(&c->arms, arm, &subset, &cell.lr);
    }
    if (!rc)
        rc = probe_arm_predict(&c->arms, arm, &subset, cell.lr, c->arms.train.steps, &c->judged,
                               log_f);
    if (!rc) {
        probe_residuals(&c->judged, NULL, log_f, cell.residual);
        cell.r2 = probe_judged_r2(&c->judged, NULL, cell.residual, NULL);
        cell.steps = c->arms.steps[arm] - steps;
        cell.seconds = c->arms.seconds[arm] - seconds;
        rc = probe_cells_add(&c->cells, &cell);
    }
    free(subset.sequence);
    free(log_f);
    free(cell.residual);
    return rc;
}

static int measure_all(struct curves *c)
{
    struct orr_progress progress;
    uint64_t done = 0;
    int rc = 0;
    orr_progress_init(&progress, "labels",
                      (uint64_t)PROBE_ARMS * (uint64_t)c->sizes * (uint64_t)c->draws,
                      c->options->quiet);
    progress.begun = (uint64_t)c->cells.count;
    for (int draw = 0; draw < c->draws; draw++)
        for (int size = 0; size < c->sizes; size++)
            for (int arm = 0; arm < PROBE_ARMS && !rc; arm++) {
                char detail[64];
                snprintf(detail, sizeof detail, "%s, %d labelled sequences", probe_arm_name[arm],
                         c->n[size]);
                if (!probe_cells_find(&c->cells, (enum probe_arm)arm, c->n[size], draw))
                    rc = measure(c, (enum probe_arm)arm, size, draw);
                orr_progress_set(&progress, ++done, detail);
            }
    orr_progress_end(&progress, NULL);
    return rc;
}

/* ---------------------------------------------------------------------------------- rows */

/* R^2 of arms and sizes: of everything, and of resamples of draws and held-out sequences. */
struct summary {
    double mean[PROBE_ARMS][PROBE_SIZES];
    double *again[PROBE_ARMS][PROBE_SIZES]; /* (RESAMPLES) */
    double *memory, *weight;
    gsl_rng *rng;
};

/* Mean over draws, each of which counts times[draw]; NULL = once. */
static double mean_r2(const struct curves *c, enum probe_arm arm, int size, const double *weight,
                      const double *times)
{
    double sum = 0, count = 0;
    for (int d = 0; d < c->draws; d++) {
        const struct probe_cell *cell = probe_cells_find(&c->cells, arm, c->n[size], d);
        const double w = times ? times[d] : 1;
        if (w > 0)
            sum += w * probe_judged_r2(&c->judged, NULL, cell->residual, weight);
        count += w;
    }
    return sum / count;
}

/* Held-out sequences are picked alike for all; draws of each arm and size by themselves. */
static int summarise(const struct curves *c, struct summary *s)
{
    const uint64_t seed = c->options->preset->seed, own = 5ull << 40;
    double *times = orr_alloc((size_t)c->draws, sizeof *times);
    s->memory = orr_alloc((size_t)PROBE_ARMS * PROBE_SIZES * RESAMPLES, sizeof *s->memory);
    s->weight = orr_alloc(c->judged.sequences, sizeof *s->weight);
    s->rng = orr_rng_create(seed, ORR_STAGE_BOOTSTRAP, own);
    int rc = times && s->memory && s->weight && s->rng ? 0 : ORR_ENOMEM;
    for (int arm = 0; arm < PROBE_ARMS && !rc; arm++)
        for (int k = 0; k < c->sizes; k++) {
            s->again[arm][k] = s->memory + (size_t)(arm * PROBE_SIZES + k) * RESAMPLES;
            s->mean[arm][k] = mean_r2(c, (enum probe_arm)arm, k, NULL, NULL);
        }
    for (int r = 0; r < RESAMPLES && !rc; r++) {
        uint64_t stream = own + 4096 * (uint64_t)(r + 1);
        probe_resample(s->rng, seed, stream, c->judged.sequences, s->weight);
        for (int arm = 0; arm < PROBE_ARMS; arm++)
            for (int k = 0; k < c->sizes; k++) {
                probe_resample(s->rng, seed, ++stream, (size_t)c->draws, times);
                s->again[arm][k][r] = mean_r2(c, (enum probe_arm)arm, k, s->weight, times);
            }
    }
    free(times);
    return rc;
}

/* Labels that an arm needs, of resample r, or of the means (r < 0). */
static struct probe_range needed(const struct curves *c, const struct summary *s,
                                 enum probe_arm arm, double at, int r)
{
    double y[PROBE_SIZES];
    for (int k = 0; k < c->sizes; k++)
        y[k] = r < 0 ? s->mean[arm][k] : s->again[arm][k][r];
    probe_monotone((size_t)c->sizes, y);
    return probe_labels_needed((size_t)c->sizes, c->n, y, at);
}

/* What of a level: the labels of the pretrained arm, or the ratio of both. */
static struct probe_range of_level(const struct curves *c, const struct summary *s, double at,
                                   bool ratio, int r)
{
    const struct probe_range own = needed(c, s, PROBE_PRETRAINED, at, r);
    return ratio ? probe_ratio(needed(c, s, PROBE_UNTRAINED, at, r), own) : own;
}

static int level_row(struct curves *c, const struct summary *s, double at, bool ratio)
{
    double low[RESAMPLES], high[RESAMPLES], ignored;
    struct probe_row row = {.layer = -1,
                            .ceiling = NAN,
                            .floor = ratio ? 1 : (double)NAN,
                            .raw = NAN,
                            .n = (long)c->judged.rows};
    const char *mark = probe_range_mark(of_level(c, s, at, ratio, -1), &row.value);
    snprintf(row.quantity, sizeof row.quantity,
             ratio ? "label saving at R^2 %g" : "labels to R^2 %g", at);
    snprintf(row.measure, sizeof row.measure, "%s%s", ratio ? "ratio" : "sequences", mark);
    for (int r = 0; r < RESAMPLES; r++) {
        const struct probe_range range = of_level(c, s, at, ratio, r);
        low[r] = range.low;
        high[r] = range.high;
    }
    probe_interval(low, RESAMPLES, &row.low, &ignored);
    probe_interval(high, RESAMPLES, &ignored, &row.high);
    if (!ratio) { /* what a censored floor is, is in its own column only where it is known */
        const struct probe_range floor = needed(c, s, PROBE_UNTRAINED, at, -1);
        const struct probe_range raw = needed(c, s, PROBE_NEIGHBOURS, at, -1);
        row.floor = floor.low < floor.high ? (double)NAN : floor.low;
        row.raw = raw.low < raw.high ? (double)NAN : raw.low;
    }
    return probe_results_add(&c->results, &row);
}

static int size_row(struct curves *c, struct summary *s, enum probe_arm arm, int k, double ceiling)
{
    static const char *const quantity[] = {"log force", "log force, untrained",
                                           "log force, neighbours"};
    struct probe_row row = {.measure = "R^2",
                            .layer = -1,
                            .context = c->n[k],
                            .value = s->mean[arm][k],
                            .ceiling = ceiling,
                            .floor =
                                arm == PROBE_PRETRAINED ? s->mean[PROBE_UNTRAINED][k] : (double)NAN,
                            .raw = NAN,
                            .n = (long)c->judged.rows};
    double sorted[RESAMPLES];
    snprintf(row.quantity, sizeof row.quantity, "%s", quantity[arm]);
    memcpy(sorted, s->again[arm][k], sizeof sorted);
    probe_interval(sorted, RESAMPLES, &row.low, &row.high);
    return probe_results_add(&c->results, &row);
}

/* The same judgement of the truth. */
static int judge_truth(const struct curves *c, double *r2)
{
    double *residual = orr_alloc(c->judged.sequences, sizeof *residual);
    if (!residual)
        return ORR_ENOMEM;
    probe_residuals(&c->judged, NULL, c->judged.y, residual);
    *r2 = probe_judged_r2(&c->judged, NULL, residual, NULL);
    free(residual);
    return 0;
}

static int add_rows(struct curves *c)
{
    static struct summary s;
    double ceiling = NAN;
    s = (struct summary){0};
    int rc = judge_truth(c, &ceiling);
    if (!rc)
        rc = summarise(c, &s);
    for (int arm = 0; arm < PROBE_ARMS; arm++)
        for (int k = 0; k < c->sizes && !rc; k++)
            rc = size_row(c, &s, (enum probe_arm)arm, k, ceiling);
    for (int i = 0; i < 2 * LEVELS && !rc; i++)
        rc = level_row(c, &s, level[i % LEVELS], i >= LEVELS);
    free(s.memory);
    free(s.weight);
    if (s.rng)
        gsl_rng_free(s.rng);
    return rc;
}

/* -------------------------------------------------------------------------------- budget */

static int add_budget(struct curves *c)
{
    cJSON *json = c->results.about = cJSON_CreateObject();
    probe_arms_budget(&c->arms, json);
    cJSON_AddNumberToObject(json, "draws", c->draws);
    cJSON_AddNumberToObject(json, "held_out_sequences", (double)c->judged.sequences);
    cJSON_AddNumberToObject(json, "held_out_rows", (double)c->judged.rows);
    cJSON *arms = cJSON_AddObjectToObject(json, "arms");
    for (int arm = 0; arm < PROBE_ARMS; arm++) {
        double seconds = 0, steps = 0;
        for (int i = 0; i < c->cells.count; i++)
            if (c->cells.cell[i].arm == (enum probe_arm)arm) {
                seconds += c->cells.cell[i].seconds;
                steps += (double)c->cells.cell[i].steps;
            }
        cJSON *one = cJSON_AddObjectToObject(arms, probe_arm_name[arm]);
        cJSON_AddNumberToObject(one, "optimiser_steps", steps);
        cJSON_AddNumberToObject(one, "seconds", seconds);
    }
    return json && arms ? 0 : ORR_FAIL(ORR_ENOMEM, "labels: out of memory");
}

/* ----------------------------------------------------------------------------------- run */

static int open_curves(struct curves *c)
{
    const struct probe_options *o = c->options;
    char more[PROBE_KEY];
    TRY(probe_open(&c->probe, o, false, 1));
    TRY(probe_forces_check(&c->probe, o));
    TRY(probe_forces_open(&c->forces, o));
    TRY(probe_sizes_read(o->sizes, standard, STANDARD, c->forces.labels.count, c->n, &c->sizes));
    c->draws = o->draws ? o->draws : DRAWS;
    probe_arms_init(&c->arms, &c->probe, o);
    probe_arms_key(&c->arms, c->draws, c->n, c->sizes, more);
    TRY(probe_key(o, "labels", REVISION, more, c->key));
    snprintf(more, sizeof more, "%ld", c->arms.train.steps);
    TRY(probe_key(o, "labels_cells", REVISION, more, c->cells_key));
    return probe_folder(&c->probe, o, c->folder);
}

static int run(struct curves *c)
{
    const struct probe_options *o = c->options;
    const struct ft_bounds none = {0};
    const size_t asked = o->sequences ? (size_t)o->sequences : HELD_OUT;
    const size_t held = c->forces.test.n < asked ? c->forces.test.n : asked;
    c->order = orr_alloc(c->forces.labels.count, sizeof *c->order);
    if (!c->order)
        return ORR_ENOMEM;
    TRY(probe_judged_draw(&c->judged, &c->forces.test, &none, NULL, held, ROWS, o->preset->seed));
    TRY(probe_labels_order(&c->forces.labels, o->preset->seed, c->order));
    TRY(orr_mkdir(c->folder));
    TRY(probe_cells_open(&c->cells, c->folder, c->cells_key, held, o->resume));
    if (c->cells.count)
        orr_note(o->quiet, "labels: goes on behind %d cells of %s", c->cells.count, c->cells.path);
    TRY(measure_all(c));
    TRY(add_rows(c));
    TRY(add_budget(c));
    TRY(probe_results_begin(&c->results, c->folder, "labels"));
    TRY(probe_labels_draw_figure(&c->results, &c->probe, c->folder));
    TRY(probe_results_write(&c->results, &c->probe, o, c->folder, "labels", c->key));
    probe_results_print(&c->results, &c->probe, "labels");
    return 0;
}

int probe_labels(const struct probe_options *options)
{
    static struct curves c;
    c = (struct curves){.options = options};
    int rc = orr_gnuplot_check("labels.gp");
    if (!rc)
        rc = open_curves(&c);
    if (!rc && !probe_results_there(options, c.folder, "labels", c.key))
        rc = run(&c);
    probe_judged_free(&c.judged);
    probe_forces_close(&c.forces);
    probe_cells_free(&c.cells);
    probe_results_free(&c.results);
    free(c.order);
    probe_close(&c.probe);
    return rc;
}
