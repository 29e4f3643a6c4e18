/* test_read.c - run directories that are refused: what is missing, broken or changed is named. */
#include <unistd.h>

#include "small_run.h"

TEST(missing_input_names_file_and_command)
{
    static const struct {
        const char *file, *command;
    } cases[] = {{"run/preset.json", "make orbits"},
                 {"run/oracle/finetune/forces_vector.csv", "make it with: finetune"},
                 {"run/laws/laws.json", "missing; make it with: symreg"},
                 {"run/laws/front_softmax_0.csv", "missing; make it with: symreg"}};
    static struct report_run run;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_run();
        assert_int_equal(unlink(in_folder(cases[i].file)), 0);
        assert_int_equal(report_read(&run, in_folder("run"), "", NULL), ORR_EMISSING);
        assert_non_null(strstr(orr_error(), cases[i].file));
        assert_non_null(strstr(orr_error(), cases[i].command));
        report_free(&run);
    }
    assert_int_equal(report_read(&run, in_folder("nowhere"), "", NULL), ORR_EMISSING);
    assert_non_null(strstr(orr_error(), "make world"));
    report_free(&run);
}

TEST(corrupt_input_is_named)
{
    static const char header[] = "planet,name,step,x,y,fx_true,fy_true,fx,fy,labelled\n";
    static const struct {
        const char *row, *message;
    } cases[] = {{"0,ceres,0,1,2,3,4,5,6,0\n", "ceres"},
                 {"0,earth,0,1,2,3,4,nan,6,0\n", "\"fx\""},
                 {"0,earth,0,0,0,3,4,5,6,0\n", "must not vanish"},
                 {"0,earth,4e80,1,2,3,4,5,6,0\n", ":2: step: expected a whole number"},
                 {"0,earth,0.5,1,2,3,4,5,6,0\n", "found 0.5"},
                 {"0,earth,-1,1,2,3,4,5,6,0\n", "found -1"},
                 {"0,earth,0,1,2,3,4,5,6,0\n", "no rows of mercury"}};
    static struct report_run run;
    write_run();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", header, cases[i].row);
        write_text("run/softmax/finetune/forces_vector.csv", text);
        assert_int_equal(report_read(&run, in_folder("run"), "", NULL), ORR_EFORMAT);
        assert_non_null(strstr(orr_error(), cases[i].message));
        report_free(&run);
    }
    /* positions, true forces and labels of a source are the truth's */
    static const char *const edits[][3] = {
        {",0.7", ",0.8", "earth"},
        {"earth,20,", "earth,21,", "row 21 of earth: expected step 20, x "}};
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        write_run();
        char *text = read_text("run/softmax/finetune/forces_vector.csv");
        char *row = strstr(text, "earth,20,"), *at = strstr(row, edits[i][0]);
        memcpy(at, edits[i][1], strlen(edits[i][1]));
        write_text("run/softmax/finetune/forces_vector.csv", text);
        free(text);
        assert_int_equal(report_read(&run, in_folder("run"), "", NULL), ORR_EFORMAT);
        if (!strstr(orr_error(),
                    "softmax/finetune/forces_vector.csv: row 21 of earth: expected ") ||
            !strstr(orr_error(), "as in the table of truth, found step ") ||
            !strstr(orr_error(), edits[i][2]))
            fail_msg("%s", orr_error());
        report_free(&run);
    }
    write_run();
    write_text("run/laws/laws.json", "{\"laws\": 3}");
    seal("run/laws/laws.json");
    assert_int_equal(report_read(&run, in_folder("run"), "", NULL), ORR_EFORMAT);
    report_free(&run);
}

/* What a report believes of laws.json has the sum of the file, is a formula of r, m1 and m2, and a
 * row of the front beside it. */
TEST(laws_that_nothing_shows_are_refused)
{
    static const struct {
        const char *was, *is, *message;
        bool sealed;
    } cases[] = {
        {"0.987", "0.1", "it has been changed since it was made; make it again with: ", 0},
        {"m1 * m2", "3 * m1", "it has been changed since it was made", 0},
        {"\"xxh64\"", "\"other\"", "an older version made it", 0},
        {"(39.4 * (m1 * m2))", "m1 * m2 < r & 39.4", "expected a formula of r, m1 and m2", 1},
        {"(39.4 * (m1 * m2))", "<img src=x>", "laws[0]: \"equation\"", 1},
        {"(39.4 * (m1 * m2))", "(39.4 * (m1 * m3))", "m3", 1},
        {"(39.4 * (m1 * m2))", "(3 * m1)", "expected a row of", 1},
        {"\"complexity\":\t9", "\"complexity\":\t1", "front_truth_0.csv", 1},
        {"0.0025", "0.0024", "front_truth_0.csv", 1}};
    static struct report_run run;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_run();
        assert_int_equal(report_read(&run, in_folder("run"), "", NULL), 0);
        report_free(&run);
        char *text = read_text("run/laws/laws.json"), *at = strstr(text, cases[i].was);
        assert_non_null(at);
        char *edited = malloc(strlen(text) + 99);
        assert_non_null(edited);
        sprintf(edited, "%.*s%s%s", (int)(at - text), text, cases[i].is, at + strlen(cases[i].was));
        write_text("run/laws/laws.json", edited);
        if (cases[i].sealed)
            seal("run/laws/laws.json");
        assert_true(report_read(&run, in_folder("run"), "", NULL) != 0);
        if (!strstr(orr_error(), cases[i].message) || !strstr(orr_error(), "laws.json: "))
            fail_msg("%s: %s", cases[i].is, orr_error());
        report_free(&run);
        free(edited);
        free(text);
    }
}

TESTS(make_folder, remove_folder)
