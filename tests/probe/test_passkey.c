/* test_passkey.c - records with a hidden key, what of them is trained on, and how often a model
 * finds the key whose answer is always the same digit. */
#include "probe/asked.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "probe/results.h"

static char dir[64], checkpoint[4096];
static struct orr_settings settings;
enum { trials = 40 };

TEST(test_record)
{
    uint8_t record[200], again[200], other[200];
    int depth[4] = {0}; /* quarter of the record that the key is in */
    for (int i = 1; i <= 200; i++) {
        const int length = i < 100 ? GPT_PASSKEY_LEAST + i : 199;
        const uint8_t *const open = record + 1;
        int at = 0;
        assert_int_equal(gpt_passkey(7, (uint64_t)i, length, record), 0);
        assert_int_equal(gpt_passkey(7, (uint64_t)i, length, again), 0);
        assert_int_equal(gpt_passkey(8, (uint64_t)i, length, other), 0);
        assert_memory_equal(record, again, (size_t)length);
        assert_memory_not_equal(record, other, (size_t)length);
        assert_int_equal(record[0], '\n');
        while (open[at] != '{')
            at++;
        assert_int_equal(open[at + 5], '}');
        assert_int_equal(record[length - 5], '?');
        assert_memory_equal(open + at + 1, record + length - 4, 4);
        for (int k = 0; k < length; k++) /* digits stand in keys alone */
            if (record[k] >= '0' && record[k] <= '9')
                assert_true((k > at + 1 && k < at + 6) || k >= length - 4);
        depth[length == 199 ? 4 * at / 199 : 0]++;
    }
    for (int k = 0; k < 4; k++)
        assert_true(depth[k] > 10);
}

/* Keys that are asked for count, and no other token. */
TEST(test_weights)
{
    struct gpt_config config;
    struct gpt_source *source;
    struct gpt_batch batch;
    assert_int_equal(gpt_config_from_preset(&config, &settings, "softmax", 33), 0);
    assert_int_equal(gpt_source_open(&source, &settings, NULL, SIM_SPLIT_TRAIN, &config), 0);
    assert_int_equal(gpt_batch_create(&batch, &config, 8, 32), 0);
    assert_int_equal(gpt_source_fill(source, 0, false, 0, 3, &batch), 0);
    int counted = 0;
    for (int b = 0; b < 8; b++)
        for (int t = 0; t < 32; t++) {
            bool asked = false;
            for (int k = 0; k < 4 && k <= t; k++) {
                bool shown = false; /* the key, in the same record */
                for (int i = t - k; i >= 0 && batch.tokens[32 * b + i] != '\n'; i--)
                    shown |= batch.tokens[32 * b + i] == '{';
                asked |= batch.tokens[32 * b + t - k] == '?' && shown;
            }
            assert_int_equal(batch.weight[32 * b + t] > 0, asked);
            counted += asked;
            if (asked)
                assert_true(batch.target_tokens[32 * b + t] >= '0' &&
                            batch.target_tokens[32 * b + t] <= '9');
        }
    assert_true(counted > 8);
    gpt_batch_free(&batch);
    gpt_source_close(source);
}

TEST(test_names)
{
    static const char *const wrong[] = {"passkey:", "passkey:12", "passkey:x", "passkey:64,text"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct gpt_config config;
        struct orr_settings p = settings;
        struct gpt_source *source = NULL;
        strcpy(p.text.train, wrong[i]);
        int rc = gpt_config_from_preset(&config, &p, "softmax", 33);
        if (!rc)
            rc = gpt_source_open(&source, &p, NULL, SIM_SPLIT_TRAIN, &config);
        assert_true(rc != 0);
    }
}

/* A model without weights but for a bias that says "7": it is right where a digit is a 7, and finds
 * no key but 7777. */
TEST(test_probe)
{
    cJSON *json;
    const cJSON *row;
    struct probe_options options = asked_of(&settings, checkpoint, dir);
    options.sequences = trials;
    assert_int_equal(probe_passkey(&options), 0);
    assert_int_equal(orr_json_read(scratch_at(dir, "passkey.json"), &json), 0);
    int rows = 0;
    cJSON_ArrayForEach (row, cJSON_GetObjectItem(json, "rows")) {
        const char *quantity = cJSON_GetStringValue(cJSON_GetObjectItem(row, "quantity"));
        const int T = cJSON_GetObjectItem(row, "context")->valueint;
        const double value = cJSON_GetNumberValue(cJSON_GetObjectItem(row, "value"));
        const double low = cJSON_GetNumberValue(cJSON_GetObjectItem(row, "low"));
        const double high = cJSON_GetNumberValue(cJSON_GetObjectItem(row, "high"));
        int right = 0;
        for (int i = 0; i < trials; i++) {
            uint8_t record[600];
            assert_int_equal(gpt_passkey(settings.seed, 1 + (uint64_t)i, T + 1, record), 0);
            for (int k = T - 3; k <= T; k++)
                right += record[k] == '7';
        }
        rows++;
        assert_true(low <= value && value <= high);
        if (!strncmp(quantity, "digits", 6)) {
            assert_true(fabs(value - right / (4.0 * trials)) < 1e-12);
            assert_true(right > 0);
            assert_true(low < value && value < high && high - low < 0.4);
            continue;
        }
        assert_true(value == 0 && low == 0);
        /* 0 of n: 1 - 0.025^(1/n) */
        assert_true(fabs(high - (1 - pow(0.025, 1.0 / trials))) < 1e-9);
    }
    assert_int_equal(rows, 2 * 7 + 2 * 5);
    cJSON_Delete(json);
}

/* The probe length takes text as well: of digits that are asked for, a model whose bias says "7"
 * has a loss that depends on the share of sevens alone. */
TEST(test_length)
{
    cJSON *json;
    const cJSON *row;
    struct probe_options options = asked_of(&settings, checkpoint, dir);
    options.sequences = 16;
    assert_int_equal(probe_length(&options), 0);
    assert_int_equal(orr_json_read(scratch_at(dir, "length.json"), &json), 0);
    const double hit = log(exp(1) + 255) - 1, miss = log(exp(1) + 255);
    int found = 0;
    cJSON_ArrayForEach (row, cJSON_GetObjectItem(json, "rows")) {
        const char *quantity = cJSON_GetStringValue(cJSON_GetObjectItem(row, "quantity"));
        const double value = cJSON_GetNumberValue(cJSON_GetObjectItem(row, "value"));
        if (strncmp(quantity, "next token", 10) != 0)
            continue;
        found++;
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(row, "measure")), "nats");
        assert_true(value > hit && value <= miss + 1e-6);
    }
    assert_int_equal(found, 5 + 4 + 4 + 4); /* with and without NTK, and beyond */
    cJSON_Delete(json);
}

FIXTURE(setup)
{
    struct gpt_config config;
    struct gpt_model model;
    static const char *const extra[] = {"stage", "pretrain", NULL};
    scratch_create(dir);
    scratch_path(checkpoint, dir, "model.safetensors");
    orr_settings_defaults(&settings);
    strcpy(settings.name, "tiny");
    strcpy(settings.text.train, "passkey:32");
    settings.text.positions = 33;
    settings.model.layers = 1;
    settings.model.heads = 2;
    settings.model.width = 8;
    settings.model.tie = false;
    settings.model.positions = ORR_POSITIONS_ROPE;
    if (orr_settings_check(&settings) ||
        gpt_config_from_preset(&config, &settings, "softmax", 33) ||
        gpt_create(&model, &config, &k_ref, 3))
        return 1;
    memset(model.param, 0, model.total * sizeof *model.param);
    gpt_param(&model, model.final_b)[2] = 1;
    gpt_param(&model, model.head_w)[(size_t)'7' * 8 + 2] = 1;
    const int rc = gpt_save(&model, checkpoint, 0, false, extra);
    gpt_free(&model);
    return rc;
}

FIXTURE(teardown)
{
    scratch_remove(dir);
    return 0;
}

TESTS(setup, teardown)
