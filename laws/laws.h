/* laws.h - inside laws/: everything known about the sources of a run, ready to be written. */
#ifndef LAWS_LAWS_H
#define LAWS_LAWS_H

#include "analysis.h"
#include "stage/engine.h"

enum { LAW_SOURCES = ORR_LIST + 3 };

/* One sample of one source. */
struct law_sample {
    double *x, *y;          /* (3, rows), (rows): one block, x owns it */
    double low[3], high[3]; /* range of r, m1, m2 */
    struct sr_fit fit;
    struct law_sample_facts facts;
    int true_row; /* simplest row of the front that is k times the run's law, -1 = none */
    double k;     /* its constant */
    bool row_true[SR_NODES + 1];
};

struct law_source {
    char name[ORR_NAME];
    char path[4096]; /* forces_magnitude.csv */
    struct law_forces forces;
    struct law_analysis analysis;
    struct law_sample *sample; /* (forces.samples) */
};

struct laws {
    char folder[4096]; /* <run>/laws, or --out */
    const struct orr_cli *cli;
    char checkpoint[4096];
    struct sr_settings settings;
    bool has_read; /* tables and what is known of them */
    struct orr_lineage lineage;
    char digest[ORR_DIGEST]; /* of what these laws are made from */
    int sources;
    struct law_source source[LAW_SOURCES]; /* the first is truth */
    struct law_baselines baselines;
    struct law_true true_law;
    double labels_differ; /* of the labels from the true law, 0 = none */
};

/* Names of the features, in the order of the columns of x. */
extern const char *const law_features[3];

/* Run directory mode of bin/symreg: fits every source and sample, writes laws/, prints the table
 * of laws. Tables of forces that are not what the settings make are refused, naming what differs;
 * orbits: the data sets that they are of where these are not of the settings, "" = they are. */
int laws_run(const struct orr_cli *cli, const char *orbits);
/* Of a search that was stopped: the fronts so far, where no laws.json tells of a whole one, and
 * ORR_EINTR with a message that says how to go on. */
int laws_stopped(const struct laws *laws);
/* Writes the fronts, laws.md and at last laws.json. */
int laws_write(const struct laws *laws);
/* Copies laws.md to standard output. */
int laws_print(const struct laws *laws);

#endif
