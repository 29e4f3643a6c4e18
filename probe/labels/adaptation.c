/* adaptation.c - bin/probe adaptation: compares three predictions of the force, a linear readout of
 * the frozen model, a linear readout of the model fine-tuned to forces, and the fine-tuned model's
 * own output. All three learn from labels in the middle half of r and are evaluated in its outer
 * quarters, too. After "The Observer Effect in World Models", arXiv 2602.12218. */
#include "adaptation.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { ROWS = 8 };

/* The predictions: a readout of the frozen model, a readout of the fine-tuned model, and its
 * output. */
enum way { FROZEN, ADAPTED, OUTPUT, WAYS };
static const char *const way_name[WAYS] = {"frozen", "adapted", "output"};
static const char *const quantity_name[PROBE_READ] = {"log force", "1/r^2"};

struct draw {
    struct probe_read by[WAYS][2]; /* of the pretrained model and of random weights */
    struct probe_read places;      /* readout of the inputs */
};

struct adaptation {
    struct probe_label_study t; /* one number of labels */
    struct probe_experiment r;
    struct draw *draw; /* (draws) */
    struct probe_read told;
    double rate[2];
};

/* ------------------------------------------------------------------------------- readings */

/* Reads the frozen model, then the fine-tuned model and its output. */
static int read_learner(struct adaptation *a, int random, bool first,
                        const struct ft_labels *labels, const struct probe_held_out *fit,
                        struct draw *d)
{
    const enum probe_learner learner = random ? PROBE_UNTRAINED : PROBE_PRETRAINED;
    const double begin_s = orr_time_s();
    struct ft_transform transform;
    struct gpt_model model;
    TRY(probe_copy(&a->t.s.probe, a->t.s.options, random, &model));
    int rc = probe_read_model(&a->t.s.arena, &model, fit, &a->t.held_out, &d->by[FROZEN][random],
                              first && !random ? &a->told : NULL);
    gpt_free(&model);
    if (!rc && first)
        rc = probe_learner_rate(&a->t.learners, learner, labels, &a->rate[random]);
    TRY(rc);
    TRY(probe_learner_train(&a->t.learners, learner, labels, a->rate[random],
                            a->t.learners.train.steps, &model, &transform));
    rc = probe_learner_forces(&a->t.learners, &model, &transform, labels, &a->t.held_out,
                              d->by[OUTPUT][random].of[PROBE_LOG_F]);
    rc = rc ? rc
            : probe_read_model(&a->t.s.arena, &model, fit, &a->t.held_out, &d->by[ADAPTED][random],
                               NULL);
    gpt_free(&model);
    a->t.learners.seconds[learner] += orr_time_s() - begin_s;
    orr_progress_set(&a->t.s.progress, ++a->t.s.done, probe_learner_name[learner]);
    return rc;
}

static int create_draw(struct probe_arena *arena, struct draw *d, size_t rows)
{
    for (int random = 0; random < 2; random++)
        for (int way = 0; way < WAYS; way++)
            TRY(probe_read_create(arena, &d->by[way][random], rows));
    return probe_read_create(arena, &d->places, rows);
}

static int one_draw(void *of, int number, const struct ft_labels *labels)
{
    struct adaptation *a = of;
    struct draw *d = &a->draw[number];
    struct probe_held_out fit;
    struct probe_arena *arena = &a->t.s.arena;
    TRY(create_draw(arena, d, a->t.held_out.rows));
    TRY(probe_held_out_draw(arena, &fit, labels->set, &labels->bounds, labels->sequence,
                            labels->count, ROWS, a->t.s.options->settings->seed));
    for (int random = 0; random < 2; random++)
        TRY(read_learner(a, random, number == 0, labels, &fit, d));
    return probe_read_places(arena, &fit, &a->t.held_out, &d->places);
}

/* Checks the implementation: with the truth among the features, the correlation must be near 1. */
static int check_plumbing(const struct adaptation *a)
{
    const double least = 0.999;
    for (int q = 0; q < PROBE_READ; q++) {
        const double rho = probe_agree(&a->t.held_out, a->r.outside, q, a->told.of[q], NULL).rho;
        if (isnan(rho))
            return ORR_FAIL(
                ORR_EINVAL,
                "probe adaptation: the rows outside the labels are too few, or too "
                "much alike, to measure on: expected more of two_body_test (--sequences)");
        if (!(rho >= least))
            return ORR_FAIL(ORR_EINVAL,
                            "probe adaptation: %s is among the features, yet what is read outside "
                            "the labels has a correlation of %.6f with it, below %g: the readout "
                            "is at fault, not the model",
                            quantity_name[q], rho, least);
    }
    return 0;
}

/* -------------------------------------------------------------------------------- results */

enum measure { RHO, R2, EXPONENT };
static const char *const measure_name[] = {"rho", "R^2", "slope"};

/* The value of one prediction, or, with `less`, its difference from another prediction. */
struct figure {
    const struct adaptation *a;
    enum measure measure;
    int quantity;
    bool outside, random;
    enum way way, less; /* less = WAYS: no difference */
};

static double statistic_of(const struct figure *f, const double *found, const double *weight)
{
    const bool *keep = f->outside ? f->a->r.outside : f->a->r.inside;
    double exponent[3];
    if (f->measure == EXPONENT) {
        probe_exponents(&f->a->t.held_out, keep, found, weight, exponent);
        return exponent[0];
    }
    const struct probe_agreement is =
        probe_agree(&f->a->t.held_out, keep, f->quantity, found, weight);
    return f->measure == RHO ? is.rho : is.r2;
}

static double of_draw(const void *of, int number, const double *weight)
{
    const struct figure *f = of;
    const struct draw *d = &f->a->draw[number];
    double x = statistic_of(f, d->by[f->way][f->random].of[f->quantity], weight);
    if (f->less < WAYS)
        x -= statistic_of(f, d->by[f->less][f->random].of[f->quantity], weight);
    return x;
}

static double of_places(const void *of, int number, const double *weight)
{
    const struct figure *f = of;
    return statistic_of(f, f->a->draw[number].places.of[f->quantity], weight);
}

static int add_row(struct adaptation *a, struct figure f)
{
    const bool difference = f.less < WAYS;
    f.a = a;
    struct orr_row row = probe_row_of(
        &a->t.s.results, probe_exactly(probe_over_draws(a->t.draws, of_draw, &f, NULL, NULL)),
        measure_name[f.measure], "%s, %s%s%s, r %s",
        f.measure == EXPONENT ? "exponent of r" : quantity_name[f.quantity], way_name[f.way],
        difference ? " less " : "", difference ? way_name[f.less] : "",
        f.outside ? "outside" : "inside");
    row.context = a->t.n[0];
    TRY(probe_draws_interval(&a->t.s.arena, a->t.s.options->settings->seed, a->t.held_out.sequences,
                             a->t.draws, of_draw, &f, &row));
    f.random = true;
    row.baseline = probe_over_draws(a->t.draws, of_draw, &f, NULL, NULL);
    row.upper_bound = difference ? 0 : statistic_of(&f, a->told.of[f.quantity], NULL);
    if (!difference)
        row.raw = probe_over_draws(a->t.draws, of_places, &f, NULL, NULL);
    for (size_t i = 0; i < a->t.held_out.rows; i++)
        row.n += f.outside ? a->r.outside[i] : a->r.inside[i];
    return orr_table_add(&a->t.s.results.table, &row);
}

static int add_rows(struct adaptation *a)
{
    for (int q = 0; q < PROBE_READ; q++)
        for (int outside = 1; outside >= 0; outside--) {
            struct figure f = {.quantity = q, .outside = outside, .less = WAYS};
            const int ways = q == PROBE_LOG_F ? WAYS : OUTPUT; /* a head predicts only F */
            for (f.way = FROZEN; (int)f.way < ways; f.way++)
                for (f.measure = RHO; f.measure <= R2; f.measure++)
                    TRY(add_row(a, f));
            f.measure = RHO;
            f.less = FROZEN;
            for (f.way = ADAPTED; (int)f.way < ways; f.way++)
                TRY(add_row(a, f));
        }
    struct figure f = {.measure = EXPONENT, .outside = true, .less = WAYS};
    for (f.way = FROZEN; f.way < WAYS; f.way++)
        TRY(add_row(a, f));
    return 0;
}

/* Writes the forces in the outer quarters, for symbolic regression. */
static int write_tables(void *of)
{
    struct adaptation *a = of;
    char name[ORR_NAME], path[4096];
    double **log_f = probe_take(&a->t.s.arena, (size_t)a->t.draws, sizeof *log_f);
    TRY(a->t.s.arena.failed);
    for (int way = 0; way < WAYS; way++)
        for (int random = 0; random < 2; random++) {
            for (int k = 0; k < a->t.draws; k++)
                log_f[k] = a->draw[k].by[way][random].of[PROBE_LOG_F];
            snprintf(name, sizeof name, "adaptation_%s%s.csv", way_name[way],
                     random ? "_untrained" : "");
            TRY(orr_path(path, "%s/%s", a->t.s.folder, name));
            TRY(probe_write_forces(path, &a->t.held_out, a->r.outside, a->t.draws, log_f));
            TRY(probe_results_file(&a->t.s.results, a->t.s.folder, name));
        }
    return 0;
}

/* ------------------------------------------------------------------------------------ run */

static int add_about(struct adaptation *a)
{
    cJSON *json = probe_label_study_about(&a->t);
    cJSON_AddNumberToObject(json, "label_r_min", a->r.bounds.r_min);
    cJSON_AddNumberToObject(json, "label_r_max", a->r.bounds.r_max);
    cJSON *layers = cJSON_AddObjectToObject(json, "layers"); /* chosen layers, by draw */
    for (int way = FROZEN; way < OUTPUT; way++)
        for (int random = 0; random < 2; random++)
            for (int q = 0; q < PROBE_READ; q++) {
                char name[ORR_NAME];
                snprintf(name, sizeof name, "%s, %s%s", quantity_name[q], way_name[way],
                         random ? ", untrained" : "");
                cJSON *list = cJSON_AddArrayToObject(layers, name);
                for (int k = 0; k < a->t.draws; k++)
                    cJSON_AddItemToArray(list,
                                         cJSON_CreateNumber(a->draw[k].by[way][random].layer[q]));
            }
    cJSON *learners = cJSON_AddObjectToObject(json, "arms");
    for (int learner = 0; learner <= PROBE_UNTRAINED; learner++) {
        cJSON *one = cJSON_AddObjectToObject(learners, probe_learner_name[learner]);
        cJSON_AddNumberToObject(one, "lr", a->rate[learner]);
        cJSON_AddNumberToObject(one, "optimiser_steps", (double)a->t.learners.steps[learner]);
        cJSON_AddNumberToObject(one, "seconds", a->t.learners.seconds[learner]);
    }
    return json && layers && learners ? 0 : ORR_FAIL(ORR_ENOMEM, "adaptation: out of memory");
}

/* Reports all errors that can be found before any training. */
static int open_all(void *of)
{
    struct adaptation *a = of;
    TRY(probe_label_study_open(&a->t));
    TRY(probe_experiment_open(&a->t.s.arena, &a->r, 0, &a->t.forces, &a->t.held_out));
    TRY(probe_label_study_size(&a->t, a->r.labels.count));
    if (a->t.sizes > 1)
        return ORR_FAIL(ORR_EUSAGE,
                        "--sizes: probe adaptation takes one number of labelled sequences, found "
                        "\"%s\"",
                        a->t.s.options->sizes);
    a->draw = probe_take(&a->t.s.arena, (size_t)a->t.draws, sizeof *a->draw);
    return probe_read_create(&a->t.s.arena, &a->told, a->t.held_out.rows);
}

static int measure_model(void *of)
{
    struct adaptation *a = of;
    orr_progress_init(&a->t.s.progress, "adaptation", 2 * (uint64_t)a->t.draws,
                      a->t.s.options->quiet);
    const int rc = probe_labels_each(&a->t.s.arena, &a->r.labels, a->t.s.options->settings->seed,
                                     a->t.draws, (size_t)a->t.n[0], one_draw, a);
    orr_progress_end(&a->t.s.progress, NULL);
    TRY(rc);
    TRY(check_plumbing(a));
    TRY(add_rows(a));
    return add_about(a);
}

int probe_adaptation(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "adaptation",
                                             .revision = 1,
                                             .open = open_all,
                                             .measure = measure_model,
                                             .write = write_tables};
    struct adaptation a = {.draw = NULL};
    const int rc = probe_session_run(&a.t.s, options, &steps, &a);
    ft_labels_free(&a.r.labels);
    probe_label_sets_close(&a.t.forces);
    return rc;
}
