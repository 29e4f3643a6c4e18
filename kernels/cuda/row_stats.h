/* row_stats.h - what the forward pass of attention keeps for the backward pass
 * (k_ops.attention_forward): planes of one number for each row (b, h, t), by the generic path and
 * by the fused one alike. */
#ifndef K_CUDA_ROW_STATS_H
#define K_CUDA_ROW_STATS_H

enum {
    FACTOR, /* 0: the row is degenerate; this and the next three: struct k_math_row */
    TOP,
    THETA,
    INVERSE,
    QUERY_SCALE, /* what a query and a key contribute to the factor of their product */
    KEY_SCALE,
    ROW_STATS,
};

#endif
