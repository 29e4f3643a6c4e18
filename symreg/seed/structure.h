/* structure.h - inside symreg/: searches tables derived from groups, y = h phi(u1, ..., ur). */
#ifndef SR_STRUCTURE_H
#define SR_STRUCTURE_H

#include "groups.h"
#include "stages.h"

/* Products of powers of quantities: of a wanted dimension, or dimensionless groups (Buckingham's
 * theorem). */
enum { SR_QUANTITIES = 16, SR_PRODUCTS = 24 };
struct sr_product {
    double cost; /* rises with the exponents, more for half-integers */
    int half[SR_QUANTITIES];
};
/* Lists the simplest products of d[0 .. n-1], n at most SR_QUANTITIES, with the dimension `want`;
 * with want NULL, the dimensionless ones without a common divisor, of which u and 1 / u count once.
 * Best first; returns how many, at most SR_PRODUCTS. */
int sr_products_find(const struct sr_dimension *d, int n, const struct sr_dimension *want,
                     struct sr_product list[SR_PRODUCTS]);

/* A table with other columns: differences or sums, also of squares, that replace some columns, or
 * named constants. */
struct sr_view {
    struct sr_data data;
    double *x; /* storage, which the caller frees; NULL: the table itself */
    struct sr_expr column[SR_SMOOTH_COLUMNS]; /* in the columns of the table */
};
/* The table of the proposal itself. */
void sr_view_init(const struct sr_proposal *p, struct sr_view *view);
/* Rewrites a formula of a view's columns in the table's columns; false where it is too long. */
bool sr_view_write(const struct sr_proposal *p, const struct sr_view *view, struct sr_expr *expr);
/* Writes a product of powers of features. False where operators are missing. Count 0: the product
 * is 1. */
bool sr_powers_write(const struct sr_language *language, uint64_t operators,
                     const struct sr_powers *powers, struct sr_expr *out);
/* Searches y / h over the groups of a table for up to 32 hypotheses: all by the cheapest stages,
 * and those with the smallest losses further. The results, written in the columns of the proposal's
 * table and fitted to it, become seeds. */
int sr_structure_compare(struct sr_proposal *p, const struct sr_view *view,
                         const struct sr_grouping *list, int count);

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
