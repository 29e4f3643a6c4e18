/* elements.c - what people ask of an orbit, from its parameters, and masses. */
#include "orbit.h"

#include <math.h>

#include "formula/expr.h"

#define TURN SR_ORBIT_TURN

static double angle_of(double y, double x)
{
    return sr_op_value(NULL, SR_ATAN2, y, x);
}

/* The time nearest to 0 at which the mean anomaly is M, in turns of the orbit from M0. */
static double time_of(double M, double M0, double motion)
{
    const double turns = (M - M0) / TURN;
    return (turns - rint(turns)) * TURN / motion;
}

/* The mean anomaly of a true one (Murray & Dermott, Eqs. 2.46 and 2.52). */
static double mean_of(double nu, double e)
{
    const double half = nu / 2;
    const double E = 2 * angle_of(sqrt(1 - e) * sr_op_value(NULL, SR_SIN, half, 0),
                                  sqrt(1 + e) * sr_op_value(NULL, SR_COS, half, 0));
    return E - e * sr_op_value(NULL, SR_SIN, E, 0);
}

double sr_orbit_element(const struct sr_orbit *orbit, int planet, enum sr_element element)
{
    const double *x = orbit->x + SR_ORBIT_SHAPE * planet;
    const double e = sqrt(x[SR_ORBIT_X] * x[SR_ORBIT_X] + x[SR_ORBIT_Y] * x[SR_ORBIT_Y]);
    const double omega = angle_of(x[SR_ORBIT_Y], x[SR_ORBIT_X]);
    const double M = x[SR_ORBIT_LONGITUDE] - omega, P = TURN / x[SR_ORBIT_N];
    switch (element) {
    case SR_ELEMENT_K:
        return x[SR_ORBIT_AMPLITUDE];
    case SR_ELEMENT_P:
        return P;
    case SR_ELEMENT_E:
        return e;
    case SR_ELEMENT_OMEGA:
        return omega < 0 ? omega + TURN : omega;
    case SR_ELEMENT_PERIASTRON:
        return time_of(0, M, x[SR_ORBIT_N]);
    case SR_ELEMENT_CONJUNCTION:
        return time_of(mean_of(TURN / 4 - omega, e), M, x[SR_ORBIT_N]);
    case SR_ELEMENT_A_SIN_I:
        return x[SR_ORBIT_AMPLITUDE] * sqrt((1 - e) * (1 + e)) * P / TURN;
    default:
        return NAN;
    }
}

double sr_element_difference(enum sr_element element, double a, double b, double period)
{
    const double turn = element == SR_ELEMENT_OMEGA ? TURN
                        : element == SR_ELEMENT_PERIASTRON || element == SR_ELEMENT_CONJUNCTION
                            ? period
                            : 0;
    return turn > 0 ? (a - b) - turn * rint((a - b) / turn) : a - b;
}

void sr_orbit_gradient(const struct sr_orbit *orbit, int planet, enum sr_element element,
                       double gradient[SR_ORBIT_SHAPE])
{
    const double *x = orbit->x + SR_ORBIT_SHAPE * planet;
    const double period = TURN / x[SR_ORBIT_N];
    const double e = sr_orbit_element(orbit, planet, SR_ELEMENT_E);
    for (int k = 0; k < SR_ORBIT_SHAPE; k++) {
        const double size = k == SR_ORBIT_X || k == SR_ORBIT_Y ? fmax(1e-6, fmin(e, 1 - e))
                            : k == SR_ORBIT_LONGITUDE          ? 1
                                                               : fabs(x[k]);
        const double step = 1e-6 * (size > 0 ? size : 1);
        struct sr_orbit above = *orbit, below = *orbit;
        above.x[SR_ORBIT_SHAPE * planet + k] += step;
        below.x[SR_ORBIT_SHAPE * planet + k] -= step;
        gradient[k] = sr_element_difference(element, sr_orbit_element(&above, planet, element),
                                            sr_orbit_element(&below, planet, element), period) /
                      (2 * step);
    }
}

/* Nominal values of IAU 2015 Resolution B3, m^3 s^-2, and the astronomical unit in m. */
#define GM_SUN     1.3271244e20
#define GM_JUPITER 1.2668653e17
#define AU_M       1.495978707e11
#define DAY_S      86400.0

/* m sin i of K = m sin i (2 pi G / P)^(1/3) (M + m)^(-2/3) (1 - e^2)^(-1/2), whose m on the right
 * is taken for m sin i: the smallest mass. */
void sr_orbit_mass(double K, double P, double e, double star_mass, double *mass, double *axis)
{
    const double star = star_mass * GM_SUN, seconds = P * DAY_S;
    const double one = K * sqrt((1 - e) * (1 + e)) * orr_pow(seconds / TURN, 1.0 / 3);
    double planet = 0;
    for (int k = 0; k < 100; k++) {
        const double next = one * orr_pow(star + planet, 2.0 / 3);
        const bool same = fabs(next - planet) <= 1e-15 * next;
        planet = next;
        if (same)
            break;
    }
    *mass = planet / GM_JUPITER;
    *axis = orr_pow((star + planet) * seconds / TURN * (seconds / TURN), 1.0 / 3) / AU_M;
}

bool sr_orbit_has_twins(const struct sr_orbit *orbit)
{
    const double closest = 1.1; /* ratio of periods */
    for (int p = 1; p < orbit->planets; p++)
        for (int q = 0; q < p; q++) {
            const double a = orbit->x[SR_ORBIT_SHAPE * p], b = orbit->x[SR_ORBIT_SHAPE * q];
            if (fmax(a, b) < closest * fmin(a, b))
                return true;
        }
    return false;
}
