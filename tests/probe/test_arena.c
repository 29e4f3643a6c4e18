/* test_arena.c - memory that is freed together. */
#include "base/scratch.h"

#include "probe/core/arena.h"

/* Arrays are zeroed and keep their content while others come and go behind them. */
TEST(test_rewind)
{
    enum { ARRAYS = 37, NUMBERS = 5 };
    struct probe_arena arena = {0};
    int *array[ARRAYS];
    for (int pass = 0; pass < 3; pass++) {
        const size_t kept = arena.count;
        assert_int_equal(kept, 10 * pass);
        for (int k = 10 * pass; k < ARRAYS; k++) {
            array[k] = probe_take(&arena, NUMBERS, sizeof **array);
            for (int i = 0; i < NUMBERS; i++) {
                assert_int_equal(array[k][i], 0);
                array[k][i] = 100 * k + i;
            }
        }
        for (int k = 0; k < ARRAYS; k++)
            for (int i = 0; i < NUMBERS; i++)
                assert_int_equal(array[k][i], 100 * k + i);
        probe_rewind(&arena, kept + 10);
    }
    assert_int_equal(arena.failed, 0);
    probe_rewind(&arena, 0);
    assert_int_equal(arena.count, 0);
    assert_null(arena.block);
}

/* What cannot be had is remembered, whatever is taken afterwards. */
TEST(test_failure)
{
    struct probe_arena arena = {0};
    assert_non_null(probe_take(&arena, 3, 1));
    assert_null(probe_take(&arena, SIZE_MAX / 2, 4));
    assert_int_equal(arena.count, 1);
    assert_non_null(probe_take(&arena, 3, 1));
    assert_int_equal(arena.failed, ORR_ENOMEM);
    probe_rewind(&arena, 0);
}

TESTS(NULL, NULL)
