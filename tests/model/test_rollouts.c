/* test_rollouts.c - rollouts.csv beside the evaluation of planet runs: true places of the data, and
 * continuations by the model that was judged. */
#include "tiny.h"

#include "pretrain.h"

#include <cjson/cJSON.h>

enum { STEPS = 11, LISTED = STEPS - 1, KNOWN = LISTED / 2 };
static char dir[64], orbits[4096];
static struct orr_settings settings;
static struct orr_lineage lineage;
static struct gpt_pretraining job;

static void open_job(void)
{
    orr_settings_defaults(&settings);
    strcpy(settings.name, "tiny");
    settings.seed = 34;
    settings.orbits.train = settings.orbits.train_files = 2;
    settings.orbits.val = settings.orbits.test = 0;
    settings.orbits.two_body_train = settings.orbits.two_body_val = settings.orbits.two_body_test =
        0;
    settings.orbits.solar_system = false;
    settings.orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    settings.orbits.output = ORR_OUTPUT_CONTINUOUS;
    settings.orbits.mass_prior = ORR_MASS_LOGUNIFORM;
    settings.orbits.a_max_au = 4;
    settings.orbits.label_from_step = 3;
    settings.planets.enabled = settings.planets.eccentric = true;
    settings.planets.train = 5;
    settings.planets.val = settings.planets.test = 3;
    settings.planets.steps = STEPS;
    settings.planets.labels = 2;
    settings.model.layers = 1;
    settings.model.heads = 2;
    settings.model.width = 8;
    settings.pretrain_planets = tiny_training(4, 4);
    assert_int_equal(orr_settings_check(&settings), 0);
    scratch_create(dir);
    scratch_path(orbits, dir, "orbits");
    assert_int_equal(sim_dataset_write(&settings, orbits, 1, false, true), 0);
    assert_int_equal(orr_lineage_open(&lineage, &settings, NULL), 0);
    job = (struct gpt_pretraining){.settings = &settings,
                                   .train = &settings.pretrain_planets,
                                   .lineage = &lineage,
                                   .ops = &k_ref,
                                   .attention = "softmax",
                                   .orbits_dir = orbits,
                                   .checkpoint = "",
                                   .planets = true,
                                   .resume = true,
                                   .quiet = true};
    scratch_path(job.folder, dir, "run");
}

static void close_job(void)
{
    orr_lineage_close(&lineage);
    scratch_remove(dir);
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

/* The model's first own step of body b: the planet after all rows that are known, then the sun
 * after these and that planet. */
static void predict(struct gpt_model *model, const struct sim_dataset *set, int b, double own[2][2])
{
    const size_t OC = (size_t)model->config.outputs;
    const size_t F = (size_t)gpt_config_features(&model->config);
    const float *coords = sim_dataset_coords(set, (size_t)b);
    struct gpt_batch batch;
    const real *out;
    assert_int_equal(gpt_batch_create(&batch, &model->config, 1, model->config.context), 0);
    for (size_t t = 0; t <= 2 * KNOWN; t++)
        gpt_place_features(&model->config,
                           (const double[]){(double)coords[2 * t], (double)coords[2 * t + 1]},
                           t == 0, batch.features + t * F);
    for (size_t body = 0; body < 2; body++) {
        assert_int_equal(gpt_forward(model, &batch, &out), 0);
        for (size_t c = 0; c < 2; c++)
            own[body][c] = (double)set->scale[b] * (double)out[(2 * KNOWN + body) * OC + c];
        gpt_place_features(
            &model->config,
            (const double[]){(double)out[2 * KNOWN * OC], (double)out[2 * KNOWN * OC + 1]}, false,
            batch.features + (2 * KNOWN + 1) * F);
    }
    gpt_batch_free(&batch);
}

/* Every body, every step: the truth is the state of the data set, what the model was given is true,
 * and the first own step is the model's prediction from true rows. */
TEST(test_places)
{
    open_job();
    assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
    char path[4096];
    struct orr_csv csv;
    struct sim_dataset set;
    struct gpt_model model;
    assert_int_equal(orr_path(path, "%s/rollouts.csv", job.folder), 0);
    assert_int_equal(orr_csv_read(path, ORR_CSV_KEEP_TEXT, &csv), 0);
    assert_int_equal(csv.rows, SIM_SUN_BODIES * LISTED);
    assert_int_equal(csv.cols, 7);
    assert_int_equal(sim_dataset_open(&set, &settings, orbits, SIM_SPLIT_PLANETS_SOLAR), 0);
    assert_int_equal(orr_path(path, "%s/last.safetensors", job.folder), 0);
    assert_int_equal(gpt_load(&model, path, &k_ref, NULL), 0);
    gpt_swap_average(&model);
    double farthest = 0;
    for (int row = 0; row < SIM_SUN_BODIES * LISTED; row++) {
        const int b = row / LISTED, step = row % LISTED;
        const double *v = csv.values + (size_t)row * csv.cols;
        const size_t at = (size_t)b * (size_t)set.positions + 2 + 2 * (size_t)step;
        const double a_au = sim_sun_bodies[b].a_au, e = sim_sun_bodies[b].e;
        assert_string_equal(csv.cells[(size_t)row * csv.cols], sim_sun_bodies[b].name);
        assert_int_equal((int)v[1], step);
        for (int c = 0; c < 2; c++)
            assert_near(v[2 + c], (double)set.full_state[6 * at + (size_t)c], 2e-5 * a_au);
        const double r = hypot(v[2], v[3]);
        assert_true(r > 0.999 * a_au * (1 - e) && r < 1.001 * a_au * (1 + e));
        assert_int_equal((int)v[6], step < KNOWN);
        if (step < KNOWN)
            assert_true(v[4] == v[2] && v[5] == v[3]);
        else
            farthest = fmax(farthest, hypot(v[4] - v[2], v[5] - v[3]) / a_au);
        if (step != KNOWN)
            continue;
        double own[2][2];
        predict(&model, &set, b, own);
        for (int c = 0; c < 2; c++)
            assert_near(v[4 + c], own[0][c] - own[1][c], 2e-5 * a_au);
    }
    assert_true(farthest > 1e-3); /* a model of four steps is no orbit */
    gpt_free(&model);
    sim_dataset_close(&set);
    orr_csv_free(&csv);
    close_job();
}

/* A table that was changed is made again with the evaluation, the training is kept. */
TEST(test_changes_are_seen)
{
    char path[4096], *before, *after;
    size_t bytes;
    struct orr_stage_output found;
    const struct orr_artefact *evaluation = &found.file[1];
    open_job();
    assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
    assert_int_equal(orr_path(path, "%s/rollouts.csv", job.folder), 0);
    assert_int_equal(orr_file_read(path, &before, &bytes), 0);
    assert_int_equal(orr_output_status(&gpt_pretrain_stage, &job, &found), 0);
    assert_true(found.files == 2 && found.file[0].action == ORR_KEEP);
    assert_int_equal(evaluation->action, ORR_KEEP);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs("earth,11,0,0,0,0,0\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(orr_output_status(&gpt_pretrain_stage, &job, &found), 0);
    assert_int_equal(found.file[0].action, ORR_KEEP);
    assert_int_equal(evaluation->action, ORR_REMAKE);
    assert_non_null(strstr(evaluation->why, "rollouts.csv"));
    assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
    assert_int_equal(orr_file_read(path, &after, &bytes), 0);
    assert_string_equal(after, before);
    assert_int_equal(orr_output_status(&gpt_pretrain_stage, &job, &found), 0);
    assert_int_equal(evaluation->action, ORR_KEEP);
    free(before);
    free(after);
    close_job();
}

TESTS(NULL, NULL)
