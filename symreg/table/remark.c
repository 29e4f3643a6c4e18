/* remark.c - what a constant may be: a number that a person would look for. */
#include <math.h>

#include <gsl/gsl_math.h>

#include "output.h"

/* Multiples of pi and 4 pi^2 (G in AU, years and solar masses), roots, G in SI units, thirds,
 * sixths, sevenths. */
static const struct {
    const char *name;
    double value;
} known[] = {
    {"pi", M_PI},
    {"2 pi", 2 * M_PI},
    {"4 pi", 4 * M_PI},
    {"4 pi / 3", 4 * M_PI / 3},
    {"pi / 2", M_PI_2},
    {"pi / 4", M_PI_4},
    {"1 / pi", M_1_PI},
    {"1 / (2 pi)", M_1_PI / 2},
    {"pi^2", M_PI *M_PI},
    {"4 pi^2", 4 * M_PI *M_PI},
    {"sqrt(pi)", M_SQRTPI},
    {"sqrt(2 pi)", M_SQRT2 *M_SQRTPI},
    {"e", M_E},
    {"sqrt(2)", M_SQRT2},
    {"sqrt(3)", 1.7320508075688772},
    {"log(2)", M_LN2},
    {"1 / 3", 1. / 3},
    {"2 / 3", 2. / 3},
    {"4 / 3", 4. / 3},
    {"5 / 3", 5. / 3},
    {"1 / 6", 1. / 6},
    {"5 / 6", 5. / 6},
    {"1 / 7", 1. / 7},
    {"G in m^3 / (kg s^2)", 6.6743e-11},
};
enum { KNOWN = sizeof known / sizeof *known };
static const double likely = 0.01; /* of chance, from which on nothing is said */

bool sr_constant_remark(double value, char *text, size_t bytes)
{
    size_t best = 0;
    double off = HUGE_VAL;
    for (size_t k = 0; k < KNOWN; k++) {
        const double here = fabs(fabs(value) - known[k].value) / known[k].value;
        if (here < off) {
            off = here;
            best = k;
        }
    }
    /* of numbers spread evenly over the logarithms of one decade, as many as are listed in it */
    const double chance = KNOWN * 2 * off / M_LN10;
    *text = '\0';
    if (!(chance < likely))
        return false;
    snprintf(text, bytes, "%s%s (%.1g%% off; so close by chance: %.1g%%)", value < 0 ? "-" : "",
             known[best].name, 100 * off, fmax(100 * chance, 1e-9));
    return true;
}
