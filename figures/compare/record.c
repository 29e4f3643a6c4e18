/* record.c - a cell's figures in the file of its results (docs/formats.md, cell.json): written on
 * the machine that made the cell, read wherever cells are put together. */
#include "verdict.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

/* ------------------------------------------------------------------------------- writing */

static void add_cell(const struct verdict_cell *cell, cJSON *list)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "attention", cell->attention);
    cJSON *figures = cJSON_AddObjectToObject(json, "figures");
    for (int q = 0; verdict_table[q].id; q++) {
        const double *x = cell->figure[q];
        if (isfinite(x[0]) || isfinite(x[1]) || isfinite(x[2]) || isfinite(x[3]))
            orr_json_add_list(figures, verdict_table[q].id, x, 4);
    }
}

int verdict_record(const struct verdict *v, const char *run)
{
    char path[REPORT_PATH];
    cJSON *json = NULL;
    int rc = report_runs_record(&v->runs.run[0], &json);
    verdict_add_missing(v, json);
    cJSON *list = cJSON_AddArrayToObject(json, "cells");
    for (size_t i = 0; i < v->count; i++)
        add_cell(&v->cell[i], list);
    if (!rc && !list)
        rc = ORR_FAIL(ORR_ENOMEM, "%s: out of memory", run);
    if (!rc)
        rc = orr_path(path, "%s/cell.json", run);
    if (!rc)
        rc = orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

/* ------------------------------------------------------------------------------- reading */

static int take_cell(struct verdict *v, const struct runs_run *run, const cJSON *json)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "attention"));
    const cJSON *figures = cJSON_GetObjectItemCaseSensitive(json, "figures");
    struct verdict_cell *cell;
    if (!name || !orr_is_name(name) || strchr(name, ' ') || !orr_is_label(name) ||
        strlen(name) >= ORR_NAME || !cJSON_IsObject(figures))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"cells\": expected an attention and its figures",
                        run->path);
    for (size_t i = 0; i < v->count; i++)
        if (v->cell[i].path == run->path && !strcmp(v->cell[i].attention, name))
            return ORR_FAIL(ORR_EFORMAT, "%s: \"cells\": attention %s is there twice", run->path,
                            name);
    TRY(verdict_add_cell(v, run, name, &cell));
    for (int q = 0; verdict_table[q].id; q++) {
        if (cJSON_HasObjectItem(figures, verdict_table[q].id) &&
            !orr_json_list(figures, verdict_table[q].id, cell->figure[q], 4))
            return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected value, ceiling, floor, raw",
                            run->path, verdict_table[q].id);
    }
    return 0;
}

static const char *text_of(const cJSON *json, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
    return text ? text : "";
}

/* Probes that the cell was not asked for, when others were, are missing in it. */
static int take_missing(struct verdict *v, const struct runs_run *run, const cJSON *json)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(json, "missing"))
        TRY(verdict_miss(v, text_of(item, "what"), text_of(item, "why")));
    cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(json, "unasked")) {
        const char *probe = cJSON_GetStringValue(item);
        bool is_unasked = !probe;
        for (int i = 0; i < v->unasked.count && !is_unasked; i++)
            is_unasked = !strcmp(v->unasked.item[i], probe);
        if (!is_unasked)
            TRY(verdict_miss(v, run->path, probe));
    }
    return 0;
}

int verdict_take_record(struct verdict *v, const struct runs_run *run)
{
    const cJSON *cell, *cells = cJSON_GetObjectItemCaseSensitive(run->record, "cells");
    if (!cJSON_GetArraySize(cells))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"cells\": expected at least one", run->path);
    TRY(take_missing(v, run, run->record));
    cJSON_ArrayForEach (cell, cells)
        TRY(take_cell(v, run, cell));
    return 0;
}

bool verdict_record_has(const struct runs_run *run, const char *probe)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(run->record, "unasked"))
        if (cJSON_IsString(item) && !strcmp(item->valuestring, probe))
            return false;
    return true;
}
