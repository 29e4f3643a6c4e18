/* test_units.c - dimensions: their notation, and formulas that respect them or not. */
#include "symreg/formulas.h"
#include "symreg/seed/products.h"

static struct sr_units units;
static struct sr_language *language; /* NULL but where operators are defined */

static void set(const char *text)
{
    if (sr_units_parse(text, feature_name, FEATURES, "F", &units))
        fail_msg("%s", orr_error());
}

static void refuses(const char *text, const char *part)
{
    assert_int_equal(sr_units_parse(text, feature_name, FEATURES, "F", &units), ORR_EUSAGE);
    error_names("--units", part, NULL);
}

static int inside(const char *text)
{
    const struct sr_expr expr = formula_in(language, text);
    return sr_units_violations(&units, language, &expr, false);
}

static int whole(const char *text)
{
    const struct sr_expr expr = formula_in(language, text);
    return sr_units_violations(&units, language, &expr, true);
}

static double power_of(const struct sr_dimension *d, const char *base)
{
    for (int b = 0; b < units.bases; b++)
        if (!strcmp(units.base[b], base))
            return d->power[b];
    return 0;
}

TEST(notation)
{
    set("r=AU, m1 = kg,F=kg*AU/yr^2");
    assert_int_equal(units.bases, 3);
    assert_true(units.target_known);
    assert_true(power_of(&units.feature[0], "AU") == 1 && power_of(&units.feature[1], "kg") == 1);
    assert_true(power_of(&units.feature[2], "kg") == 0); /* m2 is a number */
    assert_true(power_of(&units.target, "yr") == -2 && power_of(&units.target, "AU") == 1);
    set("r=m^0.5/s^(1/3)*kg^-2*m, m1=1, m2=1/s");
    assert_false(units.target_known);
    assert_true(power_of(&units.feature[0], "m") == 1.5);
    assert_true(power_of(&units.feature[0], "s") == -1.0 / 3);
    assert_true(power_of(&units.feature[0], "kg") == -2);
    assert_true(power_of(&units.feature[1], "m") == 0 && power_of(&units.feature[2], "s") == -1);
    set("r=rad, m1=rad/s, m2=deg");
    assert_int_equal(units.bases, 2); /* radians are numbers, degrees a unit */
    assert_true(power_of(&units.feature[1], "s") == -1 && power_of(&units.feature[2], "deg") == 1);
    assert_int_equal(inside("sin(r)"), 0);
    assert_int_equal(inside("sin(m2)"), 1);
    assert_int_equal(inside("sin(m2 * 0.0175)"), 0);
    refuses("", "column=unit");
    refuses("r", "column=unit");
    refuses("\"r=m", "column=unit");
    refuses("\"r\" x=m", "column=unit");
    refuses("r=", "a unit");
    refuses("r=m,", "column=unit");
    refuses("r=m*", "a unit");
    refuses("r=m^x", "an exponent");
    refuses("r=m^(1/0)", "an exponent");
    refuses("r=m^(1/2", "\")\"");
    refuses("r=m s", "\"*\", \"/\"");
    refuses("m3=kg", "\"m3\" is no feature");
    refuses("r=a*b*c*d*e*f*g*h*i", "8 different");
}

TEST(sums_need_equal_dimensions)
{
    set("r=m, m1=kg, m2=kg");
    assert_int_equal(inside("m1 + m2"), 0);
    assert_int_equal(inside("m1 - r"), 1);
    assert_int_equal(inside("max(m1, r)"), 1);
    assert_int_equal(inside("r * m1 + m2 * r"), 0);
    assert_int_equal(inside("(r + m1) * (r + m2)"), 2);
    assert_int_equal(inside("r * r + square(r)"), 0);
    assert_int_equal(inside("r * r * r + cube(r)"), 0);
    assert_int_equal(inside("sqrt(r * r) + abs(-r)"), 0);
    assert_int_equal(inside("hypot(r, r) + cbrt(r * r * r)"), 0);
    assert_int_equal(inside("hypot(r, m1)"), 1);
    assert_int_equal(inside("hypot(r, m1 / m2)"), 1);
    assert_int_equal(inside("atan2(m1, m2) + sin(m1 / m2)"), 0);
    assert_int_equal(inside("atan2(m1, r)"), 1);
    assert_int_equal(inside("r + atan2(r, r)"), 1);
    assert_int_equal(inside("log10(r)"), 1);
    assert_int_equal(inside("log10(m1 / m2) + 1"), 0);
    assert_int_equal(inside("sqrt(r) * sqrt(r) + r"), 0);
    assert_int_equal(inside("inv(r) + m1 / (m2 * r)"), 0);
    assert_int_equal(inside("inv(r) + r"), 1);
}

TEST(functions_need_numbers)
{
    set("r=m, m1=kg, m2=kg");
    assert_int_equal(inside("exp(r)"), 1);
    assert_int_equal(inside("sin(m1 / m2)"), 0);
    assert_int_equal(inside("log(m1 * m2)"), 1);
    assert_int_equal(inside("tanh(cos(r))"), 1); /* what comes out is a number */
    assert_int_equal(inside("sign(r) + m1 / m2"), 0);
    assert_int_equal(inside("r ^ 2 + r * r"), 0);
    assert_int_equal(inside("r ^ 0.5 + sqrt(r)"), 0);
    assert_int_equal(inside("2 ^ r"), 1);
    assert_int_equal(inside("r ^ (m1 / m2)"), 1);
    assert_int_equal(inside("(m1 / m2) ^ (m1 / m2)"), 0);
}

/* A constant is what its place needs. */
TEST(constants_have_any_dimension)
{
    set("r=m, m1=kg, m2=kg, F=kg");
    assert_int_equal(inside("exp(3 * r)"), 0);
    assert_int_equal(inside("r + 3"), 0);
    assert_int_equal(inside("r + 3 + m1"), 1); /* r + 3 is a length */
    assert_int_equal(inside("r + (3 + m1)"), 1);
    assert_int_equal(inside("r + 3 * m1"), 0);
    assert_int_equal(whole("m1 * r"), 1);
    assert_int_equal(inside("m1 * r"), 0);
    assert_int_equal(whole("3 * m1 * r"), 0);
    assert_int_equal(whole("m1"), 0);
    assert_int_equal(whole("3"), 0);
    assert_int_equal(whole("r"), 1);
    assert_int_equal(whole("exp(r / 3)"), 1);
}

TEST(own_operators_are_looked_into)
{
    language = language_of("area(x)=x*x; ratio(x,y)=exp(x/y)");
    set("r=m, m1=kg, m2=kg");
    assert_int_equal(inside("area(r) + r * r"), 0);
    assert_int_equal(inside("area(r) + r"), 1);
    assert_int_equal(inside("ratio(m1, m2)"), 0);
    assert_int_equal(inside("ratio(m1, r)"), 1);
    sr_language_free(language);
    language = NULL;
}

/* ---- named constants */

static void define_constants(const char *text)
{
    language = sr_language_create();
    assert_non_null(language);
    if (sr_constants_parse(text, &units, language))
        fail_msg("%s", orr_error());
}

static void forget_constants(void)
{
    sr_language_free(language);
    language = NULL;
}

static void refuses_constants(const char *text, const char *part)
{
    struct sr_language *own = sr_language_create();
    assert_non_null(own);
    assert_int_equal(sr_constants_parse(text, &units, own), ORR_EUSAGE);
    error_names("--constants", part, NULL);
    sr_language_free(own);
}

/* G in AU, years and solar masses: 4 pi^2 where the year is Gauss's, the nominal GM of the Sun if
 * it is Julian. The two agree to 3e-10, GM of IAU 2015 B3 against Gauss's constant. */
TEST(two_years)
{
    set("r=AU, m1=M_sun, F=M_sun*AU/yr^2");
    define_constants("G, G_gauss");
    if (!(fabs(language->constant[0] / 39.476926408897626 - 1) < 1e-14) ||
        !(fabs(language->constant[1] / 39.47841760435743 - 1) < 1e-14))
        fail_msg("G is %.17g, G_gauss %.17g", language->constant[0], language->constant[1]);
    assert_int_equal(whole("G_gauss * m1 * m1 / (r * r)"), 0);
    assert_int_equal(whole("G_gauss * m1 / (r * r)"), 1);
    forget_constants();
    set("r=AU, m1=M_sun, F=M_sun*AU/yr_gauss^2");
    define_constants("G");
    if (!(fabs(language->constant[0] / 39.47841760435743 - 1) < 1e-9))
        fail_msg("G is %.17g", language->constant[0]);
    forget_constants();
}

TEST(constants_have_units)
{
    set("r=m, m1=kg, m2=kg, F=kg*m/s^2");
    define_constants("G=6.67e-11 m^3/kg/s^2, c,k = 2.385 furlong , n=3");
    assert_int_equal(language->named, 4);
    assert_string_equal(language->constant_name[2], "k");
    assert_true(language->constant[0] == 6.67e-11 && language->constant[1] == 299792458);
    assert_true(power_of(&units.constant[0], "m") == 3 && power_of(&units.constant[0], "s") == -2);
    assert_true(power_of(&units.constant[1], "m") == 1 && power_of(&units.constant[1], "s") == -1);
    assert_true(power_of(&units.constant[2], "furlong") == 1);
    assert_true(power_of(&units.constant[3], "m") == 0);
    assert_int_equal(whole("G * m1 * m2 / r ^ 2"), 0);
    assert_int_equal(whole("G * m1 * m2 / r"), 1);
    assert_int_equal(whole("3 * G * m1"), 0); /* a number takes any dimension */
    assert_int_equal(inside("c + r"), 1);
    assert_int_equal(inside("exp(n)"), 0);
    forget_constants();
    refuses_constants("", "found \"\"");
    refuses_constants("q", "\"q\" is not well known");
    refuses_constants("k_b", "did you mean \"k_B\"");
    refuses_constants("G=", "found \"\"");
    refuses_constants("G=0", "other than 0");
    refuses_constants("G=1 m^", "an exponent");
    refuses_constants("G, c, G", "two constants \"G\"");
    refuses_constants("exp=2", "no operator");
    refuses_constants("a=1 a*b*c*d*e*f", "8 different");
}

/* Kepler's third law in AU, solar masses and Julian years: G = 4 pi^2 but for the Gaussian year. */
TEST(constants_are_converted)
{
    set("r=AU, m1=M_sun, F=AU/yr^2");
    define_constants("G, c, day=1 d");
    assert_true(fabs(language->constant[0] / 39.47692642 - 1) < 1e-8);
    assert_true(fabs(language->constant[1] / 63241.07708427 - 1) < 1e-12);
    assert_true(fabs(language->constant[2] * 365.25 - 1) < 1e-12);
    assert_true(power_of(&units.constant[0], "AU") == 3);
    assert_true(power_of(&units.constant[0], "M_sun") == -1);
    forget_constants();
    set("r=m, m1=kg, F=N"); /* a second is a square root of kg m / N */
    define_constants("G, k_B");
    assert_true(language->constant[0] == 6.67430e-11 && power_of(&units.constant[0], "N") == 1);
    assert_true(power_of(&units.constant[0], "kg") == -2);
    assert_true(power_of(&units.constant[1], "K") == -1 && units.bases == 4);
    forget_constants();
    set("r=km, m1=m/s, m2=kg");
    refuses_constants("c", "several ways");
}

TEST(formulas_decide_dimensions_of_constants)
{
    const struct {
        const char *text, *base; /* NULL: undecided */
        int node;
        double power;
    } cases[] = {
        {"3 * m1", "kg", 0, 0},
        {"3 * r", "m", 0, -1},
        {"3 * r", "s", 0, -1},
        {"m1 / r * exp(3 * r) ", "m", 3, -1},
        {"m1 / (r - 3)", "m", 2, 1},
        {"2 * (3 * r)", NULL, 1, 0},
        {"m1 / 3", "s", 1, 1},
        {"m1 * (r / 3) ^ 0.5", "m", 2, 1},
        {"sqrt(3 * m1 * m1)", "s", 0, -2},
        {"m1 * sin(r + 3)", NULL, 2, 0},
        {"m1 * abs(3 * r)", "m", 1, -1},
    };
    struct sr_dimension d;
    set("r=m, m1=kg, m2=kg, F=kg/s");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sr_expr expr = formula(cases[i].text);
        assert_int_equal(expr.node[cases[i].node].op, SR_CONSTANT);
        const bool known = sr_units_of_constant(&units, NULL, &expr, cases[i].node, &d);
        if (i == 9) { /* the sum has the dimension of r, whatever sin needs */
            assert_true(known && power_of(&d, "m") == 1);
            continue;
        }
        assert_int_equal(known, cases[i].base != NULL);
        if (known && fabs(power_of(&d, cases[i].base) - cases[i].power) > 1e-12)
            fail_msg("%s: %g", cases[i].text, power_of(&d, cases[i].base));
    }
}

/* ---- products of powers */

static bool has_product(const struct sr_product *list, int count, const int *half, int n)
{
    for (int i = 0; i < count; i++)
        if (!memcmp(list[i].powers.half, half, (size_t)n * sizeof *half))
            return true;
    return false;
}

/* Planck's law: nu, T, h, c, k_B. One group, h nu / (k_B T), and two natural scales. */
TEST(groups_and_scales_are_those_of_the_pi_theorem)
{
    struct sr_product list[SR_PRODUCTS];
    struct sr_dimension d[5];
    set("r=1/s, m1=K, F=kg/s^2");
    define_constants("h, c, k_B");
    d[0] = units.feature[0];
    d[1] = units.feature[1];
    memcpy(d + 2, units.constant, 3 * sizeof *d);
    int count = sr_products_find(d, 5, ~0U, NULL, list);
    assert_int_equal(count, 1);
    assert_true(has_product(list, count, (const int[]){2, -2, 2, 0, -2}, 5));
    count = sr_products_find(d, 5, ~0U, &units.target, list);
    assert_true(count > 2 && list[0].cost <= list[1].cost && list[1].cost <= list[2].cost);
    assert_true(has_product(list, 2, (const int[]){6, 0, 2, -4, 0}, 5));
    assert_true(has_product(list, 2, (const int[]){4, 2, 0, -4, 2}, 5));
    assert_int_equal(sr_products_find(d, 2, ~0U, &units.target, list),
                     0); /* no mass among the columns */
    /* a root: T = sqrt(l / g) */
    set("r=m, m1=m/s^2, F=s");
    assert_int_equal(sr_products_find(units.feature, 2, ~0U, &units.target, list), 1);
    assert_true(has_product(list, 1, (const int[]){1, -1}, 2));
    forget_constants();
}

TESTS(NULL, NULL)
