/* results.c - the part "results": a table of results, and its columns. */
#include "call.h"

#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"
#include "columns.h"
#include "stage/provenance.h"
#include "symreg/motion/motion.h"

struct orrery_results {
    struct api_handle handle;
    struct api_columns table;
};

int orrery_results_create(int interface_, struct orrery_results **results)
{
    return api_create(interface_, sizeof **results, results);
}

void orrery_results_free(struct orrery_results *r)
{
    if (!r)
        return;
    api_columns_free(&r->table);
    free(r);
}

static int check_text(const char *path)
{
    return path && *path ? 0
                         : ORR_FAIL(ORR_EINVAL, "path: expected a text, found %s",
                                    path ? "an empty one" : "NULL");
}

/* Takes a table that was read, unless that failed. */
static int take_table(struct orrery_results *r, struct api_columns *table, int rc)
{
    if (rc) {
        api_columns_free(table);
        return rc;
    }
    api_columns_free(&r->table);
    r->table = *table;
    return 0;
}

static int open_path(struct orrery_results *r, const char *path)
{
    struct api_columns table = {0};
    TRY(check_text(path));
    return take_table(r, &table, api_columns_read(path, &table));
}

int orrery_results_open(struct orrery_results *r, const char *path)
{
    API_RETURN(r, open_path(r, path));
}

static int open_horizons(struct orrery_results *r, const char *const *file, int count)
{
    struct api_columns table = {0};
    if (!file || count < 1 || count > SR_HORIZONS_FILES)
        return ORR_FAIL(ORR_EINVAL, "files of JPL Horizons: expected 1 to %d, found %d",
                        SR_HORIZONS_FILES, file ? count : 0);
    for (int k = 0; k < count; k++) {
        TRY(check_text(file[k]));
        if (!strcmp(file[k], "-"))
            return ORR_FAIL(ORR_EINVAL, "path: expected a file, found \"-\", standard input");
    }
    return take_table(r, &table, api_columns_horizons(file, count, &table));
}

int orrery_results_horizons(struct orrery_results *r, const char *const *file, int count)
{
    API_RETURN(r, open_horizons(r, file, count));
}

static int check_path(const char *path)
{
    char folder[4096], why[ORR_WHY] = "";
    cJSON *json = NULL;
    TRY(check_text(path));
    const char *slash = strrchr(path, '/');
    if (!orr_exists(path))
        return ORR_FAIL(ORR_EMISSING, "%s: no such file", path);
    TRY(orr_cjson_open(path));
    TRY(orr_path(folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : "."));
    TRY(orr_json_read(path, &json));
    const cJSON *files = orr_json_get(json, "files");
    const bool whole = !files || orr_files_same(folder, files, why);
    cJSON_Delete(json);
    return whole ? 0 : ORR_FAIL(ORR_EFORMAT, "%s: %s", path, why);
}

int orrery_results_check(struct orrery_results *r, const char *path)
{
    API_RETURN(r, check_path(path));
}

int orrery_results_size(struct orrery_results *r, size_t *rows, size_t *columns)
{
    struct api_call call;
    TRY(api_enter(r ? &r->handle : NULL, &call));
    if (rows)
        *rows = r->table.rows;
    if (columns)
        *columns = r->table.count;
    return api_leave(&call, 0);
}

static int give_column(const struct orrery_results *r, size_t number, struct orrery_column *column)
{
    TRY(api_filled("column", sizeof *column, column));
    if (number >= r->table.count)
        return ORR_FAIL(ORR_EINVAL, "column: expected a number below %zu, found %zu",
                        r->table.count, number);
    const struct api_column *from = &r->table.column[number];
    *column = (struct orrery_column){.bytes = sizeof *column,
                                     .name = from->name,
                                     .kind = from->word ? ORRERY_WORDS : ORRERY_NUMBERS,
                                     .numbers = from->number,
                                     .words = (const char *const *)from->word};
    return 0;
}

int orrery_results_column(struct orrery_results *r, size_t number, struct orrery_column *column)
{
    API_RETURN(r, give_column(r, number, column));
}

/* Writes the names of the existing columns: " a, b, c". */
static void list_names(const struct api_columns *table, char *text, size_t bytes)
{
    *text = '\0';
    for (size_t c = 0; c < table->count; c++)
        orr_append(text, bytes, "%s%s", c ? ", " : "", table->column[c].name);
    orr_one_line(text);
}

static int find_column(const struct orrery_results *r, const char *name,
                       struct orrery_column *column)
{
    char names[1024];
    if (!name)
        return ORR_FAIL(ORR_EINVAL, "name: expected a text, found NULL");
    for (size_t c = 0; c < r->table.count; c++)
        if (!strcmp(r->table.column[c].name, name))
            return give_column(r, c, column);
    list_names(&r->table, names, sizeof names);
    return ORR_FAIL(ORR_EMISSING, "column \"%s\": expected one of %s", name,
                    *names ? names : "an open table, found none; orrery_results_open()");
}

int orrery_results_find(struct orrery_results *r, const char *name, struct orrery_column *column)
{
    API_RETURN(r, find_column(r, name, column));
}
