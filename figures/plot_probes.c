/* plot_probes.c - writes the data of curves.gp for rollouts and label curves of all models. */
#include "report.h"

#include <math.h>
#include <string.h>

/* The panels: rows of a quantity, along their contexts. */
static const struct panel {
    const char *quantity, *measure, *title;
    bool labels;
} panels[] = {{"position", "AU", "Rollouts", false},
              {"log force", "R^2", "Forces learned from few labels", true}};
enum { PANELS = sizeof panels / sizeof *panels };

static bool is_of(const struct orr_row *row, const struct panel *panel)
{
    return !strcmp(row->quantity, panel->quantity) && !strcmp(row->measure, panel->measure) &&
           isfinite(row->value);
}

static int count_rows(const struct report_source *source, const struct panel *panel)
{
    int count = 0;
    for (size_t i = 0; i < source->probed.count; i++)
        count += is_of(&source->probed.row[i], panel);
    return count;
}

/* Its values with intervals, then its twin's; a block without rows has one of NaN. */
static void write_curve(const struct report_source *source, const struct panel *panel,
                        struct orr_file *set)
{
    int twins = 0;
    for (size_t i = 0; i < source->probed.count; i++) {
        const struct orr_row *row = &source->probed.row[i];
        const double low = isfinite(row->low) ? row->low : row->value,
                     high = isfinite(row->high) ? row->high : row->value;
        if (is_of(row, panel))
            orr_file_printf(set, "%d %.7g %.7g %.7g\n", row->context, row->value, low, high);
    }
    orr_file_printf(set, "\n\n");
    for (size_t i = 0; i < source->probed.count; i++) {
        const struct orr_row *row = &source->probed.row[i];
        if (!is_of(row, panel) || !isfinite(row->baseline))
            continue;
        orr_file_printf(set, "%d %.7g\n", row->context, row->baseline);
        twins++;
    }
    orr_file_printf(set, twins ? "\n\n" : "NaN NaN\n\n\n");
}

static void write_set(const struct report_run *run, const int number[PANELS], int curves, int count,
                      struct orr_file *set)
{
    int curve = 0;
    orr_file_printf(set,
                    "kind = \"probes\"\npanels = %d\ncurves = %d\nlabels = %d\narray "
                    "panel_title[%d]\narray panel_of[%d]\narray title[%d]\narray colour[%d]\n",
                    count, curves, number[1], count, curves, curves, curves);
    for (int p = 0; p < PANELS; p++) {
        if (number[p])
            orr_gnuplot_assign(set, "panel_title", number[p], panels[p].title);
        for (int s = 0; s < run->source_count; s++)
            if (count_rows(&run->source[s], &panels[p])) {
                orr_file_printf(set, "panel_of[%d] = %d\ncolour[%d] = \"%s\"\n", curve + 1,
                                number[p], curve + 1, run->source[s].colour);
                orr_gnuplot_assign(set, "title", ++curve, run->source[s].title);
            }
    }
    orr_file_printf(set, "$data << EOD\n");
    for (int p = 0; p < PANELS; p++)
        for (int s = 0; s < run->source_count; s++)
            if (count_rows(&run->source[s], &panels[p]))
                write_curve(&run->source[s], &panels[p], set);
    orr_file_printf(set, "EOD\n");
}

int report_plot_probes(const struct report_run *run, const char *folder,
                       struct report_picture *picture)
{
    struct orr_file set = {0};
    char path[REPORT_PATH];
    int number[PANELS] = {0}, curves = 0, count = 0;
    for (int p = 0; p < PANELS; p++) {
        int found = 0;
        for (int s = 0; s < run->source_count; s++)
            found += count_rows(&run->source[s], &panels[p]) > 0;
        number[p] = found ? ++count : 0;
        curves += found;
    }
    if (!curves)
        return ORR_FAIL(
            ORR_EINVAL,
            "%s: no rollouts and label curves of models of other programs; measure them "
            "with orrery judge, and name their folders with --answers",
            run->path);
    snprintf(picture->name, sizeof picture->name, "probes");
    snprintf(picture->caption, sizeof picture->caption,
             "Rollouts and label curves: lines are models with 95%% intervals, dashed lines their "
             "untrained twins.");
    TRY(orr_path(path, "%s/probes.set", folder));
    TRY(orr_file_create(&set, path));
    write_set(run, number, curves, count, &set);
    const int rc = orr_file_commit(&set);
    orr_file_close(&set);
    return rc;
}
