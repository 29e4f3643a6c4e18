/* cholesky.h - inside symreg/: small symmetric systems, solved by identical operations on every
 * CPU. */
#ifndef SR_CHOLESKY_H
#define SR_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* Factorises A (n, n) = L L' in place. Only the lower triangle is used; rows are `stride` apart.
 * False where a squared diagonal element is not above `least`. */
bool sr_cholesky(double *A, size_t n, size_t stride, double least);
/* b (n) becomes L^-1 b, L^-T b, or the solution of A x = b. */
void sr_cholesky_lower(const double *L, size_t n, size_t stride, double *b);
void sr_cholesky_upper(const double *L, size_t n, size_t stride, double *b);
void sr_cholesky_solve(const double *L, size_t n, size_t stride, double *b);
/* Adds a row of weighted least squares to its equations: normal (n, n), the lower triangle, rows
 * `stride` apart, and right (n). */
void sr_normal_add(double *normal, size_t stride, double *right, size_t n, const double *row,
                   double weight, double target);
/* right (n) becomes their solution, with the diagonal times 1 + ridge. False as sr_cholesky(). */
bool sr_normal_solve(double *normal, size_t stride, double *right, size_t n, double ridge);
/* Least squares with some columns of a table by its products (width, width), the last row and
 * column of which are the target's: L (count, count), rows `stride` apart, becomes the factor of
 * the products of the columns, and b (count) L^-1 times theirs with the target. False as above. */
bool sr_cholesky_columns(const double *product, size_t width, const int *column, size_t count,
                         double least, double *L, size_t stride, double *b);
/* Element (i, i) of A^-1. Overwrites work (n). */
double sr_cholesky_inverse(const double *L, size_t n, size_t stride, size_t i, double *work);
/* The diagonal of the inverse of a covariance (n, n), which is overwritten; work (2 n). Infinite
 * where the matrix has none, as numbers determine each other. */
void sr_covariance_inverse(double *covariance, size_t n, double *inverse, double *work);

#endif
