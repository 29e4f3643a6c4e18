/* pursuit.c - h H(a f + b g + c k + d): sums of up to three small formulas.
 *
 * compose.c solves all pairs at few rows; the third term is found as in matching pursuit (Mallat &
 * Zhang, IEEE Trans. Signal Process. 41 (1993) 3397): the formula closest to what the others leave,
 * at so many rows that chance resembles nothing. Then every term is exchanged for the best one next
 * to the other two, as long as that helps. */
#include "collapse.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 256,
    COLUMNS = 8192, /* formulas without constants; a multiple of BLOCK */
    BLOCK = 256,
    TERMS = 3,
    FACTORS = 12,  /* h: 1 and the closest of factors.c */
    OUTERS = 8,    /* H: the identity and operators with an inverse */
    SWEEPS = 3,    /* of exchanges */
    VARIANTS = 4,  /* of every sum: equal weights joined or not, with and without d */
    FIT_STEPS = 15,
    PER_SIZE = 8,  /* seeds */
};

static const double promising = 0.3; /* 1 - R^2 */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_MANY_CPUS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_MANY_CPUS
#endif

struct dictionary {
    int count;
    struct sr_expr *expr;      /* (COLUMNS) */
    float (*column)[COLUMNS];  /* (ROWS): mean 0, length 1 */
    double (*value)[ROWS];     /* (COLUMNS) */
    struct sr_data data;       /* (ROWS) */
    double *x;
    int factors;
    struct sr_expr factor[FACTORS]; /* count 0: 1 */
};

struct sum {
    struct sr_expr factor;
    enum sr_op outer;
    int terms, term[TERMS];
    double z[ROWS], weight[TERMS + 1]; /* the last is d */
    double rest;                       /* 1 - R^2 */
};

/* ---- the dictionary */

static bool normalise(const double *value, double *unit)
{
    double sum = 0, square = 0, whole = 0;
    for (int i = 0; i < ROWS; i++)
        sum += value[i] / ROWS;
    for (int i = 0; i < ROWS; i++) {
        unit[i] = value[i] - sum;
        square += unit[i] * unit[i];
        whole += value[i] * value[i];
    }
    if (!(square > 1e-14 * whole) || !isfinite(whole))
        return false;
    for (int i = 0; i < ROWS; i++)
        unit[i] /= sqrt(square);
    return true;
}

static double dot(const double *a, const double *b)
{
    double lane[8] = {0};
    for (int i = 0; i < ROWS; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += a[i + l] * b[i + l];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

static int take_rows(struct dictionary *d, const struct sr_data *all)
{
    d->x = orr_alloc(((size_t)all->features + 1) * ROWS, sizeof *d->x);
    if (!d->x)
        return ORR_ENOMEM;
    double *y = d->x + (size_t)all->features * ROWS;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t row = i * all->rows / ROWS;
        for (size_t f = 0; f < (size_t)all->features; f++)
            d->x[f * ROWS + i] = all->x[f * all->rows + row];
        y[i] = all->y[row];
    }
    d->data = (struct sr_data){.rows = ROWS, .features = all->features, .x = d->x, .y = y};
    return 0;
}

static bool write_factor(const struct sr_bank *bank, const struct sr_factor *from,
                         struct sr_expr *to)
{
    struct sr_expr b;
    if (!sr_bank_expr(bank, &bank->entry[from->a], to))
        return false;
    if (from->b < 0)
        return true;
    if (!sr_bank_expr(bank, &bank->entry[from->b], &b) || to->count + b.count + 1 > SR_NODES)
        return false;
    memcpy(to->node + to->count, b.node, (size_t)b.count * sizeof *b.node);
    to->count += b.count;
    to->node[to->count++] = (struct sr_node){.op = (uint8_t)from->op};
    return sr_expr_measure(to);
}

static void put(struct sr_expr *out, struct sr_node node)
{
    if (out->count < SR_NODES)
        out->node[out->count] = node;
    out->count++;
}

static void put_expr(struct sr_expr *out, const struct sr_expr *in)
{
    for (int i = 0; i < in->count; i++)
        put(out, in->node[i]);
}

/* Solves a symmetric positive definite system of n equations whose rows have n + 1 columns, the
 * last the right-hand side, in place. */
static bool solve(double *a, int n)
{
    const int width = n + 1;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) {
            const double share = a[j * width + k] / a[k * width + k];
            for (int m = n; j != k && m >= k; m--)
                a[j * width + m] -= share * a[k * width + m];
        }
    for (int k = 0; k < n; k++) {
        a[k * width + n] /= a[k * width + k];
        if (!isfinite(a[k * width + n]))
            return false;
    }
    return true;
}

/* x to a power of 1, 2 or 3. */
static void put_power(struct sr_expr *out, int feature, int power, bool square)
{
    const struct sr_node x = {.op = SR_FEATURE, .feature = (uint8_t)feature};
    put(out, x);
    if (power > 1 && square) {
        put(out, (struct sr_node){.op = SR_SQUARE});
    } else if (power > 1) {
        put(out, x);
        put(out, (struct sr_node){.op = SR_MUL});
    }
    if (power > 2) {
        put(out, x);
        put(out, (struct sr_node){.op = SR_MUL});
    }
}

/* The product of whole powers of the features that follows y best: linear regression of logarithms.
 * False where a feature is not positive or no power is left. */
static bool fit_power_law(const struct dictionary *d, uint64_t operators, struct sr_expr *out)
{
    enum { MOST = 16 };
    const int n = d->data.features, width = n + 1;
    double a[MOST * (MOST + 1)] = {0}, column[MOST + 1][ROWS];
    out->count = 0;
    if (n > MOST)
        return false;
    for (int f = 0; f <= n; f++) {
        double mean = 0;
        for (int i = 0; i < ROWS; i++) {
            const double v = f < n ? d->x[f * ROWS + i] : fabs(d->data.y[i]);
            if (!(v > 0))
                return false;
            column[f][i] = sr_op_table[SR_LOG].value(v, 0);
            mean += column[f][i] / ROWS;
        }
        for (int i = 0; i < ROWS; i++)
            column[f][i] -= mean;
    }
    for (int f = 0; f < n; f++)
        for (int g = 0; g <= n; g++)
            a[f * width + g] = dot(column[f], column[g]);
    if (!solve(a, n))
        return false;
    for (int side = 1; side >= -1; side -= 2) /* what multiplies, then what divides */
        for (int f = 0; f < n; f++) {
            const int power = (int)fmin(3, fmax(0, round(side * a[f * width + n])));
            const bool first = out->count == 0, divides = operators >> SR_DIV & 1;
            if (!power)
                continue;
            put_power(out, f, power, operators >> SR_SQUARE & 1);
            if (side < 0 && (first || !divides))
                put(out, (struct sr_node){.op = SR_INV});
            if (!first)
                put(out, (struct sr_node){.op = side < 0 && divides ? SR_DIV : SR_MUL});
            if (side < 0 && (first || !divides) && !(operators >> SR_INV & 1))
                return false;
        }
    return out->count && out->count <= SR_NODES && sr_expr_measure(out);
}

/* Variance of log |y / h|; equal to rounding where formulas are one but for a factor. */
static double variance(const struct dictionary *d, const struct sr_expr *h)
{
    double value[ROWS], sum = 0, square = 0;
    if (!sr_eval(h, &d->data, value))
        return HUGE_VAL;
    for (int i = 0; i < ROWS; i++) {
        const double z = sr_op_table[SR_LOG].value(fabs(d->data.y[i] / value[i]), 0);
        sum += z;
        square += z * z;
    }
    const double result = square / ROWS - sum / ROWS * (sum / ROWS);
    return isfinite(result) ? result : HUGE_VAL;
}

/* The closest of them to y at all rows, a little nearer for every node less. */
static void list_factors(struct dictionary *d, const struct sr_bank *bank, uint64_t operators)
{
    struct sr_factor factor[SR_FACTORS];
    double score[FACTORS], pure[FACTORS];
    int close = 0;
    sr_factors_find(bank, (operators >> SR_DIV & 1) != 0, factor, &close);
    d->factor[0].count = 0; /* 1 comes first */
    d->factors = 1;
    for (int i = -1; i < close; i++) {
        struct sr_expr h;
        bool seen = i < 0 ? !fit_power_law(d, operators, &h) : !write_factor(bank, &factor[i], &h);
        const double rest = seen ? HUGE_VAL : variance(d, &h), mine = rest * (1 + 0.1 * h.count);
        for (int k = 1; k < d->factors && !seen; k++)
            seen = fabs(pure[k] - rest) <= 1e-9 * rest && score[k] <= mine;
        if (seen || !(mine < HUGE_VAL) || (d->factors == FACTORS && mine >= score[FACTORS - 1]))
            continue;
        int k = d->factors < FACTORS ? d->factors++ : FACTORS - 1;
        for (; k > 1 && mine < score[k - 1]; k--) {
            score[k] = score[k - 1];
            pure[k] = pure[k - 1];
            d->factor[k] = d->factor[k - 1];
        }
        score[k] = mine;
        pure[k] = rest;
        d->factor[k] = h;
    }
}

static int dictionary_init(struct dictionary *d, const struct sr_settings *s,
                           const struct sr_data *data)
{
    struct sr_bank bank = {0};
    int rc = take_rows(d, data);
    d->expr = orr_alloc(COLUMNS, sizeof *d->expr);
    d->column = orr_alloc(ROWS, sizeof *d->column);
    d->value = orr_alloc(COLUMNS, sizeof *d->value);
    if (rc || !d->expr || !d->column || !d->value)
        return ORR_ENOMEM;
    rc = sr_bank_init(&bank, s, data, s->enumerate / 8);
    if (rc)
        return rc;
    for (int e = 0; e < bank.count && d->count < COLUMNS; e++) {
        double unit[ROWS];
        if (bank.entry[e].constants || !sr_bank_expr(&bank, &bank.entry[e], &d->expr[d->count]) ||
            !sr_eval(&d->expr[d->count], &d->data, d->value[d->count]) ||
            !normalise(d->value[d->count], unit))
            continue;
        for (int i = 0; i < ROWS; i++)
            d->column[i][d->count] = (float)unit[i];
        d->count++;
    }
    list_factors(d, &bank, sr_settings_operators(s));
    sr_bank_free(&bank);
    return 0;
}

static void dictionary_free(struct dictionary *d)
{
    free(d->x);
    free(d->expr);
    free(d->column);
    free(d->value);
}

/* ---- pursuit */

/* Dot products of v with BLOCK columns. */
FOR_MANY_CPUS static void correlate(const float *v, const float *column, float *c)
{
    for (int f = 0; f < BLOCK; f++)
        c[f] = 0;
    for (int i = 0; i < ROWS; i++)
        for (int f = 0; f < BLOCK; f++)
            c[f] += v[i] * column[(size_t)i * COLUMNS + (size_t)f];
}

static void narrow(const double *from, float *to)
{
    for (int i = 0; i < ROWS; i++)
        to[i] = (float)from[i];
}

/* What the terms but `without` leave of the target, and their span; q has room for TERMS. */
static int project(const struct dictionary *d, const struct sum *s, int without, double *rest,
                   double q[TERMS][ROWS])
{
    int n = 0;
    normalise(s->z, rest);
    for (int k = 0; k < s->terms; k++) {
        if (k == without || !normalise(d->value[s->term[k]], q[n]))
            continue;
        for (int j = 0; j < n; j++) {
            const double r = dot(q[n], q[j]);
            for (int i = 0; i < ROWS; i++)
                q[n][i] -= r * q[j][i];
        }
        const double length = sqrt(dot(q[n], q[n]));
        if (!(length > 1e-5))
            continue;
        for (int i = 0; i < ROWS; i++)
            q[n][i] /= length;
        const double r = dot(rest, q[n]);
        for (int i = 0; i < ROWS; i++)
            rest[i] -= r * q[n][i];
        n++;
    }
    return n;
}

/* The formula that takes most of `rest` next to the span of q; what then is left goes to *left. */
static int best_column(const struct dictionary *d, const double *rest, const double q[TERMS][ROWS],
                       int n, double *left)
{
    float v[ROWS], span[TERMS][ROWS], gain = 0;
    int best = -1;
    narrow(rest, v);
    for (int k = 0; k < n; k++)
        narrow(q[k], span[k]);
    for (int first = 0; first < d->count; first += BLOCK) {
        float c[BLOCK], free[BLOCK], r[BLOCK];
        correlate(v, &d->column[0][first], c);
        for (int f = 0; f < BLOCK; f++)
            free[f] = 1;
        for (int k = 0; k < n; k++) {
            correlate(span[k], &d->column[0][first], r);
            for (int f = 0; f < BLOCK; f++)
                free[f] -= r[f] * r[f];
        }
        for (int f = 0; f < BLOCK && first + f < d->count; f++)
            if (free[f] > 1e-3F && c[f] * c[f] > gain * free[f]) {
                gain = c[f] * c[f] / free[f];
                best = first + f;
            }
    }
    *left = dot(rest, rest) - (double)gain;
    return best;
}

static void pursue(const struct dictionary *d, struct sum *s)
{
    double rest[ROWS], q[TERMS][ROWS], left = 1;
    for (s->terms = 0; s->terms < TERMS;) {
        const int n = project(d, s, -1, rest, q);
        const int best = best_column(d, rest, (const double(*)[ROWS])q, n, &left);
        if (best < 0)
            break;
        s->term[s->terms++] = best;
    }
    s->rest = left;
}

static void exchange(const struct dictionary *d, struct sum *s)
{
    double rest[ROWS], q[TERMS][ROWS], left;
    bool better = true;
    for (int sweep = 0; sweep < SWEEPS && better; sweep++) {
        better = false;
        for (int k = 0; k < s->terms; k++) {
            const int n = project(d, s, k, rest, q);
            const int best = best_column(d, rest, (const double(*)[ROWS])q, n, &left);
            if (best >= 0 && best != s->term[k] && left < s->rest * (1 - 1e-3)) {
                s->term[k] = best;
                s->rest = left;
                better = true;
            }
        }
    }
}

/* Weights by least squares: normal equations of at most three centred columns. */
static bool weigh(const struct dictionary *d, struct sum *s)
{
    const int width = s->terms + 1;
    double a[TERMS * (TERMS + 1)], column[TERMS][ROWS], mean[TERMS], target[ROWS], mean_z = 0;
    for (int i = 0; i < ROWS; i++)
        mean_z += s->z[i] / ROWS;
    for (int i = 0; i < ROWS; i++)
        target[i] = s->z[i] - mean_z;
    for (int k = 0; k < s->terms; k++) {
        const double *value = d->value[s->term[k]];
        mean[k] = 0;
        for (int i = 0; i < ROWS; i++)
            mean[k] += value[i] / ROWS;
        for (int i = 0; i < ROWS; i++)
            column[k][i] = value[i] - mean[k];
    }
    for (int k = 0; k < s->terms; k++) {
        for (int j = 0; j < s->terms; j++)
            a[k * width + j] = dot(column[k], column[j]);
        a[k * width + s->terms] = dot(column[k], target);
    }
    if (!solve(a, s->terms))
        return false;
    s->weight[TERMS] = mean_z;
    for (int k = 0; k < s->terms; k++) {
        s->weight[k] = a[k * width + s->terms];
        s->weight[TERMS] -= s->weight[k] * mean[k];
        if (s->weight[k] == 0)
            return false;
    }
    return isfinite(s->weight[TERMS]);
}

/* ---- formulas */

/* One variant: bit 0 joins terms of nearly equal weight, bit 1 leaves out d. */
static bool write_sum(const struct dictionary *d, const struct sr_settings *settings,
                      const struct sum *s, int variant, struct sr_expr *out)
{
    const uint64_t operators = sr_settings_operators(settings);
    const bool divide = s->outer == SR_INV && s->factor.count && operators >> SR_DIV & 1;
    const bool homogeneous = s->outer == SR_CONSTANT || s->outer == SR_INV ||
                             s->outer == SR_SQUARE || s->outer == SR_SQRT;
    const double unit = homogeneous ? s->weight[0] : 1;
    out->count = 0;
    put_expr(out, &s->factor);
    for (int k = 0; k < s->terms; k++) {
        const double weight = s->weight[k] / unit;
        const bool plain = fabs(fabs(weight) - 1) < (variant & 1 ? 0.15 : 1e-6);
        const bool minus = plain && weight < 0 && k > 0 && operators >> SR_SUB & 1;
        put_expr(out, &d->expr[s->term[k]]);
        if (!plain || (weight < 0 && !minus)) {
            put(out, (struct sr_node){.op = SR_CONSTANT, .value = weight});
            put(out, (struct sr_node){.op = SR_MUL});
        }
        if (k)
            put(out, (struct sr_node){.op = minus ? SR_SUB : SR_ADD});
    }
    if (!(variant & 2)) {
        put(out, (struct sr_node){.op = SR_CONSTANT, .value = s->weight[TERMS] / unit});
        put(out, (struct sr_node){.op = SR_ADD});
    }
    if (s->outer != SR_CONSTANT && !divide)
        put(out, (struct sr_node){.op = (uint8_t)s->outer});
    if (s->factor.count)
        put(out, (struct sr_node){.op = divide ? SR_DIV : SR_MUL});
    if (out->count > SR_NODES || !sr_expr_measure(out))
        return false;
    sr_expr_rewrite(out, operators);
    return out->count <= settings->maxsize &&
           (!settings->admissible || settings->admissible(out, settings->context));
}

/* ---- the stage */

static bool set_target(const struct dictionary *d, const struct sr_expr *factor, enum sr_op outer,
                       struct sum *s)
{
    double h[ROWS], unit[ROWS];
    *s = (struct sum){.factor = *factor, .outer = outer, .rest = HUGE_VAL};
    for (int i = 0; i < ROWS && !factor->count; i++)
        h[i] = 1;
    if (factor->count && !sr_eval(factor, &d->data, h))
        return false;
    for (int i = 0; i < ROWS; i++)
        if (!sr_op_invert(outer, d->data.y[i] / h[i], &s->z[i]))
            return false;
    return normalise(s->z, unit);
}

static int list_outer(const struct sr_settings *s, enum sr_op list[OUTERS])
{
    double z;
    int n = 0;
    list[n++] = SR_CONSTANT;
    for (int i = 0; i < s->unary_count && n < OUTERS; i++)
        if (sr_op_invert(s->unary[i], 0.5, &z))
            list[n++] = s->unary[i];
    return n;
}

/* The best of every size, those that were fitted. */
static void choose(const struct sr_expr *expr, const double *reached, int count, int maxsize,
                   struct sr_seeds *seeds)
{
    for (int size = 1; size <= maxsize; size++) {
        int list[PER_SIZE], n = 0;
        for (int i = 0; i < count; i++) {
            if (expr[i].count != size || !(reached[i] < HUGE_VAL) ||
                (n == PER_SIZE && reached[i] >= reached[list[n - 1]]))
                continue;
            int k = n < PER_SIZE ? n++ : n - 1;
            for (; k > 0 && reached[i] < reached[list[k - 1]]; k--)
                list[k] = list[k - 1];
            list[k] = i;
        }
        for (int k = 0; k < n && seeds->count < SR_SEEDS; k++) {
            seeds->loss[seeds->count] = reached[list[k]];
            seeds->expr[seeds->count++] = expr[list[k]];
        }
    }
}

static int search_sums(const struct dictionary *d, const struct sr_settings *settings,
                       const struct sr_loss *loss, struct sr_worker *worker, int threads,
                       struct sr_seeds *seeds)
{
    enum sr_op outer[OUTERS];
    const int outers = list_outer(settings, outer), targets = d->factors * outers;
    const int count = targets * VARIANTS;
    struct sum *sum = orr_alloc((size_t)targets, sizeof *sum);
    struct sr_expr *expr = orr_alloc((size_t)count, sizeof *expr);
    double *reached = orr_alloc((size_t)count, sizeof *reached);
    int rc = sum && expr && reached ? 0 : ORR_ENOMEM;
    if (!rc) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int t = 0; t < targets; t++) {
            struct sr_worker *own = &worker[omp_get_thread_num()];
            struct sum *s = &sum[t];
            const bool usable = set_target(d, &d->factor[t / outers], outer[t % outers], s);
            if (usable && !orr_signal_seen()) {
                pursue(d, s);
                if (s->rest < promising)
                    exchange(d, s);
            }
            for (int v = 0; v < VARIANTS; v++) {
                const int i = t * VARIANTS + v;
                reached[i] = HUGE_VAL;
                if (!usable || s->terms < 2 || (v == 0 && !weigh(d, s)))
                    break;
                if (write_sum(d, settings, s, v, &expr[i]))
                    reached[i] = sr_constants_fit(loss, &expr[i], true, FIT_STEPS, 0, own->rng,
                                                  &own->work);
            }
        }
        choose(expr, reached, count, settings->maxsize, seeds);
        seeds->evaluations += count;
    }
    free(sum);
    free(expr);
    free(reached);
    return rc;
}

int sr_pursuit_find(const struct sr_settings *settings, const struct sr_loss *loss,
                    struct sr_worker *worker, int threads, struct sr_seeds *seeds)
{
    const uint64_t operators = sr_settings_operators(settings);
    struct dictionary d = {0};
    for (int i = 0; i < seeds->count; i++)
        if (seeds->loss[i] <= loss->noise) /* the law is known already */
            return 0;
    if (loss->data->rows < ROWS || !(operators >> SR_MUL & 1) || !(operators >> SR_ADD & 1))
        return 0;
    int rc = dictionary_init(&d, settings, loss->data);
    if (!rc && d.count)
        rc = search_sums(&d, settings, loss, worker, threads, seeds);
    dictionary_free(&d);
    return rc;
}
