/* finish.c - steps between a search and its results, for the program and the library: the front is
 * refitted on all rows, rounded and evaluated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

enum { REFINE_STEPS = 30 };

static double seconds_left(double seconds, enum sr_limit_of what, double started_s)
{
    static const double
        share[] =
            {[SR_LIMIT_OF_SEARCH] = 1, [SR_LIMIT_OF_ALL] = 1.05, [SR_LIMIT_OF_CATEGORIES] = 1.1},
        more_s[] = {
            [SR_LIMIT_OF_SEARCH] = 0.4, [SR_LIMIT_OF_ALL] = 0.6, [SR_LIMIT_OF_CATEGORIES] = 1};
    return fmax(share[what] * seconds + more_s[what] - (orr_time_s() - started_s), 0.3);
}

double sr_time_limit(double seconds, enum sr_limit_of what, double started_s)
{
    return seconds > 0 ? orr_time_s() + seconds_left(seconds, what, started_s) : 0;
}

int sr_front_work(int constants, const struct sr_data *data, struct sr_work *work)
{
    const int most = constants > 1 ? constants : 1;
    const int room = data->rows > SR_LARGE_TABLE ? 2 * data->features : SR_NODES;
    return sr_work_init(work, sr_block_rows(data), 2 * (most < room ? most : room) - 1);
}

/* Without factors that have become 1, unless they carry a dimension. */
static void drop_ones(const struct sr_settings *s, struct sr_expr *expr)
{
    struct sr_expr shorter = *expr;
    if (!s->form && sr_drop_ones(s->language, false, &shorter) &&
        (!s->whole || s->whole(&shorter, s->context)))
        *expr = shorter;
}

/* Rounds the constants as the settings say. Returns the loss. */
static double round_form(const struct sr_settings *s, const struct sr_tidy *tidy,
                         struct sr_expr *expr, struct sr_work *work)
{
    if (s->round == SR_ROUND_LIKELY && !s->form && !s->whole &&
        sr_constants_tie(tidy->loss, expr, work))
        sr_snap(tidy->loss, expr, work);
    const double reached = sr_constants_round(tidy->loss, expr, s->round, work);
    drop_ones(s, expr);
    sr_tidy_factors(tidy, expr);
    return reached;
}

/* Numbers of two terms that are the same within their errors become one, c u - d v = c (u - v): at
 * equal complexity the search keeps the form with the freer numbers, of which the choice counts one
 * too many. The loss may rise as by one rounded constant. False where there are none. */
static bool join_numbers(const struct sr_tidy *tidy, const struct sr_expr *expr,
                         struct sr_expr *joined, struct sr_work *work)
{
    enum { LEAST_SPARE = 20 };
    const struct sr_loss *loss = tidy->loss;
    const size_t rows = loss->data->rows, least = (size_t)sr_expr_constants(expr, NULL);
    const double reached = sr_eval_plain(expr, loss, work);
    const double limit = fmax(reached * (1 + 4 / (double)rows), loss->noise);
    struct sr_expr other;
    bool found = false;
    *joined = *expr;
    if (loss->kind != ORR_SR_L2 || !isfinite(reached) || rows < least + LEAST_SPARE)
        return false;
    for (int i = joined->count - 1; i > 0 && !sr_fit_over(work); i--) {
        if (!sr_tidy_join(tidy, joined, i, &other) ||
            !(sr_constants_fit(loss, &other, false, REFINE_STEPS, 0, NULL, work) <= limit))
            continue;
        *joined = other;
        i = joined->count;
        found = true;
    }
    if (found) /* the fit leaves 16 digits, with which two short numbers would seem shorter */
        sr_snap(loss, joined, work);
    return found;
}

/* Writes 1 for numbers of logistic curves, 1 / (exp(u) + 0.9999), that are 1 within two standard
 * errors: the search frees them, and the curve would be no operator (cost_of() in likelihood.c). */
static void round_links(const struct sr_loss *loss, struct sr_expr *expr, struct sr_work *work)
{
    const double rows = (double)loss->data->rows,
                 limit = sr_eval_plain(expr, loss, work) + 4 / rows;
    for (int i = 2; i + 1 < expr->count && loss->kind == ORR_SR_BERNOULLI; i++) {
        const int number = sr_link_number(expr, i);
        struct sr_expr one = *expr;
        if (number < 0 || !(fabs(expr->node[number].value - 1) > 0) || sr_fit_over(work))
            continue;
        one.node[number].value = 1;
        one.node[number].feature = SR_FIXED;
        if (!(sr_constants_fit(loss, &one, false, REFINE_STEPS, 0, NULL, work) <= limit))
            continue;
        one.node[number].feature = 0;
        *expr = one;
        sr_snap(loss, expr, work);
        expr->node[number].value = 1;
    }
}

/* round_form(), also of the form with the factor of a sum in its terms, 3 x + 2 z, not 3 (x + z /
 * 1.5), and of that with one number for two: the form with the fewest digits. */
static double round_constants(const struct sr_settings *s, const struct sr_tidy *tidy,
                              struct sr_expr *expr, struct sr_work *work)
{
    struct sr_expr other[2];
    const bool has[2] = {sr_tidy_distribute(tidy, expr, &other[0]),
                         s->round == SR_ROUND_LIKELY && !s->form &&
                             join_numbers(tidy, expr, &other[1], work)};
    if (s->round == SR_ROUND_LIKELY && !s->form)
        round_links(tidy->loss, expr, work);
    double reached = round_form(s, tidy, expr, work);
    for (int k = 0; k < 2; k++) {
        const double loss = has[k] ? round_form(s, tidy, &other[k], work) : HUGE_VAL;
        if (!isfinite(loss) || !(sr_digits(&other[k]) < sr_digits(expr)))
            continue;
        *expr = other[k];
        reached = loss;
    }
    return reached;
}

/* Fits the constants of the front's formulas; sets front->unfitted where no time is left. */
static void fit_rows(const struct sr_loss *loss, bool sampled, struct sr_front *front,
                     struct sr_work *work)
{
    for (int i = 0; i < front->count; i++) {
        struct sr_expr *expr = &front->expr[i];
        if ((!sampled && front->loss[i] <= 0) || sr_expr_constants(expr, NULL) == 0)
            continue;
        if (!sr_fit_over(work))
            sr_constants_fit(loss, expr, false, REFINE_STEPS, 0, NULL, work);
        front->unfitted[i] = sr_fit_over(work);
    }
}

/* Whether the subtree that ends at i is a number, or one that multiplies what has no other. */
static bool is_one_number(const struct sr_expr *expr, int i)
{
    const int left = sr_expr_left(expr, i);
    int numbers = 0;
    for (int k = sr_expr_start(expr, i); k <= i; k++)
        numbers += sr_is_number(&expr->node[k]);
    return sr_is_number(&expr->node[i]) ||
           (numbers == 1 && expr->node[i].op == SR_MUL &&
            (sr_is_number(&expr->node[left]) || sr_is_number(&expr->node[i - 1])));
}

/* Lists the nodes whose subtree may stand for the one that ends at i where what goes says nothing:
 * the other side of a number, or a term with one, that is added, and of a factor; the number where
 * the other side is small beside it; u of sin(u), log(1 + u), exp(u) - 1, where u is small. */
static int list_parts(const struct sr_expr *expr, int i, int part[3])
{
    const struct sr_node *const node = expr->node;
    const enum sr_op op = node[i].op;
    const int right = i - 1;
    if (op == SR_SIN || op == SR_TAN || op == SR_TANH || op == SR_ASIN || op == SR_ATAN)
        return part[0] = right, 1;
    const bool shifts = op == SR_LOG && node[right].op == SR_ADD;
    const int sum = shifts ? right : i, last = sum - 1;
    if (!shifts && op != SR_ADD && op != SR_SUB && op != SR_MUL && op != SR_DIV)
        return 0;
    const int first = sr_expr_left(expr, sum);
    const bool ends = sr_is_number(&node[last]), begins = sr_is_number(&node[first]);
    int count = 0;
    if (shifts)
        return ends || begins ? part[0] = ends ? first : last, 1 : 0;
    if (op == SR_MUL || op == SR_DIV)
        return ends || (begins && op == SR_MUL) ? part[0] = ends ? first : last, 1 : 0;
    const bool term = is_one_number(expr, last);
    if (term || (op == SR_ADD && is_one_number(expr, first)))
        part[count++] = term ? first : last;
    if (ends || begins)
        part[count++] = ends ? last : first;
    if (ends && node[first].op == SR_EXP)
        part[count++] = first - 1;
    return count;
}

/* Offers a formula without a part that says nothing (list_parts()), where this raises the loss to
 * `most` at most, and those without two. A limit may have left the search no time to shorten it. */
static void offer_shorter(const struct sr_settings *s, const struct sr_tidy *tidy,
                          const struct sr_expr *expr, double most, int depth, struct sr_work *work,
                          struct sr_hall_of_fame *hall)
{
    const struct sr_loss *loss = tidy->loss;
    int part[3];
    for (int i = 0; i < expr->count; i++)
        for (int k = list_parts(expr, i, part) - 1; k >= 0; k--) {
            const struct sr_node *kept = expr->node + sr_expr_start(expr, part[k]);
            struct sr_expr shorter = *expr;
            if (sr_fit_over(work) ||
                !sr_expr_splice(s->language, &shorter, sr_expr_start(expr, i), expr->node[i].size,
                                kept, expr->node[part[k]].size, s->maxsize) ||
                !(sr_eval_plain(&shorter, loss, work) <= 2 * most))
                continue;
            sr_constants_fit(loss, &shorter, false, REFINE_STEPS, 0, NULL, work);
            double found = sr_tidy(tidy, &shorter, work);
            if (s->round)
                found = round_constants(s, tidy, &shorter, work);
            if (!(found <= most) || (s->whole && !s->whole(&shorter, s->context)))
                continue;
            /* not in place of one that is as good */
            const double there = hall->loss[sr_expr_complexity(s->language, &shorter)];
            if (found < there * (1 - sr_snap_share(loss->data->rows)))
                sr_hall_of_fame_offer(hall, s->language, &shorter, found);
            if (depth > 1)
                offer_shorter(s, tidy, &shorter, most, depth - 1, work, hall);
        }
}

/* offer_shorter() from a row of the front, and from its form with the factor of a sum in its
 * terms, for a share 1 / rows of its loss, as one standard error has. */
static void shorten_row(const struct sr_settings *s, const struct sr_tidy *tidy,
                        const struct sr_expr *expr, double reached, struct sr_work *work,
                        struct sr_hall_of_fame *hall)
{
    const size_t rows = tidy->loss->data->rows;
    const double most = reached * (1 + 1 / (double)rows);
    struct sr_expr other;
    if (rows > SR_LARGE_TABLE || !(reached > 0))
        return;
    offer_shorter(s, tidy, expr, most, 2, work, hall);
    if (sr_tidy_distribute(tidy, expr, &other))
        offer_shorter(s, tidy, &other, most, 2, work, hall);
}

/* The loss by which formulas are compared: where x has errors, with the variances that belong to
 * their slopes (struct sr_closest). */
static double compared_loss(const struct sr_data *data, const struct sr_expr *expr, double reached)
{
    struct sr_closest closest;
    if (!data->x_variance)
        return reached;
    if (!sr_closest_make(expr, data, 1, &closest))
        return HUGE_VAL;
    const double steeper = closest.steeper;
    sr_closest_free(&closest);
    return reached * steeper;
}

/* Where x has errors: the front of what the search found, and nearly found, of each complexity,
 * with constants and losses by the errors. */
static int remake_front(const struct sr_settings *s, const struct sr_loss *loss, struct sr_fit *fit,
                        struct sr_work *work)
{
    enum { NEAR = 4, STEPS = 10 };
    const double now = orr_time_s(), limit = orr_stop_of_call ? orr_stop_of_call->until_s : 0,
                 until = limit > 0 ? now + (limit - now) / 3 : HUGE_VAL;
    struct sr_hall_of_fame *hall = orr_alloc(1, sizeof *hall);
    if (!hall)
        return ORR_ENOMEM;
    sr_hall_of_fame_clear(hall);
    for (int k = -1; k < NEAR; k++)
        for (int c = 1; c <= SR_NODES; c++) {
            const struct sr_near *near = fit->near;
            const bool known =
                k < 0 ? c <= fit->front.count : near && c <= near->most && k < near->count[c];
            if (!known || (k >= 0 && (sr_fit_over(work) || orr_time_s() > until)))
                continue;
            struct sr_expr expr = k < 0 ? fit->front.expr[c - 1] : sr_near_list(near, c)[k].expr;
            const double reached = sr_constants_fit(loss, &expr, false, STEPS, 0, NULL, work);
            if (!s->whole || s->whole(&expr, s->context))
                sr_hall_of_fame_offer(hall, s->language, &expr,
                                      compared_loss(loss->data, &expr, reached));
        }
    sr_front_make(hall, &fit->front);
    free(hall);
    free(fit->near); /* their losses are those of the search */
    fit->near = NULL;
    return 0;
}

/* Where targets are intervals and some rows lie outside of theirs: the likeliest constants, as the
 * loss alone takes the ends of intervals for numbers without noise and draws formulas to them. Each
 * target becomes its mean within the interval by the formula and the noise, to which the constants
 * are fitted, until neither changes (expectation and maximisation). *as is the table with these
 * targets, of which y (rows) is the storage, or the table itself where no row is outside. */
static int complete_rows(const struct sr_loss *loss, struct sr_expr *expr, struct sr_work *work,
                         double *y, struct sr_data *as)
{
    enum { ROUNDS = 100, STEPS = 3 };
    const double close = 1e-4; /* of the noise */
    const struct sr_data *data = loss->data;
    struct sr_interval_noise noise;
    double *const value = orr_alloc(2 * data->rows, sizeof *value), *const last =
                                                                        value + data->rows;
    int rc = value ? 0 : ORR_ENOMEM;
    *as = *data;
    for (int k = 0; k < ROUNDS && !rc && !sr_fit_over(work) && sr_eval(expr, data, value); k++) {
        double moved = 0;
        struct sr_loss completed;
        for (size_t i = 0; i < data->rows && k; i++)
            moved = fmax(moved, fabs(value[i] - last[i]));
        sr_interval_measure(data, value, &noise);
        if (!(noise.sigma > 0) || (k && moved <= close * noise.sigma))
            break;
        memcpy(last, value, data->rows * sizeof *last);
        sr_interval_expect(data, value, &noise, y);
        as->y = y;
        as->low = as->high = NULL;
        as->digits = NULL;
        rc = sr_loss_init(&completed, ORR_SR_L2, as);
        if (!rc)
            sr_constants_fit(&completed, expr, false, STEPS, 0, NULL, work);
        sr_loss_free(&completed);
    }
    free(value);
    return rc;
}

/* Rounds the constants of a formula of a table of intervals, after complete_rows(). *reached: the
 * loss of the intervals. */
static int finish_intervals(const struct sr_settings *s, const struct sr_tidy *tidy,
                            struct sr_expr *expr, double *reached, struct sr_work *work, double *y)
{
    struct sr_data as;
    struct sr_loss completed;
    struct sr_tidy by = *tidy;
    TRY(complete_rows(tidy->loss, expr, work, y, &as));
    TRY(sr_loss_init(&completed, ORR_SR_L2, &as));
    by.loss = &completed;
    sr_tidy(&by, expr, work);
    if (s->round)
        round_constants(s, &by, expr, work);
    sr_loss_free(&completed);
    *reached = sr_eval_plain(expr, tidy->loss, work);
    return 0;
}

int sr_front_finish(const struct sr_settings *s, const struct sr_data *data, bool sampled,
                    struct sr_fit *fit)
{
    struct sr_front *front = &fit->front;
    sampled = sampled || data->x_variance; /* the search had other losses */
    const bool refits = sampled || fit->rough, rounds = refits || !s->algorithm->polishes;
    bool unfitted[SR_NODES + 1] = {false};
    struct sr_loss loss;
    struct sr_work work = {0};
    struct sr_hall_of_fame *hall = orr_alloc(1, sizeof *hall);
    double *y = data->low ? orr_alloc(data->rows, sizeof *y) : NULL;
    int rc = hall && (y || !data->low) ? sr_loss_init_with(&loss, s->loss, s->loss_parameter, data)
                                       : ORR_ENOMEM;
    if (rc)
        goto out;
    const struct sr_tidy tidy = {s->language, &loss,    sr_settings_operators(s),
                                 s->maxsize,  s->whole, s->context};
    rc = sr_front_work(data->x_variance ? SR_NODES : sr_front_constants(front), data, &work);
    work.finishing = true;
    if (data->x_variance && !rc)
        rc = remake_front(s, &loss, fit, &work);
    if (refits && !rc)
        fit_rows(&loss, sampled, front, &work);
    sr_hall_of_fame_clear(hall);
    double smallest = HUGE_VAL;
    for (int i = 0; i < front->count && !rc; i++) {
        struct sr_expr expr = front->expr[i];
        double reached = front->loss[i];
        if (data->low)
            rc = finish_intervals(s, &tidy, &expr, &reached, &work, y);
        else if (rounds)
            reached = sr_tidy(&tidy, &expr, &work);
        if (s->round && !data->low)
            reached = round_constants(s, &tidy, &expr, &work);
        if (s->whole && !s->whole(&expr, s->context)) { /* rounding has left the constraints */
            expr = front->expr[i];
            reached = sr_eval_plain(&expr, &loss, &work);
        }
        if (s->penalty && (rounds || s->round))
            reached += s->penalty(&expr, true, s->context) * fmax(loss.base, 0);
        const double compared = compared_loss(data, &expr, reached);
        if (i && compared >= smallest * (1 - sr_snap_share(data->rows)))
            continue;
        smallest = compared;
        sr_hall_of_fame_offer(hall, s->language, &expr, reached);
        unfitted[sr_expr_complexity(s->language, &expr)] = front->unfitted[i];
        if (s->algorithm->polishes && !s->form && !s->penalty)
            shorten_row(s, &tidy, &expr, reached, &work, hall);
    }
    if (!rc)
        sr_front_make(hall, front);
    for (int i = 0; i < front->count && !rc; i++)
        front->unfitted[i] = unfitted[front->complexity[i]];
    sr_loss_free(&loss);
    sr_work_free(&work);
out:
    free(hall);
    free(y);
    return rc;
}

bool sr_front_published(const struct sr_settings *s)
{
    return s->algorithm->kind == ORR_SR_PYSR || s->loss == ORR_SR_STUDY;
}

int sr_front_measure(const struct sr_loss *loss, const struct sr_data *data, struct sr_front *front)
{
    struct sr_loss by = *loss;
    by.data = data;
    const bool squares = loss->kind == ORR_SR_L2 || loss->kind == ORR_SR_STUDY;
    return squares && !data->low ? sr_front_describe(front, data)
                                 : sr_front_describe_by(front, &by);
}

/* Whether targets are 0 and 1, which are drawn row by row: no smooth error is in them, and what a
 * steep logistic curve leaves of them is smooth by its own shape. */
static bool is_drawn(const struct sr_loss *loss)
{
    bool drawn = loss->kind == ORR_SR_BERNOULLI;
    for (size_t i = 0; i < loss->data->rows && drawn; i++)
        drawn = loss->data->y[i] <= 0 || loss->data->y[i] >= 1;
    return drawn;
}

/* Description lengths, the rows that count, and what uneven residuals are worth. */
static int judge_rows(const struct sr_settings *s, const struct sr_loss *loss,
                      struct sr_front *front)
{
    const bool published = sr_front_published(s);
    struct sr_data judged = *loss->data;
    judged.independent = 0;
    TRY(sr_front_measure(loss, &judged, front));
    if (judged.low) /* neighbours and outliers are found by residuals */
        return 0;
    if (!published && !is_drawn(loss))
        TRY(sr_front_count_independent(front, loss->data));
    if (front->independent > 0) {
        judged.independent = front->independent;
        TRY(sr_front_measure(loss, &judged, front));
    }
    return published || s->loss != ORR_SR_L2 ? 0 : sr_front_weigh_rows(front, &judged);
}

/* Judges the front by the rows of these weights, for which the constants are fitted again. */
static int judge_others(const struct sr_settings *s, const struct sr_loss *loss,
                        const double *weight, struct sr_front *front)
{
    struct sr_data others = *loss->data;
    struct sr_loss rest;
    struct sr_work work = {0};
    others.weight = weight;
    struct sr_front *judged = orr_alloc(1, sizeof *judged);
    int rc = judged ? sr_loss_init_with(&rest, s->loss, s->loss_parameter, &others) : ORR_ENOMEM;
    if (rc)
        goto out;
    *judged = *front;
    rc = sr_front_work(sr_front_constants(front), &others, &work);
    for (int i = 0; i < front->count && !rc; i++) {
        const double least =
            sr_constants_fit(&rest, &judged->expr[i], false, REFINE_STEPS, 0, NULL, &work);
        judged->loss[i] = judged->compared[i] = least > rest.noise ? least : 0;
    }
    rc = rc ? rc : judge_rows(s, &rest, judged);
    for (int i = 0; i < front->count && !rc; i++) {
        front->mdl[i] = judged->mdl[i];
        front->cost[i] = judged->cost[i];
        front->compared[i] = judged->compared[i];
    }
    if (!rc) {
        front->rows = judged->rows;
        front->worth = judged->worth;
        front->independent = judged->independent;
        front->along = judged->along;
        front->followed = judged->followed;
    }
    sr_work_free(&work);
    sr_loss_free(&rest);
out:
    free(judged);
    return rc;
}

/* Judges the front without the rows that hide a law or bend its constants; front->odds says how
 * many. */
static int judge_without_odd(const struct sr_settings *s, const struct sr_loss *loss,
                             struct sr_front *front)
{
    double *weight = orr_alloc(loss->data->rows, sizeof *weight);
    int rc = weight ? sr_front_find_odd(front, loss, HUGE_VAL, weight) : ORR_ENOMEM;
    if (!rc && front->odds)
        rc = judge_others(s, loss, weight, front);
    free(weight);
    return rc;
}

int sr_front_judge(const struct sr_settings *s, const struct sr_data *data, struct sr_front *front)
{
    const bool published = sr_front_published(s), numbers = !data->low;
    struct sr_loss loss;
    TRY(sr_loss_init_with(&loss, s->loss, s->loss_parameter, data));
    /* with so few rows, a formula without residuals is not evidence for an exact law */
    for (int i = 0; i < front->count && !published; i++)
        if (front->loss[i] <= 0 && !sr_loss_decides(&loss, &front->expr[i]))
            front->loss[i] = front->compared[i] = loss.noise;
    int rc = s->tolerance > 0 ? sr_front_end_within(front, data, s->tolerance) : 0;
    /* with a penalty the loss says nothing about digits */
    if (!rc && !published && !s->penalty && numbers)
        rc = sr_front_cut(front, &loss);
    if (!rc)
        rc = judge_rows(s, &loss, front);
    const bool exact_x = !data->x_variance, plain = exact_x && numbers;
    if (!rc && !published && plain && !front->within && s->loss == ORR_SR_L2)
        rc = judge_without_odd(s, &loss, front);
    /* the likelihood of other losses knows outliers, and a rare count is far off by itself */
    if (!rc && !published && plain && !front->odds &&
        (s->loss == ORR_SR_L2 || s->loss == ORR_SR_CUSTOM))
        rc = sr_front_find_pole(front, &loss);
    if (!rc && !published && plain && !front->odds && s->loss == ORR_SR_L2)
        rc = sr_front_find_evidence(front, data);
    for (int i = 0; i < front->count && !exact_x; i++)
        front->compared[i] = compared_loss(data, &front->expr[i], front->compared[i]);
    if (!rc && !published)
        sr_front_correct(front, &loss);
    sr_loss_free(&loss);
    return rc;
}
