/* decide.c - the tracks decide between laws of force.
 *
 * A row of a table of forces is a mean over a window of positions, and its errors are those of
 * smoothing. The laws of the front that a search found on such a table, and those of forms.c, are
 * therefore fitted to the positions themselves by integrating them (arcs.c):
 *
 *   1. the one that the table prefers is followed along arcs that become longer, up to whole paths
 *   2. all others are fitted to short arcs, which begin on its solution
 *   3. the best of these are followed along whole paths
 *
 * The law with the least nats is chosen: those of what is left, of the formula and of its
 * constants, as in the evidence of a front. */
#include "decide.h"
#include "forms.h"
#include "symreg/value/cholesky.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORMS = 16, /* hypotheses beside the front, at most */
    CANDIDATES = FORMS + SR_NODES + 1,
    TABLE = 400,   /* rows of the table by which hypotheses are found */
    MOST = 4000,   /* rows of the paths that are followed */
    ARC = 10,      /* rows of a short arc */
    BRIEF = 5,     /* steps of a fit of short arcs */
    WITNESSES = 3, /* laws that have to agree that the noise of a path is larger */
    ROUNDS = 4,    /* in which fits to whole paths are continued, */
    UNSETTLED = 6, /* so many in each, the best first */
};
/* Residual in standard deviations above which no law counts as following the paths. */
static const double follows = 1.5;

/* Share by which losses of two forms of one law may differ, each fitted by steps. */
static const double same = 1e-6;

/* Nats more than those of the best, by short arcs, from which on whole paths are not tried. */
static const double hopeless = 100;

struct candidate {
    struct sr_form form;
    bool whole, late;           /* fitted to whole paths; its time ended before that */
    bool settled;               /* by whole paths */
    double table, nats;         /* nats by the table, by the paths */
    double chi2, spare, misfit; /* of the paths; numbers to spare; chi2 over these */
    double *state;              /* (paths.states) */
    double value[SR_NODES];
    struct sr_uncertainty u;
};
struct court {
    const struct sr_motion_court *asked;
    const struct sr_data *data;
    struct sr_paths paths;
    double begun_s, until_s;
    int count;
    struct candidate *of; /* (CANDIDATES) */
    double *states;
};

static double share_of_time(const struct court *c, double share)
{
    return c->until_s > 0 ? c->begun_s + share * (c->until_s - c->begun_s) : 0;
}

/* Half of what is left until then: a law whose steps are slow leaves time for the others. */
static double half_of(double until_s)
{
    const double now_s = orr_time_s();
    return until_s > 0 ? now_s + 0.5 * fmax(until_s - now_s, 0) : 0;
}

/* ---- candidates */

/* A part of a large table. */
static int thin_table(const struct sr_data *all, struct sr_data *part, double **block)
{
    const size_t n = all->rows < TABLE ? all->rows : TABLE, features = (size_t)all->features;
    double *const x = *block = orr_alloc((features + 2) * n, sizeof *x);
    if (!x)
        return ORR_ENOMEM;
    double *const y = x + features * n, *const weight = y + n;
    for (size_t i = 0; i < n; i++) {
        const size_t from = i * all->rows / n;
        for (size_t f = 0; f < features; f++)
            x[f * n + i] = all->x[f * all->rows + from];
        y[i] = all->y[from];
        weight[i] = sr_row_weight(all, from);
    }
    *part = (struct sr_data){.rows = n,
                             .features = all->features,
                             .x = x,
                             .y = y,
                             .weight = weight,
                             .language = all->language};
    return 0;
}

static void add(struct court *c, const struct sr_form *form, double table)
{
    if (table < HUGE_VAL && c->count < CANDIDATES)
        c->of[c->count++] = (struct candidate){.form = *form, .table = table, .nats = HUGE_VAL};
}

static int by_table(const void *a, const void *b)
{
    const double p = ((const struct candidate *)a)->table, q = ((const struct candidate *)b)->table;
    return (p > q) - (p < q);
}

static int by_nats(const void *a, const void *b)
{
    const double p = ((const struct candidate *)a)->nats, q = ((const struct candidate *)b)->nats;
    return (p > q) - (p < q);
}

/* The front's laws and other hypotheses, those that the table prefers first. */
static int find_candidates(struct court *c, const struct sr_front *front)
{
    struct sr_data part;
    double *block = NULL;
    struct sr_form_found *found = orr_alloc(FORMS, sizeof *found);
    int rc = found ? thin_table(c->data, &part, &block) : ORR_ENOMEM;
    double *const work = rc ? NULL : orr_alloc((SR_NODES + 1) * part.rows, sizeof *work);
    rc = rc ? rc : work ? 0 : ORR_ENOMEM;
    for (int i = 0; i < front->count && !rc; i++) {
        struct sr_form form;
        sr_form_make(&front->expr[i], &form);
        struct sr_form fitted = form;
        add(c, &form, sr_form_nats(&part, &form, sr_form_fit(&part, 1, &fitted, work)));
    }
    const int forms = rc ? 0
                         : sr_forms_find(c->asked->settings, &part, c->asked->features,
                                         share_of_time(c, 0.3), FORMS, found, &rc);
    for (int i = 0; i < forms; i++)
        add(c, &found[i].form, found[i].nats);
    qsort(c->of, (size_t)c->count, sizeof *c->of, by_table);
    free(work);
    free(block);
    free(found);
    return rc;
}

/* ---- fits */

static void weigh(const struct sr_paths *paths, struct candidate *one,
                  const struct sr_arcs_fit *fit)
{
    const double rows = (double)fit->numbers, spare = rows - (double)fit->starts - fit->u.constants;
    double simple[SR_NODES], nats = 0;
    one->nats = one->misfit = HUGE_VAL;
    if (!(fit->chi2 < HUGE_VAL) || !(spare >= 1))
        return;
    one->chi2 = fit->chi2;
    one->spare = spare;
    one->misfit = fit->chi2 / spare;
    const double scale = fmax(one->misfit, sr_paths_exact(paths));
    memcpy(one->value, fit->value, sizeof one->value);
    one->u = fit->u;
    for (int a = 0; a < fit->u.constants; a++)
        for (int b = 0; b < fit->u.constants; b++)
            one->u.covariance[a][b] = scale * fit->u.covariance[a][b];
    for (int a = 0; a < fit->u.constants; a++)
        one->u.error[a] = sqrt(one->u.covariance[a][a]);
    sr_measured_evidence(fit->value, &one->u, rows, &nats, simple);
    one->nats = nats + sr_expr_nats(&one->form.expr, 0) + sr_paths_nats(paths, fit);
    if (isnan(one->nats))
        one->nats = HUGE_VAL;
}

static int fit_arcs(const struct court *c, struct candidate *one, size_t rows, int steps,
                    double until_s)
{
    struct sr_arcs_fit fit;
    TRY(sr_arcs_fit(&c->paths, rows, steps, until_s, &one->form, one->state, &fit));
    weigh(&c->paths, one, &fit);
    return 0;
}

static int fit_whole(const struct court *c, struct candidate *one, size_t rows, double until_s)
{
    struct sr_arcs_fit fit;
    TRY(sr_arcs_fit_whole(&c->paths, rows, until_s, &one->form, one->state, &fit));
    weigh(&c->paths, one, &fit);
    one->whole = fit.whole;
    one->late = !fit.whole && sr_arcs_over(until_s);
    one->settled = fit.whole && fit.converged;
    return 0;
}

/* Continues fits to whole paths that ended by their number of steps, as long as they gain: where an
 * amplitude and a length nearly cancel, the last steps decide between laws. */
static int settle(struct court *c)
{
    for (int round = 0; round < ROUNDS; round++) {
        qsort(c->of, (size_t)c->count, sizeof *c->of, by_nats);
        for (int k = 0, tried = 0; k < c->count && tried < UNSETTLED; k++) {
            struct candidate *const one = &c->of[k];
            const struct candidate before = *one;
            if (!one->whole || one->settled)
                continue;
            if (sr_arcs_over(c->until_s))
                return 0;
            TRY(fit_whole(c, one, c->paths.rows, half_of(c->until_s)));
            if (!one->whole || !(one->nats < before.nats)) {
                *one = before;
                one->settled = true;
            }
            tried++;
        }
    }
    return 0;
}

static int fit_all(struct court *c)
{
    const size_t values = c->paths.states;
    const double brief_s = share_of_time(c, 0.65);
    double *state = c->states = orr_alloc((size_t)c->count * values, sizeof *state);
    if (!state)
        return ORR_ENOMEM;
    for (int k = 0; k < c->count; k++, state += values)
        c->of[k].state = state;
    memcpy(c->of[0].state, c->paths.state, values * sizeof *state);
    const struct sr_form *first[WITNESSES];
    const int witnesses = c->count < WITNESSES ? c->count : WITNESSES;
    for (int k = 0; k < witnesses; k++)
        first[k] = &c->of[k].form;
    TRY(sr_paths_correct_noise(&c->paths, first, witnesses, share_of_time(c, 0.4)));
    TRY(fit_whole(c, &c->of[0], ARC / 2, share_of_time(c, 0.5)));
    for (int k = c->count - 1; k >= 0; k--)
        memcpy(c->of[k].state, c->of[0].state, values * sizeof *state);
    for (int k = 0; k < c->count && !sr_arcs_over(brief_s); k++)
        TRY(fit_arcs(c, &c->of[k], ARC, BRIEF, half_of(brief_s)));
    for (int k = 0; k < c->count; k++)
        c->of[k].whole = false;
    qsort(c->of, (size_t)c->count, sizeof *c->of, by_nats);
    double least = HUGE_VAL; /* of whole paths, which cost more than short arcs with their starts */
    for (int k = 0; k < c->count && !sr_arcs_over(c->until_s); k++) {
        if (c->of[k].nats > least + hopeless || !(c->of[k].nats < HUGE_VAL))
            break;
        TRY(fit_whole(c, &c->of[k], 2 * ARC, half_of(c->until_s)));
        least = c->of[k].whole ? fmin(least, c->of[k].nats) : least;
    }
    return settle(c);
}

/* Whether a law was fitted to whole paths, and has a solution. */
static bool is_fitted(const struct candidate *one)
{
    return one->whole && one->nats < HUGE_VAL;
}

static bool does_follow(const struct candidate *one)
{
    return is_fitted(one) && sqrt(one->misfit) <= follows;
}

/* ---- the front */

/* A row of the front that is made. */
struct entry {
    struct sr_expr expr;
    double loss, nats, evidence;
    bool judged;
    const struct candidate *one; /* that was fitted to the paths */
};

/* The law with constants to a hundredth of the error that each has when the others stay: errors of
 * an amplitude and an exponent nearly cancel where distances hardly change. */
static struct sr_expr rounded(const struct candidate *one)
{
    struct sr_form form = one->form;
    const size_t n = (size_t)one->u.constants;
    double value[SR_NODES], inverse[SR_NODES], work[2 * SR_NODES], covariance[SR_NODES * SR_NODES];
    for (size_t a = 0; a < n; a++)
        memcpy(covariance + a * n, one->u.covariance[a], n * sizeof *covariance);
    sr_covariance_inverse(covariance, n, inverse, work);
    for (int k = 0; k < form.params; k++) {
        const double exact = one->value[k], error = k < (int)n ? sqrt(1 / inverse[k]) : 0;
        value[k] = error > 0 && exact != 0 ? sr_fewest_digits(exact, 0.01 * error / fabs(exact), 17)
                                           : exact;
    }
    sr_form_set(&form, value);
    return form.expr;
}

/* Notes what the paths say of a law of this complexity. */
static void note(const struct candidate *one, int complexity, struct sr_measured *m)
{
    const struct sr_form *form = &one->form;
    m->numbers[complexity] = form->numbers;
    m->chi2[complexity] = one->chi2;
    m->freedom[complexity] = one->spare;
    for (int k = 0; k < form->numbers; k++)
        m->error[complexity][k] = form->param[k] < 0 ? (double)NAN : one->u.error[form->param[k]];
}

/* The loss of the table for a formula. */
static double loss_of(const struct sr_loss *loss, const struct sr_expr *expr, struct sr_work *work)
{
    return sr_eval_plain(expr, loss, work);
}

static void place(const struct sr_language *language, struct entry *entry, const struct entry *one)
{
    struct entry *there = &entry[sr_expr_complexity(language, &one->expr)];
    if (!there->expr.count || (one->judged && !(there->judged && there->nats <= one->nats)))
        *there = *one;
}

/* Writes a row behind the others. */
static void append(struct sr_front *front, int complexity, const struct entry *e, double least,
                   double numbers)
{
    const double worst = 690; /* ln fair of laws that do not follow the paths */
    const int row = front->count++;
    const double fair = e->judged ? fmin(2 * (e->nats - least) / numbers, worst - 1) : worst;
    front->complexity[row] = complexity;
    front->loss[row] = front->compared[row] = e->loss;
    front->expr[row] = e->expr;
    front->fair[row] = orr_exp(fair);
    front->mdl[row] = e->judged ? e->nats : NAN;
    front->cost[row] = e->evidence;
    front->evidence[row] = e->judged ? fmax(e->evidence, DBL_MIN) : DBL_MIN;
    front->unfitted[row] = false;
    front->score[row] = 0;
    if (row)
        front->score[row] =
            (orr_log(front->fair[row - 1]) - fair) / (complexity - front->complexity[row - 1]);
}

/* The front of the entries by complexity, whose losses fall; the chosen one is in it. */
static void make_front(const struct entry *entry, int chosen, double numbers,
                       struct sr_front *front, struct sr_measured *measured)
{
    double smallest = HUGE_VAL;
    front->count = 0;
    front->within = false;
    for (int c = 1; c <= SR_NODES; c++) {
        const struct entry *e = &entry[c];
        const bool hides = c < chosen && e->loss <= (1 + same) * entry[chosen].loss,
                   falls = e->loss < (1 - same) * smallest;
        if (!e->expr.count || hides || (c != chosen && !falls))
            continue;
        smallest = e->loss;
        append(front, c, e, entry[chosen].nats, numbers);
        if (e->one)
            note(e->one, c, measured);
    }
}

static int change_front(const struct court *c, struct sr_front *front,
                        struct sr_motion_verdict *verdict)
{
    const struct sr_settings *s = c->asked->settings;
    struct entry *entry = orr_alloc(SR_NODES + 1, sizeof *entry);
    struct sr_loss loss;
    struct sr_work work = {0};
    int rc = entry ? sr_loss_init_with(&loss, s->loss, s->loss_parameter, c->data) : ORR_ENOMEM;
    if (rc) {
        free(entry);
        return rc;
    }
    rc = sr_work_init(&work, sr_block_rows(c->data), 1);
    for (int i = 0; i < front->count && !rc; i++)
        place(s->language, entry,
              &(struct entry){.expr = front->expr[i], .loss = front->loss[i], .nats = HUGE_VAL});
    int chosen = 0;
    double least = HUGE_VAL;
    for (int k = 0; k < c->count && !rc; k++) {
        const struct candidate *one = &c->of[k];
        if (!does_follow(one))
            continue;
        const double rows = (double)(c->paths.rows * (size_t)c->paths.dims);
        const struct sr_expr expr = rounded(one);
        const struct entry e = {.expr = expr,
                                .loss = loss_of(&loss, &expr, &work),
                                .one = one,
                                .nats = one->nats,
                                .judged = true,
                                .evidence = one->nats - 0.5 * rows * orr_log(one->misfit)};
        if (!(e.loss < HUGE_VAL))
            continue;
        place(s->language, entry, &e);
        if (one->nats < least) {
            least = one->nats;
            chosen = sr_expr_complexity(s->language, &e.expr);
            verdict->judged = true;
            verdict->misfit = sqrt(one->misfit);
            verdict->params = one->form.params;
            memcpy(verdict->value, one->value, sizeof verdict->value);
            memcpy(verdict->error, one->u.error, sizeof verdict->error);
        }
    }
    if (!rc && chosen)
        make_front(entry, chosen, (double)(c->paths.rows * (size_t)c->paths.dims), front,
                   &verdict->measured);
    sr_work_free(&work);
    sr_loss_free(&loss);
    free(entry);
    return rc;
}

/* ---- the whole */

int sr_motion_judge(const struct sr_motion_court *asked, const struct sr_data *data,
                    struct sr_front *front, struct sr_motion_verdict *verdict)
{
    struct court c = {.asked = asked, .data = data, .begun_s = orr_time_s()};
    c.until_s = asked->seconds > 0 ? c.begun_s + asked->seconds : 0;
    *verdict = (struct sr_motion_verdict){.misfit = NAN};
    int rc = sr_paths_create(asked->tracks, asked->table, asked->features, data->features, MOST,
                             &c.paths);
    c.paths.language = asked->settings->language;
    verdict->paths = c.paths.bodies;
    verdict->together = c.paths.together;
    c.of = orr_alloc(CANDIDATES, sizeof *c.of);
    rc = rc ? rc : c.of ? 0 : ORR_ENOMEM;
    if (!rc && c.paths.count)
        rc = find_candidates(&c, front);
    if (!rc && c.count)
        rc = fit_all(&c);
    verdict->stopped = sr_arcs_over(c.until_s);
    for (int k = 0; k < c.count; k++)
        verdict->stopped = verdict->stopped || c.of[k].late;
    for (int k = 0; k < c.count && !rc; k++)
        if (is_fitted(&c.of[k]) && !(sqrt(c.of[k].misfit) >= verdict->misfit))
            verdict->misfit = sqrt(c.of[k].misfit);
    if (!rc && verdict->misfit <= follows)
        rc = change_front(&c, front, verdict);
    free(c.states);
    free(c.of);
    sr_paths_free(&c.paths);
    return rc;
}
