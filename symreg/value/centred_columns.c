/* centred_columns.c - a formula with the columns that are far from 0 counted from the middle of the
 * rows.
 *
 * exp((2459068 - jd) / 8) of Julian dates is exp((c - d) / 8) of the days d since the middle. How
 * exactly the rows tell c, and what it costs to describe, must not depend on where a column has its
 * 0: the c of days does not, that of dates has 2.5 million days in addition. */
#include "value.h"

#include <math.h>

/* Ranges from 0 to the middle, beyond which every smooth function of a column is nearly a line. */
static const double very_far = 30;

struct centring {
    const struct sr_expr *from;
    const struct sr_data *data;
    double middle[SR_FEATURES]; /* 0: not far */
    bool lost[SR_FEATURES];     /* very far: 0 is a number like others */
    struct sr_expr *out;
    bool any;
    int added; /* numbers */
};

/* x - middle. */
static void put_column(struct centring *c, int column)
{
    struct sr_node fixed = sr_constant_node(c->middle[column]);
    fixed.feature = SR_FIXED;
    sr_put_node(c->out, sr_feature_node(column));
    sr_put_node(c->out, fixed);
    sr_put_op(c->out, SR_SUB);
}

/* Appends nodes of the formula with x - middle in place of a column; number `replaced` becomes
 * `value`. */
static void put_from_middle(struct centring *c, int first, int last, int replaced, double value)
{
    for (int k = first; k <= last; k++) {
        struct sr_node node = c->from->node[k];
        if (k == replaced)
            node.value = value;
        if (node.op == SR_FEATURE && c->middle[node.feature] != 0)
            put_column(c, node.feature);
        else
            sr_put_node(c->out, node);
    }
    c->any = true;
}

/* The first number that is added to a line, the subtree that ends at i, and by how much the line
 * rises with it; -1 where there is none. */
static int summand_of(const struct sr_expr *expr, int i, const struct sr_wave_line *line,
                      double *rise)
{
    struct sr_expr other = *expr;
    struct sr_wave_line zero, one;
    for (int k = sr_expr_start(expr, i); k <= i; k++) {
        if (!sr_is_number(&expr->node[k]))
            continue;
        other.node[k].value = 0;
        const bool known = sr_straight_line(&other, i, &zero);
        other.node[k].value = 1;
        *rise = known && sr_straight_line(&other, i, &one) ? one.summand - zero.summand : 0;
        if (*rise != 0 && isfinite(*rise) && zero.slope == line->slope && one.slope == line->slope)
            return k;
        other.node[k].value = expr->node[k].value;
    }
    return -1;
}

/* A line of a column far from 0. */
static bool far_line(const struct centring *c, int i, struct sr_wave_line *line)
{
    return sr_straight_line(c->from, i, line) && line->column >= 0 && line->slope != 0 &&
           isfinite(line->slope) && c->middle[line->column] != 0;
}

/* a exp(s x) at node i, with the number a on either side, or exp(s x) / a: a becomes a times
 * exp(s middle). */
static bool put_exponential(struct centring *c, int i)
{
    const struct sr_expr *from = c->from;
    const int op = from->node[i].op;
    if (op != SR_MUL && op != SR_DIV)
        return false;
    const int left = sr_expr_left(from, i), right = i - 1;
    const int number = sr_is_number(&from->node[left]) ? left : right;
    const int power = number == left ? right : left;
    struct sr_wave_line line;
    double rise;
    if (!sr_is_number(&from->node[number]) || from->node[power].op != SR_EXP ||
        !far_line(c, power - 1, &line) || summand_of(from, power - 1, &line, &rise) >= 0)
        return false;
    const double value = from->node[number].value;
    const double slope = op == SR_MUL ? line.slope : -line.slope;
    const double moved =
        copysign(orr_exp(orr_log(fabs(value)) + slope * c->middle[line.column]), value);
    if (!isnormal(moved))
        return false;
    put_from_middle(c, sr_expr_start(from, i), i, number, moved);
    return true;
}

/* exp of a line of two numbers or more: exp(s (x - middle) + c), as c is the log of a factor. */
static bool put_power(struct centring *c, int i)
{
    struct sr_wave_line line;
    double rise;
    int numbers = 0;
    if (c->from->node[i].op != SR_EXP || !far_line(c, i - 1, &line) ||
        summand_of(c->from, i - 1, &line, &rise) < 0)
        return false;
    for (int k = sr_expr_start(c->from, i); k < i; k++)
        numbers += sr_is_number(&c->from->node[k]);
    if (numbers < 2)
        return false;
    put_column(c, line.column);
    sr_put_constant(c->out, line.slope);
    sr_put_op(c->out, SR_MUL);
    sr_put_constant(c->out, line.summand + line.slope * c->middle[line.column]);
    sr_put_op(c->out, SR_ADD);
    sr_put_op(c->out, SR_EXP);
    c->any = true;
    return true;
}

/* A column that is in no line with a number: of a very far one, x - middle + c, where that its 0
 * is not elsewhere is a number to be told. */
static void put_leaf(struct centring *c, const struct sr_node *node)
{
    if (node->op != SR_FEATURE || !c->lost[node->feature]) {
        sr_put_node(c->out, *node);
        return;
    }
    put_column(c, node->feature);
    sr_put_constant(c->out, c->middle[node->feature]);
    sr_put_op(c->out, SR_ADD);
    c->any = true;
    c->added++;
}

/* Appends the subtree that ends at i. */
static void put_centred(struct centring *c, int i)
{
    const struct sr_expr *from = c->from;
    struct sr_wave_line line;
    double rise;
    if (far_line(c, i, &line)) {
        const int k = summand_of(from, i, &line, &rise);
        if (k >= 0) {
            const double added = line.slope * c->middle[line.column] / rise;
            put_from_middle(c, sr_expr_start(from, i), i, k, from->node[k].value + added);
            return;
        }
    }
    if (put_exponential(c, i) || put_power(c, i))
        return;
    const int arity = sr_expr_arity(from, i);
    if (arity > 0)
        put_centred(c, sr_expr_left(from, i));
    if (arity == 2)
        put_centred(c, i - 1);
    put_leaf(c, &from->node[i]);
}

bool sr_from_middle(const struct sr_expr *expr, const struct sr_data *data, struct sr_expr *centred,
                    int *added)
{
    struct sr_expr made = {0}, freed;
    struct centring c = {.from = expr, .data = data, .out = &made};
    int place[SR_NODES];
    bool any = false;
    *centred = *expr;
    *added = 0;
    for (int i = 0; i < expr->count; i++) {
        const struct sr_node *node = &expr->node[i];
        const int f = node->feature;
        double range;
        if (node->op != SR_FEATURE || c.middle[f] != 0)
            continue;
        c.middle[f] = sr_far_middle(data->x + (size_t)f * data->rows, data->rows, SR_FAR, &range);
        c.lost[f] = range > 0 && fabs(c.middle[f]) > very_far * range;
        any = any || c.middle[f] != 0;
    }
    if (!any)
        return false;
    put_centred(&c, expr->count - 1);
    if (c.any && sr_put_end(data->language, &made, SR_NODES)) {
        sr_expr_reduce_phases(&made, NULL, true);
        *centred = made;
        *added = c.added;
    }
    const int before = sr_expr_constants(centred, NULL);
    if (sr_free_phases(centred, data, SR_FAR, &freed, place)) {
        *centred = freed;
        *added += sr_expr_constants(&freed, NULL) - before;
    }
    return true;
}

void sr_constant_sizes(const struct sr_expr *expr, double size[SR_NODES])
{
    double constants[SR_NODES];
    const int count = sr_expr_constants(expr, constants);
    for (int c = 0; c < count; c++)
        size[c] = fabs(constants[c]);
    for (int i = 1; i < expr->count; i++) {
        struct sr_wave_line line;
        double rise;
        if (expr->node[i].op != SR_EXP || !sr_straight_line(expr, i - 1, &line) || line.column < 0)
            continue;
        const int node = summand_of(expr, i - 1, &line, &rise);
        int c = 0;
        for (int k = 0; k < node; k++)
            c += sr_is_number(&expr->node[k]);
        if (node >= 0)
            size[c] = 1 / fabs(rise);
    }
}
