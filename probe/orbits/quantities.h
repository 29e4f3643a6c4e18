/* quantities.h - what linear probes look for in a model: quantities of Newton's law at a moment,
 * and elements of the orbit, which do not change along it. AU, years, solar masses. */
#ifndef PROBE_QUANTITIES_H
#define PROBE_QUANTITIES_H

#include <stdbool.h>

/* A quantity: one number, or the two components of a vector. */
struct probe_quantity {
    const char *name;
    int size;    /* 1 or 2 numbers */
    bool kepler; /* an element of the orbit, which only bound orbits have */
};
enum { PROBE_QUANTITIES = 18, PROBE_NUMBERS = 24 };
/* The numbers of the quantities follow each other in this order. */
extern const struct probe_quantity probe_quantities[PROBE_QUANTITIES];
/* Where the numbers of quantity q begin. */
int probe_quantity_at(int q);
/* The quantity of this name, -1 = none. */
int probe_quantity_find(const char *name);

/* state: x, y, vx, vy of body 1 from body 2, m1, m2, as in full_state; force on body 1. Elements
 * are those of the Newtonian orbit through the state (Murray and Dermott, Solar System Dynamics,
 * chapter 2): constant under Newton's law, osculating under another. False where the orbit is not
 * bound: the elements are then not numbers. */
bool probe_quantities_of(const double state[6], const double force[2],
                         double number[PROBE_NUMBERS]);

/* Constants of the motion of a relative state x, y, vx, vy about a total mass mu / G. */
struct probe_constants {
    double energy;           /* v^2 / 2 - mu / r, AU^2 / yr^2 */
    double angular_momentum; /* x vy - y vx, AU^2 / yr */
    double runge_lenz[2];    /* (v x h) / mu - r / |r|: points to the periapsis, as long as e */
};
struct probe_constants probe_constants_of(double mu, const double state[4]);

#endif
