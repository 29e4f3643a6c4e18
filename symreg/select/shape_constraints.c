/* shape_constraints.c - what a formula is required to be over the range of its table: monotone in
 * columns, positive, with constants between bounds. */
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

enum {
    ROWS = 256, /* of the table, evenly spaced */
    LINES = 16, /* rows from which a line runs along each column, */
    POINTS = 17 /* over the range of the column */
};
/* Slopes and values of the wrong sign that are rounding, as a share of the largest. */
static const double rounding = 1e-9;

int sr_shape_monotone(struct sr_shape *shape, const char *text, const char *const *names,
                      int features)
{
    for (const char *at = text; at;) {
        struct orr_nearest nearest = {0};
        char name[256];
        const size_t blanks = strspn(at, " "), quoted = sr_name_quoted(at + blanks);
        const size_t length = blanks + quoted + strcspn(at + blanks + quoted, "=,");
        const char *const sign = at + length + 1;
        if (at[length] != '=' || (*sign != '+' && *sign != '-') || (sign[1] && sign[1] != ',') ||
            !sr_name_read(at, length, name, sizeof name))
            return ORR_FAIL(ORR_EUSAGE,
                            "--monotone: expected column=+ or column=-, a name with \",\" or "
                            "\"=\" in double quotes, found \"%s\" in \"%s\"",
                            at, text);
        const int f = sr_feature_find(name, names, features, &nearest);
        if (f < 0)
            return ORR_FAIL(ORR_EUSAGE, "--monotone: \"%s\" is no feature%s%s%s", name,
                            nearest.name ? "; did you mean \"" : "",
                            nearest.name ? nearest.name : "", nearest.name ? "\"?" : "");
        if (shape->slope[f])
            return ORR_FAIL(ORR_EUSAGE, "--monotone: \"%s\" stands twice", name);
        shape->slope[f] = *sign == '+' ? 1 : -1;
        at = sign[1] ? sign + 2 : NULL;
    }
    return 0;
}

int sr_shape_bounds(const char *text, double *low, double *high)
{
    char *end;
    *low = strtod(text, &end);
    const bool first = end != text && *end == ',';
    const char *const second = first ? end + 1 : text;
    *high = strtod(second, &end);
    return first && end != second && !*end && *low < *high
               ? 0
               : ORR_FAIL(ORR_EUSAGE,
                          "--constrain-constants: expected LOW,HIGH, two numbers of which the "
                          "second is larger, or \"k>0, 0<p<1\" of a template, found \"%s\"",
                          text);
}

/* Lines along a column: all other columns as in a row. */
static void fill_lines(const struct sr_data *all, int feature, size_t lines, size_t rows, double *x)
{
    double low, high;
    gsl_stats_minmax(&low, &high, all->x + (size_t)feature * all->rows, 1, all->rows);
    for (size_t i = 0; i < lines * POINTS; i++) {
        const size_t row = i / POINTS * all->rows / lines;
        for (int f = 0; f < all->features; f++)
            x[(size_t)f * rows + i] = all->x[(size_t)f * all->rows + row];
        x[(size_t)feature * rows + i] =
            low + (high - low) * (double)(i % POINTS) / (double)(POINTS - 1);
    }
}

int sr_shape_make(struct sr_shape *shape, const struct sr_data *all)
{
    const size_t plain = all->rows < ROWS ? all->rows : ROWS;
    size_t lines = all->rows < LINES ? all->rows : LINES, at = 0;
    int along = 0;
    for (int f = 0; f < all->features; f++)
        along += shape->slope[f] != 0 || (shape->positive && all->features <= 8);
    const size_t rows = plain + (size_t)along * lines * POINTS;
    double *x = orr_alloc((size_t)all->features * rows, sizeof *x);
    if (!x)
        return ORR_ENOMEM;
    for (int f = 0; f < all->features; f++) {
        if (!(shape->slope[f] != 0 || (shape->positive && all->features <= 8)))
            continue;
        fill_lines(all, f, lines, rows, x + at);
        shape->along[shape->columns++] = f;
        at += lines * POINTS;
    }
    for (size_t i = 0; i < plain; i++)
        for (int f = 0; f < all->features; f++)
            x[(size_t)f * rows + at + i] = all->x[(size_t)f * all->rows + i * all->rows / plain];
    shape->lines = (int)lines;
    shape->storage = x;
    shape->points = (struct sr_data){
        .rows = rows, .features = all->features, .x = x, .language = all->language};
    return 0;
}

void sr_shape_free(struct sr_shape *shape)
{
    free(shape->storage);
    shape->storage = NULL;
}

static double largest(const double *value, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(value[i]));
    return most;
}

/* Whether the slope by a feature has its sign at every point, and values rise, or fall, along its
 * lines, which slopes do not say of formulas that jump. */
static bool is_monotone(const struct sr_shape *shape, int k, const double *value,
                        const double *slope)
{
    const int feature = shape->along[k], sign = shape->slope[feature];
    const size_t rows = shape->points.rows, first = (size_t)k * (size_t)shape->lines * POINTS;
    const double *of = slope + (size_t)feature * rows;
    const double least = -rounding * largest(of, rows),
                 least_step = -rounding * largest(value, rows);
    for (size_t i = 0; i < rows; i++)
        if (!(sign * of[i] >= least))
            return false;
    for (size_t i = first; i + 1 < first + (size_t)shape->lines * POINTS; i++)
        if ((i - first) % POINTS + 1 < POINTS && !(sign * (value[i + 1] - value[i]) >= least_step))
            return false;
    return true;
}

bool sr_shape_holds(const struct sr_shape *shape, const struct sr_language *language,
                    const struct sr_expr *expr)
{
    struct sr_data points = shape->points;
    const size_t rows = points.rows;
    double *value = orr_alloc_unset(((size_t)points.features + 1) * rows, sizeof *value);
    points.language = language;
    bool holds = value && sr_eval_slopes(expr, &points, value, value + rows);
    for (int k = 0; k < shape->columns && holds; k++)
        if (shape->slope[shape->along[k]])
            holds = is_monotone(shape, k, value, value + rows);
    for (size_t i = 0; i < rows && holds && shape->positive; i++)
        holds = value[i] > 0;
    free(value);
    return holds;
}
