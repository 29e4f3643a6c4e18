/* json.c - JSON files through cJSON, with positions in error messages. */
#include "error.h"
#include "file.h"
#include "json.h"
#include "memory.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cjson.h"
#include <xxhash.h>

static int by_name(const void *a, const void *b)
{
    const cJSON *const *x = a, *const *y = b;
    return strcmp((*x)->string, (*y)->string);
}

cJSON *orr_json_get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

const cJSON **orr_json_sorted(const cJSON *object)
{
    const int n = cJSON_GetArraySize(object);
    const cJSON **sorted = orr_alloc((size_t)n, sizeof *sorted), *item;
    int at = 0;
    cJSON_ArrayForEach (item, object)
        if (sorted)
            sorted[at++] = item;
    if (n > 1 && sorted)
        qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    return sorted;
}

int orr_json_check_keys(const char *path, const cJSON *json)
{
    const cJSON *item;
    const int n = cJSON_IsObject(json) ? cJSON_GetArraySize(json) : 0;
    if (n > 1) {
        const cJSON **sorted = orr_json_sorted(json);
        const char *twice = NULL;
        if (!sorted)
            return ORR_ENOMEM;
        for (int i = 1; i < n && !twice; i++)
            if (!strcmp(sorted[i]->string, sorted[i - 1]->string))
                twice = sorted[i]->string;
        free(sorted);
        if (twice)
            return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\" stands twice in one object", path, twice);
    }
    cJSON_ArrayForEach (item, json)
        if (item->child)
            TRY(orr_json_check_keys(path, item));
    return 0;
}

/* XXH64 of the text of an object without its "xxh64"; false without memory. The object is printed
 * and parsed first, so that numbers stored as raw digits become numbers, as for a reader of the
 * file. */
static bool sum_of(const cJSON *json, char sum[17])
{
    char *written = cJSON_PrintUnformatted(json);
    cJSON *read = written ? cJSON_Parse(written) : NULL;
    cJSON_DeleteItemFromObjectCaseSensitive(read, "xxh64");
    char *text = read ? cJSON_PrintUnformatted(read) : NULL;
    cJSON_Delete(read);
    cJSON_free(written);
    if (text)
        snprintf(sum, 17, "%016llx", (unsigned long long)XXH64(text, strlen(text), 0));
    cJSON_free(text);
    return text != NULL;
}

bool orr_json_sum_add(cJSON *json)
{
    char sum[17];
    cJSON_DeleteItemFromObjectCaseSensitive(json, "xxh64");
    return sum_of(json, sum) && cJSON_AddStringToObject(json, "xxh64", sum);
}

bool orr_json_sum_same(const cJSON *json)
{
    char sum[17];
    const char *said = cJSON_GetStringValue(orr_json_get(json, "xxh64"));
    return said && sum_of(json, sum) && !strcmp(sum, said);
}

int orr_json_read_any(const char *path, cJSON **json, enum orr_json_sum *sum)
{
    char *text;
    size_t bytes;
    int rc = orr_file_read(path, &text, &bytes);
    if (rc)
        return rc;
    const char *end = NULL;
    *json = cJSON_ParseWithOpts(text, &end, 1);
    if (*json && end < text + bytes) { /* the text holds a NUL, where cJSON stops */
        cJSON_Delete(*json);
        *json = NULL;
    }
    if (*json) {
        rc = orr_json_check_keys(path, *json);
    } else if (orr_memory_short()) {
        rc = ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    } else {
        int line = 1, column = 1;
        for (const char *c = text; end && c < end && *c; c++) {
            column = *c == '\n' ? 1 : column + 1;
            line += *c == '\n';
        }
        rc = ORR_FAIL(ORR_EFORMAT, "%s:%d:%d: not valid JSON", path, line, column);
    }
    free(text);
    if (!rc)
        *sum = !cJSON_HasObjectItem(*json, "xxh64") ? ORR_JSON_NO_SUM
               : orr_json_sum_same(*json)           ? ORR_JSON_AS_WRITTEN
                                                    : ORR_JSON_CHANGED;
    if (!rc && *sum == ORR_JSON_CHANGED && orr_memory_short())
        rc = ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    if (rc) {
        cJSON_Delete(*json);
        *json = NULL;
    }
    return rc;
}

int orr_json_read(const char *path, cJSON **json)
{
    enum orr_json_sum sum;
    TRY(orr_json_read_any(path, json, &sum));
    if (sum != ORR_JSON_CHANGED)
        return 0;
    cJSON_Delete(*json);
    *json = NULL;
    return ORR_FAIL(ORR_EFORMAT, "%s: " ORR_JSON_IS_CHANGED, path);
}

cJSON *orr_json_create(const char *format)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", format);
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    return json;
}

/* As a string above 2^53, where a JSON number would be rounded. */
static cJSON *exact_integer(uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return value > 1ull << 53 ? cJSON_CreateString(digits) : cJSON_CreateRaw(digits);
}

bool orr_json_add_u64(cJSON *object, const char *key, uint64_t value)
{
    return cJSON_AddItemToObject(object, key, exact_integer(value));
}

bool orr_json_append_u64(cJSON *list, uint64_t value)
{
    return cJSON_AddItemToArray(list, exact_integer(value));
}

bool orr_json_item_u64(const cJSON *item, uint64_t *value)
{
    if (cJSON_IsNumber(item) && item->valuedouble >= 0 &&
        item->valuedouble <= (double)(1ull << 53) &&
        item->valuedouble == floor(item->valuedouble)) {
        *value = (uint64_t)item->valuedouble;
        return true;
    }
    const char *digits = cJSON_GetStringValue(item);
    char *end;
    if (!digits || !*digits || digits[strspn(digits, "0123456789")])
        return false;
    errno = 0;
    *value = strtoull(digits, &end, 10);
    return !errno;
}

bool orr_json_u64(const cJSON *object, const char *key, uint64_t *value)
{
    return orr_json_item_u64(orr_json_get(object, key), value);
}

void orr_shortest(double value, char *text, size_t bytes)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, bytes, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

static cJSON *exact_number(double value)
{
    char text[40];
    if (!isfinite(value))
        return cJSON_CreateNull();
    orr_shortest(value, text, sizeof text);
    return cJSON_CreateRaw(text);
}

void orr_json_add_exact(cJSON *object, const char *key, double value)
{
    cJSON_AddItemToObject(object, key, exact_number(value));
}

void orr_json_add_list(cJSON *object, const char *key, const double *x, int n)
{
    cJSON *list = cJSON_AddArrayToObject(object, key);
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(list, exact_number(x[i]));
}

bool orr_json_list(const cJSON *object, const char *key, double *x, int n)
{
    const cJSON *list = orr_json_get(object, key);
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != n)
        return false;
    for (int i = 0; i < n; i++)
        x[i] = orr_json_item_number(cJSON_GetArrayItem(list, i));
    return true;
}

double orr_json_item_number(const cJSON *item)
{
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

double orr_json_number(const cJSON *object, const char *key)
{
    return orr_json_item_number(orr_json_get(object, key));
}

bool orr_json_says(const cJSON *object, const char *key, const char *text)
{
    const char *found = cJSON_GetStringValue(orr_json_get(object, key));
    return found && !strcmp(found, text);
}

const char *orr_json_text(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(orr_json_get(object, key));
    return text ? text : "";
}

int orr_json_write(const char *path, cJSON *json)
{
    return orr_json_sum_add(json) ? orr_json_write_plain(path, json)
                                  : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
}

int orr_json_write_plain(const char *path, const cJSON *json)
{
    struct orr_file file = {0};
    char *text = cJSON_Print(json);
    if (!text || orr_memory_short()) {
        cJSON_free(text);
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    }
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_file_printf(&file, "%s\n", text);
    if (!rc)
        rc = orr_file_commit_changes(&file);
    orr_file_close(&file);
    cJSON_free(text);
    return rc;
}
