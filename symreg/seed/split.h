/* split.h - inside symreg/: splits off a term, y = c m + rest, where m is a product of powers and
 * some column stands in m alone.
 *
 * Let L be the logarithm of that column and p its exponent in m. Then dy/dL = p c m is a product of
 * powers, which a linear fit to ln |dy/dL| shows, whatever the rest is. */
#ifndef SR_SPLIT_H
#define SR_SPLIT_H

#include "groups.h"
#include "stages.h"

/* Derivatives of ln |y| in the rows of a table. */
struct sr_gradients {
    int rows, columns;
    const double *line;    /* (columns, rows) logarithms of positive columns, centred */
    const double *slope;   /* (columns, rows) derivatives by `line` */
    const double *y;       /* (rows) up to a factor */
    const double *weight;  /* (rows), smaller where noise of ln |y| is larger */
    const bool *logarithm; /* (columns) whether the column is positive */
    double noise;          /* variance of ln |y| at the median |y| */
};
/* Lists the terms with the smallest contradiction, best first, none twice. */
void sr_split_find(const struct sr_gradients *g, struct sr_term list[SR_GROUP_TERMS], int *count);
/* Adds a term to such a list; of two with the same powers the smaller contradiction is kept. */
void sr_split_add(const struct sr_term *term, struct sr_term list[SR_GROUP_TERMS], int *count);
/* Searches y - c m over the other columns, unless more than noise of the variance `noise` keeps a
 * smooth function of them from it. The results, with the term added and fitted to the
 * table, become seeds. Only for the losses l2 and l1, and where + is an operator. ORR_ENOMEM. */
int sr_split_search(struct sr_proposal *p, const struct sr_term *term, double noise);

#endif
