/* select.h - admissible formulas and the best of them: complexity, units, constraints, fronts,
 * description length. */
#ifndef SR_SELECT_H
#define SR_SELECT_H

#include "symreg/fit/categories.h"

/* Complexity: the sum of the nodes' prices, which are 1 unless the language sets others. */
int sr_expr_complexity(const struct sr_language *language, const struct sr_expr *expr);
/* Complexity of an outer scale that no constant can absorb: a constant and a product. */
int sr_scale_complexity(const struct sr_language *language);
/* Parses prices such as "exp=3, ^=2, constant=2, variable=1, r=4": integers from 1 to 64, of
 * operators, constants, features, and of single features by their names (features) in place of that
 * of all. NULL: all 1. ORR_EUSAGE names the entry. */
int sr_complexity_set(struct sr_language *language, const char *text, const char *const *names,
                      int features);

/* ------------------------------------------------------------------- units and constraints */

enum { SR_BASES = 8 }; /* different base units */
/* Exponents of the base units. */
struct sr_dimension {
    double power[SR_BASES];
};
/* Whether it is that of a plain number. */
bool sr_dimension_is_none(const struct sr_dimension *d);
struct sr_units {
    int bases;
    char base[SR_BASES][16];
    bool target_known; /* false: the target may have any dimension */
    struct sr_dimension feature[SR_FEATURES], target, constant[SR_NAMED];
};
/* Parses "r=AU, m1=kg, F=kg*AU/yr^2". Features that are not named are dimensionless. */
int sr_units_parse(const char *text, const char *const *names, int features, const char *target,
                   struct sr_units *units);
/* Counts the violations in a formula, from the leaves up. Sums, min and max need operands of equal
 * dimension; exp, log, trigonometric functions and exponents need dimensionless ones. A constant
 * takes the dimension that its position requires, so c * x may have any. With `whole` the formula
 * must have the target's dimension. */
int sr_units_violations(const struct sr_units *units, const struct sr_language *language,
                        const struct sr_expr *expr, bool whole);

/* The dimension that the constant at node i must have for the formula to have the target's; false
 * where the formula does not decide it, as in c (c x). */
bool sr_units_of_constant(const struct sr_units *units, const struct sr_language *language,
                          const struct sr_expr *expr, int i, struct sr_dimension *dimension);
/* Prints "kg*m/s^2"; "1" for a number. */
void sr_units_print(const struct sr_units *units, const struct sr_dimension *dimension, char *text,
                    size_t bytes);
/* Whether a base unit is one that values are converted to, or degrees; offers the others for its
 * name. */
bool sr_unit_is_known(const char *name, struct orr_nearest *nearest);
/* Parses "G=6.674e-11 m^3/kg/s^2, c": names of constants with values and units, or well-known names
 * (physical_constants.c), and adds them to the language. Well-known constants, and values whose
 * unit has names that no column has, are converted to the columns' units where these are well
 * known. A constant without a unit is a number. units NULL: values of well-known constants are in
 * SI units. A name that is not known and has no value, or a value that cannot be converted, is
 * ORR_EUSAGE. */
int sr_constants_parse(const char *text, struct sr_units *units, struct sr_language *language);

/* value^power, equal on every CPU; exact products and roots for half-integers. */
double sr_raise(double value, double power);

/* What a formula is required to be over the range of its table (shape_constraints.c). */
struct sr_shape {
    int slope[SR_FEATURES]; /* 1: never falls as the feature grows, -1: never rises, 0: any */
    bool positive;          /* above 0 */
    /* rows of the table, after lines along columns with all others as in a row */
    struct sr_data points;
    double *storage;
    int columns, lines, along[SR_FEATURES]; /* columns with lines; lines of each */
};
/* Reads "A=+,B=-" into shape->slope. ORR_EUSAGE. */
int sr_shape_monotone(struct sr_shape *shape, const char *text, const char *const *names,
                      int features);
/* Reads "LOW,HIGH" of --constrain-constants. ORR_EUSAGE. */
int sr_shape_bounds(const char *text, double *low, double *high);
/* Fills shape->points: up to 256 rows, and 17 points over the range of each column that matters on
 * 16 lines. sr_shape_free() frees them. */
int sr_shape_make(struct sr_shape *shape, const struct sr_data *all);
void sr_shape_free(struct sr_shape *shape);
/* Whether slopes and values have the required signs at all points; false where the formula is not
 * finite at one. */
bool sr_shape_holds(const struct sr_shape *shape, const struct sr_language *language,
                    const struct sr_expr *expr);

struct sr_template; /* template.h */
/* Constraints on the shape of a formula. */
struct sr_constraints {
    const struct sr_language *language;
    const struct sr_template *form;   /* formulas are instances of this template; NULL: any */
    int maxsize, maxdepth;            /* of the whole formula; maxdepth 0: any */
    int argument[SR_ALL_OPS][2];      /* largest complexity of each argument; -1: any */
    int nest[SR_ALL_OPS][SR_ALL_OPS]; /* [outer][inner]: most inner operators on a path; -1: any */
    const struct sr_units *units;     /* may be NULL */
    const struct sr_shape *shape;     /* may be NULL */
    uint64_t required;                /* columns that a whole formula uses, one bit each */
    double units_penalty;             /* penalty per violation; 0: violations are not admitted */
    bool any_shape;                   /* arguments, nesting and depth are unconstrained */
};
/* Initialises without constraints. The language's operators and prices must not change
 * afterwards. */
void sr_constraints_init(struct sr_constraints *constraints, const struct sr_language *language);
/* Parses "^:-1,1; sin:5": the largest complexity of each argument. */
int sr_constraints_arguments(struct sr_constraints *constraints, const char *text);
/* Parses "sin:cos=0; exp:exp=1": how many of the second operator may stand on one path inside the
 * first. */
int sr_constraints_nesting(struct sr_constraints *constraints, const char *text);
/* Callbacks of sr_settings; context points to a struct sr_constraints. */
bool sr_constraints_admissible(const struct sr_expr *expr, const void *context);
bool sr_constraints_whole(const struct sr_expr *expr, const void *context);
double sr_constraints_penalty(const struct sr_expr *expr, bool whole, const void *context);

/* --------------------------------------------------------------------------------- front */

/* Best formula of every complexity: the index is the complexity; loss is infinite where there is
 * none. */
struct sr_hall_of_fame {
    double loss[SR_NODES + 1];
    struct sr_expr expr[SR_NODES + 1];
};
/* Along a path through the columns used from each row to the nearest one that is left. */
enum { SR_ALONG_NEAREST = -2 };
enum { SR_ODDS = 50 };
/* Rows of the Pareto front: complexity rises, loss strictly falls. */
struct sr_front {
    int count;
    size_t rows;  /* rows of positive weight in the table given to sr_front_describe() */
    double worth; /* what these rows are worth in sr_front_correct(); 0: as many */
    double power; /* of residuals that the compared losses grow with; 0: by the loss */
    /* rows without a common error that these are worth: the n of sr_front_correct(), 0: all */
    double independent;
    int along, followed; /* what gave it: the column, -1 for the order of the rows, or
                            SR_ALONG_NEAREST; the row of the front whose residuals were followed */
    int complexity[SR_NODES + 1];
    double loss[SR_NODES + 1], score[SR_NODES + 1];
    size_t without;                /* row, from 1, that score and best leave out; 0: none */
    int odds;                      /* rows that score, best and mdl leave out; 0: none */
    size_t odd[SR_ODDS];           /* these rows, from 1 */
    double compared[SR_NODES + 1]; /* the loss, or that of a fit without such rows */
    /* the loss used by score and best: the loss, or the corrected loss */
    double fair[SR_NODES + 1];
    double mdl[SR_NODES + 1];  /* description length, NaN until sr_front_describe() */
    double cost[SR_NODES + 1]; /* the part of mdl that does not depend on residuals */
    /* what best and score charge in its place (sr_front_find_evidence()); 0: cost */
    double evidence[SR_NODES + 1];
    /* no time was left to fit these constants: they have no standard errors */
    bool unfitted[SR_NODES + 1];
    bool within; /* the last row is within a tolerance that is asked for: every rule selects it */
    /* rule best: fair losses up to this multiple of the smallest count as equally good */
    double close;
    struct sr_expr expr[SR_NODES + 1];
};

/* The formulas of each complexity with the smallest losses; each has another shape (operators and
 * columns) and another loss than the others of its complexity. One block of memory. */
struct sr_near_entry {
    double loss;
    struct sr_expr expr;
};
struct sr_near {
    int each, most; /* entries of a complexity, largest complexity */
    int count[SR_NODES + 1];
    struct sr_near_entry entry[]; /* (most, each) by rising loss */
};
/* The caller frees the result with free(); NULL when out of memory. */
struct sr_near *sr_near_create(int each, int most);
size_t sr_near_bytes(const struct sr_near *near);
/* The entries of a complexity from 1 on. */
static inline struct sr_near_entry *sr_near_list(const struct sr_near *near, int complexity)
{
    return (struct sr_near_entry *)near->entry + (complexity - 1) * near->each;
}
/* near may be NULL here, and in sr_near_wants(). */
void sr_near_clear(struct sr_near *near);
/* Whether a formula of this complexity and loss would be kept. */
bool sr_near_wants(const struct sr_near *near, int complexity, double loss);
/* Keeps the formula where its loss is among the smallest. */
void sr_near_offer(struct sr_near *near, const struct sr_language *language,
                   const struct sr_expr *expr, double loss);
void sr_near_merge(struct sr_near *near, const struct sr_language *language,
                   const struct sr_near *from);

enum sr_rule { SR_ACCURACY, SR_SCORE, SR_BEST, SR_MDL, SR_RULES };

void sr_hall_of_fame_clear(struct sr_hall_of_fame *hall);
/* Returns true when the formula became the best of its complexity. */
bool sr_hall_of_fame_offer(struct sr_hall_of_fame *hall, const struct sr_language *language,
                           const struct sr_expr *expr, double loss);
/* Makes the front of a hall. Score: -d ln(loss) / d complexity relative to the previous row (first
 * row 0, zero loss = infinity). */
void sr_front_make(const struct sr_hall_of_fame *hall, struct sr_front *front);
/* The largest number of constants of a formula of the front. */
int sr_front_constants(const struct sr_front *front);
/* Row that a rule selects, -1 for an empty front: the last one where front->within. accuracy:
 * smallest loss. score: highest score.
 * best: highest score among fair losses <= front->close x the smallest, or the smallest fair loss
 * where front->evidence is known. mdl: least description
 * length, -1 where none was computed. Ties go to the simplest row. */
int sr_front_select(const struct sr_front *front, enum sr_rule rule);
extern const char *const sr_rule_name[SR_RULES];
/* Finds a rule by name. An unknown name is ORR_EUSAGE; the message begins with `key`, "--rule", and
 * suggests the nearest name. */
int sr_rule_find(const char *key, const char *name, enum sr_rule *rule);
struct sr_data;
/* Description length of every row, in nats (Bartlett, Desmond & Ferreira, IEEE Trans. Evol. Comput.
 * 28 (2024) 950, with a Gaussian likelihood whose variance is the mean squared residual):
 *   L = n/2 ln(mse) + k ln(b) + sum over constants of ln|c| + 1/2 ln(I) - 1/2 ln 3
 * with n = sr_rows_counted() rows (sums are weighted, and scaled to so many rows), k nodes, b
 * different operators and features (all constants count as one), and I the Fisher information of a
 * constant, sum (df/dc)^2 / mse. As in the paper, constants below their precision sqrt(12 / I) are
 * set to 0, and mse and I are computed again, where that gives a shorter length; otherwise each
 * costs its sign, ln 2. */
int sr_front_describe(struct sr_front *front, const struct sr_data *data);
/* The nats of a formula and its constants alone, as in L: I of a constant is the sum of
 * data->weight (df/dc)^2, over e^log_noise, times `share`. value (block), jacobian (constants,
 * block) are work arrays. NaN where a node is not finite. */
double sr_formula_cost(const struct sr_expr *expr, const struct sr_data *data, double log_noise,
                       double share, double *value, double *jacobian);
struct sr_loss;
/* Description lengths, costs and compared losses under a loss other than l2, or of intervals
 * (likelihood.c): with n rows that count, L = n/p ln(compared) + cost, and front->power = p.
 *   l1, study, relative, quantile  p = 1, of Laplace's distribution: compared is the loss
 *   huber, logcosh  p = 2, of a core that is normal up to 1.345 times its scale, with exponential
 *                   tails; the scale follows from the residuals
 *   poisson, gamma, bernoulli  p = 2; of counts, and of targets 0 and 1, the scale of a deviance is
 *                   known: ln(compared) is the loss less 1 up to 1 (bernoulli: always)
 *   intervals (l2)  p = 2: ln(compared) is 2 sr_interval_noise.length / n, which is 0 where all
 *                   predictions are inside
 *   user-defined    p is the power of residuals r that the loss l grows with, sum r l'(r) / sum l,
 *                   for the most accurate formula; compared is the loss
 * In the first two a share of up to 0.3 of the rows may be outliers, which say nothing about the
 * formula: where that is likelier, compared is the loss of rows without outliers that would be as
 * likely. From at most 4,096 rows. ORR_ENOMEM. */
int sr_front_describe_by(struct sr_front *front, const struct sr_loss *loss);
/* Sets front->independent, along and followed where the errors of the rows follow each other;
 * from at most 1,024 rows. Neighbours are rows that are next to each other in the order of the
 * rows or of a column that the most accurate formula uses, or along a path through the ranks of
 * these. The correlation of their residuals must be 0.2 for the most accurate formula, 0.5 for
 * the followed one (the simplest with an rms residual of at most 1% of the rms spread of y, else
 * the most accurate), and both 3.3 standard errors of independent rows. Then front->independent
 * is n / (1 + 2 sum rho), rho the correlations of the followed formula's residuals in one of
 * these orders, whichever gives the least; at least 5, and at least so many that the followed
 * formula gains twice what it costs more than each simpler one (of a front that
 * sr_front_describe() described). With data->variance the followed formula's chi^2 must not exceed
 * its degrees of freedom by 3.3 standard deviations: more is a misfit. 0 below 16 rows, for an
 * exact formula and where neighbours do not resemble each other. The caller gives it to the data
 * for sr_front_describe(). ORR_ENOMEM. */
int sr_front_count_independent(struct sr_front *front, const struct sr_data *data);
/* Whether the rows count as fewer than they are, in whole rows. */
static inline bool sr_front_counts_fewer(const struct sr_front *front)
{
    return front->independent > 0 && front->independent < (double)front->rows - 0.5;
}
/* Computes front->worth after sr_front_describe(), for squared losses: rows times 3 m2^2 / m4, at
 * most rows, m2 and m4 the means of the squares and fourth powers of the weighted residuals of the
 * most accurate formula. 1 for normal noise of one size. Where its size differs between rows, a
 * term that is large in the noisy rows lowers the sum of squares by chance m4 / (3 m2^2) times as
 * much as it does in noise of one size. ORR_ENOMEM. */
int sr_front_weigh_rows(struct sr_front *front, const struct sr_data *data);
/* The description length of a formula of categories with the constants `value` (count, constants):
 * a constant of each category costs its nats in every category, a shared one once. Fills
 * `information` (count, constants); *cost is the part without the residuals. NaN where a value is
 * not finite. */
double sr_categories_length(const struct sr_categories *c, const struct sr_expr *expr,
                            const bool *shared, struct sr_work *work, const double *value,
                            double *information, double *cost);
/* A formula of categories with fitted constants. */
struct sr_category_fit {
    int constants;
    bool shared[SR_NODES];
    double *value; /* (count, constants) owned */
    double loss, mdl, cost;
};
/* Fits the constants of a formula and shares those whose sharing makes the description shorter, the
 * most profitable first. The formula becomes that of its equivalent forms, a (X + b) for a X + c
 * and cos(X + b) for sin(X + c) (with both among `operators`) and the reverse, or the same with
 * opposite sign, with the shortest description; none is tried after c->forms_until_s. fit->loss is
 * infinite where the formula cannot be fitted. The caller frees fit->value, after errors too. */
int sr_categories_share(const struct sr_categories *c, uint64_t operators, struct sr_expr *expr,
                        struct sr_work *work, struct sr_category_fit *fit);
/* The number in the sum exp(u) + 1 that ends at node i and is inverted or divides, as in a logistic
 * curve; -1: there is none. */
int sr_link_number(const struct sr_expr *expr, int i);
/* Nats of the formula without its constants: k ln(b), k with two nodes for each number that is
 * added (sr_from_middle()). */
double sr_expr_nats(const struct sr_expr *expr, int added);
/* What the constants of a formula cost in its evidence (Laplace's approximation), in nats. A
 * constant is with probability one half a fraction p / q with q <= 4, of prior
 * 1 / (p (p + 1) q (q + 1)), else of a size whose logarithm is uniform over six powers of ten; a
 * third of fractions and half of the others are negative. Constants are replaced by fractions
 * within three standard errors where this costs less, the others moving with them as the Hessian
 * says; simple[c] (NULL: not asked for) is the fraction, NaN where there is none. variance: of a
 * row of weight 1; 0: from the residuals. far: the formula is sr_from_middle()'s, and its constants
 * have sr_constant_sizes(). Constants that others make redundant cost what a number of any size
 * does, simple[] is then NaN. NaN where there are no standard errors else. ORR_ENOMEM. */
int sr_constants_evidence(const struct sr_expr *expr, bool far, const struct sr_data *data,
                          double variance, double *nats, double *simple);
/* The same of constants whose covariance is known, fitted to so many rows. */
void sr_measured_evidence(const double *value, const struct sr_uncertainty *uncertainty,
                          double counted, double *nats, double *simple);
/* Fills front->evidence after sr_front_describe() by the data given there, sr_front_weigh_rows()
 * and sr_front_find_pole(): the nats of every row without its residuals. The noise is that of the
 * row of least description length. Columns far from 0 count from their middle. Nothing where the
 * errors are not independent, normal and of one size (data->independent, front->without,
 * front->worth below half the rows), where fewer than SR_EVIDENCE_LEAST rows count, which say too
 * little about Hessians, or the table has more than SR_EVIDENCE_MOST. ORR_ENOMEM. */
enum { SR_EVIDENCE_LEAST = 12, SR_EVIDENCE_MOST = 100000 };
int sr_front_find_evidence(struct sr_front *front, const struct sr_data *data);
/* Looks for a row at which a formula of the front has a pole or a peak: the row is far off from the
 * formula before (Student's test of the largest of front->rows residuals, at 0.1%); its residual is
 * at least halved; without it ln(loss) falls by less than half as much, from the best of the
 * formulas before; and the formula is steep there (a step of 0.01 standard deviations of a column
 * takes away half of what it explains). Then sets front->without, and front->compared of all
 * formulas, whose constants are fitted again for it. A formula that explains an unusual row
 * smoothly changes nothing. ORR_ENOMEM. */
int sr_front_find_pole(struct sr_front *front, const struct sr_loss *loss);
/* The loss of values in which a row has no residual. */
double sr_loss_without(const struct sr_loss *loss, double *value, size_t row);
/* ---- rows far from the others (far_rows.c, odd_rows.c) */

/* The ranks of the rows in each column, so that scales do not matter: rank (features, rows).
 * ORR_ENOMEM. */
int sr_ranks_make(const struct sr_data *data, double *rank);
/* Lists the `count` nearest rows of row i by their ranks, the nearest first. */
enum { SR_NEAREST = 6 }; /* at most */
void sr_ranks_nearest(const double *rank, const struct sr_data *data, size_t i, size_t count,
                      size_t *near);
/* The standard deviation of normal deviations over the median of their sizes. */
#define SR_NORMAL_SCALE 1.4826
/* SR_NORMAL_SCALE times the median |residual| of a formula, for its constants; residual (rows) is
 * filled, work (rows) overwritten. Infinite where the formula has no value or too many
 * constants. */
double sr_far_scale(const struct sr_data *data, const struct sr_expr *expr, double *residual,
                    double *work);
/* Marks residuals of more than 8 such scales of the 21 rows with the most similar predictions,
 * which grow with the prediction where it is larger than theirs, or of the scale `finest` where
 * that is larger. ORR_ENOMEM. */
int sr_far_mark(const struct sr_data *data, const double *residual, double finest, bool *far,
                size_t *count);
/* Whether at most a third of the marked rows have another one for their neighbour: what a formula
 * lacks has its rows side by side. Rows far outside of what the others span are no neighbours. In
 * more than three columns no rows are side by side, and only such rows are alone. ORR_ENOMEM. */
enum { SR_NEAR_COLUMNS = 3 };
int sr_far_alone(const struct sr_data *data, const bool *far, size_t count, bool *alone);
/* Looks for rows that hide a law, as fill values and misprints do: without them a formula of the
 * front, fitted to absolute deviations, is far from no other row, and describes the table, with
 * these rows spread evenly and named, in SR_ODD_NATS less than the best formula does with them, and
 * than `rival` (infinite: none), a description of other formulas. A row that a moved decimal point
 * of one number brings to the formula costs the nats of this mistake instead, and SR_ODD_NATS less
 * outside of what the others span. At most one row in twenty, or three, that are sr_far_alone(),
 * where the residuals of the others do not follow each other
 * (sr_front_count_independent()); in tables of 10 to 4,096 rows, after sr_front_describe() for
 * squared losses. weight (rows): those of the data, 0 for these rows; sets front->odd and odds.
 * ORR_ENOMEM. */
enum { SR_ODD_NATS = 10 };
int sr_front_find_odd(struct sr_front *front, const struct sr_loss *loss, double rival,
                      double *weight);
/* How many rows of so many may be odd; 0: none are looked for. */
size_t sr_odd_most(size_t rows);
/* Marks the rows outside of what the others span in a column or the target, by more than they span;
 * none where they are more than sr_odd_most(). outside (rows) is false before. ORR_ENOMEM. */
int sr_rows_outside(const struct sr_data *data, bool *outside);
/* Corrects scores for small tables and uneven residuals, after sr_front_describe(). With n rows,
 * worth w (front->worth; 0: n), cost c of a formula in nats, and p = front->power; 0: 2 for
 * squares, else 1,
 *   ln(fair) = ln(front->compared) + p c / n + ln(1 + p c (1 / w - 1 / n)),
 * so that for w = n the term n/p ln(fair) is the description length. Scores are then -d ln(fair) /
 * d complexity relative to the smallest fair loss before. A loss of 0 stays 0 only where
 * sr_loss_decides(). front->close becomes the ratio that corresponds to 4 nats, at most 1.5. */
void sr_front_correct(struct sr_front *front, const struct sr_loss *loss);
/* Sets front->within, and removes the rows after the simplest formula whose rms residual is at most
 * `tolerance` times the rms spread of y, both weighted; nothing where there is none. ORR_ENOMEM. */
int sr_front_end_within(struct sr_front *front, const struct sr_data *data, double tolerance);
/* Removes the rows after the simplest formula that deviates from each row of positive weight by no
 * more than the rounding of data->digits allows, as longer formulas gain nothing. Where a longer
 * formula reproduces far more digits, the numbers are taken as exact and no row is removed. */
int sr_front_cut(struct sr_front *front, const struct sr_loss *loss);
/* Writes the front as "Complexity,Loss,Equation", atomically; with ",TestLoss,TestR2" where
 * test_loss and test_r2 (front.count) are not NULL. */
int sr_front_write(const struct sr_front *front, const struct sr_language *language,
                   const char *const *names, const double *test_loss, const double *test_r2,
                   const char *path);

/* Number of digits of all constants; a sign that an operator could absorb counts as half a
 * digit. */
double sr_digits(const struct sr_expr *expr);
/* Constraints on rewritten formulas: at most maxsize nodes, and the callback `allowed` (NULL:
 * anything is allowed). */
struct sr_tidy {
    const struct sr_language *language;
    const struct sr_loss *loss;
    uint64_t operators; /* operators that may be used, one bit each */
    int maxsize;
    bool (*allowed)(const struct sr_expr *expr, const void *context);
    const void *context;
};
/* Rounds the constants as sr_snap() does. Among equivalent forms (3 x for x / 0.333, 11 x + 5 for
 * 11 (x + 0.4545), sin(w (x - x0)) for sin(w x + phase), u for u ^ 1) it chooses the one with the
 * fewest digits that is no more complex. Returns the loss. */
double sr_tidy(const struct sr_tidy *tidy, struct sr_expr *expr, struct sr_work *work);
/* Writes u / 3 for 0.3333333333333333 u, 1.5 u for u / 0.6666666666666666, u + 2 for u - -2 and
 * 3 u + 2 for 3 (u + 0.6666666666666666). No constant is rounded. */
void sr_tidy_factors(const struct sr_tidy *tidy, struct sr_expr *expr);
/* Writes c (c1 u + v) as c c1 u + c v, with differences and quotients too. False where the formula
 * has no such part, or no form of this complexity is allowed; *out is undefined then. */
bool sr_tidy_distribute(const struct sr_tidy *tidy, const struct sr_expr *expr,
                        struct sr_expr *out);
/* Writes the sum that ends at node i, c u + d v of numbers that differ by at most 1%, as c (u + v),
 * with differences, quotients and a number in place of a term, too; no number is fitted. False
 * where there is none, or no form that is no more complex is allowed; *out is undefined then. */
bool sr_tidy_join(const struct sr_tidy *tidy, const struct sr_expr *expr, int i,
                  struct sr_expr *out);

#endif
