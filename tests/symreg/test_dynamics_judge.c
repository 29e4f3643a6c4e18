/* test_dynamics_judge.c - the benchmark of dynamics: its systems, and what its judge accepts. */
#include "testing.h"

#include "bench/dynamics_judge.h"
#include "bench/dynamics_textbook.h"

static struct dyn_system s;
static struct dyn_verdict verdict;

/* A damped oscillator, dx0/dt = x1, dx1/dt = -1.5 x0 - 0.2 x1^3. */
FIXTURE(set_up)
{
    s = (struct dyn_system){.dims = 2, .start = {{1.2, -0.4}, {-0.7, 0.9}}};
    s.feature[0] = "x0";
    s.feature[1] = "x1";
    s.feature[2] = "t";
    dyn_add(&s, 0, "+ x1");
    dyn_add(&s, 1, "- 1.5 * x0");
    dyn_add(&s, 1, "- 0.2 * cube(x1)");
    for (int i = 0; i < DYN_ROWS; i++)
        s.t[i] = 0.08 * i;
    assert_true(dyn_join(&s));
    assert_true(dyn_is_fit(&s, false));
    return 0;
}

static void judge(double noise, const char *first, const char *second)
{
    struct dyn_answer answer = {.dims = 2};
    assert_int_equal(sr_expr_parse(NULL, first, s.feature, 3, &answer.equation[0]), 0);
    assert_int_equal(sr_expr_parse(NULL, second, s.feature, 3, &answer.equation[1]), 0);
    assert_int_equal(dyn_judge(&s, &answer, noise, &verdict), 0);
}

static void expect(bool reproduced, bool predicted, bool first, bool second)
{
    assert_int_equal(verdict.reproduced, reproduced);
    assert_int_equal(verdict.predicted, predicted);
    assert_int_equal(verdict.right[0], first);
    assert_int_equal(verdict.right[1], second);
    assert_int_equal(verdict.all_right, first && second);
}

TEST(equal_forms_are_right)
{
    judge(0, "x1", "-1.5 * x0 - 0.2 * cube(x1)");
    expect(true, true, true, true);
    judge(0, "(2.5 * x1) / 2.5", "neg(0.2 * (square(x1) * x1 + (7.5 * x0)))");
    expect(true, true, true, true);
}

TEST(right_hand_sides_may_be_near_in_another_form)
{
    judge(0, "x1", "-1.5 * x0 - 0.2 * cube(x1)");
    assert_true(verdict.near);
    judge(0, "x1", "-1.5 * 1.04 * x0 - 1.04 * 0.2 * cube(x1)");
    assert_true(verdict.near && !verdict.right[1]);
    judge(0, "1.06 * x1", "-1.5 * x0 - 0.2 * cube(x1)");
    assert_false(verdict.near);
    judge(0, "x1", "-1.5 * x0 - 0.2 * cube(x1) + 0 * log(x0)");
    assert_false(verdict.near); /* no value where x0 < 0 */
}

TEST(constants_have_the_tolerance_of_their_noise)
{
    judge(0, "x1", "-1.5009 * x0 - 0.2 * cube(x1)");
    expect(true, true, true, true);
    judge(0, "x1", "-1.5025 * x0 - 0.2 * cube(x1)");
    expect(true, true, true, false);
    judge(0.01, "x1", "-1.5025 * x0 - 0.2035 * cube(x1)");
    expect(true, true, true, true);
    judge(0.01, "x1", "-1.5025 * x0 - 0.208 * cube(x1)");
    expect(true, true, true, false);
    judge(0.05, "0.95 * x1", "-1.5025 * x0 - 0.208 * cube(x1)");
    assert_true(verdict.all_right);
}

TEST(other_forms_are_wrong_however_well_they_follow)
{
    judge(0, "x1", "-1.5 * x0 - 0.2 * cube(x1) + 1e-5 * x0 * x1");
    expect(true, true, true, false);
    judge(0.05, "x1", "-1.5 * sin(x0 * 1.01) - 0.25 * x1");
    assert_false(verdict.right[1]);
    judge(0.05, "x1 + 1e-7 * t", "-1.5 * x0 - 0.2 * cube(x1)");
    expect(true, true, false, true);
}

TEST(what_diverges_or_leaves_the_track_follows_nothing)
{
    judge(0, "x1", "square(x0) + 3");
    expect(false, false, true, false);
    assert_true(isinf(verdict.r2[0][0]) && isinf(verdict.r2[1][1]));
    judge(0, "x1", "sqrt(x0) - 3");
    expect(false, false, true, false);
    judge(0, "x1", "-1.2 * x0 - 0.2 * cube(x1)");
    expect(false, false, true, false);
    assert_true(isfinite(verdict.r2[0][0]));
}

/* A small swing, whose cubic term is hardly felt, and a large one to predict. */
static void swing_little(void)
{
    struct dyn_flow flow = {.dims = 2, .equation = s.equation};
    set_up(NULL);
    for (int d = 0; d < 2; d++) {
        s.start[0][d] *= 0.1;
        s.start[1][d] *= 8;
    }
    for (int which = 0; which < 2; which++)
        assert_true(dyn_solve(&flow, s.start[which], DYN_ROWS, s.t, DYN_TOLERANCE, s.x[which]));
}

TEST(the_other_start_can_tell_what_the_track_cannot)
{
    swing_little();
    judge(0, "x1", "-1.5 * x0");
    expect(true, false, true, false);
    set_up(NULL);
}

TEST(constants_that_noise_hides_are_right_within_its_errors)
{
    swing_little();
    judge(0.01, "x1", "-1.5 * x0 - 0.25 * cube(x1)");
    assert_true(verdict.right[1] && verdict.formed && !verdict.close);
    judge(0.01, "x1", "-1.5 * (x0 + 0.5 * cube(x1) / 3)");
    assert_true(verdict.right[1] && verdict.formed && !verdict.close);
    judge(0.01, "x1", "-1.5 * x0 - 5 * cube(x1)");
    assert_true(!verdict.right[1] && verdict.formed);
    judge(0.01, "x1", "-1.5 * x0 - 0.25 * cube(x1) + 1e-9 * x0 * x1");
    assert_true(!verdict.right[1] && !verdict.formed);
    judge(0.01, "1.1 * x1", "-1.5 * x0 - 0.25 * cube(x1)");
    assert_true(!verdict.right[0] && verdict.right[1] && verdict.formed);
    judge(0, "x1", "-1.5 * x0 - 0.25 * cube(x1)");
    assert_true(!verdict.right[1] && verdict.formed);
    set_up(NULL);
}

/* Of the true forms, fitted to noise, only those that the track determines are within tolerance. */
TEST(the_bound_of_tolerance_is_that_of_the_noise)
{
    set_up(NULL);
    assert_true(dyn_bound(&s, 0.01) > 0.99);
    swing_little();
    assert_true(dyn_bound(&s, 0.01) < 0.5);
    set_up(NULL);
}

/* ---- answers */

static int read_answer(const char *text, int dims, struct dyn_answer *answer)
{
    const char *path = "build/tests/dynamics_answer.json";
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    const int rc = dyn_answer_read(path, dims, answer);
    remove(path);
    return rc;
}

TEST(answers_are_read_in_their_own_names)
{
    struct dyn_answer answer;
    assert_int_equal(read_answer("{\"equations\": [\"x1\", \"sin(t)\"]}", 2, &answer), 0);
    assert_int_equal(answer.equation[1].node[0].feature, 2);
    assert_int_equal(read_answer("{\"equations\": [\"b\", \"s - a\"], \"columns\": [\"a\", \"b\"], "
                                 "\"time\": \"s\"}",
                                 2, &answer),
                     0);
    assert_int_equal(answer.equation[0].node[0].feature, 1);
    assert_int_equal(answer.equation[1].node[0].feature, 2);
}

TEST(answers_that_are_none_are_refused)
{
    struct dyn_answer answer;
    assert_int_not_equal(read_answer("{\"equations\": [\"x1\"]}", 2, &answer), 0);
    assert_int_not_equal(read_answer("{\"equations\": [\"x1\", \"x2\"]}", 2, &answer), 0);
    assert_int_not_equal(read_answer("{\"equations\": [\"x1\", 3]}", 2, &answer), 0);
    assert_int_not_equal(read_answer("{\"formulas\": []}", 1, &answer), 0);
    assert_int_not_equal(dyn_answer_read("build/tests/no_such_answer.json", 1, &answer), 0);
    orr_error_clear();
}

/* ---- sets */

TEST(systems_are_fit_and_their_truth_is_right)
{
    static struct dyn_answer answer;
    static struct dyn_system drawn;
    int dims[DYN_DIMS + 1] = {0};
    for (int number = 0; number < DYN_SYSTEMS; number++) {
        assert_int_equal(dyn_make(DYN_DEVELOPMENT, number, &drawn), 0);
        memcpy(answer.equation, drawn.equation, sizeof answer.equation);
        assert_int_equal(dyn_judge(&drawn, &answer, 0, &verdict), 0);
        assert_true(verdict.reproduced && verdict.predicted && verdict.all_right);
        dims[drawn.dims]++;
    }
    assert_int_equal(dims[1], 12);
    assert_int_equal(dims[2], 24);
    assert_int_equal(dims[3], 18);
    assert_int_equal(dims[4], 6);
}

TEST(systems_and_tables_do_not_move)
{
    static struct dyn_system drawn, held_out;
    double x[DYN_ROWS * DYN_DIMS], square = 0;
    assert_int_equal(dyn_make(DYN_DEVELOPMENT, 1, &drawn), 0);
    assert_string_equal(drawn.text[1], "- 0.586 * x0 - 0.197 * cube(x1)");
    assert_int_equal(dyn_make(DYN_HELD_OUT, 1, &held_out), 0);
    assert_string_not_equal(held_out.text[1], drawn.text[1]);
    assert_int_equal(dyn_table(DYN_DEVELOPMENT, 1, &drawn, 0.05, x), 0);
    for (int k = 0; k < 2 * DYN_ROWS; k++)
        square += pow(x[k] / drawn.x[0][k] - 1, 2) / (2 * DYN_ROWS);
    assert_true(fabs(sqrt(square) - 0.05) < 4 * 0.05 / sqrt(4 * DYN_ROWS));
    assert_int_equal(dyn_table(DYN_DEVELOPMENT, 1, &drawn, 0, x), 0);
    assert_memory_equal(x, drawn.x[0], 2 * DYN_ROWS * sizeof *x);
}

TEST(systems_of_textbooks_are_fit_and_their_truth_is_right)
{
    static struct dyn_answer answer;
    static struct dyn_system book;
    static const int half[2] = {DYN_TEXTBOOK, DYN_TEXTBOOK_HELD_OUT};
    bool taken[2 * DYN_TEXTBOOK_SYSTEMS] = {0};
    int uneven = 0;
    for (int k = 0; k < 2 * DYN_TEXTBOOK_SYSTEMS; k++) {
        int at = 0;
        assert_int_equal(dyn_make_any(half[k % 2], k / 2, &book), 0);
        memcpy(answer.equation, book.equation, sizeof answer.equation);
        assert_int_equal(dyn_judge(&book, &answer, k % 4 < 2 ? 0 : 0.05, &verdict), 0);
        assert_true(verdict.reproduced && verdict.predicted && verdict.all_right);
        uneven += book.uneven;
        while (dyn_textbook[at].kind != book.kind)
            at++;
        assert_false(taken[at]);
        taken[at] = true;
    }
    assert_int_equal(uneven, 15);
    assert_int_equal(dyn_make_any(DYN_TEXTBOOK_HELD_OUT, 3, &book), 0);
    assert_string_equal(book.text[1], "0.5 * x1 * (1 - (x1 + 0.7 * x0) / 8)");
    assert_int_equal(book.terms[1], 1);
    assert_int_equal(dyn_make_any(DYN_TEXTBOOK, 0, &book), 0);
    assert_string_equal(book.text[1], "-7 * x0 - x0 * x2 + 28 * x1");
    assert_int_equal(book.terms[1], 3);
}

TEST(terms_that_the_track_cannot_tell_are_not_fit)
{
    set_up(NULL);
    assert_true(dyn_is_told(&s, 1));
    dyn_add(&s, 1, "- 0.3 * x0"); /* a second time */
    assert_true(dyn_join(&s));
    assert_false(dyn_is_told(&s, 1));
    assert_false(dyn_is_fit(&s, false));
    set_up(NULL);
}

TEST(intervals_are_those_of_wilson)
{
    double low, high;
    dyn_wilson(8, 10, &low, &high);
    assert_true(fabs(low - 0.4901625) < 1e-6 && fabs(high - 0.9433178) < 1e-6);
    dyn_wilson(60, 60, &low, &high);
    assert_true(fabs(low - 60 / (60 + 1.959963984540054 * 1.959963984540054)) < 1e-9);
    assert_true(fabs(high - 1) < 1e-12);
}

TESTS(set_up, NULL)
