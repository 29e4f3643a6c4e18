/* exact_sums.c - sums of terms of a library that explain derivatives which are known nearly
 * exactly. Numbers within terms (of a saturation, an exponential, a sine) are on a grid in the
 * library; where tracks have no noise the wrong number of the right form leaves far more than the
 * right one, and another form may leave less. So each sum is judged with its numbers fitted: a term
 * is ranked by what it and the derivative by its number leave of the residuals, beside those of the
 * numbers of the sum (one step of Gauss and Newton), and the best are fitted. The likeliest sums of
 * each number of terms are extended. */
#include "weak.h"

#include <math.h>
#include <stdlib.h>

enum {
    LONGEST = 5,           /* terms of a sum */
    WIDTH = 300,           /* sums of each number of terms that are extended */
    FITTED = 1000,         /* ... that are fitted */
    ITERATIONS = 15,       /* of a fit */
    OF_LENGTH = 40,        /* of each number of terms that are shortened */
    WRITTEN = 24,          /* of all */
    MOST_ROWS = 160,       /* more tell no more of exact derivatives */
    NUMBERS = 2 * LONGEST, /* of a sum, at most: a term has its coefficient and one within it */
};
/* What a number costs beside half the logarithm of the rows, about. */
static const double nats_of_number = 2;
/* A column that others explain up to this share of its squares tells nothing new. */
static const double apart = 1e-10;
/* A step that changes a number within a term by a larger share is not to be trusted. */
static const double trusted = 0.7;
/* A number that a fit moves so many times up or down from the grid has left its form. */
static const double astray = 20;

struct sum {
    int count, term[LONGEST];
    double cost, nats; /* cost: of form and numbers */
    struct sr_expr expr;
};
/* A sum that may be worth a fit: which one is extended, and by what. */
struct idea {
    int from, term;
    double coefficient, nats;
};
struct exact {
    const struct sr_states *states;
    const struct sr_weak_library *all;
    size_t rows;
    double *x, *y, *weight; /* (names, rows), (rows), (rows) of mean 1 */
    double least;           /* mean weighted square of the derivatives' errors: less is as good */
    double *term, *slope;   /* (terms, rows) root-weighted terms, derivatives by their numbers */
    double *number;         /* (terms) the number within a term; NAN: none */
    double *cost;           /* (terms) */
    bool *usable;
    double *basis, *residual, *work; /* (NUMBERS, rows), (rows), (2, rows) */
    struct sr_data data;
    struct sr_loss loss;
    struct sr_work fit;
};

/* ---- columns */

static void fill_rows(struct exact *e, int d, size_t each, double least)
{
    const struct sr_states *const s = e->states;
    double weights = 0;
    size_t row = 0, to = 0;
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->track[k].n; i++, row++) {
            const struct sr_state_track *const track = &s->track[k];
            const size_t at = (size_t)d * track->n + i;
            const double variance =
                (s->order == 1 ? track->rate_variance : track->bend_variance)[at];
            if (row % each)
                continue;
            for (int name = 0; name < s->names; name++)
                e->x[(size_t)name * e->rows + to] = sr_state_value(s, track, name, i);
            e->y[to] = (s->order == 1 ? track->rate : track->bend)[at];
            e->weight[to] = 1 / fmax(variance, least * least);
            weights += e->weight[to];
            e->least += e->weight[to++] * variance;
        }
    for (size_t i = 0; i < e->rows; i++)
        e->weight[i] *= (double)e->rows / weights;
    e->least *= SR_EXACT_ERRORS / weights;
}

/* A term that cannot be evaluated at all rows is not usable. */
static void fill_term(struct exact *e, int k)
{
    const struct sr_expr *const expr = &e->all->term[k].expr;
    double *const term = e->term + (size_t)k * e->rows, *const slope =
                                                            e->slope + (size_t)k * e->rows;
    double value[SR_NODES];
    const bool plain = expr->count == 1, has_number = !plain && sr_expr_constants(expr, value) == 1;
    e->number[k] = has_number ? value[0] : (double)NAN;
    e->usable[k] =
        has_number ? sr_eval_jacobian(expr, &e->data, term, slope) : sr_eval(expr, &e->data, term);
    for (size_t i = 0; i < e->rows && e->usable[k]; i++) {
        term[i] *= sqrt(e->weight[i]);
        slope[i] *= has_number ? sqrt(e->weight[i]) : 0;
        e->usable[k] = isfinite(term[i]) && isfinite(slope[i]);
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Takes from a column what the orthonormal ones explain. False where little is left. */
static bool make_orthogonal(const double *basis, int count, size_t n, double *column)
{
    const double before = dot(column, column, n);
    for (int turn = 0; turn < 2; turn++) /* once more, for what rounding left */
        for (int k = 0; k < count; k++) {
            const double *const other = basis + (size_t)k * n;
            const double by = dot(other, column, n);
            for (size_t i = 0; i < n; i++)
                column[i] -= by * other[i];
        }
    return dot(column, column, n) > apart * before;
}

/* Fills in orthonormal columns of the derivatives by a sum's numbers, and what the sum leaves.
 * Returns how many there are; -1 where the sum cannot be evaluated. */
static int linearise(struct exact *e, const struct sum *sum)
{
    const size_t n = e->rows;
    int count = 0;
    for (size_t i = 0; i < n; i++)
        e->residual[i] = e->y[i];
    if (sum->count) {
        const int numbers = sr_expr_constants(&sum->expr, NULL);
        double *const value = e->work;
        if (numbers > NUMBERS || !sr_eval_jacobian(&sum->expr, &e->data, value, e->basis))
            return -1;
        for (size_t i = 0; i < n; i++)
            e->residual[i] -= value[i];
        for (int k = 0; k < numbers; k++) {
            double *const from = e->basis + (size_t)k * n, *const to = e->basis + (size_t)count * n;
            for (size_t i = 0; i < n; i++)
                to[i] = from[i] * sqrt(e->weight[i]);
            if (!make_orthogonal(e->basis, count, n, to))
                continue;
            const double norm = sqrt(dot(to, to, n));
            for (size_t i = 0; i < n; i++)
                to[i] /= norm;
            count++;
        }
    }
    for (size_t i = 0; i < n; i++)
        e->residual[i] *= sqrt(e->weight[i]);
    make_orthogonal(e->basis, count, n, e->residual);
    return count;
}

/* ---- sums */

/* The nats of a sum that leaves such a mean of weighted squares. */
static double nats_of(const struct exact *e, double cost, double left)
{
    return cost + 0.5 * (double)e->rows * orr_log(fmax(left, e->least));
}

/* What the sum that was linearised would cost with term k, its number corrected. */
static struct idea ask(struct exact *e, const struct sum *from, int count, double left, int k)
{
    const size_t n = e->rows;
    struct idea idea = {.term = k, .nats = HUGE_VAL};
    double *const term = e->work, *const slope = e->work + n;
    memcpy(term, e->term + (size_t)k * n, n * sizeof *term);
    if (!make_orthogonal(e->basis, count, n, term))
        return idea;
    const double squares = dot(term, term, n), along = dot(term, e->residual, n);
    idea.coefficient = along / squares;
    left -= along * along / squares;
    if (!isnan(e->number[k])) {
        memcpy(slope, e->slope + (size_t)k * n, n * sizeof *slope);
        const bool apart_from = make_orthogonal(e->basis, count, n, slope);
        const double shared = dot(slope, term, n) / squares;
        for (size_t i = 0; i < n; i++)
            slope[i] -= shared * term[i];
        const double own = dot(slope, slope, n), gain = dot(slope, e->residual, n);
        const double by = gain / own / (idea.coefficient - gain / own * shared);
        if (apart_from && own > 0 && fabs(by) < trusted * fabs(e->number[k]))
            left -= gain * gain / own;
    }
    idea.nats = nats_of(e, from->cost + e->cost[k], left / (double)n);
    return idea;
}

static void keep_idea(struct idea *kept, int *count, const struct idea *idea)
{
    int at = *count;
    if (at == FITTED && !(idea->nats < kept[at - 1].nats))
        return;
    at -= at == FITTED;
    *count += *count < FITTED;
    for (; at > 0 && kept[at - 1].nats > idea->nats; at--)
        kept[at] = kept[at - 1];
    kept[at] = *idea;
}

/* Lists the likeliest extensions of a sum, of each form one. */
static void extend(struct exact *e, const struct sum *sum, int from, struct idea *kept, int *count)
{
    const int columns = linearise(e, sum);
    if (columns < 0)
        return;
    const double left = dot(e->residual, e->residual, e->rows);
    struct idea best = {.nats = HUGE_VAL};
    for (int k = 0; k < e->all->count; k++) {
        const struct idea idea =
            e->usable[k] ? ask(e, sum, columns, left, k) : (struct idea){.nats = HUGE_VAL};
        best = idea.nats < best.nats ? idea : best;
        if (k + 1 < e->all->count && e->all->term[k + 1].form == e->all->term[k].form)
            continue;
        best.from = from;
        if (best.nats < HUGE_VAL)
            keep_idea(kept, count, &best);
        best.nats = HUGE_VAL;
    }
}

static bool same_forms(const struct exact *e, const struct sum *a, const struct sum *b)
{
    for (int i = 0; i < a->count; i++) {
        int balance = 0;
        const int form = e->all->term[a->term[i]].form;
        for (int k = 0; k < a->count; k++)
            balance +=
                (e->all->term[a->term[k]].form == form) - (e->all->term[b->term[k]].form == form);
        if (balance)
            return false;
    }
    return a->count == b->count;
}

static bool is_listed(const struct exact *e, const struct sum *sum, const struct sum *list,
                      int count)
{
    for (int k = 0; k < count; k++)
        if (same_forms(e, sum, &list[k]))
            return true;
    return false;
}

/* Whether a number within a term is far from where it began: exp(1e-8 x) is a line, which the
 * library has. */
static bool has_strayed(const struct exact *e, const struct sum *sum)
{
    double value[SR_NODES];
    sr_expr_constants(&sum->expr, value);
    for (int k = 0, at = 0; k < sum->count; k++, at++) {
        const double from = e->number[sum->term[k]];
        if (isnan(from))
            continue;
        const double by = value[++at] / from;
        if (!(by > 1 / astray && by < astray))
            return true;
    }
    return false;
}

/* Appends a term of the library, with such numbers, to the sum. */
static void put_term(const struct exact *e, const struct sr_expr *term, double coefficient,
                     int number, struct sum *sum)
{
    sum->term[sum->count++] = number;
    sum->cost += e->cost[number];
    sr_put_constant(&sum->expr, coefficient);
    if (term->count > 1 || term->node[0].op != SR_CONSTANT) {
        sr_put_expr(&sum->expr, term);
        sr_put_op(&sum->expr, SR_MUL);
    }
    if (sum->count > 1)
        sr_put_op(&sum->expr, SR_ADD);
}

/* Fits a sum that was written. False where it is too long, has no values or other forms. */
static bool fit_sum(struct exact *e, struct sum *sum)
{
    if (!sr_put_end(NULL, &sum->expr, SR_NODES))
        return false;
    const double left = sr_constants_fit_others(&e->loss, &sum->expr, 0, ITERATIONS, &e->fit);
    sum->nats = nats_of(e, sum->cost, left);
    return left < HUGE_VAL && !has_strayed(e, sum);
}

/* Fits the sum without its term number `without`. */
static bool fit_shorter(struct exact *e, const struct sum *from, int without, struct sum *sum)
{
    double value[SR_NODES];
    int at = 0;
    *sum = (struct sum){.count = 0};
    sr_expr_constants(&from->expr, value);
    for (int k = 0; k < from->count; k++) {
        const struct sr_weak_term *const term = &e->all->term[from->term[k]];
        struct sr_expr inner = term->expr;
        const double coefficient = value[at++];
        if (!isnan(e->number[from->term[k]]))
            sr_expr_set_constants(&inner, &value[at++]);
        if (k != without)
            put_term(e, &inner, coefficient, from->term[k], sum);
    }
    return fit_sum(e, sum);
}

/* Leaves out terms as long as that is likelier. */
static void prune(struct exact *e, struct sum *sum)
{
    struct sum shorter;
    for (int k = 0; k < sum->count && sum->count > 1; k++)
        if (fit_shorter(e, sum, k, &shorter) && shorter.nats < sum->nats) {
            *sum = shorter;
            k = -1;
        }
}

/* The likeliest sums that are one term longer. */
static void lengthen(struct exact *e, const struct sum *shorter, int count, struct sum *longer,
                     int *found)
{
    struct idea idea[FITTED];
    struct sum sum;
    int ideas = 0;
    *found = 0;
    for (int k = 0; k < count; k++)
        extend(e, &shorter[k], k, idea, &ideas);
    for (int k = 0; k < ideas; k++) {
        sum = shorter[idea[k].from];
        put_term(e, &e->all->term[idea[k].term].expr, idea[k].coefficient, idea[k].term, &sum);
        if (is_listed(e, &sum, longer, *found) || !fit_sum(e, &sum))
            continue;
        int at = *found < WIDTH ? (*found)++ : WIDTH;
        if (at == WIDTH && !(sum.nats < longer[--at].nats))
            continue;
        for (; at > 0 && longer[at - 1].nats > sum.nats; at--)
            longer[at] = longer[at - 1];
        longer[at] = sum;
    }
}

static int by_nats(const void *a, const void *b)
{
    const struct sum *const x = a, *const y = b;
    return x->nats > y->nats ? -1 : x->nats < y->nats;
}

/* Finds sums of one term, of two ... until one leaves no more than errors. The likeliest is written
 * last, as the choice begins there. */
static int find(struct exact *e, int maxsize, struct sr_equations_found *found)
{
    struct sum *const level = orr_alloc(2 * WIDTH, sizeof *level);
    struct sum *const best = orr_alloc(LONGEST * OF_LENGTH, sizeof *best);
    int count = 1, kept = 0;
    bool explained = false;
    for (int length = 0; level && best && length < LONGEST && count && !explained; length++) {
        int longer;
        lengthen(e, level, count, level + WIDTH, &longer);
        memcpy(level, level + WIDTH, (size_t)longer * sizeof *level);
        count = longer;
        for (int k = 0; k < count && k < OF_LENGTH; k++)
            best[kept++] = level[k];
        explained = count && !(level[0].nats > nats_of(e, level[0].cost, 0));
    }
    const int all = kept;
    kept = 0;
    for (int k = 0; k < all; k++) {
        prune(e, &best[k]);
        if (best[k].expr.count <= maxsize && !is_listed(e, &best[k], best, kept))
            best[kept++] = best[k];
    }
    if (best)
        qsort(best, (size_t)kept, sizeof *best, by_nats);
    for (int k = kept > WRITTEN ? kept - WRITTEN : 0; k < kept && found->count < SR_SUMS; k++)
        sr_expr_copy(&found->expr[found->count++], &best[k].expr);
    const int rc = level && best ? 0 : ORR_ENOMEM;
    free(level);
    free(best);
    return rc;
}

/* ---- the whole */

static int create(const struct sr_states *s, int d, const struct sr_weak_library *library,
                  struct exact *e)
{
    const size_t each = (s->rows + MOST_ROWS - 1) / MOST_ROWS, terms = (size_t)library->count;
    const size_t n = (s->rows + each - 1) / each;
    double least;
    *e = (struct exact){.states = s, .all = library, .rows = n};
    double *at = orr_alloc(((size_t)s->names + 2 * terms + NUMBERS + 5) * n, sizeof *at);
    e->x = at;
    e->number = orr_alloc(2 * terms, sizeof *e->number);
    e->usable = orr_alloc(terms, sizeof *e->usable);
    if (!e->x || !e->number || !e->usable)
        return ORR_ENOMEM;
    TRY(sr_states_least(s, d, &least));
    e->y = at += (size_t)s->names * n;
    e->weight = at += n;
    e->term = at += n;
    e->slope = at += terms * n;
    e->basis = at += terms * n;
    e->residual = at += NUMBERS * n;
    e->work = at + n;
    e->cost = e->number + terms;
    fill_rows(e, d, each, least);
    e->data = (struct sr_data){
        .rows = n, .features = s->names, .x = e->x, .y = e->y, .weight = e->weight};
    for (size_t k = 0; k < terms; k++) {
        fill_term(e, (int)k);
        e->cost[k] = library->term[k].nats +
                     library->term[k].numbers * (0.5 * orr_log((double)n) + nats_of_number);
    }
    TRY(sr_loss_init(&e->loss, ORR_SR_L2, &e->data));
    return sr_work_init(&e->fit, n, SR_NODES);
}

int sr_states_exact_sums(const struct sr_states *s, int d, const bool *allowed, int maxsize,
                         struct sr_equations_found *found)
{
    struct sr_weak_library *const library = orr_alloc(1, sizeof *library);
    struct exact e = {0};
    if (!library)
        return ORR_ENOMEM;
    sr_weak_library(s, allowed, library);
    int rc = create(s, d, library, &e);
    if (!rc && e.rows > 4 * NUMBERS)
        rc = find(&e, maxsize, found);
    sr_loss_free(&e.loss);
    sr_work_free(&e.fit);
    free(e.x);
    free(e.number);
    free(e.usable);
    free(library);
    return rc;
}
