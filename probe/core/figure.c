/* figure.c - pictures of the rows of a session. */
#include "figure.h"

#include <math.h>
#include <stdarg.h>

/* ------------------------------------------------------------------------------ results */

struct drawing {
    const struct probe_session *session;
    void (*settings)(const void *of, struct orr_file *file);
    const void *of;
};

static int write_drawing(const void *of, struct orr_file *data, struct orr_file *settings)
{
    const struct drawing *d = of;
    const struct probe *probe = &d->session->probe;
    char text[PROBE_TEXT];
    const struct orr_table *table = &d->session->results.table;
    for (const struct orr_row *r = table->row; r < table->row + table->count; r++)
        orr_file_printf(
            data, "%s\t%s\t%d\t%d\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%ld\n", r->quantity,
            r->measure, r->layer, r->context, r->value, isfinite(r->low) ? r->low : r->value,
            isfinite(r->high) ? r->high : r->value, r->upper_bound, r->baseline, r->raw, r->n);
    probe_describe(&probe->model, text);
    orr_gnuplot_assign(settings, "model", 0, text);
    orr_file_printf(settings, "seed = \"%llu\"\n", (unsigned long long)probe->settings.seed);
    if (d->settings)
        d->settings(d->of, settings);
    return 0;
}

int probe_session_draw(const struct probe_session *session, const char *script,
                       void (*settings)(const void *of, struct orr_file *file), const void *of)
{
    const struct drawing drawing = {session, settings, of};
    return orr_picture_draw(session->folder, session->name, script, write_drawing, &drawing);
}

/* ------------------------------------------------------------------------------------ panels */

struct titled {
    const struct probe_figure *figure;
    char title[PROBE_TEXT];
};

static void write_panels(const void *of, struct orr_file *file)
{
    const struct titled *titled = of;
    const struct probe_figure *f = titled->figure;
    const char *const curves[] = {f->value, f->upper_bound, f->baseline, f->raw};
    orr_file_printf(file,
                    "panels = %d\nleast = %.9g\ndoubling = %d\nby_context = %d\nfixed = %d\n"
                    "array curve[4]\narray panel_title[%d]\narray y_label[%d]\n"
                    "array quantity[%d]\narray measure[%d]\narray logarithmic[%d]\n",
                    f->panels, isfinite(f->least) ? f->least : -1e300, f->doubling, f->by_context,
                    f->fixed, f->panels, f->panels, f->panels, f->panels, f->panels);
    orr_gnuplot_assign(file, "title", 0, titled->title);
    orr_gnuplot_assign(file, "x_label", 0, f->x_label);
    for (int c = 0; c < 4; c++)
        orr_gnuplot_assign(file, "curve", c + 1, curves[c]);
    for (int p = 0; p < f->panels; p++) {
        const struct probe_panel *panel = &f->panel[p];
        orr_gnuplot_assign(file, "panel_title", p + 1,
                           panel->title ? panel->title : panel->quantity);
        orr_gnuplot_assign(file, "y_label", p + 1, panel->y_label);
        orr_gnuplot_assign(file, "quantity", p + 1, panel->quantity);
        orr_gnuplot_assign(file, "measure", p + 1, panel->measure);
        orr_file_printf(file, "logarithmic[%d] = %d\n", p + 1, panel->log);
    }
}

int probe_figure_draw(const struct probe_session *session, const struct probe_figure *figure,
                      const char *title, ...)
{
    struct titled titled = {.figure = figure};
    va_list list;
    va_start(list, title);
    vsnprintf(titled.title, sizeof titled.title, title, list);
    va_end(list);
    return probe_session_draw(session, "probe_panels.gp", write_panels, &titled);
}
