/* likelihood.c - description lengths under losses other than least squares: each by the likelihood
 * that the loss stands for.
 *
 * Absolute deviations are those of Laplace's distribution, n ln(mean |r|); Huber's and log cosh
 * have a normal core and exponential tails, whose width follows from the residuals. Both may have
 * outliers: a share of the rows whose deviation says nothing about the formula, spread evenly up to
 * the largest deviation from the median. Deviances of counts and of 0 and 1 have a known scale. */
#include "select.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

enum {
    MOST_ROWS = 4096, /* rows that the likelihood is computed from, evenly over the table */
    STEPS = 40        /* of the fit of scale and share of outliers, from each start */
};
static const double bend = 1.345; /* deviations in units of the scale where Huber turns linear */
static const double most_outliers = 0.3, close_enough = 1e-6;

/* What a likelihood is made of. */
enum family { LAPLACE, HUBER, DEVIANCE, KNOWN_DEVIANCE, POWER, INTERVALS };

struct likelihood {
    const struct sr_loss *loss;
    enum family family;
    double power;     /* of residuals that the loss grows with */
    double broadest;  /* deviation up to which outliers are spread */
    double finest;    /* deviations that are rounding */
    size_t rows;      /* of the likelihood */
    double all;       /* rows of the table of positive weight that these stand for */
    double *value;    /* (rows of the table) */
    double *jacobian; /* (constants, block) for the cost */
    double *size;     /* (rows) deviations of a formula */
    double *fisher;   /* (rows of the table) weights of the information about constants */
    size_t *of;       /* (rows) in the table */
};

/* The smallest number in y's terms is known where the targets are counts, or 0 and 1. */
static bool is_whole(const struct sr_data *data, double most)
{
    for (size_t i = 0; i < data->rows; i++)
        if (!(data->y[i] >= 0 && data->y[i] <= most && data->y[i] == floor(data->y[i])))
            return false;
    return !data->weight; /* weights change the scale */
}

static enum family family_of(const struct sr_loss *loss)
{
    if (loss->data->low)
        return INTERVALS;
    switch (loss->kind) {
    case ORR_SR_HUBER:
    case ORR_SR_LOGCOSH:
        return HUBER;
    case ORR_SR_POISSON:
        return is_whole(loss->data, HUGE_VAL) ? KNOWN_DEVIANCE : DEVIANCE;
    case ORR_SR_BERNOULLI:
        return is_whole(loss->data, 1) ? KNOWN_DEVIANCE : DEVIANCE;
    case ORR_SR_GAMMA:
        return DEVIANCE;
    case ORR_SR_CUSTOM:
    case ORR_SR_L2:
        return POWER;
    default:
        return LAPLACE;
    }
}

/* The deviation of a row: its part of the loss, or for Huber's the weighted residual. */
static double deviation_at(const struct likelihood *l, size_t i)
{
    const struct sr_loss *loss = l->loss;
    if (l->family == HUBER)
        return sqrt(sr_row_weight(loss->data, i)) * fabs(l->value[i] - loss->data->y[i]);
    return loss->total * sr_loss_part(loss, i, 1, &l->value[i], 1);
}

/* -ln of the core's density, without its scale. */
static double energy(const struct likelihood *l, double u)
{
    if (l->family == LAPLACE)
        return u;
    return u <= bend ? u * u / 2 : bend * (u - bend / 2);
}

/* Twice the mean energy of the core at its scale, or the mean: u d energy / du. */
static double pull(const struct likelihood *l, double u)
{
    return l->family == LAPLACE ? u : u <= bend ? u * u : bend * u;
}

/* A core of a scale, and a share of rows that are outliers. */
struct mixture {
    double scale, outliers, length; /* length: nats of a row on average */
};

/* Improves a mixture by one step of expectation and maximisation, and measures it before. */
static void step_mixture(const struct likelihood *l, struct mixture *m)
{
    double inside = 0, pulled = 0, total = 0;
    const double broad = m->outliers / l->broadest;
    for (size_t k = 0; k < l->rows; k++) {
        const double u = l->size[k] / m->scale;
        const double core = (1 - m->outliers) * orr_exp(-fmin(energy(l, u), 700)) / m->scale;
        const double both = core + broad, share = core / both;
        total -= orr_log(fmax(both, DBL_MIN));
        inside += share;
        pulled += share * pull(l, u);
    }
    m->length = total / (double)l->rows;
    m->outliers = fmin(1 - inside / (double)l->rows, most_outliers);
    /* mean pull 1: the scale of the likelihood's maximum */
    const double grow = inside > 0 ? pulled / inside : 1;
    m->scale = fmax(m->scale * (l->family == LAPLACE ? grow : sqrt(grow)), l->finest);
}

static struct mixture fit_mixture(const struct likelihood *l, double scale, double outliers)
{
    struct mixture m = {.scale = fmax(scale, l->finest), .outliers = outliers}, last;
    for (int k = 0; k < STEPS; k++) {
        last = m;
        step_mixture(l, &m);
        last.length = m.length;
        if (fabs(m.scale - last.scale) <= close_enough * last.scale &&
            fabs(m.outliers - last.outliers) <= close_enough)
            break;
    }
    return last;
}

/* The likeliest mixture of a formula's deviations, with and without outliers. */
static struct mixture find_mixture(const struct likelihood *l, double *work)
{
    double mean = 0;
    for (size_t k = 0; k < l->rows; k++) {
        work[k] = l->size[k];
        mean += l->size[k] / (double)l->rows;
    }
    const double middle = SR_NORMAL_SCALE * orr_median(work, l->rows);
    const struct mixture narrow = fit_mixture(l, middle, 0.1), wide = fit_mixture(l, mean, 0);
    return narrow.length < wide.length ? narrow : wide;
}

/* The logarithm that stands for that of a deviance, and that of its scale: of whole numbers the
 * scale is 1 or, where they scatter more, the deviance itself. That of a gamma distribution is
 * 1 / k, whose likeliest k has loss = 2 (ln k - psi(k)), about 1 / k + 1 / (6 k^2); the likelihood
 * is then the integral of k over the loss. */
static double log_deviance(const struct likelihood *l, double loss, double *log_noise)
{
    const double least = fmax(loss, fmax(l->loss->noise, DBL_MIN));
    const double root = l->loss->kind == ORR_SR_GAMMA ? sqrt(1 + 2 * least / 3) : 1;
    const bool known =
        l->family == KNOWN_DEVIANCE && (l->loss->kind == ORR_SR_BERNOULLI || loss < 1);
    *log_noise = known ? 0 : orr_log(least) - orr_log((1 + root) / 2);
    return known ? loss - 1 : *log_noise + root - 1;
}

/* The weights of the Fisher information of a row about what is predicted, in units of the noise. */
static void weigh_information(const struct likelihood *l, double scale)
{
    const struct sr_loss *loss = l->loss;
    const struct sr_data *data = loss->data;
    if (loss->kind == ORR_SR_CUSTOM) {
        sr_custom_loss_weights(data->language, data->rows, l->value, data->y, 1, l->fisher);
        for (size_t i = 0; i < data->rows; i++)
            l->fisher[i] *= sr_row_weight(data, i) / 2;
        return;
    }
    for (size_t i = 0; i < data->rows; i++) {
        const double p = l->value[i], w = loss->weight ? loss->weight[i] : 1;
        const double information =
            sr_loss_is_deviance(loss->kind) ? sr_deviance_weight(loss->kind, p) : 1;
        l->fisher[i] = (l->family == LAPLACE ? w * w : w) * information;
        /* outliers say nothing about the constants */
        if (l->family <= HUBER && deviation_at(l, i) > 8 * scale)
            l->fisher[i] = 0;
        if (!(l->fisher[i] >= 0 && isfinite(l->fisher[i])))
            l->fisher[i] = 0;
    }
}

int sr_link_number(const struct sr_expr *expr, int i)
{
    if (i < 2 || i + 1 >= expr->count || expr->node[i].op != SR_ADD)
        return -1;
    const int left = sr_expr_left(expr, i), right = i - 1;
    const enum sr_op above = expr->node[i + 1].op;
    const int curve = expr->node[right].op == SR_EXP ? right : left, number = left + right - curve;
    const bool is = expr->node[curve].op == SR_EXP && sr_is_number(&expr->node[number]) &&
                    (above == SR_INV || above == SR_DIV);
    return is ? number : -1;
}

/* Nats by which the nodes of a formula of probabilities cost less where a logistic curve,
 * 1 / (exp(u) + 1), counts as one operator: it is what links any u to a probability, as exp(u) does
 * to a mean above 0. */
static double nats_of_links(const struct sr_expr *expr)
{
    struct sr_expr linked = *expr;
    bool dropped[SR_NODES] = {false};
    for (int i = 2; i + 1 < expr->count; i++) {
        const int number = sr_link_number(expr, i);
        if (number < 0)
            continue;
        linked.node[sr_expr_left(expr, i) + i - 1 - number].op = SR_TANH; /* the one operator */
        dropped[i] = dropped[number] = true;
        dropped[i + 1] = expr->node[i + 1].op == SR_INV;
    }
    linked.count = 0;
    for (int i = 0; i < expr->count; i++)
        if (!dropped[i])
            linked.node[linked.count++] = linked.node[i];
    return sr_expr_nats(expr, 0) - sr_expr_nats(&linked, 0);
}

/* What a formula costs. The 1 of a logistic curve is a part of this operator, and nothing that was
 * measured. */
static double cost_of(const struct likelihood *l, const struct sr_expr *expr,
                      const struct sr_data *weighed, double log_noise, double *work)
{
    const double share = sr_rows_counted(l->loss->data) / l->all;
    struct sr_expr measured = *expr;
    if (l->loss->kind != ORR_SR_BERNOULLI)
        return sr_formula_cost(expr, weighed, log_noise, share, work, l->jacobian);
    for (int i = 2; i + 1 < expr->count; i++) {
        const int number = sr_link_number(expr, i);
        if (number >= 0 && !(fabs(expr->node[number].value - 1) > 0))
            measured.node[number].feature = SR_FIXED;
    }
    return sr_formula_cost(&measured, weighed, log_noise, share, work, l->jacobian) -
           nats_of_links(expr);
}

/* Sets description length, cost and compared loss of one row of the front. */
static void measure_row(const struct likelihood *l, struct sr_front *front, int i, double *work)
{
    const struct sr_expr *expr = &front->expr[i];
    const struct sr_data *data = l->loss->data;
    const double counted = sr_rows_counted(data);
    double scale = 0, log_noise, log_loss;
    front->mdl[i] = front->cost[i] = NAN;
    if (!sr_eval(expr, data, l->value))
        return;
    if (l->family <= HUBER) {
        for (size_t k = 0; k < l->rows; k++)
            l->size[k] = deviation_at(l, l->of[k]);
        const struct mixture m = find_mixture(l, work);
        scale = m.scale;
        log_noise = 2 * orr_log(m.scale);
        /* the loss of a core alone that is as likely */
        log_loss = l->family == LAPLACE ? m.length - 1 : 2 * m.length - 1;
    } else if (l->family == INTERVALS) {
        struct sr_interval_noise noise;
        sr_interval_measure(data, l->value, &noise);
        log_noise = orr_log(sr_interval_weigh(data, l->value, &noise, l->fisher));
        log_loss = 2 * noise.length / l->all;
    } else {
        const double loss = front->loss[i];
        log_noise = log_loss = orr_log(fmax(loss, fmax(l->loss->noise, DBL_MIN)));
        if (l->family != POWER)
            log_loss = log_deviance(l, loss, &log_noise);
    }
    if (l->family != INTERVALS)
        weigh_information(l, scale);
    struct sr_data weighed = *data;
    weighed.weight = l->fisher;
    front->cost[i] = cost_of(l, expr, &weighed, log_noise, work);
    front->mdl[i] = counted / l->power * log_loss + front->cost[i];
    /* a formula inside of all intervals is not exact: a row tells no more than its interval */
    const bool measured = front->loss[i] > 0 || l->family == INTERVALS;
    front->compared[i] = measured ? orr_exp(fmin(fmax(log_loss, -700), 700)) : 0;
}

/* The exponent of residuals that a user-defined loss grows with, r l'(r) / l(r) on the whole: 2 for
 * squares, 1 for absolute values. */
static double power_of_custom(const struct likelihood *l, const struct sr_front *front)
{
    const struct sr_data *data = l->loss->data;
    const int last = front->count - 1;
    double pulled = 0, total = 0;
    if (!sr_eval(&front->expr[last], data, l->value))
        return 2;
    sr_custom_loss_weights(data->language, data->rows, l->value, data->y, 1, l->fisher);
    for (size_t i = 0; i < data->rows; i++) {
        const double d = l->value[i] - data->y[i], w = sr_row_weight(data, i);
        pulled += w * l->fisher[i] * d * d;
        total += deviation_at(l, i);
    }
    const double power = pulled / total;
    return power >= 0.5 && power <= 4 ? power : 2;
}

static int start(const struct sr_loss *loss, int constants, struct likelihood *l, double **work)
{
    const struct sr_data *data = loss->data;
    const size_t rows = data->rows, weighted = sr_rows_weighted(data);
    const size_t taken = weighted < MOST_ROWS ? weighted : MOST_ROWS, block = sr_block_rows(data);
    size_t seen = 0;
    *l = (struct likelihood){.loss = loss, .family = family_of(loss), .all = (double)weighted};
    *work = orr_alloc(2 * rows + taken + ((size_t)constants + 1) * block + rows, sizeof **work);
    l->of = orr_alloc(taken + 1, sizeof *l->of);
    if (!*work || !l->of)
        return ORR_ENOMEM;
    l->value = *work + rows;
    l->fisher = l->value + rows;
    l->size = l->fisher + rows;
    l->jacobian = l->size + taken;
    for (size_t i = 0; i < rows && l->rows < taken; i++)
        if (sr_row_weight(data, i) > 0 && seen++ == l->rows * weighted / taken)
            l->of[l->rows++] = i;
    l->power = l->family == LAPLACE ? 1 : 2;
    return 0;
}

/* Twice the largest deviation from the median of the targets, and the smallest that is no
 * rounding. work: (rows) */
static void find_range(struct likelihood *l, double *work)
{
    const struct sr_data *data = l->loss->data;
    memcpy(work, data->y, data->rows * sizeof *work);
    const double middle = orr_median(work, data->rows);
    for (size_t i = 0; i < data->rows; i++)
        l->value[i] = middle;
    for (size_t k = 0; k < l->rows && l->family <= HUBER; k++)
        l->broadest = fmax(l->broadest, 2 * deviation_at(l, l->of[k]));
    l->broadest = fmax(l->broadest, 1e-280);
    const double noise = fmax(l->loss->noise, DBL_MIN);
    l->finest = fmax(l->family == LAPLACE ? noise : sqrt(noise), 1e-290);
}

int sr_front_describe_by(struct sr_front *front, const struct sr_loss *loss)
{
    struct likelihood l;
    double *work = NULL;
    front->rows = sr_rows_weighted(loss->data);
    front->independent = loss->data->independent;
    if (!front->count)
        return 0;
    const int most = sr_front_constants(front) + SR_NODES / 2; /* with numbers that are added */
    const int rc = start(loss, most, &l, &work);
    if (!rc) {
        find_range(&l, work);
        if (loss->kind == ORR_SR_CUSTOM)
            l.power = front->power > 0 ? front->power : power_of_custom(&l, front);
        front->power = l.power;
        for (int i = 0; i < front->count; i++)
            measure_row(&l, front, i, work);
    }
    free(work);
    free(l.of);
    return rc;
}
