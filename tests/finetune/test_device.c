/* test_device.c - fine-tuning on a backend that the host cannot look into
 * (tests/model/guarded_ops.h): the same files, byte for byte, as with ref. */
#include "model/guarded_ops.h"
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

TEST(test_fine_tuning)
{
    static const char *const files[] = {"magnitude.safetensors", "forces_magnitude.csv",
                                        "vector.safetensors", "forces_vector.csv"};
    enum { FILES = sizeof files / sizeof *files };
    for (int tokens = 0; tokens < 2; tokens++) {
        uint64_t sum[FILES];
        tiny_preset(&tiny.settings, tokens);
        tiny.settings.finetune.magnitude.ema = 0.6;
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

TESTS(NULL, NULL)
