/* sentence.c - the answer in a person's words: the selected formula as people write it, with the
 * errors of its constants, periods and amplitudes of its waves, and how well it fits. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

static const double turn = 6.283185307179586;

/* ---- the formula */

/* Whether the predictions of two formulas are finite and differ by no more than rounding, which is
 * far below the residuals or below the digits of y. a: (2, block) work array */
static bool are_alike(const struct sr_data *data, const struct sr_expr *one,
                      const struct sr_expr *other, double *a)
{
    static const double of_residuals = 1e-6, of_values = 1e-12;
    double moved = 0, residual = 0, size = 0, *const b = a + sr_block_rows(data);
    for (size_t first = 0; first < data->rows; first += SR_BLOCK) {
        const size_t n = sr_block_at(data->rows, first, SR_BLOCK);
        const double *const y = data->y + first;
        if (!sr_eval_rows(one, data, first, n, a) || !sr_eval_rows(other, data, first, n, b))
            return false;
        for (size_t i = 0; i < n; i++) {
            moved += (a[i] - b[i]) * (a[i] - b[i]);
            residual += (a[i] - y[i]) * (a[i] - y[i]);
            size += y[i] * y[i];
        }
    }
    return sqrt(moved) <= of_residuals * sqrt(residual) + of_values * sqrt(size);
}

int sr_answer_formula(const struct sr_answer *o, int row, struct sr_expr *expr)
{
    const struct sr_data *data = sr_answer_data(o, row);
    struct sr_expr collected = *expr = o->front->expr[row];
    sr_expr_collect(data->language, &collected);
    double *value = orr_alloc_unset(2 * sr_block_rows(data), sizeof *value);
    if (!value)
        return ORR_ENOMEM;
    if (are_alike(data, expr, &collected, value))
        *expr = collected;
    free(value);
    return 0;
}

int sr_answer_write(const struct sr_answer *o, int row, enum sr_notation notation,
                    const struct sr_export *names, char *text, size_t bytes)
{
    struct sr_expr expr = o->front->expr[row];
    *text = '\0';
    if (sr_notation_typeset(notation))
        TRY(sr_answer_formula(o, row, &expr));
    sr_expr_write(o->data->language, &expr, notation, names, text, bytes);
    return 0;
}

/* ---- numbers */

static double ten_to(int power)
{
    return orr_pow(10, power);
}

/* The power of ten of a number's first digit. */
static int first_place(double x)
{
    return (int)floor(orr_log(x) / orr_log(10) + 1e-12);
}

/* The decimal place of an error's last digit: one digit is shown, two where the first is 1. */
static int last_place(double error)
{
    const int first = first_place(error);
    return error / ten_to(first) < 1.95 ? first - 1 : first;
}

/* How many places behind the point a number has beside its error. */
static int decimals_of(double value, double error)
{
    enum { MOST = 15 };
    if (!(error > 0) || !isfinite(error) || error >= fabs(value))
        return 0;
    const int place = -last_place(error);
    return place < 0 ? 0 : place < MOST ? place : MOST;
}

/* "25 +- 300": a value that its error exceeds, by two digits. */
static void print_undetermined(double value, double error, char *text, size_t bytes)
{
    char number[SR_NUMBER], spread[SR_NUMBER];
    sr_number_print(sr_round_digits(value, 2), number);
    sr_number_print(sr_round_digits(error, 1 + first_place(error) - last_place(error)), spread);
    snprintf(text, bytes, "%s +- %s", number, spread);
}

/* "1.0000 +- 0.0002", or the value alone where its error is unknown. */
static void print_measured(double value, double error, char *text, size_t bytes)
{
    if (!(error > 0) || !isfinite(error)) {
        snprintf(text, bytes, "%.6g", value);
        return;
    }
    if (error >= fabs(value)) {
        print_undetermined(value, error, text, bytes);
        return;
    }
    const double size = fabs(value);
    const int place = last_place(error), first = first_place(size);
    const bool plain = size >= 1e-4 && size < 1e7;
    const int power = plain ? 0 : first;
    const int decimals = power - place > 0 ? power - place : 0;
    const double unit = ten_to(plain && place > 0 ? place : 0), scale = ten_to(power);
    const double shown[2] = {round(value / scale / unit) * unit,
                             round(error / scale / unit) * unit};
    if (decimals > 15)
        snprintf(text, bytes, "%.16g +- %.1g", value, error);
    else if (plain)
        snprintf(text, bytes, "%.*f +- %.*f", decimals, decimals ? value : shown[0], decimals,
                 decimals ? error : shown[1]);
    else
        snprintf(text, bytes, "(%.*f +- %.*f)e%+03d", decimals, value / scale, decimals,
                 error / scale, power);
}

/* ---- what a number of the formula means */

/* The numbers of a formula in their order, with standard errors; NaN where unknown. */
struct numbers {
    int count;
    double value[SR_NODES], error[SR_NODES];
};

/* The node whose operand ends at node i; -1 for the root. */
static int parent_of(const struct sr_expr *expr, int i)
{
    for (int k = i + 1; k < expr->count; k++)
        if (k - expr->node[k].size < i)
            return k;
    return -1;
}

/* The number's place among the formula's numbers, by its node; -1: it is none. */
static int number_at(const struct sr_expr *expr, int node)
{
    int number = -1;
    if (!sr_is_number(&expr->node[node]))
        return -1;
    for (int k = 0; k <= node; k++)
        number += sr_is_number(&expr->node[k]);
    return number;
}

/* The subtree as `slope` times one column plus something: the number that the slope depends on, -1
 * for none. False where it is no such subtree. */
struct line {
    double slope;
    int number;
};
static bool read_line(const struct sr_expr *expr, int i, struct line *line)
{
    const int op = expr->node[i].op, left = sr_expr_left(expr, i), right = i - 1;
    struct line a, b;
    *line = (struct line){0, -1};
    if (op == SR_CONSTANT || op == SR_FEATURE) {
        line->slope = op == SR_FEATURE;
        return true;
    }
    if (op == SR_NEG && read_line(expr, right, &a)) {
        *line = (struct line){-a.slope, a.number};
        return true;
    }
    if (sr_expr_arity(expr, i) != 2 || !read_line(expr, left, &a) || !read_line(expr, right, &b))
        return false;
    if (op == SR_ADD || op == SR_SUB) {
        *line = a.slope != 0 ? a : (struct line){op == SR_ADD ? b.slope : -b.slope, b.number};
        return a.slope == 0 || b.slope == 0;
    }
    const int factor = op == SR_MUL && a.slope == 0 ? left : right;
    const struct line of = factor == left ? b : a;
    const double value = expr->node[factor].value;
    if ((op != SR_MUL && op != SR_DIV) || expr->node[factor].op != SR_CONSTANT || of.number >= 0)
        return false;
    *line =
        (struct line){op == SR_MUL ? of.slope * value : of.slope / value, number_at(expr, factor)};
    return true;
}

/* A text that grows, with a separator before all but the first piece. */
struct list {
    char *text;
    size_t bytes;
    bool any;
};
static void add_piece(struct list *list, const char *separator, const char *piece)
{
    orr_append(list->text, list->bytes, "%s%s", list->any ? separator : "", piece);
    list->any = true;
}

static void add_quantity(struct list *list, const char *separator, const char *name, double value,
                         double error)
{
    char number[2 * SR_NUMBER + 8], piece[sizeof number + 40];
    print_measured(value, error, number, sizeof number);
    snprintf(piece, sizeof piece, "%s%s%s", name, *name ? " " : "", number);
    add_piece(list, separator, piece);
}

/* The node of the number before a wave that ends at node i, as in c cos(u) and cos(u) / c; -1:
 * there is none, the wave has other factors, or it is no term of the whole formula's sum. *divides:
 * the number is a divisor. */
static int amplitude_of(const struct sr_expr *expr, int i, bool *divides)
{
    const int k = parent_of(expr, i), op = k < 0 ? SR_CONSTANT : expr->node[k].op;
    if (op != SR_MUL && !(op == SR_DIV && sr_expr_left(expr, k) == i))
        return -1;
    const int other = sr_expr_left(expr, k) == i ? k - 1 : sr_expr_left(expr, k);
    for (int up = parent_of(expr, k); up >= 0; up = parent_of(expr, up)) {
        const int sum = expr->node[up].op;
        if (sum != SR_ADD && sum != SR_SUB && sum != SR_NEG)
            return -1;
    }
    *divides = op == SR_DIV;
    return sr_is_number(&expr->node[other]) ? other : -1;
}

/* Whether a power is odd or even in its base, which ends at node `base`; 0: it is neither. */
static unsigned parity_of_power(const struct sr_expr *expr, int k, int base)
{
    const struct sr_node *const power = &expr->node[k - 1];
    if (base == k - 1 || power->op != SR_CONSTANT || !sr_is_whole(power->value))
        return 0;
    return fmod(power->value, 2) != 0 ? SR_ODD : SR_EVEN;
}

/* Whether the wave that ends at node i stands in an even function, such as a square, that has the
 * same value half a period later, when the wave is its own negative. */
static bool is_made_even(const struct sr_expr *expr, int i)
{
    for (int child = i, k = parent_of(expr, i); k >= 0; child = k, k = parent_of(expr, k)) {
        const int op = expr->node[k].op;
        const unsigned traits = op == SR_POW                   ? parity_of_power(expr, k, child)
                                : op == SR_MUL || op == SR_DIV ? SR_ODD
                                : op < SR_CUSTOM               ? sr_op_table[op].traits
                                                               : 0;
        if (traits & SR_EVEN)
            return true;
        if (!(traits & SR_ODD))
            return false;
    }
    return false;
}

/* Periods and amplitudes of sin(w t + phi) and cos(w t + phi); periods of cos(w t + phi)^2. */
static void add_waves(struct list *list, const struct sr_expr *expr, const struct numbers *of)
{
    for (int i = 0; i < expr->count; i++) {
        struct line line;
        bool divides;
        if ((expr->node[i].op != SR_SIN && expr->node[i].op != SR_COS) ||
            !read_line(expr, i - 1, &line) || line.slope == 0)
            continue;
        const double period = (is_made_even(expr, i) ? turn / 2 : turn) / fabs(line.slope);
        const double share =
            line.number < 0 ? 0 : of->error[line.number] / fabs(of->value[line.number]);
        add_quantity(list, ", ", "period", period, share * period);
        const int node = amplitude_of(expr, i, &divides);
        if (node < 0)
            continue;
        const double c = fabs(expr->node[node].value), e = of->error[number_at(expr, node)];
        add_quantity(list, ", ", "amplitude", divides ? 1 / c : c, divides ? e / (c * c) : e);
    }
}

/* Whether the number at node i divides, as in f / c and f / (c x): then its reciprocal is the
 * number in front. */
static bool is_divisor(const struct sr_expr *expr, int i)
{
    int k = i, up = parent_of(expr, i);
    for (; up >= 0 && expr->node[up].op == SR_MUL && sr_expr_left(expr, up) == k;
         up = parent_of(expr, k))
        k = up;
    return up >= 0 && expr->node[up].op == SR_DIV && up - 1 == k;
}

static void add_constants(struct list *list, const struct sr_expr *expr, const struct numbers *of)
{
    for (int i = 0, number = 0; i < expr->count; i++) {
        if (!sr_is_number(&expr->node[i]))
            continue;
        const double c = expr->node[i].value, e = of->error[number++];
        const bool divides = c != 0 && is_divisor(expr, i);
        add_quantity(list, ", ", "", divides ? 1 / c : c, divides ? e / (c * c) : e);
    }
}

/* ---- the sentence */

/* Standard errors that a further judge measured, of the numbers of the row, which the written
 * formula has in another order, or their reciprocals. NaN: none of these. */
static int take_measured(const struct sr_answer *o, int row, struct numbers *of)
{
    static const double same = 1e-9;
    double value[SR_NODES], error[SR_NODES];
    const int count = sr_expr_constants(&o->front->expr[row], value);
    TRY(sr_answer_errors(o, row, error));
    for (int k = 0; k < of->count; k++)
        for (int j = 0; j < count && isnan(of->error[k]); j++) {
            const double is = fabs(of->value[k]), was = fabs(value[j]);
            if (fabs(is - was) <= same * was)
                of->error[k] = error[j];
            else if (fabs(is * was - 1) <= same)
                of->error[k] = error[j] * is * is;
        }
    return 0;
}

static int measure_numbers(const struct sr_answer *o, int row, const struct sr_expr *expr,
                           struct numbers *of)
{
    static const double rounding = 16 * DBL_EPSILON; /* below it an error is that of doubles */
    double chi2, freedom;
    of->count = sr_expr_constants(expr, of->value);
    for (int k = 0; k < SR_NODES; k++)
        of->error[k] = NAN;
    if (!of->count || !o->least_squares || o->category || o->front->unfitted[row])
        return 0;
    TRY(sr_answer_measured(o, row, &chi2, &freedom)
            ? take_measured(o, row, of)
            : sr_constants_errors(expr, o->data, sr_answer_variance(o, row), of->error));
    for (int k = 0; k < of->count; k++)
        if (of->error[k] < rounding * fabs(of->value[k]))
            of->error[k] = 0;
    return 0;
}

/* R2 with as many digits as show what is unexplained. */
static void add_share(struct list *list, const char *name, double left)
{
    char piece[60];
    int places = 2;
    for (double unit = 0.01; places < 15 && left < 0.95 * unit; unit /= 10)
        places++;
    if (!isfinite(left))
        return;
    if (left <= 1e-15)
        snprintf(piece, sizeof piece, "%s 1", name);
    else /* no -0.00 */
        snprintf(piece, sizeof piece, "%s %.*f", name, places,
                 fabs(1 - left) < 0.005 ? 0 : 1 - left);
    add_piece(list, "; ", piece);
}

/* "1.0000 +- 0.0002; R2 0.99998; 8 rows" */
static int describe_fit(const struct sr_answer *o, int row, const struct sr_expr *expr,
                        const struct numbers *of, char *text, size_t bytes)
{
    char constants[1024] = "", waves[1024] = "", rows[60];
    struct list list = {text, bytes, false}, of_constants = {constants, sizeof constants, false},
                of_waves = {waves, sizeof waves, false};
    double left = NAN, worst;
    double *value = orr_alloc(o->data->rows, sizeof *value);
    if (!value)
        return ORR_ENOMEM;
    if (sr_eval(expr, sr_answer_data(o, row), value))
        sr_measure_fit(o->data, value, &left, &worst);
    free(value);
    *text = '\0';
    bool known = false;
    for (int k = 0; k < of->count; k++)
        known = known || isfinite(of->error[k]);
    if (known)
        add_constants(&of_constants, expr, of);
    add_waves(&of_waves, expr, of);
    if (*constants)
        add_piece(&list, "; ", constants);
    if (*waves)
        add_piece(&list, "; ", waves);
    add_share(&list, "R2", left);
    if (o->test)
        add_share(&list, "test R2", 1 - o->test->r2[row]);
    snprintf(rows, sizeof rows, "%zu row%s", o->data->rows, o->data->rows == 1 ? "" : "s");
    add_piece(&list, "; ", rows);
    return 0;
}

void sr_target_write(const struct sr_language *language, const char *column, bool logarithm,
                     enum sr_notation notation, char *text, size_t bytes)
{
    struct sr_expr target = {0};
    sr_put_node(&target, (struct sr_node){.op = SR_FEATURE, .size = 1});
    if (logarithm)
        sr_put_node(&target, (struct sr_node){.op = SR_LOG, .size = 2});
    sr_expr_text(language, &target, notation, &column, text, bytes);
}

int sr_answer_line(const struct sr_answer *o, int row, char *text, size_t bytes)
{
    struct sr_expr expr;
    struct numbers of;
    int decimals[SR_NODES] = {0};
    char target[SR_TARGET], formula[SR_TEXT], fit[4096];
    TRY(sr_answer_formula(o, row, &expr));
    TRY(measure_numbers(o, row, &expr, &of));
    for (int k = 0; k < of.count; k++)
        decimals[k] = decimals_of(of.value[k], of.error[k]);
    sr_expr_infix(o->data->language, &expr, decimals, o->names, formula, sizeof formula);
    TRY(describe_fit(o, row, &expr, &of, fit, sizeof fit));
    sr_target_write(o->data->language, o->column, o->log_target, SR_INFIX, target, sizeof target);
    snprintf(text, bytes, "%s = %s   (%s)", target, formula, fit);
    return 0;
}

int sr_answer_sentence(const struct sr_answer *o, char *text, size_t bytes)
{
    const int row = sr_front_select(o->front, o->rule);
    *text = '\0';
    if (row < 0)
        return 0;
    const int used = snprintf(text, bytes, "%s: ", sr_rule_name[o->rule]);
    return sr_answer_line(o, row, text + used, bytes - (size_t)used);
}
