/* normal.c - formulas as nested sums of weighted terms and products of powers. */
#include "normal.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A sum or product under construction. */
struct gather {
    double constant; /* the added constant of a sum, or the factor of a product */
    int count;
    struct sr_normal_item item[2 * SR_NODES];
};

/* An empty sum or product; its kilobytes are not cleared, as there are millions of them. */
static void begin(struct gather *g, double constant)
{
    g->constant = constant;
    g->count = 0;
}

/* ---- nodes */

static uint64_t scramble_bits(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Not symmetric, so that the order of words matters. */
static uint64_t mix_hash(uint64_t hash, uint64_t word)
{
    return scramble_bits(3 * hash + 0x9E3779B97F4A7C15u + scramble_bits(word));
}

static uint64_t bits_of(double value)
{
    uint64_t word;
    value += 0.0; /* -0 becomes 0 */
    memcpy(&word, &value, sizeof word);
    return word;
}

static int new_node(struct sr_normal *form, struct sr_normal_node node,
                    const struct sr_normal_item *items, int count)
{
    if (form->nodes == SR_NORMAL_NODES || form->items + count > SR_NORMAL_ITEMS ||
        !isfinite(node.value)) {
        form->failed = true;
        return 0;
    }
    node.first = form->items;
    node.count = count;
    node.hash = mix_hash(
        mix_hash(mix_hash((uint64_t)node.kind + 1, (uint64_t)sr_op_code(node.op)), node.feature),
        bits_of(node.value));
    for (int i = 0; i < count; i++) {
        form->item[form->items++] = items[i];
        node.hash =
            mix_hash(mix_hash(node.hash, form->node[items[i].node].hash), bits_of(items[i].weight));
    }
    for (int i = 0; i < count; i++)
        form->failed = form->failed || !isfinite(items[i].weight);
    form->node[form->nodes] = node;
    return form->nodes++;
}

static int make_constant(struct sr_normal *form, double value)
{
    return new_node(form, (struct sr_normal_node){.kind = SR_NORMAL_CONSTANT, .value = value}, NULL,
                    0);
}

static int new_group(struct sr_normal *form, enum sr_normal_kind kind, double value,
                     const struct gather *g)
{
    return new_node(form, (struct sr_normal_node){.kind = kind, .value = value}, g->item, g->count);
}

static void sort_items(const struct sr_normal *form, struct gather *g)
{
    for (int i = 1; i < g->count; i++) {
        const struct sr_normal_item item = g->item[i];
        int k = i;
        for (; k > 0 && form->node[g->item[k - 1].node].hash > form->node[item.node].hash; k--)
            g->item[k] = g->item[k - 1];
        g->item[k] = item;
    }
}

/* Adds an item, joined with an equal one if there is one. Items whose weights cancel up to rounding
 * are removed. */
static void add_item(struct sr_normal *form, struct gather *g, int node, double weight)
{
    for (int i = 0; i < g->count; i++) {
        if (form->node[g->item[i].node].hash != form->node[node].hash)
            continue;
        const double sum = g->item[i].weight + weight;
        const double size = fabs(g->item[i].weight) + fabs(weight);
        g->item[i].weight = fabs(sum) <= 4 * DBL_EPSILON * size ? 0 : sum;
        return;
    }
    if (g->count == 2 * SR_NODES) {
        form->failed = true;
        return;
    }
    g->item[g->count++] = (struct sr_normal_item){node, weight};
}

static void drop_zeros(struct gather *g)
{
    int kept = 0;
    for (int i = 0; i < g->count; i++)
        if (g->item[i].weight != 0)
            g->item[kept++] = g->item[i];
    g->count = kept;
}

static void copy_items(const struct sr_normal *form, int node, struct gather *g)
{
    const struct sr_normal_node *from = &form->node[node];
    g->constant = from->value;
    g->count = from->count;
    memcpy(g->item, form->item + from->first, (size_t)from->count * sizeof *g->item);
}

/* value * factor / divisor; NaN, which no node may have, where a digit is lost at the ends of the
 * range of numbers. */
static double ratio_of(double value, double factor, double divisor)
{
    return sr_quotient(sr_product(value, factor), divisor);
}

/* node * factor / divisor, each rounded once, so that x / x is exactly 1. */
static int multiply_ratio(struct sr_normal *form, int node, double factor, double divisor)
{
    const struct sr_normal_node from = form->node[node];
    const double value = ratio_of(from.value, factor, divisor);
    struct gather g;
    if (factor == divisor)
        return node;
    switch (from.kind) {
    case SR_NORMAL_CONSTANT:
        return make_constant(form, value);
    case SR_NORMAL_SUM:
        copy_items(form, node, &g);
        for (int i = 0; i < g.count; i++)
            g.item[i].weight = ratio_of(g.item[i].weight, factor, divisor);
        return new_group(form, from.kind, value, &g);
    case SR_NORMAL_PRODUCT:
        copy_items(form, node, &g);
        if (value == 1 && g.count == 1 && g.item[0].weight == 1)
            return g.item[0].node;
        return new_group(form, from.kind, value, &g);
    default:
        g.item[0] = (struct sr_normal_item){node, 1};
        g.count = 1;
        return new_group(form, SR_NORMAL_PRODUCT, sr_quotient(factor, divisor), &g);
    }
}

static int multiply_node(struct sr_normal *form, int node, double factor)
{
    return multiply_ratio(form, node, factor, 1);
}

/* ---- sums */

static void add_term(struct sr_normal *form, struct gather *g, int node, double weight)
{
    const struct sr_normal_node from = form->node[node];
    if (from.kind == SR_NORMAL_CONSTANT) {
        const double term = sr_product(weight, from.value), sum = g->constant + term;
        const double size = fabs(g->constant) + fabs(term);
        g->constant = fabs(sum) <= 4 * DBL_EPSILON * size ? 0 : sum;
    } else if (from.kind == SR_NORMAL_SUM) {
        add_term(form, g, make_constant(form, from.value), weight);
        for (int i = 0; i < from.count; i++) {
            const struct sr_normal_item item = form->item[from.first + i];
            add_item(form, g, item.node, sr_product(weight, item.weight));
        }
    } else if (from.kind == SR_NORMAL_PRODUCT && from.value != 1) {
        add_item(form, g, multiply_ratio(form, node, 1, from.value),
                 sr_product(weight, from.value));
    } else {
        add_item(form, g, node, weight);
    }
}

static int finish_sum(struct sr_normal *form, struct gather *g)
{
    drop_zeros(g);
    if (g->count == 0)
        return make_constant(form, g->constant);
    if (g->count == 1 && g->constant == 0)
        return multiply_node(form, g->item[0].node, g->item[0].weight);
    sort_items(form, g);
    return new_group(form, SR_NORMAL_SUM, g->constant, g);
}

/* ---- products */

bool sr_is_whole(double x)
{
    return x == floor(x) && fabs(x) < 1e6;
}

static bool is_call(const struct sr_normal *form, int node, enum sr_op op)
{
    return form->node[node].kind == SR_NORMAL_CALL && form->node[node].op == op;
}

/* Whether the factor is nonnegative wherever it is defined, so that its powers may be split. */
static bool is_positive(const struct sr_normal *form, struct sr_normal_item factor)
{
    return !sr_is_whole(factor.weight) || is_call(form, factor.node, SR_EXP);
}

static void add_factor(struct sr_normal *form, struct gather *g, int node, double power)
{
    if (is_call(form, node, SR_CBRT) && power != 0 && sr_is_whole(power / 3)) {
        node = form->item[form->node[node].first].node;
        power /= 3;
    }
    const struct sr_normal_node from = form->node[node];
    if (from.kind == SR_NORMAL_CONSTANT) {
        g->constant = sr_product(g->constant, sr_raised(from.value, power));
        return;
    }
    if (from.kind == SR_NORMAL_SUM) { /* the first term's weight becomes a factor */
        const double lead = form->item[from.first].weight;
        const double factor = sr_is_whole(power) ? lead : fabs(lead);
        g->constant = sr_product(g->constant, sr_raised(factor, power));
        add_item(form, g, multiply_ratio(form, node, 1, factor), power);
        return;
    }
    if (from.kind != SR_NORMAL_PRODUCT) {
        add_item(form, g, node, power);
        return;
    }
    bool split = sr_is_whole(power) || from.value > 0;
    for (int i = 0; i < from.count && !sr_is_whole(power); i++)
        split = split && is_positive(form, form->item[from.first + i]);
    if (split) {
        g->constant = sr_product(g->constant, sr_raised(from.value, power));
        for (int i = 0; i < from.count; i++) {
            const struct sr_normal_item item = form->item[from.first + i];
            add_factor(form, g, item.node, power * item.weight);
        }
        return;
    }
    const double factor = fabs(from.value);
    g->constant = sr_product(g->constant, sr_raised(factor, power));
    add_item(form, g, multiply_ratio(form, node, 1, factor), power);
}

static int make_call(struct sr_normal *form, enum sr_op op, const int operand[2]);

/* exp(a)^p exp(b)^q ... becomes exp(p a + q b ...). */
static void join_exponentials(struct sr_normal *form, struct gather *g)
{
    struct gather sum;
    int found = 0, kept = 0;
    bool powers = false;
    for (int i = 0; i < g->count; i++)
        if (is_call(form, g->item[i].node, SR_EXP)) {
            found++;
            powers = powers || g->item[i].weight != 1;
        }
    if (found == 0 || (found == 1 && !powers))
        return;
    begin(&sum, 0);
    for (int i = 0; i < g->count; i++) {
        const struct sr_normal_item item = g->item[i];
        if (is_call(form, item.node, SR_EXP))
            add_term(form, &sum, form->item[form->node[item.node].first].node, item.weight);
        else
            g->item[kept++] = item;
    }
    g->count = kept;
    const int argument = finish_sum(form, &sum);
    add_factor(form, g, make_call(form, SR_EXP, (int[2]){argument, argument}), 1);
}

static int finish_product(struct sr_normal *form, struct gather *g)
{
    drop_zeros(g);
    join_exponentials(form, g);
    if (g->count == 0 || g->constant == 0)
        return make_constant(form, g->constant);
    if (g->count == 1 && g->item[0].weight == 1)
        return multiply_node(form, g->item[0].node, g->constant);
    sort_items(form, g);
    return new_group(form, SR_NORMAL_PRODUCT, g->constant, g);
}

static int power_of(struct sr_normal *form, int node, double power)
{
    struct gather g;
    begin(&g, 1);
    add_factor(form, &g, node, power);
    return finish_product(form, &g);
}

/* ---- functions */

/* exp(k log(x) + rest) becomes x^k exp(rest) for whole k; -1 where the sum has no such term. Other
 * powers stay, since a language need not have them. */
static int take_out_logarithms(struct sr_normal *form, int argument)
{
    struct gather sum, rest, product;
    begin(&sum, 0);
    begin(&product, 1);
    add_term(form, &sum, argument, 1);
    begin(&rest, sum.constant);
    for (int i = 0; i < sum.count; i++) {
        const struct sr_normal_item item = sum.item[i];
        if (is_call(form, item.node, SR_LOG) && sr_is_whole(item.weight))
            add_factor(form, &product, form->item[form->node[item.node].first].node, item.weight);
        else
            rest.item[rest.count++] = item;
    }
    if (rest.count == sum.count)
        return -1;
    const int other = finish_sum(form, &rest);
    add_factor(form, &product, make_call(form, SR_EXP, (int[2]){other, other}), 1);
    return finish_product(form, &product);
}

/* Whether -x rather than x is the representative of the pair; the choice is the same for both. */
static bool is_negative(const struct sr_normal *form, int node)
{
    const struct sr_normal_node *n = &form->node[node];
    return n->kind == SR_NORMAL_SUM ? form->item[n->first].weight < 0
                                    : n->kind == SR_NORMAL_PRODUCT && n->value < 0;
}

static int make_call(struct sr_normal *form, enum sr_op op, const int operand[2])
{
    const struct sr_op_info *info = sr_op(form->language, (int)op);
    const int arity = info->arity;
    int a = operand[0], b = operand[1];
    double sign = 1;
    if (form->node[a].kind == SR_NORMAL_CONSTANT &&
        (arity == 1 || form->node[b].kind == SR_NORMAL_CONSTANT))
        return make_constant(
            form, sr_op_value(form->language, op, form->node[a].value, form->node[b].value));
    if (info->traits & (SR_ODD | SR_EVEN) && is_negative(form, a)) {
        sign = info->traits & SR_ODD ? -1 : 1;
        a = multiply_node(form, a, -1);
    }
    if (op == SR_HYPOT) {
        a = is_negative(form, a) ? multiply_node(form, a, -1) : a;
        b = is_negative(form, b) ? multiply_node(form, b, -1) : b;
    }
    if (op == SR_ABS && (is_call(form, a, SR_ABS) || is_call(form, a, SR_EXP)))
        return a;
    if (info->undoes != SR_CONSTANT && is_call(form, a, info->undoes))
        return multiply_node(form, form->item[form->node[a].first].node, sign);
    if (op == SR_EXP) {
        const int product = take_out_logarithms(form, a);
        if (product >= 0)
            return product;
    }
    if ((op == SR_MIN || op == SR_MAX) && form->node[a].hash == form->node[b].hash)
        return a;
    if (info->traits & SR_COMMUTES && form->node[a].hash > form->node[b].hash) {
        const int other = a;
        a = b;
        b = other;
    }
    const struct sr_normal_item item[2] = {{a, 1}, {b, 1}};
    const int node = new_node(
        form, (struct sr_normal_node){.kind = SR_NORMAL_CALL, .op = (uint8_t)op}, item, arity);
    return multiply_node(form, node, sign);
}

static int apply_operator(struct sr_normal *form, const struct sr_node *node, const int operand[2])
{
    const enum sr_op op = (enum sr_op)node->op;
    struct gather g;
    begin(&g, op == SR_MUL || op == SR_DIV ? 1 : 0);
    switch (op) {
    case SR_ADD:
    case SR_SUB:
        add_term(form, &g, operand[0], 1);
        add_term(form, &g, operand[1], op == SR_ADD ? 1 : -1);
        return finish_sum(form, &g);
    case SR_MUL:
    case SR_DIV:
        add_factor(form, &g, operand[0], 1);
        add_factor(form, &g, operand[1], op == SR_MUL ? 1 : -1);
        return finish_product(form, &g);
    case SR_NEG:
        return multiply_node(form, operand[0], -1);
    case SR_POW:
        if (form->node[operand[1]].kind == SR_NORMAL_CONSTANT)
            return power_of(form, operand[0], form->node[operand[1]].value);
        return make_call(form, op, operand);
    default:
        break;
    }
    /* cbrt is defined below 0, where ^ (1 / 3) is not */
    const double power = op == SR_CBRT ? 0 : sr_op(form->language, (int)op)->power;
    return power != 0 ? power_of(form, operand[0], power) : make_call(form, op, operand);
}

int sr_normal_make(struct sr_normal *form, const struct sr_language *language,
                   const struct sr_expr *expr)
{
    int stack[SR_NODES + 1] = {0}, depth = 0;
    form->language = language;
    form->nodes = form->items = 0;
    form->failed = false;
    for (int i = 0; i < expr->count && !form->failed; i++) {
        const struct sr_node *node = &expr->node[i];
        const int arity = sr_op(language, node->op)->arity;
        if (node->op == SR_CONSTANT) {
            stack[depth++] = make_constant(form, node->value);
        } else if (node->op == SR_FEATURE) {
            stack[depth++] = new_node(
                form, (struct sr_normal_node){.kind = SR_NORMAL_FEATURE, .feature = node->feature},
                NULL, 0);
        } else {
            depth -= arity;
            const int operand[2] = {stack[depth], arity == 2 ? stack[depth + 1] : stack[depth]};
            stack[depth++] = apply_operator(form, node, operand);
        }
    }
    return form->failed ? -1 : stack[0];
}
