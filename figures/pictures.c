/* pictures.c - every figure of a run, as PNG and SVG, by gnuplot. */
#include "report.h"

#include <string.h>

static int render(const char *script, const char *folder, const char *name, const char *format)
{
    char stem[REPORT_PATH], picture[REPORT_PATH];
    TRY(orr_path(stem, "%s/%s", folder, name));
    TRY(orr_path(picture, "%s/%s.%s", folder, name, format));
    TRY(orr_gnuplot_draw(script, stem, picture));
    if (orr_signal_seen())
        return ORR_FAIL(ORR_EINTR, "stopped by a signal; no figure was written");
    return 0;
}

static int draw(const char *folder, struct report_pictures *pictures, struct orr_progress *progress)
{
    const char *name = pictures->at[pictures->count].name, *script = report_script(name);
    TRY(render(script, folder, name, "png"));
    TRY(render(script, folder, name, "svg"));
    orr_progress_set(progress, ++pictures->count, name);
    return 0;
}

const char *report_script(const char *picture)
{
    return !strncmp(picture, "forces_", 7) ? "forces.gp"
           : !strcmp(picture, "exponents") ? "exponents.gp"
                                           : "curves.gp";
}

int report_plot(const struct report_run *run, const char *folder, bool quiet,
                struct report_pictures *pictures)
{
    static int (*const others[])(const struct report_run *, const char *,
                                 struct report_picture *) = {report_plot_exponents,
                                                             report_plot_pareto, report_plot_loss};
    const size_t planets = run->has_vectors ? (size_t)report_bodies(run) : 0;
    const size_t count = sizeof others / sizeof *others;
    struct orr_progress progress;
    pictures->count = 0;
    orr_progress_init(&progress, "figures", planets + count, quiet);
    for (size_t p = 0; p < planets; p++) {
        TRY(report_plot_forces(run, (int)p, folder, &pictures->at[pictures->count]));
        TRY(draw(folder, pictures, &progress));
    }
    for (size_t i = run->has_laws ? 0 : 2; i < count; i++) {
        TRY(others[i](run, folder, &pictures->at[pictures->count]));
        TRY(draw(folder, pictures, &progress));
    }
    orr_progress_end(&progress, NULL);
    return 0;
}
