/* test_leakage.c - held-out labels reach no weight: trainings with the labels of the test set
 * replaced end in the same bytes. Also what a fine-tuning starts from and goes on from. */
#include "on_ref.h"
#include "tiny.h"

static struct tiny tiny;

/* A finite positive number that has nothing to do with the old one. */
static float garbage(float value, size_t index, const void *context)
{
    (void)context;
    return isfinite(value) ? (float)exp(20 * tiny_uniform(5, index) - 10) : value;
}

/* All that is known about the answers of a split: forces, masses, states. */
static void replace_labels(const char *split)
{
    static const char *const kinds[] = {"force_magnitude", "force_vector", "full_state", "state"};
    for (int i = 0; i < 4; i++)
        tiny_change(&tiny, kinds[i], split, garbage, NULL);
    tiny_close_run(&tiny);
}

static uint64_t weights(const char *run, bool truth_too)
{
    tiny_open_run(&tiny, run);
    if (truth_too) { /* the sources that know the answers come first, as in the program */
        assert_int_equal(ft_magnitude_truth(&tiny.run), 0);
        assert_int_equal(ft_magnitude_oracle(&tiny.run), 0);
    }
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
    return tiny_tensors(&tiny, "lssar", "magnitude.safetensors");
}

TEST(test_held_out_labels)
{
    for (int kind = 0; kind < 3; kind++) {
        struct orr_csv before, after;
        tiny_preset(&tiny.settings, kind == 1);
        tiny.settings.finetune.magnitude_loss = (enum orr_force_loss)kind;
        tiny.settings.finetune.magnitude.ema = 0.7;
        tiny_open(&tiny);
        tiny_close_run(&tiny);
        const uint64_t expected = weights("original", true);
        tiny_read(&before, &tiny, "lssar", "forces_magnitude.csv");

        replace_labels("two_body_test");
        assert_int_equal(weights("no_test", true), expected);
        tiny_read(&after, &tiny, "lssar", "forces_magnitude.csv");
        assert_int_equal(before.rows, after.rows);
        int changed = 0;
        for (size_t i = 0; i < before.rows; i++) { /* predictions know nothing of them either */
            assert_string_equal(before.cells[9 * i + 8], after.cells[9 * i + 8]);
            assert_string_equal(before.cells[9 * i + 1], after.cells[9 * i + 1]);
            changed += strcmp(before.cells[9 * i + 7], after.cells[9 * i + 7]) != 0;
        }
        assert_true(changed > 100); /* the labels were indeed replaced */
        orr_csv_free(&before);
        orr_csv_free(&after);

        replace_labels("two_body_val"); /* logged, never learned or selected by */
        assert_int_equal(weights("no_val", false), expected);
        replace_labels("two_body_train"); /* these are what is learned */
        assert_int_not_equal(weights("no_train", false), expected);
        tiny_close(&tiny);
    }
}

/* Forces of the planets that are not labels: the weights, and the predictions of models and oracle,
 * stay what they were when these forces are a thousand times as large. With the study's units they
 * do not: the unit is the largest of all, which is how it leaks. */
struct unlabelled {
    const struct ft_run *run;
    size_t positions, labels;
};

static float enlarge_unlabelled(float value, size_t index, const void *context)
{
    const struct unlabelled *u = context;
    const size_t row = index / 2 % u->positions, s = index / 2 / u->positions;
    for (size_t i = 0; i < u->labels; i++)
        if ((size_t)u->run->labels[s * u->labels + i] == row)
            return value;
    return 1000 * value;
}

static uint64_t vector_weights(const char *run, struct orr_csv *model, struct orr_csv *oracle)
{
    tiny_open_run(&tiny, run);
    assert_int_equal(ft_vector_truth(&tiny.run), 0);
    assert_int_equal(ft_vector_oracle(&tiny.run), 0);
    assert_int_equal(ft_vector_model(&tiny.run, "lssar", "lssar", NULL), 0);
    tiny_read(model, &tiny, "lssar", "forces_vector.csv");
    tiny_read(oracle, &tiny, "oracle", "forces_vector.csv");
    return tiny_tensors(&tiny, "lssar", "vector.safetensors");
}

TEST(test_unlabelled_forces)
{
    for (int kind = 0; kind < 4; kind++) {
        const bool tokens = kind % 2, leaks = kind / 2;
        struct orr_csv before[2], after[2];
        tiny_preset(&tiny.settings, tokens);
        if (leaks)
            tiny.settings.finetune.vector_scale = ORR_VECTOR_LARGEST;
        tiny_open(&tiny);
        tiny_close_run(&tiny);
        const uint64_t expected = vector_weights("original", &before[0], &before[1]);
        const struct unlabelled u = {&tiny.run, (size_t)tiny.run.planets.positions,
                                     (size_t)tiny.settings.planets.labels};
        tiny_change(&tiny, "force_vector", tokens ? "solar_system_two_body" : "planets_solar",
                    enlarge_unlabelled, &u);
        tiny_close_run(&tiny);
        const uint64_t found = vector_weights("enlarged", &after[0], &after[1]);
        assert_true((found == expected) == !leaks);
        for (int source = 0; source < 2; source++) {
            const struct orr_csv *a = &before[source], *b = &after[source];
            size_t same = 0, enlarged = 0;
            assert_int_equal(a->rows, b->rows);
            for (size_t i = 0; i < a->rows; i++) { /* fx, fy; fx_true of unlabelled rows */
                same += !strcmp(a->cells[10 * i + 7], b->cells[10 * i + 7]) &&
                        !strcmp(a->cells[10 * i + 8], b->cells[10 * i + 8]);
                enlarged +=
                    fabs(tiny_cell(b, i, "fx_true")) > 100 * fabs(tiny_cell(a, i, "fx_true"));
            }
            assert_true((same == a->rows) == !leaks);
            assert_true(leaks ||
                        enlarged == a->rows - (size_t)tiny.run.planets.n * (size_t)u.labels);
        }
        for (int source = 0; source < 2; source++) {
            orr_csv_free(&before[source]);
            orr_csv_free(&after[source]);
        }
        tiny_close(&tiny);
    }
}

/* A sequence's last row is no input of a model. What is known about it reaches neither weights nor
 * the loss's transform, nor the oracle, which is to learn from the same rows as models do. */
static float replace_last_row(float value, size_t index, const void *context)
{
    const size_t *shape = context; /* positions, columns */
    const bool last = index / shape[1] % shape[0] == shape[0] - 1;
    return last && isfinite(value) ? (float)(1 + tiny_uniform(6, index)) : value;
}

TEST(test_last_rows)
{
    for (int tokens = 0; tokens < 2; tokens++) {
        tiny_preset(&tiny.settings, tokens);
        tiny_open(&tiny);
        const size_t P = (size_t)tiny.run.train.positions;
        assert_true(isfinite(tiny.run.train.force_magnitude[P - 1]));
        tiny_close_run(&tiny);
        const uint64_t expected = weights("original", true);
        const uint64_t model = tiny_checksum(&tiny, "lssar", "forces_magnitude.csv");
        const uint64_t oracle = tiny_checksum(&tiny, "oracle", "forces_magnitude.csv");
        tiny_change(&tiny, "force_magnitude", "two_body_train", replace_last_row, (size_t[]){P, 1});
        tiny_change(&tiny, "full_state", "two_body_train", replace_last_row, (size_t[]){P, 6});
        tiny_close_run(&tiny);
        assert_int_equal(weights("replaced", true), expected);
        assert_int_equal(tiny_checksum(&tiny, "lssar", "forces_magnitude.csv"), model);
        assert_int_equal(tiny_checksum(&tiny, "oracle", "forces_magnitude.csv"), oracle);
        tiny_close(&tiny);
    }
}

/* Training data that are not there cannot be learned from: held-out sequences never enter. */
TEST(test_sets_are_apart)
{
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    const struct sim_dataset *sets[] = {&tiny.run.train, &tiny.run.val, &tiny.run.test};
    const size_t bytes = 2 * (size_t)tiny.run.train.positions * sizeof(float);
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++)
            for (size_t i = 0; i < sets[a]->n; i++)
                for (size_t j = a == b ? i + 1 : 0; j < sets[b]->n; j++)
                    assert_memory_not_equal((const char *)sets[a]->coords + i * bytes,
                                            (const char *)sets[b]->coords + j * bytes, bytes);
    tiny_close(&tiny);
}

/* ------------------------------------------------------------------ where training starts */

/* Makes a pretrained checkpoint with weights of its own, and an average that differs. */
static void pretrained(const char *path, bool average)
{
    struct gpt_config c;
    struct gpt_model model;
    assert_int_equal(
        gpt_config_from_preset(&c, &tiny.settings, "lssar", tiny.settings.orbits.positions), 0);
    assert_int_equal(gpt_create(&model, &c, &k_ref, 77), 0);
    if (average) {
        model.average = orr_alloc(model.total, sizeof(real));
        assert_non_null(model.average);
        for (size_t i = 0; i < model.total; i++)
            model.average[i] = model.param[i] * (real)0.5;
    }
    assert_int_equal(gpt_save(&model, path, 5, false, NULL), 0);
    gpt_free(&model);
}

/* With a vanishing learning rate the weights stay where they began: the checkpoint's (its average,
 * where it has one) before the head; the head is new, the same for every start. */
TEST(test_start)
{
    static real head[8], first[3][8];
    tiny_preset(&tiny.settings, false);
    tiny.settings.finetune.magnitude.steps = 1;
    tiny.settings.finetune.magnitude.lr = 1e-12;
    tiny.settings.finetune.magnitude.weight_decay = 0;
    tiny_open(&tiny);
    for (int kind = 0; kind < 3; kind++) {
        char from[4096], path[4096];
        struct gpt_model model, start;
        scratch_path(from, tiny.dir, "pretrained.safetensors");
        pretrained(from, kind == 1);
        tiny.run.force = kind > 0;
        assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", kind < 2 ? from : NULL),
                         0);
        tiny_path(path, &tiny, "lssar", "magnitude.safetensors");
        assert_int_equal(gpt_load(&model, path, &k_ref, NULL), 0);
        assert_int_equal(gpt_load(&start, from, &k_ref, NULL), 0);
        assert_int_equal(model.config.outputs, 1);
        gpt_swap_average(&start);
        for (int i = 0; i < start.head_w; i++)
            for (size_t j = 0; j < start.table[i].count && kind < 2; j++)
                assert_true(
                    fabs((double)gpt_param(&model, i)[j] - (double)gpt_param(&start, i)[j]) < 1e-7);
        memcpy(first[kind], gpt_param(&model, model.embed_w), sizeof first[kind]);
        if (kind == 0)
            memcpy(head, gpt_param(&model, model.head_w), sizeof head);
        for (int j = 0; j < 8; j++)
            assert_true(fabs((double)gpt_param(&model, model.head_w)[j] - (double)head[j]) < 1e-7);
        gpt_free(&model);
        gpt_free(&start);
    }
    assert_memory_not_equal(first[0], first[1], sizeof head); /* three different starts */
    assert_memory_not_equal(first[0], first[2], sizeof head);
    tiny_close(&tiny);
}

/* A checkpoint of another attention or length is refused, by name, and nothing is written. */
TEST(test_wrong_start)
{
    char from[4096], folder[4096];
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    scratch_path(from, tiny.dir, "pretrained.safetensors");
    pretrained(from, false);
    assert_int_equal(ft_magnitude_model(&tiny.run, "x", "softmax", from), ORR_EINVAL);
    error_names(from, "attention", "lssar", "softmax", NULL);
    assert_int_equal(ft_vector_model(&tiny.run, "x", "lssar", from), ORR_EINVAL);
    error_names(from, "context", "32", "50", NULL);
    tiny_path(folder, &tiny, "x", "");
    assert_false(orr_exists(folder));
    tiny_close(&tiny);
}

/* A finished fine-tuning is not repeated with resume; without, or with other settings, it is
 * refused, and with force it starts anew and ends in the same bytes. */
TEST(test_resume)
{
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
    assert_int_equal(ft_vector_model(&tiny.run, "lssar", "lssar", NULL), 0);
    static const char *const files[] = {"magnitude.safetensors", "forces_magnitude.csv",
                                        "vector.safetensors", "forces_vector.csv",
                                        "magnitude.jsonl"};
    uint64_t sum[5];
    for (int i = 0; i < 5; i++)
        sum[i] = tiny_checksum(&tiny, "lssar", files[i]);
    for (int resume = 1; resume >= 0; resume--) {
        tiny.run.resume = resume;
        if (!resume)
            assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), ORR_EINVAL);
        tiny.run.force = !resume;
        assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
        assert_int_equal(ft_vector_model(&tiny.run, "lssar", "lssar", NULL), 0);
        for (int i = 0; i < 4 + resume; i++) /* the log of a new run has other speeds */
            assert_int_equal(tiny_checksum(&tiny, "lssar", files[i]), sum[i]);
    }
    tiny.run.resume = true;
    tiny.run.force = false;
    tiny.settings.finetune.magnitude.lr *= 2;
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), ORR_EINVAL);
    assert_int_equal(tiny_checksum(&tiny, "lssar", files[0]), sum[0]);
    tiny.run.force = true;
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
    assert_int_not_equal(tiny_checksum(&tiny, "lssar", files[0]), sum[0]);
    tiny_close(&tiny);
}

TESTS_ON_REF(NULL, NULL)
