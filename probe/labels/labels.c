/* labels.c - bin/probe labels: the accuracy of forces after fine-tuning to n labelled sequences,
 * for the pretrained model, the same shape with random weights, and neighbours of the true state;
 * and how many labels pretraining saves. */
#include "labels.h"
#include "probe/core/cells.h"
#include "probe/core/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { REVISION = 2, RESAMPLES = 1000, LEVELS = 3 };
static const double level[LEVELS] = {0.8, 0.9, 0.95};

/* Numbers of a cell; residuals of the held-out sequences follow them. */
enum { LR, R2, STEPS, SECONDS, RESIDUALS };

struct curves {
    struct probe_label_study t;
    struct probe_cells cells;
    size_t *order; /* order of the labelled sequences */
    /* (sizes, draws, held-out rows) forces of another program's model, and of its untrained twin */
    double *answer[2];
};

/* -------------------------------------------------------------------------------- cells */

static const double *find_cell(const struct curves *c, int learner, int size, int draw)
{
    return probe_cells_find(&c->cells, "%s %d %d", probe_learner_name[learner], c->t.n[size], draw);
}

/* Rounds to six digits, which is enough for the file. */
static double round_number(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", x);
    return strtod(text, NULL);
}

static void score_cell(const struct probe_held_out *held_out, const double *log_f, double *cell)
{
    probe_residuals(held_out, NULL, log_f, cell + RESIDUALS);
    cell[R2] = probe_held_out_r2(held_out, NULL, cell + RESIDUALS, NULL);
    for (size_t s = 0; s < held_out->sequences; s++)
        cell[RESIDUALS + s] = round_number(cell[RESIDUALS + s]);
}

/* Learns from the subset. The first draw chooses the learning rate for all draws. cell: LR ..
 * SECONDS, then the residuals. */
static int fit_cell(struct curves *c, enum probe_learner learner, const double *first,
                    const struct ft_labels *subset, double *log_f, double *cell)
{
    struct probe_learners *learners = &c->t.learners;
    const struct probe_held_out *held_out = &c->t.held_out;
    const long steps = learners->steps[learner];
    const double seconds = learners->seconds[learner];
    cell[LR] = first ? first[LR] : 0;
    if (!first)
        TRY(probe_learner_rate(learners, learner, subset, &cell[LR]));
    TRY(probe_learner_predict(learners, learner, subset, cell[LR], learners->train.steps, held_out,
                              log_f));
    cell[STEPS] = (double)(learners->steps[learner] - steps);
    cell[SECONDS] = round_number(learners->seconds[learner] - seconds);
    score_cell(held_out, log_f, cell);
    return 0;
}

/* The forces that another program predicted after it learned from the labels of a draw. */
static int answered_cell(struct curves *c, enum probe_learner learner, int size, int draw,
                         const struct ft_labels *subset, double *log_f, double *cell)
{
    const struct probe_held_out *held_out = &c->t.held_out;
    const size_t place = (size_t)size * (size_t)c->t.draws + (size_t)draw;
    memcpy(log_f, c->answer[learner] + place * held_out->rows, held_out->rows * sizeof *log_f);
    TRY(probe_learner_logarithms(&c->t.s.arena, subset, held_out->rows, log_f));
    cell[LR] = cell[STEPS] = cell[SECONDS] = 0;
    score_cell(held_out, log_f, cell);
    return 0;
}

static int measure_cell(struct curves *c, enum probe_learner learner, int size, int draw)
{
    const int n = c->t.n[size];
    struct probe_arena *arena = &c->t.s.arena;
    const size_t kept = arena->count;
    struct ft_labels subset = {.sequence = probe_take(arena, (size_t)n, sizeof(size_t))};
    double *log_f = probe_take(arena, c->t.held_out.rows, sizeof *log_f);
    double *cell = probe_take(arena, c->cells.numbers, sizeof *cell);
    TRY(arena->failed);
    probe_labels_draw(&c->t.forces.labels, c->order, draw, (size_t)n, &subset);
    TRY(c->t.s.options->answers && learner != PROBE_NEIGHBOURS
            ? answered_cell(c, learner, size, draw, &subset, log_f, cell)
            : fit_cell(c, learner, find_cell(c, (int)learner, size, 0), &subset, log_f, cell));
    TRY(probe_cells_add(&c->cells, cell, "%s %d %d", probe_learner_name[learner], n, draw));
    probe_rewind(arena, kept);
    return 0;
}

static int measure_all(struct curves *c)
{
    struct orr_progress *progress = &c->t.s.progress;
    int rc = 0;
    orr_progress_init(progress, "labels",
                      (uint64_t)probe_learners_running(c->t.s.options) * (uint64_t)c->t.sizes *
                          (uint64_t)c->t.draws,
                      c->t.s.options->quiet);
    progress->begun = (uint64_t)c->cells.count;
    for (int draw = 0; draw < c->t.draws; draw++)
        for (int size = 0; size < c->t.sizes; size++)
            for (int learner = 0; learner < PROBE_LEARNERS && !rc; learner++) {
                char detail[64];
                if (!probe_learner_runs(c->t.s.options, learner))
                    continue;
                snprintf(detail, sizeof detail, "%s, %d labelled sequences",
                         probe_learner_name[learner], c->t.n[size]);
                if (!find_cell(c, learner, size, draw))
                    rc = measure_cell(c, (enum probe_learner)learner, size, draw);
                orr_progress_set(progress, ++c->t.s.done, detail);
            }
    orr_progress_end(progress, NULL);
    return rc;
}

/* ---------------------------------------------------------------------------------- rows */

/* R^2 of learners and sizes: the mean, and over resamples of draws and held-out sequences. */
struct summary {
    double mean[PROBE_LEARNERS][PROBE_SIZES];
    double *again[PROBE_LEARNERS][PROBE_SIZES]; /* (RESAMPLES) resampled R^2 */
};

/* Mean over draws; draw d counts times[d] times, NULL: once. NaN for a learner left out. */
static double mean_r2(const struct curves *c, enum probe_learner learner, int size,
                      const double *weight, const double *times)
{
    double sum = 0, count = 0;
    if (!probe_learner_runs(c->t.s.options, (int)learner))
        return (double)NAN;
    for (int d = 0; d < c->t.draws; d++) {
        const double *cell = find_cell(c, (int)learner, size, d);
        const double w = times ? times[d] : 1;
        if (w > 0)
            sum += w * probe_held_out_r2(&c->t.held_out, NULL, cell + RESIDUALS, weight);
        count += w;
    }
    return sum / count;
}

/* Held-out sequences are resampled jointly for all learners; draws separately for each learner and
 * size. */
static int summarise_cells(struct curves *c, struct summary *s)
{
    const uint64_t seed = c->t.s.options->settings->seed, own = 5ull << 40;
    struct probe_arena *arena = &c->t.s.arena;
    double *times = probe_take(arena, (size_t)c->t.draws, sizeof *times);
    double *weight = probe_take(arena, c->t.held_out.sequences, sizeof *weight);
    for (int learner = 0; learner < PROBE_LEARNERS; learner++)
        for (int k = 0; k < c->t.sizes; k++)
            s->again[learner][k] = probe_take(arena, RESAMPLES, sizeof *s->again[learner][k]);
    TRY(arena->failed);
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_BOOTSTRAP, own);
    if (!rng)
        return ORR_ENOMEM;
    for (int learner = 0; learner < PROBE_LEARNERS; learner++)
        for (int k = 0; k < c->t.sizes; k++)
            s->mean[learner][k] = mean_r2(c, (enum probe_learner)learner, k, NULL, NULL);
    for (int r = 0; r < RESAMPLES; r++) {
        uint64_t stream = own + 4096 * (uint64_t)(r + 1);
        probe_resample(rng, seed, stream, c->t.held_out.sequences, weight);
        for (int learner = 0; learner < PROBE_LEARNERS; learner++)
            for (int k = 0; k < c->t.sizes; k++) {
                probe_resample(rng, seed, ++stream, (size_t)c->t.draws, times);
                s->again[learner][k][r] = mean_r2(c, (enum probe_learner)learner, k, weight, times);
            }
    }
    gsl_rng_free(rng);
    return 0;
}

/* The number of labels a learner needs, in resample r, or for the means (r < 0). */
static struct probe_range labels_needed(const struct curves *c, const struct summary *s,
                                        enum probe_learner learner, double at, int r)
{
    double y[PROBE_SIZES];
    for (int k = 0; k < c->t.sizes; k++)
        y[k] = r < 0 ? s->mean[learner][k] : s->again[learner][k][r];
    probe_monotone((size_t)c->t.sizes, y);
    return probe_labels_needed((size_t)c->t.sizes, c->t.n, y, at);
}

/* The number of labels of the pretrained learner at a level, or the ratio of both learners'
 * numbers. */
static struct probe_range of_level(const struct curves *c, const struct summary *s, double at,
                                   bool ratio, int r)
{
    const struct probe_range own = labels_needed(c, s, PROBE_PRETRAINED, at, r);
    return ratio ? probe_ratio(labels_needed(c, s, PROBE_UNTRAINED, at, r), own) : own;
}

/* The value of a number of labels or a ratio; NaN where only a bound is known. */
static double known_of(struct probe_range range)
{
    return range.low < range.high ? (double)NAN : range.low;
}

static int level_row(struct curves *c, const struct summary *s, double at, bool ratio)
{
    double low[RESAMPLES], high[RESAMPLES], ignored;
    struct probe_estimate e;
    char measure[ORR_MEASURE];
    snprintf(measure, sizeof measure, "%s%s", ratio ? "ratio" : "sequences",
             probe_range_mark(of_level(c, s, at, ratio, -1), &e.value));
    for (int r = 0; r < RESAMPLES; r++) {
        const struct probe_range range = of_level(c, s, at, ratio, r);
        low[r] = range.low;
        high[r] = range.high;
    }
    probe_interval(low, RESAMPLES, &e.low, &ignored);
    probe_interval(high, RESAMPLES, &ignored, &e.high);
    struct orr_row row =
        ratio ? probe_row_of(&c->t.s.results, e, measure, "label saving at R^2 %g", at)
              : probe_row_of(&c->t.s.results, e, measure, "labels to R^2 %g", at);
    row.baseline = ratio ? 1
                   : probe_learner_runs(c->t.s.options, PROBE_UNTRAINED)
                       ? known_of(labels_needed(c, s, PROBE_UNTRAINED, at, -1))
                       : (double)NAN;
    if (!ratio)
        row.raw = known_of(labels_needed(c, s, PROBE_NEIGHBOURS, at, -1));
    row.n = (long)c->t.held_out.rows;
    return orr_table_add(&c->t.s.results.table, &row);
}

static int size_row(struct curves *c, struct summary *s, enum probe_learner learner, int k,
                    double upper_bound)
{
    static const char *const quantity[] = {"log force", "log force, untrained",
                                           "log force, neighbours"};
    double sorted[RESAMPLES];
    struct orr_row row = probe_row_of(&c->t.s.results, probe_exactly(s->mean[learner][k]), "R^2",
                                      "%s", quantity[learner]);
    row.context = c->t.n[k];
    row.upper_bound = upper_bound;
    if (learner == PROBE_PRETRAINED)
        row.baseline = s->mean[PROBE_UNTRAINED][k];
    row.n = (long)c->t.held_out.rows;
    memcpy(sorted, s->again[learner][k], sizeof sorted);
    probe_interval(sorted, RESAMPLES, &row.low, &row.high);
    return orr_table_add(&c->t.s.results.table, &row);
}

/* R^2 of the truth, computed like that of predictions. */
static int score_truth(struct curves *c, double *r2)
{
    double *residual = probe_take(&c->t.s.arena, c->t.held_out.sequences, sizeof *residual);
    TRY(c->t.s.arena.failed);
    probe_residuals(&c->t.held_out, NULL, c->t.held_out.y, residual);
    *r2 = probe_held_out_r2(&c->t.held_out, NULL, residual, NULL);
    return 0;
}

static int add_rows(struct curves *c)
{
    struct summary s;
    double upper_bound;
    TRY(score_truth(c, &upper_bound));
    TRY(summarise_cells(c, &s));
    for (int learner = 0; learner < PROBE_LEARNERS; learner++)
        for (int k = 0; k < c->t.sizes && probe_learner_runs(c->t.s.options, learner); k++)
            TRY(size_row(c, &s, (enum probe_learner)learner, k, upper_bound));
    const int rows = probe_learner_runs(c->t.s.options, PROBE_UNTRAINED) ? 2 * LEVELS : LEVELS;
    for (int i = 0; i < rows; i++)
        TRY(level_row(c, &s, level[i % LEVELS], i >= LEVELS));
    return 0;
}

/* -------------------------------------------------------------------------------- budget */

static int add_about(struct curves *c)
{
    const struct probe_options *o = c->t.s.options;
    cJSON *json = probe_label_study_about(&c->t);
    cJSON_AddNumberToObject(json, "held_out_rows", (double)c->t.held_out.rows);
    cJSON *learners = cJSON_AddObjectToObject(json, "arms");
    for (int learner = 0; learner < PROBE_LEARNERS; learner++) {
        double seconds = 0, steps = 0;
        if (!probe_learner_runs(c->t.s.options, learner))
            continue;
        for (int i = 0; i < c->cells.count; i++)
            if (!strncmp(c->cells.cell[i].name, probe_learner_name[learner],
                         strlen(probe_learner_name[learner]))) {
                seconds += c->cells.cell[i].value[SECONDS];
                steps += c->cells.cell[i].value[STEPS];
            }
        cJSON *one = cJSON_AddObjectToObject(learners, probe_learner_name[learner]);
        if (o->answers && learner != PROBE_NEIGHBOURS)
            continue; /* what another program spent is not known */
        cJSON_AddNumberToObject(one, "optimiser_steps", steps);
        cJSON_AddNumberToObject(one, "seconds", seconds);
    }
    return json && learners ? 0 : ORR_FAIL(ORR_ENOMEM, "labels: out of memory");
}

/* ----------------------------------------------------------------------------------- run */

static int open_curves(void *of)
{
    struct curves *c = of;
    TRY(probe_label_study_open(&c->t));
    return probe_label_study_sizes(&c->t, probe_label_sizes, PROBE_LABEL_SIZES,
                                   c->t.forces.labels.count);
}

static int read_answers(struct curves *c)
{
    const struct probe_options *o = c->t.s.options;
    const struct probe_answers *const of[2] = {o->answers, o->twin};
    const size_t all = (size_t)c->t.sizes * (size_t)c->t.draws * c->t.held_out.rows;
    for (int k = 0; k < 2; k++) {
        if (!of[k])
            continue;
        c->answer[k] = probe_take(&c->t.s.arena, all, sizeof *c->answer[k]);
        TRY(c->t.s.arena.failed);
        TRY(probe_label_answers_read(&c->t, of[k], PROBE_LABEL_ANSWERS, c->answer[k]));
    }
    return 0;
}

/* The key of the cells omits sizes and draws, as a cell does not depend on other sizes or draws. */
static int measure_model(void *of)
{
    struct curves *c = of;
    const struct probe_options *o = c->t.s.options;
    char more[PROBE_KEY], key[PROBE_KEY];
    c->order = probe_take(&c->t.s.arena, c->t.forces.labels.count, sizeof *c->order);
    TRY(c->t.s.arena.failed);
    TRY(probe_labels_order(&c->t.forces.labels, o->settings->seed, c->order));
    TRY(read_answers(c));
    snprintf(more, sizeof more, "%ld", c->t.learners.train.steps);
    TRY(probe_key(o, "labels_cells", REVISION, more, key));
    TRY(probe_cells_open(&c->cells, o, c->t.s.folder, "labels", key,
                         RESIDUALS + c->t.held_out.sequences));
    TRY(measure_all(c));
    TRY(add_rows(c));
    return add_about(c);
}

static int write_figure(void *of)
{
    const struct curves *c = of;
    return probe_session_draw(&c->t.s, "labels.gp", NULL, NULL);
}

int probe_labels(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "labels",
                                             .revision = REVISION,
                                             .script = "labels.gp",
                                             .open = open_curves,
                                             .measure = measure_model,
                                             .write = write_figure};
    struct curves c = {.order = NULL};
    const int rc = probe_session_run(&c.t.s, options, &steps, &c);
    probe_label_sets_close(&c.t.forces);
    probe_cells_free(&c.cells);
    return rc;
}
