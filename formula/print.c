/* print.c - prints formulas in PySR's notation, LaTeX, C, Python and MathML: one walk over the
 * nodes and a table of how each notation writes an operator, with as few parentheses as needed. */
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
    const int *decimals; /* of sr_expr_infix(); NULL: none */
    int numbers;         /* written so far */
};

/* A formula and the meaning of its features: columns, or the operands of a user-defined operator in
 * the enclosing formula. */
struct scope {
    const struct sr_expr *expr;
    const struct scope *around; /* NULL: features are columns */
    int operand[2];             /* last nodes of the operands */
};

/* NumPy, JAX and PyTorch use SymPy's grammar and texts, except for functions. MathML needs the
 * parentheses of LaTeX. */
enum { STYLES = SR_SYMPY + 1 };
static enum sr_notation style_of(enum sr_notation notation)
{
    return notation == SR_MATHML                            ? SR_LATEX
           : notation > SR_SYMPY && notation < SR_NOTATIONS ? SR_SYMPY
                                                            : notation;
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
    [SR_LATEX] = "LaTeX", [SR_C] = "C",           [SR_SYMPY] = "SymPy",  [SR_NUMPY] = "NumPy",
    [SR_JAX] = "JAX",     [SR_TORCH] = "PyTorch", [SR_MATHML] = "MathML"};

#define MINUS      "<mo>&#x2212;</mo>"
#define OPEN       "<mrow><mo>(</mo>"
#define CLOSE      "<mo>)</mo></mrow>"
#define CALL(name) "<mrow>" name "<mo>&#x2061;</mo>" OPEN "$1"

/* Product signs: the default, before a number (2 3 would read as 23) and after a number. MathML's
 * are invisible, but read aloud. */
static const char *const latex_times[] = {" \\, ", " \\cdot ", " \\, "};
static const char *const mathml_times[] = {"<mo>&#x2062;</mo>", "<mo>&#x22c5;</mo>",
                                           "<mo rspace=\"0.15em\">&#x2062;</mo>"};

/* Operators in MathML; all others are calls by their name. A text that binds as an atom is a single
 * element, which <msup> needs as its base. */
static const char *const mathml[SR_OPS] = {
    [SR_ADD] = "$1<mo>+</mo>$2",
    [SR_SUB] = "$1<mo>&#x2212;</mo>$2",
    [SR_MUL] = "$1<mo>&#x2062;</mo>$2",
    [SR_DIV] = "<mfrac><mrow>$1</mrow><mrow>$2</mrow></mfrac>",
    [SR_POW] = "<msup>$1<mrow>$2</mrow></msup>",
    [SR_NEG] = "<mrow><mo>&#x2212;</mo>$1</mrow>",
    [SR_INV] = "<mfrac><mn>1</mn><mrow>$1</mrow></mfrac>",
    [SR_SQUARE] = "<msup>$1<mn>2</mn></msup>",
    [SR_CUBE] = "<msup>$1<mn>3</mn></msup>",
    [SR_SQRT] = "<msqrt>$1</msqrt>",
    [SR_ABS] = "<mrow><mo>|</mo>$1<mo>|</mo></mrow>",
    [SR_LOG] = CALL("<mi>ln</mi>") CLOSE "</mrow>",
    [SR_CBRT] = "<mroot><mrow>$1</mrow><mn>3</mn></mroot>",
    [SR_LOG10] = CALL("<msub><mi>log</mi><mn>10</mn></msub>") CLOSE "</mrow>",
};

/* Operators in SR_INFIX; all others are calls by their name. */
static const char *const infix[SR_OPS] = {
    [SR_ADD] = "$1 + $2", [SR_SUB] = "$1 - $2", [SR_MUL] = "$1 * $2",
    [SR_DIV] = "$1 / $2", [SR_POW] = "$1^$2",   [SR_NEG] = "-$1",
    [SR_INV] = "1 / $1",  [SR_SQUARE] = "$1^2", [SR_CUBE] = "$1^3",
};

/* Functions of arrays: their names in NumPy and JAX, and in PyTorch. Those that no package has
 * stand without its name: the C function is in docs/symreg.md, the Python ones of all packages in
 * orrery.anomalies. */
static const char *const functions[SR_OPS][2] = {
    [SR_MIN] = {"minimum", "minimum"},
    [SR_MAX] = {"maximum", "maximum"},
    [SR_SQRT] = {"sqrt", "sqrt"},
    [SR_ABS] = {"abs", "abs"},
    [SR_EXP] = {"exp", "exp"},
    [SR_LOG] = {"log", "log"},
    [SR_SIN] = {"sin", "sin"},
    [SR_COS] = {"cos", "cos"},
    [SR_TAN] = {"tan", "tan"},
    [SR_ASIN] = {"arcsin", "asin"},
    [SR_ACOS] = {"arccos", "acos"},
    [SR_ATAN] = {"arctan", "atan"},
    [SR_SINH] = {"sinh", "sinh"},
    [SR_COSH] = {"cosh", "cosh"},
    [SR_TANH] = {"tanh", "tanh"},
    [SR_SIGN] = {"sign", "sign"},
    [SR_HYPOT] = {"hypot", "hypot"},
    [SR_ATAN2] = {"arctan2", "atan2"},
    [SR_CBRT] = {"cbrt", NULL},
    [SR_LOG10] = {"log10", "log10"},
    [SR_FLOOR] = {"floor", "floor"},
    [SR_ROUND] = {"rint", "round"},
    [SR_TRUE_ANOMALY] = {"true_anomaly", "true_anomaly"},
    [SR_ECCENTRIC_ANOMALY] = {"eccentric_anomaly", "eccentric_anomaly"},
};

/* Formulas of the operands, for notations without a function: sign(a) * abs(a) ^ (1 / 3), for
 * PyTorch, which has no cube root; a - b * floor(a / b), as the functions of arrays round the
 * quotient otherwise; and max(sign(a - b), 0). */
#define OPERAND(k)                                                                                 \
    {                                                                                              \
        .op = SR_FEATURE, .size = 1, .feature = (k)                                                \
    }
#define NUMBER(x)                                                                                  \
    {                                                                                              \
        .op = SR_CONSTANT, .size = 1, .feature = SR_FIXED, .value = (x)                            \
    }
#define NODE(id, length)                                                                           \
    {                                                                                              \
        .op = (id), .size = (length)                                                               \
    }
static const struct sr_expr expansions[SR_OPS] = {
    [SR_CBRT] = {7,
                 {OPERAND(0), NODE(SR_SIGN, 2), OPERAND(0), NODE(SR_ABS, 2), NUMBER(1.0 / 3),
                  NODE(SR_POW, 4), NODE(SR_MUL, 7)}},
    [SR_MOD] = {8,
                {OPERAND(0), OPERAND(1), OPERAND(0), OPERAND(1), NODE(SR_DIV, 3), NODE(SR_FLOOR, 4),
                 NODE(SR_MUL, 6), NODE(SR_SUB, 8)}},
    [SR_GREATER] = {6,
                    {OPERAND(0), OPERAND(1), NODE(SR_SUB, 3), NODE(SR_SIGN, 4), NUMBER(0),
                     NODE(SR_MAX, 6)}},
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

/* The number of digits of a name like m1 or c1[star], which become an index; 0 for other names. */
static size_t index_digits(const char *name)
{
    const size_t digits = isalpha((unsigned char)*name) ? strspn(name + 1, "0123456789") : 0;
    return digits && name[1 + digits] && name[1 + digits] != '[' ? 0 : digits;
}

/* "m1" as m_{1}, "c1[star]" as c_{1} with an upright index; names of several letters upright. */
static void write_latex_name(struct writer *w, const char *name)
{
    const size_t digits = index_digits(name);
    if (digits) {
        put_character(w, *name);
        put_text(w, "_{");
        for (size_t i = 1; i <= digits; i++)
            put_character(w, name[i]);
        put_text(w, "}");
        if (name[1 + digits])
            write_upright(w, name + 1 + digits);
    } else if (isalpha((unsigned char)*name) && !name[1]) {
        put_text(w, name);
    } else {
        write_upright(w, name);
    }
}

static void write_element(struct writer *w, const char *tag, const char *content, size_t length)
{
    put_text(w, tag);
    for (size_t i = 0; i < length; i++) {
        const char *const entity = content[i] == '&'   ? "&amp;"
                                   : content[i] == '<' ? "&lt;"
                                   : content[i] == '>' ? "&gt;"
                                                       : NULL;
        if (entity)
            put_text(w, entity);
        else
            put_character(w, content[i]);
    }
    put_text(w, "</");
    put_text(w, tag + 1);
}

/* "m1" as m with the index 1; MathML sets names of several letters upright by itself. */
static void write_mathml_name(struct writer *w, const char *name)
{
    const size_t digits = index_digits(name);
    const char *const rest = name + 1 + digits;
    if (!digits) {
        write_element(w, "<mi>", name, strlen(name));
        return;
    }
    put_text(w, *rest ? "<mrow><msub>" : "<msub>");
    write_element(w, "<mi>", name, 1);
    write_element(w, "<mn>", name + 1, digits);
    put_text(w, "</msub>");
    if (*rest) {
        write_element(w, "<mtext>", rest, strlen(rest));
        put_text(w, "</mrow>");
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

static void write_mathml_number(struct writer *w, const char *digits, int exponent)
{
    const bool minus = *digits == '-';
    char power[100] = "", text[200];
    if (exponent)
        snprintf(power, sizeof power,
                 "<mo>&#xd7;</mo><msup><mn>10</mn><mrow>%s<mn>%d</mn></mrow></msup>",
                 exponent < 0 ? MINUS : "", abs(exponent));
    snprintf(text, sizeof text,
             minus || exponent ? "<mrow>%s<mn>%s</mn>%s</mrow>" : "%s<mn>%s</mn>%s",
             minus ? MINUS : "", digits + minus, power);
    put_text(w, text);
}

/* Zeros behind the digits of a number, which leave its value. */
static void pad_number(struct writer *w, const char *digits, int decimals)
{
    const char *const point = strchr(digits, '.');
    const int have = point ? (int)strlen(point + 1) : 0;
    if (strpbrk(digits, "en") || have >= decimals)
        return;
    put_text(w, point ? "" : ".");
    for (int k = have; k < decimals; k++)
        put_text(w, "0");
}

static enum binding write_number(struct writer *w, double value, int decimals)
{
    char plain[SR_NUMBER], power[40];
    sr_number_print(value, plain);
    char *e = style_of(w->notation) == SR_LATEX ? strchr(plain, 'e') : NULL;
    const int exponent = e ? atoi(e + 1) : 0;
    if (e)
        *e = '\0';
    if (w->notation == SR_MATHML) {
        write_mathml_number(w, plain, exponent);
    } else {
        snprintf(power, sizeof power, " \\cdot 10^{%d}", exponent);
        put_text(w, plain);
        if (e)
            put_text(w, power);
        pad_number(w, plain, decimals);
    }
    if (w->notation < SR_NOTATIONS && w->notation != SR_SYMPY &&
        style_of(w->notation) != SR_LATEX && !strpbrk(plain, ".en"))
        put_text(w, ".0"); /* in C 1 / 2 is 0, and NumPy's integer arrays have no power -2 */
    return signbit(value) ? SIGN : e ? PRODUCT : ATOM;
}

static enum binding write_name(struct writer *w, const char *name)
{
    if (w->notation >= SR_PRINTED)
        write_plain_name(w, name);
    else if (w->notation == SR_LATEX)
        write_latex_name(w, name);
    else if (w->notation == SR_MATHML)
        write_mathml_name(w, name);
    else
        put_text(w, name);
    return ATOM;
}

/* A named constant: its name in text, LaTeX and MathML, else its value. "k_B" becomes
 * k_{\mathrm{B}}. */
static enum binding write_constant(struct writer *w, const struct sr_node *node)
{
    const char *const name = w->language->constant_name[node->feature - 1];
    const char *const bar = strchr(name, '_');
    const bool latex = w->notation == SR_LATEX;
    char stem[SR_OP_NAME];
    if (w->notation >= SR_PRINTED) {
        put_text(w, name);
    } else if (style_of(w->notation) != SR_LATEX) {
        return write_number(w, node->value, 0);
    } else if (!strcmp(name, "hbar")) {
        put_text(w, latex ? "\\hbar" : "<mi>&#x210f;</mi>");
    } else if (bar && bar > name && bar[1] && !strchr(bar + 1, '_')) {
        snprintf(stem, sizeof stem, "%.*s", (int)(bar - name), name);
        put_text(w, latex ? "" : "<msub>");
        write_name(w, stem);
        put_text(w, latex ? "_{\\mathrm{" : "<mi>");
        put_text(w, bar + 1);
        put_text(w, latex ? "}}" : "</mi></msub>");
    } else {
        write_name(w, name);
    }
    return ATOM;
}

/* ---- operators */

static enum binding write_node(struct writer *w, const struct scope *scope, int i);

/* Replaces the product sign before the right factor, which begins at `start`, next to a number. */
static void adjust_times(struct writer *w, const struct scope *scope, int i, size_t start)
{
    const char *const *const times = w->notation == SR_LATEX ? latex_times : mathml_times;
    const char *right = w->text + start;
    const size_t length = strlen(times[0]);
    w->text[w->used] = '\0';
    while (!strncmp(right, "<mrow>", 6) || !strncmp(right, "<msup>", 6))
        right += 6;
    if (isdigit((unsigned char)*right) || !strncmp(right, "<mn>", 4))
        replace_text(w, start - length, length, times[1]);
    else if (scope->expr->node[sr_expr_left(scope->expr, i)].op == SR_CONSTANT)
        replace_text(w, start - length, length, times[2]);
}

static enum binding write_form(struct writer *w, const struct scope *scope, int i, const char *form,
                               const enum binding need[2], enum binding result)
{
    const bool latex = w->notation == SR_LATEX, mathml_form = w->notation == SR_MATHML;
    for (const char *c = form; *c; c++) {
        if (*c != '$') {
            put_character(w, *c);
            continue;
        }
        const int k = *++c - '1';
        const size_t start = w->used;
        const enum binding operand = write_node(w, scope, k ? i - 1 : sr_expr_left(scope->expr, i));
        if (operand < need[k]) {
            replace_text(w, start, 0, latex ? "\\left(" : mathml_form ? OPEN : "(");
            put_text(w, latex ? "\\right)" : mathml_form ? CLOSE : ")");
        }
        if (k && style_of(w->notation) == SR_LATEX && scope->expr->node[i].op == SR_MUL &&
            start < w->used)
            adjust_times(w, scope, i, start);
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

/* An operator as people write it, or a call by its name. */
static enum binding write_infix(struct writer *w, const struct scope *scope, int i)
{
    static const enum binding any[2] = {ANY, ANY}, powers[2] = {ATOM, ATOM};
    const int op = scope->expr->node[i].op;
    const char *const form = op < SR_CUSTOM ? infix[op] : NULL;
    if (!form) {
        char call[SR_OP_NAME + 16];
        const struct sr_op_info *info = sr_op(w->language, op);
        snprintf(call, sizeof call, "%s(%s)", info->name, info->arity == 2 ? "$1, $2" : "$1");
        return write_form(w, scope, i, call, any, ATOM);
    }
    const struct layout *layout = &layouts[forms[op].layout];
    const enum binding need[2] = {op == SR_NEG ? PRODUCT : layout->need[0][SR_SYMPY],
                                  layout->need[1][SR_SYMPY]};
    const bool power = op == SR_POW || op == SR_SQUARE || op == SR_CUBE;
    return write_form(w, scope, i, form, power ? powers : need, layout->result[SR_SYMPY]);
}

/* The call of an operator by its name in MathML. */
static enum binding write_mathml_call(struct writer *w, const struct scope *scope, int i)
{
    static const enum binding need[2] = {SUM, SUM};
    const struct sr_op_info *info = sr_op(w->language, scope->expr->node[i].op);
    char form[SR_OP_NAME + 128];
    snprintf(form, sizeof form, CALL("<mi>%s</mi>") "%s" CLOSE "</mrow>", info->name,
             info->arity == 2 ? "<mo>,</mo>$2" : "");
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

static bool is_of_package(int op)
{
    return op != SR_TRUE_ANOMALY && op != SR_ECCENTRIC_ANOMALY;
}

/* A call of a function of arrays. PyTorch's functions do not accept plain numbers. cond() is
 * where(), as a product with 0 is no number where the other operand is infinite. */
static enum binding write_function(struct writer *w, const struct scope *scope, int i)
{
    const int op = scope->expr->node[i].op, arity = sr_expr_arity(scope->expr, i);
    const bool torch = w->notation == SR_TORCH, choice = op == SR_COND;
    const int operand[2] = {sr_expr_left(scope->expr, i), i - 1};
    if (is_of_package(op))
        put_text(w, torch ? "torch." : w->notation == SR_JAX ? "jnp." : "np.");
    put_text(w, choice ? "where" : functions[op][torch]);
    put_text(w, "(");
    for (int k = 0; k < arity; k++) {
        const bool number = torch && !has_column(scope, operand[k]);
        put_text(w, k ? ", " : "");
        put_text(w, number ? "torch.as_tensor(" : choice && !k ? "(" : "");
        write_node(w, scope, operand[k]);
        put_text(w, number ? ", dtype=torch.float64)" : choice && !k ? ")" : "");
        put_text(w, choice && !k ? " > 0" : "");
    }
    put_text(w, choice ? ", 0.0)" : ")");
    return ATOM;
}

/* Whether an operator is a function of arrays. */
static bool is_function(enum sr_notation notation, int op)
{
    const bool arrays = style_of(notation) == SR_SYMPY && notation != SR_SYMPY;
    return arrays && (op == SR_COND || (functions[op][0] && forms[op].text[SR_SYMPY] &&
                                        !(notation == SR_TORCH && op == SR_CBRT)));
}

/* Writes a node with its operands. Stops where the text is full, as nested user-defined operators
 * may grow exponentially. */
static enum binding write_node(struct writer *w, const struct scope *scope, int i)
{
    const struct sr_node *node = &scope->expr->node[i];
    if (w->used + 1 == w->bytes)
        return ATOM;
    if (node->op == SR_CONSTANT && w->language && node->feature &&
        node->feature <= w->language->named)
        return write_constant(w, node);
    if (node->op == SR_CONSTANT) {
        const bool padded = w->decimals && sr_is_number(node);
        return write_number(w, node->value, padded ? w->decimals[w->numbers++] : 0);
    }
    if (node->op == SR_FEATURE)
        return scope->around ? write_node(w, scope->around, scope->operand[node->feature])
                             : write_name(w, w->names[node->feature]);
    if (w->notation == SR_PRINTED)
        return write_plain(w, scope, i);
    if (w->notation == SR_INFIX)
        return write_infix(w, scope, i);
    if (w->notation == SR_MATHML && (node->op >= SR_CUSTOM || !mathml[node->op]))
        return write_mathml_call(w, scope, i);
    if (node->op >= SR_CUSTOM)
        return write_custom(w, scope, i);
    const enum sr_notation style = style_of(w->notation);
    if (is_function(w->notation, node->op))
        return write_function(w, scope, i);
    if (!forms[node->op].text[style] || (w->notation == SR_TORCH && node->op == SR_CBRT)) {
        const struct sr_expr *formula = &expansions[node->op];
        const struct scope inner = {formula, scope, {sr_expr_left(scope->expr, i), i - 1}};
        return write_node(w, &inner, formula->count - 1);
    }
    const struct layout *layout = &layouts[forms[node->op].layout];
    const bool minus = w->notation == SR_MATHML && node->op == SR_NEG; /* -a b needs none */
    const enum binding need[2] = {minus ? PRODUCT : layout->need[0][style], layout->need[1][style]};
    const char *const form =
        w->notation == SR_MATHML ? mathml[node->op] : forms[node->op].text[style];
    return write_form(w, scope, i, form, need, layout->result[style]);
}

void sr_expr_text(const struct sr_language *language, const struct sr_expr *expr,
                  enum sr_notation notation, const char *const *names, char *text, size_t bytes)
{
    struct writer w = {language, notation, names, text, bytes, 0, NULL, 0};
    const struct scope scope = {.expr = expr};
    write_node(&w, &scope, expr->count - 1);
    text[w.used] = '\0';
}

void sr_expr_infix(const struct sr_language *language, const struct sr_expr *expr,
                   const int *decimals, const char *const *names, char *text, size_t bytes)
{
    struct writer w = {language, SR_INFIX, names, text, bytes, 0, decimals, 0};
    const struct scope scope = {.expr = expr};
    write_node(&w, &scope, expr->count - 1);
    text[w.used] = '\0';
}

void sr_expr_print(const struct sr_language *language, const struct sr_expr *expr,
                   const char *const *names, char *text, size_t bytes)
{
    sr_expr_text(language, expr, SR_PRINTED, names, text, bytes);
}
