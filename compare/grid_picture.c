/* grid_picture.c - see grid_picture.h. */
#include "stage/provenance.h"
#include "grid_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which setting is on the x axis and which makes the curves (-1: none); the others make panels. */
struct roles {
    int axis, curve;
    int panels;
};

static struct roles roles_of(const struct compare_grid *g)
{
    struct roles roles = {.axis = -1, .curve = -1, .panels = 1};
    double value[COMPARE_LEVELS];
    for (int i = 0; i < g->factors; i++)
        if (compare_factor_numbers(&g->factor[i], value) &&
            (roles.axis < 0 || g->factor[i].count > g->factor[roles.axis].count))
            roles.axis = i;
    if (roles.axis < 0)
        roles.axis = 0;
    for (int i = 0; i < g->factors; i++)
        if (i != roles.axis &&
            (roles.curve < 0 || g->factor[i].count > g->factor[roles.curve].count))
            roles.curve = i;
    for (int i = 0; i < g->factors; i++)
        if (i != roles.axis && i != roles.curve)
            roles.panels *= g->factor[i].count;
    return roles;
}

static int curves_of(const struct compare_grid *g, const struct roles *roles)
{
    return roles->curve < 0 ? 1 : g->factor[roles->curve].count;
}

bool compare_grid_fits(const struct compare_grid *g)
{
    const struct roles roles = roles_of(g);
    return g->factors > 0 && curves_of(g, &roles) <= COMPARE_CURVES &&
           roles.panels <= COMPARE_PANELS;
}

/* The place of a panel with the first levels of axis and curves, and its title. */
static int place_of_panel(const struct compare_grid *g, const struct roles *roles, int panel,
                          char *title, size_t bytes)
{
    int place = 0;
    title[0] = '\0';
    for (int i = g->factors - 1; i >= 0; i--) {
        const struct compare_factor *factor = &g->factor[i];
        if (i == roles->axis || i == roles->curve)
            continue;
        place = compare_grid_place(g, place, i, panel % factor->count);
        orr_append(title, bytes, "%s%s %s", *title ? ", " : "", factor->name,
                   factor->level[panel % factor->count]);
        panel /= factor->count;
    }
    return place;
}

static void write_point(const struct compare_grid_figure *f, int place, int level,
                        struct orr_file *file)
{
    struct orr_mean mean[ORR_ROW_BASELINE + 1];
    for (int k = ORR_ROW_VALUE; k <= ORR_ROW_BASELINE; k++)
        mean[k] = orr_table_contrast(f->rows, f->rows->row[place * f->grid->seeds].model, "",
                                     (enum orr_row_number)k);
    const double value = mean[ORR_ROW_VALUE].mean,
                 half = isfinite(mean[ORR_ROW_VALUE].half) ? mean[ORR_ROW_VALUE].half : 0;
    if (isfinite(value))
        orr_file_printf(file, "%d %.9g %.9g %.9g %.9g %.9g\n", level + 1, value, value - half,
                        value + half, mean[ORR_ROW_UPPER_BOUND].mean, mean[ORR_ROW_BASELINE].mean);
}

/* Whether the first level, 0, is an unlimited window, which is drawn last as "all". */
static bool has_all(const struct compare_factor *axis)
{
    return !strcmp(axis->name, "model.attention_window") && !strcmp(axis->level[0], "0");
}

/* The level at position i of the axis. */
static int level_at(const struct compare_factor *axis, int i)
{
    return has_all(axis) ? (i + 1) % axis->count : i;
}

/* Writes a block per panel and curve; a curve without points gets one line of NaN. */
static void write_data(const struct compare_grid_figure *f, const struct roles *roles,
                       struct orr_file *file)
{
    const struct compare_grid *g = f->grid;
    const int curves = curves_of(g, roles);
    char title[512];
    for (int k = 0; k < roles->panels * curves; k++) {
        int place = place_of_panel(g, roles, k / curves, title, sizeof title);
        if (roles->curve >= 0)
            place = compare_grid_place(g, place, roles->curve, k % curves);
        orr_file_printf(file, "1 nan nan nan nan nan\n");
        const struct compare_factor *axis = &g->factor[roles->axis];
        for (int i = 0; i < axis->count; i++)
            write_point(f, compare_grid_place(g, place, roles->axis, level_at(axis, i)), i, file);
        orr_file_printf(file, "\n\n");
    }
}

static bool any_number(const struct orr_table *rows, enum orr_row_number number)
{
    bool any = false;
    for (size_t i = 0; i < rows->count; i++)
        any |= isfinite(orr_row_number(&rows->row[i], number)) != 0;
    return any;
}

static int write_figure(const void *of, struct orr_file *data, struct orr_file *settings)
{
    const struct compare_grid_figure *f = of;
    const struct compare_grid *g = f->grid;
    const struct roles roles = roles_of(g);
    const struct compare_factor *axis = &g->factor[roles.axis];
    const struct compare_factor *curve = roles.curve < 0 ? NULL : &g->factor[roles.curve];
    const int curves = curves_of(g, &roles);
    double value[COMPARE_LEVELS];
    char text[512];
    write_data(f, &roles, data);
    orr_file_printf(settings,
                    "panels = %d\ncurves = %d\nlevels = %d\njoined = %d\nupper_bound = %d\n"
                    "baseline_there = %d\narray panel_title[%d]\narray curve_title[%d]\n"
                    "array x_title[%d]\narray colour[%d]\n",
                    roles.panels, curves, axis->count, compare_factor_numbers(axis, value),
                    any_number(f->rows, ORR_ROW_UPPER_BOUND), any_number(f->rows, ORR_ROW_BASELINE),
                    roles.panels, curves, axis->count, curves);
    orr_gnuplot_assign(settings, "title", 0, f->title);
    orr_gnuplot_assign(settings, "subtitle", 0, f->subtitle);
    orr_gnuplot_assign(settings, "y_label", 0, f->y_label);
    orr_gnuplot_assign(settings, "x_label", 0, axis->name);
    for (int i = 0; i < axis->count; i++)
        orr_gnuplot_assign(settings, "x_title", i + 1,
                           has_all(axis) && i + 1 == axis->count ? "all"
                                                                 : axis->level[level_at(axis, i)]);
    for (int i = 0; i < curves; i++) {
        snprintf(text, sizeof text, "%s %s", curve ? curve->name : "mean over seeds",
                 curve ? curve->level[i] : "");
        orr_gnuplot_assign(settings, "curve_title", i + 1, text);
        orr_gnuplot_assign(settings, "colour", i + 1,
                           orr_attention_colour(curve ? curve->level[i] : "", i));
    }
    for (int p = 0; p < roles.panels; p++) {
        (void)place_of_panel(g, &roles, p, text, sizeof text);
        orr_gnuplot_assign(settings, "panel_title", p + 1, text);
    }
    return 0;
}

int compare_grid_draw(const struct compare_grid_figure *figure, const char *folder,
                      const char *name)
{
    return orr_picture_draw(folder, name, "grid.gp", write_figure, figure);
}

/* -------------------------------------------------------------------------- choice of the row */

void compare_row_name(const struct orr_row *row, bool with_context, char name[COMPARE_ROW_NAME])
{
    char context[32] = "";
    if (row->context && with_context)
        snprintf(context, sizeof context, ", context %d", row->context);
    snprintf(name, COMPARE_ROW_NAME, "%s, %s%s", row->quantity, row->measure, context);
}

static bool is_named(const struct orr_row *row, const char *wanted, bool with_context)
{
    char name[COMPARE_ROW_NAME];
    compare_row_name(row, with_context, name);
    return !wanted || !strcmp(wanted, name);
}

/* The first row that has a number. */
static const struct orr_row *find_row(const struct orr_table *table, const char *wanted,
                                      bool with_context)
{
    for (const struct orr_row *row = table->row; row < table->row + table->count; row++)
        if (row->layer < 0 && isfinite(row->value) && is_named(row, wanted, with_context))
            return row;
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Collects the contexts of the row in all files, up to the capacity of the list. */
static void find_contexts(const struct orr_table *table, struct compare_drawn *drawn)
{
    for (size_t r = 0; r < table->count; r++) {
        struct orr_row row = table->row[r];
        bool known = drawn->contexts == COMPARE_LEVELS || !row.context;
        for (int k = 0; k < drawn->contexts && !known; k++)
            known = drawn->context[k] == row.context;
        row.context = drawn->row->context;
        if (!known && orr_row_same(&row, drawn->row))
            drawn->context[drawn->contexts++] = table->row[r].context;
    }
    qsort(drawn->context, (size_t)drawn->contexts, sizeof *drawn->context, by_number);
}

/* Makes a grid with the contexts as an additional last factor; the arrays stay owned by `grid`. */
static void add_contexts(const struct compare_grid *grid, const struct compare_drawn *drawn,
                         struct compare_grid *wide)
{
    *wide = *grid;
    if (drawn->contexts < 2)
        return;
    struct compare_factor *factor = &wide->factor[wide->factors++];
    snprintf(factor->name, sizeof factor->name, "positions");
    factor->count = wide->contexts = drawn->contexts;
    memcpy(wide->context, drawn->context, sizeof wide->context);
    for (int k = 0; k < drawn->contexts; k++)
        snprintf(factor->level[k], sizeof factor->level[k], "%d", drawn->context[k]);
    wide->places *= drawn->contexts;
}

int compare_grid_choose(const struct compare_grid *grid, const struct compare_options *options,
                        const struct compare_files *files, struct compare_drawn *drawn)
{
    char first[COMPARE_ROW_NAME] = "none";
    const struct orr_table *table = &files->table;
    struct compare_grid wide;
    *drawn = (struct compare_drawn){.row = find_row(table, options->figure, true)};
    const bool of_one = options->figure && drawn->row;
    if (!drawn->row)
        drawn->row = find_row(table, options->figure, false);
    const struct orr_row *any = find_row(table, NULL, true);
    if (any)
        compare_row_name(any, true, first);
    if (options->figure && !drawn->row)
        return ORR_FAIL(ORR_EUSAGE,
                        "--figure: no \"%s\" with numbers in %s; the first value is \"%s\"",
                        options->figure, files->file[0].path, first);
    if (drawn->row && !of_one && grid->factors < COMPARE_FACTORS)
        find_contexts(table, drawn);
    add_contexts(grid, drawn, &wide);
    const int rc =
        !drawn->row ? ORR_FAIL(ORR_EINVAL, "no value of the model as a whole has numbers")
        : !compare_grid_fits(&wide) ? ORR_FAIL(ORR_EUSAGE, "more than %d curves or %d panels",
                                               COMPARE_CURVES, COMPARE_PANELS)
                                    : orr_gnuplot_check("grid.gp");
    if (!rc || options->figure)
        return rc;
    orr_note(options->quiet, "note: no picture: %s", orr_error());
    orr_error_clear();
    drawn->row = NULL;
    return 0;
}

int compare_grid_picture(const struct compare_grid *grid, const struct compare_files *files,
                         const struct compare_drawn *drawn, const char *out)
{
    char name[COMPARE_ROW_NAME], title[COMPARE_ROW_NAME + 2 * ORR_NAME + 64], file[ORR_NAME + 8];
    char subtitle[80], path[4096];
    struct compare_grid wide;
    struct orr_table rows;
    snprintf(file, sizeof file, "%s_grid", files->file[0].probe);
    TRY(orr_path(path, "%s/%s.png", out, file));
    if (!drawn->row)
        return orr_remove(path);
    add_contexts(grid, drawn, &wide);
    int rc = compare_grid_rows(&wide, files, drawn->row, &rows);
    compare_row_name(drawn->row, drawn->contexts < 2, name);
    snprintf(title, sizeof title, "probe %s, preset %s: %s", files->file[0].probe,
             files->file[0].preset, name);
    bool whole = true;
    for (size_t k = 0; k < rows.count; k++)
        whole = whole && isfinite(rows.row[k].value);
    if (grid->seeds > 1)
        snprintf(subtitle, sizeof subtitle, "means over %s%d seeds, 95%% intervals by Student's t",
                 whole ? "" : "up to ", grid->seeds);
    else
        snprintf(subtitle, sizeof subtitle, "1 seed: no interval");
    const struct compare_grid_figure figure = {.grid = &wide,
                                               .title = title,
                                               .subtitle = subtitle,
                                               .y_label = drawn->row->measure,
                                               .rows = &rows};
    rc = rc ? rc : compare_grid_draw(&figure, out, file);
    orr_table_free(&rows);
    return rc;
}
