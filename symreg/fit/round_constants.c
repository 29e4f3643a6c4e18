/* round_constants.c - rounds constants where that costs a formula no accuracy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"

/* What all roundings of a formula together may cost, in standard errors of one constant. The GUM
 * (7.2.6) states an uncertainty with at most two digits; for the coarsest two-digit one, 10 units
 * of the last place, half a unit is a twentieth of the standard error. A constant that is s
 * standard errors from its optimum raises the loss by a share s^2 / rows: exactly so for least
 * squares, and by 0.8 of that for absolute deviations with normal noise. */
static const double standard_errors = 0.05;
static const double widest = 0.02; /* largest relative change of a constant */
enum { MOST_DIGITS = 17, TOGETHER_DIGITS = 6 };

/* The nearest number with `digits` significant digits. */
static double loss_of(const struct sr_loss *loss, const struct sr_expr *expr, struct sr_work *work)
{
    double value;
    if (!sr_eval_parts(expr, loss, 1, work->rows, work->value, &value, NULL))
        return HUGE_VAL;
    return value <= loss->noise ? 0 : value;
}

/* Rounds all constants at once, as the errors of several may cancel. */
static double snap_together(const struct sr_loss *loss, double limit, double reached, uint64_t held,
                            struct sr_expr *expr, struct sr_work *work)
{
    double constant[SR_NODES], trial[SR_NODES];
    const int count = sr_expr_constants(expr, constant);
    for (double share = widest; share > 1e-7 && count > 1 && !orr_time_over(); share /= 10) {
        for (int i = 0; i < count; i++)
            trial[i] =
                held >> i & 1 ? constant[i] : sr_fewest_digits(constant[i], share, TOGETHER_DIGITS);
        sr_expr_set_constants(expr, trial);
        const double value = loss_of(loss, expr, work);
        if (value <= limit)
            return value;
    }
    sr_expr_set_constants(expr, constant);
    return reached;
}

double sr_snap_share(size_t rows)
{
    return standard_errors * standard_errors / (double)rows;
}

double sr_snap_limit(const struct sr_loss *loss, double reached)
{
    return reached * (1 + sr_snap_share(loss->data->rows));
}

/* Whether 0 is a number like others at node i: an operand of max, min or hypot, where no shorter
 * formula lacks it, as for x + 0. */
static bool may_be_zero(const struct sr_expr *expr, int i)
{
    int above = i + 1;
    while (above < expr->count && above - expr->node[above].size >= i)
        above++;
    return above < expr->count && sr_expr_arity(expr, above) == 2 &&
           !(expr->node[above].op >= SR_ADD && expr->node[above].op <= SR_POW);
}

/* Writes 0 for the numbers that are not held and stand for it: each costs at most what one standard
 * error does, as a 0 says more than a small number. Returns the loss. */
static double write_zeros(const struct sr_loss *loss, struct sr_expr *expr, double first,
                          uint64_t held, struct sr_work *work)
{
    double reached = first;
    for (int i = 0, constant = 0; i < expr->count; i++) {
        struct sr_node *node = &expr->node[i];
        if (!sr_is_number(node) || held >> constant++ & 1 || node->value == 0 ||
            !may_be_zero(expr, i))
            continue;
        const double value = node->value;
        node->value = 0;
        const double trial = loss_of(loss, expr, work);
        if (trial <= reached * (1 + 1 / (double)loss->data->rows))
            reached = trial;
        else
            node->value = value;
    }
    return reached;
}

/* Rounds the constants that are not held; `first` is the loss before. */
static double snap_from(const struct sr_loss *loss, struct sr_expr *expr, double first,
                        double limit, uint64_t held, struct sr_work *work)
{
    if (!isfinite(first))
        return first;
    const double with_zeros = write_zeros(loss, expr, first, held, work);
    limit += fmax(with_zeros - first, 0);
    double reached = snap_together(loss, limit, with_zeros, held, expr, work);
    for (int i = 0, constant = 0; i < expr->count; i++) {
        struct sr_node *node = &expr->node[i];
        const double value = node->value;
        if (!sr_is_number(node) || held >> constant++ & 1 || value == 0)
            continue;
        bool done = false;
        for (int digits = 1; digits <= MOST_DIGITS && !done && !orr_time_over(); digits++) {
            node->value = sr_round_digits(value, digits);
            if (fabs(node->value - value) > widest * fabs(value))
                continue;
            const double trial = loss_of(loss, expr, work);
            done = trial <= limit;
            reached = done ? trial : reached;
        }
        if (!done)
            node->value = value;
    }
    return reached;
}

double sr_snap(const struct sr_loss *loss, struct sr_expr *expr, struct sr_work *work)
{
    const double first = loss_of(loss, expr, work);
    return snap_from(loss, expr, first, sr_snap_limit(loss, first), 0, work);
}

double sr_snap_within(const struct sr_loss *loss, struct sr_expr *expr, double limit,
                      struct sr_work *work)
{
    return snap_from(loss, expr, loss_of(loss, expr, work), limit, 0, work);
}

/* ---- whole numbers and fractions */

/* LEAST_SPARE: rows more than constants, for standard errors that mean something */
enum { REFIT_STEPS = 12, MOST_BELOW = 12, LEAST_SPARE = 20 };
static const double most_moved = 0.1; /* largest relative change of a constant */

/* Fractions per unit with denominators up to 12. */
static const int fractions_per_unit[MOST_BELOW + 1] = {0,  1,  2,  4,  6,  10, 12,
                                                       18, 22, 28, 32, 42, 46};
/* Whether a constant is within two standard errors of p / below, and a random one would be so with
 * at most a small probability. */
static bool is_likely(double value, double error, int below)
{
    static const double most_chance = 0.02, rounding = 1e-9;
    const double off = fabs(nearbyint(value * below) / below - value);
    return off <= 2 * error + rounding * fabs(value) &&
           4 * error * fractions_per_unit[below] <= most_chance;
}

/* Tries p / below for constant `i`, the other constants refitted. */
static bool try_fraction(const struct sr_loss *loss, struct sr_expr *expr, int i, int below,
                         uint64_t held, double limit, struct sr_work *work, double *reached)
{
    double constant[SR_NODES];
    struct sr_expr trial = *expr;
    sr_expr_constants(expr, constant);
    const double value = constant[i], fraction = nearbyint(value * below) / below;
    if (fraction == 0 || !(fabs(fraction - value) <= most_moved * fabs(value)))
        return false;
    constant[i] = fraction;
    sr_expr_set_constants(&trial, constant);
    const double loss_here =
        sr_constants_fit_others(loss, &trial, held | (uint64_t)1 << i, REFIT_STEPS, work);
    const double found = loss_here <= loss->noise ? 0 : loss_here;
    if (!(found <= limit))
        return false;
    *expr = trial;
    *reached = found;
    return true;
}

/* Rows of positive weight. */
static double used_rows(const struct sr_data *data)
{
    double used = 0;
    for (size_t i = 0; i < data->rows; i++)
        used += sr_row_weight(data, i) > 0;
    return used;
}

double sr_constants_round(const struct sr_loss *loss, struct sr_expr *expr, enum sr_round round,
                          struct sr_work *work)
{
    const double first = loss_of(loss, expr, work), rows = used_rows(loss->data);
    const int count = sr_expr_constants(expr, NULL);
    double reached = first;
    double error[SR_NODES];
    uint64_t held = 0;
    int replaced = 0;
    if (round == SR_ROUND_DIGITS || !isfinite(first) || count > work->columns || orr_time_over())
        return first;
    if (round == SR_ROUND_LIKELY && (loss->kind != ORR_SR_L2 || rows < count + LEAST_SPARE ||
                                     sr_constants_errors(expr, loss->data, 0, error))) {
        orr_error_clear();
        return first;
    }
    for (int below = 1; below <= (round == SR_ROUND_INTEGERS ? 1 : MOST_BELOW); below++)
        for (int i = 0; i < count && !orr_time_over(); i++) {
            double constant[SR_NODES];
            const double limit = first * (1 + (2 * replaced + 4) / rows);
            sr_expr_constants(expr, constant);
            if (held >> i & 1 ||
                (round == SR_ROUND_LIKELY && !is_likely(constant[i], error[i], below)) ||
                !try_fraction(loss, expr, i, below, held, limit, work, &reached))
                continue;
            held |= (uint64_t)1 << i;
            replaced++;
        }
    if (!held)
        return first;
    return snap_from(loss, expr, reached, sr_snap_limit(loss, reached), held, work);
}

bool sr_constants_tie(const struct sr_loss *loss, struct sr_expr *expr, struct sr_work *work)
{
    enum { TIE_STEPS = 60 };
    const double first = loss_of(loss, expr, work);
    const int count = sr_expr_constants(expr, NULL);
    double constant[SR_NODES], error[SR_NODES];
    if (!sr_loss_of_squares(loss->kind) || !isfinite(first) || count < 2 ||
        used_rows(loss->data) <= count || count > work->columns ||
        sr_constants_errors(expr, loss->data, 0, error)) {
        orr_error_clear();
        return false;
    }
    for (int i = 0; i < count; i++)
        if (isfinite(error[i]))
            return false;
    for (int i = count - 1; i >= 0 && !orr_time_over(); i--) {
        struct sr_expr tied = *expr;
        sr_expr_constants(expr, constant);
        constant[i] = constant[i] < 0 ? -1 : 1;
        sr_expr_set_constants(&tied, constant);
        const double reached =
            sr_constants_fit_others(loss, &tied, (uint64_t)1 << i, TIE_STEPS, work);
        if (!(reached <= fmax(sr_snap_limit(loss, first), loss->noise)))
            continue;
        *expr = tied;
        return true;
    }
    return false;
}

static bool is_one(const struct sr_node *node, bool minus)
{
    return sr_is_number(node) && (node->value == 1 || (minus && node->value == -1));
}

static void remove_node(struct sr_expr *expr, int i)
{
    memmove(&expr->node[i], &expr->node[i + 1], (size_t)(expr->count - i - 1) * sizeof *expr->node);
    expr->count--;
}

bool sr_drop_ones(const struct sr_language *language, bool minus, struct sr_expr *expr)
{
    const int before = expr->count;
    for (int i = 2; i < expr->count; i++) {
        const enum sr_op op = expr->node[i].op;
        const int left = op == SR_MUL || op == SR_DIV ? sr_expr_left(expr, i) : -1;
        int one = -1;
        if (left >= 0 && is_one(&expr->node[i - 1], minus))
            one = i - 1;
        else if (op == SR_MUL && is_one(&expr->node[left], minus))
            one = left;
        if (one < 0)
            continue;
        struct sr_node *const sum = i + 1 < expr->count ? &expr->node[i + 1] : NULL;
        const bool negative = expr->node[one].value < 0;
        const bool in_sum = negative && sum && (sum->op == SR_ADD || sum->op == SR_SUB);
        if (in_sum) /* of which this is the second operand */
            sum->op = sum->op == SR_ADD ? SR_SUB : SR_ADD;
        if (negative && !in_sum)
            expr->node[i].op = SR_NEG;
        else
            remove_node(expr, i);
        remove_node(expr, one);
        i = 1;
        sr_expr_measure(language, expr);
    }
    return expr->count < before;
}
