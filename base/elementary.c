/* elementary.c - exp, log and pow with the same bits on every CPU, one number at a time.
 *
 * The arithmetic is that of vecmath.h. Where the CPU has fused multiply-adds the functions are
 * compiled to use them; elsewhere libm's fma() emulates them, bit for bit. */
#include "base.h"

#include <math.h>

#include "vecmath.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_MANY_CPUS __attribute__((target_clones("fma", "default")))
#else
#define FOR_MANY_CPUS
#endif

FOR_MANY_CPUS double orr_exp(double x)
{
    return vm_exp(x);
}

FOR_MANY_CPUS double orr_log(double x)
{
    return vm_log(x);
}

FOR_MANY_CPUS static double power(double a, double b)
{
    return vm_pow(a, b);
}

/* a^n by squares, n >= 0. */
static double whole_power(double a, int n)
{
    double result = 1;
    for (; n > 0; n >>= 1, a *= a)
        if (n & 1)
            result *= a;
    return result;
}

double orr_pow(double a, double b)
{
    if (b == 0.5)
        return sqrt(a);
    if (rint(b) == b && fabs(b) <= 8) {
        const double size = whole_power(a, abs((int)b)), result = b < 0 ? 1 / size : size;
        if (isnormal(result)) /* products that overflow or lose bits are for logarithms */
            return result;
    }
    return power(a, b);
}
