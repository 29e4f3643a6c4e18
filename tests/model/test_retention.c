/* test_retention.c - step-numbered checkpoints: which are kept, that they are whole, and
 * that a stopped training leaves the same ones. */
#include "tiny.h"

#include <dirent.h>
#include <sys/wait.h>

static char *const dir = scratch_dir;

static int run(const char *name, const struct orr_train_settings *t, long stop_at, long *step)
{
    struct gpt_config c = tiny_continuous();
    struct tiny_data data;
    struct gpt_model model;
    char folder[4096], last[4096];
    scratch_path(folder, dir, name);
    scratch_path(last, folder, "last.safetensors");
    tiny_data_create(&data, &c, 17);
    data.stop_at = stop_at;
    struct gpt_task task = tiny_task(&data, folder);
    task.fill_in_step = stop_at >= 0;
    const bool resumed = *step > 0;
    int rc = resumed ? gpt_load_as(&model, last, &c, false, &k_ref, step)
                     : gpt_create(&model, &c, &k_ref, 6);
    if (!rc)
        rc = gpt_train(&model, t, &task, step);
    gpt_batch_free(&data.held_out);
    gpt_free(&model);
    return rc;
}

/* The folder holds exactly these steps, each a checkpoint of its step with its optimiser. */
static void holds(const char *name, const char *expected)
{
    char path[4096], found[256] = "";
    scratch_path(path, dir, name);
    struct dirent **entry;
    const int count = scandir(path, &entry, NULL, alphasort);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        long step, at;
        struct gpt_model model;
        if (sscanf(entry[i]->d_name, "last-%9ld.safetensors", &step) == 1) {
            const size_t used = strlen(found);
            snprintf(found + used, sizeof found - used, "%s%ld", used ? " " : "", step);
            assert_int_equal(orr_path(path, "%s/%s/%s", dir, name, entry[i]->d_name), 0);
            assert_int_equal(gpt_load(&model, path, &k_ref, &at), 0);
            assert_int_equal(at, step);
            assert_true(model.m && model.v);
            gpt_free(&model);
        }
        assert_null(strstr(entry[i]->d_name, "partial"));
        free(entry[i]);
    }
    free(entry);
    assert_string_equal(found, expected);
}

TEST(test_kept)
{
    struct orr_train_settings t = tiny_training(40, 3);
    long step = 0;
    t.checkpoint_every = 6;
    assert_int_equal(run("none", &t, -1, &step), 0);
    holds("none", "");
    t.keep = 3;
    step = 0;
    assert_int_equal(run("checkpoints", &t, -1, &step), 0);
    holds("checkpoints", "24 30 36"); /* the last is step 40, no multiple */
    /* names that are not written here take no place */
    static const char *const foreign[] = {"last-99999999999999999", "last-0000000099", "last-99"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        char path[4096];
        assert_int_equal(orr_path(path, "%s/checkpoints/%s.safetensors", dir, foreign[i]), 0);
        scratch_text(path, "foreign");
    }
    step = 0;
    assert_int_equal(run("checkpoints", &t, -1, &step), 0);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        char path[4096];
        assert_int_equal(orr_path(path, "%s/checkpoints/%s.safetensors", dir, foreign[i]), 0);
        assert_true(orr_exists(path));
        assert_int_equal(unlink(path), 0);
    }
    holds("checkpoints", "24 30 36");
    t.keep_every = 10;
    step = 0;
    assert_int_equal(run("every", &t, -1, &step), 0);
    holds("every", "20 30 40");
    t.keep = 100;
    step = 0;
    assert_int_equal(run("checkpoints", &t, -1, &step), 0); /* of the earlier one none is left */
    holds("checkpoints", "10 20 30 40");
}

static uint64_t sum_of(const char *name, const char *file)
{
    char path[4096];
    uint64_t sum, bytes;
    assert_int_equal(orr_path(path, "%s/%s/%s", dir, name, file), 0);
    assert_int_equal(orr_file_checksum(path, &sum, &bytes), 0);
    return sum;
}

/* A numbered file is the last checkpoint of its step and is not touched by later ones; stopped
 * and resumed trainings leave the same. */
TEST(test_resumed)
{
    struct orr_train_settings t = tiny_training(12, 3);
    long step = 0;
    t.keep = 2;
    t.keep_every = 4;
    t.checkpoint_every = 5;
    assert_int_equal(run("short", &t, -1, &step), 0);
    t.steps = 30;
    step = 0;
    assert_int_equal(run("long", &t, -1, &step), 0);
    holds("long", "24 28");
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        orr_signals_catch();
        step = 0;
        _exit(run("resumed", &t, 25, &step) == ORR_EINTR ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    holds("resumed", "20 24");
    step = 26;
    assert_int_equal(run("resumed", &t, -1, &step), 0);
    holds("resumed", "24 28");
    assert_int_equal(sum_of("resumed", "last-000000024.safetensors"),
                     sum_of("long", "last-000000024.safetensors"));
    assert_int_equal(sum_of("resumed", "last-000000028.safetensors"),
                     sum_of("long", "last-000000028.safetensors"));
    assert_true(sum_of("long", "last-000000028.safetensors") != sum_of("long", "last.safetensors"));
    assert_int_equal(sum_of("short", "last-000000012.safetensors"),
                     sum_of("short", "last.safetensors"));
}

TESTS(scratch_setup, scratch_teardown)
