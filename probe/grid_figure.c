/* grid_figure.c - see grid_figure.h. */
#include "grid_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which setting is on the axis and which makes the curves (-1: none); the others make panels. */
struct roles {
    int axis, curve;
    int panels;
};

static struct roles roles_of(const struct probe_grid *g)
{
    struct roles roles = {.axis = -1, .curve = -1, .panels = 1};
    double value[PROBE_LEVELS];
    for (int i = 0; i < g->factors; i++)
        if (probe_factor_numbers(&g->factor[i], value) &&
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

static int curves_of(const struct probe_grid *g, const struct roles *roles)
{
    return roles->curve < 0 ? 1 : g->factor[roles->curve].count;
}

bool probe_grid_fits(const struct probe_grid *g)
{
    const struct roles roles = roles_of(g);
    return g->factors > 0 && curves_of(g, &roles) <= PROBE_CURVES && roles.panels <= PROBE_PANELS;
}

/* A place of this panel, with the first levels on the axis and of the curves; its name. */
static int place_of_panel(const struct probe_grid *g, const struct roles *roles, int panel,
                          char *title, size_t room)
{
    int place = 0;
    title[0] = '\0';
    for (int i = g->factors - 1; i >= 0; i--) {
        const struct probe_factor *factor = &g->factor[i];
        const size_t used = strlen(title);
        if (i == roles->axis || i == roles->curve)
            continue;
        place = probe_grid_place(g, place, i, panel % factor->count);
        snprintf(title + used, room - used, "%s%s %s", used ? ", " : "", factor->name,
                 factor->level[panel % factor->count]);
        panel /= factor->count;
    }
    return place;
}

static int write_point(const struct probe_grid_figure *f, int place, int level,
                       struct orr_file *file)
{
    const size_t from = (size_t)place * (size_t)f->grid->seeds;
    const struct orr_mean value = orr_mean_of(f->value + from, f->grid->seeds);
    const double half = isfinite(value.half) ? value.half : 0;
    if (!isfinite(value.mean))
        return 0;
    return orr_file_printf(file, "%d %.9g %.9g %.9g %.9g %.9g\n", level + 1, value.mean,
                           value.mean - half, value.mean + half,
                           orr_mean_of(f->ceiling + from, f->grid->seeds).mean,
                           orr_mean_of(f->floor + from, f->grid->seeds).mean);
}

/* A block per panel and curve; one without points has a line of none. */
static int write_data(const struct probe_grid_figure *f, const char *path)
{
    const struct probe_grid *g = f->grid;
    const struct roles roles = roles_of(g);
    const int curves = curves_of(g, &roles);
    struct orr_file file = {0};
    char title[512];
    int rc = orr_file_create(&file, path);
    for (int k = 0; k < roles.panels * curves && !rc; k++) {
        int place = place_of_panel(g, &roles, k / curves, title, sizeof title);
        if (roles.curve >= 0)
            place = probe_grid_place(g, place, roles.curve, k % curves);
        rc = orr_file_printf(&file, "1 nan nan nan nan nan\n");
        for (int level = 0; level < g->factor[roles.axis].count && !rc; level++)
            rc = write_point(f, probe_grid_place(g, place, roles.axis, level), level, &file);
        rc = rc ? rc : orr_file_printf(&file, "\n\n");
    }
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static bool any_number(const struct probe_grid *g, const double *x)
{
    for (int i = 0; i < g->places * g->seeds; i++)
        if (isfinite(x[i]))
            return true;
    return false;
}

static int write_names(const struct probe_grid *g, const struct roles *roles, struct orr_file *file)
{
    const struct probe_factor *axis = &g->factor[roles->axis];
    const struct probe_factor *curve = roles->curve < 0 ? NULL : &g->factor[roles->curve];
    char text[512];
    int rc = orr_gnuplot_assign(file, "x_label", 0, axis->name);
    for (int i = 0; i < axis->count && !rc; i++)
        rc = orr_gnuplot_assign(file, "x_title", i + 1, axis->level[i]);
    for (int i = 0; i < curves_of(g, roles) && !rc; i++) {
        snprintf(text, sizeof text, "%s %s", curve ? curve->name : "mean over seeds",
                 curve ? curve->level[i] : "");
        rc = orr_gnuplot_assign(file, "curve_title", i + 1, text);
    }
    for (int p = 0; p < roles->panels && !rc; p++) {
        (void)place_of_panel(g, roles, p, text, sizeof text);
        rc = orr_gnuplot_assign(file, "panel_title", p + 1, text);
    }
    return rc;
}

static int write_settings(const struct probe_grid_figure *f, const char *path)
{
    const struct probe_grid *g = f->grid;
    const struct roles roles = roles_of(g);
    const int curves = curves_of(g, &roles), levels = g->factor[roles.axis].count;
    double value[PROBE_LEVELS];
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_file_printf(
            &file,
            "panels = %d\ncurves = %d\nlevels = %d\njoined = %d\nceiling = %d\n"
            "floor_there = %d\narray panel_title[%d]\narray curve_title[%d]\n"
            "array x_title[%d]\n",
            roles.panels, curves, levels, probe_factor_numbers(&g->factor[roles.axis], value),
            any_number(g, f->ceiling), any_number(g, f->floor), roles.panels, curves, levels);
    if (!rc)
        rc = orr_gnuplot_assign(&file, "title", 0, f->title);
    if (!rc)
        rc = orr_gnuplot_assign(&file, "subtitle", 0, f->subtitle);
    if (!rc)
        rc = orr_gnuplot_assign(&file, "y_label", 0, f->y_label);
    rc = rc ? rc : write_names(g, &roles, &file);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

static int write_figure(const void *of, const char *data, const char *settings)
{
    TRY(write_data(of, data));
    return write_settings(of, settings);
}

int probe_grid_draw(const struct probe_grid_figure *figure, const char *folder, const char *name)
{
    return probe_picture(folder, name, "grid.gp", write_figure, figure);
}
