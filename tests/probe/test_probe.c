/* test_probe.c - statistics of attention weights against closed forms, weights against the model's
 * own attention, cells of pictures, and what a probe feeds a checkpoint. */
#include "probe/asked.h"
#include "model/activations.h" /* activations of a layer */

#include "probe.h"

enum { T = 9 };
static const double tight = 1e-14;
#define assert_near(found, expected, tolerance)                                                    \
    assert_true(fabs((found) - (expected)) <= (tolerance))

/* Rows of an attention matrix (T, T): a(i, j) of 1-based positions where attended; elsewhere a
 * number that nothing may read. */
static void fill(double *A, int window, double (*a)(int i, int j, int n))
{
    for (int i = 1; i <= T; i++)
        for (int j = 1; j <= T; j++) {
            const int n = window && window < i ? window : i;
            A[(i - 1) * T + j - 1] = j <= i && j > i - n ? a(i, j, n) : 99;
        }
}

static double uniform(int i, int j, int n)
{
    (void)i, (void)j;
    return -3.0 / n; /* neither size nor sign of a row matters */
}

static double on_itself(int i, int j, int n)
{
    (void)n;
    return i == j ? 0.7 : 0;
}

static double on_first(int i, int j, int n)
{
    (void)i, (void)n;
    return j == 1;
}

static double silent_above_two(int i, int j, int n)
{
    return i > 2 ? 0 : uniform(i, j, n);
}

/* Shares 1/2, 1/4, 1/4 of alternating sign in rows of 3 and more, j = 2 zero beyond. */
static double with_sign(int i, int j, int n)
{
    (void)n;
    if (i < 3)
        return 1;
    return j == 1 ? -0.4 : j == i ? 0.2 : j == i - 1 ? -0.2 : 0;
}

static struct probe_means means_of(int window, double (*a)(int, int, int), struct probe_sums *sums)
{
    double A[T * T];
    struct probe_means means;
    memset(sums, 0, sizeof *sums);
    fill(A, window, a);
    probe_add(sums, A, T, 0, T, window);
    probe_mean(sums, &means);
    return means;
}

TEST(test_uniform_rows)
{
    struct probe_sums sums;
    const struct probe_means m = means_of(0, uniform, &sums);
    double nats = 0, first = 0;
    for (int i = 2; i <= T; i++) {
        nats += log(i) / (T - 1);
        first += 1.0 / i / (T - 1);
    }
    assert_near(m.entropy_nats, nats, tight);
    assert_near(m.entropy_relative, 1, tight);
    assert_near(m.sink, first, tight);
    assert_near(m.sink_uniform, first, tight);
    assert_true(m.zeros == 0 && m.degenerate == 0);
    assert_int_equal(sums.rows, T);
    assert_int_equal(sums.entries, T * (T + 1) / 2);
    assert_int_equal(sums.entropy_rows, T - 1);
}

TEST(test_one_hot_rows)
{
    struct probe_sums sums;
    struct probe_means m = means_of(0, on_first, &sums);
    assert_true(m.entropy_nats == 0 && m.entropy_relative == 0 && m.sink == 1);
    assert_near(m.zeros, (T - 1.0) / (T + 1), tight);
    m = means_of(0, on_itself, &sums);
    assert_true(m.entropy_nats == 0 && m.sink == 0 && m.degenerate == 0);
    assert_near(m.zeros, (T - 1.0) / (T + 1), tight);
}

TEST(test_window_rows)
{
    struct probe_sums sums;
    const struct probe_means m = means_of(4, uniform, &sums);
    const double nats = (log(2) + log(3) + (T - 3) * log(4)) / (T - 1);
    assert_near(m.entropy_nats, nats, tight);
    assert_near(m.entropy_relative, 1, tight);
    /* rows 2, 3, 4 attend position 1 */
    assert_int_equal(sums.sink_rows, 3);
    assert_near(m.sink, (1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 3, tight);
    assert_near(m.sink_uniform, m.sink, tight);
    assert_int_equal(sums.entries, 1 + 2 + 3 + 4 * (T - 3));
    /* a window of one row: nothing to choose from */
    const struct probe_means alone = means_of(1, on_itself, &sums);
    assert_true(isnan(alone.entropy_nats) && isnan(alone.entropy_relative) && isnan(alone.sink));
    assert_true(alone.zeros == 0);
}

TEST(test_silent_rows)
{
    struct probe_sums sums;
    const struct probe_means m = means_of(0, silent_above_two, &sums);
    assert_near(m.degenerate, (T - 2.0) / T, tight);
    assert_near(m.entropy_nats, log(2), tight);
    assert_near(m.entropy_relative, 1, tight);
    assert_near(m.sink, 0.5, tight);
    assert_true(m.zeros == 0);
    assert_int_equal(sums.entries, 3);
    double A[T * T] = {0};
    struct probe_means none;
    memset(&sums, 0, sizeof sums);
    probe_add(&sums, A, T, 0, T, 0);
    probe_mean(&sums, &none);
    assert_true(none.degenerate == 1 && isnan(none.entropy_nats) && isnan(none.sink));
    assert_true(isnan(none.zeros));
}

TEST(test_rows_of_either_sign)
{
    struct probe_sums sums;
    const struct probe_means m = means_of(0, with_sign, &sums);
    assert_near(m.entropy_nats, (log(2) + (T - 2) * 1.5 * log(2)) / (T - 1), tight);
    assert_near(m.sink, 0.5, tight);
    long zeros = 0;
    for (int i = 4; i <= T; i++)
        zeros += i - 3;
    assert_int_equal(sums.zeros, zeros);
    assert_int_equal(sums.degenerate, 0);
}

TEST(test_rows_in_parts)
{
    double A[T * T];
    struct probe_sums whole = {0}, part = {0}, rest = {0};
    fill(A, 5, with_sign);
    probe_add(&whole, A, T, 0, T, 5);
    probe_add(&part, A, T, 0, 4, 5);
    probe_add(&rest, A + 4 * T, T, 4, T - 4, 5);
    probe_merge(&part, &rest);
    assert_int_equal(part.rows, whole.rows);
    assert_int_equal(part.degenerate, whole.degenerate);
    assert_int_equal(part.entries, whole.entries);
    assert_int_equal(part.zeros, whole.zeros);
    assert_int_equal(part.entropy_rows, whole.entropy_rows);
    assert_int_equal(part.sink_rows, whole.sink_rows);
    assert_near(part.entropy, whole.entropy, tight);
    assert_near(part.relative, whole.relative, tight);
    assert_near(part.sink, whole.sink, tight);
    assert_near(part.sink_uniform, whole.sink_uniform, tight);
}

TEST(test_cells)
{
    const float map[25] = {
        0.9f, 0,     0,    0,     0,     /* */
        0.1f, -0.8f, 0,    0,     0,     /* */
        0,    0.2f,  0.3f, 0,     0,     /* */
        0,    0,     0.1f, -0.6f, 0,     /* */
        0.5f, 0.4f,  0,    0,     -0.25f /* */
    };
    float cells[25];
    probe_cells(cells, map, 5, 2, 0);
    assert_true(cells[0] == 0.9f && cells[3] == 0.2f && cells[4] == -0.6f);
    assert_true(cells[6] == 0.5f && cells[7] == 0 && cells[8] == -0.25f);
    assert_true(isnan(cells[1]) && isnan(cells[2]) && isnan(cells[5]));
    probe_cells(cells, map, 5, 1, 2);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            if (j <= i && j > i - 2)
                assert_true(cells[5 * i + j] == map[5 * i + j]);
            else
                assert_true(isnan(cells[5 * i + j]));
}

/* ------------------------------------------------------------------- the weights of a model */

static const struct gpt_config small = {.layers = 2,
                                        .heads = 3,
                                        .width = 18,
                                        .ffn = 20,
                                        .context = 70, /* more than one chunk of rows */
                                        .input = GPT_INPUT_CONTINUOUS,
                                        .fourier = 1,
                                        .fourier_min_au = 0.7,
                                        .head = GPT_HEAD_REGRESSION,
                                        .outputs = 2,
                                        .positions = ORR_POSITIONS_ROPE,
                                        .rope_base = 10000,
                                        .power = 3};

/* sum_j A_ij v_j is what the layer's attention put out; degenerate rows are those that it counted.
 * */
static void weights_against_attention(const char *variant, int window)
{
    enum { ROWS = 70, HEADS = 3, D = 6 };
    struct gpt_config config = small;
    struct gpt_model model;
    struct gpt_batch batch;
    struct probe_sums sums[2 * HEADS] = {{0}};
    static float map[HEADS * ROWS * ROWS];
    const real *out;
    strcpy(config.attention, variant);
    config.attention_window = window;
    assert_int_equal(gpt_create(&model, &config, &k_ref, 5), 0);
    for (size_t k = 0; k < model.total; k++) /* sharper than at initialisation */
        model.param[k] *= 4;
    assert_int_equal(gpt_batch_create(&batch, &config, 1, ROWS), 0);
    for (size_t t = 0; t < ROWS; t++)
        gpt_place_features(
            &config, (const double[]){3 * tiny_uniform(8, 2 * t), 3 * tiny_uniform(8, 2 * t + 1)},
            t == 0, batch.features + t * (size_t)gpt_config_features(&config));
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    for (int l = 0; l < 2; l++) {
        const struct gpt_layer_activations *a = &model.act->layer[l];
        const struct k_attention_shape shape = gpt_attention_shape(&model, 1, ROWS);
        long degenerate = 0, counted = 0;
        memset(sums, 0, sizeof sums);
        assert_int_equal(probe_weights(&model, ROWS, sums, l, map), 0);
        for (int h = 0; h < HEADS; h++)
            for (int i = 0; i < ROWS; i++)
                for (int c = 0; c < D; c++) {
                    double y = 0;
                    for (int j = 0; j < ROWS; j++)
                        y += (double)map[(h * ROWS + i) * ROWS + j] *
                             (double)a->qkv[((j * 3 + 2) * HEADS + h) * D + c];
                    assert_near(y, (double)a->y[(i * HEADS + h) * D + c], 1e-5 * (1 + fabs(y)));
                }
        for (int h = 0; h < HEADS; h++)
            degenerate += sums[l * HEADS + h].degenerate;
        assert_int_equal(k_ref.attention_degenerate(&counted, a->row_stats, &shape), 0);
        /* rows without an l1 norm may be all zero without being degenerate */
        if (shape.variant->norm == K_NORM_L1)
            assert_int_equal(degenerate, counted);
        assert_int_equal(sums[l * HEADS].rows, ROWS);
    }
    gpt_batch_free(&batch);
    gpt_free(&model);
}

TEST(test_weights_are_the_model_s)
{
    for (const struct k_attention *v = k_attention_table; v->name; v++)
        weights_against_attention(v->name, 0);
    weights_against_attention("lssar", 5);
    weights_against_attention("softmax_recentred", 5);
}

TEST(test_weights_that_are_no_numbers)
{
    struct gpt_config config = small;
    struct gpt_model model;
    struct gpt_batch batch;
    struct probe_sums sums[6] = {{0}};
    const real *out;
    strcpy(config.attention, "softmax");
    assert_int_equal(gpt_create(&model, &config, &k_ref, 5), 0);
    assert_int_equal(gpt_batch_create(&batch, &config, 1, 8), 0);
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    /* a query of layer 1, head 2 */
    model.act->layer[1].qkv[(5 * 3 * 3 + 2) * 6] = NAN;
    assert_int_equal(probe_weights(&model, 8, sums, -1, NULL), ORR_EDIVERGED);
    assert_non_null(strstr(orr_error(), "layer 1, head 2"));
    assert_non_null(strstr(orr_error(), "row 5"));
    gpt_batch_free(&batch);
    gpt_free(&model);
}

/* ------------------------------------------------------------------------------ what is fed */

struct saved {
    struct tiny tiny;
    char checkpoint[4096], run[4096];
    struct probe_options options;
};

/* An untrained model of the preset under dir/run, called one of `stage`; its data are in
 * dir/run/orbits. */
static void open_saved(struct saved *s, bool tokens, const char *stage)
{
    struct gpt_config config;
    struct gpt_model model;
    const char *const extra[] = {"stage", stage, NULL};
    char orbits[4096];
    const bool planets = !strcmp(stage, "pretrain_planets");
    tiny_preset(&s->tiny.settings, tokens);
    s->tiny.settings.orbits.val = 4;
    scratch_create(s->tiny.dir);
    scratch_path(s->run, s->tiny.dir, "run");
    assert_int_equal(orr_path(orbits, "%s/orbits", s->run), 0);
    assert_int_equal(orr_path(s->checkpoint, "%s/model.safetensors", s->run), 0);
    assert_int_equal(sim_dataset_write(&s->tiny.settings, orbits, 1, false, true), 0);
    assert_int_equal(gpt_config_from_preset(&config, &s->tiny.settings, "lssar",
                                            planets ? 1 + 2 * s->tiny.settings.planets.steps
                                                    : s->tiny.settings.orbits.positions),
                     0);
    config.positions = ORR_POSITIONS_ROPE;
    assert_int_equal(gpt_create(&model, &config, &k_ref, 3), 0);
    assert_int_equal(gpt_save(&model, s->checkpoint, 0, false, extra), 0);
    gpt_free(&model);
    s->options = asked_of(&s->tiny.settings, s->checkpoint, "");
    s->options.run = s->run;
}

/* Features or tokens of the first rows of sequence i. */
static void fed(const struct probe_options *options, uint64_t i, int rows, real *into,
                bool *from_files)
{
    struct probe probe;
    struct gpt_batch batch;
    assert_int_equal(probe_open(&probe, options, true, 3), 0);
    assert_int_equal(probe.sequences, 3);
    assert_int_equal(gpt_batch_create(&batch, &probe.model.config, 1, probe.T), 0);
    assert_int_equal(probe_fill(&probe, i, &batch), 0);
    const size_t F = (size_t)gpt_config_features(&probe.model.config);
    for (size_t k = 0; k < (size_t)rows * (batch.tokens ? 2 : F); k++)
        into[k] = batch.tokens ? (real)batch.tokens[k] : batch.features[k];
    *from_files = probe.from_files;
    gpt_batch_free(&batch);
    probe_close(&probe);
}

/* The run's files, the same made from the seed, and the beginning of longer ones. */
static void same_sequences(bool tokens, const char *stage)
{
    enum { ROWS = 20, F = 64 };
    struct saved s;
    static real a[ROWS * F], b[ROWS * F], c[ROWS * F], other[ROWS * F];
    bool files;
    open_saved(&s, tokens, stage);
    fed(&s.options, 1, ROWS, a, &files);
    assert_int_equal(files, strcmp(stage, "pretrain_planets") != 0); /* one sequence on file */
    s.options.run = "";
    fed(&s.options, 1, ROWS, b, &files);
    assert_false(files);
    s.options.run = s.run;
    s.options.length = 77;
    fed(&s.options, 1, ROWS, c, &files);
    assert_false(files);
    fed(&s.options, 2, ROWS, other, &files);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_equal(a, c, sizeof a);
    assert_memory_not_equal(a, other, sizeof a);
    scratch_remove(s.tiny.dir);
}

TEST(test_sequences)
{
    same_sequences(false, "pretrain");
    same_sequences(true, "pretrain");
    same_sequences(false, "pretrain_planets");
    same_sequences(false, "magnitude");
}

/* The rows that pretraining fed, and the weights that it measured with: the average. */
TEST(test_as_in_training)
{
    struct saved s;
    struct probe probe;
    struct gpt_model model;
    struct gpt_batch trained, fed_now;
    struct gpt_source *source;
    const char *const extra[] = {"stage", "pretrain", NULL};
    open_saved(&s, false, "pretrain");
    assert_int_equal(gpt_load(&model, s.checkpoint, &k_ref, NULL), 0);
    model.average = orr_alloc(model.total, sizeof(real));
    assert_non_null(model.average);
    for (size_t k = 0; k < model.total; k++)
        model.average[k] = model.param[k] + 1;
    assert_int_equal(gpt_save(&model, s.checkpoint, 0, false, extra), 0);
    assert_int_equal(probe_open(&probe, &s.options, false, 0), 0);
    const size_t first = model.table[0].offset;
    assert_true(probe.model.param[first] == model.average[first]);
    gpt_free(&model);

    const struct gpt_config *c = &probe.model.config;
    assert_int_equal(gpt_batch_create(&trained, c, 1, probe.T), 0);
    assert_int_equal(gpt_batch_create(&fed_now, c, 1, probe.T), 0);
    assert_int_equal(gpt_source_open(&source, &s.tiny.settings, NULL, SIM_SPLIT_VAL, c), 0);
    assert_int_equal(gpt_source_fill(source, 2, true, 0, 0, &trained), 0);
    assert_int_equal(probe_fill(&probe, 2, &fed_now), 0);
    assert_memory_equal(trained.features, fed_now.features,
                        (size_t)probe.T * (size_t)gpt_config_features(c) * sizeof(real));
    gpt_source_close(source);
    gpt_batch_free(&trained);
    gpt_batch_free(&fed_now);
    probe_close(&probe);
    scratch_remove(s.tiny.dir);
}

TEST(test_change_and_refusal)
{
    struct saved s;
    struct probe probe;
    char text[PROBE_TEXT], folder[4096], expected[4096];
    open_saved(&s, false, "pretrain");
    s.options.change.reweight = GPT_REWEIGHT_OFF;
    s.options.change.set_window = true;
    s.options.change.window = 6;
    s.options.length = 21;
    assert_int_equal(probe_open(&probe, &s.options, true, 0), 0);
    probe_describe(&probe.model, text);
    assert_string_equal(text, "lssa, window 6");
    assert_int_equal(probe.T, 21);
    assert_int_equal(probe.sequences, 4);
    assert_int_equal(probe_folder(&probe, &s.options, folder), 0);
    assert_int_equal(orr_path(expected, "%s/lssar/probe", s.run), 0);
    assert_string_equal(folder, expected);
    probe_close(&probe);
    /* the same options, as trained */
    assert_int_equal(probe_open(&probe, &s.options, false, 0), 0);
    probe_describe(&probe.model, text);
    assert_string_equal(text, "lssar, p = 15");
    assert_int_equal(probe.T, probe.trained.context);
    probe_close(&probe);
    s.tiny.settings.orbits.output = ORR_OUTPUT_TOKENS;
    assert_int_equal(probe_open(&probe, &s.options, false, 0), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "a model of coordinates"));
    probe_close(&probe);
    s.options.checkpoint = "none.safetensors";
    assert_int_equal(probe_open(&probe, &s.options, false, 0), ORR_EMISSING);
    assert_non_null(strstr(orr_error(), "none.safetensors"));
    probe_close(&probe);
    scratch_remove(s.tiny.dir);
    open_saved(&s, false, "elsewhere");
    assert_int_equal(probe_open(&probe, &s.options, false, 0), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "elsewhere"));
    probe_close(&probe);
    scratch_remove(s.tiny.dir);
}

/* Every line of the table is complete and found by its own name; a name without a line is refused
 * with those that have one, but for probes that moved into programs. */
TEST(test_table)
{
    const struct probe_command *found;
    int lines = 0;
    for (const struct probe_command *line = probe_table; line->name; line++, lines++) {
        assert_true(*line->purpose && (line->run || line->program));
        assert_int_equal(probe_find(line->name, &found), 0);
        assert_ptr_equal(found, line);
        if (line->program)
            continue;
        assert_int_equal(probe_find("atention", &found), ORR_EUSAGE);
        error_names("atention", line->name, NULL);
        assert_int_equal(probe_find(NULL, &found), ORR_EUSAGE);
        error_names("which probe", line->name, NULL);
    }
    assert_in_range(lines, 1, 100);
}

TESTS(NULL, NULL)
