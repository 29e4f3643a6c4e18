/* noise.c - see noise.h. */
#include "noise.h"
#include "rank.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>

/* Random streams for labelled steps and for projections. */
static const uint64_t label_stream = 7ull << 40, projection_stream = 8ull << 40;

void probe_noise_state(int axes, const double full[], double state[PROBE_STATE])
{
    for (int c = 0; c < 2 * axes; c++)
        state[c] = full[c];
    state[2 * axes] = full[2 * axes] / full[2 * axes + 1];
}

/* ------------------------------------------------------------------------- standardisation */

void probe_standard_fit(size_t n, int states, const double *x, struct probe_standard *s)
{
    const size_t S = (size_t)states;
    s->states = states;
    for (size_t c = 0; c < S; c++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++)
            mean += x[i * S + c];
        mean /= (double)n;
        for (size_t i = 0; i < n; i++) {
            const double d = x[i * S + c] - mean;
            square += d * d;
        }
        const double sd = sqrt(square / (double)n);
        s->mean[c] = mean;
        s->sd[c] = sd > 1e-12 * fabs(mean) ? sd : 1; /* only rounding errors: nothing varies */
    }
}

void probe_standard_apply(const struct probe_standard *s, const double state[PROBE_STATE],
                          double z[PROBE_STATE])
{
    for (int c = 0; c < s->states; c++)
        z[c] = (state[c] - s->mean[c]) / s->sd[c];
}

/* ------------------------------------------------------------------------------------ pool */

static int fit_standard(struct probe_arena *arena, struct probe_pool *p)
{
    const size_t steps = (size_t)(p->to - p->from), kept = arena->count;
    const size_t S = (size_t)probe_states(p->set->axes);
    double *state = probe_take(arena, PROBE_NOISE_POINTS * steps * S, sizeof *state);
    TRY(arena->failed);
    for (int i = 0; i < PROBE_NOISE_POINTS; i++)
        for (size_t k = 0; k < steps; k++)
            probe_noise_state(p->set->axes, probe_labelled_state(p->set, i, p->from + (int)k),
                              state + ((size_t)i * steps + k) * S);
    probe_standard_fit(PROBE_NOISE_POINTS * steps, (int)S, state, &p->standard);
    probe_rewind(arena, kept);
    return 0;
}

int probe_pool_create(struct probe_arena *arena, struct probe_pool *p,
                      const struct probe_labelled *set, int from, int to, uint64_t seed)
{
    const size_t pairs = probe_pairs(PROBE_NOISE_POINTS), S = (size_t)probe_states(set->axes);
    *p = (struct probe_pool){.set = set, .seed = seed, .from = from, .to = to};
    p->rank = probe_take(arena, pairs, sizeof *p->rank);
    p->projected_rank = probe_take(arena, pairs, sizeof *p->projected_rank);
    p->z = probe_take(arena, (size_t)PROBE_NOISE_POINTS * S, sizeof *p->z);
    p->distance = probe_take(arena, pairs, sizeof *p->distance);
    p->work = probe_take(arena, 2 * pairs, sizeof *p->work);
    TRY(fit_standard(arena, p));
    for (int i = 0; i < PROBE_NOISE_POINTS; i++) {
        const uint64_t drawn = orr_rng_hash(seed, ORR_STAGE_SAMPLE, label_stream, (uint64_t)i);
        probe_pool_state(p, set, i, from + (int)(drawn % (uint64_t)(to - from)),
                         p->z + (size_t)i * S);
    }
    probe_distances(PROBE_NOISE_POINTS, S, p->z, p->distance);
    probe_ranks(pairs, p->distance, p->rank, p->work);
    return 0;
}

void probe_pool_state(const struct probe_pool *p, const struct probe_labelled *set, int sequence,
                      int step, double z[PROBE_STATE])
{
    double state[PROBE_STATE];
    probe_noise_state(set->axes, probe_labelled_state(set, sequence, step), state);
    probe_standard_apply(&p->standard, state, z);
}

/* ------------------------------------------------------------------------------- data sets */

int probe_noise_projection(uint64_t seed, int d, int trial, int states, double weight[PROBE_STATE])
{
    gsl_rng *rng =
        orr_rng_create(seed, ORR_STAGE_SAMPLE,
                       projection_stream + (uint64_t)d * PROBE_NOISE_TRIALS + (uint64_t)trial);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "white-noise data set %d: out of memory", d);
    for (int c = 0; c < states; c++)
        weight[c] = orr_draw_normal(rng);
    gsl_rng_free(rng);
    return 0;
}

static double project_state(int states, const double weight[], const double z[])
{
    double sum = 0;
    for (int c = 0; c < states; c++)
        sum += weight[c] * z[c];
    return sum;
}

/* Chooses the projection whose distances have the largest rank correlation with distances of
 * states. */
static int choose_projection(const struct probe_pool *p, int d, struct probe_noise *noise)
{
    const size_t pairs = probe_pairs(PROBE_NOISE_POINTS);
    const int states = noise->states;
    double weight[PROBE_STATE], projected[PROBE_NOISE_POINTS];
    noise->spearman = -INFINITY;
    for (int trial = 0; trial < PROBE_NOISE_TRIALS; trial++) {
        TRY(probe_noise_projection(p->seed, d, trial, states, weight));
        for (size_t i = 0; i < PROBE_NOISE_POINTS; i++)
            projected[i] = project_state(states, weight, p->z + i * (size_t)states);
        probe_distances(PROBE_NOISE_POINTS, 1, projected, p->distance);
        probe_ranks(pairs, p->distance, p->projected_rank, p->work);
        const double found = probe_correlation(pairs, p->rank, p->projected_rank);
        if (found > noise->spearman) {
            noise->spearman = found;
            for (int c = 0; c < states; c++)
                noise->weight[c] = weight[c];
        }
    }
    return isfinite(noise->spearman)
               ? 0
               : ORR_FAIL(ORR_EINVAL, "white-noise data set %d: states do not vary", d);
}

/* Scales the target to mean 0 and standard deviation 1 over the steps of the data set's
 * sequences. */
static void standardise_target(const struct probe_pool *p, struct probe_noise *noise)
{
    double sum = 0, square = 0, z[PROBE_STATE];
    const double n = (double)PROBE_NOISE_SEQUENCES * (p->to - p->from);
    for (int pass = 0; pass < 2; pass++)
        for (int s = 0; s < PROBE_NOISE_SEQUENCES; s++)
            for (int step = p->from; step < p->to; step++) {
                probe_pool_state(p, p->set, noise->first + s, step, z);
                const double y = project_state(noise->states, noise->weight, z);
                if (pass)
                    square += (y - sum / n) * (y - sum / n);
                else
                    sum += y;
            }
    const double sd = sqrt(square / n);
    for (int c = 0; c < noise->states; c++)
        noise->weight[c] /= sd;
    noise->bias = -sum / n / sd;
}

int probe_noise_make(const struct probe_pool *p, int d, struct probe_noise *noise)
{
    const int steps = p->to - p->from;
    int *all = orr_alloc((size_t)steps, sizeof *all);
    gsl_rng *rng = orr_rng_create(p->seed, ORR_STAGE_LABELS, label_stream + (uint64_t)d);
    int rc = all && rng ? 0 : ORR_FAIL(ORR_ENOMEM, "white-noise data set %d: out of memory", d);
    *noise = (struct probe_noise){.first = PROBE_NOISE_SEQUENCES * d,
                                  .states = probe_states(p->set->axes)};
    for (int k = 0; k < steps && !rc; k++)
        all[k] = p->from + k;
    for (int s = 0; s < PROBE_NOISE_SEQUENCES && !rc; s++)
        gsl_ran_choose(rng, noise->step[s], PROBE_NOISE_LABELS, all, (size_t)steps, sizeof *all);
    rc = rc ? rc : choose_projection(p, d, noise);
    if (!rc)
        standardise_target(p, noise);
    if (rng)
        gsl_rng_free(rng);
    free(all);
    return rc;
}

double probe_noise_target(const struct probe_noise *noise, const double z[PROBE_STATE])
{
    return noise->bias + project_state(noise->states, noise->weight, z);
}
