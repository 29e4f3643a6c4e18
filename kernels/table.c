/* table.c - the attention variants and the backends of this build. */
#include "kernels.h"

#include <string.h>

#include "base/base.h"

/* clang-format off */
const struct k_attention k_attention_table[] = {
    /* name, score, bias, phi, norm, post, sharpen, free rows, source */
    {"softmax",             K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (1)"},
    {"lssa",                K_SCORE_COS_LOGN, K_BIAS_NONE,       K_PHI_SOFTPLUS, K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (4)"},
    {"lssar",               K_SCORE_COS_LOGN, K_BIAS_NONE,       K_PHI_SOFTPLUS, K_NORM_L1,       K_POST_NONE,         true,  3, "LSSAR Eqs. (4), (5)"},
    {"rw_softmax",          K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_POST_NONE,         true,  3, "LSSAR Eqs. (1), (5)"},
    {"rw_sigmoid",          K_SCORE_DOT,      K_BIAS_LOG_ROW,    K_PHI_SIGMOID,  K_NORM_L1,       K_POST_NONE,         true,  3, "LSSAR Eq. (5), Table 1"},
    {"sigmoid_logL",        K_SCORE_DOT,      K_BIAS_LOG_LENGTH, K_PHI_SIGMOID,  K_NORM_NONE,     K_POST_NONE,         false, 0, "Ramapuram et al. 2024"},
    {"sigmoid_logN",        K_SCORE_DOT,      K_BIAS_LOG_ROW,    K_PHI_SIGMOID,  K_NORM_NONE,     K_POST_NONE,         false, 0, "LSSAR Table 1"},
    {"sigmoid_logN_l1",     K_SCORE_DOT,      K_BIAS_LOG_ROW,    K_PHI_SIGMOID,  K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Table 1"},
    {"relu_wortsman",       K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU,     K_NORM_LENGTH,   K_POST_NONE,         false, 0, "Wortsman et al. 2023"},
    {"relu_li",             K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU,     K_NORM_L1,       K_POST_NONE,         false, 0, "Li et al. 2022"},
    {"relu_shen",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU,     K_NORM_ROOT_ROW, K_POST_NONE,         false, 0, "Shen et al. 2023, gamma = 1"},
    {"phi_relu",            K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU,     K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_relu2",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU2,    K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_relu6",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_RELU6,    K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_gelu",            K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_GELU,     K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_sigmoid",         K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_SIGMOID,  K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_softplus",        K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_SOFTPLUS, K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_mish",            K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_MISH,     K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"phi_exp",             K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Eq. (3), Table A6"},
    {"softmax_inverse",     K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_POST_INVERSE,      false, 0, "LSSAR Table A4"},
    {"softmax_recentred",   K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_POST_RECENTRED,    false, 3, "LSSAR Table A4"},
    {"softmax_recentred_l1", K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_POST_RECENTRED_L1, false, 3, "LSSAR Table A4"},
    {"decomp_I",            K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_IDENTITY, K_NORM_NONE,     K_POST_NONE,         false, 0, "LSSAR Table A5"},
    {"decomp_II",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_NONE,     K_POST_NONE,         false, 0, "LSSAR Table A5"},
    {"decomp_III",          K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_IDENTITY, K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Table A5"},
    {"decomp_IV",           K_SCORE_DOT,      K_BIAS_NONE,       K_PHI_EXP,      K_NORM_L1,       K_POST_NONE,         false, 0, "LSSAR Table A5"},
    {NULL, K_SCORE_DOT, K_BIAS_NONE, K_PHI_EXP, K_NORM_L1, K_POST_NONE, false, 0, NULL},
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
    const bool positive =
        variant->phi != K_PHI_IDENTITY && variant->phi != K_PHI_GELU && variant->phi != K_PHI_MISH;
    return positive && variant->norm == K_NORM_L1 && variant->post == K_POST_NONE;
}

const struct k_ops *k_generic_attention(const struct k_ops *ops, struct k_ops *copy)
{
    *copy = *ops;
    copy->attention_forward = ops->attention_generic_forward;
    copy->attention_backward = ops->attention_generic_backward;
    return copy;
}

/* Six numbers per row of each head: enough for the statistics of every path. */
size_t k_attention_saved(const struct k_attention_shape *shape)
{
    return 6 * (size_t)shape->B * (size_t)shape->H * (size_t)shape->T;
}

const struct k_ops *const *k_backends(void)
{
#ifdef K_DOUBLE
    static const struct k_ops *const all[] = {&k_ref, NULL};
#else
    static const struct k_ops *const all[] = {&k_ref, &k_cpu, NULL};
#endif
    return all;
}

int k_find(const char *name, const struct k_ops **ops)
{
    const struct k_ops *const *all = k_backends();
    const struct k_ops *last = all[0];
    for (int i = 0; all[i]; i++) {
        last = all[i];
        if (!strcmp(all[i]->name, name)) {
            *ops = all[i];
            return 0;
        }
    }
    if (!strcmp(name, "auto")) {
        *ops = last;
        return 0;
    }
    return ORR_FAIL(ORR_EDEVICE, "--device: this build has no \"%s\" backend", name);
}
