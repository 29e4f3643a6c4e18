/* eval.c - values and Jacobians of a formula, tile by tile.
 *
 * A tile's rows stay in the first-level cache; operands are pointers, so that features are read
 * where they lie. */
#include "symreg.h"

#include <math.h>
#include <string.h>

static void fill(double *out, int n, double value)
{
    for (int i = 0; i < n; i++)
        out[i] = value;
}

/* Postfix evaluation of n rows from `first`; buffer d of the stack belongs to depth d. A binary
 * tree of 64 nodes in postfix order is at most 32 deep on the stack. */
static bool eval_tile(const struct sr_expr *expr, const struct sr_data *data, size_t first, int n,
                      double *value)
{
    double stack[SR_NODES / 2 + 1][SR_TILE];
    const double *operand[SR_NODES / 2 + 1];
    int depth = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        if (node->op == SR_FEATURE) {
            operand[depth++] = data->x + (size_t)node->feature * data->rows + first;
        } else if (node->op == SR_CONSTANT) {
            if (!isfinite(node->value))
                return false;
            fill(stack[depth], n, node->value);
            operand[depth] = stack[depth];
            depth++;
        } else {
            depth -= sr_op_table[node->op].arity;
            const double *a = operand[depth];
            const double *b = sr_op_table[node->op].arity == 2 ? operand[depth + 1] : a;
            double *out = i == expr->count - 1 ? value : stack[depth];
            if (!sr_op_apply((enum sr_op)node->op, n, a, b, out))
                return false;
            operand[depth++] = out;
        }
    }
    if (operand[0] != value) /* cppcheck-suppress uninitvar; a formula has at least one node */
        memcpy(value, operand[0], (size_t)n * sizeof *value);
    return true;
}

bool sr_eval(const struct sr_expr *expr, const struct sr_data *data, double *value)
{
    for (size_t first = 0; first < data->rows; first += SR_TILE) {
        const size_t left = data->rows - first;
        const int n = left < SR_TILE ? (int)left : SR_TILE;
        if (!eval_tile(expr, data, first, n, value + first))
            return false;
    }
    return true;
}

/* ---- Jacobian */

struct tape {
    double value[SR_NODES][SR_TILE], adjoint[SR_NODES][SR_TILE];
    const double *at[SR_NODES];
};

static bool forward(const struct sr_expr *expr, const struct sr_data *data, size_t first, int n,
                    struct tape *tape)
{
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        tape->at[i] = tape->value[i];
        if (node->op == SR_FEATURE) {
            tape->at[i] = data->x + (size_t)node->feature * data->rows + first;
        } else if (node->op == SR_CONSTANT) {
            if (!isfinite(node->value))
                return false;
            fill(tape->value[i], n, node->value);
        } else {
            const double *b = tape->at[i - 1], *a = b;
            if (sr_op_table[node->op].arity == 2)
                a = tape->at[i - 1 - expr->node[i - 1].size];
            if (!sr_op_apply((enum sr_op)node->op, n, a, b, tape->value[i]))
                return false;
        }
    }
    return true;
}

/* Each node has one parent: its adjoint is written once, from the root down, and only where a
 * constant lies below. */
static void backward(const struct sr_expr *expr, const bool *live, int n, struct tape *tape)
{
    fill(tape->adjoint[expr->count - 1], n, 1.0);
    for (int i = expr->count - 1; i >= 0; i--) {
        const struct sr_node *node = &expr->node[i];
        const int arity = sr_op_table[node->op].arity;
        if (!live[i] || arity == 0)
            continue;
        const int last = i - 1, left = arity == 2 ? last - expr->node[last].size : last;
        if (live[left])
            sr_op_chain((enum sr_op)node->op, 0, n, tape->at[left], tape->at[last], tape->at[i],
                        tape->adjoint[i], tape->adjoint[left]);
        if (arity == 2 && live[last])
            sr_op_chain((enum sr_op)node->op, 1, n, tape->at[left], tape->at[last], tape->at[i],
                        tape->adjoint[i], tape->adjoint[last]);
    }
}

bool sr_eval_jacobian(const struct sr_expr *expr, const struct sr_data *data, double *value,
                      double *jacobian)
{
    struct tape tape;
    bool live[SR_NODES]; /* a constant stands in this subtree */
    for (int i = 0; i < expr->count; i++) {
        live[i] = false;
        for (int j = sr_expr_start(expr, i); j <= i; j++)
            live[i] = live[i] || expr->node[j].op == SR_CONSTANT;
    }
    for (size_t first = 0; first < data->rows; first += SR_TILE) {
        const size_t left = data->rows - first;
        const int n = left < SR_TILE ? (int)left : SR_TILE;
        if (!forward(expr, data, first, n, &tape))
            return false;
        memcpy(value + first, tape.at[expr->count - 1], (size_t)n * sizeof *value);
        backward(expr, live, n, &tape);
        size_t column = 0;
        for (int i = 0; i < expr->count; i++)
            if (expr->node[i].op == SR_CONSTANT)
                memcpy(jacobian + column++ * data->rows + first, tape.adjoint[i],
                       (size_t)n * sizeof *jacobian);
    }
    return true;
}
