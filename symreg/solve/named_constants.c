/* named_constants.c - writes the named constants of --constants into the formulas of a front.
 *
 * A search fits numbers. Where a number agrees with a product of powers of named constants, times a
 * simple factor such as 2 or 4 pi, within its uncertainty, the product takes its place and the
 * other numbers are fitted again. With units the product must have the dimension that the formula
 * needs; without, only a single constant or its reciprocal is recognised. */
#include <math.h>
#include <stdlib.h>

#include "solve.h"
#include "symreg/seed/powers.h"
#include "symreg/seed/products.h"

#define PI 3.14159265358979323846
/* In the order in which they are tried. */
static const double factors[] = {
    1,      2,      0.5,    4 * PI,     0.25 / PI, 2 * PI, 0.5 / PI,   PI,     1 / PI, 3,      4,
    0.25,   1. / 3, 8 * PI, 0.125 / PI, 1.5,       2. / 3, 4 * PI *PI, 8,      0.125,  PI *PI, 0.75,
    4. / 3, 5,      0.2,    6,          1. / 6,    6 * PI, 4 * PI / 3, PI / 2, PI / 4};
enum { SIMPLE = sizeof factors / sizeof *factors, PRODUCTS = 4, REFIT_STEPS = 12 };
/* How far a number may be from its name: in standard errors of one constant (sr_snap_share()), and
 * as a relative deviation. With units the simplest product alone is expected; for all others, one
 * number in a hundred agrees by chance. */
static const double standard_errors = 3, widest = 0.05, by_chance = 0.01;
/* The feature of a product's numbers until the formula is finished, so that no fit changes it. */
enum { FIXED = SR_FIXED + 1 };

struct naming {
    const struct sr_settings *settings;
    const struct sr_loss *loss;
    struct sr_work *work;
    uint64_t operators;
    double limit; /* the largest loss of the named formula */
};

/* ---- products of named constants */

static double value_of(const struct sr_language *language, const struct sr_powers *powers)
{
    double value = 1;
    for (int k = 0; k < language->named && k < SR_SMOOTH_COLUMNS; k++)
        value *= sr_raise(language->constant[k], 0.5 * powers->half[k]);
    return value;
}

static bool is_one(const struct sr_powers *powers)
{
    bool one = true;
    for (int k = 0; k < SR_SMOOTH_COLUMNS; k++)
        one = one && powers->half[k] == 0;
    return one;
}

/* Lists products that may stand at node i. */
static int list_products(const struct naming *n, const struct sr_expr *expr, int i,
                         struct sr_powers list[SR_PRODUCTS + 2 * SR_NAMED])
{
    const struct sr_language *language = n->settings->language;
    const struct sr_units *units = n->settings->units;
    const int named = language->named < SR_SMOOTH_COLUMNS ? language->named : SR_SMOOTH_COLUMNS;
    struct sr_dimension want;
    struct sr_product product[SR_PRODUCTS];
    int count = 0;
    if (!units) {
        for (int k = 0; k < 2 * named; k++)
            list[count++].half[k / 2] = k % 2 ? -2 : 2;
        return count;
    }
    if (!sr_units_of_constant(units, language, expr, i, &want))
        return 0;
    const int all = sr_products_find(units->constant, named, ~0U, &want, product);
    for (int k = 0; k < all; k++) {
        list[count] = product[k].powers;
        count += !is_one(&list[count]);
    }
    return count;
}

/* Writes factor * product. */
static bool write_product(const struct naming *n, const struct sr_powers *powers, double factor,
                          struct sr_expr *out)
{
    const struct sr_language *language = n->settings->language;
    /* a reciprocal is written as 1 / c */
    const uint64_t operators = (n->operators & ~((uint64_t)1 << SR_INV)) | (uint64_t)1 << SR_DIV;
    if (!sr_powers_write(language, operators, powers, out) || !out->count)
        return false;
    for (int i = 0; i < out->count; i++)
        if (out->node[i].op == SR_FEATURE)
            out->node[i] = sr_named_node(language, out->node[i].feature);
    const int root = out->count - 1;
    if (out->node[root].op == SR_DIV && sr_expr_left(out, root) == 0 &&
        sr_is_number(&out->node[0])) { /* 1 / c^2 */
        out->node[0].value = factor;
    } else if (fabs(factor - 1) > 0) {
        struct sr_expr product = *out;
        out->count = 0;
        sr_put_constant(out, factor);
        sr_put_expr(out, &product);
        sr_put_op(out, SR_MUL);
    }
    for (int i = 0; i < out->count; i++)
        if (sr_is_number(&out->node[i]))
            out->node[i].feature = FIXED;
    return sr_put_end(language, out, SR_NODES);
}

/* ---- one number of a formula */

/* The operator whose last operand is node i. */
static int parent_of(const struct sr_expr *expr, int i)
{
    for (int k = i + 1; k < expr->count; k++)
        if (sr_expr_start(expr, k) <= i)
            return k;
    return -1;
}

/* Writes factor * product at node i. x / (1 / c) becomes x c, x / (k / h) x (h / k). */
static bool place_product(const struct naming *n, struct sr_expr *expr, int i,
                          struct sr_powers powers, double factor)
{
    const int parent = parent_of(expr, i);
    struct sr_expr piece;
    bool below = false;
    for (int k = 0; k < SR_SMOOTH_COLUMNS; k++)
        below = below || powers.half[k] < 0;
    if (below && parent == i + 1 && expr->node[parent].op == SR_DIV) {
        for (int k = 0; k < SR_SMOOTH_COLUMNS; k++)
            powers.half[k] = -powers.half[k];
        factor = 1 / factor;
        expr->node[parent].op = SR_MUL;
    }
    return write_product(n, &powers, factor, &piece) &&
           sr_expr_splice(n->settings->language, expr, i, 1, piece.node, piece.count, SR_NODES);
}

/* Tries a factor and a product at node i; true, with the loss, where the formula remains as
 * good. */
static bool accept_name(const struct naming *n, struct sr_expr *expr, int i,
                        const struct sr_powers *powers, double factor, double *reached)
{
    struct sr_expr trial = *expr;
    struct sr_span span[SR_PARTS];
    if (!place_product(n, &trial, i, *powers, factor) ||
        (n->settings->form && !sr_template_find(n->settings->form, &trial, span)))
        return false;
    double loss = sr_constants_fit(n->loss, &trial, false, REFIT_STEPS, 0, NULL, n->work);
    if (!(loss <= n->limit))
        return false;
    loss = sr_snap_within(n->loss, &trial, fmin(n->limit, sr_snap_limit(n->loss, loss)), n->work);
    *expr = trial;
    *reached = loss;
    return true;
}

static bool name_number(const struct naming *n, struct sr_expr *expr, int i, double *reached)
{
    struct sr_powers list[SR_PRODUCTS + 2 * SR_NAMED] = {{{0}}};
    const bool units = n->settings->units != NULL;
    const int products = list_products(n, expr, i, list), own = units ? SIMPLE : 1;
    const double value = expr->node[i].value;
    for (int f = 0; f < own; f++)
        for (int k = 0; k < products && k < (f ? PRODUCTS : SR_PRODUCTS); k++) {
            const double factor = copysign(factors[f], value);
            const double off =
                fabs(value / (factor * value_of(n->settings->language, &list[k])) - 1);
            const int tried = f * PRODUCTS + k;
            const double most = units && tried == 0 ? widest : by_chance / (2 * tried + 1);
            if (off <= most && accept_name(n, expr, i, &list[k], factor, reached))
                return true;
        }
    return false;
}

/* Whether node i is an exponent. */
static bool is_exponent(const struct sr_expr *expr, int i)
{
    const int parent = parent_of(expr, i);
    return parent == i + 1 && expr->node[parent].op == SR_POW;
}

int sr_front_name(const struct sr_settings *s, const struct sr_data *data, struct sr_front *front)
{
    struct sr_loss loss;
    struct sr_work work = {0};
    if (!s->language || !s->language->named || !front->count)
        return 0;
    TRY(sr_loss_init_with(&loss, s->loss, s->loss_parameter, data));
    const int most = sr_front_constants(front);
    int rc = sr_work_init(&work, sr_block_rows(data), 2 * (most > 1 ? most : 1) - 1);
    const double share = standard_errors * standard_errors / (double)data->rows;
    for (int row = 0; row < front->count && !rc; row++) {
        struct sr_expr *expr = &front->expr[row];
        const bool falls = row && front->loss[row] < front->loss[row - 1];
        const double before = falls ? front->loss[row - 1] : HUGE_VAL;
        const struct naming n = {
            s, &loss, &work, sr_settings_operators(s) | (uint64_t)1 << SR_MUL,
            fmin(fmax(front->loss[row] * (1 + share), loss.noise), before * (1 - 1e-12))};
        for (int i = expr->count - 1; i >= 0; i--)
            if (sr_is_number(&expr->node[i]) && !is_exponent(expr, i))
                name_number(&n, expr, i, &front->loss[row]);
        for (int i = 0; i < expr->count; i++)
            if (expr->node[i].op == SR_CONSTANT && expr->node[i].feature == FIXED)
                expr->node[i].feature = 0;
    }
    sr_work_free(&work);
    sr_loss_free(&loss);
    return rc;
}
