/* test_config.c - the shape of a model: parameter counts by closed form, the table, and settings
 * that cannot be. */
#include "on_ref.h"
#include "tiny.h"

/* Trainable numbers of a GPT, written out from its definition. */
static size_t count_of(const struct gpt_config *c)
{
    const size_t C = (size_t)c->width, F = (size_t)c->ffn, V = (size_t)c->vocab;
    size_t count = c->input == GPT_INPUT_TOKENS ? 2 * V * C + 2 * C * C + C
                                                : C * (size_t)(3 + 4 * c->fourier) + C;
    if (c->positions == ORR_POSITIONS_LEARNED)
        count += (size_t)c->context * C;
    count += (size_t)c->layers * (4 * C * C + 2 * C * F + 9 * C + F); /* with biases and norms */
    count += 2 * C;
    count += c->head == GPT_HEAD_TOKENS ? 2 * V * C : (size_t)c->outputs * (C + 1);
    return count;
}

TEST(test_counts)
{
    for (int kind = 0; kind < 2 * 2 * 3; kind++) {
        struct gpt_config c = kind % 2 ? tiny_tokens() : tiny_continuous();
        struct gpt_model model;
        if (kind / 2 % 2) {
            c.head = GPT_HEAD_REGRESSION;
            c.outputs = 5;
        }
        c.positions = (enum orr_positions)(kind / 4);
        assert_int_equal(gpt_create(&model, &c, &k_ref, 1), 0);
        assert_int_equal(model.count, count_of(&c));
        size_t sum = 0;
        for (int i = 0; i < model.parameters; i++) {
            const struct gpt_parameter *p = &model.table[i];
            assert_int_equal(p->count, p->shape[0] * p->shape[1]);
            assert_int_equal(p->decay, p->ndim == 2); /* matrices and tables of vectors only */
            assert_true(p->offset + p->count <= model.total);
            assert_true(i == 0 || p->offset >= p[-1].offset + p[-1].count);
            sum += p->count;
        }
        assert_int_equal(sum, model.count);
        gpt_free(&model);
    }
}

/* The study's 12-layer model. */
TEST(test_preset_shapes)
{
    struct orr_settings p;
    struct gpt_config c;
    orr_settings_defaults(&p);
    assert_int_equal(gpt_config_from_preset(&c, &p, "lssar", p.orbits.positions), 0);
    assert_int_equal(c.vocab, 7003);
    assert_int_equal(c.outputs, 14006);
    assert_int_equal(c.context, 999);
    assert_int_equal(c.ffn, 3072);
    assert_string_equal(c.attention, "lssar");
    assert_int_equal(c.head, GPT_HEAD_TOKENS);
    assert_int_equal(count_of(&c), 108516864);
    p.orbits.output = ORR_OUTPUT_CONTINUOUS;
    p.model.fourier = 7;
    assert_int_equal(gpt_config_from_preset(&c, &p, "softmax", 33), 0);
    assert_int_equal(c.vocab, 0);
    assert_int_equal(gpt_config_features(&c), 31);
    assert_int_equal(c.outputs, 2);
    assert_int_equal(c.context, 32);
    assert_int_equal(c.head, GPT_HEAD_REGRESSION);
}

/* Initialisation: normal of the table's width, ones, zeros; the same seed the same numbers. */
TEST(test_initialisation)
{
    struct gpt_config c = tiny_tokens();
    struct gpt_model a, b, other;
    c.width = 96; /* enough numbers for their spread to be known to a few percent */
    c.layers = 3;
    assert_int_equal(gpt_create(&a, &c, &k_ref, 77), 0);
    assert_int_equal(gpt_create(&b, &c, &k_ref, 77), 0);
    assert_int_equal(gpt_create(&other, &c, &k_ref, 78), 0);
    assert_true(tiny_same(a.param, b.param, a.total));
    for (int i = 0; i < a.parameters; i++) {
        const struct gpt_parameter *p = &a.table[i];
        const real *w = gpt_param(&a, i);
        double square = 0;
        for (size_t j = 0; j < p->count; j++)
            square += (double)w[j] * (double)w[j] / (double)p->count;
        const bool residual = strstr(p->name, "proj.weight") || strstr(p->name, "down.weight");
        const double std = p->ndim == 2                ? residual ? 0.02 / sqrt(6) : 0.02
                           : strstr(p->name, "weight") ? 1
                                                       : 0;
        if (fabs(sqrt(square) - std) > (p->ndim == 2 ? 0.08 * std : 1e-12))
            fail_msg("%s: root mean square %g, expected %g", p->name, sqrt(square), std);
        if (p->ndim == 2)
            assert_false(tiny_same(w, gpt_param(&other, i), p->count));
    }
    gpt_free(&a);
    gpt_free(&b);
    gpt_free(&other);
}

/* A new head leaves every other weight, and does not repeat the old head's draws. */
TEST(test_replace_head)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model, old, first;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 5), 0);
    assert_int_equal(gpt_create(&old, &c, &k_ref, 5), 0);
    assert_int_equal(gpt_create(&first, &c, &k_ref, 5), 0);
    tiny_enlarge(&model);
    tiny_enlarge(&old);
    assert_int_equal(gpt_replace_head(&model, GPT_HEAD_REGRESSION, 2, 5), 0);
    for (int i = 0; i < old.head_w; i++)
        assert_true(tiny_same(gpt_param(&model, i), gpt_param(&old, i), old.table[i].count));
    assert_false(tiny_same(gpt_param(&model, model.head_w), gpt_param(&old, old.head_w), 2));
    assert_false(tiny_same(gpt_param(&model, model.head_w), gpt_param(&first, first.head_w), 2));
    assert_int_equal(gpt_replace_head(&model, GPT_HEAD_REGRESSION, 7, 5), 0);
    assert_int_equal(model.config.outputs, 7);
    c.outputs = 7;
    assert_int_equal(model.count, count_of(&c));
    assert_null(model.m);
    for (size_t j = 0; j < 7; j++)
        assert_true(gpt_param(&model, model.head_b)[j] == 0);
    gpt_free(&model);
    gpt_free(&old);
    gpt_free(&first);
}

static void refused(struct gpt_config c, const char *name, const char *found)
{
    struct gpt_model model;
    orr_error_clear();
    const int rc = gpt_create(&model, &c, &k_ref, 1);
    if (!rc)
        fail_msg("a model with a wrong %s was made", name);
    error_names(name, found, NULL);
    assert_null(model.param);
    gpt_free(&model);
}

#define REFUSED(member, value, name, found)                                                        \
    do {                                                                                           \
        struct gpt_config wrong = base;                                                            \
        wrong.member = (value);                                                                    \
        refused(wrong, name, found);                                                               \
    } while (0)

TEST(test_impossible)
{
    struct gpt_config base = tiny_continuous();
    REFUSED(layers, 0, "layers", "0");
    REFUSED(width, -18, "width", "-18");
    REFUSED(heads, 0, "heads", "0");
    REFUSED(heads, 4, "heads", "18");
    REFUSED(ffn, 0, "ffn", "0");
    REFUSED(context, 0, "context", "0");
    REFUSED(outputs, 0, "outputs", "0");
    REFUSED(fourier, -1, "fourier", "-1");
    REFUSED(fourier_min_au, 0, "fourier_min_au", "0");
    REFUSED(power, 0.5, "attention_p", "0.5");
    REFUSED(attention_window, -3, "attention_window", "-3");
    REFUSED(huber, -0.25, "huber", "-0.25");
    REFUSED(input, (enum gpt_input)9, "input", "9");
    REFUSED(head, (enum gpt_head)9, "head", "9");
    REFUSED(positions, (enum orr_positions)9, "positions", "9");
    REFUSED(head, GPT_HEAD_TOKENS, "head", "tokens");
    base.positions = ORR_POSITIONS_ROPE; /* heads of 6 are fine, of 9 are not */
    struct gpt_model model;
    assert_int_equal(gpt_create(&model, &base, &k_ref, 1), 0);
    gpt_free(&model);
    REFUSED(heads, 2, "rope", "9");
    REFUSED(rope_base, 0, "rope_base", "0");
    strcpy(base.attention, "softmaxx");
    refused(base, "attention", "softmaxx");
    base = tiny_tokens();
    REFUSED(vocab, 0, "vocab", "0");
    REFUSED(vocab, 65537, "vocab", "65537");
    REFUSED(outputs, 2 * 23 - 1, "outputs", "45");
}

TEST(test_preset_errors)
{
    struct orr_settings p;
    struct gpt_config c;
    orr_settings_defaults(&p);
    assert_int_equal(gpt_config_from_preset(&c, &p, "lsar", 33), ORR_EUSAGE);
    error_names("lsar", "softmax", "lssa,", "lssar", "rw_softmax", NULL);
    assert_int_equal(gpt_config_from_preset(&c, &p, "softmax", 2), ORR_EUSAGE);
    error_names("positions", "2", NULL);
}

/* A sequence that does not fit, and a batch of the other kind of input. */
TEST(test_wrong_batch)
{
    struct gpt_config c = tiny_continuous(), tokens = tiny_tokens();
    struct gpt_model model;
    struct gpt_batch batch;
    const real *out;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 1), 0);
    assert_int_equal(gpt_batch_create(&batch, &c, 2, c.context + 1), 0);
    assert_int_equal(gpt_forward(&model, &batch, &out), ORR_EINVAL);
    error_names("12", "11", "context", NULL);
    gpt_batch_free(&batch);
    assert_int_equal(gpt_batch_create(&batch, &tokens, 2, 5), 0);
    assert_int_equal(gpt_forward(&model, &batch, &out), ORR_EINVAL);
    error_names("input", NULL);
    gpt_batch_free(&batch);
    gpt_free(&model);
}

/* Root mean square of a parameter's values. */
static double spread(struct gpt_model *model, int index)
{
    double sum = 0;
    for (size_t i = 0; i < model->table[index].count; i++)
        sum += (double)gpt_param(model, index)[i] * (double)gpt_param(model, index)[i];
    return sqrt(sum / (double)model->table[index].count);
}

/* 3 x 18 x 18 draws: four standard errors are 9%. The head and the embedding have their own. */
TEST(test_init_std)
{
    static const double asked[] = {0, 0.02, 0.3};
    for (int i = 0; i < 3; i++) {
        struct gpt_config c = tiny_continuous();
        struct gpt_model model, usual;
        const double std = asked[i] > 0 ? asked[i] : 0.02;
        assert_int_equal(gpt_create(&usual, &c, &k_ref, 4), 0);
        c.init_std = asked[i];
        assert_int_equal(gpt_create(&model, &c, &k_ref, 4), 0);
        for (int l = 0; l < c.layers; l++) {
            const struct gpt_block *w = &model.block[l];
            const double residual = std / sqrt(2.0 * c.layers);
            assert_true(fabs(spread(&model, w->qkv_w) / std - 1) < 0.1);
            assert_true(fabs(spread(&model, w->up_w) / std - 1) < 0.15);
            assert_true(fabs(spread(&model, w->proj_w) / residual - 1) < 0.16);
            assert_true(fabs(spread(&model, w->down_w) / residual - 1) < 0.15);
        }
        assert_true(spread(&model, model.head_w) == spread(&usual, usual.head_w));
        assert_true(spread(&model, model.embed_w) == spread(&usual, usual.embed_w));
        gpt_free(&model);
        gpt_free(&usual);
    }
}

TESTS_ON_REF(NULL, NULL)
