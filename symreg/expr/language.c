/* language.c - what a user adds to the table of operators; without any of it there is no language,
 * but NULL. */
#include "expr.h"

#include <math.h>
#include <stdlib.h>

struct sr_language *sr_language_create(void)
{
    return orr_alloc(1, sizeof(struct sr_language));
}

void sr_language_free(struct sr_language *language)
{
    free(language);
}

double sr_op_value(const struct sr_language *language, enum sr_op op, double a, double b)
{
    if ((int)op < SR_CUSTOM)
        return sr_op_table[op].value(a, b);
    const struct sr_expr *formula = sr_op_formula(language, (int)op);
    double stack[SR_NODES / 2 + 1] = {0};
    int depth = 0;
    for (int i = 0; i < formula->count; i++) {
        const struct sr_node *node = &formula->node[i];
        if (node->op == SR_CONSTANT) {
            stack[depth++] = node->value;
        } else if (node->op == SR_FEATURE) {
            stack[depth++] = node->feature ? b : a;
        } else {
            depth -= sr_expr_arity(formula, i);
            const double right = stack[depth + sr_expr_arity(formula, i) - 1];
            stack[depth] = sr_op_value(language, (enum sr_op)node->op, stack[depth], right);
            if (!isfinite(stack[depth++]))
                return NAN;
        }
    }
    return stack[0];
}
