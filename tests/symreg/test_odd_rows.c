/* test_odd_rows.c - rows that hide a law are found and left out of the choice; rows that a law
 * needs are not, and tables without such rows are judged as before. */
#include "symreg/formulas.h"
#include "symreg/solve/solve.h"

enum { ROWS = 60, MOST = 4 };

/* The front of formulas of rising complexity, whose constants are fitted, judged. */
static void judge(const struct table *t, const char *const text[MOST], struct sr_front *front)
{
    struct sr_hall_of_fame hall;
    struct sr_loss loss;
    struct sr_work work;
    const struct sr_settings s = {
        .loss = ORR_SR_L2, .loss_parameter = 0.5, .algorithm = &sr_algorithm_orrery};
    sr_hall_of_fame_clear(&hall);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t->data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, 16), 0);
    for (int k = 0; k < MOST && text[k]; k++) {
        struct sr_expr expr = formula(text[k]);
        const double reached = sr_constants_fit(&loss, &expr, false, 100, 0, NULL, &work);
        sr_hall_of_fame_offer(&hall, NULL, &expr, reached > loss.noise ? reached : 0);
    }
    sr_front_make(&hall, front);
    assert_int_equal(sr_front_judge(&s, &t->data, front), 0);
    sr_work_free(&work);
    sr_loss_free(&loss);
}

static void make_table(const char *law, double noise, uint64_t seed, struct table *t)
{
    const struct sr_expr expr = formula(law);
    gsl_rng *rng = random_stream(seed);
    table_create(t, ROWS, seed, false);
    t->data.features = 2;
    assert_true(sr_eval(&expr, &t->data, t->y));
    for (size_t i = 0; i < ROWS; i++)
        t->y[i] += noise * gsl_ran_gaussian(rng, 1);
    gsl_rng_free(rng);
}

static const char *const power[MOST] = {"2 * r", "2 * r / sqrt(m1)", "2.1 * r / sqrt(m1) + m1",
                                        "2.1 * r / sqrt(m1) + square(m1) * 0.1 + 0.01 * r"};

TEST(rows_with_wrong_values_are_left_out_of_the_choice)
{
    static const double fill[] = {-999, 99999.9, 250};
    for (int k = 0; k < 6; k++) {
        struct table t;
        struct sr_front front;
        make_table("2.5 * r / sqrt(m1)", k % 2 ? 0.01 : 0, 4, &t);
        const bool feature = k < 2;
        for (int odd = 0; odd < 3; odd++)
            *(feature ? &t.x[ROWS + 7 + 16 * odd] : &t.y[7 + 16 * odd]) =
                feature ? 99999.9 : fill[k / 2] + odd;
        judge(&t, power, &front);
        /* the law that is chosen with them needs no rows left out */
        if (feature && !front.odds)
            assert_int_equal(front.complexity[sr_front_select(&front, SR_BEST)], 6);
        else if (front.odds != 3 || front.odd[0] != 8 || front.odd[1] != 24 || front.odd[2] != 40)
            fail_msg("case %d: %d rows are odd, first %zu", k, front.odds, front.odd[0]);
        for (int rule = SR_SCORE; rule < SR_RULES; rule++) {
            const int row = sr_front_select(&front, (enum sr_rule)rule);
            if (front.complexity[row] != 6)
                fail_msg("case %d: rule %s selects complexity %d", k, sr_rule_name[rule],
                         front.complexity[row]);
        }
        table_free(&t);
    }
}

TEST(a_wrong_row_that_bends_constants_alone_is_left_out)
{
    static const char *const law[MOST] = {"2 * r / sqrt(m1)", "2 * r / sqrt(m1) + 0.1"};
    struct table t;
    struct sr_front front;
    make_table("2.5 * r / sqrt(m1)", 0.01, 5, &t);
    t.y[11] += 3;
    judge(&t, law, &front);
    if (front.odds != 1 || front.odd[0] != 12)
        fail_msg("%d rows are odd, first %zu", front.odds, front.odd[0]);
    table_free(&t);
}

/* A sine goes through 59 rows of a line and one far outside, which is ten times too large. */
TEST(a_number_with_its_decimal_point_moved_is_odd)
{
    static const char *const bent[MOST] = {"2 * r + 1", "400 * sin(0.0064 * r)"};
    for (int k = 0; k < 2; k++) {
        struct table t;
        struct sr_front front;
        make_table("2.5 * r", 0, 6, &t);
        for (size_t i = 0; i < ROWS; i++) {
            t.x[i] = 5 + 0.7 * (double)i;
            t.y[i] = 2.5 * t.x[i] + 2 * sin((double)(i * i));
        }
        t.x[50] *= k ? 9 : 10; /* 9: no such mistake, and the sine has 10 nats to win */
        judge(&t, bent, &front);
        if (front.odds != !k || (!k && front.odd[0] != 51))
            fail_msg("factor %d: %d rows are odd", k ? 9 : 10, front.odds);
        table_free(&t);
    }
}

TEST(noise_and_exact_laws_have_no_odd_rows)
{
    for (int k = 0; k < 12; k++) {
        struct table t;
        struct sr_front front;
        make_table("2.5 * r / sqrt(m1)", k % 3 * 0.3, (uint64_t)k + 1, &t);
        if (k % 4 == 3) /* noise in proportion to the target */
            for (size_t i = 0; i < ROWS; i++)
                t.y[i] *= 1 + 0.1 * sin((double)(i * i));
        judge(&t, power, &front);
        if (front.odds)
            fail_msg("case %d: %d rows are odd, first %zu", k, front.odds, front.odd[0]);
        table_free(&t);
    }
}

TEST(rows_side_by_side_that_a_law_needs_are_not_odd)
{
    static const char *const dip[MOST] = {"1.1", "1.1 - 0.001 * r",
                                          "1.1 - 0.5 * exp(-4 * square(r - 30))", NULL};
    struct table t;
    struct sr_front front;
    make_table("1.1 - 0.5 * exp(-4 * square(r - 30.2))", 0.002, 3, &t);
    t.data.features = 1;
    for (size_t i = 0; i < ROWS; i++)
        t.x[i] = (double)i;
    for (size_t i = 0; i < ROWS; i++)
        t.y[i] = 1.1 - 0.5 * exp(-0.4 * pow((double)i - 30.2, 2)) + 0.002 * sin((double)(i * i));
    judge(&t, dip, &front);
    assert_int_equal(front.odds, 0);
    table_free(&t);
}

TESTS(NULL, NULL)
