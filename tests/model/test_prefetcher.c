/* test_prefetcher.c - batches made ahead by a thread are those made in the step: the same bits of
 * weights, each batch asked for, errors and their messages arrive. */
#include "tiny.h"

#include <pthread.h>

#include "model/train/prefetcher.h"

static char *const dir = scratch_dir;

struct seen {
    struct tiny_data data;
    pthread_t caller;
    long calls, in_thread, order_broken, last;
    long fails_at;
};

static int seen_fill(void *context, long step, int pass, struct gpt_batch *batch)
{
    struct seen *seen = context;
    const long number = step * seen->data.passes + pass;
    seen->calls++;
    seen->in_thread += !pthread_equal(pthread_self(), seen->caller);
    seen->order_broken += number != seen->last + 1;
    seen->last = number;
    if (step == seen->fails_at)
        return ORR_FAIL(ORR_EFORMAT, "sequence %ld is broken", number);
    return tiny_task_fill(&seen->data, step, pass, batch);
}

static int run(const char *name, bool in_step, int accumulation, struct seen *seen,
               struct gpt_model *model)
{
    static struct gpt_config c;
    struct orr_train_settings t = tiny_training(12, 3);
    char folder[4096];
    long step = 0;
    c = tiny_continuous();
    t.accumulation = accumulation;
    t.eval_every = 5;
    const long fails_at = seen->fails_at;
    *seen = (struct seen){.caller = pthread_self(), .last = -1, .fails_at = fails_at};
    tiny_data_create(&seen->data, &c, 17);
    seen->data.passes = accumulation;
    scratch_path(folder, dir, name);
    struct gpt_task task = tiny_task(&seen->data, folder);
    task.evaluate = NULL;
    task.context = seen;
    task.fill = seen_fill;
    task.fill_in_step = in_step;
    assert_int_equal(gpt_create(model, &c, &k_ref, 6), 0);
    const int rc = gpt_train(model, &t, &task, &step);
    gpt_batch_free(&seen->data.held_out);
    return rc;
}

TEST(test_same_bits)
{
    for (int passes = 1; passes <= 3; passes++) {
        struct seen seen = {.fails_at = -1};
        struct gpt_model ahead, in_step;
        assert_int_equal(run("ahead", false, passes, &seen, &ahead), 0);
        assert_int_equal(seen.calls, 12 * passes); /* nothing made twice, nothing past the end */
        assert_int_equal(seen.in_thread, 12 * passes - 1);
        assert_int_equal(seen.order_broken, 0);
        assert_int_equal(run("in_step", true, passes, &seen, &in_step), 0);
        assert_int_equal(seen.calls, 12 * passes);
        assert_int_equal(seen.in_thread, 0);
        assert_true(tiny_same(ahead.param, in_step.param, ahead.total));
        assert_true(tiny_same(ahead.m, in_step.m, ahead.total));
        gpt_free(&ahead);
        gpt_free(&in_step);
    }
}

/* An error of the thread is the training's, with its message; that of a batch that is never asked
 * for is not. */
TEST(test_errors)
{
    struct gpt_model model;
    struct seen seen = {.fails_at = 7};
    assert_int_equal(run("fails", false, 2, &seen, &model), ORR_EFORMAT);
    error_names("sequence 14 is broken", NULL);
    assert_true(seen.in_thread > 0);
    gpt_free(&model);
    seen.fails_at = 0; /* the first batch of all is made without a thread */
    assert_int_equal(run("fails", false, 1, &seen, &model), ORR_EFORMAT);
    error_names("sequence 0 is broken", NULL);
    assert_int_equal(seen.in_thread, 0);
    gpt_free(&model);
}

/* Asked for another batch than was foreseen, the prefetcher makes that one. */
TEST(test_other)
{
    struct gpt_config c = tiny_continuous();
    struct seen seen = {.caller = pthread_self(), .last = -1, .fails_at = -1};
    struct gpt_prefetcher prefetcher;
    struct gpt_batch *batch, expected;
    tiny_data_create(&seen.data, &c, 17);
    struct gpt_task task = tiny_task(&seen.data, dir);
    task.context = &seen;
    task.fill = seen_fill;
    assert_int_equal(gpt_batch_create(&expected, &c, 3, c.context), 0);
    assert_int_equal(gpt_prefetcher_open(&prefetcher, &task, &c, 3), 0);
    static const long ahead[] = {1, 5, 2, 9}, taken[] = {1, 3, 2, 8};
    for (int i = 0; i < 4; i++) {
        gpt_prefetcher_start(&prefetcher, ahead[i], 0);
        assert_int_equal(gpt_prefetcher_take(&prefetcher, taken[i], 0, &batch), 0);
        assert_int_equal(tiny_task_fill(&seen.data, taken[i], 0, &expected), 0);
        assert_true(tiny_same(batch->target, expected.target, 3 * (size_t)c.context * 2));
        assert_true(tiny_same(batch->features, expected.features, 3 * (size_t)c.context * 11));
    }
    gpt_prefetcher_start(&prefetcher, 3, 0); /* closed while the thread may be at work */
    gpt_prefetcher_close(&prefetcher);
    gpt_batch_free(&expected);
    gpt_batch_free(&seen.data.held_out);
}

TESTS(scratch_setup, scratch_teardown)
