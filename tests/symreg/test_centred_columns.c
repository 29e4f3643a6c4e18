/* test_centred_columns.c - formulas of columns far from 0, counted from the middle of the rows:
 * equal values, and description lengths that do not depend on where a column has its 0. */
#include "symreg/formulas.h"

#include <gsl/gsl_math.h>

enum { ROWS = 60 };
static const double far_from[] = {0, 1997, -657.3, 2459015.25, 1.7e9};
enum { ZEROS = sizeof far_from / sizeof *far_from };

/* Rows r = zero + d, with d from -20 to 20 or, for zero = 0, columns that are not far. */
static void make_rows(struct table *t, double zero, double *noise)
{
    gsl_rng *rng = random_stream(3);
    table_create(t, ROWS, 4, false);
    for (int i = 0; i < ROWS; i++) {
        /* exact in binary, also with 1.7e9 in front */
        t->x[i] = zero + floor(64 * (40 * gsl_rng_uniform(rng) - 20)) / 64;
        noise[i] = gsl_ran_gaussian(rng, 1);
    }
    gsl_rng_free(rng);
}

/* The same function of r - zero, written with numbers that contain zero. */
struct form {
    const char *format; /* of `numbers` numbers */
    int numbers;
    double offset[3], by_zero[3]; /* number = offset + by_zero * zero */
};
static const struct form forms[] = {
    {"exp((%.17g - r) / 8.02)", 1, {31.7}, {1}},
    {"exp(%.17g - r * 0.1247)", 1, {3.81}, {0.1247}},
    {"m1 + 3 * square(r - %.17g)", 1, {2.3}, {1}},
    {"5.6 * sin(0.556 * (r - %.17g)) + 11", 1, {0.7}, {1}},
    {"6.2 / (square(r - %.17g) + 5.1)", 1, {-1.7}, {1}},
    {"0.31 * r - %.17g", 1, {2.6}, {0.31}},
};
enum { FORMS = sizeof forms / sizeof *forms };

static struct sr_expr form_at(const struct form *f, double zero)
{
    char text[256];
    snprintf(text, sizeof text, f->format, f->offset[0] + f->by_zero[0] * zero);
    return formula(text);
}

TEST(values_stay_and_columns_near_zero_are_left_alone)
{
    double noise[ROWS], before[ROWS], after[ROWS];
    for (int k = 0; k < FORMS; k++)
        for (int z = 0; z < ZEROS; z++) {
            struct table t;
            struct sr_expr centred;
            int phases;
            make_rows(&t, far_from[z], noise);
            const struct sr_expr expr = form_at(&forms[k], far_from[z]);
            if (sr_from_middle(&expr, &t.data, &centred, &phases) != (far_from[z] != 0))
                fail_msg("%s at %g is taken for one of columns on the wrong side", text_of(&expr),
                         far_from[z]);
            if ((centred.count > expr.count) != (far_from[z] != 0))
                fail_msg("%s at %g does not count from the middle", text_of(&expr), far_from[z]);
            assert_int_equal(phases, 0);
            assert_true(sr_eval(&expr, &t.data, before) && sr_eval(&centred, &t.data, after));
            for (int i = 0; i < ROWS; i++)
                if (fabs(after[i] - before[i]) >
                    1e-14 * (1e3 + fabs(far_from[z])) * (1 + fabs(before[i])) * 100)
                    fail_msg("%s became %s: %g in place of %g", text_of(&expr), text_of(&centred),
                             after[i], before[i]);
            table_free(&t);
        }
}

/* Nats of a formula besides those of its residuals. */
static double cost_of(const struct sr_expr *expr, const struct sr_data *data)
{
    static struct sr_front front;
    front = (struct sr_front){.count = 1, .expr[0] = *expr};
    assert_int_equal(sr_front_describe(&front, data), 0);
    return front.cost[0];
}

/* Fills y with the formula and 1% of noise. */
static void fill_target(struct table *t, const struct sr_expr *expr, const double *noise)
{
    double mean = 0;
    assert_true(sr_eval(expr, &t->data, t->y));
    for (int i = 0; i < ROWS; i++)
        mean += fabs(t->y[i]) / ROWS;
    for (int i = 0; i < ROWS; i++)
        t->y[i] += 0.01 * mean * noise[i];
}

TEST(description_lengths_do_not_depend_on_where_zero_is)
{
    double noise[ROWS];
    for (int k = 0; k < FORMS; k++) {
        double first = NAN;
        for (int z = 1; z < ZEROS; z++) {
            struct table t;
            make_rows(&t, far_from[z], noise);
            const struct sr_expr expr = form_at(&forms[k], far_from[z]);
            fill_target(&t, &expr, noise);
            const double cost = cost_of(&expr, &t.data);
            if (z == 1)
                first = cost;
            if (!(fabs(cost - first) < 1e-2)) /* the middle is that of the rows, to rounding */
                fail_msg("%s: %g nats at %g, %g at %g", text_of(&expr), first, far_from[1], cost,
                         far_from[z]);
            table_free(&t);
        }
    }
}

/* exp((c - r) / 8) of a target in other units has another c, which is no other law. */
TEST(description_lengths_do_not_depend_on_the_unit_of_the_target)
{
    double noise[ROWS], cost[3];
    for (int k = 0; k < 2; k++) {
        for (int u = 0; u < 3; u++) {
            struct table t;
            make_rows(&t, far_from[3], noise);
            struct form f = forms[k];
            f.offset[0] += (k ? 1 : 8.02) * log(10) * (20 * u - 20);
            const struct sr_expr expr = form_at(&f, far_from[3]);
            fill_target(&t, &expr, noise);
            cost[u] = cost_of(&expr, &t.data);
            table_free(&t);
        }
        if (!(fabs(cost[1] - cost[0]) < 1e-2) || !(fabs(cost[2] - cost[0]) < 1e-2))
            fail_msg("%s: %g, %g and %g nats in units of 1e20, 1 and 1e-20", forms[k].format,
                     cost[0], cost[1], cost[2]);
    }
}

/* a exp(s r) costs what exp(s (r - c)) costs but for its form, whatever a is. */
TEST(the_factor_of_an_exponential_counts_from_the_middle)
{
    static const char *const format[] = {"%.17g * exp(0.21 * r)", "exp(r / 4.7) / %.17g",
                                         "%.17g / exp(r * -0.21)"};
    static const double slope[] = {0.21, 1 / 4.7, 0.21}, sign[] = {-1, 1, -1};
    static const double zero[] = {300, 1997};
    double noise[ROWS];
    char text[128];
    for (int k = 0; k < 3; k++) {
        double cost[2];
        for (int z = 0; z < 2; z++) {
            struct table t;
            make_rows(&t, zero[z], noise);
            snprintf(text, sizeof text, format[k],
                     exp(sign[k] * slope[k] * zero[z] + sign[k] * log(0.37)));
            const struct sr_expr expr = formula(text);
            fill_target(&t, &expr, noise);
            cost[z] = cost_of(&expr, &t.data);
            table_free(&t);
        }
        if (!(fabs(cost[1] - cost[0]) < 1e-2))
            fail_msg("%s: %g nats at %g, %g at %g", text, cost[0], zero[0], cost[1], zero[1]);
    }
}

/* A sine without a phase of Julian dates has its phase in the last digits of its frequency. */
TEST(a_wave_without_a_phase_costs_one)
{
    const double zero = 2459015.25, w = 0.5562;
    double noise[ROWS];
    char text[2][128];
    struct table t;
    make_rows(&t, zero, noise);
    snprintf(text[0], sizeof text[0], "5.6 * sin(%.17g * r)", w);
    const struct sr_expr locked = formula(text[0]);
    fill_target(&t, &locked, noise);
    struct sr_expr with_phase;
    int phases;
    assert_true(sr_from_middle(&locked, &t.data, &with_phase, &phases));
    assert_int_equal(phases, 1);
    assert_int_equal(sr_expr_constants(&with_phase, NULL), 3);
    snprintf(text[1], sizeof text[1], "5.6 * sin(%.17g * (r - %.17g))", w,
             zero - remainder(w * zero, 2 * M_PI) / w);
    const struct sr_expr free = formula(text[1]);
    const double own = cost_of(&locked, &t.data), other = cost_of(&free, &t.data);
    if (!(fabs(own - other) < 3))
        fail_msg("without a phase %g nats, with one %g", own, other);
    table_free(&t);
}

TESTS(NULL, NULL)
