/* cholesky.c - Cholesky factorisation and the solution of its triangular systems. */
#include "cholesky.h"

#include <math.h>
#include <string.h>

/* Element j of rows that follow one another, of as many as the compiler knows: no sum waits for the
 * operations of another one. */
static inline void divide_rows(size_t rows, double *A, size_t stride, size_t j, size_t first)
{
    const double *const row_j = A + j * stride;
    double *const row = A + first * stride, sum[4];
    for (size_t i = 0; i < rows; i++)
        sum[i] = row[i * stride + j];
    for (size_t k = 0; k < j; k++)
        for (size_t i = 0; i < rows; i++)
            sum[i] -= row[i * stride + k] * row_j[k];
    for (size_t i = 0; i < rows; i++)
        row[i * stride + j] = sum[i] / row_j[j];
}

bool sr_cholesky(double *A, size_t n, size_t stride, double least)
{
    for (size_t j = 0; j < n; j++) {
        double *row_j = A + j * stride, sum = row_j[j];
        for (size_t k = 0; k < j; k++)
            sum -= row_j[k] * row_j[k];
        if (!(sum > least))
            return false;
        row_j[j] = sqrt(sum);
        size_t i = j + 1;
        for (; i + 4 <= n; i += 4)
            divide_rows(4, A, stride, j, i);
        for (; i < n; i++)
            divide_rows(1, A, stride, j, i);
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

void sr_cholesky_solve(const double *L, size_t n, size_t stride, double *b)
{
    sr_cholesky_lower(L, n, stride, b);
    sr_cholesky_upper(L, n, stride, b);
}

void sr_normal_add(double *normal, size_t stride, double *right, size_t n, const double *row,
                   double weight, double target)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k <= i; k++)
            normal[i * stride + k] += weight * row[i] * row[k];
        right[i] += weight * row[i] * target;
    }
}

bool sr_normal_solve(double *normal, size_t stride, double *right, size_t n, double ridge)
{
    for (size_t i = 0; i < n; i++)
        normal[i * stride + i] *= 1 + ridge;
    if (!sr_cholesky(normal, n, stride, 0))
        return false;
    sr_cholesky_solve(normal, n, stride, right);
    return true;
}

bool sr_cholesky_columns(const double *product, size_t width, const int *column, size_t count,
                         double least, double *L, size_t stride, double *b)
{
    for (size_t i = 0; i < count; i++) {
        const double *const row = product + (size_t)column[i] * width;
        for (size_t k = 0; k <= i; k++)
            L[i * stride + k] = row[column[k]];
        b[i] = row[width - 1];
    }
    if (!sr_cholesky(L, count, stride, least))
        return false;
    sr_cholesky_lower(L, count, stride, b);
    return true;
}

double sr_cholesky_inverse(const double *L, size_t n, size_t stride, size_t i, double *work)
{
    const size_t rest = n - i; /* column i of L^-1 is 0 above the diagonal */
    double sum = 0;
    memset(work, 0, rest * sizeof *work);
    work[0] = 1;
    sr_cholesky_lower(L + i * stride + i, rest, stride, work);
    for (size_t k = 0; k < rest; k++)
        sum += work[k] * work[k];
    return sum;
}

void sr_covariance_inverse(double *covariance, size_t n, double *inverse, double *work)
{
    double *const size = work + n;
    for (size_t a = 0; a < n; a++)
        size[a] = sqrt(covariance[a * n + a]);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++)
            covariance[a * n + b] /= size[a] * size[b];
    const bool known = sr_cholesky(covariance, n, n, 1e-14);
    for (size_t a = 0; a < n; a++)
        inverse[a] =
            known ? sr_cholesky_inverse(covariance, n, n, a, work) / (size[a] * size[a]) : HUGE_VAL;
}
