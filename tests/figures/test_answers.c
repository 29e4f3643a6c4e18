/* test_answers.c - what the page says on top: hand-made runs give texts of their own. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

enum { TRUTH, ORACLE, SOFTMAX, LSSAR, UNTRAINED, SOURCES, STEPS = 40, SAMPLES = 3 };

static struct report_run run;
static struct report_position position[SOURCES][REPORT_BODIES][STEPS];
static struct report_law law[SOURCES * SAMPLES];

/* A source whose predictions are `error` too long, whose magnitudes have 1 - R^2 = error, and
 * whose search selects the law in so many samples; NaN: no predictions, found -1: no search. */
static void set_source(int s, const char *name, enum report_role role, double error, int found)
{
    struct report_source *source = &run.source[s];
    memset(source, 0, sizeof *source);
    snprintf(source->name, sizeof source->name, "%s", name);
    snprintf(source->title, sizeof source->title, "GPT (%s)", name);
    source->role = role;
    source->has_vectors = source->has_laws = isfinite(error);
    source->r2_log = 1 - error;
    for (int b = 0; b < REPORT_BODIES; b++) {
        for (int t = 0; t < STEPS; t++) {
            const double angle = 0.1 * t, x = cos(angle), y = sin(angle);
            position[s][b][t] = (struct report_position){.x_au = x,
                                                         .y_au = y,
                                                         .fx_true = -x,
                                                         .fy_true = -y,
                                                         .fx = -x * (1 + error),
                                                         .fy = -y * (1 + error),
                                                         .labelled = t % 4 == 0,
                                                         .step = t};
        }
        source->orbit[b] = (struct report_orbit){STEPS, position[s][b]};
    }
    for (int i = 0; i < SAMPLES && found >= 0; i++) {
        law[run.law_count] =
            (struct report_law){.source = s, .sample = i, .selected_true = i < found};
        snprintf(law[run.law_count++].rule, sizeof law->rule, "best");
    }
    run.source_count = s + 1;
}

struct case_of {
    double softmax, lssar, untrained;                /* errors */
    int softmax_found, lssar_found, untrained_found; /* samples of 3 */
    const char *begins[REPORT_ANSWERS];
};

static int truth_found = 3; /* samples of 3 */

static void make_run(const struct case_of *c)
{
    memset(&run, 0, sizeof run);
    run.has_vectors = run.has_laws = true;
    run.samples = SAMPLES;
    run.law = law;
    run.true_law.newton = true;
    run.rules.count = 1;
    snprintf(run.rules.item[0], sizeof run.rules.item[0], "best");
    assert_int_equal(orr_settings_load(&run.settings, "smoke"), 0);
    set_source(TRUTH, "truth", REPORT_TRUTH, 0, truth_found);
    set_source(ORACLE, "oracle", REPORT_ORACLE, 0.2, 1);
    set_source(SOFTMAX, "Softmax", REPORT_ATTENTION, c->softmax, c->softmax_found);
    set_source(LSSAR, "LSSAR", REPORT_ATTENTION, c->lssar, c->lssar_found);
    set_source(UNTRAINED, "untrained", REPORT_UNTRAINED, c->untrained, c->untrained_found);
}

TEST(three_runs_three_texts)
{
    static const struct case_of cases[] = {
        {0.02, 0.021, 0.2, 3, 3, 0, {"Yes.", "Not clearly.", "No, only trained models find it."}},
        {0.2, 0.2, 0.2, 0, 0, 0, {"No clear difference.", "Not clearly.", "No model finds it"}},
        {0.4, 0.1, 0.05, 2, 1, 2, {"No, it hurt.", "In some values.", "Yes, so that"}},
        /* just at the rule, four fifths: better; beside it: about equal */
        {0.079, 0.079, 0.1, 3, 2, 1, {"Yes.", "Not clearly.", "Less often than trained"}},
        {0.081, 0.081, 0.1, 3, 3, 4, {"No clear difference.", "Not clearly.", "Yes, so that"}},
        /* one model helps, the other hurts */
        {0.02, 0.5, 0.1, 3, 3, 3, {"It helped in some values and hurt", "In some values.", "Yes"}},
    };
    struct report_answer answer[REPORT_ANSWERS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_run(&cases[i]);
        assert_int_equal(report_answers(&run, answer), 0);
        for (int a = 0; a < REPORT_ANSWERS; a++)
            if (strncmp(answer[a].text, cases[i].begins[a], strlen(cases[i].begins[a])) != 0)
                fail_msg("case %zu: expected \"%s...\", found \"%s\"", i, cases[i].begins[a],
                         answer[a].text);
        assert_non_null(strstr(answer[1].text, "GPT (LSSAR) against GPT (Softmax)"));
    }
}

/* The figures are those of the run: 1 - 0.02, 2% and 20%. */
TEST(figures_are_told)
{
    const struct case_of helps = {0.02, 0.5, 0.2, 3, 2, 1, {0}};
    struct report_answer answer[REPORT_ANSWERS];
    make_run(&helps);
    assert_int_equal(report_answers(&run, answer), 0);
    assert_non_null(
        strstr(answer[0].text,
               "\nGPT (Softmax): R\u00b2 of log force 0.980 against 0.800 (better), median "
               "error on planets 2.0% against 20% (better), median error on eccentric "
               "bodies 2.0% against 20% (better)."));
    assert_non_null(strstr(answer[1].text, "0.500 against 0.980 (worse)"));
    assert_non_null(strstr(answer[2].text, "Samples of 3 from which Newton's law is selected"));
    assert_non_null(strstr(answer[2].text, "GPT (Softmax) 3, GPT (LSSAR) 2, GPT (untrained) 1."));
}

/* Where the search fails on the true forces, it says nothing about models. */
TEST(failing_search_is_told)
{
    const struct case_of none = {0.1, 0.1, 0.1, 0, 0, 0, {0}};
    struct report_answer answer[REPORT_ANSWERS];
    truth_found = 0;
    make_run(&none);
    truth_found = 3;
    assert_int_equal(report_answers(&run, answer), 0);
    assert_non_null(
        strstr(answer[2].text, "Not known: the search does not find the law in the true"));
}

/* What the run has not is said, and no answer is made up. */
TEST(missing_parts_are_told)
{
    struct report_answer answer[REPORT_ANSWERS];
    struct case_of none = {NAN, NAN, NAN, -1, -1, -1, {0}};
    make_run(&none);
    assert_int_equal(report_answers(&run, answer), 0);
    assert_string_equal(answer[0].text, "Not known: no forces were predicted.");
    assert_string_equal(answer[1].text, "Not known: no forces were predicted.");
    assert_non_null(strstr(answer[2].text, "Not known: this run has no search for laws"));
    make_run(&none);
    run.source_count = LSSAR; /* one variant, no untrained model */
    assert_int_equal(report_answers(&run, answer), 0);
    assert_string_equal(answer[0].text, "Not known: this run has no untrained model.");
    assert_string_equal(answer[1].text, "Not known: this run has one attention variant.");
    assert_non_null(strstr(answer[2].text, "Not known"));
}

/* Errors are percent with two digits, and factors from 1,000% on. */
TEST(errors_are_percent_or_factors)
{
    static const struct {
        double error;
        const char *text;
    } cases[] = {{0.0934, "9.3%"}, {0, "0%"},           {1, "100%"},       {0.00456, "0.46%"},
                 {0.12345, "12%"}, {0.00002, "0.002%"}, {3e-9, "<0.001%"}, {9.99, "999%"},
                 {10, "10 times"}, {145.3, "145 times"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        report_percent(cases[i].error, text);
        assert_string_equal(text, cases[i].text);
    }
}

TESTS(NULL, NULL)
