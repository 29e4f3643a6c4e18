/* path_loops.c - the costly loops of bodies that are integrated with their derivatives. Each number
 * is computed by itself, so that no bit of it depends on the width. */
#include "vec.h"

#include <string.h>

#if defined __AVX512F__
#define WIDE 8
#elif defined __AVX__
#define WIDE 4
#else
#define WIDE 2
#endif
typedef double wide __attribute__((vector_size(8 * WIDE)));

static wide load_wide(const double *from)
{
    wide v;
    memcpy(&v, from, sizeof v);
    return v;
}

void sr_vec_advance(int parts, const double *weight, const double *const *rate, const double *from,
                    size_t n, double *to)
{
    size_t k = 0;
    for (; k + WIDE <= n; k += WIDE) {
        wide sum = load_wide(from + k);
        for (int j = 0; j < parts; j++)
            sum += weight[j] * load_wide(rate[j] + k);
        memcpy(to + k, &sum, sizeof sum);
    }
    for (; k < n; k++) {
        double sum = from[k];
        for (int j = 0; j < parts; j++)
            sum += weight[j] * rate[j][k];
        to[k] = sum;
    }
}

void sr_vec_subtract(double share, const double *restrict x, size_t n, double *restrict from)
{
    for (size_t k = 0; k < n; k++)
        from[k] -= share * x[k];
}

/* As sr_vec_bend, of a number of axes that the compiler knows. */
static inline void bend(size_t dims, const struct sr_vec_pull *pull, size_t n,
                        const double *restrict a, const double *restrict b,
                        const double *restrict added, double *restrict out)
{
    for (size_t c = 0; c < n; c++) {
        double along = 0, apart[3];
        for (size_t d = 0; d < dims; d++) {
            apart[d] = a[d * n + c] - b[d * n + c];
            along += pull->away[d] * apart[d];
        }
        along = along * pull->slope + added[c];
        for (size_t d = 0; d < dims; d++)
            out[d * n + c] = pull->ratio * apart[d] + along * pull->away[d];
    }
}

void sr_vec_bend(int dims, const struct sr_vec_pull *pull, size_t n, const double *a,
                 const double *b, const double *added, double *out)
{
    if (dims == 1)
        bend(1, pull, n, a, b, added, out);
    else if (dims == 2)
        bend(2, pull, n, a, b, added, out);
    else
        bend(3, pull, n, a, b, added, out);
}
