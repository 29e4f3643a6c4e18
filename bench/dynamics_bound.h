/* dynamics_bound.h - what could be found at most: the choice among the forms that the grammar
 * itself draws, each charged by how often it does so, with the true form always among them. No
 * program knows these probabilities; one that knew them and missed no form would be right this
 * often. Fits have a limit of time: under load with build/bench/cpu_clock.so. */
#ifndef DYNAMICS_BOUND_H
#define DYNAMICS_BOUND_H

#include <ctype.h>

#include "dynamics_choice.h"

enum {
    DYN_FORMS = 4096,   /* different forms that are told apart */
    DYN_FITTED = 40,    /* the most frequent ones, which are fitted */
    DYN_BEGINNINGS = 1, /* draws of a form whose constants are where a fit begins */
};

/* A form of all equations: its text without numbers as a hash, and draws that have it. */
struct dyn_form {
    uint64_t hash;
    int count, draw[DYN_BEGINNINGS];
};

/* Draw number `draw` of systems of so many equations, of all kinds in turn; false: too long. */
static inline bool dyn_draw(int dims, int draw, struct dyn_system *s)
{
    gsl_rng *const rng = orr_rng_create(3, ORR_STAGE_TEST_SUITE, (uint64_t)draw + 20000);
    int kinds = 0, turn;
    for (int k = 0; k < DYN_KINDS; k++)
        kinds += dims >= dyn_kinds[k].least && dims <= dyn_kinds[k].most;
    turn = draw % kinds;
    const struct dyn_kind *kind = dyn_kinds;
    while (dims < kind->least || dims > kind->most || turn-- > 0)
        kind++;
    *s = (struct dyn_system){.dims = dims, .kind = kind->name};
    memcpy(s->feature, dyn_name, (size_t)dims * sizeof *dyn_name);
    s->feature[dims] = "t";
    if (rng)
        kind->write(s, rng);
    gsl_rng_free(rng);
    return rng && dyn_join(s);
}

/* The texts without numbers and signs, which a fit finds. */
static inline uint64_t dyn_form_hash(const struct dyn_system *s)
{
    uint64_t hash = 1469598103934665603u;
    for (int d = 0; d < s->dims; d++)
        for (const char *at = s->text[d], *end; *at; at = end) {
            char c = *at == '-' ? '+' : *at;
            end = at + 1;
            if (isdigit((unsigned char)*at)) {
                char *after;
                strtod(at, &after);
                end = after;
                c = '1';
            } else if (isalpha((unsigned char)*at) && isdigit((unsigned char)at[1])) {
                c = (char)('A' + at[1] - '0');
                end = at + 2;
            }
            hash = (hash ^ (unsigned char)c) * 1099511628211u;
        }
    return hash;
}

static inline void dyn_form_count(uint64_t hash, int draw, struct dyn_form *form, int *forms)
{
    int k = 0;
    while (k < *forms && form[k].hash != hash)
        k++;
    if (k == DYN_FORMS)
        return;
    if (k == *forms)
        form[(*forms)++] = (struct dyn_form){.hash = hash};
    if (form[k].count < DYN_BEGINNINGS)
        form[k].draw[form[k].count] = draw;
    form[k].count++;
}

static inline int dyn_by_count(const void *a, const void *b)
{
    const struct dyn_form *const x = a, *const y = b;
    return y->count != x->count ? y->count - x->count : (x->hash > y->hash) - (x->hash < y->hash);
}

/* Fits a system and keeps it where it costs less than *least with its form charged so much. */
static inline int dyn_bound_try(const struct sr_judge *judge, const struct dyn_system *s,
                                double nats_of_form, double *least, struct dyn_answer *answer)
{
    static struct sr_judged judged;
    const struct sr_states *const states = judge->states;
    dyn_truth(s, judged.expr);
    TRY(sr_judge_fit(judge, &judged));
    double nats = judged.nats + nats_of_form;
    for (int d = 0; d < s->dims; d++)
        nats -= sr_equation_nats(&judged.expr[d], states->names - !states->explicit_time);
    if (!(nats < *least))
        return 0;
    *least = nats;
    answer->dims = s->dims;
    for (int d = 0; d < s->dims; d++) {
        answer->equation[d] = judged.expr[d];
        sr_expr_print(NULL, &judged.expr[d], s->feature, answer->text[d], SR_TEXT);
    }
    return 0;
}

/* The likeliest system for a table among the forms of `draws` draws, and among the true one alone
 * *told: the true form with its constants refitted. */
static inline int dyn_bound_choose(const struct dyn_system *system, const char *table, int draws,
                                   struct dyn_answer *answer, struct dyn_answer *told)
{
    static struct dyn_form form[DYN_FORMS];
    static struct dyn_system drawn;
    struct sr_states s = {0};
    struct sr_judge judge = {0};
    struct sr_language *const language = sr_language_create();
    const uint64_t truth = dyn_form_hash(system);
    int forms = 0, of_truth = 0;
    double least = HUGE_VAL, alone = HUGE_VAL;
    for (int k = 0; k < draws; k++)
        if (dyn_draw(system->dims, k, &drawn))
            dyn_form_count(dyn_form_hash(&drawn), k, form, &forms);
    orr_error_clear();
    for (int k = 0; k < forms; k++)
        of_truth += form[k].hash == truth ? form[k].count : 0;
    qsort(form, (size_t)forms, sizeof *form, dyn_by_count);
    int rc = language ? dyn_states(system, table, &s) : ORR_ENOMEM;
    rc = rc ? rc : sr_judge_create(&s, language, 1e6, &judge);
    judge.seconds = 4; /* a fit takes at most a twentieth of them */
    rc = rc ? rc : dyn_bound_try(&judge, system, 0, &alone, told);
    rc =
        rc ? rc : dyn_bound_try(&judge, system, -orr_log((of_truth + 1.0) / draws), &least, answer);
    for (int k = 0; k < forms && k < DYN_FITTED && !rc; k++)
        for (int i = 0; i < form[k].count && i < DYN_BEGINNINGS && !rc; i++)
            if (form[k].hash != truth && dyn_draw(system->dims, form[k].draw[i], &drawn))
                rc = dyn_bound_try(&judge, &drawn, -orr_log((double)form[k].count / draws), &least,
                                   answer);
    printf("    %d forms, the true one %d times of %d\n", forms, of_truth, draws);
    if (judge.track)
        sr_judge_free(&judge);
    sr_states_free(&s);
    sr_language_free(language);
    return rc;
}

#endif
