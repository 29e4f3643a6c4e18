/* labels.c - selects the labels used for magnitudes: the sequences, and bounds of r and m1 m2. */
#include "train_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ft_bounds_of(const struct orr_settings *settings, struct ft_bounds *bounds)
{
    const struct orr_orbits_settings *o = &settings->orbits;
    *bounds = (struct ft_bounds){.r_min = o->label_r_min,
                                 .r_max = o->label_r_max,
                                 .m_min = o->label_m_min,
                                 .m_max = o->label_m_max};
}

static bool is_bounded(const struct ft_bounds *b)
{
    return b->r_min > 0 || b->r_max > 0 || b->m_min > 0 || b->m_max > 0;
}

static bool is_within(double x, double min, double max)
{
    return x >= min && (max <= 0 || x <= max);
}

/* The state at a position: position, velocity, masses. */
static const float *state_at(const struct sim_dataset *set, size_t at)
{
    return set->full_state + (size_t)sim_full_columns(set->dimensions) * at;
}

double ft_separation(const struct sim_dataset *set, size_t at)
{
    return ft_length(state_at(set, at), set->dimensions);
}

const float *ft_masses(const struct sim_dataset *set, size_t at)
{
    return state_at(set, at) + 2 * set->dimensions;
}

double ft_mass_product(const struct sim_dataset *set, size_t at)
{
    const float *mass = ft_masses(set, at);
    return (double)mass[0] * (double)mass[1];
}

bool ft_label_counts(const struct sim_dataset *set, const struct ft_bounds *b, size_t at)
{
    if (!isfinite(set->force_magnitude[at]))
        return false;
    return !is_bounded(b) || (is_within(ft_separation(set, at), b->r_min, b->r_max) &&
                              is_within(ft_mass_product(set, at), b->m_min, b->m_max));
}

static bool has_label(const struct ft_labels *labels, size_t sequence)
{
    const size_t P = (size_t)labels->set->positions;
    for (size_t at = sequence * P; at + 1 < (sequence + 1) * P; at++)
        if (ft_label_counts(labels->set, &labels->bounds, at))
            return true;
    return false;
}

int ft_labels_find(struct ft_labels *labels, const struct sim_dataset *set,
                   const struct ft_bounds *bounds)
{
    *labels = (struct ft_labels){.set = set, .bounds = *bounds};
    labels->sequence = orr_alloc(set->n ? set->n : 1, sizeof *labels->sequence);
    if (!labels->sequence)
        return ORR_ENOMEM;
    for (size_t s = 0; s < set->n; s++)
        if (!is_bounded(bounds) || has_label(labels, s))
            labels->sequence[labels->count++] = s;
    return 0;
}

void ft_labels_free(struct ft_labels *labels)
{
    free(labels->sequence);
    *labels = (struct ft_labels){0};
}

size_t ft_labels_points(const struct ft_labels *labels, float *states, float *forces)
{
    const struct sim_dataset *set = labels->set;
    const size_t P = (size_t)set->positions;
    const size_t full = (size_t)sim_full_columns(set->dimensions);
    size_t count = 0;
    for (size_t i = 0; i < labels->count; i++) {
        const size_t s = labels->sequence[i];
        for (size_t at = s * P; at + 1 < (s + 1) * P; at++) {
            if (!ft_label_counts(set, &labels->bounds, at))
                continue;
            if (states)
                memcpy(states + full * count, state_at(set, at), full * sizeof *states);
            if (forces)
                forces[count] = set->force_magnitude[at];
            count++;
        }
    }
    return count;
}

int ft_labels_enough(const struct ft_labels *labels, size_t least)
{
    const struct ft_bounds *b = &labels->bounds;
    const size_t n = ft_labels_points(labels, NULL, NULL);
    if (n >= least || !is_bounded(b))
        return 0;
    return ORR_FAIL(ORR_EINVAL,
                    "%zu labels to learn from, expected at least %zu: no more lie within "
                    "orbits.label_r_min = %g, label_r_max = %g, label_m_min = %g, "
                    "label_m_max = %g (0 = no bound)",
                    n, least, b->r_min, b->r_max, b->m_min, b->m_max);
}

int ft_labels_transform(const struct ft_labels *labels, enum orr_force_loss loss,
                        struct ft_transform *transform)
{
    const size_t n = ft_labels_points(labels, NULL, NULL);
    TRY(ft_labels_enough(labels, 1));
    float *forces = orr_alloc(n ? n : 1, sizeof *forces);
    if (!forces)
        return ORR_ENOMEM;
    ft_labels_points(labels, NULL, forces);
    const int rc = ft_transform_fit(transform, loss, forces, n);
    free(forces);
    return rc;
}

void ft_fill_targets(const struct ft_labels *labels, const struct ft_transform *transform,
                     size_t sequence, int b, struct gpt_batch *batch)
{
    const struct sim_dataset *set = labels->set;
    const size_t T = (size_t)batch->T, first = sequence * (size_t)set->positions;
    for (size_t t = 0; t < T; t++) {
        const size_t at = (size_t)b * T + t;
        const bool counts = ft_label_counts(set, &labels->bounds, first + t);
        batch->weight[at] = counts ? 1 : 0;
        batch->target[at] =
            counts ? (real)ft_transform_apply(transform, (double)set->force_magnitude[first + t])
                   : 0;
    }
}

int ft_fill_magnitudes(const struct ft_magnitudes *task, long step, int pass,
                       struct gpt_batch *batch)
{
    const struct ft_labels *labels = task->labels;
    const int passes = gpt_passes_of(task->train).count;
    for (int b = 0; b < batch->B; b++) {
        const uint64_t draw =
            ((uint64_t)step * (uint64_t)passes + (uint64_t)pass) * (uint64_t)batch->B + (uint64_t)b;
        const size_t s = labels->sequence[orr_rng_hash(task->seed, ORR_STAGE_SHUFFLE, 1, draw) %
                                          (uint64_t)labels->count];
        orr_rng_seek(task->rng, task->seed, ORR_STAGE_NOISE, (1ull << 40) + draw);
        ft_fill_inputs(&task->inputs, labels->set, s, task->train->noise_au, task->rng, b, batch);
        ft_fill_targets(labels, &task->transform, s, b, batch);
    }
    return 0;
}
