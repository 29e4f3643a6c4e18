/* test_device.c - models on a backend whose memory the host cannot touch and whose results come
 * late (guarded_ops.h): bit for bit what ref computes, whatever is done with the model, and what is
 * recorded, replayed and waited for. */
#include "guarded_ops.h"
#include "nonfinite.h"
#include "pretrain.h"
#include "tiny.h"

#include <stdlib.h>

static char *const dir = scratch_dir;

/* Everything that a scenario came to, byte after byte. */
struct seen {
    const struct k_ops *ops;
    unsigned char *data;
    size_t bytes;
};

static void keep(struct seen *seen, const void *data, size_t bytes)
{
    seen->data = realloc(seen->data, seen->bytes + bytes);
    assert_non_null(seen->data);
    memcpy(seen->data + seen->bytes, data, bytes);
    seen->bytes += bytes;
}

static void keep_tensor(struct seen *seen, const real *tensor, size_t count)
{
    real *copy = orr_alloc(count, sizeof *copy);
    assert_non_null(tensor);
    assert_int_equal(seen->ops->download(copy, tensor, count * sizeof *copy), 0);
    keep(seen, copy, count * sizeof *copy);
    free(copy);
}

static void keep_file(struct seen *seen, const char *folder, const char *name)
{
    char path[4096], *text;
    size_t bytes;
    assert_int_equal(orr_path(path, "%s/%s", folder, name), 0);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    keep(seen, text, bytes);
    free(text);
}

static const struct k_ops *const both[] = {&k_ref, &guarded_ops, &guarded_plain_ops};
enum { BOTH = sizeof both / sizeof *both };

/* The same of the guarded backend, with and without recordings, as of ref; nothing is left. */
static void compare(const char *what, void (*scenario)(struct seen *seen, int number), int number)
{
    struct seen seen[BOTH] = {{0}};
    for (int i = 0; i < BOTH; i++) {
        seen[i].ops = both[i];
        assert_int_equal(both[i]->open(1, K_PRECISION_FP32), 0);
        scenario(&seen[i], number);
        both[i]->close();
    }
    for (int i = 1; i < BOTH; i++) {
        assert_int_equal(seen[i].bytes, seen[0].bytes);
        for (size_t k = 0; k < seen[0].bytes; k++)
            if (seen[i].data[k] != seen[0].data[k])
                fail_msg("%s %d, backend %d: byte %zu of %zu differs", what, number, i, k,
                         seen[0].bytes);
    }
    for (int i = 0; i < BOTH; i++)
        free(seen[i].data);
    assert_int_equal(guarded_counts.held, 0);
    assert_int_equal(guarded_counts.recordings, 0);
}

/* ------------------------------------------------------------------------------- models */

static void set_weight(struct gpt_model *model, int index, size_t at, real value)
{
    real *w = gpt_param(model, index) + at;
    assert_int_equal(model->ops->upload(w, &value, sizeof value), 0);
}

/* As tiny_enlarge. */
static void enlarge(struct gpt_model *model)
{
    real *w = orr_alloc(model->total, sizeof *w);
    for (int i = 0; i < model->parameters; i++) {
        const size_t n = model->table[i].count;
        assert_int_equal(model->ops->download(w, gpt_param(model, i), n * sizeof *w), 0);
        for (size_t j = 0; j < n; j++)
            w[j] += (real)(0.5 * (tiny_uniform(900 + (uint64_t)i, j) - 0.5));
        assert_int_equal(model->ops->upload(gpt_param(model, i), w, n * sizeof *w), 0);
    }
    free(w);
}

enum { KINDS = 8 };
/* Every input, head and kind of position; gates, windows, recomputation. */
static struct gpt_config config_of(int kind)
{
    static const char *const attention[] = {"softmax", "lssar", "phi_relu", "sigmoid_logN_l1"};
    struct gpt_config c = kind % 4 == 0   ? tiny_continuous()
                          : kind % 4 == 3 ? tiny_text(kind == 3)
                                          : tiny_tokens();
    c.head_bias = kind == 2;
    c.positions = (enum orr_positions)(kind % 3);
    c.gate = (enum k_gate)(kind / 2 % 3);
    c.recompute = kind == 1 || kind == 4 || kind == 7;
    c.attention_window = kind == 5 ? 4 : 0;
    snprintf(c.attention, sizeof c.attention, "%s", attention[(kind + kind / 4) % 4]);
    return c;
}

/* ---------------------------------------------------------------------------- scenarios */

static void see_pass(struct seen *seen, struct gpt_model *model, struct gpt_batch *batch,
                     uint64_t stream)
{
    double loss;
    long degenerate;
    tiny_fill(batch, &model->config, stream);
    if (batch->weight) /* not those that are left out at the end */
        batch->weight[2] = (real)0.25, batch->weight[7] = 0;
    assert_int_equal(gpt_loss_backward(model, batch, &loss), 0);
    assert_true(isfinite(loss));
    keep(seen, &loss, sizeof loss);
    assert_int_equal(gpt_degenerate_rows(model, &degenerate), 0);
    keep(seen, &degenerate, sizeof degenerate);
    keep_tensor(seen, model->grad, model->total);
}

/* Losses, gradients, outputs, degenerate rows, qkv; other batches, fewer sequences, no weights. */
static void passes(struct seen *seen, int kind)
{
    struct gpt_config c = config_of(kind);
    struct gpt_model model;
    struct gpt_batch batch;
    const size_t T = (size_t)c.context, OC = (size_t)c.outputs;
    double loss;
    const real *out;
    assert_int_equal(gpt_create(&model, &c, seen->ops, 5), 0);
    keep_tensor(seen, model.param, model.total);
    enlarge(&model);
    assert_int_equal(gpt_batch_create(&batch, &c, 3, c.context), 0);
    for (uint64_t pass = 0; pass < 8; pass++) {
        if (pass != 3) /* the third adds to the second */
            assert_int_equal(gpt_zero_grad(&model), 0);
        batch.B = pass == 4 ? 2 : 3;
        see_pass(seen, &model, &batch, 100 + 10 * pass);
        if (pass == 2) { /* something else in between */
            assert_int_equal(gpt_loss(&model, &batch, &loss), 0);
            keep(seen, &loss, sizeof loss);
        }
    }
    assert_int_equal(gpt_forward(&model, &batch, &out), 0);
    keep(seen, out, 3 * T * OC * sizeof *out);
    for (int l = 0; l < c.layers; l++) {
        const real *qkv;
        assert_int_equal(gpt_layer_qkv(&model, l, &qkv), 0);
        assert_int_equal(qkv != NULL, !c.recompute || l == c.layers - 1);
        if (qkv)
            keep(seen, qkv, 3 * T * 3 * (size_t)c.width * sizeof *qkv);
    }
    /* a replay is no forward pass that leaves the last layer there */
    assert_int_equal(gpt_loss_backward(&model, &batch, &loss), 0);
    for (int l = 0; l < c.layers; l++) {
        const real *qkv;
        assert_int_equal(gpt_layer_qkv(&model, l, &qkv), 0);
        assert_int_equal(qkv != NULL, !c.recompute || l == 0);
    }
    real *weight = batch.weight;
    batch.weight = NULL; /* all rows count */
    for (int pass = 0; pass < 3; pass++) {
        assert_int_equal(gpt_loss_backward(&model, &batch, &loss), 0);
        keep(seen, &loss, sizeof loss);
    }
    batch.weight = weight;
    gpt_batch_free(&batch);
    gpt_free(&model);
}

TEST(test_passes)
{
    for (int kind = 0; kind < KINDS; kind++)
        compare("passes", passes, kind);
}

/* Trained, stopped, read back, trained on: the files are the same, and the weights. */
static void training(struct seen *seen, int kind)
{
    struct gpt_config c = config_of(kind);
    struct orr_train_settings t = tiny_training(9, 3);
    struct tiny_data data;
    struct gpt_model model;
    char folder[4096], name[64];
    t.accumulation = 1 + kind % 2;
    t.ema = kind == 3 ? 0 : 0.8;
    t.optimizer = kind % 4 == 1 ? ORR_OPTIMIZER_MUON : ORR_OPTIMIZER_ADAMW;
    t.muon_lr = 0.02;
    t.muon_momentum = 0.9;
    t.muon_steps = 5;
    t.clip = 0.4;
    t.weight_decay = 0.1;
    t.eval_every = 2;
    t.checkpoint_every = 3;
    snprintf(name, sizeof name, "%s-%d-%td", seen->ops->name, kind,
             seen->ops == &guarded_plain_ops ? (ptrdiff_t)1 : 0);
    scratch_path(folder, dir, name);
    tiny_data_create(&data, &c, 11);
    data.passes = t.accumulation;
    const struct gpt_task task = tiny_task(&data, folder);
    for (int part = 0; part < 2; part++) {
        struct orr_train_settings until = t;
        char last[4096];
        long step = 0;
        until.steps = part ? 9 : 5;
        assert_int_equal(orr_path(last, "%s/last.safetensors", folder), 0);
        if (part)
            assert_int_equal(gpt_load_as(&model, last, &c, false, seen->ops, &step), 0);
        else
            assert_int_equal(gpt_create(&model, &c, seen->ops, 9), 0);
        assert_int_equal(step, part ? 5 : 0);
        assert_int_equal(gpt_train(&model, &until, &task, &step), 0);
        keep_file(seen, folder, "last.safetensors");
        keep_file(seen, folder, "best.safetensors");
        keep_tensor(seen, model.param, model.total);
        keep_tensor(seen, model.m, model.total);
        keep_tensor(seen, model.v, model.seconds);
        if (model.average)
            keep_tensor(seen, model.average, model.total);
        gpt_free(&model);
    }
    gpt_batch_free(&data.held_out);
}

TEST(test_training)
{
    for (int kind = 0; kind < KINDS; kind++)
        compare("training", training, kind);
}

/* A whole pretraining, streamed orbits to evaluation.json: rollouts and next-state errors. */
static void pretraining(struct seen *seen, int tokens)
{
    struct orr_settings p;
    struct orr_lineage lineage;
    struct gpt_pretraining job = {.settings = &p,
                                  .lineage = &lineage,
                                  .train = &p.pretrain,
                                  .ops = seen->ops,
                                  .attention = "softmax",
                                  .checkpoint = "",
                                  .quiet = true};
    orr_settings_defaults(&p);
    p.seed = 3;
    p.orbits.train = 50;
    p.orbits.train_files = 0;
    p.orbits.val = 5;
    p.orbits.positions = 26;
    p.orbits.bins = 60;
    if (!tokens) {
        p.orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
        p.orbits.output = ORR_OUTPUT_CONTINUOUS;
        p.orbits.mass_prior = ORR_MASS_LOGUNIFORM;
        p.orbits.a_max_au = 4;
    }
    p.model.layers = 2;
    p.model.heads = 2;
    p.model.width = 8;
    p.pretrain = tiny_training(5, 4);
    p.pretrain.ema = 0.5;
    p.pretrain.eval_every = 2;
    char name[64];
    snprintf(name, sizeof name, "pretrain-%s-%d-%d", seen->ops->name, tokens,
             seen->ops == &guarded_plain_ops);
    scratch_path(job.folder, dir, name);
    assert_int_equal(orr_lineage_open(&lineage, &p, NULL), 0);
    assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
    keep_file(seen, job.folder, "evaluation.json");
    keep_file(seen, job.folder, "last.safetensors");
    keep_file(seen, job.folder, "best.safetensors");

    /* a training of its own from these weights: the optimiser's state and the average, which are
       in memory of the backend, are dropped */
    char first[4096];
    assert_int_equal(orr_path(first, "%s/last.safetensors", job.folder), 0);
    job.checkpoint = first;
    strcat(name, "-from");
    scratch_path(job.folder, dir, name);
    assert_int_equal(orr_lineage_checkpoint(&lineage, first, lineage.start[0]), 0);
    assert_int_equal(orr_output_make(&gpt_pretrain_stage, &job), 0);
    orr_lineage_close(&lineage);
    keep_file(seen, job.folder, "evaluation.json");
    keep_file(seen, job.folder, "last.safetensors");
}

TEST(test_pretraining)
{
    compare("pretraining", pretraining, 0);
    compare("pretraining", pretraining, 1);
}

/* A new head on old weights; attention changed, and back. */
static void changes(struct seen *seen, int kind)
{
    struct gpt_config c = config_of(kind);
    struct gpt_model model;
    struct gpt_batch batch;
    c.recompute = false;
    snprintf(c.attention, sizeof c.attention, "softmax");
    assert_int_equal(gpt_create(&model, &c, seen->ops, 5), 0);
    enlarge(&model);
    assert_int_equal(gpt_batch_create(&batch, &c, 2, c.context), 0);
    const struct gpt_attention_override override[] = {
        {0}, {.reweight = GPT_REWEIGHT_ON, .power = 2}, {.set_window = true, .window = 3}, {0}};
    for (size_t k = 0; k < sizeof override / sizeof *override; k++) {
        assert_int_equal(gpt_override_attention(&model, &override[k]), 0);
        for (uint64_t pass = 0; pass < 3; pass++) {
            assert_int_equal(gpt_zero_grad(&model), 0);
            see_pass(seen, &model, &batch, 300 + 10 * pass);
        }
    }
    gpt_batch_free(&batch);
    assert_int_equal(gpt_replace_head(&model, GPT_HEAD_REGRESSION, 2, 8), 0);
    keep_tensor(seen, model.param, model.total);
    assert_int_equal(gpt_batch_create(&batch, &model.config, 2, c.context), 0);
    for (uint64_t pass = 0; pass < 3; pass++)
        see_pass(seen, &model, &batch, 400 + 10 * pass);
    gpt_batch_free(&batch);
    gpt_free(&model);
}

TEST(test_changes)
{
    for (int kind = 0; kind < KINDS; kind++)
        compare("changes", changes, kind);
}

/* What is not finite is found, and named alike. */
static void diverging(struct seen *seen, int recompute)
{
    struct gpt_config c = tiny_continuous();
    struct orr_train_settings t = tiny_training(4, 3);
    struct tiny_data data;
    char folder[4096];
    c.recompute = recompute;
    scratch_path(folder, dir, "diverging");
    tiny_data_create(&data, &c, 17);
    const struct gpt_task task = tiny_task(&data, folder);
    for (int which = 0; which < 7; which++) {
        struct gpt_model model;
        long step = 0;
        assert_int_equal(gpt_create(&model, &c, seen->ops, 6), 0);
        const int index[] = {model.embed_w,       model.block[0].qkv_w,  model.block[1].ln1_w,
                             model.block[1].up_w, model.block[1].down_b, model.final_w,
                             model.head_b};
        set_weight(&model, index[which], 1, NAN);
        assert_int_equal(gpt_train(&model, &t, &task, &step), ORR_EDIVERGED);
        keep(seen, orr_error(), strlen(orr_error()));
        gpt_free(&model);
    }
    struct gpt_model model;
    const real bad[] = {NAN, INFINITY};
    double norm;
    assert_int_equal(gpt_create(&model, &c, seen->ops, 6), 0);
    for (int k = 0; k < 2; k++) {
        const int index = k ? model.block[1].proj_w : model.block[0].qkv_w;
        assert_int_equal(seen->ops->upload(gpt_grad(&model, index) + 5, &bad[k], sizeof(real)), 0);
        assert_int_equal(gpt_update(&model, &t, 3, &norm), ORR_EDIVERGED);
        keep(seen, orr_error(), strlen(orr_error()));
    }
    set_weight(&model, model.block[1].up_w, 3, INFINITY);
    assert_int_equal(gpt_check_weights(&model, 8), ORR_EDIVERGED);
    keep(seen, orr_error(), strlen(orr_error()));
    gpt_free(&model);
    gpt_batch_free(&data.held_out);
}

TEST(test_diverging)
{
    compare("diverging", diverging, 0);
    compare("diverging", diverging, 1);
}

/* ---------------------------------------------------------------- what is asked of a device */

/* So many passes over the same batch; *asked = kernels outside recordings. */
static void run_passes(struct gpt_model *model, struct gpt_batch *batch, int count)
{
    double loss;
    memset(&guarded_counts.asked, 0, sizeof guarded_counts.asked);
    guarded_counts.waits = guarded_counts.downloads = 0;
    guarded_counts.recorded = guarded_counts.replays = 0;
    for (int i = 0; i < count; i++)
        assert_int_equal(gpt_loss_backward(model, batch, &loss), 0);
    assert_int_equal(guarded_counts.waits, count); /* one for the loss */
    assert_int_equal(guarded_counts.downloads, 0);
}

#define RECORDED(made, played)                                                                     \
    do {                                                                                           \
        assert_int_equal(guarded_counts.recorded, made);                                           \
        assert_int_equal(guarded_counts.replays, played);                                          \
    } while (0)

/* The first pass of a shape runs, the second is recorded, and recorded anew only when it must. */
TEST(test_recording)
{
    struct gpt_config c = tiny_continuous();
    struct orr_train_settings t = tiny_training(9, 3);
    struct gpt_model model;
    struct gpt_batch batch, longer;
    double norm, loss;
    t.ema = 0.5;
    assert_int_equal(gpt_create(&model, &c, &guarded_ops, 5), 0);
    assert_int_equal(gpt_batch_create(&batch, &c, 3, c.context), 0);
    assert_int_equal(gpt_batch_create(&longer, &c, 3, 7), 0);
    tiny_fill(&batch, &c, 1);
    tiny_fill(&longer, &c, 1);
    run_passes(&model, &batch, 1);
    RECORDED(0, 0);
    const long one = guarded_counts.asked;
    assert_true(one > 20);
    run_passes(&model, &batch, 5);
    RECORDED(1, 5);
    assert_int_equal(guarded_counts.asked, 0);

    /* an update and an evaluation change nothing of it */
    assert_int_equal(gpt_update(&model, &t, 0, &norm), 0);
    gpt_swap_average(&model);
    assert_int_equal(gpt_loss(&model, &batch, &loss), 0);
    gpt_swap_average(&model);
    run_passes(&model, &batch, 2);
    RECORDED(0, 2);
    /* other weights do */
    gpt_swap_average(&model);
    run_passes(&model, &batch, 3);
    RECORDED(1, 2);
    assert_int_equal(guarded_counts.asked, one);
    gpt_swap_average(&model);
    run_passes(&model, &batch, 3);
    RECORDED(1, 2);
    /* and another number of sequences, within the plan */
    batch.B = 2;
    run_passes(&model, &batch, 3);
    RECORDED(1, 2);
    /* another plan: a longer sequence, then the old one again */
    run_passes(&model, &longer, 3);
    RECORDED(1, 2);
    run_passes(&model, &batch, 3);
    RECORDED(1, 2);
    /* another way to attend */
    const struct gpt_attention_override window = {.set_window = true, .window = 3}, none = {0};
    assert_int_equal(gpt_override_attention(&model, &window), 0);
    run_passes(&model, &batch, 3);
    RECORDED(1, 2);
    assert_int_equal(gpt_override_attention(&model, &none), 0);
    run_passes(&model, &batch, 3);
    RECORDED(1, 2);
    /* or of computing */
    model.config.rope_base = 500;
    run_passes(&model, &batch, 3);
    RECORDED(1, 2);

    /* one wait for the norm */
    guarded_counts.waits = 0;
    assert_int_equal(gpt_gradient_norm(&model, 1, 1, model.total, &norm), 0);
    assert_int_equal(guarded_counts.waits, 1);
    gpt_batch_free(&batch);
    gpt_batch_free(&longer);
    gpt_free(&model);
    assert_int_equal(guarded_counts.held, 0);
    assert_int_equal(guarded_counts.recordings, 0);
}

/* Too little memory is an error that says how much was asked for, and leaves nothing behind. */
TEST(test_memory)
{
    struct gpt_config c = tiny_tokens();
    struct gpt_model model;
    struct gpt_batch batch;
    double loss;
    guarded_limit = 1000;
    assert_int_equal(gpt_create(&model, &c, &guarded_ops, 5), ORR_ENOMEM);
    assert_int_equal(guarded_counts.held, 0);
    guarded_limit = 0;
    assert_int_equal(gpt_create(&model, &c, &guarded_ops, 5), 0);
    assert_int_equal(gpt_batch_create(&batch, &c, 3, c.context), 0);
    tiny_fill(&batch, &c, 1);
    guarded_limit = 2 * model.total * sizeof(real) + 20000;
    assert_int_equal(gpt_loss_backward(&model, &batch, &loss), ORR_ENOMEM);
    assert_non_null(strstr(orr_error(), "activations of 3 x 11 positions"));
    guarded_limit = 0;
    assert_int_equal(gpt_loss_backward(&model, &batch, &loss), 0);
    /* the plan counts the batch, which ordinary memory does not hold twice */
    struct gpt_model host = model;
    host.ops = &k_ref;
    assert_true(gpt_activation_bytes(&model, 3, 11) > gpt_activation_bytes(&host, 3, 11));
    gpt_batch_free(&batch);
    gpt_free(&model);
    assert_int_equal(guarded_counts.held, 0);
}

TESTS(scratch_setup, scratch_teardown)
