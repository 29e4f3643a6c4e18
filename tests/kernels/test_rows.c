/* test_rows.c - closed forms of rows of attention weights, of every line of the table: equal
 * scores, no positive score, sums, and lines that must be the same. */
#include "attention_case.h"
#include "phi.h"

/* The one weight of a row of n equal scores s (without bias); *degenerate says that it is. */
static double uniform_weight(const struct attention *a, double s, int n, bool *degenerate)
{
    const struct k_attention *v = a->shape.variant;
    const double x = phi_value(v->phi, v->bias == K_BIAS_LOG_ROW      ? s - log(n)
                                       : v->bias == K_BIAS_LOG_LENGTH ? s - log(a->shape.T)
                                                                      : s);
    const bool changed = n > v->unshifted_rows;
    *degenerate = (v->norm == K_NORM_L1 && x == 0) || (v->reweight && changed) ||
                  (v->transform == K_TRANSFORM_RECENTRED_L1 && changed);
    if (*degenerate || (v->transform == K_TRANSFORM_RECENTRED && changed))
        return 0;
    const double sign = v->transform == K_TRANSFORM_INVERSE ? -1 : 1;
    switch (v->norm) {
    case K_NORM_L1:
        return sign * copysign(1.0 / n, x);
    case K_NORM_LENGTH:
        return sign * x / a->shape.T;
    case K_NORM_ROOT_ROW:
        return sign * x / sqrt(n / 2.0);
    case K_NORM_NONE:
        break;
    }
    return sign * x;
}

static void check_uniform_rows(const struct k_ops *ops, const struct attention *a, bool zero)
{
    const int T = a->shape.T, D = a->shape.D;
    const bool cosine = a->shape.variant->score == K_SCORE_COS_LOGN;
    struct outputs o = {0};
    run(ops, a, true, &o);
    long degenerate_rows = 0, counted = -1;
    for (int t = 0; t < T; t++) {
        const int n = attended(a, t);
        double dot =
            0; /* a uniform row of cosine scores is 1 / n or degenerate whatever they are */
        for (int c = 0; c < D && !cosine; c++)
            dot += (double)at(a, 0, t, 0, 0)[c] * (double)at(a, 0, t, 1, 0)[c] / sqrt(D);
        bool degenerate;
        const double weight = uniform_weight(a, dot, n, &degenerate);
        degenerate_rows += degenerate;
        for (int c = 0; c < D; c++) {
            double sum = 0;
            for (int j = t - n + 1; j <= t; j++)
                sum += weight * (double)at(a, 0, j, 2, 0)[c];
            const double out = (double)o.item[0].data[t * D + c];
            const double dq = (double)o.item[1].data[t * 3 * D + c];
            if (degenerate)
                assert_true(out == 0);
            else
                assert_near(out, sum, 1e-5 * fmax(1, n * fabs(weight)));
            if (degenerate || (zero && cosine)) /* a zero vector has no direction */
                assert_true(dq == 0);
        }
    }
    assert_int_equal(ops->attention_degenerate(&counted, a->row_stats, &a->shape), 0);
    assert_int_equal(counted, degenerate_rows);
    outputs_free(&o);
}

/* Equal keys, or zero queries, make rows of equal scores: closed forms of every line. Re-weighted
 * and re-centred l1 rows of more than unshifted_rows keys are degenerate - output and gradient of
 * the query exactly 0 - as are rows of relu(0) and the like under an l1; attention_degenerate
 * counts them. */
TEST(equal_scores_make_uniform_or_degenerate_rows)
{
    static const int windows[] = {0, 2, 3, 4};
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        assert_int_equal((*all)->open(2, false), 0);
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int zero = 0; zero < 2; zero++)
                for (int w = 0; w < 4; w++) {
                    struct attention a = make(v->name, 1, 21, 1, 4, 15, windows[w]);
                    for (int t = 0; t < 21; t++)
                        fill_vector(&a, t, zero ? 0 : 1, zero ? 0 : (real)0.7);
                    check_uniform_rows(*all, &a, zero);
                    drop(&a);
                }
        (*all)->close();
    }
}

/* Rows 3, 4, 8, 12, 13 have negative scores alone: degenerate under relu and an l1, everything of
 * them 0, re-weighted or not; the rows of relu over L or sqrt(n / 2) are 0 without being
 * degenerate. */
TEST(rows_without_a_positive_score)
{
    static const int rows[] = {3, 4, 8, 12, 13};
    enum { T = 16, D = 4, H = 2 };
    for (const struct k_ops *const *all = k_backends(); *all; all++)
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int reweight = 0; reweight < 2; reweight++) {
                const bool relu =
                    v->phi == K_PHI_RELU || v->phi == K_PHI_RELU2 || v->phi == K_PHI_RELU6;
                if (!relu || (reweight && !k_attention_reweightable(v)))
                    continue;
                struct k_attention line = *v;
                if (reweight)
                    line.reweight = true, line.unshifted_rows = 3;
                struct attention a = make(v->name, 1, T, H, D, 2.5, 0);
                a.shape.variant = &line;
                for (int t = 0; t < T; t++) { /* keys that differ, in the quadrant of ones */
                    fill_vector(&a, t, 0, (real)0.5);
                    for (int c = 0; c < D * H; c++)
                        at(&a, 0, t, 1, 0)[c] = (real)(0.2 + fabs((double)at(&a, 0, t, 1, 0)[c]));
                }
                for (int i = 0; i < 5; i++)
                    fill_vector(&a, rows[i], 0, -1);
                struct outputs o = {0};
                assert_int_equal((*all)->open(1, false), 0);
                run(*all, &a, true, &o);
                long counted = -1;
                assert_int_equal((*all)->attention_degenerate(&counted, a.row_stats, &a.shape), 0);
                (*all)->close();
                assert_int_equal(counted, line.norm == K_NORM_L1 ? 5 * H : 0);
                for (int i = 0; i < 5; i++)
                    for (int c = 0; c < H * D; c++) {
                        assert_true(o.item[0].data[rows[i] * H * D + c] == 0);
                        assert_true(o.item[1].data[rows[i] * 3 * H * D + c] == 0);
                    }
                outputs_free(&o);
                drop(&a);
            }
}

/* One small positive score in each row: its weight under an l1 is 1 whatever the score, so that
 * queries and keys have no gradient. Factors 1 / sum are large here, and must cancel. */
TEST(rows_with_one_positive_score)
{
    enum { T = 16, D = 4, H = 2 };
    for (const struct k_ops *const *all = k_backends(); *all; all++)
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int reweight = 0; reweight < 2; reweight++) {
                if (v->norm != K_NORM_L1 ||
                    (v->phi != K_PHI_RELU && v->phi != K_PHI_RELU2 && v->phi != K_PHI_RELU6))
                    continue;
                struct k_attention line = *v;
                if (reweight)
                    line.reweight = true, line.unshifted_rows = 3;
                struct attention a = make(v->name, 1, T, H, D, 2.5, 0);
                a.shape.variant = &line;
                for (int t = 0; t < T; t++)
                    for (int c = 0; c < H * D; c++) {
                        real *q = at(&a, 0, t, 0, 0) + c, *k = at(&a, 0, t, 1, 0) + c;
                        *q = (real)(1e-3 * (0.2 + fabs((double)*q)));
                        *k = (real)((t == 0 ? 1 : -1) * (0.2 + fabs((double)*k)));
                    }
                struct outputs o = {0};
                assert_int_equal((*all)->open(1, false), 0);
                run(*all, &a, true, &o);
                (*all)->close();
                for (int i = 0; i < T * H * D; i++) {
                    const int row = i / (H * D) * 3 * H * D + i % (H * D);
                    assert_near((double)o.item[0].data[i], (double)at(&a, 0, 0, 2, 0)[i % (H * D)],
                                1e-6);
                    assert_near((double)o.item[1].data[row], 0, 2e-5); /* d / sum is 1e3 here */
                    assert_near((double)o.item[1].data[row + H * D], 0, 2e-5);
                }
                outputs_free(&o);
                drop(&a);
            }
}

/* With values 1 the output is the sum of the weights: 1 where rows are non-negative under an l1,
 * 0 in a degenerate or re-centred row. Re-weighting keeps it at 1. */
TEST(weights_sum_to_one)
{
    static const double powers[] = {1, 2.5, 15, 50};
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        assert_int_equal((*all)->open(2, false), 0);
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int k = 0; k < 20; k++) {
                enum { T = 40, H = 2, D = 8 };
                struct k_attention line = *v;
                const bool known = v->norm == K_NORM_L1 && v->phi != K_PHI_IDENTITY &&
                                   v->phi != K_PHI_GELU && v->phi != K_PHI_MISH;
                if (!known)
                    break;
                if (k % 2 && k_attention_reweightable(v))
                    line.reweight = true, line.unshifted_rows = 3;
                struct attention a = make(v->name, 1, T, H, D, powers[k / 5], k % 5);
                a.shape.variant = &line;
                for (int t = 0; t < T; t++)
                    fill_vector(&a, t, 2, 1);
                struct outputs o = {0};
                run(*all, &a, false, &o);
                for (size_t i = 0; i < a.n; i++) {
                    const int t = (int)(i / (H * D)), h = (int)(i / D % H);
                    const bool centred = (v->transform == K_TRANSFORM_RECENTRED ||
                                          v->transform == K_TRANSFORM_RECENTRED_L1) &&
                                         attended(&a, t) > v->unshifted_rows;
                    const double sum = a.row_stats[h * T + t] == 0 || centred ? 0
                                       : v->transform == K_TRANSFORM_INVERSE  ? -1
                                                                              : 1;
                    assert_near((double)o.item[0].data[i], sum, 1e-5);
                }
                outputs_free(&o);
                drop(&a);
            }
        (*all)->close();
    }
}

static void assert_same_results(const struct k_ops *ops, const struct attention *a,
                                const struct k_attention *other)
{
    struct outputs one = {0}, two = {0};
    struct attention b = *a;
    b.shape.variant = other;
    for (int generic = 0; generic < 2; generic++) {
        run(ops, a, generic, &one);
        run(ops, &b, generic, &two);
    }
    outputs_same(other->name, &one, &two);
    outputs_free(&one);
    outputs_free(&two);
}

/* A window of at most unshifted_rows keys never shifts or re-centres a row; two names of one
 * function are one function. */
TEST(lines_that_are_the_same)
{
    static const char *const aliases[][2] = {
        {"phi_relu", "relu_li"}, {"phi_exp", "softmax"}, {"decomp_IV", "softmax"}};
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        assert_int_equal((*all)->open(1, false), 0);
        for (const struct k_attention *v = k_attention_table; v->name; v++)
            for (int window = 1; window <= 3 && v->unshifted_rows > 0; window++) {
                struct attention a = make(v->name, 1, 40, 2, 8, 2.5, window);
                struct k_attention free = *v;
                free.unshifted_rows = 1000;
                assert_same_results(*all, &a, &free);
                long rows = -1;
                assert_int_equal((*all)->attention_degenerate(&rows, a.row_stats, &a.shape), 0);
                assert_int_equal(rows, 0);
                drop(&a);
            }
        for (int i = 0; i < 3; i++) {
            struct attention a = make(aliases[i][0], 2, 40, 2, 8, 15, i);
            assert_same_results(*all, &a, k_attention_find(aliases[i][1]));
            drop(&a);
        }
        (*all)->close();
    }
}

TESTS(NULL, NULL)
