/* correlate_loops.c - dot products of several vectors with many columns of single precision.
 *
 * Four vectors share every column that is loaded, and their sums stay in registers. A sum runs over
 * the rows in order, so that its bits depend neither on the width of the registers nor on the
 * vectors beside it. */
#include "vec.h"

#include <string.h>

#if defined __AVX512F__
#define WIDE 16
#elif defined __AVX__
#define WIDE 8
#else
#define WIDE 4
#endif
typedef float wide __attribute__((vector_size(4 * WIDE)));

static inline wide load_wide(const float *from)
{
    wide v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void store_wide(float *to, wide v)
{
    memcpy(to, &v, sizeof v);
}

/* Four vectors, 2 WIDE columns. */
static inline void correlate_four(const float *v, size_t apart, const float *column, int rows,
                                  float *c)
{
    enum { NEXT = SR_VEC_COLUMNS };
    const float *const second = v + apart, *const third = second + apart,
                       *const fourth = third + apart;
    wide sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0}, sum4 = {0}, sum5 = {0}, sum6 = {0},
         sum7 = {0};
    for (int i = 0; i < rows; i++, column += SR_VEC_COLUMNS) {
        const wide left = load_wide(column), right = load_wide(column + WIDE);
        sum0 += v[i] * left;
        sum1 += v[i] * right;
        sum2 += second[i] * left;
        sum3 += second[i] * right;
        sum4 += third[i] * left;
        sum5 += third[i] * right;
        sum6 += fourth[i] * left;
        sum7 += fourth[i] * right;
    }
    store_wide(c, sum0);
    store_wide(c + WIDE, sum1);
    store_wide(c + NEXT, sum2);
    store_wide(c + NEXT + WIDE, sum3);
    store_wide(c + 2 * NEXT, sum4);
    store_wide(c + 2 * NEXT + WIDE, sum5);
    store_wide(c + 3 * NEXT, sum6);
    store_wide(c + 3 * NEXT + WIDE, sum7);
}

/* One vector, 4 WIDE columns. */
static inline void correlate_one(const float *v, const float *column, int rows, float *c)
{
    wide sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
    for (int i = 0; i < rows; i++, column += SR_VEC_COLUMNS) {
        sum0 += v[i] * load_wide(column);
        sum1 += v[i] * load_wide(column + WIDE);
        sum2 += v[i] * load_wide(column + 2 * WIDE);
        sum3 += v[i] * load_wide(column + 3 * WIDE);
    }
    store_wide(c, sum0);
    store_wide(c + WIDE, sum1);
    store_wide(c + 2 * WIDE, sum2);
    store_wide(c + 3 * WIDE, sum3);
}

void sr_vec_correlate(int vectors, const float *v, size_t apart, const float *column, int rows,
                      float *c)
{
    for (; vectors >= 4; vectors -= 4, v += 4 * apart, c += 4 * SR_VEC_COLUMNS)
        for (int f = 0; f < SR_VEC_COLUMNS; f += 2 * WIDE)
            correlate_four(v, apart, column + f, rows, c + f);
    for (; vectors > 0; vectors--, v += apart, c += SR_VEC_COLUMNS)
        for (int f = 0; f < SR_VEC_COLUMNS; f += 4 * WIDE)
            correlate_one(v, column + f, rows, c + f);
}
