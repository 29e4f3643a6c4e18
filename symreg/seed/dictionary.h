/* dictionary.h - inside symreg/: columns of small formulas without constants over many rows, and
 * the factors h of y = h H(sum of columns). */
#ifndef SR_DICTIONARY_H
#define SR_DICTIONARY_H

#include "sums.h"
#include "symreg/value/vec.h"

enum {
    SR_DICTIONARY_ROWS = 256,             /* rows of the table, evenly spaced */
    SR_DICTIONARY = 8192,                 /* formulas */
    SR_DICTIONARY_BLOCK = SR_VEC_COLUMNS, /* columns stored together; divides SR_DICTIONARY */
    SR_DICTIONARY_SMALL = 192,            /* the simplest formulas, whose dot products are stored */
    /* h: 1, a power law and its parts, the closest factors of factors.c */
    SR_DICTIONARY_FACTORS = 14,
};

struct sr_dictionary {
    int count;
    struct sr_expr *expr; /* (SR_DICTIONARY) */
    /* (SR_DICTIONARY / SR_DICTIONARY_BLOCK, SR_DICTIONARY_ROWS, SR_DICTIONARY_BLOCK) blocks of
     * columns, which caches hold: mean 0, length 1 */
    float (*column)[SR_DICTIONARY_ROWS][SR_DICTIONARY_BLOCK];
    double (*value)[SR_DICTIONARY_ROWS]; /* (SR_DICTIONARY) */
    double (*unit)[SR_DICTIONARY_ROWS];  /* (SR_DICTIONARY_SMALL): mean 0, length 1 */
    double gram[SR_DICTIONARY_SMALL][SR_DICTIONARY_SMALL]; /* dot products of the units */
    struct sr_data data;                                   /* (SR_DICTIONARY_ROWS) */
    double *x;
    int factors;
    struct sr_expr factor[SR_DICTIONARY_FACTORS]; /* count 0: the factor 1 */
};

/* Makes columns of the first `entries` of the bank, and factors of the given operators (one bit
 * each), for a table of at least SR_DICTIONARY_ROWS rows. The caller frees the dictionary, after
 * errors too. */
int sr_dictionary_init(struct sr_dictionary *dictionary, const struct sr_bank *bank, int entries,
                       uint64_t operators, const struct sr_data *data);
void sr_dictionary_free(struct sr_dictionary *dictionary);
/* Scales a vector over the rows to mean 0 and length 1; false when it hardly varies. */
bool sr_dictionary_unit(const double *value, double *unit);

#endif
