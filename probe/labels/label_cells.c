/* label_cells.c - labels_cells.json ("orrery-label-cells-1", docs/formats.md). */
#include "label_cells.h"

#include "base/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define FORMAT "orrery-label-cells-1"

static int take(struct probe_cells *cells, const struct probe_cell *cell)
{
    if (cells->count == cells->room) {
        const int room = cells->room ? 2 * cells->room : 64;
        struct probe_cell *more = realloc(cells->cell, (size_t)room * sizeof *more);
        if (!more)
            return ORR_FAIL(ORR_ENOMEM, "cells of a label curve: out of memory");
        cells->cell = more;
        cells->room = room;
    }
    double *residual = orr_alloc(cells->sequences, sizeof *residual);
    if (!residual)
        return ORR_ENOMEM;
    memcpy(residual, cell->residual, cells->sequences * sizeof *residual);
    cells->cell[cells->count] = *cell;
    cells->cell[cells->count++].residual = residual;
    return 0;
}

void probe_cells_free(struct probe_cells *cells)
{
    for (int i = 0; i < cells->count; i++)
        free(cells->cell[i].residual);
    free(cells->cell);
    memset(cells, 0, sizeof *cells);
}

const struct probe_cell *probe_cells_find(const struct probe_cells *cells, enum probe_arm arm,
                                          int n, int draw)
{
    for (int i = 0; i < cells->count; i++)
        if (cells->cell[i].arm == arm && cells->cell[i].n == n && cells->cell[i].draw == draw)
            return &cells->cell[i];
    return NULL;
}

/* ---------------------------------------------------------------------------------- read */

/* A cell of the file; false: not one. */
static bool read_cell(const cJSON *json, size_t sequences, struct probe_cell *cell)
{
    const char *arm = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "arm"));
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "residual"), *item;
    const double n = orr_json_number(json, "n"), draw = orr_json_number(json, "draw"),
                 steps = orr_json_number(json, "steps");
    int a = 0;
    size_t k = 0;
    while (a < PROBE_ARMS && (!arm || strcmp(arm, probe_arm_name[a]) != 0))
        a++;
    if (a == PROBE_ARMS || !(n >= 1 && n < 1e9) || !(draw >= 0 && draw < 1e6) || !(steps >= 0) ||
        !cJSON_IsArray(list))
        return false;
    cell->arm = (enum probe_arm)a;
    cell->n = (int)n;
    cell->draw = (int)draw;
    cell->steps = (long)steps;
    cell->lr = orr_json_number(json, "lr");
    cell->r2 = orr_json_number(json, "r2");
    cell->seconds = orr_json_number(json, "seconds");
    cJSON_ArrayForEach (item, list) {
        if (k == sequences || !cJSON_IsNumber(item))
            return false;
        cell->residual[k++] = item->valuedouble;
    }
    return k == sequences;
}

/* What cannot be read is measured again. */
static int read_cells(struct probe_cells *cells)
{
    cJSON *json = NULL;
    struct probe_cell cell = {.residual = orr_alloc(cells->sequences, sizeof(double))};
    int rc = cell.residual ? 0 : ORR_ENOMEM;
    if (!rc && orr_json_read(cells->path, &json)) {
        orr_error_clear();
        json = NULL;
    }
    const char *format = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "format"));
    const char *key = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "key"));
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "cells"), *item;
    char why[ORR_WHY];
    if (format && !strcmp(format, FORMAT) && key && !strcmp(key, cells->key) &&
        orr_sum_same(json, why))
        cJSON_ArrayForEach (item, list)
            if (!rc && read_cell(item, cells->sequences, &cell))
                rc = take(cells, &cell);
    cJSON_Delete(json);
    free(cell.residual);
    return rc;
}

int probe_cells_open(struct probe_cells *cells, const char *folder, const char key[PROBE_KEY],
                     size_t sequences, bool resume)
{
    *cells = (struct probe_cells){.sequences = sequences};
    snprintf(cells->key, sizeof cells->key, "%s", key);
    TRY(orr_path(cells->path, "%s/labels_cells.json", folder));
    return resume && orr_exists(cells->path) ? read_cells(cells) : 0;
}

/* --------------------------------------------------------------------------------- write */

/* Six digits: more would only make the file longer. */
static double short_number(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", x);
    return strtod(text, NULL);
}

static int write_cells(const struct probe_cells *cells)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", FORMAT);
    cJSON_AddStringToObject(json, "version", ORR_VERSION);
    cJSON_AddStringToObject(json, "key", cells->key);
    cJSON *list = cJSON_AddArrayToObject(json, "cells");
    for (int i = 0; i < cells->count; i++) {
        const struct probe_cell *c = &cells->cell[i];
        cJSON *cell = cJSON_CreateObject();
        cJSON_AddStringToObject(cell, "arm", probe_arm_name[c->arm]);
        cJSON_AddNumberToObject(cell, "n", c->n);
        cJSON_AddNumberToObject(cell, "draw", c->draw);
        cJSON_AddNumberToObject(cell, "lr", c->lr);
        cJSON_AddNumberToObject(cell, "r2", c->r2);
        cJSON_AddNumberToObject(cell, "steps", (double)c->steps);
        cJSON_AddNumberToObject(cell, "seconds", short_number(c->seconds));
        cJSON_AddItemToObject(cell, "residual",
                              cJSON_CreateDoubleArray(c->residual, (int)cells->sequences));
        cJSON_AddItemToArray(list, cell);
    }
    const int rc = orr_sum_add(json) ? orr_json_write(cells->path, json)
                                     : ORR_FAIL(ORR_ENOMEM, "%s: out of memory", cells->path);
    cJSON_Delete(json);
    return rc;
}

int probe_cells_add(struct probe_cells *cells, const struct probe_cell *cell)
{
    TRY(take(cells, cell));
    struct probe_cell *kept = &cells->cell[cells->count - 1];
    for (size_t s = 0; s < cells->sequences; s++) /* as a resumed probe will read them */
        kept->residual[s] = short_number(kept->residual[s]);
    return write_cells(cells);
}
