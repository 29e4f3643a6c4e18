/* conserved.c - conserved quantities of a system: combinations of simple functions phi_k of the
 * states whose derivative along every solution, the sum of c_k (grad phi_k . f), is 0 at points
 * that fill the tracks' range. Points of a track alone would not do: any multiple of E - E_0 is
 * constant on it. A constant of each category is a variable like a state, but for its derivative,
 * which is 0: one sum with it holds in all categories. Columns of the linear system are ordered
 * from simple to complicated functions, so that the reduced echelon form gives the simplest
 * combinations. */
#include "conserved.h"

#include "symreg/value/echelon.h"
#include "symreg/value/vec.h"

enum { MOST = 200, TERMS = 8, DEGREE = 4, POINTS_MORE = 60, STATES = 2 * SR_FLOW_STATES };
enum { FEATURES = SR_EACH_FIRST + SR_EACH };

struct seek {
    const struct sr_flow *flow;
    int states, count, features;
    int constants; /* of each category, which are features from SR_EACH_FIRST on */
    struct sr_expr phi[MOST];
    bool kinetic[MOST];                                   /* the square of a velocity */
    double low[STATES + SR_EACH], high[STATES + SR_EACH]; /* constants behind the states */
    size_t points;
    double *x;     /* (features, points) */
    double *rate;  /* (states, points) */
    double *slope; /* (count, points) derivatives of the functions by the time, over their rms */
    double *grad;  /* (count, states, points) gradients */
    double *value; /* (count, points) */
    double size[MOST], spread[MOST];       /* rms derivative, standard deviation of each function */
    int simple;                            /* functions up to degree 2 */
    double weight[SR_CONSERVED + 1][MOST]; /* of the functions in the quantities found */
};

/* ---- functions */

static void add(struct seek *s, const struct sr_expr *phi)
{
    struct sr_expr measured = *phi;
    if (s->count < MOST && sr_put_end(s->flow->language, &measured, SR_NODES)) {
        s->kinetic[s->count] = false;
        s->phi[s->count++] = measured;
    }
}

/* All monomials of this degree: `next` is the first state that may follow. */
static void add_monomials(struct seek *s, int degree, int next, const struct sr_expr *before)
{
    if (degree == 0) {
        add(s, before);
        return;
    }
    for (int k = next; k < s->states; k++) {
        struct sr_expr phi = *before;
        sr_put_node(&phi, sr_feature_node(k));
        if (before->count)
            sr_put_op(&phi, SR_MUL);
        const int at = s->count;
        add_monomials(s, degree - 1, k, &phi);
        if (degree == 1 && before->count == 1 && k >= s->flow->dims && s->count > at)
            s->kinetic[at] = before->node[0].feature == k;
    }
}

/* The number of monomials of this degree. */
static double monomials(int states, int degree)
{
    double count = 1;
    for (int k = 0; k < degree; k++)
        count *= (double)(states + k) / (k + 1);
    return count;
}

static void add_function(struct seek *s, int feature, enum sr_op op)
{
    struct sr_expr phi = {.count = 0};
    sr_put_node(&phi, sr_feature_node(feature));
    sr_put_op(&phi, op);
    add(s, &phi);
}

/* Powers of the distance from 0, of accelerations in two dimensions or more; r^2 is there
 * already. */
static void add_distances(struct seek *s)
{
    static const double powers[] = {-1, -2, 1, -3, 3, 0}; /* 0: the logarithm */
    struct sr_expr square = {.count = 0};
    for (int d = 0; d < s->flow->dims; d++) {
        sr_put_node(&square, sr_feature_node(d));
        sr_put_op(&square, SR_SQUARE);
        if (d)
            sr_put_op(&square, SR_ADD);
    }
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
        struct sr_expr phi = square;
        if (powers[k] == 0) {
            sr_put_op(&phi, SR_LOG);
        } else {
            sr_put_constant(&phi, powers[k] / 2);
            sr_put_op(&phi, SR_POW);
        }
        add(s, &phi);
        for (int d = 0; d < s->flow->dims && powers[k] == -1; d++) {
            struct sr_expr along = phi;
            sr_put_node(&along, sr_feature_node(d));
            sr_put_op(&along, SR_MUL);
            add(s, &along);
        }
    }
}

/* All functions so far times each constant. */
static void add_multiples(struct seek *s)
{
    const int before = s->count;
    for (int c = 0; c < s->constants; c++)
        for (int f = 0; f < before; f++) {
            struct sr_expr phi = s->phi[f];
            sr_put_node(&phi, sr_feature_node(SR_EACH_FIRST + c));
            sr_put_op(&phi, SR_MUL);
            add(s, &phi);
        }
}

static void list_functions(struct seek *s)
{
    const struct sr_expr none = {.count = 0};
    uint64_t operators = 0;
    s->count = 0;
    for (int e = 0; e < s->flow->dims; e++)
        operators |= sr_expr_operators(&s->flow->equation[e]);
    for (int d = 1; d <= DEGREE && s->count + monomials(s->states, d) <= MOST - 40; d++) {
        add_monomials(s, d, 0, &none);
        for (int k = 0; k < s->states && d == 1; k++) {
            if (s->low[k] > 0)
                add_function(s, k, SR_LOG);
            if (sr_has(operators, SR_SIN) || sr_has(operators, SR_COS)) {
                add_function(s, k, SR_SIN);
                add_function(s, k, SR_COS);
            }
            if (sr_has(operators, SR_EXP))
                add_function(s, k, SR_EXP);
        }
        if (d == 2 && s->flow->order == 2 && s->flow->dims > 1)
            add_distances(s);
        if (d == 2)
            add_multiples(s);
        if (d <= 2)
            s->simple = s->count;
    }
}

/* ---- points */

static void find_ranges(struct seek *s, size_t tracks, const struct sr_flow_track *track)
{
    for (int k = 0; k < s->states; k++) {
        s->low[k] = HUGE_VAL;
        s->high[k] = -HUGE_VAL;
    }
    for (size_t j = 0; j < tracks; j++)
        for (size_t i = 0; i < track[j].n; i++)
            for (int k = 0; k < s->states; k++) {
                const double x = track[j].guess[(size_t)k * track[j].n + i];
                s->low[k] = fmin(s->low[k], x);
                s->high[k] = fmax(s->high[k], x);
            }
    for (int c = 0; c < s->constants; c++)
        for (int i = 0; i < s->flow->categories; i++) {
            double *const low = &s->low[s->states + c], *const high = &s->high[s->states + c];
            const double value = s->flow->each->value[c][i];
            *low = i ? fmin(*low, value) : value;
            *high = i ? fmax(*high, value) : value;
        }
}

static int feature_of(const struct seek *s, int variable)
{
    return variable < s->states ? variable : SR_EACH_FIRST + variable - s->states;
}

/* Fills the ranges with points of the sequence R_d of Roberts, u_k = frac(1/2 + k g^-j) with
 * g^(d+1) = g + 1, where the equations are finite. */
static void fill_points(struct seek *s, size_t wanted)
{
    const struct sr_flow *flow = s->flow;
    const int variables = s->states + s->constants;
    const size_t features = (size_t)s->features;
    double g = 2, row[FEATURES] = {0}, rate[STATES];
    const struct sr_data one = {
        .rows = 1, .features = s->features, .x = row, .language = flow->language};
    for (int k = 0; k < 60; k++)
        g = orr_pow(1 + g, 1.0 / (variables + 1));
    s->points = 0;
    for (size_t i = 1; i <= 4 * wanted && s->points < wanted; i++) {
        double share = 1;
        bool finite = true;
        for (int k = 0; k < variables; k++) {
            share /= g;
            const double u = 0.5 + (double)i * share;
            row[feature_of(s, k)] = s->low[k] + (u - floor(u)) * (s->high[k] - s->low[k]);
        }
        for (int e = 0; e < flow->dims && finite; e++)
            finite = sr_eval(&flow->equation[e], &one, &rate[s->states - flow->dims + e]);
        for (int k = 0; k < flow->dims && flow->order == 2; k++)
            rate[k] = row[flow->dims + k];
        for (size_t k = 0; k < features && finite; k++)
            s->x[k * wanted + s->points] = row[k];
        for (int k = 0; k < s->states && finite; k++)
            s->rate[(size_t)k * wanted + s->points] = rate[k];
        s->points += finite;
    }
}

static double spread_of(const double *value, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += value[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (value[i] - sum) * (value[i] - sum);
    return sqrt(squares / (double)n);
}

/* Derivatives of all functions; those that are not finite everywhere are left out. */
static void find_slopes(struct seek *s)
{
    const size_t n = s->points, states = (size_t)s->states;
    const struct sr_data data = {
        .rows = n, .features = s->features, .x = s->x, .language = s->flow->language};
    double *const all = s->grad + (size_t)MOST * states * n;
    int kept = 0, simple = 0;
    for (int f = 0; f < s->count; f++) {
        double *const slope = s->slope + (size_t)kept * n, *const value =
                                                               s->value + (size_t)kept * n;
        double squares = 0;
        if (!sr_eval_slopes(&s->phi[f], &data, value, all))
            continue;
        sr_fill(slope, n, 0);
        for (size_t k = 0; k < states; k++)
            for (size_t i = 0; i < n; i++)
                slope[i] += all[k * n + i] * s->rate[k * n + i];
        for (size_t i = 0; i < n; i++)
            squares += slope[i] * slope[i];
        memcpy(s->grad + (size_t)kept * states * n, all, states * n * sizeof *all);
        s->size[kept] = squares > 0 ? sqrt(squares / (double)n) : 1;
        for (size_t i = 0; i < n; i++)
            slope[i] /= s->size[kept];
        s->spread[kept] = spread_of(value, n);
        s->kinetic[kept] = s->kinetic[f];
        simple += f < s->simple;
        s->phi[kept++] = s->phi[f];
    }
    s->count = kept;
    s->simple = simple;
}

/* ---- combinations */

/* The sum of c_k phi_k, without terms of weight 0. False where it has too many. */
static bool write_sum(const struct seek *s, const double *c, struct sr_expr *expr)
{
    int terms = 0;
    expr->count = 0;
    for (int k = 0; k < s->count; k++) {
        const double weight = sr_round_digits(fabs(c[k]), 10);
        if (weight == 0)
            continue;
        if (weight != 1)
            sr_put_constant(expr, weight);
        sr_put_expr(expr, &s->phi[k]);
        if (weight != 1)
            sr_put_op(expr, SR_MUL);
        if (terms++)
            sr_put_op(expr, c[k] < 0 ? SR_SUB : SR_ADD);
        else if (c[k] < 0)
            sr_put_op(expr, SR_NEG);
    }
    return terms <= TERMS && sr_put_end(s->flow->language, expr, SR_NODES);
}

/* c (count) in terms of the functions themselves: half the square of a velocity, or a first term of
 * weight 1. Terms that vary by less than a share `least` of the largest become 0. */
static void scale_sum(const struct seek *s, double least, double *c)
{
    double unit = 0, largest = 0;
    bool half = false;
    for (int k = 0; k < s->count; k++) {
        c[k] /= s->size[k];
        largest = fmax(largest, fabs(c[k]) * s->spread[k]);
    }
    for (int k = s->count - 1; k >= 0; k--) {
        if (fabs(c[k]) * s->spread[k] < least * largest)
            c[k] = 0;
        if (c[k] != 0 && (s->kinetic[k] || !half)) {
            unit = s->kinetic[k] ? 2 * c[k] : c[k];
            half = half || s->kinetic[k];
        }
    }
    for (int k = 0; k < s->count; k++)
        c[k] /= unit;
}

/* By which share of its spread the sum changes while the states change by their ranges. */
static double change_of(const struct seek *s, const double *c)
{
    const size_t n = s->points;
    double squares = 0, rates = 0, value[MOST + POINTS_MORE];
    for (size_t i = 0; i < n; i++) {
        double slope = 0;
        value[i] = 0;
        for (int k = 0; k < s->count; k++) {
            slope += c[k] * s->size[k] * s->slope[(size_t)k * n + i];
            value[i] += c[k] * s->value[(size_t)k * n + i];
        }
        squares += slope * slope;
        for (int k = 0; k < s->states; k++) {
            const double rate = s->rate[(size_t)k * n + i] / (s->high[k] - s->low[k]);
            rates += rate * rate / s->states;
        }
    }
    const double change = sqrt(squares / rates) / spread_of(value, n);
    return isfinite(change) ? change : HUGE_VAL;
}

/* Whether the gradient of the sum is independent of those of the quantities found, at more than
 * half of some points, by more than `least`. */
static bool is_independent(const struct seek *s, int found, double least)
{
    enum { SOME = 11 };
    int independent = 0;
    const size_t n = s->points, states = (size_t)s->states;
    for (size_t p = 0; p < SOME; p++) {
        double rows[(SR_CONSERVED + 1) * STATES];
        int pivot[SR_CONSERVED + 1];
        for (int q = 0; q <= found; q++) {
            const double *const weight = s->weight[q];
            double squares = 0;
            for (size_t k = 0; k < states; k++) {
                double sum = 0;
                for (int f = 0; f < s->count; f++)
                    if (weight[f] != 0)
                        sum += weight[f] *
                               s->grad[((size_t)f * states + k) * n + p * (n - 1) / (SOME - 1)];
                /* states have their units */
                rows[(size_t)q * states + k] = sum * (s->high[k] - s->low[k]);
                squares += rows[(size_t)q * states + k] * rows[(size_t)q * states + k];
            }
            for (size_t k = 0; k < states && squares > 0; k++)
                rows[(size_t)q * states + k] /= sqrt(squares);
        }
        independent += sr_echelon(rows, found + 1, s->states, s->states, least, pivot) == found + 1;
    }
    return 2 * independent > SOME;
}

/* Combinations of the first `width` functions that change by at most `most`; `least`: pivots and
 * terms below this share of others are none. */
static int combine(struct seek *s, int width, double least, double most, struct sr_conserved *found)
{
    const int rows = (int)s->points;
    const double apart = 5 * most;
    double *const a = orr_alloc(s->points * (size_t)width + 1, sizeof *a);
    int pivot[MOST + POINTS_MORE];
    if (!a)
        return ORR_ENOMEM;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < width; k++)
            a[i * width + k] = s->slope[(size_t)k * s->points + (size_t)i];
    const int rank = sr_echelon(a, rows, width, width, least, pivot);
    for (int f = 0, r = 0; f < width && found->count < SR_CONSERVED; f++) {
        const int at = found->count;
        double *const c = s->weight[at];
        if (r < rank && pivot[r] == f) {
            r++;
            continue;
        }
        sr_fill(c, MOST, 0);
        c[f] = 1;
        for (int q = 0; q < r; q++)
            c[pivot[q]] = -a[q * width + f];
        scale_sum(s, most, c);
        found->change[at] = change_of(s, c);
        found->count += found->change[at] <= most && write_sum(s, c, &found->expr[at]) &&
                        is_independent(s, at, apart);
    }
    free(a);
    return 0;
}

static int seek_all(struct seek *s, struct sr_conserved *found)
{
    static const double least = 1e-8, nearly = 0.01;
    const size_t states = (size_t)s->states, wanted = MOST + POINTS_MORE;
    const size_t features = (size_t)s->features;
    s->x = orr_alloc(features * wanted, sizeof *s->x);
    s->rate = orr_alloc(states * wanted, sizeof *s->rate);
    s->slope = orr_alloc(MOST * wanted, sizeof *s->slope);
    s->grad = orr_alloc((MOST * states + features) * wanted, sizeof *s->grad);
    s->value = orr_alloc(MOST * wanted, sizeof *s->value);
    TRY(s->x && s->rate && s->slope && s->grad && s->value ? 0 : ORR_ENOMEM);
    fill_points(s, wanted);
    if (s->points < wanted)
        return 0;
    list_functions(s);
    find_slopes(s);
    TRY(combine(s, s->count, least, SR_CONSERVED_EXACT, found));
    return combine(s, s->simple, nearly, nearly, found);
}

/* Whether equations have the time or inputs. */
static bool is_driven(const struct sr_flow *flow)
{
    for (int e = 0; e < flow->dims; e++)
        for (int i = 0; i < flow->equation[e].count; i++) {
            const struct sr_node *const node = &flow->equation[e].node[i];
            if (node->op == SR_FEATURE && node->feature >= sr_flow_states(flow) &&
                !sr_is_each(node))
                return true;
        }
    return false;
}

int sr_conserved_find(const struct sr_flow *flow, size_t tracks, const struct sr_flow_track *track,
                      struct sr_conserved *found)
{
    found->count = 0;
    if (is_driven(flow))
        return 0;
    struct seek *const s = orr_alloc(1, sizeof *s);
    if (!s)
        return ORR_ENOMEM;
    s->flow = flow;
    s->states = sr_flow_states(flow);
    for (int e = 0; e < flow->dims; e++)
        while (s->constants < SR_EACH && sr_each_used(&flow->equation[e]) >> s->constants)
            s->constants++;
    s->features = s->constants ? SR_EACH_FIRST + s->constants : s->states + 1 + flow->inputs;
    find_ranges(s, tracks, track);
    const int rc = seek_all(s, found);
    free(s->x);
    free(s->rate);
    free(s->slope);
    free(s->grad);
    free(s->value);
    free(s);
    return rc;
}
