/* test_ops_table.c - what ops_table.h says of each operator beside its value is true of its value:
 * symmetries, inverses, powers and dimensions, and nothing that is true is left out. */
#include <math.h>

#include "testing.h"
#include "formula/expr.h"

/* Operands of both signs, within and beyond the domains of roots and arcs. */
static const double point[] = {-3.385, -0.77, -0.385, 0.13, 0.61, 2.25, 4.77};
enum { POINTS = sizeof point / sizeof *point };

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * (fabs(a) + fabs(b)) / 2 + 1e-300;
}

/* Whether two values are equal up to rounding; a point where one is not finite decides nothing. */
static void compare(double found, double expected, int *equal, int *different)
{
    if (!isfinite(found) || !isfinite(expected))
        return;
    *(fabs(found - expected) <= 1e-12 * (1 + fabs(expected)) ? equal : different) += 1;
}

static double value(int op, double a, double b)
{
    return sr_op_table[op].value(a, b);
}

static void says(int op, const char *what, bool said, int equal, int different)
{
    const bool is = equal > 1 && different == 0;
    if (said != is)
        fail_msg("%s: %s is said to be %s; %d points agree, %d do not", sr_op_table[op].name, what,
                 said ? "true" : "false", equal, different);
}

TEST(symmetries_are_those_of_the_values)
{
    for (int op = SR_FEATURE + 1; op < SR_OPS; op++) {
        int commutes = 0, not_commuting = 0, odd = 0, not_odd = 0, even = 0, not_even = 0;
        for (int i = 0; i < POINTS; i++) {
            const double v = value(op, point[i], 0), mirrored = value(op, -point[i], 0);
            compare(mirrored, -v, &odd, &not_odd);
            compare(mirrored, v, &even, &not_even);
            for (int k = 0; k < POINTS; k++)
                compare(value(op, point[i], point[k]), value(op, point[k], point[i]), &commutes,
                        &not_commuting);
        }
        const unsigned traits = sr_op_table[op].traits;
        if (sr_op_table[op].arity == 2) {
            says(op, "a op b = b op a", traits & SR_COMMUTES, commutes, not_commuting);
            assert_false(traits & (SR_ODD | SR_EVEN));
        } else {
            says(op, "op(-a) = -op(a)", traits & SR_ODD, odd, not_odd);
            says(op, "op(-a) = op(a)", traits & SR_EVEN, even, not_even);
            assert_false(traits & SR_COMMUTES);
        }
    }
}

/* The functions f of an operator with op(f(a)) = a at every point where f is defined. */
TEST(functions_undo_each_other)
{
    for (int op = SR_UNARY; op < SR_OPS; op++)
        for (int f = SR_UNARY; f < SR_OPS; f++) {
            int equal = 0, different = 0;
            if (sr_op_table[op].units != SR_UNITS_NUMBERS ||
                sr_op_table[f].units != SR_UNITS_NUMBERS || sr_op_table[op].arity == 2 ||
                sr_op_table[f].arity == 2)
                continue;
            for (int i = 0; i < POINTS; i++)
                compare(value(op, value(f, point[i], 0), 0), point[i], &equal, &different);
            says(op, sr_op_table[f].name, (int)sr_op_table[op].undoes == f, equal, different);
        }
}

TEST(powers_are_powers)
{
    int powers = 0;
    for (int op = SR_FEATURE + 1; op < SR_OPS; op++) {
        const double power = sr_op_table[op].power;
        assert_int_equal(power != 0, sr_op_table[op].units == SR_UNITS_RAISED);
        for (int i = 0; i < POINTS && power != 0; i++)
            if (point[i] > 0)
                assert_true(near(value(op, point[i], 0), pow(point[i], power), 1e-14));
        powers += power != 0;
    }
    assert_int_equal(powers, 5);
}

/* By what a value is multiplied when a is multiplied by p and b by q; NaN where that depends on the
 * point. */
static double factor(int op, double p, double q)
{
    double found = NAN;
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < POINTS; k++) {
            const double v = value(op, point[i], point[k]);
            const double ratio = value(op, p * point[i], q * point[k]) / v;
            if (!isfinite(ratio))
                continue;
            if (isfinite(found) && !near(ratio, found, 1e-12))
                return NAN;
            found = ratio;
        }
    return found;
}

#define UNIT 1.25 /* keeps most points within the domain of arcs */

/* Another unit of an operand multiplies it; the value follows as the dimensions say. */
TEST(dimensions_follow_the_values)
{
    for (int op = SR_FEATURE + 1; op < SR_OPS; op++) {
        const struct sr_op_info *info = &sr_op_table[op];
        const bool binary = info->arity == 2;
        const double a = factor(op, UNIT, 1), b = factor(op, 1, UNIT),
                     both = factor(op, UNIT, UNIT);
        bool right = false;
        switch (info->units) {
        case SR_UNITS_ALIKE:
            right = binary && near(both, UNIT, 1e-12) && isnan(a) && isnan(b);
            break;
        case SR_UNITS_RATIO:
            /* (one operand alone changes the steps of greater at few points) */
            right = binary && near(both, 1, 1e-12) && (op == SR_GREATER || (isnan(a) && isnan(b)));
            break;
        case SR_UNITS_PRODUCT:
            right = binary && near(a, UNIT, 1e-12) && near(b, UNIT, 1e-12);
            break;
        case SR_UNITS_QUOTIENT:
            right = binary && near(a, UNIT, 1e-12) && near(b, 1 / UNIT, 1e-12);
            break;
        case SR_UNITS_POWER:
            right = binary && isnan(a) && isnan(b);
            for (int i = 0; i < POINTS; i++)
                right = right && near(value(op, UNIT * 0.61, point[i]),
                                      pow(UNIT, point[i]) * value(op, 0.61, point[i]), 1e-12);
            break;
        case SR_UNITS_RAISED:
            right = !binary && near(a, pow(UNIT, info->power), 1e-12);
            break;
        case SR_UNITS_KEPT:
            right = !binary && near(a, UNIT, 1e-12);
            break;
        case SR_UNITS_SECOND:
            right = binary && near(a, 1, 1e-12) && near(b, UNIT, 1e-12) && near(both, UNIT, 1e-12);
            break;
        case SR_UNITS_LOST:
            right = !binary && near(a, 1, 1e-12);
            break;
        case SR_UNITS_NUMBERS:
            right = isnan(a) && isnan(both);
            break;
        }
        if (!right)
            fail_msg("%s: dimensions of class %d, factors %g %g %g", info->name, (int)info->units,
                     a, b, both);
    }
}

/* Checkpoints hold an operator's place. */
TEST(places_stay)
{
    static const char *const name[] = {
        "constant",
        "feature",
        "+",
        "-",
        "*",
        "/",
        "^",
        "min",
        "max",
        "neg",
        "inv",
        "square",
        "cube",
        "sqrt",
        "abs",
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "sign",
        "hypot",
        "atan2",
        "cbrt",
        "log10",
        "floor",
        "round",
        "mod",
        "greater",
        "cond",
        "true_anomaly",
        "eccentric_anomaly",
    };
    assert_true(sizeof name / sizeof *name <= SR_OPS);
    for (size_t op = 0; op < sizeof name / sizeof *name; op++)
        assert_string_equal(sr_op_table[op].name, name[op]);
    assert_string_equal(sr_op_table[SR_UNARY].name, "neg");
    assert_int_equal(SR_CUSTOM, SR_OPS);
}

/* Each operator has a number of its own in hashes, which the rows after "sign" have not moved. */
TEST(codes_stay)
{
    uint64_t seen = 0;
    for (int op = 0; op < SR_ALL_OPS; op++) {
        const int code = sr_op_code(op);
        assert_in_range(code, 0, SR_ALL_OPS - 1);
        assert_false(seen >> code & 1);
        seen |= (uint64_t)1 << code;
    }
    assert_int_equal(sr_op_code(SR_SIGN), 26);
    assert_int_equal(sr_op_code(SR_CUSTOM), 27);
    assert_int_equal(sr_op_code(SR_HYPOT), 35);
}

TESTS(NULL, NULL)
