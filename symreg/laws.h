/* laws.h - inside symreg/: everything known about the sources of a run, ready to be written. */
#ifndef SR_LAWS_H
#define SR_LAWS_H

#include "analysis.h"
#include "base/provenance.h"

enum { SR_SOURCES = ORR_LIST + 3 };

/* One sample of one source. */
struct sr_law_sample {
    double *x, *y;          /* (3, rows), (rows): one block, x owns it */
    double low[3], high[3]; /* range of r, m1, m2 */
    struct sr_fit fit;
    struct sr_sample_facts facts;
    int true_row; /* simplest row of the front that is k m1 m2 / r^2, -1 = none */
    double k;     /* its constant */
    bool row_true[SR_NODES + 1];
};

struct sr_law_source {
    char name[ORR_NAME];
    char path[4096]; /* forces_magnitude.csv */
    struct sr_forces forces;
    struct sr_analysis analysis;
    struct sr_law_sample *sample; /* (forces.samples) */
};

struct sr_laws {
    const struct orr_cli *cli;
    char folder[4096]; /* <run>/laws, or --out */
    char checkpoint[4096];
    struct orr_chain chain;
    char digest[ORR_DIGEST]; /* of what these laws are made from */
    int sources;
    struct sr_law_source source[SR_SOURCES]; /* the first is truth */
    struct sr_floors floors;
};

/* Names of the features, in the order of the columns of x. */
extern const char *const sr_law_features[3];

/* Of a search that was stopped: the fronts so far, where no laws.json tells of a whole one, and
 * ORR_EINTR with a message that says how to go on. */
int sr_laws_stopped(const struct sr_laws *laws);
/* Writes the fronts, laws.md and at last laws.json. */
int sr_laws_write(const struct sr_laws *laws);
/* Copies laws.md to standard output. */
int sr_laws_print(const struct sr_laws *laws);

#endif
