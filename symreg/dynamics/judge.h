/* judge.h - inside symreg/dynamics/: a system of equations judged by the tracks. */
#ifndef SR_JUDGE_H
#define SR_JUDGE_H

#include "dynamics.h"
#include "flow.h"

/* Mean squared residual, in variances of the noise, below which a solution is as good as exact:
 * the noise of exact tracks is estimated, and integration has errors. */
#define SR_EXACTLY 1e-3

/* By what systems are judged. */
struct sr_judge {
    const struct sr_states *states;
    const struct sr_language *language;
    size_t tracks;
    struct sr_flow_track *track; /* (tracks) */
    double exact;                /* mean squared residual, in variances, that is as good as none */
    bool amount[SR_STATES];      /* of order 1: positive everywhere, with noise in proportion */
    size_t probes;               /* rows of the tracks, evenly */
    double *probe;               /* (names, probes) and two columns to work with */
    double seconds, until_s;     /* the limit, and when it is reached (orr_time_s()); 0: none */
};

/* A system that was fitted. */
struct sr_judged {
    struct sr_expr expr[SR_STATES];
    /* numbers that equations share, as in struct sr_flow, and what the formulas cost without their
     * numbers, as they are written once for all; NULL: each equation has its own */
    const int (*group)[SR_NODES];
    double shared_nats;
    struct sr_each each, each_error; /* constants of each category; those held, one bit each */
    uint32_t held;
    double nats;   /* infinite: no solution follows the tracks */
    double misfit; /* mean squared residual in variances of the noise */
    double spare;  /* numbers compared less numbers fitted */
    size_t starts;
    int constants;
    /* of the numbers that were fitted: which equation, which number of it, what it was fitted to,
     * a fraction that it may be (NAN: none), standard error */
    int equation[SR_NODES], number[SR_NODES];
    double value[SR_NODES], simple[SR_NODES], error[SR_NODES];
    /* standard errors with all other constants known, by which digits are counted: those of a line
     * against Julian dates have errors that nearly cancel */
    double alone[SR_NODES];
    struct sr_each each_alone;
};

/* Takes all tracks of the states. ORR_ENOMEM. */
int sr_judge_create(const struct sr_states *states, const struct sr_language *language,
                    double seconds, struct sr_judge *judge);
void sr_judge_free(struct sr_judge *judge);
/* Whether the seconds have passed, or a signal was seen. */
bool sr_judge_over(const struct sr_judge *judge);
/* Fits the constants of judged->expr to the tracks and fills in the rest: the only place where
 * systems are integrated. */
int sr_judge_fit(const struct sr_judge *judge, struct sr_judged *judged);

/* The fewest digits of a constant that change it by at most a hundredth of its standard error with
 * the others known; all digits where that error is 0 or not known. */
double sr_judged_round(double value, double alone);
/* Copies the formulas of a system, with the constants of each category. */
void sr_judged_copy(const struct sr_judged *from, struct sr_judged *to);
/* Gives equation d a formula, whose constants of each category are those from `first` on. */
void sr_judged_put(struct sr_judged *judged, int d, const struct sr_expr *expr, int first,
                   const struct sr_each_own *each);
/* Makes constants of each category of equation d, from `first` on, one number for all, and numbers
 * constants of each category, as long as that costs less, also with the formula multiplied out.
 * Nothing without categories. */
int sr_judge_tie(const struct sr_judge *judge, int d, int first, struct sr_judged *best);
/* Nats of the likelihood that a fitted system loses against another; infinite where no solution
 * follows the tracks. */
double sr_judge_lost(const struct sr_judge *judge, const struct sr_judged *fit,
                     const struct sr_judged *against);
/* Whether `fixed` constants that became fractions lose no more than they may together: half a nat
 * each, which true values lose on average. More would move the other constants by several standard
 * errors. Where they do, the fraction that is farthest from its constant in standard errors stays a
 * number. */
bool sr_judge_loses_little(const struct sr_judge *judge, const struct sr_judged *fit,
                           const struct sr_judged *against, int fixed);
/* Replaces node `at` of a formula by its operand that ends at node `operand`, with the sign of a
 * difference, and simplifies; false where it cannot be. */
bool sr_judge_without(const struct sr_judge *judge, int at, int operand, struct sr_expr *expr);
/* Takes away terms whose coefficients are within two standard errors of 0, also when the seconds
 * have passed. */
int sr_judge_drop_zeros(const struct sr_judge *judge, struct sr_judged *best);
/* Takes away these and other parts of the formulas, the largest first, as long as that makes the
 * system better. held: (dims) formulas that stay; NULL: none. */
int sr_judge_shorten(const struct sr_judge *judge, const bool *held, struct sr_judged *best);
/* Takes away terms that change no solution by what can be told (negligible_terms.c), also when the
 * seconds have passed. */
int sr_judge_drop_unfelt(const struct sr_judge *judge, struct sr_judged *best);
/* Makes a copy of the judge's states, smoothed by the solutions of a system that it has fitted.
 * *follows: all of its tracks have one. ORR_ENOMEM; the caller frees the copy, after errors too. */
int sr_states_resmooth(const struct sr_judge *judge, const struct sr_judged *system,
                       struct sr_states *along, bool *follows);

/* What a formula of an equation costs without its constants, in nats, where `names` may be in it
 * (formula_prior.c). */
double sr_equation_nats(const struct sr_expr *expr, int names);

#endif
