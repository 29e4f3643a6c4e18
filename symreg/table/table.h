/* table.h - bin/symreg on any table: options, search, Pareto front and report. */
#ifndef SR_TABLE_H
#define SR_TABLE_H

#include "stage/cli.h"
#include "symreg/symreg.h"

/* ------------------------------------------------------------------------------- notations */

/* The columns of a table and their names in C and SymPy: unique words of ASCII letters, digits and
 * "_" that are not keywords or names of <math.h> or SymPy. A column whose name already is such a
 * word keeps it. */
enum { SR_EXPORT_NAME = 64 };
struct sr_export {
    int features;
    const char *const *column;              /* (features) owned by the caller */
    char name[SR_FEATURES][SR_EXPORT_NAME]; /* (features) */
};
void sr_export_make(struct sr_export *names, const char *const *columns, int features);
/* Whether the exported name of a feature differs from its column's. */
bool sr_export_renamed(const struct sr_export *names, int feature);
/* sr_expr_text() with the names appropriate to the notation. */
void sr_expr_write(const struct sr_language *language, const struct sr_expr *expr,
                   enum sr_notation notation, const struct sr_export *names, char *text,
                   size_t bytes);

/* Fills weight (rows) with 1/y^2, for noise proportional to y. Rows with |y| below a tenth of the
 * median |y| get the weight of that tenth. False when the median is 0 or its square is not
 * representable; weights may then be infinite. */
bool sr_weights_relative(const double *y, size_t rows, double *weight);
/* Options of CSV mode as given, NULL where absent; docs/symreg.md explains them. Options that set a
 * setting of the preset (--maxsize, --seconds, ...) are not included. */
struct sr_csv_options {
    const char *target, *features, *exclude, *require, *weights, *log_target;
    const char *units, *units_penalty, *constants;
    const char *define, *loss, *guess;
    const char *form; /* a template with unknown functions */
    const char *constrain, *nest, *complexity, *maxdepth;
    const char *batch, *rule, *permutations;
    const char *alternatives;    /* how many formulas beside each row of the front */
    const char *sigma;           /* column of the target's standard deviations */
    const char *category;        /* column whose values have constants of their own */
    const char *test;            /* file of a second table; NULL: none */
    const char *missing;         /* drop or error */
    const char *round_constants; /* likely, digits, integers or rationals; NULL: likely */
    const char *other_targets;   /* columns that are no features by default, each in quotes */
    bool use_seconds;            /* --seconds without --iterations: the whole time is used */
    /* Factor of the variances of constants, where errors of rows with sigmas are not independent.
     * The variances are also multiplied by chi^2 per degree of freedom where that is above 1.
     * 0: neither */
    double variance_factor;
    const char *remark; /* about the table, for the terminal and report.md; NULL: none */
    const char *made;   /* the text of a table that was made, kept in --out as accelerations.csv */
};
/* CSV mode: reads a table, or takes options->made, and reports a Pareto front. `file` names the
 * table, or what it was made from; errors in cells of the latter name SR_TABLE_OF_MOTION. */
#define SR_TABLE_OF_MOTION "table of motion"
int sr_csv_run(const struct orr_cli *cli, const char *file, const struct sr_csv_options *options);

/* sr_csv_run() for each column of --target A,B in turn, into folders of --out with their names. The
 * other targets are no features unless --features names them. A target that fails is reported and
 * does not end the others; the error at the end names those that failed. */
int sr_csv_run_targets(const struct orr_cli *cli, const char *file,
                       const struct sr_csv_options *options);

/* Prints the values of a formula of a front.json on the rows of a table as CSV: one column with the
 * target's name, and a line for each row. With `interval` two more columns, low and high: a new
 * observation is between them with this probability. A value is nan where the formula is not
 * finite, and empty where a cell is missing with `missing` drop. NULL: option absent. */
struct sr_predict_options {
    /* a row number from 1 on, or a rule; default: the rule best */
    const char *index, *rule, *missing;
    const char *interval; /* percent */
    bool quiet;
};
int sr_predict_run(const char *front, const char *file, const struct sr_predict_options *options);

#endif
