/* parse.c - parses formulas: PySR's notation, arbitrary names of columns, and what people write
 * beside it.
 *
 *     choice     = either [? choice : choice]
 *     either     = both {|| both}
 *     both       = comparison {&& comparison}
 *     comparison = sum {(< | <= | > | >= | == | !=) sum}
 *     sum        = term {(+ | -) term}
 *     term       = factor {(* | /) factor}
 *     factor     = {+ | -} power
 *     power      = atom [^ factor]
 *
 * No operator of the table compares or chooses but greater() and cond(), of which the first four
 * lines are made: a < b is greater(b, a), a <= b is 1 - greater(a, b), a == b is
 * 1 - greater(abs(a - b), 0), && is a product, || a maximum, and c ? a : b is
 * cond(c, a) + cond(1 - c, b). */
#include "expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const struct sr_language *language;
    const char *text, *at;
    const char *const *names;
    int features, depth;
    const struct sr_unknown *unknown; /* NULL: an unknown word is an error */
    struct sr_expr *expr;
};

static int parse_choice(struct parser *p);

static int emit_node(struct parser *p, struct sr_node node)
{
    if (p->expr->count == SR_NODES)
        return ORR_FAIL(ORR_EINVAL, "formula: more than %d nodes", SR_NODES);
    p->expr->node[p->expr->count++] = node;
    return 0;
}

static int emit_op(struct parser *p, enum sr_op op)
{
    return emit_node(p, sr_op_node((int)op));
}

static bool take_character(struct parser *p, char c)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static int fail_expected(const struct parser *p, const char *what)
{
    return ORR_FAIL(ORR_EINVAL, "formula: expected %s at character %td of \"%s\"", what,
                    p->at - p->text + 1, p->text);
}

static int parse_call(struct parser *p, enum sr_op op)
{
    for (int k = 0; k < sr_op(p->language, (int)op)->arity; k++) {
        if (k && !take_character(p, ','))
            return fail_expected(p, "\",\"");
        TRY(parse_choice(p));
    }
    while ((op == SR_MIN || op == SR_MAX) && take_character(p, ',')) {
        TRY(emit_op(p, op));
        TRY(parse_choice(p));
    }
    return take_character(p, ')') ? emit_op(p, op) : fail_expected(p, "\")\"");
}

static bool is_name(const char *name, const char *start, size_t length)
{
    return strlen(name) == length && !strncmp(name, start, length);
}

static int parse_quoted(struct parser *p)
{
    char name[SR_TEXT];
    const size_t length = sr_name_quoted(p->at);
    if (length == 0)
        return fail_expected(p, "a name that ends with a quote");
    const int f = sr_name_read(p->at, length, name, sizeof name)
                      ? sr_feature_find(name, p->names, p->features, NULL)
                      : -1;
    if (f < 0)
        return fail_expected(p, "a name");
    p->at += length;
    return emit_node(p, sr_feature_node(f));
}

static int parse_unknown(struct parser *p, const char *start, size_t length, const char *expected)
{
    struct sr_node leaf;
    p->at = start;
    if (!p->unknown)
        return ORR_FAIL(ORR_EINVAL,
                        "formula: expected %s at character %td of \"%s\", found \"%.*s\"", expected,
                        start - p->text + 1, p->text, (int)length, start);
    TRY(p->unknown->read(p->unknown->context, &p->at, length, &leaf));
    return emit_node(p, leaf);
}

/* An operator with its operands, or a column. */
static int parse_word(struct parser *p)
{
    const char *start = p->at;
    const size_t length = sr_name_length(start);
    p->at += length;
    if (take_character(p, '(')) {
        for (int op = SR_FEATURE + 1; sr_op_known(p->language, op); op++) {
            const struct sr_op_info *info = sr_op(p->language, op);
            if (!info->infix && is_name(info->name, start, length))
                return parse_call(p, (enum sr_op)op);
        }
        if (is_name("ln", start, length))
            return parse_call(p, SR_LOG);
        return parse_unknown(p, start, length, "an operator");
    }
    for (int f = 0; f < p->features; f++)
        if (is_name(p->names[f], start, length))
            return emit_node(p, sr_feature_node(f));
    for (int k = 0; p->language && k < p->language->named; k++)
        if (is_name(p->language->constant_name[k], start, length))
            return emit_node(p, sr_named_node(p->language, k));
    return parse_unknown(p, start, length, "a known name, an operator or a number");
}

static int parse_atom(struct parser *p)
{
    if (++p->depth > 4 * SR_NODES)
        return ORR_FAIL(ORR_EINVAL, "formula: nested too deep");
    int rc;
    char *end = NULL;
    if (take_character(p, '(')) {
        rc = parse_choice(p);
        if (!rc && !take_character(p, ')'))
            rc = fail_expected(p, "\")\"");
    } else if (*p->at == '"') {
        rc = parse_quoted(p);
    } else if (sr_name_length(p->at) > 0) {
        rc = parse_word(p);
    } else { /* signs were read by the factor; strtod would also accept a sign, and "inf" */
        const bool number = isdigit((unsigned char)*p->at) || *p->at == '.';
        const double value = number ? strtod(p->at, &end) : 0;
        if (!number || end == p->at || !isfinite(value))
            return fail_expected(p, "a name, an operator or a number");
        p->at = end;
        rc = emit_node(p, sr_constant_node(value));
    }
    p->depth--;
    return rc;
}

static int parse_factor(struct parser *p);

static int parse_power(struct parser *p)
{
    TRY(parse_atom(p));
    if (take_character(p, '^')) {
        TRY(parse_factor(p));
        TRY(emit_op(p, SR_POW));
    }
    return 0;
}

/* A minus before a lone number belongs to the number: "-2" is one node, "-2 ^ 2" is -(2 ^ 2). */
static int parse_factor(struct parser *p)
{
    const bool minus = take_character(p, '-');
    if (!minus && !take_character(p, '+'))
        return parse_power(p);
    if (++p->depth > 4 * SR_NODES)
        return ORR_FAIL(ORR_EINVAL, "formula: nested too deep");
    const int before = p->expr->count;
    const int rc = parse_factor(p);
    p->depth--;
    if (rc || !minus)
        return rc;
    struct sr_node *last = &p->expr->node[p->expr->count - 1];
    if (p->expr->count != before + 1 || !sr_is_number(last))
        return emit_op(p, SR_NEG);
    last->value = -last->value;
    return 0;
}

static int parse_operand(struct parser *p, bool of_sum);

/* A left-associative chain of the two operators of one precedence level. */
static int parse_chain(struct parser *p, bool sum)
{
    TRY(parse_operand(p, sum));
    for (;;) {
        const bool first = take_character(p, sum ? '+' : '*');
        if (!first && !take_character(p, sum ? '-' : '/'))
            return 0;
        TRY(parse_operand(p, sum));
        TRY(emit_op(p, sum ? (first ? SR_ADD : SR_SUB) : (first ? SR_MUL : SR_DIV)));
    }
}

static int parse_operand(struct parser *p, bool of_sum)
{
    return of_sum ? parse_chain(p, false) : parse_factor(p);
}

static int parse_sum(struct parser *p)
{
    return parse_chain(p, true);
}

/* ---- comparisons and choices, made of greater() and cond() */

static bool take_word(struct parser *p, const char *word)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
    if (strncmp(p->at, word, strlen(word)) != 0)
        return false;
    p->at += strlen(word);
    return true;
}

/* Exchanges the formulas [start, middle) and [middle, end). */
static void exchange(struct sr_expr *expr, int start, int middle)
{
    struct sr_node first[SR_NODES];
    const size_t before = (size_t)(middle - start), after = (size_t)(expr->count - middle);
    memcpy(first, expr->node + start, before * sizeof *first);
    memmove(expr->node + start, expr->node + middle, after * sizeof *first);
    memcpy(expr->node + start + after, first, before * sizeof *first);
}

/* 1 - x of the x that begins at `start`. */
static int emit_not(struct parser *p, int start)
{
    const int end = p->expr->count;
    TRY(emit_node(p, sr_constant_node(1)));
    exchange(p->expr, start, end);
    return emit_op(p, SR_SUB);
}

/* |x| > 0 */
static int emit_not_zero(struct parser *p)
{
    TRY(emit_op(p, SR_ABS));
    TRY(emit_node(p, sr_constant_node(0)));
    return emit_op(p, SR_GREATER);
}

/* a and b begin at `start` and `middle`; `sign` is the first character of the comparison. */
static int emit_comparison(struct parser *p, char sign, bool or_equal, int start, int middle)
{
    if (sign == '=' || sign == '!') {
        TRY(emit_op(p, SR_SUB));
        TRY(emit_not_zero(p));
        return sign == '=' ? emit_not(p, start) : 0;
    }
    if ((sign == '<') != or_equal)
        exchange(p->expr, start, middle);
    TRY(emit_op(p, SR_GREATER));
    return or_equal ? emit_not(p, start) : 0;
}

/* *truth: whether the value can be 0 and 1 alone. 0 < a < 2 is refused: its readers mean both
 * comparisons, and one after the other would compare 0 or 1 with 2. */
static int parse_comparison(struct parser *p, bool *truth)
{
    static const char *const signs[] = {"<=", ">=", "==", "!=", "<", ">"};
    enum { SIGNS = sizeof signs / sizeof *signs };
    bool ordered = false;
    const int start = p->expr->count;
    TRY(parse_sum(p));
    *truth = false;
    for (;;) {
        const int middle = p->expr->count;
        int k = 0;
        while (k < SIGNS && !take_word(p, signs[k]))
            k++;
        if (k == SIGNS)
            return 0;
        const bool orders = *signs[k] == '<' || *signs[k] == '>';
        if (orders && ordered) {
            p->at -= strlen(signs[k]);
            return fail_expected(p, "a < b && b < c or (a < b) < c, not a < b < c,");
        }
        ordered |= orders;
        TRY(parse_sum(p));
        TRY(emit_comparison(p, *signs[k], k < 2, start, middle));
        *truth = true;
    }
}

/* a || b, and with `all` a && b. */
static int parse_logic(struct parser *p, bool all, bool *truth)
{
    TRY(all ? parse_comparison(p, truth) : parse_logic(p, true, truth));
    while (take_word(p, all ? "&&" : "||")) {
        TRY(*truth ? 0 : emit_not_zero(p));
        TRY(all ? parse_comparison(p, truth) : parse_logic(p, true, truth));
        TRY(*truth ? 0 : emit_not_zero(p));
        TRY(emit_op(p, all ? SR_MUL : SR_MAX));
        *truth = true;
    }
    return 0;
}

static int parse_choice(struct parser *p)
{
    bool truth;
    struct sr_node condition[SR_NODES];
    const int start = p->expr->count;
    TRY(parse_logic(p, false, &truth));
    if (!take_character(p, '?'))
        return 0;
    TRY(truth ? 0 : emit_not_zero(p));
    const int nodes = p->expr->count - start;
    memcpy(condition, p->expr->node + start, (size_t)nodes * sizeof *condition);
    TRY(parse_choice(p));
    TRY(emit_op(p, SR_COND));
    if (!take_character(p, ':'))
        return fail_expected(p, "\":\"");
    TRY(emit_node(p, sr_constant_node(1)));
    for (int i = 0; i < nodes; i++)
        TRY(emit_node(p, condition[i]));
    TRY(emit_op(p, SR_SUB));
    TRY(parse_choice(p));
    TRY(emit_op(p, SR_COND));
    return emit_op(p, SR_ADD);
}

int sr_expr_parse(const struct sr_language *language, const char *text, const char *const *names,
                  int features, struct sr_expr *expr)
{
    return sr_expr_parse_with(language, text, names, features, NULL, expr);
}

int sr_expr_parse_with(const struct sr_language *language, const char *text,
                       const char *const *names, int features, const struct sr_unknown *unknown,
                       struct sr_expr *expr)
{
    struct parser p = {.language = language,
                       .text = text,
                       .at = text,
                       .names = names,
                       .features = features,
                       .unknown = unknown,
                       .expr = expr};
    expr->count = 0;
    TRY(parse_choice(&p));
    take_character(&p, ' ');
    if (*p.at)
        TRY(fail_expected(&p, *p.at == '=' ? "\"==\" or the end" : "the end"));
    if (!sr_expr_measure(language, expr))
        return ORR_FAIL(ORR_EINVAL, "formula: \"%s\" is no single formula", text);
    return 0;
}
