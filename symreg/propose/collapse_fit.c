/* collapse_fit.c - the curves phi of y = h phi(u) searched, and fitted to the whole table. */
#include "collapse.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS = SR_COLLAPSE_PARTS,
    POINT_STEPS = 8, /* of Levenberg-Marquardt on the curve's points */
    FIT_STEPS = 15,  /* and on the whole table */
    FEW_STEPS = 4,
    MANY = 100,    /* of every size that get a few steps */
    PER_SIZE = 36, /* of every size that become seeds */
    VARIANTS = 3,
    FAR_WORSE = 30, /* times the score of a smaller function */
};

static int search_curves(const struct sr_collapse *c, struct sr_curve *list, int count)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads) reduction(max : failed)
    for (int task = 0; task < count * PARTS; task++) {
        struct sr_curve *curve = &list[task / PARTS];
        const int part = task % PARTS;
        const double budget = c->settings->enumerate / (task < PARTS ? 2 : 5);
        curve->found[part] = orr_alloc(1, sizeof *curve->found[part]);
        const int rc = curve->found[part]
                           ? sr_curves_find(c->settings, curve->x, curve->unit, curve->count,
                                            budget, part, PARTS, curve->found[part])
                           : ORR_ENOMEM;
        failed = rc > failed ? rc : failed;
    }
    for (int i = 0; i < count && !failed; i++)
        for (int part = 1; part < PARTS; part++)
            sr_curves_merge(list[i].found[0], list[i].found[part], list[i].count);
    return failed;
}

/* ---- formulas */

struct proposal {
    const struct sr_curve *curve;
    int target;
    const struct sr_expr *f;
    int variant; /* f, f + b; outer(a f), outer(f + b), outer(a f + b) */
    double loss;
    struct sr_expr expr;
};

static void put_constant(struct sr_expr *out, double value, enum sr_op op)
{
    sr_put_node(out, (struct sr_node){.op = SR_CONSTANT, .value = value});
    sr_put_node(out, (struct sr_node){.op = (uint8_t)op});
}

/* a f + b as close to the inverted points as may be. */
static bool regress(const struct sr_data *points, const struct sr_expr *f, const double *z,
                    double *a, double *b)
{
    double value[SR_ROWS], sf = 0, sz = 0, ff = 0, fz = 0;
    if (!sr_eval(f, points, value))
        return false;
    for (int i = 0; i < SR_ROWS; i++) {
        sf += value[i] / SR_ROWS;
        sz += z[i] / SR_ROWS;
    }
    for (int i = 0; i < SR_ROWS; i++) {
        ff += (value[i] - sf) * (value[i] - sf);
        fz += (value[i] - sf) * (z[i] - sz);
    }
    *a = fz / ff;
    *b = sz - *a * sf;
    return isfinite(*a) && *a != 0 && isfinite(*b);
}

/* phi as a formula of one variable, its constants fitted to the points. */
static bool make_phi(const struct sr_collapse *c, const struct proposal *p, struct sr_work *work,
                     gsl_rng *rng, struct sr_expr *phi)
{
    const struct sr_collapse_target *t = &p->curve->target[p->target];
    const struct sr_data points = {.rows = SR_ROWS, .features = 1, .x = p->curve->x, .y = t->z};
    const bool identity = t->outer == SR_CONSTANT, plain = p->variant == (identity ? 0 : 1);
    struct sr_loss loss;
    double a, b;
    if (!regress(&points, p->f, t->inverted, &a, &b))
        return false;
    phi->count = 0;
    sr_put_expr(phi, p->f);
    if (!identity && !plain)
        put_constant(phi, a, SR_MUL);
    if (identity ? p->variant == 1 : p->variant > 0)
        put_constant(phi, identity || plain ? b / a : b, SR_ADD);
    if (!identity)
        sr_put_node(phi, (struct sr_node){.op = (uint8_t)t->outer});
    if (phi->count > c->settings->maxsize || !sr_expr_measure(phi) ||
        sr_loss_init(&loss, ORR_SR_L2, &points))
        return false;
    const double reached = sr_constants_fit(&loss, phi, true, POINT_STEPS, 0, rng, work);
    sr_loss_free(&loss);
    return isfinite(reached);
}

/* h phi(u) on the whole table. */
static void work_out(const struct sr_collapse *c, struct proposal *p, struct sr_thread *thread)
{
    const struct sr_settings *s = c->settings;
    const struct sr_collapse_target *t = &p->curve->target[p->target];
    const struct sr_expr *h = &t->factor, *u = &c->expr[c->variable[p->curve->variable]];
    struct sr_work *work = &thread->work;
    struct sr_expr phi;
    p->loss = HUGE_VAL;
    if (!make_phi(c, p, work, thread->rng, &phi))
        return;
    p->expr.count = 0;
    sr_put_expr(&p->expr, h);
    for (int i = 0; i < phi.count; i++)
        if (phi.node[i].op == SR_FEATURE)
            sr_put_expr(&p->expr, u);
        else
            sr_put_node(&p->expr, phi.node[i]);
    if (h->count)
        sr_put_node(&p->expr, (struct sr_node){.op = SR_MUL});
    if (p->expr.count > SR_NODES || !sr_expr_measure(&p->expr))
        return;
    sr_expr_rewrite(&p->expr, sr_settings_operators(s));
    if (p->expr.count > s->maxsize || (s->admissible && !s->admissible(&p->expr, s->context)) ||
        !sr_eval(&p->expr, c->loss->data, work->value))
        return;
    const double scale = sr_loss_scale(c->loss, work->value, work->scratch);
    const double loss = sr_loss_value(c->loss, work->value, scale);
    p->loss = isfinite(loss) ? loss : HUGE_VAL;
}

/* Writes a target's functions in every variant to `all`, those left out that smaller ones meet far
 * better; returns how many. `all` may be NULL. */
static int list_target(const struct sr_curve *curve, int t, struct proposal *all)
{
    const struct sr_curves *found = curve->found[0];
    const int variants = curve->target[t].outer == SR_CONSTANT ? 2 : VARIANTS;
    double best = HUGE_VAL;
    int n = 0;
    for (int size = 1; size <= SR_CURVE_SIZE; size++)
        for (int k = 0; k < found->count[t][size]; k++) {
            const struct sr_curve_found *item = &found->found[t][size][k];
            best = fmin(best, item->score);
            if (item->score > FAR_WORSE * best)
                continue;
            for (int v = 0; v < variants; v++, n++)
                if (all)
                    all[n] = (struct proposal){
                        .curve = curve, .target = t, .f = &item->expr, .variant = v};
        }
    return n;
}

/* Every function found, in every variant; NULL when there is no memory. */
static struct proposal *list_proposals(const struct sr_curve *list, int count, int *proposals)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < list[i].count; t++)
            n += list_target(&list[i], t, NULL);
    struct proposal *all = orr_alloc((size_t)n + 1, sizeof *all);
    *proposals = n;
    n = 0;
    for (int i = 0; i < count && all; i++)
        for (int t = 0; t < list[i].count; t++)
            n += list_target(&list[i], t, all + n);
    return all;
}

/* ---- seeds */

/* Indices of the best of one size, best first. */
static int select_best(const struct proposal *all, int proposals, int size, int most, int *list)
{
    int n = 0;
    for (int i = 0; i < proposals; i++) {
        if (all[i].expr.count != size || !(all[i].loss < HUGE_VAL))
            continue;
        bool twice = false; /* equal losses: the same function */
        for (int k = 0; k < n && !twice; k++)
            twice = fabs(all[list[k]].loss - all[i].loss) <= 1e-9 * all[i].loss;
        if (twice || (n == most && all[i].loss >= all[list[n - 1]].loss))
            continue;
        int k = n < most ? n++ : n - 1;
        for (; k > 0 && all[i].loss < all[list[k - 1]].loss; k--)
            list[k] = list[k - 1];
        list[k] = i;
    }
    return n;
}

/* The best of every size, their constants fitted to the whole table: a few steps for many, more for
 * the best of them. */
static void add_seeds(const struct sr_collapse *c, struct proposal *all, int proposals,
                      struct sr_seeds *seeds)
{
    const int first = seeds->count, sizes = c->settings->maxsize;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int size = 1; size <= sizes; size++) {
        struct sr_thread *own = &c->thread[omp_get_thread_num()];
        int list[MANY];
        const int n = select_best(all, proposals, size, MANY, list);
        for (int k = 0; k < n && !orr_signal_seen(); k++)
            all[list[k]].loss = sr_constants_fit(c->loss, &all[list[k]].expr, true, FEW_STEPS, 0,
                                                 own->rng, &own->work);
    }
    for (int size = 1; size <= sizes; size++) {
        int list[PER_SIZE];
        const int n = select_best(all, proposals, size, PER_SIZE, list);
        for (int k = 0; k < n && seeds->count < SR_SEEDS; k++)
            seeds->expr[seeds->count++] = all[list[k]].expr;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int i = first; i < seeds->count; i++) {
        struct sr_thread *own = &c->thread[omp_get_thread_num()];
        orr_rng_seek(own->rng, c->settings->seed, ORR_STAGE_SYMREG, UINT64_MAX - (uint64_t)i);
        seeds->loss[i] = HUGE_VAL;
        if (!orr_signal_seen())
            seeds->loss[i] = sr_constants_fit(c->loss, &seeds->expr[i], true, FIT_STEPS, 1,
                                              own->rng, &own->work);
    }
    seeds->evaluations += proposals;
}

int sr_collapse_fit(const struct sr_collapse *c, struct sr_curve *list, int count,
                    struct sr_seeds *seeds)
{
    int proposals = 0, rc = search_curves(c, list, count);
    struct proposal *all = rc ? NULL : list_proposals(list, count, &proposals);
    if (!rc && !all)
        rc = ORR_ENOMEM;
    if (!rc) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(c->threads)
        for (int i = 0; i < proposals; i++)
            work_out(c, &all[i], &c->thread[omp_get_thread_num()]);
        add_seeds(c, all, proposals, seeds);
    }
    free(all);
    for (int i = 0; i < count; i++)
        for (int part = 0; part < PARTS; part++)
            free(list[i].found[part]);
    return rc;
}
