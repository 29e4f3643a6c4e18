/* text.c - parses formulas in PySR's notation, with arbitrary column names. */
#include "expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

/* Length of a word. All non-ASCII characters count as letters. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    if (isdigit((unsigned char)*at))
        return 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] & 0x80)
        length++;
    return length;
}

/* Length of an index after a word, as in c1[star]; 0: none. */
static size_t index_length(const char *at)
{
    size_t length = 1;
    if (*at != '[')
        return 0;
    while (isdigit((unsigned char)at[length]) || word_length(at + length))
        length++;
    return length > 1 && at[length] == ']' ? length + 1 : 0;
}

bool sr_name_is_plain(const struct sr_language *language, const char *name)
{
    const size_t word = word_length(name), length = word + (word ? index_length(name + word) : 0);
    enum sr_op op;
    return length > 0 && !name[length] && !sr_op_seek(language, name, &op, NULL);
}

size_t sr_name_quoted(const char *text)
{
    size_t length = 1;
    if (*text != '"')
        return 0;
    for (; text[length]; length++)
        if (text[length] == '"' && text[++length] != '"')
            return length;
    return 0;
}

bool sr_name_read(const char *text, size_t length, char *name, size_t bytes)
{
    size_t n = 0;
    for (; length && *text == ' '; length--)
        text++;
    while (length && text[length - 1] == ' ')
        length--;
    const size_t quoted = length ? sr_name_quoted(text) : 0;
    if (length && *text == '"' && quoted != length)
        return false; /* unclosed quotes, or text after them */
    for (size_t i = quoted > 0; i < length - (quoted > 0); i++) {
        if (n + 1 >= bytes)
            return false;
        name[n++] = text[i];
        i += quoted && text[i] == '"'; /* skip the second of a doubled quote */
    }
    name[n] = '\0';
    return quoted || n > 0;
}

bool sr_name_next(const char **list, char *name, size_t bytes)
{
    const char *const at = *list + strspn(*list, " ");
    size_t length = sr_name_quoted(at);
    length += strcspn(at + length, ",");
    *list = at[length] ? at + length + 1 : NULL;
    return sr_name_read(at, length, name, bytes);
}

int sr_number_print(double value, char text[SR_NUMBER])
{
    enum { MOST = 17 };
    static const double large = 1e7; /* from here on powers of ten are shorter to read */
    for (int digits = 1;; digits++) {
        snprintf(text, SR_NUMBER, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if ((back < value || back > value) && digits < MOST)
            continue;
        if (fabs(value) < large && fabs(value) >= 1 && strchr(text, 'e'))
            snprintf(text, SR_NUMBER, "%.0f", value); /* 30, not 3e+01: a whole number */
        return digits;
    }
}

double sr_round_digits(double value, int digits)
{
    char text[SR_NUMBER];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL);
}

double sr_fewest_digits(double value, double share, int most)
{
    for (int digits = 1; digits <= most; digits++) {
        const double candidate = sr_round_digits(value, digits);
        if (fabs(candidate - value) <= share * fabs(value))
            return candidate;
    }
    return value;
}

/* ---- parsing: sum = term {+- term}, term = factor {*\/ factor}, factor = {+-} power,
 * power = atom [^ factor] */

struct parser {
    const struct sr_language *language;
    const char *text, *at;
    const char *const *names;
    int features, depth;
    const struct sr_unknown *unknown; /* NULL: an unknown word is an error */
    struct sr_expr *expr;
};

static int parse_sum(struct parser *p);

static int emit_node(struct parser *p, struct sr_node node)
{
    if (p->expr->count == SR_NODES)
        return ORR_FAIL(ORR_EINVAL, "formula: more than %d nodes", SR_NODES);
    p->expr->node[p->expr->count++] = node;
    return 0;
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
        TRY(parse_sum(p));
    }
    return take_character(p, ')') ? emit_node(p, sr_op_node((int)op)) : fail_expected(p, "\")\"");
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
        return fail_expected(p, "a feature");
    p->at += length;
    return emit_node(p, sr_feature_node(f));
}

static int parse_unknown(struct parser *p, const char *start, size_t length, const char *expected)
{
    struct sr_node leaf;
    p->at = start;
    if (!p->unknown)
        return fail_expected(p, expected);
    TRY(p->unknown->read(p->unknown->context, &p->at, length, &leaf));
    return emit_node(p, leaf);
}

/* An operator with its operands, or a column. */
static int parse_word(struct parser *p)
{
    const char *start = p->at;
    size_t length = word_length(start);
    length += index_length(start + length);
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
    return parse_unknown(p, start, length, "a feature, an operator or a number");
}

static int parse_atom(struct parser *p)
{
    if (++p->depth > 4 * SR_NODES)
        return ORR_FAIL(ORR_EINVAL, "formula: nested too deep");
    int rc;
    char *end = NULL;
    if (take_character(p, '(')) {
        rc = parse_sum(p);
        if (!rc && !take_character(p, ')'))
            rc = fail_expected(p, "\")\"");
    } else if (*p->at == '"') {
        rc = parse_quoted(p);
    } else if (word_length(p->at) > 0) {
        rc = parse_word(p);
    } else { /* signs were read by the factor; strtod would also accept a sign, and "inf" */
        const bool number = isdigit((unsigned char)*p->at) || *p->at == '.';
        const double value = number ? strtod(p->at, &end) : 0;
        if (!number || end == p->at || !isfinite(value))
            return fail_expected(p, "a feature, an operator or a number");
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
        TRY(emit_node(p, sr_op_node(SR_POW)));
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
        return emit_node(p, sr_op_node(SR_NEG));
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
        TRY(emit_node(p, sr_op_node(sum ? (first ? SR_ADD : SR_SUB) : (first ? SR_MUL : SR_DIV))));
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
    TRY(parse_sum(&p));
    take_character(&p, ' ');
    if (*p.at)
        TRY(fail_expected(&p, "the end"));
    if (!sr_expr_measure(language, expr))
        return ORR_FAIL(ORR_EINVAL, "formula: \"%s\" is no single formula", text);
    return 0;
}
