/* testing.h - cmocka, and tests that list themselves:
 *
 *     TEST(sums_are_exact)
 *     {
 *         assert_int_equal(sum(2, 3), 5);
 *     }
 *     TESTS(NULL, NULL)    main(): every test of the file, between a setup and a teardown
 *
 * TEST_FILTER=pattern in the environment runs those that it matches. A program that needs another
 * main() calls tests_run() there. */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TESTS_MOST = 64 };
static struct CMUnitTest
    tests[TESTS_MOST]; /* in the order of their lines; cmocka skips the empty */
static int tests_line[TESTS_MOST];

static inline void tests_add(struct CMUnitTest test, int line)
{
    size_t at = 0;
    while (tests[at].name)
        at++;
    if (at == TESTS_MOST)
        abort();
    for (; at > 0 && tests_line[at - 1] > line; at--) {
        tests[at] = tests[at - 1];
        tests_line[at] = tests_line[at - 1];
    }
    tests[at] = test;
    tests_line[at] = line;
}

static inline int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    cmocka_set_test_filter(getenv("TEST_FILTER"));
    return cmocka_run_group_tests(tests, setup, teardown);
}

/* A test with a setup and a teardown of its own. */
#define TEST_BETWEEN(function, setup, teardown)                                                    \
    static void function(void **state);                                                            \
    __attribute__((constructor)) static void list_##function(void)                                 \
    {                                                                                              \
        tests_add((struct CMUnitTest){#function, function, setup, teardown, NULL}, __LINE__);      \
    }                                                                                              \
    static void function(__attribute__((unused)) void **state)

#define TEST(function) TEST_BETWEEN(function, NULL, NULL)

/* A setup or teardown; it returns 0. */
#define FIXTURE(function) static int function(__attribute__((unused)) void **state)

#define TESTS(setup, teardown)                                                                     \
    int main(void)                                                                                 \
    {                                                                                              \
        return tests_run(setup, teardown);                                                         \
    }

#endif
