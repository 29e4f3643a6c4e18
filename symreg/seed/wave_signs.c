/* wave_signs.c - finds y = h sin(g) and h cos(g), where h and g are products of powers.
 *
 * Where h has one sign, the signs of y are those of the wave, whatever h is. They find arguments
 * over hundreds of turns, which no gradient and no smooth model of y shows: groups g of powers
 * -1, 0 and 1 of the columns are enumerated, and compared by the share of the signs that they
 * explain, weighted by the root of |y|. The exponents of h are then those of a least-squares fit to
 * ln |y / wave|. */
#include "base/stop.h"
#include "powers.h"
#include "shared.h"
#include "stages.h"

#include <math.h>
#include <stdlib.h>

#include "symreg/value/cholesky.h"

enum {
    ROWS = 256, /* rows at most, those of largest |y| first ... */
    LOOK = 32,  /* ... of which so many decide whether a group is looked at */
    LEAST_ROWS = 64,
    COLUMNS = 9,
    KEPT = 3, /* waves that become formulas */
    FIT_STEPS = 20,
    MOST_HALVES = 8, /* exponents of h, in halves */
};
static const double pi = 3.141592653589793;
/* Standard deviations of random signs: of the first rows, and of all. By chance the best of all
 * groups of 9 columns reaches 5. */
static const double promising = 3, good = 7;
static const double least_sign = 0.05; /* share of the rarer sign */
static const double least_wave = 0.1;  /* |wave| of rows that tell h */

/* sin(turn g) or cos(turn g); score: minus the standard deviations of random signs. */
struct wave {
    double score;
    int sign, turn; /* turn: 1, or 2 for 2 pi */
    enum sr_op op;
    int power[COLUMNS];
};

struct search {
    struct sr_proposal *p;
    int rows, columns, feature[COLUMNS]; /* the positive columns */
    double x[COLUMNS][ROWS], y[ROWS];
    double speaks[ROWS]; /* the root of |y|, with its sign: large y are surer, and not all */
    double deviation, deviation_look; /* of sums of speaks with random signs, of the first rows */
    double group[COLUMNS + 1][ROWS];  /* the product over the columns before */
    int power[COLUMNS], kept;
    struct wave best[KEPT];
};

/* ---- the rows */

static void find_columns(const struct sr_data *data, struct search *s)
{
    for (int f = 0; f < data->features && f < SR_SMOOTH_COLUMNS; f++) {
        bool positive = true;
        for (size_t i = 0; i < data->rows && positive; i++)
            positive = data->x[(size_t)f * data->rows + i] > 0 || !(sr_row_weight(data, i) > 0);
        if (positive && s->columns < COLUMNS)
            s->feature[s->columns] = f;
        s->columns += positive;
    }
    if (s->columns > COLUMNS) /* more than can be enumerated */
        s->columns = 0;
}

/* Takes rows of positive weight evenly, and orders them by falling |y|; none where y has one
 * sign. */
static int take_rows(const struct sr_data *data, struct search *s)
{
    const size_t all = sr_rows_weighted(data), most = all < ROWS ? all : ROWS;
    double size[ROWS], negative = 0, total = 0, square = 0;
    size_t row[ROWS] = {0}, seen = 0;
    for (size_t i = 0; i < data->rows && (size_t)s->rows < most; i++) {
        if (!(sr_row_weight(data, i) > 0) || seen++ != (size_t)s->rows * all / most)
            continue;
        size[s->rows] = -fabs(data->y[i]);
        row[s->rows++] = i;
    }
    size_t *order = sr_order(size, (size_t)s->rows);
    if (!order)
        return ORR_ENOMEM;
    for (int i = 0; i < s->rows; i++) {
        const size_t from = row[order[i]];
        s->y[i] = data->y[from];
        for (int j = 0; j < s->columns; j++)
            s->x[j][i] = data->x[(size_t)s->feature[j] * data->rows + from];
        s->group[0][i] = 1;
        s->speaks[i] = copysign(sqrt(fabs(s->y[i])), s->y[i]);
        total += fabs(s->speaks[i]);
        negative += s->y[i] < 0 ? -s->speaks[i] : 0;
        square += s->speaks[i] * s->speaks[i];
        s->deviation = sqrt(square);
        s->deviation_look = i < LOOK ? s->deviation : s->deviation_look;
    }
    free(order);
    if (!(fmin(negative, total - negative) >= least_sign * total))
        s->rows = 0;
    return 0;
}

/* ---- the groups */

/* The sum of s->speaks times the sign of the wave; that of sin(a) changes at whole a / pi. */
static double agreement(const struct search *s, const double *g, double turns, double shift, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double half = floor(g[i] * turns + shift);
        const double odd = half - 2 * floor(0.5 * half);
        sum += s->speaks[i] * (1 - 2 * odd);
    }
    return sum;
}

static void try_group(struct search *s)
{
    const double *g = s->group[s->columns];
    for (int turn = 1; turn <= 2; turn++)
        for (int cosine = 0; cosine < 2; cosine++) {
            const enum sr_op op = cosine ? SR_COS : SR_SIN;
            const double turns = turn == 1 ? 1 / pi : 2, shift = 0.5 * cosine;
            if (!sr_has(s->p->operators, op) ||
                !(fabs(agreement(s, g, turns, shift, LOOK)) > promising * s->deviation_look))
                continue;
            const double sum = agreement(s, g, turns, shift, s->rows);
            struct wave wave = {.score = -fabs(sum) / s->deviation,
                                .sign = sum < 0 ? -1 : 1,
                                .turn = turn,
                                .op = op};
            for (int j = 0; j < s->columns; j++)
                wave.power[j] = s->power[j];
            if (wave.score <= -good)
                sr_best_insert(s->best, sizeof wave, &s->kept, KEPT, &wave);
        }
}

/* All groups with the given powers of the first columns. */
static void try_groups(struct search *s, int column)
{
    static const int power[] = {0, 1, -1};
    if (column == s->columns) {
        try_group(s);
        return;
    }
    const double *before = s->group[column], *x = s->x[column];
    double *after = s->group[column + 1];
    for (int k = 0; k < 3 && !orr_time_over(); k++) {
        s->power[column] = power[k];
        for (int i = 0; i < s->rows; i++)
            after[i] = power[k] == 0  ? before[i]
                       : power[k] > 0 ? before[i] * x[i]
                                      : before[i] / x[i];
        try_groups(s, column + 1);
    }
}

/* ---- the formulas */

/* Exponents of h by least squares of ln |y / wave|; rows weigh y^2, as their logarithms have a
 * variance in proportion to 1 / y^2. False where the columns do not determine them. */
static bool fit_exponents(const struct search *s, const struct wave *wave, struct sr_powers *h)
{
    enum { N = COLUMNS + 1 };
    const size_t n = (size_t)s->columns + 1;
    double normal[N * N] = {0}, right[N] = {0};
    for (int i = 0; i < s->rows; i++) {
        double g = wave->turn == 1 ? 1 : 2 * pi, row[N] = {1};
        for (int j = 0; j < s->columns; j++) {
            g *= orr_pow(s->x[j][i], wave->power[j]);
            row[j + 1] = orr_log(s->x[j][i]);
        }
        const double value = wave->sign * sr_op(NULL, (int)wave->op)->value(g, 0);
        if (fabs(value) < least_wave || !(s->y[i] * value > 0))
            continue;
        const double z = orr_log(s->y[i] / value), weight = s->y[i] * s->y[i];
        sr_normal_add(normal, N, right, n, row, weight, z);
    }
    if (!sr_normal_solve(normal, N, right, n, 1e-10))
        return false;
    *h = (struct sr_powers){{0}};
    for (int j = 0; j < s->columns; j++) {
        const double half = nearbyint(2 * right[j + 1]);
        if (!(fabs(half) <= MOST_HALVES))
            return false;
        h->half[s->feature[j]] = (int)half;
    }
    return true;
}

/* h wave(g), without a factor. */
static bool write_wave(const struct search *s, const struct wave *wave, struct sr_expr *out)
{
    const struct sr_proposal *p = s->p;
    const struct sr_language *language = p->settings->language;
    struct sr_powers h, g = {{0}};
    struct sr_expr group;
    for (int j = 0; j < s->columns; j++)
        g.half[s->feature[j]] = 2 * wave->power[j];
    if (!fit_exponents(s, wave, &h) || !sr_powers_write(language, p->operators, &h, out) ||
        !sr_powers_write(language, p->operators, &g, &group) || !group.count)
        return false;
    const bool alone = out->count == 0;
    sr_put_expr(out, &group);
    if (wave->turn == 2)
        sr_put_by(SR_MUL, 2 * pi, out);
    sr_put_op(out, wave->op);
    if (!alone)
        sr_put_op(out, SR_MUL);
    return sr_put_end(language, out, SR_NODES) && sr_proposal_shorten(p, out);
}

static void add_seeds(struct search *s)
{
    struct sr_expr expr[KEPT];
    double order[KEPT];
    int count = 0;
    const int before = s->p->seeds->count;
    for (int k = 0; k < s->kept; k++)
        if (write_wave(s, &s->best[k], &expr[count]))
            order[count++] = k;
    if (sr_proposal_take(s->p, count) < count)
        return;
    sr_proposal_add(s->p, expr, order, count, KEPT, false);
    sr_proposal_fit(s->p, before, FIT_STEPS);
}

int sr_signs_find(struct sr_proposal *p)
{
    const struct sr_data *data = p->loss->data;
    if (sr_rows_weighted(data) < LEAST_ROWS)
        return 0;
    struct search *s = orr_alloc(1, sizeof *s);
    if (!s)
        return ORR_ENOMEM;
    s->p = p;
    find_columns(data, s);
    const int rc = s->columns > 1 ? take_rows(data, s) : 0;
    if (!rc && s->rows)
        try_groups(s, 0);
    if (s->kept)
        add_seeds(s);
    free(s);
    return rc;
}
