/* engine.h - how every stage of a run handles its outputs: shows which are kept and which are
 * remade (--plan), finds errors before anything is made, and makes outputs, with one process at a
 * time in a folder. A stage is a row of functions on one output. Their argument `of` is the stage's
 * own struct: it identifies the output and begins with its folder, char[4096]. */
#ifndef ORR_ENGINE_H
#define ORR_ENGINE_H

#include "cli.h"
#include "provenance.h"

/* The files of an output: its model, if it has one that counts, then the file made with it. */
struct orr_stage_output {
    int files;
    struct orr_artefact file[2];
};
/* Whether one of the files is refused. */
bool orr_output_refused(const struct orr_stage_output *output);

/* The ranks of a job, of which one decides for all (model/ranks/cluster.h). */
struct orr_stage_ranks {
    bool (*leads)(void);
    int (*agree)(int rc);
    int (*share)(void *data, size_t bytes, int root);
};
struct orr_stage_row {
    const char *doing;                   /* "training": shown to waiting processes */
    const struct orr_stage_ranks *ranks; /* NULL: one process */
    /* Takes the next output that settings and options request, from number *i on; *there = false
     * after the last one. NULL: there is one output. */
    int (*next)(void *of, int *i, bool *there);
    /* Decides what to do about the output's files, from the files that exist. */
    int (*status)(void *of, struct orr_stage_output *output);
    /* Finds all errors of an output before it is made. */
    int (*check)(void *of, const struct orr_stage_output *output);
    /* The error of a refused output. NULL: status refuses none. */
    int (*refuse)(void *of, const struct orr_stage_output *output);
    /* Reports that the output is complete. */
    int (*keep)(void *of);
    int (*make)(void *of, const struct orr_stage_output *output);
};
/* The status of one output, with a line of trace for each file. */
int orr_output_status(const struct orr_stage_row *row, void *of, struct orr_stage_output *output);
/* Locks the output's folder, reads its status again, then keeps, makes or refuses it. */
int orr_output_make(const struct orr_stage_row *row, void *of);
/* orr_stage_check() checks and orr_stage_make() makes all outputs of a stage. */
int orr_stage_check(const struct orr_stage_row *row, void *of);
int orr_stage_make(const struct orr_stage_row *row, void *of);
/* --plan: prints lines to stdout such as "remake  runs/a/lssar/pretrain/last.safetensors:
 * pretrain.steps is 30, expected 40". */
int orr_stage_plan(const struct orr_stage_row *row, void *of);

/* Without --resume and --plan, turns the status of a complete file into "remake". */
void orr_artefact_resume(const struct orr_cli *cli, struct orr_artefact *status);
/* Prints a status as one line of --plan; orr_artefact_trace() prints it through orr_trace(). */
void orr_artefact_plan(const struct orr_artefact *status);
void orr_artefact_trace(const struct orr_artefact *status);
/* --plan of a program that needs orbits while the run trains on a text: reports that there is
 * nothing to do. False for any other call. */
bool orr_plan_text(const struct orr_cli *cli, const char *program);

#endif
