/* steer.h - a change inside of whatever continues orbits, against the same change of the orbit. */
#ifndef PROBE_STEER_H
#define PROBE_STEER_H

#include "motion.h"

/* What is changed: a model, or a toy whose answers are known. */
struct probe_subject {
    int n, width;       /* sequences; numbers of the state that is changed */
    int horizons;       /* how many */
    const int *horizon; /* (horizons), in steps, ascending */
    void *of;
    /* place (n, horizons, 2): where body 1 is continued to, `vector` (n, width) being added to the
     * state of `layer` at the last step seen; NULL: nothing. */
    int (*follow)(void *of, int layer, const real *vector, double *place);
};

/* The readout of the quantity as a direction: the shortest change of the state that raises the
 * readout by 1, w / |w|^2 for weights w; 0 where all weights are. */
void probe_steer_direction(const double *weight, int width, int stride, double *direction);
/* t sd, t = -3 .. 3 without 0, are added to the quantity: to the states along `direction`, which the
 * subject then continues, and to the true orbits (n) at the last step seen. moved (horizons, n): sums
 * over t of how the continuation moved against how the orbit did. Trials without an orbit are left
 * out. random: the additions have the same lengths and random directions, of (seed,
 * ORR_STAGE_BOOTSTRAP). base: the continuation without addition. */
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
int probe_steer(const struct probe_subject *subject, const struct probe_steering *steering,
                struct probe_moved *moved);

#endif
