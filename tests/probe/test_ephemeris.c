/* test_ephemeris.c - places of the real planets against numbers that do not come from libnova.
 *
 * VSOP87's authors published check values, vsop87.chk: version D, spherical coordinates of the
 * ecliptic and equinox of date, which at J2000 are those of J2000. For other dates they are
 * turned back by the precession of Meeus, Astronomical Algorithms, Eqs. (21.5) and (21.7). */
#include "base/scratch.h"

#include <math.h>
#include <string.h>

#include "probe/planets/ephemeris.h"
#include "probe/planets/track.h"

#include <gsl/gsl_math.h>

static struct probe_arena arena;

enum { PLANETS = 8 };

static void need_libnova(void)
{
    if (probe_ephemeris_check() == 0)
        return;
    print_message("skipped: libnova is not built in\n");
    skip();
}

static void turn(double angle, int axis, double place[3])
{
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    const double x = place[a], y = place[b];
    place[a] = cos(angle) * x - sin(angle) * y;
    place[b] = sin(angle) * x + cos(angle) * y;
}

/* Spherical coordinates of the ecliptic of date -> rectangular ones of J2000. */
static void of_date(double jde, double l, double b, double r, double place[3])
{
    const double t = (jde - 2451545.0) / 36525, arcsec = M_PI / 648000;
    const double eta = (47.0029 * t - 0.03302 * t * t + 0.00006 * t * t * t) * arcsec;
    const double node = 174.876384 * M_PI / 180 - (869.8089 * t - 0.03536 * t * t) * arcsec;
    const double p = (5029.0966 * t + 1.11113 * t * t - 0.000006 * t * t * t) * arcsec;
    place[0] = r * cos(b) * cos(l);
    place[1] = r * cos(b) * sin(l);
    place[2] = r * sin(b);
    turn(-(node + p), 2, place);
    turn(eta, 0, place);
    turn(node, 2, place);
}

/* The distance between both places as seen from the Sun, radians; and of the distances, AU. */
static void assert_place(int planet, double jde, const double expected[3], double radians)
{
    double found[3], away = 0, r = 0;
    assert_int_equal(
        probe_ephemeris_place(planet, (jde - PROBE_J2000_JDE) / PROBE_YEAR_DAYS, found), 0);
    for (int c = 0; c < 3; c++) {
        away += (found[c] - expected[c]) * (found[c] - expected[c]);
        r += expected[c] * expected[c];
    }
    assert_true(sqrt(away / r) <= radians);
}

/* libnova turns VSOP87's frame into FK5's: 0.09", 4.4e-7 radians. */
TEST(test_j2000)
{
    static const double lbr[PLANETS][3] = {
        {4.4293481036, -0.0527573409, 0.4664714751},  {3.1870221833, 0.0569782849, 0.7202129253},
        {1.7519238681, -0.0000039656, 0.9833276819},  {6.2735389983, -0.0247779824, 1.3912076925},
        {0.6334614186, -0.0205001039, 4.9653813154},  {0.7980038761, -0.0401984149, 9.1838483715},
        {5.5225485803, -0.0119527838, 19.9240482667}, {5.3045629252, 0.0042236789, 30.1205328392}};
    double place[3];
    need_libnova();
    for (int planet = 0; planet < PLANETS; planet++) {
        of_date(PROBE_J2000_JDE, lbr[planet][0], lbr[planet][1], lbr[planet][2], place);
        assert_place(planet, PROBE_J2000_JDE, place, 7e-7);
    }
}

/* Two centuries before: a frame that turns with the equinox would be 0.049 radians off. */
TEST(test_1799)
{
    static const struct {
        int planet;
        double l, b, r;
    } known[] = {{0, 2.0737894888, 0.1168184804, 0.3233909533},
                 {6, 3.0388348558, 0.0132392955, 18.2991154397},
                 {7, 3.9290537977, 0.0310692112, 30.3209192288}};
    double place[3];
    need_libnova();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        of_date(2378495.0, known[i].l, known[i].b, known[i].r, place);
        assert_place(known[i].planet, 2378495.0, place, 5e-6);
    }
}

/* Meeus, example 32.a: Venus, 1992 December 20, 0 h TD, by his abridged series. */
TEST(test_meeus_venus)
{
    double place[3];
    need_libnova();
    of_date(2448976.5, 26.11428 * M_PI / 180, -2.62070 * M_PI / 180, 0.724603, place);
    assert_place(1, 2448976.5, place, 5e-6);
}

/* Places, years and G belong together: Mercury's osculating orbit foretells its next position to
 * 1e-8 of its distance, and with a year of 365.25 days to 5e-7 only. */
TEST(test_year)
{
    struct probe_track t;
    need_libnova();
    assert_int_equal(
        probe_track_make(&arena, &t, 2, 0, 1.66e-7, 41, 40, 0.2408 / 40, probe_ephemeris_place), 0);
    for (int k = 1; k <= 40; k++)
        assert_true(probe_track_osculates(&t, k) < 4e-8);
    assert_true(t.out_of_plane < 1e-6);
    probe_rewind(&arena, 0);
}

/* Without libnova one line says which package is missing. */
TEST(test_absent)
{
    double place[3];
    if (probe_ephemeris_check() == 0) {
        assert_non_null(strstr(probe_ephemeris_name(), "VSOP87, libnova "));
        return;
    }
    assert_int_equal(probe_ephemeris_place(0, 0, place), ORR_EMISSING);
    assert_non_null(strstr(orr_error(), "libnova-dev"));
    assert_null(strchr(orr_error(), '\n'));
    assert_string_equal(probe_ephemeris_name(), "");
}

TESTS(NULL, NULL)
