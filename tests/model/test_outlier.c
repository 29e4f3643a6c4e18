/* test_outlier.c - steps that are skipped, the end by patience, numbers that are not: what is
 * decided, what is logged, and that a resumed run decides the same. */
#include "tiny.h"

#include <sys/wait.h>

#include <cjson/cJSON.h>

#include "model/train/monitor.h"

static char *const dir = scratch_dir;

static struct orr_train_settings guarded(void)
{
    struct orr_train_settings t = tiny_training(40, 3);
    t.outlier_sigma = 6;
    t.outlier_window = 10;
    t.outlier_most = 2;
    t.eval_every = 6;
    t.checkpoint_every = 9;
    t.ema = 0.8;
    return t;
}

/* ------------------------------------------------------------------------ the rule itself */

/* The window holds 1..4: mean 2.5, deviation sqrt(1.25). */
TEST(test_rule)
{
    struct orr_train_settings t = {.outlier_sigma = 2, .outlier_window = 4, .outlier_most = 2};
    struct gpt_monitor w;
    const char *why;
    const double edge = 2.5 + 2 * sqrt(1.25);
    assert_int_equal(gpt_monitor_create(&w, &t), 0);
    for (int i = 1; i <= 4; i++) { /* not judged before the window is full */
        assert_int_equal(gpt_monitor_step(&w, i, i == 4 ? 1 : i + 1, 10 * i, &why), 0);
        assert_null(why);
    }
    assert_int_equal(gpt_monitor_step(&w, 5, edge * (1 + 1e-9), 10, &why), 0);
    assert_string_equal(why, "loss");
    assert_int_equal(gpt_monitor_step(&w, 6, 1, 10 * edge * (1 + 1e-9), &why), 0);
    assert_string_equal(why, "grad_norm");
    assert_int_equal(w.skipped, 2);
    assert_int_equal(gpt_monitor_step(&w, 7, edge * (1 + 1e-9), 10, &why), ORR_EDIVERGED);
    error_names("step 7", "2 outliers", "window of 4", NULL);
    w.in_row = 2; /* as before that */
    assert_int_equal(gpt_monitor_step(&w, 8, edge * (1 - 1e-9), 10 * edge * (1 - 1e-9), &why), 0);
    assert_null(why); /* what was skipped is not in the window; a low value is never one */
    assert_int_equal(w.in_row, 0);
    assert_int_equal(gpt_monitor_step(&w, 9, -1e9, 0, &why), 0);
    assert_null(why);
    gpt_monitor_free(&w);

    t.outlier_sigma = 0; /* off */
    assert_int_equal(gpt_monitor_create(&w, &t), 0);
    for (int i = 1; i < 20; i++) {
        assert_int_equal(gpt_monitor_step(&w, i, i == 12 ? 1e30 : 1, 1, &why), 0);
        assert_null(why);
    }
    gpt_monitor_free(&w);
}

/* State as text: the same decisions, to the last bit of the limit. */
TEST(test_state_text)
{
    struct orr_train_settings t = {
        .outlier_sigma = 1.5, .outlier_window = 7, .outlier_most = 99, .patience = 3};
    struct gpt_monitor a, b;
    char *text, *again;
    const char *why_a, *why_b;
    assert_int_equal(gpt_monitor_create(&a, &t), 0);
    int skipped = 0;
    for (int step = 1; step < 60; step++) {
        assert_int_equal(gpt_monitor_create(&b, &t), 0);
        assert_int_equal(gpt_monitor_print(&a, &text), 0);
        assert_int_equal(gpt_monitor_parse(&b, "x", text), 0);
        const double loss = tiny_uniform(1, (uint64_t)step), norm = tiny_uniform(2, (uint64_t)step);
        assert_int_equal(gpt_monitor_step(&a, step, loss, norm, &why_a), 0);
        assert_int_equal(gpt_monitor_step(&b, step, loss, norm, &why_b), 0);
        assert_true(why_a == why_b || (why_a && why_b && !strcmp(why_a, why_b)));
        skipped += why_a != NULL;
        assert_int_equal(gpt_monitor_evaluation(&a, loss), gpt_monitor_evaluation(&b, loss));
        free(text);
        assert_int_equal(gpt_monitor_print(&a, &text), 0);
        assert_int_equal(gpt_monitor_print(&b, &again), 0);
        assert_string_equal(text, again);
        free(text);
        free(again);
        gpt_monitor_free(&b);
    }
    assert_in_range(skipped, 3, 40);
    static const char *const bad[] = {"",
                                      "0 0x1p0 0 0 0 8 1 1",
                                      "0 0x1p0 0 0 0 2 1 1 1",
                                      "0 nan 0 0 0 0",
                                      "0 1 -1 0 0 0",
                                      "2 1 0 0 0 0",
                                      "0 1 0 0x1p32 2147483647 0", /* one more would overflow */
                                      "0 1 0 3 4 0"};              /* more in a row than at all */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gpt_monitor_parse(&a, "f.safetensors", bad[i]), ORR_EFORMAT);
        error_names("f.safetensors", "training", NULL);
    }
    gpt_monitor_free(&a);
}

/* ------------------------------------------------------------------------ whole trainings */

struct wild {
    struct tiny_data data;
    long from, to; /* steps whose targets are a thousand times too large */
};
static bool without_best; /* as fine-tuning: held-out losses, but no file of the best weights */

static int wild_fill(void *context, long step, int pass, struct gpt_batch *batch)
{
    const struct wild *wild = context;
    const int rc = tiny_task_fill((void *)&wild->data, step, pass, batch);
    for (size_t i = 0; i < (size_t)batch->B * (size_t)batch->T * 2; i++)
        if (step >= wild->from && step < wild->to)
            batch->target[i] *= 1000;
    return rc;
}

static int wild_evaluate(void *context, struct gpt_model *model, double *loss)
{
    struct wild *wild = context;
    return tiny_task_evaluate(&wild->data, model, loss);
}

/* Trains, or trains on; stop_at as in tiny.h. */
static int run(const char *name, const struct orr_train_settings *t, long from, long to,
               long stop_at, long *step)
{
    struct gpt_config c = tiny_continuous();
    struct wild wild = {.from = from, .to = to};
    struct gpt_model model;
    char folder[4096], last[4096];
    scratch_path(folder, dir, name);
    scratch_path(last, folder, "last.safetensors");
    tiny_data_create(&wild.data, &c, 17);
    wild.data.stop_at = stop_at;
    struct gpt_task task = tiny_task(&wild.data, folder);
    task.context = &wild;
    task.fill = wild_fill;
    task.evaluate = wild_evaluate;
    task.fill_in_step = stop_at >= 0;
    if (without_best)
        task.best = NULL;
    *step = 0;
    int rc = orr_exists(last) ? gpt_load_as(&model, last, &c, false, &k_ref, step)
                              : gpt_create(&model, &c, &k_ref, 6);
    if (!rc)
        rc = gpt_train(&model, t, &task, step);
    gpt_batch_free(&wild.data.held_out);
    gpt_free(&model);
    return rc;
}

static void run_stopped(const char *name, const struct orr_train_settings *t, long from, long to,
                        long stop_at)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        long step;
        orr_signals_catch();
        _exit(run(name, t, from, to, stop_at, &step) == ORR_EINTR ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static uint64_t sum_of(const char *name, const char *file)
{
    char path[4096];
    uint64_t sum, bytes;
    assert_int_equal(orr_path(path, "%s/%s/%s", dir, name, file), 0);
    assert_int_equal(orr_file_checksum(path, &sum, &bytes), 0);
    return sum;
}

static void same(const char *a, const char *b)
{
    assert_int_equal(sum_of(a, "last.safetensors"), sum_of(b, "last.safetensors"));
    assert_int_equal(sum_of(a, "best.safetensors"), sum_of(b, "best.safetensors"));
}

/* Lines with the key, the numbers of `key` summed. */
static int logged(const char *name, const char *word, const char *key, double *last)
{
    char path[4096], *text, *rest = NULL;
    int lines = 0;
    assert_int_equal(orr_path(path, "%s/%s/log.jsonl", dir, name), 0);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cJSON *json = cJSON_Parse(line);
        assert_non_null(json);
        if (cJSON_GetObjectItem(json, word)) {
            lines++;
            *last = cJSON_GetObjectItem(json, key)->valuedouble;
        }
        cJSON_Delete(json);
    }
    free(text);
    return lines;
}

/* Two outliers are skipped: no update, a line each; a stop before, between and after them, inside
 * the window, changes nothing. */
TEST(test_skipped)
{
    const struct orr_train_settings t = guarded();
    struct orr_train_settings off = t;
    long step;
    double last = 0;
    off.outlier_sigma = 0;
    assert_int_equal(run("whole", &t, 22, 24, -1, &step), 0);
    assert_int_equal(step, 40);
    assert_int_equal(logged("whole", "skipped", "skipped_steps", &last), 2);
    assert_true(last == 2);
    assert_int_equal(logged("whole", "skipped", "step", &last), 2);
    assert_true(last == 24);
    assert_int_equal(run("off", &off, 22, 24, -1, &step), 0);
    assert_true(sum_of("off", "last.safetensors") != sum_of("whole", "last.safetensors"));
    static const long stops[] = {4, 14, 22, 23, 29};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        char name[32];
        snprintf(name, sizeof name, "stopped%zu", i);
        run_stopped(name, &t, 22, 24, stops[i]);
        assert_int_equal(run(name, &t, 22, 24, -1, &step), 0);
        same("whole", name);
    }
    run_stopped("pieces", &t, 22, 24, 14);
    run_stopped("pieces", &t, 22, 24, 22);
    run_stopped("pieces", &t, 22, 24, 25);
    assert_int_equal(run("pieces", &t, 22, 24, -1, &step), 0);
    same("whole", "pieces");
    assert_int_equal(run("many", &t, 22, 27, -1, &step), ORR_EDIVERGED);
    error_names("step 25", "more than 2 outliers", NULL);
    assert_int_equal(run("many", &t, 22, 24, -1, &step), 0); /* from the last good checkpoint */
    same("whole", "many");
}

/* A skipped step leaves weights, moments and average as they were. */
TEST(test_no_update)
{
    struct orr_train_settings t = guarded();
    long step;
    t.eval_every = 0;
    t.keep = 9;
    t.keep_every = 1;
    assert_int_equal(run("quiet", &t, 22, 24, -1, &step), 0);
    struct gpt_model model[2];
    char path[4096];
    long at;
    const int compared[][2] = {{22, 24}, {24, 25}};
    t.steps = 25; /* once more, so that the numbered files of these steps are still there */
    scratch_remove(scratch_at(dir, "quiet"));
    assert_int_equal(run("quiet", &t, 22, 24, -1, &step), 0);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            assert_int_equal(orr_path(path, "%s/quiet/last-%09d.safetensors", dir, compared[i][k]),
                             0);
            assert_int_equal(gpt_load(&model[k], path, &k_ref, &at), 0);
            assert_int_equal(at, compared[i][k]);
        }
        const size_t n = model[0].total;
        assert_int_equal(tiny_same(model[0].param, model[1].param, n), i == 0);
        assert_int_equal(tiny_same(model[0].m, model[1].m, n), i == 0);
        assert_int_equal(tiny_same(model[0].v, model[1].v, n), i == 0);
        assert_int_equal(tiny_same(model[0].average, model[1].average, n), i == 0);
        gpt_free(&model[0]);
        gpt_free(&model[1]);
    }
}

/* Patience ends the training so many evaluations after the best; also when it was stopped in
 * between; a complete one stays as it is. */
TEST(test_patience)
{
    struct orr_train_settings t = guarded();
    char path[4096];
    long step, best_step, saved;
    bool ended;
    double last;
    t.outlier_sigma = 0;
    t.steps = 200;
    t.lr = 6e-2;
    t.eval_every = 4;
    t.patience = 3;
    assert_int_equal(run("patient", &t, -1, -1, -1, &step), 0);
    assert_in_range(step, 16, 120);
    assert_int_equal(orr_path(path, "%s/patient/best.safetensors", dir), 0);
    struct gpt_model best;
    assert_int_equal(gpt_load(&best, path, &k_ref, &best_step), 0);
    gpt_free(&best);
    assert_int_equal(step, best_step + 12);
    assert_int_equal(logged("patient", "stopped", "step", &last), 1);
    assert_true((long)last == step);
    assert_int_equal(orr_path(path, "%s/patient/last.safetensors", dir), 0);
    assert_int_equal(gpt_progress(path, &saved, &ended), 0);
    assert_int_equal(saved, step);
    assert_true(ended);
    run_stopped("impatient", &t, -1, -1, best_step + 1);
    run_stopped("impatient", &t, -1, -1, best_step + 6);
    assert_int_equal(run("impatient", &t, -1, -1, -1, &step), 0);
    same("patient", "impatient");
    without_best = true; /* what was best is remembered all the same */
    run_stopped("bestless", &t, -1, -1, best_step + 1);
    run_stopped("bestless", &t, -1, -1, best_step + 6);
    assert_int_equal(run("bestless", &t, -1, -1, -1, &step), 0);
    without_best = false;
    assert_int_equal(sum_of("bestless", "last.safetensors"), sum_of("patient", "last.safetensors"));
    const uint64_t sum = sum_of("patient", "last.safetensors");
    assert_int_equal(run("patient", &t, -1, -1, -1, &step), 0);
    assert_int_equal(step, saved);
    assert_int_equal(sum_of("patient", "last.safetensors"), sum);
}

/* ---------------------------------------------------------------- numbers that are not */

/* Trains a model whose weight `index` is broken at the start, or at this rate. */
static int broken(const char *name, bool recompute, int index, double lr)
{
    struct gpt_config c = tiny_continuous();
    struct orr_train_settings t = tiny_training(30, 3);
    struct tiny_data data;
    struct gpt_model model;
    char folder[4096];
    long step = 0;
    c.recompute = recompute;
    t.checkpoint_every = 1;
    t.lr = lr;
    scratch_path(folder, dir, name);
    tiny_data_create(&data, &c, 17);
    const struct gpt_task task = tiny_task(&data, folder);
    assert_int_equal(gpt_create(&model, &c, &k_ref, 6), 0);
    if (index >= 0)
        gpt_param(&model, index)[1] = NAN;
    const int rc = gpt_train(&model, &t, &task, &step);
    gpt_batch_free(&data.held_out);
    gpt_free(&model);
    return rc;
}

TEST(test_layers)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    char path[4096];
    assert_int_equal(gpt_create(&model, &c, &k_ref, 6), 0);
    const struct gpt_block *b = &model.block[1];
    const struct {
        int index;
        const char *name;
    } cases[] = {
        {model.embed_w, "the embedding"},
        {model.block[0].qkv_w, "block.0.attention.qkv"},
        {b->ln1_w, "block.1.ln1"},
        {b->qkv_w, "block.1.attention.qkv"},
        {b->proj_w, "block.1.attention.proj"},
        {b->up_w, "block.1.ffn.up"},
        {b->down_b, "block.1.ffn.down"},
        {model.final_w, "the final norm"},
        {model.head_b, "the head"},
    };
    for (int recompute = 0; recompute < 2; recompute++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            assert_int_equal(broken("broken", recompute, cases[i].index, 1e-3), ORR_EDIVERGED);
            error_names("step 1:", "not finite", cases[i].name, NULL);
        }
    assert_int_equal(orr_path(path, "%s/broken/last.safetensors", dir), 0);
    assert_false(orr_exists(path));
    gpt_free(&model);

    /* steps so large that numbers overflow: what was saved before is whole */
    assert_int_equal(broken("far", false, -1, 1e25), ORR_EDIVERGED);
    error_names("not finite", NULL);
    assert_non_null(strstr(orr_error(), "step "));
    assert_int_equal(orr_path(path, "%s/far/last.safetensors", dir), 0);
    assert_int_equal(gpt_load(&model, path, &k_ref, NULL), 0);
    for (size_t i = 0; i < model.total; i++)
        assert_true(isfinite(model.param[i]));
    gpt_free(&model);
    /* the update itself overflows: nothing of it is saved */
    assert_int_equal(broken("farther", false, -1, 1e39), ORR_EDIVERGED);
    error_names("step 1:", "not finite: not saved", NULL);
    assert_int_equal(orr_path(path, "%s/farther/last.safetensors", dir), 0);
    assert_false(orr_exists(path));
}

/* The gradient that is bad first in the backward pass is named, whatever came of it. */
TEST(test_gradient)
{
    struct gpt_config c = tiny_continuous();
    struct orr_train_settings t = tiny_training(10, 1);
    struct gpt_model model;
    double norm;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 4), 0);
    gpt_zero_grad(&model);
    gpt_grad(&model, model.block[0].qkv_w)[3] = NAN;
    gpt_grad(&model, model.embed_w)[0] = NAN;
    gpt_grad(&model, model.block[1].proj_w)[5] = INFINITY;
    assert_int_equal(gpt_update(&model, &t, 7, &norm), ORR_EDIVERGED);
    error_names("step 8", "block.1.attention.proj.weight", NULL);
    gpt_free(&model);
}

TESTS(scratch_setup, scratch_teardown)
