/* test_nearest_neighbours.c - nearest neighbours against a plain search, and the oracles built on
 * them. */
#include "tiny.h"

#include <omp.h>

/* Three points on a line, two values each. */
TEST(test_by_hand)
{
    static const float points[] = {0, 10, 4}, values[] = {1, -1, 2, -2, 6, -6};
    static const float queries[] = {1, 6, 7.5f, -100};
    float out[8];
    assert_int_equal(ft_knn(1, 1, 3, points, 2, values, 4, queries, out), 0);
    static const float one[] = {1, -1, 6, -6, 2, -2, 1, -1};
    assert_memory_equal(out, one, sizeof one);
    assert_int_equal(ft_knn(2, 1, 3, points, 2, values, 4, queries, out), 0);
    static const float two[] = {3.5f, -3.5f, 4, -4, 4, -4, 3.5f, -3.5f};
    for (int i = 0; i < 8; i++)
        assert_true(fabsf(out[i] - two[i]) < 1e-6f);
    assert_int_equal(ft_knn(3, 1, 3, points, 2, values, 4, queries, out), 0);
    for (int i = 0; i < 8; i++)
        assert_true(fabsf(out[i] - (i % 2 ? -3 : 3)) < 1e-6f);
}

/* Equally near: the first ones of the list. */
TEST(test_ties)
{
    float points[700], values[700], out[1];
    static const float query[] = {3};
    for (int i = 0; i < 700; i++) {
        points[i] =
            i % 7 ? 3 + (float)(1 - 2 * (i % 2)) : 50; /* all at distance 1, on both sides */
        values[i] = (float)i;
    }
    assert_int_equal(ft_knn(4, 1, 700, points, 1, values, 1, query, out), 0);
    assert_true(fabsf(out[0] - (1 + 2 + 3 + 4) / 4.0f) < 1e-6f);
    points[650] = 3.5f;
    assert_int_equal(ft_knn(4, 1, 700, points, 1, values, 1, query, out), 0);
    assert_true(fabsf(out[0] - (650 + 1 + 2 + 3) / 4.0f) < 1e-4f);
}

struct candidate {
    double distance;
    size_t index;
};

static int by_distance(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Sorts all points by distance, in double. */
static void plain(int k, size_t dims, size_t n, const float *points, size_t cols,
                  const float *values, const float *query, double *out)
{
    struct candidate *all = calloc(n, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < n; i++) {
        all[i].index = i;
        for (size_t c = 0; c < dims; c++)
            all[i].distance += pow((double)points[i * dims + c] - (double)query[c], 2);
    }
    qsort(all, n, sizeof *all, by_distance);
    for (size_t c = 0; c < cols; c++) {
        out[c] = 0;
        for (int j = 0; j < k; j++)
            out[c] += (double)values[all[j].index * cols + c] / k;
    }
    free(all);
}

TEST(test_brute_force)
{
    static const struct {
        int k;
        size_t dims, n, cols, m;
    } cases[] = {{1, 1, 1, 1, 3},
                 {2, 6, 257, 1, 40},
                 {5, 5, 256, 2, 40},
                 {64, 3, 64, 1, 5},
                 {7, 2, 1000, 3, 33}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t dims = cases[i].dims, n = cases[i].n, cols = cases[i].cols, m = cases[i].m;
        float *points = calloc(n * dims, sizeof *points),
              *values = calloc(n * cols, sizeof *values);
        float *queries = calloc(m * dims, sizeof *queries), *out = calloc(m * cols, sizeof *out);
        float *again = calloc(m * cols, sizeof *again);
        assert_true(points && values && queries && out && again);
        for (size_t j = 0; j < n * dims; j++)
            points[j] = (float)(10 * tiny_uniform(10 + i, j) - 5);
        for (size_t j = 0; j < n * cols; j++)
            values[j] = (float)(tiny_uniform(20 + i, j) - 0.5);
        for (size_t j = 0; j < m * dims; j++)
            queries[j] = (float)(12 * tiny_uniform(30 + i, j) - 6);
        omp_set_num_threads(1);
        assert_int_equal(ft_knn(cases[i].k, dims, n, points, cols, values, m, queries, out), 0);
        omp_set_num_threads(2);
        assert_int_equal(ft_knn(cases[i].k, dims, n, points, cols, values, m, queries, again), 0);
        assert_memory_equal(out, again, m * cols * sizeof *out);
        for (size_t q = 0; q < m; q++) {
            double expected[3];
            plain(cases[i].k, dims, n, points, cols, values, queries + q * dims, expected);
            for (size_t c = 0; c < cols; c++)
                assert_true(fabs((double)out[q * cols + c] - expected[c]) < 1e-6);
        }
        free(points);
        free(values);
        free(queries);
        free(out);
        free(again);
    }
}

TEST(test_wrong_k)
{
    static const float three[3] = {0};
    float out[1];
    assert_int_equal(ft_knn(0, 1, 3, three, 1, three, 1, three, out), ORR_EINVAL);
    error_names("k = 0", NULL);
    assert_int_equal(ft_knn(4, 1, 3, three, 1, three, 1, three, out), ORR_EINVAL);
    error_names("k = 4", "3 points", NULL);
    assert_int_equal(ft_knn(65, 1, 100, three, 1, three, 1, three, out), ORR_EINVAL);
    error_names("k = 65", NULL);
}

/* Columns of mean 0 and deviation 1; the second table goes through the same map; a constant
 * column is only centred. */
TEST(test_standardise)
{
    float a[300], b[6] = {0, 2, 5, 1, 0, 5};
    for (uint64_t i = 0; i < 100; i++) {
        a[3 * i] = (float)(1e4 + tiny_uniform(3, i));
        a[3 * i + 1] = (float)(1e-6 * tiny_uniform(4, i));
        a[3 * i + 2] = 5;
    }
    b[0] = a[0];
    b[1] = a[1];
    const double far = ((double)b[3] - (double)a[0]), step = (double)a[3] - (double)a[0];
    ft_standardise(3, 100, a, 2, b);
    for (size_t c = 0; c < 3; c++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < 100; i++) {
            mean += (double)a[3 * i + c] / 100;
            square += (double)a[3 * i + c] * (double)a[3 * i + c] / 100;
        }
        assert_true(fabs(mean) < 1e-4);
        assert_true(fabs(square - (c < 2)) < 1e-4);
    }
    assert_true(b[0] == a[0] && b[1] == a[1] && b[2] == 0 && b[5] == 0);
    const double unit = ((double)a[3] - (double)a[0]) / step;
    assert_true(fabs(((double)b[3] - (double)b[0]) - far * unit) < 1e-5 * fabs(far * unit));
}

/* ------------------------------------------------------------------------------ oracles */

/* Asked about the very positions it knows, the oracle with one neighbour repeats their labels. */
TEST(test_oracle_of_known_positions)
{
    struct tiny tiny;
    struct orr_csv csv;
    tiny_preset(&tiny.settings, false);
    tiny.settings.finetune.knn_magnitude = 1;
    tiny.settings.orbits.two_body_train = 17;
    tiny_open(&tiny);
    const struct sim_dataset test = tiny.run.test;
    tiny.run.test = tiny.run.train; /* rows of the training sequences */
    assert_int_equal(ft_sample(&tiny.run.test, 32, 3, 3, 40, tiny.run.rows), 0);
    assert_int_equal(ft_magnitude_oracle(&tiny.run), 0);
    tiny_read(&csv, &tiny, "oracle", "forces_magnitude.csv");
    for (size_t i = 0; i < csv.rows; i++)
        assert_true(tiny_cell(&csv, i, "F") == tiny_cell(&csv, i, "F_true"));
    orr_csv_free(&csv);
    tiny.run.test = test;
    tiny_close(&tiny);
}

/* The magnitude oracle by hand: standardised states of the labelled training rows that models are
 * fed, which a sequence's last row is not. */
TEST(test_magnitude_oracle)
{
    struct tiny tiny;
    struct orr_csv csv;
    tiny_preset(&tiny.settings, true);
    tiny.settings.finetune.knn_magnitude = 3;
    tiny_open(&tiny);
    const struct sim_dataset *train = &tiny.run.train, *test = &tiny.run.test;
    assert_int_equal(ft_magnitude_oracle(&tiny.run), 0);
    tiny_read(&csv, &tiny, "oracle", "forces_magnitude.csv");
    const size_t most = train->n * (size_t)train->positions;
    float *points = calloc(6 * most, sizeof *points), *values = calloc(most, sizeof *values);
    assert_true(points && values);
    size_t n = 0;
    for (size_t i = 0; i < most; i++)
        if (isfinite(train->force_magnitude[i]) && (i + 1) % (size_t)train->positions != 0) {
            memcpy(points + 6 * n, train->full_state + 6 * i, 6 * sizeof *points);
            values[n++] = train->force_magnitude[i];
        }
    float *queries = calloc(6 * csv.rows, sizeof *queries);
    assert_non_null(queries);
    for (size_t i = 0; i < csv.rows; i++)
        memcpy(queries + 6 * i,
               test->full_state + 6 * ((size_t)tiny.run.rows[i].sequence * (size_t)test->positions +
                                       (size_t)tiny.run.rows[i].row),
               6 * sizeof *queries);
    ft_standardise(6, n, points, csv.rows, queries);
    for (size_t i = 0; i < csv.rows; i++) {
        double expected;
        plain(3, 6, n, points, 1, values, queries + 6 * i, &expected);
        assert_true(fabs(tiny_cell(&csv, i, "F") - expected) <= 1e-6 * expected);
    }
    free(points);
    free(values);
    free(queries);
    orr_csv_free(&csv);
    tiny_close(&tiny);
}

/* The vector oracle with one neighbour: labelled positions get their own force back; the others
 * that of the nearest labelled one on the unscaled state. */
TEST(test_vector_oracle)
{
    for (int tokens = 0; tokens < 2; tokens++) {
        struct tiny tiny;
        struct orr_csv csv;
        tiny_preset(&tiny.settings, tokens);
        tiny.settings.finetune.knn_vector = 1;
        tiny_open(&tiny);
        const struct sim_dataset *set = &tiny.run.planets;
        const size_t P = (size_t)set->positions;
        const int labels = tiny.settings.planets.labels;
        double unit[FT_PLANETS][SIM_AXES];
        float points[5 * 120], values[2 * 120];
        ft_vector_scale(&tiny.run, unit);
        for (size_t i = 0; i < set->n * (size_t)labels; i++) {
            const size_t s = i / (size_t)labels, at = s * P + (size_t)tiny.run.labels[i];
            memcpy(points + 5 * i, set->state + 5 * at, 5 * sizeof *points);
            for (size_t c = 0; c < 2; c++)
                values[2 * i + c] = (float)((double)set->force_vector[2 * at + c] / unit[s][c]);
        }
        assert_int_equal(ft_vector_oracle(&tiny.run), 0);
        tiny_read(&csv, &tiny, "oracle", "forces_vector.csv");
        size_t row = 0;
        for (size_t s = 0; s < set->n; s++)
            for (size_t t = 0; t + 1 < P; t++) {
                double expected[2];
                if (!isfinite(set->force_vector[2 * (s * P + t)]))
                    continue;
                plain(1, 5, set->n * (size_t)labels, points, 2, values,
                      set->state + 5 * (s * P + t), expected);
                const double fx = tiny_cell(&csv, row, "fx"), fy = tiny_cell(&csv, row, "fy");
                assert_true(fabs(fx - expected[0]) < 1e-6 && fabs(fy - expected[1]) < 1e-6);
                if (tiny_cell(&csv, row, "labelled") > 0) {
                    assert_true(fabs(fx - tiny_cell(&csv, row, "fx_true")) < 1e-6);
                    assert_true(fabs(fy - tiny_cell(&csv, row, "fy_true")) < 1e-6);
                }
                row++;
            }
        assert_int_equal(row, csv.rows);
        orr_csv_free(&csv);
        tiny_close(&tiny);
    }
}

TESTS(NULL, NULL)
