/* test_tensorboard.c - logs as event files: the bytes that TensorBoard's own writer gives. */
#include "report.h"

#include <sys/stat.h>
#include <utime.h>

#include "tests/base/scratch.h"

/* Of an Event with file_version "brain.Event:2", one of step 1 with loss 0.5 and lr 0.001, one of
 * step 300 with val_loss 2.5e-5, all of wall_time 1e9: by tensorboard 2.20, record_writer and
 * event_pb2. */
static const char reference[] = "1800000000000000a37f4b22090000000065cdcd411a0d627261696e2e457665"
                                "6e743a32f4eb195e2500000000000000eabc36f3090000000065cdcd4110012a"
                                "180a0b0a046c6f7373150000003f0a090a026c72156f12833a0c7e888d1f0000"
                                "0000000000514b4418090000000065cdcd4110ac022a110a0f0a0876616c5f6c"
                                "6f73731517b7d13702367d88";

static const char *run, *out, *log_file, *events;

static int convert(const char *log)
{
    static char path[4][4096];
    const char *names[4] = {"run", "out", "run/lssar/pretrain/log.jsonl",
                            "out/lssar/pretrain/events.out.tfevents.0.orrery"};
    const char **name[4] = {&run, &out, &log_file, &events};
    for (int i = 0; i < 4; i++) {
        scratch_path(path[i], scratch_dir, names[i]);
        *name[i] = path[i];
    }
    assert_int_equal(orr_mkdir(scratch_at(scratch_dir, "run/lssar/pretrain")), 0);
    scratch_text(log_file, log);
    assert_int_equal(utime(log_file, &(struct utimbuf){1000000000, 1000000000}), 0);
    return report_tensorboard(run, out, true);
}

static void assert_reference(void)
{
    char *bytes = NULL, hex[sizeof reference + 2] = "";
    size_t count;
    assert_int_equal(orr_file_read(events, &bytes, &count), 0);
    assert_int_equal(count, (sizeof reference - 1) / 2);
    for (size_t i = 0; i < count; i++)
        sprintf(hex + 2 * i, "%02x", (unsigned char)bytes[i]);
    assert_string_equal(hex, reference);
    free(bytes);
}

TEST(bytes_are_those_of_tensorboard)
{
    assert_int_equal(convert("{\"step\": 1, \"loss\": 0.5, \"lr\": 0.001}\n"
                             "{\"step\": 300, \"val_loss\": 2.5e-5, \"eta_s\": null}\n"),
                     0);
    assert_reference();
}

/* A line that a kill cut short is no event, and steps that a resumed run wrote again count once. */
TEST(lines_written_again_count_once)
{
    assert_int_equal(convert("{\"step\": 1, \"loss\": 0.5, \"lr\": 0.001}\n"
                             "{\"step\": 400, \"loss\": 7}\n"
                             "{\"step\": 300, \"val_loss\": 2.5e-5}\n{\"step\": 500, \"lo"),
                     0);
    assert_reference();
}

TEST(what_is_no_log_is_named)
{
    assert_int_equal(convert("{\"step\": 1, \"loss\": 0.5}\nfoo\n{\"step\": 2, \"loss\": 1}\n"),
                     ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "log.jsonl:2: expected a JSON object"));
    assert_int_equal(remove(log_file), 0);
    assert_int_equal(report_tensorboard(run, out, true), ORR_EMISSING);
    assert_non_null(strstr(orr_error(), "no logs"));
    assert_int_equal(report_tensorboard("/nonexistent/run", out, true), ORR_EMISSING);
}

TESTS(scratch_setup, scratch_teardown)
