/* tracks.c - bin/probe ephemeris: tracks of the real planets in space, by VSOP87, as a table that
 * `bin/orbits import` makes a data set of. */
#include "probe/probe.h"
#include "ephemeris.h"
#include "planets.h"
#include "sim/sim.h"

static const char name[] = "real_planets.csv";

/* The rows of a planet and the Sun, around their common centre of mass, at equal times. */
static int write_track(struct orr_file *file, const struct orr_settings *p, int planet)
{
    const struct sim_body *body = &sim_sun_bodies[planet];
    const double period_yr = sim_period_yr(body->a_au, 1 + body->mass);
    const double dt_yr = period_yr / p->planets.samples_per_orbit;
    for (int k = 0; k < p->planets.steps; k++) {
        double at[3];
        TRY(probe_ephemeris_place(planet, k * dt_yr, at));
        for (int sun = 0; sun < 2; sun++) {
            const double share = (sun ? -body->mass : 1) / (1 + body->mass);
            TRY(orr_file_printf(file, "%s,%s,%.12g,%.12g,%.12g,%.12g,%.9g\n", body->name,
                                sun ? "sun" : "planet", k * dt_yr, share * at[0], share * at[1],
                                share * at[2], sun ? 1 : body->mass));
        }
    }
    return 0;
}

int probe_ephemeris(const struct probe_options *options)
{
    struct orr_file file = {0};
    char path[4096];
    TRY(probe_ephemeris_check());
    if (!*options->out)
        return ORR_FAIL(ORR_EUSAGE, "probe ephemeris: where to? Give --out DIR");
    TRY(orr_mkdir(options->out));
    TRY(orr_path(path, "%s/%s", options->out, name));
    TRY(orr_file_create(&file, path));
    int rc = orr_file_printf(&file, "planet,body,t,x,y,z,m\n");
    for (int planet = 0; planet < PROBE_PLANETS && !rc; planet++)
        rc = write_track(&file, options->settings, planet);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    if (!rc)
        orr_note(options->quiet,
                 "ephemeris: %s (%s); a data set of it: bin/orbits import %s --time t --position "
                 "x,y,z --body body --system planet --mass m --units yr,AU,Msun --out DIR",
                 path, probe_ephemeris_name(), path);
    return rc;
}
