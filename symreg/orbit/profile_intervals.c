/* profile_intervals.c - 95% intervals by the profile of the likelihood: an element is held at a
 * value, all else is fitted again, and the interval ends where twice the logarithm of the
 * likelihood is 3.84 below the largest (Wilks' theorem). */
#include "orbit.h"

#include <math.h>

enum { TRIES = 12 };

struct profile {
    const struct sr_velocities *data;
    const struct sr_orbit *orbit;
    struct sr_orbit_work *work;
    struct sr_held held;
    double towards[SR_ORBIT_PARAMETERS]; /* x moves by this per unit of the element */
    double at;                           /* the element at the largest likelihood */
};

/* How far twice the likelihood falls where the element is `value`; NaN where no orbit is found. */
static double drop_at(struct profile *p, double value)
{
    struct sr_orbit trial = *p->orbit;
    const int count = SR_ORBIT_SHAPE * trial.planets + trial.instruments;
    p->held.value = value;
    for (int a = 0; a < count; a++)
        trial.x[a] += p->towards[a] * (value - p->at);
    if (!sr_orbit_refine(p->data, &p->held, true, &trial, p->work)) {
        trial = *p->orbit; /* the straight step left the orbits */
        if (!sr_orbit_refine(p->data, &p->held, true, &trial, p->work))
            return NAN;
    }
    return 2 * (p->orbit->likelihood - trial.likelihood);
}

/* The end of the interval on one side, -1 or 1, of an element within low and high: by secants of
 * the drop's square root, which is straight for a normal likelihood. */
static double find_end(struct profile *p, double error, int side, double low, double high)
{
    const double want = SR_NORMAL_95;
    double near = 0, near_root = 0, far = NAN, far_root = NAN, reach = SR_NORMAL_95 * error;
    for (int k = 0; k < TRIES; k++) {
        const double value = fmin(fmax(p->at + side * reach, low), high);
        const double drop = drop_at(p, value), root = sqrt(fmax(drop, 0));
        reach = fabs(value - p->at);
        if (isnan(drop))
            return p->at + side * SR_NORMAL_95 * error;
        if (fabs(root - want) < 2e-3)
            return value;
        if (root < want && (value <= low || value >= high))
            return value;
        if (root < want) {
            near = reach;
            near_root = root;
        } else {
            far = reach;
            far_root = root;
        }
        if (isnan(far)) {
            reach *= fmin(3, fmax(1.05, want / fmax(root, 0.1)));
            continue;
        }
        const double share = (want - near_root) / (far_root - near_root);
        reach = near + fmin(0.9, fmax(0.1, share)) * (far - near);
    }
    return isnan(far) ? p->at + side * SR_NORMAL_95 * error : p->at + side * reach;
}

void sr_orbit_profile(const struct sr_velocities *data, const struct sr_orbit *orbit, int planet,
                      enum sr_element element, const double *covariance, struct sr_value *value,
                      struct sr_orbit_work *work)
{
    const int count = SR_ORBIT_SHAPE * orbit->planets + orbit->instruments;
    struct profile p = {data, orbit, work, {planet, element, 0, 0}, {0}, value->value};
    double gradient[SR_ORBIT_SHAPE];
    sr_orbit_gradient(orbit, planet, element, gradient);
    for (int a = 0; a < count; a++)
        for (int b = 0; b < SR_ORBIT_SHAPE; b++)
            p.towards[a] += covariance[a * count + SR_ORBIT_SHAPE * planet + b] * gradient[b] /
                            (value->error * value->error);
    p.held.width = 1e-3 * value->error;
    const bool share = element == SR_ELEMENT_E;
    const bool size = element == SR_ELEMENT_K || element == SR_ELEMENT_P;
    value->low = find_end(&p, value->error, -1,
                          share  ? 0
                          : size ? 1e-12 * p.at
                                 : -HUGE_VAL,
                          HUGE_VAL);
    value->high = find_end(&p, value->error, 1, -HUGE_VAL, share ? 0.99 : HUGE_VAL);
}
