/* track.h - the path of a planet as sequences of planet runs have it: in one plane, at equal steps
 * of time, beside what two predictors without a model make of it.
 *
 * Units: AU, years, solar masses; the star has mass 1. A track is heliocentric; the rows of a
 * sequence have the planet and the star around their barycentre, in units of the planet's distance
 * from the star at step 0, as in planets_solar (sim/sequence.c). */
#ifndef PROBE_TRACK_H
#define PROBE_TRACK_H

#include "probe/core/arena.h"

struct probe_track {
    int steps, orbit;    /* steps 0 .. steps - 1; step `orbit` is one period after step 0 */
    double mass, dt_yr;  /* of the planet; between steps */
    double scale_au;     /* distance at step 0: what coordinates of rows are divided by */
    double *state;       /* (steps, 4): x, y, vx, vy */
    double out_of_plane; /* largest |z| / r of the steps; z is left out of `state` */
};
/* Samples planet number `planet` at times k dt_yr, where place(planet, t_yr, place_au) gives it in
 * space or fails, and lays the steps into their mean orbital plane: perpendicular to the sum of
 * r x v over steps 0 .. orbit - 1 (all of them where there are fewer), so that motion is
 * counter-clockwise; x is the direction in it that is nearest to the x axis of `place`. Velocities
 * are central differences of sixth order over dt / 8. steps >= 1, orbit >= 1, mass >= 0. Fails as
 * `place` does; ORR_ENOMEM; ORR_EDOM where the planet does not go round. */
int probe_track_make(struct probe_arena *arena, struct probe_track *track, int planet, double mass,
                     int steps, int orbit, double dt_yr,
                     int (*place)(int planet, double t_yr, double place_au[3]));
/* The osculating Kepler orbit of step 0 of `track`, at the same steps: motion by Newton's law
 * through that place and velocity. ORR_ENOMEM; ORR_EDOM where it cannot be followed. */
int probe_track_osculate(struct probe_arena *arena, struct probe_track *orbit,
                         const struct probe_track *track);

/* coords (1 + 2 steps, 2): the rows of a sequence, ln dt and 0, then planet and star of step 0, of
 * step 1, ... */
void probe_track_rows(const struct probe_track *track, float coords[]);
/* The planet in a row's units at step k >= 0. */
void probe_track_place(const struct probe_track *track, int k, double place[2]);

/* Errors of the planet's place at step k >= 1, in units of scale_au, seen from step k - 1: of a
 * planet that stays (persistence), and of the osculating Kepler orbit of step k - 1, NaN where it
 * cannot be followed. */
double probe_track_stays(const struct probe_track *track, int k);
double probe_track_osculates(const struct probe_track *track, int k);

#endif
