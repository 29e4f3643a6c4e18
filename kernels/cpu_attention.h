/* cpu_attention.h - private to the cpu backend: what happens to one row of attention scores. */
#ifndef K_CPU_ATTENTION_H
#define K_CPU_ATTENTION_H

#include "attention.h"

/* Scores of positions that are not attended: phi of it and its slope are exactly 0. */
#define K_CPU_MASKED (-1e30f)

/* A variant as the row functions need it. */
struct k_cpu_attention_rule {
    enum k_phi phi;
    enum k_norm norm;
    bool sharpen;
    int free_rows;
    float p;
    int p_integer; /* p when it is a small whole number, else 0 */
    /* which of the row buffers of the backward pass are used */
    bool needs_slope, needs_steepness;
};
struct k_cpu_attention_rule k_cpu_attention_rule(const struct k_attention *variant, double p);

/* One row of `vecs` whole vectors, n of them attended (the others hold K_CPU_MASKED).
 * x: scores in, weights out; their sum is 1 / the returned factor (0: the row is silent).
 * For the backward pass, NULL otherwise and where the rule does not need them:
 * slope: phi'(score); steepness: derivative of the weights by phi. */
float k_cpu_attention_row(const struct k_cpu_attention_rule *rule, int vecs, int n, float *x,
                          float *slope, float *steepness);

/* d: gradient by the normalised weights times the factor of the row in, by the scores out. */
void k_cpu_attention_row_backward(const struct k_cpu_attention_rule *rule, int vecs, int n,
                                  float factor, const float *x, const float *slope,
                                  const float *steepness, float *d);

#endif
