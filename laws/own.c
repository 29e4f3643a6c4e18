/* own.c - the law that the orbits of a run follow: its force, its name in words, the constant that
 * a formula of it should have, and whether the labels are of it. */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether these factors, of which one is 2, double the force of a law at one place: exactly, where
 * they multiply the whole of it, since a factor of two is not rounded. */
static bool doubles(const struct sim_dynamics *d, double gravity, double jump)
{
    const double m1 = 0.7, m2 = 1.3, r_au = 1.1, once = d->law->force(&d->params, m1, m2, r_au);
    struct sim_law_params twice = d->params;
    twice.gravity *= gravity;
    twice.jump *= jump;
    return once > 0 && isfinite(once) && !(d->law->force(&twice, m1, m2, r_au) > 2 * once) &&
           !(d->law->force(&twice, m1, m2, r_au) < 2 * once);
}

int law_own_create(struct law_own *own, const struct orr_settings *preset)
{
    *own = (struct law_own){.sides = 1};
    TRY(sim_dynamics_create(&own->dynamics, preset));
    const struct sim_dynamics *d = &own->dynamics;
    own->newton = d->law->force == sim_laws[ORR_LAW_NEWTON].force;
    own->unit = doubles(d, 2, 1)   ? LAW_UNIT_GRAVITY
                : doubles(d, 1, 2) ? LAW_UNIT_JUMP
                                   : LAW_UNIT_NONE;
    law_own_steps(own, 0, 0);
    return 0;
}

void law_own_free(struct law_own *own)
{
    sim_dynamics_free(&own->dynamics);
}

/* What k stands for at the step that the dynamics are at. */
static double unit_of(const struct law_own *own)
{
    const struct sim_law_params *p = &own->dynamics.params;
    return own->unit == LAW_UNIT_GRAVITY ? p->gravity : own->unit == LAW_UNIT_JUMP ? p->jump : 1;
}

void law_own_steps(struct law_own *own, size_t first, size_t last)
{
    const size_t jump = own->dynamics.jump_step;
    const bool both = jump > 0 && first < jump && last >= jump;
    own->sides = both ? 2 : 1;
    own->step[0] = first;
    own->step[1] = last;
    for (int side = 0; side < own->sides; side++) {
        law_own_side(own, side);
        own->k[side] = unit_of(own);
    }
}

void law_own_side(struct law_own *own, int side)
{
    sim_dynamics_seek(&own->dynamics, own->step[side]);
}

double law_own_force(const struct law_own *own, double m1, double m2, double r_au)
{
    const struct sim_dynamics *d = &own->dynamics;
    return d->law->force(&d->params, m1, m2, r_au) / unit_of(own);
}

int law_own_difference(struct law_own *own, const struct law_forces *truth, double *difference)
{
    double *off = orr_alloc(truth->rows + 1, sizeof *off);
    if (!off)
        return ORR_ENOMEM;
    for (size_t i = 0; i < truth->rows; i++) {
        const double rel[4] = {truth->r[i], 0, 0, 0};
        double force[2];
        const double F = sim_law_force(&own->dynamics, (size_t)truth->step[i], truth->m1[i],
                                       truth->m2[i], rel, force);
        off[i] = fabs(truth->f_true[i] / F - 1);
    }
    *difference = orr_median(off, truth->rows);
    law_own_side(own, 0);
    free(off);
    return 0;
}

void law_own_name(const struct law_own *own, const struct orr_settings *preset, char text[LAW_TEXT])
{
    const struct sim_law *law = own->dynamics.law;
    if (own->newton) {
        snprintf(text, LAW_TEXT, "k m1 m2 / r^2");
        return;
    }
    int used = snprintf(text, LAW_TEXT, "k times the force of the law %s", law->name);
    for (const char *at = law->parameters; *at; at += strspn(at, " ")) {
        char key[128], value[ORR_SETTING];
        const size_t length = strcspn(at, " ");
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        orr_settings_value(preset, key, value);
        if (used < LAW_TEXT)
            used += snprintf(text + used, (size_t)(LAW_TEXT - used), ", %.100s=%.300s", key, value);
        at += length;
    }
}
