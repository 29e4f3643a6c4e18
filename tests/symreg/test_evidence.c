/* test_evidence.c - constants that may be simple numbers cost less in the evidence of a formula. */
#include "symreg/formulas.h"

enum { ROWS = 400 };

/* y of a formula, with normal noise of a share of its rms. */
static void fill_target(struct table *t, const char *law, double noise, uint64_t seed)
{
    const struct sr_expr expr = formula(law);
    gsl_rng *rng = random_stream(seed);
    double square = 0;
    assert_true(sr_eval(&expr, &t->data, t->y));
    for (size_t i = 0; i < t->data.rows; i++)
        square += t->y[i] * t->y[i] / (double)t->data.rows;
    for (size_t i = 0; i < t->data.rows; i++)
        t->y[i] += noise * sqrt(square) * gsl_ran_ugaussian(rng);
    gsl_rng_free(rng);
}

/* A formula with its constants fitted. */
static struct sr_expr fitted(const struct sr_data *data, const char *text)
{
    struct sr_expr expr = formula(text);
    struct sr_loss loss;
    struct sr_work work = {0};
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, data), 0);
    assert_int_equal(sr_work_init(&work, data->rows, SR_NODES), 0);
    sr_constants_fit(&loss, &expr, false, 100, 0, NULL, &work);
    sr_work_free(&work);
    sr_loss_free(&loss);
    return expr;
}

static double nats_of(const struct sr_data *data, const struct sr_expr *expr, double *simple)
{
    double nats;
    assert_int_equal(sr_constants_evidence(expr, false, data, 0, &nats, simple), 0);
    return nats;
}

TEST(a_fraction_costs_less_than_a_measured_number)
{
    static const struct {
        const char *law, *form;
        double simple;
    } list[] = {{"2 * r", "1.9 * r", 2},
                {"r / 3", "0.3 * r", 1.0 / 3},
                {"0.75 * r", "0.8 * r", 0.75},
                {"2.37 * r", "2 * r", NAN},
                {"0 - r", "-1.1 * r", -1}};
    struct table t;
    double measured = 0;
    table_create(&t, ROWS, 5, false);
    for (int k = 0; k < 5; k++) {
        double simple[SR_NODES];
        fill_target(&t, list[k].law, 0.02, 100 + (uint64_t)k);
        const struct sr_expr expr = fitted(&t.data, list[k].form);
        const double nats = nats_of(&t.data, &expr, simple);
        assert_true(isnan(list[k].simple) ? isnan(simple[0])
                                          : near(simple[0], list[k].simple, 1e-15));
        if (isnan(list[k].simple))
            measured = nats;
        else
            assert_true(nats > log(2) && nats < 7.5);
    }
    assert_true(measured > 8);
    table_free(&t);
}

/* The prior of a measured number knows no unit. */
TEST(nats_do_not_depend_on_units)
{
    struct table t;
    double nats[3];
    table_create(&t, ROWS, 6, false);
    fill_target(&t, "2.37 * r + 1.413", 0.002, 7);
    for (int k = 0; k < 3; k++) {
        const struct sr_expr expr = fitted(&t.data, "2.3 * r + 1.4");
        nats[k] = nats_of(&t.data, &expr, NULL);
        for (size_t i = 0; i < t.data.rows; i++) {
            t.y[i] *= 3.1e7;
            t.x[i] *= 4.7e-5;
        }
    }
    assert_true(near(nats[1], nats[0], 1e-5) && near(nats[2], nats[0], 1e-5));
    table_free(&t);
}

/* The constants of a sum are certain together: where one is a fraction, the other moves to its
 * own. */
TEST(fractions_are_found_one_given_the_other)
{
    struct table t;
    double simple[SR_NODES];
    table_create(&t, ROWS, 8, false);
    fill_target(&t, "2 * m1 + 3 / (m1 + 0.5)", 0.02, 9);
    const struct sr_expr expr = fitted(&t.data, "1.9 * m1 + 3.1 / (m1 + 0.49)");
    const double nats = nats_of(&t.data, &expr, simple);
    assert_true(near(simple[0], 2, 1e-15) && near(simple[1], 3, 1e-15) &&
                near(simple[2], 0.5, 1e-15));
    assert_true(nats < 15); /* three measured numbers: 24 */
    table_free(&t);
}

/* Constants of which only a product or a sum is known, or that a table does not tell apart, cost no
 * less for that: each too many is a number more. */
TEST(redundant_constants_cost_more_than_none)
{
    static const char *const list[][2] = {
        {"2.37 * r + 1.413", "1.2 * (1.9 * r) + 1.4"},
        {"2.37 * r + 1.413", "2.3 * r + (0.713 + 0.7)"},
        {"2.37 * r + 1.413", "1.2 * (1.9 * r) + (0.713 + 0.7)"},
        {"sqrt(r + 3.173)", "1700 * sqrt(3.46e-7 + 3.46e-7 * (3.173 + r - 1) * 1.01)"}};
    struct table t;
    for (int k = 0; k < 4; k++) {
        struct sr_uncertainty u;
        table_create(&t, ROWS, 6, false);
        fill_target(&t, list[k][0], 0.002, 7);
        const struct sr_expr plain = fitted(&t.data, list[k][0]),
                             redundant = fitted(&t.data, list[k][1]);
        assert_int_equal(sr_constants_uncertainty(&redundant, &t.data, 0, &u), 0);
        const double nats = nats_of(&t.data, &redundant, NULL),
                     least = nats_of(&t.data, &plain, NULL) + 1;
        if (!isnan(u.error[0]) || !(nats > least))
            fail_msg("%s: standard error %g, evidence of %g nats, expected more than %g",
                     list[k][1], u.error[0], nats, least);
        table_free(&t);
    }
}

/* A front of two formulas, described; `evident`: charged by the evidence. */
static void judge(const struct sr_data *data, const char *const text[2], bool evident,
                  struct sr_front *front)
{
    static struct sr_hall_of_fame hall;
    struct sr_loss loss;
    struct sr_work work = {0};
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, data), 0);
    assert_int_equal(sr_work_init(&work, data->rows, SR_NODES), 0);
    sr_hall_of_fame_clear(&hall);
    for (int k = 0; k < 2; k++) {
        const struct sr_expr expr = fitted(data, text[k]);
        sr_hall_of_fame_offer(&hall, NULL, &expr, sr_eval_plain(&expr, &loss, &work));
    }
    sr_front_make(&hall, front);
    assert_true(front->count >= 1);
    assert_int_equal(sr_front_describe(front, data), 0);
    if (evident)
        assert_int_equal(sr_front_find_evidence(front, data), 0);
    sr_front_correct(front, &loss);
    sr_work_free(&work);
    sr_loss_free(&loss);
}

/* A sigmoid of 1/4, 1/2 and 1, and a formula that is nearly the same with two numbers that had to
 * be measured: the law has more nodes, and constants that cost little. */
TEST(best_prefers_simple_numbers_to_measured_ones)
{
    static const char *const text[2] = {"0.24 * m1 * square(cos(exp(0.3 - m2)))",
                                        "m1 * (0.24 - 0.4 / (square(exp(m2)) + 1.1))"};
    static struct sr_front front;
    struct table t;
    int by_length = 0, by_evidence = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        table_create(&t, ROWS, 30 + seed, false);
        fill_target(&t, "m1 * (0.25 - 0.5 / (square(exp(m2)) + 1))", 0.04, 60 + seed);
        judge(&t.data, text, false, &front);
        by_length += sr_front_select(&front, SR_BEST);
        judge(&t.data, text, true, &front);
        by_evidence += sr_front_select(&front, SR_BEST);
        table_free(&t);
    }
    assert_true(by_length <= 5 && by_evidence >= 15);
}

/* Laplace's approximation supposes normal errors of one size, one for each row. */
TEST(other_errors_are_charged_by_length)
{
    static const char *const text[2] = {"2.1 * r", "2.1 * r + 0.7 * m1"};
    static struct sr_front front;
    struct table t;
    table_create(&t, ROWS, 12, false);
    fill_target(&t, "2.1 * r + m1", 0.05, 13);
    for (int k = 0; k < 4; k++) {
        judge(&t.data, text, false, &front);
        struct sr_data data = t.data;
        data.independent = k == 1 ? ROWS / 2 : 0;
        front.without = k == 2 ? 7 : 0;
        front.worth = k == 3 ? 0.4 * ROWS : 0.6 * ROWS;
        assert_int_equal(sr_front_find_evidence(&front, &data), 0);
        assert_true((front.evidence[0] > 0) == (k == 0));
    }
    table_free(&t);
}

/* Few rows say too little about Hessians; large tables need no help. */
TEST(tables_of_few_rows_are_charged_by_length)
{
    static const char *const text[2] = {"2.1 * r", "2.1 * r + 0.7 * m1"};
    static struct sr_front front;
    struct table t;
    for (size_t rows = SR_EVIDENCE_LEAST - 1; rows <= SR_EVIDENCE_LEAST; rows++) {
        table_create(&t, rows, 12, false);
        fill_target(&t, "2.1 * r + m1", 0.05, 13);
        judge(&t.data, text, true, &front);
        assert_true((front.evidence[0] > 0) == (rows == SR_EVIDENCE_LEAST));
        table_free(&t);
    }
}

TESTS(NULL, NULL)
