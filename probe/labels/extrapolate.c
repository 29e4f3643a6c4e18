/* extrapolate.c - bin/probe extrapolate: learns from labels in the middle half of r, or of m1 m2,
 * alone, and measures forces in the outer quarters and their exponents of r, m1, m2. */
#include "extrapolate.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

static const char *const source_name[PROBE_SOURCES] = {"pretrained", "untrained", "neighbours",
                                                       "power", "truth"};

/* Predictions ln F (rows) of one experiment and number of labels, by source and draw. */
struct predictions {
    double **of[PROBE_SOURCES];
    double rate[PROBE_LEARNERS];
};

struct extrapolation {
    struct probe_label_study t;
    struct probe_experiment experiment[PROBE_EXPERIMENTS];
    struct predictions last[PROBE_EXPERIMENTS]; /* predictions from the largest number of labels */
    /* (sizes, draws, held-out rows) forces of another program's model, and of its untrained twin */
    double *answer[PROBE_EXPERIMENTS][2];
};

/* --------------------------------------------------------------------------- predictions */

static int create_predictions(struct probe_arena *arena, struct predictions *p, int draws,
                              size_t rows)
{
    for (int s = 0; s < PROBE_SOURCES; s++) {
        p->of[s] = probe_take(arena, (size_t)draws, sizeof *p->of[s]);
        for (int d = 0; d < draws && p->of[s]; d++)
            p->of[s][d] = probe_take(arena, rows, sizeof *p->of[s][d]);
    }
    return arena->failed;
}

/* Destination of a draw's predictions. */
struct predicting {
    struct extrapolation *x;
    struct predictions *p;
    const double *answer[2]; /* (draws, held-out rows) of this size; NULL: none */
};

/* What a learner predicts from a draw, or another program's model has predicted. */
static int predict_one(struct predicting *into, int learner, int draw,
                       const struct ft_labels *subset)
{
    struct extrapolation *x = into->x;
    struct predictions *p = into->p;
    const size_t rows = x->t.held_out.rows;
    if (x->t.s.options->answers && learner != PROBE_NEIGHBOURS) {
        memcpy(p->of[learner][draw], into->answer[learner] + (size_t)draw * rows,
               rows * sizeof(double));
        return probe_learner_logarithms(&x->t.s.arena, subset, rows, p->of[learner][draw]);
    }
    if (draw == 0)
        TRY(probe_learner_rate(&x->t.learners, (enum probe_learner)learner, subset,
                               &p->rate[learner]));
    return probe_learner_predict(&x->t.learners, (enum probe_learner)learner, subset,
                                 p->rate[learner], x->t.learners.train.steps, &x->t.held_out,
                                 p->of[learner][draw]);
}

/* Predicts by all sources from one draw; the first draw chooses the learning rates. */
static int one_draw(void *of, int draw, const struct ft_labels *subset)
{
    struct extrapolation *x = ((struct predicting *)of)->x;
    struct predictions *p = ((struct predicting *)of)->p;
    for (int learner = 0; learner < PROBE_LEARNERS; learner++) {
        if (!probe_learner_runs(x->t.s.options, learner))
            continue;
        TRY(predict_one(of, learner, draw, subset));
        orr_progress_set(&x->t.s.progress, ++x->t.s.done, probe_learner_name[learner]);
    }
    memcpy(p->of[PROBE_TRUTH][draw], x->t.held_out.y, x->t.held_out.rows * sizeof(double));
    return probe_power_law(&x->t.s.arena, subset, &x->t.held_out, p->of[PROBE_POWER][draw]);
}

/* -------------------------------------------------------------------------------- results */

/* A measurement of predictions ln F (draws): R^2 (0), or the exponent of r, m1, m2 (1, 2, 3). */
struct measured {
    const struct probe_held_out *held_out;
    const bool *keep;
    double *const *log_f;
    int what;
    double *residual; /* (sequences) scratch for R^2 */
};

static double statistic_of(const void *of, int draw, const double *weight)
{
    const struct measured *m = of;
    double exponent[3];
    if (m->what == 0) {
        probe_residuals(m->held_out, m->keep, m->log_f[draw], m->residual);
        return probe_held_out_r2(m->held_out, m->keep, m->residual, weight);
    }
    probe_exponents(m->held_out, m->keep, m->log_f[draw], weight, exponent);
    return exponent[m->what - 1];
}

/* Adds one row: a measurement in one region, of the pretrained model with its bounds and baselines,
 * or of the power law. */
static int add_row(struct extrapolation *x, const struct probe_experiment *e, int n,
                   struct predictions *p, int what, bool outside, bool power)
{
    static const char *const names[] = {"log force", "exponent of r", "exponent of m1",
                                        "exponent of m2"};
    const bool *keep = outside ? e->outside : e->inside;
    const size_t kept = x->t.s.arena.count;
    double *residual = probe_take(&x->t.s.arena, x->t.held_out.sequences, sizeof *residual);
    double value[PROBE_SOURCES];
    TRY(x->t.s.arena.failed);
    struct measured m = {
        .held_out = &x->t.held_out, .keep = keep, .what = what, .residual = residual};
    for (int s = 0; s < PROBE_SOURCES; s++) {
        m.log_f = p->of[s];
        value[s] = probe_learner_runs(x->t.s.options, s)
                       ? probe_over_draws(x->t.draws, statistic_of, &m, NULL, NULL)
                       : (double)NAN;
    }
    struct orr_row row =
        probe_row_of(&x->t.s.results, probe_exactly(value[power ? PROBE_POWER : PROBE_PRETRAINED]),
                     what ? "slope" : "R^2", "%s, %s %s", power ? "power law of r" : names[what],
                     e->name, outside ? "outside" : "inside");
    row.context = n;
    for (size_t i = 0; i < x->t.held_out.rows; i++)
        row.n += keep[i];
    row.upper_bound = value[PROBE_TRUTH];
    if (!power) {
        row.baseline = value[PROBE_UNTRAINED];
        row.raw = value[PROBE_NEIGHBOURS];
    }
    m.log_f = p->of[power ? PROBE_POWER : PROBE_PRETRAINED];
    TRY(probe_draws_interval(&x->t.s.arena, x->t.s.options->settings->seed, x->t.held_out.sequences,
                             x->t.draws, statistic_of, &m, &row));
    probe_rewind(&x->t.s.arena, kept);
    return orr_table_add(&x->t.s.results.table, &row);
}

static int add_rows(struct extrapolation *x, const struct probe_experiment *e, int n,
                    struct predictions *p)
{
    for (int outside = 1; outside >= 0; outside--)
        for (int power = 0; power < 2; power++)
            TRY(add_row(x, e, n, p, 0, outside, power));
    for (int what = 1; what <= 3; what++)
        TRY(add_row(x, e, n, p, what, true, false));
    return 0;
}

static int write_tables(struct extrapolation *x, const struct probe_experiment *e,
                        struct predictions *p)
{
    char name[ORR_NAME], path[4096];
    for (int s = 0; s < PROBE_SOURCES; s++) {
        snprintf(name, sizeof name, "extrapolate_%s_%s.csv", e->tag, source_name[s]);
        TRY(orr_path(path, "%s/%s", x->t.s.folder, name));
        if (!probe_learner_runs(x->t.s.options, s)) {
            TRY(orr_remove(path)); /* of an earlier probe, with it */
            continue;
        }
        TRY(probe_write_forces(path, &x->t.held_out, e->outside, s == PROBE_TRUTH ? 1 : x->t.draws,
                               p->of[s]));
        TRY(probe_results_file(&x->t.s.results, x->t.s.folder, name));
    }
    return 0;
}

/* ----------------------------------------------------------------------------------- run */

/* Measures every number of labels; the largest comes last, as the tables use it. */
static int measure_experiment(struct extrapolation *x, int i)
{
    const struct probe_experiment *e = &x->experiment[i];
    TRY(create_predictions(&x->t.s.arena, &x->last[i], x->t.draws, x->t.held_out.rows));
    for (int size = 0; size < x->t.sizes; size++) {
        const size_t at = (size_t)size * (size_t)x->t.draws * x->t.held_out.rows;
        struct predicting into = {x, &x->last[i], {NULL, NULL}};
        for (int k = 0; k < 2; k++)
            into.answer[k] = x->answer[i][k] ? x->answer[i][k] + at : NULL;
        TRY(probe_labels_each(&x->t.s.arena, &e->labels, x->t.s.options->settings->seed, x->t.draws,
                              (size_t)x->t.n[size], one_draw, &into));
        TRY(add_rows(x, e, x->t.n[size], &x->last[i]));
    }
    return 0;
}

static int add_about(struct extrapolation *x)
{
    cJSON *json = probe_label_study_about(&x->t);
    cJSON *learners = cJSON_AddObjectToObject(json, "arms");
    for (int learner = 0; learner < PROBE_LEARNERS; learner++) {
        if (!probe_learner_runs(x->t.s.options, learner))
            continue;
        cJSON *one = cJSON_AddObjectToObject(learners, probe_learner_name[learner]);
        if (x->t.s.options->answers && learner != PROBE_NEIGHBOURS)
            continue; /* what another program spent is not known */
        cJSON_AddNumberToObject(one, "optimiser_steps", (double)x->t.learners.steps[learner]);
        cJSON_AddNumberToObject(one, "seconds", x->t.learners.seconds[learner]);
    }
    const struct ft_bounds *r = &x->experiment[0].bounds, *m = &x->experiment[1].bounds;
    cJSON_AddNumberToObject(json, "label_r_min", r->r_min);
    cJSON_AddNumberToObject(json, "label_r_max", r->r_max);
    cJSON_AddNumberToObject(json, "label_m_min", m->m_min);
    cJSON_AddNumberToObject(json, "label_m_max", m->m_max);
    return json && learners ? 0 : ORR_FAIL(ORR_ENOMEM, "extrapolate: out of memory");
}

/* Reports all errors that can be found before any training. */
static int open_all(void *of)
{
    struct extrapolation *x = of;
    TRY(probe_label_study_open(&x->t));
    return probe_experiments_open(&x->t, x->experiment);
}

static int read_answers(struct extrapolation *x)
{
    const struct probe_options *o = x->t.s.options;
    const struct probe_answers *const of[2] = {o->answers, o->twin};
    const size_t all = (size_t)x->t.sizes * (size_t)x->t.draws * x->t.held_out.rows;
    char file[ORR_NAME];
    for (int i = 0; i < PROBE_EXPERIMENTS; i++)
        for (int k = 0; k < 2; k++) {
            if (!of[k])
                continue;
            x->answer[i][k] = probe_take(&x->t.s.arena, all, sizeof *x->answer[i][k]);
            TRY(x->t.s.arena.failed);
            snprintf(file, sizeof file, PROBE_EXTRAPOLATE_ANSWERS, x->experiment[i].tag);
            TRY(probe_label_answers_read(&x->t, of[k], file, x->answer[i][k]));
        }
    return 0;
}

static int measure_model(void *of)
{
    struct extrapolation *x = of;
    int rc = 0;
    TRY(read_answers(x));
    orr_progress_init(&x->t.s.progress, "extrapolate",
                      (uint64_t)x->t.sizes * (uint64_t)x->t.draws * PROBE_EXPERIMENTS *
                          (uint64_t)probe_learners_running(x->t.s.options),
                      x->t.s.options->quiet);
    for (int i = 0; i < PROBE_EXPERIMENTS && !rc; i++)
        rc = measure_experiment(x, i);
    orr_progress_end(&x->t.s.progress, NULL);
    return rc ? rc : add_about(x);
}

static int write_files(void *of)
{
    struct extrapolation *x = of;
    for (int i = 0; i < PROBE_EXPERIMENTS; i++)
        TRY(write_tables(x, &x->experiment[i], &x->last[i]));
    return 0;
}

int probe_extrapolate(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "extrapolate",
                                             .revision = 2,
                                             .open = open_all,
                                             .measure = measure_model,
                                             .write = write_files};
    struct extrapolation x = {.last = {{.rate = {0}}}};
    const int rc = probe_session_run(&x.t.s, options, &steps, &x);
    probe_experiments_close(x.experiment);
    probe_label_sets_close(&x.t.forces);
    return rc;
}
