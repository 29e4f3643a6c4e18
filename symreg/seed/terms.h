/* terms.h - inside symreg/: terms c m of y = c m + rest, where m is a product of powers and some
 * column stands in m alone.
 *
 * Let L be the logarithm of that column and p its exponent in m. Then dy/dL = p c m is a product of
 * powers, which a linear fit to ln |dy/dL| shows, whatever the rest is. */
#ifndef SR_TERMS_H
#define SR_TERMS_H

#include "groups.h"

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
void sr_terms_find(const struct sr_gradients *g, struct sr_term list[SR_GROUP_TERMS], int *count);
/* Adds a term to such a list; of two with the same powers the smaller contradiction is kept. */
void sr_terms_add(const struct sr_term *term, struct sr_term list[SR_GROUP_TERMS], int *count);
#endif
