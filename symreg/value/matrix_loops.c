/* matrix_loops.c - the costly matrix loops of the Gaussian process. */
#include "vec.h"

#include <math.h>
#include <string.h>

#if defined __AVX512F__
#define WIDE 8
#elif defined __AVX__
#define WIDE 4
#else
#define WIDE 2
#endif
enum { BLOCK = 4, LANES = 8 }; /* rows processed together; partial sums of a dot product */
typedef double wide __attribute__((vector_size(8 * WIDE)));

static wide load_wide(const double *from)
{
    wide v;
    memcpy(&v, from, sizeof v);
    return v;
}

static double add_lanes(const double lane[LANES])
{
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* sum[r] = dot product of row r with `other` over the first j columns; rows are n apart. Sums stay
 * in registers: WIDE of the LANES at a time. The last j % LANES products are added one by one. */
static inline void dot_block(const double *row, const double *other, int n, int j,
                             double sum[BLOCK])
{
    const double *const second = row + n, *const third = second + n, *const fourth = third + n;
    const int whole = j & ~(LANES - 1);
    double lane[BLOCK][LANES];
    for (int part = 0; part < LANES; part += WIDE) {
        wide a = {0}, b = {0}, c = {0}, d = {0};
        for (int k = part; k < whole; k += LANES) {
            const wide factor = load_wide(other + k);
            a += load_wide(row + k) * factor;
            b += load_wide(second + k) * factor;
            c += load_wide(third + k) * factor;
            d += load_wide(fourth + k) * factor;
        }
        memcpy(&lane[0][part], &a, sizeof a);
        memcpy(&lane[1][part], &b, sizeof b);
        memcpy(&lane[2][part], &c, sizeof c);
        memcpy(&lane[3][part], &d, sizeof d);
    }
    for (int r = 0; r < BLOCK; r++) {
        sum[r] = add_lanes(lane[r]);
        for (int k = whole; k < j; k++)
            sum[r] += row[r * n + k] * other[k];
    }
}

bool sr_vec_factorise(double *matrix, int n)
{
    double sum[BLOCK];
    for (int i = 0; i < n; i += BLOCK) {
        double *row = matrix + (size_t)i * (size_t)n;
        for (int j = 0; j < i; j++) {
            const double *other = matrix + (size_t)j * (size_t)n;
            dot_block(row, other, n, j, sum);
            for (int r = 0; r < BLOCK; r++)
                row[r * n + j] = (row[r * n + j] - sum[r]) / other[j];
        }
        for (int r = 0; r < BLOCK; r++)
            memset(row + r * n + i + r + 1, 0, (size_t)(n - i - r - 1) * sizeof *row);
        for (int r = 0; r < BLOCK; r++) { /* columns inside the block */
            double *own = row + r * n;
            const int j = i + r;
            dot_block(row, own, n, j, sum);
            if (!(own[j] - sum[r] > 0))
                return false;
            own[j] = sqrt(own[j] - sum[r]);
            for (int below = r + 1; below < BLOCK; below++)
                row[below * n + j] = (row[below * n + j] - sum[below]) / own[j];
        }
    }
    return true;
}

/* out -= (with add: +=) factor[r] * row r, row by row, over the first `count` columns. */
static inline void add_rows(double *out, const double *row, int n, const double factor[BLOCK],
                            int count)
{
    for (int j = 0; j < count; j++) {
        double v = out[j];
        for (int r = 0; r < BLOCK; r++)
            v += factor[r] * row[r * n + j];
        out[j] = v;
    }
}

/* x = L^-1, row by row. */
static void invert_lower(const double *lower, int n, double *x)
{
    memset(x, 0, (size_t)n * (size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        const double *row = lower + (size_t)i * (size_t)n;
        double *own = x + (size_t)i * (size_t)n;
        for (int k = 0; k < i; k += BLOCK) { /* zero above the diagonal */
            double factor[BLOCK];
            for (int r = 0; r < BLOCK; r++)
                factor[r] = k + r < i ? -row[k + r] : 0;
            add_rows(own, x + (size_t)k * (size_t)n, n, factor, k + BLOCK < i ? k + BLOCK : i);
        }
        own[i] = 1;
        for (int j = 0; j <= i; j++)
            own[j] /= row[i];
    }
}

void sr_vec_invert(const double *lower, int n, double *x, double *inverse)
{
    invert_lower(lower, n, x);
    memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
    for (int i = 0; i < n; i += BLOCK) {
        const double *row = x + (size_t)i * (size_t)n;
        for (int a = 0; a < i + BLOCK; a++) {
            double factor[BLOCK];
            for (int r = 0; r < BLOCK; r++)
                factor[r] = row[r * n + a];
            add_rows(inverse + (size_t)a * (size_t)n, row, n, factor, a + 1);
        }
    }
}
