/* test_evaluate.c - where sequences come from and how predictions of the next state are judged:
 * against loops written out from the definitions. */
#include "on_ref.h"
#include "tiny.h"

#include "pretrain.h"

#include <cjson/cJSON.h>

static char dir[64], orbits[4096];
static struct orr_settings settings;

static void make_preset(bool tokens)
{
    orr_settings_defaults(&settings);
    strcpy(settings.name, "tiny");
    settings.seed = 31;
    settings.orbits.train = settings.orbits.train_files = 12;
    settings.orbits.val = 37; /* two batches of the evaluation */
    settings.orbits.test = 0;
    settings.orbits.two_body_train = settings.orbits.two_body_val = settings.orbits.two_body_test =
        0;
    settings.orbits.positions = 42;
    settings.orbits.bins = 64;
    settings.orbits.planets_max = 4;
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
    settings.pretrain = tiny_training(6, 4);
    assert_int_equal(orr_settings_check(&settings), 0);
}

static void write_orbits(bool tokens)
{
    make_preset(tokens);
    scratch_create(dir);
    scratch_path(orbits, dir, "orbits");
    assert_int_equal(sim_dataset_write(&settings, orbits, 1, false, true), 0);
}

/* ------------------------------------------------------------------------------- sources */

/* Inputs are rows 0..T-1, targets the rows after them; targets that are draws of the prior (step 0)
 * do not count among coordinates. */
TEST(test_rows)
{
    for (int kind = 0; kind < 2; kind++) {
        struct gpt_config c;
        struct gpt_source *source;
        struct gpt_batch batch;
        struct sim_dataset set;
        write_orbits(kind == 1);
        assert_int_equal(gpt_config_from_preset(&c, &settings, "softmax", 42), 0);
        assert_int_equal(gpt_source_open(&source, &settings, orbits, SIM_SPLIT_VAL, &c), 0);
        assert_int_equal(sim_dataset_open(&set, &settings, orbits, SIM_SPLIT_VAL), 0);
        assert_int_equal(gpt_source_count(source), 37);
        assert_int_equal(gpt_batch_create(&batch, &c, 3, 41), 0);
        assert_int_equal(gpt_source_fill(source, 35, true, 0, 0, &batch), 0);
        for (size_t b = 0; b < 3; b++)
            for (size_t t = 0; t < 41; t++) {
                const size_t n = b * 41 + t, at = 2 * ((35 + b) % 37 * 42 + t);
                if (kind == 1) {
                    assert_memory_equal(batch.tokens + 2 * n, set.tokens + at, 4);
                    assert_memory_equal(batch.target_tokens + 2 * n, set.tokens + at + 2, 4);
                    assert_true(batch.weight[n] == 1);
                    continue;
                }
                assert_true(batch.features[3 * n] == set.coords[at]);
                assert_true(batch.features[3 * n + 1] == set.coords[at + 1]);
                assert_true(batch.features[3 * n + 2] == (t == 0 ? 1 : 0));
                assert_memory_equal(batch.target + 2 * n, set.coords + at + 2, 8);
                assert_true(batch.weight[n] == (t < 2 ? 0 : 1));
            }
        gpt_batch_free(&batch);
        gpt_source_close(source);
        sim_dataset_close(&set);
        scratch_remove(dir);
    }
}

/* Sequences made on the fly are those of the files. */
TEST(test_streaming)
{
    for (int kind = 0; kind < 2; kind++) {
        struct gpt_config c;
        struct gpt_source *files, *stream;
        write_orbits(kind == 1);
        struct orr_settings streamed = settings;
        streamed.orbits.train_files = 11;
        assert_int_equal(gpt_config_from_preset(&c, &settings, "softmax", 42), 0);
        assert_int_equal(gpt_source_open(&files, &settings, orbits, SIM_SPLIT_TRAIN, &c), 0);
        assert_int_equal(gpt_source_open(&stream, &streamed, dir, SIM_SPLIT_TRAIN, &c), 0);
        assert_int_equal(gpt_source_count(stream), 12);
        for (uint64_t i = 0; i < 12; i++) {
            const uint16_t *tokens[2];
            const float *coords[2];
            int bodies[2];
            assert_int_equal(gpt_source_sequence(files, i, &tokens[0], &coords[0], &bodies[0]), 0);
            assert_int_equal(gpt_source_sequence(stream, i, &tokens[1], &coords[1], &bodies[1]), 0);
            assert_int_equal(bodies[0], bodies[1]);
            if (kind == 1)
                assert_memory_equal(tokens[0], tokens[1], (size_t)42 * 4);
            else
                assert_memory_equal(coords[0], coords[1], (size_t)42 * 8);
        }
        gpt_source_close(files);
        gpt_source_close(stream);
        scratch_remove(dir);
    }
}

/* Draws depend on (seed, number) only and reach every sequence; noise is on input places only, of
 * the size asked for. */
TEST(test_draws_and_noise)
{
    struct gpt_config c;
    struct gpt_source *source;
    struct gpt_batch all, one, clean;
    write_orbits(false);
    assert_int_equal(gpt_config_from_preset(&c, &settings, "softmax", 42), 0);
    assert_int_equal(gpt_source_open(&source, &settings, orbits, SIM_SPLIT_TRAIN, &c), 0);
    assert_int_equal(gpt_batch_create(&all, &c, 96, 41), 0);
    assert_int_equal(gpt_batch_create(&clean, &c, 96, 41), 0);
    assert_int_equal(gpt_batch_create(&one, &c, 1, 41), 0);
    assert_int_equal(gpt_source_fill(source, 1000, false, 0.25, 7, &all), 0);
    assert_int_equal(gpt_source_fill(source, 1000, false, 0, 7, &clean), 0);
    for (uint64_t b = 0; b < 96; b += 17) {
        assert_int_equal(gpt_source_fill(source, 1000 + b, false, 0.25, 7, &one), 0);
        assert_memory_equal(one.features, all.features + b * 41 * 3, 41 * 3 * sizeof(real));
        assert_memory_equal(one.target, all.target + b * 41 * 2, 41 * 2 * sizeof(real));
    }
    assert_memory_equal(all.target, clean.target, 96 * 41 * 2 * sizeof(real));
    double square = 0;
    for (size_t n = 0; n < 96 * 41; n++)
        for (size_t k = 0; k < 3; k++) {
            const double d = (double)all.features[3 * n + k] - (double)clean.features[3 * n + k];
            if (n % 41 == 0 || k == 2)
                assert_true(d == 0);
            square += d * d;
        }
    assert_true(fabs(sqrt(square / (96 * 40 * 2)) - 0.25) < 0.25 * 0.05); /* 7680 draws */
    int different = 0; /* first rows of the drawn sequences: how many of the twelve occur */
    for (size_t b = 0; b < 96; b++) {
        bool seen = false;
        for (size_t a = 0; a < b; a++)
            seen |= tiny_same(clean.target + a * 82, clean.target + b * 82, 8);
        different += !seen;
    }
    assert_int_equal(different, 12);
    assert_int_equal(gpt_source_fill(source, 1000, false, 0, 8, &clean), 0); /* another seed */
    assert_memory_not_equal(all.target, clean.target, 96 * 41 * 2 * sizeof(real));
    gpt_batch_free(&all);
    gpt_batch_free(&one);
    gpt_batch_free(&clean);
    gpt_source_close(source);
    scratch_remove(dir);
}

/* ---------------------------------------------------------------------------- evaluation */

/* Place of row t of sequence s. */
static void place(const struct sim_dataset *set, size_t s, int t, double xy[2])
{
    const size_t at = 2 * (s * (size_t)set->positions + (size_t)t);
    for (size_t k = 0; k < 2; k++)
        xy[k] = set->coords ? (double)set->coords[at + k]
                            : -50 + (set->tokens[at + k] + 0.5) * 100 / 64;
}

static double apart(const double a[2], const double b[2])
{
    return hypot(a[0] - b[0], a[1] - b[1]);
}

/* Persistence and the mean need no model: by definition, over planets that were seen before. */
static void check_baselines(const struct sim_dataset *set, int sequences, double persistence,
                            double sequence_mean)
{
    double sum[2] = {0, 0}, rows = 0;
    for (size_t s = 0; s < (size_t)sequences; s++) {
        const int bodies = set->num_bodies[s];
        double mean[2] = {0, 0}, count = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int t = 1; t < set->positions; t++) {
                double xy[2], before[2];
                const int body = (t - 1) % bodies;
                if (body == bodies - 1)
                    continue;
                place(set, s, t, xy);
                if (pass == 0) {
                    mean[0] += xy[0];
                    mean[1] += xy[1];
                    count++;
                } else if (t > bodies) {
                    const double average[2] = {mean[0] / count, mean[1] / count};
                    place(set, s, t - bodies, before);
                    sum[0] += apart(xy, before);
                    sum[1] += apart(xy, average);
                    rows++;
                }
            }
    }
    assert_true(fabs(persistence - sum[0] / rows) < 1e-9 * persistence);
    assert_true(fabs(sequence_mean - sum[1] / rows) < 1e-9 * sequence_mean);
}

/* A model that always says (x, y), whatever it sees. */
static void constant_model(struct gpt_model *model, const struct gpt_config *c, int x_bin,
                           int y_bin)
{
    assert_int_equal(gpt_create(model, c, &k_ref, 1), 0);
    memset(model->param, 0, model->total * sizeof(real));
    if (c->head == GPT_HEAD_REGRESSION) {
        gpt_param(model, model->head_b)[0] = (real)0.75;
        gpt_param(model, model->head_b)[1] = (real)-0.25;
        return;
    }
    for (int i = 0; i < c->width; i++) { /* the last norm says 1: heads then are column sums */
        gpt_param(model, model->final_b)[i] = 1;
        gpt_param(model, model->head_w)[x_bin * c->width + i] = 3;
        gpt_param(model, model->head_w)[(c->vocab + y_bin) * c->width + i] = 3;
        gpt_param(model, model->head_w)[(c->vocab - 1) * c->width + i] = 9; /* a sign: no place */
    }
}

/* The rollout of that model and of one that repeats the last known place, by definition; not a
 * number where no sequence has a known planet at the horizon. */
static void check_rollout(const struct sim_dataset *set, const struct gpt_next_state *r,
                          const double said[2])
{
    for (int k = 0; k < r->horizons; k++) {
        double error = 0, before = 0, count = 0;
        for (size_t s = 0; s < (size_t)r->sequences; s++) {
            const int bodies = set->num_bodies[s];
            int t = r->prefix - 1 + r->horizon[k], last = t;
            double xy[2], old[2];
            if ((t - 1) % bodies == bodies - 1)
                last = --t; /* the planet before the sun */
            while (last >= r->prefix)
                last -= bodies;
            if (t < r->prefix || last < 1)
                continue;
            place(set, s, t, xy);
            place(set, s, last, old);
            error += apart(xy, said);
            before += apart(xy, old);
            count++;
        }
        if (count == 0) {
            assert_true(isnan(r->rollout[k]) && isnan(r->rollout_persistence[k]));
            continue;
        }
        assert_true(fabs(r->rollout[k] - error / count) <= 1e-6 * error / count);
        assert_true(fabs(r->rollout_persistence[k] - before / count) <= 1e-9 * before / count);
    }
}

TEST(test_evaluation)
{
    for (int kind = 0; kind < 2; kind++) {
        struct gpt_config c;
        struct gpt_source *source;
        struct gpt_model model;
        struct gpt_next_state r;
        struct sim_dataset set;
        write_orbits(kind == 1);
        assert_int_equal(gpt_config_from_preset(&c, &settings, "softmax", 42), 0);
        assert_int_equal(gpt_source_open(&source, &settings, orbits, SIM_SPLIT_VAL, &c), 0);
        assert_int_equal(sim_dataset_open(&set, &settings, orbits, SIM_SPLIT_VAL), 0);
        constant_model(&model, &c, 40, 11);
        assert_int_equal(gpt_evaluate_next_state(&model, source, 35, 50, &r), 0);
        assert_int_equal(r.sequences, 35);
        check_baselines(&set, 35, r.persistence, r.sequence_mean);

        const double said[2] = {kind ? -50 + 40.5 * 100 / 64 : 0.75,
                                kind ? -50 + 11.5 * 100 / 64 : -0.25};
        double sum = 0, rows = 0;
        for (size_t s = 0; s < 35; s++)
            for (int t = 1 + set.num_bodies[s]; t < 42; t++) {
                double xy[2];
                place(&set, s, t, xy);
                if ((t - 1) % set.num_bodies[s] == set.num_bodies[s] - 1)
                    continue;
                sum += apart(xy, said);
                rows++;
            }
        assert_true(fabs(r.teacher_forced - sum / rows) < 1e-9 * r.teacher_forced);

        assert_int_equal(r.horizons, 3);
        check_rollout(&set, &r, said);
        for (int k = 0; k < 3; k++)
            assert_true(isfinite(r.rollout[k]));
        gpt_free(&model);
        gpt_source_close(source);
        sim_dataset_close(&set);
        scratch_remove(dir);
    }
}

/* An observer who knows the law errs while places are few, and no longer: far less than a body that
 * stays, in sequences of any length by about the same sum. Other laws and tokens have no such
 * upper bound. */
TEST(test_upper_bound)
{
    enum { LONG, SHORT, SPACE, OTHER_LAW, TOKENS, KINDS };
    double sum[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        struct gpt_config c;
        struct gpt_source *source;
        struct gpt_next_state r = {.sequences = 1000};
        const int positions = kind == SHORT ? 21 : 41;
        make_preset(kind == TOKENS);
        settings.orbits.positions = positions;
        settings.orbits.dimensions = kind == SPACE ? 3 : 2;
        settings.orbits.clockwise = kind == SPACE ? 0 : settings.orbits.clockwise;
        settings.orbits.law = kind == OTHER_LAW ? ORR_LAW_POWER : ORR_LAW_NEWTON;
        assert_int_equal(gpt_config_from_preset(&c, &settings, "softmax", positions), 0);
        assert_int_equal(gpt_source_open(&source, &settings, NULL, SIM_SPLIT_VAL, &c), 0);
        assert_int_equal(
            gpt_orbit_upper_bound(source, &settings, false, positions, kind == SHORT ? 0 : 21, &r),
            0);
        gpt_source_close(source);
        if (kind >= OTHER_LAW) {
            assert_true(isnan(r.orbit_fit));
            assert_int_equal(r.orbit_fit_sequences, 0);
            continue;
        }
        assert_int_equal(r.orbit_fit_sequences, 37);
        sum[kind] = r.orbit_fit * (kind == SHORT ? 9 : 19);
        assert_true(sum[kind] > 0.01 && sum[kind] < 0.3);
        if (kind == SHORT)
            assert_true(fabs(r.orbit_fit_late - r.orbit_fit) < 1e-15);
        else /* after ten places the orbit is known */
            assert_true(r.orbit_fit_late < 1e-3 * r.orbit_fit);
    }
    assert_true(fabs(sum[LONG] - sum[SHORT]) < 0.5 * sum[SHORT]);
    assert_true(sum[SPACE] > sum[LONG]); /* the first position does not tell the plane */
}

/* The upper bound over so many held-out and training sequences. */
static void bound(int held_out, int train, int positions, int late_from, struct gpt_next_state *r)
{
    struct gpt_config c;
    struct gpt_source *source;
    make_preset(false);
    settings.orbits.val = held_out;
    settings.orbits.train = train;
    settings.orbits.positions = positions;
    *r = (struct gpt_next_state){.sequences = 1000};
    assert_int_equal(gpt_config_from_preset(&c, &settings, "softmax", positions), 0);
    assert_int_equal(gpt_source_open(&source, &settings, NULL, SIM_SPLIT_VAL, &c), 0);
    assert_int_equal(gpt_orbit_upper_bound(source, &settings, false, positions, late_from, r), 0);
    gpt_source_close(source);
}

/* All held-out sequences are predicted, from the second step on, by what training sequences are
 * like; of great lengths too, whose cost grows with the length alone. */
TEST(test_upper_bound_counts)
{
    struct gpt_next_state all, most, fewer, narrow;
    bound(70, 12, 21, 0, &all);
    assert_int_equal(all.orbit_fit_sequences, 70);
    assert_true(all.orbit_fit_half > 0 && all.orbit_fit_half < all.orbit_fit);
    /* the second step alone, of which one place is known, is most of the error */
    bound(70, 12, 21, 4, &most);
    assert_true(9 * all.orbit_fit - 8 * most.orbit_fit_late > 0.2 * 9 * all.orbit_fit);
    /* the prior is of the training sequences, and there must be some */
    bound(70, 40, 21, 0, &fewer);
    assert_true(fewer.orbit_fit != all.orbit_fit);
    bound(70, 7, 21, 0, &narrow);
    assert_true(isnan(narrow.orbit_fit));
    bound(8, 8, 1025, 42, &all);
    assert_int_equal(all.orbit_fit_sequences, 8);
    assert_true(all.orbit_fit_late < 1e-3);
}

/* Every length of sequence gives numbers or says that there are none; never a zero that is not. */
TEST(test_short_sequences)
{
    for (int positions = 5; positions < 24; positions++)
        for (int kind = 0; kind < 2; kind++) {
            struct gpt_config c;
            struct gpt_source *source;
            struct gpt_model model;
            struct gpt_next_state r;
            struct sim_dataset set;
            make_preset(kind == 1);
            settings.orbits.positions = positions;
            settings.orbits.planets_max = 10;
            settings.orbits.label_from_step = 0;
            scratch_create(dir);
            scratch_path(orbits, dir, "orbits");
            assert_int_equal(sim_dataset_write(&settings, orbits, 1, false, true), 0);
            assert_int_equal(gpt_config_from_preset(&c, &settings, "softmax", positions), 0);
            assert_int_equal(gpt_source_open(&source, &settings, orbits, SIM_SPLIT_VAL, &c), 0);
            assert_int_equal(sim_dataset_open(&set, &settings, orbits, SIM_SPLIT_VAL), 0);
            constant_model(&model, &c, 40, 11);
            assert_int_equal(gpt_evaluate_next_state(&model, source, 1000, 50, &r), 0);
            assert_int_equal(r.sequences, 37);
            assert_true(r.teacher_forced > 0 || isnan(r.teacher_forced));
            const double said[2] = {kind ? -50 + 40.5 * 100 / 64 : 0.75,
                                    kind ? -50 + 11.5 * 100 / 64 : -0.25};
            check_rollout(&set, &r, said);
            sim_dataset_close(&set);
            gpt_free(&model);
            gpt_source_close(source);
            scratch_remove(dir);
        }
}

/* ---------------------------------------------------------------------------- the whole */

/* Weights of gpt_pretrain_stage(), and its evaluation.json; resume leaves a finished run alone. */
TEST(test_pretrain)
{
    write_orbits(false);
    struct orr_lineage lineage;
    struct gpt_pretraining job = {.settings = &settings,
                                  .train = &settings.pretrain,
                                  .ops = &k_ref,
                                  .attention = "lssar",
                                  .orbits_dir = orbits,
                                  .checkpoint = "",
                                  .lineage = &lineage,
                                  .quiet = true};
    uint64_t sum[3], bytes;
    char path[4096];
    settings.pretrain.eval_sequences = 37;
    settings.pretrain.noise_au = 0.01;
    assert_int_equal(orr_lineage_open(&lineage, &settings, NULL), 0);
    for (int run = 0; run < 3; run++) { /* fresh, resumed when complete, repeated elsewhere */
        job.resume = run == 1;
        scratch_path(job.folder, dir, run == 2 ? "again" : "pretrain");
        assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
        assert_int_equal(
            orr_file_checksum(scratch_at(job.folder, "last.safetensors"), &sum[run], &bytes), 0);
        assert_int_equal(sum[run], sum[0]);
    }
    struct cJSON *json;
    assert_int_equal(orr_json_read(scratch_at(job.folder, "evaluation.json"), &json), 0);
    assert_int_equal(cJSON_GetObjectItem(json, "step")->valueint, 6);
    assert_int_equal(cJSON_GetObjectItem(json, "sequences")->valueint, 37);
    assert_string_equal(cJSON_GetObjectItem(json, "unit")->valuestring, "AU");
    assert_true(cJSON_GetObjectItem(json, "teacher_forced")->valuedouble > 0);
    assert_true(cJSON_GetObjectItem(json, "rollout_1")->valuedouble > 0);
    cJSON_Delete(json);
    settings.pretrain.lr *= 2; /* other settings: refused, and made anew where that is asked for */
    job.resume = true;
    scratch_path(path, job.folder, "last.safetensors");
    assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "6 of 6 steps"));
    assert_int_equal(orr_file_checksum(path, &sum[2], &bytes), 0);
    assert_int_equal(sum[2], sum[0]);
    job.force = true;
    assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
    assert_int_equal(orr_file_checksum(path, &sum[2], &bytes), 0);
    assert_int_not_equal(sum[2], sum[0]);
    orr_lineage_close(&lineage);
    scratch_remove(dir);
}

/* The checksum of a finished training's last checkpoint, which is loaded, too. */
static uint64_t trained(struct gpt_pretraining *job, struct gpt_model *model)
{
    char path[4096];
    uint64_t sum, bytes;
    long step;
    assert_int_equal(orr_output_make(&gpt_pretrain_stage, job), 0);
    scratch_path(path, job->folder, "last.safetensors");
    assert_int_equal(orr_file_checksum(path, &sum, &bytes), 0);
    assert_int_equal(gpt_load(model, path, &k_ref, &step), 0);
    assert_int_equal(step, 6);
    return sum;
}

/* A training that starts from a checkpoint takes its averaged weights and no optimiser state; a
 * token head keeps the bias that it came with (docs/pytorch/convert_study.py), resumed or not. */
TEST(test_start)
{
    write_orbits(true);
    struct orr_lineage lineage;
    struct gpt_pretraining job = {.settings = &settings,
                                  .train = &settings.pretrain,
                                  .ops = &k_ref,
                                  .attention = "softmax",
                                  .orbits_dir = orbits,
                                  .lineage = &lineage,
                                  .quiet = true};
    struct gpt_config c;
    struct gpt_model start, model;
    char from[2][4096], last[4096];
    uint64_t sum[2];
    settings.pretrain.keep = 2;
    settings.pretrain.keep_every = 3;
    assert_int_equal(orr_lineage_open(&lineage, &settings, NULL), 0);
    assert_int_equal(gpt_config_from_preset(&c, &settings, "softmax", 42), 0);
    c.head_bias = 1;
    tiny_trained(&start, &c);
    scratch_path(from[0], dir, "whole.safetensors");
    assert_int_equal(gpt_save(&start, from[0], 3, true, NULL), 0);
    gpt_swap_average(&start);
    free(start.average);
    start.average = NULL;
    scratch_path(from[1], dir, "weights.safetensors");
    assert_int_equal(gpt_save(&start, from[1], 0, false, NULL), 0);
    for (int i = 0; i < 2; i++) {
        job.checkpoint = from[i];
        scratch_path(job.folder, dir, i ? "weights" : "whole");
        sum[i] = trained(&job, &model);
        assert_int_equal(model.config.head_bias, 1);
        assert_null(model.average);
        const real *bias = gpt_param(&model, model.head_b);
        assert_false(tiny_same(bias, gpt_param(&start, start.head_b), (size_t)c.outputs));
        gpt_free(&model);
    }
    assert_int_equal(sum[0], sum[1]);
    scratch_path(last, job.folder, "last.safetensors");
    assert_int_equal(rename(scratch_at(job.folder, "last-000000003.safetensors"), last),
                     0); /* as if stopped there */
    job.resume = true;
    assert_int_equal(trained(&job, &model), sum[0]);
    gpt_free(&model);
    gpt_free(&start);
    orr_lineage_close(&lineage);
    scratch_remove(dir);
}

TESTS_ON_REF(NULL, NULL)
