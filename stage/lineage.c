/* lineage.c - the artefacts of a run, each with the record that its settings require. */
#include "base/error.h"
#include "base/json.h"
#include "base/safetensors.h"
#include "provenance.h"

#include <string.h>

#include "base/cjson.h"

/* ------------------------------------------------------------------------------- the lineage */

int orr_lineage_open(struct orr_lineage *lineage, const struct orr_settings *settings,
                     const char *orbits)
{
    memset(lineage, 0, sizeof *lineage);
    lineage->settings = settings;
    lineage->orbits = orbits && *orbits ? orbits : settings->tracks;
    return orr_records_create(&lineage->records);
}

void orr_lineage_close(struct orr_lineage *lineage)
{
    orr_records_free(&lineage->records);
    cJSON_Delete(lineage->recorded_answers);
    lineage->recorded_answers = NULL;
}

int orr_lineage_take_text(struct orr_lineage *lineage, uint64_t content)
{
    cJSON *record = orr_record_external("text", content, lineage->settings->text.train);
    return orr_records_add(&lineage->records, record, lineage->text);
}

int orr_lineage_checkpoint(struct orr_lineage *lineage, const char *path, char digest[ORR_DIGEST])
{
    struct orr_safetensors *file = NULL;
    char below[ORR_DIGEST] = "";
    uint64_t sum, bytes;
    const char *slash = strrchr(path, '/');
    TRY(orr_safetensors_open(path, &file));
    const char *text = orr_safetensors_metadata(file, "made");
    cJSON *made = text ? cJSON_Parse(text) : NULL;
    int rc = made ? orr_records_import(&lineage->records, made, path, below) : 0;
    cJSON_Delete(made);
    orr_safetensors_close(file);
    if (!rc)
        rc = orr_file_checksum(path, &sum, &bytes);
    if (rc)
        return rc;
    cJSON *record = orr_record_external("checkpoint", sum, slash ? slash + 1 : path);
    if (*below)
        orr_record_input(record, "made", below);
    return orr_records_add(&lineage->records, record, digest);
}

static int attention_index(const struct orr_settings *settings, const char *attention)
{
    for (int i = 0; i < settings->attention.count; i++)
        if (!strcmp(settings->attention.item[i], attention))
            return i;
    return -1;
}

char *orr_lineage_earlier_lengths(struct orr_lineage *lineage, enum orr_kind kind,
                                  const char *source)
{
    const int place = kind == ORR_KIND_PRETRAIN           ? 0
                      : kind == ORR_KIND_PRETRAIN_PLANETS ? 1
                      : kind == ORR_KIND_MAGNITUDE        ? 2
                                                          : 3;
    const int i = attention_index(lineage->settings, source);
    return lineage->earlier_lengths[place][i < 0 ? ORR_LIST : i];
}

void orr_lineage_recall_lengths(struct orr_lineage *lineage, enum orr_kind kind, const char *source,
                                const cJSON *made)
{
    const cJSON *record = orr_made_record(made, orr_made_digest(made));
    snprintf(orr_lineage_earlier_lengths(lineage, kind, source), ORR_WENT_ON, "%s",
             orr_json_text(record, ORR_WENT_ON_KEY));
}

/* Takes over the earlier lengths of the training of a record, and of all trainings that it was made
 * from except those of another run ("start"). A fine-tuned model without a pretrained one has the
 * source "untrained". */
static void adopt_lengths(struct orr_lineage *lineage, const cJSON *made, const char *digest)
{
    static const enum orr_kind trainings[] = {ORR_KIND_PRETRAIN, ORR_KIND_PRETRAIN_PLANETS,
                                              ORR_KIND_MAGNITUDE, ORR_KIND_VECTOR};
    const cJSON *record = orr_made_record(made, digest), *input;
    const cJSON *inputs = orr_json_get(record, "inputs");
    const char *what = orr_json_text(record, "what"), *source = orr_json_text(record, "attention");
    for (int i = 0; i < 4; i++) {
        if (strcmp(what, orr_kind_name(trainings[i])) != 0)
            continue;
        const bool begun =
            i < 2 || cJSON_HasObjectItem(inputs, "model") || cJSON_HasObjectItem(inputs, "start");
        snprintf(orr_lineage_earlier_lengths(lineage, trainings[i], begun ? source : "untrained"),
                 ORR_WENT_ON, "%s", orr_json_text(record, ORR_WENT_ON_KEY));
    }
    cJSON_ArrayForEach (input, inputs)
        if (cJSON_IsString(input) && strcmp(input->string, "start") != 0)
            adopt_lengths(lineage, made, input->valuestring);
}

int orr_lineage_take_starts(struct orr_lineage *lineage, const cJSON *made, const char *path)
{
    char digest[ORR_DIGEST];
    const cJSON *record;
    if (!made)
        return 0;
    TRY(orr_records_import(&lineage->records, made, path, digest));
    cJSON_ArrayForEach (record, orr_json_get(made, "records")) {
        const cJSON *inputs = orr_json_get(record, "inputs");
        const cJSON *attention = orr_json_get(record, "attention");
        const cJSON *start = orr_json_get(inputs, "start");
        const int i = cJSON_IsString(attention)
                          ? attention_index(lineage->settings, attention->valuestring)
                          : -1;
        if (i < 0 || !cJSON_IsString(start) || strlen(start->valuestring) >= ORR_DIGEST)
            continue;
        const cJSON *what = orr_json_get(record, "what");
        const bool first =
            cJSON_IsString(what) && !strcmp(what->valuestring, orr_kind_name(ORR_KIND_PRETRAIN));
        strcpy(first ? lineage->start[i] : lineage->from[i], start->valuestring);
    }
    adopt_lengths(lineage, made, digest);
    return 0;
}

/* ------------------------------------------------------------------- what there is in a run */

bool orr_has_pretrain(const struct orr_settings *settings, bool planets)
{
    if (planets)
        return settings->pretrain_planets.steps > 0 && settings->planets.enabled;
    return settings->pretrain.steps > 0 &&
           (orr_settings_is_text(settings) || settings->orbits.train > 0);
}

bool orr_has_task(const struct orr_settings *settings, bool vector)
{
    if (orr_settings_is_text(settings))
        return false;
    return vector
               ? settings->planets.enabled || orr_set_count(settings, "solar_system_two_body") > 0
               : settings->orbits.two_body_train > 0;
}

static bool is_model(const char *source)
{
    return strcmp(source, "truth") != 0 && strcmp(source, "oracle") != 0;
}

bool orr_has_table(const struct orr_settings *settings, const char *source, bool vector)
{
    const long steps =
        vector ? settings->finetune.vector.steps : settings->finetune.magnitude.steps;
    return orr_has_task(settings, vector) && (!is_model(source) || steps > 0);
}

const char *orr_source_attention(const struct orr_settings *settings, const char *source)
{
    if (!is_model(source))
        return "";
    return strcmp(source, "untrained") ? source : settings->attention.item[0];
}

const char *orr_attention_colour(const char *attention, int number)
{
    static const char *const palette[] = {"#2a8f5b", "#8a4fb0", "#a8842c", "#b0406e",
                                          "#2f8f9d", "#6b6f2a", "#5a5fc0", "#9c5a3c",
                                          "#17a2b8", "#c65a9a", "#3f3f3f", "#7a9a01"};
    if (!strcmp(attention, "softmax"))
        return "#d1602b";
    if (!strcmp(attention, "lssar"))
        return "#1f6fb4";
    if (!strcmp(attention, "lssa"))
        return palette[0];
    return palette[(size_t)number % (sizeof palette / sizeof *palette)];
}

void orr_sources_list(const struct orr_settings *settings, const char *only,
                      struct orr_sources *sources)
{
    const struct orr_name_list *names = &settings->attention;
    sources->count = 0;
    snprintf(sources->name[sources->count++], ORR_NAME, "truth");
    snprintf(sources->name[sources->count++], ORR_NAME, "oracle");
    for (int i = 0; i < names->count; i++)
        if (!*only || !strcmp(only, names->item[i]))
            snprintf(sources->name[sources->count++], ORR_NAME, "%s", names->item[i]);
    snprintf(sources->name[sources->count++], ORR_NAME, "untrained");
}

/* --------------------------------------------------------------------- records of artefacts */

/* A record under construction: after a failure all further steps do nothing, and finish() returns
 * the error. */
struct draft {
    struct orr_lineage *lineage;
    cJSON *record;
    int rc;
};

static struct draft begin_draft(struct orr_lineage *lineage, enum orr_kind kind)
{
    return (struct draft){lineage, orr_record_create(kind, lineage->settings), 0};
}

/* rc: result of the call that computed the digest. */
static void add_input(struct draft *draft, const char *name, int rc, const char *digest)
{
    if (!draft->rc)
        draft->rc = rc;
    if (!draft->rc)
        orr_record_input(draft->record, name, digest);
}

static void add_lengths(struct draft *draft, enum orr_kind kind, const char *source)
{
    const char *earlier_lengths = orr_lineage_earlier_lengths(draft->lineage, kind, source);
    if (*earlier_lengths)
        orr_record_fact(draft->record, ORR_WENT_ON_KEY, earlier_lengths);
}

/* Adds a data set as an input if it has sequences. */
static void add_set(struct draft *draft, const char *set)
{
    char digest[ORR_DIGEST];
    if (orr_set_count(draft->lineage->settings, set) > 0)
        add_input(draft, set, orr_lineage_set(draft->lineage, set, digest), digest);
}

/* Adds the data sets that a kind is made from. Without planet runs, the solar system's planets are
 * used. */
static void add_sets(struct draft *draft, enum orr_kind kind)
{
    static const char *const sets[ORR_KINDS][2] = {
        [ORR_KIND_PRETRAIN] = {"train", "val"},
        [ORR_KIND_PRETRAIN_PLANETS] = {"planets_train", "planets_val"},
        [ORR_KIND_MAGNITUDE] = {"two_body_train", "two_body_val"},
        [ORR_KIND_VECTOR] = {"planets_solar"},
        [ORR_KIND_MAGNITUDE_TRUTH] = {"two_body_test"},
        [ORR_KIND_MAGNITUDE_ORACLE] = {"two_body_test", "two_body_train"},
        [ORR_KIND_MAGNITUDE_MODEL] = {"two_body_test"},
        [ORR_KIND_VECTOR_TRUTH] = {"planets_solar"},
        [ORR_KIND_VECTOR_ORACLE] = {"planets_solar"},
        [ORR_KIND_VECTOR_MODEL] = {"planets_solar"},
    };
    for (int i = 0; i < 2 && sets[kind][i]; i++) {
        const bool solar =
            !strcmp(sets[kind][i], "planets_solar") && !draft->lineage->settings->planets.enabled;
        add_set(draft, solar ? "solar_system_two_body" : sets[kind][i]);
    }
}

static int finish_draft(struct draft *draft, char digest[ORR_DIGEST])
{
    if (!draft->rc)
        return orr_records_add(&draft->lineage->records, draft->record, digest);
    cJSON_Delete(draft->record);
    return draft->rc;
}

int orr_lineage_pretrain(struct orr_lineage *lineage, const char *attention, bool planets,
                         char digest[ORR_DIGEST])
{
    const enum orr_kind kind = planets ? ORR_KIND_PRETRAIN_PLANETS : ORR_KIND_PRETRAIN;
    struct draft draft = begin_draft(lineage, kind);
    const int i = attention_index(lineage->settings, attention);
    orr_record_fact(draft.record, "attention", attention);
    add_lengths(&draft, kind, attention);
    if (*lineage->text)
        add_input(&draft, "text", 0, lineage->text);
    else
        add_sets(&draft, kind);
    if (!planets && i >= 0 && *lineage->start[i])
        add_input(&draft, "start", 0, lineage->start[i]);
    return finish_draft(&draft, digest);
}

int orr_lineage_evaluation(struct orr_lineage *lineage, const char *attention, bool planets,
                           char digest[ORR_DIGEST])
{
    char model[ORR_DIGEST];
    struct draft draft =
        begin_draft(lineage, planets ? ORR_KIND_EVALUATION_PLANETS : ORR_KIND_EVALUATION);
    add_input(&draft, "model", orr_lineage_pretrain(lineage, attention, planets, model), model);
    const char *test = planets ? "planets_test" : "test";
    if (!*lineage->text) /* without test sequences the validation set is used */
        add_set(&draft, orr_set_count(lineage->settings, test) > 0 ? test
                        : planets                                  ? "planets_val"
                                                                   : "val");
    if (planets) /* the model continues the orbits of these sets */
        add_set(&draft, "planets_solar");
    return finish_draft(&draft, digest);
}

/* Adds the pretrained model. The vector task's model is pretrained on planet runs if these are
 * enabled. */
static void add_pretrained(struct draft *draft, const char *attention, bool vector)
{
    struct orr_lineage *lineage = draft->lineage;
    const bool planets = vector && lineage->settings->planets.enabled;
    const int i = attention_index(lineage->settings, attention);
    char digest[ORR_DIGEST];
    if (!planets && i >= 0 && *lineage->from[i])
        add_input(draft, "start", 0, lineage->from[i]);
    else if (orr_has_pretrain(lineage->settings, planets))
        add_input(draft, "model", orr_lineage_pretrain(lineage, attention, planets, digest),
                  digest);
}

int orr_lineage_model(struct orr_lineage *lineage, const char *source, bool vector,
                      char digest[ORR_DIGEST])
{
    const char *attention = orr_source_attention(lineage->settings, source);
    const enum orr_kind kind = vector ? ORR_KIND_VECTOR : ORR_KIND_MAGNITUDE;
    struct draft draft = begin_draft(lineage, kind);
    orr_record_fact(draft.record, "attention", attention);
    add_lengths(&draft, kind, source);
    if (strcmp(source, "untrained") != 0)
        add_pretrained(&draft, attention, vector);
    add_sets(&draft, kind);
    return finish_draft(&draft, digest);
}

int orr_lineage_training(struct orr_lineage *lineage, enum orr_kind kind, const char *source,
                         char digest[ORR_DIGEST])
{
    if (kind == ORR_KIND_PRETRAIN || kind == ORR_KIND_PRETRAIN_PLANETS)
        return orr_lineage_pretrain(lineage, source, kind == ORR_KIND_PRETRAIN_PLANETS, digest);
    return orr_lineage_model(lineage, source, kind == ORR_KIND_VECTOR, digest);
}

int orr_table_path(const char *run, const char *source, bool vector, char path[4096])
{
    return orr_path(path, "%s/%s/finetune/forces_%s.csv", run, source,
                    vector ? "vector" : "magnitude");
}

int orr_lineage_find_external_tables(struct orr_lineage *lineage, const char *run, const char *only,
                                     bool vector)
{
    struct orr_sources sources;
    char path[4096];
    bool there = false;
    orr_sources_list(lineage->settings, only, &sources);
    for (int i = 0; i < sources.count; i++) {
        TRY(orr_table_path(run, sources.name[i], vector, path));
        if (orr_sidecar_exists(path))
            return 0;
        there |= orr_exists(path);
    }
    return there ? orr_path(lineage->external_tables[vector], "%s", run) : 0;
}

/* A table from another run, identified by its content; a missing file counts as empty. */
static int table_elsewhere(struct orr_lineage *lineage, const char *source, bool vector,
                           char digest[ORR_DIGEST])
{
    char path[4096];
    uint64_t sum = 0, bytes;
    TRY(orr_table_path(lineage->external_tables[vector], source, vector, path));
    if (orr_exists(path))
        TRY(orr_file_checksum(path, &sum, &bytes));
    return orr_records_add(&lineage->records,
                           orr_record_external("table made elsewhere", sum, path), digest);
}

static enum orr_kind table_kind(const char *source, bool vector)
{
    if (!strcmp(source, "truth"))
        return vector ? ORR_KIND_VECTOR_TRUTH : ORR_KIND_MAGNITUDE_TRUTH;
    if (!strcmp(source, "oracle"))
        return vector ? ORR_KIND_VECTOR_ORACLE : ORR_KIND_MAGNITUDE_ORACLE;
    return vector ? ORR_KIND_VECTOR_MODEL : ORR_KIND_MAGNITUDE_MODEL;
}

int orr_lineage_table(struct orr_lineage *lineage, const char *source, bool vector,
                      char digest[ORR_DIGEST])
{
    char model[ORR_DIGEST];
    if (*lineage->external_tables[vector])
        return table_elsewhere(lineage, source, vector, digest);
    const enum orr_kind kind = table_kind(source, vector);
    struct draft draft = begin_draft(lineage, kind);
    if (is_model(source))
        add_input(&draft, "model", orr_lineage_model(lineage, source, vector, model), model);
    add_sets(&draft, kind);
    return finish_draft(&draft, digest);
}

/* Adds the table of forces of a model of another program, if it has one. */
static void add_answers(struct draft *draft, const char *name, const char *source, bool vector)
{
    char digest[ORR_DIGEST];
    bool there;
    const int rc = orr_lineage_answers_table(draft->lineage, source, vector, digest, &there);
    if (rc || there)
        add_input(draft, name, rc, digest);
}

int orr_lineage_laws(struct orr_lineage *lineage, const struct orr_sources *sources,
                     char digest[ORR_DIGEST])
{
    struct draft draft = begin_draft(lineage, ORR_KIND_LAWS);
    if (lineage->settings->orbits.law != ORR_LAW_NEWTON)
        orr_record_fact(draft.record, "true_law",
                        "the run's own"); /* earlier versions searched for Newton's law */
    for (int i = 0; i < sources->count; i++) {
        char table[ORR_DIGEST];
        const char *source = sources->name[i];
        if (orr_lineage_is_answers(lineage, source))
            add_answers(&draft, source, source, false);
        else if (!strcmp(source, ORR_POSITIONS))
            add_input(&draft, source, orr_lineage_set(lineage, "two_body_test", table), table);
        else if (orr_has_table(lineage->settings, source, false))
            add_input(&draft, source, orr_lineage_table(lineage, source, false, table), table);
    }
    return finish_draft(&draft, digest);
}

bool orr_made_from_positions(const cJSON *made)
{
    const cJSON *record = orr_made_record(made, orr_made_digest(made));
    return cJSON_HasObjectItem(orr_json_get(record, "inputs"), ORR_POSITIONS);
}

bool orr_report_shows_evaluation(const struct orr_settings *settings, const char *source)
{
    const bool measured =
        orr_set_count(settings, "planets_test") > 0 || orr_set_count(settings, "planets_val") > 0;
    return is_model(source) && strcmp(source, "untrained") != 0 &&
           orr_has_pretrain(settings, true) && measured;
}

int orr_lineage_report(struct orr_lineage *lineage, const struct orr_sources *sources,
                       const char *laws, const char *probes, char digest[ORR_DIGEST])
{
    char input[ORR_DIGEST], name[2 * ORR_NAME];
    struct draft draft = begin_draft(lineage, ORR_KIND_REPORT);
    if (*laws)
        add_input(&draft, "laws", 0, laws);
    if (*probes)
        add_input(&draft, "probes", 0, probes);
    for (int i = 0; i < sources->count; i++) {
        const char *source = sources->name[i];
        snprintf(name, sizeof name, "vectors of %s", source);
        if (orr_lineage_is_answers(lineage, source)) {
            add_answers(&draft, name, source, true);
            continue;
        }
        if (!orr_has_table(lineage->settings, source, true))
            continue;
        add_input(&draft, name, orr_lineage_table(lineage, source, true, input), input);
    }
    for (int i = 0; i < sources->count && *lineage->settings->tracks; i++) {
        const char *source = sources->name[i];
        if (!is_model(source) || !strcmp(source, "untrained") ||
            !orr_has_pretrain(lineage->settings, false) || orr_lineage_is_answers(lineage, source))
            continue;
        snprintf(name, sizeof name, "evaluation of %s", source);
        add_input(&draft, name, orr_lineage_evaluation(lineage, source, false, input), input);
    }
    for (int i = 0; i < sources->count; i++) {
        const char *source = sources->name[i];
        if (!orr_report_shows_evaluation(lineage->settings, source) ||
            orr_lineage_is_answers(lineage, source))
            continue;
        snprintf(name, sizeof name, "evaluation of %s, planets", source);
        add_input(&draft, name, orr_lineage_evaluation(lineage, source, true, input), input);
    }
    return finish_draft(&draft, digest);
}
