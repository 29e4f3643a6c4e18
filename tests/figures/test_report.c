/* test_report.c - reading a run directory, agreement, figure data, gnuplot's failures, the page. */
#include <sys/stat.h>
#include <unistd.h>

#include "small_run.h"

/* ---- agreement */

/* A prediction turned by t and stretched by s has cosine cos t and error sqrt(1 + s^2 - 2 s cos t)
 * everywhere; labelled positions, made nonsense here, must not count. */
TEST(agreement_has_its_closed_form)
{
    struct report_position at[7];
    for (int i = 0; i < 7; i++) {
        const double fx = 0.31 * cos(i + 0.7), fy = 0.83 * sin(2.3 * i);
        at[i] = (struct report_position){.x_au = cos(i),
                                         .y_au = sin(i),
                                         .fx_true = fx,
                                         .fy_true = fy,
                                         .labelled = i == 2 || i == 5};
        at[i].fx = stretch * (fx * cos(turn_rad) - fy * sin(turn_rad));
        at[i].fy = stretch * (fx * sin(turn_rad) + fy * cos(turn_rad));
        if (at[i].labelled)
            at[i].fx = -97;
    }
    const struct report_orbit orbit = {7, at};
    struct report_agreement a;
    assert_int_equal(report_agree(&orbit, 1, REPORT_EVEN_IN_TIME, REPORT_NO_BASELINE, &a), 0);
    assert_int_equal(a.count, 5);
    assert_near(a.cosine, cos(turn_rad), 1e-14);
    assert_near(a.relative_error, sqrt(1 + stretch * stretch - 2 * stretch * cos(turn_rad)), 1e-14);
}

/* A prediction of nothing has no direction and an error of one. */
TEST(agreement_of_nothing_is_zero)
{
    struct report_position at = {.x_au = 1.3, .y_au = 0.2, .fx_true = -0.4, .fy_true = 0.1};
    const struct report_orbit orbit = {1, &at};
    struct report_agreement a;
    assert_int_equal(report_agree(&orbit, 1, REPORT_EVEN_IN_TIME, REPORT_NO_BASELINE, &a), 0);
    assert_near(a.cosine, 0, 0);
    assert_near(a.relative_error, 1, 1e-15);
    at.labelled = true;
    assert_int_equal(report_agree(&orbit, 1, REPORT_EVEN_IN_TIME, REPORT_NO_BASELINE, &a), 0);
    assert_true(isnan(a.cosine) && isnan(a.relative_error));
}

/* Central forces: the baseline's direction is right, its size the mean of the labelled ones. */
TEST(baseline_points_at_the_sun)
{
    struct report_position at[3] = {
        {.x_au = 0.6, .y_au = 0.8, .fx_true = -0.6 * 0.5, .fy_true = -0.8 * 0.5, .labelled = true},
        {.x_au = -1.2, .y_au = 1.6, .fx_true = 0.6 * 0.3, .fy_true = -0.8 * 0.3, .labelled = true},
        {.x_au = 1.5, .y_au = -2.0, .fx_true = -0.15, .fy_true = 0.2}};
    const struct report_orbit orbit = {3, at};
    struct report_agreement a;
    assert_int_equal(report_agree(&orbit, 1, REPORT_EVEN_IN_TIME, REPORT_BASELINE_MEAN, &a), 0);
    assert_near(a.cosine, 1, 1e-14);
    assert_near(a.relative_error, (0.4 - 0.25) / 0.25, 1e-14);
}

/* Who knows 1/r^2 needs one label: exact everywhere, however far out. */
TEST(baseline_knows_the_inverse_square)
{
    struct report_position at[4];
    for (int i = 0; i < 4; i++) {
        const double r = 1 + i, x = r * cos(2.0 * i), y = r * sin(2.0 * i);
        at[i] = (struct report_position){.x_au = x,
                                         .y_au = y,
                                         .fx_true = -0.7 * x / (r * r * r),
                                         .fy_true = -0.7 * y / (r * r * r),
                                         .labelled = i == 1};
    }
    const struct report_orbit orbit = {4, at};
    struct report_agreement a;
    assert_int_equal(report_agree(&orbit, 1, REPORT_EVEN_IN_TIME, REPORT_BASELINE_SQUARE, &a), 0);
    assert_near(a.cosine, 1, 1e-14);
    assert_near(a.relative_error, 0, 1e-14);
    assert_int_equal(report_agree(&orbit, 1, REPORT_EVEN_IN_TIME, REPORT_BASELINE_MEAN, &a), 0);
    assert_true(a.relative_error > 0.5);
}

/* Positions at true anomalies 0, 20, 60, 280 and 320 degrees: steps of 20, 40, 220 and 40. They
 * stand for 10, 30, 130, 130 and 20 degrees; right predictions (cosine 1) at the first three,
 * opposite ones (cosine -1) at the others. Either sense of the orbit, as 220 degrees back are no
 * 140 on. */
TEST(even_in_true_anomaly)
{
    static const double degrees[] = {0, 20, 60, 280, 320};
    for (int way = 0; way < 4; way++) { /* also in space, in a plane turned around the x axis */
        const bool clockwise = way % 2;
        const double cosine = way < 2 ? 1 : 0.28, sine = way < 2 ? 0 : 0.96;
        struct report_position at[5];
        for (int i = 0; i < 5; i++) {
            const double angle = (clockwise ? -1 : 1) * degrees[i] * acos(-1) / 180;
            const double x = cos(angle), y = sin(angle), sign = i < 3 ? 1 : -1;
            at[i] = (struct report_position){.x_au = 2 * x,
                                             .y_au = 2 * y * cosine,
                                             .z_au = 2 * y * sine,
                                             .fx_true = -x,
                                             .fy_true = -y * cosine,
                                             .fz_true = -y * sine,
                                             .fx = -sign * x,
                                             .fy = -sign * y * cosine,
                                             .fz = -sign * y * sine};
        }
        const struct report_orbit orbit = {5, at};
        struct report_agreement a;
        assert_int_equal(report_agree(&orbit, 1, REPORT_EVEN_IN_TIME, REPORT_NO_BASELINE, &a), 0);
        assert_near(a.cosine, 0.2, 1e-14);
        assert_near(a.relative_error, 0, 1e-14);
        assert_int_equal(report_agree(&orbit, 1, REPORT_EVEN_IN_ANOMALY, REPORT_NO_BASELINE, &a),
                         0);
        assert_near(a.cosine, (10 + 30 + 130 - 130 - 20) / 320.0, 1e-12);
        assert_near(a.relative_error, 0, 1e-14); /* 170 of 320 have no error, the others one of 2 */
        at[2].fx = -at[2].fx, at[2].fy = -at[2].fy, at[2].fz = -at[2].fz;
        assert_int_equal(report_agree(&orbit, 1, REPORT_EVEN_IN_ANOMALY, REPORT_NO_BASELINE, &a),
                         0);
        assert_near(a.relative_error, 2, 1e-14);
    }
}

/* ---- logs */

TEST(resumed_log_is_cut_back)
{
    write_text(
        "log.jsonl",
        "{\"step\": 1, \"loss\": 9}\n{\"step\": 2, \"loss\": 8, \"val_loss\": 8.5}\n"
        "{\"step\": 3, \"loss\": 7}\n\n{\"step\": 2, \"loss\": 6, \"val_loss\": null}\n"
        "{\"step\": 3, \"loss\": null}\n{\"step\": 4, \"val_loss\": 3.5}\n{\"step\": 5, \"lo");
    struct report_curve curve = {0};
    assert_int_equal(report_read_curve(in_folder("log.jsonl"), &curve), 0);
    assert_int_equal(curve.count, 2);
    assert_near(curve.loss[0], 9, 0);
    assert_near(curve.step[1], 2, 0);
    assert_near(curve.loss[1], 6, 0);
    assert_int_equal(curve.val_count, 2);
    assert_near(curve.val_loss[1], 3.5, 0);
    free(curve.step);
    free(curve.val_step);
}

TEST(foreign_log_names_its_line)
{
    write_text("foreign.jsonl", "{\"step\": 1, \"loss\": 9}\nnot json\n{\"step\": 2}\n");
    struct report_curve curve = {0};
    assert_int_equal(report_read_curve(in_folder("foreign.jsonl"), &curve), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "foreign.jsonl:2"));
    free(curve.step);
    free(curve.val_step);
}

/* NUL bytes end neither the log nor a line of it; a tail of them is a line that was cut short. */
TEST(nuls_do_not_shorten_a_log)
{
    static const char inside[] = "{\"step\": 1, \"loss\": 9}\0\n{\"step\": 2, \"loss\": 8}\n";
    static const char behind[] = "{\"step\": 1, \"loss\": 9}\n{\"step\": 2, \"loss\": 8}\n\0\0\0";
    struct report_curve curve = {0};
    write_bytes("nul.jsonl", inside, sizeof inside - 1);
    assert_int_equal(report_read_curve(in_folder("nul.jsonl"), &curve), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "nul.jsonl:1"));
    free(curve.step);
    free(curve.val_step);
    curve = (struct report_curve){0};
    write_bytes("nul.jsonl", behind, sizeof behind - 1);
    assert_int_equal(report_read_curve(in_folder("nul.jsonl"), &curve), 0);
    assert_int_equal(curve.count, 2);
    free(curve.step);
    free(curve.val_step);
}

/* ---- reading a run */

TEST(run_is_read)
{
    write_run();
    static struct report_run run;
    assert_int_equal(report_read(&run, in_folder("run/"), "", NULL), 0);
    assert_string_equal(run.name, "run");
    assert_int_equal(run.source_count, 5);
    assert_string_equal(run.source[report_find(&run, "lssar")].title, "GPT (LSSAR)");
    assert_int_equal(run.source[0].orbit[7].count, STEPS);
    assert_int_equal(run.law_count, 10);
    assert_int_equal(run.samples, 2);
    assert_near(run.source[2].exponent[2].low, 0.6, 0);
    assert_near(run.baseline_log_r, 0.31, 0);
    assert_near(run.baseline_log_scale_dt_r, 0.62, 0);
    assert_string_equal(run.source[4].title, "GPT (untrained, Softmax)");
    struct report_agreement a;
    assert_int_equal(report_agree(run.source[3].orbit, REPORT_BODIES, REPORT_EVEN_IN_TIME,
                                  REPORT_NO_BASELINE, &a),
                     0);
    assert_near(a.cosine, cos(turn_rad), 1e-7);
    report_free(&run);
    /* one variant only */
    assert_int_equal(report_read(&run, in_folder("run"), "lssar", NULL), 0);
    assert_int_equal(run.source_count, 4);
    assert_int_equal(run.law_count, 8);
    assert_string_equal(run.source[3].title,
                        "GPT (untrained, Softmax)"); /* the run's, all the same */
    report_free(&run);
    write_text("run/preset.json", "{\"name\": \"mini\", \"seed\": 7, \"attention\": [\"lssar\"], "
                                  "\"planets\": {\"enabled\": true, "
                                  "\"eccentric\": true}}");
    assert_int_equal(report_read(&run, in_folder("run"), "", NULL), 0);
    assert_string_equal(run.source[3].title, "GPT (untrained, LSSAR)");
    report_free(&run);
    write_run();
    assert_int_equal(report_read(&run, in_folder("run"), "lssa", NULL), ORR_EUSAGE);
    report_free(&run);
}

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

/* ---- figure data */

/* The figure data of a body, read back. */
struct drawn {
    char *set;
    double center_au[2], extent_au, arrow_au;
    double length[4][STEPS]; /* (panels, steps), in units of the arrow of force 1 */
    int panels, kind_count[4], ending;
    double farthest; /* of both ends of all arrows: largest distance from the center, over extent */
};

static struct drawn draw(const struct report_run *run, int body, const char *name)
{
    struct drawn d = {.panels = 0};
    struct report_picture picture;
    char file[64];
    assert_int_equal(report_plot_forces(run, body, REPORT_XY, folder, &picture), 0);
    assert_string_equal(picture.name, name);
    snprintf(file, sizeof file, "%s.set", name);
    d.set = read_text(file);
    snprintf(file, sizeof file, "%s.dat", name);
    char *data = read_text(file), *center = strstr(d.set, "panels = 4\n");
    assert_non_null(center);
    assert_int_equal(sscanf(center,
                            "panels = 4 x_center = %lf y_center = %lf extent = %lf arrow = %lf",
                            &d.center_au[0], &d.center_au[1], &d.extent_au, &d.arrow_au),
                     4);
    int rows = 0;
    for (char *line = strtok(data, "\n"); line; line = strtok(NULL, "\n")) {
        double x, y, dx, dy;
        int kind, ends;
        if (*line == '#') {
            d.panels++;
            rows = 0;
            continue;
        }
        assert_int_equal(sscanf(line, "%lf %lf %lf %lf %d %d", &x, &y, &dx, &dy, &kind, &ends), 6);
        /* the true arrow, an attraction, ends at its position where it would pass the Sun */
        if (d.panels == 1)
            assert_int_equal(ends, -(dx * x + dy * y) > x * x + y * y);
        d.ending += ends;
        x -= ends * dx + d.center_au[0], y -= ends * dy + d.center_au[1];
        const double from = fmax(fabs(x), fabs(y)), to = fmax(fabs(x + dx), fabs(y + dy));
        d.farthest = fmax(d.farthest, fmax(from, to) / d.extent_au);
        d.kind_count[kind]++;
        d.length[d.panels - 1][rows++] = hypot(dx, dy) / d.arrow_au;
    }
    assert_int_equal(d.panels, 4);
    assert_int_equal(rows, STEPS);
    free(data);
    return d;
}

/* Every arrow lies inside the axes, none is longer than drawn, the labelled ones are told apart,
 * arrows of equal forces are equal in all panels, and the untrained model stands beside the truth.
 * On eccentric orbits lengths are square roots, which is said. */
TEST(arrows_fit_their_axes)
{
    write_run();
    static struct report_run run;
    assert_int_equal(report_read(&run, in_folder("run"), "", NULL), 0);
    for (int body = 4; body < 11; body += 6) {
        struct drawn d = draw(&run, body, body == 4 ? "forces_jupiter" : "forces_encke");
        assert_non_null(strstr(d.set, "unit_name = \"largest labelled force"));
        assert_int_equal(count_of(d.set, "lengths by square root"), body != 4);
        assert_int_equal(d.ending, 0);
        assert_non_null(strstr(d.set, "title[2] = \"GPT (untrained, Softmax)\""));
        assert_non_null(strstr(d.set, "title[3] = \"GPT (Softmax)\""));
        assert_non_null(strstr(d.set, "title[4] = \"GPT (LSSAR)\""));
        assert_true(d.farthest < 1 && d.farthest > 0.9);   /* the orbit fills the axes */
        assert_int_equal(d.kind_count[1], 4 * LABELS - 4); /* steps 3, 9, ..., 51 */
        const struct report_orbit *truth = &run.source[0].orbit[body];
        static const double size[4] = {1, 0.7, 3.2, 0};
        for (int t = 0; t < STEPS; t++)
            for (int p = 0; p < 4; p++) {
                const double f = hypot(truth->at[t].fx_true, truth->at[t].fy_true) *
                                 (size[p] > 0 ? size[p] : stretch);
                assert_near(d.length[p][t], fmin(1.5, body == 4 ? f : sqrt(f)), 1e-5);
            }
        assert_true(d.kind_count[2] > 0);
        free(d.set);
    }
    for (int s = 0; s < run.source_count; s++) { /* a position so near that arrows would pass it */
        struct report_position *at = &run.source[s].orbit[10].at[STEPS / 2];
        at->x_au *= 0.05, at->y_au *= 0.05;
    }
    struct drawn near_sun = draw(&run, 10, "forces_encke");
    assert_int_equal(near_sun.ending, 4);
    assert_int_equal(count_of(near_sun.set, "ending = 1\n"), 1);
    assert_true(near_sun.farthest < 1 && near_sun.farthest > 0.9);
    free(near_sun.set);
    run.settings.finetune.vector_scale = ORR_VECTOR_LARGEST; /* the study's units are told */
    struct drawn d = draw(&run, 4, "forces_jupiter");
    assert_non_null(strstr(d.set, "unit_name = \"largest force of each axis\""));
    free(d.set);
    report_free(&run);
}

TEST(strings_are_escaped)
{
    struct orr_file file = {0};
    assert_int_equal(orr_file_create(&file, in_folder("escapes")), 0);
    assert_int_equal(orr_gnuplot_string(&file, "a\"b\\c`d`\ne"), 0);
    orr_html_text(&file, "<m1 & \"m2\">");
    assert_int_equal(orr_file_commit(&file), 0);
    orr_file_close(&file);
    char *text = read_text("escapes");
    assert_string_equal(text, "\"a\\\"b\\\\c'd'\\ne\"&lt;m1 &amp; &quot;m2&quot;&gt;");
    free(text);
}

/* Known answers of RFC 4648, section 10. */
TEST(base64_matches_rfc_4648)
{
    static const char *const known[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"\xff\xfe\xfd", "//79"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        write_text("plain", known[i][0]);
        struct orr_file file = {0};
        assert_int_equal(orr_file_create(&file, in_folder("coded")), 0);
        assert_int_equal(report_html_base64(&file, in_folder("plain")), 0);
        assert_int_equal(orr_file_commit(&file), 0);
        orr_file_close(&file);
        char *text = read_text("coded");
        assert_string_equal(text, known[i][1]);
        free(text);
    }
}

/* ---- a gnuplot that fails (tests/base/test_gnuplot.c has the ways), and one that works */

static int plot(struct report_pictures *pictures)
{
    static struct report_run run;
    write_run();
    assert_int_equal(report_read(&run, in_folder("run"), "", NULL), 0);
    const int rc = report_plot(&run, folder, true, pictures);
    if (!rc)
        assert_int_equal(report_html(&run, pictures, folder, false, in_folder("report.html")), 0);
    report_free(&run);
    return rc;
}

/* The first picture is named, and none counts as drawn. */
TEST(failure_of_gnuplot_is_told)
{
    struct report_pictures pictures;
    char path[4096], *before = strdup(getenv("PATH"));
    assert_non_null(before);
    write_text("gnuplot", "#!/bin/sh\necho 'line 3: no such terminal' >&2\nexit 3\n");
    assert_int_equal(chmod(in_folder("gnuplot"), 0700), 0);
    snprintf(path, sizeof path, "%s:%s", folder, before);
    setenv("PATH", path, 1);
    assert_int_equal(plot(&pictures), ORR_EIO);
    setenv("PATH", before, 1);
    free(before);
    assert_non_null(
        strstr(orr_error(), "exit status 3 while drawing forces_mercury.png: line 3: no such"));
    assert_int_equal(pictures.count, 0);
}

/* The policy stands before all that it is about, allows the page's scripts alone, each by the hash
 * of what is between its tags, and nothing of the network. */
static void check_policy(const char *page)
{
    static const char open[] = "<script>";
    const char *policy = strstr(page, "<meta http-equiv=\"Content-Security-Policy\" content=\"");
    assert_non_null(policy);
    assert_true(policy < strstr(page, "<title>") && policy < strstr(page, "<style>"));
    assert_non_null(
        strstr(policy, "\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; "));
    assert_null(strstr(page, "script-src 'unsafe-inline'"));
    int scripts = 0;
    for (const char *at = page; (at = strstr(at, open)) != NULL; scripts++) {
        at += strlen(open);
        unsigned char hash[ORR_SHA256];
        orr_sha256(at, (size_t)(strstr(at, "</script>") - at), hash);
        write_bytes("hash", (const char *)hash, sizeof hash);
        struct orr_file file = {0};
        assert_int_equal(orr_file_create(&file, in_folder("coded")), 0);
        orr_file_printf(&file, "'sha256-");
        assert_int_equal(report_html_base64(&file, in_folder("hash")), 0);
        assert_int_equal(orr_file_commit(&file), 0);
        orr_file_close(&file);
        char *text = read_text("coded");
        const char *allowed = strstr(policy, text);
        assert_non_null(allowed);
        assert_true(allowed < strchr(policy, '>'));
        free(text);
    }
    assert_int_equal(scripts, 2);
    assert_int_equal(count_of(page, "'sha256-"), scripts);
    for (const char *at = page; (at = strstr(at, " on")) != NULL;
         at += 3) { /* no handler in a tag */
        const size_t letters = strspn(at + 3, "abcdefghijklmnopqrstuvwxyz");
        assert_false(!strncmp(at + 3 + letters, "=\"", 2) && letters);
    }
    assert_int_equal(count_of(page, "javascript:"), 0);
}

/* Every link of the page has its target. What a reader sees first stands before the tables: the
 * player, and the body on which the models differ from the untrained one by most, here the first of
 * equals. Phones find the panels of pictures, and all bodies but three in a part of their own. */
static void check_order(const char *page)
{
    int links = 0;
    for (const char *at = page; (at = strstr(at, " href=\"#")) != NULL; links++) {
        char id[128];
        at += strlen(" href=\"#");
        snprintf(id, sizeof id, " id=\"%.*s\"", (int)strcspn(at, "\""), at);
        assert_int_equal(count_of(page, id), 1);
    }
    assert_true(links > REPORT_BODIES + 8);
    const char *tables = strstr(page, " id=\"recovered\"");
    assert_non_null(tables);
    assert_true(strstr(page, "<nav ") < strstr(page, " id=\"answers\""));
    assert_true(strstr(page, " id=\"player\"") < tables);
    assert_true(strstr(page, " id=\"forces_mercury\"") < tables);
    assert_true(strstr(page, " id=\"forces_venus\"") > tables);
    assert_int_equal(count_of(page, " data-panels=\"0.0 "), REPORT_BODIES + 2); /* not exponents */
    assert_true(strstr(page, "<details class=\"rest\"") > strstr(page, " id=\"forces_earth\""));
    assert_true(strstr(page, "<details class=\"rest\"") < strstr(page, " id=\"forces_mars\""));
    assert_int_equal(count_of(page, "R^2"), 0);
    assert_non_null(strstr(page, "id=\"loss-data\">[\n{\"panel\":1,\"title\":\"GPT (LSSAR)\","
                                 "\"step\":[1,2],\"loss\":[0.5,0.25]}]</script>"));
}

/* The real thing: every picture is there, and the page carries all of them and escapes the law. */
TEST(pictures_and_page_are_whole)
{
    struct report_pictures pictures;
    assert_int_equal(plot(&pictures), 0);
    assert_int_equal(pictures.count, REPORT_BODIES + 3);
    for (size_t i = 0; i < pictures.count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s.png", pictures.at[i].name);
        char *png = read_text(name);
        assert_memory_equal(png, "\x89PNG", 4);
        free(png);
    }
    char *page = read_text("report.html");
    int images = 0;
    for (char *at = page; (at = strstr(at, "src=\"data:image/png;base64,iVBOR")) != NULL; at++)
        images++;
    assert_int_equal(images, REPORT_BODIES + 3);
    /* nothing is fetched */
    assert_null(strstr(page, "http:") || strstr(page, "https:") || strstr(page, "url(") ? page
                                                                                        : NULL);
    assert_int_equal(count_of(page, " src=\""), images);
    assert_int_equal(count_of(page, "<link") + count_of(page, "@import") + count_of(page, "fetch("),
                     0);
    check_policy(page);
    check_order(page);
    assert_non_null(strstr(page, "<code>(39.4 * (m1 * m2))</code>"));
    assert_non_null(strstr(page, "<em>exact direction</em>"));
    assert_non_null(strstr(page, ">39.5</td>")); /* the median of k over two samples */
    assert_non_null(strstr(page, "</html>\n"));
    free(page);
}

/* The tables of a page as text; free() it. */
/* Tables that cannot fail, as those that can. */
static int exponents(const struct report_run *run, struct orr_file *html)
{
    return report_html_exponents(run, html), 0;
}
static int choices(const struct report_run *run, struct orr_file *html)
{
    return report_html_choices(run, html), 0;
}

static char *page_of(struct report_run *run,
                     int (*table)(const struct report_run *run, struct orr_file *html))
{
    struct orr_file html = {0};
    assert_int_equal(orr_file_create(&html, in_folder("table.html")), 0);
    assert_int_equal(table(run, &html), 0);
    assert_int_equal(orr_file_commit(&html), 0);
    orr_file_close(&html);
    return read_text("table.html");
}

/* Cells of each row of the first table of a page, which must be as many as its head has. */
static int cells_of(const char *page)
{
    int head = 0;
    const char *end = strstr(page, "</table>");
    assert_non_null(end);
    for (const char *row = strstr(page, "<tr"); row && row < end; row = strstr(row + 1, "<tr")) {
        int cells = 0;
        for (const char *at = row; strncmp(at, "</tr>", 5) != 0; at++)
            cells += !strncmp(at, "<td", 3) || (!strncmp(at, "<th", 3) && at[3] != 'e');
        if (head == 0)
            head = cells;
        assert_int_equal(cells, head);
    }
    return head;
}

/* How many predictions have no logarithm, the k of a law that misses m2, and the leverage of the
 * largest sequence stand beside what they qualify; a dash where laws.json does not tell. */
TEST(tables_hide_nothing)
{
    static struct report_run run;
    law_sources = 6; /* what positions know stands below the table */
    write_run();
    law_sources = 5;
    assert_int_equal(report_read(&run, in_folder("run"), "", NULL), 0);
    char *page = page_of(&run, report_html_laws);
    assert_int_equal(cells_of(page), 9); /* source, law, size, loss, front, k, 2, one rule */
    assert_int_equal(count_of(page, ">k <br>without m<sub>2</sub></th>"), 1);
    assert_int_equal(count_of(page, "<th scope=\"col\" class=\"n\">Leverage</th>"), 1);
    /* k over both samples; the others of sample 0: oracle is the second source */
    static const struct {
        const char *count, *k, *rest, *selected;
    } rows[6] = {{" yes\">2/2", "39.5", "27.02</td><td class=\"n\">0.11", "\">1/2"},
                 {" yes\">2/2", "39.5", "28.02</td><td class=\"n\">0.21", "\">0/2"},
                 {"\">1/2", "39.6", "29.02</td><td class=\"n\">0.31", "\">0/2"},
                 {" yes\">2/2", "39.5", "30.02</td><td class=\"n\">0.41", "\">0/2"},
                 {"\">0/2", "&ndash;", "31.02</td><td class=\"n\">0.51", "\">0/2"},
                 {" yes\">2/2", "39.5", "32.02</td><td class=\"n\">0.61", "\">0/2"}};
    for (int s = 0; s < 6; s++) {
        char cells[256];
        snprintf(cells, sizeof cells,
                 "<td class=\"n%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>"
                 "<td class=\"n%s</td></tr>",
                 rows[s].count, rows[s].k, rows[s].rest, rows[s].selected);
        if (!strstr(page, cells))
            fail_msg("no row with %s in %s", cells, page);
    }
    assert_non_null(strstr(strstr(page, "(untrained, Softmax)"), "Positions (no network)</th>"));
    assert_int_equal(count_of(page, "it has no force labels and no network"), 1);
    assert_false(run.source[5].has_vectors || run.source[5].role != REPORT_POSITIONS);
    free(page);
    page = page_of(&run, exponents);
    assert_int_equal(cells_of(page), 7);
    assert_int_equal(count_of(page, ">Dropped</th>"), 1);
    assert_non_null(strstr(page, ">0.9870</td><td class=\"n\">0 of 1200</td>"));
    assert_non_null(strstr(page, ">0.9870</td><td class=\"n\">28 of 1200</td>"));
    assert_non_null(strstr(page, "baseline: log r only</th><td class=\"n\">0.3100</td>"));
    assert_non_null(
        strstr(page, "baseline: log scale, log dt, log r</th><td class=\"n\">0.6200</td>"));
    assert_non_null(strstr(page, "baseline: constant</th><td class=\"n\">0.0000</td>"));
    free(page);
    for (int s = 0; s < run.source_count; s++) {
        struct report_source *source = &run.source[s];
        source->dropped = source->k_dropped_m2 = source->leverage = NAN;
    }
    page = page_of(&run, exponents);
    assert_int_equal(cells_of(page), 7);
    assert_int_equal(count_of(page, ">0.9870</td><td class=\"n\">&ndash;</td>"), 6);
    free(page);
    page = page_of(&run, report_html_laws);
    assert_int_equal(
        count_of(page, ">39.5</td><td class=\"n\">&ndash;</td><td class=\"n\">&ndash;</td>"), 4);
    free(page);
    report_free(&run);
}

/* Tables and figures ask for the law of the run: Newton's where laws.json does not say. */
TEST(own_law_is_asked_for)
{
    static struct report_run run;
    static struct report_pictures pictures;
    for (int own = 0; own < 2; own++) {
        true_law = own ? "\"true_law\": {\"k\": [3.5, 7.25], \"law\": \"mond\", \"formula\": "
                         "\"k times <mond>\", \"labels_differ_by\": 0},"
                       : "";
        write_run();
        assert_int_equal(report_read(&run, in_folder("run"), "", NULL), 0);
        assert_true(run.true_law.newton == !own && run.true_law.constants == 2 * own);
        assert_near(run.true_law.exponent[0], own ? -1.9 : -2, 1e-15);
        assert_near(run.true_law.exponent[2], own ? 0.7 : 1, 1e-15);
        char *page = page_of(&run, report_html_laws);
        assert_int_equal(count_of(page, "no force labels"), 0);
        assert_int_equal(count_of(page, own ? "structure of the run&rsquo;s law"
                                            : "structure of Newton&rsquo;s law"),
                         1);
        free(page);
        page = page_of(&run, choices);
        assert_int_equal(count_of(page, own ? ">True</th>" : ">Newton</th>"), 1);
        free(page);
        page = page_of(&run, exponents);
        assert_int_equal(count_of(page, own ? ">r (&minus;1.9)</th>" : ">r (&minus;2)</th>"), 1);
        assert_int_equal(count_of(page, own ? "m<sub>2</sub> (0.7)<" : "m<sub>2</sub> (1)<"), 1);
        assert_int_equal(count_of(page, "exponents of the truth"), own);
        free(page);
        for (int s = 0; s < run.source_count && own; s++) { /* axes from -3 to -2, whole numbers */
            run.true_law.exponent[0] = -2.5;
            run.source[s].exponent[0] = (struct report_interval){-2.5, -2.6, -2.4};
        }
        run.settings.orbits.jump_step = 9;
        run.settings.orbits.jump_factor = 2;
        assert_int_equal(report_plot(&run, folder, true, &pictures), 0);
        assert_int_equal(report_html(&run, &pictures, folder, false, in_folder("own.html")), 0);
        page = read_text("own.html");
        assert_int_equal(count_of(page, "<p>Newton: <math"), !own);
        assert_int_equal(count_of(page, "of this run: k times &lt;mond&gt; ("), own);
        assert_int_equal(count_of(page, "k = 3.5 before, 7.25 after"), own);
        assert_int_equal(count_of(page, "by 2 from step 9 on"), 1);
        free(page);
        report_free(&run);
    }
    true_law = "";
}

/* Under the tables of planets stands once what planet runs cannot test, with the run's number. */
TEST(planet_tables_have_their_limits)
{
    static struct report_run run;
    write_run();
    for (int kind = 0; kind < 3; kind++) { /* recorded, not recorded, no planet runs */
        if (kind == 0)
            write_text("run/lssar/pretrain_planets/evaluation.json",
                       "{\"loss\": 0.5, \"period_r2\": 0.7385}");
        else
            write_text("run/lssar/pretrain_planets/evaluation.json", "{\"loss\": 0.5}");
        assert_int_equal(report_read(&run, in_folder("run"), "", NULL), 0);
        assert_true(kind == 0 ? run.period_r2 == 0.7385 : isnan(run.period_r2));
        if (kind == 2)
            run.settings.planets.enabled = false;
        char *page = page_of(&run, report_html_vectors);
        const int tables = kind == 2 ? 2 : 4; /* planets; eccentric bodies, too */
        assert_int_equal(count_of(page, "</table>"), tables);
        assert_int_equal(count_of(page, "not magnitudes"), kind != 2);
        assert_int_equal(count_of(page, "R&sup2; = 0.739 "), kind == 0);
        assert_int_equal(count_of(page, "not recorded"), kind == 1);
        free(page);
        report_free(&run);
    }
    write_text("run/lssar/pretrain_planets/evaluation.json", "{\"loss\": 0.5");
    assert_int_equal(report_read(&run, in_folder("run"), "", NULL), ORR_EFORMAT);
    assert_non_null(strstr(orr_error(), "pretrain_planets/evaluation.json"));
    report_free(&run);
    assert_int_equal(remove(in_folder("run/lssar/pretrain_planets/evaluation.json")), 0);
}

TESTS(make_folder, remove_folder)
