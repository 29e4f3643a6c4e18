/* text.c - formulas as text: printing in PySR's notation and reading it back. */
#include "expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing */

void sr_number_print(double value, char text[SR_NUMBER])
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, SR_NUMBER, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (!(back < value) && !(back > value))
            return;
    }
}

struct printer {
    const struct sr_language *language;
    const struct sr_expr *expr;
    const char *const *names;
    char *text;
    size_t bytes, used;
};

static void put(struct printer *p, const char *text)
{
    const size_t length = strlen(text);
    const size_t room = p->bytes - 1 - p->used, take = length < room ? length : room;
    memcpy(p->text + p->used, text, take);
    p->used += take;
}

static void print_node(struct printer *p, int i)
{
    const struct sr_node *node = &p->expr->node[i];
    const struct sr_op_info *info = sr_op(p->language, node->op);
    char number[SR_NUMBER];
    if (node->op == SR_CONSTANT) {
        sr_number_print(node->value, number);
        put(p, number);
        return;
    }
    if (node->op == SR_FEATURE) {
        put(p, p->names[node->feature]);
        return;
    }
    if (!info->infix)
        put(p, info->name);
    put(p, "(");
    if (info->arity == 2) {
        const int left = i - 1 - p->expr->node[i - 1].size;
        const struct sr_node *base = &p->expr->node[left];
        /* -2 ^ 2 is -4 in every notation, (-2) ^ 2 is 4 */
        const bool guard = node->op == SR_POW && base->op == SR_CONSTANT && signbit(base->value);
        put(p, guard ? "(" : "");
        print_node(p, left);
        put(p, guard ? ")" : "");
        if (info->infix) {
            put(p, " ");
            put(p, info->name);
            put(p, " ");
        } else {
            put(p, ", ");
        }
    }
    print_node(p, i - 1);
    put(p, ")");
}

void sr_expr_print(const struct sr_language *language, const struct sr_expr *expr,
                   const char *const *names, char *text, size_t bytes)
{
    struct printer p = {
        .language = language, .expr = expr, .names = names, .text = text, .bytes = bytes};
    print_node(&p, expr->count - 1);
    text[p.used] = '\0';
}

/* ---- parsing: sum = term {+- term}, term = factor {*\/ factor}, factor = {+-} power,
 * power = atom [^ factor] */

struct parser {
    const struct sr_language *language;
    const char *text, *at;
    const char *const *names;
    int features, depth;
    struct sr_expr *expr;
};

static int parse_sum(struct parser *p);

static int emit(struct parser *p, struct sr_node node)
{
    if (p->expr->count == SR_NODES)
        return ORR_FAIL(ORR_EINVAL, "formula: more than %d nodes", SR_NODES);
    p->expr->node[p->expr->count++] = node;
    return 0;
}

static bool take(struct parser *p, char c)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static int expected(const struct parser *p, const char *what)
{
    return ORR_FAIL(ORR_EINVAL, "formula: expected %s at character %td of \"%s\"", what,
                    p->at - p->text + 1, p->text);
}

static int parse_call(struct parser *p, enum sr_op op)
{
    for (int k = 0; k < sr_op(p->language, (int)op)->arity; k++) {
        if (k && !take(p, ','))
            return expected(p, "\",\"");
        const int rc = parse_sum(p);
        if (rc)
            return rc;
    }
    return take(p, ')') ? emit(p, (struct sr_node){.op = (uint8_t)op}) : expected(p, "\")\"");
}

static int parse_name(struct parser *p)
{
    const char *start = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    const size_t length = (size_t)(p->at - start);
    if (take(p, '(')) {
        for (int op = SR_FEATURE + 1; sr_op_known(p->language, op); op++) {
            const struct sr_op_info *info = sr_op(p->language, op);
            if (!info->infix && strlen(info->name) == length && !strncmp(info->name, start, length))
                return parse_call(p, (enum sr_op)op);
        }
        p->at = start;
        return expected(p, "an operator");
    }
    for (int f = 0; f < p->features; f++)
        if (strlen(p->names[f]) == length && !strncmp(p->names[f], start, length))
            return emit(p, (struct sr_node){.op = SR_FEATURE, .feature = (uint8_t)f});
    p->at = start;
    return expected(p, "a feature, an operator or a number");
}

static int parse_atom(struct parser *p)
{
    if (++p->depth > 4 * SR_NODES)
        return ORR_FAIL(ORR_EINVAL, "formula: nested too deep");
    int rc;
    char *end = NULL;
    if (take(p, '(')) {
        rc = parse_sum(p);
        if (!rc && !take(p, ')'))
            rc = expected(p, "\")\"");
    } else if (isalpha((unsigned char)*p->at) || *p->at == '_') {
        rc = parse_name(p);
    } else { /* signs are the factor's; strtod would take them, and "inf", too */
        const bool number = isdigit((unsigned char)*p->at) || *p->at == '.';
        const double value = number ? strtod(p->at, &end) : 0;
        if (!number || end == p->at || !isfinite(value))
            return expected(p, "a feature, an operator or a number");
        p->at = end;
        rc = emit(p, (struct sr_node){.op = SR_CONSTANT, .value = value});
    }
    p->depth--;
    return rc;
}

static int parse_factor(struct parser *p);

static int parse_power(struct parser *p)
{
    int rc = parse_atom(p);
    if (!rc && take(p, '^')) {
        rc = parse_factor(p);
        if (!rc)
            rc = emit(p, (struct sr_node){.op = SR_POW});
    }
    return rc;
}

/* The minus of a number alone is the number's own: "-2" is one node, "-2 ^ 2" is -(2 ^ 2). */
static int parse_factor(struct parser *p)
{
    const bool minus = take(p, '-');
    if (!minus && !take(p, '+'))
        return parse_power(p);
    if (++p->depth > 4 * SR_NODES)
        return ORR_FAIL(ORR_EINVAL, "formula: nested too deep");
    const int before = p->expr->count;
    const int rc = parse_factor(p);
    p->depth--;
    if (rc || !minus)
        return rc;
    struct sr_node *last = &p->expr->node[p->expr->count - 1];
    if (p->expr->count != before + 1 || last->op != SR_CONSTANT)
        return emit(p, (struct sr_node){.op = SR_NEG});
    last->value = -last->value;
    return 0;
}

static int parse_term(struct parser *p)
{
    int rc = parse_factor(p);
    while (!rc) {
        const bool product = take(p, '*');
        if (!product && !take(p, '/'))
            break;
        rc = parse_factor(p);
        if (!rc)
            rc = emit(p, (struct sr_node){.op = product ? SR_MUL : SR_DIV});
    }
    return rc;
}

static int parse_sum(struct parser *p)
{
    int rc = parse_term(p);
    while (!rc) {
        const bool sum = take(p, '+');
        if (!sum && !take(p, '-'))
            break;
        rc = parse_term(p);
        if (!rc)
            rc = emit(p, (struct sr_node){.op = sum ? SR_ADD : SR_SUB});
    }
    return rc;
}

int sr_expr_parse(const struct sr_language *language, const char *text, const char *const *names,
                  int features, struct sr_expr *expr)
{
    struct parser p = {.language = language,
                       .text = text,
                       .at = text,
                       .names = names,
                       .features = features,
                       .expr = expr};
    expr->count = 0;
    int rc = parse_sum(&p);
    if (!rc) {
        take(&p, ' ');
        if (*p.at)
            rc = expected(&p, "the end");
    }
    if (!rc && !sr_expr_measure(language, expr))
        rc = ORR_FAIL(ORR_EINVAL, "formula: \"%s\" is no single formula", text);
    return rc;
}
