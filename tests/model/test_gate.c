/* test_gate.c - the output gate: a factor at the start, as many weights as without, nothing else
 * drawn otherwise, and in checkpoints. */
#include "tiny.h"

static char *const dir = scratch_dir;

static int named(const struct gpt_model *model, const char *name)
{
    for (int i = 0; i < model->parameters; i++)
        if (!strcmp(model->table[i].name, name))
            return i;
    return -1;
}

/* Every parameter of the model without a gate has the same values in the one with it. */
static void assert_same_start(struct gpt_model *with, struct gpt_model *without)
{
    for (int i = 0; i < without->parameters; i++) {
        const int k = named(with, without->table[i].name);
        assert_true(k >= 0);
        assert_int_equal(with->table[k].count, without->table[i].count);
        if (!tiny_same(gpt_param(with, k), gpt_param(without, i), without->table[i].count))
            fail_msg("%s starts otherwise with a gate", without->table[i].name);
    }
}

static void assert_close(struct gpt_model *a, struct gpt_model *b, double tolerance)
{
    struct gpt_batch batch;
    const real *x, *y;
    assert_int_equal(gpt_batch_create(&batch, &a->config, 2, 11), 0);
    tiny_fill(&batch, &a->config, 60);
    assert_int_equal(gpt_forward(a, &batch, &x), 0);
    assert_int_equal(gpt_forward(b, &batch, &y), 0);
    for (int i = 0; i < 22 * a->config.outputs; i++)
        if (!(fabs((double)(x[i] - y[i])) <= tolerance))
            fail_msg("output %d: %.9g, expected %.9g", i, (double)x[i], (double)y[i]);
    gpt_batch_free(&batch);
}

/* W_g = 0: the model with proj scaled by act(0), which is 1/2 or ln 2. */
TEST(test_start)
{
    static const double factor[] = {[K_GATE_SIGMOID] = 0.5, [K_GATE_SOFTPLUS] = 0.6931471805599453};
    for (enum k_gate gate = K_GATE_SIGMOID; gate <= K_GATE_SOFTPLUS; gate++) {
        struct gpt_config c = tiny_continuous();
        struct gpt_model with, without;
        assert_int_equal(gpt_create(&without, &c, &k_ref, 5), 0);
        c.gate = gate;
        assert_int_equal(gpt_create(&with, &c, &k_ref, 5), 0);
        assert_same_start(&with, &without);
        assert_int_equal(with.parameters, without.parameters + c.layers);
        for (int l = 0; l < c.layers; l++) {
            const struct gpt_parameter *p = &with.table[with.block[l].gate_w];
            assert_int_equal(without.block[l].gate_w, -1);
            assert_true(p->decay && p->shape[0] == 18 && p->shape[1] == 18);
            for (size_t i = 0; i < p->count; i++)
                assert_true(gpt_param(&with, with.block[l].gate_w)[i] == 0);
            for (size_t i = 0; i < 18 * 18; i++) {
                gpt_param(&with, with.block[l].proj_w)[i] *= 40; /* makes attention matter */
                gpt_param(&without, without.block[l].proj_w)[i] *= (real)(40 * factor[gate]);
            }
        }
        assert_close(&with, &without, 2e-6);
        gpt_free(&with);
        gpt_free(&without);
    }
}

/* Zero weights learn from the first step on, and the gate then depends on the input. */
TEST(test_learns)
{
    for (enum k_gate gate = K_GATE_SIGMOID; gate <= K_GATE_SOFTPLUS; gate++) {
        struct gpt_config c = tiny_continuous();
        struct gpt_model model;
        c.gate = gate;
        tiny_trained(&model, &c);
        for (int l = 0; l < c.layers; l++) {
            double sum = 0;
            for (size_t i = 0; i < 18 * 18; i++)
                sum += fabs((double)gpt_param(&model, model.block[l].gate_w)[i]);
            assert_true(sum / (18 * 18) > 1e-3); /* three steps of 3e-3 */
        }
        gpt_free(&model);
    }
}

/* The feed-forward gives what the gate takes: 3.5 C for 4 C, equal but for C/2 biases. */
TEST(test_equal_parameters)
{
    struct orr_settings p;
    struct gpt_config without, with;
    struct gpt_model a, b;
    orr_settings_defaults(&p);
    p.model.layers = 2;
    p.model.width = 24;
    p.model.heads = 3;
    p.orbits.bins = 40;
    assert_int_equal(gpt_config_from_preset(&without, &p, "softmax", 12), 0);
    assert_int_equal(without.gate, K_GATE_NONE);
    assert_int_equal(without.ffn, 96);
    assert_int_equal(orr_settings_set(&p, "model.gate=sigmoid"), 0);
    assert_int_equal(gpt_config_from_preset(&with, &p, "softmax", 12), 0);
    assert_int_equal(with.gate, K_GATE_SIGMOID);
    assert_int_equal(with.ffn, 84);
    assert_int_equal(gpt_create(&a, &without, &k_ref, 0), 0);
    assert_int_equal(gpt_create(&b, &with, &k_ref, 0), 0);
    assert_int_equal(a.count - b.count, 2 * 12);
    gpt_free(&a);
    gpt_free(&b);
    assert_int_equal(orr_settings_set(&p, "model.gate=softplus"), 0);
    assert_int_equal(gpt_config_from_preset(&with, &p, "softmax", 12), 0);
    assert_int_equal(with.gate, K_GATE_SOFTPLUS);
    assert_int_equal(orr_settings_set(&p, "model.gate=tanh"), ORR_EUSAGE);
    error_names("model.gate", "none|sigmoid|softplus", "tanh", NULL);
}

/* A gate survives saving and a new head; a model without is no model with one. */
TEST(test_saved)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model, back;
    char path[4096];
    scratch_path(path, dir, "gate.safetensors");
    c.gate = K_GATE_SOFTPLUS;
    tiny_trained(&model, &c);
    assert_int_equal(gpt_save(&model, path, 3, true, NULL), 0);
    assert_int_equal(gpt_load(&back, path, &k_ref, NULL), 0);
    assert_memory_equal(&back.config, &model.config, sizeof c);
    assert_true(tiny_same(model.param, back.param, model.total));
    assert_int_equal(gpt_replace_head(&back, GPT_HEAD_REGRESSION, 1, 3), 0);
    assert_true(tiny_same(gpt_param(&model, model.block[1].gate_w),
                          gpt_param(&back, back.block[1].gate_w), 18 * 18));
    gpt_free(&back);
    gpt_free(&model);
    c.gate = K_GATE_SIGMOID;
    assert_int_equal(gpt_load_as(&back, path, &c, true, &k_ref, NULL), ORR_EINVAL);
    error_names(path, "gate is 2", "expected 1", NULL);
}

TESTS(scratch_setup, scratch_teardown)
