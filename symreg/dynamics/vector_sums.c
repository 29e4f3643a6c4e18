/* vector_sums.c - which sums of vectors explain the tracks, before any is integrated. Coefficients
 * of vectors enter an acceleration linearly, so all sums of up to four vectors of the list are
 * fitted by least squares, all components together, and the best of four are extended: a forward
 * selection would miss sums whose vectors explain little one by one, as of the post-Newtonian
 * acceleration.
 *
 * What is fitted: the measured positions, in windows of the tracks, as integrals of the vectors
 * along the smoothed path: x(t) = x0 + v0 t + sum of c (integral of (t - s) vector(s) ds), where x0
 * and v0 are free in each window. The noise of positions is independent, and smoothing errs much
 * less in the path than in its second derivative. Long windows tell small vectors apart, in short
 * ones errors of the path add up to less; as neither is best everywhere, both are fitted, and the
 * smoothed accelerations as well. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"

enum {
    WIDTH = SR_VECTOR_TERMS + 1,
    MOST_ROWS = 2000,
    ALL_SUMS = 4,
    ALL_TIMED = 3, /* vectors of a sum, all of which are tried; with the time */
    BEAM = 32,     /* sums of which longer ones are made */
    WINDOW = 12,   /* rows of a window, at least */
    GRAMS = 3,     /* long windows, short ones, accelerations */
    POINTS = 3,    /* at which a vector is evaluated between two rows (Gauss and Legendre) */
};
/* Squared diagonal elements of the scaled matrix, at least, for vectors to be told apart. */
static const double apart = 1e-11;
/* By how much the path turns in a window, in radians. */
static const double turns[GRAMS - 1] = {5, 2};
/* Sums that leave so many times what the best one leaves are not tried: no track is followed better
 * by them. */
static const double hopeless = 400;

struct sum {
    int count, term[SR_FORM_TERMS];
    double left;
};
/* Normal equations. */
struct gram {
    double spare;                                /* numbers compared less starts */
    double scale[WIDTH], product[WIDTH * WIDTH]; /* of the scaled columns, what is explained last */
};
/* The best sums by one gram. timed: those with the time alone. */
struct ranking {
    const struct sr_sums *sums;
    const struct gram *gram;
    bool timed;
    int all,
        end; /* vectors of a sum, up to which all are tried; vectors of the list that are used */
    struct sum best[SR_FORM_TERMS][BEAM]; /* (vectors - 1), best first */
    int kept[SR_FORM_TERMS];
};
struct sr_sums {
    const struct sr_states *states;
    int count, timeless, grams;
    struct sr_vector term[SR_VECTOR_TERMS];
    struct gram gram[GRAMS];
    struct ranking ranking[2][GRAMS]; /* without the time, with it; made when they are wanted */
};

/* ---- normal equations */

static void add_products(struct gram *g, const double *row, size_t width)
{
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b <= a; b++)
            g->product[a * width + b] += row[a] * row[b];
}

/* Scales columns to a length of 1 but for the last, and fills in the upper triangle. */
static void scale_columns(struct gram *g, size_t width)
{
    for (size_t a = 0; a + 1 < width; a++)
        g->scale[a] = sqrt(g->product[a * width + a]);
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b <= a; b++) {
            const double unit =
                (a + 1 < width ? g->scale[a] : 1) * (b + 1 < width ? g->scale[b] : 1);
            double *p = &g->product[a * width + b];
            *p = unit > 0 && isfinite(unit) && isfinite(*p) ? *p / unit : 0;
            g->product[b * width + a] = *p;
        }
}

/* The smoothed accelerations. */
static int add_bends(const struct sr_sums *sums, struct gram *g)
{
    const struct sr_states *s = sums->states;
    const size_t each = (s->rows + MOST_ROWS - 1) / MOST_ROWS, width = (size_t)sums->count + 1;
    const size_t dims = (size_t)s->dims;
    double least[SR_STATES], x[2 * SR_STATES], row[SR_STATES][WIDTH], vector[SR_STATES];
    size_t number = 0;
    for (int d = 0; d < s->dims; d++)
        TRY(sr_states_least(s, d, &least[d]));
    for (size_t k = 0; k < s->count; k++) {
        const struct sr_state_track *track = &s->track[k];
        for (size_t i = 0; i < track->n; i++, number++) {
            if (number % each)
                continue;
            for (size_t d = 0; d < dims; d++) {
                x[d] = track->smooth[d * track->n + i];
                x[dims + d] = track->rate[d * track->n + i];
            }
            for (int t = 0; t < sums->count; t++) {
                sr_vector_at(s, &sums->term[t], x, track->t[i], vector);
                for (size_t d = 0; d < dims; d++)
                    row[d][t] = vector[d];
            }
            for (size_t d = 0; d < dims; d++) {
                const size_t at = d * track->n + i;
                const double weight = 1 / fmax(sqrt(track->bend_variance[at]), least[d]);
                row[d][sums->count] = track->bend[at];
                for (size_t t = 0; t < width; t++)
                    row[d][t] *= weight;
                add_products(g, row[d], width);
                g->spare++;
            }
        }
    }
    return 0;
}

/* ---- integrals along the path */

/* Position and velocity at a share u of the way from row i to the next: the polynomial of degree
 * five with positions, velocities and accelerations of both rows. */
static void path_at(const struct sr_states *s, const struct sr_state_track *track, size_t i,
                    double u, double *x)
{
    const size_t n = track->n, dims = (size_t)s->dims;
    const double h = track->t[i + 1] - track->t[i];
    for (size_t d = 0; d < dims; d++) {
        const double *p = track->smooth + d * n + i, *v = track->rate + d * n + i,
                     *a = track->bend + d * n + i;
        const double c1 = h * v[0], c2 = 0.5 * h * h * a[0];
        const double e = p[1] - p[0] - c1 - c2, f = h * v[1] - c1 - 2 * c2,
                     g = h * h * a[1] - 2 * c2;
        const double c3 = 10 * e - 4 * f + 0.5 * g, c4 = -15 * e + 7 * f - g,
                     c5 = 6 * e - 3 * f + 0.5 * g;
        x[d] = p[0] + u * (c1 + u * (c2 + u * (c3 + u * (c4 + u * c5))));
        x[dims + d] = (c1 + u * (2 * c2 + u * (3 * c3 + u * (4 * c4 + u * 5 * c5)))) / h;
    }
}

/* What the path turns by from row i to the next: the difference of the velocities' directions. */
static double turn_of(const struct sr_states *s, const struct sr_state_track *track, size_t i)
{
    const size_t n = track->n;
    double before = 0, after = 0, product = 0;
    for (size_t d = 0; d < (size_t)s->dims; d++) {
        const double *v = track->rate + d * n + i;
        before += v[0] * v[0];
        after += v[1] * v[1];
        product += v[0] * v[1];
    }
    const double all = sqrt(before * after);
    return all > 0 ? sqrt(fmax(2 - 2 * product / all, 0)) : 0;
}

/* A window under construction, from its first row on. */
struct window {
    size_t rows;
    double *row;                    /* (most rows, dims, width) what the vectors give, then x */
    double speed[SR_STATES][WIDTH]; /* the integral of each vector */
};

/* Follows the window from row i to the next. */
static void advance(const struct sr_sums *sums, const struct sr_state_track *track, size_t i,
                    size_t width, struct window *w)
{
    static const double at[POINTS] = {0.1127016653792583, 0.5, 0.8872983346207417},
                        weight[POINTS] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    const struct sr_states *s = sums->states;
    const size_t dims = (size_t)s->dims;
    const double h = track->t[i + 1] - track->t[i];
    double x[2 * SR_STATES], vector[SR_STATES];
    const double *const from = w->row + (w->rows - 1) * dims * width;
    double *const to = w->row + w->rows * dims * width;
    for (size_t d = 0; d < dims; d++)
        for (size_t t = 0; t + 1 < width; t++)
            to[d * width + t] = from[d * width + t] + h * w->speed[d][t];
    for (int p = 0; p < POINTS; p++) {
        path_at(s, track, i, at[p], x);
        for (size_t t = 0; t + 1 < width; t++) {
            sr_vector_at(s, &sums->term[t], x, track->t[i] + at[p] * h, vector);
            for (size_t d = 0; d < dims; d++) {
                to[d * width + t] += weight[p] * h * h * (1 - at[p]) * vector[d];
                w->speed[d][t] += weight[p] * h * vector[d];
            }
        }
    }
    w->rows++;
}

/* Takes the free start out of component d of a window: what a constant and a line explain. */
static void take_start(const double *t, const double *weight, size_t width, size_t stride,
                       size_t rows, double *row)
{
    double all = 0, mean = 0, spread = 0;
    for (size_t i = 0; i < rows; i++) {
        all += weight[i] * weight[i];
        mean += weight[i] * weight[i] * t[i];
    }
    mean /= all;
    for (size_t i = 0; i < rows; i++)
        spread += weight[i] * weight[i] * (t[i] - mean) * (t[i] - mean);
    for (size_t k = 0; k < width; k++) {
        double constant = 0, slope = 0;
        for (size_t i = 0; i < rows; i++) {
            const double value = weight[i] * weight[i] * row[i * stride + k];
            constant += value / all;
            slope += value * (t[i] - mean) / spread;
        }
        for (size_t i = 0; i < rows; i++)
            row[i * stride + k] =
                weight[i] * (row[i * stride + k] - constant - slope * (t[i] - mean));
    }
}

/* Ends a window whose first row is `first`; weight (rows) is overwritten. */
static void end_window(const struct sr_sums *sums, const struct sr_state_track *track, size_t first,
                       size_t width, struct window *w, double *weight, struct gram *g)
{
    const size_t dims = (size_t)sums->states->dims, n = track->n;
    for (size_t d = 0; d < dims && w->rows > 2; d++) {
        for (size_t i = 0; i < w->rows; i++) {
            w->row[(i * dims + d) * width + width - 1] = track->x[d * n + first + i];
            weight[i] = 1 / track->sigma[d * n + first + i];
        }
        take_start(track->t + first, weight, width, dims * width, w->rows, w->row + d * width);
        for (size_t i = 0; i < w->rows; i++)
            add_products(g, w->row + (i * dims + d) * width, width);
        g->spare += (double)w->rows - 2;
    }
}

/* The positions of the first rows of all tracks, in windows in which the path turns by `turn`. */
static int add_paths(const struct sr_sums *sums, double turn, struct gram *g)
{
    const struct sr_states *s = sums->states;
    const size_t width = (size_t)sums->count + 1, dims = (size_t)s->dims;
    const size_t most = s->rows < MOST_ROWS ? s->rows : MOST_ROWS;
    struct window w = {.row = orr_alloc(most * dims * width, sizeof *w.row)};
    double *const weight = orr_alloc(most, sizeof *weight);
    const int rc = w.row && weight ? 0 : ORR_ENOMEM;
    size_t spent = 0;
    for (size_t k = 0; k < s->count && !rc; k++) {
        const struct sr_state_track *track = &s->track[k];
        const size_t n = track->n < most - spent ? track->n : most - spent;
        double turned = 0;
        size_t first = 0;
        for (size_t i = 0; i < n; i++) {
            if (i == first) {
                memset(w.speed, 0, sizeof w.speed);
                memset(w.row, 0, dims * width * sizeof *w.row);
                w.rows = 1;
                turned = 0;
            }
            turned += i + 1 < n ? turn_of(s, track, i) : 0;
            const bool ends = turned > turn && w.rows >= WINDOW && n - i > WINDOW;
            if (ends || i + 1 == n) {
                end_window(sums, track, first, width, &w, weight, g);
                first = i + 1;
            } else {
                advance(sums, track, i, width, &w);
            }
        }
        spent += n;
    }
    free(w.row);
    free(weight);
    return rc;
}

/* ---- sums */

/* Least squares with some vectors: their coefficients (NULL: not wanted). Returns what is left;
 * infinite where the vectors cannot be told apart. */
static double solve(const struct sr_sums *sums, const struct gram *g, const struct sum *sum,
                    double *value)
{
    double L[SR_FORM_TERMS * SR_FORM_TERMS], b[SR_FORM_TERMS];
    const size_t width = (size_t)sums->count + 1, n = (size_t)sum->count;
    double left = g->product[width * width - 1];
    if (!sr_cholesky_columns(g->product, width, sum->term, n, apart, L, SR_FORM_TERMS, b))
        return HUGE_VAL;
    for (size_t i = 0; i < n; i++)
        left -= b[i] * b[i];
    sr_cholesky_upper(L, n, SR_FORM_TERMS, b);
    for (size_t i = 0; i < n && value; i++)
        value[i] = b[i] / g->scale[sum->term[i]];
    return fmax(left, 0);
}

static bool has_column(const struct gram *g, int k)
{
    return g->scale[k] > 0 && isfinite(g->scale[k]);
}

static bool is_in(const struct sum *sum, int term)
{
    bool in = false;
    for (int k = 0; k < sum->count; k++)
        in = in || sum->term[k] == term;
    return in;
}

static bool is_same(const struct sum *a, const struct sum *b)
{
    bool same = a->count == b->count;
    for (int k = 0; k < a->count && same; k++)
        same = is_in(b, a->term[k]);
    return same;
}

static bool is_timed(const struct sr_sums *sums, const struct sum *sum)
{
    bool timed = false;
    for (int k = 0; k < sum->count; k++)
        timed = timed || sum->term[k] >= sums->timeless;
    return timed;
}

static void keep(struct ranking *r, const struct sum *sum)
{
    struct sum *const best = r->best[sum->count - 1];
    int *const kept = &r->kept[sum->count - 1], at = *kept;
    if (!(sum->left < HUGE_VAL) || (*kept == BEAM && sum->left >= best[BEAM - 1].left) ||
        is_timed(r->sums, sum) != r->timed)
        return;
    for (int k = 0; k < *kept && sum->count > r->all; k++)
        if (is_same(&best[k], sum))
            return;
    at -= *kept == BEAM;
    for (; at > 0 && best[at - 1].left > sum->left; at--)
        best[at] = best[at - 1];
    best[at] = *sum;
    *kept += *kept < BEAM;
}

/* All sums that contain `before` and later vectors of the list. */
static void try_sums(struct ranking *r, const struct sum *before)
{
    struct sum sum = *before;
    const int from = sum.count ? sum.term[sum.count - 1] + 1 : 0;
    sum.count++;
    for (int k = from; k < r->end; k++) {
        if (!has_column(r->gram, k))
            continue;
        sum.term[sum.count - 1] = k;
        sum.left = solve(r->sums, r->gram, &sum, NULL);
        keep(r, &sum);
        if (sum.count < r->all)
            try_sums(r, &sum);
    }
}

/* Sums of one vector more than the best of `count`. */
static void extend(struct ranking *r, int count)
{
    for (int b = 0; b < r->kept[count - 1]; b++)
        for (int k = 0; k < r->end; k++) {
            struct sum sum = r->best[count - 1][b];
            if (!has_column(r->gram, k) || is_in(&sum, k))
                continue;
            sum.term[sum.count++] = k;
            sum.left = solve(r->sums, r->gram, &sum, NULL);
            keep(r, &sum);
        }
}

/* The ranking of all sums by gram i. */
static const struct ranking *rank(struct sr_sums *sums, bool timed, int i)
{
    static const struct sum none = {.count = 0};
    struct ranking *const r = &sums->ranking[timed][i];
    if (r->sums)
        return r;
    *r = (struct ranking){.sums = sums,
                          .gram = &sums->gram[i],
                          .timed = timed,
                          .all = timed ? ALL_TIMED : ALL_SUMS,
                          .end = timed ? sums->count : sums->timeless};
    try_sums(r, &none);
    for (int k = r->all; k < SR_FORM_TERMS; k++)
        extend(r, k);
    return r;
}

int sr_sums_create(const struct sr_states *s, bool solved, struct sr_sums **made)
{
    struct sr_sums *sums = *made = orr_alloc(1, sizeof *sums);
    if (!sums)
        return ORR_ENOMEM;
    sums->states = s;
    sums->count = sr_vectors_list(s, sums->term, &sums->timeless);
    sums->grams = solved ? GRAMS - 1 : GRAMS;
    for (int i = 0; i < sums->grams; i++) {
        struct gram *const g = &sums->gram[i];
        TRY(i < GRAMS - 1 ? add_paths(sums, turns[i], g) : add_bends(sums, g));
        scale_columns(g, (size_t)sums->count + 1);
    }
    return 0;
}

void sr_sums_free(struct sr_sums *sums)
{
    free(sums);
}

static void write_form(const struct sr_sums *sums, const struct gram *g, const struct sum *sum,
                       struct sr_form *form)
{
    *form = (struct sr_form){.count = sum->count};
    solve(sums, g, sum, form->value);
    for (int k = 0; k < sum->count; k++) {
        form->term[k] = sums->term[sum->term[k]];
        form->error[k] = NAN;
    }
}

/* What the longest sums leave, at least. */
static double least_left(const struct ranking *r)
{
    double least = HUGE_VAL;
    for (int k = 0; k < SR_FORM_TERMS; k++)
        if (r->kept[k])
            least = fmin(least, r->best[k][0].left);
    return least;
}

int sr_sums_list(struct sr_sums *sums, bool timed, struct sr_form form[SR_FORMS])
{
    struct sum taken[SR_FORMS];
    const struct ranking *of[GRAMS];
    int count = 0;
    for (int i = 0; i < sums->grams; i++)
        of[i] = rank(sums, timed, i);
    for (int place = 0; place < BEAM; place++)
        for (int i = 0; i < sums->grams; i++)
            for (int k = 0; k < SR_FORM_TERMS && count < SR_FORMS; k++) {
                const struct sum *sum = &of[i]->best[k][place];
                bool known = place >= of[i]->kept[k] ||
                             sum->left > hopeless * (least_left(of[i]) + of[i]->gram->spare);
                for (int b = 0; b < count; b++)
                    known = known || is_same(&taken[b], sum);
                if (known)
                    continue;
                taken[count] = *sum;
                write_form(sums, of[i]->gram, sum, &form[count++]);
            }
    return count;
}

/* What a sum costs by what it leaves, in nats. `noise`: variance of what is left. */
static double nats_of(const struct sr_sums *sums, const struct gram *g, const struct sum *sum,
                      double noise)
{
    struct sr_form form;
    write_form(sums, g, sum, &form);
    return 0.5 * sum->left / noise + sr_vectors_nats(&form) + 0.5 * sum->count * orr_log(g->spare);
}

int sr_sums_likeliest(struct sr_sums *sums, int most, struct sr_form *form)
{
    const struct ranking *const r = rank(sums, false, 0);
    double nats[SR_FORMS];
    int count = 0;
    const double noise = fmax(least_left(r) / r->gram->spare, 1);
    for (int k = 0; k < SR_FORM_TERMS; k++)
        for (int place = 0; place < r->kept[k]; place++) {
            const double own = nats_of(sums, r->gram, &r->best[k][place], noise);
            int at = count;
            for (; at > 0 && nats[at - 1] > own; at--)
                if (at < most) {
                    nats[at] = nats[at - 1];
                    form[at] = form[at - 1];
                }
            if (at >= most)
                continue;
            nats[at] = own;
            write_form(sums, r->gram, &r->best[k][place], &form[at]);
            count += count < most;
        }
    return count;
}

/* The nats of the likeliest sum of a ranking. */
static double least_nats(const struct ranking *r, double noise)
{
    double least = HUGE_VAL;
    for (int k = 0; k < SR_FORM_TERMS; k++)
        for (int place = 0; place < r->kept[k]; place++)
            least = fmin(least, nats_of(r->sums, r->gram, &r->best[k][place], noise));
    return least;
}

double sr_sums_time(struct sr_sums *sums)
{
    double gain = -HUGE_VAL;
    for (int i = 0; i < sums->grams; i++) {
        const struct ranking *const plain = rank(sums, false, i), *const timed =
                                                                      rank(sums, true, i);
        const double least = fmin(least_left(plain), least_left(timed));
        const double noise = fmax(least / sums->gram[i].spare, 1);
        gain = fmax(gain, least_nats(plain, noise) - least_nats(timed, noise));
    }
    return gain;
}

/* ---- vectors that fade: the mass of a star that decays, drag in air that thins */

enum { LAWS = 9, RATES = 14, TOGETHER = SR_FADING / (GRAMS - 1) };
/* Rates times the duration of the tracks. */
static const double rates[RATES] = {-8, -4, -2, -1, -0.5, -0.2, -0.05, 0.05, 0.2, 0.5, 1, 2, 4, 8};

static double duration_of(const struct sr_states *s)
{
    double begin = HUGE_VAL, end = -HUGE_VAL;
    for (size_t k = 0; k < s->count; k++) {
        begin = fmin(begin, s->track[k].t[0]);
        end = fmax(end, s->track[k].t[s->track[k].n - 1]);
    }
    return end - begin;
}

/* Puts law k behind the vectors without the time, once for each rate. */
static void list_fading(struct sr_sums *sums, int k)
{
    struct sr_vector law = {.direction = SR_VELOCITY, .fades = true};
    if (k < LAWS - 1) {
        law.direction = SR_RADIAL;
        law.power = k - (LAWS - 3);
    }
    const double duration = duration_of(sums->states);
    sr_vectors_list(sums->states, sums->term, &sums->timeless);
    sums->count = sums->timeless;
    for (int r = 0; r < RATES && sums->count < SR_VECTOR_TERMS; r++) {
        law.rate = rates[r] / duration;
        sums->term[sums->count++] = law;
    }
}

/* The best sums by one gram: the first of one vector, the others of two. */
struct fading {
    double left[TOGETHER];
    struct sr_form form[TOGETHER];
};

static void keep_fading(const struct sr_sums *sums, const struct gram *g, const struct sum *sum,
                        struct fading *best)
{
    const int first = sum->count > 1, end = sum->count > 1 ? TOGETHER : 1;
    int at = end;
    while (at > first && best->left[at - 1] > sum->left)
        at--;
    if (at == end)
        return;
    for (int k = end - 1; k > at; k--) {
        best->left[k] = best->left[k - 1];
        best->form[k] = best->form[k - 1];
    }
    best->left[at] = sum->left;
    write_form(sums, g, sum, &best->form[at]);
    best->form[at].free[0] = true;
}

/* Tries one law at all rates, alone and with each vector without the time. */
static void try_fading(const struct sr_sums *sums, const struct gram *g, struct fading *best)
{
    for (int r = sums->timeless; r < sums->count; r++)
        for (int t = -1; t < sums->timeless; t++) {
            struct sum sum = {.count = t < 0 ? 1 : 2, .term = {r, t}};
            if (!has_column(g, r) || (t >= 0 && !has_column(g, t)))
                continue;
            sum.left = solve(sums, g, &sum, NULL);
            keep_fading(sums, g, &sum, best);
        }
}

int sr_sums_fading(struct sr_sums *sums, struct sr_form form[SR_FADING], int *count, double *gain)
{
    struct sr_sums *const own = orr_alloc(1, sizeof *own);
    struct fading best[GRAMS - 1];
    int rc = own ? 0 : ORR_ENOMEM;
    *count = 0;
    *gain = -HUGE_VAL;
    for (int i = 0; i < GRAMS - 1; i++)
        for (int k = 0; k < TOGETHER; k++)
            best[i].left[k] = HUGE_VAL;
    for (int k = 0; k < LAWS && !rc; k++)
        for (int i = 0; i < GRAMS - 1 && !rc; i++) {
            *own = (struct sr_sums){.states = sums->states};
            list_fading(own, k);
            rc = add_paths(own, turns[i], &own->gram[0]);
            scale_columns(&own->gram[0], (size_t)own->count + 1);
            if (!rc)
                try_fading(own, &own->gram[0], &best[i]);
        }
    for (int i = 0; i < GRAMS - 1 && !rc; i++) {
        const struct ranking *const plain = rank(sums, false, i);
        const double least = least_left(plain), fades = fmin(best[i].left[0], best[i].left[1]);
        const double noise = fmax(fmin(least, fades) / plain->gram->spare, 1);
        *gain = fmax(*gain, 0.5 * (least - fades) / noise);
        for (int k = 0; k < TOGETHER; k++)
            if (best[i].left[k] < HUGE_VAL)
                form[(*count)++] = best[i].form[k];
    }
    free(own);
    return rc;
}

int sr_sums_more(const struct sr_sums *sums, const struct sr_form *form, bool timed, int most,
                 struct sr_vector *term)
{
    enum { MORE = 16 };
    const struct gram *g = &sums->gram[0];
    struct sum sum = {.count = 0}, best[MORE];
    int count = 0;
    for (int k = 0; k < form->count; k++) {
        struct sr_vector like = form->term[k]; /* one that fades is nearly the one that does not */
        like.fades = false;
        for (int b = 0; b < sums->count; b++)
            if (sr_vector_is(&like, &sums->term[b]))
                sum.term[sum.count++] = b;
    }
    if (sum.count == SR_FORM_TERMS)
        return 0;
    most = most < MORE ? most : MORE;
    const int first = timed ? sums->timeless : 0, end = timed ? sums->count : sums->timeless;
    for (int k = first; k < end; k++) {
        struct sum with = sum;
        if (!has_column(g, k) || is_in(&sum, k))
            continue;
        with.term[with.count++] = k;
        with.left = solve(sums, g, &with, NULL);
        int at = count;
        for (; at > 0 && best[at - 1].left > with.left; at--)
            if (at < most)
                best[at] = best[at - 1];
        if (at < most && with.left < HUGE_VAL) {
            best[at] = with;
            count += count < most;
        }
    }
    for (int k = 0; k < count; k++)
        term[k] = sums->term[best[k].term[best[k].count - 1]];
    return count;
}
