/* simplify.c - the shortest way to write a formula's normal form with given operators.
 *
 * Every alternative (common factor or not, inv or a division, square or a product) is written and
 * the shorter one kept. A result that is not shorter than the formula is discarded. Simplification
 * therefore never enlarges a formula and never introduces an operator that was not there.
 * sr_expr_into_sum() alone changes the normal form. */
#include "normal.h"

#include <math.h>
#include <string.h>

struct writer {
    const struct sr_normal *form;
    uint64_t allowed; /* bit per operator */
    int most;         /* nodes of what is written: a longer piece is part of no result */
};

/* ---- pieces; each function returns false when the formula is full or an operator is missing */

/* An empty formula; the rest of its kilobyte is not cleared, as there are millions of pieces. */
static void begin(struct sr_expr *expr)
{
    expr->count = 0;
}

static bool put_node(const struct writer *w, struct sr_expr *out, struct sr_node node)
{
    if (out->count >= w->most)
        return false;
    out->node[out->count++] = node;
    return true;
}

/* False for NaN as well, of sr_product() and sr_quotient(). */
static bool put_constant(const struct writer *w, struct sr_expr *out, double value)
{
    return isfinite(value) && put_node(w, out, sr_constant_node(value));
}

static bool put_op(const struct writer *w, struct sr_expr *out, enum sr_op op)
{
    return sr_has(w->allowed, op) && put_node(w, out, sr_op_node((int)op));
}

static bool put_all(const struct writer *w, struct sr_expr *out, const struct sr_expr *piece)
{
    if (out->count + piece->count > w->most)
        return false;
    memcpy(out->node + out->count, piece->node, (size_t)piece->count * sizeof *piece->node);
    out->count += piece->count;
    return true;
}

/* out *= piece; an empty out becomes the piece. */
static bool multiply_by(const struct writer *w, struct sr_expr *out, const struct sr_expr *piece)
{
    const bool first = out->count == 0;
    return put_all(w, out, piece) && (first || put_op(w, out, SR_MUL));
}

static void keep_shorter(struct sr_expr *best, const struct sr_expr *trial, bool written)
{
    if (written && (best->count == 0 || trial->count < best->count))
        sr_expr_copy(best, trial);
}

static bool write_node(const struct writer *w, int node, double factor, struct sr_expr *out);

/* ---- powers */

/* base^n, n >= 1. */
static bool write_whole(const struct writer *w, const struct sr_expr *base, int n,
                        struct sr_expr *out)
{
    if (n == 1)
        return put_all(w, out, base);
    if (n == 2 && sr_has(w->allowed, SR_SQUARE))
        return put_all(w, out, base) && put_op(w, out, SR_SQUARE);
    if (n == 3 && sr_has(w->allowed, SR_CUBE))
        return put_all(w, out, base) && put_op(w, out, SR_CUBE);
    if (n > 3 && n % 2 == 0 && sr_has(w->allowed, SR_SQUARE))
        return write_whole(w, base, n / 2, out) && put_op(w, out, SR_SQUARE);
    if (n > 3 && n % 3 == 0 && sr_has(w->allowed, SR_CUBE))
        return write_whole(w, base, n / 3, out) && put_op(w, out, SR_CUBE);
    return n <= SR_NODES && write_whole(w, base, n - 1, out) && put_all(w, out, base) &&
           put_op(w, out, SR_MUL);
}

/* base^power, power > 0: by products and roots, or by ^. */
static bool write_power(const struct writer *w, const struct sr_expr *base, double power,
                        struct sr_expr *out)
{
    struct sr_expr best, trial;
    begin(&best);
    begin(&trial);
    const double rounded = floor(power), rest = power - rounded;
    if (rounded <= SR_NODES && (rest == 0 || rest == 0.5)) {
        bool ok = true;
        if (rounded >= 1)
            ok = write_whole(w, base, (int)rounded, &trial);
        if (ok && rest > 0) {
            struct sr_expr root;
            sr_expr_copy(&root, base);
            ok = put_op(w, &root, SR_SQRT) && multiply_by(w, &trial, &root);
        }
        keep_shorter(&best, &trial, ok);
        if (rest > 0 && rounded >= 1) { /* sqrt of an odd power */
            trial.count = 0;
            ok = write_whole(w, base, (int)(2 * power), &trial) && put_op(w, &trial, SR_SQRT);
            keep_shorter(&best, &trial, ok);
        }
    }
    trial.count = 0;
    keep_shorter(&best, &trial,
                 put_all(w, &trial, base) && put_constant(w, &trial, power) &&
                     put_op(w, &trial, SR_POW));
    return best.count > 0 && put_all(w, out, &best);
}

/* ---- products: factor * over / under */

/* out *= the node to the power, power > 0. */
static bool multiply_by_power(const struct writer *w, int node, double power, struct sr_expr *out)
{
    struct sr_expr base, raised;
    begin(&base);
    begin(&raised);
    return write_node(w, node, 1, &base) && write_power(w, &base, power, &raised) &&
           multiply_by(w, out, &raised);
}

static bool write_parts(const struct writer *w, const struct sr_normal_node *product,
                        struct sr_expr *over, struct sr_expr *under)
{
    for (int i = 0; i < product->count; i++) {
        const struct sr_normal_item item = w->form->item[product->first + i];
        if (!multiply_by_power(w, item.node, fabs(item.weight), item.weight > 0 ? over : under))
            return false;
    }
    return true;
}

/* factor * piece, the piece not empty. */
static bool write_factor(const struct writer *w, double factor, const struct sr_expr *piece,
                         struct sr_expr *out)
{
    if (factor == 1)
        return put_all(w, out, piece);
    if (factor == -1 && sr_has(w->allowed, SR_NEG))
        return put_all(w, out, piece) && put_op(w, out, SR_NEG);
    return put_constant(w, out, factor) && put_all(w, out, piece) && put_op(w, out, SR_MUL);
}

/* factor * over / under, of which either may be empty. */
static bool write_quotient(const struct writer *w, double factor, const struct sr_expr *over,
                           const struct sr_expr *under, struct sr_expr *out)
{
    struct sr_expr whole, best, trial;
    begin(&whole);
    begin(&best);
    begin(&trial);
    if (under->count == 0 && over->count)
        return write_factor(w, factor, over, out);
    bool ok = over->count ? write_factor(w, factor, over, &whole) : put_constant(w, &whole, factor);
    if (under->count == 0)
        return ok && put_all(w, out, &whole);
    ok = ok && put_all(w, &trial, &whole) && put_all(w, &trial, under) && put_op(w, &trial, SR_DIV);
    keep_shorter(&best, &trial, ok);
    sr_expr_copy(&trial, over); /* factor * over * inv(under) */
    sr_expr_copy(&whole, under);
    ok = put_op(w, &whole, SR_INV) && multiply_by(w, &trial, &whole);
    whole.count = 0;
    ok = ok && write_factor(w, factor, &trial, &whole);
    keep_shorter(&best, &whole, ok);
    return best.count > 0 && put_all(w, out, &best);
}

static bool write_product(const struct writer *w, const struct sr_normal_node *product,
                          double factor, struct sr_expr *out)
{
    struct sr_expr over, under;
    begin(&over);
    begin(&under);
    return write_parts(w, product, &over, &under) &&
           write_quotient(w, sr_product(factor, product->value), &over, &under, out);
}

/* ---- sums */

/* The sum times `factor`, as common * (...). */
static bool write_terms(const struct writer *w, const struct sr_normal_node *sum, double factor,
                        double common, struct sr_expr *out)
{
    struct sr_expr inner;
    begin(&inner);
    const double by = sr_quotient(factor, common);
    for (int pass = 0; pass < 2; pass++) /* added terms first, then subtracted ones */
        for (int i = 0; i <= sum->count; i++) {
            const bool last = i == sum->count;
            const struct sr_normal_item item = w->form->item[sum->first + (last ? 0 : i)];
            const double weight = sr_product(last ? sum->value : item.weight, by);
            if (weight == 0 || (weight < 0) != (pass == 1))
                continue;
            const bool first = inner.count == 0;
            const bool minus = !first && weight < 0 && sr_has(w->allowed, SR_SUB);
            const double written = minus ? -weight : weight;
            if (!(last ? put_constant(w, &inner, written)
                       : write_node(w, item.node, written, &inner)))
                return false;
            if (!first && !put_op(w, &inner, minus ? SR_SUB : SR_ADD))
                return false;
        }
    return write_factor(w, common, &inner, out);
}

/* Whether weight i is the first of several with this size. A factor that only one term has, taken
 * out of the sum, saves no node. */
static bool has_others(const struct sr_normal_item *item, int count, int i)
{
    int others = 0;
    for (int k = 0; k < count; k++) {
        if (k == i || fabs(item[k].weight) != fabs(item[i].weight))
            continue;
        if (k < i)
            return false;
        others++;
    }
    return others > 0;
}

static bool write_sum(const struct writer *w, const struct sr_normal_node *sum, double factor,
                      struct sr_expr *out)
{
    struct writer shorter = *w; /* than the best so far */
    struct sr_expr best, trial;
    begin(&best);
    begin(&trial);
    keep_shorter(&best, &trial, write_terms(w, sum, factor, 1, &trial));
    for (int i = 0; i < sum->count; i++) { /* each weight in turn as the common factor */
        const struct sr_normal_item *const items = w->form->item + sum->first;
        const double weight = sr_product(items[i].weight, factor);
        if (best.count && !has_others(items, sum->count, i))
            continue;
        for (int sign = 1; sign >= -1; sign -= 2) {
            trial.count = 0;
            shorter.most = best.count ? best.count - 1 : w->most;
            if (weight * sign != 1)
                keep_shorter(&best, &trial,
                             write_terms(&shorter, sum, factor, sign * weight, &trial));
        }
    }
    return best.count > 0 && put_all(w, out, &best);
}

static bool write_node(const struct writer *w, int node, double factor, struct sr_expr *out)
{
    const struct sr_normal_node *n = &w->form->node[node];
    struct sr_expr piece;
    begin(&piece);
    switch (n->kind) {
    case SR_NORMAL_CONSTANT:
        return put_constant(w, out, sr_product(factor, n->value));
    case SR_NORMAL_FEATURE:
        return put_node(w, &piece, sr_feature_node(n->feature)) &&
               write_factor(w, factor, &piece, out);
    case SR_NORMAL_SUM:
        return write_sum(w, n, factor, out);
    case SR_NORMAL_PRODUCT:
        return write_product(w, n, factor, out);
    case SR_NORMAL_CALL:
        for (int i = 0; i < n->count; i++)
            if (!write_node(w, w->form->item[n->first + i].node, 1, &piece))
                return false;
        return put_op(w, &piece, (enum sr_op)n->op) && write_factor(w, factor, &piece, out);
    }
    return false;
}

/* ---- columns that multiply a sum, moved into it */

/* The power of the column as a factor of the term; not that in the term's functions. */
static double power_in(const struct sr_normal *form, int term, uint8_t feature)
{
    const struct sr_normal_node *n = &form->node[term];
    double power = n->kind == SR_NORMAL_FEATURE && n->feature == feature ? 1 : 0;
    for (int i = 0; i < n->count && n->kind == SR_NORMAL_PRODUCT; i++) {
        const struct sr_normal_item item = form->item[n->first + i];
        const struct sr_normal_node *factor = &form->node[item.node];
        power += factor->kind == SR_NORMAL_FEATURE && factor->feature == feature ? item.weight : 0;
    }
    return power;
}

/* By which power of the factor the terms of the sum are to be multiplied: as far as it divides
 * them, and as far as the product has it. */
static double power_to_move(const struct sr_normal *form, struct sr_normal_item factor,
                            struct sr_normal_item sum)
{
    const struct sr_normal_node *n = &form->node[factor.node], *terms = &form->node[sum.node];
    double divides = 0;
    for (int i = 0; i < terms->count && n->kind == SR_NORMAL_FEATURE; i++)
        divides = fmax(divides, -power_in(form, form->item[terms->first + i].node, n->feature));
    return fmax(fmin(divides, factor.weight / sum.weight), 0);
}

/* The sum, whose terms are multiplied by what is moved; its first term keeps its weight, which the
 * normal form would take out. */
static bool write_filled(const struct writer *w, const struct sr_normal_node *product,
                         struct sr_normal_item sum, uint64_t operators, struct sr_expr *out)
{
    const struct sr_normal_node *terms = &w->form->node[sum.node];
    for (int t = 0; t <= terms->count; t++) {
        const bool last = t == terms->count, first = out->count == 0;
        const struct sr_normal_item of = w->form->item[terms->first + (last ? 0 : t)];
        const double weight = last ? terms->value : of.weight;
        const bool minus = weight < 0 && !first;
        struct sr_expr term = {0};
        if (weight == 0)
            continue;
        if (!(last ? put_constant(w, &term, minus ? -weight : weight)
                   : write_node(w, of.node, minus ? -weight : weight, &term)))
            return false;
        for (int i = 0; i < product->count; i++) {
            const struct sr_normal_item item = w->form->item[product->first + i];
            const double power = power_to_move(w->form, item, sum);
            if (power > 0 && !multiply_by_power(w, item.node, power, &term))
                return false;
        }
        if (!sr_expr_measure(w->form->language, &term))
            return false;
        sr_expr_rewrite(w->form->language, &term, operators);
        if (!put_all(w, out, &term) || (!first && !put_op(w, out, minus ? SR_SUB : SR_ADD)))
            return false;
    }
    return true;
}

/* The product with what can be moved into its sum, item `number`; false where nothing can. */
static bool write_into_sum(const struct writer *w, const struct sr_normal_node *product, int number,
                           uint64_t operators, struct sr_expr *out)
{
    const struct sr_normal_item sum = w->form->item[product->first + number];
    struct sr_expr filled = {0}, raised = {0}, over = {0}, under = {0};
    bool any = false;
    if (!write_filled(w, product, sum, operators, &filled) ||
        !write_power(w, &filled, fabs(sum.weight), &raised) ||
        !multiply_by(w, sum.weight > 0 ? &over : &under, &raised))
        return false;
    for (int i = 0; i < product->count; i++) {
        const struct sr_normal_item item = w->form->item[product->first + i];
        const double moved = power_to_move(w->form, item, sum);
        const double left = item.weight - moved * sum.weight;
        any = any || moved > 0;
        if (i != number && left != 0 &&
            !multiply_by_power(w, item.node, fabs(left), left > 0 ? &over : &under))
            return false;
    }
    return any && write_quotient(w, product->value, &over, &under, out);
}

/* Moves columns into one sum; false where that is not shorter. */
static bool move_once(const struct sr_language *language, struct sr_expr *expr, uint64_t operators)
{
    static _Thread_local struct sr_normal form;
    static const uint64_t leaves = (uint64_t)1 << SR_CONSTANT | (uint64_t)1 << SR_FEATURE;
    static const uint64_t between = (uint64_t)1 << SR_ADD | (uint64_t)1 << SR_SUB |
                                    (uint64_t)1 << SR_MUL | (uint64_t)1 << SR_DIV;
    const int root = sr_normal_make(&form, language, expr);
    if (root < 0 || form.node[root].kind != SR_NORMAL_PRODUCT)
        return false;
    const struct writer w = {&form, operators | between, SR_NODES};
    const struct sr_normal_node product = form.node[root];
    struct sr_expr best = {0};
    for (int i = 0; i < product.count; i++) {
        struct sr_expr trial = {0};
        if (form.node[form.item[product.first + i].node].kind != SR_NORMAL_SUM ||
            !write_into_sum(&w, &product, i, operators, &trial) ||
            !sr_expr_measure(language, &trial))
            continue;
        sr_expr_rewrite(language, &trial, operators);
        keep_shorter(&best, &trial,
                     trial.count < expr->count &&
                         !(sr_expr_operators(&trial) & ~(operators | leaves)));
    }
    if (best.count)
        *expr = best;
    return best.count > 0;
}

/* ---- public functions */

uint64_t sr_expr_operators(const struct sr_expr *expr)
{
    uint64_t set = 0;
    for (int i = 0; i < expr->count; i++)
        set |= (uint64_t)1 << expr->node[i].op;
    return set;
}

bool sr_expr_rewrite(const struct sr_language *language, struct sr_expr *expr, uint64_t operators)
{
    static _Thread_local struct sr_normal form;
    struct sr_expr out;
    begin(&out);
    const int root = sr_normal_make(&form, language, expr);
    const struct writer w = {&form, operators, expr->count - 1};
    if (root < 0 || !write_node(&w, root, 1, &out) || !sr_expr_measure(language, &out) ||
        !sr_expr_finite(&out, 0))
        return false;
    sr_expr_copy(expr, &out);
    return true;
}

bool sr_expr_into_sum(const struct sr_language *language, struct sr_expr *expr, uint64_t operators)
{
    bool moved = false;
    sr_expr_rewrite(language, expr, operators);
    while (move_once(language, expr, operators))
        moved = true;
    return moved;
}

void sr_expr_simplify(const struct sr_language *language, struct sr_expr *expr)
{
    sr_expr_rewrite(language, expr, sr_expr_operators(expr));
}

uint64_t sr_expr_canonical_hash(const struct sr_language *language, const struct sr_expr *expr)
{
    static _Thread_local struct sr_normal form;
    const int root = sr_normal_make(&form, language, expr);
    return root < 0 ? sr_expr_hash(expr) : form.node[root].hash;
}
