/* test_constraints.c - prices, depth, sizes of arguments, nesting, and a search that keeps them. */
#include "symreg/formulas.h"

static struct sr_constraints c;

static bool whole(const char *text)
{
    const struct sr_expr expr = formula(text);
    return sr_constraints_whole(&expr, &c);
}

TEST(prices)
{
    struct sr_language *language = sr_language_create();
    assert_non_null(language);
    const struct sr_expr expr = formula("2 * exp(r) + exp(m1)");
    assert_int_equal(sr_expr_complexity(NULL, &expr), 7);
    assert_int_equal(sr_expr_complexity(language, &expr), 7);
    assert_int_equal(sr_complexity_set(language, "exp=3, constant=2; variable=4", NULL, 0), 0);
    assert_int_equal(sr_expr_complexity(language, &expr), 7 + 2 * 2 + 1 + 2 * 3);
    static struct sr_hall_of_fame hall;
    sr_hall_of_fame_clear(&hall);
    assert_true(sr_hall_of_fame_offer(&hall, language, &expr, 1));
    assert_true(hall.loss[18] == 1 && hall.expr[18].count == 7);
    assert_int_equal(sr_complexity_set(language, "exp=64", NULL, 0), 0);
    assert_false(sr_hall_of_fame_offer(&hall, language, &expr, 0.5)); /* beyond what a hall holds */
    assert_int_equal(sr_complexity_set(language, "exq=3", NULL, 0), ORR_EUSAGE);
    error_names("--complexity", "\"exq\"", "exp", NULL);
    static const char *const bad[] = {"exp", "=3", "exp=0", "exp=65", "exp=two", "exp=1.5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sr_complexity_set(language, bad[i], NULL, 0), ORR_EUSAGE);
        error_names("--complexity", NULL);
    }
    assert_int_equal(sr_complexity_set(language, NULL, NULL, 0), 0);
    assert_int_equal(sr_expr_complexity(language, &expr), 7);
    sr_language_free(language);
}

TEST(depth)
{
    sr_constraints_init(&c, NULL);
    assert_true(whole("r + (r + (r + (r + (r + r))))"));
    c.maxdepth = 3;
    assert_true(whole("(r + m1) * (r - m2)"));
    assert_true(whole("sin(cos(r))"));
    assert_false(whole("sin(cos(sin(r)))"));
    assert_false(whole("r + (r + (r + r))"));
    assert_false(whole("((r + r) + r) + r"));
}

TEST(sizes_of_arguments)
{
    sr_constraints_init(&c, NULL);
    assert_int_equal(sr_constraints_arguments(&c, "^:-1, 1; sin:3"), 0);
    assert_true(whole("(r + m1 * m2) ^ 2"));
    assert_true(whole("r ^ m1"));
    assert_false(whole("r ^ (m1 + 1)"));
    assert_false(whole("1 + r ^ sqrt(m1)"));
    assert_true(whole("sin(r + m1)"));
    assert_false(whole("sin(r + m1 + m2)"));
    static const char *const bad[] = {"^", "^:1", "^:1,2,3", "sin:1,2", "sin:x", "sin:-2", ":1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sr_constraints_arguments(&c, bad[i]), ORR_EUSAGE);
        error_names("--constrain", NULL);
    }
    assert_int_equal(sr_constraints_arguments(&c, "sinn:1"), ORR_EUSAGE);
    error_names("\"sinn\"", "\"sin\"", NULL);
}

TEST(nesting)
{
    sr_constraints_init(&c, NULL);
    assert_int_equal(sr_constraints_nesting(&c, "sin:cos=0,sin=1; exp:exp=0"), 0);
    assert_true(whole("sin(r) + cos(r)"));
    assert_true(whole("cos(sin(r))"));
    assert_false(whole("sin(cos(r))"));
    assert_false(whole("sin(r + exp(m1 * cos(r)))")); /* however deep */
    assert_true(whole("sin(sin(r))"));
    assert_false(whole("sin(sin(sin(r)))"));
    assert_true(whole("sin(sin(r) + sin(m1))")); /* side by side is one in a row */
    assert_false(whole("exp(r * exp(m1))"));
    assert_true(whole("exp(r) * exp(m1)"));
    static const char *const bad[] = {"sin", "sin:cos", "sin:cos=-1", "sin:cos=x", "sni:cos=0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sr_constraints_nesting(&c, bad[i]), ORR_EUSAGE);
        error_names("--nest", NULL);
    }
}

/* y = text times (1 + noise * Gaussian). */
static void table_of(struct table *t, const char *text, size_t rows, double noise)
{
    const struct sr_expr truth = formula(text);
    gsl_rng *rng = random_stream(1003);
    table_create(t, rows, 3, false);
    assert_true(sr_eval(&truth, &t->data, t->y));
    for (size_t i = 0; i < rows; i++)
        t->y[i] *= 1 + noise * gsl_ran_gaussian(rng, 1);
    gsl_rng_free(rng);
}

static struct sr_settings settings_of(int iterations)
{
    struct sr_settings s = {.binary = {SR_ADD, SR_MUL, SR_DIV, SR_POW},
                            .unary = {SR_SIN, SR_COS, SR_INV},
                            .binary_count = 4,
                            .unary_count = 3,
                            .loss = ORR_SR_L2,
                            .maxsize = 14,
                            .iterations = iterations,
                            .populations = 4,
                            .population_size = 20,
                            .cycles = 60,
                            .restarts = 1,
                            .seed = 3,
                            .admissible = sr_constraints_admissible,
                            .whole = sr_constraints_whole,
                            .context = &c};
    return s;
}

/* Whatever stands on the front keeps every rule. */
TEST(a_search_keeps_them)
{
    static struct sr_fit fit;
    static struct sr_units units;
    struct table t;
    struct sr_language *language = sr_language_create();
    assert_non_null(language);
    sr_constraints_init(&c, language);
    c.maxsize = 14;
    c.maxdepth = 5;
    assert_int_equal(sr_complexity_set(language, "sin=3", NULL, 0), 0);
    assert_int_equal(sr_constraints_arguments(&c, "^:-1,1"), 0);
    assert_int_equal(sr_constraints_nesting(&c, "sin:cos=0,sin=0; cos:cos=0"), 0);
    assert_int_equal(sr_units_parse("r=m, m1=kg, m2=kg, F=kg", feature_name, FEATURES, "F", &units),
                     0);
    c.units = &units;
    table_of(&t, "m1 * cos(m2 / m1) + 0.3 * sin(r * cos(r))", 100, 0.01);
    struct sr_settings s = settings_of(8);
    s.language = language;
    fit = (struct sr_fit){.data = t.data};
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    assert_true(fit.front.count > 1);
    for (int i = 0; i < fit.front.count; i++) {
        if (!sr_constraints_whole(&fit.front.expr[i], &c))
            fail_msg("%s breaks the constraints", text_of(&fit.front.expr[i]));
        assert_true(sr_expr_complexity(language, &fit.front.expr[i]) <= 14);
    }
    assert_int_equal(sr_complexity_set(language, NULL, NULL, 0), 0);
    /* members keep them, too: with no look at the whole, only its outer factor is unchecked */
    s.whole = NULL;
    c.maxdepth = 0;
    fit = (struct sr_fit){.data = t.data};
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    for (int i = 0; i < fit.front.count; i++)
        if (!sr_constraints_admissible(&fit.front.expr[i], &c))
            fail_msg("%s breaks the constraints inside", text_of(&fit.front.expr[i]));
    sr_language_free(language);
    table_free(&t);
}

/* A penalty makes wrong dimensions dear, but not impossible. */
TEST(a_penalty_is_paid)
{
    static struct sr_units units;
    sr_constraints_init(&c, NULL);
    assert_int_equal(sr_units_parse("r=m, m1=kg", feature_name, FEATURES, "F", &units), 0);
    c.units = &units;
    c.units_penalty = 2.5;
    const struct sr_expr good = formula("r * m1"), bad = formula("(r + m1) * exp(r)");
    assert_true(sr_constraints_penalty(&good, true, &c) == 0);
    assert_true(sr_constraints_penalty(&bad, true, &c) == 5);
    assert_true(whole("(r + m1) * exp(r)"));
    /* the target's dimension: a formula as it stands pays, with a free factor it need not */
    assert_int_equal(sr_units_parse("r=m, m1=kg, F=kg", feature_name, FEATURES, "F", &units), 0);
    assert_true(sr_constraints_penalty(&good, true, &c) == 2.5);
    assert_true(sr_constraints_penalty(&good, false, &c) == 0);
    c.units_penalty = 0;
    assert_false(whole("(r + m1) * exp(r)"));
}

TEST(required_columns)
{
    sr_constraints_init(&c, NULL);
    c.maxsize = 30;
    c.required = 1 << 0 | 1 << 2; /* r and m2 */
    assert_true(whole("r / m2 + m1"));
    assert_true(whole("sin(r) * exp(m2)"));
    assert_false(whole("r + m1"));
    assert_false(whole("m1"));
    assert_false(whole("r + 0 * m2")); /* formulas that only contain the column */
    assert_false(whole("r * m2 / m2"));
    assert_false(whole("(m2 + r) - m2 + 1"));
    const struct sr_expr part = formula("r + m1");
    assert_true(sr_constraints_admissible(&part, &c));
    c.required = 0;
    assert_true(whole("m1"));
}

/* Whether a formula of r over 0.3 .. 40 and others keeps to what is required of it. */
static bool holds(const char *text, const char *monotone, bool positive)
{
    struct table t;
    struct sr_shape shape = {.positive = positive};
    const struct sr_expr expr = formula(text);
    table_create(&t, 100, 51, true);
    if (*monotone)
        assert_int_equal(sr_shape_monotone(&shape, monotone, feature_name, FEATURES), 0);
    assert_int_equal(sr_shape_make(&shape, &t.data), 0);
    const bool found = sr_shape_holds(&shape, NULL, &expr);
    sr_shape_free(&shape);
    table_free(&t);
    return found;
}

TEST(shapes_are_checked_over_the_range)
{
    assert_true(holds("sqrt(r) + m2", "r=+", false));
    assert_false(holds("sqrt(r) + m2", "r=-", false));
    assert_true(holds("m1 / r - m2", "m1=+,r=-,m2=-", false));
    assert_true(holds("r * m1 + sin(m2)", "r=+", false));
    assert_false(holds("r * m2", "r=+", false));         /* m2 has both signs */
    assert_false(holds("square(r - 20)", "r=-", false)); /* rises at the end of the range */
    assert_true(holds("square(r - 41)", "r=-", false));
    assert_true(holds("floor(r)", "r=+", false));
    assert_false(holds("floor(-0.1 * r) + m1", "r=+", false)); /* its slope is 0 */
    assert_true(holds("2.385", "r=+,m1=-", true));
    assert_true(holds("exp(m2) + r", "", true));
    assert_false(holds("m1 + m2", "", true));
    assert_false(holds("r - 1.5", "", true));
    assert_false(holds("log(m2)", "m1=+", false)); /* not finite */
}

/* A guess starts the islands: without a single epoch it is there, with its constants fitted. */
/* A guess is fitted before anything is searched, from where it stands: that ends in the law itself
 * for most seeds, and for none without the guess. */
TEST(guesses_are_taken)
{
    enum { SEEDS = 16 };
    static struct sr_fit fit;
    struct table t;
    const struct sr_expr guess = formula("m1 * sin(1.1 * r) + 0.4 * m2");
    int found[2] = {0}; /* without the guess, with it */
    table_of(&t, "m1 * sin(1.3 * r) + 0.2 * m2", 100, 0);
    for (int run = 0; run < 2 * SEEDS; run++) {
        struct sr_settings s = settings_of(0);
        s.admissible = s.whole = NULL;
        s.guess = &guess;
        s.guesses = run % 2;
        s.seed = (uint64_t)run / 2;
        fit = (struct sr_fit){.data = t.data};
        assert_int_equal(sr_search(&s, &fit, 1, 1, NULL), 0);
        found[run % 2] += fit.front.loss[fit.front.count - 1] < 1e-12;
    }
    if (found[0] > 0 || found[1] < SEEDS / 2)
        fail_msg("found for %d of %d seeds, without the guess for %d", found[1], SEEDS, found[0]);
    table_free(&t);
}

TESTS(NULL, NULL)
