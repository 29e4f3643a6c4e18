/* formulas.h - shortcuts of the library's tests: counts of an answer, formulas by their text. */
#ifndef TEST_FORMULAS_H
#define TEST_FORMULAS_H

#include "api/orrery.h"

static inline int rows_of(struct orrery_regression *r, int *rows)
{
    struct orrery_counts counts = {.bytes = sizeof counts};
    const int status = orrery_regression_counts(r, &counts);
    *rows = counts.rows;
    return status;
}

/* Evaluates a text with the names of the table; NaN stands for no finite value. */
static inline int evaluate_text(const char *text, const char *define,
                                const struct orrery_table *table, double *y)
{
    struct orrery_formula *f;
    int status =
        orrery_formula_parse(ORRERY_INTERFACE, text, table->names, table->columns, define, &f);
    if (!status)
        status = orrery_formula_evaluate(f, table, y);
    orrery_formula_free(f);
    return status;
}

#endif
