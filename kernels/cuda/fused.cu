/* fused.cu - when attention is fused, and the memory for it: see fused.cuh. */
#include "fused.h"

#include "fused.cuh"

static int width_of(int D)
{
    return D <= 32 ? 32 : D <= 64 ? 64 : 128;
}

static bool kind_of(const struct k_attention *v, enum fused_kind *kind)
{
    const bool cosine = v->score == K_SCORE_COS_LOGN;
    if (v->bias != K_BIAS_NONE || v->norm != K_NORM_L1 || v->post != K_POST_NONE ||
        v->phi != (cosine ? K_PHI_SOFTPLUS : K_PHI_EXP))
        return false;
    *kind = cosine ? (v->sharpen ? LSSAR : LSSA) : v->sharpen ? RW_SOFTMAX : SOFTMAX;
    return true;
}

bool k_cuda_fused(const struct k_attention_shape *shape)
{
    enum { LARGEST_SCORE = 80 }; /* of cosines: e to it is a float */
    enum fused_kind kind;
    return k_cuda_precision() == K_PRECISION_BF16 && kind_of(shape->variant, &kind) &&
           shape->D >= 8 && shape->D <= WIDEST && shape->D % 2 == 0 &&
           log((double)shape->D) * log((double)shape->T) < LARGEST_SCORE;
}

/* Copies of `count` tensors of rows W wide, and the numbers of rows, in scratch memory. */
static int scratch(const struct fused *p, int width, int count, bf16 **copies,
                   struct fused_row **numbers)
{
    const size_t one = p->rows * (size_t)width;
    void *memory;
    const int rc =
        k_cuda_scratch(K_CUDA_SLOT_ATTENTION,
                       p->rows * sizeof(struct fused_row) + (size_t)count * one * sizeof(bf16),
                       &memory);
    if (rc)
        return rc;
    *numbers = (struct fused_row *)memory;
    *copies = (bf16 *)(*numbers + p->rows);
    return 0;
}

static struct fused_rows copy_at(const struct fused *p, bf16 *copies, int which, int width)
{
    const ptrdiff_t head = (ptrdiff_t)p->T * width;
    return {copies + (size_t)which * p->rows * (size_t)width, true, head * p->H, head, width};
}

static struct fused problem_of(const struct k_attention_shape *shape, float *saved)
{
    struct fused p;
    memset(&p, 0, sizeof(p));
    p.rule = k_math_rule(shape->variant, shape->T, shape->D, shape->window, shape->p);
    p.B = shape->B;
    p.T = shape->T;
    p.H = shape->H;
    p.D = shape->D;
    p.rows = (size_t)p.B * (size_t)p.H * (size_t)p.T;
    p.saved = saved;
    return p;
}

/* q, k, v and, backward, dout. */
static int prepare(struct fused *p, const void *qkv, int width, int count)
{
    bf16 *copies;
    const int rc = scratch(p, width, count, &copies, &p->numbers);
    if (rc)
        return rc;
    p->q = copy_at(p, copies, 0, width);
    p->k = copy_at(p, copies, 1, width);
    p->v = copy_at(p, copies, 2, width);
    p->g = copy_at(p, copies, count - 1, width);
    return k_cuda_fused_prepare(p, qkv, width);
}

int k_cuda_fused_attention_forward(float *out, float *saved, const float *qkv,
                                   const struct k_attention_shape *shape)
{
    enum fused_kind kind = SOFTMAX;
    struct fused p = problem_of(shape, saved);
    const int width = width_of(p.D);
    kind_of(shape->variant, &kind);
    p.out = out;
    const int rc = p.rows ? prepare(&p, qkv, width, 3) : 0;
    return rc || !p.rows ? rc : k_cuda_fused_forward(&p, kind, width);
}

int k_cuda_fused_attention_backward(float *dqkv, const float *dout, const float *out,
                                    const float *saved, const float *qkv,
                                    const struct k_attention_shape *shape)
{
    enum fused_kind kind = SOFTMAX;
    struct fused p = problem_of(shape, (float *)saved); /* written again: the same numbers */
    const int width = width_of(p.D);
    kind_of(shape->variant, &kind);
    p.dqkv = dqkv;
    if (!p.rows)
        return 0;
    int rc = prepare(&p, qkv, width, 4);
    if (!rc)
        rc = k_cuda_fused_prepare_backward(&p, dout, out, kind, width);
    if (!rc)
        rc = k_cuda_fused_queries(&p, kind, width);
    if (!rc)
        rc = k_cuda_fused_keys(&p, kind, width);
    return rc;
}
