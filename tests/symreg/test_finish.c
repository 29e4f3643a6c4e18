/* test_finish.c - the end of a search: constants are fitted whatever ended it, and where no time is
 * left, nothing is said about their uncertainty. */
#include "symreg/formulas.h"

#include <string.h>

#include "base/stop.h"
#include "symreg/evolve/search.h"
#include "symreg/table/program.h"

enum { ROWS = 60 };

static void noisy_table(struct table *t, uint64_t seed)
{
    const struct sr_expr law = formula("exp(0.86 * (m2 - m1))");
    gsl_rng *rng = random_stream(seed);
    table_create(t, ROWS, seed, false);
    assert_true(sr_eval(&law, &t->data, t->y));
    for (int i = 0; i < ROWS; i++)
        t->y[i] += 0.14 * gsl_ran_gaussian(rng, 1);
    gsl_rng_free(rng);
}

static struct sr_settings settings_of(const struct sr_algorithm *algorithm)
{
    return (struct sr_settings){
        .binary = {SR_SUB, SR_MUL},
        .unary = {SR_EXP, SR_NEG},
        .binary_count = 2,
        .unary_count = 2,
        .loss = ORR_SR_L2,
        .maxsize = 9,
        .iterations = 20,
        .populations = 4,
        .population_size = 27,
        .cycles = 50,
        .restarts = 1,
        .seed = 3,
        .enumerate = algorithm == &sr_algorithm_orrery ? 2000 : 0,
        .algorithm = algorithm,
    };
}

/* The share by which a fit lowers the loss of a formula. */
static double gain_of_fit(const struct table *t, const struct sr_expr *found)
{
    struct sr_expr expr = *found;
    struct sr_loss loss;
    struct sr_work work;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t->data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    const double before = sr_eval_plain(&expr, &loss, &work);
    const double after = sr_constants_fit(&loss, &expr, false, 100, 0, NULL, &work);
    sr_work_free(&work);
    sr_loss_free(&loss);
    return (before - after) / before;
}

/* Two numbers that are one within their errors: the front has the form with one, where that is
 * shorter or has fewer digits; not so where they differ. */
TEST(numbers_that_are_the_same_become_one)
{
    static const struct {
        const char *law, *found;
        double noise;
        int numbers;
    } row[] = {
        {"2.713 * m2 - 2.693 * m1", "2.7131 * m2 - 2.7129 * m1", 0.002, 2},
        {"2.713 * m2 - 2.713 * m1", "2.7131 * m2 - 2.7129 * m1", 0.002, 1},
        {"2.713 / square(m2) - 2.713 / square(m1)", "2.71 / square(m2) - 2.72 / square(m1)", 0.2,
         1},
    };
    static struct sr_fit fit;
    struct sr_hall_of_fame *hall = orr_alloc(1, sizeof *hall);
    assert_non_null(hall);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        const struct sr_expr law = formula(row[k].law);
        struct table t;
        struct sr_settings s = settings_of(&sr_algorithm_orrery);
        s.round = SR_ROUND_LIKELY;
        s.binary[s.binary_count++] = SR_DIV;
        s.unary[s.unary_count++] = SR_INV;
        s.unary[s.unary_count++] = SR_SQUARE;
        gsl_rng *rng = random_stream(4);
        table_create(&t, ROWS, 4, false);
        assert_true(sr_eval(&law, &t.data, t.y));
        for (int i = 0; i < ROWS; i++)
            t.y[i] += row[k].noise * gsl_ran_gaussian(rng, 1);
        gsl_rng_free(rng);
        struct sr_expr expr = formula(row[k].found);
        struct sr_loss loss;
        struct sr_work work;
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
        const double least = sr_constants_fit(&loss, &expr, false, 100, 0, NULL, &work);
        sr_hall_of_fame_clear(hall);
        sr_hall_of_fame_offer(hall, NULL, &expr, least);
        fit = (struct sr_fit){.data = t.data};
        sr_front_make(hall, &fit.front);
        assert_int_equal(sr_front_finish(&s, &t.data, true, &fit), 0);
        const struct sr_expr *last = &fit.front.expr[fit.front.count - 1];
        if (sr_expr_constants(last, NULL) != row[k].numbers)
            fail_msg("%s: the front ends with %s", row[k].law, text_of(last));
        sr_work_free(&work);
        sr_loss_free(&loss);
        table_free(&t);
    }
    free(hall);
}

/* A search frees the 1 of a logistic curve; it is written again, where 0 and 1 allow it. */
TEST(the_one_of_a_logistic_curve_stays)
{
    static const char *const law[] = {"inv(exp(2.1 - 0.6 * r) + 1)", "inv(exp(2.1 - 0.6 * r) + 3)"};
    enum { MANY = 400 };
    static struct sr_fit fit;
    struct sr_hall_of_fame *hall = orr_alloc(1, sizeof *hall);
    assert_non_null(hall);
    for (int k = 0; k < 2; k++) {
        const struct sr_expr curve = formula(law[k]);
        struct sr_expr expr = formula("inv(exp(4.1 - 1.7 * r) + 1.01)");
        struct table t;
        struct sr_settings s = settings_of(&sr_algorithm_orrery);
        struct sr_loss loss;
        struct sr_work work;
        s.round = SR_ROUND_LIKELY;
        s.loss = ORR_SR_BERNOULLI;
        s.binary[s.binary_count++] = SR_ADD;
        s.unary[s.unary_count++] = SR_INV;
        gsl_rng *rng = random_stream(5);
        table_create(&t, MANY, 5, false);
        assert_true(sr_eval(&curve, &t.data, t.y));
        for (int i = 0; i < MANY; i++)
            t.y[i] = gsl_rng_uniform(rng) < t.y[i];
        gsl_rng_free(rng);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_BERNOULLI, &t.data), 0);
        assert_int_equal(sr_work_init(&work, MANY, SR_NODES), 0);
        const double least = sr_constants_fit(&loss, &expr, false, 100, 0, NULL, &work);
        sr_hall_of_fame_clear(hall);
        sr_hall_of_fame_offer(hall, NULL, &expr, least);
        fit = (struct sr_fit){.data = t.data};
        sr_front_make(hall, &fit.front);
        assert_int_equal(sr_front_finish(&s, &t.data, false, &fit), 0);
        const struct sr_expr *last = &fit.front.expr[fit.front.count - 1];
        bool one = false;
        for (int i = 0; i < last->count; i++)
            one = one || (sr_is_number(&last->node[i]) && !(fabs(last->node[i].value - 1) > 0));
        if (one != (k == 0))
            fail_msg("%s: the front ends with %s", law[k], text_of(last));
        sr_work_free(&work);
        sr_loss_free(&loss);
        table_free(&t);
    }
    free(hall);
}

/* Limits of evaluations that end a search anywhere, in its proposals and in its epochs. */
TEST(limits_leave_no_constant_unfitted)
{
    static const struct sr_algorithm *const algorithm[] = {&sr_algorithm_orrery,
                                                           &sr_algorithm_pysr};
    static struct sr_fit fit[2];
    for (size_t k = 0; k < sizeof algorithm / sizeof *algorithm; k++)
        for (double most = 60; most < 4000; most *= 2.3) {
            struct table t;
            struct sr_settings s = settings_of(algorithm[k]);
            noisy_table(&t, 11 + k);
            s.max_evaluations = most;
            for (int threads = 1; threads <= 2; threads++) {
                struct sr_fit *const f = &fit[threads - 1];
                *f = (struct sr_fit){.data = t.data};
                assert_int_equal(sr_search(&s, f, 1, threads, NULL), 0);
                assert_int_equal(sr_front_finish(&s, &t.data, false, f), 0);
            }
            assert_int_equal(fit[0].front.count, fit[1].front.count);
            for (int i = 0; i < fit[0].front.count; i++) {
                const struct sr_expr *expr = &fit[0].front.expr[i];
                const double gain = gain_of_fit(&t, expr);
                assert_memory_equal(&fit[0].front.loss[i], &fit[1].front.loss[i], sizeof gain);
                assert_false(fit[0].front.unfitted[i]);
                if (!(gain < 2e-4)) /* rounding may cost 0.0025 / 60 */
                    fail_msg("%g evaluations, algorithm %zu: %s: a fit lowers its loss by %g", most,
                             k, text_of(expr), gain);
            }
            table_free(&t);
        }
}

/* A front as a stop leaves it. */
static void rough_front(const struct table *t, struct sr_fit *fit)
{
    static const char *const text[] = {"m2 - 0.31", "exp(0.82 * (m2 - m1))"};
    struct sr_hall_of_fame *hall = orr_alloc(1, sizeof *hall);
    struct sr_loss loss;
    struct sr_work work;
    assert_non_null(hall);
    sr_hall_of_fame_clear(hall);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t->data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    *fit = (struct sr_fit){.data = t->data, .rough = true};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        const struct sr_expr expr = formula(text[k]);
        sr_hall_of_fame_offer(hall, NULL, &expr, sr_eval_plain(&expr, &loss, &work));
    }
    sr_front_make(hall, &fit->front);
    assert_int_equal(fit->front.count, 2);
    sr_work_free(&work);
    sr_loss_free(&loss);
    free(hall);
}

/* Of look-alikes that equal their argument within the noise, as the column is small, the argument
 * stands on the front; where the column is not small, they stay alone. */
TEST(small_arguments_stand_for_their_functions)
{
    static const char *const form[] = {
        "sin(3.2 * r + m1)",       "tanh(3.2 * r) + m1",           "log(1 + 3.2 * r) + m1",
        "(exp(3.2 * r) - 1) + m1", "0.98 * (r / (0.31 + r) + m1)", "3.22 * (sin(r) + m1 / 3.2)"};
    static struct sr_fit fit;
    for (size_t k = 0; k < 2 * sizeof form / sizeof *form; k++) {
        const bool small = k % 2 == 0;
        const struct sr_expr law = formula(small ? "3.2 * r + m1" : form[k / 2]);
        struct sr_expr expr = formula(form[k / 2]);
        struct sr_settings s = settings_of(&sr_algorithm_orrery);
        struct table t;
        s.binary[s.binary_count++] = SR_ADD;
        s.binary[s.binary_count++] = SR_DIV;
        s.unary[s.unary_count++] = SR_SIN;
        s.unary[s.unary_count++] = SR_LOG;
        s.unary[s.unary_count++] = SR_TANH;
        s.maxsize = 20;
        table_create(&t, ROWS, 31, false);
        for (int i = 0; i < 2 * ROWS; i++)
            t.x[i] *= small ? 1e-5 : 0.05;
        assert_true(sr_eval(&law, &t.data, t.y));
        for (int i = 0; i < ROWS; i++)
            t.y[i] *= 1 + 0.01 * sin((double)(i * i));
        struct sr_loss loss;
        struct sr_work work;
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
        fit = (struct sr_fit){.data = t.data, .rough = true};
        fit.front.count = 1;
        fit.front.loss[0] = sr_constants_fit(&loss, &expr, false, 100, 0, NULL, &work);
        fit.front.expr[0] = expr;
        fit.front.complexity[0] = expr.count;
        assert_int_equal(sr_front_finish(&s, &t.data, false, &fit), 0);
        const struct sr_expr *first = &fit.front.expr[0];
        if ((first->count == 5) != small)
            fail_msg("%s of a column that is %ssmall: %s is first", form[k / 2],
                     small ? "" : "not ", text_of(first));
        sr_work_free(&work);
        sr_loss_free(&loss);
        table_free(&t);
    }
}

static struct sr_answer output_of(struct sr_fit *fit, const struct sr_data *data)
{
    return (struct sr_answer){.file = "t.csv",
                              .target = "y",
                              .column = "y",
                              .loss = "l2",
                              .least_squares = true,
                              .names = feature_name,
                              .data = data,
                              .front = &fit->front};
}

/* After a stop the rows are fitted while there is time; without time they have no errors. */
TEST(a_stop_leaves_fitted_constants_or_no_errors)
{
    static struct sr_fit fit;
    struct sr_settings s = settings_of(&sr_algorithm_orrery);
    struct orr_stop stop = {.asked = true};
    struct table t;
    char text[512];
    noisy_table(&t, 12);
    for (int late = 0; late < 2; late++) {
        double error[SR_NODES];
        rough_front(&t, &fit);
        stop.until_s = late ? orr_time_s() - 1 : 0;
        orr_stop_of_call = &stop;
        const int rc = sr_front_finish(&s, &t.data, false, &fit);
        orr_stop_of_call = NULL;
        assert_int_equal(rc, 0);
        assert_int_equal(sr_front_judge(&s, &t.data, &fit.front), 0);
        const struct sr_answer o = output_of(&fit, &t.data);
        const int row = fit.front.count - 1;
        assert_int_equal(sr_answer_errors(&o, row, error), 0);
        assert_int_equal(fit.front.unfitted[row], late);
        assert_int_equal(isnan(error[0]) != 0, late);
        assert_int_equal(sr_table_remark(&o, SR_UNFITTED, text, sizeof text), late);
        assert_true(!late || strstr(text, "complexity 3, 6:"));
        if (!late && !(gain_of_fit(&t, &fit.front.expr[row]) < 2e-4))
            fail_msg("%s is not fitted", text_of(&fit.front.expr[row]));
    }
    table_free(&t);
}

/* Files of a front without fits have null in place of errors and intervals. */
TEST(files_know_no_error_without_a_fit)
{
    static struct sr_fit fit;
    struct sr_settings s = settings_of(&sr_algorithm_orrery);
    struct table t;
    char path[4096], *json;
    noisy_table(&t, 13);
    for (int late = 0; late < 2; late++) {
        rough_front(&t, &fit);
        assert_int_equal(sr_front_judge(&s, &t.data, &fit.front), 0);
        fit.front.unfitted[0] = fit.front.unfitted[1] = late;
        const struct sr_answer o = output_of(&fit, &t.data);
        scratch_path(path, scratch_dir, "front.json");
        assert_int_equal(sr_output_json(&o, path), 0);
        assert_int_equal(orr_file_read(path, &json, NULL), 0);
        assert_int_equal(strstr(json, "\"low_95\"") != NULL, !late);
        const char *errors = strstr(json, "\"standard_errors\"");
        assert_non_null(errors);
        assert_int_equal(strncmp(errors + 18 + strspn(errors + 18, " []\n\t"), "null", 4) == 0,
                         late);
        free(json);
    }
    table_free(&t);
}

TESTS(scratch_setup, scratch_teardown)
