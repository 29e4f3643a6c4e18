/* grid.c - bin/probe grid: one probe over models of many settings. Prints means over seeds, and the
 * effects of each setting and of pairs of settings on a value. */
#include "grid.h"
#include "grid_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { LINES = PROBE_FACTORS * (PROBE_FACTORS + 1) / 2 + 2 };

struct figures {
    struct probe_grid grid;
    const struct probe_row *row; /* row of the current value, from any file */
    struct probe_numbers of;     /* (places, seeds) */
};

static void add_spread(cJSON *to, struct orr_mean spread)
{
    cJSON_AddNumberToObject(to, "value", spread.mean);
    cJSON_AddNumberToObject(to, "half_width", spread.half);
}

/* ----------------------------------------------------------------------------------- parts */

static bool has_file(const struct probe_grid *g, int place)
{
    for (int s = 0; s < g->seeds; s++)
        if (g->file[(size_t)place * (size_t)g->seeds + (size_t)s])
            return true;
    return false;
}

static void tell_places(const struct figures *f, cJSON *json)
{
    const struct probe_grid *g = &f->grid;
    cJSON *all = cJSON_AddArrayToObject(json, "cells");
    for (int i = 0; i < g->factors; i++)
        printf("| %s ", g->factor[i].name);
    printf("| value | upper bound | baseline | raw | seeds |\n");
    for (int i = 0; i < g->factors + 5; i++)
        printf("|---");
    printf("|\n");
    for (int place = 0; place < g->places; place++) {
        const size_t from = (size_t)place * (size_t)g->seeds;
        cJSON *cell = cJSON_CreateObject(), *levels = cJSON_AddArrayToObject(cell, "levels");
        const double *const columns[] = {f->of.value, f->of.upper_bound, f->of.baseline, f->of.raw};
        static const char *const names[] = {"value", "upper_bound", "baseline", "raw"};
        int seeds = 0;
        if (!has_file(g, place)) {
            cJSON_Delete(cell);
            continue;
        }
        for (int i = 0; i < g->factors; i++) {
            const char *level = g->factor[i].level[probe_grid_level(g, place, i)];
            printf("| %s ", level);
            cJSON_AddItemToArray(levels, cJSON_CreateString(level));
        }
        printf("|");
        for (int c = 0; c < 4; c++) {
            const struct orr_mean spread = orr_mean_of(columns[c] + from, g->seeds);
            probe_print_mean(c ? (struct orr_mean){.mean = spread.mean, .half = NAN} : spread);
            cJSON_AddNumberToObject(cell, names[c], spread.mean);
            if (!c)
                cJSON_AddNumberToObject(cell, "half_width", spread.half);
        }
        cJSON *values = cJSON_AddArrayToObject(cell, "values");
        cJSON *baselines = cJSON_AddArrayToObject(cell, "baselines");
        for (int s = 0; s < g->seeds; s++) {
            seeds += isfinite(f->of.value[from + (size_t)s]);
            cJSON_AddItemToArray(values, cJSON_CreateNumber(f->of.value[from + (size_t)s]));
            cJSON_AddItemToArray(baselines, cJSON_CreateNumber(f->of.baseline[from + (size_t)s]));
        }
        printf(" %d |\n", seeds);
        cJSON_AddItemToArray(all, cell);
    }
}

static void tell_effect(const struct figures *f, const int factor[2], const int level[2],
                        cJSON *effects)
{
    const struct probe_grid *g = &f->grid;
    const bool two = factor[1] >= 0;
    const struct orr_mean spread = probe_effect(g, f->of.value, factor, level);
    cJSON *effect = cJSON_CreateObject();
    cJSON *names = cJSON_AddArrayToObject(effect, "factors");
    cJSON *levels = cJSON_AddArrayToObject(effect, "levels");
    printf("|");
    for (int k = 0; k < 1 + two; k++) {
        const struct probe_factor *of = &g->factor[factor[k]];
        printf("%s %s %s (from %s)", k ? " with" : "", of->name, of->level[level[k]], of->level[0]);
        cJSON_AddItemToArray(names, cJSON_CreateString(of->name));
        cJSON_AddItemToArray(levels, cJSON_CreateString(of->level[level[k]]));
    }
    printf(" |");
    probe_print_mean(spread);
    printf("\n");
    add_spread(effect, spread);
    cJSON_AddItemToArray(effects, effect);
}

static void tell_effects(const struct figures *f, cJSON *json)
{
    const struct probe_grid *g = &f->grid;
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
    const struct probe_grid *g = &f->grid;
    struct probe_variance line[LINES];
    const int lines = g->factors + g->factors * (g->factors - 1) / 2 + 2;
    cJSON *all = cJSON_AddArrayToObject(json, "variance");
    if (!probe_variances(g, f->of.value, line)) {
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
    char name[PROBE_ROW_NAME];
    cJSON *json = cJSON_CreateObject();
    const int rc = probe_grid_numbers(&f->grid, f->row, NULL, 0, &f->of);
    cJSON_AddItemToArray(rows, json);
    if (rc)
        return rc;
    cJSON_AddStringToObject(json, "quantity", f->row->quantity);
    cJSON_AddStringToObject(json, "measure", f->row->measure);
    cJSON_AddNumberToObject(json, "context", f->row->context);
    cJSON_AddNumberToObject(json, "n", (double)f->row->n);
    probe_row_name(f->row, true, name);
    printf("\n%s\n\n", name);
    tell_places(f, json);
    tell_effects(f, json);
    tell_variances(f, json);
    free(f->of.value);
    return 0;
}

static cJSON *factors_json(const struct probe_grid *g)
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
static int write(const struct figures *f, const struct probe_file *files,
                 const struct probe_drawn *drawn, const char *out, const cJSON *json)
{
    char path[4096];
    int lock;
    TRY(orr_path(path, "%s/%s_grid.json", out, files[0].probe));
    TRY(orr_mkdir(out));
    TRY(probe_lock(out, &lock));
    int rc = orr_remove(path);
    rc = rc ? rc : probe_grid_picture(&f->grid, files, drawn, out);
    rc = rc ? rc : orr_json_write(path, json);
    orr_unlock(lock);
    return rc;
}

static int tell(struct figures *f, const struct probe_file *files, int n,
                const struct probe_drawn *drawn, const char *out)
{
    cJSON *json = probe_files_json(files, n, "orrery-probe-grid-1");
    cJSON_AddItemToObject(json, "factors", factors_json(&f->grid));
    cJSON_AddNumberToObject(json, "seeds", f->grid.seeds);
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    int rc = 0;
    printf("%s, preset %s: %d files, %d combinations of %d settings, %d seeds; means over seeds, "
           "95%% intervals by Student's t\n",
           files[0].probe, files[0].preset, n, f->grid.places, f->grid.factors, f->grid.seeds);
    for (int i = 0; i < n; i++)
        for (int r = 0; r < files[i].results.count && !rc; r++) {
            f->row = &files[i].results.row[r];
            if (f->row->layer < 0 && probe_is_first(files, i, f->row, false))
                rc = tell_figure(f, rows);
        }
    rc = rc ? rc : write(f, files, drawn, out, json);
    cJSON_Delete(json);
    return rc;
}

int probe_grid(const struct probe_options *options)
{
    const int n = options->file_count;
    struct figures f = {.row = NULL};
    struct probe_file *files;
    int rc = probe_files_read(options, "grid", &files);
    rc = rc ? rc : probe_grid_create(&f.grid, files, n);
    struct probe_drawn drawn;
    rc = rc ? rc : probe_grid_choose(&f.grid, options, files, &drawn);
    rc = rc ? rc : tell(&f, files, n, &drawn, *options->out ? options->out : ".");
    probe_grid_free(&f.grid);
    probe_files_free(files, n);
    return rc;
}
