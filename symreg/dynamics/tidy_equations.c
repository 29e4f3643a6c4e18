/* tidy_equations.c - equations as people write them. A search divides by a number as often as it
 * multiplies by one, so that a result may be x / (-0.5). Such a divisor becomes a factor in front,
 * -2 * x, where that has at most one digit more, as does a measured one below 1; else its sign
 * goes to the front, as in -x / 4.54. A whole number stays a divisor, as in y / 10, and a fraction
 * without an end of decimals is written as one: 8 / 3 * z. A factor 1 that tracks with noise
 * measured stays, as a term without a number says that it has none. Every text and program of an
 * equation is written from what comes out here. */
#include "dynamics.h"

#include <math.h>

#include "symreg/fit/fit.h"

/* What is known of a number: its standard error and the bounds of its interval; NAN. */
struct known {
    double error, low, high;
};
static const struct known nothing = {NAN, NAN, NAN};
/* An equation that is written anew, and what is known of its numbers, in their order. */
struct writer {
    const struct sr_expr *in;
    const struct known *of;
    struct sr_expr *out;
    struct known *known; /* (SR_NODES) */
    int numbers;
};

static const struct known *known_of(const struct writer *w, int node)
{
    int number = 0;
    for (int i = 0; i < node; i++)
        number += sr_is_number(&w->in->node[i]);
    return &w->of[number];
}

static void put_number(struct writer *w, double value, struct known known)
{
    if (w->numbers < SR_NODES)
        w->known[w->numbers++] = known;
    sr_put_constant(w->out, value);
}

/* Without the rounding error of joining numbers. */
static double tidy(double value)
{
    return sr_fewest_digits(value, 0x1p-52, 16);
}

static int digits_of(double value)
{
    char text[SR_NUMBER];
    return sr_number_print(value, text);
}

/* The number that stands in front of the product that ends at a node; -1: there is none. */
static int leading_number(const struct sr_expr *expr, int node)
{
    while (expr->node[node].op == SR_MUL || expr->node[node].op == SR_DIV)
        node = sr_expr_left(expr, node);
    return sr_is_number(&expr->node[node]) ? node : -1;
}

/* What a divisor makes of the number in front of it; NAN where it is to stay a divisor. A measured
 * divisor (of an error) below 1 becomes a factor of so many digits that rounding loses nothing. */
static double joined(double divisor, double error, double number)
{
    const double value = tidy(number / divisor);
    const int under = digits_of(divisor), above = digits_of(number);
    const int most = 1 + (under > above ? under : above);
    const bool whole = sr_is_whole(divisor) && fabs(divisor) > 1;
    if (whole || !isfinite(value))
        return NAN;
    if (error > 0 && fabs(divisor) < 1)
        return sr_round_digits(value, most);
    return digits_of(value) <= most ? value : NAN;
}

static struct known scaled(const struct known *k, double by)
{
    const double low = k->low * by, high = k->high * by;
    return (struct known){k->error * fabs(by), by > 0 ? low : high, by > 0 ? high : low};
}

/* Of one over the number. */
static struct known inverse(const struct known *k, double number)
{
    const bool one_sign = k->low * k->high > 0;
    return (struct known){k->error / (number * number), one_sign ? 1 / k->high : NAN,
                          one_sign ? 1 / k->low : NAN};
}

/* A number, or the fraction that it is. */
static void write_number(struct writer *w, double value, struct known known)
{
    enum { LONG = 12 };
    for (int under = 2; under <= LONG && !(known.error > 0) && digits_of(value) > LONG; under++)
        if (sr_is_whole(tidy(value * under)) && !(tidy(value * under) / under < value) &&
            !(tidy(value * under) / under > value)) {
            put_number(w, tidy(value * under), nothing);
            put_number(w, under, nothing);
            sr_put_op(w->out, SR_DIV);
            return;
        }
    put_number(w, value, known);
}

static void write_product(struct writer *w, int i, double times);

/* The quotient that ends at node i, by a number. */
static void write_quotient(struct writer *w, int i, double times)
{
    const int left = sr_expr_left(w->in, i), front = leading_number(w->in, left);
    const double divisor = w->in->node[i - 1].value;
    const struct known *const own = known_of(w, i - 1);
    const double factor =
        joined(divisor, own->error, front < 0 ? 1 : w->in->node[front].value * times);
    const bool minus = divisor < 0;
    if (isfinite(factor) && front < 0) { /* x / -0.5 is -2 * x */
        put_number(w, factor, inverse(own, divisor));
        write_product(w, left, 1);
        sr_put_op(w->out, SR_MUL);
        return;
    }
    if (isfinite(factor) && !(own->error > 0)) { /* 0.3 * x / -0.5 is -0.6 * x */
        write_product(w, left, times / divisor);
        return;
    }
    if (minus && front < 0)
        put_number(w, -1, nothing);
    write_product(w, left, minus && front >= 0 ? -times : times);
    put_number(w, fabs(divisor), minus ? scaled(own, -1) : *own);
    sr_put_op(w->out, SR_DIV);
    if (minus && front < 0)
        sr_put_op(w->out, SR_MUL);
}

/* Writes `times` the part that ends at node i; if `times` is not 1, a number stands in front. */
static void write_product(struct writer *w, int i, double times)
{
    const struct sr_node *const node = &w->in->node[i];
    const int arity = sr_expr_arity(w->in, i);
    if (sr_is_number(node)) {
        write_number(w, times < 1 || times > 1 ? tidy(node->value * times) : node->value,
                     scaled(known_of(w, i), times));
    } else if (node->op == SR_DIV && sr_is_number(node - 1)) {
        write_quotient(w, i, times);
    } else {
        if (arity == 2)
            write_product(w, sr_expr_left(w->in, i), times);
        if (arity > 0)
            write_product(w, i - 1, 1);
        sr_put_node(w->out, *node);
    }
}

/* Takes away factors 1, and makes signs of factors -1, of which nothing is known. */
static void drop_ones(const struct sr_language *language, struct sr_expr *expr, struct known *known)
{
    double before[SR_NODES], after[SR_NODES];
    const int numbers = sr_expr_constants(expr, before);
    if (!sr_drop_ones(language, true, expr))
        return;
    const int left = sr_expr_constants(expr, after);
    for (int k = 0, from = 0; k < left && from < numbers; k++, from++) {
        while (from < numbers - 1 && (before[from] < after[k] || before[from] > after[k]))
            from++;
        known[k] = known[from];
    }
}

/* Holds factors 1 and -1, so that nothing takes them away. known: of all numbers; those that are
 * held move to *ones. */
static void hold_ones(struct sr_expr *expr, struct known known[SR_NODES],
                      struct known ones[SR_NODES])
{
    int number = 0, left = 0, held = 0;
    for (int i = 0; i < expr->count; i++) {
        struct sr_node *const node = &expr->node[i];
        if (!sr_is_number(node))
            continue;
        const bool holds = node->value == 1 || node->value == -1;
        *(holds ? &ones[held++] : &known[left++]) = known[number++];
        node->feature = holds ? SR_FIXED : 0;
    }
}

static void release_ones(struct sr_expr *expr, struct known known[SR_NODES],
                         const struct known ones[SR_NODES])
{
    struct known all[SR_NODES];
    int number = 0, left = 0, held = 0;
    for (int i = 0; i < expr->count; i++) {
        struct sr_node *const node = &expr->node[i];
        const bool holds = node->op == SR_CONSTANT && node->feature == SR_FIXED;
        node->feature = holds ? 0 : node->feature;
        if (sr_is_number(node))
            all[number++] = holds ? ones[held++] : known[left++];
    }
    memcpy(known, all, (size_t)number * sizeof *all);
}

void sr_system_tidy(const struct sr_states *s, const struct sr_language *language,
                    struct sr_system *system)
{
    for (int d = 0; d < s->dims; d++) {
        struct known of[SR_NODES], known[SR_NODES] = {{0}}, ones[SR_NODES] = {{0}};
        struct sr_expr in = system->expr[d], out = {.count = 0};
        struct writer w = {.in = &in, .of = of, .out = &out, .known = known};
        for (int k = 0; k < SR_NODES; k++)
            of[k] = (struct known){system->error[d][k], system->low[d][k], system->high[d][k]};
        const bool measured = s->count && !sr_state_is_exact(s, d);
        if (measured)
            hold_ones(&in, of, ones);
        write_product(&w, in.count - 1, 1);
        if (!sr_put_end(language, &out, SR_NODES))
            continue;
        drop_ones(language, &out, known);
        if (measured)
            release_ones(&out, known, ones);
        system->expr[d] = out;
        for (int k = 0; k < SR_NODES; k++) {
            system->error[d][k] = known[k].error;
            system->low[d][k] = known[k].low;
            system->high[d][k] = known[k].high;
        }
    }
}
