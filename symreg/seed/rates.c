/* rates.c - sums of up to three terms w h g(c u + d) with free rates c.
 *
 * Orthogonal matching pursuit (Pati, Rezaiifar & Krishnaprasad, Asilomar 1993) over the columns of
 * rates_list.c: a term is the one that takes most of what is left of the target after a fit of the
 * terms before it and, to first order, of their constants. The best few sums of every length are
 * kept, since the first term alone is often a wrong one. All constants of a sum are fitted before
 * its next term is chosen, as the grid of rates is coarse. */
#include "base/stop.h"
#include "rates.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"
#include "sums.h"

enum {
    ROWS = SR_RATES_ROWS,
    BLOCK = SR_RATES_BLOCK,
    TERMS = SR_TERMS,
    FEW_TERMS = TERMS - 1, /* in tables of fewer than SR_FEW_FOR_PAIRS rows */
    BEAM = 6,              /* sums of every length, and next terms of each */
    FIT_STEPS = 20,
    VARIANT_STEPS = 12,
    EXCHANGED = 3, /* sums of every length whose terms are exchanged */
    PARTS = EXCHANGED * TERMS,
    MOST = PARTS > BEAM ? PARTS : BEAM,
    VARIANTS = 16,            /* weights of 1, no offset, no phases, a slope */
    SPAN = 3 * TERMS + 1 + 4, /* constants of a sum, at most */
    PER_SIZE = 8,
    SUMS = 1 + TERMS * BEAM + PARTS, /* kept of all lengths, at most, and an empty one */
};
/* Rests of the target that are rounding errors, and below which a term is none. */
static const double exact = 1e-22, least_gain = 1e-3;

struct term {
    struct sr_expr body; /* h g(c u + d) */
    int phase;           /* the node of d of a sine, followed by its sum; -1: none */
    int sine;            /* the node of g of a sine */
    int h;               /* number of h; 0 where it is 1 or has constants */
    int factor;          /* nodes of h; the next one is c of an exponential */
    double flat;         /* the largest |c| of an exponential that is 1 but for 2%; else 0 */
    double weight;
};
struct sum {
    double score; /* the loss, with a price of the constants as in Akaike's criterion */
    double loss;  /* at the rows */
    int terms;
    struct term term[TERMS];
    double offset;
};
/* A next term: h g(c u), a sine with the phase. */
struct next {
    double score; /* minus the share of the target that it takes */
    int factor, rate;
    double sine, cosine; /* weights */
};

struct search {
    struct sr_rates r; /* first, as its blocks are read fastest where memory begins */
    struct sr_proposal *p;
    struct sr_loss loss; /* at the rows */
    /* of all columns times h, whatever the sum is: their products with the
     * first column of a span, and their squares */
    float one[SR_RATES_FACTORS][SR_RATES], square[SR_RATES_FACTORS][SR_RATES];
    float whole[SR_RATES_FACTORS]; /* the sum of h^2 */
    struct sum sum[SUMS];
    struct sr_expr expr[SUMS * VARIANTS];
    double loss_of[SUMS * VARIANTS]; /* of expr */
};

/* ---- formulas */

/* Whether a term is written without its weight, which is 1, or -1 after a minus. */
static bool is_plain(const struct search *s, const struct sum *sum, int k)
{
    const double weight = sum->term[k].weight;
    return weight == 1 || (weight == -1 && k > 0 && sr_has(s->p->operators, SR_SUB));
}

static bool write_sum(const struct search *s, const struct sum *sum, struct sr_expr *out)
{
    static const struct sr_expr none = {.count = 0};
    struct sr_sum written = {
        .factor = &none, .terms = sum->terms, .offset = sum->offset != 0, .d = sum->offset};
    for (int k = 0; k < sum->terms; k++) {
        const struct term *t = &sum->term[k];
        const bool plain = is_plain(s, sum, k);
        written.term[k] = (struct sr_written_term){&t->body, t->weight, plain,
                                                   plain && t->weight < 0 ? SR_SUB : SR_ADD};
    }
    return sr_sum_write(s->p->settings->language, &written, SR_NODES, out);
}

/* Takes the constants over from the formula that write_sum() wrote for the sum. */
static void read_sum(const struct search *s, const struct sr_expr *expr, struct sum *sum)
{
    int at = 0;
    for (int k = 0; k < sum->terms; k++) {
        struct term *t = &sum->term[k];
        const bool plain = is_plain(s, sum, k);
        if (!plain)
            t->weight = expr->node[at++].value;
        memcpy(t->body.node, expr->node + at, (size_t)t->body.count * sizeof *expr->node);
        at += t->body.count + !plain + (k > 0);
    }
    if (sum->offset != 0)
        sum->offset = expr->node[at].value;
}

/* Writes h g(c u + d), with the operator that the phase is nearest to. */
static bool write_term(const struct search *s, const struct next *next, struct term *t)
{
    const struct sr_rate *rate = &s->r.rate[next->rate];
    const struct sr_expr *h = &s->r.h.expr[next->factor];
    *t = (struct term){.phase = -1, .sine = -1, .factor = h->count, .weight = 1};
    t->h = next->factor < s->r.falls ? next->factor : 0;
    sr_put_expr(&t->body, h);
    if (rate->variable >= 0) {
        double (*const angle)(double, double) = sr_op_table[SR_ATAN2].value;
        const bool sine = rate->g == SR_SIN, cosine = sine && !sr_has(s->p->operators, SR_SIN);
        const double number[] = {rate->c, cosine ? angle(-next->sine, next->cosine)
                                          : sine ? angle(next->cosine, next->sine)
                                                 : rate->d};
        sr_put_text(cosine              ? "cos(c * u + d)"
                    : sine              ? "sin(c * u + d)"
                    : rate->g == SR_INV ? "inv(exp(c * u) + d)"
                    : rate->g == SR_EXP ? "exp(c * u)"
                                        : "tanh(c * u)",
                    &s->r.u.expr[rate->variable], "cd", number, &t->body);
        t->flat = rate->g == SR_EXP ? 0.02 / s->r.u.range[rate->variable] : 0;
        t->sine = sine ? t->body.count - 1 : -1;
        t->phase = sine ? t->body.count - 3 : -1;
        if (h->count)
            sr_put_op(&t->body, SR_MUL);
    }
    return t->body.count && sr_put_end(s->p->settings->language, &t->body, SR_NODES);
}

/* Least-squares weights at the rows. */
static bool weigh_terms(const struct search *s, struct sum *sum)
{
    double value[TERMS][ROWS], weight[TERMS + 1];
    const double *list[TERMS] = {NULL};
    for (int k = 0; k < sum->terms; k++) {
        list[k] = value[k];
        if (!sr_eval(&sum->term[k].body, &s->r.data, value[k]))
            return false;
    }
    if (!sr_sum_weigh(s->r.rows, sum->terms, list, s->r.data.y, weight))
        return false;
    for (int k = 0; k < sum->terms; k++)
        sum->term[k].weight = weight[k];
    sum->offset = weight[TERMS];
    return isfinite(sum->offset);
}

/* Fits all constants at the rows. Infinite where the sum is unusable. */
static void fit_sum(const struct search *s, struct sum *sum)
{
    struct sr_thread *own = &s->p->thread[omp_get_thread_num()];
    struct sr_expr expr;
    sum->loss = HUGE_VAL;
    if (!weigh_terms(s, sum) || !write_sum(s, sum, &expr))
        return;
    const double loss =
        sr_constants_fit(&s->loss, &expr, false, FIT_STEPS, 0, own->rng, &own->work);
    if (!isfinite(loss))
        return;
    read_sum(s, &expr, sum);
    sum->loss = loss;
    sum->score = loss * (1 + 2.0 * sr_expr_constants(&expr, NULL) / s->r.rows);
}

/* ---- the next term */

/* The rest of the target and the orthonormal span of a sum's derivatives, the column 1 first. */
struct span {
    int count;
    double q[SPAN][ROWS], rest[ROWS];
};

static void span_add(struct span *d, int rows, const double *v)
{
    if (d->count == SPAN)
        return;
    double *q = d->q[d->count];
    memcpy(q, v, (size_t)rows * sizeof *q);
    if (!sr_orthogonalise(q, d->q[0], d->count, ROWS, rows, 1e-10, NULL))
        return;
    sr_remove(d->rest, q, rows);
    d->count++;
}

static bool span_of(const struct search *s, const struct sum *sum, struct span *d)
{
    const int rows = s->r.rows;
    struct sr_expr expr;
    double value[ROWS], *jacobian = orr_alloc((size_t)SR_NODES * ROWS, sizeof *jacobian);
    bool is = jacobian != NULL;
    d->count = 0;
    memcpy(d->rest, s->r.data.y, (size_t)rows * sizeof *d->rest);
    sr_fill(value, (size_t)rows, 1);
    span_add(d, rows, value);
    if (is && sum->terms) {
        is = write_sum(s, sum, &expr) && sr_eval_jacobian(&expr, &s->r.data, value, jacobian);
        const int n = is ? sr_expr_constants(&expr, value) : 0;
        for (int c = 0; c < n; c++)
            span_add(d, rows, jacobian + (size_t)c * (size_t)rows);
    }
    free(jacobian);
    return is;
}

/* Of a block of columns times h: their products with the rest, their squares outside the span, and
 * of a cosine its product with the sine before it. */
struct block {
    float with[BLOCK], square[BLOCK], cross[BLOCK];
};

/* out[i] = h[i] v[i] in single precision. */
static void multiply(const double *h, const double *v, int rows, float *out)
{
    for (int i = 0; i < rows; i++)
        out[i] = (float)(h[i] * v[i]);
}

/* out[h][c] = the products of column c, which is of `column`, with h v, of every h. */
static void correlate_factors(const struct search *s, const double *v,
                              const float (*column)[ROWS][BLOCK], float (*out)[SR_RATES])
{
    const struct sr_rates *r = &s->r;
    float product[SR_RATES_FACTORS][ROWS], c[SR_RATES_FACTORS][BLOCK];
    for (int h = 0; h < r->h.count; h++)
        multiply(r->h.value[h], v ? v : r->h.value[h], r->rows, product[h]);
    for (int first = 0; first < r->count && !orr_signal_seen(); first += BLOCK) {
        sr_vec_best()->correlate(r->h.count, product[0], ROWS, column[first / BLOCK][0], r->rows,
                                 c[0]);
        for (int h = 0; h < r->h.count; h++)
            memcpy(&out[h][first], c[h], sizeof c[h]);
    }
}

/* Fills s->one and s->square. */
static void correlate_always(struct search *s)
{
    const struct sr_rates *r = &s->r;
    double one[ROWS];
    sr_fill(one, (size_t)r->rows, 1);
    sr_scale_to_one(one, r->rows);
    correlate_factors(s, one, r->value, s->one);
    correlate_factors(s, NULL, r->square, s->square);
    for (int h = 0; h < r->h.count; h++)
        for (int i = 0; i < r->rows; i++)
            s->whole[h] += (float)(r->h.value[h][i] * r->h.value[h][i]);
}

/* product: h times the columns of the span but the first, then h times the rest. */
static void correlate_block(const struct search *s, const struct span *d, int h,
                            const float product[][ROWS], int first, struct block *b)
{
    const struct sr_rates *r = &s->r;
    const float *one = &s->one[h][first], *square = &s->square[h][first];
    const int others = d->count - 1;
    float c[SPAN][BLOCK];
    sr_vec_best()->correlate(d->count, product[0], ROWS, r->value[first / BLOCK][0], r->rows, c[0]);
    memcpy(b->with, c[others], sizeof b->with);
    for (int f = 0; f < BLOCK; f++) {
        const bool cosine = f > 0 && r->rate[first + f].g == SR_COS;
        b->cross[f] = cosine ? square[f] - one[f] * one[f - 1] : 0;
        b->square[f] = (cosine ? s->whole[h] - square[f - 1] : square[f]) - one[f] * one[f];
    }
    for (int k = 0; k < others; k++)
        for (int f = 0; f < BLOCK; f++) {
            b->square[f] -= c[k][f] * c[k][f];
            if (f > 0 && r->rate[first + f].g == SR_COS)
                b->cross[f] -= c[k][f] * c[k][f - 1];
        }
}

/* The column, or sine and cosine, that lies in number f of the block; false where it depends on the
 * span. */
static bool rate_column(const struct search *s, const struct block *b, int first, int f,
                        struct next *next)
{
    static const float least = 1e-3F; /* of a square that is left outside the span */
    const float r = b->with[f], own = b->square[f];
    next->rate = first + f;
    if (s->r.rate[first + f].g != SR_SIN) {
        if (!(own > least))
            return false;
        next->score = -(double)(r * r / own);
        return true;
    }
    const double with[] = {(double)r, (double)b->with[f + 1]}, cross = (double)b->cross[f + 1];
    const double square[] = {(double)own, (double)b->square[f + 1]};
    const double determinant = square[0] * square[1] - cross * cross;
    if (!(own > least && b->square[f + 1] > least && determinant > 0.01 * square[0] * square[1]))
        return false;
    next->sine = (with[0] * square[1] - with[1] * cross) / determinant;
    next->cosine = (with[1] * square[0] - with[0] * cross) / determinant;
    next->score = -(next->sine * with[0] + next->cosine * with[1]);
    return true;
}

/* Keeps the best column of every h, u and g; one of a wave that falls, whatever the rate;
 * two of steps, up and down. */
static void keep_next(const struct search *s, const struct next *next, struct next list[BEAM],
                      int *count)
{
    const struct sr_rate *own = &s->r.rate[next->rate];
    for (int i = 0; i < *count; i++) {
        const struct sr_rate *other = &s->r.rate[list[i].rate];
        const int h = list[i].factor < s->r.falls ? list[i].factor : s->r.falls;
        if (h != (next->factor < s->r.falls ? next->factor : s->r.falls) ||
            other->variable != own->variable || other->g != own->g ||
            (own->g == SR_INV && other->c * own->c < 0))
            continue;
        if (!(next->score < list[i].score))
            return;
        memmove(list + i, list + i + 1, (size_t)(*count - i - 1) * sizeof *list);
        --*count;
        break;
    }
    sr_best_insert(list, sizeof *list, count, BEAM, next);
}

/* The terms that take most of what the sum leaves of the target; best first. Returns how many. */
static int find_next(const struct search *s, const struct sum *sum, struct next list[BEAM])
{
    const struct sr_rates *r = &s->r;
    struct span *d = orr_alloc(1, sizeof *d);
    float product[SPAN][ROWS];
    int n = 0;
    const bool is = d && span_of(s, sum, d);
    const double least = is ? least_gain * sr_dot(d->rest, d->rest, r->rows) : 0;
    for (int h = 0; h < r->h.count && is && !orr_signal_seen(); h++) {
        for (int k = 1; k <= d->count; k++)
            multiply(r->h.value[h], k < d->count ? d->q[k] : d->rest, r->rows, product[k - 1]);
        for (int first = 0; first < r->count; first += BLOCK) {
            struct block b;
            struct next next = {.factor = h};
            correlate_block(s, d, h, (const float(*)[ROWS])product, first, &b);
            for (int f = 0; f < BLOCK && first + f < r->count; f++)
                if (r->rate[first + f].g != SR_COS &&
                    (h < r->falls || r->rate[first + f].g == SR_SIN) &&
                    rate_column(s, &b, first, f, &next) && -next.score > least)
                    keep_next(s, &next, list, &n);
        }
    }
    free(d);
    return n;
}

/* ---- the sums of every length */

/* Keeps a sum among the best, once. */
static void keep_sum(const struct sum *sum, struct sum list[BEAM], int *count)
{
    bool twice = !isfinite(sum->loss);
    for (int k = 0; k < *count && !twice; k++)
        twice = fabs(list[k].loss - sum->loss) <= 1e-9 * sum->loss;
    if (!twice)
        sr_best_insert(list, sizeof *list, count, BEAM, sum);
}

/* Extends sums, at most MOST, by a term each, and keeps the best in `to`. */
static int extend_sums(const struct search *s, const struct sum *from, int sums, struct sum *to,
                       int *count)
{
    struct next(*next)[BEAM] = orr_alloc((size_t)sums, sizeof *next);
    struct sum *all = orr_alloc((size_t)sums * BEAM, sizeof *all);
    const int rc = next && all ? 0 : ORR_ENOMEM;
    int found[MOST] = {0};
    if (!rc) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->p->threads) copyin(orr_stop_of_call)
        for (int i = 0; i < sums; i++)
            found[i] = find_next(s, &from[i], next[i]);
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->p->threads) copyin(orr_stop_of_call)
        for (int i = 0; i < sums * BEAM; i++) {
            all[i] = from[i / BEAM];
            all[i].loss = HUGE_VAL;
            if (i % BEAM < found[i / BEAM] && !orr_signal_seen() &&
                write_term(s, &next[i / BEAM][i % BEAM], &all[i].term[all[i].terms])) {
                all[i].terms++;
                fit_sum(s, &all[i]);
            }
        }
        for (int i = 0; i < sums * BEAM; i++)
            keep_sum(&all[i], to, count);
    }
    free(next);
    free(all);
    return rc;
}

/* Lists the best sums with one term left out, each term in turn. Returns how many. */
static int leave_out(const struct sum *sum, int sums, struct sum part[PARTS])
{
    int n = 0;
    for (int i = 0; i < sums && i < EXCHANGED; i++)
        for (int k = 0; k < sum[i].terms && sum[i].terms > 1; k++) {
            struct sum *p = &part[n++];
            *p = sum[i];
            p->terms--;
            memmove(p->term + k, p->term + k + 1, (size_t)(p->terms - k) * sizeof *p->term);
        }
    return n;
}

/* Exchanges terms of the best sums: in place of each term, the constants of the others kept, those
 * are tried that take most of what is left. The first term was chosen without the others, and may
 * have taken parts of two. */
static int exchange_terms(const struct search *s, struct sum *sum, int *count)
{
    struct sum part[PARTS];
    return extend_sums(s, part, leave_out(sum, *count, part), sum, count);
}

/* Fits the best sums of the greatest length with one term left out; the terms of the sum that
 * explains the table may be fewer than were pursued. Returns how many. */
static int drop_terms(const struct search *s, const struct sum *sum, int sums,
                      struct sum part[PARTS])
{
    const int n = leave_out(sum, sums, part);
    int kept = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->p->threads) copyin(orr_stop_of_call)
    for (int i = 0; i < n; i++)
        fit_sum(s, &part[i]);
    for (int i = 0; i < n; i++)
        if (isfinite(part[i].loss))
            part[kept++] = part[i];
    return kept;
}

/* ---- seeds */

/* Writes the sine of a term without its phase, by sin or cos, whichever is nearer; leaves it where
 * that operator is lacking. */
static void drop_phase(const struct search *s, struct term *t)
{
    static const double quarter = 1.5707963267948966;
    if (t->phase < 0)
        return;
    struct sr_node *node = t->body.node;
    const double d = node[t->phase].value;
    const int first = node[t->sine].op == SR_SIN ? 0 : 1; /* cos x = sin(x + pi / 2) */
    const int turn = (int)fmod(round(d / quarter), 4) + 4 + first;
    const enum sr_op g = turn % 2 ? SR_COS : SR_SIN;
    if (!sr_has(s->p->operators, g))
        return;
    if (turn % 4 >= 2)
        t->weight = -t->weight;
    node[t->sine].op = (uint8_t)g;
    memmove(node + t->phase, node + t->phase + 2,
            (size_t)(t->body.count - t->phase - 2) * sizeof *node);
    t->body.count -= 2;
    t->phase = -1;
}

/* Writes the first exponential h exp(c u) of a sum as h (w + d u) exp(c u), as of a wave at the
 * limit of damping or of the force of a Yukawa potential; false where there is none. */
static bool put_slope(struct sum *sum)
{
    for (int k = 0; k < sum->terms; k++) {
        struct term *t = &sum->term[k];
        const struct sr_node *const node = t->body.node; /* of h, c, u, "*", "exp", "*" */
        const int factor = t->factor, u = factor + 1, end = t->body.count - (factor > 0) - 2;
        if (!(t->flat > 0) || t->body.count + end - factor + 4 > SR_NODES)
            continue;
        if (end < u) /* its exponential was dropped */
            return false;
        const double c = node[factor].value, number[] = {t->weight, -0.1 * t->weight * c, c};
        struct sr_expr of[2] = {{.count = end - u}, {.count = factor}};
        memcpy(of[0].node, node + u, (size_t)(end - u) * sizeof *node);
        memcpy(of[1].node, node, (size_t)factor * sizeof *node);
        *t = (struct term){.phase = -1, .sine = -1, .weight = 1};
        sr_put_text(factor ? "v * (w + u * d) * exp(c * u)" : "(w + u * d) * exp(c * u)", of, "wdc",
                    number, &t->body);
        return true;
    }
    return false;
}

/* Whether all terms have the same factor h, which is not 1 and has no constants. */
static bool has_common_factor(const struct sum *sum)
{
    bool is = sum->terms > 1 && sum->term[0].h > 0;
    for (int k = 1; k < sum->terms; k++)
        is = is && sum->term[k].h == sum->term[0].h;
    return is;
}

/* h (w g(c u) + w2), for w h g(c u) + w2 h. */
static bool write_product(const struct search *s, const struct sum *sum, struct sr_expr *out)
{
    struct sum inner = *sum;
    struct sr_expr rest;
    inner.terms = 0;
    for (int k = 0; k < sum->terms; k++) {
        struct term t = sum->term[k];
        const int factor = t.factor, behind = t.body.count > factor; /* the product sign */
        t.body.count -= factor + behind;
        memmove(t.body.node, t.body.node + factor, (size_t)t.body.count * sizeof *t.body.node);
        if (t.body.count)
            inner.term[inner.terms++] = t;
        else
            inner.offset += t.weight;
    }
    if (!inner.terms || !write_sum(s, &inner, &rest))
        return false;
    out->count = 0;
    for (int i = 0; i < sum->term[0].factor; i++)
        sr_put_node(out, sum->term[0].body.node[i]);
    sr_put_expr(out, &rest);
    sr_put_op(out, SR_MUL);
    return sr_put_end(s->p->settings->language, out, SR_NODES);
}

/* Writes a variant, fitted at the rows: bit 0 joins terms of nearly equal weight and drops
 * exponentials near 1, bit 1 omits the offset and writes a common factor once, bit 2
 * omits the phases, bit 3 gives an exponential a slope. Its loss; infinite where it is unusable. */
static double write_variant(const struct search *s, const struct sum *of, int variant,
                            struct sr_expr *out)
{
    struct sr_thread *own = &s->p->thread[omp_get_thread_num()];
    struct sum sum = *of;
    for (int k = 0; k < sum.terms; k++) {
        struct term *t = &sum.term[k];
        if (variant & 4)
            drop_phase(s, t);
        if (variant & 1 && t->factor && fabs(t->body.node[t->factor].value) < t->flat)
            t->body.count = t->factor;
        if (variant & 1 && fabs(fabs(t->weight) - 1) < 0.15)
            t->weight = t->weight > 0 ? 1 : -1;
    }
    if (variant & 2)
        sum.offset = 0;
    if (variant & 8 && !put_slope(&sum))
        return HUGE_VAL;
    const bool product = variant & 2 && has_common_factor(&sum);
    if (!(product ? write_product(s, &sum, out) : write_sum(s, &sum, out)) ||
        !sr_proposal_shorten(s->p, out))
        return HUGE_VAL;
    const int steps = variant & 8 ? 3 * FIT_STEPS : VARIANT_STEPS;
    return sr_constants_fit(&s->loss, out, true, steps, 0, own->rng, &own->work);
}

/* Adds variants of the sums but the first, which is empty. */
static void add_seeds(struct search *s, int sums)
{
    struct sr_proposal *p = s->p;
    const int before = p->seeds->count, count = sr_proposal_take(p, (sums - 1) * VARIANTS);
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int i = 0; i < count; i++)
        s->loss_of[i] = orr_signal_seen() ? HUGE_VAL
                                          : write_variant(s, &s->sum[1 + i / VARIANTS],
                                                          i % VARIANTS, &s->expr[i]);
    sr_proposal_add(p, s->expr, s->loss_of, count, PER_SIZE, false);
    sr_proposal_fit(p, before, FIT_STEPS);
}

/* Sums of one term, of two, and so on, after an empty one. *whole: no limit ended the search. */
static int search_sums(struct search *s, struct sum sum[SUMS], int *sums, bool *whole)
{
    const int most = s->p->loss->data->rows < SR_FEW_FOR_PAIRS ? FEW_TERMS : TERMS;
    const double least = exact * s->loss.base;
    struct sum *from = sum;
    int count = 1, rc = 0;
    *whole = true;
    sr_rates_list(&s->r, s->p->operators);
    correlate_always(s);
    for (int k = 0; k < most && count && !(k > 0 && from->loss <= least) && !rc; k++) {
        struct sum *to = from + count;
        int found = 0;
        *whole = !sr_proposal_over(s->p);
        if (!*whole)
            break;
        rc = extend_sums(s, from, count, to, &found);
        if (!rc && k > 0 && found && to->loss > least)
            rc = exchange_terms(s, to, &found);
        from = to;
        count = found;
    }
    *sums = (int)(from - sum) + count;
    if (!rc)
        *sums += drop_terms(s, from, count, from + count);
    *whole = *whole && !orr_signal_seen();
    return rc;
}

/* Searches the sums, or recalls them, and makes seeds of them. */
static int find_sums(struct search *s)
{
    const struct sr_proposal *p = s->p;
    const double loss[] = {s->loss.kind, s->loss.parameter};
    struct sr_recall *const recall = p->settings->recall;
    struct sr_recall_key key = sr_recall_key_table(recall, "rates", &s->r.data);
    sr_recall_key_add(&key, loss, sizeof loss);
    sr_recall_key_add(&key, &p->operators, sizeof p->operators);
    int rc = 0, sums = (int)(sr_recall_find(recall, &key, s->sum, sizeof s->sum) / sizeof *s->sum);
    if (!sums) {
        bool whole;
        rc = search_sums(s, s->sum, &sums, &whole);
        if (!rc && whole)
            sr_recall_keep(recall, &key, s->sum, (size_t)sums * sizeof *s->sum);
    }
    if (!rc && sums > 1)
        add_seeds(s, sums);
    return rc;
}

int sr_rates_find(struct sr_proposal *p)
{
    const size_t all = p->loss->data->rows, rows = all < ROWS ? all / 8 * 8 : ROWS;
    struct search *s = orr_alloc(1, sizeof *s);
    if (!s)
        return ORR_ENOMEM;
    s->p = p;
    s->r.rows = (int)rows;
    int rc = sr_rows_take(p->loss->data, rows, NULL, &s->r.data, &s->r.x);
    if (!rc)
        rc = sr_loss_init_with(&s->loss, p->loss->kind, p->loss->parameter, &s->r.data);
    if (!rc)
        rc = find_sums(s);
    sr_loss_free(&s->loss);
    free(s->r.x);
    free(s);
    return rc;
}
