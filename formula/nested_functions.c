/* nested_functions.c - functions directly inside themselves, as sin(sin(x)). */
#include "expr.h"

/* How many sines, exponentials and logarithms follow each other below a node. */
struct chain {
    int wave, exponential, logarithm;
};
enum { MOST_WAVES = 1, MOST_OTHERS = 2 }; /* exp(-exp(x)) and log(log(x)) are laws of their own */

static bool is_wave(int op)
{
    return op == SR_SIN || op == SR_COS || op == SR_TAN;
}

/* Whether a formula has enough of these functions to nest; most do not. */
static bool may_nest(const struct sr_expr *expr)
{
    struct chain all = {0};
    for (int i = 0; i < expr->count; i++) {
        const int op = expr->node[i].op;
        all.wave += is_wave(op);
        all.exponential += op == SR_EXP;
        all.logarithm += op == SR_LOG;
    }
    return all.wave > MOST_WAVES || all.exponential > MOST_OTHERS || all.logarithm > MOST_OTHERS;
}

bool sr_expr_nests(const struct sr_expr *expr)
{
    struct chain chain[SR_NODES];
    if (!may_nest(expr))
        return false;
    for (int i = 0; i < expr->count; i++) {
        const int op = expr->node[i].op, arity = sr_expr_arity(expr, i);
        struct chain *own = &chain[i];
        *own = (struct chain){0};
        if (arity == 1 && op < SR_OPS) {
            *own = chain[i - 1];
            own->wave += is_wave(op);
            own->exponential += op == SR_EXP;
            own->logarithm += op == SR_LOG;
        } else if (arity == 2 && op < SR_OPS) {
            const int left = sr_expr_left(expr, i), right = i - 1;
            if (sr_is_number(&expr->node[left]))
                *own = chain[right];
            else if (sr_is_number(&expr->node[right]))
                *own = chain[left];
            if (op != SR_ADD && op != SR_SUB) /* sin(2 cos(x)) is a modulated phase */
                own->wave = 0;
        }
        if (own->wave > MOST_WAVES || own->exponential > MOST_OTHERS ||
            own->logarithm > MOST_OTHERS)
            return true;
    }
    return false;
}
