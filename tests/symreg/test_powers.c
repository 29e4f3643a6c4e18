/* test_powers.c - sums of products of powers with free exponents, of which one is small. */
#include "symreg/proposal.h"
#include "bench/symreg_same.h"
#include "seed/powers.h"

enum { ROWS = 400, FITTED = 64 };

static struct sr_settings default_settings(void)
{
    struct sr_settings s = seed_settings();
    s.binary[s.binary_count++] = SR_POW;
    s.maxsize = 30;
    return s;
}

enum columns { POSITIVE, SIGNED_M2, ANGLE_R };

/* r, m1, m2 log-uniform over two decades around 1; m2 of both signs, or r over 0 .. 3; y of a
 * law. */
static struct sr_expr decades(struct table *t, const char *law, enum columns how)
{
    const struct sr_expr expr = formula(law);
    gsl_rng *rng = random_stream(31);
    table_create(t, ROWS, 4, false);
    for (size_t i = 0; i < FEATURES * ROWS; i++)
        t->x[i] = pow(10, 2 * gsl_rng_uniform(rng) - 1);
    for (size_t i = 2 * ROWS; i < FEATURES * ROWS && how == SIGNED_M2; i += 2)
        t->x[i] *= -1;
    for (size_t i = 0; i < ROWS && how == ANGLE_R; i++)
        t->x[i] = 3 * gsl_rng_uniform(rng);
    assert_true(sr_eval(&expr, &t->data, t->y));
    gsl_rng_free(rng);
    return expr;
}

/* How many seeds of the stage are the law. */
static int laws_found(const char *law, enum columns how, struct sr_settings s, int threads,
                      struct sr_seeds *seeds)
{
    static const double low[] = {0.1, 0.1, 0.1}, high[] = {10, 10, 10};
    struct table t;
    struct sr_loss loss;
    struct sr_work work;
    int found = 0;
    const struct sr_expr expr = decades(&t, law, how);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    seeds_of(sr_powers_find, &s, &loss, threads, seeds);
    assert_int_equal(sr_work_init(&work, ROWS, SR_NODES), 0);
    for (int i = 0; i < seeds->count; i++) {
        struct sr_expr whole = seeds->expr[i];
        double scale;
        assert_true(whole.count <= s.maxsize);
        sr_eval_loss(&whole, &loss, &work, &scale);
        found +=
            sr_expr_scale(&whole, scale) && equivalent(&whole, &expr, FEATURES, low, high, 1e-6);
    }
    sr_work_free(&work);
    sr_loss_free(&loss);
    table_free(&t);
    return found;
}

/* ---- the fit */

struct numbers {
    double log[2][SR_POWER_ROWS], sign[2][SR_POWER_ROWS], z[SR_POWER_ROWS], weight[SR_POWER_ROWS];
    struct sr_power_table table;
};

/* z = 2.385 x^1.7 / y - 0.3 x^-0.6 y^2 and something that is neither. */
static void make_numbers(struct numbers *n, double other)
{
    gsl_rng *rng = random_stream(32);
    for (int i = 0; i < FITTED; i++) {
        const double x = 0.5 + 3 * gsl_rng_uniform(rng), y = 0.5 + 3 * gsl_rng_uniform(rng);
        n->sign[0][i] = n->sign[1][i] = 1;
        n->log[0][i] = log(x);
        n->log[1][i] = log(y);
        n->z[i] = 2.385 * pow(x, 1.7) / y - 0.3 * pow(x, -0.6) * y * y + other * sin(3 * x + y);
        n->weight[i] = 0.5 + gsl_rng_uniform(rng);
    }
    n->table = (struct sr_power_table){.rows = FITTED,
                                       .columns = 2,
                                       .log = n->log[0],
                                       .sign = n->sign[0],
                                       .z = n->z,
                                       .weight = n->weight,
                                       .extras = 1};
    gsl_rng_free(rng);
}

/* The slopes are the derivatives of the sum of squares that is left when the weights are fitted
 * anew at every exponent. */
TEST(slopes_are_derivatives)
{
    static struct numbers n;
    static struct sr_power_work w;
    struct sr_power_sum sum = {.terms = 2, .exponent = {{1.5, -0.8}, {-0.4, 1.6}}};
    double all = 0;
    make_numbers(&n, 0.5);
    for (int i = 0; i < FITTED; i++)
        all += n.weight[i] * n.z[i] * n.weight[i] * n.z[i];
    sum.held = 2; /* the exponent of y in the first term */
    assert_true(sr_power_weigh(&n.table, &sum, &w));
    sr_power_slopes(&n.table, &sum, &w);
    assert_int_equal(w.free, 3);
    for (int k = 0; k < w.free; k++) {
        const double h = 1e-5;
        double rest[2];
        for (int side = 0; side < 2; side++) {
            static struct sr_power_work other;
            struct sr_power_sum moved = sum;
            moved.exponent[w.place[k] / SR_POWER_COLUMNS][w.place[k] % SR_POWER_COLUMNS] +=
                side ? h : -h;
            assert_true(sr_power_weigh(&n.table, &moved, &other));
            rest[side] = moved.rest * all;
        }
        /* the error of central differences is h^2, and that of rounding 1e-16 / h */
        assert_true(near(-2 * w.gradient[k], (rest[1] - rest[0]) / (2 * h), 1e-6));
        assert_true(fabs(w.gradient[k]) > 0.01);
    }
}

/* Exponents and weights from a start nearby; rounding holds -1 and 2, and leaves 1.7 and -0.6. */
TEST(exponents_are_fitted_and_rounded)
{
    static struct numbers n;
    static struct sr_power_work w;
    static const double truth[2][2] = {{1.7, -1}, {-0.6, 2}};
    struct sr_power_sum sum = {.terms = 2, .exponent = {{1.2, -0.5}, {0, 1}}};
    make_numbers(&n, 0);
    sr_power_fit(&n.table, 60, &sum, &w);
    sr_power_round(&n.table, &sum, &w);
    assert_true(sum.rest < 1e-24);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            assert_true(near(sum.exponent[i][j], truth[i][j], 1e-9));
    assert_true(sum.exponent[0][1] == -1 && sum.exponent[1][1] == 2);
    assert_true(near(sum.weight[1], 2.385, 1e-8) && near(sum.weight[2], -0.3, 1e-8));
    assert_true(fabs(sum.weight[0]) < 1e-8);
}

/* ---- the stage */

TEST(finds_small_terms)
{
    static const char *const law[] = {
        "100*m1/r - (m2/(2*r))^2",
        "r^3.4 + 0.004*r^0.5/m1 - 0.02*r^(-1.7)*m2",
        "(200*m1/r + 0.03*m2^2)^1.5",
        "m1^1.8*exp(0 - (r*m2)^1.5/50)",
        "log(4*m1^2/r + 0.05*m2^3)",
        "(m1/r^2 + 0.001*m2^2*r)^(-0.8)", /* a power that is tried at no fixed value */
    };
    static struct sr_seeds seeds;
    for (size_t k = 0; k < sizeof law / sizeof *law; k++)
        if (!laws_found(law[k], POSITIVE, default_settings(), 1, &seeds))
            fail_msg("%s is not among %d seeds", law[k], seeds.count);
}

/* Whole powers of a column of both signs. */
TEST(signed_columns_have_whole_powers)
{
    static struct sr_seeds seeds;
    assert_true(laws_found("3*r^1.4/m1 + 0.01*m2^3", SIGNED_M2, default_settings(), 1, &seeds) > 0);
    assert_true(laws_found("3*r^1.4*m2 + 0.01*m2^2/m1", SIGNED_M2, default_settings(), 1, &seeds) >
                0);
}

/* A column that may be an angle is its cosine and sine, too, where they are among the operators. */
TEST(finds_laws_of_cosines)
{
    static struct sr_seeds seeds;
    const char *law = "sqrt(m1^2 + m2^2 - 2*m1*m2*cos(r))";
    struct sr_settings s = default_settings();
    s.unary[s.unary_count++] = SR_COS;
    assert_true(laws_found(law, ANGLE_R, s, 1, &seeds) > 0);
    for (int i = 0; i < seeds.count; i++)
        assert_true(!(sr_expr_operators(&seeds.expr[i]) >> SR_SIN & 1));
    s.unary[s.unary_count++] = SR_SIN;
    assert_true(laws_found("m1*sin(r)^2 + m2^1.5/100", ANGLE_R, s, 1, &seeds) > 0);
    assert_true(laws_found("3*m1^1.4*cos(r) - 0.01*m2^2", ANGLE_R, s, 1, &seeds) > 0);
}

TEST(obeys_operators_and_size)
{
    static struct sr_seeds seeds;
    const char *law = "100*m1/r - (m2/(2*r))^2";
    struct sr_settings s = default_settings();
    s.binary_count--;  /* without ^ */
    s.unary_count = 1; /* inv */
    assert_true(laws_found(law, POSITIVE, s, 1, &seeds) > 0);
    const uint64_t allowed = sr_settings_operators(&s);
    for (int i = 0; i < seeds.count; i++)
        assert_true((sr_expr_operators(&seeds.expr[i]) & ~allowed) == 0);
    s.maxsize = 7;
    assert_int_equal(laws_found(law, POSITIVE, s, 1, &seeds), 0);
    s = default_settings();
    s.binary[3] = SR_POW; /* no quotients */
    assert_int_equal(laws_found(law, POSITIVE, s, 1, &seeds), 0);
    assert_int_equal(seeds.count, 0);
}

/* Where the terms, each with its own powers, leave no room for the outer factor of the front. */
TEST(long_sums_share_their_common_factor)
{
    static struct sr_seeds seeds;
    struct sr_settings s = default_settings();
    int admitted = 0;
    s.unary[s.unary_count++] = SR_SQUARE;
    s.maxsize = 15;
    assert_true(laws_found("r^2*m1*m2*(1 + 0.01*m2^2)", POSITIVE, s, 1, &seeds) > 0);
    for (int i = 0; i < seeds.count; i++)
        admitted += seeds.loss[i] < 1e-12 && seeds.expr[i].count + 2 <= s.maxsize;
    assert_true(admitted > 0);
}

/* A seed that the front cannot write with its outer factor is lost, so it ends no stages. */
TEST(seeds_without_room_for_their_factor_end_no_search)
{
    static struct sr_seeds seeds;
    const struct sr_expr law = formula("r^2*m1*m2");
    struct sr_settings s = default_settings();
    struct sr_loss loss;
    struct sr_proposal p;
    struct table t;
    decades(&t, "3*r^2*m1*m2", POSITIVE);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
    for (int room = 0; room < 4; room++) {
        s.maxsize = law.count + room;
        assert_int_equal(sr_proposal_init(&p, sr_stages, &s, &loss, NULL, 1, &seeds), 0);
        seeds.count = 1;
        seeds.loss[0] = 0;
        seeds.expr[0] = law;
        assert_int_equal(sr_proposal_over(&p), room >= 2);
        p.derived = true; /* whose factor is free */
        assert_true(sr_proposal_over(&p));
        sr_bank_free(&p.bank);
    }
    sr_loss_free(&loss);
    table_free(&t);
}

TEST(threads_do_not_matter)
{
    static struct sr_seeds one, three;
    const char *law = "sqrt(r^3 + 0.01*m1^1.2/m2) ";
    struct sr_settings s = default_settings();
    s.unary[s.unary_count++] = SR_COS;
    laws_found(law, ANGLE_R, s, 1, &one);
    laws_found(law, ANGLE_R, s, 3, &three);
    assert_int_equal(one.count, three.count);
    assert_true(one.count > 0);
    for (int i = 0; i < one.count; i++) {
        assert_true(sr_expr_hash(&one.expr[i]) == sr_expr_hash(&three.expr[i]));
        assert_true(one.loss[i] == three.loss[i]);
    }
}

#define OP(name) ((uint64_t)1 << SR_##name)

/* A reciprocal is inv(), or 1 / x where there is none; NULL: it cannot be written. */
TEST(products_are_written_with_the_operators_that_there_are)
{
    static const struct {
        uint64_t operators;
        int half[2];
        const char *text;
    } trial[] = {
        {OP(DIV), {-2, 0}, "(1 / r)"},
        {OP(DIV) | OP(INV), {-2, 0}, "inv(r)"},
        {OP(DIV) | OP(SQRT), {2, -1}, "(r / sqrt(m1))"},
        {OP(MUL) | OP(DIV) | OP(SQRT), {3, 2}, "((r * sqrt(r)) * m1)"},
        {OP(MUL), {2, -1}, NULL},
        {OP(SQRT), {-2, 0}, NULL},
    };
    for (size_t k = 0; k < sizeof trial / sizeof *trial; k++) {
        struct sr_powers powers = {{trial[k].half[0], trial[k].half[1]}};
        struct sr_expr expr;
        char text[SR_TEXT] = "";
        const bool written = sr_powers_write(NULL, trial[k].operators, &powers, &expr);
        if (written)
            sr_expr_print(NULL, &expr, feature_name, text, sizeof text);
        if (written != (trial[k].text != NULL) || (written && strcmp(text, trial[k].text) != 0))
            fail_msg("product %zu: expected %s, found %s", k,
                     trial[k].text ? trial[k].text : "no formula", written ? text : "none");
    }
}

TESTS(NULL, NULL)
