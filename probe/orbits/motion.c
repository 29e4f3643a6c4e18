/* motion.c - see motion.h. */
#include "motion.h"

#include <math.h>

#include "quantities.h"

int probe_prefix_of(int T, int bodies)
{
    const int half = T / 2 + 1; /* row 0 is the time step */
    return half - (half - 1) % bodies;
}

int probe_prefix(int T)
{
    return probe_prefix_of(T, PROBE_BODIES);
}

int probe_rollout_sequences(const struct probe_options *options)
{
    enum { SEQUENCES = 500 };
    return options->sequences ? options->sequences : SEQUENCES;
}

/* Position of body 1 relative to body 2 at a step. */
static double separation_of(const double *path, int axes, int step, int c)
{
    return path[axes * (1 + 2 * step) + c] - path[axes * (2 + 2 * step) + c];
}

void probe_path_state(const double *path, int axes, int step, double dt_yr, double state[])
{
    for (int c = 0; c < axes; c++) {
        const double near =
            separation_of(path, axes, step + 1, c) - separation_of(path, axes, step - 1, c);
        const double far =
            separation_of(path, axes, step + 2, c) - separation_of(path, axes, step - 2, c);
        state[c] = separation_of(path, axes, step, c);
        state[axes + c] = (8 * near - far) / (12 * dt_yr);
    }
}

void probe_drift(double mu, int axes, const double truth[], const double *path, int step,
                 double dt_yr, double drift[PROBE_DRIFTS])
{
    double state[SIM_STATE], moved[SIM_AXES], turned[SIM_AXES];
    probe_path_state(path, axes, step, dt_yr, state);
    const struct probe_constants was = probe_constants_of(mu, axes, truth),
                                 is = probe_constants_of(mu, axes, state);
    for (int c = 0; c < SIM_AXES; c++) {
        moved[c] = is.angular_momentum[c] - was.angular_momentum[c];
        turned[c] = is.runge_lenz[c] - was.runge_lenz[c];
    }
    drift[0] = fabs(is.energy - was.energy) / fabs(was.energy);
    drift[1] = sim_hypot(moved, 3) / sim_hypot(was.angular_momentum, 3);
    drift[2] = sim_hypot(turned, axes);
}

/* ------------------------------------------------------------------------------ interventions */

const char *const probe_change_name[PROBE_CHANGES] = {"velocity x", "velocity y", "velocity z",
                                                      "angular momentum", "1/r^2"};

int probe_changes(int axes)
{
    return axes == 3 ? PROBE_CHANGES : PROBE_CHANGES - 1;
}

enum probe_change probe_change_at(int axes, int q)
{
    return (enum probe_change)(axes == 3 || q < PROBE_CHANGE_VZ ? q : q + 1);
}

/* The specific angular momentum h; returns its length, in the plane with the sign of h z. */
static double momentum_of(const struct probe_orbit *o, double h[SIM_AXES])
{
    const struct probe_constants c = probe_constants_of(o->mu, o->axes, o->state);
    for (int k = 0; k < SIM_AXES; k++)
        h[k] = c.angular_momentum[k];
    return o->axes == 3 ? sim_hypot(h, 3) : h[2];
}

double probe_change_value(const struct probe_orbit *o, enum probe_change change)
{
    double h[SIM_AXES];
    switch (change) {
    case PROBE_CHANGE_VX:
    case PROBE_CHANGE_VY:
    case PROBE_CHANGE_VZ:
        return o->state[o->axes + (int)change];
    case PROBE_CHANGE_MOMENTUM:
        return momentum_of(o, h);
    default:
        return 1 / sim_dot(o->state, o->state, o->axes);
    }
}

/* The tangential velocity is n x s |h| / r^2, for the unit normal n of the orbit's plane. */
static bool change_momentum(struct probe_orbit *o, double by)
{
    const double square = sim_dot(o->state, o->state, o->axes);
    const double s[3] = {o->state[0], o->state[1], o->axes == 3 ? o->state[2] : 0};
    double n[SIM_AXES];
    const double size = momentum_of(o, n);
    if (o->axes == 3 && !(size > 0 && size + by > 0))
        return false;
    for (int c = 0; c < SIM_AXES; c++)
        n[c] = o->axes == 3 ? n[c] / size : c == 2;
    for (int c = 0; c < o->axes; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        o->state[o->axes + c] += by * (n[d] * s[e] - n[e] * s[d]) / square;
    }
    return true;
}

bool probe_change_orbit(struct probe_orbit *o, enum probe_change change, double by)
{
    switch (change) {
    case PROBE_CHANGE_VX:
    case PROBE_CHANGE_VY:
    case PROBE_CHANGE_VZ:
        o->state[o->axes + (int)change] += by;
        break;
    case PROBE_CHANGE_MOMENTUM:
        if (!change_momentum(o, by))
            return false;
        break;
    default: /* mu / r^2 with 1/r^2 + by */
        o->mu *= 1 + by * sim_dot(o->state, o->state, o->axes);
        break;
    }
    return o->mu > 0;
}

static struct probe_moved sum_moved(const void *of, int n, const unsigned short times[])
{
    const struct probe_moved *moved = of;
    struct probe_moved sum = {0};
    for (int i = 0; i < n; i++) {
        sum.ab += times[i] * moved[i].ab;
        sum.bb += times[i] * moved[i].bb;
        sum.aa += times[i] * moved[i].aa;
    }
    return sum;
}

double probe_slope(const void *of, int n, const unsigned short times[])
{
    const struct probe_moved sum = sum_moved(of, n, times);
    return sum.bb > 0 ? sum.ab / sum.bb : NAN;
}

double probe_cosine(const void *of, int n, const unsigned short times[])
{
    const struct probe_moved sum = sum_moved(of, n, times);
    return sum.aa * sum.bb > 0 ? sum.ab / sqrt(sum.aa * sum.bb) : NAN;
}
