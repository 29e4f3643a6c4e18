/* cholesky.c - Cholesky factorisation and the solution of its triangular systems. */
#include "cholesky.h"

#include <math.h>

bool sr_cholesky(double *A, size_t n, size_t stride, double least)
{
    for (size_t j = 0; j < n; j++) {
        double *row_j = A + j * stride;
        for (size_t i = j; i < n; i++) {
            double *row_i = A + i * stride, sum = row_i[j];
            for (size_t k = 0; k < j; k++)
                sum -= row_i[k] * row_j[k];
            if (i > j)
                row_i[j] = sum / row_j[j];
            else if (sum > least)
                row_j[j] = sqrt(sum);
            else
                return false;
        }
    }
    return true;
}

void sr_cholesky_lower(const double *L, size_t n, size_t stride, double *b)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= L[i * stride + k] * b[k];
        b[i] /= L[i * stride + i];
    }
}

void sr_cholesky_upper(const double *L, size_t n, size_t stride, double *b)
{
    for (size_t i = n; i-- > 0;) {
        b[i] /= L[i * stride + i];
        for (size_t k = 0; k < i; k++)
            b[k] -= L[i * stride + k] * b[i];
    }
}
