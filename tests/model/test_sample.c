/* test_sample.c - a text is continued by draws from the logits: their frequencies, the top k, the
 * most probable token; and by the rows that a pass over the whole context gives. */
#include "tiny.h"

#include "model/sample.h"

static uint16_t draw(const real *logits, int n, double temperature, int top_k, double u)
{
    const struct gpt_sampling s = {.temperature = temperature, .top_k = top_k};
    uint16_t token = 999;
    assert_int_equal(gpt_sample_draw(logits, n, &s, u, &token), 0);
    return token;
}

/* Tokens of probabilities 0.1, 0.4, 0.2, 0.3: the cumulative ones are 0.1, 0.5, 0.7, 1. */
TEST(draws_follow_the_probabilities)
{
    real logits[4];
    const double p[4] = {0.1, 0.4, 0.2, 0.3};
    for (int i = 0; i < 4; i++)
        logits[i] = (real)(log(p[i]) + 2.385);
    const double edge[4] = {0.1, 0.5, 0.7, 1};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(draw(logits, 4, 1, 0, edge[i] - 1e-6), i);
        assert_int_equal(draw(logits, 4, 1, 0, i ? edge[i - 1] + 1e-6 : 0), i);
    }
    /* temperature 1/2: squares 0.01, 0.16, 0.04, 0.09 of sum 0.3 */
    assert_int_equal(draw(logits, 4, 0.5, 0, 0.01 / 0.3 + 1e-6), 1);
    assert_int_equal(draw(logits, 4, 0.5, 0, 0.17 / 0.3 - 1e-6), 1);
    assert_int_equal(draw(logits, 4, 0.5, 0, 0.17 / 0.3 + 1e-6), 2);
    /* the two most probable ones, 0.4 and 0.3 of 0.7 */
    assert_int_equal(draw(logits, 4, 1, 2, 0), 1);
    assert_int_equal(draw(logits, 4, 1, 2, 0.4 / 0.7 - 1e-6), 1);
    assert_int_equal(draw(logits, 4, 1, 2, 0.4 / 0.7 + 1e-6), 3);
    assert_int_equal(draw(logits, 4, 1, 2, 0.999999), 3);
    /* three, in the order of tokens: 0.4, 0.2 and 0.3 of 0.9 */
    assert_int_equal(draw(logits, 4, 1, 3, 0.4 / 0.9 + 1e-6), 2);
    assert_int_equal(draw(logits, 4, 1, 3, 0.6 / 0.9 - 1e-6), 2);
    assert_int_equal(draw(logits, 4, 1, 3, 0.6 / 0.9 + 1e-6), 3);
    for (int k = 0; k < 10; k++) { /* the most probable, whatever is drawn */
        assert_int_equal(draw(logits, 4, 0, 0, 0.1 * k), 1);
        assert_int_equal(draw(logits, 4, 3, 1, 0.1 * k), 1);
    }
}

TEST(ties_and_extremes)
{
    const real same[3] = {1.5F, 1.5F, 1.5F}, far[3] = {-3e38F, 3e38F, -3e38F};
    assert_int_equal(draw(same, 3, 0, 0, 0.9), 0); /* the lower one */
    assert_int_equal(draw(same, 3, 1, 2, 0.49), 0);
    assert_int_equal(draw(same, 3, 1, 2, 0.999), 1);
    assert_int_equal(draw(same, 3, 1, 3, 0.999), 2);
    assert_int_equal(draw(same, 3, 1, 99, 0.999), 2); /* more than there are */
    assert_int_equal(draw(far, 3, 1e-6, 0, 0), 1);
    assert_int_equal(draw(far, 3, 1e-6, 0, 0.999999), 1);
    const real broken[3] = {0, NAN, 1};
    uint16_t token;
    const struct gpt_sampling s = {.temperature = 1};
    assert_int_equal(gpt_sample_draw(broken, 3, &s, 0.5, &token), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "token 1 is not finite"));
}

/* The most probable token after the last `rows` tokens, by a pass over these alone. */
static uint16_t best_after(struct gpt_model *model, const uint16_t *tokens, size_t rows)
{
    struct gpt_batch batch;
    const real *out;
    uint16_t best = 0;
    assert_int_equal(gpt_batch_create(&batch, &model->config, 1, (int)rows), 0);
    memcpy(batch.tokens, tokens, rows * sizeof *tokens);
    assert_int_equal(gpt_forward(model, &batch, &out), 0);
    out += (rows - 1) * (size_t)model->config.vocab;
    for (int i = 1; i < model->config.vocab; i++)
        if (out[i] > out[best])
            best = (uint16_t)i;
    gpt_batch_free(&batch);
    return best;
}

/* Each token is the most probable one after its context: all tokens before it up to the model's
 * context; where that was full, from its second half on. */
TEST(tokens_follow_their_context)
{
    enum { COUNT = 40 };
    const struct gpt_sampling most = {.temperature = 0};
    for (int given = 1; given <= 27; given += 13) {
        struct gpt_config c = tiny_text(given % 2);
        struct gpt_model model;
        uint16_t tokens[COUNT];
        assert_int_equal(gpt_create(&model, &c, &k_ref, 2), 0);
        tiny_enlarge(&model);
        for (int i = 0; i < given; i++)
            tokens[i] = (uint16_t)(tiny_uniform(5, (uint64_t)i) * c.vocab);
        assert_int_equal(gpt_sample(&model, &most, tokens, (size_t)given, COUNT), 0);
        int start = given > c.context ? given - c.context : 0;
        for (int at = given; at < COUNT; at++) {
            if (at - start > c.context)
                start = at - c.context / 2;
            assert_int_equal(tokens[at], best_after(&model, tokens + start, (size_t)(at - start)));
        }
        gpt_free(&model);
    }
}

/* A seed and an index give one text, whatever else is drawn; a longer one begins with a shorter. */
TEST(a_seed_is_a_text)
{
    enum { COUNT = 30 };
    struct gpt_config c = tiny_text(1);
    struct gpt_model model;
    uint16_t text[4][COUNT] = {{3}, {3}, {3}, {3}};
    const struct gpt_sampling way[4] = {
        {1.3, 0, 7, 2}, {1.3, 0, 7, 2}, {1.3, 0, 8, 2}, {1.3, 0, 7, 3}};
    assert_int_equal(gpt_create(&model, &c, &k_ref, 2), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(gpt_sample(&model, &way[i], text[i], 1, COUNT), 0);
    assert_memory_equal(text[0], text[1], sizeof text[0]);
    assert_memory_not_equal(text[0], text[2], sizeof text[0]);
    assert_memory_not_equal(text[0], text[3], sizeof text[0]);
    memset(text[1] + 1, 0, sizeof text[1] - sizeof text[1][0]);
    assert_int_equal(gpt_sample(&model, &way[0], text[1], 1, 9), 0);
    assert_memory_equal(text[0], text[1], 9 * sizeof text[0][0]);
    for (int i = 0; i < COUNT; i++)
        assert_true(text[0][i] < c.vocab);
    assert_int_equal(gpt_sample(&model, &way[0], text[0], 0, 9), ORR_EINVAL);
    gpt_free(&model);
    c = tiny_tokens();
    assert_int_equal(gpt_create(&model, &c, &k_ref, 2), 0);
    assert_int_equal(gpt_sample(&model, &way[0], text[0], 1, 9), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "expected a model of text"));
    gpt_free(&model);
}

TESTS(NULL, NULL)
