/* figure.c - see figure.h. */
#include "figure.h"
#include "picture.h"

#include <math.h>

static int write_panel(struct orr_file *file, const struct probe_panel *panel, int p)
{
    TRY(orr_gnuplot_assign(file, "panel_title", p, panel->title));
    TRY(orr_gnuplot_assign(file, "y_label", p, panel->y_label));
    TRY(orr_gnuplot_assign(file, "quantity", p, panel->quantity));
    TRY(orr_gnuplot_assign(file, "measure", p, panel->measure));
    return orr_file_printf(file, "logarithmic[%d] = %d\nby_context[%d] = %d\nfixed[%d] = %d\n", p,
                           panel->log, p, panel->by_context, p, panel->fixed);
}

static int write_settings(const void *of, struct orr_file *file)
{
    static const char *const arrays[] = {"panel_title", "y_label",    "quantity", "measure",
                                         "logarithmic", "by_context", "fixed"};
    const struct probe_figure *f = of;
    const char *const curves[] = {f->value, f->ceiling, f->floor, f->raw};
    TRY(orr_file_printf(file, "panels = %d\nleast = %.9g\ndoubling = %d\narray curve[4]\n",
                        f->panels, isfinite(f->least) ? f->least : -1e300, f->doubling));
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        TRY(orr_file_printf(file, "array %s[%d]\n", arrays[k], f->panels));
    TRY(orr_gnuplot_assign(file, "title", 0, f->title));
    TRY(orr_gnuplot_assign(file, "x_label", 0, f->x_label));
    for (int c = 0; c < 4; c++)
        TRY(orr_gnuplot_assign(file, "curve", c + 1, curves[c]));
    for (int p = 0; p < f->panels; p++)
        TRY(write_panel(file, &f->panel[p], p + 1));
    return 0;
}

int probe_figure_draw(const struct probe_session *session, const struct probe_figure *figure,
                      const char *name)
{
    return probe_session_draw(session, name, "probe_panels.gp", write_settings, figure);
}
