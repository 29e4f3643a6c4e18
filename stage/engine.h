/* engine.h - what every stage of a run does about its outputs: says what is kept and what is made
 * again (--plan), finds what can be wrong before anything is made, and makes, one process at a time
 * in a folder. A stage is a row of functions about one output; `of` is the stage's own, holds which
 * output that is, and begins with its folder, char[4096]. */
#ifndef ORR_ENGINE_H
#define ORR_ENGINE_H

#include "cli.h"
#include "provenance.h"

/* The files of an output: its model, where it has one that counts, then what is made with it. */
struct orr_stage_output {
    int files;
    struct orr_artefact file[2];
};
/* One of them is refused. */
bool orr_output_refused(const struct orr_stage_output *output);

/* The ranks of a job, of which one judges for all (model/ranks/cluster.h). */
struct orr_stage_ranks {
    bool (*leads)(void);
    int (*agree)(int rc);
    int (*share)(void *data, size_t bytes, int root);
};
struct orr_stage_row {
    const char *doing;                   /* "training": what a process that waits is told */
    const struct orr_stage_ranks *ranks; /* NULL: one process */
    /* Takes the next output from number *i on that the settings and options ask for; *there = false
     * behind the last one. NULL: there is one. */
    int (*next)(void *of, int *i, bool *there);
    /* What is to be done about its files, by what is there. */
    int (*status)(void *of, struct orr_stage_output *output);
    /* Finds all that can be wrong with one that is to be made. */
    int (*check)(void *of, const struct orr_stage_output *output);
    /* The error of one that is refused. NULL: status refuses none. */
    int (*refuse)(void *of, const struct orr_stage_output *output);
    /* Says that it is complete. */
    int (*keep)(void *of);
    int (*make)(void *of, const struct orr_stage_output *output);
};
/* The status of one output, with a line of trace for each file. */
int orr_output_status(const struct orr_stage_row *row, void *of, struct orr_stage_output *output);
/* Keeps, makes or refuses it in its locked folder, by what is there then. */
int orr_output_make(const struct orr_stage_row *row, void *of);
/* The same of all outputs. */
int orr_stage_check(const struct orr_stage_row *row, void *of);
int orr_stage_make(const struct orr_stage_row *row, void *of);
/* --plan: lines on stdout as "remake  runs/a/lssar/pretrain/last.safetensors: pretrain.steps is 30,
 * expected 40". */
int orr_stage_plan(const struct orr_stage_row *row, void *of);

/* Neither --resume nor --plan is given: what is complete is made again. */
void orr_artefact_resume(const struct orr_cli *cli, struct orr_artefact *status);
/* One line of --plan, and the same through orr_trace(). */
void orr_artefact_plan(const struct orr_artefact *status);
void orr_artefact_trace(const struct orr_artefact *status);
/* --plan of a program that needs orbits, where a text is trained on: says that it has nothing to
 * do. False: another call. */
bool orr_plan_text(const struct orr_cli *cli, const char *program);

#endif
