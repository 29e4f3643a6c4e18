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

const char *const probe_change_name[PROBE_CHANGES] = {"velocity x", "velocity y",
                                                      "angular momentum", "1/r^2"};

double probe_change_value(const struct probe_orbit *o, enum probe_change change)
{
    const double *s = o->state;
    switch (change) {
    case PROBE_CHANGE_VX:
        return s[2];
    case PROBE_CHANGE_VY:
        return s[3];
    case PROBE_CHANGE_MOMENTUM:
        return s[0] * s[3] - s[1] * s[2];
    default:
        return 1 / (s[0] * s[0] + s[1] * s[1]);
    }
}

bool probe_change_orbit(struct probe_orbit *o, enum probe_change change, double by)
{
    double *s = o->state;
    const double square = s[0] * s[0] + s[1] * s[1];
    switch (change) {
    case PROBE_CHANGE_VX:
        s[2] += by;
        break;
    case PROBE_CHANGE_VY:
        s[3] += by;
        break;
    case PROBE_CHANGE_MOMENTUM: /* the tangential velocity is h / r */
        s[2] -= by * s[1] / square;
        s[3] += by * s[0] / square;
        break;
    default: /* mu / r^2 with 1/r^2 + by */
        o->mu *= 1 + by * square;
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
