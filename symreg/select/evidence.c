/* evidence.c - what constants cost in the evidence of a formula (Laplace's approximation): those
 * that may be simple numbers cost less than those that had to be measured. */
#include "select.h"

#include <math.h>
#include <string.h>

enum { MOST_BELOW = 4 };                           /* largest denominator */
static const double widest = 3;                    /* standard errors to a fraction, at most */
static const double same = 1e-12;                  /* relative distance of a number to itself */
static const double log_ten = 2.302585092994046;   /* ln 10 */
static const double log_turn = 1.8378770664093453; /* ln 2 pi */
/* Values of ln |c| and signs between which a measured constant is chosen. */
static const double choices = 2 * 6 * log_ten;

/* A constant replaced by a fraction, and the nats that this saves; constant -1: none does. */
struct fraction {
    int constant;
    double value, gain;
};

/* The constants and their covariance, given those that are `settled` */
struct state {
    struct sr_uncertainty u;
    double value[SR_NODES], size[SR_NODES], counted;
    bool settled[SR_NODES], far;
};

static double nats_of_fraction(double p, int below)
{
    const double size = fabs(p);
    return orr_log(2 * size * (size + 1) * below * (below + 1)) + orr_log(p < 0 ? 3 : 1.5);
}

/* The prior density at the value, times the width of the likelihood. */
static double nats_of_measured(const struct state *s, int c)
{
    const double variance = s->u.covariance[c][c], size = s->size[c];
    return orr_log(2 * choices) + 0.5 * orr_log(fmax(size * size / variance, 1)) - 0.5 * log_turn;
}

/* The fraction that saves most. */
static struct fraction find_fraction(const struct state *s)
{
    struct fraction best = {-1, 0, 0};
    for (int c = 0; c < s->u.constants; c++)
        for (int below = 1; below <= MOST_BELOW && !s->settled[c]; below++) {
            const double p = nearbyint(s->value[c] * below), near = p / below;
            const double off = fabs(near - s->value[c]);
            const double z = off > same * fabs(near) ? off / sqrt(s->u.covariance[c][c]) : 0;
            if (p == 0 || !(z <= widest))
                continue;
            const double gain = nats_of_measured(s, c) - nats_of_fraction(p, below) -
                                0.5 * s->counted * orr_log(1 + z * z / s->counted);
            if (gain > best.gain)
                best = (struct fraction){c, near, gain};
        }
    return best;
}

/* Whether the standard error of every constant that is not settled is known. */
static bool has_errors(const struct state *s)
{
    bool known = true;
    for (int c = 0; c < s->u.constants && known; c++)
        known = s->settled[c] || s->u.covariance[c][c] > 0;
    return known;
}

/* Gives constant c the value; the others and their covariance follow. */
static void settle(struct state *s, int c, double value)
{
    double column[SR_NODES] = {0};
    for (int a = 0; a < s->u.constants; a++)
        column[a] = s->u.covariance[a][c];
    const double variance = column[c], off = value - s->value[c];
    for (int a = 0; a < s->u.constants; a++) {
        if (s->settled[a] || a == c)
            continue;
        s->value[a] += column[a] / variance * off;
        if (!s->far)
            s->size[a] = s->value[a];
        for (int b = 0; b < s->u.constants; b++)
            s->u.covariance[a][b] -= column[a] * (column[b] / variance);
    }
    s->value[c] = value;
    s->settled[c] = true;
}

/* Fixes the constants that the others make redundant, the last ones: 1.9 in 1.2 (1.9 r). Returns
 * how many; -1: none was needed, or none helped. ORR_ENOMEM in *rc. */
static int fix_redundant(struct sr_expr *expr, const struct sr_data *data, double variance, int *rc)
{
    struct sr_uncertainty u;
    int number[SR_NODES], numbers = 0, fixed = 0;
    for (int i = 0; i < expr->count; i++)
        if (sr_is_number(&expr->node[i]))
            number[numbers++] = i;
    for (int k = 0; k < numbers; k++)
        expr->node[number[k]].feature = SR_FIXED;
    for (int k = 0; k < numbers && !*rc; k++) {
        struct sr_node *node = &expr->node[number[k]];
        node->feature = 0;
        *rc = sr_constants_uncertainty(expr, data, variance, &u);
        if (isnan(u.error[0]) && !*rc) {
            node->feature = SR_FIXED;
            fixed++;
        }
    }
    return fixed > 0 && fixed < numbers ? fixed : -1;
}

/* Of a formula whose constants have no standard errors: those that are redundant cost what a number
 * of any size does. */
static int evidence_of_singular(const struct sr_expr *expr, bool far, const struct sr_data *data,
                                double variance, double *nats)
{
    struct sr_expr free = *expr;
    int rc = 0;
    const int fixed = fix_redundant(&free, data, variance, &rc);
    *nats = NAN;
    if (rc || fixed < 0)
        return rc;
    TRY(sr_constants_evidence(&free, far, data, variance, nats, NULL));
    *nats += fixed * (orr_log(2 * choices) - 0.5 * log_turn);
    return 0;
}

/* Settles all constants and adds up what they cost. */
static void add_up(struct state *s, double *nats, double *simple)
{
    for (struct fraction f; has_errors(s) && (f = find_fraction(s)).constant >= 0;) {
        *nats += nats_of_measured(s, f.constant) - f.gain;
        settle(s, f.constant, f.value);
        if (simple)
            simple[f.constant] = f.value;
    }
    for (int c = 0; c < s->u.constants; c++) {
        if (s->settled[c])
            continue;
        *nats = has_errors(s) ? *nats + nats_of_measured(s, c) : NAN;
        settle(s, c, s->value[c]);
    }
}

void sr_measured_evidence(const double *value, const struct sr_uncertainty *u, double counted,
                          double *nats, double *simple)
{
    struct state s = {.counted = counted, .u = *u};
    memcpy(s.value, value, (size_t)u->constants * sizeof *value);
    memcpy(s.size, s.value, sizeof s.size);
    *nats = 0;
    for (int c = 0; c < u->constants; c++)
        simple[c] = NAN;
    add_up(&s, nats, simple);
}

int sr_constants_evidence(const struct sr_expr *expr, bool far, const struct sr_data *data,
                          double variance, double *nats, double *simple)
{
    struct state s = {.counted = sr_rows_counted(data), .far = far};
    const int count = sr_expr_constants(expr, s.value);
    memcpy(s.size, s.value, sizeof s.size);
    if (far)
        sr_constant_sizes(expr, s.size);
    *nats = 0;
    for (int c = 0; c < count && simple; c++)
        simple[c] = NAN;
    TRY(count ? sr_constants_uncertainty(expr, data, variance, &s.u) : 0);
    if (count && isnan(s.u.error[0]))
        return evidence_of_singular(expr, far, data, variance, nats);
    s.u.constants = count;
    add_up(&s, nats, simple);
    return 0;
}

/* The variance of a row of weight 1 about the row of least description length; 0: unknown. */
static int find_noise(const struct sr_front *front, const struct sr_data *data, double *variance)
{
    struct sr_uncertainty u;
    int row = -1;
    *variance = 0;
    for (int i = 0; i < front->count; i++)
        if (!isnan(front->mdl[i]) && (row < 0 || front->mdl[i] < front->mdl[row]))
            row = i;
    if (row < 0)
        return 0;
    TRY(sr_constants_uncertainty(&front->expr[row], data, 0, &u));
    *variance = u.noise > 0 && isfinite(u.noise) ? u.noise : 0;
    return 0;
}

/* Whether the errors are independent, normal and of one size, as far as the front shows, and rows
 * are neither too few for a Hessian nor so many that nothing is left to choose. */
static bool is_plain(const struct sr_front *front, const struct sr_data *data)
{
    static const double least_worth = 0.5; /* share of the rows, sr_front_weigh_rows() */
    const bool even = !(front->worth > 0) || front->worth >= least_worth * (double)front->rows;
    return even && !front->without && !(fmax(data->independent, front->independent) > 0) &&
           sr_rows_counted(data) >= SR_EVIDENCE_LEAST && data->rows <= SR_EVIDENCE_MOST;
}

int sr_front_find_evidence(struct sr_front *front, const struct sr_data *data)
{
    /* what a measured constant costs more than in a description length */
    const double more = orr_log(2 * choices) - 0.5 * log_turn + 0.5 * orr_log(3);
    double variance, nats;
    if (!is_plain(front, data))
        return 0;
    TRY(find_noise(front, data, &variance));
    for (int i = 0; i < front->count; i++) {
        struct sr_expr centred;
        int added;
        const bool far = sr_from_middle(&front->expr[i], data, &centred, &added);
        TRY(sr_constants_evidence(&centred, far, data, variance, &nats, NULL));
        front->evidence[i] = isfinite(nats)
                                 ? sr_expr_nats(&front->expr[i], added) + nats
                                 : front->cost[i] + more * sr_expr_constants(&front->expr[i], NULL);
    }
    return 0;
}
