/* test_fill.c - numbers that stand for missing values are named with their rows; ordinary columns
 * are not. */
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

TESTS(NULL, NULL)
