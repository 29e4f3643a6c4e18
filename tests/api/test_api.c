/* test_api.c - the library's calls: what they give, what they refuse, and that they give what the
 * program's own functions do. */
#include "api/orrery.h"
#include "formulas.h"
#include "api/regress.h"
#include "sim/sim.h"
#include "refused.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 30 };
static double x[2 * ROWS], y[ROWS];
static const char *const names[] = {"a", "M"};

static struct orrery_table kepler(void)
{
    for (int i = 0; i < ROWS; i++) {
        const double a = 0.4 + 0.7 * i, M = 0.5 + i * 7 % 11 * 0.25;
        x[2 * i] = a;
        x[2 * i + 1] = M;
        y[i] = sqrt(a * a * a / M);
    }
    return (struct orrery_table){.bytes = sizeof(struct orrery_table),
                                 .rows = ROWS,
                                 .columns = 2,
                                 .x = x,
                                 .y = y,
                                 .names = names,
                                 .target = "T"};
}

static struct orrery_regression *small(void)
{
    struct orrery_regression *r = NULL;
    assert_int_equal(orrery_regression_create(ORRERY_INTERFACE, &r), 0);
    assert_int_equal(orrery_regression_set(r, "enumerate", "3000"), 0);
    assert_int_equal(orrery_regression_set(r, "iterations", "3"), 0);
    assert_int_equal(orrery_regression_set(r, "symreg.maxsize", "9"), 0);
    return r;
}

TEST(defaults_are_those_of_the_program)
{
    struct orr_settings *mine = orr_alloc(1, sizeof *mine), *file = orr_alloc(1, sizeof *file);
    char a[ORR_SETTING], b[ORR_SETTING];
    assert_non_null(mine);
    assert_non_null(file);
    assert_int_equal(api_default_settings(mine), 0);
    assert_int_equal(orr_settings_load(file, "presets/table.json"), 0);
    int compared = 0;
    for (int i = 0; orr_settings_key(i); i++, compared++) {
        if (!strcmp(orr_settings_key(i), "about"))
            continue;
        orr_settings_value(mine, orr_settings_key(i), a);
        orr_settings_value(file, orr_settings_key(i), b);
        assert_string_equal(a, b);
    }
    assert_true(compared > 80);
    free(mine);
    free(file);
}

TEST(a_law_is_found_printed_and_predicted)
{
    struct orrery_regression *r = small();
    const struct orrery_table table = kepler();
    struct orrery_row formula = {.bytes = sizeof formula};
    double predicted[ROWS];
    char text[300];
    size_t needed = 0;
    int rows = 0, row = -1;
    assert_int_equal(orrery_regression_data(r, &table), 0);
    assert_int_equal(rows_of(r, &rows), 0);
    assert_int_equal(rows, 0);
    assert_int_equal(orrery_regression_search(r, 1, NULL, NULL), 0);
    assert_int_equal(rows_of(r, &rows), 0);
    assert_true(rows > 1);
    assert_int_equal(orrery_regression_select(r, "best", &row), 0);
    assert_int_equal(orrery_regression_row(r, row, &formula), 0);
    assert_true(formula.loss < 1e-20 && formula.complexity <= 9);
    static const char *const expected[] = {"sqrt((", "\\sqrt{", "sqrt(", "sqrt("};
    for (int notation = ORRERY_TEXT; notation <= ORRERY_SYMPY; notation++) {
        assert_int_equal(orrery_regression_print(r, row, notation, NULL, 0, &needed), 0);
        assert_int_equal(orrery_regression_print(r, row, notation, text, needed, NULL), 0);
        assert_int_equal(strlen(text) + 1, needed);
        assert_non_null(strstr(text, expected[notation]));
        REFUSED(r, ORRERY_EINVAL, orrery_regression_print(r, row, notation, text, needed - 1, NULL),
                "a capacity of");
    }
    assert_int_equal(orrery_regression_predict(r, row, &table, predicted), 0);
    for (int i = 0; i < ROWS; i++)
        assert_true(fabs(predicted[i] - y[i]) < 1e-9);
    assert_int_equal(orrery_regression_print(r, row, ORRERY_TEXT, text, sizeof text, NULL), 0);
    double again[ROWS]; /* what is printed is the formula */
    assert_int_equal(evaluate_text(text, NULL, &table, again), 0);
    assert_memory_equal(again, predicted, sizeof again);
    assert_int_equal(evaluate_text("sqrt(M - 1) * a", NULL, &table, predicted), 0);
    for (int i = 0; i < ROWS; i++)
        assert_true(x[2 * i + 1] < 1
                        ? isnan(predicted[i]) != 0
                        : fabs(predicted[i] - x[2 * i] * sqrt(x[2 * i + 1] - 1)) < 1e-9);
    orrery_regression_free(r);
}

/* T = (1 + M) a^1.5 with M the number of an object, twice with one handle. */
TEST(constants_of_each_category)
{
    struct orrery_regression *r = small();
    const struct orrery_table table = kepler();
    double predicted[ROWS], constant[3], error[3];
    char text[300];
    size_t categories = 0;
    int row = -1;
    for (int i = 0; i < ROWS; i++) {
        x[2 * i + 1] = 2 - i % 3;
        y[i] = (3 - i % 3) * x[2 * i] * sqrt(x[2 * i]);
    }
    assert_int_equal(orrery_regression_set(r, "category", "M"), 0);
    assert_int_equal(orrery_regression_data(r, &table), 0);
    for (int n = 0; n < 2; n++) {
        assert_int_equal(orrery_regression_search(r, 1 + n, NULL, NULL), 0);
        assert_int_equal(orrery_regression_select(r, "best", &row), 0);
        assert_int_equal(orrery_regression_category(r, row, 0, &categories, constant, error), 0);
        assert_int_equal(categories, 3);
        for (int k = 0; k < 3; k++) /* in the order of their first rows */
            assert_true(fabs(constant[k] - (3 - k)) < 1e-9 && error[k] < 1e-9);
        assert_int_equal(orrery_regression_predict(r, row, &table, predicted), 0);
        for (int i = 0; i < ROWS; i++)
            assert_true(fabs(predicted[i] - y[i]) < 1e-9);
        assert_int_equal(orrery_regression_print(r, row, ORRERY_TEXT, text, sizeof text, NULL), 0);
        assert_non_null(strstr(text, "c1[M]"));
    }
    REFUSED(r, ORRERY_EMISSING, orrery_regression_category(r, row, 1, NULL, constant, NULL),
            "1 constants of each");
    struct orrery_formula *formula;
    struct orrery_row described = {.bytes = sizeof described};
    struct orrery_counts counts = {.bytes = sizeof counts};
    assert_int_equal(orrery_regression_row(r, row, &described), 0);
    assert_int_equal(described.category_constants, 1);
    assert_int_equal(orrery_regression_counts(r, &counts), 0);
    assert_int_equal(counts.categories, 3);
    assert_int_equal(orrery_regression_test(r, &table), 0); /* of a table that has been solved */
    assert_int_equal(orrery_regression_search(r, 1, NULL, NULL), 0);
    assert_int_equal(orrery_regression_select(r, "best", &row), 0);
    assert_int_equal(orrery_regression_row(r, row, &described), 0);
    assert_true(fabs(described.test_r2 - 1) < 1e-9);
    assert_int_equal(orrery_formula_of_row(r, row, &formula), 0);
    REFUSED(formula, ORRERY_EINVAL, orrery_formula_evaluate(formula, &table, predicted),
            "belong to a row of a front");
    orrery_formula_free(formula);
    x[5] = 7;
    REFUSED(r, ORRERY_EINVAL, orrery_regression_predict(r, row, &table, predicted),
            "table:2: column \"M\"");
    REFUSED(r, ORRERY_EINVAL, orrery_regression_refit(r, (const char *[]){"a * 2"}, 1),
            "not of a table");
    orrery_regression_free(r);
}

TEST(constants_that_all_categories_share_have_no_profiles)
{
    struct orrery_regression *r = small();
    const struct orrery_table table = kepler();
    int rows, shared = 0;
    for (int i = 0; i < ROWS; i++) {
        x[2 * i + 1] = 2 - i % 3;
        y[i] = (3 - i % 3) * x[2 * i] + 2;
    }
    assert_int_equal(orrery_regression_set(r, "category", "M"), 0);
    assert_int_equal(orrery_regression_data(r, &table), 0);
    assert_int_equal(orrery_regression_search(r, 1, NULL, NULL), 0);
    assert_int_equal(rows_of(r, &rows), 0);
    for (int i = 0; i < rows; i++) {
        double low[64], high[64];
        struct orrery_row formula = {.bytes = sizeof formula};
        assert_int_equal(orrery_regression_row(r, i, &formula), 0);
        assert_int_equal(orrery_regression_intervals(r, i, low, high), 0);
        for (int c = 0; c < formula.constants; c++)
            assert_true(isnan(low[c]) && isnan(high[c]));
        shared += formula.constants;
    }
    assert_true(shared > 0);
    orrery_regression_free(r);
}

static void front_of(const struct orrery_table *table, int threads, char text[4096])
{
    struct orrery_regression *r = small();
    int rows = 0;
    text[0] = '\0';
    assert_int_equal(orrery_regression_data(r, table), 0);
    assert_int_equal(orrery_regression_search(r, threads, NULL, NULL), 0);
    assert_int_equal(rows_of(r, &rows), 0);
    for (int i = 0; i < rows; i++) {
        struct orrery_row f = {.bytes = sizeof f};
        char one[300];
        const size_t used = strlen(text);
        assert_int_equal(orrery_regression_row(r, i, &f), 0);
        assert_int_equal(orrery_regression_print(r, i, ORRERY_TEXT, one, sizeof one, NULL), 0);
        snprintf(text + used, 4096 - used, "%d %.17g %s\n", f.complexity, f.loss, one);
    }
    orrery_regression_free(r);
}

TEST(layout_of_arrays_and_threads_change_nothing)
{
    char first[4096], other[4096];
    double column_major[2 * ROWS], weights[ROWS];
    float xf[2 * ROWS], yf[ROWS];
    struct orrery_table table = kepler();
    for (int i = 0; i < ROWS; i++) { /* numbers that a float holds */
        yf[i] = (float)(y[i] = (double)(float)y[i]);
        weights[i] = 2;
        for (int c = 0; c < 2; c++) {
            xf[2 * i + c] = (float)x[2 * i + c];
            x[2 * i + c] = column_major[c * ROWS + i] = (double)xf[2 * i + c];
        }
    }
    front_of(&table, 1, first);
    front_of(&table, 2, other);
    assert_string_equal(first, other);
    table.x = column_major;
    table.order = ORRERY_COLUMNS;
    front_of(&table, 1, other);
    assert_string_equal(first, other);
    table.weights = weights; /* all alike */
    front_of(&table, 1, other);
    assert_non_null(strstr(other, "(a * sqrt((a / M)))")); /* sums are rounded otherwise */
    table = kepler();
    for (int i = 0; i < 2 * ROWS; i++)
        x[i] = (double)xf[i];
    table.x = xf;
    table.y = yf;
    table.type = ORRERY_FLOAT32;
    front_of(&table, 1, other); /* a float has fewer digits to judge by; the law is the same */
    assert_non_null(strstr(other, "(a * sqrt((a / M)))"));
}

TEST(wide_tables_keep_the_columns_that_matter)
{
    enum { COLUMNS = 100, WANTED = 83 };
    static double wide[COLUMNS * ROWS];
    struct orrery_regression *r = small();
    double predicted[ROWS], given[ROWS];
    int row = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int c = 0; c < COLUMNS; c++)
            wide[i * COLUMNS + c] = sin(1.0 + i * (c + 1.3) * 7.7);
        given[i] = 3 * wide[i * COLUMNS + WANTED];
    }
    struct orrery_table table = {
        .bytes = sizeof table, .rows = ROWS, .columns = COLUMNS, .x = wide, .y = given};
    assert_int_equal(orrery_regression_set(r, "maxsize", "3"), 0);
    assert_int_equal(orrery_regression_data(r, &table), 0);
    assert_int_equal(orrery_regression_search(r, 1, NULL, NULL), 0);
    assert_int_equal(orrery_regression_select(r, "accuracy", &row), 0);
    assert_int_equal(orrery_regression_predict(r, row, &table, predicted), 0);
    for (int i = 0; i < ROWS; i++)
        assert_true(fabs(predicted[i] - given[i]) < 1e-9);
    orrery_regression_free(r);
}

static int stop_at_2(const struct orrery_progress *now, void *context)
{
    int *calls = context;
    assert_int_equal(now->bytes, sizeof *now);
    assert_true(now->rows > 0 && *now->best);
    return ++*calls == 2;
}

TEST(a_callback_stops_and_the_front_is_there)
{
    struct orrery_regression *r = small();
    const struct orrery_table table = kepler();
    int calls = 0, rows = 0;
    assert_int_equal(orrery_regression_set(r, "iterations", "100000"), 0);
    assert_int_equal(orrery_regression_set(r, "patience", "0"), 0);
    assert_int_equal(orrery_regression_set(r, "unary", "sin"), 0); /* nothing exact */
    assert_int_equal(orrery_regression_set(r, "seconds", "0"), 0);
    assert_int_equal(orrery_regression_data(r, &table), 0);
    REFUSED(r, ORRERY_STOPPED, orrery_regression_search(r, 2, stop_at_2, &calls), "stopped");
    assert_int_equal(calls, 2);
    assert_int_equal(rows_of(r, &rows), 0);
    assert_true(rows > 0);
    /* a later one is not stopped */
    assert_int_equal(orrery_regression_set(r, "iterations", "2"), 0);
    assert_int_equal(orrery_regression_search(r, 1, NULL, NULL), 0);
    orrery_regression_free(r);
}

static int call_back(const struct orrery_progress *now, void *context)
{
    int rows;
    (void)now;
    assert_int_equal(rows_of(context, &rows), ORRERY_EBUSY);
    return 1;
}

TEST(a_handle_in_use_is_busy)
{
    struct orrery_regression *r = small();
    const struct orrery_table table = kepler();
    assert_int_equal(orrery_regression_data(r, &table), 0);
    assert_int_equal(orrery_regression_search(r, 1, call_back, r), ORRERY_STOPPED);
    orrery_regression_free(r);
}

TEST(a_search_resumes_from_bytes)
{
    struct orrery_table table = kepler();
    const void *kept = NULL;
    size_t bytes = 0;
    int rows[2];
    char text[2][300];
    for (int i = 0; i < ROWS; i++)
        y[i] += 0.1 * sin(i * 12.9898); /* no formula is exact */
    struct orrery_regression *whole = small(), *half = small(), *rest = small();
    struct orrery_regression *const all[] = {whole, half, rest};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(orrery_regression_set(all[k], "seconds", "0"), 0);
        assert_int_equal(orrery_regression_set(all[k], "keep-state", "1"), 0);
        assert_int_equal(orrery_regression_set(all[k], "iterations", k == 1 ? "2" : "5"), 0);
        assert_int_equal(orrery_regression_data(all[k], &table), 0);
    }
    REFUSED(whole, ORRERY_EMISSING, orrery_regression_state(whole, &kept, &bytes),
            "no search with keep-state");
    assert_int_equal(orrery_regression_search(whole, 1, NULL, NULL), 0);
    assert_int_equal(orrery_regression_search(half, 1, NULL, NULL), 0);
    assert_int_equal(orrery_regression_state(half, &kept, &bytes), 0);
    assert_int_equal(orrery_regression_resume(rest, kept, bytes), 0);
    assert_int_equal(orrery_regression_search(rest, 1, NULL, NULL), 0);
    for (int k = 0; k < 2; k++) {
        struct orrery_regression *r = k ? rest : whole;
        assert_int_equal(rows_of(r, &rows[k]), 0);
        assert_int_equal(
            orrery_regression_print(r, rows[k] - 1, ORRERY_TEXT, text[k], sizeof text[k], NULL), 0);
    }
    assert_int_equal(rows[0], rows[1]);
    assert_string_equal(text[0], text[1]);
    assert_int_equal(orrery_regression_resume(rest, "nothing", 7), 0);
    REFUSED(rest, ORRERY_EFORMAT, orrery_regression_search(rest, 1, NULL, NULL), "");
    assert_int_equal(orrery_regression_resume(rest, kept, bytes), 0);
    assert_int_equal(orrery_regression_set(rest, "maxsize", "7"), 0);
    REFUSED(rest, ORRERY_EINVAL, orrery_regression_search(rest, 1, NULL, NULL), "maxsize");
    for (int k = 0; k < 3; k++)
        orrery_regression_free(all[k]);
}

/* 2 a sqrt(a) M with a known factor M, and a template of the wrong columns. */
TEST(functions_of_a_template)
{
    struct orrery_regression *r = small();
    const struct orrery_table table = kepler();
    double predicted[ROWS];
    char text[300];
    int row = -1;
    for (int i = 0; i < ROWS; i++)
        y[i] = 2 * x[2 * i] * sqrt(x[2 * i]) * x[2 * i + 1];
    assert_int_equal(orrery_regression_data(r, &table), 0);
    assert_int_equal(orrery_regression_set(r, "template", "M * f(a)"), 0);
    assert_int_equal(orrery_regression_search(r, 1, NULL, NULL), 0);
    assert_int_equal(orrery_regression_select(r, "best", &row), 0);
    assert_int_equal(orrery_regression_print(r, row, ORRERY_TEXT, text, sizeof text, NULL), 0);
    assert_memory_equal(text, "(M * ", 5);
    assert_int_equal(orrery_regression_predict(r, row, &table, predicted), 0);
    for (int i = 0; i < ROWS; i++)
        assert_true(fabs(predicted[i] - y[i]) < 1e-6 * fabs(y[i]));
    assert_int_equal(orrery_regression_set(r, "template", "M * f(b)"), 0);
    REFUSED(r, ORRERY_EUSAGE, orrery_regression_search(r, 1, NULL, NULL),
            "template: f: expected a column");
    orrery_regression_free(r);
}

/* What an option of orrery_fit() lacks is said; the front is that of the calls one by one. */
TEST(a_fit_in_one_call)
{
    const struct orrery_table table = kepler();
    struct orrery_regression *fit = NULL;
    struct orrery_counts counts = {.bytes = sizeof counts};
    assert_int_equal(orrery_fit(&table, "# a comment\nnonsense", &fit), ORRERY_EUSAGE);
    assert_non_null(
        strstr(orrery_message(fit), "options: expected lines KEY=VALUE, found \"nonsense\""));
    orrery_regression_free(fit);
    assert_int_equal(orrery_fit(&table, "maxsise=9", &fit), ORRERY_EUSAGE);
    assert_non_null(strstr(orrery_message(fit), "maxsize"));
    orrery_regression_free(fit);
    assert_int_equal(
        orrery_fit(&table, "enumerate=3000\n iterations=3\n\nsymreg.maxsize=9\n", &fit), 0);
    assert_int_equal(orrery_regression_counts(fit, &counts), 0);
    assert_true(counts.rows > 1);
    orrery_regression_free(fit);
}

/* Rows of a test count by their own weights, whatever the search chose, and as often as it runs. */
TEST(a_test_has_its_own_weights)
{
    enum { MANY = 1000 };
    static double u[MANY], v[MANY], half[MANY];
    struct orrery_regression *r = small();
    struct orrery_row row = {.bytes = sizeof row};
    double loss[2][2];
    unsigned random = 1;
    for (int i = 0; i < MANY; i++) {
        double uniform[13], noise = -6;
        for (int k = 0; k < 13; k++)
            uniform[k] = (double)((random = random * 1664525u + 1013904223u) >> 8) / (1 << 24);
        for (int k = 1; k < 13; k++)
            noise += uniform[k];
        u[i] = exp(4 * uniform[0]);
        v[i] = 2.7 * u[i] * u[i] * (1 + 0.05 * noise);
        half[i] = i < MANY / 2;
    }
    const struct orrery_table table = {
        .bytes = sizeof table, .rows = MANY, .columns = 1, .x = u, .y = v};
    struct orrery_table test = table;
    assert_int_equal(orrery_regression_set(r, "evaluations", "4000"), 0);
    assert_int_equal(orrery_regression_set(r, "enumerate", NULL), 0);
    for (int weighted = 0; weighted < 2; weighted++) {
        test.weights = weighted ? half : NULL;
        assert_int_equal(orrery_regression_data(r, &table), 0);
        assert_int_equal(orrery_regression_test(r, &test), 0);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(orrery_regression_search(r, 1, NULL, NULL), 0);
            assert_non_null(r->table.by.count ? &r->table : NULL); /* weights were chosen */
            assert_int_equal(orrery_regression_row(r, 0, &row), 0);
            loss[weighted][again] = row.test_loss;
        }
        assert_true(loss[weighted][0] == loss[weighted][1]);
    }
    assert_true(fabs(loss[0][0] / loss[1][0] - 1) > 0.1);
    REFUSED(
        r, ORRERY_EINVAL,
        (orrery_regression_set(r, "log-target", "1"), orrery_regression_search(r, 1, NULL, NULL)),
        "give the table again");
    orrery_regression_free(r);
}

/* Noise that several functions explain: the alternatives in order, until there are no more. */
TEST(alternatives_beside_the_front)
{
    struct orrery_regression *r = small();
    const struct orrery_table table = kepler();
    struct orrery_row found = {.bytes = sizeof found}, best = {.bytes = sizeof best};
    struct orrery_counts counts = {.bytes = sizeof counts};
    double value[ROWS], again[ROWS];
    int row = -1, rows = 0, before = 0;
    for (int i = 0; i < ROWS; i++)
        y[i] = log(1 + x[2 * i]) + 0.3 * sin(i * i);
    assert_int_equal(orrery_regression_data(r, &table), 0);
    assert_int_equal(orrery_regression_set(r, "alternatives", "2"), 0);
    assert_int_equal(orrery_regression_search(r, 1, NULL, NULL), 0);
    assert_int_equal(orrery_regression_select(r, "best", &row), 0);
    assert_int_equal(orrery_regression_row(r, row, &best), 0);
    assert_int_equal(rows_of(r, &rows), 0);
    assert_int_equal(orrery_regression_counts(r, &counts), 0);
    assert_int_equal(orrery_regression_predict(r, row, &table, again), 0);
    for (int k = 0; k < counts.alternatives; k++) {
        double loss = 0;
        struct orrery_formula *formula;
        assert_int_equal(orrery_regression_alternative(r, k, &found), 0);
        assert_int_equal(orrery_formula_of_alternative(r, k, &formula), 0);
        assert_int_equal(orrery_formula_evaluate(formula, &table, value), 0);
        orrery_formula_free(formula);
        for (int i = 0; i < ROWS; i++)
            loss += (value[i] - y[i]) * (value[i] - y[i]) / ROWS;
        assert_memory_not_equal(value, again, sizeof value);
        assert_true(fabs(loss - found.loss) < 1e-9 * loss && isnan(found.score));
        assert_true(fabs(found.description_length - best.description_length - found.nats) < 1e-9);
        assert_true(found.nats <= 4.001 && found.complexity >= before);
        before = found.complexity;
    }
    assert_true(counts.alternatives > 0);
    REFUSED(r, ORRERY_EINVAL, orrery_regression_alternative(r, counts.alternatives, &found),
            "alternative: expected 0 to");
    REFUSED(r, ORRERY_EINVAL, orrery_regression_row(r, rows, &found), "row: expected 0 to");
    assert_true(row < rows);
    assert_int_equal(orrery_regression_set(r, "alternatives", "many"), 0);
    REFUSED(r, ORRERY_EUSAGE, orrery_regression_search(r, 1, NULL, NULL),
            "alternatives: expected a whole number from 0 to 20");
    orrery_regression_free(r);
}

TEST(settings_and_options_are_checked)
{
    struct orrery_regression *r = small();
    const struct orrery_table table = kepler();
    REFUSED(r, ORRERY_EUSAGE, orrery_regression_set(r, "maxsise", "9"), "maxsize");
    REFUSED(r, ORRERY_EUSAGE, orrery_regression_set(r, "maxsize", "many"), "maxsize");
    REFUSED(r, ORRERY_EUSAGE, orrery_regression_set(r, "model.layers", "2"), "model.layers");
    REFUSED(r, ORRERY_EINVAL, orrery_regression_set(r, NULL, "2"), "NULL");
    REFUSED(r, ORRERY_EUSAGE, orrery_regression_set(r, "keep-state", "yes"), "yes");
    REFUSED(r, ORRERY_EMISSING, orrery_regression_search(r, 1, NULL, NULL), "no table");
    assert_int_equal(orrery_regression_data(r, &table), 0);
    REFUSED(r, ORRERY_EINVAL, orrery_regression_search(r, -1, NULL, NULL), "threads");
    assert_int_equal(orrery_regression_set(r, "units", "a=AU, M=kg, T=parsecs per"), 0);
    REFUSED(r, ORRERY_EUSAGE, orrery_regression_search(r, 1, NULL, NULL), "parsecs");
    assert_int_equal(orrery_regression_set(r, "units", NULL), 0);
    assert_int_equal(orrery_regression_set(r, "loss", "abs(p - t)"), 0);
    assert_int_equal(orrery_regression_set(r, "define", "wave(v)=sin(v)*v"), 0);
    const int rc = orrery_regression_search(r, 1, NULL, NULL);
    assert_string_equal(orrery_message(r), "");
    assert_int_equal(rc, 0);
    int row;
    REFUSED(r, ORRERY_EUSAGE, orrery_regression_select(r, "beste", &row), "best");
    REFUSED(r, ORRERY_EINVAL, orrery_regression_row(r, 100, &(struct orrery_row){.bytes = 48}),
            "row");
    REFUSED(r, ORRERY_EINVAL, orrery_regression_row(r, 0, &(struct orrery_row){.bytes = 4}),
            "sizeof");
    double out[ROWS];
    struct orrery_formula *formula;
    assert_int_equal(orrery_formula_parse(ORRERY_INTERFACE, "a + q", names, 2, NULL, &formula),
                     ORRERY_EINVAL);
    assert_non_null(strstr(orrery_message(formula), "q"));
    REFUSED(formula, ORRERY_EMISSING, orrery_formula_evaluate(formula, &table, out), "refused");
    orrery_formula_free(formula);
    struct orrery_table narrow = table;
    narrow.columns = 1;
    REFUSED(r, ORRERY_EINVAL, orrery_regression_predict(r, 0, &narrow, out), "expected 2 columns");
    orrery_regression_free(r);
}

TEST(tables_are_checked)
{
    struct orrery_regression *r = small();
    const struct orrery_table good = kepler();
    double weights[ROWS] = {0};
    static const char *const twice[] = {"a", "a"}, *const numbers[] = {"a", "1.5"},
                             *const missing[] = {"a", NULL};
    const struct {
        int status;
        const char *part;
        size_t offset, bytes;
        const void *value;
    } bad[] = {
#define BAD(part, member, type, ...)                                                               \
    {                                                                                              \
        ORRERY_EINVAL, part, offsetof(struct orrery_table, member), sizeof(type), &(type)          \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
        BAD("sizeof", bytes, size_t, 8),
        BAD("at least 2 rows", rows, size_t, 1),
        BAD("at least 2 rows", rows, size_t, SIZE_MAX),
        BAD("1 to 1024 columns", columns, size_t, 0),
        BAD("1 to 1024 columns", columns, size_t, 5000),
        BAD("type", type, int, 7),
        BAD("order", order, int, -1),
        BAD("x: expected", x, const void *, NULL),
        BAD("y: expected", y, const void *, NULL),
        BAD("stands twice", names, const char *const *, twice),
        {ORRERY_EFORMAT, "could not be distinguished from a number",
         offsetof(struct orrery_table, names), sizeof numbers[0], &(const char *const *){numbers}},
        BAD("found NULL", names, const char *const *, missing),
        BAD("a weight above 0", weights, const void *, weights),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct orrery_table table = good;
        memcpy((char *)&table + bad[i].offset, bad[i].value, bad[i].bytes);
        REFUSED(r, bad[i].status, orrery_regression_data(r, &table), bad[i].part);
    }
    x[5] = NAN;
    REFUSED(r, ORRERY_EINVAL, orrery_regression_data(r, &good), "row 2, column 1");
    x[5] = 1;
    y[3] = INFINITY;
    REFUSED(r, ORRERY_EINVAL, orrery_regression_data(r, &good), "y: row 3");
    REFUSED(r, ORRERY_EINVAL, orrery_regression_data(r, NULL), "NULL");
    orrery_regression_free(r);
}

TEST(no_handle_and_another_version)
{
    struct orrery_regression *r = (void *)1;
    struct orrery_simulation *s = (void *)1;
    int rows;
    assert_int_equal(orrery_regression_create(ORRERY_INTERFACE + 1, &r), ORRERY_EVERSION);
    assert_null(r);
    assert_int_equal(orrery_simulation_create(0, &s), ORRERY_EVERSION);
    assert_null(s);
    assert_non_null(strstr(orrery_status_text(ORRERY_EVERSION), "orrery.h"));
    assert_int_equal(orrery_regression_create(ORRERY_INTERFACE, NULL), ORRERY_EINVAL);
    assert_int_equal(rows_of(NULL, &rows), ORRERY_EINVAL);
    assert_int_equal(orrery_simulation_set(NULL, ""), ORRERY_EINVAL);
    orrery_regression_free(NULL);
    orrery_simulation_free(NULL);
    orrery_stop(NULL);
    assert_string_equal(orrery_version(), ORR_VERSION);
}

static const char continuous[] = "# a comment\n  seed=5 \norbits.protocol=identifiable\n"
                                 "orbits.output=continuous\norbits.mass_prior=uniform\n"
                                 "orbits.positions=33\norbits.two_body_train=40\n"
                                 "orbits.law=yukawa\norbits.law_lambda_au=20";

TEST(sequences_are_those_of_the_program)
{
    enum { N = 9, FIRST = 3, P = 33 };
    struct orrery_simulation *s = NULL;
    struct orrery_set set = {.bytes = sizeof set};
    static float xy[2][N * P * 2], force[2][N * P];
    uint8_t bodies[N];
    assert_int_equal(orrery_simulation_create(ORRERY_INTERFACE, &s), 0);
    assert_int_equal(orrery_simulation_set(s, continuous), 0);
    assert_int_equal(orrery_simulation_describe(s, "two_body_train", &set), 0);
    assert_true(set.sequences == 40 && set.positions == P && !set.tokens && set.labelled);
    for (int k = 0; k < 2; k++) {
        const struct orrery_arrays arrays = {.bytes = sizeof arrays,
                                             .coordinates = xy[k],
                                             .force_magnitude = force[k],
                                             .bodies = bodies};
        assert_int_equal(orrery_simulation_sequences(s, "two_body_train", FIRST, N, k + 1, &arrays),
                         0);
    }
    assert_memory_equal(xy[0], xy[1], sizeof xy[0]);
    assert_memory_equal(force[0], force[1], sizeof force[0]);
    struct orr_settings *settings = orr_alloc(1, sizeof *settings);
    assert_non_null(settings);
    orr_settings_defaults(settings);
    static const char *const lines[] = {"seed=5",
                                        "orbits.protocol=identifiable",
                                        "orbits.output=continuous",
                                        "orbits.positions=33",
                                        "orbits.mass_prior=uniform",
                                        "orbits.two_body_train=40",
                                        "orbits.law=yukawa",
                                        "orbits.law_lambda_au=20"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(orr_settings_set(settings, lines[i]), 0);
    struct sim_sequence q;
    assert_int_equal(sim_sequence_create(&q, settings, SIM_SPLIT_TWO_BODY_TRAIN), 0);
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(sim_sequence_make(&q, settings, SIM_SPLIT_TWO_BODY_TRAIN, FIRST + i), 0);
        assert_memory_equal(q.coords, xy[0] + i * P * 2, P * 2 * sizeof(float));
        assert_memory_equal(q.force_magnitude, force[0] + i * P, P * sizeof(float));
        assert_int_equal(bodies[i], 2);
    }
    sim_sequence_free(&q);
    free(settings);
    orrery_simulation_free(s);
}

TEST(forces_and_orbits_follow_the_law)
{
    struct orrery_simulation *s = NULL;
    const struct orrery_elements circle = {.a_au = 2};
    double path[4 * 21], force[2], size;
    const double at[4] = {3, 0, 0, 0};
    assert_int_equal(orrery_simulation_create(ORRERY_INTERFACE, &s), 0);
    assert_int_equal(orrery_simulation_force(s, 2, 5, 1, at, force, &size), 0);
    assert_true(fabs(size - SIM_G * 10 / 9) < 1e-12 && fabs(force[0] + size) < 1e-12);
    for (int law = 0; law < 2; law++) {
        assert_int_equal(orrery_simulation_set(s, law ? "orbits.law=hooke" : ""), 0);
        assert_int_equal(orrery_simulation_orbit(s, &circle, 1, 1, 0.1, 21, path), 0);
        for (int i = 0; i < 21; i++) /* a circle under any law */
            assert_true(fabs(hypot(path[4 * i], path[4 * i + 1]) - 2) < 1e-8);
    }
    assert_int_equal(orrery_simulation_set(s, "orbits.law=expression\norbits.expression=G*m1*m2/r"),
                     0);
    assert_int_equal(orrery_simulation_force(s, 2, 5, 1, at, NULL, &size), 0);
    assert_true(fabs(size - SIM_G * 10 / 3) < 1e-12);
    REFUSED(s, ORRERY_EUSAGE,
            orrery_simulation_set(s, "orbits.law=expression\norbits.expression=G*m1*"),
            "character");
    assert_int_equal(orrery_simulation_force(s, 2, 5, 1, at, NULL, &size), 0); /* as it was */
    assert_true(fabs(size - SIM_G * 10 / 3) < 1e-12);
    orrery_simulation_free(s);
}

/* Two equal masses on a circle of period 1 yr around a centre that moves by 0.3 AU/yr; three bodies
 * start alike under two laws, and keep their momentum. */
TEST(bodies_start_as_given)
{
    struct orrery_simulation *s = NULL;
    const double half[2] = {0.5, 0.5}, mass[3] = {0.001, 0.25, 1};
    const double circle[8] = {0.5, 0, 0.3, 3.14159265358979, -0.5, 0, 0.3, -3.14159265358979};
    const double three[12] = {1, 0, 0, 6.2, -3, 0.1, 0.1, -3.4, 0, 0, 0.2, 0.7};
    double path[2 * 21 * 4], of_law[2][3 * 11 * 4];
    assert_int_equal(orrery_simulation_create(ORRERY_INTERFACE, &s), 0);
    assert_int_equal(orrery_simulation_bodies(s, 2, half, circle, 0.05, 21, path), 0);
    for (int b = 0; b < 2; b++)
        for (int c = 0; c < 4; c++)
            assert_true(fabs(path[(21 * b + 20) * 4 + c] - circle[4 * b + c] - (c == 0 ? 0.3 : 0)) <
                        1e-7);
    for (int law = 0; law < 2; law++) {
        assert_int_equal(orrery_simulation_set(s, law ? "orbits.law=hooke" : ""), 0);
        assert_int_equal(orrery_simulation_bodies(s, 3, mass, three, 0.02, 11, of_law[law]), 0);
        for (int b = 0; b < 3; b++)
            assert_memory_equal(of_law[law] + b * 11 * 4, three + 4 * b, 4 * sizeof *three);
        for (int c = 2; c < 4; c++) {
            double momentum = 0;
            for (int b = 0; b < 3; b++)
                momentum += mass[b] * (of_law[law][(b * 11 + 10) * 4 + c] - three[4 * b + c]);
            assert_true(fabs(momentum) < 1e-9);
        }
    }
    assert_true(fabs(of_law[0][10 * 4] - of_law[1][10 * 4]) > 0.01);
    orrery_simulation_free(s);
}

static bool is_any(const char *name, const void *of)
{
    (void)name;
    (void)of;
    return true;
}

/* Tracks become a folder of data sets; tests/cli/test_import.sh and python/tests/test_datasets.py
 * look at what it holds. */
TEST(tracks_are_written)
{
    static double place[3][12 * 2 * 2];
    struct orrery_simulation *s = NULL;
    char path[] = "/tmp/orrery-tracks-XXXXXX";
    struct orrery_tracks tracks[3];
    const struct orrery_tracks *all[3] = {tracks, tracks + 1, tracks + 2};
    struct orrery_division division = {
        .bytes = sizeof division, .val = 0.1, .test = 0.1, .name = "a test"};
    assert_non_null(mkdtemp(path));
    assert_int_equal(orrery_simulation_create(ORRERY_INTERFACE, &s), 0);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 48; k++)
            place[i][k] = 0.3 * i + 0.07 * k;
        tracks[i] = (struct orrery_tracks){
            .bytes = sizeof *tracks, .steps = 12, .bodies = 2, .dt = 0.5, .position = place[i]};
    }
    assert_int_equal(orrery_simulation_import(s, path, 3, all, &division), 0);
    assert_int_equal(orrery_simulation_import(s, path, 3, all, &division), 0); /* as it is */
    place[1][5] = 3;
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_import(s, path, 3, all, &division), "--force");
    place[1][5] = NAN;
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_import(s, path, 3, all, &division),
            "system 1: position: number 5");
    place[1][5] = 3;
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_import(s, path, 2, all, &division), "3 systems");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_import(s, "", 3, all, &division), "folder");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_import(s, path, 3, NULL, &division), "tracks");
    division.steps = 13;
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_import(s, path, 3, all, &division), "13 time");
    orrery_simulation_free(s);
    assert_int_equal(orr_remove_where(path, is_any, NULL), 0);
    assert_int_equal(rmdir(path), 0);
}

TEST(simulations_are_checked)
{
    struct orrery_simulation *s = NULL;
    struct orrery_arrays arrays = {.bytes = sizeof arrays};
    struct orrery_elements open = {.a_au = 1, .e = 1};
    double path[8];
    float one;
    assert_int_equal(orrery_simulation_create(ORRERY_INTERFACE, &s), 0);
    REFUSED(s, ORRERY_EUSAGE, orrery_simulation_set(s, "orbits.lew=newton"), "orbits.law");
    REFUSED(s, ORRERY_EUSAGE, orrery_simulation_set(s, "symreg.maxsize=3"), "symreg");
    REFUSED(s, ORRERY_EUSAGE, orrery_simulation_set(s, "seed"), "KEY=VALUE");
    REFUSED(s, ORRERY_EUSAGE, orrery_simulation_set(s, "orbits.law_lambda_au=3"),
            "orbits.law_lambda_au");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_set(s, NULL), "NULL");
    assert_int_equal(orrery_simulation_set(s, continuous), 0);
    REFUSED(s, ORRERY_EUSAGE, orrery_simulation_sequences(s, "two_body_trian", 0, 1, 1, &arrays),
            "two_body_train");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_sequences(s, "two_body_train", 39, 2, 1, &arrays),
            "40 sequences");
    REFUSED(s, ORRERY_EINVAL,
            orrery_simulation_sequences(s, "two_body_train", 1, SIZE_MAX, 1, &arrays),
            "40 sequences");
    arrays.force = &one;
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_sequences(s, "val", 0, 1, 1, &arrays), "no force");
    arrays = (struct orrery_arrays){.bytes = sizeof arrays, .tokens = (void *)&one};
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_sequences(s, "val", 0, 1, 1, &arrays), "no tokens");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_orbit(s, &open, 1, 1, 0.1, 2, path), "e from 0");
    open.e = 0;
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_orbit(s, &open, 0, 1, 0.1, 2, path), "masses");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_orbit(s, &open, 1, 1, NAN, 2, path), "dt_yr");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_force(s, 1, 1, 1, NULL, path, NULL), "state");
    path[2] = INFINITY;
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_force(s, 1, 1, 1, path, NULL, NULL),
            "number 2 of row 0");
    const double mass[2] = {1, 0};
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_bodies(s, 1, mass, path, 1, 1, path), "bodies");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_bodies(s, 2, mass, NULL, 1, 1, path), "start");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_bodies(s, 2, mass, path, 0, 1, path), "dt_yr");
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_bodies(s, 2, mass, path, 1, 1, path),
            "number 2 of row 0");
    path[2] = 0;
    REFUSED(s, ORRERY_EINVAL, orrery_simulation_bodies(s, 2, mass, path, 1, 1, path),
            "mass: number 1");
    orrery_simulation_free(s);
}

TESTS(NULL, NULL)
