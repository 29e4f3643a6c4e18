/* test_dataset.c - data sets on disk: same bytes on any number of threads, checked by their
 * reader, told apart by their settings. */
#include "sets.h"
#include "sim/data/dataset.h"

#include <math.h>
#include <signal.h>

#include <cjson/cJSON.h>

/* The study's shapes, fewer sequences; blocks of the writer are 512: 1 and a bit of them. */
static void tokens_preset(struct orr_settings *p)
{
    orr_settings_defaults(p);
    strcpy(p->name, "test");
    p->seed = 9007199254740993u; /* not a double */
    p->orbits.train = 700;
    p->orbits.train_files = 531;
    p->orbits.val = 7;
    p->orbits.test = 0;
    p->orbits.two_body_train = 21;
    p->orbits.two_body_val = 3;
    p->orbits.two_body_test = 5;
    assert_int_equal(orr_settings_check(p), 0);
}

static void continuous_preset(struct orr_settings *p)
{
    orr_settings_defaults(p);
    p->seed = 8;
    p->orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    p->orbits.output = ORR_OUTPUT_CONTINUOUS;
    p->orbits.mass_prior = ORR_MASS_LOGUNIFORM;
    p->orbits.positions = 33;
    p->orbits.a_max_au = 4;
    p->orbits.train = p->orbits.train_files = 1100;
    p->orbits.val = p->orbits.test = 5;
    p->orbits.two_body_train = 40;
    p->orbits.two_body_val = p->orbits.two_body_test = 9;
    p->planets.enabled = true;
    p->planets.train = 30;
    p->planets.val = 6;
    p->planets.test = 7;
    assert_int_equal(orr_settings_check(p), 0);
}

/* Bytes do not depend on threads; the estimate of bytes counts the rows. */
TEST_BETWEEN(test_threads, sets_setup, sets_teardown)
{
    struct orr_settings p;
    for (int kind = 0; kind < 2; kind++) {
        if (kind)
            continuous_preset(&p);
        else
            tokens_preset(&p);
        char one[4096], more[4096];
        scratch_path(one, dir, kind ? "c" : "t");
        scratch_path(more, other, kind ? "c" : "t");
        assert_int_equal(sim_dataset_write(&p, one, 1, false, true), 0);
        for (int threads = 2; threads <= (kind ? 3 : 2); threads++) {
            assert_int_equal(sim_dataset_write(&p, more, threads, false, true), 0);
            sets_same(one, more);
        }
        double bytes = 0;
        DIR *folder = opendir(one);
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
            if (strstr(entry->d_name, ".npy")) {
                uint64_t sum, size;
                sets_checksum(one, entry->d_name, &sum, &size);
                bytes += (double)(size - 128);
            }
        closedir(folder);
        assert_true(bytes == sim_dataset_bytes(&p, 0, 1));
    }
}

/* Shapes and types of the study's files, and contents equal to sequences made one by one. */
TEST_BETWEEN(test_token_files, sets_setup, sets_teardown)
{
    static const struct {
        const char *name;
        enum orr_dtype dtype;
        int ndim;
        size_t shape[3];
    } files[] = {
        {"obs_train", ORR_U16, 3, {531, 1000, 2}},
        {"num_bodies_train", ORR_U8, 1, {531}},
        {"obs_val", ORR_U16, 3, {7, 1000, 2}},
        {"obs_two_body_train", ORR_U16, 3, {21, 1000, 2}},
        {"full_state_two_body_train", ORR_F32, 3, {21, 1000, 6}},
        {"state_two_body_test", ORR_F32, 3, {5, 1000, 5}},
        {"force_magnitude_two_body_val", ORR_F32, 3, {3, 1000, 1}},
        {"force_vector_two_body_test", ORR_F32, 3, {5, 1000, 2}},
        {"obs_solar_system", ORR_U16, 3, {1, 1000, 2}},
        {"force_vector_solar_system", ORR_F32, 3, {1, 1000, 2}},
        {"obs_solar_system_two_body", ORR_U16, 3, {8, 1000, 2}},
        {"num_bodies_solar_system_two_body", ORR_U8, 1, {8}},
    };
    struct orr_settings p;
    tokens_preset(&p);
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4096];
        struct orr_npy npy;
        size_t shape[3];
        memcpy(shape, files[i].shape, sizeof shape);
        assert_int_equal(orr_path(path, "%s/%s.npy", dir, files[i].name), 0);
        assert_int_equal(orr_npy_expect(path, &npy, files[i].dtype, files[i].ndim, shape), 0);
        orr_npy_close(&npy);
    }
    /* train, val: 2 files; 3 two-body sets and 2 solar ones: 6; the manifest; nothing else */
    assert_int_equal(scratch_count(dir), 2 * 2 + 5 * 6 + 1);
    struct sim_sequence q;
    struct sim_dataset set;
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TRAIN), 0);
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_TRAIN), 0);
    assert_true(set.n == 531 && set.positions == 1000 && set.bins == 7000);
    assert_true(!set.coords && !set.full_state && !set.scale);
    for (uint64_t i = 0; i < 531; i += 53) { /* streaming and files give the same */
        assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_TRAIN, i), 0);
        assert_memory_equal(q.tokens, set.tokens + i * 2000, 4000);
        assert_int_equal(q.num_bodies, set.num_bodies[i]);
        assert_in_range(set.num_bodies[i], 2, 11);
    }
    sim_dataset_close(&set);
    sim_sequence_free(&q);
}

TEST_BETWEEN(test_continuous_files, sets_setup, sets_teardown)
{
    struct orr_settings p;
    struct sim_sequence q;
    struct sim_dataset set;
    continuous_preset(&p);
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    assert_true(p.planets.test > 0);
    for (int split = 0; split < SIM_SPLITS; split++) {
        const enum sim_split here = (enum sim_split)split;
        const uint64_t n = sim_split_count(&p, here);
        if (n == 0) { /* no solar system in coordinates: no such file */
            assert_int_equal(sim_dataset_open(&set, &p, dir, here), ORR_EMISSING);
            continue;
        }
        assert_int_equal(sim_dataset_open(&set, &p, dir, here), 0);
        assert_int_equal(sim_sequence_create(&q, &p, here), 0);
        assert_int_equal(set.n, n);
        assert_int_equal(set.full_state != NULL, sim_split_labelled(here));
        assert_int_equal(set.scale != NULL, here >= SIM_SPLIT_PLANETS_TRAIN);
        const size_t P = (size_t)set.positions;
        for (uint64_t i = n > 3 ? n - 3 : 0; i < n; i++) {
            assert_int_equal(sim_sequence_make(&q, &p, here, i), 0);
            assert_memory_equal(set.coords + i * P * 2, q.coords, P * 8);
            assert_int_equal(set.num_bodies[i], 2);
            if (set.scale)
                assert_true(set.scale[i] == q.scale && q.scale > 0);
            if (!set.full_state)
                continue;
            assert_memory_equal(set.full_state + i * P * 6, q.full_state, P * 24);
            assert_memory_equal(set.state + i * P * 5, q.state, P * 20);
            assert_memory_equal(set.force_magnitude + i * P, q.force_magnitude, P * 4);
            assert_memory_equal(set.force_vector + i * P * 2, q.force_vector, P * 8);
        }
        sim_sequence_free(&q);
        sim_dataset_close(&set);
    }
}

/* The manifest: settings, every file with its checksum, clipped coordinates. */
TEST_BETWEEN(test_manifest, sets_setup, sets_teardown)
{
    struct orr_settings p;
    struct sim_sequence q;
    char path[4096], *text;
    cJSON *json;
    long clipped = 0;
    tokens_preset(&p);
    p.orbits.extent_au = 20;
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    scratch_path(path, dir, "manifest.json");
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    assert_non_null(strstr(text, "\"9007199254740993\"")); /* all digits of the seed */
    free(text);
    assert_int_equal(orr_json_read(path, &json), 0);
    assert_string_equal(cJSON_GetObjectItem(json, "protocol")->valuestring, "vafa2025");
    assert_string_equal(cJSON_GetObjectItem(json, "version")->valuestring, ORR_VERSION);
    const cJSON *sets = cJSON_GetObjectItem(json, "sets"), *set, *file;
    int files = 0;
    cJSON_ArrayForEach (set, sets)
        cJSON_ArrayForEach (file, cJSON_GetObjectItem(set, "files")) {
            char found[32];
            uint64_t sum, bytes;
            sets_checksum(dir, file->string, &sum, &bytes);
            snprintf(found, sizeof found, "%016llx", (unsigned long long)sum);
            assert_string_equal(cJSON_GetObjectItem(file, "xxh64")->valuestring, found);
            assert_true(cJSON_GetObjectItem(file, "bytes")->valuedouble == (double)bytes);
            files++;
        }
    assert_int_equal(files, scratch_count(dir) - 1);
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_VAL), 0);
    for (uint64_t i = 0; i < 7; i++) {
        assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_VAL, i), 0);
        clipped += q.clipped;
    }
    const cJSON *val = cJSON_GetObjectItem(sets, "val");
    assert_int_equal(cJSON_GetObjectItem(val, "clipped_coordinates")->valuedouble, clipped);
    assert_true(clipped > 0);
    sim_sequence_free(&q);
    cJSON_Delete(json);
}

/* Complete is: these settings, all files there, of their full length. */
TEST_BETWEEN(test_complete, sets_setup, sets_teardown)
{
    struct orr_settings p, q;
    char path[4096], *text;
    size_t bytes;
    tokens_preset(&p);
    assert_false(sim_dataset_complete(&p, dir, false));
    assert_false(sim_dataset_complete(&p, "/nonexistent", false));
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    assert_true(sim_dataset_complete(&p, dir, false));
    for (int i = 0; i < 5; i++) {
        q = p;
        q.seed += i == 0;
        q.orbits.val += i == 1;
        q.orbits.e_beta += i == 2 ? 1e-9 : 0;
        q.orbits.compat_velocity_sign = i == 3;
        q.planets.steps += i == 4;
        /* planet runs are no matter of this preset, val alone of the second */
        assert_int_equal(sim_dataset_complete(&q, dir, false), i == 4);
        assert_int_equal(sim_dataset_has(&q, dir, SIM_SPLIT_TRAIN), i == 1 || i >= 3);
    }
    q = p; /* what does not touch the data does not matter */
    q.model.layers = 3;
    q.pretrain.steps = 1;
    strcpy(q.name, "renamed");
    assert_true(sim_dataset_complete(&q, dir, false));
    scratch_path(path, dir, "state_two_body_val.npy");
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    scratch_write(path, text, bytes - 1);
    assert_false(sim_dataset_complete(&p, dir, false));
    unlink(path);
    assert_false(sim_dataset_complete(&p, dir, false));
    scratch_write(path, text, bytes);
    assert_true(sim_dataset_complete(&p, dir, false));
    free(text);
    scratch_text(scratch_at(dir, "manifest.json"), "{\"digest\": ");
    assert_false(sim_dataset_complete(&p, dir, false));
    assert_string_equal(orr_error(), ""); /* a question, not a failure */
}

/* Numbers of a list that can be of no set are an error, not a set that has them. */
TEST_BETWEEN(test_counts, sets_setup, sets_teardown)
{
    static const struct {
        const char *key;
        double count;
    } bad[] = {{"sequences", 1e300},
               {"sequences", -1},
               {"sequences", 2.5},
               {"clipped_coordinates", -3},
               {"planned", 1e17}};
    struct orr_settings p;
    struct sim_inventory inventory;
    char path[4096];
    tokens_preset(&p);
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    scratch_path(path, dir, "manifest.json");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cJSON *json, *list;
        assert_int_equal(orr_json_read(path, &json), 0);
        list = cJSON_Duplicate(json, true);
        cJSON *set = cJSON_GetObjectItem(cJSON_GetObjectItem(list, "sets"), "val");
        cJSON_DeleteItemFromObject(set, bad[i].key);
        cJSON_AddNumberToObject(set, bad[i].key, bad[i].count);
        assert_int_equal(orr_json_write(path, list), 0);
        assert_int_equal(sim_inventory_open(&inventory, &p, dir, false), ORR_EFORMAT);
        error_names(path, "\"val\"", bad[i].key, NULL);
        sim_inventory_close(&inventory);
        assert_int_equal(orr_json_write(path, json), 0);
        cJSON_Delete(list);
        cJSON_Delete(json);
    }
    assert_int_equal(sim_inventory_open(&inventory, &p, dir, false), 0);
    sim_inventory_close(&inventory);
}

/* A write over an old set that stops half way leaves no manifest that vouches for the mixture:
 * here the temporary file's place is taken, so that the third split can not be written. */
TEST_BETWEEN(test_interrupted_write, sets_setup, sets_teardown)
{
    struct orr_settings p, q;
    char blocked[ORR_TEMPORARY], manifest[4096];
    tokens_preset(&p);
    q = p;
    q.seed++;
    assert_int_equal(sim_dataset_write(&p, dir, 1, false, true), 0);
    blocker("obs_two_body_val.npy", blocked);
    assert_int_equal(sim_dataset_write(&q, dir, 1, true, true), ORR_EIO);
    error_names("obs_two_body_val.npy", NULL);
    scratch_path(manifest, dir, "manifest.json");
    assert_false(orr_exists(manifest));
    assert_false(sim_dataset_complete(&p, dir, false)); /* train already has the other seed */
    assert_false(sim_dataset_complete(&q, dir, false));
    scratch_remove(blocked);
    assert_int_equal(sim_dataset_write(&p, dir, 1, true, true), 0);
    assert_int_equal(sim_dataset_write(&p, other, 1, false, true), 0);
    sets_same(other, dir);
}

/* The reader names the file: absent, cut, of another shape, foreign. */
TEST_BETWEEN(test_reader_errors, sets_setup, sets_teardown)
{
    struct orr_settings p, q;
    struct sim_dataset set;
    char path[4096], *text;
    size_t bytes;
    tokens_preset(&p);
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    q = p;
    q.orbits.positions = 999;
    assert_int_equal(sim_dataset_open(&set, &q, dir, SIM_SPLIT_VAL), ORR_EFORMAT);
    error_names("obs_val.npy", "999", "1000", NULL);
    scratch_path(path, dir, "force_vector_two_body_test.npy");
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    scratch_write(path, text, bytes - 4);
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_TWO_BODY_TEST), ORR_EFORMAT);
    error_names(path, "truncated", NULL);
    unlink(path);
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_TWO_BODY_TEST), ORR_EMISSING);
    error_names(path, NULL);
    free(text);
    scratch_path(path, dir, "num_bodies_val.npy"); /* one sequence less than obs_val */
    const size_t six[] = {6}, none[] = {0, 1000, 2};
    assert_int_equal(orr_npy_write(path, ORR_U8, 1, six, "\2\2\2\2\2\2", NULL), 0);
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_VAL), ORR_EFORMAT);
    error_names(path, "expected 7, found 6", NULL);
    assert_int_equal(orr_npy_write(scratch_at(dir, "obs_val.npy"), ORR_U16, 3, none, "", NULL), 0);
    assert_int_equal(
        orr_npy_write(scratch_at(dir, "num_bodies_val.npy"), ORR_U8, 1, none, "", NULL), 0);
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_VAL), ORR_EFORMAT);
    error_names("empty", "val", NULL);
    continuous_preset(&q);
    assert_int_equal(sim_dataset_open(&set, &q, dir, SIM_SPLIT_TRAIN), ORR_EMISSING);
    error_names("coords_train.npy", NULL);
    assert_null(set.coords);
    assert_int_equal(sim_dataset_write(&p, "/dev/null/x", 1, false, true), ORR_EIO);
}

/* A signal stops after a block; no manifest. Last, because the flag stays. */
TEST_BETWEEN(test_signal, sets_setup, sets_teardown)
{
    struct orr_settings p;
    char manifest[4096];
    tokens_preset(&p);
    orr_signals_catch();
    raise(SIGINT);
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), ORR_EINTR);
    scratch_path(manifest, dir, "manifest.json");
    assert_false(orr_exists(manifest));
    assert_int_equal(scratch_count(dir), 0); /* no partial files */
}

TESTS(NULL, NULL)
