/* fuzz_expr.c - any text as a formula, and as everything else of an option that is parsed: units,
 * constraints, own operators. A formula that is read prints to a text that reads to itself, and is
 * evaluated, simplified, checked and written in every notation without harm.
 *
 * The first byte chooses the parser, the rest is the text. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "symreg/solve/solve.h"

enum { NAMES = 6, ROWS = 3 };
static const char *const names[NAMES] = {"x", "y", "m1", "r", "exp", "a, \"b\""};
static const double table[NAMES * ROWS] = {1, -2, 0.5, 3, 0,   1e9, -1e-9, 7, 2,
                                           1, 1,  -1,  8, 0.1, 4,   -3,    0, 1e-5};

static void use(const struct sr_language *language, const struct sr_expr *expr)
{
    static char text[SR_TEXT], other[SR_TEXT];
    const struct sr_data data = {.rows = ROWS, .features = NAMES, .x = table, .language = language};
    double value[ROWS], jacobian[SR_NODES * ROWS], constants[SR_NODES];
    struct sr_expr again, simple = *expr;
    FUZZ_EXPECT(sr_expr_measure(language, &simple) && expr->count <= SR_NODES);
    sr_expr_print(language, expr, names, text, sizeof text);
    FUZZ_EXPECT(strlen(text) + 1 < sizeof text);
    FUZZ_EXPECT(sr_expr_parse(language, text, names, NAMES, &again) == 0);
    FUZZ_EXPECT(again.count == expr->count);
    sr_expr_print(language, &again, names, other, sizeof other);
    FUZZ_EXPECT(strcmp(text, other) == 0);
    const bool finite = sr_eval(expr, &data, value);
    FUZZ_EXPECT(sr_eval_jacobian(expr, &data, value, jacobian) == finite);
    FUZZ_EXPECT(sr_expr_constants(expr, constants) <= expr->count);
    sr_expr_simplify(language, &simple);
    FUZZ_EXPECT(sr_expr_measure(language, &simple) && simple.count <= expr->count);
    sr_expr_collect(language, &again);
    FUZZ_EXPECT(sr_expr_measure(language, &again));
    struct sr_export exported;
    sr_export_make(&exported, names, NAMES);
    for (int n = 0; n < SR_NOTATIONS; n++)
        sr_expr_write(language, expr, (enum sr_notation)n, &exported, other, sizeof other);
}

static void check_rules(struct sr_language *language, const char *text, struct sr_constraints *c,
                        struct sr_units *units)
{
    struct sr_expr expr;
    if (sr_expr_parse(language, "sin(x * 2) ^ y + exp(cos(m1)) / r", names, NAMES, &expr))
        return;
    if (!sr_units_parse(text, names, NAMES, "F", units))
        FUZZ_EXPECT(sr_units_violations(units, language, &expr, true) <= 2 * SR_NODES);
    sr_constraints_init(c, language);
    sr_constraints_arguments(c, text);
    sr_constraints_nesting(c, text);
    sr_constraints_whole(&expr, c);
    if (!sr_complexity_set(language, text, NULL, 0))
        FUZZ_EXPECT(sr_expr_complexity(language, &expr) >= expr.count);
    sr_complexity_set(language, NULL, NULL, 0);
}

FUZZ_TARGET(expr)
{
    static struct sr_constraints constraints;
    static struct sr_units units;
    char text[2048];
    struct sr_expr expr;
    if (size < 1 || size > sizeof text)
        return 0;
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    struct sr_language *language = sr_language_create();
    FUZZ_EXPECT(language != NULL);
    switch (bytes[0] % 4) {
    case 0: /* a formula */
        if (!sr_expr_parse(language, text, names, NAMES, &expr))
            use(language, &expr);
        break;
    case 1: /* own operators, and a formula of them */
        sr_custom_define(language, text);
        if (!sr_expr_parse(language, "g(x + h(y, g(r)))", names, NAMES, &expr))
            use(language, &expr);
        break;
    case 2:
        check_rules(language, text, &constraints, &units);
        break;
    default:
        if (!sr_custom_loss_define(language, text))
            sr_custom_loss(language, ROWS, table, table + ROWS, NULL, 1.5);
        break;
    }
    sr_language_free(language);
    return 0;
}
