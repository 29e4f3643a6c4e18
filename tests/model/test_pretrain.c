/* test_pretrain.c - what a pretraining is judged and selected by: the held-out loss over all the
 * sequences that were asked for, and final figures of sequences that nothing was selected on. */
#include "tiny.h"

#include "pretrain.h"

#include <cjson/cJSON.h>
#include <gsl/gsl_randist.h>

static char dir[64], orbits[4096];
static struct orr_settings settings;
static struct orr_lineage lineage; /* of the job made last */

/* 70 validation sequences: a batch of 64, and a smaller one. */
static void make_preset(bool tokens)
{
    orr_settings_defaults(&settings);
    strcpy(settings.name, "tiny");
    settings.seed = 32;
    settings.orbits.train = settings.orbits.train_files = 12;
    settings.orbits.val = 70;
    settings.orbits.test = 0;
    settings.orbits.two_body_train = settings.orbits.two_body_val = settings.orbits.two_body_test =
        0;
    settings.orbits.positions = 22;
    settings.orbits.bins = 64;
    settings.orbits.planets_max = 3;
    settings.orbits.solar_system = false;
    if (!tokens) {
        settings.orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
        settings.orbits.output = ORR_OUTPUT_CONTINUOUS;
        settings.orbits.mass_prior = ORR_MASS_LOGUNIFORM;
        settings.orbits.a_max_au = 4;
    }
    settings.model.layers = 1;
    settings.model.heads = 2;
    settings.model.width = 8;
    settings.pretrain = tiny_training(4, 4);
    assert_int_equal(orr_settings_check(&settings), 0);
}

static void write_orbits(void)
{
    scratch_create(dir);
    scratch_path(orbits, dir, "orbits");
    assert_int_equal(sim_dataset_write(&settings, orbits, 1, false, true), 0);
}

static struct gpt_pretraining make_job(const char *folder)
{
    struct gpt_pretraining job = {.settings = &settings,
                                  .train = &settings.pretrain,
                                  .lineage = &lineage,
                                  .ops = &k_ref,
                                  .attention = "softmax",
                                  .orbits_dir = orbits,
                                  .checkpoint = "",
                                  .quiet = true};
    scratch_path(job.folder, dir, folder);
    orr_lineage_close(&lineage);
    assert_int_equal(orr_lineage_open(&lineage, &settings, NULL), 0);
    return job;
}

/* The last number of a key in the log. */
static double logged(const struct gpt_pretraining *job, const char *key)
{
    char *text;
    size_t bytes;
    double value = NAN;
    assert_int_equal(orr_file_read(scratch_at(job->folder, "log.jsonl"), &text, &bytes), 0);
    for (char *at = text; (at = strstr(at, key)) != NULL;) {
        at += strlen(key);
        value = strtod(at + strspn(at, "\": "), NULL);
    }
    free(text);
    return value;
}

/* Mean loss of a checkpoint over the first `count` sequences of a split, one by one. */
static double loss_of(const char *checkpoint, enum sim_split split, int count)
{
    struct gpt_model model;
    struct gpt_source *source;
    struct gpt_batch batch;
    double sum = 0, part;
    assert_int_equal(gpt_load(&model, checkpoint, &k_ref, NULL), 0);
    assert_int_equal(gpt_source_open(&source, &settings, orbits, split, &model.config), 0);
    assert_int_equal(gpt_batch_create(&batch, &model.config, 1, model.config.context), 0);
    for (uint64_t i = 0; i < (uint64_t)count; i++) {
        assert_int_equal(gpt_source_fill(source, i, true, 0, 0, &batch), 0);
        assert_int_equal(gpt_loss(&model, &batch, &part), 0);
        sum += part / count;
    }
    gpt_batch_free(&batch);
    gpt_source_close(source);
    gpt_free(&model);
    return sum;
}

/* Every sequence counts once, those of a last, smaller batch too. */
TEST(test_all_sequences_count)
{
    static const int asked[] = {67, 70, 64, 3, 900};
    for (int kind = 0; kind < 2; kind++) {
        make_preset(kind == 1);
        write_orbits();
        for (int k = 0; k < 5; k++) {
            char path[4096];
            settings.pretrain.eval_sequences = asked[k];
            struct gpt_pretraining job = make_job("pretrain");
            job.force = k > 0;
            assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
            scratch_path(path, job.folder, "last.safetensors");
            const int count = asked[k] < 70 ? asked[k] : 70;
            const double expected = loss_of(path, SIM_SPLIT_VAL, count);
            const double found = logged(&job, "val_loss");
            /* float losses of at most 64 sequences, in another order */
            if (!(fabs(found - expected) <= 1e-6 * expected))
                fail_msg("%d sequences: %.9g, expected %.9g", asked[k], found, expected);
        }
        scratch_remove(dir);
    }
}

static cJSON *evaluation_of(const struct gpt_pretraining *job)
{
    cJSON *json;
    assert_int_equal(orr_json_read(scratch_at(job->folder, "evaluation.json"), &json), 0);
    return json;
}

static const char *text_of(const cJSON *json, const char *key)
{
    return cJSON_GetObjectItem(json, key)->valuestring;
}

/* Final figures are of the test split: of all its sequences that were asked for, by the weights of
 * the last step; without test sequences they are of the validation split, and say so. */
TEST(test_final_figures)
{
    for (int kind = 0; kind < 2; kind++)
        for (int planets = 0; planets < 2 - kind; planets++)
            for (int test = 9; test >= 0; test -= 9) {
                char path[4096];
                make_preset(kind == 1);
                settings.orbits.val = 11;
                settings.orbits.test = planets ? 3 : test;
                settings.planets.enabled = kind == 0;
                settings.planets.train = 5;
                settings.planets.val = 11;
                settings.planets.test = planets ? test : 3;
                settings.planets.steps = 11;
                settings.planets.labels = 2;
                settings.pretrain_planets = settings.pretrain;
                write_orbits();
                struct gpt_pretraining job = make_job("pretrain");
                job.planets = planets;
                job.train = planets ? &settings.pretrain_planets : &settings.pretrain;
                assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
                cJSON *json = evaluation_of(&job);
                const enum sim_split split =
                    test ? (planets ? SIM_SPLIT_PLANETS_TEST : SIM_SPLIT_TEST)
                         : (planets ? SIM_SPLIT_PLANETS_VAL : SIM_SPLIT_VAL);
                assert_int_equal(gpt_final_split(&settings, planets), split);
                assert_string_equal(text_of(json, "split"), sim_split_name(split));
                assert_string_equal(text_of(json, "checkpoint"), "last.safetensors");
                const int sequences = cJSON_GetObjectItem(json, "sequences")->valueint;
                assert_int_equal(sequences, 8); /* eval_sequences */
                scratch_path(path, job.folder, "last.safetensors");
                const double expected = loss_of(path, split, sequences);
                const double found = cJSON_GetObjectItem(json, "loss")->valuedouble;
                assert_true(fabs(found - expected) <= 1e-6 * expected);
                /* what such a run can be asked for is beside its figures */
                double r2;
                const cJSON *period = cJSON_GetObjectItem(json, "period_r2");
                assert_int_equal(sim_prior_period_r2(&settings, SIM_SPLIT_PLANETS_TRAIN, &r2), 0);
                assert_true(planets == (period != NULL));
                /* cJSON writes 15 digits where these are the number to its last bits */
                assert_true(!planets || fabs(period->valuedouble - r2) <= 1e-14);
                assert_true(r2 > 0.5 && r2 < 1);
                /* what was logged, and would be selected on, is of the validation split */
                const double val =
                    loss_of(path, planets ? SIM_SPLIT_PLANETS_VAL : SIM_SPLIT_VAL, 8);
                assert_true(fabs(logged(&job, "val_loss") - val) <= 1e-6 * val);
                assert_true(test == 0 || fabs(found - val) > 1e-5 * val);
                cJSON_Delete(json);
                scratch_remove(dir);
            }
}

/* What the test sequences hold reaches no weight and no selection. */
TEST(test_test_set_is_apart)
{
    uint64_t sum[2][2], bytes;
    double loss[2];
    for (int run = 0; run < 2; run++) {
        char path[4096];
        make_preset(false);
        settings.orbits.val = settings.orbits.test = 8;
        settings.pretrain.steps = 12;
        settings.pretrain.eval_every = 1;
        settings.pretrain.patience = 3;
        write_orbits();
        if (run == 1) { /* the same places, mirrored and far away */
            struct orr_npy npy;
            static float data[8 * 22 * 2];
            scratch_path(path, orbits, "coords_test.npy");
            assert_int_equal(orr_npy_open(path, &npy), 0);
            assert_int_equal(npy.shape[0] * npy.shape[1] * npy.shape[2], 8 * 22 * 2);
            for (size_t i = 0; i < 8 * 22 * 2; i++)
                data[i] = 40 - ((const float *)npy.data)[i];
            orr_npy_close(&npy);
            assert_int_equal(orr_npy_write(path, ORR_F32, 3, (size_t[]){8, 22, 2}, data, NULL), 0);
        }
        struct gpt_pretraining job = make_job("pretrain");
        assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
        static const char *const files[] = {"last.safetensors", "best.safetensors"};
        for (int f = 0; f < 2; f++) {
            assert_int_equal(
                orr_file_checksum(scratch_at(job.folder, files[f]), &sum[run][f], &bytes), 0);
        }
        cJSON *json = evaluation_of(&job);
        loss[run] = cJSON_GetObjectItem(json, "loss")->valuedouble;
        cJSON_Delete(json);
        scratch_remove(dir);
    }
    assert_int_equal(sum[0][0], sum[1][0]);
    assert_int_equal(sum[0][1], sum[1][1]);
    assert_true(loss[1] > 10 * loss[0]); /* it is what is measured at the end */
}

/* Where patience ends trainings the weights of the least validation loss are what is judged: not
 * those of the last step, which are worse. Their average where one is kept. */
TEST(test_best_is_judged)
{
    for (int ema = 0; ema < 2; ema++) {
        char best[4096], last[4096];
        long step[2];
        bool ended;
        make_preset(false);
        settings.orbits.val = settings.orbits.test = 8;
        settings.pretrain.steps = 60;
        settings.pretrain.lr = 0.1; /* too large: the loss soon rises again */
        settings.pretrain.ema = ema ? 0.5 : 0;
        settings.pretrain.eval_every = 1;
        settings.pretrain.patience = 4;
        write_orbits();
        struct gpt_pretraining job = make_job("pretrain");
        assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
        scratch_path(best, job.folder, "best.safetensors");
        scratch_path(last, job.folder, "last.safetensors");
        assert_int_equal(gpt_progress(last, &step[1], &ended), 0);
        assert_true(ended && step[1] < 60);
        struct gpt_model model;
        assert_int_equal(gpt_load(&model, best, &k_ref, &step[0]), 0);
        gpt_free(&model);
        assert_int_equal(step[0], step[1] - 4);
        cJSON *json = evaluation_of(&job);
        assert_string_equal(text_of(json, "checkpoint"), "best.safetensors");
        assert_int_equal(cJSON_GetObjectItem(json, "step")->valueint, step[0]);
        const double found = cJSON_GetObjectItem(json, "loss")->valuedouble;
        const double expected = loss_of(best, SIM_SPLIT_TEST, 8);
        assert_true(fabs(found - expected) <= 1e-6 * expected);
        assert_true(fabs(loss_of(last, SIM_SPLIT_TEST, 8) - expected) > 1e-3 * expected);
        cJSON_Delete(json);
        scratch_remove(dir);
    }
}

/* ---- random numbers */

/* Draw d of a pretraining is a sequence by shuffle stream 0 of states and 2 of planet runs, with
 * the noise of stream d and (3 << 40) + d: two pretrainings of a run share neither. */
TEST(test_streams_are_apart)
{
    enum { DRAWS = 16 };
    double noise[2][DRAWS];
    int same = 0;
    uint64_t drawn[2][DRAWS];
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    make_preset(false);
    settings.planets.enabled = true;
    settings.planets.train = 12;
    settings.planets.val = 1;
    settings.planets.steps = 11;
    write_orbits();
    for (int planets = 0; planets < 2; planets++) {
        struct gpt_config config;
        struct gpt_source *source;
        struct gpt_batch clean, noisy;
        const int positions = planets ? 1 + 2 * settings.planets.steps : settings.orbits.positions;
        assert_int_equal(gpt_config_from_preset(&config, &settings, "softmax", positions), 0);
        assert_int_equal(gpt_source_open(&source, &settings, orbits,
                                         planets ? SIM_SPLIT_PLANETS_TRAIN : SIM_SPLIT_TRAIN,
                                         &config),
                         0);
        assert_int_equal(gpt_batch_create(&clean, &config, DRAWS, config.context), 0);
        assert_int_equal(gpt_batch_create(&noisy, &config, DRAWS, config.context), 0);
        assert_int_equal(gpt_source_fill(source, 40, false, 0, settings.seed, &clean), 0);
        assert_int_equal(gpt_source_fill(source, 40, false, 0.25, settings.seed, &noisy), 0);
        for (uint64_t d = 0; d < DRAWS; d++) {
            const uint16_t *tokens;
            const float *coords;
            int bodies;
            const size_t at =
                (d * (size_t)config.context + 1) * (size_t)gpt_config_features(&config);
            const uint64_t i =
                orr_rng_hash(settings.seed, ORR_STAGE_SHUFFLE, planets ? 2 : 0, 40 + d) % 12;
            assert_int_equal(gpt_source_sequence(source, i, &tokens, &coords, &bodies), 0);
            assert_true(clean.features[at] == (real)coords[2]);
            noise[planets][d] = (double)noisy.features[at] - (double)clean.features[at];
            drawn[planets][d] = i;
            orr_rng_seek(rng, settings.seed, ORR_STAGE_NOISE, (planets ? 3ull << 40 : 0) + 40 + d);
            assert_true(fabs(noise[planets][d] - gsl_ran_gaussian_ziggurat(rng, 0.25)) < 1e-5);
        }
        gpt_batch_free(&clean);
        gpt_batch_free(&noisy);
        gpt_source_close(source);
    }
    for (int d = 0; d < DRAWS; d++) {
        assert_true(fabs(noise[0][d] - noise[1][d]) > 1e-4);
        same += drawn[0][d] == drawn[1][d];
    }
    assert_true(same < DRAWS / 2);
    gsl_rng_free(rng);
    scratch_remove(dir);
}

enum { TRAINED = 3, PASSES = 5 };
static uint64_t sums[TRAINED * PASSES + 1]; /* of the inputs of each training pass */
static int sum_count, training_rows;

static int watching_linear(const struct k_linear *layer)
{
    if (layer->fp32_only && layer->C == 3 &&
        layer->N == training_rows) { /* x, y and the mark of the time step */
        uint64_t sum = 1469598103934665603u;
        const unsigned char *bytes = (const unsigned char *)layer->inp;
        for (size_t i = 0; i < (size_t)layer->N * 3 * sizeof *layer->inp; i++)
            sum = (sum ^ bytes[i]) * 1099511628211u;
        assert_in_range(sum_count, 0, TRAINED * PASSES);
        sums[sum_count++] = sum;
    }
    return k_ref.linear_forward(layer);
}

/* Accumulated passes of a step are batches of their own. */
TEST(test_passes_differ)
{
    struct k_ops watching = k_ref;
    watching.linear_forward = watching_linear;
    make_preset(false);
    settings.orbits.val = 3; /* a batch of another size than those of training */
    settings.pretrain.steps = TRAINED;
    settings.pretrain.accumulation = PASSES;
    settings.pretrain.noise_au = 0;
    training_rows = settings.pretrain.batch * (settings.orbits.positions - 1);
    sum_count = 0;
    write_orbits();
    struct gpt_pretraining job = make_job("pretrain");
    job.ops = &watching;
    assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
    assert_int_equal(sum_count, TRAINED * PASSES);
    for (int i = 0; i < sum_count; i++)
        for (int k = 0; k < i; k++)
            if (sums[i] == sums[k])
                fail_msg("passes %d and %d were the same batch", k, i);
    scratch_remove(dir);
}

/* The loss is part of the checkpoint, belongs to regression heads alone, and ends with its head. */
TEST(test_pseudo_huber)
{
    for (int tokens = 0; tokens < 2; tokens++) {
        make_preset(tokens);
        settings.pretrain.huber = 0.3125;
        write_orbits();
        struct gpt_pretraining job = make_job("pretrain");
        struct gpt_model model;
        assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
        assert_int_equal(gpt_load(&model, scratch_at(job.folder, "last.safetensors"), &k_ref, NULL),
                         0);
        assert_true(model.config.huber == (tokens ? 0 : 0.3125));
        assert_int_equal(gpt_replace_head(&model, GPT_HEAD_REGRESSION, 1, 1), 0);
        assert_true(model.config.huber == 0);
        gpt_free(&model);
        scratch_remove(dir);
    }
}

int main(void)
{
    if (k_ref.open(1, false))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    k_ref.close();
    orr_lineage_close(&lineage);
    return failed;
}
