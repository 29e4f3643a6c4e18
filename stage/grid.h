/* grid.h - a grid of experiments: a preset, axes of settings, and the steps of each cell. A cell is
 * one level of every axis, with a run folder of its own and commands that make its results. The
 * form of the file is in docs/compare.md. */
#ifndef ORR_GRID_H
#define ORR_GRID_H

#include <stdbool.h>
#include <stddef.h>

enum {
    ORR_GRID_AXES = 16,
    ORR_GRID_LEVELS = 256,
    ORR_GRID_STEPS = 16,
    ORR_GRID_WORDS = 160, /* of a line, and of the settings of all cells */
    ORR_CELL_WORDS = 640  /* of one command */
};

/* Words, which belong to the grid. */
struct orr_words {
    const char *word[ORR_GRID_WORDS];
    int count;
};
/* A level of an axis: its part of a cell's name, and its settings as options. */
struct orr_level {
    const char *tag;
    struct orr_words options;
};
/* What an axis' settings change first. */
enum orr_grid_stage { ORR_GRID_DATA = 1, ORR_GRID_MODELS, ORR_GRID_LATER };
struct orr_axis {
    const char *name;
    enum orr_grid_stage stage;
    int levels;
    struct orr_level *level;
};
struct orr_step {
    const char *program; /* "orbits" to "probe", or "cell": the results as one small file */
    struct orr_words own;
};
struct orr_grid {
    const char *file, *preset, *folder; /* folder: of all cells, below the folder of runs */
    struct orr_words common;            /* settings of all cells, as options */
    struct orr_axis axis[ORR_GRID_AXES];
    struct orr_step step[ORR_GRID_STEPS];
    int axes, steps;
    long cells;
    void *texts; /* that words point into */
};

/* Reads a grid; free it with orr_grid_free(), after an error as well. ORR_EMISSING where there is
 * no such file; ORR_EFORMAT names file, line, what was expected and what was found: unknown words
 * and settings, values outside their range, two levels of the same settings, two cells of one
 * name. */
int orr_grid_read(const char *file, struct orr_grid *grid);
void orr_grid_free(struct orr_grid *grid);

/* Where cells are made, and by what. */
struct orr_grid_place {
    const char *runs;    /* the folder of runs */
    const char *self;    /* argv[0] of bin/orrery, beside which the programs are */
    const char *threads; /* of each program */
    bool force;          /* data sets and trainings of other settings are replaced */
};
/* A command of a cell. shared: the run folder that it makes for several cells, "": the cell's own.
 */
struct orr_cell_command {
    char program[4096], run[4096], shared[4096], orbits[4096];
    const char *argv[ORR_CELL_WORDS]; /* ended by NULL; points into the command, grid and place */
    int argc;
};
/* Name of cell `i`, 0 to grid->cells - 1, where the levels of the last axis change first: the tags
 * of its levels, "softmax-noise_au0.02-seed1". ORR_EINVAL where it is too long for a file. */
enum { ORR_CELL_NAME = 240 };
int orr_grid_cell_name(const struct orr_grid *grid, long i, char name[ORR_CELL_NAME]);
/* ORR_EFORMAT names the first cell whose name another one has. */
int orr_grid_check_names(const struct orr_grid *grid);
/* The run folder of a cell: RUNS/FOLDER/NAME. */
int orr_grid_cell_folder(const struct orr_grid *grid, const struct orr_grid_place *place, long i,
                         char folder[4096]);
/* Step `s` of cell `i`. */
int orr_grid_command(const struct orr_grid *grid, const struct orr_grid_place *place, long i, int s,
                     struct orr_cell_command *command);

#endif
