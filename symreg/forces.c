/* forces.c - reading forces_magnitude.csv, and facts about one sample of it. */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int sr_forces_read(const char *path, struct sr_forces *forces)
{
    static const char *const names[9] = {"sample", "sequence", "step",   "r", "m1",
                                         "m2",     "dt",       "F_true", "F"};
    *forces = (struct sr_forces){0};
    if (!orr_exists(path))
        return ORR_FAIL(ORR_EMISSING, "%s: not found; run bin/finetune first", path);
    struct orr_csv csv = {0};
    int rc = orr_csv_read(path, ORR_CSV_NUMBERS, &csv);
    if (rc)
        return rc;
    double *storage = orr_alloc(9 * csv.rows + 1, sizeof *storage);
    if (!storage)
        rc = ORR_ENOMEM;
    if (!rc && csv.rows < 2)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected at least 2 rows, found %zu", path, csv.rows);
    for (int c = 0; c < 9 && !rc; c++) {
        const int column = orr_csv_column(&csv, names[c]);
        if (column < 0)
            rc = ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", path, names[c]);
        for (size_t i = 0; i < csv.rows && !rc; i++) {
            const double value = csv.values[i * csv.cols + (size_t)column];
            storage[(size_t)c * csv.rows + i] = value;
            const bool positive = c >= 3 && c <= 7; /* r, m1, m2, dt, F_true */
            const bool number = c == 0 || c == 1;
            if (!isfinite(value) || (positive && !(value > 0)) ||
                (number && !(value >= 0 && value < 1e6 && floor(value) >= value)))
                rc = ORR_FAIL(ORR_EFORMAT, "%s:%zu: %s: expected %s, found %g", path, i + 2,
                              names[c],
                              positive ? "a positive number"
                              : number ? "a whole number"
                                       : "a finite number",
                              value);
        }
    }
    if (rc) {
        free(storage);
        orr_csv_free(&csv);
        return rc;
    }
    double **const at[9] = {&forces->sample, &forces->sequence, &forces->step,
                            &forces->r,      &forces->m1,       &forces->m2,
                            &forces->dt,     &forces->f_true,   &forces->f};
    forces->rows = csv.rows;
    forces->storage = storage;
    for (size_t c = 0; c < 9; c++)
        *at[c] = storage + c * csv.rows;
    for (size_t i = 0; i < csv.rows; i++)
        if ((int)forces->sample[i] + 1 > forces->samples)
            forces->samples = (int)forces->sample[i] + 1;
    orr_csv_free(&csv);
    return 0;
}

void sr_forces_free(struct sr_forces *forces)
{
    free(forces->storage);
    *forces = (struct sr_forces){0};
}

int sr_analyse_sample(const struct sr_forces *forces, int sample, struct sr_sample_facts *facts)
{
    *facts = (struct sr_sample_facts){.k_dropped_m2 = NAN, .leverage = NAN};
    size_t sequences = 0;
    for (size_t i = 0; i < forces->rows; i++)
        if ((size_t)forces->sequence[i] + 1 > sequences)
            sequences = (size_t)forces->sequence[i] + 1;
    double *block = orr_alloc(2 * forces->rows + SR_SCRATCH + sequences, sizeof *block);
    if (!block)
        return ORR_ENOMEM;
    double *ratio = block, *weight = block + forces->rows;
    double *share = weight + forces->rows + SR_SCRATCH, total = 0, largest = 0;
    size_t n = 0;
    for (size_t i = 0; i < forces->rows; i++) {
        if ((int)forces->sample[i] != sample)
            continue;
        const double shape = forces->m1[i] / (forces->r[i] * forces->r[i]);
        ratio[n] = forces->f[i] / shape;
        weight[n++] = shape;
        share[(size_t)forces->sequence[i]] += fabs(forces->f[i]);
        total += fabs(forces->f[i]);
    }
    for (size_t s = 0; s < sequences; s++)
        largest = fmax(largest, share[s]);
    facts->rows = n;
    if (n)
        facts->k_dropped_m2 = sr_weighted_median(ratio, weight, n, weight + forces->rows);
    if (total > 0)
        facts->leverage = largest / total;
    free(block);
    return 0;
}
