/* prior.c - draws random systems. Constants of protocol vafa2025: spec of the study, section 1
 * (fits to the study's table of the NASA Exoplanet Archive). */
#include "vec.h"

#include <math.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#define DAY_YR 0.0027 /* the study's day */

static double star_mass(gsl_rng *rng)
{
    const double x = -0.6793710468 + 1.627161491 * orr_exp(0.200446077 * orr_draw_normal(rng));
    return fmin(fmax(x, 0.1), 5);
}

static double planet_mass(gsl_rng *rng)
{
    const double x = 6.009815e-08 + 0.001105594925 * orr_draw_gamma(rng, 0.3202016969);
    return fmin(fmax(x, 1e-9), 1e-3); /* clamped, not redrawn */
}

/* Draws Beta(alpha, beta) below an e_max that cuts off almost all of its mass. Rejection sampling
 * from e^(k-1), where k makes the slopes in ln e agree at e_max. For beta >= 1 the logarithm of the
 * density is concave in ln e, so its tangent at e_max is an envelope; otherwise k = alpha leaves
 * the factor (1-e)^(beta-1), which is largest at e_max. */
static double cut_eccentricity(double alpha, double beta, double e_max, gsl_rng *rng)
{
    const double k = alpha - fmax(beta - 1, 0) * e_max / (1 - e_max);
    double e = 0;
    for (int i = 0; i < 1000 && k > 0; i++) {
        const double log_ratio = orr_log(gsl_rng_uniform_pos(rng)) / k; /* ln(e / e_max) */
        e = e_max * orr_exp(log_ratio);
        const double density =
            (alpha - k) * log_ratio + (beta - 1) * orr_log((1 - e) / (1 - e_max));
        if (orr_log(gsl_rng_uniform_pos(rng)) <= density)
            break;
    }
    return fmin(e, e_max);
}

/* Draws an eccentricity, again if it is above e_max. */
static double draw_eccentricity(const struct orr_orbits_settings *o, gsl_rng *rng)
{
    if (!(o->e_max > 0))
        return 0;
    for (int i = 0; i < 1000; i++) {
        const double e = orr_draw_beta(rng, o->e_alpha, o->e_beta);
        if (e <= o->e_max)
            return e;
    }
    return cut_eccentricity(o->e_alpha, o->e_beta, o->e_max, rng);
}

static double log_uniform(gsl_rng *rng, double low, double high)
{
    return low * orr_pow(high / low, gsl_rng_uniform(rng));
}

/* Draws the orientation of the ellipse, the position on it, and the direction; `clockwise` is the
 * fraction of clockwise orbits. */
static void draw_place(double clockwise, gsl_rng *rng, struct sim_elements *el)
{
    el->phase_rad = gsl_ran_flat(rng, 0, 2 * M_PI); /* uniform in time */
    el->omega_rad = gsl_ran_flat(rng, 0, 2 * M_PI);
    el->clockwise = clockwise > 0 && gsl_rng_uniform(rng) < clockwise;
}

static void draw_com(double sigma_au, gsl_rng *rng, struct sim_system *s)
{
    for (int c = 0; c < 2; c++)
        s->com_au[c] = sigma_au > 0 ? sigma_au * orr_draw_normal(rng) : 0;
}

/* The study's seeds overlap: planet i of system n equals planet i - 5 of system n + 1 (spec of the
 * study, section 2, item 6). */
static void seek_planet(const struct orr_settings *p, enum orr_stage stage, uint64_t index,
                        int planet, gsl_rng *rng)
{
    const uint64_t apart = 1ull << 60; /* away from the streams of systems */
    orr_rng_seek(rng, p->seed, stage, apart + 5 * index + (uint64_t)planet);
}

/* planets: their number; 0: drawn. */
static void draw_study(const struct orr_settings *p, int planets, enum orr_stage stage,
                       uint64_t index, gsl_rng *rng, struct sim_system *s)
{
    const struct orr_orbits_settings *o = &p->orbits;
    s->dt_token = gsl_rng_uniform_int(rng, 2) == 1;
    s->dt_yr = (s->dt_token ? 180 : 7) * DAY_YR;
    s->planets =
        planets ? planets : 1 + (int)gsl_rng_uniform_int(rng, (unsigned long)o->planets_max);
    s->star_moves = s->planets == 1;
    s->star_mass = star_mass(rng);
    draw_com(o->com_sigma_au, rng, s);
    for (int i = 0; i < s->planets; i++) {
        if (o->compat_repeated_planets)
            seek_planet(p, stage, index, i, rng);
        s->mass[i] = planet_mass(rng);
        s->orbit[i].a_au = gsl_ran_flat(rng, o->a_min_au, o->a_max_au);
        s->orbit[i].e = draw_eccentricity(o, rng);
        draw_place(o->clockwise, rng, &s->orbit[i]);
    }
}

static double comparable_mass(const struct orr_orbits_settings *o, gsl_rng *rng)
{
    if (o->mass_prior == ORR_MASS_LOGUNIFORM)
        return log_uniform(rng, o->m_min, o->m_max);
    return gsl_ran_flat(rng, o->m_min, o->m_max);
}

enum { TRIES = 1000000 };

/* The first mass drawn belongs to body 1, the second to body 2. Sorting them would make them
 * correlated order statistics, and reveal the lighter body by its position in the sequence. Both
 * masses are drawn once, so that their prior does not depend on the time step. Only axis and
 * eccentricity are redrawn until the fixed dt samples the orbit well; dt never depends on the
 * period. Masses for which no axis fits are an error, because redrawing them would silently change
 * their prior. */
static int draw_identifiable(const struct orr_orbits_settings *o, gsl_rng *rng,
                             struct sim_system *s)
{
    s->planets = 1;
    s->star_moves = true;
    s->dt_yr = o->dt_yr;
    draw_com(o->com_sigma_au, rng, s);
    s->mass[0] = comparable_mass(o, rng);
    s->star_mass = comparable_mass(o, rng);
    for (int i = 0; i < TRIES; i++) {
        s->orbit[0].a_au = gsl_ran_flat(rng, o->a_min_au, o->a_max_au);
        s->orbit[0].e = draw_eccentricity(o, rng);
        const double samples =
            sim_period_yr(s->orbit[0].a_au, s->mass[0] + s->star_mass) / s->dt_yr;
        if (samples >= o->samples_min && samples <= o->samples_max) {
            draw_place(o->clockwise, rng, &s->orbit[0]);
            return 0;
        }
    }
    return ORR_FAIL(ORR_EUSAGE,
                    "orbits.dt_yr: no orbit with an axis of %g to %g AU has %g to %g samples at "
                    "dt = %g yr when the masses are %g and %g (orbits.m_min, orbits.m_max)",
                    o->a_min_au, o->a_max_au, o->samples_min, o->samples_max, o->dt_yr, s->mass[0],
                    s->star_mass);
}

/* Axis and time step are drawn independently and cover the planets of the solar system; badly
 * sampled draws are rejected as a whole. */
static int draw_planet_run(const struct orr_settings *p, gsl_rng *rng, struct sim_system *s)
{
    const double a_low = 0.3, a_high = 32, m_low = 0.1, m_high = 5; /* as the study's prior */
    const struct orr_planets_settings *r = &p->planets;
    const double dt_low = sim_period_yr(a_low, m_high) / r->samples_max;
    const double dt_high = sim_period_yr(a_high, m_low) / r->samples_min;
    const bool light = gsl_rng_uniform(rng) < r->light_fraction;
    s->planets = 1;
    s->star_moves = true;
    draw_com(p->orbits.com_sigma_au, rng, s);
    for (int i = 0; i < TRIES; i++) {
        const double ratio = light ? log_uniform(rng, r->light_min, r->light_max)
                                   : log_uniform(rng, r->light_max, 1);
        s->star_mass = star_mass(rng);
        s->mass[0] = ratio * s->star_mass;
        s->orbit[0].a_au = log_uniform(rng, a_low, a_high);
        s->orbit[0].e = draw_eccentricity(&p->orbits, rng);
        s->dt_yr = log_uniform(rng, dt_low, dt_high);
        const double samples =
            sim_period_yr(s->orbit[0].a_au, s->mass[0] + s->star_mass) / s->dt_yr;
        if (samples >= r->samples_min && samples <= r->samples_max) {
            draw_place(p->orbits.clockwise, rng, &s->orbit[0]);
            return 0;
        }
    }
    return ORR_FAIL(ORR_EUSAGE, "planets.samples_min: no draw has %g to %g samples per orbit",
                    r->samples_min, r->samples_max);
}

/* ---------------------------------------------------------------------- solar system */

static void place_planet(int planet, gsl_rng *rng, struct sim_system *s)
{
    const int i = s->planets++;
    s->mass[i] = sim_sun_bodies[planet].mass;
    s->orbit[i].a_au = sim_sun_bodies[planet].a_au;
    s->orbit[i].e = sim_sun_bodies[planet].e;
    draw_place(0, rng, &s->orbit[i]);
}

static void draw_solar(const struct orr_settings *p, enum sim_split split, uint64_t index,
                       gsl_rng *rng, struct sim_system *s)
{
    s->star_mass = 1;
    if (split == SIM_SPLIT_SOLAR_SYSTEM) {
        for (int planet = 0; planet < SIM_SUN_PLANETS; planet++)
            place_planet(planet, rng, s);
        s->dt_yr = 7 * DAY_YR;
        return;
    }
    place_planet((int)index, rng, s);
    s->star_moves = true;
    const double period_yr = sim_period_yr(s->orbit[0].a_au, 1 + s->mass[0]);
    /* the longer of the two time steps if it gives 40 samples per orbit, else the shorter */
    s->dt_token = p->orbits.compat_solar_dt || period_yr >= 40 * 180 * DAY_YR;
    s->dt_yr = (s->dt_token ? 180 : 7) * DAY_YR;
    if (split == SIM_SPLIT_PLANETS_SOLAR)
        s->dt_yr = period_yr / p->planets.samples_per_orbit;
}

static enum orr_stage stage_of(enum sim_split split)
{
    static const enum orr_stage stages[SIM_SPLITS] = {
        [SIM_SPLIT_TRAIN] = ORR_STAGE_TRAIN,
        [SIM_SPLIT_VAL] = ORR_STAGE_VAL,
        [SIM_SPLIT_TEST] = ORR_STAGE_TEST,
        [SIM_SPLIT_TWO_BODY_TRAIN] = ORR_STAGE_TWO_BODY_TRAIN,
        [SIM_SPLIT_TWO_BODY_VAL] = ORR_STAGE_TWO_BODY_VAL,
        [SIM_SPLIT_TWO_BODY_TEST] = ORR_STAGE_TWO_BODY_TEST,
        [SIM_SPLIT_SOLAR_SYSTEM] = ORR_STAGE_SOLAR,
        [SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY] = ORR_STAGE_SOLAR,
        [SIM_SPLIT_PLANETS_TRAIN] = ORR_STAGE_PLANETS_TRAIN,
        [SIM_SPLIT_PLANETS_VAL] = ORR_STAGE_PLANETS_VAL,
        [SIM_SPLIT_PLANETS_SOLAR] = ORR_STAGE_SOLAR,
        [SIM_SPLIT_PLANETS_TEST] = ORR_STAGE_PLANETS_TEST,
    };
    return stages[split];
}

static int draw_in_plane(const struct orr_settings *settings, enum sim_split split, uint64_t index,
                         gsl_rng *rng, struct sim_system *system)
{
    switch (split) {
    case SIM_SPLIT_SOLAR_SYSTEM:
    case SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY:
    case SIM_SPLIT_PLANETS_SOLAR:
        draw_solar(settings, split, index, rng, system);
        return 0;
    case SIM_SPLIT_PLANETS_TRAIN:
    case SIM_SPLIT_PLANETS_VAL:
    case SIM_SPLIT_PLANETS_TEST:
        return draw_planet_run(settings, rng, system);
    default:
        if (settings->orbits.protocol == ORR_PROTOCOL_IDENTIFIABLE)
            return draw_identifiable(&settings->orbits, rng, system);
        draw_study(settings, sim_split_labelled(split), stage_of(split), index, rng, system);
        return 0;
    }
}

/* Gives every orbit of a system in the plane an orientation: the normals of drawn ones are uniform
 * on the sphere, so that the cosine of the inclination is uniform in [-1, 1] and the node in [0, 2
 * pi). Bodies of the solar system have their own inclinations. */
static void draw_orientations(const struct orr_settings *p, enum sim_split split, uint64_t index,
                              gsl_rng *rng, struct sim_system *s)
{
    const bool solar = stage_of(split) == ORR_STAGE_SOLAR;
    if (p->orbits.com_sigma_au > 0 && !solar)
        s->com_au[2] = p->orbits.com_sigma_au * orr_draw_normal(rng);
    for (int i = 0; i < s->planets; i++) {
        struct sim_elements *el = &s->orbit[i];
        const int body = split == SIM_SPLIT_SOLAR_SYSTEM ? i : (int)index;
        el->in_space = true;
        el->node_rad = gsl_ran_flat(rng, 0, 2 * M_PI);
        el->inclination_rad = solar ? sim_sun_bodies[body].inclination_deg * M_PI / 180
                                    : sim_vec_best()->acos(1 - 2 * gsl_rng_uniform(rng));
    }
}

/* What a third dimension needs is drawn last: the orbits are those of the plane, turned. */
int sim_system_draw(const struct orr_settings *settings, enum sim_split split, uint64_t index,
                    gsl_rng *rng, struct sim_system *system)
{
    *system = (struct sim_system){0};
    orr_rng_seek(rng, settings->seed, stage_of(split), index);
    const int rc = draw_in_plane(settings, split, index, rng, system);
    if (!rc && settings->orbits.dimensions == 3)
        draw_orientations(settings, split, index, rng, system);
    return rc;
}
