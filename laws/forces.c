/* forces.c - reads forces_magnitude.csv, and computes statistics of one sample. */
#include "base/text.h"
#include "analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Describes what column c (sample, sequence, step, r, m1, m2, dt, F_true, F) must contain; NULL
 * when the value is valid. */
static const char *expected_value(int c, double value)
{
    static const double end[2] = {1e6, 0x1p53}; /* doubles represent all integers below 2^53 */
    if (c >= 3 && c <= 7)
        return isfinite(value) && value > 0 ? NULL : "a positive number";
    if (c < 2)
        return value >= 0 && value < end[c] && floor(value) >= value ? NULL
               : c                                                   ? "a whole number below 2^53"
                                                                     : "a whole number below 10^6";
    return isfinite(value) ? NULL : "a finite number";
}

/* Stores the columns of a table one after the other (9, rows). */
static int take_columns(const char *path, const struct orr_csv *csv, double *storage)
{
    static const char *const names[9] = {"sample", "sequence", "step",   "r", "m1",
                                         "m2",     "dt",       "F_true", "F"};
    if (csv->rows < 2)
        return ORR_FAIL(ORR_EFORMAT, "%s: expected at least 2 rows, found %zu", path, csv->rows);
    for (int c = 0; c < 9; c++) {
        const int column = orr_csv_column(csv, names[c]);
        if (column < 0)
            return ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", path, names[c]);
        for (size_t i = 0; i < csv->rows; i++) {
            const double value = csv->values[i * csv->cols + (size_t)column];
            const char *expected = expected_value(c, value);
            *storage++ = value;
            if (expected)
                return ORR_FAIL(ORR_EFORMAT, "%s:%zu: %s: expected %s, found %.16g", path,
                                csv->line[i], names[c], expected, value);
        }
    }
    return 0;
}

int law_forces_read(const char *path, struct law_forces *forces)
{
    double **const at[9] = {&forces->sample, &forces->sequence, &forces->step,
                            &forces->r,      &forces->m1,       &forces->m2,
                            &forces->dt,     &forces->f_true,   &forces->f};
    struct orr_csv csv = {0};
    *forces = (struct law_forces){0};
    if (!orr_exists(path))
        return ORR_FAIL(ORR_EMISSING, "%s: missing; orrery finetune makes it", path);
    TRY(orr_csv_read(path, ORR_CSV_NUMBERS, &csv));
    double *storage = forces->storage = orr_alloc(10 * csv.rows + 1, sizeof *storage);
    const int rc = storage ? take_columns(path, &csv, storage) : ORR_ENOMEM;
    if (rc)
        law_forces_free(forces);
    for (size_t c = 0; c < 9 && !rc; c++)
        *at[c] = storage + c * csv.rows;
    forces->rows = rc ? 0 : csv.rows;
    forces->line = rc ? NULL : storage + 9 * csv.rows;
    for (size_t i = 0; i < forces->rows; i++)
        forces->line[i] = (double)csv.line[i];
    for (size_t i = 0; i < forces->rows; i++)
        if ((int)forces->sample[i] + 1 > forces->samples)
            forces->samples = (int)forces->sample[i] + 1;
    orr_csv_free(&csv);
    return rc;
}

/* ---- the rows of the truth */

/* A row by what it is of; r tells rows of one step apart. */
struct key {
    double of[4]; /* sample, sequence, step, r */
    size_t row;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    for (int k = 0; k < 4; k++) {
        const int order = orr_compare_doubles(&x->of[k], &y->of[k]);
        if (order)
            return order;
    }
    return 0;
}

static void sort_keys(const struct law_forces *f, struct key *key)
{
    for (size_t i = 0; i < f->rows; i++)
        key[i] = (struct key){{f->sample[i], f->sequence[i], f->step[i], f->r[i]}, i};
    qsort(key, f->rows, sizeof *key, compare_keys);
}

static int compare_row(const char *path, const struct law_forces *f, size_t row,
                       const char *truth_path, const struct law_forces *truth, size_t at)
{
    const struct {
        const char *name;
        double found, expected;
    } columns[] = {{"r", f->r[row], truth->r[at]},
                   {"m1", f->m1[row], truth->m1[at]},
                   {"m2", f->m2[row], truth->m2[at]},
                   {"dt", f->dt[row], truth->dt[at]},
                   {"F_true", f->f_true[row], truth->f_true[at]},
                   {"F", f == truth ? f->f[row] : 0, f == truth ? f->f_true[row] : 0}};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        if (!(fabs(columns[c].found - columns[c].expected) <= LAW_SAME * columns[c].expected))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%.0f: %s: expected %.*g as in line %.0f of %s, found "
                            "%.*g",
                            path, f->line[row], columns[c].name,
                            orr_digits(columns[c].expected, columns[c].found), columns[c].expected,
                            truth->line[at], truth_path,
                            orr_digits(columns[c].expected, columns[c].found), columns[c].found);
    return 0;
}

/* The first place where two sorted tables are not of the same sample, sequence and step. */
static int compare_tables(const char *path, const struct law_forces *f, const struct key *found,
                          const char *truth_path, const struct law_forces *truth,
                          const struct key *expected)
{
    for (size_t i = 0; i < f->rows || i < truth->rows; i++) {
        int order = i >= truth->rows ? -1 : i >= f->rows ? 1 : 0;
        for (int k = 0; k < 3 && !order; k++)
            order = orr_compare_doubles(&found[i].of[k], &expected[i].of[k]);
        const double *of = order < 0 ? found[i].of : expected[i].of;
        if (order < 0)
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%.0f: expected a row of %s, found sample %.0f, sequence %.0f, step "
                            "%.0f",
                            path, f->line[found[i].row], truth_path, of[0], of[1], of[2]);
        if (order > 0)
            return ORR_FAIL(ORR_EFORMAT,
                            "%s: expected sample %.0f, sequence %.0f, step %.0f as in line %.0f of "
                            "%s, found no such row",
                            path, of[0], of[1], of[2], truth->line[expected[i].row], truth_path);
        TRY(compare_row(path, f, found[i].row, truth_path, truth, expected[i].row));
    }
    return 0;
}

int law_forces_check(const char *path, const struct law_forces *forces, const char *truth_path,
                     const struct law_forces *truth)
{
    struct key *found = orr_alloc(forces->rows + truth->rows, sizeof *found);
    if (!found)
        return ORR_ENOMEM;
    sort_keys(forces, found);
    sort_keys(truth, found + forces->rows);
    const int rc = compare_tables(path, forces, found, truth_path, truth, found + forces->rows);
    free(found);
    return rc;
}

void law_forces_free(struct law_forces *forces)
{
    free(forces->storage);
    *forces = (struct law_forces){0};
}

/* Lists the distinct sequences of a table in ascending order: number (rows). Returns how many there
 * are; sequence numbers need not be contiguous. */
static size_t list_sequences(const struct law_forces *forces, double *number)
{
    size_t count = 0;
    memcpy(number, forces->sequence, forces->rows * sizeof *number);
    qsort(number, forces->rows, sizeof *number, orr_compare_doubles);
    for (size_t i = 0; i < forces->rows; i++)
        if (count == 0 || number[i] > number[count - 1])
            number[count++] = number[i];
    return count;
}

int law_analyse_sample(const struct law_forces *forces, int sample, struct law_sample_facts *facts)
{
    *facts = (struct law_sample_facts){.k_dropped_m2 = NAN, .leverage = NAN};
    double *block = orr_alloc(4 * forces->rows + SR_SCRATCH, sizeof *block);
    if (!block)
        return ORR_ENOMEM;
    double *ratio = block, *weight = block + forces->rows;
    double *share = weight + forces->rows + SR_SCRATCH, *number = share + forces->rows;
    double total = 0, largest = 0;
    const size_t sequences = list_sequences(forces, number);
    size_t n = 0;
    for (size_t i = 0; i < forces->rows; i++) {
        if ((int)forces->sample[i] != sample)
            continue;
        const double shape = forces->m1[i] / (forces->r[i] * forces->r[i]);
        ratio[n] = forces->f[i] / shape;
        weight[n++] = shape;
        const double *of =
            bsearch(&forces->sequence[i], number, sequences, sizeof *of, orr_compare_doubles);
        share[of - number] += fabs(forces->f[i]);
        total += fabs(forces->f[i]);
    }
    for (size_t s = 0; s < sequences; s++)
        largest = fmax(largest, share[s]);
    facts->rows = n;
    if (n)
        facts->k_dropped_m2 = sr_weighted_median(ratio, weight, n);
    if (total > 0)
        facts->leverage = largest / total;
    free(block);
    return 0;
}
