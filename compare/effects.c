/* effects.c - bin/compare effects: one probe over models of many settings. Prints means over seeds,
 * and the effects of each setting and of pairs of settings on a value. */
#include "grid.h"
#include "grid_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum {
    WAIT_S = 600, /* seconds; the waiting program has already read its files */
    LINES = COMPARE_FACTORS * (COMPARE_FACTORS + 1) / 2 + 2
};

struct figures {
    struct compare_grid grid;
    const struct compare_files *files;
    const struct orr_row *row; /* row of the current value, from any file */
    struct orr_table rows;     /* see compare_grid_rows() */
};

/* ----------------------------------------------------------------------------------- parts */

static bool has_file(const struct figures *f, int place)
{
    bool has = false;
    for (int i = 0; i < f->files->count; i++)
        has |= f->grid.at[i] / f->grid.seeds == place;
    return has;
}

static void tell_places(const struct figures *f, cJSON *json)
{
    const struct compare_grid *g = &f->grid;
    cJSON *all = cJSON_AddArrayToObject(json, "cells");
    for (int i = 0; i < g->factors; i++)
        printf("| %s ", g->factor[i].name);
    printf("| value | upper bound | baseline | raw | seeds |\n");
    for (int i = 0; i < g->factors + 5; i++)
        printf("|---");
    printf("|\n");
    for (int place = 0; place < g->places; place++) {
        const struct orr_row *row = &f->rows.row[place * g->seeds];
        static const char *const names[] = {"value", "upper_bound", "baseline", "raw"};
        if (!has_file(f, place))
            continue;
        cJSON *cell = cJSON_CreateObject(), *levels = cJSON_AddArrayToObject(cell, "levels");
        for (int i = 0; i < g->factors; i++) {
            const char *level = g->factor[i].level[compare_grid_level(g, place, i)];
            printf("| %s ", level);
            cJSON_AddItemToArray(levels, cJSON_CreateString(level));
        }
        printf("|");
        for (int c = ORR_ROW_VALUE; c <= ORR_ROW_RAW; c++) {
            const struct orr_mean mean =
                orr_table_contrast(&f->rows, row->model, "", (enum orr_row_number)c);
            compare_print_mean(c ? compare_without_interval(mean) : mean);
            cJSON_AddNumberToObject(cell, names[c], mean.mean);
            if (!c)
                cJSON_AddNumberToObject(cell, "half_width", mean.half);
        }
        cJSON *values = cJSON_AddArrayToObject(cell, "values");
        cJSON *baselines = cJSON_AddArrayToObject(cell, "baselines");
        int seeds = 0;
        for (int s = 0; s < g->seeds; s++) {
            seeds += isfinite(row[s].value);
            cJSON_AddItemToArray(values, cJSON_CreateNumber(row[s].value));
            cJSON_AddItemToArray(baselines, cJSON_CreateNumber(row[s].baseline));
        }
        printf(" %d |\n", seeds);
        cJSON_AddItemToArray(all, cell);
    }
}

static void tell_effect(const struct figures *f, const int factor[2], const int level[2],
                        cJSON *effects)
{
    const struct compare_grid *g = &f->grid;
    const bool two = factor[1] >= 0;
    char of[64] = "", from[64] = "";
    cJSON *effect = cJSON_CreateObject();
    cJSON *names = cJSON_AddArrayToObject(effect, "factors");
    cJSON *levels = cJSON_AddArrayToObject(effect, "levels");
    printf("|");
    for (int k = 0; k < 1 + two; k++) {
        const struct compare_factor *is = &g->factor[factor[k]];
        printf("%s %s %s (from %s)", k ? " with" : "", is->name, is->level[level[k]], is->level[0]);
        cJSON_AddItemToArray(names, cJSON_CreateString(is->name));
        cJSON_AddItemToArray(levels, cJSON_CreateString(is->level[level[k]]));
        orr_append(of, sizeof of, "%s%d=%d", k ? " x " : "", factor[k], level[k]);
        orr_append(from, sizeof from, "%s%d=0", k ? " x " : "", factor[k]);
    }
    const struct orr_mean mean = orr_table_contrast(&f->rows, of, from, ORR_ROW_VALUE);
    printf(" |");
    compare_print_mean(mean);
    printf("\n");
    cJSON_AddNumberToObject(effect, "value", mean.mean);
    cJSON_AddNumberToObject(effect, "half_width", mean.half);
    cJSON_AddItemToArray(effects, effect);
}

static void tell_effects(const struct figures *f, cJSON *json)
{
    const struct compare_grid *g = &f->grid;
    cJSON *effects = cJSON_AddArrayToObject(json, "effects");
    printf("\n| effect | value |\n|---|---|\n");
    for (int a = 0; a < g->factors; a++)
        for (int i = 1; i < g->factor[a].count; i++)
            tell_effect(f, (const int[2]){a, -1}, (const int[2]){i, 0}, effects);
    for (int a = 0; a < g->factors; a++)
        for (int b = a + 1; b < g->factors; b++)
            for (int i = 1; i < g->factor[a].count; i++)
                for (int k = 1; k < g->factor[b].count; k++)
                    tell_effect(f, (const int[2]){a, b}, (const int[2]){i, k}, effects);
}

static void tell_variances(const struct figures *f, cJSON *json)
{
    const struct compare_grid *g = &f->grid;
    struct compare_variance line[LINES];
    const int lines = g->factors + g->factors * (g->factors - 1) / 2 + 2;
    cJSON *all = cJSON_AddArrayToObject(json, "variance");
    if (!compare_variances(g, &f->rows, line)) {
        printf(
            "\nno analysis of variance: not every cell has every seed, there is one seed, or all "
            "values are the same\n");
        return;
    }
    printf("\n| source of variance | share | freedom | F | p |\n|---|---|---|---|---|\n");
    for (int k = 0; k < lines; k++) {
        cJSON *one = cJSON_CreateObject();
        char name[2 * ORR_NAME + 8];
        snprintf(name, sizeof name, k == lines - 1 ? "rest" : "seeds");
        if (line[k].factor[0] >= 0)
            snprintf(name, sizeof name, "%s%s%s", g->factor[line[k].factor[0]].name,
                     line[k].factor[1] >= 0 ? " x " : "",
                     line[k].factor[1] >= 0 ? g->factor[line[k].factor[1]].name : "");
        printf("| %s | %.3f |", name, line[k].share);
        if (isfinite(line[k].F))
            printf(" %d, %d | %.3g | %.2g |\n", line[k].freedom[0], line[k].freedom[1], line[k].F,
                   line[k].p);
        else
            printf(" - | - | - |\n");
        cJSON_AddStringToObject(one, "source", name);
        cJSON_AddNumberToObject(one, "share", line[k].share);
        cJSON_AddItemToObject(one, "freedom", cJSON_CreateIntArray(line[k].freedom, 2));
        cJSON_AddNumberToObject(one, "F", line[k].F);
        cJSON_AddNumberToObject(one, "p", line[k].p);
        cJSON_AddItemToArray(all, one);
    }
}

static int tell_figure(struct figures *f, cJSON *rows)
{
    char name[COMPARE_ROW_NAME];
    cJSON *json = cJSON_CreateObject();
    const int rc = compare_grid_rows(&f->grid, f->files, f->row, &f->rows);
    cJSON_AddItemToArray(rows, json);
    if (rc) {
        orr_table_free(&f->rows);
        return rc;
    }
    cJSON_AddStringToObject(json, "quantity", f->row->quantity);
    cJSON_AddStringToObject(json, "measure", f->row->measure);
    cJSON_AddNumberToObject(json, "context", f->row->context);
    cJSON_AddNumberToObject(json, "n", (double)f->row->n);
    compare_row_name(f->row, true, name);
    printf("\n%s\n\n", name);
    tell_places(f, json);
    tell_effects(f, json);
    tell_variances(f, json);
    orr_table_free(&f->rows);
    return 0;
}

static cJSON *factors_json(const struct compare_grid *g)
{
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < g->factors; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", g->factor[i].name);
        cJSON *levels = cJSON_AddArrayToObject(one, "levels");
        for (int k = 0; k < g->factor[i].count; k++)
            cJSON_AddItemToArray(levels, cJSON_CreateString(g->factor[i].level[k]));
        cJSON_AddItemToArray(all, one);
    }
    return all;
}

/* Writes the picture, then the JSON, so that the JSON never accompanies a picture of another
 * grid. */
static int write_grid(const struct figures *f, const struct compare_drawn *drawn, const char *out,
                      cJSON *json)
{
    char path[4096];
    int lock;
    TRY(orr_path(path, "%s/%s_grid.json", out, f->files->file[0].probe));
    TRY(orr_mkdir(out));
    TRY(orr_lock(out, "writing", WAIT_S, &lock));
    int rc = orr_remove(path);
    rc = rc ? rc : compare_grid_picture(&f->grid, f->files, drawn, out);
    rc = rc ? rc : orr_json_write(path, json);
    orr_unlock(lock);
    return rc;
}

static int print_grid(struct figures *f, const struct compare_drawn *drawn, const char *out)
{
    const struct orr_table *table = &f->files->table;
    cJSON *json = compare_files_json(f->files, "orrery-probe-grid-1");
    cJSON_AddItemToObject(json, "factors", factors_json(&f->grid));
    cJSON_AddNumberToObject(json, "seeds", f->grid.seeds);
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    int rc = 0;
    printf("%s, preset %s: %d files, %d combinations of %d settings, %d seeds; means over seeds, "
           "95%% intervals by Student's t\n",
           f->files->file[0].probe, f->files->file[0].preset, f->files->count, f->grid.places,
           f->grid.factors, f->grid.seeds);
    for (size_t r = 0; r < table->count && !rc; r++) {
        f->row = &table->row[r];
        if (f->row->layer < 0 && orr_table_find(table, f->row, false) == f->row)
            rc = tell_figure(f, rows);
    }
    rc = rc ? rc : write_grid(f, drawn, out, json);
    cJSON_Delete(json);
    return rc;
}

int compare_effects(const struct compare_options *options)
{
    struct compare_files files;
    struct figures f = {.files = &files};
    struct compare_drawn drawn;
    int rc = compare_files_read(options, "effects", &files);
    rc = rc ? rc : compare_grid_create(&f.grid, &files);
    rc = rc ? rc : compare_grid_choose(&f.grid, options, &files, &drawn);
    rc = rc ? rc : print_grid(&f, &drawn, *options->out ? options->out : ".");
    compare_grid_free(&f.grid);
    compare_files_free(&files);
    return rc;
}
