/* read_fronts.c - the laws of laws/laws.json against the Pareto fronts beside it: a law is a
 * formula of r, m1, m2 and a row of the front that it was selected from. */
#include "report.h"
#include "formula/expr.h"

#include <math.h>
#include <string.h>

enum column { COMPLEXITY, LOSS, EQUATION, COLUMNS };
static const char *const names[COLUMNS] = {"Complexity", "Loss", "Equation"};

/* A front is read once for the rules that select from it. */
struct front {
    char path[REPORT_PATH];
    struct orr_csv csv;
    int column[COLUMNS];
};

static int check_formula(const char *path, size_t index, const struct report_law *law)
{
    static const char *const features[] = {"r", "m1", "m2"};
    char why[512];
    struct sr_expr expr;
    if (!sr_expr_parse(NULL, law->equation, features, 3, &expr))
        return 0;
    snprintf(why, sizeof why, "%s", orr_error());
    orr_error_recover();
    return ORR_FAIL(ORR_EFORMAT,
                    "%s: laws[%zu]: \"equation\": expected a formula of r, m1 and m2, found "
                    "\"%.200s\": %s",
                    path, index, law->equation, why);
}

static int open_front(struct front *front, const char *path)
{
    orr_csv_free(&front->csv);
    front->csv = (struct orr_csv){0};
    TRY(orr_path(front->path, "%s", path));
    TRY(orr_csv_read(path, ORR_CSV_KEEP_TEXT, &front->csv));
    for (int c = 0; c < COLUMNS; c++) {
        front->column[c] = orr_csv_column(&front->csv, names[c]);
        if (front->column[c] < 0)
            return ORR_FAIL(ORR_EFORMAT, "%s: no column \"%s\"", path, names[c]);
    }
    return 0;
}

/* Whether a number of a law is that of a front, which has 9 digits; a law need not have it. */
static bool is_equal(double of_law, double of_front)
{
    return !isfinite(of_law) || fabs(of_law - of_front) <= 1e-8 * fabs(of_law);
}

static bool has_row(const struct front *front, const struct report_law *law)
{
    const struct orr_csv *csv = &front->csv;
    for (size_t row = 0; row < csv->rows; row++) {
        const double *value = csv->values + row * csv->cols;
        const char *equation = csv->cells[row * csv->cols + (size_t)front->column[EQUATION]];
        if (!strcmp(equation, law->equation) &&
            is_equal(law->complexity, value[front->column[COMPLEXITY]]) &&
            is_equal(law->loss, value[front->column[LOSS]]))
            return true;
    }
    return false;
}

static int check_row(const struct report_run *run, const char *path, size_t index,
                     struct front *front)
{
    char of_law[REPORT_PATH];
    const struct report_law *law = &run->law[index];
    TRY(orr_path(of_law, "%s/laws/front_%s_%d.csv", run->path, run->source[law->source].name,
                 law->sample));
    if (!orr_exists(of_law)) /* files that laws.json names are checked by figures/origin.c */
        return 0;
    if (strcmp(of_law, front->path) != 0)
        TRY(open_front(front, of_law));
    if (has_row(front, law))
        return 0;
    return ORR_FAIL(ORR_EFORMAT,
                    "%s: laws[%zu]: expected a row of %s, found \"%.200s\" of complexity %g and "
                    "loss %.9g",
                    path, index, of_law, law->equation, law->complexity, law->loss);
}

int report_check_laws(const struct report_run *run, const char *path)
{
    struct front front = {.path = ""};
    int rc = 0;
    for (size_t i = 0; i < run->law_count && !rc; i++) {
        rc = check_formula(path, i, &run->law[i]);
        rc = rc ? rc : check_row(run, path, i, &front);
    }
    orr_csv_free(&front.csv);
    return rc;
}
