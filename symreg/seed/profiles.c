/* profiles.c - shapes of one column whose origin, width or period is unknown.
 *
 * (t - t0)^-1.2 has a value in no row for most t0, a dip of an hour is seen by no fit that starts
 * beside it, and no derivative leads to the period of a sawtooth. So these numbers are scanned; the
 * others, which the target depends on linearly, follow by least squares. The best of each shape are
 * fitted to all rows. */
#include "stages.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/stop.h"
#include "shared.h"

enum {
    ROWS = 256,      /* of the scan, evenly spaced, at most */
    BASES = 3,       /* without a constant, with one, with a slope */
    KEPT = 3,        /* of each shape, base, and with c or without */
    MOST = 48,       /* of all */
    ORIGINS = 18,    /* of a power, on each side */
    POSITIONS = 32,  /* of a step, dip or box */
    WIDTHS = 7,      /* by factors of 2 */
    PHASES = 16,     /* of a sawtooth */
    OVERSAMPLED = 8, /* frequencies of a sawtooth to one turn of the rows */
    LONGEST = 14,    /* steps of the longest week */
    FIT_STEPS = 60,
    RATES_ROWS = 40 /* from which on rates.c finds logistic curves */
};
/* A shape counts where it leaves at most this share of what a line leaves. */
static const double least_gain = 0.5;
static const double powers[] = {-4, -3, -2.5, -2, -1.5, -1, -0.7, -0.4, 0.4, 0.7, 1.5, 2.5};
enum { POWERS = sizeof powers / sizeof *powers };

enum shape {
    POWER, /* |x - c|^p, c outside of the rows: a decay from an unknown start */
    CLIP,  /* min(|x - c|^p, w), a plateau before a decay */
    STEP,  /* 1 / (1 + exp((x - c) / s)), a logistic curve */
    FLAT,  /* 1 / (1 + ((x - c) / s)^4), a line or dip with a flat bottom */
    BOX,   /* 1 / (1 + exp((|x - c| - w) / s)), or of squares: a box of smooth edges */
    SAW,   /* mod(x - c, p), a sawtooth */
    DAYS,  /* greater(mod(x - c, p), w), some days of a week */
    SHAPES
};

/* y = weight g(x) + slope x + constant; slope and constant where `base` says so. */
struct profile {
    double left; /* squared residuals as a share; comes first (sr_best_insert()) */
    enum shape shape;
    int column, base; /* 0: g alone, 1: with a constant, 2: and with a slope */
    int side;         /* of a power: 1 where c is below the rows, -1 where above */
    double c, s, w, p;
    double weight, slope, constant;
};

struct scan {
    struct sr_proposal *p;
    int rows, taken, column;       /* rows: `taken`, and empty ones up to a multiple of 8 */
    double low, high, range, step; /* of the column; step: of an even grid, else 0 */
    double sorted[ROWS];
    double x[ROWS], y[ROWS], root[ROWS];   /* root: of the weights; 0 beyond the rows */
    double basis[BASES - 1][ROWS];         /* orthonormal: of root, and of root x */
    double rest[BASES][ROWS], size[BASES]; /* root y without them, and its squares */
    int count;
    struct profile best[MOST];
};

/* ---- formulas */

/* v is the column x and u its distance x - c, or c - x. Numbers are weight, c, s, w, p, and
 * products of these: e = weight p, i = 1 / p, f = s^4, g = weight s^4, q = w^2, r = 2 w s. */
static const char letters[] = "acswpeifgqr";
/* Of a shape the first is written whose operators are allowed. Of 1 / (1 + (u / s)^4) s^4 is one
 * constant; a number p has fewer digits than 1 / p. */
static const struct {
    enum shape shape;
    const char *text;
} texts[] = {
    {POWER, "a * u ^ p"},
    {POWER, "a * exp(p * log(u))"},
    {CLIP, "a * min(u ^ p, w)"},
    {CLIP, "a * min(exp(p * log(u)), w)"},
    {STEP, "a / (exp(u / s) + 1)"},
    {FLAT, "g / (square(square(u)) + f)"},
    {BOX, "a / (exp((abs(u) - w) / s) + 1)"},
    {BOX, "a / (exp((square(u) - q) / r) + 1)"},
    {SAW, "mod(u, p) * a"},
    {SAW, "v * a - floor(u / p) * e"}, /* its weight c is one of the constant */
    {SAW, "v * a - floor(u * i) * e"},
    {DAYS, "greater(mod(u, p), w) * a"},
};

static const char *text_of(uint64_t operators, enum shape shape)
{
    for (size_t k = 0; k < sizeof texts / sizeof *texts && sr_has(operators, SR_SUB); k++)
        if (texts[k].shape == shape && !(sr_text_operators(texts[k].text, letters) & ~operators))
            return texts[k].text;
    return NULL;
}

static bool write_profile(const struct sr_proposal *p, const struct profile *f, struct sr_expr *out)
{
    const double a = f->weight, c = f->c, s = f->s, w = f->w;
    const double number[] = {
        a, c, s, w, f->p, a * f->p, 1 / f->p, s * s * s * s, a * (s * s * s * s), w * w, 2 * w * s};
    struct sr_expr u[2] = {{.count = 0}, {.count = 1, .node = {sr_feature_node(f->column)}}};
    sr_put_text(f->side < 0 ? "c - v" : c != 0 ? "v - c" : "v", u, letters, number, &u[0]);
    out->count = 0;
    sr_put_text(text_of(p->operators, f->shape), u, letters, number, out);
    if (f->base > 1) {
        sr_put_text("v * k", u, "k", &f->slope, out);
        sr_put_op(out, SR_ADD);
    }
    if (f->base > 0)
        sr_put_by(SR_ADD, f->constant, out);
    return sr_put_end(p->settings->language, out, SR_NODES);
}

/* ---- values and weights */

static double step_of(double u)
{
    return u > 0 ? 1 - 1 / (1 + orr_exp(-u)) : 1 / (1 + orr_exp(u));
}

static double value_of(const struct profile *f, double x)
{
    const double u = x - f->c, q = u / f->s;
    switch (f->shape) {
    case POWER:
        return orr_exp(f->p * orr_log(fabs(u)));
    case CLIP:
        return fmin(orr_exp(f->p * orr_log(fabs(u))), f->w);
    case STEP:
        return step_of(q);
    case FLAT:
        return 1 / (1 + q * q * q * q);
    case BOX:
        return step_of((fabs(u) - f->w) / f->s);
    case SAW:
        return u - f->p * floor(u / f->p);
    default:
        return u - f->p * floor(u / f->p) > f->w;
    }
}

/* The values of a profile, times the roots of the weights; false where it has none. */
static bool fill_values(const struct scan *s, const struct profile *f, double v[ROWS])
{
    if (f->side && !(f->side > 0 ? f->c < s->low : f->c > s->high))
        return false;
    for (int i = 0; i < s->rows; i++)
        v[i] = s->root[i] != 0 ? s->root[i] * value_of(f, s->x[i]) : 0;
    return true;
}

/* Sets weight and left of a profile by its values without those of its base; false where it
 * explains too little. */
static bool weigh_values(const struct scan *s, const double v[ROWS], struct profile *f)
{
    const double vv = sr_dot(v, v, s->rows), vy = sr_dot(v, s->rest[f->base], s->rows);
    f->weight = vy / vv;
    f->left = (s->size[f->base] - vy * f->weight) / s->size[BASES - 1];
    return vv > 0 && isfinite(f->left) && f->left < least_gain;
}

static bool weigh(const struct scan *s, struct profile *f)
{
    double v[ROWS];
    if (!fill_values(s, f, v))
        return false;
    for (int b = 0; b < f->base; b++)
        sr_remove(v, s->basis[b], s->rows);
    return weigh_values(s, v, f);
}

/* Keeps a profile among the best of its shape and base. */
static void keep(struct scan *s, const struct profile *f)
{
    int worst = -1, alike = 0;
    for (int k = 0; k < s->count; k++)
        if (s->best[k].shape == f->shape && s->best[k].base == f->base &&
            (s->best[k].c == 0) == (f->c == 0)) {
            alike++;
            if (worst < 0 || s->best[k].left > s->best[worst].left)
                worst = k;
        }
    if (alike < KEPT && s->count < MOST)
        s->best[s->count++] = *f;
    else if (worst >= 0 && f->left < s->best[worst].left)
        s->best[worst] = *f;
}

/* Keeps a profile of the column with each of two bases; the first two, or of sawteeth the last. */
static void offer(struct scan *s, struct profile f)
{
    const int least = f.shape >= SAW, most = least + 1;
    double v[ROWS];
    if (!fill_values(s, &f, v))
        return;
    for (f.base = 0; f.base <= most; f.base++) {
        if (f.base > 0)
            sr_remove(v, s->basis[f.base - 1], s->rows);
        if (f.base >= least && weigh_values(s, v, &f))
            keep(s, &f);
    }
}

/* ---- scans */

/* Moves two numbers of a profile by steps that shrink, while that helps. */
static void move(const struct scan *s, struct profile *f, double *a, double by_a, double *b,
                 double by_b)
{
    enum { SHRINKS = 30 };
    for (int k = 0; k < SHRINKS; k++, by_a *= 0.7, by_b *= 0.7)
        for (int way = 0; way < 4; way++) {
            const struct profile before = *f;
            double *const moved = way < 2 ? a : b;
            *moved += (way % 2 ? 1 : -1) * (way < 2 ? by_a : by_b);
            if (!weigh(s, f) || !(f->left < before.left))
                *f = before;
        }
}

/* c outside of the rows, by eight ranges or less; of plateaus below them, before decays that begin
 * in some row. */
static void scan_powers(struct scan *s, struct profile f)
{
    enum { BREAKS = 10, STRIDE = 2 };
    for (int k = 0; k < ORIGINS; k += f.shape == CLIP ? STRIDE : 1)
        for (int j = 0; j < 2 * POWERS; j++) {
            const double off = s->range * ldexp(8, -k);
            f.side = j % 2 ? -1 : 1;
            f.c = f.side > 0 ? s->low - off : s->high + off;
            f.p = powers[j / 2];
            if (f.shape == POWER)
                offer(s, f);
            for (int b = 1; b < BREAKS && f.shape == CLIP && f.side > 0 && f.p < 0; b++) {
                f.w = HUGE_VAL;
                f.w = value_of(&f, s->sorted[b * (s->taken - 1) / BREAKS]);
                offer(s, f);
            }
        }
}

/* Steps up and down, also somewhat outside of the rows; dips; boxes of two edges. */
static void scan_places(struct scan *s, struct profile f)
{
    static const double edge[SHAPES][2] = {[STEP] = {1, -1}, [FLAT] = {1}, [BOX] = {0.2, 0.05}};
    const int edges = f.shape == FLAT ? 1 : 2;
    for (int k = 0; k < POSITIONS; k++)
        for (int j = 0; j < WIDTHS * edges; j++) {
            const double place = (k + 0.5) / POSITIONS;
            f.c = s->low + s->range * (f.shape == STEP ? 2 * place - 0.5 : place);
            f.w = s->range * ldexp(0.5, -(j / edges));
            f.s = f.w * edge[f.shape][j % edges];
            offer(s, f);
        }
}

static void offer_saws(struct scan *s, struct profile f, double period, int phases)
{
    f.p = period;
    for (int k = 0; k < phases; k++) {
        f.c = k ? s->low + period * k / phases : 0;
        offer(s, f);
    }
}

static void scan_saws(struct scan *s, struct profile f)
{
    for (int k = 2; k < s->rows / 2 && s->step > 0; k++)
        offer_saws(s, f, k * s->step, k < PHASES ? k : PHASES);
    for (int k = OVERSAMPLED; k < s->rows / 2 * OVERSAMPLED && !orr_signal_seen(); k++)
        offer_saws(s, f, OVERSAMPLED * s->range / k, PHASES);
}

/* Some steps of a whole number of steps, as Saturdays and Sundays. */
static void scan_days(struct scan *s, struct profile f)
{
    for (int period = 2; period <= LONGEST && s->step > 0; period++)
        for (int k = 0; k < period * (period - 1); k++) {
            const int first = k / (period - 1), length = k % (period - 1) + 1;
            f.c = first ? s->low + first * s->step : 0;
            f.w = (length - 0.5) * s->step;
            f.p = period * s->step;
            offer(s, f);
        }
}

/* ---- the rows */

/* Takes the rows of a column; false where it has one value, or a line explains all. */
static bool take_rows(struct scan *s, int column)
{
    const struct sr_data *data = s->p->loss->data;
    const int rows = (int)(data->rows < ROWS ? data->rows : ROWS);
    struct sr_grid grid;
    s->column = column;
    s->taken = rows;
    s->rows = (rows + 7) / 8 * 8;
    for (int i = 0; i < s->rows; i++) {
        const size_t row = (size_t)i * data->rows / (size_t)rows; /* unused beyond `rows` */
        s->root[i] = i < rows ? sqrt(sr_row_weight(data, row)) : 0;
        s->x[i] = i < rows ? data->x[(size_t)column * data->rows + row] : s->x[0];
        s->y[i] = i < rows ? data->y[row] : 0;
        s->low = i ? fmin(s->low, s->x[i]) : s->x[0];
        s->high = i ? fmax(s->high, s->x[i]) : s->x[0];
        s->rest[0][i] = s->root[i] * s->y[i];
    }
    s->range = s->high - s->low;
    memcpy(s->sorted, s->x, (size_t)rows * sizeof *s->x);
    gsl_sort(s->sorted, 1, (size_t)rows);
    s->step = (size_t)rows == data->rows && sr_grid_find(s->x, (size_t)rows, &grid) ? grid.step : 0;
    for (int b = 0; b < BASES; b++) {
        if (b > 0) {
            double *const v = s->basis[b - 1];
            for (int i = 0; i < s->rows; i++)
                v[i] = s->root[i] * (b > 1 ? (s->x[i] - s->low) / s->range : 1);
            if (!sr_orthogonalise(v, s->basis[0], b - 1, ROWS, s->rows, 1e-12, NULL))
                return false;
            memcpy(s->rest[b], s->rest[b - 1], sizeof s->rest[b]);
            sr_remove(s->rest[b], v, s->rows);
        }
        s->size[b] = sr_dot(s->rest[b], s->rest[b], s->rows);
    }
    return s->range > 0 && s->size[BASES - 1] > 1e-20 * s->size[0];
}

/* Between two of its jumps weight mod(x - c, p) is weight x - weight p n + ..., of whole numbers n:
 * weight and p by least squares. */
static void solve_saw(const struct scan *s, struct profile *f)
{
    double n[ROWS] = {0}, x[ROWS] = {0};
    for (int i = 0; i < s->rows; i++) {
        n[i] = s->root[i] * floor((s->x[i] - f->c) / f->p);
        x[i] = s->root[i] * (s->x[i] - s->low);
    }
    const double of_n = sr_dot(n, s->basis[1], s->rows), of_x = sr_dot(x, s->basis[1], s->rows),
                 of_y = sr_dot(s->rest[1], s->basis[1], s->rows);
    for (int b = 0; b < BASES - 1; b++)
        sr_remove(n, s->basis[b], s->rows);
    const double by_n = sr_dot(n, s->rest[BASES - 1], s->rows) / sr_dot(n, n, s->rows);
    struct profile solved = *f;
    solved.p = -by_n * of_x / (of_y - by_n * of_n);
    if (solved.p > 0 && weigh(s, &solved) && solved.left < f->left)
        *f = solved;
}

/* Moves the numbers of a profile, which no fit would move well from the grid: the distance of the
 * pole from the nearest row, a period. */
static void refine(const struct scan *s, struct profile *f)
{
    enum { ROUNDS = 3 };
    const double off = f->side * 0.3 * fabs(f->c - (f->side > 0 ? s->low : s->high));
    if (f->shape == POWER)
        move(s, f, &f->c, off, &f->p, 0.2);
    for (int k = 0; k < ROUNDS && f->shape == CLIP; k++) {
        move(s, f, &f->c, off, &f->w, 0.2 * f->w);
        move(s, f, &f->p, 0.2, &f->w, 0.2 * f->w);
    }
    if (f->shape == SAW) {
        move(s, f, &f->p, f->p * f->p / (OVERSAMPLED * s->range), &f->c,
             f->c == 0 ? 0 : f->p / PHASES);
        if (f->base == 1)
            solve_saw(s, f);
    }
}

/* The squared differences of neighbours, as a share of what independent values have. */
static double roughness(const double *value, const size_t *order, int n)
{
    double steps = 0;
    for (int i = 1; i < n; i++)
        steps += (value[order[i]] - value[order[i - 1]]) * (value[order[i]] - value[order[i - 1]]);
    return steps / (2 * gsl_stats_tss(value, 1, (size_t)n));
}

/* Whether y may be a function of the column alone: neighbours in it have like values, or like ranks
 * where one row near a pole makes up most of the values. True where memory ran out. */
static bool may_explain(const struct scan *s)
{
    static const double most = 0.8;
    const int n = s->taken;
    size_t *const order = sr_order(s->x, (size_t)n), *const by_y = sr_order(s->y, (size_t)n);
    double rank[ROWS] = {0};
    for (int i = 0; i < n && by_y; i++)
        rank[by_y[i]] = i;
    const bool may =
        !order || !by_y || roughness(s->y, order, n) < most || roughness(rank, order, n) < most;
    free(order);
    free(by_y);
    return may;
}

static void scan_column(struct scan *s)
{
    static void (*const scan[SHAPES])(struct scan *, struct profile) = {
        scan_powers, scan_powers, scan_places, scan_places, scan_places, scan_saws, scan_days};
    const struct sr_data *data = s->p->loss->data;
    const bool smooth = data->features == 1 || may_explain(s);
    s->count = 0;
    for (enum shape k = 0; k < SHAPES; k++)
        if ((smooth || k >= SAW) && text_of(s->p->operators, k) &&
            (k != STEP || data->rows < RATES_ROWS))
            scan[k](s, (struct profile){.shape = k, .column = s->column});
    for (int k = 0; k < s->count; k++)
        refine(s, &s->best[k]);
}

/* Line and constant of what the shape leaves. */
static void find_line(const struct scan *s, struct profile *f)
{
    double w[ROWS] = {0}, r[ROWS] = {0}, unused[4];
    for (int i = 0; i < s->taken; i++) {
        w[i] = s->root[i] * s->root[i];
        r[i] = w[i] > 0 ? s->y[i] - f->weight * value_of(f, s->x[i]) : 0;
    }
    f->slope = 0;
    if (f->base > 1)
        gsl_fit_wlinear(s->x, 1, w, 1, r, 1, (size_t)s->taken, &f->constant, &f->slope, unused,
                        unused + 1, unused + 2, unused + 3);
    else
        f->constant = gsl_stats_wmean(w, 1, r, 1, (size_t)s->taken);
}

/* Fits what was kept to all rows; the best become seeds. */
static int fit_best(struct scan *s)
{
    struct sr_proposal *p = s->p;
    struct sr_expr *expr = orr_alloc(MOST, sizeof *expr);
    double loss[MOST];
    const int wanted = expr ? sr_proposal_take(p, s->count) : 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int k = 0; k < wanted; k++) {
        struct sr_thread *own = &p->thread[omp_get_thread_num()];
        loss[k] = HUGE_VAL;
        find_line(s, &s->best[k]);
        if (orr_signal_seen() || !write_profile(p, &s->best[k], &expr[k]) ||
            !sr_proposal_shorten(p, &expr[k]))
            continue;
        loss[k] = sr_constants_fit(p->loss, &expr[k], true, FIT_STEPS, 0, own->rng, &own->work);
    }
    if (wanted)
        sr_proposal_add(p, expr, loss, wanted, SR_SEEDS_PER_SIZE, false);
    free(expr);
    return expr ? 0 : ORR_ENOMEM;
}

int sr_profiles_find(struct sr_proposal *p)
{
    struct scan *s = orr_alloc(1, sizeof *s);
    int rc = s ? 0 : ORR_ENOMEM;
    for (int f = 0; f < p->loss->data->features && !rc && !sr_proposal_over(p); f++) {
        s->p = p;
        if (!take_rows(s, f))
            continue;
        scan_column(s);
        if (s->count)
            rc = fit_best(s);
    }
    free(s);
    return rc;
}
