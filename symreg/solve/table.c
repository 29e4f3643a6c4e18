/* table.c - reads a problem from a CSV file: target, features, weights. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "solve.h"
#include "base/text.h"

/* Whether the column contains a number. Text columns are not features. */
static bool has_numbers(const struct orr_csv *csv, size_t column)
{
    for (size_t i = 0; i < csv->rows && csv->values; i++)
        if (!isnan(csv->values[i * csv->cols + column]))
            return true;
    return csv->rows == 0 || !csv->values; /* all are finite, and were moved */
}

/* Whether a cell would be a number without commas, apostrophes or percent signs: "3,9", "1'000",
 * "5%". */
static bool is_almost_number(const char *cell)
{
    char bare[80];
    size_t n = 0;
    for (; *cell && n + 1 < sizeof bare; cell++)
        if (!strchr(",'%", *cell))
            bare[n++] = *cell;
    bare[n] = '\0';
    return !*cell && sr_name_is_number(bare);
}

/* The first row of a column that contains only such cells; -1 for a text column. Such a column must
 * not be ignored silently. */
static long almost_numbers(const struct orr_csv *csv, size_t column)
{
    long first = -1;
    for (size_t i = 0; i < csv->rows; i++) {
        const char *cell = csv->cells[i * csv->cols + column];
        if (*cell && !is_almost_number(cell))
            return -1;
        if (*cell && first < 0)
            first = (long)i;
    }
    return first;
}

static bool is_listed(int column, const int *list, int count)
{
    for (int k = 0; k < count; k++)
        if (list[k] == column)
            return true;
    return false;
}

/* Columns of a comma-separated list; names that contain commas are quoted. */
static int named_columns(const struct orr_csv *csv, const char *file, int target,
                         const char *option, const char *list, int column[SR_COLUMNS], int *count)
{
    for (const char *at = list; at; (*count)++) {
        char name[256];
        TRY(sr_column_next(option, list, &at, name, sizeof name));
        if (*count == SR_COLUMNS)
            return ORR_FAIL(ORR_EUSAGE, "%s: at most %d", option, SR_COLUMNS);
        TRY(sr_column_find(csv, file, name, NULL, &column[*count]));
        if (column[*count] == target)
            return ORR_FAIL(ORR_EUSAGE, "%s: \"%s\" is the target", option, name);
        if (is_listed(column[*count], column, *count))
            return ORR_FAIL(ORR_EUSAGE, "%s: \"%s\" stands twice", option, name);
    }
    return 0;
}

/* The first row with a date of a column whose cells are dates or missing; -1: none. */
static long first_date(const struct orr_csv *csv, size_t column)
{
    long first = -1;
    for (size_t i = 0; i < csv->rows; i++) {
        const size_t at = i * csv->cols + column;
        const char *cell = csv->cells && isnan(csv->values[at]) ? csv->cells[at] : "0";
        if (sr_cell_is_missing(cell))
            continue;
        if (!sr_cell_is_date(cell))
            return -1;
        first = first < 0 ? (long)i : first;
    }
    return first;
}

/* The first cell of a column that is nearly a number; -1: none. */
static long first_odd(const struct orr_csv *csv, size_t column)
{
    for (size_t i = 0; csv->cells && i < csv->rows; i++) {
        const size_t at = i * csv->cols + column;
        if (isnan(csv->values[at]) && *sr_cell_tell(csv->cells[at]))
            return (long)i;
    }
    return -1;
}

/* No column of numbers is left: if there is one of dates, or of cells that are nearly numbers, that
 * is why. */
static int fail_no_numbers(const struct orr_csv *csv, const char *file, int target)
{
    for (size_t c = 0; c < csv->cols; c++) {
        const long day = (int)c == target ? -1 : first_date(csv, c);
        const long odd = (int)c == target ? -1 : sr_dates_odd(csv, c, false);
        const long row = day >= 0 || (int)c == target ? day : first_odd(csv, c);
        char date[300];
        if (odd >= 0)
            return sr_table_wrong_date(csv, file, (size_t)odd, (int)c);
        if (row < 0)
            continue;
        const char *const cell = csv->cells[(size_t)row * csv->cols + c];
        sr_date_tell(csv, (int)c, date);
        return ORR_FAIL(
            ORR_EINVAL,
            "%s:%zu: no column of numbers beside the target; column \"%s\" has \"%s\"%s", file,
            csv->line[row], csv->names[c], cell, day >= 0 ? date : sr_cell_tell(cell));
    }
    return ORR_FAIL(ORR_EINVAL, "%s: no column of numbers beside the target", file);
}

/* All columns except target (and `upper`, where it is an interval), weights, category, other
 * targets, those of --exclude, text columns, and the unnamed row index that pandas and R write. */
static int all_features(const struct orr_csv *csv, const char *file, int target, int upper,
                        int weights, int category, const struct sr_sigmas_x *sigmas,
                        const struct sr_csv_options *o, int column[SR_COLUMNS], int *count)
{
    int excluded[SR_COLUMNS], other[SR_COLUMNS], exclusions = 0, others = 0;
    if (o->exclude)
        TRY(named_columns(csv, file, target, "--exclude", o->exclude, excluded, &exclusions));
    if (o->other_targets)
        TRY(named_columns(csv, file, target, "--target", o->other_targets, other, &others));
    for (size_t i = 0; i < csv->cols; i++) {
        if ((int)i == target || (int)i == upper || (int)i == weights || (int)i == category ||
            !*csv->names[i] || sr_sigmas_x_use(sigmas, (int)i) ||
            is_listed((int)i, excluded, exclusions) || is_listed((int)i, other, others))
            continue;
        if (!has_numbers(csv, i)) {
            const long row = almost_numbers(csv, i);
            if (row >= 0)
                return sr_table_wrong_cell(csv, file, (size_t)row, (int)i);
            continue;
        }
        if (*count < SR_COLUMNS)
            column[*count] = (int)i;
        (*count)++;
    }
    if (*count > SR_COLUMNS)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: expected at most %d columns of numbers beside the target, found %d; "
                        "choose with --features",
                        file, SR_COLUMNS, *count);
    return *count ? 0 : fail_no_numbers(csv, file, target);
}

/* Names are written to JSON and LaTeX; formulas with longer names could exceed SR_TEXT. */
enum { NAME_BYTES = 100 };

int sr_column_name_check(const char *file, size_t line, int column, const char *name)
{
    uint32_t code;
    if (strlen(name) > NAME_BYTES)
        return ORR_FAIL(ORR_EFORMAT,
                        "%s:%zu: the name of column %d: expected at most %d bytes, found %zu", file,
                        line, column + 1, NAME_BYTES, strlen(name));
    for (const char *c = name; *c; c += orr_character(c, &code)) {
        orr_character(c, &code);
        if (code < ' ' || code == 127 || (code >= 0x80 && code < 0xa0))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: the name of column %d is not UTF-8 or has a tab, line break "
                            "or other control character in it; save the table as UTF-8",
                            file, line, column + 1);
        if (orr_unseen(c))
            return ORR_FAIL(ORR_EFORMAT,
                            "%s:%zu: the name of column %d, \"%s\", has an invisible character in "
                            "it, U+%04X; remove it",
                            file, line, column + 1, name, (unsigned)code);
    }
    return 0;
}

static int check_name(const char *file, const struct orr_csv *csv, int column)
{
    return sr_column_name_check(file, csv->header, column, csv->names[column]);
}

int sr_feature_name_check(const char *file, size_t line, int column, const char *name)
{
    return sr_name_is_number(name)
               ? ORR_FAIL(ORR_EFORMAT,
                          "%s:%zu: the name of column %d, \"%s\", could not be distinguished from "
                          "a number in a formula; give the table a header row of names",
                          file, line, column + 1, name)
               : 0;
}

/* Rejects numeric names, which a table without a header has. */
static int check_feature(const char *file, const struct orr_csv *csv, int column)
{
    if (sr_name_is_number(csv->names[column]))
        TRY(sr_header_check(csv, file));
    return sr_feature_name_check(file, csv->header, column, csv->names[column]);
}

/* Moves columns of finite numbers out of the table, `out[k]` (rows) from column[k], by blocks of
 * rows from the last to the first, and frees each: the numbers are in memory only once. */
static void move_columns(struct orr_csv *csv, const int *column, double *const *out, int count)
{
    enum { ROWS = 8192 };
    for (size_t end = csv->rows; end > 0;) {
        const size_t first = (end - 1) / ROWS * ROWS;
        for (int k = 0; k < count; k++)
            for (size_t i = first; i < end; i++)
                out[k][i] = csv->values[i * csv->cols + (size_t)column[k]];
        end = first;
        double *less = end ? realloc(csv->values, end * csv->cols * sizeof *less) : NULL;
        csv->values = less ? less : csv->values;
    }
    free(csv->values);
    csv->values = NULL;
}

static int take_column(const struct orr_csv *csv, const char *file, int column, double *out)
{
    for (size_t i = 0; i < csv->rows; i++) {
        out[i] = csv->values[i * csv->cols + (size_t)column];
        if (!isfinite(out[i]))
            return sr_table_wrong_cell(csv, file, i, column);
    }
    return 0;
}

static int take_logarithms(const struct orr_csv *csv, const char *file, const char *target,
                           double *y)
{
    for (size_t i = 0; i < csv->rows; i++) {
        if (!(y[i] > 0))
            return ORR_FAIL(ORR_EINVAL,
                            "%s:%zu: column \"%s\": --log-target expects positive numbers, found "
                            "%g",
                            file, csv->line[i], target, y[i]);
        y[i] = orr_log(y[i]);
    }
    return 0;
}

/* Rejects targets whose squares, or sums of squares, would overflow or vanish. */
static int check_size(const struct orr_csv *csv, const char *file, const char *target,
                      const double *y)
{
    const double most = 1e150, least = 1e-150;
    size_t row = 0; /* row of the largest value */
    for (size_t i = 0; i < csv->rows; i++)
        row = fabs(y[i]) > fabs(y[row]) ? i : row;
    const double largest = fabs(y[row]);
    return largest == 0 || (largest <= most && largest >= least)
               ? 0
               : ORR_FAIL(ORR_EINVAL,
                          "%s:%zu: column \"%s\": expected the largest number between %g and %g in "
                          "size, found %g; use another unit",
                          file, csv->line[row], target, least, most, largest);
}

/* Checks the weights and scales them; *mean: their mean before. */
static int scale_weights(const struct orr_csv *csv, const char *file, const char *name,
                         double *weight, double *mean)
{
    for (size_t i = 0; i < csv->rows; i++)
        if (weight[i] < 0)
            return ORR_FAIL(ORR_EINVAL,
                            "%s:%zu: column \"%s\": expected a weight of at least 0, found %g",
                            file, csv->line[i], name, weight[i]);
    *mean = sr_weights_level(weight, csv->rows);
    return *mean > 0 && isfinite(*mean)
               ? 0
               : ORR_FAIL(ORR_EINVAL, "%s: column \"%s\": expected a weight above 0, found none",
                          file, name);
}

/* Turns standard deviations into weights 1 / sigma^2; of a logarithm the standard deviation is
 * sigma / y. */
static int square_sigmas(const struct sr_table *table, const char *file, bool logarithm,
                         double *weight)
{
    const struct orr_csv *csv = &table->csv;
    for (size_t i = 0; i < csv->rows; i++) {
        const double sigma = logarithm ? weight[i] / orr_exp(table->data.y[i]) : weight[i];
        if (!(weight[i] > 0) || !isfinite(1 / (sigma * sigma)))
            return ORR_FAIL(ORR_EINVAL,
                            "%s:%zu: column \"%s\": expected a standard deviation above 0, found "
                            "%g",
                            file, csv->line[i], table->weights, weight[i]);
        weight[i] = 1 / (sigma * sigma);
    }
    return 0;
}

bool sr_weights_relative(const double *y, size_t rows, double *weight)
{
    for (size_t i = 0; i < rows; i++)
        weight[i] = fabs(y[i]);
    gsl_sort(weight, 1, rows);
    const double floor = 0.1 * gsl_stats_median_from_sorted_data(weight, 1, rows);
    for (size_t i = 0; i < rows; i++) {
        const double size = fmax(fabs(y[i]), floor);
        weight[i] = 1 / (size * size);
    }
    return isfinite(1 / (floor * floor));
}

bool sr_table_weigh(struct sr_table *table, const struct sr_expr *prediction)
{
    struct sr_data *data = &table->data;
    const size_t rows = data->rows;
    double *const weight = (double *)(uintptr_t)(data->y + rows); /* behind y in its storage */
    double *value = prediction ? orr_alloc(rows, sizeof *value) : NULL;
    const bool ok = (!prediction || (value && sr_eval(prediction, data, value))) &&
                    sr_weights_relative(prediction ? value : data->y, rows, weight);
    free(value);
    if (!ok)
        return false;
    data->weight = weight;
    table->weights = "";
    table->weight_mean = sr_weights_level(weight, rows);
    return true;
}

void sr_table_unweigh(struct sr_table *table)
{
    if (!table->by.count)
        return;
    table->by.count = 0;
    table->data.weight = NULL;
    table->weights = NULL;
    table->weight_mean = 0;
}

/* Fills the weights that the options request, with mean 1. */
static int fill_weights(const char *file, const struct sr_csv_options *o, struct sr_table *table,
                        int column, double *weight)
{
    double mean = 1;
    if (column < 0)
        return sr_table_weigh(table, NULL)
                   ? 0
                   : ORR_FAIL(ORR_EINVAL,
                              "%s: column \"%s\": --weights relative is 1/y^2, but the median of "
                              "|y| is 0 or its square is no number",
                              file, table->target);
    TRY(table->csv.values ? take_column(&table->csv, file, column, weight) : 0);
    if (o->sigma)
        TRY(square_sigmas(table, file, o->log_target != NULL, weight));
    TRY(scale_weights(&table->csv, file, table->weights, weight, &mean));
    table->variance = table->data.variance = o->sigma ? 1 / mean : 0;
    table->weight_mean = mean;
    return 0;
}

/* Allocates one block for x, columns of the constants of each category, y, and room for
 * weights. */
static int make_data(struct sr_table *table, size_t rows, int features, bool weights)
{
    const size_t more = table->category ? SR_PARAMETERS : 0;
    const size_t columns = (size_t)features + more + 2;
    /* not zeroed: memory that is not used, as that for weights, is not touched */
    table->block = orr_alloc_unset(columns * rows, sizeof *table->block);
    if (!table->block)
        return ORR_ENOMEM;
    memset(table->block + (size_t)features * rows, 0, more * rows * sizeof *table->block);
    const double *y = table->block + ((size_t)features + more) * rows;
    if (table->category)
        table->category->column = table->block + (size_t)features * rows;
    table->data = (struct sr_data){.rows = rows,
                                   .features = features,
                                   .x = table->block,
                                   .y = y,
                                   .weight = weights ? y + rows : NULL};
    return 0;
}

/* Features, target, and the column of weights. */
static void move_data(const int *feature, int goal, int weights, struct sr_table *table)
{
    const size_t rows = table->csv.rows;
    const int features = table->data.features;
    int column[SR_COLUMNS + 2], count = 0;
    double *out[SR_COLUMNS + 2], *const y = table->block + (table->data.y - table->block);
    for (; count < features; count++) {
        column[count] = feature[count];
        out[count] = table->block + (size_t)count * rows;
    }
    column[count] = goal;
    out[count++] = y;
    column[count] = weights;
    out[count++] = y + rows;
    move_columns(&table->csv, column, out, weights >= 0 ? count : count - 1);
}

static int copy_data(const char *file, const int *feature, int goal, struct sr_table *table)
{
    const size_t rows = table->csv.rows;
    double *const y = table->block + (table->data.y - table->block);
    for (int f = 0; f < table->data.features; f++)
        TRY(take_column(&table->csv, file, feature[f], table->block + (size_t)f * rows));
    return take_column(&table->csv, file, goal, y);
}

static int fill_data(const char *file, const struct sr_csv_options *o, const int *column, int goal,
                     int weights, struct sr_table *table)
{
    const struct orr_csv *csv = &table->csv;
    const size_t rows = csv->rows, features = (size_t)table->data.features;
    double *const y = table->block + (table->data.y - table->block);
    for (size_t f = 0; f < features; f++)
        TRY(check_name(file, csv, column[f]));
    for (size_t f = 0; f < features; f++)
        TRY(check_feature(file, csv, column[f]));
    TRY(check_name(file, csv, goal));
    if (weights >= 0)
        TRY(check_name(file, csv, weights));
    for (size_t f = 0; f < features; f++)
        table->name[f] = csv->names[column[f]];
    if (table->moves && !csv->cells) /* all cells are finite numbers */
        move_data(column, goal, weights, table);
    else
        TRY(copy_data(file, column, goal, table));
    if (o->log_target && !table->stem)
        TRY(take_logarithms(csv, file, table->target, y));
    if (!table->stem)
        TRY(check_size(csv, file, table->target, y));
    return table->weights ? fill_weights(file, o, table, weights, y + rows) : 0;
}

static int find_sigma(const char *file, const struct sr_csv_options *o, int goal,
                      struct sr_table *table, int *weights)
{
    if (o->weights)
        return ORR_FAIL(ORR_EUSAGE, "--sigma: the weights are 1/sigma^2; --weights gives others");
    TRY(sr_column_find(&table->csv, file, o->sigma, NULL, weights));
    if (*weights == goal)
        return ORR_FAIL(ORR_EUSAGE, "--sigma: \"%s\" is the target", table->target);
    table->weights = table->csv.names[*weights];
    return 0;
}

/* Finds the column of --weights. The keywords leave *weights at -1, but a column of that name takes
 * precedence. */
static int find_weights(const char *file, const struct sr_csv_options *o, int goal,
                        struct sr_table *table, int *weights)
{
    if (o->sigma)
        return find_sigma(file, o, goal, table, weights);
    if (!o->weights)
        return 0;
    *weights = sr_column_of(&table->csv, o->weights);
    if (*weights < 0 && !strcmp(o->weights, "equal"))
        return 0;
    table->relative = *weights < 0 && !strcmp(o->weights, "relative");
    table->weights = "";
    if (table->relative)
        return o->log_target ? ORR_FAIL(ORR_EUSAGE, "--weights relative: with --log-target all "
                                                    "residuals are relative already; give one")
                             : 0;
    TRY(sr_column_find(&table->csv, file, o->weights, "relative", weights));
    if (*weights == goal)
        return ORR_FAIL(ORR_EUSAGE, "--weights: \"%s\" is the target", table->target);
    table->weights = table->csv.names[*weights];
    return 0;
}

/* Finds the digits of the columns. Columns of integers, columns with all digits of a double, and
 * features that may be a grid of round numbers count as exact. */
static void find_digits(struct sr_table *table, const int *column, int goal, bool logarithm)
{
    enum { GRID = 4, DOUBLE = 16 };
    const struct orr_csv *csv = &table->csv;
    const int features = table->data.features;
    for (int f = 0; f <= features; f++) {
        const struct orr_csv_digits *of = &csv->digits[f < features ? column[f] : goal];
        struct sr_digits *digits = &table->digits[f];
        *digits = (struct sr_digits){.significant = of->significant,
                                     .last = of->last,
                                     .logarithm = f == features && logarithm};
        if (of->whole || digits->significant >= DOUBLE ||
            (f < features && digits->significant <= GRID))
            digits->significant = 0;
    }
    table->data.digits = table->digits;
}

/* For --missing drop and --missing-value: removes rows with a missing value in any column used or
 * offered. */
static int drop_rows(const struct sr_missing *what, const int *feature, int features, int goal,
                     int weights, int category, const struct sr_sigmas_x *sigmas,
                     struct sr_table *table)
{
    int column[2 * SR_COLUMNS + 3], count = 0;
    if (!what->cells)
        return 0;
    for (; count < features; count++)
        column[count] = feature[count];
    column[count++] = goal;
    if (weights >= 0)
        column[count++] = weights;
    if (category >= 0)
        column[count++] = category;
    for (int k = 0; k < sigmas->count; k++)
        if (sigmas->of[k].column >= 0)
            column[count++] = sigmas->of[k].column;
    return sr_table_drop_missing(&table->csv, what, column, count, &table->dropped);
}

int sr_table_read(const char *file, const struct sr_csv_options *o, struct sr_table *table)
{
    *table = (struct sr_table){.moves = true, .file = orr_input_name(file)};
    TRY(sr_cells_read(file, ORR_CSV_KEEP_ODD, &table->csv));
    return sr_table_fill(orr_input_name(file), o, table);
}

/* Finds the columns that an earlier table used. */
static int same_features(const struct orr_csv *csv, const char *file, const struct sr_table *like,
                         int column[SR_COLUMNS], int *count)
{
    for (; *count < sr_category_features(&like->data, like->category); (*count)++)
        TRY(sr_column_find(csv, file, like->name[*count], NULL, &column[*count]));
    return 0;
}

/* Finds the column of --category, -1 without. */
static int find_category(const char *file, const struct sr_csv_options *o, int goal, int weights,
                         const struct sr_table *table, int *category)
{
    *category = -1;
    if (!o->category)
        return 0;
    TRY(sr_column_find(&table->csv, file, o->category, NULL, category));
    if (*category == goal || *category == weights)
        return ORR_FAIL(ORR_EUSAGE, "--category: \"%s\" is the %s", table->csv.names[*category],
                        *category == goal ? "target" : "weights");
    return check_name(file, &table->csv, *category);
}

/* Finds the columns of --sigma-x, which stay in the table until they are read. */
static int find_sigmas_x(const char *file, const struct sr_csv_options *o, int goal,
                         struct sr_table *table, struct sr_sigmas_x *sigmas)
{
    if (!o->sigma)
        return ORR_FAIL(ORR_EUSAGE, "--sigma-x: needs --sigma, the standard deviation of \"%s\"",
                        table->target);
    table->moves = false;
    return sr_sigmas_x_read(&table->csv, file, o->sigma_x, goal, sigmas);
}

/* Columns of dates become days since the first date, or that of the earlier table. The target, the
 * weights and the category stay as they are. */
static void read_dates(const struct sr_csv_options *o, const struct sr_table *like, int goal,
                       int weights, struct sr_table *table)
{
    struct orr_csv *csv = &table->csv;
    const int category = o->category ? sr_column_of(csv, o->category) : -1;
    struct sr_dates *dates = &table->dates;
    for (size_t c = 0; c < csv->cols && csv->cells && dates->count < SR_DATES; c++) {
        double first;
        if ((int)c == goal || (int)c == weights || (int)c == category || has_numbers(csv, c) ||
            !sr_dates_first(csv, c, &first))
            continue;
        for (int k = 0; like && k < like->dates.count; k++)
            if (!strcmp(like->dates.of[k].name, csv->names[c]))
                first = like->dates.of[k].first;
        if (!sr_dates_fill(csv, c, first))
            continue;
        csv->digits[c] = (struct orr_csv_digits){.whole = true}; /* nothing is known of them */
        dates->of[dates->count].name = csv->names[c];
        dates->of[dates->count++].first = first;
    }
}

/* All columns of dates that are used count from one day, so that differences of theirs are
 * durations. */
static void count_from_one_day(const int *column, int features, struct sr_table *table)
{
    struct orr_csv *csv = &table->csv;
    struct sr_dates *dates = &table->dates;
    int of[SR_DATES];
    double first = HUGE_VAL;
    for (int k = 0; k < dates->count; k++) {
        of[k] = sr_column_of(csv, dates->of[k].name);
        if (is_listed(of[k], column, features))
            first = fmin(first, dates->of[k].first);
    }
    for (int k = 0; k < dates->count; k++) {
        if (!is_listed(of[k], column, features))
            continue;
        for (size_t i = 0; i < csv->rows; i++) {
            double *const days = &csv->values[i * csv->cols + (size_t)of[k]];
            *days = sr_days_since(*days + dates->of[k].first, first);
        }
        dates->of[k].first = first;
    }
}

/* Finds the column of the target, or both of its interval. */
static int find_target(const char *file, const struct sr_csv_options *o, struct sr_table *table,
                       int *goal, int interval[2])
{
    const struct orr_csv *csv = &table->csv;
    if (!o->target_interval) {
        TRY(sr_column_find(csv, file, o->target, NULL, goal));
        table->target = csv->names[*goal];
        if (!o->high_ends)
            return 0;
        interval[0] = *goal;
        TRY(sr_column_find(csv, file, o->high_ends, NULL, &interval[1]));
        table->stem = strdup(table->target);
    } else {
        TRY(sr_interval_columns(csv, file, o->target_interval, interval));
        *goal = interval[0];
        table->stem = sr_interval_name(csv, interval);
    }
    table->target = table->stem;
    for (int k = 0; k < 2; k++)
        table->end_name[k] = csv->names[interval[k]];
    table->moves = false;
    return table->stem ? 0 : ORR_ENOMEM;
}

/* like: the table whose columns are used; NULL: the options choose. */
static int fill_table(const char *file, const struct sr_csv_options *o, const struct sr_table *like,
                      struct sr_table *table)
{
    const struct orr_csv *csv = &table->csv;
    int column[SR_COLUMNS], kept[SR_COLUMNS], features = 0, required = 0, goal = -1, weights = -1;
    int category = -1;
    int interval[2] = {-1, -1};
    struct sr_sigmas_x sigmas = {.count = 0};
    struct sr_missing missing;
    TRY(find_target(file, o, table, &goal, interval));
    TRY(find_weights(file, o, goal, table, &weights));
    read_dates(o, like, goal, weights, table);
    if (o->sigma_x && !like)
        TRY(find_sigmas_x(file, o, goal, table, &sigmas));
    TRY(find_category(file, o, goal, weights, table, &category));
    if (o->features && o->exclude)
        return ORR_FAIL(ORR_EUSAGE, "--exclude: --features lists the columns already; give one");
    TRY(like          ? same_features(csv, file, like, column, &features)
        : o->features ? named_columns(csv, file, goal, "--features", o->features, column, &features)
                      : all_features(csv, file, goal, interval[1], weights, category, &sigmas, o,
                                     column, &features));
    if (is_listed(interval[1], column, features) || (interval[1] >= 0 && weights == interval[1]))
        return ORR_FAIL(ORR_EUSAGE, "--target-interval: \"%s\" is used by another option, too",
                        csv->names[interval[1]]);
    if (category >= 0 && is_listed(category, column, features))
        return ORR_FAIL(ORR_EUSAGE, "--features: \"%s\" is the --category", csv->names[category]);
    if (!like)
        count_from_one_day(column, features, table);
    TRY(sr_missing_read(o->missing, o->missing_value, &missing));
    missing.end = table->stem ? interval : NULL;
    TRY(drop_rows(&missing, column, features, goal, weights, category, &sigmas, table));
    if (table->stem)
        TRY(sr_interval_read(file, interval, &missing, table));
    if (csv->rows < 2)
        return ORR_FAIL(ORR_EINVAL, "%s: expected at least 2 rows, found %zu%s%s", file, csv->rows,
                        table->dropped.rows ? "; rows with a missing value are left out: " : "",
                        table->dropped.columns);
    table->columns = features;
    for (int f = 0; f < features && category >= 0; f++)
        if (sr_category_takes_name(csv->names[category], csv->names[column[f]]))
            return ORR_FAIL(ORR_EINVAL,
                            "%s: column \"%s\" has the name of a constant of each \"%s\"; give it "
                            "another name",
                            file, csv->names[column[f]], csv->names[category]);
    if (category >= 0)
        TRY(sr_category_read(csv, file, category, like ? like->category : NULL, &table->category));
    const int most = SR_FEATURES - (table->category ? SR_PARAMETERS : 0);
    if (features > most && o->require)
        TRY(named_columns(csv, file, goal, "--require", o->require, kept, &required));
    if (features > most)
        TRY(sr_table_select(csv, goal, most, kept, required, column, &features));
    TRY(make_data(table, csv->rows, features, table->weights != NULL));
    TRY(fill_data(file, o, column, goal, weights, table));
    TRY(sr_sigmas_x_fill(file, &sigmas, column, features, table));
    if (table->stem) {
        TRY(sr_interval_give(file, o->log_target != NULL, table));
        TRY(check_size(csv, file, table->target, table->data.y));
    }
    find_digits(table, column, goal, o->log_target);
    return 0;
}

int sr_table_fill(const char *file, const struct sr_csv_options *o, struct sr_table *table)
{
    return fill_table(file, o, NULL, table);
}

int sr_table_fill_like(const char *file, const struct sr_csv_options *o,
                       const struct sr_table *like, struct sr_table *table)
{
    TRY(fill_table(file, o, like, table));
    table->data.language = like->data.language;
    return 0;
}

int sr_table_read_like(const char *file, const struct sr_csv_options *o,
                       const struct sr_table *like, struct sr_table *table)
{
    *table = (struct sr_table){.moves = true};
    TRY(sr_cells_read(file, ORR_CSV_KEEP_ODD, &table->csv));
    return sr_table_fill_like(orr_input_name(file), o, like, table);
}

int sr_table_sample(const struct sr_table *table, size_t rows, uint64_t seed,
                    struct sr_table *sample)
{
    const struct sr_data *all = &table->data;
    *sample = (struct sr_table){0};
    memcpy(sample->name, table->name, sizeof sample->name);
    size_t *row = orr_alloc(rows, sizeof *row), taken = 0;
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_SAMPLE, 0);
    /* selects each row with probability (rows still wanted) / (rows left) (Knuth's algorithm S) */
    for (size_t i = 0; i < all->rows && taken < rows && row && rng; i++)
        if (gsl_rng_uniform(rng) * (double)(all->rows - i) < (double)(rows - taken))
            row[taken++] = i;
    int rc = row && rng ? sr_rows_take(all, rows, row, &sample->data, &sample->block) : ORR_ENOMEM;
    if (!rc && table->category)
        rc = sr_category_sample(table->category, row, rows, &sample->category);
    if (rng)
        gsl_rng_free(rng);
    free(row);
    return rc;
}

/* Of a column without numbers; of one of dates, which cell is none. */
static void note_left_out(const struct orr_csv *csv, const char *file, size_t column, bool quiet)
{
    const long odd = sr_dates_odd(csv, column, false);
    const size_t row = odd >= 0 ? (size_t)odd : 0;
    orr_note(quiet, "symreg: %s:%zu: column \"%s\" has %s (\"%s\") and is left out", file,
             csv->line[row], csv->names[column],
             odd >= 0                       ? "dates, but here none that exists"
             : first_date(csv, column) >= 0 ? "dates, not numbers"
                                            : "no numbers",
             csv->cells[row * csv->cols + column]);
}

void sr_table_notes(const struct sr_table *table, const char *file, const struct sr_csv_options *o,
                    bool quiet)
{
    const struct orr_csv *csv = &table->csv;
    sr_cells_notes(csv, file, quiet);
    for (size_t c = 0; c < csv->cols && !o->features; c++)
        if (*csv->names[c] && csv->names[c] != table->target && csv->names[c] != table->weights &&
            !(table->category && csv->names[c] == table->category->name) && !has_numbers(csv, c))
            note_left_out(csv, file, c, quiet);
    for (int k = 0; k < table->dates.count; k++) {
        char first[SR_DAY_TEXT];
        sr_day_text(table->dates.of[k].first, first);
        orr_note(quiet, "symreg: %s: column \"%s\" has dates, which count as days since %s", file,
                 table->dates.of[k].name, first);
    }
    sr_dropped_note(&table->dropped, file, csv->rows, quiet);
    if (o->weights && !strcmp(o->weights, "relative") && !table->relative)
        orr_note(quiet, "symreg: --weights relative: the column of this name, not 1/y^2");
}

void sr_table_free(struct sr_table *table)
{
    sr_table_restore(table);
    free(table->block);
    free(table->units);
    free(table->x_variance);
    free(table->x_weight);
    free(table->interval);
    free(table->stem);
    sr_category_free(table->category);
    free(table->line);
    orr_csv_free(&table->csv);
    *table = (struct sr_table){0};
}
