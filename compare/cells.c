/* cells.c - finds the runs of a folder, and groups those that differ only in the seed. */
#include "cells.h"

#include "stage/provenance.h"
#include "figures/origin.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cjson.h"

enum { DEEPEST = 3 };

/* -------------------------------------------------------------------------------- rows */

static const char model_key[] = "attention=";

/* How many rows a source has. */
static int rows_of(const struct compare_cells *cells)
{
    return COMPARE_COLUMNS + cells->more_count;
}

int compare_add_source(struct compare_cells *cells, struct compare_cell *cell, const char *name,
                       bool is_model)
{
    char model[4 * ORR_NAME];
    snprintf(model, sizeof model, "%s%s", model_key, name);
    struct orr_row row = orr_row_none;
    row.model = model;
    row.seed = cell->settings.seed;
    if (!cell->sources++)
        cell->first = cells->table.count;
    for (int c = 0; c < rows_of(cells); c++) {
        row.quantity =
            c < COMPARE_COLUMNS ? compare_column_name[c].key : cells->more[c - COMPARE_COLUMNS];
        TRY(orr_table_add(&cells->table, &row));
    }
    compare_cell_row(cells, cell, cell->sources - 1, COMPARE_IS_MODEL)->value = is_model;
    return 0;
}

struct orr_row *compare_cell_row(const struct compare_cells *cells, const struct compare_cell *cell,
                                 int source, int column)
{
    return &cells->table.row[cell->first + (size_t)(source * rows_of(cells) + column)];
}

const char *compare_cell_source(const struct compare_cells *cells, const struct compare_cell *cell,
                                int source)
{
    return compare_cell_row(cells, cell, source, 0)->model + strlen(model_key);
}

int compare_cell_find(const struct compare_cells *cells, const struct compare_cell *cell,
                      const char *source)
{
    int s = 0;
    while (s < cell->sources && strcmp(compare_cell_source(cells, cell, s), source) != 0)
        s++;
    return s < cell->sources ? s : -1;
}

bool compare_is_model(const struct compare_cells *cells, const struct compare_cell *cell,
                      int source)
{
    return compare_cell_row(cells, cell, source, COMPARE_IS_MODEL)->value > 0;
}

static double value_of(const struct compare_cells *cells, const struct compare_cell *cell,
                       int source, int column)
{
    return source < 0 ? (double)NAN : compare_cell_row(cells, cell, source, column)->value;
}

/* Computes shares of samples from counts, and copies the values of the truth (upper bound), of
 * random weights of the model's shape (baseline) and of the oracle (raw). */
static void complete_values(const struct compare_cells *cells, const struct compare_cell *cell)
{
    char untrained[4 * ORR_NAME];
    const int truth = compare_cell_find(cells, cell, "truth"),
              oracle = compare_cell_find(cells, cell, "oracle");
    for (int s = 0; s < cell->sources; s++) {
        struct orr_row *row = compare_cell_row(cells, cell, s, 0);
        const double samples = row[COMPARE_SAMPLES].value;
        row[COMPARE_SHARE].value = row[COMPARE_SELECTED].value / samples;
        row[COMPARE_FRONT_SHARE].value = row[COMPARE_ON_FRONT].value / samples;
        row[COMPARE_CLOSE_SHARE].value = row[COMPARE_K_CLOSE].value / samples;
    }
    for (int s = 0; s < cell->sources; s++) {
        struct orr_row *row = compare_cell_row(cells, cell, s, 0);
        snprintf(untrained, sizeof untrained, "untrained (%s)",
                 compare_cell_source(cells, cell, s));
        const int baseline = compare_cell_find(cells, cell, untrained);
        for (int c = 0; c < COMPARE_COLUMNS; c++) {
            if (c == COMPARE_NEXT_STATE && compare_is_model(cells, cell, s))
                continue; /* the model has the bounds of its own evaluation */
            row[c].upper_bound = value_of(cells, cell, truth, c);
            row[c].baseline = value_of(cells, cell, baseline, c);
            row[c].raw = value_of(cells, cell, oracle, c);
        }
    }
}

/* Whether an earlier cell of the group has the source with the same seed. */
static bool came_before(const struct orr_table *view, const struct orr_row *row)
{
    for (size_t i = 0; i < view->count; i++)
        if (view->row[i].model == row->model && view->row[i].seed == row->seed)
            return true;
    return false;
}

int compare_cells_view(const struct compare_cells *cells, int group, int column,
                       struct orr_table *view)
{
    *view = (struct orr_table){0};
    view->row = orr_alloc(cells->table.count / (size_t)rows_of(cells) + 1, sizeof *view->row);
    TRY(view->row ? 0 : ORR_ENOMEM);
    for (size_t i = 0; i < cells->count; i++)
        for (int s = 0; cells->cell[i].group == group && s < cells->cell[i].sources; s++) {
            const struct orr_row *row = compare_cell_row(cells, &cells->cell[i], s, column);
            if (!came_before(view, row))
                view->row[view->count++] = *row;
        }
    return 0;
}

/* ------------------------------------------------------------------------------ one cell */

int compare_miss(struct compare_missing_list *list, const char *what, const char *why)
{
    struct compare_missing *more = realloc(list->at, (list->count + 1) * sizeof *more);
    if (!more)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", what);
    const size_t named = strlen(what);
    if (!strncmp(why, what, named) && !strncmp(why + named, ": ", 2))
        why += named + 2; /* an error that begins with this file */
    list->at = more;
    more += list->count++;
    snprintf(more->what, sizeof more->what, "%s", what);
    snprintf(more->why, sizeof more->why, "%s", why);
    orr_one_line(more->what); /* the name of a file, shown in a list */
    orr_one_line(more->why);
    return 0;
}

static bool is_file(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISREG(info.st_mode);
}

/* Adds the run, or the reason why it is left out. */
static int add_cell(struct compare_cells *cells, const char *path)
{
    const char *below = path + (*cells->folder ? strlen(cells->folder) + 1 : 0);
    struct compare_cell *cell = realloc(cells->cell, (cells->count + 1) * sizeof *cell);
    if (!cell)
        return ORR_FAIL(ORR_ENOMEM, "%s: out of memory", cells->folder);
    cells->cell = cell;
    cell += cells->count;
    memset(cell, 0, sizeof *cell);
    snprintf(cell->path, sizeof cell->path, "%s", below);
    const int rc = is_file(path) ? compare_cell_take_record(cells, cell, path)
                                 : compare_cell_read(cells, cell, path);
    if (!rc) {
        complete_values(cells, cell);
        cells->count++;
    }
    if (!rc || rc == ORR_ENOMEM)
        return rc;
    const int missed = compare_miss(&cells->left_out, below, orr_error());
    orr_error_clear();
    return missed;
}

/* ---------------------------------------------------------------------------- the folder */

/* Whether a file contains a run's results. Unreadable files of that kind are reported; files of
 * other formats are skipped. */
static bool is_record(const char *path)
{
    static const char cell[] = "orrery-cell-"; /* of any version */
    cJSON *json = NULL;
    if (!orr_ends_in(path, ".json") || !is_file(path))
        return false;
    const bool damaged = orr_json_read(path, &json) != 0;
    orr_error_clear();
    const char *format = cJSON_GetStringValue(orr_json_get(json, "format"));
    const bool is = damaged || (format && !strncmp(format, cell, sizeof cell - 1));
    cJSON_Delete(json);
    return is;
}

/* Searches a folder. A folder with settings or laws is a run, and contains no other runs. */
static int look_into(struct compare_cells *cells, const char *path, int depth)
{
    struct orr_entries entries;
    char inside[REPORT_PATH];
    int rc = 0;
    TRY(orr_entries_read(path, &entries));
    bool is_run = false;
    for (int i = 0; i < entries.count; i++)
        is_run |=
            !strcmp(entries.at[i]->d_name, "preset.json") || !strcmp(entries.at[i]->d_name, "laws");
    if (is_run && depth > 0)
        rc = add_cell(cells, path);
    for (int i = 0; i < entries.count && !is_run && depth < DEEPEST && !rc; i++) {
        struct stat info;
        rc = orr_path(inside, "%s/%s", path, entries.at[i]->d_name);
        if (!rc && !stat(inside, &info) && S_ISDIR(info.st_mode))
            rc = look_into(cells, inside, depth + 1);
        else if (!rc && is_record(inside))
            rc = add_cell(cells, inside);
    }
    orr_entries_free(&entries);
    return rc;
}

/* ------------------------------------------------------------------------------ settings */

/* The text of a setting; "" where it has no effect given the other settings. */
static void setting_of(const struct orr_settings *settings, const char *key, char text[ORR_SETTING])
{
    char why[256];
    orr_settings_value(settings, key, text);
    if (orr_settings_unused(settings, key, why))
        text[0] = '\0';
}

/* Adds "key=value" to the labels where runs differ in the setting. */
static int label_by(struct compare_cells *cells, const char *key)
{
    char first[ORR_SETTING], text[ORR_SETTING];
    bool differs = false;
    setting_of(&cells->cell[0].settings, key, first);
    for (size_t i = 1; i < cells->count && !differs; i++) {
        setting_of(&cells->cell[i].settings, key, text);
        differs = strcmp(first, text) != 0;
    }
    for (size_t i = 0; i < cells->count && differs; i++) {
        struct compare_cell *cell = &cells->cell[i];
        const size_t used = strlen(cell->label);
        setting_of(&cell->settings, key, text);
        if (!*text)
            continue;
        if (snprintf(cell->label + used, COMPARE_LABEL - used, "%s%s=%s", used ? " " : "", key,
                     text) >= (int)(COMPARE_LABEL - used))
            return ORR_FAIL(ORR_EINVAL, "%s: differs from others in more settings than fit a row",
                            cell->path);
    }
    return 0;
}

/* Whether both cells have a model of the same attention. */
static bool share_a_model(const struct compare_cells *cells, const struct compare_cell *a,
                          const struct compare_cell *b)
{
    for (int s = 0; s < a->sources; s++)
        if (compare_is_model(cells, a, s) &&
            compare_cell_find(cells, b, compare_cell_source(cells, a, s)) >= 0)
            return true;
    return false;
}

static int group_cells(struct compare_cells *cells)
{
    const char *key;
    for (int k = 0; (key = orr_settings_key(k)) != NULL; k++)
        /* the seed is not part of a label, so that seeds share a group */
        if (strcmp(key, "seed") != 0 && orr_made_from(key))
            TRY(label_by(cells, key));
    for (size_t i = 0; i < cells->count; i++) {
        struct compare_cell *cell = &cells->cell[i];
        cell->group = -1;
        for (size_t k = 0; k < i; k++) {
            const struct compare_cell *other = &cells->cell[k];
            if (strcmp(cell->label, other->label) != 0)
                continue;
            cell->group = other->group;
            if (cell->settings.seed == other->settings.seed && share_a_model(cells, cell, other))
                return ORR_FAIL(ORR_EINVAL, "%s%s%s: of the same settings and seed (%llu) as %s",
                                cells->folder, *cells->folder ? "/" : "", cell->path,
                                (unsigned long long)cell->settings.seed, other->path);
        }
        if (cell->group < 0)
            cell->group = cells->groups++;
    }
    return 0;
}

/* ---------------------------------------------------------------------------- everything */

/* Groups the cells that were found. */
static int group_found(struct compare_cells *cells)
{
    if (cells->count)
        return group_cells(cells);
    if (cells->left_out.count)
        return ORR_FAIL(ORR_EMISSING, "%s%snone of %zu runs is complete; %s: %s", cells->folder,
                        *cells->folder ? ": " : "", cells->left_out.count,
                        cells->left_out.at[0].what, cells->left_out.at[0].why);
    if (!*cells->folder)
        return ORR_FAIL(ORR_EMISSING, "expected run directories, found none");
    return ORR_FAIL(ORR_EMISSING, "%s: no run in it, up to %d folders deep", cells->folder,
                    DEEPEST);
}

int compare_cells_read(struct compare_cells *cells, const char *folder)
{
    *cells = (struct compare_cells){.folder = folder};
    TRY(look_into(cells, folder, 0));
    return group_found(cells);
}

/* Whether a sweep writes this file beside a cell, where a pattern such as runs/seed* names it. */
static bool is_of_sweep(const char *path)
{
    return (orr_ends_in(path, ".lock") || orr_ends_in(path, ".log")) && is_file(path);
}

int compare_cells_read_these(struct compare_cells *cells, const char *const *more,
                             const char *const *path, int n)
{
    *cells = (struct compare_cells){.folder = "", .more = more};
    while (more && more[cells->more_count])
        cells->more_count++;
    for (int i = 0; i < n; i++)
        TRY(is_of_sweep(path[i]) ? 0 : add_cell(cells, path[i]));
    return group_found(cells);
}

void compare_cells_free(struct compare_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        cJSON_Delete(cells->cell[i].record);
    free(cells->cell);
    orr_table_free(&cells->table);
    free(cells->left_out.at);
    *cells = (struct compare_cells){0};
}

/* -------------------------------------------------------------------------------- names */

const struct compare_column_name compare_column_name[COMPARE_COLUMNS] = {
    [COMPARE_IS_MODEL] = {"is_model", NULL},
    [COMPARE_SAMPLES] = {"samples", "samples"},
    [COMPARE_SELECTED] = {"selected", "selected"},
    [COMPARE_ON_FRONT] = {"on_front", "on_front"},
    [COMPARE_K_CLOSE] = {"k_close", "k_close"},
    [COMPARE_EXPONENT] = {"exponents.r", NULL},
    [COMPARE_EXPONENT + 1] = {"exponents.m1", NULL},
    [COMPARE_EXPONENT + 2] = {"exponents.m2", NULL},
    [COMPARE_SHARE] = {"selected_share", NULL},
    [COMPARE_FRONT_SHARE] = {"on_front_share", NULL},
    [COMPARE_K] = {"k", "k"},
    [COMPARE_CLOSE_SHARE] = {"k_close_share", NULL},
    [COMPARE_K_DROPPED] = {"k_dropped_m2", "k_dropped_m2"},
    [COMPARE_R2] = {"r2_log", "r2_log"},
    [COMPARE_LOSS] = {"loss", "loss"},
    [COMPARE_NEXT_STATE] = {"next_state", "next_state"},
    [COMPARE_BEYOND] = {"next_state_beyond", "beyond"},
    [COMPARE_STEP_MS] = {"step_ms", "step_ms"},
    [COMPARE_MEMORY_MB] = {"memory_mb", "memory_mb"}};
