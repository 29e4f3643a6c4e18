/* symmetry.c - whether accelerations are a sum of vectors. Each form that explains the tracks by
 * least squares (vector_sums.c) is fitted to them by integrating, all components with the same
 * coefficients, and costs what any system does (judge.c), with its formula and its coefficients
 * counted once. It replaces what was found by components where it costs less: on the track of a
 * single orbit many functions agree, and the form is the shortest. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>

/* In nats: so much likelier are sums of vectors than other equations before the tracks are seen. On
 * one track a first integral makes equations of components equivalent, as 3 x + 2 v_y and a - x. */
static const double favour = 10;
/* A form with the time is shorter by so many nats, or it does without. */
static const double enough = 10;
/* Shares of the seconds: fits of all forms, what is added and taken away, then evidence. */
static const double share_of_forms = 0.6, share_of_evidence = 0.15;
/* A form that leaves fewer standard deviations of the noise gives a path; one that leaves more may
 * lack the time. */
static const double near = 3, missed = 1.2;
enum {
    NEXT = 8,   /* vectors that are tried as additions to a form, and forms along its solution */
    FIRST = 18, /* sums without the time that are fitted before those with it */
    FEW = 3,    /* ... where least squares prefer the time */
    TIMED = 12, /* sums with the time, behind the first FEW */
    TRIED = 256,
};

struct trial {
    struct sr_form form;
    int group[SR_STATES][SR_NODES];
    struct sr_judged judged;
};
struct search {
    struct sr_judge judge;
    int tried; /* forms that were fitted */
    struct sr_form form[TRIED];
    struct sr_sums *sums;
    struct trial best, *trial, *from; /* trial, from: of the steps of the search */
    struct sr_form shortest[2];       /* the best of one and of two vectors */
    double nats[2];
};

/* Fits a form to the tracks; nats are infinite where it cannot be written or followed. */
static int fit_form(const struct sr_judge *c, struct trial *t)
{
    int free = 0;
    t->judged.nats = HUGE_VAL;
    t->judged.group = (const int(*)[SR_NODES])t->group;
    t->judged.shared_nats = sr_vectors_nats(&t->form);
    if (!sr_form_components(c->states, &t->form, t->judged.expr, t->group))
        return 0;
    TRY(sr_judge_fit(c, &t->judged));
    for (int k = 0; k < t->form.count && t->judged.nats < HUGE_VAL; k++) {
        t->form.value[k] = t->judged.value[k];
        t->form.error[k] = t->judged.error[k];
        t->form.alone[k] = t->judged.alone[k];
        if (!t->form.free[k])
            continue;
        const double times = sr_form_times(&t->form, k);
        *sr_form_number(&t->form, k) = times * t->judged.value[t->form.count + free];
        t->form.free_alone[k] = times * t->judged.alone[t->form.count + free];
        t->form.free_error[k] = times * t->judged.error[t->form.count + free++];
    }
    return 0;
}

static bool is_same_form(const struct sr_form *a, const struct sr_form *b)
{
    bool same = a->count == b->count;
    for (int k = 0; k < a->count && same; k++) {
        bool in = false;
        for (int i = 0; i < b->count; i++)
            in = in || (a->free[k] == b->free[i] && sr_vector_is(&a->term[k], &b->term[i]));
        same = in;
    }
    return same;
}

/* Fits the trial; keeps it where it costs less than the best by more than `gain` nats. */
static int fit_trial(struct search *w, double gain, bool *better)
{
    char text[SR_TEXT];
    struct trial *const t = w->trial;
    TRY(fit_form(&w->judge, t));
    sr_form_text(w->judge.states, &t->form, text, sizeof text);
    orr_trace("vectors: %s: %.2f nats, residual %.4g", text, t->judged.nats,
              sqrt(t->judged.misfit));
    const int count = t->form.count;
    if (count <= 2 && t->judged.nats < w->nats[count - 1]) {
        w->shortest[count - 1] = t->form;
        w->nats[count - 1] = t->judged.nats;
    }
    *better = t->judged.nats < w->best.judged.nats - gain;
    if (*better)
        w->best = *t;
    return 0;
}

/* The same of a form that was not fitted before. */
static int attempt(struct search *w, double gain, bool *better)
{
    *better = false;
    for (int k = 0; k < w->tried; k++)
        if (is_same_form(&w->form[k], &w->trial->form))
            return 0;
    if (w->tried < TRIED)
        w->form[w->tried++] = w->trial->form;
    return fit_trial(w, gain, better);
}

/* Whether nothing is left to explain. */
static bool is_exact(const struct search *w)
{
    return w->best.judged.nats < HUGE_VAL && w->best.judged.misfit <= w->judge.exact;
}

/* Fits forms of the list; keeps one that costs less by more than `gain` nats. */
static int fit_forms(struct search *w, const struct sr_form *form, int count, double gain)
{
    bool better;
    int rc = 0;
    for (int k = 0; k < count && !rc && !sr_judge_over(&w->judge) && !is_exact(w); k++) {
        w->trial->form = form[k];
        rc = attempt(w, gain, &better);
        gain = better ? 0 : gain;
    }
    return rc;
}

/* Fits sums that explain the tracks by least squares along the smoothed path, from number `from`
 * of their list on. */
static int fit_sums(struct search *w, bool timed, int from, int most, double gain)
{
    struct sr_form *const form = orr_alloc(SR_FORMS, sizeof *form);
    if (!form)
        return ORR_ENOMEM;
    const int count = sr_sums_list(w->sums, timed, form) - from;
    const int rc = count > 0 ? fit_forms(w, form + from, count < most ? count : most, gain) : 0;
    free(form);
    return rc;
}

/* The form without term k. */
static void take_away(const struct sr_form *from, int k, struct sr_form *form)
{
    *form = *from;
    form->count--;
    for (int b = k; b < form->count; b++) {
        form->term[b] = from->term[b + 1];
        form->value[b] = from->value[b + 1];
        form->free[b] = from->free[b + 1];
    }
    form->free[form->count] = false;
}

static void append(const struct sr_form *from, const struct sr_vector *term, struct sr_form *form)
{
    *form = *from;
    form->term[form->count] = *term;
    form->free[form->count] = false;
    form->value[form->count++] = 0;
}

/* Adds or takes away one vector at a time, as long as the tracks support that by more than `gain`
 * nats each: smoothing takes most where paths bend sharply, and least squares chooses vectors that
 * make up for it. timed: adds vectors with the time alone. */
static int improve(struct search *w, bool timed, double gain)
{
    struct sr_vector term[NEXT];
    int rc = 0;
    for (bool any = true; any && !rc && !sr_judge_over(&w->judge);) {
        any = false;
        *w->from = w->best;
        const struct sr_form *from = &w->from->form;
        /* where nothing is left to explain, nothing is added */
        const int more = is_exact(w) ? 0 : sr_sums_more(w->sums, from, timed, NEXT, term);
        for (int k = 0; k < from->count + more && !rc && !sr_judge_over(&w->judge); k++) {
            bool better = false;
            *w->trial = *w->from;
            if (k >= from->count)
                append(from, &term[k - from->count], &w->trial->form);
            else
                take_away(from, k, &w->trial->form);
            rc = w->trial->form.count ? attempt(w, k < from->count ? 0 : gain, &better) : 0;
            any = any || better;
        }
    }
    return rc;
}

/* Frees the power of r of one vector at a time. */
static int free_powers(struct search *w, const struct sr_form *form)
{
    bool better;
    for (int k = 0; k < form->count; k++) {
        if (form->term[k].power == 0 || form->term[k].fades || form->free[k] ||
            sr_judge_over(&w->judge))
            continue;
        *w->trial = w->best;
        w->trial->form = *form;
        w->trial->form.free[k] = true;
        TRY(attempt(w, 0, &better));
    }
    return 0;
}

static bool is_power(const struct sr_form *form, int k)
{
    const struct sr_vector *term = &form->term[k];
    return term->direction == SR_RADIAL && !term->speed && !term->along && !term->height &&
           !term->time && !term->fades;
}

/* Several powers of r may stand for one that is not whole: *merged has one, whose power is free.
 * False where there are not several. */
static bool merge_powers(const struct sr_form *form, struct sr_form *merged)
{
    int first = -1, merges = 0;
    *merged = (struct sr_form){0};
    for (int k = 0; k < form->count; k++)
        if (!is_power(form, k) || first < 0) {
            const int to = merged->count++;
            first = is_power(form, k) ? to : first;
            merged->term[to] = form->term[k];
            merged->value[to] = form->value[k];
            merged->error[to] = NAN;
        } else {
            merges++;
            if (fabs(form->value[k]) > fabs(merged->value[first]))
                merged->term[first].power = form->term[k].power;
            merged->value[first] += form->value[k];
        }
    if (merges)
        merged->free[first] = true;
    return merges > 0;
}

/* Tries powers of r that are not whole, where whole ones leave something or want many vectors. */
static int try_powers(struct search *w, bool all)
{
    struct sr_form merged;
    bool better;
    if (is_exact(w) && w->best.form.count == 1)
        return 0;
    *w->from = w->best;
    for (int k = 0; k < 2; k++)
        if (w->nats[k] < HUGE_VAL)
            TRY(free_powers(w, &w->shortest[k]));
    if (all && w->from->form.count > 2)
        TRY(free_powers(w, &w->from->form));
    if (!merge_powers(&w->from->form, &merged) || sr_judge_over(&w->judge))
        return 0;
    *w->trial = w->best;
    w->trial->form = merged;
    return attempt(w, 0, &better);
}

/* Fits the best form again from where its fit stopped, as long as that helps: a fit ends after a
 * share of the seconds. */
static int polish(struct search *w)
{
    enum { MOST = 8 };
    double before = HUGE_VAL;
    bool better;
    for (int k = 0; k < MOST && !is_exact(w) && w->best.judged.misfit < 0.99 * before; k++) {
        before = w->best.judged.misfit;
        *w->trial = w->best;
        TRY(fit_trial(w, 0, &better));
        if (sr_judge_over(&w->judge))
            break;
    }
    return 0;
}

/* Makes a track of its states and of the form's accelerations along them; false where the solution
 * is not known everywhere. smooth (3 dims, n): positions, velocities, accelerations. */
static bool fill_track(const struct sr_states *s, const struct sr_form *form, size_t k,
                       double *smooth)
{
    const size_t n = s->track[k].n, dims = (size_t)s->dims;
    double x[2 * SR_STATES], vector[SR_STATES];
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < 2 * dims; d++) {
            x[d] = smooth[d * n + i];
            if (!isfinite(x[d]))
                return false;
        }
        for (size_t d = 0; d < dims; d++)
            smooth[(2 * dims + d) * n + i] = 0;
        for (int t = 0; t < form->count; t++) {
            sr_vector_at(s, &form->term[t], x, s->track[k].t[i], vector);
            for (size_t d = 0; d < dims; d++)
                smooth[(2 * dims + d) * n + i] += form->value[t] * vector[d];
        }
    }
    return true;
}

/* The best form's solution in place of the smoothed tracks: s becomes a copy of the states with
 * it, whose numbers are in *block. *found false: it is not known everywhere. */
static int solve_tracks(struct search *w, struct sr_states *s, double **block, bool *found)
{
    const struct sr_states *const own = w->judge.states;
    const size_t dims = (size_t)own->dims;
    size_t rows = 0;
    bool better;
    *s = *own;
    s->count = w->judge.tracks;
    s->track = orr_alloc(s->count, sizeof *s->track);
    *block = orr_alloc(3 * dims * own->rows, sizeof **block);
    *found = false;
    if (!s->track || !*block)
        return ORR_ENOMEM;
    for (size_t k = 0; k < s->count; k++) {
        const size_t n = own->track[k].n;
        s->track[k] = own->track[k];
        s->track[k].smooth = *block + 3 * dims * rows;
        s->track[k].rate = s->track[k].smooth + dims * n;
        s->track[k].bend = s->track[k].rate + dims * n;
        w->judge.track[k].model = s->track[k].smooth;
        rows += n;
    }
    s->rows = rows;
    *w->trial = w->best;
    const int rc = fit_trial(w, 0, &better);
    for (size_t k = 0; k < s->count; k++)
        w->judge.track[k].model = NULL;
    *found = !rc && w->trial->judged.nats < HUGE_VAL;
    for (size_t k = 0; k < s->count && *found; k++)
        *found = fill_track(s, &w->trial->form, k, s->track[k].smooth);
    return rc;
}

/* A form that follows the tracks gives a better path than smoothing: sums are chosen along it once
 * more, among them those that smoothing's errors had hidden. */
static int look_again(struct search *w)
{
    struct sr_states s;
    struct sr_sums *sums = NULL;
    double *block = NULL;
    struct sr_form *const form = orr_alloc(SR_FORMS, sizeof *form);
    bool found = false;
    int rc = form ? solve_tracks(w, &s, &block, &found) : ORR_ENOMEM;
    if (!rc && found)
        rc = sr_sums_create(&s, true, &sums);
    if (!rc && found)
        rc = fit_forms(w, form, sr_sums_likeliest(sums, NEXT, form), 0);
    if (form)
        free(s.track);
    free(block);
    free(form);
    sr_sums_free(sums);
    return rc;
}

/* Whether the best form leaves more than noise. */
static bool misses(const struct search *w)
{
    return !is_exact(w) &&
           !(w->best.judged.misfit <= missed * missed && w->best.judged.nats < HUGE_VAL);
}

/* The likeliest form of those that least squares suggest, and of their powers. */
static int find_start(struct search *w, double *without_time)
{
    struct sr_form fading[SR_FADING];
    double gain;
    int count;
    TRY(sr_sums_fading(w->sums, fading, &count, &gain));
    gain = fmax(gain, sr_sums_time(w->sums));
    const int first = gain > enough ? FEW : FIRST;
    orr_trace("vectors: sums with the time are shorter by %.2f nats", gain);
    TRY(fit_sums(w, false, 0, first, 0));
    if (w->best.judged.nats < HUGE_VAL && first == FIRST)
        TRY(try_powers(w, false));
    *without_time = w->best.judged.nats;
    if (misses(w)) {
        TRY(fit_sums(w, true, 0, FEW, enough));
        TRY(fit_forms(w, fading, count, sr_form_is_timed(&w->best.form) ? 0 : enough));
    }
    if (misses(w))
        TRY(fit_sums(w, true, FEW, TIMED, sr_form_is_timed(&w->best.form) ? 0 : enough));
    return misses(w) ? fit_sums(w, false, first, SR_FORMS, 0) : 0;
}

/* A vector and the same times t may stand for one that fades: *merged has it. False where there are
 * none. */
static bool merge_time(const struct sr_form *form, struct sr_form *merged)
{
    for (int k = 0; k < form->count; k++)
        for (int b = 0; b < form->count; b++) {
            struct sr_vector still = form->term[k];
            still.time = 0;
            if (form->term[k].time != 1 || !sr_vector_is(&still, &form->term[b]))
                continue;
            *merged = *form;
            merged->term[b].fades = merged->free[b] = true;
            merged->term[b].rate = form->value[k] / form->value[b];
            const struct sr_form whole = *merged;
            take_away(&whole, k, merged);
            return true;
        }
    return false;
}

static bool fades(const struct sr_form *form)
{
    bool any = false;
    for (int k = 0; k < form->count; k++)
        any = any || form->term[k].fades;
    return any;
}

/* The likeliest form. *without_time: the nats of the best one without the time. */
static int find_form(struct search *w, double seconds, double *without_time)
{
    const double until_s = w->judge.until_s;
    w->judge.until_s -= until_s > 0 ? (1 - share_of_forms) * seconds : 0;
    TRY(find_start(w, without_time));
    w->judge.until_s = until_s - (until_s > 0 ? share_of_evidence * seconds : 0);
    if (!(w->best.judged.nats < HUGE_VAL))
        return 0;
    const bool timed = sr_form_is_timed(&w->best.form);
    TRY(polish(w));
    if (!timed && !is_exact(w) && w->best.judged.misfit < near * near)
        TRY(look_again(w));
    TRY(improve(w, timed, timed ? enough : 0));
    *w->trial = w->best;
    if (merge_time(&w->best.form, &w->trial->form) && !sr_judge_over(&w->judge)) {
        bool better;
        TRY(attempt(w, 0, &better));
    }
    if (fades(&w->best.form)) /* beside the force that fades others may stay */
        TRY(improve(w, false, 0));
    TRY(polish(w));
    if (!timed) {
        TRY(try_powers(w, true));
        *without_time = w->best.judged.nats;
        TRY(improve(w, true, enough));
    }
    w->judge.until_s = until_s;
    return 0;
}

/* Takes the numbers of a trial in which some were given their values: number[k] is -1. */
static void take_numbers(const struct trial *t, const int *number, struct sr_form *form)
{
    int next = form->count;
    for (int k = 0; k < form->count; k++) {
        form->value[k] = number[k] < 0 ? t->form.value[k] : t->judged.value[number[k]];
        form->error[k] = number[k] < 0 ? NAN : t->judged.error[number[k]];
        form->alone[k] = number[k] < 0 ? NAN : t->judged.alone[number[k]];
        if (!form->free[k])
            continue;
        const int of = number[next++];
        const double times = sr_form_times(form, k);
        form->free[k] = of >= 0;
        form->term[k] = t->form.term[k];
        if (of >= 0)
            *sr_form_number(form, k) = times * t->judged.value[of];
        form->free_error[k] = of < 0 ? NAN : times * t->judged.error[of];
        form->free_alone[k] = of < 0 ? NAN : times * t->judged.alone[of];
    }
}

/* Gives numbers of a form that may be fractions these values. number[k]: which of those that are
 * left number k is; -1: a fraction. *farthest: the fraction that is most standard errors from its
 * number. Returns how many there are. */
static int put_fractions(const struct sr_judged *fitted, struct sr_form *form, int *number,
                         int *farthest)
{
    int fixed = 0, left = 0, next = form->count;
    double most = 0;
    *farthest = -1;
    for (int k = 0; k < fitted->constants; k++) {
        const double off = fabs(fitted->simple[k] - fitted->value[k]) / fitted->error[k];
        number[k] = isfinite(fitted->simple[k]) ? -1 : left++;
        if (number[k] >= 0)
            continue;
        fixed++;
        if (*farthest < 0 || off > most) {
            *farthest = k;
            most = off;
        }
    }
    for (int k = 0; k < form->count; k++) {
        if (number[k] < 0)
            form->value[k] = fitted->simple[k];
        if (form->free[k] && number[next++] < 0)
            *sr_form_number(form, k) = sr_form_times(form, k) * fitted->simple[next - 1];
    }
    return fixed;
}

/* Writes numbers that may be fractions as these, as far as the tracks do not contradict
 * (sr_judge_loses_little()); the others are fitted again. */
static int simplify(const struct sr_judge *c, struct trial *best)
{
    int number[SR_NODES] = {0}, farthest, rc = 0;
    struct trial *const t = orr_alloc(1, sizeof *t);
    if (!t)
        return ORR_ENOMEM;
    while (!rc) {
        *t = *best;
        const int fixed = put_fractions(&best->judged, &t->form, number, &farthest);
        if (!fixed || !sr_form_components(c->states, &t->form, t->judged.expr, t->group))
            break;
        for (int d = 0; d < c->states->dims; d++)
            for (int k = 0; k < SR_NODES; k++)
                t->group[d][k] = t->group[d][k] < 0 ? -1 : number[t->group[d][k]];
        t->judged.group = (const int(*)[SR_NODES])t->group;
        rc = sr_judge_fit(c, &t->judged);
        if (!rc && sr_judge_loses_little(c, &t->judged, &best->judged, fixed)) {
            take_numbers(t, number, &best->form);
            best->judged.misfit = t->judged.misfit;
            break;
        }
        best->judged.simple[farthest] = NAN;
    }
    free(t);
    return rc;
}

/* Simplifies numbers, rounds the others, and writes the components with them. */
static int round_form(const struct sr_judge *c, struct trial *best)
{
    TRY(simplify(c, best));
    for (int k = 0; k < best->form.count; k++) {
        double *const value = &best->form.value[k], *const number = sr_form_number(&best->form, k);
        const double times = sr_form_times(&best->form, k);
        *value = sr_judged_round(*value, best->form.alone[k]);
        if (best->form.free[k])
            *number = times * sr_judged_round(*number / times, best->form.free_alone[k] / times);
    }
    sr_form_components(c->states, &best->form, best->judged.expr, best->group);
    return 0;
}

/* Fits the form with one vector more: its coefficient and error are evidence. */
static int probe_vector(const struct sr_judge *c, const struct trial *best,
                        const struct sr_vector *term, struct trial *t, struct sr_symmetry *symmetry)
{
    const int count = best->form.count;
    if (count == SR_FORM_TERMS || sr_judge_over(c))
        return 0;
    *t = *best;
    append(&best->form, term, &t->form);
    TRY(fit_form(c, t));
    if (!(t->judged.nats < HUGE_VAL) || !isfinite(t->form.error[count]))
        return 0;
    symmetry->probe[symmetry->probes++] = (struct sr_probe){
        .term = *term, .value = t->form.value[count], .error = t->form.error[count]};
    return 0;
}

/* Adds one vector to the form at a time that would break a symmetry, and fits both to the tracks:
 * its coefficient and error are the evidence for the symmetry. The last one lets the coefficient of
 * the first vector drift with the time. */
static int probe(const struct sr_judge *c, const struct trial *best, struct sr_symmetry *symmetry)
{
    static const enum sr_direction directions[] = {SR_VELOCITY, SR_TURNED, SR_ACROSS};
    struct trial *const t = orr_alloc(1, sizeof *t);
    int rc = t ? 0 : ORR_ENOMEM;
    const int first = c->states->dims == 2 ? 2 : 0;
    for (int k = 0; k < 3 && !rc; k++)
        for (int axis = directions[k] == SR_VELOCITY ? 2 : first; axis < 3 && !rc; axis++) {
            bool in = false;
            const struct sr_vector term = {.direction = directions[k],
                                           .axis = directions[k] == SR_VELOCITY ? 0 : axis};
            for (int b = 0; b < best->form.count; b++)
                in = in || (best->form.term[b].direction == directions[k] &&
                            (directions[k] == SR_VELOCITY || best->form.term[b].axis == axis));
            rc = in ? 0 : probe_vector(c, best, &term, t, symmetry);
        }
    if (!rc && !sr_form_is_timed(&best->form)) {
        struct sr_vector drift = best->form.term[0];
        drift.time = 1;
        rc = probe_vector(c, best, &drift, t, symmetry);
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
    }
    sr_form_errors(&best->form, s->dims, system->expr, best->group, system->error);
    system->symmetry.vectors = true;
    system->symmetry.form = best->form;
    system->nats = best->judged.nats;
}

bool sr_may_be_vectors(const struct sr_states *s)
{
    return s->order == 2 && s->dims > 1 && s->dims <= 3 && !s->inputs && !s->categories;
}

bool sr_vectors_win(const struct sr_system *vectors, const struct sr_system *components)
{
    return vectors->by_track && vectors->nats < components->nats + favour;
}

static int search_vectors(const struct sr_states *s, struct search *w, double seconds,
                          struct sr_system *system)
{
    double without_time = HUGE_VAL;
    TRY(sr_sums_create(s, false, &w->sums));
    TRY(find_form(w, seconds, &without_time));
    if (!(w->best.judged.nats < HUGE_VAL))
        return 0;
    TRY(round_form(&w->judge, &w->best));
    take(s, &w->best, system);
    if (sr_form_is_timed(&system->symmetry.form))
        system->time_gain = system->symmetry.time_nats = without_time - system->nats;
    return probe(&w->judge, &w->best, &system->symmetry);
}

int sr_system_vectors(const struct sr_states *s, const struct sr_language *language, double seconds,
                      struct sr_system *system)
{
    struct search *const w = orr_alloc(1, sizeof *w);
    *system = (struct sr_system){.residual = NAN, .follows_time = -1, .nats = HUGE_VAL};
    int rc = w ? sr_judge_create(s, language, seconds, &w->judge) : ORR_ENOMEM;
    if (!rc) {
        w->best.judged.nats = w->nats[0] = w->nats[1] = HUGE_VAL;
        w->trial = orr_alloc(1, sizeof *w->trial);
        w->from = orr_alloc(1, sizeof *w->from);
        rc = w->trial && w->from ? search_vectors(s, w, seconds, system) : ORR_ENOMEM;
    }
    if (w) {
        if (w->judge.track)
            sr_judge_free(&w->judge);
        sr_sums_free(w->sums);
        free(w->trial);
        free(w->from);
    }
    free(w);
    return rc;
}
