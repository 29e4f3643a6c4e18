/* angles.c - searches tables in which columns or the target are angles in degrees.
 *
 * A law of such a table has pi / 180 within its functions and 180 / pi outside of inverse ones,
 * numbers that no stage finds together with the rest. In derived tables (angles.h) they are part
 * of the columns and of the target, and the stages of a proposal search these tables. What they
 * find is written in the columns of the table and fitted to it. */
#include "base/stop.h"
#include "angles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "derived.h"
#include "shared.h"

enum {
    MOST_ROWS = 2000, /* rows of a derived table */
    BEST = 2,         /* tables searched further */
    PER_SIZE = 2,     /* seeds of each size, few, as there are many tables */
};
static const double radians = 0.017453292519943295, degrees = 57.29577951308232;
static const double share = 0.4; /* of the remaining time */

/* ---- what looks like degrees */

static bool is_within(const double *value, size_t rows, double low, double high)
{
    double least, most;
    gsl_stats_minmax(&least, &most, value, 1, rows);
    return least >= low && most <= high;
}

static double range_of(const double *value, size_t rows)
{
    double least, most;
    gsl_stats_minmax(&least, &most, value, 1, rows);
    return most - least;
}

bool sr_angles_look(const double *value, size_t rows)
{
    return range_of(value, rows) >= 20 && is_within(value, rows, -360, 360);
}

/* Whether the user gave the unit of degrees, another one (*other), or none. */
static bool is_degrees(const struct sr_units *units, const struct sr_dimension *d, bool *other)
{
    static const char *const name[] = {"deg", "degree", "degrees", "°"};
    bool found = false;
    for (int b = 0; b < units->bases; b++)
        for (size_t k = 0; k < sizeof name / sizeof *name; k++)
            found = found || (!strcmp(units->base[b], name[k]) && fabs(d->power[b] - 1) < 1e-9);
    *other = !found && !sr_dimension_is_none(d);
    return found;
}

static bool may_be_angle(const struct sr_proposal *p, const double *value,
                         const struct sr_dimension *d)
{
    bool other = false;
    const bool known = d && is_degrees(p->settings->units, d, &other);
    return known || (!other && sr_angles_look(value, p->loss->data->rows));
}

/* ---- derived tables */

static void put_radians(struct sr_expr *out, int feature)
{
    sr_put_node(out, sr_feature_node(feature));
    sr_put_constant(out, radians);
    sr_put_op(out, SR_MUL);
}

/* Adds the column op(x pi / 180) of feature f, in radians itself for SR_CONSTANT. */
static void add_column(struct sr_view *v, const struct sr_data *all, int f, enum sr_op op)
{
    const size_t n = v->data.rows;
    double *out = v->x + (size_t)v->data.features * n;
    struct sr_expr *column = &v->column[v->data.features++];
    for (size_t i = 0; i < n; i++) {
        const double x = radians * all->x[(size_t)f * all->rows + i * all->rows / n];
        out[i] = op == SR_CONSTANT ? x : sr_op_table[op].value(x, 0);
    }
    column->count = 0;
    put_radians(column, f);
    if (op != SR_CONSTANT)
        sr_put_op(column, op);
}

/* Adds the columns of the features, of which those of the set `angles` are angles. */
static void add_columns(const struct sr_proposal *p, unsigned angles, bool functions,
                        struct sr_view *v)
{
    const struct sr_data *all = p->loss->data;
    const size_t n = v->data.rows;
    const bool has_sin = functions && sr_has(p->operators, SR_SIN);
    const bool has_cos = functions && sr_has(p->operators, SR_COS);
    const bool has_tan = functions && sr_has(p->operators, SR_TAN) && !(has_sin && has_cos);
    int room = SR_SMOOTH_COLUMNS - all->features;
    for (int f = 0; f < all->features; f++) {
        const int extra = has_sin + has_cos + has_tan - 1;
        if (!(angles >> f & 1) || extra > room) {
            double *out = v->x + (size_t)v->data.features * n;
            for (size_t i = 0; i < n; i++)
                out[i] = all->x[(size_t)f * all->rows + i * all->rows / n];
            v->column[v->data.features++] =
                (struct sr_expr){.count = 1, .node = {sr_feature_node(f)}};
            continue;
        }
        room -= functions ? extra : 0;
        if (has_sin)
            add_column(v, all, f, SR_SIN);
        if (has_cos)
            add_column(v, all, f, SR_COS);
        if (has_tan)
            add_column(v, all, f, SR_TAN);
        if (room > 0 || !functions)
            add_column(v, all, f, SR_CONSTANT);
        room -= functions && room > 0;
    }
}

/* The function that `inverse` inverts. */
static enum sr_op function_of(enum sr_op inverse)
{
    return inverse == SR_ASIN ? SR_SIN : inverse == SR_ACOS ? SR_COS : SR_TAN;
}

/* dy / dz at z = f(y), up to a factor. A lower bound keeps single rows from dominating where the
 * derivative of f is 0. */
static double slope_of(enum sr_op inverse, double y)
{
    static const double least = 0.01;
    const double s = sr_op_table[SR_SIN].value(y, 0), c = sr_op_table[SR_COS].value(y, 0);
    return inverse == SR_CONSTANT ? 1
           : inverse == SR_ASIN   ? 1 / sqrt(c * c + least)
           : inverse == SR_ACOS   ? 1 / sqrt(s * s + least)
                                  : c * c;
}

static int make_table(const struct sr_proposal *p, unsigned angles, bool functions,
                      enum sr_op inverse, struct sr_angle_table *t)
{
    const struct sr_data *all = p->loss->data;
    const size_t n = all->rows < MOST_ROWS ? all->rows : MOST_ROWS;
    const enum orr_symreg_loss kind = p->loss->kind;
    const bool absolute = kind == ORR_SR_L1 || kind == ORR_SR_RELATIVE;
    *t = (struct sr_angle_table){.angles = angles, .inverse = inverse};
    t->view.x = orr_alloc((SR_SMOOTH_COLUMNS + 2) * n, sizeof *t->view.x);
    if (!t->view.x)
        return ORR_ENOMEM;
    double *y = t->view.x + SR_SMOOTH_COLUMNS * n, *weight = y + n, total = 0;
    t->view.data = (struct sr_data){
        .rows = n, .x = t->view.x, .y = y, .weight = weight, .language = all->language};
    add_columns(p, angles, functions, &t->view);
    for (size_t i = 0; i < n; i++) {
        const size_t row = i * all->rows / n;
        const double own = all->y[row], slope = slope_of(inverse, own * radians);
        y[i] = inverse == SR_CONSTANT ? own
                                      : sr_op_table[function_of(inverse)].value(own * radians, 0);
        weight[i] = sr_row_weight(all, row) * (absolute ? slope : slope * slope);
        if (kind == ORR_SR_RELATIVE)
            weight[i] /= fabs(own) > SR_NO_SIZE ? fabs(own) : p->loss->unit;
        total += weight[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        weight[i] /= total;
    return sr_loss_init(&t->loss, absolute ? ORR_SR_L1 : ORR_SR_L2, &t->view.data);
}

void sr_angles_free(struct sr_angle_table *t)
{
    sr_loss_free(&t->loss);
    free(t->view.x);
    t->view.x = NULL;
}

/* The features that may be angles, one bit each, and of these the widest, whose range is at least
 * half of the widest one's: speeds of 5 .. 50 look like degrees, too. */
static unsigned list_angles(const struct sr_proposal *p, unsigned *widest)
{
    const struct sr_data *all = p->loss->data;
    const struct sr_units *units = p->settings->units;
    double range[SR_SMOOTH_COLUMNS] = {0}, most = 0;
    unsigned angles = 0;
    *widest = 0;
    for (int f = 0; f < all->features; f++) {
        const double *x = all->x + (size_t)f * all->rows;
        if (!may_be_angle(p, x, units ? &units->feature[f] : NULL))
            continue;
        angles |= 1U << f;
        range[f] = range_of(x, all->rows);
        most = fmax(most, range[f]);
    }
    for (int f = 0; f < all->features; f++)
        if (angles >> f & 1 && range[f] >= most / 2)
            *widest |= 1U << f;
    return angles;
}

int sr_angles_make(const struct sr_proposal *p, struct sr_angle_table table[SR_ANGLE_TABLES],
                   int *count)
{
    /* Ranges of the inverse functions in degrees, with a margin for noise. */
    static const struct {
        enum sr_op inverse;
        double low, high;
    } list[] = {{SR_CONSTANT, -HUGE_VAL, HUGE_VAL},
                {SR_ASIN, -92, 92},
                {SR_ACOS, -2, 182},
                {SR_ATAN, -90, 90}};
    const struct sr_data *all = p->loss->data;
    const struct sr_units *units = p->settings->units;
    unsigned widest = 0, angles = 0;
    *count = 0;
    if (!sr_has(p->operators, SR_MUL) || all->features > SR_SMOOTH_COLUMNS ||
        p->loss->kind == ORR_SR_STUDY)
        return 0;
    if (sr_has(p->operators, SR_SIN) || sr_has(p->operators, SR_COS) ||
        sr_has(p->operators, SR_TAN))
        angles = list_angles(p, &widest);
    const bool target =
        may_be_angle(p, all->y, units && units->target_known ? &units->target : NULL);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const bool inverse = list[k].inverse != SR_CONSTANT;
        if (inverse && (!target || !sr_has(p->operators, list[k].inverse) ||
                        !is_within(all->y, all->rows, list[k].low, list[k].high)))
            continue;
        if (angles || inverse)
            TRY(make_table(p, angles, true, list[k].inverse, &table[(*count)++]));
        if (widest != angles)
            TRY(make_table(p, widest, true, list[k].inverse, &table[(*count)++]));
    }
    return 0;
}

/* ---- the stage */

/* Writes a formula of the derived table, times the factor that is free there, in the columns of the
 * table. A factor within 2% of 1 is left to the fit of the other constants. */
static bool write_angle(const struct sr_proposal *p, const void *derived, const struct sr_expr *phi,
                        struct sr_expr *out)
{
    const struct sr_angle_table *t = derived;
    struct sr_work *work = &p->thread[0].work;
    double scale = 1;
    *out = *phi;
    if (t->inverse != SR_CONSTANT) {
        sr_eval_loss(phi, &t->loss, work, &scale);
        if (fabs(scale - 1) > 0.02 && !sr_expr_scale(out, scale))
            return false;
    }
    if (!sr_view_write(p, &t->view, out))
        return false;
    if (t->inverse != SR_CONSTANT) {
        sr_put_op(out, t->inverse);
        sr_put_constant(out, degrees);
        sr_put_op(out, SR_MUL);
    }
    return sr_put_end(p->settings->language, out, SR_NODES);
}

/* Whether node i remains when only its first or second operand is kept: a sum without a term, a
 * difference without what is subtracted, a product without a constant factor. */
static bool can_keep(const struct sr_expr *expr, int i, bool second)
{
    const enum sr_op op = (enum sr_op)expr->node[i].op;
    const int other = second ? sr_expr_left(expr, i) : i - 1;
    return op == SR_ADD || (op == SR_SUB && !second) ||
           (op == SR_MUL && sr_is_number(&expr->node[other]));
}

/* Removes a term or a factor whose absence, with the other constants fitted again, raises the loss
 * by no more than chance (the best of thousands of terms lowers it by a share 2 ln(8192) / rows) or
 * to what rounding leaves. Pursuit writes three terms where a law has two, and weights near 1. */
static bool drop_operand(const struct sr_proposal *own, struct sr_expr *expr, double *loss)
{
    enum { STEPS = 5 };
    const double chance = 18 / (double)own->loss->data->rows;
    const double most = fmax(own->loss->noise, *loss * (1 + chance));
    struct sr_thread *thread = &own->thread[0];
    for (int i = expr->count - 1; i > 0; i--)
        for (int second = 0; second < 2; second++) {
            const int start = sr_expr_start(expr, i), left = sr_expr_left(expr, i);
            const int first = second ? left + 1 : start, end = second ? i - 1 : left;
            struct sr_expr kept = *expr;
            double scale;
            if (sr_expr_arity(expr, i) < 2 || !can_keep(expr, i, second) ||
                !sr_expr_splice(own->settings->language, &kept, start, i + 1 - start,
                                expr->node + first, end + 1 - first, SR_NODES))
                continue;
            sr_constants_fit(own->loss, &kept, true, STEPS, 0, thread->rng, &thread->work);
            const double reached = sr_eval_loss(&kept, own->loss, &thread->work, &scale);
            if (reached <= most) {
                *expr = kept;
                *loss = reached;
                return true;
            }
        }
    return false;
}

struct search {
    struct sr_proposal proposal;
    struct sr_seeds found;
    bool made, taken;
    double least;
};

static int run_stages(struct sr_proposal *p, const struct sr_angle_table *t, struct search *s,
                      unsigned stages)
{
    TRY(sr_derived_run(p, &s->proposal, stages));
    for (int i = 0; i < s->found.count && stages == SR_STAGE_PURSUIT; i++)
        while (isfinite(s->found.loss[i]) && !orr_signal_seen() &&
               drop_operand(&s->proposal, &s->found.expr[i], &s->found.loss[i]))
            ;
    return sr_derived_add(p, &t->loss, &s->found, PER_SIZE, write_angle, t, &s->least);
}

/* The table with the smallest loss among those not yet taken; -1 where none is left. */
static int take_best(struct search *search, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (search[i].made && !search[i].taken &&
            (best < 0 || search[i].least < search[best].least))
            best = i;
    if (best >= 0)
        search[best].taken = true;
    return best;
}

static int begin_search(const struct sr_proposal *p, const struct sr_settings *settings,
                        const struct sr_angle_table *t, struct search *s)
{
    s->least = HUGE_VAL;
    s->made = true;
    return sr_proposal_init(&s->proposal, p->stage, settings, &t->loss, p->thread, p->threads,
                            &s->found);
}

/* The table of the best one's hypothesis in radians alone, where groups, differences and curves are
 * looked for: the sine and cosine of one angle are no independent columns. */
static int search_radians(struct sr_proposal *p, const struct sr_settings *settings,
                          const struct sr_angle_table *best, struct sr_angle_table *t,
                          struct search *s)
{
    TRY(make_table(p, best->angles, false, best->inverse, t));
    TRY(begin_search(p, settings, t, s));
    TRY(run_stages(p, t, s, SR_STAGE_SMALL));
    TRY(run_stages(p, t, s, SR_STAGE_STRUCTURE));
    return run_stages(p, t, s, SR_STAGE_CURVES);
}

static bool late(const struct sr_proposal *p)
{
    return p->limit.until_s > 0 && orr_time_s() >= p->limit.until_s;
}

/* All tables by the cheapest stages; those with the smallest losses further; then, as table and
 * search number `count`, in radians. */
static int search_tables(struct sr_proposal *p, const struct sr_settings *settings,
                         struct sr_angle_table *table, int count, struct search *search)
{
    int best[BEST], made = 0;
    for (; made < count && !sr_proposal_over(p); made++) {
        TRY(begin_search(p, settings, &table[made], &search[made]));
        TRY(run_stages(p, &table[made], &search[made], SR_STAGE_SMALL));
    }
    /* in all tables, as a law is a product in one and the root of a sum in another: acos(a cos(t))
     * and asin(sqrt(1 - a^2 cos(t)^2)) */
    const bool found = sr_proposal_over(p);
    for (int i = 0; i < made && !found && !orr_signal_seen() && !late(p); i++) {
        /* free exponents come near anything, so these losses do not decide between tables */
        const double least = search[i].least;
        TRY(run_stages(p, &table[i], &search[i], SR_STAGE_POWERS));
        search[i].least = least;
    }
    for (int k = 0; k < BEST; k++) {
        best[k] = take_best(search, count);
        if (best[k] < 0 || sr_proposal_over(p))
            continue;
        TRY(run_stages(p, &table[best[k]], &search[best[k]], SR_STAGE_COMPOSED));
        TRY(run_stages(p, &table[best[k]], &search[best[k]], SR_STAGE_PURSUIT));
    }
    return best[0] < 0 || sr_proposal_over(p)
               ? 0
               : search_radians(p, settings, &table[best[0]], &table[count], &search[count]);
}

int sr_angles_find(struct sr_proposal *p)
{
    struct sr_angle_table table[SR_ANGLE_TABLES + 1] = {{.view.x = NULL}};
    const struct sr_settings settings = sr_derived_settings(p->settings);
    const double until_s = p->limit.until_s, now = orr_time_s();
    int count = 0;
    int rc = sr_angles_make(p, table, &count);
    struct search *search = count ? orr_alloc((size_t)count + 1, sizeof *search) : NULL;
    if (count && !rc)
        rc = search ? 0 : ORR_ENOMEM;
    if (until_s > 0)
        p->limit.until_s = now + share * (until_s - now);
    if (!rc && count)
        rc = search_tables(p, &settings, table, count, search);
    p->limit.until_s = until_s;
    for (int i = 0; i <= count && i <= SR_ANGLE_TABLES; i++) {
        if (search && search[i].made)
            sr_bank_free(&search[i].proposal.bank);
        sr_angles_free(&table[i]);
    }
    free(search);
    return rc;
}
