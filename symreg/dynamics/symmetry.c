/* symmetry.c - whether accelerations are a sum of vectors. Each form that explains the smoothed
 * accelerations (vectors.c) is fitted to the tracks by integrating, all components with the same
 * coefficients, and costs what any system does (judge.c), with its formula and its coefficients
 * counted once. It replaces what was found by components where it costs less: on the track of a
 * single orbit many functions agree, and the form is the shortest. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>

/* A form that leaves so many times what the best one leaves on the smoothed accelerations is not
 * tried: no track is followed better by it. */
static const double hopeless = 400;

/* In nats: so much likelier are sums of vectors than other equations before the tracks are seen. On
 * one track a first integral makes equations of components equivalent, as 3 x + 2 v_y and a - x. */
static const double favour = 10;
/* Evidence takes this share of the seconds. */
static const double share_of_evidence = 0.25;

struct trial {
    struct sr_form form;
    int group[SR_STATES][SR_NODES];
    struct sr_judged judged;
};

/* Fits a form to the tracks; nats are infinite where it cannot be written or followed. */
static int fit_form(const struct sr_judge *c, struct trial *t)
{
    t->judged.nats = HUGE_VAL;
    t->judged.group = (const int(*)[SR_NODES])t->group;
    t->judged.shared_nats = sr_vectors_nats(&t->form);
    if (!sr_form_components(c->states, &t->form, t->judged.expr, t->group))
        return 0;
    TRY(sr_judge_fit(c, &t->judged));
    for (int k = 0; k < t->form.count && t->judged.nats < HUGE_VAL; k++) {
        t->form.value[k] = t->judged.value[k];
        t->form.error[k] = t->judged.error[k];
    }
    return 0;
}

/* Fits all forms; *best is the likeliest. */
static int fit_forms(const struct sr_judge *c, const struct sr_form *form, int count,
                     struct trial *best)
{
    double least = HUGE_VAL;
    struct trial *const t = orr_alloc(1, sizeof *t);
    int rc = t ? 0 : ORR_ENOMEM;
    for (int k = 0; k < count; k++)
        least = fmin(least, form[k].left);
    for (int k = 0; k < count && !rc && !sr_judge_over(c); k++) {
        char text[SR_TEXT];
        if (form[k].left > hopeless * (least + (double)c->states->rows))
            continue;
        t->form = form[k];
        rc = fit_form(c, t);
        sr_form_text(c->states, &t->form, text, sizeof text);
        orr_trace("vectors: %s: %.2f nats, residual %.4g", text, t->judged.nats,
                  sqrt(t->judged.misfit));
        if (!rc && t->judged.nats < best->judged.nats)
            *best = *t;
    }
    free(t);
    return rc;
}

static bool has(const struct sr_form *form, const struct sr_vector *term)
{
    bool in = false;
    for (int k = 0; k < form->count; k++)
        in = in || !memcmp(&form->term[k], term, sizeof *term);
    return in;
}

/* Fits the form with one vector less (k below its count) or one of the list more. */
static int fit_neighbour(const struct sr_judge *c, const struct trial *from, int k,
                         const struct sr_vector *list, struct trial *t)
{
    const int count = from->form.count;
    *t = *from;
    t->judged.nats = HUGE_VAL;
    if (k < count) {
        t->form.count--;
        for (int b = k; b < t->form.count; b++) {
            t->form.term[b] = t->form.term[b + 1];
            t->form.value[b] = t->form.value[b + 1];
        }
    } else {
        if (count == SR_FORM_TERMS || has(&from->form, &list[k - count]))
            return 0;
        t->form.term[count] = list[k - count];
        t->form.value[count] = 0;
        t->form.count++;
    }
    return t->form.count ? fit_form(c, t) : 0;
}

/* Adds or takes away one vector at a time, as long as the tracks support that: smoothing takes most
 * where paths bend sharply, and least squares on its accelerations chooses vectors that make up for
 * it. */
static int improve(const struct sr_judge *c, struct trial *best)
{
    struct sr_vector list[SR_VECTOR_TERMS];
    const int listed = sr_vectors_list(c->states, list);
    struct trial *const t = orr_alloc(1, sizeof *t), *const from = orr_alloc(1, sizeof *from);
    int rc = t && from ? 0 : ORR_ENOMEM;
    for (bool better = true; better && !rc && !sr_judge_over(c);) {
        better = false;
        *from = *best;
        for (int k = 0; k < from->form.count + listed && !rc && !sr_judge_over(c); k++) {
            if (k >= from->form.count && best->judged.misfit <= c->exact)
                break; /* nothing is left to explain */
            rc = fit_neighbour(c, from, k, list, t);
            if (rc || !(t->judged.nats < best->judged.nats))
                continue;
            *best = *t;
            better = true;
        }
    }
    free(t);
    free(from);
    return rc;
}

/* Gives coefficients that may be fractions these values, where the tracks do not contradict: the
 * others are fitted again. */
static int simplify(const struct sr_judge *c, struct trial *best)
{
    int number[SR_FORM_TERMS], fixed = 0;
    struct trial *const t = orr_alloc(1, sizeof *t);
    if (!t)
        return ORR_ENOMEM;
    *t = *best;
    for (int k = 0; k < t->form.count; k++) {
        const double simple = best->judged.simple[k];
        number[k] = isfinite(simple) ? -1 : k - fixed;
        t->form.value[k] = isfinite(simple) ? simple : t->form.value[k];
        fixed += isfinite(simple);
    }
    int rc = 0;
    if (fixed && sr_form_components(c->states, &t->form, t->judged.expr, t->group)) {
        for (int d = 0; d < c->states->dims; d++)
            for (int k = 0; k < SR_NODES; k++)
                t->group[d][k] = t->group[d][k] < 0 ? -1 : number[t->group[d][k]];
        t->judged.group = (const int(*)[SR_NODES])t->group;
        rc = sr_judge_fit(c, &t->judged);
        const double worse = 0.5 * best->judged.spare *
                             (orr_log(fmax(t->judged.misfit, c->exact)) -
                              orr_log(fmax(best->judged.misfit, c->exact)));
        if (!rc && t->judged.nats < HUGE_VAL && worse <= 2 * fixed + 2) {
            for (int k = 0; k < t->form.count; k++) {
                best->form.value[k] = number[k] < 0 ? t->form.value[k] : t->judged.value[number[k]];
                best->form.error[k] = number[k] < 0 ? NAN : t->judged.error[number[k]];
            }
            best->judged.misfit = t->judged.misfit;
        }
    }
    free(t);
    return rc;
}

/* Simplifies coefficients, rounds the others to a hundredth of their errors, and writes the
 * components with them. */
static int round_form(const struct sr_judge *c, struct trial *best)
{
    TRY(simplify(c, best));
    for (int k = 0; k < best->form.count; k++) {
        double *const value = &best->form.value[k];
        if (best->form.error[k] > 0 && *value != 0)
            *value = sr_fewest_digits(*value, 0.01 * best->form.error[k] / fabs(*value), 17);
    }
    sr_form_components(c->states, &best->form, best->judged.expr, best->group);
    return 0;
}

/* Adds one vector to the form at a time that would break a symmetry, and fits both to the tracks:
 * its coefficient and error are the evidence for the symmetry. */
static int probe(const struct sr_judge *c, const struct trial *best, struct sr_symmetry *symmetry)
{
    static const enum sr_direction directions[] = {SR_VELOCITY, SR_TURNED, SR_ACROSS};
    struct trial *const t = orr_alloc(1, sizeof *t);
    int rc = t ? 0 : ORR_ENOMEM;
    const int first = c->states->dims == 2 ? 2 : 0;
    for (int k = 0; k < 3 && !rc; k++)
        for (int axis = directions[k] == SR_VELOCITY ? 2 : first; axis < 3 && !rc; axis++) {
            const int count = best->form.count;
            bool in = count == SR_FORM_TERMS;
            *t = *best;
            for (int b = 0; b < count; b++)
                in = in || (t->form.term[b].direction == directions[k] &&
                            (directions[k] == SR_VELOCITY || t->form.term[b].axis == axis));
            if (in || sr_judge_over(c))
                continue;
            t->form.term[count] = (struct sr_vector){
                .direction = directions[k], .axis = directions[k] == SR_VELOCITY ? 0 : axis};
            t->form.value[count] = 0;
            t->form.count++;
            rc = fit_form(c, t);
            if (rc || !(t->judged.nats < HUGE_VAL) || !isfinite(t->form.error[count]))
                continue;
            struct sr_probe *const to = &symmetry->probe[symmetry->probes++];
            to->term = t->form.term[count];
            to->value = t->form.value[count];
            to->error = t->form.error[count];
        }
    free(t);
    return rc;
}

static void take(const struct sr_states *s, const struct trial *best, struct sr_system *system)
{
    system->by_track = true;
    system->residual = sqrt(best->judged.misfit);
    system->segments = best->judged.starts;
    for (int d = 0; d < s->dims; d++) {
        system->expr[d] = best->judged.expr[d];
        system->alone[d] = false;
        for (int k = 0; k < SR_NODES; k++)
            system->error[d][k] = NAN;
        double value[SR_NODES];
        const int count = sr_expr_constants(&system->expr[d], value);
        for (int k = 0; k < count; k++)
            if (best->group[d][k] >= 0)
                system->error[d][k] = best->form.error[best->group[d][k]];
    }
    system->symmetry.vectors = true;
    system->symmetry.form = best->form;
    system->nats = best->judged.nats;
}

bool sr_may_be_vectors(const struct sr_states *s)
{
    return s->order == 2 && s->dims > 1 && s->dims <= 3 && !s->inputs && !s->categories;
}

int sr_system_vectors(const struct sr_states *s, const struct sr_language *language, double seconds,
                      struct sr_system *system)
{
    int count = 0;
    struct sr_judge judge = {0};
    struct sr_form *const form = orr_alloc(SR_FORMS, sizeof *form);
    struct trial *const best = orr_alloc(1, sizeof *best);
    int rc = form && best ? 0 : ORR_ENOMEM;
    rc = rc ? rc : sr_vectors_find(s, form, &count);
    rc = rc ? rc : sr_judge_create(s, language, seconds, &judge);
    if (!rc) {
        best->judged.nats = HUGE_VAL;
        judge.until_s -= judge.until_s > 0 ? share_of_evidence * seconds : 0;
        rc = fit_forms(&judge, form, count, best);
    }
    if (!rc && best->judged.nats < HUGE_VAL)
        rc = improve(&judge, best);
    judge.until_s += judge.until_s > 0 ? share_of_evidence * seconds : 0;
    if (!rc && best->judged.nats < HUGE_VAL) {
        system->symmetry.nats = best->judged.nats;
        system->symmetry.by_components = system->nats;
        rc = best->judged.nats < system->nats + favour ? round_form(&judge, best) : 0;
        if (!rc && best->judged.nats < system->nats + favour)
            take(s, best, system);
        if (!rc && system->symmetry.vectors)
            rc = probe(&judge, best, &system->symmetry);
    }
    if (judge.track)
        sr_judge_free(&judge);
    free(form);
    free(best);
    return rc;
}
