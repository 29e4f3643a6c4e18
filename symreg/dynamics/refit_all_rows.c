/* refit_all_rows.c - tables of many rows: equations are chosen by a part of the tracks, and the
 * constants of those that were chosen are fitted to all rows then, with errors that count all of
 * these. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_ROWS = 1000,
    MOST_ROWS = 3000, /* of more rows, about so many choose */
    PIECE = 300,      /* rows of a piece of a longer track, at most */
};
/* Rows of a part for each second that an equation has: a fit of one takes some 10 microseconds a
 * row, and the choice, which has 40% of the seconds, some 200 fits of each equation. */
static const double rows_a_second = 200;

/* ---- a part of the tracks */

/* Into how many pieces a track is cut. */
static size_t pieces_of(const struct sr_state_track *track)
{
    return (track->n + PIECE - 1) / PIECE;
}

/* Copies rows of a track. */
static void copy_rows(const struct sr_states *s, const struct sr_state_track *from, size_t first,
                      struct sr_state_track *to)
{
    const size_t n = to->n;
    const double *const source[] = {from->x,
                                    from->smooth,
                                    from->rate,
                                    from->bend,
                                    from->smooth_variance,
                                    from->rate_variance,
                                    from->bend_variance,
                                    from->sigma};
    double *const target[] = {to->x,
                              to->smooth,
                              to->rate,
                              to->bend,
                              to->smooth_variance,
                              to->rate_variance,
                              to->bend_variance,
                              to->sigma};
    to->label = from->label;
    to->category = from->category;
    memcpy(to->line, from->line + first, n * sizeof *to->line);
    memcpy(to->t, from->t + first, n * sizeof *to->t);
    for (size_t k = 0; k < (size_t)s->inputs; k++)
        memcpy(to->input + k * n, from->input + k * from->n + first, n * sizeof *to->input);
    for (size_t a = 0; a < sizeof source / sizeof *source; a++)
        for (size_t d = 0; d < (size_t)s->dims; d++)
            memcpy(target[a] + d * n, source[a] + d * from->n + first, n * sizeof *to->x);
}

size_t sr_states_enough(double seconds)
{
    return seconds > 0 && seconds < HUGE_VAL
               ? (size_t)fmin(fmax(rows_a_second * seconds, LEAST_ROWS), MOST_ROWS)
               : MOST_ROWS;
}

int sr_states_part(const struct sr_states *s, size_t most, struct sr_states *part)
{
    const size_t every = (s->rows + most - 1) / most;
    size_t pieces = 0, count = 0;
    bool known[SR_CATEGORIES] = {false};
    *part = *s;
    part->part = true;
    part->track = NULL;
    part->block = part->lines = NULL;
    part->csv = (struct orr_csv){0};
    for (size_t k = 0; k < s->count; k++)
        pieces += every > 1 ? pieces_of(&s->track[k]) : 1;
    size_t *const rows = orr_alloc(pieces, sizeof *rows), *const of = orr_alloc(pieces, sizeof *of),
                  *const first = orr_alloc(pieces, sizeof *first);
    int rc = rows && of && first ? 0 : ORR_ENOMEM;
    for (size_t k = 0, piece = 0; k < s->count && !rc; k++) {
        const size_t n = s->track[k].n, parts = every > 1 ? pieces_of(&s->track[k]) : 1;
        const size_t category = s->track[k].category;
        for (size_t i = 0; i < parts; i++, piece++) {
            if (piece % every && (!s->categories || known[category]))
                continue;
            known[category] = true;
            of[count] = k;
            first[count] = i * n / parts;
            rows[count] = (i + 1) * n / parts - first[count];
            count++;
        }
    }
    if (!rc)
        rc = sr_states_create(part, count, rows);
    for (size_t k = 0; k < count && !rc; k++)
        copy_rows(s, &s->track[of[k]], first[k], &part->track[k]);
    free(rows);
    free(of);
    free(first);
    return rc;
}

/* ---- all rows */

static bool is_fitted(const struct sr_judged *f)
{
    return f->nats < HUGE_VAL;
}

static void take_residual(const struct sr_judged *f, struct sr_system *system)
{
    system->residual = sqrt(f->misfit);
    system->segments = f->starts;
}

/* Fits the numbers of formulas that have an error; those without are fractions. */
static int refit_formulas(const struct sr_judge *c, struct sr_judged *f, struct sr_system *system)
{
    const int dims = c->states->dims;
    int fitted = 0;
    memcpy(f->expr, system->expr, sizeof f->expr);
    f->each = system->each;
    for (int d = 0; d < dims; d++)
        for (int i = 0, number = 0; i < f->expr[d].count; i++) {
            struct sr_node *const node = &f->expr[d].node[i];
            if (!sr_is_number(node))
                continue;
            const bool exponent = i + 1 < f->expr[d].count && node[1].op == SR_POW;
            if (!(system->error[d][number++] > 0) || (exponent && sr_is_whole(node->value)))
                node->feature = SR_FIXED;
        }
    TRY(sr_judge_fit(c, f));
    if (!is_fitted(f))
        return 0;
    for (int d = 0; d < dims; d++)
        for (int i = 0, number = 0; i < f->expr[d].count; i++) {
            struct sr_node *const node = &f->expr[d].node[i];
            if (!sr_is_number(&system->expr[d].node[i]))
                continue;
            if (sr_is_number(node)) {
                system->error[d][number] = f->error[fitted];
                node->value = sr_judged_round(node->value, f->alone[fitted++]);
            }
            node->feature = 0;
            number++;
        }
    memcpy(system->expr, f->expr, sizeof f->expr);
    for (int k = 0; k < system->constants; k++)
        for (int i = 0; i < c->states->categories; i++) {
            system->each_error.value[k][i] = f->each_error.value[k][i];
            system->each.value[k][i] =
                sr_judged_round(f->each.value[k][i], f->each_alone.value[k][i]);
        }
    take_residual(f, system);
    return 0;
}

/* Which fitted number each number of a form is, in the order of sr_form_components(): coefficients,
 * then free powers and rates; -1: it has no error and stays. */
static void number_form(const struct sr_form *form, int number[2 * SR_FORM_TERMS])
{
    int count = 0, next = form->count;
    for (int k = 0; k < form->count; k++)
        number[k] = form->error[k] > 0 ? count++ : -1;
    for (int k = 0; k < form->count; k++)
        if (form->free[k])
            number[next++] = form->free_error[k] > 0 ? count++ : -1;
}

/* Takes what the fit gave for the numbers of a form. */
static void take_form(const struct sr_judged *f, const int number[2 * SR_FORM_TERMS],
                      struct sr_form *form)
{
    for (int k = 0, next = form->count; k < form->count; k++) {
        const int own = number[k], free = form->free[k] ? number[next++] : -1;
        const double times = sr_form_times(form, k);
        if (own >= 0) {
            form->error[k] = f->error[own];
            form->value[k] = sr_judged_round(f->value[own], f->alone[own]);
        }
        if (free >= 0) {
            form->free_error[k] = times * f->error[free];
            *sr_form_number(form, k) = times * sr_judged_round(f->value[free], f->alone[free]);
        }
    }
}

/* Fits the numbers of a sum of vectors that have an error. */
static int refit_vectors(const struct sr_judge *c, struct sr_judged *f, struct sr_system *system)
{
    struct sr_form *const form = &system->symmetry.form;
    int group[SR_STATES][SR_NODES], number[2 * SR_FORM_TERMS];
    if (!sr_form_components(c->states, form, f->expr, group))
        return 0;
    number_form(form, number);
    for (int d = 0; d < c->states->dims; d++) {
        double value[SR_NODES];
        const int numbers = sr_expr_constants(&f->expr[d], value);
        for (int k = 0; k < numbers; k++)
            group[d][k] = group[d][k] < 0 ? -1 : number[group[d][k]];
    }
    f->group = (const int(*)[SR_NODES])group;
    TRY(sr_judge_fit(c, f));
    if (!is_fitted(f))
        return 0;
    take_form(f, number, form);
    sr_form_components(c->states, form, system->expr, group);
    sr_form_errors(form, c->states->dims, system->expr, f->group, system->error);
    take_residual(f, system);
    return 0;
}

int sr_system_refit(const struct sr_states *s, const struct sr_language *language,
                    struct sr_system *system)
{
    struct sr_judge judge = {0};
    if (!system->by_track)
        return 0;
    for (int d = 0; d < s->dims; d++)
        if (system->alone[d])
            return 0; /* constants of such an equation are those of a fit of it alone */
    struct sr_judged *const f = orr_alloc(1, sizeof *f);
    int rc = f ? 0 : ORR_ENOMEM;
    rc = rc ? rc : sr_judge_create(s, language, 0, &judge);
    if (!rc)
        rc = system->symmetry.vectors ? refit_vectors(&judge, f, system)
                                      : refit_formulas(&judge, f, system);
    if (judge.track)
        sr_judge_free(&judge);
    free(f);
    return rc;
}
