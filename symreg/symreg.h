/* symreg.h - symbolic regression: from a table of numbers to a Pareto front of formulas.
 *
 * A formula is a fixed-size postfix array with inline constants; nothing is allocated while the
 * search runs. Islands of formulas evolve by tournament, mutation and crossover; the outer scale of
 * every formula is solved exactly and its constants by Levenberg-Marquardt with the exact Jacobian.
 * Random streams are keyed by (seed, run, island, iteration), so that a front is the same for any
 * number of threads. Nothing here knows or favours a law: a formula is compared with k m1 m2 / r^2
 * only after the search (sr_law_check).
 *
 * Complexity = number of nodes: every operator, constant and feature counts 1. Functions that
 * return int follow base.h (0 or an enum orr_status); they are safe to call from several threads
 * at once unless said otherwise. */
#ifndef SR_SYMREG_H
#define SR_SYMREG_H

#include "base/base.h"

enum {
    SR_NODES = 64,    /* of one formula, at most */
    SR_FEATURES = 64, /* columns of x, at most */
    SR_TEXT = 8192,   /* bytes that hold any printed formula */
};

/* ------------------------------------------------------------------------------ operators */

/* Leaves first; the rest in the order of ops_table.h. */
enum sr_op {
    SR_CONSTANT,
    SR_FEATURE,
    SR_ADD,
    SR_SUB,
    SR_MUL,
    SR_DIV,
    SR_POW,
    SR_MIN,
    SR_MAX,
    SR_NEG,
    SR_INV,
    SR_SQUARE,
    SR_CUBE,
    SR_SQRT,
    SR_ABS,
    SR_EXP,
    SR_LOG,
    SR_SIN,
    SR_COS,
    SR_TAN,
    SR_ASIN,
    SR_ACOS,
    SR_ATAN,
    SR_SINH,
    SR_COSH,
    SR_TANH,
    SR_SIGN,
    SR_OPS
};
/* Operators of the user, named by sr_custom_define(), stand behind those of the table. */
enum { SR_CUSTOM = SR_OPS, SR_CUSTOMS = 8, SR_ALL_OPS = SR_OPS + SR_CUSTOMS };

/* One row of the table. Unary operators ignore b. da and db are the partial derivatives at (a, b)
 * with value v. Outside the domain value() is NaN or infinite. The same bits as the evaluation of
 * whole formulas, on every CPU; accuracy in vecmath.h. */
struct sr_op_info {
    const char *name;
    int arity; /* 0 for leaves */
    bool infix;
    double (*value)(double a, double b);
    double (*da)(double a, double b, double v);
    double (*db)(double a, double b, double v);
};
extern struct sr_op_info
    sr_op_table[SR_ALL_OPS]; /* rows from SR_CUSTOM on have arity 0 until defined */

/* Finds an operator of this arity by name. An unknown name is ORR_EUSAGE with the nearest valid
 * one; `key` names the setting in the message ("symreg.unary"). */
int sr_op_find(const char *key, const char *name, int arity, enum sr_op *op);

/* Applies an operator to n <= SR_TILE rows; out may be a or b. False when a result is not
 * finite. */
enum { SR_TILE = 512 };
bool sr_op_apply(enum sr_op op, int n, const double *a, const double *b, double *out);
/* d[i] = outer[i] * d op/d operand, for operand 0 (a) or 1 (b). */
void sr_op_chain(enum sr_op op, int operand, int n, const double *a, const double *b,
                 const double *v, const double *outer, double *d);

/* --------------------------------------------------------------------------- expressions */

struct sr_node {
    uint8_t op;      /* enum sr_op */
    uint8_t size;    /* nodes of the subtree that ends here, itself included */
    uint8_t feature; /* of SR_FEATURE */
    double value;    /* of SR_CONSTANT */
};
/* Postfix order: operands before operators, the root last. */
struct sr_expr {
    int count;
    struct sr_node node[SR_NODES];
};

/* Index of the first node of the subtree that ends at i. */
int sr_expr_start(const struct sr_expr *expr, int i);
/* Recomputes the subtree sizes; false when the array is no single formula. */
bool sr_expr_measure(struct sr_expr *expr);
/* Replaces `length` nodes from `start` by other nodes (not part of expr) and measures. False, with
 * expr unchanged, when the result has more than `limit` nodes. */
bool sr_expr_splice(struct sr_expr *expr, int start, int length, const struct sr_node *nodes,
                    int count, int limit);
/* Multiplies the formula by `scale` inside its own constants, where that adds no node (c * x,
 * inv(c * x), c + c * x, ...). False, with expr unchanged, when no constant can take it. */
bool sr_expr_absorb(struct sr_expr *expr, double scale);
/* Multiplies by `scale`: absorbed, or as two more nodes. False when there is no room. */
bool sr_expr_scale(struct sr_expr *expr, double scale);
/* Rewrites the formula where that makes it shorter, with the operators it has: constants folded,
 * equal terms and factors joined, x inv(x), x - x, neg(neg(x)), exp(log(x)) gone. Values stay
 * within rounding wherever the formula is defined. */
void sr_expr_simplify(struct sr_expr *expr);
/* The same with the operators whose bits are set; true when the formula changed. */
bool sr_expr_rewrite(struct sr_expr *expr, uint64_t operators);
/* Bit per operator that occurs. */
uint64_t sr_expr_operators(const struct sr_expr *expr);
/* Hash of the algebraic normal form: equal for m1 * m2 / r and inv(r) * (m2 * m1). */
uint64_t sr_expr_canonical_hash(const struct sr_expr *expr);
/* Takes off a constant factor at the root, if any. */
void sr_expr_strip(struct sr_expr *expr);
/* 64-bit hash of operators, features and constants. */
uint64_t sr_expr_hash(const struct sr_expr *expr);
/* Constants in order of appearance: count, read, write. */
int sr_expr_constants(const struct sr_expr *expr, double constants[SR_NODES]);
void sr_expr_set_constants(struct sr_expr *expr, const double *constants);

/* Prints in the notation of PySR, "(39.48 * inv((r * r)))", constants as %.7g. names[i] is
 * feature i. Always NUL-terminated; text that does not fit is cut. */
void sr_expr_print(const struct sr_expr *expr, const char *const *names, char *text, size_t bytes);
/* Reads that notation back, with the usual precedence: ^ (from the right), signs, * /, + -. A
 * minus before a number is the number's own, before anything else it is neg(). */
int sr_expr_parse(const char *text, const char *const *names, int features, struct sr_expr *expr);

/* ---------------------------------------------------------------- what a user adds to that
 *
 * Process-wide, set before any formula is made and not while a search runs. */

/* Operators as formulas: "g(x)=x*exp(-x); h(u,v)=u/(u+v)", one or two arguments, from operators
 * known before. Each counts as one node. ORR_EUSAGE names what is wrong with which. */
int sr_custom_define(const char *text);
/* Forgets all, the loss too. */
void sr_custom_clear(void);
/* The formula of an operator from SR_CUSTOM on; its arguments are features 0 and 1. */
const struct sr_expr *sr_custom_expr(enum sr_op op);
/* What sr_op_apply() and sr_op_chain() do for these. */
bool sr_custom_apply(enum sr_op op, int n, const double *a, const double *b, double *out);
void sr_custom_chain(enum sr_op op, int operand, int n, const double *a, const double *b,
                     const double *outer, double *d);
/* The loss ORR_SR_CUSTOM: mean of a formula of p (prediction) and t (target). It should be
 * smallest where p is t and grow from there. */
int sr_custom_loss_define(const char *text);
/* Its mean over rows of scale * p, with weights (NULL: 1 each) as sum(w l) / sum(w); infinite where
 * it is not finite. */
double sr_custom_loss(size_t rows, const double *p, const double *t, const double *weight,
                      double scale);
/* (dl/dp) / (p - t) of every row at scale * p, what re-weighted least squares needs; at least 0. */
void sr_custom_loss_weights(size_t rows, const double *p, const double *t, double scale,
                            double *weight);

/* Complexity: the nodes, each at its price, 1 unless said. */
int sr_expr_complexity(const struct sr_expr *expr);
/* Of an outer scale that no constant of the formula takes: a constant and a product. */
int sr_scale_complexity(void);
/* "exp=3, ^=2, constant=2, variable=1": whole numbers from 1 to 64; NULL: all 1. */
int sr_complexity_set(const char *text);

/* ------------------------------------------------------------------- units and constraints */

enum { SR_BASES = 8 }; /* different base units */
/* Powers of the base units. */
struct sr_dimension {
    double power[SR_BASES];
};
struct sr_units {
    int bases;
    char base[SR_BASES][16];
    bool target_known; /* else the target may have any dimension */
    struct sr_dimension feature[SR_FEATURES], target;
};
/* "r=AU, m1=kg, F=kg*AU/yr^2": features that are not named have no dimension. */
int sr_units_parse(const char *text, const char *const *names, int features, const char *target,
                   struct sr_units *units);
/* Violations in a formula, from the leaves up: sums, min and max need equal dimensions, exp, log,
 * trigonometry and exponents none. A constant takes the dimension that its place needs, so c * x
 * has any. With `whole` the formula must have the target's dimension. */
int sr_units_violations(const struct sr_units *units, const struct sr_expr *expr, bool whole);

/* What a formula may look like. */
struct sr_constraints {
    int maxsize, maxdepth;            /* of the whole; maxdepth 0 = any */
    int argument[SR_ALL_OPS][2];      /* largest complexity of each argument, -1 = any */
    int nest[SR_ALL_OPS][SR_ALL_OPS]; /* [outer][inner]: most inner in a row, -1 = any */
    const struct sr_units *units;     /* may be NULL */
    double units_penalty;             /* per violation; 0: none is allowed */
    bool any_shape;                   /* arguments, nesting and depth are all free */
};
void sr_constraints_init(struct sr_constraints *constraints);
/* "^:-1,1; sin:5": largest complexity of each argument. */
int sr_constraints_arguments(struct sr_constraints *constraints, const char *text);
/* "sin:cos=0; exp:exp=1": how many of the second may stand on one path inside the first. */
int sr_constraints_nesting(struct sr_constraints *constraints, const char *text);
/* The callbacks of sr_settings; context is a struct sr_constraints. */
bool sr_constraints_admissible(const struct sr_expr *expr, const void *context);
bool sr_constraints_whole(const struct sr_expr *expr, const void *context);
double sr_constraints_penalty(const struct sr_expr *expr, const void *context);

/* ------------------------------------------------------------------------------- notations */

enum sr_notation { SR_LATEX, SR_C, SR_SYMPY, SR_NOTATIONS };
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
/* Prints with as few parentheses as the notation allows; operators of the user are written out in
 * C and SymPy. */
void sr_expr_write(const struct sr_expr *expr, enum sr_notation notation,
                   const struct sr_export *names, char *text, size_t bytes);

/* ---------------------------------------------------------------------------- evaluation */

/* A table of finite numbers: x is column-major, feature f at x + f * rows. The caller keeps both
 * arrays. */
struct sr_data {
    size_t rows;
    int features;
    const double *x;      /* (features, rows) */
    const double *y;      /* (rows) */
    const double *weight; /* (rows) of the losses, finite and not negative; NULL: all 1 */
};

/* value[i] of every row; false as soon as any node is not finite. */
bool sr_eval(const struct sr_expr *expr, const struct sr_data *data, double *value);
/* Also jacobian[c * rows + i] = d value[i] / d constant c, by reverse accumulation. */
bool sr_eval_jacobian(const struct sr_expr *expr, const struct sr_data *data, double *value,
                      double *jacobian);
struct sr_loss;
/* gradient[c] = d loss / d constant c of the formula as it stands, in one reverse sweep; false as
 * soon as any node is not finite. Not of a loss of the user. */
bool sr_eval_gradient(const struct sr_expr *expr, const struct sr_loss *loss, double *gradient);

/* -------------------------------------------------------------------------------- losses */

/* The loss of predictions p of t = data->y, in the units of y: the mean, weighted by data->weight,
 * of, with d = p - t,
 *   l1        |d|
 *   l2        d^2
 *   study     max(1e-8, |d|) - 1e-8
 *   relative  |d| / max(|t|, 1e-12 unit)
 *   huber     d^2 / 2 where |d| <= c, else c (|d| - c / 2); c = parameter * unit
 *   logcosh   c^2 log cosh(d / c); c = parameter * unit
 *   quantile  q |d| where p < t, else (1 - q) |d|; q = parameter, in (0, 1) */
struct sr_loss {
    enum orr_symreg_loss kind;
    const struct sr_data *data;
    double unit;      /* median |y|, or mean |y| where that is 0, or 1: what counts as small */
    double base;      /* loss of the best constant */
    double noise;     /* losses below are rounding: they count as 0 */
    double parameter; /* c or q of the list above */
    double total;     /* sum of the data's weights */
    double *weight;   /* (rows) of every |d|: data->weight, for relative by |t|; NULL: all 1 */
    /* One and two unary operators of every feature, where they take little memory, else NULL:
     * sr_eval_loss reads them as if they were features. */
    struct sr_columns *columns;
};
/* ORR_EINVAL for weights that are negative, not finite or all 0, and parameters out of range. */
int sr_loss_init_with(struct sr_loss *loss, enum orr_symreg_loss kind, double parameter,
                      const struct sr_data *data);
/* With the parameter 0.5. */
int sr_loss_init(struct sr_loss *loss, enum orr_symreg_loss kind, const struct sr_data *data);
void sr_loss_free(struct sr_loss *loss);
enum { SR_SCRATCH = 128 };
/* Loss of the predictions scale * p. */
double sr_loss_value(const struct sr_loss *loss, const double *p, double scale);
/* The scale that minimises the loss: a weighted median (quantile) of t / p for absolute losses, in
 * closed form for l2, by safeguarded Newton steps to 1e-12 for huber and logcosh; of study it is
 * that of l1. scratch holds 2 * rows + SR_SCRATCH. 0 when every p is 0. */
double sr_loss_scale(const struct sr_loss *loss, const double *p, double *scratch);

/* The value at which half of the weight is reached, of n pairs that are reordered and
 * partly overwritten; scratch SR_SCRATCH. */
double sr_weighted_median(double *value, double *weight, size_t n, double *scratch);

/* ----------------------------------------------------------------------------- constants */

/* Arrays for one thread. */
struct sr_work {
    double *value;    /* (rows) */
    double *trial;    /* (rows) */
    double *scratch;  /* (2, rows), SR_SCRATCH */
    double *jacobian; /* (columns, rows) */
    int columns;
};
int sr_work_init(struct sr_work *work, size_t rows, int maxsize);
void sr_work_free(struct sr_work *work);

/* Values (into work->value), outer scale and loss in one go: the same bits as sr_eval,
 * sr_loss_scale and sr_loss_value. Infinity, with scale 0, where a node is not finite and where
 * the loss exceeds `bound`, which is often known after few rows; no bound: HUGE_VAL. */
double sr_eval_loss(const struct sr_expr *expr, const struct sr_loss *loss, double bound,
                    struct sr_work *work, double *scale);

/* The same of the formula as it stands, without an outer scale. */
double sr_eval_plain(const struct sr_expr *expr, const struct sr_loss *loss, struct sr_work *work);

/* A look at few rows, to be spared most of the full evaluations: the rows are drawn once, evenly
 * over the order of y, and the formula gets its best scale on them. */
enum { SR_SCREEN_ROWS = 128 };
struct sr_screen {
    struct sr_data data;
    struct sr_loss loss;
    double *storage;
};
/* Of a loss over at least 4 * SR_SCREEN_ROWS rows; smaller tables are taken whole. */
int sr_screen_init(struct sr_screen *screen, const struct sr_loss *loss);
void sr_screen_free(struct sr_screen *screen);
/* The loss on these rows; infinity where a node is not finite on them. An estimate of the loss:
 * biased low, as the scale is fitted to fewer rows, with a relative error of about 1 / sqrt(128)
 * times the spread of the rows' losses. Overwrites work->value. */
double sr_screen_loss(const struct sr_screen *screen, const struct sr_expr *expr,
                      struct sr_work *work);
/* Is a full evaluation worth while? False where the screened loss exceeds (1 + margin) times the
 * screened loss of what the formula competes with, `rival`: a formula whose full loss is below
 * that of its rival is discarded by mistake only where the sample misjudges their ratio by more
 * than 1 + margin; 0.5 is safe for most tables. Callers count what they discard apart
 * (sr_fit.screened). */
bool sr_screen(const struct sr_screen *screen, const struct sr_expr *expr, double rival,
               double margin, struct sr_work *work);

/* Fits the constants from where they stand and from `restarts` points near by, by
 * Levenberg-Marquardt (re-weighted for absolute losses). with_scale fits an outer factor along
 * with them, which is written into the formula only where its constants can take it. Returns the
 * loss reached (with that factor), never worse than before; infinity when the formula can not be
 * evaluated. */
double sr_constants_fit(const struct sr_loss *loss, struct sr_expr *expr, bool with_scale,
                        int iterations, int restarts, gsl_rng *rng, struct sr_work *work);

/* --------------------------------------------------------------------------------- front */

/* Best formula of every complexity: index = complexity, loss infinite where there is none. */
struct sr_hall {
    double loss[SR_NODES + 1];
    struct sr_expr expr[SR_NODES + 1];
};
/* Rows of the Pareto front: complexity rises, loss strictly falls. */
struct sr_front {
    int count;
    double loss[SR_NODES + 1], score[SR_NODES + 1];
    double mdl[SR_NODES + 1]; /* description length, NaN until sr_front_describe() */
    struct sr_expr expr[SR_NODES + 1];
};
enum sr_rule { SR_ACCURACY, SR_SCORE, SR_BEST, SR_MDL, SR_RULES };

void sr_hall_clear(struct sr_hall *hall);
/* True when the formula became the best of its size. */
bool sr_hall_offer(struct sr_hall *hall, const struct sr_expr *expr, double loss);
/* Front of a hall with scores: -d ln(loss) / d complexity against the row before (first row 0,
 * zero loss = infinity). */
void sr_front_make(const struct sr_hall *hall, struct sr_front *front);
/* Row chosen by a rule, -1 of an empty front: accuracy = smallest loss; score = highest score;
 * best = highest score among losses <= 1.5 x the smallest; mdl = smallest description length, -1
 * where none was computed. Ties: the simplest. */
int sr_front_select(const struct sr_front *front, enum sr_rule rule);
extern const char *const sr_rule_name[SR_RULES];
/* "symreg.rules" by name; unknown names are ORR_EUSAGE with the nearest. */
int sr_rule_find(const char *name, enum sr_rule *rule);
struct sr_data;
/* Description length of every row, in nats (Bartlett, Desmond & Ferreira, IEEE Trans. Evol. Comput.
 * 28 (2024) 950, with a Gaussian likelihood whose variance is the mean squared residual):
 *   L = n/2 ln(mse) + k ln(b) + sum over constants max(0, ln|c| + 1/2 ln(I) - 1/2 ln 3)
 * n rows (weighted where they are), k nodes, b different operators and features among them (a
 * constant counts as one), I the Fisher information of the constant, sum (df/dc)^2 / mse. */
int sr_front_describe(struct sr_front *front, const struct sr_data *data);
/* Writes "Complexity,Loss,Equation" atomically. */
int sr_front_write(const struct sr_front *front, const char *const *names, const char *path);

/* --------------------------------------------------------------------------- equivalence */

/* Value at one point x (features) in long double; NaN or infinite outside the domain. */
long double sr_eval_long(const struct sr_expr *expr, const double *x);
/* Point number k of a quasi-random sequence (Roberts' R_d) over low .. high, in equal ratios where
 * low > 0. */
void sr_quasi_random(int k, int features, const double *low, const double *high, double *x);
/* A range `factor` times as wide: to low / factor .. high * factor where low > 0, else about its
 * middle. */
void sr_widen(double factor, double *low, double *high);
/* The difference |a - b| / max(|a|, |b|) that `share` of 512 quasi-random points stay below;
 * points where neither is defined do not count. Infinite when one is defined where the other is
 * not at more than 1 of 20 points, or hardly any point is left. */
double sr_disagreement(const struct sr_expr *a, const struct sr_expr *b, int features,
                       const double *low, const double *high, double share);
/* The same function: the same normal form, or values within `tolerance` at 98% of the points both
 * over low .. high and over 10 times wider ranges. */
bool sr_equivalent(const struct sr_expr *a, const struct sr_expr *b, int features,
                   const double *low, const double *high, double tolerance);
/* Rounds each constant to the fewest digits (at most 6) that cost nothing: all together raise the
 * loss by at most 0.0025 / rows of itself, what a twentieth of a standard error of one constant
 * does; an exact formula stays exact. Returns the loss. */
double sr_snap(const struct sr_loss *loss, struct sr_expr *expr, struct sr_work *work);

/* -------------------------------------------------------------------------------- search */

/* What a search shows of one run after every epoch, in the order of fits and restarts. */
struct sr_observation {
    int fit, restart, epoch;
    double seconds, evaluations; /* of the whole search, of this run */
    const struct sr_front *front;
};

/* Settings with names resolved. The callbacks may be NULL; those about formulas are called by
 * several threads at once. */
struct sr_settings {
    enum sr_op binary[SR_ALL_OPS], unary[SR_ALL_OPS];
    int binary_count, unary_count;
    enum orr_symreg_loss loss;
    double loss_parameter; /* of huber, logcosh, quantile */
    int maxsize, iterations, populations, population_size, cycles, restarts;
    double parsimony;
    uint64_t seed;
    double enumerate;         /* formulas tried before the islands start; 0: none */
    int patience;             /* end of a run after so many epochs in which no row of the front fell
                             * by 1% of its loss; 0: never */
    double stop_loss;         /* end when every fit has reached it; 0: only when it is exact */
    double max_seconds;       /* end with the epoch in which they pass; 0: no limit */
    double max_evaluations;   /* of all fits together, likewise */
    const char *checkpoint;   /* file written after epochs, at most once in a second; NULL: none */
    bool checkpoint_of_stops; /* only to go on after a stop: none is written at the end */
    bool resume;              /* go on from that file where it is there; else it is removed first */
    void (*observe)(void *observer, const struct sr_observation *seen); /* NULL: nobody */
    void *observer;
    bool compat; /* the algorithm of SymbolicRegression.jl */
    /* may this formula live, a free outer factor understood? May the front hold it as it is? */
    bool (*admissible)(const struct sr_expr *expr, const void *context);
    bool (*whole)(const struct sr_expr *expr, const void *context);
    /* added to the loss, in units of the loss of the best constant */
    double (*penalty)(const struct sr_expr *expr, const void *context);
    const void *context;         /* of these three */
    uint64_t context_digest;     /* of what they, own operators and the own loss depend on */
    const struct sr_expr *guess; /* (guesses) formulas that every island starts with */
    int guesses;
};
/* Checks operator names; creates nothing. */
int sr_settings_init(struct sr_settings *settings, const struct orr_preset *preset);

/* One fit: a table, and the restarts' best front. */
struct sr_fit {
    struct sr_data data;
    uint64_t stream;       /* keys the random streams: the sample's number */
    struct sr_front front; /* result: of the restart with the highest score */
    double evaluations;    /* result: formulas evaluated on all rows, all restarts */
    double screened;       /* result: formulas discarded after a look at few rows */
};
/* Fits all tables with `threads` threads, results independent of their number. At a signal it
 * returns ORR_EINTR with the fronts found so far. progress may be NULL. */
int sr_search(const struct sr_settings *settings, struct sr_fit *fits, int count, int threads,
              struct orr_progress *progress);

/* ---------------------------------------------------------------------------- whole runs */

/* --compat by name, NULL: not given; ORR_EUSAGE for another than "pysr". */
int sr_compat_find(const char *name, bool *compat);
/* Run directory mode of bin/symreg: fits every source and sample, writes laws/, prints the table
 * of laws. Tables of forces that are not what the settings make are refused, naming what differs;
 * orbits: the data sets that they are of where these are not of the settings, "" = they are. */
int sr_laws_run(const struct orr_cli *cli, const char *orbits);
/* Weights 1/y^2 into weight (rows), for noise in proportion to y: rows whose |y| is below a tenth
 * of the median |y| get that one's. False when the median is 0 or its square is no number; then
 * weights may be infinite. */
bool sr_weights_relative(const double *y, size_t rows, double *weight);
/* The options of CSV mode as given, NULL where not; docs/symreg.md has their meaning. */
struct sr_csv_options {
    const char *target, *features, *weights, *log_target;
    const char *units, *units_penalty;
    const char *binary, *unary, *define, *loss, *guess;
    const char *constrain, *nest, *complexity, *maxdepth, *maxsize;
    const char *seconds, *evaluations, *stop_loss, *iterations, *batch, *compat, *rule;
};
/* CSV mode: any table in, a Pareto front out. */
int sr_csv_run(const struct orr_cli *cli, const char *file, const struct sr_csv_options *options);

#endif
