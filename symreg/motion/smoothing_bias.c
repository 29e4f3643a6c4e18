/* smoothing_bias.c - takes back what smoothing took from bent paths.
 *
 * A smoothed acceleration is a weighted sum S of positions, in effect a mean of the acceleration
 * over a window: where the force changes fast, as at a periapsis, that is less than the
 * acceleration itself. The positions tell where the body was much better than how it accelerated.
 * So a curve of force over distance, fitted to the rows, is integrated twice along the smoothed
 * path; what remains of the positions is noise around a straight line, which bends nowhere:
 *
 *   acceleration = curve's acceleration + S (positions - curve's positions).
 *
 * The curve, ln |F| = c_pair + c1 ln r + c2 ln^2 r, has an amplitude for each pair and a common
 * shape. It is no candidate for the law: a curve that is wrong by some share leaves that share of
 * the correction. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { B = SR_MOTION_BODIES, D = SR_MOTION_DIMS, W = SR_MOTION_WINDOW, NODES = 5 };

/* ---- the curve */

struct curve {
    size_t groups;
    struct {
        const struct sr_track *track, *other;
        double amplitude, sign;
    } * group;
    double middle, shape[2]; /* mean of ln r, c1, c2 around it */
};

static double shape_at(const struct curve *c, double r)
{
    const double x = orr_log(r) - c->middle;
    return x * (c->shape[0] + x * c->shape[1]);
}

/* Weighted sums of a pair's rows: of 1, x, x^2 and ln |F|. */
struct sums {
    double w, x[2], y;
};

static struct sums sum_rows(const struct curve *c, struct sr_motion_row *const *row, size_t n,
                            double sign)
{
    struct sums s = {0};
    for (size_t i = 0; i < n; i++) {
        if (!(row[i]->value * sign > 0))
            continue;
        const double w = pow(row[i]->value / row[i]->sigma, 2), x = orr_log(row[i]->r) - c->middle;
        s.w += w;
        s.x[0] += w * x;
        s.x[1] += w * x * x;
        s.y += w * orr_log(fabs(row[i]->value));
    }
    return s;
}

static void add_shape(const struct curve *c, struct sr_motion_row *const *row, size_t n,
                      double sign, const struct sums *s, double A[4], double b[2])
{
    for (size_t i = 0; i < n; i++) {
        if (!(row[i]->value * sign > 0))
            continue;
        const double w = pow(row[i]->value / row[i]->sigma, 2), x = orr_log(row[i]->r) - c->middle;
        const double u[2] = {x - s->x[0] / s->w, x * x - s->x[1] / s->w},
                     y = orr_log(fabs(row[i]->value)) - s->y / s->w;
        for (int k = 0; k < 2; k++) {
            for (int l = 0; l < 2; l++)
                A[2 * k + l] += w * u[k] * u[l];
            b[k] += w * u[k] * y;
        }
    }
}

static double sign_of(struct sr_motion_row *const *row, size_t n, size_t *other)
{
    size_t above = 0;
    for (size_t i = 0; i < n; i++)
        above += row[i]->value > 0;
    *other += 2 * above > n ? n - above : above;
    return 2 * above > n ? 1 : -1;
}

/* False where forces of a pair change their sign. */
static bool fit_curve(struct sr_motion_row **row, size_t count, struct curve *c)
{
    /* shapes that rows do not determine are flat: 0 +- 3 and 0 +- 1 */
    double A[4] = {1. / 9, 0, 0, 1};
    size_t against = 0;
    memset(c->shape, 0, sizeof c->shape);
    c->middle = 0;
    for (size_t i = 0; i < count; i++)
        c->middle += orr_log(row[i]->r) / (double)count;
    c->groups = 0;
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && !sr_motion_by_pair(&row[i], &row[i + n]);)
            n++;
        const double sign = sign_of(row + i, n, &against);
        const struct sums s = sum_rows(c, row + i, n, sign);
        add_shape(c, row + i, n, sign, &s, A, c->shape);
    }
    if (10 * against > count || !sr_cholesky(A, 2, 2, 0))
        return false;
    sr_cholesky_solve(A, 2, 2, c->shape);
    c->groups = 0;
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && !sr_motion_by_pair(&row[i], &row[i + n]);)
            n++;
        const double sign = sign_of(row + i, n, &against);
        const struct sums s = sum_rows(c, row + i, n, sign);
        c->group[c->groups].track = row[i]->track;
        c->group[c->groups].other = row[i]->other;
        c->group[c->groups].sign = sign;
        c->group[c->groups++].amplitude = (s.y - c->shape[0] * s.x[0] - c->shape[1] * s.x[1]) / s.w;
    }
    return true;
}

/* ---- units: what is corrected, or not, as a whole */

/* The tracks of a system; about a point each track by itself. */
struct unit {
    size_t first, tracks;
    double before, after; /* mean square deviation of its rows from the curve, over sigma^2 */
    bool given_up;        /* its rows fitted the curve better as they were */
};

static size_t list_units(const struct sr_tracks *tracks, bool each, struct unit *unit)
{
    size_t count = 0;
    for (size_t first = 0, size; first < tracks->count; first += size) {
        size = each ? 1 : sr_system_size(tracks, first);
        unit[count++] = (struct unit){.first = first, .tracks = size};
    }
    return count;
}

/* Fills `after` of all units, NAN where one has no rows. row: pair by pair, as in fit_curve(). */
static void measure_units(const struct sr_tracks *tracks, const struct curve *c,
                          struct sr_motion_row *const *row, size_t count, struct unit *unit,
                          size_t units)
{
    for (size_t u = 0, i = 0, g = 0; u < units; u++) {
        const struct sr_track *end = tracks->track + unit[u].first + unit[u].tracks;
        double sum = 0, rows = 0;
        for (; i < count && row[i]->track < end; i++) {
            g += i > 0 && sr_motion_by_pair(&row[i - 1], &row[i]);
            const double f =
                c->group[g].sign * orr_exp(c->group[g].amplitude + shape_at(c, row[i]->r));
            sum += pow((row[i]->value - f) / row[i]->sigma, 2);
            rows++;
            row[i]->slope = c->shape[0] + 2 * c->shape[1] * (orr_log(row[i]->r) - c->middle);
        }
        unit[u].after = rows > 0 ? sum / rows : NAN;
    }
}

/* ---- accelerations along the paths */

/* The bodies of one system, and the curve's groups of their pairs. */
struct system {
    const struct sr_tracks *tracks;
    const struct sr_motion_table *table;
    const struct curve *curve;
    const struct sr_motion_law *law; /* in place of the curve's values; NULL: the curve's */
    struct sr_track *track;
    size_t bodies;
    int group[B][B]; /* -1: none; of body k and a point: group[k][k] */
    bool pulled[B];  /* whether a body has a group */
    int origin;      /* the body at rest that positions are relative to, -1: none */
};

/* A body's position at time t between rows i and i + 1: the cubic with their accelerations. */
static void path_at(const struct sr_track *track, int dims, size_t i, double t, double *x)
{
    const size_t n = track->n;
    const double h = track->t[i + 1] - track->t[i], u = (t - track->t[i]) / h, v = 1 - u;
    for (size_t d = 0; d < (size_t)dims; d++) {
        const double *s = track->smooth + d * n + i, *a = track->acceleration + d * n + i;
        x[d] = v * s[0] + u * s[1] + h * h / 6 * ((v * v * v - v) * a[0] + (u * u * u - u) * a[1]);
    }
}

/* The value of a row of the pair at a distance. */
static double value_at(const struct system *s, int group, double r)
{
    const struct sr_track *const other = s->curve->group[group].other;
    return s->law ? s->law->value(s->law->context, r, s->curve->group[group].track->mass,
                                  other ? other->mass : 0)
                  : s->curve->group[group].sign *
                        orr_exp(s->curve->group[group].amplitude + shape_at(s->curve, r));
}

/* Adds the pull on a body at x of what is at y; scale: acceleration over force. */
static void add_pull(const struct system *s, int group, const double *x, const double *y, int dims,
                     double scale, double *a)
{
    double r2 = 0;
    for (int d = 0; d < dims; d++)
        r2 += (y[d] - x[d]) * (y[d] - x[d]);
    if (!(r2 > 0))
        return;
    const double r = sqrt(r2), f = scale * value_at(s, group, r);
    for (int d = 0; d < dims; d++)
        a[d] += f * (y[d] - x[d]) / r;
}

/* The curve's acceleration of body k with all bodies at x[]. */
static void pull_on(const struct system *s, size_t k, double x[B][D], double *a)
{
    const int dims = s->tracks->dims;
    const bool forces = !s->table->by_centre;
    memset(a, 0, D * sizeof *a);
    if (s->group[k][k] >= 0)
        add_pull(s, s->group[k][k], x[k], s->table->centre, dims, 1, a);
    for (size_t j = 0; j < s->bodies; j++)
        if (j != k && s->group[k][j] >= 0 && (forces || s->origin == (int)j))
            add_pull(s, s->group[k][j], x[k], x[j], dims,
                     forces ? 1 / sr_motion_mass(&s->track[k], s->bodies) : 1, a);
}

static void acceleration_of(const struct system *s, size_t k, double x[B][D], double *a)
{
    double origin[D];
    pull_on(s, k, x, a);
    if (s->origin < 0 || s->table->by_centre)
        return;
    pull_on(s, (size_t)s->origin, x, origin);
    for (int d = 0; d < s->tracks->dims; d++)
        a[d] -= origin[d];
}

/* Gauss-Legendre with 5 nodes on [0, 1]. twice[k][g]: the second integral up to node g, 0 at both
 * ends, of the polynomial of degree 4 that is 1 at node k and 0 at the others. */
struct rule {
    double node[NODES], weight[NODES], twice[NODES][NODES];
};

static void make_rule(struct rule *rule)
{
    static const double node[NODES] = {0.046910077030668004, 0.23076534494715845, 0.5,
                                       0.76923465505284155, 0.953089922969332};
    static const double weight[NODES] = {0.11846344252809454, 0.23931433524968324,
                                         0.28444444444444444, 0.23931433524968324,
                                         0.11846344252809454};
    memcpy(rule->node, node, sizeof node);
    memcpy(rule->weight, weight, sizeof weight);
    for (int k = 0; k < NODES; k++) {
        double p[NODES] = {1}; /* coefficients of the polynomial */
        for (int j = 0, degree = 0; j < NODES; j++) {
            if (j == k)
                continue;
            degree++;
            for (int q = degree; q >= 0; q--)
                p[q] = ((q > 0 ? p[q - 1] : 0) - (q < degree ? node[j] * p[q] : 0)) /
                       (node[k] - node[j]);
        }
        for (int g = 0; g < NODES; g++) {
            double sum = 0, power = node[g];
            for (int q = 0; q < NODES; q++) {
                power *= node[g];
                sum += p[q] * (power - node[g]) / ((q + 1) * (q + 2));
            }
            rule->twice[k][g] = sum;
        }
    }
}

/* Paths and accelerations of all bodies between two rows. */
struct interval {
    double x[NODES][B][D], a[NODES][B][D];
};

/* The paths between rows i and i + 1 that have the curve's accelerations and the rows' positions,
 * by iteration from cubics. */
static void bend_paths(const struct system *s, const struct rule *rule, size_t i,
                       struct interval *in)
{
    enum { TIMES = 5 };
    const size_t dims = (size_t)s->tracks->dims;
    const double h = s->track->t[i + 1] - s->track->t[i];
    for (int g = 0; g < NODES; g++)
        for (size_t b = 0; b < s->bodies; b++)
            path_at(&s->track[b], (int)dims, i, s->track->t[i] + h * rule->node[g], in->x[g][b]);
    for (int time = 0; time < TIMES; time++) {
        for (int g = 0; g < NODES; g++)
            for (size_t b = 0; b < s->bodies; b++)
                acceleration_of(s, b, in->x[g], in->a[g][b]);
        for (size_t b = 0; b < s->bodies && time + 1 < TIMES; b++) {
            if ((int)b == s->origin || !s->pulled[b])
                continue;
            const double *at = s->track[b].smooth + i;
            for (size_t d = 0; d < dims; d++)
                for (int g = 0; g < NODES; g++) {
                    const size_t row = d * s->track[b].n;
                    in->x[g][b][d] = at[row] + rule->node[g] * (at[row + 1] - at[row]);
                    for (int k = 0; k < NODES; k++)
                        in->x[g][b][d] += h * h * rule->twice[k][g] * in->a[k][b][d];
                }
        }
    }
}

/* Arrays of one body: the curve's positions up to a straight line, its accelerations at the rows,
 * and the corrected smoothed positions and accelerations, (dims, n) each. */
struct body {
    double *y, *a, *smooth, *acceleration;
};

/* Integrates the curve's accelerations of all bodies twice along the paths. */
static void integrate(const struct system *s, const struct rule *rule, const struct body *body)
{
    const size_t n = s->track->n, dims = (size_t)s->tracks->dims;
    double speed[B][D] = {{0}};
    for (size_t i = 0; i < n; i++) {
        struct interval in;
        double x[B][D], at[D];
        for (size_t b = 0; b < s->bodies; b++)
            for (size_t d = 0; d < dims; d++)
                x[b][d] = s->track[b].smooth[d * n + i];
        for (size_t b = 0; b < s->bodies; b++) {
            acceleration_of(s, b, x, at);
            for (size_t d = 0; d < dims; d++) {
                body[b].a[d * n + i] = at[d];
                body[b].y[d * n + i] = i ? body[b].y[d * n + i] : 0;
            }
        }
        if (i + 1 == n)
            break;
        bend_paths(s, rule, i, &in);
        const double h = s->track->t[i + 1] - s->track->t[i];
        for (size_t b = 0; b < s->bodies; b++)
            for (size_t d = 0; d < dims; d++) {
                double once = 0, twice = 0;
                for (int g = 0; g < NODES; g++) {
                    once += h * rule->weight[g] * in.a[g][b][d];
                    twice += h * h * rule->weight[g] * (1 - rule->node[g]) * in.a[g][b][d];
                }
                body[b].y[d * n + i + 1] = body[b].y[d * n + i] + h * speed[b][d] + twice;
                speed[b][d] += once;
            }
    }
}

/* What remains of a body's positions, smoothed, and the curve's again. */
static void correct_body(const struct sr_track *track, size_t dims, const struct body *body)
{
    const size_t n = track->n, width = n < W ? n : W;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < dims; d++) {
            const size_t from = d * n + track->start[i];
            const double base = track->x[from] - body->y[from];
            double sum = 0, smooth = 0;
            for (size_t j = 0; j < width; j++) {
                const double left = track->x[from + j] - body->y[from + j] - base;
                sum += track->weight[i * W + j] * left;
                smooth += track->smooth_weight[i * W + j] * left;
            }
            body->acceleration[d * n + i] = body->a[d * n + i] + sum;
            body->smooth[d * n + i] = body->y[d * n + i] + base + smooth;
        }
}

static bool make_system(struct system *s)
{
    s->origin = -1;
    for (size_t k = 0; k < s->bodies; k++) {
        if (s->bodies > 1 && !sr_track_same_times(&s->track[k], s->track))
            return false;
        if (sr_track_rests(s->tracks->dims, &s->track[k]))
            s->origin = (int)k;
        for (size_t j = 0; j < s->bodies; j++)
            s->group[k][j] = -1;
    }
    for (size_t g = 0; g < s->curve->groups; g++) {
        const ptrdiff_t k = s->curve->group[g].track - s->track;
        const ptrdiff_t j = s->curve->group[g].other ? s->curve->group[g].other - s->track : k;
        if (k >= 0 && k < (ptrdiff_t)s->bodies && j >= 0 && j < (ptrdiff_t)s->bodies)
            s->group[k][j] = s->group[j][k] = (int)g;
    }
    for (size_t k = 0; k < s->bodies; k++)
        for (size_t j = 0; j < s->bodies; j++)
            s->pulled[k] = s->pulled[k] || s->group[k][j] >= 0;
    return true;
}

static void correct_system(const struct system *s, const struct rule *rule, double *work)
{
    const size_t dims = (size_t)s->tracks->dims, values = dims * s->track->n;
    struct body body[B];
    for (size_t b = 0; b < s->bodies; b++, work += 4 * values)
        body[b] = (struct body){work, work + values, work + 2 * values, work + 3 * values};
    integrate(s, rule, body);
    for (size_t b = 0; b < s->bodies; b++) {
        if ((int)b == s->origin || !s->pulled[b])
            continue;
        correct_body(&s->track[b], dims, &body[b]);
        memcpy(s->track[b].acceleration, body[b].acceleration, values * sizeof(double));
        memcpy(s->track[b].smooth, body[b].smooth, values * sizeof(double));
    }
}

/* The system of a unit; false where it is not corrected. */
static bool start_system(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                         const struct curve *curve, const struct unit *unit, struct system *s)
{
    *s = (struct system){.tracks = tracks,
                         .table = table,
                         .curve = curve,
                         .track = tracks->track + unit->first,
                         .bodies = unit->tracks};
    return !unit->given_up && s->bodies <= B && make_system(s);
}

/* Corrects the units that are not given up; work: 4 values for each of the tracks' coordinates. */
static void correct(const struct sr_motion_table *table, const struct curve *curve,
                    const struct sr_tracks *tracks, const struct unit *unit, size_t units,
                    double *work)
{
    struct rule rule;
    make_rule(&rule);
    for (size_t u = 0; u < units; u++) {
        struct system s;
        if (start_system(tracks, table, curve, &unit[u], &s))
            correct_system(&s, &rule, work);
    }
}

/* ---- errors that reach the accelerations by the paths */

/* Adds to `path` (dims, n) of each body what the curve's accelerations, `weight` (dims) of body k's
 * at row i, change with the positions of row i. */
static void add_gradient(const struct system *s, size_t k, size_t i, const double *weight,
                         double *const *path)
{
    const size_t n = s->track->n;
    const int dims = s->tracks->dims;
    double x[B][D], before[D], after[D];
    for (size_t b = 0; b < s->bodies; b++)
        for (int d = 0; d < dims; d++)
            x[b][d] = s->track[b].smooth[(size_t)d * n + i];
    acceleration_of(s, k, x, before);
    for (size_t b = 0; b < s->bodies; b++)
        for (int d = 0; d < dims && (int)b != s->origin; d++) {
            const double old = x[b][d], step = 1e-7 * s->track[b].size;
            x[b][d] += step;
            acceleration_of(s, k, x, after);
            x[b][d] = old;
            for (int e = 0; e < dims; e++)
                path[b][(size_t)d * n + i] += weight[e] * (after[e] - before[e]) / step;
        }
}

/* The curve's positions are integrals along smoothed paths, whose errors they have: subtracts
 * these from the weights of a corrected system. With weights P_j of positions
 * y_j = sum over rows i < j of (t_j - t_i) h_i a_i, row i's acceleration has the weight
 * h_i sum over j > i of (t_j - t_i) P_j. */
static void add_paths(const struct system *s, struct sr_amplitude *k, double *work)
{
    const size_t n = s->track->n, dims = (size_t)s->tracks->dims;
    const double *t = s->track->t;
    const size_t first = (size_t)(s->track - s->tracks->track);
    double *path[B];
    for (size_t b = 0; b < s->bodies; b++)
        path[b] = work + b * dims * n;
    memset(work, 0, s->bodies * dims * n * sizeof *work);
    for (size_t b = 0; b < s->bodies; b++) {
        const double *P = k->position + k->from[first + b];
        double sum[D] = {0}, moment[D] = {0}; /* of P_j, and of (t_j - t_i) P_j, over j > i */
        for (size_t i = n - 1; i-- > 0 && s->pulled[b] && (int)b != s->origin;) {
            const double h = 0.5 * (t[i + 1] - t[i > 0 ? i - 1 : 0]);
            double weight[D];
            for (size_t d = 0; d < dims; d++) {
                sum[d] += P[d * n + i + 1];
                moment[d] += (t[i + 1] - t[i]) * sum[d];
                weight[d] = h * moment[d];
            }
            add_gradient(s, b, i, weight, path);
        }
    }
    for (size_t b = 0; b < s->bodies; b++) {
        const struct sr_track *track = &s->track[b];
        double *P = k->position + k->from[first + b];
        const size_t width = n < W ? n : W;
        for (size_t i = 0; i < n; i++)
            for (size_t d = 0; d < dims; d++)
                for (size_t j = 0; j < width; j++)
                    P[d * n + track->start[i] + j] -=
                        path[b][d * n + i] * track->smooth_weight[i * W + j];
    }
}

/* The noise of a coordinate of a corrected track, from what its smoothed positions leave: curves
 * that the kernel is too stiff for are no noise any more. */
static double noise_of(const struct sr_track *track, size_t dims)
{
    const size_t n = track->n, width = n < W ? n : W;
    double squares = 0, freedom = 0;
    for (size_t i = 0; i < n; i++) {
        const double *weight = track->smooth_weight + i * W;
        for (size_t j = 0; j < width; j++)
            freedom += (double)dims * pow((track->start[i] + j == i) - weight[j], 2);
        for (size_t d = 0; d < dims; d++)
            squares += pow(track->x[d * n + i] - track->smooth[d * n + i], 2);
    }
    return sqrt(squares / freedom);
}

static const struct unit *unit_of(const struct sr_tracks *tracks, const struct unit *unit,
                                  size_t units, const struct sr_track *track)
{
    const size_t k = (size_t)(track - tracks->track);
    size_t low = 0;
    for (size_t high = units; high - low > 1;) {
        const size_t middle = (low + high) / 2;
        *(unit[middle].first <= k ? &low : &high) = middle;
    }
    return &unit[low];
}

/* Leaves out the rows of units that could not be corrected where others were, and whose rows
 * deviate much more than theirs: what smoothing took from these is unknown. */
static int drop_units(const struct sr_tracks *tracks, struct sr_motion_table *table,
                      const struct unit *unit, size_t units)
{
    const double much = 10;
    double *after = orr_alloc(units, sizeof *after);
    size_t corrected = 0, kept = 0;
    if (!after)
        return ORR_ENOMEM;
    for (size_t u = 0; u < units; u++)
        if (!unit[u].given_up)
            after[corrected++] = unit[u].after;
    const double most = 2 * corrected > units ? much * orr_median(after, corrected) : HUGE_VAL;
    for (size_t i = 0; i < table->count; i++) {
        const struct unit *u = unit_of(tracks, unit, units, table->row[i].track);
        if (!u->given_up || u->after < most)
            table->row[kept++] = table->row[i];
    }
    table->weak += table->count - kept;
    table->count = kept;
    free(after);
    return 0;
}

/* Sets table->inflation, given the curve of the last pass. */
static int measure_errors(struct sr_tracks *tracks, struct sr_motion_table *table,
                          const struct curve *curve, const struct unit *unit, size_t units,
                          double *work)
{
    struct sr_amplitude k;
    for (size_t i = 0; i < table->count; i++)
        if (!unit_of(tracks, unit, units, table->row[i].track)->given_up)
            table->row[i].slope = 0;
    const int rc = sr_amplitude_create(tracks, table, &k);
    for (size_t u = 0; u < units && !rc; u++) {
        struct system s;
        if (!start_system(tracks, table, curve, &unit[u], &s))
            continue;
        add_paths(&s, &k, work);
        for (size_t b = 0; b < s.bodies; b++)
            if (s.pulled[b] && (int)b != s.origin) {
                s.track[b].noise = noise_of(&s.track[b], (size_t)tracks->dims);
            }
    }
    if (!rc)
        sr_amplitude_measure(&k, table);
    /* errors of smoothing that remain are no noise, but the sigmas know them */
    for (size_t u = 0; u < units && !rc; u++)
        if (unit[u].given_up)
            table->inflation = fmax(1, table->inflation);
    sr_amplitude_free(&k);
    return rc;
}

/* ---- passes */

static size_t values_of(const struct sr_tracks *tracks)
{
    size_t all = 0;
    for (size_t k = 0; k < tracks->count; k++)
        all += (size_t)tracks->dims * tracks->track[k].n;
    return all;
}

/* Copies what a correction changes, of a unit's tracks, to or from a copy of all tracks. */
static void copy_unit(const struct sr_tracks *tracks, const struct unit *unit, double *copy,
                      bool back)
{
    for (size_t k = 0; k < unit->first + unit->tracks; k++) {
        const struct sr_track *track = &tracks->track[k];
        const size_t values = (size_t)tracks->dims * track->n;
        double *const array[] = {track->acceleration, track->smooth};
        for (size_t i = 0; i < 2; i++, copy += values)
            if (k >= unit->first)
                memcpy(back ? array[i] : copy, back ? copy : array[i], values * sizeof *copy);
    }
}

static int fit_rows(const struct sr_tracks *tracks, const struct sr_motion_table *table,
                    struct curve *curve, struct unit *unit, size_t units)
{
    struct sr_motion_row **row = sr_motion_sorted(table);
    free(curve->group);
    curve->group = row ? orr_alloc(table->count + 1, sizeof *curve->group) : NULL;
    const int rc = curve->group ? 0 : ORR_ENOMEM;
    for (size_t u = 0; u < units; u++)
        unit[u].after = NAN;
    if (!rc && fit_curve(row, table->count, curve))
        measure_units(tracks, curve, row, table->count, unit, units);
    free(row);
    return rc;
}

/* Whether a unit's rows became better, for now or for good. Rows that deviate by more than their
 * sigmas show that the curve is not exact enough. Of tracks without noise the curve has to be much
 * better, or what it cannot say would be exchanged for smaller errors of smoothing. */
static bool is_better(const struct sr_tracks *tracks, const struct unit *unit, bool last)
{
    const double no_noise = 1e-5; /* over the size of a track */
    double noise = 0;
    for (size_t k = unit->first; k < unit->first + unit->tracks; k++)
        if (tracks->track[k].size > 0)
            noise = fmax(noise, tracks->track[k].noise / tracks->track[k].size);
    if (!last)
        return unit->after < 10 * unit->before;
    return unit->after < (noise < no_noise || unit->after > 1 ? 0.1 : 1) * unit->before;
}

/* Restores units whose rows became worse, and gives these up in the last passes; the number of
 * those. */
static size_t give_up(const struct sr_tracks *tracks, struct unit *unit, size_t units, bool last,
                      double *copy)
{
    size_t count = 0;
    for (size_t u = 0; u < units; u++) {
        if (unit[u].given_up || is_better(tracks, &unit[u], last))
            continue;
        unit[u].given_up = last;
        copy_unit(tracks, &unit[u], copy, true);
        count++;
    }
    return count;
}

static int run_passes(struct sr_tracks *tracks, const char *centre, struct sr_motion_table *table,
                      struct unit *unit, size_t units, double *block)
{
    enum { PASSES = 12 };
    struct curve curve = {.group = NULL};
    double *work = block + 2 * values_of(tracks);
    size_t back = 0;
    int rc = fit_rows(tracks, table, &curve, unit, units);
    for (size_t u = 0; u < units; u++) {
        unit[u].before = unit[u].after;
        unit[u].given_up = isnan(unit[u].before);
        copy_unit(tracks, &unit[u], block, false);
    }
    for (int pass = 0; pass < PASSES && !rc && curve.groups; pass++) {
        correct(table, &curve, tracks, unit, units, work);
        rc = sr_motion_rows(tracks, centre, table);
        if (!rc)
            rc = fit_rows(tracks, table, &curve, unit, units);
        back = rc ? 0 : give_up(tracks, unit, units, pass >= PASSES / 2, block);
        if (back && !rc)
            rc = sr_motion_rows(tracks, centre, table);
        if (back && !rc)
            rc = fit_rows(tracks, table, &curve, unit, units);
    }
    if (!rc)
        rc = drop_units(tracks, table, unit, units);
    if (!rc)
        rc = measure_errors(tracks, table, &curve, unit, units, work);
    free(curve.group);
    return rc;
}

int sr_motion_unbend(struct sr_tracks *tracks, const char *centre, struct sr_motion_table *table)
{
    double *block = orr_alloc(6 * values_of(tracks), sizeof *block);
    struct unit *unit = orr_alloc(tracks->count, sizeof *unit);
    int rc = block && unit ? 0 : ORR_ENOMEM;
    if (!rc) {
        const bool each = centre && !sr_centre_body(centre);
        rc = run_passes(tracks, centre, table, unit, list_units(tracks, each, unit), block);
    }
    free(unit);
    free(block);
    return rc;
}

/* ---- the model of a law */

/* Adds to y (dims, n) the straight line by which it comes nearest to the positions. */
static void add_line(const struct sr_track *track, size_t dims, double *y)
{
    const size_t n = track->n;
    double middle = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        middle += track->t[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += pow(track->t[i] - middle, 2);
    for (size_t d = 0; d < dims; d++) {
        double mean = 0, slope = 0;
        for (size_t i = 0; i < n; i++) {
            const double left = track->x[d * n + i] - y[d * n + i];
            mean += left / (double)n;
            slope += left * (track->t[i] - middle) / squares;
        }
        for (size_t i = 0; i < n; i++)
            y[d * n + i] += mean + slope * (track->t[i] - middle);
    }
}

/* The pairs that have rows, without their amplitudes. */
static int list_pairs(const struct sr_motion_table *table, struct curve *curve)
{
    struct sr_motion_row **row = sr_motion_sorted(table);
    curve->groups = 0;
    curve->group = row ? orr_alloc(table->count + 1, sizeof *curve->group) : NULL;
    for (size_t i = 0; i < table->count && curve->group; i++)
        if (i == 0 || sr_motion_by_pair(&row[i - 1], &row[i])) {
            curve->group[curve->groups].track = row[i]->track;
            curve->group[curve->groups++].other = row[i]->other;
        }
    free(row);
    return curve->group ? 0 : ORR_ENOMEM;
}

/* Writes the law's positions of a system to model; work: 1 value for each of its coordinates. */
static void model_system(const struct system *s, const struct rule *rule, double *model,
                         double *work)
{
    const size_t dims = (size_t)s->tracks->dims, values = dims * s->track->n;
    struct body body[B];
    for (size_t b = 0; b < s->bodies; b++)
        body[b] = (struct body){.y = model + b * values, .a = work + b * values};
    integrate(s, rule, body);
    for (size_t b = 0; b < s->bodies; b++)
        if ((int)b == s->origin || !s->pulled[b])
            for (size_t i = 0; i < values; i++)
                body[b].y[i] = NAN;
        else
            add_line(&s->track[b], dims, body[b].y);
}

int sr_motion_model(const struct sr_tracks *tracks, const char *centre,
                    const struct sr_motion_table *table, const struct sr_motion_law *law,
                    size_t most, double *model)
{
    const size_t values = values_of(tracks);
    struct unit *unit = orr_alloc(tracks->count, sizeof *unit);
    double *work = orr_alloc(values, sizeof *work);
    struct curve curve = {.group = NULL};
    struct rule rule;
    size_t from = 0;
    int rc = unit && work ? list_pairs(table, &curve) : ORR_ENOMEM;
    make_rule(&rule);
    for (size_t i = 0; i < values; i++)
        model[i] = NAN;
    const size_t units = rc ? 0 : list_units(tracks, centre && !sr_centre_body(centre), unit);
    for (size_t u = 0; u < units && unit[u].first < most; u++) {
        struct system s;
        if (start_system(tracks, table, &curve, &unit[u], &s)) {
            s.law = law;
            model_system(&s, &rule, model + from, work);
        }
        for (size_t k = 0; k < unit[u].tracks; k++)
            from += (size_t)tracks->dims * tracks->track[unit[u].first + k].n;
    }
    free(curve.group);
    free(unit);
    free(work);
    return rc;
}
