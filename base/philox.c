/* philox.c - Philox4x32-10 counter-based streams (Salmon et al., SC'11) as a gsl_rng_type. */
#include "error.h"
#include "random.h"
#include "draw.h"

#include <stdint.h>

#include <gsl/gsl_rng.h>

void orr_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* The key is a hash of seed and stage; the upper half of the counter is the index, the lower half
 * counts blocks, so streams of one (seed, stage) cannot overlap. */
struct state {
    uint32_t key[2];
    uint64_t index, block;
    int next, words; /* of the buffer: the next word, and how many it holds */
    uint32_t buffer[4 * ORR_BLOCKS];
};

static uint64_t mix(uint64_t x) /* finaliser of SplitMix64 */
{
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

static void make_key(uint64_t seed, uint64_t stage, uint32_t key[2])
{
    const uint64_t k = mix(mix(seed) ^ (stage << 56 | stage));
    key[0] = (uint32_t)k;
    key[1] = (uint32_t)(k >> 32);
}

static void block(const uint32_t key[2], uint64_t index, uint64_t n, uint32_t out[4])
{
    const uint32_t counter[4] = {(uint32_t)n, (uint32_t)(n >> 32), (uint32_t)index,
                                 (uint32_t)(index >> 32)};
    orr_philox4x32(counter, key, out);
}

static void seek(struct state *s, uint64_t seed, uint64_t stage, uint64_t index)
{
    make_key(seed, stage, s->key);
    s->index = index;
    s->block = 0;
    s->next = s->words = 0;
}

static void set(void *state, unsigned long seed)
{
    seek(state, seed, 0, 0);
}

/* The first blocks of a stream are made one by one, as most streams are short; then many at
 * once. */
static void refill(struct state *s)
{
    enum { ALONE = 4 };
    s->next = 0;
    if (s->block < ALONE) {
        block(s->key, s->index, s->block++, s->buffer);
        s->words = 4;
        return;
    }
    orr_draws_of(orr_isa())->blocks(s->key, s->index, s->block, s->buffer);
    s->block += ORR_BLOCKS;
    s->words = 4 * ORR_BLOCKS;
}

static inline uint32_t next_word(struct state *s)
{
    if (s->next == s->words)
        refill(s);
    return s->buffer[s->next++];
}

static unsigned long get(void *state)
{
    return next_word(state);
}

static inline double next_double(struct state *s) /* 53 bits, [0, 1) */
{
    const uint64_t high = next_word(s) >> 5, low = next_word(s) >> 6;
    return (double)(high * 67108864 + low) * 0x1p-53;
}

static double get_double(void *state)
{
    return next_double(state);
}

static const gsl_rng_type philox = {"philox4x32-10", 0xffffffffu, 0, sizeof(struct state), set, get,
                                    get_double};
const gsl_rng_type *const orr_rng_philox = &philox;

gsl_rng *orr_rng_create(uint64_t seed, enum orr_stage stage, uint64_t index)
{
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    if (rng)
        orr_rng_seek(rng, seed, stage, index);
    else
        ORR_FAIL(ORR_ENOMEM, "random stream: out of memory");
    return rng;
}

double orr_rng_uniform(gsl_rng *rng)
{
    return next_double(rng->state);
}

void orr_rng_seek(gsl_rng *rng, uint64_t seed, enum orr_stage stage, uint64_t index)
{
    seek(rng->state, seed, (uint64_t)stage, index);
}

uint64_t orr_rng_hash(uint64_t seed, enum orr_stage stage, uint64_t index, uint64_t n)
{
    uint32_t key[2], out[4];
    make_key(seed, (uint64_t)stage, key);
    block(key, index, n, out);
    return (uint64_t)out[1] << 32 | out[0];
}
