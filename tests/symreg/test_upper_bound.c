/* test_upper_bound.c - the benchmark's upper bound: would the law stand on a front that was found?
 * */
#include "symreg/formulas.h"

#include "bench/symreg_upper_bound.h"

enum { SOFTENED = 3 }; /* m1 m2 / (r^2 + 0.25): 8 nodes; see symreg_problems.h */
static const double noise = 0.03;

static struct truth truth;
static struct sr_settings settings;
static struct forms forms;
static struct sr_data data;
static struct sr_loss loss;
static struct sr_work work;
static double x[4 * ROWS];

static struct sr_expr read_law(const char *text)
{
    struct sr_expr expr;
    assert_int_equal(sr_expr_parse(NULL, text, truth.problem->feature, 3, &expr), 0);
    return expr;
}

FIXTURE(set_up)
{
    settings = (struct sr_settings){.binary = {SR_ADD, SR_MUL, SR_DIV},
                                    .unary = {SR_SQUARE},
                                    .binary_count = 3,
                                    .unary_count = 1,
                                    .maxsize = 20};
    assert_int_equal(truth_init(&truth, &problems[SOFTENED - 1]), 0);
    assert_int_equal(truth_table(&truth, SOFTENED, 0, noise, x), 0);
    data = (struct sr_data){.rows = ROWS, .features = 3, .x = x, .y = x + 3 * ROWS};
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    forms_begin(&forms, &truth, &settings);
    return 0;
}

FIXTURE(tear_down)
{
    truth_free(&truth);
    sr_loss_free(&loss);
    sr_work_free(&work);
    return 0;
}

/* Loss of the law with its best constants, and a front of one row of that many nodes with
 * `share` of that loss. */
static double law_loss(void)
{
    struct sr_expr law = read_law("m1 * m2 / (square(r) + 0.25)");
    return sr_constants_fit(&loss, &law, false, 100, 4, truth.rng, &work);
}

static struct sr_front front_of(int nodes, double share)
{
    struct sr_front front = {.count = 1};
    front.expr[0] = read_law("r");
    while (front.expr[0].count < nodes) {
        const struct sr_node next = {.op = SR_SQUARE};
        front.expr[0].node[front.expr[0].count++] = next;
    }
    assert_true(sr_expr_measure(NULL, &front.expr[0]));
    front.loss[0] = share * law_loss();
    return front;
}

static bool stands(int nodes, double share)
{
    const struct sr_front front = front_of(nodes, share);
    return forms_try(&forms, &truth, noise, &settings, &front, &loss, &work).ratio < 1;
}

TEST_BETWEEN(knows_the_law_by_its_operators, set_up, tear_down)
{
    assert_int_equal(forms.count, 1); /* not r ^ 2: ^ is no operator of the search */
    assert_int_equal(forms.form[0].count, 8);
    struct sr_expr expr = read_law("m1 * m2 / (r * r + 0.3)"); /* another form, 9 nodes */
    forms_add(&forms, &truth, &settings, &expr);
    assert_int_equal(forms.count, 2);
    expr = read_law("m2 * m1 / (r * r + 0.25)");
    forms_add(&forms, &truth, &settings, &expr);
    assert_int_equal(forms.count, 3); /* sorted by size; equal shapes are kept once */
    expr = read_law("m2 * m1 / (r * r + 0.7)");
    forms_add(&forms, &truth, &settings, &expr);
    assert_int_equal(forms.count, 3);
    assert_int_equal(forms.form[0].count, 8);
    expr = read_law("m1 * m2 / (square(r) + 0.2 * r)"); /* no constants make it the law */
    forms_add(&forms, &truth, &settings, &expr);
    expr = read_law("m1 * m2 * inv(square(r) + 0.25)"); /* no operator of the search */
    forms_add(&forms, &truth, &settings, &expr);
    assert_int_equal(forms.count, 3);
    settings.maxsize = 7;
    forms_begin(&forms, &truth, &settings);
    assert_int_equal(forms.count, 0);
}

TEST_BETWEEN(front_rows_that_recover_are_forms, set_up, tear_down)
{
    struct sr_front front = {.count = 2};
    front.expr[0] = read_law("m1 * m2 / square(r)");
    front.expr[1] = read_law("m2 / (r * r + 0.25) * m1");
    forms_add_front(&forms, &truth, &settings, &front, noise);
    assert_int_equal(forms.count, 2);
}

TEST_BETWEEN(stands_by_the_rule_of_the_front, set_up, tear_down)
{
    assert_true(stands(5, 1.01)); /* shorter and worse */
    assert_true(stands(8, 1.01)); /* of equal length and worse */
    assert_false(stands(5, 0.9)); /* better than any constants of the law */
    assert_false(stands(8, 0.9));
    assert_true(stands(9, 0.9)); /* better but longer: the law stands before it */
    const struct sr_front empty = {.count = 0};
    assert_true(forms_try(&forms, &truth, noise, &settings, &empty, &loss, &work).ratio < 1);
}

/* Of the rows that are no longer the last counts, as losses fall. */
TEST_BETWEEN(the_closest_row_decides, set_up, tear_down)
{
    struct sr_front front = front_of(3, 1.5);
    const struct sr_front second = front_of(6, 0.9), third = front_of(12, 0.5);
    front.count = 3;
    front.expr[1] = second.expr[0], front.loss[1] = second.loss[0];
    front.expr[2] = third.expr[0], front.loss[2] = third.loss[0];
    assert_false(forms_try(&forms, &truth, noise, &settings, &front, &loss, &work).ratio < 1);
    front.loss[1] = 1.01 * law_loss();
    assert_true(forms_try(&forms, &truth, noise, &settings, &front, &loss, &work).ratio < 1);
}

/* One more constant takes a little of the noise: the longer form stands where the law does not. */
TEST_BETWEEN(longer_forms_count, set_up, tear_down)
{
    const struct sr_front front = front_of(8, 1 - 1e-7);
    const struct standing best = forms_try(&forms, &truth, noise, &settings, &front, &loss, &work);
    assert_true(best.ratio < 1);
    assert_int_equal(best.expr.count, 10);
    settings.maxsize = 9;
    assert_true(forms_try(&forms, &truth, noise, &settings, &front, &loss, &work).ratio > 1);
}

/* Far from the law on this table it would be no recovery, however well it fits. */
TEST_BETWEEN(forms_must_recover_as_fitted, set_up, tear_down)
{
    const struct sr_front empty = {.count = 0};
    double *y = x + 3 * ROWS;
    for (int i = 0; i < ROWS; i++)
        y[i] *= 1.1;
    const struct standing best = forms_try(&forms, &truth, noise, &settings, &empty, &loss, &work);
    assert_true(best.ratio >= HUGE_VAL);
}

TESTS(NULL, NULL)
