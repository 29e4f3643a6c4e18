/* attention.h - attention variants as lines of one table.
 *
 * A variant is score -> bias -> phi -> norm -> transform -> re-weighting (power p). Row i is
 * 1-based and attends the n_i = min(i, window) keys j in (i - window, i]; masked entries are
 * exactly 0 after phi. L is the number of rows T of the pass. A line of the table is all a variant
 * needs: the generic path runs any line forward and backward. Sources are the papers of
 * docs/attention.md: LSSAR (equations, Tables 1, A4-A6) and the works it cites.
 *
 * Rows that cannot be normalised are degenerate: output 0, gradients 0, never NaN. These are rows
 * whose l1 sum is 0, shifted rows with max(n_i A) - 1 <= K_DEGENERATE_TOLERANCE (the formula is 0/0
 * on a uniform row), and re-centred rows with n_i max(A) - 1 <= K_DEGENERATE_TOLERANCE before their
 * l1. */
#ifndef K_ATTENTION_H
#define K_ATTENTION_H

#include <stdbool.h>

enum k_score {
    K_SCORE_DOT,      /* s = <q,k> / sqrt(d) */
    K_SCORE_COS_LOGN, /* S = ln d * ln n_i * <q/|q|, k/|k|>            LSSAR Eq. (4) */
};
enum k_bias {
    K_BIAS_NONE,
    K_BIAS_LOG_LENGTH, /* s - ln L */
    K_BIAS_LOG_ROW,    /* s - ln n_i */
};
enum k_phi {
    K_PHI_EXP,
    K_PHI_SOFTPLUS, /* ln(1 + e^s) */
    K_PHI_IDENTITY,
    K_PHI_RELU,
    K_PHI_RELU2, /* relu(s)^2 */
    K_PHI_RELU6, /* min(relu(s), 6) */
    K_PHI_GELU,  /* s Phi(s), Phi the normal distribution function */
    K_PHI_SIGMOID,
    K_PHI_MISH, /* s tanh(softplus(s)) */
};
enum k_norm {
    K_NORM_NONE,
    K_NORM_L1,       /* x / sum_j |x_j| */
    K_NORM_LENGTH,   /* x / L */
    K_NORM_ROOT_ROW, /* x / sqrt(n_i / 2) */
};
enum k_transform {
    K_TRANSFORM_NONE,
    K_TRANSFORM_INVERSE,      /* -A */
    K_TRANSFORM_RECENTRED,    /* A - 1 / n_i in rows with n_i > unshifted_rows */
    K_TRANSFORM_RECENTRED_L1, /* the result of K_TRANSFORM_RECENTRED divided by its l1 sum */
};

struct k_attention {
    const char *name;
    enum k_score score;
    enum k_bias bias;
    enum k_phi phi;
    enum k_norm norm;
    enum k_transform transform;
    bool reweight;      /* re-weighting relu(n_i A - [n_i > unshifted_rows])^p, l1  LSSAR Eq. (5) */
    int unshifted_rows; /* rows with n_i <= unshifted_rows are neither shifted nor re-centred */
    const char *source;
};

/* Ended by name == NULL. */
extern const struct k_attention k_attention_table[];
/* NULL when no variant has this name. */
const struct k_attention *k_attention_find(const char *name);
/* Whether backends have fused kernels for the variant. They serve some shapes; all others take
 * the generic path. */
bool k_attention_has_fused(const struct k_attention *variant);
/* Whether re-weighting is defined for the variant: its rows before re-weighting are non-negative
 * and sum to one. */
bool k_attention_reweightable(const struct k_attention *variant);

/* Output gate of a block: y * act(x W^T), x the input of the attention module
 * (softplus-gated attention, 2025). */
enum k_gate { K_GATE_NONE, K_GATE_SIGMOID, K_GATE_SOFTPLUS };

#define K_DEGENERATE_TOLERANCE 1e-4  /* shifted rows with max(n_i A) - 1 <= this are degenerate */
#define K_L2_EPSILON           1e-12 /* vectors shorter than this have unit vector 0, gradient 0 */
#define K_EXP_LARGEST          80.0  /* e^s without a norm clamps s to this, with slope 0 */

#endif
