/* search.c - the search for formulas that the page runs in a worker. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/orrery.h"

enum { COLUMNS_MAX = 64, TEXT = 65536 };

/* Of the page: an epoch has ended; `best` is the formula of the smallest loss. */
#ifdef __wasm__
__attribute__((import_module("env"), import_name("lab_progress")))
#endif
void lab_progress(int epoch, double evaluations, double loss, const char *best);

static struct orrery_regression *fit;
static char text[TEXT];

static int report(const struct orrery_progress *progress, void *context)
{
    (void)context;
    lab_progress(progress->epoch, progress->evaluations, progress->loss, progress->best);
    return 0;
}

/* Lines of `from`, which is cut into them; returns how many. */
static int cut_lines(char *from, char *line[], int most)
{
    int n = 0;
    for (char *at = strtok(from, "\n"); at && n < most; at = strtok(NULL, "\n"))
        line[n++] = at;
    return n;
}

static int set_options(const char *options)
{
    char *copy = strdup(options), *line[COLUMNS_MAX];
    if (!copy)
        return ORRERY_ENOMEM;
    int status = ORRERY_OK;
    const int n = cut_lines(copy, line, COLUMNS_MAX);
    for (int i = 0; i < n && !status; i++) {
        char *value = strchr(line[i], '=');
        if (value)
            *value++ = '\0';
        status = orrery_regression_set(fit, line[i], value);
    }
    free(copy);
    return status;
}

int lab_search(const double *x, const double *y, int rows, int columns, const char *names,
               const char *options)
{
    char *name[COLUMNS_MAX + 1] = {NULL};
    char *copy = strdup(names);
    orrery_regression_free(fit);
    fit = NULL;
    if (!copy)
        return lab_note(ORRERY_ENOMEM, NULL);
    int status = cut_lines(copy, name, COLUMNS_MAX) == columns
                     ? orrery_regression_create(ORRERY_INTERFACE, &fit)
                     : ORRERY_EINVAL;
    if (!status)
        status = set_options(options);
    const struct orrery_table table = {.bytes = sizeof table,
                                       .rows = (size_t)rows,
                                       .columns = (size_t)columns,
                                       .order = ORRERY_COLUMNS,
                                       .x = x,
                                       .y = y,
                                       .names = (const char *const *)name};
    if (!status)
        status = orrery_regression_data(fit, &table);
    if (!status)
        status = orrery_regression_search(fit, 1, report, NULL);
    free(copy);
    return lab_note(status, fit);
}

int lab_rows(void)
{
    struct orrery_counts counts = {.bytes = sizeof counts};
    return fit && !orrery_regression_counts(fit, &counts) ? counts.rows : 0;
}

int lab_best(void)
{
    int row = -1;
    return fit && !orrery_regression_select(fit, "best", &row) ? row : -1;
}

static struct orrery_row row_of(int number)
{
    struct orrery_row row = {.bytes = sizeof row, .loss = NAN};
    if (fit)
        (void)orrery_regression_row(fit, number, &row);
    return row;
}

double lab_loss(int row)
{
    return row_of(row).loss;
}

int lab_complexity(int row)
{
    return row_of(row).complexity;
}

const char *lab_formula(int row, int notation)
{
    return fit && !lab_note(orrery_regression_print(fit, row, notation, text, sizeof text, NULL),
                            fit)
               ? text
               : NULL;
}

int lab_predict(int row, const double *x, int rows, int columns, double *y)
{
    const struct orrery_table table = {.bytes = sizeof table,
                                       .rows = (size_t)rows,
                                       .columns = (size_t)columns,
                                       .order = ORRERY_COLUMNS,
                                       .x = x};
    return lab_note(fit ? orrery_regression_predict(fit, row, &table, y) : ORRERY_EMISSING, fit);
}
