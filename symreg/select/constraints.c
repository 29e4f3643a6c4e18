/* constraints.c - prices of nodes, and constraints on the shape of formulas. */
#include "select.h"
#include "template.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- "a; b; c": one entry at a time */

enum { ENTRY = 128 };

/* The start of a list; NULL: it has no entries. */
static const char *first_entry(const char *list)
{
    return list && *list ? list : NULL;
}

/* Copies the next entry without blanks; returns 0 behind the last one. Behind a separator at the
 * end of the list there is an empty entry, which no option admits. */
static int next_entry(const char **at, const char *separators, char entry[ENTRY])
{
    size_t n = 0;
    if (!*at)
        return 0;
    for (; **at && !strchr(separators, **at); (*at)++) {
        for (size_t quoted = sr_name_quoted(*at); quoted > 1; quoted--, (*at)++)
            if (n + 1 < ENTRY) /* but the last quote, which follows */
                entry[n++] = **at;
        if (!isspace((unsigned char)**at) && n + 1 < ENTRY)
            entry[n++] = **at;
    }
    *at = **at ? *at + 1 : NULL;
    entry[n] = '\0';
    return 1;
}

static bool seek_op(const struct sr_language *language, const char *name, enum sr_op *op,
                    struct orr_nearest *nearest)
{
    return sr_op_seek(language, strcmp(name, "ln") ? name : "log", op, nearest);
}

static int find_op(const struct sr_language *language, const char *option, const char *name,
                   enum sr_op *op)
{
    struct orr_nearest nearest = {0};
    char meant[128];
    if (seek_op(language, name, op, &nearest))
        return 0;
    orr_nearest_text(&nearest, meant);
    return ORR_FAIL(ORR_EUSAGE, "%s: no operator \"%s\"%s", option, name, meant);
}

static int whole_number(const char *option, const char *entry, const char *text, long low, long *n)
{
    if (!orr_whole(text, low, SR_NODES, n))
        return ORR_FAIL(ORR_EUSAGE, "%s: \"%s\": expected a whole number from %ld to %d", option,
                        entry, low, SR_NODES);
    return 0;
}

/* ---- complexity */

/* Whether any node costs more than 1; false without a language. */
static bool is_priced(const struct sr_language *language)
{
    return language && language->priced;
}

static int surcharge_of(const struct sr_language *language, const struct sr_node *node)
{
    return language->surcharge[node->op] +
           (node->op == SR_FEATURE ? language->dearer[node->feature] : 0);
}

/* The sum of the surcharges of nodes first .. last. */
static int sum_surcharges(const struct sr_language *language, const struct sr_expr *expr, int first,
                          int last)
{
    int total = 0;
    for (int i = first; i <= last; i++)
        total += surcharge_of(language, &expr->node[i]);
    return total;
}

/* The complexity where a subtree of named constants and numbers counts as one constant. */
static int complexity_by_names(const struct sr_language *language, const struct sr_expr *expr)
{
    int total = 0, named = 0;
    for (int i = 0; i < expr->count; i++)
        named += expr->node[i].op == SR_CONSTANT && expr->node[i].feature;
    if (!named)
        return expr->count + sum_surcharges(language, expr, 0, expr->count - 1);
    for (int i = expr->count - 1; i >= 0;) {
        const bool joined = sr_expr_is_named(expr, i);
        total += 1 + (joined ? language->surcharge[SR_CONSTANT]
                             : surcharge_of(language, &expr->node[i]));
        i -= joined ? expr->node[i].size : 1;
    }
    return total;
}

int sr_expr_complexity(const struct sr_language *language, const struct sr_expr *expr)
{
    if (language && language->named)
        return complexity_by_names(language, expr);
    return expr->count +
           (is_priced(language) ? sum_surcharges(language, expr, 0, expr->count - 1) : 0);
}

int sr_scale_complexity(const struct sr_language *language)
{
    return 2 + (is_priced(language) ? language->surcharge[SR_CONSTANT] + language->surcharge[SR_MUL]
                                    : 0);
}

/* Sets one price, "exp=3". given: what has a price, operators and features. */
static int set_price(struct sr_language *language, const char *entry, const char *equals,
                     const char *const *names, int features, uint64_t given[2])
{
    char name[ENTRY], column[ENTRY], meant[128];
    struct orr_nearest nearest = {0};
    enum sr_op op = SR_CONSTANT;
    long price = 1;
    int feature = -1;
    snprintf(name, sizeof name, "%.*s", (int)(equals - entry), entry);
    if (!strcmp(name, "variable"))
        op = SR_FEATURE;
    else if (strcmp(name, "constant") != 0 && !seek_op(language, name, &op, &nearest)) {
        if (sr_name_read(name, strlen(name), column, sizeof column))
            feature = sr_feature_find(column, names, features, &nearest);
        orr_nearest_text(&nearest, meant);
        if (feature < 0)
            return ORR_FAIL(ORR_EUSAGE, "--complexity: no operator%s \"%s\"%s",
                            features ? " or column" : "", name, meant);
    }
    TRY(whole_number("--complexity", entry, equals + 1, 1, &price));
    const int bit = feature < 0 ? (int)op : feature;
    if (given[feature >= 0] >> bit & 1)
        return ORR_FAIL(ORR_EUSAGE, "--complexity: \"%s\" stands twice", name);
    given[feature >= 0] |= (uint64_t)1 << bit;
    if (feature >= 0)
        language->dearer[feature] = (signed char)(price - 1);
    else
        language->surcharge[op] = (unsigned char)(price - 1);
    language->priced = language->priced || price > 1;
    return 0;
}

int sr_complexity_set(struct sr_language *language, const char *text, const char *const *names,
                      int features)
{
    char entry[ENTRY];
    uint64_t given[2] = {0};
    memset(language->surcharge, 0, sizeof language->surcharge);
    memset(language->dearer, 0, sizeof language->dearer);
    language->priced = false;
    for (const char *at = first_entry(text); next_entry(&at, ",;", entry);) {
        const size_t quoted = sr_name_quoted(entry);
        const char *equals = strchr(entry + quoted, '=');
        if (!equals || equals == entry)
            return ORR_FAIL(ORR_EUSAGE, "--complexity: expected \"exp=3, ^=2\", found \"%s\"",
                            text);
        TRY(set_price(language, entry, equals, names, features, given));
    }
    for (int f = 0; f < features; f++) /* its own price stands in place of that of variables */
        if (given[1] >> f & 1)
            language->dearer[f] =
                (signed char)(language->dearer[f] - language->surcharge[SR_FEATURE]);
    return 0;
}

/* ---- shape */

void sr_constraints_init(struct sr_constraints *constraints, const struct sr_language *language)
{
    *constraints =
        (struct sr_constraints){.language = language, .maxsize = SR_NODES, .any_shape = true};
    for (int op = 0; op < SR_ALL_OPS; op++) {
        constraints->argument[op][0] = constraints->argument[op][1] = -1;
        for (int inner = 0; inner < SR_ALL_OPS; inner++)
            constraints->nest[op][inner] = -1;
    }
}

/* Splits "name:rest" in two. */
static int split_name(const struct sr_language *language, const char *option, const char *example,
                      const char *text, char *entry, enum sr_op *op, char **rest)
{
    char *colon = strchr(entry, ':');
    if (!colon || colon == entry)
        return ORR_FAIL(ORR_EUSAGE, "%s: expected \"%s\", found \"%s\"%s%s%s", option, example,
                        entry, *entry ? "" : " in \"", *entry ? "" : text, *entry ? "" : "\"");
    *colon = '\0';
    *rest = colon + 1;
    return find_op(language, option, entry, op);
}

static int wrong_sizes(const struct sr_op_info *info, const char *found)
{
    return ORR_FAIL(ORR_EUSAGE, "--constrain: %s: expected %d sizes, found \"%s\"", info->name,
                    info->arity, found);
}

int sr_constraints_arguments(struct sr_constraints *constraints, const char *text)
{
    char entry[ENTRY];
    for (const char *at = first_entry(text); next_entry(&at, ";", entry);) {
        char *rest = NULL, number[ENTRY];
        enum sr_op op;
        TRY(split_name(constraints->language, "--constrain", "^:-1,1", text, entry, &op, &rest));
        const struct sr_op_info *const info = sr_op(constraints->language, (int)op);
        const char *list = first_entry(rest);
        int k = 0;
        for (; next_entry(&list, ",", number); k++) {
            long most;
            if (k == info->arity)
                return wrong_sizes(info, rest);
            TRY(whole_number("--constrain", number, number, -1, &most));
            constraints->argument[op][k] = (int)most;
        }
        if (k < info->arity)
            return wrong_sizes(info, rest);
    }
    constraints->any_shape = false;
    return 0;
}

int sr_constraints_nesting(struct sr_constraints *constraints, const char *text)
{
    char entry[ENTRY];
    for (const char *at = first_entry(text); next_entry(&at, ";", entry);) {
        char *rest = NULL, pair[ENTRY];
        enum sr_op outer = SR_CONSTANT, inner = SR_CONSTANT;
        TRY(split_name(constraints->language, "--nest", "sin:cos=0,sin=1", text, entry, &outer,
                       &rest));
        for (const char *list = first_entry(rest); next_entry(&list, ",", pair);) {
            char *equals = strchr(pair, '=');
            long most;
            if (!equals)
                return ORR_FAIL(ORR_EUSAGE,
                                "--nest: expected \"sin:cos=0\", found \"%s\" in \"%s\"", pair,
                                text);
            *equals = '\0';
            TRY(find_op(constraints->language, "--nest", pair, &inner));
            TRY(whole_number("--nest", pair, equals + 1, 0, &most));
            constraints->nest[outer][inner] = (int)most;
        }
    }
    constraints->any_shape = false;
    return 0;
}

/* The complexity of the subtree that ends at i. */
static int size_of(const struct sr_language *language, const struct sr_expr *expr, int i)
{
    return expr->node[i].size +
           (is_priced(language) ? sum_surcharges(language, expr, sr_expr_start(expr, i), i) : 0);
}

static bool arguments_fit(const struct sr_constraints *c, const struct sr_expr *expr)
{
    for (int i = 0; i < expr->count; i++) {
        const int arity = sr_expr_arity(expr, i), *most = c->argument[expr->node[i].op];
        if (arity &&
            ((most[0] >= 0 && size_of(c->language, expr, sr_expr_left(expr, i)) > most[0]) ||
             (arity == 2 && most[1] >= 0 && size_of(c->language, expr, i - 1) > most[1])))
            return false;
    }
    return true;
}

/* For every node, the largest number of `inner` operators (-1: of any nodes) on a path from a leaf
 * to that node. */
static void count_on_paths(const struct sr_expr *expr, int inner, int *most)
{
    for (int i = 0; i < expr->count; i++) {
        most[i] = 0;
        if (sr_expr_arity(expr, i)) {
            const int left = most[sr_expr_left(expr, i)], right = most[i - 1];
            most[i] = left > right ? left : right;
        }
        most[i] += inner < 0 || expr->node[i].op == inner;
    }
}

static bool nesting_fits(const struct sr_constraints *c, const struct sr_expr *expr)
{
    int most[SR_NODES];
    for (int inner = SR_FEATURE + 1; inner < SR_ALL_OPS; inner++) {
        bool asked = false;
        for (int i = 0; i < expr->count; i++)
            asked = asked || c->nest[expr->node[i].op][inner] >= 0;
        if (!asked)
            continue;
        count_on_paths(expr, inner, most);
        for (int i = 0; i < expr->count; i++) {
            const int limit = c->nest[expr->node[i].op][inner];
            if (limit >= 0 && most[i] - (expr->node[i].op == inner) > limit)
                return false;
        }
    }
    return true;
}

static int depth_of(const struct sr_expr *expr)
{
    int most[SR_NODES];
    count_on_paths(expr, -1, most);
    return most[expr->count - 1];
}

/* Whether the formula depends on the required columns: r + 0 * m does not depend on m. */
static bool uses_required(const struct sr_constraints *c, const struct sr_expr *expr)
{
    struct sr_expr plain = *expr;
    uint64_t missing = c->required;
    sr_expr_simplify(c->language, &plain);
    for (int i = 0; i < plain.count; i++)
        if (plain.node[i].op == SR_FEATURE)
            missing &= ~((uint64_t)1 << plain.node[i].feature);
    return missing == 0;
}

static bool are_bounded(const struct sr_language *language, const struct sr_expr *expr)
{
    double value[SR_NODES], low[SR_NODES], high[SR_NODES];
    const int count = sr_expr_constants(expr, value);
    sr_expr_bounds(language, expr, low, high);
    for (int i = 0; i < count; i++)
        if (value[i] < low[i] || value[i] > high[i])
            return false;
    return true;
}

static bool meets_constraints(const struct sr_expr *expr, const struct sr_constraints *c,
                              bool whole)
{
    if (c->form && !sr_template_admits(c->form, expr))
        return false;
    if (is_priced(c->language) && sr_expr_complexity(c->language, expr) > c->maxsize)
        return false;
    if (c->maxdepth && depth_of(expr) > c->maxdepth)
        return false;
    if (!c->any_shape && !(arguments_fit(c, expr) && nesting_fits(c, expr)))
        return false;
    if (whole && c->required && !uses_required(c, expr))
        return false;
    if (whole && c->language && c->language->bounded && !are_bounded(c->language, expr))
        return false;
    if (whole && c->shape && !sr_shape_holds(c->shape, c->language, expr))
        return false;
    return !c->units || c->units_penalty > 0 ||
           sr_units_violations(c->units, c->language, expr, whole) == 0;
}

bool sr_constraints_admissible(const struct sr_expr *expr, const void *context)
{
    return meets_constraints(expr, context, false);
}

bool sr_constraints_whole(const struct sr_expr *expr, const void *context)
{
    return meets_constraints(expr, context, true);
}

double sr_constraints_penalty(const struct sr_expr *expr, bool whole, const void *context)
{
    const struct sr_constraints *c = context;
    if (!c->units || !(c->units_penalty > 0))
        return 0;
    return c->units_penalty * sr_units_violations(c->units, c->language, expr, whole);
}
