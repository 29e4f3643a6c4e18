/* files.c - see files.h. */
#include "files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

void compare_print_mean(struct orr_mean x)
{
    if (x.half == 0) /* equal values in all seeds do not prove that others would be equal */
        printf(" %.4g, in every seed |", x.mean);
    else if (isfinite(x.half))
        printf(" %.4g +- %.2g |", x.mean, x.half);
    else if (isfinite(x.mean))
        printf(" %.4g |", x.mean);
    else
        printf(" - |");
}

struct orr_mean compare_without_interval(struct orr_mean x)
{
    x.half = NAN;
    return x;
}

/* Reads a name that may be a file name. */
static int take_name(const struct compare_file *file, const char *key, const char **text)
{
    *text = cJSON_GetStringValue(orr_json_get(file->json, key));
    if (!*text || strlen(*text) >= ORR_NAME)
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a short text, found %s", file->path, key,
                        *text ? *text : "none");
    if (orr_is_name(*text))
        return 0;
    return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a name without \"/\", found \"%s\"",
                    file->path, key, *text);
}

/* Reads a name that may stand in a table. */
static int take_label(const struct compare_file *file, const char *key, const char **text)
{
    TRY(take_name(file, key, text));
    return orr_is_label(*text)
               ? 0
               : ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": found \"|\" in \"%s\"", file->path, key, *text);
}

/* Checks the checkpoint of results in a run: results lie in <source>/probe/, the checkpoint in
 * <source>/<stage>/. Files outside a run have no checkpoint nearby and are accepted unchecked. */
static int check_checkpoint(const char *path, const cJSON *json)
{
    const char *named = cJSON_GetStringValue(orr_json_get(json, "checkpoint"));
    const char *stage = cJSON_GetStringValue(orr_json_get(json, "stage"));
    const char *was = cJSON_GetStringValue(orr_json_get(json, "checkpoint_xxh64"));
    const char *slash = strrchr(path, '/');
    char is[17], checkpoint[4096];
    uint64_t content, bytes;
    if (!named || !stage || !was)
        return 0;
    const char *name = strrchr(named, '/');
    TRY(orr_path(checkpoint, "%.*s../%s/%s", slash ? (int)(slash - path) + 1 : 0, path, stage,
                 name ? name + 1 : named));
    if (!orr_exists(checkpoint))
        return 0;
    TRY(orr_file_checksum(checkpoint, &content, &bytes));
    snprintf(is, sizeof is, "%016llx", (unsigned long long)content);
    if (!strcmp(was, is))
        return 0;
    return ORR_FAIL(ORR_EINVAL, "%s: measured on another checkpoint than %s is now; measure again",
                    path, checkpoint);
}

static int read_file(struct compare_file *file, struct orr_table *table)
{
    file->first = table->count;
    TRY(orr_rows_read(file->path, table, &file->json));
    file->end = table->count;
    cJSON_DeleteItemFromObjectCaseSensitive(file->json, "rows");
    if (!orr_json_u64(file->json, "seed", &file->seed))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"seed\": expected a whole number from 0 on", file->path);
    TRY(take_label(file, "probe", &file->probe));
    TRY(take_label(file, "source", &file->source));
    TRY(take_label(file, "stage", &file->stage));
    TRY(check_checkpoint(file->path, file->json));
    TRY(take_name(file, "preset", &file->preset));
    file->attention = orr_json_text(file->json, "attention");
    if (orr_is_label(file->attention) && strlen(file->attention) < COMPARE_TEXT)
        return 0;
    return ORR_FAIL(ORR_EFORMAT, "%s: \"attention\": expected a short text, found %s", file->path,
                    file->attention);
}

/* The part of a key (see probe_key()) after probe, checkpoint and settings: the options. NULL where
 * the file does not record the key. */
static const char *options_of(const struct compare_file *file)
{
    const char *at = orr_json_text(file->json, "key");
    if (!*at)
        return NULL;
    for (int k = 0; k < 3 && *at; k++)
        at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ');
    return at;
}

/* Checks that a file is of the same measurement as the first one. */
static int check_file(const struct compare_file *file, const struct compare_file *first)
{
    const char *is = options_of(file), *was = options_of(first);
    if (strcmp(file->probe, first->probe) || strcmp(file->preset, first->preset))
        return ORR_FAIL(ORR_EINVAL, "%s: of probe %s, preset %s; %s is of probe %s, preset %s",
                        file->path, file->probe, file->preset, first->path, first->probe,
                        first->preset);
    if (is && was && strcmp(is, was) != 0)
        return ORR_FAIL(ORR_EINVAL, "%s: measured with other options (%s) than %s (%s)", file->path,
                        is, first->path, was);
    return 0;
}

int compare_files_read(const struct compare_options *options, const char *name,
                       struct compare_files *files)
{
    const int n = options->file_count;
    *files = (struct compare_files){0};
    if (n < 1 || n > COMPARE_FILES)
        return ORR_FAIL(ORR_EUSAGE, "%s: expected 1 to %d files of results of one probe, found %d",
                        name, COMPARE_FILES, n);
    files->file = orr_alloc((size_t)n, sizeof *files->file);
    if (!files->file)
        return ORR_ENOMEM;
    for (int i = 0; i < n; i++) {
        struct compare_file *file = &files->file[files->count++];
        file->path = options->file[i];
        TRY(read_file(file, &files->table));
        TRY(check_file(file, files->file));
    }
    return 0;
}

void compare_files_free(struct compare_files *files)
{
    for (int i = 0; i < files->count; i++)
        cJSON_Delete(files->file[i].json);
    free(files->file);
    orr_table_free(&files->table);
}

cJSON *compare_files_json(const struct compare_files *files, const char *format)
{
    cJSON *json = orr_json_create(format);
    cJSON_AddStringToObject(json, "probe", files->file[0].probe);
    cJSON_AddStringToObject(json, "preset", files->file[0].preset);
    cJSON *paths = cJSON_AddArrayToObject(json, "files");
    for (int i = 0; i < files->count; i++)
        cJSON_AddItemToArray(paths, cJSON_CreateString(files->file[i].path));
    return json;
}
