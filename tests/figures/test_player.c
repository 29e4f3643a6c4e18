/* test_player.c - the orbit player: rollouts as they are read, and the data of the page as JSON. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"

#include <cjson/cJSON.h>

enum { STEPS = 7, KNOWN = 3, FIRST = 2, POSITIONS = 5 };
static char dir[64];

FIXTURE(make_folder)
{
    scratch_create(dir);
    return 0;
}

FIXTURE(remove_folder)
{
    scratch_remove(dir);
    return 0;
}

/* rollouts.csv of the source "lssar" of the run in dir. */
static void write_rollouts(const char *text)
{
    char path[4096];
    assert_int_equal(orr_path(path, "%s/lssar/pretrain_planets", dir), 0);
    assert_int_equal(orr_mkdir(path), 0);
    assert_int_equal(orr_path(path, "%s/lssar/pretrain_planets/rollouts.csv", dir), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static const char *text_of_rollouts(void)
{
    static char text[8192];
    char *at = text;
    at += sprintf(at, "name,step,x_true,y_true,x,y,known\n");
    for (int body = 0; body < REPORT_PLANETS; body++)
        for (int step = 0; step < STEPS; step++)
            at += sprintf(at, "%s,%d,%g,%g,%g,%s,%d\n", report_body_name[body], step,
                          0.25 + step + body, 0.5 * step, 0.75 + step,
                          body == 2 && step == 5 ? "nan" : "-0.125", step < KNOWN);
    return text;
}

static struct report_run run;

/* Truth and LSSAR, whose forces are those of the truth turned back. */
static void make_run(void)
{
    static const char *const names[] = {"truth", "lssar"};
    static struct report_position at[2][REPORT_PLANETS][POSITIONS];
    memset(&run, 0, sizeof run);
    orr_settings_defaults(&run.settings);
    assert_int_equal(orr_path(run.path, "%s", dir), 0);
    run.source_count = 2;
    for (int s = 0; s < 2; s++) {
        struct report_source *source = &run.source[s];
        snprintf(source->name, sizeof source->name, "%s", names[s]);
        snprintf(source->title, sizeof source->title, "Title of %s", names[s]);
        source->role = s ? REPORT_ATTENTION : REPORT_TRUTH;
        source->colour = "#123456";
        source->has_vectors = true;
        for (int body = 0; body < REPORT_PLANETS; body++) {
            source->orbit[body] = (struct report_orbit){POSITIONS, at[s][body]};
            for (int i = 0; i < POSITIONS; i++)
                at[s][body][i] = (struct report_position){.x_au = body + 0.125 * i,
                                                          .y_au = 0.5,
                                                          .fx_true = -0.25,
                                                          .fy_true = 1.0 / (i + 1),
                                                          .fx = s ? 0.25 : -0.25,
                                                          .fy = 3,
                                                          .labelled = i == 1,
                                                          .step = FIRST + i};
        }
    }
}

static void free_rollouts(void)
{
    for (int body = 0; body < REPORT_BODIES; body++)
        free(run.source[1].rollout[body].at);
    memset(run.source[1].rollout, 0, sizeof run.source[1].rollout);
}

static void write_player(const struct report_run *of, struct orr_file *html)
{
    assert_int_equal(report_html_player(of, html), 0);
}

static char *written(void (*write)(const struct report_run *run, struct orr_file *html))
{
    struct orr_file html = {0};
    char path[4096], *text;
    size_t bytes;
    scratch_path(path, dir, "part.html");
    assert_int_equal(orr_file_create(&html, path), 0);
    write(&run, &html);
    assert_int_equal(orr_file_commit(&html), 0);
    orr_file_close(&html);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    return text;
}

static const cJSON *item(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!found)
        fail_msg("no key %s", key);
    return found;
}

static double number(const cJSON *array, int i)
{
    const cJSON *found = cJSON_GetArrayItem(array, i);
    assert_true(cJSON_IsNumber(found));
    return found->valuedouble;
}

/* Forces and places of every source, beginning with the step of the first position. */
static void assert_forces(const cJSON *body, int number_of_body)
{
    const cJSON *forces = item(body, "forces");
    assert_int_equal((int)item(body, "first")->valuedouble, FIRST);
    assert_int_equal(cJSON_GetArraySize(item(body, "at")), 2 * POSITIONS);
    assert_int_equal(cJSON_GetArraySize(forces), 1); /* the truth's are "force" */
    assert_string_equal(item(body, "labelled")->valuestring, "01000");
    for (int i = 0; i < POSITIONS; i++) {
        assert_true(number(item(body, "at"), 2 * i) == number_of_body + 0.125 * i);
        assert_true(fabs(number(item(body, "force"), 2 * i + 1) - 1.0 / (i + 1)) < 1e-4);
        assert_true(number(item(forces, "lssar"), 2 * i) == 0.25);
        assert_true(number(item(forces, "lssar"), 2 * i + 1) == 3);
    }
}

/* The data is JSON with and without rollouts; a place that is no number is null. */
TEST(data_is_json)
{
    for (int with = 0; with < 2; with++) {
        make_run();
        if (with) {
            write_rollouts(text_of_rollouts());
            assert_int_equal(report_read_rollouts(&run, &run.source[1]), 0);
        }
        char *text = written(report_html_player_data);
        cJSON *json = cJSON_Parse(text);
        assert_non_null(json);
        const cJSON *bodies = item(json, "bodies"), *sources = item(json, "sources");
        assert_int_equal(cJSON_GetArraySize(sources), 2);
        assert_string_equal(item(cJSON_GetArrayItem(sources, 1), "title")->valuestring,
                            "Title of lssar");
        assert_int_equal(cJSON_GetArraySize(bodies), REPORT_PLANETS);
        for (int b = 0; b < REPORT_PLANETS; b++) {
            const cJSON *body = cJSON_GetArrayItem(bodies, b);
            assert_string_equal(item(body, "title")->valuestring, report_body_title[b]);
            assert_forces(body, b);
            assert_true(with == (cJSON_GetObjectItemCaseSensitive(body, "path") != NULL));
            if (!with)
                continue;
            const cJSON *path = item(item(body, "rollouts"), "lssar");
            assert_int_equal((int)item(body, "known")->valuedouble, KNOWN);
            assert_int_equal(cJSON_GetArraySize(item(body, "path")), 2 * STEPS);
            assert_true(number(item(body, "path"), 2) == 1.25 + b);
            assert_int_equal(cJSON_GetArraySize(path), 2 * (STEPS - KNOWN));
            assert_true(number(path, 0) == 0.75 + KNOWN && number(path, 1) == -0.125);
            assert_true(cJSON_IsNull(cJSON_GetArrayItem(path, 2 * (5 - KNOWN) + 1)) == (b == 2));
        }
        cJSON_Delete(json);
        free(text);
        free_rollouts();
    }
}

/* The player fetches nothing, prints, and says where rollouts are missing. */
TEST(player_is_alone)
{
    make_run();
    char *text = written(write_player);
    assert_null(strstr(text, "http"));
    assert_null(strstr(text, "src="));
    assert_null(strstr(text, "url("));
    assert_null(strstr(text, "import"));
    assert_non_null(strstr(text, "has no rollouts"));
    assert_non_null(strstr(text, "<noscript>"));
    assert_non_null(strstr(text, "beforeprint"));
    free(text);
    write_rollouts(text_of_rollouts());
    assert_int_equal(report_read_rollouts(&run, &run.source[1]), 0);
    text = written(write_player);
    assert_null(strstr(text, "has no rollouts"));
    free(text);
    free_rollouts();
}

/* File, row, and what was expected. */
TEST(wrong_rollouts_are_named)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"name,step,x_true,y_true,x,y\nearth,0,1,2,3,4\n", "no column \"known\""},
        {"name,step,x_true,y_true,x,y,known\nceres,0,1,2,3,4,1\n",
         ":2: expected the name of a body, found \"ceres\""},
        {"name,step,x_true,y_true,x,y,known\nearth,0,1,2,3,4,1\nearth,2,1,2,3,4,1\n",
         ":3: step is 2, expected 1"},
        {"name,step,x_true,y_true,x,y,known\nearth,0,1,nan,3,4,1\n",
         ":2: the true position is not finite"},
        {"a,name,step,x_true,y_true,x,y,known\n\"\n\",earth,0,1,2,3,4,1\n0,earth,2,1,2,3,4,1\n",
         ":4: step is 2, expected 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make_run();
        write_rollouts(wrong[i].text);
        assert_int_equal(report_read_rollouts(&run, &run.source[1]), ORR_EFORMAT);
        assert_non_null(strstr(orr_error(), "lssar/pretrain_planets/rollouts.csv"));
        if (!strstr(orr_error(), wrong[i].message))
            fail_msg("no \"%s\" in: %s", wrong[i].message, orr_error());
        free_rollouts();
    }
}

TESTS(make_folder, remove_folder)
