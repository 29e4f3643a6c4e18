/* profiles_write.c - shapes of one column as formulas. */
#include <math.h>

#include "profiles.h"

#define BIT(name) ((uint64_t)1 << SR_##name)

bool sr_profile_possible(uint64_t operators, enum sr_profile_shape shape)
{
    static const struct {
        uint64_t all, any; /* operators; any 0: none beside */
    } needs[SR_PROFILE_SHAPES] = {
        [SR_PROFILE_POWER] = {BIT(SUB) | BIT(MUL) | BIT(EXP) | BIT(LOG), 0},
        [SR_PROFILE_CLIP] = {BIT(SUB) | BIT(MUL) | BIT(EXP) | BIT(LOG) | BIT(MIN), 0},
        [SR_PROFILE_STEP] = {BIT(SUB) | BIT(DIV) | BIT(ADD) | BIT(EXP), 0},
        [SR_PROFILE_FLAT] = {BIT(SUB) | BIT(DIV) | BIT(ADD) | BIT(SQUARE), 0},
        [SR_PROFILE_BOX] = {BIT(SUB) | BIT(DIV) | BIT(ADD) | BIT(EXP), BIT(ABS) | BIT(SQUARE)},
        [SR_PROFILE_SAW] = {BIT(SUB) | BIT(MUL) | BIT(ADD), BIT(MOD) | BIT(FLOOR)},
        [SR_PROFILE_DAYS] = {BIT(SUB) | BIT(MUL) | BIT(ADD) | BIT(MOD) | BIT(GREATER), 0},
    };
    if (sr_has(operators, SR_POW)) /* in place of exp(p log x) */
        operators |= BIT(EXP) | BIT(LOG);
    return (operators & needs[shape].all) == needs[shape].all &&
           (!needs[shape].any || (operators & needs[shape].any));
}

/* x - c, or c - x. */
static void put_distance(const struct sr_profile *f, bool turned, struct sr_expr *out)
{
    if (turned)
        sr_put_constant(out, f->c);
    sr_put_node(out, sr_feature_node(f->column));
    if (!turned && f->c != 0)
        sr_put_constant(out, f->c);
    if (turned || f->c != 0)
        sr_put_op(out, SR_SUB);
}

static void put_by(double factor, enum sr_op op, struct sr_expr *out)
{
    sr_put_constant(out, factor);
    sr_put_op(out, op);
}

static void put_power(const struct sr_profile *f, uint64_t operators, struct sr_expr *out)
{
    sr_put_constant(out, f->weight);
    if (sr_has(operators, SR_POW)) {
        put_distance(f, f->side < 0, out);
        put_by(f->p, SR_POW, out);
    } else {
        sr_put_constant(out, f->p);
        put_distance(f, f->side < 0, out);
        sr_put_op(out, SR_LOG);
        sr_put_op(out, SR_MUL);
        sr_put_op(out, SR_EXP);
    }
    if (f->shape == SR_PROFILE_CLIP)
        put_by(f->w, SR_MIN, out);
    sr_put_op(out, SR_MUL);
}

/* weight / (1 + exp(argument)), of whose argument `argument` puts the nodes. */
static void put_step(const struct sr_profile *f, uint64_t operators, struct sr_expr *out)
{
    const bool box = f->shape == SR_PROFILE_BOX, squares = !sr_has(operators, SR_ABS);
    sr_put_constant(out, f->weight);
    put_distance(f, false, out);
    if (box) {
        sr_put_op(out, squares ? SR_SQUARE : SR_ABS);
        put_by(squares ? f->w * f->w : f->w, SR_SUB, out);
    }
    put_by(box && squares ? 2 * f->w * f->s : f->s, SR_DIV, out);
    sr_put_op(out, SR_EXP);
    put_by(1, SR_ADD, out);
    sr_put_op(out, SR_DIV);
}

static void put_flat(const struct sr_profile *f, struct sr_expr *out)
{
    const double fourth = f->s * f->s * f->s * f->s;
    sr_put_constant(out, f->weight * fourth);
    put_distance(f, false, out);
    sr_put_op(out, SR_SQUARE);
    sr_put_op(out, SR_SQUARE);
    put_by(fourth, SR_ADD, out);
    sr_put_op(out, SR_DIV);
}

/* weight mod(x - c, p), or weight (x - c) - weight p floor((x - c) / p), whose c of the first term
 * is one of the constant. */
static void put_saw(const struct sr_profile *f, uint64_t operators, struct sr_expr *out)
{
    if (sr_has(operators, SR_MOD)) {
        put_distance(f, false, out);
        put_by(f->p, SR_MOD, out);
        put_by(f->weight, SR_MUL, out);
        return;
    }
    sr_put_node(out, sr_feature_node(f->column));
    put_by(f->weight, SR_MUL, out);
    put_distance(f, false, out);
    const bool quotient = sr_has(operators, SR_DIV); /* 7 has fewer digits than 1 / 7 */
    put_by(quotient ? f->p : 1 / f->p, quotient ? SR_DIV : SR_MUL, out);
    sr_put_op(out, SR_FLOOR);
    put_by(f->weight * f->p, SR_MUL, out);
    sr_put_op(out, SR_SUB);
}

static void put_days(const struct sr_profile *f, struct sr_expr *out)
{
    put_distance(f, false, out);
    put_by(f->p, SR_MOD, out);
    put_by(f->w, SR_GREATER, out);
    put_by(f->weight, SR_MUL, out);
}

bool sr_profile_write(const struct sr_proposal *p, const struct sr_profile *f, struct sr_expr *out)
{
    out->count = 0;
    if (f->shape == SR_PROFILE_POWER || f->shape == SR_PROFILE_CLIP)
        put_power(f, p->operators, out);
    else if (f->shape == SR_PROFILE_FLAT)
        put_flat(f, out);
    else if (f->shape == SR_PROFILE_SAW)
        put_saw(f, p->operators, out);
    else if (f->shape == SR_PROFILE_DAYS)
        put_days(f, out);
    else
        put_step(f, p->operators, out);
    if (f->base > 1) {
        sr_put_node(out, sr_feature_node(f->column));
        put_by(f->slope, SR_MUL, out);
        sr_put_op(out, SR_ADD);
    }
    if (f->base > 0)
        put_by(f->constant, SR_ADD, out);
    return sr_put_end(p->settings->language, out, SR_NODES);
}
