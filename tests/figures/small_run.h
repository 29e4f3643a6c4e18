/* small_run.h - what tests of figures/ share: a folder that goes away, with a run directory. */
#ifndef TESTS_SMALL_RUN_H
#define TESTS_SMALL_RUN_H

#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "testing.h"

static char folder[256];

FIXTURE(make_folder)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/report-test-XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(remove_folder)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static inline const char *in_folder(const char *name)
{
    static char path[8][512];
    static int next;
    char *at = path[next++ % 8];
    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

static inline void write_text(const char *name, const char *text)
{
    char parent[512];
    snprintf(parent, sizeof parent, "%s", in_folder(name));
    *strrchr(parent, '/') = '\0';
    assert_int_equal(orr_mkdir(parent), 0);
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void write_bytes(const char *name, const char *bytes, size_t count)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline char *read_text(const char *name)
{
    static char *text; /* gcc 12 takes a local one for dangling, once this function is inlined */
    size_t bytes;
    assert_int_equal(orr_file_read(in_folder(name), &text, &bytes), 0);
    return text;
}

static inline void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

/* Gives a file of results the checksum of what it holds. */
static inline void seal(const char *name)
{
    cJSON *json = NULL;
    enum orr_json_sum sum;
    assert_int_equal(orr_json_read_any(in_folder(name), &json, &sum), 0);
    assert_int_equal(orr_json_write(in_folder(name), json), 0);
    cJSON_Delete(json);
}

/* ---- a run directory in miniature: planets on ellipses, predictions turned and stretched */

enum { STEPS = 57, LABELS = 10 };
static const double turn_rad = 0.2385, stretch = 1.1713;

static inline void write_vectors(const char *source, double turn, double size)
{
    char name[128], *text = malloc(REPORT_BODIES * STEPS * 200 + 200), *at = text;
    assert_non_null(text);
    at += sprintf(at, "planet,name,step,x,y,fx_true,fy_true,fx,fy,labelled\n");
    for (int p = 0; p < REPORT_BODIES; p++)
        for (int t = 0; t < STEPS; t++) {
            const double a_au = 0.387 * pow(1.86, p), phase = 0.157 * t + p;
            const double x = a_au * (cos(phase) - 0.2), y = a_au * 0.98 * sin(phase);
            const double r = hypot(x, y), f = pow(0.78 * a_au / r, 2);
            const double fx = -f * x / r, fy = -f * y / r;
            at += sprintf(at, "%d,%s,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%d\n", p, report_body_name[p],
                          t, x, y, fx, fy, size * (fx * cos(turn) - fy * sin(turn)),
                          size * (fx * sin(turn) + fy * cos(turn)), t % 6 == 3);
        }
    snprintf(name, sizeof name, "run/%s/finetune/forces_vector.csv", source);
    write_text(name, text);
    free(text);
}

/* The law is on the front of both samples of truth, which selects it on sample 1 alone; of softmax
 * on that of sample 1, and on none of untrained. Its k is 39.4 and 39.6 where it is there. */
static inline bool on_front(int source, int sample)
{
    return source != 4 && (source != 2 || sample == 1);
}

/* "true_law" of laws.json, with a comma behind it; "" as in files that have none. */
static const char *true_law = "";
static int law_sources = 5; /* 6: with positions */

static inline void write_laws(void)
{
    char *text = malloc(1 << 16), *at = text;
    assert_non_null(text);
    static const char *const sources[] = {"truth", "oracle",    "softmax",
                                          "lssar", "untrained", "positions"};
    at += sprintf(at, "{%s\"laws\": [", true_law);
    for (int s = 0; s < law_sources; s++)
        for (int sample = 0; sample < 2; sample++)
            at += sprintf(at,
                          "%s{\"source\": \"%s\", \"sample\": %d, \"rule\": \"best\", "
                          "\"equation\": \"(39.4 * (m1 * m2))\", \"complexity\": 9, \"loss\": "
                          "0.0025, \"selected_true\": %s, \"on_front\": %s, \"constant\": %g}",
                          s + sample ? "," : "", sources[s], sample,
                          s == 0 && sample == 1 ? "true" : "false",
                          on_front(s, sample) ? "true" : "false",
                          on_front(s, sample) ? 39.4 + 0.2 * sample : 77.7);
    at += sprintf(at, "], \"sources\": [");
    for (int s = 0; s < law_sources; s++)
        at += sprintf(at,
                      "%s{\"source\": \"%s\", \"r2_log\": 0.987, \"median_relative_error\": 0.05, "
                      "\"dropped\": %d, "
                      "\"exponents\": {\"r\": {\"value\": -1.9, \"low\": -2.7, \"high\": -1.8}, "
                      "\"m1\": {\"value\": 0.9, \"low\": 0.8, \"high\": 1.0}, "
                      "\"m2\": {\"value\": 0.7, \"low\": 0.6, \"high\": 0.8}}}",
                      s ? "," : "", sources[s], 7 * s);
    at += sprintf(at, "], \"samples\": [");
    for (int s = 0; s < law_sources; s++)
        for (int sample = 0; sample < 2; sample++)
            at += sprintf(at,
                          "%s{\"source\": \"%s\", \"sample\": %d, \"rows\": 600, "
                          "\"k_dropped_m2\": %g, \"leverage\": %g}",
                          s + sample ? "," : "", sources[s], sample, 27.02 + s + 100 * sample,
                          0.11 + 0.1 * s + 0.5 * sample);
    sprintf(at, "], \"baselines\": {\"log_r\": 0.31, \"log_scale_dt_r\": 0.62, \"constant\": 0}}");
    write_text("run/laws/laws.json", text);
    free(text);
    seal("run/laws/laws.json");
    for (int s = 0; s < law_sources; s++) {
        char name[128];
        snprintf(name, sizeof name, "run/laws/front_%s_0.csv", sources[s]);
        write_text(name,
                   "Complexity,Loss,Equation\n1,5.1,\"8.3\"\n9,0.0025,\"(39.4 * (m1 * m2))\"\n");
    }
}

static inline void write_run(void)
{
    write_text("run/preset.json", "{\"name\": \"mini\", \"seed\": 7, \"attention\": [\"softmax\", "
                                  "\"lssar\"], \"planets\": {\"enabled\": true, "
                                  "\"eccentric\": true}}");
    write_vectors("truth", 0, 1);
    write_vectors("oracle", 0.05, 1);
    write_vectors("softmax", 2.5, 3.2); /* outwards, and longer than is drawn */
    write_vectors("lssar", turn_rad, stretch);
    write_vectors("untrained", 0.4, 0.7);
    write_text("run/lssar/pretrain/log.jsonl", "{\"step\": 1, \"loss\": 0.5}\n{\"step\": 2, "
                                               "\"loss\": 0.25, \"val_loss\": 0.3}\n");
    write_laws();
}

#endif
