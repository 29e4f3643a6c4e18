/* analysis.h - inside laws/: forces of a run's orbits: is a formula the law that they follow, and
 * what do the numbers say without any formula? */
#ifndef LAWS_ANALYSIS_H
#define LAWS_ANALYSIS_H

#include "sim/sim.h"
#include "stage/settings.h"
#include "symreg/symreg.h"

/* ---- the table of forces */

/* forces_magnitude.csv of one source (docs/formats.md), AU, solar masses, years. */
struct law_forces {
    size_t rows;
    int samples; /* largest sample number + 1 */
    double *sample, *sequence, *step, *r, *m1, *m2, *dt, *f_true, *f; /* (rows) each */
    void *storage;
};
/* Missing file: ORR_EMISSING with the command that makes it. */
int law_forces_read(const char *path, struct law_forces *forces);
void law_forces_free(struct law_forces *forces);

/* ---- the run's own law (own.c) */

enum { LAW_TEXT = 1024 };

/* What k stands for in k times the law: G where G multiplies the whole force, as in Newton's law;
 * the factor of a jump where that does, as of an expression; else 1. */
enum law_unit { LAW_UNIT_GRAVITY, LAW_UNIT_JUMP, LAW_UNIT_NONE };

/* The law that the orbits of a run follow. Where G jumps, labels may be of one side of the jump or
 * of both, with a k each; laws that G does not multiply as a whole have a shape on each side. */
struct law_own {
    struct sim_dynamics dynamics;
    bool newton; /* F = G m1 m2 / r^2 */
    enum law_unit unit;
    int sides;      /* 2: labels before and after the jump */
    size_t step[2]; /* a labelled step of each side */
    double k[2];    /* of each: k of the law itself */
};
/* The law of a preset, labels at step 0. ORR_EUSAGE: an expression that can not be read. Free also
 * after an error. */
int law_own_create(struct law_own *own, const struct orr_settings *preset);
void law_own_free(struct law_own *own);
/* Labels are of the steps `first` to `last`. */
void law_own_steps(struct law_own *own, size_t first, size_t last);
/* Which side law_own_force() is of; 0 everywhere else. */
void law_own_side(struct law_own *own, int side);
/* The law's force divided by what k stands for: F of G = 1 where G multiplies it. */
double law_own_force(const struct law_own *own, double m1, double m2, double r_au);
/* Median of |F_true / F of the law at the label's step - 1|: about 0 unless the labels are of
 * orbits under another law. */
int law_own_difference(struct law_own *own, const struct law_forces *truth, double *difference);
/* "k m1 m2 / r^2", or "k times the force of the law power, orbits.law_exponent=-2.5". */
void law_own_name(const struct law_own *own, const struct orr_settings *preset,
                  char text[LAW_TEXT]);

/* Decides numerically whether a formula of the features r, m1, m2 (0, 1, 2) is k times the run's
 * law: at fixed quasi-random points over twice the range of the data both ways, the ratio may vary
 * by `tolerance`, relative to its mean. Points at which the law does not attract do not count, and
 * a quarter of them must. True: *k is the mean ratio. */
bool law_check(struct law_own *own, const struct sr_expr *expr, const double low[3],
               const double high[3], double tolerance, double *k);
/* The simplest row of a front that passes, -1 when none does. */
int law_find(struct law_own *own, const struct sr_front *front, const double low[3],
             const double high[3], double tolerance, double *k);

/* ---- what the numbers say */

struct law_interval {
    double value, low, high;
};
struct law_analysis {
    double r2_log;                   /* of log F against log F_true */
    double median_relative_error;    /* of F */
    struct law_interval exponent[3]; /* of r, m1, m2, 95% by bootstrap over sequences */
    size_t dropped;                  /* rows with F <= 0, left out of the logarithms */
};
/* 200 resamples of whole sequences keyed by `seed`. NaN where too few rows are left. */
int law_analyse(const struct law_forces *forces, uint64_t seed, struct law_analysis *result);
struct law_floors {
    double log_r, log_scale_dt_r, constant; /* R^2 of log F_true */
};
int law_analyse_floors(const struct law_forces *truth, struct law_floors *floors);
/* Of the rows of one sample. */
struct law_sample_facts {
    size_t rows;
    double k_dropped_m2; /* k of F = k m1 / r^2 by least absolute deviation, whatever
                            symreg.loss: about that of a law that misses m2 */
    double leverage;     /* largest share of sum |F| that one sequence has */
};
int law_analyse_sample(const struct law_forces *forces, int sample, struct law_sample_facts *facts);

#endif
