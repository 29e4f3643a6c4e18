/* steer.h - compares a change inside a model that continues orbits with an equal change of the
 * orbit. */
#ifndef PROBE_STEER_H
#define PROBE_STEER_H

#include "probe/orbits/motion.h"

/* readouts in a likeliest change, at most */
enum { PROBE_STEER_HELD = 8 };

/* The subject of a change: a model, or a test function with known answers. */
struct probe_subject {
    int n, width;       /* sequences; size of the state vector */
    int horizons;       /* number of horizons */
    const int *horizon; /* (horizons), in steps, ascending */
    void *of;
    /* Continues all sequences: place (n, horizons, d) are the positions of body 1. `vector` (n,
     * width) is added to the state of `layer` at the last known step; NULL: nothing is added. */
    int (*follow)(void *of, int layer, const real *vector, double *place);
};

/* Two directions (width) in state space that raise a readout by 1. Both are 0 where there is none.
 *
 * The shortest change: w / |w|^2 for weights w. It may leave the range of actual states. */
void probe_steer_shortest(const double *weight, int width, int stride, double *direction);
/* The likeliest change under the covariance S of states that keeps other readouts fixed: S W (W' S
 * W)^-1 e, for the weights W of all readouts and e of the first one (for a single readout S w / w'
 * S w, the pattern of Haufe et al. 2014, NeuroImage 87, Eq. 6). Computed from n states x (n, width)
 * and readouts y (n, readouts), of which `chosen` (count) are used, the changed one first.
 * ORR_ENOMEM. */
int probe_steer_likeliest(struct probe_arena *arena, long n, int width, const double *x,
                          int readouts, const double *y, int count, const int *chosen,
                          double *direction);
/* Changes the quantity by t sd, t = -3 .. 3 without 0: in the states along `direction`, which the
 * subject then continues, and in the true orbits (n) at the last known step.
 *
 * moved (horizons, n): sums over t of products of the continuation's and the orbit's displacements
 * (struct probe_moved). Trials without an orbit are skipped; without a direction all are. random:
 * additions of equal length in random directions, from (seed, ORR_STAGE_BOOTSTRAP). base: the
 * continuation without an addition. */
struct probe_steering {
    enum probe_change change;
    int layer;
    const double *direction;
    double sd;
    const struct probe_orbit *orbit;
    const double *base;
    bool random;
    uint64_t seed;
};
int probe_steer(struct probe_arena *arena, const struct probe_subject *subject,
                const struct probe_steering *steering, struct probe_moved *moved);

#endif
