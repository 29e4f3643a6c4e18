/* test_horizons.c - elements of JPL Horizons as positions, against rotations one after the other.
 */
#include "symreg/motion/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static const double degree = 0.017453292519943295769;

/* Turns x (3) about the axis `fixed`. */
static void turn(int fixed, double degrees, double x[3])
{
    const int a = (fixed + 1) % 3, b = (fixed + 2) % 3;
    const double c = cos(degrees * degree), s = sin(degrees * degree);
    const double first = c * x[a] - s * x[b], second = s * x[a] + c * x[b];
    x[a] = first;
    x[b] = second;
}

TEST(elements_become_positions)
{
    static const struct {
        double e, i, node, w, nu, a;
    } of[] = {{0.0167, 0.003, 175.4, 287.6, 12.3, 1.0000012},
              {0.72, 63.4, 301.2, 77.7, 251.9, 3.4},
              {1.31, 121.9, 24.6, 241.7, 61.2, -1.9}};
    enum { ROWS = sizeof of / sizeof *of };
    char path[] = "/tmp/orrery-test-horizons-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fprintf(file, "Target body name: drawn, \"of elements\" (2000001) {source: drawn}\n"
                  "Center body name: Solar System Barycenter (0) {source: drawn}\n"
                  " GM= 62.6284\nOutput units    : KM-S\nReference frame : ICRF\n"
                  "JDTDB, Calendar Date (TDB), EC, IN, OM, W, TA, A,\n$$SOE\n");
    for (int k = 0; k < ROWS; k++)
        fprintf(file, "%d.5, A.D. 2000-Jan-01, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g,\n",
                2451545 + k, of[k].e, of[k].i, of[k].node, of[k].w, of[k].nu, of[k].a);
    fprintf(file, "$$EOE\n");
    assert_int_equal(fclose(file), 0);
    const char *const name = path;
    struct sr_horizons made;
    assert_int_equal(sr_horizons_join(&name, 1, &made), 0);
    assert_int_equal(made.bodies, 1);
    assert_string_equal(made.length, "km");
    assert_string_equal(made.centre, "Solar System Barycenter");
    const char *at = strchr(made.text, '\n');
    for (int k = 0; k < ROWS; k++) {
        double t, found[3];
        char body[80];
        assert_int_equal(sscanf(at + 1, "%lf,\"%79[^\"]\",%lf,%lf,%lf", &t, body, &found[0],
                                &found[1], &found[2]),
                         5);
        at = strchr(at + 1, '\n');
        const double r = of[k].a * (1 - of[k].e * of[k].e) / (1 + of[k].e * cos(of[k].nu * degree));
        double x[3] = {r * cos(of[k].nu * degree), r * sin(of[k].nu * degree), 0};
        turn(2, of[k].w, x);
        turn(0, of[k].i, x);
        turn(2, of[k].node, x);
        assert_true(t > 2451545.4 + k && t < 2451545.6 + k);
        assert_string_equal(body, "drawn, 'of elements'");
        for (int d = 0; d < 3; d++)
            if (!(fabs(found[d] - x[d]) < 1e-13 * r))
                fail_msg("row %d, axis %d: %.17g, expected %.17g", k, d, found[d], x[d]);
    }
    sr_horizons_free(&made);
    remove(path);
}

TESTS(NULL, NULL)
