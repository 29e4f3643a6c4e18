/* units.c - units of time, length and mass of a file of tracks. */
#include "tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A Gaussian year has 365.2569 days (G = 4 pi^2). Lengths by IAU 2012 B2 (the astronomical unit),
 * masses by the nominal values of IAU 2015 B3 and, for kilograms, CODATA 2018's G. */
#define DAY_YR (1 / 365.2569)
#define KM_AU  (1 / 149597870.7)
static const struct {
    const char *name;
    int what; /* 0 time, 1 length, 2 mass */
    double scale;
} known[] = {{"yr", 0, 365.25 * DAY_YR},
             {"d", 0, DAY_YR},
             {"day", 0, DAY_YR},
             {"h", 0, DAY_YR / 24},
             {"min", 0, DAY_YR / 1440},
             {"s", 0, DAY_YR / 86400},
             {"AU", 1, 1},
             {"au", 1, 1},
             {"km", 1, KM_AU},
             {"m", 1, KM_AU / 1000},
             {"Msun", 2, 1},
             {"Mjup", 2, 1.2668653e17 / 1.3271244e20},
             {"Mearth", 2, 3.986004e14 / 1.3271244e20},
             {"kg", 2, 6.67430e-11 / 1.3271244e20}};
enum { KNOWN = sizeof known / sizeof *known };
static const char *const quantity[] = {"time", "length", "mass"};

static bool find_unit(const char *name, int what, double *scale)
{
    for (int k = 0; k < KNOWN; k++)
        if (known[k].what == what && !strcmp(known[k].name, name)) {
            *scale = known[k].scale;
            return true;
        }
    return false;
}

static int read_unit(const char *name, int what, double *scale)
{
    char list[128] = "", *end;
    if (find_unit(name, what, scale))
        return 0;
    *scale = strtod(name, &end);
    if (*name && !*end && isfinite(*scale) && *scale > 0)
        return 0;
    for (int k = 0; k < KNOWN; k++)
        if (known[k].what == what)
            orr_append(list, sizeof list, "%s%s", *list ? ", " : "", known[k].name);
    return ORR_FAIL(ORR_EUSAGE, "--units: expected a unit of %s (%s) or a number, found \"%s\"",
                    quantity[what], list, name);
}

int tracks_units_find(const char *option, const struct tracks_source *source,
                      struct tracks_units *units)
{
    *units = (struct tracks_units){.scale = {1, 1, 1}, .text = SIM_OWN_UNITS};
    if (!option) {
        double scale[2];
        if (!find_unit(source->unit[0], 0, &scale[0]) || !find_unit(source->unit[1], 1, &scale[1]))
            return 0;
        memcpy(units->scale, scale, sizeof scale);
        snprintf(units->text, sizeof units->text, "%s,%s", source->unit[0], source->unit[1]);
        return 0;
    }
    int count = 0;
    for (const char *at = option;; at++) {
        char name[32];
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (count == 3 || length >= sizeof name)
            return ORR_FAIL(ORR_EUSAGE, "--units: expected TIME,LENGTH[,MASS], found \"%s\"",
                            option);
        TRY(read_unit(name, count, &units->scale[count]));
        count++;
        at += length;
        if (!*at)
            break;
    }
    snprintf(units->text, sizeof units->text, "%.90s", option);
    return count >= 2
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "--units: expected TIME,LENGTH[,MASS], found \"%s\"", option);
}
