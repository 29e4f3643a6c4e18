/* test_blocks.c - sums over blocks of rows: equations, losses and fits of a table with more rows
 * than the arrays of a fit, and standard errors and description lengths of a large table. */
#include "symreg/formulas.h"

#include "symreg/select/select.h"

enum { ROWS = 1000, PIECE = 96, PART = 60000, TIMES = 3 };

static const enum orr_symreg_loss kinds[] = {ORR_SR_L1,       ORR_SR_L2,    ORR_SR_STUDY,
                                             ORR_SR_RELATIVE, ORR_SR_HUBER, ORR_SR_LOGCOSH,
                                             ORR_SR_QUANTILE, ORR_SR_CUSTOM};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A noisy table with uneven weights, its loss, and arrays for all rows and for few. */
struct problem {
    struct table t;
    struct sr_language language;
    double *weight;
    struct sr_loss loss;
    struct sr_work all, few;
};

static void problem_create(struct problem *p, const char *truth, size_t rows, bool weighted,
                           enum orr_symreg_loss kind)
{
    const struct sr_expr expr = formula(truth);
    gsl_rng *rng = random_stream(71);
    *p = (struct problem){0};
    assert_int_equal(sr_custom_loss_define(&p->language, "(p - t)^2 + abs(p - t)"), 0);
    table_create(&p->t, rows, 72, false);
    assert_true(sr_eval(&expr, &p->t.data, p->t.y));
    p->weight = orr_alloc(rows, sizeof *p->weight);
    for (size_t i = 0; i < rows; i++) {
        p->t.y[i] += 0.3 * gsl_ran_gaussian(rng, 1);
        p->weight[i] = i % 7 ? 0.2 + 1.6 * gsl_rng_uniform(rng) : 0;
    }
    p->t.data.language = &p->language;
    p->t.data.weight = weighted ? p->weight : NULL;
    assert_int_equal(sr_loss_init_with(&p->loss, kind, 0.3, &p->t.data), 0);
    assert_int_equal(sr_work_init(&p->all, rows, 30), 0);
    assert_int_equal(sr_work_init(&p->few, PIECE, 30), 0);
    gsl_rng_free(rng);
}

static void problem_free(struct problem *p)
{
    sr_work_free(&p->all);
    sr_work_free(&p->few);
    sr_loss_free(&p->loss);
    free(p->weight);
    table_free(&p->t);
}

/* Whether sums of `size` at most agree but for the order of their additions. */
static bool agree(double a, double b, double size)
{
    return fabs(a - b) <= 1e-12 * size;
}

static void equations_agree(struct problem *p, const char *text, double scale, int more)
{
    static struct sr_equations all, few;
    const struct sr_expr expr = formula(text);
    const int n = sr_expr_constants(&expr, NULL) + more;
    /* residuals near 0, whose weights the mean of all others bounds */
    assert_true(sr_eval(&expr, &p->t.data, p->all.value));
    for (size_t i = 3; i < p->t.data.rows; i += 50)
        p->t.y[i] = scale * p->all.value[i] * (1 + 1e-9);
    assert_true(sr_constants_equations(&p->loss, &expr, scale, n, &p->all, &all));
    assert_true(sr_constants_equations(&p->loss, &expr, scale, n, &p->few, &few));
    for (int a = 0; a < n; a++) {
        double size = 0; /* of the terms of the gradient: the residuals' signs cancel */
        for (size_t i = 0; i < p->t.data.rows; i++)
            size += fabs(p->all.scratch[i] * p->all.scratch[p->t.data.rows + i] *
                         p->all.jacobian[(size_t)a * p->t.data.rows + i]);
        if (!agree(few.gradient[a], all.gradient[a], size) || few.scale[a] != all.scale[a])
            fail_msg("%s, loss %d: in blocks the gradient is %.17g of a parameter over %g; of all "
                     "rows at once it is %.17g over %g",
                     text, (int)p->loss.kind, few.gradient[a], few.scale[a], all.gradient[a],
                     all.scale[a]);
        for (int b = 0; b < n; b++)
            if (!agree(few.normal[a][b], all.normal[a][b],
                       sqrt(all.normal[a][a] * all.normal[b][b])))
                fail_msg("%s, loss %d: in blocks J^T W J [%d][%d] is %.17g, of all rows at once "
                         "it is %.17g",
                         text, (int)p->loss.kind, a, b, few.normal[a][b], all.normal[a][b]);
    }
}

/* 1,000 rows in blocks of 96, the last of 40. */
TEST(blocks_have_the_equations_of_all_rows)
{
    for (int k = 0; k < 2 * KINDS; k++) {
        struct problem p;
        problem_create(&p, "5 * exp(-0.7 * r) + 1.5 * m1 + 0.2", ROWS, k % 2, kinds[k / 2]);
        equations_agree(&p, "4 * exp(-0.6 * r) + 1.3 * m1 + 0.4", 1, 0);
        equations_agree(&p, "4 * exp(-0.6 * r) + 1.3 * m1", 1.7, 1);
        /* squares of derivatives beyond the range of numbers */
        equations_agree(&p, "(2.5e150 * r) * 1e-150 + 0.3 * m1", 1, 0);
        problem_free(&p);
    }
}

TEST(blocks_have_the_loss_of_all_rows)
{
    const struct sr_expr expr = formula("4 * exp(-0.6 * r) + 1.3 * m1");
    for (int k = 0; k < 2 * KINDS; k++) {
        struct problem p;
        double loss, residuals, sum = 0;
        problem_create(&p, "5 * exp(-0.7 * r) + 1.5 * m1 + 0.2", ROWS, k % 2, kinds[k / 2]);
        assert_true(sr_eval(&expr, &p.t.data, p.all.value));
        const double whole = sr_loss_value(&p.loss, p.all.value, 1.7);
        assert_true(sr_eval_parts(&expr, &p.loss, 1.7, PIECE, p.few.value, &loss, &residuals));
        if (!agree(loss, whole, whole))
            fail_msg("loss %d: in blocks it is %.17g, of all rows at once %.17g", (int)p.loss.kind,
                     loss, whole);
        for (size_t i = 0; i < ROWS; i++)
            sum += fabs(p.t.y[i] - 1.7 * p.all.value[i]);
        if (!agree(residuals, sum, sum))
            fail_msg("loss %d: in blocks the residuals add up to %.17g, expected %.17g",
                     (int)p.loss.kind, residuals, sum);
        const double once = sr_eval_plain(&expr, &p.loss, &p.all),
                     parts = sr_eval_plain(&expr, &p.loss, &p.few); /* which has few rows */
        if (!agree(parts, once, once))
            fail_msg("loss %d: without a scale it is %.17g in blocks, %.17g of all rows at once",
                     (int)p.loss.kind, parts, once);
        p.t.x[ROWS - 1] = -1; /* the last row of the last block */
        const struct sr_expr root = formula("sqrt(r)");
        if (sr_eval_plain(&root, &p.loss, &p.few) < HUGE_VAL)
            fail_msg("loss %d: a formula that is not finite in the last block has a loss",
                     (int)p.loss.kind);
        if (sr_eval_parts(&root, &p.loss, 1, PIECE, p.few.value, &loss, NULL))
            fail_msg("loss %d: a formula that is not finite in the last block has the loss %g",
                     (int)p.loss.kind, loss);
        problem_free(&p);
    }
}

TEST(blocks_are_fitted_and_rounded_as_all_rows)
{
    for (int k = 0; k < 2 * KINDS; k++) {
        struct problem p;
        double of_all[SR_NODES], of_few[SR_NODES];
        problem_create(&p, "5 * exp(-0.7 * r) + 1.5 * m1 + 0.2", ROWS, k % 2, kinds[k / 2]);
        struct sr_expr all = formula("4 * exp(-0.6 * r) + 1.3 * m1 + 0.4"), few = all;
        const double loss = sr_constants_fit(&p.loss, &all, false, 60, 0, NULL, &p.all),
                     found = sr_constants_fit(&p.loss, &few, false, 60, 0, NULL, &p.few);
        /* re-weighted steps end where they gain little, so rounding moves the end a little */
        if (!near(found, loss, p.loss.kind == ORR_SR_L2 ? 1e-9 : 1e-4))
            fail_msg("loss %d: a fit in blocks reaches %.12g, of all rows at once %.12g",
                     (int)p.loss.kind, found, loss);
        const int n = sr_expr_constants(&all, of_all);
        sr_expr_constants(&few, of_few);
        for (int c = 0; c < n && p.loss.kind == ORR_SR_L2; c++)
            if (!near(of_few[c], of_all[c], 1e-6))
                fail_msg("constant %d: a fit in blocks finds %.12g, of all rows at once %.12g", c,
                         of_few[c], of_all[c]);
        few = all;
        sr_snap(&p.loss, &all, &p.all);
        sr_snap(&p.loss, &few, &p.few);
        sr_expr_constants(&all, of_all);
        sr_expr_constants(&few, of_few);
        for (int c = 0; c < n; c++)
            if (of_few[c] != of_all[c])
                fail_msg("loss %d, constant %d: in blocks it is rounded to %.12g, of all rows at "
                         "once to %.12g",
                         (int)p.loss.kind, c, of_few[c], of_all[c]);
        problem_free(&p);
    }
}

/* The best constant and its loss have the bits of the scale of predictions 1. */
TEST(the_best_constant_is_the_scale_of_ones)
{
    static const size_t rows[] = {1, 2, 3, 64, 65, 501, ROWS};
    static double one[ROWS], scratch[2 * ROWS + SR_SCRATCH];
    for (size_t i = 0; i < ROWS; i++)
        one[i] = 1;
    for (int k = 0; k < 2 * KINDS; k++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            struct problem p;
            if (k % 2 && rows[r] == 1) /* the weight of row 0 is 0 */
                continue;
            problem_create(&p, "2.385 * r - 9.1 * m1", rows[r], k % 2, kinds[k / 2]);
            const double scale = sr_loss_scale(&p.loss, one, scratch);
            const double base = sr_loss_value(&p.loss, one, scale);
            if (p.loss.base != base)
                fail_msg("loss %d, %zu rows: the best constant has the loss %.17g, expected %.17g",
                         (int)p.loss.kind, rows[r], p.loss.base, base);
            problem_free(&p);
        }
}

/* Standard errors and description lengths of 60,000 rows, which are one block, and of a table that
 * has them three times: errors shrink with the root of the rows, and each constant costs half the
 * logarithm of the rows. */
TEST(a_table_three_times_tells_three_times_as_much)
{
    static struct sr_front front;
    struct table once;
    double error[2][SR_NODES], residuals[2], cost[2], unit[2], base[2];
    const struct sr_expr truth = formula("5 * exp(-0.7 * r) + 1.5 * m1"),
                         expr = formula("5.1 * exp(-0.72 * r) + 1.4 * m1");
    table_create(&once, PART, 72, false);
    gsl_rng *rng = random_stream(73);
    assert_true(sr_eval(&truth, &once.data, once.y));
    for (size_t i = 0; i < PART; i++)
        once.y[i] += 0.3 * gsl_ran_gaussian(rng, 1);
    gsl_rng_free(rng);
    struct table all;
    table_create(&all, (size_t)TIMES * PART, 72, false);
    for (size_t i = 0; i < (size_t)TIMES * PART; i++) {
        for (size_t f = 0; f < FEATURES; f++)
            all.x[f * TIMES * PART + i] = once.x[f * PART + i % PART];
        all.y[i] = once.y[i % PART];
    }
    const int n = sr_expr_constants(&expr, NULL);
    for (int k = 0; k < 2; k++) {
        const struct sr_data *data = k ? &all.data : &once.data;
        struct sr_loss loss;
        front.count = 1;
        front.expr[0] = expr;
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L1, data), 0);
        unit[k] = loss.unit;
        base[k] = loss.base;
        sr_loss_free(&loss);
        assert_int_equal(sr_constants_errors(&expr, data, 1, error[k]), 0);
        assert_int_equal(sr_front_describe(&front, data), 0);
        residuals[k] = (front.mdl[0] - front.cost[0]) / (double)data->rows;
        cost[k] = front.cost[0];
    }
    for (int c = 0; c < n; c++)
        if (!near(error[1][c] * sqrt(TIMES), error[0][c], 1e-10))
            fail_msg("constant %d: the standard error of three times the rows is %.12g, expected "
                     "%.12g",
                     c, error[1][c], error[0][c] / sqrt(TIMES));
    if (!near(residuals[1], residuals[0], 1e-10))
        fail_msg("a row of three times the rows has the length %.12g, expected %.12g", residuals[1],
                 residuals[0]);
    if (!near(cost[1], cost[0] + n * 0.5 * log(TIMES), 1e-10))
        fail_msg("the constants of three times the rows cost %.12g, expected %.12g", cost[1],
                 cost[0] + n * 0.5 * log(TIMES));
    if (unit[0] != unit[1] || !near(base[1], base[0], 1e-12))
        fail_msg("three times the rows have the typical size %.12g and the best constant's loss "
                 "%.12g, expected %.12g and %.12g",
                 unit[1], base[1], unit[0], base[0]);
    table_free(&once);
    table_free(&all);
}

TESTS(NULL, NULL)
