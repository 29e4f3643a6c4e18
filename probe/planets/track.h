/* track.h - the path of a real planet in the form of planet runs: in one plane or in space, at
 * equal time steps; and two predictors that need no model.
 *
 * Units: AU, years, solar masses; the star has mass 1. A track is heliocentric. The rows of a
 * sequence contain planet and star relative to their barycentre, in units of the planet's distance
 * from the star at step 0, as in planets_solar (sim/sequence.c). */
#ifndef PROBE_TRACK_H
#define PROBE_TRACK_H

#include "probe/core/arena.h"

struct probe_track {
    int axes;            /* coordinates d, 2 or 3 */
    int steps, orbit;    /* step `orbit` is one period after step 0 */
    double mass, dt_yr;  /* mass of the planet; time step */
    double scale_au;     /* distance at step 0, the unit of coordinates in rows */
    double *state;       /* (steps, 2 d): position and velocity */
    double out_of_plane; /* in the plane: largest |z| / r; z is omitted from `state` */
};
/* Samples planet number `planet` at times k dt_yr by place(planet, t_yr, place_au). In space (axes
 * 3) the steps keep the frame of `place`. In the plane (axes 2) they are projected onto the
 * mean orbital plane: perpendicular to the sum of r x v over steps 0 .. orbit - 1 (all steps where
 * there are fewer), so that motion is counter-clockwise. The x axis is the direction in that plane
 * closest to the x axis of `place`. Velocities are central differences of sixth order over dt / 8.
 * steps >= 1, orbit >= 1, mass >= 0. Errors of `place`; ORR_ENOMEM; ORR_EDOM where the planet does
 * not orbit. */
int probe_track_make(struct probe_arena *arena, struct probe_track *track, int axes, int planet,
                     double mass, int steps, int orbit, double dt_yr,
                     int (*place)(int planet, double t_yr, double place_au[3]));
/* The osculating Kepler orbit of step 0 of `track` at the same steps: Newtonian motion from that
 * position and velocity. ORR_ENOMEM; ORR_EDOM where it cannot be followed. */
int probe_track_osculate(struct probe_arena *arena, struct probe_track *orbit,
                         const struct probe_track *track);

/* coords (1 + 2 steps, d): the rows of a sequence: ln dt and zeros, then planet and star of step 0,
 * of step 1, ... */
void probe_track_rows(const struct probe_track *track, float coords[]);
/* The planet's position at step k >= 0, in units of rows. */
void probe_track_place(const struct probe_track *track, int k, double place[]);

/* Errors of the planet's position at step k >= 1, predicted from step k - 1, in units of scale_au:
 * by persistence, and by the osculating Kepler orbit of step k - 1 (NaN where it cannot be
 * followed). */
double probe_track_stays(const struct probe_track *track, int k);
double probe_track_osculates(const struct probe_track *track, int k);

#endif
