/* waves.c - frequencies of sines, cosines and tangents of a column of values on an even grid.
 *
 * At x = x0 + k h, with whole k, sin(w x + p) and sin((w + 2 pi m / h) x + p - 2 pi m x0 / h) are
 * equal for every whole m: rows cannot tell these frequencies apart, and the lowest of them, below
 * pi / h (Nyquist), is the one to report. */
#include "value.h"

#include <math.h>

#include <gsl/gsl_math.h>

/* Steps of a grid, at most; deviations of a value from it, in steps, and remainders that are 0. */
static const double most_steps = 1e6, off_grid = 1e-3, no_remainder = 1e-4;

/* The largest step that both differences are multiples of (Euclid's algorithm). */
static double common_step(double a, double b)
{
    while (b > no_remainder * a) {
        const double rest = fabs(remainder(a, b));
        a = b;
        b = rest;
    }
    return a;
}

bool sr_grid_find(const double *x, size_t rows, struct sr_grid *grid)
{
    double step = 0, largest = 0, range = 0;
    *grid = (struct sr_grid){.first = rows ? x[0] : 0};
    for (size_t i = 1; i < rows; i++) {
        const double d = fabs(x[i] - x[0]), steps = d / step;
        range = fmax(range, d);
        if (d == 0)
            continue;
        if (!(step > 0) || fabs(steps - round(steps)) > off_grid || steps < 0.5) {
            step = step > 0 ? common_step(fmax(d, step), fmin(d, step)) : d;
            largest = 0;
        } else if (d > largest) { /* the larger the multiple, the smaller the error of the step */
            step = d / round(steps);
            largest = d;
        }
        if (range > most_steps * step)
            return false;
    }
    for (size_t i = 1; i < rows; i++) { /* also the rows before the step was known */
        const double steps = (x[i] - x[0]) / step;
        if (fabs(steps - round(steps)) > off_grid)
            return false;
    }
    grid->step = step;
    grid->steps = range / step;
    return step > 0 && range > 2.5 * step;
}

bool sr_straight_line(const struct sr_expr *expr, int i, struct sr_wave_line *line)
{
    const struct sr_node *node = &expr->node[i];
    if (node->op == SR_CONSTANT || node->op == SR_FEATURE) {
        const bool column = node->op == SR_FEATURE;
        *line = (struct sr_wave_line){.column = column ? node->feature : -1,
                                      .slope = column,
                                      .summand = column ? 0 : node->value};
        return true;
    }
    struct sr_wave_line a = {.column = -1}, b = {.column = -1};
    const int arity = sr_expr_arity(expr, i);
    if (!sr_straight_line(expr, sr_expr_left(expr, i), &a))
        return false;
    if (arity == 1) {
        *line = (struct sr_wave_line){a.column, -a.slope, -a.summand};
        return node->op == SR_NEG;
    }
    if (!sr_straight_line(expr, i - 1, &b) ||
        (a.column >= 0 && b.column >= 0 && a.column != b.column))
        return false;
    line->column = a.column >= 0 ? a.column : b.column;
    const double sign = node->op == SR_SUB ? -1 : 1;
    switch (node->op) {
    case SR_ADD:
    case SR_SUB:
        line->slope = a.slope + sign * b.slope;
        line->summand = a.summand + sign * b.summand;
        return true;
    case SR_MUL:
        line->slope = a.slope * b.summand + b.slope * a.summand;
        line->summand = a.summand * b.summand;
        return a.column < 0 || b.column < 0;
    case SR_DIV:
        line->slope = a.slope / b.summand;
        line->summand = a.summand / b.summand;
        return b.column < 0;
    default:
        return false;
    }
}

bool sr_wave_find(const struct sr_expr *expr, int i, struct sr_wave_line *line)
{
    const int op = expr->node[i].op;
    return (op == SR_SIN || op == SR_COS || op == SR_TAN) && sr_straight_line(expr, i - 1, line) &&
           line->column >= 0 && line->slope != 0 && isfinite(line->slope) &&
           isfinite(line->summand);
}

/* Writes slope * column + summand with the operators at hand. */
static bool write_line(uint64_t operators, const struct sr_wave_line *line, struct sr_expr *out)
{
    out->count = 0;
    sr_put_node(out, sr_feature_node(line->column));
    const bool times = sr_has(operators, SR_MUL), plus = sr_has(operators, SR_ADD);
    sr_put_constant(out, times ? line->slope : 1 / line->slope);
    sr_put_op(out, times ? SR_MUL : SR_DIV);
    if (line->summand != 0) {
        sr_put_constant(out, plus ? line->summand : -line->summand);
        sr_put_op(out, plus ? SR_ADD : SR_SUB);
    }
    return (times || sr_has(operators, SR_DIV)) &&
           (line->summand == 0 || plus || sr_has(operators, SR_SUB));
}

/* The lowest frequency that the rows cannot tell from this one, and its phase. */
static void fold(const struct sr_grid *grid, int op, struct sr_wave_line *line)
{
    const double period = op == SR_TAN ? M_PI : 2 * M_PI;
    const double cycles = round(line->slope * grid->step / period);
    line->slope = remainder(line->slope * grid->step, period) / grid->step;
    line->summand = remainder(
        line->summand + period * remainder(cycles * (grid->first / grid->step), 1), period);
    if (line->slope < 0 && op != SR_TAN) { /* cos(-a) = cos(a), sin(-a) = sin(pi + a) */
        line->slope = -line->slope;
        line->summand = remainder(op == SR_COS ? -line->summand : M_PI - line->summand, period);
    }
    if (fabs(line->summand) < 1e-9)
        line->summand = 0;
}

bool sr_fold_waves(const struct sr_data *data, uint64_t operators, int maxsize,
                   struct sr_expr *expr)
{
    bool folded = false;
    for (int i = 1; i < expr->count; i++) {
        const int op = expr->node[i].op, start = sr_expr_start(expr, i);
        struct sr_wave_line line;
        struct sr_grid grid;
        struct sr_expr operand;
        if (!sr_wave_find(expr, i, &line) ||
            !sr_grid_find(data->x + (size_t)line.column * data->rows, data->rows, &grid) ||
            !(fabs(line.slope) * grid.step > (op == SR_TAN ? M_PI_2 : M_PI) * (1 + 1e-9)))
            continue;
        fold(&grid, op, &line);
        if (line.slope == 0 || !write_line(operators, &line, &operand) ||
            !sr_expr_splice(data->language, expr, start, expr->node[i].size - 1, operand.node,
                            operand.count, maxsize))
            continue;
        folded = true;
        i = start + operand.count;
    }
    return folded;
}

bool sr_waves_known(const struct sr_expr *expr, const struct sr_data *data, double *scratch)
{
    static const double most = 0x1p40; /* the spacing of numbers there is a thousandth of a turn */
    for (int i = 1; i < expr->count; i++) {
        const int op = expr->node[i].op, start = sr_expr_start(expr, i);
        struct sr_expr operand = {.count = 0};
        double largest = 0;
        if (op != SR_SIN && op != SR_COS && op != SR_TAN)
            continue;
        for (int k = start; k < i; k++)
            sr_put_node(&operand, expr->node[k]);
        if (!sr_put_end(data->language, &operand, SR_NODES) || !sr_eval(&operand, data, scratch))
            return false;
        for (size_t k = 0; k < data->rows; k++)
            largest = fmax(largest, fabs(scratch[k]));
        if (!(largest < most))
            return false;
    }
    return true;
}

double sr_far_middle(const double *x, size_t rows, double far, double *range)
{
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (size_t i = 0; i < rows; i++) {
        least = fmin(least, x[i]);
        most = fmax(most, x[i]);
    }
    const double middle = least + (most - least) / 2;
    *range = most - least;
    return fabs(middle) > far * *range ? middle : 0;
}

/* Writes nodes `first` to `last`, in which `column` stands once, with column - middle, and adds the
 * phase. */
static void write_freed(const struct sr_expr *expr, int first, int last, double middle,
                        double phase, struct sr_expr *out)
{
    struct sr_node fixed = sr_constant_node(middle);
    fixed.feature = SR_FIXED;
    out->count = 0;
    for (int k = first; k <= last; k++) {
        sr_put_node(out, expr->node[k]);
        if (expr->node[k].op == SR_FEATURE) {
            sr_put_node(out, fixed);
            sr_put_op(out, SR_SUB);
        }
    }
    sr_put_constant(out, phase);
    sr_put_op(out, SR_ADD);
}

bool sr_free_phases(const struct sr_expr *expr, const struct sr_data *data, double far,
                    struct sr_expr *freed, int place[SR_NODES])
{
    int constants = sr_expr_constants(expr, NULL);
    bool any = false;
    *freed = *expr;
    for (int c = 0; c < constants; c++)
        place[c] = c;
    for (int i = 1; i < freed->count; i++) {
        const int op = freed->node[i].op, start = sr_expr_start(freed, i);
        struct sr_wave_line line;
        struct sr_expr operand;
        double range;
        if (!sr_wave_find(freed, i, &line) || line.summand != 0)
            continue;
        const double middle =
            sr_far_middle(data->x + (size_t)line.column * data->rows, data->rows, far, &range);
        const double phase = remainder(line.slope * middle, op == SR_TAN ? M_PI : 2 * M_PI);
        write_freed(freed, start, i - 1, middle, phase, &operand);
        if (middle == 0 || !sr_expr_splice(data->language, freed, start, freed->node[i].size - 1,
                                           operand.node, operand.count, SR_NODES))
            continue;
        any = true;
        i = start + operand.count; /* the wave */
        int before = 0;            /* constants up to the phase */
        for (int k = 0; k < i - 2; k++)
            before += sr_is_number(&freed->node[k]);
        for (int c = 0; c < constants; c++)
            place[c] += place[c] >= before;
    }
    return any;
}
