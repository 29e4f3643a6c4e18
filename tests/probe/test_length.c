/* test_length.c - errors of models whose predictions are known, at lengths beyond training; and
 * the probe `length` as a whole. */
#include "probe/asked.h"

#include <cjson/cJSON.h>

#include "probe/length/length.h"
#include "probe/results.h"

static struct probe_arena arena;

#define assert_near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

static struct tiny tiny;
static char checkpoint[4][4096]; /* rope; learned positions; stage magnitude; softmax */
static struct probe_options options;
static const double constant[2] = {0.3, -0.2};

/* Models that predict the same place everywhere: no weights but the bias of the head. */
FIXTURE(setup)
{
    struct gpt_config config;
    struct gpt_model model;
    static const char *const stages[] = {"pretrain", "pretrain", "magnitude", "pretrain"};
    static const char *const names[] = {"rope", "learned", "magnitude", "softmax"};
    tiny_preset(&tiny.settings, false);
    scratch_create(tiny.dir);
    for (int k = 0; k < 4; k++) {
        const char *const extra[] = {"stage", stages[k], NULL};
        scratch_path(checkpoint[k], tiny.dir, names[k]);
        if (gpt_config_from_preset(&config, &tiny.settings, k == 3 ? "softmax" : "lssar", 33))
            return 1;
        config.positions = k == 1 ? ORR_POSITIONS_LEARNED : ORR_POSITIONS_ROPE;
        config.outputs = 2;
        if (gpt_create(&model, &config, &k_ref, 3))
            return 1;
        memset(model.param, 0, model.total * sizeof *model.param);
        for (int c = 0; c < 2; c++)
            gpt_param(&model, model.head_b)[c] = (real)constant[c];
        if (gpt_save(&model, checkpoint[k], 0, false, extra))
            return 1;
        gpt_free(&model);
    }
    options = asked_of(&tiny.settings, checkpoint[0], tiny.dir);
    options.sequences = 5;
    return 0;
}

FIXTURE(teardown)
{
    scratch_remove(tiny.dir);
    return 0;
}

/* Mean distance of body 1 from a place (NULL: where it was a step ago) over rows from .. T. */
static double by_hand(struct probe *probe, int i, int from, const double place[2])
{
    const uint16_t *tokens;
    const float *xy;
    double sum = 0;
    int bodies, rows = 0;
    assert_int_equal(gpt_source_sequence(probe->data, (uint64_t)i, &tokens, &xy, &bodies), 0);
    for (int row = from; row <= probe->T; row++) {
        if (row % 2 == 0)
            continue; /* body 2 */
        const double x = place ? place[0] : (double)xy[2 * (row - 2)];
        const double y = place ? place[1] : (double)xy[2 * (row - 2) + 1];
        sum += hypot(x - (double)xy[2 * row], y - (double)xy[2 * row + 1]);
        rows++;
    }
    return rows ? sum / rows : (double)NAN;
}

TEST(test_errors)
{
    for (int times = 1; times <= 2; times++) {
        struct probe probe;
        struct probe_errors model = {0}, stays = {0};
        struct probe_options o = options;
        o.length = 32 * times;
        assert_int_equal(probe_open(&probe, &o, true, 5), 0);
        assert_int_equal(probe_errors_create(&arena, &model, 5), 0);
        assert_int_equal(probe_errors_create(&arena, &stays, 5), 0);
        assert_int_equal(probe_errors_of(&probe, &probe.model, &model), 0);
        assert_int_equal(probe_errors_of(&probe, NULL, &stays), 0);
        for (int i = 0; i < 5; i++) {
            assert_near(model.all[i], by_hand(&probe, i, 3, constant), 1e-6);
            assert_near(stays.all[i], by_hand(&probe, i, 3, NULL), 1e-6);
            if (times == 1) { /* nothing is beyond */
                assert_true(isnan(model.late[i]) && isnan(stays.late[i]));
                continue;
            }
            assert_near(model.late[i], by_hand(&probe, i, 33, constant), 1e-6);
            assert_near(stays.late[i], by_hand(&probe, i, 33, NULL), 1e-6);
        }
        probe_rewind(&arena, 0);
        probe_close(&probe);
    }
}

static double of_row(const cJSON *json, const char *quantity, int layer, int context,
                     const char *key)
{
    const cJSON *row;
    cJSON_ArrayForEach (row, cJSON_GetObjectItem(json, "rows")) {
        if (!strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(row, "quantity")), quantity) &&
            cJSON_GetObjectItem(row, "layer")->valueint == layer &&
            cJSON_GetObjectItem(row, "context")->valueint == context)
            return cJSON_GetNumberValue(cJSON_GetObjectItem(row, key));
    }
    return NAN;
}

static cJSON *measured(const char *from)
{
    cJSON *json;
    struct probe_options o = options;
    o.checkpoint = from;
    assert_int_equal(probe_length(&o), 0);
    assert_int_equal(orr_json_read(scratch_at(tiny.dir, "length.json"), &json), 0);
    return json;
}

/* Without weights all scores are equal: softmax attends all n keys of a row alike, of which there
 * are 2 .. T, at every length and base. */
TEST(test_uniform)
{
    cJSON *json = measured(checkpoint[3]);
    assert_non_null(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "settings"), "model"));
    double harmonic = 0;
    int n = 1;
    for (int T = 32; T <= 512; T *= 2) {
        while (n < T)
            harmonic += 1.0 / ++n;
        for (int layer = -1; layer < 1; layer++)
            for (int ntk = 0; ntk < 1 + (T > 32); ntk++) {
                assert_near(of_row(json, ntk ? "relative entropy, NTK" : "relative entropy", layer,
                                   T, "value"),
                            1, 1e-9);
                assert_near(of_row(json, ntk ? "sink, NTK" : "sink", layer, T, "value"),
                            harmonic / (T - 1), 1e-9);
                assert_near(of_row(json, ntk ? "sink, NTK" : "sink", layer, T, "raw"),
                            harmonic / (T - 1), 1e-9);
            }
    }
    assert_true(isnan(of_row(json, "next position, p = 2", -1, 32, "value"))); /* no re-weighting */
    cJSON_Delete(json);
}

/* No length, base or power changes what such a model predicts. */
TEST(test_probe)
{
    static const char *const way[] = {"", ", NTK", ", p = 2"};
    char name[64];
    cJSON *json = measured(checkpoint[0]);
    for (int w = 0; w < 3; w++)
        for (int T = w == 1 ? 64 : 32; T <= 512; T *= 2) {
            snprintf(name, sizeof name, "next position%s", way[w]);
            assert_near(of_row(json, name, -1, T, "value"),
                        of_row(json, "next position", -1, T, "value"), 1e-9);
            assert_true(of_row(json, name, -1, T, "value") > 0.3);
        }
    /* what is not there: NTK and rows beyond at the trained length, the trained power */
    assert_true(isnan(of_row(json, "next position, NTK", -1, 32, "value")));
    assert_true(isnan(of_row(json, "next position, beyond", -1, 32, "value")));
    assert_true(of_row(json, "next position, beyond", -1, 64, "raw") > 0);
    snprintf(name, sizeof name, "next position, p = %g", tiny.settings.model.attention_p);
    assert_true(isnan(of_row(json, name, -1, 32, "value")));
    cJSON_Delete(json);
}

/* --length is the longest length: equal rows, and none of longer sequences. */
TEST(test_up_to)
{
    static const char *const name[] = {"next position", "next position, NTK", "sink"};
    cJSON *all = measured(checkpoint[0]);
    for (int most = 32; most <= 96; most += 64) {
        options.length = most; /* 96: as 64, which is the longest below it */
        cJSON *some = measured(checkpoint[0]);
        options.length = 0;
        for (int k = 0; k < 3; k++)
            for (int T = k == 1 ? 64 : 32; T <= 512; T *= 2) {
                const double value = of_row(some, name[k], -1, T, "value");
                if (T <= most)
                    assert_near(value, of_row(all, name[k], -1, T, "value"), 0);
                else
                    assert_true(isnan(value));
            }
        cJSON_Delete(some);
    }
    cJSON_Delete(all);
}

TEST(test_refusals)
{
    struct probe_options o = options;
    o.checkpoint = checkpoint[1];
    assert_int_equal(probe_length(&o), ORR_EINVAL); /* learned positions end */
    o.checkpoint = checkpoint[2];
    assert_int_equal(probe_length(&o), ORR_EINVAL); /* forces are no next position */
    o = options;
    o.length = 31; /* below the trained length */
    assert_int_equal(probe_length(&o), ORR_EUSAGE);
    o = options;
    o.change.power = 3;
    assert_int_equal(probe_length(&o), ORR_EUSAGE);
}

TESTS(setup, teardown)
