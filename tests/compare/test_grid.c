/* test_grid.c - effects of factors on figures whose answers are worked by hand. */
#include "base/scratch.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

#include <sys/stat.h>

#include "compare/grid.h"
#include "compare/grid_picture.h"

#define assert_near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

enum { A = 2, B = 3, SEEDS = 2, CELLS = A * B * SEEDS, PLACES_MOST = 64 };

static struct compare_file file[CELLS];
static struct compare_files files = {.file = file, .count = CELLS};

/* Two attentions, three windows, two seeds; in the order of a sweep. */
static void make_files(void)
{
    static const char *const attention[A] = {"softmax", "lssar"};
    static const int window[B] = {0, 4, 10};
    memset(file, 0, sizeof file);
    for (int k = 0; k < CELLS; k++) {
        struct compare_file *f = &file[k];
        f->path = "file";
        f->seed = (uint64_t)(k % SEEDS);
        f->probe = "length";
        f->preset = "";
        f->source = attention[k / SEEDS / B];
        f->stage = "pretrain";
        f->json = cJSON_CreateObject();
        cJSON *settings = cJSON_AddObjectToObject(f->json, "settings");
        cJSON *model = cJSON_AddObjectToObject(settings, "model");
        cJSON_AddNumberToObject(settings, "seed", k % SEEDS);
        cJSON_AddStringToObject(settings, "attention", "softmax, lssar"); /* of the run */
        cJSON_AddNumberToObject(model, "attention_window", window[k / SEEDS % B]);
        cJSON_AddNumberToObject(model, "layers", 6);
    }
}

static cJSON *settings_of(const struct compare_file *f)
{
    return cJSON_GetObjectItem(f->json, "settings");
}

static void free_files(void)
{
    for (int k = 0; k < CELLS; k++)
        cJSON_Delete(file[k].json);
    orr_table_free(&files.table);
    files.count = CELLS;
}

/* The file at a place with the first seed. */
static const struct compare_file *file_at(const struct compare_grid *grid, int place)
{
    for (int k = 0; k < files.count; k++)
        if (grid->at[k] == place * SEEDS)
            return &file[k];
    fail_msg("no file at place %d", place);
    return NULL;
}

/* The rows of a grid with these values (places, seeds), by compare_grid_rows(). */
static struct orr_table rows_of(struct compare_grid *grid, const double *value)
{
    static struct compare_file one[PLACES_MOST];
    static int at[PLACES_MOST];
    static uint64_t seed[SEEDS] = {7, 3};
    struct compare_files all = {.file = one, .count = grid->places * SEEDS};
    struct orr_table rows;
    grid->seed = seed;
    grid->at = at;
    for (int k = 0; k < all.count; k++) {
        struct orr_row row = orr_row_none;
        row.value = value[k];
        row.upper_bound = 1000;
        at[k] = k;
        one[k].first = all.table.count;
        if (isfinite(value[k]))
            assert_int_equal(orr_table_add(&all.table, &row), 0);
        one[k].end = all.table.count;
    }
    assert_int_equal(compare_grid_rows(grid, &all, &orr_row_none, &rows), 0);
    assert_int_equal(rows.count, all.count);
    orr_table_free(&all.table);
    return rows;
}

/* value = 10 + 3 [lssar] + window effect (0, 1, 5) + 2 [lssar and the last window] + 0.25 of every
 * second seed. */
static void fill(const struct compare_grid *grid, double *value)
{
    static const double effect[B] = {0, 1, 5};
    for (int place = 0; place < grid->places; place++)
        for (int s = 0; s < SEEDS; s++) {
            const int a = place / B, b = place % B;
            value[place * SEEDS + s] = 10 + 3 * a + effect[b] + 2 * (a == 1 && b == 2) + 0.25 * s;
        }
}

TEST(test_factors)
{
    struct compare_grid grid;
    make_files();
    assert_int_equal(compare_grid_create(&grid, &files), 0);
    assert_int_equal(grid.factors, 2);
    assert_int_equal(grid.places, A * B);
    assert_int_equal(grid.seeds, SEEDS);
    const int window = !strcmp(grid.factor[0].name, "model.attention_window") ? 0 : 1;
    assert_string_equal(grid.factor[window].name, "model.attention_window");
    assert_string_equal(grid.factor[1 - window].name, "attention");
    assert_string_equal(grid.factor[window].level[0], "0");
    assert_string_equal(grid.factor[window].level[2], "10");
    assert_string_equal(grid.factor[1 - window].level[1], "lssar");
    for (int k = 0; k < CELLS; k++)
        for (int j = 0; j < k; j++)
            assert_int_not_equal(grid.at[k], grid.at[j]);
    for (int place = 0; place < grid.places; place++)
        for (int f = 0; f < 2; f++) {
            const int level = compare_grid_level(&grid, place, f);
            assert_int_equal(compare_grid_place(&grid, place, f, level), place);
            for (int other = 0; other < grid.factor[f].count; other++) {
                const int there = compare_grid_place(&grid, place, f, other);
                assert_int_equal(compare_grid_level(&grid, there, f), other);
                assert_int_equal(compare_grid_level(&grid, there, 1 - f),
                                 compare_grid_level(&grid, place, 1 - f));
            }
        }
    compare_grid_free(&grid);
    free_files();
}

/* A grid of attention before window, as fill() has it. */
static void known(struct compare_grid *grid)
{
    *grid = (struct compare_grid){.factors = 2, .places = A * B, .seeds = SEEDS};
    grid->factor[0].count = A;
    grid->factor[1].count = B;
}

TEST(test_effects)
{
    struct compare_grid grid;
    double value[CELLS];
    known(&grid);
    fill(&grid, value);
    /* lssar: 3, and 2 in one of three windows; without any spread over seeds */
    struct orr_table rows = rows_of(&grid, value);
    struct orr_mean e = orr_table_contrast(&rows, "0=1", "0=0", ORR_ROW_VALUE);
    assert_near(e.mean, 3 + 2.0 / 3, 1e-12);
    assert_near(e.half, 0, 1e-12);
    assert_near(orr_table_contrast(&rows, "1=1", "1=0", ORR_ROW_VALUE).mean, 1, 1e-12);
    assert_near(orr_table_contrast(&rows, "1=2", "1=0", ORR_ROW_VALUE).mean, 6, 1e-12);
    assert_near(orr_table_contrast(&rows, "0=1 x 1=1", "0=0 x 1=0", ORR_ROW_VALUE).mean, 0, 1e-12);
    e = orr_table_contrast(&rows, "0=1 x 1=2", "0=0 x 1=0", ORR_ROW_VALUE);
    assert_near(e.mean, 2, 1e-12);
    assert_near(e.half, 0, 1e-12);
    orr_table_free(&rows);
    /* seeds that differ: 2 and 2.6, half width t(1) = 12.7062 times 0.3 */
    value[5 * SEEDS + 1] += 0.6;
    rows = rows_of(&grid, value);
    e = orr_table_contrast(&rows, "0=1 x 1=2", "0=0 x 1=0", ORR_ROW_VALUE);
    assert_near(e.mean, 2.3, 1e-12);
    assert_near(e.half, 12.7062047 * 0.3, 1e-5);
    orr_table_free(&rows);
}

/* A seed that lacks a cell counts for no effect that needs it. */
TEST(test_missing)
{
    struct compare_grid grid;
    struct compare_variance line[5];
    double value[CELLS];
    known(&grid);
    fill(&grid, value);
    value[1 * SEEDS + 1] = NAN; /* softmax, window 4, seed 1 */
    struct orr_table rows = rows_of(&grid, value);
    struct orr_mean e = orr_table_contrast(&rows, "0=1", "0=0", ORR_ROW_VALUE);
    assert_near(e.mean, 3 + 2.0 / 3, 1e-12);
    assert_true(isnan(e.half));                                             /* one seed */
    e = orr_table_contrast(&rows, "0=1 x 1=2", "0=0 x 1=0", ORR_ROW_VALUE); /* needs it not */
    assert_near(e.mean, 2, 1e-12);
    assert_near(e.half, 0, 1e-12);
    assert_false(compare_variances(&grid, &rows, line));
    orr_table_free(&rows);
}

/* F and p as AnovaRM of statsmodels 0.14 gives them for the same numbers, seeds as subjects. Where
 * a factor has two levels, F is the square of Student's t of its effect. */
TEST(test_variance)
{
    struct compare_grid grid;
    struct compare_variance line[5];
    known(&grid);
    const double value[CELLS] = {10,   10.4, 11.3, 10.9, 15.2, 15.9,
                                 13.1, 12.6, 14.4, 14.9, 20.3, 19.1};
    struct orr_table rows = rows_of(&grid, value);
    assert_true(compare_variances(&grid, &rows, line));
    assert_int_equal(line[0].factor[0], 0);
    assert_int_equal(line[0].factor[1], -1);
    assert_near(line[0].share, 0.2966991877800017, 1e-12);
    assert_near(line[0].F, 118.695290859, 1e-8);
    assert_near(line[0].p, 0.0582704234524, 1e-12);
    assert_int_equal(line[0].freedom[0], 1);
    assert_int_equal(line[0].freedom[1], 1);
    const struct orr_mean effect = orr_table_contrast(&rows, "0=1", "0=0", ORR_ROW_VALUE);
    orr_table_free(&rows);
    assert_near(line[0].F, pow(effect.mean / (effect.half / 12.7062047362), 2), 1e-6);
    assert_int_equal(line[1].factor[1], 1); /* both */
    assert_near(line[1].F, 1.13245033113, 1e-10);
    assert_near(line[1].p, 0.468944099379, 1e-11);
    assert_int_equal(line[1].freedom[0], 2);
    assert_int_equal(line[1].freedom[1], 2);
    assert_int_equal(line[2].factor[0], 1);
    assert_near(line[2].share, 0.6824032848863375, 1e-12);
    assert_near(line[2].F, 1759.85714286, 1e-6);
    assert_near(line[2].p, 0.000567905240954, 1e-13);
    assert_int_equal(line[3].factor[0], -1);
    assert_near(line[3].share, 0.00017310741661414515, 1e-14);
    assert_true(isnan(line[3].F));
    double shares = 0;
    for (int k = 0; k < 5; k++)
        shares += line[k].share;
    assert_near(shares, 1, 1e-12);
}

/* A law and its parameter are not crossed: one factor, whose levels have both; numbers ascend. */
TEST(test_together)
{
    struct compare_grid grid;
    make_files();
    static const int window[B] = {10, 4, 0};
    for (int k = 0; k < CELLS; k++) {
        const int b = k / SEEDS % B;
        cJSON *orbits = cJSON_AddObjectToObject(settings_of(&file[k]), "orbits");
        cJSON_AddStringToObject(orbits, "law", k / SEEDS / B ? "mond" : "newton");
        if (k / SEEDS / B) /* without effect, it is not there */
            cJSON_AddNumberToObject(orbits, "law_a0", 20);
        file[k].source = "softmax";
        cJSON *model = cJSON_GetObjectItem(settings_of(&file[k]), "model");
        cJSON_ReplaceItemInObject(model, "attention_window", cJSON_CreateNumber(window[b]));
    }
    assert_int_equal(compare_grid_create(&grid, &files), 0);
    assert_int_equal(grid.factors, 2);
    assert_int_equal(grid.places, A * B);
    const int law = !strncmp(grid.factor[0].name, "orbits", 6) ? 0 : 1;
    assert_string_equal(grid.factor[law].name, "orbits.law, orbits.law_a0");
    assert_string_equal(grid.factor[law].level[0], "newton, -");
    assert_string_equal(grid.factor[law].level[1], "mond, 20");
    static const char *const ascending[B] = {"0", "4", "10"};
    for (int b = 0; b < B; b++)
        assert_string_equal(grid.factor[1 - law].level[b], ascending[b]);
    for (int place = 0; place < grid.places; place++) { /* files are where their levels say */
        const struct compare_file *f = file_at(&grid, place);
        const cJSON *model = cJSON_GetObjectItem(settings_of(f), "model");
        const int b = compare_grid_level(&grid, place, 1 - law);
        assert_int_equal(cJSON_GetObjectItem(model, "attention_window")->valueint,
                         atoi(ascending[b]));
    }
    compare_grid_free(&grid);
    free_files();
}

/* A grid that lacks a cell has the same two settings as the whole one, and a place without
 * files. */
TEST(test_lacking)
{
    struct compare_grid grid;
    make_files();
    files.count = CELLS - SEEDS; /* without lssar and the last window */
    assert_int_equal(compare_grid_create(&grid, &files), 0);
    assert_int_equal(grid.factors, 2);
    assert_int_equal(grid.places, A * B);
    compare_grid_free(&grid);
    /* 2 x 2 less one, which two settings that belong together would have as well */
    for (int k = 0; k < CELLS; k++) {
        cJSON *model = cJSON_GetObjectItem(settings_of(&file[k]), "model");
        const double window = k / SEEDS % B == 0 ? 0 : 4;
        cJSON_ReplaceItemInObject(model, "attention_window", cJSON_CreateNumber(window));
    }
    struct compare_file few[3 * SEEDS];
    static const int place[3] = {0, 1, 3};
    for (int k = 0; k < 3 * SEEDS; k++)
        few[k] = file[place[k / SEEDS] * SEEDS + k % SEEDS];
    const struct compare_files fewer = {.file = few, .count = 3 * SEEDS};
    assert_int_equal(compare_grid_create(&grid, &fewer), 0);
    assert_int_equal(grid.factors, 2);
    assert_int_equal(grid.places, 4);
    compare_grid_free(&grid);
    free_files();
}

/* A level that no table can hold stands there by its hash, apart from others. */
TEST(test_strange_levels)
{
    static const char *const strange[2] = {"a|b\n# Heading", "\033[31mred"};
    struct compare_grid grid;
    make_files();
    for (int k = 0; k < CELLS; k++)
        cJSON_AddStringToObject(cJSON_GetObjectItem(settings_of(&file[k]), "model"), "positions",
                                strange[k / SEEDS / B]);
    assert_int_equal(compare_grid_create(&grid, &files), 0);
    bool seen = false;
    for (int i = 0; i < grid.factors; i++)
        for (int k = 0; k < grid.factor[i].count; k++) {
            assert_true(orr_is_label(grid.factor[i].level[k]));
            seen |= strstr(grid.factor[i].level[k], "...") != NULL;
        }
    assert_true(seen);
    assert_int_equal(grid.places, A * B);
    compare_grid_free(&grid);
    free_files();
}

TEST(test_refusals)
{
    struct compare_grid grid;
    make_files();
    file[3].seed = file[2].seed; /* a place and seed twice */
    assert_int_equal(compare_grid_create(&grid, &files), ORR_EINVAL);
    compare_grid_free(&grid);
    file[3].seed = 1;
    file[4].stage = "magnitude";
    assert_int_equal(compare_grid_create(&grid, &files), ORR_EINVAL);
    compare_grid_free(&grid);
    file[4].stage = "pretrain";
    cJSON_DeleteItemFromObject(file[5].json, "settings");
    assert_int_equal(compare_grid_create(&grid, &files), ORR_EFORMAT);
    compare_grid_free(&grid);
    free_files();
}

/* A gnuplot in a new folder `dir`, first in PATH, that keeps what it is given and draws nothing;
 * before: the PATH of before. */
static void keep_what_gnuplot_gets(char dir[64], char before[4096])
{
    char path[4096];
    scratch_create(dir);
    scratch_path(path, dir, "gnuplot");
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fprintf(stream,
            "#!/bin/sh\n[ \"$1\" = --version ] || cat \"$3.dat\" \"$3.set\" >%s/seen\nexit 1\n",
            dir);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(chmod(path, 0700), 0);
    snprintf(before, 4096, "%s", getenv("PATH"));
    snprintf(path, sizeof path, "%s:%.4000s", dir, before);
    setenv("PATH", path, 1);
}

static void read_what_it_got(const char *dir, char *data, size_t room)
{
    FILE *stream = fopen(scratch_at(dir, "seen"), "r");
    assert_non_null(stream);
    const size_t read = fread(data, 1, room - 1, stream);
    assert_true(read > 0);
    data[read] = '\0';
    fclose(stream);
}

/* A figure of several contexts is drawn over them, ascending, unless one of them is named; numbers
 * stand where their place, context and seed belong. */
TEST(test_contexts)
{
    enum { CONTEXTS = 3 };
    static const int context[CONTEXTS] = {256, 64, 1024};
    struct compare_grid grid;
    struct compare_drawn drawn;
    char dir[64], data[8192], before[4096];
    make_files();
    for (int k = 0; k < CELLS; k++) {
        struct orr_row row = orr_row_none;
        row.quantity = "loss";
        row.measure = "nats";
        row.baseline = 5000;
        file[k].first = files.table.count;
        for (int c = 0; c < CONTEXTS; c++) {
            row.context = context[c];
            row.value = context[c] + k / SEEDS;
            assert_int_equal(orr_table_add(&files.table, &row), 0);
        }
        row.quantity = "sink";
        row.measure = "share";
        row.context = 64;
        row.value = 0.5;
        assert_int_equal(orr_table_add(&files.table, &row), 0);
        file[k].end = files.table.count;
    }
    assert_int_equal(compare_grid_create(&grid, &files), 0);
    struct compare_options options = {.file_count = CELLS, .quiet = true};
    keep_what_gnuplot_gets(dir, before);
    assert_int_equal(compare_grid_choose(&grid, &options, &files, &drawn), 0);
    assert_int_equal(drawn.contexts, CONTEXTS);
    assert_int_equal(drawn.context[0], 64);
    assert_int_equal(drawn.context[2], 1024);
    assert_int_equal(compare_grid_picture(&grid, &files, &drawn, dir), ORR_EIO);
    setenv("PATH", before, 1);
    read_what_it_got(dir, data, sizeof data);
    /* windows and positions are three numbers each: the first is the axis, where window 0, all
     * positions, comes last; lssar, windows 10 and 0: places 5 and 3 */
    static const char *const expected[] = {
        "title = \"probe length, preset : loss, nats\"", "joined = 1",
        "panel_title[2] = \"attention lssar\"", "curve_title[3] = \"positions 1024\"",
        "\n2 1029 1029 1029 nan 5000\n3 1027 1027 1027 nan 5000\n"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strstr(data, expected[i]))
            fail_msg("no %s in:\n%s", expected[i], data);
    options.figure = "loss, nats, context 256";
    assert_int_equal(compare_grid_choose(&grid, &options, &files, &drawn), 0);
    assert_int_equal(drawn.contexts, 0);
    assert_int_equal(drawn.row->context, 256);
    options.figure = "sink, share";
    assert_int_equal(compare_grid_choose(&grid, &options, &files, &drawn), 0);
    assert_int_equal(drawn.contexts, 1);
    options.figure = "loss, bits";
    assert_int_equal(compare_grid_choose(&grid, &options, &files, &drawn), ORR_EUSAGE);
    assert_non_null(strstr(orr_error(), "the first value is \"loss, nats, context 256\""));
    compare_grid_free(&grid);
    free_files();
    scratch_remove(dir);
}

/* What gnuplot is given, by one that keeps it and draws nothing: numbered windows are the
 * axis, each attention is a curve, the two other settings make panels. */
TEST(test_figure)
{
    enum { PANELS = 4, PLACES = A * PANELS * B };
    char dir[64], data[4096], before[4096];
    double value[PLACES * SEEDS];
    struct compare_grid grid = {.factors = 4, .places = PLACES, .seeds = SEEDS};
    static const struct compare_factor factor[] = {
        {"attention", A, {"softmax", "lssar"}},
        {"gate", 2, {"none", "softplus"}},
        {"data", 2, {"a", "b"}},
        {"model.attention_window", B, {"0", "4", "10"}},
    };
    memcpy(grid.factor, factor, sizeof factor);
    for (int k = 0; k < PLACES * SEEDS; k++) {
        const int place = k / SEEDS, a = place / B / PANELS, p = place / B % PANELS, b = place % B;
        value[k] = 100 * a + 10 * p + b + (k % SEEDS ? 0.5 : -0.5);
    }
    value[0] = value[1] = NAN; /* softmax, no gate, window 0: no run */
    struct orr_table rows = rows_of(&grid, value);
    keep_what_gnuplot_gets(dir, before);
    assert_true(compare_grid_fits(&grid));
    assert_int_equal(
        compare_grid_draw(
            &(struct compare_grid_figure){
                .grid = &grid, .title = "a title", .subtitle = "", .y_label = "AU", .rows = &rows},
            dir, "grid"),
        ORR_EIO);
    setenv("PATH", before, 1);
    assert_int_equal(scratch_count(dir), 2); /* no picture: the two of this test */
    read_what_it_got(dir, data, sizeof data);
    /* half width of two seeds 1 apart: t(1) = 12.7062 times 0.5 */
    static const char *const blocks =
        "1 nan nan nan nan nan\n1 1 -5.35310237 7.35310237 1000 nan\n"
        "2 2 -4.35310237 8.35310237 1000 nan\n\n\n"
        "1 nan nan nan nan nan\n1 101 94.6468976 107.353102 1000 nan\n"
        "2 102 95.6468976 108.353102 1000 nan\n3 100 93.6468976 106.353102 1000 nan\n\n\n"
        "1 nan nan nan nan nan\n1 11 4.64689763 17.3531024 1000 nan\n";
    assert_memory_equal(data, blocks, strlen(blocks));
    static const char *const settings[] = {
        "panels = 4\ncurves = 2\nlevels = 3\njoined = 1\nupper_bound = 1\nbaseline_there = 0\n",
        "panel_title[2] = \"data b, gate none\"",
        "panel_title[3] = \"data a, gate softplus\"",
        "curve_title[2] = \"attention lssar\"",
        "colour[1] = \"#d1602b\"",
        "colour[2] = \"#1f6fb4\"",
        "x_title[1] = \"4\"",
        "x_title[3] = \"all\"",
        "x_label = \"model.attention_window\""};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!strstr(data, settings[i]))
            fail_msg("no %s in:\n%s", settings[i], data);
    orr_table_free(&rows);
    grid.factor[0].count = COMPARE_CURVES + 1; /* more than curves can be told apart */
    assert_false(compare_grid_fits(&grid));
    scratch_remove(dir);
}

TESTS(NULL, NULL)
