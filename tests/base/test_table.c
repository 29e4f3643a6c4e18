/* test_table.c - the long table of results: its rows, settings of models, and contrasts over seeds
 * against sums written out. */
#include "base/scratch.h"

#include <math.h>

#include "base/table.h"

static void add(struct orr_table *table, const char *model, uint64_t seed, double value)
{
    char text[128]; /* the table has a copy */
    snprintf(text, sizeof text, "%s", model);
    const struct orr_row row = {
        .model = text, .quantity = "q", .measure = "m", .seed = seed, .value = value};
    if (orr_table_add(table, &row))
        fail_msg("%s", orr_error());
    text[0] = '\0';
}

static void near(struct orr_mean mean, double expected, int n)
{
    if (mean.n != n || !(fabs(mean.mean - expected) < 1e-12))
        fail_msg("%g of %d, expected %g of %d", mean.mean, mean.n, expected, n);
}

TEST(rows_keep_their_texts)
{
    struct orr_table table = {0};
    for (int i = 0; i < 100; i++) {
        char model[32];
        snprintf(model, sizeof model, "a=%d", i % 7);
        add(&table, model, (uint64_t)i, i);
    }
    assert_int_equal(table.count, 100);
    assert_int_equal(table.texts, 9); /* 7 models, a quantity, a measure */
    for (int i = 0; i < 100; i++) {
        char model[32];
        snprintf(model, sizeof model, "a=%d", i % 7);
        assert_string_equal(table.row[i].model, model);
        assert_true(table.row[i].value == i);
    }
    orr_table_free(&table);
    assert_int_equal(table.count, 0);
}

TEST(settings_are_whole_words)
{
    const struct orr_row row = {.model = "law=x, y window=40 b.window=4"};
    static const char *const has[] = {"", "window=40", "b.window=4", "law=x, y"}, *const lacks[] = {
                                                                                      "window=4",
                                                                                      "aw=x, y",
                                                                                      "=40",
                                                                                      "window"};
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        assert_true(orr_row_has(&row, has[i]));
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        assert_false(orr_row_has(&row, lacks[i]));
    assert_string_equal(orr_row_setting(&row, "b.window"), "4");
    assert_string_equal(orr_row_setting(&row, "window"), "40 b.window=4");
    assert_null(orr_row_setting(&row, "indow"));
    assert_null(orr_row_setting(&row, "wind"));
}

/* b = 1 less b = 0: of seed 8 1 and 4, of seed 3 10 and 40. */
TEST(contrasts_are_of_the_same_model_and_seed)
{
    struct orr_table table = {.crossed = true};
    const double value[2][2][2] = {{{5, 6}, {7, 11}}, {{1, 11}, {2, 42}}};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            for (int s = 0; s < 2; s++) {
                char model[32];
                snprintf(model, sizeof model, "a=%d b=%d", a, b);
                add(&table, model, s ? 3 : 8, value[s][a][b]);
            }
    uint64_t seed[ORR_SEEDS];
    assert_int_equal(orr_table_seeds(&table, seed), 2);
    assert_true(seed[0] == 8 && seed[1] == 3);
    near(orr_table_contrast(&table, "b=1", "b=0", ORR_ROW_VALUE), (2.5 + 25) / 2, 2);
    near(orr_table_contrast(&table, "b=1", "", ORR_ROW_VALUE), (8.5 + 26.5) / 2, 2);
    near(orr_table_contrast(&table, "a=1 x b=1", "a=0 x b=0", ORR_ROW_VALUE), (3. + 30) / 2, 2);
    near(orr_table_contrast(&table, "a=0 x b=1", "a=1 x b=0", ORR_ROW_VALUE), -(3. + 30) / 2, 2);
    assert_int_equal(orr_table_contrast(&table, "b=2", "b=0", ORR_ROW_VALUE).n, 0);
    assert_int_equal(orr_table_contrast(&table, "b=1", "b=2", ORR_ROW_VALUE).n, 0);
    /* a seed that lacks a number is left out */
    add(&table, "a=0 b=1", 5, 9);
    near(orr_table_contrast(&table, "b=1", "b=0", ORR_ROW_VALUE), (2.5 + 25) / 2, 2);
    /* which of several models is meant would be a guess, also of other seeds */
    table.crossed = false;
    assert_int_equal(orr_table_contrast(&table, "b=1", "b=0", ORR_ROW_VALUE).n, 0);
    near(orr_table_contrast(&table, "a=1 b=1", "a=1 b=0", ORR_ROW_VALUE), (4. + 40) / 2, 2);
    orr_table_free(&table);
    add(&table, "a=0 b=1", 0, 1);
    add(&table, "a=1 b=1", 1, 2);
    assert_int_equal(orr_table_contrast(&table, "b=1", "", ORR_ROW_VALUE).n, 0);
    orr_table_free(&table);
}

/* Value 6, truth 5, random weights 0.5, no input. */
TEST(numbers_of_a_row)
{
    const struct orr_row row = {.value = 6, .upper_bound = 5, .baseline = 0.5, .raw = NAN};
    assert_true(orr_row_number(&row, ORR_ROW_VALUE) == 6 &&
                orr_row_number(&row, ORR_ROW_UPPER_BOUND) == 5);
    assert_true(orr_row_number(&row, ORR_ROW_BASELINE) == 0.5 &&
                isnan(orr_row_number(&row, ORR_ROW_RAW)));
    assert_true(orr_row_number(&row, ORR_ROW_LEARNED) == 5.5 &&
                orr_row_number(&row, ORR_ROW_NEARNESS) == -1);
    assert_true(orr_row_number(&row, ORR_ROW_GAIN) == 3.5 &&
                orr_row_number(&row, ORR_ROW_SHARE) == 5.5 / 4.5);
}

TESTS(NULL, NULL)
