/* lanes.h - inside symreg/dynamics/: many solutions of one system, side by side. All of them take
 * the same steps, counted in shares of their intervals, so that a formula is evaluated for all of
 * them at once. */
#ifndef SR_LANES_H
#define SR_LANES_H

#include "flow.h"

/* Which numbers of the equations are fitted. */
struct sr_flow_numbers {
    int count;         /* of fitted constants of a track: numbers, then those of its category */
    int shared;        /* numbers */
    int slot[SR_EACH]; /* (count - shared) which constant of each category */
    int total;         /* of fitted constants of all categories */
    int all[SR_FLOW_STATES];              /* numbers of each equation */
    int column[SR_FLOW_STATES][SR_NODES]; /* (equation, number) index, or -1: it stays */
};
void sr_flow_numbers_find(const struct sr_flow *flow, bool free_exponents,
                          struct sr_flow_numbers *numbers);
/* Which fitted constant of all categories constant `k` of a track of this category is. */
static inline size_t sr_flow_number_at(const struct sr_flow_numbers *numbers, size_t category,
                                       size_t k)
{
    const size_t shared = (size_t)numbers->shared;
    return k < shared ? k : k + category * ((size_t)numbers->count - shared);
}
/* Reads the fitted constants (total); writes them, moved into the bounds of the language. */
void sr_flow_numbers_get(const struct sr_flow *flow, const struct sr_flow_numbers *numbers,
                         double *value);
void sr_flow_numbers_set(const struct sr_flow_numbers *numbers, const double *value,
                         struct sr_flow *flow);

enum { SR_LANES_STAGES = 7 };
struct sr_lanes {
    const struct sr_flow *flow;
    const struct sr_flow_numbers *numbers; /* NULL: no tangents */
    size_t count;
    int states, columns; /* columns of the tangents: states, then constants; 0: no tangents */
    int features;
    double tolerance;
    double step;           /* share of an interval that the next step takes */
    double least;          /* ... may take */
    double done;           /* share of the interval that was done, after an error */
    long steps, intervals; /* since the start, tried and begun */
    bool exhausted;        /* the last interval wanted more steps than one may have */
    double until_s;        /* no solution is followed longer (orr_time_s()); 0: no limit */
    /* of the interval at hand, filled by the caller: time at its begin and its length (count),
     * inputs at both ends (inputs, count) */
    double *t, *dt, *input, *input_end;
    double *x;       /* (states, count) */
    double *tangent; /* (states, columns, count) derivatives of x by the start and the numbers */
    /* work */
    double *peak;                          /* (states, count) the largest |x| so far */
    double *table;                         /* (features, count) */
    double *trial_tangent;                 /* (states, columns, count) */
    double *rate[SR_LANES_STAGES];         /* (states, count) */
    double *tangent_rate[SR_LANES_STAGES]; /* (states, columns, count) */
    double *slope, *jacobian;              /* (features, count), (numbers of one equation, count) */
    bool has_rate;                         /* rate[0] is that of x */
    uint64_t uses[SR_FLOW_STATES];         /* features of each equation, one bit each */
    uint64_t used;                         /* ... of all */
    void *block;
};
int sr_lanes_create(struct sr_lanes *lanes, const struct sr_flow *flow,
                    const struct sr_flow_numbers *numbers, size_t count, double tolerance);
void sr_lanes_free(struct sr_lanes *lanes);
/* Begins at states x, with tangents of 1: state k of lane i is x[k * stride + i]. The caller may
 * have made `count` smaller than it was created. */
void sr_lanes_start(struct sr_lanes *lanes, const double *x, size_t stride);
/* Gives lane i the constants of a category, once the lanes have begun. */
void sr_lanes_enter(struct sr_lanes *lanes, size_t i, size_t category);
/* A first step that is safe where nothing is known of the interval: a hundredth of the time in
 * which the states change by themselves. */
void sr_lanes_first_step(struct sr_lanes *lanes);
/* To the end of the interval. False where a lane has no solution up to there. */
bool sr_lanes_advance(struct sr_lanes *lanes);

#endif
