/* quantities.h - quantities that linear probes read from a model: those of Newton's law at a
 * moment, and orbital elements, which are constant along an orbit. AU, years, solar masses. */
#ifndef PROBE_QUANTITIES_H
#define PROBE_QUANTITIES_H

#include <stdbool.h>

/* A quantity: one number, or the components of a vector. */
struct probe_quantity {
    const char *name;
    int size[2]; /* numbers in the plane and in space */
    bool kepler; /* an orbital element, which only bound orbits have */
};
enum { PROBE_QUANTITIES = 18, PROBE_NUMBERS = 32 }; /* numbers: at most */
/* The numbers of the quantities are stored in this order. */
extern const struct probe_quantity probe_quantities[PROBE_QUANTITIES];
/* How many numbers quantity q has, and all quantities have, where positions have `axes`
 * coordinates. */
int probe_quantity_size(int axes, int q);
int probe_numbers(int axes);
/* Index of the first number of quantity q. */
int probe_quantity_at(int axes, int q);
/* The quantity of this name; -1: none. */
int probe_quantity_find(const char *name);

/* Computes all numbers. state (2 axes + 2): position and velocity of body 1 relative to body 2, m1,
 * m2, as in full_state; force (axes) on body 1. The elements are those of the Newtonian orbit
 * through the state (Murray and Dermott, Solar System Dynamics, chapter 2): constant under Newton's
 * law, osculating under others. False where the orbit is not bound; the elements are then NaN. */
bool probe_quantities_of(int axes, const double state[], const double force[],
                         double number[PROBE_NUMBERS]);

/* Constants of the motion of a relative state (2 axes) about a total mass mu / G. */
struct probe_constants {
    double energy;              /* v^2 / 2 - mu / r, AU^2 / yr^2 */
    double angular_momentum[3]; /* h = r x v, AU^2 / yr; in the plane along z */
    /* (v x h) / mu - r / |r|: points to the periapsis; its length is the eccentricity */
    double runge_lenz[3];
};
struct probe_constants probe_constants_of(double mu, int axes, const double state[]);

#endif
