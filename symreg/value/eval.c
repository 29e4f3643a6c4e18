/* eval.c - evaluates a formula, tile by tile.
 *
 * A step may give infinite values, as 1 / x at x = 0 in exp(-1 / x); what a formula is worth is
 * asked of its last step. NaN ends the evaluation at once, as min and max would hide it.
 *
 * A formula is compiled once to a list of steps: constant subtrees become numbers, and operands are
 * read in place. The rows of a tile stay in the first-level cache. */
#include "vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vecmath.h"

/* depth of the stack, at most, for a binary tree in postfix order */
enum { DEPTH = SR_NODES / 2 + 1 };

/* Location of an operand: a number, rows that advance with the tiles, or a buffer. */
struct place {
    const double *at;
    size_t moves; /* mask, all bits set: the tile's first row is added */
    double number;
    bool is_number;
    int feature; /* the feature itself, or operator `inner` of it; -1 for neither */
    int inner;   /* 0: no operator */
};

struct step {
    int op, form;
    const double *a, *b;
    size_t a_moves, b_moves;
    double number; /* value of an operand that is a number */
    int out;       /* index of the output buffer; -1: the result */
};

struct program {
    const struct sr_language *language;
    int steps;
    struct step step[SR_NODES];
    struct place result; /* result of a formula without steps */
};

/* Uses a stored column, if the unary operator of this feature or column was already computed. */
static bool use_column(const struct sr_loss *loss, int op, struct place *a, enum sr_found *found)
{
    if (!loss || a->feature < 0 || op >= SR_CUSTOM)
        return false;
    const double *column = sr_columns_find(loss, a->feature, a->inner, op, a->at, found);
    if (!column)
        return false;
    a->at = column;
    if (a->inner)
        a->feature = -1;
    a->inner = op;
    return true;
}

/* Adds a step for one operator at the top of the stack. A number is evaluated at once. */
static enum sr_found add_step(struct program *program, enum sr_op op, struct place *a,
                              const struct place *b, double buffer[][SR_TILE], int depth)
{
    const bool binary = sr_op(program->language, (int)op)->arity == 2;
    if (a->is_number && (!binary || b->is_number)) {
        a->number = sr_op_value(program->language, op, a->number, b->number);
        return sr_found_in(isfinite(a->number), 1, &a->number);
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
    return SR_FINITE;
}

/* Compiles a formula. False where a constant is not finite, or a part that is known now is NaN, or
 * the formula itself is infinite and must not be. loss NULL: no stored columns. */
static bool program_make(struct program *program, const struct sr_expr *expr,
                         const struct sr_data *data, const struct sr_loss *loss, bool finite,
                         double buffer[][SR_TILE])
{
    struct place stack[DEPTH]; /* not cleared, as formulas are evaluated by the million */
    int depth = 0;
    program->language = data->language;
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
            const int arity = sr_op(data->language, node->op)->arity;
            depth -= arity;
            struct place *a = &stack[depth];
            enum sr_found found = SR_FINITE;
            if (!(arity == 1 && use_column(loss, node->op, a, &found)))
                found = add_step(program, (enum sr_op)node->op, a, arity == 2 ? a + 1 : a, buffer,
                                 depth);
            if (found == SR_UNDEFINED || (found == SR_INFINITE && finite && i + 1 == expr->count))
                return false;
            depth++;
        }
    }
    program->result = stack[0]; /* cppcheck-suppress uninitvar; a formula has nodes */
    if (program->steps)
        program->step[program->steps - 1].out = -1;
    return true;
}

/* Runs a user-defined operator, which takes only rows: an operand that is a number is expanded. */
static bool run_custom(const struct sr_language *language, const struct step *s, int n,
                       const double *a, const double *b, double *out)
{
    double number[SR_TILE];
    if (s->form != SR_VEC_ROWS)
        sr_fill(number, (size_t)n, s->number);
    return sr_custom_apply(language, (enum sr_op)s->op, n, s->form == SR_VEC_A_NUMBER ? number : a,
                           s->form == SR_VEC_B_NUMBER ? number : b, out);
}

static enum sr_found run_step(const struct program *program, const struct sr_vec *vec,
                              const struct step *s, size_t first, int n, double *out)
{
    const double *a = s->a + (first & s->a_moves), *b = s->b + (first & s->b_moves);
    const bool finite = s->op < SR_CUSTOM ? vec->apply(s->op, s->form, n, a, b, out)
                                          : run_custom(program->language, s, n, a, b, out);
    return sr_found_in(finite, n, out);
}

/* Evaluates rows first .. first + n - 1. */
static enum sr_found run_steps(const struct program *program, const struct sr_vec *vec,
                               size_t first, int n, double buffer[][SR_TILE], double *value)
{
    enum sr_found found = SR_FINITE;
    for (int i = 0; i < program->steps && found != SR_UNDEFINED; i++) {
        const struct step *s = &program->step[i];
        found = run_step(program, vec, s, first, n, s->out < 0 ? value : buffer[s->out]);
    }
    return found;
}

/* Rows first .. first + rows - 1. False as soon as a step is NaN, or the formula infinite and must
 * not be. */
static bool run_all(const struct program *program, size_t first, size_t rows, bool finite,
                    double buffer[][SR_TILE], double *value)
{
    const struct sr_vec *vec = sr_vec_best();
    enum sr_found found = SR_FINITE;
    size_t n = SR_TILE;
    for (size_t done = 0; done < rows; done += n) {
        n = rows - done < n ? rows - done : n;
        if (program->result.is_number)
            sr_fill(value + done, n, program->result.number);
        else if (!program->steps)
            memcpy(value + done, program->result.at + first + done, n * sizeof *value);
        else
            found = run_steps(program, vec, first + done, (int)n, buffer, value + done);
        if (found == SR_UNDEFINED || (found == SR_INFINITE && finite))
            return false;
    }
    return true;
}

/* Rows first .. first + rows - 1. loss NULL: no stored columns. */
static bool eval_some(const struct sr_expr *expr, const struct sr_data *data, size_t first,
                      size_t rows, const struct sr_loss *loss, bool finite, double *value)
{
    _Alignas(64) double buffer[DEPTH][SR_TILE];
    struct program program;
    return program_make(&program, expr, data, loss, finite, buffer) &&
           run_all(&program, first, rows, finite, buffer, value);
}

static bool eval_rows(const struct sr_expr *expr, const struct sr_data *data,
                      const struct sr_loss *loss, bool finite, double *value)
{
    return eval_some(expr, data, 0, data->rows, loss, finite, value);
}

bool sr_eval(const struct sr_expr *expr, const struct sr_data *data, double *value)
{
    return eval_rows(expr, data, NULL, true, value);
}

bool sr_eval_rows(const struct sr_expr *expr, const struct sr_data *data, size_t first, size_t rows,
                  double *value)
{
    return eval_some(expr, data, first, rows, NULL, true, value);
}

bool sr_eval_infinite(const struct sr_expr *expr, const struct sr_data *data, double *value)
{
    return eval_rows(expr, data, NULL, false, value);
}

/* Evaluates into work->value, using the loss's stored columns. */
static bool eval_columns(const struct sr_expr *expr, const struct sr_loss *loss,
                         struct sr_work *work)
{
    return eval_rows(expr, loss->data, loss, true, work->value);
}

double sr_eval_loss(const struct sr_expr *expr, const struct sr_loss *loss, struct sr_work *work,
                    double *scale)
{
    *scale = 0;
    if (!eval_columns(expr, loss, work))
        return HUGE_VAL;
    const double found = sr_loss_scale(loss, work->value, work->scratch);
    const double reached = sr_loss_value(loss, work->value, found);
    if (!isfinite(reached))
        return HUGE_VAL;
    *scale = found;
    return reached;
}

/* The loss of scale * formula where x has errors; infinite where it is not finite. */
static double closest_loss(const struct sr_expr *expr, const struct sr_loss *loss, double scale)
{
    struct sr_closest closest;
    if (!sr_closest_make(expr, loss->data, scale, &closest))
        return HUGE_VAL;
    const double reached = closest.loss;
    sr_closest_free(&closest);
    return reached;
}

double sr_eval_plain(const struct sr_expr *expr, const struct sr_loss *loss, struct sr_work *work)
{
    if (loss->data->x_variance)
        return closest_loss(expr, loss, 1);
    double reached = HUGE_VAL;
    const bool has = loss->data->rows > work->rows
                         ? sr_eval_parts(expr, loss, 1, work->rows, work->value, &reached, NULL)
                         : eval_columns(expr, loss, work);
    if (has && loss->data->rows <= work->rows)
        reached = sr_loss_value(loss, work->value, 1);
    return has && isfinite(reached) ? reached : HUGE_VAL;
}

bool sr_eval_parts(const struct sr_expr *expr, const struct sr_loss *loss, double scale,
                   size_t block, double *value, double *reached, double *residuals)
{
    const size_t rows = loss->data->rows;
    *reached = 0;
    if (residuals)
        *residuals = 0;
    if (loss->data->x_variance) {
        *reached = closest_loss(expr, loss, scale);
        return *reached < HUGE_VAL;
    }
    for (size_t first = 0; first < rows; first += block) {
        const size_t n = sr_block_at(rows, first, block);
        if (!sr_eval_rows(expr, loss->data, first, n, value))
            return false;
        *reached += sr_loss_part(loss, first, n, value, scale);
        if (residuals)
            *residuals += sr_vec_best()->residuals(loss->data->y + first, value, scale, n, value);
    }
    return true;
}

/* ---- single operators over rows */

enum sr_found sr_found_in(bool finite, int n, const double *value)
{
    bool undefined = false;
    for (int i = 0; i < n && !finite; i++)
        undefined = undefined || isnan(value[i]);
    return finite ? SR_FINITE : undefined ? SR_UNDEFINED : SR_INFINITE;
}

bool sr_op_apply(const struct sr_language *language, enum sr_op op, int n, const double *a,
                 const double *b, double *out)
{
    if ((int)op >= SR_CUSTOM)
        return sr_custom_apply(language, op, n, a, b, out);
    return sr_vec_best()->apply((int)op, SR_VEC_ROWS, n, a, b, out);
}

void sr_op_chain(const struct sr_language *language, enum sr_op op, int operand, int n,
                 const double *a, const double *b, const double *v, const double *outer, double *d)
{
    if ((int)op >= SR_CUSTOM) {
        sr_custom_chain(language, op, operand, n, a, b, outer, d);
        return;
    }
    sr_vec_best()->chain((int)op, operand, n, a, b, v, outer, d);
    if (op == SR_SIN || op == SR_COS)
        for (int i = 0; i < n; i++)
            if (!(fabs(a[i]) < VM_TRIG_MAX))
                d[i] = outer[i] * sr_op_table[op].da(a[i], 0, v[i]);
}

/* ---- the arrays of a thread */

int sr_work_init(struct sr_work *work, size_t rows, int maxsize)
{
    const int columns = (maxsize + 1) / 2 + 2; /* leaves of a binary tree, and the outer scale */
    *work = (struct sr_work){.rows = rows, .columns = columns};
    work->value = orr_alloc(rows, sizeof(double));
    work->trial = orr_alloc(rows, sizeof(double));
    work->scratch = orr_alloc(2 * rows + SR_SCRATCH, sizeof(double));
    work->jacobian = orr_alloc((size_t)columns * rows, sizeof(double));
    if (work->value && work->trial && work->scratch && work->jacobian)
        return 0;
    sr_work_free(work);
    return ORR_ENOMEM;
}

void sr_work_free(struct sr_work *work)
{
    free(work->value);
    free(work->trial);
    free(work->scratch);
    free(work->jacobian);
    *work = (struct sr_work){0};
}
