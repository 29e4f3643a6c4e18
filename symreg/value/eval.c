/* eval.c - values of a formula, tile by tile.
 *
 * A formula becomes a list of steps once: constant subtrees are single numbers, operands are read
 * where they lie. A tile's rows stay in the first-level cache. */
#include "vec.h"

#include <math.h>
#include <string.h>

enum { DEPTH = SR_NODES / 2 + 1 }; /* of the stack: of a binary tree in postfix order, at most */

/* Where an operand is: a number, or rows that move along with the tiles, or a buffer. */
struct place {
    const double *at;
    size_t moves; /* all bits: add the tile's first row */
    double number;
    bool is_number;
    int feature; /* that it is, or that it has operator `inner` of; -1 for none */
    int inner;   /* 0 for none */
};

struct step {
    int op, form;
    const double *a, *b;
    size_t a_moves, b_moves;
    double number; /* of an operand that is one */
    int out;       /* buffer, -1: the result */
};

struct program {
    int steps;
    struct step step[SR_NODES];
    struct place result; /* of a formula without steps */
};

/* A unary operator of a feature, or of a column, that has been computed already. */
static bool use_column(const struct sr_loss *loss, int op, struct place *a, bool *finite)
{
    if (!loss || a->feature < 0 || op >= SR_CUSTOM)
        return false;
    const double *column = sr_columns_find(loss, a->feature, a->inner, op, a->at, finite);
    if (!column)
        return false;
    a->at = column;
    if (a->inner)
        a->feature = -1;
    a->inner = op;
    return true;
}

/* One operator on the top of the stack; false where a constant is not finite. */
static bool add_step(struct program *program, enum sr_op op, struct place *a, const struct place *b,
                     double buffer[][SR_TILE], int depth)
{
    const bool binary = sr_op_table[op].arity == 2;
    if (a->is_number && (!binary || b->is_number)) {
        a->number = sr_op_table[op].value(a->number, b->number);
        return isfinite(a->number) != 0;
    }
    struct step *step = &program->step[program->steps];
    *step = (struct step){.op = (int)op, .out = depth};
    step->form = !binary        ? SR_VEC_ROWS
                 : a->is_number ? SR_VEC_A_NUMBER
                 : b->is_number ? SR_VEC_B_NUMBER
                                : SR_VEC_ROWS;
    step->number = step->form == SR_VEC_A_NUMBER ? a->number : b->number;
    step->a = a->is_number ? &step->number : a->at;
    step->b = b->is_number ? &step->number : b->at;
    step->a_moves = a->moves;
    step->b_moves = b->moves;
    program->steps++;
    *a = (struct place){.at = buffer[depth], .feature = -1};
    return true;
}

/* False where a constant is not finite. loss NULL: no columns. */
static bool program_make(struct program *program, const struct sr_expr *expr,
                         const struct sr_data *data, const struct sr_loss *loss,
                         double buffer[][SR_TILE])
{
    struct place stack[DEPTH] = {{0}};
    int depth = 0;
    program->steps = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        if (node->op == SR_FEATURE) {
            stack[depth++] = (struct place){.at = data->x + (size_t)node->feature * data->rows,
                                            .moves = SIZE_MAX,
                                            .feature = node->feature};
        } else if (node->op == SR_CONSTANT) {
            if (!isfinite(node->value))
                return false;
            stack[depth++] =
                (struct place){.number = node->value, .is_number = true, .feature = -1};
        } else {
            const int arity = sr_op_table[node->op].arity;
            depth -= arity;
            struct place *a = &stack[depth];
            bool finite = true;
            if (!(arity == 1 && use_column(loss, node->op, a, &finite)))
                finite = add_step(program, (enum sr_op)node->op, a, arity == 2 ? a + 1 : a, buffer,
                                  depth);
            if (!finite)
                return false;
            depth++;
        }
    }
    program->result = stack[0];
    if (program->steps)
        program->step[program->steps - 1].out = -1;
    return true;
}

/* An operator of the user takes rows only: an operand that is a number becomes some. */
static bool run_custom(const struct step *s, int n, const double *a, const double *b, double *out)
{
    double number[SR_TILE];
    if (s->form != SR_VEC_ROWS)
        sr_fill(number, (size_t)n, s->number);
    return sr_custom_apply((enum sr_op)s->op, n, s->form == SR_VEC_A_NUMBER ? number : a,
                           s->form == SR_VEC_B_NUMBER ? number : b, out);
}

/* Rows first .. first + n - 1. */
static bool run(const struct program *program, const struct sr_vec *vec, size_t first, int n,
                double buffer[][SR_TILE], double *value)
{
    for (int i = 0; i < program->steps; i++) {
        const struct step *s = &program->step[i];
        const double *a = s->a + (first & s->a_moves), *b = s->b + (first & s->b_moves);
        double *out = s->out < 0 ? value : buffer[s->out];
        if (s->op >= SR_CUSTOM) {
            if (!run_custom(s, n, a, b, out))
                return false;
            continue;
        }
        if (!vec->apply(s->op, s->form, n, a, b, out))
            return false;
    }
    return true;
}

/* All rows; after the first `first_rows` and after every further tile, `stop` may end it. */
static bool run_all(const struct program *program, const struct sr_data *data,
                    double buffer[][SR_TILE], size_t first_rows,
                    bool (*stop)(void *context, size_t first, size_t n), void *context,
                    double *value)
{
    const struct sr_vec *vec = sr_vec_best();
    size_t n = first_rows;
    for (size_t first = 0; first < data->rows; first += n, n = SR_TILE) {
        n = data->rows - first < n ? data->rows - first : n;
        if (program->result.is_number)
            sr_fill(value + first, n, program->result.number);
        else if (!program->steps)
            memcpy(value + first, program->result.at + first, n * sizeof *value);
        else if (!run(program, vec, first, (int)n, buffer, value + first))
            return false;
        if (stop && stop(context, first, n))
            return false;
    }
    return true;
}

bool sr_eval(const struct sr_expr *expr, const struct sr_data *data, double *value)
{
    _Alignas(64) double buffer[DEPTH][SR_TILE];
    struct program program;
    return program_make(&program, expr, data, NULL, buffer) &&
           run_all(&program, data, buffer, SR_TILE, NULL, NULL, value);
}

/* ---- values, scale and loss, with a bound */

enum { FIRST_ROWS = 256 }; /* looked at first where there is a bound */

/* No scale gives all rows together less loss than the first rows have with their own best scale.
 * Sums of products are gathered tile by tile. */
struct bounded {
    const struct sr_loss *loss;
    const double *value;
    double *scratch;
    double most;       /* sum of losses that is allowed */
    double pp, pt, tt; /* of least squares */
};

static bool exceeds(void *context, size_t first, size_t n)
{
    struct bounded *b = context;
    const struct sr_vec *vec = sr_vec_best();
    const struct sr_data *data = b->loss->data;
    const double *w = b->loss->weight ? b->loss->weight + first : NULL;
    const double *p = b->value + first, *t = data->y + first;
    double sum[2];
    if (b->loss->kind == ORR_SR_L2) {
        vec->products(p, t, w, n, sum);
        b->pp += sum[0];
        b->pt += sum[1];
        vec->products(t, t, w, n, sum);
        b->tt += sum[0];
        const double least = b->pp > 0 ? b->tt - b->pt * b->pt / b->pp : b->tt;
        return least - 1e-12 * b->tt > b->most;
    }
    if (first > 0 || n == data->rows || w ||
        (b->loss->kind != ORR_SR_L1 && b->loss->kind != ORR_SR_STUDY))
        return false;
    const double scale = sr_vec_median_ratio(vec, p, t, n, b->scratch);
    const struct sr_vec_loss absolute = {.kind = ORR_SR_L1, .t = t};
    const double least = vec->loss(&absolute, p, isfinite(scale) ? scale : 0, n);
    const double dead = b->loss->kind == ORR_SR_STUDY ? SR_DEAD_ZONE * (double)n : 0;
    return least * (1 - 1e-12) - dead > b->most;
}

double sr_eval_loss(const struct sr_expr *expr, const struct sr_loss *loss, double bound,
                    struct sr_work *work, double *scale)
{
    _Alignas(64) double buffer[DEPTH][SR_TILE];
    struct program program;
    struct bounded bounded = {
        .loss = loss, .value = work->value, .scratch = work->scratch, .most = bound * loss->total};
    const bool has_bound = bound < HUGE_VAL;
    *scale = 0;
    if (!program_make(&program, expr, loss->data, loss, buffer) ||
        !run_all(&program, loss->data, buffer, has_bound ? FIRST_ROWS : SR_TILE,
                 has_bound ? exceeds : NULL, &bounded, work->value))
        return HUGE_VAL;
    const double found = sr_loss_scale(loss, work->value, work->scratch);
    const double reached = sr_loss_value(loss, work->value, found);
    if (!isfinite(reached) || reached > bound)
        return HUGE_VAL;
    *scale = found;
    return reached;
}

double sr_eval_plain(const struct sr_expr *expr, const struct sr_loss *loss, struct sr_work *work)
{
    _Alignas(64) double buffer[DEPTH][SR_TILE];
    struct program program;
    if (!program_make(&program, expr, loss->data, loss, buffer) ||
        !run_all(&program, loss->data, buffer, SR_TILE, NULL, NULL, work->value))
        return HUGE_VAL;
    const double reached = sr_loss_value(loss, work->value, 1);
    return isfinite(reached) ? reached : HUGE_VAL;
}
