/* errors_in_x.c - standard deviations of the features (--sigma-x): which column or number belongs
 * to which feature, and what the table has of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

static int fail_expected(const char *text, const char *at)
{
    return ORR_FAIL(ORR_EUSAGE,
                    "--sigma-x: expected feature=column or feature=number, names with \",\" or "
                    "\"=\" in double quotes, found \"%s\" in \"%s\"",
                    at, text);
}

/* The side of one "=" that starts at *at: *length bytes, before one of the characters `ends`. */
static size_t side_of(const char *at, const char *ends)
{
    const size_t blanks = strspn(at, " \t"), quoted = sr_name_quoted(at + blanks);
    return blanks + quoted + strcspn(at + blanks + quoted, ends);
}

static int read_entry(const struct orr_csv *csv, const char *file, const char *text,
                      const char **at, struct sr_sigma_x *of)
{
    char name[256], value[256], *end;
    const size_t left = side_of(*at, "=,");
    if ((*at)[left] != '=' || !sr_name_read(*at, left, name, sizeof name))
        return fail_expected(text, *at);
    const char *const second = *at + left + 1;
    const size_t right = side_of(second, ",");
    if (!sr_name_read(second, right, value, sizeof value))
        return fail_expected(text, *at);
    TRY(sr_table_column(csv, file, name, &of->feature));
    of->column = orr_csv_column(csv, value);
    of->number = strtod(value, &end);
    if (of->column < 0 && (*end || end == value))
        return sr_table_column(csv, file, value, &of->column);
    if (of->column < 0 && !(of->number >= 0 && isfinite(of->number)))
        return ORR_FAIL(ORR_EUSAGE,
                        "--sigma-x: \"%s\": expected a standard deviation of at least 0, found %s",
                        name, value);
    *at = second[right] ? second + right + 1 : NULL;
    return 0;
}

int sr_sigmas_x_read(const struct orr_csv *csv, const char *file, const char *text, int target,
                     struct sr_sigmas_x *all)
{
    all->count = 0;
    for (const char *at = text; at; all->count++) {
        struct sr_sigma_x *const of = &all->of[all->count];
        if (all->count == SR_COLUMNS)
            return ORR_FAIL(ORR_EUSAGE, "--sigma-x: at most %d features", SR_COLUMNS);
        TRY(read_entry(csv, file, text, &at, of));
        if (of->feature == target || of->column == target || of->feature == of->column)
            return ORR_FAIL(ORR_EUSAGE, "--sigma-x: \"%s\" is the %s",
                            csv->names[of->column == target ? target : of->feature],
                            of->feature == of->column ? "feature" : "target");
        for (int k = 0; k < all->count; k++)
            if (all->of[k].feature == of->feature)
                return ORR_FAIL(ORR_EUSAGE, "--sigma-x: \"%s\" stands twice",
                                csv->names[of->feature]);
    }
    return 0;
}

bool sr_sigmas_x_use(const struct sr_sigmas_x *all, int column)
{
    for (int k = 0; k < all->count; k++)
        if (all->of[k].column == column)
            return true;
    return false;
}

int sr_x_variance_make(struct sr_table *table)
{
    table->x_variance = orr_alloc((size_t)table->data.features * table->data.rows, sizeof(double));
    table->data.x_variance = table->x_variance;
    return table->x_variance ? 0 : ORR_ENOMEM;
}

/* The variances of feature f by those of the rows, which `of` gives. */
static int fill_feature(const char *file, const struct sr_sigma_x *of, int f,
                        struct sr_table *table)
{
    const struct orr_csv *csv = &table->csv;
    double *const variance = table->x_variance + (size_t)f * csv->rows;
    for (size_t i = 0; i < csv->rows; i++) {
        const double sigma =
            of->column < 0 ? of->number : csv->values[i * csv->cols + (size_t)of->column];
        variance[i] = sigma * sigma / table->variance;
        if (of->column >= 0 && !isfinite(sigma))
            return sr_table_wrong_cell(csv, file, i, of->column);
        if (!(sigma >= 0) || !isfinite(variance[i]))
            return ORR_FAIL(ORR_EINVAL,
                            "%s:%zu: column \"%s\": expected a standard deviation of at least 0, "
                            "found %g",
                            file, csv->line[i], csv->names[of->column < 0 ? 0 : of->column], sigma);
    }
    return 0;
}

int sr_sigmas_x_fill(const char *file, const struct sr_sigmas_x *all, const int *column,
                     int features, struct sr_table *table)
{
    if (!all->count)
        return 0;
    TRY(sr_x_variance_make(table));
    for (int k = 0; k < all->count; k++)
        for (int f = 0; f < features; f++)
            if (column[f] == all->of[k].feature)
                TRY(fill_feature(file, &all->of[k], f, table));
    return 0;
}
