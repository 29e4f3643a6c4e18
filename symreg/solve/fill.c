/* fill.c - numbers that files use where a value is missing, as 99999.9 or -999. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

/* Smallest and largest number of a column apart from those equal to `value`. */
struct others {
    size_t count, alike;
    double least, most;
};
static struct others others_of(const double *x, size_t rows, double value)
{
    struct others o = {.least = HUGE_VAL, .most = -HUGE_VAL};
    for (size_t i = 0; i < rows; i++) {
        if (x[i] == value) {
            o.alike++;
            continue;
        }
        o.count++;
        o.least = fmin(o.least, x[i]);
        o.most = fmax(o.most, x[i]);
    }
    return o;
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
    snprintf(text, sizeof text, "%.9g", fabs(value));
    for (const char *c = text; *c; c++) {
        if (*c != '9' && *c != '.')
            return false;
        nines += *c == '9';
        whole = whole && *c != '.';
    }
    return nines >= (value < 0 && whole ? 2 : 3);
}

/* The largest or smallest number of the column, where it is made of nines and farther from the
 * others than these are from each other, or alone below 0. */
static bool find_fill(const double *x, size_t rows, double *value, struct others *others)
{
    const struct others all = others_of(x, rows, NAN);
    for (int k = 0; k < 2 && rows > 3; k++) {
        *value = k ? all.least : all.most;
        if (!is_nines(*value))
            continue;
        *others = others_of(x, rows, *value);
        const double range = others->most - others->least,
                     gap = k ? others->least - *value : *value - others->most;
        if (others->count > 2 && others->alike <= others->count &&
            (gap > range || (*value < 0 && others->least >= 0)))
            return true;
    }
    return false;
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

bool sr_remark_fill(const struct sr_answer *o, char *text, size_t bytes)
{
    const struct sr_data *data = o->data;
    char numbers[256] = "";
    *text = '\0';
    for (int c = 0; c <= data->features; c++) {
        const bool target = c == data->features;
        const double *x = target ? data->y : data->x + (size_t)c * data->rows;
        struct others others;
        double value;
        char rows[160];
        if ((target && o->log_target) || !find_fill(x, data->rows, &value, &others))
            continue;
        orr_append(numbers, sizeof numbers, "%s%.9g", *numbers ? "," : "", value);
        list_rows(x, data->rows, value, others.alike, rows, sizeof rows);
        orr_append(text, bytes,
                   "%s%s is %.9g in row%s %s of those used, and %.6g to %.6g elsewhere",
                   *text ? "; " : "", target ? o->target : o->names[c], value,
                   others.alike > 1 ? "s" : "", rows, others.least, others.most);
    }
    if (*text)
        orr_append(
            text, bytes,
            ": if that stands for a missing value, `--missing-value %s` leaves these rows out",
            numbers);
    return *text != '\0';
}
