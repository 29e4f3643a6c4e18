/* attention.h - attention variants as lines of one table.
 *
 * A variant is score -> phi -> norm -> post -> sharpening (power p). Row i is 1-based and attends
 * the n_i = min(i, window) keys j in (i - window, i]; masked entries are exactly 0 after phi.
 * A line of the table is all a variant needs: the generic path runs any line forward and
 * backward. Sources: LSSAR (papers cited in docs/equations.md), equation numbers in the table. */
#ifndef K_ATTENTION_H
#define K_ATTENTION_H

#include <stdbool.h>

enum k_score {
    K_SCORE_DOT,      /* s = <q,k> / sqrt(d) */
    K_SCORE_COS_LOGN, /* S = ln d * ln n_i * <q/|q|, k/|k|>            LSSAR Eq. (4) */
};
enum k_phi { K_PHI_EXP, K_PHI_SOFTPLUS };
enum k_norm { K_NORM_NONE, K_NORM_L1 };
enum k_post { K_POST_NONE };

struct k_attention {
    const char *name;
    enum k_score score;
    enum k_phi phi;
    enum k_norm norm;
    enum k_post post;
    bool sharpen;  /* re-weighting relu(n_i A - [n_i > free_rows])^p, l1  LSSAR Eq. (5) */
    int free_rows; /* rows with n_i <= free_rows are not shifted */
    const char *source;
};

/* Ended by name == NULL. */
extern const struct k_attention k_attention_table[];
/* NULL when there is no such variant. */
const struct k_attention *k_attention_find(const char *name);

#define K_SILENT_TOLERANCE 1e-4  /* a shifted row is silent when max(n_i A) - 1 <= this */
#define K_L2_EPSILON       1e-12 /* vectors shorter than this have unit vector 0, gradient 0 */

#endif
