/* loops_base.c - the plain loops of base/, under the name that a program gives them
 * (base/isa.h). */
#include "base/draw_loops.c"

extern const struct orr_draws orr_draws_plain __attribute__((alias("orr_draws")));
