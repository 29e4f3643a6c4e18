/* select.h - which formulas may live, and which are the best: units, constraints, fronts,
 * description length. */
#ifndef SR_SELECT_H
#define SR_SELECT_H

#include "symreg/fit/fit.h"

/* Complexity: the nodes, each at its price, 1 unless the language says otherwise. */
int sr_expr_complexity(const struct sr_language *language, const struct sr_expr *expr);
/* Of an outer scale that no constant of the formula takes: a constant and a product. */
int sr_scale_complexity(const struct sr_language *language);
/* "exp=3, ^=2, constant=2, variable=1": whole numbers from 1 to 64; NULL: all 1. */
int sr_complexity_set(struct sr_language *language, const char *text);

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
int sr_units_violations(const struct sr_units *units, const struct sr_language *language,
                        const struct sr_expr *expr, bool whole);

/* What a formula may look like. */
struct sr_constraints {
    const struct sr_language *language;
    int maxsize, maxdepth;            /* of the whole; maxdepth 0 = any */
    int argument[SR_ALL_OPS][2];      /* largest complexity of each argument, -1 = any */
    int nest[SR_ALL_OPS][SR_ALL_OPS]; /* [outer][inner]: most inner in a row, -1 = any */
    const struct sr_units *units;     /* may be NULL */
    double units_penalty;             /* per violation; 0: none is allowed */
    bool any_shape;                   /* arguments, nesting and depth are all free */
};
/* Of the language's operators and prices, which are not to change any more; all is free. */
void sr_constraints_init(struct sr_constraints *constraints, const struct sr_language *language);
/* "^:-1,1; sin:5": largest complexity of each argument. */
int sr_constraints_arguments(struct sr_constraints *constraints, const char *text);
/* "sin:cos=0; exp:exp=1": how many of the second may stand on one path inside the first. */
int sr_constraints_nesting(struct sr_constraints *constraints, const char *text);
/* The callbacks of sr_settings; context is a struct sr_constraints. */
bool sr_constraints_admissible(const struct sr_expr *expr, const void *context);
bool sr_constraints_whole(const struct sr_expr *expr, const void *context);
double sr_constraints_penalty(const struct sr_expr *expr, bool whole, const void *context);

/* --------------------------------------------------------------------------------- front */

/* Best formula of every complexity: index = complexity, loss infinite where there is none. */
struct sr_hall_of_fame {
    double loss[SR_NODES + 1];
    struct sr_expr expr[SR_NODES + 1];
};
/* Rows of the Pareto front: complexity rises, loss strictly falls. */
struct sr_front {
    int count;
    size_t rows; /* of positive weight, of the table that sr_front_describe() saw */
    int complexity[SR_NODES + 1];
    double loss[SR_NODES + 1], score[SR_NODES + 1];
    double fair[SR_NODES + 1]; /* the loss that score and best go by: loss, or the corrected one */
    double mdl[SR_NODES + 1];  /* description length, NaN until sr_front_describe() */
    double cost[SR_NODES + 1]; /* the formula's part of it */
    double close; /* fair losses up to so many times the smallest are as good for best */
    struct sr_expr expr[SR_NODES + 1];
};
enum sr_rule { SR_ACCURACY, SR_SCORE, SR_BEST, SR_MDL, SR_RULES };

void sr_hall_of_fame_clear(struct sr_hall_of_fame *hall);
/* True when the formula became the best of its size. */
bool sr_hall_of_fame_offer(struct sr_hall_of_fame *hall, const struct sr_language *language,
                           const struct sr_expr *expr, double loss);
/* Front of a hall with scores: -d ln(loss) / d complexity against the row before (first row 0,
 * zero loss = infinity). */
void sr_front_make(const struct sr_hall_of_fame *hall, struct sr_front *front);
/* The most constants that a formula of the front has. */
int sr_front_constants(const struct sr_front *front);
/* Row chosen by a rule, -1 of an empty front: accuracy = smallest loss; score = highest score;
 * best = highest score among (fair) losses <= front->close x the smallest; mdl = least description
 * length, -1 where none was computed. Ties: the simplest. */
int sr_front_select(const struct sr_front *front, enum sr_rule rule);
extern const char *const sr_rule_name[SR_RULES];
/* "symreg.rules" by name; unknown names are ORR_EUSAGE with the nearest. */
int sr_rule_find(const char *name, enum sr_rule *rule);
struct sr_data;
/* Description length of every row, in nats (Bartlett, Desmond & Ferreira, IEEE Trans. Evol. Comput.
 * 28 (2024) 950, with a Gaussian likelihood whose variance is the mean squared residual):
 *   L = n/2 ln(mse) + k ln(b) + sum over constants of ln|c| + 1/2 ln(I) - 1/2 ln 3
 * n rows of positive weight (weighted where they are), k nodes, b different operators and features
 * among them (a constant counts as one), I the Fisher information of the constant,
 * sum (df/dc)^2 / mse. Constants below their precision sqrt(12 / I) are 0 as in the paper, mse and
 * I with them, where that is shorter or else each costs its sign, ln 2. */
int sr_front_describe(struct sr_front *front, const struct sr_data *data);
struct sr_loss;
/* What few rows tell, after sr_front_describe(): ln(loss) of a row grows by what the formula costs
 * in nats for each row of the table, times the power of residuals in the loss (2 of squares, else
 * 1), so that n/2 ln(loss) becomes the description length. Scores are then
 * -d ln(fair) / d complexity against the smallest before. A loss of 0 stays 0 only where
 * sr_loss_decides(). front->close becomes what 4 nats are for so many rows, at most 1.5. */
void sr_front_correct(struct sr_front *front, const struct sr_loss *loss);
/* Takes away the rows behind the simplest formula that misses the table by no more than the digits
 * of data->digits leave open, rows of positive weight one by one: their gain is none. Digits are
 * taken for exact numbers where a longer formula has far more of them. */
int sr_front_cut(struct sr_front *front, const struct sr_loss *loss);
/* A cell of a CSV file in quotes, those inside doubled (RFC 4180). */
void sr_cell_write(struct orr_file *file, const char *text);
/* Writes "Complexity,Loss,Equation" atomically. */
int sr_front_write(const struct sr_front *front, const struct sr_language *language,
                   const char *const *names, const char *path);

/* Digits of all constants; a sign that an operator could take counts as half a digit. */
double sr_digits(const struct sr_expr *expr);
/* How formulas are written: no more nodes than maxsize, and nothing that is not allowed (NULL:
 * anything is). */
struct sr_tidy {
    const struct sr_language *language;
    const struct sr_loss *loss;
    uint64_t operators; /* that may be written, a bit each */
    int maxsize;
    bool (*allowed)(const struct sr_expr *expr, const void *context);
    const void *context;
};
/* Rounds the constants as sr_snap() does, and of forms of equal value (3 x for x / 0.333, 11 x + 5
 * for 11 (x + 0.4545), sin(w (x - x0)) for sin(w x + phase), u for u ^ 1) takes the one with the
 * fewest digits that is no more complex. Returns the loss. */
double sr_tidy(const struct sr_tidy *tidy, struct sr_expr *expr, struct sr_work *work);

#endif
