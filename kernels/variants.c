/* variants.c - the attention variants and the backends of this build. */
#include "kernels.h"

#include <string.h>

#include "attention_math.h"
#include "base/base.h"
#include "plugin.h"

/* clang-format off */
const struct k_attention k_attention_table[] = {
    /* name, score, bias, phi, norm, transform, reweight, unshifted rows, source */
    {"softmax",             K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (1)"},
    {"lssa",                K_SCORE_COS_LOGN, K_BIAS_NONE,       K_PHI_SOFTPLUS, K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (4)"},
    {"lssar",               K_SCORE_COS_LOGN, K_BIAS_NONE,       K_PHI_SOFTPLUS, K_NORM_L1,       K_TRANSFORM_NONE,         true,  3, "LSSAR Eqs. (4), (5)"},
    {"rw_softmax",          K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_TRANSFORM_NONE,         true,  3, "LSSAR Eqs. (1), (5)"},
    {"rw_sigmoid",          K_SCORE_DOT,      K_BIAS_LOG_ROW,    K_PHI_SIGMOID,  K_NORM_L1,       K_TRANSFORM_NONE,         true,  3, "LSSAR Eq. (5), Table 1"},
    {"sigmoid_logL",        K_SCORE_DOT,      K_BIAS_LOG_LENGTH, K_PHI_SIGMOID,  K_NORM_NONE,     K_TRANSFORM_NONE,         false, 0, "Ramapuram et al. 2024"},
    {"sigmoid_logN",        K_SCORE_DOT,      K_BIAS_LOG_ROW,    K_PHI_SIGMOID,  K_NORM_NONE,     K_TRANSFORM_NONE,         false, 0, "LSSAR Table 1"},
    {"sigmoid_logN_l1",     K_SCORE_DOT,      K_BIAS_LOG_ROW,    K_PHI_SIGMOID,  K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Table 1"},
    {"relu_wortsman",       K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU,     K_NORM_LENGTH,   K_TRANSFORM_NONE,         false, 0, "Wortsman et al. 2023"},
    {"relu_li",             K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU,     K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "Li et al. 2022"},
    {"relu_shen",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU,     K_NORM_ROOT_ROW, K_TRANSFORM_NONE,         false, 0, "Shen et al. 2023, gamma = 1"},
    {"phi_relu",            K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU,     K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_relu2",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU2,    K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_relu6",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU6,    K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_gelu",            K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_GELU,     K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_sigmoid",         K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_SIGMOID,  K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_softplus",        K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_SOFTPLUS, K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_mish",            K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_MISH,     K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_exp",             K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"softmax_inverse",     K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_TRANSFORM_INVERSE,      false, 0, "LSSAR Table A4"},
    {"softmax_recentred",   K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_TRANSFORM_RECENTRED,    false, 3, "LSSAR Table A4"},
    {"softmax_recentred_l1", K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_TRANSFORM_RECENTRED_L1, false, 3, "LSSAR Table A4"},
    {"decomp_I",            K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_IDENTITY, K_NORM_NONE,     K_TRANSFORM_NONE,         false, 0, "LSSAR Table A5"},
    {"decomp_II",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_NONE,     K_TRANSFORM_NONE,         false, 0, "LSSAR Table A5"},
    {"decomp_III",          K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_IDENTITY, K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Table A5"},
    {"decomp_IV",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_TRANSFORM_NONE,         false, 0, "LSSAR Table A5"},
    {NULL, K_SCORE_DOT, K_BIAS_NONE, K_PHI_EXP, K_NORM_L1, K_TRANSFORM_NONE, false, 0, NULL},
};
/* clang-format on */

const struct k_attention *k_attention_find(const char *name)
{
    for (const struct k_attention *a = k_attention_table; a->name; a++)
        if (!strcmp(a->name, name))
            return a;
    return NULL;
}

bool k_attention_reweightable(const struct k_attention *variant)
{
    return !k_math_signed(variant->phi) && variant->norm == K_NORM_L1 &&
           variant->transform == K_TRANSFORM_NONE;
}

bool k_attention_has_fused(const struct k_attention *v)
{
    /* softplus of a bounded score cannot underflow; with dot products a whole row might */
    const bool phi =
        v->phi == K_PHI_EXP || (v->phi == K_PHI_SOFTPLUS && v->score == K_SCORE_COS_LOGN);
    return phi && v->bias == K_BIAS_NONE && v->norm == K_NORM_L1 &&
           v->transform == K_TRANSFORM_NONE;
}

const struct k_ops *k_generic_attention(const struct k_ops *ops, struct k_ops *copy)
{
    *copy = *ops;
    copy->attention_forward = ops->attention_generic_forward;
    copy->attention_backward = ops->attention_generic_backward;
    return copy;
}

static size_t rows_of(const struct k_attention_shape *shape)
{
    return (size_t)shape->B * (size_t)shape->H * (size_t)shape->T;
}

/* Six numbers per row of each head are enough for the statistics of every path. */
enum { STATISTICS = 6 };

size_t k_attention_beside(const struct k_attention_shape *shape)
{
    return (STATISTICS * rows_of(shape) + 3) / 4 * 4;
}

/* The fused kernels of devices also keep a bf16 vector for each re-weighted row. */
size_t k_attention_row_stats(const struct k_ops *ops, const struct k_attention_shape *shape)
{
    const bool more = !ops || (!ops->host && shape->variant->reweight);
    return more ? k_attention_beside(shape) + (rows_of(shape) * (size_t)shape->D + 1) / 2
                : STATISTICS * rows_of(shape);
}

const struct k_ops *const *k_backends(void)
{
    static const struct k_ops *all[4];
    int n = 0;
    all[n++] = &k_ref;
#ifndef K_DOUBLE
    all[n++] = k_cpu();
#endif
#ifdef K_CUDA_HOST
    all[n++] = &k_cuda;
#endif
    all[n] = NULL;
    return all;
}

/* A linked backend, or NULL. */
static const struct k_ops *linked_ops(const char *name)
{
    for (const struct k_ops *const *all = k_backends(); *all; all++)
        if (!strcmp((*all)->name, name))
            return *all;
    return NULL;
}

#if defined(K_DOUBLE) || defined(K_CUDA_HOST)

/* A double build has no CUDA backend, and an emulated CUDA backend is linked. */
static int find_cuda(const struct k_ops **ops)
{
    *ops = linked_ops("cuda");
    return *ops ? 0 : ORR_FAIL(ORR_EDEVICE, "no CUDA backend in double precision");
}

static const struct k_ops *automatic_ops(void)
{
    return linked_ops("cpu") ? linked_ops("cpu") : linked_ops("ref");
}

#else

static int find_cuda(const struct k_ops **ops)
{
    return k_plugin_find(ops);
}

static const struct k_ops *automatic_ops(void)
{
    const struct k_ops *cuda = k_plugin_usable();
    return cuda ? cuda : k_cpu();
}

#endif

int k_find(const char *name, const struct k_ops **ops)
{
    *ops = !strcmp(name, "auto") ? automatic_ops() : linked_ops(name);
    if (*ops)
        return 0;
    if (!strcmp(name, "cuda"))
        return find_cuda(ops);
    return ORR_FAIL(ORR_EDEVICE, "--device: this build has no \"%s\" backend", name);
}
