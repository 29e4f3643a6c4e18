/* powers.c - fits y = H(sum of up to three products of powers), of which some may be small.
 *
 * A sum begins with the product nearest to z = H^-1(y) and grows by one term at a time. A constant
 * and exponents that are fitted to the first terms alone also take part of the next one. So
 * candidates of the next term are compared after projection on the terms and on their slopes by
 * the exponents: what is left is new to first order. The best are then fitted with all terms
 * together (powers_fit.c), and the formulas to the whole table. Tables of few columns are searched
 * again with the cosine, and with the sine, of each column that may be an angle in radians (laws of
 * cosines). */
#include "base/stop.h"
#include "powers.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

enum {
    ROWS = SR_POWER_ROWS,
    COLUMNS = SR_POWER_COLUMNS,
    TERMS = SR_POWER_TERMS,
    LEAST_ROWS = SR_ROWS,
    TARGETS = 48,   /* H with weights of the rows: 26, and FREED of each kind in every round */
    RATED = 24,     /* candidates of a next term that are compared with each other ... */
    CANDIDATES = 3, /* ... and that are fitted */
    FIRST = 2,      /* products from the grid that begin a sum, beside the nearest to z */
    GROWN = 4,      /* sums of each kind of weights, for many columns, that get another term */
    FINISHED = 6,   /* ... that become formulas */
    STEPS = 40,     /* of a fit with a new term */
    LAST_STEPS = 60,
    FREED = 4,        /* sums of each kind of weights whose outer power is searched */
    POWER_STEPS = 20, /* golden sections of an interval of powers ... */
    REFIT_STEPS = 15, /* ... and steps of a fit at each */
    FIT_STEPS = 20,   /* on the whole table */
    MANY = 5,         /* with more columns fewer starts are tried */
    VARIANTS = 2,     /* exponents as fitted, and rounded */
    FEW = 4,          /* columns, at most, of a table with angles */
};
static const double promising = 0.5; /* rest */

/* The weights of rows are those of the loss, or all deviations are relative to y. */
struct target {
    struct sr_power_outer outer;
    bool relative;
    struct sr_power_table table;
    double z[ROWS], weight[ROWS];
    struct sr_power_sum sum; /* the best; terms 0 and an infinite rest: none */
};

/* ---- the rows */

static const double grid[] = {1, -1, 2, -2, 0.5, -0.5, 3, -3};
enum { GRID = sizeof grid / sizeof *grid, SIMPLE = 4, SIMPLEST = 2 };

struct columns {
    int rows, count; /* rows: a multiple of 8, of which the last may have no weight */
    int used;
    unsigned whole; /* columns with negative values and waves, one bit each: whole exponents */
    struct sr_expr of[COLUMNS]; /* as formulas: a feature or its cosine or sine */
    size_t row[ROWS];
    double y[ROWS], typical;
    double log[COLUMNS][ROWS], sign[COLUMNS][ROWS], power[COLUMNS][GRID][ROWS];
};

/* Rows at even quantiles of y, without those where a feature is 0. */
static int take_rows(const struct sr_data *data, struct columns *c)
{
    size_t *order = sr_order(data->y, data->rows), n = 0;
    if (!order)
        return ORR_ENOMEM;
    for (size_t k = 0; k < data->rows; k++) {
        bool zero = false;
        for (int j = 0; j < data->features; j++)
            zero = zero || data->x[(size_t)j * data->rows + order[k]] == 0;
        if (!zero)
            order[n++] = order[k];
    }
    const size_t used = n < ROWS ? n : ROWS;
    for (size_t k = 0; k < used; k++)
        c->row[k] = order[(2 * k + 1) * n / (2 * used)];
    c->used = (int)used;
    c->rows = (c->used + 7) / 8 * 8;
    free(order);
    for (int i = 0; i < c->used; i++) {
        c->y[i] = data->y[c->row[i]];
        c->typical += fabs(c->y[i]) / c->used;
    }
    return 0;
}

/* Reads the features; of number `angle`, where it is not negative, the cosine or sine, which has
 * whole exponents. */
static void read_columns(const struct sr_data *data, int angle, enum sr_op wave, struct columns *c)
{
    c->count = data->features;
    c->whole = angle < 0 ? 0 : 1U << angle;
    for (int j = 0; j < c->count; j++) {
        c->of[j] = (struct sr_expr){.count = 1, .node = {sr_feature_node(j)}};
        if (j == angle)
            sr_put_op(&c->of[j], wave);
        for (int i = 0; i < c->rows; i++) {
            double x = i < c->used ? data->x[(size_t)j * data->rows + c->row[i]] : 1;
            if (j == angle && i < c->used)
                x = sr_op_table[wave].value(x, 0);
            c->whole |= x < 0 ? 1U << j : 0;
            c->sign[j][i] = copysign(1, x);
            c->log[j][i] = sr_op_table[SR_LOG].value(fabs(x), 0);
            for (int g = 0; g < GRID; g++) {
                const double v = sr_op_table[SR_POW].value(fabs(x), grid[g]);
                c->power[j][g][i] = fmod(grid[g], 2) != 0 ? v * c->sign[j][i] : v;
            }
        }
    }
}

/* ---- targets z = H^-1(y) */

/* z and |dy / dz|; false where y has no inverse. */
static bool invert_outer(struct sr_power_outer outer, double y, double least, double *z,
                         double *slope)
{
    const double size = fmax(fabs(y), least);
    if (outer.op == SR_CONSTANT && (outer.power == 1 || outer.power == -1)) {
        *z = outer.power > 0 ? y : 1 / y;
        *slope = outer.power > 0 ? 1 : size * size;
    } else if (outer.op == SR_CONSTANT) {
        *z = sr_op_table[SR_POW].value(y, 1 / outer.power);
        *slope = fabs(outer.power) * sr_op_table[SR_POW].value(size, 1 - 1 / outer.power);
        return y > 0 && isfinite(*z);
    } else if (outer.op == SR_EXP) {
        *z = sr_op_table[SR_LOG].value(y, 0);
        *slope = size;
        return y > 0;
    } else {
        *z = sr_op_table[SR_EXP].value(y, 0);
        *slope = 1 / *z;
    }
    return isfinite(*z) && isfinite(*slope);
}

/* False where more than a hundredth of the squares of y has no inverse. */
static bool make_target(const struct sr_loss *loss, const struct columns *c, struct target *t)
{
    const double least = 1e-3 * c->typical;
    double all = 0, lost = 0, most = 0, slope;
    for (int i = 0; i < c->used; i++) {
        const double size = fmax(fabs(c->y[i]), least);
        double w = sqrt(sr_row_weight(loss->data, c->row[i]));
        w /= t->relative || loss->kind == ORR_SR_RELATIVE ? size : 1;
        all += w * c->y[i] * w * c->y[i];
        if (invert_outer(t->outer, c->y[i], least, &t->z[i], &slope)) {
            t->weight[i] = w * slope;
        } else {
            lost += w * c->y[i] * w * c->y[i];
            t->z[i] = t->weight[i] = 0;
        }
        most = fmax(most, t->weight[i]);
    }
    for (int i = 0; i < c->used; i++)
        t->weight[i] /= most;
    t->table = (struct sr_power_table){.rows = c->rows,
                                       .columns = c->count,
                                       .log = c->log[0],
                                       .sign = c->sign[0],
                                       .negative = c->whole,
                                       .z = t->z,
                                       .weight = t->weight,
                                       /* a product before exp: a constant and the logarithms */
                                       .extras = t->outer.op == SR_EXP ? 1 + c->count : 0};
    return most > 0 && isfinite(most) && lost <= 0.01 * all && !(t->outer.op == SR_EXP && c->whole);
}

static int list_targets(const struct sr_proposal *p, const struct columns *c,
                        struct target list[TARGETS])
{
    static const struct {
        enum sr_op op; /* needed: this operator, or ^ for a power */
        struct sr_power_outer outer;
    } all[] = {{SR_ADD, {SR_CONSTANT, 1}},       {SR_EXP, {SR_EXP, 1}},
               {SR_INV, {SR_CONSTANT, -1}},      {SR_SQUARE, {SR_CONSTANT, 2}},
               {SR_SQRT, {SR_CONSTANT, 0.5}},    {SR_LOG, {SR_LOG, 1}},
               {SR_POW, {SR_CONSTANT, 1.5}},     {SR_POW, {SR_CONSTANT, 3}},
               {SR_POW, {SR_CONSTANT, -0.5}},    {SR_POW, {SR_CONSTANT, -2}},
               {SR_POW, {SR_CONSTANT, 1.0 / 3}}, {SR_POW, {SR_CONSTANT, 2.0 / 3}},
               {SR_POW, {SR_CONSTANT, -1.5}}};
    int n = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int relative = 0; relative < 2; relative++) {
            const bool power = all[k].outer.op == SR_CONSTANT && sr_has(p->operators, SR_POW);
            if (!sr_has(p->operators, all[k].op) && !power)
                continue;
            list[n].outer = all[k].outer;
            list[n].relative = relative;
            n += make_target(p->loss, c, &list[n]);
        }
    return n;
}

/* ---- the next term */

struct rated {
    double score; /* of the residual, minus the share that the candidate explains */
    double exponent[COLUMNS];
};
struct screen {
    const struct columns *columns;
    const struct sr_power_table *table;
    struct sr_power_work *work;
    int basis, count;
    int most[TERMS]; /* values of the grid for the factors of a candidate */
    double exponent[COLUMNS];
    struct rated best[RATED];
};

static void rate_candidate(struct screen *s, const double *value)
{
    const int n = s->table->rows;
    const double all = sr_dot(value, value, n), with = sr_dot(value, s->work->residual, n);
    double own = all;
    for (int k = 0; k < s->basis; k++) {
        const double share = sr_dot(s->work->q[k], value, n);
        own -= share * share;
    }
    struct rated item = {.score = -with * with / own};
    memcpy(item.exponent, s->exponent, sizeof item.exponent);
    if (own > 1e-9 * all && isfinite(item.score))
        sr_best_insert(s->best, sizeof item, &s->count, RATED, &item);
}

/* Rates the products of a value and powers of columns from number `first` on. */
static void rate_products(struct screen *s, int first, int depth, const double *value)
{
    const struct columns *c = s->columns;
    double product[ROWS];
    for (int j = first; j < c->count; j++)
        for (int g = 0; g < s->most[depth]; g++) {
            if ((c->whole >> j & 1) && fmod(grid[g], 1) != 0)
                continue;
            for (int i = 0; i < c->rows; i++)
                product[i] = value[i] * c->power[j][g][i];
            s->exponent[j] += grid[g];
            rate_candidate(s, product);
            if (depth + 1 < TERMS && g < s->most[depth + 1])
                rate_products(s, j + 1, depth + 1, product);
            s->exponent[j] -= grid[g];
        }
}

/* Lists candidates of the next term, which differ from each other; returns how many. */
static int next_terms(const struct columns *c, const struct target *t, struct sr_power_sum *sum,
                      struct sr_power_work *w, int wanted, struct rated *chosen)
{
    struct screen s = {.columns = c, .table = &t->table, .work = w, .most = {GRID, GRID, SIMPLEST}};
    const size_t bytes = (size_t)c->rows * sizeof(double);
    int n = 0;
    if (!sr_power_weigh(&t->table, sum, w))
        return 0;
    sr_power_slopes(&t->table, sum, w);
    s.basis = w->basis;
    for (int k = 0; k < w->free; k++) {
        memcpy(w->q[s.basis], w->slope[k], bytes);
        s.basis += sr_orthogonalise(w->q[s.basis], w->q[0], s.basis, ROWS, c->rows, 1e-9, NULL);
    }
    rate_candidate(&s, t->weight);
    rate_products(&s, 0, 0, t->weight);
    s.most[0] = s.most[1] = SIMPLE;
    s.most[2] = 0;
    for (int i = 0; i < sum->terms; i++) { /* terms often share factors */
        memcpy(s.exponent, sum->exponent[i], sizeof s.exponent);
        rate_products(&s, 0, 0, w->term[i]);
    }
    for (int k = 0; k < s.count && n < wanted; k++) {
        bool close = false;
        for (int i = 0; i < n && !close; i++) {
            double distance = 0;
            for (int j = 0; j < c->count; j++)
                distance += fabs(s.best[k].exponent[j] - chosen[i].exponent[j]);
            close = distance < 1;
        }
        if (!close)
            chosen[n++] = s.best[k];
    }
    return n;
}

/* Appends each candidate of the next term to a sum and fits it. *best is replaced where that is
 * better. */
static void grow_sum(const struct columns *c, const struct target *t,
                     const struct sr_power_sum *from, struct sr_power_work *w,
                     struct sr_power_sum *best)
{
    struct rated candidate[CANDIDATES];
    struct sr_power_sum sum = *from;
    const int n = next_terms(c, t, &sum, w, CANDIDATES, candidate);
    for (int k = 0; k < n && !orr_signal_seen(); k++) {
        sum = *from;
        memcpy(sum.exponent[sum.terms++], candidate[k].exponent, sizeof candidate[k].exponent);
        sr_power_fit(&t->table, STEPS, &sum, w);
        if (sum.rest < best->rest)
            *best = sum;
    }
}

/* The product of powers nearest to |z|, by its logarithm. */
static bool nearest_product(const struct columns *c, const struct target *t,
                            struct sr_power_work *w, struct sr_power_sum *sum)
{
    double log[ROWS] = {0}, weight[ROWS] = {0};
    struct sr_power_sum line = {.terms = 0};
    for (int i = 0; i < c->used; i++)
        if (t->z[i] != 0 && t->weight[i] > 0) {
            log[i] = sr_op_table[SR_LOG].value(fabs(t->z[i]), 0);
            weight[i] = t->weight[i] * fabs(t->z[i]);
        }
    struct sr_power_table logs = t->table;
    logs.z = log;
    logs.weight = weight;
    logs.extras = 1 + c->count;
    if (!sr_power_weigh(&logs, &line, w))
        return false;
    *sum = (struct sr_power_sum){.terms = 1};
    for (int j = 0; j < c->count; j++) {
        const double e = line.weight[1 + j];
        const double within = fmax(-6, fmin(6, e));
        const bool wave = c->of[j].count > 1; /* factors of later terms */
        sum->exponent[0][j] = wave ? 0 : c->whole >> j & 1 ? nearbyint(within) : within;
    }
    sr_power_fit(&t->table, STEPS, sum, w);
    return true;
}

/* Fits a sum of two products, or of one within exp. */
static void begin_sum(const struct columns *c, struct target *t, struct sr_power_work *w)
{
    const bool one = t->outer.op == SR_CONSTANT && t->outer.power == 1;
    struct sr_power_sum none = {.terms = 0}, start[1 + FIRST] = {{.rest = HUGE_VAL}};
    struct rated first[FIRST];
    t->sum = (struct sr_power_sum){.rest = HUGE_VAL};
    if (t->outer.op == SR_EXP) {
        grow_sum(c, t, &none, w, &t->sum);
        return;
    }
    int n = nearest_product(c, t, w, &start[0]);
    if (n && (one || start[0].rest <= 1e-20))
        t->sum = start[0];
    if (t->sum.rest <= 1e-20)
        return;
    const int firsts = c->count > MANY && !one ? 0 : next_terms(c, t, &none, w, FIRST, first);
    for (int k = 0; k < firsts; k++, n++) {
        start[n] = (struct sr_power_sum){.terms = 1};
        memcpy(start[n].exponent[0], first[k].exponent, sizeof first[k].exponent);
    }
    for (int k = 0; k < n && !orr_signal_seen(); k++)
        grow_sum(c, t, &start[k], w, &t->sum);
}

/* The target with another outer power and the sum refitted to it. */
static struct target at_power(const struct sr_loss *loss, const struct columns *c,
                              const struct target *from, double power, struct sr_power_work *w)
{
    struct target t = *from;
    t.outer.power = power;
    for (int i = 0; i < t.sum.terms; i++)
        for (int j = 0; j < c->count; j++)
            if (!(c->whole >> j & 1))
                t.sum.exponent[i][j] *= from->outer.power / power;
    if (make_target(loss, c, &t))
        sr_power_fit(&t.table, REFIT_STEPS, &t.sum, w);
    else
        t.sum.rest = HUGE_VAL;
    return t;
}

/* Searches the outer power around its value on the list, by golden sections of its logarithm. */
static void free_power(const struct sr_loss *loss, const struct columns *c, struct target *best,
                       struct sr_power_work *w)
{
    static const double golden = 0.6180339887498949, widest = 0.35;
    double (*const exponential)(double, double) = sr_op_table[SR_EXP].value;
    const struct target from = *best;
    double low = -widest, high = widest, rest[2] = {0};
    for (int step = -2; step < POWER_STEPS && !orr_signal_seen(); step++) {
        /* the first two steps try both inner points, the others the one that is new */
        const bool left = step < 0 ? step == -2 : rest[0] < rest[1];
        const double cut = step < 0 ? 0 : (1 - golden) * (high - low);
        high -= left ? cut : 0;
        low += left ? 0 : cut;
        if (step >= 0)
            rest[left] = rest[!left];
        const double at = left ? high - golden * (high - low) : low + golden * (high - low);
        const struct target t = at_power(loss, c, &from, from.outer.power * exponential(at, 0), w);
        rest[!left] = t.sum.rest;
        if (t.sum.rest < best->sum.rest)
            *best = t;
    }
    best->table.z = best->z;
    best->table.weight = best->weight;
}

/* ---- formulas */

/* Writes a sum with its exponents as fitted and rounded, and fits the formulas to all rows. */
static void finish_sum(const struct sr_proposal *p, const struct columns *columns, struct target *t,
                       struct sr_power_work *w, struct sr_expr expr[VARIANTS],
                       double loss[VARIANTS])
{
    struct sr_thread *own = &p->thread[omp_get_thread_num()];
    struct sr_power_sum sum = t->sum;
    sr_power_fit(&t->table, LAST_STEPS, &sum, w);
    for (int v = 0; v < VARIANTS && isfinite(sum.rest); v++) {
        if (v)
            sr_power_round(&t->table, &sum, w);
        if (sr_powers_put(p, columns->of, columns->count, &t->outer, &sum, &expr[v]))
            loss[v] = sr_constants_fit(p->loss, &expr[v], true, FIT_STEPS, 0, own->rng, &own->work);
    }
}

/* ---- the stage */

struct stage {
    struct columns columns;
    int targets;
    struct target target[TARGETS];
    struct sr_expr expr[TARGETS * VARIANTS];
    double loss[TARGETS * VARIANTS];
    struct sr_power_work *work; /* (threads) */
};

/* Numbers of the best targets of each kind of weights. */
static int best_targets(const struct stage *s, int most, int *list)
{
    double rest[TARGETS];
    int n = 0;
    for (int relative = 0; relative < 2; relative++) {
        int count = 0;
        for (int k = 0; k < s->targets; k++) {
            rest[k] = s->target[k].sum.rest;
            if (s->target[k].relative == relative && rest[k] < promising)
                sr_best_number(rest, k, &count, most, list + n);
        }
        n += count;
    }
    return n;
}

static void finish_best(struct sr_proposal *p, struct stage *s, int most)
{
    int list[TARGETS];
    const int n = sr_proposal_take(p, best_targets(s, most, list) * VARIANTS) / VARIANTS;
    sr_fill(s->loss, TARGETS * VARIANTS, HUGE_VAL);
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int k = 0; k < n; k++)
        if (!orr_signal_seen())
            finish_sum(p, &s->columns, &s->target[list[k]], &s->work[omp_get_thread_num()],
                       s->expr + (size_t)k * VARIANTS, s->loss + (size_t)k * VARIANTS);
    sr_proposal_add(p, s->expr, s->loss, n * VARIANTS, n * VARIANTS, false);
}

/* Adds the best sums under a power with other powers. */
static void free_best(struct sr_proposal *p, struct stage *s)
{
    int list[TARGETS];
    const int n = best_targets(s, FREED, list);
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int k = 0; k < n; k++) {
        struct target *t = &s->target[s->targets + k];
        *t = s->target[list[k]];
        t->table.z = t->z;
        t->table.weight = t->weight;
        if (t->outer.op == SR_CONSTANT && t->sum.terms > 1 && !sr_proposal_over(p))
            free_power(p->loss, &s->columns, t, &s->work[omp_get_thread_num()]);
        else
            t->sum.rest = HUGE_VAL;
    }
    s->targets += n;
}

/* Gives the best sums another term. */
static void grow_best(struct sr_proposal *p, struct stage *s)
{
    int list[TARGETS];
    const int n = best_targets(s, s->columns.count > MANY ? GROWN : TARGETS, list);
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int k = 0; k < n; k++) {
        struct target *t = &s->target[list[k]];
        const struct sr_power_sum from = t->sum;
        if (from.terms < TERMS && !sr_proposal_over(p))
            grow_sum(&s->columns, t, &from, &s->work[omp_get_thread_num()], &t->sum);
    }
}

static void search_columns(struct sr_proposal *p, int angle, enum sr_op wave, struct stage *s)
{
    enum { ROUNDS = 2 };
    read_columns(p->loss->data, angle, wave, &s->columns);
    s->targets = list_targets(p, &s->columns, s->target);
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int k = 0; k < s->targets; k++) {
        s->target[k].sum.rest = HUGE_VAL;
        if (!sr_proposal_over(p))
            begin_sum(&s->columns, &s->target[k], &s->work[omp_get_thread_num()]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (round && !sr_proposal_over(p))
            grow_best(p, s);
        finish_best(p, s, FINISHED);
        if (sr_proposal_over(p))
            return;
        if (sr_has(p->operators, SR_POW))
            free_best(p, s);
        finish_best(p, s, FREED);
    }
}

/* Whether a feature may be an angle in radians: a number, if units are known, over a range that is
 * neither small nor that of a sine. */
static bool may_be_angle(const struct sr_proposal *p, int feature)
{
    const struct sr_units *units = p->settings->units;
    const size_t rows = p->loss->data->rows;
    const double *x = p->loss->data->x + (size_t)feature * rows;
    return (!units || sr_dimension_is_none(&units->feature[feature])) &&
           sr_range_within(x, rows, -6.4, 6.4) >= 0.5 && sr_range_within(x, rows, -1, 1) < 0;
}

/* Tables of few columns with the cosine or sine of an angle, one after the other. */
static void search_angles(struct sr_proposal *p, struct stage *s)
{
    static const enum sr_op wave[] = {SR_COS, SR_SIN};
    const int features = p->loss->data->features;
    for (int f = 0; f < features && features <= FEW; f++)
        for (size_t k = 0; k < sizeof wave / sizeof *wave; k++)
            if (sr_has(p->operators, wave[k]) && may_be_angle(p, f) && !sr_proposal_over(p))
                search_columns(p, f, wave[k], s);
}

int sr_powers_find(struct sr_proposal *p)
{
    const struct sr_data *data = p->loss->data;
    struct stage *s = orr_alloc(1, sizeof *s);
    struct sr_power_work *work = orr_alloc((size_t)p->threads, sizeof *work);
    const int rc = s && work ? take_rows(data, &s->columns) : ORR_ENOMEM;
    if (!rc && s->columns.used >= LEAST_ROWS) {
        s->work = work;
        search_columns(p, -1, SR_FEATURE, s);
        search_angles(p, s);
    }
    free(s);
    free(work);
    return rc;
}
