/* test_random.c - Philox against the published known answers, streams, and GSL on top. */
#include "base/draw.h"
#include "scratch.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

/* Random123's kat_vectors, philox4x32 with 10 rounds. */
TEST(test_known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } kat[] = {
        {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof kat / sizeof *kat; i++) {
        uint32_t out[4];
        orr_philox4x32(kat[i].counter, kat[i].key, out);
        assert_memory_equal(out, kat[i].out, sizeof out);
    }
}

/* A stream found by seeking, from any earlier state, is the stream found by creating. */
TEST(test_seek_equals_create)
{
    gsl_rng *moved = orr_rng_create(77, ORR_STAGE_NOISE, 3);
    for (int skip = 0; skip < 7; skip++) {
        gsl_rng *fresh = orr_rng_create(20260521, ORR_STAGE_TWO_BODY_VAL, 1ull << 41);
        orr_rng_seek(moved, 20260521, ORR_STAGE_TWO_BODY_VAL, 1ull << 41);
        for (int i = 0; i < 101; i++)
            assert_int_equal(gsl_rng_get(moved), gsl_rng_get(fresh));
        gsl_rng_free(fresh);
        for (int i = 0; i < skip; i++) /* leave a part of a block behind */
            gsl_rng_get(moved);
    }
    gsl_rng_free(moved);
}

/* Numbers of stages are part of file formats: new ones come last. */
TEST(test_stage_numbers)
{
    assert_int_equal(ORR_STAGE_TRAIN, 1);
    assert_int_equal(ORR_STAGE_PLANETS_VAL, 8);
    assert_int_equal(ORR_STAGE_SAMPLE, 13);
    assert_int_equal(ORR_STAGE_SOLAR, 17);
    assert_int_equal(ORR_STAGE_PLANETS_TEST, 18);
}

/* The first words of streams whose keys differ in one place all differ. */
TEST(test_streams_differ)
{
    enum { SEEDS = 9, STAGES = ORR_STAGE_PLANETS_TEST, INDICES = 31 };
    static uint64_t word[SEEDS * STAGES * INDICES];
    size_t n = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (int stage = 1; stage <= STAGES; stage++)
            for (uint64_t index = 0; index < INDICES; index++)
                word[n++] =
                    orr_rng_hash(seed * 0x9E3779B97F4A7C15ull, (enum orr_stage)stage, index, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(word[i] != word[k]);
}

/* hash(n) is block n of the stream: its first two words. */
TEST(test_hash_is_the_stream)
{
    gsl_rng *rng = orr_rng_create(5, ORR_STAGE_SHUFFLE, 12);
    for (uint64_t n = 0; n < 40; n++) {
        const uint64_t low = gsl_rng_get(rng), high = gsl_rng_get(rng);
        gsl_rng_get(rng);
        gsl_rng_get(rng);
        assert_true(orr_rng_hash(5, ORR_STAGE_SHUFFLE, 12, n) == (high << 32 | low));
    }
    gsl_rng_free(rng);
}

/* Many blocks at once are those of the block function, across the carry of their number. */
TEST(test_many_blocks)
{
    static const uint64_t first[] = {0, 5, 0xfffffffbu};
    const uint32_t key[2] = {0x9e3779b9u, 2385};
    const uint64_t index = 0x123456789abcdefull;
    uint32_t out[4 * ORR_BLOCKS], one[4];
    for (int isa = 0; isa < ORR_ISA_COUNT; isa++)
        for (size_t k = 0; k < sizeof first / sizeof *first && orr_draws_here(isa); k++) {
            orr_draws_here(isa)->blocks(key, index, first[k], out);
            for (uint64_t b = 0; b < ORR_BLOCKS; b++) {
                const uint64_t n = first[k] + b;
                const uint32_t counter[4] = {(uint32_t)n, (uint32_t)(n >> 32), (uint32_t)index,
                                             (uint32_t)(index >> 32)};
                orr_philox4x32(counter, key, one);
                assert_memory_equal(out + 4 * b, one, sizeof one);
            }
        }
}

TEST(test_uniform_is_that_of_gsl)
{
    gsl_rng *a = orr_rng_create(3, ORR_STAGE_SYMREG, 9),
            *b = orr_rng_create(3, ORR_STAGE_SYMREG, 9);
    for (int i = 0; i < 300; i++)
        assert_true(orr_rng_uniform(a) == gsl_rng_uniform(b));
    gsl_rng_free(a);
    gsl_rng_free(b);
}

/* Mean, variance and lag-one products of uniforms, within 5 standard errors; neighbours in index
 * are uncorrelated. */
TEST(test_uniform_moments)
{
    enum { N = 200000 };
    double sum = 0, square = 0, lag = 0, across = 0, before = 0.5;
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 0);
    gsl_rng *next = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 1);
    for (int i = 0; i < N; i++) {
        const double u = gsl_rng_uniform(rng), v = gsl_rng_uniform(next);
        assert_true(u >= 0 && u < 1);
        sum += u - 0.5;
        square += (u - 0.5) * (u - 0.5);
        lag += (u - 0.5) * (before - 0.5);
        across += (u - 0.5) * (v - 0.5);
        before = u;
    }
    const double root = sqrt(N);
    assert_true(fabs(sum) / root < 5 * sqrt(1 / 12.0));
    assert_true(fabs(square - N / 12.0) / root < 5 * sqrt(1 / 180.0));
    assert_true(fabs(lag) / root < 5 / 12.0);
    assert_true(fabs(across) / root < 5 / 12.0);
    gsl_rng_free(rng);
    gsl_rng_free(next);
}

/* Each of the 32 bits of gsl_rng_get is set half of the time; gsl_rng_uniform has 53 bits. */
TEST(test_bits)
{
    enum { N = 40000 };
    int ones[32] = {0}, low = 0;
    gsl_rng *rng = orr_rng_create(9, ORR_STAGE_TEST_SUITE, 2);
    assert_int_equal(gsl_rng_min(rng), 0);
    assert_int_equal(gsl_rng_max(rng), 0xffffffffu);
    for (int i = 0; i < N; i++) {
        const unsigned long word = gsl_rng_get(rng);
        for (int bit = 0; bit < 32; bit++)
            ones[bit] += (word >> bit & 1) != 0;
        const double scaled = gsl_rng_uniform(rng) * 0x1p53;
        assert_true(scaled == floor(scaled));
        low += fmod(scaled, 2) == 1;
    }
    for (int bit = 0; bit < 32; bit++)
        assert_true(abs(ones[bit] - N / 2) < 5 * (int)(sqrt(N) / 2));
    assert_true(abs(low - N / 2) < 5 * (int)(sqrt(N) / 2));
    gsl_rng_free(rng);
}

/* GSL's distributions draw from the generator: chi-square of uniform_int, 10 degrees of freedom,
 * below its 0.9999 quantile. */
TEST(test_gsl_draws)
{
    enum { N = 110000, CELLS = 11 };
    int count[CELLS] = {0};
    gsl_rng *rng = orr_rng_create(4, ORR_STAGE_TEST_SUITE, 3);
    for (int i = 0; i < N; i++)
        count[gsl_rng_uniform_int(rng, CELLS)]++;
    double chi = 0;
    for (int i = 0; i < CELLS; i++)
        chi += pow(count[i] - N / CELLS, 2) * CELLS / N;
    assert_true(chi < gsl_cdf_chisq_Pinv(0.9999, CELLS - 1));
    gsl_rng *clone = gsl_rng_clone(rng);
    assert_true(gsl_ran_gaussian(clone, 2.5) == gsl_ran_gaussian(rng, 2.5));
    gsl_rng_free(clone);
    gsl_rng_free(rng);
}

TESTS(NULL, NULL)
