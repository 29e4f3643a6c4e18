/* test_options.c - the list of options: complete, with the defaults and ranges that calls have. */
#include "api/orrery.h"
#include "api/regress.h"
#include "refused.h"

#include <math.h>

enum { ROWS = 24 };
static double x[ROWS], y[ROWS];

static struct orrery_option row_of(int number)
{
    struct orrery_option option = {.bytes = sizeof option};
    assert_int_equal(orrery_option_at(number, &option), ORRERY_OK);
    assert_int_equal(option.bytes, sizeof option);
    return option;
}

static struct orrery_regression *created(void)
{
    struct orrery_regression *r = NULL;
    assert_int_equal(orrery_regression_create(ORRERY_INTERFACE, &r), 0);
    return r;
}

static bool is_number(const struct orrery_option *o)
{
    return o->type == ORRERY_OPTION_WHOLE || o->type == ORRERY_OPTION_NUMBER;
}

/* How often a key stands in the list. */
static int times(const char *key)
{
    int count = 0;
    for (int i = 0; i < orrery_option_count(); i++) {
        const struct orrery_option o = row_of(i);
        count += o.key && !strcmp(o.key, key);
    }
    return count;
}

TEST(every_setting_and_option_is_listed_once)
{
    for (int i = 0; orr_settings_key(i); i++)
        if (orr_settings_in_groups(orr_settings_key(i), "seed,symreg") &&
            strcmp(orr_settings_key(i), "symreg.constant_tolerance") != 0) { /* of a run's laws */
            const char *dot = strchr(orr_settings_key(i), '.');
            if (times(dot ? dot + 1 : orr_settings_key(i)) != 1)
                fail_msg("%s is not listed once", orr_settings_key(i));
        }
    for (int i = 0, at = 0; i < SR_OPTION_COUNT; i++)
        if (sr_option[i].of != SR_OF_RUN) /* all but those of a run's laws */
            assert_string_equal(row_of(at++).program, sr_option[i].name);
    for (int i = 0; i < orrery_option_count(); i++) {
        const struct orrery_option o = row_of(i);
        assert_non_null(o.help);
        if (o.key && times(o.key) != 1)
            fail_msg("%s is not listed once", o.key);
        if (o.type == ORRERY_OPTION_WORD || o.type == ORRERY_OPTION_WORDS)
            assert_non_null(o.choices);
    }
}

TEST(defaults_are_those_of_the_settings)
{
    struct orr_settings *settings = orr_alloc(1, sizeof *settings);
    assert_non_null(settings);
    assert_int_equal(api_default_settings(settings), 0);
    int compared = 0;
    for (int i = 0; i < orrery_option_count(); i++) {
        const struct orrery_option o = row_of(i);
        char key[128], value[ORR_SETTING];
        snprintf(key, sizeof key, "symreg.%s", o.key ? o.key : "");
        if (!orr_setting_find(key))
            continue;
        orr_settings_value(settings, key, value);
        assert_string_equal(o.initial, value);
        compared++;
    }
    assert_true(compared > 15);
    free(settings);
}

TEST(calls_take_what_the_rows_say)
{
    struct orrery_regression *r = created();
    const struct orrery_table table = {
        .bytes = sizeof table, .rows = ROWS, .columns = 1, .x = x, .y = y};
    for (int i = 0; i < ROWS; i++)
        y[i] = sin(x[i] = 0.37 * i);
    assert_int_equal(orrery_regression_set(r, "evaluations", "100"), 0);
    for (int i = 0; i < orrery_option_count(); i++) {
        const struct orrery_option o = row_of(i);
        char text[64];
        if (!o.key)
            continue;
        assert_int_equal(orrery_regression_set(r, o.key, o.initial), 0);
        assert_int_equal(orrery_regression_set(r, o.key, NULL), 0);
        if (!is_number(&o) && o.type != ORRERY_OPTION_WORD && o.type != ORRERY_OPTION_FLAG)
            continue;
        snprintf(text, sizeof text, "%g", o.high * 1.5 + 1);
        int status = orrery_regression_set(r, o.key, is_number(&o) ? text : "neither");
        if (!status) { /* options, not settings, are checked by the search */
            assert_int_equal(orrery_regression_set(r, "units", "x1=m"), 0);
            assert_int_equal(orrery_regression_data(r, &table), 0);
            status = orrery_regression_search(r, 1, NULL, NULL);
        }
        if (status != ORRERY_EUSAGE || !strstr(orrery_message(r), o.key))
            fail_msg("%s: %d, %s", o.key, status, orrery_message(r));
        assert_int_equal(orrery_regression_set(r, o.key, NULL), 0);
    }
    orrery_regression_free(r);
}

/* A search of two epochs whose state is kept. */
static struct orrery_regression *searched(const struct orrery_table *table, const void **state,
                                          size_t *bytes)
{
    static const char *const set[][2] = {
        {"keep-state", "1"},     {"enumerate", "50"},     {"iterations", "2"}, {"populations", "2"},
        {"seconds", "0"},        {"evaluations", "2000"}, {"cycles", "10"},    {"unary", ""},
        {"binary", "+,*"},       {"stop_loss", "1e-9"},   {"maxsize", "7"},    {"loss", "huber"},
        {"population_size", "9"}};
    struct orrery_regression *r = created();
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        assert_int_equal(orrery_regression_set(r, set[i][0], set[i][1]), 0);
    assert_int_equal(orrery_regression_data(r, table), 0);
    if (state) {
        assert_int_equal(orrery_regression_search(r, 1, NULL, NULL), 0);
        assert_int_equal(orrery_regression_state(r, state, bytes), 0);
    }
    return r;
}

TEST(a_search_resumes_with_the_recorded_numbers_only)
{
    const struct orrery_table table = {
        .bytes = sizeof table, .rows = ROWS, .columns = 1, .x = x, .y = y};
    const void *kept;
    size_t bytes;
    for (int i = 0; i < ROWS; i++)
        y[i] = cos(x[i] = 0.37 * i) + 0.1 * sin(12.9898 * i);
    struct orrery_regression *first = searched(&table, &kept, &bytes);
    for (int i = 0; i < orrery_option_count(); i++) {
        const struct orrery_option o = row_of(i);
        if (!o.key || !is_number(&o) || o.needs) /* (which has no effect by itself) */
            continue;
        struct orrery_regression *next = searched(&table, NULL, NULL);
        assert_int_equal(orrery_regression_set(next, o.key, o.high >= 5 ? "5" : "0.1"), 0);
        assert_int_equal(orrery_regression_resume(next, kept, bytes), 0);
        const int status = orrery_regression_search(next, 1, NULL, NULL);
        if (status != (o.recorded ? ORRERY_EINVAL : 0))
            fail_msg("%s: %d, %s", o.key, status, orrery_message(next));
        orrery_regression_free(next);
    }
    orrery_regression_free(first);
}

TEST(numbers_and_structs_are_checked)
{
    struct orrery_option option = {.bytes = sizeof option};
    assert_int_equal(orrery_option_at(-1, &option), ORRERY_EINVAL);
    assert_int_equal(orrery_option_at(orrery_option_count(), &option), ORRERY_EINVAL);
    assert_int_equal(orrery_option_at(0, NULL), ORRERY_EINVAL);
    option.bytes = sizeof option - 1;
    assert_int_equal(orrery_option_at(0, &option), ORRERY_EINVAL);
}

TESTS(NULL, NULL)
