/* test_simplify.c - simplification keeps values, never grows, and knows the usual identities. */
#include "symreg/formulas.h"
#include "bench/symreg_same.h"

static void simplifies(const char *text, const char *simple)
{
    struct sr_expr expr = formula(text);
    sr_expr_simplify(NULL, &expr);
    if (strcmp(text_of(&expr), simple))
        fail_msg("%s became %s instead of %s", text, text_of(&expr), simple);
}

TEST(knows_the_usual_identities)
{
    static const char *const pair[][2] = {
        {"2 * 3 + 1", "7"},
        {"2 * (3 * r)", "(6 * r)"},
        {"2 + (r + 3)", "(r + 5)"},
        {"2 * (3 + r)", "(2 * (3 + r))"},
        {"2 * (3 * (4 * r))", "(24 * r)"},
        {"sin(inv(2) - 0.5) + r", "r"},
        {"3 * ((r * m1) * 2)", NULL},
        {"r * inv(r)", "1"},
        {"r - r", "0"},
        {"(r + m1) - r", "m1"},
        {"neg(neg(r))", "r"},
        {"inv(inv(r))", "r"},
        {"inv(r) * m1 / r + m1 / r", NULL},
        {"exp(log(r + 1))", "(r + 1)"},
        {"m2 * exp(log(r) + log(m1) - log(m2))", "(r * m1)"},
        {"exp(log(m1) - 2 * log(r)) / r", "(m1 / ((r * r) * r))"},
        {"exp(3 - log(r)) * r", "20.085536923187668"},
        {"log(exp(r * m1))", NULL},
        {"sin(neg(r)) + sin(r)", "0"},
        {"cos(neg(r)) - cos(r)", "0"},
        {"sinh(neg(r)) + sinh(r)", "0"},
        {"cosh(neg(r)) - cosh(r)", "0"},
        {"tanh(neg(r)) + tanh(r)", "0"},
        {"asin(neg(r)) + asin(r)", "0"},
        {"atan(neg(r)) + atan(r)", "0"},
        {"tan(neg(r)) + tan(r)", "0"},
        {"neg(sin(neg(asin(r))))", "r"},
        {"cos(acos(r * m1))", "(r * m1)"},
        {"tan(neg(atan(m1))) + m1", "0"},
        {"exp(r) * exp(neg(r))", "1"},
        {"square(sqrt(r))", "r"},
        {"(r + r + r) * m1 * 2", "(6 * (r * m1))"},
        {"abs(abs(r))", "abs(r)"},
        {"2 * r + 3 * r", "(5 * r)"},
        {"(m1 - m1) + (3 * r + (3 * m1 + 3 * sin(m2)))", "3 * (r + m1 + sin(m2))"},
        {"max(r, r)", "r"},
        {"cbrt(neg(r)) + cbrt(r)", "0"},
        {"hypot(neg(r), m1) - hypot(m1, r)", "0"},
        {"cube(cbrt(r + m1))", "(r + m1)"},
        {"r / cube(cbrt(m1))", "(r / m1)"},
    };
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
        struct sr_expr expr = formula(pair[k][0]);
        const int before = expr.count;
        if (pair[k][1]) {
            struct sr_expr best = formula(pair[k][1]);
            sr_expr_simplify(NULL, &expr);
            if (expr.count != best.count ||
                sr_expr_canonical_hash(NULL, &expr) != sr_expr_canonical_hash(NULL, &best))
                fail_msg("%s became %s instead of %s", pair[k][0], text_of(&expr), pair[k][1]);
        } else {
            sr_expr_simplify(NULL, &expr);
            assert_true(expr.count < before);
        }
    }
    simplifies("log(0 - 1) * r", "(log((0 - 1)) * r)"); /* not finite: left alone */
    simplifies("r + m1", "(r + m1)"); /* what can not be shorter stays as it is written */
    simplifies("m1 + r", "(m1 + r)");
    simplifies("sqrt(r * r)", "sqrt((r * r))"); /* not r: |r| */
    simplifies("asin(sin(r))", "asin(sin(r))"); /* nor these: r modulo turns */
    simplifies("cbrt(r * r)", "cbrt((r * r))"); /* not a power of a fraction: r may be negative */
    simplifies("square(cbrt(r))", "square(cbrt(r))");
    simplifies("acos(cos(r))", "acos(cos(r))");
    simplifies("acos(neg(r)) + acos(r)", "(acos(neg(r)) + acos(r))"); /* pi, which has no name */
}

/* Columns move into the sum that they multiply where that is shorter than what simplification
 * makes of the formula, as far as they divide its terms. */
TEST(moves_columns_into_sums)
{
    static const char *const pair[][2] = {
        {"m1 * (1 + r / m1)", "m1 + r"},
        {"3 * r * sqrt(1 + square(m1 / r))", "3 * sqrt(square(r) + square(m1))"},
        {"m2 * square(r) * (2 - 4 * cos(m2) * (m1 / r) + square(m1 / r))",
         "m2 * (2 * square(r) - 4 * (cos(m2) * m1 * r) + square(m1))"},
        {"m2 / sqrt(1 + m1 / r) / sqrt(r)", "m2 / sqrt(r + m1)"},
        {"square(r) * sqrt(1 + square(m1 / r))", "r * sqrt(square(r) + square(m1))"},
        {"square(r) * (1 + m1 / r)", "r * (r + m1)"},
        {"m1 * m2 * (1 + r / m1 + m2 * sin(r))", "m2 * (m1 + r + m1 * m2 * sin(r))"},
        {"m1 * (1 + r / m1) * m2 * (1 + r / m2)", "(m1 + r) * (m2 + r)"},
        {"r * (1 - m1 / r)", "r - m1"},
        {"m1 * sqrt(1.01 + square(r / m1) - 2.2 * (cos(m2) * r / m1))", /* no weight is taken out */
         "sqrt(1.01 * square(m1) + square(r) - 2.2 * (cos(m2) * m1 * r))"},
        {"r * sqrt(1.01 + square(m1 / r) - 2.2 * (cos(m2) * m1 / r))",
         "sqrt(1.01 * square(r) + square(m1) - 2.2 * (cos(m2) * m1 * r))"},
        {"m1 * (1 + r)", NULL},
        {"r * sqrt(1 + m1 / m2)", NULL},
        {"r + m1", NULL},
        {"sin(r) * (1 + r / sin(r))", NULL}, /* not a column */
        {"square(m1) * (m2 / m1 * (r + m1 * exp(r)))", NULL},
        {"m1 * (m2 * m1 / m1 * (r + m1 * m2))", NULL},
    };
    const double low[FEATURES] = {0.5, 0.5, 0.5}, high[FEATURES] = {5, 5, 5};
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
        const struct sr_expr before = formula(pair[k][0]);
        struct sr_expr expr = before, expected = formula(pair[k][pair[k][1] ? 1 : 0]);
        sr_expr_simplify(NULL, &expected);
        const bool moved = sr_expr_into_sum(NULL, &expr, sr_expr_operators(&before));
        if (moved != (pair[k][1] != NULL) || expr.count > expected.count)
            fail_msg("%s became %s", pair[k][0], text_of(&expr));
        assert_true(disagreement(&expr, &before, FEATURES, low, high, 1) < 1e-12);
    }
    struct sr_expr expr = formula("m1 * (1 + r / m1)");
    assert_false(sr_expr_into_sum(NULL, &expr, (uint64_t)1 << SR_MUL | (uint64_t)1 << SR_SUB));
}

/* Phases come to the period around 0 or around another formula's, those beside a factor where this
 * is asked for; fixed numbers and others stay. */
TEST(reduces_phases)
{
    static const struct {
        bool in_products;
        const char *from, *around, *to; /* NULL: as it is */
    } row[] = {
        {false, "sin(r + 7)", NULL, "sin(r + 0.7168146928204138)"},
        {false, "cos(-7 - r)", NULL, "cos(-0.7168146928204138 - r)"},
        {false, "tan(r - 4)", NULL, "tan(r - 0.8584073464102069)"},
        {false, "cos(-3.1 + r)", "cos(3.2 + r)", "cos(3.1831853071795862 + r)"},
        {true, "r * cos(2 * (m1 + 4))", NULL, "r * cos(2 * (m1 + 0.8584073464102069))"},
        {true, "sin((r - 7) / 0.5)", NULL, "sin((r - 0.7168146928204138) / 0.5)"},
        {true, "sin(r + 7)", NULL, "sin(r + 0.7168146928204138)"},
        {false, "sin((r - 7) / 0.5)", NULL, NULL},
        {false, "sin(3 + r)", NULL, NULL},
        {false, "sin(7 * r)", NULL, NULL},
        {true, "sin(0.5 / (r + 7))", NULL, NULL},
        {false, "exp(r + 7)", NULL, NULL},
        {true, "cos(0 * (r + 7))", NULL, NULL},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct sr_expr expr = formula(row[k].from);
        const struct sr_expr around = formula(row[k].around ? row[k].around : "r");
        const struct sr_expr expected = formula(row[k].to ? row[k].to : row[k].from);
        sr_expr_reduce_phases(&expr, row[k].around ? &around : NULL, row[k].in_products);
        bool same = expr.count == expected.count;
        for (int i = 0; i < expr.count && same; i++) {
            same = expr.node[i].op == expected.node[i].op;
            if (same && sr_is_number(&expr.node[i]))
                same = fabs(expr.node[i].value - expected.node[i].value) < 1e-14;
        }
        if (!same)
            fail_msg("%s became %s", row[k].from, text_of(&expr));
    }
    struct sr_expr fixed = formula("sin(r + 7)");
    for (int i = 0; i < fixed.count; i++)
        if (sr_is_number(&fixed.node[i]))
            fixed.node[i].feature = SR_FIXED;
    const struct sr_expr before = fixed;
    sr_expr_reduce_phases(&fixed, NULL, true);
    assert_memory_equal(&fixed, &before, sizeof fixed);
}

/* A sine as a cosine and the reverse, wherever the phase stands, and with opposite sign. */
TEST(exchanges_sine_and_cosine)
{
    static const char *const text[] = {"sin(r + 1.5)",        "cos(r - 0.5)",
                                       "sin(0.5 - r)",        "cos(2 * (m1 + 0.1))",
                                       "sin((m1 - 0.1) / 2)", "cos(3 * (0.1 - m1))"};
    const double low[FEATURES] = {0.5, 0.5, 0.5}, high[FEATURES] = {5, 5, 5};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        for (int to = 0; to < SR_WAVES; to++) {
            struct sr_expr expr = formula(text[k]), expected = expr;
            if (to != SR_OTHER) {
                sr_put_op(&expected, SR_NEG);
                assert_true(sr_expr_measure(NULL, &expected));
            }
            assert_true(sr_expr_exchange_wave(&expr, expr.count - 1, (enum sr_wave)to));
            if ((expr.node[expr.count - 1].op == formula(text[k]).node[expr.count - 1].op) !=
                    (to == SR_OPPOSITE) ||
                !(disagreement(&expr, &expected, FEATURES, low, high, 1) < 1e-12))
                fail_msg("%s became %s", text[k], text_of(&expr));
        }
    struct sr_expr none = formula("sin(2 * r) + tan(r + 1)");
    for (int i = 0; i < none.count; i++)
        assert_false(sr_expr_exchange_wave(&none, i, SR_OTHER));
}

/* Operators that are given besides are used where they make it shorter; others never. */
TEST(uses_only_the_operators_given)
{
    struct sr_expr expr = formula("m1 * inv(r)");
    const uint64_t with_division = sr_expr_operators(&expr) | (uint64_t)1 << SR_DIV;
    struct sr_expr same = expr;
    assert_false(sr_expr_rewrite(NULL, &same, sr_expr_operators(&expr)));
    assert_true(sr_expr_rewrite(NULL, &expr, with_division));
    assert_string_equal(text_of(&expr), "(m1 / r)");
    gsl_rng *rng = random_stream(8);
    for (int k = 0; k < 5000; k++) {
        struct sr_expr random = random_formula(rng, 3 + k % 40);
        const uint64_t before = sr_expr_operators(&random);
        sr_expr_simplify(NULL, &random);
        const uint64_t leaves = (uint64_t)1 << SR_CONSTANT | (uint64_t)1 << SR_FEATURE;
        assert_true((sr_expr_operators(&random) & ~before & ~leaves) == 0);
    }
    gsl_rng_free(rng);
}

/* Where a random formula is defined and well-conditioned, its value stays; never does it grow. */
TEST(keeps_values_and_never_grows)
{
    struct table t;
    table_create(&t, 21, 5, true);
    gsl_rng *rng = random_stream(2);
    int compared = 0, shorter = 0, off = 0;
    for (int k = 0; k < 20000; k++) {
        const struct sr_expr before = random_formula(rng, 3 + k % 24);
        struct sr_expr after = before, again;
        sr_expr_simplify(NULL, &after);
        again = after;
        assert_true(after.count <= before.count);
        assert_true(sr_expr_measure(NULL, &again));
        shorter += after.count < before.count;
        for (size_t i = 0; i < t.data.rows && after.count < before.count; i++) {
            const double x[3] = {t.x[i], t.x[21 + i], t.x[42 + i]};
            const double p = (double)long_value(NULL, &before, x),
                         q = (double)long_value(NULL, &after, x);
            if (!isfinite(p) || !isfinite(value_by_hand(&before, &t.data, i)))
                continue;
            compared++;
            off += !near(p, q, 1e-6) && fabs(p - q) > 1e-9;
        }
    }
    /* sums that cancel are exact only after simplification: few, and no more */
    if (!(compared > 20000 && shorter > 4000 && off < compared / 500))
        fail_msg("%d of %d values differ, %d formulas shorter", off, compared, shorter);
    gsl_rng_free(rng);
    table_free(&t);
}

/* The order of operands does not matter to the canonical hash; what differs in value does. */
TEST(canonical_hash_knows_equals)
{
    static const char *const same[][2] = {
        {"m1 * m2 / r", "inv(r) * (m2 * m1)"},
        {"square(r)", "r * r"},
        {"m1 - m2", "neg(m2 - m1)"},
        {"2 * (r + 1)", "r + r + 2"},
        {"sqrt(r) * r", "r ^ 1.5"},
        {"sin(m1 - r)", "neg(sin(r - m1))"},
        {"sinh(m1 - r)", "neg(sinh(r - m1))"},
        {"asin(m1 - r)", "neg(asin(r - m1))"},
        {"atan(m1 - r)", "neg(atan(r - m1))"},
        {"cosh(m1 - r)", "cosh(r - m1)"},
        {"exp(r) * exp(m1)", "exp(m1 + r)"},
        {"exp(log(r) + m1)", "exp(m1) * r"},
        {"m1 / (2 * r + 4)", "0.5 * m1 * inv(r + 2)"},
    };
    static const char *const other[][2] = {
        {"m1 * m2 / r", "m1 * m2 * r"},
        {"sqrt(r * r)", "r"},
        {"inv(m2) * (r + m2)", "r + (m2 + inv(m2))"},
        {"m1 - m2", "m2 - m1"},
        {"r ^ m1", "m1 ^ r"},
        {"2 * (r + 1)", "2 * r + 1"},
        {"sin(r)", "sin(neg(r))"},
        {"sinh(r)", "sinh(neg(r))"},
        {"acos(r)", "acos(neg(r))"},
    };
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        const struct sr_expr a = formula(same[k][0]), b = formula(same[k][1]);
        if (sr_expr_canonical_hash(NULL, &a) != sr_expr_canonical_hash(NULL, &b))
            fail_msg("%s and %s differ", same[k][0], same[k][1]);
    }
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        const struct sr_expr a = formula(other[k][0]), b = formula(other[k][1]);
        assert_true(sr_expr_canonical_hash(NULL, &a) != sr_expr_canonical_hash(NULL, &b));
    }
}

/* The whole formula with fewer minus signs, by the operators given; "" where none can be spared. */
TEST(minus_signs_are_carried)
{
    const uint64_t all = ~(uint64_t)0, plus = 1U << SR_ADD | 1U << SR_MUL | 1U << SR_DIV;
    static const double low[FEATURES] = {-5, -5, -5}, high[FEATURES] = {5, 5, 5};
    const struct {
        const char *text, *simple, *of_plus; /* NULL: the same */
    } list[] = {
        {"(-0.7 * r) - (-30 / (square(m1) + 1))", "((-0.7 * r) + (30 / (square(m1) + 1)))", NULL},
        {"(-0.7 * r) + (30 / (square(m1) + 1))", "((30 / (square(m1) + 1)) - (0.7 * r))", ""},
        {"r + ((m1 * -2.385) / m2)", "(r - ((m1 * 2.385) / m2))", ""},
        {"r - (m1 / (m2 * -3))", "(r + (m1 / (m2 * 3)))", NULL},
        {"r + neg(m1)", "(r - m1)", ""},
        {"r + sin(-2 * m1)", "(r - sin((2 * m1)))", ""},
        {"r + (-2 * m1 + m2)", "(r - ((2 * m1) - m2))", ""},
        {"(r - m1) / -1", "(m1 - r)", NULL},
        {"-1 * (r - m1)", "(m1 - r)", NULL},
        {"-1 / (r - m1)", "(1 / (m1 - r))", NULL},
        {"(r * -2) * (m1 / -3)", "((r * 2) * (m1 / 3))", NULL},
        {"-2 * (r - m1)", "(2 * (m1 - r))", NULL},
        {"cos(-2 * r)", "cos((2 * r))", NULL},
        {"square(r * -0.31)", "square((r * 0.31))", NULL},
        {"r - 2 * m1", "", NULL},
        {"-2 * r", "", NULL},
        {"-2 * r - m1", "", NULL},
        {"r - exp(-2 * m1)", "", NULL},
        {"r + (-2) ^ m1", "", NULL},
        {"-2 * exp(r)", "", NULL},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        for (int of_plus = 0; of_plus < 2; of_plus++) {
            const struct sr_expr expr = formula(list[k].text);
            struct sr_expr piece = {.count = 0};
            const bool is =
                sr_expr_carry_sign(NULL, of_plus ? plus : all, &expr, expr.count - 1, &piece);
            const char *expected = of_plus && list[k].of_plus ? list[k].of_plus : list[k].simple;
            assert_true(is == (piece.count > 0));
            if (is)
                assert_true(sr_put_end(NULL, &piece, expr.count));
            if (strcmp(is ? text_of(&piece) : "", expected))
                fail_msg("%s became \"%s\" instead of \"%s\"", list[k].text,
                         is ? text_of(&piece) : "", expected);
            if (is) /* the same numbers */
                assert_true(disagreement(&piece, &expr, FEATURES, low, high, 1) <= 0);
        }
}

/* Sines directly inside sines and three exponentials or logarithms are nests; modulated phases and
 * laws with two are none. Settings or a guess allow them. */
TEST(nests_are_told_from_laws)
{
    static const char *const nest[] = {
        "sin(sin(r))",           "cos(cos(r) - 0.189)",      "r + tan(neg(sin(r)))",
        "sin(sqrt(cos(r) + 1))", "exp(exp(exp(r)))",         "exp(-2 * exp(0.3 * exp(r)))",
        "log(log(log(r) + 2))",  "2 * sin(exp(sin(r))) + 1", "sin(0.5 - sin(r))",
    };
    static const char *const law[] = {
        "sin(r + 0.1 * sin(r))", "cos(2 * cos(r))",  "exp(-1 * exp(r))",  "log(log(r))",
        "sin(sin(r) * m1)",      "sin(r) + sin(m1)", "sqrt(sqrt(r))",     "sin(m1 - sin(r))",
        "sin(exp(cos(r) * m1))", "exp(sin(r))",      "square(square(r))", "asin(sin(r))",
    };
    for (size_t k = 0; k < sizeof nest / sizeof *nest; k++) {
        struct sr_settings s = seed_settings();
        s.unary[s.unary_count++] = SR_SIN;
        s.unary[s.unary_count++] = SR_COS;
        s.unary[s.unary_count++] = SR_TAN;
        s.unary[s.unary_count++] = SR_NEG;
        const struct sr_expr expr = formula(nest[k]), guess = formula("r * sin(cos(m1))");
        if (!sr_expr_nests(&expr) || sr_settings_allow(&s, &expr))
            fail_msg("%s is a nest and is allowed", nest[k]);
        s.nests = true;
        if (!sr_settings_allow(&s, &expr))
            fail_msg("%s is refused by settings that allow nests", nest[k]);
        s.nests = false;
        s.guess = &guess;
        s.guesses = 1;
        if (!sr_settings_allow(&s, &expr))
            fail_msg("%s is refused beside a guess with a nest", nest[k]);
    }
    for (size_t k = 0; k < sizeof law / sizeof *law; k++) {
        const struct sr_expr expr = formula(law[k]);
        if (sr_expr_nests(&expr))
            fail_msg("%s is no nest", law[k]);
    }
}

TESTS(NULL, NULL)
