/* sun.c - bodies of the solar system: the eight planets, and four on eccentric orbits. */
#include "sim.h"

/* Axes and eccentricities of the planets: Standish and Williams, Keplerian elements for 1800-2050;
 * of the others: JPL small-body database, rounded. Masses of the last three are estimates, too
 * small to move other bodies. */
const struct sim_body sim_sun_bodies[SIM_SUN_BODIES] = {
    {"mercury", 1.652e-7, 0.387, 0.205}, {"venus", 2.447e-6, 0.723, 0.007},
    {"earth", 3.003e-6, 1.000, 0.017},   {"mars", 3.213e-7, 1.524, 0.093},
    {"jupiter", 9.544e-4, 5.203, 0.048}, {"saturn", 2.857e-4, 9.537, 0.054},
    {"uranus", 4.354e-5, 19.189, 0.047}, {"neptune", 5.165e-5, 30.069, 0.009},
    {"pluto", 6.55e-9, 39.48, 0.249},    {"icarus", 1.5e-18, 1.078, 0.827},
    {"encke", 3.5e-17, 2.215, 0.848},    {"halley", 1.1e-16, 17.83, 0.967},
};
