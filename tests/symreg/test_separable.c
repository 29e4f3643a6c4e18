/* test_separable.c - columns that only multiply y. */
#include "symreg/proposal.h"
#include "seed/groups.h"

enum { COLUMNS = 7, ROWS = 800 };
static const char *const column[COLUMNS] = {"a", "b", "c", "d", "e", "f", "g"};

/* Columns over 1 .. 4; y of a law, and noise of `noise` times its root mean square. */
static void noisy_table(struct table *t, const char *law, double noise)
{
    gsl_rng *rng = random_stream(41);
    struct sr_expr expr;
    double square = 0;
    assert_int_equal(sr_expr_parse(NULL, law, column, COLUMNS, &expr), 0);
    t->x = orr_alloc((size_t)(COLUMNS + 2) * ROWS, sizeof *t->x);
    assert_non_null(t->x);
    t->y = t->x + (size_t)COLUMNS * ROWS;
    t->data = (struct sr_data){.rows = ROWS, .features = COLUMNS, .x = t->x, .y = t->y};
    for (int i = 0; i < COLUMNS * ROWS; i++)
        t->x[i] = 1 + 3 * gsl_rng_uniform(rng);
    assert_true(sr_eval(&expr, &t->data, t->y));
    for (int i = 0; i < ROWS; i++)
        square += t->y[i] * t->y[i] / ROWS;
    for (int i = 0; i < ROWS; i++)
        t->y[i] += noise * sqrt(square) * gsl_ran_ugaussian(rng);
    gsl_rng_free(rng);
}

/* With 10% noise the exponents of the factor come out, whatever multiplies it, and the other
 * columns are named; with a third of the weights 0 and the others 3, too. By two standard errors
 * one column in twenty is taken for one of the others: no more than one here. */
TEST(columns_that_only_multiply_are_found_in_noise)
{
    static const struct {
        const char *law;
        int factor[COLUMNS], groups[COLUMNS];
    } list[] = {
        /* both exponents of the sum are -1: only its score shows it */
        {"a * b^2 / (c^2 + d^2) * e * f / g", {2, 4, 0, 0, 2, 2, -2}, {0, 0, 1, 1}},
        {"a^2 * sqrt(b) / c * (1 + 0.3 * d * cos(e)) * f * g",
         {4, 1, -2, 0, 0, 2, 2},
         {0, 0, 0, 1, 1}},
        {"-1 * a / b^2 * sqrt(c^2 + d^2 + e^2) * f^3 / g",
         {2, -4, 0, 0, 0, 6, -2},
         {0, 0, 1, 1, 1}},
        {"a * b * c * d / e * f * (1 - exp(-0.5 * g))", {2, 2, 2, 2, -2, 2}, {0, 0, 0, 0, 0, 0, 1}},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        for (int weighted = 0; weighted < 2; weighted++) {
            static double weight[ROWS];
            struct table t;
            struct sr_grouping g;
            noisy_table(&t, list[k].law, 0.1);
            for (int i = 0; i < ROWS; i++) {
                weight[i] = i % 3 ? 3 : 0;
                t.y[i] = weighted && !(i % 3) ? 1e6 : t.y[i];
            }
            t.data.weight = weighted ? weight : NULL;
            assert_int_equal(sr_separable_find(&t.data, &g), 0);
            int groups[COLUMNS] = {0}, more = 0;
            for (int i = 0; i < g.groups; i++)
                for (int f = 0; f < COLUMNS; f++)
                    groups[f] += g.group[i].half[f] == 2;
            for (int f = 0; f < COLUMNS; f++) {
                if (list[k].groups[f] ? !groups[f] : g.factor.half[f] != list[k].factor[f])
                    more += list[k].groups[f] || !groups[f] ? 2 : 1;
                if (more > 1)
                    fail_msg("%s: %s has the power %g and is in %d groups", list[k].law, column[f],
                             0.5 * g.factor.half[f], groups[f]);
            }
            table_free(&t);
        }
}

/* No factor: a product of powers alone leaves at most one group, as above; of a sum no column only
 * multiplies; few rows, y that is 0, constant columns and columns below 0 do not fail. */
TEST(no_factor_is_invented)
{
    struct sr_grouping g;
    struct table t;
    noisy_table(&t, "a^2 * b / c * d * e * f * g", 0.01);
    assert_int_equal(sr_separable_find(&t.data, &g), 0);
    assert_true(g.groups <= 1);
    t.data.rows = 40;
    assert_int_equal(sr_separable_find(&t.data, &g), 0);
    assert_int_equal(g.groups, 0);
    t.data.rows = ROWS;
    for (int i = 0; i < ROWS; i++) {
        t.x[i] = 2.385;
        t.x[ROWS + i] -= 2;
    }
    assert_int_equal(sr_separable_find(&t.data, &g), 0);
    assert_int_equal(g.factor.half[0], 0);
    assert_int_equal(g.factor.half[1], 0);
    sr_fill(t.y, ROWS, 0);
    assert_int_equal(sr_separable_find(&t.data, &g), 0);
    assert_int_equal(g.groups, 0);
    table_free(&t);
    noisy_table(&t, "a * b + c * d + e * f + g", 0.01);
    assert_int_equal(sr_separable_find(&t.data, &g), 0);
    for (int f = 0; f < COLUMNS; f++)
        assert_int_equal(g.factor.half[f], 0);
    table_free(&t);
}

TESTS(NULL, NULL)
