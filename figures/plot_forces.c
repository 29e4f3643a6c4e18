/* plot_forces.c - data of forces.gp: a planet's true and predicted force vectors, side by side. */
#include "report.h"

#include <math.h>

enum { POSITIONS_DRAWN = 50 }; /* unlabelled positions at most: more arrows hide each other */

/* Arrows are in the planet's unit (report_force_unit); longer ones than this are drawn at this
 * length in a colour of their own, lest one wild prediction shrink all others to dots. */
static const double longest = 1.5;
static const double arrow_share = 0.45; /* of the median distance: the arrow of force 1 */

const char *report_force_unit(const struct report_run *run)
{
    return run->preset.finetune.vector_scale == ORR_VECTOR_LARGEST ? "largest force of each axis"
                                                                   : "largest labelled force";
}

enum arrow_kind { ARROW_PREDICTED, ARROW_LABELLED, ARROW_CUT, ARROW_OMITTED };

struct field {
    double arrow_au;  /* length of force 1 */
    double extent_au; /* axes cover [-extent, extent] */
    size_t stride;    /* of unlabelled positions */
    size_t cut;       /* unlabelled arrows that are too long */
};

/* The panels: truth, LSSAR, Softmax, the other variants; one variant alone is shown beside the
 * untrained model. panel (REPORT_SOURCES); returns how many. */
static int choose_panels(const struct report_run *run, int panel[])
{
    int n = 0, models = 0;
    panel[n++] = report_find(run, "truth");
    const int lssar = report_find(run, "lssar");
    if (lssar >= 0 && run->source[lssar].has_vectors)
        panel[n++] = lssar;
    for (int s = 0; s < run->source_count; s++) {
        if (!run->source[s].has_vectors)
            continue; /* its stage was left out */
        models += run->source[s].role == REPORT_ATTENTION;
        if (run->source[s].role == REPORT_ATTENTION && s != lssar)
            panel[n++] = s;
    }
    const int untrained = report_find(run, "untrained");
    if (models < 2 && untrained >= 0 && run->source[untrained].has_vectors)
        panel[n++] = untrained;
    return n;
}

/* The truth's own panel draws the true forces, whatever its file predicts. */
static void force_of(const struct report_source *source, const struct report_position *at,
                     double f[2])
{
    f[0] = source->role == REPORT_TRUTH ? at->fx_true : at->fx;
    f[1] = source->role == REPORT_TRUTH ? at->fy_true : at->fy;
}

static bool is_drawn(const struct report_orbit *orbit, size_t i, size_t stride)
{
    return orbit->at[i].labelled || i % stride == 0;
}

static void measure(const struct report_run *run, int planet, const int panel[], int panels,
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
    field->extent_au = 0;
    field->cut = 0;
    for (int p = 0; p < panels; p++) {
        const struct report_source *source = &run->source[panel[p]];
        orbit = &source->orbit[planet];
        for (size_t i = 0; i < orbit->count; i++) {
            const struct report_position *at = &orbit->at[i];
            double f[2];
            force_of(source, at, f);
            const double size = hypot(f[0], f[1]), shrink = size > longest ? longest / size : 1;
            const double reach = is_drawn(orbit, i, field->stride) ? field->arrow_au * shrink : 0;
            const double x_au = fmax(fabs(at->x_au), fabs(at->x_au + reach * f[0]));
            const double y_au = fmax(fabs(at->y_au), fabs(at->y_au + reach * f[1]));
            field->extent_au = fmax(field->extent_au, fmax(x_au, y_au));
            field->cut += !at->labelled && reach > 0 && size > longest;
        }
    }
    field->extent_au *= 1.07;
}

static void write_panel(struct orr_file *file, const struct report_source *source, int planet,
                        const struct field *field)
{
    const struct report_orbit *orbit = &source->orbit[planet];
    orr_file_printf(file, "# x y dx dy kind  %s\n", source->name);
    for (size_t i = 0; i < orbit->count; i++) {
        const struct report_position *at = &orbit->at[i];
        double f[2];
        force_of(source, at, f);
        const double size = hypot(f[0], f[1]), shrink = size > longest ? longest / size : 1;
        enum arrow_kind kind = size > longest ? ARROW_CUT : ARROW_PREDICTED;
        if (at->labelled)
            kind = ARROW_LABELLED;
        else if (!is_drawn(orbit, i, field->stride))
            kind = ARROW_OMITTED;
        orr_file_printf(file, "%.7g %.7g %.7g %.7g %d\n", at->x_au, at->y_au,
                        field->arrow_au * shrink * f[0], field->arrow_au * shrink * f[1],
                        (int)kind);
    }
    orr_file_printf(file, "\n\n");
}

static int write_notes(struct orr_file *file, const struct report_run *run, int planet,
                       const int panel[], int panels)
{
    for (int p = 0; p < panels; p++) {
        const struct report_source *source = &run->source[panel[p]];
        struct report_agreement a;
        char note[128];
        TRY(report_agree(&source->orbit[planet], 1, REPORT_EVEN_IN_TIME, REPORT_NO_BASELINE, &a));
        const size_t count = source->orbit[planet].count;
        if (source->role == REPORT_TRUTH)
            snprintf(note, sizeof note, "%zu positions, %zu of them labelled", count,
                     count - a.count);
        else
            snprintf(note, sizeof note, "cosine %.3f, median error %.*f%%", a.cosine,
                     a.relative_error < 0.1 ? 2
                     : a.relative_error < 1 ? 1
                                            : 0,
                     100 * a.relative_error);
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
    measure(run, planet, panel, panels, &field);
    snprintf(picture->name, sizeof picture->name, "forces_%s", report_body_name[planet]);
    snprintf(picture->caption, sizeof picture->caption,
             "%s: force on it along its orbit, the Sun in the middle. Coloured arrows are "
             "predictions at positions whose label was never trained on; grey circles with thin "
             "arrows are the labelled positions.",
             report_body_title[planet]);

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
    orr_file_printf(&file,
                    "planet = \"%s\"\npanels = %d\nextent = %.7g\narrow = %.7g\ncut = %zu\n"
                    "longest = %.3g\nstride = %zu\nunit_name = \"%s\"\narray title[%d]\n"
                    "array note[%d]\narray colour[%d]\n",
                    report_body_title[planet], panels, field.extent_au, field.arrow_au, field.cut,
                    longest, field.stride, report_force_unit(run), panels, panels, panels);
    rc = write_notes(&file, run, planet, panel, panels);
    rc = rc ? rc : orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}
