/* formula.h - parses formulas of laws into a tree with collected products and powers, for readable
 * output: ((m1 * (m2 * 39.4)) / (r * r)) becomes 39.4 m1 m2 r^-2. The tree has the formula's value
 * up to rounding; where a factor cancels, it may be defined where the formula is not. */
#ifndef REPORT_FORMULA_H
#define REPORT_FORMULA_H

#include "base/base.h"

enum { REPORT_FORMULA_NODES = 512, REPORT_FORMULA_WORD = 32 };

enum report_formula_kind {
    REPORT_FORMULA_NAME, /* a variable */
    /* a function of its children; "^" with two children is a power with a variable exponent */
    REPORT_FORMULA_CALL,
    REPORT_FORMULA_SUM, /* value + children */
    /* value times the children, each to its power; a number has no children */
    REPORT_FORMULA_PRODUCT,
};

struct report_formula_node {
    enum report_formula_kind kind;
    char word[REPORT_FORMULA_WORD]; /* name of a variable or function */
    double value;                   /* number in sums and products */
    double power;                   /* exponent as a factor of a product */
    int child, next;                /* indices of nodes, 0: none */
};

struct report_formula {
    bool failed;
    int root, count;
    struct report_formula_node node[REPORT_FORMULA_NODES]; /* node 0 stands for none */
};

/* Parses + - * / ^, brackets, numbers, names and function calls. False, without an error, where the
 * text is not such a formula or is too long. */
bool report_formula_read(const char *text, struct report_formula *formula);

/* Writes the content of a <math> element. Numbers have the fewest digits that give the value in the
 * text. */
void report_mathml_write(struct orr_file *html, const struct report_formula *formula);
/* Parses and writes a text; writes it unchanged where it is not a formula. */
void report_mathml(struct orr_file *html, const char *text);
/* A law in a table cell: "F = ..." in MathML, followed by the text on demand. A text that is not a
 * formula is written as it is. */
void report_mathml_law(struct orr_file *html, const char *text, const char *class_name);

#endif
