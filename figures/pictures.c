/* pictures.c - every figure of a run, as PNG and SVG, by gnuplot. */
#include "report.h"

static int render(const char *script, const char *folder, const char *name, const char *format)
{
    char stem[REPORT_PATH], picture[REPORT_PATH];
    int rc = orr_path(stem, "%s/%s", folder, name);
    if (!rc)
        rc = orr_path(picture, "%s/%s.%s", folder, name, format);
    if (!rc)
        rc = orr_gnuplot_draw(script, stem, picture);
    if (!rc && orr_signal_seen())
        rc = ORR_FAIL(ORR_EINTR, "stopped by a signal; no figure was written");
    return rc;
}

static int draw(const char *script, const char *folder, struct report_pictures *pictures,
                struct orr_progress *progress)
{
    const char *name = pictures->at[pictures->count].name;
    int rc = render(script, folder, name, "png");
    if (!rc)
        rc = render(script, folder, name, "svg");
    if (!rc)
        orr_progress_set(progress, ++pictures->count, name);
    return rc;
}

int report_plot(const struct report_run *run, const char *folder, bool quiet,
                struct report_pictures *pictures)
{
    static const struct {
        int (*plot)(const struct report_run *, const char *, struct report_picture *);
        const char *script;
    } others[] = {{report_plot_exponents, "exponents.gp"},
                  {report_plot_pareto, "curves.gp"},
                  {report_plot_loss, "curves.gp"}};
    const size_t planets = run->has_vectors ? (size_t)report_bodies(run) : 0;
    const size_t count = sizeof others / sizeof *others;
    struct orr_progress progress;
    pictures->count = 0;
    orr_progress_init(&progress, "figures", planets + count, quiet);
    int rc = 0;
    for (size_t p = 0; p < planets && !rc; p++) {
        rc = report_plot_forces(run, (int)p, folder, &pictures->at[pictures->count]);
        if (!rc)
            rc = draw("forces.gp", folder, pictures, &progress);
    }
    for (size_t i = run->has_laws ? 0 : 2; i < count && !rc; i++) {
        rc = others[i].plot(run, folder, &pictures->at[pictures->count]);
        if (!rc)
            rc = draw(others[i].script, folder, pictures, &progress);
    }
    if (!rc)
        orr_progress_end(&progress, NULL);
    return rc;
}
