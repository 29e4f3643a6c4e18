/* test_plots.c - data of pictures: smoothed losses with the best one, the smooth orbit. */
#include "small_run.h"

static const struct report_run *run_of(const char *log)
{
    static struct report_run run;
    write_run();
    write_text("run/lssar/pretrain/log.jsonl", log);
    assert_int_equal(report_read(&run, in_folder("run"), "", NULL), 0);
    return &run;
}

/* Losses that alternate between 1 and 100 are 10 where they are smoothed, but for an end, where
 * nothing is on one side; of the validation losses the smallest one is the best. */
TEST(losses_are_smoothed)
{
    enum { LINES = 240 };
    char *log = malloc(LINES * 80 + 400), *to = log;
    assert_non_null(log);
    for (int i = 1; i <= LINES; i++) {
        to += sprintf(to, "{\"step\": %d, \"loss\": %d}\n", i, i % 2 ? 1 : 100);
        if (i % 80 == 0)
            to += sprintf(to, "{\"step\": %d, \"val_loss\": %d}\n", i, i == 160 ? 3 : 9);
    }
    const struct report_run *run = run_of(log);
    struct report_picture picture;
    assert_int_equal(report_plot_loss(run, folder, &picture), 0);
    char *set = read_text("loss.set"), *line = strstr(set, "$data << EOD\n");
    assert_non_null(line);
    line = strchr(line, '\n') + 1;
    for (int i = 1; i <= LINES; i++, line = strchr(line, '\n') + 1) {
        double step, loss, smooth;
        assert_int_equal(sscanf(line, "%lf %lf %lf", &step, &loss, &smooth), 3);
        assert_near(step, i, 0);
        assert_near(loss, i % 2 ? 1 : 100, 1e-5);
        if (i == 1 || i == LINES)
            assert_near(smooth, loss, 1e-4);
        if (i > 20 && i < LINES - 20) /* 13 values: one of either is over */
            assert_true(fabs(log10(smooth) - 1) < 0.08);
    }
    assert_non_null(strstr(line, "80 9 0\n160 3 1\n240 9 0\n"));
    free(set);
    free(log);
}

/* Nine positions of an eccentric orbit give an ellipse without corners; positions of no conic, the
 * polygon through them. */
TEST(orbits_are_smooth)
{
    double at[18];
    for (int off = 0; off < 2; off++) {
        struct orr_file file = {0};
        for (int i = 0; i < 9; i++) {
            const double E = 0.7 * i + 0.1, e = 0.967, a = 17.8;
            at[2 * i] = a * (cos(E) - e) * (off && i == 4 ? 1.2 : 1);
            at[2 * i + 1] = a * sqrt(1 - e * e) * sin(E);
        }
        assert_int_equal(orr_file_create(&file, in_folder("curve")), 0);
        report_write_curve(9, at, &file);
        assert_int_equal(orr_file_commit(&file), 0);
        orr_file_close(&file);
        char *text = read_text("curve"), *line = strchr(text, '\n') + 1;
        int points = 0;
        for (double x, y; sscanf(line, "%lf %lf", &x, &y) == 2; line = strchr(line, '\n') + 1) {
            if (!off) /* on the ellipse: (x + a e)^2 / a^2 + y^2 / b^2 = 1 */
                assert_near(pow((x + 17.8 * 0.967) / 17.8, 2) +
                                pow(y / 17.8, 2) / (1 - 0.967 * 0.967),
                            1, 1e-4);
            points++;
        }
        assert_int_equal(points, off ? 9 : 241);
        free(text);
    }
}

TESTS(make_folder, remove_folder)
