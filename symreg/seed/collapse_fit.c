/* collapse_fit.c - searches the curves phi of y = h phi(u), and fits them to the whole table. */
#include "base/stop.h"
#include "collapse.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

enum {
    PARTS = SR_COLLAPSE_PARTS,
    POINT_STEPS = 8, /* Levenberg-Marquardt steps on the curve's points */
    FIT_STEPS = 15,  /* steps on the whole table */
    FEW_STEPS = 4,
    MANY = 100,    /* candidates of each size that get a few steps */
    PER_SIZE = 36, /* candidates of each size that become seeds */
    VARIANTS = 3,
    FAR_WORSE = 30, /* a larger function is dropped at this multiple of a smaller one's score */
};

/* Allocates empty lists without zeroing their entries, as most stay unused. */
static struct sr_curves *make_found(void)
{
    struct sr_curves *found = orr_alloc_unset(1, sizeof *found);
    if (found)
        memset(found->count, 0, sizeof found->count);
    return found;
}

static int search_curves(const struct sr_collapse *c, struct sr_curve *list, int count)
{
    const struct sr_proposal *p = c->proposal;
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) reduction(max                \
                                                                                : failed)          \
    copyin(orr_stop_of_call)
    for (int task = 0; task < count * PARTS; task++) {
        struct sr_curve *curve = &list[task / PARTS];
        const int part = task % PARTS;
        const double budget = p->settings->enumerate / (task < PARTS ? 2 : 5);
        curve->found[part] = make_found();
        const int rc = curve->found[part]
                           ? sr_curves_find(p->settings, curve->x, curve->unit, curve->count,
                                            budget, part, PARTS, curve->found[part])
                           : ORR_ENOMEM;
        failed = rc > failed ? rc : failed;
    }
    for (int i = 0; i < count && !failed; i++)
        for (int part = 1; part < PARTS; part++)
            sr_curves_merge(list[i].found[0], list[i].found[part], list[i].count);
    return failed;
}

static void list_exponentials(const struct sr_proposal *p, struct sr_curve *curve)
{
    static const double exponent[SR_COLLAPSE_EXPONENTIALS] = {1.5, -1.5, 4, -4, 10, -10};
    double most = 0;
    curve->exponentials = 0;
    for (int i = 0; i < SR_ROWS; i++)
        most = fmax(most, fabs(curve->x[i]));
    if (!sr_has(p->operators, SR_EXP) || !(most > 0))
        return;
    for (int k = 0; k < SR_COLLAPSE_EXPONENTIALS; k++) {
        struct sr_expr *f = &curve->exponential[curve->exponentials++];
        f->count = 0;
        sr_put_constant(f, exponent[k] / most);
        sr_put_node(f, sr_feature_node(0));
        sr_put_op(f, SR_MUL);
        sr_put_op(f, SR_EXP);
    }
}

/* ---- formulas */

struct proposal {
    const struct sr_curve *curve;
    int target;
    const struct sr_expr *f;
    /* 0: f, 1: f + b, ...; with an outer operator: outer(a f), outer(f + b), outer(a f + b) */
    int variant;
};
/* All proposals and their results. */
struct proposals {
    int count;
    struct proposal *list;
    struct sr_expr *expr;
    double *loss;
};

/* Least-squares fit of a f + b to the inverted points, weighted so that to first order it is the
 * fit of outer(a f + b) to the points themselves. */
static bool regress_points(const struct sr_data *points, const struct sr_expr *f,
                           const struct sr_collapse_target *t, double *a, double *b)
{
    const double *z = t->inverted;
    double value[SR_ROWS], w[SR_ROWS], one[SR_ROWS], sw = 0, sf = 0, sz = 0, ff = 0, fz = 0;
    if (!sr_eval(f, points, value))
        return false;
    sr_fill(w, SR_ROWS, 1);
    sr_fill(one, SR_ROWS, 1);
    if (t->outer != SR_CONSTANT)
        sr_op_chain(points->language, t->outer, 0, SR_ROWS, z, z, t->z, one, w);
    for (int i = 0; i < SR_ROWS; i++) {
        w[i] = isfinite(w[i]) ? w[i] * w[i] : 0;
        sw += w[i];
        sf += w[i] * value[i];
        sz += w[i] * z[i];
    }
    sf /= sw;
    sz /= sw;
    for (int i = 0; i < SR_ROWS; i++) {
        ff += w[i] * (value[i] - sf) * (value[i] - sf);
        fz += w[i] * (value[i] - sf) * (z[i] - sz);
    }
    *a = fz / ff;
    *b = sz - *a * sf;
    return isfinite(*a) && *a != 0 && isfinite(*b);
}

/* Writes phi as a formula of one variable and fits its constants to the points. */
static bool make_phi(const struct proposal *p, const struct sr_settings *settings,
                     struct sr_work *work, gsl_rng *rng, struct sr_expr *phi)
{
    const struct sr_collapse_target *t = &p->curve->target[p->target];
    const struct sr_data points = {.rows = SR_ROWS,
                                   .features = 1,
                                   .x = p->curve->x,
                                   .y = t->z,
                                   .language = settings->language};
    const bool identity = t->outer == SR_CONSTANT, plain = p->variant == (identity ? 0 : 1);
    const struct sr_expr none = {.count = 0};
    struct sr_loss loss;
    double a, b;
    if (!regress_points(&points, p->f, t, &a, &b))
        return false;
    const struct sr_sum sum = {
        .factor = &none,
        .outer = {t->outer, SR_CONSTANT},
        .terms = 1,
        .weight_last = true,
        .term = {{p->f, a, identity || plain, SR_ADD}},
        .offset = identity ? p->variant == 1 : p->variant > 0,
        .d = identity || plain ? b / a : b,
    };
    if (!sr_sum_write(settings->language, &sum, settings->maxsize, phi) ||
        sr_loss_init(&loss, ORR_SR_L2, &points))
        return false;
    const double reached = sr_constants_fit(&loss, phi, true, POINT_STEPS, 0, rng, work);
    sr_loss_free(&loss);
    return isfinite(reached);
}

/* Writes h phi(u) and fits it to the whole table. Returns its loss; infinite where it is
 * unusable. */
static double fit_proposal(const struct sr_collapse *c, const struct proposal *p,
                           struct sr_thread *thread, struct sr_expr *out)
{
    const struct sr_settings *s = c->proposal->settings;
    const struct sr_loss *loss = c->proposal->loss;
    const struct sr_expr *h = &p->curve->target[p->target].factor;
    struct sr_work *work = &thread->work;
    struct sr_expr phi;
    out->count = 0;
    if (!make_phi(p, s, work, thread->rng, &phi))
        return HUGE_VAL;
    sr_put_expr(out, h);
    for (int i = 0; i < phi.count; i++)
        if (phi.node[i].op == SR_FEATURE)
            sr_put_expr(out, &c->expr[c->variable[p->curve->variable]]);
        else
            sr_put_node(out, phi.node[i]);
    if (h->count)
        sr_put_op(out, SR_MUL);
    if (!sr_put_end(s->language, out, SR_NODES) || !sr_proposal_shorten(c->proposal, out) ||
        !sr_eval(out, loss->data, work->value))
        return HUGE_VAL;
    const double scale = sr_loss_scale(loss, work->value, work->scratch);
    const double reached = sr_loss_value(loss, work->value, scale);
    return isfinite(reached) ? reached : HUGE_VAL;
}

/* Appends f in every variant to `all`, which may be NULL, from number n on; returns the new n. */
static int list_variants(const struct sr_curve *curve, int t, const struct sr_expr *f,
                         struct proposal *all, int n)
{
    const int variants = curve->target[t].outer == SR_CONSTANT ? 2 : VARIANTS;
    for (int v = 0; v < variants; v++, n++)
        if (all)
            all[n] = (struct proposal){.curve = curve, .target = t, .f = f, .variant = v};
    return n;
}

/* Appends the exponentials and the functions found for target t to `all`; skips functions that a
 * smaller one beats by far. Returns how many. `all` may be NULL. */
static int list_target(const struct sr_curve *curve, int t, struct proposal *all)
{
    const struct sr_curves *found = curve->found[0];
    double best = HUGE_VAL;
    int n = 0;
    for (int k = 0; k < curve->exponentials; k++)
        n = list_variants(curve, t, &curve->exponential[k], all, n);
    for (int size = 1; size <= SR_CURVE_SIZE; size++)
        for (int k = 0; k < found->count[t][size]; k++) {
            const struct sr_curve_found *item = &found->found[t][size][k];
            best = fmin(best, item->score);
            if (item->score > FAR_WORSE * best)
                continue;
            n = list_variants(curve, t, &item->expr, all, n);
        }
    return n;
}

static int list_proposals(const struct sr_curve *list, int count, struct proposals *all)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < list[i].count; t++)
            n += list_target(&list[i], t, NULL);
    all->list = orr_alloc((size_t)n + 1, sizeof *all->list);
    all->expr = orr_alloc((size_t)n + 1, sizeof *all->expr);
    all->loss = orr_alloc((size_t)n + 1, sizeof *all->loss);
    if (!all->list || !all->expr || !all->loss)
        return ORR_ENOMEM;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < list[i].count; t++)
            all->count += list_target(&list[i], t, all->list + all->count);
    return 0;
}

/* ---- seeds */

/* Fits the candidates' constants to the whole table, a few steps for many and more steps for the
 * best, and adds the best of every size to the seeds. */
static void add_seeds(struct sr_proposal *p, struct proposals *all)
{
    const int first = p->seeds->count, sizes = p->settings->maxsize;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int size = 1; size <= sizes; size++) {
        struct sr_thread *own = &p->thread[omp_get_thread_num()];
        int list[MANY];
        const int n = sr_best_of_size(all->expr, all->loss, all->count, size, MANY, true, list);
        for (int k = 0; k < n && !orr_signal_seen(); k++)
            all->loss[list[k]] = sr_constants_fit(p->loss, &all->expr[list[k]], true, FEW_STEPS, 0,
                                                  own->rng, &own->work);
    }
    sr_proposal_add(p, all->expr, all->loss, all->count, PER_SIZE, true, false);
    sr_proposal_fit(p, first, FIT_STEPS, false);
}

int sr_collapse_fit(const struct sr_collapse *c, struct sr_curve *list, int count)
{
    struct sr_proposal *p = c->proposal;
    struct proposals all = {0};
    for (int i = 0; i < count; i++)
        list_exponentials(p, &list[i]);
    int rc = search_curves(c, list, count);
    if (!rc)
        rc = list_proposals(list, count, &all);
    if (!rc) {
        all.count = sr_proposal_take(p, all.count);
#pragma omp parallel for schedule(dynamic, 16) num_threads(p->threads) copyin(orr_stop_of_call)
        for (int i = 0; i < all.count; i++)
            all.loss[i] =
                orr_signal_seen()
                    ? HUGE_VAL
                    : fit_proposal(c, &all.list[i], &p->thread[omp_get_thread_num()], &all.expr[i]);
        add_seeds(p, &all);
    }
    free(all.list);
    free(all.expr);
    free(all.loss);
    for (int i = 0; i < count; i++)
        for (int part = 0; part < PARTS; part++)
            free(list[i].found[part]);
    return rc;
}
