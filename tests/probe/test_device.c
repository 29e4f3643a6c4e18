/* test_device.c - probes on a backend that the host cannot look into (tests/model/guarded_ops.h):
 * the same files, byte for byte, as with ref. */
#include "finetune/tiny.h"
#include "model/guarded_ops.h"
#include "probe.h"

static struct tiny tiny;

/* A model of a run, written once, looked at by both. */
TEST(test_probes)
{
    static const char *const files[] = {"attention.csv", "inputs.npy",  "outputs.npy",
                                        "linear.csv",    "rollout.csv", "inductive.csv",
                                        "length.csv"};
    struct gpt_config config;
    struct gpt_model model;
    char checkpoint[4096], out[2][4096], path[4096];
    const char *const extra[] = {"stage", "pretrain", NULL};
    tiny_preset(&tiny.settings, false);
    tiny.settings.orbits.val = 4;
    tiny.settings.model.layers = 2;
    tiny.settings.model.positions = ORR_POSITIONS_ROPE; /* for length */
    tiny_open(&tiny);
    scratch_path(checkpoint, tiny.dir, "model.safetensors");
    assert_int_equal(gpt_config_from_preset(&config, &tiny.settings, "lssar", 33), 0);
    assert_int_equal(gpt_create(&model, &config, &k_ref, 3), 0);
    assert_int_equal(gpt_save(&model, checkpoint, 0, false, extra), 0);
    gpt_free(&model);
    for (int i = 0; i < 2; i++) {
        scratch_path(out[i], tiny.dir, i ? "guarded" : "ref");
        struct probe_options options = {.settings = &tiny.settings,
                                        .ops = i ? &guarded_ops : &k_ref,
                                        .checkpoint = checkpoint,
                                        .run = "",
                                        .orbits = "",
                                        .out = out[i],
                                        .layer = -1,
                                        .head = -1,
                                        .quiet = true};
        assert_int_equal(probe_attention(&options), 0);
        assert_int_equal(probe_outputs(&options), 0);
        options.sequences = 10;
        assert_int_equal(probe_rollout(&options), 0);
        options.sequences = 120;
        assert_int_equal(probe_linear(&options), 0);
        options.sequences = 30;
        options.steps = options.draws = 2;
        assert_int_equal(probe_inductive(&options), 0);
        options.steps = options.draws = 0;
        options.sequences = 2;
        assert_int_equal(probe_length(&options), 0);
        if (i) { /* what is added to the residual stream, the host adds */
            assert_int_equal(probe_intervene(&options), ORR_EUSAGE);
            error_names("intervene", "--device cpu", NULL);
        }
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

TESTS(NULL, NULL)
