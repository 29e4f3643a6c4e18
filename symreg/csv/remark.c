/* remark.c - what a constant may be: a simple multiple of pi, e, a root. */
#include <math.h>

#include <gsl/gsl_math.h>

#include "output.h"

static const double tolerance = 1e-4;

/* Numbers that are met in formulas; multiples a / b of them with a and b up to `most`. */
static const struct {
    const char *name;
    double value;
    int most;
} known[] = {
    {"pi", M_PI, 8},
    {"pi^2", M_PI *M_PI, 8},
    {"pi^-1", M_1_PI, 8},
    {"pi^-2", M_1_PI *M_1_PI, 8},
    {"sqrt(pi)", M_SQRTPI, 4},
    {"sqrt(2 pi)", M_SQRT2 *M_SQRTPI, 4},
    {"e", M_E, 2},
    {"sqrt(2)", M_SQRT2, 4},
    {"sqrt(3)", M_SQRT3, 4},
    {"log(2)", M_LN2, 2},
};

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

bool sr_constant_remark(double value, char *text, size_t bytes)
{
    double best = tolerance;
    *text = '\0';
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (int a = 1; a <= known[k].most; a++)
            for (int b = 1; b <= known[k].most; b++) {
                const double near = a * known[k].value / b;
                const double off = fabs(fabs(value) - near) / near;
                if (common_divisor(a, b) != 1 || !(off < best))
                    continue;
                char factor[16] = "", divisor[16] = "";
                best = off;
                if (a > 1)
                    snprintf(factor, sizeof factor, "%d ", a);
                if (b > 1)
                    snprintf(divisor, sizeof divisor, " / %d", b);
                snprintf(text, bytes, "%s%s%s%s (%.1g%% off)", value < 0 ? "-" : "", factor,
                         known[k].name, divisor, 100 * off);
            }
    return *text != '\0';
}
