/* test_dynamics_formula_prior.c - what formulas cost as equations of motion before their constants
 * are known. */
#include "symreg/dynamics/judge.h"

#include "testing.h"

static double nats_of(const char *text, bool fixed)
{
    static const char *const name[] = {"x", "y", "z"};
    struct sr_expr expr;
    assert_int_equal(sr_expr_parse(NULL, text, name, 3, &expr), 0);
    for (int i = 0; i < expr.count && fixed; i++)
        if (sr_is_number(&expr.node[i]))
            expr.node[i].feature = SR_FIXED;
    return sr_equation_nats(&expr, 3);
}

static void expect_alike(const char *a, const char *b)
{
    if (fabs(nats_of(a, false) - nats_of(b, false)) > 1e-9)
        fail_msg("%s costs %g nats, %s %g: expected alike", a, nats_of(a, false), b,
                 nats_of(b, false));
}

static void expect_cheaper(const char *a, const char *b)
{
    if (!(nats_of(a, false) < nats_of(b, false) - 1))
        fail_msg("%s costs %g nats, %s %g: expected the first one to cost less", a,
                 nats_of(a, false), b, nats_of(b, false));
}

/* Terms and factors have no order, a square is a product, and a divisor that is a number is a
 * coefficient. */
TEST(forms_of_one_formula_cost_alike)
{
    expect_alike("0.8 * x - 0.9 * square(x) - 1.8 * y * x",
                 "(-1.8 * x * y + 0.8 * x) - 0.9 * x * x");
    expect_alike("0.7 * cube(x)", "0.7 * x * square(x)");
    expect_alike("x / 0.3", "3.3333 * x");
    expect_alike("2 / (1.3 + x)", "2 * inv(x + 1.3)");
    expect_alike("neg(y) * 2.5", "2.5 * y");
}

/* A function of a state that noise does not tell from a sum of products costs more than these and
 * a constant of some 5 nats. */
TEST(unusual_forms_cost_more)
{
    expect_cheaper("0.8 * x - 0.9 * x * x - 1.8 * x * y", "cos(sqrt(y) + square(square(x))) - 0.8");
    expect_cheaper("0.3 - 0.4 * y", "0.3 * sin(y)");
    expect_cheaper("2.1 * x * y - 3.1 * y", "2.1 * y * (log(x) - z)");
    expect_cheaper("sin(x)", "sin(cos(x))");
    expect_cheaper("x * y", "x / y");
    expect_cheaper("2 * x", "2 * x + 3 * y");
}

/* What rate laws and couplings are made of costs less than formulas of the same nodes. */
TEST(building_blocks_cost_less)
{
    expect_cheaper("1.1 + 0.9 * sin(x - y)", "1.1 + 0.9 * sin(1.3 * x - y)");
    expect_cheaper("0.9 * x / (1.3 + x)", "0.9 * x / (1.3 + y)");
    expect_cheaper("0.9 * x * x / (1.3 + x * x)", "0.9 * x * x / (1.3 + x * y)");
    expect_cheaper("2.1 * exp(-0.7 * x)", "2.1 * exp(-0.7 - x)");
    expect_cheaper("2.1 * exp(-0.7 * x)", "2.1 * tan(-0.7 * x)");
    expect_alike("0.9 * square(x) / (1.3 + square(x))", "0.9 * x * x / (x * x + 1.3)");
}

/* Units give a term of several a number, but x' = v has none. */
TEST(bare_terms_cost_more_among_others)
{
    expect_cheaper("2.1 * x - 0.3 * y", "2.1 * x - y");
    expect_cheaper("x - y", "sin(x - y)");
    expect_cheaper("0.9 * sin(x - y)", "sin(x - y)");
    if (!(nats_of("y", false) < nats_of("0.3 * y", false) + 0.1))
        fail_msg("x' = y costs more than x' = 0.3 * y");
}

/* Each part is read a bounded number of times: 2^40 would not end. */
TEST(deep_formulas_are_read_quickly)
{
    char text[512] = "";
    for (int k = 0; k < 40; k++)
        strcat(text, k % 2 ? "exp(" : "inv(");
    strcat(text, "x");
    for (int k = 0; k < 40; k++)
        strcat(text, ")");
    assert_true(isfinite(nats_of(text, false)));
}

/* While constants are rounded, a fit holds some of them. */
TEST(held_constants_cost_what_free_ones_do)
{
    static const char *const text[] = {"2.5", "1.5 * x + 0.5", "x / 0.3", "2 * sin(1.7 * y)"};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        if (fabs(nats_of(text[k], true) - nats_of(text[k], false)) > 1e-9)
            fail_msg("%s: held constants change the nats of the form", text[k]);
}

TESTS(NULL, NULL)
