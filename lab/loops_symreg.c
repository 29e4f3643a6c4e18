/* loops_symreg.c - the plain loops of symreg/, under the name that a program gives them
 * (base/isa.h). */
#include "symreg/value/vec_loops.c"

extern const struct sr_vec sr_vec_plain __attribute__((alias("sr_vec")));
