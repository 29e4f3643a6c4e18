/* test_structure.c - the smooth model, products of powers found in gradients, smaller tables. */
#include "symreg/proposal.h"
#include "bench/symreg_same.h"
#include "seed/groups.h"
#include "seed/derived.h"
#include "seed/structure.h"

enum { COLUMNS = 7, ROWS = 600 };
static const char *const column[COLUMNS] = {"a", "b", "c", "d", "e", "f", "g"};

static struct sr_settings default_settings(void)
{
    struct sr_settings s = seed_settings();
    s.unary[s.unary_count++] = SR_SIN;
    s.unary[s.unary_count++] = SR_COS;
    s.maxsize = 40;
    s.enumerate = 2e4;
    return s;
}

static struct sr_expr formula_of(const char *text)
{
    struct sr_expr expr;
    assert_int_equal(sr_expr_parse(NULL, text, column, COLUMNS, &expr), 0);
    return expr;
}

/* Columns over 1 .. 4; y of a law, and noise of `noise` times its root mean square. */
static struct sr_expr wide_table(struct table *t, int columns, const char *law, double noise)
{
    gsl_rng *rng = random_stream(21);
    const struct sr_expr expr = formula_of(law);
    double square = 0;
    t->x = orr_alloc((size_t)(columns + 1) * ROWS, sizeof *t->x);
    assert_non_null(t->x);
    t->y = t->x + (size_t)columns * ROWS;
    t->data = (struct sr_data){.rows = ROWS, .features = columns, .x = t->x, .y = t->y};
    for (int i = 0; i < columns * ROWS; i++)
        t->x[i] = 1 + 3 * gsl_rng_uniform(rng);
    assert_true(sr_eval(&expr, &t->data, t->y));
    for (int i = 0; i < ROWS; i++)
        square += t->y[i] * t->y[i] / ROWS;
    for (int i = 0; i < ROWS; i++)
        t->y[i] += noise * sqrt(square) * gsl_ran_ugaussian(rng);
    gsl_rng_free(rng);
    return expr;
}

/* ---- the smooth model */

/* z = 2.385 line + sin(x1) + x2^2 / 4: the slope, the gradient, and a column that says nothing. */
TEST(smooth_model_knows_slopes_and_gradients)
{
    enum { N = 200, K = 3 };
    static double x[K][N], line[N], z[N], noise[N], gradient[K][N];
    gsl_rng *rng = random_stream(5);
    double mean = 0;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < K; k++)
            x[k][i] = 3.4 * (gsl_rng_uniform(rng) - 0.5);
        line[i] = gsl_ran_ugaussian(rng);
        mean += line[i] / N;
        noise[i] = 1;
    }
    for (int i = 0; i < N; i++) {
        line[i] -= mean;
        z[i] = 2.385 * line[i] + sin(x[0][i]) + x[1][i] * x[1][i] / 4;
    }
    const struct sr_smooth_data data = {N, K, 1, x[0], line, z, noise};
    struct sr_smooth model = {0};
    assert_int_equal(sr_smooth_fit(&data, 40, &model), 0);
    assert_true(near(model.slope[0], 2.385, 1e-3));
    assert_true(model.length[2] > 5 * model.length[0]);
    assert_int_equal(sr_smooth_gradient(&data, &model, gradient[0]), 0);
    for (int i = 0; i < N; i++) {
        assert_true(fabs(gradient[0][i] - cos(x[0][i])) < 0.02);
        assert_true(fabs(gradient[1][i] - x[1][i] / 2) < 0.02);
        assert_true(fabs(gradient[2][i]) < 0.02);
    }
    gsl_rng_free(rng);
}

/* Three rows by hand: ln p(z) = -1/2 z' K^-1 z - 1/2 ln |K| of a diagonal K plus the constant's. */
TEST(evidence_is_that_of_its_definition)
{
    enum { N = 8 };
    double x[N], z[N], noise[N], k[N][N], variance = 0, evidence = 0, w[N];
    for (int i = 0; i < N; i++) {
        x[i] = 0.3 * i * i;
        z[i] = i % 3 - 0.9;
        noise[i] = 1 + 0.1 * i;
    }
    double mean = 0;
    for (int i = 0; i < N; i++)
        mean += z[i] / N;
    for (int i = 0; i < N; i++)
        variance += (z[i] - mean) * (z[i] - mean) / N;
    struct sr_smooth model = {.length = {1.7}, .square = 0.8, .noise = 0.3};
    const struct sr_smooth_data data = {N, 1, 0, x, NULL, z, noise};
    assert_int_equal(sr_smooth_fit(&data, 0, &model), 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            k[i][j] = 0.8 * exp(-0.5 * pow((x[i] - x[j]) / 1.7, 2)) + 100 * variance +
                      (i == j ? 0.3 * noise[i] + 1e-7 * variance : 0);
    for (int i = 0; i < N; i++) { /* elimination: pivots multiply to the determinant */
        w[i] = z[i];
        for (int j = 0; j < i; j++) {
            const double share = k[i][j] / k[j][j];
            for (int c = j; c < N; c++)
                k[i][c] -= share * k[j][c];
            w[i] -= share * w[j];
        }
        evidence -= 0.5 * w[i] * w[i] / k[i][i] + 0.5 * log(k[i][i]);
    }
    assert_true(near(model.evidence, evidence, 1e-9));
}

/* What the other rows say of a row does not depend on its own z, and is near it where there is no
 * noise. */
TEST(rows_are_predicted_by_the_others)
{
    enum { N = 120, OWN = 17 };
    static double x[N], z[2][N], noise[N], value[2][N], deviation[2][N];
    gsl_rng *rng = random_stream(6);
    struct sr_smooth model = {0};
    for (int i = 0; i < N; i++) {
        x[i] = 3.4 * (gsl_rng_uniform(rng) - 0.5);
        z[0][i] = sin(2 * x[i]);
        noise[i] = 1;
    }
    gsl_rng_free(rng);
    for (int k = 0; k < 2; k++) {
        const struct sr_smooth_data data = {N, 1, 0, x, NULL, z[k], noise};
        if (k == 0)
            assert_int_equal(sr_smooth_fit(&data, 40, &model), 0);
        memcpy(z[1], z[0], sizeof z[0]);
        z[1][OWN] += 1e-4;
        assert_int_equal(sr_smooth_predict(&data, &model, value[k], deviation[k]), 0);
    }
    assert_true(near(value[0][OWN], value[1][OWN], 1e-9));
    assert_true(fabs(value[0][OWN - 1] - value[1][OWN - 1]) > 0);
    for (int i = 0; i < N; i++) {
        assert_true(fabs(value[0][i] - z[0][i]) < fmin(0.01, 6 * deviation[0][i]));
        assert_true(deviation[0][i] < 0.02);
    }
}

/* ---- groups */

static bool has_powers(const struct sr_powers *found, const int *half)
{
    int same = 0, opposite = 0;
    for (int f = 0; f < COLUMNS; f++) {
        same += found->half[f] == half[f];
        opposite += found->half[f] == -half[f];
    }
    return same == COLUMNS || opposite == COLUMNS;
}

/* Laws of one group: the factor's and the group's powers are among the first hypotheses, without
 * noise and with 1%. */
TEST(finds_groups_and_factors)
{
    static const struct {
        const char *law;
        int factor[COLUMNS], group[COLUMNS];
    } list[] = {
        {"a * b^2 / (exp(c * d / (e * f)) - 1) / g", {2, 4, 0, 0, 0, 0, -2}, {0, 0, 2, 2, -2, -2}},
        {"sqrt(a) * log(1 + b / c * d)", {1}, {0, 2, -2, 2}},
        {"a / b * (c * d + 2 * e * f^2)", {2, -2, 2, 2}, {0, 0, 2, 2, -2, -4}},
        {"a^3 * sqrt(b / c) * d / g", {6, 1, -1, 2, 0, 0, -2}, {0}},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        for (int noisy = 0; noisy < 2; noisy++) {
            struct table t;
            struct sr_grouping found[SR_GROUPINGS];
            struct sr_group_pairs pairs;
            int count;
            wide_table(&t, COLUMNS, list[k].law, 0.01 * noisy);
            assert_int_equal(sr_groups_find(&t.data, NULL, found, &count, &pairs), 0);
            bool known = false; /* of a sum either product is a factor */
            for (int i = 0; i < count && i < 3; i++)
                known = known || (found[i].groups == (k < 3) &&
                                  (k == 2 || has_powers(&found[i].factor, list[k].factor)) &&
                                  (k == 3 || has_powers(&found[i].group[0], list[k].group)));
            if (!known)
                fail_msg("%s: not among the first three of %d", list[k].law, count);
            for (int i = 1; i < count; i++)
                assert_true(found[i].loss >= found[i - 1].loss);
            table_free(&t);
        }
}

/* Of the bases of one span the shortest comes first: an angle is a group of its own, beside the
 * ratio of the sides. */
TEST(groups_are_short)
{
    static const int angle[COLUMNS] = {0, 0, 0, 2}, ratio[COLUMNS] = {0, 2, -2};
    for (int noisy = 0; noisy < 2; noisy++) {
        struct table t;
        struct sr_grouping found[SR_GROUPINGS];
        struct sr_group_pairs pairs;
        int count, angles = 0, ratios = 0;
        wide_table(&t, COLUMNS, "a / e * sqrt(b^2 + c^2 + 2 * b * c * cos(0.7 * d))", 0.01 * noisy);
        assert_int_equal(sr_groups_find(&t.data, NULL, found, &count, &pairs), 0);
        assert_true(count > 0 && found[0].groups == 2);
        for (int k = 0; k < 2; k++) {
            angles += has_powers(&found[0].group[k], angle);
            ratios += has_powers(&found[0].group[k], ratio);
        }
        assert_true(angles == 1 && ratios == 1);
        table_free(&t);
    }
}

/* With 10% noise, more rows with a large |y| have positive noise than negative, so that the factor
 * looks like a group; chosen by what the other rows predict they show it as it is. A row of
 * almost 0 is left out, others of some size stay. */
TEST(rows_are_chosen_without_bias)
{
    static const char *const law[] = {"a * b / c * (1 - exp(-0.5 * d * e / f))",
                                      "a^2 / b * sqrt(c) * (1 - 2 / (exp(d / e) + 1))"};
    static const int factor[][COLUMNS] = {{2, 2, -2}, {4, -2, 1}};
    static const int group[][COLUMNS] = {{0, 0, 0, 2, 2, -2}, {0, 0, 0, 2, -2}};
    for (int k = 0; k < 2; k++) {
        struct table t, exact;
        struct sr_grouping found[SR_GROUPINGS];
        struct sr_group_pairs pairs;
        static double size[ROWS];
        int count, large = 0, left = 0, first = -1;
        double mean = 0;
        wide_table(&t, COLUMNS, law[k], 0.1);
        wide_table(&exact, COLUMNS, law[k], 0);
        for (int i = 0; i < ROWS; i++)
            mean += exact.y[i] / ROWS;
        assert_int_equal(sr_groups_find(&t.data, NULL, found, &count, &pairs), 0);
        assert_true(count > 0 && found[0].groups == (k == 1 ? 2 : 1));
        for (int i = 0; i < ROWS && first < 0; i++)
            first = exact.y[i] > mean ? i : first;
        t.y[first] = 1e-9;
        assert_int_equal(sr_groups_sizes(&t.data, size), 0);
        for (int i = 0; i < ROWS; i++) {
            large += i != first && exact.y[i] > 0.7 * mean;
            left += i != first && exact.y[i] > 0.7 * mean && near(size[i], exact.y[i], 0.2);
        }
        assert_true(left > 0.97 * large);
        assert_true(size[first] == 0);
        assert_int_equal(sr_groups_find(&t.data, size, found, &count, &pairs), 0);
        assert_true(count > 0 && found[0].groups == 1);
        assert_true(has_powers(&found[0].factor, factor[k]));
        assert_true(has_powers(&found[0].group[0], group[k]));
        table_free(&t);
        table_free(&exact);
    }
}

/* Nothing is found, and nothing fails: y 0 or constant, few rows, one column, columns that are
 * constant, twice there, or below 0. */
TEST(groups_bear_awkward_tables)
{
    struct sr_grouping found[SR_GROUPINGS];
    struct sr_group_pairs pairs;
    int count;
    for (int kind = 0; kind < 7; kind++) {
        struct table t;
        wide_table(&t, COLUMNS, "a * b / c", 0);
        for (int i = 0; i < ROWS; i++) {
            t.y[i] = kind == 0 ? 0 : kind == 1 ? 2.385 : t.y[i];
            t.x[4 * ROWS + i] = kind == 4 ? 1 : kind == 5 ? t.x[i] : t.x[4 * ROWS + i];
            t.x[5 * ROWS + i] -= kind == 6 ? 2 : 0;
        }
        t.data.rows = kind == 2 ? 40 : ROWS;
        t.data.features = kind == 3 ? 1 : COLUMNS;
        assert_int_equal(sr_groups_find(&t.data, NULL, found, &count, &pairs), 0);
        if (kind == 0 || kind == 2 || kind == 3)
            assert_int_equal(count, 0);
        if (kind == 4 || kind == 6)
            assert_true(count > 0 && found[0].factor.half[0] == 2 && found[0].factor.half[2] == -2);
        table_free(&t);
    }
}

/* Pairs that matter through their difference or sum, or that of squares, and none of others. */
TEST(finds_pairs)
{
    static const struct {
        const char *law;
        int a, b, sign, power[2], half;
    } list[] = {{"a * exp(-1 * (b - c)^2)", 1, 2, -1, {1, 1}, 0},
                {"a / (b + c)", 1, 2, 1, {1, 1}, 0},
                {"a / (b^2 + c^2 + 1)", 1, 2, 1, {2, 2}, 0},
                {"a / sqrt(b^2 + 2 + c)", 1, 2, 1, {2, 1}, 0},
                {"a * exp(-1 * (b + 0.4 * c^2))", 0, 0, 0, {0}, 0},
                {"a * cos(b * c / 8)", 0, 0, 0, {0}, 0},
                {"b * c * sqrt(1 + a^2 / (b + c))", 1, 2, 1, {1, 1}, 2}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        struct table t;
        struct sr_grouping found[SR_GROUPINGS];
        struct sr_group_pairs pairs;
        int count;
        wide_table(&t, 3, list[k].law, 0);
        assert_int_equal(sr_groups_find(&t.data, NULL, found, &count, &pairs), 0);
        assert_int_equal(pairs.count, list[k].sign != 0);
        if (pairs.count)
            assert_true(pairs.pair[0].a == list[k].a && pairs.pair[0].b == list[k].b &&
                        pairs.pair[0].sign == list[k].sign &&
                        !memcmp(pairs.pair[0].power, list[k].power, sizeof list[k].power) &&
                        pairs.pair[0].half == list[k].half);
        table_free(&t);
    }
}

/* Subtracts 2.5 from columns `first` to `last`, which then change their signs. */
static void centre_columns(struct table *t, int first, int last)
{
    for (int i = first * ROWS; i < (last + 1) * ROWS; i++)
        t->x[i] -= 2.5;
}

/* Pairs with squares of columns that change their signs: b, or b and c. */
TEST(finds_squares_of_columns_that_change_signs)
{
    static const struct {
        const char *law;
        int last, sign, power[2];
    } list[] = {{"a / ((b - 2.5)^2 + (c - 2.5)^2 + 1)^1.5", 2, 1, {2, 2}},
                {"a / (30 + (b - 2.5)^2 - (c - 2.5)^2)", 2, -1, {2, 2}},
                {"a / sqrt((b - 2.5)^2 + 2 + c)", 1, 1, {2, 1}},
                {"a * exp(-0.2 * (b - c)^2)", 2, -1, {1, 1}},
                {"a * exp(-0.3 * (b - 2.5 + 0.4 * (c - 2.5)^2))", 2, 0, {0}}};
    for (size_t k = 0; k < 2 * sizeof list / sizeof *list; k++) {
        struct table t;
        struct sr_grouping found[SR_GROUPINGS];
        struct sr_group_pairs pairs;
        const size_t law = k / 2;
        int count;
        wide_table(&t, 3, list[law].law, k % 2 ? 0.01 : 0);
        centre_columns(&t, 1, list[law].last);
        assert_int_equal(sr_groups_find(&t.data, NULL, found, &count, &pairs), 0);
        assert_int_equal(pairs.count, list[law].sign != 0);
        if (pairs.count && !(pairs.pair[0].a == 1 && pairs.pair[0].b == 2 &&
                             pairs.pair[0].sign == list[law].sign && pairs.pair[0].half == 0 &&
                             !memcmp(pairs.pair[0].power, list[law].power, sizeof list[law].power)))
            fail_msg("%s: sign %d, powers %d and %d", list[law].law, pairs.pair[0].sign,
                     pairs.pair[0].power[0], pairs.pair[0].power[1]);
        table_free(&t);
    }
}

/* Terms with a column that is in no other: their powers, without noise and with 1%; none where y is
 * one product. */
TEST(finds_terms)
{
    static const struct {
        const char *law;
        int powers[COLUMNS];
    } list[] = {
        {"30 / a + b^2 / c * sqrt(1 + d^2)", {-2}},
        {"sqrt(b / a) + log(1 + e) / (c * d)", {-1, 1}},
        {"a^2 / b - 3 * c * exp(-1 * d)", {4, -2}},
        {"a * b^2 / c * exp(-1 * d)", {0}},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        for (int noisy = 0; noisy < 2; noisy++) {
            struct table t;
            struct sr_grouping found[SR_GROUPINGS];
            struct sr_group_pairs pairs;
            int count;
            wide_table(&t, COLUMNS, list[k].law, 0.01 * noisy);
            for (int i = 0; i < ROWS; i++) { /* in no law: a constant, and 0 */
                t.x[5 * ROWS + i] = 300;
                t.x[6 * ROWS + i] = 0;
            }
            assert_int_equal(sr_groups_find(&t.data, NULL, found, &count, &pairs), 0);
            if (k < 3 &&
                !(pairs.terms && pairs.term[0].off < 0.01 &&
                  !memcmp(pairs.term[0].powers.half, list[k].powers, sizeof list[k].powers)))
                fail_msg("%s: no term", list[k].law);
            for (int i = 0; i < pairs.terms && k >= 3; i++)
                if (pairs.term[i].off < 0.01)
                    fail_msg("%s: a term that is not there, of column %d, off by %g", list[k].law,
                             pairs.term[i].column, pairs.term[i].off);
            table_free(&t);
        }
}

/* Noise of the same size everywhere and noise in proportion to y; nothing is said of y of both
 * signs. */
TEST(kinds_of_noise_are_told_apart)
{
    static const char law[] = "a / b * log(1 + 0.02 * c^3 * d / e^2)";
    for (int kind = 0; kind < 3; kind++) {
        struct table t;
        double ln_ratio;
        wide_table(&t, COLUMNS, law, kind == 1 ? 0 : 0.001);
        gsl_rng *rng = random_stream(8);
        for (int i = 0; i < ROWS; i++)
            t.y[i] = kind == 1   ? t.y[i] * (1 + 0.001 * gsl_ran_ugaussian(rng))
                     : kind == 2 ? t.y[i] - 0.3
                                 : t.y[i];
        assert_int_equal(sr_noise_evidence(&t.data, &ln_ratio), 0);
        if (!(kind == 0 ? ln_ratio < -20 : kind == 1 ? ln_ratio > 20 : ln_ratio == 0))
            fail_msg("kind %d: %g", kind, ln_ratio);
        gsl_rng_free(rng);
        table_free(&t);
    }
}

/* ---- the stage */

/* Seeds of the stage by so many threads; the smallest loss, relative to that of a constant. */
static double structure_seeds(const struct sr_settings *s, struct sr_data *data, int threads,
                              struct sr_seeds *seeds)
{
    struct sr_loss loss;
    double least = HUGE_VAL;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, data), 0);
    seeds_of(sr_structure_find, s, &loss, threads, seeds);
    for (int i = 0; i < seeds->count; i++)
        least = fmin(least, seeds->loss[i] / loss.base);
    sr_loss_free(&loss);
    return least;
}

/* A distance of two points: six columns that change their signs are more groups than a hypothesis
 * has, and their three differences are not. */
TEST(finds_a_distance_in_coordinates)
{
    static struct sr_seeds seeds;
    const struct sr_settings s = default_settings();
    struct table t;
    wide_table(&t, COLUMNS, "a * ((b - c)^2 + (d - e)^2 + (f - g)^2)^0.5", 0);
    centre_columns(&t, 1, COLUMNS - 1);
    const double least = structure_seeds(&s, &t.data, 1, &seeds);
    if (!(least < 1e-20))
        fail_msg("%d seeds, the smallest loss is %g", seeds.count, least);
    table_free(&t);
}

/* Of seeds from a noisy table: the smallest loss without noise, relative to that of a constant, or
 * that of the first seed that is the law. */
static const double is_law = 1e-20;
static double noisy_seeds_off(const char *law, int columns, double noise, int maxsize,
                              double enumerate)
{
    static struct sr_seeds seeds;
    struct sr_settings s = default_settings();
    struct table t, exact;
    struct sr_loss loss;
    struct sr_work work;
    double least = HUGE_VAL;
    s.maxsize = maxsize;
    s.enumerate = enumerate;
    wide_table(&t, columns, law, noise);
    wide_table(&exact, columns, law, 0);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    /* in noise the stage goes on long after it found the law */
    seeds_within(0.4 * enumerate, sr_structure_find, &s, &loss, 1, &seeds);
    sr_loss_free(&loss);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &exact.data), 0);
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    gsl_rng *rng = random_stream(7);
    for (int i = 0; i < seeds.count && !(least < is_law); i++)
        least = fmin(least,
                     sr_constants_fit(&loss, &seeds.expr[i], true, 50, 0, rng, &work) / loss.base);
    gsl_rng_free(rng);
    sr_work_free(&work);
    sr_loss_free(&loss);
    table_free(&t);
    table_free(&exact);
    return least;
}

/* A seed is the law; not so where rows are chosen by their own |y|. */
TEST(finds_noisy_laws)
{
    assert_true(noisy_seeds_off("a^2 / b * sqrt(c) * (1 - 2 / (exp(d / e) + 1))", 5, 0.1, 30, 2e4) <
                is_law);
    assert_true(noisy_seeds_off("a^2 / b * c^3 * g^2 * (1 - exp(-1 * d / e))", 7, 0.1, 30, 2e4) <
                is_law);
    assert_true(noisy_seeds_off("a^2 / b * c^2 / g^2 * log(1 + d / e)", 7, 0.1, 30, 2e4) < is_law);
}

/* Sums of a product of powers and something else: within the noise many formulas fit, and the law
 * is among the seeds. */
TEST(finds_noisy_sums)
{
    assert_true(noisy_seeds_off("6.2832 / a + b^2 / c * sqrt(1 + d^2)", 4, 0.001, 30, 2e4) <
                is_law);
    assert_true(noisy_seeds_off("sqrt(b / a) + log(1 + e) / (c * d)", 5, 0.001, 30, 2e4) < is_law);
}

/* Noise makes a column of a law of cosines look like a term. The groups come first, find the law,
 * and no time goes into such terms. */
TEST(groups_come_before_terms_of_noisy_tables)
{
    static struct sr_seeds seeds;
    const struct sr_settings s = default_settings();
    struct table t;
    wide_table(&t, 6, "a * b / c * sqrt(d^2 + e^2 + 2 * d * e * cos(0.3 * f))", 0.01);
    assert_true(structure_seeds(&s, &t.data, 1, &seeds) < 1e-3);
    assert_true(seeds.evaluations < 1e4);
    table_free(&t);
}

/* Sums of squares become one column, in several views; without `square` as an operator, too. */
TEST(finds_sums_of_squares)
{
    assert_true(noisy_seeds_off("6.28 * a / (b^2 + c^2 + d^2 + e^2)^1.5", 5, 0.001, 21, 1e5) <
                is_law);
    assert_true(noisy_seeds_off("a / (b^2 + c^2)^1.5", 3, 0.001, 12, 1e5) < is_law);

    static struct sr_seeds seeds;
    struct sr_settings s = default_settings();
    struct table t;
    int kept = 0;
    for (int k = 0; k < s.unary_count; k++)
        if (s.unary[k] != SR_SQUARE)
            s.unary[kept++] = s.unary[k];
    assert_int_equal(kept, s.unary_count - 1);
    s.unary_count = kept;
    s.enumerate = 1e5;
    wide_table(&t, 5, "a * exp(-1 * (b - c)^2 / 4) / (d^2 + e^2)", 0);
    const double least = structure_seeds(&s, &t.data, 1, &seeds);
    if (!(least < 1e-5))
        fail_msg("without squares: the smallest loss is %g", least);
    table_free(&t);
}

/* Rows of weight 0 say nothing of the term's factor. */
TEST(terms_of_weighted_rows)
{
    static struct sr_seeds seeds;
    static double weight[ROWS];
    struct sr_settings s = default_settings();
    struct table t;
    s.maxsize = 18;
    wide_table(&t, COLUMNS, "30 / a + b^2 / c * sqrt(1 + d^2)", 0.001);
    for (int i = 0; i < ROWS; i++) {
        weight[i] = i % 20 ? 20 / 19.0 : 0;
        t.y[i] = i % 20 ? t.y[i] : 1e4;
    }
    t.data.weight = weight;
    assert_true(structure_seeds(&s, &t.data, 1, &seeds) < 1e-5);
    table_free(&t);
}

/* Laws that have room only without the factors 1 that noise leaves in their derived tables; and no
 * seed would be shorter with a column moved into a sum. */
TEST(seeds_are_short)
{
    static struct sr_seeds seeds;
    struct sr_settings s = default_settings();
    struct table t;
    wide_table(&t, COLUMNS, "sqrt(e) * a / g * sqrt(b^2 + c^2 + 2 * b * c * cos(d))", 0.001);
    s.maxsize = 22;
    assert_true(structure_seeds(&s, &t.data, 1, &seeds) < 1e-5);
    for (int i = 0; i < seeds.count; i++) {
        struct sr_expr moved = seeds.expr[i];
        if (sr_expr_into_sum(NULL, &moved, ~(uint64_t)0)) {
            char text[SR_TEXT];
            sr_expr_print(NULL, &moved, column, text, sizeof text);
            fail_msg("a seed could be as short as %s", text);
        }
    }
    table_free(&t);
}

/* A table without columns, of which one formula of the table itself is found. */
static bool write_formula(const struct sr_proposal *p, const struct sr_derived *d,
                          const struct sr_expr *phi, struct sr_expr *out)
{
    (void)p, (void)phi;
    *out = formula_of(d->context);
    return true;
}
static int make_formula(const struct sr_proposal *p, const void *context, int number,
                        struct sr_derived *d)
{
    (void)number;
    TRY(sr_derived_init(d, p->loss->data, p->loss->data->rows, NULL, 0));
    d->write = write_formula;
    d->context = context;
    return sr_derived_close(d, sr_loss_init(&d->loss, ORR_SR_L2, &d->data));
}
static int add_formula(struct sr_proposal *p)
{
    struct sr_race race = {.count = 1,
                           .make = make_formula,
                           .context = "d * a * sqrt(1 + square(b / a))",
                           .round = {{.stages = SR_STAGE_SMALL}},
                           .per_size = 1};
    return sr_race(p, &race);
}
/* A column moves into a root where it is positive in all rows; the comparison counts as two
 * evaluations. */
TEST(columns_of_both_signs_stay_outside_roots)
{
    for (int both = 0; both < 2; both++) {
        static struct sr_seeds seeds;
        const struct sr_settings s = default_settings();
        struct table t;
        struct sr_loss loss;
        const struct sr_expr law = wide_table(&t, 4, "d * a * sqrt(1 + square(b / a))", 0);
        for (int i = 0; i < ROWS && both; i++)
            t.x[i] = i % 3 ? t.x[i] : -t.x[i];
        assert_true(sr_eval(&law, &t.data, t.y));
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        seeds_of(add_formula, &s, &loss, 1, &seeds);
        const struct sr_expr expected = formula_of(both ? "d * a * sqrt(1 + square(b / a))"
                                                        : "d * sqrt(square(a) + square(b))");
        assert_int_equal(seeds.count, 1);
        assert_true(seeds.loss[0] <= 1e-20 * loss.base);
        assert_int_equal(seeds.expr[0].count, expected.count);
        assert_true(seeds.evaluations == 3);
        sr_loss_free(&loss);
        table_free(&t);
    }
}

/* Table k has column k alone, and 3 - z in place of y. */
static int make_single(const struct sr_proposal *p, const void *context, int number,
                       struct sr_derived *d)
{
    const struct sr_data *all = p->loss->data;
    const struct sr_expr leaf = {.count = 1, .node = {sr_feature_node(number)}};
    (void)context;
    TRY(sr_derived_init(d, all, all->rows, NULL, 1));
    sr_derived_append(d, all->x + (size_t)number * all->rows, &leaf);
    for (size_t i = 0; i < all->rows; i++)
        d->y[i] = 3 - d->y[i];
    d->near = 1e-9;
    sr_put_constant(&d->before, 3);
    sr_put_op(&d->after, SR_SUB);
    return sr_derived_close(d, sr_loss_init(&d->loss, ORR_SR_L2, &d->data));
}
static struct sr_race singles = {
    .count = 3,
    .make = make_single,
    .round = {{.stages = SR_STAGE_SMALL}, {.stages = SR_STAGE_COMPOSED, .best = 1}},
    .per_size = 4};
static int race_singles(struct sr_proposal *p)
{
    return sr_race(p, &singles);
}
/* The race goes on with the table that fits best, and its formulas are written in the columns and
 * for the target of the table itself. */
TEST(best_table_wins_a_race)
{
    static struct sr_seeds seeds;
    const struct sr_settings s = default_settings();
    struct table t;
    struct sr_loss loss;
    double least = HUGE_VAL;
    wide_table(&t, 3, "b^2 + 1.7 * b", 0.01);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    seeds_of(race_singles, &s, &loss, 1, &seeds);
    assert_int_equal(singles.best, 1);
    for (int i = 0; i < seeds.count; i++)
        least = fmin(least, seeds.loss[i]);
    assert_true(least < 1e-3 * loss.base);
    sr_loss_free(&loss);
    table_free(&t);
}

/* Laws of many columns, differences among them, are exact; the same for any number of threads. */
TEST(finds_laws_of_many_columns)
{
    static struct sr_seeds one, more;
    static const char *const law[] = {
        "0.5 * a * b^2 / (exp(c * d / (e * f)) - 1) / g",  "a * b^2 * sqrt(c / d) * (e * f + g)",
        "3 * a / b^2 * (1 + 0.25 * c * cos(d)) * sqrt(e)", "a^3 * sqrt(b / c) * d / g",
        "sqrt(a^2 + b^2 - 2 * a * b * cos(c - d))",        "a / ((b - c)^2 + (d - e)^2 + 1)",
        "a / e * sqrt(b^2 + c^2 + 2 * b * c * cos(d))",
    };
    for (size_t k = 0; k < sizeof law / sizeof *law; k++) {
        const struct sr_settings s = default_settings();
        struct table t;
        wide_table(&t, COLUMNS, law[k], 0);
        const double least = structure_seeds(&s, &t.data, 1, &one);
        if (!(least <= 1e-15))
            fail_msg("%s: the smallest loss is %g of a constant's", law[k], least);
        if (k % 3 == 0) { /* threads change nothing: of a product, powers and a sum of squares */
            structure_seeds(&s, &t.data, 3, &more);
            assert_int_equal(one.count, more.count);
            for (int i = 0; i < one.count; i++)
                assert_true(sr_expr_hash(&one.expr[i]) == sr_expr_hash(&more.expr[i]));
        }
        table_free(&t);
    }
}

/* Formulas are of the search's operators, size and constraints, whatever was found. */
static bool no_exponential(const struct sr_expr *expr, const void *context)
{
    (void)context;
    return !sr_has(sr_expr_operators(expr), SR_EXP);
}
TEST(keeps_to_the_settings)
{
    static struct sr_seeds seeds;
    struct sr_settings s = default_settings();
    struct table t;
    struct sr_loss loss;
    wide_table(&t, COLUMNS, "a * b^2 / (exp(c * d / (e * f)) - 1) / g", 0);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    s.maxsize = 17;
    s.admissible = no_exponential;
    seeds_of(sr_structure_find, &s, &loss, 1, &seeds);
    assert_true(seeds.count > 0);
    for (int i = 0; i < seeds.count; i++)
        assert_true(seeds.expr[i].count <= 17 && no_exponential(&seeds.expr[i], NULL));
    s.admissible = NULL;
    s.maxsize = 40;
    s.unary_count = 1; /* inv alone */
    seeds_of(sr_structure_find, &s, &loss, 1, &seeds);
    for (int i = 0; i < seeds.count; i++)
        assert_true((sr_expr_operators(&seeds.expr[i]) & ~sr_settings_operators(&s)) == 0);
    s.binary_count = 3; /* no division */
    seeds_of(sr_structure_find, &s, &loss, 1, &seeds);
    assert_int_equal(seeds.count, 0);
    sr_loss_free(&loss);
    table_free(&t);
}

TESTS(NULL, NULL)
