/* shared_terms.c - what is cheaper where equations share terms. What leaves one state often arrives
 * in another one: b x y is taken from x and given to y, with the same constant. A term that stands
 * in another equation is a copy of it, whose form costs little, and numbers that agree within their
 * errors may be one number, which is coded once and known better. */
#include <math.h>

#include "judge.h"

enum { TERMS = 64, FACTORS = 12, NUMBERS = 6 };

/* A part of a formula, in an order that does not depend on how it is written: a hash without its
 * numbers, and these. */
struct part {
    uint64_t hash;
    int count, number[NUMBERS]; /* numbers of the equation, counted from 0 */
    bool under[NUMBERS];        /* divided by */
    bool coefficient;           /* of a product: the first number is its coefficient */
};
/* One of the terms of an equation. number[0] is its coefficient, where it has one. */
struct term {
    int equation, numbers, number[NUMBERS]; /* of the fit */
    bool coefficient, under[NUMBERS];
    uint64_t hash; /* 0: not to be shared */
    double form;   /* nats */
};
/* Standard errors that numbers may be apart. */
static const double widest = 3;
/* Nats of "a copy of" and of "with its coefficient". */
static const double half = 0.6931471805599453;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdU;
    return hash ^ hash >> 33;
}

static bool append(struct part *to, const struct part *from)
{
    if (to->count + from->count > NUMBERS)
        return false;
    for (int k = 0; k < from->count; k++) {
        to->number[to->count] = from->number[k];
        to->under[to->count++] = from->under[k];
    }
    return true;
}

/* Joins parts whose order does not matter. */
static bool join(struct part *part, int count, struct part *into)
{
    for (int k = 1; k < count; k++)
        for (int at = k; at > 0 && part[at].hash < part[at - 1].hash; at--) {
            const struct part swap = part[at];
            part[at] = part[at - 1];
            part[at - 1] = swap;
        }
    for (int k = 0; k < count; k++) {
        into->hash = mix(into->hash, part[k].hash);
        if (!append(into, &part[k]))
            return false;
    }
    return true;
}

static bool read_sum(const struct sr_expr *expr, int i, struct part *into);

/* A product's factors that are no numbers, and its coefficient. */
struct factors {
    int count;
    struct part item[FACTORS], own;
};

static bool read_factors(const struct sr_expr *expr, int i, bool under, struct factors *f)
{
    const struct sr_node *const node = &expr->node[i];
    const int times = node->op == SR_SQUARE ? 2 : node->op == SR_CUBE ? 3 : 1;
    if (node->op == SR_MUL || node->op == SR_DIV)
        return read_factors(expr, sr_expr_left(expr, i), under, f) &&
               read_factors(expr, i - 1, under != (node->op == SR_DIV), f);
    if (node->op == SR_NEG)
        return read_factors(expr, i - 1, under, f);
    if (node->op == SR_INV)
        return read_factors(expr, i - 1, !under, f);
    if (times > 1 && expr->node[i - 1].op == SR_FEATURE) {
        for (int k = 0; k < times; k++)
            if (!read_factors(expr, i - 1, under, f))
                return false;
        return true;
    }
    if (sr_is_number(node)) {
        struct part number = {.count = 1, .under = {under}};
        for (int k = 0; k < i; k++)
            number.number[0] += sr_is_number(&expr->node[k]);
        return append(&f->own, &number);
    }
    struct part part = {.hash = mix(under, (uint64_t)node->op)};
    const int arity = sr_expr_arity(expr, i);
    bool fits = f->count < FACTORS;
    if (node->op == SR_FEATURE)
        part.hash = mix(part.hash, node->feature);
    else if (node->op == SR_CONSTANT) {
        uint64_t bits;
        memcpy(&bits, &node->value, sizeof bits);
        part.hash = mix(part.hash, bits);
    } else if (node->op == SR_ADD || node->op == SR_SUB)
        fits = fits && read_sum(expr, i, &part);
    else {
        fits = fits && (arity < 2 || read_sum(expr, sr_expr_left(expr, i), &part));
        fits = fits && read_sum(expr, i - 1, &part);
    }
    if (fits)
        f->item[f->count++] = part;
    return fits;
}

/* Reads the product that ends at node i. */
static bool read_product(const struct sr_expr *expr, int i, struct part *into)
{
    struct factors f = {.count = 0};
    if (!read_factors(expr, i, false, &f) || f.own.count > 1)
        return false;
    into->coefficient = f.own.count > 0;
    into->hash = mix(into->hash, (uint64_t)f.own.count);
    return append(into, &f.own) && join(f.item, f.count, into);
}

/* Lists the terms of the sum that ends at node i. */
static int list_terms(const struct sr_expr *expr, int i, int *term, int count, int most)
{
    const enum sr_op op = (enum sr_op)expr->node[i].op;
    if ((op != SR_ADD && op != SR_SUB) || count >= most - 1) {
        term[count] = i;
        return count + 1;
    }
    count = list_terms(expr, sr_expr_left(expr, i), term, count, most);
    return count < most ? list_terms(expr, i - 1, term, count, most) : count;
}

/* Reads the sum that ends at node i. A difference is no sum, but x - y and y - x are one, as sines
 * and cosines of both agree up to their sign. */
static bool read_sum(const struct sr_expr *expr, int i, struct part *into)
{
    struct part part[FACTORS];
    int term[FACTORS];
    const int terms = list_terms(expr, i, term, 0, FACTORS);
    for (int k = 0; k < terms; k++) {
        const bool subtracted = k && expr->node[term[k] + 1].op == SR_SUB;
        part[k] = (struct part){.hash = 0};
        if (!read_product(expr, term[k], &part[k]))
            return false;
        if (subtracted)
            into->hash = mix(into->hash, SR_SUB);
    }
    return join(part, terms, into);
}

/* Lists the terms of all equations. */
static int list_all(const struct sr_states *s, const struct sr_judged *f, struct term *list)
{
    int count = 0;
    for (int d = 0; d < s->dims; d++) {
        int at[TERMS];
        const struct sr_expr *const expr = &f->expr[d];
        const int terms = list_terms(expr, expr->count - 1, at, 0, TERMS);
        for (int k = 0; k < terms && count < TERMS; k++) {
            struct term *const term = &list[count++];
            struct part part = {.hash = 1};
            *term = (struct term){.equation = d};
            if (!read_product(expr, at[k], &part))
                continue;
            term->hash = part.hash;
            term->numbers = part.count;
            term->form = sr_term_nats(expr, at[k], terms, s->names - !s->explicit_time);
            for (int n = 0; n < part.count; n++) {
                term->under[n] = part.under[n];
                term->number[n] = -1;
                for (int c = 0; c < f->constants; c++)
                    if (f->equation[c] == d && f->number[c] == part.number[n])
                        term->number[n] = c;
                if (term->number[n] < 0)
                    term->hash = 0;
            }
            term->coefficient = part.coefficient;
            if (expr->node[at[k]].size == 1) /* a constant */
                term->hash = 0;
        }
    }
    return count;
}

/* ---- numbers that are one */

struct numbers {
    struct sr_uncertainty u;
    double value[SR_NODES];
    bool gone[SR_NODES];
};

/* Makes number b be a, or its inverse or its opposite; returns how many standard errors that
 * moves them. */
static double make_one(struct numbers *n, int a, int b, bool inverse)
{
    double by[SR_NODES], variance;
    /* ln |a| -+ ln |b| */
    const double at_a = 1 / n->value[a], at_b = (inverse ? 1 : -1) / n->value[b];
    const double off = orr_log(fabs(n->value[a])) - (inverse ? -1 : 1) * orr_log(fabs(n->value[b]));
    for (int k = 0; k < n->u.constants; k++)
        by[k] = n->u.covariance[k][a] * at_a + n->u.covariance[k][b] * at_b;
    variance = by[a] * at_a + by[b] * at_b;
    if (!(variance > 0))
        return HUGE_VAL;
    for (int k = 0; k < n->u.constants; k++) {
        n->value[k] -= by[k] / variance * off;
        for (int j = 0; j < n->u.constants; j++)
            n->u.covariance[k][j] -= by[k] * (by[j] / variance);
    }
    n->gone[b] = true;
    return fabs(off) / sqrt(variance);
}

/* What equations share is found one term after the other. */
struct sharing {
    int count; /* terms of all equations */
    struct term term[TERMS];
    bool copied[TERMS];
    double rows, cost; /* cost: of the numbers now */
    struct numbers now, trial, best;
    struct sr_uncertainty left;
};

/* What the numbers that are left cost. */
static double cost_of(struct sharing *w, const struct numbers *n)
{
    double value[SR_NODES], simple[SR_NODES], nats;
    int of[SR_NODES], count = 0;
    for (int k = 0; k < n->u.constants; k++)
        if (!n->gone[k])
            of[count++] = k;
    w->left.constants = count;
    for (int a = 0; a < count; a++) {
        value[a] = n->value[of[a]];
        for (int b = 0; b < count; b++)
            w->left.covariance[a][b] = n->u.covariance[of[a]][of[b]];
    }
    sr_measured_evidence(value, &w->left, w->rows, &nats, simple);
    return isnan(nats) ? HUGE_VAL : nats;
}

/* Ties the numbers of term b to those of a: all, or those within. Returns the nats of the
 * likelihood that this loses; infinite where they are apart. */
static double tie(struct numbers *n, const struct term *a, const struct term *b, bool all,
                  double rows)
{
    double lost = 0;
    for (int k = all ? 0 : b->coefficient; k < b->numbers; k++) {
        const int i = a->number[k], j = b->number[k];
        if (n->gone[i] || n->gone[j] || n->value[i] == 0 || n->value[j] == 0 ||
            (k >= b->coefficient && n->value[i] * n->value[j] < 0))
            return HUGE_VAL;
        const double z = make_one(n, i, j, a->under[k] != b->under[k]);
        if (!(z <= widest))
            return HUGE_VAL;
        lost += 0.5 * rows * orr_log(1 + z * z / rows);
    }
    return lost;
}

/* What the form of term b costs less as a copy of a term of another equation, with its coefficient
 * or without. */
static double saved_by_form(const struct sharing *w, int b)
{
    int others = 0;
    for (int k = 0; k < w->count; k++)
        others += w->term[k].equation != w->term[b].equation;
    return fmax(w->term[b].form - half - orr_log(others), 0) - half;
}

static bool may_be_copy(const struct sharing *w, int a, int b)
{
    const struct term *const of = &w->term[a], *const is = &w->term[b];
    return is->hash && is->hash == of->hash && is->equation != of->equation && is->numbers > 0 &&
           is->numbers == of->numbers;
}

/* Makes the term a copy that saves most; returns the nats, 0 where none saves any. */
static double share_one(struct sharing *w)
{
    double most = 0, its_cost = 0;
    int which = -1;
    for (int b = 0; b < w->count; b++)
        for (int a = 0; a < b && !w->copied[b]; a++)
            for (int all = 0; all < 2 && may_be_copy(w, a, b); all++) {
                if (!all && w->term[b].numbers == w->term[b].coefficient)
                    continue;
                w->trial = w->now;
                const double lost = tie(&w->trial, &w->term[a], &w->term[b], all, w->rows);
                const double cost = lost < HUGE_VAL ? cost_of(w, &w->trial) + lost : HUGE_VAL;
                const double gain = w->cost - cost + saved_by_form(w, b);
                if (!(gain > most))
                    continue;
                most = gain;
                its_cost = cost - lost;
                which = b;
                w->best = w->trial;
            }
    if (which >= 0) {
        w->copied[which] = true;
        w->now = w->best;
        w->cost = its_cost;
    }
    return most;
}

int sr_shared_nats(const struct sr_states *s, const struct sr_judged *f,
                   const struct sr_uncertainty *u, double rows, double *saved)
{
    struct sharing *const w = orr_alloc(1, sizeof *w);
    double gain;
    *saved = 0;
    if (!w)
        return ORR_ENOMEM;
    w->rows = rows;
    w->now.u = *u;
    memcpy(w->now.value, f->value, sizeof w->now.value);
    w->count = list_all(s, f, w->term);
    bool any = false;
    for (int b = 0; b < w->count && !any; b++)
        for (int a = 0; a < b && !any; a++)
            any = may_be_copy(w, a, b);
    w->cost = any ? cost_of(w, &w->now) : HUGE_VAL;
    while (w->cost < HUGE_VAL && (gain = share_one(w)) > 0)
        *saved += gain;
    free(w);
    return 0;
}

/* Lists the products of a formula that may be shared. */
static int list_products(const struct sr_expr *expr, struct part *list)
{
    int at[FACTORS], count = 0;
    const int terms = list_terms(expr, expr->count - 1, at, 0, FACTORS);
    for (int k = 0; k < terms; k++) {
        list[count] = (struct part){.hash = 1};
        count += expr->node[at[k]].size > 1 && read_product(expr, at[k], &list[count]) &&
                 list[count].count > 0;
    }
    return count;
}

bool sr_shares_terms(const struct sr_expr *a, const struct sr_expr *b)
{
    static const double most = 0.3; /* ln of the ratio of two numbers that may be one */
    struct part of_a[FACTORS], of_b[FACTORS];
    double value_a[SR_NODES], value_b[SR_NODES];
    const int count_a = list_products(a, of_a), count_b = list_products(b, of_b);
    sr_expr_constants(a, value_a);
    sr_expr_constants(b, value_b);
    for (int i = 0; i < count_a; i++)
        for (int k = 0; k < count_b; k++) {
            const struct part *const p = &of_a[i], *const q = &of_b[k];
            bool near = p->hash == q->hash && p->count == q->count;
            for (int n = 0; n < p->count && near; n++) {
                const double x = fabs(value_a[p->number[n]]), y = fabs(value_b[q->number[n]]);
                near = fabs((p->under[n] ? -1 : 1) * orr_log(x) -
                            (q->under[n] ? -1 : 1) * orr_log(y)) < most;
            }
            if (near)
                return true;
        }
    return false;
}
