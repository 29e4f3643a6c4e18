/* value.h - evaluation of formulas over a table, derivatives by their constants, and losses. */
#ifndef SR_VALUE_H
#define SR_VALUE_H

#include "stage/settings.h"
#include "formula/expr.h"

/* ---------------------------------------------------------------------------- evaluation */

/* How a column was written: the largest number of significant digits of a cell, and the power of
 * ten of the last digit of any cell. 0 digits: the numbers are exact or the digits are unknown. */
struct sr_digits {
    int significant, last;
    bool logarithm; /* the data holds logarithms of the column */
};

/* A table of finite numbers; x is column-major, feature f at x + f * rows. The caller keeps
 * ownership of the arrays and the language. */
struct sr_data {
    size_t rows;
    int features;
    const double *x;                    /* (features, rows) */
    const double *y;                    /* (rows) */
    const double *weight;               /* (rows) of the loss: finite, nonnegative; NULL: all 1 */
    const struct sr_language *language; /* language of the formulas evaluated on the table */
    const struct sr_digits *digits;     /* (features + 1) the target last; NULL: unknown */
    /* rows without a common error that these are worth (sr_front_count_independent()), for the
     * description length and errors of constants; 0: all of positive weight */
    double independent;
    /* (features, rows) variances of the errors of x, over the variance of a row of weight 1: losses
     * are those of the closest points of the formula (closest_points.c). NULL: x is exact */
    const double *x_variance;
    double variance; /* of the error of a row of weight 1, where the user states it; 0: unknown */
    /* (rows) the ends of the intervals that the targets lie in, -infinity and infinity where one is
     * open: the deviation of a row is its distance from the interval, and y is the middle, or the
     * finite end. NULL: targets are numbers */
    const double *low, *high;
    /* where the table is a category of few rows: the rows of all categories, with y minus its mean
     * in the category. NULL: none */
    const struct sr_data *pooled;
};

static inline double sr_row_weight(const struct sr_data *data, size_t row)
{
    return data->weight ? data->weight[row] : 1;
}

/* The number of rows of positive weight. */
size_t sr_rows_weighted(const struct sr_data *data);
/* The number of rows that count: data->independent, or all of positive weight. */
double sr_rows_counted(const struct sr_data *data);
/* The mean of y by the rows' weights. */
double sr_weighted_mean(const struct sr_data *data);
/* Share of the variance that predictions leave unexplained (NaN where there is no variance), and
 * the largest deviation. Rows count by their weights, deviations by the square root of them;
 * intervals by their middles, and not at all where one end is open. */
void sr_measure_fit(const struct sr_data *data, const double *value, double *left, double *worst);

/* Copies `rows` rows of a table with their weights and intervals into *storage, which the caller
 * frees: the rows listed in `row`, or with NULL evenly spaced rows. */
int sr_rows_take(const struct sr_data *all, size_t rows, const size_t *row, struct sr_data *sample,
                 double **storage);

/* Scales the weights to mean 1, so that a loss keeps its unit; returns their mean before. */
double sr_weights_level(double *weight, size_t rows);

/* Computes value[i] for every row; false as soon as a value is not finite, or an inner step NaN.
 * Inner steps may be infinite: exp(-1 / x) is 0 at x = 0. */
bool sr_eval(const struct sr_expr *expr, const struct sr_data *data, double *value);
/* The same where the formula itself may be infinite, too: false for NaN alone. */
bool sr_eval_infinite(const struct sr_expr *expr, const struct sr_data *data, double *value);
/* Also jacobian[c * rows + i] = d value[i] / d constant c, by reverse accumulation. Where an
 * infinite step makes the product of the derivatives NaN (0 times infinity), the entry is 0: the
 * value is finite, so that the steps after the infinite one have saturated, and there the
 * derivative tends to 0 as in exp(-c / x), x^c and 1 / (1 + exp(c / x)). */
bool sr_eval_jacobian(const struct sr_expr *expr, const struct sr_data *data, double *value,
                      double *jacobian);
/* The same for rows first .. first + rows - 1 of the table: value (rows), jacobian (constants,
 * rows). */
bool sr_eval_rows(const struct sr_expr *expr, const struct sr_data *data, size_t first, size_t rows,
                  double *value);
bool sr_eval_jacobian_rows(const struct sr_expr *expr, const struct sr_data *data, size_t first,
                           size_t rows, double *value, double *jacobian);
/* Sums over all rows of a table that needs no more than sums of them run over blocks of so many
 * rows, so that their arrays do not grow with the table. A smaller table is one block. */
enum { SR_BLOCK = 1 << 16 };
/* Rows of the block that begins at row `first`, of a table in blocks of `block` rows. */
static inline size_t sr_block_at(size_t rows, size_t first, size_t block)
{
    return rows - first < block ? rows - first : block;
}
/* Rows of the first block, the largest: what arrays need. */
static inline size_t sr_block_rows(const struct sr_data *data)
{
    return sr_block_at(data->rows, 0, SR_BLOCK);
}
/* value (rows) and slope[f * rows + i] = d value[i] / d feature f of row i: (features, rows). False
 * where sr_eval() is. */
bool sr_eval_slopes(const struct sr_expr *expr, const struct sr_data *data, double *value,
                    double *slope);
struct sr_loss;
/* gradient[c] = d loss / d constant c without an outer scale, in one reverse sweep, with the
 * derivatives of sr_eval_jacobian(). False where sr_eval() is. Not for user-defined losses. */
bool sr_eval_gradient(const struct sr_expr *expr, const struct sr_loss *loss, double *gradient);

/* What a step of a formula gave: a NaN, else an infinite value, else finite values alone. */
enum sr_found { SR_UNDEFINED, SR_INFINITE, SR_FINITE };
/* Of n values, which are not read where it is known that all are finite. */
enum sr_found sr_found_in(bool finite, int n, const double *value);
/* Applies an operator to n <= SR_TILE rows; out may be a or b. False when a result is not
 * finite. All results are written: those of a user-defined operator are NaN where an inner step
 * is. */
enum { SR_TILE = 512 };
bool sr_op_apply(const struct sr_language *language, enum sr_op op, int n, const double *a,
                 const double *b, double *out);
/* d[i] = outer[i] * d op/d operand, for operand 0 (a) or 1 (b). */
void sr_op_chain(const struct sr_language *language, enum sr_op op, int operand, int n,
                 const double *a, const double *b, const double *v, const double *outer, double *d);

/* --------------------------------------------------------------------------------- waves */

/* An even grid: all values of a column are first + k step, with whole k. */
struct sr_grid {
    double first, step;
    double steps; /* from the first value to the farthest */
};
/* Finds the largest step of at most a million. False where there is none, as for random values.
 * Gaps and repeated values may be there; values may be off by a thousandth of a step. */
bool sr_grid_find(const double *x, size_t rows, struct sr_grid *grid);
/* The operand of a sine, cosine or tangent: slope * column + summand. */
struct sr_wave_line {
    int column;
    double slope, summand;
};
/* The subtree that ends at node i as such a line, of column -1 where it is a constant; false where
 * it is something else. */
bool sr_straight_line(const struct sr_expr *expr, int i, struct sr_wave_line *line);
/* Ranges from 0 to the middle of a column, more than which are far. */
#define SR_FAR 3.0
/* The middle of a column that is farther from 0 than `far` times its range; 0 for others. */
double sr_far_middle(const double *x, size_t rows, double far, double *range);
/* Of the one that ends at node i; false where it is none, or its operand is no such line. */
bool sr_wave_find(const struct sr_expr *expr, int i, struct sr_wave_line *line);
/* Replaces frequencies above Nyquist's, pi / step of a column on an even grid, by the lowest that
 * gives the same values in these rows, with its phase. False, with expr unchanged, where there are
 * none, the operators cannot express it, or the result has more than maxsize nodes. */
bool sr_fold_waves(const struct sr_data *data, uint64_t operators, int maxsize,
                   struct sr_expr *expr);
/* Whether all operands of sines, cosines and tangents are numbers that tell a phase: of 1e43 the
 * next number is many turns away, so that the values are those of a random generator. scratch:
 * (rows). */
bool sr_waves_known(const struct sr_expr *expr, const struct sr_data *data, double *scratch);
/* For the uncertainty of frequencies: where a wave of a column far from 0 has no phase, as sin(w t)
 * with Julian dates, its phase is tied to where 0 is, and only the frequencies of a fine comb are
 * tried. *freed is the formula with w (t - middle) + phase in its place, of equal values; place[c]
 * is the number that constant c has there. A column is far from 0 where its middle is farther than
 * `far` times its range. False where there is no such wave. */
bool sr_free_phases(const struct sr_expr *expr, const struct sr_data *data, double far,
                    struct sr_expr *freed, int place[SR_NODES]);
/* The formula with x - middle in place of each column x that is far from 0 (SR_FAR) and stands in a
 * line with a number that is added, as in exp((c - x) / 8), or in a exp(x / 8): the number becomes
 * that which gives equal values. Of columns that are 30 ranges from 0 or more, all other x become
 * x - middle + c, with c a number of its own; waves without a phase get one; *added are these
 * numbers. The middles are SR_FIXED. False, with *centred = *expr, where the formula has no such
 * column. */
bool sr_from_middle(const struct sr_expr *expr, const struct sr_data *data, struct sr_expr *centred,
                    int *added);
/* The sizes that constants are measured by when they are described: their own; of c in
 * exp((c - x) / 8), which stands for a factor exp(c / 8), the 8 that changes this factor by e. The
 * size of c itself depends on the unit of the target. */
void sr_constant_sizes(const struct sr_expr *expr, double size[SR_NODES]);

/* ----------------------------------------------------------------------------- errors in x */

/* A table with errors in x, as a formula sees it: each row is moved to the point of the formula
 * that is closest to it, distances counted in standard deviations of x and y (Boggs, Byrd and
 * Schnabel, SIAM Journal on Scientific and Statistical Computing 8 (1987) 1052: orthogonal distance
 * regression). There y is extrapolated along the tangent to the measured x, and the weight is that
 * of the variance of y and of x times the squared slope. Residuals, derivatives by the constants
 * and weights of `data` are then those of least squares: their sum of squares is the distance, and
 * a step of Gauss and Newton or a covariance is that of orthogonal distance regression. */
struct sr_closest {
    struct sr_data data;
    double loss; /* the mean of the squared distances, as the loss l2 has it */
    /* the geometric mean of the variances of rows over those of y alone. Distances alone prefer
     * steep formulas, as a fast wave is close to every row; ln(loss * steeper) is their likelihood
     * where true x are unknown */
    double steeper;
    double *storage; /* of data; NULL where x is exact, and data is the table itself */
};
/* False where the formula is not finite on every row, or memory is lacking. */
bool sr_closest_make(const struct sr_expr *expr, const struct sr_data *data, double scale,
                     struct sr_closest *closest);
void sr_closest_free(struct sr_closest *closest);

/* ----------------------------------------------------------------------------- intervals */

/* nearest[i]: the number in the interval of row first + i that is nearest to scale * p[i]; p and
 * nearest are (n). */
void sr_interval_nearest(const struct sr_data *data, size_t first, size_t n, const double *p,
                         double scale, double *nearest);
/* What stands for an interval as a number: its middle, or its finite end. */
double sr_interval_middle(double low, double high);
/* Whether both ends are finite. */
bool sr_interval_is_closed(const struct sr_data *data, size_t row);
/* Noise of the targets about predictions p (rows), where intervals say between which numbers
 * prediction + noise lies (Tobin, Econometrica 26 (1958) 24, for intervals of any kind). */
struct sr_interval_noise {
    double sigma;  /* the likeliest standard deviation of a row of weight 1, or the known one; 0
                      where all predictions are in their intervals and none of these is a number */
    double length; /* -ln of the likelihood: of probabilities, of a number the density */
};
void sr_interval_measure(const struct sr_data *data, const double *p, struct sr_interval_noise *n);
/* Fills weight (rows) for the errors of constants, in units of a row of the variance that is
 * returned: of a closed interval those of its middle with the variance sigma^2 + width^2 / 12
 * (Sheppard), of an open one the Fisher information about its prediction. */
double sr_interval_weigh(const struct sr_data *data, const double *p,
                         const struct sr_interval_noise *n, double *weight);
/* Fills expected (rows) with the mean of each target, given its interval and the prediction: least
 * squares with these for targets is a step of expectation and maximisation. */
void sr_interval_expect(const struct sr_data *data, const double *p,
                        const struct sr_interval_noise *n, double *expected);

/* -------------------------------------------------------------------------------- losses */

/* The loss of predictions p for the targets t = data->y, in the units of y: the mean, weighted by
 * data->weight, of one of these functions of d = p - t:
 *   l1        |d|
 *   l2        d^2
 *   study     max(1e-8, |d|) - 1e-8
 *   relative  |d| / |t|; |d| / unit where t is 0 (or below SR_NO_SIZE)
 *   huber     d^2 / 2 where |d| <= c, else c (|d| - c / 2); c = parameter * unit
 *   logcosh   c^2 log cosh(d / c); c = parameter * unit
 *   quantile  q |d| where p < t, else (1 - q) |d|; q = parameter, in (0, 1)
 * and the deviances, with 0 ln(0) = 0, infinite where p is out of range or t is:
 *   poisson    2 (t ln(t / p) - t + p), t >= 0, p > 0 (or 0 = t)
 *   gamma      2 (t / p - 1 - ln(t / p)), t > 0, p > 0
 *   bernoulli  2 (t ln(t / p) + (1 - t) ln((1 - t) / (1 - p))), t in [0, 1], p in (0, 1), or t
 * Where targets are intervals, t is the number in the interval that is nearest to p; l2 alone. */
#define SR_NO_SIZE 1e-300
struct sr_loss {
    enum orr_symreg_loss kind;
    const struct sr_data *data;
    double unit;      /* scale of y: median |y|, or mean |y| where that is 0, or 1 */
    double base;      /* loss of the best constant */
    double noise;     /* smaller losses are rounding errors and count as 0 */
    double parameter; /* c or q of the list above */
    double total;     /* sum of the data's weights */
    size_t cases; /* different rows of positive weight; tables of more than 256 rows count all */
    /* (rows) weight of every |d|: data->weight, for relative divided by |t|; NULL: all 1 */
    double *weight;
    double *least; /* (rows) of a user-defined loss at p = t; NULL: 0 in all rows */
    /* Stored values of one or two unary operators of every feature, where memory allows, else NULL.
     * sr_eval_loss() reads them as if they were features. */
    struct sr_columns *columns;
};
/* ORR_EINVAL where weights are negative, not finite or all 0, a parameter is out of range, or the
 * language has no user-defined loss. */
int sr_loss_init_with(struct sr_loss *loss, enum orr_symreg_loss kind, double parameter,
                      const struct sr_data *data);
/* The loss of another table, of the kind and with the parameter of `like`. */
int sr_loss_init_like(struct sr_loss *loss, const struct sr_loss *like, const struct sr_data *data);
/* sr_loss_init_with() with the parameter 0.5. */
int sr_loss_init(struct sr_loss *loss, enum orr_symreg_loss kind, const struct sr_data *data);
void sr_loss_free(struct sr_loss *loss);
static inline bool sr_loss_is_deviance(enum orr_symreg_loss kind)
{
    return kind == ORR_SR_POISSON || kind == ORR_SR_GAMMA || kind == ORR_SR_BERNOULLI;
}
/* Whether small deviations count by their squares; else by their absolute values. */
static inline bool sr_loss_of_squares(enum orr_symreg_loss kind)
{
    return kind == ORR_SR_L2 || kind == ORR_SR_HUBER || kind == ORR_SR_LOGCOSH ||
           kind == ORR_SR_CUSTOM || sr_loss_is_deviance(kind);
}
/* Whether large deviations count by their sizes, so that a few outliers do not decide. */
static inline bool sr_loss_is_robust(enum orr_symreg_loss kind)
{
    return kind != ORR_SR_L2 && kind != ORR_SR_CUSTOM && !sr_loss_is_deviance(kind);
}
/* 1 / V(p) of a deviance, V the variance of a target predicted as p: 1/p, 1/p^2, 1/(p (1 - p)); 0
 * where p is out of range. */
static inline double sr_deviance_weight(enum orr_symreg_loss kind, double p)
{
    const double variance = kind == ORR_SR_POISSON ? p : kind == ORR_SR_GAMMA ? p * p : p * (1 - p);
    return p > 0 && variance > 0 ? 1 / variance : 0;
}
/* Reports the first target that a deviance does not have, of a column: ORR_EUSAGE names the file
 * (NULL: it has no name) and the row of the table, from 1, or line[row] (a line of a file, or
 * where line[0] is 0 a row from 0). */
int sr_deviance_check(enum orr_symreg_loss kind, const struct sr_data *data, const char *file,
                      const size_t *line, const char *column);
/* Whether the table can confirm the formula: it has at least two more different rows than the
 * formula has constants. Otherwise even a loss of 0 is no evidence. */
bool sr_loss_decides(const struct sr_loss *loss, const struct sr_expr *expr);
enum { SR_SCRATCH = 128 };
/* Loss of the predictions scale * p. */
double sr_loss_value(const struct sr_loss *loss, const double *p, double scale);
/* What rows first .. first + rows - 1 contribute to it, where p (rows) belongs to them: the loss is
 * the sum of these parts. */
double sr_loss_part(const struct sr_loss *loss, size_t first, size_t rows, const double *p,
                    double scale);
/* *reached: the loss of scale * formula, summed over blocks of `block` rows; value (block) is
 * overwritten. *residuals: the sum of |y - scale * formula|; may be NULL. False where sr_eval()
 * is. */
bool sr_eval_parts(const struct sr_expr *expr, const struct sr_loss *loss, double scale,
                   size_t block, double *value, double *reached, double *residuals);
/* The scale that minimises the loss: a weighted median (or quantile) of t / p for absolute losses,
 * a closed form for l2, poisson and gamma, safeguarded Newton steps to 1e-12 for huber and logcosh,
 * re-weighted least squares for bernoulli and user-defined losses. The study loss uses the scale of
 * l1. scratch holds 2 * rows + SR_SCRATCH. Returns 0 when every p is 0. */
double sr_loss_scale(const struct sr_loss *loss, const double *p, double *scratch);

/* The value at which half of the total weight is reached, of n pairs, which are reordered and
 * partly overwritten. */
double sr_weighted_median(double *value, double *weight, size_t n);

/* ----------------------------------------------------------------------------- constants */

/* Work arrays of one thread, for tables of at most `rows` rows. Fits of constants and what rounds
 * them take larger tables, too, in blocks of `rows` rows. */
struct sr_work {
    size_t rows;
    double *value;    /* (rows) */
    double *trial;    /* (rows) */
    double *scratch;  /* (2, rows), SR_SCRATCH */
    double *jacobian; /* (columns, rows) */
    int columns;
    bool finishing; /* the search is over: fits end at the time limit, not at the stop before it */
    double enough;  /* fits may end that will not reach a loss this small; 0: none does */
};
int sr_work_init(struct sr_work *work, size_t rows, int maxsize);
void sr_work_free(struct sr_work *work);

/* Computes values (into work->value), outer scale and loss in one call, with the same bits as
 * sr_eval, sr_loss_scale and sr_loss_value. Returns infinity, with scale 0, where a node or the
 * loss is not finite. */
double sr_eval_loss(const struct sr_expr *expr, const struct sr_loss *loss, struct sr_work *work,
                    double *scale);

/* Computes the loss without an outer scale, of tables with more rows than work in parts of
 * work->rows; of others the values stay in work->value. */
double sr_eval_plain(const struct sr_expr *expr, const struct sr_loss *loss, struct sr_work *work);

/* A sample of rows that saves most of the full evaluations. The rows are drawn once, evenly over
 * the order of y; a formula gets its best scale on them. */
enum { SR_SCREEN_ROWS = 128 };
struct sr_screen {
    struct sr_data data;
    struct sr_loss loss;
    double *storage;
};
/* Initialises a screen for a loss over at least 4 * SR_SCREEN_ROWS rows; smaller tables are not
 * screened. */
int sr_screen_init(struct sr_screen *screen, const struct sr_loss *loss);
void sr_screen_free(struct sr_screen *screen);
/* The loss on the screen's rows, infinity where a node is not finite. It estimates the full loss:
 * biased low, as the scale is fitted to fewer rows, with a relative error of about 1 / sqrt(128)
 * times the spread of the rows' losses. Overwrites work->value. */
double sr_screen_loss(const struct sr_screen *screen, const struct sr_expr *expr,
                      struct sr_work *work);

/* ---------------------------------------------------------------- user-defined functions */

/* sr_op_apply() and sr_op_chain() for user-defined operators. */
bool sr_custom_apply(const struct sr_language *language, enum sr_op op, int n, const double *a,
                     const double *b, double *out);
void sr_custom_chain(const struct sr_language *language, enum sr_op op, int operand, int n,
                     const double *a, const double *b, const double *outer, double *d);
/* The mean of the user-defined loss at predictions scale * p, weighted as sum(w l) / sum(w) (NULL:
 * weights of 1); infinite where it is not finite. */
double sr_custom_loss(const struct sr_language *language, size_t rows, const double *p,
                      const double *t, const double *weight, double scale);
/* Fills least (rows) with the user-defined loss at p = t; returns the first row where it is not
 * finite, or rows. */
size_t sr_custom_loss_least(const struct sr_language *language, size_t rows, const double *t,
                            double *least);
/* Checks the user-defined loss on a table. ORR_EUSAGE where it is not finite at p = t (and names
 * file and row as sr_deviance_check()), smaller at a tested p, or larger at
 * none of them. Tested are p some percent from t, and from t by up to many
 * times the spread of t, where losses that are flat near t increase. */
int sr_custom_loss_check(const struct sr_language *language, const struct sr_data *data,
                         const char *file, const size_t *line);
/* (dl/dp) / (p - t) of every row at scale * p, the weights of re-weighted least squares; at least
 * 0. */
void sr_custom_loss_weights(const struct sr_language *language, size_t rows, const double *p,
                            const double *t, double scale, double *weight);

#endif
