/* test_best.c - fine-tuning with patience: the weights of the least validation loss predict, not
 * the last ones; fresh, resumed and done again. */
#include "on_ref.h"
#include "tiny.h"

static struct tiny tiny;

/* The loss rises again soon, and patience ends the training. */
static void impatient_preset(int ema)
{
    tiny_preset(&tiny.settings, false);
    struct orr_train_settings *t = &tiny.settings.finetune.magnitude;
    t->steps = 80;
    t->lr = 0.1;
    t->ema = ema ? 0.4 : 0;
    t->eval_every = 1;
    t->patience = 3;
    assert_int_equal(orr_settings_check(&tiny.settings), 0);
}

/* Largest difference, relative to the force, between the table and what the weights of a checkpoint
 * say about its rows. */
static double difference(const char *checkpoint)
{
    const struct sim_dataset *test = &tiny.run.test, *train = &tiny.run.train;
    const size_t P = (size_t)test->positions, n = train->n * (P - 1);
    struct gpt_model model;
    struct gpt_batch batch;
    struct ft_transform t;
    struct orr_csv csv;
    char path[4096];
    const real *out = NULL;
    double worst = 0;
    float *labels = malloc(n * sizeof *labels);
    assert_non_null(labels);
    for (size_t s = 0; s < train->n;
         s++) /* a last row is no input, and its label is not trained on */
        memcpy(labels + s * (P - 1), train->force_magnitude + s * P, (P - 1) * sizeof *labels);
    assert_int_equal(ft_transform_fit(&t, ORR_LOSS_LOG, labels, n), 0);
    tiny_path(path, &tiny, "lssar", checkpoint);
    assert_int_equal(gpt_load(&model, path, &k_ref, NULL), 0);
    gpt_swap_average(&model);
    assert_int_equal(gpt_batch_create(&batch, &model.config, 1, (int)P - 1), 0);
    tiny_read(&csv, &tiny, "lssar", "forces_magnitude.csv");
    for (size_t i = 0; i < csv.rows; i++) {
        const float *xy = test->coords + 2 * (size_t)tiny.run.rows[i].sequence * P;
        for (size_t k = 0; k + 1 < P; k++)
            gpt_place_features(&model.config,
                               (const double[]){(double)xy[2 * k], (double)xy[2 * k + 1]}, k == 0,
                               batch.features + k * (size_t)gpt_config_features(&model.config));
        assert_int_equal(gpt_forward(&model, &batch, &out), 0);
        const double F = ft_transform_invert(&t, (double)out[tiny.run.rows[i].row]);
        worst = fmax(worst, fabs(tiny_cell(&csv, i, "F") - F) / F);
    }
    orr_csv_free(&csv);
    gpt_batch_free(&batch);
    gpt_free(&model);
    free(labels);
    return worst;
}

static long step_of(const char *checkpoint)
{
    char path[4096];
    long step;
    bool ended;
    tiny_path(path, &tiny, "lssar", checkpoint);
    assert_int_equal(gpt_progress(path, &step, &ended), 0);
    return step;
}

TEST(test_best_predicts)
{
    for (int ema = 0; ema < 2; ema++) {
        impatient_preset(ema);
        tiny_open(&tiny);
        uint64_t sum[3];
        for (int run = 0; run < 3; run++) { /* fresh, resumed when complete, done again */
            tiny.run.resume = run == 1;
            tiny.run.force = run == 2;
            assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
            sum[run] = tiny_checksum(&tiny, "lssar", "forces_magnitude.csv");
            assert_int_equal(sum[run], sum[0]);
        }
        const long last = step_of("magnitude.safetensors");
        assert_true(last < 80); /* patience ended it, 3 evaluations after the best one */
        assert_int_equal(step_of("magnitude_best.safetensors"), last - 3);
        assert_true(difference("magnitude_best.safetensors") < 1e-4);
        assert_true(difference("magnitude.safetensors") > 1e-2);
        tiny_close(&tiny);
    }
}

/* A training that was stopped goes on to the same best weights and the same table. */
TEST(test_resume)
{
    char stopped[4096], path[4096];
    impatient_preset(0);
    tiny.settings.finetune.magnitude.keep = 3;
    tiny.settings.finetune.magnitude.keep_every = 2;
    tiny.settings.finetune.magnitude.checkpoint_every = 2;
    tiny_open(&tiny);
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
    const uint64_t whole = tiny_checksum(&tiny, "lssar", "forces_magnitude.csv");
    const long last = step_of("magnitude.safetensors");
    char name[64]; /* as if it had ended at the checkpoint before */
    snprintf(name, sizeof name, "magnitude-%09ld.safetensors", (last - 1) / 2 * 2);
    tiny_path(stopped, &tiny, "lssar", name);
    tiny_path(path, &tiny, "lssar", "magnitude.safetensors");
    assert_int_equal(rename(stopped, path), 0);
    assert_true(step_of("magnitude.safetensors") < last);
    tiny_path(path, &tiny, "lssar", "forces_magnitude.csv");
    assert_int_equal(remove(path), 0);
    tiny.run.resume = true;
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
    assert_int_equal(tiny_checksum(&tiny, "lssar", "forces_magnitude.csv"), whole);
    tiny_close(&tiny);
}

/* Without patience the last weights predict, and no other file is made. */
TEST(test_last_predicts)
{
    char path[4096];
    impatient_preset(0);
    tiny.settings.finetune.magnitude.patience = 0;
    tiny.settings.finetune.magnitude.steps = 6;
    tiny_open(&tiny);
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
    tiny_path(path, &tiny, "lssar", "magnitude_best.safetensors");
    assert_false(orr_exists(path));
    assert_true(difference("magnitude.safetensors") < 1e-4);
    tiny_close(&tiny);
}

TESTS_ON_REF(NULL, NULL)
