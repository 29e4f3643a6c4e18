/* test_ridge.c - ridge regression against a case solved by hand, what can be read and what cannot,
 * and that the inner split keeps sequences together; resampling against closed forms. */
#include "base/scratch.h"

#include <math.h>
#include <string.h>

#include "probe/core/bootstrap.h"
#include "probe/linear/readout.h"
#include "probe/linear/ridge.h"

static struct probe_arena arena;

static const int one_group[] = {0, 0}, two_groups[] = {0, 1};

static double normal(uint64_t stream, uint64_t k)
{
    /* a sum of uniforms is enough for a test */
    double sum = -6;
    for (uint64_t i = 0; i < 12; i++)
        sum += (double)(orr_rng_hash(71, ORR_STAGE_TEST_SUITE, stream, 12 * k + i) >> 11) * 0x1p-53;
    return sum;
}

/* One feature: the slope is cov / var / (1 + strength), the intercept passes through the means. */
TEST(test_by_hand)
{
    static const double x[] = {0.3, 1.9, 2.385, 4.1, 5.7, 7.2, 8.05, 9.4};
    static const double y[] = {1.1, 3.9, 5.2, 7.7, 12.1, 14.2, 16.3, 18.4};
    struct probe_rows rows;
    struct probe_ridge ridge;
    assert_int_equal(probe_rows_create(&arena, &rows, 8, 1, 1, 1, one_group), 0);
    double mx = 0, my = 0, xx = 0, xy = 0;
    for (int i = 0; i < 8; i++) {
        rows.x[i] = x[i];
        rows.y[i] = y[i];
        rows.sequence[i] = i;
        mx += x[i] / 8;
        my += y[i] / 8;
    }
    rows.rows = 8;
    for (int i = 0; i < 8; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    assert_int_equal(probe_ridge_fit(&arena, &rows, &ridge), 0);
    const double slope = xy / xx / (1 + ridge.strength[0]);
    assert_true(ridge.strength[0] >= 1e-9 && ridge.strength[0] <= 10);
    assert_true(fabs(ridge.weight[0] - slope) <= 1e-12 * fabs(slope));
    assert_true(fabs(ridge.bias[0] - (my - slope * mx)) <= 1e-12 * fabs(my));
    double found;
    probe_ridge_predict(&ridge, &mx, &found);
    assert_true(fabs(found - my) <= 1e-12 * my);
    probe_rewind(&arena, 0);
}

enum { N = 400, F = 12 };

/* Rows of random features; target 0 is linear in them, target 1 has nothing to do with them. */
static void random_rows(struct probe_rows *rows)
{
    assert_int_equal(probe_rows_create(&arena, rows, N, F, 2, 2, two_groups), 0);
    for (int i = 0; i < N; i++) {
        double *x = rows->x + (size_t)i * F;
        for (int j = 0; j < F; j++)
            x[j] = (j + 0.5) * normal(1, (uint64_t)(i * F + j)) - j;
        x[F - 1] = 4.25; /* never varies */
        rows->y[2 * i] = 2.385 * x[1] - 0.7 * x[5] + 11;
        rows->y[2 * i + 1] = normal(2, (uint64_t)i);
        rows->sequence[i] = i;
    }
    rows->rows = N;
}

TEST(test_what_can_be_read)
{
    struct probe_rows rows;
    struct probe_ridge ridge;
    random_rows(&rows);
    assert_int_equal(probe_ridge_fit(&arena, &rows, &ridge), 0);
    assert_true(ridge.inner[0] > 1 - 1e-12);
    assert_true(fabs(ridge.weight[2 * 1] - 2.385) < 1e-6);
    assert_true(fabs(ridge.weight[2 * 5] + 0.7) < 1e-6);
    assert_true(fabs(ridge.bias[0] - 11) < 1e-5);
    assert_true(ridge.inner[1] < 0.05);
    assert_true(ridge.strength[0] < ridge.strength[1]); /* noise is best left alone */
    assert_true(ridge.weight[2 * (F - 1)] == 0 && ridge.weight[2 * (F - 1) + 1] == 0);
    probe_rewind(&arena, 0);
}

/* Targets and features are a sequence's own: a split by rows would read them, one by sequences
 * cannot. */
TEST(test_split_by_sequence)
{
    enum { SEQUENCES = 80, EACH = 5, WIDE = 60 };
    struct probe_rows rows;
    struct probe_ridge ridge;
    assert_int_equal(probe_rows_create(&arena, &rows, SEQUENCES * EACH, WIDE, 1, 1, one_group), 0);
    for (int i = 0; i < SEQUENCES * EACH; i++) {
        const int s = i / EACH;
        for (int j = 0; j < WIDE; j++)
            rows.x[i * WIDE + j] = normal(3, (uint64_t)(s * WIDE + j));
        rows.y[i] = normal(4, (uint64_t)s);
        rows.sequence[i] = s;
    }
    rows.rows = SEQUENCES * EACH;
    assert_int_equal(probe_ridge_fit(&arena, &rows, &ridge), 0);
    assert_true(ridge.inner[0] < 0.1);
    rows.rows = 3 * EACH; /* no fourth sequence */
    assert_int_equal(probe_ridge_fit(&arena, &rows, &ridge), ORR_EINVAL);
    probe_rewind(&arena, 0);
}

/* A vector has one strength and one R^2 over both components. */
TEST(test_vectors_share)
{
    struct probe_rows rows;
    struct probe_ridge ridge;
    random_rows(&rows);
    rows.groups = 1;
    rows.group = one_group;
    assert_int_equal(probe_ridge_fit(&arena, &rows, &ridge), 0);
    double square[2] = {0}, sum[2] = {0}, count = 0;
    for (int i = 3; i < N; i += 4, count++)
        for (int k = 0; k < 2; k++) {
            square[k] += rows.y[2 * i + k] * rows.y[2 * i + k];
            sum[k] += rows.y[2 * i + k];
        }
    const double v0 = square[0] - sum[0] * sum[0] / count, v1 = square[1] - sum[1] * sum[1] / count;
    /* all of the first component, about nothing of the second */
    assert_true(fabs(ridge.inner[0] - v0 / (v0 + v1)) < 0.15 * v1 / (v0 + v1));
    probe_rewind(&arena, 0);
}

/* ------------------------------------------------------------------------------- bootstrap */

TEST(test_r2)
{
    /* truths 1, 2, 6 in two sequences, errors of 0.5, 0, 1: 1 - 1.25 / 14 */
    const struct probe_score score[2] = {{2, 0.25, 5, {3, 0}}, {1, 1, 36, {6, 0}}};
    const unsigned short once[] = {1, 1}, second_twice[] = {0, 2}, weighted[] = {2, 1};
    assert_true(fabs(probe_r2(score, 2, once) - (1 - 1.25 / 14)) < 1e-14);
    assert_true(isnan(probe_r2(score, 2, second_twice)));
    /* 1, 2, 1, 2, 6: mean 12 / 5, squares 46 */
    assert_true(fabs(probe_r2(score, 2, weighted) - (1 - 1.5 / (46 - 144.0 / 5))) < 1e-14);
    double x[] = {5, NAN, 1, 2, 9, -INFINITY};
    size_t rank[6];
    const struct probe_ranked ranked = {x, rank};
    const unsigned short all[] = {1, 1, 1, 1, 1, 1}, heavy[] = {1, 7, 5, 1, 1, 3};
    const unsigned short none[] = {0, 2, 0, 0, 0, 1};
    assert_true(probe_mean_of(x, 6, all) == 4.25);
    probe_rank(x, 6, rank);
    assert_true(probe_median_of(&ranked, 6, all) == 3.5);
    assert_true(probe_median_of(&ranked, 6, heavy) == 1);
    assert_true(isnan(probe_median_of(&ranked, 6, none)));
}

TEST(test_intervals)
{
    enum { MANY = 400 };
    struct probe_resamples a, b;
    double x[MANY];
    for (int i = 0; i < MANY; i++)
        x[i] = normal(5, (uint64_t)i);
    assert_int_equal(probe_resamples_create(&arena, &a, 3, MANY), 0);
    assert_int_equal(probe_resamples_create(&arena, &b, 3, MANY), 0);
    assert_memory_equal(a.times, b.times, MANY * (1 + PROBE_RESAMPLES) * sizeof *a.times);
    for (int k = 0; k <= PROBE_RESAMPLES; k++) {
        int drawn = 0;
        for (int i = 0; i < MANY; i++)
            drawn += a.times[k * MANY + i];
        assert_int_equal(drawn, MANY);
    }
    const struct probe_estimate e = probe_bootstrap(&a, probe_mean_of, x);
    assert_true(e.low < e.value && e.value < e.high);
    const double width = 2 * 1.96 / sqrt(MANY); /* of a standard normal's mean */
    assert_true(fabs(e.high - e.low - width) < 0.25 * width);
    probe_rewind(&arena, 0);
}

/* Sequences of a track that are alike are drawn together: their number narrows no interval. */
TEST(test_intervals_of_tracks)
{
    enum { TRACKS = 100, PIECES = 4, MANY = TRACKS * PIECES };
    struct probe_resamples r, alone;
    double x[MANY];
    int track[MANY], each[MANY];
    for (int i = 0; i < MANY; i++) {
        each[i] = i;
        track[i] = 3 * (i / PIECES);
        x[i] = normal(5, (uint64_t)(i / PIECES));
    }
    assert_int_equal(probe_resamples_of_tracks(&arena, &r, 3, MANY, track), 0);
    assert_true(r.n == MANY && r.tracks == TRACKS);
    for (int i = 0; i < MANY * (1 + PROBE_RESAMPLES); i += PIECES)
        for (int k = 1; k < PIECES; k++)
            assert_int_equal(r.times[i], r.times[i + k]);
    const struct probe_estimate e = probe_bootstrap(&r, probe_mean_of, x);
    const double width = 2 * 1.96 / sqrt(TRACKS);
    assert_true(fabs(e.high - e.low - width) < 0.25 * width);
    assert_int_equal(probe_resamples_of_tracks(&arena, &r, 3, MANY, each), 0);
    assert_int_equal(probe_resamples_create(&arena, &alone, 3, MANY), 0);
    assert_memory_equal(r.times, alone.times, MANY * (1 + PROBE_RESAMPLES) * sizeof *r.times);
    memset(track, 0, sizeof track); /* of a single track there is no interval */
    assert_int_equal(probe_resamples_of_tracks(&arena, &r, 3, MANY, track), 0);
    assert_true(isnan(probe_bootstrap(&r, probe_mean_of, x).low));
    probe_rewind(&arena, 0);
}

TESTS(NULL, NULL)
