/* plot_forces.c - writes the data of forces.gp: a planet's true and predicted force vectors in
 * separate panels. */
#include "report.h"

#include <math.h>

enum { POSITIONS_DRAWN = 50 }; /* unlabelled positions, at most, as arrows would overlap */

/* Arrows are in the planet's unit (report_force_unit()). Longer arrows are cut to this length and
 * drawn in another colour, so that one outlier does not shrink all others. On eccentric orbits an
 * arrow's length is the square root of the force, so that forces far from the Sun stay visible. */
static const double longest = 1.5;
static const double arrow_share = 0.45; /* arrow of force 1, relative to the mean distance */

const char *report_force_unit(const struct report_run *run)
{
    return run->preset.finetune.vector_scale == ORR_VECTOR_LARGEST ? "largest force of each axis"
                                                                   : "largest labelled force";
}

enum arrow_kind { ARROW_PREDICTED, ARROW_LABELLED, ARROW_CUT, ARROW_OMITTED };

struct field {
    bool root;           /* lengths are square roots of forces */
    double arrow_au;     /* length of force 1 */
    double center_au[2]; /* centre of the axes */
    double extent_au;    /* half the range of the axes */
    size_t stride;       /* stride of unlabelled positions */
    size_t cut;          /* number of unlabelled arrows cut */
    /* number of positions whose arrows end there, because the true arrow would pass the Sun */
    size_t ending;
};

/* Chooses the panels: truth, untrained model, variants in the run's order. panel (REPORT_SOURCES);
 * returns how many. */
static int choose_panels(const struct report_run *run, int panel[])
{
    int n = 0;
    panel[n++] = report_find(run, "truth");
    const int untrained = report_find(run, "untrained");
    if (untrained >= 0 && run->source[untrained].has_vectors)
        panel[n++] = untrained;
    for (int s = 0; s < run->source_count; s++) /* skips sources whose stage was omitted */
        if (run->source[s].has_vectors && run->source[s].role == REPORT_ATTENTION)
            panel[n++] = s;
    return n;
}

/* The force drawn for a source; for the truth the true force, whatever its file predicts. */
static void force_of(const struct report_source *source, const struct report_position *at,
                     double f[2])
{
    f[0] = source->role == REPORT_TRUTH ? at->fx_true : at->fx;
    f[1] = source->role == REPORT_TRUTH ? at->fy_true : at->fy;
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
    const double f[2] = {at->fx_true, at->fy_true};
    double arrow_au[2];
    (void)arrow_of(field, f, arrow_au);
    return -(arrow_au[0] * at->x_au + arrow_au[1] * at->y_au) >
           at->x_au * at->x_au + at->y_au * at->y_au;
}

static bool is_drawn(const struct report_orbit *orbit, size_t i, size_t stride)
{
    return orbit->at[i].labelled || i % stride == 0;
}

static void measure_field(const struct report_run *run, int planet, const int panel[], int panels,
                          struct field *field)
{
    const struct report_orbit *orbit = &run->source[panel[0]].orbit[planet];
    double r_au = 0;
    size_t unlabelled = 0;
    for (size_t i = 0; i < orbit->count; i++) {
        r_au += hypot(orbit->at[i].x_au, orbit->at[i].y_au) / (double)orbit->count;
        unlabelled += !orbit->at[i].labelled;
    }
    field->stride = 1 + (unlabelled > 0 ? unlabelled - 1 : 0) / POSITIONS_DRAWN;
    field->arrow_au = arrow_share * r_au;
    field->root = planet >= REPORT_PLANETS;
    field->cut = field->ending = 0;
    double low[2] = {0, 0}, high[2] = {0, 0}; /* includes the Sun */
    for (int p = 0; p < panels; p++) {
        const struct report_source *source = &run->source[panel[p]];
        orbit = &source->orbit[planet];
        for (size_t i = 0; i < orbit->count; i++) {
            const struct report_position *at = &orbit->at[i];
            const double from[2] = {at->x_au, at->y_au};
            double f[2], arrow_au[2];
            force_of(source, at, f);
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

static void write_panel(struct orr_file *file, const struct report_source *source, int planet,
                        const struct field *field)
{
    const struct report_orbit *orbit = &source->orbit[planet];
    orr_file_printf(file, "# x y dx dy kind ends  %s\n", source->name);
    for (size_t i = 0; i < orbit->count; i++) {
        const struct report_position *at = &orbit->at[i];
        double f[2], arrow_au[2];
        force_of(source, at, f);
        enum arrow_kind kind = arrow_of(field, f, arrow_au) ? ARROW_CUT : ARROW_PREDICTED;
        if (at->labelled)
            kind = ARROW_LABELLED;
        else if (!is_drawn(orbit, i, field->stride))
            kind = ARROW_OMITTED;
        orr_file_printf(file, "%.7g %.7g %.7g %.7g %d %d\n", at->x_au, at->y_au, arrow_au[0],
                        arrow_au[1], (int)kind, passes_sun(field, at));
    }
    orr_file_printf(file, "\n\n");
}

static int write_notes(struct orr_file *file, const struct report_run *run, int planet,
                       const int panel[], int panels)
{
    for (int p = 0; p < panels; p++) {
        const struct report_source *source = &run->source[panel[p]];
        struct report_agreement a;
        char note[128], error[32];
        TRY(report_agree(&source->orbit[planet], 1, REPORT_EVEN_IN_TIME, REPORT_NO_BASELINE, &a));
        const size_t count = source->orbit[planet].count;
        report_percent(a.relative_error, error);
        if (source->role == REPORT_TRUTH)
            snprintf(note, sizeof note, "%zu positions, %zu of them labelled", count,
                     count - a.count);
        else
            snprintf(note, sizeof note, "mean cosine %.3g, median error %s", a.cosine, error);
        orr_gnuplot_assign(file, "title", p + 1,
                           source->role == REPORT_TRUTH ? "True forces" : source->title);
        orr_file_printf(file, "note[%d] = \"%s\"\ncolour[%d] = \"%s\"\n", p + 1, note, p + 1,
                        source->colour);
    }
    return 0;
}

int report_plot_forces(const struct report_run *run, int planet, const char *folder,
                       struct report_picture *picture)
{
    int panel[REPORT_SOURCES + 2];
    const int panels = choose_panels(run, panel);
    struct field field;
    measure_field(run, planet, panel, panels, &field);
    snprintf(picture->name, sizeof picture->name, "forces_%s", report_body_name[planet]);
    snprintf(picture->caption, sizeof picture->caption,
             "%s: force on it along its orbit, true and predicted. Coloured arrows of models are "
             "predictions at positions without a label, thin grey arrows at labelled positions "
             "(circles).%s%s",
             report_body_title[planet], field.root ? " Lengths are square roots of forces." : "",
             field.ending ? " Where the true arrow would pass the Sun, arrows end at their "
                            "positions instead of beginning there."
                          : "");

    char path[REPORT_PATH];
    struct orr_file file = {0};
    TRY(orr_path(path, "%s/%s.dat", folder, picture->name));
    TRY(orr_file_create(&file, path));
    for (int p = 0; p < panels; p++)
        write_panel(&file, &run->source[panel[p]], planet, &field);
    int rc = orr_file_commit(&file);
    orr_file_close(&file);
    TRY(rc);
    TRY(orr_path(path, "%s/%s.set", folder, picture->name));
    TRY(orr_file_create(&file, path));
    orr_file_printf(
        &file,
        "planet = \"%s\"\npanels = %d\nx_center = %.7g\ny_center = %.7g\nextent = %.7g\n"
        "arrow = %.7g\ncut = %zu\nending = %zu\nlongest = %.3g\nstride = %zu\n"
        "unit_name = \"%s%s\"\narray title[%d]\narray note[%d]\narray colour[%d]\n",
        report_body_title[planet], panels, field.center_au[0], field.center_au[1], field.extent_au,
        field.arrow_au, field.cut, field.ending, longest, field.stride, report_force_unit(run),
        field.root ? ", lengths by square root" : "", panels, panels, panels);
    rc = write_notes(&file, run, planet, panel, panels);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}
