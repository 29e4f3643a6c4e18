/** @file attention.h
 * Part of orrery.h: attention on arrays. */
#ifndef ORRERY_ATTENTION_H
#define ORRERY_ATTENTION_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup attention Attention
 * Forward and backward pass of any variant (docs/attention.md) on arrays, for an operator of a
 * framework. float32 uses the kernels of the models; float64, or `reference`, uses plain loops in
 * double precision, for gradient checks. @{ */

/** A handle: see orrery_attention_create(). */
struct orrery_attention;

/** The shape of attention: B sequences of T rows, H heads of D numbers. Row i attends to itself and
 * earlier rows. */
struct orrery_attention_shape {
    size_t bytes;        /**< sizeof(struct orrery_attention_shape) */
    const char *variant; /**< "softmax", "lssar", ...: orrery_attention_variant() */
    double power;        /**< exponent of re-weighted variants, at least 1 */
    int window;          /**< most keys that a row attends to; 0: all earlier ones */
    int type;            /**< enum orrery_type, of all arrays */
    int reference;       /**< 1: plain loops */
    int sequences;       /**< B */
    int rows;            /**< T */
    int heads;           /**< H */
    int size;            /**< D */
    int threads;         /**< 0: all cores */
};

/** One row of the table of variants (docs/attention.md), in words. */
struct orrery_attention_line {
    size_t bytes;          /**< sizeof(struct orrery_attention_line) */
    const char *name;      /**< name; texts are valid while the library is loaded */
    const char *score;     /**< dot, cosine: ln d ln n cos(q, k) */
    const char *bias;      /**< none, length: - ln L, row: - ln n */
    const char *phi;       /**< exp, softplus, identity, relu, relu2, relu6, gelu, sigmoid, mish */
    const char *norm;      /**< none, l1, length: / L, root: / sqrt(n / 2) */
    const char *transform; /**< none, inverse, recentred, recentred_l1 */
    int reweight;          /**< 1: re-weighted */
    int reweightable;      /**< 1: re-weighting is defined for the variant */
    int unshifted_rows;    /**< rows of up to this many keys are neither shifted nor re-centred */
    const char *source;    /**< paper, equation or table */
};

/** Creates a handle.
 * @param interface_ ORRERY_INTERFACE
 * @param attention *attention becomes the handle or NULL; free it with orrery_attention_free()
 * @return ORRERY_OK, ORRERY_EINVAL, ORRERY_ENOMEM or ORRERY_EVERSION */
ORRERY_CALL int orrery_attention_create(int interface_, struct orrery_attention **attention);
/** Frees a handle.
 * @param attention a handle that no call uses, or NULL */
ORRERY_CALL void orrery_attention_free(struct orrery_attention *attention);
/** The name of variant number i; NULL after the last.
 * @param i from 0
 * @return a text that is always valid, or NULL */
ORRERY_CALL const char *orrery_attention_variant(int i);
/** Describes a variant by its name.
 * @param attention the handle
 * @param variant its name
 * @param line is filled; the caller sets line->bytes
 * @return a status */
ORRERY_CALL int orrery_attention_describe(struct orrery_attention *attention, const char *variant,
                                          struct orrery_attention_line *line);
/** The number of values that `saved` holds for this shape.
 * @param attention the handle
 * @param shape of the arrays
 * @param count *count becomes the number
 * @return a status */
ORRERY_CALL int orrery_attention_saved(struct orrery_attention *attention,
                                       const struct orrery_attention_shape *shape, size_t *count);
/** Computes out from qkv, which holds q, k, v of each row. `saved` receives what the backward pass
 * needs besides out; NULL if no backward pass follows.
 * @param attention the handle
 * @param shape of the arrays
 * @param qkv (B, T, 3, H, D), finite
 * @param out (B, T, H, D)
 * @param saved as many values as orrery_attention_saved() says, or NULL
 * @return a status */
ORRERY_CALL int orrery_attention_forward(struct orrery_attention *attention,
                                         const struct orrery_attention_shape *shape,
                                         const void *qkv, void *out, void *saved);
/** Computes the attention weights in double precision; exactly 0 for keys that a row does not
 * attend to.
 * @param attention the handle
 * @param shape of the arrays
 * @param qkv (B, T, 3, H, D), finite
 * @param weights (B, H, T, T)
 * @return a status */
ORRERY_CALL int orrery_attention_weights(struct orrery_attention *attention,
                                         const struct orrery_attention_shape *shape,
                                         const void *qkv, double *weights);
/** Computes dqkv, the gradient with respect to qkv, from dout, the gradient with respect to out.
 * qkv, out and saved must be those of the forward pass of this shape.
 * @param attention the handle
 * @param shape of the arrays
 * @param qkv (B, T, 3, H, D), as the forward pass had it
 * @param out (B, T, H, D), as the forward pass left it
 * @param saved as the forward pass left it
 * @param dout (B, T, H, D), finite
 * @param dqkv (B, T, 3, H, D)
 * @return a status */
ORRERY_CALL int orrery_attention_backward(struct orrery_attention *attention,
                                          const struct orrery_attention_shape *shape,
                                          const void *qkv, const void *out, const void *saved,
                                          const void *dout, void *dqkv);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
