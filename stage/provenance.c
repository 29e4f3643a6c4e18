/* provenance.c - records of what artefacts were made from: their digests, and the difference of two
 * records. */
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "provenance.h"

#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"
#include <xxhash.h>

#include "settings_table.h"

/* The revision of a kind is raised when the code makes a different output from the same settings
 * and inputs, so that outputs of an earlier version are not kept. */
static const struct {
    const char *name;
    int revision;
} kinds[ORR_KINDS] = {
    [ORR_KIND_STATES] = {"states", 3},
    [ORR_KIND_TWO_BODY] = {"two bodies", 3},
    [ORR_KIND_SOLAR] = {"solar system", 2},
    [ORR_KIND_PLANETS] = {"planet runs", 2},
    [ORR_KIND_PLANETS_SOLAR] = {"eight planets", 2},
    [ORR_KIND_PRETRAIN] = {"pretraining", 1},
    [ORR_KIND_PRETRAIN_PLANETS] = {"pretraining on planet runs", 2},
    [ORR_KIND_EVALUATION] = {"evaluation", 1},
    [ORR_KIND_EVALUATION_PLANETS] = {"evaluation on planet runs", 2},
    [ORR_KIND_MAGNITUDE] = {"magnitude fine-tuning", 1},
    [ORR_KIND_VECTOR] = {"vector fine-tuning", 1},
    [ORR_KIND_MAGNITUDE_TRUTH] = {"true magnitudes", 2},
    [ORR_KIND_MAGNITUDE_ORACLE] = {"magnitudes of the oracle", 2},
    [ORR_KIND_MAGNITUDE_MODEL] = {"magnitudes of a model", 2},
    [ORR_KIND_VECTOR_TRUTH] = {"true vectors", 2},
    [ORR_KIND_VECTOR_ORACLE] = {"vectors of the oracle", 2},
    [ORR_KIND_VECTOR_MODEL] = {"vectors of a model", 2},
    [ORR_KIND_LAWS] = {"laws", 4},
    [ORR_KIND_REPORT] = {"report", 3},
};

const char *orr_kind_name(enum orr_kind kind)
{
    return kinds[kind].name;
}

/* ------------------------------------------------------------------------------- records */

/* cJSON has a memory reserve, so that a tree is complete even when memory runs out
 * (base/oom_reserve.c). It is enough to check for that where a digest or a file is made. */
static int out_of_memory(void)
{
    return ORR_FAIL(ORR_ENOMEM, "provenance: out of memory");
}

int orr_records_create(struct orr_records *records)
{
    records->by_digest = cJSON_CreateObject();
    return orr_memory_short() ? out_of_memory() : 0;
}

void orr_records_free(struct orr_records *records)
{
    cJSON_Delete(records->by_digest);
    records->by_digest = NULL;
}

cJSON *orr_record_create(enum orr_kind kind, const struct orr_settings *given)
{
    char text[ORR_SETTING], why[256];
    const bool all = kind == ORR_KIND_REPORT; /* the report shows all settings */
    cJSON *record = cJSON_CreateObject();
    cJSON_AddStringToObject(record, "what", kinds[kind].name);
    cJSON_AddNumberToObject(record, "revision", kinds[kind].revision);
    cJSON *settings = cJSON_AddObjectToObject(record, "settings");
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++) {
        if (orr_kind_leaves_out(kind, f->key) || (!all && orr_settings_unused(given, f->key, why)))
            continue;
        orr_setting_text(given, f, text);
        cJSON_AddStringToObject(settings, f->key, text);
    }
    return record;
}

cJSON *orr_record_external(const char *what, uint64_t content, const char *name)
{
    char digest[ORR_DIGEST];
    cJSON *record = cJSON_CreateObject();
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)content);
    cJSON_AddStringToObject(record, "what", what);
    cJSON_AddStringToObject(record, "content", digest);
    cJSON_AddStringToObject(record, "name", name);
    return record;
}

void orr_record_fact(cJSON *record, const char *key, const char *value)
{
    cJSON_AddStringToObject(record, key, value);
}

void orr_record_input(cJSON *record, const char *name, const char digest[ORR_DIGEST])
{
    cJSON *inputs = orr_json_get(record, "inputs");
    if (!inputs)
        inputs = cJSON_AddObjectToObject(record, "inputs");
    cJSON_AddStringToObject(inputs, name, digest);
}

/* XXH64 of the record's text without "name", which says where an external file was, not what it
 * contains. */
static int digest_of(const cJSON *record, char digest[ORR_DIGEST])
{
    cJSON *copy = cJSON_Duplicate(record, true);
    cJSON_DeleteItemFromObjectCaseSensitive(copy, "name");
    char *text = cJSON_PrintUnformatted(copy);
    cJSON_Delete(copy);
    if (text)
        snprintf(digest, ORR_DIGEST, "%016llx", (unsigned long long)XXH64(text, strlen(text), 0));
    cJSON_free(text);
    return !text || orr_memory_short() ? out_of_memory() : 0;
}

int orr_records_add(struct orr_records *records, cJSON *record, char digest[ORR_DIGEST])
{
    const int rc = digest_of(record, digest);
    if (!rc && !cJSON_HasObjectItem(records->by_digest, digest))
        cJSON_AddItemToObject(records->by_digest, digest, record);
    else
        cJSON_Delete(record);
    return rc;
}

const cJSON *orr_made_record(const cJSON *made, const char *digest)
{
    const cJSON *records = orr_json_get(made, "records");
    return orr_json_get(records, digest);
}

const char *orr_made_digest(const cJSON *made)
{
    return orr_json_text(made, "digest");
}

int orr_records_import(struct orr_records *records, const cJSON *made, const char *path,
                       char digest[ORR_DIGEST])
{
    const cJSON *record;
    char found[ORR_DIGEST];
    const char *top = orr_made_digest(made);
    if (strlen(top) != ORR_DIGEST - 1 || !orr_made_record(made, top))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"made\": expected a digest and its record", path);
    cJSON_ArrayForEach (record, orr_json_get(made, "records")) {
        TRY(digest_of(record, found));
        if (strcmp(found, record->string))
            return ORR_FAIL(ORR_EFORMAT, "%s: \"made\": record %s has the digest %s", path,
                            record->string, found);
        TRY(orr_records_add(records, cJSON_Duplicate(record, true), found));
    }
    strcpy(digest, top);
    return 0;
}

/* ---------------------------------------------------------------------------- "made" objects */

/* Copies the record of a digest, after the records of its inputs. */
static void copy_below(const struct orr_records *records, const char *digest, cJSON *into)
{
    const cJSON *record = orr_json_get(records->by_digest, digest), *input;
    if (cJSON_HasObjectItem(into, digest))
        return;
    cJSON_ArrayForEach (input, orr_json_get(record, "inputs"))
        copy_below(records, input->valuestring, into);
    cJSON_AddItemToObject(into, digest, cJSON_Duplicate(record, true));
}

cJSON *orr_records_made(const struct orr_records *records, const char digest[ORR_DIGEST])
{
    cJSON *made = cJSON_CreateObject();
    cJSON_AddStringToObject(made, "digest", digest);
    copy_below(records, digest, cJSON_AddObjectToObject(made, "records"));
    return made;
}

char *orr_records_made_text(const struct orr_records *records, const char digest[ORR_DIGEST])
{
    cJSON *made = orr_records_made(records, digest);
    char *text = cJSON_PrintUnformatted(made);
    cJSON_Delete(made);
    if (!orr_memory_short())
        return text; /* allocated by malloc() */
    cJSON_free(text);
    return NULL;
}

void orr_records_external(const struct orr_records *records, const char *digest, char *text,
                          size_t bytes)
{
    const cJSON *item;
    text[0] = '\0';
    cJSON *made = orr_records_made(records, digest);
    cJSON_ArrayForEach (item, orr_json_get(made, "records")) {
        const cJSON *what = orr_json_get(item, "what");
        const cJSON *name = orr_json_get(item, "name");
        if (cJSON_HasObjectItem(item, "content") && cJSON_IsString(what) && cJSON_IsString(name))
            orr_append(text, bytes, "%s%s %s (%s)", *text ? "; " : "", what->valuestring,
                       name->valuestring, item->string);
    }
    cJSON_Delete(made);
}

const char *orr_made_setting(const cJSON *made, const char *key)
{
    const cJSON *record = orr_made_record(made, orr_made_digest(made));
    return orr_json_text(orr_json_get(record, "settings"), key);
}

bool orr_made_but(const struct orr_records *records, const char digest[ORR_DIGEST],
                  const cJSON *made, const char *key, char *value, size_t bytes)
{
    char found[ORR_DIGEST] = "";
    const cJSON *expected = orr_json_get(records->by_digest, digest);
    const cJSON *wanted = orr_json_get(orr_json_get(expected, "settings"), key);
    cJSON *copy = cJSON_Duplicate(orr_made_record(made, orr_made_digest(made)), true);
    cJSON *settings = orr_json_get(copy, "settings");
    cJSON *other = cJSON_Duplicate(wanted, true);
    snprintf(value, bytes, "%s", orr_made_setting(made, key));
    cJSON_DeleteItemFromObjectCaseSensitive(copy, ORR_WENT_ON_KEY);
    const bool replaced =
        other && cJSON_ReplaceItemInObjectCaseSensitive(settings, key, other) != 0;
    if (!replaced)
        cJSON_Delete(other);
    const bool same = replaced && !digest_of(copy, found) && !strcmp(found, digest);
    cJSON_Delete(copy);
    return same;
}

/* ----------------------------------------------------------------------------- difference */

/* Walks two records together, from the artefact down to the first input that differs. */
struct walk {
    const cJSON *expected, *found; /* records by digest */
    char *why;
};

static const char *text_of(const cJSON *item)
{
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* Appends settings and facts that differ: the first two by name, then the number of others. */
static int tell_values(char *why, const cJSON *expected, const cJSON *found)
{
    int count = 0;
    const cJSON *item;
    cJSON_ArrayForEach (item, expected) {
        const cJSON *other = orr_json_get(found, item->string);
        if (!cJSON_IsString(item) || (other && !strcmp(text_of(other), text_of(item))))
            continue;
        if (count++ < 2)
            orr_append(why, ORR_WHY, "%s%s is %.60s, expected %.60s", count > 1 ? "; " : "",
                       item->string, other ? text_of(other) : "not set", text_of(item));
    }
    cJSON_ArrayForEach (item, found) {
        if (!cJSON_IsString(item) || orr_json_get(expected, item->string))
            continue;
        if (count++ < 2)
            orr_append(why, ORR_WHY, "%s%s is %.60s, expected it not set", count > 1 ? "; " : "",
                       item->string, text_of(item));
    }
    if (count > 2)
        orr_append(why, ORR_WHY, "; %d more", count - 2);
    return count;
}

/* Appends the difference if at least one of the two records is external. */
static bool tell_foreign(char *why, const cJSON *expected, const cJSON *found)
{
    const char *was = text_of(orr_json_get(found, "what"));
    const char *is = text_of(orr_json_get(expected, "what"));
    const char *of = text_of(orr_json_get(found, "name"));
    const char *named = text_of(orr_json_get(expected, "name"));
    const bool both = cJSON_HasObjectItem(expected, "content") &&
                      cJSON_HasObjectItem(found, "content") && !strcmp(was, is);
    if (both)
        orr_append(why, ORR_WHY,
                   "%s %.120s is not the one it was made from (%.120s, or it has changed)", is,
                   named, of);
    else if (strcmp(was, is))
        orr_append(why, ORR_WHY, "%s%s%.120s, expected %s%s%.120s", was, *of ? " " : "", of, is,
                   *named ? " " : "", named);
    return both || strcmp(was, is);
}

static bool tell_difference(struct walk *walk, const char *expected, const char *found);

static bool tell_inputs(struct walk *walk, const cJSON *expected, const cJSON *found)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, expected) {
        const cJSON *other = orr_json_get(found, item->string);
        if (other && !strcmp(text_of(other), text_of(item)))
            continue;
        orr_append(walk->why, ORR_WHY, "%s: ", item->string);
        if (!other)
            orr_append(walk->why, ORR_WHY, "it was made without");
        else if (!tell_difference(walk, text_of(item), text_of(other)))
            orr_append(walk->why, ORR_WHY, "its record differs");
        return true;
    }
    cJSON_ArrayForEach (item, found)
        if (!orr_json_get(expected, item->string)) {
            orr_append(walk->why, ORR_WHY, "%s: it was made with it", item->string);
            return true;
        }
    return false;
}

/* Appends the difference of two records; false if they are equal. */
static bool tell_difference(struct walk *walk, const char *expected, const char *found)
{
    const cJSON *a = orr_json_get(walk->expected, expected);
    const cJSON *b = orr_json_get(walk->found, found);
    const cJSON *was = orr_json_get(b, "revision");
    const cJSON *is = orr_json_get(a, "revision");
    if (!a || !b) {
        orr_append(walk->why, ORR_WHY, "it does not say what it was made from");
        return true;
    }
    if (tell_foreign(walk->why, a, b))
        return true;
    if (cJSON_IsNumber(was) && cJSON_IsNumber(is) && was->valueint != is->valueint) {
        orr_append(walk->why, ORR_WHY,
                   "made by another version of the program (revision %d, expected %d)",
                   was->valueint, is->valueint);
        return true;
    }
    if (tell_values(walk->why, orr_json_get(a, "settings"), orr_json_get(b, "settings")) ||
        tell_values(walk->why, a, b))
        return true;
    return tell_inputs(walk, orr_json_get(a, "inputs"), orr_json_get(b, "inputs"));
}

bool orr_made_same(const struct orr_records *records, const char digest[ORR_DIGEST],
                   const cJSON *made, char why[ORR_WHY])
{
    struct walk walk = {records->by_digest, orr_json_get(made, "records"), why};
    const char *found = orr_made_digest(made);
    why[0] = '\0';
    if (!strcmp(found, digest))
        return true;
    if (!tell_difference(&walk, digest, found))
        orr_append(why, ORR_WHY, "its record differs");
    return false;
}
