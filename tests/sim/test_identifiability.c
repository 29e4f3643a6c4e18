/* test_identifiability.c - what bin/orbits prior says of two comparable bodies, computed a second
 * way from the draws, the sequences and the closed forms of the prior. */
#include "base/scratch.h"
#include "sim.h"

#include <math.h>

#include <gsl/gsl_math.h>

/* Least squares by the normal equations of the centred columns, solved by Cramer's rule: a second
 * way beside the decompositions of sim/identifiability.c. */
enum { ROWS = 100000, COLUMNS = 5 }; /* ln r, ln m1, ln m2, ln mean r, ln F */
static double column[COLUMNS][ROWS];

static size_t labelled_rows(const struct orr_settings *p)
{
    struct sim_sequence q;
    size_t n = 0;
    assert_int_equal(sim_sequence_create(&q, p, SIM_SPLIT_TWO_BODY_TRAIN), 0);
    for (uint64_t i = 0; i < SIM_PRIOR_SYSTEMS; i++) {
        const size_t from = n;
        double mean = 0;
        assert_int_equal(sim_sequence_make(&q, p, SIM_SPLIT_TWO_BODY_TRAIN, i), 0);
        for (size_t t = 0; t < (size_t)q.positions; t++) {
            const float *x = q.full_state + 6 * t;
            if (!isfinite(q.force_magnitude[t]))
                continue;
            assert_true(n < ROWS);
            const double r = sqrt((double)x[0] * (double)x[0] + (double)x[1] * (double)x[1]);
            column[0][n] = log(r);
            column[1][n] = log((double)x[4]);
            column[2][n] = log((double)x[5]);
            column[4][n++] = log((double)q.force_magnitude[t]);
            mean += r;
        }
        for (size_t k = from; k < n; k++)
            column[3][k] = log(mean / (double)(n - from));
    }
    sim_sequence_free(&q);
    return n;
}

static void covariances(size_t n, double c[COLUMNS][COLUMNS])
{
    double mean[COLUMNS] = {0};
    for (int a = 0; a < COLUMNS; a++)
        for (size_t i = 0; i < n; i++)
            mean[a] += column[a][i] / (double)n;
    for (int a = 0; a < COLUMNS; a++)
        for (int b = 0; b < COLUMNS; b++) {
            c[a][b] = 0;
            for (size_t i = 0; i < n; i++)
                c[a][b] += (column[a][i] - mean[a]) * (column[b][i] - mean[b]) / (double)(n - 1);
        }
}

static double minor_of(double c[COLUMNS][COLUMNS], int k)
{
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    return c[a][a] * c[b][b] - c[a][b] * c[a][b];
}

/* Of the first three columns. Eigenvalues of a symmetric 3 x 3 matrix by Vieta's trigonometric
 * roots of its characteristic polynomial (Smith 1961). */
static double condition_number(double c[COLUMNS][COLUMNS], double determinant)
{
    const double q = (c[0][0] + c[1][1] + c[2][2]) / 3;
    const double second = minor_of(c, 0) + minor_of(c, 1) + minor_of(c, 2);
    const double p = sqrt(q * q - second / 3);
    const double half = (2 * q * q * q - q * second + determinant) / (2 * p * p * p);
    const double angle = acos(half) / 3;
    return sqrt((q + 2 * p * cos(angle)) / (q + 2 * p * cos(angle + 2 * M_PI / 3)));
}

/* What bin/orbits prior prints. */
TEST(test_facts)
{
    struct orr_settings p;
    struct sim_prior_facts f;
    double c[COLUMNS][COLUMNS];
    assert_int_equal(orr_settings_load(&p, "smoke"), 0);
    assert_int_equal(sim_prior_facts(&p, &f), 0);
    /* a total of M solar masses keeps axes of (10 dt)^2 M to (60 dt)^2 M, cubed: by quadrature over
     * both masses, of an axis that is uniform in 0.7 to 2.3 AU */
    double kept = 0;
    for (int i = 0; i < 400; i++)
        for (int k = 0; k < 400; k++) {
            const double m = 0.1 * pow(30, (i + 0.5) / 400) + 0.1 * pow(30, (k + 0.5) / 400);
            kept +=
                (fmin(cbrt(2.4 * 2.4 * m), 2.3) - fmax(cbrt(0.4 * 0.4 * m), 0.7)) / 1.6 / 160000;
        }
    assert_true(fabs(f.kept - kept) < 4 * sqrt(kept * (1 - kept) / SIM_PRIOR_SYSTEMS));
    /* of a uniform ln m; the fourth moment of a uniform gives the error of a deviation */
    const double sd = log(30) / sqrt(12), error = sd * sqrt(0.2 / SIM_PRIOR_SYSTEMS);
    assert_true(fabs(f.mass_sd[0] - sd) < 4 * error && fabs(f.mass_sd[1] - sd) < 4 * error);
    assert_true(fabs(f.mass_r) < 4 / sqrt(SIM_PRIOR_SYSTEMS));
    const size_t n = labelled_rows(&p);
    assert_int_equal(f.rows, n);
    covariances(n, c);
    const double determinant = c[0][0] * minor_of(c, 0) -
                               c[0][1] * (c[0][1] * c[2][2] - c[0][2] * c[1][2]) +
                               c[0][2] * (c[0][1] * c[1][2] - c[0][2] * c[1][1]);
    const double condition = condition_number(c, determinant);
    assert_true(fabs(f.condition - condition) < 1e-9 * condition && condition > 2);
    for (int k = 0; k < 3; k++) { /* the inverse of a covariance has 1 / left^2 on its diagonal */
        const double left = sqrt(determinant / minor_of(c, k));
        assert_true(fabs(f.left[k] - left) < 1e-9 * left);
    }
    const double on_r = c[0][4] * c[0][4] / (c[0][0] * c[4][4]);
    const double scale = (c[0][4] * c[0][4] * c[3][3] - 2 * c[0][4] * c[3][4] * c[0][3] +
                          c[3][4] * c[3][4] * c[0][0]) /
                         ((c[0][0] * c[3][3] - c[0][3] * c[0][3]) * c[4][4]);
    assert_true(fabs(f.baseline_r - on_r) < 1e-9 && fabs(f.baseline_scale - scale) < 1e-9);
    assert_true(on_r > 0.01 && scale > on_r + 0.005); /* or the two are not told apart */
    assert_true(f.motion_au[0] > 0 && f.motion_au[1] > 2 * f.motion_au[0]);
}

TESTS(NULL, NULL)
