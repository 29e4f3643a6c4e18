/* test_isa.c - the choice of an instruction set: the best one of the CPU, or ORRERY_ISA's. */
#include "scratch.h"

#include "base/isa.h"

static enum orr_isa best(void)
{
    enum orr_isa isa = ORR_ISA_PLAIN;
    for (int i = 0; i < ORR_ISA_COUNT; i++)
        isa = orr_isa_has((enum orr_isa)i) ? (enum orr_isa)i : isa;
    return isa;
}

static void ask_for(const char *name)
{
    assert_int_equal(name ? setenv("ORRERY_ISA", name, 1) : unsetenv("ORRERY_ISA"), 0);
    orr_isa_force(ORR_ISA_COUNT); /* forgets what was chosen */
}

TEST(the_best_without_a_name)
{
    static const char *const none[] = {NULL, ""};
    for (int i = 0; i < 2; i++) {
        ask_for(none[i]);
        assert_int_equal(orr_isa_check(), 0);
        assert_false(orr_isa_is_forced());
        assert_int_equal(orr_isa(), best());
    }
}

/* A set contains those before it. */
TEST(every_set_by_its_name)
{
    for (int i = 0; i < ORR_ISA_COUNT; i++) {
        const enum orr_isa isa = (enum orr_isa)i;
        ask_for(orr_isa_name(isa));
        assert_true(orr_isa_is_forced());
        if (orr_isa_has(isa)) {
            assert_int_equal(orr_isa_check(), 0);
            assert_int_equal(orr_isa(), isa);
            assert_true(isa <= best());
        } else {
            assert_int_equal(orr_isa_check(), ORR_EDEVICE);
            assert_non_null(strstr(orr_error(), orr_isa_name(isa)));
            assert_non_null(strstr(orr_error(), orr_isa_name(best())));
            assert_int_equal(orr_isa(), best());
            assert_true(isa > best());
        }
    }
    ask_for(NULL);
}

TEST(unknown_names)
{
    static const char *const names[] = {"AVX2", "avx", "avx512 ", "sse"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ask_for(names[i]);
        assert_int_equal(orr_isa_check(), ORR_EUSAGE);
        assert_non_null(strstr(orr_error(), names[i]));
        assert_int_equal(orr_isa(), best());
    }
    ask_for(NULL);
}

TEST(forced_by_a_test)
{
    ask_for(orr_isa_name(best()));
    orr_isa_force(ORR_ISA_PLAIN);
    assert_int_equal(orr_isa(), ORR_ISA_PLAIN);
    orr_isa_force(ORR_ISA_COUNT);
    assert_int_equal(orr_isa(), best());
    ask_for(NULL);
}

TESTS(NULL, NULL)
