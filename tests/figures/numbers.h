/* numbers.h - numbers in documents are those of the committed files of results that they come from.
 * The file NUMBERS has PASSAGES passages of documents at least, with a place for each number:
 *
 *     document FILE      of the passages that follow
 *     from FILE...       the file of results, or several, one for each seed; JSON, or CSV as "rows"
 *     PASSAGE            one line; {SELECTOR|FORMAT} or {SELECTOR|FORMAT|FACTOR} is a number
 *
 * A selector is keys with dots between them; [key=value&...] behind a list takes the item that has
 * these values; @ID/ATTENTION is that of a verdict's "figures". "mean " and "half " before it: of
 * several files, the mean and half of its 95% interval; "count ": how many items have the values.
 * A format is that of printf; %s is a text, or yes and no for 1 and 0. Line breaks of documents
 * count as blanks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/base.h"
#include "base/input.h"
#include "base/statistics.h"
#include "testing.h"

enum { FILES = 8, PASSAGE = 4096 };

struct source {
    int count;
    char path[FILES][256];
    cJSON *json[FILES];
};

static void forget(struct source *s)
{
    for (int i = 0; i < s->count; i++)
        cJSON_Delete(s->json[i]);
    s->count = 0;
}

/* A table as {"rows": [{column: text}]}. */
static cJSON *read_table(const char *path)
{
    struct orr_csv csv;
    if (orr_csv_read(path, ORR_CSV_KEEP_TEXT, &csv))
        fail_msg("%s", orr_error());
    cJSON *json = cJSON_CreateObject(), *rows = cJSON_AddArrayToObject(json, "rows");
    for (size_t r = 0; r < csv.rows; r++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddItemToArray(rows, row);
        for (size_t c = 0; c < csv.cols; c++) {
            const double value = csv.values[r * csv.cols + c];
            if (isfinite(value))
                cJSON_AddNumberToObject(row, csv.names[c], value);
            else
                cJSON_AddStringToObject(row, csv.names[c], csv.cells[r * csv.cols + c]);
        }
    }
    orr_csv_free(&csv);
    return json;
}

/* An object of JSON, which gzip may have compressed. */
static cJSON *read_json(const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    if (orr_input_read(path, &text, &bytes))
        fail_msg("%s", orr_error());
    cJSON *json = cJSON_Parse(text);
    free(text);
    if (!json)
        fail_msg("%s: not valid JSON", path);
    return json;
}

static void open_source(struct source *s, char *paths)
{
    char *rest = NULL;
    forget(s);
    for (char *path = strtok_r(paths, " ", &rest); path; path = strtok_r(NULL, " ", &rest)) {
        assert_true(s->count < FILES);
        snprintf(s->path[s->count], sizeof s->path[0], "%s", path);
        if (orr_ends_in(path, ".csv"))
            s->json[s->count] = read_table(path);
        else
            s->json[s->count] = read_json(path);
        s->count++;
    }
}

static bool says(const cJSON *item, const char *key, const char *value)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(item, key);
    char *end;
    if (cJSON_IsString(found))
        return !strcmp(found->valuestring, value);
    if (cJSON_IsBool(found))
        return !strcmp(cJSON_IsTrue(found) ? "true" : "false", value);
    const double number = strtod(value, &end);
    return cJSON_IsNumber(found) && end > value && !*end && found->valuedouble == number;
}

/* Whether an item has the values of a condition "key=value&key=value". */
static bool has_values(const cJSON *item, const char *condition)
{
    char text[512], *rest = NULL;
    snprintf(text, sizeof text, "%s", condition);
    for (char *one = strtok_r(text, "&", &rest); one; one = strtok_r(NULL, "&", &rest)) {
        char *equals = strchr(one, '=');
        assert_non_null(equals);
        *equals = '\0';
        if (!says(item, one, equals + 1))
            return false;
    }
    return true;
}

/* The value at a selector; *count: how many items of the last list had its condition. */
static const cJSON *select_value(const cJSON *at, const char *selector, int *count)
{
    char part[512];
    *count = 0;
    while (*selector && at) {
        if (*selector == '[') {
            const size_t length = strcspn(selector, "]");
            const cJSON *item, *found = NULL;
            snprintf(part, sizeof part, "%.*s", (int)length - 1, selector + 1);
            cJSON_ArrayForEach (item, at)
                if (has_values(item, part) && !(*count)++)
                    found = item;
            at = found;
            selector += length + 1;
        } else {
            const size_t length = strcspn(selector, ".[");
            snprintf(part, sizeof part, "%.*s", (int)length, selector);
            at = cJSON_GetObjectItemCaseSensitive(at, part);
            selector += length;
        }
        selector += *selector == '.';
    }
    return at;
}

/* "@ID/ATTENTION.rest" of a verdict in full. */
static void expand(const char *selector, char text[1024])
{
    char id[64], attention[64];
    int used = 0;
    if (sscanf(selector, "@%63[^/]/%63[^.]%n", id, attention, &used) == 2)
        snprintf(text, 1024, "figures[id=%s&attention=%s]%s", id, attention, selector + used);
    else
        snprintf(text, 1024, "%s", selector);
}

/* Puts the number of a place, as "SELECTOR|FORMAT|FACTOR" without braces, into text. */
static bool put_number(const struct source *s, char *place, char *text, size_t bytes)
{
    char selector[1024], *format = strchr(place, '|'), *factor;
    double x[FILES];
    int count = 0, files = 0;
    const char *statistic = "";
    assert_non_null(format);
    *format++ = '\0';
    if ((factor = strchr(format, '|')))
        *factor++ = '\0';
    for (const char *const *name = (const char *const[]){"mean ", "half ", "count ", NULL}; *name;
         name++)
        if (!strncmp(place, *name, strlen(*name))) {
            statistic = *name;
            place += strlen(*name);
        }
    expand(place, selector);
    for (int i = 0; i < s->count; i++) {
        const cJSON *value = select_value(s->json[i], selector, &count);
        if (!strcmp(format, "%s") && cJSON_IsString(value)) {
            snprintf(text, bytes, "%s", value->valuestring);
            return true;
        }
        if (*statistic == 'c')
            x[files++] = count;
        else if (cJSON_IsNumber(value) && count <= 1)
            x[files++] = value->valuedouble;
    }
    if (files != s->count || (files > 1 && !*statistic))
        return false;
    const struct orr_mean mean = orr_mean_of(x, files);
    const double number =
        (*statistic == 'h' ? mean.half : mean.mean) * (factor ? strtod(factor, NULL) : 1);
    if (!strcmp(format, "%s"))
        snprintf(text, bytes, "%s", number > 0 ? "yes" : "no");
    else
        snprintf(text, bytes, format, number);
    return true;
}

/* The passage with its numbers; false, and `text` is the place, where a number is not there. */
static bool fill(const struct source *s, const char *passage, char text[PASSAGE])
{
    size_t used = 0;
    for (const char *at = passage; *at;) {
        char place[512];
        if (*at != '{') {
            assert_true(used + 1 < PASSAGE);
            text[used++] = *at++;
            continue;
        }
        const size_t length = strcspn(at, "}");
        snprintf(place, sizeof place, "%.*s", (int)length - 1, at + 1);
        if (!put_number(s, place, text + used, PASSAGE - used)) {
            snprintf(text, PASSAGE, "%s", place);
            return false;
        }
        used += strlen(text + used);
        at += length + 1;
    }
    text[used] = '\0';
    return true;
}

/* A document with blanks for line breaks and for the indentation behind them. */
static char *read_document(const char *path)
{
    char *text, *to;
    if (orr_file_read(path, &text, NULL))
        fail_msg("%s", orr_error());
    to = text;
    for (const char *at = text; *at; at++)
        if (*at != '\n' && !(*at == ' ' && to > text && to[-1] == ' '))
            *to++ = *at;
        else if (*at == '\n' && (to == text || to[-1] != ' '))
            *to++ = ' ';
    *to = '\0';
    return text;
}

TEST(numbers_are_those_of_their_files)
{
    char *list, *rest = NULL, *document = NULL, name[256] = "", text[PASSAGE];
    struct source source = {0};
    int passages = 0, wrong = 0;
    assert_int_equal(orr_file_read(NUMBERS, &list, NULL), 0);
    for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (*line == '#')
            continue;
        if (!strncmp(line, "document ", 9)) {
            free(document);
            snprintf(name, sizeof name, "%s", line + 9);
            document = read_document(name);
        } else if (!strncmp(line, "from ", 5)) {
            open_source(&source, line + 5);
        } else {
            passages++;
            assert_non_null(document);
            const bool filled = fill(&source, line, text);
            if (filled && strchr(line, '{') && strstr(document, text))
                continue;
            print_error("%s: by %s expected %s\"%s\"\n", name, source.path[0],
                        filled ? "" : "a number at ", text);
            wrong++;
        }
    }
    if (wrong)
        fail_msg("%d of %d passages are not in their documents", wrong, passages);
    assert_true(passages >= PASSAGES);
    forget(&source);
    free(document);
    free(list);
}

TESTS(NULL, NULL)
