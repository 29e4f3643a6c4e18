/* output_text.c - formulas in LaTeX, C and SymPy, with as few parentheses as each needs. */
#include "output.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How tightly a piece of text holds together. */
enum binding { SUM = 1, SIGN, PRODUCT, POWER, ATOM };

struct piece {
    char *text; /* owned; NULL: no memory */
    enum binding binding;
};

struct writer {
    const struct sr_language *language;
    enum sr_notation notation;
    const struct sr_export *names;
};

/* How the texts of an operator bind. */
struct layout {
    enum binding result[SR_NOTATIONS];
    enum binding need[2][SR_NOTATIONS]; /* per operand; ATOM only where none is enclosed */
};

#define ALL(b)                                                                                     \
    {                                                                                              \
        b, b, b                                                                                    \
    }

/* A minus never stands behind another operator without parentheses: SIGN binds less than what the
 * right side of a sum or product needs. */
enum { SUMS, PRODUCTS, QUOTIENTS, RECIPROCALS, POWERS, WHOLE_POWERS, SIGNS, EXPONENTIALS, CALLS };
static const struct layout layouts[] = {
    [SUMS] = {ALL(SUM), {ALL(SUM), ALL(PRODUCT)}},
    [PRODUCTS] = {ALL(PRODUCT), {ALL(SIGN), ALL(POWER)}},
    [QUOTIENTS] = {{POWER, PRODUCT, PRODUCT}, {{SUM, SIGN, SIGN}, {SUM, POWER, POWER}}},
    [RECIPROCALS] = {{POWER, PRODUCT, PRODUCT}, {{SUM, POWER, POWER}, {SUM, POWER, POWER}}},
    [POWERS] = {{POWER, ATOM, POWER}, {{ATOM, SUM, ATOM}, {SUM, SUM, ATOM}}},
    [WHOLE_POWERS] = {{POWER, ATOM, POWER}, {{ATOM, SUM, ATOM}, ALL(SUM)}},
    [SIGNS] = {ALL(SIGN), {ALL(POWER), ALL(POWER)}},
    [EXPONENTIALS] = {{POWER, ATOM, ATOM}, {ALL(SUM), ALL(SUM)}},
    [CALLS] = {ALL(ATOM), {ALL(SUM), ALL(SUM)}},
};

/* The texts of ops_table.h. $1 and $2 stand for the operands' texts, which are put in parentheses
 * where they bind less than their place needs. */
static const struct form {
    const char *text[SR_NOTATIONS];
    int layout;
} forms[SR_OPS] = {
#define OP(id, name, arity, infix, cost, traits, undoes, units, power, value, da, db, inverse,     \
           latex, c, sympy, layout)                                                                \
    [id] = {{[SR_LATEX] = latex, [SR_C] = c, [SR_SYMPY] = sympy}, layout},
#include "symreg/expr/ops_table.h"
#undef OP
};

/* ---- leaves */

/* "m1" as m_{1}, a name of several letters upright. */
static void latex_name(const char *name, char *out, size_t bytes)
{
    char escaped[512];
    size_t n = 0, letters = 0;
    for (const char *c = name; *c && n + 20 < sizeof escaped; c++) {
        if (strchr("_%&#${}", *c))
            escaped[n++] = '\\';
        if (strchr("\\^~", *c))
            n += (size_t)snprintf(escaped + n, 20, "\\_");
        else
            escaped[n++] = *c;
    }
    escaped[n] = '\0';
    while (isalpha((unsigned char)name[letters]))
        letters++;
    const size_t digits = strspn(name + letters, "0123456789");
    if (letters == 1 && !name[1])
        snprintf(out, bytes, "%s", escaped);
    else if (letters == 1 && digits && !name[letters + digits])
        snprintf(out, bytes, "%c_{%s}", *name, name + letters);
    else
        snprintf(out, bytes, "\\mathrm{%s}", escaped);
}

static struct piece number(enum sr_notation notation, double value)
{
    char plain[SR_NUMBER], text[80];
    sr_number_print(value, plain);
    char *e = strchr(plain, 'e');
    enum binding binding = signbit(value) ? SIGN : ATOM;
    if (notation == SR_LATEX && e) {
        snprintf(text, sizeof text, "%.*s \\cdot 10^{%d}", (int)(e - plain), plain, atoi(e + 1));
        binding = signbit(value) ? SIGN : PRODUCT;
    } else if (notation == SR_C && !strpbrk(plain, ".en")) {
        snprintf(text, sizeof text, "%s.0", plain); /* 1 / 2 is 0 in C */
    } else {
        snprintf(text, sizeof text, "%s", plain);
    }
    return (struct piece){strdup(text), binding};
}

static struct piece leaf(const struct writer *w, const struct sr_node *node)
{
    char name[640];
    if (node->op == SR_CONSTANT)
        return number(w->notation, node->value);
    if (w->notation != SR_LATEX)
        return (struct piece){strdup(w->names->name[node->feature]), ATOM};
    latex_name(w->names->column[node->feature], name, sizeof name);
    return (struct piece){strdup(name), ATOM};
}

/* ---- joining */

enum { MOST = 1 << 20 }; /* bytes of a text: nested operators of the user may grow without end */

static char *fill_form(const struct writer *w, const char *form, const struct piece *operand,
                       const enum binding need[2])
{
    const bool latex = w->notation == SR_LATEX;
    const char *const open = latex ? "\\left(" : "(", *const close = latex ? "\\right)" : ")";
    size_t bytes = strlen(form) + 1;
    for (const char *c = form; *c; c++)
        if (*c == '$')
            bytes += strlen(operand[c[1] - '1'].text) + 16;
    char *out = bytes < MOST ? malloc(bytes) : NULL;
    size_t n = 0;
    for (const char *c = form; *c && out; c++) {
        if (*c != '$') {
            out[n++] = *c;
            continue;
        }
        const int k = *++c - '1';
        const bool enclose = operand[k].binding < need[k];
        n += (size_t)snprintf(out + n, bytes - n, "%s%s%s", enclose ? open : "", operand[k].text,
                              enclose ? close : "");
    }
    if (out)
        out[n] = '\0';
    return out;
}

static struct piece write_tree(const struct writer *w, const struct sr_expr *expr,
                               const struct piece *arguments);

/* An operator of the user: its name in LaTeX, else its formula with the operands put in. */
static struct piece write_custom(const struct writer *w, enum sr_op op, const struct piece *operand)
{
    char form[128];
    if (w->notation != SR_LATEX)
        return write_tree(w, sr_op_formula(w->language, (int)op), operand);
    const struct sr_op_info *info = sr_op(w->language, (int)op);
    snprintf(form, sizeof form, "\\operatorname{%.32s}\\left(%s\\right)", info->name,
             info->arity == 2 ? "$1, $2" : "$1");
    for (char *c = form; *c != '}'; c++)
        *c = *c == '_' ? '-' : *c; /* no subscript in a name */
    return (struct piece){fill_form(w, form, operand, layouts[CALLS].need[0]), ATOM};
}

static struct piece write_op(const struct writer *w, enum sr_op op, const struct piece *operand)
{
    if ((int)op >= SR_CUSTOM)
        return write_custom(w, op, operand);
    const struct layout *layout = &layouts[forms[op].layout];
    const enum binding need[2] = {layout->need[0][w->notation], layout->need[1][w->notation]};
    const char *form = forms[op].text[w->notation];
    enum binding result = layout->result[w->notation];
    if (op == SR_MUL && w->notation == SR_LATEX && operand[1].binding >= need[1] &&
        isdigit((unsigned char)*operand[1].text))
        form = "$1 \\cdot $2"; /* 2 3 would read as 23 */
    if (*form == '$' && operand[0].binding == SIGN && need[0] <= SIGN && result > SIGN)
        result = SIGN; /* a sign in front is one of the whole */
    return (struct piece){fill_form(w, form, operand, need), result};
}

/* The text of a formula; its features are those of the table, or the arguments' texts. */
static struct piece write_tree(const struct writer *w, const struct sr_expr *expr,
                               const struct piece *arguments)
{
    struct piece stack[SR_NODES / 2 + 1] = {{0}};
    int depth = 0;
    bool ok = true;
    for (int i = 0; i < expr->count && ok; i++) {
        const struct sr_node *node = &expr->node[i];
        const int arity = sr_expr_arity(expr, i);
        struct piece next;
        if (arity == 0 && node->op == SR_FEATURE && arguments)
            next = (struct piece){strdup(arguments[node->feature].text),
                                  arguments[node->feature].binding};
        else if (arity == 0)
            next = leaf(w, node);
        else
            next = write_op(w, (enum sr_op)node->op, &stack[depth - arity]);
        for (int k = 0; k < arity; k++)
            free(stack[--depth].text);
        stack[depth++] = next;
        ok = next.text != NULL;
    }
    if (ok)
        return stack[0];
    while (depth)
        free(stack[--depth].text);
    return (struct piece){NULL, ATOM};
}

void sr_expr_write(const struct sr_language *language, const struct sr_expr *expr,
                   enum sr_notation notation, const struct sr_export *names, char *text,
                   size_t bytes)
{
    const struct writer w = {.language = language, .notation = notation, .names = names};
    const struct piece whole = write_tree(&w, expr, NULL);
    snprintf(text, bytes, "%s", whole.text ? whole.text : "");
    free(whole.text);
}

size_t sr_character(const char *text, uint32_t *code)
{
    const unsigned char *c = (const unsigned char *)text;
    const size_t bytes = *c < 0x80 ? 1 : *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : *c >= 0xc2 ? 2 : 0;
    *code = bytes == 1 ? *c : bytes ? *c & (0x7fu >> bytes) : 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((c[i] & 0xc0) != 0x80) { /* also the end of the text */
            *code = 0;
            return 1;
        }
        *code = *code << 6 | (c[i] & 0x3fu);
    }
    return bytes ? bytes : 1;
}
