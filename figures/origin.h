/* origin.h - inside figures/: what a report is made from (stage/provenance.h). */
#ifndef REPORT_ORIGIN_H
#define REPORT_ORIGIN_H

#include "stage/provenance.h"
#include "report.h"

struct report_origin {
    struct orr_lineage lineage;
    struct orr_sources sources;
    struct cJSON *laws; /* what the laws of the run say they were made from, or NULL */
    char laws_digest[ORR_DIGEST], digest[ORR_DIGEST]; /* as they should be; laws: "" = none */
};
/* orbits: the data sets of the run where these are not of its settings, "" = they are. verdict: the
 * file of a grid's verdict that the page shows, "" = none. Close also after an error. */
int report_origin_open(struct report_origin *origin, const struct orr_cli *cli, const char *orbits,
                       const char *verdict);
void report_origin_close(struct report_origin *origin);
/* ORR_EINVAL naming laws or vectors that are there, but not what the settings make, or an
 * evaluation that is not. */
int report_origin_check(struct report_origin *origin, const char *run);
/* ORR_EINVAL when the laws of a run are not those of all sources of its settings; laws/laws.json
 * alone is read. */
int report_origin_laws(const char *run, const struct orr_settings *preset);
/* The same of its tables of force vectors, and that they are as they were written. */
int report_origin_vectors(const char *run, const struct orr_settings *preset);
/* Whether the report in `out` was made from them. */
int report_origin_status(const struct report_origin *origin, const char *out,
                         struct orr_artefact *page);
/* Writes report.made.json: what page and pictures were made from, their sizes and checksums. */
int report_origin_write(const struct report_origin *origin, const char *out,
                        const struct report_pictures *pictures);

#endif
