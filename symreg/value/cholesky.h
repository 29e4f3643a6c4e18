/* cholesky.h - inside symreg/: small symmetric systems, by the same operations on every CPU. */
#ifndef SR_CHOLESKY_H
#define SR_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* A (n, n) = L L' in place, its lower half filled, rows `stride` apart. False where a square of the
 * diagonal is not above `least`. */
bool sr_cholesky(double *A, size_t n, size_t stride, double least);
/* b (n) becomes L^-1 b, and L^-T b: both, one after the other, solve A x = b. */
void sr_cholesky_lower(const double *L, size_t n, size_t stride, double *b);
void sr_cholesky_upper(const double *L, size_t n, size_t stride, double *b);

#endif
