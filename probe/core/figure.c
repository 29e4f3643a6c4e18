/* figure.c - see figure.h. */
#include "figure.h"

#include <math.h>
#include <string.h>

static bool belongs(const struct probe_row *row, const struct probe_panel *panel)
{
    return !strcmp(row->quantity, panel->quantity) && !strcmp(row->measure, panel->measure) &&
           (panel->by_context ? row->layer : row->context) == panel->fixed;
}

/* One block per panel: x, value, low, high, ceiling, floor, raw. */
static int write_data(const struct probe_results *results, const struct probe_figure *figure,
                      const char *path)
{
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    for (int p = 0; p < figure->panels && !rc; p++) {
        const struct probe_panel *panel = &figure->panel[p];
        for (int i = 0; i < results->count && !rc; i++) {
            const struct probe_row *r = &results->row[i];
            if (belongs(r, panel))
                rc = orr_file_printf(&file, "%d %.9g %.9g %.9g %.9g %.9g %.9g\n",
                                     panel->by_context ? r->context : r->layer, r->value,
                                     isfinite(r->low) ? r->low : r->value,
                                     isfinite(r->high) ? r->high : r->value, r->ceiling, r->floor,
                                     r->raw);
        }
        if (!rc)
            rc = orr_file_printf(&file, "\n\n");
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* Whether a panel has numbers of a curve: 0 value, 1 ceiling, 2 floor, 3 raw. */
static bool has_numbers(const struct probe_results *results, const struct probe_panel *panel,
                        int curve)
{
    for (int i = 0; i < results->count; i++) {
        const struct probe_row *r = &results->row[i];
        const double number[] = {r->value, r->ceiling, r->floor, r->raw};
        if (belongs(r, panel) && isfinite(number[curve]))
            return true;
    }
    return false;
}

enum { TICKS = 32 };

/* Where rows of a panel stand on its axis. */
static int write_ticks(const struct probe_results *results, const struct probe_panel *panel, int p,
                       struct orr_file *file)
{
    int count = 0, rc = 0;
    for (int i = 0; i < results->count && count < TICKS && !rc; i++)
        if (belongs(&results->row[i], panel))
            rc = orr_file_printf(file, "at_x[%d] = %d\n", TICKS * p + ++count,
                                 panel->by_context ? results->row[i].context
                                                   : results->row[i].layer);
    return rc ? rc : orr_file_printf(file, "measured[%d] = %d\n", p + 1, count);
}

static int write_settings(const struct probe_session *session, const struct probe_figure *f,
                          const char *path)
{
    const struct probe_results *results = &session->results;
    char text[PROBE_TEXT], title[2 * PROBE_TEXT];
    probe_describe(&session->probe.model, text);
    snprintf(title, sizeof title, "%s: %s", f->title, text);
    struct orr_file file = {0};
    int rc = orr_file_create(&file, path);
    if (!rc)
        rc = orr_file_printf(&file,
                             "panels = %d\nleast = %.9g\ndoubling = %d\narray panel_title[%d]\n"
                             "array y_label[%d]\narray logarithmic[%d]\narray curve[4]\n"
                             "array there[%d]\narray measured[%d]\narray at_x[%d]\n",
                             f->panels, isfinite(f->least) ? f->least : -1e300, f->doubling,
                             f->panels, f->panels, f->panels, 4 * f->panels, f->panels,
                             TICKS * f->panels);
    if (!rc)
        rc = orr_gnuplot_assign(&file, "title", 0, title);
    if (!rc)
        rc = orr_gnuplot_assign(&file, "x_label", 0, f->x_label);
    const char *const curves[] = {f->value, f->ceiling, f->floor, f->raw};
    for (int c = 0; c < 4 && !rc; c++)
        rc = orr_gnuplot_assign(&file, "curve", c + 1, curves[c]);
    for (int p = 0; p < f->panels && !rc; p++) {
        rc = orr_gnuplot_assign(&file, "panel_title", p + 1, f->panel[p].title);
        if (!rc)
            rc = orr_gnuplot_assign(&file, "y_label", p + 1, f->panel[p].y_label);
        if (!rc)
            rc = orr_file_printf(&file, "logarithmic[%d] = %d\n", p + 1, f->panel[p].log);
        rc = rc ? rc : write_ticks(results, &f->panel[p], p, &file);
        for (int c = 0; c < 4 && !rc; c++)
            rc = orr_file_printf(&file, "there[%d] = %d\n", 4 * p + c + 1,
                                 has_numbers(results, &f->panel[p], c));
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

struct drawing {
    const struct probe_session *session;
    const struct probe_figure *figure;
};

static int write_drawing(const void *of, const char *data, const char *settings)
{
    const struct drawing *drawing = of;
    TRY(write_data(&drawing->session->results, drawing->figure, data));
    return write_settings(drawing->session, drawing->figure, settings);
}

int probe_figure_draw(const struct probe_session *session, const struct probe_figure *figure,
                      const char *name)
{
    const struct drawing drawing = {session, figure};
    return probe_picture(session->folder, name, "probe_panels.gp", write_drawing, &drawing);
}
