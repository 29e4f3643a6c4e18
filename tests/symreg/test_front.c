/* test_front.c - halls, fronts, selection rules, the CSV file, and the check for the true law. */
#include "symreg/formulas.h"

/* A formula of `count` nodes, whatever it says. */
static struct sr_expr of_size(int count)
{
    struct sr_expr expr = formula(count % 2 ? "r" : "-r");
    const struct sr_node r = {.op = SR_FEATURE}, sum = {.op = SR_ADD};
    while (expr.count < count) {
        expr.node[expr.count++] = r;
        expr.node[expr.count++] = sum;
    }
    assert_true(sr_expr_measure(NULL, &expr));
    assert_int_equal(expr.count, count);
    return expr;
}

/* Offers (size, loss) pairs up to size 0 and makes the front. */
struct pair {
    int size;
    double loss;
};
static void make(const struct pair *pair, struct sr_front *front)
{
    static struct sr_hall_of_fame hall;
    sr_hall_of_fame_clear(&hall);
    for (; pair->size; pair++) {
        const struct sr_expr expr = of_size(pair->size);
        sr_hall_of_fame_offer(&hall, NULL, &expr, pair->loss);
    }
    sr_front_make(&hall, front);
}

static struct sr_front front;

TEST(hall_keeps_the_best_of_every_size)
{
    static struct sr_hall_of_fame hall;
    sr_hall_of_fame_clear(&hall);
    struct sr_expr a = formula("r + m1"), b = formula("r * m1");
    assert_true(sr_hall_of_fame_offer(&hall, NULL, &a, 2));
    assert_false(sr_hall_of_fame_offer(&hall, NULL, &b, 2)); /* not better */
    assert_false(sr_hall_of_fame_offer(&hall, NULL, &b, 3));
    assert_false(sr_hall_of_fame_offer(&hall, NULL, &b, NAN));
    assert_string_equal(text_of(&hall.expr[3]), "(r + m1)");
    assert_true(sr_hall_of_fame_offer(&hall, NULL, &b, 1));
    assert_string_equal(text_of(&hall.expr[3]), "(r * m1)");
    a = formula("r");
    assert_false(sr_hall_of_fame_offer(&hall, NULL, &a, INFINITY));
    assert_true(sr_hall_of_fame_offer(&hall, NULL, &a, 5));
    for (int c = 0; c <= SR_NODES; c++)
        if (c != 1 && c != 3)
            assert_true(hall.loss[c] >= HUGE_VAL && hall.expr[c].count == 0);
}

TEST(front_falls_strictly)
{
    make((struct pair[]){{1, 10}, {2, 10}, {3, 12}, {4, 5}, {6, 5}, {7, 4.999}, {64, 1}, {0, 0}},
         &front);
    const int size[] = {1, 4, 7, 64};
    const double loss[] = {10, 5, 4.999, 1};
    assert_int_equal(front.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(front.expr[i].count, size[i]);
        assert_true(front.loss[i] == loss[i]);
    }
    make((struct pair[]){{0, 0}}, &front);
    assert_int_equal(front.count, 0);
    for (int rule = 0; rule < SR_RULES; rule++)
        assert_int_equal(sr_front_select(&front, (enum sr_rule)rule), -1);
}

TEST(scores_are_the_slopes_of_the_logarithm)
{
    make((struct pair[]){{2, 8}, {3, 4}, {7, 1}, {8, 0.9}, {0, 0}}, &front);
    assert_true(front.score[0] == 0);
    assert_true(near(front.score[1], log(2), 1e-14));
    assert_true(near(front.score[2], log(4) / 4, 1e-14));
    assert_true(near(front.score[3], log(1 / 0.9), 1e-13));
    make((struct pair[]){{1, 3}, {5, 0}, {9, 0}, {0, 0}}, &front);
    assert_int_equal(front.count, 2); /* nothing is below zero */
    assert_true(front.score[0] == 0 && isinf(front.score[1]) && front.score[1] > 0);
    make((struct pair[]){{1, 0}, {0, 0}}, &front);
    assert_true(front.count == 1 && front.score[0] == 0);
    assert_int_equal(sr_front_select(&front, SR_SCORE), 0);
}

static void selects(const struct pair *pair, int accuracy, int score, int best)
{
    make(pair, &front);
    const int row[SR_RULES] = {sr_front_select(&front, SR_ACCURACY),
                               sr_front_select(&front, SR_SCORE), sr_front_select(&front, SR_BEST)};
    const int expected[SR_RULES] = {accuracy, score, best};
    for (int rule = 0; rule < SR_MDL; rule++)
        if (row[rule] < 0 || front.expr[row[rule]].count != expected[rule])
            fail_msg("rule %s selects size %d, expected %d", sr_rule_name[rule],
                     row[rule] < 0 ? -1 : front.expr[row[rule]].count, expected[rule]);
}

/* Arguments after the pairs: complexity that accuracy, score and best choose. */
TEST(rules_select_as_defined)
{
    /* a steep early step, the real one later: score and best differ */
    selects((struct pair[]){{1, 100}, {3, 10}, {9, 1}, {11, 0.9}, {0, 0}}, 11, 3, 9);
    /* 1.5 times the smallest loss belongs to `best`, the next number above does not */
    selects((struct pair[]){{1, 8}, {3, 1.5}, {9, 1}, {0, 0}}, 9, 3, 3);
    selects((struct pair[]){{1, 8}, {3, nextafter(1.5, 2)}, {9, 1}, {0, 0}}, 9, 3, 9);
    /* equal scores: the simplest */
    selects((struct pair[]){{1, 8}, {2, 4}, {3, 2}, {4, 1}, {0, 0}}, 4, 2, 4);
    selects((struct pair[]){{1, 1.5}, {0, 0}}, 1, 1, 1);
    /* zero loss: the score is infinite, and 1.5 x 0 leaves no other row */
    selects((struct pair[]){{1, 100}, {2, 1e-9}, {9, 0}, {0, 0}}, 9, 9, 9);
    selects((struct pair[]){{4, 0}, {9, 0}, {0, 0}}, 4, 4, 4);
}

/* For a FILE a loss is close to the smallest by what 4 nats are: of few rows 1.5 times, of 1,000
 * rows less than 1%. PySR's choice stays where scores are PySR's. */
TEST(best_knows_the_rows)
{
    static const struct pair pair[] = {{1, 8}, {3, 1.2}, {9, 1}, {0, 0}};
    const struct sr_loss loss = {.kind = ORR_SR_L2}, absolute = {.kind = ORR_SR_L1};
    const struct {
        size_t rows;
        const struct sr_loss *loss;
        double close;
        int best;
    } list[] = {{8, &loss, 1.5, 3}, {1000, &loss, exp(0.008), 9}, {40, &absolute, exp(.1), 9}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        make(pair, &front);
        assert_true(near(front.close, 1.5, 1e-12));
        assert_int_equal(front.expr[sr_front_select(&front, SR_BEST)].count, 3);
        front.rows = list[k].rows;
        sr_front_correct(&front, list[k].loss);
        assert_true(near(front.close, list[k].close, 1e-9));
        assert_int_equal(front.expr[sr_front_select(&front, SR_BEST)].count, list[k].best);
    }
}

/* Residuals of 1 and -1 are worth all rows; two sizes less, as far as weights do not make them
 * equal; none at all, all rows. */
TEST(uneven_residuals_are_worth_less)
{
    enum { N = 20 };
    static struct sr_hall_of_fame hall;
    const struct sr_expr r = formula("r * 1.0");
    double x[FEATURES * N] = {0}, y[N], weight[N];
    const struct sr_data data = {.rows = N, .features = FEATURES, .x = x, .y = y};
    struct sr_data weighted = data;
    weighted.weight = weight;
    sr_hall_of_fame_clear(&hall);
    sr_hall_of_fame_offer(&hall, NULL, &r, 1);
    for (int size = 0; size <= 5; size++) {
        for (int i = 0; i < N; i++) {
            const double off = i % 4 ? size > 0 : size;
            x[i] = 1 + i;
            y[i] = x[i] + (i % 2 ? off : -off);
            weight[i] = off > 0 ? 1 / (off * off) : 1;
        }
        const double squares = 3 + size * size, fourths = 3 + pow(size, 4);
        sr_front_make(&hall, &front);
        assert_true(front.worth <= 0);
        assert_int_equal(sr_front_describe(&front, &data), 0);
        assert_int_equal(sr_front_weigh_rows(&front, &data), 0);
        assert_true(
            near(front.worth, N * (size ? fmin(1, 0.75 * squares * squares / fourths) : 1), 1e-12));
        const struct sr_loss loss = {.kind = ORR_SR_L2, .data = &data};
        const double more = 1 / front.worth - 1.0 / N, spent = 2 * front.cost[0];
        sr_front_correct(&front, &loss);
        assert_true(front.cost[0] > 2);
        assert_true(near(front.close, fmin(1.5, exp(8.0 / N) * (1 + 8 * more)), 1e-12));
        assert_true(near(front.fair[0], exp(spent / N) * (1 + spent * more), 1e-12));
        assert_int_equal(sr_front_weigh_rows(&front, &weighted), 0);
        assert_true(near(front.worth, N, 1e-12));
    }
}

/* A row far off makes up the residuals; the law stays better than the mean. */
TEST(a_row_far_off_leaves_the_law)
{
    enum { N = 100 };
    static struct sr_hall_of_fame hall;
    const struct sr_expr law = formula("r * 1.0"), mean = formula("51.1");
    double x[FEATURES * N] = {0}, y[N];
    const struct sr_data data = {.rows = N, .features = FEATURES, .x = x, .y = y};
    const struct sr_loss loss = {.kind = ORR_SR_L2, .data = &data};
    for (int i = 0; i < N; i++) {
        x[i] = 1 + i;
        y[i] = x[i] + (i == 50 ? 60 : i % 2 ? 0.1 : -0.1);
    }
    sr_hall_of_fame_clear(&hall);
    sr_hall_of_fame_offer(&hall, NULL, &mean, 869);
    sr_hall_of_fame_offer(&hall, NULL, &law, 36.01);
    sr_front_make(&hall, &front);
    assert_int_equal(sr_front_describe(&front, &data), 0);
    assert_int_equal(sr_front_weigh_rows(&front, &data), 0);
    assert_true(front.worth < 3.1);
    sr_front_correct(&front, &loss);
    assert_int_equal(sr_front_select(&front, SR_BEST), 1);
}

/* Offers a formula with its loss, of at most 100 rows. */
static void offer_text(struct sr_hall_of_fame *hall, const char *text, const struct sr_loss *loss)
{
    const struct sr_expr expr = formula(text);
    double value[100];
    assert_true(loss->data->rows <= 100 && sr_eval(&expr, loss->data, value));
    sr_hall_of_fame_offer(hall, NULL, &expr, sr_loss_value(loss, value, 1));
}

/* 2 r, and a bump of one row or of several: alone, a row makes no law, with noise and without. What
 * comes after the bump is compared by the other rows. */
TEST(a_single_row_makes_no_law)
{
    enum { N = 100 };
    static struct sr_hall_of_fame hall;
    static const char *const text[] = {
        "2 * r", "2 * r + 60 * exp(-0.1 * square(r - 51))",
        "2 * r + 60 * exp(-1000 * square(r - 51))",
        "2 * r + 60 * exp(-1000 * square(r - 51)) + 0.01 * cos(3.141592653589793 * r)",
        "2 * r + 60 * exp(-1000 * square(r - 51)) + 0.1 * cos(3.141592653589793 * r) + 0"};
    static const struct {
        int formula[3], best;
        double noise;
    } list[] = {{{0, 1, -1}, 1, 0},    {{0, 2, -1}, 0, 0},    {{0, 1, -1}, 1, 0.11},
                {{0, 2, -1}, 0, 0.11}, {{0, 3, -1}, 0, 0.11}, {{0, 3, 4}, 2, 0.11}};
    static const enum orr_symreg_loss kinds[] = {ORR_SR_L2, ORR_SR_HUBER, ORR_SR_L1};
    double x[FEATURES * N] = {0}, y[N];
    const struct sr_data data = {.rows = N, .features = FEATURES, .x = x, .y = y};
    for (int i = 0; i < N; i++)
        x[i] = 1 + i;
    for (int k = 0; k < 18; k++) {
        const int *const chosen = list[k / 3].formula, formulas = chosen[2] < 0 ? 2 : 3;
        const bool several = chosen[1] == 1;
        const double noise = list[k / 3].noise;
        struct sr_expr expr = formula(text[several ? 1 : 2]);
        struct sr_loss loss;
        assert_true(sr_eval(&expr, &data, y));
        for (int i = 0; i < N; i++)
            y[i] += i % 2 ? noise : -noise;
        assert_int_equal(sr_loss_init_with(&loss, kinds[k % 3], 1.5, &data), 0);
        sr_hall_of_fame_clear(&hall);
        for (int i = 0; i < formulas; i++) {
            offer_text(&hall, text[chosen[i]], &loss);
        }
        sr_front_make(&hall, &front);
        assert_int_equal(front.count, formulas);
        assert_int_equal(sr_front_describe(&front, &data), 0);
        assert_int_equal(sr_front_find_pole(&front, &loss), 0);
        assert_int_equal(front.without, several ? 0 : 51);
        assert_true(!several || (front.compared[0] >= front.loss[0] &&
                                 front.compared[1] >= front.loss[1])); /* the same */
        sr_front_correct(&front, &loss);
        assert_int_equal(isinf(front.score[1]), several && noise <= 0);
        assert_int_equal(sr_front_select(&front, SR_BEST), list[k / 3].best);
        if (!several && loss.kind == ORR_SR_L2) /* of the other rows, fitted to these */
            assert_true(front.compared[0] <= noise * noise &&
                        (noise <= 0 || front.compared[0] > 0.99 * noise * noise));
        sr_loss_free(&loss);
    }
}

/* A row far off makes a law where another formula explains it smoothly: a column that differs in
 * one row, and a row far from the others; by any loss, with weights, exactly and with noise. */
TEST(an_unusual_row_makes_a_law)
{
    enum { N = 16 };
    static struct sr_hall_of_fame hall;
    static const char *const text[][2] = {{"r", "r * m1"}, {"r", "r + r * r * r / 30000"}};
    static const enum orr_symreg_loss kinds[] = {ORR_SR_L2, ORR_SR_L1, ORR_SR_RELATIVE,
                                                 ORR_SR_HUBER};
    double x[FEATURES * N] = {0}, y[N], weight[N];
    struct sr_data data = {.rows = N, .features = FEATURES, .x = x, .y = y};
    for (int k = 0; k < 32; k++) {
        const bool smooth = k & 1, noise = k & 2;
        struct sr_loss loss;
        data.weight = k & 4 ? weight : NULL;
        for (int i = 0; i < N; i++) {
            x[i] = 1 + i;
            x[N + i] = 1 + (i == 7 && !smooth);
            weight[i] = 1 + 0.5 * (i % 2);
        }
        x[N - 1] = smooth ? 90 : N;
        struct sr_expr expr = formula(text[smooth][1]);
        assert_true(sr_eval(&expr, &data, y));
        for (int i = 0; i < N && noise; i++)
            y[i] += 0.02 * sin(5.0 * i * i);
        assert_int_equal(sr_loss_init_with(&loss, kinds[k / 8], 1.5, &data), 0);
        sr_hall_of_fame_clear(&hall);
        for (int i = 0; i < 2; i++) {
            offer_text(&hall, text[smooth][i], &loss);
        }
        sr_front_make(&hall, &front);
        assert_int_equal(front.count, 2);
        assert_int_equal(sr_front_describe(&front, &data), 0);
        assert_int_equal(sr_front_find_pole(&front, &loss), 0);
        assert_true(front.without == 0 && front.compared[0] >= front.loss[0]);
        sr_front_correct(&front, &loss);
        assert_int_equal(sr_front_select(&front, SR_BEST), 1);
        sr_loss_free(&loss);
    }
}

/* A formula has a pole at the row nearest to that of the law, 2.3 / (r + 0.05) but for m1; the row
 * is not wrong, as the other rows predict it by the law. It is where there is no law on the front. */
TEST(a_steep_law_is_no_pole_at_a_row)
{
    enum { N = 40 };
    static struct sr_hall_of_fame hall;
    static const char *const text[] = {"2.3 / r", "2.3 / r - 8172 * exp(-1000 * r)",
                                       "1 / (r / 2.3 + (0.02174 + 0.01 * m1))"};
    const struct sr_expr law = formula(text[2]);
    double x[FEATURES * N] = {0}, y[N];
    const struct sr_data data = {.rows = N, .features = FEATURES, .x = x, .y = y};
    for (int k = 0; k < 4; k++) {
        const bool with_law = k & 1;
        struct sr_loss loss;
        for (int i = 0; i < N; i++) {
            x[i] = 0.002 + 0.12 * i;
            x[N + i] = i % 7;
        }
        assert_true(sr_eval(&law, &data, y));
        for (int i = 0; i < N; i++)
            y[i] += (k & 2 ? 0.25 : 0.05) * (i % 2 ? 1 : -1);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
        sr_hall_of_fame_clear(&hall);
        for (int i = 0; i < 2 + with_law; i++)
            offer_text(&hall, text[i], &loss);
        sr_front_make(&hall, &front);
        assert_int_equal(front.count, 2 + with_law);
        assert_int_equal(sr_front_describe(&front, &data), 0);
        assert_int_equal(sr_front_find_pole(&front, &loss), 0);
        assert_int_equal(front.without, with_law ? 0 : 1);
        sr_loss_free(&loss);
    }
}

/* The largest of six residuals, three times the others, is nothing rare; twenty times is. */
TEST(a_large_residual_is_not_far_off)
{
    enum { N = 6 };
    static struct sr_hall_of_fame hall;
    static const struct {
        int size;
        const char *bump;
    } list[] = {{3, "2 * r + 3 * exp(-100000 * square(r - 6))"},
                {20, "2 * r + 20 * exp(-100000 * square(r - 6))"}};
    double x[FEATURES * N] = {1, 2, 3, 4, 5, 6}, y[N];
    const struct sr_data data = {.rows = N, .features = FEATURES, .x = x, .y = y};
    for (int k = 0; k < 2; k++) {
        const struct sr_expr law = formula("2 * r"), bump = formula(list[k].bump);
        struct sr_loss loss;
        for (int i = 0; i < N; i++)
            y[i] = 2 * x[i] + (i == N - 1 ? list[k].size : i % 2 ? 1 : -1);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
        sr_hall_of_fame_clear(&hall);
        sr_hall_of_fame_offer(&hall, NULL, &law, 1);
        sr_hall_of_fame_offer(&hall, NULL, &bump, 0.5);
        sr_front_make(&hall, &front);
        assert_int_equal(sr_front_describe(&front, &data), 0);
        assert_int_equal(sr_front_find_pole(&front, &loss), 0);
        assert_int_equal(front.without, k == 1 ? N : 0);
        sr_loss_free(&loss);
    }
}

/* Five rows of 2 r + 1 with noise, and a formula that has a constant for each. */
TEST(few_rows_choose_no_interpolation)
{
    static struct sr_hall_of_fame hall;
    const double x[15] = {1, 2, 3, 4, 5};
    double y[5];
    const struct sr_data data = {.rows = 5, .features = 3, .x = x, .y = y};
    const struct sr_expr line = formula("2.018571 * r + 0.7811869"),
                         wild = formula("1.982071 * r + 0.3109828 * sin(2.3768 * r + 7.471855) "
                                        "+ 0.9098349"),
                         exact = formula("3.5 * r"), spare = formula("r + r");
    struct sr_loss loss;
    assert_true(sr_eval(&wild, &data, y)); /* 2.764, 4.770, 7.134, 8.541, 10.971 */
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    assert_true(loss.cases == 5);
    assert_true(sr_loss_decides(&loss, &line) && !sr_loss_decides(&loss, &wild));
    sr_hall_of_fame_clear(&hall);
    sr_hall_of_fame_offer(&hall, NULL, &line, 0.0400351);
    sr_hall_of_fame_offer(&hall, NULL, &wild, 0);
    sr_front_make(&hall, &front);
    assert_true(isinf(front.score[1]) && sr_front_select(&front, SR_BEST) == 1); /* published */
    assert_int_equal(sr_front_describe(&front, &data), 0);
    sr_front_correct(&front, &loss);
    assert_true(isfinite(front.score[1]) && front.score[1] < 0);
    for (int rule = SR_SCORE; rule < SR_RULES; rule++)
        assert_int_equal(sr_front_select(&front, (enum sr_rule)rule), 0);
    assert_int_equal(sr_front_select(&front, SR_ACCURACY), 1);

    sr_hall_of_fame_clear(&hall); /* rows to spare: a loss of 0 is exact */
    sr_hall_of_fame_offer(&hall, NULL, &spare, 5);
    sr_hall_of_fame_offer(&hall, NULL, &wild, 1);
    hall.expr[5] = exact;
    hall.loss[5] = 0;
    sr_front_make(&hall, &front);
    assert_int_equal(sr_front_describe(&front, &data), 0);
    sr_front_correct(&front, &loss);
    assert_true(isinf(front.score[1]) && sr_front_select(&front, SR_BEST) == 1);
    sr_loss_free(&loss);

    /* the same row again, and one of weight 0, tell nothing */
    const double twice[15] = {1, 2, 2, 4, 5}, weight[5] = {1, 1, 1, 1, 0};
    const struct sr_data less = {.rows = 5, .features = 1, .x = twice, .y = y, .weight = weight};
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &less), 0);
    assert_true(loss.cases == 3 && sr_loss_decides(&loss, &exact) &&
                !sr_loss_decides(&loss, &line));
    sr_loss_free(&loss);
}

/* Makes the front of these formulas, with losses that fall. */
static void front_of(struct sr_hall_of_fame *hall, const char *const *text, int count)
{
    sr_hall_of_fame_clear(hall);
    for (int i = 0; i < count; i++) {
        const struct sr_expr expr = formula(text[i]);
        sr_hall_of_fame_offer(hall, NULL, &expr, 1.0 / (i + 1));
    }
    sr_front_make(hall, &front);
    assert_int_equal(front.count, count);
}

/* y = 3 r^2 as a table of five digits has it: what comes behind it on the front gains none. */
TEST(digits_end_the_front)
{
    enum { N = 40 };
    static struct sr_hall_of_fame hall;
    double x[N], y[N];
    struct sr_digits digits[2] = {{.significant = 5, .last = -4}, {.significant = 5, .last = -4}};
    for (int i = 0; i < N; i++) {
        char text[32];
        const double r = 1 + 0.2137 * i;
        snprintf(text, sizeof text, "%.5g", r);
        x[i] = strtod(text, NULL);
        snprintf(text, sizeof text, "%.5g", 3 * r * r);
        y[i] = strtod(text, NULL);
    }
    struct sr_data data = {.rows = N, .features = 1, .x = x, .y = y, .digits = digits};
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    const char *const text[] = {"r * r", "3.001 * r * r", "2.99999 * square(r) + 0",
                                "3 * square(r) + 0.0001 * sin(r)"};
    front_of(&hall, text, 4);
    assert_int_equal(sr_front_cut(&front, &loss), 0);
    /* 3.001 is wrong by ten units, but its constant can be had: the rows behind are no better */
    assert_int_equal(front.count, 2);
    data.digits = NULL;
    sr_front_make(&hall, &front);
    assert_int_equal(sr_front_cut(&front, &loss), 0);
    assert_int_equal(front.count, 4);
    /* y is a number, not the 3 r^2 of these digits: no row is good enough */
    data.digits = digits;
    for (int i = 0; i < N; i++)
        y[i] += 0.01 * sin(7.0 * i);
    assert_int_equal(sr_front_cut(&front, &loss), 0);
    assert_int_equal(front.count, 4);
    sr_loss_free(&loss);
}

/* Five digits of x are all of them, as y of 3 x^2 has more than x of five digits could tell: only
 * the digits of y count. */
TEST(digits_of_an_exact_column)
{
    enum { N = 40 };
    static struct sr_hall_of_fame hall;
    double x[N], y[N];
    struct sr_digits digits[2] = {{.significant = 5, .last = -4}, {.significant = 10, .last = -7}};
    for (int i = 0; i < N; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.5g", 1 + 0.2137 * i);
        x[i] = strtod(text, NULL);
        snprintf(text, sizeof text, "%.7f", 3 * x[i] * x[i]);
        y[i] = strtod(text, NULL);
    }
    const struct sr_data data = {.rows = N, .features = 1, .x = x, .y = y, .digits = digits};
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    const char *const text[] = {"r * r", "3 * square(r)", "3 * square(r) + 0.00000001 * sin(r)"};
    front_of(&hall, text, 3);
    assert_int_equal(sr_front_cut(&front, &loss), 0);
    assert_int_equal(front.count, 2);
    sr_loss_free(&loss);
}

/* Of a wave of five rows y has three numbers, which two waves and a constant fit up to their last
 * digits: that does not show that the columns are not rounded. */
TEST(digits_of_few_targets)
{
    enum { N = 100 };
    static struct sr_hall_of_fame hall;
    double x[N], y[N];
    struct sr_digits digits[2] = {{.significant = 3, .last = -1}, {.significant = 8, .last = -8}};
    for (int i = 0; i < N; i++) {
        char text[32];
        x[i] = 0.5 * i;
        snprintf(text, sizeof text, "%.8g", 2 * cos(0.8 * acos(-1) * x[i]));
        y[i] = strtod(text, NULL);
    }
    const struct sr_data data = {.rows = N, .features = 1, .x = x, .y = y, .digits = digits};
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    const char *const text[] = {
        "cos(2.513 * r)", "2.000000007 * cos(2.513274122871 * r)",
        ("cos(r / 0.3978873577297384) / 0.499999998102434 - cos(5.0265482378 * r) / 278531049 - "
         "0.00000000399999996")};
    front_of(&hall, text, 3);
    assert_int_equal(sr_front_cut(&front, &loss), 0);
    assert_int_equal(front.count, 2);
    sr_loss_free(&loss);
}

/* A decay over 270 decades: every row has its own rounding error, and the refit counts all of them
 * though the squares of their ratios are no numbers. */
TEST(digits_of_many_decades)
{
    enum { N = 120 };
    static struct sr_hall_of_fame hall;
    double x[N], y[N];
    struct sr_digits digits[2] = {{0}, {.significant = 12, .last = -300}};
    for (int i = 0; i < N; i++) {
        char text[32];
        x[i] = 2.0625 * i;
        snprintf(text, sizeof text, "%.12g", exp(-2.5 * x[i]));
        y[i] = strtod(text, NULL);
    }
    const struct sr_data data = {.rows = N, .features = 1, .x = x, .y = y, .digits = digits};
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    const char *const text[] = {"inv(exp(r))", "exp(-2.5000000000005 * r)",
                                "exp(-2.5000000000005 * r) - 0.000000000000001 * sin(r)"};
    front_of(&hall, text, 3);
    assert_int_equal(sr_front_cut(&front, &loss), 0);
    assert_int_equal(front.count, 2);
    sr_loss_free(&loss);
}

TEST(rules_are_found_by_name)
{
    for (int i = 0; i < SR_RULES; i++) {
        enum sr_rule rule = SR_RULES;
        assert_int_equal(sr_rule_find("--rule", sr_rule_name[i], &rule), 0);
        assert_int_equal(rule, i);
    }
    enum sr_rule rule;
    assert_int_equal(sr_rule_find("--rule", "scores", &rule), ORR_EUSAGE);
    error_names("--rule", "\"scores\"", "score", NULL);
    assert_int_equal(sr_rule_find("--rule", "zzzzzzzzzz", &rule), ORR_EUSAGE);
    error_names("accuracy, score, best or mdl", NULL);
}

TEST(csv_is_that_of_pysr)
{
    static struct sr_hall_of_fame hall;
    char dir[64], path[4096], *text;
    size_t bytes;
    struct sr_expr a = formula("r"), b = formula("39.4784176 * inv(r * r)"),
                   c = formula("m1 + sin(r) * (0 - 2e-9) * m2");
    sr_hall_of_fame_clear(&hall);
    sr_hall_of_fame_offer(&hall, NULL, &a, 12.3456789012);
    sr_hall_of_fame_offer(&hall, NULL, &b, 1.0 / 3);
    sr_hall_of_fame_offer(&hall, NULL, &c, 0);
    sr_front_make(&hall, &front);
    scratch_create(dir);
    scratch_path(path, dir, "front.csv");
    assert_int_equal(sr_front_write(&front, NULL, feature_name, NULL, NULL, path), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    assert_string_equal(text, "Complexity,Loss,Equation\n"
                              "1,12.3456789,\"r\"\n"
                              "6,0.333333333,\"(39.4784176 * inv((r * r)))\"\n"
                              "10,0,\"(m1 + ((sin(r) * (0 - 2e-09)) * m2))\"\n");
    free(text);
    /* names that CSV must quote, and no rest of a file that could not be written */
    static const char *const odd[FEATURES] = {"a \"b\", c", "m1", "m2"};
    front.count = 1;
    assert_int_equal(sr_front_write(&front, NULL, odd, NULL, NULL, path), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    assert_string_equal(text, "Complexity,Loss,Equation\n"
                              "1,12.3456789,\"\"\"a \"\"\"\"b\"\"\"\", c\"\"\"\n");
    free(text);
    front.count = 0;
    assert_int_equal(sr_front_write(&front, NULL, odd, NULL, NULL, path), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    assert_string_equal(text, "Complexity,Loss,Equation\n");
    free(text);
    assert_int_equal(
        sr_front_write(&front, NULL, odd, NULL, NULL, scratch_at(dir, "none/front.csv")), ORR_EIO);
    error_names("none/front.csv", NULL);
    assert_int_equal(scratch_count(dir), 1);
    scratch_remove(dir);
}

/* The listed formulas of a complexity, as "A=1 B=2". */
static const char *listed(const struct sr_near *near, int complexity)
{
    static char text[400];
    *text = '\0';
    for (int i = 0; i < near->count[complexity]; i++) {
        const struct sr_near_entry *entry = &sr_near_list(near, complexity)[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.60s=%g", i ? " " : "",
                 text_of(&entry->expr), entry->loss);
    }
    return text;
}

static void offer(struct sr_near *near, const char *text, double loss)
{
    const struct sr_expr expr = formula(text);
    sr_near_offer(near, NULL, &expr, loss);
}

TEST(near_best_formulas_have_other_shapes_and_losses)
{
    struct sr_near *near = sr_near_create(3, 5), *more = sr_near_create(3, 5);
    assert_true(near && more);
    assert_false(sr_near_wants(NULL, 3, 1));
    assert_true(sr_near_wants(near, 5, 1));
    assert_false(sr_near_wants(near, 6, 1) || sr_near_wants(near, 3, INFINITY) ||
                 sr_near_wants(near, 3, NAN));
    offer(near, "r * 2", 4);
    offer(near, "r + m1", 2);
    offer(near, "r * 3", 5); /* worse constants */
    assert_string_equal(listed(near, 3), "(r + m1)=2 (r * 2)=4");
    offer(near, "r * 3", 1); /* better ones */
    assert_string_equal(listed(near, 3), "(r * 3)=1 (r + m1)=2");
    offer(near, "m1 + r", 2 + 1e-7); /* one function, written in two ways */
    offer(near, "m1 - r", 2 - 1e-7);
    offer(near, "m1 / r", 3);
    assert_string_equal(listed(near, 3), "(r * 3)=1 (r + m1)=2 (m1 / r)=3");
    assert_false(sr_near_wants(near, 3, 3)); /* full */
    offer(near, "m2 / r", 2.5);
    assert_string_equal(listed(near, 3), "(r * 3)=1 (r + m1)=2 (m2 / r)=2.5");
    /* constants that reach the loss of another formula: one of the two goes */
    offer(near, "m2 * 2", 1.5);
    offer(near, "m2 * 3", 1);
    assert_string_equal(listed(near, 3), "(r * 3)=1 (r + m1)=2");
    offer(more, "m2 * m1", 1.7);
    offer(more, "-r", 9);
    sr_near_merge(near, NULL, more);
    assert_string_equal(listed(near, 3), "(r * 3)=1 (m2 * m1)=1.7 (r + m1)=2");
    assert_int_equal(near->count[2], 1);
    sr_near_clear(near);
    assert_true(near->count[3] == 0 && near->count[2] == 0);
    sr_near_clear(NULL);
    free(near);
    free(more);
}

TESTS(NULL, NULL)
