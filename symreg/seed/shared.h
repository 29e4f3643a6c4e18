/* shared.h - inside symreg/: what all stages of a proposal use: vectors over a few rows, lists of
 * the best. */
#ifndef SR_SHARED_H
#define SR_SHARED_H

#include "seed.h"

/* ---- vectors over n rows, n a multiple of 8 */

/* The dot product, summed in 8 fixed lanes. */
static inline double sr_dot(const double *a, const double *b, int n)
{
    double lane[8] = {0};
    for (int i = 0; i < n; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += a[i + l] * b[i + l];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* centred = value - *mean. False where the values are not finite, or where their variance is no
 * more than `least` times their mean square: then the vector is a constant up to rounding. */
bool sr_centre(const double *value, int n, double least, double *centred, double *mean);
/* Divides a vector by its length, which is returned; the squares are summed in order. */
double sr_scale_to_one(double *v, int n);
/* Mean 0 and length 1, so that dot products of two units are correlations. */
bool sr_unit(const double *value, int n, double least, double *unit);

/* The numbers of n values in ascending order of these, equal ones as they stand; the caller frees
 * the list. NULL without memory. */
size_t *sr_order(const double *value, size_t n);

/* ---- lists of the best */

/* Inserts *item into a list whose elements of `bytes` begin with their score (a double), smallest
 * first, and which holds at most `most`; an element of equal score stays before it. False when the
 * list is full of better ones. */
bool sr_best_insert(void *list, size_t bytes, int *count, int most, const void *item);

/* Writes to `chosen` the places of the formulas of `size` nodes whose losses are smallest, best
 * first, at most `most` (up to SR_CHOSEN), and returns how many there are. Formulas of infinite
 * loss are left out; with `once`, those whose loss equals that of a chosen one, too, as they are
 * the same function. */
enum { SR_CHOSEN = 128 };
int sr_best_of_size(const struct sr_expr *expr, const double *loss, int count, int size, int most,
                    bool once, int *chosen);

#endif
