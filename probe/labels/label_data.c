/* label_data.c - labelled sequences for training, and rows for evaluation. */
#include "labels.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>

/* ------------------------------------------------------------------------------- opening */

int probe_label_sets_check(const struct probe *probe, const struct probe_options *options)
{
    const struct orr_settings *p = options->settings;
    const struct gpt_config *c = &probe->trained;
    TRY(probe_check_unchanged(options));
    if (strcmp(probe->stage, "pretrain") != 0)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: a model of stage %s; expected one of stage pretrain, which "
                        "has seen no forces",
                        options->checkpoint, probe->stage);
    if (!gpt_is_continuous(c))
        return ORR_FAIL(ORR_EINVAL, "%s: a model of %s; expected one of coordinates",
                        options->checkpoint, c->input == GPT_INPUT_TEXT ? "text" : "tokens");
    if (p->orbits.two_body_train < 1 || p->orbits.two_body_test < 1)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: preset %s has no labelled sequences (orbits.two_body_train = %ld, "
                        "orbits.two_body_test = %ld)",
                        options->checkpoint, p->name, p->orbits.two_body_train,
                        p->orbits.two_body_test);
    if (c->context != p->orbits.positions - 1)
        return ORR_FAIL(ORR_EINVAL,
                        "%s: a model of %d positions, labelled sequences of preset %s have %d "
                        "(orbits.positions - 1)",
                        options->checkpoint, c->context, p->name, p->orbits.positions - 1);
    return 0;
}

/* The arrays of a generated set. */
struct arrays {
    float *coords, *full_state, *force;
    uint8_t *bodies;
};

static void keep_sequence(const struct arrays *a, size_t i, const struct sim_sequence *q)
{
    const size_t P = (size_t)q->positions, axes = (size_t)q->dimensions;
    const size_t full = (size_t)sim_full_columns(q->dimensions);
    memcpy(a->coords + axes * i * P, q->coords, axes * P * sizeof *a->coords);
    memcpy(a->full_state + full * i * P, q->full_state, full * P * sizeof *a->full_state);
    memcpy(a->force + i * P, q->force_magnitude, P * sizeof *a->force);
    a->bodies[i] = (uint8_t)q->num_bodies;
}

static int make_set(struct probe_arena *arena, struct sim_dataset *set,
                    const struct orr_settings *settings, enum sim_split split)
{
    const size_t n = (size_t)sim_split_count(settings, split);
    const size_t P = (size_t)sim_split_positions(settings, split);
    const size_t axes = (size_t)settings->orbits.dimensions;
    const size_t full = (size_t)sim_full_columns(settings->orbits.dimensions);
    struct sim_sequence sequence = {0};
    const struct arrays a = {.coords = probe_take(arena, n * P * axes, sizeof(float)),
                             .full_state = probe_take(arena, n * P * full, sizeof(float)),
                             .force = probe_take(arena, n * P, sizeof(float)),
                             .bodies = probe_take(arena, n, 1)};
    *set = (struct sim_dataset){.n = n,
                                .positions = (int)P,
                                .dimensions = settings->orbits.dimensions,
                                .split = split,
                                .coords = a.coords,
                                .full_state = a.full_state,
                                .force_magnitude = a.force,
                                .num_bodies = a.bodies};
    TRY(arena->failed);
    int rc = sim_sequence_create(&sequence, settings, split);
    for (size_t i = 0; i < n && !rc; i++) {
        rc = orr_signal_seen() ? ORR_FAIL(ORR_EINTR, "stopped by a signal")
                               : sim_sequence_make(&sequence, settings, split, i);
        if (!rc)
            keep_sequence(&a, i, &sequence);
    }
    sim_sequence_free(&sequence);
    return rc;
}

static int open_set(struct probe_arena *arena, struct sim_dataset *set,
                    const struct probe_options *options, enum sim_split split, bool *made)
{
    char dir[4096] = "";
    const bool named = *options->orbits != '\0';
    if (named)
        TRY(orr_path(dir, "%s", options->orbits));
    else if (*options->run)
        TRY(orr_path(dir, "%s/orbits", options->run));
    if (named)
        TRY(sim_dataset_verify(options->settings, dir, &split, 1, false, options->quiet));
    *made = !named && !(*dir && sim_dataset_has(options->settings, dir, split));
    return *made ? make_set(arena, set, options->settings, split)
                 : sim_dataset_open(set, options->settings, dir, split);
}

int probe_label_sets_open(struct probe_arena *arena, struct probe_label_sets *f,
                          const struct probe_options *options)
{
    struct ft_bounds bounds;
    *f = (struct probe_label_sets){0};
    ft_bounds_of(options->settings, &bounds);
    TRY(open_set(arena, &f->train, options, SIM_SPLIT_TWO_BODY_TRAIN, &f->made[0]));
    TRY(open_set(arena, &f->test, options, SIM_SPLIT_TWO_BODY_TEST, &f->made[1]));
    return ft_labels_find(&f->labels, &f->train, &bounds);
}

void probe_label_sets_close(struct probe_label_sets *f)
{
    if (!f->made[0])
        sim_dataset_close(&f->train);
    if (!f->made[1])
        sim_dataset_close(&f->test);
    ft_labels_free(&f->labels);
    *f = (struct probe_label_sets){0};
}

/* ---------------------------------------------------------------------------- held-out rows */

/* Finds the labelled rows of a sequence; returns how many. */
static size_t find_labelled(const struct sim_dataset *set, const struct ft_bounds *bounds,
                            size_t sequence, size_t *at)
{
    const size_t P = (size_t)set->positions;
    size_t count = 0;
    for (size_t i = sequence * P; i + 1 < (sequence + 1) * P; i++)
        if (ft_label_counts(set, bounds, i))
            at[count++] = i;
    return count;
}

int probe_held_out_draw(struct probe_arena *arena, struct probe_held_out *j,
                        const struct sim_dataset *set, const struct ft_bounds *bounds,
                        const size_t *sequence, size_t count, int per, uint64_t seed)
{
    const uint64_t own = 2ull << 40; /* random streams separate from those of regression samples */
    const size_t most = count * (size_t)per;
    *j = (struct probe_held_out){.set = set, .sequences = count};
    j->sequence = probe_take(arena, count ? count : 1, sizeof *j->sequence);
    j->of = probe_take(arena, most ? most : 1, sizeof *j->of);
    j->at = probe_take(arena, most ? most : 1, sizeof *j->at);
    j->y = probe_take(arena, most ? most : 1, sizeof *j->y);
    size_t *all = probe_take(arena, (size_t)set->positions, sizeof *all);
    TRY(arena->failed);
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_SAMPLE, own);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "rows to measure on: out of memory");
    for (size_t i = 0; i < count; i++) {
        j->sequence[i] = sequence ? sequence[i] : i;
        const size_t found = find_labelled(set, bounds, j->sequence[i], all);
        const size_t take = found < (size_t)per ? found : (size_t)per;
        orr_rng_seek(rng, seed, ORR_STAGE_SAMPLE, own + j->sequence[i]);
        if (take)
            gsl_ran_choose(rng, j->at + j->rows, take, all, found, sizeof *all);
        for (size_t k = 0; k < take; k++, j->rows++) {
            j->of[j->rows] = i;
            j->y[j->rows] = orr_log((double)set->force_magnitude[j->at[j->rows]]);
        }
    }
    gsl_rng_free(rng);
    return j->rows ? 0
                   : ORR_FAIL(ORR_EINVAL, "%s: no labelled row to measure on",
                              sim_split_name(set->split));
}

void probe_residuals(const struct probe_held_out *j, const bool *keep, const double *log_f,
                     double *residual)
{
    memset(residual, 0, j->sequences * sizeof *residual);
    for (size_t i = 0; i < j->rows; i++) {
        const double d = log_f[i] - j->y[i];
        if (!keep || keep[i])
            residual[j->of[i]] += d * d;
    }
}

double probe_held_out_r2(const struct probe_held_out *j, const bool *keep, const double *residual,
                         const double *weight)
{
    double n = 0, sum = 0, square = 0, left = 0, mean = 0;
    for (size_t i = 0; i < j->rows; i++) {
        const double w = keep && !keep[i] ? 0 : weight ? weight[j->of[i]] : 1;
        n += w;
        sum += w * j->y[i];
    }
    mean = n > 0 ? sum / n : 0;
    for (size_t i = 0; i < j->rows; i++) {
        const double w = keep && !keep[i] ? 0 : weight ? weight[j->of[i]] : 1;
        square += w * (j->y[i] - mean) * (j->y[i] - mean);
    }
    for (size_t s = 0; s < j->sequences; s++)
        left += (weight ? weight[s] : 1) * residual[s];
    return square > 0 ? 1 - left / square : (double)NAN;
}

void probe_resample(gsl_rng *rng, uint64_t seed, uint64_t k, size_t n, double *weight)
{
    orr_rng_seek(rng, seed, ORR_STAGE_BOOTSTRAP, k);
    memset(weight, 0, n * sizeof *weight);
    for (size_t i = 0; i < n; i++)
        weight[gsl_rng_uniform_int(rng, n)] += 1;
}

void probe_interval(double *x, size_t n, double *low, double *high)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i]))
            x[count++] = x[i];
    gsl_sort(x, 1, count);
    *low = count ? x[(size_t)(0.025 * (double)(count - 1) + 0.5)] : (double)NAN;
    *high = count ? x[(size_t)(0.975 * (double)(count - 1) + 0.5)] : (double)NAN;
}
