/* orbit_states.c - states in full precision, for comparison with other programs
 * (bench/peer_rebound.py).
 *
 *     orbit_states pair E STEPS    a = 1 AU, masses 0.3 and 1, dt = 1/40 of the period: closed form
 *     orbit_states solar STEPS     the eight planets and the Sun, all interacting: gsl_odeiv2
 * Prints the masses, then one line per body and step: body step x y vx vy, relative to the last
 * body; AU, years, solar masses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

static int print_states(struct sim_dynamics *dynamics, const struct sim_system *system,
                        size_t steps)
{
    double *states = orr_alloc(4 * steps * SIM_PLANETS, sizeof *states);
    int rc = states ? sim_states(dynamics, system, steps, states) : ORR_ENOMEM;
    printf("masses");
    for (int i = 0; i < system->planets; i++)
        printf(" %.17g", system->mass[i]);
    printf(" %.17g\ndt %.17g\n", system->star_mass, system->dt_yr);
    for (int i = 0; i < system->planets && !rc; i++)
        for (size_t k = 0; k < steps; k++) {
            const double *s = states + 4 * ((size_t)i * steps + k);
            printf("%d %zu %.17g %.17g %.17g %.17g\n", i, k, s[0], s[1], s[2], s[3]);
        }
    free(states);
    return rc;
}

int main(int argc, char **argv)
{
    struct orr_settings settings;
    struct sim_dynamics dynamics = {0};
    struct sim_system system = {.planets = 1, .star_mass = 1, .mass = {0.3}};
    const bool solar = argc == 3 && !strcmp(argv[1], "solar");
    int rc = 0;
    if (!solar && (argc != 4 || strcmp(argv[1], "pair")))
        rc = ORR_FAIL(ORR_EUSAGE, "usage: orbit_states pair E STEPS | solar STEPS");
    orr_settings_defaults(&settings);
    settings.orbits.nbody = solar;
    if (!rc)
        rc = sim_dynamics_create(&dynamics, &settings);
    if (!rc && solar) {
        gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
        rc = rng ? sim_system_draw(&settings, SIM_SPLIT_SOLAR_SYSTEM, 0, rng, &system) : ORR_ENOMEM;
        gsl_rng_free(rng);
    } else if (!rc) {
        system.orbit[0] = (struct sim_elements){.a_au = 1, .e = atof(argv[2]), .omega_rad = 0.7};
        system.dt_yr = sim_period_yr(1, 1.3) / 40;
    }
    if (!rc)
        rc = print_states(&dynamics, &system, (size_t)atol(argv[argc - 1]));
    sim_dynamics_free(&dynamics);
    return orr_error_exit("orbit_states", rc);
}
