/* formula.h - formulas of laws, read into a tree whose products and powers are collected, so that
 * people can read them: ((m1 * (m2 * 39.4)) / (r * r)) is 39.4 m1 m2 r^-2. The value is the
 * formula's own up to rounding; where a factor cancels, the tree may have a value where the formula
 * has none. */
#ifndef REPORT_FORMULA_H
#define REPORT_FORMULA_H

#include "base/base.h"

enum { REPORT_FORMULA_NODES = 512, REPORT_FORMULA_WORD = 32 };

enum report_formula_kind {
    REPORT_FORMULA_NAME, /* a variable */
    REPORT_FORMULA_CALL, /* a function of its children; "^" of two is a power that is no number */
    REPORT_FORMULA_SUM,  /* value + children */
    REPORT_FORMULA_PRODUCT, /* value times the children, each to its power; a number has none */
};

struct report_formula_node {
    enum report_formula_kind kind;
    char word[REPORT_FORMULA_WORD]; /* of names and calls */
    double value;                   /* of sums and products: their number */
    double power;                   /* as a factor of a product */
    int child, next;                /* places of nodes, 0 = none */
};

struct report_formula {
    bool failed;
    int root, count;
    struct report_formula_node node[REPORT_FORMULA_NODES]; /* node 0 stands for none */
};

/* Reads + - * / ^, brackets, numbers, names and calls of functions. False: the text is no such
 * formula, or too long; that is no error. */
bool report_formula_read(const char *text, struct report_formula *formula);

/* Writes the content of a <math> element; numbers have the fewest digits that give the value of the
 * text. */
void report_mathml_write(struct orr_file *html, const struct report_formula *formula);
/* The same of a text; the text as it stands where it is no formula. */
void report_mathml(struct orr_file *html, const char *text);
/* A law in a cell: "F = ..." in MathML, behind it the text itself on demand; a text that is no
 * formula as it stands. */
void report_mathml_law(struct orr_file *html, const char *text, const char *class_name);

#endif
