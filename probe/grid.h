/* grid.h - inside probe/: results of a grid of settings, by factor and level, and what each factor
 * does to a figure. */
#ifndef PROBE_GRID_H
#define PROBE_GRID_H

#include "files.h"

enum { PROBE_FACTORS = 6, PROBE_LEVELS = 32 };

/* A setting in which the files differ, "attention", the model's own, or several settings that are
 * not crossed: "orbits.law, orbits.law_a0" with levels "newton, -" and "mond, 20". */
struct probe_factor {
    char name[ORR_NAME];
    int count;
    char level[PROBE_LEVELS][ORR_NAME]; /* numbers ascending, others as the files have them; the
                                           first is the baseline */
};

/* value (count) = the levels; false where one is no number. */
bool probe_factor_numbers(const struct probe_factor *factor, double value[PROBE_LEVELS]);

/* Every combination of levels is a place, the last factor's level changing fastest. */
struct probe_grid {
    struct probe_factor factor[PROBE_FACTORS];
    int factors, places, seeds;
    const struct probe_file **file; /* (places, seeds), NULL where there is none */
    uint64_t *seed;                 /* (seeds) */
};
/* Of files of one probe and stage; seed is no factor. Files that do not hold their settings, two of
 * one place and seed, more factors or levels than there is room for: ORR_EFORMAT, ORR_EINVAL.
 * probe_grid_free() it also after an error. */
int probe_grid_create(struct probe_grid *grid, const struct probe_file *files, int n);
void probe_grid_free(struct probe_grid *grid);
/* Level of a factor at a place, and the place with another level of it. */
int probe_grid_level(const struct probe_grid *grid, int place, int factor);
int probe_grid_place(const struct probe_grid *grid, int place, int factor, int level);

/* Of one row of every file, (places, contexts, seeds), NaN = none. */
struct probe_numbers {
    double *value, *upper_bound, *baseline, *raw; /* value owns them: free() it */
};
/* Contexts in place of the row's own; none (0): that one. ORR_ENOMEM. */
int probe_grid_numbers(const struct probe_grid *grid, const struct probe_row *row,
                       const int *context, int contexts, struct probe_numbers *numbers);

/* value (places, seeds), NaN = none. */

/* What a level does: the difference to the baseline of the factor at the same levels of all others,
 * averaged over them, one number per seed that has all of them, and their mean. Of two factors
 * (factor[1] >= 0) what their levels do together beyond what each does alone: the difference of
 * differences. */
struct orr_mean probe_effect(const struct probe_grid *grid, const double *value,
                             const int factor[2], const int level[2]);

/* A line of the analysis of variance of a complete grid. Cells of a seed share its data and first
 * weights, so that seeds are blocks, not repetitions: what a factor does is held against how seeds
 * differ in just that (repeated measures; Montgomery, Design and Analysis of Experiments, chapters
 * 4 and 15). Sphericity is taken for granted: with more than one degree of freedom p is a little
 * too small where it fails. */
struct probe_variance {
    int factor[2];   /* the second -1: of one factor by itself; both -1: of seeds, and the rest */
    double share, F; /* of the sum of squares; F NaN for the last two lines */
    double p;        /* probability of so large an F by chance */
    int freedom[2];  /* of the factor, and of seeds in it */
};
/* lines: factors + factors (factors - 1) / 2 + 2, the last two of seeds as a whole and of the rest:
 * interactions with seeds, and of three and more factors. false where a place lacks a seed, or
 * there are not two. */
bool probe_variances(const struct probe_grid *grid, const double *value,
                     struct probe_variance *line);

#endif
