/* ops.c - the operator table (values, derivatives, inverses, traits), and the search for names. */
#include "expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vecmath.h"

/* ---- angles too large for the vector code, reduced in integer arithmetic, equal on all CPUs
 *
 * Payne & Hanek (SIGNUM Newsletter 18 (1983) 19): only the fraction of x / (2 pi) matters; 192 bits
 * of it are computed here. The double closest to a multiple of pi / 2 cancels 62 bits, which leaves
 * at least 76. */

/* The fraction bits of 1 / (2 pi). */
static const uint64_t turns[21] = {
    0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158,
    0x6dc91b8e909374b8, 0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121,
    0x3a671c09ad17df90, 0x4e64758e60d4ce7d, 0x272117e2ef7e4a0e, 0xc7fe25fff7816603,
    0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d, 0xd3d18fd9a797fa8b, 0x5d49eeb1faf97c5e,
    0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea, 0xfc33ef0826bd0d87,
    0x6a78e45857b986c2,
};

#define TURN      0x1.921fb54442d18p+2 /* 2 pi */
#define TURN_REST 0x1.1a62633145c07p-52

/* The 64 bits from number `first` on; bits before the binary point are 0. */
static uint64_t bits_of_turns(int first)
{
    if (first <= -64)
        return 0;
    if (first < 0)
        return turns[0] >> -first;
    const int word = first / 64, shift = first % 64;
    return turns[word] << shift | (shift ? turns[word + 1] >> (64 - shift) : 0);
}

__extension__ typedef unsigned __int128 wide;

/* The fraction of x / (2 pi), highest word first; x finite and at least 1. */
static void fraction_of_turns(double x, uint64_t fraction[3])
{
    int exponent;
    const uint64_t m = (uint64_t)ldexp(frexp(x, &exponent), 53); /* x = m 2^(exponent - 53) */
    wide carry = 0;
    for (int k = 2; k >= 0; k--) {
        carry += (wide)m * bits_of_turns(exponent - 53 + 64 * k);
        fraction[k] = (uint64_t)carry;
        carry >>= 64;
    }
}

static void negate_fraction(uint64_t f[3])
{
    f[2] = -f[2];
    f[1] = ~f[1] + (f[2] == 0);
    f[0] = ~f[0] + (f[1] == 0 && f[2] == 0);
}

/* sin(2 pi f), f in [0, 1). */
static double sin_of_turns(uint64_t f[3])
{
    const uint64_t quarter = (uint64_t)1 << 62;
    if (f[0] - quarter < 2 * quarter) { /* sin(x) = sin(pi - x) */
        negate_fraction(f);
        f[0] += 2 * quarter;
    }
    const bool below = f[0] >> 63;
    int scale = -64;
    if (below)
        negate_fraction(f);
    for (; !(f[0] >> 63) && scale > -192; scale--) {
        f[0] = f[0] << 1 | f[1] >> 63;
        f[1] = f[1] << 1 | f[2] >> 63;
        f[2] <<= 1;
    }
    /* 2 pi f as a sum of two doubles: 53 bits and the following 64, times 2 pi */
    const double high = (double)(f[0] >> 11);
    const double low = ldexp((double)(f[0] << 53 | f[1] >> 11), -64);
    const double angle = TURN * high;
    const double rest = fma(TURN, high, -angle) + (TURN_REST * high + TURN * low);
    const double r = ldexp(angle, scale + 11), z = r * r;
    const double s = vm_sin_small(r) + ldexp(rest, scale + 11) * (1 - z / 2 + z * z / 24);
    return below ? -s : s;
}

static double large_angle(int op, double a)
{
    uint64_t f[3];
    if (!isfinite(a))
        return NAN;
    if (op == SR_TAN)
        return large_angle(SR_SIN, a) / large_angle(SR_COS, a);
    fraction_of_turns(fabs(a), f);
    if (op == SR_COS)
        f[0] += (uint64_t)1 << 62;
    const double s = sin_of_turns(f);
    return op == SR_SIN && a < 0 ? -s : s;
}

static bool is_trigonometric(int op)
{
    return op == SR_SIN || op == SR_COS || op == SR_TAN;
}

/* ---- scalar operators */

static double value_of(int op, double a, double usual)
{
    return is_trigonometric(op) && !(fabs(a) < VM_TRIG_MAX) ? large_angle(op, a) : usual;
}

/* sin' = cos, cos' = -sin */
static double slope_of(int op, double a, double usual)
{
    if (fabs(a) < VM_TRIG_MAX || (op != SR_SIN && op != SR_COS))
        return usual;
    return op == SR_SIN ? large_angle(SR_COS, a) : -large_angle(SR_SIN, a);
}

static double itself(double v)
{
    return v;
}

#define OP(id, name, arity, infix, cost, traits, undoes, units, power, value, da, db, inverse,     \
           ...)                                                                                    \
    static double id##_value(double a, double b)                                                   \
    {                                                                                              \
        (void)b;                                                                                   \
        return value_of(id, a, value);                                                             \
    }                                                                                              \
    static double id##_da(double a, double b, double v)                                            \
    {                                                                                              \
        (void)a, (void)b, (void)v;                                                                 \
        return slope_of(id, a, da);                                                                \
    }                                                                                              \
    static double id##_db(double a, double b, double v)                                            \
    {                                                                                              \
        (void)a, (void)b, (void)v;                                                                 \
        return db;                                                                                 \
    }                                                                                              \
    static double id##_inverse(double v)                                                           \
    {                                                                                              \
        (void)v;                                                                                   \
        return inverse;                                                                            \
    }                                                                                              \
    _Static_assert((id) >= SR_UNARY || (arity) == 2, #id ": before the first unary operator");     \
    _Static_assert(((cost) == 2) == ((id) >= SR_EXP), #id ": functions count twice, and come "     \
                                                          "last");
#include "ops_table.h"
#undef OP
_Static_assert((int)SR_ALL_OPS <= 64, "a set of operators is the bits of one word");

#define OP(id, name, arity, infix, cost, traits, undoes, units, power, ...)                        \
    [id] = {name,         arity, infix,  id##_value, id##_da, id##_db,                             \
            id##_inverse, cost,  traits, undoes,     units,   power},
const struct sr_op_info sr_op_table[SR_OPS] = {
    [SR_CONSTANT] = {.name = "constant", .inverse = itself, .cost = 1},
    [SR_FEATURE] = {.name = "feature", .cost = 1},
#include "ops_table.h"
};
#undef OP

bool sr_op_invert(enum sr_op op, double v, double *z)
{
    if ((int)op >= SR_CUSTOM || !sr_op_table[op].inverse)
        return false;
    *z = sr_op_table[op].inverse(v);
    return isfinite(*z);
}

int sr_op_find(const char *key, const char *name, int arity, enum sr_op *op)
{
    struct orr_nearest nearest = {0};
    char known[512] = "";
    size_t length = 0;
    if (!strcmp(name, "ln"))
        name = "log";
    for (int i = SR_FEATURE + 1; i < SR_OPS; i++) {
        const char *const other = sr_op_table[i].name;
        if (sr_op_table[i].arity != arity)
            continue;
        if (!strcmp(other, name)) {
            *op = (enum sr_op)i;
            return 0;
        }
        orr_nearest_offer(&nearest, name, other);
        if (length < sizeof known)
            length += (size_t)snprintf(known + length, sizeof known - length, "%s%s",
                                       length ? "|" : "", other);
    }
    return ORR_FAIL(ORR_EUSAGE, "%s: no %s operator \"%s\"; %s%s%s", key,
                    arity == 2 ? "binary" : "unary", name,
                    nearest.name ? "did you mean \"" : "expected a list A,B of some of ",
                    nearest.name ? nearest.name : known, nearest.name ? "\"?" : "");
}

bool sr_op_seek(const struct sr_language *language, const char *name, enum sr_op *op,
                struct orr_nearest *nearest)
{
    for (int i = SR_FEATURE + 1; sr_op_known(language, i); i++) {
        const char *const known = sr_op(language, i)->name;
        if (!strcmp(known, name)) {
            *op = (enum sr_op)i;
            return true;
        }
        if (nearest)
            orr_nearest_offer(nearest, name, known);
    }
    return false;
}

int sr_feature_find(const char *name, const char *const *names, int features,
                    struct orr_nearest *nearest)
{
    for (int f = 0; f < features; f++) {
        if (!strcmp(names[f], name))
            return f;
        if (nearest)
            orr_nearest_offer(nearest, name, names[f]);
    }
    return -1;
}

/* ---- values by the scalar operators */

double sr_expr_value(const struct sr_language *language, const struct sr_expr *expr, int first,
                     int last, double a, double b)
{
    double stack[SR_NODES / 2 + 1] = {0};
    int depth = 0;
    for (int i = first; i <= last; i++) {
        const struct sr_node *node = &expr->node[i];
        if (node->op == SR_CONSTANT) {
            stack[depth++] = node->value;
        } else if (node->op == SR_FEATURE) {
            stack[depth++] = node->feature ? b : a;
        } else {
            depth -= sr_expr_arity(expr, i);
            const double right = stack[depth + sr_expr_arity(expr, i) - 1];
            stack[depth] = sr_op_value(language, (enum sr_op)node->op, stack[depth], right);
            if (isnan(stack[depth++])) /* min and max would hide it */
                return NAN;
        }
    }
    return stack[0];
}

double sr_op_value(const struct sr_language *language, enum sr_op op, double a, double b)
{
    if ((int)op < SR_CUSTOM)
        return sr_op_table[op].value(a, b);
    const struct sr_expr *formula = sr_op_formula(language, (int)op);
    return sr_expr_value(language, formula, 0, formula->count - 1, a, b);
}
