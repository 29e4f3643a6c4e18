/* origin.h - inside figures/: what a report is made from (stage/provenance.h). */
#ifndef REPORT_ORIGIN_H
#define REPORT_ORIGIN_H

#include "stage/provenance.h"
#include "report.h"

struct report_origin {
    struct orr_lineage lineage;
    struct orr_sources sources;
    struct cJSON *laws; /* the record of what the run's laws were made from, or NULL */
    /* expected digests; laws_digest "": no laws */
    char laws_digest[ORR_DIGEST], digest[ORR_DIGEST];
};
/* orbits: the data sets of the run where they do not follow from its settings; "": they do. Close
 * the origin after an error, too. */
int report_origin_open(struct report_origin *origin, const struct orr_cli *cli, const char *orbits,
                       const struct orr_answers *answers);
void report_origin_close(struct report_origin *origin);
/* ORR_EINVAL, naming the files, where existing laws, vectors or the evaluation do not match the
 * settings. */
int report_origin_check(struct report_origin *origin, const char *run);
/* ORR_EINVAL where the run's laws are not those of all sources of its settings. Reads only
 * laws/laws.json. */
int report_origin_laws(const char *run, const struct orr_settings *settings);
/* Checks the run's tables of force vectors: that they match the settings and are unchanged. */
int report_origin_vectors(const char *run, const struct orr_settings *settings);
/* Whether the report in `out` was made from the current inputs. */
int report_origin_status(const struct report_origin *origin, const char *out,
                         struct orr_artefact *page);
/* Writes report.made.json: what pages and pictures were made from, their sizes and checksums. */
int report_origin_write(const struct report_origin *origin, const char *out,
                        const struct report_pictures *pictures, bool lab);

#endif
