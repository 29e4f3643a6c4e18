/* orbit_fit.h - fits an orbit to some positions of a planet and its star, by least squares: the
 * prediction of an observer who knows Newton's law, and an upper bound for models that do not. */
#ifndef GPT_ORBIT_FIT_H
#define GPT_ORBIT_FIT_H

#include <stdbool.h>

/* ---- motion of one body around another: any orbit, bound or not */

/* Advances state (2 axes) by dt_yr: position and velocity of the planet relative to the star, in
 * the plane or in space. mu = G times the total mass, > 0; the position must not be 0. Battin, An
 * Introduction to the Mathematics and Methods of Astrodynamics, section 4.5 (universal variables).
 * Returns false, with the state unchanged, where the iteration does not converge. */
bool gpt_orbit_advance(double mu, double dt_yr, int axes, double state[]);

/* ---- the fit */

enum gpt_orbit_parameter {
    /* relative position and velocity at the first step, in units of the first distance */
    GPT_ORBIT_X,
    GPT_ORBIT_Y, /* r and of sqrt(mu / r), rotated so that the first observed position lies on +x */
    GPT_ORBIT_VX,
    GPT_ORBIT_VY,
    GPT_ORBIT_RATE,  /* ln(mu dt^2 / r^3) */
    GPT_ORBIT_SHARE, /* the planet's distance from the barycentre over its distance from the star */
    GPT_ORBIT_CX,    /* the barycentre, in units of r, rotated */
    GPT_ORBIT_CY,
    GPT_ORBIT_PARAMETERS
};

/* Prior knowledge: normal distributions of the parameters. Where orbits go both ways, these
 * describe counterclockwise orbits, and clockwise orbits are their mirror images. The second
 * position decides which sense an orbit has; before it, the more common sense is assumed. */
struct gpt_orbit_prior {
    double mean[GPT_ORBIT_PARAMETERS], sd[GPT_ORBIT_PARAMETERS];
    bool both_ways, most_clockwise;
};
/* An almost uninformative prior: a circular orbit, counterclockwise, with large deviations. */
struct gpt_orbit_prior gpt_orbit_wide_prior(void);
/* From the parameters p (n) of known orbits, sets whether orbits go both ways (the rarer sense
 * has at least a twentieth of them); in that case clockwise orbits are replaced by their mirror
 * images. */
void gpt_orbit_prior_turn(int n, double (*p)[GPT_ORBIT_PARAMETERS], struct gpt_orbit_prior *prior);

/* Fits an orbit to `steps` >= 1 positions (planet, star), place (steps, 2, 2), at equal time
 * steps: nonlinear least squares with measurement error sd, in the positions' unit, and the
 * prior (gsl_multifit_nlinear, Levenberg-Marquardt). parameter: the result and, with `start`,
 * the first starting point. Without `start`, or where its fit is worse than the error explains,
 * further fits start from the positions and from the prior's means; the best fit counts. next:
 * the planet's position one step after the last. ORR_ENOMEM; ORR_EDOM where planet and star
 * coincide. A fit that does not converge returns its last parameters. */
int gpt_orbit_fit(int steps, const double place[], double sd, const struct gpt_orbit_prior *prior,
                  double parameter[GPT_ORBIT_PARAMETERS], bool start, double next[2]);
/* As gpt_orbit_fit, with the planet's positions 1 .. `ahead` steps after the last in `next`. */
int gpt_orbit_fit_ahead(int steps, const double place[], double sd,
                        const struct gpt_orbit_prior *prior, double parameter[GPT_ORBIT_PARAMETERS],
                        bool start, int ahead, double next[][2]);

#endif
