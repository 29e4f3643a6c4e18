/* conserved.h - what a system of equations conserves. */
#ifndef SR_CONSERVED_H
#define SR_CONSERVED_H

#include "flow.h"

enum { SR_CONSERVED = 6 };
#define SR_CONSERVED_EXACT 1e-5
struct sr_conserved {
    int count;
    struct sr_expr expr[SR_CONSERVED]; /* features as in the equations */
    /* the share of its spread by which it changes while the states change by their ranges, root
     * mean square over these ranges; below SR_CONSERVED_EXACT it is conserved but for rounding,
     * else nearly */
    double change[SR_CONSERVED];
};
/* Finds independent conserved quantities that are sums of at most eight terms: monomials of states
 * and velocities up to degree 4, logarithms of positive states, sines, cosines and exponentials of
 * states that equations contain, and with accelerations powers of the distance from 0. Then
 * simpler ones, up to degree 2, that are nearly conserved, as constants have errors: they
 * change by at most a hundredth. Equations of the time or of inputs conserve nothing. Constants of
 * each category (flow->each) may be factors of terms of degree 2 and less.
 * The states are those of the tracks' ranges. */
int sr_conserved_find(const struct sr_flow *flow, size_t tracks, const struct sr_flow_track *track,
                      struct sr_conserved *found);

#endif
