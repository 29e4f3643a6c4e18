/** @file regression.h
 * Part of orrery.h: formulas from tables. */
#ifndef ORRERY_REGRESSION_H
#define ORRERY_REGRESSION_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup regression Regression
 * Finds a Pareto front of formulas for a table, like the program symreg: equal settings, numbers
 * and seed give equal formulas, for any number of threads. @{ */

/** A handle: see orrery_regression_create(), orrery_fit(). */
struct orrery_regression;

/** The state of a running search. */
struct orrery_progress {
    size_t bytes;       /**< size of this struct in the library */
    double seconds;     /**< since the search began */
    double evaluations; /**< formulas evaluated on all rows */
    int epoch;          /**< epoch of the island search, from 0 */
    int rows;           /**< rows of the front so far */
    double loss;        /**< loss of the front's last row, its smallest */
    const char *best;   /**< formula of that row; valid until the callback returns */
};
/** Called in the search's thread after every epoch; the handle is in use meanwhile. A value other
 * than 0 ends the search.
 * @param progress the state of the search
 * @param context the context given to orrery_regression_search()
 * @return 0 to continue the search */
typedef int orrery_progress_call(const struct orrery_progress *progress, void *context);

/** A row of the front: complexity rises, loss falls. Or an alternative: another function, as good
 * as the row of rule best. */
struct orrery_row {
    size_t bytes;              /**< sizeof(struct orrery_row) */
    int complexity;            /**< number of nodes, weighted by their costs */
    int constants;             /**< number of constants, without those of each category */
    int category_constants;    /**< number of constants that each category has */
    double loss;               /**< loss defined by symreg.loss */
    double score;              /**< decrease of ln(loss) per node; infinite if the loss is 0; NaN of
                                    an alternative */
    double description_length; /**< nats; NaN if unknown */
    double nats;               /**< of an alternative: how much longer its description is than that
                                    of the row of rule best; else NaN */
    double test_loss;          /**< loss on the test table; NaN without one, or if not finite */
    double test_r2;            /**< 1 - residual / total variance there, weighted; NaN likewise */
};
/** How much an answer has. */
struct orrery_counts {
    size_t bytes;      /**< sizeof(struct orrery_counts) */
    int rows;          /**< of the front; 0 before a search */
    int alternatives;  /**< with the option "alternatives" */
    int remarks;       /**< sentences about the table and the selected formula */
    size_t categories; /**< with the option "category" */
};
/** What searches on shuffled targets found. */
struct orrery_permutations {
    size_t bytes;      /**< sizeof(struct orrery_permutations) */
    int searches;      /**< completed ones; fewer than asked for after a stop */
    int as_good;       /**< those whose smallest description length is no larger than the table's */
    int complexity;    /**< of the formula that the option "rule" (best) selects */
    double p;          /**< (as_good + 1) / (searches + 1) */
    double least_loss; /**< smallest loss that they reach up to this complexity */
    double median_loss; /**< median of these losses */
};

/** What the value of an option is; numbers lie within low and high. */
enum orrery_option_type {
    ORRERY_OPTION_TEXT = 0,   /**< docs/symreg.md says of what form */
    ORRERY_OPTION_FLAG = 1,   /**< "0" or "1" */
    ORRERY_OPTION_WHOLE = 2,  /**< a whole number */
    ORRERY_OPTION_NUMBER = 3, /**< a number */
    ORRERY_OPTION_WORD = 4,   /**< one of choices */
    ORRERY_OPTION_WORDS       /**< some of choices: "a,b" */
};
/** An option of a table. Texts that an option does not have are NULL. */
struct orrery_option {
    size_t bytes;        /**< sizeof(struct orrery_option) */
    const char *key;     /**< of orrery_regression_set(); NULL: of the program alone */
    const char *program; /**< as the program symreg is given it: "--units", or by --set */
    const char *value;   /**< what stands behind it in --help: "A=UNIT,..." */
    const char *python;  /**< parameter of orrery.SymbolicRegressor in Python */
    int type;            /**< enum orrery_option_type */
    const char *initial; /**< default */
    double low;          /**< smallest number */
    double high;         /**< largest number */
    const char *choices; /**< "a|b|c" */
    const char *unit;    /**< of a number */
    const char *needs;   /**< what must be given, too: "--units", or the setting with its values */
    const char *without; /**< what must not be given, too */
    int recorded;        /**< 1: a search resumes with the same value only */
    const char *help;    /**< what it does, in half a sentence */
};

/** Does all in one call: a handle, its options, its table and a search with all cores. More by the
 * calls below, with the same handle.
 *
 *     struct orrery_regression *fit;
 *     if (orrery_fit(&table, "seconds=10", &fit))
 *         puts(orrery_message(fit));
 *     orrery_regression_free(fit);
 *
 * @param table with y and at least 2 rows; it is copied
 * @param options lines KEY=VALUE as orrery_regression_set() takes them; a line that begins with #
 * is a comment; NULL: none
 * @param fit *fit becomes a handle, after an error too, for its message; NULL if there is no memory
 * @return a status */
ORRERY_CALL int orrery_fit(const struct orrery_table *table, const char *options,
                           struct orrery_regression **fit);
/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param regression *regression becomes the handle or NULL; free it with orrery_regression_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_regression_create(int interface_, struct orrery_regression **regression);
/** Frees a handle.
 * @param regression a handle that no call uses, or NULL */
ORRERY_CALL void orrery_regression_free(struct orrery_regression *regression);
/** Changes a setting. Keys are those of orrery_option_at(): "seed", the settings of symreg.* as
 * `symreg --help` lists them ("symreg.maxsize", or "maxsize"), options of symreg for tables
 * ("units", "log-target": "1"), and "keep-state" ("1"), with which the search can be resumed.
 * @param regression the handle
 * @param key the name of a setting
 * @param value its value as text; NULL: the default
 * @return a status; ORRERY_EUSAGE names the nearest key */
ORRERY_CALL int orrery_regression_set(struct orrery_regression *regression, const char *key,
                                      const char *value);
/** How many options there are: of orrery_regression_set(), and of the program symreg alone.
 * @return their number */
ORRERY_CALL int orrery_option_count(void);
/** Describes an option. docs/symreg_options.md is made from these rows.
 * @param number from 0
 * @param option is filled; the caller sets option->bytes. Texts are always valid
 * @return ORRERY_OK or ORRERY_EINVAL */
ORRERY_CALL int orrery_option_at(int number, struct orrery_option *option);
/** Copies a table for all later searches; the front of an earlier table is discarded. The options
 * "weights", "category" and "log-target" are read now: a search with others is ORRERY_EINVAL.
 * @param regression the handle
 * @param table a table with y and at least 2 rows
 * @return a status */
ORRERY_CALL int orrery_regression_data(struct orrery_regression *regression,
                                       const struct orrery_table *table);
/** Copies a second table, which no search uses: rows then have its test_loss and test_r2. It has
 * the columns of the table given to orrery_regression_data(), which discards it. Its rows count by
 * weights or sigma of its own, else as the search chose for the first table. The front of an
 * earlier search is discarded.
 * @param regression the handle
 * @param table with y; NULL: none
 * @return a status; ORRERY_EMISSING: there is no first table */
ORRERY_CALL int orrery_regression_test(struct orrery_regression *regression,
                                       const struct orrery_table *table);
/** Searches for formulas.
 * @param regression the handle
 * @param threads 0: all cores that the process may use
 * @param progress called after each epoch; may be NULL
 * @param context given to progress
 * @return a status; ORRERY_STOPPED: the front is what was found until then */
ORRERY_CALL int orrery_regression_search(struct orrery_regression *regression, int threads,
                                         orrery_progress_call *progress, void *context);
/** The state of the last search with keep-state, from which a later one resumes. Valid until the
 * next search, refit, data, test or free.
 * @param regression the handle
 * @param state *state becomes the bytes, which belong to the handle
 * @param bytes *bytes becomes their number
 * @return a status; ORRERY_EMISSING: there is none */
ORRERY_CALL int orrery_regression_state(struct orrery_regression *regression, const void **state,
                                        size_t *bytes);
/** Makes the next search continue from a state, which is copied. The table and settings must be the
 * same, except limits (ORRERY_EINVAL names the difference), and so must the library's version
 * (ORRERY_EFORMAT).
 * @param regression the handle
 * @param state bytes of orrery_regression_state()
 * @param bytes their number
 * @return a status; ORRERY_EINVAL, ORRERY_EFORMAT */
ORRERY_CALL int orrery_regression_resume(struct orrery_regression *regression, const void *state,
                                         size_t bytes);
/** Makes a front of given formulas, with the table's column names. Their constants are fitted to
 * the table, from their given values and from random points near them, and rounded as after a
 * search. Rows that do not improve on a shorter one are removed. Constraints and units are not
 * checked, and no weights are chosen. After an error there is no front.
 * @param regression the handle
 * @param formulas (count) in the notation ORRERY_TEXT
 * @param count 1 to 64
 * @return a status */
ORRERY_CALL int orrery_regression_refit(struct orrery_regression *regression,
                                        const char *const *formulas, int count);
/** Repeats the last search, as long as it took, with shuffled targets.
 * @param regression the handle, after orrery_regression_search()
 * @param searches 1 to 9999; 19 suffice for p = 0.05
 * @param threads 0: all cores
 * @param result is filled; the caller sets result->bytes
 * @return a status; ORRERY_STOPPED: the result is of the searches until then */
ORRERY_CALL int orrery_regression_permutations(struct orrery_regression *regression, int searches,
                                               int threads, struct orrery_permutations *result);
/** How many rows, alternatives, remarks and categories there are.
 * @param regression the handle
 * @param counts is filled; the caller sets counts->bytes
 * @return a status */
ORRERY_CALL int orrery_regression_counts(struct orrery_regression *regression,
                                         struct orrery_counts *counts);
/** Describes a row of the front.
 * @param regression the handle
 * @param number from 0
 * @param row is filled; the caller sets row->bytes
 * @return a status */
ORRERY_CALL int orrery_regression_row(struct orrery_regression *regression, int number,
                                      struct orrery_row *row);
/** Describes an alternative.
 * @param regression the handle
 * @param number from 0
 * @param row is filled; the caller sets row->bytes
 * @return a status */
ORRERY_CALL int orrery_regression_alternative(struct orrery_regression *regression, int number,
                                              struct orrery_row *row);
/** Writes a remark: what the table cannot decide, or what its noise looks like.
 * @param regression the handle
 * @param number from 0
 * @param text (bytes); NULL: only *needed is set
 * @param bytes of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status */
ORRERY_CALL int orrery_regression_remark(struct orrery_regression *regression, int number,
                                         char *text, size_t bytes, size_t *needed);
/** Writes a row of the front in a person's words: "T = 1.0000 * a^1.5   (1.0000 +- 0.0002; R2
 * 0.99998; 8 rows)". The formula is in a notation that orrery_formula_parse() reads; behind it are
 * its numbers with standard errors, periods and amplitudes of waves, and how well it fits.
 * @param regression the handle
 * @param row from 0
 * @param text (bytes); NULL: only *needed is set
 * @param bytes of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status */
ORRERY_CALL int orrery_regression_answer(struct orrery_regression *regression, int row, char *text,
                                         size_t bytes, size_t *needed);
/** Selects a row by a rule.
 * @param regression the handle
 * @param rule "accuracy", "score", "best" or "mdl"
 * @param row *row becomes the selected row
 * @return a status */
ORRERY_CALL int orrery_regression_select(struct orrery_regression *regression, const char *rule,
                                         int *row);
/** Writes the formula of a row of the front, as orrery_formula_print() does.
 * @param regression the handle
 * @param row from 0
 * @param notation enum orrery_notation
 * @param text (bytes); NULL: only *needed is set
 * @param bytes of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status */
ORRERY_CALL int orrery_regression_print(struct orrery_regression *regression, int row, int notation,
                                        char *text, size_t bytes, size_t *needed);
/** Evaluates a row's formula on new columns, with the number and order of columns of the search's
 * table. NaN where the formula has no finite value.
 * @param regression the handle
 * @param row from 0
 * @param table new columns; its y is not read
 * @param y (rows of the table), the formula's values
 * @return a status */
ORRERY_CALL int orrery_regression_predict(struct orrery_regression *regression, int row,
                                          const struct orrery_table *table, double *y);
/** Writes what the formulas need beside the columns: named constants with their values in the units
 * of the columns, and user-defined operators, "c=299792458; g(x)=x*exp(-x)". The option "define"
 * reads the text back. It is empty where there are none.
 * @param regression the handle
 * @param text (bytes); NULL: only *needed is set
 * @param bytes of text
 * @param needed *needed becomes the size of the text in bytes, with its NUL; may be NULL
 * @return a status */
ORRERY_CALL int orrery_regression_definitions(struct orrery_regression *regression, char *text,
                                              size_t bytes, size_t *needed);
/** The constants of a row in order, as many as orrery_row.constants, and their standard errors:
 * NaN where the table does not determine them, or if the loss is not least squares.
 * @param regression the handle
 * @param row of the front, from 0
 * @param constants (constants of the row) or NULL
 * @param errors (constants of the row) or NULL
 * @return a status */
ORRERY_CALL int orrery_regression_constants(struct orrery_regression *regression, int row,
                                            double *constants, double *errors);
/** A constant that a row has in each category, after a search with the option "category"; its name
 * in formulas is c1[COLUMN] for number 0. Categories are in the order of their first rows.
 * @param regression the handle
 * @param row of the front, from 0
 * @param number of the constant, from 0, below orrery_row.category_constants
 * @param categories *categories becomes their number; may be NULL
 * @param constants (categories) or NULL
 * @param errors (categories) standard errors as orrery_regression_constants(), or NULL
 * @return a status */
ORRERY_CALL int orrery_regression_category(struct orrery_regression *regression, int row,
                                           int number, size_t *categories, double *constants,
                                           double *errors);
/** 95% profile intervals of the constants of a row: the values of a constant at which the loss, all
 * other constants refitted, exceeds its minimum by no more than noise explains. Infinite without a
 * bound; NaN if the rows are no more than the constants or above 100,000, or the loss is not l2.
 * @param regression the handle
 * @param row of the front, from 0
 * @param low (constants of the row)
 * @param high (constants of the row)
 * @return a status */
ORRERY_CALL int orrery_regression_intervals(struct orrery_regression *regression, int row,
                                            double *low, double *high);
/** The covariance of the constants of a row, and the variance of the residuals: NaN where the table
 * does not determine them, or if the loss is not least squares.
 * @param regression the handle
 * @param row of the front, from 0
 * @param covariance (n (n + 1) / 2 of n constants) its lower triangle, row by row
 * @param residual_variance sum of squared residuals, rows alike, divided by rows minus constants
 * @param freedom rows minus constants; of rows whose residuals follow each other, as many rows as
 *        these count, at least 1 in all
 * @return a status */
ORRERY_CALL int orrery_regression_covariance(struct orrery_regression *regression, int row,
                                             double *covariance, double *residual_variance,
                                             double *freedom);
/** Half the width of an interval, in standard deviations, by Student's t distribution.
 * @param level probability of the interval, 0 to 1
 * @param freedom degrees of freedom; infinite: the normal distribution
 * @return the factor; NaN for other arguments */
ORRERY_CALL double orrery_interval_factor(double level, double freedom);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
