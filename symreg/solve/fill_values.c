/* fill_values.c - numbers that files use where a value is missing, as 99999.9 or -999. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "solve.h"

/* The number with nine digits, or the shorter one that single precision stores as this number:
 * 99999.9, not 99999.8984. */
static void write_shortly(double value, char text[32])
{
    snprintf(text, 32, "%.7g", value);
    if (fabs(value - (double)strtof(text, NULL)) > 1e-9 * fabs(value))
        snprintf(text, 32, "%.9g", value);
}

/* Nines alone: three or more, of whole numbers below 0 also two; or a fill value of netCDF or
 * CDF. */
static bool is_nines(double value)
{
    static const double fill[] = {9.969209968386869e36, 1e20, 1e30, 1e31, 1e35};
    char text[32];
    int nines = 0;
    bool whole = true;
    for (size_t k = 0; k < sizeof fill / sizeof *fill; k++)
        if (fabs(fabs(value) / fill[k] - 1) < 1e-6)
            return true;
    write_shortly(fabs(value), text);
    for (const char *c = text; *c; c++) {
        if (*c != '9' && *c != '.')
            return false;
        nines += *c == '9';
        whole = whole && *c != '.';
    }
    return nines >= (value < 0 && whole ? 2 : 3);
}

enum { FILLS = 4 }; /* different ones of a column */

/* A column, and the fill values that are known in it. */
struct column {
    const double *x;
    size_t rows;
    int fills;
    double fill[FILLS];
};

static bool is_known(const struct column *c, double value)
{
    for (int k = 0; k < c->fills; k++)
        if (value == c->fill[k])
            return true;
    return false;
}

/* Smallest and largest number of a column apart from those equal to `value`, known ones and, where
 * `sound`, all that are made of nines. */
struct others {
    size_t count, alike;
    double least, most;
};
static struct others others_of(const struct column *c, double value, bool sound)
{
    struct others o = {.least = HUGE_VAL, .most = -HUGE_VAL};
    for (size_t i = 0; i < c->rows; i++) {
        if (c->x[i] == value) {
            o.alike++;
            continue;
        }
        if (is_known(c, c->x[i]) || (sound && is_nines(c->x[i])))
            continue;
        o.count++;
        o.least = fmin(o.least, c->x[i]);
        o.most = fmax(o.most, c->x[i]);
    }
    return o;
}

/* The largest or smallest number of the column, where it is made of nines and farther from the
 * others than these are from each other, or alone below 0. */
static bool find_fill(const struct column *c, double *value, struct others *others)
{
    const struct others all = others_of(c, NAN, false);
    for (int k = 0; k < 2 && c->rows > 3 && all.count; k++) {
        *value = k ? all.least : all.most;
        if (!is_nines(*value))
            continue;
        *others = others_of(c, *value, true);
        const double range = others->most - others->least,
                     gap = k ? others->least - *value : *value - others->most;
        if (others->count > 2 && others->alike <= others->count &&
            (gap > range || (*value < 0 && others->least >= 0)))
            return true;
    }
    return false;
}

static void find_fills(struct column *c)
{
    double value;
    struct others others;
    while (c->fills < FILLS && find_fill(c, &value, &others))
        c->fill[c->fills++] = value;
}

/* Whether a row holds the sum of all others of a column, which are of one sign and most of them not
 * 0: a flag of two rows, and 0, 1, 2, 3, are no sums. A sum has the rounding of every row. */
static bool is_total(const double *x, size_t rows, size_t row)
{
    enum { LEAST = 3 };
    const double rounding = 1e-6;
    double sum = 0;
    size_t parts = 0;
    for (size_t i = 0; i < rows; i++) {
        if (x[i] * x[row] < 0)
            return false;
        sum += i == row ? 0 : x[i];
        parts += i != row && fabs(x[i]) > 0;
    }
    return parts >= LEAST && 2 * parts >= rows && fabs(x[row] - sum) <= rounding * fabs(sum);
}

void sr_rows_filled(const struct sr_data *data, bool *filled)
{
    for (int f = 0; f <= data->features; f++) {
        const double *x = f < data->features ? data->x + (size_t)f * data->rows : data->y;
        struct column c = {.x = x, .rows = data->rows};
        find_fills(&c);
        for (size_t i = 0; i < data->rows; i++)
            filled[i] = filled[i] || is_known(&c, x[i]);
        for (size_t row = 0; data->rows > 3 && row < data->rows; row += data->rows - 1)
            filled[row] = filled[row] || is_total(x, data->rows, row);
    }
}

void sr_fill_note(const struct orr_csv *csv, const char *file, const char *list, bool quiet)
{
    char name[256], number[32];
    double *const x = orr_alloc(csv->rows + 1, sizeof *x);
    while (x && list && sr_name_next(&list, name, sizeof name)) {
        const int column = orr_csv_column(csv, name);
        struct column c = {.x = x, .rows = csv->rows};
        for (size_t i = 0; i < csv->rows && column >= 0; i++)
            x[i] = csv->values[i * csv->cols + (size_t)column];
        if (column >= 0)
            find_fills(&c);
        for (int k = 0; k < c.fills; k++) {
            const struct others others = others_of(&c, c.fill[k], false);
            write_shortly(c.fill[k], number);
            orr_note(quiet,
                     "symreg: %s: column \"%s\" is %s in %zu row%s, and %.6g to %.6g elsewhere; if "
                     "that stands for a missing value, --missing-value %s leaves such rows out",
                     file, name, number, others.alike, others.alike > 1 ? "s" : "", others.least,
                     others.most, number);
        }
    }
    free(x);
    orr_error_recover();
}

static void list_rows(const double *x, size_t rows, double value, size_t count, char *text,
                      size_t bytes)
{
    enum { LISTED = 6 };
    size_t listed = 0;
    *text = '\0';
    for (size_t i = 0; i < rows && listed < LISTED; i++)
        if (x[i] == value)
            orr_append(text, bytes, "%s%zu", listed++ ? ", " : "", i + 1);
    if (count > listed)
        orr_append(text, bytes, " and %zu more", count - listed);
}

/* What is said so far: of columns, and the numbers for --missing-value. */
struct said {
    char *text;
    size_t bytes;
    char numbers[256];
};

/* Whether a number is in a list with commas between. */
static bool is_listed(const char *list, const char *number)
{
    const size_t length = strlen(number);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && !strncmp(at, number, length))
            return true;
    return false;
}

/* Names the fill values of a column; `where`: the rows of another table. */
static void say_column(struct said *said, const char *name, const char *where, struct column *c)
{
    find_fills(c);
    for (int k = 0; k < c->fills; k++) {
        const struct others others = others_of(c, c->fill[k], false);
        char rows[160], number[32];
        write_shortly(c->fill[k], number);
        list_rows(c->x, c->rows, c->fill[k], others.alike, rows, sizeof rows);
        orr_append(said->text, said->bytes,
                   "%s%s is %s in row%s %s of those used%s, and %.6g to %.6g elsewhere",
                   *said->text ? "; " : "", name, number, others.alike > 1 ? "s" : "", rows, where,
                   others.least, others.most);
        if (!is_listed(said->numbers, number))
            orr_append(said->numbers, sizeof said->numbers, "%s%s", *said->numbers ? "," : "",
                       number);
    }
}

/* Names those of both ends of targets that are intervals; an open end counts as the other one. */
static void say_ends(const struct sr_answer *o, const struct sr_data *data, const char *where,
                     double *work, struct said *said)
{
    for (int k = 0; k < 2; k++) {
        const double *end = k ? data->high : data->low, *other = k ? data->low : data->high;
        for (size_t i = 0; i < data->rows; i++) {
            work[i] = isfinite(end[i]) ? end[i] : other[i];
            work[i] = o->log_target ? sr_round_digits(orr_exp(work[i]), 10) : work[i];
        }
        struct column c = {.x = work, .rows = data->rows};
        say_column(said, o->end_name ? o->end_name[k] : o->target, where, &c);
    }
}

/* Names those of the columns of a table and of its target, y or, with --log-target, exp(y). work:
 * (rows) */
static void say_table(const struct sr_answer *o, const struct sr_data *data, const char *where,
                      double *work, struct said *said)
{
    const size_t rows = data->rows;
    for (int f = 0; f < sr_answer_features(o); f++) {
        struct column c = {.x = data->x + (size_t)f * rows, .rows = rows};
        say_column(said, o->names[f], where, &c);
    }
    if (data->low) {
        say_ends(o, data, where, work, said);
        return;
    }
    for (size_t i = 0; i < rows; i++) /* ten digits: the logarithm is rounded */
        work[i] = o->log_target ? sr_round_digits(orr_exp(data->y[i]), 10) : data->y[i];
    struct column c = {.x = work, .rows = rows};
    say_column(said, o->log_target && o->column ? o->column : o->target, where, &c);
}

/* Names those of the sigmas, which the weights were made from. */
static void say_sigmas(const struct sr_answer *o, double *work, struct said *said)
{
    const struct sr_data *data = o->data;
    if (!(o->variance > 0) || !data->weight || !o->weights)
        return;
    for (size_t i = 0; i < data->rows; i++) {
        const double sigma = sqrt(o->variance / data->weight[i]);
        work[i] = sr_round_digits(o->log_target ? sigma * orr_exp(data->y[i]) : sigma, 10);
    }
    struct column c = {.x = work, .rows = data->rows};
    say_column(said, o->weights, "", &c);
}

/* Names those of categories that are numbers. */
static void say_categories(const struct sr_answer *o, double *work, struct said *said)
{
    const struct sr_category *category = o->category;
    for (size_t i = 0; category && i < o->data->rows; i++) {
        char *end;
        work[i] = strtod(category->label[category->of_row[i]], &end);
        if (*end)
            return;
    }
    struct column c = {.x = work, .rows = o->data->rows};
    if (category)
        say_column(said, category->name, "", &c);
}

bool sr_remark_fill(const struct sr_answer *o, char *text, size_t bytes)
{
    struct said said = {.text = text, .bytes = bytes};
    const struct sr_data *second = o->test ? o->test->data : NULL;
    const bool left_out = o->table && o->table->without; /* these rows may have had them */
    const struct sr_data *all = left_out ? &o->table->whole : o->data;
    const size_t rows = second && second->rows > all->rows ? second->rows : all->rows;
    double *work = orr_alloc(rows + 1, sizeof *work);
    *text = '\0';
    if (!work) {
        orr_error_clear();
        return false;
    }
    say_table(o, all, "", work, &said);
    say_sigmas(o, work, &said);
    say_categories(o, work, &said);
    if (second)
        say_table(o, second, " of the test table", work, &said);
    free(work);
    if (*text)
        orr_append(
            text, bytes,
            ": if that stands for a missing value, `--missing-value %s` leaves these rows out%s",
            said.numbers, o->data->low ? ", and opens ends of intervals" : "");
    return *text != '\0';
}

/* Rows of sums are the first or the last one. */
bool sr_remark_total(const struct sr_answer *o, char *text, size_t bytes)
{
    const bool left_out = o->table && o->table->without; /* another remark has its line */
    const struct sr_data *data = left_out ? &o->table->whole : o->data;
    char names[512] = "", line[40] = "";
    *text = '\0';
    if (data->rows < 4 || o->log_target)
        return false;
    for (int end = 0; end < 2 && !*text; end++) {
        const size_t row = end ? 0 : data->rows - 1;
        for (int f = 0; f <= sr_answer_features(o); f++) {
            const bool target = f == sr_answer_features(o);
            if (is_total(target ? data->y : data->x + (size_t)f * data->rows, data->rows, row))
                orr_append(names, sizeof names, "%s%s", *names ? ", " : "",
                           target ? o->target : o->names[f]);
        }
        if (o->line && !left_out)
            snprintf(line, sizeof line, " (line %zu)", o->line[row]);
        if (*names)
            orr_append(text, bytes,
                       "row %zu of those used%s holds the sum of all other rows in %s: a row of "
                       "totals does not belong into the table",
                       row + 1, line, names);
    }
    return *text != '\0';
}
