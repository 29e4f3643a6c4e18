/* dynamics_choice.h - the choice by the tracks alone, without a search: the formulas of fronts that
 * were kept are offered again, with the true ones beside them where that is wanted. What the choice
 * then misses is its own fault; what it finds with the true forms alone, the search lacked. */
#ifndef DYNAMICS_CHOICE_H
#define DYNAMICS_CHOICE_H

#include "dynamics_judge.h"
#include "symreg/dynamics/judge.h"

/* What a choice is made without, to measure what that is worth. */
enum dyn_part {
    DYN_WEAK = 1, /* sums of terms in integral form */
    DYN_TRACK =
        2, /* the track as the judge: the formulas that the searches selected are the answer */
    DYN_ERRORS = 4, /* errors of smoothed states and of single derivatives, which are all alike */
};
static const char *const dyn_parts[] = {"weak", "track", "errors"};

/* Gives all derivatives of a state along a track their mean variance, and smoothed states none. */
static inline void dyn_forget_errors(struct sr_states *s)
{
    for (size_t k = 0; k < s->count; k++)
        for (size_t d = 0; d < (size_t)s->dims; d++) {
            double *const variance = s->track[k].rate_variance + d * s->track[k].n, mean = 0;
            for (size_t i = 0; i < s->track[k].n; i++)
                mean += variance[i] / (double)s->track[k].n;
            for (size_t i = 0; i < s->track[k].n; i++) {
                variance[i] = mean;
                s->track[k].smooth_variance[d * s->track[k].n + i] = 0;
            }
        }
}

/* Reads DIR/xD/front.json of one answer. */
static inline int dyn_front_read(const char *folder, const struct sr_states *s, int d,
                                 struct sr_equations_found *found)
{
    char path[4096];
    const char *name[SR_STATE_NAMES];
    cJSON *json = NULL;
    enum orr_json_sum sum;
    int rc = 0;
    const cJSON *row;
    for (int k = 0; k < s->names; k++)
        name[k] = s->name[k];
    TRY(orr_path(path, "%s/%s/front.json", folder, s->name[d]));
    TRY(orr_json_read_any(path, &json, &sum));
    *found = (struct sr_equations_found){.count = 0};
    cJSON_ArrayForEach (row, orr_json_get(json, "front")) {
        const char *text = cJSON_GetStringValue(orr_json_get(row, "equation"));
        const cJSON *loss = orr_json_get(row, "loss"), *rule = orr_json_get(row, "selected_by");
        if (rc || !text || found->count > SR_NODES)
            break;
        found->best = cJSON_GetArraySize(rule) ? found->count : found->best;
        found->loss[found->count] = fmax(loss ? loss->valuedouble : 0, 1e-300);
        rc = sr_expr_parse(NULL, text, name, s->names, &found->expr[found->count++]);
    }
    cJSON_Delete(json);
    if (!rc && !found->count)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: no formulas", path);
    return rc;
}

/* Appends the sums of terms, as `symreg motion` does, and the true form unless it is NULL. */
static inline int dyn_offer(const struct sr_expr *truth, const struct sr_states *s, int d,
                            int without, struct sr_equations_found *found)
{
    static struct sr_equations_found sums;
    static bool allowed[SR_OPS];
    memset(allowed, true, sizeof allowed);
    TRY(sr_states_sums(s, d, SR_NODES, &sums));
    if (!(without & DYN_WEAK)) {
        TRY(sr_states_weak(s, d, allowed, SR_NODES, &sums));
        found->allowed = allowed;
        found->maxsize = SR_NODES;
    }
    for (int k = 0; k < sums.count && found->count + 1 < SR_EQUATIONS_FOUND; k++)
        found->expr[found->count++] = sums.expr[k];
    if (truth)
        sr_expr_copy(&found->expr[found->count++], truth);
    return 0;
}

/* The nats of a system, all infinite where no solution follows the tracks; of its constants with
 * the starts of the tracks. */
struct dyn_nats {
    double all, likelihood, form, constants, misfit;
};
static inline int dyn_weigh(const struct sr_states *s, const struct sr_language *language,
                            const struct sr_expr *expr, struct dyn_nats *nats)
{
    static struct sr_judged judged;
    struct sr_judge judge;
    int rc = sr_judge_create(s, language, 20, &judge);
    memcpy(judged.expr, expr, (size_t)s->dims * sizeof *expr);
    rc = rc ? rc : sr_judge_fit(&judge, &judged);
    nats->all = judged.nats;
    nats->misfit = judged.misfit;
    nats->likelihood =
        0.5 * (double)(s->rows * (size_t)s->dims) * orr_log(fmax(judged.misfit, judge.exact));
    nats->form = 0;
    for (int d = 0; d < s->dims; d++)
        nats->form += sr_equation_nats(&judged.expr[d], s->names - !s->explicit_time);
    nats->constants = nats->all - nats->likelihood - nats->form;
    sr_judge_free(&judge);
    return rc;
}

/* Says how likely a system is beside the true one, of[1] and of[0]. */
static inline int dyn_tell_nats(const struct sr_states *s, const struct sr_language *language,
                                const struct sr_expr *truth, const struct sr_expr *chosen,
                                struct dyn_nats of[2])
{
    TRY(dyn_weigh(s, language, truth, &of[0]));
    TRY(dyn_weigh(s, language, chosen, &of[1]));
    printf("    nats %.1f of the truth, %.1f chosen; residuals %.3f, %.3f sigma\n", of[0].all,
           of[1].all, sqrt(of[0].misfit), sqrt(of[1].misfit));
    return 0;
}

/* The true equations, without redundant constants, as of "2 * 1 / (3 + x)". */
static inline void dyn_truth(const struct dyn_system *system, struct sr_expr *truth)
{
    for (int d = 0; d < system->dims; d++) {
        truth[d] = system->equation[d];
        sr_expr_simplify(NULL, &truth[d]);
    }
}

/* Reads and smooths a table. */
static inline int dyn_states(const struct dyn_system *system, const char *table,
                             struct sr_states *s)
{
    char states[64] = "";
    for (int d = 0; d < system->dims; d++)
        snprintf(states + strlen(states), sizeof states - strlen(states), "%s%s", d ? "," : "",
                 dyn_name[d]);
    const struct sr_dynamics_options options = {.time = "t", .state = states};
    TRY(sr_states_read(table, &options, s));
    return sr_states_smooth(s, 1);
}

/* Says how likely an answer is beside the true system. The time costs where either has it. */
static inline int dyn_answer_nats(const struct dyn_system *system, const char *table,
                                  const struct dyn_answer *answer, struct dyn_nats of_both[2])
{
    struct sr_states s = {0};
    struct sr_language *const language = sr_language_create();
    struct sr_expr truth[DYN_DIMS], chosen[DYN_DIMS];
    dyn_truth(system, truth);
    for (int d = 0; d < system->dims; d++) { /* a fraction is one number */
        chosen[d] = answer->equation[d];
        sr_expr_simplify(NULL, &chosen[d]);
    }
    int rc = language ? dyn_states(system, table, &s) : ORR_ENOMEM;
    for (int d = 0; d < system->dims && !rc; d++)
        for (int k = 0; k < SR_NODES; k++) {
            const struct sr_expr *const of[] = {&truth[d], &chosen[d]};
            for (int which = 0; which < 2; which++)
                s.explicit_time = s.explicit_time ||
                                  (k < of[which]->count && of[which]->node[k].op == SR_FEATURE &&
                                   of[which]->node[k].feature == system->dims);
        }
    rc = rc ? rc : dyn_tell_nats(&s, language, truth, chosen, of_both);
    sr_states_free(&s);
    sr_language_free(language);
    return rc;
}

/* Chooses anew, in `seconds`, and says how likely the choice is beside the true system. */
static inline int dyn_choose(const struct dyn_system *system, const char *table, const char *folder,
                             double seconds, bool offer, int without, struct dyn_answer *answer,
                             struct dyn_nats of_both[2])
{
    static struct sr_equations_found found[SR_STATES];
    static struct sr_system chosen;
    struct sr_states s = {0};
    struct sr_language *const language = sr_language_create();
    const char *name[SR_STATE_NAMES];
    struct sr_expr truth[DYN_DIMS];
    dyn_truth(system, truth);
    int rc = language ? dyn_states(system, table, &s) : ORR_ENOMEM;
    if (!rc && without & DYN_ERRORS)
        dyn_forget_errors(&s);
    for (int d = 0; d < s.dims && !rc; d++) {
        rc = dyn_front_read(folder, &s, d, &found[d]);
        rc = rc ? rc : dyn_offer(offer ? &truth[d] : NULL, &s, d, without, &found[d]);
    }
    if (!rc && without & DYN_TRACK)
        for (int d = 0; d < s.dims; d++)
            chosen.expr[d] = found[d].expr[found[d].best];
    else
        rc = rc ? rc : sr_system_choose(&s, language, found, seconds * s.dims, &chosen);
    rc = rc ? rc : dyn_tell_nats(&s, language, truth, chosen.expr, of_both);
    for (int k = 0; k < s.names && !rc; k++)
        name[k] = s.name[k];
    answer->dims = system->dims;
    for (int d = 0; d < s.dims && !rc; d++) {
        sr_expr_print(NULL, &chosen.expr[d], name, answer->text[d], SR_TEXT);
        answer->equation[d] = chosen.expr[d];
    }
    sr_states_free(&s);
    sr_language_free(language);
    return rc;
}

#endif
