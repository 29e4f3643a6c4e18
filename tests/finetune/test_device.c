/* test_device.c - fine-tuning and probes on a backend that the host cannot look into
 * (tests/model/guarded_ops.h): the same files, byte for byte, as with ref. */
#include "model/guarded_ops.h"
#include "probe.h"
#include "tiny.h"

static struct tiny tiny;

static void fine_tune(const struct k_ops *ops, const char *name)
{
    tiny_open_run(&tiny, name);
    tiny.run.ops = ops;
    for (int again = 0; again < 2; again++) { /* the second time it is read back */
        tiny.run.resume = again;
        assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
        assert_int_equal(ft_vector_model(&tiny.run, "lssar", "lssar", NULL), 0);
    }
}

static void test_fine_tuning(void **state)
{
    (void)state;
    static const char *const files[] = {"magnitude.safetensors", "forces_magnitude.csv",
                                        "vector.safetensors", "forces_vector.csv"};
    enum { FILES = sizeof files / sizeof *files };
    for (int tokens = 0; tokens < 2; tokens++) {
        uint64_t sum[FILES];
        tiny_preset(&tiny.preset, tokens);
        tiny.preset.finetune.magnitude.ema = 0.6;
        tiny_open(&tiny);
        tiny_close_run(&tiny);
        fine_tune(&k_ref, "ref");
        for (int i = 0; i < FILES; i++)
            sum[i] = tiny_checksum(&tiny, "lssar", files[i]);
        tiny_close_run(&tiny);
        fine_tune(&guarded_ops, "guarded");
        for (int i = 0; i < FILES; i++)
            assert_int_equal(tiny_checksum(&tiny, "lssar", files[i]), sum[i]);
        tiny_close(&tiny);
        assert_int_equal(guarded_counts.held, 0);
    }
}

/* A model of a run, written once, looked at by both. */
static void test_probes(void **state)
{
    (void)state;
    static const char *const files[] = {"attention.csv", "inputs.npy", "outputs.npy"};
    struct gpt_config config;
    struct gpt_model model;
    char checkpoint[4096], out[2][4096], path[4096];
    const char *const extra[] = {"stage", "pretrain", NULL};
    tiny_preset(&tiny.preset, false);
    tiny.preset.orbits.val = 4;
    tiny.preset.model.layers = 2;
    tiny_open(&tiny);
    scratch_path(checkpoint, tiny.dir, "model.safetensors");
    assert_int_equal(gpt_config_from_preset(&config, &tiny.preset, "lssar", 33), 0);
    assert_int_equal(gpt_create(&model, &config, &k_ref, 3), 0);
    assert_int_equal(gpt_save(&model, checkpoint, 0, false, extra), 0);
    gpt_free(&model);
    for (int i = 0; i < 2; i++) {
        scratch_path(out[i], tiny.dir, i ? "guarded" : "ref");
        const struct ft_probe_options options = {.preset = &tiny.preset,
                                                 .ops = i ? &guarded_ops : &k_ref,
                                                 .checkpoint = checkpoint,
                                                 .run = "",
                                                 .orbits = "",
                                                 .out = out[i],
                                                 .layer = -1,
                                                 .head = -1,
                                                 .quiet = true};
        assert_int_equal(ft_probe_attention(&options), 0);
        assert_int_equal(ft_probe_outputs(&options), 0);
    }
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        uint64_t sum[2], bytes;
        for (int i = 0; i < 2; i++) {
            assert_int_equal(orr_path(path, "%s/%s", out[i], files[k]), 0);
            assert_int_equal(orr_file_checksum(path, &sum[i], &bytes), 0);
        }
        assert_int_equal(sum[0], sum[1]);
    }
    tiny_close(&tiny);
    assert_int_equal(guarded_counts.held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fine_tuning),
        cmocka_unit_test(test_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
