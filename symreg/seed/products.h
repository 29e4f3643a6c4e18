/* products.h - inside symreg/: products of powers by their dimension, and as formulas. */
#ifndef SR_PRODUCTS_H
#define SR_PRODUCTS_H

#include "groups.h"
#include "symreg/select/select.h"

/* Products of powers of quantities: of a wanted dimension, or dimensionless groups (Buckingham's
 * theorem). */
enum { SR_PRODUCTS = 24 };
struct sr_product {
    double cost; /* rises with the exponents, more for half-integers */
    struct sr_powers powers;
};
/* Lists the simplest products of d[0 .. n-1], at most SR_SMOOTH_COLUMNS, with the dimension `want`;
 * with want NULL, the dimensionless ones without a common divisor, of which u and 1 / u count once.
 * Quantities outside of `set` (one bit each) have the exponent 0. Best first; returns how many, at
 * most SR_PRODUCTS. */
int sr_products_find(const struct sr_dimension *d, int n, unsigned set,
                     const struct sr_dimension *want, struct sr_product list[SR_PRODUCTS]);

#endif
