/* test_inductive.c - the inductive-bias probe: ranks, standardisation, projections, oracles, bins
 * and the diagonal against closed forms; which rows labels and points stand on; the whole probe,
 * resumed, with fine-tunings that diverge; what it refuses. */
#include "on_ref.h"
#include "probe/asked.h"
#include "probe/cells_fixture.h"

#include <gsl/gsl_errno.h>

#include <cjson/cJSON.h>

#include "probe/inductive/diagonal.h"
#include "probe/inductive/inductive.h"
#include "probe/inductive/rank.h"

static struct probe_arena arena;

static void assert_near(double found, double expected, double error)
{
    if (!(fabs(found - expected) <= error))
        fail_msg("found %.12g, expected %.12g +- %g", found, expected, error);
}

/* ----------------------------------------------------------------------------------- ranks */

TEST(test_ranks)
{
    enum { N = 900 };
    static const float few[] = {3, 1, 3, 0, 7, 1};
    static const double expected[] = {4.5, 2.5, 4.5, 1, 6, 2.5};
    static float x[N];
    static double rank[N], up[N], down[N];
    static uint64_t work[2 * N];
    probe_ranks(6, few, rank, work);
    for (int i = 0; i < 6; i++)
        assert_true(rank[i] == expected[i]);
    for (int i = 0; i < N; i++) /* orders of magnitude, and ties */
        x[i] = (float)floor(exp(25 * tiny_uniform(1, (uint64_t)i))) * 1e-5F;
    probe_ranks(N, x, rank, work);
    for (int i = 0; i < N; i++) {
        int below = 0, equal = 0;
        for (int j = 0; j < N; j++) {
            below += x[j] < x[i];
            equal += x[j] == x[i];
        }
        assert_true(rank[i] == below + (equal + 1) / 2.0);
        up[i] = 2.385 * rank[i] - 1;
        down[i] = -rank[i];
    }
    assert_near(probe_correlation(N, rank, up), 1, 1e-12);
    assert_near(probe_correlation(N, rank, down), -1, 1e-12);
    for (int i = 0; i < N; i++)
        up[i] = 4;
    assert_true(isnan(probe_correlation(N, rank, up)));
    static const double corner[] = {0, 0, 3, 4, 0, 1.5};
    float distance[3];
    probe_distances(3, 2, corner, distance);
    assert_true(probe_pairs(3) == 3 && distance[0] == 5 && distance[1] == 1.5F);
    assert_near((double)distance[2], sqrt(9 + 2.5 * 2.5), 1e-6);
}

/* ------------------------------------------------------------------------- standardisation */

static void standardise_states(int axes)
{
    enum { N = 57 };
    const int S = probe_states(axes);
    double x[N * PROBE_STATE], z[PROBE_STATE], sum[PROBE_STATE] = {0}, square[PROBE_STATE] = {0};
    struct probe_standard standard;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < S; c++)
            x[i * S + c] =
                c == 3 ? 0.1 : 7 * c + pow(10, c - 2) * tiny_uniform(2, (uint64_t)(i * 9 + c));
    probe_standard_fit(N, S, x, &standard);
    for (int i = 0; i < N; i++) {
        probe_standard_apply(&standard, x + i * S, z);
        for (int c = 0; c < S; c++) {
            sum[c] += z[c] / N;
            square[c] += z[c] * z[c] / N;
        }
    }
    for (int c = 0; c < S; c++) {
        assert_near(sum[c], 0, 1e-10);
        assert_near(square[c], c == 3 ? 0 : 1, 1e-10); /* what does not vary stays 0 */
    }
}

TEST(test_standard)
{
    double z[PROBE_STATE];
    for (int axes = 2; axes <= 3; axes++)
        standardise_states(axes);
    static const double flat[6] = {0.3, -0.4, 5, -6, 1.5, 0.6};
    probe_noise_state(2, flat, z);
    assert_near(z[0] - 2 * z[1] + z[2] * z[3], 0.3 + 0.8 - 30, 1e-12);
    assert_near(z[4], 2.5, 1e-12);
    static const double space[8] = {0.3, -0.4, 0.7, 5, -6, 2, 1.5, 0.6};
    probe_noise_state(3, space, z);
    assert_memory_equal(z, space, 6 * sizeof *z);
    assert_near(z[6], 2.5, 1e-12);
}

/* ------------------------------------------------------------------------------- data sets */

static struct tiny tiny;
static char checkpoint[2][4096]; /* of stages pretrain, magnitude */
static struct probe_options options;
enum { FROM = 5, STEPS = 15 }; /* 32 rows: steps 0 .. 14 are complete */

/* Untrained models of the preset, saved as trained ones. */
FIXTURE(setup)
{
    tiny_preset(&tiny.settings, false);
    tiny.settings.finetune.magnitude.lr = 0.01;
    if (asked_untrained(&tiny, checkpoint))
        return 1;
    options = asked_of(&tiny.settings, checkpoint[0], "");
    options.sequences = 30;
    options.steps = options.draws = 2;
    return 0;
}

FIXTURE(teardown)
{
    scratch_remove(tiny.dir);
    return 0;
}

/* With data sets `first` and those behind it. */
static void open_prepared(struct probe_inductive *p, const char *folder, int first)
{
    static char out[4096];
    scratch_path(out, tiny.dir, folder);
    options.out = out;
    *p = (struct probe_inductive){.s.options = &options};
    if (probe_inductive_open(p) || probe_folder(&p->s.probe, &options, p->s.folder) ||
        probe_inductive_prepare(p))
        fail_msg("%s", orr_error());
    for (int d = first; d < p->sets; d++)
        assert_int_equal(probe_noise_make(&p->pool, d, &p->noise[d]), 0);
}

/* Weights are independent standard normal numbers, of the seed, the data set and the trial. */
TEST(test_projections)
{
    enum { SETS = 40, S = PROBE_STATE, N = SETS * PROBE_NOISE_TRIALS * S };
    double weight[PROBE_STATE], again[PROBE_STATE], sum = 0, square = 0, between = 0, last = 0;
    for (int d = 0; d < SETS; d++)
        for (int t = 0; t < PROBE_NOISE_TRIALS; t++) {
            assert_int_equal(probe_noise_projection(4, d, t, S, weight), 0);
            for (int c = 0; c < S; c++) {
                sum += weight[c];
                square += weight[c] * weight[c];
                between += weight[c] * last;
                last = weight[c];
            }
        }
    assert_near(sum / N, 0, 4 / sqrt(N));
    assert_near(square / N, 1, 4 * sqrt(2.0 / N));
    assert_near(between / N, 0, 4 / sqrt(N));
    assert_int_equal(probe_noise_projection(4, SETS - 1, PROBE_NOISE_TRIALS - 1, S, again), 0);
    assert_memory_equal(weight, again, sizeof weight);
    assert_int_equal(probe_noise_projection(5, SETS - 1, PROBE_NOISE_TRIALS - 1, S, again), 0);
    assert_memory_not_equal(weight, again, sizeof weight);
}

/* Mean 0, deviation 1, over the steps of the data set's own sequences. */
static void target_is_standard(const struct probe_inductive *p, const struct probe_noise *noise)
{
    double z[PROBE_STATE], sum = 0, square = 0;
    const double n = PROBE_NOISE_SEQUENCES * (STEPS - FROM);
    for (int s = 0; s < PROBE_NOISE_SEQUENCES; s++)
        for (int k = FROM; k < STEPS; k++) {
            probe_pool_state(&p->pool, &p->fit, noise->first + s, k, z);
            sum += probe_noise_target(noise, z);
            square += pow(probe_noise_target(noise, z), 2);
        }
    assert_near(sum / n, 0, 1e-12);
    assert_near(square / n, 1, 1e-12);
}

/* Spearman's correlation of a projection's distances with those of the pool. rank: room. */
static double spearman_of(const struct probe_pool *pool, const double *weight, double *rank)
{
    static double projected[PROBE_NOISE_POINTS];
    const int S = pool->standard.states;
    for (int i = 0; i < PROBE_NOISE_POINTS; i++) {
        projected[i] = 0;
        for (int c = 0; c < S; c++)
            projected[i] += weight[c] * pool->z[i * S + c];
    }
    probe_distances(PROBE_NOISE_POINTS, 1, projected, pool->distance);
    probe_ranks(probe_pairs(PROBE_NOISE_POINTS), pool->distance, rank, pool->work);
    return probe_correlation(probe_pairs(PROBE_NOISE_POINTS), pool->rank, rank);
}

TEST(test_data_sets)
{
    struct probe_inductive p;
    double weight[PROBE_STATE], best = -2;
    open_prepared(&p, "data", 0);
    const int S = p.pool.standard.states;
    assert_int_equal(S, 5); /* in the plane */
    assert_int_equal(p.pool.to, STEPS);
    for (int d = 0; d < p.sets; d++) {
        const struct probe_noise *noise = &p.noise[d];
        int moved = 0;
        assert_int_equal(noise->first, 100 * d);
        target_is_standard(&p, noise);
        for (int s = 0; s < PROBE_NOISE_SEQUENCES; s++) {
            const int *step = noise->step[s];
            assert_true(step[0] != step[1]);
            for (int k = 0; k < PROBE_NOISE_LABELS; k++)
                assert_true(step[k] >= FROM && step[k] < STEPS);
            moved += step[0] != p.noise[0].step[s][0];
        }
        assert_true(d == 0 || moved > 50);
    }
    /* the best of all trials, scaled */
    for (int t = 0; t < PROBE_NOISE_TRIALS; t++) {
        assert_int_equal(probe_noise_projection(tiny.settings.seed, 1, t, S, weight), 0);
        const double found = spearman_of(&p.pool, weight, p.pool.projected_rank);
        if (found > best) {
            best = found;
            for (int c = 1; c < S; c++)
                p.noise[0].weight[c] = weight[c] / weight[0];
        }
    }
    assert_near(p.noise[1].spearman, best, 1e-12);
    assert_true(best > 0.5 && best < 1);
    for (int c = 1; c < S; c++)
        assert_near(p.noise[1].weight[c] / p.noise[1].weight[0], p.noise[0].weight[c], 1e-9);
    /* of one number alone the distances are those of the state: the correlation is 1 */
    for (int i = 0; i < PROBE_NOISE_POINTS; i++)
        for (int c = 1; c < S; c++)
            p.pool.z[i * S + c] = 0;
    probe_distances(PROBE_NOISE_POINTS, (size_t)S, p.pool.z, p.pool.distance);
    probe_ranks(probe_pairs(PROBE_NOISE_POINTS), p.pool.distance, p.pool.rank, p.pool.work);
    assert_near(spearman_of(&p.pool, weight, p.pool.projected_rank), 1, 1e-6);
    probe_close(&p.s.probe);
    probe_cells_free(&p.cells);
    probe_rewind(&p.s.arena, 0);
}

/* Labels stand where both bodies of their step have been seen: the places on this row and the one
 * before differ by the state's own place. */
TEST(test_rows)
{
    enum { B = 4, T = 32, PASS = 3 };
    struct probe_inductive p;
    struct gpt_model model;
    struct gpt_batch batch;
    open_prepared(&p, "rows", 1);
    assert_int_equal(probe_copy(&p.s.probe, &options, true, &model), 0);
    assert_int_equal(gpt_replace_head(&model, GPT_HEAD_REGRESSION, 1, 1), 0);
    assert_int_equal(gpt_batch_create(&batch, &model.config, B, T), 0);
    for (int i = 0; i < B * T; i++)
        batch.weight[i] = 9; /* of a pass before */
    probe_inductive_fill(&p, 1, &model.config, PASS, &batch);
    for (int b = 0; b < B; b++) {
        const int s = PASS * B + b;
        const float *rows = probe_labelled_rows(&p.fit, p.noise[1].first + s);
        int labels = 0;
        for (int r = 0; r < T; r++) {
            double z[PROBE_STATE];
            if (batch.weight[b * T + r] == 0)
                continue;
            assert_true(batch.weight[b * T + r] == 1);
            labels++;
            const int step = p.noise[1].step[s][r / 2 - 1 == p.noise[1].step[s][1]];
            const double *full = probe_labelled_state(&p.fit, p.noise[1].first + s, step);
            for (int c = 0; c < 2; c++)
                assert_near((double)rows[2 * (r - 1) + c] - (double)rows[2 * r + c], full[c], 1e-5);
            probe_pool_state(&p.pool, &p.fit, p.noise[1].first + s, step, z);
            assert_near((double)batch.target[b * T + r], probe_noise_target(&p.noise[1], z), 1e-5);
        }
        assert_int_equal(labels, PROBE_NOISE_LABELS);
    }
    gpt_batch_free(&batch);
    gpt_free(&model);
    probe_close(&p.s.probe);
    probe_cells_free(&p.cells);
    probe_rewind(&p.s.arena, 0);
}

/* Predictions are those of the point's own row, of a model that was not trained at all. */
TEST(test_guesses)
{
    enum { T = 32 };
    struct probe_inductive p;
    struct gpt_model model;
    struct gpt_batch batch;
    const real *out;
    open_prepared(&p, "guesses", 1);
    p.train.steps = 0;
    double *guess = malloc(p.cells.numbers * sizeof *guess);
    assert_non_null(guess);
    assert_int_equal(p.points[PROBE_CORRECTED], 30 * (STEPS - FROM)); /* all, fewer than 2,000 */
    assert_int_equal(p.points[PROBE_PUBLISHED], 2000);
    assert_int_equal(probe_inductive_fit(&p, PROBE_BY_MODEL, 1, guess), 0);
    assert_int_equal(probe_copy(&p.s.probe, &options, false, &model), 0);
    assert_int_equal(gpt_replace_head(&model, GPT_HEAD_REGRESSION, 1, tiny.settings.seed), 0);
    assert_int_equal(gpt_batch_create(&batch, &model.config, 1, T), 0);
    for (size_t i = 0; i < p.points[PROBE_CORRECTED]; i += 17) {
        assert_true(p.step[i] >= FROM && p.step[i] < STEPS);
        probe_labelled_fill(&p.held_out, &model.config, p.sequence[i], &batch);
        assert_int_equal(gpt_forward(&model, &batch, &out), 0);
        assert_near(guess[i], (double)out[2 + 2 * p.step[i]], 1e-6);
    }
    for (size_t i = 0; i < 2000; i += 137) {
        probe_labelled_fill(&p.fit, &model.config, 100 + p.place[i] / T, &batch);
        assert_int_equal(gpt_forward(&model, &batch, &out), 0);
        assert_near(guess[p.points[PROBE_CORRECTED] + i], (double)out[p.place[i] % T], 1e-6);
    }
    gpt_batch_free(&batch);
    gpt_free(&model);
    free(guess);
    probe_close(&p.s.probe);
    probe_cells_free(&p.cells);
    probe_rewind(&p.s.arena, 0);
}

/* Observers are asked about the state at the point: the place of body 1 from body 2 is what the
 * rows of its step say. In the published form rows without a whole step have states of zeros. */
TEST(test_points)
{
    struct probe_inductive p;
    double z[PROBE_STATE], nothing[PROBE_STATE] = {0};
    open_prepared(&p, "points", 1);
    struct probe_noise *noise = &p.noise[1];
    for (int c = 0; c < noise->states; c++) /* x - 2 y, in AU */
        noise->weight[c] = c == 0 ? p.pool.standard.sd[0] : c == 1 ? -2 * p.pool.standard.sd[1] : 0;
    noise->bias = p.pool.standard.mean[0] - 2 * p.pool.standard.mean[1];
    assert_int_equal(probe_inductive_observe(&p, 1), 0);
    for (int form = 0; form < PROBE_FORMS; form++)
        for (size_t i = 0; i < p.points[form]; i++) {
            const size_t at = p.points[form] + i;
            const int row = form ? p.place[i] % 32 : 2 + 2 * p.step[i];
            const float *rows = form ? probe_labelled_rows(&p.fit, 100 + p.place[i] / 32)
                                     : probe_labelled_rows(&p.held_out, p.sequence[i]);
            const float *one = rows + 2 * (row - 1), *two = rows + 2 * row;
            const double found = p.value[form][PROBE_BY_TRUTH][at];
            if (row < 2 || row % 2)
                assert_near(found, 0, 1e-12);
            else
                assert_near(found, (double)(one[0] - two[0]) - 2 * (double)(one[1] - two[1]), 1e-5);
            assert_near(p.value[form][PROBE_BY_LINEAR][at], found, 1e-9);
            if (form == PROBE_CORRECTED) /* and the inputs are those of this step */
                assert_near(p.value[form][PROBE_BY_INPUTS][at], found, 1e-3);
        }
    probe_standard_apply(&p.pool.standard, nothing, z);
    assert_near(probe_noise_target(noise, z), 0, 1e-12);
    probe_close(&p.s.probe);
    probe_cells_free(&p.cells);
    probe_rewind(&p.s.arena, 0);
}

/* --------------------------------------------------------------------------------- oracles */

/* Observers of states of D numbers. */
static void observe_states(int D)
{
    enum { N = 200 };
    static double z[N * PROBE_STATE], y[N];
    double true_weight[PROBE_STATE + 1] = {0.7, -2.385, 0, 1.3, -0.2};
    const int numbers = PROBE_MLP_WIDTH * (D + 1) + PROBE_MLP_WIDTH * (PROBE_MLP_WIDTH + 1) + 6;
    double weight[PROBE_STATE + 1], p[PROBE_MLP] = {0}, gradient[PROBE_MLP], ignored[PROBE_MLP];
    true_weight[D] = 0.45;
    for (int i = 0; i < N * D; i++)
        z[i] = 4 * tiny_uniform(3, (uint64_t)i) - 2;
    for (int i = 0; i < N; i++)
        y[i] = probe_oracle_linear_at(D, true_weight, z + i * D);
    assert_near(y[0], 0.7 * z[0] - 2.385 * z[1] + 1.3 * z[3] - 0.2 * z[4] + 0.45, 1e-12);
    assert_int_equal(probe_oracle_linear(D, N, z, y, weight), 0);
    for (int c = 0; c <= D; c++)
        assert_near(weight[c], true_weight[c], 1e-12);
    /* 0.5 + 3 max(0, 2 max(0, z_0 - 1)): weights by hand */
    p[0] = 1;
    p[PROBE_MLP_WIDTH * D] = -1;
    p[PROBE_MLP_WIDTH * (D + 1)] = 2;
    p[numbers - 1 - PROBE_MLP_WIDTH] = 3;
    p[numbers - 1] = 0.5;
    for (int i = 0; i < N; i++)
        assert_near(probe_mlp_at(D, p, z + i * D), 0.5 + 6 * fmax(0, z[i * D] - 1), 1e-12);
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 1);
    probe_mlp_start(rng, D, p);
    probe_mlp_loss(D, p, N, z, y, gradient);
    for (int k = 0; k < numbers; k++) {
        const double was = p[k], h = 1e-6;
        assert_true(fabs(was) <= 1 / sqrt(5));
        p[k] = was + h;
        const double up = probe_mlp_loss(D, p, N, z, y, ignored);
        p[k] = was - h;
        const double down = probe_mlp_loss(D, p, N, z, y, ignored);
        p[k] = was;
        assert_near(gradient[k], (up - down) / (2 * h), 1e-5 * (1 + fabs(gradient[k])));
    }
    const double before = probe_mlp_loss(D, p, N, z, y, ignored);
    probe_mlp_fit(D, N, z, y, p);
    assert_true(before > 3 && probe_mlp_loss(D, p, N, z, y, ignored) < 0.05);
    gsl_rng_free(rng);
}

TEST(test_oracles)
{
    for (int axes = 2; axes <= 3; axes++)
        observe_states(probe_states(axes));
}

/* ------------------------------------------------------------------------ bins and diagonal */

/* Distances 1, 3, 7, 2, 6, 4: from 1 to 7 in steps of 0.3, so that 4 is on an edge. */
static const double four[] = {0, 1, 3, 7};

TEST(test_bins)
{
    static const int closed_bins[] = {0, 6, 19, 3, 16, 10};
    static const int open_bins[] = {PROBE_BINS, 6, PROBE_BINS, 3, 16, PROBE_BINS};
    const double twice[] = {0, 2, 6, 14}, other[] = {-5, -6, -8, -12}, constant[] = {2, 2, 2, 2};
    const double *const oracle[] = {four, four};
    const double *const spread[] = {constant, twice}; /* of mean distance one */
    struct probe_bins bins;
    double mean[PROBE_BINS];
    for (int open = 0; open < 2; open++) {
        const double expected = open ? (2 + 3 + 6) / 3.0 : 23 / 6.0;
        for (int k = 0; k < 2; k++) {
            assert_int_equal(probe_bins_make(&arena, &bins, 4, 2, k ? spread : oracle, open), 0);
            assert_int_equal(bins.pairs, 6);
            for (int i = 0; i < 6; i++)
                assert_int_equal(bins.bin[i], open ? open_bins[i] : closed_bins[i]);
            for (int b = 0; b < PROBE_BINS; b++)
                assert_true(bins.count[b] > 0 ? bins.count[b] == 1 : isnan(bins.diagonal[b]));
            assert_near(bins.diagonal[3], 2, 1e-12);
            if (!k)
                probe_rewind(&arena, 0);
        }
        probe_bins_mean(&bins, four, mean);
        assert_near(probe_to_diagonal(mean, bins.diagonal), 0, 1e-12);
        probe_bins_mean(&bins, other, mean); /* neither sign nor a constant part matters */
        assert_near(probe_to_diagonal(mean, bins.diagonal), 0, 1e-12);
        probe_bins_mean(&bins, constant, mean); /* holds nothing apart */
        assert_near(probe_to_diagonal(mean, bins.diagonal), expected, 1e-12);
        probe_bins_mean(&bins, twice, mean); /* everything twice as far */
        assert_near(probe_to_diagonal(mean, bins.diagonal), expected, 1e-12);
        probe_rewind(&arena, 0);
    }
    assert_int_equal(probe_bins_make(&arena, &bins, 4, 1, &spread[0], false),
                     0); /* no width at all */
    assert_int_equal(bins.count[PROBE_BINS - 1], 6);
    probe_rewind(&arena, 0);
}

/* Departures of two data sets cancel where they are opposite, and count as often as drawn. */
TEST(test_departure)
{
    double predicted[2 * PROBE_BINS], oracle[2 * PROBE_BINS];
    for (int b = 0; b < PROBE_BINS; b++) {
        const bool empty = b % 3 == 1;
        oracle[b] = oracle[PROBE_BINS + b] = empty ? (double)NAN : b;
        predicted[b] = empty ? (double)NAN : b + 0.5;
        predicted[PROBE_BINS + b] = empty ? (double)NAN : b - 0.5;
    }
    const struct probe_departure departure = {predicted, oracle};
    static const unsigned short both[] = {1, 1}, first[] = {2, 0}, more[] = {3, 1};
    assert_near(probe_departure_of(&departure, 2, both), 0, 1e-12);
    assert_near(probe_departure_of(&departure, 2, first), 0.5, 1e-12);
    assert_near(probe_departure_of(&departure, 2, more), 0.25, 1e-12);
}

static const struct orr_row *row_of(const struct orr_table *results, const char *quantity,
                                    const char *measure, int context)
{
    for (size_t i = 0; i < results->count; i++) {
        const struct orr_row *row = &results->row[i];
        if (!strcmp(row->quantity, quantity) && !strcmp(row->measure, measure) &&
            row->context == context)
            return row;
    }
    fail_msg("no row %s, %s, %d", quantity, measure, context);
    return NULL;
}

/* Truth: the four points, and three times as far in the second data set. The model knows the truth
 * of the first and nothing of the second. */
TEST(test_forms)
{
    double truth[8], model[8];
    bool used[2] = {true, true};
    struct probe_inductive p = {.sets = 2, .usable = 2, .points = {4, 4}, .used = used};
    for (int i = 0; i < 4; i++) {
        truth[i] = model[i] = four[i];
        truth[4 + i] = 3 * four[i];
        model[4 + i] = 1.7;
    }
    for (int form = 0; form < PROBE_FORMS; form++)
        for (int by = 0; by < PROBE_PREDICTORS; by++)
            if (form == PROBE_CORRECTED || by != PROBE_BY_INPUTS)
                p.value[form][by] = by < PROBE_BY_TRUTH ? model : truth;
    assert_int_equal(probe_inductive_rows(&p), 0);
    const struct orr_row *row =
        row_of(&p.s.results.table, "linear oracle", "to diagonal, corrected", 0);
    assert_near(row->value, 1.5 * 23 / 6, 1e-12); /* (d + 0) / 2 against (d + 3 d) / 2 */
    assert_near(row->upper_bound, 0, 1e-12);
    assert_near(row->raw, row->value, 1e-12);
    assert_int_equal(row->n, 2);
    assert_near(row->low, 0, 1e-12); /* resamples of the first alone, of the second alone */
    assert_near(row->high, 3 * 23 / 6.0, 1e-12);
    assert_near(row_of(&p.s.results.table, "linear oracle", "to diagonal, less baseline", 0)->value,
                0, 1e-12);
    row = row_of(&p.s.results.table, "MLP oracle", "to diagonal, published", 0);
    assert_near(row->value, 2 * 11 / 3.0, 1e-12);   /* 0 against 2 d, edges left out */
    assert_near(row->upper_bound, 11 / 3.0, 1e-12); /* the truth is not on its diagonal: 3 d, 2 d */
    assert_true(isnan(row->raw) && row->n == 1);
    assert_near(row_of(&p.s.results.table, "linear oracle", "distance, corrected", 1)->value, 0.5,
                1e-12);
    assert_near(row_of(&p.s.results.table, "linear oracle", "diagonal, corrected", 1)->value, 2,
                1e-12);
    row = row_of(&p.s.results.table, "target", "R^2", 0);
    assert_near(row->upper_bound, 1, 1e-12);
    /* 1, and 1 - sum (3 x - 1.7)^2 / sum (3 x - 8.25)^2 */
    assert_near(row->value, (1 + 1 - (2.89 + 1.69 + 53.29 + 372.49) / 258.75) / 2, 1e-12);
    assert_near(row_of(&p.s.results.table, "target", "R^2, less baseline", 0)->value, 0, 1e-12);
    probe_results_free(&p.s.results);
    p.value[PROBE_CORRECTED][PROBE_BY_BASELINE] = truth;
    assert_int_equal(probe_inductive_rows(&p), 0);
    row = row_of(&p.s.results.table, "linear oracle", "to diagonal, less baseline", 0);
    assert_near(row->value, 1.5 * 23 / 6, 1e-12);
    assert_true(row_of(&p.s.results.table, "target", "R^2, less baseline", 0)->value < -0.3);
    probe_results_free(&p.s.results);
    used[1] = false; /* its fine-tuning diverged */
    p.usable = 1;
    assert_int_equal(probe_inductive_rows(&p), 0);
    for (int k = 0; k < 2; k++)
        assert_near(row_of(&p.s.results.table, "linear oracle",
                           k ? "to diagonal, published" : "to diagonal, corrected", 0)
                        ->value,
                    0, 1e-12);
    probe_results_free(&p.s.results);
    used[0] = false;
    used[1] = true;
    assert_int_equal(probe_inductive_rows(&p), 0);
    assert_near(row_of(&p.s.results.table, "linear oracle", "to diagonal, corrected", 0)->value,
                3 * 23 / 6.0, 1e-12);
    assert_near(row_of(&p.s.results.table, "target", "R^2", 0)->value, 1 - 430.36 / 258.75, 1e-12);
    probe_results_free(&p.s.results);
    used[0] = true;
    p.usable = 2;
    for (int i = 0; i < 8; i++)
        truth[i] = i % 4 == 2; /* targets that least squares cannot have missed */
    p.value[PROBE_CORRECTED][PROBE_BY_LINEAR] = model;
    assert_int_equal(probe_inductive_rows(&p), ORR_EINVAL);
    error_names("least squares", NULL);
    probe_results_free(&p.s.results);
    probe_rewind(&p.s.arena, 0);
}

/* ------------------------------------------------------------------------------- whole probe */

static uint64_t checksum_of(const char *folder, const char *name)
{
    char path[4096];
    uint64_t sum, bytes;
    assert_int_equal(orr_path(path, "%s/%s", folder, name), 0);
    assert_int_equal(orr_file_checksum(path, &sum, &bytes), 0);
    return sum;
}

static void read_rows(const char *folder, struct orr_table *results, cJSON **json)
{
    char path[4096];
    assert_int_equal(orr_path(path, "%s/inductive.json", folder), 0);
    if (orr_rows_read(path, results, json))
        fail_msg("%s", orr_error());
}

static void measure(const char *folder)
{
    options.out = folder;
    if (probe_inductive(&options))
        fail_msg("%s", orr_error());
}

TEST(test_whole)
{
    struct orr_table results = {0};
    cJSON *json;
    char out[4096], path[4096];
    scratch_path(out, tiny.dir, "whole");
    measure(out);
    const uint64_t made = checksum_of(out, "inductive.csv");
    checksum_of(out, "inductive.png");
    read_rows(out, &results, &json);
    for (int form = 0; form < 2; form++) {
        const struct orr_row *row =
            row_of(&results, "linear oracle",
                   form ? "to diagonal, published" : "to diagonal, corrected", 0);
        assert_true(row->value > 0.01 && row->baseline > 0.01 && isfinite(row->low));
        assert_true(form ? row->upper_bound > 0.01 && row->n == 1
                         : row->upper_bound < 1e-9 && row->n == 2 && row->raw > 0);
    }
    const struct orr_row *r2 = row_of(&results, "target", "R^2", 0);
    assert_true(r2->value < 0.9 && r2->upper_bound > 0.999999 && r2->baseline < 0.9 &&
                r2->raw > 0.1);
    assert_true(row_of(&results, "target, by the MLP oracle", "R^2", 0)->value > 0.9);
    assert_true(row_of(&results, "fine-tunings that diverged", "count", 0)->value == 0);
    orr_table_free(&results);
    cJSON_Delete(json);

    options.resume = true; /* as if stopped behind three of four fine-tunings */
    assert_int_equal(orr_path(path, "%s/inductive.json", out), 0);
    assert_int_equal(remove(path), 0);
    cells_keep(out, "inductive", 3, -1, -1, 0);
    measure(out);
    assert_true(checksum_of(out, "inductive.csv") == made);

    cells_keep(out, "inductive", 4, 1, -1,
               NAN); /* one had diverged; a third data set is asked for */
    options.draws = 3;
    measure(out);
    read_rows(out, &results, &json);
    const struct orr_row *row = row_of(&results, "fine-tunings that diverged", "count", 0);
    assert_true(row->value == 0 && row->baseline == 1 && row->n == 3);
    assert_int_equal(row_of(&results, "linear oracle", "to diagonal, corrected", 0)->n, 2);
    const cJSON *list = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "about"), "diverged");
    assert_int_equal(cJSON_GetArraySize(list), 1);
    assert_string_equal(cJSON_GetObjectItem(list->child, "arm")->valuestring, "untrained");
    orr_table_free(&results);
    cJSON_Delete(json);

    options.draws = options.steps = 1; /* another budget is measured anew */
    measure(out);
    read_rows(out, &results, &json);
    assert_true(row_of(&results, "fine-tunings that diverged", "count", 0)->baseline == 0);
    orr_table_free(&results);
    cJSON_Delete(json);
    options.draws = options.steps = 2;
    options.resume = false;
}

/* Rates without measure: every fine-tuning diverges, which is an error that says so. */
TEST(test_divergence)
{
    char out[4096];
    scratch_path(out, tiny.dir, "diverged");
    options.out = out;
    options.draws = 1;
    options.steps = 3;
    tiny.settings.finetune.magnitude.lr = 1e30;
    assert_int_equal(probe_inductive(&options), ORR_EDIVERGED);
    error_names("1 data sets", "lr = 1e+30", options.checkpoint, NULL);
    tiny.settings.finetune.magnitude.lr = 0.01;
    options.draws = options.steps = 2;
}

/* ---------------------------------------------------------------------------------- refused */

static void refuses(int rc, const char *a, const char *b)
{
    assert_int_equal(probe_inductive(&options), rc);
    error_names(options.checkpoint, a, b, NULL);
}

TEST(test_refusals)
{
    char out[4096];
    scratch_path(out, tiny.dir, "refused");
    options.out = out;
    options.change.power = 3;
    refuses(ORR_EUSAGE, "as they were trained", "--p");
    options.change.power = 0;
    options.length = 20;
    refuses(ORR_EUSAGE, "as they were trained", "--length");
    options.length = 0;
    options.checkpoint = checkpoint[1];
    refuses(ORR_EINVAL, "inductive", "stage magnitude");
    options.checkpoint = checkpoint[0];
    tiny.settings.orbits.output = ORR_OUTPUT_TOKENS;
    refuses(ORR_EINVAL, "coordinates", "tokens");
    tiny.settings.orbits.output = ORR_OUTPUT_CONTINUOUS;
    tiny.settings.orbits.label_from_step = STEPS - 1; /* one step is left for two labels */
    refuses(ORR_EINVAL, "orbits.label_from_step", "15 steps");
    tiny.settings.orbits.label_from_step = FROM;
    options.orbits = "somewhere";
    assert_int_equal(probe_inductive(&options), ORR_EUSAGE);
    error_names("--orbits", "inductive", NULL);
    options.orbits = "";
    assert_false(orr_exists(out));
}

TESTS_ON_REF(setup, teardown)
