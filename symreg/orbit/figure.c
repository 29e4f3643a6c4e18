/* figure.c - orbit.png by gnuplot: each orbit over its phase, and residuals over time. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>

#include "formula/expr.h"

enum { CURVE = 401 };

/* The orbit with the planet `only`. */
static struct sr_orbit one_planet(const struct sr_orbit *orbit, int only)
{
    struct sr_orbit one = {.planets = 1};
    for (int k = 0; k < SR_ORBIT_SHAPE; k++)
        one.x[k] = orbit->x[SR_ORBIT_SHAPE * only + k];
    return one;
}

void sr_orbit_curve(const struct sr_orbit_answer *a, int p, size_t count, double *phase, double *v)
{
    const struct sr_orbit one = one_planet(a->orbit, p);
    const struct sr_value *const of = a->planet[p].element;
    const double e = of[SR_ELEMENT_E].value;
    for (size_t k = 0; k < count; k++) {
        /* steps of the eccentric anomaly: short ones at periastron */
        const double E = SR_ORBIT_TURN * (double)k / (double)(count - 1);
        phase[k] = (E - e * sr_op_value(NULL, SR_SIN, E, 0)) / SR_ORBIT_TURN;
        const double t = of[SR_ELEMENT_PERIASTRON].value + phase[k] * of[SR_ELEMENT_P].value;
        sr_orbit_model(&one, 1, &t, NULL, &v[k], NULL);
    }
}

double sr_orbit_phase(const struct sr_orbit_answer *a, int p, double t)
{
    const struct sr_value *const of = a->planet[p].element;
    const double turns = (t - of[SR_ELEMENT_PERIASTRON].value) / of[SR_ELEMENT_P].value;
    return turns - floor(turns);
}

void sr_orbit_folded(const struct sr_orbit_answer *a, int p, double *phase, double *v,
                     double *sigma)
{
    const struct sr_velocities *data = a->data;
    sr_orbit_model(a->orbit, data->n, data->t, data->instrument, v, NULL);
    for (size_t i = 0; i < data->n; i++) {
        v[i] = data->v[i] - v[i];
        phase[i] = p < 0 ? data->t[i] + data->middle : sr_orbit_phase(a, p, data->t[i]);
        sigma[i] = sqrt(sr_orbit_variance(data, a->orbit, i));
    }
    const struct sr_orbit one = one_planet(a->orbit, p < 0 ? 0 : p);
    for (size_t i = 0; i < data->n && p >= 0; i++) {
        double model;
        sr_orbit_model(&one, 1, &data->t[i], NULL, &model, NULL);
        v[i] += model;
    }
}

/* The points of a planet, or of the residuals (p -1), with the numbers of instruments. */
static void write_points(const struct sr_orbit_answer *a, int p, double *work,
                         struct orr_file *file)
{
    const size_t n = a->data->n;
    sr_orbit_folded(a, p, work, work + n, work + 2 * n);
    for (size_t i = 0; i < n; i++)
        orr_file_printf(file, "%.12g %.9g %.6g %d\n", work[i], work[n + i], work[2 * n + i],
                        a->data->instrument[i] + 1);
    orr_file_printf(file, "END\n");
}

/* $rest of time, residual, sigma, instrument; for each planet $curve1 of phase and velocity, and
 * $points1 of phase, velocity without the other planet, sigma, instrument. */
static void write_data(const struct sr_orbit_answer *a, double *work, struct orr_file *file)
{
    double phase[CURVE], v[CURVE];
    orr_file_printf(file, "planets = %d\ninstruments = %d\n$rest << END\n", a->orbit->planets,
                    a->data->instruments);
    write_points(a, -1, work, file);
    for (int p = 0; p < a->orbit->planets; p++) {
        const struct sr_value *const of = a->planet[p].element;
        orr_file_printf(file, "$curve%d << END\n", p + 1);
        sr_orbit_curve(a, p, CURVE, phase, v);
        for (int k = 0; k < CURVE; k++)
            orr_file_printf(file, "%.6g %.9g\n", phase[k], v[k]);
        orr_file_printf(file, "END\n$points%d << END\n", p + 1);
        write_points(a, p, work, file);
        orr_file_printf(file, "title%d = \"P = %.6g, K = %.4g, e = %.3g\"\n", p + 1,
                        of[SR_ELEMENT_P].value, of[SR_ELEMENT_K].value, of[SR_ELEMENT_E].value);
    }
}

int sr_orbit_figure(const struct sr_orbit_answer *a, const char *folder)
{
    struct orr_file data;
    char path[4096], output[4096];
    TRY(orr_path(path, "%s/.orbit.gpdata", folder));
    TRY(orr_path(output, "%s/orbit.png", folder));
    double *work = orr_alloc(3 * a->data->n, sizeof *work);
    int rc = work ? orr_file_create(&data, path) : ORR_ENOMEM;
    if (!rc) {
        write_data(a, work, &data);
        rc = orr_file_flush(&data);
        if (!rc)
            rc = orr_gnuplot_draw("velocities.gp", data.temporary, output);
        orr_file_close(&data);
    }
    free(work);
    return rc;
}
