/* analysis.h - inside laws/: forces of a run's orbits: is a formula the true law, and what do
 * the numbers say without any formula? */
#ifndef LAWS_ANALYSIS_H
#define LAWS_ANALYSIS_H

#include "symreg/symreg.h"

/* ---- the true law */

/* Decides numerically whether a formula of the features r, m1, m2 (0, 1, 2) is k m1 m2 / r^2: at
 * fixed quasi-random points over twice the range of the data both ways, the ratio may vary by
 * `tolerance`, relative to its mean. True: *k is the mean ratio. */
bool law_check(const struct sr_expr *expr, const double low[3], const double high[3],
               double tolerance, double *k);
/* The simplest row of a front that passes, -1 when none does. */
int law_find(const struct sr_front *front, const double low[3], const double high[3],
             double tolerance, double *k);

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
