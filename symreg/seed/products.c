/* products.c - products of powers with a wanted dimension, and dimensionless groups.
 *
 * The exponents solve a linear system, a row per base unit. Elimination expresses some exponents by
 * the others, which are free; small values of the free ones are tried. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "products.h"
#include "shared.h"
#include "symreg/value/echelon.h"

enum { MOST_HALF = 8, MOST_FREE = 11 }; /* exponents up to 4 */
static const double tiny = 1e-9;

/* The system in echelon form: pivot[r] is the exponent that row r expresses. */
struct system {
    int n, rank, free;
    double row[SR_BASES][SR_SMOOTH_COLUMNS + 1]; /* the last column: the wanted dimension */
    int pivot[SR_BASES], other[SR_SMOOTH_COLUMNS];
};

/* False where the wanted dimension cannot be reached. */
static bool eliminate_rows(const struct sr_dimension *d, int n, unsigned set,
                           const struct sr_dimension *want, struct system *s)
{
    *s = (struct system){.n = n};
    for (int b = 0; b < SR_BASES; b++) {
        for (int f = 0; f < n; f++)
            s->row[b][f] = set >> f & 1 ? d[f].power[b] : 0;
        s->row[b][n] = want ? want->power[b] : 0;
    }
    s->rank = sr_echelon(s->row[0], SR_BASES, n, SR_SMOOTH_COLUMNS + 1, tiny, s->pivot);
    for (int r = 0; r < s->rank; r++)
        set &= ~(1U << s->pivot[r]);
    for (int f = 0; f < n; f++)
        if (set >> f & 1)
            s->other[s->free++] = f;
    for (int b = s->rank; b < SR_BASES; b++)
        if (fabs(s->row[b][n]) > tiny)
            return false;
    return true;
}

/* Computes the exponents that the free ones determine. False where they are no half-integers, or
 * too large. */
static bool complete_product(const struct system *s, int half[SR_SMOOTH_COLUMNS])
{
    for (int r = 0; r < s->rank; r++) {
        double sum = 2 * s->row[r][s->n];
        for (int k = 0; k < s->free; k++)
            sum -= s->row[r][s->other[k]] * half[s->other[k]];
        const double whole = nearbyint(sum);
        if (fabs(sum - whole) > 1e-6 || fabs(whole) > MOST_HALF)
            return false;
        half[s->pivot[r]] = (int)whole;
    }
    return true;
}

/* Whether a group has no factor, has roots, is a power of another one, or is a reciprocal. */
static bool is_repeated(const int *half, int n)
{
    int first = 0;
    for (int f = 0; f < n && !first; f++)
        first = half[f];
    return first <= 0 || sr_common_divisor(half, n) != 2;
}

static double cost_of(const int *half, int n)
{
    static const double per_factor = 0.3, per_root = 1;
    double cost = 0;
    for (int f = 0; f < n; f++)
        cost += 0.5 * abs(half[f]) + (half[f] ? per_factor : 0) + (half[f] % 2 ? per_root : 0);
    return cost;
}

int sr_products_find(const struct sr_dimension *d, int n, unsigned set,
                     const struct sr_dimension *want, struct sr_product list[SR_PRODUCTS])
{
    struct system s;
    int count = 0;
    if (!eliminate_rows(d, n, set, want, &s) || s.free > MOST_FREE)
        return 0;
    /* groups have whole exponents: a power of one with roots is as good */
    const int step = s.free <= 4 && want ? 1 : 2;
    const int most = s.free <= 3 ? 8 : s.free <= 6 ? 4 : 2, values = 2 * most / step + 1;
    long all = 1;
    for (int k = 0; k < s.free; k++)
        all *= values;
    for (long code = 0; code < all; code++) {
        struct sr_product p = {0};
        int *const half = p.powers.half;
        long rest = code;
        for (int k = 0; k < s.free; k++, rest /= values)
            half[s.other[k]] = (int)(rest % values) * step - most;
        if (!complete_product(&s, half) || (!want && is_repeated(half, n)))
            continue;
        p.cost = cost_of(half, n);
        sr_best_insert(list, sizeof p, &count, SR_PRODUCTS, &p);
    }
    return count;
}
