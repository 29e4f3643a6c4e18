/* test_positions.c - the source "positions": forces from coordinates, times and masses alone, as a
 * row of the laws of a run. */
#include "laws.h"
#include "base/scratch.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <gsl/gsl_sort.h>

#include "testing.h"

enum { SAMPLES = 2, SEQUENCES = 24, LABELS = 8, SIZE = SEQUENCES / SAMPLES * LABELS };

/* A run with its data sets, and tables of truth and oracle with their records. */
static struct orr_cli cli;
static char dir[64], orbits[4096], folder[4096];

static void set(const char *assignment)
{
    if (orr_settings_set(&cli.settings, assignment))
        fail_msg("%s: %s", assignment, orr_error());
}

static void configure(void)
{
    static const char *const assignment[] = {"attention=softmax",
                                             "orbits.protocol=identifiable",
                                             "orbits.output=continuous",
                                             "orbits.positions=41",
                                             "orbits.mass_prior=loguniform",
                                             "orbits.m_min=0.1",
                                             "orbits.m_max=3",
                                             "orbits.a_min_au=0.7",
                                             "orbits.a_max_au=2.3",
                                             "orbits.e_max=0.6",
                                             "orbits.samples_min=10",
                                             "orbits.samples_max=60",
                                             "orbits.dt_yr=0.04",
                                             "orbits.com_sigma_au=0",
                                             "orbits.label_from_step=8",
                                             "orbits.train=2",
                                             "orbits.train_files=2",
                                             "orbits.val=2",
                                             "orbits.test=2",
                                             "orbits.two_body_train=2",
                                             "orbits.two_body_val=2",
                                             "orbits.two_body_test=24",
                                             "orbits.solar_system=false",
                                             "finetune.magnitude.steps=0",
                                             "finetune.samples=2",
                                             "symreg.unary=inv",
                                             "symreg.iterations=2",
                                             "symreg.populations=2",
                                             "symreg.cycles=40",
                                             "symreg.restarts=1",
                                             "symreg.enumerate=20000"};
    orr_settings_defaults(&cli.settings);
    snprintf(cli.settings.name, sizeof cli.settings.name, "tiny");
    for (size_t i = 0; i < sizeof assignment / sizeof *assignment; i++)
        set(assignment[i]);
    cli.threads = 2;
    cli.quiet = cli.resume = true; /* what is up to date stays */
}

/* As bin/finetune writes it: LABELS labelled positions of each sequence. */
static void print_table(FILE *out, const struct sim_dataset *data, double factor)
{
    fprintf(out, "sample,sequence,step,r,m1,m2,dt,F_true,F\n");
    for (size_t q = 0; q < data->n; q++)
        for (size_t k = 0; k < LABELS; k++) {
            const size_t step = 10 + k, at = q * (size_t)data->positions + 2 * step + 2;
            const float *state = data->full_state + 6 * at;
            const double F = (double)data->force_magnitude[at];
            fprintf(out, "%zu,%zu,%zu,%.9g,%.9g,%.9g,0.04,%.9g,%.9g\n", q % SAMPLES, q, step,
                    hypot((double)state[0], (double)state[1]), (double)state[4], (double)state[5],
                    F, factor * F);
        }
}

static void write_table(const char *source, const struct sim_dataset *data, double factor)
{
    char path[4096], digest[ORR_DIGEST], *text;
    size_t bytes;
    struct orr_lineage lineage;
    struct orr_file file;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    print_table(out, data, factor);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(orr_path(path, "%s/%s/finetune", cli.run, source), 0);
    assert_int_equal(orr_mkdir(path), 0);
    assert_int_equal(orr_table_path(cli.run, source, false, path), 0);
    assert_int_equal(orr_lineage_open(&lineage, &cli.settings, NULL), 0);
    assert_int_equal(orr_lineage_table(&lineage, source, false, digest), 0);
    assert_int_equal(orr_file_create(&file, path), 0);
    assert_int_equal(orr_file_write(&file, text, bytes), 0);
    assert_int_equal(orr_sidecar_commit(&file, &lineage.records, digest), 0);
    orr_file_close(&file);
    orr_lineage_close(&lineage);
    free(text);
}

FIXTURE(create)
{
    struct sim_dataset data;
    memset(&cli, 0, sizeof cli);
    configure();
    scratch_create(dir);
    scratch_path(cli.run, dir, "run");
    scratch_path(orbits, dir, "run/orbits");
    scratch_path(folder, dir, "run/laws");
    if (sim_dataset_write(&cli.settings, orbits, 1, false, true) ||
        sim_dataset_open(&data, &cli.settings, orbits, SIM_SPLIT_TWO_BODY_TEST))
        fail_msg("%s", orr_error());
    write_table("truth", &data, 1);
    write_table("oracle", &data, 1.25);
    sim_dataset_close(&data);
    return 0;
}

FIXTURE(discard)
{
    scratch_remove(dir);
    return 0;
}

static void hide(bool hidden)
{
    char path[4096];
    scratch_path(path, dir, "hidden");
    assert_int_equal(hidden ? rename(orbits, path) : rename(path, orbits), 0);
}

/* The laws, without their table on standard output. */
static void run(void)
{
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
    assert_true(kept >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0);
    const int rc = laws_run(&cli, "", "", "laws");
    fflush(stdout);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    close(nowhere);
    if (rc)
        fail_msg("%s", orr_error());
}

static cJSON *read_laws(void)
{
    char path[4096];
    cJSON *json = NULL;
    scratch_path(path, folder, "laws.json");
    if (orr_json_read(path, &json))
        fail_msg("%s", orr_error());
    return json;
}

/* Objects of a list that are of the source (not: of all others), one a line; free() it. */
static char *objects(const cJSON *json, const char *list, bool of_positions)
{
    char *text = calloc(1, 1 << 18);
    const cJSON *item;
    assert_non_null(text);
    cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(json, list)) {
        const char *source = cJSON_GetObjectItemCaseSensitive(item, "source")->valuestring;
        if (!strcmp(source, "positions") != of_positions)
            continue;
        char *line = cJSON_PrintUnformatted(item);
        strcat(strcat(text, line), "\n");
        free(line);
    }
    return text;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

/* ---- the forces */

static void open_set(struct sim_dataset *data, struct law_forces *truth, struct law_true *law)
{
    char path[4096];
    if (law_positions_open(&cli, "", path, data) || law_true_create(law, &cli.settings))
        fail_msg("%s", orr_error());
    assert_string_equal(path, orbits);
    assert_int_equal(orr_table_path(cli.run, "truth", false, path), 0);
    assert_int_equal(law_forces_read(path, truth), 0);
}

static void close_set(struct sim_dataset *data, struct law_forces *truth, struct law_true *law)
{
    sim_dataset_close(data);
    law_forces_free(truth);
    law_true_free(law);
}

static void estimate(const struct sim_dataset *data, const struct law_forces *truth, int threads,
                     struct law_true *law, struct law_forces *forces)
{
    if (law_positions_estimate(data, truth, threads, law, forces))
        fail_msg("%s", orr_error());
}

/* Sequence, masses, r and F_true of a row are those of the data set's step, which has a label from
 * step 8 on, and the median force is right to 1e-4: positions are rounded to 1e-7. */
TEST_BETWEEN(forces_are_those_of_the_steps, create, discard)
{
    struct sim_dataset data;
    struct law_forces truth, forces;
    struct law_true law;
    double error[SAMPLES * SIZE];
    bool seen[SEQUENCES] = {false};
    open_set(&data, &truth, &law);
    estimate(&data, &truth, 2, &law, &forces);
    assert_int_equal(forces.samples, SAMPLES);
    assert_true(forces.rows > SEQUENCES && forces.rows <= truth.rows);
    for (size_t i = 0; i < forces.rows; i++) {
        const size_t q = (size_t)forces.sequence[i], step = (size_t)forces.step[i];
        const size_t at = q * (size_t)data.positions + 2 * step + 2;
        const float *body = data.full_state + 6 * at;
        assert_true(q < SEQUENCES && (double)(q % SAMPLES) == forces.sample[i] && step < 20);
        assert_true(forces.m1[i] == (double)body[4] && forces.m2[i] == (double)body[5]);
        assert_true(fabs(forces.r[i] / hypot((double)body[0], (double)body[1]) - 1) < 1e-4);
        if (step >= 8)
            assert_true(fabs(forces.f_true[i] / (double)data.force_magnitude[at] - 1) < 1e-3);
        assert_true(forces.sigma[i] > 0 && forces.sigma[i] < 0.5 * fabs(forces.f[i]));
        error[i] = fabs(forces.f[i] / forces.f_true[i] - 1);
        seen[q] = true;
    }
    gsl_sort(error, 1, forces.rows);
    assert_true(error[forces.rows / 2] < 1e-4);
    for (int q = 0; q < SEQUENCES; q++)
        assert_true(seen[q]);
    law_forces_free(&forces);
    close_set(&data, &truth, &law);
}

/* Whatever forces the labels and the tables have, those from positions are the same bits; so they
 * are on any number of threads. Other masses make other forces. */
TEST_BETWEEN(labels_are_not_read, create, discard)
{
    struct sim_dataset data, spoiled;
    struct law_forces truth, forces, again;
    struct law_true law;
    open_set(&data, &truth, &law);
    estimate(&data, &truth, 2, &law, &forces);
    const size_t rows = data.n * (size_t)data.positions;
    float *label = calloc(3 * rows, sizeof *label), *body = calloc(6 * rows, sizeof *body);
    assert_true(label && body);
    for (size_t i = 0; i < 3 * rows; i++)
        label[i] = 7.5F + (float)(i % 11);
    for (size_t i = 0; i < 6 * rows; i++) /* what is no mass, too */
        body[i] = i % 6 < 4 ? 99.0F : data.full_state[i];
    spoiled = data;
    spoiled.force_magnitude = label;
    spoiled.force_vector = label + rows;
    spoiled.full_state = body;
    for (size_t i = 0; i < truth.rows; i++) {
        truth.f[i] = 3.25 + (double)(i % 7);
        truth.f_true[i] = 0.5;
        truth.r[i] = truth.m1[i] = truth.m2[i] = 2;
    }
    estimate(&spoiled, &truth, 1, &law, &again);
    assert_int_equal(again.rows, forces.rows);
    assert_memory_equal(again.f, forces.f, forces.rows * sizeof *forces.f);
    assert_memory_equal(again.r, forces.r, forces.rows * sizeof *forces.r);
    assert_memory_equal(again.f_true, forces.f_true, forces.rows * sizeof *forces.f_true);
    assert_memory_equal(again.sigma, forces.sigma, forces.rows * sizeof *forces.sigma);
    law_forces_free(&again);
    for (size_t i = 0; i < 6 * rows; i++)
        body[i] *= i % 6 < 4 ? 1 : 2;
    estimate(&spoiled, &truth, 1, &law, &again);
    assert_true(fabs(again.f[0] / forces.f[0] - 2) < 1e-6);
    law_forces_free(&again);
    law_forces_free(&forces);
    free(label);
    free(body);
    close_set(&data, &truth, &law);
}

/* ---- the row */

/* The other sources have the laws that they have without it, and the record names the data set. */
TEST_BETWEEN(laws_have_a_row_more, create, discard)
{
    static const char *const list[] = {"laws", "sources", "samples"};
    char *text;
    size_t bytes;
    hide(true);
    run();
    cJSON *without = read_laws();
    assert_false(orr_made_from_positions(cJSON_GetObjectItemCaseSensitive(without, "made")));
    hide(false);
    run();
    cJSON *with = read_laws();
    assert_true(orr_made_from_positions(cJSON_GetObjectItemCaseSensitive(with, "made")));
    for (int i = 0; i < 3; i++) {
        char *before = objects(without, list[i], false), *after = objects(with, list[i], false);
        char *none = objects(without, list[i], true), *row = objects(with, list[i], true);
        assert_string_equal(before, after);
        assert_string_equal(none, "");
        assert_int_equal(count_of(row, "\n"), i == 1 ? 1 : i == 2 ? SAMPLES : SAMPLES * 3);
        if (i == 0)
            assert_int_equal(count_of(row, "\"on_front\":true,\"constant\":39.4"), SAMPLES * 3);
        free(before);
        free(after);
        free(none);
        free(row);
    }
    if (orr_file_read(scratch_at(folder, "laws.md"), &text, &bytes))
        fail_msg("%s", orr_error());
    assert_int_equal(count_of(text, "| positions |"), 4);
    assert_int_equal(count_of(text, "no force labels, no network"), 1);
    free(text);
    assert_true(orr_exists(scratch_at(folder, "front_positions_1.csv")));
    cJSON_Delete(without);
    cJSON_Delete(with);
}

/* Laws stay when their data set is gone; those that are made then have no such row. A data set that
 * is damaged is none, and no error. */
TEST_BETWEEN(the_row_needs_its_data, create, discard)
{
    static const char *const setting[] = {"symreg.maxsize=19", "symreg.maxsize=18"};
    run();
    cJSON *before = read_laws();
    hide(true);
    run();
    cJSON *after = read_laws();
    assert_true(cJSON_Compare(before, after, true));
    cJSON_Delete(after);
    for (int damaged = 0; damaged < 2; damaged++) {
        if (damaged) {
            hide(false);
            scratch_text(scratch_at(orbits, "coords_two_body_test.npy"), "damaged");
        }
        set(setting[damaged]);
        run();
        after = read_laws();
        char *row = objects(after, "laws", true), *others = objects(after, "laws", false);
        assert_string_equal(row, "");
        assert_true(count_of(others, "\n") == 2 * SAMPLES * 3);
        assert_false(orr_made_from_positions(cJSON_GetObjectItemCaseSensitive(after, "made")));
        assert_false(orr_exists(scratch_at(folder, "front_positions_0.csv")));
        free(row);
        free(others);
        cJSON_Delete(after);
    }
    cJSON_Delete(before);
}

/* Settings whose runs can not have it say which setting stands against it. */
TEST_BETWEEN(some_settings_cannot, create, discard)
{
    static const char *const cases[][3] = {
        {"orbits.output=tokens", "orbits.output=continuous", "orbits.output is tokens"},
        {"orbits.positions=15", "orbits.positions=41", "orbits.positions"},
        {"orbits.two_body_test=0", "orbits.two_body_test=24", "orbits.two_body_test is 0"}};
    assert_null(law_positions_lack(&cli.settings));
    for (int c = 0; c < 3; c++) {
        set(cases[c][0]);
        assert_non_null(law_positions_lack(&cli.settings));
        assert_non_null(strstr(law_positions_lack(&cli.settings), cases[c][2]));
        set(cases[c][1]);
    }
    set("orbits.jump_step=9");
    set("orbits.jump_factor=2");
    assert_non_null(strstr(law_positions_lack(&cli.settings), "orbits.jump_step"));
    set("orbits.jump_factor=1");
    assert_null(law_positions_lack(&cli.settings));
}

TESTS(NULL, NULL)
