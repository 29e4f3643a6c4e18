/* planets_answers.c - what models of other programs predict at the real planets: next positions,
 * and forces, checked line by line against what was asked (docs/exchange.md). */
#include "planets.h"
#include "probe/core/answers.h"
#include "probe/orbits/motion.h"

#include <math.h>
#include <string.h>

/* Forces are written with 9 digits. */
static const double same = 1e-6;

int probe_planets_answered(const struct probe_planets *p, const struct probe_answers *answers,
                           int first, double *out)
{
    const size_t T = (size_t)p->T, axes = (size_t)p->axes;
    struct probe_array array;
    const int rc = probe_array_open(&array, answers, PROBE_PLANETS_PREDICTIONS, PROBE_PLANET_TRACKS,
                                    T, axes, (size_t)probe_prefix(p->T));
    for (size_t i = 0; i < PROBE_PLANETS && !rc; i++)
        for (size_t k = 0; k < axes * T; k++)
            out[i * axes * T + k] = probe_array_at(&array, (size_t)first + i, k / axes, k % axes);
    probe_array_close(&array);
    return rc;
}

/* From units of a head to those of answers, by component. */
static double unit_of(const struct probe_planets *p, int planet, int c)
{
    return p->arrows.unit[planet][c] / p->arrows.ratio2[planet];
}

static const char *const component[SIM_AXES] = {"x", "y", "z"};

void probe_arrows_name(int axes, const char *before, const char *after, char header[PROBE_HEADER])
{
    for (int c = 0; c < axes; c++)
        orr_append(header, PROBE_HEADER, ",%s%s%s", before, component[c], after);
}

int probe_arrows_table(const struct probe_planets *p, int which, struct orr_file *file)
{
    const struct probe_arrows *a = &p->arrows;
    char header[PROBE_HEADER] = "planet,name,step";
    probe_arrows_name(p->axes, "f", "_true", header);
    probe_arrows_name(which >= 0 ? p->axes : 0, "f", "", header);
    (void)orr_file_printf(file, "%s\n", header);
    for (int i = 0; i < PROBE_PLANETS; i++)
        for (int k = a->first; k < a->first + a->count; k++) {
            double truth[SIM_AXES] = {0}, f[SIM_AXES] = {0};
            probe_arrows_truth(p, i, k, truth);
            (void)orr_file_printf(file, "%d,%s,%d", i, sim_sun_bodies[i].name, k);
            for (int c = 0; c < p->axes; c++)
                (void)orr_file_printf(file, ",%.9g", truth[c] * unit_of(p, i, c));
            if (which >= 0)
                probe_arrows_at(p, which, i, k, f);
            for (int c = 0; c < p->axes && which >= 0; c++)
                (void)orr_file_printf(file, ",%.17g", f[c] * unit_of(p, i, c));
            (void)orr_file_printf(file, "\n");
        }
    return 0;
}

/* Columns of the table: planet and step, then the components of the true and of the answered
 * force. */
enum { PLANET, STEP, TRUE_FORCE, FORCE = TRUE_FORCE + SIM_AXES, COLUMNS = FORCE + SIM_AXES };
static const char *const column_name[COLUMNS] = {"planet",  "step", "fx_true", "fy_true",
                                                 "fz_true", "fx",   "fy",      "fz"};

/* Whether a component that the column would hold is one of the track's. */
static bool has_column(const struct probe_planets *p, int column)
{
    return column < TRUE_FORCE || (column - TRUE_FORCE) % SIM_AXES < p->axes;
}

static int take_row(struct probe_planets *p, const char *path, size_t line, int which, int planet,
                    int k, const double of[COLUMNS])
{
    double truth[SIM_AXES];
    if (of[PLANET] != planet || of[STEP] != k)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s:%zu: expected planet %d, step %d, as in rows_planets.csv, found %.17g, "
                        "%.17g",
                        path, line, planet, k, of[PLANET], of[STEP]);
    probe_arrows_truth(p, planet, k, truth);
    for (int c = 0; c < p->axes; c++)
        truth[c] *= unit_of(p, planet, c);
    const double size = sqrt(sim_dot(truth, truth, p->axes));
    const size_t row = (size_t)planet * (size_t)p->T + 2 + 2 * (size_t)k;
    for (int c = 0; c < p->axes; c++) {
        if (!(fabs(of[TRUE_FORCE + c] - truth[c]) <= same * size))
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: %s: expected %.9g, as exported, found %.9g", path,
                            line, column_name[TRUE_FORCE + c], truth[c], of[TRUE_FORCE + c]);
        if (!isfinite(of[FORCE + c]))
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: %s: expected a finite number, found %g", path,
                            line, column_name[FORCE + c], of[FORCE + c]);
        p->arrows.f[which][(size_t)p->axes * row + (size_t)c] =
            of[FORCE + c] / unit_of(p, planet, c);
    }
    return 0;
}

static int take_table(struct probe_planets *p, const char *path, const struct orr_csv *csv,
                      int which)
{
    const struct probe_arrows *a = &p->arrows;
    const size_t all = PROBE_PLANETS * (size_t)a->count;
    int column[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        column[c] = orr_csv_column(csv, column_name[c]);
        if (column[c] < 0 && has_column(p, c))
            return ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", path, column_name[c]);
    }
    if (csv->rows != all)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected %zu rows, as in rows_planets.csv, found %zu",
                        path, all, csv->rows);
    for (size_t r = 0; r < all; r++) {
        double of[COLUMNS] = {0};
        for (int c = 0; c < COLUMNS; c++)
            if (has_column(p, c))
                of[c] = csv->values[r * csv->cols + (size_t)column[c]];
        TRY(take_row(p, path, csv->line[r], which, (int)(r / (size_t)a->count),
                     a->first + (int)(r % (size_t)a->count), of));
    }
    return 0;
}

int probe_arrows_answered(struct probe_planets *p, const struct probe_answers *answers, int which)
{
    struct orr_csv csv = {0};
    char path[4096];
    TRY(orr_path(path, "%s/" PROBE_PLANETS_FORCES, answers->folder));
    int rc = orr_csv_read(path, ORR_CSV_KEEP_TEXT, &csv);
    rc = rc ? rc : take_table(p, path, &csv, which);
    orr_csv_free(&csv);
    return rc;
}
