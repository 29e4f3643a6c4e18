/* shooting.c - fits constants of a system to tracks by multiple shooting, with damped steps of
 * Gauss and Newton. A step is taken when chi2 + penalty * gaps falls, a penalty that is large
 * enough for the step's direction (an exact penalty function: Nocedal and Wright, Numerical
 * Optimization, Springer 2006, section 18.3). */
#include "shooting.h"
#include "symreg/value/vec.h"

#include <stdint.h>

#define GROWTH 1e6  /* of errors, from which on a solution cannot be followed */
#define CLOSED 1e-7 /* sum of the gaps over the spread that counts as none */

struct fit {
    struct sr_flow *flow;
    size_t tracks, states, longest; /* rows of the longest track */
    const struct sr_flow_track *track;
    const struct sr_flow_options *options;
    struct sr_flow_numbers numbers;
    double tolerance, until_s;
    double spread[2 * SR_FLOW_STATES];
    double most;  /* the largest spread over sigma */
    double least; /* changes of chi2 below this are errors of the integration */
    struct sr_pieces pieces, trial;
    double *value, *trial_value; /* (numbers) */
    struct sr_shot shot, trial_shot;
    struct sr_lanes lanes; /* with tangents */
    struct sr_joint joint;
    struct sr_join join;
    double penalty, damping;
};

/* ---- steps */

/* Seconds behind the limit of a fit that following its solutions may take: a wrong formula can make
 * a system stiff. */
static const double beyond_s = 0.5;

/* The sum of the gaps of a shot within the arcs, over the spread. */
static double gaps_of(const struct fit *fit, const struct sr_shot *shot)
{
    double sum = 0;
    for (size_t p = 1; p < fit->pieces.count; p++)
        for (size_t k = 0; k < fit->states && !fit->joint.begins[p]; k++)
            sum += fabs(shot->end[(p - 1) * fit->states + k]) / fit->spread[k];
    return sum;
}

static bool is_over(const struct fit *fit)
{
    return orr_signal_seen() || (fit->until_s > 0 && orr_time_s() > fit->until_s);
}

/* The starts and numbers after the joint's step. False where a number is not finite. */
static bool move(struct fit *fit)
{
    const size_t width = fit->shot.width, n = fit->pieces.count;
    for (size_t p = 0; p < n; p++)
        for (size_t k = 0; k < fit->states; k++)
            fit->trial.start[k * n + p] =
                fit->pieces.start[k * n + p] + fit->joint.step[p * width + k];
    bool finite = true;
    for (int c = 0; c < fit->numbers.total; c++) {
        fit->trial_value[c] = fit->value[c] + fit->joint.change[c];
        finite = finite && isfinite(fit->trial_value[c]);
    }
    return finite;
}

/* Accepts the trial. */
static void accept(struct fit *fit)
{
    const struct sr_shot shot = fit->shot;
    double *const start = fit->pieces.start, *const value = fit->value;
    fit->shot = fit->trial_shot;
    fit->trial_shot = shot;
    fit->pieces.start = fit->trial.start;
    fit->trial.start = start;
    fit->value = fit->trial_value;
    fit->trial_value = value;
}

/* One step: tried, and taken where it helps. *expected: what it should have gained. */
static bool step(struct fit *fit, double *expected)
{
    struct sr_joint *joint = &fit->joint;
    sr_joint_make(&fit->pieces, &fit->shot, fit->states, fit->spread, &fit->join, joint);
    *expected = HUGE_VAL;
    if (!sr_joint_solve(&fit->pieces, &fit->shot, fit->states, fit->damping, joint) || !move(fit))
        return false;
    const double rise = joint->predicted - fit->shot.chi2;
    if (rise > 0 && joint->gaps > 0)
        fit->penalty = fmax(fit->penalty, 2 * rise / (fit->join.share * joint->gaps));
    const double before = fit->shot.chi2 + fit->penalty * joint->gaps;
    sr_flow_numbers_set(&fit->numbers, fit->trial_value, fit->flow);
    sr_flow_numbers_get(fit->flow, &fit->numbers, fit->trial_value); /* within their bounds */
    sr_shoot(fit->track, &fit->trial, &fit->lanes, &fit->trial_shot);
    *expected = fit->penalty * fit->join.share * joint->gaps - rise;
    if (!(fit->trial_shot.chi2 + fit->penalty * gaps_of(fit, &fit->trial_shot) <= before))
        return false;
    accept(fit);
    return true;
}

/* Takes at most `most` steps, until one gains less than a share `gain` of chi2. True where it
 * converged. */
static bool descend(struct fit *fit, int most, double gain)
{
    enum { REJECTIONS = 14 };
    fit->penalty = 0;
    fit->damping = 1e-4;
    fit->join.share = 1;
    double expected = HUGE_VAL;
    int rejected = 0;
    for (int i = 0; i < most && rejected < REJECTIONS && !is_over(fit); i++) {
        const bool taken = step(fit, &expected);
        const double enough = gain * fit->shot.chi2 + fit->least;
        if (taken) {
            rejected = 0;
            const bool whole = fit->join.share == 1;
            fit->damping = fit->damping > 1e-9 ? fit->damping / 10 : 0;
            fit->join.share = fmin(1, 2 * fit->join.share);
            if (whole && expected < enough)
                return true;
        } else {
            rejected++;
            if (expected < 10 * enough)
                return true;
            fit->damping = fmax(10 * fit->damping, 1e-6);
            fit->join.share = fmax(fit->join.share / 2, 0.01);
        }
    }
    return expected < 1e-3 * fit->shot.chi2 + 10 * fit->least;
}

/* Fits pieces of their own, then longer and longer arcs of them: near the start of a fit the gaps
 * are too large to be closed by what is known of the constants. */
static bool join_pieces(struct fit *fit)
{
    enum { FEW = 8, TIMES = 4, USUAL = 60 };
    const size_t count = fit->pieces.count;
    const bool joins = fit->join.growth > 0;
    for (size_t most = 1; joins && most < count; most *= TIMES) {
        fit->join.most = most;
        descend(fit, FEW, 0.01);
    }
    fit->join.most = joins ? count : 1;
    return descend(fit, fit->options->iterations ? fit->options->iterations : USUAL, 1e-7);
}

/* ---- the fit with pieces of so many rows */

static void free_fit(struct fit *fit)
{
    sr_pieces_free(&fit->pieces);
    sr_pieces_free(&fit->trial);
    sr_shot_free(&fit->shot);
    sr_shot_free(&fit->trial_shot);
    sr_lanes_free(&fit->lanes);
    sr_joint_free(&fit->joint);
}

static int create_fit(struct fit *fit, size_t rows)
{
    const size_t width = fit->states + (size_t)fit->numbers.count;
    TRY(sr_pieces_create(fit->flow, fit->tracks, fit->track, fit->spread, rows, &fit->pieces));
    TRY(sr_pieces_create(fit->flow, fit->tracks, fit->track, fit->spread, rows, &fit->trial));
    TRY(sr_shot_create(fit->flow, fit->pieces.count, width, &fit->shot));
    TRY(sr_shot_create(fit->flow, fit->pieces.count, width, &fit->trial_shot));
    TRY(sr_lanes_create(&fit->lanes, fit->flow, &fit->numbers, sr_shot_lanes(fit->pieces.count),
                        fit->tolerance));
    return sr_joint_create(fit->pieces.count, fit->states, &fit->numbers, &fit->joint);
}

/* chi2 of one solution for each arc, from its first piece's start. */
static int follow_arcs(const struct fit *fit, double *chi2)
{
    struct sr_pieces arcs = {.count = fit->joint.arcs};
    struct sr_lanes lanes = {0};
    struct sr_shot shot = {0};
    const size_t n = fit->pieces.count;
    int rc = ORR_ENOMEM;
    arcs.piece = orr_alloc(arcs.count, sizeof *arcs.piece);
    arcs.start = orr_alloc(arcs.count * fit->states, sizeof *arcs.start);
    if (arcs.piece && arcs.start)
        rc = sr_lanes_create(&lanes, fit->flow, NULL, sr_shot_lanes(arcs.count), fit->tolerance);
    if (fit->until_s > 0)
        lanes.until_s = fmax(orr_time_s(), fit->until_s) + beyond_s;
    size_t at = SIZE_MAX;
    for (size_t p = 0; p < n && !rc; p++) {
        if (fit->joint.begins[p]) {
            arcs.piece[++at] = fit->pieces.piece[p];
            for (size_t k = 0; k < fit->states; k++)
                arcs.start[k * arcs.count + at] = fit->pieces.start[k * n + p];
        } else {
            arcs.piece[at].rows += fit->pieces.piece[p].rows;
        }
        arcs.piece[at].joined = false;
    }
    if (!rc) {
        sr_shoot(fit->track, &arcs, &lanes, &shot);
        *chi2 = shot.chi2;
    }
    sr_lanes_free(&lanes);
    sr_pieces_free(&arcs);
    return rc;
}

/* The covariance and the standard errors of the constants at the optimum. */
static void find_errors(struct fit *fit, struct sr_flow_result *result)
{
    const size_t numbers = (size_t)fit->numbers.total;
    const double freedom =
        (double)result->rows - (double)numbers - (double)fit->states * (double)fit->joint.arcs;
    const double variance = fit->track[0].sigma ? 1 : freedom > 0 ? result->chi2 / freedom : NAN;
    sr_joint_covariance(&fit->pieces, fit->states, &fit->joint, result->covariance);
    for (size_t k = 0; k < numbers * numbers; k++)
        result->covariance[k] *= variance;
    for (size_t k = 0; k < numbers; k++)
        result->error[k] = sqrt(result->covariance[k * numbers + k]);
}

/* Fits with pieces of about `rows` rows. *found: a solution along all tracks. */
static int fit_pieces(struct fit *fit, size_t rows, struct sr_flow_result *result)
{
    const size_t n_states = fit->states;
    TRY(create_fit(fit, rows));
    sr_shoot(fit->track, &fit->pieces, &fit->lanes, &fit->shot);
    if (!(fit->shot.chi2 < HUGE_VAL))
        return 0;
    result->converged = join_pieces(fit);
    sr_flow_numbers_set(&fit->numbers, fit->value, fit->flow);
    fit->join.share = 1;
    sr_joint_make(&fit->pieces, &fit->shot, n_states, fit->spread, &fit->join, &fit->joint);
    /* closed gaps are errors of the integration, which chaos would make errors of chi2 */
    result->chi2 = fit->shot.chi2;
    if (fit->joint.gaps > CLOSED)
        TRY(follow_arcs(fit, &result->chi2));
    result->starts = (int)fit->joint.arcs;
    find_errors(fit, result);
    fit->trial_shot.keeps = true;
    sr_shoot(fit->track, &fit->pieces, &fit->lanes, &fit->trial_shot);
    memcpy(result->value, fit->value, (size_t)fit->numbers.total * sizeof *fit->value);
    for (size_t p = 0; p < fit->pieces.count; p++)
        for (size_t k = 0; k < n_states && fit->pieces.piece[p].first == 0; k++)
            result->start[fit->pieces.piece[p].track * n_states + k] =
                fit->pieces.start[k * fit->pieces.count + p];
    return 0;
}

/* ---- the whole */

static int check_track(const struct sr_flow *flow, size_t k, const struct sr_flow_track *track)
{
    const size_t n = track->n, states = (size_t)sr_flow_states(flow);
    if (n < 2)
        return ORR_FAIL(ORR_EINVAL, "track %zu: expected at least 2 rows, found %zu", k + 1, n);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(track->t[i]) || (i && !(track->t[i] > track->t[i - 1])))
            return ORR_FAIL(ORR_EINVAL, "track %zu: expected rising times, found %.10g in row %zu",
                            k + 1, track->t[i], i + 1);
    for (size_t i = 0; i < n * (size_t)flow->dims; i++)
        if (isinf(track->x[i]) ||
            (track->sigma && !(track->sigma[i] > 0 && isfinite(track->sigma[i]))))
            return ORR_FAIL(ORR_EINVAL,
                            "track %zu: expected finite values and positive deviations, found "
                            "%g with %g in row %zu",
                            k + 1, track->x[i], track->sigma ? track->sigma[i] : 1, i % n + 1);
    for (size_t i = 0; i < n * (size_t)flow->inputs; i++)
        if (!isfinite(track->input[i]))
            return ORR_FAIL(ORR_EINVAL, "track %zu: expected finite inputs, found %g in row %zu",
                            k + 1, track->input[i], i % n + 1);
    /* pieces start at any row */
    const double *const guess = track->guess ? track->guess : track->x;
    for (size_t i = 0; i < n * (track->guess ? states : (size_t)flow->dims); i++)
        if (!isfinite(guess[i]))
            return ORR_FAIL(ORR_EINVAL, "track %zu: expected finite states, found %g in row %zu",
                            k + 1, guess[i], i % n + 1);
    return 0;
}

/* A thousandth of the noise, which is a share of the spread; in between what is of use. */
static double tolerance_of(double share)
{
    return fmin(fmax(1e-3 * share, 1e-11), 1e-6);
}

/* What chi2 is known to, by errors of the integration; where the noise is known, changes of less
 * than 1e-4 are none to speak of. */
static double least_change(const struct fit *fit, size_t rows)
{
    const double error = fit->tolerance * fit->most, least = error * error * (double)rows;
    return fit->track[0].sigma ? fmax(1e-4, least) : least;
}

/* Counts the numbers compared; chooses the tolerance, a thousandth of the noise, and with it what
 * chi2 is known to. */
static void choose_tolerance(struct fit *fit, struct sr_flow_result *result)
{
    double share = HUGE_VAL, most = 0;
    size_t longest = 0;
    for (size_t k = 0; k < fit->tracks; k++) {
        const struct sr_flow_track *track = &fit->track[k];
        longest = track->n > longest ? track->n : longest;
        for (size_t i = 0; i < track->n * (size_t)fit->flow->dims; i++) {
            const double spread = fit->spread[i / track->n];
            if (isnan(track->x[i]))
                continue;
            result->rows++;
            share = fmin(share, (track->sigma ? track->sigma[i] : 1e-6 * spread) / spread);
            most = fmax(most, spread / (track->sigma ? track->sigma[i] : 1));
        }
    }
    fit->longest = longest;
    fit->tolerance = fit->options->tolerance > 0 ? fit->options->tolerance : tolerance_of(share);
    fit->most = most;
    fit->least = least_change(fit, result->rows);
}

static int create_result(const struct fit *fit, struct sr_flow_result *result)
{
    const size_t numbers = (size_t)fit->numbers.total;
    result->chi2 = HUGE_VAL;
    result->constants = fit->numbers.total;
    result->shared = fit->numbers.shared;
    result->value = orr_alloc(numbers + 1, sizeof *result->value);
    result->error = orr_alloc(numbers + 1, sizeof *result->error);
    result->covariance = orr_alloc(numbers * numbers + 1, sizeof *result->covariance);
    result->start = orr_alloc(fit->tracks * fit->states, sizeof *result->start);
    return result->value && result->error && result->covariance && result->start ? 0 : ORR_ENOMEM;
}

/* Fits from the constants `first`, with pieces of about `rows` rows, or of fewer where the
 * equations have no solution over so many. chi2 stays infinite where there is none. */
static int fit_from(struct fit *fit, const double *first, size_t rows,
                    struct sr_flow_result *result)
{
    const size_t bytes = (size_t)fit->numbers.total * sizeof *first;
    int rc = 0;
    result->chi2 = HUGE_VAL;
    for (; rows >= 2 && !rc && !(result->chi2 < HUGE_VAL) && !is_over(fit); rows /= 3) {
        memcpy(fit->value, first, bytes);
        sr_flow_numbers_set(&fit->numbers, first, fit->flow);
        rc = fit_pieces(fit, rows, result);
        free_fit(fit);
    }
    if (result->chi2 < HUGE_VAL)
        return rc;
    sr_flow_numbers_set(&fit->numbers, first, fit->flow);
    result->converged = false;
    return rc;
}

/* The tolerance for the noise that a fit found where none was given. */
static double found_tolerance(const struct fit *fit, const struct sr_flow_result *result)
{
    double least = HUGE_VAL;
    for (size_t k = 0; k < (size_t)fit->flow->dims; k++)
        least = fmin(least, fit->spread[k]);
    return tolerance_of(sqrt(result->chi2 / (double)result->rows) / least);
}

int sr_flow_fit(struct sr_flow *flow, size_t tracks, const struct sr_flow_track *track,
                const struct sr_flow_options *options, struct sr_flow_result *result)
{
    enum { PIECE = 12, PIECES = 64 }; /* rows of a piece, usually; pieces of a long track */
    struct fit fit = {.flow = flow,
                      .tracks = tracks,
                      .states = (size_t)sr_flow_states(flow),
                      .track = track,
                      .options = options,
                      .join.growth = options->segments ? 0 : GROWTH};
    *result = (struct sr_flow_result){0};
    for (size_t k = 0; k < tracks; k++)
        TRY(check_track(flow, k, &track[k]));
    for (size_t k = 0; k < tracks; k++)
        for (size_t i = 0; i < fit.states * track[k].n && track[k].model; i++)
            track[k].model[i] = NAN;
    sr_flow_numbers_find(flow, options->free_exponents, &fit.numbers);
    result->chi2 = HUGE_VAL;
    if (fit.numbers.total > SR_FLOW_CONSTANTS)
        return 0;
    TRY(create_result(&fit, result));
    const size_t count = (size_t)fit.numbers.total + 1;
    double *const values = orr_alloc(3 * count, sizeof *values), *const first = values;
    if (!values)
        return ORR_ENOMEM;
    fit.value = values + count;
    fit.trial_value = values + 2 * count;
    sr_flow_numbers_get(flow, &fit.numbers, first);
    sr_flow_spread(flow, tracks, track, fit.spread);
    choose_tolerance(&fit, result);
    fit.until_s = options->seconds > 0 ? orr_time_s() + options->seconds : 0;
    const size_t usual = fit.longest / PIECES > PIECE ? fit.longest / PIECES : PIECE;
    const size_t wanted = options->segments ? fit.longest / (size_t)options->segments : usual;
    const size_t rows = wanted > 2 ? wanted : 2;
    int rc = fit_from(&fit, first, rows, result);
    if (!rc && !track[0].sigma && !(options->tolerance > 0) && result->chi2 < HUGE_VAL &&
        found_tolerance(&fit, result) < fit.tolerance / 10) {
        fit.tolerance = found_tolerance(&fit, result);
        fit.least = least_change(&fit, result->rows);
        memcpy(first, result->value, (count - 1) * sizeof *first);
        rc = fit_from(&fit, first, rows, result);
    }
    free(values);
    return rc;
}

void sr_flow_result_free(struct sr_flow_result *result)
{
    free(result->value);
    free(result->error);
    free(result->covariance);
    free(result->start);
    *result = (struct sr_flow_result){0};
}
