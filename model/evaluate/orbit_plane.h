/* orbit_plane.h - the plane in which a body orbits another one: orbits in space are fitted by the
 * two coordinates of their plane (orbit_fit.h). */
#ifndef GPT_ORBIT_PLANE_H
#define GPT_ORBIT_PLANE_H

#include "sim/sim.h"

/* Unit vectors in the plane of an orbit, the first one along the first separation; in space a
 * normal follows, and the distance of the plane from the origin along it. Seen from the normal the
 * motion is counterclockwise. axes: coordinates d, 2 or 3; in the plane gpt_orbit_flatten() turns
 * nothing. */
struct gpt_orbit_plane {
    int axes;
    double e[3][SIM_AXES], height;
};

/* The plane through the origin of a separation and a velocity (axes), which are not in line. In two
 * dimensions the velocity is not read. */
struct gpt_orbit_plane gpt_orbit_plane_of(int axes, const double separation[],
                                          const double velocity[]);
/* Positions of planet and star at `steps` >= 1 steps, place (steps, 2, axes), by the two
 * coordinates of their plane: flat (steps, 2, 2). In space it is the plane of the first separation
 * and of the one that is least in line with it; a single separation lies in any plane. */
struct gpt_orbit_plane gpt_orbit_flatten(int axes, int steps, const double place[], double flat[]);
/* The vector (axes) of two coordinates of the plane, and of `height` along its normal. */
void gpt_orbit_lift(const struct gpt_orbit_plane *plane, const double flat[2], double height,
                    double vector[]);

#endif
