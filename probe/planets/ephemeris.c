/* ephemeris.c - see ephemeris.h. */
#include "ephemeris.h"

#include "base/base.h"

#ifdef ORR_NOVA

#include <math.h>

#include <gsl/gsl_math.h>
#include <libnova/libnova.h>

int probe_ephemeris_check(void)
{
    return 0;
}

const char *probe_ephemeris_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "VSOP87, libnova %s", ln_get_version());
    return name;
}

int probe_ephemeris_place(int planet, double t_yr, double place_au[3])
{
    static void (*const helio[])(double, struct ln_helio_posn *) = {
        ln_get_mercury_helio_coords, ln_get_venus_helio_coords,   ln_get_earth_helio_coords,
        ln_get_mars_helio_coords,    ln_get_jupiter_helio_coords, ln_get_saturn_helio_coords,
        ln_get_uranus_helio_coords,  ln_get_neptune_helio_coords};
    struct ln_helio_posn at;
    helio[planet](PROBE_J2000_JDE + PROBE_YEAR_DAYS * t_yr, &at);
    const double l = at.L * M_PI / 180, b = at.B * M_PI / 180;
    place_au[0] = at.R * cos(b) * cos(l);
    place_au[1] = at.R * cos(b) * sin(l);
    place_au[2] = at.R * sin(b);
    return 0;
}

#else

int probe_ephemeris_check(void)
{
    return ORR_FAIL(ORR_EMISSING,
                    "real planets: libnova is not built in; install libnova-dev (tools/deps.sh "
                    "--optional) and run make");
}

const char *probe_ephemeris_name(void)
{
    return "";
}

int probe_ephemeris_place(int planet, double t_yr, double place_au[3])
{
    (void)planet, (void)t_yr, (void)place_au;
    return probe_ephemeris_check();
}

#endif
