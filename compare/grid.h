/* grid.h - inside compare/: results of a grid of settings, by factor and level, and the effects of
 * the factors. */
#ifndef COMPARE_GRID_H
#define COMPARE_GRID_H

#include "files.h"

enum { COMPARE_FACTORS = 6, COMPARE_LEVELS = 32 };

/* A setting in which the files differ; "attention" is the model's own. Settings that are not
 * crossed form one factor: "orbits.law, orbits.law_a0" with levels "newton, -" and "mond, 20". */
struct compare_factor {
    char name[ORR_NAME];
    int count;
    /* numbers in ascending order, others in the order of the files; the first is the baseline */
    char level[COMPARE_LEVELS][ORR_NAME];
};

/* Fills value (count) with the levels as numbers; false where one is not a number. */
bool compare_factor_numbers(const struct compare_factor *factor, double value[COMPARE_LEVELS]);

/* A grid: every combination of levels is a place; the last factor's level changes fastest. */
struct compare_grid {
    struct compare_factor factor[COMPARE_FACTORS];
    int factors, places, seeds;
    int contexts, context[COMPARE_LEVELS]; /* levels of the last factor, if it is one; else 0 */
    uint64_t *seed;                        /* (seeds) */
    int *at; /* (files) place times seeds, plus the number of the seed */
};
/* Makes a grid of the files of one probe and stage; the seed is not a factor. ORR_EFORMAT or
 * ORR_EINVAL where files do not record their settings, two files have the same place and seed, or
 * there are too many factors or levels. Call compare_grid_free() after an error, too. */
int compare_grid_create(struct compare_grid *grid, const struct compare_files *files);
void compare_grid_free(struct compare_grid *grid);
/* The level of a factor at a place; and the place with that factor's level replaced. */
int compare_grid_level(const struct compare_grid *grid, int place, int factor);
int compare_grid_place(const struct compare_grid *grid, int place, int factor, int level);

/* Fills the crossed table with the rows of a quantity at every place and seed (places, seeds),
 * without numbers where missing; the contexts of the grid stand in place of the row's. Models are
 * named by numbers of factors and levels, "0=1 1=0", because levels may be any text: a contrast of
 * "1=2" from "1=0" is the effect of factor 1, level 2. ORR_ENOMEM. */
int compare_grid_rows(const struct compare_grid *grid, const struct compare_files *files,
                      const struct orr_row *row, struct orr_table *rows);

/* A line of the analysis of variance of a complete grid. Runs of one seed share data and initial
 * weights, so seeds are blocks, not repetitions: the effect of a factor is compared with its
 * variation between seeds (repeated measures; Montgomery, Design and Analysis of Experiments,
 * chapters 4 and 15). Sphericity is assumed: where it fails, p is slightly too small for more than
 * one degree of freedom. */
struct compare_variance {
    int factor[2];   /* factor[1] = -1: main effect; both -1: seeds, and the remainder */
    double share, F; /* share of the total sum of squares; F is NaN in the last two lines */
    double p;        /* probability of an F at least as large by chance */
    int freedom[2];  /* degrees of freedom of the effect, and of its variation between seeds */
};
/* Fills lines: factors + factors (factors - 1) / 2 + 2. The last two are the seeds as a whole, and
 * the remainder (interactions with seeds, and of three or more factors). rows: see
 * compare_grid_rows(). False where a place lacks a seed or there are fewer than two seeds. */
bool compare_variances(const struct compare_grid *grid, const struct orr_table *rows,
                       struct compare_variance *line);

#endif
