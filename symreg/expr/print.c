/* print.c - prints formulas in PySR's notation, LaTeX, C and Python: one walk over the nodes and a
 * table of how each notation writes an operator, with as few parentheses as needed. */
#include "expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Binding strength of a piece of text. */
enum binding { ANY, SUM, SIGN, PRODUCT, POWER, ATOM };

struct writer {
    const struct sr_language *language;
    enum sr_notation notation;
    const char *const *names;
    char *text;
    size_t bytes, used;
};

/* A formula and the meaning of its features: columns, or the operands of a user-defined operator in
 * the enclosing formula. */
struct scope {
    const struct sr_expr *expr;
    const struct scope *around; /* NULL: features are columns */
    int operand[2];             /* last nodes of the operands */
};

/* NumPy, JAX and PyTorch use SymPy's grammar and texts, except for functions. */
enum { STYLES = SR_SYMPY + 1 };
static enum sr_notation style_of(enum sr_notation notation)
{
    return notation > SR_SYMPY && notation < SR_NOTATIONS ? SR_SYMPY : notation;
}

/* How the texts of an operator bind. */
struct layout {
    enum binding result[STYLES];
    enum binding need[2][STYLES]; /* per operand; ATOM only where no parentheses enclose it */
};

#define ALL(b)                                                                                     \
    {                                                                                              \
        b, b, b                                                                                    \
    }

/* A minus never follows another operator without parentheses: SIGN binds less than the right side
 * of a sum or product requires. */
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
static const char thin_space[] = " \\, "; /* LaTeX's product sign */

/* The texts of ops_table.h. $1 and $2 stand for the operands' texts, which are parenthesised where
 * they bind less than required. */
static const struct form {
    const char *text[STYLES];
    int layout;
} forms[SR_OPS] = {
#define OP(id, name, arity, infix, cost, traits, undoes, units, power, value, da, db, inverse,     \
           latex, c, sympy, layout)                                                                \
    [id] = {{[SR_LATEX] = latex, [SR_C] = c, [SR_SYMPY] = sympy}, layout},
#include "ops_table.h"
#undef OP
};

const char *const sr_notation_name[SR_NOTATIONS] = {
    [SR_LATEX] = "LaTeX", [SR_C] = "C",     [SR_SYMPY] = "SymPy",
    [SR_NUMPY] = "NumPy", [SR_JAX] = "JAX", [SR_TORCH] = "PyTorch"};

/* Functions of arrays: their names in NumPy and JAX, and in PyTorch. */
static const char *const functions[SR_OPS][2] = {
    [SR_MIN] = {"minimum", "minimum"}, [SR_MAX] = {"maximum", "maximum"},
    [SR_SQRT] = {"sqrt", "sqrt"},      [SR_ABS] = {"abs", "abs"},
    [SR_EXP] = {"exp", "exp"},         [SR_LOG] = {"log", "log"},
    [SR_SIN] = {"sin", "sin"},         [SR_COS] = {"cos", "cos"},
    [SR_TAN] = {"tan", "tan"},         [SR_ASIN] = {"arcsin", "asin"},
    [SR_ACOS] = {"arccos", "acos"},    [SR_ATAN] = {"arctan", "atan"},
    [SR_SINH] = {"sinh", "sinh"},      [SR_COSH] = {"cosh", "cosh"},
    [SR_TANH] = {"tanh", "tanh"},      [SR_SIGN] = {"sign", "sign"},
    [SR_HYPOT] = {"hypot", "hypot"},   [SR_ATAN2] = {"arctan2", "atan2"},
    [SR_CBRT] = {"cbrt", NULL},        [SR_LOG10] = {"log10", "log10"},
};

/* sign(a) * abs(a) ^ (1 / 3), for PyTorch, which has no cube root. */
static const struct sr_expr cube_root = {
    .count = 7,
    .node = {{.op = SR_FEATURE, .size = 1},
             {.op = SR_SIGN, .size = 2},
             {.op = SR_FEATURE, .size = 1},
             {.op = SR_ABS, .size = 2},
             {.op = SR_CONSTANT, .size = 1, .value = 1.0 / 3},
             {.op = SR_POW, .size = 4},
             {.op = SR_MUL, .size = 7}},
};

/* Replaces `length` bytes from `at` on by `text`; what does not fit is cut. */
static void replace_text(struct writer *w, size_t at, size_t length, const char *text)
{
    const size_t room = w->bytes - 1 - at, bytes = strlen(text);
    const size_t taken = bytes < room ? bytes : room, rest = w->used - at - length;
    const size_t kept = rest < room - taken ? rest : room - taken;
    memmove(w->text + at + taken, w->text + at + length, kept);
    memcpy(w->text + at, text, taken);
    w->used = at + taken + kept;
}

static void put_text(struct writer *w, const char *text)
{
    replace_text(w, w->used, 0, text);
}

static void put_character(struct writer *w, char c)
{
    const char text[2] = {c, '\0'};
    put_text(w, text);
}

/* ---- leaves */

/* What LaTeX reads otherwise in math mode; names that differ stay different. */
static const char *latex_character(char c)
{
    switch (c) {
    case '^':
        return "{\\wedge}";
    case '~':
        return "{\\sim}";
    case '\\':
        return "{\\backslash}";
    case ' ':
        return "\\ ";
    default:
        return NULL;
    }
}

static void write_upright(struct writer *w, const char *name)
{
    put_text(w, "\\mathrm{");
    for (const char *c = name; *c; c++) {
        const char *text = latex_character(*c);
        put_text(w, strchr("_%&#${}", *c) ? "\\" : "");
        if (text)
            put_text(w, text);
        else
            put_character(w, *c);
    }
    put_text(w, "}");
}

/* "m1" as m_{1}, "c1[star]" as c_{1} with an upright index; names of several letters upright. */
static void write_latex_name(struct writer *w, const char *name)
{
    size_t letters = 0;
    while (isalpha((unsigned char)name[letters]))
        letters++;
    const size_t digits = strspn(name + letters, "0123456789");
    const char *rest = name + letters + digits;
    if (letters == 1 && digits && (!*rest || *rest == '[')) {
        put_character(w, *name);
        put_text(w, "_{");
        for (const char *c = name + letters; c < rest; c++)
            put_character(w, *c);
        put_text(w, "}");
        if (*rest)
            write_upright(w, rest);
    } else if (letters == 1 && !name[1]) {
        put_text(w, name);
    } else {
        write_upright(w, name);
    }
}

/* Plain words are written as they are, names of operators and all other names in quotes. */
static void write_plain_name(struct writer *w, const char *name)
{
    const bool quotes = !sr_name_is_plain(w->language, name);
    put_text(w, quotes ? "\"" : "");
    for (const char *c = name; *c; c++) {
        put_text(w, *c == '"' ? "\"" : "");
        put_character(w, *c);
    }
    put_text(w, quotes ? "\"" : "");
}

static enum binding write_number(struct writer *w, double value)
{
    char plain[SR_NUMBER], power[40];
    sr_number_print(value, plain);
    char *e = w->notation == SR_LATEX ? strchr(plain, 'e') : NULL;
    snprintf(power, sizeof power, e ? " \\cdot 10^{%d}" : "", e ? atoi(e + 1) : 0);
    if (e)
        *e = '\0';
    put_text(w, plain);
    put_text(w, power);
    if (w->notation != SR_LATEX && w->notation != SR_SYMPY && w->notation != SR_PRINTED &&
        !strpbrk(plain, ".en"))
        put_text(w, ".0"); /* in C 1 / 2 is 0, and NumPy's integer arrays have no power -2 */
    return signbit(value) ? SIGN : e ? PRODUCT : ATOM;
}

/* A named constant: its name in text and LaTeX, else its value. "k_B" becomes k_{\mathrm{B}}. */
static enum binding write_constant(struct writer *w, const struct sr_node *node)
{
    const char *const name = w->language->constant_name[node->feature - 1];
    const char *const bar = strchr(name, '_');
    char stem[SR_OP_NAME];
    if (w->notation != SR_PRINTED && w->notation != SR_LATEX)
        return write_number(w, node->value);
    if (w->notation == SR_PRINTED) {
        put_text(w, name);
    } else if (!strcmp(name, "hbar")) {
        put_text(w, "\\hbar");
    } else if (bar && bar > name && bar[1] && !strchr(bar + 1, '_')) {
        snprintf(stem, sizeof stem, "%.*s", (int)(bar - name), name);
        write_latex_name(w, stem);
        put_text(w, "_{\\mathrm{");
        put_text(w, bar + 1);
        put_text(w, "}}");
    } else {
        write_latex_name(w, name);
    }
    return ATOM;
}

static enum binding write_name(struct writer *w, const char *name)
{
    if (w->notation == SR_PRINTED)
        write_plain_name(w, name);
    else if (w->notation == SR_LATEX)
        write_latex_name(w, name);
    else
        put_text(w, name);
    return ATOM;
}

/* ---- operators */

static enum binding write_node(struct writer *w, const struct scope *scope, int i);

static enum binding write_form(struct writer *w, const struct scope *scope, int i, const char *form,
                               const enum binding need[2], enum binding result)
{
    const bool latex = w->notation == SR_LATEX;
    for (const char *c = form; *c; c++) {
        if (*c != '$') {
            put_character(w, *c);
            continue;
        }
        const int k = *++c - '1';
        const size_t start = w->used;
        const enum binding operand = write_node(w, scope, k ? i - 1 : sr_expr_left(scope->expr, i));
        if (operand < need[k]) {
            replace_text(w, start, 0, latex ? "\\left(" : "(");
            put_text(w, latex ? "\\right)" : ")");
        } else if (k && latex && scope->expr->node[i].op == SR_MUL && start < w->used &&
                   isdigit((unsigned char)w->text[start])) { /* otherwise 2 3 would read as 23 */
            replace_text(w, start + 1 - sizeof thin_space, sizeof thin_space - 1, " \\cdot ");
        }
        if (c == form + 1 && operand == SIGN && need[0] <= SIGN && result > SIGN)
            result = SIGN; /* a leading sign applies to the whole product */
    }
    return result;
}

/* PySR's notation: every infix operator in parentheses, every other one as a call. */
static enum binding write_plain(struct writer *w, const struct scope *scope, int i)
{
    static const enum binding need[2] = {ANY, ANY};
    const struct sr_node *base = &scope->expr->node[sr_expr_left(scope->expr, i)];
    const struct sr_op_info *info = sr_op(w->language, scope->expr->node[i].op);
    /* -2 ^ 2 is -4 in every notation, (-2) ^ 2 is 4 */
    const bool guard =
        scope->expr->node[i].op == SR_POW && sr_is_number(base) && signbit(base->value);
    char form[SR_OP_NAME + 16];
    if (info->infix)
        snprintf(form, sizeof form, "(%s %s $2)", guard ? "($1)" : "$1", info->name);
    else
        snprintf(form, sizeof form, "%s(%s)", info->name, info->arity == 2 ? "$1, $2" : "$1");
    return write_form(w, scope, i, form, need, ATOM);
}

/* A user-defined operator: its name in LaTeX, else its formula with the operands inserted. */
static enum binding write_custom(struct writer *w, const struct scope *scope, int i)
{
    static const enum binding need[2] = {SUM, SUM};
    const int op = scope->expr->node[i].op;
    const struct sr_op_info *info = sr_op(w->language, op);
    const struct scope inner = {
        sr_op_formula(w->language, op), scope, {sr_expr_left(scope->expr, i), i - 1}};
    char form[SR_OP_NAME + 64];
    if (w->notation != SR_LATEX)
        return write_node(w, &inner, inner.expr->count - 1);
    snprintf(form, sizeof form, "\\operatorname{%s}\\left(%s\\right)", info->name,
             info->arity == 2 ? "$1, $2" : "$1");
    for (char *c = form; *c != '}'; c++)
        *c = *c == '_' ? '-' : *c; /* "_" would be a subscript */
    return write_form(w, scope, i, form, need, ATOM);
}

/* Whether the subtree that ends at i contains a column. An operand of a user-defined operator may
 * contain one. */
static bool has_column(const struct scope *scope, int i)
{
    for (int k = sr_expr_start(scope->expr, i); k <= i; k++) {
        const struct sr_node *node = &scope->expr->node[k];
        if (node->op == SR_FEATURE &&
            (!scope->around || has_column(scope->around, scope->operand[node->feature])))
            return true;
    }
    return false;
}

/* A call of a function of arrays. PyTorch's functions do not accept plain numbers. */
static enum binding write_function(struct writer *w, const struct scope *scope, int i)
{
    const int op = scope->expr->node[i].op, arity = sr_expr_arity(scope->expr, i);
    const bool torch = w->notation == SR_TORCH;
    const int operand[2] = {sr_expr_left(scope->expr, i), i - 1};
    put_text(w, torch ? "torch." : w->notation == SR_JAX ? "jnp." : "np.");
    put_text(w, functions[op][torch]);
    put_text(w, "(");
    for (int k = 0; k < arity; k++) {
        const bool number = torch && !has_column(scope, operand[k]);
        put_text(w, k ? ", " : "");
        put_text(w, number ? "torch.as_tensor(" : "");
        write_node(w, scope, operand[k]);
        put_text(w, number ? ", dtype=torch.float64)" : "");
    }
    put_text(w, ")");
    return ATOM;
}

/* Writes a node with its operands. Stops where the text is full, as nested user-defined operators
 * may grow exponentially. */
static enum binding write_node(struct writer *w, const struct scope *scope, int i)
{
    const struct sr_node *node = &scope->expr->node[i];
    if (w->used + 1 == w->bytes)
        return ATOM;
    if (node->op == SR_CONSTANT)
        return w->language && node->feature && node->feature <= w->language->named
                   ? write_constant(w, node)
                   : write_number(w, node->value);
    if (node->op == SR_FEATURE)
        return scope->around ? write_node(w, scope->around, scope->operand[node->feature])
                             : write_name(w, w->names[node->feature]);
    if (w->notation == SR_PRINTED)
        return write_plain(w, scope, i);
    if (node->op >= SR_CUSTOM)
        return write_custom(w, scope, i);
    if (w->notation == SR_TORCH && node->op == SR_CBRT) {
        const struct scope inner = {&cube_root, scope, {i - 1, i - 1}};
        return write_node(w, &inner, cube_root.count - 1);
    }
    if (w->notation > SR_SYMPY && functions[node->op][0])
        return write_function(w, scope, i);
    const enum sr_notation style = style_of(w->notation);
    const struct layout *layout = &layouts[forms[node->op].layout];
    const enum binding need[2] = {layout->need[0][style], layout->need[1][style]};
    return write_form(w, scope, i, forms[node->op].text[style], need, layout->result[style]);
}

void sr_expr_text(const struct sr_language *language, const struct sr_expr *expr,
                  enum sr_notation notation, const char *const *names, char *text, size_t bytes)
{
    struct writer w = {language, notation, names, text, bytes, 0};
    const struct scope scope = {.expr = expr};
    write_node(&w, &scope, expr->count - 1);
    text[w.used] = '\0';
}

void sr_expr_print(const struct sr_language *language, const struct sr_expr *expr,
                   const char *const *names, char *text, size_t bytes)
{
    sr_expr_text(language, expr, SR_PRINTED, names, text, bytes);
}
