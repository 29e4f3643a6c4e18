/* test_rows.c - which held-out positions are predicted and which planet positions are labelled. */
#include "on_ref.h"
#include "tiny.h"

static struct tiny tiny;

/* Held-out, labelled, inside the model's context, no position twice in a sample. */
static void check_sample(const struct sim_dataset *set, int T, const struct ft_row *rows,
                         int sample, int size)
{
    for (int i = 0; i < size; i++) {
        const struct ft_row *row = &rows[i];
        const size_t at = (size_t)row->sequence * (size_t)set->positions + (size_t)row->row;
        assert_int_equal(row->sample, sample);
        assert_in_range(row->sequence, 0, set->n - 1);
        assert_in_range(row->row, 1, T - 1);
        assert_true(isfinite(set->force_magnitude[at]));
        for (int j = 0; j < i; j++)
            assert_false(rows[j].sequence == row->sequence && rows[j].row == row->row);
        /* the state of the row explains its label */
        const float *s = set->full_state + 6 * at;
        const double r2 = (double)s[0] * (double)s[0] + (double)s[1] * (double)s[1];
        const double F = SIM_G * (double)s[4] * (double)s[5] / r2;
        assert_true(fabs((double)set->force_magnitude[at] - F) <= 1e-6 * F);
    }
}

TEST(test_samples)
{
    for (int kind = 0; kind < 2; kind++) {
        tiny_preset(&tiny.settings, kind == 1);
        tiny_open(&tiny);
        const struct ft_run *run = &tiny.run;
        assert_int_equal(run->row_count, 120);
        for (int sample = 0; sample < 3; sample++)
            check_sample(&run->test, run->test.positions - 1, run->rows + 40 * sample, sample, 40);
        for (int i = 0; i < 120; i++) /* what samples agree on is found by independent data */
            for (int j = 0; j < 40 * (i / 40); j++)
                assert_int_not_equal(run->rows[i].sequence, run->rows[j].sequence);
        tiny_close(&tiny);
    }
}

/* As many rows as there are: each exactly once; one more is an error. */
TEST(test_all_rows)
{
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    const struct sim_dataset *set = &tiny.run.test;
    const int T = set->positions - 1;
    int labelled = 0;
    for (size_t s = 0; s < set->n; s++)
        for (int t = 0; t < T; t++)
            labelled += isfinite(set->force_magnitude[s * (size_t)set->positions + (size_t)t]);
    /* 16 steps of two bodies; the first 5 carry none, the last one's row is no input */
    assert_int_equal(labelled, 17 * (16 - 5 - 1));
    struct ft_row *rows = calloc((size_t)labelled + 1, sizeof *rows);
    assert_non_null(rows);
    assert_int_equal(ft_sample(set, T, 3, 1, labelled, rows), 0);
    check_sample(set, T, rows, 0, labelled);
    assert_int_equal(ft_sample(set, T, 3, 1, labelled + 1, rows), ORR_EINVAL);
    error_names("finetune.sample_size", "at most 170", "found 171", "finetune.samples = 1",
                "orbits.two_body_test = 17", NULL);
    free(rows);
    tiny_close(&tiny);
}

/* Every sequence belongs to one sample, and the first samples have one more when their number does
 * not divide that of the sequences: 17 are 5 + 4 + 4 + 4. With fewer rows than asked for the error
 * tells of the sample that has too few. */
TEST(test_shares)
{
    struct ft_row rows[170];
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    const struct sim_dataset *set = &tiny.run.test;
    const int T = set->positions - 1;
    assert_int_equal(ft_sample(set, T, 3, 4, 40, rows), 0);
    bool seen[4][17] = {{false}};
    for (int i = 0; i < 160; i++)
        seen[rows[i].sample][rows[i].sequence] = true;
    for (int s = 0; s < 17; s++)
        assert_int_equal(seen[0][s] + seen[1][s] + seen[2][s] + seen[3][s], 1);
    for (int k = 0; k < 4; k++) { /* 40 of 50 or 40 rows: of every sequence there are some */
        int sequences = 0;
        for (int s = 0; s < 17; s++)
            sequences += seen[k][s];
        assert_int_equal(sequences, k < 1 ? 5 : 4);
    }
    assert_int_equal(ft_sample(set, T, 3, 4, 41, rows), ORR_EINVAL);
    error_names("finetune.sample_size", "at most 40", "found 41", "finetune.samples = 4",
                "sample 1 has 4 of orbits.two_body_test = 17", NULL);
    assert_int_equal(ft_sample(set, T, 3, 17, 10, rows), 0);
    for (int i = 0; i < 170; i++)
        assert_int_equal(rows[i].sequence, rows[i - i % 10].sequence);
    assert_int_equal(ft_sample(set, T, 3, 18, 2, rows), ORR_EINVAL);
    error_names("sample 17 has 0 of orbits.two_body_test = 17", NULL);
    tiny_close(&tiny);
}

/* A function of the seed; rows are those that the model is fed. */
TEST(test_seeds)
{
    struct ft_row a[60], b[60];
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    const struct sim_dataset *set = &tiny.run.test;
    assert_int_equal(ft_sample(set, 32, 3, 3, 20, a), 0);
    assert_int_equal(ft_sample(set, 32, 3, 3, 20, b), 0);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(ft_sample(set, 32, 4, 3, 20, b), 0);
    assert_memory_not_equal(a, b, sizeof a);
    assert_int_equal(ft_sample(set, 18, 3, 3, 9, b), 0); /* another T: no row beyond it */
    for (int i = 0; i < 27; i++)
        assert_true(b[i].row < 18);
    tiny_close(&tiny);
}

/* Over many seeds every labelled position, and every sequence, is as likely as any other, in every
 * sample; two sequences are in the same sample as often as chance has it. */
TEST(test_uniform)
{
    enum { SEEDS = 2000, SIZE = 30, SAMPLES = 3 };
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    const struct sim_dataset *set = &tiny.run.test;
    static int hits[SAMPLES][17][33], together;
    struct ft_row rows[SAMPLES * SIZE];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int owner[17] = {0};
        assert_int_equal(ft_sample(set, 32, seed, SAMPLES, SIZE, rows), 0);
        for (int i = 0; i < SAMPLES * SIZE; i++) {
            hits[rows[i].sample][rows[i].sequence][rows[i].row]++;
            owner[rows[i].sequence] = rows[i].sample;
        }
        together += owner[4] == owner[7];
    }
    /* whatever its number of sequences, a sample has SIZE of the 170 rows */
    const double share = SIZE / 170.0, mean = SEEDS * share;
    const double sigma = sqrt(SEEDS * share * (1 - share)); /* binomial */
    for (int k = 0; k < SAMPLES; k++)
        for (int s = 0; s < 17; s++)
            for (int t = 0; t < 33; t++)
                if (isfinite(set->force_magnitude[s * 33 + t]) && t < 32)
                    assert_true(fabs(hits[k][s][t] - mean) < 5 * sigma);
                else
                    assert_int_equal(hits[k][s][t], 0);
    const double pair = (6 * 5 + 6 * 5 + 5 * 4) / (17.0 * 16); /* shares of 6, 6 and 5 */
    assert_true(fabs(together - SEEDS * pair) < 5 * sqrt(SEEDS * pair * (1 - pair)));
    tiny_close(&tiny);
}

TEST(test_labels)
{
    for (int kind = 0; kind < 2; kind++) {
        tiny_preset(&tiny.settings, kind == 1);
        tiny_open(&tiny);
        const struct sim_dataset *set = &tiny.run.planets;
        const int T = set->positions - 1, count = tiny.settings.planets.labels;
        int found[64], differs = 0;
        assert_int_equal(set->n, kind ? SIM_SUN_PLANETS : SIM_SUN_BODIES);
        for (long s = 0; s < (long)set->n; s++) {
            assert_int_equal(ft_choose_labels(set, s, T, tiny.settings.seed, count, found), 0);
            assert_memory_equal(found, tiny.run.labels + s * count, (size_t)count * sizeof(int));
            for (int i = 0; i < count; i++) {
                const size_t at = (size_t)s * (size_t)set->positions + (size_t)found[i];
                assert_true(i == 0 || found[i] > found[i - 1]);
                assert_in_range(found[i], 1, T - 1);
                assert_true(isfinite(set->force_vector[2 * at]));
            }
            assert_int_equal(ft_choose_labels(set, s, T, 99, count, found), 0);
            differs += memcmp(found, tiny.run.labels + s * count, (size_t)count * sizeof(int)) != 0;
        }
        assert_true(differs > 4);
        assert_int_equal(ft_choose_labels(set, 3, T, 1, T, found), ORR_EINVAL);
        error_names("planets.labels", "sequence 3", NULL);
        /* the vector's labels count, whatever the magnitude's are */
        struct sim_dataset other = *set;
        const size_t rows = set->n * (size_t)set->positions;
        float *none = orr_alloc(rows, sizeof *none);
        assert_non_null(none);
        for (size_t i = 0; i < rows; i++)
            none[i] = INFINITY;
        other.force_magnitude = none;
        assert_int_equal(ft_choose_labels(&other, 7, T, tiny.settings.seed, count, found), 0);
        assert_memory_equal(found, tiny.run.labels + 7 * count, (size_t)count * sizeof(int));
        free(none);
        tiny_close(&tiny);
    }
}

TESTS_ON_REF(NULL, NULL)
