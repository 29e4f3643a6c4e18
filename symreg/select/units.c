/* units.c - dimensions of columns, and checks of formulas for dimensional consistency. */
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- reading "kg*AU/yr^2" */

struct reader {
    struct sr_units *units;
    const char *option, *text, *at;
};

static int fail_expected(const struct reader *r, const char *what)
{
    return ORR_FAIL(ORR_EUSAGE, "%s: expected %s at character %td of \"%s\"", r->option, what,
                    r->at - r->text + 1, r->text);
}

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

int sr_units_base(struct sr_units *units, const char *option, const char *name, size_t length,
                  int *base)
{
    for (*base = 0; *base < units->bases; (*base)++)
        if (strlen(units->base[*base]) == length && !strncmp(units->base[*base], name, length))
            return 0;
    if (units->bases == SR_BASES)
        return ORR_FAIL(ORR_EUSAGE, "%s: more than %d different base units", option, SR_BASES);
    if (length >= sizeof units->base[0])
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: expected a name of a unit of at most %zu bytes, found "
                        "\"%.*s\"",
                        option, sizeof units->base[0] - 1, (int)length, name);
    memcpy(units->base[units->bases], name, length);
    units->base[units->bases++][length] = '\0';
    return 0;
}

/* Reads an exponent, "^-2", "^0.5" or "^(1/2)"; 1 when there is none. */
static int read_power(struct reader *r, double *power)
{
    char *end;
    *power = 1;
    skip_blanks(r);
    if (*r->at != '^')
        return 0;
    r->at++;
    skip_blanks(r);
    const bool fraction = *r->at == '(';
    r->at += fraction;
    *power = strtod(r->at, &end);
    if (end == r->at || !isfinite(*power))
        return fail_expected(r, "an exponent");
    r->at = end;
    if (fraction && *r->at == '/') {
        const double below = strtod(++r->at, &end);
        if (end == r->at || !(fabs(below) > 0) || !isfinite(below))
            return fail_expected(r, "an exponent");
        *power /= below;
        r->at = end;
    }
    if (fraction && *r->at++ != ')')
        return r->at--, fail_expected(r, "\")\"");
    return 0;
}

/* Reads factors separated by * and /, up to "," or the end. */
static int read_dimension(struct reader *r, struct sr_dimension *dimension)
{
    double sign = 1;
    memset(dimension, 0, sizeof *dimension);
    for (;;) {
        skip_blanks(r);
        const char *start = r->at;
        int base = -1;
        double power;
        if (*r->at == '1') {
            r->at++;
        } else {
            while (isalpha((unsigned char)*r->at) || *r->at == '_' || (*r->at & 0x80))
                r->at++;
            if (r->at == start)
                return fail_expected(r, "a unit");
            const size_t length = (size_t)(r->at - start);
            if (length != 3 || strncmp(start, "rad", length)) /* radians are pure numbers */
                TRY(sr_units_base(r->units, r->option, start, length, &base));
        }
        TRY(read_power(r, &power));
        if (base >= 0)
            dimension->power[base] += sign * power;
        skip_blanks(r);
        if (!*r->at || *r->at == ',')
            return 0;
        if (*r->at != '*' && *r->at != '/')
            return fail_expected(r, "\"*\", \"/\" or \",\"");
        sign = *r->at++ == '*' ? 1 : -1;
    }
}

int sr_units_read(const char *text, const char *option, struct sr_units *units,
                  struct sr_dimension *dimension)
{
    struct reader r = {.units = units, .option = option, .text = text, .at = text};
    TRY(read_dimension(&r, dimension));
    return *r.at ? fail_expected(&r, "the end") : 0;
}

void sr_units_print(const struct sr_units *units, const struct sr_dimension *dimension, char *text,
                    size_t bytes)
{
    size_t used = 0;
    snprintf(text, bytes, "1");
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int b = 0; b < units->bases && used < bytes; b++) {
            const double power = dimension->power[b] * sign;
            char exponent[SR_NUMBER + 1] = "^";
            if (!(power > 1e-9))
                continue;
            if (fabs(power - 1) < 1e-9)
                *exponent = '\0';
            else
                sr_number_print(power, exponent + 1);
            used += (size_t)snprintf(text + used, bytes - used, "%s%s%s",
                                     used ? (sign > 0 ? "*" : "/") : (sign > 0 ? "" : "1/"),
                                     units->base[b], exponent);
        }
}

/* Finds where the dimension of a named column is stored. */
static int find_column(const char *name, const char *const *names, int features, const char *target,
                       struct sr_units *units, struct sr_dimension **place)
{
    struct orr_nearest nearest = {0};
    char meant[128];
    orr_nearest_offer(&nearest, name, target);
    if (!strcmp(name, target)) {
        units->target_known = true;
        *place = &units->target;
        return 0;
    }
    const int f = sr_feature_find(name, names, features, &nearest);
    orr_nearest_text(&nearest, meant);
    *place = f < 0 ? NULL : &units->feature[f];
    return *place ? 0
                  : ORR_FAIL(ORR_EUSAGE, "--units: \"%s\" is no feature and not the target%s", name,
                             meant);
}

int sr_units_parse(const char *text, const char *const *names, int features, const char *target,
                   struct sr_units *units)
{
    const struct sr_dimension *seen[SR_FEATURES + 1];
    struct reader r = {.units = units, .option = "--units", .text = text, .at = text};
    int given = 0;
    memset(units, 0, sizeof *units);
    for (;;) {
        char name[256];
        struct sr_dimension *place = NULL, dimension;
        skip_blanks(&r);
        size_t length = sr_name_quoted(r.at);
        length += strcspn(r.at + length, "=,");
        if (r.at[length] != '=' || !sr_name_read(r.at, length, name, sizeof name))
            return fail_expected(&r, "column=unit, a name with \",\" or \"=\" in double quotes,");
        r.at += length + 1;
        TRY(find_column(name, names, features, target, units, &place));
        TRY(read_dimension(&r, &dimension));
        for (int k = 0; k < given; k++)
            if (place == seen[k])
                return ORR_FAIL(ORR_EUSAGE, "--units: \"%s\" stands twice", name);
        seen[given++] = place;
        *place = dimension;
        if (!*r.at)
            return 0;
        r.at++;
    }
}

/* ---- checking */

/* A dimension, or `any`: a quantity with a constant factor takes the dimension that its position
 * requires. */
struct quantity {
    bool any;
    struct sr_dimension d;
};

bool sr_dimension_is_none(const struct sr_dimension *d)
{
    for (int b = 0; b < SR_BASES; b++)
        if (fabs(d->power[b]) > 1e-9)
            return false;
    return true;
}

static bool are_equal(const struct sr_dimension *a, const struct sr_dimension *b)
{
    for (int k = 0; k < SR_BASES; k++)
        if (fabs(a->power[k] - b->power[k]) > 1e-9)
            return false;
    return true;
}

static struct quantity raise_quantity(struct quantity q, double power)
{
    for (int b = 0; b < SR_BASES; b++)
        q.d.power[b] *= power;
    return q;
}

/* a * b^sign */
static struct quantity multiply_quantities(const struct quantity *a, const struct quantity *b,
                                           double sign)
{
    struct quantity q = {.any = a->any || b->any};
    for (int k = 0; k < SR_BASES && !q.any; k++)
        q.d.power[k] = a->d.power[k] + sign * b->d.power[k];
    return q;
}

/* Joins both operands of a sum, min or max. */
static struct quantity join_quantities(const struct quantity *a, const struct quantity *b,
                                       int *violations)
{
    if (a->any)
        return *b;
    if (!b->any && !are_equal(&a->d, &b->d))
        ++*violations;
    return *a;
}

/* Requires a dimensionless operand, as for exp, sin and similar functions. */
static struct quantity require_number(const struct quantity *a, int *violations)
{
    if (!a->any && !sr_dimension_is_none(&a->d))
        ++*violations;
    return (struct quantity){0};
}

static struct quantity power_of(const struct quantity *a, const struct quantity *b,
                                const struct sr_node *exponent, int *violations)
{
    require_number(b, violations);
    if (a->any)
        return *a;
    if (exponent->op == SR_CONSTANT)
        return raise_quantity(*a, exponent->value);
    return require_number(a, violations); /* a dimensional base needs a known exponent */
}

/* What the leaves of a formula are: the columns, or the operands of a user-defined operator; and
 * the named constants. */
struct leaves {
    const struct sr_language *language;
    const struct sr_units *units;
    const struct quantity *feature; /* (count) */
    int count;
};

static struct quantity check_formula(const struct leaves *leaves, const struct sr_expr *expr,
                                     int first, int last, int *violations);

static struct quantity apply_operator(const struct leaves *leaves, const struct sr_expr *expr,
                                      int i, const struct quantity *a, const struct quantity *b,
                                      int *violations)
{
    const enum sr_op op = (enum sr_op)expr->node[i].op;
    const struct quantity arguments[2] = {*a, *b};
    if ((int)op >= SR_CUSTOM) {
        const struct sr_expr *formula = sr_op_formula(leaves->language, (int)op);
        const struct leaves inside = {leaves->language, leaves->units, arguments, 2};
        return check_formula(&inside, formula, 0, formula->count - 1, violations);
    }
    switch (sr_op_table[op].units) {
    case SR_UNITS_ALIKE:
        return join_quantities(a, b, violations);
    case SR_UNITS_RATIO:
        join_quantities(a, b, violations);
        return (struct quantity){0};
    case SR_UNITS_PRODUCT:
        return multiply_quantities(a, b, 1);
    case SR_UNITS_QUOTIENT:
        return multiply_quantities(a, b, -1);
    case SR_UNITS_POWER:
        return power_of(a, b, &expr->node[i - 1], violations);
    case SR_UNITS_RAISED:
        return raise_quantity(*a, sr_op_table[op].power);
    case SR_UNITS_KEPT:
        return *a;
    case SR_UNITS_SECOND:
        return *b;
    case SR_UNITS_LOST:
        return (struct quantity){0};
    case SR_UNITS_NUMBERS:
        if (sr_op_table[op].arity == 2)
            require_number(b, violations);
        break;
    }
    return require_number(a, violations);
}

static struct quantity leaf_quantity(const struct leaves *leaves, const struct sr_node *node)
{
    if (node->op == SR_FEATURE && node->feature < leaves->count)
        return leaves->feature[node->feature];
    if (node->op == SR_CONSTANT && node->feature > SR_NAMED) /* a fixed number */
        return (struct quantity){0};
    if (node->op == SR_CONSTANT && node->feature)
        return (struct quantity){.d = leaves->units->constant[node->feature - 1]};
    return (struct quantity){.any = true};
}

/* The quantity of nodes first .. last, a subtree. */
static struct quantity check_formula(const struct leaves *leaves, const struct sr_expr *expr,
                                     int first, int last, int *violations)
{
    struct quantity stack[SR_NODES / 2 + 1] = {{0}};
    int depth = 0;
    for (int i = first; i <= last; i++) {
        const int arity = sr_expr_arity(expr, i);
        if (arity == 0) {
            stack[depth++] = leaf_quantity(leaves, &expr->node[i]);
            continue;
        }
        depth -= arity;
        stack[depth] =
            apply_operator(leaves, expr, i, &stack[depth], &stack[depth + arity - 1], violations);
        depth++;
    }
    return stack[0];
}

static void fill_features(const struct sr_units *units, struct quantity feature[SR_FEATURES])
{
    for (int f = 0; f < SR_FEATURES; f++)
        feature[f] = (struct quantity){.d = units->feature[f]};
}

int sr_units_violations(const struct sr_units *units, const struct sr_language *language,
                        const struct sr_expr *expr, bool whole)
{
    struct quantity feature[SR_FEATURES];
    int violations = 0;
    fill_features(units, feature);
    const struct leaves leaves = {language, units, feature, SR_FEATURES};
    const struct quantity q = check_formula(&leaves, expr, 0, expr->count - 1, &violations);
    if (whole && units->target_known && !q.any && !are_equal(&q.d, &units->target))
        violations++;
    return violations;
}

/* ---- the dimension of a constant */

/* What an operand must be where node i must be `want`. The other operand, if any, is `other`. */
static struct quantity require_operand(const struct sr_language *language,
                                       const struct sr_expr *expr, int i, bool is_left,
                                       const struct quantity *want, const struct quantity *other)
{
    static const struct quantity any = {.any = true}, number = {.any = false};
    const int op = expr->node[i].op;
    const struct sr_node *exponent = &expr->node[i - 1];
    switch (sr_op(language, op)->units) {
    case SR_UNITS_ALIKE:
        return other->any ? *want : *other;
    case SR_UNITS_RATIO:
        return *other;
    case SR_UNITS_PRODUCT:
        return multiply_quantities(want, other, -1);
    case SR_UNITS_QUOTIENT:
        return is_left ? multiply_quantities(want, other, 1) : multiply_quantities(other, want, -1);
    case SR_UNITS_POWER:
        if (!is_left)
            return number;
        return exponent->op == SR_CONSTANT && exponent->value != 0 && !want->any
                   ? raise_quantity(*want, 1 / exponent->value)
                   : any;
    case SR_UNITS_RAISED:
        return want->any ? any : raise_quantity(*want, 1 / sr_op(language, op)->power);
    case SR_UNITS_KEPT:
        return *want;
    case SR_UNITS_SECOND:
        return is_left ? any : *want;
    case SR_UNITS_LOST:
        return any;
    case SR_UNITS_NUMBERS:
        break;
    }
    return op >= SR_CUSTOM ? any : number;
}

bool sr_units_of_constant(const struct sr_units *units, const struct sr_language *language,
                          const struct sr_expr *expr, int i, struct sr_dimension *dimension)
{
    struct quantity feature[SR_FEATURES];
    struct quantity want = {.any = !units->target_known, .d = units->target};
    fill_features(units, feature);
    const struct leaves leaves = {language, units, feature, SR_FEATURES};
    for (int at = expr->count - 1, violations = 0; at > i;) {
        const int left = sr_expr_left(expr, at);
        const bool binary = sr_expr_arity(expr, at) == 2, is_left = !binary || i <= left;
        const int other = is_left ? at - 1 : left;
        struct quantity q = {.any = true};
        if (binary)
            q = check_formula(&leaves, expr, sr_expr_start(expr, other), other, &violations);
        want = require_operand(language, expr, at, is_left, &want, &q);
        at = is_left ? left : at - 1;
    }
    *dimension = want.d;
    return !want.any;
}
