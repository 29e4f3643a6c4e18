/* test_residual.c - the residual stream that probes read, against sums by hand, with recomputation
 * and on a backend of its own memory; and what is added to it. */
#include <math.h>

#include "base/scratch.h"

#include "guarded_ops.h"
#include "tiny.h"

enum { B = 2 };

static void open_model(struct gpt_model *model, struct gpt_batch *batch, const struct k_ops *ops,
                       bool recompute)
{
    struct gpt_config c = tiny_continuous();
    c.recompute = recompute;
    assert_int_equal(gpt_create(model, &c, ops, 9), 0);
    assert_int_equal(gpt_batch_create(batch, &c, B, c.context), 0);
    tiny_fill(batch, &c, 40);
}

static void close_model(struct gpt_model *model, struct gpt_batch *batch)
{
    gpt_batch_free(batch);
    gpt_free(model);
}

static size_t rows(const struct gpt_model *model)
{
    return B * (size_t)model->config.context;
}

/* Layer 0 is the embedding, and the last one gives the head its outputs through the final norm. */
TEST(test_by_hand)
{
    struct gpt_model model;
    struct gpt_batch batch;
    const real *out, *x;
    open_model(&model, &batch, &k_ref, false);
    const size_t C = (size_t)model.config.width, T = (size_t)model.config.context;
    const size_t F = (size_t)gpt_config_features(&model.config), OC = (size_t)model.config.outputs;
    assert_int_equal(gpt_residual(&model, 0, &x), ORR_EINVAL); /* nothing was fed */
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    assert_int_equal(gpt_residual(&model, 0, &x), 0);
    const real *w = gpt_param(&model, model.embed_w), *b = gpt_param(&model, model.embed_b);
    for (size_t n = 0; n < rows(&model); n++)
        for (size_t c = 0; c < C; c++) {
            double sum = (double)b[c];
            for (size_t f = 0; f < F; f++)
                sum += (double)w[c * F + f] * (double)batch.features[n * F + f];
            if (model.position >= 0)
                sum += (double)gpt_param(&model, model.position)[(n % T) * C + c];
            assert_true(fabs(sum - (double)x[n * C + c]) < 1e-5);
        }
    assert_int_equal(gpt_residual(&model, model.config.layers, &x), 0);
    const real *g = gpt_param(&model, model.final_w), *s = gpt_param(&model, model.final_b);
    const real *hw = gpt_param(&model, model.head_w), *hb = gpt_param(&model, model.head_b);
    for (size_t n = 0; n < rows(&model); n++) {
        double mean = 0, square = 0;
        for (size_t c = 0; c < C; c++)
            mean += (double)x[n * C + c] / (double)C;
        for (size_t c = 0; c < C; c++)
            square += pow((double)x[n * C + c] - mean, 2) / (double)C;
        for (size_t o = 0; o < OC; o++) {
            double sum = (double)hb[o];
            for (size_t c = 0; c < C; c++)
                sum += (double)hw[o * C + c] *
                       (((double)x[n * C + c] - mean) / sqrt(square + 1e-5) * (double)g[c] +
                        (double)s[c]);
            assert_true(fabs(sum - (double)out[n * OC + o]) < 1e-5);
        }
    }
    assert_int_equal(gpt_residual(&model, model.config.layers + 1, &x), ORR_EINVAL);
    assert_int_equal(gpt_residual(&model, -1, &x), ORR_EINVAL);
    error_names("from 0 to", "found -1", NULL);
    close_model(&model, &batch);
}

/* The same numbers with recomputation, and where the memory is the backend's own. */
TEST(test_everywhere)
{
    struct gpt_model model[3];
    struct gpt_batch batch[3];
    const real *out, *x[3];
    for (int k = 0; k < 3; k++) {
        open_model(&model[k], &batch[k], k == 2 ? &guarded_ops : &k_ref, k == 1);
        assert_int_equal(gpt_forward(&model[k], &batch[k], &out), 0);
    }
    for (int layer = 0; layer <= model[0].config.layers; layer++) {
        for (int k = 0; k < 3; k++)
            assert_int_equal(gpt_residual(&model[k], layer, &x[k]), 0);
        const size_t bytes = rows(&model[0]) * (size_t)model[0].config.width * sizeof(real);
        assert_memory_equal(x[0], x[1], bytes);
        assert_memory_equal(x[0], x[2], bytes);
    }
    for (int k = 0; k < 3; k++)
        close_model(&model[k], &batch[k]);
}

/* What is added is there, on its row alone; earlier layers and rows do not see it, later ones
 * do. */
TEST(test_addition)
{
    enum { ROW = 3 };
    struct gpt_model model;
    struct gpt_batch batch;
    const real *out, *x;
    open_model(&model, &batch, &k_ref, false);
    const size_t C = (size_t)model.config.width, T = (size_t)model.config.context;
    const size_t N = rows(&model), L = (size_t)model.config.layers;
    real *was = orr_alloc((L + 1) * N * C, sizeof *was), *vector = orr_alloc(B * C, sizeof *vector);
    assert_true(was && vector);
    for (size_t k = 0; k < B * C; k++)
        vector[k] = (real)(tiny_uniform(77, k) - 0.3);
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    for (size_t l = 0; l <= L; l++) {
        assert_int_equal(gpt_residual(&model, (int)l, &x), 0);
        memcpy(was + l * N * C, x, N * C * sizeof *x);
    }
    for (size_t layer = 0; layer <= L; layer++) {
        const struct gpt_activation_patch add = {(int)layer, ROW, vector};
        model.patch = &add;
        assert_int_equal(gpt_forward(&model, &batch, &out), 0);
        for (size_t l = 0; l <= L; l++) {
            assert_int_equal(gpt_residual(&model, (int)l, &x), 0);
            bool later = false;
            for (size_t k = 0; k < N * C; k++) {
                const size_t row = k / C % T, b = k / C / T;
                const real before = was[l * N * C + k];
                if (l < layer || row < ROW || (l == layer && row > ROW))
                    assert_true(x[k] == before);
                else if (l == layer)
                    assert_true(x[k] == before + vector[b * C + k % C]);
                else
                    later |= row > ROW && x[k] != before;
            }
            assert_int_equal(later, l > layer);
        }
    }
    const struct gpt_activation_patch outside = {0, (int)T, vector};
    model.patch = &outside;
    assert_int_equal(gpt_forward(&model, &batch, &out), ORR_EINVAL);
    model.patch = NULL;
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    assert_int_equal(gpt_residual(&model, (int)L, &x), 0);
    assert_memory_equal(x, was + L * N * C, N * C * sizeof *x);
    close_model(&model, &batch);

    const struct gpt_activation_patch add = {1, ROW, vector};
    open_model(&model, &batch, &guarded_ops, false);
    model.patch = &add;
    assert_int_equal(gpt_forward(&model, &batch, &out), ORR_EUSAGE);
    error_names("residual stream", "--device cpu", NULL);
    close_model(&model, &batch);
    free(was);
    free(vector);
}

TESTS(NULL, NULL)
