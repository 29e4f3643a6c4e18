/* proposal.c - the seeds of one fit, its limits, and the stages that run within them. */
#include "base/stop.h"
#include "shared.h"
#include "stages.h"

#include <math.h>
#include <omp.h>

int sr_proposal_init(struct sr_proposal *p, const struct sr_stage *stage,
                     const struct sr_settings *settings, const struct sr_loss *loss,
                     struct sr_thread *thread, int threads, struct sr_seeds *seeds)
{
    *p = (struct sr_proposal){.settings = settings,
                              .stage = stage,
                              .operators = sr_settings_operators(settings),
                              .loss = loss,
                              .limit = {.evaluations = HUGE_VAL},
                              .thread = thread,
                              .threads = threads,
                              .seeds = seeds};
    seeds->count = 0;
    seeds->evaluations = 0;
    return sr_bank_init(&p->bank, settings, loss->data);
}

/* Whether a seed of the table itself has room for its outer factor, with which the front writes it:
 * one that has none is lost there, however well it fits. */
static bool has_room(const struct sr_proposal *p, const struct sr_expr *seed)
{
    static const double any = 3;
    struct sr_expr whole = *seed;
    return p->derived || seed->count + 2 <= p->settings->maxsize || sr_expr_absorb(&whole, any);
}

/* Whether some seed fits up to rounding, up to the noise, or up to what is asked for. */
static bool is_explained(const struct sr_proposal *p)
{
    static const double spare = 1.25; /* margin, because the floor is an estimate */
    const double share = p->loss->kind == ORR_SR_L2 ? p->settings->tolerance : 0;
    const double least =
        fmax(fmax(p->loss->noise, spare * p->floor), share * share * p->loss->base);
#ifdef SR_LOG_SEEDS
    if (!p->derived) /* an exact seed would hide what the later stages find */
        return false;
#endif
    for (int i = 0; i < p->seeds->count; i++)
        if (p->seeds->loss[i] <= least && has_room(p, &p->seeds->expr[i]) &&
            sr_loss_decides(p->loss, &p->seeds->expr[i]))
            return true;
    return false;
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
                     int count, int per_size, bool whole)
{
    struct sr_seeds *seeds = p->seeds;
    const int room = whole ? per_size : 1;
    for (int size = 1; size <= p->settings->maxsize && seeds->count + room <= SR_SEEDS; size++) {
        int chosen[SR_CHOSEN];
        const int n = sr_best_of_size(expr, loss, count, size, per_size, chosen);
        for (int k = 0; k < n && seeds->count < SR_SEEDS; k++) {
            if (!sr_settings_allow(p->settings, &expr[chosen[k]]))
                continue;
            seeds->loss[seeds->count] = loss[chosen[k]];
            seeds->finder[seeds->count] = 0;
            seeds->expr[seeds->count++] = expr[chosen[k]];
        }
    }
}

void sr_proposal_fit(struct sr_proposal *p, int first, int steps)
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
        sr_expr_rewrite(p->settings->language, expr, p->operators);
    }
}

bool sr_proposal_shorten(const struct sr_proposal *p, struct sr_expr *expr)
{
    const struct sr_settings *s = p->settings;
    sr_expr_rewrite(s->language, expr, p->operators);
    return expr->count <= s->maxsize && (!s->admissible || s->admissible(expr, s->context));
}

/* ---- stages */

#ifndef SR_STAGES
#define SR_STAGES ~0u /* all; bench/symreg_ablation.sh builds without one */
#endif

enum { DEPTH = 32 }; /* digits of a seed's finders */

void sr_log_derived(const struct sr_proposal *p, const struct sr_seeds *found, int before,
                    const int *from, const double *loss, int count)
{
    for (int i = before; i < p->seeds->count; i++)
        for (int k = 0; k < count; k++)
            if (p->seeds->loss[i] == loss[k])
                p->seeds->finder[i] = found->finder[from[k]] * DEPTH;
}

#ifdef SR_LOG_SEEDS /* bench/symreg_finders.sh builds with it */
#include <stdio.h>

/* Prints "seed STAGE>STAGE>... FORMULA", the outermost stage first, of columns x0, x1 ... */
static void print_seed(const struct sr_proposal *p, int i)
{
    char name[SR_FEATURES][8];
    const char *names[SR_FEATURES];
    char text[SR_TEXT];
    printf("seed ");
    for (uint64_t finder = p->seeds->finder[i]; finder; finder /= DEPTH)
        printf("%s%s", p->stage[finder % DEPTH - 1].name, finder / DEPTH ? ">" : " ");
    for (int f = 0; f < SR_FEATURES; f++) {
        snprintf(name[f], sizeof name[f], "x%d", f);
        names[f] = name[f];
    }
    struct sr_expr expr = p->seeds->expr[i];
    double scale;
    if (isfinite(sr_eval_loss(&expr, p->loss, &p->thread[0].work, &scale)))
        sr_expr_scale(&expr, scale);
    sr_expr_print(p->settings->language, &expr, names, text, sizeof text);
    printf("%s\n", text);
}

/* Of the whole table, prints the seeds from number `before` on that fit nearly as well as the
 * best. */
static void print_seeds(const struct sr_proposal *p, int before)
{
    static const double nearly = 4;
    double least = HUGE_VAL;
    for (int i = 0; i < p->seeds->count; i++)
        least = fmin(least, p->seeds->loss[i]);
    for (int i = before; i < p->seeds->count && !p->derived; i++)
        if (p->seeds->loss[i] <= fmax(nearly * least, p->loss->noise))
            print_seed(p, i);
}
#endif

static bool has_needs(const struct sr_proposal *p, const struct sr_needs *needs)
{
    const struct sr_data *data = p->loss->data;
    return !(needs->operators & ~p->operators) && (!needs->any || needs->any & p->operators) &&
           data->rows >= needs->rows && data->features >= needs->columns &&
           (!needs->most || data->features <= needs->most) &&
           !(needs->but_study && p->loss->kind == ORR_SR_STUDY) && (!needs->when || needs->when(p));
}

struct sr_limit sr_proposal_share(struct sr_proposal *p, double share)
{
    const struct sr_limit limit = p->limit;
    const double now = orr_time_s();
    if (share > 0 && limit.until_s > 0)
        p->limit.until_s = now + share * (limit.until_s - now);
    return limit;
}

int sr_proposal_run(struct sr_proposal *p, unsigned stages)
{
    int rc = 0;
    for (int row = 0; p->stage[row].find && !rc && !sr_proposal_over(p); row++) {
        const int before = p->seeds->count;
        if (!(stages & SR_STAGES & p->stage[row].bit) || !has_needs(p, &p->stage[row].needs))
            continue;
        const struct sr_limit limit = sr_proposal_share(p, p->stage[row].share);
        rc = p->stage[row].find(p);
        p->limit = limit;
        for (int i = before; i < p->seeds->count; i++)
            p->seeds->finder[i] += (uint64_t)row + 1;
#ifdef SR_LOG_SEEDS
        print_seeds(p, before);
#endif
    }
    return rc;
}
