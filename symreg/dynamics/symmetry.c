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
    t->judged.shared_nats = sr_form_nats(&t->form);
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

/* Coefficients that may be fractions become these, and others are rounded to a hundredth of their
 * errors; then the components are written again. */
static int round_form(const struct sr_judge *c, struct trial *best)
{
    double misfit = best->judged.misfit;
    for (int k = 0; k < best->form.count; k++) {
        double *const value = &best->form.value[k], *const error = &best->form.error[k];
        if (isfinite(best->judged.simple[k])) {
            *value = best->judged.simple[k];
            *error = NAN;
        } else if (*error > 0 && *value != 0) {
            *value = sr_fewest_digits(*value, 0.01 * *error / fabs(*value), 17);
        }
    }
    sr_form_components(c->states, &best->form, best->judged.expr, best->group);
    best->judged.misfit = misfit;
    return 0;
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

int sr_system_vectors(const struct sr_states *s, const struct sr_language *language, double seconds,
                      struct sr_system *system)
{
    int count = 0;
    struct sr_judge judge = {0};
    if (s->order != 2 || s->dims < 2 || s->dims > 3 || s->inputs)
        return 0;
    struct sr_form *const form = orr_alloc(SR_FORMS, sizeof *form);
    struct trial *const best = orr_alloc(1, sizeof *best);
    int rc = form && best ? 0 : ORR_ENOMEM;
    rc = rc ? rc : sr_forms_find(s, form, &count);
    rc = rc ? rc : sr_judge_create(s, language, seconds, &judge);
    if (!rc) {
        best->judged.nats = HUGE_VAL;
        rc = fit_forms(&judge, form, count, best);
    }
    if (!rc && best->judged.nats < HUGE_VAL) {
        system->symmetry.nats = best->judged.nats;
        system->symmetry.by_components = system->nats;
        rc = best->judged.nats < system->nats ? round_form(&judge, best) : 0;
        if (!rc && best->judged.nats < system->nats)
            take(s, best, system);
    }
    if (judge.track)
        sr_judge_free(&judge);
    free(form);
    free(best);
    return rc;
}
