/* read_laws.c - reads laws/laws.json, and finds the Pareto fronts of sample 0. */
#include "report.h"
#include "stage/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"

static const char *text_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(orr_json_get(object, key));
}

static void add_rule(struct report_run *run, const char *rule)
{
    for (int i = 0; i < run->rules.count; i++)
        if (!strcmp(run->rules.item[i], rule))
            return;
    if (run->rules.count < ORR_LIST)
        snprintf(run->rules.item[run->rules.count++], ORR_NAME, "%s", rule);
}

static int take_law(struct report_run *run, const char *path, const cJSON *item, int index)
{
    const char *source = text_of(item, "source"), *rule = text_of(item, "rule");
    const char *equation = text_of(item, "equation");
    const double sample = orr_json_number(item, "sample");
    if (!source || !rule || !orr_is_name(rule) || strlen(rule) >= ORR_NAME || !equation ||
        !(sample >= 0 && sample < 1e6))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: laws[%d]: expected source, rule (a name) and equation as text and "
                        "sample as a number",
                        path, index);
    const int s = report_find(run, source);
    if (s < 0)
        return 0; /* a variant that this report omits */
    struct report_law *law = &run->law[run->law_count++];
    law->source = s;
    law->sample = (int)sample;
    snprintf(law->rule, sizeof law->rule, "%s", rule);
    law->equation = strdup(equation);
    if (!law->equation)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    law->complexity = orr_json_number(item, "complexity");
    law->loss = orr_json_number(item, "loss");
    law->selected_true = cJSON_IsTrue(orr_json_get(item, "selected_true"));
    law->on_front = cJSON_IsTrue(orr_json_get(item, "on_front"));
    law->constant = orr_json_number(item, "constant");
    if (law->sample >= run->samples)
        run->samples = law->sample + 1;
    run->source[s].has_laws = true;
    add_rule(run, rule);
    return 0;
}

static struct report_interval interval_of(const cJSON *item)
{
    return (struct report_interval){orr_json_number(item, "value"), orr_json_number(item, "low"),
                                    orr_json_number(item, "high")};
}

static void take_source(struct report_run *run, const cJSON *item)
{
    static const char *const names[3] = {"r", "m1", "m2"};
    const char *name = text_of(item, "source");
    const int s = name ? report_find(run, name) : -1;
    if (s < 0)
        return;
    struct report_source *source = &run->source[s];
    source->r2_log = orr_json_number(item, "r2_log");
    source->median_relative_error = orr_json_number(item, "median_relative_error");
    source->dropped = orr_json_number(item, "dropped");
    const cJSON *exponents = orr_json_get(item, "exponents");
    for (int e = 0; e < 3; e++)
        source->exponent[e] = interval_of(orr_json_get(exponents, names[e]));
}

/* Updates the mean of samples 0 .. sample - 1 by the value of sample `sample`. */
static void add_to_mean(double *mean, double sample, double x)
{
    *mean = sample > 0 ? *mean + (x - *mean) / (sample + 1) : x;
}

/* Takes the values of one sample of one source; samples come in order. */
static void take_sample(struct report_run *run, const cJSON *item)
{
    const char *name = text_of(item, "source");
    const int s = name ? report_find(run, name) : -1;
    const double rows = orr_json_number(item, "rows");
    if (s < 0)
        return;
    struct report_source *source = &run->source[s];
    if (isfinite(rows))
        source->predictions = (isfinite(source->predictions) ? source->predictions : 0) + rows;
    add_to_mean(&source->k_dropped_mean, orr_json_number(item, "sample"),
                orr_json_number(item, "k_dropped_m2"));
    if (orr_json_number(item, "sample") != 0)
        return;
    source->k_dropped_m2 = orr_json_number(item, "k_dropped_m2");
    source->leverage = orr_json_number(item, "leverage");
}

/* Reads "true_law"; without it the law is Newton's, as in earlier versions. */
static void take_true_law(struct report_run *run, const cJSON *json)
{
    static const double newton[3] = {-2, 1, 1};
    struct report_true_law *law = &run->true_law;
    const cJSON *item = orr_json_get(json, "true_law"), *k;
    const char *formula = text_of(item, "formula");
    *law = (struct report_true_law){.newton = !formula || !strcmp(formula, "k m1 m2 / r^2")};
    snprintf(law->formula, sizeof law->formula, "%s", formula ? formula : "k m1 m2 / r^2");
    cJSON_ArrayForEach (k, orr_json_get(item, "k"))
        if (law->constants < 2 && cJSON_IsNumber(k))
            law->k[law->constants++] = k->valuedouble;
    for (int e = 0; e < 3; e++) {
        const double truth = run->source[0].exponent[e].value;
        law->exponent[e] = law->newton || !isfinite(truth) ? newton[e] : truth;
    }
}

/* The source "positions" is one of the run where its laws have it. */
static int find_positions(struct report_run *run, const cJSON *laws)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, laws) {
        const char *source = text_of(item, "source");
        if (source && !strcmp(source, ORR_POSITIONS))
            return report_add_source(run, ORR_POSITIONS, REPORT_POSITIONS);
    }
    return 0;
}

/* Models of other programs, which laws.json marks. */
static int find_answers(struct report_run *run, const cJSON *sources)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, sources) {
        const char *name = text_of(item, "source");
        if (name && orr_is_name(name) && *orr_json_text(item, "answers"))
            TRY(report_add_source(run, name, REPORT_OTHER));
    }
    return 0;
}

static int take_json(struct report_run *run, const char *path, const cJSON *json)
{
    const cJSON *laws = orr_json_get(json, "laws"), *item;
    if (!cJSON_IsArray(laws))
        return ORR_FAIL(ORR_EFORMAT, "%s: expected an array \"laws\"", path);
    TRY(find_answers(run, orr_json_get(json, "sources")));
    TRY(find_positions(run, laws));
    const int count = cJSON_GetArraySize(laws);
    run->law = orr_alloc((size_t)count + 1, sizeof *run->law);
    if (!run->law)
        return ORR_ENOMEM;
    int index = 0;
    cJSON_ArrayForEach (item, laws) {
        const int rc = take_law(run, path, item, index++);
        if (rc)
            return rc;
    }
    cJSON_ArrayForEach (item, orr_json_get(json, "sources"))
        take_source(run, item);
    take_true_law(run, json);
    cJSON_ArrayForEach (item, orr_json_get(json, "samples"))
        take_sample(run, item);
    const cJSON *baselines = orr_json_get(json, "baselines");
    run->baseline_log_r = orr_json_number(baselines, "log_r");
    run->baseline_log_scale_dt_r = orr_json_number(baselines, "log_scale_dt_r");
    run->baseline_constant = orr_json_number(baselines, "constant");
    return 0;
}

int report_front_path(const struct report_run *run, int source, char path[REPORT_PATH])
{
    return orr_path(path, "%s/laws/front_%s_0.csv", run->path, run->source[source].name);
}

int report_read_laws_json(struct report_run *run)
{
    char path[REPORT_PATH];
    TRY(orr_path(path, "%s/laws/laws.json", run->path));
    if (!orr_exists(path))
        return report_to_make(run, path, NULL, "symreg");
    char why[ORR_WHY];
    cJSON *json = NULL;
    int rc = orr_result_read(path, &json, why);
    if (!rc && !json)
        rc = report_to_make(run, path, why, "symreg");
    if (!rc)
        rc = take_json(run, path, json);
    if (!rc)
        rc = report_check_laws(run, path);
    cJSON_Delete(json);
    run->has_laws = !rc && run->law_count > 0;
    if (!rc && !run->has_laws)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: no law of any source of this run", path);
    return rc;
}

int report_read_laws(struct report_run *run)
{
    char path[REPORT_PATH];
    TRY(report_read_laws_json(run));
    for (int s = 0; s < run->source_count; s++)
        if (run->source[s].has_laws) {
            TRY(report_front_path(run, s, path));
            TRY(orr_exists(path) ? 0 : report_to_make(run, path, NULL, "symreg"));
        }
    return 0;
}
