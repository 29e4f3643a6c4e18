/* pursuit.c - h H(a f + b g + c k + d): sums of up to three small formulas.
 *
 * compose.c solves all pairs at few rows; the third term is found as in matching pursuit (Mallat &
 * Zhang, IEEE Trans. Signal Process. 41 (1993) 3397): the formula closest to what the others leave,
 * at so many rows that chance resembles nothing. Then every term is exchanged for the best one next
 * to the other two, as long as that helps. */
#include "dictionary.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "symreg/value/vec.h"

enum {
    ROWS = SR_DICTIONARY_ROWS,
    COLUMNS = SR_DICTIONARY,
    BLOCK = SR_VEC_COLUMNS, /* columns at a time: divides COLUMNS */
    TERMS = 3,
    OUTERS = 8,   /* H: the identity and operators with an inverse */
    SWEEPS = 3,   /* of exchanges */
    VARIANTS = 4, /* of every sum: equal weights joined or not, with and without d */
    FIT_STEPS = 15,
    PER_SIZE = 8, /* seeds */
};

static const double promising = 0.3; /* 1 - R^2 */

/* The first columns are the simplest formulas: of these all triples are tried. Of more the pursuit
 * takes larger ones that stand for two terms at once, so each number is tried. */
static const int limit[] = {SR_DICTIONARY_SMALL, 1536, COLUMNS};
enum { LIMITS = sizeof limit / sizeof *limit };

struct sum {
    struct sr_expr factor;
    enum sr_op outer;
    int columns, terms, term[TERMS];   /* of the first columns */
    double z[ROWS], weight[TERMS + 1]; /* the last is d */
    double rest;                       /* 1 - R^2 */
};

/* ---- pursuit */

static void narrow(const double *from, float *to)
{
    for (int i = 0; i < ROWS; i++)
        to[i] = (float)from[i];
}

/* What the terms but `without` leave of the target, and their span; q has room for TERMS. */
static int project(const struct sr_dictionary *d, const struct sum *s, int without, double *rest,
                   double q[TERMS][ROWS])
{
    int n = 0;
    sr_dictionary_unit(s->z, rest);
    for (int k = 0; k < s->terms; k++) {
        if (k == without || !sr_dictionary_unit(d->value[s->term[k]], q[n]))
            continue;
        for (int j = 0; j < n; j++) {
            const double r = sr_dictionary_dot(q[n], q[j]);
            for (int i = 0; i < ROWS; i++)
                q[n][i] -= r * q[j][i];
        }
        const double length = sqrt(sr_dictionary_dot(q[n], q[n]));
        if (!(length > 1e-5))
            continue;
        for (int i = 0; i < ROWS; i++)
            q[n][i] /= length;
        const double r = sr_dictionary_dot(rest, q[n]);
        for (int i = 0; i < ROWS; i++)
            rest[i] -= r * q[n][i];
        n++;
    }
    return n;
}

/* The formula that takes most of `rest` next to the span of q; what then is left goes to *left. */
static int best_column(const struct sr_dictionary *d, int columns, const double *rest,
                       const double q[TERMS][ROWS], int n, double *left)
{
    const struct sr_vec *vec = sr_vec_best();
    float v[ROWS], span[TERMS][ROWS], gain = 0;
    int best = -1;
    narrow(rest, v);
    for (int k = 0; k < n; k++)
        narrow(q[k], span[k]);
    for (int first = 0; first < columns; first += BLOCK) {
        float c[BLOCK], free[BLOCK], r[BLOCK];
        vec->correlate(v, &d->column[0][first], COLUMNS, ROWS, c);
        for (int f = 0; f < BLOCK; f++)
            free[f] = 1;
        for (int k = 0; k < n; k++) {
            vec->correlate(span[k], &d->column[0][first], COLUMNS, ROWS, r);
            for (int f = 0; f < BLOCK; f++)
                free[f] -= r[f] * r[f];
        }
        for (int f = 0; f < BLOCK && first + f < columns; f++)
            if (free[f] > 1e-3F && c[f] * c[f] > gain * free[f]) {
                gain = c[f] * c[f] / free[f];
                best = first + f;
            }
    }
    *left = sr_dictionary_dot(rest, rest) - (double)gain;
    return best;
}

static void pursue(const struct sr_dictionary *d, struct sum *s)
{
    double rest[ROWS], q[TERMS][ROWS], left = 1;
    for (s->terms = 0; s->terms < TERMS;) {
        const int n = project(d, s, -1, rest, q);
        const int best = best_column(d, s->columns, rest, (const double(*)[ROWS])q, n, &left);
        if (best < 0)
            break;
        s->term[s->terms++] = best;
    }
    s->rest = left;
}

/* What g and k take of the target next to f, from products with f taken off: the largest over k
 * below g, and where. */
static double best_third(int g, const double *r, const double *gram_g, const double *own,
                         double least, int *third)
{
    double gain[SR_DICTIONARY_SMALL];
    for (int k = 0; k < g; k++) {
        const double determinant = own[g] * own[k] - gram_g[k] * gram_g[k];
        const double above =
            r[g] * r[g] * own[k] + r[k] * r[k] * own[g] - 2 * r[g] * r[k] * gram_g[k];
        gain[k] = determinant > 1e-6 ? above / determinant : 0;
    }
    for (int k = 0; k < g; k++)
        if (gain[k] > least) {
            least = gain[k];
            *third = k;
        }
    return least;
}

/* The best triple of the simplest columns. */
static void solve_triples(const struct sr_dictionary *d, struct sum *s)
{
    double z[ROWS], all[SR_DICTIONARY_SMALL], r[SR_DICTIONARY_SMALL], own[SR_DICTIONARY_SMALL];
    double gram[SR_DICTIONARY_SMALL], best = 0;
    sr_dictionary_unit(s->z, z);
    for (int k = 0; k < s->columns; k++)
        all[k] = sr_dictionary_dot(z, d->unit[k]);
    for (int f = 2; f < s->columns; f++) {
        for (int k = 0; k < f; k++) {
            r[k] = all[k] - all[f] * d->gram[f][k];
            own[k] = 1 - d->gram[f][k] * d->gram[f][k];
        }
        for (int g = 1; g < f; g++) {
            int third = -1;
            for (int k = 0; k < g; k++)
                gram[k] = d->gram[g][k] - d->gram[f][g] * d->gram[f][k];
            const double taken = best_third(g, r, gram, own, best - all[f] * all[f], &third);
            if (third < 0)
                continue;
            best = all[f] * all[f] + taken;
            s->terms = 3;
            s->term[0] = f;
            s->term[1] = g;
            s->term[2] = third;
        }
    }
    s->rest = 1 - best;
}

static void exchange(const struct sr_dictionary *d, struct sum *s)
{
    double rest[ROWS], q[TERMS][ROWS], left;
    bool better = true;
    for (int sweep = 0; sweep < SWEEPS && better; sweep++) {
        better = false;
        for (int k = 0; k < s->terms; k++) {
            const int n = project(d, s, k, rest, q);
            const int best = best_column(d, s->columns, rest, (const double(*)[ROWS])q, n, &left);
            if (best >= 0 && best != s->term[k] && left < s->rest * (1 - 1e-3)) {
                s->term[k] = best;
                s->rest = left;
                better = true;
            }
        }
    }
}

/* Weights by least squares: normal equations of at most three centred columns. */
static bool weigh(const struct sr_dictionary *d, struct sum *s)
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
            a[k * width + j] = sr_dictionary_dot(column[k], column[j]);
        a[k * width + s->terms] = sr_dictionary_dot(column[k], target);
    }
    if (!sr_dictionary_solve(a, s->terms))
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
static bool write_sum(const struct sr_dictionary *d, const struct sr_settings *settings,
                      const struct sum *s, int variant, struct sr_expr *out)
{
    const uint64_t operators = sr_settings_operators(settings);
    const bool divide = s->outer == SR_INV && s->factor.count && operators >> SR_DIV & 1;
    const bool homogeneous = s->outer == SR_CONSTANT || s->outer == SR_INV ||
                             s->outer == SR_SQUARE || s->outer == SR_SQRT;
    const double unit = homogeneous ? fabs(s->weight[0]) : 1;
    out->count = 0;
    sr_put_expr(out, &s->factor);
    for (int k = 0; k < s->terms; k++) {
        const double weight = s->weight[k] / unit;
        const bool plain = fabs(fabs(weight) - 1) < (variant & 1 ? 0.15 : 1e-6);
        const bool minus = plain && weight < 0 && k > 0 && operators >> SR_SUB & 1;
        sr_put_expr(out, &d->expr[s->term[k]]);
        if (!plain || (weight < 0 && !minus)) {
            sr_put_node(out, (struct sr_node){.op = SR_CONSTANT, .value = weight});
            sr_put_node(out, (struct sr_node){.op = SR_MUL});
        }
        if (k)
            sr_put_node(out, (struct sr_node){.op = minus ? SR_SUB : SR_ADD});
    }
    if (!(variant & 2)) {
        sr_put_node(out, (struct sr_node){.op = SR_CONSTANT, .value = s->weight[TERMS] / unit});
        sr_put_node(out, (struct sr_node){.op = SR_ADD});
    }
    if (s->outer != SR_CONSTANT && !divide)
        sr_put_node(out, (struct sr_node){.op = (uint8_t)s->outer});
    if (s->factor.count)
        sr_put_node(out, (struct sr_node){.op = divide ? SR_DIV : SR_MUL});
    if (out->count > SR_NODES || !sr_expr_measure(out))
        return false;
    sr_expr_rewrite(out, operators);
    return out->count <= settings->maxsize &&
           (!settings->admissible || settings->admissible(out, settings->context));
}

/* ---- the stage */

static bool set_target(const struct sr_dictionary *d, const struct sr_expr *factor,
                       enum sr_op outer, int columns, struct sum *s)
{
    double h[ROWS], unit[ROWS];
    *s = (struct sum){.factor = *factor, .outer = outer, .columns = columns, .rest = HUGE_VAL};
    for (int i = 0; i < ROWS && !factor->count; i++)
        h[i] = 1;
    if (factor->count && !sr_eval(factor, &d->data, h))
        return false;
    for (int i = 0; i < ROWS; i++)
        if (!sr_op_invert(outer, d->data.y[i] / h[i], &s->z[i]))
            return false;
    return sr_dictionary_unit(s->z, unit);
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

/* One target over some of the columns; its variants, fitted. */
static void work_out(const struct sr_dictionary *d, const struct sr_settings *settings,
                     const struct sr_loss *loss, struct sr_thread *thread, struct sum *s,
                     struct sr_expr expr[VARIANTS], double reached[VARIANTS])
{
    for (int v = 0; v < VARIANTS; v++)
        reached[v] = HUGE_VAL;
    if (orr_signal_seen())
        return;
    if (s->columns <= SR_DICTIONARY_SMALL)
        solve_triples(d, s);
    else
        pursue(d, s);
    if (s->rest < promising && s->columns > SR_DICTIONARY_SMALL)
        exchange(d, s);
    if (s->terms < 2 || !weigh(d, s))
        return;
    for (int v = 0; v < VARIANTS; v++)
        if (write_sum(d, settings, s, v, &expr[v]))
            reached[v] =
                sr_constants_fit(loss, &expr[v], true, FIT_STEPS, 0, thread->rng, &thread->work);
}

static int search_sums(const struct sr_dictionary *d, const struct sr_settings *settings,
                       const struct sr_loss *loss, struct sr_thread *thread, int threads,
                       struct sr_seeds *seeds)
{
    enum sr_op outer[OUTERS];
    const int outers = list_outer(settings, outer), targets = d->factors * outers * LIMITS;
    const int count = targets * VARIANTS;
    struct sum *sum = orr_alloc((size_t)targets, sizeof *sum);
    struct sr_expr *expr = orr_alloc((size_t)count, sizeof *expr);
    double *reached = orr_alloc((size_t)count, sizeof *reached);
    const int rc = sum && expr && reached ? 0 : ORR_ENOMEM;
    if (!rc) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int t = 0; t < targets; t++) {
            const int pair = t / LIMITS, before = t % LIMITS ? limit[t % LIMITS - 1] : 0;
            const int columns = d->count < limit[t % LIMITS] ? d->count : limit[t % LIMITS];
            for (int v = 0; v < VARIANTS; v++)
                reached[t * VARIANTS + v] = HUGE_VAL;
            if (columns > before &&
                set_target(d, &d->factor[pair / outers], outer[pair % outers], columns, &sum[t]))
                work_out(d, settings, loss, &thread[omp_get_thread_num()], &sum[t],
                         expr + (size_t)t * VARIANTS, reached + (size_t)t * VARIANTS);
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
                    struct sr_thread *thread, int threads, struct sr_seeds *seeds)
{
    const uint64_t operators = sr_settings_operators(settings);
    struct sr_dictionary d = {0};
    if (loss->data->rows < ROWS || !(operators >> SR_MUL & 1) || !(operators >> SR_ADD & 1))
        return 0;
    int rc = sr_dictionary_init(&d, settings, loss->data);
    if (!rc && d.count)
        rc = search_sums(&d, settings, loss, thread, threads, seeds);
    sr_dictionary_free(&d);
    return rc;
}
