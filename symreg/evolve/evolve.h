/* evolve.h - the search: islands of formulas that evolve, on one pool of threads. */
#ifndef SR_EVOLVE_H
#define SR_EVOLVE_H

#include "symreg/propose/propose.h"

/* One fit: a table, and the restarts' best front. */
struct sr_fit {
    struct sr_data data;
    uint64_t stream;       /* keys the random streams: the sample's number */
    struct sr_front front; /* result: of the restart with the highest score */
    double evaluations;    /* result: formulas evaluated on all rows, all restarts */
    double screened;       /* result: formulas discarded after a look at few rows */
};
/* Fits all tables with `threads` threads, results independent of their number. At a signal it
 * returns ORR_EINTR with the fronts found so far. progress may be NULL. */
int sr_search(const struct sr_settings *settings, struct sr_fit *fits, int count, int threads,
              struct orr_progress *progress);

#endif
