/* test_constants.c - losses by their definitions, the best outer scale by brute force, and the fit
 * of constants against GSL and against known optima. */
#include "symreg/formulas.h"

#include "symreg/oracle.h"
#include <float.h>

#include <gsl/gsl_sort.h>

#include "symreg/value/vec.h"

static const enum orr_symreg_loss kinds[] = {ORR_SR_L1,       ORR_SR_L2,    ORR_SR_STUDY,
                                             ORR_SR_RELATIVE, ORR_SR_HUBER, ORR_SR_LOGCOSH,
                                             ORR_SR_QUANTILE};
static const double parameters[] = {0.5, 0.5, 0.5, 0.5, 0.3, 0.4, 0.7};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The loss as symreg.h defines it, in a plain loop; unit as for relative. */
static double loss_by_hand(enum orr_symreg_loss kind, double parameter, const double *p,
                           const double *t, const double *weight, size_t n, double scale,
                           double unit)
{
    double total = 0, weights = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(scale * p[i] - t[i]), c = parameter * unit;
        const double w = weight ? weight[i] : 1;
        weights += w;
        if (kind == ORR_SR_L2)
            total += w * d * d;
        else if (kind == ORR_SR_STUDY)
            total += w * (fmax(1e-8, d) - 1e-8);
        else if (kind == ORR_SR_RELATIVE)
            total += w * d / (fabs(t[i]) > 0 ? fabs(t[i]) : unit);
        else if (kind == ORR_SR_HUBER)
            total += w * (d <= c ? d * d / 2 : c * (d - c / 2));
        else if (kind == ORR_SR_LOGCOSH) /* by two sinh: no cancellation */
            total += w * c * c * (d / c > 30 ? d / c - log(2) : log1p(2 * pow(sinh(d / c / 2), 2)));
        else if (kind == ORR_SR_QUANTILE)
            total += w * d * (scale * p[i] < t[i] ? parameter : 1 - parameter);
        else
            total += w * d;
    }
    return total / weights;
}

/* Every third row counts nothing, the others up to 2. */
static void fill_weights(gsl_rng *rng, size_t n, double *weight)
{
    for (size_t i = 0; i < n; i++)
        weight[i] = i % 3 == 1 ? 0 : 2 * gsl_rng_uniform_pos(rng);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Is x a median of |t|? Of an even number any value between the two in the middle is. */
static bool is_median_size(double x, const double *t, size_t n)
{
    double *size = orr_alloc(n, sizeof *size);
    assert_non_null(size);
    for (size_t i = 0; i < n; i++)
        size[i] = fabs(t[i]);
    qsort(size, n, sizeof *size, ascending);
    const bool is = x >= size[(n - 1) / 2] && x <= size[n / 2];
    free(size);
    return is;
}

/* t and p of random numbers over many sizes, with zeros and ties; factor is the size of t. */
static void fill_pair(gsl_rng *rng, size_t n, double factor, double *t, double *p)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = gsl_ran_gaussian(rng, 1) * exp(gsl_ran_gaussian(rng, 1));
        t[i] = factor * (2.5 * p[i] + gsl_ran_gaussian(rng, 0.3));
        if (i % 11 == 3)
            p[i] = 0;
        if (i % 13 == 5)
            t[i] = 0;
        if (i % 7 == 2) /* many ratios of 2 exactly */
            t[i] = 2 * p[i];
    }
}

static const size_t row_counts[] = {1, 2, 3, 7, 8, 9, 64, 131, 132, 133, 134, 500, 1000, 4099};
enum { COUNTS = sizeof row_counts / sizeof row_counts[0], MOST = 4099 };
static const double sizes[] = {1, 1e-5, 1e6, 1e-9};

TEST(losses_are_their_definitions)
{
    static double t[MOST], p[MOST], weight[MOST];
    gsl_rng *rng = random_stream(31);
    for (int c = 0; c < COUNTS; c++)
        for (int s = 0; s < 4; s++) {
            const size_t n = row_counts[c];
            fill_pair(rng, n, sizes[s], t, p);
            if (n == 1)
                t[0] = sizes[s];
            fill_weights(rng, n, weight);
            for (int k = 0; k < 2 * KINDS; k++) {
                const double *w = k < KINDS ? NULL : weight;
                const struct sr_data data = {.rows = n, .y = t, .weight = w};
                const enum orr_symreg_loss kind = kinds[k % KINDS];
                const double parameter = parameters[k % KINDS];
                struct sr_loss loss;
                assert_int_equal(sr_loss_init_with(&loss, kind, parameter, &data), 0);
                assert_true(loss.unit > 0 && loss.base >= 0 && loss.noise > 0);
                const double scale = sizes[s] * gsl_ran_gaussian(rng, 2);
                assert_true(n < 3 || is_median_size(loss.unit, t, n));
                const double expected = loss_by_hand(kind, parameter, p, t, w, n, scale, loss.unit);
                if (!near(sr_loss_value(&loss, p, scale), expected, 1e-12))
                    fail_msg("loss %d of %zu rows: %.17g, expected %.17g", k, n,
                             sr_loss_value(&loss, p, scale), expected);
                sr_loss_free(&loss);
            }
        }
    gsl_rng_free(rng);
}

/* Of absolute losses the optimum is one of the ratios t / p; of least squares it is in closed
 * form. No other scale may be better. */
TEST(scale_is_the_best_one)
{
    static double t[MOST], p[MOST], weight[MOST], scratch[2 * MOST + SR_SCRATCH];
    gsl_rng *rng = random_stream(32);
    for (int c = 0; c < COUNTS; c++)
        for (int s = 0; s < 4; s++) {
            const size_t n = row_counts[c];
            fill_pair(rng, n, sizes[s], t, p);
            fill_weights(rng, n, weight);
            for (int k = 0; k < 2 * KINDS; k++) {
                const double *w = k < KINDS ? NULL : weight;
                const struct sr_data data = {.rows = n, .y = t, .weight = w};
                const enum orr_symreg_loss kind = kinds[k % KINDS];
                if (kind == ORR_SR_STUDY && sizes[s] < 1e-3)
                    continue; /* the dead zone is as large as the numbers */
                struct sr_loss loss;
                assert_int_equal(sr_loss_init_with(&loss, kind, parameters[k % KINDS], &data), 0);
                const double scale = sr_loss_scale(&loss, p, scratch);
                const double found = sr_loss_value(&loss, p, scale);
                double best = sr_loss_value(&loss, p, 0);
                for (size_t i = 0; i < n && n <= 1000; i++)
                    if (p[i] != 0)
                        best = fmin(best, sr_loss_value(&loss, p, t[i] / p[i]));
                for (int e = -3; e <= 3; e++)
                    best = fmin(best, sr_loss_value(&loss, p, scale * (1 + e * 1e-3)));
                double largest = 0; /* one row is met to the rounding of its residual */
                for (size_t i = 0; i < n; i++)
                    largest = fmax(largest, fabs(t[i]));
                const double slack = (kind == ORR_SR_STUDY ? 2e-8 : 1e-13 * best) +
                                     DBL_EPSILON * DBL_EPSILON * largest * largest;
                if (!(found <= best + slack))
                    fail_msg("loss %d of %zu rows: scale %.17g leaves %.17g, the best %.17g", k, n,
                             scale, found, best);
                sr_loss_free(&loss);
            }
        }
    gsl_rng_free(rng);
}

TEST(scale_of_special_predictions)
{
    double t[5] = {1, 2, 3, 4, 5}, p[5] = {0}, scratch[10 + SR_SCRATCH];
    const struct sr_data data = {.rows = 5, .features = 0, .y = t};
    for (int k = 0; k < KINDS; k++) {
        struct sr_loss loss;
        assert_int_equal(sr_loss_init(&loss, kinds[k], &data), 0);
        assert_true(sr_loss_scale(&loss, p, scratch) == 0);
        for (int i = 0; i < 5; i++)
            p[i] = -2 * t[i];
        assert_true(sr_loss_scale(&loss, p, scratch) == -0.5);
        memset(p, 0, sizeof p);
        sr_loss_free(&loss);
    }
}

/* Base = the loss of the best constant; zero and constant targets. */
TEST(set_up_knows_the_best_constant)
{
    double t[4] = {1, 2, 6, 7}, zero[3] = {0, 0, 0}, odd[3] = {0, 0, 6};
    struct sr_data data = {.rows = 4, .features = 0, .y = t};
    struct sr_loss loss;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L1, &data), 0);
    assert_true(near(loss.base, 2.5, 1e-12)); /* any constant between 2 and 6 */
    sr_loss_free(&loss);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &data), 0);
    assert_true(near(loss.base, 6.5, 1e-12)); /* the variance */
    sr_loss_free(&loss);
    data = (struct sr_data){.rows = 3, .features = 0, .y = zero};
    for (int k = 0; k < KINDS; k++) {
        assert_int_equal(sr_loss_init(&loss, kinds[k], &data), 0);
        assert_true(loss.base == 0 && loss.unit == 1 && isfinite(sr_loss_value(&loss, t, 1)));
        sr_loss_free(&loss);
    }
    data.y = odd;
    assert_int_equal(sr_loss_init(&loss, ORR_SR_L1, &data), 0);
    assert_true(near(loss.unit, 2, 1e-12)); /* the median is 0: the mean */
    sr_loss_free(&loss);
}

TEST(weighted_median_by_sorting)
{
    static double value[MOST], weight[MOST], v[MOST], w[MOST];
    static size_t order[MOST];
    gsl_rng *rng = random_stream(33);
    for (int k = 0; k < 200; k++) {
        const size_t n = row_counts[k % COUNTS];
        double total = 0, sum = 0;
        for (size_t i = 0; i < n; i++) {
            /* ties of values; weights that are whole, so that sums are exact */
            value[i] = k % 3 == 0   ? floor(10 * gsl_rng_uniform(rng))
                       : k % 3 == 1 ? gsl_ran_gaussian(rng, 1)
                                    : exp(gsl_ran_gaussian(rng, 6));
            weight[i] = floor((k % 4 == 0 ? 2 : 1000) * gsl_rng_uniform(rng));
            total += weight[i];
        }
        if (total <= 0)
            continue;
        memcpy(v, value, sizeof v);
        memcpy(w, weight, sizeof w);
        gsl_sort_index(order, value, 1, n);
        const double found = sr_vec_quantile(sr_vec_best(), v, w, n, 0.5);
        double below = 0, above = 0;
        for (size_t i = 0; i < n; i++) {
            sum += weight[order[i]];
            below += value[i] < found ? weight[i] : 0;
            above += value[i] > found ? weight[i] : 0;
        }
        assert_true(sum >= total && sum <= total);
        if (!(below <= total / 2 && above <= total / 2))
            fail_msg("%zu pairs: %g has weight %g below and %g above of %g", n, found, below, above,
                     total);
    }
    gsl_rng_free(rng);
}

/* ---- fits */

struct problem {
    struct table t;
    struct sr_loss loss;
    struct sr_work work;
    gsl_rng *rng;
};

/* y = text, plus Gaussian noise. */
static void problem_create(struct problem *p, const char *text, size_t rows, double noise,
                           enum orr_symreg_loss kind)
{
    const struct sr_expr truth = formula(text);
    table_create(&p->t, rows, 50, false);
    p->rng = random_stream(34);
    assert_true(sr_eval(&truth, &p->t.data, p->t.y));
    for (size_t i = 0; i < rows; i++)
        p->t.y[i] += gsl_ran_gaussian(p->rng, 1) * noise;
    assert_int_equal(sr_loss_init(&p->loss, kind, &p->t.data), 0);
    assert_int_equal(sr_work_init(&p->work, rows, 30), 0);
}

static void problem_free(struct problem *p)
{
    sr_loss_free(&p->loss);
    sr_work_free(&p->work);
    gsl_rng_free(p->rng);
    table_free(&p->t);
}

static void gsl_oracle(struct sr_data *data, double c[4], double *loss)
{
    const gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf fdf = {.f = oracle_residuals, .n = data->rows, .p = 4, .params = data};
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, data->rows, 4);
    assert_non_null(work);
    gsl_vector_view start = gsl_vector_view_array(c, 4);
    int info;
    assert_int_equal(gsl_multifit_nlinear_init(&start.vector, &fdf, work), 0);
    assert_int_equal(gsl_multifit_nlinear_driver(200, 1e-12, 1e-12, 0, NULL, NULL, &info, work), 0);
    const gsl_vector *end = gsl_multifit_nlinear_position(work);
    const gsl_vector *residual = gsl_multifit_nlinear_residual(work);
    *loss = 0;
    for (size_t i = 0; i < data->rows; i++)
        *loss += gsl_vector_get(residual, i) * gsl_vector_get(residual, i) / (double)data->rows;
    for (size_t i = 0; i < 4; i++)
        c[i] = gsl_vector_get(end, i);
    gsl_multifit_nlinear_free(work);
}

TEST(least_squares_is_that_of_gsl)
{
    struct problem p;
    problem_create(&p, "5 * exp(-0.7 * r) + 1.5 * m1 + 0.2", 400, 0.3, ORR_SR_L2);
    double start[4] = {3, 0.5, 1, 0}, expected[4] = {3, 0.5, 1, 0}, found[SR_NODES], oracle;
    gsl_oracle(&p.t.data, expected, &oracle);
    struct sr_expr expr = formula("1 * exp(-(1 * r)) + 1 * m1 + 1");
    sr_expr_set_constants(&expr, start);
    const double loss = sr_constants_fit(&p.loss, &expr, false, 100, 0, p.rng, &p.work);
    assert_true(near(loss, oracle, 1e-6));
    assert_true(loss <= oracle * (1 + 1e-6));
    assert_int_equal(sr_expr_constants(&expr, found), 4);
    for (int i = 0; i < 4; i++)
        assert_true(near(found[i], expected[i], 1e-2));
    /* the loss returned is that of the formula */
    assert_true(sr_eval(&expr, &p.t.data, p.work.value));
    assert_true(near(sr_loss_value(&p.loss, p.work.value, 1), loss, 1e-12));
    problem_free(&p);
}

/* y = c * m1 has its L1 optimum at the weighted median, however wild the outliers are. */
TEST(absolute_loss_reaches_the_weighted_median)
{
    struct problem p;
    problem_create(&p, "3 * m1", 501, 0.05, ORR_SR_L1);
    for (size_t i = 0; i < 501; i += 5)
        p.t.y[i] = 1e3 * (double)(i + 1);
    double *m1 = orr_alloc(501, sizeof *m1);
    memcpy(m1, p.t.x + 501, 501 * sizeof *m1);
    const double best = sr_loss_value(&p.loss, m1, sr_loss_scale(&p.loss, m1, p.work.scratch));
    struct sr_expr expr = formula("0.5 * m1");
    double loss = sr_constants_fit(&p.loss, &expr, true, 30, 0, p.rng, &p.work);
    assert_true(loss <= best * (1 + 1e-9)); /* with the scale: exact */
    expr = formula("0.5 * m1");
    loss = sr_constants_fit(&p.loss, &expr, false, 100, 0, p.rng, &p.work);
    if (!(loss <= best * (1 + 1e-4)))
        fail_msg("loss %.9g, the best is %.9g", loss, best);
    assert_true(near(expr.node[0].value, 3, 0.03));
    free(m1);
    problem_free(&p);
}

/* A factor outside of what the constants can take is fitted along with them, whatever its size. */
TEST(outer_factors_are_fitted_along)
{
    static const double factor[] = {1, 1e-5, -1e6};
    for (int k = 0; k < 6; k++) {
        struct problem p;
        problem_create(&p, "exp(-(0.7 * r)) * sin(1.3 * m1 + 0.4)", 300, 0, ORR_SR_L2);
        for (size_t i = 0; i < 300; i++)
            p.t.y[i] *= factor[k % 3];
        sr_loss_free(&p.loss);
        assert_int_equal(sr_loss_init(&p.loss, k < 3 ? ORR_SR_L2 : ORR_SR_L1, &p.t.data), 0);
        struct sr_expr expr = formula("exp(-(0.5 * r)) * sin(1.2 * m1 + 0.5)");
        const double loss = sr_constants_fit(&p.loss, &expr, true, 40, 0, p.rng, &p.work);
        double c[SR_NODES];
        assert_int_equal(sr_expr_constants(&expr, c), 3);
        if (!near(c[0], 0.7, 1e-3) || !near(c[1], 1.3, 1e-3) || !near(c[2], 0.4, 1e-2))
            fail_msg("case %d: %s, loss %g", k, text_of(&expr), loss);
        problem_free(&p);
    }
}

/* Where every row but a fifth is exact, all absolute losses find the exact constants. */
TEST(absolute_losses_ignore_outliers)
{
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k] == ORR_SR_L2 || kinds[k] == ORR_SR_HUBER || kinds[k] == ORR_SR_LOGCOSH)
            continue;
        struct problem p;
        problem_create(&p, "39.48 * m1 * m2 * inv(r * r + 0.7)", 400, 0, kinds[k]);
        for (size_t i = 0; i < 400; i += 5)
            p.t.y[i] *= 3;
        sr_loss_free(&p.loss);
        assert_int_equal(sr_loss_init(&p.loss, kinds[k], &p.t.data), 0);
        struct sr_expr expr = formula("20 * m1 * m2 * inv(r * r + 1)");
        const double loss = sr_constants_fit(&p.loss, &expr, true, 200, 0, p.rng, &p.work);
        double c[SR_NODES];
        assert_int_equal(sr_expr_constants(&expr, c), 2);
        if (!near(c[0], 39.48, 1e-3) || !near(c[1], 0.7, 1e-2))
            fail_msg("loss %d reached %.6g with %.6g and %.6g", k, loss, c[0], c[1]);
        problem_free(&p);
    }
}

/* Never worse than before, from awkward starts; what can not be evaluated is infinite. */
TEST(fits_never_make_it_worse)
{
    for (int k = 0; k < KINDS; k++) {
        struct problem p;
        problem_create(&p, "2 * sin(1.5 * r) + m1 / (m2 + 0.5)", 129, 0.2, kinds[k]);
        gsl_rng *rng = random_stream(35);
        int better = 0, infinite = 0;
        for (int i = 0; i < 150; i++) {
            struct sr_expr expr = random_formula(rng, 3 + i % 18), before = expr;
            const bool with_scale = i % 2;
            double first = HUGE_VAL, scale = 1;
            if (sr_eval(&expr, &p.t.data, p.work.value)) {
                if (with_scale)
                    scale = sr_loss_scale(&p.loss, p.work.value, p.work.scratch);
                first = sr_loss_value(&p.loss, p.work.value, scale);
            }
            const double loss = sr_constants_fit(&p.loss, &expr, with_scale, 8, 1, p.rng, &p.work);
            if (!(first < HUGE_VAL)) {
                assert_true(loss >= HUGE_VAL || isfinite(loss));
                infinite++;
                continue;
            }
            if (!(loss <= first * (1 + 1e-9)))
                fail_msg("loss %d of %s rose from %.9g to %.9g", k, text_of(&before), first, loss);
            better += loss < 0.99 * first;
            /* the loss returned is that of the formula, its best scale included */
            assert_true(sr_eval(&expr, &p.t.data, p.work.value));
            if (with_scale)
                scale = sr_loss_scale(&p.loss, p.work.value, p.work.scratch);
            assert_true(sr_loss_value(&p.loss, p.work.value, scale) <= loss * (1 + 1e-9));
        }
        assert_true(better > 20 && infinite > 5);
        gsl_rng_free(rng);
        problem_free(&p);
    }
}

/* Derivatives by what stands inside of floor are 0. */
TEST(constants_inside_jumps_are_fitted)
{
    static const char *const law[] = {"floor(r * 0.37)", "floor(m1 * (r * 0.02 + 0.31)) + 5",
                                      "round(r * 1.7 + 0.2)", "greater(r, 7.31) + m1",
                                      "mod(r, 3.7)"},
                             *const start[] = {
                                 "floor(r * 0.3)", "floor(m1 * (r * 0.024 + 0.4)) + 4.4",
                                 "round(r * 1.9 + 0.1)", "greater(r, 9) + m1", "mod(r, 3.69)"};
    for (size_t k = 0; k < sizeof law / sizeof *law; k++) {
        struct table t;
        struct sr_loss loss;
        struct sr_work work;
        table_create(&t, 120, 41, false);
        const struct sr_expr truth = formula(law[k]);
        struct sr_expr expr = formula(start[k]);
        assert_true(sr_eval(&truth, &t.data, t.y));
        assert_int_equal(sr_loss_init(&loss, ORR_SR_L2, &t.data), 0);
        assert_int_equal(sr_work_init(&work, 120, 20), 0);
        const double before = sr_eval_plain(&expr, &loss, &work),
                     reached = sr_constants_fit(&loss, &expr, false, 30, 0, NULL, &work);
        if (!(reached <= 0.03 * before))
            fail_msg("%s: loss %g, was %g: %s", law[k], reached, before, text_of(&expr));
        sr_work_free(&work);
        sr_loss_free(&loss);
        table_free(&t);
    }
}

TESTS(NULL, NULL)
