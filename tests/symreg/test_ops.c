/* test_ops.c - operators and evaluation: values against libm, derivatives against differences,
 * every length of a tile, every number of tiles. */
#include "symreg/formulas.h"

#include <float.h>

enum { POINTS = 4000 };

/* E - e sin E, where the difference does not cancel, with a series where it would. */
static long double kepler_left(long double E, long double e)
{
    long double term = E, rest = 0;
    if (E > 0.5L)
        return E - e * sinl(E);
    for (int k = 2; k < 30; k += 2)
        rest -= term *= -E * E / (k * (k + 1));
    return (1 - e) * E + e * rest;
}

/* By bisection. *turn: the whole turns of M, left: what M has beyond them. */
static long double by_bisection(double M, long double e, long double *turn, long double *left)
{
    const long double whole = 2 * acosl(-1);
    *turn = whole * rintl((long double)M / whole);
    *left = (long double)M - *turn;
    long double low = 0, high = whole / 2, middle = 0;
    for (int k = 0; k < 120; k++) {
        middle = (low + high) / 2;
        if (kepler_left(middle, e) < fabsl(*left))
            low = middle;
        else
            high = middle;
    }
    return *left != 0 ? copysignl(middle, *left) : 0;
}

static double anomaly(bool is_true, double M, double e)
{
    long double turn, left;
    if (!(e >= 0 && e < 1) || !isfinite(M))
        return NAN;
    const long double E = by_bisection(M, e, &turn, &left);
    const long double nu = 2 * atan2l(sqrtl(1 + (long double)e) * sinl(E / 2),
                                      sqrtl(1 - (long double)e) * cosl(E / 2));
    return (double)(turn + (is_true ? nu : E));
}

static bool is_anomaly(int op)
{
    return op == SR_TRUE_ANOMALY || op == SR_ECCENTRIC_ANOMALY;
}

/* The operators once more, written independently of the table. */
static double by_libm(enum sr_op op, double a, double b)
{
    switch (op) {
    case SR_ADD:
        return a + b;
    case SR_SUB:
        return a - b;
    case SR_MUL:
        return a * b;
    case SR_DIV:
        return a / b;
    case SR_POW:
        return pow(a, b);
    case SR_MIN:
        return fmin(a, b);
    case SR_MAX:
        return fmax(a, b);
    case SR_NEG:
        return -a;
    case SR_INV:
        return 1 / a;
    case SR_SQUARE:
        return a * a;
    case SR_CUBE:
        return a * a * a;
    case SR_SQRT:
        return sqrt(a);
    case SR_ABS:
        return fabs(a);
    case SR_EXP:
        return exp(a);
    case SR_LOG:
        return log(a);
    case SR_SIN:
        return sin(a);
    case SR_COS:
        return cos(a);
    case SR_TAN:
        return tan(a);
    case SR_ASIN:
        return asin(a);
    case SR_ACOS:
        return acos(a);
    case SR_ATAN:
        return atan(a);
    case SR_SINH:
        return sinh(a);
    case SR_COSH:
        return cosh(a);
    case SR_TANH:
        return tanh(a);
    case SR_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : 0;
    case SR_HYPOT:
        return hypot(a, b);
    case SR_ATAN2:
        return atan2(a, b);
    case SR_CBRT:
        return cbrt(a);
    case SR_LOG10:
        return log10(a);
    case SR_FLOOR:
        return floor(a);
    case SR_ROUND: { /* halves to even */
        const double down = floor(a), rest = a - down;
        return rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0) ? down + 1 : down;
    }
    case SR_MOD:
        return a - b * floor(a / b);
    case SR_GREATER:
        return a > b;
    case SR_COND:
        return a > 0 ? b : 0;
    case SR_TRUE_ANOMALY:
    case SR_ECCENTRIC_ANOMALY:
        return anomaly(op == SR_TRUE_ANOMALY, a, b);
    default:
        fail_msg("operator %d is not tested", (int)op);
        return NAN;
    }
}

/* Numbers of all sizes and both signs, small integers among them. */
static double awkward(gsl_rng *rng, int k)
{
    const double size = k % 5 == 0   ? gsl_ran_gaussian(rng, 1)
                        : k % 5 == 1 ? 1e3 * gsl_ran_gaussian(rng, 1)
                        : k % 5 == 2 ? exp(gsl_ran_gaussian(rng, 8))
                        : k % 5 == 3 ? floor(6 * gsl_rng_uniform(rng)) - 3
                                     : -exp(gsl_ran_gaussian(rng, 4));
    return size;
}

/* The functions are the engine's own and may round differently. */
static double allowed(enum sr_op op, double value)
{
    switch (op) {
    case SR_POW:
    case SR_EXP:
    case SR_LOG:
    case SR_SIN:
    case SR_COS:
    case SR_TAN:
    case SR_ASIN:
    case SR_ACOS:
    case SR_ATAN:
    case SR_SINH:
    case SR_COSH:
    case SR_TANH:
    case SR_HYPOT:
    case SR_ATAN2:
    case SR_CBRT:
    case SR_LOG10:
    case SR_TRUE_ANOMALY:
    case SR_ECCENTRIC_ANOMALY:
        return 4 * DBL_EPSILON * fabs(value) + DBL_TRUE_MIN;
    default:
        return 0;
    }
}

TEST(values_are_those_of_libm)
{
    gsl_rng *rng = random_stream(11);
    for (int op = SR_FEATURE + 1; op < SR_OPS; op++)
        for (int k = 0; k < POINTS; k++) {
            double a = awkward(rng, k), b = awkward(rng, k / 5), out;
            if (op == SR_EXP)
                a = 708 * (2 * gsl_rng_uniform(rng) - 1);
            if (is_anomaly(op) && k % 4)
                b = k % 4 == 1 ? 1 - exp(gsl_ran_gaussian(rng, 8) - 20) : gsl_rng_uniform(rng);
            const double expected = by_libm((enum sr_op)op, a, b);
            const bool finite = sr_op_apply(NULL, (enum sr_op)op, 1, &a, &b, &out);
            if (finite != (isfinite(expected) != 0))
                fail_msg("%s(%.17g, %.17g): finite is %d", sr_op_table[op].name, a, b, finite);
            if (finite && !(fabs(out - expected) <= allowed((enum sr_op)op, expected)))
                fail_msg("%s(%.17g, %.17g) is %.17g, expected %.17g", sr_op_table[op].name, a, b,
                         out, expected);
            const double scalar = sr_op_table[op].value(a, b);
            if (!finite)
                assert_true(!isfinite(scalar));
            else
                assert_true(scalar >= out && scalar <= out); /* the same bits */
        }
    gsl_rng_free(rng);
}

TEST(large_angles_are_exact)
{
    /* the last is the double closest to an odd multiple of pi / 2 */
    static const double angle[] = {999999.999, 1e6,   1000000.5, 1e9,    3e15,
                                   1e22,       1e300, 0,         1e-310, 0x1.6ac5b262ca1ffp+849};
    for (size_t k = 0; k < sizeof angle / sizeof *angle; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double a = sign * angle[k], out, d;
            const double one = 1;
            assert_true(sr_op_apply(NULL, SR_SIN, 1, &a, &a, &out));
            assert_true(fabs(out - sin(a)) <= 2 * DBL_EPSILON);
            sr_op_chain(NULL, SR_SIN, 0, 1, &a, &a, &out, &one, &d);
            assert_true(fabs(d - cos(a)) <= 2 * DBL_EPSILON);
            assert_true(sr_op_apply(NULL, SR_COS, 1, &a, &a, &out));
            const double cosine = (double)cosl((long double)a);
            assert_true(fabs(out - cosine) <= 3 * DBL_EPSILON * fabs(cosine));
            sr_op_chain(NULL, SR_COS, 0, 1, &a, &a, &out, &one, &d);
            assert_true(fabs(d + sin(a)) <= 2 * DBL_EPSILON);
        }
}

static void one_is(enum sr_op op, double a, double b, bool finite, double expected)
{
    double out = 77;
    if (sr_op_apply(NULL, op, 1, &a, &b, &out) != finite)
        fail_msg("%s(%g, %g): finite is %d", sr_op_table[op].name, a, b, !finite);
    if (finite && !(out >= expected && out <= expected))
        fail_msg("%s(%g, %g) is %.17g, expected %.17g", sr_op_table[op].name, a, b, out, expected);
}

TEST(domains_end_where_they_should)
{
    one_is(SR_DIV, 1, 0, false, 0);
    one_is(SR_DIV, 0, 0, false, 0);
    one_is(SR_DIV, DBL_MAX, 0.5, false, 0);
    one_is(SR_INV, 0, 0, false, 0);
    one_is(SR_INV, -0.0, 0, false, 0);
    one_is(SR_INV, DBL_MIN, 0, true, 1 / DBL_MIN);
    one_is(SR_INV, DBL_TRUE_MIN, 0, false, 0);
    one_is(SR_SQRT, 0, 0, true, 0);
    one_is(SR_SQRT, -DBL_TRUE_MIN, 0, false, 0);
    one_is(SR_LOG, 0, 0, false, 0);
    one_is(SR_LOG, -1, 0, false, 0);
    one_is(SR_LOG, 1, 0, true, 0);
    one_is(SR_POW, 0, 0, true, 1);
    one_is(SR_POW, 0, -1, false, 0);
    one_is(SR_POW, -2, 3, true, -8);
    one_is(SR_POW, -2, 0.5, false, 0);
    one_is(SR_POW, 10, 309, false, 0);
    one_is(SR_EXP, 710, 0, false, 0);
    one_is(SR_EXP, 1e6, 0, false, 0);
    one_is(SR_EXP, -1e6, 0, true, 0);
    one_is(SR_EXP, -800, 0, true, 0);
    one_is(SR_EXP, 0, 0, true, 1);
    one_is(SR_SQUARE, 1e200, 0, false, 0);
    one_is(SR_CUBE, -1e103, 0, false, 0);
    one_is(SR_ADD, DBL_MAX, DBL_MAX, false, 0);
    one_is(SR_MUL, 1e200, -1e200, false, 0);
    one_is(SR_SIGN, -0.0, 0, true, 0);
    one_is(SR_TANH, 1e6, 0, true, 1);
    one_is(SR_HYPOT, 0, -0.0, true, 0);
    one_is(SR_HYPOT, -3e300, 4e300, true, 5e300);
    one_is(SR_HYPOT, 3e-310, -4e-310, true, hypot(3e-310, 4e-310));
    one_is(SR_HYPOT, DBL_MAX, DBL_MAX, false, 0);
    one_is(SR_ATAN2, 0, 0, true, 0);
    one_is(SR_ATAN2, 0, -1, true, 3.1415926535897931);
    one_is(SR_ATAN2, -1, 0, true, -1.5707963267948966);
    one_is(SR_ATAN2, 1e300, -1e300, true, 2.3561944901923448);
    one_is(SR_ATAN2, DBL_TRUE_MIN, 1, true, DBL_TRUE_MIN);
    one_is(SR_CBRT, 0, 0, true, 0);
    one_is(SR_CBRT, -27, 0, true, -3);
    one_is(SR_CBRT, 1e300, 0, true, 1e100);
    one_is(SR_LOG10, 0, 0, false, 0);
    one_is(SR_LOG10, -1, 0, false, 0);
    for (int power = -300; power <= 300; power += 25) { /* what stands for 10^power in decimals */
        char text[16];
        snprintf(text, sizeof text, "1e%d", power);
        one_is(SR_LOG10, strtod(text, NULL), 0, true, power);
    }
    for (int op = SR_FEATURE + 1; op < SR_OPS;
         op++) { /* infinities never come out finite wrongly */
        double nan = NAN, one = 1, out;
        if (op != SR_MIN && op != SR_MAX && op != SR_SIGN && op != SR_GREATER &&
            op != SR_COND) /* comparisons take no NaN in */
            assert_false(sr_op_apply(NULL, (enum sr_op)op, 1, &nan, &one, &out));
    }
}

/* One bad row is seen wherever it stands, and `out` may be an operand. */
TEST(tiles_of_every_length)
{
    static const int length[] = {1, 2, 7, 8, 9, 31, 127, 128, SR_TILE};
    gsl_rng *rng = random_stream(12);
    double a[SR_TILE + 1], b[SR_TILE + 1], out[SR_TILE + 1];
    for (int op = SR_FEATURE + 1; op < SR_OPS; op++)
        for (size_t l = 0; l < sizeof length / sizeof *length; l++) {
            const int n = length[l];
            for (int i = 0; i <= SR_TILE; i++) {
                a[i] = (op == SR_ASIN || op == SR_ACOS ? 0 : 0.1) + gsl_rng_uniform(rng);
                b[i] = 0.1 + (is_anomaly(op) ? 0.8 : 3) * gsl_rng_uniform(rng);
                out[i] = -99;
            }
            assert_true(sr_op_apply(NULL, (enum sr_op)op, n, a, b, out));
            for (int i = 0; i < n; i++) {
                const double expected = by_libm((enum sr_op)op, a[i], b[i]);
                assert_true(fabs(out[i] - expected) <= allowed((enum sr_op)op, expected));
            }
            assert_true(out[n] == -99); /* nothing behind the end */
            double in_a[SR_TILE], in_b[SR_TILE];
            memcpy(in_a, a, sizeof in_a);
            memcpy(in_b, b, sizeof in_b);
            assert_true(sr_op_apply(NULL, (enum sr_op)op, n, in_a, b, in_a));
            assert_memory_equal(in_a, out, (size_t)n * sizeof *out);
            if (sr_op_table[op].arity == 2) {
                assert_true(sr_op_apply(NULL, (enum sr_op)op, n, a, in_b, in_b));
                assert_memory_equal(in_b, out, (size_t)n * sizeof *out);
            }
        }
    for (size_t l = 0; l < sizeof length / sizeof *length; l++)
        for (int bad = 0; bad < length[l]; bad++) {
            for (int i = 0; i < length[l]; i++)
                a[i] = i == bad ? 0 : 1.5;
            assert_false(sr_op_apply(NULL, SR_INV, length[l], a, a, out));
            assert_true(sr_op_apply(NULL, SR_SQRT, length[l], a, a, out));
        }
    gsl_rng_free(rng);
}

/* Against central differences, away from kinks, times the outer derivative. */
TEST(derivatives_are_slopes)
{
    gsl_rng *rng = random_stream(13);
    for (int op = SR_FEATURE + 1; op < SR_OPS; op++)
        for (int k = 0; k < 400; k++) {
            double a[SR_TILE], b[SR_TILE], v[SR_TILE], outer[SR_TILE], d[SR_TILE];
            const int n = 1 + k % SR_TILE, i = k % n;
            const bool positive = op == SR_SQRT || op == SR_LOG || op == SR_LOG10 || op == SR_POW;
            for (int j = 0; j < n; j++) {
                a[j] = (positive || k % 2 ? 1 : -1) * (0.2 + 2 * gsl_rng_uniform(rng));
                b[j] = (k % 3 ? 1 : -1) * (0.2 + 2 * gsl_rng_uniform(rng));
                if (fabs(a[j] - b[j]) < 0.01)
                    b[j] += 0.02;
                if (op == SR_ASIN || op == SR_ACOS)
                    a[j] *= 0.4;
                if (is_anomaly(op)) {
                    a[j] *= 4;
                    b[j] = 0.4 * fabs(b[j]);
                }
                if (op == SR_TAN && fabs(cos(a[j])) < 0.1)
                    a[j] = 0.3;
                outer[j] = gsl_ran_gaussian(rng, 2);
            }
            assert_true(sr_op_apply(NULL, (enum sr_op)op, n, a, b, v));
            for (int operand = 0; operand < sr_op_table[op].arity; operand++) {
                const double h = 1e-5 * (operand ? fabs(b[i]) : fabs(a[i]));
                const double ha = operand ? 0 : h, hb = operand ? h : 0;
                const double slope = (by_libm((enum sr_op)op, a[i] + ha, b[i] + hb) -
                                      by_libm((enum sr_op)op, a[i] - ha, b[i] - hb)) /
                                     (2 * h);
                sr_op_chain(NULL, (enum sr_op)op, operand, n, a, b, v, outer, d);
                if (!(fabs(d[i] - outer[i] * slope) <= 1e-6 * fabs(outer[i]) * (1 + fabs(slope))))
                    fail_msg("d %s / d %c at (%g, %g): %.9g, expected %.9g", sr_op_table[op].name,
                             "ab"[operand], a[i], b[i], d[i] / outer[i], slope);
                double (*scalar)(double, double, double) =
                    operand ? sr_op_table[op].db : sr_op_table[op].da;
                assert_true(fabs(outer[i] * scalar(a[i], b[i], v[i]) - d[i]) <=
                            1e-14 * (1 + fabs(d[i])));
            }
        }
    gsl_rng_free(rng);
}

TEST(operators_are_found_by_name)
{
    for (int i = SR_FEATURE + 1; i < SR_OPS; i++) {
        enum sr_op op = SR_CONSTANT;
        assert_int_equal(sr_op_find("k", sr_op_table[i].name, sr_op_table[i].arity, &op), 0);
        assert_int_equal(op, i);
        assert_int_equal(sr_op_find("k", sr_op_table[i].name, 3 - sr_op_table[i].arity, &op),
                         ORR_EUSAGE);
    }
    enum sr_op op;
    assert_int_equal(sr_op_find("k", "ln", 1, &op), 0);
    assert_int_equal(op, SR_LOG);
    assert_int_equal(sr_op_find("symreg.unary", "sqr", 1, &op), ORR_EUSAGE);
    error_names("symreg.unary", "unary", "\"sqr\"", "\"sqrt\"", NULL);
    assert_int_equal(sr_op_find("symreg.binary", "plusminus", 2, &op), ORR_EUSAGE);
    error_names("symreg.binary", "binary", "\"plusminus\"", "+|-|*|/", NULL);
    assert_int_equal(sr_op_find("symreg.unary", "constant", 0, &op), ORR_EUSAGE);
}

/* ---- whole formulas */

static const size_t row_counts[] = {1, 2, 127, 128, 129, 256, 1000};

TEST(evaluates_like_the_scalar_operators)
{
    gsl_rng *rng = random_stream(14);
    int finite = 0, not_finite = 0;
    for (size_t l = 0; l < sizeof row_counts / sizeof *row_counts; l++) {
        struct table t;
        const size_t rows = row_counts[l];
        table_create(&t, rows, 20 + l, true);
        double *value = orr_alloc(rows + 1, sizeof *value);
        assert_non_null(value);
        for (int k = 0; k < 150; k++) {
            const struct sr_expr expr = random_formula(rng, 1 + k % 25);
            bool all = true;
            value[rows] = 99;
            const bool ok = sr_eval(&expr, &t.data, value);
            for (size_t i = 0; i < rows; i++) {
                const double expected = value_by_hand(&expr, &t.data, i);
                all = all && isfinite(expected);
                if (ok && !(value[i] >= expected && value[i] <= expected))
                    fail_msg("%s, row %zu of %zu: %.17g, expected %.17g", text_of(&expr), i, rows,
                             value[i], expected);
            }
            assert_int_equal(ok, all);
            assert_true(value[rows] == 99);
            finite += ok;
            not_finite += !ok;
        }
        free(value);
        table_free(&t);
    }
    assert_true(finite > 300 && not_finite > 100);
    gsl_rng_free(rng);
}

TEST(evaluates_leaves)
{
    struct table t;
    table_create(&t, 129, 9, true);
    double value[129], jacobian[129];
    struct sr_expr expr = formula("m2");
    assert_true(sr_eval(&expr, &t.data, value));
    assert_memory_equal(value, t.x + 2 * 129, sizeof value);
    assert_true(sr_eval_jacobian(&expr, &t.data, value, jacobian));
    assert_memory_equal(value, t.x + 2 * 129, sizeof value);
    expr = formula("-1.25");
    assert_true(sr_eval(&expr, &t.data, value));
    assert_true(sr_eval_jacobian(&expr, &t.data, value, jacobian));
    for (int i = 0; i < 129; i++)
        assert_true(value[i] == -1.25 && jacobian[i] == 1);
    expr.node[0].value = INFINITY;
    assert_false(sr_eval(&expr, &t.data, value));
    assert_false(sr_eval_jacobian(&expr, &t.data, value, jacobian));
    table_free(&t);
}

/* Any row that is not finite is seen, in the first tile or the last. */
TEST(sees_every_bad_row)
{
    struct table t;
    table_create(&t, 300, 10, true);
    double value[300], jacobian[300];
    const struct sr_expr expr = formula("2 + inv(r)");
    for (size_t bad = 0; bad < 300; bad++) {
        const double kept = t.x[bad];
        t.x[bad] = 0;
        assert_false(sr_eval(&expr, &t.data, value));
        assert_false(sr_eval_jacobian(&expr, &t.data, value, jacobian));
        t.x[bad] = kept;
    }
    assert_true(sr_eval(&expr, &t.data, value));
    table_free(&t);
}

/* A node may be infinite where the formula is finite, as in C; a formula that is infinite, or has a
 * NaN anywhere, is bad, also where the operator above it would hide that. */
TEST(infinities_do_not_get_lost)
{
    static const struct {
        const char *text;
        double value; /* INFINITY: m1 */
    } good[] = {
        {"inv(exp(900 * m1))", 0},
        {"exp(-exp(900 * m1))", 0},
        {"atan(exp(900 * m1))", 1.57079632679489662},
        {"tanh(exp(900 * m1))", 1},
        {"sign(exp(900 * m1))", 1},
        {"min(m1, exp(900 * m1))", INFINITY},
        {"min(exp(900 * m1), m1)", INFINITY},
        {"max(-exp(900 * m1), m1)", INFINITY},
        {"max(m1, -exp(900 * m1))", INFINITY},
        {"m1 / exp(900 * m1)", 0},
        {"exp(900 * m1) ^ -1", 0},
        {"0.5 ^ exp(900 * m1)", 0},
        {"sign(log(m1 - m1))", -1},
        {"tanh(inv(m1 - m1))", 1},
    };
    static const char *const bad[] = {
        "exp(900 * m1)",
        "m1 * exp(900 * m1)",
        "log(m1 - m1)",
        "inv(m1 - m1)",
        "sin(exp(900 * m1))",
        "(m1 - m1) * exp(900 * m1)",
        "exp(900 * m1) - exp(901 * m1)",
        "min(m1, exp(900 * m1) - exp(901 * m1))",
        "max(exp(900 * m1) / exp(901 * m1), m1)",
        "sign((m1 - m1) * exp(900 * m1))",
        "atan2(sin(exp(900 * m1)), m1)",
    };
    struct table t;
    table_create(&t, 700, 41, true);
    for (size_t i = 0; i < 700; i++)
        t.x[700 + i] += 1; /* beyond the overflow of exp in every row */
    double value[700], jacobian[8 * 700], scale;
    struct sr_work work;
    struct sr_loss loss;
    assert_int_equal(sr_work_init(&work, 700, 20), 0);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L1, &t.data), 0);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const struct sr_expr expr = formula(bad[k]);
        if (sr_eval(&expr, &t.data, value) || sr_eval_jacobian(&expr, &t.data, value, jacobian) ||
            sr_eval_loss(&expr, &loss, &work, &scale) < HUGE_VAL)
            fail_msg("%s is taken for finite", bad[k]);
    }
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        const struct sr_expr expr = formula(good[k].text);
        if (!sr_eval(&expr, &t.data, value) ||
            !(sr_eval_loss(&expr, &loss, &work, &scale) < HUGE_VAL))
            fail_msg("%s is not taken for finite", good[k].text);
        for (size_t i = 0; i < 700; i++) {
            const double expected = isinf(good[k].value) ? t.x[700 + i] : good[k].value;
            if (!(fabs(value[i] - expected) <= 1e-15 * fabs(expected)))
                fail_msg("%s: expected %.17g, found %.17g", good[k].text, expected, value[i]);
        }
    }
    sr_loss_free(&loss);
    sr_work_free(&work);
    table_free(&t);
}

static void jacobian_of(const char *text, const struct table *t)
{
    struct sr_expr expr = formula(text);
    const size_t rows = t->data.rows;
    double constants[SR_NODES], moved[SR_NODES];
    const int n = sr_expr_constants(&expr, constants);
    double *value = orr_alloc((size_t)(n + 4) * rows, sizeof *value);
    assert_non_null(value);
    double *plain = value + rows, *up = plain + rows, *down = up + rows, *jacobian = down + rows;
    assert_true(sr_eval(&expr, &t->data, plain));
    assert_true(sr_eval_jacobian(&expr, &t->data, value, jacobian));
    assert_memory_equal(value, plain, rows * sizeof *value);
    for (int c = 0; c < n; c++) {
        const double h = 1e-5 * fmax(fabs(constants[c]), 0.1);
        memcpy(moved, constants, sizeof moved);
        moved[c] = constants[c] + h;
        sr_expr_set_constants(&expr, moved);
        assert_true(sr_eval(&expr, &t->data, up));
        moved[c] = constants[c] - h;
        sr_expr_set_constants(&expr, moved);
        assert_true(sr_eval(&expr, &t->data, down));
        sr_expr_set_constants(&expr, constants);
        for (size_t i = 0; i < rows; i++) {
            const double slope = (up[i] - down[i]) / (2 * h);
            const double found = jacobian[(size_t)c * rows + i];
            if (!(fabs(found - slope) <= 1e-6 * (fabs(slope) + fabs(value[i]) + 1e-3)))
                fail_msg("%s: d / d constant %d in row %zu: %.9g, expected %.9g", text, c, i, found,
                         slope);
        }
    }
    free(value);
}

TEST(jacobian_is_that_of_differences)
{
    static const char *const text[] = {
        "39.48 * m1 * m2 / (r * r)",
        "inv(0.3 * r + 2) * (m1 - 1.5 * m2) + 0.7",
        "sin(1.3 * m2) * cos(0.2 + m1) - tan(0.1 * m1)",
        "exp(-0.4 * r) * log(2 * r + 1) / (3 + tanh(0.5 * m2))",
        "(r + 0.5) ^ (1.2 - 0.1 * m1)",
        "min(2 * m1, 0.9 * r) + max(0.5 * m2, 1.7 * m2 - 0.01)",
        "sqrt(r * 1.1) + cube(0.4 * m2) - square(m1 - 0.3) + abs(2 * m2) + sign(m2) * 3",
        "-(2.5 * r) / -(1.5 + m1)",
        "asin(0.3 * m1) - acos(0.1 - 0.4 * m1) * atan(0.7 * m2 + 0.1)",
        "sinh(0.4 * m2) + cosh(0.3 * m1 - 1) / 2.5",
        "2 ^ (0.3 * m2) + sin(3 * 4 - 2) * m1",
        "1.5 * (2.5 * (3.5 * (4.5 * (5.5 + r * 0.1))))",
    };
    for (size_t l = 0; l < sizeof row_counts / sizeof *row_counts; l++) {
        struct table t;
        table_create(&t, row_counts[l], 40, true);
        for (size_t k = 0; k < sizeof text / sizeof *text; k++)
            jacobian_of(text[k], &t);
        table_free(&t);
    }
}

TEST(inverses_invert)
{
    static const double value[] = {0.13, 0.385, 0.77};
    int inverses = 0;
    for (int op = 0; op < SR_OPS; op++)
        for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
            double z;
            if (!sr_op_invert((enum sr_op)op, value[k], &z))
                continue;
            const double back = op == SR_CONSTANT ? z : sr_op_table[op].value(z, 0);
            assert_true(near(back, value[k], 1e-12));
            inverses++;
        }
    double z;
    assert_true(inverses >= 3 * 8); /* a new operator may have one, too */
    assert_false(sr_op_invert(SR_SIN, 0.5, &z) || sr_op_invert(SR_SQRT, -1, &z) ||
                 sr_op_invert(SR_INV, 0, &z) || sr_op_invert(SR_EXP, -1, &z));
}

TESTS(NULL, NULL)
