/* solar_system.c - bodies of the solar system: the eight planets, and four on eccentric orbits. */
#include "sim.h"

/* Axes and eccentricities of the planets: Standish and Williams, Keplerian elements for 1800-2050;
 * of the others: JPL small-body database, rounded. Inclinations are to the ecliptic of J2000, from
 * the same sources. Masses of the last three are estimates, too
 * small to move other bodies. */
const struct sim_body sim_sun_bodies[SIM_SUN_BODIES] = {
    {"mercury", 1.652e-7, 0.387, 0.205, 7.005}, {"venus", 2.447e-6, 0.723, 0.007, 3.395},
    {"earth", 3.003e-6, 1.000, 0.017, 0},       {"mars", 3.213e-7, 1.524, 0.093, 1.850},
    {"jupiter", 9.544e-4, 5.203, 0.048, 1.304}, {"saturn", 2.857e-4, 9.537, 0.054, 2.486},
    {"uranus", 4.354e-5, 19.189, 0.047, 0.773}, {"neptune", 5.165e-5, 30.069, 0.009, 1.770},
    {"pluto", 6.55e-9, 39.48, 0.249, 17.14},    {"icarus", 1.5e-18, 1.078, 0.827, 22.8},
    {"encke", 3.5e-17, 2.215, 0.848, 11.8},     {"halley", 1.1e-16, 17.83, 0.967, 162.3},
};
