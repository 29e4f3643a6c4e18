/* test_results.c - results of runs through the library: each kind of file becomes the columns that
 * it holds; what cannot be read is refused, and the table of before stays. */
#include "api/orrery.h"
#include "refused.h"

#include <math.h>

static char *const dir = scratch_dir;

static const char *write_text(const char *name, const char *text)
{
    const char *path = scratch_at(dir, name);
    scratch_text(path, text);
    return path;
}

static struct orrery_results *opened(const char *path)
{
    struct orrery_results *r = NULL;
    assert_int_equal(orrery_results_create(ORRERY_INTERFACE, &r), 0);
    if (orrery_results_open(r, path))
        fail_msg("%s", orrery_message(r));
    return r;
}

static struct orrery_column find(struct orrery_results *r, const char *name)
{
    struct orrery_column column = {.bytes = sizeof column};
    if (orrery_results_find(r, name, &column))
        fail_msg("%s", orrery_message(r));
    assert_string_equal(column.name, name);
    assert_int_equal(column.words != NULL, column.kind == ORRERY_WORDS);
    return column;
}

static void size_is(struct orrery_results *r, size_t rows, size_t columns)
{
    size_t found_rows = 99, found_columns = 99;
    assert_int_equal(orrery_results_size(r, &found_rows, &found_columns), 0);
    assert_int_equal(found_rows, rows);
    assert_int_equal(found_columns, columns);
}

/* Columns come by number in the order of the file. */
static void names_are(struct orrery_results *r, const char *const *name, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        struct orrery_column column = {.bytes = sizeof column};
        assert_int_equal(orrery_results_column(r, c, &column), 0);
        assert_string_equal(column.name, name[c]);
    }
}

TEST(a_csv_file_has_its_columns)
{
    struct orrery_results *r = opened(
        write_text("forces.csv", "body,r,F\nearth,1,2.385\n\"venus, 2\",,nan\n,0.7239,inf\n"));
    static const char *const names[] = {"body", "r", "F"};
    size_is(r, 3, 3);
    names_are(r, names, 3);
    const struct orrery_column body = find(r, "body"), at = find(r, "r"), force = find(r, "F");
    assert_int_equal(body.kind, ORRERY_WORDS);
    assert_string_equal(body.words[0], "earth");
    assert_string_equal(body.words[1], "venus, 2");
    assert_string_equal(body.words[2], "");
    assert_true(isnan(body.numbers[0]));
    assert_int_equal(at.kind, ORRERY_NUMBERS); /* an empty cell is no text, nor is "nan" */
    assert_true(at.numbers[0] == 1 && isnan(at.numbers[1]) && at.numbers[2] == 0.7239);
    assert_int_equal(force.kind, ORRERY_NUMBERS);
    assert_true(force.numbers[0] == 2.385 && isnan(force.numbers[1]) && isinf(force.numbers[2]));
    orrery_results_free(r);
}

/* A run that was killed at step 3 and resumed from step 1. */
TEST(a_log_has_its_lines_that_count)
{
    struct orrery_results *r =
        opened(write_text("log.jsonl", "{\"step\": 1, \"loss\": 2.5}\n"
                                       "{\"step\": 1, \"val_loss\": 2.25, \"state\": \"kept\"}\n"
                                       "{\"step\": 2, \"loss\": 9}\n{\"step\": 3, \"loss\": 9}\n"
                                       "{\"step\": 2, \"loss\": 1.5}\n{\"step\": 3, \"lo"));
    static const char *const names[] = {"step", "loss", "val_loss", "state"};
    size_is(r, 3, 4);
    names_are(r, names, 4);
    const struct orrery_column step = find(r, "step"), loss = find(r, "loss"),
                               held_out = find(r, "val_loss"), kept = find(r, "state");
    assert_true(step.numbers[0] == 1 && step.numbers[1] == 1 && step.numbers[2] == 2);
    assert_true(loss.numbers[0] == 2.5 && isnan(loss.numbers[1]) && loss.numbers[2] == 1.5);
    assert_true(isnan(held_out.numbers[0]) && held_out.numbers[1] == 2.25);
    assert_string_equal(kept.words[0], "");
    assert_string_equal(kept.words[1], "kept");
    orrery_results_free(r);
}

static const char *const long_table[] = {"model",   "quantity",    "measure",  "layer",
                                         "context", "seed",        "n",        "value",
                                         "half",    "upper_bound", "baseline", "raw"};
enum { LONG = sizeof long_table / sizeof *long_table };

TEST(a_probe_is_the_long_table)
{
    struct orrery_results *r = opened(write_text(
        "linear.json",
        "{\"format\": \"orrery-probe-1\", \"source\": \"lssar\", \"stage\": \"pretrain\", "
        "\"seed\": 3, \"rows\": [{\"quantity\": \"ln r\", \"measure\": \"R2\", \"layer\": 2, "
        "\"context\": 31, \"value\": 0.75, \"upper_bound\": 1, \"baseline\": 0.25, \"raw\": null, "
        "\"n\": 50}, {\"quantity\": \"none\", \"measure\": \"R2\", \"layer\": 2, "
        "\"context\": 31, \"value\": null, \"n\": 50}]}"));
    size_is(r, 1, LONG); /* a row without a number says nothing */
    names_are(r, long_table, LONG);
    assert_string_equal(find(r, "model").words[0], "attention=lssar stage=pretrain");
    assert_true(find(r, "seed").numbers[0] == 3);
    assert_string_equal(find(r, "quantity").words[0], "ln r");
    assert_string_equal(find(r, "measure").words[0], "R2");
    assert_true(find(r, "layer").numbers[0] == 2 && find(r, "context").numbers[0] == 31);
    assert_true(find(r, "value").numbers[0] == 0.75 && find(r, "baseline").numbers[0] == 0.25);
    assert_true(find(r, "upper_bound").numbers[0] == 1 && isnan(find(r, "raw").numbers[0]));
    orrery_results_free(r);
}

/* The row of a model and quantity, -1 for none. */
static int row_of(struct orrery_results *r, const char *model, const char *quantity)
{
    size_t rows = 0;
    const struct orrery_column models = find(r, "model"), quantities = find(r, "quantity");
    assert_int_equal(orrery_results_size(r, &rows, NULL), 0);
    for (size_t i = 0; i < rows; i++)
        if (!strcmp(models.words[i], model) && !strcmp(quantities.words[i], quantity))
            return (int)i;
    return -1;
}

TEST(results_of_other_files)
{
    struct orrery_results *r =
        opened(write_text("bench.json", "{\"rows\": [{\"name\": \"x\", \"value\": 6}, "
                                        "{\"name\": \"y\", \"value\": 4}]}"));
    size_is(r, 2, LONG);
    assert_true(find(r, "value").numbers[row_of(r, "name=y", "value")] == 4);
    /* the results of a run as one file */
    if (orrery_results_open(r, "tests/api/cell.json"))
        fail_msg("%s", orrery_message(r));
    const int truth = row_of(r, "attention=truth", "selected"),
              model = row_of(r, "attention=lssa", "r2_log");
    const int labels = row_of(r, "attention=lssa", "labels_100"); /* of its probes */
    assert_true(truth >= 0 && model >= 0 && labels >= 0);
    assert_true(find(r, "upper_bound").numbers[labels] > find(r, "baseline").numbers[labels]);
    assert_true(find(r, "value").numbers[truth] >= 0);
    assert_true(find(r, "upper_bound").numbers[model] > 0.9); /* that of the truth */
    assert_true(find(r, "n").numbers[model] == 0 && find(r, "seed").numbers[model] >= 0);
    orrery_results_free(r);
}

TEST(laws_and_evaluations)
{
    struct orrery_results *r = opened(
        write_text("laws.json",
                   "{\"laws\": [{\"source\": \"truth\", \"sample\": 0, \"equation\": \"m1\"}, "
                   "{\"source\": \"lssar\", \"sample\": 1, \"loss\": 2.5}], \"version\": \"0\"}"));
    static const char *const names[] = {"source", "sample", "equation", "loss"};
    size_is(r, 2, 4);
    names_are(r, names, 4);
    assert_string_equal(find(r, "source").words[1], "lssar");
    assert_string_equal(find(r, "equation").words[1], "");
    assert_true(find(r, "sample").numbers[1] == 1 && find(r, "loss").numbers[1] == 2.5);
    assert_true(isnan(find(r, "loss").numbers[0]));
    assert_int_equal(orrery_results_open(r, write_text("evaluation.json",
                                                       "{\"stage\": \"pretrain\", \"loss\": 3, "
                                                       "\"as_trained\": {\"loss\": 2.75}}")),
                     0);
    size_is(r, 2, LONG);
    assert_true(find(r, "value").numbers[row_of(r, "", "loss")] == 3);
    assert_true(find(r, "value").numbers[row_of(r, "", "as_trained.loss")] == 2.75);
    orrery_results_free(r);
}

/* A file without a sum passes; a sum of another content, and a file that is not as "files" has it,
 * do not. */
TEST(changed_files_are_found)
{
    static const struct {
        const char *text, *message;
        int status;
    } cases[] = {
        {"{\"a\": 1}", "", ORRERY_OK},
        {"{\"a\": 1, \"xxh64\": \"0123456789abcdef\"}", "it has been changed", ORRERY_EFORMAT},
        {"{\"files\": {\"b.csv\": {\"bytes\": 2, \"xxh64\": \"0\"}}}", "b.csv is not there, or",
         ORRERY_EFORMAT},
        {"{\"files\": {\"../b.csv\": {\"bytes\": 2}}}", "no file of its folder", ORRERY_EFORMAT},
        {"{\"a\": ", "not valid JSON", ORRERY_EFORMAT}};
    struct orrery_results *r = NULL;
    assert_int_equal(orrery_results_create(ORRERY_INTERFACE, &r), ORRERY_OK);
    write_text("b.csv", "1\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int status = orrery_results_check(r, write_text("sum.json", cases[i].text));
        if (status != cases[i].status || !strstr(orrery_message(r), cases[i].message))
            fail_msg("%s: %d, %s", cases[i].text, status, orrery_message(r));
    }
    assert_int_equal(orrery_results_check(r, "nowhere.json"), ORRERY_EMISSING);
    assert_int_equal(orrery_results_check(r, NULL), ORRERY_EINVAL);
    orrery_results_free(r);
}

TEST(what_is_refused)
{
    struct orrery_results *r = NULL;
    struct orrery_column column = {.bytes = sizeof column};
    assert_int_equal(orrery_results_create(ORRERY_INTERFACE, NULL), ORRERY_EINVAL);
    assert_int_equal(orrery_results_create(ORRERY_INTERFACE + 1, &r), ORRERY_EVERSION);
    assert_null(r);
    assert_int_equal(orrery_results_open(NULL, "x.csv"), ORRERY_EINVAL);
    assert_int_equal(orrery_results_size(NULL, NULL, NULL), ORRERY_EINVAL);
    assert_int_equal(orrery_results_create(ORRERY_INTERFACE, &r), 0);
    size_is(r, 0, 0);
    REFUSED(r, ORRERY_EMISSING, orrery_results_find(r, "x", &column), "results_open");
    assert_int_equal(orrery_results_open(r, write_text("a.csv", "x,y\n1,2\n")), 0);
    REFUSED(r, ORRERY_EINVAL, orrery_results_open(r, NULL), "NULL");
    REFUSED(r, ORRERY_EINVAL, orrery_results_open(r, ""), "empty");
    REFUSED(r, ORRERY_EMISSING, orrery_results_open(r, scratch_at(dir, "no.csv")), "no.c");
    REFUSED(r, ORRERY_EMISSING, orrery_results_open(r, dir), dir);
    REFUSED(r, ORRERY_EUSAGE, orrery_results_open(r, write_text("a.txt", "x")), "*.csv");
    REFUSED(r, ORRERY_EFORMAT, orrery_results_open(r, write_text("b.csv", "x,y\n1\n")), "b.csv:2");
    REFUSED(r, ORRERY_EFORMAT, orrery_results_open(r, write_text("a.json", "{\"a\": []}")),
            "found none");
    REFUSED(r, ORRERY_EFORMAT, orrery_results_open(r, write_text("a.jsonl", "{}\n{}\n")),
            "a.jsonl:1");
    size_is(r, 1, 2); /* that of before */
    assert_true(find(r, "y").numbers[0] == 2);
    REFUSED(r, ORRERY_EMISSING, orrery_results_find(r, "z", &column), "one of x, y");
    REFUSED(r, ORRERY_EINVAL, orrery_results_find(r, NULL, &column), "NULL");
    REFUSED(r, ORRERY_EINVAL, orrery_results_column(r, 2, &column), "below 2, found 2");
    REFUSED(r, ORRERY_EINVAL, orrery_results_column(r, 0, NULL), "NULL");
    column.bytes = 8;
    REFUSED(r, ORRERY_EINVAL, orrery_results_column(r, 0, &column), "bytes");
    orrery_results_free(r);
    orrery_results_free(NULL);
}

/* A file in a layout of Horizons: the body's heliocentric position in kilometres or AU. */
static const char *write_horizons(const char *name, const char *heading, const char *rows)
{
    char text[2048];
    snprintf(text, sizeof text,
             "Target body name: %s\nReference frame : Ecliptic of J2000.0\nJDTDB\n"
             "   X     Y     Z\n$$SOE\n%s$$EOE\n",
             heading, rows);
    return write_text(name, text);
}

TEST(files_of_horizons_are_a_table_of_tracks)
{
    char *const venus = strdup(write_horizons(
        "venus.txt", "Venus (299) {}\nCenter body name: Sun (10) {}\nOutput units    : AU-D",
        "2451545.5 = A.D. 2000-Jan-01 12:00 TDB\n X = 0.5 Y =-0.25 Z = 1.0E-01\n"
        "2451546.5 = A.D. 2000-Jan-02 12:00 TDB\n X = 0.6 Y =-0.15 Z = 0.0E-01\n"));
    char *const earth = strdup(write_horizons(
        "earth.txt", "Earth (399) {}\nCenter body name: Sun (10) {}\nOutput units    : KM-S",
        "2451545.5 = A.D. 2000-Jan-01 12:00 TDB\n X = 149597870.7 Y = 0 Z = 0\n"
        "2451546.5 = A.D. 2000-Jan-02 12:00 TDB\n X = 0 Y = 299195741.4 Z = 0\n"));
    const char *const file[] = {venus, earth};
    static const char *const names[] = {"t",  "body", "x",      "y",    "z",
                                        "GM", "unit", "centre", "frame"};
    struct orrery_results *r = NULL;
    assert_int_equal(orrery_results_create(ORRERY_INTERFACE, &r), 0);
    if (orrery_results_horizons(r, file, 2))
        fail_msg("%s", orrery_message(r));
    size_is(r, 6, 9); /* the Sun at the origin, Venus, the Earth */
    names_are(r, names, 9);
    assert_string_equal(find(r, "body").words[0], "Sun");
    assert_string_equal(find(r, "body").words[4], "Earth");
    assert_string_equal(find(r, "unit").words[5], "AU");
    assert_string_equal(find(r, "frame").words[0], "Ecliptic of J2000.0");
    assert_true(find(r, "t").numbers[3] == 2451546.5);
    assert_true(find(r, "y").numbers[2] == -0.25);
    assert_true(fabs(find(r, "x").numbers[4] - 1) < 1e-15);
    assert_true(fabs(find(r, "y").numbers[5] - 2) < 1e-15);
    assert_true(fabs(find(r, "GM").numbers[0] / 2.959122082841196e-4 - 1) < 1e-9); /* k^2 */
    REFUSED(r, ORRERY_EINVAL, orrery_results_horizons(r, file, 0), "expected 1 to 16, found 0");
    const char *const wrong[] = {write_text("plain.csv", "t,x\n1,2\n"), "-"};
    REFUSED(r, ORRERY_EUSAGE, orrery_results_horizons(r, wrong, 1), "$$SOE");
    REFUSED(r, ORRERY_EINVAL, orrery_results_horizons(r, wrong + 1, 1), "standard input");
    size_is(r, 6, 9);
    orrery_results_free(r);
    free(venus);
    free(earth);
}

TESTS(scratch_setup, scratch_teardown)
