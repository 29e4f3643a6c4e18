/* figure.c - orbit.png by gnuplot: each orbit over its phase, and residuals over time. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/expr/expr.h"

enum { CURVE = 400 };

/* The orbit with the planet `only`. */
static struct sr_orbit one_planet(const struct sr_orbit *orbit, int only)
{
    struct sr_orbit one = {.planets = 1};
    for (int k = 0; k < SR_ORBIT_SHAPE; k++)
        one.x[k] = orbit->x[SR_ORBIT_SHAPE * only + k];
    return one;
}

/* $curve1 of phase and velocity, and $points1 of phase, velocity without the other planet, sigma,
 * instrument. */
static void write_planet(const struct sr_orbit_answer *a, int p, const double *rest, double *model,
                         struct orr_file *file)
{
    const struct sr_velocities *data = a->data;
    const struct sr_orbit one = one_planet(a->orbit, p);
    const double P = a->planet[p].element[SR_ELEMENT_P].value;
    const double e = a->planet[p].element[SR_ELEMENT_E].value;
    const double from = a->planet[p].element[SR_ELEMENT_PERIASTRON].value;
    orr_file_printf(file, "$curve%d << END\n", p + 1);
    for (int k = 0; k <= CURVE; k++) {
        /* steps of the eccentric anomaly: short ones at periastron */
        const double E = SR_ORBIT_TURN * k / CURVE;
        const double phase = (E - e * sr_op_value(NULL, SR_SIN, E, 0)) / SR_ORBIT_TURN;
        const double t = from + phase * P;
        double v;
        sr_orbit_model(&one, 1, &t, NULL, &v, NULL);
        orr_file_printf(file, "%.6g %.9g\n", phase, v);
    }
    orr_file_printf(file, "END\n$points%d << END\n", p + 1);
    sr_orbit_model(&one, data->n, data->t, NULL, model, NULL);
    for (size_t i = 0; i < data->n; i++) {
        const double turns = (data->t[i] - from) / P, jitter = a->jitter[data->instrument[i]].value;
        orr_file_printf(file, "%.9g %.9g %.6g %d\n", turns - floor(turns), rest[i] + model[i],
                        sqrt(data->sigma[i] * data->sigma[i] + jitter * jitter),
                        data->instrument[i] + 1);
    }
    orr_file_printf(file, "END\ntitle%d = \"P = %.6g, K = %.4g, e = %.3g\"\n", p + 1, P,
                    a->planet[p].element[SR_ELEMENT_K].value, e);
}

static void write_data(const struct sr_orbit_answer *a, double *rest, double *model,
                       struct orr_file *file)
{
    const struct sr_velocities *data = a->data;
    sr_orbit_model(a->orbit, data->n, data->t, data->instrument, model, NULL);
    orr_file_printf(file, "planets = %d\ninstruments = %d\n$rest << END\n", a->orbit->planets,
                    data->instruments);
    for (size_t i = 0; i < data->n; i++) {
        const double jitter = a->jitter[data->instrument[i]].value;
        rest[i] = data->v[i] - model[i];
        orr_file_printf(file, "%.12g %.9g %.6g %d\n", data->t[i] + data->middle, rest[i],
                        sqrt(data->sigma[i] * data->sigma[i] + jitter * jitter),
                        data->instrument[i] + 1);
    }
    orr_file_printf(file, "END\n");
    for (int p = 0; p < a->orbit->planets; p++)
        write_planet(a, p, rest, model, file);
}

int sr_orbit_figure(const struct sr_orbit_answer *a, const char *folder)
{
    struct orr_file data;
    char path[4096], output[4096];
    TRY(orr_path(path, "%s/.orbit.gpdata", folder));
    TRY(orr_path(output, "%s/orbit.png", folder));
    double *rest = orr_alloc(2 * a->data->n, sizeof *rest);
    int rc = rest ? orr_file_create(&data, path) : ORR_ENOMEM;
    if (!rc) {
        write_data(a, rest, rest + a->data->n, &data);
        rc = orr_file_flush(&data);
        if (!rc)
            rc = orr_gnuplot_draw("velocities.gp", data.temporary, output);
        orr_file_close(&data);
    }
    free(rest);
    return rc;
}
