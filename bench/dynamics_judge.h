/* dynamics_judge.h - when equations that a program found count as those of a system.
 *
 *   reproduced  integrated from the table's start without noise they follow the noise-free
 *               trajectory of the table: R2 > 0.9 for every state
 *   predicted   likewise from the other start, whose trajectory nobody was shown
 *   right       each equation is the true one in form, and its constants are those of the truth.
 *               Form: fitted to the right-hand side without noise it agrees with it within 1e-5 at
 *               98% of 512 points over the box of both trajectories and at 90% over ten times wider
 *               ranges (symreg_same.h), and this fit moves no constant to 0: that term should not
 *               be there. Constants: the fit moves each by a share of at most dyn_tolerance(), or
 *               they are within three standard errors of what this track with this noise can tell
 *               at all (dyn_within_errors()).
 *   near        beside these, whatever the form: along both trajectories no right-hand side misses
 *               the true one by more than DYN_NEAR of its root mean square */
#ifndef DYNAMICS_JUDGE_H
#define DYNAMICS_JUDGE_H

#include "bench.h"
#include "dynamics_errors.h"
#include "symreg_same.h"

enum { DYN_POINTS = 256 };
#define DYN_NEAR 0.05

/* What was found for the equations of one system. */
struct dyn_answer {
    int dims;
    struct sr_expr equation[DYN_DIMS];
    char text[DYN_DIMS][SR_TEXT];
};
struct dyn_verdict {
    bool reproduced, predicted, right[DYN_DIMS], all_right;
    bool formed, close; /* all equations have the true form; all constants are within tolerance */
    bool near;
    double r2[2][DYN_DIMS]; /* of the table's trajectory, and of the other */
};

/* The 95% interval of a share of k of n (Wilson 1927). */
static inline void dyn_wilson(int k, int n, double *low, double *high)
{
    const double z = 1.959963984540054, p = (double)k / n, w = z * z / n;
    const double middle = (p + w / 2) / (1 + w);
    const double half = z * sqrt(p * (1 - p) / n + w / (4 * n)) / (1 + w);
    *low = fmax(0, middle - half);
    *high = fmin(1, middle + half);
}

/* Reads {"equations": ["...", ...]}, in the names of "columns" and "time" where the file has these,
 * else of x0, x1 ... and t. */
static inline int dyn_answer_read(const char *path, int dims, struct dyn_answer *answer)
{
    const char *name[DYN_DIMS + 1];
    cJSON *json = NULL;
    enum orr_json_sum sum;
    TRY(orr_json_read_any(path, &json, &sum));
    const cJSON *list = orr_json_get(json, "equations"), *columns = orr_json_get(json, "columns");
    const int found = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    const char *time = orr_json_text(json, "time");
    int rc = found == dims ? 0
                           : ORR_FAIL(ORR_EFORMAT, "%s: expected %d \"equations\", found %d", path,
                                      dims, found);
    if (!rc && columns && cJSON_GetArraySize(columns) != dims)
        rc = ORR_FAIL(ORR_EFORMAT, "%s: expected %d \"columns\"", path, dims);
    answer->dims = dims;
    for (int i = 0; i < dims && !rc; i++) {
        const char *column = columns ? cJSON_GetStringValue(cJSON_GetArrayItem(columns, i)) : NULL;
        name[i] = column ? column : dyn_name[i];
    }
    name[dims] = *time ? time : "t";
    for (int i = 0; i < dims && !rc; i++) {
        const char *text = cJSON_GetStringValue(cJSON_GetArrayItem(list, i));
        snprintf(answer->text[i], SR_TEXT, "%s", text ? text : "");
        rc = sr_expr_parse(NULL, answer->text[i], name, dims + 1, &answer->equation[i]);
    }
    cJSON_Delete(json);
    return rc;
}

/* Whether the trajectory from start `which` is followed by every state; r2 (dims). */
static inline bool dyn_follows(const struct dyn_system *s, const struct dyn_answer *answer,
                               int which, double *r2)
{
    static double x[DYN_ROWS * DYN_DIMS];
    struct dyn_flow flow = {.dims = s->dims, .equation = answer->equation};
    const bool whole = dyn_solve(&flow, s->start[which], DYN_ROWS, s->t, 1e-9, x);
    bool follows = whole;
    for (int d = 0; d < s->dims; d++) {
        r2[d] = whole ? dyn_r2(s->dims, d, DYN_ROWS, s->x[which], x) : -HUGE_VAL;
        follows = follows && r2[d] > 0.9;
    }
    return follows;
}

/* The box of both trajectories and of the times: low, high (dims + 1). */
static inline void dyn_box(const struct dyn_system *s, double *low, double *high)
{
    for (int d = 0; d < s->dims; d++) {
        low[d] = HUGE_VAL;
        high[d] = -HUGE_VAL;
        for (int k = 0; k < 2 * DYN_ROWS; k++) {
            const double x = s->x[k % 2][(k / 2) * s->dims + d];
            low[d] = fmin(low[d], x);
            high[d] = fmax(high[d], x);
        }
    }
    low[s->dims] = 0;
    high[s->dims] = s->t[DYN_ROWS - 1];
}

/* Fits the constants of `fitted` to the true equation i at points of the box. */
static inline int dyn_fit_to_truth(const struct dyn_system *s, int i, const double *low,
                                   const double *high, struct sr_expr *fitted)
{
    static double x[(DYN_DIMS + 2) * DYN_POINTS];
    const int features = s->dims + 1;
    double point[DYN_DIMS + 1], *y = x + features * DYN_POINTS;
    struct sr_loss loss = {0};
    struct sr_work work = {0};
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 2);
    for (int k = 0; k < DYN_POINTS; k++) {
        quasi_random(k, features, low, high, point);
        for (int f = 0; f < features; f++)
            x[f * DYN_POINTS + k] = point[f];
        y[k] = dyn_value(&s->equation[i], point);
    }
    const struct sr_data data = {.rows = DYN_POINTS, .features = features, .x = x, .y = y};
    int rc = rng ? sr_loss_init(&loss, ORR_SR_L2, &data) : ORR_ENOMEM;
    if (!rc)
        rc = sr_work_init(&work, DYN_POINTS, SR_NODES);
    if (!rc)
        sr_constants_fit(&loss, fitted, false, 200, 0, rng, &work);
    sr_loss_free(&loss);
    sr_work_free(&work);
    gsl_rng_free(rng);
    return rc;
}

/* How equation i compares with the true one. */
struct dyn_likeness {
    bool form, close, right; /* close: all constants are within dyn_tolerance() */
};

static inline int dyn_compare(const struct dyn_system *s, int i, const struct sr_expr *found,
                              double noise, struct dyn_likeness *like)
{
    const int features = s->dims + 1;
    double low[DYN_DIMS + 1], high[DYN_DIMS + 1], wide_low[DYN_DIMS + 1], wide_high[DYN_DIMS + 1];
    double by[SR_NODES];
    struct sr_expr equation[DYN_DIMS], *fitted = &equation[i];
    int own = 0;
    memcpy(equation, s->equation, sizeof equation);
    sr_expr_copy(fitted, found);
    dyn_box(s, low, high);
    for (int f = 0; f < features; f++) {
        wide_low[f] = low[f];
        wide_high[f] = high[f];
        widen(10, &wide_low[f], &wide_high[f]);
    }
    TRY(dyn_fit_to_truth(s, i, low, high, fitted));
    like->form = disagreement(fitted, &s->equation[i], features, low, high, 0.98) <= 1e-5 &&
                 disagreement(fitted, &s->equation[i], features, wide_low, wide_high, 0.9) <= 1e-5;
    like->close = like->form;
    for (int k = 0; k < found->count; k++) {
        const double a = found->node[k].value, b = fitted->node[k].value;
        if (!sr_is_number(&found->node[k]))
            continue;
        like->form = like->form && !(fabs(b) < 1e-3 * fabs(a));
        like->close = like->close && fabs(a - b) <= dyn_tolerance(noise) * fmax(fabs(a), fabs(b));
        if (b != 0)
            by[own++] = a / b - 1;
    }
    like->close = like->close && like->form;
    like->right =
        like->close || (like->form && noise > 0 && dyn_within_errors(s, equation, i, by, noise));
    return 0;
}

/* By how much equation i misses the true one along both trajectories, as a share of its root mean
 * square; NaN where it has no value. */
static inline double dyn_miss(const struct dyn_system *s, int i, const struct sr_expr *found)
{
    double square = 0, miss = 0;
    for (int k = 0; k < 2 * DYN_ROWS; k++) {
        double point[DYN_DIMS + 1];
        memcpy(point, s->x[k % 2] + (k / 2) * s->dims, (size_t)s->dims * sizeof *point);
        point[s->dims] = s->t[k / 2];
        const double truth = dyn_value(&s->equation[i], point);
        const double off = dyn_value(found, point) - truth;
        square += truth * truth;
        miss += off * off;
    }
    return sqrt(miss / square);
}

/* noise: of the table that the answer is for, as a share. */
static inline int dyn_judge(const struct dyn_system *s, const struct dyn_answer *answer,
                            double noise, struct dyn_verdict *verdict)
{
    *verdict = (struct dyn_verdict){.all_right = true, .formed = true, .close = true, .near = true};
    verdict->reproduced = dyn_follows(s, answer, 0, verdict->r2[0]);
    verdict->predicted = dyn_follows(s, answer, 1, verdict->r2[1]);
    for (int i = 0; i < s->dims; i++) {
        struct dyn_likeness like;
        TRY(dyn_compare(s, i, &answer->equation[i], noise, &like));
        verdict->right[i] = like.right;
        verdict->all_right = verdict->all_right && like.right;
        verdict->formed = verdict->formed && like.form;
        verdict->close = verdict->close && like.close;
        verdict->near = verdict->near && dyn_miss(s, i, &answer->equation[i]) <= DYN_NEAR;
    }
    return 0;
}

#endif
