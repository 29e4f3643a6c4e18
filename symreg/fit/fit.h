/* fit.h - fits the constants of a formula, and rounds them where the loss allows it. */
#ifndef SR_FIT_H
#define SR_FIT_H

#include "symreg/value/value.h"

/* The state of one thread. */
struct sr_thread {
    struct sr_work work;
    gsl_rng *rng;
};

/* Fits the constants by Levenberg-Marquardt (re-weighted for absolute losses), from their current
 * values and from `restarts` points nearby. with_scale also fits an outer factor, which is written
 * into the formula only where its constants can absorb it. Returns the loss reached, that factor
 * included; it is never worse than before. Returns infinity where the formula cannot be
 * evaluated. The table may have more rows than the work arrays, but not with_scale. */
double sr_constants_fit(const struct sr_loss *loss, struct sr_expr *expr, bool with_scale,
                        int iterations, int restarts, gsl_rng *rng, struct sr_work *work);
/* The same for the constants whose bits are not set in `held`, in their order; the others stay. */
double sr_constants_fit_others(const struct sr_loss *loss, struct sr_expr *expr, uint64_t held,
                               int iterations, struct sr_work *work);

/* Whether the formula jumps: floor, round, mod, greater or cond. sr_constants_fit() then moves the
 * constants inside of these without derivatives. */
bool sr_has_steps(const struct sr_expr *expr);
/* Improves all constants of such a formula from `reached`, its loss; returns the loss. */
double sr_steps_fit(const struct sr_loss *loss, struct sr_expr *expr, double reached,
                    int iterations, struct sr_work *work);

/* Whether fits with these arrays end where they are: after a stop, or with work->finishing, after
 * the time limit alone. */
bool sr_fit_over(const struct sr_work *work);

/* The equations of a re-weighted least-squares step by the constants and, where `parameters` is one
 * more than the constants, an outer scale: normal = J^T W J, gradient = J^T W residual. Leaves the
 * values of the last block in work->value: all values of a table of at most work->rows rows. False
 * where one is not finite. Squares of derivatives may leave the range of numbers, as those by
 * 2e-208 in 2e-208 exp(0.24 year): the equations are then those of the parameters divided by
 * scale[], powers of two, which are 1 otherwise. */
struct sr_equations {
    double normal[SR_NODES + 1][SR_NODES + 1], gradient[SR_NODES + 1], scale[SR_NODES + 1];
};
bool sr_constants_equations(const struct sr_loss *loss, const struct sr_expr *expr, double scale,
                            int parameters, struct sr_work *work, struct sr_equations *equations);

/* Rounds each constant to the fewest digits that keep the loss: all roundings together raise it by
 * at most a share 0.0025 / rows, the effect of moving one constant by a twentieth of its standard
 * error. A number beside max, min, hypot or a user-defined operator becomes 0 where that raises the
 * loss by at most a share 1 / rows, as one standard error does: max(x, 0), not max(x, -0.00011). A
 * formula with loss 0 keeps loss 0. Returns the loss. */
double sr_snap(const struct sr_loss *loss, struct sr_expr *expr, struct sr_work *work);

/* The share 0.0025 / rows. A smaller relative gain over a shorter formula counts as none. */
double sr_snap_share(size_t rows);
/* The largest loss that rounding may reach from the loss `reached`; and rounding within a given
 * limit. */
double sr_snap_limit(const struct sr_loss *loss, double reached);
double sr_snap_within(const struct sr_loss *loss, struct sr_expr *expr, double limit,
                      struct sr_work *work);

/* Of a formula whose constants have no errors, as only combinations of them follow from the rows,
 * one becomes 1 or -1 where the others make up for it: a / (exp(b (c - x)) + 1), not + d. False
 * where it stays: for losses of absolute values, and where its loss would rise. */
bool sr_constants_tie(const struct sr_loss *loss, struct sr_expr *expr, struct sr_work *work);

/* Which numbers constants are rounded to when a front is finished, in the order of the words of
 * --round-constants. */
enum sr_round { SR_ROUND_DIGITS, SR_ROUND_INTEGERS, SR_ROUND_RATIONALS, SR_ROUND_LIKELY };
/* Replaces constants by whole numbers, or by fractions of a denominator up to 12, the smallest
 * first, and refits and rounds the other constants. k replaced constants together raise the loss by
 * at most a share (2 k + 2) / rows: for least squares about the 95% point of chi^2 with k degrees
 * of freedom. No constant changes by more than a tenth. SR_ROUND_LIKELY, for least squares and with
 * 20 rows more than constants, takes only fractions within two standard errors (of the scatter)
 * that a random constant would meet with a probability of at most 0.02. SR_ROUND_DIGITS changes
 * nothing. Rows of weight 0 do not count. Returns the loss. */
double sr_constants_round(const struct sr_loss *loss, struct sr_expr *expr, enum sr_round round,
                          struct sr_work *work);

/* Removes factors and divisors that are the number 1; with `minus` those that are -1 become signs:
 * x / -1 is -x, a + -1 * b is a - b. True where there was one. Named constants stay. */
bool sr_drop_ones(const struct sr_language *language, bool minus, struct sr_expr *expr);

/* ---- uncertainty of a least-squares fit. It assumes this formula and independent errors of the
 * rows; that a search chose the formula among many is not included. */

/* What a table tells about the constants of a formula and the noise. */
struct sr_uncertainty {
    int constants;
    double error[SR_NODES]; /* (constants) standard errors, the roots of the diagonal */
    /* (constants, constants) NaN where the number is too small or large for its range */
    double covariance[SR_NODES][SR_NODES];
    double noise;   /* s^2, the variance of a row of weight 1 */
    double scatter; /* sum of squared residuals, rows alike, by weighted rows less constants */
    double repeats; /* rows of positive weight divided by the rows that count */
    double spare;   /* rows that count minus constants; at least 1 where these are fewer */
    double freedom; /* degrees of freedom of s^2: `spare`, or infinite where s^2 was given */
};
/* The covariance of the constants, in their order, from the least-squares Hessian: s^2 (J^T W
 * J)^-1, times the rows of positive weight divided by sr_rows_counted(). s^2 is `variance` where it
 * is known, else (0) the weighted sum of squared residuals divided by the rows of positive weight
 * minus constants. NaN where the Hessian is singular or the rows do not
 * exceed the constants. It is valid for constants fitted by least squares, and where errors are so
 * small that the formula is linear in the constants. */
int sr_constants_uncertainty(const struct sr_expr *expr, const struct sr_data *data,
                             double variance, struct sr_uncertainty *uncertainty);
/* Standard errors of the constants: roots of the diagonal of the covariance, of the formula with
 * free phases where it has waves without one (sr_free_phases()), or where the Hessian is singular
 * with the constants 1 and -1 as given, whose errors stay NaN. */
int sr_constants_errors(const struct sr_expr *expr, const struct sr_data *data, double variance,
                        double *error);
/* Whether constants have no errors though rows are to spare. */
bool sr_is_singular(const struct sr_uncertainty *u);
/* The formula with its constants 1 and -1 as given (SR_FIXED): a, b and c of
 * a / (exp(b (c - x)) + 1), of which place has the numbers in `expr`. Returns how many; 0: none is
 * 1 or -1. */
int sr_fix_ones(const struct sr_expr *expr, struct sr_expr *fixed, int place[SR_NODES]);
/* The same where the uncertainty of the formula is known. */
int sr_constants_errors_of(const struct sr_expr *expr, const struct sr_data *data, double variance,
                           const struct sr_uncertainty *uncertainty, double *error);

/* Tables of more rows have no profile intervals: they would take seconds and agree with the
 * standard errors, which shrink with the root of the rows. */
enum { SR_PROFILE_ROWS = 100000 };
/* Standard errors from an estimate to the bounds of a 95% interval of the normal distribution: also
 * the root of the 95% point of chi^2 with one degree of freedom. */
#define SR_NORMAL_95 1.959963984540054
/* The probability of the intervals that are written to files. */
#define SR_LEVEL 0.95
/* Profile intervals of the constants: the values of a constant at which the loss, all other
 * constants refitted, exceeds its minimum by at most q^2 s^2, as a sum of squares; q as
 * sr_interval_factor() gives it, s^2 as above. They need not be symmetric, and hold for formulas
 * that are not linear in the constants. Infinite without a bound; NaN where standard errors are
 * because rows are lacking, after a signal, or in large tables. An end where the formula ceases to
 * be finite is a bound. Waves without a phase have a free one (sr_free_phases()). */
int sr_constants_profile(const struct sr_expr *expr, const struct sr_data *data, double variance,
                         double level, double *low, double *high);

/* Half the width of an interval that contains a share `level` of the probability, in standard
 * deviations: of Student's t distribution with this many degrees of freedom, a whole number, or the
 * normal one for infinitely many. NaN below 1. */
double sr_interval_factor(double level, double freedom);
/* variance[i] = g^T C g, the variance of the formula's value in row i, where g are its derivatives
 * by the constants and C their covariance. Also fills value (rows) and jacobian (constants, rows).
 * False where one is not finite. A new observation has the variance of its noise in addition. */
bool sr_predict_variance(const struct sr_expr *expr, const struct sr_data *data,
                         const struct sr_uncertainty *uncertainty, double *value, double *jacobian,
                         double *variance);

/* ---- the fit of the compatible algorithm: BFGS, or Newton's method for one constant */

void sr_compat_constants(const struct sr_loss *loss, struct sr_expr *expr,
                         struct sr_thread *thread);
/* Derivatives of the loss by the constants, without an outer scale: exact, except by finite
 * differences for a user-defined loss. False where one is not finite. */
bool sr_compat_gradient(const struct sr_loss *loss, const struct sr_expr *expr,
                        struct sr_work *work, double *gradient);

#endif
