/* fit.h - the constants of a formula: fitted, and rounded where that costs nothing. */
#ifndef SR_FIT_H
#define SR_FIT_H

#include "symreg/value/value.h"

/* What belongs to one thread. */
struct sr_thread {
    struct sr_work work;
    gsl_rng *rng;
};

/* Fits the constants from where they stand and from `restarts` points near by, by
 * Levenberg-Marquardt (re-weighted for absolute losses). with_scale fits an outer factor along
 * with them, which is written into the formula only where its constants can take it. Returns the
 * loss reached (with that factor), never worse than before; infinity when the formula can not be
 * evaluated. */
double sr_constants_fit(const struct sr_loss *loss, struct sr_expr *expr, bool with_scale,
                        int iterations, int restarts, gsl_rng *rng, struct sr_work *work);

/* Rounds each constant to the fewest digits that cost nothing: all together raise the
 * loss by at most 0.0025 / rows of itself, what a twentieth of a standard error of one constant
 * does; an exact formula stays exact. Returns the loss. */
double sr_snap(const struct sr_loss *loss, struct sr_expr *expr, struct sr_work *work);

/* That share, 0.0025 / rows: a formula that gains no more over a shorter one gains nothing. */
double sr_snap_share(size_t rows);
/* The loss up to which rounding may go from `reached`, and rounding up to a loss of one's own. */
double sr_snap_limit(const struct sr_loss *loss, double reached);
double sr_snap_within(const struct sr_loss *loss, struct sr_expr *expr, double limit,
                      struct sr_work *work);

/* Standard errors of the constants, in their order: with the least squares Hessian J^T W J,
 * error[c]^2 = s^2 (J^T W J)^-1[c][c]. s^2 is the variance of a row of weight 1: `variance` where
 * it is known, else (0) the weighted sum of squared residuals over rows less constants. NaN where
 * the Hessian is singular, or no rows are to spare. They hold where the constants are fitted by
 * least squares, and errors are small against what bends the formula. */
int sr_constants_errors(const struct sr_expr *expr, const struct sr_data *data, double variance,
                        double *error);

/* ---- the compatible algorithm's fit: BFGS, one constant by Newton's method */

void sr_compat_constants(const struct sr_loss *loss, struct sr_expr *expr,
                         struct sr_thread *thread);
/* Derivatives of the loss of the formula as it stands by its constants: exact, but of a loss of the
 * user by differences. False where one is not finite. */
bool sr_compat_gradient(const struct sr_loss *loss, const struct sr_expr *expr,
                        struct sr_work *work, double *gradient);

#endif
