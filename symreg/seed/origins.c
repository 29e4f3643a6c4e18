/* origins.c - searches the table with its far columns counted from their middle, and in units in
 * which their numbers are of ordinary size.
 *
 * Of a column far from 0 against its range, as years, Julian dates or wavelengths, exp(-x / 8) is 0
 * or infinite in every row, and constants of exp(a - x / b) or sin(w x + p) are correlated to 1 -
 * 1e-10: no stage and no fit gets there. In a derived table such columns are (x - x0) / unit. What
 * its stages find is written with x - c, and fitted to the table itself. So are columns of seconds
 * or of metres that are nanometres, where exp(c x) has no start from which a fit gets to the
 * law. */
#include "base/stop.h"
#include "derived.h"
#include "shared.h"

#include <math.h>
#include <stdlib.h>

enum {
    PER_SIZE = 6, /* seeds of each size */
    STAGES = SR_STAGE_SMALL | SR_STAGE_POWERS | SR_STAGE_RATES | SR_STAGE_COMPOSED
};
/* Of the remaining time and evaluations: with a far column, and with units alone. */
static const double share = 0.4, share_of_units = 0.2;
/* With a far column so many evaluations if they are at most this share: fewer find nothing. */
static const double enough = 2400, most = 0.6;
static const double plenty = 5000; /* evaluations that are left, for units of the range, too */
static const double largest = 4096, smallest = 1 / 64.0; /* ranges of ordinary size */
enum { FEW = 2 }; /* columns of a table that is searched for its units alone */

struct origins {
    bool any, far;           /* some column is moved; some is far from 0 */
    bool moved[SR_FEATURES]; /* (x - x0) times a power of two, x elsewhere */
    double x0[SR_FEATURES], factor[SR_FEATURES];
};

/* A number of few bits near the middle, so that differences to it are exact. */
static double round_middle(double middle, double range)
{
    int exponent;
    frexp(range, &exponent);
    const double unit = ldexp(1, exponent - 4);
    return round(middle / unit) * unit;
}

/* Finds the columns that are far from 0, or of numbers of another size. unit: in units of their
 * range. */
static struct origins find_columns(const struct sr_data *data, bool unit)
{
    struct origins o = {.any = false};
    for (int f = 0; f < data->features; f++) {
        double range;
        int exponent;
        const double *x = data->x + (size_t)f * data->rows;
        const double middle = sr_far_middle(x, data->rows, SR_FAR, &range);
        const bool far = middle != 0 && range > 0;
        frexp(range, &exponent);
        o.x0[f] = far ? round_middle(middle, range) : 0;
        o.factor[f] = unit                                  ? ldexp(1, -exponent)
                      : range > largest || range < smallest ? ldexp(1, 4 - exponent)
                                                            : 1;
        o.moved[f] = range > 0 && isnormal(o.factor[f]) &&
                     (far || (o.factor[f] != 1 && data->features <= FEW));
        o.far = o.far || far;
        o.any = o.any || o.moved[f];
    }
    return o;
}

/* The line of a column of the derived table as s (x - c) of the column itself. */
static void put_line(const struct origins *o, const struct sr_wave_line *line, struct sr_expr *out)
{
    const double slope = line->slope * o->factor[line->column];
    const double number[] = {o->x0[line->column] - line->summand / slope, slope};
    const struct sr_expr u = {.count = 1, .node = {sr_feature_node(line->column)}};
    sr_put_text(slope == -1 ? "c - u" : number[0] != 0 ? "u - c" : "u", &u, "c", number, out);
    if (fabs(slope) != 1)
        sr_put_by(SR_MUL, slope, out);
}

/* Appends the subtree that ends at i; lines of moved columns as differences. */
static void put_shifted(const struct origins *o, const struct sr_expr *expr, int i,
                        struct sr_expr *out)
{
    struct sr_wave_line line;
    if (sr_straight_line(expr, i, &line) && line.column >= 0 && line.slope != 0 &&
        o->moved[line.column]) {
        put_line(o, &line, out);
        return;
    }
    const int arity = sr_expr_arity(expr, i);
    if (arity > 0)
        put_shifted(o, expr, sr_expr_left(expr, i), out);
    if (arity == 2)
        put_shifted(o, expr, i - 1, out);
    sr_put_node(out, expr->node[i]);
}

/* A factor of an exponential moves its origin: 5 exp(-x / 8) is exp((c - x) / 8). */
static void absorb_factor(const struct sr_proposal *p, struct sr_expr *expr)
{
    for (int i = 2; i < expr->count; i++) {
        const int left = sr_expr_left(expr, i), right = i - 1;
        if (expr->node[i].op != SR_MUL)
            continue;
        const bool first = sr_is_number(&expr->node[left]);
        const int number = first ? left : right, power = first ? right : left;
        struct sr_wave_line line;
        if (!sr_is_number(&expr->node[number]) || expr->node[power].op != SR_EXP ||
            !(expr->node[number].value > 0) || !sr_straight_line(expr, power - 1, &line) ||
            line.column < 0 || line.slope == 0)
            continue;
        const struct sr_expr u = {.count = 1, .node = {sr_feature_node(line.column)}};
        const double of[] = {line.slope, line.summand + orr_log(expr->node[number].value)};
        struct sr_expr made = {0};
        sr_put_text("exp(u * a + b)", &u, "ab", of, &made);
        const int start = sr_expr_start(expr, i);
        if (sr_expr_splice(p->settings->language, expr, start, i + 1 - start, made.node, made.count,
                           SR_NODES))
            i = start + made.count;
    }
}

/* Appends the subtree that ends at i times a factor, which goes into the terms of a sum. */
static void put_scaled(const struct sr_expr *expr, int i, double factor, struct sr_expr *out)
{
    const struct sr_node *node = &expr->node[i];
    const int left = sr_expr_left(expr, i);
    if (node->op == SR_ADD || node->op == SR_SUB) {
        put_scaled(expr, left, factor, out);
        put_scaled(expr, i - 1, factor, out);
        sr_put_node(out, *node);
    } else if (sr_is_number(node)) {
        sr_put_constant(out, factor * node->value);
    } else if (node->op == SR_MUL && sr_is_number(&expr->node[left])) {
        put_scaled(expr, left, factor, out);
        for (int k = left + 1; k <= i; k++)
            sr_put_node(out, expr->node[k]);
    } else {
        for (int k = sr_expr_start(expr, i); k <= i; k++)
            sr_put_node(out, expr->node[k]);
        sr_put_by(SR_MUL, factor, out);
    }
}

/* Whether the formula is an exponential, or a sum with one. */
static bool has_exponential_term(const struct sr_expr *expr, int i)
{
    const int op = expr->node[i].op;
    return op == SR_EXP ||
           ((op == SR_ADD || op == SR_SUB) && (has_exponential_term(expr, sr_expr_left(expr, i)) ||
                                               has_exponential_term(expr, i - 1)));
}

static bool write_shifted(const struct sr_proposal *p, const struct sr_derived *derived,
                          const struct sr_expr *phi, struct sr_expr *out)
{
    const struct origins *o = derived->context;
    struct sr_expr whole = *phi;
    double scale = 1;
    sr_eval_loss(phi, &derived->loss, &p->thread[0].work, &scale);
    if (has_exponential_term(phi, phi->count - 1) && scale > 0 && isfinite(scale)) {
        whole.count = 0;
        put_scaled(phi, phi->count - 1, scale, &whole);
        if (!sr_put_end(p->settings->language, &whole, SR_NODES))
            return false;
    }
    absorb_factor(p, &whole);
    out->count = 0;
    put_shifted(o, &whole, whole.count - 1, out);
    return sr_put_end(p->settings->language, out, SR_NODES);
}

static int make_shifted(const struct sr_proposal *p, const void *context, int number,
                        struct sr_derived *d)
{
    const struct origins *o = context;
    const struct sr_data *all = p->loss->data;
    (void)number;
    TRY(sr_derived_init(d, all, SR_DERIVED_ROWS, NULL, all->features));
    for (int f = 0; f < all->features; f++) {
        double *x = sr_derived_feature(d, all, f);
        for (size_t i = 0; i < d->data.rows && o->moved[f]; i++)
            x[i] = (x[i] - o->x0[f]) * o->factor[f];
    }
    d->data.weight = all->weight ? d->weight : NULL;
    d->floor = p->floor;
    d->write = write_shifted;
    d->context = o;
    return sr_derived_close(d, sr_loss_init_like(&d->loss, p->loss, &d->data));
}

static int search_in(struct sr_proposal *p, const struct origins *o, unsigned stages)
{
    return sr_race(p, &(struct sr_race){.count = 1,
                                        .make = make_shifted,
                                        .context = o,
                                        .round = {{.stages = stages}},
                                        .per_size = PER_SIZE,
                                        .few = true});
}

int sr_origins_find(struct sr_proposal *p)
{
    const struct origins o = find_columns(p->loss->data, false);
    if (!o.any)
        return 0;
    const double own = o.far ? share : share_of_units, now = orr_time_s();
    const double left = p->limit.evaluations - p->seeds->evaluations;
    if (p->limit.until_s > 0)
        p->limit.until_s = now + own * (p->limit.until_s - now);
    p->limit.evaluations =
        p->seeds->evaluations + fmax(own * left, o.far ? fmin(enough, most * left) : 0);
    /* In units of the range log(u + 1), 1 / (u + 1) and the like have a value in every row, from
     * which their constants are fitted: a hyperbola's pole, and a logarithm's 0, lie outside. */
    if (o.far && left >= plenty) {
        const struct origins units = find_columns(p->loss->data, true);
        TRY(search_in(p, &units, SR_STAGE_SMALL));
    }
    return search_in(p, &o, STAGES);
}
