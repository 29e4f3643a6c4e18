/* pictures.c - draws every picture of a run as PNG and SVG by gnuplot. */
#include "report.h"

#include <string.h>

static int render_picture(const char *script, const char *folder, const char *name,
                          const char *format)
{
    char stem[REPORT_PATH], picture[REPORT_PATH];
    TRY(orr_path(stem, "%s/%s", folder, name));
    TRY(orr_path(picture, "%s/%s.%s", folder, name, format));
    TRY(orr_gnuplot_draw(script, stem, picture));
    if (orr_signal_seen())
        return ORR_FAIL(ORR_EINTR, "stopped by a signal; no figure was written");
    return 0;
}

static int draw_picture(const char *folder, struct report_pictures *pictures,
                        struct orr_progress *progress)
{
    const char *name = pictures->at[pictures->count].name, *script = report_script(name);
    TRY(render_picture(script, folder, name, "png"));
    TRY(render_picture(script, folder, name, "svg"));
    orr_progress_set(progress, ++pictures->count, name);
    return 0;
}

static bool has_laws(const struct report_run *run)
{
    return run->has_laws;
}

static bool has_curves(const struct report_run *run)
{
    for (int s = 0; s < run->source_count; s++)
        if (run->source[s].probed.count)
            return true;
    return false;
}

/* The pictures that do not belong to one body. */
static const struct figure {
    const char *name, *script;
    int (*plot)(const struct report_run *, const char *, struct report_picture *);
    bool (*is_there)(const struct report_run *); /* NULL: always */
} figures[] = {{"exponents", "exponents.gp", report_plot_exponents, has_laws},
               {"pareto", "curves.gp", report_plot_pareto, has_laws},
               {"probes", "curves.gp", report_plot_probes, has_curves},
               {"loss", "curves.gp", report_plot_loss, NULL}};
enum { FIGURES = sizeof figures / sizeof *figures };

static const struct figure *find_figure(const char *name)
{
    for (int i = 0; i < FIGURES; i++)
        if (!strcmp(figures[i].name, name))
            return &figures[i];
    return NULL;
}

const char *report_script(const char *picture)
{
    const struct figure *figure = find_figure(picture);
    return figure ? figure->script : "forces.gp";
}

/* The planet of "real_venus", -1 for another name. */
static int find_real(const char *name)
{
    const int body = strncmp(name, "real_", 5) ? -1 : report_body_of(name + 5);
    return body < REPORT_PLANETS ? body : -1;
}

bool report_is_figure(const char *name)
{
    return report_body_of(name) >= 0 || find_real(name) >= 0 || find_figure(name);
}

int report_plot_figure(const struct report_run *run, const char *name, const char *folder,
                       struct report_picture *picture)
{
    const int body = report_body_of(name);
    const struct figure *figure = find_figure(name);
    if (body >= 0 && (!run->has_vectors || body >= report_bodies(run)))
        return ORR_FAIL(ORR_EINVAL, "%s: the run has no force vectors of %s", run->path,
                        report_body_title[body]);
    if (body >= 0)
        return report_plot_forces(run, body, REPORT_XY, folder, picture);
    if (body < 0 && find_real(name) >= 0)
        return report_plot_real(run, find_real(name), folder, picture);
    if (figure->is_there == has_laws && !run->has_laws)
        return ORR_FAIL(ORR_EINVAL, "%s: the run has no laws, of which figure %s is", run->path,
                        name);
    return figure->plot(run, folder, picture);
}

int report_plot(const struct report_run *run, const char *folder, bool quiet,
                struct report_pictures *pictures)
{
    const int views = report_views(run);
    const size_t planets = run->has_vectors ? (size_t)(views * report_bodies(run)) : 0;
    struct orr_progress progress;
    pictures->count = 0;
    orr_progress_init(&progress, "figures", planets + FIGURES, quiet);
    for (size_t p = 0; p < planets; p++) {
        TRY(report_plot_forces(run, (int)p / views, (enum report_view)((int)p % views), folder,
                               &pictures->at[pictures->count]));
        TRY(draw_picture(folder, pictures, &progress));
    }
    for (int i = 0; i < FIGURES; i++) {
        if (figures[i].is_there && !figures[i].is_there(run))
            continue;
        TRY(figures[i].plot(run, folder, &pictures->at[pictures->count]));
        TRY(draw_picture(folder, pictures, &progress));
    }
    orr_progress_end(&progress, NULL);
    return 0;
}
