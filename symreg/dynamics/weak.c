/* weak.c - sums of terms that explain the tracks in integral form: what a state is at a row less
 * what it was at the first is the integral of its derivative, so that integrals of the terms along
 * the smoothed tracks are regressed on the measured values themselves. No derivative is needed,
 * whose errors are large, shared by neighbours and biased where tracks bend, and the noise of the
 * values is independent and known (weak form: Schaeffer and McCalla, Physical Review E 96 (2017)
 * 023302). The likeliest sums of each number of terms are extended by all terms of the library. */
#include "weak.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"

enum {
    LONGEST = 5,      /* terms of a sum */
    WIDTH = 400,      /* sums of each number of terms that are extended */
    MOST_ROWS = 600,  /* of the regression */
    ALL_ROWS = 10000, /* that are integrated, the first ones of all tracks */
    OF_LENGTH = 16,   /* that are written, of each number of terms */
};
/* What a number costs beside half the logarithm of the rows, about. */
static const double nats_of_number = 2;
/* Mean squared residual, in variances of the noise, below which a sum is as good as exact. */
static const double exactly = 1e-3;
/* A term that others of a sum explain up to this share of its squares is not added. */
static const double apart = 1e-7;

struct sum {
    int count, term[LONGEST];
    double nats, left; /* left: sum of squares */
};
struct sums {
    int count;
    struct sum item[WIDTH];
};
struct weak {
    const struct sr_states *states;
    const struct sr_weak_library *all;
    int d;
    size_t tracks;            /* that are used */
    size_t rows, each, width; /* rows of the regression; every `each`-th; terms and the target */
    double worth;             /* rows less those that starts take */
    double *column;           /* (width, rows), the target last */
    double *gram;             /* (width, width) */
    double *scale;            /* (terms) of a column that is scaled to squares of sum 1 */
    double *cost;             /* (terms) nats of form and numbers */
    bool *usable;             /* (terms) */
};

/* ---- columns */

/* Integrals of the values f (n) up to each row, by lines between rows and their slopes there: f is
 * overwritten. */
static void integrate(const double *t, size_t n, double *f)
{
    double sum = 0, before = f[0], slope_before = 0;
    for (size_t i = 0; i < n; i++) {
        double slope;
        if (i + 1 == n)
            slope = (f[i] - before) / (t[i] - t[i - 1]);
        else if (i == 0)
            slope = (f[1] - f[0]) / (t[1] - t[0]);
        else {
            const double left = t[i] - t[i - 1], right = t[i + 1] - t[i];
            slope = ((f[i + 1] - f[i]) / right * left + (f[i] - before) / left * right) /
                    (left + right);
        }
        const double value = f[i], h = i ? t[i] - t[i - 1] : 0;
        sum += h / 2 * (before + value) + h * h / 12 * (slope_before - slope);
        f[i] = sum;
        before = value;
        slope_before = slope;
    }
}

/* Takes what the start of a track determines from a column of n rows of it: weighted multiples of 1
 * and, of order 2, of the time. work: (2, n) */
static void project(const struct sr_states *s, const struct sr_state_track *track, size_t n,
                    const double *weight, double *f, double *work)
{
    for (int power = 0; power < s->order; power++) {
        double *const basis = work + (size_t)power * n, norm = 0, dot = 0, on_first = 0;
        for (size_t i = 0; i < n; i++)
            on_first += power ? work[i] * weight[i] * (track->t[i] - track->t[0]) : 0;
        for (size_t i = 0; i < n; i++) {
            basis[i] =
                power ? weight[i] * (track->t[i] - track->t[0]) - on_first * work[i] : weight[i];
            norm += basis[i] * basis[i];
        }
        for (size_t i = 0; i < n; i++) {
            basis[i] /= sqrt(norm);
            dot += basis[i] * f[i];
        }
        for (size_t i = 0; i < n; i++)
            f[i] -= dot * basis[i];
    }
}

/* Rows of a track that are used, where `before` rows of others are. */
static size_t rows_of(const struct sr_state_track *track, size_t before)
{
    return track->n < ALL_ROWS - before ? track->n : ALL_ROWS - before;
}

/* The column of a term, or of the target, for n rows of one track into f (n): weighted. */
static bool fill_column(const struct weak *w, const struct sr_state_track *track, size_t n,
                        int term, const double *table, const double *weight, double *f,
                        double *work)
{
    const struct sr_states *s = w->states;
    const struct sr_data data = {.rows = n, .features = s->names, .x = table};
    if (term < 0)
        memcpy(f, track->x + (size_t)w->d * track->n, n * sizeof *f);
    else if (!sr_eval(&w->all->term[term].expr, &data, f))
        return false;
    for (int k = 0; k < s->order && term >= 0; k++)
        integrate(track->t, n, f);
    for (size_t i = 0; i < n; i++)
        f[i] *= weight[i];
    project(s, track, n, weight, f, work);
    return true;
}

/* The names along n rows of a track: table (names, n). */
static void fill_table(const struct sr_states *s, const struct sr_state_track *track, size_t n,
                       double *table)
{
    for (int name = 0; name < s->names; name++)
        for (size_t i = 0; i < n; i++)
            table[(size_t)name * n + i] = sr_state_value(s, track, name, i);
}

/* Fills the columns' rows from `first` on by n rows of a track; work (names + 4, n). */
static void fill_track(struct weak *w, const struct sr_state_track *track, size_t n, size_t first,
                       double *table)
{
    double *const weight = table + (size_t)w->states->names * n, *const f = weight + n,
                  *const work = f + n;
    const double *const sigma = track->sigma + (size_t)w->d * track->n;
    const double widen = fmax(sr_smoothing_error(w->states, track, w->d), 1e-300);
    fill_table(w->states, track, n, table);
    for (size_t i = 0; i < n; i++)
        weight[i] = 1 / sqrt(sigma[i] * sigma[i] + widen);
    for (int term = 0; term <= w->all->count; term++) {
        const bool target = term == w->all->count;
        if (!target && !w->usable[term])
            continue;
        if (!fill_column(w, track, n, target ? -1 : term, table, weight, f, work)) {
            w->usable[term] = false;
            continue;
        }
        double *const column = w->column + (size_t)term * w->rows;
        for (size_t i = first; i < first + n; i++)
            if (i % w->each == 0)
                column[i / w->each] = f[i - first];
    }
}

static int fill_columns(struct weak *w)
{
    const struct sr_states *s = w->states;
    size_t longest = 0, first = 0;
    for (size_t k = 0; k < w->tracks; k++)
        longest = s->track[k].n > longest ? s->track[k].n : longest;
    double *const work = orr_alloc(((size_t)s->names + 4) * longest, sizeof *work);
    if (!work)
        return ORR_ENOMEM;
    for (size_t k = 0; k < w->tracks; k++) {
        const size_t n = rows_of(&s->track[k], first);
        fill_track(w, &s->track[k], n, first, work);
        first += n;
    }
    free(work);
    return 0;
}

/* Scales the columns of terms to squares of sum 1, and fills in their products. */
static void fill_gram(struct weak *w)
{
    const size_t n = w->rows, width = w->width;
    for (size_t a = 0; a < width; a++) {
        double *const column = w->column + a * n, squares = 0;
        for (size_t i = 0; i < n; i++)
            squares += column[i] * column[i];
        if (a + 1 < width) {
            w->usable[a] = w->usable[a] && isfinite(squares) && squares > 0;
            w->scale[a] = w->usable[a] ? 1 / sqrt(squares) : 0;
            for (size_t i = 0; i < n; i++)
                column[i] = w->usable[a] ? w->scale[a] * column[i] : 0;
        }
        for (size_t b = 0; b <= a; b++) {
            const double *const other = w->column + b * n;
            double dot = 0;
            for (size_t i = 0; i < n; i++)
                dot += column[i] * other[i];
            w->gram[a * width + b] = w->gram[b * width + a] = dot;
        }
    }
}

/* ---- sums */

static bool same_forms(const struct weak *w, const struct sum *a, const struct sum *b)
{
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++) {
        int in_a = 0, in_b = 0;
        const int form = w->all->term[a->term[i]].form;
        for (int k = 0; k < a->count; k++) {
            in_a += w->all->term[a->term[k]].form == form;
            in_b += w->all->term[b->term[k]].form == form;
        }
        same = in_a == in_b;
    }
    return same;
}

/* Keeps the likeliest sums, of each set of forms one. */
static void keep(const struct weak *w, const struct sum *sum, struct sums *kept)
{
    int at = 0;
    if (kept->count == WIDTH && !(sum->nats < kept->item[WIDTH - 1].nats))
        return;
    while (at < kept->count && !same_forms(w, sum, &kept->item[at]))
        at++;
    if (at < kept->count && !(sum->nats < kept->item[at].nats))
        return;
    if (at == kept->count && kept->count < WIDTH)
        kept->count++;
    at = at < kept->count ? at : WIDTH - 1;
    for (; at > 0 && kept->item[at - 1].nats > sum->nats; at--)
        kept->item[at] = kept->item[at - 1];
    kept->item[at] = *sum;
}

/* Coefficients of the scaled columns; false where terms cannot be told apart. */
static bool solve(const struct weak *w, const struct sum *sum, double L[LONGEST * LONGEST],
                  double *beta)
{
    return sr_cholesky_columns(w->gram, w->width, sum->term, (size_t)sum->count, apart, L, LONGEST,
                               beta);
}

/* Extends a sum by each term. */
static void extend(const struct weak *w, const struct sum *from, struct sums *longer)
{
    double L[LONGEST * LONGEST], beta[LONGEST], cross[LONGEST];
    const size_t width = w->width, n = (size_t)from->count;
    double form = 0;
    if (!solve(w, from, L, beta))
        return;
    for (size_t a = 0; a < n; a++)
        form += w->cost[from->term[a]];
    for (size_t p = 0; p + 1 < width; p++) {
        if (!w->usable[p])
            continue;
        double gain = w->gram[p * width + width - 1], rest = 1;
        for (size_t a = 0; a < n; a++)
            cross[a] = w->gram[p * width + (size_t)from->term[a]];
        sr_cholesky_lower(L, n, LONGEST, cross);
        for (size_t a = 0; a < n; a++) {
            gain -= cross[a] * beta[a];
            rest -= cross[a] * cross[a];
        }
        if (!(rest > apart))
            continue;
        struct sum sum = *from;
        sum.term[sum.count++] = (int)p;
        sum.left = from->left - gain * gain / rest;
        sum.nats = form + w->cost[p] + 0.5 * w->worth * orr_log(fmax(sum.left / w->worth, exactly));
        keep(w, &sum, longer);
    }
}

/* The sum as a formula. */
static void write_sum(const struct weak *w, const struct sum *sum, int maxsize,
                      struct sr_equations_found *found)
{
    double L[LONGEST * LONGEST], beta[LONGEST];
    struct sr_expr *const expr = &found->expr[found->count];
    if (found->count == SR_SUMS || !solve(w, sum, L, beta))
        return;
    sr_cholesky_upper(L, (size_t)sum->count, LONGEST, beta);
    expr->count = 0;
    for (int k = 0; k < sum->count; k++) {
        const struct sr_expr *const term = &w->all->term[sum->term[k]].expr;
        sr_put_constant(expr, beta[k] * w->scale[sum->term[k]]);
        if (term->count > 1 || term->node[0].op != SR_CONSTANT) {
            sr_put_expr(expr, term);
            sr_put_op(expr, SR_MUL);
        }
        if (k)
            sr_put_op(expr, SR_ADD);
    }
    found->count += sr_put_end(NULL, expr, maxsize < SR_NODES ? maxsize : SR_NODES);
}

static int create(const struct sr_states *s, int d, const struct sr_weak_library *library,
                  struct weak *w)
{
    const size_t terms = (size_t)library->count;
    *w = (struct weak){.states = s, .all = library, .d = d, .width = terms + 1};
    size_t rows = 0;
    for (; w->tracks < s->count && rows + SR_STATE_ROWS <= ALL_ROWS; w->tracks++)
        rows += rows_of(&s->track[w->tracks], rows);
    w->each = rows ? (rows + MOST_ROWS - 1) / MOST_ROWS : 1;
    w->rows = (rows + w->each - 1) / w->each;
    w->worth = (double)w->rows - (double)(w->tracks * (size_t)s->order);
    w->column = orr_alloc(w->width * w->rows, sizeof *w->column);
    w->gram = orr_alloc(w->width * w->width, sizeof *w->gram);
    w->scale = orr_alloc(terms, sizeof *w->scale);
    w->cost = orr_alloc(terms, sizeof *w->cost);
    w->usable = orr_alloc(terms, sizeof *w->usable);
    if (!w->column || !w->gram || !w->scale || !w->cost || !w->usable)
        return ORR_ENOMEM;
    for (size_t k = 0; k < terms; k++) {
        const struct sr_weak_term *const term = &library->term[k];
        w->usable[k] = true;
        w->cost[k] =
            term->nats + term->numbers * (0.5 * orr_log(fmax(w->worth, 1)) + nats_of_number);
    }
    return 0;
}

static void release(struct weak *w)
{
    free(w->column);
    free(w->gram);
    free(w->scale);
    free(w->cost);
    free(w->usable);
}

static int by_nats(const void *a, const void *b)
{
    const struct sum *const x = a, *const y = b;
    return x->nats > y->nats ? -1 : x->nats < y->nats;
}

/* Finds sums of one term, of two ... and writes the likeliest of each number of terms; the
 * likeliest of all last, as the choice begins there. */
static int find_sums(const struct weak *w, int maxsize, struct sr_equations_found *found)
{
    struct sums *const level = orr_alloc(2, sizeof *level);
    struct sum best[LONGEST * OF_LENGTH];
    int count = 0;
    if (!level)
        return ORR_ENOMEM;
    level->count = 1;
    level->item[0].left = w->gram[w->width * w->width - 1];
    for (int length = 0; length < LONGEST && level->count; length++) {
        level[1].count = 0;
        for (int k = 0; k < level->count; k++)
            extend(w, &level->item[k], &level[1]);
        level[0] = level[1];
        for (int k = 0; k < level->count && k < OF_LENGTH; k++)
            best[count++] = level->item[k];
    }
    qsort(best, (size_t)count, sizeof *best, by_nats);
    for (int k = 0; k < count; k++)
        write_sum(w, &best[k], maxsize, found);
    free(level);
    return 0;
}

bool sr_state_is_exact(const struct sr_states *s, int d)
{
    static const double hardly = 1e-4;
    double noise = 0, squares = 0;
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++) {
            const size_t at = (size_t)d * s->track[k].n + i;
            noise += s->track[k].sigma[at] * s->track[k].sigma[at];
            squares += s->track[k].x[at] * s->track[k].x[at];
        }
    return noise < hardly * hardly * squares;
}

bool sr_states_are_exact(const struct sr_states *s)
{
    bool exact = true;
    for (int d = 0; d < s->dims; d++)
        exact = exact && sr_state_is_exact(s, d);
    return exact;
}

int sr_states_weak(const struct sr_states *s, int d, const bool *allowed, int maxsize,
                   struct sr_equations_found *found)
{
    if (sr_state_is_exact(s, d))
        return s->categories ? 0 : sr_states_exact_sums(s, d, allowed, maxsize, found);
    struct sr_weak_library *const library = orr_alloc(1, sizeof *library);
    struct weak w = {0};
    if (!library)
        return ORR_ENOMEM;
    sr_weak_library(s, allowed, library);
    int rc = create(s, d, library, &w);
    rc = rc ? rc : fill_columns(&w);
    if (!rc && w.worth > 2 * LONGEST) {
        fill_gram(&w);
        rc = find_sums(&w, maxsize, found);
    }
    release(&w);
    free(library);
    return rc;
}
