/* vec_sums.h - inside symreg/: sums over rows with AVX-512, included by vec.c.
 *
 * The lanes of vec_loops.h in two registers. Rows behind the last are read as 0, which adds 0. */
#ifndef SR_VEC_SUMS_H
#define SR_VEC_SUMS_H

#include "vec_loops.h"

/* Two groups of eight rows from row i. */
struct pair {
    __m512d group[2];
};

#define ZERO_PAIR                                                                                  \
    {                                                                                              \
        {                                                                                          \
            _mm512_setzero_pd(), _mm512_setzero_pd()                                               \
        }                                                                                          \
    }

WIDE_INLINE __mmask8 rows_left(size_t i, size_t n)
{
    return (__mmask8)(i + 8 <= n ? 0xffu : i < n ? (1u << (n - i)) - 1 : 0);
}

WIDE_INLINE struct pair load_pair(const double *x, size_t i, size_t n, bool is_whole)
{
    if (is_whole)
        return (struct pair){{_mm512_loadu_pd(x + i), _mm512_loadu_pd(x + i + 8)}};
    return (struct pair){{_mm512_maskz_loadu_pd(rows_left(i, n), x + i),
                          _mm512_maskz_loadu_pd(rows_left(i + 8, n), x + i + 8)}};
}

/* All pairs of groups: STEP(i, is_whole). */
#define EACH_PAIR(n, STEP)                                                                         \
    do {                                                                                           \
        size_t i_ = 0;                                                                             \
        for (; i_ + LANES <= (n); i_ += LANES)                                                     \
            STEP(i_, true);                                                                        \
        if (i_ < (n))                                                                              \
            STEP(i_, false);                                                                       \
    } while (0)

WIDE_INLINE double sum_pair(struct pair lanes)
{
    double lane[LANES];
    _mm512_storeu_pd(lane, lanes.group[0]);
    _mm512_storeu_pd(lane + 8, lanes.group[1]);
    return sum_lanes(lane);
}

WIDE_INLINE void add_products(const double *p, const double *t, const double *w, size_t i, size_t n,
                              bool is_whole, struct pair sum[2])
{
    const struct pair a = load_pair(p, i, n, is_whole), b = load_pair(t, i, n, is_whole);
    struct pair aw = a;
    if (w) {
        const struct pair c = load_pair(w, i, n, is_whole);
        for (int k = 0; k < 2; k++)
            aw.group[k] = _mm512_mul_pd(a.group[k], c.group[k]);
    }
    for (int k = 0; k < 2; k++) {
        sum[0].group[k] = _mm512_fmadd_pd(aw.group[k], a.group[k], sum[0].group[k]);
        sum[1].group[k] = _mm512_fmadd_pd(aw.group[k], b.group[k], sum[1].group[k]);
    }
}

AVX512 static void products_wide(const double *p, const double *t, const double *w, size_t n,
                                 double sum[2])
{
    struct pair lanes[2] = {ZERO_PAIR, ZERO_PAIR};
#define STEP(i, is_whole) add_products(p, t, w, i, n, is_whole, lanes)
    EACH_PAIR(n, STEP);
#undef STEP
    sum[0] = sum_pair(lanes[0]);
    sum[1] = sum_pair(lanes[1]);
}

/* The loss of a difference, of the kinds that need no more than these. */
WIDE_INLINE __m512d loss_of(enum orr_symreg_loss kind, __m512d d)
{
    const __m512d size = _mm512_abs_pd(d), zone = _mm512_set1_pd(SR_DEAD_ZONE);
    if (kind == ORR_SR_L2)
        return _mm512_mul_pd(d, d);
    if (kind == ORR_SR_STUDY) /* NaN stays */
        return _mm512_maskz_sub_pd(_mm512_cmp_pd_mask(size, zone, _CMP_NLE_UQ), size, zone);
    return size;
}

WIDE_INLINE void add_losses(enum orr_symreg_loss kind, const struct sr_vec_loss *loss,
                            const double *p, __m512d scale, size_t i, size_t n, bool is_whole,
                            struct pair *total)
{
    const struct pair a = load_pair(p, i, n, is_whole), b = load_pair(loss->t, i, n, is_whole);
    struct pair term;
    for (int k = 0; k < 2; k++)
        term.group[k] = loss_of(kind, _mm512_fmsub_pd(scale, a.group[k], b.group[k]));
    if (loss->weight) {
        const struct pair c = load_pair(loss->weight, i, n, is_whole);
        for (int k = 0; k < 2; k++)
            term.group[k] = _mm512_mul_pd(term.group[k], c.group[k]);
    }
    for (int k = 0; k < 2; k++)
        total->group[k] = _mm512_add_pd(total->group[k], term.group[k]);
}

WIDE_INLINE double loss_pairs(enum orr_symreg_loss kind, const struct sr_vec_loss *loss,
                              const double *p, double scale, size_t n)
{
    const __m512d factor = _mm512_set1_pd(scale);
    struct pair total = ZERO_PAIR;
#define STEP(i, is_whole) add_losses(kind, loss, p, factor, i, n, is_whole, &total)
    EACH_PAIR(n, STEP);
#undef STEP
    return sum_pair(total);
}

AVX512 static double loss_wide(const struct sr_vec_loss *loss, const double *p, double scale,
                               size_t n)
{
    if (!isfinite(scale)) /* 0 times that is no number */
        return loss_sum(loss, p, scale, n);
    switch (loss->kind) {
    case ORR_SR_L1:
    case ORR_SR_RELATIVE:
        return loss_pairs(ORR_SR_L1, loss, p, scale, n);
    case ORR_SR_L2:
        return loss_pairs(ORR_SR_L2, loss, p, scale, n);
    case ORR_SR_STUDY:
        return loss_pairs(ORR_SR_STUDY, loss, p, scale, n);
    default:
        return loss_sum(loss, p, scale, n);
    }
}

/* The bits of a group are the byte that they are of a word: x86 has the low ones first. */
WIDE_INLINE void split_pair(const double *p, const double *t, size_t i, size_t n, bool is_whole,
                            const __m512d end[2], struct pair sum[2], unsigned char *byte)
{
    const struct pair a = load_pair(p, i, n, is_whole), b = load_pair(t, i, n, is_whole);
    const __m512d sign = _mm512_set1_pd(-0.0);
    for (int k = 0; k < 2; k++) {
        const __m512d one = _mm512_fnmadd_pd(end[0], a.group[k], b.group[k]);
        const __m512d two = _mm512_fnmadd_pd(end[1], a.group[k], b.group[k]);
        const __m512d x = _mm512_xor_pd(a.group[k], _mm512_and_pd(one, sign));
        const __m512d y = _mm512_xor_pd(a.group[k], _mm512_and_pd(two, sign));
        sum[0].group[k] = _mm512_add_pd(sum[0].group[k], x);
        sum[1].group[k] = _mm512_add_pd(sum[1].group[k], y);
        if (byte)
            byte[i / 8 + (size_t)k] =
                _mm512_movepi64_mask(_mm512_castpd_si512(_mm512_xor_pd(one, two)));
    }
}

AVX512 static void split_wide(const double *p, const double *t, size_t n, const double end[2],
                              double excess[2], uint64_t *inside)
{
    const __m512d ends[2] = {_mm512_set1_pd(end[0]), _mm512_set1_pd(end[1])};
    struct pair sum[2] = {ZERO_PAIR, ZERO_PAIR};
    if (inside) {
        inside[(n - 1) / 64] = 0; /* LANES divides 64: the last pair stays within this word */
#define STEP(i, is_whole) split_pair(p, t, i, n, is_whole, ends, sum, (unsigned char *)inside)
        EACH_PAIR(n, STEP);
#undef STEP
    } else {
#define STEP(i, is_whole) split_pair(p, t, i, n, is_whole, ends, sum, NULL)
        EACH_PAIR(n, STEP);
#undef STEP
    }
    excess[0] = sum_pair(sum[0]);
    excess[1] = sum_pair(sum[1]);
}

#undef EACH_PAIR
#undef ZERO_PAIR

#endif
