/* test_override.c - a trained model that attends otherwise: every override equals, bit for bit, a
 * model made that way with the same weights; what has no meaning is refused and changes nothing. */
#include "on_ref.h"
#include "tiny.h"

static char *const dir = scratch_dir;

enum { LONG = 19 }; /* longer than the context of 11 */

static void make(struct gpt_model *model, const struct gpt_config *config, const char *attention,
                 const struct k_ops *ops)
{
    struct gpt_config c = *config;
    memset(c.attention, 0, sizeof c.attention);
    strcpy(c.attention, attention);
    assert_int_equal(gpt_create(model, &c, ops, 8), 0);
    tiny_enlarge(model);
}

/* Outputs of two sequences of T rows; free() them. */
static real *outputs(struct gpt_model *model, int T)
{
    const size_t bytes = 2 * (size_t)T * (size_t)model->config.outputs * sizeof(real);
    struct gpt_batch batch;
    const real *out;
    assert_int_equal(gpt_batch_create(&batch, &model->config, 2, T), 0);
    tiny_fill(&batch, &model->config, 50);
    assert_int_equal(gpt_forward(model, &batch, &out), 0);
    real *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, out, bytes);
    gpt_batch_free(&batch);
    return copy;
}

static bool same_outputs(struct gpt_model *a, struct gpt_model *b, int T)
{
    real *x = outputs(a, T), *y = outputs(b, T);
    const bool same = tiny_same(x, y, 2 * (size_t)T * (size_t)a->config.outputs);
    free(x);
    free(y);
    return same;
}

/* `made` with the override equals `as` with the configuration `like`, and does not without. */
static void check_equal(const struct gpt_config *config, const char *made,
                        const struct gpt_attention_override *change, const struct gpt_config *like,
                        const char *as, int T, const struct k_ops *ops)
{
    static const struct gpt_attention_override nothing = {0};
    struct gpt_model model, expected;
    make(&model, config, made, ops);
    make(&expected, like, as, ops);
    if (T <= config->context)
        assert_false(same_outputs(&model, &expected, T));
    assert_int_equal(gpt_override_attention(&model, change), 0);
    assert_string_equal(model.variant.name, as);
    assert_memory_equal(&model.config, &expected.config, sizeof model.config);
    assert_true(same_outputs(&model, &expected, T));
    assert_int_equal(gpt_override_attention(&model, &nothing), 0); /* undone */
    assert_string_equal(model.config.attention, made);
    assert_string_equal(model.variant.name, made);
    assert_int_equal(model.config.context, config->context);
    assert_true(model.config.rope_base == config->rope_base);
    assert_true(model.config.power == config->power);
    assert_int_equal(model.config.attention_window, config->attention_window);
    gpt_free(&model);
    gpt_free(&expected);
}

TEST_BETWEEN(test_reweighting, scratch_setup, scratch_teardown)
{
    static const struct {
        const char *made, *as;
        enum gpt_reweight reweight;
    } cases[] = {
        {"softmax", "rw_softmax", GPT_REWEIGHT_ON},
        {"rw_softmax", "softmax", GPT_REWEIGHT_OFF},
        {"lssa", "lssar", GPT_REWEIGHT_ON},
        {"lssar", "lssa", GPT_REWEIGHT_OFF},
        {"sigmoid_logN_l1", "rw_sigmoid", GPT_REWEIGHT_ON},
    };
    const struct gpt_config c = tiny_continuous();
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        assert_int_equal((*ops)->open(2, false), 0);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const struct gpt_attention_override change = {.reweight = cases[i].reweight};
            check_equal(&c, cases[i].made, &change, &c, cases[i].as, 11, *ops);
        }
        (*ops)->close();
    }
}

/* Another variant with its stage switched, the power, the window. */
TEST_BETWEEN(test_variant_power_window, scratch_setup, scratch_teardown)
{
    const struct gpt_config c = tiny_continuous();
    struct gpt_config like = c;
    like.power = 4.5;
    const struct gpt_attention_override power = {.power = 4.5};
    check_equal(&c, "lssar", &power, &like, "lssar", 11, &k_ref);
    const struct gpt_attention_override both = {
        .attention = "softmax", .reweight = GPT_REWEIGHT_ON, .power = 4.5};
    check_equal(&c, "lssa", &both, &like, "rw_softmax", 11, &k_ref);
    like = c;
    like.attention_window = 5;
    const struct gpt_attention_override window = {.set_window = true, .window = 5};
    check_equal(&c, "lssar", &window, &like, "lssar", 11, &k_ref);
    const struct gpt_attention_override whole = {.set_window = true}; /* none, trained with one */
    check_equal(&like, "softmax", &whole, &c, "softmax", 11, &k_ref);
    const struct gpt_attention_override other = {.attention = "relu_shen"};
    check_equal(&c, "softmax", &other, &c, "relu_shen", 11, &k_ref);
}

/* Longer sequences than trained: the closed form of NTK-aware scaling, (19 / 11)^(6 / 4). */
TEST_BETWEEN(test_longer, scratch_setup, scratch_teardown)
{
    struct gpt_config c = tiny_continuous();
    for (int none = 0; none < 2; none++) {
        c.positions = none ? ORR_POSITIONS_NONE : ORR_POSITIONS_ROPE;
        struct gpt_config like = c;
        like.context = LONG;
        struct gpt_attention_override longer = {.context = LONG};
        check_equal(&c, "lssar", &longer, &like, "lssar", LONG, &k_ref);
    }
    c.positions = ORR_POSITIONS_ROPE;
    struct gpt_config like = c;
    like.context = LONG;
    like.rope_base = 10000 * pow(19.0 / 11.0, 6.0 / 4.0);
    assert_true(fabs(like.rope_base - 22700.81) < 0.01); /* worked by hand */
    const struct gpt_attention_override ntk = {.context = LONG, .ntk = true};
    check_equal(&c, "softmax", &ntk, &like, "softmax", LONG, &k_ref);
    like = c; /* up to the trained length nothing is scaled */
    like.context = 7;
    struct gpt_model model;
    const struct gpt_attention_override shorter = {.context = 7, .ntk = true};
    make(&model, &c, "softmax", &k_ref);
    assert_int_equal(gpt_override_attention(&model, &shorter), 0);
    assert_memory_equal(&model.config, &like, sizeof like);
    gpt_free(&model);
}

TEST_BETWEEN(test_refused, scratch_setup, scratch_teardown)
{
    static const struct {
        const char *made;
        enum orr_positions positions;
        struct gpt_attention_override change;
        const char *a, *b;
    } cases[] = {
        {"softmax", ORR_POSITIONS_ROPE, {.attention = "sofmax"}, "sofmax", "rw_softmax"},
        {"softmax", ORR_POSITIONS_LEARNED, {.context = 12}, "learned", "11"},
        {"softmax", ORR_POSITIONS_LEARNED, {.context = 12, .ntk = true}, "NTK", "learned"},
        {"softmax", ORR_POSITIONS_NONE, {.context = 12, .ntk = true}, "NTK", "no positions"},
        {"softmax", ORR_POSITIONS_ROPE, {.context = -1}, "context", "-1"},
        {"softmax", ORR_POSITIONS_ROPE, {.context = 2000000}, "context", "2000000"},
        {"softmax", ORR_POSITIONS_ROPE, {.power = 0.5}, "attention_p", "0.5"},
        {"softmax", ORR_POSITIONS_ROPE, {.power = NAN}, "attention_p", "nan"},
        {"softmax", ORR_POSITIONS_ROPE, {.power = INFINITY}, "attention_p", "inf"},
        {"softmax", ORR_POSITIONS_ROPE, {.set_window = true, .window = -2}, "window", "-2"},
        {"decomp_I", ORR_POSITIONS_ROPE, {.reweight = GPT_REWEIGHT_ON}, "decomp_I", "sum to"},
        {"relu_wortsman", ORR_POSITIONS_ROPE, {.reweight = GPT_REWEIGHT_ON}, "wortsman", "sum to"},
        {"softmax",
         ORR_POSITIONS_ROPE,
         {.attention = "softmax_inverse", .reweight = GPT_REWEIGHT_ON},
         "softmax_inverse",
         "non-negative"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gpt_config c = tiny_continuous();
        struct gpt_model model;
        c.positions = cases[i].positions;
        make(&model, &c, cases[i].made, &k_ref);
        orr_error_clear();
        assert_int_equal(gpt_override_attention(&model, &cases[i].change), ORR_EUSAGE);
        error_names(cases[i].a, cases[i].b, NULL);
        assert_false(model.overridden);
        assert_string_equal(model.config.attention, cases[i].made);
        assert_int_equal(model.config.context, 11);
        gpt_free(&model);
    }
}

/* Sequences may be as long as the new context and no longer; the weights are not saved. */
TEST_BETWEEN(test_evaluation_only, scratch_setup, scratch_teardown)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    struct gpt_batch batch;
    const real *out;
    char path[4096];
    scratch_path(path, dir, "model.safetensors");
    c.positions = ORR_POSITIONS_NONE;
    make(&model, &c, "softmax", &k_ref);
    assert_int_equal(gpt_batch_create(&batch, &c, 1, LONG + 1), 0);
    tiny_fill(&batch, &c, 1);
    const struct gpt_attention_override change = {.reweight = GPT_REWEIGHT_ON, .context = LONG};
    assert_int_equal(gpt_override_attention(&model, &change), 0);
    assert_int_equal(gpt_forward(&model, &batch, &out), ORR_EINVAL);
    batch.T = LONG;
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    assert_int_equal(gpt_save(&model, path, 1, false, NULL), ORR_EINVAL);
    error_names(path, "otherwise", "rw_softmax", NULL);
    assert_int_equal(scratch_count(dir), 0);
    const struct gpt_attention_override nothing = {0};
    assert_int_equal(gpt_override_attention(&model, &nothing), 0);
    assert_int_equal(gpt_save(&model, path, 1, false, NULL), 0);
    gpt_batch_free(&batch);
    gpt_free(&model);
}

/* The line of the table a model works by is its own: a copy, a loaded model and one with a new
 * head do not look into another. */
TEST_BETWEEN(test_own_line, scratch_setup, scratch_teardown)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model, expected, back;
    char path[4096];
    scratch_path(path, dir, "model.safetensors");
    c.positions = ORR_POSITIONS_ROPE;
    make(&model, &c, "softmax", &k_ref);
    make(&expected, &c, "rw_softmax", &k_ref);
    assert_int_equal(gpt_save(&model, path, 1, false, NULL), 0);
    assert_int_equal(gpt_load(&back, path, &k_ref, NULL), 0);
    const struct gpt_attention_override on = {.reweight = GPT_REWEIGHT_ON};
    assert_int_equal(gpt_override_attention(&back, &on), 0);
    assert_true(same_outputs(&back, &expected, 11));
    assert_false(same_outputs(&model, &expected, 11)); /* the table itself did not change */
    struct gpt_model copy = back;
    memset(&back, 0xa5, sizeof back); /* the copy does not need it */
    assert_true(same_outputs(&copy, &expected, 11));
    const struct gpt_attention_override longer = {.reweight = GPT_REWEIGHT_ON, .context = LONG};
    assert_int_equal(gpt_override_attention(&copy, &longer), 0);
    assert_int_equal(gpt_replace_head(&copy, GPT_HEAD_REGRESSION, 1, 3), 0);
    assert_int_equal(gpt_replace_head(&expected, GPT_HEAD_REGRESSION, 1, 3), 0);
    assert_true(copy.overridden);
    assert_int_equal(copy.config.context, LONG);
    assert_int_equal(copy.trained.context, 11);
    assert_int_equal(copy.trained.outputs, 1);
    assert_true(same_outputs(&copy, &expected, 11));
    gpt_free(&copy);
    gpt_free(&expected);
    gpt_free(&model);
}

TESTS_ON_REF(NULL, NULL)
