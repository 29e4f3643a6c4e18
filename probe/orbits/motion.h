/* motion.h - what rollouts are scored on: constants of the motion along a path of positions, and
 * orbits one quantity of which is changed. */
#ifndef PROBE_MOTION_H
#define PROBE_MOTION_H

#include "probe/core/bootstrap.h"
#include "labelled.h"

/* Rows that a rollout of T rows starts from: half of them, the last one completing a step, as in
 * gpt_evaluate_next_state. */
int probe_prefix(int T);

/* Velocities are central differences of fourth order (Abramowitz and Stegun, Table 25.2): they
 * reach two steps to either side. */
enum { PROBE_REACH = 2, PROBE_DRIFTS = 3 };
/* Relative state at a step of a path (rows, 2), which holds the steps within reach. */
void probe_path_state(const double *path, int step, double dt_yr, double state[4]);
/* |E - E0| / |E0|, |h - h0| / |h0| and |A - A0|: energy, angular momentum and Runge-Lenz vector of
 * the path at the step against those of the true relative state `truth`, about G times mass mu. */
void probe_drift(double mu, const double truth[4], const double *path, int step, double dt_yr,
                 double drift[PROBE_DRIFTS]);

/* ------------------------------------------------------------------------------ interventions */

enum probe_change {
    PROBE_CHANGE_VX,
    PROBE_CHANGE_VY,
    PROBE_CHANGE_MOMENTUM, /* specific angular momentum, at this place and radial velocity */
    PROBE_CHANGE_PULL,     /* 1/r^2: the pull at this place and velocity */
    PROBE_CHANGES
};
extern const char *const probe_change_name[PROBE_CHANGES];
/* The value of the quantity in an orbit. */
double probe_change_value(const struct probe_orbit *orbit, enum probe_change change);
/* The orbit with the quantity changed by `by`; false where there is none (a pull below 0). */
bool probe_change_orbit(struct probe_orbit *orbit, enum probe_change change, double by);

/* Sums over trials of a sequence of what moved (a) and what should have (b). */
struct probe_moved {
    double ab, bb, aa;
};
/* Slope of a on b through the origin, and the cosine between them; of: struct probe_moved (n). */
double probe_slope(const void *of, int n, const unsigned short times[]);
double probe_cosine(const void *of, int n, const unsigned short times[]);

#endif
