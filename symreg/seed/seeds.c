/* seeds.c - runs the stages of a proposal: small formulas and their pairs, curves, sums. */
#include "base/stop.h"
#include "shared.h"
#include "stages.h"

#include <math.h>
#include <omp.h>

uint64_t sr_settings_operators(const struct sr_settings *settings)
{
    uint64_t set = (uint64_t)1 << SR_CONSTANT | (uint64_t)1 << SR_FEATURE;
    for (int i = 0; i < settings->binary_count; i++)
        set |= (uint64_t)1 << settings->binary[i];
    for (int i = 0; i < settings->unary_count; i++)
        set |= (uint64_t)1 << settings->unary[i];
    return set;
}

bool sr_settings_allow(const struct sr_settings *settings, const struct sr_expr *expr)
{
    const uint64_t product = (uint64_t)1 << SR_MUL;
    uint64_t own = sr_settings_operators(settings);
    bool nests = settings->nests;
    for (int i = 0; i < settings->guesses; i++) {
        own |= sr_expr_operators(&settings->guess[i]);
        nests = nests || sr_expr_nests(&settings->guess[i]);
    }
    const int root = expr->count - 1;
    int products = 0;
    if (settings->form)
        return true;
    if (sr_expr_operators(expr) & ~(own | product))
        return false;
    if (!nests && sr_expr_nests(expr))
        return false;
    if (own & product)
        return true;
    for (int i = 0; i < expr->count; i++)
        products += expr->node[i].op == SR_MUL;
    return products == 0 || (products == 1 && expr->node[root].op == SR_MUL &&
                             (expr->node[root - 1].op == SR_CONSTANT ||
                              expr->node[sr_expr_left(expr, root)].op == SR_CONSTANT));
}

int sr_proposal_init(struct sr_proposal *p, const struct sr_settings *settings,
                     const struct sr_loss *loss, struct sr_thread *thread, int threads,
                     struct sr_seeds *seeds)
{
    *p = (struct sr_proposal){.settings = settings,
                              .operators = sr_settings_operators(settings),
                              .loss = loss,
                              .limit = {.evaluations = HUGE_VAL},
                              .thread = thread,
                              .threads = threads,
                              .seeds = seeds};
    seeds->count = 0;
    seeds->evaluations = 0;
    const int rc = sr_bank_init(&p->bank, settings, loss->data);
    p->early = p->bank.all.count;
    return rc;
}

/* Whether some seed fits up to rounding, up to the noise, or up to what is asked for. */
static bool is_explained(const struct sr_proposal *p)
{
    static const double spare = 1.25; /* margin, because the floor is an estimate */
    const double share = p->loss->kind == ORR_SR_L2 ? p->settings->tolerance : 0;
    const double least =
        fmax(fmax(p->loss->noise, spare * p->floor), share * share * p->loss->base);
    bool explained = false;
    for (int i = 0; i < p->seeds->count; i++)
        explained = explained ||
                    (p->seeds->loss[i] <= least && sr_loss_decides(p->loss, &p->seeds->expr[i]));
    return explained;
}

bool sr_proposal_over(const struct sr_proposal *p)
{
    return orr_signal_seen() || p->seeds->evaluations >= p->limit.evaluations ||
           (p->limit.until_s > 0 && orr_time_s() >= p->limit.until_s) || is_explained(p);
}

int sr_proposal_take(struct sr_proposal *p, int wanted)
{
    const double left = p->limit.evaluations - p->seeds->evaluations;
    const int taken = wanted <= left ? wanted : (int)fmax(left, 0);
    p->seeds->evaluations += taken;
    return taken;
}

void sr_proposal_add(struct sr_proposal *p, const struct sr_expr *expr, const double *loss,
                     int count, int per_size, bool once, bool whole)
{
    struct sr_seeds *seeds = p->seeds;
    const int room = whole ? per_size : 1;
    for (int size = 1; size <= p->settings->maxsize && seeds->count + room <= SR_SEEDS; size++) {
        int chosen[SR_CHOSEN];
        const int n = sr_best_of_size(expr, loss, count, size, per_size, once, chosen);
        for (int k = 0; k < n && seeds->count < SR_SEEDS; k++) {
            if (!sr_settings_allow(p->settings, &expr[chosen[k]]))
                continue;
            seeds->loss[seeds->count] = loss[chosen[k]];
            seeds->expr[seeds->count++] = expr[chosen[k]];
        }
    }
}

void sr_proposal_fit(struct sr_proposal *p, int first, int steps, bool rewrite)
{
    enum { RESTARTS = 1 };
    struct sr_seeds *seeds = p->seeds;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) copyin(orr_stop_of_call)
    for (int i = first; i < seeds->count; i++) {
        struct sr_thread *own = &p->thread[omp_get_thread_num()];
        struct sr_expr *expr = &seeds->expr[i];
        orr_rng_seek(own->rng, p->settings->seed, ORR_STAGE_SYMREG, UINT64_MAX - (uint64_t)i);
        if (orr_signal_seen())
            continue;
        seeds->loss[i] =
            sr_constants_fit(p->loss, expr, true, steps, RESTARTS, own->rng, &own->work);
        if (rewrite)
            sr_expr_rewrite(p->settings->language, expr, p->operators);
    }
}

bool sr_proposal_shorten(const struct sr_proposal *p, struct sr_expr *expr)
{
    const struct sr_settings *s = p->settings;
    sr_expr_rewrite(s->language, expr, p->operators);
    return expr->count <= s->maxsize && (!s->admissible || s->admissible(expr, s->context));
}

void sr_proposal_fill(struct sr_proposal *p, double budget)
{
    const double eighth = p->settings->enumerate / 8;
    if (p->bank.all.tried < eighth) {
        sr_enumerate_run(&p->bank.all, budget < eighth ? budget : eighth);
        p->early = p->bank.all.count;
    }
    sr_enumerate_run(&p->bank.all, budget);
}

#ifndef SR_STAGES
#define SR_STAGES ~0u /* all; bench/symreg_ablation.sh builds without one */
#endif

int sr_proposal_run(struct sr_proposal *p, unsigned stages)
{
    /* Groups from units come first with named constants, which the table itself cannot show; else
     * after those that the table shows, so that what is found without units is found with them. */
    const bool named = p->settings->language && p->settings->language->named;
    /* the cheapest stages first, as an exact formula ends the sequence */
    const struct {
        unsigned bit;
        int (*find)(struct sr_proposal *);
    } stage[] = {{SR_STAGE_SMALL, sr_small_find},
                 {SR_STAGE_ORIGINS, sr_origins_find},
                 {SR_STAGE_POWERS, sr_powers_find},
                 {SR_STAGE_RATES, sr_rates_find},
                 {SR_STAGE_ANGLES, sr_angles_find},
                 {named ? SR_STAGE_UNITS : SR_STAGE_STRUCTURE,
                  named ? sr_dimensions_find : sr_structure_find},
                 {named ? SR_STAGE_STRUCTURE : SR_STAGE_UNITS,
                  named ? sr_structure_find : sr_dimensions_find},
                 {SR_STAGE_COMPOSED, sr_composed_find},
                 {SR_STAGE_CURVES, sr_collapse_find},
                 {SR_STAGE_PURSUIT, sr_pursuit_find}};
    int rc = 0;
    for (size_t k = 0; k < sizeof stage / sizeof *stage && !rc && !sr_proposal_over(p); k++)
        if (stages & SR_STAGES & stage[k].bit)
            rc = stage[k].find(p);
    return rc;
}

int sr_seeds_all(const struct sr_settings *settings, const struct sr_loss *loss,
                 struct sr_limit limit, struct sr_thread *thread, int threads,
                 struct sr_seeds *seeds)
{
    struct sr_proposal p;
    int rc = sr_proposal_init(&p, settings, loss, thread, threads, seeds);
    p.limit = limit;
    if (!rc) /* the first stage ignores the time limit, so that some formulas exist */
        rc = sr_small_find(&p);
    if (!rc)
        rc = sr_proposal_run(&p, ~(unsigned)SR_STAGE_SMALL);
    sr_bank_free(&p.bank);
    return rc;
}
