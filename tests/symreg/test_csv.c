/* test_csv.c - tables, own operators and losses, and the options of CSV mode. */
#include "symreg/formulas.h"
#include "symreg/table/program.h"

static char path[4096];

static int read_table(const char *text, const struct sr_csv_options *options,
                      struct sr_table *table)
{
    scratch_path(path, scratch_dir, "table.csv");
    scratch_text(path, text);
    return sr_table_read(path, options, table);
}

TEST_BETWEEN(columns_are_picked, scratch_setup, scratch_teardown)
{
    struct sr_table t;
    struct sr_csv_options o = {.target = "y", .weights = "w"};
    assert_int_equal(read_table("name,a,y,w,b\nx,1,2,1,3\nz,4,5,3,6\n", &o, &t), 0);
    assert_int_equal(t.data.features, 2); /* no name, no target, no weights */
    assert_string_equal(t.name[0], "a");
    assert_string_equal(t.name[1], "b");
    assert_true(t.data.x[0] == 1 && t.data.x[1] == 4 && t.data.x[2] == 3 && t.data.x[3] == 6);
    assert_true(t.data.y[0] == 2 && t.data.y[1] == 5);
    assert_true(t.data.weight[0] == 0.5 && t.data.weight[1] == 1.5);
    sr_table_free(&t);
    o = (struct sr_csv_options){.target = "y", .features = "b", .log_target = "1"};
    assert_int_equal(read_table("a,y,b\n1,2,3\nfive,5,6\n", &o, &t), 0);
    assert_true(t.data.features == 1 && t.data.x[0] == 3 && !t.data.weight);
    assert_true(near(t.data.y[1], log(5), 1e-15));
    sr_table_free(&t);
}

/* Most digits of a cell, and the place of the last; none of whole numbers and grids. */
TEST_BETWEEN(digits_are_counted, scratch_setup, scratch_teardown)
{
    struct sr_table t;
    struct sr_csv_options o = {.target = "y"};
    const char *const text = "n,grid,fixed,short,y\n"
                             "1,0.5,12.34567,-1.5e10,2.0000e-3\n"
                             "20,1.5,0.04100,12345.67e-2,.00123\n"
                             "300,2,-3.00000,0012.0,7.1E+2\n";
    assert_int_equal(read_table(text, &o, &t), 0);
    const struct sr_digits *d = t.data.digits;
    assert_int_equal(d[0].significant, 0);
    assert_int_equal(d[1].significant, 0);
    assert_true(d[2].significant == 7 && d[2].last == -5);
    assert_true(d[3].significant == 7 && d[3].last == -4);
    assert_true(d[4].significant == 5 && d[4].last == -7 && !d[4].logarithm);
    sr_table_free(&t);
    o = (struct sr_csv_options){.target = "y", .log_target = "1"};
    assert_int_equal(read_table(text, &o, &t), 0);
    assert_true(t.data.digits[4].significant == 5 && t.data.digits[4].logarithm);
    sr_table_free(&t);
}

/* 1/y^2, of no row more than that of a tenth of the median |y| */
TEST_BETWEEN(weights_are_relative, scratch_setup, scratch_teardown)
{
    const double odd[] = {1, -2, 4, 0.001, -8}, even[] = {2, -6, 0, 10};
    const double of_odd[] = {1, 0.25, 0.0625, 25, 0.015625};
    const double of_even[] = {0.25, 1 / 36.0, 6.25, 0.01};
    double weight[5];
    assert_true(sr_weights_relative(odd, 5, weight));
    for (int i = 0; i < 5; i++)
        assert_true(near(weight[i], of_odd[i], 1e-15));
    assert_true(sr_weights_relative(even, 4, weight)); /* the median is 4 */
    for (int i = 0; i < 4; i++)
        assert_true(near(weight[i], of_even[i], 1e-15));
    const double zero[] = {0, 3, 0, 0, 5}, tiny[] = {1, 1e-200, 1e-200, 2, 1e-200};
    assert_false(sr_weights_relative(zero, 5, weight));
    assert_false(sr_weights_relative(tiny, 5, weight));

    struct sr_table t;
    struct sr_csv_options o = {.target = "y", .weights = "relative"};
    assert_int_equal(read_table("a,y\n1,1\n2,-2\n3,4\n4,0.001\n5,-8\n", &o, &t), 0);
    assert_true(t.relative && t.data.features == 1);
    double mean = 0;
    for (int i = 0; i < 5; i++)
        mean += of_odd[i] / 5;
    for (int i = 0; i < 5; i++)
        assert_true(near(t.data.weight[i], of_odd[i] / mean, 1e-15));
    sr_table_free(&t);
    /* a column of this name is the column, and no feature */
    assert_int_equal(read_table("a,relative,y\n1,1,9\n2,3,8\n", &o, &t), 0);
    assert_true(!t.relative && t.data.features == 1);
    assert_true(t.data.weight[0] == 0.5 && t.data.weight[1] == 1.5);
    sr_table_free(&t);
}

static void refuses(const char *text, const struct sr_csv_options *o, int code, const char *part)
{
    struct sr_table t;
    const int rc = read_table(text, o, &t);
    if (rc != code)
        fail_msg("expected status %d, found %d (%s)", code, rc, orr_error());
    error_names(part, NULL);
    sr_table_free(&t);
}

TEST_BETWEEN(bad_tables_are_refused, scratch_setup, scratch_teardown)
{
    const struct sr_csv_options o = {.target = "y"};
    const struct sr_csv_options w = {.target = "y", .weights = "w"};
    const struct sr_csv_options same = {.target = "y", .weights = "y"};
    const struct sr_csv_options l = {.target = "y", .log_target = "1"};
    refuses("", &o, ORR_EFORMAT, "empty");
    refuses("a,y\n", &o, ORR_EINVAL, "at least 2 rows, found 0");
    refuses("a,y\n1,2\n", &o, ORR_EINVAL, "at least 2 rows, found 1");
    refuses("a,y\n1,2\n3\n", &o, ORR_EFORMAT, ":3: expected 2 cells, found 1");
    refuses("a,y\n1,2\n3,4,5\n", &o, ORR_EFORMAT, ":3: expected 2 cells, found more");
    refuses("a,y\n1,2\n3,nan\n", &o, ORR_EFORMAT, "finite number, found \"nan\"");
    refuses("a,y\n1,2\ninf,4\n", &o, ORR_EFORMAT, ":3: column \"a\"");
    refuses("a,y\n1,2\n3,four\n", &o, ORR_EFORMAT, "\"four\"");
    refuses("a,y\n1,2\n,4\n", &o, ORR_EFORMAT, ":3: column \"a\"");
    refuses("a,y,y\n1,2,3\n", &o, ORR_EFORMAT, "stands twice");
    refuses("a,z\n1,2\n3,4\n", &o, ORR_EMISSING, "no column \"y\"");
    refuses("y\n1\n2\n", &o, ORR_EINVAL, "no column of numbers");
    refuses("a,y,w\n1,2,-1\n1,2,1\n", &w, ORR_EINVAL, "at least 0, found -1");
    refuses("a,y,w\n1,2,0\n1,2,0\n", &w, ORR_EINVAL, "above 0, found none");
    refuses("a,y\n1,2\n1,2\n", &w, ORR_EMISSING, "no column \"w\"");
    refuses("a,y\n1,2\n1,2\n", &same, ORR_EUSAGE, "is the target");
    refuses("a,y\n1,2\n1,0\n", &l, ORR_EINVAL, "positive numbers, found 0");
    refuses("a,y\n\"1,2\n", &o, ORR_EFORMAT, "not closed");
    refuses("n,a,y\n\"i\nj\nk\",1,2\nl,2,nan\n", &o, ORR_EFORMAT, ":5: column \"y\"");
    refuses("n,a,y\n\"i\nj\",1,2\nl,2,0\n", &l, ORR_EINVAL, ":4: column \"y\"");
    refuses("n,a,y,w\n\"i\nj\",1,2,1\nl,2,0,-1\n", &w, ORR_EINVAL, ":4: column \"w\"");
    const struct sr_csv_options r = {.target = "y", .weights = "relative"};
    const struct sr_csv_options near_miss = {.target = "y", .weights = "relativ"};
    const struct sr_csv_options both = {.target = "y", .weights = "relative", .log_target = "1"};
    refuses("a,y\n1,0\n1,0\n", &r, ORR_EINVAL, "the median of |y| is 0");
    refuses("a,y\n1,0\n1,0\n1,5\n", &r, ORR_EINVAL, "column \"y\": --weights relative");
    refuses("a,y\n1,2\n1,2\n", &near_miss, ORR_EMISSING, "did you mean \"relative\"?");
    refuses("a,y\n1,2\n1,3\n", &both, ORR_EUSAGE, "--log-target");
}

/* Names with commas or quotes stand in quotes wherever options name columns. */
TEST_BETWEEN(quoted_names_are_found, scratch_setup, scratch_teardown)
{
    static const char *const table =
        "\"mass, kg\",s t,\"5\"\" pipe\",\"y, m\",\"y\"\n1,2,3,4,5\n2,3,4,5,6\n";
    struct sr_csv_options o = {.target = " \"y, m\"",
                               .features = " s t ,\"5\"\" pipe\", \"mass, kg\"",
                               .weights = "\"y\""};
    struct sr_table t;
    if (read_table(table, &o, &t))
        fail_msg("%s", orr_error());
    assert_string_equal(t.target, "y, m");
    assert_string_equal(t.weights, "y");
    assert_string_equal(t.name[0], "s t");
    assert_string_equal(t.name[1], "5\" pipe");
    assert_string_equal(t.name[2], "mass, kg");
    assert_true(t.data.y[1] == 5 && t.data.x[4] == 1 && t.data.features == 3);
    sr_table_free(&t);
    o = (struct sr_csv_options){.target = "y, m", .features = "5\" pipe"}; /* as before quoting */
    assert_int_equal(read_table(table, &o, &t), 0);
    assert_true(t.data.x[0] == 3);
    sr_table_free(&t);
    static const char *const bad[] = {"", ",y", "y,", "\"mass, kg", "\"mass, kg\" y", "\"y\",,"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o = (struct sr_csv_options){.target = "y, m", .features = bad[i]};
        refuses(table, &o, ORR_EUSAGE, "those that have one in double quotes");
    }
    o = (struct sr_csv_options){.target = "y, m", .features = "mass, kg"};
    refuses(table, &o, ORR_EMISSING, "did you mean \"mass, kg\"?");
    o = (struct sr_csv_options){.target = "\"y, n\""};
    refuses(table, &o, ORR_EMISSING, "did you mean \"y, m\"?");
}

/* Archives write lines before the header, and numbers as Fortran does. */
TEST_BETWEEN(tables_of_archives_are_read, scratch_setup, scratch_teardown)
{
    const struct sr_csv_options o = {.target = "y"};
    struct sr_table t;
    assert_int_equal(read_table("# by\n#\nname,a,y\nx,3.9D-01,1\n\nz,4d0,2\n", &o, &t), 0);
    assert_true(t.data.rows == 2 && t.data.features == 1 && t.csv.comments == 2);
    assert_true(t.data.x[0] == 0.39 && t.data.x[1] == 4);
    sr_table_free(&t);
    refuses("# by\na,y\n1,2\n\n3,4D\n", &o, ORR_EFORMAT, ":5: column \"y\": expected a finite");
    refuses("# by\n# y,a,b\n1,2\n3,4\n", &o, ORR_EMISSING, "begin with \"#\"");
    /* columns that are numbers to their writer are not left out as text */
    refuses("a,b,y\n,1,2\n\"3,9\",4,5\n", &o, ORR_EFORMAT, ":3: column \"a\"");
    refuses("a,b,y\n\"1,234.5\",1,2\n\"3,900.5\",4,5\n", &o, ORR_EFORMAT, ":2: column \"a\"");
    refuses("a,b,y\n5%,1,2\n7 %,4,5\n", &o, ORR_EFORMAT, ":2: column \"a\"");
    static const char *const texts[] = {"2/1/2020", "1.2.3", "12:30", "5 m", "N/A", "", "1,2 x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[80];
        snprintf(text, sizeof text, "a,b,y\n\"%s\",1,2\n\"%s\",4,5\n", texts[i], texts[i]);
        assert_int_equal(read_table(text, &o, &t), 0);
        assert_true(t.data.features == 1 && !strcmp(t.name[0], "b"));
        sr_table_free(&t);
    }
    refuses("x,y\n1,1\n3,1e160\n", &o, ORR_EINVAL, ":3: column \"y\"");
    /* ISO dates are days since the first */
    assert_int_equal(read_table("a,b,y\n2020-01-04,1,2\n2020-01-02T12:00,4,5\n", &o, &t), 0);
    assert_true(t.data.features == 2 && t.data.x[0] == 1.5 && t.data.x[1] == 0);
    assert_true(t.dates.count == 1 && t.dates.of[0].first == 18263.5);
    sr_table_free(&t);
}

/* What acts on terminals, and what a formula could not tell from its constants. */
TEST_BETWEEN(bad_names_are_refused, scratch_setup, scratch_teardown)
{
    struct sr_table t;
    const struct sr_csv_options o = {.target = "y"}, two = {.target = "2"};
    refuses("a\xc2\x9b,y\n1,2\n1,3\n", &o, ORR_EFORMAT, "the name of column 1");
    refuses("a,b\x7f,y\n1,2,3\n1,3,4\n", &o, ORR_EFORMAT, "the name of column 2");
    assert_int_equal(read_table("\xc3\x9b\xc2\xb5,y\n1,2\n1,3\n", &o, &t), 0); /* letters */
    sr_table_free(&t);
    static const char *const numbers[] = {"2", " 2.5 ", "-1e3", ".5", "0x1F", "+7"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[80];
        snprintf(text, sizeof text, "%s,y\n1,2\n1,3\n", numbers[i]);
        refuses(text, &o, ORR_EFORMAT, "could not be distinguished from a number");
    }
    /* the target is in no formula, and words are none */
    assert_int_equal(read_table("2nd,inf,e5,2\n1,2,1,1\n1,3,2,1\n", &two, &t), 0);
    sr_table_free(&t);
}

TEST_BETWEEN(samples_are_rows_of_the_table, scratch_setup, scratch_teardown)
{
    enum { ROWS = 200, TAKEN = 37 };
    char text[ROWS * 24] = "a,y,w\n";
    size_t used = strlen(text);
    for (int i = 0; i < ROWS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,%d,%d\n", i, 3 * i, i % 5);
    const struct sr_csv_options o = {.target = "y", .weights = "w"};
    struct sr_table t, s, again;
    assert_int_equal(read_table(text, &o, &t), 0);
    assert_int_equal(sr_table_sample(&t, TAKEN, 7, &s), 0);
    assert_int_equal(sr_table_sample(&t, TAKEN, 7, &again), 0);
    assert_int_equal(s.data.rows, TAKEN);
    for (int i = 0; i < TAKEN; i++) {
        assert_true(i == 0 || s.data.x[i] > s.data.x[i - 1]); /* none twice */
        assert_true(s.data.y[i] == 3 * s.data.x[i]);
        assert_true(s.data.weight[i] == t.data.weight[(int)s.data.x[i]]);
        assert_true(s.data.x[i] == again.data.x[i]);
    }
    sr_table_free(&again);
    sr_table_free(&s);
    double mean = 0; /* every row as likely: (ROWS - 1) / 2, with a deviation of 1.3 */
    for (uint64_t seed = 0; seed < 50; seed++) {
        assert_int_equal(sr_table_sample(&t, TAKEN, seed, &s), 0);
        for (int i = 0; i < TAKEN; i++)
            mean += s.data.x[i] / (50 * TAKEN);
        sr_table_free(&s);
    }
    assert_true(fabs(mean - (ROWS - 1) / 2.0) < 6);
    sr_table_free(&t);
}

/* ---- own operators */

TEST(own_operators_compute_and_derive)
{
    struct sr_language *language = language_of("g(x)=x*exp(-x); h(u, v) = sin(u)/(g(u)+v^2)");
    struct table t;
    double value[300], up[300], down[300], jacobian[2 * 300];
    table_create(&t, 300, 3, false);
    t.data.language = language;
    struct sr_expr expr = formula_in(language, "h(0.3 * r, m1 + 0.4) * g(m2)");
    assert_true(sr_eval_jacobian(&expr, &t.data, value, jacobian));
    for (size_t i = 0; i < 300; i++) {
        const double u = 0.3 * t.x[i], v = t.x[300 + i] + 0.4, z = t.x[600 + i];
        assert_true(near(value[i], sin(u) / (u * exp(-u) + v * v) * (z * exp(-z)), 1e-12));
    }
    double c[SR_NODES];
    const int count = sr_expr_constants(&expr, c);
    assert_int_equal(count, 2);
    for (int k = 0; k < count; k++) {
        const double kept = c[k], step = 1e-5;
        c[k] = kept + step;
        sr_expr_set_constants(&expr, c);
        assert_true(sr_eval(&expr, &t.data, up));
        c[k] = kept - step;
        sr_expr_set_constants(&expr, c);
        assert_true(sr_eval(&expr, &t.data, down));
        c[k] = kept;
        for (size_t i = 0; i < 300; i++) {
            const double slope = (up[i] - down[i]) / (2 * step);
            const double exact = jacobian[(size_t)k * 300 + i];
            if (fabs(slope - exact) > 1e-7 * (1 + fabs(slope)))
                fail_msg("constant %d, row %zu: %.12g, expected %.12g", k, i, exact, slope);
        }
    }
    const struct sr_expr outside = formula_in(language, "g(-800 * r)"); /* not finite */
    assert_false(sr_eval(&outside, &t.data, value));
    table_free(&t);
    sr_language_free(language);
}

/* The way the search takes: operators of features may be computed once per table, numbers stand
 * where rows are expected. */
TEST(own_operators_in_the_search)
{
    static const char *const texts[] = {"g(r) * m1", "h(r, 2.5)", "h(2.5, r)", "g(h(m1, 2) + r)",
                                        "g(2) * r"};
    struct table t;
    struct sr_loss loss;
    struct sr_work work;
    double value[700], scratch[2 * 700 + SR_SCRATCH], scale;
    struct sr_language *language = language_of("g(x)=x*exp(-x); h(u, v) = inv(u)/(inv(g(u))+v^2)");
    table_create(&t, 700, 3, false);
    t.data.language = language;
    for (size_t i = 0; i < 700; i++)
        t.y[i] = 1 + t.x[i];
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    assert_int_equal(sr_work_init(&work, 700, 20), 0);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const struct sr_expr expr = formula_in(language, texts[k]);
        assert_true(sr_eval(&expr, &t.data, value));
        for (size_t i = 0; i < 700; i++)
            assert_true(near(value[i], value_by_hand(&expr, &t.data, i), 1e-13));
        const double expected = sr_loss_scale(&loss, value, scratch);
        const double reached = sr_eval_loss(&expr, &loss, &work, &scale);
        assert_true(scale == expected && reached == sr_loss_value(&loss, value, expected));
    }
    sr_work_free(&work);
    sr_loss_free(&loss);
    table_free(&t);
    sr_language_free(language);
}

TEST(bad_definitions_are_refused)
{
    static const char *const bad[] = {
        "",       "g",        "g(x)",     "g(x)=",  "g()=1",    "g(x,y,z)=x",
        "g(x)=y", "sin(x)=x", "g(x,x)=x", "1(x)=x", "g(x)=g(x)"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sr_language *language = sr_language_create();
        assert_non_null(language);
        if (!sr_custom_define(language, bad[i]))
            fail_msg("\"%s\" is defined", bad[i]);
        error_names("--define", NULL);
        sr_language_free(language);
    }
    struct sr_language *language =
        language_of("a(x)=x;b(x)=x;c(x)=x;d(x)=x;e(x)=x;f(x)=x;g(x)=x;h(x)=x");
    assert_int_equal(sr_custom_define(language, "i(x)=x"), ORR_EUSAGE);
    error_names("at most 8", NULL);
    sr_language_free(language);
}

/* A loss as a formula does what the built-in does. */
TEST(own_losses_are_like_built_in)
{
    struct table t;
    struct sr_language *language = sr_language_create();
    assert_non_null(language);
    struct sr_loss own, built_in;
    double value[200], scratch[2 * 200 + SR_SCRATCH];
    gsl_rng *rng = random_stream(5);
    table_create(&t, 200, 3, false);
    const struct sr_expr expr = formula("m1 / r");
    assert_true(sr_eval(&expr, &t.data, value));
    for (size_t i = 0; i < 200; i++)
        t.y[i] = 7 * value[i] * (1 + 0.1 * gsl_ran_gaussian(rng, 1));
    gsl_rng_free(rng);
    t.data.language = language;
    assert_int_equal(sr_loss_init(&own, ORR_SR_CUSTOM, &t.data), ORR_EINVAL);
    error_names("loss", NULL);
    assert_int_equal(sr_custom_loss_define(language, "(p - t)^2"), 0);
    assert_int_equal(sr_loss_init(&own, ORR_SR_CUSTOM, &t.data), 0);
    assert_int_equal(sr_loss_init(&built_in, ORR_SR_L2, &t.data), 0);
    const double scale = sr_loss_scale(&own, value, scratch);
    assert_true(near(scale, sr_loss_scale(&built_in, value, scratch), 1e-9));
    assert_true(near(sr_loss_value(&own, value, 5), sr_loss_value(&built_in, value, 5), 1e-12));
    assert_true(near(own.base, built_in.base, 1e-9));
    sr_custom_loss_weights(language, 200, value, t.y, 5, scratch);
    for (size_t i = 0; i < 200; i++) /* 2 d / d */
        assert_true(near(scratch[i], 2, 1e-4));
    assert_int_equal(sr_custom_loss_define(language, "abs(p - t)^1.5"), 0);
    const double best = sr_loss_scale(&own, value, scratch);
    const double least = sr_loss_value(&own, value, best);
    for (double f = 0.9; f < 1.1; f += 0.013)
        assert_true(sr_loss_value(&own, value, best * f) >= least * (1 - 1e-5));
    const double weights[3] = {1, 0, 3}, p[3] = {1, 2, 3}, y[3] = {2, 9, 5};
    assert_true(
        near(sr_custom_loss(language, 3, p, y, weights, 1), (1 + 3 * pow(2, 1.5)) / 4, 1e-12));
    assert_int_equal(sr_custom_loss_define(language, "p - q"), ORR_EUSAGE);
    error_names("--loss", "q", NULL);
    sr_loss_free(&own);
    sr_loss_free(&built_in);
    sr_language_free(language);
    table_free(&t);
}

/* ---- options */

static struct sr_csv_setup setup;
static struct orr_cli cli;

static int set_up(const struct sr_csv_options *o)
{
    struct sr_table t;
    sr_csv_setup_free(&setup); /* of the call before */
    assert_int_equal(read_table("r,m1,m2,y\n1,2,3,4\n2,3,4,5\n3,4,5,6\n", o, &t), 0);
    const int rc = sr_csv_setup(&cli.settings, o, &t, &setup);
    sr_table_free(&t);
    return rc;
}

TEST_BETWEEN(options_become_settings, scratch_setup, scratch_teardown)
{
    const struct sr_csv_options o = {.target = "y",
                                     .define = "g(x)=x*x; h(a,b)=a-b",
                                     .loss = "abs(p-t)",
                                     .guess = "r / m1; 3 * g(r)",
                                     .maxdepth = "6",
                                     .constrain = "/:-1,3",
                                     .nest = "exp:exp=0",
                                     .complexity = "exp=2",
                                     .units = "r=m, y=m",
                                     .units_penalty = "3.5",
                                     .batch = "2",
                                     .rule = "mdl"};
    static const char *const settings[] = {"symreg.binary=+,/",      "symreg.unary=exp",
                                           "symreg.maxsize=12",      "symreg.seconds=7.5",
                                           "symreg.evaluations=1e6", "symreg.stop_loss=1e-9",
                                           "symreg.iterations=4",    "symreg.algorithm=pysr"};
    orr_settings_defaults(&cli.settings);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(orr_settings_set(&cli.settings, settings[i]), 0);
    if (set_up(&o))
        fail_msg("%s", orr_error());
    const struct sr_settings *s = &setup.settings;
    assert_true(s->binary_count == 3 && s->unary_count == 2);
    assert_true(s->binary[0] == SR_ADD && s->binary[1] == SR_DIV && s->unary[0] == SR_EXP);
    assert_true((int)s->unary[1] == SR_CUSTOM && (int)s->binary[2] == SR_CUSTOM + 1);
    assert_true(s->loss == ORR_SR_CUSTOM && s->guesses == 2 && s->guess[1].count == 4);
    assert_true(s->maxsize == 12 && setup.constraints.maxdepth == 6);
    assert_true(setup.constraints.argument[SR_DIV][1] == 3);
    assert_true(setup.constraints.nest[SR_EXP][SR_EXP] == 0);
    assert_true(setup.constraints.units_penalty == 3.5 && setup.units.target_known);
    assert_true(s->admissible && s->whole && s->penalty && s->context == &setup.constraints);
    assert_true(s->max_seconds == 7.5 && s->max_evaluations == 1e6 && s->stop_loss == 1e-9);
    assert_true(s->iterations == 4 && setup.batch == 2 && s->algorithm == &sr_algorithm_pysr);
    assert_int_equal(setup.rule, SR_MDL);
    /* operators of the user are operators enough */
    assert_int_equal(orr_settings_set(&cli.settings, "symreg.binary="), 0);
    assert_int_equal(orr_settings_set(&cli.settings, "symreg.unary="), 0);
    const struct sr_csv_options defined = {.target = "y", .define = "g(x)=x*x"};
    assert_int_equal(set_up(&defined), 0);
    assert_true(s->binary_count == 0 && s->unary_count == 1 && (int)s->unary[0] == SR_CUSTOM);
    const struct sr_csv_options none = {.target = "y"};
    assert_int_equal(set_up(&none), ORR_EUSAGE);
    error_names("symreg.binary", "symreg.unary", "at least one operator", NULL);
    const struct sr_csv_options plain = {.target = "y"};
    orr_settings_defaults(&cli.settings);
    assert_int_equal(set_up(&plain), 0);
    assert_true(!s->admissible && !s->penalty && s->guesses == 0 && !setup.batch);
    assert_true(s->language == setup.language && !sr_op_known(s->language, SR_CUSTOM));
}

/* Two setups at once: neither knows the operators, the loss or the prices of the other. */
TEST_BETWEEN(setups_do_not_share, scratch_setup, scratch_teardown)
{
    static struct sr_csv_setup other;
    const struct sr_csv_options o = {
        .target = "y", .define = "g(x)=x*x", .loss = "abs(p-t)", .complexity = "exp=3"};
    const struct sr_csv_options p = {
        .target = "y", .define = "k(a,b)=a-b", .guess = "k(r, exp(m1))"};
    struct sr_table t;
    orr_settings_defaults(&cli.settings);
    assert_int_equal(set_up(&o), 0);
    assert_int_equal(read_table("r,m1,m2,y\n1,2,3,4\n2,3,4,5\n", &p, &t), 0);
    assert_int_equal(sr_csv_setup(&cli.settings, &p, &t, &other), 0);
    assert_int_equal(sr_expr_complexity(other.language, &other.guess[0]), 4);
    assert_int_equal(sr_expr_complexity(setup.language, &other.guess[0]), 6);
    assert_string_equal(sr_op(setup.language, SR_CUSTOM)->name, "g");
    assert_string_equal(sr_op(other.language, SR_CUSTOM)->name, "k");
    assert_int_equal(setup.language->loss.count, 4);
    assert_int_equal(other.language->loss.count, 0);
    sr_csv_setup_free(&setup);
    assert_string_equal(sr_op(other.language, SR_CUSTOM)->name, "k");
    sr_csv_setup_free(&other);
    sr_table_free(&t);
}

/* Losses that are smallest at p = t pass, and no other one. */
TEST_BETWEEN(losses_are_tried_on_the_table, scratch_setup, scratch_teardown)
{
    static const char *const good[] = {"abs(p-t)",
                                       "(p-t)^2",
                                       "abs(p-t)^1.5",
                                       "log((exp(p-t)+exp(t-p))/2)",
                                       "max(0.9*(t-p), 0.1*(p-t))",
                                       "abs(p/t-1)",
                                       "abs(log(p/t))",
                                       "(p-t)^2/(1+(p-t)^2)",
                                       "max(abs(p-t)-0.1,0)",
                                       "max(abs(p-t)-5,0)",
                                       "2*(t*log(t/p)-t+p)",
                                       "p-t*log(p)",
                                       "sin(p-t)^2",
                                       "(p-t)^2-5"};
    static const struct {
        const char *loss, *said;
    } bad[] = {{"abs(p-t)^-1", "not finite"}, {"0-abs(p-t)", "smallest at p = t"},
               {"p+t", "smallest at p = t"},  {"(p-t)^2*0", "no larger"},
               {"t^2", "no larger"},          {"(p-1.1*t)^2", "smallest at p = t"},
               {"log(0-p*t)", "not finite"},  {"abs(p-t-0.01)", "smallest at p = t"}};
    struct sr_csv_options o = {.target = "y"};
    orr_settings_defaults(&cli.settings);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        o.loss = good[i];
        if (set_up(&o))
            fail_msg("%s: %s", good[i], orr_error());
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.loss = bad[i].loss;
        if (set_up(&o) != ORR_EUSAGE)
            fail_msg("%s is taken", bad[i].loss);
        error_names("--loss", bad[i].said, NULL);
    }
    /* targets of 0, of one number, and of all sizes */
    static const char *const tables[] = {"r,y\n1,0\n2,0\n", "r,y\n1,7\n2,7\n",
                                         "r,y\n1,-1e9\n2,0\n3,1e-9\n"};
    for (size_t i = 0; i < 2 * (sizeof tables / sizeof *tables); i++) {
        struct sr_table t;
        o.loss = i % 2 ? "(p-t)^2" : "0-(p-t)^2";
        assert_int_equal(read_table(tables[i / 2], &o, &t), 0);
        sr_csv_setup_free(&setup);
        assert_int_equal(sr_csv_setup(&cli.settings, &o, &t, &setup), i % 2 ? 0 : ORR_EUSAGE);
        sr_table_free(&t);
    }
    sr_csv_setup_free(&setup);
}

static void option_refused(const struct sr_csv_options *o, const char *a, const char *b)
{
    if (set_up(o) != ORR_EUSAGE)
        fail_msg("expected a usage error that names %s, found \"%s\"", a, orr_error());
    error_names(a, b, NULL);
}

#define REFUSED(a, b, ...)                                                                         \
    option_refused(&(const struct sr_csv_options){.target = "y", __VA_ARGS__}, a, b)

/* A table of x0, x1, ..., of which the first `constants` are 1.5 and the others uniform, and
 * y of them; to be freed. */
enum { WIDE = 200 };
static void read_wide(int columns, int constants, double (*y)(const double *x), struct sr_table *t)
{
    enum { ROWS = 300 };
    const struct sr_csv_options o = {.target = "y"};
    char *text = orr_alloc(ROWS * WIDE * 12, 1), *at = text;
    gsl_rng *rng = orr_rng_create(3, ORR_STAGE_SAMPLE, 5);
    assert_true(text && rng && columns <= WIDE);
    for (int c = 0; c < columns; c++)
        at += sprintf(at, "x%d,", c);
    at += sprintf(at, "y\n");
    for (int r = 0; r < ROWS; r++) {
        double x[WIDE];
        for (int c = 0; c < columns; c++) {
            x[c] = c < constants ? 1.5 : 2 * gsl_rng_uniform(rng) - 1;
            at += sprintf(at, "%.4f,", x[c]);
        }
        at += sprintf(at, "%.9g\n", y(x));
    }
    assert_int_equal(read_table(text, &o, t), 0);
    assert_true(t->columns == columns && t->data.features == SR_FEATURES);
    gsl_rng_free(rng);
    free(text);
}

static double of_three(const double *x)
{
    return x[7] * x[150] + 0.1 * x[199];
}

/* Of more columns than a formula may have those that tell most of the target, in their order: a
 * factor of a product whose mean is 0, too. */
TEST_BETWEEN(many_columns_are_chosen_from, scratch_setup, scratch_teardown)
{
    struct sr_table t;
    read_wide(WIDE, 0, of_three, &t);
    int found = 0, last = -1;
    for (int f = 0; f < SR_FEATURES; f++) {
        const int number = atoi(t.name[f] + 1);
        assert_true(number > last);
        last = number;
        found += number == 7 || number == 150 || number == 199;
    }
    assert_int_equal(found, 3);
    sr_table_free(&t);
}

static double of_last(const double *x)
{
    return 3 * x[89];
}

/* Columns that tell nothing, as many constants, take no place of those behind them. */
TEST_BETWEEN(constants_are_chosen_last, scratch_setup, scratch_teardown)
{
    enum { COLUMNS = 90, CONSTANTS = 80 };
    struct sr_table t;
    read_wide(COLUMNS, CONSTANTS, of_last, &t);
    for (int c = CONSTANTS; c < COLUMNS; c++)
        assert_int_equal(atoi(t.name[SR_FEATURES - COLUMNS + c] + 1), c);
    sr_table_free(&t);
}

TEST_BETWEEN(bad_options_are_refused, scratch_setup, scratch_teardown)
{
    orr_settings_defaults(&cli.settings);
    REFUSED("--loss: symreg.loss", "l3", .loss = "l3");
    REFUSED("--loss", "character", .loss = "(p-t");
    REFUSED("--define", "g(x", .define = "g(x");
    REFUSED("--maxdepth", "0", .maxdepth = "0");
    REFUSED("--batch", "found 1", .batch = "1");
    REFUSED("--rule", "worst", .rule = "worst");
    REFUSED("--guess", "m3", .guess = "r + m3");
    cli.settings.symreg.maxsize = 4;
    REFUSED("--guess", "complexity 5", .guess = "r + m1 * m2");
    orr_settings_defaults(&cli.settings);
    REFUSED("--guess", "breaks", .guess = "sin(r)", .units = "r=m");
    REFUSED("--units", "no feature", .units = "q=m");
    REFUSED("--units-penalty", "--units", .units_penalty = "1");
    REFUSED("--units-penalty", "-1", .units = "r=m", .units_penalty = "-1");
    REFUSED("--constrain", "sin", .constrain = "sin");
    REFUSED("--nest", "sin", .nest = "sin");
    REFUSED("--complexity", "sin", .complexity = "sin");
    REFUSED("no formula", "not even", .complexity = "variable=30,constant=30");
    assert_int_equal(orr_settings_set(&cli.settings, "symreg.unary=expp"), 0);
    REFUSED("symreg.unary", "\"expp\"", .rule = "best");
    sr_csv_setup_free(&setup);
}

/* Numbers of a table without odd cells are moved out of the rows, whatever the number of rows;
 * others are copied, and so are those of a caller that keeps its rows. */
TEST_BETWEEN(numbers_are_moved, scratch_setup, scratch_teardown)
{
    static char text[2000000];
    static const int sizes[] = {2, 8191, 8192, 8193, 40000};
    const struct sr_csv_options o = {.target = "y", .weights = "w", .features = "b,a"};
    for (int k = 0; k < 10; k++) {
        struct sr_table t;
        const int rows = sizes[k / 2], odd = k % 2;
        size_t n = (size_t)sprintf(text, "a,name,w,y,b\n");
        for (int i = 0; i < rows; i++)
            n += (size_t)sprintf(text + n, "%d,%s,1,%d.5,%d\n", i, odd ? "x" : "7", 3 * i + 1, -i);
        assert_int_equal(read_table(text, &o, &t), 0);
        assert_true(!t.csv.values == !odd);
        assert_true(t.data.rows == (size_t)rows && t.data.features == 2);
        for (int i = 0; i < rows; i++)
            assert_true(t.data.x[i] == -i && t.data.x[rows + i] == i &&
                        t.data.y[i] == 3 * i + 1.5 && near(t.data.weight[i], 1, 1e-10));
        sr_table_notes(&t, "table.csv", &o, true);
        sr_table_free(&t);
    }
}

TESTS(NULL, NULL)
