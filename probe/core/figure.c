/* figure.c - draws pictures by gnuplot from a temporary data file and a temporary settings file. */
#include "figure.h"

#include "base/tempdir.h"

#include <math.h>
#include <stdarg.h>

static int write_files(const char *stem,
                       int (*write)(const void *of, struct orr_file *data,
                                    struct orr_file *settings),
                       const void *of)
{
    static const char *const ends[2] = {"dat", "set"};
    struct orr_file file[2] = {{0}, {0}};
    char path[4096];
    int rc = 0;
    for (int k = 0; k < 2 && !rc; k++) {
        rc = orr_path(path, "%s.%s", stem, ends[k]);
        rc = rc ? rc : orr_file_create(&file[k], path);
    }
    rc = rc ? rc : write(of, &file[0], &file[1]);
    for (int k = 0; k < 2; k++) {
        rc = rc ? rc : orr_file_commit(&file[k]);
        orr_file_close(&file[k]);
    }
    return rc;
}

int probe_picture_check(const char *script)
{
    if (orr_gnuplot_is_there())
        return orr_gnuplot_check(script);
    orr_note(false, "note: no picture: gnuplot is not in PATH (package gnuplot-nox, or make deps)");
    return 0;
}

int probe_picture(const char *folder, const char *name, const char *script,
                  int (*write)(const void *of, struct orr_file *data, struct orr_file *settings),
                  const void *of)
{
    struct orr_tempdir work;
    char stem[4096], picture[4096];
    TRY(orr_mkdir(folder));
    TRY(orr_path(picture, "%s/%s.png", folder, name));
    if (!orr_gnuplot_is_there())
        return orr_remove(picture); /* it would be of other numbers */
    int rc = orr_tempdir_create(&work, folder, "probe");
    rc = rc ? rc : orr_path(stem, "%s/picture", work.folder);
    rc = rc ? rc : write_files(stem, write, of);
    rc = rc ? rc : orr_gnuplot_draw(script, stem, picture);
    if (!rc && orr_signal_seen())
        rc = ORR_FAIL(ORR_EINTR, "stopped by a signal");
    orr_tempdir_remove(&work);
    return rc;
}

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
    orr_file_printf(settings, "seed = \"%llu\"\n", (unsigned long long)probe->preset.seed);
    if (d->settings)
        d->settings(d->of, settings);
    return 0;
}

int probe_session_draw(const struct probe_session *session, const char *script,
                       void (*settings)(const void *of, struct orr_file *file), const void *of)
{
    const struct drawing drawing = {session, settings, of};
    return probe_picture(session->folder, session->name, script, write_drawing, &drawing);
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
