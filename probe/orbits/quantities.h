/* quantities.h - quantities that linear probes read from a model: those of Newton's law at a
 * moment, and orbital elements, which are constant along an orbit. AU, years, solar masses. */
#ifndef PROBE_QUANTITIES_H
#define PROBE_QUANTITIES_H

#include <stdbool.h>

/* A quantity: one number, or the two components of a vector. */
struct probe_quantity {
    const char *name;
    int size;    /* 1 or 2 numbers */
    bool kepler; /* an orbital element, which only bound orbits have */
};
enum { PROBE_QUANTITIES = 18, PROBE_NUMBERS = 24 };
/* The numbers of the quantities are stored in this order. */
extern const struct probe_quantity probe_quantities[PROBE_QUANTITIES];
/* Index of the first number of quantity q. */
int probe_quantity_at(int q);
/* The quantity of this name; -1: none. */
int probe_quantity_find(const char *name);

/* Computes all numbers. state: x, y, vx, vy of body 1 relative to body 2, m1, m2, as in full_state;
 * force on body 1. The elements are those of the Newtonian orbit through the state (Murray and
 * Dermott, Solar System Dynamics, chapter 2): constant under Newton's law, osculating under others.
 * False where the orbit is not bound; the elements are then NaN. */
bool probe_quantities_of(const double state[6], const double force[2],
                         double number[PROBE_NUMBERS]);

/* Constants of the motion of a relative state x, y, vx, vy about a total mass mu / G. */
struct probe_constants {
    double energy;           /* v^2 / 2 - mu / r, AU^2 / yr^2 */
    double angular_momentum; /* x vy - y vx, AU^2 / yr */
    /* (v x h) / mu - r / |r|: points to the periapsis; its length is the eccentricity */
    double runge_lenz[2];
};
struct probe_constants probe_constants_of(double mu, const double state[4]);

#endif
