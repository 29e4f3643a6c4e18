/* motion.h - measures of rollouts: constants of the motion along a path of positions, and orbits
 * with one quantity changed. */
#ifndef PROBE_MOTION_H
#define PROBE_MOTION_H

#include "probe/core/bootstrap.h"
#include "labelled.h"

/* Rows given to a rollout of T rows: half of them, ending with a complete step, as in
 * gpt_evaluate_next_state(). */
int probe_prefix(int T);
int probe_prefix_of(int T, int bodies); /* of steps with this number of bodies */
/* How many sequences of two_body_test are continued: --sequences, or 500. */
int probe_rollout_sequences(const struct probe_options *options);

/* Velocities are central differences of fourth order (Abramowitz and Stegun, Table 25.2), which
 * need two steps on either side. */
enum { PROBE_REACH = 2, PROBE_DRIFTS = 3 };
/* Relative state (2 axes) at a step of a path (rows, axes); the path must contain the neighbouring
 * steps. */
void probe_path_state(const double *path, int axes, int step, double dt_yr, double state[]);
/* Relative errors |E - E0| / |E0| of energy and |h - h0| / |h0| of angular momentum, in space a
 * vector, and |A - A0| of the Runge-Lenz vector: the path at the step against the true relative
 * state `truth`; mu is G times the total mass. */
void probe_drift(double mu, int axes, const double truth[], const double *path, int step,
                 double dt_yr, double drift[PROBE_DRIFTS]);

/* ------------------------------------------------------------------------------ interventions */

enum probe_change {
    PROBE_CHANGE_VX,
    PROBE_CHANGE_VY,
    PROBE_CHANGE_VZ, /* in space alone */
    /* specific angular momentum, in space its size, at constant position, radial velocity and
     * plane */
    PROBE_CHANGE_MOMENTUM,
    PROBE_CHANGE_PULL, /* 1/r^2: the pull, at constant position and velocity */
    PROBE_CHANGES
};
extern const char *const probe_change_name[PROBE_CHANGES];
/* How many changes orbits of d = `axes` coordinates have, and which one is number q. */
int probe_changes(int axes);
enum probe_change probe_change_at(int axes, int q);
/* The value of the quantity in the orbit. */
double probe_change_value(const struct probe_orbit *orbit, enum probe_change change);
/* Changes the quantity of the orbit by `by`; false where there is no such orbit (a negative
 * pull, in space an angular momentum whose size would be negative). */
bool probe_change_orbit(struct probe_orbit *orbit, enum probe_change change, double by);

/* Sums over a sequence's trials of products of the continuation's displacement (a) and the orbit's
 * (b). */
struct probe_moved {
    double ab, bb, aa;
};
/* Slope of a regression of a on b through the origin, and the cosine between them; of: struct
 * probe_moved (n). */
double probe_slope(const void *of, int n, const unsigned short times[]);
double probe_cosine(const void *of, int n, const unsigned short times[]);

#endif
