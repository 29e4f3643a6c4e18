/* test_collapse.c - functions of one variable, and tables that collapse to one. */
#include "symreg/formulas.h"
#include "bench/symreg_same.h"
#include "seed/collapse.h"
#include "symreg/proposal.h"

/* Features over 0.5 .. 5, y of a formula times 1 + noise * Gaussian. */
static void table_of(struct table *t, size_t rows, const char *text, double noise)
{
    gsl_rng *rng = random_stream(9);
    table_uniform(t, rows, rng, text);
    for (size_t i = 0; i < rows; i++)
        t->y[i] *= 1 + noise * gsl_ran_ugaussian(rng);
    gsl_rng_free(rng);
}

/* ---- operators */

TEST(inverses_invert)
{
    static const double value[] = {0.13, 0.385, 0.77};
    int inverses = 0;
    for (int op = 0; op < SR_OPS; op++)
        for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
            double z;
            if (!sr_op_invert((enum sr_op)op, value[k], &z))
                continue;
            const double back = op == SR_CONSTANT ? z : sr_op_table[op].value(z, 0);
            assert_true(near(back, value[k], 1e-12));
            inverses++;
        }
    double z;
    assert_true(inverses >= 3 * 8); /* a new operator may have one, too */
    assert_false(sr_op_invert(SR_SIN, 0.5, &z) || sr_op_invert(SR_SQRT, -1, &z) ||
                 sr_op_invert(SR_INV, 0, &z) || sr_op_invert(SR_EXP, -1, &z));
}

/* ---- curves */

struct points {
    double x[SR_ROWS], z[SR_ROWS];
    struct sr_curve_target target;
};

static void points_of(struct points *p, const char *text)
{
    const struct sr_expr truth = formula(text);
    for (int i = 0; i < SR_ROWS; i++)
        p->x[i] = 0.5 + 4.5 * i / (SR_ROWS - 1);
    const struct sr_data data = {.rows = SR_ROWS, .features = 1, .x = p->x, .y = p->x};
    assert_true(sr_eval(&truth, &data, p->z));
    assert_true(sr_curve_unit(p->z, p->target.unit));
    p->target.deep = true;
}

/* 1 - R^2 of a f + b, from the definition. */
static double unexplained(const struct points *p, const struct sr_expr *f)
{
    double v[SR_ROWS], mean = 0, r = 0, square = 0;
    const struct sr_data data = {.rows = SR_ROWS, .features = 1, .x = p->x, .y = p->x};
    if (!sr_eval(f, &data, v))
        return 1;
    for (int i = 0; i < SR_ROWS; i++)
        mean += v[i] / SR_ROWS;
    for (int i = 0; i < SR_ROWS; i++) {
        r += (v[i] - mean) * p->target.unit[i];
        square += (v[i] - mean) * (v[i] - mean);
    }
    return 1 - r * r / square;
}

/* Of functions without constants the score is 1 - R^2. */
TEST(scores_are_right)
{
    static struct sr_curves curves;
    static struct points p;
    const struct sr_settings s = seed_settings();
    int plain = 0;
    memset(&curves, 0, sizeof curves);
    points_of(&p, "exp(-0.6 * r) + 0.1 * r");
    assert_int_equal(sr_curves_find(&s, p.x, &p.target, 1, 3e4, 0, 1, &curves), 0);
    for (int size = 1; size <= 6; size++)
        for (int k = 0; k < curves.count[0][size]; k++) {
            const struct sr_curve_found *found = &curves.found[0][size][k];
            double constant[SR_NODES];
            const double left = unexplained(&p, &found->expr);
            assert_int_equal(found->expr.count, size);
            assert_true(k == 0 || found->score >= found[-1].score);
            if (sr_expr_constants(&found->expr, constant))
                continue;
            assert_true(fabs(found->score - left) <= 1e-12);
            plain++;
        }
    assert_true(plain >= 12);
}

/* The derivatives lead from the grid to the constants: to 0.37, 2.2 and 0.6 within a quarter, and
 * what the moved function leaves is little. */
TEST(constants_move)
{
    static struct sr_curves curves;
    static struct points p;
    static const struct {
        const char *law;
        int size;
        double constant;
    } row[] = {{"3 * exp(-0.37 * r) - 2", 4, -0.37},
               {"0.6 + 5 * log(r + 2.2)", 4, 2.2},
               {"sqrt(0.6 + square(r))", 5, 0.6}};
    const struct sr_settings s = seed_settings();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        memset(&curves, 0, sizeof curves);
        points_of(&p, row[i].law);
        assert_int_equal(sr_curves_find(&s, p.x, &p.target, 1, 3e4, 0, 1, &curves), 0);
        bool found = false;
        for (int k = 0; k < curves.count[0][row[i].size] && !found; k++) {
            double constant[SR_NODES];
            const struct sr_curve_found *item = &curves.found[0][row[i].size][k];
            found = sr_expr_constants(&item->expr, constant) == 1 && item->score < 1e-4 &&
                    fabs(constant[0] / row[i].constant - 1) < 0.25 &&
                    unexplained(&p, &item->expr) < 1e-3;
        }
        if (!found)
            fail_msg("%s was not found", row[i].law);
    }
}

/* Two constants at once: the best of 8 nodes is (r + 2) exp(-0.5 r). All parts together find what
 * one part finds alone. */
TEST(parts_make_a_whole)
{
    enum { PARTS = 3 };
    static struct sr_curves part[PARTS], whole;
    static struct points p;
    const struct sr_settings s = seed_settings();
    memset(part, 0, sizeof part);
    memset(&whole, 0, sizeof whole);
    points_of(&p, "1 + 0.25 * (r + 2) * exp(-0.5 * r)");
    assert_int_equal(sr_curves_find(&s, p.x, &p.target, 1, 1e9, 0, 1, &whole), 0);
    for (int k = 0; k < PARTS; k++)
        assert_int_equal(sr_curves_find(&s, p.x, &p.target, 1, 1e9, k, PARTS, &part[k]), 0);
    for (int k = 1; k < PARTS; k++)
        sr_curves_merge(&part[0], &part[k], 1);
    for (int size = 1; size <= SR_CURVE_SIZE; size++) {
        const struct sr_curve_found *list = part[0].found[0][size], *all = whole.found[0][size];
        const int count = whole.count[0][size];
        assert_true(part[0].count[0][size] >= count);
        for (int k = 0; k < count; k++) {
            assert_true(k == 0 || list[k].score >= list[k - 1].score);
            assert_true(list[k].score <= all[k].score);
        }
        assert_true(count == 0 || list[0].score == all[0].score);
    }
    bool found = false;
    for (int k = 0; k < whole.count[0][8]; k++) {
        const struct sr_expr *expr = &whole.found[0][8][k].expr;
        uint64_t of_law = (uint64_t)1 << SR_EXP | (uint64_t)1 << SR_MUL;
        found = found || (sr_expr_operators(expr) & of_law) == of_law;
    }
    assert_true(found && whole.found[0][8][0].score < 1e-6);
}

/* ---- the stage */

static void search(struct table *t, double enumerate, int threads, struct sr_fit *fit)
{
    struct sr_settings s = seed_settings();
    s.enumerate = enumerate;
    *fit = (struct sr_fit){.data = t->data};
    assert_int_equal(sr_search(&s, fit, 1, threads, NULL), 0);
}

/* Laws beyond the pairs of pairs.c, without any epoch of islands; the same for any number of
 * threads. */
TEST(finds_collapsed_laws)
{
    static struct sr_fit one, more;
    static const char *const law[] = {
        "m1 * m2 / square(r) * (1 + 0.5 * (1 + r / 2) * exp(-0.5 * r))",
        "2.5 * r / (1 - exp(-1 * sqrt(0.8 * r)))",
        "m1 * sqrt(m2) * exp(-1.3 * log(0.4 + square(r)))",
        "r * log(1.7 + sqrt(m1 / m2))",
    };
    for (size_t k = 0; k < sizeof law / sizeof *law; k++) {
        struct table t;
        table_of(&t, 400, law[k], 0);
        search(&t, 2e5, 1, &one);
        if (k == 0)
            search(&t, 2e5, 3, &more);
        const struct sr_front *front = &one.front;
        if (!(front->loss[front->count - 1] <= 0))
            fail_msg("%s: the best is %s, loss %g", law[k], text_of(&front->expr[front->count - 1]),
                     front->loss[front->count - 1]);
        assert_int_equal(more.front.count, k ? more.front.count : front->count);
        for (int i = 0; i < front->count && k == 0; i++)
            assert_true(sr_expr_hash(&more.front.expr[i]) == sr_expr_hash(&front->expr[i]));
        table_free(&t);
    }
}

/* One feature, and values over powers of ten: no constant of the coarse grid shows the exponential
 * in 1 / y, and the curve of y itself is steep. */
TEST(finds_a_steep_curve)
{
    static struct sr_fit fit;
    struct table t;
    table_of(&t, 100, "inv(exp(1.8465 * r) - 1)", 0);
    t.data.features = 1;
    search(&t, 3e4, 1, &fit);
    bool found = false;
    for (int i = 0; i < fit.front.count; i++)
        found = found || (fit.front.expr[i].count <= 7 && fit.front.loss[i] <= 0);
    if (!found)
        fail_msg("the best is %s", text_of(&fit.front.expr[fit.front.count - 1]));
    table_free(&t);
}

/* Variables of seven nodes, without an operator for squares: two bodies under modified dynamics. */
TEST(finds_a_law_of_long_variables)
{
    const char *law = "19.7 * m1 * m2 / (r * r) * (1 + sqrt(1 + 3.04 * r * r / (m1 + m2)))";
    struct sr_settings s = seed_settings();
    struct sr_fit fit;
    struct table t;
    table_of(&t, 1000, law, 0);
    s.binary_count = 3;
    s.binary[1] = SR_MUL;
    s.binary[2] = SR_DIV;
    s.unary_count = 2;
    s.unary[0] = SR_EXP;
    s.unary[1] = SR_SQRT;
    s.maxsize = 24;
    fit = (struct sr_fit){.data = t.data};
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    const struct sr_front *front = &fit.front;
    if (!(front->loss[front->count - 1] < 1e-9))
        fail_msg("the best is %s, loss %g", text_of(&front->expr[front->count - 1]),
                 front->loss[front->count - 1]);
    table_free(&t);
}

/* With noise the law is among the seeds, its constants within a few percent. */
TEST(finds_them_in_noise)
{
    static struct sr_fit fit;
    struct table t;
    table_of(&t, 1000, "m1 * m2 * exp(-0.5 * r) / square(r)", 0.03);
    double *weight = orr_alloc(t.data.rows, sizeof *weight);
    assert_non_null(weight);
    for (size_t i = 0; i < t.data.rows; i++)
        weight[i] = 1 / (t.y[i] * t.y[i]);
    t.data.weight = weight;
    search(&t, 6e4, 2, &fit);
    bool found = false;
    const struct sr_expr truth = formula("m1 * m2 * exp(-0.5 * r) / square(r)");
    for (int i = 0; i < fit.front.count; i++) {
        const double low[FEATURES] = {0.5, 0.5, 0.5}, high[FEATURES] = {5, 5, 5};
        found = found || disagreement(&fit.front.expr[i], &truth, FEATURES, low, high, 1) < 0.03;
    }
    assert_true(found);
    free(weight);
    table_free(&t);
}

/* The number of seeds that the curves add to a bank of the table's formulas. */
static int curves_add(const struct sr_settings *s, struct sr_data *data)
{
    static struct sr_seeds seeds;
    struct sr_proposal p;
    struct sr_loss loss;
    struct sr_thread worker = {.rng = random_stream(3)};
    assert_int_equal(sr_work_init(&worker.work, data->rows, s->maxsize), 0);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, data), 0);
    assert_int_equal(sr_proposal_init(&p, sr_stages, s, &loss, &worker, 1, &seeds), 0);
    sr_enumerate_run(&p.bank.all, s->enumerate);
    assert_int_equal(run_stage(&p, sr_collapse_find), 0);
    assert_true(seeds.evaluations >= seeds.count);
    for (int i = 0; i < seeds.count; i++)
        assert_true(seeds.expr[i].count >= 1 && seeds.expr[i].count <= s->maxsize);
    sr_bank_free(&p.bank);
    sr_loss_free(&loss);
    sr_work_free(&worker.work);
    gsl_rng_free(worker.rng);
    return seeds.count;
}

/* Nothing collapses, too few rows, no product: nothing is added. */
TEST(stands_back)
{
    struct sr_settings s = seed_settings();
    struct table t;
    gsl_rng *rng = random_stream(5);
    table_of(&t, 300, "m1 / r * exp(-0.7 * m2)", 0);
    assert_true(curves_add(&s, &t.data) > 20);
    s.binary_count = 2; /* + - alone */
    assert_int_equal(curves_add(&s, &t.data), 0);
    s.binary_count = 4;
    for (size_t i = 0; i < t.data.rows; i++)
        t.y[i] = gsl_ran_ugaussian(rng);
    assert_int_equal(curves_add(&s, &t.data), 0);
    t.data.rows = 63; /* columns of 63 rows of the same array: any numbers */
    assert_int_equal(curves_add(&s, &t.data), 0);
    gsl_rng_free(rng);
    table_free(&t);
}

TESTS(NULL, NULL)
