/* notations.h - the names of a table's columns in formulas of other notations. */
#ifndef SR_NOTATIONS_H
#define SR_NOTATIONS_H

#include "symreg/symreg.h"

/* The columns of a table and their names in C and SymPy: unique words of ASCII letters, digits and
 * "_" that are not keywords or names of <math.h> or SymPy. A column whose name already is such a
 * word keeps it. */
enum { SR_EXPORT_NAME = 64 };
struct sr_export {
    int features;
    const char *const *column;              /* (features) owned by the caller */
    char name[SR_FEATURES][SR_EXPORT_NAME]; /* (features) */
};
void sr_export_make(struct sr_export *names, const char *const *columns, int features);
/* Whether the exported name of a feature differs from its column's. */
bool sr_export_renamed(const struct sr_export *names, int feature);
/* Whether a notation is for people: LaTeX, MathML and SR_INFIX. */
bool sr_notation_typeset(enum sr_notation notation);
/* sr_expr_text() with the names appropriate to the notation. For people the formula is collected
 * before: sr_answer_formula(), which compares the values, or sr_expr_collect(). */
void sr_expr_write(const struct sr_language *language, const struct sr_expr *expr,
                   enum sr_notation notation, const struct sr_export *names, char *text,
                   size_t bytes);

/* Whether a name is reserved in C or SymPy. */
bool sr_export_reserved(const char *name);

#endif
