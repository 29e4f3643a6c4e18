/* fma.h - a b + c rounded once, for WebAssembly, which has no such instruction: the C library's
 * emulation took three fifths of a search. Only additions and products, without a branch, so that
 * loops over it become vector code; included before every source (lab.mk). */
#ifndef LAB_PORT_FMA_H
#define LAB_PORT_FMA_H

#include <stdint.h>
#include <string.h>

static inline __attribute__((always_inline)) uint64_t lab_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline __attribute__((always_inline)) double lab_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a + b = sum + *rest without an error (Knuth 1969). */
static inline __attribute__((always_inline)) double lab_sum(double a, double b, double *rest)
{
    const double sum = a + b, of_b = sum - a;
    *rest = (a - (sum - of_b)) + (b - of_b);
    return sum;
}

/* The product and its error by halves (Dekker 1971): of 26 bits, but 27 of the lower half of a. The
 * product and c have the exact sum `sum` + `rest`. The final addition rounds once, because
 * `rest` + `error` is rounded to odd before it (Boldo and Melquiond 2008, IEEE Transactions on
 * Computers 57, 462): where `rest` is not 0, nothing cancels, and the error is at most a unit in
 * the last place of `sum`. Right unless a b and c both lie below 2^-900, or a b alone is
 * infinite. */
static inline __attribute__((always_inline)) double lab_fma(double a, double b, double c)
{
    const uint64_t half = (uint64_t)1 << 26, upper = ~(uint64_t)0x7ffffff;
    const double ah = lab_of_bits(lab_bits(a) & upper), al = a - ah;
    const double bh = lab_of_bits((lab_bits(b) + half) & upper), bl = b - bh;
    const double product = a * b;
    const double error = ((ah * bh - product) + ah * bl + al * bh) + al * bl;
    double rest, lost;
    const double sum = lab_sum(product, c, &rest), tail = lab_sum(rest, error, &lost);
    const uint64_t bits = lab_bits(tail), inexact = lost != 0;
    const uint64_t opposite = (lab_bits(lost) ^ bits) >> 63 & inexact;
    const double odd = lab_of_bits((bits - opposite) | inexact);
    /* a zero keeps its sign; infinities and NaN have a tail that is NaN */
    return __builtin_fabs(odd) > 0 ? sum + odd : sum;
}

#endif
