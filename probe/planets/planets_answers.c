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
    const size_t T = (size_t)p->T;
    struct probe_array array;
    const int rc = probe_array_open(&array, answers, PROBE_PLANETS_PREDICTIONS, PROBE_PLANET_TRACKS,
                                    T, 2, (size_t)probe_prefix(p->T));
    for (size_t i = 0; i < PROBE_PLANETS && !rc; i++)
        for (size_t k = 0; k < 2 * T; k++)
            out[i * 2 * T + k] = probe_array_at(&array, (size_t)first + i, k / 2, k % 2);
    probe_array_close(&array);
    return rc;
}

/* From units of a head to those of answers, by component. */
static double unit_of(const struct probe_planets *p, int planet, int c)
{
    return p->arrows.unit[planet][c] / p->arrows.ratio2[planet];
}

int probe_arrows_table(const struct probe_planets *p, int which, struct orr_file *file)
{
    const struct probe_arrows *a = &p->arrows;
    for (int i = 0; i < PROBE_PLANETS; i++)
        for (int k = a->first; k < a->first + a->count; k++) {
            double truth[2], f[2] = {0, 0};
            probe_arrows_truth(p, i, k, truth);
            if (which >= 0)
                probe_arrows_at(p, which, i, k, f);
            (void)orr_file_printf(file, "%d,%s,%d,%.9g,%.9g", i, sim_sun_bodies[i].name, k,
                                  truth[0] * unit_of(p, i, 0), truth[1] * unit_of(p, i, 1));
            if (which >= 0)
                (void)orr_file_printf(file, ",%.17g,%.17g", f[0] * unit_of(p, i, 0),
                                      f[1] * unit_of(p, i, 1));
            (void)orr_file_printf(file, "\n");
        }
    return 0;
}

enum { COLUMNS = 6 };
static const char *const column_name[COLUMNS] = {"planet",  "step", "fx_true",
                                                 "fy_true", "fx",   "fy"};

static int take_row(struct probe_planets *p, const char *path, size_t line, int which, int planet,
                    int k, const double of[COLUMNS])
{
    double truth[2];
    if (of[0] != planet || of[1] != k)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s:%zu: expected planet %d, step %d, as in rows_planets.csv, found %.17g, "
                        "%.17g",
                        path, line, planet, k, of[0], of[1]);
    probe_arrows_truth(p, planet, k, truth);
    const double x = truth[0] * unit_of(p, planet, 0), y = truth[1] * unit_of(p, planet, 1);
    const double size = sqrt(x * x + y * y);
    for (int c = 0; c < 2; c++) {
        const double unit = unit_of(p, planet, c);
        if (!(fabs(of[2 + c] - truth[c] * unit) <= same * size))
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: %s: expected %.9g, as exported, found %.9g", path,
                            line, column_name[2 + c], truth[c] * unit, of[2 + c]);
        if (!isfinite(of[4 + c]))
            return ORR_FAIL(ORR_EFORMAT, "%s:%zu: %s: expected a finite number, found %g", path,
                            line, column_name[4 + c], of[4 + c]);
        p->arrows.f[which][2 * ((size_t)planet * (size_t)p->T + 2 + 2 * (size_t)k) + (size_t)c] =
            of[4 + c] / unit;
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
        if (column[c] < 0)
            return ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", path, column_name[c]);
    }
    if (csv->rows != all)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected %zu rows, as in rows_planets.csv, found %zu",
                        path, all, csv->rows);
    for (size_t r = 0; r < all; r++) {
        double of[COLUMNS];
        for (int c = 0; c < COLUMNS; c++)
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
