/* ellipse.c - the smooth curve behind positions of an orbit, for pictures. */
#include "report.h"

#include <math.h>

#include <gsl/gsl_linalg.h>

/* Fits a conic around the Sun to all positions by least squares: r = p - u x - v y, c = (p, u, v).
 * False where the positions are not on a conic (under another law than Newton's), or where it is
 * not an ellipse. */
static bool fit_conic(size_t n, const double at[], double c[3])
{
    double m[9] = {0}, b[3] = {0};
    for (size_t i = 0; i < n; i++) {
        const double x = at[2 * i], y = at[2 * i + 1], row[3] = {1, -x, -y}, r = hypot(x, y);
        for (int k = 0; k < 3; k++) {
            b[k] += row[k] * r;
            for (int l = 0; l < 3; l++)
                m[3 * k + l] += row[k] * row[l];
        }
    }
    gsl_matrix_view matrix = gsl_matrix_view_array(m, 3, 3);
    gsl_vector_view right = gsl_vector_view_array(b, 3), solution = gsl_vector_view_array(c, 3);
    if (n < 5 || gsl_linalg_HH_solve(&matrix.matrix, &right.vector, &solution.vector))
        return false;
    for (size_t i = 0; i < n; i++) {
        const double r = hypot(at[2 * i], at[2 * i + 1]);
        if (!(fabs(c[0] - c[1] * at[2 * i] - c[2] * at[2 * i + 1] - r) < 0.01 * r))
            return false;
    }
    return c[0] > 0 && hypot(c[1], c[2]) < 0.99;
}

void report_write_curve(size_t n, const double at[], struct orr_file *file)
{
    enum { POINTS = 240 };
    double c[3];
    orr_file_printf(file, "$curve << EOD\n");
    if (fit_conic(n, at, c)) {
        const double e = hypot(c[1], c[2]), a = c[0] / (1 - e * e), turn = atan2(c[2], c[1]);
        for (int k = 0; k <= POINTS; k++) {
            const double E = 2 * M_PI * k / POINTS;
            const double x = a * (cos(E) - e), y = a * sqrt(1 - e * e) * sin(E);
            orr_file_printf(file, "%.7g %.7g\n", x * cos(turn) - y * sin(turn),
                            x * sin(turn) + y * cos(turn));
        }
    } else {
        for (size_t i = 0; i < n; i++)
            orr_file_printf(file, "%.7g %.7g\n", at[2 * i], at[2 * i + 1]);
    }
    orr_file_printf(file, "EOD\n");
}
