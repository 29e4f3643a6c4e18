/* other_libm.c - preloaded by tests/cli/test_cpus.sh: the functions of the C library that have other
 * last bits on other CPUs, all wrong by 1e-7 of their value. What still has the same bytes calls
 * none of them, neither itself nor through GSL. Their long double forms are as they were. */
#define _GNU_SOURCE
#include <math.h>

#define OTHER 1.0000001L
#define ONE(name)                                                                                  \
    double name(double x)                                                                          \
    {                                                                                              \
        return (double)(name##l((long double)x) * OTHER);                                          \
    }                                                                                              \
    float name##f(float x)                                                                         \
    {                                                                                              \
        return (float)(name##l((long double)x) * OTHER);                                           \
    }
#define TWO(name)                                                                                  \
    double name(double x, double y)                                                                \
    {                                                                                              \
        return (double)(name##l((long double)x, (long double)y) * OTHER);                          \
    }                                                                                              \
    float name##f(float x, float y)                                                                \
    {                                                                                              \
        return (float)(name##l((long double)x, (long double)y) * OTHER);                           \
    }

/* clang-format off */
ONE(exp) ONE(exp2) ONE(exp10) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p)
ONE(sin) ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh)
ONE(asinh) ONE(acosh) ONE(atanh) ONE(cbrt) ONE(erf) ONE(erfc) ONE(tgamma) ONE(lgamma)
TWO(pow) TWO(atan2) TWO(hypot)
    /* clang-format on */

    void sincos(double x, double *sine, double *cosine)
{
    *sine = sin(x);
    *cosine = cos(x);
}
