/* aliases.c - periods that the sampling may have mistaken for each other: a signal of frequency f
 * that is seen at times with a gap of period g looks like ones of f + 1/g and of |f - 1/g|. */
#include "orbit.h"

#include <math.h>
#include <string.h>

#include "formula/expr.h"

/* Periods that the times of observations have, in days. */
static const struct {
    const char *name;
    double period;
} gaps[] = {
    {"1 day", 1}, {"1 sidereal day", 0.99726957}, {"1 year", 365.25}, {"1 lunar month", 29.530589}};

/* Share of a wave of this period that the times have: 1 where all are at one phase. */
static double window(const struct sr_velocities *data, double period)
{
    double cosine = 0, sine = 0;
    for (size_t i = 0; i < data->n; i++) {
        const double turns = data->t[i] / period, angle = SR_ORBIT_TURN * (turns - rint(turns));
        cosine += sr_op_value(NULL, SR_COS, angle, 0) / (double)data->n;
        sine += sr_op_value(NULL, SR_SIN, angle, 0) / (double)data->n;
    }
    return cosine * cosine + sine * sine;
}

/* The likeliest orbit whose planet has about this period, from the planet's own shape at several
 * phases. */
static bool fit_there(const struct sr_velocities *data, const struct sr_orbit *orbit, int planet,
                      double period, struct sr_orbit *best, struct sr_orbit_work *work)
{
    enum { PHASES = 8 };
    const double motion = SR_ORBIT_TURN / period;
    best->likelihood = -HUGE_VAL;
    for (int k = 0; k < 2 * PHASES; k++) {
        struct sr_orbit trial = *orbit;
        double *x = trial.x + SR_ORBIT_SHAPE * planet;
        x[SR_ORBIT_N] = motion;
        x[SR_ORBIT_LONGITUDE] += k * SR_ORBIT_TURN / PHASES;
        if (k >= PHASES) /* nearly circular */
            x[SR_ORBIT_X] = x[SR_ORBIT_Y] = 0.01;
        if (sr_orbit_refine(data, NULL, false, &trial, work) &&
            fabs(trial.x[SR_ORBIT_SHAPE * planet] - motion) * data->span < SR_ORBIT_TURN &&
            trial.likelihood > best->likelihood && !sr_orbit_has_twins(&trial))
            *best = trial;
    }
    return isfinite(best->likelihood) && sr_orbit_refine(data, NULL, true, best, work);
}

static void insert(struct sr_alias *alias, int *count, const struct sr_alias *one)
{
    int at = *count;
    if (*count == SR_ORBIT_ALIASES)
        return;
    for (; at > 0 && alias[at - 1].bic > one->bic; at--)
        alias[at] = alias[at - 1];
    alias[at] = *one;
    ++*count;
}

int sr_orbit_aliases(const struct sr_velocities *data, const struct sr_orbit *orbit, int planet,
                     double longest, struct sr_alias alias[SR_ORBIT_ALIASES],
                     struct sr_orbit_work *work)
{
    const double seen = 0.1; /* share of the window */
    const double frequency = orbit->x[SR_ORBIT_SHAPE * planet + SR_ORBIT_N] / SR_ORBIT_TURN;
    int count = 0;
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        if (data->span < 2 * gaps[g].period || window(data, gaps[g].period) < seen)
            continue;
        for (int side = -1; side <= 1; side += 2) {
            const double other = fabs(frequency + side / gaps[g].period);
            bool known = other * longest < 1 || fabs(other - frequency) * data->span < 1 ||
                         other * data->span < 0.5;
            for (int k = 0; k < count; k++)
                known = known || fabs(1 / alias[k].period - other) * data->span < 1;
            struct sr_orbit there;
            if (known || !fit_there(data, orbit, planet, 1 / other, &there, work))
                continue;
            const struct sr_alias one = {gaps[g].name,
                                         sr_orbit_element(&there, planet, SR_ELEMENT_P),
                                         2 * (orbit->likelihood - there.likelihood), there};
            insert(alias, &count, &one);
        }
    }
    return count;
}
