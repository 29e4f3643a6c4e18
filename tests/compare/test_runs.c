/* test_runs.c - one table over runs: which runs there are, which are seeds of the same settings,
 * and what their rows say. */
#include "base/scratch.h"

#include <math.h>

#include <cjson/cJSON.h>

#include "stage/provenance.h"
#include "compare/cells.h"

static const char *attention = "lssar"; /* of the runs that are written */
static double law_k[2] = {39.5, 0};     /* the second one: of a law with two */

/* What a run says of truth and lssar: two samples, of which so many are the law. */
struct says {
    double exponent_r, r2;
    int selected, on_front;
};

static void add_source(cJSON *laws, cJSON *sources, const char *name, const struct says *says)
{
    static const char *const rule[2] = {"score", "best"};
    for (int i = 0; i < 4; i++) { /* both rules of sample 0, then of sample 1 */
        cJSON *law = cJSON_CreateObject();
        cJSON_AddItemToArray(laws, law);
        cJSON_AddStringToObject(law, "source", name);
        cJSON_AddNumberToObject(law, "sample", i / 2);
        cJSON_AddStringToObject(law, "rule", rule[i % 2]);
        cJSON_AddStringToObject(law, "equation", "m1");
        cJSON_AddNumberToObject(law, "loss", i % 2 ? 0.25 + i : 77);
        cJSON_AddBoolToObject(law, "selected_true", i % 2 && i / 2 < says->selected);
        cJSON_AddBoolToObject(law, "on_front", i / 2 < says->on_front);
        cJSON_AddNumberToObject(law, "constant", i / 2 ? 41 : 40); /* of 39.5 */
    }
    cJSON *source = cJSON_CreateObject(), *exponents = NULL;
    cJSON_AddItemToArray(sources, source);
    cJSON_AddStringToObject(source, "source", name);
    cJSON_AddNumberToObject(source, "r2_log", says->r2);
    exponents = cJSON_AddObjectToObject(source, "exponents");
    static const char *const feature[3] = {"r", "m1", "m2"};
    for (int e = 0; e < 3; e++)
        cJSON_AddNumberToObject(cJSON_AddObjectToObject(exponents, feature[e]), "value",
                                e ? 0.9 + 0.01 * e : says->exponent_r);
}

/* laws.json as bin/symreg makes it from the settings. */
static void write_laws(const char *path, const struct orr_settings *settings,
                       const struct says *model)
{
    struct orr_lineage lineage;
    struct orr_sources sources;
    char digest[ORR_DIGEST], file[4096];
    const struct says truth = {settings->orbits.law == ORR_LAW_POWER ? -1.5 : -2, 1, 2, 2};
    cJSON *json = cJSON_CreateObject(), *laws = cJSON_AddArrayToObject(json, "laws");
    cJSON *list = cJSON_AddArrayToObject(json, "sources");
    assert_int_equal(orr_lineage_open(&lineage, settings, ""), 0);
    orr_sources_list(settings, "", &sources);
    assert_int_equal(orr_lineage_laws(&lineage, &sources, digest), 0);
    cJSON_AddItemToObject(json, "made", orr_records_made(&lineage.records, digest));
    orr_lineage_close(&lineage);
    cJSON *law = cJSON_AddObjectToObject(json, "true_law");
    cJSON_AddStringToObject(law, "formula", "k m1 m2 / r^2");
    cJSON_AddItemToObject(law, "k", cJSON_CreateDoubleArray(law_k, law_k[1] > 0 ? 2 : 1));
    cJSON *samples = cJSON_AddArrayToObject(json, "samples");
    for (int i = 0; i < 2; i++) {
        cJSON *sample = cJSON_CreateObject();
        cJSON_AddItemToArray(samples, sample);
        cJSON_AddStringToObject(sample, "source", attention);
        cJSON_AddNumberToObject(sample, "sample", i);
        cJSON_AddNumberToObject(sample, "k_dropped_m2", i ? 20 : 17);
    }
    add_source(laws, list, "truth", &truth);
    add_source(laws, list, attention, model);
    add_source(laws, list, "untrained", model);
    assert_int_equal(orr_path(file, "%s/laws/laws.json", path), 0);
    assert_int_equal(orr_json_write(file, json), 0);
    cJSON_Delete(json);
}

/* A run of the settings "a=b c=d", beside the defaults. */
static void write_run(const char *name, const char *settings, const struct says *model)
{
    static struct orr_settings given;
    char path[4096], file[4096];
    orr_settings_defaults(&given);
    char variant[64];
    snprintf(variant, sizeof variant, "attention=%s", attention);
    assert_int_equal(orr_settings_set(&given, variant), 0);
    for (const char *at = settings; *at; at += strspn(at, " ")) {
        char one[256];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(at, " "), at);
        if (orr_settings_set(&given, one))
            fail_msg("%s", orr_error());
        at += strcspn(at, " ");
    }
    scratch_path(path, scratch_dir, name);
    assert_int_equal(orr_path(file, "%s/laws", path), 0);
    assert_int_equal(orr_mkdir(file), 0);
    assert_int_equal(orr_path(file, "%s/preset.json", path), 0);
    assert_int_equal(orr_settings_save(&given, file), 0);
    write_laws(path, &given, model);
}

#define POWER "orbits.law=power orbits.law_exponent=-1.5"

/* Two seeds of a power law and three runs of Newton's, whose differences make no other settings:
 * texts, where to compute, and the exponent of a law that they do not have. */
static void write_runs(void)
{
    write_run("a/0", "orbits.law_exponent=-1.5 about=first", &(struct says){-1.9, 0.95, 1, 2});
    write_run("a/7", "seed=7 model.device=cpu", &(struct says){-1.7, 0.93, 0, 1});
    write_run("a/deep/9", "seed=9 orbits.law_a0=5", &(struct says){-1.8, 0.97, 2, 2});
    write_run("b", POWER " seed=9007199254740995", &(struct says){-1.2, 0.9, 0, 0});
    write_run("c/x", POWER " seed=1", &(struct says){-1.4, 0.8, 1, 1});
    write_run("c/x/y/z", "seed=3", &(struct says){0}); /* inside a run: no run */
    write_run("d/d/d/d", "seed=4", &(struct says){0}); /* too deep */
}

/* A column of a source; the source has to be there. */
static double number_of(const struct compare_cells *cells, int cell, const char *source, int column)
{
    const int s = compare_cell_find(cells, &cells->cell[cell], source);
    assert_true(s >= 0);
    return compare_cell_row(cells, &cells->cell[cell], s, column)->value;
}

static void run_is(const struct compare_cell *run, const char *path, const char *label, int group)
{
    assert_string_equal(run->path, path);
    assert_string_equal(run->label, label);
    assert_int_equal(run->group, group);
    assert_string_equal(run->rule, "best");
    assert_int_equal(run->sources, 3);
}

TEST_BETWEEN(runs_are_found_and_grouped, scratch_setup, scratch_teardown)
{
    struct compare_cells cells;
    write_runs();
    if (compare_cells_read(&cells, scratch_dir))
        fail_msg("%s", orr_error());
    assert_int_equal(cells.count, 5);
    assert_int_equal(cells.left_out.count, 0);
    assert_int_equal(cells.groups, 2);
    run_is(&cells.cell[0], "a/0", "orbits.law=newton", 0);
    run_is(&cells.cell[1], "a/7", "orbits.law=newton", 0);
    run_is(&cells.cell[2], "a/deep/9", "orbits.law=newton", 0);
    run_is(&cells.cell[3], "b", POWER, 1);
    run_is(&cells.cell[4], "c/x", POWER, 1);
    static const char untrained[] = "untrained (lssar)";
    assert_true(number_of(&cells, 4, untrained, COMPARE_SAMPLES) == 2);
    assert_true(number_of(&cells, 4, untrained, COMPARE_SELECTED) == 1);
    assert_true(number_of(&cells, 4, untrained, COMPARE_ON_FRONT) == 1);
    /* of the rule best: 1.25 and 3.25 */
    assert_true(fabs(number_of(&cells, 4, untrained, COMPARE_LOSS) - 2.25) < 1e-12);
    assert_int_equal(compare_cell_find(&cells, &cells.cell[4], "oracle"), -1);
    /* both samples: 1.3% and 3.8% off */
    assert_true(fabs(number_of(&cells, 2, "lssar", COMPARE_K) - 40.5) < 1e-12);
    assert_true(number_of(&cells, 2, "lssar", COMPARE_K_CLOSE) == 1);
    assert_true(fabs(number_of(&cells, 2, "lssar", COMPARE_K_DROPPED) - 18.5) < 1e-12);
    /* none is the law */
    assert_true(isnan(number_of(&cells, 1, "lssar", COMPARE_K)));
    assert_true(number_of(&cells, 1, "lssar", COMPARE_K_CLOSE) == 0);
    /* beside the truth and random weights of the same run, without an oracle */
    const struct orr_row *row =
        compare_cell_row(&cells, &cells.cell[3], 1, COMPARE_EXPONENT); /* of b */
    assert_string_equal(row->model, "attention=lssar");
    assert_string_equal(row->quantity, "exponents.r");
    assert_true(row->upper_bound == -1.5 && row->baseline == -1.2 && isnan(row->raw));
    compare_cells_free(&cells);
}

/* Labels of both sides of a jump: either k is the law's own. */
TEST_BETWEEN(a_law_of_two_constants, scratch_setup, scratch_teardown)
{
    struct compare_cells cells;
    law_k[0] = 10;
    law_k[1] = 41; /* the samples have 40 and 41 */
    write_run("jump", "", &(struct says){-1.9, 0.95, 2, 2});
    law_k[0] = 39.5;
    law_k[1] = 0;
    assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
    assert_true(number_of(&cells, 0, "lssar", COMPARE_K_CLOSE) == 1);
    compare_cells_free(&cells);
}

static const cJSON *get(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!item)
        fail_msg("runs.json: no \"%s\"", key);
    return item;
}

static void number_is(const cJSON *object, const char *key, double expected)
{
    const double found = get(object, key)->valuedouble;
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected) + 1e-12))
        fail_msg("%s: %.12g, expected %.12g", key, found, expected);
}

/* -1.9, -1.7, -1.8 and -1.2, -1.4: half widths t(2) s / sqrt(3) and t(1) s / sqrt(2). */
TEST_BETWEEN(rows_are_over_seeds, scratch_setup, scratch_teardown)
{
    struct compare_cells cells;
    char path[4096];
    cJSON *json = NULL;
    write_runs();
    assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
    assert_int_equal(compare_cells_write(&cells), 0);
    compare_cells_free(&cells);
    scratch_path(path, scratch_dir, "runs.json");
    assert_int_equal(orr_json_read(path, &json), 0);
    assert_string_equal(get(json, "format")->valuestring, "orrery-runs-1");
    assert_int_equal(cJSON_GetArraySize(get(json, "runs")), 5);
    const cJSON *settings = get(json, "settings"), *rows = get(json, "rows");
    assert_int_equal(cJSON_GetArraySize(settings), 2);
    assert_string_equal(get(cJSON_GetArrayItem(settings, 1), "label")->valuestring, POWER);
    assert_int_equal(cJSON_GetArraySize(rows), 6);
    const cJSON *row = cJSON_GetArrayItem(rows, 1);
    assert_string_equal(get(row, "source")->valuestring, "lssar");
    number_is(row, "settings", 0);
    number_is(row, "samples", 6);
    number_is(row, "selected", 3);
    number_is(row, "on_front", 5);
    assert_int_equal(cJSON_GetArrayItem(get(row, "seeds"), 2)->valueint, 9);
    const cJSON *r = get(get(row, "exponents"), "r");
    number_is(r, "mean", -1.8);
    number_is(r, "half_width", 4.302652729911275 * 0.1 / sqrt(3));
    number_is(get(get(row, "exponents_truth"), "r"), "mean", -2);
    number_is(get(get(row, "exponents_truth"), "m1"), "mean", 0.91);
    number_is(get(row, "k_close_share"), "mean", (1. / 2 + 0 + 1. / 2) / 3);
    number_is(get(row, "r2_log"), "mean", 0.95);
    number_is(get(row, "loss"), "mean", 2.25);
    row = cJSON_GetArrayItem(rows, 4);
    number_is(row, "settings", 1);
    number_is(row, "on_front", 1);
    assert_string_equal(cJSON_GetArrayItem(get(row, "seeds"), 0)->valuestring, "9007199254740995");
    r = get(get(row, "exponents"), "r");
    number_is(r, "mean", -1.3);
    number_is(r, "half_width", 12.706204736432095 * sqrt(0.02) / sqrt(2));
    number_is(get(get(row, "exponents_truth"), "r"), "mean", -1.5);
    assert_true(cJSON_GetArrayItem(get(r, "values"), 1)->valuedouble == -1.4);
    cJSON_Delete(json);
}

/* Every figure comes back from a file of a run's results as it was, shares from their counts. */
TEST_BETWEEN(results_of_a_run_come_back, scratch_setup, scratch_teardown)
{
    struct compare_cells cells;
    static const char *const more[] = {"labels", "readout", NULL};
    struct compare_cells back = {.folder = ""};
    struct compare_cell cell = {.group = 0};
    char path[4096];
    write_runs();
    assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
    struct orr_row *row = compare_cell_row(&cells, &cells.cell[0], 1, 0);
    for (int c = COMPARE_EXPONENT; c < COMPARE_COLUMNS; c++)
        row[c].value = 2.385 + c;
    row[COMPARE_LOSS].value = NAN;
    scratch_path(path, scratch_dir, "cell.json");
    cJSON *json = compare_cell_json(&cells, &cells.cell[0]);
    assert_int_equal(orr_json_write(path, json), 0);
    cJSON_Delete(json);
    if (compare_cell_take_record(&back, &cell, path))
        fail_msg("%s", orr_error());
    assert_int_equal(cell.sources, 3);
    const struct orr_row *found = compare_cell_row(&back, &cell, 1, 0);
    for (int c = 0; c < COMPARE_COLUMNS; c++) { /* shares are made of counts where cells are read */
        const bool is_none = c == COMPARE_LOSS || c == COMPARE_SHARE || c == COMPARE_FRONT_SHARE ||
                             c == COMPARE_CLOSE_SHARE;
        assert_string_equal(found[c].model, row[c].model);
        if (is_none ? !isnan(found[c].value) : !(found[c].value == row[c].value))
            fail_msg("%s: %g, expected %g", found[c].quantity, found[c].value, row[c].value);
    }
    cJSON_Delete(cell.record);
    orr_table_free(&back.table);
    const char *const one = path;
    assert_int_equal(compare_cells_read_these(&back, more, &one, 1), 0);
    assert_true(number_of(&back, 0, "lssar", COMPARE_SHARE) == 0.5);
    assert_true(number_of(&back, 0, "lssar", COMPARE_CLOSE_SHARE) == 0.5);
    found = compare_cell_row(&back, &back.cell[0], 1, COMPARE_COLUMNS + 1);
    assert_string_equal(found->quantity, more[1]); /* a row of the caller's, not filled */
    assert_true(back.table.count == 3 * (COMPARE_COLUMNS + 2) && isnan(found->value));
    compare_cells_free(&back);
    compare_cells_free(&cells);
}

TEST_BETWEEN(incomplete_runs_are_left_out, scratch_setup, scratch_teardown)
{
    struct compare_cells cells;
    char path[4096];
    write_runs();
    scratch_path(path, scratch_dir, "a/7/laws/laws.json"); /* not yet there */
    assert_int_equal(remove(path), 0);
    scratch_path(path, scratch_dir, "b/laws/laws.json"); /* damaged */
    scratch_text(path, "{\"laws\": [");
    scratch_path(path, scratch_dir, "c/x/preset.json"); /* laws of other settings */
    scratch_text(path, "{\"seed\": 1, \"attention\": [\"lssar\"], \"pretrain\": {\"steps\": 17}}");
    scratch_path(path, scratch_dir, "e/preset.json");
    write_run("e", "seed=5", &(struct says){0});
    assert_int_equal(remove(path), 0);
    assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
    assert_int_equal(cells.count, 2);
    static const char *const why[4][2] = {{"a/7", "missing; make it with"},
                                          {"b", "not valid JSON"},
                                          {"c/x", "c/x/preset.json makes: true_law"},
                                          {"e", "preset.json: not found"}};
    assert_int_equal(cells.left_out.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(cells.left_out.at[i].what, why[i][0]);
        if (!strstr(cells.left_out.at[i].why, why[i][1]))
            fail_msg("%s: %s", why[i][0], cells.left_out.at[i].why);
    }
    compare_cells_free(&cells);
    for (int i = 0; i < 2; i++) {
        scratch_path(path, scratch_dir, i ? "a/deep/9/laws/laws.json" : "a/0/laws/laws.json");
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(compare_cells_read(&cells, scratch_dir), ORR_EMISSING);
    assert_non_null(strstr(orr_error(), "none of 6 runs is complete; a/0: "));
    compare_cells_free(&cells);
}

TEST_BETWEEN(seed_of_the_same_settings_twice_is_refused, scratch_setup, scratch_teardown)
{
    struct compare_cells cells;
    write_runs();
    write_run("z", POWER " seed=1 about=again", &(struct says){0});
    assert_int_equal(compare_cells_read(&cells, scratch_dir), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "/z: of the same settings and seed (1) as c/x"));
    compare_cells_free(&cells);
    write_run("z", POWER " seed=1 pretrain.steps=9", &(struct says){0}); /* others */
    assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
    assert_int_equal(cells.groups, 3);
    compare_cells_free(&cells);
}

/* Differences of the exponent of r: seeds 1 and 2 of both attentions, 4 of softmax and 5 of lssar
 * alone; each model's untrained shape predicts what the model does: it differs by nothing. */
TEST_BETWEEN(models_are_compared_seed_by_seed, scratch_setup, scratch_teardown)
{
    struct compare_cells cells;
    char path[4096];
    cJSON *json = NULL;
    write_run("l1", "seed=1", &(struct says){-1.8, 0.9, 2, 2});
    write_run("l2", "seed=2", &(struct says){-1.9, 0.9, 1, 1});
    write_run("l5", "seed=5", &(struct says){5, 5, 1, 1}); /* softmax has no such seed */
    attention = "softmax";
    write_run("t1", "seed=1", &(struct says){-1.6, 0.8, 0, 1});
    write_run("s2", "seed=2", &(struct says){-1.5, 0.9, 1, 1});
    write_run("s4", "seed=4", &(struct says){5, 5, 1, 1});
    attention = "lssar";
    assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
    assert_int_equal(compare_cells_write(&cells), 0);
    compare_cells_free(&cells);
    scratch_path(path, scratch_dir, "runs.json");
    assert_int_equal(orr_json_read(path, &json), 0);
    const cJSON *list = get(json, "differences");
    assert_int_equal(cJSON_GetArraySize(list), 3);
    const cJSON *d = cJSON_GetArrayItem(list, 0);
    assert_string_equal(get(d, "source")->valuestring, "lssar");
    assert_string_equal(get(d, "minus")->valuestring, "softmax");
    assert_int_equal(cJSON_GetArraySize(get(d, "seeds")), 2);
    assert_int_equal(cJSON_GetArrayItem(get(d, "seeds"), 1)->valueint, 2);
    const cJSON *r = get(get(d, "exponents"), "r");
    number_is(r, "mean", -0.3); /* -0.2 and -0.4 */
    number_is(r, "standard_error", 0.1);
    number_is(r, "half_width", 12.706204736432095 * 0.1);
    assert_true(fabs(cJSON_GetArrayItem(get(r, "bootstrap"), 0)->valuedouble + 0.3925) < 1e-9);
    assert_true(fabs(cJSON_GetArrayItem(get(r, "bootstrap"), 1)->valuedouble + 0.2075) < 1e-9);
    number_is(get(d, "selected_share"), "mean", 0.5);
    number_is(get(d, "on_front_share"), "mean", 0.25);
    number_is(get(d, "r2_log"), "mean", 0.05);
    for (int i = 1; i < 3; i++) {
        d = cJSON_GetArrayItem(list, i);
        assert_string_equal(get(d, "minus")->valuestring,
                            i == 1 ? "untrained (lssar)" : "untrained (softmax)");
        assert_int_equal(cJSON_GetArraySize(get(d, "seeds")), 3);
        number_is(get(get(d, "exponents"), "r"), "mean", 0);
    }
    cJSON_Delete(json);
}

static void write_text(const char *name, const char *text)
{
    char path[4096];
    scratch_path(path, scratch_dir, name);
    scratch_text(path, text);
}

#define AU(context, value)                                                                         \
    "\"measure\": \"AU\", \"layer\": -1, \"n\": 9, \"context\": " #context ", \"value\": " #value
/* Results of bin/probe length, of the checkpoint that is there or of another one. */
static void write_length(bool same, bool changed)
{
    char path[4096], text[1024];
    uint64_t content, bytes;
    scratch_path(path, scratch_dir, "s/softmax/pretrain/last.safetensors");
    assert_int_equal(orr_file_checksum(path, &content, &bytes), 0);
    snprintf(text, sizeof text,
             "{\"format\": \"orrery-probe-1\", \"checkpoint_xxh64\": \"%016llx\", "
             "\"changed\": %s, \"rows\": [{\"quantity\": \"next position, beyond\", " AU(
                 512, 0.5) ", \"upper_bound\": 0.01, \"baseline\": 1.5}, "
                           "{\"quantity\": \"next position, beyond\", " AU(
                               64, 0.25) "}, "
                                         "{\"quantity\": \"next position\", " AU(1024, 3) "}]}",
             (unsigned long long)content + !same, changed ? "true" : "false");
    write_text("s/softmax/probe/length.json", text);
}

/* A file with a sum of its own, which is right or not. */
static void add_sum(const char *name, bool right)
{
    char path[4096];
    cJSON *json;
    scratch_path(path, scratch_dir, name);
    assert_int_equal(orr_json_read(path, &json), 0);
    assert_int_equal(orr_json_write(path, json), 0);
    if (!right)
        cJSON_AddStringToObject(json, "more", "by hand");
    assert_int_equal(orr_json_write_plain(path, json), 0);
    cJSON_Delete(json);
}

/* An evaluation with another value than the one that was measured is no run to put together. */
static void check_changed_evaluation(void)
{
    static const char name[] = "s/softmax/pretrain/evaluation.json";
    struct compare_cells cells;
    for (int right = 1; right >= 0; right--) {
        write_text(name, "{\"teacher_forced\": 0.0125, \"orbit_fit\": 0.005}");
        add_sum(name, right);
        assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
        assert_int_equal(cells.count, 1 + right);
        if (!right)
            assert_non_null(
                strstr(cells.left_out.at[0].why, "evaluation.json: it has been changed"));
        compare_cells_free(&cells);
    }
    write_text(name, "{\"teacher_forced\": 0.0125, \"orbit_fit\": 0.005}");
}

/* What bin/probe length says of another checkpoint, or of a changed one, or cannot be read, counts
 * for nothing. */
static void check_stale_length(void)
{
    struct compare_cells cells;
    for (int k = 0; k < 4; k++) {
        if (k == 2)
            write_text("s/softmax/probe/length.json", "{");
        else
            write_length(k != 0, k == 1);
        if (k == 3) /* of this model, and changed since it was written */
            add_sum("s/softmax/probe/length.json", false);
        assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
        assert_int_equal(cells.count, 2);
        assert_true(isnan(number_of(&cells, 1, "softmax", COMPARE_BEYOND)));
        assert_true(number_of(&cells, 1, "softmax", COMPARE_NEXT_STATE) > 0);
        compare_cells_free(&cells);
    }
}

/* Next-state errors of the truth's own orbits and of random weights; those of bin/probe evaluate
 * count where it measured this very model. */
static void check_bounds(bool same)
{
    struct compare_cells cells;
    write_text("s/softmax/probe/evaluate.json",
               same ? "{\"as_trained\": {\"teacher_forced\": 0.0125, \"random_weights\": 1.25, "
                      "\"orbit_fit\": 0.004}}"
                    : "{\"as_trained\": {\"teacher_forced\": 0.0126, \"random_weights\": 1.25, "
                      "\"orbit_fit\": 0.004}}");
    assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
    static const char untrained[] = "untrained (softmax)";
    const double random = number_of(&cells, 1, untrained, COMPARE_NEXT_STATE);
    assert_true(number_of(&cells, 1, "truth", COMPARE_NEXT_STATE) == (same ? 0.004 : 0.005));
    assert_true(number_of(&cells, 1, "truth", COMPARE_BEYOND) == 0.01);
    assert_true(number_of(&cells, 1, untrained, COMPARE_BEYOND) == 1.5);
    assert_true(same ? random == 1.25 : isnan(random));
    compare_cells_free(&cells);
}

/* Cells of two attentions have the same truth, and models of their own with their pretrainings. */
TEST_BETWEEN(attentions_of_one_seed_are_put_together, scratch_setup, scratch_teardown)
{
    struct compare_cells cells;
    char path[4096];
    cJSON *json = NULL;
    write_run("l", "seed=5", &(struct says){-1.8, 0.9, 1, 1});
    attention = "softmax";
    write_run("s", "seed=5", &(struct says){-1.6, 0.9, 1, 1});
    attention = "lssar";
    for (int k = 0; k < 2; k++) {
        scratch_path(path, scratch_dir, k ? "s/softmax/pretrain" : "s/softmax/probe");
        assert_int_equal(orr_mkdir(path), 0);
    }
    write_text("s/softmax/pretrain/evaluation.json",
               "{\"teacher_forced\": 0.0125, \"orbit_fit\": 0.005}");
    write_text("s/softmax/pretrain/last.safetensors", "weights");
    write_length(true, false);
    /* 64 sequences of 999 positions in 1, 2 and 4 s; lines are empty, and the last is cut short */
    write_text("s/softmax/pretrain/log.jsonl",
               "\n{\"step\": 1, \"tokens_per_s\": 63936, \"memory_mb\": 70}\n\n"
               "{\"step\": 2, \"val_loss\": 1}\n"
               "{\"step\": 3, \"tokens_per_s\": 31968, \"memory_mb\": 75}\n"
               "{\"step\": 4, \"tokens_per_s\": 15984, \"memory_mb\": 75}\n{\"step\": 5, \"tok");
    assert_int_equal(compare_cells_read(&cells, scratch_dir), 0);
    assert_int_equal(cells.groups, 1);
    assert_int_equal(compare_cells_write(&cells), 0);
    scratch_path(path, scratch_dir, "runs.json");
    assert_int_equal(orr_json_read(path, &json), 0);
    const cJSON *row, *rows = get(json, "rows");
    static const char *const title[] = {"truth", "lssar", "untrained (lssar)", "softmax",
                                        "untrained (softmax)"};
    assert_int_equal(cJSON_GetArraySize(rows), 5);
    for (int i = 0; i < 5; i++) {
        row = cJSON_GetArrayItem(rows, i);
        assert_string_equal(get(row, "source")->valuestring, title[i]);
        number_is(row, "samples", 2); /* truth once */
        assert_int_equal(cJSON_IsNumber(get(get(row, "step_ms"), "mean")), i == 3);
    }
    row = cJSON_GetArrayItem(rows, 3);
    number_is(get(row, "next_state"), "mean", 0.0125);
    number_is(get(row, "next_state_beyond"), "mean", 0.5);
    number_is(get(row, "step_ms"), "mean", 2000.0 * cells.cell[1].settings.pretrain.batch / 64);
    number_is(get(row, "memory_mb"), "mean", 75);
    cJSON_Delete(json);
    compare_cells_free(&cells);
    check_bounds(true);
    check_bounds(false);
    check_changed_evaluation();
    check_stale_length();
}

TESTS(NULL, NULL)
