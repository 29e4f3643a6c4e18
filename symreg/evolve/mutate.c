/* mutate.c - random formulas, mutations and crossover. The mutations follow SymbolicRegression.jl
 * (github.com/MilesCranmer/SymbolicRegression.jl); their weights belong to the algorithm. */
#include "search.h"

#include <string.h>

static int draw_below(gsl_rng *rng, int n)
{
    return (int)(orr_rng_uniform(rng) * n);
}

static struct sr_node random_leaf(int features, gsl_rng *rng)
{
    return orr_rng_uniform(rng) < 0.5 ? sr_constant_node(orr_draw_normal(rng))
                                      : sr_feature_node(draw_below(rng, features));
}

/* Draws uniformly from all unary and binary operators. */
static enum sr_op random_op(const struct sr_settings *s, gsl_rng *rng)
{
    const int i = draw_below(rng, s->binary_count + s->unary_count);
    return i < s->binary_count ? s->binary[i] : s->unary[i - s->binary_count];
}

/* A random leaf becomes a random operator over new leaves. */
static bool append_operator(const struct sr_settings *s, int features, gsl_rng *rng,
                            struct sr_expr *expr, int limit)
{
    int leaf[SR_NODES], leaves = 0;
    for (int i = 0; i < expr->count; i++)
        if (expr->node[i].size == 1)
            leaf[leaves++] = i;
    const enum sr_op op = random_op(s, rng);
    const int arity = sr_op(s->language, (int)op)->arity;
    struct sr_node piece[3];
    for (int k = 0; k < arity; k++)
        piece[k] = random_leaf(features, rng);
    piece[arity] = sr_op_node((int)op);
    return sr_expr_splice(s->language, expr, leaf[draw_below(rng, leaves)], 1, piece, arity + 1,
                          limit);
}

bool sr_append(const struct sr_settings *settings, int features, gsl_rng *rng, struct sr_expr *expr)
{
    return append_operator(settings, features, rng, expr, settings->maxsize);
}

/* A new operator above the subtree that ends at i, which becomes one of its operands. */
static bool insert_above(const struct sr_settings *s, int features, gsl_rng *rng,
                         struct sr_expr *expr, int i)
{
    const enum sr_op op = random_op(s, rng);
    const bool binary = sr_op(s->language, (int)op)->arity == 2, first = orr_rng_uniform(rng) < 0.5;
    const int size = expr->node[i].size, start = sr_expr_start(expr, i);
    struct sr_node piece[SR_NODES + 2];
    int n = 0;
    if (size + 2 > SR_NODES)
        return false;
    if (binary && !first)
        piece[n++] = random_leaf(features, rng);
    memcpy(piece + n, expr->node + start, (size_t)size * sizeof *piece);
    n += size;
    if (binary && first)
        piece[n++] = random_leaf(features, rng);
    piece[n++] = sr_op_node((int)op);
    return sr_expr_splice(s->language, expr, start, size, piece, n, s->maxsize);
}

/* Deletes a random operator node; one of its operands replaces it. */
static bool delete_node(const struct sr_settings *s, gsl_rng *rng, struct sr_expr *expr)
{
    const int i = draw_below(rng, expr->count);
    const int arity = sr_expr_arity(expr, i);
    if (arity == 0)
        return false;
    int keep = i - 1;
    if (arity == 2 && orr_rng_uniform(rng) < 0.5)
        keep -= expr->node[keep].size;
    struct sr_node piece[SR_NODES];
    const int size = expr->node[keep].size;
    memcpy(piece, expr->node + sr_expr_start(expr, keep), (size_t)size * sizeof *piece);
    return sr_expr_splice(s->language, expr, sr_expr_start(expr, i), expr->node[i].size, piece,
                          size, s->maxsize);
}

/* A random node of the given arity, -1 when there is none. */
static int pick_node(gsl_rng *rng, const struct sr_expr *expr, int arity, int op)
{
    int found[SR_NODES], n = 0;
    for (int i = 0; i < expr->count; i++)
        if (sr_expr_arity(expr, i) == arity && (op < 0 || expr->node[i].op == op))
            found[n++] = i;
    return n ? found[draw_below(rng, n)] : -1;
}

static bool mutate_constant(const struct sr_algorithm *algorithm, gsl_rng *rng,
                            struct sr_expr *expr)
{
    const int i = pick_node(rng, expr, 0, SR_CONSTANT);
    if (i < 0)
        return false;
    const double factor = algorithm->constant_factor(rng);
    double *value = &expr->node[i].value;
    *value *= orr_rng_uniform(rng) < 0.5 ? factor : 1 / factor;
    if (orr_rng_uniform(rng) < 0.01)
        *value = -*value;
    return true;
}

static bool mutate_feature(int features, gsl_rng *rng, struct sr_expr *expr)
{
    const int i = pick_node(rng, expr, 0, SR_FEATURE);
    if (i < 0 || features < 2)
        return false;
    const int other = draw_below(rng, features - 1);
    expr->node[i].feature = (uint8_t)(other + (other >= expr->node[i].feature));
    return true;
}

static bool mutate_operator(const struct sr_settings *s, gsl_rng *rng, struct sr_expr *expr)
{
    const int i = draw_below(rng, expr->count);
    const int arity = sr_expr_arity(expr, i);
    const int count = arity == 2 ? s->binary_count : arity ? s->unary_count : 0;
    if (count == 0)
        return false; /* a leaf, a free outer factor without "*", or an operator of a guess */
    const int k = draw_below(rng, count);
    expr->node[i].op = (uint8_t)(arity == 2 ? s->binary[k] : s->unary[k]);
    return true;
}

static bool swap_operands(const struct sr_settings *s, gsl_rng *rng, struct sr_expr *expr)
{
    const int i = pick_node(rng, expr, 2, -1);
    if (i < 2)
        return false;
    const int right = expr->node[i - 1].size, left = expr->node[i].size - 1 - right;
    struct sr_node *start = expr->node + sr_expr_start(expr, i), copy[SR_NODES];
    memcpy(copy, start, (size_t)left * sizeof *copy);
    memmove(start, start + left, (size_t)right * sizeof *copy);
    memcpy(start + right, copy, (size_t)left * sizeof *copy);
    return sr_expr_measure(s->language, expr);
}

/* Rotation of a binary pair: ((a . b) : c) becomes (a . (b : c)), and back. */
static bool rotate_pair(const struct sr_settings *s, gsl_rng *rng, struct sr_expr *expr)
{
    const int i = pick_node(rng, expr, 2, -1);
    if (i < 2)
        return false;
    const int right = i - 1, left = right - expr->node[right].size;
    const struct sr_node root = expr->node[i];
    if (sr_expr_arity(expr, left) == 2 && orr_rng_uniform(rng) < 0.5) {
        /* a b . c :  ->  a b c : . */
        const struct sr_node pivot = expr->node[left];
        memmove(expr->node + left, expr->node + left + 1,
                (size_t)(right - left) * sizeof *expr->node);
        expr->node[right] = root;
        expr->node[i] = pivot;
    } else if (sr_expr_arity(expr, right) == 2) {
        /* a b c : .  ->  a b . c :  (c is what stands last below the right operand) */
        const struct sr_node pivot = expr->node[right];
        const int c = right - 1, size = expr->node[c].size, first = c - size + 1;
        memmove(expr->node + first + 1, expr->node + first, (size_t)size * sizeof *expr->node);
        expr->node[first] = root;
        expr->node[i] = pivot;
    } else {
        return false;
    }
    return sr_expr_measure(s->language, expr);
}

void sr_random_expr(const struct sr_settings *settings, int features, gsl_rng *rng, int size,
                    struct sr_expr *expr)
{
    expr->count = 1;
    expr->node[0] = random_leaf(features, rng);
    sr_expr_measure(settings->language, expr);
    const int limit = size < settings->maxsize ? size : settings->maxsize;
    for (int attempt = 0; expr->count < limit && attempt < 3 * SR_NODES; attempt++)
        append_operator(settings, features, rng, expr, limit);
}

static enum sr_mutation choose_mutation(const struct sr_algorithm *algorithm, gsl_rng *rng,
                                        const struct sr_expr *expr)
{
    double weight[SR_MUTATIONS], total = 0;
    const int n = sr_expr_constants(expr, NULL);
    memcpy(weight, algorithm->weight, sizeof weight);
    weight[SR_MOVE_CONSTANT] = weight[SR_MOVE_CONSTANT] * (n < 8 ? n : 8) / 8;
    for (int i = 0; i < SR_MUTATIONS; i++)
        total += weight[i];
    double u = orr_rng_uniform(rng) * total;
    int chosen = 0;
    while (chosen < SR_MUTATIONS - 1 && u >= weight[chosen])
        u -= weight[chosen++];
    return (enum sr_mutation)chosen;
}

bool sr_mutate_whole(const struct sr_settings *settings, int features, gsl_rng *rng,
                     struct sr_expr *expr)
{
    const struct sr_algorithm *algorithm = settings->algorithm;
    switch (choose_mutation(algorithm, rng, expr)) {
    case SR_ROTATE:
        return rotate_pair(settings, rng, expr);
    case SR_ADD_LEAF:
        return append_operator(settings, features, rng, expr, settings->maxsize);
    case SR_ADD_ROOT:
        return insert_above(settings, features, rng, expr, expr->count - 1);
    case SR_DELETE:
        return delete_node(settings, rng, expr);
    case SR_OPERATOR:
        return mutate_operator(settings, rng, expr);
    case SR_SWAP:
        return swap_operands(settings, rng, expr);
    case SR_MOVE_FEATURE:
        return mutate_feature(features, rng, expr);
    case SR_MOVE_CONSTANT:
        return mutate_constant(algorithm, rng, expr);
    case SR_INSERT:
        return insert_above(settings, features, rng, expr, draw_below(rng, expr->count));
    case SR_NOTHING:
        return true;
    case SR_SIMPLIFY:
        sr_expr_simplify(settings->language, expr);
        return true;
    default:
        sr_random_expr(settings, features, rng, 1 + draw_below(rng, settings->maxsize), expr);
        return true;
    }
}

bool sr_cross_whole(const struct sr_settings *settings, gsl_rng *rng, struct sr_expr *a,
                    struct sr_expr *b)
{
    const int maxsize = settings->maxsize;
    const int i = draw_below(rng, a->count), k = draw_below(rng, b->count);
    const int a_start = sr_expr_start(a, i), a_size = a->node[i].size;
    const int b_start = sr_expr_start(b, k), b_size = b->node[k].size;
    if (a->count - a_size + b_size > maxsize || b->count - b_size + a_size > maxsize)
        return false;
    struct sr_node from_a[SR_NODES], from_b[SR_NODES];
    memcpy(from_a, a->node + a_start, (size_t)a_size * sizeof *from_a);
    memcpy(from_b, b->node + b_start, (size_t)b_size * sizeof *from_b);
    return sr_expr_splice(settings->language, a, a_start, a_size, from_b, b_size, maxsize) &&
           sr_expr_splice(settings->language, b, b_start, b_size, from_a, a_size, maxsize);
}
