/* label_fit.c - learners that are given the same labels: the pretrained model, the same shape with
 * random weights, and neighbours of the true state. */
#include "labels.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <gsl/gsl_randist.h>

const char *const probe_learner_name[PROBE_LEARNERS] = {"pretrained", "untrained", "neighbours"};

bool probe_learner_runs(const struct probe_options *options, int learner)
{
    return learner != PROBE_UNTRAINED || !options->no_untrained;
}

int probe_learners_running(const struct probe_options *options)
{
    return PROBE_LEARNERS - options->no_untrained;
}

enum { STEPS = 600, BATCH = 32, INNER_SEQUENCES = 256, INNER_ROWS = 8 };

/* --------------------------------------------------------------------------------- draws */

int probe_labels_order(const struct ft_labels *labels, uint64_t seed, size_t *order)
{
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_SHUFFLE, 3ull << 40);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "draws of labels: out of memory");
    memcpy(order, labels->sequence, labels->count * sizeof *order);
    gsl_ran_shuffle(rng, order, labels->count, sizeof *order);
    gsl_rng_free(rng);
    return 0;
}

void probe_labels_draw(const struct ft_labels *labels, const size_t *order, int draw, size_t n,
                       struct ft_labels *subset)
{
    subset->set = labels->set;
    subset->bounds = labels->bounds;
    subset->count = n;
    for (size_t i = 0; i < n; i++)
        subset->sequence[i] = order[((size_t)draw * n + i) % labels->count];
}

int probe_labels_each(struct probe_arena *arena, const struct ft_labels *labels, uint64_t seed,
                      int draws, size_t n,
                      int (*one)(void *of, int draw, const struct ft_labels *subset), void *of)
{
    struct ft_labels subset = {.sequence = probe_take(arena, n, sizeof *subset.sequence)};
    size_t *order = probe_take(arena, labels->count, sizeof *order);
    TRY(arena->failed);
    TRY(probe_labels_order(labels, seed, order));
    for (int draw = 0; draw < draws; draw++) {
        probe_labels_draw(labels, order, draw, n, &subset);
        TRY(one(of, draw, &subset));
    }
    return 0;
}

void probe_labels_split(const struct ft_labels *subset, struct ft_labels *trained,
                        struct ft_labels *held)
{
    const size_t last = subset->count / 5 ? subset->count / 5 : 1;
    *trained = *held = *subset;
    trained->count = subset->count - last;
    held->sequence = subset->sequence + trained->count;
    held->count = last;
}

/* ---------------------------------------------------------------------------------- learners */

void probe_shorter(const struct orr_train_settings *of, long steps, int batch,
                   struct orr_train_settings *train)
{
    *train = *of;
    train->steps = steps;
    train->batch = batch;
    train->patience = 0;
    if (of->steps > steps) /* the warm-up keeps its share of the training */
        train->warmup = of->warmup * steps / of->steps;
}

void probe_learners_init(struct probe_learners *learners, struct probe_arena *arena,
                         const struct probe *probe, const struct probe_options *options)
{
    const struct orr_train_settings *t = &options->settings->finetune.magnitude;
    const long usual = t->steps > 0 && t->steps < STEPS ? t->steps : STEPS;
    *learners = (struct probe_learners){.arena = arena, .probe = probe, .options = options};
    probe_shorter(t, options->steps ? options->steps : usual, t->batch < BATCH ? t->batch : BATCH,
                  &learners->train);
    learners->rate_steps = (learners->train.steps + 1) / 2;
    for (int k = 0; k < PROBE_RATES; k++)
        learners->rate[k] = t->lr * pow(2, k - 1);
}

void probe_learners_key(const struct probe_learners *learners, int draws, const int *n, int sizes,
                        char text[PROBE_KEY])
{
    /* large enough for PROBE_SIZES numbers of 10 digits */
    snprintf(text, PROBE_KEY, "%ld %d ", learners->train.steps, draws);
    for (int k = 0; k < sizes; k++)
        orr_append(text, PROBE_KEY, "%s%d", k ? "," : "", n[k]);
    if (learners->options->no_untrained)
        orr_append(text, PROBE_KEY, " no untrained");
}

void probe_learners_budget(const struct probe_learners *learners, cJSON *json)
{
    static const char *const trained[] = {"all", "head", "last_block"};
    cJSON_AddStringToObject(json, "train", trained[learners->train.train]);
    cJSON_AddNumberToObject(json, "steps", (double)learners->train.steps);
    cJSON_AddNumberToObject(json, "batch", learners->train.batch);
    cJSON_AddNumberToObject(json, "steps_to_choose_lr", (double)learners->rate_steps);
    cJSON_AddItemToObject(json, "lr", cJSON_CreateDoubleArray(learners->rate, PROBE_RATES));
    cJSON_AddNumberToObject(json, "inner_share", 0.2);
}

int probe_learner_train(struct probe_learners *learners, enum probe_learner learner,
                        const struct ft_labels *labels, double lr, long steps,
                        struct gpt_model *model, struct ft_transform *transform)
{
    const struct orr_settings *p = learners->options->settings;
    struct orr_train_settings train = learners->train;
    train.warmup = train.warmup * steps / train.steps;
    train.muon_lr *= lr / train.lr;
    train.lr = lr;
    train.steps = steps;
    TRY(probe_copy(learners->probe, learners->options, learner == PROBE_UNTRAINED, model));
    const int rc = ft_fit(model, &train, labels, p->finetune.magnitude_loss, p->seed, transform);
    learners->steps[learner] += steps;
    if (rc)
        gpt_free(model);
    return rc;
}

/* Predicts forces F (rows) at the held-out rows. */
static int predict_forces(struct probe_arena *arena, struct gpt_model *model,
                          const struct ft_transform *transform,
                          const struct probe_held_out *held_out, double *F)
{
    const size_t P = (size_t)held_out->set->positions, T = P - 1;
    double *all = probe_take(arena, held_out->sequences * T, sizeof *all);
    TRY(arena->failed);
    TRY(ft_predict(model, transform, held_out->set, held_out->sequence, held_out->sequences, all));
    for (size_t i = 0; i < held_out->rows; i++)
        F[i] = all[held_out->of[i] * T + held_out->at[i] % P];
    return 0;
}

static int by_model(struct probe_learners *learners, enum probe_learner learner,
                    const struct ft_labels *labels, double lr, long steps,
                    const struct probe_held_out *held_out, double *F)
{
    struct ft_transform transform;
    struct gpt_model model;
    TRY(probe_learner_train(learners, learner, labels, lr, steps, &model, &transform));
    const int rc = predict_forces(learners->arena, &model, &transform, held_out, F);
    gpt_free(&model);
    return rc;
}

/* Predicts the mean of the nearest labelled states. It uses masses and velocities, which no model
 * is given. */
static int by_neighbours(const struct probe_learners *learners, const struct ft_labels *labels,
                         const struct probe_held_out *held_out, double *F)
{
    const size_t n = ft_labels_points(labels, NULL, NULL), m = held_out->rows;
    const int wanted = learners->options->settings->finetune.knn_magnitude;
    struct probe_arena *arena = learners->arena;
    const size_t full = (size_t)sim_full_columns(held_out->set->dimensions);
    float *states = probe_take(arena, n * full, sizeof *states);
    float *forces = probe_take(arena, n, sizeof *forces);
    float *queries = probe_take(arena, m * full, sizeof *queries);
    float *out = probe_take(arena, m, sizeof *out);
    TRY(arena->failed);
    ft_labels_points(labels, states, forces);
    for (size_t i = 0; i < m; i++)
        memcpy(queries + full * i, held_out->set->full_state + full * held_out->at[i],
               full * sizeof *queries);
    ft_standardise(full, n, states, m, queries);
    TRY(ft_knn((size_t)wanted < n ? wanted : (int)n, full, n, states, 1, forces, m, queries, out));
    for (size_t i = 0; i < m; i++)
        F[i] = (double)out[i];
    return 0;
}

int probe_learner_logarithms(struct probe_arena *arena, const struct ft_labels *labels, size_t rows,
                             double *F)
{
    const size_t n = ft_labels_points(labels, NULL, NULL);
    float *forces = probe_take(arena, n ? n : 1, sizeof *forces);
    double least = INFINITY;
    TRY(arena->failed);
    ft_labels_points(labels, NULL, forces);
    for (size_t i = 0; i < n; i++)
        least = fmin(least, (double)forces[i]);
    for (size_t i = 0; i < rows; i++)
        F[i] = orr_log(F[i] > 0 ? F[i] : least);
    return 0;
}

int probe_learner_forces(const struct probe_learners *learners, struct gpt_model *model,
                         const struct ft_transform *transform, const struct ft_labels *labels,
                         const struct probe_held_out *held_out, double *log_f)
{
    TRY(predict_forces(learners->arena, model, transform, held_out, log_f));
    return probe_learner_logarithms(learners->arena, labels, held_out->rows, log_f);
}

int probe_learner_predict(struct probe_learners *learners, enum probe_learner learner,
                          const struct ft_labels *labels, double lr, long steps,
                          const struct probe_held_out *held_out, double *log_f)
{
    const double begin_s = orr_time_s();
    const size_t kept = learners->arena->count;
    int rc = learner == PROBE_NEIGHBOURS
                 ? by_neighbours(learners, labels, held_out, log_f)
                 : by_model(learners, learner, labels, lr, steps, held_out, log_f);
    rc = rc ? rc : probe_learner_logarithms(learners->arena, labels, held_out->rows, log_f);
    probe_rewind(learners->arena, kept);
    learners->seconds[learner] += orr_time_s() - begin_s;
    return rc;
}

/* R^2 on the inner split for one learning rate; a diverging training ranks below all others. */
static int try_rate(struct probe_learners *learners, enum probe_learner learner,
                    const struct ft_labels *trained, double lr, const struct probe_held_out *inner,
                    double *r2)
{
    double *log_f = probe_take(learners->arena, inner->rows, sizeof *log_f);
    double *residual = probe_take(learners->arena, inner->sequences, sizeof *residual);
    TRY(learners->arena->failed);
    const int rc =
        probe_learner_predict(learners, learner, trained, lr, learners->rate_steps, inner, log_f);
    *r2 = -INFINITY;
    if (rc == ORR_EDIVERGED) {
        orr_error_clear();
        return 0;
    }
    TRY(rc);
    probe_residuals(inner, NULL, log_f, residual);
    *r2 = probe_held_out_r2(inner, NULL, residual, NULL);
    return 0;
}

int probe_learner_rate(struct probe_learners *learners, enum probe_learner learner,
                       const struct ft_labels *labels, double *lr)
{
    struct ft_labels trained, held;
    struct probe_held_out inner;
    double best = -INFINITY;
    const size_t kept = learners->arena->count;
    *lr = learners->rate[PROBE_RATES / 2];
    if (learner == PROBE_NEIGHBOURS)
        return 0;
    probe_labels_split(labels, &trained, &held);
    const size_t held_out = held.count < INNER_SEQUENCES ? held.count : INNER_SEQUENCES;
    TRY(probe_held_out_draw(learners->arena, &inner, held.set, &held.bounds, held.sequence,
                            held_out, INNER_ROWS, learners->options->settings->seed));
    for (int k = 0; k < PROBE_RATES; k++) {
        double r2;
        TRY(try_rate(learners, learner, &trained, learners->rate[k], &inner, &r2));
        if (r2 > best) {
            best = r2;
            *lr = learners->rate[k];
        }
    }
    probe_rewind(learners->arena, kept);
    return 0;
}
