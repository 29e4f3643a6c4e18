/* test_true_law.c - is a formula the run's true law times a constant, whatever its form? */
#include "symreg/formulas.h"
#include "analysis.h"

static struct sr_front front;

static const double low[3] = {0.6, 0.1, 0.1}, high[3] = {3.1, 2, 2};

/* The law of the settings "a=b c=d", added to the defaults, which are Newton's. */
static void create_law(struct law_true *law, struct orr_settings *given, const char *settings)
{
    orr_settings_defaults(given);
    for (const char *at = settings; *at; at += strspn(at, " ")) {
        char one[256];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(at, " "), at);
        if (orr_settings_set(given, one))
            fail_msg("%s", orr_error());
        at += strcspn(at, " ");
    }
    if (law_true_create(law, given))
        fail_msg("%s: %s", settings, orr_error());
}

static struct law_true newton;

FIXTURE(create_newton)
{
    static struct orr_settings settings;
    create_law(&newton, &settings, "");
    return 0;
}

FIXTURE(free_newton)
{
    law_true_free(&newton);
    return 0;
}

static void expect_law(const char *text, bool expected, double k_expected)
{
    const struct sr_expr expr = formula(text);
    double k = -1;
    const bool is = law_true_is(&newton, &expr, low, high, 0.01, &k);
    if (is != expected)
        fail_msg("%s %s", text, is ? "passes for k m1 m2 / r^2" : "does not pass");
    if (is && !near(k, k_expected, 1e-9))
        fail_msg("%s: k = %.12g, expected %.12g", text, k, k_expected);
}

TEST(law_in_many_forms)
{
    expect_law("39.5 * m1 * m2 / r ^ 2", true, 39.5);
    expect_law("39.5 * m1 * m2 * inv(r * r)", true, 39.5);
    expect_law("m1 * inv(r * (r * 0.025)) * m2", true, 40);
    expect_law("m2 * inv(r) * m1 * inv(r)", true, 1);
    expect_law("inv(r * r * inv(m1) * 0.5 / m2)", true, 2);
    expect_law("39 * m1 * m2 * square(inv(r))", true, 39);
    expect_law("39 * exp(log(m1) + log(m2) - 2 * log(r))", true, 39);
    expect_law("sqrt(m1 * m1 * m2 * m2) * 1e-6 / (r * r)", true, 1e-6);
    expect_law("-(m1 * m2) / (r * (0 - r))", true, 1);
    expect_law("(m1 / r) * (m2 / r) * 3 + m1 - m1", true, 3);
}

/* A formula that leaves the law by less than the tolerance is the law. */
TEST(law_softened_within_tolerance)
{
    const struct sr_expr expr = formula("39 * m1 * m2 / (r ^ 2 + 1e-4)");
    double k = 0;
    assert_true(law_true_is(&newton, &expr, low, high, 0.01, &k));
    assert_true(k < 39 && k > 39 * (1 - 2e-3));
    assert_false(law_true_is(&newton, &expr, low, high, 1e-5, &k));
}

TEST(near_misses_are_not_the_law)
{
    expect_law("39.5 * m1 * m2 / r ^ 1.9", false, 0);
    expect_law("39.5 * m1 * m2 / r ^ 2.1", false, 0);
    expect_law("39.5 * m1 * m2 / r ^ 2.01", false, 0);
    expect_law("39.5 * m1 * m2 / r", false, 0);
    expect_law("39.5 * m1 * m1 / r ^ 2", false, 0);
    expect_law("39.5 * m1 / r ^ 2", false, 0);
    expect_law("39.5 * m1 * sqrt(m2) / r ^ 2", false, 0);
    expect_law("39.5 * m1 ^ 0.98 * m2 / r ^ 2", false, 0);
    expect_law("39.5 * m1 * m2 / r ^ 2 + 0.05", false, 0);
    expect_law("39.5 * m1 * m2 / (r ^ 2 + 0.05)", false, 0);
    expect_law("39.5 * m1 * m2 / (r ^ 2 + 0.1 * r)", false, 0);
    expect_law("39.5 * m1 * (m2 + 0.02) / r ^ 2", false, 0);
    expect_law("39.5 * m1 * m2 / (r * sin(r))", false, 0);
    expect_law("39.5 * min(m1, 2) * m2 / r ^ 2", false, 0); /* the same within the data only */
    expect_law("39.5 * m1 * m2 / max(r, 0.6) ^ 2", false, 0);
    expect_law("-39.5 * m1 * m2 / r ^ 2", false, 0); /* repels */
    expect_law("0 * m1", false, 0);
    expect_law("m1 * m2 / (r - 1) ^ 2", false, 0);
    expect_law("log(m1 - 1) / r ^ 2", false, 0); /* not finite everywhere */
    expect_law("39.5", false, 0);
}

TEST(law_true_is_needs_its_features_and_ranges)
{
    struct sr_expr expr = formula("m1 * m2 / (r * r)");
    const double zero[3] = {0, 0.1, 0.1}, same[3] = {1, 1, 1}, nan[3] = {NAN, 1, 1};
    double k = -1;
    assert_false(law_true_is(&newton, &expr, zero, high, 0.01, &k));
    assert_false(law_true_is(&newton, &expr, high, low, 0.01, &k)); /* upside down */
    assert_false(law_true_is(&newton, &expr, nan, high, 0.01, &k));
    assert_true(
        law_true_is(&newton, &expr, same, same, 0.01, &k)); /* a point has a range around it */
    assert_true(near(k, 1, 1e-12));
    const struct sr_expr one_mass = formula("m1 / (r * r)");
    assert_false(law_true_is(&newton, &one_mass, same, same, 0.01, &k));
    expr.node[0].feature = 3;
    assert_false(law_true_is(&newton, &expr, low, high, 0.01, &k));
}

TEST(law_true_find_takes_the_simplest)
{
    static struct sr_hall_of_fame hall;
    sr_hall_of_fame_clear(&hall);
    const struct sr_expr a = formula("m1 / r"), b = formula("2 * m1 * m2 / (r * r)"),
                         c = formula("2.5 * (m1 * m2 / (r * r)) * 1 * 1");
    double k = -1;
    bool is_true[SR_NODES + 1];
    sr_hall_of_fame_offer(&hall, NULL, &a, 3);
    sr_front_make(&hall, &front);
    assert_int_equal(law_true_find(&newton, &front, low, high, 0.01, is_true, &k), -1);
    sr_hall_of_fame_offer(&hall, NULL, &b, 2);
    sr_hall_of_fame_offer(&hall, NULL, &c, 1);
    sr_front_make(&hall, &front);
    assert_int_equal(front.count, 3);
    assert_int_equal(law_true_find(&newton, &front, low, high, 0.01, is_true, &k), 1);
    assert_true(!is_true[0] && is_true[1] && is_true[2]);
    assert_true(near(k, 2, 1e-12));
}

/* ---- other laws: their formulas with all parameters written as numbers, times 2.385 */

#define G "39.478417604357434"

static const struct universe {
    const char *settings, *name, *formula;
    double k;            /* of the law itself */
    const char *near[2]; /* formulas with a wrong parameter */
} universes[] = {
    {"orbits.law=newton", "k m1 m2 / r^2", "2.385 * m1 * m2 / r ^ 2", 1, {"m1 * m2 / r ^ 2.001"}},
    {"orbits.law=power orbits.law_exponent=-1",
     "k times the force of the law power, orbits.law_exponent=-1",
     "2.385 * m1 * m2 / r",
     1,
     {"m1 * m2 / r ^ 1.001"}},
    {"orbits.law=power orbits.law_exponent=-2.5",
     "k times the force of the law power, orbits.law_exponent=-2.5",
     "2.385 * m1 * m2 / (r * r * sqrt(r))",
     1,
     {"m1 * m2 / r ^ 2.499", "m1 * m2 / (r ^ 2.5 + 0.01)"}},
    {"orbits.law=yukawa orbits.law_alpha=2 orbits.law_lambda_au=0.8",
     "k times the force of the law yukawa, orbits.law_alpha=2, orbits.law_lambda_au=0.8",
     "2.385 * m1 * m2 / r ^ 2 * (1 + (2 + 2.5 * r) / exp(1.25 * r))",
     1,
     {"m1 * m2 / r ^ 2 * (1 + (2.01 + 2.5125 * r) / exp(1.25 * r))",
      "m1 * m2 / r ^ 2 * (1 + (2 + 2.48 * r) / exp(1.24 * r))"}},
    {"orbits.law=mond orbits.law_a0=30",
     "k times the force of the law mond, orbits.law_a0=30",
     "2.385 * m1 * m2 / r ^ 2 * (" G " / 2 + sqrt(" G " ^ 2 / 4 + " G " * 30 * r ^ 2 / (m1 + m2)))",
     0,
     {"m1 * m2 / r ^ 2 * (" G " / 2 + sqrt(" G " ^ 2 / 4 + " G " * 30.1 * r ^ 2 / (m1 + m2)))",
      "m1 * m2 / r ^ 2 * (" G " / 2 + sqrt(" G " ^ 2 / 4 + " G " * 30 * r ^ 2))"}},
    {"orbits.law=plummer orbits.law_softening_au=0.4",
     "k times the force of the law plummer, orbits.law_softening_au=0.4",
     "2.385 * m1 * m2 * r / (r ^ 2 + 0.16) ^ 1.5",
     1,
     {"m1 * m2 * r / (r ^ 2 + 0.161) ^ 1.5"}},
    {"orbits.law=hooke",
     "k times the force of the law hooke",
     "2.385 * m1 * m2 * r",
     1,
     {"m1 * m2 * r ^ 1.001"}},
    {"orbits.law=lambda orbits.law_constant=0.23",
     "k times the force of the law lambda, orbits.law_constant=0.23",
     "2.385 * (" G " * m1 * m2 / r ^ 2 - 0.23 * m1 * m2 / (m1 + m2) * r)",
     0,
     {G " * m1 * m2 / r ^ 2 - 0.235 * m1 * m2 / (m1 + m2) * r"}},
    {"orbits.law=expression orbits.expression=30*m1*m2/r^1.5*(1+0.1*r)",
     "k times the force of the law expression, orbits.expression=30*m1*m2/r^1.5*(1+0.1*r)",
     "71.55 * m1 * m2 / r ^ 1.5 * (1 + 0.1 * r)",
     0,
     {"m1 * m2 / r ^ 1.5 * (1 + 0.101 * r)"}},
};
enum { UNIVERSES = sizeof universes / sizeof *universes };

static const double fine = 1e-3; /* the default of symreg.constant_tolerance */

/* The formula of every law passes for its own law, with its constant, and for no other. */
TEST(every_law_asks_for_itself)
{
    for (int u = 0; u < UNIVERSES; u++) {
        struct orr_settings settings;
        struct law_true law;
        create_law(&law, &settings, universes[u].settings);
        assert_string_equal(law.name, universes[u].name);
        assert_true(near(law.k[0], universes[u].k > 0 ? SIM_G : 1, 1e-15));
        assert_int_equal(law.sides, 1);
        for (int f = 0; f < UNIVERSES; f++) {
            const struct sr_expr expr = formula(universes[f].formula);
            double k = -1;
            if (law_true_is(&law, &expr, low, high, fine, &k) != (u == f))
                fail_msg("%s: %s %s", universes[u].settings, universes[f].formula,
                         u == f ? "does not pass" : "passes");
            if (u == f && !near(k, 2.385, 1e-9))
                fail_msg("%s: k = %.12g", universes[u].settings, k);
        }
        for (int f = 0; f < 2 && universes[u].near[f]; f++) {
            const struct sr_expr expr = formula(universes[u].near[f]);
            double k;
            if (law_true_is(&law, &expr, low, high, fine, &k))
                fail_msg("%s: %s passes", universes[u].settings, universes[u].near[f]);
            if (f == 0 && !strstr(universes[u].settings, "lambda")) /* whose force passes 0 */
                assert_true(law_true_is(&law, &expr, low, high, 0.02, &k)); /* it is near indeed */
        }
        law_true_free(&law);
    }
}

/* A law without a change of Newton's force has Newton's formula. */
TEST(post_newtonian_force_is_newtons)
{
    struct orr_settings settings;
    struct law_true law;
    double k = 0;
    create_law(&law, &settings, "orbits.law=post_newtonian");
    assert_string_equal(law.name, "k m1 m2 / r^2");
    const struct sr_expr expr = formula("3 * m1 * m2 / r ^ 2");
    assert_true(law_true_is(&law, &expr, low, high, fine, &k));
    assert_true(near(k, 3, 1e-12));
    law_true_free(&law);
}

/* What follows a law with a scale in the range of the labels alone is not the law. */
TEST(laws_with_a_scale_are_asked_beyond_the_labels)
{
    struct orr_settings settings;
    struct law_true law;
    double k;
    create_law(&law, &settings, universes[3].settings);
    const struct sr_expr expr =
        formula("m1 * m2 / r ^ 2 * min(1 + (2 + 2.5 * r) / exp(1.25 * r), 2.661)");
    const double inside_low[3] = {1.2, 0.1, 0.1}, inside_high[3] = {1.55, 2, 2};
    assert_true(law_true_is(&law, &expr, inside_low, inside_high, fine, &k));
    assert_false(law_true_is(&law, &expr, low, high, fine, &k)); /* from 0.3 AU */
    law_true_free(&law);
}

/* ---- a jump of G at step 9, by 2.5 */

#define JUMP " orbits.jump_step=9 orbits.jump_factor=2.5"

static bool passes(struct law_true *law, const char *text, double *k)
{
    const struct sr_expr expr = formula(text);
    return law_true_is(law, &expr, low, high, fine, k);
}

TEST(jump_has_the_constants_of_the_labelled_steps)
{
    static const struct {
        const char *settings;
        double before, after;
    } cases[] = {{"orbits.law=newton" JUMP, SIM_G, 2.5 * SIM_G},
                 {"orbits.law=yukawa" JUMP, SIM_G, 2.5 * SIM_G},
                 {"orbits.law=expression" JUMP, 1, 2.5},
                 {"orbits.law=mond" JUMP, 1, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct orr_settings given;
        struct law_true law;
        create_law(&law, &given, cases[c].settings);
        law_true_steps(&law, 2, 8);
        assert_int_equal(law.sides, 1);
        assert_true(near(law.k[0], cases[c].before, 1e-15));
        law_true_steps(&law, 9, 15);
        assert_int_equal(law.sides, 1);
        assert_true(near(law.k[0], cases[c].after, 1e-15));
        law_true_steps(&law, 8, 9);
        assert_int_equal(law.sides, 2);
        assert_true(near(law.k[0], cases[c].before, 1e-15));
        assert_true(near(law.k[1], cases[c].after, 1e-15));
        law_true_free(&law);
    }
}

/* Where G does not multiply the whole force, a jump changes its shape. */
TEST(jump_of_mond_has_a_shape_on_each_side)
{
    static const char before[] =
        "m1 * m2 / r ^ 2 * (" G " / 2 + sqrt(" G " ^ 2 / 4 + " G " * 30 * r ^ 2 / (m1 + m2)))";
    static const char after[] = "m1 * m2 / r ^ 2 * (2.5 * " G " / 2 + sqrt(6.25 * " G
                                " ^ 2 / 4 + 2.5 * " G " * 30 * r ^ 2 / (m1 + m2)))";
    static const char between[] = "m1 * m2 / r ^ 2 * (1.5 * " G " / 2 + sqrt(2.25 * " G
                                  " ^ 2 / 4 + 1.5 * " G " * 30 * r ^ 2 / (m1 + m2)))";
    struct orr_settings settings;
    struct law_true law;
    double k = 0;
    create_law(&law, &settings, "orbits.law=mond orbits.law_a0=30" JUMP);
    law_true_steps(&law, 0, 8);
    assert_true(passes(&law, before, &k) && near(k, 1, 1e-12));
    assert_false(passes(&law, after, &k));
    law_true_steps(&law, 9, 15);
    assert_true(passes(&law, after, &k) && near(k, 1, 1e-12));
    assert_false(passes(&law, before, &k));
    law_true_steps(&law, 0, 15);
    assert_true(passes(&law, before, &k) && passes(&law, after, &k));
    assert_false(passes(&law, between, &k));
    law_true_free(&law);
}

/* Labels are compared with the law at their own step. */
TEST(labels_of_another_law_are_noticed)
{
    enum { ROWS = 5 };
    double step[ROWS] = {3, 8, 9, 12, 15}, r[ROWS] = {0.7, 1.1, 1.9, 2.3, 0.9};
    double m1[ROWS] = {0.3, 1.2, 0.8, 2.1, 1.7}, m2[ROWS] = {1.4, 0.2, 0.6, 0.9, 2.9}, f[ROWS];
    const struct law_forces forces = {
        .rows = ROWS, .step = step, .r = r, .m1 = m1, .m2 = m2, .f_true = f};
    struct orr_settings settings;
    struct law_true law;
    double difference = -1;
    for (int i = 0; i < ROWS; i++)
        f[i] = SIM_G * (i > 1 ? 2.5 : 1) * m1[i] * m2[i] / r[i];
    create_law(&law, &settings, "orbits.law=power orbits.law_exponent=-1" JUMP);
    assert_int_equal(law_true_difference(&law, &forces, &difference), 0);
    assert_true(difference >= 0 && difference < 1e-14);
    law_true_free(&law);
    create_law(&law, &settings, "orbits.law=power orbits.law_exponent=-1");
    assert_int_equal(law_true_difference(&law, &forces, &difference), 0);
    assert_true(near(difference, 1.5, 1e-12)); /* three of five are after the jump */
    law_true_free(&law);
}

TESTS(create_newton, free_newton)
