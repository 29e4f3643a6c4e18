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

/* ---- the law of the run (true_law.c) */

enum { LAW_TEXT = 1024 };

/* What k stands for in k times the law: G where G multiplies the whole force, as in Newton's law;
 * the factor of a jump where that does, as of an expression; else 1. */
enum law_unit { LAW_UNIT_GRAVITY, LAW_UNIT_JUMP, LAW_UNIT_NONE };

/* The law that the orbits of a run follow. Where G jumps, labels may be of one side of the jump or
 * of both, with a k each; laws that G does not multiply as a whole have a shape on each side. */
struct law_true {
    struct sim_dynamics dynamics;
    char name[LAW_TEXT]; /* "k m1 m2 / r^2", "k times the force of the law power, ..." */
    bool newton;         /* F = G m1 m2 / r^2 */
    enum law_unit unit;
    int sides;      /* 2: labels before and after the jump */
    size_t step[2]; /* a labelled step of each side */
    double k[2];    /* of each: k of the law itself */
};
/* The law of a preset, labels at step 0. ORR_EUSAGE: an expression that can not be read. Free also
 * after an error. */
int law_true_create(struct law_true *law, const struct orr_settings *preset);
void law_true_free(struct law_true *law);
/* Labels are of the steps `first` to `last`. */
void law_true_steps(struct law_true *law, size_t first, size_t last);
/* Median of |F_true / F of the law at the label's step - 1|: about 0 unless the labels are of
 * orbits under another law. */
int law_true_difference(struct law_true *law, const struct law_forces *truth, double *difference);

/* Decides numerically whether a formula of the features r, m1, m2 (0, 1, 2) is k times the law:
 * at fixed quasi-random points over twice the range of the data both ways, the ratio may vary
 * by `tolerance`, relative to its mean. Points at which the law does not attract do not count, and
 * a quarter of them must. True: *k is the mean ratio. */
bool law_true_is(struct law_true *law, const struct sr_expr *expr, const double low[3],
                 const double high[3], double tolerance, double *k);
/* Of each row of a front; the simplest that is, with its *k, or -1. */
int law_true_find(struct law_true *law, const struct sr_front *front, const double low[3],
                  const double high[3], double tolerance, bool is_true[], double *k);

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
struct law_baselines {
    double log_r, log_scale_dt_r, constant; /* R^2 of log F_true */
};
int law_analyse_baselines(const struct law_forces *truth, struct law_baselines *baselines);
/* Of the rows of one sample. */
struct law_sample_facts {
    size_t rows;
    double k_dropped_m2; /* k of F = k m1 / r^2 by least absolute deviation, whatever
                            symreg.loss: about that of a law that misses m2 */
    double leverage;     /* largest share of sum |F| that one sequence has */
};
int law_analyse_sample(const struct law_forces *forces, int sample, struct law_sample_facts *facts);

#endif
