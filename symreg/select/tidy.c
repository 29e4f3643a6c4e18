/* tidy.c - rewrites a formula into the equivalent form whose constants have the fewest digits.
 *
 * One place of the formula is rewritten and its constants are rounded. The new form is accepted
 * where it is shorter or has fewer digits, is no more complex and loses no more than rounding may.
 * This repeats until no rewriting helps. */
#include "select.h"

#include <math.h>

enum { LONG = 3, REFIT_STEPS = 12, ROUNDS = 8 };
static const double turn = 6.283185307179586;

static int count_digits(double value)
{
    char text[SR_NUMBER];
    return sr_number_print(value, text);
}

double sr_digits(const struct sr_expr *expr)
{
    double sum = 0;
    for (int i = 0; i < expr->count; i++)
        if (sr_is_number(&expr->node[i]))
            sum += count_digits(expr->node[i].value) + (signbit(expr->node[i].value) ? 0.5 : 0);
    return sum;
}

/* ---- rewritings of the subtree that ends at node i; each returns whether it applied */

struct form {
    const struct sr_language *language;
    const struct sr_loss *loss;
    uint64_t operators;
    const struct sr_expr *from;
    int i, a, b; /* i: the node; its operands end at a and b */
    struct sr_expr piece;
};

static bool is_constant(const struct form *f, int i)
{
    return sr_is_number(&f->from->node[i]);
}

static void put_subtree(struct form *f, int i)
{
    for (int k = sr_expr_start(f->from, i); k <= i; k++)
        sr_put_node(&f->piece, f->from->node[k]);
}

/* The number in c u, u c or u / c that ends at node i; -1 for other subtrees. */
static int factor_of(const struct form *f, int i)
{
    const int op = f->from->node[i].op;
    if (op != SR_MUL && op != SR_DIV)
        return -1;
    const int right = i - 1, left = sr_expr_left(f->from, i);
    return is_constant(f, right) ? right : op == SR_MUL && is_constant(f, left) ? left : -1;
}

/* u / c = u (1 / c), and back. */
static bool invert_factor(struct form *f, enum sr_op from, enum sr_op to)
{
    if (f->from->node[f->i].op != from || !sr_has(f->operators, to))
        return false;
    const int number = factor_of(f, f->i);
    if (number < 0)
        return false;
    put_subtree(f, number == f->b ? f->a : f->b);
    sr_put_constant(&f->piece, sr_quotient(1, f->from->node[number].value));
    sr_put_op(&f->piece, to);
    return true;
}

static bool to_product(struct form *f)
{
    return invert_factor(f, SR_DIV, SR_MUL);
}

static bool to_quotient(struct form *f)
{
    return invert_factor(f, SR_MUL, SR_DIV);
}

/* u + -c = u - c, -c + u = u - c, and back. */
static bool turn_sign(struct form *f)
{
    const enum sr_op op = (enum sr_op)f->from->node[f->i].op;
    if (op == SR_ADD && sr_has(f->operators, SR_SUB)) {
        const int number = is_constant(f, f->b) ? f->b : f->a;
        if (!is_constant(f, number))
            return false;
        put_subtree(f, number == f->b ? f->a : f->b);
        sr_put_constant(&f->piece, -f->from->node[number].value);
        sr_put_op(&f->piece, SR_SUB);
        return true;
    }
    if (op != SR_SUB || !is_constant(f, f->b) || !sr_has(f->operators, SR_ADD))
        return false;
    put_subtree(f, f->a);
    sr_put_constant(&f->piece, -f->from->node[f->b].value);
    sr_put_op(&f->piece, SR_ADD);
    return true;
}

/* Fewer minus signs: u - -c v = u + c v. */
static bool carry_sign(struct form *f)
{
    return sr_expr_carry_sign(f->language, f->operators, f->from, f->i, &f->piece);
}

static bool is_sum(int op)
{
    return op == SR_ADD || op == SR_SUB;
}

/* c (u +- d) = c u +- c d; also for quotients. */
static bool distribute_factor(struct form *f)
{
    const struct sr_node *node = &f->from->node[f->i];
    const int number = factor_of(f, f->i), sum = number == f->b ? f->a : f->b;
    if (number < 0 || !is_sum(f->from->node[sum].op))
        return false;
    const int right = sum - 1, left = sr_expr_left(f->from, sum);
    if (!is_constant(f, right) && !is_constant(f, left))
        return false;
    const double c = f->from->node[number].value;
    for (int side = 0; side < 2; side++) {
        const int operand = side ? right : left;
        if (is_constant(f, operand)) {
            const double value = f->from->node[operand].value;
            sr_put_constant(&f->piece,
                            node->op == SR_DIV ? sr_quotient(value, c) : sr_product(value, c));
        } else {
            put_subtree(f, operand);
            sr_put_constant(&f->piece, c);
            sr_put_op(&f->piece, (enum sr_op)node->op);
        }
    }
    sr_put_op(&f->piece, (enum sr_op)f->from->node[sum].op);
    return true;
}

/* factor_of(), or the number in c / u. */
static int number_of(const struct form *f, int i)
{
    const int number = factor_of(f, i);
    if (number >= 0 || f->from->node[i].op != SR_DIV)
        return number;
    const int left = sr_expr_left(f->from, i);
    return is_constant(f, left) ? left : -1;
}

/* Appends c times the subtree that ends at node i, whose number is at `number`; -1: it has none. */
static void put_multiple(struct form *f, int i, int number, double c)
{
    const bool below = number >= 0 && f->from->node[i].op == SR_DIV;
    const double c1 = number >= 0 ? f->from->node[number].value : 1;
    const int u = number < 0 ? i : number == i - 1 ? sr_expr_left(f->from, i) : i - 1;
    const bool over = below && number != i - 1; /* c1 / u */
    if (over)
        sr_put_constant(&f->piece, sr_product(c, c1));
    put_subtree(f, u);
    if (!over)
        sr_put_constant(&f->piece, below ? sr_quotient(c, c1) : sr_product(c, c1));
    sr_put_op(&f->piece, over ? SR_DIV : SR_MUL);
}

/* c (c1 u +- v) = c c1 u +- c v; also for quotients, and with the terms in the other order. */
static bool distribute_over_term(struct form *f)
{
    const struct sr_expr *from = f->from;
    const int number = factor_of(f, f->i), sum = number == f->b ? f->a : f->b;
    const int op = from->node[f->i].op;
    if (number < 0 || !is_sum(from->node[sum].op) || !sr_has(f->operators, SR_MUL))
        return false;
    const int left = sr_expr_left(from, sum), right = sum - 1;
    const int inner[2] = {number_of(f, left), number_of(f, right)};
    if ((inner[0] < 0) == (inner[1] < 0))
        return false;
    const double own_value = from->node[number].value;
    const double c = op == SR_DIV ? sr_quotient(1, own_value) : own_value;
    const double c1 = inner[1] >= 0 ? from->node[inner[1]].value : 1;
    const enum sr_op own = (enum sr_op)from->node[sum].op, other = own == SR_ADD ? SR_SUB : SR_ADD;
    const bool flip = (c < 0) != (c1 < 0) && sr_has(f->operators, other); /* u - -2 v = u + 2 v */
    put_multiple(f, left, inner[0], c);
    put_multiple(f, right, inner[1], flip ? -c : c);
    sr_put_op(&f->piece, flip ? other : own);
    return true;
}

/* The number of a term c u, u / c or c / u, or the term itself; false where it has none. */
static bool number_of_term(const struct form *f, int i, double *c)
{
    const int number = is_constant(f, i) ? i : number_of(f, i);
    if (number < 0)
        return false;
    const double value = f->from->node[number].value;
    *c = f->from->node[i].op == SR_DIV && number == i - 1 ? sr_quotient(1, value) : value;
    return true;
}

/* Appends the term without its number. */
static void put_without_number(struct form *f, int i)
{
    const int number = is_constant(f, i) ? i : number_of(f, i), u = i - 1;
    if (number == i) {
        sr_put_constant(&f->piece, 1);
    } else if (number == u || f->from->node[i].op == SR_MUL) {
        put_subtree(f, number == u ? sr_expr_left(f->from, i) : u);
    } else if (f->from->node[u].op == SR_DIV) { /* c / (v / w) */
        put_subtree(f, u - 1);
        put_subtree(f, sr_expr_left(f->from, u));
        sr_put_op(&f->piece, SR_DIV);
    } else {
        const bool inverts = sr_has(f->operators, SR_INV);
        if (!inverts)
            sr_put_constant(&f->piece, 1);
        put_subtree(f, u);
        sr_put_op(&f->piece, inverts ? SR_INV : SR_DIV);
    }
}

/* c u +- d v = c (u +- v), where c and d differ by a random share with a probability of 2%. */
static bool join_numbers(struct form *f)
{
    static const double near = 0.01;
    const enum sr_op own = (enum sr_op)f->from->node[f->i].op;
    double c, d;
    if ((is_constant(f, f->a) && is_constant(f, f->b)) || !number_of_term(f, f->a, &c) ||
        !number_of_term(f, f->b, &d) || !(fabs(fabs(d / c) - 1) <= near))
        return false;
    const enum sr_op op = d / c > 0 ? own : own == SR_ADD ? SR_SUB : SR_ADD;
    if (!sr_has(f->operators, op) || !sr_has(f->operators, SR_MUL))
        return false;
    put_without_number(f, f->a);
    put_without_number(f, f->b);
    sr_put_op(&f->piece, op);
    sr_put_constant(&f->piece, c);
    sr_put_op(&f->piece, SR_MUL);
    return true;
}

/* c u +- d = c (u +- d / c); also for quotients. */
static bool factor_out(struct form *f)
{
    if (!is_sum(f->from->node[f->i].op))
        return false;
    const int offset = is_constant(f, f->b) ? f->b : f->a, term = offset == f->b ? f->a : f->b;
    const int op = f->from->node[term].op, number = factor_of(f, term);
    if (!is_constant(f, offset) || number < 0)
        return false;
    const int right = term - 1, left = sr_expr_left(f->from, term);
    const double c = f->from->node[number].value, d = f->from->node[offset].value;
    for (int side = 0; side < 2; side++)
        if ((side ? f->b : f->a) == offset)
            sr_put_constant(&f->piece, op == SR_DIV ? sr_product(d, c) : sr_quotient(d, c));
        else
            put_subtree(f, number == right ? left : right);
    sr_put_op(&f->piece, (enum sr_op)f->from->node[f->i].op);
    sr_put_constant(&f->piece, c);
    sr_put_op(&f->piece, (enum sr_op)op);
    return true;
}

/* Value at x of a subtree that contains only numbers and one feature. */
static double value_at(const struct sr_expr *expr, int start, int end, double x)
{
    return sr_expr_value(NULL, expr, start, end, x, x);
}

/* Slope and intercept of a subtree that is linear in one feature; false for others. */
static bool is_linear(const struct sr_expr *expr, int end, int *feature, double *slope,
                      double *intercept)
{
    const int start = sr_expr_start(expr, end);
    const double far = 0x1p40;
    *feature = -1;
    for (int i = start; i <= end; i++) {
        const int op = expr->node[i].op;
        if (op == SR_FEATURE && (*feature < 0 || *feature == expr->node[i].feature))
            *feature = expr->node[i].feature;
        else if (op != SR_CONSTANT && !(op >= SR_ADD && op <= SR_DIV) && op != SR_NEG)
            return false;
    }
    if (*feature < 0)
        return false;
    *slope = (value_at(expr, start, end, far) - value_at(expr, start, end, -far)) / (2 * far);
    *intercept = value_at(expr, start, end, 0);
    const double there = *slope * 17 + *intercept, found = value_at(expr, start, end, 17);
    return isfinite(*slope) && *slope != 0 && isfinite(*intercept) &&
           fabs(found - there) <= 1e-9 * (fabs(*slope * 17) + fabs(*intercept));
}

/* sin and cos of a x + b: writes a (x + c), with c shifted by whole periods to be closest to the
 * middle of the column, so that c needs no digits of a large phase. */
static bool centre_phase(struct form *f)
{
    const int op = f->from->node[f->i].op;
    int feature;
    double slope, intercept;
    if ((op != SR_SIN && op != SR_COS) || !sr_has(f->operators, SR_ADD) ||
        !sr_has(f->operators, SR_MUL) || !is_linear(f->from, f->a, &feature, &slope, &intercept))
        return false;
    const struct sr_data *data = f->loss->data;
    const double *x = data->x + (size_t)feature * data->rows;
    double middle = 0;
    for (size_t i = 0; i < data->rows; i++)
        middle += x[i] / (double)data->rows;
    const double turns = nearbyint((slope * middle + intercept) / turn);
    sr_put_node(&f->piece, sr_feature_node(feature));
    sr_put_constant(&f->piece, (intercept - turns * turn) / slope);
    sr_put_op(&f->piece, SR_ADD);
    sr_put_constant(&f->piece, slope);
    sr_put_op(&f->piece, SR_MUL);
    sr_put_op(&f->piece, (enum sr_op)op);
    return true;
}

/* sin and cos of a x + b: reduces b to within half a period. */
static bool reduce_phase(struct form *f)
{
    if (!centre_phase(f))
        return false;
    struct sr_node *node = f->piece.node;
    const double slope = node[3].value, phase = node[1].value * slope;
    node[1].value = slope;
    node[2].op = SR_MUL;
    node[3].value = phase - turn * nearbyint(phase / turn);
    node[4].op = SR_ADD;
    return true;
}

/* u + v = u, where v is nothing but what rounding leaves, which the loss decides. */
static bool drop_second(struct form *f)
{
    put_subtree(f, f->a);
    return is_sum(f->from->node[f->i].op);
}

static bool drop_first(struct form *f)
{
    put_subtree(f, f->b);
    return f->from->node[f->i].op == SR_ADD;
}

/* The feature of a sum, difference or product of numbers, this feature and its squares that ends at
 * node `end`; -1: it is none. */
static int polynomial_feature(const struct sr_expr *expr, int end)
{
    int feature = -1;
    for (int i = sr_expr_start(expr, end); i <= end; i++) {
        const struct sr_node *node = &expr->node[i];
        if (node->op == SR_FEATURE && (feature < 0 || feature == node->feature))
            feature = node->feature;
        else if (!sr_is_number(node) && node->op != SR_ADD && node->op != SR_SUB &&
                 node->op != SR_MUL && node->op != SR_SQUARE)
            return -1;
    }
    return feature;
}

/* A quadratic of one column, as (x - a)^2 + x - b: c (x - d)^2 + e, where that is shorter. */
static bool complete_square(struct form *f)
{
    const int feature = is_sum(f->from->node[f->i].op) ? polynomial_feature(f->from, f->i) : -1;
    if (feature < 0 || !sr_has(f->operators, SR_SQUARE) || !sr_has(f->operators, SR_SUB) ||
        !sr_has(f->operators, SR_ADD))
        return false;
    const struct sr_data *data = f->loss->data;
    const double *x = data->x + (size_t)feature * data->rows;
    const int start = sr_expr_start(f->from, f->i);
    double middle = 0, half = 0, p[4];
    for (size_t i = 0; i < data->rows; i++)
        middle += x[i] / (double)data->rows;
    for (size_t i = 0; i < data->rows; i++)
        half = fmax(half, fabs(x[i] - middle));
    for (int k = 0; k < 4; k++) /* at -1, 0, 1 and 2 halves */
        p[k] = value_at(f->from, start, f->i, middle + (k - 1) * half);
    const double a = (p[0] - 2 * p[1] + p[2]) / 2, b = (p[2] - p[0]) / 2, c = a / (half * half);
    const bool plain = fabs(c - 1) < 1e-6;
    if (!(half > 0) || !(fabs(a) > 1e-9 * fabs(p[1])) ||
        !(fabs(p[1] + 2 * b + 4 * a - p[3]) <= 1e-9 * (fabs(p[3]) + fabs(a))) ||
        (!plain && !sr_has(f->operators, SR_MUL)))
        return false;
    sr_put_node(&f->piece, sr_feature_node(feature));
    sr_put_constant(&f->piece, middle - b / (2 * a) * half);
    sr_put_op(&f->piece, SR_SUB);
    sr_put_op(&f->piece, SR_SQUARE);
    if (!plain) {
        sr_put_constant(&f->piece, c);
        sr_put_op(&f->piece, SR_MUL);
    }
    sr_put_constant(&f->piece, p[1] - b * b / (4 * a));
    sr_put_op(&f->piece, SR_ADD);
    return f->piece.count < f->from->node[f->i].size;
}

/* u ^ c where c is an integer up to rounding. */
static bool round_power(struct form *f)
{
    if (f->from->node[f->i].op != SR_POW || !is_constant(f, f->b))
        return false;
    const double c = f->from->node[f->b].value, whole = nearbyint(c);
    if (!(fabs(c - whole) < 1e-4) || (!(fabs(c - whole) > 0) && fabs(whole - 1) > 0))
        return false;
    put_subtree(f, f->a);
    if (!(fabs(whole - 1) > 0))
        return true;
    sr_put_constant(&f->piece, whole);
    sr_put_op(&f->piece, SR_POW);
    return true;
}

static bool (*const rewriting[])(struct form *) = {
    to_product, to_quotient,  turn_sign,    carry_sign,  distribute_factor, drop_first,
    factor_out, centre_phase, reduce_phase, round_power, complete_square,   drop_second};
enum { REWRITINGS = sizeof rewriting / sizeof *rewriting };

/* Whether rewriting k changes constants by more than rounding, so that they must be refitted. */
static bool moves_constants(int k)
{
    return rewriting[k] == centre_phase || rewriting[k] == reduce_phase ||
           rewriting[k] == round_power || rewriting[k] == complete_square;
}

/* Whether rewriting k leaves a term out, for which no other constant may make up. */
static bool drops(int k)
{
    return rewriting[k] == drop_first || rewriting[k] == drop_second;
}

/* A line of a column far from 0, of two numbers or more, none of them named. */
static bool is_far_line(const struct form *f, struct sr_wave_line *line, double *middle)
{
    const struct sr_data *data = f->loss->data;
    int numbers = 0;
    double range;
    if (!sr_straight_line(f->from, f->i, line) || line->column < 0 || line->slope == 0 ||
        fabs(line->slope) == 1 || line->summand == 0)
        return false;
    for (int k = sr_expr_start(f->from, f->i); k <= f->i; k++) {
        numbers += is_constant(f, k);
        if (f->from->node[k].op == SR_CONSTANT && !is_constant(f, k))
            return false;
    }
    *middle =
        sr_far_middle(data->x + (size_t)line->column * data->rows, data->rows, SR_FAR, &range);
    return numbers > 1 && *middle != 0;
}

/* s x + d of a column far from 0: s (x - c), or (x - c) / s. The errors of s and d follow each
 * other, and a phase at x = 0 is not known; c is a value of the column, in waves one near its
 * middle. */
static bool count_from_origin(struct form *f, enum sr_op op)
{
    struct sr_wave_line line;
    double middle;
    if (!sr_has(f->operators, SR_SUB) || !sr_has(f->operators, op) ||
        !is_far_line(f, &line, &middle))
        return false;
    double c = -line.summand / line.slope;
    const int above = f->i + 1 < f->from->count ? f->from->node[f->i + 1].op : SR_FEATURE;
    const double period = (above == SR_TAN ? turn / 2 : turn) / fabs(line.slope);
    if (above == SR_SIN || above == SR_COS || above == SR_TAN)
        c = middle + remainder(c - middle, period);
    const double size = fabs(line.slope);
    if (line.slope < 0)
        sr_put_constant(&f->piece, c);
    sr_put_node(&f->piece, sr_feature_node(line.column));
    if (line.slope > 0)
        sr_put_constant(&f->piece, c);
    sr_put_op(&f->piece, SR_SUB);
    sr_put_constant(&f->piece, op == SR_MUL ? size : sr_quotient(1, size));
    sr_put_op(&f->piece, op);
    return true;
}

/* ---- the best form */

/* Whether a constant below node i has so many digits that a rewriting may pay off. */
static bool is_long(const struct sr_expr *expr, int i)
{
    if (expr->node[i].op == SR_POW)
        return true;
    for (int k = sr_expr_start(expr, i); k <= i; k++)
        if (sr_is_number(&expr->node[k]) &&
            (count_digits(expr->node[k].value) > LONG || signbit(expr->node[k].value)))
            return true;
    return false;
}

/* Puts the piece in place of the subtree that ends at node i. False where this breaks a rule, or a
 * constant of the piece is not finite. */
static bool replace(const struct sr_tidy *t, const struct sr_expr *from, int i,
                    const struct form *f, struct sr_expr *out)
{
    *out = *from;
    return sr_expr_finite(&f->piece, 0) &&
           sr_expr_splice(t->language, out, sr_expr_start(from, i), from->node[i].size,
                          f->piece.node, f->piece.count, t->maxsize) &&
           sr_expr_complexity(t->language, out) <= sr_expr_complexity(t->language, from) &&
           (!t->allowed || t->allowed(out, t->context));
}

/* Applies rewriting k at node i. False where it does not apply or breaks a rule. */
static bool apply_rewriting(const struct sr_tidy *t, const struct sr_expr *from, int i, int k,
                            struct sr_expr *out)
{
    struct form f = {
        .language = t->language, .loss = t->loss, .operators = t->operators, .from = from, .i = i};
    f.b = i - 1;
    f.a = sr_expr_left(from, i);
    return from->node[i].size > 1 && (drops(k) || is_long(from, i)) && rewriting[k](&f) &&
           replace(t, from, i, &f, out);
}

/* Applies rewriting k at node i and rounds the constants. False where it does not apply, breaks a
 * rule, or costs more than `limit`. */
static bool rewrite_node(const struct sr_tidy *t, const struct sr_expr *from, int i, int k,
                         double limit, struct sr_work *work, struct sr_expr *out, double *reached)
{
    if (!apply_rewriting(t, from, i, k, out))
        return false;
    if (moves_constants(k))
        sr_constants_fit(t->loss, out, false, REFIT_STEPS, 0, NULL, work);
    *reached = sr_snap_within(t->loss, out, limit, work);
    /* the rewritten constants may need a last digit */
    if (!(*reached <= limit) && !moves_constants(k) && !drops(k)) {
        sr_constants_fit(t->loss, out, false, REFIT_STEPS, 0, NULL, work);
        *reached = sr_snap_within(t->loss, out, limit, work);
    }
    return *reached <= limit;
}

/* Counts columns far from 0 from an origin, where this costs no accuracy; with the factor or the
 * divisor of fewer digits. */
static void write_origins(const struct sr_tidy *t, struct sr_expr *expr, double limit,
                          struct sr_work *work, double *reached)
{
    static const enum sr_op way[] = {SR_MUL, SR_DIV};
    for (int i = expr->count - 1; i > 0; i--) {
        const int start = sr_expr_start(expr, i);
        struct sr_expr best = *expr;
        double least = HUGE_VAL;
        for (int k = 0; k < 2 && !orr_time_over(); k++) {
            struct form f = {.language = t->language,
                             .loss = t->loss,
                             .operators = t->operators,
                             .from = expr,
                             .i = i};
            struct sr_expr next;
            if (!count_from_origin(&f, way[k]) || !replace(t, expr, i, &f, &next))
                continue;
            sr_constants_fit(t->loss, &next, false, REFIT_STEPS, 0, NULL, work);
            const double loss = sr_snap_within(t->loss, &next, limit, work);
            if (!(loss <= limit) || !(sr_digits(&next) < least))
                continue;
            best = next;
            least = sr_digits(&next);
            *reached = loss;
        }
        if (!isfinite(least))
            continue;
        *expr = best;
        i = start;
    }
}

double sr_tidy(const struct sr_tidy *t, struct sr_expr *expr, struct sr_work *work)
{
    struct sr_expr next;
    double reached = sr_snap(t->loss, expr, work), other;
    const double limit = sr_snap_limit(t->loss, reached);
    double digits = sr_digits(expr);
    if (!isfinite(reached))
        return reached;
    for (int round = 0, better = 1; round < ROUNDS && better; round++) {
        better = 0;
        for (int i = expr->count - 1; i > 0 && !better; i--)
            for (int k = 0; k < REWRITINGS && !better && !orr_time_over(); k++) {
                if (!rewrite_node(t, expr, i, k, limit, work, &next, &other) ||
                    (!(sr_digits(&next) < digits) && next.count >= expr->count))
                    continue;
                *expr = next;
                digits = sr_digits(&next);
                reached = other;
                better = 1;
            }
    }
    write_origins(t, expr, limit, work, &reached);
    return reached;
}

bool sr_tidy_distribute(const struct sr_tidy *t, const struct sr_expr *expr, struct sr_expr *out)
{
    for (int i = expr->count - 1; i > 0; i--) {
        struct form f = {.loss = t->loss, .operators = t->operators, .from = expr, .i = i};
        f.b = i - 1;
        f.a = sr_expr_left(expr, i);
        if (expr->node[i].size > 1 && distribute_over_term(&f) && replace(t, expr, i, &f, out))
            return true;
    }
    return false;
}

bool sr_tidy_join(const struct sr_tidy *t, const struct sr_expr *expr, int i, struct sr_expr *out)
{
    struct form f = {
        .language = t->language, .loss = t->loss, .operators = t->operators, .from = expr, .i = i};
    if (!is_sum(expr->node[i].op))
        return false;
    f.b = i - 1;
    f.a = sr_expr_left(expr, i);
    return join_numbers(&f) && replace(t, expr, i, &f, out);
}

void sr_tidy_factors(const struct sr_tidy *t, struct sr_expr *expr)
{
    enum { TO_PRODUCT, TO_QUOTIENT, TURN_SIGN, CARRY_SIGN, DISTRIBUTE, KINDS }; /* the first */
    struct sr_expr next;
    for (int i = expr->count - 1; i > 0; i--)
        for (int k = TO_PRODUCT; k < KINDS; k++)
            if (apply_rewriting(t, expr, i, k, &next) && sr_digits(&next) < sr_digits(expr))
                *expr = next;
}
