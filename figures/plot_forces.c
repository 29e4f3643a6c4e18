/* plot_forces.c - writes the data of forces.gp: a planet's true and predicted force vectors in
 * separate panels. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

enum { POSITIONS_DRAWN = 50 }; /* unlabelled positions, at most, as arrows would overlap */

/* Arrows are in the planet's unit (report_force_unit()). Longer arrows are cut to this length and
 * drawn in another colour, so that one outlier does not shrink all others. On eccentric orbits an
 * arrow's length is the square root of the force, so that forces far from the Sun stay visible. */
static const double longest = 1.5;
static const double arrow_share = 0.45; /* arrow of force 1, relative to the mean distance */

const char *report_force_unit(const struct report_run *run)
{
    return run->settings.finetune.vector_scale == ORR_VECTOR_LARGEST ? "largest force of each axis"
                                                                     : "largest labelled force";
}

enum arrow_kind { ARROW_PREDICTED, ARROW_LABELLED, ARROW_CUT, ARROW_OMITTED };

struct field {
    enum report_view view;
    bool root;           /* lengths are square roots of forces */
    double arrow_au;     /* length of force 1 */
    double center_au[2]; /* centre of the axes */
    double extent_au;    /* half the range of the axes */
    size_t stride;       /* stride of unlabelled positions */
    size_t cut;          /* number of unlabelled arrows cut */
    /* number of positions whose arrows end there, because the true arrow would pass the Sun */
    size_t ending;
};

/* The panels of a run: truth, untrained model, variants in the run's order, other
 * programs' models. panel (REPORT_SOURCES); returns how many. */
static int choose_panels(const struct report_run *run, int body, struct report_panel panel[])
{
    int n = 0;
    const int truth = report_find(run, "truth"), untrained = report_find(run, "untrained");
    report_panel_of(&run->source[truth], &run->source[truth].orbit[body], &panel[n++]);
    if (untrained >= 0 && run->source[untrained].has_vectors)
        report_panel_of(&run->source[untrained], &run->source[untrained].orbit[body], &panel[n++]);
    for (int s = 0; s < run->source_count; s++) /* skips sources whose stage was omitted */
        if (run->source[s].has_vectors && report_is_model(&run->source[s]))
            report_panel_of(&run->source[s], &run->source[s].orbit[body], &panel[n++]);
    return n;
}

void report_panel_of(const struct report_source *source, const struct report_orbit *orbit,
                     struct report_panel *panel)
{
    const bool truth = source->role == REPORT_TRUTH;
    *panel =
        (struct report_panel){truth ? "True forces" : source->title, source->colour, orbit, truth};
}

/* A position, and its true force, as the picture shows them. */
static void place_of(enum report_view view, const struct report_position *at, double place_au[2])
{
    place_au[0] = at->x_au;
    place_au[1] = view == REPORT_XZ ? at->z_au : at->y_au;
}

static void true_force_of(enum report_view view, const struct report_position *at, double f[2])
{
    f[0] = at->fx_true;
    f[1] = view == REPORT_XZ ? at->fz_true : at->fy_true;
}

/* The force drawn in a panel; for the truth the true force, whatever its file predicts. */
static void force_of(const struct report_panel *panel, enum report_view view,
                     const struct report_position *at, double f[2])
{
    true_force_of(view, at, f);
    if (panel->truth)
        return;
    f[0] = at->fx;
    f[1] = view == REPORT_XZ ? at->fz : at->fy;
}

/* The arrow of a force, in AU; returns whether it was cut. */
static bool arrow_of(const struct field *field, const double f[2], double arrow_au[2])
{
    const double size = hypot(f[0], f[1]), drawn = field->root ? sqrt(size) : size;
    const double length = size > 0 ? field->arrow_au * fmin(drawn, longest) / size : 0;
    arrow_au[0] = length * f[0];
    arrow_au[1] = length * f[1];
    return drawn > longest;
}

/* Whether the true arrow, starting at its position, would pass the Sun and look like repulsion. All
 * panels then draw the arrow ending at the position. */
static bool passes_sun(const struct field *field, const struct report_position *at)
{
    double f[2], place_au[2], arrow_au[2];
    true_force_of(field->view, at, f);
    place_of(field->view, at, place_au);
    (void)arrow_of(field, f, arrow_au);
    return -(arrow_au[0] * place_au[0] + arrow_au[1] * place_au[1]) >
           place_au[0] * place_au[0] + place_au[1] * place_au[1];
}

static bool is_drawn(const struct report_orbit *orbit, size_t i, size_t stride)
{
    return orbit->at[i].labelled || i % stride == 0;
}

static void measure_field(const struct report_panel panel[], int panels, struct field *field)
{
    const struct report_orbit *orbit = panel[0].orbit;
    double r_au = 0;
    size_t unlabelled = 0;
    for (size_t i = 0; i < orbit->count; i++) {
        r_au += hypot(orbit->at[i].x_au, orbit->at[i].y_au) / (double)orbit->count;
        unlabelled += !orbit->at[i].labelled;
    }
    field->stride = 1 + (unlabelled > 0 ? unlabelled - 1 : 0) / POSITIONS_DRAWN;
    field->arrow_au = arrow_share * r_au;
    field->cut = field->ending = 0;
    double low[2] = {0, 0}, high[2] = {0, 0}; /* includes the Sun */
    for (int p = 0; p < panels; p++) {
        orbit = panel[p].orbit;
        for (size_t i = 0; i < orbit->count; i++) {
            const struct report_position *at = &orbit->at[i];
            double from[2], f[2], arrow_au[2];
            place_of(field->view, at, from);
            force_of(&panel[p], field->view, at, f);
            const bool cut = arrow_of(field, f, arrow_au), ends = passes_sun(field, at),
                       drawn = is_drawn(orbit, i, field->stride);
            field->ending += p == 0 && drawn && ends;
            for (int k = 0; k < 2; k++) {
                const double to = from[k] + (!drawn ? 0 : ends ? -arrow_au[k] : arrow_au[k]);
                low[k] = fmin(low[k], fmin(from[k], to));
                high[k] = fmax(high[k], fmax(from[k], to));
            }
            field->cut += !at->labelled && drawn && cut;
        }
    }
    for (int k = 0; k < 2; k++)
        field->center_au[k] = (low[k] + high[k]) / 2;
    field->extent_au = 1.07 * fmax(high[0] - low[0], high[1] - low[1]) / 2;
}

static void write_panel(struct orr_file *file, const struct report_panel *panel,
                        const struct field *field)
{
    const struct report_orbit *orbit = panel->orbit;
    orr_file_printf(file, "# x y dx dy kind ends  %s\n", panel->title);
    for (size_t i = 0; i < orbit->count; i++) {
        const struct report_position *at = &orbit->at[i];
        double f[2], place_au[2], arrow_au[2];
        force_of(panel, field->view, at, f);
        place_of(field->view, at, place_au);
        enum arrow_kind kind = arrow_of(field, f, arrow_au) ? ARROW_CUT : ARROW_PREDICTED;
        if (at->labelled)
            kind = ARROW_LABELLED;
        else if (!is_drawn(orbit, i, field->stride))
            kind = ARROW_OMITTED;
        orr_file_printf(file, "%.7g %.7g %.7g %.7g %d %d\n", place_au[0], place_au[1], arrow_au[0],
                        arrow_au[1], (int)kind, passes_sun(field, at));
    }
    orr_file_printf(file, "\n\n");
}

static int write_notes(struct orr_file *file, const struct report_panel panel[], int panels)
{
    for (int p = 0; p < panels; p++) {
        struct report_agreement a;
        char note[128], error[32];
        TRY(report_agree(panel[p].orbit, 1, REPORT_EVEN_IN_TIME, REPORT_NO_BASELINE, &a));
        const size_t count = panel[p].orbit->count;
        report_percent(a.relative_error, error);
        if (panel[p].truth && count == a.count)
            snprintf(note, sizeof note, "%zu positions, none labelled", count);
        else if (panel[p].truth)
            snprintf(note, sizeof note, "%zu positions, %zu of them labelled", count,
                     count - a.count);
        else
            snprintf(note, sizeof note, "mean cosine %.3g, median error %s", a.cosine, error);
        orr_gnuplot_assign(file, "title", p + 1, panel[p].title);
        orr_gnuplot_assign(file, "note", p + 1, note);
        orr_gnuplot_assign(file, "colour", p + 1, panel[p].colour);
    }
    return 0;
}

static bool has_labels(const struct report_orbit *orbit)
{
    for (size_t i = 0; i < orbit->count; i++)
        if (orbit->at[i].labelled)
            return true;
    return false;
}

/* Writes $curve, the orbit that all panels have. */
static int write_orbit(const struct report_orbit *orbit, enum report_view view,
                       struct orr_file *file)
{
    double *xy = orr_alloc(2 * orbit->count + 2, sizeof *xy);
    if (!xy)
        return ORR_ENOMEM;
    for (size_t i = 0; i < orbit->count; i++)
        place_of(view, &orbit->at[i], xy + 2 * i);
    report_write_curve(orbit->count, xy, file);
    free(xy);
    return 0;
}

/* Writes the panels' arrows and the settings of the script, <folder>/<name>.dat and .set. */
static int write_field(const struct report_panel panel[], int panels, const struct field *field,
                       const char *heading, const char *unit, const char *stem)
{
    char path[REPORT_PATH];
    struct orr_file file = {0};
    TRY(orr_path(path, "%s.dat", stem));
    TRY(orr_file_create(&file, path));
    for (int p = 0; p < panels; p++)
        write_panel(&file, &panel[p], field);
    int rc = orr_file_commit(&file);
    orr_file_close(&file);
    TRY(rc);
    TRY(orr_path(path, "%s.set", stem));
    TRY(orr_file_create(&file, path));
    orr_gnuplot_assign(&file, "planet", 0, heading);
    orr_file_printf(
        &file,
        "panels = %d\nx_center = %.7g\ny_center = %.7g\nextent = %.7g\n"
        "arrow = %.7g\ncut = %zu\nending = %zu\nlongest = %.3g\nstride = %zu\nlabels = %d\n"
        "unit_name = \"%s%s\"\narray title[%d]\narray note[%d]\narray colour[%d]\n",
        panels, field->center_au[0], field->center_au[1], field->extent_au, field->arrow_au,
        field->cut, field->ending, longest, field->stride, has_labels(panel[0].orbit), unit,
        field->root ? ", lengths by square root" : "", panels, panels, panels);
    orr_file_printf(&file, "has_curve = 1\n");
    if (field->view == REPORT_XZ)
        orr_file_printf(&file, "up = \"z\"\n");
    rc = write_notes(&file, panel, panels);
    rc = rc ? rc : write_orbit(panel[0].orbit, field->view, &file);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

int report_plot_panels(const struct report_panel panel[], int panels, enum report_view view,
                       bool root, const char *heading, const char *unit, const char *stem,
                       bool *ends)
{
    struct field field = {.view = view, .root = root};
    measure_field(panel, panels, &field);
    *ends = field.ending > 0;
    return write_field(panel, panels, &field, heading, unit, stem);
}

int report_plot_forces(const struct report_run *run, int planet, enum report_view view,
                       const char *folder, struct report_picture *picture)
{
    struct report_panel panel[REPORT_SOURCES];
    const int panels = choose_panels(run, planet, panel);
    const bool root = planet >= REPORT_PLANETS;
    char stem[REPORT_PATH];
    bool ends;
    snprintf(picture->name, sizeof picture->name, "forces_%s%s", report_body_name[planet],
             view == REPORT_XZ ? "_xz" : "");
    TRY(orr_path(stem, "%s/%s", folder, picture->name));
    TRY(report_plot_panels(panel, panels, view, root, report_body_title[planet],
                           report_force_unit(run), stem, &ends));
    snprintf(picture->caption, sizeof picture->caption,
             "%s: force on it along its orbit, true and predicted. Coloured arrows of models are "
             "predictions at positions without a label, thin grey arrows at labelled positions "
             "(circles).%s%s%s",
             report_body_title[planet],
             report_views(run) == 1 ? ""
             : view == REPORT_XZ    ? " Projection on x and z; numbers count all three coordinates."
                                 : " Projection on x and y; numbers count all three coordinates.",
             root ? " Lengths are square roots of forces." : "",
             ends ? " Where the true arrow would pass the Sun, arrows end at their positions "
                    "instead of beginning there."
                  : "");
    return 0;
}
