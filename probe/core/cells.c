/* cells.c - see cells.h. */
#include "cells.h"

#include "stage/provenance.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#define FORMAT "orrery-cells-1"

/* ---------------------------------------------------------------------------------- memory */

static int append_cell(struct probe_cells *cells, const char *name, double **value)
{
    if (cells->count == cells->capacity) {
        const int capacity = cells->capacity ? 2 * cells->capacity : 64;
        struct probe_cell *more = realloc(cells->cell, (size_t)capacity * sizeof *more);
        if (!more)
            return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", cells->path);
        cells->cell = more;
        cells->capacity = capacity;
    }
    struct probe_cell *cell = &cells->cell[cells->count];
    snprintf(cell->name, sizeof cell->name, "%s", name);
    *value = cell->value = orr_alloc(cells->numbers, sizeof *cell->value);
    cells->count += *value != NULL;
    return *value ? 0 : ORR_ENOMEM;
}

void probe_cells_free(struct probe_cells *cells)
{
    for (int i = 0; i < cells->count; i++)
        free(cells->cell[i].value);
    free(cells->cell);
    *cells = (struct probe_cells){0};
}

static const double *find_cell(const struct probe_cells *cells, const char *name)
{
    for (int i = 0; i < cells->count; i++)
        if (!strcmp(cells->cell[i].name, name))
            return cells->cell[i].value;
    return NULL;
}

const double *probe_cells_find(const struct probe_cells *cells, const char *name, ...)
{
    char text[PROBE_CELL];
    va_list list;
    va_start(list, name);
    vsnprintf(text, sizeof text, name, list);
    va_end(list);
    return find_cell(cells, text);
}

/* ----------------------------------------------------------------------------------- lines */

/* Writes an object as one line with a checksum, and deletes the object. */
static int print_line(const char *path, FILE *stream, cJSON *json)
{
    char *text =
        orr_json_sum_add(json) && !orr_memory_short() ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    if (!text)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", path);
    const bool ok = fprintf(stream, "%s\n", text) > 0;
    cJSON_free(text);
    return ok ? 0 : ORR_FAIL(ORR_EIO, "%s: cannot write: %s", path, strerror(errno));
}

static cJSON *header_json(const struct probe_cells *cells)
{
    cJSON *json = orr_json_create(FORMAT);
    cJSON_AddStringToObject(json, "key", cells->key);
    return json;
}

static cJSON *cell_json(const struct probe_cells *cells, const struct probe_cell *cell)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "cell", cell->name);
    cJSON_AddItemToObject(json, "value", cJSON_CreateDoubleArray(cell->value, (int)cells->numbers));
    return json;
}

/* Replaces the file by all known cells. */
static int rewrite_file(const struct probe_cells *cells)
{
    struct orr_file file = {0};
    int rc = orr_file_create(&file, cells->path);
    rc = rc ? rc : print_line(cells->path, file.stream, header_json(cells));
    for (int i = 0; i < cells->count && !rc; i++)
        rc = print_line(cells->path, file.stream, cell_json(cells, &cells->cell[i]));
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

int probe_cells_add(struct probe_cells *cells, const double *value, const char *name, ...)
{
    char text[PROBE_CELL];
    double *kept;
    va_list list;
    va_start(list, name);
    vsnprintf(text, sizeof text, name, list);
    va_end(list);
    TRY(append_cell(cells, text, &kept));
    memcpy(kept, value, cells->numbers * sizeof *value);
    FILE *stream = fopen(cells->path, "a");
    if (!stream)
        return ORR_FAIL(ORR_EIO, "%s: cannot write: %s", cells->path, strerror(errno));
    int rc = print_line(cells->path, stream, cell_json(cells, &cells->cell[cells->count - 1]));
    if (!rc && (fflush(stream) || fsync(fileno(stream))))
        rc = ORR_FAIL(ORR_EIO, "%s: cannot write: %s", cells->path, strerror(errno));
    fclose(stream);
    return rc;
}

/* ------------------------------------------------------------------------------------ read */

/* Stores the cell of a line; false where the line is not a cell. */
static bool read_cell(struct probe_cells *cells, const cJSON *json, int *rc)
{
    const char *name = cJSON_GetStringValue(orr_json_get(json, "cell"));
    const cJSON *list = orr_json_get(json, "value");
    double *value;
    if (!name || (size_t)cJSON_GetArraySize(list) != cells->numbers || find_cell(cells, name))
        return false;
    *rc = append_cell(cells, name, &value);
    for (const cJSON *item = list->child; item && !*rc; item = item->next)
        *value++ = orr_json_item_number(item);
    return !*rc;
}

/* Reads cells from the lines of a text, up to the first line that was changed or cut. */
static int read_lines(struct probe_cells *cells, const char *text)
{
    int rc = 0;
    bool kept = true;
    for (const char *line = text, *end; kept && (end = strchr(line, '\n')) != NULL;
         line = end + 1) {
        cJSON *json = cJSON_ParseWithLength(line, (size_t)(end - line));
        kept = orr_json_sum_same(json);
        if (kept)
            kept = line == text ? orr_json_says(json, "format", FORMAT) &&
                                      orr_json_says(json, "key", cells->key)
                                : read_cell(cells, json, &rc);
        cJSON_Delete(json);
    }
    return rc;
}

/* Versions up to 0.2 kept cells in other formats. */
static int note_older(const struct probe_options *options, const char *folder, const char *probe)
{
    static const char *const ends[] = {"json", "safetensors"};
    char path[4096];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        TRY(orr_path(path, "%s/%s_cells.%s", folder, probe, ends[i]));
        orr_note(options->quiet || !orr_exists(path),
                 "%s: %s is of an older version: its cells are measured again; delete it", probe,
                 path);
    }
    return 0;
}

int probe_cells_open(struct probe_cells *cells, const struct probe_options *options,
                     const char *folder, const char *probe, const char *key, size_t numbers)
{
    char *text = NULL;
    size_t bytes;
    *cells = (struct probe_cells){.numbers = numbers};
    snprintf(cells->key, sizeof cells->key, "%s", key);
    TRY(orr_mkdir(folder));
    TRY(orr_path(cells->path, "%s/%s_cells.jsonl", folder, probe));
    if (options->resume && !orr_exists(cells->path))
        TRY(note_older(options, folder, probe));
    if (options->resume && orr_exists(cells->path)) {
        TRY(orr_file_read(cells->path, &text, &bytes));
        const int rc = read_lines(cells, text);
        free(text);
        TRY(rc);
    }
    if (cells->count)
        orr_note(options->quiet, "%s: continues after %d measurements of %s", probe, cells->count,
                 cells->path);
    return rewrite_file(cells);
}
