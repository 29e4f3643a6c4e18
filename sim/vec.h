/* vec.h - internal to sim: the loops over time steps that determine the speed of making sequences.
 *
 * vec_loops.c is compiled for several instruction sets (base/isa.h). All copies do the same IEEE
 * operations in the same order on every lane, without fused multiply-adds and without libm, so they
 * give equal bits on every CPU. */
#ifndef SIM_VEC_H
#define SIM_VEC_H

#include "base/isa.h"
#include "sim.h"

/* 2 pi in two parts; the low 28 bits of the first are zero. */
#define SIM_TURN_HIGH 0x1.921fb5p+2
#define SIM_TURN_LOW  0x1.110b4611a6263p-24

enum {
    SIM_VEC_LANES = 8,   /* loops run over whole groups of this many steps */
    SIM_VEC_BLOCK = 128, /* steps of one block, a multiple of the lanes */
};

/* Working storage of up to SIM_VEC_BLOCK steps of one orbit; all lanes must be initialised. */
struct sim_vec_block {
    double M[SIM_VEC_BLOCK]; /* mean anomaly, radians */
    double turns[SIM_VEC_BLOCK];
    double E[SIM_VEC_BLOCK]; /* eccentric anomaly in [-pi, pi] */
    double cosine[SIM_VEC_BLOCK], sine[SIM_VEC_BLOCK];
};

struct sim_vec {
    /* M = phase + step * (first + k) for lanes k = 0 .. n-1, rounded up to whole groups. */
    void (*anomalies)(struct sim_vec_block *block, size_t n, double phase_rad, double step_rad,
                      double first);
    /* Removes whole turns: M = M - 2 pi turns within [-pi, pi], to the rounding of M, for |M| <
     * 2^28 turns. */
    void (*reduce)(struct sim_vec_block *block, size_t n);
    /* Solves for E, cos E and sin E, with M within [-pi, pi] and one e in [0, 1). Returns how many
     * lanes have not converged; their E is NaN. For the others |E - e sin E - M| <= 2e-15, and cos
     * E and sin E have errors <= 4e-16 for this E. */
    size_t (*kepler)(struct sim_vec_block *block, size_t n, double e);
    /* x = p (cos E - e) + q sin E + r for whole groups. */
    void (*combine)(const struct sim_vec_block *block, size_t n, double e, double p, double q,
                    double r, double x[]);
    /* Bins of x and y as by sim_bin(): row[k] = bin of x + 65536 * bin of y. Returns how many of
     * the 2n coordinates lie outside [-extent, extent]. x and y must be initialised, and row have
     * space, up to whole groups. */
    long (*bin)(size_t n, const double x[], const double y[], int bins, double extent_au,
                double row[]);
    /* Sine and cosine of x (n), |x| <= 8 pi: errors <= 2e-16, for the sine relative near 0. */
    void (*sincos)(size_t n, const double x[], double sine[], double cosine[]);
    /* Arc cosine of x in [-1, 1]. */
    double (*acos)(double x);
};

ORR_ISA_TABLES(sim_vec)
/* The table of functions of the instruction set in use. */
static inline const struct sim_vec *sim_vec_best(void)
{
    return sim_vec_of(orr_isa());
}

/* Steps rounded up to whole groups: the capacity that the functions above need. */
static inline size_t sim_vec_whole(size_t n)
{
    return (n + SIM_VEC_LANES - 1) / SIM_VEC_LANES * SIM_VEC_LANES;
}

/* E of one M within [-pi, pi] by Halley's method inside a bracket of the root, for lanes of a block
 * that have not converged. Residual <= 2e-15. */
double sim_kepler_bracketed(const struct sim_vec *vec, double M, double e);

/* Positions of `bodies` bodies that share one relative orbit r(t), at times k * dt_yr, k = 0 ..
 * n-1: origin + share[i] r(t), whose coordinates c = 0 .. d-1 go into to[i][c], which have capacity
 * for whole groups. Errors as sim_kepler_solve(). */
int sim_orbit_places(const struct sim_elements *elements, double total_mass, double dt_yr, size_t n,
                     int bodies, const double share[], const double origin_au[],
                     double *const to[][SIM_AXES]);

#endif
