/* test_analysis.c - reading forces, R^2, exponents with intervals, baselines, facts of samples. */
#include "symreg/formulas.h"
#include "analysis.h"

/* Forces of `sequences` sequences with `steps` rows each, in `samples` samples by turns. Each
 * sequence has its own masses, size and time step. */
static void forces_create(struct law_forces *forces, int sequences, int steps, int samples,
                          uint64_t seed)
{
    const size_t n = (size_t)sequences * (size_t)steps;
    double *block = orr_alloc(9 * n, sizeof *block);
    assert_non_null(block);
    *forces = (struct law_forces){.rows = n, .samples = samples, .storage = block};
    double **const at[9] = {&forces->sample, &forces->sequence, &forces->step,
                            &forces->r,      &forces->m1,       &forces->m2,
                            &forces->dt,     &forces->f_true,   &forces->f};
    for (size_t c = 0; c < 9; c++)
        *at[c] = block + c * n;
    gsl_rng *rng = random_stream(seed);
    for (size_t s = 0; s < (size_t)sequences; s++) {
        const double a = 0.7 + 1.6 * gsl_rng_uniform(rng), m1 = 0.1 + 1.9 * gsl_rng_uniform(rng),
                     m2 = 0.1 + 1.9 * gsl_rng_uniform(rng), dt = 0.01 + gsl_rng_uniform(rng);
        for (size_t k = 0; k < (size_t)steps; k++) {
            /* rows of a sequence stand apart from each other */
            const size_t i = k * (size_t)sequences + s;
            forces->sample[i] = (double)(i % (size_t)samples);
            forces->sequence[i] = (double)s;
            forces->step[i] = (double)k;
            forces->r[i] = a * (0.6 + gsl_rng_uniform(rng));
            forces->m1[i] = m1;
            forces->m2[i] = m2;
            forces->dt[i] = dt;
            forces->f_true[i] = 39.478 * m1 * m2 / (forces->r[i] * forces->r[i]);
            forces->f[i] = forces->f_true[i];
        }
    }
    gsl_rng_free(rng);
}

TEST(truth_has_the_exponents_of_the_law)
{
    static const double expected[3] = {-2, 1, 1};
    struct law_forces forces;
    struct law_analysis a;
    forces_create(&forces, 40, 25, 5, 71);
    assert_int_equal(law_analyse(&forces, 3, &a), 0);
    assert_true(near(a.r2_log, 1, 1e-14) && a.median_relative_error == 0 && a.dropped == 0);
    for (int e = 0; e < 3; e++) {
        assert_true(near(a.exponent[e].value, expected[e], 1e-10));
        assert_true(near(a.exponent[e].low, expected[e], 1e-10));
        assert_true(near(a.exponent[e].high, expected[e], 1e-10));
    }
    law_forces_free(&forces);
    assert_null(forces.storage);
}

/* Errors shared by a sequence: the intervals hold the true exponents about as often as they say,
 * which they only do when whole sequences are resampled. */
TEST(intervals_hold_the_truth)
{
    enum { TRIALS = 40 };
    int inside = 0, rank = 0;
    double width = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct law_forces forces;
        struct law_analysis a;
        gsl_rng *rng = random_stream(200 + (uint64_t)trial);
        forces_create(&forces, 40, 25, 5, 300 + (uint64_t)trial);
        double shared[40];
        for (int s = 0; s < 40; s++)
            shared[s] = gsl_ran_gaussian(rng, 0.2);
        for (size_t i = 0; i < forces.rows; i++)
            forces.f[i] = 5 * pow(forces.r[i], -1.5) * pow(forces.m1[i], 0.7) *
                          pow(forces.m2[i], 0.2) *
                          exp(shared[(int)forces.sequence[i]] + gsl_ran_gaussian(rng, 0.05));
        assert_int_equal(law_analyse(&forces, 3, &a), 0);
        static const double truth[3] = {-1.5, 0.7, 0.2};
        for (int e = 0; e < 3; e++) {
            assert_true(a.exponent[e].low < a.exponent[e].value);
            assert_true(a.exponent[e].value < a.exponent[e].high);
            inside += a.exponent[e].low <= truth[e] && truth[e] <= a.exponent[e].high;
            rank++;
        }
        width += (a.exponent[1].high - a.exponent[1].low) / TRIALS;
        law_forces_free(&forces);
        gsl_rng_free(rng);
    }
    if (inside < 0.85 * rank || inside > 0.995 * rank)
        fail_msg("%d of %d intervals hold the truth", inside, rank);
    assert_true(width > 0.08 && width < 0.4); /* 40 sequences of error 0.2, not 1000 rows */
}

/* Where m1 is the same in all rows, its exponent cannot be told from the constant; that of r is not
 * concerned, and the shortest solution gives each of the two what it can. */
TEST(equal_masses_leave_the_exponent_of_r)
{
    struct law_forces forces;
    struct law_analysis a;
    forces_create(&forces, 12, 9, 4, 75);
    for (size_t i = 0; i < forces.rows; i++) {
        forces.m1[i] = 2.385;
        forces.f[i] = 3 * pow(forces.r[i], -1.7) * pow(forces.m2[i], 0.4);
    }
    assert_int_equal(law_analyse(&forces, 3, &a), 0);
    assert_true(near(a.exponent[0].value, -1.7, 1e-12));
    assert_true(near(a.exponent[2].value, 0.4, 1e-12));
    /* 1 and ln m1 in units of their lengths: c + e ln m1 = ln 3, each c ln m1 = e (ln m1)^2 */
    assert_true(near(a.exponent[1].value, log(3) / (2 * log(2.385)), 1e-12));
    law_forces_free(&forces);
}

TEST(intervals_depend_on_the_seed_alone)
{
    struct law_forces forces;
    struct law_analysis a, b;
    gsl_rng *rng = random_stream(72);
    forces_create(&forces, 20, 10, 2, 73);
    for (size_t i = 0; i < forces.rows; i++)
        forces.f[i] *= exp(gsl_ran_gaussian(rng, 0.3));
    assert_int_equal(law_analyse(&forces, 3, &a), 0);
    assert_int_equal(law_analyse(&forces, 3, &b), 0);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(law_analyse(&forces, 4, &b), 0);
    assert_true(a.exponent[0].value == b.exponent[0].value);
    assert_true(a.exponent[0].low != b.exponent[0].low);
    gsl_rng_free(rng);
    law_forces_free(&forces);
}

/* R^2, median error and dropped rows of six rows, by hand. */
TEST(errors_by_hand)
{
    static const double truth[6] = {1, 2, 4, 8, 16, 32}, f[6] = {1.1, 2, 3, -8, 0, 40};
    struct law_forces forces;
    struct law_analysis a;
    forces_create(&forces, 3, 2, 1, 74);
    memcpy(forces.f_true, truth, sizeof truth);
    memcpy(forces.f, f, sizeof f);
    assert_int_equal(law_analyse(&forces, 3, &a), 0);
    assert_int_equal(a.dropped, 2);
    /* relative errors .1 0 .25 2 1 .25: the median lies between .25 and .25 */
    assert_true(near(a.median_relative_error, 0.25, 1e-12));
    /* over the rows 1, 2, 4, 32 */
    double mean = 0, tss = 0, rss = 0;
    static const int kept[4] = {0, 1, 2, 5};
    for (int k = 0; k < 4; k++)
        mean += log(truth[kept[k]]) / 4;
    for (int k = 0; k < 4; k++) {
        tss += pow(log(truth[kept[k]]) - mean, 2);
        rss += pow(log(f[kept[k]] / truth[kept[k]]), 2);
    }
    assert_true(near(a.r2_log, 1 - rss / tss, 1e-12));
    for (int e = 0; e < 3; e++) /* four rows do not tell four coefficients */
        assert_true(isnan(a.exponent[e].value) && isnan(a.exponent[e].low));
    for (int i = 0; i < 6; i++)
        forces.f[i] = -1;
    assert_int_equal(law_analyse(&forces, 3, &a), 0);
    assert_int_equal(a.dropped, 6);
    assert_true(isnan(a.r2_log) && isfinite(a.median_relative_error));
    law_forces_free(&forces);
}

/* Dropped rows do not touch the exponents of the others. */
TEST(rows_without_logarithm_are_left_out)
{
    struct law_forces forces;
    struct law_analysis a;
    forces_create(&forces, 30, 10, 3, 75);
    for (size_t i = 0; i < forces.rows; i += 7)
        forces.f[i] = i % 2 ? -3 : 0;
    for (size_t i = 0; i < forces.rows; i++)
        if ((int)forces.sequence[i] == 0) /* a sequence without any */
            forces.f[i] = -1;
    size_t bad = 0;
    for (size_t i = 0; i < forces.rows; i++)
        bad += forces.f[i] <= 0;
    assert_int_equal(law_analyse(&forces, 3, &a), 0);
    assert_int_equal(a.dropped, bad);
    assert_true(near(a.r2_log, 1, 1e-12) && near(a.exponent[0].value, -2, 1e-9) &&
                near(a.exponent[2].low, 1, 1e-9));
    law_forces_free(&forces);
}

/* R^2 of y on up to 4 columns, by Gram-Schmidt: each column takes away what it explains. */
static double r2_by_hand(const double *y, double *const *column, int columns, size_t n)
{
    double *block = orr_alloc((size_t)(columns + 2) * n, sizeof *block), tss = 0, rss = 0;
    assert_non_null(block);
    for (int c = 0; c <= columns + 1; c++) { /* 1, the columns, y */
        double *v = block + (size_t)c * n;
        for (size_t i = 0; i < n; i++)
            v[i] = c == 0 ? 1 : c <= columns ? column[c - 1][i] : y[i];
        for (int twice = 0; twice < 2; twice++)
            for (int b = 0; b < c; b++) {
                const double *u = block + (size_t)b * n;
                double uv = 0, uu = 0;
                for (size_t i = 0; i < n; i++) {
                    uv += u[i] * v[i];
                    uu += u[i] * u[i];
                }
                for (size_t i = 0; i < n; i++)
                    v[i] -= uv / uu * u[i];
                if (b == 0 && c == columns + 1 && twice == 0)
                    for (size_t i = 0; i < n; i++)
                        tss += v[i] * v[i];
            }
    }
    for (size_t i = 0; i < n; i++)
        rss += pow(block[(size_t)(columns + 1) * n + i], 2);
    free(block);
    return 1 - rss / tss;
}

TEST(baselines_are_regressions)
{
    struct law_forces forces;
    struct law_baselines baselines;
    forces_create(&forces, 30, 12, 3, 76);
    const size_t n = forces.rows;
    double *block = orr_alloc(4 * n, sizeof *block);
    assert_non_null(block);
    double *y = block, *column[3] = {block + n, block + 2 * n, block + 3 * n};
    for (size_t i = 0; i < n; i++) {
        double mean = 0;
        for (size_t k = 0; k < n; k++)
            mean += forces.sequence[k] == forces.sequence[i] ? forces.r[k] / 12 : 0;
        y[i] = log(forces.f_true[i]);
        column[0][i] = log(forces.r[i]);
        column[1][i] = log(forces.dt[i]);
        column[2][i] = log(mean);
        forces.f[i] = i % 3 ? -1 : 7; /* only F_true counts */
    }
    assert_int_equal(law_analyse_baselines(&forces, &baselines), 0);
    assert_true(near(baselines.log_r, r2_by_hand(y, column, 1, n), 1e-9));
    assert_true(near(baselines.log_scale_dt_r, r2_by_hand(y, column, 3, n), 1e-9));
    assert_true(baselines.log_scale_dt_r > baselines.log_r && baselines.constant == 0);
    free(block);
    law_forces_free(&forces);
}

/* F = k m1 / r^2 exactly in sample 1: k is found; the leverage is the largest sequence's share. */
TEST(facts_of_a_sample)
{
    struct law_forces forces;
    struct law_sample_facts facts;
    forces_create(&forces, 10, 9, 2, 77);
    double share[10] = {0}, total = 0, largest = 0;
    size_t rows = 0;
    for (size_t i = 0; i < forces.rows; i++) {
        if (forces.sample[i] != 1)
            continue;
        forces.f[i] = 12.5 * forces.m1[i] / (forces.r[i] * forces.r[i]);
        if (i % 5 == 0)
            forces.f[i] *= -1; /* outliers */
        share[(int)forces.sequence[i]] += fabs(forces.f[i]);
        total += fabs(forces.f[i]);
        rows++;
    }
    for (int s = 0; s < 10; s++)
        largest = fmax(largest, share[s]);
    assert_int_equal(law_analyse_sample(&forces, 1, &facts), 0);
    assert_int_equal(facts.rows, rows);
    assert_true(near(facts.k_dropped_m2, 12.5, 1e-12));
    assert_true(near(facts.leverage, largest / total, 1e-12));
    /* sample 0: no k is better, by brute force over the rows' own */
    assert_int_equal(law_analyse_sample(&forces, 0, &facts), 0);
    double best = HUGE_VAL, found = 0;
    for (size_t k = 0; k < forces.rows; k++) {
        double loss = 0;
        found = 0;
        for (size_t i = 0; i < forces.rows; i++) {
            const double shape = forces.m1[i] / (forces.r[i] * forces.r[i]);
            if (forces.sample[i] != 0)
                continue;
            loss += fabs(forces.f[i] - 39.478 * forces.m2[k] * shape);
            found += fabs(forces.f[i] - facts.k_dropped_m2 * shape);
        }
        best = fmin(best, loss);
    }
    assert_true(found <= best * (1 + 1e-12));
    /* a sample without rows */
    assert_int_equal(law_analyse_sample(&forces, 7, &facts), 0);
    assert_true(facts.rows == 0 && isnan(facts.k_dropped_m2) && isnan(facts.leverage));
    law_forces_free(&forces);
}

/* ---- files */

static const char header[] = "sample,sequence,step,r,m1,m2,dt,F_true,F\n";

TEST(forces_are_read)
{
    char dir[64], path[4096];
    struct law_forces forces;
    scratch_create(dir);
    scratch_path(path, dir, "forces.csv");
    /* columns in any order, others beside them, CRLF */
    scratch_text(path, "F,extra,sample,sequence,step,r,m1,m2,dt,F_true\r\n"
                       "-1.5,9,0,4,8,1.25,0.5,2,0.04,31.6\r\n"
                       "2e-3,9,2,0,9,2.5,1,0.25,0.08,1.58\r\n");
    assert_int_equal(law_forces_read(path, &forces), 0);
    assert_true(forces.rows == 2 && forces.samples == 3);
    assert_true(forces.f[0] == -1.5 && forces.f[1] == 2e-3 && forces.f_true[1] == 1.58);
    assert_true(forces.sample[1] == 2 && forces.sequence[0] == 4 && forces.step[1] == 9);
    assert_true(forces.r[0] == 1.25 && forces.m1[1] == 1 && forces.m2[1] == 0.25 &&
                forces.dt[1] == 0.08);
    law_forces_free(&forces);
    scratch_remove(dir);
}

/* Sequences are told apart by their numbers, up to the largest that a data set may have and beyond:
 * the facts are those of the same rows with small numbers, to the last bit. */
TEST(large_sequence_numbers)
{
    static const double number[10] = {0,    1e6,    1000001,    999999999999.0, 1e12,
                                      1e15, 0x1p52, 0x1p53 - 2, 0x1p53 - 1,     17};
    char dir[64], path[4096];
    struct law_forces forces, large;
    struct law_sample_facts facts[2];
    struct law_analysis analysis[2];
    FILE *csv;
    scratch_create(dir);
    scratch_path(path, dir, "forces.csv");
    forces_create(&forces, 10, 9, 2, 78);
    csv = fopen(path, "w");
    assert_non_null(csv);
    fputs(header, csv);
    for (size_t i = 0; i < forces.rows; i++)
        fprintf(csv, "%.0f,%.0f,%.0f,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", forces.sample[i],
                number[(int)forces.sequence[i]], forces.step[i], forces.r[i], forces.m1[i],
                forces.m2[i], forces.dt[i], forces.f_true[i], forces.f[i]);
    assert_int_equal(fclose(csv), 0);
    assert_int_equal(law_forces_read(path, &large), 0);
    for (size_t i = 0; i < forces.rows; i++)
        assert_true(large.sequence[i] == number[(int)forces.sequence[i]]);
    for (int sample = 0; sample < 2; sample++) {
        assert_int_equal(law_analyse_sample(&forces, sample, &facts[0]), 0);
        assert_int_equal(law_analyse_sample(&large, sample, &facts[1]), 0);
        assert_memory_equal(&facts[0], &facts[1], sizeof facts[0]);
    }
    for (int k = 0; k < 2; k++) /* all exponents are exact: the drawn sequences do not matter */
        assert_int_equal(law_analyse(k ? &large : &forces, 3, &analysis[k]), 0);
    assert_true(near(analysis[1].exponent[0].low, analysis[0].exponent[0].low, 1e-9));
    law_forces_free(&forces);
    law_forces_free(&large);
    scratch_remove(dir);
}

static void broken(const char *path, const char *row, const char *a, const char *b)
{
    char text[512];
    struct law_forces forces;
    snprintf(text, sizeof text, "%s0,0,8,1,1,1,0.04,39.5,39\n%s\n", header, row);
    scratch_text(path, text);
    if (law_forces_read(path, &forces) != ORR_EFORMAT)
        fail_msg("row \"%s\" was read, or refused with another code: %s", row, orr_error());
    error_names(path, a, b, NULL);
    assert_null(forces.storage);
}

TEST(broken_forces_are_refused)
{
    char dir[64], path[4096];
    struct law_forces forces;
    scratch_create(dir);
    scratch_path(path, dir, "forces.csv");
    assert_int_equal(law_forces_read(path, &forces), ORR_EMISSING);
    error_names(path, "finetune", NULL);
    broken(path, "0,0,8,0,1,1,0.04,39.5,39", ":3", "r: expected a positive number, found 0");
    broken(path, "0,0,8,1,-1,1,0.04,39.5,39", ":3", "m1: expected a positive");
    broken(path, "0,0,8,1,1,1,0.04,0,39", ":3", "F_true: expected a positive");
    broken(path, "0,0,8,1,1,1,0.04,39.5,nan", ":3", "F");
    broken(path, "0,0,8,1,1,1,0.04,39.5,inf", ":3", "F");
    broken(path, "0.5,0,8,1,1,1,0.04,39.5,39", ":3", "sample: expected a whole number");
    broken(path, "0,-1,8,1,1,1,0.04,39.5,39", ":3", "sequence: expected a whole number");
    broken(path, "0,1.5,8,1,1,1,0.04,39.5,39", ":3", "sequence: expected a whole number");
    broken(path, "1000000,0,8,1,1,1,0.04,39.5,39", ":3", "sample: expected a whole number");
    broken(path, "0,9007199254740993,8,1,1,1,0.04,39.5,39", ":3", "sequence: expected a whole");
    broken(path, "0,1e300,8,1,1,1,0.04,39.5,39", ":3", "sequence: expected a whole number");
    broken(path, "0,0,8,1,1,abc,0.04,39.5,39", ":3", "abc");
    broken(path, "0,0,8,1,1", ":3", "5");
    scratch_text(path, header);
    assert_int_equal(law_forces_read(path, &forces), ORR_EFORMAT);
    error_names(path, "at least 2 rows", NULL);
    scratch_text(path, "sample,sequence,step,r,m1,m2,dt,F\n0,0,8,1,1,1,1,1\n0,0,8,1,1,1,1,1\n");
    assert_int_equal(law_forces_read(path, &forces), ORR_EFORMAT);
    error_names(path, "no column \"F_true\"", NULL);
    scratch_remove(dir);
}

/* Every table has the rows of the truth's, in any order and to the digits of float32. */
TEST(tables_have_the_rows_of_the_truth)
{
    static const char truth[] = "0,4,8,1.25,0.5,2,0.04,25.3,25.3\n"
                                "0,4,9,1.5,0.5,2,0.04,17.5,17.5\n"
                                "1,7,8,0.75,0.25,1,0.08,17.5,17.5\n";
    static const struct {
        const char *rows, *message; /* NULL: it is the truth's table */
    } cases[] = {{"1,7,8,0.75,0.25,1,0.08,17.5,1\n0,4,8,1.25,0.5,2,0.04,25.300001,2\n"
                  "0,4,9,1.4999999,0.5,2,0.04,17.5,-3\n",
                  NULL},
                 {"0,4,8,1.25,0.5,2,0.04,25.3,1\n0,4,9,1.5,0.5,2,0.04,0.04,1\n"
                  "1,7,8,0.75,0.25,1,0.08,17.5,1\n",
                  "table.csv:3: F_true: expected 17.5 as in line 3 of "},
                 {"0,4,8,1.25,0.5,2,0.04,25.3,1\n0,4,9,1.5,0.5,2,0.04,17.5,1\n"
                  "1,7,8,0.75,0.25,1,0.08,17.5001,1\n",
                  "table.csv:4: F_true"},
                 {"1,7,8,0.75,0.25,1,0.08,17.5,1\n0,4,8,1.26,0.5,2,0.04,25.3,2\n"
                  "0,4,9,1.5,0.5,2,0.04,17.5,-3\n",
                  "table.csv:3: r: expected 1.25"},
                 {"0,4,8,1.25,0.5,2,0.04,25.3,1\n0,4,9,1.5,2,0.5,0.04,17.5,1\n"
                  "1,7,8,0.75,0.25,1,0.08,17.5,1\n",
                  "table.csv:3: m1: expected 0.5"},
                 {"0,4,8,1.25,0.5,2,0.04,25.3,1\n0,5,9,1.5,0.5,2,0.04,17.5,1\n"
                  "1,7,8,0.75,0.25,1,0.08,17.5,1\n",
                  "table.csv: expected sample 0, sequence 4, step 9 as in line 3 of "},
                 {"0,4,8,1.25,0.5,2,0.04,25.3,1\n0,4,9,1.5,0.5,2,0.04,17.5,1\n",
                  "table.csv: expected sample 1, sequence 7, step 8"},
                 {"0,4,8,1.25,0.5,2,0.04,25.3,1\n0,4,9,1.5,0.5,2,0.04,17.5,1\n"
                  "0,4,9,1.5,0.5,2,0.04,17.5,1\n1,7,8,0.75,0.25,1,0.08,17.5,1\n",
                  "table.csv:4: expected a row of "}};
    char dir[64], path[4096], of_truth[4096], text[1024];
    struct law_forces f, t;
    scratch_create(dir);
    scratch_path(of_truth, dir, "truth.csv");
    scratch_path(path, dir, "table.csv");
    snprintf(text, sizeof text, "%s%s", header, truth);
    scratch_text(of_truth, text);
    assert_int_equal(law_forces_read(of_truth, &t), 0);
    assert_int_equal(law_forces_check(of_truth, &t, of_truth, &t), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s%s", header, cases[i].rows);
        scratch_text(path, text);
        assert_int_equal(law_forces_read(path, &f), 0);
        const int rc = law_forces_check(path, &f, of_truth, &t);
        if (rc != (cases[i].message ? ORR_EFORMAT : 0) ||
            (rc && !strstr(orr_error(), cases[i].message)))
            fail_msg("case %zu: %d, %s", i, rc, orr_error());
        orr_error_clear();
        law_forces_free(&f);
    }
    t.f[1] = 16; /* the truth's own predictions */
    assert_int_equal(law_forces_check(of_truth, &t, of_truth, &t), ORR_EFORMAT);
    error_names(of_truth, ":3: F: expected 17.5", NULL);
    law_forces_free(&t);
    scratch_remove(dir);
}

TESTS(NULL, NULL)
