/* mathml.c - writes formulas in MathML Core, which browsers render natively: fractions, powers,
 * roots, and m1 as m with the subscript 1. */
#include "formula.h"
#include "report.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIMES        "<mo>&#x2062;</mo>"                   /* invisible, but read aloud */
#define TIMES_NUMBER "<mo rspace=\"0.15em\">&#x2062;</mo>" /* with a thin space after a number */
#define MINUS        "<mo>&#x2212;</mo>"

struct writer {
    struct orr_file *html;
    const struct report_formula *f;
};

static void write_node(const struct writer *w, int node);
static void write_product(const struct writer *w, int node, bool with_sign);

enum { LONG = 12 };

/* The fewest digits that read back as the number to within 2^-52, the rounding error of collecting
 * factors. Returns how many they are. */
static int shortest_digits(double value, char text[64])
{
    int digits = 0;
    do
        snprintf(text, 64, "%.*g", ++digits, value);
    while (digits < 17 && !(fabs(strtod(text, NULL) - value) <= 0x1p-52 * fabs(value)));
    return digits;
}

/* Whether a factor is better written as a divisor: m1 / 0.026416 was parsed as 37.855844942459115
 * m1. */
static bool is_divisor(double value)
{
    char text[64];
    return value != 0 && shortest_digits(value, text) > LONG &&
           shortest_digits(1 / value, text) <= LONG;
}

/* -2.5e+10 as a minus, 2.5, a times sign and a power of ten. */
static void write_number(const struct writer *w, double value)
{
    char text[64];
    shortest_digits(fabs(value), text);
    char *e = strchr(text, 'e');
    const int exponent = e ? atoi(e + 1) : 0;
    if (e)
        *e = '\0';
    orr_file_printf(w->html, "%s", value < 0 ? "<mrow>" MINUS : "");
    if (e)
        orr_file_printf(w->html,
                        "<mrow><mn>%s</mn><mo>&#xd7;</mo><msup><mn>10</mn><mrow>%s<mn>%d</mn>"
                        "</mrow></msup></mrow>",
                        text, exponent < 0 ? MINUS : "", abs(exponent));
    else
        orr_file_printf(w->html, "<mn>%s</mn>", text);
    orr_file_printf(w->html, "%s", value < 0 ? "</mrow>" : "");
}

/* m1: the letters, with the digits as a subscript. */
static void write_name(const struct writer *w, const char *word)
{
    size_t letters = strlen(word);
    while (letters > 1 && isdigit((unsigned char)word[letters - 1]))
        letters--;
    if (!word[letters]) {
        orr_file_printf(w->html, "<mi>%s</mi>", word);
        return;
    }
    orr_file_printf(w->html, "<msub><mi>%.*s</mi><mn>%s</mn></msub>", (int)letters, word,
                    word + letters);
}

static void in_brackets(const struct writer *w, int node)
{
    orr_file_printf(w->html, "<mrow><mo>(</mo>");
    write_node(w, node);
    orr_file_printf(w->html, "<mo>)</mo></mrow>");
}

static void write_call(const struct writer *w, const struct report_formula_node *call)
{
    const char *word = call->word;
    const struct report_formula_node *base = &w->f->node[call->child];
    if (!strcmp(word, "^")) {
        orr_file_printf(w->html, "<msup>");
        if (base->kind == REPORT_FORMULA_NAME)
            write_name(w, base->word);
        else
            in_brackets(w, call->child);
        write_node(w, base->next);
        orr_file_printf(w->html, "</msup>");
        return;
    }
    if (!strcmp(word, "sqrt") && !base->next) {
        orr_file_printf(w->html, "<msqrt>");
        write_node(w, call->child);
        orr_file_printf(w->html, "</msqrt>");
        return;
    }
    orr_file_printf(w->html, "<mrow><mi>%s</mi><mo>&#x2061;</mo><mrow><mo>(</mo>",
                    !strcmp(word, "log") ? "ln" : word);
    for (int x = call->child; x; x = w->f->node[x].next) {
        orr_file_printf(w->html, "%s", x == call->child ? "" : "<mo>,</mo>");
        write_node(w, x);
    }
    orr_file_printf(w->html, "<mo>)</mo></mrow></mrow>");
}

/* One factor to the absolute value of its power; alone: no other factor stands next to it. */
static void write_factor(const struct writer *w, int node, bool alone)
{
    const struct report_formula_node *x = &w->f->node[node];
    const double power = fabs(x->power);
    const bool root = power == 0.5;
    const bool simple = x->kind == REPORT_FORMULA_NAME;
    const bool open = root || (power == 1 && (alone || x->kind == REPORT_FORMULA_CALL));
    if (power != 1)
        orr_file_printf(w->html, root ? "<msqrt>" : "<msup>");
    if (simple || open)
        write_node(w, node);
    else
        in_brackets(w, node);
    if (power != 1 && !root)
        write_number(w, power);
    if (power != 1)
        orr_file_printf(w->html, root ? "</msqrt>" : "</msup>");
}

/* Whether factor a is written before b: names in alphabetical order (m1 m2 r), then other factors
 * in the order of the tree. */
static bool is_before(const struct writer *w, int a, int b)
{
    const struct report_formula_node *x = &w->f->node[a], *y = &w->f->node[b];
    const bool name = x->kind == REPORT_FORMULA_NAME;
    const int order = name && y->kind == x->kind ? strcmp(x->word, y->word) : 0;
    if (name != (y->kind == REPORT_FORMULA_NAME))
        return name;
    return order ? order < 0 : a < b;
}

/* The next factor after `after` (0: the first) whose power has the given sign; 0: none. */
static int next_factor(const struct writer *w, int product, int sign, int after)
{
    const struct report_formula_node *node = w->f->node;
    int best = 0;
    for (int x = node[product].child; x; x = node[x].next)
        if (node[x].power * sign > 0 && (!after || is_before(w, after, x)) &&
            (!best || is_before(w, x, best)))
            best = x;
    return best;
}

/* Writes the number, unless it is 1, and all factors whose power has the given sign; "1" where
 * there is nothing. A sum that fills the row needs no brackets where the row is delimited. */
static void write_row(const struct writer *w, int product, double number, int sign, bool ends)
{
    int x = next_factor(w, product, sign, 0);
    const bool shown = number != 1 || !x;
    const bool alone = ends && !shown && !next_factor(w, product, sign, x);
    const char *between = shown ? TIMES_NUMBER : "";
    orr_file_printf(w->html, "<mrow>");
    if (shown)
        write_number(w, number);
    for (; x; x = next_factor(w, product, sign, x), between = TIMES) {
        orr_file_printf(w->html, "%s", between);
        write_factor(w, x, alone);
    }
    orr_file_printf(w->html, "</mrow>");
}

static void write_product(const struct writer *w, int node, bool with_sign)
{
    const double value = w->f->node[node].value;
    const bool divided = is_divisor(value);
    const bool minus = with_sign && value < 0, fraction = divided || next_factor(w, node, -1, 0);
    orr_file_printf(w->html, "%s%s", minus ? "<mrow>" MINUS : "", fraction ? "<mfrac>" : "");
    write_row(w, node, divided ? 1 : fabs(value), 1, fraction || value > 0);
    if (fraction)
        write_row(w, node, divided ? 1 / fabs(value) : 1, -1, true);
    orr_file_printf(w->html, "%s%s", fraction ? "</mfrac>" : "", minus ? "</mrow>" : "");
}

static bool is_negative(const struct writer *w, int node)
{
    return w->f->node[node].kind == REPORT_FORMULA_PRODUCT && w->f->node[node].value < 0;
}

/* Writes the terms in order, then the number; the number comes first where that avoids a leading
 * minus. */
static void write_sum(const struct writer *w, const struct report_formula_node *sum)
{
    const bool ahead = sum->value > 0 && is_negative(w, sum->child);
    orr_file_printf(w->html, "<mrow>");
    if (ahead)
        write_number(w, sum->value);
    for (int x = sum->child; x; x = w->f->node[x].next) {
        if (is_negative(w, x))
            orr_file_printf(w->html, MINUS);
        else if (ahead || x != sum->child)
            orr_file_printf(w->html, "<mo>+</mo>");
        if (w->f->node[x].kind == REPORT_FORMULA_PRODUCT)
            write_product(w, x, false);
        else
            write_node(w, x);
    }
    if (!ahead && sum->value != 0) {
        orr_file_printf(w->html, "%s", sum->value < 0 ? MINUS : "<mo>+</mo>");
        write_number(w, fabs(sum->value));
    }
    orr_file_printf(w->html, "</mrow>");
}

static void write_node(const struct writer *w, int node)
{
    const struct report_formula_node *x = &w->f->node[node];
    switch (x->kind) {
    case REPORT_FORMULA_NAME:
        write_name(w, x->word);
        return;
    case REPORT_FORMULA_CALL:
        write_call(w, x);
        return;
    case REPORT_FORMULA_SUM:
        write_sum(w, x);
        return;
    case REPORT_FORMULA_PRODUCT:
        break;
    }
    write_product(w, node, true);
}

void report_mathml_write(struct orr_file *html, const struct report_formula *formula)
{
    const struct writer w = {html, formula};
    write_node(&w, formula->root);
}

void report_mathml(struct orr_file *html, const char *text)
{
    struct report_formula formula;
    if (report_formula_read(text, &formula))
        report_mathml_write(html, &formula);
    else
        report_html_text(html, text);
}

void report_mathml_law(struct orr_file *html, const char *text, const char *class_name)
{
    struct report_formula formula;
    if (!report_formula_read(text, &formula)) {
        orr_file_printf(html, "<code class=\"%s\">", class_name);
        report_html_text(html, text);
        orr_file_printf(html, "</code>");
        return;
    }
    orr_file_printf(html,
                    "<details class=\"%s\"><summary><math displaystyle=\"true\"><mrow>"
                    "<mi>F</mi><mo>=</mo>",
                    class_name);
    report_mathml_write(html, &formula);
    orr_file_printf(html, "</mrow></math></summary><code>");
    report_html_text(html, text);
    orr_file_printf(html, "</code></details>");
}
