/* extrapolate.c - bin/probe extrapolate: labels of the middle half of r, or of m1 m2, alone are
 * learned from; how good are forces in the outer quarters, and which power of r, m1, m2 do they go
 * by? */
#include "extrapolate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { REVISION = 2, HELD_OUT = 512, ROWS = 8, DRAWS = 3, EXPERIMENTS = 2 };
enum { SEQUENCES = 3000 }; /* learned from by default, or all where there are fewer */

static const char *const source_name[PROBE_SOURCES] = {"pretrained", "untrained", "neighbours",
                                                       "power", "truth"};

/* Predictions ln F (rows) of one experiment and number of labels, by source and draw. */
struct predictions {
    double **of[PROBE_SOURCES];
    double rate[PROBE_ARMS];
};

struct extrapolation {
    const struct probe_options *options;
    struct probe probe;
    struct probe_forces forces;
    struct probe_judged judged;
    struct probe_arms arms;
    struct probe_experiment experiment[EXPERIMENTS];
    struct predictions last[EXPERIMENTS]; /* of the largest number of labels */
    struct probe_results results;
    int n[PROBE_SIZES], sizes, draws;
    char folder[4096], key[PROBE_KEY];
    struct orr_progress progress;
    uint64_t done;
};

/* --------------------------------------------------------------------------- predictions */

static void free_predictions(struct predictions *p, int draws)
{
    for (int s = 0; s < PROBE_SOURCES; s++) {
        for (int d = 0; d < draws && p->of[s]; d++)
            free(p->of[s][d]);
        free(p->of[s]);
    }
    *p = (struct predictions){0};
}

static int make_room(struct predictions *p, int draws, size_t rows)
{
    *p = (struct predictions){0};
    for (int s = 0; s < PROBE_SOURCES; s++) {
        p->of[s] = orr_alloc((size_t)draws, sizeof *p->of[s]);
        if (!p->of[s])
            return ORR_ENOMEM;
        for (int d = 0; d < draws; d++)
            if (!(p->of[s][d] = orr_alloc(rows, sizeof *p->of[s][d])))
                return ORR_ENOMEM;
    }
    return 0;
}

/* What a draw's predictions go into. */
struct predicting {
    struct extrapolation *x;
    struct predictions *p;
};

/* All sources from the same draw; rates are chosen by the first one. */
static int one_draw(void *of, int draw, const struct ft_labels *subset)
{
    struct extrapolation *x = ((struct predicting *)of)->x;
    struct predictions *p = ((struct predicting *)of)->p;
    for (int arm = 0; arm < PROBE_ARMS; arm++) {
        if (draw == 0)
            TRY(probe_arm_rate(&x->arms, (enum probe_arm)arm, subset, &p->rate[arm]));
        TRY(probe_arm_predict(&x->arms, (enum probe_arm)arm, subset, p->rate[arm],
                              x->arms.train.steps, &x->judged, p->of[arm][draw]));
        orr_progress_set(&x->progress, ++x->done, probe_arm_name[arm]);
    }
    memcpy(p->of[PROBE_TRUTH][draw], x->judged.y, x->judged.rows * sizeof(double));
    return probe_power_law(subset, &x->judged, p->of[PROBE_POWER][draw]);
}

/* -------------------------------------------------------------------------------- figures */

/* What is measured of predictions ln F (draws): R^2 (0), or the exponent of r, m1, m2 (1, 2, 3). */
struct measured {
    const struct probe_judged *judged;
    const bool *keep;
    double *const *log_f;
    int what;
    double *residual; /* (sequences), for R^2 */
};

static double measure(const void *of, int draw, const double *weight)
{
    const struct measured *m = of;
    double exponent[3];
    if (m->what == 0) {
        probe_residuals(m->judged, m->keep, m->log_f[draw], m->residual);
        return probe_judged_r2(m->judged, m->keep, m->residual, weight);
    }
    probe_exponents(m->judged, m->keep, m->log_f[draw], weight, exponent);
    return exponent[m->what - 1];
}

/* One row: what, in one region, of the pretrained model with its company, or of the power law. */
static int add_row(struct extrapolation *x, const struct probe_experiment *e, int n,
                   struct predictions *p, int what, bool outside, bool power)
{
    static const char *const names[] = {"log force", "exponent of r", "exponent of m1",
                                        "exponent of m2"};
    const bool *keep = outside ? e->outside : e->inside;
    double *residual = orr_alloc(x->judged.sequences, sizeof *residual), value[PROBE_SOURCES];
    if (!residual)
        return ORR_ENOMEM;
    struct probe_row row = {.layer = -1, .context = n, .floor = NAN, .raw = NAN};
    struct measured m = {.judged = &x->judged, .keep = keep, .what = what, .residual = residual};
    for (int s = 0; s < PROBE_SOURCES; s++) {
        m.log_f = p->of[s];
        value[s] = probe_over_draws(x->draws, measure, &m, NULL, NULL);
    }
    for (size_t i = 0; i < x->judged.rows; i++)
        row.n += keep[i];
    row.value = value[power ? PROBE_POWER : PROBE_PRETRAINED];
    row.ceiling = value[PROBE_TRUTH];
    if (!power) {
        row.floor = value[PROBE_UNTRAINED];
        row.raw = value[PROBE_NEIGHBOURS];
    }
    snprintf(row.quantity, sizeof row.quantity, "%s, %s %s", power ? "power law of r" : names[what],
             e->name, outside ? "outside" : "inside");
    snprintf(row.measure, sizeof row.measure, what ? "slope" : "R^2");
    m.log_f = p->of[power ? PROBE_POWER : PROBE_PRETRAINED];
    int rc = probe_draws_interval(x->options->preset->seed, x->judged.sequences, x->draws, measure,
                                  &m, &row);
    if (!rc)
        rc = probe_results_add(&x->results, &row);
    free(residual);
    return rc;
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
        TRY(orr_path(path, "%s/%s", x->folder, name));
        TRY(probe_write_forces(path, &x->judged, e->outside, s == PROBE_TRUTH ? 1 : x->draws,
                               p->of[s]));
        TRY(probe_results_file(&x->results, x->folder, name));
    }
    return 0;
}

/* ----------------------------------------------------------------------------------- run */

/* Of every number of labels, the largest last: it is what tables are of. */
static int experiment(struct extrapolation *x, int i)
{
    const struct probe_experiment *e = &x->experiment[i];
    TRY(make_room(&x->last[i], x->draws, x->judged.rows));
    for (int size = 0; size < x->sizes; size++) {
        struct predicting into = {x, &x->last[i]};
        TRY(probe_labels_each(&e->labels, x->options->preset->seed, x->draws, (size_t)x->n[size],
                              one_draw, &into));
        TRY(add_rows(x, e, x->n[size], &x->last[i]));
    }
    return 0;
}

static int add_about(struct extrapolation *x)
{
    cJSON *json = x->results.about = cJSON_CreateObject();
    probe_arms_budget(&x->arms, json);
    cJSON_AddNumberToObject(json, "draws", x->draws);
    cJSON_AddNumberToObject(json, "held_out_sequences", (double)x->judged.sequences);
    cJSON *arms = cJSON_AddObjectToObject(json, "arms");
    for (int arm = 0; arm < PROBE_ARMS; arm++) {
        cJSON *one = cJSON_AddObjectToObject(arms, probe_arm_name[arm]);
        cJSON_AddNumberToObject(one, "optimiser_steps", (double)x->arms.steps[arm]);
        cJSON_AddNumberToObject(one, "seconds", x->arms.seconds[arm]);
    }
    const struct ft_bounds *r = &x->experiment[0].bounds, *m = &x->experiment[1].bounds;
    cJSON_AddNumberToObject(json, "label_r_min", r->r_min);
    cJSON_AddNumberToObject(json, "label_r_max", r->r_max);
    cJSON_AddNumberToObject(json, "label_m_min", m->m_min);
    cJSON_AddNumberToObject(json, "label_m_max", m->m_max);
    return json && arms ? 0 : ORR_FAIL(ORR_ENOMEM, "extrapolate: out of memory");
}

/* Everything that can be wrong is found before any training. */
static int open_all(struct extrapolation *x)
{
    const struct probe_options *o = x->options;
    const struct ft_bounds none = {0};
    const size_t asked = o->sequences ? (size_t)o->sequences : HELD_OUT;
    char more[PROBE_KEY];
    TRY(probe_open(&x->probe, o, false, 1));
    TRY(probe_forces_check(&x->probe, o));
    TRY(probe_forces_open(&x->forces, o));
    const size_t held = x->forces.test.n < asked ? x->forces.test.n : asked;
    TRY(probe_judged_draw(&x->judged, &x->forces.test, &none, NULL, held, ROWS, o->preset->seed));
    size_t most = x->forces.labels.count;
    for (int i = 0; i < EXPERIMENTS; i++) {
        TRY(probe_experiment_open(&x->experiment[i], i, &x->forces, &x->judged));
        most = x->experiment[i].labels.count < most ? x->experiment[i].labels.count : most;
    }
    const int standard = most < SEQUENCES ? (int)most : SEQUENCES;
    TRY(probe_sizes_read(o->sizes, &standard, 1, most, x->n, &x->sizes));
    x->draws = o->draws ? o->draws : DRAWS;
    probe_arms_init(&x->arms, &x->probe, o);
    probe_arms_key(&x->arms, x->draws, x->n, x->sizes, more);
    TRY(probe_key(o, "extrapolate", REVISION, more, x->key));
    return probe_folder(&x->probe, o, x->folder);
}

static int write(struct extrapolation *x)
{
    TRY(add_about(x));
    TRY(probe_results_begin(&x->results, x->folder, "extrapolate"));
    for (int i = 0; i < EXPERIMENTS; i++)
        TRY(write_tables(x, &x->experiment[i], &x->last[i]));
    TRY(probe_results_write(&x->results, &x->probe, x->options, x->folder, "extrapolate", x->key));
    probe_results_print(&x->results, &x->probe, "extrapolate");
    return 0;
}

static int run(struct extrapolation *x)
{
    int rc = 0;
    orr_progress_init(&x->progress, "extrapolate",
                      (uint64_t)x->sizes * (uint64_t)x->draws * EXPERIMENTS * PROBE_ARMS,
                      x->options->quiet);
    for (int i = 0; i < EXPERIMENTS && !rc; i++)
        rc = experiment(x, i);
    orr_progress_end(&x->progress, NULL);
    return rc ? rc : write(x);
}

int probe_extrapolate(const struct probe_options *options)
{
    static struct extrapolation x;
    x = (struct extrapolation){.options = options};
    int rc = open_all(&x);
    if (!rc && !probe_results_there(options, x.folder, "extrapolate", x.key))
        rc = run(&x);
    for (int i = 0; i < EXPERIMENTS; i++) {
        free_predictions(&x.last[i], x.draws);
        probe_experiment_close(&x.experiment[i]);
    }
    probe_judged_free(&x.judged);
    probe_forces_close(&x.forces);
    probe_results_free(&x.results);
    probe_close(&x.probe);
    return rc;
}
