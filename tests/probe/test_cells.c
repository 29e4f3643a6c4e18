/* test_cells.c - the file of cells that an interrupted probe resumes from: what is kept of it, and
 * what is measured again. */
#include <math.h>

#include "probe/cells_fixture.h"

enum { NUMBERS = 3 };
static const double numbers[3][NUMBERS] = {
    {2.385, -1e-300, 0.1}, {1e9 / 7, NAN, -3}, {NAN, NAN, NAN}};
static char folder[64], path[4096];

static void write_text(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void write_cells(void)
{
    struct probe_cells cells;
    const struct probe_options options = {.quiet = true};
    assert_int_equal(probe_cells_open(&cells, &options, folder, "x", "key 1", NUMBERS), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(probe_cells_add(&cells, numbers[i], "cell %d", i), 0);
    probe_cells_free(&cells);
}

FIXTURE(set_up)
{
    scratch_create(folder);
    scratch_path(path, folder, "x_cells.jsonl");
    write_cells();
    return 0;
}

FIXTURE(tear_down)
{
    scratch_remove(folder);
    return 0;
}

/* How many cells are kept, each with the numbers that it was added with. */
static int count_kept(const char *key, size_t count, bool resume)
{
    struct probe_cells cells;
    const struct probe_options options = {.resume = resume, .quiet = true};
    assert_int_equal(probe_cells_open(&cells, &options, folder, "x", key, count), 0);
    int kept = 0;
    for (int i = 0; i < 3; i++) {
        const double *value = probe_cells_find(&cells, "cell %d", i);
        for (int k = 0; k < NUMBERS && value; k++)
            assert_true(isnan(numbers[i][k]) ? isnan(value[k]) : value[k] == numbers[i][k]);
        kept += value != NULL;
    }
    assert_int_equal(kept, cells.count);
    assert_null(probe_cells_find(&cells, "cell"));
    probe_cells_free(&cells);
    return kept;
}

TEST_BETWEEN(test_resumes, set_up, tear_down)
{
    assert_int_equal(count_kept("key 1", NUMBERS, true), 3);
    assert_int_equal(count_kept("key 1", NUMBERS, true), 3); /* as it was written again */
}

/* Another key, other numbers, no --resume: nothing is kept, nor is it later. */
TEST_BETWEEN(test_others, set_up, tear_down)
{
    assert_int_equal(count_kept("key 1", NUMBERS + 1, true), 0);
    write_cells();
    assert_int_equal(count_kept("key 2", NUMBERS, true), 0);
    assert_int_equal(count_kept("key 1", NUMBERS, true), 0);
    write_cells();
    assert_int_equal(count_kept("key 1", NUMBERS, false), 0);
}

/* A program that was killed within a line, or a file that was changed: what is before is kept. */
TEST_BETWEEN(test_damage, set_up, tear_down)
{
    char *text, *line;
    size_t bytes;
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    for (size_t cut = bytes - 1; cut > bytes - 20; cut -= 6) {
        write_text(text, cut);
        assert_int_equal(count_kept("key 1", NUMBERS, true), 2);
    }
    line = strstr(text, "2.385");
    assert_non_null(line);
    line[0] = '3';
    write_text(text, bytes);
    assert_int_equal(count_kept("key 1", NUMBERS, true), 0);
    line[0] = '2';
    line = strstr(text, "-3]");
    line[1] = '4';
    write_text(text, bytes);
    assert_int_equal(count_kept("key 1", NUMBERS, true), 1);
    free(text);
}

TEST_BETWEEN(test_not_writable, set_up, tear_down)
{
    struct probe_cells cells;
    const struct probe_options options = {.resume = true, .quiet = true};
    assert_int_equal(probe_cells_open(&cells, &options, folder, "x", "key 1", NUMBERS), 0);
    assert_int_equal(orr_path(cells.path, "%s/none/x_cells.jsonl", folder), 0);
    assert_int_equal(probe_cells_add(&cells, numbers[0], "cell 7"), ORR_EIO);
    assert_non_null(strstr(orr_error(), "none/x_cells.jsonl"));
    probe_cells_free(&cells);
}

TESTS(NULL, NULL)
