/* vec.h - internal to sim: the loops over time steps that decide how fast sequences are made.
 *
 * vec_loops.c is compiled for several instruction sets (base/isa.h). All of them do the same IEEE
 * operations in the same order on every lane, without fused multiply-adds and without libm: they
 * give the same bits, whatever the CPU. */
#ifndef SIM_VEC_H
#define SIM_VEC_H

#include "base/isa.h"
#include "sim.h"

/* 2 pi in two parts; the first has 28 zero bits at its end. */
#define SIM_TURN_HIGH 0x1.921fb5p+2
#define SIM_TURN_LOW  0x1.110b4611a6263p-24

enum {
    SIM_VEC_LANES = 8,   /* loops run over whole groups of so many steps */
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
    /* M = phase + step * (first + k) of lanes k = 0 .. n-1, rounded up to whole groups. */
    void (*anomalies)(struct sim_vec_block *block, size_t n, double phase_rad, double step_rad,
                      double first);
    /* Takes whole turns off M: M = M - 2 pi turns within [-pi, pi], to the rounding of M, for
     * |M| < 2^28 turns. */
    void (*reduce)(struct sim_vec_block *block, size_t n);
    /* E, cos E and sin E of M within [-pi, pi] for one e in [0, 1). Returns how many lanes have not
     * converged; their E is NaN. |E - e sin E - M| of the others <= 2e-15, errors of cos E and
     * sin E against those of this E <= 4e-16. */
    size_t (*kepler)(struct sim_vec_block *block, size_t n, double e);
    /* x = p (cos E - e) + q sin E + r of whole groups. */
    void (*combine)(const struct sim_vec_block *block, size_t n, double e, double p, double q,
                    double r, double x[]);
    /* Bins of x and y as sim_bin has them: row[k] = bin of x + 65536 * bin of y. Returns how many
     * of the 2n coordinates lie outside [-extent, extent]. Up to the next whole group, x and y must
     * be initialised and row have room. */
    long (*bin)(size_t n, const double x[], const double y[], int bins, double extent_au,
                double row[]);
    /* Sine and cosine of x (n), |x| <= 8 pi: errors <= 2e-16, and of the sine relative near 0. */
    void (*sincos)(size_t n, const double x[], double sine[], double cosine[]);
};

ORR_ISA_TABLES(sim_vec)
/* The table of the set in use. */
static inline const struct sim_vec *sim_vec_best(void)
{
    return sim_vec_of(orr_isa());
}

/* Steps rounded up to whole groups: the room that the functions above need. */
static inline size_t sim_vec_whole(size_t n)
{
    return (n + SIM_VEC_LANES - 1) / SIM_VEC_LANES * SIM_VEC_LANES;
}

/* E of one M within [-pi, pi] by steps of Halley that never leave a bracket of the root: what takes
 * over where a block has not converged. Residual <= 2e-15. */
double sim_kepler_bracketed(const struct sim_vec *vec, double M, double e);

/* Places of `bodies` bodies that share one relative orbit r(t), at times k * dt_yr, k = 0 .. n-1:
 * origin + share[i] r(t), into x[i] and y[i], which have room for whole groups. Errors as
 * sim_kepler_solve. */
int sim_orbit_places(const struct sim_elements *elements, double total_mass, double dt_yr, size_t n,
                     int bodies, const double share[], const double origin_au[2], double *const x[],
                     double *const y[]);

#endif
