/* derived.h - inside symreg/: tables derived from a table, and what is found there in its columns. */
#ifndef SR_DERIVED_H
#define SR_DERIVED_H

#include "stages.h"

/* Settings of a search on a derived table: small formulas, which need not be admissible. */
struct sr_settings sr_derived_settings(const struct sr_settings *of_table);
/* Runs stages of the proposal `own` of a derived table within the limit of p. */
int sr_derived_run(struct sr_proposal *p, struct sr_proposal *own, unsigned stages);
/* Writes a formula of the derived table in the columns of the table itself; false where that is
 * impossible. */
typedef bool sr_derived_write(const struct sr_proposal *p, const void *derived,
                              const struct sr_expr *phi, struct sr_expr *out);
/* Fits what was found in a derived table, of loss `own`, to the table itself and adds the best of
 * every size, at most per_size, to the seeds. *least becomes the smallest of its own value and the
 * losses. */
int sr_derived_add(struct sr_proposal *p, const struct sr_loss *own, const struct sr_seeds *found,
                   int per_size, sr_derived_write *write, const void *derived, double *least);

#endif
