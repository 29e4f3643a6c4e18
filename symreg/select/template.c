/* template.c - reads a template, and finds, checks and replaces its parts in formulas. */
#include "template.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- reading */

struct reader {
    struct sr_template *form;
    const char *const *names, *const *others;
    int features;
    size_t count;
};

/* Reads one column in the brackets of an unknown function; *at moves behind it. */
static int read_column(const struct reader *r, struct sr_part *part, const char **at)
{
    char name[256], hint[128];
    struct orr_nearest nearest = {0};
    size_t length = sr_name_quoted(*at);
    length += strcspn(*at + length, ",()+-*/^");
    const char end = (*at)[length];
    if (end != ',' && end != ')')
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: expected names of columns with commas between, then \")\", found "
                        "\"%.60s\"; only columns may stand in the brackets of an unknown function",
                        part->name, *at);
    if (!sr_name_read(*at, length, name, sizeof name))
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: expected the name of a column in the brackets, found \"%.*s\"; a "
                        "constant is written without brackets",
                        part->name, (int)length, *at);
    const int column = sr_feature_find(name, r->names, r->features, &nearest);
    if (column < 0) {
        orr_nearest_text(&nearest, hint);
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: expected a column of the features in the brackets, found \"%s\"%s",
                        part->name, name, hint);
    }
    for (int i = 0; i < part->columns; i++)
        if (part->column[i] == column)
            return ORR_FAIL(ORR_EUSAGE, "%s: column \"%s\" stands twice in the brackets",
                            part->name, name);
    part->column[part->columns++] = (uint8_t)column;
    *at += length;
    return 0;
}

static int read_columns(const struct reader *r, struct sr_part *part, const char **at)
{
    for (char last = ','; last == ','; last = *(*at)++) {
        *at += strspn(*at, " ");
        TRY(read_column(r, part, at));
    }
    return 0;
}

/* Whether a word may be an unknown part. */
static int check_word(const struct reader *r, const char *name, bool called)
{
    enum sr_op op;
    if (!strcmp(name, "ln") || sr_op_seek(r->form->language, name, &op, NULL))
        return ORR_FAIL(ORR_EUSAGE,
                        "\"%s\" is a known function: expected its argument in brackets, or another "
                        "name for an unknown one",
                        name);
    if (called && sr_feature_find(name, r->names, r->features, NULL) >= 0)
        return ORR_FAIL(ORR_EUSAGE,
                        "\"%s\" is a column and is called like a function; expected another name",
                        name);
    for (size_t i = 0; i < r->count; i++)
        if (!strcmp(r->others[i], name))
            return ORR_FAIL(ORR_EUSAGE,
                            "\"%s\" is the target or a column that is not among the features; "
                            "expected another name",
                            name);
    return 0;
}

/* Refuses a part that stands twice, and says what differs. */
static int check_twice(const struct sr_part *first, const struct sr_part *again)
{
    if (strcmp(first->name, again->name) != 0)
        return 0;
    if (!first->columns != !again->columns)
        return ORR_FAIL(ORR_EUSAGE, "\"%s\" is both a constant and a function of columns",
                        first->name);
    if (first->columns != again->columns)
        return ORR_FAIL(ORR_EUSAGE,
                        "\"%s\" has %d column%s in brackets once and %d another time; two "
                        "functions need two names",
                        first->name, first->columns, first->columns > 1 ? "s" : "", again->columns);
    const bool equal = !memcmp(first->column, again->column, (size_t)first->columns);
    return ORR_FAIL(ORR_EUSAGE,
                    "\"%s\" stands twice%s; expected every unknown function and constant once, or "
                    "another name for the second",
                    first->name, equal ? "" : ", with different columns in brackets");
}

/* The callback of sr_unknown. */
static int read_part(void *context, const char **at, size_t length, struct sr_node *leaf)
{
    const struct reader *r = context;
    struct sr_template *form = r->form;
    struct sr_part part = {.columns = 0, .low = -HUGE_VAL, .high = HUGE_VAL};
    const char *next = *at + length;
    if (length >= sizeof part.name)
        return ORR_FAIL(ORR_EUSAGE, "\"%.*s\": expected a name of at most %zu bytes", (int)length,
                        *at, sizeof part.name - 1);
    memcpy(part.name, *at, length);
    const char *const bracket = next + strspn(next, " ");
    const bool called = *bracket == '(';
    if (!called && !strcmp(part.name, "pi")) {
        *leaf = sr_constant_node(3.14159265358979323846);
        *at = next;
        return 0;
    }
    TRY(check_word(r, part.name, called));
    if (called) {
        next = bracket + 1;
        TRY(read_columns(r, &part, &next));
    }
    for (int k = 0; k < form->parts; k++)
        TRY(check_twice(&form->part[k], &part));
    if (form->parts == SR_PARTS)
        return ORR_FAIL(ORR_EUSAGE,
                        "expected at most %d unknown functions and constants, \"%s\" "
                        "is one more",
                        SR_PARTS, part.name);
    *leaf = sr_feature_node(SR_FEATURES + form->parts);
    form->functions += called;
    form->part[form->parts++] = part;
    *at = next;
    return 0;
}

int sr_template_parse(struct sr_template *form, const struct sr_language *language,
                      const char *text, const char *const *names, int features,
                      const char *const *others, size_t count)
{
    struct reader reader = {form, names, others, features, count};
    const struct sr_unknown unknown = {read_part, &reader};
    *form = (struct sr_template){.language = language};
    if (text[strcspn(text, "=")])
        return ORR_FAIL(ORR_EUSAGE,
                        "expected the right side alone, as \"f(r) + g(m)\", found \"=\" in \"%s\"",
                        text);
    TRY(sr_expr_parse_with(language, text, names, features, &unknown, &form->form));
    if (!form->parts)
        return ORR_FAIL(ORR_EUSAGE,
                        "\"%s\" has no unknown function, as f(COLUMN), and no unknown constant, as "
                        "k; --guess starts with a formula whose numbers are fitted",
                        text);
    for (int i = 0; i < form->form.count; i++)
        if (sr_is_number(&form->form.node[i]))
            form->form.node[i].feature = SR_FIXED;
    return 0;
}

/* ---- parts of formulas */

/* Whether a node is that of the form; `any_mark` takes numbers that are not marked as fixed. */
static bool is_equal(const struct sr_node *form, const struct sr_node *node, bool any_mark)
{
    if (form->op != node->op)
        return false;
    if (form->op == SR_CONSTANT)
        return form->value == node->value &&
               (form->feature == node->feature || (any_mark && sr_is_number(node)));
    return form->op != SR_FEATURE || form->feature == node->feature;
}

/* Finds the parts. In `marked`, unless NULL, the numbers of the template become SR_FIXED. */
static bool find_parts(const struct sr_template *form, const struct sr_expr *expr,
                       struct sr_expr *marked, struct sr_span span[SR_PARTS])
{
    int i = expr->count - 1, k = form->form.count - 1;
    for (; k >= 0 && i >= 0; k--) { /* from the roots down, in step */
        const struct sr_node *node = &form->form.node[k];
        if (node->op == SR_FEATURE && node->feature >= SR_FEATURES) {
            span[node->feature - SR_FEATURES] =
                (struct sr_span){sr_expr_start(expr, i), expr->node[i].size};
            i -= expr->node[i].size;
        } else if (is_equal(node, &expr->node[i], marked != NULL)) {
            if (marked && node->op == SR_CONSTANT)
                marked->node[i].feature = node->feature;
            i--;
        } else {
            return false;
        }
    }
    return k < 0 && i < 0;
}

bool sr_template_find(const struct sr_template *form, const struct sr_expr *expr,
                      struct sr_span span[SR_PARTS])
{
    return find_parts(form, expr, NULL, span);
}

bool sr_template_adopt(const struct sr_template *form, struct sr_expr *expr)
{
    struct sr_span span[SR_PARTS];
    struct sr_expr copy = *expr;
    if (!find_parts(form, expr, &copy, span))
        return false;
    *expr = copy;
    return true;
}

static int index_of(const struct sr_part *part, int column)
{
    for (int i = 0; i < part->columns; i++)
        if (part->column[i] == column)
            return i;
    return -1;
}

bool sr_template_admits(const struct sr_template *form, const struct sr_expr *expr)
{
    struct sr_span span[SR_PARTS];
    if (!sr_template_find(form, expr, span))
        return false;
    for (int k = 0; k < form->parts; k++)
        for (int i = span[k].start; i < span[k].start + span[k].size; i++) {
            const struct sr_node *node = &expr->node[i];
            if (node->op == SR_FEATURE && index_of(&form->part[k], node->feature) < 0)
                return false;
            if (node->op == SR_CONSTANT && node->feature)
                return false;
            if (!form->part[k].columns && span[k].size > 1)
                return false;
        }
    return true;
}

bool sr_template_take(const struct sr_template *form, int k, const struct sr_expr *expr,
                      struct sr_expr *part)
{
    struct sr_span span[SR_PARTS];
    if (!sr_template_find(form, expr, span))
        return false;
    part->count = span[k].size;
    memcpy(part->node, expr->node + span[k].start, (size_t)span[k].size * sizeof *part->node);
    for (int i = 0; i < part->count; i++)
        if (part->node[i].op == SR_FEATURE) {
            const int index = index_of(&form->part[k], part->node[i].feature);
            if (index < 0)
                return false;
            part->node[i].feature = (uint8_t)index;
        }
    return true;
}

bool sr_template_put(const struct sr_template *form, int k, const struct sr_expr *part, int limit,
                     struct sr_expr *expr)
{
    struct sr_span span[SR_PARTS];
    struct sr_expr copy = *part;
    for (int i = 0; i < copy.count; i++)
        if (copy.node[i].op == SR_FEATURE)
            copy.node[i].feature = form->part[k].column[copy.node[i].feature];
    return sr_template_find(form, expr, span) &&
           sr_expr_splice(form->language, expr, span[k].start, span[k].size, copy.node, copy.count,
                          limit);
}

/* ---- bounds of constants */

/* The constant of this name. */
static int find_constant(struct sr_template *form, const char *name, struct sr_part **found)
{
    struct orr_nearest nearest = {0};
    char hint[128];
    for (int k = 0; k < form->parts; k++) {
        struct sr_part *part = &form->part[k];
        orr_nearest_offer(&nearest, name, part->name);
        if (strcmp(part->name, name) != 0)
            continue;
        if (part->columns)
            return ORR_FAIL(ORR_EUSAGE,
                            "\"%s\" is an unknown function of --template, only constants "
                            "have bounds",
                            name);
        *found = part;
        return 0;
    }
    orr_nearest_text(&nearest, hint);
    return ORR_FAIL(ORR_EUSAGE, "\"%s\" is no unknown constant of --template%s", name, hint);
}

/* Reads one "0<p<1" of at most three sides; *at moves behind it. */
static int read_bounds(struct sr_template *form, const char *text, const char **at)
{
    char name[SR_OP_NAME], sign = 0;
    double number[3] = {0};
    struct sr_part *part = NULL;
    int sides = 0, place = -1, before = -1, after = -1;
    bool valid = true;
    for (bool more = true; valid && more;) {
        *at += strspn(*at, " ");
        const size_t word = strcspn(*at, " ,<>=");
        char *end = (char *)*at;
        if (strchr("+-.0123456789", **at)) {
            number[sides] = strtod(*at, &end);
            valid = end != *at && isfinite(number[sides]);
        } else if (place < 0 && word > 0 && word < sizeof name) {
            memcpy(name, *at, word);
            name[word] = '\0';
            TRY(find_constant(form, name, &part));
            place = sides;
            end += word;
        } else {
            valid = false;
        }
        *at = end + strspn(end, " ");
        more = ++sides < 3 && (**at == '<' || **at == '>') && (!sign || **at == sign);
        if (more) {
            sign = *(*at)++;
            *at += **at == '=';
        }
    }
    valid =
        valid && sides > 1 && place >= 0 && (sides == 2 || place == 1) && (!**at || **at == ',');
    if (!valid)
        return ORR_FAIL(ORR_EUSAGE,
                        "expected bounds of constants of --template, as \"k>0, 0<p<1\", found "
                        "\"%s\"",
                        text);
    before = place > 0 ? 0 : -1;
    after = place + 1 < sides ? sides - 1 : -1;
    const int least = sign == '<' ? before : after, most = sign == '<' ? after : before;
    if (least >= 0)
        part->low = fmax(part->low, number[least]);
    if (most >= 0)
        part->high = fmin(part->high, number[most]);
    return part->low < part->high
               ? 0
               : ORR_FAIL(ORR_EUSAGE, "no number is between the bounds of \"%s\"", part->name);
}

int sr_template_bounds(struct sr_template *form, const char *text)
{
    const char *at = text;
    for (bool more = true; more; at += more) {
        TRY(read_bounds(form, text, &at));
        more = *at == ',';
    }
    return 0;
}

void sr_template_limits(const void *context, const struct sr_expr *expr, double *low, double *high)
{
    const struct sr_template *form = context;
    struct sr_span span[SR_PARTS];
    if (!sr_template_find(form, expr, span))
        return;
    for (int k = 0; k < form->parts; k++)
        if (!form->part[k].columns && sr_is_number(&expr->node[span[k].start])) {
            int number = 0;
            for (int i = 0; i < span[k].start; i++)
                number += sr_is_number(&expr->node[i]);
            low[number] = form->part[k].low;
            high[number] = form->part[k].high;
        }
}

/* ---- printing */

void sr_template_head(const struct sr_template *form, int k, const char *const *names, char *text,
                      size_t bytes)
{
    const struct sr_part *part = &form->part[k];
    size_t used = (size_t)snprintf(text, bytes, "%s", part->name);
    for (int i = 0; i < part->columns && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s%s", i ? ", " : "(",
                                 names[part->column[i]], i + 1 == part->columns ? ")" : "");
}

void sr_template_text(const struct sr_template *form, int k, const struct sr_expr *expr,
                      const char *const *names, char *text, size_t bytes)
{
    struct sr_span span[SR_PARTS];
    struct sr_expr part;
    *text = '\0';
    if (!sr_template_find(form, expr, span))
        return;
    part.count = span[k].size;
    memcpy(part.node, expr->node + span[k].start, (size_t)span[k].size * sizeof *part.node);
    sr_expr_print(form->language, &part, names, text, bytes);
}
