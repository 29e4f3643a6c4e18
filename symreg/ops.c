/* ops.c - the operators: scalar functions for reference, loops over tiles for speed. */
#include "symreg.h"

#include <math.h>
#include <string.h>

#include "text.h"

/* ---- vector forms: branch-free, so that the loops below become vector code. Without contraction
 * and without reductions their results do not depend on the instruction set. */

/* Adding and subtracting 1.5 * 2^52 rounds to an integer and leaves it in the low bits. */
#define ROUND_MAGIC 6755399441055744.0

static inline double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* exp(x) = 2^k exp(r), |r| <= ln(2) / 2, Taylor series to r^13 (remainder below 5e-18). */
static inline double exp_vector(double x)
{
    const double shifted = x * 1.4426950408889634 + ROUND_MAGIC;
    const double k = shifted - ROUND_MAGIC;
    const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r * r + r + 1.0;
    const double value = p * from_bits((to_bits(shifted) + 1023u) << 52);
    return x > 709.0 ? HUGE_VAL : x < -708.0 ? 0.0 : value;
}

/* sin(x + turn * pi / 2) for |x| < TRIG_MAX: pi / 2 taken off in three parts, then Taylor series
 * on |r| <= pi / 4. */
#define TRIG_MAX 1e6
static inline double sin_vector(double x, uint64_t turn)
{
    const double shifted = x * 0.63661977236758134308 + ROUND_MAGIC;
    const double k = shifted - ROUND_MAGIC;
    const uint64_t quadrant = to_bits(shifted) + turn;
    const double r = ((x - k * 1.57079632673412561417e+00) - k * 6.07710050630396597660e-11) -
                     k * 2.02226624879595063154e-21;
    const double q = r * r;
    double s = 1.0 / 355687428096000.0;
    s = s * q - 1.0 / 1307674368000.0;
    s = s * q + 1.0 / 6227020800.0;
    s = s * q - 1.0 / 39916800.0;
    s = s * q + 1.0 / 362880.0;
    s = s * q - 1.0 / 5040.0;
    s = s * q + 1.0 / 120.0;
    s = s * q - 1.0 / 6.0;
    s = s * q * r + r;
    double c = 1.0 / 20922789888000.0;
    c = c * q - 1.0 / 87178291200.0;
    c = c * q + 1.0 / 479001600.0;
    c = c * q - 1.0 / 3628800.0;
    c = c * q + 1.0 / 40320.0;
    c = c * q - 1.0 / 720.0;
    c = c * q + 1.0 / 24.0;
    c = c * q - 0.5;
    c = c * q + 1.0;
    const uint64_t use_cosine = 0u - (quadrant & 1u);
    const uint64_t bits = (to_bits(c) & use_cosine) | (to_bits(s) & ~use_cosine);
    return from_bits(bits ^ ((quadrant & 2u) << 62));
}

/* ---- reference: the table, with libm's functions */

#define EXP exp
#define SIN sin
#define COS cos
#define OP(id, name, arity, infix, value, da, db)                                                  \
    static double id##_value(double a, double b)                                                   \
    {                                                                                              \
        (void)b;                                                                                   \
        return value;                                                                              \
    }                                                                                              \
    static double id##_da(double a, double b, double v)                                            \
    {                                                                                              \
        (void)a, (void)b, (void)v;                                                                 \
        return da;                                                                                 \
    }                                                                                              \
    static double id##_db(double a, double b, double v)                                            \
    {                                                                                              \
        (void)a, (void)b, (void)v;                                                                 \
        return db;                                                                                 \
    }
#include "ops_table.h"
#undef OP

#define OP(id, name, arity, infix, value, da, db)                                                  \
    [id] = {name, arity, infix, id##_value, id##_da, id##_db},
struct sr_op_info sr_op_table[SR_ALL_OPS] = {
    [SR_CONSTANT] = {.name = "constant"},
    [SR_FEATURE] = {.name = "feature"},
#include "ops_table.h"
};
#undef OP
#undef EXP
#undef SIN
#undef COS

int sr_op_find(const char *key, const char *name, int arity, enum sr_op *op)
{
    struct orr_nearest nearest = {0};
    for (int i = SR_FEATURE + 1; i < SR_OPS; i++) {
        if (sr_op_table[i].arity != arity)
            continue;
        if (!strcmp(sr_op_table[i].name, name)) {
            *op = (enum sr_op)i;
            return 0;
        }
        orr_nearest_offer(&nearest, name, sr_op_table[i].name);
    }
    const char *const kind = arity == 2 ? "binary" : "unary";
    if (nearest.name)
        return ORR_FAIL(ORR_EUSAGE, "%s: no %s operator \"%s\"; did you mean \"%s\"?", key, kind,
                        name, nearest.name);
    return ORR_FAIL(ORR_EUSAGE, "%s: no %s operator \"%s\"; expected %s", key, kind, name,
                    arity == 2 ? "+ - * / ^ min max"
                               : "neg inv square cube sqrt abs exp log sin cos tan tanh sign");
}

/* ---- loops over a tile */

#define EXP(a) exp_vector(a)
#define SIN(a) sin_vector(a, 0)
#define COS(a) sin_vector(a, 1)

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_MANY_CPUS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_MANY_CPUS
#endif

#define OP(id, name, arity, infix, value, da, db)                                                  \
    case id:                                                                                       \
        _Pragma("omp simd") for (int i = 0; i < n; i++)                                            \
        {                                                                                          \
            const double a = x[i], b = y[i];                                                       \
            (void)b;                                                                               \
            out[i] = value;                                                                        \
        }                                                                                          \
        break;
FOR_MANY_CPUS static void apply(int op, int n, const double *x, const double *y, double *out)
{
    switch (op) {
#include "ops_table.h"
    default:
        break;
    }
}
#undef OP

/* Not finite = all bits of the exponent set. */
FOR_MANY_CPUS static bool all_finite(int n, const double *x)
{
    const uint64_t mask = 0x7ff0000000000000u;
    uint64_t bad = 0;
    for (int i = 0; i < n; i++)
        bad |= (to_bits(x[i]) & mask) == mask ? 1u : 0u;
    return !bad;
}

/* The vector sine's reduction holds for moderate angles only: the others again by libm. */
static void repair_trigonometry(int op, int n, const double *a, double *out)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i]) < TRIG_MAX))
            out[i] = op == SR_SIN ? sin(a[i]) : cos(a[i]);
}

bool sr_op_apply(enum sr_op op, int n, const double *a, const double *b, double *out)
{
    if ((int)op >= SR_CUSTOM)
        return sr_custom_apply(op, n, a, b, out);
    double kept[SR_TILE];
    const bool trigonometry = op == SR_SIN || op == SR_COS;
    if (trigonometry) { /* out may be a */
        memcpy(kept, a, (size_t)n * sizeof *kept);
        apply((int)op, n, kept, kept, out);
        repair_trigonometry((int)op, n, kept, out);
    } else {
        apply((int)op, n, a, b, out);
    }
    return all_finite(n, out);
}

#define OP(id, name, arity, infix, value, da, db)                                                  \
    case id:                                                                                       \
        if (operand == 0) {                                                                        \
            _Pragma("omp simd") for (int i = 0; i < n; i++)                                        \
            {                                                                                      \
                const double a = x[i], b = y[i], v = values[i];                                    \
                (void)a, (void)b, (void)v;                                                         \
                d[i] = outer[i] * (da);                                                            \
            }                                                                                      \
        } else {                                                                                   \
            _Pragma("omp simd") for (int i = 0; i < n; i++)                                        \
            {                                                                                      \
                const double a = x[i], b = y[i], v = values[i];                                    \
                (void)a, (void)b, (void)v;                                                         \
                d[i] = outer[i] * (db);                                                            \
            }                                                                                      \
        }                                                                                          \
        break;
FOR_MANY_CPUS static void chain(int op, int operand, int n, const double *x, const double *y,
                                const double *values, const double *outer, double *d)
{
    switch (op) {
#include "ops_table.h"
    default:
        break;
    }
}
#undef OP

void sr_op_chain(enum sr_op op, int operand, int n, const double *a, const double *b,
                 const double *v, const double *outer, double *d)
{
    if ((int)op >= SR_CUSTOM) {
        sr_custom_chain(op, operand, n, a, b, outer, d);
        return;
    }
    chain((int)op, operand, n, a, b, v, outer, d);
    /* the derivative of sin and cos at large angles */
    if (op == SR_SIN || op == SR_COS)
        for (int i = 0; i < n; i++)
            if (!(fabs(a[i]) < TRIG_MAX))
                d[i] = outer[i] * (op == SR_SIN ? cos(a[i]) : -sin(a[i]));
}
