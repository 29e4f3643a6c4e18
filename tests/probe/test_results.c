/* test_results.c - files of what probes measured: read back as written, kept only while they are
 * of the same checkpoint, settings and options. */
#include <math.h>

#include "base/scratch.h"
#include "finetune/tiny.h"

#include <cjson/cJSON.h>

#include "probe/results.h"

struct fixture {
    struct tiny tiny;
    struct probe probe;
    struct probe_options options;
    char checkpoint[4096], folder[4096], key[PROBE_KEY];
    struct probe_results results;
};

static void write_file(const char *path, const char *text)
{
    struct orr_file file = {0};
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(orr_file_printf(&file, "%s", text), 0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
}

static void open_fixture(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    tiny_preset(&f->tiny.settings, false);
    scratch_create(f->tiny.dir);
    scratch_path(f->checkpoint, f->tiny.dir, "model.safetensors");
    scratch_path(f->folder, f->tiny.dir, "probe");
    write_file(f->checkpoint, "any content");
    f->options = (struct probe_options){
        .settings = &f->tiny.settings, .checkpoint = f->checkpoint, .resume = true, .quiet = true};
    f->probe.settings = f->tiny.settings;
    strcpy(f->probe.source, "lssar");
    strcpy(f->probe.stage, "pretrain");
    strcpy(f->probe.model.config.attention, "lssar");
    const struct orr_row row[] = {{.model = "",
                                   .quantity = "1/r^2, of \"both\"",
                                   .measure = "R^2",
                                   .layer = 2,
                                   .context = 16,
                                   .value = 0.875,
                                   .low = 0.85,
                                   .high = 0.9,
                                   .upper_bound = 0.9999,
                                   .baseline = 0.25,
                                   .raw = NAN,
                                   .n = 1234},
                                  {.model = "",
                                   .quantity = "energy",
                                   .measure = "slope, likely",
                                   .layer = -1,
                                   .value = -2.385,
                                   .low = NAN,
                                   .high = NAN,
                                   .upper_bound = 1,
                                   .baseline = NAN,
                                   .raw = 1e-12,
                                   .n = 7}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(orr_table_add(&f->results.table, &row[i]), 0);
    assert_int_equal(probe_key(&f->options, "linear", 1, "x", f->key), 0);
}

static void close_fixture(struct fixture *f)
{
    probe_results_free(&f->results);
    scratch_remove(f->tiny.dir);
}

static void begin(struct fixture *f)
{
    assert_int_equal(probe_results_begin(&f->results, f->folder, "linear"), 0);
}

/* As a probe does, with a picture and another table beside the CSV. */
static void write_results(struct fixture *f)
{
    cJSON_Delete(f->results.files);
    f->results.files = NULL;
    begin(f);
    write_file(scratch_at(f->folder, "linear.png"), "picture");
    write_file(scratch_at(f->folder, "linear_more.csv"), "more");
    assert_int_equal(probe_results_file(&f->results, f->folder, "linear_more.csv"), 0);
    assert_int_equal(
        probe_results_write(&f->results, &f->probe, &f->options, f->folder, "linear", f->key), 0);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

TEST(test_read_back)
{
    struct fixture f;
    struct orr_table read = {0};
    struct orr_csv csv;
    cJSON *json;
    open_fixture(&f);
    write_results(&f);
    assert_int_equal(orr_rows_read(scratch_at(f.folder, "linear.json"), &read, &json), 0);
    assert_int_equal(read.count, 2);
    for (int i = 0; i < 2; i++) {
        const struct orr_row *a = &f.results.table.row[i], *b = &read.row[i];
        assert_string_equal(b->model, "attention=lssar stage=pretrain");
        assert_true(b->seed == f.tiny.settings.seed);
        assert_string_equal(a->quantity, b->quantity);
        assert_string_equal(a->measure, b->measure);
        assert_int_equal(a->layer, b->layer);
        assert_int_equal(a->context, b->context);
        assert_int_equal(a->n, b->n);
        assert_true(same(a->value, b->value) && same(a->low, b->low) && same(a->high, b->high));
        assert_true(same(a->upper_bound, b->upper_bound) && same(a->baseline, b->baseline) &&
                    same(a->raw, b->raw));
    }
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "source")), "lssar");
    cJSON_Delete(json);
    orr_table_free(&read);
    assert_int_equal(orr_csv_read(scratch_at(f.folder, "linear.csv"), ORR_CSV_KEEP_TEXT, &csv), 0);
    assert_int_equal(csv.rows, 2);
    const int value = orr_csv_column(&csv, "value"), n = orr_csv_column(&csv, "n");
    assert_true(value >= 0 && n >= 0);
    for (size_t i = 0; i < 2; i++) { /* names hold commas: numbers stay in their columns */
        const double *row = csv.values + i * csv.cols;
        assert_true(row[value] == f.results.table.row[i].value);
        assert_true(row[n] == (double)f.results.table.row[i].n);
    }
    orr_csv_free(&csv);
    close_fixture(&f);
}

static bool there(struct fixture *f)
{
    return probe_results_there(&f->options, f->folder, "linear", f->key);
}

/* Only what is whole and of the same key is kept. */
TEST(test_kept)
{
    struct fixture f;
    char path[4096], other[PROBE_KEY];
    open_fixture(&f);
    assert_false(there(&f));
    write_results(&f);
    assert_true(there(&f));
    f.options.resume = false;
    assert_false(there(&f));
    f.options.resume = true;
    write_file(scratch_at(f.folder, "linear.csv"), "quantity\n");
    assert_false(there(&f));
    write_results(&f);
    assert_true(there(&f));
    static const char *const beside[] = {"linear.csv", "linear.png", "linear_more.csv"};
    for (int i = 0; i < 3; i++) {
        scratch_path(path, f.folder, beside[i]);
        assert_int_equal(unlink(path), 0);
        assert_false(there(&f));
        write_results(&f);
        write_file(path, "changed");
        assert_false(there(&f));
        write_results(&f);
        assert_true(there(&f));
    }

    f.tiny.settings.orbits.e_max *= 0.5; /* settings of the data */
    assert_int_equal(probe_key(&f.options, "linear", 1, "x", other), 0);
    assert_string_not_equal(other, f.key);
    f.tiny.settings.orbits.e_max *= 2;
    f.tiny.settings.symreg.maxsize++; /* no matter of probes */
    assert_int_equal(probe_key(&f.options, "linear", 1, "x", other), 0);
    assert_string_equal(other, f.key);
    f.options.change.power = 3;
    assert_int_equal(probe_key(&f.options, "linear", 1, "x", other), 0);
    assert_string_not_equal(other, f.key);
    f.options.change.power = 0;
    assert_int_equal(probe_key(&f.options, "linear", 2, "x", other), 0);
    assert_string_not_equal(other, f.key);
    write_file(f.checkpoint, "Any content");
    assert_int_equal(probe_key(&f.options, "linear", 1, "x", other), 0);
    assert_string_not_equal(other, f.key);
    close_fixture(&f);
}

/* A value that is not the one that was measured is neither kept nor read. */
TEST(test_changed_values)
{
    struct fixture f;
    struct orr_table read = {0};
    cJSON *json;
    char path[4096], *text;
    open_fixture(&f);
    write_results(&f);
    scratch_path(path, f.folder, "linear.json");
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    char *digit = strstr(text, "0.875");
    assert_non_null(digit);
    digit[2] = '9';
    write_file(path, text);
    free(text);
    assert_false(there(&f));
    assert_int_equal(orr_rows_read(path, &read, &json), ORR_EFORMAT);
    error_names(path, "changed", NULL);
    close_fixture(&f);
}

/* While one probe writes, another one waits, and everything is of one of them. */
TEST(test_one_at_a_time)
{
    struct fixture f;
    int other;
    open_fixture(&f);
    begin(&f);
    assert_int_equal(orr_lock(f.folder, "writing", 0, &other), ORR_EIO);
    error_names(f.folder, "writing", NULL);
    assert_int_equal(
        probe_results_write(&f.results, &f.probe, &f.options, f.folder, "linear", f.key), 0);
    assert_int_equal(orr_lock(f.folder, "writing", 0, &other), 0);
    orr_unlock(other);
    begin(&f);
    probe_results_free(&f.results); /* as after an error */
    assert_int_equal(orr_lock(f.folder, "writing", 0, &other), 0);
    orr_unlock(other);
    close_fixture(&f);
}

#define ROW           "{\"quantity\": \"energy\", \"measure\": \"R^2\", "
#define FILE_OF(rows) "{\"format\": \"orrery-probe-1\", \"rows\": [" rows "]}"
TEST(test_bad_files)
{
    static const struct {
        const char *text, *names;
    } bad[] = {
        {"{\"format\": \"orrery-evaluate-1\", \"rows\": []}", "orrery-evaluate-1"},
        {"{\"format\": \"orrery-probe-1\"}", "rows"},
        {"{\"format\": \"orrery-probe-1\", \"rows\": [{\"quantity\": \"energy\"}]}", "measure"},
        {"{\"format\": \"orrery-probe-1\", \"rows\": [{\"quantity\": \"energy\", "
         "\"measure\": \"R^2\", \"layer\": 1, \"context\": null, \"n\": 3}]}",
         "context"},
        {FILE_OF(ROW "\"layer\": 0.5, \"context\": 0, \"n\": 3}"), "\"layer\""},
        {FILE_OF(ROW "\"layer\": -2, \"context\": 0, \"n\": 3}"), "\"layer\""},
        {FILE_OF(ROW "\"layer\": 1, \"context\": 0, \"n\": -3}"), "\"n\""},
        {FILE_OF(ROW "\"layer\": 1, \"context\": 0, \"n\": 3, \"value\": \"0.5\"}"), "\"value\""},
        {FILE_OF(ROW "\"layer\": 1, \"context\": 0, \"n\": 3, \"low\": 1e999}"), "\"low\""},
        {FILE_OF(ROW "\"layer\": 1, \"context\": 0, \"n\": 3}, " ROW
                     "\"layer\": 1, \"context\": 0, \"n\": 3, \"value\": 1}"),
         "twice"},
        {FILE_OF("{\"quantity\": \"a\\nb\", \"measure\": \"R^2\", \"layer\": 1, \"context\": 0, "
                 "\"n\": 3}"),
         "quantity"},
        {FILE_OF("{\"quantity\": \"a\", \"measure\": \"R^2 | 1\", \"layer\": 1, \"context\": 0, "
                 "\"n\": 3}"),
         "measure"},
    };
    struct fixture f;
    struct orr_table read = {0};
    cJSON *json;
    char path[4096];
    open_fixture(&f);
    scratch_path(path, f.tiny.dir, "bad.json");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(path, bad[i].text);
        assert_int_equal(orr_rows_read(path, &read, &json), ORR_EFORMAT);
        error_names(path, bad[i].names, NULL);
        assert_null(json);
        orr_table_free(&read);
    }
    close_fixture(&f);
}

TESTS(NULL, NULL)
