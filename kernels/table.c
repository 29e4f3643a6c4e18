/* table.c - the attention variants and the backends of this build. */
#include "kernels.h"

#include <string.h>

#include "base/base.h"

/* clang-format off */
const struct k_attention k_attention_table[] = {
    /* name        score             phi             norm       post         sharpen free  source */
    {"softmax",    K_SCORE_DOT,      K_PHI_EXP,      K_NORM_L1, K_POST_NONE, false, 0, "LSSAR Eq. (1)"},
    {"lssa",       K_SCORE_COS_LOGN, K_PHI_SOFTPLUS, K_NORM_L1, K_POST_NONE, false, 0, "LSSAR Eq. (4)"},
    {"lssar",      K_SCORE_COS_LOGN, K_PHI_SOFTPLUS, K_NORM_L1, K_POST_NONE, true,  3, "LSSAR Eqs. (4), (5)"},
    {"rw_softmax", K_SCORE_DOT,      K_PHI_EXP,      K_NORM_L1, K_POST_NONE, true,  3, "LSSAR Eqs. (1), (5)"},
    {NULL,         K_SCORE_DOT,      K_PHI_EXP,      K_NORM_L1, K_POST_NONE, false, 0, NULL},
};
/* clang-format on */

const struct k_attention *k_attention_find(const char *name)
{
    for (const struct k_attention *a = k_attention_table; a->name; a++)
        if (!strcmp(a->name, name))
            return a;
    return NULL;
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
