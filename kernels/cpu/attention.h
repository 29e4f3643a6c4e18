/* attention.h - private to the cpu backend: the generic path of attention and its functions on
 * one row of scores. */
#ifndef K_CPU_ATTENTION_H
#define K_CPU_ATTENTION_H

#include "kernels/attention_math.h"
#include "kernels/kernels.h"

/* Score of positions that are not attended. phi and its slope are exactly 0 there; the identity
 * uses 0 instead. */
#define K_CPU_MASKED (-1e30f)

/* A variant in the form that the row functions use: its rule, and flags for the vector loops. */
struct k_cpu_attention_rule {
    struct k_math_rule math;
    bool takes_both_signs; /* phi has values of both signs */
    float masked;          /* score of positions that are not attended, at which phi is 0 */
    bool refine;           /* the weighted means of the backward pass take a second step */
    /* whether the backward pass uses these row buffers */
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
 * factor (0: the row is degenerate). slope and steepness are written for the backward pass; NULL
 * otherwise and where the rule does not need them. slope = phi'(score). steepness = derivative
 * of the weights with respect to phi in re-weighted variants, phi itself in re-centred ones. */
float k_cpu_attention_row(const struct k_cpu_attention_rule *rule, const struct k_cpu_row *row,
                          float *x, float *slope, float *steepness);

/* d: in, the gradient with respect to the final weights, times the factor of the row; out, the
 * gradient with respect to the scores, 0 where not attended. */
void k_cpu_attention_row_backward(const struct k_cpu_attention_rule *rule,
                                  const struct k_cpu_row *row, float factor, const float *x,
                                  const float *slope, const float *steepness, float *d);

/* Offsets of a head in qkv and dqkv, in out and dout, and in a plane of `row_stats`. */
struct k_cpu_head_at {
    size_t qkv, out, row;
};

/* Calls run() for every head of the shape, by all threads. Each thread has a copy of `plan`
 * (plan_bytes) and scratch memory. lay_out() returns the bytes that it needs, and, unless
 * scratch is NULL, sets the pointers of the copy into scratch. */
int k_cpu_each_head(const struct k_attention_shape *shape, void *plan, size_t plan_bytes,
                    size_t (*lay_out)(void *plan, char *scratch),
                    void (*run)(void *plan, const struct k_cpu_head_at *at));

/* The entries of the generic path. */
int k_cpu_attention_generic_forward(float *out, float *row_stats, const float *qkv,
                                    const struct k_attention_shape *shape);
int k_cpu_attention_generic_backward(float *dqkv, const float *dout, const float *out,
                                     const float *row_stats, const float *qkv,
                                     const struct k_attention_shape *shape);

#endif
