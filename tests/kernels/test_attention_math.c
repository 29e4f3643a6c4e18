/* test_attention_math.c - rows of every line of the table by the functions that host and device
 * share, in pieces as a kernel has them, against the reference: weights, silence, gradients. */
#include "test_data.h"

#include "attention_math.h"
#include "phi.h"
#include "kernels/ref/row.h"

enum { N = 70, PIECE = 16, PARTS = 2 };

struct row {
    struct k_attention_shape shape;
    int n;
    float s[N], dA[N]; /* given */
    float A[N], ds[N]; /* found */
    float slope[N], steepness[N], x[N], w[N];
    bool degenerate;
};

/* Sums of the columns that are `part` of every piece, piece by piece, as a thread has them. */
static struct k_math_sums part_sums(const struct k_math_rule *rule, struct row *row, int part)
{
    struct k_math_sums sums = k_math_sums_none();
    for (int first = 0; first < row->n; first += PIECE) {
        const int end = first + PIECE < row->n ? first + PIECE : row->n;
        float top = -INFINITY, slope;
        for (int j = first + part; j < end; j += PARTS)
            top = fmaxf(top, row->s[j]);
        if (rule->needs_top)
            k_math_sums_raise(rule, &sums, top);
        for (int j = first + part; j < end; j += PARTS) {
            const float x = k_math_phi(rule, rule->phi, row->s[j], k_math_top(rule, &sums), &slope);
            sums.sum += fabsf(x);
            sums.largest = fmaxf(sums.largest, x);
        }
    }
    return sums;
}

static void run_row(struct row *row)
{
    const struct k_attention_shape *shape = &row->shape;
    const struct k_math_rule rule =
        k_math_rule(shape->variant, shape->T, shape->D, shape->window, shape->power);
    const bool outer_l1 = k_math_outer_l1(&rule, row->n);
    const struct k_math_sums sums =
        k_math_sums_join(&rule, part_sums(&rule, row, 0), part_sums(&rule, row, 1));
    struct k_math_row r = k_math_row_begin(&rule, row->n, &sums);
    float total = 0, along = 0;
    for (int j = 0; j < row->n; j++) {
        row->x[j] = k_math_phi(&rule, rule.phi, row->s[j], r.top, &row->slope[j]);
        row->w[j] = k_math_weight(&rule, r.theta, r.inverse, row->x[j], &row->steepness[j]);
        total += fabsf(row->w[j]);
    }
    k_math_row_end(&rule, row->n, total, &r);
    row->degenerate = r.factor == 0;
    for (int j = 0; j < row->n; j++) {
        row->A[j] = r.factor * row->w[j];
        along += row->A[j] * row->dA[j];
    }
    const float guess = k_math_guess(r.factor, along);
    struct k_math_means means = k_math_means_none();
    for (int j = 0; j < row->n; j++)
        k_math_means_add(&means, outer_l1, guess, row->x[j], row->w[j], row->steepness[j],
                         row->dA[j]);
    const struct k_math_centre c = k_math_means_end(&rule, row->n, r.factor, guess, &means);
    for (int j = 0; j < row->n; j++)
        row->ds[j] = k_math_gradient(r.factor, c.outer, c.inner, row->x[j], row->w[j],
                                     row->slope[j], row->steepness[j], row->dA[j]);
}

struct expected {
    double part[6][N];
    struct k_ref_row row;
    double A[N];
};

static void run_reference(const struct row *row, struct expected *e)
{
    e->row = (struct k_ref_row){.n = row->n,
                                .s = e->part[0],
                                .x = e->part[1],
                                .a = e->part[2],
                                .z = e->part[3],
                                .A = e->part[4],
                                .d = e->part[5]};
    for (int j = 0; j < row->n; j++) {
        e->row.s[j] = (double)row->s[j];
        e->row.d[j] = (double)row->dA[j];
    }
    k_ref_row_forward(&e->row, &row->shape);
    memcpy(e->A, e->row.A, sizeof e->A);
    k_ref_row_backward(&e->row, &row->shape);
}

/* In units of the largest entry, at least `largest`. */
static double error_of(const float *found, const double *expected, int n, double largest)
{
    double worst = 0;
    for (int j = 0; j < n; j++) {
        largest = fmax(largest, fabs(expected[j]));
        worst = fmax(worst, fabs((double)found[j] - expected[j]));
        assert_true(isfinite(found[j]));
    }
    return worst / largest;
}

static void compare(struct row *row, double tolerance)
{
    struct expected e;
    run_row(row);
    run_reference(row, &e);
    char what[96];
    snprintf(what, sizeof what, "%s, n %d, p %g, s %.3g %.3g", row->shape.variant->name, row->n,
             row->shape.power, (double)row->s[0], (double)row->s[row->n - 1]);
    if (row->degenerate != e.row.degenerate)
        fail_msg("%s: degenerate is %d", what, row->degenerate);
    const double weights = error_of(row->A, e.A, row->n, 1e-6);
    double flow = 1e-6; /* what gradients are differences of */
    for (int j = 0; j < row->n; j++)
        flow = fmax(flow, fabs(e.A[j] * (double)row->dA[j]));
    const double gradient = error_of(row->ds, e.row.d, row->n, flow);
    if (!(weights <= tolerance) || !(gradient <= 4 * tolerance))
        fail_msg("%s: weights differ by %.3g, gradients by %.3g, allowed %.3g", what, weights,
                 gradient, tolerance);
}

static struct row row_of(const struct k_attention *variant, int n, double p)
{
    return (struct row){.n = n,
                        .shape = {.B = 1, .T = N, .H = 1, .D = 64, .variant = variant, .power = p}};
}

/* Scores around many means, also where phi overflows or vanishes in float. */
TEST(rows_are_those_of_the_reference)
{
    static const int lengths[] = {1, 2, 3, 4, 5, 15, 16, 17, 33, 70};
    static const double powers[] = {1, 2.5, 3, 15, 50};
    static const double means[] = {0, 2, -3, -20, -59, -61, -90, 40};
    struct stream s = {7, 0};
    for (const struct k_attention *v = k_attention_table; v->name; v++)
        for (int l = 0; l < 10; l++)
            for (int m = 0; m < 8; m++)
                for (int k = 0; k < (v->reweight ? 5 : 1); k++) {
                    if (v->phi == K_PHI_GELU && means[m] < -20)
                        continue; /* vanishes in double */
                    if (v->score == K_SCORE_COS_LOGN && means[m] < -20)
                        continue; /* cosine scores are no lower */
                    if (phi_has_corner(v->phi) && v->phi != K_PHI_GELU && v->phi != K_PHI_MISH &&
                        v->norm == K_NORM_L1 && means[m] < 0)
                        continue; /* near 0 / 0 when a score or two are positive */
                    struct row row = row_of(v, lengths[l], powers[k]);
                    for (int j = 0; j < row.n; j++) {
                        row.s[j] = (float)(means[m] + bell(&s, 1.5));
                        row.dA[j] = (float)bell(&s, 1);
                    }
                    row.s[row.n / 2] += 2; /* a height that is well above the mean */
                    compare(&row, v->reweight ? 3e-6 * (1 + powers[k]) : 3e-6);
                }
}

/* Scores that rise from the tail of phi, where sums are relative to the largest, to above it. */
TEST(sums_leave_the_tail)
{
    static const enum k_phi phis[] = {K_PHI_SOFTPLUS, K_PHI_SIGMOID, K_PHI_MISH, K_PHI_GELU};
    static const double ends[][2] = {{-64, -56}, {-90, -30}, {-3.5, -1}, {-9, 2}, {-70, -59.9}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 5; k++) {
            if (phis[i] == K_PHI_GELU && ends[k][0] < -30)
                continue;
            const struct k_attention line = {"phi",   K_SCORE_DOT, K_BIAS_NONE,
                                             phis[i], K_NORM_L1,   K_TRANSFORM_NONE,
                                             false,   0,           "a test"};
            struct row row = row_of(&line, N, 1);
            for (int j = 0; j < N; j++) {
                row.s[j] = (float)(ends[k][0] + (ends[k][1] - ends[k][0]) * j / (N - 1));
                row.dA[j] = (float)(j % 5 - 2);
            }
            compare(&row, 3e-6);
        }
}

/* All weight in one place, and rows of one key: gradients cancel exactly. */
TEST(peaked_rows_have_no_gradient)
{
    struct stream s = {11, 0};
    for (const struct k_attention *v = k_attention_table; v->name; v++) {
        if (v->norm != K_NORM_L1 || v->transform == K_TRANSFORM_RECENTRED ||
            v->transform == K_TRANSFORM_RECENTRED_L1)
            continue;
        struct row row = row_of(v, 1, 15);
        for (int turn = 0; turn < 200; turn++) {
            row.s[0] = (float)(0.1 + 5 * uniform(&s));
            row.dA[0] = (float)bell(&s, 3);
            run_row(&row);
            assert_true(row.ds[0] == 0);
        }
    }
}

/* Uniform rows and rows without a positive score. */
TEST(degenerate_rows)
{
    for (const struct k_attention *v = k_attention_table; v->name; v++)
        for (int n = 1; n <= 9; n++)
            for (int sign = -1; sign <= 1; sign++) {
                struct row row = row_of(v, n, 2.5);
                for (int j = 0; j < n; j++) {
                    row.s[j] = (float)(0.7 * sign);
                    row.dA[j] = (float)(j + 1);
                }
                compare(&row, 3e-6);
                for (int j = 0; j < n && row.degenerate; j++)
                    assert_true(row.A[j] == 0 && row.ds[j] == 0);
            }
}

/* A number that is not one reaches the weights. */
TEST(nan_is_seen)
{
    for (const struct k_attention *v = k_attention_table; v->name; v++)
        for (int at = 0; at < 20; at += 19) {
            struct row row = row_of(v, 20, 3);
            for (int j = 0; j < row.n; j++)
                row.s[j] = j == at ? NAN : (float)(j % 3);
            run_row(&row);
            assert_true(isnan(row.A[at]));
        }
}

TEST(windows_have_keys)
{
    for (int window = 0; window < 9; window++) {
        const struct k_math_rule r = k_math_rule(k_attention_find("softmax"), 20, 4, window, 1);
        for (int i = 0; i < 20; i++) {
            int n = 0;
            for (int j = 0; j <= i; j++)
                n += window == 0 || j > i - window;
            assert_int_equal(k_math_keys(&r, i), n);
        }
    }
}

TESTS(NULL, NULL)
