/* test_transform.c - the named losses and their inverses, and what unlabelled positions do to
 * training: nothing. */
#include "on_ref.h"
#include "tiny.h"

#include <cjson/cJSON.h>

static const enum orr_force_loss kinds[] = {ORR_LOSS_RAW, ORR_LOSS_LOG, ORR_LOSS_SCALED};

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * (1 + fabs(expected))))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

/* By hand: F = 1, 8, 64 (and unlabelled ones): ln F = 0, l, 2l with l = ln 8. */
TEST(test_closed_forms)
{
    static const float F[] = {INFINITY, 1, 64, INFINITY, 8, INFINITY};
    struct ft_transform t;
    assert_int_equal(ft_transform_fit(&t, ORR_LOSS_RAW, F, 6), 0);
    near(ft_transform_apply(&t, 3.7), 3.7);
    assert_int_equal(ft_transform_fit(&t, ORR_LOSS_LOG, F, 6), 0);
    near(ft_transform_apply(&t, 8), 0);
    near(ft_transform_apply(&t, 64), sqrt(1.5));
    near(ft_transform_apply(&t, 1), -sqrt(1.5));
    near(ft_transform_invert(&t, 2 * sqrt(1.5)), 512);
    assert_int_equal(ft_transform_fit(&t, ORR_LOSS_SCALED, F, 6), 0);
    near(ft_transform_apply(&t, 1), 1 / sqrt((1 + 64 + 4096) / 3.0));
}

/* Forces of every size come back. */
TEST(test_inverse)
{
    float F[200];
    for (uint64_t i = 0; i < 200; i++)
        F[i] = i % 3 ? (float)exp(60 * tiny_uniform(1, i) - 30) : INFINITY;
    for (int k = 0; k < 3; k++) {
        struct ft_transform t;
        assert_int_equal(ft_transform_fit(&t, kinds[k], F, 200), 0);
        for (int i = 0; i < 200; i++) {
            const double x = isfinite(F[i]) ? (double)F[i] : 0.125;
            const double back = ft_transform_invert(&t, ft_transform_apply(&t, x));
            assert_true(fabs(back - x) <= 1e-13 * x * (kinds[k] == ORR_LOSS_LOG ? 100 : 1));
        }
        if (kinds[k] == ORR_LOSS_LOG) /* whatever a model says, the force is positive */
            for (double x = -9; x < 9; x += 0.37)
                assert_true(ft_transform_invert(&t, x) > 0);
    }
}

/* Standardised targets: mean 0, mean square 1; also where all labels are almost the same. */
TEST(test_standard_targets)
{
    for (int spread = 0; spread < 2; spread++) {
        float F[400];
        struct ft_transform t;
        double mean = 0, square = 0;
        for (uint64_t i = 0; i < 400; i++) /* the second: a few units in the last place */
            F[i] = spread ? 1.1e-9f * (1 + 0x1p-23f * (float)(i % 5))
                          : (float)exp(3 * tiny_uniform(2, i));
        assert_int_equal(ft_transform_fit(&t, ORR_LOSS_LOG, F, 400), 0);
        for (int i = 0; i < 400; i++) {
            const double x = ft_transform_apply(&t, (double)F[i]);
            mean += x / 400;
            square += x * x / 400;
        }
        assert_true(fabs(mean) < 1e-6);
        if (fabs(square - 1) > 1e-6)
            fail_msg("mean square %g, expected 1", square);
        square = 0;
        assert_int_equal(ft_transform_fit(&t, ORR_LOSS_SCALED, F, 400), 0);
        for (int i = 0; i < 400; i++)
            square += pow(ft_transform_apply(&t, (double)F[i]), 2) / 400;
        near(square, 1);
    }
}

TEST(test_awkward)
{
    static const float one[] = {INFINITY, 0.03f}, none[] = {INFINITY, NAN, -INFINITY};
    static const float bad[][2] = {{1, 0}, {1, -2}};
    for (int k = 0; k < 3; k++) {
        struct ft_transform t;
        assert_int_equal(ft_transform_fit(&t, kinds[k], one, 2), 0); /* no spread */
        const double x = ft_transform_apply(&t, (double)0.03f);
        assert_true(isfinite(x));
        near(ft_transform_invert(&t, x), (double)0.03f);
        assert_int_equal(ft_transform_fit(&t, kinds[k], none, 3), ORR_EINVAL);
        error_names("label", NULL);
        assert_int_equal(ft_transform_fit(&t, kinds[k], one, 0), ORR_EINVAL);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(ft_transform_fit(&t, kinds[k], bad[i], 2), ORR_EINVAL);
            error_names("label 1", "positive", NULL);
        }
    }
}

/* ----------------------------------------------------------------------- in training */

/* Loss of the first line of magnitude.jsonl. */
static double logged_loss(const struct tiny *tiny, const char *source)
{
    char path[4096], *text;
    tiny_path(path, tiny, source, "magnitude.jsonl");
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    *strchr(text, '\n') = 0;
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    assert_int_equal(cJSON_GetObjectItem(json, "step")->valueint, 1);
    const double loss = cJSON_GetObjectItem(json, "loss")->valuedouble;
    cJSON_Delete(json);
    free(text);
    return loss;
}

/* The first loss by hand: the mean over labelled rows of (output - transformed label)^2 of the
 * fresh model, on a training set of one sequence (so that every batch is that sequence). */
static double loss_by_hand(const struct tiny *tiny, enum orr_force_loss kind)
{
    const struct sim_dataset *set = &tiny->run.train;
    const int T = set->positions - 1;
    struct gpt_config c;
    struct gpt_model model;
    struct gpt_batch batch;
    struct ft_transform t;
    const real *out;
    double sum = 0, rows = 0;
    assert_int_equal(ft_transform_fit(&t, kind, set->force_magnitude, (size_t)T), 0);
    assert_int_equal(gpt_config_from_preset(&c, &tiny->settings, "lssar", T + 1), 0);
    assert_int_equal(gpt_create(&model, &c, &k_ref, tiny->settings.seed), 0);
    assert_int_equal(gpt_replace_head(&model, GPT_HEAD_REGRESSION, 1, tiny->settings.seed), 0);
    assert_int_equal(gpt_batch_create(&batch, &model.config, 1, T), 0);
    for (int i = 0; i < T; i++)
        if (batch.tokens)
            memcpy(batch.tokens + 2 * i, set->tokens + 2 * i, 2 * sizeof *batch.tokens);
        else
            gpt_place_features(
                &c, (const double[]){(double)set->coords[2 * i], (double)set->coords[2 * i + 1]},
                i == 0, batch.features + i * gpt_config_features(&c));
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    for (int i = 0; i < T; i++) {
        const double F = (double)set->force_magnitude[i];
        if (!isfinite(F))
            continue;
        sum += pow((double)out[i] - ft_transform_apply(&t, F), 2);
        rows++;
    }
    gpt_batch_free(&batch);
    gpt_free(&model);
    return sum / rows;
}

TEST(test_only_labelled_rows_count)
{
    for (int tokens = 0; tokens < 2; tokens++)
        for (int k = 0; k < 3; k++) {
            struct tiny tiny;
            tiny_preset(&tiny.settings, tokens);
            tiny.settings.orbits.two_body_train = 1;
            tiny.settings.finetune.magnitude_loss = kinds[k];
            tiny.settings.finetune.magnitude.steps = 1;
            tiny_open(&tiny);
            assert_int_equal(ft_magnitude_model(&tiny.run, "untrained", "lssar", NULL), 0);
            const double found = logged_loss(&tiny, "untrained");
            const double expected = loss_by_hand(&tiny, kinds[k]);
            if (!(fabs(found - expected) <= 2e-5 * expected))
                fail_msg("loss %d: %.9g, expected %.9g", k, found, expected);
            tiny_close(&tiny);
        }
}

/* The logged held-out loss is the mean over all labels of the validation sequences that were asked
 * for, those of a last, smaller batch too, however many labels a sequence has within the bounds:
 * (output - transformed label)^2 of the saved weights. */
TEST(test_validation_loss)
{
    for (int asked = 67; asked < 90; asked += 20) { /* 67 and 87 of those with labels */
        struct tiny tiny;
        struct ft_transform t;
        struct gpt_model model;
        struct gpt_batch batch;
        char path[4096], *text;
        size_t bytes;
        const real *out;
        tiny_preset(&tiny.settings, false);
        tiny.settings.orbits.two_body_val = 110;
        tiny.settings.orbits.two_body_train = 8;
        tiny.settings.orbits.label_r_max = 3;
        tiny.settings.finetune.magnitude.eval_sequences = asked;
        tiny_open(&tiny);
        const struct sim_dataset *train = &tiny.run.train, *val = &tiny.run.val;
        const size_t P = (size_t)val->positions, T = P - 1;
        struct ft_bounds bounds;
        struct ft_labels labels, all;
        ft_bounds_of(&tiny.settings, &bounds);
        assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
        tiny_path(path, &tiny, "lssar", "magnitude.jsonl");
        assert_int_equal(orr_file_read(path, &text, &bytes), 0);
        const char *last = NULL, *key = "\"val_loss\":";
        for (const char *at = text; (at = strstr(at, key)) != NULL; last = at += strlen(key))
            continue;
        assert_non_null(last);
        const double found = strtod(last, NULL);
        free(text);

        assert_int_equal(ft_labels_find(&all, train, &bounds), 0);
        assert_int_equal(ft_labels_transform(&all, ORR_LOSS_LOG, &t), 0);
        ft_labels_free(&all);
        assert_int_equal(ft_labels_find(&labels, val, &bounds), 0);
        const size_t count = labels.count < (size_t)asked ? labels.count : (size_t)asked;
        assert_true(count > 64); /* two batches */
        tiny_path(path, &tiny, "lssar", "magnitude.safetensors");
        assert_int_equal(gpt_load(&model, path, &k_ref, NULL), 0);
        assert_int_equal(gpt_batch_create(&batch, &model.config, 1, (int)T), 0);
        double sum = 0, rows = 0, by_sequence = 0;
        for (size_t k = 0; k < count; k++) {
            const size_t s = labels.sequence[k];
            double own = 0, own_rows = 0;
            for (size_t i = 0; i < T; i++) {
                const float *xy = val->coords + 2 * (s * P + i);
                gpt_place_features(&model.config, (const double[]){(double)xy[0], (double)xy[1]},
                                   i == 0,
                                   batch.features + i * (size_t)gpt_config_features(&model.config));
            }
            assert_int_equal(gpt_forward(&model, &batch, &out), 0);
            for (size_t i = 0; i < T; i++) {
                const double F = (double)val->force_magnitude[s * P + i];
                if (!ft_label_counts(val, &bounds, s * P + i))
                    continue;
                own += pow((double)out[i] - ft_transform_apply(&t, F), 2);
                own_rows++;
            }
            by_sequence += own / own_rows / (double)count;
            sum += own;
            rows += own_rows;
        }
        const double expected = sum / rows;
        assert_true(fabs(by_sequence - expected) > 1e-3 * expected); /* it makes a difference */
        ft_labels_free(&labels);
        if (!(fabs(found - expected) <= 2e-5 * expected))
            fail_msg("%d sequences: %.9g, expected %.9g", asked, found, expected);
        gpt_batch_free(&batch);
        gpt_free(&model);
        tiny_close(&tiny);
    }
}

/* Target -> force, from the definitions: mean and deviation of the training labels, those of a
 * sequence's last row, which is no input, left out. */
static double force_of(const struct sim_dataset *train, enum orr_force_loss kind, double x)
{
    double mean = 0, square = 0, count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < train->n * (size_t)train->positions; i++) {
            const double F = (double)train->force_magnitude[i];
            if (!isfinite(F) || (i + 1) % (size_t)train->positions == 0)
                continue;
            count += pass == 0;
            mean += pass == 0 && kind == ORR_LOSS_LOG ? log(F) : 0;
            square += pass == 1 ? pow(kind == ORR_LOSS_LOG ? log(F) - mean / count : F, 2) : 0;
        }
    if (kind == ORR_LOSS_RAW)
        return x;
    return kind == ORR_LOSS_LOG ? exp(mean / count + x * sqrt(square / count))
                                : x * sqrt(square / count);
}

/* The table holds forces, not targets: what the saved weights - their average, where one is kept -
 * say about held-out rows, turned back. */
TEST(test_predictions_are_forces)
{
    struct tiny tiny;
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    for (int k = 0; k < 3; k++) {
        const struct sim_dataset *test = &tiny.run.test;
        const int T = test->positions - 1;
        struct gpt_model model;
        struct gpt_batch batch;
        struct orr_csv csv;
        char path[4096];
        const real *out;
        tiny.settings.finetune.magnitude_loss = kinds[k];
        tiny.settings.finetune.magnitude.ema = k == 1 ? 0.6 : 0;
        tiny.run.force = k > 0;
        assert_int_equal(ft_magnitude_model(&tiny.run, "softmax", "softmax", NULL), 0);
        tiny_read(&csv, &tiny, "softmax", "forces_magnitude.csv");
        tiny_path(path, &tiny, "softmax", "magnitude.safetensors");
        assert_int_equal(gpt_load(&model, path, &k_ref, NULL), 0);
        assert_int_equal(model.average != NULL, k == 1);
        gpt_swap_average(&model);
        assert_int_equal(gpt_batch_create(&batch, &model.config, 1, T), 0);
        assert_int_equal(csv.rows, 120);
        for (size_t i = 0; i < csv.rows; i++) {
            const struct ft_row *row = &tiny.run.rows[i];
            const float *xy = test->coords + row->sequence * (T + 1) * 2;
            for (int t = 0; t < T; t++)
                gpt_place_features(&model.config,
                                   (const double[]){(double)xy[2 * t], (double)xy[2 * t + 1]},
                                   t == 0, batch.features + 3 * t);
            assert_int_equal(gpt_forward(&model, &batch, &out), 0);
            const double F = force_of(&tiny.run.train, kinds[k], (double)out[row->row]);
            assert_true(fabs(tiny_cell(&csv, i, "F") - F) <= 2e-5 * (fabs(F) + 1e-3));
        }
        gpt_batch_free(&batch);
        gpt_free(&model);
        orr_csv_free(&csv);
    }
    tiny_close(&tiny);
}

TEST(transforms_are_text_in_checkpoints)
{
    const struct ft_transform all[] = {
        {ORR_LOSS_RAW, 0, 1}, {ORR_LOSS_LOG, -1.0 / 3, 1e-7 / 3}, {ORR_LOSS_SCALED, 0, 2e9 / 7}};
    static const char *const wrong[] = {"",          "log",     "log 1",     "log 1 0",
                                        "log nan 1", "lag 1 1", "log 1 2 3", "log 1 inf"};
    struct ft_transform read;
    char text[FT_TRANSFORM_TEXT];
    for (int i = 0; i < 3; i++) {
        ft_transform_print(&all[i], text);
        assert_true(ft_transform_parse(text, &read));
        assert_int_equal(read.kind, all[i].kind);
        assert_memory_equal(&read.mean, &all[i].mean, sizeof read.mean);
        assert_memory_equal(&read.scale, &all[i].scale, sizeof read.scale);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (ft_transform_parse(wrong[i], &read))
            fail_msg("\"%s\" is read", wrong[i]);
}

TESTS_ON_REF(NULL, NULL)
