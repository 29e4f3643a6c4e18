/* element_errors.c - the numbers of an answer: elements with standard errors and 95% intervals. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>

#include "formula/expr.h"

/* The standard error of an element by the covariance of its planet's shape. */
static double error_of(const struct sr_orbit *orbit, int planet, enum sr_element element,
                       const double *covariance)
{
    const size_t count = (size_t)sr_orbit_shape(orbit) + (size_t)orbit->instruments;
    const size_t from = SR_ORBIT_SHAPE * (size_t)planet;
    double gradient[SR_ORBIT_SHAPE], variance = 0;
    sr_orbit_gradient(orbit, planet, element, gradient);
    for (size_t a = 0; a < SR_ORBIT_SHAPE; a++)
        for (size_t b = 0; b < SR_ORBIT_SHAPE; b++)
            variance += gradient[a] * gradient[b] * covariance[(from + a) * count + from + b];
    return sqrt(variance);
}

static struct sr_value by_error(double value, double error)
{
    return (struct sr_value){value, error, value - SR_NORMAL_95 * error,
                             value + SR_NORMAL_95 * error};
}

/* A size above 0, whose interval is that of its logarithm. */
static struct sr_value by_share(double value, double share)
{
    const double factor = orr_exp(SR_NORMAL_95 * share);
    return (struct sr_value){value, value * share, value / factor, value * factor};
}

/* m sin i and the axis, whose errors are those of a sin i of the star, P, e and its mass: m is
 * nearly in proportion to a_s sin i / a, and a to (M P^2)^(1/3). */
static void set_mass(const struct sr_orbit_answer *answer, struct sr_planet *planet)
{
    const struct sr_value *of = planet->element;
    const double third = answer->star_mass_error / answer->star_mass / 3;
    const double P = of[SR_ELEMENT_P].value, e = of[SR_ELEMENT_E].value;
    const double size = of[SR_ELEMENT_A_SIN_I].error / of[SR_ELEMENT_A_SIN_I].value;
    const double period = of[SR_ELEMENT_P].error / P;
    double mass, axis;
    sr_orbit_mass(of[SR_ELEMENT_K].value, P, e, answer->star_mass, &mass, &axis);
    planet->mass =
        by_share(mass, sqrt(size * size + 4 * third * third + 4.0 / 9 * period * period));
    planet->axis = by_share(axis, sqrt(third * third + 4.0 / 9 * period * period));
}

static void set_planet(struct sr_orbit_answer *answer, int p, const double *covariance,
                       struct sr_orbit_work *work)
{
    const struct sr_orbit *orbit = answer->orbit;
    struct sr_planet *planet = &answer->planet[p];
    for (int k = 0; k < SR_ELEMENTS; k++) {
        const enum sr_element element = (enum sr_element)k;
        planet->element[k] =
            by_error(sr_orbit_element(orbit, p, element), error_of(orbit, p, element, covariance));
        if (element <= SR_ELEMENT_E)
            sr_orbit_profile(answer->data, orbit, p, element, covariance, &planet->element[k],
                             work);
    }
    planet->circular = !(planet->element[SR_ELEMENT_E].low > 0);
    for (int k = SR_ELEMENT_OMEGA; k <= SR_ELEMENT_PERIASTRON && planet->circular; k++)
        planet->element[k].error = planet->element[k].low = planet->element[k].high = NAN;
    planet->mass = planet->axis = (struct sr_value){NAN, NAN, NAN, NAN};
    if (answer->star_mass > 0)
        set_mass(answer, planet);
    planet->aliases = sr_orbit_aliases(answer->data, orbit, p, HUGE_VAL, planet->alias, work);
}

int sr_orbit_values(struct sr_orbit_answer *answer, struct sr_orbit_work *work)
{
    const struct sr_orbit *orbit = answer->orbit;
    const int shape = sr_orbit_shape(orbit), count = shape + orbit->instruments;
    double covariance[SR_ORBIT_PARAMETERS * SR_ORBIT_PARAMETERS];
    if (!sr_orbit_covariance(answer->data, orbit, covariance, work))
        return ORR_FAIL(ORR_EDOM,
                        "%s: the velocities do not determine %d orbits: their equations are "
                        "singular; expected fewer --planets",
                        answer->data->file, orbit->planets);
    for (int p = 0; p < orbit->planets; p++)
        set_planet(answer, p, covariance, work);
    for (int k = 0; k < orbit->instruments; k++) {
        answer->gamma[k] =
            by_error(orbit->x[shape + k], sqrt(covariance[(shape + k) * count + shape + k]));
        answer->jitter[k] =
            by_error(orbit->jitter[k], sr_orbit_jitter_error(answer->data, orbit, k));
        answer->jitter[k].low = fmax(answer->jitter[k].low, 0);
    }
    return 0;
}
