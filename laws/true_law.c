/* true_law.c - the law of a run's orbits: its force, its name, the constant of a formula equal to
 * it, and whether labels or a formula follow it. A formula is compared numerically, not by its
 * form. */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether the given factors, one of which is 2, double the law's force at a test point. The test is
 * exact where they multiply the whole force, as multiplication by two does not round. */
static bool force_doubles(const struct sim_dynamics *d, double gravity, double jump)
{
    const double m1 = 0.7, m2 = 1.3, r_au = 1.1, once = d->law->force(&d->params, m1, m2, r_au);
    struct sim_law_params twice = d->params;
    twice.gravity *= gravity;
    twice.jump *= jump;
    return once > 0 && isfinite(once) && !(d->law->force(&twice, m1, m2, r_au) > 2 * once) &&
           !(d->law->force(&twice, m1, m2, r_au) < 2 * once);
}

/* Writes the name: "k m1 m2 / r^2", or "k times the force of the law power,
 * orbits.law_exponent=-2.5". */
static void print_name(struct law_true *true_law, const struct orr_settings *settings)
{
    char *text = true_law->name;
    if (true_law->newton) {
        snprintf(text, LAW_TEXT, "k m1 m2 / r^2");
        return;
    }
    snprintf(text, LAW_TEXT, "k times the force of the law %s", sim_law_name(&true_law->dynamics));
    for (const char *at = orr_force_laws[settings->orbits.law].settings; *at;) {
        char key[128], value[ORR_SETTING];
        const size_t length = strcspn(++at, " ");
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        orr_settings_value(settings, key, value);
        orr_append(text, LAW_TEXT, ", %.100s=%.300s", key, value);
        at += length;
    }
}

int law_true_create(struct law_true *law, const struct orr_settings *settings)
{
    *law = (struct law_true){.sides = 1};
    TRY(sim_dynamics_create(&law->dynamics, settings));
    const struct sim_dynamics *d = &law->dynamics;
    law->newton = d->law->force == sim_laws[ORR_LAW_NEWTON].force;
    law->unit = force_doubles(d, 2, 1)   ? LAW_UNIT_GRAVITY
                : force_doubles(d, 1, 2) ? LAW_UNIT_JUMP
                                         : LAW_UNIT_NONE;
    print_name(law, settings);
    law_true_steps(law, 0, 0);
    return 0;
}

void law_true_free(struct law_true *law)
{
    sim_dynamics_free(&law->dynamics);
}

/* The unit of k at the current step of the dynamics. */
static double unit_of(const struct law_true *law)
{
    const struct sim_law_params *p = &law->dynamics.params;
    return law->unit == LAW_UNIT_GRAVITY ? p->gravity : law->unit == LAW_UNIT_JUMP ? p->jump : 1;
}

/* Moves the dynamics to a side of the jump. */
static void move_to_side(struct law_true *law, int side)
{
    sim_dynamics_seek(&law->dynamics, law->step[side]);
}

void law_true_steps(struct law_true *law, size_t first, size_t last)
{
    const size_t jump = law->dynamics.jump_step;
    const bool both = jump > 0 && first < jump && last >= jump;
    law->sides = both ? 2 : 1;
    law->step[0] = first;
    law->step[1] = last;
    for (int side = 0; side < law->sides; side++) {
        move_to_side(law, side);
        law->k[side] = unit_of(law);
    }
}

int law_true_difference(struct law_true *law, const struct law_forces *truth, double *difference)
{
    double *off = orr_alloc(truth->rows + 1, sizeof *off);
    if (!off)
        return ORR_ENOMEM;
    for (size_t i = 0; i < truth->rows; i++) {
        const double F = sim_law_force_at(&law->dynamics, (size_t)truth->step[i], truth->m1[i],
                                          truth->m2[i], truth->r[i]);
        off[i] = fabs(truth->f_true[i] / F - 1);
    }
    *difference = orr_median(off, truth->rows);
    move_to_side(law, 0);
    free(off);
    return 0;
}

/* ---- whether a formula is the law times a constant */

enum { POINTS = 384 };

/* Halton's sequence in base b, i >= 1: low-discrepancy points in (0, 1). */
static double halton(int i, int base)
{
    double value = 0, share = 1;
    for (; i > 0; i /= base) {
        share /= base;
        value += share * (i % base);
    }
    return value;
}

/* Fills the points as columns r, m1, m2; false when a range is empty. */
static bool place_points(const double low[3], const double high[3], double x[3 * POINTS])
{
    static const int base[3] = {2, 3, 5};
    for (int f = 0; f < 3; f++) {
        if (!(low[f] > 0) || !(high[f] >= low[f]))
            return false;
        const double from = orr_log(low[f] / 2), to = orr_log(2 * high[f]);
        for (int i = 0; i < POINTS; i++)
            x[f * POINTS + i] = orr_exp(from + (to - from) * halton(i + 1, base[f]));
    }
    return true;
}

/* Whether values at the points are *k times the law on its current side of the jump. Newton's law
 * is the common reference, which avoids unnecessary rounding. */
static bool is_multiple(const struct law_true *law, const double x[3 * POINTS],
                        const double value[POINTS], double tolerance, double *k)
{
    double ratio[POINTS], mean = 0, smallest = HUGE_VAL, largest = -HUGE_VAL;
    int n = 0;
    for (int i = 0; i < POINTS; i++) {
        const double r = x[i], m1 = x[POINTS + i], m2 = x[2 * POINTS + i];
        double newtons = value[i] * r * r / (m1 * m2);
        if (!law->newton) {
            const struct sim_dynamics *d = &law->dynamics;
            const double force = d->law->force(&d->params, m1, m2, r) / unit_of(law);
            if (!(force > 0) || !isfinite(force))
                continue; /* the law does not attract here, so there are no labels */
            newtons /= force * r * r / (m1 * m2);
        }
        ratio[n++] = newtons;
        smallest = fmin(smallest, newtons);
        largest = fmax(largest, newtons);
    }
    if (n < POINTS / 4)
        return false;
    for (int i = 0; i < n; i++)
        mean += ratio[i] / n;
    if (!isfinite(mean) || !(mean > 0) || !(largest - smallest <= tolerance * mean))
        return false;
    *k = mean;
    return true;
}

bool law_true_is(struct law_true *law, const struct sr_expr *expr, const double low[3],
                 const double high[3], double tolerance, double *k)
{
    double x[3 * POINTS], value[POINTS];
    bool is = false;
    if (!place_points(low, high, x))
        return false;
    const struct sr_data data = {.rows = POINTS, .features = 3, .x = x};
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].op == SR_FEATURE && expr->node[i].feature >= 3)
            return false;
    if (!sr_eval(expr, &data, value))
        return false;
    for (int side = 0; side < law->sides && !is; side++) {
        move_to_side(law, side);
        is = is_multiple(law, x, value, tolerance, k);
    }
    move_to_side(law, 0);
    return is;
}

int law_true_find(struct law_true *law, const struct sr_front *front, const double low[3],
                  const double high[3], double tolerance, bool is_true[], double *k)
{
    int first = -1;
    for (int i = 0; i < front->count; i++) {
        double its;
        is_true[i] = law_true_is(law, &front->expr[i], low, high, tolerance, &its);
        if (!is_true[i] || first >= 0)
            continue;
        first = i;
        *k = its;
    }
    return first;
}
