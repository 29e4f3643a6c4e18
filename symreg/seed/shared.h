/* shared.h - inside symreg/: what the stages of a proposal share. */
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

/* Whether a logarithm of a column has a value in every row; any n. */
static inline bool sr_all_positive(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] > 0))
            return false;
    return true;
}

/* The largest minus the smallest value; negative where one is outside of low .. high. */
double sr_range_within(const double *value, size_t n, double low, double high);
/* centred = value - *mean. False where the values are not finite, or where their variance is at
 * most `least` times their mean square: the vector is then constant up to rounding. */
bool sr_centre(const double *value, int n, double least, double *centred, double *mean);
/* Divides a vector by its length and returns the length. The squares are summed in order. */
double sr_scale_to_one(double *v, int n);
/* Scales to mean 0 and length 1, so that dot products of two units are correlations. */
bool sr_unit(const double *value, int n, double least, double *unit);

/* Removes from v (n) its part along a unit vector, and returns this part. */
static inline double sr_remove(double *v, const double *unit, int n)
{
    const double share = sr_dot(unit, v, n);
    for (int i = 0; i < n; i++)
        v[i] -= share * unit[i];
    return share;
}

/* Gram-Schmidt: removes from v (n) its parts along `count` orthonormal vectors, `stride` apart, and
 * divides the rest by its length. upper (count + 1) takes the parts and the length; NULL: not
 * needed. False, where at most the share `least` of the squares is left. */
bool sr_orthogonalise(double *v, const double *basis, int count, int stride, int n, double least,
                      double *upper);

/* The greatest common divisor; 0 where all numbers are 0. */
int sr_common_divisor(const int *number, int n);

/* Lists the rows of positive weight; returns how many. */
static inline size_t sr_rows_usable(const struct sr_data *data, size_t *row)
{
    size_t usable = 0;
    for (size_t i = 0; i < data->rows; i++)
        if (sr_row_weight(data, i) > 0)
            row[usable++] = i;
    return usable;
}

/* Keeps at most `most` of a list of rows, evenly; returns how many. */
static inline size_t sr_rows_spread(size_t *row, size_t count, size_t most)
{
    const size_t kept = count < most ? count : most;
    for (size_t i = 0; i < kept; i++)
        row[i] = row[i * count / kept];
    return kept;
}

/* Indices that sort n values, stable for equal ones; the caller frees them. NULL: no memory. */
size_t *sr_order(const double *value, size_t n);

/* ---- lists of the best */

/* Inserts *item into a list of at most `most` elements of `bytes` bytes, which begin with their
 * scores (doubles), smallest first, behind elements of equal score. False when the list is full of
 * better elements. */
bool sr_best_insert(void *list, size_t bytes, int *count, int most, const void *item);

/* Inserts a number into a list of at most `most`, sorted by their scores as above. */
void sr_best_number(const double *score, int number, int *count, int most, int *list);

/* Lists the formulas of `size` nodes with the smallest losses, best first, at most `most` (up to
 * SR_CHOSEN); returns how many. Formulas of infinite loss are skipped, and those whose loss equals
 * a chosen one's, as they are the same function. */
enum { SR_CHOSEN = 128 };
int sr_best_of_size(const struct sr_expr *expr, const double *loss, int count, int size, int most,
                    int *chosen);

/* ---- formulas */

/* Appends a formula with column[f] in place of feature f; false where more than `most` nodes would
 * stand in `out`. */
bool sr_put_over(const struct sr_expr *column, const struct sr_expr *phi, int most,
                 struct sr_expr *out);
/* Appends a number and an operator: the formula times, plus ... the number. */
static inline void sr_put_by(enum sr_op op, double number, struct sr_expr *out)
{
    sr_put_constant(out, number);
    sr_put_op(out, op);
}
/* Multiplies a formula by another; count 0: 1. False where it is too long. */
bool sr_put_times(const struct sr_language *language, const struct sr_expr *by,
                  struct sr_expr *out);
/* Appends a formula such as "a * max(u - b, 0)": single letters stand for formulas, u for u[0] and
 * v for u[1], or for numbers, number[k] being that of letter[k]. */
void sr_put_text(const char *text, const struct sr_expr *u, const char *letter,
                 const double *number, struct sr_expr *out);
/* The operators of such a text, one bit each, without columns and numbers. */
uint64_t sr_text_operators(const char *text, const char *letter);

#endif
