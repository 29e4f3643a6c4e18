/* vec_loops.c - blocks of Kepler's equation, sines and cosines, and bins, written so that the
 * compiler vectorises them; see vec.h.
 *
 * Kepler's equation, one e for all lanes, by symmetry for |M|: Mikkola's start (1987, Celestial
 * Mechanics 40, 329; within 0.002 of E, also for e near 1 and M near 0), then two steps of Halley's
 * method. The error of a step is at most 2/3 of its cube, in units of M, so the size of the second
 * step shows whether a lane has converged. */
#include "vec.h"

#include <math.h>

#include "base/vecmath.h"

/* Quarter turns, then polynomials on [-pi/4, pi/4] with the smallest error relative to x for the
 * sine (3.5e-18) and to 1 for the cosine (4.7e-20); the rest of the error is rounding. */
VM_INLINE void sine_cosine(double x, double *sine, double *cosine)
{
    const double quarter = x * 0x1.45f306dc9c883p-1 + VM_MAGIC, q = quarter - VM_MAGIC;
    const uint64_t turn = vm_bits(quarter);
    /* pi/2 in two parts; the low five bits of the first are zero */
    const double r = (x - q * 0x1.921fb54442d00p+0) - q * 0x1.8469898cc5170p-48;
    const double z = r * r, z2 = z * z, z4 = z2 * z2;
    const double ps = (-0x1.5555555555549p-3 + z * 0x1.111111110f842p-7) +
                      z2 * (-0x1.a01a019c0a28cp-13 + z * 0x1.71de3570fd4e6p-19) +
                      z4 * (-0x1.ae5e60c46fe10p-26 + z * 0x1.5d915e066ddb3p-33);
    const double pc = (0x1.555555555554cp-5 + z * -0x1.6c16c16c15140p-10) +
                      z2 * (0x1.a01a019cab749p-16 + z * -0x1.27e4f80533ff2p-22) +
                      z4 * (0x1.1ee9e890e220ap-29 + z * -0x1.8facd16c27b27p-37);
    const uint64_t s = vm_bits(r + r * z * ps), c = vm_bits(1 - (0.5 * z - z2 * pc));
    const uint64_t odd = 0 - (turn & 1), other = (s ^ c) & odd;
    *sine = vm_from_bits(s ^ other ^ (turn & 2) << 62);
    *cosine = vm_from_bits(c ^ other ^ ((turn + 1) & 2) << 62);
}

/* Cube root of x > 0 to 2e-5: a third of the exponent, then one step of Halley's method. */
VM_INLINE double rough_cube_root(double x)
{
    /* the upper half of a double, as a number, is close to its exponent and logarithm */
    const double high = vm_from_bits(vm_bits(x) >> 32 | 0x4330000000000000u) - 0x1p52;
    const double third = high * (1.0 / 3) + 715094232.0;
    const double y = vm_from_bits(vm_bits(third + 0x1p52) << 32), y3 = y * y * y;
    return y * (y3 + (x + x)) / ((y3 + y3) + x);
}

static void anomalies(struct sim_vec_block *b, size_t n, double phase_rad, double step_rad,
                      double first)
{
    const size_t lanes = sim_vec_whole(n);
    for (uint64_t k = 0; k < lanes; k++) /* k as a double */
        b->M[k] = phase_rad + step_rad * (first + (vm_from_bits(k | 0x4330000000000000u) - 0x1p52));
}

static void reduce(struct sim_vec_block *b, size_t n)
{
    const size_t lanes = sim_vec_whole(n);
    for (size_t k = 0; k < lanes; k++) {
        const double M = b->M[k], turns = (M * 0x1.45f306dc9c883p-3 + VM_MAGIC) - VM_MAGIC;
        /* the first product and the first difference are exact */
        b->M[k] = (M - turns * SIM_TURN_HIGH) - turns * SIM_TURN_LOW;
        b->turns[k] = turns;
    }
}

static size_t kepler(struct sim_vec_block *b, size_t n, double e)
{
    const size_t lanes = sim_vec_whole(n);
    const double q = 1 / (4 * e + 0.5), alpha = (1 - e) * q, cube = alpha * alpha * alpha;
    const double half = 0.5 * q, fifth = 0.078 / (1 + e);
    uint64_t missed = 0; /* 64 bits, as wide as the lanes */
    for (size_t k = 0; k < lanes; k++) {
        const double M = fabs(b->M[k]), beta = half * M;
        const double w = rough_cube_root(beta + sqrt(cube + beta * beta)), v = w - alpha / w;
        const double v2 = v * v, u = v - fifth * (v2 * v2) * v;
        b->E[k] = M + e * (u * (3 - 4 * u * u));
    }
    for (size_t k = 0; k < lanes; k++) {
        const double M = fabs(b->M[k]), E = b->E[k];
        double s, c;
        sine_cosine(E, &s, &c);
        const double es = e * s, f = (E - M) - es, slope = 1 - e * c;
        b->E[k] = E - f * slope / (slope * slope - 0.5 * f * es);
    }
    for (size_t k = 0; k < lanes; k++) {
        const double M = fabs(b->M[k]), E = b->E[k];
        const uint64_t sign = vm_bits(b->M[k]) & (uint64_t)1 << 63;
        double s, c;
        sine_cosine(E, &s, &c);
        const double es = e * s, f = (E - M) - es, slope = 1 - e * c;
        const double step = f * slope / (slope * slope - 0.5 * f * es);
        const double square = 0.5 * step * step;
        const uint64_t miss = vm_bits(fabs(step) <= 2e-6 ? 0.0 : 1.0) >> 61; /* 0 or 1 */
        missed += miss;
        b->E[k] = vm_from_bits((vm_bits(E - step) ^ sign) | (0 - miss)); /* all bits set: NaN */
        b->cosine[k] = c + (step * s - square * c);
        b->sine[k] = vm_from_bits(vm_bits(s - (step * c + square * s)) ^ sign);
    }
    return missed;
}

static void combine(const struct sim_vec_block *b, size_t n, double e, double p, double q, double r,
                    double x[])
{
    const size_t lanes = sim_vec_whole(n);
    for (size_t k = 0; k < lanes; k++)
        x[k] = (p * (b->cosine[k] - e) + q * b->sine[k]) + r;
}

VM_INLINE double bin_of(double x, double bins, double extent_au)
{
    double place = (x + extent_au) * bins / (2 * extent_au);
    place = place < bins - 1 ? place : bins - 1;
    place = place > 0 ? place : 0;
    const double nearest = (place + VM_MAGIC) - VM_MAGIC;
    return nearest > place ? nearest - 1 : nearest;
}

static long bin(size_t n, const double x[], const double y[], int bins, double extent_au,
                double row[])
{
    const size_t lanes = sim_vec_whole(n);
    uint64_t outside = 0;
    for (size_t k = 0; k < lanes; k++) {
        const double column = bin_of(x[k], bins, extent_au), line = bin_of(y[k], bins, extent_au);
        row[k] = column + 65536 * line;
        outside += vm_bits(fabs(x[k]) > extent_au ? 1.0 : 0.0) >> 61;
        outside += vm_bits(fabs(y[k]) > extent_au ? 1.0 : 0.0) >> 61;
    }
    for (size_t k = n; k < lanes; k++)
        outside -= (uint64_t)(fabs(x[k]) > extent_au) + (uint64_t)(fabs(y[k]) > extent_au);
    return (long)outside;
}

static void sincos_all(size_t n, const double x[], double sine[], double cosine[])
{
    for (size_t k = 0; k < n; k++)
        sine_cosine(x[k], &sine[k], &cosine[k]);
}

static double arc_cosine(double x)
{
    return vm_acos(x);
}

const struct sim_vec sim_vec = {anomalies, reduce, kepler, combine, bin, sincos_all, arc_cosine};
