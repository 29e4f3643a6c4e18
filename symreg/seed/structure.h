/* structure.h - inside symreg/: searches tables derived from groups, y = h phi(u1, ..., ur),
 * and what is left without a term. */
#ifndef SR_STRUCTURE_H
#define SR_STRUCTURE_H

#include "groups.h"
#include "stages.h"

/* A table with other columns: differences or sums, also of squares, that replace some columns, or
 * named constants. */
struct sr_view {
    struct sr_data data;
    double *x; /* storage, which the caller frees; NULL: the table itself */
    struct sr_expr column[SR_SMOOTH_COLUMNS]; /* in the columns of the table */
    struct sr_expr factor; /* y of the table is that of `data` times this; count 0: 1 */
};
/* The table of the proposal itself. */
void sr_view_init(const struct sr_proposal *p, struct sr_view *view);
/* Searches y / h over the groups of a table for up to 32 hypotheses: all by the cheapest stages,
 * and those with the smallest losses further. The results, written in the columns of the proposal's
 * table and fitted to it, become seeds. */
int sr_structure_compare(struct sr_proposal *p, const struct sr_view *view,
                         const struct sr_grouping *list, int count);
/* Searches y - c m over the other columns, unless more than noise of the variance `noise` keeps a
 * smooth function of them from it. The results, with the term added and fitted to the
 * table, become seeds. Only for the losses l2 and l1, and where + is an operator. ORR_ENOMEM. */
int sr_split_search(struct sr_proposal *p, const struct sr_term *term, double noise);

#endif
