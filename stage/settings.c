/* settings.c - reads, assigns and saves settings through the descriptor table. */
#include "base/data.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "settings.h"
#include "settings_table.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"
#include <xxhash.h>

/* ------------------------------------------------------------------- one field from text */

static int refuse_value(const char *where, const struct orr_setting *f, const char *expected,
                        const char *found)
{
    return ORR_FAIL(ORR_EUSAGE, "%s%s: expected %s, found \"%s\"", where, f->key, expected, found);
}

/* Digits only, because a double holds only 53 bits. JSON numbers above that may already be rounded;
 * json_text() writes them with an exponent, which is refused here. */
static int set_u64(const struct orr_setting *f, char *at, const char *where, const char *text)
{
    errno = 0;
    const unsigned long long value = strtoull(text, NULL, 10);
    if (!*text || text[strspn(text, "0123456789")] || errno)
        return refuse_value(where, f,
                            strchr(text, 'e')
                                ? "a whole number in digits (quoted in JSON when above 2^53)"
                                : "a whole number up to 18446744073709551615, in digits",
                            text);
    *(uint64_t *)(void *)at = value;
    return 0;
}

static int set_number(const struct orr_setting *f, char *at, const char *where, const char *text)
{
    char *end, expected[160];
    const bool whole = f->type != ORR_FIELD_DOUBLE;
    if (f->type == ORR_FIELD_U64)
        return set_u64(f, at, where, text);
    errno = 0;
    const double value = strtod(text, &end) + 0.0; /* turns -0 into 0 */
    const bool number = end != text && !*end && !errno && isfinite(value);
    if (!number || value < f->min || value > f->max || (whole && value != floor(value))) {
        snprintf(expected, sizeof expected, "a%s number from %g to %g", whole ? " whole" : "",
                 f->min, f->max);
        return refuse_value(where, f, expected, text);
    }
    if (f->type == ORR_FIELD_DOUBLE)
        *(double *)(void *)at = value;
    else if (f->type == ORR_FIELD_INT)
        *(int *)(void *)at = (int)value;
    else
        *(long *)(void *)at = (long)value;
    return 0;
}

static int set_enum(const struct orr_setting *f, char *at, const char *where, const char *text)
{
    char expected[256];
    int index = 0;
    for (const char *choice = f->choices; choice; index++) {
        const char *end = strchr(choice, '|');
        const size_t length = end ? (size_t)(end - choice) : strlen(choice);
        if (strlen(text) == length && !strncmp(choice, text, length)) {
            *(int *)(void *)at = index; /* enums are ints in this ABI */
            return 0;
        }
        choice = end ? end + 1 : NULL;
    }
    snprintf(expected, sizeof expected, "one of %s", f->choices);
    return refuse_value(where, f, expected, text);
}

static int set_names(const struct orr_setting *f, char *at, const char *where, const char *text)
{
    struct orr_name_list names = {0};
    for (const char *from = text; *from;) {
        const char *end = strchr(from, ',');
        size_t length = end ? (size_t)(end - from) : strlen(from);
        if (names.count == ORR_LIST)
            return ORR_FAIL(ORR_EUSAGE, "%s%s: expected at most %d names, found more", where,
                            f->key, ORR_LIST);
        if (length == 0 || length >= ORR_NAME || (end && !end[1]))
            return refuse_value(where, f, "a list of names: a,b,c", text);
        char *name = names.item[names.count++];
        memcpy(name, from, length);
        name[length] = '\0';
        if (!strcmp(f->key, "attention") && !orr_is_name(name)) /* each names a folder of the run */
            return refuse_value(where, f, "names of folders, without \"/\"", name);
        from = end ? end + 1 : from + length;
    }
    memcpy(at, &names, sizeof names);
    return 0;
}

static int set_value(struct orr_settings *settings, const struct orr_setting *f, const char *where,
                     const char *text)
{
    char *at = (char *)settings + f->offset;
    switch (f->type) {
    case ORR_FIELD_BOOL:
        if (strcmp(text, "true") && strcmp(text, "false"))
            return refuse_value(where, f, "true or false", text);
        *(bool *)(void *)at = !strcmp(text, "true");
        return 0;
    case ORR_FIELD_ENUM:
        return set_enum(f, at, where, text);
    case ORR_FIELD_TEXT:
        if (strlen(text) >= sizeof settings->about)
            return refuse_value(where, f, "a text of at most 255 bytes", text);
        strcpy(at, text);
        return 0;
    case ORR_FIELD_NAMES:
        return set_names(f, at, where, text);
    default:
        return set_number(f, at, where, text);
    }
}

/* ------------------------------------------------------------------ settings that follow others */

static const char source[] = "pretrain.", follower[] = "pretrain_planets.";

/* The bit in planets_own of a setting of pretrain_planets; 0 for other settings, and for steps,
 * where 0 skips the stage. */
static uint64_t follower_bit(const struct orr_setting *f)
{
    const size_t length = strlen(follower);
    if (strncmp(f->key, follower, length) != 0 || !strcmp(f->key + length, "steps"))
        return 0;
    int bit = 0;
    while (!strncmp((f - bit - 1)->key, follower, length))
        bit++;
    return 1ull << bit;
}

static bool follows_planets(const struct orr_settings *settings, const struct orr_setting *f)
{
    const uint64_t bit = follower_bit(f);
    return bit && !(settings->planets_own & bit);
}

bool orr_setting_follows(const struct orr_settings *settings, const struct orr_setting *f,
                         char key[ORR_SETTING])
{
    if (!follows_planets(settings, f))
        return false;
    snprintf(key, ORR_SETTING, "%s%s", source, f->key + strlen(follower));
    return true;
}

/* Assigns a setting. A setting of pretrain is copied to pretrain_planets where that one was not
 * given itself. */
static int set_text(struct orr_settings *settings, const struct orr_setting *f, const char *where,
                    const char *text)
{
    TRY(set_value(settings, f, where, text));
    settings->planets_own |= follower_bit(f);
    const size_t length = strlen(source);
    if (strncmp(f->key, source, length) != 0)
        return 0;
    for (const struct orr_setting *g = orr_setting_rows; g->key; g++)
        if (!strncmp(g->key, follower, strlen(follower)) &&
            !strcmp(g->key + strlen(follower), f->key + length) && follows_planets(settings, g))
            TRY(set_value(settings, g, where, text));
    return 0;
}

void orr_settings_defaults(struct orr_settings *settings)
{
    memset(settings, 0, sizeof *settings);
    strcpy(settings->name, "defaults");
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++)
        set_value(settings, f, "", f->initial);
}

static int find_setting(const char *where, const char *key, const struct orr_setting **found)
{
    *found = orr_setting_find(key);
    return *found ? 0 : orr_setting_unknown(where, key);
}

int orr_settings_set_by(struct orr_settings *settings, const char *option, const char *key,
                        const char *value)
{
    char where[ORR_NAME];
    const struct orr_setting *f = NULL;
    snprintf(where, sizeof where, "%.60s: ", option);
    const int rc = find_setting(where, key, &f);
    return rc ? rc : set_text(settings, f, where, value);
}

int orr_settings_set(struct orr_settings *settings, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    char key[128];
    if (!equals || (size_t)(equals - assignment) >= sizeof key)
        return ORR_FAIL(ORR_EUSAGE, "--set: expected key=value, found \"%s\"", assignment);
    memcpy(key, assignment, (size_t)(equals - assignment));
    key[equals - assignment] = '\0';
    return orr_settings_set_by(settings, "--set", key, equals + 1);
}

/* ------------------------------------------------------------------------------- JSON */

/* Turns a JSON scalar or array of strings into the text that set_text() takes. */
static int json_text(const char *where, const struct orr_setting *f, const cJSON *item,
                     char text[ORR_SETTING])
{
    static const char *const wanted[] = {"a whole number", "a whole number", "a whole number",
                                         "a number",       "true or false",  "a name",
                                         "a text",         "a list of names"};
    const bool number = f->type <= ORR_FIELD_DOUBLE;
    if (number && cJSON_IsNumber(item)) {
        const bool rounded = f->type == ORR_FIELD_U64 && item->valuedouble > 0x1p53;
        snprintf(text, ORR_SETTING, rounded ? "%.16e" : "%.17g",
                 item->valuedouble); /* an exponent: refused later */
    } else if (f->type == ORR_FIELD_BOOL && cJSON_IsBool(item)) {
        strcpy(text, cJSON_IsTrue(item) ? "true" : "false");
    } else if ((f->type == ORR_FIELD_U64 || f->type >= ORR_FIELD_ENUM) && cJSON_IsString(item)) {
        snprintf(text, ORR_SETTING, "%s", item->valuestring);
    } else if (f->type == ORR_FIELD_NAMES && cJSON_IsArray(item)) {
        size_t used = 0;
        text[0] = '\0';
        const cJSON *part;
        cJSON_ArrayForEach (part, item) {
            if (!cJSON_IsString(part))
                return refuse_value(where, f, "a list of names", "something else");
            if (!*part->valuestring || strchr(part->valuestring, ',')) /* would be split */
                return refuse_value(where, f, "names that are not empty and have no comma",
                                    part->valuestring);
            used += (size_t)snprintf(text + used, ORR_SETTING - used, "%s%s", used ? "," : "",
                                     part->valuestring);
            if (used >= ORR_SETTING)
                return refuse_value(where, f, "a shorter list", part->valuestring);
        }
    } else {
        char *found = cJSON_IsString(item) ? NULL : cJSON_PrintUnformatted(item);
        const int rc = refuse_value(where, f, wanted[f->type],
                                    found                  ? found
                                    : cJSON_IsString(item) ? item->valuestring
                                                           : "?");
        cJSON_free(found);
        return rc;
    }
    return 0;
}

static int read_group(struct orr_settings *settings, const char *where, const char *prefix,
                      const cJSON *group)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, group) {
        char key[128], text[ORR_SETTING];
        const struct orr_setting *f = NULL;
        snprintf(key, sizeof key, "%s%s%s", prefix, *prefix ? "." : "", item->string);
        int rc = cJSON_IsObject(item) ? read_group(settings, where, key, item)
                                      : find_setting(where, key, &f);
        if (!rc && f)
            rc = json_text(where, f, item, text);
        if (!rc && f)
            rc = set_text(settings, f, where, text);
        if (rc)
            return rc;
    }
    return 0;
}

static int is_preset(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && length < ORR_NAME && !strcmp(entry->d_name + length - 5, ".json");
}

/* Reports an unknown preset with the presets of a folder and the nearest name. */
static int unknown_preset(const char *name, const char *folder)
{
    struct dirent **entry = NULL;
    struct orr_nearest nearest = {0};
    char all[512] = "";
    const int count = scandir(folder, &entry, is_preset, alphasort);
    for (int i = 0; i < count; i++) {
        entry[i]->d_name[strlen(entry[i]->d_name) - 5] = '\0';
        orr_append(all, sizeof all, "%s%s", *all ? ", " : "", entry[i]->d_name);
        orr_nearest_offer(&nearest, name, entry[i]->d_name);
    }
    const int rc =
        ORR_FAIL(ORR_EUSAGE,
                 "--preset: no preset \"%.200s\"%s%s%s: expected a file "
                 "ending in .json%s%s",
                 name, nearest.name ? "; did you mean \"" : "", nearest.name ? nearest.name : "",
                 nearest.name ? "\"?" : "", *all ? " or one of " : "", all);
    for (int i = 0; i < count; i++)
        free(entry[i]);
    free(entry);
    return rc;
}

/* Finds the file of a preset: a path, or NAME.json in the preset folders. */
static int locate_preset(const char *name, char path[4096])
{
    const size_t length = strlen(name);
    if (orr_ends_in(name, ".json"))
        return orr_path(path, "%s", name);
    char installed[4096];
    const char *named = getenv("ORRERY_PRESETS");
    if (orr_data_path("presets", "", installed)) {
        orr_error_clear();
        strcpy(installed, "presets");
    }
    const char *const folder[] = {named ? named : "presets", "presets", installed};
    for (int i = 0; i < 3 && length < ORR_NAME; i++)
        if (!orr_path(path, "%s/%s.json", folder[i], name) && orr_exists(path))
            return 0;
    return unknown_preset(name, named || orr_exists("presets") ? folder[0] : installed);
}

/* The preset's name also names the folder of its run. */
static int check_name(const char *path, const char *name)
{
    if (orr_is_name(name))
        return 0;
    return ORR_FAIL(ORR_EUSAGE,
                    "%s: name: expected a name of a folder, without \"/\", found \"%s\"", path,
                    name);
}

int orr_settings_from_json(struct orr_settings *settings, const cJSON *json, const char *path)
{
    char where[4200];
    orr_settings_defaults(settings);
    snprintf(where, sizeof where, "%s: ", path);
    if (!cJSON_IsObject(json))
        return ORR_FAIL(ORR_EUSAGE, "%s: expected a JSON object", path);
    cJSON *own = cJSON_Duplicate(json, true);
    if (!own)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    cJSON *name = cJSON_DetachItemFromObjectCaseSensitive(own, "name");
    cJSON *tracks = cJSON_DetachItemFromObjectCaseSensitive(own, "tracks");
    if (cJSON_IsString(tracks))
        snprintf(settings->tracks, sizeof settings->tracks, "%s", tracks->valuestring);
    const int rc = read_group(settings, where, "", own);
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    if (cJSON_IsString(name))
        snprintf(settings->name, sizeof settings->name, "%.63s", name->valuestring);
    else
        snprintf(settings->name, sizeof settings->name, "%.*s", (int)strlen(base) - 5, base);
    cJSON_Delete(name);
    cJSON_Delete(tracks);
    cJSON_Delete(own);
    return rc ? rc : check_name(path, settings->name);
}

int orr_settings_load(struct orr_settings *settings, const char *name_or_file)
{
    char path[4096];
    cJSON *json = NULL;
    orr_settings_defaults(settings);
    TRY(locate_preset(name_or_file, path));
    int rc = orr_json_read(path, &json);
    if (rc)
        return rc == ORR_ENOMEM ? rc : ORR_EUSAGE; /* the message names file, line and column */
    rc = orr_settings_from_json(settings, json, path);
    cJSON_Delete(json);
    return rc;
}

/* ------------------------------------------------------------------------------- saving */

static void enum_name(const struct orr_setting *f, int index, char *text, size_t bytes)
{
    const char *choice = f->choices;
    for (; index > 0; index--)
        choice = strchr(choice, '|') + 1;
    snprintf(text, bytes, "%.*s", (int)strcspn(choice, "|"), choice);
}

void orr_setting_text(const struct orr_settings *settings, const struct orr_setting *f,
                      char text[ORR_SETTING])
{
    const char *at = (const char *)settings + f->offset;
    const struct orr_name_list *names = (const void *)at;
    const size_t bytes = ORR_SETTING;
    text[0] = '\0';
    switch (f->type) {
    case ORR_FIELD_INT:
        snprintf(text, bytes, "%d", *(const int *)(const void *)at);
        break;
    case ORR_FIELD_LONG:
        snprintf(text, bytes, "%ld", *(const long *)(const void *)at);
        break;
    case ORR_FIELD_U64:
        snprintf(text, bytes, "%llu", (unsigned long long)*(const uint64_t *)(const void *)at);
        break;
    case ORR_FIELD_DOUBLE:
        orr_shortest(*(const double *)(const void *)at, text, bytes);
        break;
    case ORR_FIELD_BOOL:
        snprintf(text, bytes, "%s", *(const bool *)(const void *)at ? "true" : "false");
        break;
    case ORR_FIELD_ENUM:
        enum_name(f, *(const int *)(const void *)at, text, bytes);
        break;
    case ORR_FIELD_TEXT:
        snprintf(text, bytes, "%s", at);
        break;
    default:
        for (int i = 0; i < names->count; i++)
            orr_append(text, bytes, "%s%s", i ? "," : "", names->item[i]);
    }
}

const char *orr_settings_key(int i)
{
    return orr_setting_rows[i].key;
}

void orr_settings_value(const struct orr_settings *settings, const char *key,
                        char text[ORR_SETTING])
{
    const struct orr_setting *f = orr_setting_find(key);
    text[0] = '\0';
    if (f)
        orr_setting_text(settings, f, text);
}

static cJSON *field_json(const struct orr_settings *settings, const struct orr_setting *f)
{
    char text[ORR_SETTING];
    if (f->type == ORR_FIELD_NAMES) {
        const struct orr_name_list *names = (const void *)((const char *)settings + f->offset);
        cJSON *array = cJSON_CreateArray();
        for (int i = 0; i < names->count; i++)
            cJSON_AddItemToArray(array, cJSON_CreateString(names->item[i]));
        return array;
    }
    orr_setting_text(settings, f, text);
    if (f->type == ORR_FIELD_TEXT || f->type == ORR_FIELD_ENUM)
        return cJSON_CreateString(text);
    const bool rounded = f->type == ORR_FIELD_U64 && strtoull(text, NULL, 10) > 1ull << 53;
    return rounded ? cJSON_CreateString(text) : cJSON_CreateRaw(text);
}

/* Whether a key is in a group: "seed" matches seed; "orbits" matches orbits.*. */
bool orr_settings_in_groups(const char *key, const char *groups)
{
    for (const char *from = groups; *from;) {
        const size_t length = strcspn(from, ",");
        if (!strncmp(key, from, length) && (key[length] == '.' || key[length] == '\0'))
            return true;
        from += length + (from[length] == ',');
    }
    return false;
}

/* Whether a setting is part of texts and checksums of all settings. */
static bool is_written(const struct orr_settings *settings, const struct orr_setting *f)
{
    char text[ORR_SETTING];
    orr_setting_text(settings, f, text);
    return !f->later || strcmp(text, f->initial) != 0;
}

uint64_t orr_settings_checksum(const struct orr_settings *settings, const char *groups)
{
    uint64_t sum = 0;
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++) {
        char text[ORR_SETTING];
        if (!orr_settings_in_groups(f->key, groups) || !is_written(settings, f))
            continue;
        orr_setting_text(settings, f, text);
        sum = XXH64(text, strlen(text), XXH64(f->key, strlen(f->key), sum));
    }
    return sum;
}

/* The settings as JSON; given: without settings that follow others. */
static cJSON *fields_json(const struct orr_settings *settings, bool given)
{
    cJSON *root = cJSON_CreateObject();
    for (const struct orr_setting *f = orr_setting_rows; f->key; f++) {
        cJSON *group = root;
        if ((given && follows_planets(settings, f)) || !is_written(settings, f))
            continue;
        const char *rest = f->key, *dot;
        while ((dot = strchr(rest, '.')) != NULL) {
            char part[ORR_NAME];
            snprintf(part, sizeof part, "%.*s", (int)(dot - rest), rest);
            cJSON *inner = orr_json_get(group, part);
            group = inner ? inner : cJSON_AddObjectToObject(group, part);
            rest = dot + 1;
        }
        cJSON_AddItemToObject(group, rest, field_json(settings, f));
    }
    return root;
}

cJSON *orr_settings_json(const struct orr_settings *settings)
{
    return fields_json(settings, false);
}

int orr_settings_save(const struct orr_settings *settings, const char *path)
{
    cJSON *json = fields_json(settings, true);
    cJSON_AddStringToObject(json, "name", settings->name);
    if (*settings->tracks)
        cJSON_AddStringToObject(json, "tracks", settings->tracks);
    const int rc = orr_json_write_plain(path, json);
    cJSON_Delete(json);
    return rc;
}
