/* solve.h - from a table to an answer, for every user of the engine: the program, the library,
 * permutations, motion.
 *
 *   options     what is asked, as texts (struct sr_csv_options)
 *   table       columns and their roles: target, features, weights, sigmas, categories
 *   setup       the settings, language, constraints and guesses of one search
 *   sr_solve()  weights, a sample of rows, the search, constants on all rows, the judgement of the
 *               front, alternatives, names of constants, the test table: in this order, here alone
 *
 * Files and terminals are the caller's (symreg/table/). */
#ifndef SR_SOLVE_H
#define SR_SOLVE_H

#include <stdatomic.h>

#include "base/stop.h"
#include "notations.h"
#include "options.h"
#include "symreg/layout/layout.h"

/* Fills weight (rows) with 1/y^2, for noise proportional to y. Rows with |y| below a tenth of the
 * median |y| get the weight of that tenth. False when the median is 0 or its square is not
 * representable; weights may then be infinite. */
bool sr_weights_relative(const double *y, size_t rows, double *weight);
enum {
    SR_COLUMNS = 1024,      /* columns offered as features, at most */
    SR_LARGE_TABLE = 10000, /* tables with more rows are searched on a sample */
};

/* Constants of each category in the formulas of a front (docs/symreg.md, --category). Formulas have
 * columns for them, which follow the features and are named c1[star], c2[star] ... The columns hold
 * the constants of one row of the front at a time. */
enum { SR_PRINTED_CATEGORIES = 20, SR_REPORTED_CATEGORIES = 1000 };
enum { SR_PARAMETERS = 16, SR_PARAMETER_NAME = 128 };
struct sr_category {
    const char *name; /* of the column, owned by the table */
    int count;        /* categories, in the order of their first rows */
    char **label;     /* (count) numbers as sr_number_print() */
    int *of_row;      /* (rows) */
    double *column;   /* (SR_PARAMETERS, rows) the columns, owned by the table */
    int most;         /* columns that the formulas use; the table has them as features */
    char parameter[SR_PARAMETERS][SR_PARAMETER_NAME];
    struct sr_category_row {
        int parameters;
        double *value, *error;   /* (parameters, count) owned; errors are NaN where not known */
        double shared[SR_NODES]; /* standard errors of the formula's other constants */
    } row[SR_NODES + 1];         /* of the front */
};
/* The number of features of the table, without those columns. category may be NULL. */
static inline int sr_category_features(const struct sr_data *data,
                                       const struct sr_category *category)
{
    return data->features - (category ? category->most : 0);
}
struct sr_table;
struct sr_missing;
/* Reads the column's cells. ORR_EFORMAT names the line of an empty cell. `like`: the categories
 * that are known; another one is ORR_EINVAL, which lists them. NULL: all are new. */
int sr_category_read(const struct orr_csv *csv, const char *file, int column,
                     const struct sr_category *like, struct sr_category **category);
/* The categories of the listed rows, without those that have none among them. */
int sr_category_sample(const struct sr_category *category, const size_t *row, size_t rows,
                       struct sr_category **sample);
/* Whether a name is that of a constant of each category, as c1[star]. */
bool sr_category_takes_name(const char *category, const char *name);
void sr_category_free(struct sr_category *category);
/* The number of a label; -1: there is none. */
int sr_category_find(const struct sr_category *category, const char *label);
/* The label of a cell. */
const char *sr_category_label(const struct orr_csv *csv, size_t row, int column,
                              char number[SR_NUMBER]);
/* Reports a label that the front does not know. */
int sr_category_unknown(const char *file, size_t line, const char *column, const char *label,
                        char *const *known, int count);
/* Tells a fit of the table's rows their categories, if any. */
void sr_category_give(const struct sr_table *table, struct sr_fit *fit);
/* Discards the constants of a front, and the columns that stand for them. */
void sr_category_forget(struct sr_table *table);
/* sr_front_finish() and sr_front_judge() for a table with categories: fits and shares constants and
 * writes those of each category as columns, which the table then has as features. Equivalent forms
 * are tried until forms_until_s (orr_time_s(); 0: all). */
int sr_category_finish(const struct sr_settings *settings, double forms_until_s,
                       struct sr_table *table, struct sr_fit *fit);
/* Fills the columns of `rows_of` with the constants that row `row` of the front has in `fitted`. */
void sr_category_enter(const struct sr_category *fitted, const struct sr_category *rows_of,
                       size_t rows, int row);

/* Rows removed by --missing drop and --missing-value, and a list of the columns that lacked values,
 * with counts. */
struct sr_dropped {
    size_t rows;
    char columns[1024];
};

/* Columns of dates, which became days since the first of them. */
enum { SR_DATES = 16 };
struct sr_dates {
    int count;
    struct {
        const char *name; /* owned by the table */
        double first;     /* days since 1970-01-01 */
    } of[SR_DATES];
};

/* A table read from a file: the chosen columns, x column-major. */
struct sr_table {
    struct orr_csv csv;
    const char *file; /* of sr_table_read(), in messages; NULL: none */
    const char *name[SR_FEATURES];
    const char *target, *weights; /* column names; weights: NULL without weights, "" for 1/y^2 */
    struct sr_category *category; /* NULL without --category */
    /* the data that is fitted; with --log-target, y is the logarithm of the column */
    struct sr_data data;
    double *x_variance; /* storage of data.x_variance; NULL without --sigma-x */
    double *interval;   /* (2, rows) storage of data.low and data.high; NULL: targets are numbers */
    struct sr_data whole; /* with odd rows, which were left out (sr_odd_choose()) */
    double *without;      /* storage of data then; NULL: none was left out */
    size_t *whole_line;
    int odds; /* these rows, from 1, and their lines, or 0 */
    size_t odd[SR_ODDS], odd_line[SR_ODDS];
    bool odds_late;          /* they were found after the search, which had them */
    char *stem;              /* the target's name where it has no column of its own; else NULL */
    const char *end_name[2]; /* columns of the interval; NULL: targets are numbers */
    double *x_weight;   /* weights of the search with --sigma-x (sr_x_errors_weigh()); else NULL */
    double variance;    /* with --sigma: the variance of a row of weight 1; else 0 */
    double weight_mean; /* mean of the weights before they were scaled to mean 1; else 0 */
    bool relative;      /* the weights are 1/y^2, not a column */
    /* numbers are moved out of csv where all cells are finite; csv.values is NULL then, and a large
     * table in memory once */
    bool moves;
    struct sr_expr by; /* sr_noise_choose() chose weights 1/y^2, y predicted by it; count 0: not */
    struct sr_digits digits[SR_FEATURES + 1]; /* storage of data.digits */
    double *block;                            /* storage of all arrays */
    int columns; /* columns offered as features, of which data.features are used */
    struct sr_dropped dropped;
    size_t *line; /* (rows) of the file, where csv has no rows any more; NULL: not kept */
    struct sr_dates dates;
    char *units; /* of the columns used, by the file, in the form of --units; NULL: it has none */
};
/* Reads a file (sr_cells_read()). */
int sr_table_read(const char *file, const struct sr_csv_options *options, struct sr_table *table);
/* Fills the table from table->csv, which the caller has read; `file` is used in messages. */
int sr_table_fill(const char *file, const struct sr_csv_options *options, struct sr_table *table);
/* Fills another table from table->csv with the features, target and weights of `like`. */
int sr_table_fill_like(const char *file, const struct sr_csv_options *options,
                       const struct sr_table *like, struct sr_table *table);
/* Reads another table with the features, target and weights of `like`. */
int sr_table_read_like(const char *file, const struct sr_csv_options *options,
                       const struct sr_table *like, struct sr_table *table);
/* Gives a table without weights 1/y^2, scaled to mean 1, of y as predicted by the formula (NULL: of
 * the column itself); false where that is not finite, or sr_weights_relative() is. */
bool sr_table_weigh(struct sr_table *table, const struct sr_expr *prediction);
/* Takes away weights that a search chose (table->by). */
void sr_table_unweigh(struct sr_table *table);
/* Checks the name of a column in that line, from 0: its bytes, and that no formula takes it for a
 * number. ORR_EFORMAT. */
int sr_column_name_check(const char *file, size_t line, int column, const char *name);
int sr_feature_name_check(const char *file, size_t line, int column, const char *name);
/* Whether a name reads as a number. */
bool sr_name_is_number(const char *name);
/* The column that an option's text names: exactly, or without its quotes and surrounding blanks.
 * -1: there is none. */
int sr_column_of(const struct orr_csv *csv, const char *text);
/* Rejects a table whose first line consists of numbers, as it has no header. */
int sr_header_check(const struct orr_csv *csv, const char *file);
/* Finds a column. `word`: a keyword that may stand in place of a column; NULL for none. The error
 * lists the existing columns. */
int sr_column_find(const struct orr_csv *csv, const char *file, const char *name, const char *word,
                   int *column);
/* Writes what to do about a column of dates. */
void sr_date_tell(const struct orr_csv *csv, int column, char text[300]);
/* What is wrong with a cell that is nearly a number, and what to do; "": it is none. */
const char *sr_cell_tell(const char *cell);
/* Finds a column by name. The error lists the existing columns. */
int sr_table_column(const struct orr_csv *csv, const char *file, const char *name, int *column);
/* Reports a cell of a column of dates that is none. */
int sr_table_wrong_date(const struct orr_csv *csv, const char *file, size_t row, int column);
/* Reports a cell that is not a finite number, or the one that is no date in a column of them. */
int sr_table_wrong_cell(const struct orr_csv *csv, const char *file, size_t row, int column);
/* Reports a time that is not behind that of the row before: of the track or body `of` ("body
 * "a"": ", or ""), with what to do ("; ...", or ""). */
int sr_table_time_falls(const struct orr_csv *csv, const char *file, size_t before, size_t row,
                        int column, const char *of, const char *advice);
/* Reads the first name of a list of columns like sr_name_next(); ORR_EUSAGE names the option. */
int sr_column_next(const char *option, const char *list, const char **at, char *name, size_t bytes);
/* Finds the columns of a list, of at most `most` different ones, and adds them to *count others
 * that were found. ORR_EUSAGE names the option. */
int sr_table_columns(const struct orr_csv *csv, const char *file, const char *option,
                     const char *list, int most, int *column, int *count);
/* Standard deviations of features, as --sigma-x has them: of a column of the table, or a number
 * where column is -1. */
struct sr_sigma_x {
    int feature, column;
    double number;
};
struct sr_sigmas_x {
    int count;
    struct sr_sigma_x of[SR_COLUMNS];
};
/* Reads "x=sx, z=0.1". ORR_EUSAGE names what is wrong. */
int sr_sigmas_x_read(const struct orr_csv *csv, const char *file, const char *text, int target,
                     struct sr_sigmas_x *all);
/* Whether a column has standard deviations of a feature. */
bool sr_sigmas_x_use(const struct sr_sigmas_x *all, int column);
/* Fills table->x_variance for the features in these columns; table->variance is known. */
int sr_sigmas_x_fill(const char *file, const struct sr_sigmas_x *all, const int *column,
                     int features, struct sr_table *table);
/* Gives the table variances of x that are all 0. */
int sr_x_variance_make(struct sr_table *table);
/* The columns of "LOW,HIGH". ORR_EUSAGE names what is wrong. */
int sr_interval_columns(const struct orr_csv *csv, const char *file, const char *text,
                        int column[2]);
/* What the target is called: what the names of both columns begin with, else y. The caller frees
 * it; NULL: no memory. */
char *sr_interval_name(const struct orr_csv *csv, const int column[2]);
/* Reads both columns into table->interval, and writes the middles of the intervals in place of the
 * first column. */
int sr_interval_read(const char *file, const int column[2], const struct sr_missing *what,
                     struct sr_table *table);
/* Gives the table's data the intervals of table->interval, with --log-target their logarithms; low
 * ends of 0 and below are open then, and a high end must be above 0: ORR_EINVAL names the line. */
int sr_interval_give(const char *file, bool logarithm, struct sr_table *table);
/* Refuses what intervals do not go with. ORR_EUSAGE. */
struct sr_csv_setup;
int sr_interval_refuse(const struct sr_csv_options *options, const struct sr_csv_setup *setup,
                       enum orr_symreg_loss loss);
/* What counts as a missing value: cells as sr_cell_is_missing() knows them, and numbers, also as
 * single precision stores them. */
enum { SR_MISSING_NUMBERS = 16 };
struct sr_missing {
    bool cells;
    int numbers;
    double number[SR_MISSING_NUMBERS];
    const int *end; /* (2) columns of an interval: the first counts where both lack; NULL: none */
};
/* Reads --missing and --missing-value; NULL: not given. ORR_EUSAGE. */
int sr_missing_read(const char *missing, const char *numbers, struct sr_missing *what);
/* Whether a cell, NULL where only its number is known, counts as missing. */
bool sr_is_missing(const struct sr_missing *what, const char *cell, double value);
/* Removes the rows of csv that have a missing value in one of the columns. *dropped: how many, and
 * in which columns. */
int sr_table_drop_missing(struct orr_csv *csv, const struct sr_missing *what, const int *column,
                          int count, struct sr_dropped *dropped);
/* Prints what was left out, if anything; kept: the rows that remain. */
void sr_dropped_note(const struct sr_dropped *dropped, const char *file, size_t kept, bool quiet);
/* Reduces the *count columns to `most`, in their order: those of `wanted` that are among them, and
 * those most related to the target. */
int sr_table_select(const struct orr_csv *csv, int goal, int most, const int *wanted,
                    int wanted_count, int *column, int *count);
/* Prints which parts of the table were not used: lines before the header, columns of text. */
void sr_table_notes(const struct sr_table *table, const char *file,
                    const struct sr_csv_options *options, bool quiet);
/* Draws `rows` rows without replacement into a separate table. */
int sr_table_sample(const struct sr_table *table, size_t rows, uint64_t seed,
                    struct sr_table *sample);
void sr_table_free(struct sr_table *table);

/* Rows that are far from what other rows say, as no normal noise has them (huber_tails.c). */
struct sr_tails {
    double scale;     /* 1.4826 times the median |residual| of the formula that leaves the least */
    size_t rows, far; /* rows looked at, and those more than 8 scales of rows of their size away */
    bool alone;       /* the far rows are no neighbours, as where a formula lacks something */
};
/* Settings of one search: the preset's, changed by options, with user-defined operators, loss and
 * prices, constraints, units and guesses. */
struct sr_csv_setup {
    struct sr_settings settings;
    struct sr_language *language; /* owned; used by the settings */
    struct orr_name_list rules;   /* rules to report */
    enum sr_rule rule;            /* the rule whose formula the report describes */
    size_t batch;                 /* rows, 0 = all */
    int permutations;             /* number of searches on shuffled targets */
    char *about;                  /* text of the options, for checkpoints */
    char *define; /* named constants and user-defined operators as text; NULL: none */
    struct sr_constraints constraints;
    struct sr_units units;
    struct sr_shape shape;
    struct sr_expr guess[ORR_LIST];
    struct sr_template form;  /* of settings.form */
    char loss[256];           /* the loss as text */
    struct sr_tails tails;    /* for which huber was chosen; rows 0: it was not */
    struct sr_recall *recall; /* of settings.recall, owned; NULL: none */
};
/* Checks that the loss has all targets of a table. ORR_EUSAGE names the file (NULL: it has none),
 * the line and the column, log(y) with --log-target. */
int sr_targets_check(enum orr_symreg_loss loss, const struct sr_csv_options *options,
                     const struct sr_table *table, const char *file);
int sr_csv_setup(const struct orr_settings *settings, const struct sr_csv_options *options,
                 const struct sr_table *table, struct sr_csv_setup *setup);
/* Also after an error of sr_csv_setup(). A zeroed setup needs no free. */
void sr_csv_setup_free(struct sr_csv_setup *setup);

/* Changes the text of the options to one with weights that were chosen. */
#define SR_WEIGHTS_CHOSEN "1/prediction^2"
int sr_csv_setup_weigh(const struct sr_csv_options *options, struct sr_csv_setup *setup);

/* Medians of |prediction|, |residual| and their ratio, in the quarters of rows with the smallest
 * and with the largest predictions. */
struct sr_quarters {
    double size[2], residual[2], ratio[2];
    /* relative residuals beside those of the nearest rows: 1 like noise, near 0 like lack of fit */
    double roughness[2];
};
int sr_quarters_measure(const struct sr_data *data, const struct sr_expr *expr,
                        struct sr_quarters *quarters);
/* Whether residuals grow nearly as predictions do, over a factor of ten and more, which suggests
 * noise in proportion to the target; they must be between 0.01% and 25% of a prediction. A formula
 * that lacks something has such residuals, too, whatever the noise. So small predictions must not
 * have residuals that are more like noise than those of large ones. */
bool sr_quarters_proportional(const struct sr_quarters *quarters);
/* Before the search of a table without weights, by least squares: searches for a moment (3,000
 * formulas, 1,000 rows), and where the residuals are sr_quarters_proportional() gives the table the
 * weights 1/y^2, y as its formula predicts it: weights from noisy values would bias constants.
 * table->by is this formula. The time counts as the search's (settings.spent_s). The choice depends
 * neither on threads nor on time; a search that is resumed keeps its own. Nothing is chosen where
 * the options name weights, or for a search of less than 4 seconds or 3,000 formulas. */
int sr_noise_choose(struct sr_table *table, const struct sr_csv_options *options,
                    struct sr_csv_setup *setup, int threads);

/* Whether a search has time for a short one before it, and begins as that does. */
bool sr_has_time_before(const struct sr_settings *settings);
/* Searches for a moment on some rows. The number of formulas limits it, so that the answer does not
 * depend on the machine. The caller frees sample and *fit, after errors too. */
int sr_search_briefly(const struct sr_table *table, const struct sr_csv_setup *setup, int threads,
                      struct sr_table *sample, struct sr_fit **fit);
/* Before the search of a table by least squares in which few rows have fill values, are outside of
 * what others span, or one or two are far from their neighbours: searches for a moment with and
 * without them, and where sr_front_find_odd() finds odd rows by the second search, the table's data
 * goes on without them (table->odd). Depends on neither threads nor time. */
int sr_odd_choose(struct sr_table *table, const struct sr_csv_options *options,
                  struct sr_csv_setup *setup, int threads);
/* After the search: rows that are not far from the formula of rule best come back. *changed: some
 * did, and constants and losses are those of fewer rows. */
int sr_odd_review(struct sr_table *table, struct sr_fit *fit, bool *changed);
/* After the search: where rule best or mdl selects another formula without odd rows that
 * sr_front_judge() found, the table's data goes on without them. *changed: constants and losses are
 * those of more rows. */
int sr_odd_leave(struct sr_table *table, const struct sr_csv_options *options, struct sr_fit *fit,
                 bool *changed);
/* Makes a table's data the rows that are not marked, and lists the `count` others (table->odd). */
int sr_table_leave_out(struct sr_table *table, const bool *marked, size_t count);
/* The table with all rows again. */
void sr_table_restore(struct sr_table *table);
/* Marks the rows that have fill values, in a column or the target, as sr_remark_fill() names them,
 * and a first or last one of totals. */
void sr_rows_filled(const struct sr_data *data, bool *filled);
/* Notes the fill values in the columns of tracks, a list of names as an option has it, or NULL. */
void sr_fill_note(const struct orr_csv *csv, const char *file, const char *list, bool quiet);
/* Marks the rows whose target is far from those of their neighbours, which agree; none in tables of
 * more than SR_NEAR_COLUMNS columns. ORR_ENOMEM. */
int sr_rows_far(const struct sr_data *data, bool *far);

/* Before the search of a table with errors in x: searches for a moment, and fills table->x_weight
 * with the weights that the rows have by the slopes of the most likely formula. The search itself
 * takes x for exact, with these weights. Depends on neither threads nor time. */
int sr_x_errors_weigh(struct sr_table *table, struct sr_csv_setup *setup, int threads);

/* ---- tails of the noise (huber_tails.c) */

/* Whether three rows or more, and one in a hundred, are far from all of their six neighbours in
 * the columns; tables of more than three columns are not suspected. A quick test of at most 1,000
 * rows. */
bool sr_tails_suspected(const struct sr_data *data);
/* Measures the residuals of formulas, whose constants are fitted again to absolute deviations. */
int sr_tails_measure(const struct sr_fit *fit, struct sr_tails *tails);
/* By a short search: makes least squares the loss huber where three rows or more, one in a hundred
 * and up to one in five, are far and alone (setup->tails); and where settings.follows, the
 * parameter 1.345 times the scale of the residuals. */
int sr_tails_choose(struct sr_csv_setup *setup, const struct sr_fit *fit);
/* After the search, where settings->follows: the parameter follows from the residuals of the front.
 * *changed: losses and constants are those of another parameter. *bend: the deviation from which
 * the loss counts sizes. ORR_ENOMEM. */
int sr_tails_follow(struct sr_settings *settings, const struct sr_fit *fit,
                    const struct sr_data *data, bool *changed, double *bend);

/* The time (orr_time_s()) from which a running epoch of the search, or the work after it, is
 * interrupted; 0, never, where `seconds` is 0. The search began at started_s with that limit; the
 * interruption comes a share of these seconds and a constant later, at least 0.3 s from now. */
enum sr_limit_of { SR_LIMIT_OF_SEARCH, SR_LIMIT_OF_ALL, SR_LIMIT_OF_CATEGORIES };
double sr_time_limit(double seconds, enum sr_limit_of what, double started_s);
/* Seconds allowed for rounding constants after a stop, and for fitting those of each category. */
#define SR_AFTER_STOP_S            0.3
#define SR_CATEGORIES_AFTER_STOP_S 2
/* Allocates arrays for fits to all rows, of at most SR_BLOCK rows at a time: as many columns as
 * formulas of so many constants need, at most twice the columns of a large table. Formulas with
 * more constants keep those that they have. */
int sr_front_work(int constants, const struct sr_data *data, struct sr_work *work);
/* Completes a front after the search. After a search on a sample, it refits constants and losses on
 * all rows. It rounds constants where the search has not done so on all rows or was interrupted,
 * and removes rows that gain nothing. */
int sr_front_finish(const struct sr_settings *settings, const struct sr_data *data, bool sampled,
                    struct sr_fit *fit);
/* Whether scores are PySR's, which know no description lengths. */
bool sr_front_published(const struct sr_settings *settings);
/* sr_front_describe(), or sr_front_describe_by() where the loss has a likelihood of its own. The
 * data is that of the loss, or has other `independent` rows. */
int sr_front_measure(const struct sr_loss *loss, const struct sr_data *data,
                     struct sr_front *front);
/* Removes rows that gain no digit of the table, then computes description lengths and scores
 * corrected for small tables. PySR's own scores are kept for its algorithm and for the published
 * study's loss. */
int sr_front_judge(const struct sr_settings *settings, const struct sr_data *data,
                   struct sr_front *front);

/* After sr_front_judge(): makes fit->alternatives of fit->near, by rising complexity. These are
 * formulas whose fair loss is at most front.close times that of the row of rule best, with fitted
 * and rounded constants; at most settings->alternatives of a complexity, which is not
 * above that of the front's last row, and SR_NODES + 1 in all.
 * Their values differ from those of the front's rows, and of each other, by more than the rounding
 * of constants. The score is the nats by which the description is longer than that of the row of
 * rule best. After a signal there is no list. */
int sr_front_alternatives(const struct sr_settings *settings, const struct sr_data *data,
                          struct sr_fit *fit);

/* Writes named constants into the formulas of a judged front where the numbers agree with them
 * within their uncertainty (named_constants.c). Losses are those of the formulas as written; scores
 * and description lengths remain those of the numbers. */
int sr_front_name(const struct sr_settings *settings, const struct sr_data *data,
                  struct sr_front *front);

/* How well the formulas of a front predict a second table; NaN where a prediction is not finite. */
struct sr_test {
    const char *file;
    const struct sr_data *data; /* of the second table */
    size_t rows;
    double loss[SR_NODES + 1]; /* (front.count) */
    double r2[SR_NODES + 1];   /* (front.count) 1 - residual / total variance, weighted */
};
/* Measures the front on the second table. The scale of small values (sr_loss.unit) is taken from
 * the first table, `train`. */
int sr_test_measure(const struct sr_settings *settings, const struct sr_table *train,
                    const struct sr_table *table, const char *file, const struct sr_front *front,
                    struct sr_test *test);
/* Prints "12.5", or "-" for NaN, padded to `width` characters; 0: no padding. */
void sr_test_text(double value, int width, char *text, size_t bytes);

/* Result of the permutation test: searches on shuffled targets. */
struct sr_permutations {
    int asked, searches; /* searches requested; searches completed, fewer after a stop */
    int as_good;    /* searches whose smallest description length is no larger than the table's */
    double p;       /* (as_good + 1) / (searches + 1) */
    int complexity; /* complexity of the formula that the rule selects */
    /* smallest and median of the searches' best losses up to this complexity */
    double least, median;
};
/* Describes the result in one line. */
void sr_permutations_text(const struct sr_permutations *permutations, char *text, size_t bytes);

/* What a further judge measured of the formulas that it fitted, by their complexity: chi^2 and
 * standard errors in the place of those by the table. */
struct sr_measured {
    int numbers[SR_NODES + 1]; /* of the formula */
    double chi2[SR_NODES + 1];
    double freedom[SR_NODES + 1];         /* degrees of freedom; 0: not fitted */
    double error[SR_NODES + 1][SR_NODES]; /* NAN: not known */
};
/* A finished front and all that is said of it. */
struct sr_answer {
    const char *file, *target, *loss; /* target: the column's name, or "log(y)" with --log-target */
    const char *column;               /* the name of the target's column */
    const char *const *end_name;      /* (2) columns of the ends of its intervals; NULL: numbers */
    const char *weights;              /* column name; "" for 1/y^2; NULL for none */
    const struct sr_expr *by;     /* the formula that predicts y for 1/y^2, chosen; NULL: none */
    const struct sr_dates *dates; /* of the table */
    const struct sr_table *table; /* of odd rows */
    double variance;              /* sr_table.variance; not 0 where the weights are 1 / sigma^2 */
    double variance_factor;       /* sr_csv_options.variance_factor */
    const struct sr_measured *measured; /* of the further judge; NULL: there is none */
    const char *remark;                 /* sr_csv_options.remark */
    const struct sr_tails *tails;       /* sr_csv_setup.tails */
    double
        loss_parameter; /* symreg.loss_parameter of huber, logcosh and quantile as used; else 0 */
    double bend; /* of huber and logcosh: deviation from which it counts by its size; 0: given */
    double weight_mean;       /* sr_table.weight_mean */
    bool log_target;          /* the target is the logarithm of its column */
    bool least_squares;       /* the loss is least squares, so constants have standard errors */
    const char *const *names; /* names of the features */
    const struct sr_data *data;
    const size_t *line;                 /* (rows) of the file; NULL: the table is none of a file */
    const struct sr_category *category; /* NULL: none */
    struct sr_front *front;             /* after sr_front_describe() */
    uint64_t seed;
    double evaluations, seconds;
    enum sr_rule rule;                          /* the rule whose residuals are drawn */
    const struct sr_test *test;                 /* NULL: no second table */
    const struct sr_permutations *permutations; /* NULL: not asked for */
    const char *define;                         /* sr_csv_setup.define */
    const struct sr_template *form;             /* NULL: no template */
    const char *form_text;                      /* of --template */
    const struct sr_answer *alternatives;       /* their output; NULL: not asked for */
    bool beside; /* the front has the alternatives, which no rule selects */
};

/* ---- the way from a problem to its answer */

struct sr_problem;
/* Searches for formulas: sr_search() with problem->setup->settings, and what the caller does around
 * it. Returns 0, or ORR_EINTR where the user stopped the search: what was found is finished, in
 * less time. Other errors end sr_solve(). */
typedef int sr_searcher(void *context, const struct sr_problem *problem, struct sr_fit *fit);

struct sr_problem {
    const char *file; /* the name of the table, for messages and outputs */
    const struct sr_csv_options *options;
    struct sr_table *table;
    struct sr_table *second; /* read like the table, from second_file; NULL: no test */
    const char *second_file;
    struct sr_csv_setup *setup;
    struct orr_stop *stop; /* orr_stop_of_call of this thread; sr_solve() sets its until_s */
    int threads;
    sr_searcher *search; /* NULL: sr_search() alone */
    void *context;
};
struct sr_solution {
    struct sr_fit *fit; /* owned */
    char target[300];   /* of the answer */
    struct sr_test test, test_beside;
    double bend; /* of the answer */
    struct sr_permutations permutations;
    struct sr_answer answer, beside; /* beside: of the alternatives, where there are some */
    bool stopped;                    /* by the user */
};
/* Solves a problem. The solution refers to the problem's table, setup and options.
 * ORR_EINVAL: no formula is finite on every row and within the constraints. A stop is no error. The
 * search begins now: limits of time count the choice of weights, too. */
int sr_solve(const struct sr_problem *problem, struct sr_solution *solution);
/* The steps of sr_solve() after a search, for a front that is there, such as one of formulas of a
 * user. solution->fit has it. seconds: limit of the search that began at started_s, 0 for none;
 * refits: constants were not fitted to all rows. */
int sr_solve_finish(const struct sr_problem *problem, double seconds, double started_s, bool refits,
                    struct sr_solution *solution);
/* Repeats the search of a solution, as long as it took, with randomly permuted targets (each with
 * its weight), drawn by the seed: fills solution->permutations. setup->permutations says how many;
 * a stop ends them. The problem's `search` is not called. */
int sr_solve_permutations(const struct sr_problem *problem, struct sr_solution *solution);
/* One such search: its front, finished and judged. fit: cleared before. */
int sr_solve_shuffled(const struct sr_problem *problem, struct sr_fit *fit, bool *stopped);
void sr_solution_free(struct sr_solution *solution);

/* The day from which a feature counts, if it is a column of dates; else false. */
bool sr_answer_since(const struct sr_answer *o, int feature, char text[SR_DAY_TEXT]);
/* The number of features, without the columns of --category. */
static inline int sr_answer_features(const struct sr_answer *o)
{
    return sr_category_features(o->data, o->category);
}
/* The data with the constants of each category that row `row` of the front has. */
static inline const struct sr_data *sr_answer_data(const struct sr_answer *o, int row)
{
    if (o->category)
        sr_category_enter(o->category, o->category, o->data->rows, row);
    return o->data;
}
/* The variance of a row of weight 1, for errors of the constants of a row of the front; 0: from the
 * residuals. */
double sr_answer_variance(const struct sr_answer *output, int row);
/* What the further judge measured of a row's formula: chi^2, and *freedom. False: nothing. */
bool sr_answer_measured(const struct sr_answer *output, int row, double *chi2, double *freedom);
/* chi^2 over the degrees of freedom that it measured of a row, 1 where noise alone is left; NAN:
 * nothing. */
double sr_answer_path_loss(const struct sr_answer *output, int row);
/* Whether it measured any row of the front, which then is shown with a column of these. */
bool sr_answer_has_paths(const struct sr_answer *output);
/* Standard errors of a row's constants, in the order of the formula. */
int sr_answer_errors(const struct sr_answer *output, int row, double error[SR_NODES]);
/* A row of the front in one line: "T = 1.0000 * a^1.5   (1.0000 +- 0.0002; R2 0.99998; 8 rows)",
 * with a formula that sr_expr_parse() reads, its numbers in their order (of divisors the
 * reciprocal) with standard errors where they are known, and periods and amplitudes of waves.
 * ORR_ENOMEM. */
enum { SR_TARGET = 2048, SR_SENTENCE = SR_TEXT + SR_TARGET + 4224 };
int sr_answer_line(const struct sr_answer *o, int row, char *text, size_t bytes);
/* The line of the row that o->rule selects, behind the rule: "best: T = ...". Empty where it
 * selects none. ORR_ENOMEM. */
int sr_answer_sentence(const struct sr_answer *o, char *text, size_t bytes);
/* What formulas of a table predict, in a notation for people: y, "a b" in quotes, or log(y) with
 * --log-target. SR_TARGET bytes hold every name. */
void sr_target_write(const struct sr_language *language, const char *column, bool logarithm,
                     enum sr_notation notation, char *text, size_t bytes);
/* The formula of a row as people write it (sr_expr_collect()), where that predicts the rows of the
 * table alike; else as it is. ORR_ENOMEM. */
int sr_answer_formula(const struct sr_answer *o, int row, struct sr_expr *expr);
/* A row of the front in a notation, with the names appropriate to it; for people (LaTeX, MathML)
 * sr_answer_formula(). ORR_ENOMEM. */
int sr_answer_write(const struct sr_answer *o, int row, enum sr_notation notation,
                    const struct sr_export *names, char *text, size_t bytes);
/* Compares a number, of a standard error (NaN: unknown), with well-known constants. True, with a
 * remark such as "pi / 2 (0.001% off; so close by chance: 0.02%)", where fewer than one number in a
 * hundred would be so close by chance, a standard error counting as the least distance; otherwise
 * false with an empty text. The remark names other constants within two standard errors. */
bool sr_constant_remark(double value, double error, char *text, size_t bytes);

/* A limitation of the table as a sentence; false where it does not apply.
 *   undecided  the rows are too few for the formula of o->rule, or there are at most 50 rows and
 *              another formula of the front is as likely within a factor of 20
 *   unfitted   a stop or a limit left no time to fit the constants of a formula of the front
 *   single row  front->without
 *   odd rows   table->odd, else front->odd
 *   dominated  at most one row in twenty makes nine tenths of the loss of the best constant
 *   proportional  sr_quarters_proportional() of the formula of o->rule, and rows have no weights;
 *              or weights were chosen for it
 *   tails      the loss is huber by the residuals; or huber or logcosh by its name, and where it
 *              turns linear follows from them
 *   zeros      the loss is relative, and the target is 0 in some rows
 *   chi2       of the formula of o->rule, where rows have sigmas and the loss is l2
 *   following  the rows count as fewer, as their residuals follow each other
 *   intervals  targets are intervals: how many of them the formula of o->rule lies in
 *   aliases    the formula of o->rule has a frequency of a column on an even grid
 *   fill       a column has nines far from its other numbers, as where values are missing
 *   total      the first or the last row is the sum of all others in a column
 *   same       columns have one value in all rows
 *   given      o->remark */
enum sr_table_remark {
    SR_UNDECIDED,
    SR_UNFITTED,
    SR_SINGLE_ROW,
    SR_ODD_ROWS,
    SR_DOMINATED,
    SR_PROPORTIONAL,
    SR_TAILS,
    SR_ZEROS,
    SR_CHI2,
    SR_FOLLOWING,
    SR_INTERVALS,
    SR_ALIASES,
    SR_BOUNDS,
    SR_FILL,
    SR_TOTAL,
    SR_SAME,
    SR_GIVEN,
    SR_TABLE_REMARKS
};
bool sr_table_remark(const struct sr_answer *o, enum sr_table_remark remark, char *text,
                     size_t bytes);
/* The remark `fill`, of the columns searched, the target, sigmas, categories that are numbers, and
 * the second table. */
bool sr_remark_fill(const struct sr_answer *o, char *text, size_t bytes);
/* The remark `intervals`. */
bool sr_remark_intervals(const struct sr_answer *o, char *text, size_t bytes);
/* The remark `total`. */
bool sr_remark_total(const struct sr_answer *o, char *text, size_t bytes);

#endif
