/* test_angles.c - angles in degrees: what looks like them, derived tables, laws found in these. */
#include "symreg/proposal.h"
#include "seed/angles.h"

enum { COLUMNS = 3, ROWS = 300 };
static const char *const column[COLUMNS] = {"a", "b", "t"};
static const double degree = 0.017453292519943295;

static struct sr_settings angle_settings(void)
{
    static const enum sr_op more[] = {SR_SIN, SR_COS, SR_TAN, SR_ASIN, SR_ACOS, SR_ATAN};
    struct sr_settings s = seed_settings();
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        s.unary[s.unary_count++] = more[k];
    s.maxsize = 30;
    s.enumerate = 5e5;
    return s;
}

/* Columns over low .. high; y of a law. */
static void angle_table(struct table *t, const char *law, const double *low, const double *high)
{
    gsl_rng *rng = random_stream(31);
    struct sr_expr expr;
    table_create(t, ROWS, 4, false);
    for (int i = 0; i < COLUMNS * ROWS; i++)
        t->x[i] = low[i / ROWS] + (high[i / ROWS] - low[i / ROWS]) * gsl_rng_uniform(rng);
    assert_int_equal(sr_expr_parse(NULL, law, column, COLUMNS, &expr), 0);
    assert_true(sr_eval(&expr, &t->data, t->y));
    gsl_rng_free(rng);
}

static const char refraction[] = "asin(a / b * sin(t * 0.017453292519943295)) * 57.29577951308232";
static const double refraction_low[] = {1, 1.5, 0}, refraction_high[] = {1.4, 2.4, 90};

TEST(degrees_look_like_degrees)
{
    static const struct {
        double low, high;
        bool angle;
    } list[] = {{0, 90, true},   {-180, 180, true},  {0, 360, true},  {-23.45, 23.45, true},
                {0, 6.2, false}, {-3.1, 3.1, false}, {0, 361, false}, {280, 300, true},
                {0, 1e9, false}, {1, 10, false}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        assert_int_equal(
            sr_angles_look((double[]){list[k].low, (list[k].low + list[k].high) / 2, list[k].high},
                           3),
            list[k].angle);
}

/* ---- derived tables */

static struct sr_angles angles[SR_ANGLE_TABLES];
static struct sr_derived derived[SR_ANGLE_TABLES];
static int tables;

/* The derived tables of a table; free_tables() frees them. */
static void make_tables(const struct table *t, const struct sr_settings *s)
{
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, s->loss, &t->data), 0);
    const struct sr_proposal p = {
        .settings = s, .operators = sr_settings_operators(s), .loss = &loss};
    tables = sr_angles_list(&p, angles);
    for (int i = 0; i < tables; i++)
        assert_int_equal(sr_angles_make(&p, angles, i, &derived[i]), 0);
    sr_loss_free(&loss);
}

static void free_tables(void)
{
    for (int i = 0; i < tables; i++)
        sr_derived_free(&derived[i]);
}

static bool has_inverse(enum sr_op inverse)
{
    bool found = false;
    for (int i = 0; i < tables; i++)
        found = found || angles[i].inverse == inverse;
    return found;
}

/* Columns are what their formulas say; targets are y and sin(y), cos(y), tan(y); a small error of y
 * counts nearly as in the table itself. */
TEST(derived_tables_hold_functions)
{
    const struct sr_settings s = angle_settings();
    struct table t;
    double value[ROWS];
    angle_table(&t, refraction, refraction_low, refraction_high);
    make_tables(&t, &s);
    assert_int_equal(tables, 4);
    for (int k = 0; k < tables; k++) {
        const struct sr_derived *d = &derived[k];
        const double error = 1e-6;
        double sum = 0, wanted[ROWS], first = 0;
        assert_int_equal(d->data.features, 5);
        for (int f = 0; f < 5; f++) {
            struct sr_expr expr = d->column[f];
            assert_true(sr_expr_measure(NULL, &expr));
            assert_true(sr_eval(&expr, &t.data, value));
            for (int i = 0; i < ROWS; i++)
                assert_true(near(value[i], d->data.x[f * ROWS + i], 1e-12));
        }
        for (int i = 0; i < ROWS; i++) {
            const double y = t.y[i] * degree, z = d->data.y[i];
            const enum sr_op op = angles[k].inverse;
            const double is = op == SR_ASIN   ? sin(y)
                              : op == SR_ACOS ? cos(y)
                              : op == SR_ATAN ? tan(y)
                                              : t.y[i];
            const double moved = op == SR_ASIN   ? sin(y + error) - z
                                 : op == SR_ACOS ? cos(y + error) - z
                                 : op == SR_ATAN ? tan(y + error) - z
                                                 : error;
            assert_true(fabs(is - z) <= 1e-12 * (1 + fabs(z)));
            wanted[i] = d->data.weight[i] * moved * moved;
            sum += d->data.weight[i] / ROWS;
            first = fmax(first, wanted[i]);
        }
        assert_true(near(sum, 1, 1e-9));
        for (int i = 0; i < ROWS; i++) /* cos(y) alone has rows where its slope is near 0 */
            assert_true(angles[k].inverse == SR_ACOS ? t.y[i] < 30 || wanted[i] > 0.9 * first
                                                     : wanted[i] > 0.9 * first);
    }
    free_tables();
    table_free(&t);
}

/* Tables depend on ranges, units and operators. */
TEST(tables_follow_units_and_operators)
{
    static const double low[] = {0.5, 5, 10}, high[] = {5, 40, 90}, small[] = {0.5, 1, 2};
    struct sr_settings s = angle_settings();
    struct sr_units units;
    struct table t;
    angle_table(&t, "a * b^2 * sin(t * 0.034906585039886591)", low, high);
    make_tables(&t, &s); /* b and t, then t alone; y is too large for an angle */
    assert_int_equal(tables, 2);
    assert_true(derived[0].data.features == 7 && derived[1].data.features == 5);
    free_tables();
    assert_int_equal(sr_units_parse("b=m/s, t=deg", column, COLUMNS, "y", &units), 0);
    s.units = &units;
    make_tables(&t, &s);
    assert_int_equal(tables, 1);
    assert_int_equal(derived[0].data.features, 5);
    free_tables();
    s.unary_count = 5; /* no function of an angle */
    make_tables(&t, &s);
    assert_int_equal(tables, 0);
    table_free(&t);
    s = angle_settings();
    angle_table(&t, "a + sin(t)", small, low); /* y within 0 .. 6: no degrees, whatever t */
    make_tables(&t, &s);
    assert_true(!has_inverse(SR_ASIN) && !has_inverse(SR_ACOS) && !has_inverse(SR_ATAN));
    free_tables();
    assert_int_equal(sr_units_parse("y=deg, t=1", column, COLUMNS, "y", &units), 0);
    s.units = &units;
    make_tables(&t, &s); /* the user says that they are */
    assert_true(has_inverse(SR_ASIN) && has_inverse(SR_ACOS) && has_inverse(SR_ATAN));
    free_tables();
    table_free(&t);
}

/* ---- the stage */

static double least_of(const struct sr_seeds *seeds)
{
    double least = HUGE_VAL;
    for (int i = 0; i < seeds->count; i++)
        least = fmin(least, seeds->loss[i]);
    return least;
}

/* Refraction, the altitude of the Sun and an orbit, of a difference of angles, are exact, the same
 * for any number of threads. */
TEST(finds_laws_in_degrees)
{
    static struct sr_seeds one, more;
    static const struct {
        const char *law;
        double low[COLUMNS], high[COLUMNS];
    } list[] = {
        {refraction, {1, 1.5, 0}, {1.4, 2.4, 90}},
        {"asin(sin(a * 0.017453292519943295) * sin(b * 0.017453292519943295) + cos(a * "
         "0.017453292519943295) * cos(b * 0.017453292519943295) * cos(t * 0.017453292519943295)) * "
         "57.29577951308232",
         {-66, -23, -180},
         {66, 23, 180}},
        {"a / (1 + 0.3 * cos((b - t) * 0.017453292519943295))", {0.5, 0, 0}, {5, 360, 90}},
        {"sqrt(a^2 + b^2 - 2 * a * b * cos(t * 0.017453292519943295))", {1, 1, 0}, {5, 7, 180}},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const struct sr_settings s = angle_settings();
        struct table t;
        struct sr_loss loss;
        angle_table(&t, list[k].law, list[k].low, list[k].high);
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        seeds_of(sr_angles_find, &s, &loss, 1, &one);
        seeds_of(sr_angles_find, &s, &loss, 3, &more);
        if (!(least_of(&one) <= 1e-15 * loss.base))
            fail_msg("%s: the smallest loss is %g of %g", list[k].law, least_of(&one), loss.base);
        assert_int_equal(one.count, more.count);
        for (int i = 0; i < one.count; i++)
            assert_true(sr_expr_hash(&one.expr[i]) == sr_expr_hash(&more.expr[i]));
        sr_loss_free(&loss);
        table_free(&t);
    }
}

/* The arccosine of a product is the arcsine of a root of a sum, too: the shorter form is among the
 * exact ones. */
TEST(exact_forms_are_short)
{
    static struct sr_seeds seeds;
    static const char law[] = "acos(a^2 * cos(t * 0.017453292519943295) / b) * 57.29577951308232";
    const struct sr_settings s = angle_settings();
    struct table t;
    struct sr_loss loss;
    int shortest = SR_NODES;
    angle_table(&t, law, (const double[]){0.5, 1.5, 0}, (const double[]){1.2, 2.4, 90});
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    seeds_of(sr_angles_find, &s, &loss, 1, &seeds);
    for (int i = 0; i < seeds.count; i++)
        if (seeds.loss[i] <= 1e-15 * loss.base && seeds.expr[i].count < shortest)
            shortest = seeds.expr[i].count;
    if (shortest > 16) /* the root of a sum has 18 */
        fail_msg("the shortest exact formula has %d nodes", shortest);
    sr_loss_free(&loss);
    table_free(&t);
}

/* Formulas are of the search's operators and size; a table without degrees costs nothing. */
TEST(keeps_to_the_settings)
{
    static const double low[] = {0.5, 1, 0}, high[] = {3, 5, 6};
    static struct sr_seeds seeds;
    struct sr_settings s = angle_settings();
    struct table t;
    struct sr_loss loss;
    angle_table(&t, refraction, refraction_low, refraction_high);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    s.maxsize = 10;
    seeds_of(sr_angles_find, &s, &loss, 1, &seeds);
    assert_true(seeds.count > 0);
    for (int i = 0; i < seeds.count; i++)
        assert_true(seeds.expr[i].count <= 10 &&
                    (sr_expr_operators(&seeds.expr[i]) & ~sr_settings_operators(&s)) == 0);
    sr_loss_free(&loss);
    table_free(&t);
    angle_table(&t, "a * sin(t) / b", low, high);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    seeds_of(sr_angles_find, &s, &loss, 1, &seeds);
    assert_true(seeds.count == 0 && seeds.evaluations == 0);
    sr_loss_free(&loss);
    table_free(&t);
}

TESTS(NULL, NULL)
