/* test_tensorboard.c - logs and pictures as event files: the bytes of TensorBoard's own writer. */
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

/* Settings of the run, the source and the stage are the hyperparameters of each log: by tensorboard
 * 2.21, an Event with plugin_data_pb2's SessionStartInfo of attention, pretrain.lr and stage.
 * Lists, and what the run says about itself, are none. */
TEST(settings_are_hyperparameters)
{
    static const char hparams[] = "090000000065cdcd412a88010a85010a1c5f68706172616d735f2f7365737369"
                                  "6f6e5f73746172745f696e666f42060801120212004a5d0a5b0a076870617261"
                                  "6d7312501a4e0a140a09617474656e74696f6e12071a056c737361720a180a0b"
                                  "707265747261696e2e6c721209117b14ae47e17a743f0a130a05737461676512"
                                  "0a1a08707265747261696e290000000065cdcd41";
    char *bytes = NULL, hex[4096] = "";
    size_t count;
    (void)convert("{\"step\": 1, \"loss\": 0.5}\n");
    scratch_text(scratch_at(scratch_dir, "run/preset.json"),
                 "{\"about\": \"a run\", \"attention\": [\"lssar\"], \"pretrain\": {\"lr\": "
                 "0.005}}");
    assert_int_equal(report_tensorboard(run, out, true), 0);
    assert_int_equal(orr_file_read(events, &bytes, &count), 0);
    for (size_t i = 0; i < count && i < sizeof hex / 2 - 1; i++)
        sprintf(hex + 2 * i, "%02x", (unsigned char)bytes[i]);
    /* after the version, 24 bytes and 16 of framing, and 12 of its own */
    assert_int_equal(strncmp(hex + 2 * (24 + 16 + 12), hparams, sizeof hparams - 1), 0);
    free(bytes);
    assert_int_equal(remove(scratch_at(scratch_dir, "run/preset.json")), 0);
}

/* A picture of 3 x 2 pixels, of the wall_time of its file: by tensorboard 2.21, an Event whose
 * summary_pb2.Summary.Image has height, width, colorspace 3 and the bytes of the PNG. */
TEST(pictures_are_images)
{
    static const char png[] =
        "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d00000015"
        "49444154789c6360e7e0e4e2e6e1e5e36780310400078500d0fec91e950000000049454e44ae426082";
    static const char head[] = "6d000000000000003d4de671090000000065cdcd412a620a600a066c6f737365732"
                               "256080210031803224e";
    char bytes[sizeof png / 2], *found = NULL, hex[4096] = "", expected[4096];
    size_t count;
    (void)convert("{\"step\": 1, \"loss\": 0.5}\n");
    for (size_t i = 0; i < sizeof bytes; i++) {
        unsigned byte;
        assert_int_equal(sscanf(png + 2 * i, "%2x", &byte), 1);
        bytes[i] = (char)byte;
    }
    assert_int_equal(orr_mkdir(scratch_at(scratch_dir, "run/figures")), 0);
    const char *picture = scratch_at(scratch_dir, "run/figures/losses.png");
    scratch_write(picture, bytes, sizeof bytes);
    assert_int_equal(utime(picture, &(struct utimbuf){1000000000, 1000000000}), 0);
    assert_int_equal(report_tensorboard(run, out, true), 0);
    assert_int_equal(
        orr_file_read(scratch_at(scratch_dir, "out/figures/events.out.tfevents.0.figures"), &found,
                      &count),
        0);
    for (size_t i = 0; i < count && i < sizeof hex / 2 - 1; i++)
        sprintf(hex + 2 * i, "%02x", (unsigned char)found[i]);
    free(found);
    /* the version is that of logs, in 24 bytes and 16 of framing */
    snprintf(expected, sizeof expected, "%.80s%s%s%s", reference, head, png, "76d2aa0c");
    assert_string_equal(hex, expected);
    scratch_text(picture, "no picture at all, but long enough for the head of one");
    assert_int_equal(report_tensorboard(run, out, true), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "losses.png: expected a PNG"));
    assert_int_equal(remove(picture), 0);
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
