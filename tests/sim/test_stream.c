/* test_stream.c - training data made ahead by threads: the bytes of files, in any order asked for,
 * stopped at any time; errors arrive where they are waited for. */
#include "sets.h"

#include <signal.h>

#include <xxhash.h>

static void setup_stream(struct orr_settings *p, struct sim_stream **stream, bool shuffled,
                         int threads)
{
    const struct sim_stream_order order = {(uint64_t)p->orbits.train, shuffled, 99, 5};
    assert_int_equal(sim_stream_open(stream, p, SIM_SPLIT_TRAIN, &order, threads), 0);
}

/* 10,000 sequences: streamed on 1, 2 and 3 threads, as they lie in the shards. */
TEST(test_files)
{
    struct orr_settings p;
    struct sim_dataset set;
    sets_preset(&p);
    p.orbits.positions = 14;
    p.orbits.train = p.orbits.train_files = 10000;
    p.orbits.shard_sequences = 3000;
    assert_int_equal(sim_dataset_write(&p, scratch_dir, 2, false, true), 0);
    assert_int_equal(sim_dataset_open(&set, &p, scratch_dir, SIM_SPLIT_TRAIN), 0);
    XXH64_state_t *hash = XXH64_createState();
    XXH64_reset(hash, 0);
    for (size_t i = 0; i < set.n; i++)
        XXH64_update(hash, sim_dataset_tokens(&set, i), 14 * 4);
    for (int threads = 1; threads <= 3; threads++) {
        struct sim_stream *stream;
        uint64_t sum;
        setup_stream(&p, &stream, false, threads);
        for (uint64_t i = 0; i < 10000; i++) {
            const uint16_t *tokens;
            const float *coords;
            int bodies;
            assert_int_equal(sim_stream_draw(stream, i, &tokens, &coords, &bodies), 0);
            assert_memory_equal(tokens, sim_dataset_tokens(&set, i), 14 * 4);
            assert_int_equal(bodies, set.num_bodies[i]);
            assert_null(coords);
        }
        sim_stream_close(stream);
        assert_int_equal(sim_stream_checksum(&p, threads, true, &sum), 0);
        assert_true(sum == XXH64_digest(hash));
    }
    XXH64_freeState(hash);
    sim_dataset_close(&set);
}

/* Draws in any order: forward, with gaps, back, far away; shuffled and around the end. */
TEST(test_jumps)
{
    struct orr_settings p;
    struct sim_sequence q;
    sets_preset(&p);
    p.orbits.train = 77;
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TRAIN), 0);
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        struct sim_stream *stream;
        const struct sim_stream_order order = {77, shuffled, 99, 5};
        setup_stream(&p, &stream, shuffled, 2);
        for (uint64_t n = 0; n < 3000; n++) {
            const uint16_t *tokens;
            const float *coords;
            int bodies;
            uint64_t d = n; /* one by one; jumps within the ring, beyond it, back */
            if (n >= 500)
                d = n < 600 ? 17 * n : n < 700 ? 1000 * n : n < 800 ? 5000 - n : 1ull << (n % 60);
            assert_int_equal(sim_stream_draw(stream, d, &tokens, &coords, &bodies), 0);
            assert_int_equal(
                sim_sequence_make(&q, &p, SIM_SPLIT_TRAIN, sim_stream_index(&order, d)), 0);
            assert_memory_equal(tokens, q.tokens, 24 * 4);
            assert_int_equal(bodies, q.num_bodies);
        }
        sim_stream_close(stream);
    }
    sim_sequence_free(&q);
}

/* The error of a thread is the reader's, with its message; then again; and it can be closed. */
TEST(test_error)
{
    struct orr_settings p;
    struct sim_stream *stream;
    const uint16_t *tokens;
    const float *coords;
    int bodies;
    uint64_t sum;
    sets_preset(&p);
    p.orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    p.orbits.output = ORR_OUTPUT_CONTINUOUS;
    p.orbits.mass_prior = ORR_MASS_LOGUNIFORM;
    p.orbits.dt_yr = 1e5; /* no orbit is that slow */
    p.orbits.e_alpha = p.orbits.e_beta = 1;
    for (int threads = 1; threads <= 3; threads += 2) {
        setup_stream(&p, &stream, true, threads);
        for (int again = 0; again < 2; again++) {
            orr_error_clear();
            assert_int_equal(sim_stream_draw(stream, 3, &tokens, &coords, &bodies), ORR_EUSAGE);
            error_names("orbits.dt_yr", NULL);
        }
        sim_stream_close(stream);
    }
    assert_int_equal(sim_stream_checksum(&p, 1, true, &sum), ORR_EUSAGE);
    p.orbits.train = 0;
    assert_int_equal(sim_stream_checksum(&p, 1, true, &sum), ORR_EINVAL);
    error_names("train", "empty", NULL);
}

/* Closed before the first draw, in the middle, after a jump; nothing waits for ever. */
TEST(test_close)
{
    struct orr_settings p;
    sets_preset(&p);
    sim_stream_close(NULL);
    for (uint64_t draws = 0; draws < 40; draws++) {
        struct sim_stream *stream;
        const uint16_t *tokens;
        const float *coords;
        int bodies;
        setup_stream(&p, &stream, true, 1 + (int)draws % 3);
        for (uint64_t d = 0; d < draws; d++)
            assert_int_equal(sim_stream_draw(stream, d * d * 50, &tokens, &coords, &bodies), 0);
        sim_stream_close(stream);
    }
}

/* Last, because the flag stays. */
TEST(test_signal)
{
    struct orr_settings p;
    uint64_t sum;
    sets_preset(&p);
    orr_signals_catch();
    raise(SIGTERM);
    assert_int_equal(sim_stream_checksum(&p, 2, true, &sum), ORR_EINTR);
}

TESTS(scratch_setup, scratch_teardown)
