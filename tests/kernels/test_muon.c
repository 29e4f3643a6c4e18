/* test_muon.c - the step of Muon: against the singular value decomposition in double (GSL), where
 * an odd polynomial of a matrix acts on its singular values alone; shapes, decay, threads, bf16. */
#include "test_data.h"

#include <gsl/gsl_linalg.h>

enum { COUNT = 3, SEED = 23, GAP = 16 };
static const double rate = -0.37, keep = 0.91;

static const struct shape {
    int rows, cols;
} shapes[] = {{1, 1},   {1, 37},  {37, 1},   {2, 3},    {16, 16}, {33, 65},
              {64, 64}, {96, 24}, {64, 256}, {256, 64}, {48, 64}, {64, 48}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* What `steps` of Newton-Schulz make of a singular value: the coefficients of k_muon_polynomial,
 * written down again. */
static const double coefficients[][3] = {{8.4170, -24.4880, 17.8174}, {4.1935, -3.0529, 0.5565},
                                         {4.1257, -3.0068, 0.5513},   {3.8712, -2.8337, 0.5325},
                                         {3.1402, -2.3130, 0.4756},   {2.1750, -1.5345, 0.3933},
                                         {1.8733, -1.2392, 0.3660}};
enum { ROWS = 7, MOST = 8 }; /* steps; from the seventh on they are equal */
static const double *row(int step)
{
    return coefficients[step < ROWS ? step : ROWS - 1];
}
static double polynomial(double s, int steps)
{
    for (int i = 0; i < steps; i++)
        s = row(i)[0] * s + row(i)[1] * s * s * s + row(i)[2] * pow(s, 5);
    return s;
}

struct decomposed {
    gsl_matrix *u, *v; /* (rows, n), (cols, n) with n the smaller */
    gsl_vector *s;
};

static struct decomposed decompose(const real *x, struct shape z)
{
    const bool wide = z.cols > z.rows;
    const size_t most = (size_t)(wide ? z.cols : z.rows), n = (size_t)(wide ? z.rows : z.cols);
    gsl_matrix *u = gsl_matrix_alloc(most, n), *v = gsl_matrix_alloc(n, n);
    gsl_vector *s = gsl_vector_alloc(n);
    for (size_t i = 0; i < most; i++)
        for (size_t j = 0; j < n; j++)
            gsl_matrix_set(u, i, j, (double)(wide ? x[j * most + i] : x[i * n + j]));
    assert_int_equal(gsl_linalg_SV_decomp_jacobi(u, v, s), 0);
    return wide ? (struct decomposed){v, u, s} : (struct decomposed){u, v, s};
}

static void release(struct decomposed *d)
{
    gsl_matrix_free(d->u);
    gsl_matrix_free(d->v);
    gsl_vector_free(d->s);
}

/* Entry (i, j) of U f(s) V^T */
static double entry(const struct decomposed *d, const double *f, size_t i, size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < d->s->size; k++)
        sum += gsl_matrix_get(d->u, i, k) * f[k] * gsl_matrix_get(d->v, j, k);
    return sum;
}

struct problem {
    struct shape z;
    size_t n, total, at[COUNT];
    real *param, *update; /* (total); numbers between the matrices stay */
};

static struct problem problem_of(struct shape z)
{
    struct problem p = {.z = z, .n = (size_t)z.rows * (size_t)z.cols};
    struct stream s = {SEED, 0};
    p.total = COUNT * (p.n + GAP);
    p.param = calloc(p.total, sizeof *p.param);
    p.update = calloc(p.total, sizeof *p.update);
    assert_true(p.param && p.update);
    for (int m = 0; m < COUNT; m++)
        p.at[m] = (size_t)m * (p.n + GAP);
    for (size_t i = 0; i < p.total; i++) {
        p.param[i] = (real)bell(&s, 1);
        p.update[i] =
            (real)bell(&s, i < p.n ? 1e-12 : 3); /* of any size: the norm is divided out */
    }
    return p;
}

static void problem_free(struct problem *p)
{
    free(p->param);
    free(p->update);
}

static void run(const struct k_ops *ops, struct problem *p, int steps)
{
    const struct k_muon k = {COUNT, p->z.rows, p->z.cols, p->at, steps, rate, keep};
    assert_int_equal(ops->muon(p->param, p->update, &k), 0);
}

/* The largest factor by which an error of the first step is multiplied in the later ones. */
static double slope(int steps)
{
    double product = 1;
    for (int i = 0; i < steps; i++)
        product *= row(i)[0];
    return product;
}

/* The largest error of the result against the decomposition. */
static double error_of(const struct problem *start, const struct problem *end, int steps)
{
    double worst = 0;
    for (int m = 0; m < COUNT; m++) {
        struct decomposed d = decompose(start->update + start->at[m], start->z);
        const size_t n = d.s->size, cols = (size_t)start->z.cols;
        double *f = calloc(n, sizeof *f), squares = 0;
        assert_non_null(f);
        for (size_t k = 0; k < n; k++)
            squares += pow(gsl_vector_get(d.s, k), 2);
        for (size_t k = 0; k < n; k++)
            f[k] = polynomial(gsl_vector_get(d.s, k) / sqrt(squares), steps);
        for (size_t i = 0; i < start->n; i++) {
            const double expected = keep * (double)start->param[start->at[m] + i] -
                                    rate * entry(&d, f, i / cols, i % cols);
            const double error = fabs((double)end->param[end->at[m] + i] - expected);
            worst = error > worst ? error : worst;
        }
        free(f);
        release(&d);
    }
    for (size_t i = 0; i < start->total; i++)
        if (i % (start->n + GAP) >= start->n &&
            memcmp(&start->param[i], &end->param[i], sizeof(real)))
            fail_msg("a number between two matrices was changed");
    return worst;
}

static void check(const struct k_ops *ops, struct shape z, int steps, double tolerance)
{
    struct problem start = problem_of(z), end = problem_of(z);
    run(ops, &end, steps);
    const double error = error_of(&start, &end, steps);
    if (!(error <= tolerance))
        fail_msg("%s, (%d, %d), %d steps: the update is off by %.3g, allowed %.3g", ops->name,
                 z.rows, z.cols, steps, error, tolerance);
    problem_free(&start);
    problem_free(&end);
}

/* 5 epsilon of a float in the first step, amplified. ref computes in double and rounds once. */
TEST(update_agrees_with_the_singular_value_decomposition)
{
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        assert_int_equal((*ops)->open(2, K_PRECISION_FP32), 0);
        for (int i = 0; i < SHAPES; i++)
            for (int steps = 1; steps <= MOST; steps++)
                check(*ops, shapes[i], steps, *ops == &k_ref ? 5e-7 : slope(steps) * 5 * 0x1p-24);
        (*ops)->close();
    }
}

/* Inputs of products with 8 bits: 2^-9 of an error, amplified; independent errors partly cancel. */
TEST(bf16_rounds_inputs_of_products)
{
    assert_int_equal(k_cpu()->open(2, K_PRECISION_BF16), 0);
    for (int i = 0; i < SHAPES; i++)
        check(k_cpu(), shapes[i], 4, 0.1);
    k_cpu()->close();
}

TEST(results_do_not_depend_on_threads)
{
    for (int precision = K_PRECISION_FP32; precision <= K_PRECISION_BF16; precision++)
        for (int i = 0; i < SHAPES; i++) {
            struct problem one = problem_of(shapes[i]), two = problem_of(shapes[i]);
            assert_int_equal(k_cpu()->open(1, (enum k_precision)precision), 0);
            run(k_cpu(), &one, 4);
            assert_int_equal(k_cpu()->open(2, (enum k_precision)precision), 0);
            run(k_cpu(), &two, 4);
            if (memcmp(one.param, two.param, one.total * sizeof(real)))
                fail_msg("(%d, %d): other bits with two threads", shapes[i].rows, shapes[i].cols);
            problem_free(&one);
            problem_free(&two);
        }
    k_cpu()->close();
}

/* Six steps bring the singular values of a well-conditioned matrix into the known band, with the
 * singular vectors as they were: the result is near to U V^T. */
TEST(well_conditioned_matrices_become_nearly_orthogonal)
{
    const struct shape z = {24, 40};
    const size_t at[1] = {0}, n = 24 * 40;
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        struct stream s = {SEED, 7};
        real x[24 * 40], o[24 * 40] = {0}, work[24 * 40];
        for (size_t i = 0; i < n; i++)
            x[i] = work[i] = (real)bell(&s, 5);
        const struct k_muon k = {1, z.rows, z.cols, at, 6, -1, 0};
        assert_int_equal((*ops)->open(2, K_PRECISION_FP32), 0);
        assert_int_equal((*ops)->muon(o, work, &k), 0);
        struct decomposed in = decompose(x, z), out = decompose(o, z);
        double ones[24], off = 0;
        for (size_t i = 0; i < 24; i++) {
            const double value = gsl_vector_get(out.s, i);
            ones[i] = 1;
            if (!(value > 0.91 && value < 1.09))
                fail_msg("%s: a singular value of %.4g", (*ops)->name, value);
        }
        for (size_t i = 0; i < n; i++)
            off += pow((double)o[i] - entry(&in, ones, i / 40, i % 40), 2);
        if (!(off < 24 * 0.09 * 0.09)) /* no singular value is further from 1 */
            fail_msg("%s: %.3g away from U V^T", (*ops)->name, sqrt(off));
        release(&in);
        release(&out);
        (*ops)->close();
    }
}

/* A matrix of low rank, from the second number of the stream on: the sum of outer products. */
static void of_rank(int rank, struct shape z, real *x)
{
    const size_t n = (size_t)z.rows * (size_t)z.cols;
    struct stream s = {SEED, 11};
    double *u = calloc((size_t)(z.rows + z.cols), sizeof *u);
    assert_non_null(u);
    memset(x, 0, n * sizeof *x);
    for (int k = 0; k < rank; k++) {
        for (int i = 0; i < z.rows + z.cols; i++)
            u[i] = bell(&s, 1);
        for (size_t i = 0; i < n; i++)
            x[i] += (real)(u[i / (size_t)z.cols] * u[(size_t)z.rows + i % (size_t)z.cols]);
    }
    free(u);
}

/* Rounding errors where a matrix has no singular values stay small: the result is near to that of
 * ref, which rounds once. (Many steps more make anything orthogonal, rounding errors, too.) */
TEST(matrices_of_low_rank)
{
    static const int ranks[] = {1, 8}, steps[] = {1, 4, 5, 8};
    const size_t at[1] = {0};
    for (int i = 0; i < SHAPES; i++)
        for (int r = 0; r < 2; r++)
            for (int k = 0; k < 4; k++) {
                const struct shape z = shapes[i];
                const size_t n = (size_t)z.rows * (size_t)z.cols;
                const struct k_muon of = {1, z.rows, z.cols, at, steps[k], -1, 0};
                const struct k_ops *const ops[2] = {&k_ref, k_cpu()};
                real *x = calloc(n, sizeof *x), *o[2];
                double most = 0, worst = 0;
                for (int which = 0; which < 2; which++) {
                    o[which] = calloc(n, sizeof *o[which]);
                    assert_true(x && o[which]);
                    of_rank(ranks[r], z, x);
                    assert_int_equal(ops[which]->open(1, K_PRECISION_FP32), 0);
                    assert_int_equal(ops[which]->muon(o[which], x, &of), 0);
                    ops[which]->close();
                }
                for (size_t j = 0; j < n; j++) {
                    most = fmax(most, fabs((double)o[0][j]));
                    worst = fmax(worst, fabs((double)o[0][j] - (double)o[1][j]));
                }
                if (!(worst <= 0.03 * most))
                    fail_msg("(%d, %d) of rank %d, %d steps: %.3g off, the largest is %.3g", z.rows,
                             z.cols, ranks[r], steps[k], worst, most);
                free(x);
                free(o[0]);
                free(o[1]);
            }
}

TEST(zeros_stay_zeros_and_weights_decay)
{
    const size_t at[1] = {0};
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        real w[6] = {1, -2, 3, 4, 5, 6}, x[6] = {0};
        const struct k_muon k = {1, 2, 3, at, 5, 7, 0.5};
        assert_int_equal((*ops)->open(1, K_PRECISION_FP32), 0);
        assert_int_equal((*ops)->muon(w, x, &k), 0);
        assert_true(w[0] == 0.5f && w[1] == -1 && w[5] == 3);
        (*ops)->close();
    }
}

TESTS(NULL, NULL)
