/* track.c - see track.h. */
#include "track.h"

#include "base/base.h"
#include "model/evaluate/orbit_fit.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

/* --------------------------------------------------------------------------------- sampling */

/* Position and velocity in space at time t_yr: state (6). */
static int sample_state(int (*place)(int planet, double t_yr, double place_au[3]), int planet,
                        double t_yr, double h_yr, double state[6])
{
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    double ahead[3], behind[3];
    TRY(place(planet, t_yr, state));
    state[3] = state[4] = state[5] = 0;
    for (int k = 0; k < 3; k++) {
        TRY(place(planet, t_yr + (k + 1) * h_yr, ahead));
        TRY(place(planet, t_yr - (k + 1) * h_yr, behind));
        for (int c = 0; c < 3; c++)
            state[3 + c] += weight[k] * (ahead[c] - behind[c]) / h_yr;
    }
    return 0;
}

static double dot_product(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross_product(const double a[3], const double b[3], double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

/* Divides a by its length; false where that is 0. */
static bool normalise(double a[3])
{
    const double length = sqrt(dot_product(a, a));
    for (int c = 0; c < 3; c++)
        a[c] /= length;
    return length > 0 && isfinite(length);
}

/* axis (3, 3): x, y and the normal of the mean orbital plane of states (n, 6). */
static int find_plane(const double space[], int n, double axis[3][3])
{
    double *x = axis[0], *normal = axis[2];
    memset(axis, 0, 3 * sizeof *axis);
    for (int k = 0; k < n; k++) {
        double momentum[3];
        cross_product(space + 6 * k, space + 6 * k + 3, momentum);
        for (int c = 0; c < 3; c++)
            normal[c] += momentum[c];
    }
    bool ok = normalise(normal);
    for (int c = 0; c < 3; c++) /* the x axis minus its component along the normal */
        x[c] = (c == 0) - normal[0] * normal[c];
    ok = ok && normalise(x);
    cross_product(normal, x, axis[1]);
    return ok ? 0 : ORR_FAIL(ORR_EDOM, "a planet's track: no plane of motion");
}

static void lay_down(struct probe_track *track, const double space[], double axis[3][3])
{
    for (int k = 0; k < track->steps; k++) {
        const double *at = space + 6 * k;
        if (track->axes == 3) {
            memcpy(track->state + 6 * k, at, 6 * sizeof *at);
            continue;
        }
        for (int c = 0; c < 2; c++) {
            track->state[4 * k + c] = dot_product(axis[c], at);
            track->state[4 * k + 2 + c] = dot_product(axis[c], at + 3);
        }
        const double away = fabs(dot_product(axis[2], at)) / sqrt(dot_product(at, at));
        track->out_of_plane = away > track->out_of_plane ? away : track->out_of_plane;
    }
}

static double distance_of(const struct probe_track *track, const double place[])
{
    return sqrt(sim_dot(place, place, track->axes));
}

static double *state_at(const struct probe_track *track, int k)
{
    return track->state + 2 * track->axes * k;
}

int probe_track_make(struct probe_arena *arena, struct probe_track *track, int axes, int planet,
                     double mass, int steps, int orbit, double dt_yr,
                     int (*place)(int planet, double t_yr, double place_au[3]))
{
    double axis[3][3];
    *track = (struct probe_track){
        .axes = axes,
        .steps = steps,
        .orbit = orbit,
        .mass = mass,
        .dt_yr = dt_yr,
        .state = probe_take(arena, 2 * (size_t)axes * (size_t)steps, sizeof *track->state)};
    const size_t kept = arena->count;
    double *space = probe_take(arena, (size_t)steps * 6, sizeof *space);
    TRY(arena->failed);
    for (int k = 0; k < steps; k++)
        TRY(sample_state(place, planet, k * dt_yr, dt_yr / 8, space + 6 * k));
    TRY(find_plane(space, steps < orbit ? steps : orbit, axis));
    lay_down(track, space, axis);
    track->scale_au = distance_of(track, track->state);
    probe_rewind(arena, kept);
    return 0;
}

/* ------------------------------------------------------------------------- Kepler's orbits */

/* Advances a state by one step along its osculating orbit. */
static bool advance_step(const struct probe_track *track, double state[])
{
    return gpt_orbit_advance(SIM_G * (1 + track->mass), track->dt_yr, track->axes, state);
}

int probe_track_osculate(struct probe_arena *arena, struct probe_track *orbit,
                         const struct probe_track *track)
{
    *orbit = *track;
    orbit->out_of_plane = 0;
    const size_t numbers = 2 * (size_t)track->axes;
    orbit->state = probe_take(arena, (size_t)track->steps * numbers, sizeof *orbit->state);
    TRY(arena->failed);
    double at[SIM_STATE];
    memcpy(at, track->state, numbers * sizeof *at);
    for (int k = 0; k < orbit->steps; k++) {
        if (k > 0 && !advance_step(track, at))
            return ORR_FAIL(ORR_EDOM, "a planet's track: its first orbit cannot be followed");
        memcpy(state_at(orbit, k), at, numbers * sizeof *at);
    }
    return 0;
}

/* ------------------------------------------------------------------------ rows and errors */

void probe_track_place(const struct probe_track *track, int k, double place[])
{
    for (int c = 0; c < track->axes; c++)
        place[c] = state_at(track, k)[c] / ((1 + track->mass) * track->scale_au);
}

void probe_track_rows(const struct probe_track *track, float coords[])
{
    const int axes = track->axes;
    coords[0] = (float)orr_log(track->dt_yr);
    for (int c = 1; c < axes; c++)
        coords[c] = 0;
    for (int k = 0; k < track->steps; k++) {
        double place[SIM_AXES];
        probe_track_place(track, k, place);
        for (int c = 0; c < axes; c++) {
            coords[axes * (1 + 2 * k) + c] = (float)place[c];
            coords[axes * (2 + 2 * k) + c] = (float)(-track->mass * place[c]);
        }
    }
}

static double error_of(const struct probe_track *track, const double found[], int k)
{
    const double *at = state_at(track, k);
    double away[SIM_AXES] = {0};
    for (int c = 0; c < track->axes; c++)
        away[c] = found[c] - at[c];
    return distance_of(track, away) / ((1 + track->mass) * track->scale_au);
}

double probe_track_stays(const struct probe_track *track, int k)
{
    return error_of(track, state_at(track, k - 1), k);
}

double probe_track_osculates(const struct probe_track *track, int k)
{
    double state[SIM_STATE];
    memcpy(state, state_at(track, k - 1), 2 * (size_t)track->axes * sizeof *state);
    return advance_step(track, state) ? error_of(track, state, k) : (double)NAN;
}
