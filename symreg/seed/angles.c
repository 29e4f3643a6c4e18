/* angles.c - searches tables in which columns or the target are angles in degrees.
 *
 * A law of such a table has pi / 180 within its functions and 180 / pi outside of inverse ones,
 * numbers that no stage finds together with the rest. In derived tables (angles.h) they are part
 * of the columns and of the target, and the stages of a proposal search these tables. What they
 * find is written in the columns of the table and fitted to it. */
#include "base/stop.h"
#include "angles.h"

#include <math.h>
#include <string.h>

#include "shared.h"

enum {
    PER_SIZE = 2, /* seeds of each size, few, as there are many tables */
};
static const double radians = 0.017453292519943295, degrees = 57.29577951308232;
/* The functions, and ranges of the inverse ones in degrees, with a margin for noise. */
static const struct {
    enum sr_op op, of;
    double low, high;
} inverses[] = {{SR_ASIN, SR_SIN, -92, 92}, {SR_ACOS, SR_COS, -2, 182}, {SR_ATAN, SR_TAN, -90, 90}};
enum { INVERSES = sizeof inverses / sizeof *inverses };

/* ---- what looks like degrees */

bool sr_angles_look(const double *value, size_t rows)
{
    return sr_range_within(value, rows, -360, 360) >= 20;
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
    enum sr_op op[3];
    int ops = 0, room = SR_SMOOTH_COLUMNS - all->features;
    for (int k = 0; k < 3 && functions && ops < 2; k++) /* no tangent beside sine and cosine */
        if (sr_has(p->operators, inverses[k].of))
            op[ops++] = inverses[k].of;
    for (int f = 0; f < all->features; f++) {
        if (!(angles >> f & 1) || ops - 1 > room) {
            sr_derived_feature(d, all, f);
            continue;
        }
        for (int k = 0; k < ops; k++)
            add_column(d, all, f, op[k]);
        room -= ops - 1;
        if (room > 0)
            add_column(d, all, f, SR_CONSTANT);
        room -= room > 0;
    }
}

/* z = f(y) of y in radians, and dy / dz up to a factor. A lower bound keeps single rows from
 * dominating where the derivative of f is 0. */
static double invert(enum sr_op inverse, double y, double *slope)
{
    static const double least = 0.01;
    const double s = sr_op_table[SR_SIN].value(y, 0), c = sr_op_table[SR_COS].value(y, 0);
    *slope = inverse == SR_ASIN   ? 1 / sqrt(c * c + least)
             : inverse == SR_ACOS ? 1 / sqrt(s * s + least)
                                  : c * c;
    return inverse == SR_ASIN ? s : inverse == SR_ACOS ? c : sr_op_table[SR_TAN].value(y, 0);
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
        const double y = d->y[i];
        double slope = 1;
        if (inverse != SR_CONSTANT)
            d->y[i] = invert(inverse, y * radians, &slope);
        d->weight[i] *= absolute ? slope : slope * slope;
        if (kind == ORR_SR_RELATIVE)
            d->weight[i] /= fabs(y) > SR_NO_SIZE ? fabs(y) : p->loss->unit;
    }
    if (inverse != SR_CONSTANT) {
        d->near = 0.02; /* a factor nearer to 1 is left to the fit of the other constants */
        sr_put_op(&d->after, inverse);
        sr_put_by(SR_MUL, degrees, &d->after);
    }
    return sr_derived_end(d, absolute ? ORR_SR_L1 : ORR_SR_L2);
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
        range[f] = sr_range_within(x, all->rows, -HUGE_VAL, HUGE_VAL);
        most = fmax(most, range[f]);
    }
    for (int f = 0; f < all->features; f++)
        if (angles >> f & 1 && range[f] >= most / 2)
            *widest |= 1U << f;
    return angles;
}

int sr_angles_list(const struct sr_proposal *p, struct sr_angles made[SR_ANGLE_TABLES])
{
    const struct sr_data *all = p->loss->data;
    const struct sr_units *units = p->settings->units;
    unsigned widest = 0, angles = 0;
    int count = 0;
    for (int k = 0; k < INVERSES && !angles; k++)
        if (sr_has(p->operators, inverses[k].of))
            angles = list_angles(p, &widest);
    const bool target =
        may_be_angle(p, all->y, units && units->target_known ? &units->target : NULL);
    for (int k = -1; k < INVERSES; k++) {
        const enum sr_op inverse = k < 0 ? SR_CONSTANT : inverses[k].op;
        if (k >= 0 && (!target || !sr_has(p->operators, inverse) ||
                       sr_range_within(all->y, all->rows, inverses[k].low, inverses[k].high) < 0))
            continue;
        if (angles || k >= 0)
            made[count++] = (struct sr_angles){angles, true, inverse};
        if (widest != angles)
            made[count++] = (struct sr_angles){widest, true, inverse};
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
