/* orbit_fit.h - the orbit behind some positions of a planet and its star, by least squares: what an
 * observer who knows Newton's law makes of them, and an upper bound for models that do not. */
#ifndef GPT_ORBIT_FIT_H
#define GPT_ORBIT_FIT_H

#include <stdbool.h>

/* ---- motion of one body around another: any orbit, bound or not */

/* state: x, y, vx, vy of the planet from the star, dt_yr on; mu = G times the total mass, > 0, and
 * the place not 0. Battin, An Introduction to the Mathematics and Methods of Astrodynamics,
 * section 4.5 (universal variables). False, and the state left alone, where it does not
 * converge. */
bool gpt_orbit_advance(double mu, double dt_yr, double state[4]);

/* ---- the fit */

enum gpt_orbit_parameter {
    GPT_ORBIT_X, /* relative place and velocity at the first step, in units of the first distance */
    GPT_ORBIT_Y, /* r and of sqrt(mu / r), turned so that the first observed place lies on +x */
    GPT_ORBIT_VX,
    GPT_ORBIT_VY,
    GPT_ORBIT_RATE,  /* ln(mu dt^2 / r^3) */
    GPT_ORBIT_SHARE, /* the planet's place from the barycentre over that from the star */
    GPT_ORBIT_CX,    /* the barycentre, in units of r, turned */
    GPT_ORBIT_CY,
    GPT_ORBIT_PARAMETERS
};

/* What is known before: normal distributions of the parameters. Where orbits go both ways these are
 * of counterclockwise ones, and those of the others are their mirror images: the second place tells
 * which; before it the orbit goes as most do. */
struct gpt_orbit_prior {
    double mean[GPT_ORBIT_PARAMETERS], sd[GPT_ORBIT_PARAMETERS];
    bool both_ways, most_clockwise;
};
/* Nearly nothing: a circular orbit, counterclockwise, with great deviations. */
struct gpt_orbit_prior gpt_orbit_wide_prior(void);
/* Of the parameters p (n) of orbits that are known: whether they go both ways, a twentieth of them
 * at least, and then those that go clockwise become their mirror images. */
void gpt_orbit_prior_turn(int n, double (*p)[GPT_ORBIT_PARAMETERS], struct gpt_orbit_prior *prior);

/* Fits an orbit to `steps` >= 1 positions (planet, star), place (steps, 2, 2), at equal distances
 * in time: nonlinear least squares with an error of sd, in the positions' unit, and the prior
 * (gsl_multifit_nlinear, Levenberg-Marquardt). parameter: the result; with `start` also where to
 * begin. Where that fits the positions worse than their error explains, and without it, begins are
 * made from the positions and from the prior's means; the best fit counts. next: where the planet
 * is one step after the last. ORR_ENOMEM; ORR_EDOM where planet and star are at one place. A fit
 * that does not converge is as good as it got. */
int gpt_orbit_fit(int steps, const double place[], double sd, const struct gpt_orbit_prior *prior,
                  double parameter[GPT_ORBIT_PARAMETERS], bool start, double next[2]);
/* The same with the planet's positions of `ahead` >= 1 steps after the last. */
int gpt_orbit_fit_ahead(int steps, const double place[], double sd,
                        const struct gpt_orbit_prior *prior, double parameter[GPT_ORBIT_PARAMETERS],
                        bool start, int ahead, double next[][2]);

#endif
