/* read_rollouts.c - reads pretrain_planets/rollouts.csv: a model's rollouts of the bodies'
 * orbits. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* Those of z are in tables of three dimensions alone. */
enum column { NAME, STEP, X_TRUE, Y_TRUE, X, Y, KNOWN, Z_TRUE, Z, COLUMNS };
static const char *const names[COLUMNS] = {"name", "step",  "x_true", "y_true", "x",
                                           "y",    "known", "z_true", "z"};

static int take_row(const char *path, size_t line, const char *name, const double v[COLUMNS],
                    size_t rows, struct report_source *source)
{
    const int body = report_body_of(name);
    if (body < 0)
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: expected the name of a body, found \"%s\"", path,
                        line, name);
    struct report_rollout *r = &source->rollout[body];
    if (v[STEP] != (double)r->count)
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: step is %g, expected %zu", path, line, v[STEP],
                        r->count);
    if (!isfinite(v[X_TRUE]) || !isfinite(v[Y_TRUE]) || !isfinite(v[Z_TRUE]))
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: the true position is not finite", path, line);
    if (!r->at && !(r->at = orr_alloc(rows, sizeof *r->at)))
        return ORR_ENOMEM;
    r->at[r->count++] = (struct report_step){v[X_TRUE], v[Y_TRUE], v[X], v[Y], v[Z_TRUE], v[Z]};
    r->known += v[KNOWN] > 0.5;
    return 0;
}

int report_read_rollouts(const struct report_run *run, struct report_source *source)
{
    char path[REPORT_PATH];
    int column[COLUMNS];
    const int columns = report_views(run) > 1 ? COLUMNS : Z_TRUE;
    struct orr_csv csv = {0};
    TRY(orr_path(path, "%s/%s/pretrain_planets/rollouts.csv", run->path, source->name));
    if (!orr_exists(path))
        return 0;
    TRY(orr_csv_read(path, ORR_CSV_KEEP_TEXT, &csv));
    int rc = 0;
    for (int c = 0; c < columns && !rc; c++) {
        column[c] = orr_csv_column(&csv, names[c]);
        if (column[c] < 0)
            rc = ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", path, names[c]);
    }
    for (size_t row = 0; row < csv.rows && !rc; row++) {
        double v[COLUMNS] = {0};
        for (int c = 0; c < columns; c++)
            v[c] = csv.values[row * csv.cols + (size_t)column[c]];
        rc = take_row(path, csv.line[row], csv.cells[row * csv.cols + (size_t)column[NAME]], v,
                      csv.rows, source);
    }
    orr_csv_free(&csv);
    return rc;
}
