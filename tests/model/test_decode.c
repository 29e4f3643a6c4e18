/* test_decode.c - rows one by one, with what is kept of those before them, are the rows of a pass
 * over all of them; outputs in pieces are those of the whole head. */
#include "tiny.h"

#include "activations.h"
#include "decode.h"

enum { B = 3, T = 11, LONG = 45 };

static void copy_row(struct gpt_batch *to, const struct gpt_batch *from, const struct gpt_config *c,
                     int t)
{
    const size_t F = (size_t)gpt_config_features(c), channels = (size_t)gpt_config_channels(c);
    for (size_t b = 0; b < B; b++) {
        const size_t n = b * (size_t)from->T + (size_t)t;
        if (from->tokens)
            memcpy(to->tokens + n * channels, from->tokens + n * channels,
                   channels * sizeof *to->tokens);
        else
            memcpy(to->features + n * F, from->features + n * F, F * sizeof *to->features);
    }
}

/* Row t of all sequences: the same bits by ref, rounding by others. */
static void check_row(const struct gpt_model *model, const real *all, const real *out, int t)
{
    const struct gpt_config *c = &model->config;
    const size_t OC = (size_t)c->outputs;
    for (size_t b = 0; b < B; b++)
        for (size_t k = 0; k < OC; k++) {
            const double found = (double)out[b * OC + k];
            const double expected = (double)all[(b * (size_t)c->context + (size_t)t) * OC + k];
            if (model->ops == &k_ref ? found != expected
                                     : !(fabs(found - expected) < 1e-4 * (1 + fabs(expected))))
                fail_msg(
                    "%s, %s, positions %d, window %d, recompute %d, gate %d: row %d of sequence "
                    "%zu: %g instead of %g",
                    model->ops->name, c->attention, (int)c->positions, c->attention_window,
                    c->recompute, (int)c->gate, t, b, found, expected);
        }
}

static void check_decoder(const struct gpt_config *c, const struct k_ops *ops, int first,
                          const struct gpt_activation_patch *patch)
{
    struct gpt_model model;
    struct gpt_batch known, batch;
    struct gpt_decoder decoder;
    const size_t n = B * (size_t)c->context * (size_t)c->outputs;
    const real *out;
    real *all = orr_alloc(n, sizeof *all);
    assert_non_null(all);
    assert_int_equal(gpt_create(&model, c, ops, 2), 0);
    tiny_enlarge(&model);
    model.patch = patch;
    assert_int_equal(gpt_batch_create(&known, c, B, c->context), 0);
    assert_int_equal(gpt_batch_create(&batch, c, B, c->context), 0);
    tiny_fill(&known, c, 10);
    tiny_fill(&batch, c, 77); /* rows that nobody knows yet */
    assert_int_equal(gpt_forward(&model, &known, &out), 0);
    memcpy(all, out, n * sizeof *all);
    for (int t = 0; t <= first; t++)
        copy_row(&batch, &known, c, t);
    assert_int_equal(gpt_decoder_open(&decoder, &model, &batch), 0);
    assert_int_equal(gpt_decoder_first(&decoder, first, &out), 0);
    check_row(&model, all, out, first);
    for (int t = first + 1; t < c->context; t++) {
        copy_row(&batch, &known, c, t);
        assert_int_equal(gpt_decoder_next(&decoder, t, &out), 0);
        check_row(&model, all, out, t);
    }
    gpt_decoder_close(&decoder);
    assert_int_equal(gpt_forward(&model, &known, &out), 0); /* as if nothing had been */
    assert_true(tiny_same(out, all, n));
    gpt_batch_free(&known);
    gpt_batch_free(&batch);
    gpt_free(&model);
    free(all);
}

/* Every line of the table, of every kind of input, by every backend. */
TEST(test_decoder)
{
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        assert_int_equal((*ops)->open(2, false), 0);
        for (const struct k_attention *a = k_attention_table; a->name; a++)
            for (int kind = 0; kind < 3 * 3 * 2; kind++) {
                struct gpt_config c = kind % 3 == 0   ? tiny_continuous()
                                      : kind % 3 == 1 ? tiny_tokens()
                                                      : tiny_text(kind % 2);
                snprintf(c.attention, sizeof c.attention, "%s", a->name);
                c.positions = (enum orr_positions)(kind / 3 % 3);
                c.attention_window = kind / 9 ? 4 : 0;
                c.recompute = kind % 4 == 1;
                c.gate = (enum k_gate)(kind % 5 % 3);
                check_decoder(&c, *ops, kind % (T - 1), NULL);
                c.context = LONG; /* more than a tile of the fast backend */
                if (*ops != &k_ref && kind % 3 == 0)
                    check_decoder(&c, *ops, LONG - 6, NULL);
            }
        (*ops)->close();
    }
}

/* What is added to the stream of a row stays in what is kept of it. */
TEST(test_addition)
{
    for (int k = 0; k < 2 * 3 * 3; k++) {
        static const int row[] = {0, 4, 8};
        struct gpt_config c = tiny_continuous();
        real vector[B * 18];
        const struct gpt_activation_patch add = {
            .layer = k / 2 % 3, .row = row[k / 6], .vector = vector};
        c.recompute = k % 2;
        for (size_t i = 0; i < B * 18; i++)
            vector[i] = (real)(tiny_uniform(5, i) - 0.5);
        check_decoder(&c, &k_ref, 5, &add);
    }
}

/* ---- pieces */

enum { VOCABULARY = 65536, ROWS = 100 };

struct seen {
    const real *all;
    size_t rows, pieces;
};

static int see(void *context, size_t first, size_t rows, const real *out)
{
    struct seen *seen = context;
    assert_int_equal(first, seen->rows);
    assert_true(tiny_same(out, seen->all + first * VOCABULARY, rows * VOCABULARY));
    seen->rows += rows;
    seen->pieces++;
    return 0;
}

/* The mean over rows that count of a whole head's losses, row by row. */
static double plain_loss(const struct gpt_batch *batch, const real *all)
{
    double sum = 0, weight = 0;
    for (size_t n = 0; n < 2 * ROWS; n++) {
        const real *row = all + n * VOCABULARY;
        double exponentials = 0;
        for (size_t v = 0; v < VOCABULARY; v++)
            exponentials += exp((double)row[v]);
        sum +=
            (double)batch->weight[n] * (log(exponentials) - (double)row[batch->target_tokens[n]]);
        weight += (double)batch->weight[n];
    }
    return sum / weight;
}

TEST(test_pieces)
{
    struct gpt_config c = tiny_text(1);
    struct gpt_model model;
    struct gpt_batch batch;
    struct seen seen = {0};
    const real *out;
    double loss;
    c.vocab = c.outputs = VOCABULARY;
    c.context = ROWS;
    assert_int_equal(k_cpu()->open(2, false), 0);
    assert_int_equal(gpt_create(&model, &c, k_cpu(), 2), 0);
    tiny_enlarge(&model);
    assert_int_equal(gpt_batch_create(&batch, &c, 2, ROWS), 0);
    tiny_fill(&batch, &c, 3);
    for (size_t n = 0; n < 2 * ROWS; n++) /* the pieces count differently much */
        batch.weight[n] = n < 20 ? 0 : n < 128 ? (real)0.5 : 3;
    real *all = orr_alloc(2 * ROWS * VOCABULARY, sizeof *all);
    assert_non_null(all);
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    memcpy(all, out, 2 * ROWS * VOCABULARY * sizeof *all);
    seen.all = all;
    gpt_free(&model); /* whose memory has room for all */
    assert_int_equal(gpt_create(&model, &c, k_cpu(), 2), 0);
    tiny_enlarge(&model);
    assert_int_equal(gpt_forward_pieces(&model, &batch, see, &seen, &loss), 0);
    assert_int_equal(seen.rows, 2 * ROWS);
    assert_true(seen.pieces > 1);
    assert_true(model.act->out_capacity < ROWS * 2 * VOCABULARY);
    assert_true(fabs(loss - plain_loss(&batch, all)) < 1e-5);
    double alone;
    assert_int_equal(gpt_loss(&model, &batch, &alone), 0);
    assert_true(alone == loss);
    for (size_t n = 0; n < 2 * ROWS; n++)
        batch.weight[n] = 0;
    assert_int_equal(gpt_loss(&model, &batch, &loss), 0);
    assert_true(loss == 0);
    gpt_batch_free(&batch);
    gpt_free(&model);
    free(all);
    k_cpu()->close();
}

/* Batches of an evaluation shrink as models grow. */
TEST(test_evaluation_batch)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 2), 0);
    assert_int_equal(gpt_evaluation_batch(&model, 11, 32), 32);
    assert_int_equal(gpt_evaluation_batch(&model, 1000000, 32), 1);
    const int some = gpt_evaluation_batch(&model, 100000, 32);
    assert_true(some > 1 && some < 32);
    assert_true((double)gpt_activation_bytes(&model, some, 100000) < 1.01 * (1 << 30));
    gpt_free(&model);
}

TESTS(NULL, NULL)
