/* inductive_answers.c - white-noise targets as models of other programs predict them, checked row
 * by row against what was asked (docs/exchange.md). */
#include "inductive.h"
#include "probe/core/answers.h"

#include <float.h>
#include <math.h>

/* Targets are written with 9 digits. */
static const double same = 1e-6;

enum { COLUMNS = 6 };
static const char *const column_name[COLUMNS] = {"set", "held_out", "sequence",
                                                 "row", "target",   "y"};

struct probe_inductive_point probe_inductive_point_at(const struct probe_inductive *p, int d,
                                                      size_t i)
{
    const struct probe_noise *noise = &p->noise[d];
    const size_t corrected = p->points[PROBE_CORRECTED];
    const int T = p->s.probe.T;
    struct probe_inductive_point point = {.held_out = i < corrected};
    double z[PROBE_STATE];
    if (point.held_out) {
        point.sequence = p->sequence[i];
        point.row = 2 + 2 * p->step[i];
        probe_pool_state(&p->pool, &p->held_out, point.sequence, p->step[i], z);
    } else {
        point.sequence = noise->first + p->place[i - corrected] / T;
        point.row = p->place[i - corrected] % T;
        probe_inductive_state(p, d, p->place[i - corrected], z);
    }
    point.target = probe_noise_target(noise, z);
    return point;
}

/* A row of the table is the point that was asked in its place. */
static int take_row(const char *path, size_t line, const struct probe_inductive_point *asked, int d,
                    const double of[COLUMNS])
{
    const double expected[COLUMNS - 2] = {d, asked->held_out, asked->sequence, asked->row};
    for (int c = 0; c < COLUMNS - 2; c++)
        if (of[c] != expected[c])
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: expected set %d, held_out %d, sequence %d, row %d, as in "
                            "rows_inductive.csv, found %s %.17g",
                            path, line, d, asked->held_out, asked->sequence, asked->row,
                            column_name[c], of[c]);
    if (!(fabs(of[4] - asked->target) <= same * (1 + fabs(asked->target))))
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: target: expected %.9g, as exported, found %.9g", path,
                        line, asked->target, of[4]);
    if (!isfinite(of[5]))
        return ORR_FAIL(ORR_EFORMAT, "%s:%zu: y: expected a finite number, found %g", path, line,
                        of[5]);
    return 0;
}

static int take_table(struct probe_inductive *p, const char *path, const struct orr_csv *csv,
                      double *to)
{
    const size_t points = p->points[PROBE_CORRECTED] + p->points[PROBE_PUBLISHED];
    int column[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        column[c] = orr_csv_column(csv, column_name[c]);
        if (column[c] < 0)
            return ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", path, column_name[c]);
    }
    if (csv->rows != points * (size_t)p->sets)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected %zu rows, as in rows_inductive.csv, found %zu",
                        path, points * (size_t)p->sets, csv->rows);
    for (size_t r = 0; r < csv->rows; r++) {
        const int d = (int)(r / points);
        const struct probe_inductive_point asked = probe_inductive_point_at(p, d, r % points);
        double of[COLUMNS];
        for (int c = 0; c < COLUMNS; c++)
            of[c] = csv->values[r * csv->cols + (size_t)column[c]];
        TRY(take_row(path, csv->line[r], &asked, d, of));
        to[r] = of[5];
    }
    return 0;
}

int probe_inductive_read_answers(struct probe_inductive *p)
{
    const struct probe_answers *const of[PROBE_MODELS] = {p->s.options->answers,
                                                          p->s.options->twin};
    const size_t points = p->points[PROBE_CORRECTED] + p->points[PROBE_PUBLISHED];
    for (int k = 0; k < PROBE_MODELS; k++) {
        struct orr_csv csv = {0};
        char path[4096];
        if (!of[k])
            continue;
        TRY(orr_path(path, "%s/" PROBE_INDUCTIVE_ANSWERS, of[k]->folder));
        if (!orr_exists(path))
            return ORR_FAIL(ORR_EMISSING, "%s: missing; export.json lists what is asked", path);
        p->answer[k] = probe_take(&p->s.arena, points * (size_t)p->sets, sizeof *p->answer[k]);
        TRY(p->s.arena.failed);
        int rc = orr_csv_read(path, ORR_CSV_NUMBERS, &csv);
        rc = rc ? rc : take_table(p, path, &csv, p->answer[k]);
        orr_csv_free(&csv);
        TRY(rc);
    }
    return 0;
}
