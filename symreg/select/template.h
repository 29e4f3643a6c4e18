/* template.h - a given form with unknown parts: functions of named columns, and constants. */
#ifndef SR_TEMPLATE_H
#define SR_TEMPLATE_H

#include "formula/expr.h"

enum { SR_PARTS = 8 }; /* unknown parts of a template, at most */
/* An unknown function of columns, or an unknown constant. */
struct sr_part {
    char name[SR_OP_NAME];
    int columns;      /* 0: a constant */
    double low, high; /* bounds of a constant */
    uint8_t column[SR_FEATURES];
};
/* In the form, part k is the leaf SR_FEATURE with the number SR_FEATURES + k, and numbers are
 * SR_FIXED. Each part stands once. A formula is an instance of the template where it differs from
 * the form in its parts alone, whose subtrees stand at equal places of both. */
struct sr_template {
    const struct sr_language *language;
    struct sr_expr form;
    int parts, functions; /* functions: parts that are not constants */
    struct sr_part part[SR_PARTS];
};
/* The nodes of a part in a formula. */
struct sr_span {
    int start, size;
};

/* Reads "f(r) + g(m) * h" over the columns names[0 .. features-1]. Words that are called and are no
 * known function are unknown functions; other unknown words are constants, but pi. `others`
 * (count) are words that must not be taken for constants, as columns that are no features.
 * ORR_EUSAGE, with what is wrong. */
int sr_template_parse(struct sr_template *form, const struct sr_language *language,
                      const char *text, const char *const *names, int features,
                      const char *const *others, size_t count);
/* Reads "k>0, 0<p<1" into the bounds of the template's constants. Bounds belong to the range: a fit
 * stops there, and "<" and "<=" are alike. ORR_EUSAGE, with what is wrong. */
int sr_template_bounds(struct sr_template *form, const char *text);
/* Fills the bounds of an instance's numbers: sr_language's `bounds`, whose context is the form. */
void sr_template_limits(const void *form, const struct sr_expr *expr, double *low, double *high);
/* Finds the parts of a measured formula. False where it differs from the form elsewhere. */
bool sr_template_find(const struct sr_template *form, const struct sr_expr *expr,
                      struct sr_span span[SR_PARTS]);
/* Marks the template's numbers in a formula that was parsed, so that no fit changes them. False,
 * with expr unchanged, where the formula is no instance. */
bool sr_template_adopt(const struct sr_template *form, struct sr_expr *expr);
/* Whether a formula is an instance whose functions have only their own columns and whose constants
 * are numbers. */
bool sr_template_admits(const struct sr_template *form, const struct sr_expr *expr);
/* Copies function k of an instance; feature i of `part` is the function's i-th column. */
bool sr_template_take(const struct sr_template *form, int k, const struct sr_expr *expr,
                      struct sr_expr *part);
/* Replaces part k of an instance, or of the form itself. False, with expr unchanged, where the
 * result has more than `limit` nodes. */
bool sr_template_put(const struct sr_template *form, int k, const struct sr_expr *part, int limit,
                     struct sr_expr *expr);
/* Prints the heading of part k, "f(r)" or "h", and its formula in an instance. */
void sr_template_head(const struct sr_template *form, int k, const char *const *names, char *text,
                      size_t bytes);
void sr_template_text(const struct sr_template *form, int k, const struct sr_expr *expr,
                      const char *const *names, char *text, size_t bytes);

#endif
