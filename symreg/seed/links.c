/* links.c - regressions of counts, positive numbers and of 0 and 1: what a loss of deviances is
 * mostly asked for, and what no other stage looks for, as squares do not show it.
 *
 * With eta = c0 + c1 t1 + c2 t2 + ... of columns or, for 0 and 1, their logarithms, the prediction
 * is 1 / (exp(eta) + 1) for the loss `bernoulli` (a logistic curve in several columns, or Hill's),
 * and exp(eta) for `poisson` and `gamma`, its factor exp(c0) a free outer one (McCullagh & Nelder,
 * Generalized Linear Models, 1989, sections 4.3 and 6.2). The terms are chosen one after the other,
 * each time the one that lowers the deviance most. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "base/stop.h"
#include "shared.h"
#include "stages.h"

enum {
    MOST_TERMS = 4,
    TERMS = 24, /* that are tried */
    KEPT = 4,   /* of each number of terms */
    FIT_STEPS = 20
};

struct term {
    int column;
    bool log;
    double coefficient;
};

struct links {
    struct sr_proposal *p;
    bool logistic;
    double constant;
    int terms, chosen;
    struct term term[TERMS], of[MOST_TERMS]; /* of: the chosen ones */
    struct sr_expr expr[TERMS];
    double loss[TERMS];
};

static void list_terms(struct links *l)
{
    const struct sr_data *data = l->p->loss->data;
    const int logs = l->logistic && sr_has(l->p->operators, SR_LOG) ? 1 : 0;
    for (int log = 0; log <= logs; log++)
        for (int f = 0; f < data->features && l->terms < TERMS; f++)
            if (!log || sr_all_positive(data->x + (size_t)f * data->rows, data->rows))
                l->term[l->terms++] = (struct term){.column = f, .log = log};
}

/* The prediction by the chosen terms and another one; false where it is too long. */
static bool write_link(const struct links *l, const struct term *next, struct sr_expr *out)
{
    struct sr_expr eta = {.count = 0};
    if (l->logistic)
        sr_put_constant(&eta, l->constant);
    for (int k = 0; k <= l->chosen; k++) {
        const struct term *t = k < l->chosen ? &l->of[k] : next;
        const struct sr_expr u = {.count = 1, .node = {sr_feature_node(t->column)}};
        sr_put_text(t->log ? "c * log(u)" : "c * u", &u, "c", &t->coefficient, &eta);
        if (k || l->logistic)
            sr_put_op(&eta, SR_ADD);
    }
    out->count = 0;
    sr_put_text(!l->logistic                      ? "exp(u)"
                : sr_has(l->p->operators, SR_INV) ? "inv(exp(u) + 1)"
                                                  : "1 / (exp(u) + 1)",
                &eta, "", NULL, out);
    return sr_put_end(l->p->settings->language, out, SR_NODES);
}

/* Fits every further term, and takes the best one; false where none is left. The numbers 1 of a
 * logistic curve stay: a step that makes them smaller makes some prediction larger than 1. */
static bool choose_term(struct links *l)
{
    struct sr_proposal *p = l->p;
    const bool divides = l->logistic && !sr_has(p->operators, SR_INV);
    const int wanted = sr_proposal_take(p, l->terms), last = l->chosen + 2 + divides;
    const uint64_t held = (uint64_t)1 << last | divides;
    double constants[SR_NODES];
    int best = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int k = 0; k < wanted; k++) {
        struct sr_work *const work = &p->thread[omp_get_thread_num()].work;
        l->loss[k] = HUGE_VAL;
        struct sr_expr *const expr = &l->expr[k];
        if (!orr_signal_seen() && write_link(l, &l->term[k], expr))
            l->loss[k] = l->logistic
                             ? sr_constants_fit_others(p->loss, expr, held, FIT_STEPS, work)
                             : sr_constants_fit(p->loss, expr, true, FIT_STEPS, 0, NULL, work);
    }
    for (int k = 1; k < wanted; k++)
        if (l->loss[k] < l->loss[best])
            best = k;
    if (!wanted || !(l->loss[best] < HUGE_VAL))
        return false;
    sr_expr_constants(&l->expr[best], constants);
    const double *c = constants + divides;
    if (l->logistic)
        l->constant = *c++;
    l->of[l->chosen++] = l->term[best];
    for (int k = 0; k < l->chosen; k++)
        l->of[k].coefficient = *c++;
    l->term[best] = l->term[--l->terms];
    for (int k = 0; k < wanted; k++)
        if (l->loss[k] < HUGE_VAL && !sr_proposal_shorten(p, &l->expr[k]))
            l->loss[k] = HUGE_VAL;
    sr_proposal_add(p, l->expr, l->loss, wanted, KEPT, false);
    return true;
}

int sr_links_find(struct sr_proposal *p)
{
    const struct sr_data *data = p->loss->data;
    struct links *l = orr_alloc(1, sizeof *l);
    double total = 0, mean = 0;
    if (!l)
        return ORR_ENOMEM;
    for (size_t i = 0; i < data->rows; i++) {
        total += sr_row_weight(data, i);
        mean += sr_row_weight(data, i) * data->y[i];
    }
    mean /= total;
    *l = (struct links){.p = p, .logistic = p->loss->kind == ORR_SR_BERNOULLI};
    l->constant = l->logistic ? orr_log((1 - mean) / mean) : 0;
    list_terms(l);
    while (isfinite(l->constant) && l->chosen < MOST_TERMS && l->terms && !sr_proposal_over(p) &&
           choose_term(l))
        ;
    free(l);
    return 0;
}
