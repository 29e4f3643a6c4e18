/* test_fill_values.c - numbers that stand for missing values are named with their rows; ordinary
 * columns are not. */
#include "symreg/formulas.h"
#include "symreg/solve/solve.h"

enum { ROWS = 12 };

/* The remark of a table with column x and target y; "" for none. */
static const char *remark_on(const double x[ROWS], const double y[ROWS])
{
    static char text[1024];
    static const char *const name[] = {"x"};
    const struct sr_data data = {.rows = ROWS, .features = 1, .x = x, .y = y};
    const struct sr_answer answer = {.target = "y", .names = name, .data = &data};
    if (!sr_remark_fill(&answer, text, sizeof text))
        assert_string_equal(text, "");
    return text;
}

TEST(nines_far_from_the_other_numbers_are_named_with_their_rows)
{
    static const double fill[] = {99999.9, 999, -99, -999, -9999, 999.99, 1e20, -1e31, 9.96921e36};
    double x[ROWS], y[ROWS];
    for (size_t k = 0; k < sizeof fill / sizeof *fill; k++) {
        for (int i = 0; i < ROWS; i++) {
            x[i] = 3 + i;
            y[i] = i;
        }
        x[4] = x[7] = fill[k];
        if (!strstr(remark_on(x, y), "in rows 5, 8 of those used, and 3 to 14 elsewhere"))
            fail_msg("of a column with %g in rows 5 and 8 it says \"%s\"", fill[k],
                     remark_on(x, y));
        if (strstr(remark_on(x, y), "y is"))
            fail_msg("a sound target is named: %s", remark_on(x, y));
    }
    x[4] = x[7] = 5;
    y[11] = -999;
    assert_non_null(strstr(remark_on(x, y), "y is -999 in row 12 of those used"));
}

TEST(numbers_that_may_be_measurements_are_not_named)
{
    static const double last[] = {9, 99, 100000, 1234.5, -50, 998, 99.5, -9.9};
    double x[ROWS], y[ROWS];
    for (size_t k = 0; k < sizeof last / sizeof *last; k++) {
        for (int i = 0; i < ROWS; i++)
            x[i] = y[i] = i;
        x[ROWS - 1] = last[k];
        if (*remark_on(x, y))
            fail_msg("of a column with %g it says \"%s\"", last[k], remark_on(x, y));
    }
    for (int i = 0; i < ROWS; i++)
        x[i] = 99 * i - 90; /* 999 ends an even row */
    assert_string_equal(remark_on(x, y), "");
    for (int i = 0; i < ROWS; i++)
        x[i] = i < 7 ? 999 : 3; /* most rows have it */
    assert_string_equal(remark_on(x, y), "");
    x[3] = NAN;
    (void)remark_on(x, y);
}

TEST(two_fill_values_of_a_column_are_both_named)
{
    static const double pair[][2] = {{-999, -9999}, {999.9, 99999.9}, {-999, 99999}, {-99, -999}};
    double x[ROWS], y[ROWS];
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
        for (int i = 0; i < ROWS; i++) {
            x[i] = 3 + i;
            y[i] = i;
        }
        x[2] = x[9] = pair[k][0];
        x[5] = pair[k][1];
        const char *said = remark_on(x, y);
        if (!strstr(said, "in rows 3, 10 of those used, and 3 to 14 elsewhere") ||
            !strstr(said, "in row 6 of those used, and 3 to 14 elsewhere"))
            fail_msg("of a column with %g and %g it says \"%s\"", pair[k][0], pair[k][1], said);
        double told[2];
        const char *numbers = strstr(said, "`--missing-value ");
        if (!numbers || sscanf(numbers, "`--missing-value %lg,%lg` leaves", told, told + 1) != 2 ||
            told[0] + told[1] != pair[k][0] + pair[k][1])
            fail_msg("of a column with %g and %g not both are advised: \"%s\"", pair[k][0],
                     pair[k][1], said);
    }
}

TEST(targets_under_a_logarithm_sigmas_categories_and_the_test_table_are_looked_at)
{
    static char text[2048];
    static const char *const name[] = {"x"};
    double x[ROWS], y[ROWS], weight[ROWS], second[ROWS];
    int of_row[ROWS];
    char *label[] = {"1", "2", "-999"};
    struct sr_category category = {.name = "site", .count = 3, .label = label, .of_row = of_row};
    for (int i = 0; i < ROWS; i++) {
        x[i] = 3 + i;
        y[i] = log(i == 4 ? 99999.9 : 2.5 + i);
        weight[i] = i == 6 ? 1 / (99.99 * 99.99) : 1 / (0.01 * (10 + i) * (10 + i));
        of_row[i] = i == 8 ? 2 : i % 2;
        second[i] = i == 3 ? -9999 : 3 + i;
    }
    const struct sr_data data = {.rows = ROWS, .features = 1, .x = x, .y = y, .weight = weight};
    const struct sr_data other = {.rows = ROWS, .features = 1, .x = second, .y = y};
    const struct sr_test test = {.data = &other};
    struct sr_answer answer = {
        .target = "log(y)", .column = "y", .names = name, .data = &data, .log_target = true};
    assert_true(sr_remark_fill(&answer, text, sizeof text));
    assert_non_null(strstr(text, "y is 99999.9 in row 5 of those used, and 2.5 to 13.5"));
    for (int i = 0; i < ROWS; i++)
        y[i] = 2.5 + i;
    answer.log_target = false;
    answer.target = "y";
    assert_false(sr_remark_fill(&answer, text, sizeof text));
    answer.variance = 1;
    answer.weights = "err";
    assert_true(sr_remark_fill(&answer, text, sizeof text));
    assert_non_null(strstr(text, "err is 99.99 in row 7 of those used, and 1 to 2.1 elsewhere"));
    answer.variance = 0;
    answer.category = &category;
    assert_true(sr_remark_fill(&answer, text, sizeof text));
    assert_non_null(strstr(text, "site is -999 in row 9 of those used, and 1 to 2 elsewhere"));
    answer.category = NULL;
    answer.test = &test;
    assert_true(sr_remark_fill(&answer, text, sizeof text));
    assert_non_null(strstr(text, "x is -9999 in row 4 of those used of the test table, and 3 to"));
    assert_non_null(strstr(text, "`--missing-value -9999` leaves"));
}

/* What the remark advises leaves the rows out, whatever the digits of the file: fill values of
 * netCDF with sixteen digits, and numbers of single precision, which pandas and R write with nine
 * digits or all. */
TEST(advised_numbers_are_those_of_the_file_in_any_precision)
{
    static const double fill[] = {9.969209968386869e36, 9.96920997e36,   1.0000000200408773e20,
                                  99999.8984375,        99999.8984,      -999.989990234375,
                                  -999.98999,           (double)999.99f, -1e31};
    static const double other[] = {0, 99999, 99998.9, -999.9, 1e-300, 1e300, 9.9692e36};
    double x[ROWS], y[ROWS];
    for (size_t k = 0; k < sizeof fill / sizeof *fill; k++) {
        char number[64] = "";
        struct sr_missing what;
        for (int i = 0; i < ROWS; i++)
            x[i] = y[i] = i == 6 ? fill[k] : 3 + i;
        const char *numbers = strstr(remark_on(x, y), "`--missing-value ");
        if (!numbers || sscanf(numbers, "`--missing-value %60[^`]`", number) != 1)
            fail_msg("%.17g is not named as a fill value", fill[k]);
        assert_int_equal(sr_missing_read(NULL, number, &what), 0);
        if (!sr_is_missing(&what, NULL, fill[k]))
            fail_msg("--missing-value %s, as advised, does not mean %.17g", number, fill[k]);
        for (size_t j = 0; j < sizeof other / sizeof *other; j++)
            if (sr_is_missing(&what, NULL, other[j]))
                fail_msg("--missing-value %s takes %.17g for missing", number, other[j]);
    }
    struct sr_missing what;
    assert_int_equal(sr_missing_read(NULL, "0,1e300", &what), 0);
    assert_true(sr_is_missing(&what, NULL, 0) && sr_is_missing(&what, NULL, 1e300));
    assert_false(sr_is_missing(&what, NULL, 1e-300) || sr_is_missing(&what, NULL, 2e300));
}

TEST(a_row_of_totals_is_named)
{
    static char text[1024];
    static const char *const name[] = {"x"};
    static const size_t line[ROWS] = {[ROWS - 1] = 14};
    double x[ROWS], y[ROWS], sum = 0;
    bool odd[ROWS] = {false};
    const struct sr_data data = {.rows = ROWS, .features = 1, .x = x, .y = y};
    const struct sr_answer answer = {.target = "y", .names = name, .data = &data, .line = line};
    for (int i = 0; i < ROWS; i++) {
        x[i] = 3.1 + i;
        y[i] = 20 - i;
        sum += i < ROWS - 1 ? x[i] : 0;
    }
    assert_false(sr_remark_total(&answer, text, sizeof text));
    sr_rows_filled(&data, odd);
    assert_false(odd[0] || odd[ROWS - 1]);
    x[ROWS - 1] = sum;
    sr_rows_filled(&data, odd);
    assert_true(odd[ROWS - 1] && !odd[0]);
    assert_true(sr_remark_total(&answer, text, sizeof text));
    assert_non_null(
        strstr(text, "row 12 of those used (line 14) holds the sum of all other rows in x:"));
    x[ROWS - 1] = sum * 1.001;
    assert_false(sr_remark_total(&answer, text, sizeof text));
}

TEST(columns_of_one_value_are_named)
{
    static char text[1024];
    static const char *const name[] = {"x", "g", "p"};
    double x[3 * ROWS], y[ROWS];
    const struct sr_data data = {.rows = ROWS, .features = 3, .x = x, .y = y};
    struct sr_answer answer = {.target = "y", .names = name, .data = &data};
    for (int i = 0; i < 3 * ROWS; i++) {
        x[i] = i < ROWS ? 3.1 + i : i < 2 * ROWS ? 9.80665 : -2;
        y[i % ROWS] = 20 - i;
    }
    assert_true(sr_table_remark(&answer, SR_SAME, text, sizeof text));
    assert_string_equal(text, "g is 9.80665, p is -2 in all rows that are used: no row shows how y "
                              "depends on them, and a number of the formula may stand for them");
    answer.remark = "of tracks";
    assert_false(sr_table_remark(&answer, SR_SAME, text, sizeof text));
    answer.remark = NULL;
    x[2 * ROWS - 1] = 9.80666;
    x[3 * ROWS - 1] = 2;
    assert_false(sr_table_remark(&answer, SR_SAME, text, sizeof text));
}

TEST(many_columns_of_one_value_leave_the_remark_whole)
{
    static char names[SR_FEATURES][40], text[512];
    static double x[SR_FEATURES * ROWS], y[ROWS];
    const char *name[SR_FEATURES];
    const struct sr_data data = {.rows = ROWS, .features = SR_FEATURES, .x = x, .y = y};
    const struct sr_answer answer = {.target = "y", .names = name, .data = &data};
    for (int f = 0; f < SR_FEATURES; f++) {
        snprintf(names[f], sizeof names[f], "temperature_of_sensor_%d", f);
        name[f] = names[f];
    }
    assert_true(sr_table_remark(&answer, SR_SAME, text, sizeof text));
    assert_non_null(strstr(text, "temperature_of_sensor_0 is 0, "));
    assert_non_null(strstr(text, " is 0, and 56 more have one value in all rows that are used: "));
    assert_non_null(strstr(text, "a number of the formula may stand for them"));
}

TEST(flags_and_a_few_whole_numbers_are_no_totals)
{
    static char text[1024];
    static const char *const name[] = {"x"};
    static const double few[] = {0, 1, 2, 3}, squares[] = {1, 3, 5.1, 6.9};
    double x[ROWS] = {0}, y[ROWS];
    struct sr_data data = {.rows = ROWS, .features = 1, .x = x, .y = y};
    const struct sr_answer answer = {.target = "y", .names = name, .data = &data};
    for (int i = 0; i < ROWS; i++)
        y[i] = 20 - i;
    x[4] = x[ROWS - 1] = 1; /* a flag that is set in two rows */
    if (sr_remark_total(&answer, text, sizeof text))
        fail_msg("of a flag it says \"%s\"", text);
    x[5] = x[7] = 1; /* rare counts, of which the last is 3 */
    x[ROWS - 1] = 3;
    if (sr_remark_total(&answer, text, sizeof text))
        fail_msg("of rare counts it says \"%s\"", text);
    data = (struct sr_data){.rows = 4, .features = 1, .x = few, .y = squares};
    if (sr_remark_total(&answer, text, sizeof text))
        fail_msg("of 0, 1, 2, 3 it says \"%s\"", text);
}

TESTS(NULL, NULL)
