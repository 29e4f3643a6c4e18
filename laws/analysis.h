/* analysis.h - inside laws/: analyses the forces of a run's orbits: whether a formula is the law of
 * the orbits, and statistics that need no formula. */
#ifndef LAWS_ANALYSIS_H
#define LAWS_ANALYSIS_H

#include "sim/sim.h"
#include "stage/settings.h"
#include "symreg/symreg.h"

/* ---- the table of forces */

/* The table forces_magnitude.csv of one source (docs/formats.md), in AU, solar masses, years. */
struct law_forces {
    size_t rows;
    int samples; /* largest sample number + 1 */
    double *sample, *sequence, *step, *r, *m1, *m2, *dt, *f_true, *f; /* (rows) each */
    double *line;  /* (rows) of the file, for messages; NULL of estimates */
    double *sigma; /* (rows) standard deviation of f where it is known, else NULL */
    void *storage;
};
/* Reads the table. ORR_EMISSING where the file is missing, with the command that makes it. */
int law_forces_read(const char *path, struct law_forces *forces);
/* Checks that a table has the rows of the truth's table, in any order: sample, sequence and step
 * are equal, and r, m1, m2, dt and F_true within LAW_SAME of each other. ORR_EFORMAT names file,
 * line, column, what is expected and what is found. The truth's table has F = F_true as well. */
#define LAW_SAME (8 * 1.1920928955078125e-7) /* some roundings of float32, in which labels are */
int law_forces_check(const char *path, const struct law_forces *forces, const char *truth_path,
                     const struct law_forces *truth);
void law_forces_free(struct law_forces *forces);

/* ---- the law of the run (true_law.c) */

enum { LAW_TEXT = 1024 };

/* The unit of k in k times the law: G where G multiplies the whole force, as in Newton's law; the
 * factor of a jump where that multiplies it, as in an expression; else 1. */
enum law_unit { LAW_UNIT_GRAVITY, LAW_UNIT_JUMP, LAW_UNIT_NONE };

/* The law of a run's orbits. Where G jumps, labels may lie on one side of the jump or on both, with
 * one k each. Laws that are not proportional to G have a different shape on each side. */
struct law_true {
    struct sim_dynamics dynamics;
    char name[LAW_TEXT]; /* "k m1 m2 / r^2", "k times the force of the law power, ..." */
    bool newton;         /* F = G m1 m2 / r^2 */
    enum law_unit unit;
    int sides;      /* 2: labels lie before and after the jump */
    size_t step[2]; /* a labelled step on each side */
    double k[2];    /* k of the law itself, on each side */
};
/* Creates the law of a preset, with labels at step 0. ORR_EUSAGE where an expression cannot be
 * parsed. Free the law after an error, too. */
int law_true_create(struct law_true *law, const struct orr_settings *settings);
void law_true_free(struct law_true *law);
/* Sets the range of labelled steps, `first` to `last`. */
void law_true_steps(struct law_true *law, size_t first, size_t last);
/* Median of |F_true / F - 1|, F the force of the law at the label's step: about 0 unless the labels
 * come from orbits of another law. */
int law_true_difference(struct law_true *law, const struct law_forces *truth, double *difference);

/* Decides numerically whether a formula of the features r, m1, m2 (0, 1, 2) is k times the law: at
 * fixed quasi-random points over the range of the data, extended by a factor of 2 on both sides,
 * the ratio may vary by `tolerance`, relative to its mean. Points where the law does not attract
 * are skipped; at least a quarter of the points must remain. If true, *k is the mean ratio. */
bool law_true_is(struct law_true *law, const struct sr_expr *expr, const double low[3],
                 const double high[3], double tolerance, double *k);
/* law_true_is() for each row of a front. Returns the simplest row that is the law, with its *k, or
 * -1. */
int law_true_find(struct law_true *law, const struct sr_front *front, const double low[3],
                  const double high[3], double tolerance, bool is_true[], double *k);

/* ---- statistics of forces */

struct law_interval {
    double value, low, high;
};
struct law_analysis {
    double r2_log;                   /* R^2 of log F against log F_true */
    double median_relative_error;    /* relative error of F */
    struct law_interval exponent[3]; /* exponents of r, m1, m2; 95% by bootstrap over sequences */
    size_t dropped;                  /* rows with F <= 0, excluded from logarithms */
};
/* Uses 200 resamples of whole sequences, keyed by `seed`. NaN where too few rows remain. */
int law_analyse(const struct law_forces *forces, uint64_t seed, struct law_analysis *result);
struct law_baselines {
    double log_r, log_scale_dt_r, constant; /* R^2 of log F_true */
};
int law_analyse_baselines(const struct law_forces *truth, struct law_baselines *baselines);
/* Statistics of the rows of one sample. */
struct law_sample_facts {
    size_t rows;
    /* k of F = k m1 / r^2 by least absolute deviations, whatever symreg.loss is: about the k of
     * a law that misses m2 */
    double k_dropped_m2;
    double leverage; /* largest share of sum |F| in one sequence */
};
int law_analyse_sample(const struct law_forces *forces, int sample, struct law_sample_facts *facts);

#endif
