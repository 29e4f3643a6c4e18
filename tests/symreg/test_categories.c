/* test_categories.c - formulas with constants of each category: fits and errors against ordinary
 * fits of a table with a column for each category, what is shared, and a search. */
#include "symreg/formulas.h"

#include <math.h>
#include <string.h>

enum { COUNT = 3, EACH = 30, ROWS = COUNT * EACH };

/* y = slope[k] r + offset[k] with noise, rows of the categories mixed. */
struct lines {
    double x[FEATURES * ROWS], y[ROWS], weight[ROWS];
    int category[ROWS];
    struct sr_data data;
    struct sr_categories c;
    struct sr_work work;
};

static void lines_create(struct lines *t, const double slope[COUNT], const double offset[COUNT],
                         double noise)
{
    gsl_rng *rng = random_stream(911);
    memset(t, 0, sizeof *t);
    for (int i = 0; i < ROWS; i++) {
        const int k = t->category[i] = (i * 7 + i / 5) % COUNT;
        t->x[i] = 0.3 + 4 * gsl_rng_uniform(rng);
        t->weight[i] = 0.5 + gsl_rng_uniform(rng);
        t->y[i] = slope[k] * t->x[i] + offset[k] + noise * gsl_ran_gaussian(rng, 1);
    }
    t->data = (struct sr_data){
        .rows = ROWS, .features = FEATURES, .x = t->x, .y = t->y, .weight = t->weight};
    assert_int_equal(sr_categories_init(&t->c, ORR_SR_L2, 0.5, &t->data, t->category, COUNT), 0);
    assert_int_equal(sr_work_init(&t->work, ROWS, SR_NODES), 0);
    gsl_rng_free(rng);
}

static void lines_free(struct lines *t)
{
    sr_categories_free(&t->c);
    sr_work_free(&t->work);
}

static const double slopes[COUNT] = {2.385, -0.71, 5.2}, offsets[COUNT] = {0.9, 0.9, 0.9};

/* The same model as an ordinary formula: column k is r in the rows of category k, else 0. */
TEST(shared_constants_are_those_of_an_ordinary_fit)
{
    static struct lines t;
    static double wide[FEATURES * ROWS];
    struct sr_expr form = formula("1.5 * r + 0.2"),
                   ordinary = formula("1.5 * r + 1.4 * m1 + 1.3 * m2 + 0.2");
    struct sr_loss whole;
    const bool shared[2] = {false, true};
    double value[2 * COUNT], error[2 * COUNT], expected[4], wrong[4], loss;
    lines_create(&t, slopes, offsets, 0.3);
    for (int i = 0; i < ROWS; i++)
        wide[t.category[i] * ROWS + i] = t.x[i];
    struct sr_data data = t.data;
    data.x = wide;
    assert_int_equal(sr_loss_init(&whole, ORR_SR_L2, &data), 0);
    for (int k = 0; k < COUNT; k++) {
        value[2 * k] = 1;
        value[2 * k + 1] = 0.5;
    }
    assert_int_equal(sr_categories_fit_shared(&t.c, &form, shared, 5, &t.work, value, &loss), 0);
    assert_int_equal(sr_categories_errors(&t.c, &form, shared, 0, &t.work, value, error), 0);
    const double reached = sr_constants_fit(&whole, &ordinary, false, 50, 0, NULL, &t.work);
    assert_int_equal(sr_expr_constants(&ordinary, expected), 4);
    assert_int_equal(sr_constants_errors(&ordinary, &data, 0, wrong), 0);
    assert_true(near(loss, reached, 1e-10));
    for (int k = 0; k < COUNT; k++) {
        assert_true(near(value[2 * k], expected[k], 1e-7));
        assert_true(near(value[2 * k + 1], expected[3], 1e-7));
        assert_true(near(error[2 * k], wrong[k], 1e-8));
        assert_true(near(error[2 * k + 1], wrong[3], 1e-8));
    }
    sr_loss_free(&whole);
    lines_free(&t);
}

/* Each category by itself: the losses of ordinary fits to its rows, weighted together. */
TEST(constants_of_each_category_are_those_of_its_rows)
{
    static struct lines t;
    struct sr_expr form = formula("1.5 * r + 0.2"), own;
    double value[2 * COUNT], constants[2], expected = 0;
    lines_create(&t, slopes, offsets, 0.3);
    const double loss = sr_categories_fit(&t.c, &form, 50, 0, HUGE_VAL, &t.work, value);
    for (int k = 0; k < COUNT; k++) {
        own = formula("0.5 * r + 2.2");
        expected += t.c.loss[k].total / t.c.total *
                    sr_constants_fit(&t.c.loss[k], &own, false, 50, 0, NULL, &t.work);
        sr_expr_constants(&own, constants);
        assert_true(near(value[2 * k], constants[0], 1e-7));
        assert_true(near(value[2 * k + 1], constants[1], 1e-7));
    }
    assert_true(near(loss, expected, 1e-10));
    sr_expr_constants(&form, constants);
    assert_true(near(constants[0], value[2 * t.c.reference], 1e-15));
    /* a loss that is certain to exceed the limit is given up, with an estimate above it */
    assert_true(sr_categories_fit(&t.c, &form, 50, 0, loss / 100, &t.work, NULL) > loss / 100);
    lines_free(&t);
}

/* A frequency that no fit from the reference's reaches: found from points nearby. */
TEST(a_category_far_from_the_reference_is_found_by_restarts)
{
    static double x[ROWS], y[ROWS];
    int category[ROWS];
    gsl_rng *rng = random_stream(912);
    struct sr_categories c;
    struct sr_work work;
    for (int i = 0; i < ROWS; i++) {
        category[i] = i % 2;
        x[i] = 10 * gsl_rng_uniform(rng);
        y[i] = sin((category[i] ? 2.1 : 1.3) * x[i]);
    }
    const struct sr_data data = {.rows = ROWS, .features = 1, .x = x, .y = y};
    struct sr_expr form = formula("sin(1.3 * r)");
    assert_int_equal(sr_categories_init(&c, ORR_SR_L2, 0.5, &data, category, 2), 0);
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    assert_true(sr_categories_fit(&c, &form, 20, 0, HUGE_VAL, &work, NULL) > 0.1);
    form = formula("sin(1.3 * r)");
    assert_true(sr_categories_fit(&c, &form, 20, 24, HUGE_VAL, &work, NULL) < 1e-20);
    sr_categories_free(&c);
    sr_work_free(&work);
    gsl_rng_free(rng);
}

/* Constants of a formula shared among COUNT = 3 categories of `law(category, r)`, from `start`. */
static struct sr_category_fit share_of(double (*law)(int, double), const char *start)
{
    double x[ROWS], y[ROWS];
    int category[ROWS];
    gsl_rng *rng = random_stream(9);
    struct sr_categories c;
    struct sr_work work;
    struct sr_category_fit fit;
    for (int i = 0; i < ROWS; i++) {
        category[i] = i % 3;
        x[i] = 3 * gsl_rng_uniform(rng);
        y[i] = law(category[i], x[i]);
    }
    const struct sr_data data = {.rows = ROWS, .features = 1, .x = x, .y = y};
    struct sr_expr form = formula(start);
    assert_int_equal(sr_categories_init(&c, ORR_SR_L2, 0.5, &data, category, 3), 0);
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    assert_int_equal(sr_categories_share(&c, ~(uint64_t)0, &form, &work, &fit), 0);
    assert_true(fit.loss < 1e-20);
    sr_categories_free(&c);
    sr_work_free(&work);
    gsl_rng_free(rng);
    return fit;
}
static double same_phase(int category, double r)
{
    return (1 + category) * cos(1.4 * r + 0.5);
}
static double nearly_cosine(int category, double r)
{
    return (1 + category) * cos(1.4 * r + 0.001 * (1 + category));
}
static double opposite(int category, double r) /* phases on both sides of half a period */
{
    return (1 + category) * exp(cos(1.4 * r + 3.1415 + 0.002 * category));
}
static double same_moment(int category, double r)
{
    return (1 + category) * cos((2 + 0.7 * category) * (r - 1.5));
}

/* The search may leave phases many periods from 0, each category others: they come back, side by
 * side, and a phase that is common is shared. A moment that is common stays shared where the
 * frequencies, and with them the periods, differ. */
TEST(phases_are_those_of_one_period)
{
    struct sr_category_fit fit = share_of(same_phase, "1.1 * cos(1.41 * r + 100.9)");
    assert_int_equal(fit.constants, 3);
    assert_true(!fit.shared[0] && fit.shared[1] && fit.shared[2]);
    for (int i = 1; i < 3; i++) /* the phase, inside or outside the product with 1.4 */
        assert_true(fabs(fit.value[i]) < 3.2);
    free(fit.value);
    fit = share_of(nearly_cosine, "1.1 * sin(1.41 * r + 1.6)"); /* has cheaper phases as a cosine */
    assert_int_equal(fit.constants, 3);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(fit.value[k * 3 + 2]) < 0.01 || fabs(fit.value[k * 3 + 1]) < 0.01);
    free(fit.value);
    fit = share_of(opposite, "1.1 * exp(cos(1.41 * r + 3.1))");
    assert_int_equal(fit.constants, 3);
    for (int k = 1; k < 3; k++)
        for (int i = 1; i < 3; i++)
            assert_true(fabs(fit.value[k * 3 + i] - fit.value[i]) < 0.1);
    free(fit.value);
    fit = share_of(same_moment, "1.1 * cos(2.1 * (r - 1.45))");
    assert_int_equal(fit.constants, 3);
    assert_true(!fit.shared[0] && !fit.shared[1] && fit.shared[2]);
    assert_true(fabs(fabs(fit.value[2]) - 1.5) < 1e-6);
    free(fit.value);
}

static void check_shared(const double offset[COUNT], bool slope_shared, bool offset_shared,
                         const double slope[COUNT], double noise)
{
    static struct lines t;
    struct sr_category_fit fit;
    struct sr_expr form = formula("1.5 * r + 0.2");
    lines_create(&t, slope, offset, noise);
    assert_int_equal(sr_categories_share(&t.c, ~(uint64_t)0, &form, &t.work, &fit), 0);
    assert_int_equal(fit.constants, 2);
    assert_int_equal(fit.shared[0], slope_shared);
    assert_int_equal(fit.shared[1], offset_shared);
    for (int k = 0; k < COUNT; k++) {
        if (offset_shared)
            assert_true(near(fit.value[2 * k + 1], fit.value[1], 1e-15));
        assert_true(near(fit.value[2 * k], slope[k], 0.1));
    }
    free(fit.value);
    lines_free(&t);
}

TEST(a_constant_is_shared_where_that_is_shorter)
{
    const double differ[COUNT] = {0.2, 0.9, 1.7}, equal[COUNT] = {2.4, 2.4, 2.4};
    for (int noisy = 0; noisy < 2; noisy++) {
        const double noise = noisy ? 0.1 : 0;
        check_shared(offsets, false, true, slopes, noise);
        check_shared(differ, false, false, slopes, noise);
        check_shared(offsets, true, true, equal, noise);
        check_shared(differ, true, false, equal, noise);
    }
}

/* a[k] (r + b / a[k]) has two constants of each category, a[k] r + b one; and the reverse. Without
 * time for equivalent forms the given one stays. */
TEST(the_form_with_more_shared_constants_is_taken)
{
    static const char *const given[] = {"1.5 * (r + 0.2)", "exp(0.2 + 1.5 * r) - r"};
    static const char *const taken[] = {"1.5 * r + 0.2", "exp(1.5 * (0.2 + r)) - r"};
    for (int n = 0; n < 4; n++) {
        static struct lines t;
        struct sr_category_fit fit;
        const bool late = n >= 2;
        struct sr_expr form = formula(given[n % 2]);
        struct sr_expr expected = formula(late ? given[n % 2] : taken[n % 2]);
        double constants[2] = {0};
        lines_create(&t, slopes, offsets, 0);
        for (int k = 0; k < COUNT && n % 2; k++)
            for (size_t i = 0; i < t.c.data[k].rows; i++) {
                const double r = t.c.storage[k][i];
                t.c.storage[k][FEATURES * t.c.data[k].rows + i] =
                    exp(0.2 * slopes[k] * (r + 0.7)) - r;
            }
        t.c.forms_until_s = late ? 1e-9 : 0;
        assert_int_equal(sr_categories_share(&t.c, ~(uint64_t)0, &form, &t.work, &fit), 0);
        assert_true(fit.shared[0] + fit.shared[1] == !late);
        sr_expr_set_constants(&form, constants);
        sr_expr_set_constants(&expected, constants);
        assert_int_equal(sr_expr_hash(&form), sr_expr_hash(&expected));
        free(fit.value);
        lines_free(&t);
    }
}

/* y = a[k] r + b[k], where b is 0 in the reference, so that a r would explain its rows alone: one
 * front for any number of threads, with the law of all categories on it. */
TEST(a_search_finds_the_form_of_all_categories)
{
    static struct lines t;
    static struct sr_fit fit[2];
    const struct sr_settings settings = {.binary = {SR_ADD, SR_MUL, SR_DIV},
                                         .unary = {SR_EXP},
                                         .binary_count = 3,
                                         .unary_count = 1,
                                         .loss = ORR_SR_L2,
                                         .maxsize = 9,
                                         .iterations = 4,
                                         .populations = 4,
                                         .population_size = 20,
                                         .cycles = 40,
                                         .restarts = 1,
                                         .enumerate = 5000,
                                         .seed = 3};
    lines_create(&t, slopes, offsets, 0);
    for (int i = 0; i < ROWS; i++)
        t.y[i] = slopes[t.category[i]] * t.x[i] + (t.category[i] == t.c.reference ? 0 : 0.9);
    for (int n = 0; n < 2; n++) {
        fit[n] = (struct sr_fit){
            .data = t.data, .stream = 1, .category = t.category, .categories = COUNT};
        fit[n].data.features = 1;
        assert_int_equal(sr_search(&settings, &fit[n], 1, n ? 3 : 1, NULL), 0);
    }
    assert_int_equal(fit[0].front.count, fit[1].front.count);
    for (int i = 0; i < fit[0].front.count; i++) {
        const struct sr_expr *a = &fit[0].front.expr[i], *b = &fit[1].front.expr[i];
        assert_int_equal(a->count, b->count);
        assert_int_equal(sr_expr_hash(a), sr_expr_hash(b));
        assert_memory_equal(&fit[0].front.loss[i], &fit[1].front.loss[i], sizeof(double));
    }
    const int last = fit[0].front.count - 1;
    assert_true(fit[0].front.loss[last] < 1e-20);
    assert_int_equal(fit[0].front.complexity[last], 5);
    lines_free(&t);
}

TEST(a_category_without_rows_is_refused)
{
    const double x[4] = {1, 2, 3, 4};
    const int category[4] = {0, 2, 2, 0};
    const struct sr_data data = {.rows = 4, .features = 1, .x = x, .y = x};
    struct sr_categories c;
    assert_int_equal(sr_categories_init(&c, ORR_SR_L2, 0.5, &data, category, 3), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "category 1: expected rows, found none"));
    sr_categories_free(&c);
}

TESTS(NULL, NULL)
