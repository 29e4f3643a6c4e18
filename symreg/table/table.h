/* table.h - bin/symreg on any table: options, a Pareto front, its report. */
#ifndef SR_TABLE_H
#define SR_TABLE_H

#include "stage/cli.h"
#include "symreg/symreg.h"

/* ------------------------------------------------------------------------------- notations */

/* The columns of a table and their names in C and SymPy: words of ASCII letters, digits and "_", no
 * two alike and none that is a keyword or a name of <math.h> or SymPy. A column whose own name is
 * such a word keeps it. */
enum { SR_EXPORT_NAME = 64 };
struct sr_export {
    int features;
    const char *const *column;              /* (features), the caller's */
    char name[SR_FEATURES][SR_EXPORT_NAME]; /* (features) */
};
void sr_export_make(struct sr_export *names, const char *const *columns, int features);
/* Whether the exported name of a feature is another than its column's. */
bool sr_export_renamed(const struct sr_export *names, int feature);
/* sr_expr_text() with the names that the notation takes. */
void sr_expr_write(const struct sr_language *language, const struct sr_expr *expr,
                   enum sr_notation notation, const struct sr_export *names, char *text,
                   size_t bytes);

/* Weights 1/y^2 into weight (rows), for noise in proportion to y: rows whose |y| is below a tenth
 * of the median |y| get that one's. False when the median is 0 or its square is no number; then
 * weights may be infinite. */
bool sr_weights_relative(const double *y, size_t rows, double *weight);
/* The options of CSV mode as given, NULL where not; docs/symreg.md has their meaning. Those that
 * set a setting of the preset (--maxsize, --seconds, ...) are not among them. */
struct sr_csv_options {
    const char *target, *features, *weights, *log_target;
    const char *units, *units_penalty;
    const char *define, *loss, *guess;
    const char *constrain, *nest, *complexity, *maxdepth;
    const char *batch, *rule, *permutations;
    const char *sigma;   /* a column of standard deviations of the target */
    const char *test;    /* a second table, NULL: none */
    const char *missing; /* drop or error */
    bool use_seconds;    /* seconds given without iterations: the whole time is used */
};
/* CSV mode: any table in, a Pareto front out. */
int sr_csv_run(const struct orr_cli *cli, const char *file, const struct sr_csv_options *options);

/* The same of a table that is there already, which it frees; `file` is where it came from. */
int sr_csv_run_cells(const struct orr_cli *cli, const char *file, struct orr_csv *csv,
                     const struct sr_csv_options *options);

/* Prints the values of a formula of a front.json on the rows of a table as CSV: one column with the
 * target's name, a line for each row of the table, nan where the formula is not finite, and empty
 * where a value is missing with `missing` drop. NULL: not given. */
struct sr_predict_options {
    const char *index, *rule, *missing; /* a row from 1 on; else what a rule selects, best */
    bool quiet;
};
int sr_predict_run(const char *front, const char *file, const struct sr_predict_options *options);

#endif
