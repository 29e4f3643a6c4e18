/* test_pretrain.c - what a pretraining is judged and selected by: the held-out loss over all the
 * sequences that were asked for. */
#include "tiny.h"

#include "pretrain.h"

static char dir[64], orbits[4096];
static struct orr_preset preset;

/* 70 validation sequences: a batch of 64, and a smaller one. */
static void write_orbits(bool tokens)
{
    orr_preset_defaults(&preset);
    strcpy(preset.name, "tiny");
    preset.seed = 32;
    preset.orbits.train = preset.orbits.train_files = 12;
    preset.orbits.val = 70;
    preset.orbits.test = 0;
    preset.orbits.two_body_train = preset.orbits.two_body_val = preset.orbits.two_body_test = 0;
    preset.orbits.positions = 22;
    preset.orbits.bins = 64;
    preset.orbits.planets_max = 3;
    preset.orbits.solar_system = false;
    if (!tokens) {
        preset.orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
        preset.orbits.output = ORR_OUTPUT_CONTINUOUS;
        preset.orbits.mass_prior = ORR_MASS_LOGUNIFORM;
        preset.orbits.a_max_au = 4;
    }
    preset.model.layers = 1;
    preset.model.heads = 2;
    preset.model.width = 8;
    preset.pretrain = tiny_training(4, 4);
    assert_int_equal(orr_preset_check(&preset), 0);
    scratch_create(dir);
    scratch_path(orbits, dir, "orbits");
    assert_int_equal(sim_dataset_write(&preset, orbits, 1, true), 0);
}

static struct gpt_pretraining make_job(const char *folder)
{
    struct gpt_pretraining job = {.preset = &preset,
                                  .train = &preset.pretrain,
                                  .ops = &k_ref,
                                  .attention = "softmax",
                                  .orbits_dir = orbits,
                                  .checkpoint = "",
                                  .quiet = true};
    scratch_path(job.folder, dir, folder);
    return job;
}

/* The last number of a key in the log. */
static double logged(const struct gpt_pretraining *job, const char *key)
{
    char path[4096], *text;
    size_t bytes;
    double value = NAN;
    scratch_path(path, job->folder, "log.jsonl");
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    for (char *at = text; (at = strstr(at, key)) != NULL;) {
        at += strlen(key);
        value = strtod(at + strspn(at, "\": "), NULL);
    }
    free(text);
    return value;
}

/* Mean loss of a checkpoint over the first `count` sequences of a split, one by one. */
static double loss_of(const char *checkpoint, enum sim_split split, int count)
{
    struct gpt_model model;
    struct gpt_source *source;
    struct gpt_batch batch;
    double sum = 0, part;
    assert_int_equal(gpt_load(&model, checkpoint, &k_ref, NULL), 0);
    assert_int_equal(gpt_source_open(&source, &preset, orbits, split, &model.config), 0);
    assert_int_equal(gpt_batch_create(&batch, &model.config, 1, model.config.context), 0);
    for (uint64_t i = 0; i < (uint64_t)count; i++) {
        assert_int_equal(gpt_source_fill(source, i, true, 0, 0, &batch), 0);
        assert_int_equal(gpt_loss(&model, &batch, &part), 0);
        sum += part / count;
    }
    gpt_batch_free(&batch);
    gpt_source_close(source);
    gpt_free(&model);
    return sum;
}

/* Every sequence counts once, those of a last, smaller batch too. */
static void test_all_sequences_count(void **state)
{
    (void)state;
    static const int asked[] = {67, 70, 64, 3, 900};
    for (int kind = 0; kind < 2; kind++) {
        write_orbits(kind == 1);
        for (int k = 0; k < 5; k++) {
            char path[4096];
            struct gpt_pretraining job = make_job("pretrain");
            preset.pretrain.eval_sequences = asked[k];
            assert_int_equal(gpt_pretrain(&job), 0);
            scratch_path(path, job.folder, "last.safetensors");
            const int count = asked[k] < 70 ? asked[k] : 70;
            const double expected = loss_of(path, SIM_SPLIT_VAL, count);
            const double found = logged(&job, "val_loss");
            /* float losses of at most 64 sequences, in another order */
            if (!(fabs(found - expected) <= 1e-6 * expected))
                fail_msg("%d sequences: %.9g, expected %.9g", asked[k], found, expected);
        }
        scratch_remove(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_sequences_count),
    };
    if (k_ref.open(1, false))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    k_ref.close();
    return failed;
}
