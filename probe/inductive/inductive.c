/* inductive.c - bin/probe inductive: fine-tunes a model to targets that are functions of the
 * bodies' state alone, and measures whether its predictions separate different states and agree on
 * equal ones (Vafa et al. 2025, arXiv 2507.06952). */
#include "inductive.h"
#include "probe/core/figure.h"
#include "probe/labels/labels.h"

#include <math.h>

#include <cjson/cJSON.h>
#include <gsl/gsl_randist.h>

enum { REVISION = 1, SETS = 20, STEPS = 100, HELD = 500, POINTS = 2000 };
static const uint64_t point_stream = 9ull << 40;

static const char *const learner_name[PROBE_MODELS] = {"pretrained", "untrained"};

/* --------------------------------------------------------------------------------- prepare */

/* Full batches, split into passes of the preset's batch size. */
static void set_training(struct probe_inductive *p)
{
    const struct orr_train_settings *t = &p->s.options->settings->finetune.magnitude;
    int batch = t->batch < PROBE_NOISE_SEQUENCES ? t->batch : PROBE_NOISE_SEQUENCES;
    while (PROBE_NOISE_SEQUENCES % batch)
        batch--;
    probe_shorter(t, p->s.options->steps ? p->s.options->steps : STEPS, batch, &p->train);
    p->train.accumulation = PROBE_NOISE_SEQUENCES / batch;
    p->train.train = ORR_TRAINED_ALL;
}

int probe_inductive_open(void *of)
{
    struct probe_inductive *p = of;
    const struct probe_options *o = p->s.options;
    const int from = o->settings->orbits.label_from_step;
    TRY(probe_check_unchanged(o));
    TRY(probe_open_labelled(&p->s.probe, o, "inductive", true));
    const int steps = (p->s.probe.T - 1) / 2;
    if (steps - from < PROBE_NOISE_LABELS)
        return ORR_FAIL(ORR_EINVAL,
                        "probe inductive: %s: a model of %d positions, %d steps of two bodies; "
                        "labels from step %d on (orbits.label_from_step) need at least %d",
                        o->checkpoint, p->s.probe.T, steps, from, from + PROBE_NOISE_LABELS);
    p->sets = o->draws ? o->draws : SETS;
    set_training(p);
    snprintf(p->s.more, sizeof p->s.more, "%ld %d", p->train.steps, p->sets);
    return 0;
}

/* Draws points without repetition; all data sets use the same points. */
static int draw_points(struct probe_inductive *p)
{
    const int steps = p->pool.to - p->pool.from, T = p->s.probe.T;
    const size_t here = (size_t)p->held_out.n * (size_t)steps;
    const size_t own = (size_t)PROBE_NOISE_SEQUENCES * (size_t)T, most = here > own ? here : own;
    const size_t n = here < POINTS ? here : POINTS, m = own < POINTS ? own : POINTS;
    int *all = probe_take(&p->s.arena, most, sizeof *all);
    p->points[PROBE_CORRECTED] = n;
    p->points[PROBE_PUBLISHED] = m;
    p->sequence = probe_take(&p->s.arena, n, sizeof *p->sequence);
    p->step = probe_take(&p->s.arena, n, sizeof *p->step);
    p->place = probe_take(&p->s.arena, m, sizeof *p->place);
    TRY(p->s.arena.failed);
    gsl_rng *rng = orr_rng_create(p->pool.seed, ORR_STAGE_SAMPLE, point_stream);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "inductive: out of memory");
    for (size_t i = 0; i < most; i++)
        all[i] = (int)i;
    gsl_ran_choose(rng, p->sequence, n, all, here, sizeof *all);
    gsl_ran_choose(rng, p->place, m, all, own, sizeof *all);
    gsl_rng_free(rng);
    for (size_t i = 0; i < n; i++) {
        p->step[i] = p->pool.from + p->sequence[i] % steps;
        p->sequence[i] /= steps;
    }
    return 0;
}

static int create_values(struct probe_inductive *p)
{
    const size_t sets = (size_t)p->sets;
    p->used = probe_take(&p->s.arena, sets, sizeof *p->used);
    for (int form = 0; form < PROBE_FORMS; form++)
        for (int by = 0; by < PROBE_PREDICTORS; by++)
            if (form == PROBE_CORRECTED || by != PROBE_BY_INPUTS)
                p->value[form][by] =
                    probe_take(&p->s.arena, sets * p->points[form], sizeof(double));
    return p->s.arena.failed;
}

int probe_inductive_points(struct probe_inductive *p)
{
    const struct probe_options *o = p->s.options;
    const int own = PROBE_NOISE_SEQUENCES * p->sets;
    TRY(probe_labelled_make(&p->s.arena, &p->fit, &p->s.probe, SIM_SPLIT_TWO_BODY_TRAIN,
                            own > PROBE_NOISE_POINTS ? own : PROBE_NOISE_POINTS));
    TRY(probe_labelled_make(&p->s.arena, &p->held_out, &p->s.probe, SIM_SPLIT_TWO_BODY_TEST,
                            o->sequences ? o->sequences : HELD));
    TRY(probe_pool_create(&p->s.arena, &p->pool, &p->fit, o->settings->orbits.label_from_step,
                          (p->s.probe.T - 1) / 2, o->settings->seed));
    p->noise = probe_take(&p->s.arena, (size_t)p->sets, sizeof *p->noise);
    TRY(p->s.arena.failed);
    return draw_points(p);
}

int probe_inductive_noises(struct probe_inductive *p)
{
    for (int d = 0; d < p->sets; d++) {
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped by a signal");
        TRY(probe_noise_make(&p->pool, d, &p->noise[d]));
    }
    return 0;
}

int probe_inductive_prepare(struct probe_inductive *p)
{
    const struct probe_options *o = p->s.options;
    char more[PROBE_KEY];
    TRY(probe_inductive_points(p));
    TRY(create_values(p));
    if (o->answers)
        return 0;
    snprintf(more, sizeof more, "%ld", p->train.steps);
    TRY(probe_key(o, "inductive_cells", REVISION, more, p->cells_key));
    return probe_cells_open(&p->cells, o, p->s.folder, "inductive", p->cells_key,
                            p->points[PROBE_CORRECTED] + p->points[PROBE_PUBLISHED]);
}

/* --------------------------------------------------------------------------------- measure */

/* What a learner predicts; NULL: not known yet, or there is no untrained twin. */
static const double *find_cell(const struct probe_inductive *p, int learner, int d)
{
    const size_t points = p->points[PROBE_CORRECTED] + p->points[PROBE_PUBLISHED];
    if (p->s.options->answers)
        return p->answer[learner] ? p->answer[learner] + (size_t)d * points : NULL;
    return probe_cells_find(&p->cells, "%s.%d", learner_name[learner], d);
}

static int measure_set(struct probe_inductive *p, int d, struct orr_progress *progress)
{
    const size_t kept = p->s.arena.count;
    double *guess = probe_take(&p->s.arena, p->cells.numbers + 1, sizeof *guess);
    TRY(p->s.arena.failed);
    if (!p->s.options->answers)
        TRY(probe_noise_make(&p->pool, d, &p->noise[d]));
    for (int learner = 0; learner < PROBE_MODELS && !p->s.options->answers; learner++) {
        char detail[64];
        snprintf(detail, sizeof detail, "%s, data set %d", learner_name[learner], d + 1);
        orr_progress_set(progress, PROBE_MODELS * (uint64_t)d + (uint64_t)learner, detail);
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR, "stopped by a signal");
        if (find_cell(p, learner, d))
            continue;
        TRY(probe_inductive_fit(p, learner, d, guess));
        TRY(probe_cells_add(&p->cells, guess, "%s.%d", learner_name[learner], d));
    }
    TRY(probe_inductive_observe(p, d));
    probe_rewind(&p->s.arena, kept);
    return 0;
}

static int measure_sets(struct probe_inductive *p)
{
    struct orr_progress progress;
    const uint64_t cells = (uint64_t)PROBE_MODELS * (uint64_t)p->sets;
    int rc = 0;
    if (p->s.options->answers) {
        TRY(probe_inductive_noises(p));
        TRY(probe_inductive_read_answers(p));
    }
    orr_progress_init(&progress, "inductive", cells, p->s.options->quiet);
    progress.begun = (uint64_t)p->cells.count;
    for (int d = 0; d < p->sets && !rc; d++)
        rc = measure_set(p, d, &progress);
    if (!rc)
        orr_progress_set(&progress, cells, NULL);
    orr_progress_end(&progress, NULL);
    return rc;
}

/* Collects the predictions of the fine-tuned models, and the data sets for which both models have
 * them. */
static int collect_predictions(struct probe_inductive *p)
{
    for (int d = 0; d < p->sets; d++) {
        p->used[d] = true;
        for (int learner = 0; learner < PROBE_MODELS; learner++) {
            const double *value = find_cell(p, learner, d);
            const bool diverged = value && !isfinite(value[0]);
            p->diverged[learner] = value ? p->diverged[learner] + diverged : -1;
            p->used[d] &= !diverged;
            if (diverged)
                orr_note(p->s.options->quiet,
                         "inductive: the fine-tuning of the %s model to data set %d diverged; the "
                         "data set is left out for both",
                         learner_name[learner], d + 1);
            for (int form = 0; form < PROBE_FORMS; form++)
                for (size_t i = 0; i < p->points[form]; i++)
                    p->value[form][learner][(size_t)d * p->points[form] + i] =
                        value ? *value++ : (double)NAN;
        }
        p->usable += p->used[d];
    }
    return p->usable > 0
               ? 0
               : ORR_FAIL(ORR_EDIVERGED,
                          "probe inductive: %s: of %d data sets none is left: %d fine-tunings of "
                          "the model and %d of random weights diverged (finetune.magnitude.lr = "
                          "%g)",
                          p->s.options->checkpoint, p->sets, p->diverged[PROBE_BY_MODEL],
                          p->diverged[PROBE_BY_BASELINE], p->train.lr);
}

/* ----------------------------------------------------------------------------------- write */

static int add_about(struct probe_inductive *p)
{
    cJSON *json = p->s.results.about = cJSON_CreateObject();
    double spearman = 0;
    for (int d = 0; d < p->sets; d++)
        spearman += p->noise[d].spearman / p->sets;
    cJSON_AddNumberToObject(json, "data_sets", p->sets);
    cJSON_AddNumberToObject(json, "sequences", PROBE_NOISE_SEQUENCES);
    cJSON_AddNumberToObject(json, "labels_per_sequence", PROBE_NOISE_LABELS);
    cJSON_AddNumberToObject(json, "projections", PROBE_NOISE_TRIALS);
    cJSON_AddNumberToObject(json, "spearman", spearman);
    if (!p->s.options->answers) { /* how another program learned is not known */
        cJSON_AddNumberToObject(json, "steps", (double)p->train.steps);
        cJSON_AddNumberToObject(json, "lr", p->train.lr);
    }
    cJSON_AddNumberToObject(json, "held_out_sequences", p->held_out.n);
    cJSON_AddNumberToObject(json, "points", (double)p->points[PROBE_CORRECTED]);
    cJSON_AddNumberToObject(json, "points_published", (double)p->points[PROBE_PUBLISHED]);
    cJSON *list = cJSON_AddArrayToObject(json, "diverged");
    for (int d = 0; d < p->sets; d++)
        for (int learner = 0; learner < PROBE_MODELS; learner++)
            if (find_cell(p, learner, d) && !isfinite(*find_cell(p, learner, d))) {
                cJSON *one = cJSON_CreateObject();
                cJSON_AddStringToObject(one, "arm", learner_name[learner]);
                cJSON_AddNumberToObject(one, "data_set", d + 1);
                cJSON_AddItemToArray(list, one);
            }
    return json && list ? 0 : ORR_FAIL(ORR_ENOMEM, "inductive: out of memory");
}

static int measure_model(void *of)
{
    struct probe_inductive *p = of;
    TRY(probe_inductive_prepare(p));
    TRY(measure_sets(p));
    TRY(collect_predictions(p));
    TRY(probe_inductive_rows(p));
    p->s.results.over = "data sets";
    return add_about(p);
}

static int write_figure(void *of)
{
    const struct probe_inductive *p = of;
    return probe_session_draw(&p->s, "inductive.gp", NULL, NULL);
}

/* Every row except those of bins. */
static bool is_summary(const struct orr_row *row)
{
    return row->context == 0;
}

int probe_inductive(const struct probe_options *options)
{
    static const struct probe_steps steps = {.name = "inductive",
                                             .revision = REVISION,
                                             .script = "inductive.gp",
                                             .open = probe_inductive_open,
                                             .measure = measure_model,
                                             .write = write_figure,
                                             .is_shown = is_summary};
    struct probe_inductive p = {.sets = 0};
    const int rc = probe_session_run(&p.s, options, &steps, &p);
    probe_cells_free(&p.cells);
    return rc;
}
