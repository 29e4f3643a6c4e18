/* test_training.c - whole trainings of tiny models: they learn, they repeat bit for bit on any
 * number of threads, and what should not change does not. */
#include "tiny.h"

#include <cjson/cJSON.h>

#include "model/train/log.h"

static char *const dir = scratch_dir;

/* Trains a fresh model in dir/name. */
static void train(struct gpt_model *model, const struct gpt_config *c, const struct k_ops *ops,
                  const struct orr_train_settings *t, int sequences, const char *name)
{
    struct tiny_data data;
    char folder[4096];
    long step = 0;
    scratch_path(folder, dir, name);
    tiny_data_create(&data, c, sequences);
    data.passes = t->accumulation;
    assert_int_equal(gpt_create(model, c, ops, 9), 0);
    const struct gpt_task task = tiny_task(&data, folder);
    assert_int_equal(gpt_train(model, t, &task, &step), 0);
    assert_int_equal(step, t->steps);
    gpt_batch_free(&data.held_out);
}

static double loss_of(struct gpt_model *model, int sequences)
{
    struct gpt_batch batch;
    double loss;
    assert_int_equal(gpt_batch_create(&batch, &model->config, sequences, model->config.context), 0);
    tiny_fill(&batch, &model->config, 1000);
    assert_int_equal(gpt_loss(model, &batch, &loss), 0);
    gpt_batch_free(&batch);
    return loss;
}

/* Eight sequences of random numbers can only be learned by heart: every position of every
 * sequence has to be told from all others. */
TEST(test_overfit)
{
    assert_int_equal(k_cpu()->open(1, false), 0);
    for (int kind = 0; kind < 2; kind++) {
        for (const struct k_attention *a = k_attention_table; a->name; a++) {
            struct gpt_config c = kind ? tiny_tokens() : tiny_continuous();
            struct orr_train_settings t = tiny_training(140, 8);
            struct gpt_model model, fresh;
            snprintf(c.attention, sizeof c.attention, "%s", a->name);
            c.width = c.heads * 12;
            c.ffn = 3 * c.width;
            t.lr = 1e-2;
            t.warmup = 20;
            t.schedule = ORR_SCHEDULE_COSINE;
            t.clip = 1;
            train(&model, &c, k_cpu(), &t, 8, "overfit");
            assert_int_equal(gpt_create(&fresh, &c, k_cpu(), 9), 0);
            const double before = loss_of(&fresh, 8), after = loss_of(&model, 8);
            if (!(after < 0.01 * before))
                fail_msg("%s, %s: the loss fell from %g to %g only", a->name,
                         kind ? "tokens" : "coordinates", before, after);
            gpt_free(&model);
            gpt_free(&fresh);
        }
    }
    k_cpu()->close();
}

/* Two passes of four sequences are one of eight. */
TEST(test_accumulation)
{
    struct gpt_config c = tiny_continuous();
    struct orr_train_settings t = tiny_training(6, 8);
    struct gpt_model once, twice, start;
    t.clip = 0.3; /* clipped by the norm of the mean, not of the sum */
    t.weight_decay = 0.5;
    train(&once, &c, &k_ref, &t, 40, "once");
    t.batch = 4;
    t.accumulation = 2;
    train(&twice, &c, &k_ref, &t, 40, "twice");
    assert_int_equal(gpt_create(&start, &c, &k_ref, 9), 0);
    double moved = 0, apart = 0;
    for (size_t i = 0; i < once.total; i++) {
        moved = fmax(moved, fabs((double)once.param[i] - (double)start.param[i]));
        apart = fmax(apart, fabs((double)once.param[i] - (double)twice.param[i]));
    }
    assert_true(moved > 1e-2);
    if (!(apart < 2e-3 * moved))
        fail_msg("largest difference %g where weights moved by %g", apart, moved);
    gpt_free(&once);
    gpt_free(&twice);
    gpt_free(&start);
}

/* The same seed gives the same bits, on any number of threads; another seed does not. */
TEST(test_repeatable)
{
    for (int kind = 0; kind < 2; kind++) {
        struct gpt_config c = kind ? tiny_tokens() : tiny_continuous();
        struct orr_train_settings t = tiny_training(5, 24);
        struct gpt_model first, next;
        c.context = 45; /* more rows than one thread's block */
        t.ema = 0.9;
        t.clip = 0.5;
        t.eval_every = 2;
        c.positions = kind ? ORR_POSITIONS_ROPE : ORR_POSITIONS_LEARNED;
        snprintf(c.attention, sizeof c.attention, "%s", kind ? "softmax" : "lssar");
        assert_int_equal(k_cpu()->open(1, false), 0);
        train(&first, &c, k_cpu(), &t, 100, "one");
        train(&next, &c, k_cpu(), &t, 100, "again");
        k_cpu()->close();
        assert_true(tiny_same(first.param, next.param, first.total));
        gpt_free(&next);
        for (int threads = 2; threads <= 3; threads++) {
            assert_int_equal(k_cpu()->open(threads, false), 0);
            train(&next, &c, k_cpu(), &t, 100, "threads");
            k_cpu()->close();
            assert_true(tiny_same(first.param, next.param, first.total));
            assert_true(tiny_same(first.m, next.m, first.total));
            assert_true(tiny_same(first.v, next.v, first.total));
            assert_true(tiny_same(first.average, next.average, first.total));
            gpt_free(&next);
        }
        gpt_free(&first);
    }
}

/* Looking at held-out data, however often, is no part of training. */
TEST(test_evaluation_is_silent)
{
    struct gpt_config c = tiny_tokens();
    struct orr_train_settings t = tiny_training(9, 3);
    struct gpt_model rarely, often;
    t.ema = 0.8;
    t.eval_every = 0;
    train(&rarely, &c, &k_ref, &t, 30, "rarely");
    t.eval_every = 1;
    train(&often, &c, &k_ref, &t, 30, "often");
    assert_true(tiny_same(rarely.param, often.param, often.total));
    assert_true(tiny_same(rarely.m, often.m, often.total));
    assert_true(tiny_same(rarely.average, often.average, often.total));
    gpt_free(&often);

    /* the functions themselves touch neither weights nor gradients */
    struct gpt_batch batch;
    const real *out;
    double loss;
    assert_int_equal(gpt_create(&often, &c, &k_ref, 9), 0);
    real *param = orr_alloc(rarely.total, sizeof *param),
         *grad = orr_alloc(rarely.total, sizeof *grad);
    memcpy(param, rarely.param, rarely.total * sizeof *param);
    memcpy(grad, rarely.grad, rarely.total * sizeof *grad);
    assert_int_equal(gpt_batch_create(&batch, &c, 3, 7), 0);
    tiny_fill(&batch, &c, 5);
    assert_int_equal(gpt_forward(&rarely, &batch, &out), 0);
    assert_int_equal(gpt_loss(&rarely, &batch, &loss), 0);
    assert_true(tiny_same(param, rarely.param, rarely.total));
    assert_true(tiny_same(grad, rarely.grad, rarely.total));
    gpt_swap_average(&rarely);
    assert_false(tiny_same(param, rarely.param, rarely.total));
    gpt_swap_average(&rarely);
    assert_true(tiny_same(param, rarely.param, rarely.total));
    free(param);
    free(grad);
    gpt_batch_free(&batch);
    gpt_free(&rarely);
    gpt_free(&often);
}

/* Rows of weight 0 play no part: their targets may be anything, and the mean is over the others. */
TEST(test_weights)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model a, b;
    struct gpt_batch batch;
    double loss_a, loss_b;
    assert_int_equal(gpt_create(&a, &c, &k_ref, 9), 0);
    assert_int_equal(gpt_create(&b, &c, &k_ref, 9), 0);
    assert_int_equal(gpt_batch_create(&batch, &c, 3, 7), 0);
    tiny_fill(&batch, &c, 5);
    for (size_t n = 0; n < 21; n++)
        batch.weight[n] = n % 4 == 1 ? 1 : 0;
    assert_int_equal(gpt_loss_backward(&a, &batch, &loss_a), 0);
    for (size_t n = 0; n < 21; n++)
        if (n % 4 != 1)
            batch.target[2 * n] = batch.target[2 * n + 1] = 1e6;
    assert_int_equal(gpt_loss_backward(&b, &batch, &loss_b), 0);
    assert_true(loss_a == loss_b);
    assert_true(tiny_same(a.grad, b.grad, a.total));
    const real *out;
    double sum = 0;
    assert_int_equal(gpt_forward(&a, &batch, &out), 0);
    for (size_t n = 1; n < 21; n += 4)
        for (size_t k = 0; k < 2; k++)
            sum += pow((double)out[2 * n + k] - (double)batch.target[2 * n + k], 2) / 10;
    assert_true(fabs(sum - loss_a) < 1e-6 * sum);
    memset(batch.weight, 0, 21 * sizeof *batch.weight); /* no row at all: nothing to learn */
    gpt_zero_grad(&a);
    assert_int_equal(gpt_loss_backward(&a, &batch, &loss_a), 0);
    assert_true(loss_a == 0);
    for (size_t i = 0; i < a.total; i++)
        assert_true(a.grad[i] == 0);
    gpt_batch_free(&batch);
    gpt_free(&a);
    gpt_free(&b);
}

/* The lines of the log: every tenth step, the first and the last; losses as computed. */
TEST(test_log)
{
    struct gpt_config c = tiny_continuous();
    struct orr_train_settings t = tiny_training(23, 3);
    struct gpt_model model, fresh;
    struct gpt_batch batch;
    char path[4096], *text, *line, *rest = NULL;
    double loss;
    t.eval_every = 15;
    t.warmup = 4;
    train(&model, &c, &k_ref, &t, 30, "log");
    assert_int_equal(orr_path(path, "%s/log/log.jsonl", dir), 0);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    static const int steps[] = {1, 10, 15, 20, 23, 23};
    int lines = 0;
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++) {
        cJSON *json = cJSON_Parse(line);
        assert_non_null(json);
        assert_true(lines < 6);
        const bool held_out = lines == 2 || lines == 5;
        const int step = cJSON_GetObjectItem(json, "step")->valueint;
        assert_int_equal(step, steps[lines]);
        assert_int_equal(cJSON_GetObjectItem(json, "val_loss") != NULL, held_out);
        if (!held_out) {
            const double lr = cJSON_GetObjectItem(json, "lr")->valuedouble;
            assert_true(fabs(lr - gpt_lr(&t, step - 1)) <= 1e-6 * lr);
            assert_true(cJSON_GetObjectItem(json, "grad_norm")->valuedouble > 0);
            assert_int_equal(cJSON_GetObjectItem(json, "degenerate_rows")->valueint, 0);
            const double rate = cJSON_GetObjectItem(json, "tokens_per_s")->valuedouble;
            const double share = cJSON_GetObjectItem(json, "peak_share")->valuedouble;
            const double eta_s = cJSON_GetObjectItem(json, "eta_s")->valuedouble;
            const double expected = rate * gpt_pass_flop(&model, 3, c.context) / (3 * c.context) /
                                    gpt_matmul_peak(&k_ref);
            assert_true(rate > 0 && (expected > 1 || fabs(share - expected) <= 1e-6 * expected));
            assert_true(fabs(eta_s * rate - (23 - step) * 3 * c.context) <= 1e-5 * 23 * 33);
            assert_null(cJSON_GetObjectItem(json, "skipped"));
        }
        assert_true(cJSON_GetObjectItem(json, "memory_mb")->valuedouble > 1);
        if (step == 1) { /* the loss before the first update */
            assert_int_equal(gpt_create(&fresh, &c, &k_ref, 9), 0);
            assert_int_equal(gpt_batch_create(&batch, &c, 3, c.context), 0);
            tiny_fill(&batch, &c, 1000);
            assert_int_equal(gpt_loss(&fresh, &batch, &loss), 0);
            const double found = cJSON_GetObjectItem(json, "loss")->valuedouble;
            assert_true(fabs(found - loss) <= 1e-5 * loss);
            gpt_batch_free(&batch);
            gpt_free(&fresh);
        }
        cJSON_Delete(json);
    }
    assert_int_equal(lines, 6);
    free(text);
    gpt_free(&model);
}

/* Matmul work of a pass by hand: weights of the linear layers, pairs of positions. */
TEST(test_flop)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 9), 0);
    const double weights = 18 * (2 * (54 + 18 + 26 + 26) + 11 + 2); /* blocks, input 11, head 2 */
    const double flop = 3 * (6 * 7 * weights + 12.0 * 28 * 18 * 2); /* 28 pairs of 7 positions */
    assert_true(gpt_pass_flop(&model, 3, 7) == flop);
    model.config.attention_window = 2; /* 1 + 6 * 2 pairs */
    assert_true(gpt_pass_flop(&model, 3, 7) == flop - 3 * 12.0 * 15 * 18 * 2);
    gpt_free(&model);
}

/* The live line shows a speed that can be read: of the last full second, whatever lines the log
 * gets meanwhile; in the first second, of all of it. */
TEST(test_live_speed)
{
    struct gpt_meter meter = {.live = NAN, .peak = NAN, .positions_per_step = 100};
    const struct gpt_log_entry entry = {.step = 1, .steps = 9, .loss = 1, .lr = 1, .norm = 1};
    struct orr_log log;
    char path[4096], detail[160];
    scratch_path(path, dir, "live.jsonl");
    assert_int_equal(orr_log_open(&log, path, false), 0);
    const struct {
        double seconds, shown;
    } steps[] = {{0.25, 400}, {0.15, 500}, {0.7, 300 / 1.1}, {0.01, 300 / 1.1}, {1, 200 / 1.01}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char expected[64];
        gpt_meter_add(&meter, steps[i].seconds);
        gpt_log_detail(&entry, &meter, detail);
        snprintf(expected, sizeof expected, " %.0f positions/s,", steps[i].shown);
        assert_non_null(strstr(detail, expected));
        assert_int_equal(gpt_log_step(&log, &entry, &meter), 0);
    }
    meter = (struct gpt_meter){.live = NAN, .flop = 5, .peak = 4000, .positions_per_step = 100};
    gpt_meter_add(&meter, 0.25); /* 2000 of 4000 */
    gpt_log_detail(&entry, &meter, detail);
    assert_non_null(strstr(detail, ", 50% of peak, "));
    meter.peak = 1300; /* measured beside other work: 154% of it are no share */
    gpt_log_detail(&entry, &meter, detail);
    assert_non_null(strstr(detail, "400 positions/s,"));
    assert_null(strstr(detail, "peak"));
    assert_int_equal(gpt_log_step(&log, &entry, &meter), 0);
    orr_log_close(&log);
    char *text;
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    assert_non_null(strstr(strrchr(text, '{'), "\"peak_share\": null"));
    free(text);
}

/* What a power loss leaves in a log ends no training that goes on: lines that are none are left
 * out, and all others stay. */
TEST(test_trimmed_log)
{
    static const char text[] = "{\"step\": 1}\n{\"st\0\0\0\n{\"step\": 2}\n{\"step\": 3} x\n"
                               "{\"step\": 4}\n{\"step\": 5}\n\0\0";
    char path[4096], *left;
    scratch_path(path, dir, "trimmed.jsonl");
    scratch_write(path, text, sizeof text - 1);
    assert_int_equal(gpt_log_trim(path, 4), 0);
    assert_int_equal(orr_file_read(path, &left, NULL), 0);
    assert_string_equal(left, "{\"step\": 1}\n{\"step\": 2}\n{\"step\": 4}\n");
    free(left);
}

static int looks;

static int peak_of_2_5(double *gflops)
{
    *gflops = 2.5;
    return ++looks == 1 ? 0 : ORR_FAIL(ORR_EDEVICE, "no second look");
}

/* The peak is that of the backend's own operation, measured once; without one there is no share. */
TEST(test_peak)
{
    struct k_ops once = k_ref, fails = k_ref;
    once.peak = fails.peak = peak_of_2_5;
    assert_true(gpt_matmul_peak(&once) == 2.5e9);
    assert_true(gpt_matmul_peak(&once) == 2.5e9);
    assert_int_equal(looks, 1);
    assert_true(isnan(gpt_matmul_peak(&fails)));
    assert_true(isnan(gpt_matmul_peak(&fails)));
    assert_int_equal(looks, 2);
    assert_string_equal(orr_error(), "");
    const double peak = gpt_matmul_peak(&k_ref);
    assert_true(peak > 1e6 && peak < 1e15);
    assert_true(gpt_matmul_peak(&k_ref) == peak);
}

/* A loss that is no number ends the training by name; the last checkpoint stays as it was. */
TEST(test_diverged)
{
    struct gpt_config c = tiny_continuous();
    struct orr_train_settings t = tiny_training(20, 3);
    struct tiny_data data;
    struct gpt_model model, saved;
    char folder[4096], path[4096];
    long step = 0;
    scratch_path(folder, dir, "diverged");
    scratch_path(path, folder, "last.safetensors");
    tiny_data_create(&data, &c, 30);
    t.checkpoint_every = 5;
    data.broken_at = 12;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 9), 0);
    const struct gpt_task task = tiny_task(&data, folder);
    assert_int_equal(gpt_train(&model, &t, &task, &step), ORR_EDIVERGED);
    error_names("step 13", NULL);
    assert_int_equal(gpt_load(&saved, path, &k_ref, &step), 0);
    assert_int_equal(step, 10);
    for (size_t i = 0; i < saved.total; i++)
        assert_true(isfinite(saved.param[i]) && isfinite(model.param[i]));
    gpt_batch_free(&data.held_out);
    gpt_free(&model);
    gpt_free(&saved);
}

TESTS(scratch_setup, scratch_teardown)
