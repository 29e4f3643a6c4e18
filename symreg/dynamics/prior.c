/* prior.c - how many nats a formula costs before its constants are known: the code length of a
 * random formula of a grammar. An equation of motion is mostly a sum of products of names, each
 * with a coefficient. So a name in a product costs little, a function, a divisor or a sum in
 * parentheses more, a function of a function most, and the order of terms and of factors nothing.
 * The nodes of a tree alone (sr_expr_nats()) charge cos(y) less than b y^2 + a, and where noise
 * hides the difference, short wrong forms win. The probabilities are round numbers. */
#include <math.h>

#include "judge.h"

enum { TERMS = 32, KINDS = 3 /* of factors that are no names */ };

/* Nats of what has a probability of 0.5, 0.2, 0.8, 0.85, 0.15. */
static const double half = 0.6931471805599453, fifth = 1.6094379124341003,
                    four_fifths = 0.2231435513142097, often = 0.1625189294977749,
                    seldom = 1.8971199848858813;
/* One of the functions, and what a function within a function costs more. */
static const double functions = 2.302585092994046, nested = 2;

/* What is known where a formula is read. */
struct reader {
    const struct sr_expr *expr;
    double name; /* nats of one name among all that an equation may contain */
    int inside;  /* functions */
};
/* A product. */
struct product {
    int numbers, factors;   /* factors: but for numbers */
    int power[SR_FEATURES]; /* of names */
    double nats;            /* of the factors */
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
    p->nats += times * (often + r->name);
}

/* A factor that is no name: a sum in parentheses, a divisor, a function. */
static void add_special(double nats, struct product *p)
{
    p->factors++;
    p->nats += seldom + orr_log(KINDS) + nats;
}

static void add_function(const struct reader *r, int i, struct product *p)
{
    struct reader inner = *r;
    double nats = functions + (r->inside ? nested : 0);
    inner.inside++;
    nats += read_sum(&inner, i - 1);
    if (sr_expr_arity(r->expr, i) == 2)
        nats += read_sum(&inner, sr_expr_left(r->expr, i));
    add_special(nats, p);
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
            add_special(read_sum(r, i - 1), p);
    } else if (node->op == SR_INV)
        add_special(read_sum(r, i - 1), p);
    else if (power && r->expr->node[base].op == SR_FEATURE)
        add_name(r, r->expr->node[base].feature, power, p);
    else if (power) {
        add_special(read_sum(r, base), p);
        p->nats += (power - 1) * half; /* the same factor again */
    } else if (node->op == SR_ADD || node->op == SR_SUB)
        add_special(read_sum(r, i), p);
    else
        add_function(r, i, p);
}

/* One term, the factors of which have no order. */
static double nats_of_term(const struct reader *r, int i)
{
    struct product p = {.numbers = 0};
    read_product(r, i, &p);
    int names = 0;
    double orders = 0;
    for (int k = 0; k < SR_FEATURES; k++) {
        names += p.power[k];
        orders -= log_factorial(p.power[k]);
    }
    orders += log_factorial(names);
    const double coefficient = r->inside ? half : p.numbers ? four_fifths : fifth;
    const double superfluous = p.numbers > 1 ? (p.numbers - 1) * fifth : 0;
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

static double read_sum(const struct reader *r, int i)
{
    int term[TERMS];
    const int terms = list_terms(r, i, term, 0);
    double nats = terms * half - log_factorial(terms);
    for (int k = 0; k < terms; k++)
        nats += nats_of_term(r, term[k]);
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
