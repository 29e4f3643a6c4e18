/* powers_write.h - inside symreg/: products of powers, and fitted sums of them, as formulas. */
#ifndef SR_POWERS_WRITE_H
#define SR_POWERS_WRITE_H

#include "groups.h"
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

/* Writes a product of powers of features. False where operators are missing. Count 0: the product
 * is 1. */
bool sr_powers_write(const struct sr_language *language, uint64_t operators,
                     const struct sr_powers *powers, struct sr_expr *out);

#endif
