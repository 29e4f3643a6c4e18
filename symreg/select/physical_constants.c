/* physical_constants.c - named constants with dimensions: their notation, well-known values, and
 * conversion to the units of the columns.
 *
 * Values are those of CODATA 2022 (Mohr, Newell, Taylor & Tiesinga, Rev. Mod. Phys. 97 (2025)
 * 025002; those of 2019's SI are exact), of the 3rd CGPM (1901) for g, and of the IAU: the
 * astronomical unit by resolution B2 of 2012, the nominal GM of the Sun by B3 of 2015, which is
 * divided by G. yr is the Julian year of 365.25 days; yr_gauss, 2 pi / 0.01720209895 days
 * (365.2569), is the year in which G is 4 pi^2 AU^3 / M_sun (Gauss 1809), as in sim/sim.h. G_gauss
 * has that value in a table whose unit of time is called yr. */
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "symreg/value/echelon.h"
#include "units.h"

enum { M, KG, S, A, K, MOL, CD, SI };
static const char *const si_name[SI] = {"m", "kg", "s", "A", "K", "mol", "cd"};

/* A constant, or a unit: its value in SI units and its exponents of m, kg, s, A, K, mol, cd. */
struct physical {
    const char *name;
    double value;
    signed char power[SI];
};

#define SUN_KG   (1.3271244e20 / 6.67430e-11)
#define AU_M     149597870700.0
#define YEAR_S   31557600.0
#define FOUR_PI2 39.478417604357434475
static const struct physical constants[] = {
    {"G", 6.67430e-11, {3, -1, -2}},
    {"G_gauss", FOUR_PI2 *AU_M *AU_M *AU_M / (SUN_KG * YEAR_S * YEAR_S), {3, -1, -2}},
    {"c", 299792458, {1, 0, -1}},
    {"h", 6.62607015e-34, {2, 1, -1}},
    {"hbar", 1.0545718176461565e-34, {2, 1, -1}},
    {"k_B", 1.380649e-23, {2, 1, -2, 0, -1}},
    {"e", 1.602176634e-19, {0, 0, 1, 1}},
    {"m_e", 9.1093837139e-31, {0, 1}},
    {"m_p", 1.67262192595e-27, {0, 1}},
    {"eps0", 8.8541878188e-12, {-3, -1, 4, 2}},
    {"mu0", 1.25663706127e-6, {1, 1, -2, -2}},
    {"sigma_SB", 5.6703744191844294e-8, {0, 1, -3, 0, -4}},
    {"N_A", 6.02214076e23, {0, 0, 0, 0, 0, -1}},
    {"R", 8.31446261815324, {2, 1, -2, 0, -1, -1}},
    {"g", 9.80665, {1, 0, -2}},
    {"AU", AU_M, {1}},
    {"M_sun", SUN_KG, {0, 1}},
};
enum { CONSTANTS = sizeof constants / sizeof *constants };

static const struct physical well_known_units[] = {
    {"m", 1, {1}},
    {"km", 1e3, {1}},
    {"cm", 1e-2, {1}},
    {"mm", 1e-3, {1}},
    {"um", 1e-6, {1}},
    {"nm", 1e-9, {1}},
    {"AU", AU_M, {1}},
    {"au", AU_M, {1}},
    {"ly", 9460730472580800, {1}},
    {"pc", 3.0856775814913673e16, {1}},
    {"kpc", 3.0856775814913673e19, {1}},
    {"Mpc", 3.0856775814913673e22, {1}},
    {"L", 1e-3, {3}},
    {"kg", 1, {0, 1}},
    {"g", 1e-3, {0, 1}},
    {"M_sun", SUN_KG, {0, 1}},
    {"Msun", SUN_KG, {0, 1}},
    {"s", 1, {0, 0, 1}},
    {"ms", 1e-3, {0, 0, 1}},
    {"us", 1e-6, {0, 0, 1}},
    {"ns", 1e-9, {0, 0, 1}},
    {"min", 60, {0, 0, 1}},
    {"h", 3600, {0, 0, 1}},
    {"d", 86400, {0, 0, 1}},
    {"day", 86400, {0, 0, 1}},
    {"yr", YEAR_S, {0, 0, 1}},
    {"yr_gauss", 86400 * 365.2568983263281, {0, 0, 1}},
    {"Myr", 31557600e6, {0, 0, 1}},
    {"Gyr", 31557600e9, {0, 0, 1}},
    {"Hz", 1, {0, 0, -1}},
    {"K", 1, {0, 0, 0, 0, 1}},
    {"mol", 1, {0, 0, 0, 0, 0, 1}},
    {"cd", 1, {0, 0, 0, 0, 0, 0, 1}},
    {"N", 1, {1, 1, -2}},
    {"J", 1, {2, 1, -2}},
    {"eV", 1.602176634e-19, {2, 1, -2}},
    {"keV", 1.602176634e-16, {2, 1, -2}},
    {"MeV", 1.602176634e-13, {2, 1, -2}},
    {"GeV", 1.602176634e-10, {2, 1, -2}},
    {"W", 1, {2, 1, -3}},
    {"Pa", 1, {-1, 1, -2}},
    {"bar", 1e5, {-1, 1, -2}},
    {"A", 1, {0, 0, 0, 1}},
    {"C", 1, {0, 0, 1, 1}},
    {"V", 1, {2, 1, -3, -1}},
    {"ohm", 1, {2, 1, -3, -2}},
    {"F", 1, {-2, -1, 4, 2}},
    {"H", 1, {2, 1, -2, -2}},
    {"T", 1, {0, 1, -2, -1}},
    {"Wb", 1, {2, 1, -2, -1}},
};
enum { UNITS = sizeof well_known_units / sizeof *well_known_units };

static const struct physical *find_constant(const struct physical *list, int count,
                                            const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(list[i].name, name))
            return &list[i];
    return NULL;
}

bool sr_unit_is_known(const char *name, struct orr_nearest *nearest)
{
    for (int i = 0; i < UNITS; i++)
        orr_nearest_offer(nearest, name, well_known_units[i].name);
    return find_constant(well_known_units, UNITS, name) || !strncmp(name, "deg", 3) ||
           !strcmp(name, "°");
}

/* ---- conversion */

double sr_raise(double value, double power)
{
    double product = 1;
    const double twice = 2 * fabs(power);
    const int half = twice <= 64 ? (int)twice : -1;
    if (half < 0 || fabs(twice - half) > 0)
        return sr_op_table[SR_POW].value(value, power);
    for (int k = 0; k < half / 2; k++)
        product *= value;
    product *= half % 2 ? sqrt(value) : 1;
    return power < 0 ? 1 / product : product;
}

/* Solves for the exponents of the well-known base units whose product has the dimension `si`.
 * *unique: false where other exponents of base units that occur are as good. Returns whether there
 * is a solution. */
static bool solve_units(const struct sr_units *units, const double si[SI], double power[SR_BASES],
                        bool *unique)
{
    const double tiny = 1e-9;
    double a[SI][SR_BASES + 1] = {{0}};
    int pivot[SI] = {0};
    bool used[SR_BASES] = {false};
    for (int b = 0; b < units->bases; b++) {
        const struct physical *unit = find_constant(well_known_units, UNITS, units->base[b]);
        for (int k = 0; k < SI && unit; k++)
            a[k][b] = unit->power[k];
    }
    for (int k = 0; k < SI; k++)
        a[k][SR_BASES] = si[k];
    const int rank = sr_echelon(a[0], SI, units->bases, SR_BASES + 1, tiny, pivot);
    for (int r = 0; r < rank; r++)
        used[pivot[r]] = true;
    memset(power, 0, SR_BASES * sizeof *power);
    *unique = true;
    for (int r = 0; r < rank; r++) {
        power[pivot[r]] = a[r][SR_BASES];
        for (int b = 0; b < units->bases; b++)
            if (!used[b] && fabs(a[r][b]) > tiny && fabs(a[r][SR_BASES]) > tiny)
                *unique = false;
    }
    for (int k = rank; k < SI; k++)
        if (fabs(a[k][SR_BASES]) > tiny)
            return false;
    return true;
}

/* Adds the SI base units of a dimension that the base units of the columns cannot make. */
static int add_missing(const double si[SI], struct sr_units *units)
{
    double power[SR_BASES];
    bool unique;
    int base;
    for (int k = 0; k < SI; k++) {
        double one[SI] = {0};
        one[k] = 1;
        if (fabs(si[k]) > 0 && !solve_units(units, one, power, &unique))
            TRY(sr_units_base(units, "--constants", si_name[k], strlen(si_name[k]), &base));
    }
    return 0;
}

/* Converts a value in SI units to the base units of the columns. SI base units that no column has
 * are added. */
static int convert_constant(const char *name, const double si[SI], double *value,
                            struct sr_units *units, struct sr_dimension *dimension)
{
    double power[SR_BASES];
    bool unique = false;
    if (!solve_units(units, si, power, &unique)) {
        TRY(add_missing(si, units));
        solve_units(units, si, power, &unique);
    }
    if (!unique)
        return ORR_FAIL(ORR_EUSAGE,
                        "--constants: %s: the columns' units measure one quantity in several ways "
                        "(as km and m, or N beside kg*m/s^2); expected \"%s=VALUE UNIT\"",
                        name, name);
    memset(dimension, 0, sizeof *dimension);
    for (int b = 0; b < units->bases; b++) {
        const struct physical *unit = find_constant(well_known_units, UNITS, units->base[b]);
        dimension->power[b] = power[b];
        if (unit && fabs(power[b]) > 0)
            *value /= sr_raise(unit->value, power[b]);
    }
    return 0;
}

/* Whether all of a unit's base units are base units of the columns, which then need no
 * conversion. */
static bool has_bases(const struct sr_units *units, const struct sr_units *own)
{
    int found = 0;
    for (int b = 0; b < own->bases; b++)
        for (int k = 0; k < units->bases; k++)
            found += !strcmp(own->base[b], units->base[k]);
    return found == own->bases;
}

/* Reads the unit of a constant. */
static int read_unit(const char *name, const char *text, double *value, struct sr_units *units,
                     struct sr_dimension *dimension)
{
    struct sr_units own = {0};
    struct sr_dimension d;
    double si[SI] = {0};
    bool known = true;
    TRY(sr_units_read(text, "--constants", &own, &d));
    for (int b = 0; b < own.bases; b++)
        known = known && find_constant(well_known_units, UNITS, own.base[b]);
    if (has_bases(units, &own) || !known) {
        memset(dimension, 0, sizeof *dimension);
        for (int b = 0, base; b < own.bases; b++) {
            TRY(sr_units_base(units, "--constants", own.base[b], strlen(own.base[b]), &base));
            dimension->power[base] = d.power[b];
        }
        return 0;
    }
    for (int b = 0; b < own.bases; b++) {
        const struct physical *unit = find_constant(well_known_units, UNITS, own.base[b]);
        *value *= sr_raise(unit->value, d.power[b]);
        for (int k = 0; k < SI; k++)
            si[k] += unit->power[k] * d.power[b];
    }
    return convert_constant(name, si, value, units, dimension);
}

/* ---- "G=6.674e-11 m^3/kg/s^2, c" */

static int fail_unknown(const char *name)
{
    struct orr_nearest nearest = {0};
    char meant[128];
    for (int i = 0; i < CONSTANTS; i++)
        orr_nearest_offer(&nearest, name, constants[i].name);
    orr_nearest_text(&nearest, meant);
    return ORR_FAIL(ORR_EUSAGE,
                    "--constants: \"%s\" is not well known%s; expected \"%s=VALUE UNIT\"", name,
                    meant, name);
}

/* A constant with value, and perhaps unit, after "=". */
static int read_value(const char *name, const char *text, struct sr_units *units, double *value,
                      struct sr_dimension *dimension)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || !isfinite(*value) || !(fabs(*value) > 0))
        return ORR_FAIL(ORR_EUSAGE,
                        "--constants: %s: expected a number other than 0 and a unit, "
                        "as in \"6.674e-11 m^3/kg/s^2\", found \"%s\"",
                        name, text);
    end += strspn(end, " ");
    if (!*end || !units)
        return 0;
    return read_unit(name, end, value, units, dimension);
}

static int read_constant(char *entry, struct sr_units *units, struct sr_language *language)
{
    char *equals = strchr(entry, '='), *name = entry;
    struct sr_dimension dimension = {{0}};
    double value, si[SI];
    if (equals)
        *equals++ = '\0';
    for (size_t n = strlen(name); n && name[n - 1] == ' ';)
        name[--n] = '\0';
    if (equals) {
        TRY(read_value(name, equals + strspn(equals, " "), units, &value, &dimension));
    } else {
        const struct physical *known = find_constant(constants, CONSTANTS, name);
        if (!known)
            return fail_unknown(name);
        value = known->value;
        for (int k = 0; k < SI; k++)
            si[k] = known->power[k];
        if (units)
            TRY(convert_constant(name, si, &value, units, &dimension));
    }
    TRY(sr_language_name(language, "--constants", name, value));
    if (units)
        units->constant[language->named - 1] = dimension;
    return 0;
}

int sr_constants_parse(const char *text, struct sr_units *units, struct sr_language *language)
{
    char entry[512];
    for (const char *at = text;;) {
        at += strspn(at, " \t\n");
        const size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof entry)
            return ORR_FAIL(ORR_EUSAGE,
                            "--constants: expected \"G=6.674e-11 m^3/kg/s^2, c\", "
                            "found \"%s\"",
                            text);
        memcpy(entry, at, length);
        entry[length] = '\0';
        TRY(read_constant(entry, units, language));
        at += length;
        if (!*at++)
            return 0;
    }
}
