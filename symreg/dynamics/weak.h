/* weak.h - inside symreg/dynamics/: sums of terms of a library, fitted to the tracks in integral
 * form. */
#ifndef SR_WEAK_H
#define SR_WEAK_H

#include "judge.h"

enum { SR_WEAK_TERMS = 800 }; /* at most */

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

#endif
