/* symreg.h - symbolic regression: from a table of numbers to a Pareto front of formulas.
 *
 * A formula is a fixed-size postfix array with inline constants; nothing is allocated while the
 * search runs. Islands of formulas evolve by tournament, mutation and crossover; the outer scale of
 * every formula is solved exactly and its constants by Levenberg-Marquardt with the exact Jacobian.
 * Random streams are keyed by (seed, run, island, iteration), so that a front is the same for any
 * number of threads. Nothing here knows or favours a law: a formula is compared with k m1 m2 / r^2
 * only after the search (law_check).
 *
 * Complexity = number of nodes: every operator, constant and feature counts 1. Functions that
 * return int follow base.h (0 or an enum orr_status); they are safe to call from several threads
 * at once unless said otherwise. */
#ifndef SR_SYMREG_H
#define SR_SYMREG_H

#include "symreg/evolve/evolve.h"

#endif
