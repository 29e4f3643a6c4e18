/* formula_prior.c - how many nats a formula costs before its constants are known: the code length
 * of a random formula of a grammar. An equation of motion is mostly a sum of products of names,
 * each with a coefficient. So a name in a product costs little, and what rate laws and couplings
 * are made of not much more: exp(-k x), x / (K + x), sin(x - y). Other functions, divisors and sums
 * in parentheses cost more, a function of a function most, and the order of terms and of factors
 * nothing. The nodes of a tree alone (sr_expr_nats()) charge cos(y) less than b y^2 + a, and where
 * noise hides the difference, short wrong forms win. The probabilities are round numbers. */
#include <math.h>

#include "judge.h"

enum { TERMS = 32 };

/* Nats of what has such a probability. */
#define NATS(probability) (-orr_log(probability))
static const double half = 0.6931471805599453;
/* A term without a number, which units make seldom; x' = v is no such term. */
static const double is_bare = 0.2;
/* Factors: a name, or something else, which is a function, a divisor or a sum in parentheses. */
static const double is_name = 0.8, is_special = 0.2;
static const double is_function = 0.5, is_divisor = 0.35, is_parentheses = 0.15;
/* What a function within a function costs more. */
static const double nested = 2;

/* What a divisor or the argument of a function is. */
enum shape { ANY, NAME, SCALED, PAIR, OFFSET, SHAPES };
/* Probabilities of shapes: ANY, c + x * y ..; NAME, x; SCALED, c * x; PAIR, x - y or x + y, without
 * numbers; OFFSET, c + x, c + x^2. An angle has its unit, what is in an exponential does not. */
static const double of_angle[SHAPES] = {0.25, 0.4, 0.15, 0.2, 0},
                    of_argument[SHAPES] = {0.25, 0.35, 0.4, 0, 0},
                    of_divisor[SHAPES] = {0.35, 0.3, 0, 0, 0.35};

/* What is known where a formula is read. */
struct reader {
    const struct sr_expr *expr;
    double name; /* nats of one name among all that an equation may contain */
    int inside;  /* functions */
};
/* A product. */
struct product {
    int numbers, factors, specials; /* factors: but for numbers; specials: that are no names */
    int power[SR_FEATURES];         /* of names */
    int saturates[SR_FEATURES];     /* names in divisors c + x, c + x^2 */
    double nats;                    /* of the factors */
};

static double read_sum(const struct reader *r, int i);

/* A number, also one that a fit holds, or that has a value in each category. */
static bool is_constant(const struct sr_node *node)
{
    return node->op == SR_CONSTANT || sr_is_each(node);
}

/* ln n! */
static double log_factorial(int n)
{
    double sum = 0;
    for (int k = 2; k <= n; k++)
        sum += orr_log(k);
    return sum;
}

static void add_name(const struct reader *r, int feature, int times, struct product *p)
{
    p->factors += times;
    p->power[feature] += times;
    p->nats += times * (NATS(is_name) + r->name);
}

/* A factor that is no name, of a kind with such a probability. */
static void add_special(double kind, double nats, struct product *p)
{
    p->factors++;
    p->specials++;
    p->nats += NATS(is_special) + NATS(kind) + nats;
}

/* How often a function stands in equations. */
static double share_of(int op)
{
    switch (op) {
    case SR_EXP:
        return 0.25;
    case SR_SIN:
        return 0.2;
    case SR_COS:
    case SR_SQRT:
    case SR_LOG:
        return 0.1;
    default:
        return 0.05;
    }
}

static enum shape shape_of(const struct reader *r, int i, struct product term[2]);

/* The nats of an argument, without those of the function. */
static double read_argument(const struct reader *r, int i, const double *probability)
{
    struct product term[2];
    const enum shape shape = shape_of(r, i, term);
    if (shape == ANY || !(probability[shape] > 0))
        return NATS(probability[ANY]) + read_sum(r, i);
    return NATS(probability[shape]) + (shape == PAIR ? 2 : 1) * r->name;
}

static void add_function(const struct reader *r, int i, struct product *p)
{
    const int op = r->expr->node[i].op;
    const bool angle = op == SR_SIN || op == SR_COS || op == SR_TAN;
    struct reader inner = *r;
    double nats = NATS(share_of(op)) + (r->inside ? nested : 0);
    inner.inside++;
    nats += read_argument(&inner, i - 1, angle ? of_angle : of_argument);
    if (sr_expr_arity(r->expr, i) == 2)
        nats += read_argument(&inner, sr_expr_left(r->expr, i), of_argument);
    add_special(is_function, nats, p);
}

static void add_divisor(const struct reader *r, int i, struct product *p)
{
    struct product term[2];
    const enum shape shape = shape_of(r, i, term);
    const double *const probability = of_divisor;
    double nats = NATS(probability[ANY]);
    if (shape == OFFSET) {
        const struct product *const power = &term[term[0].factors == 0];
        nats = NATS(probability[OFFSET]) + (power->factors - 1) * half;
        for (int k = 0; k < SR_FEATURES; k++)
            p->saturates[k] += power->power[k] > 0;
    } else if (shape == NAME)
        nats = NATS(probability[NAME]) + r->name;
    else
        nats += read_sum(r, i);
    add_special(is_divisor, nats, p);
}

/* The whole power that a node raises its operand to; 0: it is none. *base: the operand. */
static int power_of(const struct sr_expr *expr, int i, int *base)
{
    const struct sr_node *const node = &expr->node[i];
    *base = i - 1;
    if (node->op == SR_SQUARE)
        return 2;
    if (node->op == SR_CUBE)
        return 3;
    if (node->op != SR_POW || !is_constant(&expr->node[i - 1]))
        return 0;
    const double power = expr->node[i - 1].value;
    *base = sr_expr_left(expr, i);
    return sr_is_whole(power) && power >= 2 && power <= 6 ? (int)power : 0;
}

/* Reads the factors of the subtree that ends at node i. */
static void read_product(const struct reader *r, int i, struct product *p)
{
    const struct sr_node *const node = &r->expr->node[i];
    int base = i - 1;
    const int power = node->size > 1 ? power_of(r->expr, i, &base) : 0;
    if (is_constant(node))
        p->numbers++;
    else if (node->op == SR_FEATURE)
        add_name(r, node->feature, 1, p);
    else if (node->op == SR_NEG)
        read_product(r, i - 1, p);
    else if (node->op == SR_MUL) {
        read_product(r, sr_expr_left(r->expr, i), p);
        read_product(r, i - 1, p);
    } else if (node->op == SR_DIV) {
        read_product(r, sr_expr_left(r->expr, i), p);
        if (is_constant(&r->expr->node[i - 1]))
            p->numbers++;
        else
            add_divisor(r, i - 1, p);
    } else if (node->op == SR_INV)
        add_divisor(r, i - 1, p);
    else if (power && r->expr->node[base].op == SR_FEATURE)
        add_name(r, r->expr->node[base].feature, power, p);
    else if (power) {
        add_special(is_parentheses, read_sum(r, base), p);
        p->nats += (power - 1) * half; /* the same factor again */
    } else if (node->op == SR_ADD || node->op == SR_SUB)
        add_special(is_parentheses, read_sum(r, i), p);
    else
        add_function(r, i, p);
}

/* One of so many terms, the factors of which have no order. */
static double nats_of_term(const struct reader *r, int i, int terms)
{
    struct product p = {.numbers = 0};
    read_product(r, i, &p);
    int names = 0;
    double orders = 0;
    for (int k = 0; k < SR_FEATURES; k++) {
        names += p.power[k];
        orders -= log_factorial(p.power[k]);
        /* x / (c + x): mostly the same name above and below */
        p.nats += p.saturates[k] * half + (p.power[k] ? 0 : p.saturates[k] * r->name);
    }
    orders += log_factorial(names);
    const bool is_velocity = terms == 1 && p.factors == 1 && !p.specials;
    const double bare = r->inside || is_velocity ? 0.5 : is_bare;
    const double coefficient = NATS(p.numbers ? 1 - bare : bare);
    const double superfluous = p.numbers > 1 ? (p.numbers - 1) * NATS(0.2) : 0;
    return coefficient + superfluous + (p.factors + 1) * half + p.nats - orders;
}

/* Lists the terms of the sum that ends at node i. */
static int list_terms(const struct reader *r, int i, int *term, int count)
{
    const enum sr_op op = (enum sr_op)r->expr->node[i].op;
    if ((op != SR_ADD && op != SR_SUB) || count >= TERMS - 1) {
        term[count] = i;
        return count + 1;
    }
    count = list_terms(r, sr_expr_left(r->expr, i), term, count);
    return count < TERMS ? list_terms(r, i - 1, term, count) : count;
}

/* Whether the subtree that ends at node i has neither functions nor divisors. */
static bool is_polynomial(const struct sr_expr *expr, int i)
{
    int base;
    for (int k = sr_expr_start(expr, i); k <= i; k++) {
        const struct sr_node *const node = &expr->node[k];
        const bool plain = node->size == 1 || node->op == SR_ADD || node->op == SR_SUB ||
                           node->op == SR_MUL || node->op == SR_NEG ||
                           (node->op == SR_DIV && is_constant(&node[-1])) ||
                           power_of(expr, k, &base);
        if (!plain)
            return false;
    }
    return true;
}

static enum shape shape_of(const struct reader *r, int i, struct product p[2])
{
    int term[TERMS], names = 0;
    /* nothing is read twice that may contain shapes: deep formulas would take for ever */
    if (!is_polynomial(r->expr, i))
        return ANY;
    const int terms = list_terms(r, i, term, 0);
    memset(p, 0, 2 * sizeof *p);
    for (int k = 0; k < terms && k < 2; k++)
        read_product(r, term[k], &p[k]);
    if (terms > 2 || p[0].specials || p[1].specials)
        return ANY;
    if (terms == 1 && p[0].factors == 1)
        return p[0].numbers ? SCALED : NAME;
    if (terms == 2 && p[0].factors == 1 && p[1].factors == 1 && !p[0].numbers && !p[1].numbers)
        return PAIR;
    const int of = p[0].factors == 0;
    for (int k = 0; k < SR_FEATURES; k++)
        names += p[of].power[k] > 0;
    return terms == 2 && !p[1 - of].factors && !p[of].numbers && names == 1 ? OFFSET : ANY;
}

static double read_sum(const struct reader *r, int i)
{
    int term[TERMS];
    const int terms = list_terms(r, i, term, 0);
    double nats = terms * half - log_factorial(terms);
    for (int k = 0; k < terms; k++)
        nats += nats_of_term(r, term[k], terms);
    return nats;
}

double sr_equation_nats(const struct sr_expr *expr, int names)
{
#ifdef SR_NO_PRIOR /* the nodes of the tree alone, to measure what this is worth */
    (void)names;
    return sr_expr_nats(expr, 0);
#else
    const struct reader r = {.expr = expr, .name = orr_log(names > 1 ? names : 1)};
    return read_sum(&r, expr->count - 1);
#endif
}
