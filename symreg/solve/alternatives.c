/* alternatives.c - formulas beside the front that explain the table as well as the formula of rule
 * best, but are other functions (--alternatives). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

enum { REFIT_STEPS = 60 };
/* Fair losses before the fit of the constants up to this multiple of the limit are fitted. */
static const double unfitted = 2;
/* Squared values below this share of the target's are rounding. */
static const double rounding = 1e-20;

/* What the finishing of one candidate needs. */
struct finish {
    const struct sr_settings *s;
    const struct sr_data *data;
    struct sr_loss loss;
    struct sr_work work;
    struct sr_tidy tidy;
    struct sr_front one;   /* the candidate, evaluated */
    struct sr_expr *other; /* (others) functions that are known, with fitted constants */
    double *value;         /* (rows) of the candidate */
    double limit, same;    /* largest fair loss; largest mean square difference of one function */
    double length;         /* description length of the row of rule best */
    int others;
};

/* Computes the fair loss of f->one, whose formula and loss are set. */
static int judge_one(struct finish *f)
{
    f->one.count = 1;
    f->one.fair[0] = f->one.loss[0];
    f->one.compared[0] = f->one.loss[0];
    TRY(sr_front_measure(&f->loss, f->data, &f->one));
    if (sr_front_published(f->s))
        return 0;
    if (f->one.without && sr_eval(f->one.expr, f->data, f->value))
        f->one.compared[0] = sr_loss_without(&f->loss, f->value, f->one.without - 1);
    sr_front_correct(&f->one, &f->loss);
    return 0;
}

static bool is_as_good(const struct finish *f, double slack)
{
    return f->one.fair[0] <= slack * f->limit; /* false for NaN */
}

/* The sum of squared differences between f->value and another formula; NaN where that is not
 * finite. */
static double differences(const struct finish *f, const struct sr_expr *other)
{
    const size_t rows = f->data->rows, block = f->work.rows;
    double sum = 0;
    for (size_t first = 0; first < rows; first += block) {
        const size_t n = sr_block_at(rows, first, block);
        if (!sr_eval_rows(other, f->data, first, n, f->work.trial))
            return NAN;
        for (size_t i = 0; i < n; i++) {
            const double d = f->value[first + i] - f->work.trial[i];
            sum += sr_row_weight(f->data, first + i) * d * d;
        }
    }
    return sum;
}

/* Whether the values in f->value are those of a known function. */
static bool is_known(const struct finish *f)
{
    for (int k = 0; k < f->others; k++)
        if (differences(f, &f->other[k]) <= f->same * (double)f->data->rows)
            return true;
    return false;
}

/* Simplifies the formula, which joins redundant constants, and fits its constants; twice, as a fit
 * may end early where its steps have become too bold. */
static void fit_constants(struct finish *f, struct sr_expr *expr)
{
    const struct sr_settings *s = f->s;
    struct sr_expr shorter = *expr;
    if (!s->form && sr_expr_rewrite(s->language, &shorter, sr_settings_operators(s)) &&
        (!s->whole || s->whole(&shorter, s->context)))
        *expr = shorter;
    for (int k = 0; k < 2; k++)
        sr_constants_fit(&f->loss, expr, false, REFIT_STEPS, 0, NULL, &f->work);
}

/* Rounds the fitted formula as a row of the front. Infinite where the rules do not
 * allow the result. */
static double tidy_formula(struct finish *f, struct sr_expr *expr)
{
    const struct sr_settings *s = f->s;
    double reached = sr_tidy(&f->tidy, expr, &f->work);
    if (s->round) {
        reached = sr_constants_round(&f->loss, expr, s->round, &f->work);
        sr_tidy_factors(&f->tidy, expr);
    }
    if (s->whole && !s->whole(expr, s->context))
        return HUGE_VAL;
    return reached + (s->penalty ? s->penalty(expr, true, s->context) * fmax(f->loss.base, 0) : 0);
}

/* Inserts f->one by complexity and fair loss, at most settings->alternatives of a complexity. */
static void insert_one(const struct finish *f, struct sr_front *list)
{
    const int complexity = f->one.complexity[0];
    int at = 0, of_size = 0, last = 0;
    for (; at < list->count &&
           (list->complexity[at] < complexity ||
            (list->complexity[at] == complexity && list->fair[at] <= f->one.fair[0]));
         at++)
        ;
    for (int i = 0; i < list->count; i++)
        if (list->complexity[i] == complexity) {
            of_size++;
            last = i;
        }
    const bool full = of_size == f->s->alternatives;
    if ((full && at > last) || (!full && list->count > SR_NODES))
        return;
    list->count += !full;
    for (int i = full ? last : list->count - 1; i > at; i--) {
        list->complexity[i] = list->complexity[i - 1];
        list->loss[i] = list->loss[i - 1];
        list->fair[i] = list->fair[i - 1];
        list->mdl[i] = list->mdl[i - 1];
        list->score[i] = list->score[i - 1];
        list->expr[i] = list->expr[i - 1];
    }
    list->complexity[at] = complexity;
    list->loss[at] = f->one.loss[0];
    list->fair[at] = f->one.fair[0];
    list->mdl[at] = f->one.mdl[0];
    list->score[at] = f->one.mdl[0] - f->length;
    list->expr[at] = f->one.expr[0];
}

/* Finishes one candidate, and lists it where it is as good and another function. */
static int offer_entry(struct finish *f, const struct sr_near_entry *entry, struct sr_front *list)
{
    struct sr_expr *const expr = &f->one.expr[0];
    *expr = entry->expr;
    f->one.loss[0] = entry->loss;
    TRY(judge_one(f));
    if (!is_as_good(f, unfitted))
        return 0;
    fit_constants(f, expr);
    const struct sr_expr fitted = *expr;
    if (!sr_eval(expr, f->data, f->value) || is_known(f))
        return 0;
    f->one.loss[0] = tidy_formula(f, expr);
    f->one.complexity[0] = sr_expr_complexity(f->s->language, expr);
    TRY(judge_one(f));
    if (!is_as_good(f, 1))
        return 0;
    f->other[f->others++] = fitted;
    insert_one(f, list);
    return 0;
}

/* Sets the limits by the formula that rule best selects, and fits the functions of the front. */
static int start_finish(struct finish *f, const struct sr_front *front, int best)
{
    double error = 0, size = 0;
    for (int i = 0; i < front->count; i++) {
        f->other[f->others] = front->expr[i];
        fit_constants(f, &f->other[f->others++]);
    }
    if (!sr_eval(&front->expr[best], f->data, f->value))
        return 0;
    for (size_t i = 0; i < f->data->rows; i++) {
        const double w = sr_row_weight(f->data, i) / (double)f->data->rows, y = f->data->y[i];
        error += w * (f->value[i] - y) * (f->value[i] - y);
        size += w * y * y;
    }
    f->one.worth = front->worth;
    f->one.power = front->power;
    f->one.without = front->without;
    f->length = front->mdl[best];
    f->one.expr[0] = front->expr[best]; /* by its length, as the candidates, not by its evidence */
    f->one.loss[0] = front->loss[best];
    TRY(judge_one(f));
    f->limit = front->close * f->one.fair[0];
    f->same = fmax(4 * sr_snap_share(f->data->rows) * error, rounding * size);
    return 0;
}

/* Gives odd rows, which the rules leave out, the weight 0; *weight is freed by the caller. */
static int leave_odd(const struct sr_front *front, struct sr_data *data, double **weight)
{
    if (!front->odds)
        return 0;
    *weight = orr_alloc(data->rows, sizeof **weight);
    if (!*weight)
        return ORR_ENOMEM;
    for (size_t i = 0; i < data->rows; i++)
        (*weight)[i] = sr_row_weight(data, i);
    for (int k = 0; k < front->odds; k++)
        (*weight)[front->odd[k] - 1] = 0;
    data->weight = *weight;
    return 0;
}

int sr_front_alternatives(const struct sr_settings *s, const struct sr_data *data,
                          struct sr_fit *result)
{
    const struct sr_near *near = result->near;
    const int best = sr_front_select(&result->front, SR_BEST);
    if (!near || best < 0 || orr_signal_seen())
        return 0;
    struct finish *f = orr_alloc(1, sizeof *f);
    struct sr_front *list = result->alternatives = orr_alloc(1, sizeof *list);
    struct sr_data used = *data;
    double *weight = NULL;
    int rc = f && list ? leave_odd(&result->front, &used, &weight) : ORR_ENOMEM;
    if (!rc)
        rc = sr_loss_init_with(&f->loss, s->loss, s->loss_parameter, &used);
    if (rc)
        goto out;
    f->s = s;
    f->data = f->loss.data;
    f->tidy = (struct sr_tidy){s->language, &f->loss, sr_settings_operators(s),
                               s->maxsize,  s->whole, s->context};
    f->value = orr_alloc(data->rows, sizeof *f->value);
    f->other = orr_alloc((size_t)result->front.count + (size_t)near->each * (size_t)near->most,
                         sizeof *f->other);
    rc = f->value && f->other ? sr_front_work(SR_NODES, data, &f->work) : ORR_ENOMEM;
    if (!rc)
        rc = start_finish(f, &result->front, best);
    const int most = result->front.complexity[result->front.count - 1];
    for (int c = 1; c <= near->most && c <= most; c++)
        for (int i = 0; i < near->count[c] && !rc; i++)
            rc = offer_entry(f, &sr_near_list(near, c)[i], list);
    sr_work_free(&f->work);
    free(f->other);
    free(f->value);
    sr_loss_free(&f->loss);
out:
    free(weight);
    free(f);
    return rc;
}
