/* test_units.c - dimensions: their notation, and formulas that respect them or not. */
#include "symreg/formulas.h"

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

TESTS(NULL, NULL)
