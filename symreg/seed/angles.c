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
    PER_SIZE = 2, /* seeds of each size, few, as there are many tables */
};
static const double radians = 0.017453292519943295, degrees = 57.29577951308232;

/* ---- what looks like degrees */

/* The largest minus the smallest value; negative where one is outside of low .. high. */
static double range_within(const double *value, size_t rows, double low, double high)
{
    double least, most;
    gsl_stats_minmax(&least, &most, value, 1, rows);
    return least >= low && most <= high ? most - least : -1;
}

bool sr_angles_look(const double *value, size_t rows)
{
    return range_within(value, rows, -360, 360) >= 20;
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

/* Adds the column op(x pi / 180) of feature f, in radians itself for SR_CONSTANT. */
static void add_column(struct sr_derived *d, const struct sr_data *all, int f, enum sr_op op)
{
    const struct sr_expr u = {.count = 1, .node = {sr_feature_node(f)}};
    struct sr_expr column = {.count = 0};
    sr_put_text("u * r", &u, "r", &radians, &column);
    if (op != SR_CONSTANT)
        sr_put_op(&column, op);
    double *x = sr_derived_append(d, all->x + (size_t)f * all->rows, &column);
    for (size_t i = 0; i < d->data.rows; i++)
        x[i] = op == SR_CONSTANT ? radians * x[i] : sr_op_table[op].value(radians * x[i], 0);
}

/* Adds the columns of the features, of which those of the set `angles` are angles. */
static void add_columns(const struct sr_proposal *p, unsigned angles, bool functions,
                        struct sr_derived *d)
{
    const struct sr_data *all = p->loss->data;
    const bool has_sin = functions && sr_has(p->operators, SR_SIN);
    const bool has_cos = functions && sr_has(p->operators, SR_COS);
    const bool has_tan = functions && sr_has(p->operators, SR_TAN) && !(has_sin && has_cos);
    int room = SR_SMOOTH_COLUMNS - all->features;
    for (int f = 0; f < all->features; f++) {
        const int extra = has_sin + has_cos + has_tan - 1;
        if (!(angles >> f & 1) || extra > room) {
            sr_derived_feature(d, all, f);
            continue;
        }
        room -= functions ? extra : 0;
        if (has_sin)
            add_column(d, all, f, SR_SIN);
        if (has_cos)
            add_column(d, all, f, SR_COS);
        if (has_tan)
            add_column(d, all, f, SR_TAN);
        if (room > 0 || !functions)
            add_column(d, all, f, SR_CONSTANT);
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

int sr_angles_make(const struct sr_proposal *p, const void *context, int number,
                   struct sr_derived *d)
{
    const struct sr_angles *angles = (const struct sr_angles *)context + number;
    const enum sr_op inverse = angles->inverse;
    const struct sr_data *all = p->loss->data;
    const enum orr_symreg_loss kind = p->loss->kind;
    const bool absolute = kind == ORR_SR_L1 || kind == ORR_SR_RELATIVE;
    TRY(sr_derived_init(d, all, SR_DERIVED_ROWS, NULL, SR_SMOOTH_COLUMNS));
    add_columns(p, angles->columns, angles->functions, d);
    for (size_t i = 0; i < d->data.rows; i++) {
        const double y = d->y[i], slope = slope_of(inverse, y * radians);
        if (inverse != SR_CONSTANT)
            d->y[i] = sr_op_table[function_of(inverse)].value(y * radians, 0);
        d->weight[i] *= absolute ? slope : slope * slope;
        if (kind == ORR_SR_RELATIVE)
            d->weight[i] /= fabs(y) > SR_NO_SIZE ? fabs(y) : p->loss->unit;
    }
    if (inverse != SR_CONSTANT) {
        d->near = 0.02; /* a factor nearer to 1 is left to the fit of the other constants */
        sr_put_op(&d->after, inverse);
        sr_put_by(SR_MUL, degrees, &d->after);
    }
    return sr_derived_close(
        d, sr_derived_weigh(d) ? sr_loss_init(&d->loss, absolute ? ORR_SR_L1 : ORR_SR_L2, &d->data)
                               : ORR_EINVAL);
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
        range[f] = range_within(x, all->rows, -HUGE_VAL, HUGE_VAL);
        most = fmax(most, range[f]);
    }
    for (int f = 0; f < all->features; f++)
        if (angles >> f & 1 && range[f] >= most / 2)
            *widest |= 1U << f;
    return angles;
}

int sr_angles_list(const struct sr_proposal *p, struct sr_angles made[SR_ANGLE_TABLES])
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
    int count = 0;
    if (sr_has(p->operators, SR_SIN) || sr_has(p->operators, SR_COS) ||
        sr_has(p->operators, SR_TAN))
        angles = list_angles(p, &widest);
    const bool target =
        may_be_angle(p, all->y, units && units->target_known ? &units->target : NULL);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const bool inverse = list[k].inverse != SR_CONSTANT;
        if (inverse && (!target || !sr_has(p->operators, list[k].inverse) ||
                        range_within(all->y, all->rows, list[k].low, list[k].high) < 0))
            continue;
        if (angles || inverse)
            made[count++] = (struct sr_angles){angles, true, list[k].inverse};
        if (widest != angles)
            made[count++] = (struct sr_angles){widest, true, list[k].inverse};
    }
    return count;
}

/* ---- the stage */

/* The table of the best one's hypothesis in radians alone, where groups and differences are looked
 * for: the sine and cosine of one angle are no independent columns. */
static int search_radians(struct sr_proposal *p, const struct sr_angles *best)
{
    const struct sr_angles angles = {best->columns, false, best->inverse};
    return sr_race(p, &(struct sr_race){.count = 1,
                                        .make = sr_angles_make,
                                        .context = &angles,
                                        .round = {{.stages = SR_STAGE_SMALL | SR_STAGE_STRUCTURE}},
                                        .per_size = PER_SIZE});
}

/* All tables by the cheapest stages; those with the smallest losses further. Powers are tried in
 * all tables, as a law is a product in one and the root of a sum in another: acos(a cos(t)) and
 * asin(sqrt(1 - a^2 cos(t)^2)). Free exponents come near anything, so their losses do not decide
 * between tables. */
int sr_angles_find(struct sr_proposal *p)
{
    struct sr_angles list[SR_ANGLE_TABLES];
    struct sr_race race = {.count = sr_angles_list(p, list),
                           .make = sr_angles_make,
                           .context = list,
                           .round = {{.stages = SR_STAGE_SMALL},
                                     {.stages = SR_STAGE_POWERS, .always = true},
                                     {.stages = SR_STAGE_COMPOSED, .best = SR_RACE_BEST}},
                           .per_size = PER_SIZE};
    TRY(sr_race(p, &race));
    return race.best < 0 || sr_proposal_over(p) ? 0 : search_radians(p, &list[race.best]);
}
