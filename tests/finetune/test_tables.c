/* test_tables.c - the CSV tables of docs/formats.md: columns, units, the same rows for every
 * source, all or nothing on disk. */
#include "on_ref.h"
#include "tiny.h"

#include <signal.h>
#include <sys/resource.h>

static struct tiny tiny;

static void columns_are(const struct orr_csv *csv, const char *expected)
{
    char found[512] = "";
    for (size_t c = 0; c < csv->cols; c++) {
        const size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s", c ? "," : "", csv->names[c]);
    }
    assert_string_equal(found, expected);
}

static void close_to(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-6 * fabs(expected)))
        fail_msg("found %.9g, expected %.9g", found, expected);
}

/* Every cell from its definition. */
static void check_magnitude(const struct orr_csv *csv, bool tokens)
{
    const struct sim_dataset *set = &tiny.run.test;
    columns_are(csv, "sample,sequence,step,r,m1,m2,dt,F_true,F");
    assert_int_equal(csv->rows, 120);
    size_t lighter = 0; /* rows whose body 1 is the lighter one */
    for (size_t i = 0; i < csv->rows; i++) {
        const long sequence = (long)tiny_cell(csv, i, "sequence");
        const int step = (int)tiny_cell(csv, i, "step");
        const struct ft_row *row = &tiny.run.rows[i];
        assert_int_equal(tiny_cell(csv, i, "sample"), i / 40);
        assert_int_equal(sequence, row->sequence);
        /* rows of a step: planet, then sun (tokens are labelled on the planet) */
        assert_int_equal(1 + 2 * step + (tokens ? 0 : 1), row->row);
        const double m1 = tiny_cell(csv, i, "m1"), m2 = tiny_cell(csv, i, "m2");
        const double r = tiny_cell(csv, i, "r"), dt = tiny_cell(csv, i, "dt");
        close_to(tiny_cell(csv, i, "F_true"), SIM_G * m1 * m2 / (r * r));
        const size_t at = (size_t)(sequence * set->positions + row->row);
        close_to(m1, (double)set->full_state[6 * at + 4]);
        close_to(m2, (double)set->full_state[6 * at + 5]);
        lighter += m1 < m2;
        const uint16_t token = tokens ? set->tokens[sequence * set->positions * 2] : 0;
        close_to(dt, tokens ? (token == 150 ? 7 : 180) * 0.0027 : 0.04); /* the study's day */
    }
    /* planets are lighter than stars; of two comparable bodies either may be */
    assert_true(tokens ? lighter == csv->rows : lighter > 0 && lighter < csv->rows);
}

TEST(test_magnitude)
{
    for (int tokens = 0; tokens < 2; tokens++) {
        struct orr_csv truth, oracle, model;
        tiny_preset(&tiny.settings, tokens);
        tiny_open(&tiny);
        assert_int_equal(ft_magnitude_truth(&tiny.run), 0);
        assert_int_equal(ft_magnitude_oracle(&tiny.run), 0);
        assert_int_equal(ft_magnitude_model(&tiny.run, "softmax", "softmax", NULL), 0);
        tiny_read(&truth, &tiny, "truth", "forces_magnitude.csv");
        tiny_read(&oracle, &tiny, "oracle", "forces_magnitude.csv");
        tiny_read(&model, &tiny, "softmax", "forces_magnitude.csv");
        check_magnitude(&truth, tokens);
        check_magnitude(&oracle, tokens);
        check_magnitude(&model, tokens);
        for (size_t i = 0; i < truth.rows; i++) {
            for (size_t c = 0; c < 8; c++) { /* all but F, to the letter */
                assert_string_equal(truth.cells[9 * i + c], oracle.cells[9 * i + c]);
                assert_string_equal(truth.cells[9 * i + c], model.cells[9 * i + c]);
            }
            assert_string_equal(truth.cells[9 * i + 7], truth.cells[9 * i + 8]);
        }
        orr_csv_free(&truth);
        orr_csv_free(&oracle);
        orr_csv_free(&model);
        tiny_close(&tiny);
    }
}

TEST(test_vector)
{
    for (int tokens = 0; tokens < 2; tokens++) {
        struct orr_csv truth, oracle, model;
        tiny_preset(&tiny.settings, tokens);
        tiny_open(&tiny);
        assert_int_equal(ft_vector_truth(&tiny.run), 0);
        assert_int_equal(ft_vector_oracle(&tiny.run), 0);
        assert_int_equal(ft_vector_model(&tiny.run, "softmax", "softmax", NULL), 0);
        tiny_read(&truth, &tiny, "truth", "forces_vector.csv");
        tiny_read(&oracle, &tiny, "oracle", "forces_vector.csv");
        tiny_read(&model, &tiny, "softmax", "forces_vector.csv");
        assert_int_equal(truth.rows, oracle.rows);
        assert_int_equal(truth.rows, model.rows);
        columns_are(&truth, "planet,name,step,x,y,fx_true,fy_true,fx,fy,labelled");
        for (size_t i = 0; i < truth.rows; i++) {
            for (size_t c = 0; c < 10; c++) {
                if (c == 7 || c == 8) {
                    assert_string_equal(truth.cells[10 * i + c], truth.cells[10 * i + c - 2]);
                    continue;
                }
                assert_string_equal(truth.cells[10 * i + c], oracle.cells[10 * i + c]);
                assert_string_equal(truth.cells[10 * i + c], model.cells[10 * i + c]);
            }
            const int planet = (int)tiny_cell(&truth, i, "planet");
            assert_string_equal(truth.cells[10 * i + 1], sim_sun_bodies[planet].name);
            /* the force points to the sun, which is at (0, 0) of x, y */
            const double x = tiny_cell(&truth, i, "x"), y = tiny_cell(&truth, i, "y");
            const double fx = tiny_cell(&truth, i, "fx_true"), fy = tiny_cell(&truth, i, "fy_true");
            close_to((-x * fx - y * fy) / (hypot(x, y) * hypot(fx, fy)), 1);
            assert_true(isfinite(tiny_cell(&model, i, "fx")));
        }
        orr_csv_free(&truth);
        orr_csv_free(&oracle);
        orr_csv_free(&model);
        tiny_close(&tiny);
    }
}

static int entries(const char *source)
{
    char folder[4096];
    tiny_path(folder, &tiny, source, "");
    return scratch_count(folder);
}

/* A table that cannot be written whole leaves the old one, and nothing else. */
TEST(test_all_or_nothing)
{
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    assert_int_equal(ft_magnitude_truth(&tiny.run), 0);
    assert_int_equal(ft_vector_truth(&tiny.run), 0);
    const uint64_t magnitude = tiny_checksum(&tiny, "truth", "forces_magnitude.csv");
    const uint64_t vector = tiny_checksum(&tiny, "truth", "forces_vector.csv");
    assert_int_equal(entries("truth"), 4); /* tables, and what they were made from */

    struct rlimit was, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = was;
    small.rlim_cur = 3000; /* a disk that is full in mid-table */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    tiny.run.rows[1].row += 2; /* another table */
    const int first = ft_magnitude_truth(&tiny.run);
    const bool named = strstr(orr_error(), "forces_magnitude.csv") != NULL;
    const int second = ft_vector_oracle(&tiny.run);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(first, ORR_EIO);
    assert_true(named);
    assert_int_equal(second, ORR_EIO);
    error_names("oracle", "forces_vector.csv", NULL);
    assert_int_equal(entries("truth"), 4); /* tables, and what they were made from */
    assert_int_equal(entries("oracle"), 0);
    assert_int_equal(tiny_checksum(&tiny, "truth", "forces_magnitude.csv"), magnitude);
    assert_int_equal(tiny_checksum(&tiny, "truth", "forces_vector.csv"), vector);

    assert_int_equal(ft_magnitude_truth(&tiny.run), 0); /* with room again */
    assert_true(tiny_checksum(&tiny, "truth", "forces_magnitude.csv") != magnitude);
    tiny_close(&tiny);
}

/* Where the run directory cannot be, the message says so. */
TEST(test_no_folder)
{
    char file[4096];
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    scratch_path(file, tiny.dir, "file");
    scratch_text(file, "not a folder\n");
    scratch_path(tiny.run.run, tiny.dir, "file");
    assert_int_equal(ft_magnitude_truth(&tiny.run), ORR_EIO);
    error_names(file, NULL);
    tiny_close(&tiny);
}

TESTS_ON_REF(NULL, NULL)
