/* table.c - cases of a description as a table: predicted intervals, beside what is known. */
#include "describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Every line that is printed begins with it. */
#define LABEL "| predicted, not measured "

/* How predictions compare with what is known. */
struct score {
    int known, inside;
    double sum, worst; /* of |middle / known - 1| */
};

/* What is being printed. */
struct table {
    const struct predict_options *options;
    struct predict_description d;
    struct score score;
    bool silent; /* for the score alone */
};

/* A case on a machine. */
struct row {
    const cJSON *json;
    const struct predict_machine *machine;
    struct predict_names *names;
    int place; /* in the lists of "each" and of what is known */
    char name[256];
};

/* ---- values of a case */

/* Number i of a list, or the number itself. */
static const cJSON *element(const cJSON *item, int i)
{
    return cJSON_IsArray(item) ? cJSON_GetArrayItem(item, i) : item;
}

static int set_variables(const struct table *t, struct row *r)
{
    const cJSON *each = cJSON_GetObjectItemCaseSensitive(r->json, "each");
    const cJSON *variables = cJSON_GetObjectItemCaseSensitive(r->json, "variables");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(r->json, "name"));
    int length = snprintf(r->name, sizeof r->name, "%s", name ? name : "");
    if (!name || length >= (int)sizeof r->name)
        return ORR_FAIL(ORR_EFORMAT, "%s: a case needs a \"name\" of up to %zu bytes", t->d.path,
                        sizeof r->name - 1);
    for (const cJSON *item = each ? each->child : NULL; item; item = item->next) {
        const cJSON *value = element(item, r->place);
        if (!cJSON_IsNumber(value))
            return ORR_FAIL(ORR_EFORMAT, "%s: %s: \"each\": %s: expected a list of numbers",
                            t->d.path, r->name, item->string);
        TRY(predict_names_set(r->names, item->string, value->valuedouble));
        snprintf(r->name + strlen(r->name), sizeof r->name - strlen(r->name), ", %s %g",
                 item->string, value->valuedouble);
    }
    for (const cJSON *item = variables ? variables->child : NULL; item; item = item->next) {
        double value;
        TRY(predict_value(variables, item->string, r->names, r->name, &value));
        TRY(predict_names_set(r->names, item->string, value));
    }
    return 0;
}

/* Rows of a case: entries of the first list of "each", or 1. */
static int places_of(const cJSON *json)
{
    const cJSON *each = cJSON_GetObjectItemCaseSensitive(json, "each");
    return each && each->child ? cJSON_GetArraySize(each->child) : 1;
}

/* ---- what is known */

/* The value of a row of bench/results, in ms. */
static int measured_ms(const struct table *t, const cJSON *known, const char *row, double *ms)
{
    const char *file = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(known, "file"));
    char path[4096];
    cJSON *json;
    if (!file)
        return ORR_FAIL(ORR_EMISSING, "%s: \"row\" needs \"file\"", t->d.path);
    TRY(predict_description_path(&t->d, file, path));
    TRY(orr_json_read(path, &json));
    const cJSON *item, *rows = cJSON_GetObjectItemCaseSensitive(json, "rows");
    int rc = ORR_FAIL(ORR_EMISSING, "%s: expected a row \"%s\"; found none", path, row);
    cJSON_ArrayForEach (item, rows)
        if (orr_json_says(item, "name", row)) {
            *ms = orr_json_number(item, "value");
            rc = 0;
        }
    if (!rc)
        orr_error_clear();
    cJSON_Delete(json);
    return rc;
}

/* Seconds that are published or were measured; NaN when none are. */
static int known_seconds(const struct table *t, const struct row *r, double *seconds,
                         const char **source)
{
    const cJSON *known = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(r->json, "known"), r->machine->name);
    const cJSON *ms = element(cJSON_GetObjectItemCaseSensitive(known, "ms"), r->place);
    const cJSON *tflops = element(cJSON_GetObjectItemCaseSensitive(known, "tflops"), r->place);
    const cJSON *row = element(cJSON_GetObjectItemCaseSensitive(known, "row"), r->place);
    *seconds = NAN;
    *source = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(known, "source"));
    if (!known)
        return 0;
    if (!*source)
        return ORR_FAIL(ORR_EMISSING, "%s: %s: what is known needs a \"source\"", t->d.path,
                        r->name);
    if (cJSON_IsString(row)) {
        double value = NAN;
        TRY(measured_ms(t, known, row->valuestring, &value));
        *seconds = 1e-3 * value;
    } else if (cJSON_IsNumber(ms) && ms->valuedouble > 0) {
        *seconds = 1e-3 * ms->valuedouble;
    } else if (cJSON_IsNumber(tflops) && tflops->valuedouble > 0) {
        double flop;
        TRY(predict_value(r->json, "flop", r->names, r->name, &flop));
        *seconds = flop / (1e12 * tflops->valuedouble);
    } else if (!cJSON_IsNull(ms) && !cJSON_IsNull(tflops)) {
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: %s: what is known must be \"ms\", \"tflops\" or \"row\", a positive "
                        "number or null for each place",
                        t->d.path, r->name);
    }
    return 0;
}

/* ---- lines */

static bool is_inside(const struct predict_time *time, double known)
{
    return known >= time->low_s && known <= time->high_s;
}

static double off_by(const struct predict_time *time, double known)
{
    return predict_time_middle_s(time) / known - 1;
}

static void add_score(struct score *score, const struct predict_time *time, double known)
{
    const double off = fabs(off_by(time, known));
    score->known++;
    score->inside += is_inside(time, known);
    score->sum += off;
    score->worst = fmax(score->worst, off);
}

static void print_score(const struct table *t)
{
    const char *title = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(t->d.json, "title"));
    if (t->score.known)
        printf(
            "\npredicted, not measured: %s%s%d of %d known figures lie inside; the middle is off "
            "by %.0f%% on average, %.0f%% at most\n",
            title ? title : "", title ? ": " : "", t->score.inside, t->score.known,
            100 * t->score.sum / t->score.known, 100 * t->score.worst);
}

static void print_known(const struct predict_time *time, double known)
{
    printf("| %.4g | %s | %+.0f%% ", 1e3 * known,
           is_inside(time, known) ? "inside"
           : known < time->low_s  ? "below"
                                  : "above",
           100 * off_by(time, known));
}

static void print_time(const char *what, const struct predict_machine *machine,
                       const struct predict_time *time)
{
    printf(LABEL "| %s | %s | %.4g | %.4g | %.4g | %s ", what, machine->name, 1e3 * time->low_s,
           1e3 * time->high_s, 1e3 * predict_time_middle_s(time),
           predict_pipe_name[predict_time_largest(time)]);
}

/* A line of the kernel: its name and its own times. */
static void print_kernel(const char *name, const struct predict_machine *machine,
                         const struct predict_time *time)
{
    char what[128];
    snprintf(what, sizeof what, "- %s", name);
    print_time(what, machine, time);
    printf("| | | |");
    for (int p = 0; p < PREDICT_PIPES; p++)
        if (time->pipe_s[p] > 0)
            printf(" %s %.3g", predict_pipe_name[p], 1e3 * time->pipe_s[p]);
    printf(" |\n");
}

static int print_row(struct table *t, struct row *r)
{
    const char *list = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(r->json, "list"));
    const cJSON *kernel, *kernels = cJSON_GetObjectItemCaseSensitive(
                             cJSON_GetObjectItemCaseSensitive(t->d.json, "lists"), list);
    struct predict_time sum = {0};
    TRY(set_variables(t, r));
    if (!list || cJSON_GetArraySize(kernels) < 1)
        return ORR_FAIL(ORR_EMISSING, "%s: %s: there is no list \"%s\" of kernels", t->d.path,
                        r->name, list ? list : "");
    const int passes = t->options->kernels && !t->silent ? 2 : 1;
    for (int pass = 0; pass < passes; pass++)
        cJSON_ArrayForEach (kernel, kernels) {
            const char *name =
                cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(kernel, "name"));
            struct predict_time one;
            char where[512];
            snprintf(where, sizeof where, "%.160s: %s: %.60s", t->d.path, r->name,
                     name ? name : "?");
            TRY(predict_kernel_time(&one, &t->d, kernel, r->machine, r->names, where));
            if (pass == 0)
                predict_time_add(&sum, &one, 1);
            else
                print_kernel(name ? name : "?", r->machine, &one);
        }
    double known;
    const char *source;
    TRY(known_seconds(t, r, &known, &source));
    if (isfinite(known))
        add_score(&t->score, &sum, known);
    if (t->silent)
        return 0;
    print_time(r->name, r->machine, &sum);
    if (isfinite(known))
        print_known(&sum, known);
    else
        printf("| | | ");
    printf("| %s |\n", source && isfinite(known) ? source : "");
    return 0;
}

static int print_case(struct table *t, const cJSON *json)
{
    const cJSON *name, *machines = cJSON_GetObjectItemCaseSensitive(json, "machines");
    const char *title = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name"));
    if (t->options->only && title && !strstr(title, t->options->only))
        return 0;
    cJSON_ArrayForEach (name, machines) {
        struct row r = {.json = json};
        r.machine = cJSON_IsString(name) ? predict_machine_find(name->valuestring) : NULL;
        if (!r.machine)
            return ORR_FAIL(ORR_EFORMAT, "%s: %s: machines must be A100 or H100; found \"%s\"",
                            t->d.path, title ? title : "?",
                            cJSON_IsString(name) ? name->valuestring : "?");
        const int places = places_of(json);
        for (r.place = 0; r.place < places; r.place++) {
            TRY(predict_names_create(&r.names));
            const int rc = print_row(t, &r);
            predict_names_free(r.names);
            TRY(rc);
        }
    }
    return 0;
}

static int print_cases(struct table *t)
{
    const cJSON *json, *cases = cJSON_GetObjectItemCaseSensitive(t->d.json, "cases");
    if (cJSON_GetArraySize(cases) < 1)
        return ORR_FAIL(ORR_EMISSING, "%s: expected \"cases\", a list", t->d.path);
    if (!t->silent)
        printf(
            "| | what | GPU | largest pipe, ms | sum of pipes, ms | middle, ms | largest | known,"
            " ms | of the interval | middle off by | source of what is known |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|\n");
    cJSON_ArrayForEach (json, cases) {
        TRY(print_case(t, json));
    }
    print_score(t);
    return 0;
}

/* The score of the description that this one names, if any: how good predictions are of kernels
 * that nobody here made. */
static int print_beside(const struct table *t)
{
    const struct predict_options all = {0};
    struct table beside = {.options = &all, .silent = true};
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(t->d.json, "beside"));
    char path[4096];
    if (!name)
        return 0;
    TRY(predict_description_path(&t->d, name, path));
    TRY(predict_description_open(&beside.d, path));
    const int rc = print_cases(&beside);
    predict_description_close(&beside.d);
    return rc;
}

int predict_table(const struct predict_options *options)
{
    struct table t = {.options = options};
    TRY(predict_description_open(&t.d, options->path));
    int rc = print_cases(&t);
    if (!rc)
        rc = print_beside(&t);
    predict_description_close(&t.d);
    return rc;
}
