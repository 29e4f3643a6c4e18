/* hinges.c - sums of one or two hinges, max(u - t, 0) and max(t - u, 0), and of their squares,
 * where max or min is among the operators.
 *
 * u is a column, or the difference or the sum of two; thresholds t are scanned over the quantiles
 * of u. Two hinges may share a threshold, as those of a transistor's current, max(v - t, 0)^2 -
 * max(v - w - t, 0)^2, whose thresholds one after the other no step finds; or they have one u, as
 * saturations and dead zones; or each fits what the other leaves. Weights follow by least squares
 * on some rows. The best are fitted to all rows, thresholds among their constants. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "base/stop.h"
#include "powers.h"
#include "shared.h"
#include "stages.h"

enum {
    ROWS = 128,      /* rows of the scan */
    COLUMNS = 6,     /* of more columns the sums and differences are left out */
    DIRECTIONS = 48, /* columns, differences, sums */
    GRID = 24,       /* thresholds of each */
    FIRST = 16,      /* best single hinges that a second one is sought for, beside the columns */
    KEPT = 16,       /* sums of two that are fitted to all rows, */
    ALONE = 4,       /* and single hinges */
    FIT_STEPS = 40,
    WAYS = 8 /* of writing each */
};
/* A sum counts where it leaves at most this share of what a linear model of the columns leaves. */
static const double least_gain = 0.7;

struct direction {
    struct sr_expr u;
    double value[ROWS];
};

/* max(u - t, 0)^power for side 1, max(t - u, 0)^power for -1; u itself for power 0. */
struct hinge {
    int direction, side, power;
    double t;
};

/* A constant and one or two hinges. */
struct sum {
    double left; /* squared residuals; comes first (sr_best_insert()) */
    int terms;
    struct hinge of[2];
    double weight[2], constant;
};

struct hinges {
    struct sr_proposal *p;
    int rows, directions;
    int powers;     /* that the operators can write: 1, or 1 and 2 */
    double total;   /* squares of y */
    double y[ROWS]; /* of mean 0 */
    double mean;
    struct direction direction[DIRECTIONS];
    int hinges, singles, sums;
    struct hinge all[DIRECTIONS * (1 + 4 * GRID)]; /* of two sides and powers; columns themselves */
    struct sum single[FIRST], sum[KEPT + ALONE];
    struct sr_expr expr[(KEPT + ALONE) * WAYS];
    double loss[(KEPT + ALONE) * WAYS];
};

/* ---- the scan */

/* Thresholds: midpoints between neighbouring values, evenly spaced in their order; returns how
 * many. */
static int fill_grid(const double *value, int rows, double grid[GRID])
{
    double sorted[ROWS] = {0};
    int different = 0;
    memcpy(sorted, value, (size_t)rows * sizeof *sorted);
    gsl_sort(sorted, 1, (size_t)rows);
    for (int i = 0; i < rows; i++)
        if (!different || sorted[i] > sorted[different - 1])
            sorted[different++] = sorted[i];
    const int gaps = different - 1, most = gaps < GRID ? gaps : GRID;
    for (int k = 0; k < most; k++) {
        const int at = (2 * k + 1) * gaps / (2 * most);
        grid[k] = (sorted[at] + sorted[at + 1]) / 2;
    }
    return most;
}

/* Lists column a, its difference to b (sign -1) or its sum with b, and the hinges of these. */
static void add_direction(struct hinges *h, int a, int b, int sign)
{
    const struct sr_data *data = h->p->loss->data;
    const double *x = data->x + (size_t)a * data->rows, *z = data->x + (size_t)b * data->rows;
    const struct sr_expr of[2] = {{.count = 1, .node = {sr_feature_node(a)}},
                                  {.count = 1, .node = {sr_feature_node(b)}}};
    double grid[GRID];
    const int n = h->directions;
    if (n == DIRECTIONS)
        return;
    struct direction *const d = &h->direction[h->directions++];
    sr_put_text(sign == 0 ? "u" : sign < 0 ? "u - v" : "u + v", of, "", NULL, &d->u);
    for (int i = 0; i < h->rows; i++) {
        const size_t row = (size_t)i * data->rows / (size_t)h->rows;
        d->value[i] = x[row] + sign * z[row];
    }
    const int thresholds = fill_grid(d->value, h->rows, grid);
    h->all[h->hinges++] = (struct hinge){.direction = n, .side = 1};
    for (int side = -1; side <= 1; side += 2)
        for (int power = 1; power <= h->powers; power++)
            for (int k = 0; k < thresholds; k++)
                h->all[h->hinges++] = (struct hinge){n, side, power, grid[k]};
}

static void list_directions(struct hinges *h)
{
    const int features = h->p->loss->data->features;
    for (int a = 0; a < features; a++)
        add_direction(h, a, a, 0);
    for (int sign = -1; sign <= 1 && features <= COLUMNS; sign += 2)
        for (int a = 0; a < features; a++)
            for (int b = a + 1; b < features; b++)
                add_direction(h, a, b, sign);
}

/* Values less their mean, which is returned. */
static double fill_hinge(const struct hinges *h, const struct hinge *of, double *value)
{
    const double *u = h->direction[of->direction].value;
    double mean = 0;
    for (int i = 0; i < h->rows; i++) {
        const double d = of->side > 0 ? u[i] - of->t : of->t - u[i], open = d > 0 ? d : 0;
        value[i] = of->power == 0 ? u[i] : of->power == 1 ? open : open * open;
        mean += value[i] / h->rows;
    }
    for (int i = 0; i < h->rows; i++)
        value[i] -= mean;
    return mean;
}

/* The best weights of one or two columns of mean 0, and what they leave; false where the columns
 * are dependent. */
static bool weigh(const struct hinges *h, double value[2][ROWS], struct sum *sum)
{
    const bool two = sum->terms == 2;
    const double aa = sr_dot(value[0], value[0], h->rows), ya = sr_dot(value[0], h->y, h->rows);
    const double bb = two ? sr_dot(value[1], value[1], h->rows) : 1;
    const double ab = two ? sr_dot(value[0], value[1], h->rows) : 0;
    const double yb = two ? sr_dot(value[1], h->y, h->rows) : 0;
    const double determinant = aa * bb - ab * ab;
    if (!(determinant > 1e-9 * aa * bb))
        return false;
    sum->weight[0] = (ya * bb - yb * ab) / determinant;
    sum->weight[1] = (yb * aa - ya * ab) / determinant;
    sum->left = h->total - sum->weight[0] * ya - sum->weight[1] * yb;
    return isfinite(sum->left);
}

/* Keeps a sum among the best, all of which have as many terms, once for all thresholds. */
static void keep(struct sum *list, int *count, int most, const struct sum *sum)
{
    for (int k = 0; k < *count; k++) {
        bool alike = true;
        for (int i = 0; i < sum->terms && alike; i++) {
            const struct hinge *a = &list[k].of[i], *b = &sum->of[i];
            alike = a->direction == b->direction && a->side == b->side && a->power == b->power;
        }
        if (!alike)
            continue;
        if (list[k].left <= sum->left)
            return;
        for (--*count; k < *count; k++)
            list[k] = list[k + 1];
    }
    sr_best_insert(list, sizeof *list, count, most, sum);
}

/* Keeps the hinge `b` among the single ones or, with a, the sum of both. */
static void offer(struct hinges *h, const struct hinge *a, const struct hinge *b)
{
    double value[2][ROWS], mean[2];
    struct sum sum = {.terms = a ? 2 : 1, .of = {a ? *a : *b, *b}, .constant = h->mean};
    for (int k = 0; k < sum.terms; k++)
        mean[k] = fill_hinge(h, &sum.of[k], value[k]);
    if ((a && !a->power && !b->power) || !weigh(h, value, &sum))
        return;
    for (int k = 0; k < sum.terms; k++)
        sum.constant -= sum.weight[k] * mean[k];
    if (a)
        keep(h->sum, &h->sums, KEPT, &sum);
    else
        keep(h->single, &h->singles, FIRST, &sum);
}

static void offer_all(struct hinges *h, const struct hinge *first)
{
    for (int i = 0; i < h->hinges; i++)
        offer(h, first, &h->all[i]);
}

/* Offers hinges of two directions with one threshold, and of one direction with two. */
static void offer_pairs(struct hinges *h)
{
    for (int i = 0; i < h->hinges; i++) {
        const struct hinge *const a = &h->all[i];
        for (int n = 0; n < h->directions && a->power; n++)
            if (n != a->direction)
                offer(h, a, &(struct hinge){n, a->side, a->power, a->t});
        for (int k = 0; k < h->hinges && a->side > 0 && a->power == 1; k++)
            if (h->all[k].direction == a->direction && h->all[k].power == 1 && h->all[k].t < a->t)
                offer(h, a, &h->all[k]);
    }
}

/* What a linear model of the columns leaves. */
static double linear_left(const struct hinges *h)
{
    double basis[COLUMNS][ROWS], rest[ROWS];
    int n = 0;
    memcpy(rest, h->y, sizeof rest);
    for (int a = 0; a < h->p->loss->data->features && n < COLUMNS; a++) {
        double *const v = basis[n];
        fill_hinge(h, &(struct hinge){.direction = a, .side = 1}, v);
        if (!sr_orthogonalise(v, basis[0], n, ROWS, h->rows, 1e-18, NULL))
            continue;
        sr_remove(rest, v, h->rows);
        n++;
    }
    return sr_dot(rest, rest, h->rows);
}

/* ---- formulas */

/* Appends the hinge, and returns whether it is times -1, as min(t - u, 0) is -max(u - t, 0).
 * `shorter`: max(u, t) or min(u, t), which are hinges but for a constant, where the operators have
 * the one that is needed. */
static bool put_hinge(const struct hinges *h, const struct hinge *of, bool shorter,
                      struct sr_expr *out)
{
    const uint64_t operators = h->p->operators;
    const bool least = !sr_has(operators, SR_MAX), up = of->side > 0;
    const double threshold[] = {of->t, -of->t};
    const struct sr_expr *const u = &h->direction[of->direction].u;
    struct sr_expr base = {.count = 0};
    if (shorter && of->power == 1 && sr_has(operators, up ? SR_MAX : SR_MIN)) {
        sr_put_text(up ? "max(u, t)" : "min(u, t)", u, "t", threshold, out);
        return !up;
    }
    sr_put_text(of->power == 0 ? "u"
                : up == least  ? "t - u"
                : of->t < 0    ? "u + s"
                               : "u - t",
                u, "ts", threshold, &base);
    if (of->power > 0)
        sr_put_by(least ? SR_MIN : SR_MAX, 0, &base);
    sr_put_power(operators, &base, of->power > 1 ? 2 : 1, out);
    return of->power == 1 && least;
}

/* Ways of writing a sum: a common weight, which is then the first one's; a constant. */
enum way { COMMON = 1, CONSTANT = 2, CLAMPED = 4 };

/* weight * min(max(u, t), t') + constant, a saturation on both sides. */
static bool put_clamped(const struct hinges *h, const struct sum *sum, struct sr_expr *out)
{
    const uint64_t operators = h->p->operators;
    const struct hinge *a = &sum->of[0], *b = &sum->of[1];
    if (sum->terms < 2 || a->direction != b->direction || a->side != b->side || a->power != 1 ||
        b->power != 1 || !sr_has(operators, SR_MAX) || !sr_has(operators, SR_MIN))
        return false;
    /* between the thresholds the slope is that of the first hinge that opens */
    const double slope = a->side * sum->weight[(a->t < b->t) == (a->side > 0) ? 0 : 1];
    sr_put_text("min(max(u, a), b) * c", &h->direction[a->direction].u, "abc",
                (double[]){fmin(a->t, b->t), fmax(a->t, b->t), slope}, out);
    return true;
}

static bool write_sum(const struct hinges *h, const struct sum *sum, unsigned way,
                      struct sr_expr *out)
{
    struct sr_expr term[2] = {{.count = 0}, {.count = 0}};
    double weight[2] = {sum->weight[0], sum->weight[1]};
    out->count = 0;
    for (int k = 0; k < sum->terms; k++)
        if (put_hinge(h, &sum->of[k], way & CONSTANT, &term[k]))
            weight[k] = -weight[k];
    if (!(way & CLAMPED))
        sr_put_text(sum->terms == 1             ? "u * a"
                    : !(way & COMMON)           ? "u * a + v * b"
                    : weight[0] * weight[1] < 0 ? "(u - v) * a"
                                                : "(u + v) * a",
                    term, "ab", weight, out);
    else if (!put_clamped(h, sum, out))
        return false;
    if (way & CONSTANT)
        sr_put_by(SR_ADD, sum->constant, out);
    return sr_put_end(h->p->settings->language, out, SR_NODES);
}

static void fit_sums(struct hinges *h)
{
    struct sr_proposal *p = h->p;
    const int wanted = sr_proposal_take(p, h->sums * WAYS);
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int k = 0; k < wanted; k++) {
        struct sr_thread *own = &p->thread[omp_get_thread_num()];
        struct sr_expr *expr = &h->expr[k];
        const unsigned way = (unsigned)(k % WAYS);
        h->loss[k] = HUGE_VAL;
        if (orr_signal_seen() || ((way & CLAMPED) && (way & COMMON)) ||
            !write_sum(h, &h->sum[k / WAYS], way, expr) || !sr_proposal_shorten(p, expr))
            continue;
        h->loss[k] = sr_constants_fit(p->loss, expr, true, FIT_STEPS, 0, own->rng, &own->work);
        sr_snap(p->loss, expr, &own->work);
    }
    sr_proposal_add(p, h->expr, h->loss, wanted, SR_SEEDS_PER_SIZE, false);
}

static void scan(struct hinges *h)
{
    list_directions(h);
    offer_all(h, NULL);
    offer_pairs(h);
    for (int k = 0; k < h->singles && !orr_signal_seen(); k++)
        offer_all(h, &h->single[k].of[0]);
    for (int k = 0; k < h->p->loss->data->features && k < COLUMNS && !orr_signal_seen(); k++)
        offer_all(h, &(struct hinge){.direction = k, .side = 1});
    for (int k = 0, alone = 0; k < h->singles && alone < ALONE; k++)
        if (h->single[k].of[0].power) {
            h->sum[h->sums++] = h->single[k];
            alone++;
        }
}

int sr_hinges_find(struct sr_proposal *p)
{
    const struct sr_data *data = p->loss->data;
    struct hinges *h = orr_alloc(1, sizeof *h);
    if (!h)
        return ORR_ENOMEM;
    h->p = p;
    h->powers = 1 + (sr_has(p->operators, SR_SQUARE) || sr_has(p->operators, SR_POW) ||
                     sr_has(p->operators, SR_MUL));
    h->rows = (int)(data->rows < ROWS ? data->rows / 8 * 8 : ROWS);
    for (int i = 0; i < h->rows; i++) {
        h->y[i] = data->y[(size_t)i * data->rows / (size_t)h->rows];
        h->mean += h->y[i] / h->rows;
    }
    for (int i = 0; i < h->rows; i++)
        h->y[i] -= h->mean;
    h->total = sr_dot(h->y, h->y, h->rows);
    scan(h);
    if (h->sums && h->sum[0].left < least_gain * linear_left(h))
        fit_sums(h);
    free(h);
    return 0;
}
