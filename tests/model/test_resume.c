/* test_resume.c - a stopped training goes on as if it had not stopped, to the last bit; what a
 * folder holds after a stop, a kill, or an earlier training. */
#include "tiny.h"

#include <sys/wait.h>

#include <cjson/cJSON.h>

static char *const dir = scratch_dir;

static struct gpt_config resumed_config(void)
{
    struct gpt_config c = tiny_continuous();
    strcpy(c.attention, "lssar");
    return c;
}

static struct orr_train_settings resumed_training(void)
{
    struct orr_train_settings t = tiny_training(20, 3);
    t.schedule = ORR_SCHEDULE_COSINE;
    t.warmup = 3;
    t.weight_decay = 0.3;
    t.lr = 6e-2; /* held-out sequences are predicted worse before the end */
    t.clip = 0.4;
    t.ema = 0.9;
    t.accumulation = 2;
    t.eval_every = 4;
    t.checkpoint_every = 7;
    return t;
}

/* Trains to the end, or until `stop_at`; going on from the folder's checkpoint if there is one. */
static int run(const char *folder, long stop_at, int stop_pass)
{
    struct gpt_config c = resumed_config();
    const struct orr_train_settings t = resumed_training();
    struct tiny_data data;
    struct gpt_model model;
    char last[4096];
    long step = 0;
    scratch_path(last, folder, "last.safetensors");
    tiny_data_create(&data, &c, 17);
    data.passes = t.accumulation;
    data.stop_at = stop_at;
    data.stop_pass = stop_pass;
    struct gpt_task task = tiny_task(&data, folder);
    task.fill_in_step = stop_at >= 0; /* the signal comes from the step itself */
    int rc = orr_exists(last) ? gpt_load_as(&model, last, &c, false, &k_ref, &step)
                              : gpt_create(&model, &c, &k_ref, 6);
    if (!rc)
        rc = gpt_train(&model, &t, &task, &step);
    gpt_batch_free(&data.held_out);
    gpt_free(&model);
    return rc;
}

/* The same in a process of its own that a signal reaches in mid-step: during the last of its two
 * passes the step is finished, before that it is given up. */
static void run_stopped(const char *folder, long stop_at, int stop_pass)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        orr_signals_catch();
        const int rc = run(folder, stop_at, stop_pass);
        char expected[64];
        snprintf(expected, sizeof expected, "stopped at step %ld of 20", stop_at + stop_pass);
        _exit(rc == ORR_EINTR && strstr(orr_error(), expected) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Bytes of dir/name/file. */
static uint64_t checksum(const char *name, const char *file)
{
    char path[4096];
    uint64_t sum, bytes;
    assert_int_equal(orr_path(path, "%s/%s/%s", dir, name, file), 0);
    assert_int_equal(orr_file_checksum(path, &sum, &bytes), 0);
    return sum;
}

/* The log without its times and memory: everything else must repeat to the last digit. */
static char *log_of(const char *name)
{
    char path[4096], *text;
    assert_int_equal(orr_path(path, "%s/%s/log.jsonl", dir, name), 0);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    static const char *const of_machine[] = {", \"tokens_per_s", ", \"memory_mb"};
    for (int k = 0; k < 2; k++)
        for (char *at = text; (at = strstr(at, of_machine[k])) != NULL;) {
            char *end = at + strcspn(at, "}");
            memmove(at, end, strlen(end) + 1);
        }
    return text;
}

static void same_training(const char *expected, const char *found)
{
    assert_int_equal(checksum(expected, "last.safetensors"), checksum(found, "last.safetensors"));
    assert_int_equal(checksum(expected, "best.safetensors"), checksum(found, "best.safetensors"));
    char *a = log_of(expected), *b = log_of(found);
    assert_string_equal(a, b);
    assert_true(strlen(a) > 300);
    free(a);
    free(b);
}

/* 20 steps = 10 steps, a stop, 10 steps; also with many stops, one right after another. */
TEST(test_resume)
{
    char folder[4096];
    assert_int_equal(run(scratch_at(dir, "whole"), -1, 0), 0);
    scratch_path(folder, dir, "halves");
    run_stopped(folder, 9, 1);
    assert_true(checksum("halves", "last.safetensors") != checksum("whole", "last.safetensors"));
    assert_int_equal(run(folder, -1, 0), 0);
    same_training("whole", "halves");
    scratch_path(folder, dir, "pieces");
    run_stopped(folder, 0, 0);
    run_stopped(folder, 0, 1);
    run_stopped(folder, 1, 0);
    run_stopped(folder, 11, 1);
    run_stopped(folder, 13, 0);
    assert_int_equal(run(folder, -1, 0), 0);
    same_training("whole", "pieces");
    assert_int_equal(run(folder, -1, 0), 0); /* complete: nothing happens */
    same_training("whole", "pieces");
}

/* A process killed between checkpoints has logged steps that will be made again. */
TEST(test_resume_after_kill)
{
    char folder[4096], path[4096], *text;
    scratch_path(folder, dir, "killed");
    run_stopped(folder, 11, 1);
    scratch_path(path, folder, "log.jsonl");
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    FILE *log = fopen(path, "ab");
    assert_non_null(log);
    fputs("{\"step\":13,\"val_loss\":7}\n{\"step\":16,\"val_loss\":1}\n{\"step\":2", log);
    fclose(log);
    free(text);
    assert_int_equal(run(folder, -1, 0), 0);
    same_training("whole", "killed");
}

/* Weights alone cannot be trained on as if nothing had happened. */
TEST(test_resume_without_moments)
{
    struct gpt_config c = resumed_config();
    const struct orr_train_settings t = resumed_training();
    struct tiny_data data;
    struct gpt_model model;
    char folder[4096], path[4096];
    long step = 0;
    scratch_path(folder, dir, "weights");
    scratch_path(path, dir, "weights.safetensors");
    tiny_trained(&model, &c);
    assert_int_equal(gpt_save(&model, path, 3, false, NULL), 0);
    gpt_free(&model);
    tiny_data_create(&data, &c, 17);
    const struct gpt_task task = tiny_task(&data, folder);
    assert_int_equal(gpt_load_as(&model, path, &c, false, &k_ref, &step), 0);
    assert_int_equal(gpt_train(&model, &t, &task, &step), ORR_EINVAL);
    error_names("last.safetensors", "step 3", "optimiser", NULL);
    gpt_batch_free(&data.held_out);
    gpt_free(&model);
}

/* Smallest held-out loss in a log, and its step. */
static double least_loss(const char *name, long *step)
{
    char path[4096], *text, *rest = NULL;
    double least = INFINITY;
    assert_int_equal(orr_path(path, "%s/%s/log.jsonl", dir, name), 0);
    assert_int_equal(orr_file_read(path, &text, NULL), 0);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cJSON *json = cJSON_Parse(line);
        const cJSON *loss = cJSON_GetObjectItem(json, "val_loss");
        if (loss && loss->valuedouble < least) {
            least = loss->valuedouble;
            *step = cJSON_GetObjectItem(json, "step")->valueint;
        }
        cJSON_Delete(json);
    }
    free(text);
    return least;
}

/* The best checkpoint holds the weights that were measured - the average -, and those of an
 * earlier training in the same folder do not outlive it. */
TEST(test_best)
{
    struct gpt_config c = resumed_config();
    struct tiny_data data;
    struct gpt_model model, best;
    char folder[4096], path[4096];
    long step, best_step = 0;
    double loss;
    scratch_path(folder, dir, "best");
    scratch_path(path, folder, "best.safetensors");
    assert_int_equal(orr_mkdir(folder), 0);
    c.layers = 1;
    tiny_trained(&model, &c);
    assert_int_equal(gpt_save(&model, path, 3, false, NULL), 0); /* of another shape */
    gpt_free(&model);
    run_stopped(folder, 1, 1); /* before the first evaluation */
    assert_false(orr_exists(path));
    assert_int_equal(run(folder, -1, 0), 0);

    const double least = least_loss("best", &best_step);
    assert_in_range(best_step, 4, 8); /* losses grow again, before the first stop already */
    c = resumed_config();
    tiny_data_create(&data, &c, 17);
    assert_int_equal(gpt_load(&best, path, &k_ref, &step), 0);
    assert_int_equal(step, best_step);
    assert_null(best.average); /* param is the average: there is nothing to exchange */
    assert_int_equal(gpt_loss(&best, &data.held_out, &loss), 0);
    assert_true(fabs(loss - least) <= 1e-5 * least);
    gpt_batch_free(&data.held_out);
    gpt_free(&best);
}

TESTS(scratch_setup, scratch_teardown)
