/* test_vector.c - force vectors of the planets: units, labels, and that nothing but the labels is
 * learned from. */
#include "on_ref.h"
#include "tiny.h"

static struct tiny tiny;

/* Every planet in units of its own largest labelled force, which is reached; or, as the study has
 * it, each axis of a planet in units of its largest component, labelled or not. */
TEST(test_units)
{
    for (int kind = 0; kind < 4; kind++) {
        const bool tokens = kind % 2, of_axes = kind / 2;
        struct orr_csv csv;
        double unit[FT_PLANETS][SIM_AXES], reached[FT_PLANETS][2] = {{0}};
        int above = 0; /* unlabelled forces that are larger than the unit */
        tiny_preset(&tiny.settings, tokens);
        if (of_axes)
            tiny.settings.finetune.vector_scale = ORR_VECTOR_LARGEST;
        tiny_open(&tiny);
        const struct sim_dataset *set = &tiny.run.planets;
        const size_t P = (size_t)set->positions;
        ft_vector_scale(&tiny.run, unit);
        assert_int_equal(ft_vector_truth(&tiny.run), 0);
        tiny_read(&csv, &tiny, "truth", "forces_vector.csv");
        for (size_t i = 0; i < csv.rows; i++) {
            const size_t s = (size_t)tiny_cell(&csv, i, "planet");
            const size_t t = 2 * (size_t)tiny_cell(&csv, i, "step") + (tokens ? 1 : 2);
            const double fx = tiny_cell(&csv, i, "fx_true"), fy = tiny_cell(&csv, i, "fy_true");
            const float *f = set->force_vector + 2 * (s * P + t);
            assert_true(fabs(fx * unit[s][0] - (double)f[0]) <= 1e-6 * unit[s][0]);
            assert_true(fabs(fy * unit[s][1] - (double)f[1]) <= 1e-6 * unit[s][1]);
            const bool labelled = tiny_cell(&csv, i, "labelled") > 0;
            above += !labelled && hypot(fx, fy) > 1 + 1e-8;
            for (int c = 0; c < 2 && (labelled || of_axes); c++)
                reached[s][c] = fmax(reached[s][c], of_axes ? fabs(c ? fy : fx) : hypot(fx, fy));
        }
        for (size_t s = 0; s < (size_t)set->n; s++)
            for (size_t c = 0; c < 2; c++) {
                const float *last = set->force_vector + 2 * (s * P + P - 1); /* in no table */
                const double beyond = of_axes ? fabs((double)last[c]) / unit[s][c] : 0;
                assert_true(unit[s][c] > 0 && (of_axes || unit[s][0] == unit[s][1]));
                assert_true(fabs(fmax(reached[s][c], isfinite(beyond) ? beyond : 0) - 1) < 1e-7);
            }
        assert_true(above > 0);
        /* Jupiter's and Mercury's units differ */
        assert_true(hypot(unit[4][0], unit[4][1]) > 10 * hypot(unit[0][0], unit[0][1]));
        orr_csv_free(&csv);
        tiny_close(&tiny);
    }
}

/* labelled = 1 on exactly the rows that were drawn: labels per planet, and all positions that
 * carry a force are in the table once, so that the others are what is left to judge by. */
TEST(test_flags)
{
    for (int tokens = 0; tokens < 2; tokens++) {
        struct orr_csv csv;
        tiny_preset(&tiny.settings, tokens);
        tiny_open(&tiny);
        const struct sim_dataset *set = &tiny.run.planets;
        const int labels = tiny.settings.planets.labels;
        assert_int_equal(labels, tokens ? 10 : 7);
        assert_int_equal(ft_vector_model(&tiny.run, "lssar", "lssar", NULL), 0);
        tiny_read(&csv, &tiny, "lssar", "forces_vector.csv");
        size_t i = 0;
        for (int s = 0; s < (int)set->n; s++) {
            int flagged = 0, others = 0;
            for (int t = 0; t < set->positions - 1; t++) {
                const size_t at = (size_t)s * (size_t)set->positions + (size_t)t;
                if (!isfinite(set->force_vector[2 * at]))
                    continue;
                bool label = false;
                for (int k = 0; k < labels; k++)
                    label |= tiny.run.labels[s * labels + k] == t;
                assert_int_equal(tiny_cell(&csv, i, "planet"), s);
                assert_int_equal(tiny_cell(&csv, i, "step"), (t - 1) / 2);
                assert_int_equal(tiny_cell(&csv, i, "labelled"), label);
                flagged += label;
                others += !label;
                i++;
            }
            assert_int_equal(flagged, labels);
            assert_true(others > 0);
        }
        assert_int_equal(i, csv.rows);
        orr_csv_free(&csv);
        tiny_close(&tiny);
    }
}

/* ------------------------------------------------------------------------ what is learned */

struct edit {
    const struct ft_run *run;
    bool labelled;            /* edits labelled rows, else the others */
    float factor[FT_PLANETS]; /* per planet */
};

/* Forces of the chosen rows times a factor; of labelled ones, the planet's unit is left alone. */
static float scale_force(float value, size_t index, const void *context)
{
    const struct edit *edit = context;
    const size_t row = index / 2 % (size_t)edit->run->planets.positions;
    const size_t s = index / 2 / (size_t)edit->run->planets.positions;
    const int labels = edit->run->settings->planets.labels;
    bool label = false;
    double unit[FT_PLANETS][SIM_AXES];
    for (int k = 0; k < labels; k++)
        label |= (size_t)edit->run->labels[s * (size_t)labels + (size_t)k] == row;
    if (!isfinite(value) || label != edit->labelled)
        return value;
    ft_vector_scale(edit->run, unit);
    const float *f = edit->run->planets.force_vector + 2 * (index / 2);
    if (label && hypot((double)f[0], (double)f[1]) >= unit[s][0])
        return value; /* the unit itself */
    return value * edit->factor[s];
}

static float scale_planet(float value, size_t index, const void *context)
{
    const struct edit *edit = context;
    return value * edit->factor[index / 2 / (size_t)edit->run->planets.positions];
}

/* Weights of a fine-tuning after the change (NULL: none). */
static uint64_t weights_after(float (*change)(float, size_t, const void *), struct edit *edit,
                              const char *name)
{
    if (change) {
        edit->run = &tiny.run;
        tiny_change(&tiny, "force_vector", "planets_solar", change, edit);
        tiny_close_run(&tiny);
        tiny_open_run(&tiny, name);
    }
    assert_int_equal(ft_vector_model(&tiny.run, "lssar", "lssar", NULL), 0);
    char path[4096], sum[32]; /* of the weights: the metadata have the units of the forces */
    assert_int_equal(orr_path(path, "%s/lssar/finetune/vector.safetensors", tiny.run.run), 0);
    assert_int_equal(gpt_checkpoint_metadata(path, "xxh64", sum, sizeof sum), 0);
    assert_int_equal(strlen(sum), 16);
    return strtoull(sum, NULL, 16);
}

TEST(test_only_labels_are_learned)
{
    tiny_preset(&tiny.settings, false);
    tiny.settings.finetune.vector.noise_au = 0.01;
    tiny_open(&tiny);
    struct edit edit = {.factor = {-0.5f, 0, 0.25f, -1, 1e4f, 1e-3f, -75, 3, 2, -3, 0.5f, 7}};
    const uint64_t before = weights_after(NULL, NULL, "run");
    assert_int_equal(weights_after(scale_force, &edit, "others"), before);
    edit.labelled = true; /* and the labels do reach it */
    memcpy(edit.factor,
           (float[FT_PLANETS]){-0.5f, 0, 0.25f, -1, 0, 1e-3f, -0.75f, 0.5f, 0.1f, -0.2f, 0.9f, -1},
           sizeof edit.factor);
    assert_int_not_equal(weights_after(scale_force, &edit, "labels"), before);
    tiny_close(&tiny);
}

/* In units of its largest label, a planet's force may have any size: powers of two change no
 * bit. */
TEST(test_units_of_training)
{
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    struct edit edit = {
        .factor = {1024, 1, 0.25f, 0x1p20f, 1, 0x1p-15f, 2, 1, 0x1p30f, 0.5f, 0x1p-9f, 4}};
    const uint64_t before = weights_after(NULL, NULL, "run");
    assert_int_equal(weights_after(scale_planet, &edit, "scaled"), before);
    tiny_close(&tiny);
}

/* Predictions are what the saved weights say, in the same units, without noise. */
TEST(test_predictions)
{
    struct gpt_model model;
    struct gpt_batch batch;
    struct orr_csv csv;
    char path[4096];
    const real *out;
    tiny_preset(&tiny.settings, false);
    tiny.settings.finetune.vector.noise_au = 0.3;
    tiny.settings.finetune.vector.ema = 0.5;
    tiny_open(&tiny);
    const struct sim_dataset *set = &tiny.run.planets;
    const int T = set->positions - 1;
    assert_int_equal(ft_vector_model(&tiny.run, "softmax", "softmax", NULL), 0);
    tiny_read(&csv, &tiny, "softmax", "forces_vector.csv");
    tiny_path(path, &tiny, "softmax", "vector.safetensors");
    assert_int_equal(gpt_load(&model, path, &k_ref, NULL), 0);
    gpt_swap_average(&model);
    assert_int_equal(gpt_batch_create(&batch, &model.config, 1, T), 0);
    for (size_t i = 0, s = FT_PLANETS; i < csv.rows; i++) {
        if ((size_t)tiny_cell(&csv, i, "planet") != s) {
            s = (size_t)tiny_cell(&csv, i, "planet");
            const float *xy = set->coords + s * (size_t)set->positions * 2;
            for (int t = 0; t < T; t++)
                gpt_place_features(&model.config,
                                   (const double[]){(double)xy[2 * t], (double)xy[2 * t + 1]},
                                   t == 0, batch.features + 3 * t);
            assert_int_equal(gpt_forward(&model, &batch, &out), 0);
        }
        const size_t t = 2 * (size_t)tiny_cell(&csv, i, "step") + 2;
        assert_true(fabs(tiny_cell(&csv, i, "fx") - (double)out[2 * t]) < 1e-5);
        assert_true(fabs(tiny_cell(&csv, i, "fy") - (double)out[2 * t + 1]) < 1e-5);
    }
    gpt_batch_free(&batch);
    gpt_free(&model);
    orr_csv_free(&csv);
    tiny_close(&tiny);
}

/* In space: vectors of three components point at the sun and are of the size of the table in the
 * plane; heads have three outputs, whose predictions the table has. */
TEST(test_space)
{
    struct gpt_model model;
    struct gpt_batch batch;
    struct orr_csv csv;
    char path[4096], key[2];
    const real *out;
    double tall = 0;
    tiny_preset(&tiny.settings, false);
    tiny.settings.orbits.dimensions = 3;
    tiny_open(&tiny);
    const struct sim_dataset *set = &tiny.run.planets;
    const int T = set->positions - 1;
    assert_int_equal(set->dimensions, 3);
    assert_int_equal(ft_vector_truth(&tiny.run), 0);
    assert_int_equal(ft_vector_oracle(&tiny.run), 0);
    assert_int_equal(ft_vector_model(&tiny.run, "softmax", "softmax", NULL), 0);
    tiny_path(path, &tiny, "softmax", "vector.safetensors");
    assert_int_equal(gpt_load(&model, path, &k_ref, NULL), 0);
    assert_int_equal(model.config.outputs, 3);
    assert_int_equal(gpt_batch_create(&batch, &model.config, 1, T), 0);
    tiny_read(&csv, &tiny, "softmax", "forces_vector.csv");
    for (size_t i = 0, s = FT_PLANETS; i < csv.rows; i++) {
        if ((size_t)tiny_cell(&csv, i, "planet") != s) {
            s = (size_t)tiny_cell(&csv, i, "planet");
            gpt_fill_coords(&model.config, set->coords + s * (size_t)set->positions * 3, 0, NULL, 0,
                            &batch);
            assert_int_equal(gpt_forward(&model, &batch, &out), 0);
        }
        const size_t t = 2 * (size_t)tiny_cell(&csv, i, "step") + 2;
        double at[3], f[3];
        for (int c = 0; c < 3; c++) {
            char name[16];
            snprintf(key, sizeof key, "%c", 'x' + c);
            snprintf(name, sizeof name, "f%s", key);
            assert_true(fabs(tiny_cell(&csv, i, name) - (double)out[3 * t + (size_t)c]) < 1e-5);
            snprintf(name, sizeof name, "f%s_true", key);
            at[c] = tiny_cell(&csv, i, key);
            f[c] = tiny_cell(&csv, i, name);
        }
        const double r = sim_length(at, 3), F = sim_length(f, 3);
        for (int c = 0; c < 3; c++)
            assert_true(fabs(f[c] / F + at[c] / r) < 1e-6);
        tall = fmax(tall, fabs(at[2]));
    }
    assert_true(tall > 0.1);
    orr_csv_free(&csv);
    gpt_batch_free(&batch);
    gpt_free(&model);
    tiny_close(&tiny);
}

/* ---- noise */

enum { MOST_PASSES = 400 };
static uint64_t seen[MOST_PASSES]; /* sums of the coordinates that went into each pass */
static int passes;

static int watching_linear(const struct k_linear *layer)
{
    if (layer->fp32_only && layer->C == 3) { /* x, y and the mark of the time step */
        uint64_t sum = 1469598103934665603u;
        const unsigned char *bytes = (const unsigned char *)layer->inp;
        for (size_t i = 0; i < (size_t)layer->N * 3 * sizeof *layer->inp; i++)
            sum = (sum ^ bytes[i]) * 1099511628211u;
        assert_in_range(passes, 0, MOST_PASSES - 1);
        seen[passes++] = sum;
    }
    return k_ref.linear_forward(layer);
}

/* No two passes of a training add the same noise, however many passes a step has. */
TEST(test_noise_never_repeats)
{
    enum { STEPS = 3, ACCUMULATION = 70 };
    struct k_ops watching = k_ref;
    watching.linear_forward = watching_linear;
    tiny_preset(&tiny.settings, false);
    tiny.settings.finetune.vector.steps = STEPS;
    tiny.settings.finetune.vector.accumulation = ACCUMULATION;
    tiny.settings.finetune.vector.noise_au = 0.01;
    tiny_open(&tiny);
    tiny.run.ops = &watching;
    passes = 0;
    assert_int_equal(ft_vector_model(&tiny.run, "lssar", "lssar", NULL), 0);
    assert_int_equal(passes, STEPS * ACCUMULATION + 1); /* the last one predicts */
    for (int i = 0; i < passes; i++)
        for (int j = 0; j < i; j++)
            if (seen[i] == seen[j])
                fail_msg("passes %d and %d had the same noise", j, i);
    tiny_close(&tiny);
}

TESTS_ON_REF(NULL, NULL)
