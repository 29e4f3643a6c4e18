/* origin.c - what a report is made from: checks whether laws and force vectors match the run's
 * settings, and whether an existing page was made from them. */
#include "origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"

/* Reads "made" of a JSON file; NULL when there is none. ORR_ENOMEM. */
static int made_of(const char *path, cJSON **made)
{
    cJSON *json = NULL;
    *made = NULL;
    const int rc = orr_exists(path) ? orr_json_read(path, &json) : 0;
    if (rc == ORR_ENOMEM)
        return rc;
    orr_error_clear(); /* the error is reported when the file is read */
    *made = cJSON_DetachItemFromObjectCaseSensitive(json, "made");
    cJSON_Delete(json);
    return 0;
}

/* Restricts the sources to those of the run's laws, if these come from a narrower search. */
static void sources_of_laws(const cJSON *made, struct orr_sources *sources)
{
    const cJSON *record = orr_made_record(made, orr_made_digest(made)), *input;
    struct orr_sources found = {0};
    cJSON_ArrayForEach (input, orr_json_get(record, "inputs"))
        if (found.count < ORR_SOURCES)
            snprintf(found.name[found.count++], ORR_NAME, "%s", input->string);
    for (int i = 0; i < sources->count; i++) {
        bool there = false;
        for (int k = 0; k < found.count; k++)
            there |= !strcmp(found.name[k], sources->name[i]);
        if (!there)
            return; /* a requested source is missing: laws must be made for all */
    }
    *sources = found;
}

/* Laws of positions, too, are expected to be so: whether a run has the source is for bin/symreg. */
static void add_positions(const cJSON *made, struct orr_sources *sources)
{
    for (int i = 0; i < sources->count; i++)
        if (!strcmp(sources->name[i], ORR_POSITIONS))
            return;
    if (orr_made_from_positions(made))
        snprintf(sources->name[sources->count++], ORR_NAME, ORR_POSITIONS);
}

/* Accepts the starting checkpoints of models that an artefact records. */
static int accept_starts(struct report_origin *origin, const char *run)
{
    char path[REPORT_PATH], why[ORR_WHY];
    int rc = 0;
    for (int i = 0; i < origin->sources.count && !rc; i++) {
        const char *source = origin->sources.name[i];
        cJSON *made = NULL;
        rc = orr_path(path, "%s/%s/finetune/forces_vector.csv", run, source);
        if (!rc)
            rc = orr_sidecar_read(path, &made, why);
        if (!rc)
            rc = orr_lineage_take_starts(&origin->lineage, made, path);
        cJSON_Delete(made);
    }
    return rc ? rc : orr_lineage_take_starts(&origin->lineage, origin->laws, "laws.json");
}

/* Results of probes are identified by their content alone. */
static int take_probes(struct report_origin *origin, const struct orr_cli *cli,
                       const struct orr_answers *answers, char digest[ORR_DIGEST])
{
    uint64_t content;
    TRY(report_probes_content(cli->run, &cli->settings, answers, &content));
    return content ? orr_records_add(&origin->lineage.records,
                                     orr_record_external("probes", content, "results of probes"),
                                     digest)
                   : 0;
}

int report_origin_open(struct report_origin *origin, const struct orr_cli *cli, const char *orbits,
                       const struct orr_answers *answers)
{
    char probes_digest[ORR_DIGEST] = "";
    const struct orr_settings *settings = &cli->settings;
    struct orr_sources of_laws;
    char path[REPORT_PATH];
    memset(origin, 0, sizeof *origin);
    orr_sources_list(settings, cli->attention, &origin->sources);
    for (int i = 0; i < answers->count; i++)
        snprintf(origin->sources.name[origin->sources.count++], ORR_NAME, "%s", answers->name[i]);
    int rc = orr_lineage_open(&origin->lineage, settings, orbits);
    origin->lineage.answers = answers;
    for (int vector = 0; vector < 2 && !rc; vector++)
        rc = orr_lineage_find_external_tables(&origin->lineage, cli->run, cli->attention, vector);
    if (!rc)
        rc = orr_path(path, "%s/laws/laws.json", cli->run);
    if (!rc)
        rc = made_of(path, &origin->laws);
    if (!rc)
        rc = accept_starts(origin, cli->run);
    of_laws = origin->sources;
    if (!rc)
        rc = orr_lineage_adopt_answers(&origin->lineage, origin->laws, path, &of_laws);
    sources_of_laws(origin->laws, &of_laws);
    add_positions(origin->laws, &of_laws);
    if (!rc && orr_has_task(settings, false))
        rc = orr_lineage_laws(&origin->lineage, &of_laws, origin->laws_digest);
    rc = rc ? rc : take_probes(origin, cli, answers, probes_digest);
    return rc ? rc
              : orr_lineage_report(&origin->lineage, &origin->sources, origin->laws_digest,
                                   probes_digest, origin->digest);
}

void report_origin_close(struct report_origin *origin)
{
    orr_lineage_close(&origin->lineage);
    cJSON_Delete(origin->laws);
}

static int check_laws(const struct report_origin *origin, const char *run)
{
    char path[REPORT_PATH], folder[REPORT_PATH], why[ORR_WHY] = "";
    cJSON *json = NULL;
    TRY(orr_path(folder, "%s/laws", run));
    TRY(orr_path(path, "%s/laws.json", folder));
    if (!*origin->laws_digest || !orr_exists(path)) /* a missing file is reported when it is read */
        return 0;
    TRY(orr_result_read(path, &json, why)); /* reports why an existing file cannot be read */
    const bool whole =
        json && orr_json_is_whole(json, folder, &origin->lineage.records, origin->laws_digest, why);
    cJSON_Delete(json);
    return whole ? 0
                 : orr_refuse_input(path, why, "symreg",
                                    ", or name its data sets with --orbits, its variants with "
                                    "--attention, models of other programs with --answers");
}

/* Leaves out the variants that the settings name but the run does not have, as after --attention
 * NAME: neither a folder nor an input of its laws. */
static void leave_out_unmade(const char *run, const cJSON *made, struct orr_sources *sources)
{
    const cJSON *inputs = orr_json_get(orr_made_record(made, orr_made_digest(made)), "inputs");
    char folder[REPORT_PATH];
    int count = 0;
    for (int i = 0; i < sources->count; i++) {
        const char *name = sources->name[i];
        const bool is_variant =
            strcmp(name, "truth") && strcmp(name, "oracle") && strcmp(name, "untrained");
        if (!is_variant || cJSON_HasObjectItem(inputs, name) ||
            orr_path(folder, "%s/%s", run, name) || orr_exists(folder))
            memmove(sources->name[count++], name, ORR_NAME);
    }
    sources->count = count;
}

static int judge_laws(struct orr_lineage *lineage, const char *run, const char *path,
                      const cJSON *made)
{
    struct orr_sources sources;
    char why[ORR_WHY] = "", digest[ORR_DIGEST];
    TRY(orr_lineage_find_external_tables(lineage, run, "", false));
    TRY(orr_lineage_take_starts(lineage, made, path));
    orr_sources_list(lineage->settings, "", &sources);
    leave_out_unmade(run, made, &sources);
    TRY(orr_lineage_adopt_answers(lineage, made, path, &sources));
    add_positions(made, &sources);
    TRY(orr_lineage_laws(lineage, &sources, digest));
    return orr_made_same(&lineage->records, digest, made, why)
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s: not what %s/preset.json makes: %s", path, run, why);
}

int report_origin_laws(const char *run, const struct orr_settings *settings)
{
    char path[REPORT_PATH];
    cJSON *made = NULL;
    TRY(orr_path(path, "%s/laws/laws.json", run));
    struct orr_lineage *lineage = orr_alloc(1, sizeof *lineage);
    int rc = lineage ? orr_lineage_open(lineage, settings, "") : ORR_ENOMEM;
    if (!rc) {
        rc = made_of(path, &made);
        rc = rc ? rc : judge_laws(lineage, run, path, made);
        orr_lineage_close(lineage);
    }
    cJSON_Delete(made);
    free(lineage);
    return rc;
}

/* Checks the evaluation on planet runs, of which the page shows a number. It may be missing if the
 * vectors come from another run. */
static int check_evaluation(struct report_origin *origin, const char *run, const char *source)
{
    char path[REPORT_PATH], why[ORR_WHY] = "", digest[ORR_DIGEST], command[ORR_COMMAND];
    cJSON *json = NULL;
    if (!orr_report_shows_evaluation(origin->lineage.settings, source) || !orr_exists(run) ||
        orr_lineage_is_answers(&origin->lineage, source))
        return 0; /* not a run is reported when it is read */
    int rc = orr_path(path, "%s/%s/pretrain_planets/evaluation.json", run, source);
    if (!rc)
        rc = orr_lineage_evaluation(&origin->lineage, source, true, digest);
    if (rc || (!orr_exists(path) && *origin->lineage.external_tables[1]))
        return rc;
    if (orr_exists(path) && orr_result_read(path, &json, why)) {
        snprintf(why, sizeof why, "it cannot be read");
        orr_error_clear();
    }
    const cJSON *files = orr_json_get(json, "files");
    bool same =
        json && orr_made_same(&origin->lineage.records, digest, orr_json_get(json, "made"), why);
    if (same && files) { /* the rollouts stored next to the evaluation */
        char folder[REPORT_PATH];
        rc = orr_path(folder, "%s/%s/pretrain_planets", run, source);
        same = !rc && orr_files_same(folder, files, why);
    }
    cJSON_Delete(json);
    if (same || rc)
        return rc;
    orr_command_of_run("pretrain", command);
    return *why ? orr_refuse_input(path, why, "pretrain", "")
                : ORR_FAIL(ORR_EMISSING, "%s: missing; make it with: %s", path, command);
}

/* Checks that existing vectors match the settings and are unchanged. */
static int check_vectors(struct orr_lineage *lineage, const struct orr_sources *sources,
                         const char *run)
{
    int rc = 0;
    for (int i = 0; i < sources->count && !rc && !*lineage->external_tables[1]; i++) {
        const char *source = sources->name[i];
        char path[REPORT_PATH], why[ORR_WHY], digest[ORR_DIGEST];
        cJSON *made = NULL;
        if (!orr_has_table(lineage->settings, source, true) ||
            orr_lineage_is_answers(lineage, source))
            continue;
        rc = orr_path(path, "%s/%s/finetune/forces_vector.csv", run, source);
        if (rc || !orr_exists(path))
            continue;
        rc = orr_lineage_table(lineage, source, true, digest);
        if (!rc)
            rc = orr_sidecar_read(path, &made, why);
        if (!rc && (!made || !orr_made_same(&lineage->records, digest, made, why)))
            rc = orr_refuse_input(path, why, "finetune", ", or name its data sets with --orbits");
        cJSON_Delete(made);
    }
    return rc;
}

int report_origin_vectors(const char *run, const struct orr_settings *settings)
{
    struct orr_sources sources;
    struct orr_lineage *lineage = orr_alloc(1, sizeof *lineage);
    int rc = lineage ? orr_lineage_open(lineage, settings, "") : ORR_ENOMEM;
    if (!rc) {
        rc = orr_lineage_find_external_tables(lineage, run, "", true);
        orr_sources_list(settings, "", &sources);
        rc = rc ? rc : check_vectors(lineage, &sources, run);
        orr_lineage_close(lineage);
    }
    free(lineage);
    return rc;
}

int report_origin_check(struct report_origin *origin, const char *run)
{
    TRY(check_laws(origin, run));
    for (int i = 0; i < origin->sources.count; i++)
        TRY(check_evaluation(origin, run, origin->sources.name[i]));
    return check_vectors(&origin->lineage, &origin->sources, run);
}

int report_origin_status(const struct report_origin *origin, const char *out,
                         struct orr_artefact *page)
{
    TRY(orr_path(page->path, "%s/report.made.json", out));
    TRY(orr_json_status(out, &origin->lineage.records, origin->digest, false, page));
    return orr_path(page->path, "%s/report.html", out);
}

int report_origin_write(const struct report_origin *origin, const char *out,
                        const struct report_pictures *pictures, bool lab)
{
    char path[REPORT_PATH], name[128];
    cJSON *json = cJSON_CreateObject();
    int rc = orr_path(path, "%s/report.made.json", out);
    cJSON_AddItemToObject(json, "made", orr_records_made(&origin->lineage.records, origin->digest));
    cJSON *files = cJSON_AddObjectToObject(json, "files");
    if (!rc)
        rc = orr_files_add(files, out, "report.html");
    if (!rc && lab)
        rc = orr_files_add(files, out, "lab.html");
    for (size_t i = 0; i < 2 * pictures->count && !rc; i++) {
        snprintf(name, sizeof name, "figures/%s.%s", pictures->at[i / 2].name,
                 i % 2 ? "svg" : "png");
        rc = orr_files_add(files, out, name);
    }
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}
