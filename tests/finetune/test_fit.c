/* test_fit.c - fine-tuning in memory is the fine-tuning of files: the same bits in predictions. */
#include "on_ref.h"
#include "tiny.h"

static struct tiny tiny;

TEST(test_same_predictions)
{
    for (int kind = 0; kind < 3; kind++) {
        char from[4096];
        struct gpt_config config;
        struct gpt_model model;
        struct ft_labels labels;
        struct ft_bounds bounds;
        struct ft_transform transform;
        struct orr_csv csv;
        tiny_preset(&tiny.settings, kind == 2);
        struct orr_train_settings *t = &tiny.settings.finetune.magnitude;
        t->ema = kind == 1 ? 0.7 : 0;
        t->train = kind == 1 ? ORR_TRAINED_LAST_BLOCK : ORR_TRAINED_ALL;
        t->accumulation = kind == 1 ? 2 : 1;
        t->noise_au = kind == 2 ? 0 : 0.02;
        t->huber = kind == 1 ? 0.1 : 0;
        t->steps = 9;
        t->warmup = 3;
        tiny.settings.orbits.label_r_max = kind == 1 ? 1.8 : 0;
        tiny_open(&tiny);
        scratch_path(from, tiny.dir, "pretrained.safetensors");
        assert_int_equal(gpt_config_from_preset(&config, &tiny.settings, "lssar",
                                                tiny.settings.orbits.positions),
                         0);
        assert_int_equal(gpt_create(&model, &config, &k_ref, 77), 0);
        assert_int_equal(gpt_save(&model, from, 3, false, NULL), 0);
        assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", from), 0);
        ft_bounds_of(&tiny.settings, &bounds);
        assert_int_equal(ft_labels_find(&labels, &tiny.run.train, &bounds), 0);
        assert_int_equal(ft_fit(&model, t, &labels, tiny.settings.finetune.magnitude_loss,
                                tiny.settings.seed, &transform),
                         0);
        const size_t n = tiny.run.test.n, T = (size_t)tiny.run.test.positions - 1;
        double *F = malloc(n * T * sizeof *F);
        assert_non_null(F);
        assert_int_equal(ft_predict(&model, &transform, &tiny.run.test, NULL, n, F), 0);
        tiny_read(&csv, &tiny, "lssar", "forces_magnitude.csv");
        for (size_t i = 0; i < csv.rows; i++) {
            char text[32];
            snprintf(text, sizeof text, "%.9g",
                     F[(size_t)tiny.run.rows[i].sequence * T + (size_t)tiny.run.rows[i].row]);
            assert_string_equal(csv.cells[9 * i + 8], text);
        }
        orr_csv_free(&csv);
        free(F);
        ft_labels_free(&labels);
        gpt_free(&model);
        tiny_close(&tiny);
    }
}

TESTS_ON_REF(NULL, NULL)
