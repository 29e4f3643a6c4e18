/* steer.h - a change inside of whatever continues orbits, against the same change of the orbit. */
#ifndef PROBE_STEER_H
#define PROBE_STEER_H

#include "probe/orbits/motion.h"

/* Readouts of which one is raised and the others held, at most. */
enum { PROBE_STEER_HELD = 8 };

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

/* Two ways to raise a readout by 1, as directions (width) of the state. Both are 0 where there is
 * no such way.
 *
 * The shortest change: w / |w|^2 for weights w. It may go where states never are. */
void probe_steer_shortest(const double *weight, int width, int stride, double *direction);
/* The likeliest change under the covariance S of states that leaves other readouts as they are:
 * S W (W' S W)^-1 e for the weights W of all of them, e of the first (of a single one S w / w' S w,
 * the pattern of Haufe et al. 2014, NeuroImage 87, Eq. 6). From n states x (n, width) and readouts
 * y (n, readouts), of which `chosen` (count) are taken, the one to be raised first. ORR_ENOMEM. */
int probe_steer_likeliest(struct probe_arena *arena, long n, int width, const double *x,
                          int readouts, const double *y, int count, const int *chosen,
                          double *direction);
/* t sd, t = -3 .. 3 without 0, are added to the quantity: to the states along `direction`, which
 * the subject then continues, and to the true orbits (n) at the last step seen.
 *
 * moved (horizons, n): sums over t of how the continuation moved against how the orbit did. Trials
 * without an orbit are left out, and without a direction all of them are. random: the additions
 * have the same lengths and random directions, of (seed, ORR_STAGE_BOOTSTRAP). base: the
 * continuation without addition. */
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
