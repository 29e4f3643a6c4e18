/* derivative.c - derivatives of a formula and of its loss by the constants, and of a formula by the
 * columns, by reverse accumulation over the nodes, tile by tile. */
#include "vec.h"

#include <math.h>
#include <string.h>

enum { TAPE_TILE = 128 }; /* rows of a tile; each node has two buffers */

/* Values and adjoints of the nodes. Subtrees of constants alone have equal values in all tiles and
 * are computed once. */
struct tape {
    const struct sr_language *language;
    _Alignas(64) double value[SR_NODES][TAPE_TILE], adjoint[SR_NODES][TAPE_TILE];
    const double *at[SR_NODES];   /* values of each node in the current tile */
    const double *rows[SR_NODES]; /* features and stored columns: values in all tiles; else NULL */
    bool live[SR_NODES];          /* the subtree contains what derivatives are by */
    bool same[SR_NODES];          /* the subtree contains nothing but constants */
};

/* Whether a node may have these values: the root is finite, others may be infinite. */
static bool is_allowed(const struct sr_expr *expr, int i, enum sr_found found)
{
    return found == SR_FINITE || (found == SR_INFINITE && i + 1 < expr->count);
}

static bool apply_node(const struct sr_expr *expr, int i, int n, struct tape *tape)
{
    const bool finite =
        sr_op_apply(tape->language, (enum sr_op)expr->node[i].op, n,
                    tape->at[sr_expr_left(expr, i)], tape->at[i - 1], tape->value[i]);
    return finite || is_allowed(expr, i, sr_found_in(finite, n, tape->value[i]));
}

/* What derivatives are by. */
enum by { BY_CONSTANTS, BY_FEATURES };

/* Computes what all tiles share; false where a node may not have its values. loss NULL: no stored
 * columns. */
static bool tape_make(const struct sr_expr *expr, const struct sr_data *data,
                      const struct sr_loss *loss, enum by by, struct tape *tape)
{
    const size_t n = data->rows < TAPE_TILE ? data->rows : TAPE_TILE;
    tape->language = data->language;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        tape->live[i] = by == BY_FEATURES ? node->op == SR_FEATURE : sr_is_number(node);
        tape->same[i] = node->op == SR_CONSTANT;
        tape->rows[i] = NULL;
        tape->at[i] = tape->value[i];
        if (node->op == SR_FEATURE) {
            tape->rows[i] = data->x + (size_t)node->feature * data->rows;
        } else if (node->op == SR_CONSTANT) {
            if (!isfinite(node->value))
                return false;
            sr_fill(tape->value[i], n, node->value);
        } else {
            const int left = sr_expr_left(expr, i);
            tape->live[i] = tape->live[left] || tape->live[i - 1];
            tape->same[i] = tape->same[left] && tape->same[i - 1];
            if (tape->same[i] && !apply_node(expr, i, (int)n, tape))
                return false;
            enum sr_found found = SR_FINITE;
            if (loss && node->op < SR_CUSTOM && expr->node[i - 1].op == SR_FEATURE && left == i - 1)
                tape->rows[i] = sr_columns_find(loss, expr->node[i - 1].feature, 0, node->op,
                                                tape->rows[i - 1], &found);
            if (!is_allowed(expr, i, found))
                return false;
        }
    }
    return true;
}

static bool run_forward(const struct sr_expr *expr, size_t first, int n, struct tape *tape)
{
    for (int i = 0; i < expr->count; i++)
        if (tape->rows[i])
            tape->at[i] = tape->rows[i] + first;
        else if (!tape->same[i] && !apply_node(expr, i, n, tape))
            return false;
    return true;
}

/* Propagates adjoints from the root, which is set, to the leaves. Each node has one parent, so its
 * adjoint is written once, and only where its subtree is live. */
static void run_backward(const struct sr_expr *expr, int n, struct tape *tape)
{
    for (int i = expr->count - 1; i >= 0; i--) {
        const enum sr_op op = (enum sr_op)expr->node[i].op;
        const int last = i - 1;
        if (!tape->live[i] || sr_expr_arity(expr, i) == 0)
            continue;
        const int left = sr_expr_left(expr, i);
        if (tape->live[left])
            sr_op_chain(tape->language, op, 0, n, tape->at[left], tape->at[last], tape->at[i],
                        tape->adjoint[i], tape->adjoint[left]);
        if (left != last && tape->live[last])
            sr_op_chain(tape->language, op, 1, n, tape->at[left], tape->at[last], tape->at[i],
                        tape->adjoint[i], tape->adjoint[last]);
    }
}

/* Copies adjoints; NaN, 0 times infinity, becomes 0 (value.h). */
static void copy_defined(const double *adjoint, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = isnan(adjoint[i]) ? 0 : adjoint[i];
}

bool sr_eval_jacobian(const struct sr_expr *expr, const struct sr_data *data, double *value,
                      double *jacobian)
{
    return sr_eval_jacobian_rows(expr, data, 0, data->rows, value, jacobian);
}

bool sr_eval_jacobian_rows(const struct sr_expr *expr, const struct sr_data *data, size_t first,
                           size_t rows, double *value, double *jacobian)
{
    struct tape tape;
    const int root = expr->count - 1;
    if (!tape_make(expr, data, NULL, BY_CONSTANTS, &tape))
        return false;
    for (size_t done = 0; done < rows; done += TAPE_TILE) {
        const size_t left = rows - done, n = left < TAPE_TILE ? left : TAPE_TILE;
        if (!run_forward(expr, first + done, (int)n, &tape))
            return false;
        memcpy(value + done, tape.at[root], n * sizeof *value);
        sr_fill(tape.adjoint[root], n, 1.0);
        run_backward(expr, (int)n, &tape);
        size_t column = 0;
        for (int i = 0; i <= root; i++)
            if (sr_is_number(&expr->node[i]))
                copy_defined(tape.adjoint[i], n, jacobian + column++ * rows + done);
    }
    return true;
}

bool sr_eval_slopes(const struct sr_expr *expr, const struct sr_data *data, double *value,
                    double *slope)
{
    const size_t rows = data->rows;
    const int root = expr->count - 1;
    struct tape tape;
    if (!tape_make(expr, data, NULL, BY_FEATURES, &tape))
        return false;
    sr_fill(slope, (size_t)data->features * rows, 0);
    for (size_t done = 0; done < rows; done += TAPE_TILE) {
        const size_t left = rows - done, n = left < TAPE_TILE ? left : TAPE_TILE;
        double part[TAPE_TILE];
        if (!run_forward(expr, done, (int)n, &tape))
            return false;
        memcpy(value + done, tape.at[root], n * sizeof *value);
        sr_fill(tape.adjoint[root], n, 1.0);
        run_backward(expr, (int)n, &tape);
        for (int i = 0; i <= root; i++) {
            if (expr->node[i].op != SR_FEATURE)
                continue;
            double *const column = slope + (size_t)expr->node[i].feature * rows + done;
            copy_defined(tape.adjoint[i], n, part);
            for (size_t k = 0; k < n; k++)
                column[k] += part[k];
        }
    }
    return true;
}

/* slope[i] = d loss / d value of row first + i. */
static void loss_slopes(const struct sr_loss *loss, const struct sr_vec *vec, size_t first,
                        size_t n, const double *value, double *slope)
{
    double residual[TAPE_TILE], weight[TAPE_TILE];
    const struct sr_vec_loss how = {.kind = loss->kind,
                                    .parameter = loss->parameter,
                                    .t = loss->data->y + first,
                                    .weight = loss->weight ? loss->weight + first : NULL};
    const double unit = loss->kind == ORR_SR_L2 ? -2 / loss->total : -1 / loss->total;
    vec->residuals(how.t, value, 1, n, residual);
    for (size_t i = 0; i < n && loss->kind == ORR_SR_STUDY; i++)
        residual[i] = fabs(residual[i]) > SR_DEAD_ZONE ? residual[i] : 0;
    /* the weight is the slope over the residual; for l2 half of that */
    vec->reweigh(&how, residual, 1e-200, n, weight);
    for (size_t i = 0; i < n; i++)
        slope[i] = unit * weight[i] * residual[i];
}

bool sr_eval_gradient(const struct sr_expr *expr, const struct sr_loss *loss, double *gradient)
{
    const struct sr_vec *vec = sr_vec_best();
    struct tape tape;
    const int root = expr->count - 1;
    int constants = 0;
    for (int i = 0; i <= root; i++)
        if (sr_is_number(&expr->node[i]))
            gradient[constants++] = 0;
    if (!tape_make(expr, loss->data, loss, BY_CONSTANTS, &tape))
        return false;
    for (size_t first = 0; first < loss->data->rows; first += TAPE_TILE) {
        const size_t left = loss->data->rows - first, n = left < TAPE_TILE ? left : TAPE_TILE;
        if (!run_forward(expr, first, (int)n, &tape))
            return false;
        loss_slopes(loss, vec, first, n, tape.at[root], tape.adjoint[root]);
        run_backward(expr, (int)n, &tape);
        for (int i = 0, c = 0; c < constants; i++) {
            if (!sr_is_number(&expr->node[i]))
                continue;
            double sum = vec->sum(tape.adjoint[i], n);
            if (isnan(sum)) {
                copy_defined(tape.adjoint[i], n, tape.adjoint[i]);
                sum = vec->sum(tape.adjoint[i], n);
            }
            gradient[c++] += sum;
        }
    }
    return true;
}
