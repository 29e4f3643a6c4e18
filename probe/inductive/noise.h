/* noise.h - inside probe/: the white-noise data sets of the inductive-bias probe (Vafa et al. 2025,
 * arXiv 2507.06952; their generate_white_noise_and_oracle_predictions.py).
 *
 * A data set is 100 sequences with two labels each. The target is a random direction in the
 * standardised state of the bodies: it means nothing, but is a function of the state alone, so that
 * a model whose inductive bias is towards the state generalises it as an observer of the state
 * does. */
#ifndef PROBE_NOISE_H
#define PROBE_NOISE_H

#include "probe/orbits/labelled.h"

enum {
    PROBE_STATE = SIM_STATE + 1, /* numbers of a state at most: those of space */
    PROBE_NOISE_SEQUENCES = 100, /* sequences of a data set */
    PROBE_NOISE_LABELS = 2,      /* labels of a sequence */
    PROBE_NOISE_POINTS = 1000,   /* points at which projections are compared */
    PROBE_NOISE_TRIALS = 50      /* candidate projections */
};

/* The numbers of a state: position and velocity of body 1 from body 2, d = `axes` each, and
 * m1 / m2. */
static inline int probe_states(int axes)
{
    return 2 * axes + 1;
}
/* Extracts the state from `full`, laid out as in probe_labelled_state(). */
void probe_noise_state(int axes, const double full[], double state[PROBE_STATE]);

/* Standardises states: subtracts means, divides by standard deviations. */
struct probe_standard {
    int states; /* numbers of a state */
    double mean[PROBE_STATE], sd[PROBE_STATE];
};
/* Fits to x (n, states); a component that does not vary gets sd = 1. */
void probe_standard_fit(size_t n, int states, const double *x, struct probe_standard *standard);
void probe_standard_apply(const struct probe_standard *standard, const double state[PROBE_STATE],
                          double z[PROBE_STATE]);

/* Data shared by all data sets of a seed; independent of their number. */
struct probe_pool {
    const struct probe_labelled *set; /* data set d is sequences 100 d .. 100 d + 99 */
    uint64_t seed;
    int from, to;                   /* labels and points are steps from .. to - 1 */
    struct probe_standard standard; /* over these steps of the first PROBE_NOISE_POINTS sequences */
    double *rank; /* (pairs) ranks of the distances between one step of each of these sequences */
    double *z;    /* (PROBE_NOISE_POINTS, states) standardised states of those steps */
    double *projected_rank; /* (pairs) scratch: ranks of projected distances */
    float *distance;        /* (pairs) */
    uint64_t *work;         /* (2 pairs) */
};
/* Creates the pool. set: at least PROBE_NOISE_POINTS sequences; it must outlive the pool.
 * ORR_ENOMEM. */
int probe_pool_create(struct probe_arena *arena, struct probe_pool *pool,
                      const struct probe_labelled *set, int from, int to, uint64_t seed);
/* The standardised state of a step of a sequence of any set. */
void probe_pool_state(const struct probe_pool *pool, const struct probe_labelled *set, int sequence,
                      int step, double z[PROBE_STATE]);

struct probe_noise {
    int first; /* index of the first sequence in the pool's set */
    int step[PROBE_NOISE_SEQUENCES][PROBE_NOISE_LABELS];
    /* the target is a linear function of the standardised state */
    int states;
    double weight[PROBE_STATE], bias;
    double spearman; /* rank correlation of projected distances with distances of states */
};
/* Projection number `trial` of data set d: independent standard normal weights (states). */
int probe_noise_projection(uint64_t seed, int d, int trial, int states, double weight[PROBE_STATE]);
/* Makes data set number d: its labelled steps, and as target the projection with the largest
 * Spearman correlation, scaled to mean 0 and standard deviation 1 over the steps of its sequences.
 * ORR_ENOMEM. */
int probe_noise_make(const struct probe_pool *pool, int d, struct probe_noise *noise);
double probe_noise_target(const struct probe_noise *noise, const double z[PROBE_STATE]);

#endif
