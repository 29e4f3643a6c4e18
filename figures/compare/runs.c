/* runs.c - finds the runs of a folder, and which of them are seeds of the same settings. */
#include "runs.h"

#include "stage/provenance.h"
#include "figures/origin.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

enum { DEEPEST = 3 };

/* ------------------------------------------------------------------------------ one run */

/* To a k of the law itself, which has two where labels are of both sides of a jump. */
static bool is_close(const struct report_true_law *law, double k)
{
    bool close = false;
    for (int i = 0; i < law->constants; i++)
        close |= fabs(k / law->k[i] - 1) <= RUNS_CLOSE;
    return close;
}

static void take_source(const struct report_run *run, int s, struct runs_run *into)
{
    const struct report_source *from = &run->source[s];
    struct runs_source *source = &into->source[into->source_count++];
    int last = -1, constants = 0;
    double k = 0, loss = 0;
    double *figure = source->figure;
    *source = (struct runs_source){.is_model = from->role == REPORT_ATTENTION};
    for (int f = 0; f < RUNS_FIGURES; f++)
        figure[f] = NAN;
    if (from->role == REPORT_UNTRAINED)
        snprintf(source->title, sizeof source->title, "%s (%s)", from->name,
                 orr_source_attention(&run->preset, from->name));
    else
        snprintf(source->title, sizeof source->title, "%s", from->name);
    for (int e = 0; e < 3; e++)
        figure[RUNS_EXPONENT + e] = from->exponent[e].value;
    for (size_t i = 0; i < run->law_count; i++) {
        const struct report_law *law = &run->law[i];
        if (law->source != s || strcmp(law->rule, into->rule) != 0 || law->sample == last)
            continue;
        last = law->sample;
        source->samples++;
        source->selected += law->selected_true;
        source->on_front += law->on_front;
        loss += law->loss;
        if (law->selected_true && isfinite(law->constant)) {
            k += law->constant;
            constants++;
            source->k_close += is_close(&run->true_law, law->constant);
        }
    }
    figure[RUNS_K] = constants ? k / constants : (double)NAN;
    figure[RUNS_K_DROPPED] = from->k_dropped_mean;
    figure[RUNS_R2] = from->r2_log;
    figure[RUNS_LOSS] = source->samples ? loss / source->samples : (double)NAN;
    report_runs_shares(source);
}

/* What one run says. */
static int read_run(const char *path, struct runs_run *into)
{
    static struct report_run run;
    int rc = report_read_settings(&run, path, "");
    if (!rc && !orr_has_task(&run.preset, false))
        rc = ORR_FAIL(ORR_EINVAL, "%s: its settings have no force magnitudes", path);
    if (!rc)
        rc = report_read_laws_json(&run);
    if (!rc)
        rc = report_origin_laws(path, &run.preset);
    if (!rc) {
        into->preset = run.preset;
        into->true_law = run.true_law;
        snprintf(into->rule, sizeof into->rule, "%s", report_headline_rule(&run));
        for (int s = 0; s < run.source_count; s++)
            if (run.source[s].has_laws)
                take_source(&run, s, into);
        for (int s = 0; s < into->source_count && !rc; s++)
            if (into->source[s].is_model)
                rc = report_runs_trained(path, into->source[s].title, into);
    }
    report_free(&run);
    return rc;
}

/* The same of a file of its results. */
static int read_record(const char *path, struct runs_run *into)
{
    cJSON *json = NULL;
    int rc = orr_json_read(path, &json);
    if (!rc)
        rc = report_runs_take_record(json, path, into);
    if (rc)
        cJSON_Delete(json);
    else
        into->record = json;
    return rc;
}

static bool is_file(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISREG(info.st_mode);
}

/* Adds the run, or the reason why not. */
static int add_run(struct runs *runs, const char *path)
{
    const char *below = path + (*runs->folder ? strlen(runs->folder) + 1 : 0);
    struct runs_run *run = realloc(runs->run, (runs->count + 1) * sizeof *run);
    if (run)
        runs->run = run;
    struct runs_left_out *left =
        realloc(runs->left_out, (runs->left_out_count + 1) * sizeof *runs->left_out);
    if (left)
        runs->left_out = left;
    if (!run || !left)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", runs->folder);
    run += runs->count;
    left += runs->left_out_count;
    memset(run, 0, sizeof *run);
    snprintf(run->path, sizeof run->path, "%s", below);
    const int rc = is_file(path) ? read_record(path, run) : read_run(path, run);
    if (!rc)
        runs->count++;
    if (!rc || rc == ORR_ENOMEM)
        return rc;
    snprintf(left->path, sizeof left->path, "%s", below);
    snprintf(left->why, sizeof left->why, "%s", orr_error());
    orr_one_line(left->path); /* for a list */
    orr_error_clear();
    runs->left_out_count++;
    return 0;
}

/* ---------------------------------------------------------------------------- the folder */

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Whether it is a file of a run's results, or may have been one: what cannot be read is named.
 * Files of other formats are passed over. */
static bool is_record(const char *path)
{
    static const char cell[] = "orrery-cell-"; /* of any version */
    const size_t length = strlen(path);
    cJSON *json = NULL;
    if (length < 5 || strcmp(path + length - 5, ".json") != 0 || !is_file(path))
        return false;
    const bool damaged = orr_json_read(path, &json) != 0;
    orr_error_clear();
    const char *format = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "format"));
    const bool is = damaged || (format && !strncmp(format, cell, sizeof cell - 1));
    cJSON_Delete(json);
    return is;
}

/* A folder with settings or laws is a run, and has no others inside. */
static int look_into(struct runs *runs, const char *path, int depth)
{
    struct dirent **entry = NULL;
    char inside[REPORT_PATH];
    int rc = 0;
    const int count = scandir(path, &entry, is_visible, alphasort);
    if (count < 0)
        return ORR_FAIL(ORR_EMISSING, "%s: not a folder that can be read", path);
    bool is_run = false;
    for (int i = 0; i < count; i++)
        is_run |= !strcmp(entry[i]->d_name, "preset.json") || !strcmp(entry[i]->d_name, "laws");
    if (is_run && depth > 0)
        rc = add_run(runs, path);
    for (int i = 0; i < count && !is_run && depth < DEEPEST && !rc; i++) {
        struct stat info;
        rc = orr_path(inside, "%s/%s", path, entry[i]->d_name);
        if (!rc && !stat(inside, &info) && S_ISDIR(info.st_mode))
            rc = look_into(runs, inside, depth + 1);
        else if (!rc && is_record(inside))
            rc = add_run(runs, inside);
    }
    for (int i = 0; i < count; i++)
        free(entry[i]);
    free(entry);
    return rc;
}

/* ------------------------------------------------------------------------------ settings */

/* "" where the setting has no effect beside the others of the run. */
static void value_of(const struct orr_settings *preset, const char *key, char text[ORR_SETTING])
{
    char why[256];
    orr_settings_value(preset, key, text);
    if (orr_settings_unused(preset, key, why))
        text[0] = '\0';
}

/* Adds "key=value" to the labels, where runs differ in the setting. */
static int label_by(struct runs *runs, const char *key)
{
    char first[ORR_SETTING], text[ORR_SETTING];
    bool differs = false;
    value_of(&runs->run[0].preset, key, first);
    for (size_t i = 1; i < runs->count && !differs; i++) {
        value_of(&runs->run[i].preset, key, text);
        differs = strcmp(first, text) != 0;
    }
    for (size_t i = 0; i < runs->count && differs; i++) {
        struct runs_run *run = &runs->run[i];
        const size_t used = strlen(run->label);
        value_of(&run->preset, key, text);
        if (!*text)
            continue;
        if (snprintf(run->label + used, RUNS_LABEL - used, "%s%s=%s", used ? " " : "", key, text) >=
            (int)(RUNS_LABEL - used))
            return ORR_FAIL(ORR_EINVAL, "%s: differs from others in more settings than fit a row",
                            run->path);
    }
    return 0;
}

/* Whether both have a model of one attention. */
static bool share_a_model(const struct runs_run *a, const struct runs_run *b)
{
    for (int s = 0; s < a->source_count; s++)
        if (a->source[s].is_model && report_runs_find(b, a->source[s].title))
            return true;
    return false;
}

static int group(struct runs *runs)
{
    const char *key;
    for (int k = 0; (key = orr_settings_key(k)) != NULL; k++)
        if (strcmp(key, "seed") != 0 && orr_made_from(key)) /* seeds are of one row */
            TRY(label_by(runs, key));
    for (size_t i = 0; i < runs->count; i++) {
        struct runs_run *run = &runs->run[i];
        run->group = -1;
        for (size_t k = 0; k < i; k++) {
            const struct runs_run *other = &runs->run[k];
            if (strcmp(run->label, other->label) != 0)
                continue;
            run->group = other->group;
            if (run->preset.seed == other->preset.seed && share_a_model(run, other))
                return ORR_FAIL(ORR_EINVAL, "%s%s%s: of the same settings and seed (%llu) as %s",
                                runs->folder, *runs->folder ? "/" : "", run->path,
                                (unsigned long long)run->preset.seed, other->path);
        }
        if (run->group < 0)
            run->group = runs->groups++;
    }
    return 0;
}

/* ---------------------------------------------------------------------------- everything */

static int none_complete(const struct runs *runs)
{
    return ORR_FAIL(ORR_EMISSING, "%s%snone of %zu runs is complete; %s: %s", runs->folder,
                    *runs->folder ? ": " : "", runs->left_out_count, runs->left_out[0].path,
                    runs->left_out[0].why);
}

int report_runs_read(struct runs *runs, const char *folder)
{
    *runs = (struct runs){.folder = folder};
    TRY(look_into(runs, folder, 0));
    if (runs->count == 0)
        return runs->left_out_count
                   ? none_complete(runs)
                   : ORR_FAIL(ORR_EMISSING, "%s: no run in it, up to %d folders deep", folder,
                              DEEPEST);
    return group(runs);
}

int report_runs_read_these(struct runs *runs, const char *const *path, int n)
{
    *runs = (struct runs){.folder = ""};
    for (int i = 0; i < n; i++)
        TRY(add_run(runs, path[i]));
    if (runs->count == 0)
        return runs->left_out_count
                   ? none_complete(runs)
                   : ORR_FAIL(ORR_EMISSING, "expected run directories, found none");
    return group(runs);
}

void report_runs_free(struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        cJSON_Delete(runs->run[i].record);
    free(runs->run);
    free(runs->left_out);
    *runs = (struct runs){0};
}

/* ------------------------------------------------------------------------------- figures */

const struct runs_name report_runs_name[RUNS_FIGURES] = {
    [RUNS_EXPONENT] = {"r", NULL},
    [RUNS_EXPONENT + 1] = {"m1", NULL},
    [RUNS_EXPONENT + 2] = {"m2", NULL},
    [RUNS_SHARE] = {"selected_share", NULL},
    [RUNS_K] = {"k", "k"},
    [RUNS_K_CLOSE] = {"k_close_share", NULL},
    [RUNS_K_DROPPED] = {"k_dropped_m2", "k_dropped_m2"},
    [RUNS_R2] = {"r2_log", "r2_log"},
    [RUNS_LOSS] = {"loss", "loss"},
    [RUNS_NEXT_STATE] = {"next_state", "next_state"},
    [RUNS_BEYOND] = {"next_state_beyond", "beyond"},
    [RUNS_STEP_MS] = {"step_ms", "step_ms"},
    [RUNS_MEMORY_MB] = {"memory_mb", "memory_mb"}};

void report_runs_shares(struct runs_source *source)
{
    const double samples = source->samples ? source->samples : (double)NAN;
    source->figure[RUNS_SHARE] = source->selected / samples;
    source->figure[RUNS_K_CLOSE] = source->k_close / samples;
}

const struct runs_source *report_runs_find(const struct runs_run *run, const char *title)
{
    for (int s = 0; s < run->source_count; s++)
        if (!strcmp(run->source[s].title, title))
            return &run->source[s];
    return NULL;
}

double report_runs_figure(const struct runs_run *run, const char *title, int figure)
{
    const struct runs_source *source = report_runs_find(run, title);
    return source ? source->figure[figure] : (double)NAN;
}
