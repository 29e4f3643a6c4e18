/* read_probes.c - what probes measured of the run's models and of models of other programs. The
 * page shows it where answers of such a model have results (docs/exchange.md). */
#include "report.h"
#include "stage/rows.h"

#include <math.h>
#include <string.h>

#include <xxhash.h>

#include "base/cjson.h"

/* The folder of a source's results: of answers, or of a model of the run. */
static int folder_of(const char *run, const struct orr_answers *answers, const char *name,
                     char folder[REPORT_PATH])
{
    const char *of = orr_answers_folder(answers, name);
    return of ? orr_path(folder, "%s/probe", of) : orr_path(folder, "%s/%s/probe", run, name);
}

static int is_there(const char *folder, const char *probe, char path[REPORT_PATH], bool *there)
{
    TRY(orr_path(path, "%s/%s.json", folder, probe));
    *there = orr_exists(path);
    return 0;
}

/* Whether any answers have results. */
static int any_results(const struct orr_answers *answers, bool *any)
{
    char folder[REPORT_PATH], path[REPORT_PATH];
    *any = false;
    for (int i = 0; answers && i < answers->count; i++) {
        TRY(folder_of("", answers, answers->name[i], folder));
        for (const char *const *probe = orr_measured_probes; *probe && !*any; probe++)
            TRY(is_there(folder, *probe, path, any));
    }
    return 0;
}

/* The next-state errors of a model of the run, which its training has measured. */
static int take_trained(const struct report_run *run, struct report_source *source)
{
    struct orr_measures *m = &source->measures;
    char path[REPORT_PATH];
    if (m->count > 0 && !strcmp(m->at[0].probe, "evaluate"))
        return 0;
    TRY(orr_path(path, "%s/%s/pretrain/evaluation.json", run->path, source->name));
    if (source->role != REPORT_ATTENTION || !orr_exists(path) || m->count == ORR_MEASURES)
        return 0;
    return orr_measures_evaluation(path, m);
}

/* All rows of the probes whose curves are drawn. */
static int take_rows(struct report_source *source, const char *folder)
{
    static const char *const drawn[] = {"rollout", "labels"};
    char path[REPORT_PATH];
    bool there;
    for (size_t k = 0; k < sizeof drawn / sizeof *drawn; k++) {
        cJSON *json = NULL;
        TRY(is_there(folder, drawn[k], path, &there));
        if (there)
            TRY(orr_rows_read(path, &source->probed, &json));
        cJSON_Delete(json);
    }
    return 0;
}

int report_read_probes(struct report_run *run, const struct orr_answers *answers)
{
    char folder[REPORT_PATH];
    bool any;
    TRY(any_results(answers, &any));
    for (int s = 0; s < run->source_count && any; s++) {
        struct report_source *source = &run->source[s];
        if (!report_is_model(source) ||
            (source->role == REPORT_OTHER && !orr_answers_folder(answers, source->name)))
            continue;
        TRY(folder_of(run->path, answers, source->name, folder));
        TRY(orr_measures_read(folder, &source->measures));
        TRY(take_trained(run, source));
        TRY(take_rows(source, folder));
    }
    return 0;
}

bool report_has_probes(const struct report_run *run)
{
    for (int s = 0; s < run->source_count; s++)
        if (run->source[s].measures.count)
            return true;
    return false;
}

static int add_content(const char *path, uint64_t *content)
{
    uint64_t of[2] = {*content, 0}, bytes;
    if (!orr_exists(path))
        return 0;
    TRY(orr_file_checksum(path, &of[1], &bytes));
    *content = XXH64(of, sizeof of, 0);
    return 0;
}

int report_probes_content(const char *run, const struct orr_settings *settings,
                          const struct orr_answers *answers, uint64_t *content)
{
    char folder[REPORT_PATH], path[REPORT_PATH];
    struct orr_sources sources;
    bool any, there;
    *content = 0;
    TRY(any_results(answers, &any));
    orr_sources_list(settings, "", &sources);
    for (int i = 0; i < answers->count; i++)
        snprintf(sources.name[sources.count++], ORR_NAME, "%s", answers->name[i]);
    for (int i = 0; i < sources.count && any; i++) {
        TRY(folder_of(run, answers, sources.name[i], folder));
        for (const char *const *probe = orr_measured_probes; *probe; probe++) {
            TRY(is_there(folder, *probe, path, &there));
            TRY(add_content(path, content));
        }
        TRY(orr_path(path, "%s/%s/pretrain/evaluation.json", run, sources.name[i]));
        TRY(add_content(path, content));
    }
    return 0;
}
