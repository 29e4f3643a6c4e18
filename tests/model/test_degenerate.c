/* test_degenerate.c - the counter of degenerate rows: with q = k = 0 every row is uniform, and
 * those that are shifted are degenerate - all after the third, in every layer and head. */
#include "tiny.h"

#include <cjson/cJSON.h>

static char *const dir = scratch_dir;

static void make_uniform(struct gpt_model *model, const struct gpt_config *config,
                         const struct k_ops *ops)
{
    assert_int_equal(gpt_create(model, config, ops, 4), 0);
    for (int l = 0; l < config->layers; l++) {
        memset(gpt_param(model, model->block[l].qkv_w), 0, 3 * 18 * 18 * sizeof(real));
        memset(gpt_param(model, model->block[l].qkv_b), 0, 3 * 18 * sizeof(real));
    }
}

static long count(struct gpt_model *model, int B, int T)
{
    struct gpt_batch batch;
    const real *out;
    long rows = -1;
    assert_int_equal(gpt_batch_create(&batch, &model->config, B, T), 0);
    tiny_fill(&batch, &model->config, 5);
    assert_int_equal(gpt_forward(model, &batch, &out), 0);
    for (int i = 0; i < B * T * model->config.outputs; i++)
        assert_true(isfinite(out[i]));
    assert_int_equal(gpt_degenerate_rows(model, &rows), 0);
    gpt_batch_free(&batch);
    return rows;
}

TEST(test_count)
{
    static const struct {
        const char *attention;
        int window, degenerate;                         /* of a head with 11 positions */
    } cases[] = {{"lssar", 0, 8},      {"lssar", 5, 8}, /* uniform rows of 4 and of 5 keys */
                 {"lssar", 3, 0},                       /* no row is shifted */
                 {"rw_softmax", 0, 8}, {"lssa", 0, 0},  {"softmax", 0, 0},
                 {"relu_li", 0, 11}}; /* all scores are 0: no sum to divide by */
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        assert_int_equal((*ops)->open(2, false), 0);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct gpt_config c = tiny_continuous();
            struct gpt_model model;
            long rows;
            strcpy(c.attention, cases[i].attention);
            c.attention_window = cases[i].window;
            make_uniform(&model, &c, *ops);
            assert_int_equal(gpt_degenerate_rows(&model, &rows), ORR_EINVAL);
            error_names("forward", NULL);
            const long each = (long)c.layers * c.heads * cases[i].degenerate;
            assert_int_equal(count(&model, 5, 11), 5 * each);
            assert_int_equal(count(&model, 2, 11), 2 * each); /* none of the larger batch before */
            assert_int_equal(count(&model, 2, 3), strcmp(c.attention, "relu_li") ? 0 : 2 * 2 * 9);
            gpt_free(&model);
        }
        (*ops)->close();
    }
}

/* The log of a step counts the rows of its last pass. */
TEST_BETWEEN(test_logged, scratch_setup, scratch_teardown)
{
    struct gpt_config c = tiny_continuous();
    struct orr_train_settings t = tiny_training(1, 3);
    struct tiny_data data;
    struct gpt_model model;
    char *text;
    long step = 0;
    strcpy(c.attention, "lssar");
    t.accumulation = 2;
    tiny_data_create(&data, &c, 30);
    make_uniform(&model, &c, &k_ref);
    struct gpt_task task = tiny_task(&data, dir);
    task.evaluate = NULL;
    assert_int_equal(gpt_train(&model, &t, &task, &step), 0);
    assert_int_equal(orr_file_read(scratch_at(dir, "log.jsonl"), &text, NULL), 0);
    cJSON *json = cJSON_Parse(text);
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(json, "degenerate_rows");
    assert_non_null(rows);
    assert_int_equal(rows->valueint, 2 * 3 * 3 * 8); /* layers, heads, sequences, rows */
    cJSON_Delete(json);
    free(text);
    gpt_batch_free(&data.held_out);
    gpt_free(&model);
}

TESTS(NULL, NULL)
