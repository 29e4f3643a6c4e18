/* laws.h - inside laws/: the results for the sources of a run, before they are written. */
#ifndef LAWS_LAWS_H
#define LAWS_LAWS_H

#include "analysis.h"
#include "stage/engine.h"

enum { LAW_SOURCES = ORR_SOURCES };

/* One sample of one source. */
struct law_sample {
    double *x, *y, *weight; /* (3, rows), (rows), (rows) or NULL: one block, owned by x */
    double low[3], high[3]; /* range of r, m1, m2 */
    struct sr_fit fit;
    struct law_sample_facts facts;
    int true_row; /* simplest row of the front that is k times the run's law; -1: none */
    double k;     /* k of that row */
    bool row_true[SR_NODES + 1];
};

struct law_source {
    char name[ORR_NAME];
    char path[4096]; /* forces_magnitude.csv; of positions the folder of the data set */
    struct law_forces forces;
    struct law_analysis analysis;
    struct law_sample *sample; /* (forces.samples) */
};

struct laws {
    char folder[4096]; /* <run>/laws, or --out */
    const struct orr_cli *cli;
    const char *program; /* its name in notes */
    char checkpoint[4096];
    struct sr_settings settings;
    bool has_read; /* tables and their statistics were read */
    struct orr_lineage lineage;
    struct orr_answers answers; /* sources that are models of other programs */
    const char *orbits;         /* --orbits, NULL: none was given */
    bool positions; /* these laws have, or are to have, the source "positions", the last one */
    char digest[ORR_DIGEST]; /* digest of the inputs of these laws */
    int sources;
    struct law_source source[LAW_SOURCES]; /* the truth first */
    struct law_baselines baselines;
    struct law_true true_law;
    double labels_differ; /* relative difference of the labels from the true law; 0: none */
};

/* ---- the source "positions" (positions.c) */

/* Why a run of these settings cannot have it; NULL: it can. */
const char *law_positions_lack(const struct orr_settings *settings);
/* Whether its data set is there: that of the settings, or with --orbits any. */
bool law_positions_there(const struct orr_cli *cli, const char *orbits);
/* Opens two_body_test after it was verified; path (4096): its folder. */
int law_positions_open(const struct orr_cli *cli, const char *orbits, char *path,
                       struct sim_dataset *set);
/* Estimates forces and their errors from coordinates, time steps and masses of the sequences in
 * each sample of `truth`, at most as many rows as there. Reads sample and sequence of `truth`, and
 * no force of the data set. f_true is the law's force. ORR_EINVAL: too few rows have noise below
 * their value. */
int law_positions_estimate(const struct sim_dataset *set, const struct law_forces *truth,
                           int threads, struct law_true *law, struct law_forces *forces);

/* What bin/laws does: fits every source and sample, writes laws/, prints the table of laws. Tables
 * of forces that do not match the settings are refused; the message names the difference. orbits:
 * the folder of the data sets; "": the one that the settings name. answers: folders DIR,DIR of
 * models of other programs, which are sources, too; "": none. program: with which notes begin. */
int laws_run(const struct orr_cli *cli, const char *orbits, const char *answers,
             const char *program);
/* For an interrupted search: writes the fronts so far, unless laws.json records complete ones, and
 * returns ORR_EINTR with a message that says how to resume. */
int laws_stopped(const struct laws *laws);
/* Writes the fronts, laws.md and finally laws.json. */
int laws_write(const struct laws *laws);
/* Copies laws.md to standard output. */
int laws_print(const struct laws *laws);

#endif
