/* lineage_answers.c - models of other programs as sources of forces: folders of answers, named or
 * recorded by the laws that were made from them (docs/exchange.md). */
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "provenance.h"

#include <string.h>

#include "base/cjson.h"

static const char what_answers[] = "answers";

int orr_answers_name(const char *folder, char name[ORR_NAME])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+";
    size_t end = strlen(folder);
    while (end > 1 && folder[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && folder[begin - 1] != '/')
        begin--;
    if (end == begin || strspn(folder + begin, plain) < end - begin || end - begin >= ORR_NAME)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: the last part of the path names the model: expected 1 to %d letters, "
                        "digits, _, - and +",
                        folder, ORR_NAME - 1);
    snprintf(name, ORR_NAME, "%.*s", (int)(end - begin), folder + begin);
    return 0;
}

/* Adds a folder, whose name may be that of no other source. */
static int add_folder(struct orr_answers *answers, const char *folder,
                      const struct orr_settings *settings)
{
    const int n = answers->count;
    struct orr_sources sources;
    if (n == ORR_ANSWERS)
        return ORR_FAIL(ORR_EUSAGE, "--answers: expected at most %d folders", ORR_ANSWERS);
    TRY(orr_path(answers->folder[n], "%s", folder));
    TRY(orr_answers_name(folder, answers->name[n]));
    orr_sources_list(settings, "", &sources);
    bool taken = !strcmp(answers->name[n], ORR_POSITIONS);
    for (int i = 0; i < sources.count; i++)
        taken |= !strcmp(answers->name[n], sources.name[i]);
    for (int i = 0; i < n; i++)
        taken |= !strcmp(answers->name[n], answers->name[i]);
    if (taken)
        return ORR_FAIL(ORR_EUSAGE,
                        "--answers: %s: there is a source \"%s\" already; name the folder "
                        "otherwise",
                        folder, answers->name[n]);
    if (!orr_exists(folder))
        return ORR_FAIL(ORR_EMISSING, "--answers: %s: no such folder", folder);
    answers->count++;
    return 0;
}

int orr_answers_parse(struct orr_answers *answers, const char *list,
                      const struct orr_settings *settings)
{
    char folder[4096];
    answers->count = 0;
    while (*list) {
        const size_t bytes = strcspn(list, ",");
        if (!bytes || (list[bytes] && !list[bytes + 1]))
            return ORR_FAIL(ORR_EUSAGE, "--answers: expected folders, DIR,DIR, found \"%s\"", list);
        TRY(orr_path(folder, "%.*s", (int)bytes, list));
        TRY(add_folder(answers, folder, settings));
        list += bytes + (list[bytes] == ',');
    }
    return 0;
}

const char *orr_answers_folder(const struct orr_answers *answers, const char *name)
{
    for (int i = 0; answers && i < answers->count; i++)
        if (!strcmp(answers->name[i], name))
            return answers->folder[i];
    return NULL;
}

int orr_answers_table(const struct orr_answers *answers, const char *name, bool vector,
                      char path[4096], bool *there)
{
    const char *folder = orr_answers_folder(answers, name);
    *there = false;
    if (!folder)
        return 0;
    TRY(orr_path(path, "%s/forces_%s.csv", folder, vector ? "vector" : "magnitude"));
    *there = orr_exists(path);
    return 0;
}

bool orr_lineage_is_answers(const struct orr_lineage *lineage, const char *source)
{
    return orr_answers_folder(lineage->answers, source) ||
           cJSON_HasObjectItem(lineage->recorded_answers, source);
}

int orr_lineage_answers_table(struct orr_lineage *lineage, const char *source, bool vector,
                              char digest[ORR_DIGEST], bool *there)
{
    char path[4096];
    uint64_t sum, bytes;
    const char *recorded = orr_json_text(lineage->recorded_answers, source);
    TRY(orr_answers_table(lineage->answers, source, vector, path, there));
    if (*there) {
        TRY(orr_file_checksum(path, &sum, &bytes));
        return orr_records_add(&lineage->records, orr_record_external(what_answers, sum, path),
                               digest);
    }
    *there = !vector && *recorded;
    if (*there)
        snprintf(digest, ORR_DIGEST, "%s", recorded);
    return 0;
}

int orr_lineage_adopt_answers(struct orr_lineage *lineage, const cJSON *made, const char *path,
                              struct orr_sources *sources)
{
    char digest[ORR_DIGEST];
    const cJSON *record = orr_made_record(made, orr_made_digest(made)), *input;
    if (!made)
        return 0;
    TRY(orr_records_import(&lineage->records, made, path, digest));
    if (!lineage->recorded_answers)
        lineage->recorded_answers = cJSON_CreateObject();
    cJSON_ArrayForEach (input, orr_json_get(record, "inputs")) {
        const cJSON *of = cJSON_IsString(input) ? orr_made_record(made, input->valuestring) : NULL;
        bool listed = false;
        if (!orr_json_says(of, "what", what_answers) || strlen(input->string) >= ORR_NAME)
            continue;
        for (int i = 0; i < sources->count; i++)
            listed |= !strcmp(sources->name[i], input->string);
        if (listed || sources->count == (int)(sizeof sources->name / sizeof *sources->name))
            continue;
        snprintf(sources->name[sources->count++], ORR_NAME, "%s", input->string);
        cJSON_AddStringToObject(lineage->recorded_answers, input->string, input->valuestring);
    }
    return 0;
}
