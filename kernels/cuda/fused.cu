/* fused.cu - the entries of fused attention: which shapes are fused, and their scratch memory.
 * See fused.cuh. */
#include "fused.h"

#include "fused.cuh"
#include "hopper.h"
#include "reduce.h"

static int width_of(int D)
{
    return D <= 32 ? 32 : D <= 64 ? 64 : 128;
}

static bool kind_of(const struct k_attention *v, enum fused_kind *kind)
{
    const bool cosine = v->score == K_SCORE_COS_LOGN;
    if (v->bias != K_BIAS_NONE || v->norm != K_NORM_L1 || v->transform != K_TRANSFORM_NONE ||
        v->phi != (cosine ? K_PHI_SOFTPLUS : K_PHI_EXP))
        return false;
    *kind = cosine ? (v->reweight ? LSSAR : LSSA) : v->reweight ? RW_SOFTMAX : SOFTMAX;
    return true;
}

enum {
    LARGEST_SCORE = 80, /* of cosine scores: e^score fits in a float */
    LOW_SCORE = 44,     /* of cosine scores: the product of two e^score fits in a float */
    /* z contains the p-th root of the row's factor, which makes the relative error of w p 2^-24 */
    LARGEST_P = 1000,
};

bool k_cuda_fused(const struct k_attention_shape *shape)
{
    enum fused_kind kind;
    return k_cuda_precision() == K_PRECISION_BF16 && kind_of(shape->variant, &kind) &&
           shape->D >= 8 && shape->D <= WIDEST && shape->D % 2 == 0 &&
           log((double)shape->D) * log((double)shape->T) < LARGEST_SCORE &&
           k_cuda_fused_shared(width_of(shape->D)) <= k_cuda_shared_most() &&
           (!shape->variant->reweight || shape->power <= LARGEST_P);
}

/* Where the next copy goes in scratch memory. */
struct scratch {
    bf16 *copy;
    size_t one; /* numbers in one copy */
};

/* Scratch memory: the numbers of the rows, the copies and, for the backward pass, the partial
 * sums of dq and the counts of turns, which are zeroed. */
static int scratch_take(struct fused *p, int copies, bool backward, struct scratch *s)
{
    void *memory;
    size_t sums = 0;
    const size_t turns = backward ? k_cuda_fused_turns(p, &sums) : 0;
    s->one = p->rows * (size_t)p->width;
    const size_t rows = p->rows * sizeof(struct fused_row),
                 copied = (size_t)copies * s->one * sizeof(bf16);
    TRY(k_cuda_scratch(K_CUDA_SLOT_ATTENTION,
                       rows + copied + sums * sizeof(float) + turns * sizeof(unsigned), &memory));
    p->numbers = (struct fused_row *)memory;
    s->copy = (bf16 *)((char *)memory + rows);
    p->sums = (float *)((char *)memory + rows + copied);
    p->started = (unsigned *)(p->sums + sums);
    p->done = p->started + 1;
    return !backward ? 0
                     : k_cuda_check(cudaMemsetAsync(p->started, 0, turns * sizeof(unsigned),
                                                    k_cuda_stream()),
                                    "clearing");
}

/* The next copy, (B, H, T, width). */
static struct fused_rows copy_next(const struct fused *p, struct scratch *s)
{
    bf16 *const at = s->copy;
    const ptrdiff_t head = (ptrdiff_t)p->T * p->width;
    s->copy += s->one;
    return {at, true, head * p->H, head, p->width};
}

/* Vector `which` of `of` in each row of a bf16 tensor of the model (B, T, of, H, D). */
static struct fused_rows in_place(const struct fused *p, const void *tensor, int which, int of)
{
    const ptrdiff_t row = (ptrdiff_t)of * p->H * p->D;
    return {(const bf16 *)tensor + (ptrdiff_t)which * p->H * p->D, false, p->T * row, p->D, row};
}

/* Whether the kernels can read the tensor's vectors in place. */
static bool is_readable(const struct fused *p, const void *tensor)
{
    return p->bf16_tensors && p->D == p->width && k_cuda_aligned(tensor);
}

/* Whether two neighbouring numbers of the tensor can be written at once (D is even). */
static bool in_pairs(const struct fused *p, const void *tensor)
{
    return (uintptr_t)tensor % (p->bf16_tensors ? 4 : 8) == 0;
}

static struct fused problem_of(const struct k_attention_shape *shape, float *row_stats)
{
    struct fused p;
    memset(&p, 0, sizeof(p));
    p.rule = k_math_rule(shape->variant, shape->T, shape->D, shape->window, shape->power);
    p.B = shape->B;
    p.T = shape->T;
    p.H = shape->H;
    p.D = shape->D;
    p.rows = (size_t)p.B * (size_t)p.H * (size_t)p.T;
    p.row_stats = row_stats;
    if (shape->variant->reweight && !shape->forward_only)
        p.spread = (bf16 *)(row_stats + k_attention_beside(shape));
    p.unit = shape->variant->score == K_SCORE_DOT ? p.rule.scale * LOG2_E : 1.0f;
    p.low = log((double)shape->D) * log((double)shape->T) < LOW_SCORE;
    p.bf16_tensors = shape->bf16;
    p.width = width_of(p.D);
    kind_of(shape->variant, &p.kind);
    return p;
}

/* Prepares q, k, v and, unless NULL, dout. Prepared queries and keys of cosine scores replace
 * the model's where qkv may be overwritten: the forward pass writes them, and the backward pass
 * reads them again. */
static int prepare_vectors(struct fused *p, const void *qkv, const void *dout, bool overwrites)
{
    struct scratch s;
    const bool values = is_readable(p, qkv);
    const bool vectors = values && (p->rule.score == K_SCORE_DOT || overwrites);
    const bool gradients = is_readable(p, dout);
    const int copies = 2 * !vectors + !values + (dout && !gradients);
    TRY(scratch_take(p, copies, dout != NULL, &s));
    p->q = vectors ? in_place(p, qkv, 0, 3) : copy_next(p, &s);
    p->k = vectors ? in_place(p, qkv, 1, 3) : copy_next(p, &s);
    p->v = values ? in_place(p, qkv, 2, 3) : copy_next(p, &s);
    p->q.made = p->k.made = !vectors || (!dout && p->rule.score != K_SCORE_DOT);
    if (dout)
        p->g = gradients ? in_place(p, dout, 0, 1) : copy_next(p, &s);
    return k_cuda_fused_prepare(p, qkv);
}

int k_cuda_fused_attention_forward(float *out, float *row_stats, const float *qkv,
                                   const struct k_attention_shape *shape)
{
    struct fused p = problem_of(shape, row_stats);
    p.out = out;
    p.pairs = in_pairs(&p, out);
    if (!p.rows)
        return 0;
    TRY(prepare_vectors(&p, qkv, NULL, shape->may_overwrite_qk));
    return k_cuda_hopper() ? k_cuda_hopper_forward(&p) : k_cuda_fused_forward(&p);
}

int k_cuda_fused_attention_backward(float *dqkv, const float *dout, const float *out,
                                    const float *row_stats, const float *qkv,
                                    const struct k_attention_shape *shape)
{
    /* row_stats are written again, with the same numbers */
    struct fused p = problem_of(shape, (float *)row_stats);
    p.dqkv = dqkv;
    p.pairs = in_pairs(&p, dqkv);
    if (!p.rows)
        return 0;
    TRY(prepare_vectors(&p, qkv, dout, shape->may_overwrite_qk));
    TRY(k_cuda_fused_prepare_backward(&p, dout, out));
    return k_cuda_hopper() ? k_cuda_hopper_backward(&p) : k_cuda_fused_backward(&p);
}
