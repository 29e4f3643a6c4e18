/* test_expr.c - formulas as text and as arrays: reading, printing, cutting, factors, folding. */
#include "symreg/formulas.h"

enum { FORMULAS = 3000 };

/* ---- text */

static void prints(const char *text, const char *printed)
{
    const struct sr_expr expr = formula(text);
    assert_string_equal(text_of(&expr), printed);
}

TEST(reads_with_the_usual_precedence)
{
    prints("r + m1 * m2", "(r + (m1 * m2))");
    prints("r * m1 + m2", "((r * m1) + m2)");
    prints("r - m1 - m2", "((r - m1) - m2)");
    prints("r - m1 + m2", "((r - m1) + m2)");
    prints("r / m1 / m2", "((r / m1) / m2)");
    prints("r / m1 * m2", "((r / m1) * m2)");
    prints("r ^ m1 ^ m2", "(r ^ (m1 ^ m2))");
    prints("r * m1 ^ m2", "(r * (m1 ^ m2))");
    prints("r ^ m1 * m2", "((r ^ m1) * m2)");
    prints("39.48*m1*m2/r^2", "(((39.48 * m1) * m2) / (r ^ 2))");
    prints("(r + m1) * m2", "((r + m1) * m2)");
    prints("min(r, m1 - 2) + max(r*r, sin(m2))", "(min(r, (m1 - 2)) + max((r * r), sin(m2)))");
    prints("  inv( r*r )\t", "inv((r * r))");
}

TEST(reads_comparisons_and_choices)
{
    prints("r > m1", "greater(r, m1)");
    prints("r < m1 + 1", "greater((m1 + 1), r)");
    prints("r * 2 <= m1", "(1 - greater((r * 2), m1))");
    prints("r >= m1", "(1 - greater(m1, r))");
    prints("r == m1", "(1 - greater(abs((r - m1)), 0))");
    prints("r != m1", "greater(abs((r - m1)), 0)");
    prints("(r < m1) < m2", "greater(m2, greater(m1, r))");
    prints("r > 1 && m1 > 2", "(greater(r, 1) * greater(m1, 2))");
    prints("r || m1 > 2", "max(greater(abs(r), 0), greater(m1, 2))");
    prints("r > 1 || m1 > 2 && m2 > 3", "max(greater(r, 1), (greater(m1, 2) * greater(m2, 3)))");
    prints("r > 1 ? m1 : m2 + 1",
           "(cond(greater(r, 1), m1) + cond((1 - greater(r, 1)), (m2 + 1)))");
    prints("2 * (m1 ? r : 3)",
           "(2 * (cond(greater(abs(m1), 0), r) + cond((1 - greater(abs(m1), 0)), 3)))");
    prints("min(r, m1, m2 < 1)", "min(min(r, m1), greater(1, m2))");
}

TEST(reads_signs)
{
    prints("-r", "neg(r)");
    prints("-r ^ 2", "neg((r ^ 2))");
    prints("-2", "-2");
    prints("-2 ^ 2", "neg((2 ^ 2))");
    prints("(-2) ^ 2", "((-2) ^ 2)");
    prints("r ^ -2", "(r ^ -2)");
    prints("r ^ -m1", "(r ^ neg(m1))");
    prints("r * -m1", "(r * neg(m1))");
    prints("-r * m1", "(neg(r) * m1)");
    prints("r - -1.5e-3", "(r - -0.0015)");
    prints("r -1", "(r - 1)");
    prints("2 - +3", "(2 - 3)");
    prints("--r", "neg(neg(r))");
    prints("- -2", "2");
}

/* Printing has 7 digits: the second text must be the first, and the structure the same. */
TEST(prints_what_it_reads)
{
    gsl_rng *rng = random_stream(1);
    for (int k = 0; k < FORMULAS; k++) {
        const struct sr_expr expr = random_formula(rng, 1 + k % SR_NODES);
        char first[SR_TEXT];
        sr_expr_print(NULL, &expr, feature_name, first, sizeof first);
        const struct sr_expr again = formula(first);
        assert_string_equal(text_of(&again), first);
        assert_int_equal(again.count, expr.count);
        for (int i = 0; i < expr.count; i++) {
            assert_int_equal(again.node[i].op, expr.node[i].op);
            assert_int_equal(again.node[i].size, expr.node[i].size);
            if (expr.node[i].op == SR_CONSTANT)
                assert_true(near(again.node[i].value, expr.node[i].value, 1e-6));
            else
                assert_int_equal(again.node[i].feature, expr.node[i].feature);
        }
    }
    gsl_rng_free(rng);
}

/* Whatever columns are called: what is printed is read back as the same formula. */
TEST(reads_back_any_name)
{
    static const char *const names[] = {
        "mass, kg", "s t", "a*b", "a+b",  "-x",       "1/r",   "(r)",   "r)",     "x^2",
        "2nd",      "1e5", "\"",  "\"\"", "5\" pipe", "\"r\"", "exp",   "inv",    "square",
        "min",      "g",   "h",   "*",    "^",        "",      "a=b;c", "p_%",    "\\frac{a}{b}",
        "$x$",      "b&c", "d#",  "{e}",  "f~g",      "h|i",   "größe", "加速度", "x²",
        "x−y",      "'",   "`x`", "a\\",  " r ",      ",",     "_",     "inf"};
    enum { NAMES = sizeof names / sizeof *names };
    struct sr_language *language = language_of("g(x)=x*x; h(u,v)=u-v");
    gsl_rng *rng = random_stream(11);
    char first[SR_TEXT], second[SR_TEXT], name[120];
    for (int f = 0; f < NAMES; f++) { /* beside its quotes whatever may stand there */
        struct sr_expr expr = formula_in(language, "exp(g(r)) + h(r, 2 * r) ^ -r"), again;
        for (int i = 0; i < expr.count; i++)
            expr.node[i].feature = expr.node[i].op == SR_CONSTANT ? 0 : (uint8_t)f;
        sr_expr_print(language, &expr, names, first, sizeof first);
        if (sr_expr_parse(language, first, names, NAMES, &again))
            fail_msg("%s", orr_error());
        sr_expr_clean(&expr);
        sr_expr_clean(&again);
        assert_memory_equal(&again, &expr, sizeof expr);
        sr_expr_print(language, &again, names, second, sizeof second);
        assert_string_equal(first, second);
    }
    for (int k = 0; k < FORMULAS; k++) {
        struct sr_expr expr = random_formula(rng, 1 + k % SR_NODES), again;
        for (int i = 0; i < expr.count; i++)
            if (expr.node[i].op == SR_FEATURE)
                expr.node[i].feature = (uint8_t)gsl_rng_uniform_int(rng, NAMES);
        sr_expr_print(language, &expr, names, first, sizeof first);
        if (sr_expr_parse(language, first, names, NAMES, &again))
            fail_msg("%s", orr_error());
        assert_int_equal(again.count, expr.count);
        for (int i = 0; i < expr.count; i++) {
            assert_int_equal(again.node[i].op, expr.node[i].op);
            if (expr.node[i].op == SR_FEATURE)
                assert_int_equal(again.node[i].feature, expr.node[i].feature);
        }
    }
    for (int f = 0; f < NAMES; f++) { /* no name is another one's text */
        const struct sr_expr expr = {
            .count = 1, .node[0] = {.op = SR_FEATURE, .size = 1, .feature = (uint8_t)f}};
        sr_expr_print(language, &expr, names, first, sizeof first);
        assert_true(sr_name_read(first, strlen(first), name, sizeof name));
        assert_string_equal(name, names[f]);
    }
    gsl_rng_free(rng);
    sr_language_free(language);
}

TEST(names_of_lists)
{
    static const struct {
        const char *text, *name;
    } lists[] = {{"  mass (kg) ", "mass (kg)"},
                 {" \" a, \"\"b\"\" \" ", " a, \"b\" "},
                 {"5\" pipe", "5\" pipe"},
                 {"\"\"", ""},
                 {"\"", NULL},
                 {"\"a", NULL},
                 {"\"a\"\"", NULL},
                 {"\"a\" b", NULL},
                 {"", NULL},
                 {"   ", NULL},
                 {"12345678901234567890", NULL}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char name[20];
        const bool read = sr_name_read(lists[i].text, strlen(lists[i].text), name, sizeof name);
        assert_int_equal(read, lists[i].name != NULL);
        if (read)
            assert_string_equal(name, lists[i].name);
    }
    assert_int_equal(sr_name_quoted("\"a, \"\"b\"\"\", c"), 10);
    assert_int_equal(sr_name_quoted("a\""), 0);
    assert_int_equal(sr_name_quoted("\"a\"\""), 0);
}

TEST(cuts_text_that_does_not_fit)
{
    const struct sr_expr expr = formula("r + m1");
    char text[9];
    memset(text, 'x', sizeof text);
    sr_expr_print(NULL, &expr, feature_name, text, 5);
    assert_string_equal(text, "(r +");
    assert_int_equal(text[5], 'x');
    sr_expr_print(NULL, &expr, feature_name, text, 1);
    assert_string_equal(text, "");
    sr_expr_print(NULL, &expr, feature_name, text, 9);
    assert_string_equal(text, "(r + m1)");
}

static void refuses(const char *text, const char *a, const char *b)
{
    struct sr_expr expr;
    if (sr_expr_parse(NULL, text, feature_name, FEATURES, &expr) != ORR_EINVAL)
        fail_msg("\"%s\" was read, or refused with another code", text);
    error_names(a, b, NULL);
}

TEST(refuses_what_is_no_formula)
{
    refuses("", "a number", "character 1 ");
    refuses("r +", "a number", "character 4 ");
    refuses("(r + m1", "\")\"", "character 8 ");
    refuses("r m1", "the end", "character 3 ");
    refuses("q + r", "a known name", "character 1 ");
    refuses("r + sinus(m1)", "an operator", "character 5 ");
    refuses("min(r)", "\",\"", "character 6 ");
    refuses("sin(r, m1)", "\")\"", "character 6 ");
    refuses("r + inf", "a known name", "character 5 ");
    refuses("1e999 * r", "a number", "character 1 ");
    refuses("r + \"m1 * 2", "ends with a quote", "character 5 ");
    refuses("r + \"m1 \"", "a name", "character 5 ");
    refuses("r\"m1\"", "the end", "character 2 ");
    refuses("r + * m1", "a number", "character 5 ");
    refuses("r = m1", "\"==\" or the end", "character 3 ");
    refuses("r < ", "a number", "character 5 ");
    refuses("r & m1", "the end", "character 3 ");
    refuses("r ? m1", "\":\"", "character 7 ");
    refuses("sin(r ? m1) : 2", "\":\"", "character 11 ");
    char text[4 * 1024];
    memset(text, '(', sizeof text);
    text[sizeof text - 1] = '\0';
    refuses(text, "nested", "deep");
    memset(text, '-', sizeof text - 1);
    refuses(text, "nested", "deep");
    for (int i = 0; i < SR_NODES; i++) /* 65 features, 64 sums */
        memcpy(text + 2 * i, "r+", 2);
    memcpy(text + 2 * SR_NODES, "r", 2);
    refuses(text, "more than", "64");
}

TEST(takes_a_formula_of_the_largest_size)
{
    char text[4 * SR_NODES] = "-r";
    for (int i = 0; i < 31; i++)
        memcpy(text + 2 + 2 * i, "*r", 3);
    const struct sr_expr expr = formula(text);
    assert_int_equal(expr.count, SR_NODES);
    struct table t;
    table_create(&t, 5, 3, false);
    double value[5];
    assert_true(sr_eval(&expr, &t.data, value));
    for (size_t i = 0; i < 5; i++)
        assert_true(near(value[i], -pow(t.x[i], 32), 1e-13));
    table_free(&t);
}

/* ---- arrays */

/* In every byte that counts: what is behind the last node, and beside a node's members, nobody has
 * written. */
static void same_formula(const struct sr_expr *a, const struct sr_expr *b)
{
    struct sr_expr x = *a, y = *b;
    sr_expr_clean(&x);
    sr_expr_clean(&y);
    assert_memory_equal(&x, &y, sizeof x);
}

TEST(measures_only_formulas)
{
    const struct sr_node r = {.op = SR_FEATURE}, sum = {.op = SR_ADD}, minus = {.op = SR_NEG};
    struct sr_expr expr = {.count = 5, .node = {r, r, minus, r, sum}};
    assert_false(sr_expr_measure(NULL, &expr)); /* two formulas */
    expr.node[4] = minus;
    assert_false(sr_expr_measure(NULL, &expr));
    expr = (struct sr_expr){.count = 2, .node = {r, sum}}; /* an operand is missing */
    assert_false(sr_expr_measure(NULL, &expr));
    expr = (struct sr_expr){0};
    assert_false(sr_expr_measure(NULL, &expr));
    expr = (struct sr_expr){.count = 6, .node = {r, r, minus, r, sum, sum}};
    assert_true(sr_expr_measure(NULL, &expr));
    const int size[6] = {1, 1, 2, 1, 4, 6}, start[6] = {0, 1, 1, 3, 1, 0};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(expr.node[i].size, size[i]);
        assert_int_equal(sr_expr_start(&expr, i), start[i]);
    }
}

TEST(splices_within_the_limit)
{
    struct sr_expr expr = formula("r + m1 * m2"); /* r m1 m2 * + */
    const struct sr_expr other = formula("sin(m2 - 3)"), before = expr;
    assert_false(sr_expr_splice(NULL, &expr, 1, 3, other.node, other.count, 5));
    same_formula(&expr, &before);
    assert_true(sr_expr_splice(NULL, &expr, 1, 3, other.node, other.count, 6));
    assert_string_equal(text_of(&expr), "(r + sin((m2 - 3)))");
    assert_true(sr_expr_splice(NULL, &expr, 0, 6, other.node, 1, 20)); /* the whole by a leaf */
    assert_string_equal(text_of(&expr), "m2");
    struct sr_expr large = formula("r");
    while (large.count < SR_NODES - 1) { /* r * (r * ...): no constant that could take a factor */
        assert_true(sr_expr_scale(&large, 2));
        large.node[0] = (struct sr_node){.op = SR_FEATURE, .size = 1};
    }
    assert_int_equal(large.count, SR_NODES - 1);
    assert_false(
        sr_expr_splice(NULL, &large, 0, 1, other.node, 4, 1000)); /* SR_NODES holds always */
    assert_false(sr_expr_scale(&large, 2));
    assert_int_equal(large.count, SR_NODES - 1);
}

/* factor * before and after differ by rounding only, row by row. */
static void same_values(const struct sr_expr *before, const struct sr_expr *after, double factor,
                        const struct table *t, int *compared)
{
    double *a = orr_alloc(2 * t->data.rows, sizeof *a), *b = a + t->data.rows;
    assert_non_null(a);
    if (sr_eval(before, &t->data, a)) {
        char text[SR_TEXT];
        sr_expr_print(NULL, before, feature_name, text, sizeof text);
        if (!sr_eval(after, &t->data, b))
            fail_msg("%s became %s, which is not finite", text, text_of(after));
        for (size_t i = 0; i < t->data.rows; i++)
            if (!near(factor * a[i], b[i], 1e-6) && fabs(factor * a[i] - b[i]) > 1e-9)
                fail_msg("%g * %s = %.17g became %s = %.17g", factor, text, factor * a[i],
                         text_of(after), b[i]);
        ++*compared;
    }
    free(a);
}

/* Random formulas of polynomial operators: rounding is not blown up by steep functions. */
static struct sr_expr tame_formula(gsl_rng *rng, int most)
{
    for (;;) {
        const struct sr_expr expr = random_formula(rng, most);
        bool tame = true;
        for (int i = 0; i < expr.count; i++) {
            const int op = expr.node[i].op;
            tame = tame && op != SR_POW && op != SR_EXP && op != SR_TAN && op != SR_SIGN &&
                   op != SR_CUBE && op != SR_LOG;
        }
        if (tame)
            return expr;
    }
}

static void absorbs(const char *text, double scale, const char *scaled)
{
    struct sr_expr expr = formula(text), before = expr;
    const bool absorbed = sr_expr_absorb(&expr, scale);
    assert_int_equal(absorbed, scaled != NULL);
    if (scaled)
        assert_string_equal(text_of(&expr), scaled);
    else
        same_formula(&expr, &before);
}

TEST(absorbs_known_cases)
{
    absorbs("3", 4, "12");
    absorbs("3 * r", 4, "(12 * r)");
    absorbs("r * (m1 * 3)", 4, "(r * (m1 * 12))");
    absorbs("inv(2 * r)", 4, "inv((0.5 * r))");
    absorbs("1 + 2 * r", 4, "(4 + (8 * r))");
    absorbs("2 * r - 1 / r", 4, "((8 * r) - (4 / r))");
    absorbs("r / (2 * m1)", 4, "(r / (0.5 * m1))");
    absorbs("-(3 * r)", 4, "neg((12 * r))");
    absorbs("r", 4, NULL);
    absorbs("1 + r", 4, NULL);
    absorbs("r - 1", 4, NULL);
    absorbs("sin(3 * r)", 4, NULL);
    absorbs("(3 * r) ^ 2", 4, NULL);
    absorbs("3 * r", 0, NULL);
}

TEST(factors_keep_values)
{
    struct table t;
    table_create(&t, 23, 7, true);
    gsl_rng *rng = random_stream(3);
    int absorbed = 0, scaled = 0;
    for (int k = 0; k < FORMULAS; k++) {
        const struct sr_expr before = tame_formula(rng, 1 + k % 20);
        const double factor = (k % 2 ? -1 : 1) * exp(gsl_ran_gaussian(rng, 3));
        struct sr_expr expr = before;
        if (sr_expr_absorb(&expr, factor)) {
            assert_int_equal(expr.count, before.count);
            same_values(&before, &expr, factor, &t, &absorbed);
        } else {
            same_formula(&expr, &before);
        }
        expr = before;
        assert_true(sr_expr_scale(&expr, factor));
        assert_true(expr.count <= before.count + 2);
        same_values(&before, &expr, factor, &t, &scaled);
    }
    assert_true(absorbed > 50 && scaled > FORMULAS / 5);
    gsl_rng_free(rng);
    table_free(&t);
}

static void strips(const char *text, const char *bare)
{
    struct sr_expr expr = formula(text);
    sr_expr_strip(&expr);
    assert_string_equal(text_of(&expr), bare);
    struct sr_expr measured = expr;
    assert_true(sr_expr_measure(NULL, &measured));
    for (int i = 0; i < expr.count; i++)
        assert_int_equal(measured.node[i].size, expr.node[i].size);
}

TEST(strips_constant_factors)
{
    strips("3 * sin(r)", "sin(r)");
    strips("sin(r) * 3", "sin(r)");
    strips("3 * (4 * (r + m1) * 5)", "(r + m1)");
    strips("3 * r + 1", "((3 * r) + 1)");
    strips("(3 * r) * m1", "((3 * r) * m1)");
    strips("3", "3");
    strips("3 * 4", "3");
    strips("3 / r", "(3 / r)");
}

TEST(hashes_tell_formulas_apart)
{
    static const char *const text[] = {"r",
                                       "m1",
                                       "m2",
                                       "1",
                                       "2",
                                       "r + m1",
                                       "m1 + r",
                                       "r - m1",
                                       "r * m1",
                                       "sin(r)",
                                       "cos(r)",
                                       "r + 1",
                                       "1 + r",
                                       "r + 2",
                                       "r + 1.0000000001",
                                       "(r + m1) + m2",
                                       "r + (m1 + m2)",
                                       "(m1 + r) + m2",
                                       "-1",
                                       "1 * r"};
    enum { N = sizeof text / sizeof text[0] };
    uint64_t hash[N];
    for (int i = 0; i < N; i++) {
        const struct sr_expr expr = formula(text[i]), again = formula(text[i]);
        hash[i] = sr_expr_hash(&expr);
        assert_true(hash[i] == sr_expr_hash(&again));
        for (int k = 0; k < i; k++)
            assert_true(hash[k] != hash[i]);
    }
    /* what lies behind the last node, and unused fields, do not count */
    struct sr_expr expr = formula("r + 1");
    const uint64_t plain = sr_expr_hash(&expr);
    expr.node[3].op = SR_MUL;
    expr.node[1].feature = 2;
    expr.node[0].value = 9;
    assert_true(sr_expr_hash(&expr) == plain);
}

TEST(reads_and_writes_constants)
{
    struct sr_expr expr = formula("1.5 * r + sin(-2 * m1) ^ 3");
    double constants[SR_NODES];
    assert_int_equal(sr_expr_constants(&expr, constants), 3);
    assert_true(constants[0] == 1.5 && constants[1] == -2 && constants[2] == 3);
    const double other[3] = {7, 8, 9};
    sr_expr_set_constants(&expr, other);
    assert_string_equal(text_of(&expr), "((7 * r) + (sin((8 * m1)) ^ 9))");
}

/* The bytes of a formula are those that it says, whatever stood in its memory before. */
TEST(clean_formulas_are_the_same_bytes)
{
    const struct sr_expr from = formula("39.5*m1*m2/(r*r)");
    struct sr_expr found[2];
    for (int k = 0; k < 2; k++) {
        memset(&found[k], k ? 0xff : 0, sizeof found[k]);
        found[k].count = from.count;
        for (int i = 0; i < from.count; i++) {
            found[k].node[i].op = from.node[i].op;
            found[k].node[i].size = from.node[i].size;
            if (from.node[i].op == SR_FEATURE || from.node[i].op == SR_CONSTANT)
                found[k].node[i].feature = from.node[i].feature;
            if (from.node[i].op == SR_CONSTANT)
                found[k].node[i].value = from.node[i].value;
        }
        if (k)
            sr_expr_clean(&found[k]);
    }
    assert_memory_equal(&found[0], &found[1], sizeof *found);
    assert_string_equal(text_of(&found[1]), text_of(&from));
}

TESTS(NULL, NULL)
