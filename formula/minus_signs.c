/* minus_signs.c - carries minus signs out of products and sums, so that a formula has fewer of
 * them. */
#include "expr.h"

#include <math.h>

/* What the opposite of a subtree costs: a minus less, none, or one more. */
enum { LESS = -1, EQUAL = 0, MORE = 1, IMPOSSIBLE = 2 };

struct signs {
    const struct sr_language *language;
    uint64_t operators;
    const struct sr_expr *from;
    struct sr_expr *out;
};

static int cost_of(const struct signs *s, int i)
{
    const struct sr_node *node = &s->from->node[i];
    if (sr_is_number(node))
        return signbit(node->value) ? LESS : MORE;
    if (node->op >= SR_OPS || node->op == SR_CONSTANT || node->op == SR_FEATURE)
        return IMPOSSIBLE;
    const struct sr_op_info *info = sr_op(s->language, node->op);
    const int right = i - 1, left = sr_expr_left(s->from, i);
    if (node->op == SR_NEG)
        return LESS;
    if (node->op == SR_SUB)
        return EQUAL;
    if (node->op == SR_MUL || node->op == SR_DIV ||
        (node->op == SR_ADD && sr_has(s->operators, SR_SUB))) {
        const int a = cost_of(s, left), b = cost_of(s, right);
        return a <= b ? a : b;
    }
    return info->arity == 1 && info->traits & SR_ODD ? cost_of(s, right) : IMPOSSIBLE;
}

static void put_subtree(const struct signs *s, int i)
{
    for (int k = sr_expr_start(s->from, i); k <= i; k++)
        sr_put_node(s->out, s->from->node[k]);
}

/* Appends the opposite of a subtree whose cost_of() is not IMPOSSIBLE. */
static void put_opposite(const struct signs *s, int i)
{
    const struct sr_node *node = &s->from->node[i];
    const int right = i - 1, left = node->size > 1 ? sr_expr_left(s->from, i) : i;
    if (node->op == SR_CONSTANT) {
        sr_put_constant(s->out, -node->value);
    } else if (node->op == SR_NEG) {
        put_subtree(s, right);
    } else if (node->op == SR_SUB) { /* -(a - b) = b - a */
        put_subtree(s, right);
        put_subtree(s, left);
        sr_put_op(s->out, SR_SUB);
    } else if (sr_op(s->language, node->op)->arity == 1) {
        put_opposite(s, right);
        sr_put_node(s->out, *node);
    } else {
        const bool first = cost_of(s, left) <= cost_of(s, right);
        if (node->op == SR_ADD) { /* -(a + b) = -a - b */
            put_opposite(s, first ? left : right);
            put_subtree(s, first ? right : left);
            sr_put_op(s->out, SR_SUB);
            return;
        }
        if (first)
            put_opposite(s, left);
        else
            put_subtree(s, left);
        if (first)
            put_subtree(s, right);
        else
            put_opposite(s, right);
        sr_put_node(s->out, *node);
    }
}

/* a - -b = a + b, a + -b = a - b, -a + b = b - a. */
static bool carry_in_sum(const struct signs *s, int i)
{
    const enum sr_op op = (enum sr_op)s->from->node[i].op, other = op == SR_ADD ? SR_SUB : SR_ADD;
    const int right = i - 1, left = sr_expr_left(s->from, i);
    if (!sr_has(s->operators, other))
        return false;
    if (cost_of(s, right) == LESS) {
        put_subtree(s, left);
        put_opposite(s, right);
    } else if (op == SR_ADD && cost_of(s, left) == LESS) {
        put_subtree(s, right);
        put_opposite(s, left);
    } else {
        return false;
    }
    sr_put_op(s->out, other);
    return true;
}

/* -a * -b = a b, -2 (a - b) = 2 (b - a), (a - b) / -1 = b - a. */
static bool carry_in_product(const struct signs *s, int i)
{
    const struct sr_node *node = &s->from->node[i];
    const int operand[] = {sr_expr_left(s->from, i), i - 1};
    if (cost_of(s, operand[0]) + cost_of(s, operand[1]) >= EQUAL)
        return false;
    for (int k = 0; k < 2; k++) { /* without a factor or divisor 1 */
        const struct sr_node *one = &s->from->node[operand[k]];
        if (sr_is_number(one) && one->value == -1 && (k == 1 || node->op == SR_MUL)) {
            put_opposite(s, operand[1 - k]);
            return true;
        }
    }
    put_opposite(s, operand[0]);
    put_opposite(s, operand[1]);
    sr_put_node(s->out, *node);
    return true;
}

bool sr_expr_carry_sign(const struct sr_language *language, uint64_t operators,
                        const struct sr_expr *expr, int i, struct sr_expr *piece)
{
    const struct signs s = {language, operators, expr, piece};
    const int op = expr->node[i].op;
    if (op == SR_ADD || op == SR_SUB)
        return carry_in_sum(&s, i);
    if (op == SR_MUL || op == SR_DIV)
        return carry_in_product(&s, i);
    if (op >= SR_OPS || op <= SR_FEATURE || sr_op_table[op].arity != 1 ||
        !(sr_op_table[op].traits & SR_EVEN) || cost_of(&s, i - 1) != LESS)
        return false;
    put_opposite(&s, i - 1);
    sr_put_node(piece, expr->node[i]);
    return true;
}
