/* test_shard.c - sets in several files: the same data, gone on with after any end, damage found,
 * other people's files left alone. */
#include "sets.h"
#include "sim/data/dataset.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

static bool there(const char *folder, const char *name)
{
    return orr_exists(scratch_at(folder, name));
}

/* Shards hold what the whole file holds; the last one is shorter. */
TEST_BETWEEN(test_same_data, sets_setup, sets_teardown)
{
    struct orr_settings p;
    sets_preset(&p);
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    for (long size = 300; size <= 500; size += 200) { /* 1000 is a multiple of the second */
        p.orbits.shard_sequences = size;
        scratch_remove(other);
        assert_int_equal(sim_dataset_write(&p, other, 2, false, true), 0);
        assert_true(there(other, size == 300 ? "obs_train-00003-of-00004.npy"
                                             : "num_bodies_train-00001-of-00002.npy"));
        assert_false(there(other, "obs_train.npy"));
        assert_true(there(other, "obs_val.npy"));
        assert_int_equal(scratch_count(other), scratch_count(dir) + (size == 300 ? 6 : 2));
        struct sim_dataset whole, parts;
        assert_int_equal(sim_dataset_open(&whole, &p, dir, SIM_SPLIT_TRAIN), 0);
        assert_int_equal(sim_dataset_open(&parts, &p, other, SIM_SPLIT_TRAIN), 0);
        assert_int_equal(parts.n, 1000);
        assert_int_equal(parts.shards, size == 300 ? 4 : 2);
        assert_null(parts.tokens); /* not in one piece: nobody reads past the first shard */
        for (size_t i = 0; i < 1000; i++) {
            assert_memory_equal(sim_dataset_tokens(&parts, i), whole.tokens + i * 48, 96);
            assert_ptr_equal(sim_dataset_tokens(&whole, i), whole.tokens + i * 48);
            assert_null(sim_dataset_coords(&parts, i));
        }
        assert_memory_equal(parts.num_bodies, whole.num_bodies, 1000);
        sim_dataset_close(&whole);
        sim_dataset_close(&parts);
    }
    /* the layout is no setting of content: both are complete for it, and verified */
    const enum sim_split splits[] = {SIM_SPLIT_TRAIN, SIM_SPLIT_TWO_BODY_TRAIN};
    assert_true(sim_dataset_complete(&p, dir, false));
    assert_int_equal(sim_dataset_verify(&p, other, splits, 2, false, true), 0);
}

static void time_of(const char *name, struct timespec *changed)
{
    struct stat info;
    assert_int_equal(stat(scratch_at(dir, name), &info), 0);
    *changed = info.st_mtim;
}

/* Bytes of a part: sequences counted one by one. */
TEST(test_shares)
{
    struct orr_settings p;
    sets_preset(&p);
    p.orbits.shard_sequences = 300;
    p.orbits.val = p.orbits.two_body_train = p.orbits.two_body_val = p.orbits.two_body_test = 0;
    p.orbits.solar_system = false;
    for (long n = 0; n <= 1500; n += 150)
        for (int parts = 1; parts <= 7; parts++)
            for (int part = 0; part < parts; part++) {
                long expected = 0;
                p.orbits.train = p.orbits.train_files = n;
                for (long i = 0; i < n; i++)
                    expected += (n > 300 ? i / 300 : 0) % parts == part;
                assert_true(sim_dataset_bytes(&p, part, parts) ==
                            (double)expected * (4.0 * p.orbits.positions + 1));
            }
}

/* Parts in one folder, in any order and number, come to the bytes of one process; the last one
 * writes the manifest, whichever that is. */
TEST_BETWEEN(test_parts, sets_setup, sets_teardown)
{
    static const int orders[][4] = {{0, 1}, {1, 0}, {0, 1, 2}, {2, 0, 1}, {3, 1, 0, 2}};
    static const int counts[] = {2, 2, 3, 3, 4};
    struct orr_settings p;
    sets_preset(&p);
    p.orbits.shard_sequences = 300;
    assert_int_equal(sim_dataset_write(&p, other, 2, false, true), 0);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        scratch_remove(dir);
        for (int k = 0; k < counts[i]; k++) {
            assert_false(there(dir, "manifest.json"));
            assert_int_equal(
                sim_dataset_write_part(&p, dir, orders[i][k], counts[i], 1, false, true), 0);
        }
        sets_same(other, dir);
    }
    /* another number of parts over what one part has left */
    scratch_remove(dir);
    assert_int_equal(sim_dataset_write_part(&p, dir, 1, 3, 1, false, true), 0);
    assert_int_equal(sim_dataset_write_part(&p, dir, 1, 2, 1, false, true), 0);
    assert_false(there(dir, "obs_train-00000-of-00004.npy"));
    assert_true(there(dir, "progress_train-00001-of-00004.json"));
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    sets_same(other, dir);
}

/* What a part meets in the folder: other settings, another layout while others write, a lock of the
 * only process, parts of an earlier version. */
TEST_BETWEEN(test_parts_refused, sets_setup, sets_teardown)
{
    struct orr_settings p, q;
    int lock;
    sets_preset(&p);
    p.orbits.shard_sequences = 300;
    assert_int_equal(sim_dataset_write_part(&p, dir, 0, 2, 1, false, true), 0);
    q = p;
    q.seed++;
    assert_int_equal(sim_dataset_write_part(&q, dir, 1, 2, 1, false, true), ORR_EINVAL);
    error_names(dir, "train", "seed is", "--force", NULL);
    assert_int_equal(orr_lock_shared(dir, "writing", 0, &lock), 0); /* another part is at work */
    q = p;
    q.orbits.shard_sequences++;
    assert_int_equal(sim_dataset_write_part(&q, dir, 1, 2, 1, false, true), ORR_EIO);
    error_names(dir, "another process", "other sizes", NULL);
    assert_int_equal(sim_dataset_write_part(&p, dir, 1, 2, 1, false, true), 0);
    assert_false(there(dir, "manifest.json")); /* the other one may still add to it */
    orr_unlock(lock);
    assert_int_equal(orr_lock(dir, "writing", 0, &lock), 0); /* the only process */
    assert_int_equal(sim_dataset_write_part(&p, dir, 1, 2, 1, false, true), ORR_EIO);
    error_names(dir, "another process", NULL);
    orr_unlock(lock);
    assert_int_equal(orr_mkdir(scratch_at(dir, "parts/1-of-2")), 0);
    assert_int_equal(sim_dataset_write_part(&p, dir, 1, 2, 1, false, true), ORR_EINVAL);
    error_names("parts/1-of-2", "earlier version", "--part", NULL);
    scratch_remove(scratch_at(dir, "parts"));
    assert_int_equal(sim_dataset_write_part(&p, dir, 1, 2, 1, false, true), 0);
    assert_int_equal(sim_dataset_check(dir), 0);
    assert_int_equal(sim_dataset_write(&p, other, 2, false, true), 0);
    sets_same(other, dir);
}

/* Writes a record with one value exchanged. */
static void change_record(const char *name, const char *key, const char *text, double number)
{
    char path[4096];
    cJSON *json;
    scratch_path(path, dir, name);
    assert_int_equal(orr_json_read(path, &json), 0);
    assert_true(cJSON_HasObjectItem(json, key));
    cJSON_ReplaceItemInObject(json, key,
                              text ? cJSON_CreateString(text) : cJSON_CreateNumber(number));
    assert_int_equal(orr_json_write(path, json), 0);
    cJSON_Delete(json);
}

/* Other bytes of the same number. */
static void flip_middle(const char *path)
{
    char *bytes;
    size_t size;
    assert_int_equal(orr_file_read(path, &bytes, &size), 0);
    bytes[size / 2] ^= 4;
    scratch_write(path, bytes, size);
    free(bytes);
}

/* A record that is not of this plan, or whose files are not whole, counts for nothing: the shard is
 * made again. */
TEST_BETWEEN(test_records, sets_setup, sets_teardown)
{
    static const char *const record = "progress_train-00002-of-00004.json";
    struct orr_settings p;
    char path[4096];
    sets_preset(&p);
    p.orbits.shard_sequences = 300;
    assert_int_equal(sim_dataset_write(&p, other, 2, false, true), 0);
    for (int change = 0; change < 7; change++) {
        scratch_remove(dir);
        assert_int_equal(sim_dataset_write_part(&p, dir, 0, 2, 1, false, true), 0);
        scratch_path(path, dir, "obs_train-00002-of-00004.npy");
        if (change == 6)
            assert_int_equal(truncate(path, 300), 0);
        else
            flip_middle(path); /* shows whether the shard is made again */
        scratch_path(path, dir, record);
        if (change == 0)
            change_record(record, "digest", "another", 0);
        else if (change == 1)
            change_record(record, "sequences", NULL, 299);
        else if (change == 2)
            change_record(record, "clipped_coordinates", NULL, -1);
        else if (change == 3)
            change_record(record, "files", "none", 0);
        else if (change == 4)
            scratch_text(path, "{\"digest\": \"half");
        else if (change == 5)
            assert_int_equal(unlink(path), 0);
        assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
        sets_same(other, dir);
    }
    /* bytes of the right number are the matter of --force, as in finished sets */
    for (int force = 0; force < 2; force++) {
        scratch_remove(dir);
        assert_int_equal(sim_dataset_write_part(&p, dir, 0, 2, 1, false, true), 0);
        flip_middle(scratch_at(dir, "obs_train-00002-of-00004.npy"));
        assert_int_equal(sim_dataset_write(&p, dir, 2, force, true), 0);
        assert_int_equal(sim_dataset_check(dir), force ? 0 : ORR_EFORMAT);
    }
}

/* The progress file of an earlier version lists files itself, and has no digests: it goes on. */
TEST_BETWEEN(test_earlier_progress, sets_setup, sets_teardown)
{
    struct orr_settings p;
    struct timespec before, after;
    char path[4096];
    cJSON *progress, *record, *set, *sets, *file;
    sets_preset(&p);
    p.orbits.shard_sequences = 300;
    assert_int_equal(sim_dataset_write(&p, other, 2, false, true), 0);
    assert_int_equal(sim_dataset_write_part(&p, dir, 0, 4, 1, false, true), 0);
    scratch_path(path, dir, "progress_train-00000-of-00004.json");
    assert_int_equal(orr_json_read(path, &record), 0);
    assert_int_equal(unlink(path), 0);
    scratch_path(path, dir, "progress.json");
    assert_int_equal(orr_json_read(path, &progress), 0);
    sets = cJSON_GetObjectItem(progress, "sets");
    cJSON_ArrayForEach (set, sets)
        cJSON_DeleteItemFromObject(set, "digest");
    set = cJSON_GetObjectItem(sets, "train");
    cJSON_SetNumberValue(cJSON_GetObjectItem(set, "sequences"), 300);
    cJSON_SetNumberValue(cJSON_GetObjectItem(set, "clipped_coordinates"),
                         orr_json_number(record, "clipped_coordinates"));
    cJSON_ArrayForEach (file, cJSON_GetObjectItem(record, "files"))
        cJSON_AddItemToObject(cJSON_GetObjectItem(set, "files"), file->string,
                              cJSON_Duplicate(file, true));
    assert_int_equal(orr_json_write(path, progress), 0);
    cJSON_Delete(progress);
    cJSON_Delete(record);
    time_of("obs_train-00000-of-00004.npy", &before);
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    time_of("obs_train-00000-of-00004.npy", &after);
    assert_memory_equal(&before, &after, sizeof before);
    sets_same(other, dir);
}

/* Ten million sequences: sizes beyond 32 bits, and the last of them. */
TEST(test_ten_million)
{
    enum { N = 10000000, P = 1000 };
    struct orr_settings p;
    struct sim_block block, again;
    struct sim_sequence sequence;
    char name[SIM_NAME];
    sets_preset(&p);
    p.orbits.train = p.orbits.train_files = N;
    p.orbits.positions = P;
    p.orbits.val = p.orbits.two_body_train = p.orbits.two_body_val = p.orbits.two_body_test = 0;
    p.orbits.solar_system = false;
    assert_int_equal(sim_shard_count(&p, N), 50);
    sim_shard_name(name, SIM_KIND_OBS, SIM_SPLIT_TRAIN, 49, 50);
    assert_string_equal(name, "obs_train-00049-of-00050.npy");
    assert_true(sim_dataset_bytes(&p, 0, 1) ==
                N * (4.0 * P + 1)); /* bins of two bytes, bodies of one */
    assert_int_equal(sim_block_create(&block, &p, SIM_SPLIT_TRAIN, 1), 0);
    assert_int_equal(sim_block_create(&again, &p, SIM_SPLIT_TRAIN, 1), 0);
    assert_int_equal(sim_sequence_create(&sequence, &p, SIM_SPLIT_TRAIN), 0);
    assert_int_equal(sim_block_make(&block, 0, &sequence, &p, SIM_SPLIT_TRAIN, N - 1), 0);
    assert_int_equal(sim_block_make(&again, 0, &sequence, &p, SIM_SPLIT_TRAIN, N - 1), 0);
    assert_memory_equal(block.rows[SIM_KIND_OBS], again.rows[SIM_KIND_OBS], 4 * P);
    assert_int_equal(sim_block_make(&again, 0, &sequence, &p, SIM_SPLIT_TRAIN, N - 2), 0);
    assert_memory_not_equal(block.rows[SIM_KIND_OBS], again.rows[SIM_KIND_OBS], 4 * P);
    sim_sequence_free(&sequence);
    sim_block_free(&block);
    sim_block_free(&again);
}

/* Headers that claim 2^40 sequences or rows, with no or few bytes behind them. */
TEST_BETWEEN(test_claims, sets_setup, sets_teardown)
{
    static const struct {
        size_t shape[3];
        const char *said;
    } claims[] = {
        {{(size_t)1 << 40, 24, 2}, "truncated"},
        {{1, (size_t)1 << 40, 2}, "truncated"},
        {{(size_t)1 << 40, 0, 2}, "expected 1 to 1000000 rows a sequence, found 0"},
        {{0, (size_t)1 << 40, 2}, "expected 1 to 1000000 rows a sequence, found 1099511627776"},
        {{(size_t)1 << 40, (size_t)1 << 40, 2}, "the shape overflows"},
    };
    char path[4096];
    struct sim_dataset set;
    scratch_remove(dir);
    assert_int_equal(orr_mkdir(dir), 0);
    scratch_path(path, dir, "coords_val.npy");
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        struct orr_file file;
        assert_int_equal(orr_file_create(&file, path), 0);
        assert_int_equal(orr_npy_write_header(&file, ORR_F32, 3, claims[i].shape), 0);
        assert_int_equal(orr_file_commit(&file), 0);
        orr_file_close(&file);
        assert_int_equal(sim_dataset_open_any(&set, dir, SIM_SPLIT_VAL), ORR_EFORMAT);
        error_names("coords_val.npy", claims[i].said, NULL);
    }
    unlink(path);
}

/* Labelled sets in shards are gathered: the arrays are in one piece. */
TEST_BETWEEN(test_labelled, sets_setup, sets_teardown)
{
    struct orr_settings p;
    struct sim_dataset whole, parts;
    sets_preset(&p);
    p.orbits.train = p.orbits.train_files = 1;
    assert_int_equal(sim_dataset_write(&p, dir, 1, false, true), 0);
    p.orbits.shard_sequences = 19;
    assert_int_equal(sim_dataset_write(&p, other, 3, false, true), 0);
    assert_true(there(other, "force_vector_two_body_train-00002-of-00003.npy"));
    assert_int_equal(sim_dataset_open(&whole, &p, dir, SIM_SPLIT_TWO_BODY_TRAIN), 0);
    assert_int_equal(sim_dataset_open(&parts, &p, other, SIM_SPLIT_TWO_BODY_TRAIN), 0);
    const size_t n = 50, rows = n * 24;
    assert_int_equal(parts.n, n);
    assert_memory_equal(parts.tokens, whole.tokens, rows * 4);
    assert_memory_equal(parts.full_state, whole.full_state, rows * 24);
    assert_memory_equal(parts.state, whole.state, rows * 20);
    assert_memory_equal(parts.force_magnitude, whole.force_magnitude, rows * 4);
    assert_memory_equal(parts.force_vector, whole.force_vector, rows * 8);
    sim_dataset_close(&whole);
    sim_dataset_close(&parts);
}

/* Stops at a shard whose temporary place is taken; goes on there, leaving the finished ones. */
TEST_BETWEEN(test_resume, sets_setup, sets_teardown)
{
    static const char *const blocked[] = {"obs_train-00000-of-00004.npy",
                                          "num_bodies_train-00002-of-00004.npy",
                                          "state_two_body_train.npy"};
    struct orr_settings p;
    struct timespec before = {0}, after;
    char path[ORR_TEMPORARY];
    sets_preset(&p);
    p.orbits.shard_sequences = 300;
    assert_int_equal(sim_dataset_write(&p, other, 1, false, true), 0);
    for (size_t i = 0; i < 3; i++) {
        blocker(blocked[i], path);
        assert_int_equal(sim_dataset_write(&p, dir, 1 + (int)i, false, true), ORR_EIO);
        error_names(blocked[i], NULL);
        scratch_remove(path);
        assert_false(there(dir, "manifest.json"));
        assert_true(there(dir, "progress.json") == (i > 0));
        assert_true(there(dir, "progress_train-00000-of-00004.json") == (i > 0));
        assert_false(there(dir, blocked[i]));
        if (i == 1)
            time_of("obs_train-00001-of-00004.npy", &before);
    }
    scratch_path(path, dir, "obs_train-00003-of-00004.npy.77.orrery-partial"); /* of a killed run */
    scratch_text(path, "half");
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    time_of("obs_train-00001-of-00004.npy", &after);
    assert_memory_equal(&before, &after, sizeof before);
    sets_same(other, dir);
}

/* Progress of other settings, or whose files are not whole, is not gone on with. */
TEST_BETWEEN(test_stale, sets_setup, sets_teardown)
{
    struct orr_settings p, q;
    char path[ORR_TEMPORARY];
    sets_preset(&p);
    q = p;
    p.orbits.shard_sequences = 300;
    for (int change = 0; change < 4; change++) {
        scratch_remove(dir);
        scratch_remove(other);
        assert_int_equal(orr_mkdir(dir), 0);
        blocker("obs_val.npy", path);
        assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), ORR_EIO);
        scratch_remove(path);
        q = p;
        q.seed += change == 0;
        q.orbits.shard_sequences += change == 1;
        q.orbits.train_files -= change == 2 ? 500 : 0;
        if (change == 3) { /* cut after it was finished */
            assert_int_equal(truncate(scratch_at(dir, "obs_train-00001-of-00004.npy"), 300), 0);
        }
        scratch_path(path, dir, change % 2 ? "notes.txt" : "obs_val.npy.77.partial");
        scratch_text(path, "mine");
        if (change == 0) { /* finished files of another seed go by force alone */
            assert_int_equal(sim_dataset_write(&q, dir, 2, false, true), ORR_EINVAL);
            error_names(dir, "train", "seed is", "--force", NULL);
        }
        assert_int_equal(sim_dataset_write(&q, dir, 2, change == 0, true), 0);
        assert_int_equal(unlink(path), 0); /* what is not ours stays */
        assert_int_equal(sim_dataset_check(dir), 0);
        assert_true(sim_dataset_complete(&q, dir, false));
        const bool kept = change == 1 || change == 2; /* a finished set, cut or longer than asked */
        assert_int_equal(there(dir, "obs_train-00003-of-00004.npy"),
                         kept || change == 0 || change == 3);
        if (kept)
            continue;
        assert_int_equal(sim_dataset_write(&q, other, 1, false, true), 0);
        sets_same(other, dir);
    }
    q.orbits.val = 0; /* over complete sets: one that is no longer asked for stays */
    assert_int_equal(sim_dataset_write(&q, dir, 2, false, true), 0);
    assert_true(there(dir, "obs_val.npy"));
    assert_int_equal(sim_dataset_check(dir), 0);
}

/* Never over files that came from elsewhere, nor beside another writer. */
TEST_BETWEEN(test_not_ours, sets_setup, sets_teardown)
{
    struct orr_settings p;
    char path[4096], *text;
    sets_preset(&p);
    scratch_path(path, dir, "obs_val.npy");
    scratch_text(path, "precious");
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), ORR_EIO);
    error_names("obs_val.npy", "elsewhere", NULL);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    assert_string_equal(text, "precious");
    free(text);
    assert_int_equal(scratch_count(dir), 1);
    const int fd = open(other, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(sim_dataset_write(&p, other, 2, false, true), ORR_EIO);
    error_names(other, "another process", NULL);
    close(fd);
    assert_int_equal(sim_dataset_write(&p, other, 2, false, true), 0);
}

/* What verify finds: a flipped byte, a cut, a missing file, a count that is not so. */
TEST_BETWEEN(test_damage, sets_setup, sets_teardown)
{
    static const char *const name = "obs_train-00002-of-00004.npy";
    struct orr_settings p;
    struct sim_dataset set;
    char path[4096], *bytes;
    size_t size;
    sets_preset(&p);
    p.orbits.shard_sequences = 300;
    assert_int_equal(sim_dataset_check(dir), ORR_EMISSING);
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    assert_int_equal(sim_dataset_check(dir), 0);
    scratch_path(path, dir, name);
    assert_int_equal(orr_file_read(path, &bytes, &size), 0);
    bytes[size / 2] ^= 4;
    scratch_write(path, bytes, size);
    assert_int_equal(sim_dataset_check(dir), ORR_EFORMAT);
    error_names(name, "checksum expected", "found", NULL);
    assert_true(sim_dataset_complete(&p, dir, false)); /* by size: reading all is for verify */
    bytes[size / 2] ^= 4;
    scratch_write(path, bytes, size - 1);
    assert_int_equal(sim_dataset_check(dir), ORR_EFORMAT);
    error_names(name, "bytes as in manifest.json", NULL);
    assert_false(sim_dataset_complete(&p, dir, false));
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_TRAIN), ORR_EFORMAT);
    error_names(name, "truncated", NULL);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sim_dataset_check(dir), ORR_EMISSING);
    error_names(name, "not found", NULL);
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_TRAIN), ORR_EMISSING);
    scratch_write(path, bytes, size);
    assert_int_equal(sim_dataset_check(dir), 0);
    free(bytes);
    scratch_path(path, dir, "obs_train-00000-of-00009.npy"); /* shards of two writings */
    scratch_text(path, "");
    assert_int_equal(sim_dataset_open(&set, &p, dir, SIM_SPLIT_TRAIN), ORR_EFORMAT);
    error_names("two writings", NULL);
}

/* The manifest's own text must agree with the files. */
TEST_BETWEEN(test_manifest_lies, sets_setup, sets_teardown)
{
    struct orr_settings p;
    char path[4096];
    cJSON *json;
    sets_preset(&p);
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    scratch_path(path, dir, "manifest.json");
    assert_int_equal(orr_json_read(path, &json), 0);
    cJSON *val = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "sets"), "val");
    cJSON_SetNumberValue(cJSON_GetObjectItem(val, "sequences"), 8);
    assert_int_equal(orr_json_write(path, json), 0);
    assert_int_equal(sim_dataset_check(dir), ORR_EFORMAT);
    error_names("val", "8", "7", NULL);
    cJSON_DeleteItemFromObject(cJSON_GetObjectItem(val, "files"), "obs_val.npy");
    cJSON_DeleteItemFromObject(cJSON_GetObjectItem(val, "files"), "num_bodies_val.npy");
    assert_int_equal(orr_json_write(path, json), 0);
    assert_int_equal(sim_dataset_check(dir), ORR_EFORMAT);
    error_names("val", "no files", NULL);
    cJSON_Delete(json);
}

/* Writes the list without a file, as if the set had never had it. */
static void unlist(const char *list, const char *set, const char *name)
{
    char path[4096];
    cJSON *json;
    scratch_path(path, dir, list);
    assert_int_equal(orr_json_read(path, &json), 0);
    cJSON *files =
        cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "sets"), set), "files");
    assert_true(cJSON_HasObjectItem(files, name));
    cJSON_DeleteItemFromObject(files, name);
    assert_int_equal(orr_json_write(path, json), 0);
    cJSON_Delete(json);
}

/* A list without one kind of files, or without a whole shard, is of no set that is whole. */
TEST_BETWEEN(test_unlisted, sets_setup, sets_teardown)
{
    static const struct {
        const char *set, *name, *other;
    } lost[] = {{"val", "num_bodies_val.npy", NULL},
                {"two_body_val", "state_two_body_val.npy", NULL},
                {"train", "num_bodies_train-00001-of-00004.npy", NULL},
                {"train", "obs_train-00003-of-00004.npy", "num_bodies_train-00003-of-00004.npy"}};
    struct orr_settings p;
    sets_preset(&p);
    p.orbits.shard_sequences = 300;
    assert_int_equal(sim_dataset_write(&p, other, 2, false, true), 0);
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
        sets_same(dir, other);
        unlist("manifest.json", lost[i].set, lost[i].name);
        if (lost[i].other)
            unlist("manifest.json", lost[i].set, lost[i].other);
        assert_int_equal(sim_dataset_check(dir), ORR_EFORMAT); /* it is there, but no sum of it */
        error_names("manifest.json", lost[i].name, NULL);
        assert_int_equal(unlink(scratch_at(dir, lost[i].name)), 0);
        assert_int_equal(unlink(scratch_at(dir, lost[i].other ? lost[i].other : "none")),
                         lost[i].other ? 0 : -1);
        assert_false(sim_dataset_complete(&p, dir, false));
        assert_false(sim_dataset_complete(&p, dir, true));
    }
    assert_int_equal(sim_dataset_write(&p, dir, 2, false, true), 0);
    sets_same(dir, other);
}

/* A .npy file as NumPy writes it: its own header text, version and padding. */
static void write_npy(const char *name, int version, const char *dict, const void *data,
                      size_t bytes)
{
    FILE *stream = fopen(scratch_at(other, name), "wb");
    assert_non_null(stream);
    const int prefix = version == 1 ? 10 : 12, used = prefix + (int)strlen(dict) + 1;
    const int length = (used + 63) / 64 * 64 - prefix;
    fprintf(stream, "\x93NUMPY%c%c%c%c", version, 0, length & 255, length >> 8);
    if (version > 1)
        fwrite("\0\0", 1, 2, stream);
    fprintf(stream, "%-*s\n", length - 1, dict);
    assert_int_equal(fwrite(data, 1, bytes, stream), bytes);
    assert_int_equal(fclose(stream), 0);
}

/* Folders without a manifest: right types and shapes are enough, wider whole numbers welcome. */
TEST_BETWEEN(test_foreign, sets_setup, sets_teardown)
{
    struct orr_settings p;
    struct sim_dataset ours, theirs;
    const enum sim_split val = SIM_SPLIT_VAL;
    int64_t bodies[7], wide[7 * 48];
    char path[4096];
    sets_preset(&p);
    p.orbits.train = 0;
    assert_int_equal(sim_dataset_write(&p, dir, 1, false, true), 0);
    assert_int_equal(sim_dataset_open(&ours, &p, dir, val), 0);
    assert_int_equal(sim_dataset_verify(&p, other, &val, 1, false, true), ORR_EMISSING);
    error_names("no data sets there", NULL);
    for (size_t i = 0; i < 7; i++)
        bodies[i] = ours.num_bodies[i];
    for (size_t i = 0; i < 7 * 48; i++)
        wide[i] = ours.tokens[i];
    write_npy("obs_val.npy", 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (7, 24, 2), }",
              ours.tokens, 7 * 96);
    assert_int_equal(sim_dataset_verify(&p, other, &val, 1, false, true), ORR_EMISSING);
    error_names("num_bodies_val.npy", NULL);
    for (int form = 0; form < 3; form++) {
        if (form == 0)
            write_npy("num_bodies_val.npy", 2,
                      "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }", ours.num_bodies,
                      7);
        else
            write_npy("num_bodies_val.npy", 1,
                      "{'descr': '<i8', 'fortran_order': False, 'shape': (7,)}", bodies,
                      sizeof bodies);
        if (form == 2)
            write_npy("obs_val.npy", 3,
                      "{'descr': '<i8', 'fortran_order': False, 'shape': (7, 24, 2), }", wide,
                      sizeof wide);
        assert_int_equal(sim_dataset_verify(&p, other, &val, 1, false, true), 0);
        assert_int_equal(sim_dataset_open(&theirs, &p, other, val), 0);
        assert_int_equal(theirs.n, 7);
        assert_memory_equal(theirs.tokens, ours.tokens, 7 * 96);
        assert_memory_equal(theirs.num_bodies, ours.num_bodies, 7);
        sim_dataset_close(&theirs);
    }
    wide[100] = 70000; /* no token */
    write_npy("obs_val.npy", 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (7, 24, 2), }",
              wide, sizeof wide);
    assert_int_equal(sim_dataset_verify(&p, other, &val, 1, false, true), ORR_EFORMAT);
    error_names("obs_val.npy", "70000", "100", NULL);
    write_npy("obs_val.npy", 1, "{'descr': '<u2', 'fortran_order': True, 'shape': (7, 24, 2), }",
              ours.tokens, 7 * 96);
    assert_int_equal(sim_dataset_verify(&p, other, &val, 1, false, true), ORR_EFORMAT);
    error_names("obs_val.npy", "Fortran", NULL);
    write_npy("obs_val.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (7, 24, 2), }",
              wide, sizeof wide);
    assert_int_equal(sim_dataset_verify(&p, other, &val, 1, false, true), ORR_EFORMAT);
    error_names("obs_val.npy", "<u2", "<f8", NULL);
    scratch_path(path, other, "progress.json"); /* ours, and not finished */
    scratch_text(path, "{}");
    assert_int_equal(sim_dataset_verify(&p, other, &val, 1, false, true), ORR_EMISSING);
    error_names("not finished", NULL);
    sim_dataset_close(&ours);
}

TESTS(NULL, NULL)
