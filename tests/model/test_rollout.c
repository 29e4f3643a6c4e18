/* test_rollout.c - nothing looks ahead: outputs depend on earlier rows only, prefixes are enough,
 * and a rollout is repeated next-row prediction. */
#include "tiny.h"

enum { B = 2, T = 11, LONG = 45 };

static size_t inputs_of(const struct gpt_config *c)
{
    return c->input == GPT_INPUT_TOKENS ? 2 : (size_t)gpt_config_features(c);
}

/* Gives row t of sequence b new inputs. */
static void change_row(struct gpt_batch *batch, const struct gpt_config *c, size_t b, size_t t)
{
    const size_t n = b * (size_t)batch->T + t;
    if (batch->tokens)
        for (size_t k = 0; k < 2; k++)
            batch->tokens[2 * n + k] =
                (uint16_t)((batch->tokens[2 * n + k] + 3 + (int)k) % c->vocab);
    else
        for (size_t k = 0; k < inputs_of(c); k++)
            batch->features[n * inputs_of(c) + k] += (real)(5 + (double)k);
}

static void outputs(struct gpt_model *model, const struct gpt_batch *batch, real *to)
{
    const real *out;
    const size_t n = (size_t)batch->B * (size_t)batch->T * (size_t)model->config.outputs;
    assert_int_equal(gpt_forward(model, batch, &out), 0);
    memcpy(to, out, n * sizeof *to);
}

/* Changing row t of one sequence leaves everything before t and the other sequence bit for bit,
 * and does change row t. */
static void check_causal(const struct gpt_config *c, const struct k_ops *ops)
{
    struct gpt_model model;
    struct gpt_batch batch;
    const size_t OC = (size_t)c->outputs, rows = (size_t)c->context;
    static real before[B * LONG * 64], after[B * LONG * 64];
    assert_int_equal(gpt_create(&model, c, ops, 2), 0);
    tiny_enlarge(&model);
    assert_int_equal(gpt_batch_create(&batch, c, B, c->context), 0);
    tiny_fill(&batch, c, 10);
    outputs(&model, &batch, before);
    for (size_t t = 1; t < rows; t++) {
        const size_t at = rows + t;
        tiny_fill(&batch, c, 10);
        change_row(&batch, c, 1, t);
        outputs(&model, &batch, after);
        if (!tiny_same(before, after, at * OC))
            fail_msg("%s, %s, positions %d, window %d: row %zu is seen before its time", ops->name,
                     c->attention, (int)c->positions, c->attention_window, t);
        assert_false(tiny_same(before + at * OC, after + at * OC, OC));
        /* and, somewhere, the rows after it */
        if (t + 1 < rows && c->attention_window == 0 && !strcmp(c->attention, "softmax"))
            assert_false(tiny_same(before + (at + 1) * OC, after + (at + 1) * OC, OC));
    }
    gpt_batch_free(&batch);
    gpt_free(&model);
}

TEST(test_causal)
{
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        assert_int_equal((*ops)->open(1, false), 0);
        for (const struct k_attention *a = k_attention_table; a->name; a++)
            for (int kind = 0; kind < 2 * 3 * 2; kind++) {
                struct gpt_config c = kind % 2 ? tiny_tokens() : tiny_continuous();
                snprintf(c.attention, sizeof c.attention, "%s", a->name);
                c.positions = (enum orr_positions)(kind / 2 % 3);
                c.attention_window = kind / 6 ? 4 : 0;
                check_causal(&c, *ops);
                c.context = LONG; /* more than a tile of the fast backend */
                if (*ops != &k_ref && kind % 2 == 0)
                    check_causal(&c, *ops);
            }
        (*ops)->close();
    }
}

/* A row reaches as far as layers x (window - 1) rows ahead, no further. */
static void check_window(const struct k_ops *ops, size_t changed)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    struct gpt_batch batch;
    static real before[B * LONG * 2], after[B * LONG * 2];
    c.context = LONG;
    c.attention_window = 3;
    assert_int_equal(gpt_create(&model, &c, ops, 2), 0);
    tiny_enlarge(&model);
    assert_int_equal(gpt_batch_create(&batch, &c, B, LONG), 0);
    tiny_fill(&batch, &c, 10);
    outputs(&model, &batch, before);
    change_row(&batch, &c, 0, changed);
    outputs(&model, &batch, after);
    for (size_t t = 0; t < LONG; t++)
        assert_int_equal(tiny_same(before + 2 * t, after + 2 * t, 2),
                         t < changed || t > changed + 2 * 2);
    gpt_batch_free(&batch);
    gpt_free(&model);
}

TEST(test_window)
{
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        assert_int_equal((*ops)->open(1, false), 0);
        for (size_t changed = 0; changed < LONG; changed += 3)
            check_window(*ops, changed);
        (*ops)->close();
    }
}

/* Variants whose formula holds the length L of the pass. */
static bool knows_length(const struct k_attention *a)
{
    return a->bias == K_BIAS_LOG_LENGTH || a->norm == K_NORM_LENGTH;
}

/* A prefix alone gives what it gives inside the whole sequence, unless its length counts. */
TEST(test_prefix)
{
    for (const struct k_attention *a = k_attention_table; a->name; a++)
        for (int kind = 0; kind < 2 * 3; kind++) {
            struct gpt_config c = kind % 2 ? tiny_tokens() : tiny_continuous();
            struct gpt_model model;
            struct gpt_batch whole, part;
            static real all[T * 64], some[T * 64];
            snprintf(c.attention, sizeof c.attention, "%s", a->name);
            c.positions = (enum orr_positions)(kind / 2);
            assert_int_equal(gpt_create(&model, &c, &k_ref, 2), 0);
            tiny_enlarge(&model);
            assert_int_equal(gpt_batch_create(&whole, &c, 1, T), 0);
            tiny_fill(&whole, &c, 10);
            outputs(&model, &whole, all);
            for (int length = 1; length < T; length++) {
                assert_int_equal(gpt_batch_create(&part, &c, 1, length), 0);
                tiny_fill(&part, &c, 10);
                outputs(&model, &part, some);
                double largest = 0;
                for (size_t i = 0; i < (size_t)length * (size_t)c.outputs; i++)
                    largest = fmax(largest, fabs((double)some[i] - (double)all[i]));
                if (!(knows_length(a) ? largest > 1e-5 : largest < 1e-5))
                    fail_msg("%s: the first %d of %d rows alone differ by %g", a->name, length, T,
                             largest);
                gpt_batch_free(&part);
            }
            gpt_batch_free(&whole);
            gpt_free(&model);
        }
}

/* Most probable position bin of channel k; the three signs after the bins are no positions. */
static uint16_t likely(const struct gpt_config *c, const real *out, int k)
{
    uint16_t best = 0;
    for (int v = 0; v < c->vocab - 3; v++)
        if (out[k * c->vocab + v] > out[k * c->vocab + best])
            best = (uint16_t)v;
    return best;
}

/* A rollout written out: predict a row, put it in, go on. */
static void plain_rollout(struct gpt_model *model, struct gpt_batch *batch, int prefix,
                          double extent, double *path)
{
    const struct gpt_config *c = &model->config;
    const real *out;
    const size_t axes = (size_t)gpt_config_axes(c);
    for (size_t t = (size_t)prefix; t < (size_t)batch->T; t++) {
        assert_int_equal(gpt_forward(model, batch, &out), 0);
        for (size_t b = 0; b < (size_t)batch->B; b++) {
            const size_t n = b * (size_t)batch->T + t;
            const real *from = out + (n - 1) * (size_t)c->outputs;
            for (int k = 0; k < (int)axes; k++) {
                const int bins = c->vocab - 3;
                if (batch->tokens)
                    batch->tokens[2 * n + (size_t)k] = likely(c, from, k);
                path[axes * n + (size_t)k] =
                    batch->tokens
                        ? -extent + (batch->tokens[2 * n + (size_t)k] + 0.5) * 2 * extent / bins
                        : (double)from[k];
            }
            if (batch->features)
                gpt_place_features(c, path + axes * n, false, batch->features + n * inputs_of(c));
        }
    }
}

TEST(test_rollout)
{
    const double extent = 3.25;
    for (int of = 0; of < 3; of++)
        for (int prefix = 1; prefix <= T; prefix += 3) {
            const bool kind = of == 1;
            struct gpt_config c = kind ? tiny_tokens() : of == 2 ? tiny_space() : tiny_continuous();
            const size_t axes = (size_t)gpt_config_axes(&c);
            struct gpt_model model;
            struct gpt_batch given, mine, theirs;
            const real *out;
            real path[B * T * 3];
            double expected[B * T * 3], first[B][3];
            assert_int_equal(gpt_create(&model, &c, &k_ref, 2), 0);
            tiny_enlarge(&model);
            assert_int_equal(gpt_batch_create(&given, &c, B, T), 0);
            assert_int_equal(gpt_batch_create(&mine, &c, B, T), 0);
            assert_int_equal(gpt_batch_create(&theirs, &c, B, T), 0);
            tiny_fill(&given, &c, 20);
            tiny_fill(&mine, &c, 20);
            tiny_fill(&theirs, &c, 20);
            for (size_t b = 0; b < B; b++) /* the future is not known to them */
                for (size_t t = (size_t)prefix; t < T; t++)
                    change_row(&theirs, &c, b, t);

            /* the first step is teacher forcing */
            assert_int_equal(gpt_forward(&model, &given, &out), 0);
            for (size_t b = 0; b < B && prefix < T; b++)
                for (size_t k = 0; k < axes; k++) {
                    const real *row = out + (b * T + (size_t)prefix - 1) * (size_t)c.outputs;
                    first[b][k] = kind ? -extent + (likely(&c, row, (int)k) + 0.5) * 2 * extent /
                                                       (c.vocab - 3)
                                       : (double)row[k];
                }
            for (size_t i = 0; i < B * T * axes; i++)
                path[i] = -77;
            plain_rollout(&model, &mine, prefix, extent, expected);
            assert_int_equal(gpt_rollout(&model, &theirs, prefix, extent, path), 0);
            for (size_t b = 0; b < B; b++)
                for (size_t t = 0; t < T; t++)
                    for (size_t k = 0; k < axes; k++) {
                        const double found = (double)path[axes * (b * T + t) + k];
                        if (t < (size_t)prefix)
                            assert_true(found == -77); /* known rows are not written */
                        else
                            assert_true(fabs(found - expected[axes * (b * T + t) + k]) < 1e-5);
                        if (t == (size_t)prefix)
                            assert_true(fabs(found - first[b][k]) < 1e-5);
                    }
            gpt_batch_free(&given);
            gpt_batch_free(&mine);
            gpt_batch_free(&theirs);
            gpt_free(&model);
        }
}

TEST(test_rollout_of_nothing)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    struct gpt_batch batch;
    real path[B * T * 2];
    assert_int_equal(gpt_create(&model, &c, &k_ref, 2), 0);
    assert_int_equal(gpt_batch_create(&batch, &c, B, T), 0);
    assert_int_equal(gpt_rollout(&model, &batch, 0, 1, path), ORR_EINVAL);
    error_names("prefix", "0", NULL);
    gpt_batch_free(&batch);
    gpt_free(&model);
}

/* The features of a row: coordinates, the sign of a time step, waves of doubling length. */
TEST(test_features)
{
    struct gpt_config c = tiny_continuous();
    real row[11];
    c.fourier_min_au = 0.5;
    gpt_place_features(&c, (const double[]){0.125, -0.25}, false, row);
    static const double expected[11] = {
        0.125, -0.25, 0, 1, 0, 0, -1, 0.70710678118654752, 0.70710678118654752, -1, 0};
    for (int i = 0; i < 11; i++)
        assert_true(fabs((double)row[i] - expected[i]) < 1e-6);
    gpt_place_features(&c, (const double[]){-3.2, 0}, true,
                       row); /* ln of a time step: no place in space */
    assert_true(row[0] == (real)-3.2 && row[1] == 0 && row[2] == 1);
    for (int i = 3; i < 11; i++)
        assert_true(row[i] == 0);
}

/* In space: three coordinates, the sign, and waves of each coordinate. */
TEST(test_features_in_space)
{
    struct gpt_config c = tiny_space();
    real row[16], same[16];
    c.fourier_min_au = 0.5;
    const float place[3] = {0.125f, -0.25f, 0.375f};
    gpt_row_features(&c, place, false, row);
    static const double half = 0.70710678118654752;
    const double expected[16] = {0.125, -0.25, 0.375, 0,    1,  0, 0,    -1,
                                 -1,    0,     half,  half, -1, 0, half, -half};
    for (int i = 0; i < 16; i++)
        assert_true(fabs((double)row[i] - expected[i]) < 1e-6);
    gpt_place_features(&c, (const double[]){0.125, -0.25, 0.375}, false, same);
    assert_memory_equal(row, same, sizeof row);
    gpt_place_features(&c, (const double[]){-3.2, 0, 0}, true, row);
    for (int i = 0; i < 16; i++)
        assert_true(row[i] == (real)(i == 0 ? -3.2 : i == 3));
}

TESTS(NULL, NULL)
