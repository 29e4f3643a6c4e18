/* files.c - see files.h. */
#include "files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

void probe_print_mean(struct orr_mean x)
{
    if (x.half == 0) /* which is no proof that it always would be */
        printf(" %.4g, in every seed |", x.mean);
    else if (isfinite(x.half))
        printf(" %.4g +- %.2g |", x.mean, x.half);
    else if (isfinite(x.mean))
        printf(" %.4g |", x.mean);
    else
        printf(" - |");
}

/* A name that can be that of a file. */
static int take_name(const struct probe_file *cell, const cJSON *json, const char *key,
                     char text[ORR_NAME])
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
    if (!value || snprintf(text, ORR_NAME, "%s", value) >= ORR_NAME)
        return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a short text, found %s", cell->path, key,
                        value ? value : "none");
    if (orr_is_name(text))
        return 0;
    return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected a name without \"/\", found \"%s\"",
                    cell->path, key, text);
}

/* The same of one that stands in tables. */
static int take_label(const struct probe_file *cell, const cJSON *json, const char *key,
                      char text[ORR_NAME])
{
    TRY(take_name(cell, json, key, text));
    return orr_is_label(text)
               ? 0
               : ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": found \"|\" in \"%s\"", cell->path, key, text);
}

/* Where results lie in the run, <source>/probe/, the checkpoint is in <source>/<stage>/. Files that
 * lie elsewhere have none beside them, and are taken as they are. */
static int check_checkpoint(const char *path, const cJSON *json)
{
    const char *named = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "checkpoint"));
    const char *stage = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "stage"));
    const char *was =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "checkpoint_xxh64"));
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

static int read_cell(const char *path, struct probe_file *cell)
{
    cJSON *json;
    cell->path = path;
    int rc = probe_results_read(path, &cell->results, &json);
    if (rc)
        return rc;
    if (!orr_json_u64(json, "seed", &cell->seed))
        rc = ORR_FAIL(ORR_EFORMAT, "%s: \"seed\": expected a whole number from 0 on", path);
    rc = rc ? rc : take_label(cell, json, "probe", cell->probe);
    rc = rc ? rc : take_label(cell, json, "source", cell->source);
    rc = rc ? rc : take_label(cell, json, "stage", cell->stage);
    rc = rc ? rc : check_checkpoint(path, json);
    rc = rc ? rc : take_name(cell, json, "preset", cell->preset);
    const char *attention =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "attention"));
    if (attention && (!orr_is_label(attention) || strlen(attention) >= sizeof cell->attention))
        rc = rc ? rc
                : ORR_FAIL(ORR_EFORMAT, "%s: \"attention\": expected a short text, found %s", path,
                           attention);
    else
        snprintf(cell->attention, sizeof cell->attention, "%s", attention ? attention : "");
    const char *key = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "key"));
    snprintf(cell->key, sizeof cell->key, "%s", key ? key : "");
    cell->settings = cJSON_DetachItemFromObjectCaseSensitive(json, "settings");
    cJSON_Delete(json);
    return rc;
}

/* What a key has behind probe, checkpoint and settings: the options. */
static const char *options_of(const struct probe_file *file)
{
    const char *at = file->key;
    for (int k = 0; k < 3 && *at; k++)
        at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ');
    return at;
}

int probe_files_read(const struct probe_options *options, const char *name,
                     struct probe_file **cells)
{
    const int n = options->file_count;
    *cells = NULL;
    if (n < 1 || n > PROBE_FILES)
        return ORR_FAIL(ORR_EUSAGE, "%s: expected 1 to %d files of results of one probe, found %d",
                        name, PROBE_FILES, n);
    struct probe_file *cell = calloc((size_t)n, sizeof *cell);
    if (!cell)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", name);
    *cells = cell;
    for (int i = 0; i < n; i++) {
        TRY(read_cell(options->file[i], &cell[i]));
        if (strcmp(cell[i].probe, cell[0].probe) || strcmp(cell[i].preset, cell[0].preset))
            return ORR_FAIL(ORR_EINVAL, "%s: of probe %s, preset %s; %s is of probe %s, preset %s",
                            cell[i].path, cell[i].probe, cell[i].preset, cell[0].path,
                            cell[0].probe, cell[0].preset);
        if (*cell[i].key && *cell[0].key && strcmp(options_of(&cell[i]), options_of(&cell[0])) != 0)
            return ORR_FAIL(ORR_EINVAL, "%s: measured with other options (%s) than %s (%s)",
                            cell[i].path, options_of(&cell[i]), cell[0].path, options_of(&cell[0]));
    }
    return 0;
}

void probe_files_free(struct probe_file *cells, int n)
{
    for (int i = 0; cells && i < n; i++) {
        probe_results_free(&cells[i].results);
        cJSON_Delete(cells[i].settings);
    }
    free(cells);
}

cJSON *probe_files_json(const struct probe_file *cells, int n, const char *format)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", format);
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "probe", cells[0].probe);
    cJSON_AddStringToObject(json, "preset", cells[0].preset);
    cJSON *files = cJSON_AddArrayToObject(json, "files");
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(files, cJSON_CreateString(cells[i].path));
    return json;
}
