/* test_frozen.c - fine-tuning of a part of the weights: the others keep their bits, whatever decay,
 * averaging and clipping do, and what is trained gets the gradient that it gets without. */
#include "on_ref.h"
#include "tiny.h"

#include "model/checkpoint.h"
#include "model/forward.h"
#include "model/optimizer.h"

static struct tiny tiny;
static const enum orr_trained parts[] = {ORR_TRAINED_ALL, ORR_TRAINED_HEAD, ORR_TRAINED_LAST_BLOCK};
enum { PARTS = 3, LAYERS = 2 };

static void frozen_preset(void)
{
    tiny_preset(&tiny.settings, false);
    tiny.settings.model.layers = LAYERS;
    struct orr_train_settings *t = &tiny.settings.finetune.magnitude;
    t->weight_decay = 0.3;
    t->ema = 0.7;
    t->accumulation = 2;
    t->clip = 0.05;
    t->lr = 0.01;
}

/* Whether a part has the parameter; of the whole, also in a model of more layers. */
static bool is_trained(enum orr_trained part, const char *name)
{
    char last[32];
    snprintf(last, sizeof last, "block.%d.", LAYERS - 1);
    const bool head = !strncmp(name, "head.", 5), final = !strncmp(name, "final.", 6);
    return part == ORR_TRAINED_ALL || head ||
           (part == ORR_TRAINED_LAST_BLOCK && (final || !strncmp(name, last, strlen(last))));
}

static void pretrained(struct gpt_model *model, const char *path)
{
    struct gpt_config config;
    assert_int_equal(gpt_config_from_preset(&config, &tiny.settings, "lssar", 33), 0);
    assert_int_equal(gpt_create(model, &config, &k_ref, 77), 0);
    for (size_t i = 0; i < model->total; i++) /* no zero and no one that decay would leave alone */
        model->param[i] += (real)(0.1 * (tiny_uniform(1, i) - 0.5));
    assert_int_equal(gpt_save(model, path, 3, false, NULL), 0);
}

/* Weights and their average, behind a training of a part by an optimiser. */
TEST(test_bits)
{
    char path[4096], from[4096];
    for (int i = 0; i < PARTS * ORR_OPTIMIZERS; i++) {
        const int k = i % PARTS;
        struct gpt_model start, trained;
        long step;
        frozen_preset();
        tiny.settings.finetune.magnitude.train = parts[k];
        tiny.settings.finetune.magnitude.optimizer = (enum orr_optimizer)(i / PARTS);
        tiny_open(&tiny);
        scratch_path(from, tiny.dir, "pretrained.safetensors");
        pretrained(&start, from);
        assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", from), 0);
        tiny_path(path, &tiny, "lssar", "magnitude.safetensors");
        assert_int_equal(gpt_load(&trained, path, &k_ref, &step), 0);
        assert_non_null(trained.average);
        for (int average = 0; average < 2; average++, gpt_swap_average(&trained))
            for (int at = 0; at < trained.head_w; at++) {
                const struct gpt_parameter *p = &trained.table[at];
                const bool same = !memcmp(gpt_param(&trained, at), gpt_param(&start, at),
                                          p->count * sizeof(real));
                if (same == is_trained(parts[k], p->name))
                    fail_msg("part %d by %s: %s is %s", k, gpt_optimizers[i / PARTS].name, p->name,
                             same ? "as it was" : "changed");
            }
        assert_int_equal(gpt_replace_head(&start, GPT_HEAD_REGRESSION, 1, tiny.settings.seed), 0);
        assert_memory_not_equal(gpt_param(&trained, trained.head_w),
                                gpt_param(&start, start.head_w), 8 * sizeof(real));
        gpt_free(&start);
        gpt_free(&trained);
        tiny_close(&tiny);
    }
}

/* A small batch of the training set with targets of its own. */
static void fill(struct gpt_batch *batch, const struct gpt_config *config)
{
    const size_t F = (size_t)gpt_config_features(config), N = (size_t)batch->B * (size_t)batch->T;
    for (size_t i = 0; i < N; i++) {
        gpt_place_features(config,
                           (const double[]){3 * tiny_uniform(2, i) - 1, 2 * tiny_uniform(3, i)},
                           i == 0, batch->features + i * F);
        batch->target[i] = (real)(2.385 * tiny_uniform(4, i));
        batch->weight[i] = i % 3 ? 1 : 0;
    }
}

/* The gradient of what is trained has the bits that it has without; what is frozen may hold any
 * gradient: the norm and the step know nothing of it. */
TEST(test_gradient)
{
    struct orr_train_settings train;
    struct gpt_model model[PARTS];
    struct gpt_config config;
    struct gpt_batch batch;
    double loss, norm, again;
    frozen_preset();
    train = tiny.settings.finetune.magnitude;
    assert_int_equal(gpt_config_from_preset(&config, &tiny.settings, "softmax", 20), 0);
    for (int k = 0; k < PARTS; k++) {
        assert_int_equal(gpt_create(&model[k], &config, &k_ref, 5), 0);
        assert_int_equal(gpt_replace_head(&model[k], GPT_HEAD_REGRESSION, 1, 6), 0);
        gpt_freeze(&model[k], parts[k]);
        if (k == 0)
            assert_int_equal(gpt_batch_create(&batch, &model[k].config, 3, 19), 0);
        fill(&batch, &config);
        assert_int_equal(gpt_zero_grad(&model[k]), 0);
        assert_int_equal(gpt_loss_backward(&model[k], &batch, &loss), 0);
        assert_int_equal(gpt_gradient_norm(&model[k], 0, 2, model[k].total, &norm), 0);
        double sum = 0;
        for (int i = 0; i < model[k].parameters; i++) {
            const struct gpt_parameter *p = &model[k].table[i];
            const real *g = gpt_grad(&model[k], i);
            if (!is_trained(parts[k], p->name)) {
                gpt_grad(&model[k], i)[0] = (real)1e6;
                continue;
            }
            assert_memory_equal(g, gpt_grad(&model[0], i), p->count * sizeof *g);
            for (size_t j = 0; j < p->count; j++)
                sum += (double)g[j] * (double)g[j];
        }
        assert_true(fabs(norm - sqrt(sum) / 2) < 1e-6 * norm);
        assert_int_equal(gpt_update(&model[k], &train, 0, &again), 0);
        assert_true(again == norm);
    }
    for (int k = 0; k < PARTS; k++)
        gpt_free(&model[k]);
    gpt_batch_free(&batch);
}

TESTS_ON_REF(NULL, NULL)
