/* separate_constants.c - formulas whose terms share constants, with a constant of each term: a
 * search writes (2.4 z - x - y) / 1.3 where the noise hides that three constants differ. The
 * product of sums is multiplied out, equal terms are joined, and each term gets a coefficient of
 * its own, so that a fit to the tracks can tell. Coefficients that differ between categories become
 * constants of each: of c1 x (x - c2) only the terms show that c1 c2 is one number for all. */
#include "dynamics.h"

enum { TERMS = 12 }; /* of a formula, at most */

/* coefficient * tail, where the tail is what follows the coefficient in postfix order. */
struct term {
    double coefficient[SR_CATEGORIES]; /* in each category; without categories the first */
    struct sr_expr tail;
};
struct sum {
    const struct sr_language *language;
    const struct sr_each *each; /* constants of each category; NULL: none */
    int categories;             /* 1 without */
    int count;
    struct term term[TERMS];
};

/* Appends a term without coefficient, 1; NULL where there are too many. */
static struct term *add_term(struct sum *sum, const struct sr_expr *tail)
{
    if (sum->count == TERMS || tail->count > SR_NODES)
        return NULL;
    struct term *const term = &sum->term[sum->count++];
    for (int c = 0; c < sum->categories; c++)
        term->coefficient[c] = 1;
    sr_expr_copy(&term->tail, tail);
    return term;
}

/* A number, or a constant of each category, as a term. */
static bool add_number(const struct sr_node *node, bool divides, struct sum *sum)
{
    const struct sr_expr none = {.count = 0};
    struct term *const term = add_term(sum, &none);
    for (int c = 0; c < sum->categories && term; c++) {
        const double value =
            sr_is_each(node) ? sum->each->value[node->feature - SR_EACH_FIRST][c] : node->value;
        term->coefficient[c] = divides ? 1 / value : value;
    }
    return term;
}

static bool is_coefficient(const struct sr_node *node)
{
    return sr_is_number(node) || sr_is_each(node);
}

/* A term whose only factor, or divisor, is the subtree that ends at node i. */
static bool add_factor(const struct sr_expr *expr, int i, enum sr_op op, struct sum *sum)
{
    struct sr_expr tail = {.count = 0};
    for (int k = sr_expr_start(expr, i); k <= i; k++)
        sr_put_node(&tail, expr->node[k]);
    sr_put_op(&tail, op);
    return add_term(sum, &tail);
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
            struct term *const term = add_term(sum, &tail);
            if (!term)
                return false;
            for (int c = 0; c < sum->categories; c++)
                term->coefficient[c] = a->term[j].coefficient[c] * b->term[k].coefficient[c];
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
    for (int k = 0; k < 2; k++) {
        part[k].each = sum->each;
        part[k].categories = sum->categories;
    }
    bool ok = expand(expr, a, &part[0]);
    if (divides && is_coefficient(&expr->node[b]))
        ok = ok && add_number(&expr->node[b], true, &part[1]);
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
    if (is_coefficient(node))
        return add_number(node, false, sum);
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
            for (int c = 0; c < sum->categories; c++)
                sum->term[k].coefficient[c] = -sum->term[k].coefficient[c];
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

/* Whether the coefficient is 0 in all categories. */
static bool is_zero(const struct sum *sum, const struct term *term)
{
    bool zero = true;
    for (int c = 0; c < sum->categories; c++)
        zero = zero && !(fabs(term->coefficient[c]) > 0);
    return zero;
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
        for (int c = 0; c < sum->categories && at < kept; c++) {
            const double a = sum->term[at].coefficient[c], b = sum->term[k].coefficient[c];
            sum->term[at].coefficient[c] = fabs(a + b) > 1e-12 * (fabs(a) + fabs(b)) ? a + b : 0;
        }
        if (at == kept)
            sum->term[kept++] = sum->term[k];
    }
    sum->count = 0;
    for (int k = 0; k < kept; k++)
        if (!is_zero(sum, &sum->term[k]))
            sum->term[sum->count++] = sum->term[k];
}

/* Writes the coefficient: as a number where it is one for all categories, else as a constant of
 * each, `first` or one behind it that is not in `used` yet. False where there are too many. */
static bool put_coefficient(const struct sum *sum, const struct term *term, int first,
                            uint32_t *used, struct sr_each *each, struct sr_expr *out)
{
    const double *const value = term->coefficient;
    bool same = true;
    int k = first;
    for (int c = 1; c < sum->categories; c++)
        same = same && !(fabs(value[c] - value[0]) > 1e-12 * fabs(value[0]));
    if (same) {
        sr_put_constant(out, value[0]);
        return true;
    }
    while (k < first + SR_EACH_OWN && *used >> k & 1)
        k++;
    if (k == first + SR_EACH_OWN)
        return false;
    *used |= UINT32_C(1) << k;
    memcpy(each->value[k], value, (size_t)sum->categories * sizeof *value);
    sr_put_node(out, sr_feature_node(SR_EACH_FIRST + k));
    return true;
}

/* Writes the sum. False where it is too long. */
static bool put_sum(const struct sum *sum, int first, struct sr_each *each, struct sr_expr *out)
{
    uint32_t used = 0;
    bool ok = sum->count > 1;
    for (int k = 0; k < sum->count; k++)
        used |= sr_each_used(&sum->term[k].tail);
    for (int k = 0; k < sum->count && ok; k++) {
        ok = put_coefficient(sum, &sum->term[k], first, &used, each, out);
        sr_put_expr(out, &sum->term[k].tail);
        if (k)
            sr_put_op(out, SR_ADD);
        ok = ok && out->count <= SR_NODES;
    }
    return ok && sr_put_end(sum->language, out, SR_NODES);
}

static int count_each(const struct sr_expr *expr)
{
    int count = 0;
    for (uint32_t used = sr_each_used(expr); used; used &= used - 1)
        count++;
    return count;
}

bool sr_equation_loosen(const struct sr_language *language, int categories, int first,
                        struct sr_each *each, struct sr_expr *expr)
{
    struct sum *const sum = orr_alloc(1, sizeof *sum);
    struct sr_each *const found = orr_alloc(1, sizeof *found);
    struct sr_expr loose = {.count = 0};
    if (!sum || !found) {
        free(sum);
        free(found);
        orr_error_recover();
        return false;
    }
    const int before = count_each(expr);
    sum->language = language;
    sum->each = each;
    sum->categories = categories ? categories : 1;
    if (each)
        *found = *each;
    bool ok = expand(expr, expr->count - 1, sum);
    if (ok)
        join(sum);
    ok = ok && put_sum(sum, first, found, &loose);
    const int more = sr_expr_constants(&loose, NULL) + count_each(&loose) -
                     sr_expr_constants(expr, NULL) - before;
    /* with as many constants another form may have fewer that differ between categories */
    ok = ok && (more > 0 || (more == 0 && before &&
                             sr_expr_canonical_hash(language, &loose) !=
                                 sr_expr_canonical_hash(language, expr)));
    if (ok) {
        sr_expr_copy(expr, &loose);
        if (each)
            *each = *found;
    }
    free(found);
    free(sum);
    return ok;
}
