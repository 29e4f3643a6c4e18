/* powers_write.h - inside symreg/: a fitted sum of products of powers as a formula. */
#ifndef SR_POWERS_WRITE_H
#define SR_POWERS_WRITE_H

#include "powers.h"
#include "stages.h"

/* H: exp, log, or (SR_CONSTANT) a power. */
struct sr_power_outer {
    enum sr_op op;
    double power;
};
/* Writes H(sum), up to an outer factor. column: formulas of the table's features. Within exp the
 * first weights of the sum are those of a constant and of the columns' logarithms, a product before
 * exp. False where it is too long or not admissible. */
bool sr_powers_put(const struct sr_proposal *p, const struct sr_expr *column, int columns,
                   const struct sr_power_outer *outer, const struct sr_power_sum *sum,
                   struct sr_expr *out);

#endif
