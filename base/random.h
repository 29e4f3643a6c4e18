/* random.h - counter-based random streams, and draws from them. */
#ifndef ORR_RANDOM_H
#define ORR_RANDOM_H

#include <stdint.h>

#include <gsl/gsl_rng.h>

/* Philox4x32-10 (Salmon et al., SC'11) as a gsl_rng_type, so that GSL's distributions draw from it.
 * A stream is keyed by (seed, stage, index), never by thread. Streams of different keys are
 * independent; each is 2^64 blocks long. */
extern const gsl_rng_type *const orr_rng_philox;

enum orr_stage { /* high half of the stream key; fixed numbers, part of the file formats */
                 ORR_STAGE_TRAIN = 1,
                 ORR_STAGE_VAL,
                 ORR_STAGE_TEST,
                 ORR_STAGE_TWO_BODY_TRAIN,
                 ORR_STAGE_TWO_BODY_VAL,
                 ORR_STAGE_TWO_BODY_TEST,
                 ORR_STAGE_PLANETS_TRAIN,
                 ORR_STAGE_PLANETS_VAL,
                 ORR_STAGE_INIT,
                 ORR_STAGE_SHUFFLE,
                 ORR_STAGE_NOISE,
                 ORR_STAGE_LABELS,
                 ORR_STAGE_SAMPLE,
                 ORR_STAGE_BOOTSTRAP,
                 ORR_STAGE_SYMREG,
                 ORR_STAGE_TEST_SUITE,
                 ORR_STAGE_SOLAR,
                 ORR_STAGE_PLANETS_TEST,
                 ORR_STAGE_PASSKEY,
                 ORR_STAGE_TEXT,
};
/* Creates a generator at the start of the stream. NULL and a message without memory. Free with
 * gsl_rng_free(). */
gsl_rng *orr_rng_create(uint64_t seed, enum orr_stage stage, uint64_t index);
/* Moves an orr_rng_philox generator to the start of another stream (no allocation). */
void orr_rng_seek(gsl_rng *rng, uint64_t seed, enum orr_stage stage, uint64_t index);
/* gsl_rng_uniform() of an orr_rng_philox generator, the same draw with less around it. */
double orr_rng_uniform(gsl_rng *rng);
/* The Philox block function, for kernels and known-answer tests. */
void orr_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
/* The 64-bit value number `n` of the stream (seed, stage, index), uniform, without a generator. */
uint64_t orr_rng_hash(uint64_t seed, enum orr_stage stage, uint64_t index, uint64_t n);

/* Draws whose bits depend on the generator alone. GSL's draws use exp, log and pow of the C
 * library, whose last bit depends on the CPU; only gsl_rng_uniform, gsl_rng_uniform_int,
 * gsl_ran_flat and gsl_ran_choose do not. */

/* Standard normal, by the ziggurat method; `rng` must give 32-bit words, as orr_rng_philox does. */
double orr_draw_normal(gsl_rng *rng);
/* Gamma with shape > 0 and scale 1: Marsaglia & Tsang (2000). */
double orr_draw_gamma(gsl_rng *rng, double shape);
/* Beta(a, b), a and b > 0, in [0, 1]: from two gamma draws, scaled so that both cannot
 * underflow. */
double orr_draw_beta(gsl_rng *rng, double a, double b);
/* Poisson, by products of uniforms; the time is proportional to the mean. */
unsigned orr_draw_poisson(gsl_rng *rng, double mean);

#endif
