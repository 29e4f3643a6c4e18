/* split.h - inside symreg/: splits off a term (terms.h), y = c m + rest. */
#ifndef SR_SPLIT_H
#define SR_SPLIT_H

#include "groups.h"
#include "stages.h"

/* Searches y - c m over the other columns, unless more than noise of the variance `noise` keeps a
 * smooth function of them from it. The results, with the term added and fitted to the
 * table, become seeds. Only for the losses l2 and l1, and where + is an operator. ORR_ENOMEM. */
int sr_split_search(struct sr_proposal *p, const struct sr_term *term, double noise);

#endif
