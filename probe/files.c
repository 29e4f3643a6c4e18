/* files.c - see files.h. */
#include "files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

void probe_print_mean(struct orr_mean x)
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

/* Reads a name that may be a file name. */
static int take_name(const struct probe_file *file, const cJSON *json, const char *key,
                     char text[ORR_NAME])
{
    const char *value = cJSON_GetStringValue(orr_json_get(json, key));
    if (!value || snprintf(text, ORR_NAME, "%s", value) >= ORR_NAME)
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a short text, found %s", file->path, key,
                        value ? value : "none");
    if (orr_is_name(text))
        return 0;
    return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a name without \"/\", found \"%s\"",
                    file->path, key, text);
}

/* Reads a name that may stand in a table. */
static int take_label(const struct probe_file *file, const cJSON *json, const char *key,
                      char text[ORR_NAME])
{
    TRY(take_name(file, json, key, text));
    return orr_is_label(text)
               ? 0
               : ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": found \"|\" in \"%s\"", file->path, key, text);
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

static int fill_file(const cJSON *json, struct probe_file *file)
{
    const char *attention = cJSON_GetStringValue(orr_json_get(json, "attention"));
    const char *key = cJSON_GetStringValue(orr_json_get(json, "key"));
    if (!orr_json_u64(json, "seed", &file->seed))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"seed\": expected a whole number from 0 on", file->path);
    TRY(take_label(file, json, "probe", file->probe));
    TRY(take_label(file, json, "source", file->source));
    TRY(take_label(file, json, "stage", file->stage));
    TRY(check_checkpoint(file->path, json));
    TRY(take_name(file, json, "preset", file->preset));
    if (attention && (!orr_is_label(attention) || strlen(attention) >= sizeof file->attention))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"attention\": expected a short text, found %s",
                        file->path, attention);
    snprintf(file->attention, sizeof file->attention, "%s", attention ? attention : "");
    snprintf(file->key, sizeof file->key, "%s", key ? key : "");
    return 0;
}

static int read_file(const char *path, struct probe_file *file)
{
    cJSON *json;
    file->path = path;
    TRY(probe_results_read(path, &file->results, &json));
    const int rc = fill_file(json, file);
    file->settings = cJSON_DetachItemFromObjectCaseSensitive(json, "settings");
    cJSON_Delete(json);
    return rc;
}

/* The part of a key after probe, checkpoint and settings: the options. */
static const char *options_of(const struct probe_file *file)
{
    const char *at = file->key;
    for (int k = 0; k < 3 && *at; k++)
        at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ');
    return at;
}

int probe_files_read(const struct probe_options *options, const char *name,
                     struct probe_file **files)
{
    const int n = options->file_count;
    *files = NULL;
    if (n < 1 || n > PROBE_FILES)
        return ORR_FAIL(ORR_EUSAGE, "%s: expected 1 to %d files of results of one probe, found %d",
                        name, PROBE_FILES, n);
    struct probe_file *file = calloc((size_t)n, sizeof *file);
    if (!file)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", name);
    *files = file;
    for (int i = 0; i < n; i++) {
        TRY(read_file(options->file[i], &file[i]));
        if (strcmp(file[i].probe, file[0].probe) || strcmp(file[i].preset, file[0].preset))
            return ORR_FAIL(ORR_EINVAL, "%s: of probe %s, preset %s; %s is of probe %s, preset %s",
                            file[i].path, file[i].probe, file[i].preset, file[0].path,
                            file[0].probe, file[0].preset);
        if (*file[i].key && *file[0].key && strcmp(options_of(&file[i]), options_of(&file[0])) != 0)
            return ORR_FAIL(ORR_EINVAL, "%s: measured with other options (%s) than %s (%s)",
                            file[i].path, options_of(&file[i]), file[0].path, options_of(&file[0]));
    }
    return 0;
}

void probe_files_free(struct probe_file *files, int n)
{
    for (int i = 0; files && i < n; i++) {
        probe_results_free(&files[i].results);
        cJSON_Delete(files[i].settings);
    }
    free(files);
}

bool probe_same_kind(const struct probe_file *a, const struct probe_file *b)
{
    return !strcmp(a->source, b->source) && !strcmp(a->stage, b->stage);
}

bool probe_is_first(const struct probe_file *files, int i, const struct probe_row *row,
                    bool of_kind)
{
    for (int k = 0; k < i; k++)
        if ((!of_kind || probe_same_kind(&files[k], &files[i])) &&
            probe_results_find(&files[k].results, row))
            return false;
    return true;
}

cJSON *probe_files_json(const struct probe_file *files, int n, const char *format)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", format);
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "probe", files[0].probe);
    cJSON_AddStringToObject(json, "preset", files[0].preset);
    cJSON *paths = cJSON_AddArrayToObject(json, "files");
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(paths, cJSON_CreateString(files[i].path));
    return json;
}
