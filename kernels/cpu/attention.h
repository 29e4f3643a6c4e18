/* attention.h - private to the cpu backend: the generic path of attention, and what happens to
 * one row of its scores. */
#ifndef K_CPU_ATTENTION_H
#define K_CPU_ATTENTION_H

#include "kernels/attention_math.h"
#include "kernels/kernels.h"

/* Score of positions that are not attended: phi of it and its slope are exactly 0, but for the
 * identity, which takes 0. */
#define K_CPU_MASKED (-1e30f)

/* A variant as the row functions need it: its rule, and what vectors ask beside it. */
struct k_cpu_attention_rule {
    struct k_math_rule math;
    bool takes_both_signs; /* phi does */
    float masked;          /* the score of positions that are not attended: phi of it is 0 */
    bool refine;           /* weighted means of the backward pass take a second step */
    /* which of the row buffers of the backward pass are used */
    bool needs_slope, needs_steepness;
};
struct k_cpu_attention_rule k_cpu_attention_rule(const struct k_attention_shape *shape);

/* The part of a row that its tile touches: `vecs` whole vectors, of which the columns
 * [first, first + n) are attended. */
struct k_cpu_row {
    int vecs, first, n;
};

/* Overwrites the columns that are not attended. */
void k_cpu_attention_row_mask(const struct k_cpu_row *row, float value, float *x);

/* x: scores in, rule->masked where not attended; weights out, to be multiplied by the returned
 * factor (0: the row is degenerate). For the backward pass, NULL otherwise and where the rule does
 * not need them: slope: phi'(score); steepness: derivative of the weights by phi where they are
 * re-weighted, phi where they are re-centred. */
float k_cpu_attention_row(const struct k_cpu_attention_rule *rule, const struct k_cpu_row *row,
                          float *x, float *slope, float *steepness);

/* d: gradient by the final weights times the factor of the row in, by the scores out, 0 where
 * not attended. */
void k_cpu_attention_row_backward(const struct k_cpu_attention_rule *rule,
                                  const struct k_cpu_row *row, float factor, const float *x,
                                  const float *slope, const float *steepness, float *d);

/* Where a head begins: in qkv and dqkv, in out and dout, and in a plane of `row_stats`. */
struct k_cpu_head_at {
    size_t qkv, out, row;
};

/* Calls run() for every head of the shape, by all threads. Each has a copy of `plan`, of
 * plan_bytes, and scratch memory, which lay_out() divides among the pointers of the copy; with
 * scratch NULL it returns alone how many bytes it needs. */
int k_cpu_each_head(const struct k_attention_shape *shape, void *plan, size_t plan_bytes,
                    size_t (*lay_out)(void *plan, char *scratch),
                    void (*run)(void *plan, const struct k_cpu_head_at *at));

/* The entries of the generic path, for the shapes that the fused path does not serve. */
int k_cpu_attention_generic_forward(float *out, float *row_stats, const float *qkv,
                                    const struct k_attention_shape *shape);
int k_cpu_attention_generic_backward(float *dqkv, const float *dout, const float *out,
                                     const float *row_stats, const float *qkv,
                                     const struct k_attention_shape *shape);

#endif
