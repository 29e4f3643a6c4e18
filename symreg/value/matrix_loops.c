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

static inline void store_wide(double *to, wide v)
{
    memcpy(to, &v, sizeof v);
}

/* sum[c][r] = dot product of row r with column c of a pair, which are rows of the matrix, too, over
 * the first `whole` elements, a multiple of LANES; rows are n apart. Sums stay in registers: WIDE
 * of the LANES at a time. */
static inline void dot_pair(const double *row, const double *pair, int n, int whole,
                            double sum[][BLOCK])
{
    const double *const second = row + n, *const third = second + n, *const fourth = third + n;
    double lane[2][BLOCK][LANES];
    for (int part = 0; part < LANES; part += WIDE) {
        wide a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0};
        for (int k = part; k < whole; k += LANES) {
            const wide left = load_wide(pair + k), right = load_wide(pair + n + k);
            const wide v = load_wide(row + k), w = load_wide(second + k);
            const wide x = load_wide(third + k), y = load_wide(fourth + k);
            a += v * left;
            b += w * left;
            c += x * left;
            d += y * left;
            e += v * right;
            f += w * right;
            g += x * right;
            h += y * right;
        }
        store_wide(&lane[0][0][part], a);
        store_wide(&lane[0][1][part], b);
        store_wide(&lane[0][2][part], c);
        store_wide(&lane[0][3][part], d);
        store_wide(&lane[1][0][part], e);
        store_wide(&lane[1][1][part], f);
        store_wide(&lane[1][2][part], g);
        store_wide(&lane[1][3][part], h);
    }
    for (int c = 0; c < 2; c++)
        for (int r = 0; r < BLOCK; r++)
            sum[c][r] = add_lanes(lane[c][r]);
}

/* Completes the element in column j of every row of a block, the sum of whose first `whole`
 * products is known: the others are added one by one. */
static inline void complete_column(double *row, const double *other, int n, int whole, int j,
                                   double sum[BLOCK])
{
    for (int r = 0; r < BLOCK; r++) {
        for (int k = whole; k < j; k++)
            sum[r] += row[r * n + k] * other[k];
        row[r * n + j] = (row[r * n + j] - sum[r]) / other[j];
    }
}

/* The columns inside a block of rows that begins at its diagonal, i. */
static bool complete_block(double *row, int n, int i)
{
    const int whole = i & ~(LANES - 1);
    double sum[BLOCK][BLOCK];
    dot_pair(row, row, n, whole, &sum[0]);
    dot_pair(row, row + 2 * n, n, whole, &sum[2]);
    for (int c = 0; c < BLOCK; c++) {
        double *const own = row + c * n;
        const int j = i + c;
        for (int r = c; r < BLOCK; r++)
            for (int k = whole; k < j; k++)
                sum[c][r] += row[r * n + k] * own[k];
        if (!(own[j] - sum[c][c] > 0))
            return false;
        own[j] = sqrt(own[j] - sum[c][c]);
        for (int below = c + 1; below < BLOCK; below++)
            row[below * n + j] = (row[below * n + j] - sum[c][below]) / own[j];
    }
    return true;
}

bool sr_vec_factorise(double *matrix, int n)
{
    double sum[2][BLOCK];
    for (int i = 0; i < n; i += BLOCK) {
        double *row = matrix + (size_t)i * (size_t)n;
        for (int j = 0; j < i; j += 2) {
            const double *pair = matrix + (size_t)j * (size_t)n;
            const int whole = j & ~(LANES - 1);
            dot_pair(row, pair, n, whole, sum);
            complete_column(row, pair, n, whole, j, sum[0]);
            complete_column(row, pair + n, n, whole, j + 1, sum[1]);
        }
        for (int r = 0; r < BLOCK; r++)
            memset(row + r * n + i + r + 1, 0, (size_t)(n - i - r - 1) * sizeof *row);
        if (!complete_block(row, n, i))
            return false;
    }
    return true;
}

/* Adds factor[o][r] * row r to row o of `out`, row by row, over the first `count` columns, a
 * multiple of BLOCK; rows are n apart. */
static inline void add_rows(double *out, const double *row, int n, double factor[BLOCK][BLOCK],
                            int count)
{
    const double *const second = row + n, *const third = second + n, *const fourth = third + n;
    int j = 0;
    for (; j + WIDE <= count; j += WIDE) {
        const wide a = load_wide(row + j), b = load_wide(second + j);
        const wide c = load_wide(third + j), d = load_wide(fourth + j);
        for (int o = 0; o < BLOCK; o++) {
            const double *const f = factor[o];
            wide v = load_wide(out + o * n + j);
            v += f[0] * a;
            v += f[1] * b;
            v += f[2] * c;
            v += f[3] * d;
            store_wide(out + o * n + j, v);
        }
    }
    for (; j < count; j++)
        for (int o = 0; o < BLOCK; o++)
            for (int r = 0; r < BLOCK; r++)
                out[o * n + j] += factor[o][r] * row[r * n + j];
}

/* x = L^-1, row by row, those of a block together as far as they need rows above the block. */
static void invert_lower(const double *lower, int n, double *x)
{
    memset(x, 0, (size_t)n * (size_t)n * sizeof *x);
    for (int i = 0; i < n; i += BLOCK) {
        const double *row = lower + (size_t)i * (size_t)n;
        double *own = x + (size_t)i * (size_t)n, factor[BLOCK][BLOCK];
        for (int k = 0; k < i; k += BLOCK) {
            for (int o = 0; o < BLOCK; o++)
                for (int r = 0; r < BLOCK; r++)
                    factor[o][r] = -row[o * n + k + r];
            add_rows(own, x + (size_t)k * (size_t)n, n, factor, k + BLOCK);
        }
        for (int o = 0; o < BLOCK; o++) {
            double *const out = own + o * n;
            for (int r = 0; r < o; r++)
                for (int j = 0; j <= i + r; j++)
                    out[j] += -row[o * n + i + r] * own[r * n + j];
            out[i + o] = 1;
            for (int j = 0; j <= i + o; j++)
                out[j] /= row[o * n + i + o];
        }
    }
}

void sr_vec_invert(const double *lower, int n, double *x, double *inverse)
{
    double factor[BLOCK][BLOCK];
    invert_lower(lower, n, x);
    memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
    for (int i = 0; i < n; i += BLOCK) {
        const double *row = x + (size_t)i * (size_t)n;
        for (int a = 0; a < i + BLOCK; a += BLOCK) {
            for (int o = 0; o < BLOCK; o++)
                for (int r = 0; r < BLOCK; r++)
                    factor[o][r] = row[r * n + a + o];
            add_rows(inverse + (size_t)a * (size_t)n, row, n, factor, a + BLOCK);
        }
    }
}
