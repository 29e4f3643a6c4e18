/* table.c - turns the caller's arrays into a table as read from a CSV file: with the same checks,
 * count of digits and choice of columns. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regress.h"

static double number_at(const struct orrery_table *t, const void *array, size_t at)
{
    return t->type == ORRERY_FLOAT32 ? (double)((const float *)array)[at]
                                     : ((const double *)array)[at];
}

/* A number of an array of the shape of x. */
static double cell_of(const struct orrery_table *t, const void *array, size_t row, size_t column)
{
    return number_at(t, array,
                     t->order == ORRERY_ROWS ? row * t->columns + column : column * t->rows + row);
}

double api_cell(const struct orrery_table *t, size_t row, size_t column)
{
    return cell_of(t, t->x, row, column);
}

static int check_finite(const struct orrery_table *t, const char *what, const void *array)
{
    for (size_t i = 0; array && i < t->rows; i++)
        if (!isfinite(number_at(t, array, i)))
            return ORR_FAIL(ORR_EINVAL, "table: %s: row %zu: expected a finite number, found %g",
                            what, i, number_at(t, array, i));
    return 0;
}

int api_check_table(const struct orrery_table *given, bool needs_y, struct orrery_table *t)
{
    TRY(api_take("table", t, sizeof *t, offsetof(struct orrery_table, sigma), given));
    if ((t->type != ORRERY_FLOAT64 && t->type != ORRERY_FLOAT32) ||
        (t->order != ORRERY_ROWS && t->order != ORRERY_COLUMNS))
        return ORR_FAIL(ORR_EINVAL,
                        "table: expected a type ORRERY_FLOAT64 or ORRERY_FLOAT32 and an order "
                        "ORRERY_ROWS or ORRERY_COLUMNS, found %d and %d",
                        t->type, t->order);
    if (t->columns < 1 || t->columns > SR_COLUMNS)
        return ORR_FAIL(ORR_EINVAL, "table: expected 1 to %d columns, found %zu", SR_COLUMNS,
                        t->columns);
    if (t->rows < (needs_y ? 2u : 1u) || t->rows > SIZE_MAX / sizeof(double) / (SR_COLUMNS + 2))
        return ORR_FAIL(ORR_EINVAL, "table: expected at least %d rows, found %zu", needs_y ? 2 : 1,
                        t->rows);
    if (!t->x || (needs_y && !t->y && !t->y_low))
        return ORR_FAIL(ORR_EINVAL, "table: %s: expected an array, found NULL", t->x ? "y" : "x");
    if (needs_y && (t->y_low != NULL) != (t->y_high != NULL))
        return ORR_FAIL(ORR_EINVAL, "table: y_low, y_high: expected both, found one");
    if (needs_y && t->y && t->y_low)
        return ORR_FAIL(ORR_EINVAL, "table: expected y, or y_low and y_high, found all");
    for (size_t c = 0; c < t->columns; c++)
        for (size_t i = 0; i < t->rows; i++)
            if (!isfinite(api_cell(t, i, c)))
                return ORR_FAIL(ORR_EINVAL,
                                "table: x: row %zu, column %zu: expected a finite number, found %g",
                                i, c, api_cell(t, i, c));
    if (!needs_y)
        return 0;
    if (t->weights && t->sigma)
        return ORR_FAIL(ORR_EINVAL, "table: expected weights or sigma, found both");
    if (t->sigma_x && !t->sigma)
        return ORR_FAIL(ORR_EINVAL, "table: sigma_x: needs sigma, the standard deviations of y");
    TRY(check_finite(t, "y", t->y));
    TRY(check_finite(t, "weights", t->weights));
    return check_finite(t, "sigma", t->sigma);
}

/* Weights or standard deviations of the rows; NULL: neither. */
static const void *row_weights(const struct orrery_table *t)
{
    return t->weights ? t->weights : t->sigma;
}

/* The array of column c beside x, where columns are ordered as in a CSV file: x, y (or its low
 * ends), weights or sigma, high ends of y. */
static const void *array_of(const struct orrery_table *t, size_t c)
{
    return c == t->columns                         ? t->y ? t->y : t->y_low
           : c == t->columns + 1 && row_weights(t) ? row_weights(t)
                                                   : t->y_high;
}

static double number_of(const struct orrery_table *t, size_t row, size_t c)
{
    return c < t->columns ? api_cell(t, row, c) : number_at(t, array_of(t, c), row);
}

/* Whether a text reads back as the number. */
static bool reads_back(bool single, const char *text, double value)
{
    const double read = strtod(text, NULL);
    return single ? (float)read == (float)value : !(read < value || read > value);
}

/* The fewest digits that can read back as the number. DBL_DIG digits of a normal number end in
 * zeros where fewer do, so that two texts are enough, where trying all takes up to 17. */
static int least_digits(bool single, double value)
{
    const int safe = single ? FLT_DIG : DBL_DIG;
    char text[40];
    if (!isfinite(value) || fabs(value) < (single ? (double)FLT_MIN : DBL_MIN))
        return 1;
    snprintf(text, sizeof text, "%.*e", safe - 1, value);
    if (!reads_back(single, text, value))
        return safe + 1;
    const char *end = strchr(text, 'e');
    int digits = 0;
    while (end[-1] == '0')
        end--;
    for (const char *c = text; c < end; c++)
        digits += *c >= '0' && *c <= '9';
    return digits;
}

/* Counts the digits of a number in its shortest text that reads back as the number. */
static void count_digits(const struct orrery_table *t, double value, struct orr_csv_digits *digits)
{
    const bool single = t->type == ORRERY_FLOAT32;
    char text[40];
    for (int n = least_digits(single, value); n <= 17; n++) {
        snprintf(text, sizeof text, "%.*g", n, value);
        if (reads_back(single, text, value))
            break;
    }
    orr_csv_count_digits(text, digits);
}

/* Whether one of the caller's columns has the name. */
static bool is_taken(const struct orrery_table *t, const char *name)
{
    char text[32];
    for (size_t c = 0; c < t->columns; c++) {
        snprintf(text, sizeof text, "x%zu", c + 1);
        const char *given = t->names ? t->names[c] : text;
        if (given && !strcmp(given, name))
            return true;
    }
    return !strcmp(t->target ? t->target : "y", name);
}

static int name_column(const struct orrery_table *t, size_t c, char **name)
{
    char text[64];
    const char *given = c == t->columns  ? t->target ? t->target : "y"
                        : c > t->columns ? text
                        : t->names       ? t->names[c]
                                         : text;
    snprintf(text, sizeof text, "x%zu", c + 1);
    if (c > t->columns) {
        snprintf(text, sizeof text, "%s",
                 array_of(t, c) == t->y_high ? "high"
                 : t->weights                ? "weights"
                                             : "sigma");
        while (is_taken(t, text) && strlen(text) + 2 < sizeof text)
            strcat(text, "_");
    }
    if (!given || !*given)
        return ORR_FAIL(ORR_EINVAL, "table: names: expected a name of column %zu, found %s", c,
                        given ? "\"\"" : "NULL");
    *name = strdup(given);
    return *name ? 0 : ORR_FAIL(ORR_ENOMEM, "table: out of memory");
}

/* Refuses repeated names, which formulas could not distinguish. */
static int check_names(const struct orr_csv *csv)
{
    for (size_t a = 0; a < csv->cols; a++)
        for (size_t b = 0; b < a; b++)
            if (!strcmp(csv->names[a], csv->names[b]))
                return ORR_FAIL(ORR_EINVAL, "table: names: \"%s\" stands twice", csv->names[a]);
    return 0;
}

static int fill_csv(const struct orrery_table *t, struct orr_csv *csv)
{
    const size_t cols = t->columns + 1 + (row_weights(t) ? 1 : 0) + (t->y_high ? 1 : 0);
    csv->rows = t->rows;
    csv->cols = cols;
    csv->names = calloc(cols, sizeof *csv->names);
    csv->values = calloc(cols * t->rows, sizeof *csv->values);
    csv->digits = calloc(cols, sizeof *csv->digits);
    csv->line = calloc(t->rows, sizeof *csv->line);
    if (!csv->names || !csv->values || !csv->digits || !csv->line)
        return ORR_FAIL(ORR_ENOMEM, "table: out of memory");
    for (size_t c = 0; c < cols; c++) {
        TRY(name_column(t, c, &csv->names[c]));
        csv->digits[c] = (struct orr_csv_digits){.last = 400, .whole = true};
        for (size_t i = 0; i < t->rows; i++) {
            csv->values[i * cols + c] = number_of(t, i, c);
            count_digits(t, csv->values[i * cols + c], &csv->digits[c]);
        }
    }
    for (size_t i = 0; i < t->rows; i++)
        csv->line[i] = i; /* messages count rows from 0, as arrays do */
    return check_names(csv);
}

/* Finds the caller's column of each feature. */
static void find_columns(struct orrery_regression *r, const struct sr_table *table)
{
    for (int f = 0; f < table->data.features; f++)
        r->column[f] = (size_t)orr_csv_column(&table->csv, table->name[f]);
}

/* Options with the roles that the caller's arrays have. */
static struct sr_csv_options roles(const struct orrery_regression *r, const struct orrery_table *t,
                                   const struct orr_csv *csv)
{
    struct sr_csv_options o = r->options;
    o.target = csv->names[t->columns];
    if (t->y_high)
        o.high_ends = csv->names[csv->cols - 1];
    if (t->weights)
        o.weights = csv->names[t->columns + 1];
    if (t->sigma) {
        o.weights = NULL;
        o.sigma = csv->names[t->columns + 1];
    }
    return o;
}

/* The variances of x, of the columns that are features. */
static int take_sigma_x(const struct orrery_regression *r, const struct orrery_table *t,
                        struct sr_table *table)
{
    if (!t->sigma_x)
        return 0;
    TRY(sr_x_variance_make(table));
    for (int f = 0; f < table->data.features; f++)
        for (size_t i = 0; i < t->rows; i++) {
            const double sigma = cell_of(t, t->sigma_x, i, r->column[f]);
            double *const variance = &table->x_variance[(size_t)f * t->rows + i];
            *variance = sigma * sigma / table->variance;
            if (!(sigma >= 0) || !isfinite(*variance))
                return ORR_FAIL(ORR_EINVAL,
                                "table: sigma_x: row %zu, column %zu: expected a standard "
                                "deviation of at least 0, found %g",
                                i, r->column[f], sigma);
        }
    return 0;
}

static int take_table(struct orrery_regression *r, const struct orrery_table *given,
                      struct sr_table *table)
{
    struct orrery_table t;
    TRY(api_check_table(given, true, &t));
    TRY(fill_csv(&t, &table->csv));
    const struct sr_csv_options o = roles(r, &t, &table->csv);
    TRY(sr_table_fill("table", &o, table));
    find_columns(r, table);
    TRY(take_sigma_x(r, &t, table));
    orr_csv_free_rows(&table->csv);
    r->columns = t.columns;
    return 0;
}

/* A second table: the names are those of the first, whatever the caller gives. */
static int take_test(struct orrery_regression *r, const struct orrery_table *given,
                     struct sr_table *table)
{
    struct orrery_table t;
    const char *name[SR_COLUMNS];
    if (!r->has_table)
        return ORR_FAIL(ORR_EMISSING, "test: there is no table yet; orrery_regression_data()");
    TRY(api_check_table(given, true, &t));
    if (t.columns != r->columns)
        return ORR_FAIL(ORR_EINVAL, "test: expected %zu columns, found %zu", r->columns, t.columns);
    for (size_t c = 0; c < t.columns; c++)
        name[c] = r->table.csv.names[c];
    t.names = name;
    t.target = r->table.target;
    TRY(fill_csv(&t, &table->csv));
    struct sr_csv_options o = roles(r, &t, &table->csv);
    if (!t.weights && !t.sigma && o.weights && strcmp(o.weights, "relative") != 0)
        o.weights = NULL;
    TRY(sr_table_fill_like("test", &o, &r->table, table));
    orr_csv_free_rows(&table->csv);
    return 0;
}

/* Makes a table that was filled the handle's, in place of another. */
static void keep_table(struct sr_table *taken, struct sr_table *table)
{
    sr_table_free(table);
    *table = *taken;
    table->data.digits = table->digits; /* the pointer still refers to the other struct */
}

int orrery_regression_data(struct orrery_regression *r, const struct orrery_table *table)
{
    struct api_call call;
    struct sr_table taken = {0};
    TRY(api_enter(r ? &r->handle : NULL, &call));
    const int rc = take_table(r, table, &taken);
    if (rc) {
        sr_table_free(&taken);
        return api_leave(&call, rc);
    }
    api_forget(r);
    keep_table(&taken, &r->table);
    r->has_table = true;
    api_roles(r, r->roles);
    sr_table_free(&r->second);
    r->second = (struct sr_table){0};
    r->has_test = false;
    return api_leave(&call, 0);
}

int orrery_regression_test(struct orrery_regression *r, const struct orrery_table *table)
{
    struct api_call call;
    struct sr_table taken = {0};
    TRY(api_enter(r ? &r->handle : NULL, &call));
    const int rc = table ? take_test(r, table, &taken) : 0;
    if (rc) {
        sr_table_free(&taken);
        return api_leave(&call, rc);
    }
    api_forget(r);
    keep_table(&taken, &r->second);
    r->has_test = table != NULL;
    return api_leave(&call, 0);
}
