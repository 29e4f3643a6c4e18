/* test_named_constants.c - named constants in formulas: text, complexity, fits, stages and fronts.
 * */
#include "symreg/proposal.h"
#include "symreg/solve/solve.h"

static struct sr_language *physics(void)
{
    return language_of("k_B=1.380649e-23; h=6.62607015e-34; beta=-2.5; g(x)=h*x");
}

static const char *text_in(const struct sr_language *language, const struct sr_expr *expr,
                           enum sr_notation notation)
{
    static char text[SR_TEXT];
    sr_expr_text(language, expr, notation, feature_name, text, sizeof text);
    return text;
}

TEST(names_are_written_and_read)
{
    struct sr_language *language = physics();
    struct sr_expr expr = formula_in(language, "exp(h * r / (k_B * m1)) - 3 * beta ^ 2 - -beta");
    const char *const printed = "((exp(((h * r) / (k_B * m1))) - (3 * (beta ^ 2))) - neg(beta))";
    assert_string_equal(text_in(language, &expr, SR_PRINTED), printed);
    struct sr_expr again = formula_in(language, printed);
    sr_expr_clean(&expr);
    sr_expr_clean(&again);
    assert_memory_equal(&expr, &again, sizeof expr);
    expr = formula_in(language, "h * r / k_B");
    assert_string_equal(text_in(language, &expr, SR_LATEX), "\\frac{h \\, r}{k_{\\mathrm{B}}}");
    assert_non_null(
        strstr(text_in(language, &expr, SR_MATHML), "<msub><mi>k</mi><mi>B</mi></msub>"));
    assert_string_equal(text_in(language, &expr, SR_NUMPY), "6.62607015e-34*r/1.380649e-23");
    expr = formula_in(language, "beta ^ 2");
    assert_string_equal(text_in(language, &expr, SR_SYMPY), "(-2.5)**2");
    sr_language_free(language);
    language = sr_language_create();
    assert_int_equal(sr_custom_define(language, "a=1; a=2"), ORR_EUSAGE);
    error_names("--define", "two constants \"a\"", NULL);
    assert_int_equal(sr_custom_define(language, "a(x)=x"), ORR_EUSAGE);
    error_names("--define", "already a constant \"a\"", NULL);
    assert_int_equal(sr_custom_define(language, "b=1e999"), ORR_EUSAGE);
    error_names("--define", "not finite", NULL);
    sr_language_free(language);
}

TEST(a_product_of_names_counts_as_one_constant)
{
    struct sr_language *language = physics();
    struct sr_expr expr = formula_in(language, "2 * h / k_B * r");
    assert_int_equal(sr_expr_complexity(language, &expr), 3);
    expr = formula_in(language, "h * r / k_B");
    assert_int_equal(sr_expr_complexity(language, &expr), 5);
    expr = formula_in(language, "2 * 3 * r"); /* no name */
    assert_int_equal(sr_expr_complexity(language, &expr), 5);
    assert_int_equal(sr_complexity_set(language, "constant=3, *=2", NULL, 0), 0);
    expr = formula_in(language, "2 * h / k_B * r");
    assert_int_equal(sr_expr_complexity(language, &expr), 6);
    expr = formula_in(language, "2 * h / k_B * r + exp(beta * m1)");
    sr_expr_fold_named(language, &expr);
    assert_int_equal(expr.count, 8);
    assert_true(expr.node[0].value == 2 * 6.62607015e-34 / 1.380649e-23);
    assert_int_equal(sr_expr_constants(&expr, NULL), 2);
    sr_language_free(language);
}

/* y = 3 beta r: a fit changes the 2 and not beta, and derivatives are those of the 2 alone. */
TEST(names_keep_their_values)
{
    enum { ROWS = 50 };
    struct sr_language *language = physics();
    struct table t;
    struct sr_loss loss;
    struct sr_work work = {0};
    table_create(&t, ROWS, 3, false);
    for (int i = 0; i < ROWS; i++)
        t.y[i] = 3 * -2.5 * t.x[i];
    t.data.language = language;
    struct sr_expr expr = formula_in(language, "beta * r * 2");
    double value[ROWS], jacobian[ROWS];
    assert_int_equal(sr_expr_constants(&expr, NULL), 1);
    assert_true(sr_eval_jacobian(&expr, &t.data, value, jacobian));
    for (int i = 0; i < ROWS; i++)
        assert_true(jacobian[i] == -2.5 * t.x[i]);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, 3), 0);
    assert_true(sr_constants_fit(&loss, &expr, false, 20, 0, NULL, &work) < 1e-20);
    assert_string_equal(text_in(language, &expr, SR_PRINTED), "((beta * r) * 3)");
    assert_true(sr_expr_absorb(&expr, 2));
    assert_string_equal(text_in(language, &expr, SR_PRINTED), "((beta * r) * 6)");
    expr = formula_in(language, "beta * r");
    assert_false(sr_expr_absorb(&expr, 2));
    sr_snap(&loss, &expr, &work);
    assert_string_equal(text_in(language, &expr, SR_PRINTED), "(beta * r)");
    sr_loss_free(&loss);
    sr_work_free(&work);
    table_free(&t);
    sr_language_free(language);
}

/* ---- a table in SI units: Planck's law, 2 h nu^3 / c^2 / (exp(h nu / k_B T) - 1) */

enum { ROWS = 200 };
static const char *const planck_name[] = {"nu", "T"};
static struct planck {
    struct sr_language *language;
    struct sr_units units;
    struct sr_settings settings;
    struct sr_loss loss;
    struct sr_data data;
    double x[2 * ROWS], y[ROWS];
} p;

static void planck_create(double noise)
{
    gsl_rng *rng = random_stream(8);
    p.language = sr_language_create();
    assert_int_equal(sr_units_parse("nu=1/s, T=K, B=kg/s^2", planck_name, 2, "B", &p.units), 0);
    assert_int_equal(sr_constants_parse("h, c, k_B, G", &p.units, p.language), 0);
    for (int i = 0; i < ROWS; i++) {
        const double nu = 1e13 * pow(100, gsl_rng_uniform(rng)),
                     t = 3000 + 6000 * gsl_rng_uniform(rng);
        const double h = 6.62607015e-34, c = 299792458, k = 1.380649e-23;
        p.x[i] = nu;
        p.x[ROWS + i] = t;
        p.y[i] = 2 * h * nu * nu * nu / (c * c) / (exp(h * nu / (k * t)) - 1) *
                 (1 + noise * gsl_ran_ugaussian(rng));
    }
    gsl_rng_free(rng);
    p.data =
        (struct sr_data){.rows = ROWS, .features = 2, .x = p.x, .y = p.y, .language = p.language};
    p.settings = seed_settings();
    p.settings.language = p.language;
    p.settings.units = &p.units;
    p.settings.loss = ORR_SR_RELATIVE;
    assert_int_equal(sr_loss_init(&p.loss, ORR_SR_RELATIVE, &p.data), 0);
}

static void planck_free(void)
{
    sr_loss_free(&p.loss);
    sr_language_free(p.language);
}

TEST(groups_of_columns_and_constants_are_searched)
{
    static struct sr_seeds seeds;
    double least = HUGE_VAL;
    planck_create(0);
    seeds_of(sr_dimensions_find, &p.settings, &p.loss, 1, &seeds);
    for (int i = 0; i < seeds.count; i++)
        least = fmin(least, seeds.loss[i]);
    assert_true(least <= p.loss.noise);
    p.units.target_known = false;
    seeds_of(sr_dimensions_find, &p.settings, &p.loss, 1, &seeds);
    assert_int_equal(seeds.count, 0);
    p.units.target_known = true;
    p.settings.units = NULL;
    seeds_of(sr_dimensions_find, &p.settings, &p.loss, 1, &seeds);
    assert_int_equal(seeds.count, 0);
    planck_free();
}

static const char *named(const char *text)
{
    static char out[SR_TEXT];
    static struct sr_front front;
    struct sr_work work = {0};
    memset(&front, 0, sizeof front);
    front.count = 1;
    assert_int_equal(sr_expr_parse(p.language, text, planck_name, 2, &front.expr[0]), 0);
    assert_int_equal(sr_work_init(&work, ROWS, 20), 0);
    front.loss[0] = sr_constants_fit(&p.loss, &front.expr[0], false, 40, 0, NULL, &work);
    sr_work_free(&work);
    assert_int_equal(sr_front_name(&p.settings, &p.data, &front), 0);
    sr_expr_print(p.language, &front.expr[0], planck_name, out, sizeof out);
    return out;
}

TEST(numbers_become_names)
{
    const char *const law = "1.47e-50 * (nu * nu * nu) / (exp(4.8e-11 * nu / T) - 1)";
    planck_create(0.01);
    const char *const found = named(law);
    assert_non_null(strstr(found, "(2 * (h / square(c)))"));
    assert_non_null(strstr(found, "((h / k_B) * nu)"));
    /* x / (k / h) is x (h / k); powers and undecided numbers stay */
    assert_non_null(strstr(named("1.47e-50 * (nu * nu * nu) / (exp(nu / 2.08e10 / T) - 1)"),
                           "(nu * (h / k_B))"));
    assert_null(strstr(named("2 * (1e-50 * (nu * nu * nu))"), "h"));
    p.settings.units = NULL; /* then only a constant alone is recognised */
    assert_null(strstr(named(law), "h"));
    planck_free();
    planck_create(0);
    for (int i = 0; i < ROWS; i++) /* another h: the number stays */
        p.y[i] *= 1.01;
    assert_null(
        strstr(named("1.49e-50 * (nu * nu * nu) / (exp(4.8e-11 * nu / T) - 1)"), "square(c)"));
    planck_free();
}

/* y = 2 nu / sqrt(c): the factor stands above the root. */
TEST(roots_of_reciprocals_have_factors)
{
    planck_create(0);
    assert_int_equal(sr_units_parse("nu=1/s, T=K, y=s^-0.5*m^-0.5", planck_name, 2, "y", &p.units),
                     0);
    sr_language_free(p.language);
    p.settings.language = p.data.language = p.language = sr_language_create();
    assert_int_equal(sr_constants_parse("c", &p.units, p.language), 0);
    for (int i = 0; i < ROWS; i++)
        p.y[i] = 2 / sqrt(299792458) * p.x[i];
    assert_string_equal(named("1.155e-4 * nu"), "((2 / sqrt(c)) * nu)");
    planck_free();
}

/* Without units a factor would agree with too many numbers. */
TEST(without_units_a_constant_alone_is_recognised)
{
    planck_create(0);
    p.settings.units = NULL;
    for (int i = 0; i < ROWS; i++)
        p.y[i] = 299792458 * p.x[i];
    assert_string_equal(named("3e8 * nu"), "(c * nu)");
    assert_string_equal(named("nu / 3e-9"), "(nu * c)");
    for (int i = 0; i < ROWS; i++)
        p.y[i] *= 2;
    assert_string_equal(named("6e8 * nu"), "(599584916 * nu)");
    planck_free();
}

/* y = nu exp(-2500 / T): T is in no group, and a number of the law has its unit. */
TEST(columns_without_a_group_are_searched)
{
    static struct sr_seeds seeds;
    double least = HUGE_VAL;
    planck_create(0);
    assert_int_equal(sr_units_parse("nu=1/s, T=K, y=1/s", planck_name, 2, "y", &p.units), 0);
    p.settings.language = p.data.language = NULL;
    for (int i = 0; i < ROWS; i++)
        p.y[i] = p.x[i] * exp(-2500 / p.x[ROWS + i]);
    sr_loss_free(&p.loss);
    assert_int_equal(sr_loss_init(&p.loss, ORR_SR_RELATIVE, &p.data), 0);
    seeds_of(sr_dimensions_find, &p.settings, &p.loss, 1, &seeds);
    for (int i = 0; i < seeds.count; i++)
        least = fmin(least, seeds.loss[i]);
    if (!(least < 1e-9))
        fail_msg("the least loss is %g", least);
    planck_free();
}

TESTS(NULL, NULL)
