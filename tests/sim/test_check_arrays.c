/* test_check_arrays.c - data sets made elsewhere may hold anything: what no simulator of ours
 * writes is refused with file, sequence, what was expected and what was found, before it is
 * computed with. */
#include "sets.h"

#include <math.h>

enum { HEADER = 128 }; /* bytes of ours */

static void presets(struct orr_settings *tokens, struct orr_settings *coords)
{
    sets_preset(tokens); /* 24 rows, 300 bins */
    tokens->orbits.shard_sequences = 20;
    *coords = *tokens;
    coords->orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    coords->orbits.output = ORR_OUTPUT_CONTINUOUS;
    coords->orbits.mass_prior = ORR_MASS_LOGUNIFORM;
    coords->orbits.a_max_au = 4;
    coords->orbits.train = coords->orbits.train_files = 100;
    coords->orbits.shard_sequences = 1000;
    coords->planets.enabled = true;
    coords->planets.train = 3;
    coords->planets.val = 2;
    assert_int_equal(orr_settings_check(tokens), 0);
    assert_int_equal(orr_settings_check(coords), 0);
}

/* Entry `at` of an array becomes `value`; bytes of the entry before -> old. Returns its bytes. */
static size_t poke(const char *path, size_t at, double value, unsigned char old[4])
{
    const uint8_t body = (uint8_t)value;
    const uint16_t token = (uint16_t)value;
    const float number = (float)value;
    const size_t bytes = strstr(path, "/num_bodies") ? 1 : strstr(path, "/obs") ? 2 : 4;
    const void *entry = bytes == 1   ? (const void *)&body
                        : bytes == 2 ? (const void *)&token
                                     : (const void *)&number;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)(HEADER + at * bytes), SEEK_SET), 0);
    assert_int_equal(fread(old, bytes, 1, file), 1);
    assert_int_equal(fseek(file, (long)(HEADER + at * bytes), SEEK_SET), 0);
    assert_int_equal(fwrite(entry, bytes, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static void restore(const char *path, size_t at, const unsigned char *old, size_t bytes)
{
    FILE *file = fopen(path, "r+b");
    assert_int_equal(fseek(file, (long)(HEADER + at * bytes), SEEK_SET), 0);
    assert_int_equal(fwrite(old, bytes, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

struct defect {
    const char *file;
    size_t at;
    double value;
    const char *row, *expected, *found;
};

enum { P = 24, LATE = 18 }; /* rows; the first labelled one of coordinates: step 8, last body */

static const struct defect at_open[] = {
    /* bodies; 22 rows are the first step and one more of the next */
    {"num_bodies_val.npy", 5, 0, "sequence 5:", "expected 2 to 22", "found 0"},
    {"num_bodies_val.npy", 0, 1, "sequence 0:", "expected 2 to 22", "found 1"},
    {"num_bodies_val.npy", 6, 23, "sequence 6:", "expected 2 to 22", "found 23"},
    {"num_bodies_val.npy", 6, 255, "sequence 6:", "expected 2 to 22", "found 255"},
    {"num_bodies_train-00002-of-00050.npy", 7, 0, "sequence 7:", "expected 2 to 22", "found 0"},
    {"num_bodies_two_body_test.npy", 1, 3, "sequence 1:", "expected 2 bodies", "found 3"},
    /* tokens of labelled sets */
    {"obs_two_body_train-00001-of-00003.npy", 4 * 2 * P + 2 * 9, 300,
     "sequence 4: row 9:", "expected a bin below 300", "found 300"},
    {"obs_two_body_test.npy", 2 * 2 * P + 1, 302,
     "sequence 2: row 0:", "expected a time step, 300 or 301", "found 302"},
    {"obs_two_body_test.npy", 2 * 2 * P, 299,
     "sequence 2: row 0:", "expected a time step, 300 or 301", "found 299"},
    /* labels */
    {"force_magnitude_two_body_test.npy", 3 * P + 1, 0, "sequence 3: row 1:", "above 0", "found 0"},
    {"force_magnitude_two_body_train-00002-of-00003.npy", 3 * P + 1, -2,
     "sequence 3: row 1:", "above 0", "found -2"},
    {"force_magnitude_two_body_test.npy", 0, 1, "sequence 0: row 0:", "no label", "found 1"},
    {"force_vector_solar_system_two_body.npy", (7 * P + 3) * 2 + 1, NAN,
     "sequence 7: row 3:", "two finite numbers", "nan"},
    /* states of labels */
    {"full_state_two_body_val.npy", (2 * P + 5) * 6 + 4, 0,
     "sequence 2: row 5, column 4:", "mass above 0", "found 0"},
    {"full_state_two_body_val.npy", (2 * P + 5) * 6 + 5, -1,
     "sequence 2: row 5, column 5:", "mass above 0", "found -1"},
    {"full_state_two_body_val.npy", (2 * P + 5) * 6 + 1, NAN,
     "sequence 2: row 5, column 1:", "finite number", "nan"},
    {"state_two_body_val.npy", (1 * P + 5) * 5 + 4, INFINITY,
     "sequence 1: row 5, column 4:", "finite number", "inf"},
};

static const struct defect at_open_coords[] = {
    {"num_bodies_planets_val.npy", 1, 4, "sequence 1:", "expected 2 bodies", "found 4"},
    {"coords_two_body_test.npy", (4 * P + 7) * 2, NAN, "sequence 4: row 7:", "finite coordinate",
     "nan"},
    {"coords_two_body_test.npy", 0, -INFINITY, "sequence 0: row 0:", "finite time step", "-inf"},
    {"force_magnitude_two_body_train.npy", (49 * P + LATE), 0, "sequence 49: row 18:", "above 0",
     "found 0"},
};

/* Sets that are too large to be read when they are opened: where a sequence is used. */
static const struct defect at_use[] = {
    {"obs_train-00001-of-00050.npy", 2 * (3 * P + 4), 301, "sequence 3: row 4:", "a bin below 300",
     "found 301"},
    {"obs_val.npy", 0, 7, "sequence 0: row 0:", "300 or 301", "found 7"},
};
static const struct defect at_use_coords[] = {
    {"coords_train.npy", 2 * (23 * P + 2) + 1, INFINITY, "sequence 23: row 2:", "finite coordinate",
     "inf"},
};

/* The set whose name ends that of a file. */
static enum sim_split split_of(const char *file)
{
    enum sim_split found = SIM_SPLITS;
    size_t longest = 0;
    for (enum sim_split split = 0; split < SIM_SPLITS; split++) {
        const char *name = sim_split_name(split), *at = strstr(file, name);
        if (at && strchr(".-", at[strlen(name)]) && strlen(name) > longest) {
            longest = strlen(name);
            found = split;
        }
    }
    assert_true(found < SIM_SPLITS);
    return found;
}

/* The set opens, and every sequence of it is what it should be. */
static int use(const struct orr_settings *settings, enum sim_split split)
{
    struct sim_dataset set;
    int rc = sim_dataset_open(&set, settings, dir, split);
    for (size_t i = 0; !rc && i < set.n; i++)
        rc = sim_dataset_check_rows(&set, i);
    sim_dataset_close(&set);
    return rc;
}

static void check(const struct orr_settings *settings, const struct defect *defects, size_t count,
                  bool when_opened)
{
    for (size_t i = 0; i < count; i++) {
        const struct defect *d = &defects[i];
        const enum sim_split split = split_of(d->file);
        struct sim_dataset set;
        unsigned char old[4];
        char path[4096];
        scratch_path(path, dir, d->file);
        assert_int_equal(use(settings, split), 0);
        const size_t bytes = poke(path, d->at, d->value, old);
        assert_int_equal(sim_dataset_open(&set, settings, dir, split),
                         when_opened ? ORR_EFORMAT : 0);
        if (!when_opened)
            sim_dataset_close(&set);
        assert_int_equal(use(settings, split), ORR_EFORMAT);
        error_names(path, d->row, d->expected, d->found, NULL);
        restore(path, d->at, old, bytes);
        assert_int_equal(use(settings, split), 0);
    }
}

TEST_BETWEEN(test_defects, sets_setup, sets_teardown)
{
    struct orr_settings tokens, coords;
    presets(&tokens, &coords);
    assert_int_equal(sim_dataset_write(&tokens, dir, 2, false, true), 0);
    check(&tokens, at_open, sizeof at_open / sizeof *at_open, true);
    check(&tokens, at_use, sizeof at_use / sizeof *at_use, false);
    assert_int_equal(sim_dataset_write(&coords, dir, 2, true, true), 0);
    check(&coords, at_open_coords, sizeof at_open_coords / sizeof *at_open_coords, true);
    check(&coords, at_use_coords, sizeof at_use_coords / sizeof *at_use_coords, false);
}

/* What is no label may hold anything; numbers of bodies count without a preset, too. */
TEST_BETWEEN(test_allowed, sets_setup, sets_teardown)
{
    struct orr_settings tokens, coords;
    struct sim_dataset set;
    unsigned char old[4];
    char path[4096];
    presets(&tokens, &coords);
    assert_int_equal(sim_dataset_write(&tokens, dir, 2, false, true), 0);
    poke(scratch_at(dir, "force_magnitude_two_body_test.npy"), P + 1, NAN, old);
    scratch_path(path, dir, "force_vector_two_body_test.npy"); /* of the magnitude alone, too */
    poke(path, 2 * (P + 1), INFINITY, old);
    poke(path, 2 * (P + 1) + 1, INFINITY, old);
    poke(scratch_at(dir, "full_state_two_body_test.npy"), 6 * (P + 1) + 4, NAN, old);
    assert_int_equal(use(&tokens, SIM_SPLIT_TWO_BODY_TEST), 0);
    scratch_path(path, dir, "num_bodies_val.npy");
    poke(path, 2, 22, old);
    assert_int_equal(use(&tokens, SIM_SPLIT_VAL), 0);
    poke(path, 2, 0, old);
    assert_int_equal(sim_dataset_open_any(&set, dir, SIM_SPLIT_VAL), ORR_EFORMAT);
    error_names(path, "sequence 2", "found 0", NULL);
}

/* Sequences of ours that are cut in their first step. */
TEST_BETWEEN(test_short, sets_setup, sets_teardown)
{
    struct orr_settings tokens, coords;
    presets(&tokens, &coords);
    tokens.orbits.positions = 5;
    assert_int_equal(sim_dataset_write(&tokens, dir, 2, false, true), 0);
    assert_int_equal(use(&tokens, SIM_SPLIT_TRAIN), 0);
    assert_int_equal(use(&tokens, SIM_SPLIT_SOLAR_SYSTEM), 0);
}

/* One vector of 0 is a force; a sequence of nothing else has no unit. */
TEST_BETWEEN(test_no_force, sets_setup, sets_teardown)
{
    struct orr_settings tokens, coords;
    unsigned char old[4];
    char path[4096];
    presets(&tokens, &coords);
    assert_int_equal(sim_dataset_write(&tokens, dir, 2, false, true), 0);
    scratch_path(path, dir, "force_vector_solar_system_two_body.npy");
    for (size_t t = 1; t < P; t += 2) {
        assert_int_equal(use(&tokens, SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY), 0);
        poke(path, 2 * (6 * P + t), 0, old);
        poke(path, 2 * (6 * P + t) + 1, 0, old);
    }
    assert_int_equal(use(&tokens, SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY), ORR_EFORMAT);
    error_names(path, "sequence 6", "other than 0", NULL);
}

TESTS(NULL, NULL)
