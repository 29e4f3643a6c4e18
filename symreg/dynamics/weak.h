/* weak.h - inside symreg/dynamics/: sums of terms of a library, fitted to the tracks in integral
 * form. */
#ifndef SR_WEAK_H
#define SR_WEAK_H

#include "judge.h"

enum {
    SR_WEAK_TERMS = 800, /* at most */
    /* Squares of errors of the derivatives of exact tracks are at most so many times their
     * variances, which take the process of the smoothing for known: the true forms of 60 random
     * systems left up to 19 times these, wrong ones mostly more than a thousand times. */
    SR_EXACT_ERRORS = 25,
};

/* One term without its coefficient. */
struct sr_weak_term {
    struct sr_expr expr;
    int form;    /* terms of one form differ in numbers within them */
    int numbers; /* with its coefficient */
    double nats; /* of the form with a coefficient */
};
struct sr_weak_library {
    int count, forms;
    struct sr_weak_term term[SR_WEAK_TERMS];
};
/* Fills in products of the names, functions of one name, sines of differences and saturations
 * of one name times another one, with numbers on a grid by the sizes of the names. Functions that
 * are not `allowed` (SR_OPS) are left out. */
void sr_weak_library(const struct sr_states *states, const bool *allowed,
                     struct sr_weak_library *library);
/* Appends the likeliest sums of such terms, fitted to the derivatives, which are known nearly
 * exactly: formulas of at most `maxsize` nodes, the likeliest last. ORR_ENOMEM. */
int sr_states_exact_sums(const struct sr_states *states, int d, const bool *allowed, int maxsize,
                         struct sr_equations_found *found);

#endif
