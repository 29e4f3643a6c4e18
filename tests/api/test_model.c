/* test_model.c - models through the library: what they say is what the model itself says, bit for
 * bit; what cannot be is refused. */
#include "api/orrery.h"
#include "refused.h"
#include "model/tiny.h"

static char *const dir = scratch_dir;

enum { SEQUENCES = 3, ROWS = 7, STRIDE = 9, OUTPUTS = 46 };
static float coordinates[SEQUENCES * STRIDE * 3];
static uint16_t tokens[SEQUENCES * STRIDE * 2];

static struct orrery_sequences sequences_of(const struct gpt_config *c)
{
    for (uint64_t i = 0; i < SEQUENCES * STRIDE * 3; i++)
        coordinates[i] = (float)(3 * tiny_uniform(7, i) - 1.5);
    for (uint64_t i = 0; i < SEQUENCES * STRIDE * 2; i++)
        tokens[i] = (uint16_t)(tiny_uniform(8, i) * 20);
    const bool numbers = gpt_is_continuous(c);
    return (struct orrery_sequences){.bytes = sizeof(struct orrery_sequences),
                                     .sequences = SEQUENCES,
                                     .rows = ROWS,
                                     .stride = STRIDE,
                                     .tokens = numbers ? NULL : tokens,
                                     .coordinates = numbers ? coordinates : NULL};
}

/* A checkpoint of random weights; what the model says of the sequences of sequences_of(). */
static const char *make(const struct gpt_config *c, const char *stage, const char *force,
                        const struct k_ops *ops, float *outputs)
{
    const char *path = scratch_at(dir, "model.safetensors");
    const char *const extra[] = {"stage", stage, force ? "force" : NULL, force, NULL};
    const size_t channels = (size_t)gpt_config_channels(c), F = (size_t)gpt_config_features(c);
    struct gpt_model model;
    struct gpt_batch batch;
    const real *out;
    const struct orrery_sequences s = sequences_of(c);
    assert_int_equal(ops->open(2, K_PRECISION_FP32), 0);
    assert_int_equal(gpt_create(&model, c, ops, 8), 0);
    tiny_enlarge(&model);
    assert_int_equal(gpt_save(&model, path, 12, false, extra), 0);
    assert_int_equal(gpt_batch_create(&batch, c, SEQUENCES, ROWS), 0);
    for (size_t b = 0; b < SEQUENCES; b++)
        for (size_t t = 0; t < ROWS; t++)
            if (s.tokens)
                memcpy(batch.tokens + (b * ROWS + t) * channels,
                       tokens + (b * STRIDE + t) * channels, channels * sizeof *tokens);
            else
                gpt_row_features(c, coordinates + channels * (b * STRIDE + t), t == 0,
                                 batch.features + (b * ROWS + t) * F);
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    memcpy(outputs, out, SEQUENCES * ROWS * (size_t)c->outputs * sizeof *out);
    gpt_batch_free(&batch);
    gpt_free(&model);
    ops->close();
    return path;
}

static struct orrery_model *opened(const char *path, int reference)
{
    struct orrery_model *m = NULL;
    assert_int_equal(orrery_model_create(ORRERY_INTERFACE, &m), 0);
    if (orrery_model_open(m, path, 2, reference))
        fail_msg("%s", orrery_message(m));
    return m;
}

TEST(outputs_are_those_of_the_model)
{
    const struct gpt_config kinds[] = {tiny_continuous(), tiny_tokens(), tiny_text(0),
                                       tiny_space()};
    float expected[SEQUENCES * ROWS * OUTPUTS], found[SEQUENCES * ROWS * OUTPUTS];
    for (int i = 0; i < 8; i++) {
        const struct gpt_config *c = &kinds[i / 2];
        const char *path = make(c, "pretrain", NULL, i % 2 ? &k_ref : k_cpu(), expected);
        struct orrery_model *m = opened(path, i % 2);
        const struct orrery_sequences s = sequences_of(c);
        struct orrery_shape shape = {.bytes = sizeof shape};
        assert_int_equal(orrery_model_describe(m, &shape), 0);
        assert_int_equal(shape.width, 18);
        assert_int_equal(shape.input, i / 2 == 0   ? ORRERY_COORDINATES
                                      : i / 2 == 1 ? ORRERY_BINS
                                      : i / 2 == 3 ? ORRERY_SPACE
                                                   : ORRERY_CHARACTERS);
        assert_int_equal(shape.outputs, c->outputs);
        assert_int_equal(shape.step, 12);
        assert_int_equal(shape.reference, i % 2);
        assert_string_equal(shape.attention, "softmax");
        assert_int_equal(orrery_model_outputs(m, &s, found), 0);
        assert_memory_equal(found, expected, SEQUENCES * ROWS * (size_t)c->outputs * sizeof *found);
        orrery_model_free(m);
    }
}

TEST(next_positions_and_their_continuation)
{
    const struct gpt_config kinds[] = {tiny_continuous(), tiny_tokens(), tiny_space()};
    float expected[SEQUENCES * ROWS * OUTPUTS], path[SEQUENCES * ROWS * 3];
    double next[SEQUENCES * ROWS * 3];
    for (int i = 0; i < 3; i++) {
        const struct gpt_config *c = &kinds[i];
        const size_t axes = (size_t)gpt_config_axes(c);
        struct orrery_model *m = opened(make(c, "pretrain", NULL, k_cpu(), expected), 0);
        struct orrery_sequences s = sequences_of(c);
        assert_int_equal(orrery_model_next(m, &s, 2, next), 0);
        for (size_t k = 0; k < SEQUENCES * ROWS * axes; k++)
            if (i != 1)
                assert_true((float)next[k] == expected[k]);
            else /* a centre of 20 bins from -2 to 2 */
                assert_true(fabs(remainder(next[k] - 0.1, 0.2)) < 1e-9 && fabs(next[k]) < 2);
        assert_int_equal(orrery_model_rollout(m, &s, ROWS - 2, 2, path), 0);
        for (int b = 0; b < SEQUENCES;
             b++) { /* as if the caller put each position into the next row */
            for (size_t t = ROWS - 2; t < ROWS; t++) {
                assert_int_equal(orrery_model_next(m, &s, 2, next), 0);
                for (size_t k = 0; k < axes; k++) {
                    const size_t row = (size_t)b * ROWS + t, at = (size_t)b * STRIDE + t;
                    const double predicted = next[axes * (row - 1) + k];
                    assert_true(fabs((double)path[axes * row + k] - predicted) < 1e-5);
                    coordinates[axes * at + k] = path[axes * row + k];
                    if (i == 1)
                        tokens[2 * at + k] = (uint16_t)lround((predicted + 1.9) / 0.2);
                }
            }
        }
        REFUSED(m, ORRERY_EINVAL, orrery_model_rollout(m, &s, 0, 2, path), "prefix");
        REFUSED(m, ORRERY_EINVAL, orrery_model_rollout(m, &s, ROWS + 1, 2, path), "prefix");
        if (i == 1)
            REFUSED(m, ORRERY_EINVAL, orrery_model_next(m, &s, 0, next), "extent_au");
        REFUSED(m, ORRERY_EINVAL, orrery_model_forces(m, &s, next), "fine-tuned");
        orrery_model_free(m);
    }
}

TEST(forces_are_scaled_as_the_checkpoint_says)
{
    struct gpt_config c = tiny_continuous();
    float expected[SEQUENCES * ROWS * 2];
    double force[SEQUENCES * ROWS * 2];
    char text[32];
    const struct orrery_sequences s = sequences_of(&c);
    struct orrery_model *m = opened(make(&c, "vector", "units 1 2", k_cpu(), expected), 0);
    assert_int_equal(orrery_model_forces(m, &s, force), 0);
    for (int i = 0; i < SEQUENCES * ROWS * 2; i++)
        assert_true((float)force[i] == expected[i]);
    assert_int_equal(orrery_model_metadata(m, "force", text, sizeof text, NULL), 0);
    assert_string_equal(text, "units 1 2");
    REFUSED(m, ORRERY_EMISSING, orrery_model_metadata(m, "farce", text, sizeof text, NULL),
            "farce");
    REFUSED(m, ORRERY_EINVAL, orrery_model_next(m, &s, 2, force), "forces");
    orrery_model_free(m);
    c.outputs = 1;
    m = opened(make(&c, "magnitude", "log 0.5 2", k_cpu(), expected), 0);
    assert_int_equal(orrery_model_forces(m, &s, force), 0);
    for (int i = 0; i < SEQUENCES * ROWS; i++)
        assert_true(fabs(force[i] / exp(2 * (double)expected[i] + 0.5) - 1) < 1e-12);
    orrery_model_free(m);
    m = opened(make(&c, "magnitude", NULL, k_cpu(), expected), 0);
    REFUSED(m, ORRERY_EMISSING, orrery_model_forces(m, &s, force), "earlier versions");
    orrery_model_free(m);
    m = opened(make(&c, "magnitude", "log 0.5 0", k_cpu(), expected), 0);
    REFUSED(m, ORRERY_EFORMAT, orrery_model_forces(m, &s, force), "log 0.5 0");
    orrery_model_free(m);
}

TEST(attention_may_be_changed_and_seen)
{
    struct gpt_config c = tiny_continuous();
    strcpy(c.attention, "lssar");
    float first[SEQUENCES * ROWS * 2], found[SEQUENCES * ROWS * 2];
    double weights[SEQUENCES * 3 * ROWS * ROWS];
    struct orrery_model *m = opened(make(&c, "pretrain", NULL, k_cpu(), first), 0);
    const struct orrery_sequences s = sequences_of(&c);
    struct orrery_attend attend = {
        .bytes = sizeof attend, .set_window = 1, .window = 2, .reweight = 2};
    struct orrery_shape shape = {.bytes = sizeof shape};
    assert_int_equal(orrery_model_attend(m, &attend), 0);
    assert_int_equal(orrery_model_describe(m, &shape), 0);
    assert_int_equal(shape.window, 2);
    assert_string_equal(shape.attention, "lssa");
    assert_int_equal(orrery_model_outputs(m, &s, found), 0);
    assert_memory_not_equal(found, first, sizeof found);
    assert_int_equal(orrery_model_attention(m, &s, 1, weights), 0);
    for (int row = 0; row < SEQUENCES * 3 * ROWS; row++) {
        double sum = 0;
        for (int j = 0; j < ROWS; j++) {
            const double w = weights[row * ROWS + j];
            const bool attended = j <= row % ROWS && j > row % ROWS - 2;
            assert_true(attended ? w > 0 : !(w > 0 || w < 0));
            sum += w;
        }
        assert_true(fabs(sum - 1) < 1e-9);
    }
    REFUSED(m, ORRERY_EINVAL, orrery_model_attention(m, &s, 2, weights), "layer");
    attend.reweight = 3;
    REFUSED(m, ORRERY_EINVAL, orrery_model_attend(m, &attend), "reweight");
    attend = (struct orrery_attend){.bytes = sizeof attend, .power = 0.5};
    REFUSED(m, ORRERY_EUSAGE, orrery_model_attend(m, &attend), "attention_p");
    attend = (struct orrery_attend){.bytes = sizeof attend, .attention = "softmix"};
    REFUSED(m, ORRERY_EUSAGE, orrery_model_attend(m, &attend), "softmax");
    assert_int_equal(orrery_model_attend(m, NULL), 0);
    assert_int_equal(orrery_model_outputs(m, &s, found), 0);
    assert_memory_equal(found, first, sizeof found);
    orrery_model_free(m);
}

TEST(arguments_and_files_are_checked)
{
    const struct gpt_config c = tiny_tokens();
    float expected[SEQUENCES * ROWS * OUTPUTS], found[SEQUENCES * ROWS * OUTPUTS];
    struct orrery_model *m = NULL;
    struct orrery_sequences s = sequences_of(&c);
    struct orrery_shape shape = {.bytes = sizeof shape};
    assert_int_equal(orrery_model_create(ORRERY_INTERFACE + 1, &m), ORRERY_EVERSION);
    assert_int_equal(orrery_model_create(ORRERY_INTERFACE, &m), 0);
    REFUSED(m, ORRERY_EMISSING, orrery_model_outputs(m, &s, found), "no model yet");
    REFUSED(m, ORRERY_EMISSING, orrery_model_describe(m, &shape), "no model yet");
    orrery_model_free(m);
    orrery_model_free(NULL);
    m = opened(make(&c, "pretrain", NULL, k_cpu(), expected), 0);
    scratch_text(scratch_at(dir, "text"), "no checkpoint, of a few bytes");
    REFUSED(m, ORRERY_EFORMAT, orrery_model_open(m, scratch_at(dir, "text"), 0, 0), "safetensors");
    REFUSED(m, ORRERY_EMISSING, orrery_model_open(m, scratch_at(dir, "none"), 0, 0), "none");
    REFUSED(m, ORRERY_EINVAL, orrery_model_open(m, NULL, 0, 0), "path");
    REFUSED(m, ORRERY_EINVAL, orrery_model_open(m, "x", 0, 2), "reference");
    REFUSED(m, ORRERY_EINVAL, orrery_model_outputs(m, &s, NULL), "outputs");
    REFUSED(m, ORRERY_EINVAL, orrery_model_outputs(m, NULL, found), "sequences");
#define WRONG(part)                                                                                \
    REFUSED(m, ORRERY_EINVAL, orrery_model_outputs(m, &s, found), part);                           \
    s = sequences_of(&c)
    s.rows = 12;
    WRONG("1 to 11 rows");
    s.sequences = SIZE_MAX;
    WRONG("sequences: expected 1 to");
    s.stride = SIZE_MAX;
    WRONG("stride");
    s.coordinates = coordinates;
    WRONG("expected tokens");
    tokens[2 * (STRIDE + 3)] = 23;
    WRONG("sequence 1, row 3: expected a number below 23, found 23");
    assert_int_equal(orrery_model_outputs(m, &s, found), 0); /* after all this */
    assert_memory_equal(found, expected, sizeof found);
    orrery_model_free(m);
}

TESTS(scratch_setup, scratch_teardown)
