/* symreg.h - symbolic regression: from a table of numbers to a Pareto front of formulas. This
 * header is for users of the whole engine. Formulas themselves, with their operators, texts and
 * normal form, are in formula/expr.h. Each submodule has its own header, from the lowest up:
 *
 *   value     values of a formula over a table, derivatives by its constants, losses
 *   fit       constants: Levenberg-Marquardt, rounding
 *   select    constraints, complexity, Pareto fronts, description length
 *   seed      formulas from which a search starts: small formulas, their sums
 *   evolve    islands of formulas, their checkpoint, the search itself
 *   table     bin/symreg on any table (not included here)
 *
 * A formula is a fixed-size postfix array with inline constants. Before the islands start, every
 * formula of up to about a dozen nodes is enumerated and combined (seed.h); the islands then
 * evolve by tournament, mutation and crossover without allocating memory. The outer scale of a
 * formula is solved exactly for absolute and squared losses and by Newton's method for Huber's and
 * log-cosh; its constants are fitted by Levenberg-Marquardt with the exact Jacobian, re-weighted
 * where the loss is not a square. Random streams are keyed by (seed, run, island, epoch), so a
 * front does not depend on the number of threads. This folder contains no law of physics: laws/
 * compares formulas with k m1 m2 / r^2 after the search.
 *
 * User-defined operators, a user-defined loss and prices of operators belong to a language (struct
 * sr_language of formula/expr.h); every search may have its own. Complexity is the sum of the
 * nodes' prices, which are 1 unless the language sets others.
 * Functions that return int follow base.h (0 or an enum orr_status). They may be called from
 * several threads at once unless their comment says otherwise. */
#ifndef SR_SYMREG_H
#define SR_SYMREG_H

#include "symreg/evolve/evolve.h"

#endif
