/* record.c - the values of the verdict's questions in the file of a run's results, cell.json
 * (docs/formats.md), beside what bin/compare runs needs of it. */
#include "verdict.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Adds the values of one attention. */
static void add_figures(const struct verdict *v, const struct compare_cell *cell, int s,
                        cJSON *list)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    cJSON_AddStringToObject(json, "attention", compare_cell_source(&v->cells, cell, s));
    cJSON *figures = cJSON_AddObjectToObject(json, "figures");
    for (int q = 0; v->question[q].id; q++) {
        const struct orr_row *row = compare_cell_row(&v->cells, cell, s, COMPARE_COLUMNS + q);
        const double x[4] = {row->value, row->upper_bound, row->baseline, row->raw};
        if (isfinite(x[0]) || isfinite(x[1]) || isfinite(x[2]) || isfinite(x[3]))
            orr_json_add_list(figures, row->quantity, x, 4);
    }
}

int verdict_record(const struct verdict *v, const char *run)
{
    const struct compare_cell *cell = &v->cells.cell[0];
    char path[REPORT_PATH];
    cJSON *json = compare_cell_json(&v->cells, cell);
    verdict_add_missing(v, json);
    cJSON *list = cJSON_AddArrayToObject(json, "cells");
    for (int s = 0; s < cell->sources; s++)
        if (compare_is_model(&v->cells, cell, s))
            add_figures(v, cell, s, list);
    int rc = orr_path(path, "%s/cell.json", run);
    rc = rc ? rc : orr_json_write(path, json);
    cJSON_Delete(json);
    return rc;
}

static int take_figures(struct verdict *v, const struct compare_cell *cell, const cJSON *json)
{
    const char *name = cJSON_GetStringValue(orr_json_get(json, "attention"));
    const cJSON *figures = orr_json_get(json, "figures");
    const int s = name ? compare_cell_find(&v->cells, cell, name) : -1;
    double x[4];
    if (s < 0 || !cJSON_IsObject(figures) || !compare_is_model(&v->cells, cell, s))
        return ORR_FAIL(ORR_EFORMAT,
                        "%s: \"cells\": expected an attention of \"sources\" and its figures",
                        cell->path);
    for (const cJSON *other = json->next; other; other = other->next)
        if (orr_json_says(other, "attention", name))
            return ORR_FAIL(ORR_EFORMAT, "%s: \"cells\": attention %s is there twice", cell->path,
                            name);
    for (int q = 0; v->question[q].id; q++) {
        struct orr_row *row = compare_cell_row(&v->cells, cell, s, COMPARE_COLUMNS + q);
        if (!cJSON_HasObjectItem(figures, row->quantity))
            continue;
        if (!orr_json_list(figures, row->quantity, x, 4))
            return ORR_FAIL(ORR_EFORMAT, "%s: \"%s\": expected value, upper bound, baseline, raw",
                            cell->path, row->quantity);
        row->value = x[0];
        row->upper_bound = x[1];
        row->baseline = x[2];
        row->raw = x[3];
    }
    return 0;
}

/* Adds probes as missing where the cell lacks them but other cells have them. */
static int take_missing(struct verdict *v, const struct compare_cell *cell, const cJSON *json)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, orr_json_get(json, "missing"))
        TRY(compare_miss(&v->missing, orr_json_text(item, "what"), orr_json_text(item, "why")));
    cJSON_ArrayForEach (item, orr_json_get(json, "unasked")) {
        const char *probe = cJSON_GetStringValue(item);
        bool is_unasked = !probe;
        for (int i = 0; i < v->unasked.count && !is_unasked; i++)
            is_unasked = !strcmp(v->unasked.item[i], probe);
        if (!is_unasked)
            TRY(compare_miss(&v->missing, cell->path, probe));
    }
    return 0;
}

int verdict_take_record(struct verdict *v, const struct compare_cell *cell)
{
    const cJSON *item, *list = orr_json_get(cell->record, "cells");
    if (!cJSON_GetArraySize(list))
        return ORR_FAIL(ORR_EFORMAT, "%s: \"cells\": expected at least one", cell->path);
    TRY(take_missing(v, cell, cell->record));
    cJSON_ArrayForEach (item, list)
        TRY(take_figures(v, cell, item));
    return 0;
}

bool verdict_record_has(const struct compare_cell *cell, const char *probe)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, orr_json_get(cell->record, "unasked"))
        if (cJSON_IsString(item) && !strcmp(item->valuestring, probe))
            return false;
    return true;
}
