/* collect.c - rewrites a formula for readers: products with their number in front and powers
 * joined, one fraction line, flat sums, powers for exponentials of logarithms. */
#include "expr.h"

#include <math.h>

/* Digits of a quotient of two numbers that is written as one number, at most: m1 / 0.026416 keeps
 * its divisor. */
enum { LONG = 12 };

struct writer {
    const struct sr_expr *in;
    struct sr_expr *out;
};

/* The terms of a sum with their signs, or the factors of a product with their powers. */
struct item {
    int node; /* last node of the subtree */
    double weight;
    bool fitted; /* the power is a number of the formula */
};
struct gather {
    double number, under; /* what a sum adds; the factor and the divisor of a product */
    int numbers, count;
    struct item item[SR_NODES];
};

static void write_node(const struct writer *w, int i);

/* A number that is part of the notation, not of the formula: no fit may change it. */
static void put_fixed(struct sr_expr *out, double value)
{
    struct sr_node node = sr_constant_node(value);
    node.feature = SR_FIXED;
    sr_put_node(out, node);
}

/* Without the rounding error of joining numbers. */
static double tidy(double value)
{
    return sr_fewest_digits(value, 0x1p-52, 16);
}

/* ---- products */

static bool is_same(const struct sr_expr *in, int a, int b)
{
    const int size = in->node[a].size;
    bool same = size == in->node[b].size;
    for (int k = 0; k < size && same; k++) {
        const struct sr_node *x = &in->node[a - k], *y = &in->node[b - k];
        same = x->op == y->op && x->size == y->size &&
               (x->op == SR_CONSTANT ? x->value == y->value : x->feature == y->feature);
    }
    return same;
}

/* x^a x^b equals x^(a + b) for every x but 0, unless a + b is whole and a and b are not: negative
 * numbers have no root. */
static bool may_join(double a, double b)
{
    return (sr_is_whole(a) && sr_is_whole(b)) || !sr_is_whole(a + b);
}

static void add_factor(const struct sr_expr *in, struct gather *g, int node, double power,
                       bool fitted)
{
    for (int k = 0; k < g->count; k++) {
        struct item *const old = &g->item[k];
        if (may_join(old->weight, power) && is_same(in, old->node, node)) {
            old->weight = tidy(old->weight + power);
            old->fitted = old->fitted || fitted;
            return;
        }
    }
    g->item[g->count++] = (struct item){node, power, fitted};
}

/* Multiplies by the subtree that ends at i, to a whole power. */
static void gather_factors(const struct sr_expr *in, struct gather *g, int i, double power)
{
    const struct sr_node *const node = &in->node[i];
    const int left = sr_expr_left(in, i);
    double raised = node->op < SR_CUSTOM && node->op != SR_CBRT ? sr_op_table[node->op].power : 0;
    if (sr_is_number(node)) {
        double *const number = power > 0 ? &g->number : &g->under;
        *number = sr_product(*number, sr_raised(node->value, fabs(power)));
        g->numbers += power == 1 ? 1 : 2;
        return;
    }
    if (node->op == SR_MUL || node->op == SR_DIV) {
        gather_factors(in, g, left, power);
        gather_factors(in, g, i - 1, node->op == SR_MUL ? power : -power);
        return;
    }
    if (node->op == SR_NEG) {
        g->number = fmod(power, 2) != 0 ? -g->number : g->number;
        gather_factors(in, g, left, power);
        return;
    }
    const bool fitted = node->op == SR_POW && sr_is_number(&in->node[i - 1]);
    if (fitted)
        raised = in->node[i - 1].value;
    if (raised != 0 && sr_is_whole(raised))
        gather_factors(in, g, left, raised * power);
    else if (raised != 0 && fabs(power) == 1)
        add_factor(in, g, left, raised * power, fitted);
    else
        add_factor(in, g, i, power, false);
}

static void gather_product(const struct sr_expr *in, struct gather *g, int i)
{
    char text[SR_NUMBER];
    *g = (struct gather){.number = 1, .under = 1};
    gather_factors(in, g, i, 1);
    if (g->numbers < 2)
        return;
    const double quotient = tidy(sr_quotient(g->number, g->under));
    if (g->under == 1 || (isfinite(quotient) && sr_number_print(quotient, text) <= LONG)) {
        g->number = quotient;
        g->under = 1;
    } else {
        g->number = tidy(g->under < 0 ? -g->number : g->number);
        g->under = tidy(fabs(g->under));
    }
}

static void write_power(const struct writer *w, const struct item *item, double power)
{
    write_node(w, item->node);
    if (power == 2 || power == 3 || power == 0.5) {
        sr_put_op(w->out, power == 2 ? SR_SQUARE : power == 3 ? SR_CUBE : SR_SQRT);
    } else if (power != 1) {
        if (item->fitted)
            sr_put_constant(w->out, power);
        else
            put_fixed(w->out, power);
        sr_put_op(w->out, SR_POW);
    }
}

/* Writes the number, unless it is no part of the product, and the factors whose power has the sign:
 * columns in order, then the others. A divisor beside a number in front has no error of its own.
 * False, and nothing is written, where there are none. */
static bool write_row(const struct writer *w, const struct gather *g, double number, int sign)
{
    const bool joined = g->number != 1 && g->number != -1 && g->under != 1;
    bool any = number != 1 || (sign > 0 && g->numbers && g->under == 1);
    if (any && sign < 0 && joined)
        put_fixed(w->out, number);
    else if (any)
        sr_put_constant(w->out, number);
    for (int place = 0; place <= SR_FEATURES; place++)
        for (int k = 0; k < g->count; k++) {
            const struct sr_node *const base = &w->in->node[g->item[k].node];
            const double power = sign * g->item[k].weight;
            if (power <= 0 || (base->op == SR_FEATURE ? base->feature : SR_FEATURES) != place)
                continue;
            write_power(w, &g->item[k], power);
            if (any)
                sr_put_op(w->out, SR_MUL);
            any = true;
        }
    return any;
}

/* Writes |the product|, and returns whether it is negative. A lone number keeps its sign, unless
 * `bare`. */
static bool write_product(const struct writer *w, int i, bool bare)
{
    struct gather g;
    gather_product(w->in, &g, i);
    if (g.count == 1 && g.item[0].node == i && g.item[0].weight == 1) {
        const int arity = sr_expr_arity(w->in, i);
        if (arity == 2)
            write_node(w, sr_expr_left(w->in, i));
        if (arity > 0)
            write_node(w, i - 1);
        sr_put_node(w->out, w->in->node[i]);
        return false;
    }
    if (!bare && g.count == 0 && g.under == 1) {
        sr_put_constant(w->out, g.number);
        return false;
    }
    if (!write_row(w, &g, fabs(g.number), 1))
        put_fixed(w->out, 1);
    if (write_row(w, &g, g.under, -1))
        sr_put_op(w->out, SR_DIV);
    return g.number < 0;
}

/* ---- sums */

static void gather_terms(const struct sr_expr *in, struct gather *g, int i, double sign)
{
    const struct sr_node *const node = &in->node[i];
    if (node->op == SR_ADD || node->op == SR_SUB) {
        gather_terms(in, g, sr_expr_left(in, i), sign);
        gather_terms(in, g, i - 1, node->op == SR_ADD ? sign : -sign);
    } else if (node->op == SR_NEG) {
        gather_terms(in, g, i - 1, -sign);
    } else if (sr_is_number(node)) {
        g->number += sign * node->value;
        g->numbers++;
    } else {
        g->item[g->count++] = (struct item){i, sign, false};
    }
}

static bool is_negative(const struct writer *w, struct item term)
{
    struct gather g;
    gather_product(w->in, &g, term.node);
    return (g.number < 0) != (term.weight < 0);
}

/* Writes the terms in order, then the number; the number comes first where that avoids a leading
 * minus. */
static void write_sum(const struct writer *w, int i)
{
    struct gather g = {0};
    gather_terms(w->in, &g, i, 1);
    const double number = g.numbers > 1 ? tidy(g.number) : g.number;
    const bool ahead = number > 0 && g.count > 0 && is_negative(w, g.item[0]);
    if (ahead || g.count == 0)
        sr_put_constant(w->out, number);
    for (int k = 0; k < g.count; k++) {
        const bool minus = write_product(w, g.item[k].node, true) != (g.item[k].weight < 0);
        if (ahead || k > 0)
            sr_put_op(w->out, minus ? SR_SUB : SR_ADD);
        else if (minus)
            sr_put_op(w->out, SR_NEG);
    }
    if (!ahead && g.count > 0 && number != 0) {
        sr_put_constant(w->out, fabs(number));
        sr_put_op(w->out, number < 0 ? SR_SUB : SR_ADD);
    }
}

static void write_node(const struct writer *w, int i)
{
    if (w->in->node[i].op == SR_ADD || w->in->node[i].op == SR_SUB)
        write_sum(w, i);
    else if (write_product(w, i, false))
        sr_put_op(w->out, SR_NEG);
}

/* ---- powers */

/* Whether the subtree that ends at i is a product of one logarithm and numbers. *log: its node;
 * the power is *number / *under. */
static bool is_multiple_of_log(const struct sr_expr *in, int i, int *log, double *number,
                               double *under)
{
    struct gather g;
    gather_product(in, &g, i);
    if (g.count != 1 || g.item[0].weight != 1 || in->node[g.item[0].node].op != SR_LOG)
        return false;
    *log = g.item[0].node;
    *number = g.number;
    *under = g.under;
    return true;
}

/* Copies the subtree that ends at i, with powers of u for exp(c log(u)). */
static void write_powers(const struct writer *w, int i)
{
    const struct sr_expr *in = w->in;
    double number, under;
    int log;
    if (in->node[i].op == SR_EXP && is_multiple_of_log(in, i - 1, &log, &number, &under)) {
        const bool plain = fabs(number) == 1 && under != 1;
        write_powers(w, log - 1);
        if (plain)
            put_fixed(w->out, number);
        else
            sr_put_constant(w->out, number);
        if (under != 1 && plain)
            sr_put_constant(w->out, under);
        else if (under != 1)
            put_fixed(w->out, under);
        if (under != 1)
            sr_put_op(w->out, SR_DIV);
        sr_put_op(w->out, SR_POW);
        return;
    }
    const int arity = sr_expr_arity(in, i);
    if (arity == 2)
        write_powers(w, sr_expr_left(in, i));
    if (arity > 0)
        write_powers(w, i - 1);
    sr_put_node(w->out, in->node[i]);
}

void sr_expr_collect(const struct sr_language *language, struct sr_expr *expr)
{
    struct sr_expr powers = {0}, out = {0};
    write_powers(&(struct writer){expr, &powers}, expr->count - 1);
    if (!sr_put_end(language, &powers, SR_NODES))
        return;
    write_node(&(struct writer){&powers, &out}, powers.count - 1);
    if (sr_put_end(language, &out, SR_NODES))
        *expr = out;
}
