/* symreg.h - symbolic regression: from a table of numbers to a Pareto front of formulas. This
 * header is for users of the whole engine; each room (folder) has its own, from the lowest up:
 *
 *   expr      nodes, operators, parsing, printing, the algebraic normal form
 *   value     values of a formula over a table, derivatives by its constants, losses
 *   fit       constants: Levenberg-Marquardt, rounding
 *   select    what a formula may look like, complexity, Pareto fronts, description length
 *   seed      what a search starts from: small formulas, their sums, curves
 *   evolve    islands of formulas, their checkpoint, the search itself
 *   table     bin/symreg on any table (not included here)
 *
 * A formula is a fixed-size postfix array with inline constants. Before the islands start, every
 * formula of up to about a dozen nodes is enumerated and combined (seed.h); the islands then
 * evolve by tournament, mutation and crossover without allocating memory. The outer scale of a
 * formula is solved exactly for absolute and squared losses and by Newton's method for Huber's and
 * log-cosh; its constants are fitted by Levenberg-Marquardt with the exact Jacobian, re-weighted
 * where the loss is not a square. Random streams are keyed by (seed, run, island, epoch), so that a
 * front is the same for any number of threads. Nothing in this folder knows a law of physics:
 * laws/ compares formulas with k m1 m2 / r^2 after the search.
 *
 * Operators of the user, a loss of the user and prices of operators belong to a language (struct
 * sr_language, expr.h), and every search may have its own. Complexity is the number of nodes, each
 * at its price, which is 1 unless the language says otherwise.
 * Functions that return int follow base.h (0 or an enum orr_status); they are safe to call from
 * several threads at once unless said otherwise. */
#ifndef SR_SYMREG_H
#define SR_SYMREG_H

#include "symreg/evolve/evolve.h"

#endif
