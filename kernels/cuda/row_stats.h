/* row_stats.h - what the forward pass of attention saves for the backward pass
 * (k_ops.attention_forward): planes with one number for each row (b, h, t). The generic and the
 * fused path share the layout. */
#ifndef K_CUDA_ROW_STATS_H
#define K_CUDA_ROW_STATS_H

enum {
    FACTOR, /* 0 for a degenerate row; FACTOR to INVERSE are members of struct k_math_row */
    TOP,
    THETA,
    INVERSE,
    QUERY_SCALE, /* what the query and the key contribute to the factor of their product */
    KEY_SCALE,
    ROW_STATS,
};

#endif
