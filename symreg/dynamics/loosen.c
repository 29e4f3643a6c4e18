/* loosen.c - formulas whose terms share constants, with a constant of each term: a search writes
 * (2.4 z - x - y) / 1.3 where the noise hides that three constants differ. The product of sums is
 * multiplied out, equal terms are joined, and each term gets a coefficient of its own, so that a
 * fit to the tracks can tell. */
#include "dynamics.h"

enum { TERMS = 12 }; /* of a formula, at most */

/* coefficient * tail, where the tail is what follows the coefficient in postfix order. */
struct term {
    double coefficient;
    struct sr_expr tail;
};
struct sum {
    const struct sr_language *language;
    int count;
    struct term term[TERMS];
};

/* Appends a term; false where there are too many. */
static bool add_term(struct sum *sum, double coefficient, const struct sr_expr *tail)
{
    if (sum->count == TERMS || tail->count > SR_NODES)
        return false;
    sum->term[sum->count].coefficient = coefficient;
    sr_expr_copy(&sum->term[sum->count++].tail, tail);
    return true;
}

/* A term whose only factor, or divisor, is the subtree that ends at node i. */
static bool add_factor(const struct sr_expr *expr, int i, enum sr_op op, struct sum *sum)
{
    struct sr_expr tail = {.count = 0};
    for (int k = sr_expr_start(expr, i); k <= i; k++)
        sr_put_node(&tail, expr->node[k]);
    sr_put_op(&tail, op);
    return add_term(sum, 1, &tail);
}

/* All products of a term of a and one of b. */
static bool multiply(const struct sum *a, const struct sum *b, struct sum *sum)
{
    for (int j = 0; j < a->count; j++)
        for (int k = 0; k < b->count; k++) {
            struct sr_expr tail = {.count = 0};
            sr_put_expr(&tail, &a->term[j].tail);
            if (tail.count + b->term[k].tail.count > SR_NODES)
                return false;
            sr_put_expr(&tail, &b->term[k].tail);
            if (!add_term(sum, a->term[j].coefficient * b->term[k].coefficient, &tail))
                return false;
        }
    return true;
}

static bool expand(const struct sr_expr *expr, int i, struct sum *sum);

/* The product of the operands that end at nodes a and b. With `divides`, b is a divisor, which is
 * one factor unless it is a number. */
static bool expand_product(const struct sr_expr *expr, int a, int b, bool divides, struct sum *sum)
{
    struct sum *const part = orr_alloc(2, sizeof *part);
    if (!part) {
        orr_error_recover();
        return false;
    }
    const struct sr_expr none = {.count = 0};
    bool ok = expand(expr, a, &part[0]);
    if (divides && sr_is_number(&expr->node[b]))
        ok = ok && add_term(&part[1], 1 / expr->node[b].value, &none);
    else if (divides)
        ok = ok && add_factor(expr, b, SR_DIV, &part[1]);
    else
        ok = ok && expand(expr, b, &part[1]);
    ok = ok && multiply(&part[0], &part[1], sum);
    free(part);
    return ok;
}

/* Appends the terms of the subtree that ends at node i; false where there are too many. */
static bool expand(const struct sr_expr *expr, int i, struct sum *sum)
{
    const struct sr_node *const node = &expr->node[i];
    const int left = node->size > 1 ? sr_expr_left(expr, i) : i, from = sum->count;
    if (sr_is_number(node)) {
        const struct sr_expr none = {.count = 0};
        return add_term(sum, node->value, &none);
    }
    switch ((int)node->op) {
    case SR_MUL:
        return expand_product(expr, left, i - 1, false, sum);
    case SR_DIV:
        return expand_product(expr, left, i - 1, true, sum);
    case SR_SQUARE:
        return expand_product(expr, i - 1, i - 1, false, sum);
    case SR_INV:
        return add_factor(expr, i - 1, SR_DIV, sum);
    case SR_NEG:
    case SR_ADD:
    case SR_SUB: {
        bool ok = node->op == SR_NEG || expand(expr, left, sum);
        const int second = node->op == SR_NEG ? from : sum->count;
        ok = ok && expand(expr, i - 1, sum);
        for (int k = second; k < sum->count && node->op != SR_ADD; k++)
            sum->term[k].coefficient = -sum->term[k].coefficient;
        return ok;
    }
    default:
        return add_factor(expr, i, SR_MUL, sum);
    }
}

/* What a term is without its coefficient, as a hash that no order of factors changes. */
static uint64_t hash_of(const struct sum *sum, const struct term *term)
{
    struct sr_expr expr = {.count = 0};
    sr_put_constant(&expr, 1);
    sr_put_expr(&expr, &term->tail);
    return sr_put_end(sum->language, &expr, SR_NODES) ? sr_expr_canonical_hash(sum->language, &expr)
                                                      : 0;
}

/* Joins equal terms; those that cancel stay away. */
static void join(struct sum *sum)
{
    int kept = 0;
    for (int k = 0; k < sum->count; k++) {
        const uint64_t hash = hash_of(sum, &sum->term[k]);
        int at = 0;
        while (at < kept && hash_of(sum, &sum->term[at]) != hash)
            at++;
        if (at < kept) {
            const double a = sum->term[at].coefficient, b = sum->term[k].coefficient;
            sum->term[at].coefficient = fabs(a + b) > 1e-12 * (fabs(a) + fabs(b)) ? a + b : 0;
        } else
            sum->term[kept++] = sum->term[k];
    }
    sum->count = 0;
    for (int k = 0; k < kept; k++)
        if (fabs(sum->term[k].coefficient) > 0)
            sum->term[sum->count++] = sum->term[k];
}

bool sr_equation_loosen(const struct sr_language *language, struct sr_expr *expr)
{
    struct sum *const sum = orr_alloc(1, sizeof *sum);
    struct sr_expr loose = {.count = 0};
    if (!sum) {
        orr_error_recover();
        return false;
    }
    sum->language = language;
    bool ok = !sr_each_used(expr) && expand(expr, expr->count - 1, sum);
    if (ok)
        join(sum);
    for (int k = 0; k < sum->count && ok; k++) {
        sr_put_constant(&loose, sum->term[k].coefficient);
        sr_put_expr(&loose, &sum->term[k].tail);
        if (k)
            sr_put_op(&loose, SR_ADD);
        ok = loose.count <= SR_NODES;
    }
    ok = ok && sum->count > 1 && sr_put_end(language, &loose, SR_NODES) &&
         sr_expr_constants(&loose, NULL) > sr_expr_constants(expr, NULL);
    if (ok)
        sr_expr_copy(expr, &loose);
    free(sum);
    return ok;
}
