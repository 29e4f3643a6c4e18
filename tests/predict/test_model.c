/* test_model.c - times of counted work against sums by hand, tiles against counting them one by
 * one. */
#include "predict.h"

#include <math.h>
#include <string.h>

#include <setjmp.h>
#include <cmocka.h>

static void close_to(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("found %.17g, expected %.17g", value, expected);
}

/* Every pair of a query and a key at or before it, by the tile that it lies in. */
static void tiles_are_those_with_pairs(void **state)
{
    (void)state;
    const struct {
        int T, rows, columns;
    } shapes[] = {{999, 64, 64},   {999, 16, 64}, {999, 32, 16}, {1024, 128, 64},
                  {1024, 64, 128}, {7, 3, 2},     {1, 64, 64},   {130, 7, 50}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int T = shapes[s].T, rows = shapes[s].rows, columns = shapes[s].columns;
        int all = 0, masked = 0;
        for (int q = 0; q < T; q += rows)
            for (int k = 0; k < T; k += columns) {
                int attended = 0, not_attended = 0;
                for (int i = q; i < q + rows && i < T; i++)
                    for (int j = k; j < k + columns; j++)
                        j <= i ? attended++ : not_attended++;
                all += attended > 0;
                masked += attended > 0 && not_attended > 0;
            }
        assert_int_equal((int)predict_tiles(T, rows, columns, false), all);
        assert_int_equal((int)predict_tiles(T, rows, columns, true), masked);
    }
}

/* Work that takes an A100 one second of each pipe: clocks are 108 multiprocessors x 1.41e9. */
static void rates_of_an_a100(void **state)
{
    (void)state;
    const struct predict_machine *m = predict_machine_find("A100");
    const double clocks = 108 * 1.41e9;
    assert_non_null(m);
    const struct {
        enum predict_class class;
        enum predict_pipe pipe;
        double per_clock; /* instructions of warps, of a multiprocessor */
    } rows[] = {{PREDICT_FP32, PREDICT_PIPE_FMA, 2},      {PREDICT_IMAD, PREDICT_PIPE_FMA, 2},
                {PREDICT_HALF, PREDICT_PIPE_HALF, 2},     {PREDICT_FP64, PREDICT_PIPE_FP64, 1},
                {PREDICT_ALU, PREDICT_PIPE_ALU, 2},       {PREDICT_XU, PREDICT_PIPE_XU, 0.5},
                {PREDICT_SHUFFLE, PREDICT_PIPE_SHARED, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct predict_tally tally = {0};
        struct predict_time time;
        tally.count[rows[i].class] = rows[i].per_clock * clocks;
        predict_time_of(&time, m, &tally, 0);
        close_to(time.pipe_s[rows[i].pipe], 1);
        close_to(time.pipe_s[PREDICT_PIPE_ISSUE], rows[i].per_clock / 4);
        close_to(time.low_s, 1);
        close_to(time.high_s, 1 + rows[i].per_clock / 4);
    }
    struct predict_tally tally = {0};
    struct predict_time time;
    tally.multiply_adds[PREDICT_MMA] = 1024 * clocks; /* 312 TFLOP/s, the data sheet's */
    tally.shared_bytes = 100 * clocks;
    tally.local_bytes = 28 * clocks;
    tally.global_bytes = 2560 * 1.41e9;
    predict_time_of(&time, m, &tally, 2039e9 / 4);
    close_to(time.pipe_s[PREDICT_PIPE_TENSOR], 1);
    close_to(time.pipe_s[PREDICT_PIPE_SHARED], 1);
    close_to(time.pipe_s[PREDICT_PIPE_L2], 0.5);
    close_to(time.pipe_s[PREDICT_PIPE_DRAM], 0.25);
    close_to(time.low_s, 1);
    close_to(time.high_s, 2.75);
    close_to(predict_time_middle_s(&time), sqrt(2.75));
    assert_true(fabs(2 * 1024 * clocks / 312e12 - 1) < 0.001);
}

/* An H100 has twice the float lanes, and tensor cores that mma reaches to 62.9%. */
static void rates_of_an_h100(void **state)
{
    (void)state;
    const struct predict_machine *m = predict_machine_find("H100");
    assert_non_null(m);
    assert_true(fabs(2 * m->wgmma * m->multiprocessors * m->clock_ghz * 1e9 / 989e12 - 1) < 0.001);
    struct predict_tally tally = {0};
    struct predict_time mma, wgmma;
    tally.multiply_adds[PREDICT_MMA] = 1e15;
    predict_time_of(&mma, m, &tally, 0);
    tally.multiply_adds[PREDICT_MMA] = 0;
    tally.multiply_adds[PREDICT_WGMMA] = 1e15;
    predict_time_of(&wgmma, m, &tally, 0);
    close_to(wgmma.low_s / mma.low_s, 0.629);
    tally = (struct predict_tally){0};
    tally.count[PREDICT_FP32] = tally.count[PREDICT_IMAD] = 132 * 1.83e9;
    predict_time_of(&mma, m, &tally, 0);
    close_to(mma.pipe_s[PREDICT_PIPE_FMA], 0.25 + 0.5);
    assert_null(predict_machine_find("H1000"));
}

/* Kernels one after the other: ends add, and the largest pipe is that of the sums. */
static void times_add(void **state)
{
    (void)state;
    struct predict_time a = {.low_s = 2, .high_s = 3}, b = {.low_s = 1, .high_s = 5}, sum = {0};
    a.pipe_s[PREDICT_PIPE_XU] = 2;
    a.pipe_s[PREDICT_PIPE_ALU] = 1;
    b.pipe_s[PREDICT_PIPE_ALU] = 1.5;
    predict_time_add(&sum, &a, 1);
    predict_time_add(&sum, &b, 3);
    close_to(sum.low_s, 5);
    close_to(sum.high_s, 18);
    assert_int_equal(predict_time_largest(&a), PREDICT_PIPE_XU);
    assert_int_equal(predict_time_largest(&sum), PREDICT_PIPE_ALU);
}

/* 108 tiles of 256 x 128 are one wave of an A100, 109 are two; 27 share their sums four ways. */
static void products_take_whole_waves(void **state)
{
    (void)state;
    const struct predict_machine *m = predict_machine_find("A100");
    struct predict_gemm g = {256 * 108, 128, 1024, 2};
    struct predict_time time;
    const double wave = 256 * 128 * 1024 / 1024 / 1.41e9;
    predict_gemm_time(&time, m, &g);
    close_to(time.pipe_s[PREDICT_PIPE_TENSOR], wave);
    close_to(time.pipe_s[PREDICT_PIPE_DRAM],
             (2 * (256 * 108 * 1024. + 128 * 1024.) + 2 * 256 * 108 * 128.) / 2039e9);
    g.M += 1;
    predict_gemm_time(&time, m, &g);
    close_to(time.pipe_s[PREDICT_PIPE_TENSOR], 2 * wave);
    g = (struct predict_gemm){128 * 27, 128, 1024, 2};
    predict_gemm_time(&time, m, &g);
    close_to(time.pipe_s[PREDICT_PIPE_TENSOR], wave / 2 / 4);
}

static void expressions_and_their_errors(void **state)
{
    (void)state;
    struct predict_names *names;
    double value;
    assert_int_equal(predict_names_create(&names), 0);
    assert_int_equal(predict_names_set(names, "B", 3), 0);
    assert_int_equal(predict_names_set(names, "T", 130), 0);
    assert_int_equal(predict_evaluate(names, "B*ceil(T/64)+2^3", "here", &value), 0);
    close_to(value, 17);
    assert_int_equal(predict_evaluate(names, "pairs(T,64,64)-masked(T,64,64)", "here", &value), 0);
    close_to(value, 3);
    const struct {
        const char *text, *says;
    } wrong[] = {{"B*X", "X"}, {"B*", "here"}, {"0-B", "from 0 on; found -3"}, {"1/0", "inf"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(predict_evaluate(names, wrong[i].text, "here", &value), ORR_EFORMAT);
        assert_non_null(strstr(orr_error(), wrong[i].says));
        assert_non_null(strstr(orr_error(), "here"));
    }
    assert_int_equal(predict_names_set(names, "2x", 1), ORR_EFORMAT);
    assert_int_equal(predict_names_set(names, "a-b", 1), ORR_EFORMAT);
    assert_int_equal(predict_evaluate(names, "B", "here", &value), 0);
    close_to(value, 3);
    predict_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_those_with_pairs),
        cmocka_unit_test(rates_of_an_a100),
        cmocka_unit_test(rates_of_an_h100),
        cmocka_unit_test(times_add),
        cmocka_unit_test(products_take_whole_waves),
        cmocka_unit_test(expressions_and_their_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
