/* The fused multiply-add of WebAssembly (lab/port/fma.h) against the C library's. */
#include "tests/testing.h"

#include <math.h>

#include "lab/port/fma.h"

static uint64_t state_of_draws = 88172645463325252u;
static uint64_t draw(void)
{
    state_of_draws ^= state_of_draws << 13;
    state_of_draws ^= state_of_draws >> 7;
    return state_of_draws ^= state_of_draws << 17;
}

/* Of size 2^-range to 2^range; a third have few digits, so that sums end halfway. */
static double number(int range)
{
    const double digits =
        draw() % 3 ? 1 + (double)(draw() >> 12) * 0x1p-52 : 1 + (double)(draw() % 1024) * 0x1p-26;
    const double size = ldexp(digits, (int)(draw() % (2 * (unsigned)range + 1)) - range);
    return draw() & 1 ? -size : size;
}

static void check_one(double a, double b, double c)
{
    const double found = lab_fma(a, b, c), expected = fma(a, b, c);
    if (lab_bits(found) != lab_bits(expected) && !(isnan(found) && isnan(expected)))
        fail_msg("fma(%a, %a, %a): expected %a, found %a", a, b, c, expected, found);
}

TEST(every_bit_is_that_of_the_c_library)
{
    static const int range[] = {2, 30, 110, 400};
    for (int i = 0; i < 4000000; i++) {
        const int most = range[i % 4];
        const double a = number(most), b = number(most), c = number(most), p = a * b;
        check_one(a, b, c);
        check_one(a, b, -p);                                        /* the error of the product */
        check_one(a, b, -p * (1 + 0x1p-52 * (double)(draw() % 8))); /* what cancels nearly */
        check_one(a, b, p * ldexp(draw() & 1 ? 1 : -1, -53 + (int)(draw() % 3))); /* halfway */
    }
}

/* a b = 1 + 2^-3k rounds to 1, and what it lacks decides where the sum lies halfway. */
TEST(what_the_product_lost_decides_between_neighbours)
{
    for (int i = 0; i < 100000; i++) {
        const double x = ldexp(draw() & 1 ? 1 : -1, -18 - (int)(draw() % 9)), b = 1 - x + x * x;
        const double half = ldexp(draw() & 1 ? 1 : -1, -53 - (int)(draw() % 2));
        check_one(1 + x, b * half, 1 + (double)(draw() >> 12) * 0x1p-52);
    }
}

TEST(zeros_keep_their_sign_and_what_is_not_finite_passes)
{
    static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0x1p-1074, 3};
    enum { N = sizeof special / sizeof *special };
    for (int i = 0; i < N * N * N; i++)
        check_one(special[i % N], special[i / N % N], special[i / N / N]);
}

TESTS(NULL, NULL)
