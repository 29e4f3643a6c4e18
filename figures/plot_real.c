/* plot_real.c - forces on a planet at its real positions, of every model of a run that
 * `bin/probe planets` was run on: the data of forces.gp. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME, STEP, X, Y, FX_TRUE, FY_TRUE, FX, FY, FX_BASELINE, FY_BASELINE, COLUMNS };
static const char *const names[COLUMNS] = {"name",    "step", "x",  "y",           "fx_true",
                                           "fy_true", "fx",   "fy", "fx_baseline", "fy_baseline"};

/* The tables of a run's models, as orbits of one planet. */
struct tables {
    struct report_orbit orbit[REPORT_SOURCES];    /* of each source, empty without a table */
    struct report_orbit baseline[REPORT_SOURCES]; /* fx, fy of the untrained model, if finite */
};

static int take_row(const char *path, size_t line, const double v[COLUMNS],
                    struct report_orbit *orbit, struct report_orbit *baseline)
{
    for (int c = STEP; c <= FY; c++)
        if (!isfinite(v[c]))
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: \"%s\" is not a finite number", path, line,
                            names[c]);
    if (hypot(v[X], v[Y]) <= 0 || hypot(v[FX_TRUE], v[FY_TRUE]) <= 0)
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: position and true force must not vanish", path, line);
    struct report_position at = {.x_au = v[X],
                                 .y_au = v[Y],
                                 .fx_true = v[FX_TRUE],
                                 .fy_true = v[FY_TRUE],
                                 .fx = v[FX],
                                 .fy = v[FY],
                                 .step = (int)v[STEP]};
    orbit->at[orbit->count++] = at;
    if (isfinite(v[FX_BASELINE]) && isfinite(v[FY_BASELINE])) {
        at.fx = v[FX_BASELINE], at.fy = v[FY_BASELINE];
        baseline->at[baseline->count++] = at;
    }
    return 0;
}

static int take_table(const char *path, const struct orr_csv *csv, int planet,
                      struct report_orbit *orbit, struct report_orbit *baseline)
{
    int column[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        if ((column[c] = orr_csv_column(csv, names[c])) < 0)
            return ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", path, names[c]);
    orbit->at = orr_alloc(csv->rows ? csv->rows : 1, sizeof *orbit->at);
    baseline->at = orr_alloc(csv->rows ? csv->rows : 1, sizeof *baseline->at);
    if (!orbit->at || !baseline->at)
        return ORR_ENOMEM;
    for (size_t row = 0; row < csv->rows; row++) {
        double v[COLUMNS];
        if (report_body_of(csv->cells[row * csv->cols + (size_t)column[NAME]]) != planet)
            continue;
        for (int c = STEP; c < COLUMNS; c++)
            v[c] = csv->values[row * csv->cols + (size_t)column[c]];
        TRY(take_row(path, csv->line[row], v, orbit, baseline));
    }
    if (!orbit->count)
        return ORR_FAIL(ORR_EFORMAT, "%s: no rows of %s", path, report_body_name[planet]);
    return 0;
}

static int read_tables(const struct report_run *run, int planet, struct tables *tables)
{
    char path[REPORT_PATH];
    for (int s = 0; s < run->source_count; s++) {
        struct orr_csv csv = {0};
        TRY(orr_path(path, "%s/%s/probe_pretrain_planets/planets_forces.csv", run->path,
                     run->source[s].name));
        if (run->source[s].role != REPORT_ATTENTION || !orr_exists(path))
            continue;
        int rc = orr_csv_read(path, ORR_CSV_KEEP_TEXT, &csv);
        if (!rc)
            rc = take_table(path, &csv, planet, &tables->orbit[s], &tables->baseline[s]);
        orr_csv_free(&csv);
        TRY(rc);
    }
    return 0;
}

/* Truth and untrained model are those of the first table that has them. */
static int choose_panels(const struct report_run *run, const struct tables *tables,
                         struct report_panel panel[])
{
    int n = 0;
    const int untrained = report_find(run, "untrained");
    for (int s = 0; s < run->source_count && !n; s++)
        if (tables->orbit[s].count)
            report_panel_of(&run->source[report_find(run, "truth")], &tables->orbit[s],
                            &panel[n++]);
    for (int s = 0; s < run->source_count && n == 1 && untrained >= 0; s++)
        if (tables->baseline[s].count)
            report_panel_of(&run->source[untrained], &tables->baseline[s], &panel[n++]);
    for (int s = 0; s < run->source_count; s++)
        if (tables->orbit[s].count)
            report_panel_of(&run->source[s], &tables->orbit[s], &panel[n++]);
    return n;
}

static int plot_tables(const struct report_run *run, const struct tables *tables, int planet,
                       const char *folder, struct report_picture *picture)
{
    struct report_panel panel[REPORT_SOURCES];
    char heading[64], stem[REPORT_PATH];
    bool ends;
    const int panels = choose_panels(run, tables, panel);
    if (!panels)
        return ORR_FAIL(ORR_EMISSING,
                        "%s: no forces at real positions (planets_forces.csv); make them with: "
                        "orrery probe planets --run %s",
                        run->path, run->path);
    snprintf(picture->name, sizeof picture->name, "real_%s", report_body_name[planet]);
    snprintf(picture->caption, sizeof picture->caption,
             "%s: force on it at its real positions (VSOP87), true and predicted.",
             report_body_title[planet]);
    snprintf(heading, sizeof heading, "%s, real positions (VSOP87)", report_body_title[planet]);
    TRY(orr_path(stem, "%s/%s", folder, picture->name));
    return report_plot_panels(panel, panels, REPORT_XY, false, heading, report_force_unit(run),
                              stem, &ends);
}

int report_plot_real(const struct report_run *run, int planet, const char *folder,
                     struct report_picture *picture)
{
    struct tables *tables = orr_alloc(1, sizeof *tables);
    if (!tables)
        return ORR_ENOMEM;
    int rc = read_tables(run, planet, tables);
    rc = rc ? rc : plot_tables(run, tables, planet, folder, picture);
    for (int s = 0; s < REPORT_SOURCES; s++) {
        free(tables->orbit[s].at);
        free(tables->baseline[s].at);
    }
    free(tables);
    return rc;
}
