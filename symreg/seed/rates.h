/* rates.h - inside symreg/: terms h g(c u) with a free rate c, as columns at a few rows.
 *
 * The bank holds formulas without constants in sums, so that exp(-0.37 t) or sin(2 p)
 * inside a sum is none of theirs. Here h is 1 or a product of columns, u a column, its square or
 * reciprocal, a product or quotient of two, or (x - b)^2; g is exp, tanh, a sine with a
 * phase, or a step 1 / (exp(c u) + d), as of a logistic curve. */
#ifndef SR_RATES_H
#define SR_RATES_H

#include "stages.h"
#include "symreg/value/vec.h"

enum {
    SR_RATES_ROWS = 256,             /* rows of the table, evenly spaced, at most */
    SR_RATES = 4096,                 /* pairs of g and c over all u, at most */
    SR_RATES_BLOCK = SR_VEC_COLUMNS, /* columns stored together; divides SR_RATES */
    SR_RATES_FACTORS = 40,
    SR_RATES_VARIABLES = 160
};

/* One column g(c u). A sine is two columns, its cosine after it. */
struct sr_rate {
    int variable; /* u; -1: the column 1, so that h alone is a term */
    /* SR_EXP, SR_TANH, SR_SIN; SR_COS for the second column of a sine; SR_INV for the step 1 /
     * (exp(c u) + d) */
    enum sr_op g;
    double c, d;
};
/* Formulas h or u with their values and the range of these. */
struct sr_rates_forms {
    int count, most;
    struct sr_expr expr[SR_RATES_VARIABLES];
    double value[SR_RATES_VARIABLES][SR_RATES_ROWS];
    double low[SR_RATES_VARIABLES], high[SR_RATES_VARIABLES], range[SR_RATES_VARIABLES];
};
/* Large: it is allocated, as zeros. */
struct sr_rates {
    /* blocks of columns, which caches hold: values, exponentials scaled to a maximum of 1;
     * values^2, of a cosine its product with the sine */
    float value[SR_RATES / SR_RATES_BLOCK][SR_RATES_ROWS][SR_RATES_BLOCK];
    float square[SR_RATES / SR_RATES_BLOCK][SR_RATES_ROWS][SR_RATES_BLOCK];
    int rows, count;
    int falls;           /* the first factor that is an exponential, for sines alone */
    struct sr_data data; /* (rows) */
    double *x;           /* storage of data */
    struct sr_rates_forms h, u;
    struct sr_rate rate[SR_RATES];
};

/* Lists what the operators (one bit each) can express for the rows of rates->data. */
void sr_rates_list(struct sr_rates *rates, uint64_t operators);

#endif
