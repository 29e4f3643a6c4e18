/* test_recompute.c - blocks that are redone in the backward pass: the same loss and gradients to
 * the last bit, in less memory. */
#include "tiny.h"

static struct gpt_config cases(int i)
{
    struct gpt_config c = i % 2 ? tiny_tokens() : tiny_continuous();
    c.layers = i == 0 ? 1 : 2 + i % 3;
    if (i % 3 == 1)
        c.positions = ORR_POSITIONS_ROPE;
    if (i % 4 > 1)
        c.gate = i % 4 == 2 ? K_GATE_SIGMOID : K_GATE_SOFTPLUS;
    strcpy(c.attention, i % 2 ? "lssar" : i % 4 ? "relu_li" : "softmax");
    return c;
}

static void check(const struct k_ops *ops, struct gpt_config c, uint64_t stream)
{
    struct gpt_model kept, redone;
    struct gpt_batch batch;
    long degenerate[2];
    double loss[2];
    assert_int_equal(gpt_create(&kept, &c, ops, 9), 0);
    c.recompute = true;
    assert_int_equal(gpt_create(&redone, &c, ops, 9), 0);
    tiny_enlarge(&kept);
    tiny_enlarge(&redone);
    assert_int_equal(gpt_batch_create(&batch, &c, 3, c.context), 0);
    for (uint64_t pass = 0; pass < 3; pass++) { /* gradients add up; an evaluation in between */
        tiny_fill(&batch, &c, stream + 10 * pass);
        assert_int_equal(gpt_loss_backward(&kept, &batch, &loss[0]), 0);
        assert_int_equal(gpt_loss_backward(&redone, &batch, &loss[1]), 0);
        assert_true(loss[0] == loss[1]);
        assert_int_equal(gpt_degenerate_rows(&kept, &degenerate[0]), 0);
        assert_int_equal(gpt_degenerate_rows(&redone, &degenerate[1]), 0);
        assert_int_equal(degenerate[0], degenerate[1]);
        assert_true(tiny_same(kept.grad, redone.grad, kept.total));
        assert_int_equal(gpt_loss(&kept, &batch, &loss[0]), 0);
        assert_int_equal(gpt_loss(&redone, &batch, &loss[1]), 0);
        assert_true(loss[0] == loss[1]);
    }
    for (int l = 0; l < c.layers; l++) {
        const real *qkv;
        assert_int_equal(gpt_layer_qkv(&redone, l, &qkv), 0);
        assert_int_equal(qkv != NULL, l == c.layers - 1);
    }
    gpt_batch_free(&batch);
    gpt_free(&kept);
    gpt_free(&redone);
}

TEST(test_same_bits)
{
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        assert_int_equal((*ops)->open(2, false), 0);
        for (int i = 0; i < 8; i++)
            check(*ops, cases(i), 70 + (uint64_t)i);
        (*ops)->close();
    }
}

/* Only the inputs of further blocks are kept: each costs N C numbers. */
TEST(test_memory)
{
    struct gpt_config c = tiny_continuous();
    size_t bytes[2][3];
    const int B = 4, T = 8, N = B * T;
    for (int recompute = 0; recompute < 2; recompute++)
        for (int layers = 1; layers <= 3; layers++) {
            struct gpt_model model;
            c.recompute = recompute;
            c.layers = layers;
            assert_int_equal(gpt_create(&model, &c, &k_ref, 9), 0);
            bytes[recompute][layers - 1] = gpt_activation_bytes(&model, B, T);
            gpt_free(&model);
        }
    assert_int_equal(bytes[1][0], bytes[0][0]);
    for (int i = 1; i < 3; i++) {
        const size_t more = bytes[1][i] - bytes[1][i - 1];
        assert_int_equal(more, (size_t)(N * c.width) * sizeof(real)); /* a multiple of 64 */
        assert_true(bytes[0][i] - bytes[0][i - 1] > 10 * more);
    }
}

/* It is no part of a checkpoint: files are the same and can be read either way. */
TEST(test_checkpoint)
{
    struct gpt_config c = tiny_continuous(), other = c;
    struct gpt_model model, read;
    char path[4096];
    uint64_t sum[2], bytes;
    other.recompute = true;
    for (int i = 0; i < 2; i++) {
        const struct gpt_config *made = i ? &other : &c, *wanted = i ? &c : &other;
        tiny_trained(&model, made);
        scratch_path(path, scratch_dir, i ? "redone" : "kept");
        assert_int_equal(gpt_save(&model, path, 3, true, NULL), 0);
        assert_int_equal(orr_file_checksum(path, &sum[i], &bytes), 0);
        assert_int_equal(gpt_load_as(&read, path, wanted, false, &k_ref, NULL), 0);
        assert_int_equal(read.config.recompute, wanted->recompute);
        gpt_free(&model);
        gpt_free(&read);
    }
    assert_int_equal(sum[0], sum[1]);
}

TESTS(scratch_setup, scratch_teardown)
