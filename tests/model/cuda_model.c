/* cuda_model.c - whole models on the CUDA backend beside ref: losses, gradients and trained weights
 * within what rounding explains, the same bits every time, recorded and not; checkpoints of one go
 * on on the other. On the emulated device in `make check`, on a GPU in `make check-gpu`. */
#include "activations.h"
#include "nonfinite.h"
#include "tiny.h"

#include <stdlib.h>

static char *const dir = scratch_dir;
static const struct k_ops *cuda;

static void get(const struct k_ops *ops, real *to, const real *tensor, size_t count)
{
    assert_int_equal(ops->download(to, tensor, count * sizeof *to), 0);
}

/* As tiny_enlarge; then every weight changes by so much of itself at most. */
static void enlarge(struct gpt_model *model, double change)
{
    real *w = orr_alloc(model->total, sizeof *w);
    for (int i = 0; i < model->parameters; i++) {
        const size_t n = model->table[i].count;
        get(model->ops, w, gpt_param(model, i), n);
        for (size_t j = 0; j < n; j++)
            w[j] = (real)(((double)w[j] + 0.5 * (tiny_uniform(900 + (uint64_t)i, j) - 0.5)) *
                          (1 + change * (2 * tiny_uniform(7000 + (uint64_t)i, j) - 1)));
        assert_int_equal(model->ops->upload(gpt_param(model, i), w, n * sizeof *w), 0);
    }
    free(w);
}

enum { KINDS = 10, BF16 = 6 };
/* Every input and head, kinds of positions, a gate, a window, recomputation. From BF16 on models
 * whose blocks have bf16 tensors at bf16: rows of whole pieces of 16 bytes, no gate, no rope. */
static struct gpt_config config_of(int kind)
{
    static const char *const attention[] = {"softmax", "lssar", "phi_relu"};
    if (kind == BF16 + 3) { /* without recomputation, too */
        struct gpt_config c = config_of(BF16 + 1);
        c.recompute = 0;
        return c;
    }
    if (kind >= BF16) {
        struct gpt_config c = config_of(kind - BF16);
        c.width = kind == BF16 + 1 ? 96 : 24; /* heads of 32 are read, and overwritten, in place */
        c.ffn = 40;
        c.positions = kind == BF16 + 1 ? ORR_POSITIONS_NONE : ORR_POSITIONS_LEARNED;
        if (kind == BF16 + 2) { /* sums of phi_relu near 0 hide what is measured here */
            c.attention_window = 4;
            snprintf(c.attention, sizeof c.attention, "softmax");
        }
        return c;
    }
    struct gpt_config c = kind % 3 == 0   ? tiny_continuous()
                          : kind % 3 == 1 ? tiny_tokens()
                                          : tiny_text(kind == 2);
    c.head_bias = kind == 4;
    c.positions = (enum orr_positions)((kind + kind / 3) % 3);
    c.gate = kind == 3 ? K_GATE_SOFTPLUS : kind == 5 ? K_GATE_SIGMOID : K_GATE_NONE;
    c.recompute = kind == 1;
    c.attention_window = kind == 5 ? 4 : 0;
    snprintf(c.attention, sizeof c.attention, "%s", attention[(kind + kind / 3) % 3]);
    return c;
}

static double distance(const real *a, const real *b, size_t n)
{
    double apart = 0;
    for (size_t i = 0; i < n; i++)
        apart += pow((double)a[i] - (double)b[i], 2);
    return sqrt(apart);
}

/* Passes over four batches, adding up: the first runs, the second is recorded, then replayed. */
static void passes(struct gpt_model *model, double change, double loss[5], real *grad,
                   long *degenerate)
{
    struct gpt_batch batch;
    enlarge(model, change);
    assert_int_equal(gpt_batch_create(&batch, &model->config, 3, model->config.context), 0);
    assert_int_equal(gpt_zero_grad(model), 0);
    for (uint64_t k = 0; k < 4; k++) {
        tiny_fill(&batch, &model->config, 50 + 10 * k);
        batch.weight[2] = (real)0.25;
        assert_int_equal(gpt_loss_backward(model, &batch, &loss[k]), 0);
    }
    assert_int_equal(gpt_degenerate_rows(model, degenerate), 0);
    assert_int_equal(gpt_loss(model, &batch, &loss[4]), 0);
    get(model->ops, grad, model->grad, model->total);
    gpt_batch_free(&batch);
}

/* Arithmetic that rounds gives the exact result of inputs a little different (as in
 * test_whole_gradient.c): what ref's results change by when its weights do is what rounding may
 * change them by, but for a factor, as it happens in every operation. */
static void check_passes(enum k_precision precision, double roundoff)
{
    enum { FACTOR = 12 };
    for (int kind = 0; kind < KINDS; kind++) {
        const struct gpt_config c = config_of(kind);
        struct gpt_model model;
        double loss[4][5]; /* of ref, of ref with changed weights, of cuda, once more */
        long degenerate[4];
        real *grad[4];
        assert_int_equal(cuda->open(1, precision), 0);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(gpt_create(&model, &c, i < 2 ? &k_ref : cuda, 5), 0);
            grad[i] = orr_alloc(model.total, sizeof(real));
            passes(&model, i == 1 ? roundoff : 0, loss[i], grad[i], &degenerate[i]);
            if (i < 3)
                gpt_free(&model);
        }
        const double whole = distance(grad[0], grad[1], model.total);
        for (int i = 0; i < model.parameters; i++) {
            const size_t at = model.table[i].offset, n = model.table[i].count;
            const double apart = distance(grad[2] + at, grad[0] + at, n);
            const double change = distance(grad[1] + at, grad[0] + at, n);
            if (!(apart <= FACTOR * fmax(change, 0.01 * whole)))
                fail_msg("kind %d, gradient of %s: %.3g from ref, which changes by %.3g", kind,
                         model.table[i].name, apart, change);
        }
        double change = 0;
        for (int k = 0; k < 5; k++)
            change = fmax(change, fabs(loss[1][k] - loss[0][k]));
        for (int k = 0; k < 5; k++)
            if (!(fabs(loss[2][k] - loss[0][k]) <= FACTOR * change))
                fail_msg("kind %d, pass %d: loss %.9g, of ref %.9g, which changes by %.3g", kind, k,
                         loss[2][k], loss[0][k], change);
        /* the same bits every time */
        assert_memory_equal(loss[2], loss[3], sizeof loss[2]);
        assert_true(tiny_same(grad[2], grad[3], model.total));
        assert_int_equal(degenerate[2], degenerate[3]);
        if (precision == K_PRECISION_FP32)
            assert_int_equal(degenerate[2], degenerate[0]);
        for (int i = 0; i < 4; i++)
            free(grad[i]);
        gpt_free(&model);
        cuda->close();
    }
}

TEST(test_passes_fp32)
{
    check_passes(K_PRECISION_FP32, 8 * 0x1p-24); /* the longest sum is of 54 numbers */
}

TEST(test_passes_bf16)
{
    check_passes(K_PRECISION_BF16, 0x1p-9);
}

/* Blocks of bf16 and of float tensors, at bf16: as far apart as rounding explains, and both the
 * same when replayed. What the host sees of a layer is what a backend without bf16 tensors shows,
 * rounded. */
TEST(test_bf16)
{
    enum { FACTOR = 4 };
    struct k_ops wide = *cuda;
    wide.has_bf16_tensors = NULL;
    for (int kind = 0; kind < KINDS; kind++) {
        const struct gpt_config c = config_of(kind);
        struct gpt_model model;
        double loss[3][5], largest = 0;
        long degenerate;
        real *grad[3], *kept = NULL;
        const real *qkv;
        assert_int_equal(cuda->open(1, K_PRECISION_BF16), 0);
        const size_t rows = 3 * (size_t)c.context, count = rows * 3 * (size_t)c.width;
        for (int i = 0; i < 3; i++) { /* bf16, float, ref with changed weights */
            const struct k_ops *ops = i == 0 ? cuda : i == 1 ? &wide : &k_ref;
            assert_int_equal(gpt_create(&model, &c, ops, 5), 0);
            grad[i] = orr_alloc(model.total, sizeof(real));
            passes(&model, i == 2 ? 0x1p-9 : 0, loss[i], grad[i], &degenerate);
            assert_true(model.act->bf16 == (i == 0 && kind >= BF16));
            assert_int_equal(gpt_layer_qkv(&model, c.layers - 1, &qkv), 0);
            if (i == 0)
                kept = orr_alloc(count, sizeof *kept);
            for (size_t k = 0; k < count && i == 0; k++) {
                kept[k] = qkv[k];
                largest = fmax(largest, fabs((double)qkv[k]));
            }
            for (size_t k = 0; k < count && i == 1; k++) /* of 2 layers, a rounding in each */
                assert_true(fabs((double)kept[k] - (double)qkv[k]) <= 0x1p-5 * largest);
            if (i < 2)
                gpt_free(&model);
        }
        assert_true(largest > 0.1);
        const double change = distance(grad[2], grad[1], model.total);
        const double apart = distance(grad[0], grad[1], model.total);
        if (!(apart <= FACTOR * change))
            fail_msg("kind %d: %.3g apart, rounding of weights is %.3g", kind, apart, change);
        assert_true((apart > 0) == (kind >= BF16));
        for (int k = 0; k < 5; k++)
            assert_true(fabs(loss[0][k] - loss[1][k]) <= 0x1p-8 * fabs(loss[1][k]));
        for (int i = 0; i < 3; i++)
            free(grad[i]);
        free(kept);
        gpt_free(&model);
        cuda->close();
    }
}

/* A model lives on when its backend is opened anew, with bf16 tensors no longer or again. */
TEST(test_another_precision)
{
    static const enum k_precision precisions[] = {K_PRECISION_BF16, K_PRECISION_FP32,
                                                  K_PRECISION_BF16};
    const struct gpt_config c = config_of(BF16);
    struct gpt_model model, fresh;
    struct gpt_batch batch;
    double loss[2];
    assert_int_equal(cuda->open(1, K_PRECISION_BF16), 0);
    assert_int_equal(gpt_create(&model, &c, cuda, 5), 0);
    assert_int_equal(gpt_batch_create(&batch, &c, 2, c.context), 0);
    tiny_fill(&batch, &c, 50);
    for (size_t k = 0; k < sizeof precisions / sizeof *precisions; k++) {
        cuda->close();
        assert_int_equal(cuda->open(1, precisions[k]), 0);
        assert_int_equal(gpt_loss(&model, &batch, &loss[0]), 0);
        assert_true(model.act->bf16 == (precisions[k] == K_PRECISION_BF16));
        assert_int_equal(gpt_create(&fresh, &c, cuda, 5), 0);
        assert_int_equal(gpt_loss(&fresh, &batch, &loss[1]), 0);
        assert_true(memcmp(&loss[0], &loss[1], sizeof loss[0]) == 0);
        gpt_free(&fresh);
    }
    gpt_batch_free(&batch);
    gpt_free(&model);
    cuda->close();
}

/* The first layer with a number that is not finite is named, though its numbers are bf16. */
TEST(test_first_bad_layer)
{
    const struct gpt_config c = config_of(BF16);
    struct gpt_model model;
    struct gpt_batch batch;
    assert_int_equal(cuda->open(1, K_PRECISION_BF16), 0);
    assert_int_equal(gpt_create(&model, &c, cuda, 5), 0);
    assert_int_equal(gpt_batch_create(&batch, &c, 2, c.context), 0);
    tiny_fill(&batch, &c, 50);
    const struct gpt_block *b = &model.block[1];
    const struct {
        int parameter;
        const char *name;
    } known[] = {{b->ln1_w, "block.1.ln1"},
                 {b->qkv_b, "block.1.attention.qkv"},
                 {b->proj_b, "block.1.attention.proj"},
                 {b->ln2_b, "block.1.ln2"},
                 {b->up_b, "block.1.ffn.up"},
                 {b->down_b, "block.1.ffn.down"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        real kept;
        const real none = (real)NAN;
        real *w = gpt_param(&model, known[k].parameter);
        get(cuda, &kept, w, 1);
        assert_int_equal(cuda->upload(w, &none, sizeof none), 0);
        assert_int_equal(gpt_diverged_loss(&model, &batch, 7), ORR_EDIVERGED);
        if (!strstr(orr_error(), known[k].name))
            fail_msg("%s: %s", known[k].name, orr_error());
        assert_int_equal(cuda->upload(w, &kept, sizeof kept), 0);
    }
    assert_true(model.act->bf16);
    gpt_batch_free(&batch);
    gpt_free(&model);
    cuda->close();
}

/* Replayed and not: the same bits. */
TEST(test_recording)
{
    struct k_ops plain = *cuda;
    plain.record_begin = NULL;
    for (int kind = 0; kind < KINDS; kind++) {
        const struct gpt_config c = config_of(kind);
        struct gpt_model model;
        double loss[2][5];
        long degenerate[2];
        real *grad[2] = {NULL, NULL};
        assert_int_equal(cuda->open(1, K_PRECISION_BF16), 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(gpt_create(&model, &c, i ? &plain : cuda, 5), 0);
            grad[i] = orr_alloc(model.total, sizeof(real));
            passes(&model, 0, loss[i], grad[i], &degenerate[i]);
            assert_int_equal(model.act->replay.recording != NULL, cuda->record_begin && !i);
            if (i)
                assert_true(tiny_same(grad[0], grad[1], model.total));
            gpt_free(&model);
        }
        cuda->close();
        assert_memory_equal(loss[0], loss[1], sizeof loss[0]);
        assert_int_equal(degenerate[0], degenerate[1]);
        free(grad[0]);
        free(grad[1]);
    }
}

/* `steps` steps of the training in `folder`, from its checkpoint where there is one. */
static void train(const struct k_ops *ops, enum k_precision precision, int kind, const char *folder,
                  long steps, real **param)
{
    const struct gpt_config c = config_of(kind);
    struct orr_train_settings t = tiny_training(steps, 3);
    struct tiny_data data;
    struct gpt_model model;
    char last[4096];
    long step = 0;
    t.ema = 0.8;
    t.clip = 0.4;
    t.weight_decay = 0.1;
    t.eval_every = 3;
    t.accumulation = 2;
    tiny_data_create(&data, &c, 11);
    data.passes = 2;
    const struct gpt_task task = tiny_task(&data, folder);
    assert_int_equal(orr_path(last, "%s/last.safetensors", folder), 0);
    assert_int_equal(ops->open(1, precision), 0);
    if (orr_exists(last))
        assert_int_equal(gpt_load_as(&model, last, &c, false, ops, &step), 0);
    else
        assert_int_equal(gpt_create(&model, &c, ops, 9), 0);
    assert_int_equal(gpt_train(&model, &t, &task, &step), 0);
    *param = orr_alloc(model.total, sizeof(real));
    get(ops, *param, model.param, model.total);
    gpt_free(&model);
    ops->close();
    gpt_batch_free(&data.held_out);
}

/* Training goes on where work cannot be recorded, at whatever call that shows: the same bits, and
 * nothing is replayed. (On a GPU, which cannot be told to fail, there is nothing to see.) */
extern void cuda_host_fail_graphs(int what) __attribute__((weak)); /* of the emulation */
extern long cuda_host_graphs(void) __attribute__((weak));

TEST(test_without_recordings)
{
    enum { FAILURES = 6, STEPS = 10 }; /* 0: none */
    if (!cuda_host_fail_graphs || !cuda->record_begin)
        skip();
    const struct gpt_config c = config_of(BF16);
    struct gpt_model model;
    char folder[4096], name[64];
    real *param[FAILURES];
    assert_int_equal(gpt_create(&model, &c, &k_ref, 9), 0);
    for (int what = 0; what < FAILURES; what++) {
        const long before = cuda_host_graphs();
        snprintf(name, sizeof name, "graphs-%d", what);
        scratch_path(folder, dir, name);
        cuda_host_fail_graphs(what);
        train(cuda, K_PRECISION_BF16, BF16, folder, STEPS, &param[what]);
        cuda_host_fail_graphs(0);
        assert_true((cuda_host_graphs() > before + STEPS) == (what == 0));
        assert_true(what == 0 || cuda_host_graphs() == before);
        if (!tiny_same(param[0], param[what], model.total))
            fail_msg("other weights with failure %d", what);
        assert_false(orr_memory_short()); /* of a GPU: files are written all the same */
    }
    for (int what = 0; what < FAILURES; what++)
        free(param[what]);
    gpt_free(&model);
}

/* From one checkpoint, 10 steps on each; then each goes on from the other's. */
TEST(test_training)
{
    static const int kinds[] = {0, 1, BF16};
    for (int i_kind = 0; i_kind < 3; i_kind++)
        for (int bf16 = i_kind == 2; bf16 < 2; bf16++) {
            const int kind = kinds[i_kind];
            const enum k_precision precision = bf16 ? K_PRECISION_BF16 : K_PRECISION_FP32;
            char folder[2][4096], name[64];
            real *start, *end[2];
            struct gpt_config c = config_of(kind);
            struct gpt_model model;
            for (int i = 0; i < 2; i++) {
                snprintf(name, sizeof name, "train-%d-%d-%d", kind, bf16, i);
                scratch_path(folder[i], dir, name);
                train(&k_ref, K_PRECISION_FP32, kind, folder[i], 4, &start);
                for (long steps = 14; steps <= 20; steps += 6) {
                    /* the last steps are the other's */
                    const bool on_cuda = (i == 1) == (steps == 14);
                    train(on_cuda ? cuda : &k_ref, on_cuda ? precision : K_PRECISION_FP32, kind,
                          folder[i], steps, &end[i]);
                    if (steps == 14)
                        free(end[i]);
                }
                if (i == 0)
                    free(start);
            }
            assert_int_equal(gpt_create(&model, &c, &k_ref, 9), 0);
            double moved = 0, apart = 0;
            for (size_t k = 0; k < model.total; k++) {
                moved += pow((double)end[0][k] - (double)start[k], 2);
                apart += pow((double)end[0][k] - (double)end[1][k], 2);
            }
            /* AdamW divides by the gradient's size: small gradients' roundings count in full */
            if (!(sqrt(apart) <= (bf16 ? 0.2 : 0.02) * sqrt(moved)))
                fail_msg("kind %d, %s: weights are %.3g apart after moving by %.3g", kind,
                         bf16 ? "bf16" : "fp32", sqrt(apart), sqrt(moved));
            gpt_free(&model);
            free(start);
            free(end[0]);
            free(end[1]);
        }
}

/* Weights, moments and average come back from a file as they were; rollouts agree with ref's. */
static void check_files(enum orr_optimizer optimizer)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model, back;
    struct gpt_batch batch;
    struct orr_train_settings t = tiny_training(3, 2);
    char path[4096];
    double loss, norm;
    real rollout[2][2 * 11 * 2] = {{0}};
    scratch_path(path, dir, "model.safetensors");
    assert_int_equal(cuda->open(1, K_PRECISION_FP32), 0);
    assert_int_equal(gpt_create(&model, &c, cuda, 6), 0);
    assert_int_equal(gpt_batch_create(&batch, &c, 2, c.context), 0);
    t.ema = 0.7;
    t.optimizer = optimizer;
    t.muon_lr = 0.002;
    t.muon_momentum = 0.95;
    t.muon_steps = 5;
    for (long step = 0; step < 3; step++) {
        tiny_fill(&batch, &c, 30);
        assert_int_equal(gpt_zero_grad(&model), 0);
        assert_int_equal(gpt_loss_backward(&model, &batch, &loss), 0);
        assert_int_equal(gpt_update(&model, &t, step, &norm), 0);
    }
    assert_int_equal(gpt_save(&model, path, 3, true, NULL), 0);
    real *a = orr_alloc(model.total, sizeof *a);
    assert_int_equal(gpt_load(&back, path, &k_ref, NULL), 0);
    const struct {
        const real *here, *there;
        size_t count;
    } tensors[] = {{model.param, back.param, model.total},
                   {model.m, back.m, model.total},
                   {model.v, back.v, model.seconds},
                   {model.average, back.average, model.total}};
    for (int k = 0; k < 4; k++) {
        get(cuda, a, tensors[k].here, tensors[k].count);
        assert_true(tiny_same(a, tensors[k].there, tensors[k].count));
    }
    for (int k = 0; k < 2; k++) {
        tiny_fill(&batch, &c, 30);
        assert_int_equal(gpt_rollout(k ? &back : &model, &batch, 5, 1, rollout[k]), 0);
    }
    for (int k = 0; k < 2 * 11 * 2; k++)
        assert_true(fabs((double)rollout[0][k] - (double)rollout[1][k]) < 1e-3);
    free(a);
    gpt_batch_free(&batch);
    gpt_free(&model);
    gpt_free(&back);
    cuda->close();
}

TEST(test_files_and_outputs)
{
    for (int optimizer = 0; optimizer < ORR_OPTIMIZERS; optimizer++)
        check_files((enum orr_optimizer)optimizer);
}

int main(void)
{
    const int rc = k_find("cuda", &cuda);
    return rc ? orr_error_exit("cuda_model", rc)
              : cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
