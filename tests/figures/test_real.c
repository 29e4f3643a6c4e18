/* test_real.c - the figure of forces at a planet's real positions, from tables that bin/probe
 * planets writes. */
#include "small_run.h"

enum { ROWS = 40 };

/* A table of Mercury and Venus in which the source turns forces by `turn`, the baseline by twice
 * that, or has none. bad: one more row of Venus. */
static void write_real(const char *source, double turn, bool baseline, const char *bad)
{
    char name[128], *text = malloc(1 << 16), *at = text;
    assert_non_null(text);
    at += sprintf(at, "planet,name,step,x,y,fx_true,fy_true,fx,fy,fx_baseline,fy_baseline\n");
    for (int p = 0; p < 2; p++)
        for (int k = 8; k < 8 + ROWS; k++) {
            const double phase = 0.157 * k, x = 0.7233 * cos(phase), y = 0.7233 * sin(phase);
            const double f[2] = {-x / 0.7233, -y / 0.7233}, c = cos(turn), s = sin(turn);
            at += sprintf(at, "%d,%s,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,", p, report_body_name[p], k,
                          x, y, f[0], f[1], f[0] * c - f[1] * s, f[0] * s + f[1] * c);
            at += baseline ? sprintf(at, "%.9g,%.9g\n", f[0] * cos(2 * turn) - f[1] * sin(2 * turn),
                                     f[0] * sin(2 * turn) + f[1] * cos(2 * turn))
                           : sprintf(at, "nan,nan\n");
        }
    strcpy(at, bad);
    snprintf(name, sizeof name, "run/%s/probe_pretrain_planets/planets_forces.csv", source);
    write_text(name, text);
    free(text);
}

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

static void read_run(struct report_run *run)
{
    write_run();
    assert_int_equal(report_read(run, in_folder("run"), "", NULL), 0);
}

/* Truth, untrained model and both models stand side by side; the untrained model is that of the one
 * table that has it; rows are those of the planet. */
TEST(real_forces_have_a_panel_a_source)
{
    static struct report_run run;
    struct report_picture picture;
    read_run(&run);
    write_real("softmax", 0.3, false, "");
    write_real("lssar", 0.2, true, "");
    assert_true(report_is_figure("real_venus"));
    assert_int_equal(report_plot_figure(&run, "real_venus", folder, &picture), 0);
    assert_string_equal(picture.name, "real_venus");
    assert_string_equal(report_script(picture.name), "forces.gp");
    char *set = read_text("real_venus.set"), *data = read_text("real_venus.dat");
    assert_non_null(strstr(set, "panels = 4\n"));
    assert_non_null(strstr(set, "labels = 0\n"));
    static const char *const title[] = {"True forces", "GPT (untrained, Softmax)", "GPT (Softmax)",
                                        "GPT (LSSAR)"};
    static const double turned[] = {0, 0.4, 0.3, 0.2};
    for (int p = 0; p < 4; p++) {
        char line[128];
        snprintf(line, sizeof line, "title[%d] = \"%s\"", p + 1, title[p]);
        assert_non_null(strstr(set, line));
        snprintf(line, sizeof line, "note[%d] = \"mean cosine %.3g, ", p + 1, cos(turned[p]));
        assert_int_equal(strstr(set, line) != NULL, p > 0);
    }
    assert_non_null(strstr(set, "note[1] = \"40 positions, none labelled\""));
    assert_int_equal(count_of(data, "\n"), 4 * (ROWS + 3)); /* a head, two empty lines */
    free(set);
    free(data);
    report_free(&run);
}

/* What is missing is said with its command; a table that is not the probe's names file and line. */
TEST(real_forces_need_the_probe)
{
    static struct report_run run;
    struct report_picture picture;
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'/run", folder);
    assert_int_equal(system(command), 0);
    read_run(&run);
    assert_false(report_is_figure("real_halley") || report_is_figure("real_") ||
                 report_is_figure("real_vulcan"));
    assert_int_equal(report_plot_figure(&run, "real_venus", folder, &picture), ORR_EMISSING);
    assert_non_null(strstr(orr_error(), "orrery probe planets --run "));
    write_real("lssar", 0.2, false, "1,venus,48,0,0,1,0,1,0,1,0\n");
    assert_int_equal(report_plot_figure(&run, "real_venus", folder, &picture), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "planets_forces.csv:82: "));
    write_real("lssar", 0.2, false, "1,venus,48,1,0,1,0,nan,0,1,0\n");
    assert_int_equal(report_plot_figure(&run, "real_venus", folder, &picture), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "planets_forces.csv:82: \"fx\""));
    assert_int_equal(report_plot_figure(&run, "real_mars", folder, &picture), ORR_EFORMAT);
    write_text("run/lssar/probe_pretrain_planets/planets_forces.csv", "name,x\nvenus,1\n");
    assert_int_equal(report_plot_figure(&run, "real_venus", folder, &picture), ORR_EFORMAT);
    report_free(&run);
}

TESTS(make_folder, remove_folder)
