/* expr.c - formulas as postfix arrays: cutting, joining, outer factors, hash. */
#include "expr.h"

#include <math.h>
#include <string.h>

int sr_expr_start(const struct sr_expr *expr, int i)
{
    return i - expr->node[i].size + 1;
}

void sr_expr_clean(struct sr_expr *expr)
{
    struct sr_expr clean;
    memset(&clean, 0, sizeof clean);
    clean.count = expr->count;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *from = &expr->node[i];
        clean.node[i].op = from->op;
        clean.node[i].size = from->size;
        if (from->op == SR_FEATURE || from->op == SR_CONSTANT)
            clean.node[i].feature = from->feature;
        if (from->op == SR_CONSTANT)
            clean.node[i].value = from->value;
    }
    memcpy(expr, &clean, sizeof clean);
}

bool sr_expr_measure(const struct sr_language *language, struct sr_expr *expr)
{
    int start[SR_NODES + 1], depth = 0;
    if (expr->count < 1 || expr->count > SR_NODES)
        return false;
    for (int i = 0; i < expr->count; i++) {
        const int op = expr->node[i].op;
        if (!sr_op_known(language, op))
            return false;
        const int arity = sr_op(language, op)->arity;
        if (depth < arity)
            return false;
        depth -= arity;
        start[depth] = arity ? start[depth] : i;
        expr->node[i].size = (uint8_t)(i - start[depth] + 1);
        depth++;
    }
    return depth == 1;
}

bool sr_expr_splice(const struct sr_language *language, struct sr_expr *expr, int start, int length,
                    const struct sr_node *nodes, int count, int limit)
{
    const int total = expr->count - length + count;
    if (total > limit || total > SR_NODES || total < 1)
        return false;
    memmove(expr->node + start + count, expr->node + start + length,
            (size_t)(expr->count - start - length) * sizeof *nodes);
    memcpy(expr->node + start, nodes, (size_t)count * sizeof *nodes);
    expr->count = total;
    return sr_expr_measure(language, expr);
}

bool sr_expr_finite(const struct sr_expr *expr, int first)
{
    for (int i = first; i < expr->count && i < SR_NODES; i++)
        if (expr->node[i].op == SR_CONSTANT && !isfinite(expr->node[i].value))
            return false;
    return true;
}

/* ---- outer factors */

/* Whether the subtree that ends at i can be multiplied by a factor by changing constants alone.
 * Where `factor` is not 0, the factor is applied. */
static bool absorb_factor(struct sr_expr *expr, int i, double factor)
{
    struct sr_node *node = &expr->node[i];
    const int last = i - 1, left = sr_expr_left(expr, i);
    switch (node->op) {
    case SR_CONSTANT:
        if (node->feature)
            return false; /* a named constant keeps its value */
        if (factor != 0)
            node->value = sr_product(node->value, factor);
        return true;
    case SR_MUL:
        if (absorb_factor(expr, left, 0))
            return absorb_factor(expr, left, factor);
        return absorb_factor(expr, last, factor);
    case SR_DIV:
        if (absorb_factor(expr, left, 0))
            return absorb_factor(expr, left, factor);
        return absorb_factor(expr, last, factor != 0 ? sr_quotient(1, factor) : 0);
    case SR_ADD:
    case SR_SUB:
        if (!absorb_factor(expr, left, 0) || !absorb_factor(expr, last, 0))
            return false;
        return factor == 0 ||
               (absorb_factor(expr, left, factor) && absorb_factor(expr, last, factor));
    case SR_NEG:
        return absorb_factor(expr, last, factor);
    case SR_INV:
        return absorb_factor(expr, last, factor != 0 ? sr_quotient(1, factor) : 0);
    default:
        return false;
    }
}

bool sr_expr_absorb(struct sr_expr *expr, double scale)
{
    double constant[SR_NODES];
    if (scale == 0 || !absorb_factor(expr, expr->count - 1, 0))
        return false;
    sr_expr_constants(expr, constant);
    if (absorb_factor(expr, expr->count - 1, scale) && sr_expr_finite(expr, 0))
        return true;
    sr_expr_set_constants(expr, constant);
    return false;
}

bool sr_expr_scale(struct sr_expr *expr, double scale)
{
    if (sr_expr_absorb(expr, scale))
        return true;
    if (expr->count + 2 > SR_NODES)
        return false;
    memmove(expr->node + 1, expr->node, (size_t)expr->count * sizeof *expr->node);
    expr->node[0] = sr_constant_node(scale);
    expr->count += 2;
    expr->node[expr->count - 1] = (struct sr_node){.op = SR_MUL, .size = (uint8_t)expr->count};
    return true;
}

void sr_expr_strip(struct sr_expr *expr)
{
    while (expr->node[expr->count - 1].op == SR_MUL) {
        const int last = expr->count - 2;
        if (expr->node[last].op == SR_CONSTANT) {
            expr->count -= 2;
        } else if (expr->node[0].op == SR_CONSTANT && expr->node[last].size == last) {
            expr->count -= 2;
            memmove(expr->node, expr->node + 1, (size_t)expr->count * sizeof *expr->node);
        } else {
            return;
        }
    }
}

/* ---- constants, hash */

bool sr_expr_same_shape(const struct sr_expr *a, const struct sr_expr *b)
{
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++)
        same = a->node[i].op == b->node[i].op &&
               (a->node[i].op != SR_FEATURE || a->node[i].feature == b->node[i].feature);
    return same;
}

uint64_t sr_expr_hash(const struct sr_expr *expr)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        uint64_t word = 0;
        if (node->op == SR_CONSTANT)
            memcpy(&word, &node->value, sizeof word);
        else if (node->op == SR_FEATURE)
            word = node->feature;
        hash = (hash ^ (uint64_t)sr_op_code(node->op)) * 0x9E3779B97F4A7C15u;
        hash = (hash ^ (hash >> 29) ^ word) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 32;
    }
    return hash;
}

int sr_expr_constants(const struct sr_expr *expr, double *constants)
{
    int count = 0;
    for (int i = 0; i < expr->count; i++) {
        if (!sr_is_number(&expr->node[i]))
            continue;
        if (constants)
            constants[count] = expr->node[i].value;
        count++;
    }
    return count;
}

int sr_expr_fitted(const struct sr_expr *expr, bool exponents, int *fitted, int of[SR_NODES])
{
    int count = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *const node = &expr->node[i];
        if (!sr_is_number(node))
            continue;
        const bool exponent =
            i + 1 < expr->count && node[1].op == SR_POW && sr_is_whole(node->value);
        of[count++] = exponent && !exponents ? -1 : (*fitted)++;
    }
    return count;
}

void sr_expr_set_constants(struct sr_expr *expr, const double *constants)
{
    for (int i = 0; i < expr->count; i++)
        if (sr_is_number(&expr->node[i]))
            expr->node[i].value = *constants++;
}

void sr_expr_bounds(const struct sr_language *language, const struct sr_expr *expr, double *low,
                    double *high)
{
    const bool bounded = language && language->bounded;
    const int count = sr_expr_constants(expr, NULL);
    for (int i = 0; i < count; i++) {
        low[i] = bounded && !language->bounds ? language->low : -HUGE_VAL;
        high[i] = bounded && !language->bounds ? language->high : HUGE_VAL;
    }
    if (bounded && language->bounds)
        language->bounds(language->bounds_context, expr, low, high);
}

bool sr_expr_is_named(const struct sr_expr *expr, int i)
{
    bool named = false;
    for (int k = sr_expr_start(expr, i); k <= i; k++) {
        if (expr->node[k].op == SR_FEATURE)
            return false;
        named = named || (expr->node[k].op == SR_CONSTANT && expr->node[k].feature);
    }
    return named;
}

void sr_expr_fold_named(const struct sr_language *language, struct sr_expr *expr)
{
    for (int i = expr->count - 1; i >= 0; i--) {
        if (!sr_expr_is_named(expr, i))
            continue;
        const int first = sr_expr_start(expr, i), size = expr->node[i].size;
        const struct sr_node number =
            sr_constant_node(sr_expr_value(language, expr, first, i, 0, 0));
        if (!isfinite(number.value)) /* no number that could be written */
            continue;
        sr_expr_splice(language, expr, first, size, &number, 1, SR_NODES);
        i = first;
    }
}
