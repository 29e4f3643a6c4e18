/* test_linear.c - readouts of a stream that holds what is asked for, and of one that does not; what
 * an observer of the orbits finds; and the probes linear, rollout and intervene as a whole. */
#include "probe/asked.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "probe/linear/readout.h"

static struct probe_arena arena;

static struct tiny tiny;
static char checkpoint[2][4096]; /* of stages pretrain, magnitude */
static struct probe_options options;

/* Untrained models of the preset, saved as trained ones. */
FIXTURE(setup)
{
    tiny_preset(&tiny.settings, false);
    tiny.settings.model.layers = 2;
    if (asked_untrained(&tiny, checkpoint))
        return 1;
    options = asked_of(&tiny.settings, checkpoint[0], "");
    return 0;
}

FIXTURE(teardown)
{
    scratch_remove(tiny.dir);
    return 0;
}

TEST(test_contexts)
{
    struct probe_context list[PROBE_CONTEXTS];
    assert_int_equal(probe_contexts(15, 8, list), 7);
    static const int expected[] = {1, 2, 3, 5, 10, 15, 0};
    for (int c = 0; c < 7; c++) {
        assert_int_equal(list[c].context, expected[c]);
        for (int k = 0; k < list[c].count; k++)
            assert_int_equal(list[c].step[k], expected[c] ? expected[c] - 1 : 8 + k);
    }
    assert_int_equal(list[6].count, 7);
    assert_int_equal(probe_contexts(500, 8, list), 7);
    assert_int_equal(list[6].count, PROBE_POOLED);
    for (int k = 0; k < PROBE_POOLED; k++)
        assert_true(list[6].step[k] >= 8 && (k == 0 || list[6].step[k] > list[6].step[k - 1]));
    assert_int_equal(list[6].step[PROBE_POOLED - 1], 499);
    assert_int_equal(probe_contexts(2, 8, list), 2); /* 1 and all; nothing to pool */
    assert_int_equal(list[1].context, 2);
}

/* ------------------------------------------------------------------------------- sequences */

struct sets {
    struct probe probe;
    struct probe_labelled fit, held_out;
};

static void open_sets(struct sets *s, int fit, int held_out)
{
    assert_int_equal(probe_open_labelled(&s->probe, &options, "test", true), 0);
    assert_int_equal(probe_labelled_make(&arena, &s->fit, &s->probe, SIM_SPLIT_TWO_BODY_TRAIN, fit),
                     0);
    assert_int_equal(
        probe_labelled_make(&arena, &s->held_out, &s->probe, SIM_SPLIT_TWO_BODY_TEST, held_out), 0);
}

static void close_sets(struct sets *s)
{
    probe_rewind(&arena, 0);
    probe_close(&s->probe);
}

/* States and forces are those of the data files; orbits from them go where the sequence does. */
TEST(test_sequences)
{
    struct sets s;
    struct sim_dataset set;
    char orbits[4096];
    open_sets(&s, 20, 17);
    assert_int_equal(orr_path(orbits, "%s/orbits", tiny.dir), 0);
    assert_int_equal(sim_dataset_write(&tiny.settings, orbits, 1, false, true), 0);
    assert_int_equal(sim_dataset_open(&set, &tiny.settings, orbits, SIM_SPLIT_TWO_BODY_TEST), 0);
    assert_int_equal(s.held_out.P, 33);
    assert_int_equal(s.held_out.steps, 16);
    assert_true(s.held_out.newton);
    for (int i = 0; i < 17; i++) {
        assert_memory_equal(probe_labelled_rows(&s.held_out, i),
                            sim_dataset_coords(&set, (size_t)i), 33 * 2 * sizeof(float));
        for (int k = 0; k < 16; k++) {
            const size_t row = (size_t)i * 33 + 2 + 2 * (size_t)k;
            for (size_t c = 0; c < 6; c++)
                assert_true(probe_labelled_state(&s.held_out, i, k)[c] ==
                            (double)set.full_state[6 * row + c]);
            for (size_t c = 0; c < 2 && k >= 5; c++) { /* labelled from step 5 on */
                const double F = (double)set.force_vector[2 * row + c];
                assert_true(fabs(probe_labelled_force(&s.held_out, i, k)[c] - F) <=
                            1e-5 * (double)set.force_magnitude[row]);
            }
        }
        struct probe_orbit orbit = probe_orbit_true(&s.held_out, i, 4);
        double place[4];
        assert_true(probe_orbit_advance(&orbit, 7));
        probe_orbit_places(&orbit, place);
        for (size_t c = 0; c < 4; c++) /* float states, eccentric orbits */
            assert_true(fabs(place[c] - (double)probe_labelled_rows(
                                            &s.held_out, i)[2 * (1 + 2 * 11) + c]) < 1e-3);
    }
    sim_dataset_close(&set);
    close_sets(&s);
}

/* -------------------------------------------------------------------------------- readouts */

/* Features that are the quantities themselves, turned about and mixed. */
static void mixed(const struct probe_reader *r, bool held_out, int sequence, int step, double *x)
{
    const struct probe_labelled *set = held_out ? r->held_out : r->fit;
    double n[PROBE_NUMBERS];
    probe_quantities_of(2, probe_labelled_state(set, sequence, step),
                        probe_labelled_force(set, sequence, step), n);
    for (int k = 0; k < probe_numbers(2); k++)
        x[k] = 2 * n[k] - n[(k + 1) % probe_numbers(2)] + k;
}

/* Features that know nothing of the sequence. */
static void random_projection(const struct probe_reader *r, bool held_out, int sequence, int step,
                              double *x)
{
    for (int k = 0; k < r->features; k++)
        x[k] = tiny_uniform(held_out ? 2 : 1, (uint64_t)((sequence * 50 + step) * r->features + k));
}

TEST(test_readouts)
{
    struct sets s;
    struct probe_context list[PROBE_CONTEXTS];
    struct probe_reading reading[PROBE_QUANTITIES];
    struct probe_resamples resamples;
    open_sets(&s, 400, 200);
    const int contexts = probe_contexts(15, 5, list);
    assert_int_equal(probe_resamples_create(&arena, &resamples, 1, 200), 0);
    struct probe_reader reader = {.arena = &arena,
                                  .features = probe_numbers(2),
                                  .read = mixed,
                                  .fit = &s.fit,
                                  .held_out = &s.held_out};
    for (int c = 0; c < contexts; c++) {
        assert_int_equal(probe_readout(&reader, &list[c], &resamples, reading), 0);
        for (int q = 0; q < PROBE_QUANTITIES; q++) {
            assert_true(reading[q].r2.value > 0.9999 && reading[q].r2.low > 0.9999);
            assert_int_equal(reading[q].n, 200 * list[c].count);
        }
    }
    reader.read = random_projection;
    reader.features = 10;
    assert_int_equal(probe_readout(&reader, &list[4], &resamples, reading), 0);
    for (int q = 0; q < PROBE_QUANTITIES; q++) {
        assert_true(reading[q].r2.value < 0.05 && reading[q].r2.value > -0.3);
        assert_true(reading[q].r2.low <= reading[q].r2.value &&
                    reading[q].r2.value <= reading[q].r2.high);
    }
    /* velocities are nearly linear in the last two places */
    reader.read = probe_read_inputs;
    reader.window = 10;
    reader.features = 1 + 4 * 10;
    assert_int_equal(list[4].context, 10);
    assert_int_equal(probe_readout(&reader, &list[4], &resamples, reading), 0);
    assert_true(reading[probe_quantity_find("velocity")].r2.value > 0.9);
    assert_true(reading[probe_quantity_find("log m1")].r2.value < 0.3);
    probe_rewind(&arena, 0);
    close_sets(&s);
}

/* The stream that is kept is the model's, on the rows on which steps are complete. */
TEST(test_stream)
{
    struct sets s;
    struct probe_context list[PROBE_CONTEXTS];
    struct probe_stream stream;
    struct gpt_batch batch;
    const real *out, *x;
    double kept[8];
    open_sets(&s, 40, 8);
    const int contexts = probe_contexts(15, 5, list);
    assert_int_equal(
        probe_stream_capture(&arena, &stream, &s.probe.model, &s.fit, s.probe.T, list, contexts),
        0);
    assert_int_equal(gpt_batch_create(&batch, &s.probe.model.config, 1, s.probe.T), 0);
    struct probe_reader reader = {.arena = &arena, .fit = &s.fit, .stream = {&stream, NULL}};
    for (int i = 0; i < 40; i += 13) {
        probe_labelled_fill(&s.fit, &s.probe.model.config, i, &batch);
        assert_int_equal(gpt_forward(&s.probe.model, &batch, &out), 0);
        for (reader.layer = 0; reader.layer <= 2; reader.layer++) {
            assert_int_equal(gpt_residual(&s.probe.model, reader.layer, &x), 0);
            for (int c = 0; c < contexts; c++) {
                const size_t row = 2 + 2 * (size_t)list[c].step[0];
                probe_read_stream(&reader, false, i, list[c].step[0], kept);
                for (size_t k = 0; k < 8; k++)
                    assert_true(fabs(kept[k] - (double)x[row * 8 + k]) < 1e-6);
            }
        }
    }
    gpt_batch_free(&batch);
    probe_rewind(&arena, 0);
    close_sets(&s);
}

/* Who knows Newton's law knows everything after a few steps, and little after one. */
TEST(test_observer)
{
    struct sets s;
    struct probe_context list[PROBE_CONTEXTS];
    double r2[PROBE_CONTEXTS][PROBE_QUANTITIES];
    open_sets(&s, 200, 40);
    const int contexts = probe_contexts(15, 5, list);
    assert_int_equal(probe_observer(&arena, &s.fit, &s.held_out, 40, list, contexts, r2), 0);
    for (int c = 0; c < contexts; c++)
        for (int q = 0; q < PROBE_QUANTITIES; q++)
            if (list[c].context == 0 || list[c].context >= 5)
                assert_true(r2[c][q] > 0.999);
    assert_true(r2[0][probe_quantity_find("semi-major axis")] < 0.9);
    assert_true(r2[0][probe_quantity_find("log distance")] > 0.999); /* which is seen */
    close_sets(&s);
}

/* ----------------------------------------------------------------------------- whole probes */

static int (*const probes[])(const struct probe_options *) = {probe_linear, probe_rollout,
                                                              probe_intervene};
static const char *const names[] = {"linear", "rollout", "intervene"};
enum { PROBES = 3 };

static uint64_t checksum_of(const char *folder, const char *name, const char *ending)
{
    char path[4096];
    uint64_t sum, bytes;
    assert_int_equal(orr_path(path, "%s/%s.%s", folder, name, ending), 0);
    assert_int_equal(orr_file_checksum(path, &sum, &bytes), 0);
    return sum;
}

static void read_rows(const char *folder, const char *name, struct orr_table *results)
{
    cJSON *json;
    char path[4096];
    assert_int_equal(orr_path(path, "%s/%s.json", folder, name), 0);
    assert_int_equal(orr_rows_read(path, results, &json), 0);
    cJSON_Delete(json);
}

/* Every file is there, the same twice over, and rows have what they should. */
TEST(test_whole)
{
    char out[2][4096];
    for (int p = 0; p < PROBES; p++) {
        struct orr_table results = {0};
        for (int k = 0; k < 2; k++) {
            scratch_path(out[k], tiny.dir, k ? "again" : "once");
            options.out = out[k];
            options.sequences = p ? 20 : 400;
            assert_int_equal(probes[p](&options), 0);
        }
        assert_int_equal(checksum_of(out[0], names[p], "csv"),
                         checksum_of(out[1], names[p], "csv"));
        checksum_of(out[0], names[p], "png");
        read_rows(out[0], names[p], &results);
        assert_true(results.count > 0);
        for (size_t i = 0; i < results.count; i++) {
            const struct orr_row *r = &results.row[i];
            assert_true(r->layer >= -1 && r->layer <= 2 && r->context >= 0 && r->context <= 16);
            if (!strcmp(r->measure, "R^2"))
                /* the model that was "trained" is as random as the baseline, of another seed */
                assert_true(isfinite(r->value) && r->value < 1.0000001 && isfinite(r->raw) &&
                            isfinite(r->baseline) && r->low <= r->value && r->value <= r->high);
            if (!strcmp(r->measure, "R^2, best layer") && !strcmp(r->quantity, "force direction"))
                assert_true(r->value > 0.3 && r->baseline > 0.3 &&
                            r->raw > 0.8); /* of places alone */
            if (!strcmp(r->measure, "AU"))
                assert_true(r->value > 100 * r->upper_bound && r->raw > 100 * r->upper_bound &&
                            r->n == 20);
            if (!strcmp(r->measure, "drift"))
                assert_true(r->upper_bound < 0.02 && r->value > r->upper_bound);
            if (!strcmp(r->measure, "slope"))
                assert_true(r->upper_bound == 1);
        }
        orr_table_free(&results);
    }
    options.out = "";
    options.sequences = 0;
}

/* What persistence errs by is how far body 1 gets. */
TEST(test_persistence)
{
    struct sets s;
    struct orr_table results = {0};
    char out[4096];
    scratch_path(out, tiny.dir, "persistence");
    open_sets(&s, 8, 20);
    options.out = out;
    options.sequences = 20;
    assert_int_equal(probe_rollout(&options), 0);
    read_rows(out, "rollout", &results);
    for (size_t i = 0; i < results.count; i++) {
        double mean = 0;
        if (strcmp(results.row[i].measure, "AU") != 0)
            continue;
        for (int k = 0; k < 20; k++) { /* 8 steps are known */
            const float *rows = probe_labelled_rows(&s.held_out, k);
            const float *was = rows + (size_t)2 * (1 + 2 * 7);
            const float *is = was + 4 * (size_t)results.row[i].context;
            mean += hypot((double)(is[0] - was[0]), (double)(is[1] - was[1])) / 20;
        }
        assert_true(fabs(results.row[i].raw - mean) < 1e-5);
    }
    orr_table_free(&results);
    close_sets(&s);
    options.out = "";
    options.sequences = 0;
}

/* After one step an orbit is open, also to an observer of one held-out sequence: what is expected
 * of orbits comes from others. */
TEST(test_observer_prior)
{
    struct orr_table results = {0};
    char out[4096];
    scratch_path(out, tiny.dir, "prior");
    options.out = out;
    options.sequences = 1;
    options.length = 4;
    assert_int_equal(probe_rollout(&options), 0);
    read_rows(out, "rollout", &results);
    assert_int_equal(results.count, 1);
    assert_true(results.row[0].upper_bound > 1e-4);
    orr_table_free(&results);
    options.out = "";
    options.sequences = options.length = 0;
}

static const struct timespec long_ago[2] = {{.tv_sec = 86400}, {.tv_sec = 86400}};

static void make_old(const char *path)
{
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
}

static bool is_old(const char *path)
{
    struct stat info;
    return !stat(path, &info) && info.st_mtim.tv_sec == long_ago->tv_sec;
}

/* With --resume nothing is measured twice; another number of sequences is another measurement, and
 * what has lost its picture is measured again. */
TEST(test_resume)
{
    char out[4096], path[4096];
    scratch_path(out, tiny.dir, "resume");
    options.out = out;
    options.sequences = 7;
    assert_int_equal(probe_rollout(&options), 0);
    assert_int_equal(orr_path(path, "%s/rollout.png", out), 0);
    make_old(path);
    options.resume = true;
    assert_int_equal(probe_rollout(&options), 0);
    assert_true(is_old(path));
    options.sequences = 8;
    assert_int_equal(probe_rollout(&options), 0);
    assert_false(is_old(path));
    assert_int_equal(remove(path), 0);
    assert_int_equal(probe_rollout(&options), 0);
    assert_true(orr_exists(path));
    options.resume = false;
    options.out = "";
    options.sequences = 0;
}

static void refuses(int rc, const char *a, const char *b)
{
    for (int p = 0; p < PROBES; p++) {
        assert_int_equal(probes[p](&options), rc);
        error_names(a, b, options.checkpoint, NULL);
        error_names(names[p], NULL);
    }
}

TEST(test_refusals)
{
    char out[4096];
    scratch_path(out, tiny.dir, "refused");
    options.out = out;
    tiny.settings.orbits.output = ORR_OUTPUT_TOKENS;
    refuses(ORR_EINVAL, "coordinates", "tokens");
    tiny.settings.orbits.output = ORR_OUTPUT_CONTINUOUS;
    options.length = 2;
    refuses(ORR_EUSAGE, "2 positions", "--length");
    options.length = 0;
    options.checkpoint = checkpoint[1];
    for (int p = 1; p < PROBES; p++) { /* linear reads any model */
        assert_int_equal(probes[p](&options), ORR_EINVAL);
        error_names(names[p], "next position", "magnitude", NULL);
    }
    options.checkpoint = checkpoint[0];
    options.sequences = 20;
    assert_int_equal(probe_linear(&options), ORR_EUSAGE);
    error_names("--sequences", "found 20", NULL);
    options.sequences = 0;
    tiny.settings.orbits.law = ORR_LAW_HOOKE;
    assert_int_equal(probe_intervene(&options), ORR_EINVAL);
    error_names("intervene", "Newton", NULL);
    tiny.settings.orbits.law = ORR_LAW_NEWTON;
    tiny.settings.orbits.jump_step = 3;
    assert_int_equal(probe_intervene(&options), ORR_EINVAL);
    error_names("intervene", "Newton", NULL);
    tiny.settings.orbits.jump_step = 0;
    options.orbits = "somewhere";
    assert_int_equal(probe_rollout(&options), ORR_EUSAGE);
    error_names("--orbits", "rollout", NULL);
    options.orbits = "";
    assert_false(orr_exists(out));
    options.out = "";
}

TESTS(setup, teardown)
