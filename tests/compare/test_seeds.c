/* test_seeds.c - means over seeds of results, whose answers are worked by hand. */
#include <math.h>

#include "base/scratch.h"

#include <cjson/cJSON.h>

#include "compare/compare.h"

static char dir[64];

/* A file of two rows: R^2 of 1/r^2 at layer 2 and of the energy at layer 1. */
static void write_cell(char path[4096], const char *name, const char *source, int seed,
                       double value, double baseline)
{
    struct orr_file file = {0};
    scratch_path(path, dir, name);
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(
        orr_file_printf(
            &file,
            "{\"format\": \"orrery-probe-1\", \"probe\": \"linear\", \"source\": "
            "\"%s\", \"stage\": \"pretrain\", \"preset\": \"quick\", \"seed\": %d, "
            "\"rows\": [{\"quantity\": \"1/r^2\", \"measure\": \"R^2\", \"layer\": 2, "
            "\"context\": 0, \"value\": %g, \"baseline\": %g, \"upper_bound\": 0.99, \"n\": "
            "9}, {\"quantity\": \"energy\", \"measure\": \"R^2\", \"layer\": 1, "
            "\"context\": 0, \"value\": %g, \"n\": 9}]}",
            source, seed, value, baseline, value / 2),
        0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
}

/* A file of one row, measured with some attention. */
static void write_one(char path[4096], const char *name, int seed, const char *attention,
                      const char *measure, double value)
{
    struct orr_file file = {0};
    scratch_path(path, dir, name);
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(orr_file_printf(&file,
                                     "{\"format\": \"orrery-probe-1\", \"probe\": \"labels\", "
                                     "\"source\": \"softmax\", \"stage\": \"pretrain\", "
                                     "\"attention\": \"%s\", \"preset\": \"quick\", \"seed\": "
                                     "%d, \"rows\": [{\"quantity\": \"label saving\", "
                                     "\"measure\": \"%s\", \"layer\": -1, \"context\": 0, "
                                     "\"value\": %g, \"n\": 9}]}",
                                     attention, seed, measure, value),
                     0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
}

static double number(const cJSON *rows, int row, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(cJSON_GetArrayItem(rows, row), key);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static int run(const char *const *file, int count)
{
    const struct compare_options options = {
        .out = dir, .file = file, .file_count = count, .quiet = true};
    return compare_seeds(&options);
}

/* Values 0.7, 0.8, 0.9: mean 0.8, standard error 0.1 / sqrt(3), t(2) at 97.5% = 4.302653. The gain
 * over the baseline 0.5, 0.6, 0.7 is 0.2 in each, without any spread. */
TEST(test_three_seeds)
{
    static char path[4][4096];
    const char *file[4] = {path[0], path[1], path[2], path[3]};
    cJSON *json;
    scratch_create(dir);
    write_cell(path[0], "a", "softmax", 0, 0.7, 0.5);
    write_cell(path[1], "b", "lssar", 0, 0.1, 0.3);
    write_cell(path[2], "c", "softmax", 1, 0.8, 0.6);
    write_cell(path[3], "d", "softmax", 2, 0.9, 0.7);
    assert_int_equal(run(file, 4), 0);
    assert_int_equal(orr_json_read(scratch_at(dir, "linear_seeds.json"), &json), 0);
    const cJSON *rows = cJSON_GetObjectItem(json, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 4);
    assert_true(number(rows, 0, "seeds") == 3);
    assert_true(fabs(number(rows, 0, "value") - 0.8) < 1e-12);
    assert_true(fabs(number(rows, 0, "half_width") - 4.302653 * 0.1 / sqrt(3)) < 1e-6);
    assert_true(fabs(number(rows, 0, "above_baseline") - 0.2) < 1e-12);
    assert_true(fabs(number(rows, 0, "above_baseline_half_width")) < 1e-12);
    assert_true(fabs(number(rows, 0, "baseline") - 0.6) < 1e-12);
    assert_true(number(rows, 0, "upper_bound") == 0.99);
    assert_true(fabs(number(rows, 1, "value") - 0.4) < 1e-12); /* the energy's own rows */
    assert_true(isnan(number(rows, 1, "above_baseline")));
    assert_true(number(rows, 2, "seeds") == 1); /* lssar */
    assert_true(number(rows, 2, "value") == 0.1);
    assert_true(isnan(number(rows, 2, "half_width")));
    cJSON_Delete(json);
    scratch_remove(dir);
}

/* Names of presets are names of folders: one with a "|" is as good, one with controls is none. What
 * stands in tables holds no "|". */
TEST(test_names)
{
    static const struct {
        const char *from, *to;
        int rc;
    } cases[] = {{"quick", "a|b", 0},
                 {"quick",
                  "a\xc2\x9b"
                  "b",
                  ORR_EFORMAT},
                 {"quick", "a\\nb", ORR_EFORMAT},
                 {"softmax", "a|b", ORR_EFORMAT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static char path[4096];
        const char *const file[] = {path};
        char *text, changed[4096];
        scratch_create(dir);
        write_cell(path, "a", "softmax", 0, 0.7, 0.5);
        assert_int_equal(orr_file_read(path, &text, NULL), 0);
        const char *at = strstr(text, cases[i].from);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, cases[i].to,
                 at + strlen(cases[i].from));
        scratch_text(path, changed);
        free(text);
        assert_int_equal(run(file, 1), cases[i].rc);
        scratch_remove(dir);
    }
}

/* A row that the first seed does not have is not lost, and bounds have no interval. */
TEST(test_bounded)
{
    static char path[3][4096];
    const char *file[3] = {path[0], path[1], path[2]};
    cJSON *json;
    scratch_create(dir);
    write_one(path[0], "a", 0, "softmax", "ratio", 2);
    write_one(path[1], "b", 1, "softmax", "ratio >=", 8);
    write_one(path[2], "c", 2, "softmax", "ratio >=", 10);
    assert_int_equal(run(file, 3), 0);
    assert_int_equal(orr_json_read(scratch_at(dir, "labels_seeds.json"), &json), 0);
    const cJSON *rows = cJSON_GetObjectItem(json, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 2);
    assert_true(number(rows, 0, "seeds") == 1 && number(rows, 0, "value") == 2);
    assert_true(number(rows, 1, "seeds") == 2 && number(rows, 1, "value") == 9);
    assert_true(isnan(number(rows, 1, "half_width")));
    assert_true(isnan(number(rows, 1, "above_baseline_half_width")));
    cJSON_Delete(json);
    scratch_remove(dir);
}

/* A model with its attention changed is no other seed of the unchanged one. */
TEST(test_changed)
{
    static char path[2][4096];
    const char *file[2] = {path[0], path[1]};
    scratch_create(dir);
    write_one(path[0], "a", 0, "softmax", "ratio", 2);
    write_one(path[1], "b", 1, "softmax, window 1", "ratio", 3);
    assert_int_equal(run(file, 2), ORR_EINVAL);
    error_names(path[0], path[1], "window 1", NULL);
    scratch_remove(dir);
}

TEST(test_refused)
{
    static char path[3][4096];
    const char *file[3] = {path[0], path[1], path[2]};
    scratch_create(dir);
    assert_int_equal(run(file, 0), ORR_EUSAGE);
    write_cell(path[0], "a", "softmax", 4, 0.7, 0.5);
    write_cell(path[1], "b", "softmax", 4, 0.8, 0.5); /* one model twice is no second seed */
    assert_int_equal(run(file, 2), ORR_EINVAL);
    error_names(path[0], path[1], "seed", NULL);
    write_cell(path[1], "b", "../softmax", 5, 0.8, 0.5); /* goes into names of files */
    assert_int_equal(run(file, 2), ORR_EFORMAT);
    error_names(path[1], "source", "../softmax", NULL);
    scratch_path(path[1], dir, "absent");
    assert_int_not_equal(run(file, 2), 0);
    error_names(path[1], NULL);
    scratch_remove(dir);
}

/* A file of the one row as it stands, but for its seed and its checkpoint. */
static void write_of(char path[4096], const char *name, const char *seed, const char *checkpoint,
                     const char *content)
{
    struct orr_file file = {0};
    scratch_path(path, dir, name);
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(
        orr_file_printf(&file,
                        "{\"format\": \"orrery-probe-1\", \"probe\": \"linear\", \"source\": "
                        "\"softmax\", \"stage\": \"pretrain\", \"preset\": \"quick\", \"seed\": "
                        "%s, \"checkpoint\": \"%s\", \"checkpoint_xxh64\": \"%s\", \"rows\": "
                        "[{\"quantity\": \"1/r^2\", \"measure\": \"R^2\", \"layer\": 2, "
                        "\"context\": 0, \"value\": 0.5, \"n\": 9}]}",
                        seed, checkpoint, content),
        0);
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
}

/* Seeds beyond 2^53 are texts, whose last digits count. */
TEST(test_long_seeds)
{
    static char path[3][4096];
    const char *file[3] = {path[0], path[1], path[2]};
    cJSON *json;
    scratch_create(dir);
    write_of(path[0], "a", "\"18446744073709551614\"", "gone", "");
    write_of(path[1], "b", "\"18446744073709551615\"", "gone", "");
    write_of(path[2], "c", "9007199254740992", "gone", "");
    assert_int_equal(run(file, 3), 0);
    assert_int_equal(orr_json_read(scratch_at(dir, "linear_seeds.json"), &json), 0);
    assert_true(number(cJSON_GetObjectItem(json, "rows"), 0, "seeds") == 3);
    cJSON_Delete(json);
    static const char *const bad[] = {"-1",  "1.5", "\"\"", "\"-1\"", "\"18446744073709551616\"",
                                      "null"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_of(path[1], "b", bad[i], "gone", "");
        assert_int_equal(run(file, 2), ORR_EFORMAT);
        error_names(path[1], "seed", NULL);
    }
    scratch_remove(dir);
}

/* A checkpoint that is still there must be the one that was measured; one that is not there says
 * nothing. */
TEST(test_retrained)
{
    static char path[2][4096], checkpoint[4096];
    const char *file[2] = {path[0], path[1]};
    char is[17];
    uint64_t content, bytes;
    scratch_create(dir);
    assert_int_equal(orr_mkdir(scratch_at(dir, "softmax/probe")), 0);
    assert_int_equal(orr_mkdir(scratch_at(dir, "softmax/pretrain")), 0);
    scratch_path(checkpoint, dir, "softmax/pretrain/last.safetensors");
    scratch_text(checkpoint, "weights");
    assert_int_equal(orr_file_checksum(checkpoint, &content, &bytes), 0);
    snprintf(is, sizeof is, "%016llx", (unsigned long long)content);
    write_of(path[0], "softmax/probe/a", "0", "run/softmax/pretrain/last.safetensors", is);
    write_of(path[1], "b", "1", "run/softmax/pretrain/last.safetensors", "0123456789abcdef");
    assert_int_equal(run(file, 2), 0);
    scratch_text(checkpoint, "trained again");
    assert_int_equal(run(file, 2), ORR_EINVAL);
    error_names(path[0], "pretrain/last.safetensors", "measure again", NULL);
    scratch_remove(dir);
}

TESTS(NULL, NULL)
