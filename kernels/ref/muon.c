/* muon.c - the step of Muon (struct k_muon) as its formula, in double. */
#include "ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* out (rows, cols) = a (rows, inner) b (inner, cols) */
static void multiply(double *out, const double *a, const double *b, size_t rows, size_t inner,
                     size_t cols)
{
    memset(out, 0, rows * cols * sizeof *out);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < inner; k++)
            for (size_t j = 0; j < cols; j++)
                out[i * cols + j] += a[i * inner + k] * b[k * cols + j];
}

/* out (cols, rows) = the transposed x (rows, cols) */
static void transpose(double *out, const double *x, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            out[j * rows + i] = x[i * cols + j];
}

/* One step on x (r, c) with r <= c by the polynomial p; y (r, c), a and b (r, r) are workspace. */
static void newton_schulz(struct k_muon_polynomial p, double *x, double *y, double *a, double *b,
                          size_t r, size_t c)
{
    transpose(y, x, r, c);
    multiply(a, x, y, r, c, r);
    multiply(b, a, a, r, r, r);
    for (size_t i = 0; i < r * r; i++)
        b[i] = p.b * a[i] + p.c * b[i];
    multiply(y, b, x, r, r, c);
    for (size_t i = 0; i < r * c; i++)
        x[i] = p.a * x[i] + y[i];
}

static void update_matrix(real *param, const real *update, const struct k_muon *k, double *x)
{
    const size_t rows = (size_t)k->rows, cols = (size_t)k->cols, n = rows * cols;
    const size_t r = rows < cols ? rows : cols, c = n / r;
    double *y = x + n, *a = y + n, *b = a + r * r, squares = 0;
    for (size_t i = 0; i < n; i++) {
        y[i] = (double)update[i];
        squares += y[i] * y[i];
    }
    if (rows > cols)
        transpose(x, y, rows, cols);
    else
        memcpy(x, y, n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] *= squares > 0 ? 1 / sqrt(squares) : 0;
    for (int step = 0; step < k->steps; step++)
        newton_schulz(k_muon_polynomial(step), x, y, a, b, r, c);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const double o = rows > cols ? x[j * rows + i] : x[i * cols + j];
            real *w = &param[i * cols + j];
            *w = (real)(k->keep * (double)*w - k->rate * o);
        }
}

int k_ref_muon(real *param, real *update, const struct k_muon *k)
{
    const size_t n = (size_t)k->rows * (size_t)k->cols;
    const size_t r = (size_t)(k->rows < k->cols ? k->rows : k->cols);
    double *workspace = orr_alloc(2 * (n + r * r), sizeof *workspace);
    if (!workspace)
        return ORR_ENOMEM;
    for (int i = 0; i < k->count; i++)
        update_matrix(param + k->at[i], update + k->at[i], k, workspace);
    free(workspace);
    return 0;
}
