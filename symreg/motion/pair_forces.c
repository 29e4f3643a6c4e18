/* pair_forces.c - forces between the bodies of a system.
 *
 * At every time that all bodies share, their accelerations satisfy
 *
 *   a_i = A + sum over j of F_ij e_ij / m_i + error,
 *
 * with e_ij the direction from i to j, F_ij = F_ji the attraction, and A the unknown acceleration
 * of the frame (positions may be relative to a body). Least squares weighted by the variances of
 * the accelerations gives all F_ij and their variances. Where a system has more pairs than its
 * accelerations determine, a weak prior, force_bounds.c's expected force +- 3 times the largest one
 * that is possible by it, leaves undetermined forces with a large variance; such rows are dropped
 * later. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { B = SR_MOTION_BODIES, UNKNOWNS = SR_MOTION_DIMS + B * (B - 1) / 2 };

/* Normal equations at one time. Unknowns: the frame's acceleration, then the forces of the
 * pairs. */
struct equations {
    size_t unknowns;
    double A[UNKNOWNS * UNKNOWNS], b[UNKNOWNS];
    double e[UNKNOWNS][SR_MOTION_DIMS], r[UNKNOWNS]; /* direction and distance of each pair */
    size_t body[UNKNOWNS][2];
    double variance[B];        /* of a coordinate of each body's acceleration */
    double expected[UNKNOWNS]; /* size of each force as force_bounds.c expects it; 0: unknown */
    double slope;              /* of the heaviest bodies' pulls, sr_slope_value() */
};

/* Adds w (row . F - value)^2. */
static void add_equation(struct equations *q, const double *row, double value, double w)
{
    for (size_t i = 0; i < q->unknowns; i++) {
        if (!(fabs(row[i]) > 0))
            continue;
        for (size_t j = 0; j <= i; j++)
            q->A[i * UNKNOWNS + j] += w * row[i] * row[j];
        q->b[i] += w * row[i] * value;
    }
}

static void list_pairs(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                       struct equations *q)
{
    q->unknowns = (size_t)dims;
    for (size_t i = 0; i < bodies; i++)
        for (size_t j = i + 1; j < bodies; j++) {
            const size_t p = q->unknowns++;
            double r2 = 0;
            for (size_t d = 0; d < (size_t)dims; d++) {
                q->e[p][d] = track[j].smooth[d * track[j].n + at[j]] -
                             track[i].smooth[d * track[i].n + at[i]];
                r2 += q->e[p][d] * q->e[p][d];
            }
            q->r[p] = sqrt(r2);
            for (int d = 0; d < dims; d++)
                q->e[p][d] /= q->r[p];
            q->body[p][0] = i;
            q->body[p][1] = j;
        }
}

double sr_motion_mass(const struct sr_track *track, size_t bodies)
{
    /* two bodies without masses: m1 m2 / (m1 + m2) = 1 makes F the relative acceleration */
    return bodies == 2 && !(track->mass > 0) ? 2 : track->mass;
}

static void add_priors(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                       struct equations *q)
{
    struct sr_pulls pulls;
    sr_pulls_measure(track, at, bodies, dims, &pulls);
    for (size_t p = (size_t)dims; p < q->unknowns; p++) {
        double widest, middle;
        q->expected[p] = sr_pulls_expect(track, at, bodies, dims, &pulls, q->slope, q->body[p][0],
                                         q->body[p][1], &widest, &middle);
        q->A[p * UNKNOWNS + p] += 1 / (9 * widest * widest);
        q->b[p] += middle / (9 * widest * widest);
    }
}

static void fill_equations(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                           struct equations *q)
{
    memset(q->A, 0, sizeof q->A);
    memset(q->b, 0, sizeof q->b);
    list_pairs(track, at, bodies, dims, q);
    double least = HUGE_VAL, row[UNKNOWNS];
    for (size_t i = 0; i < bodies; i++)
        if (track[i].variance[at[i]] > 0)
            least = fmin(least, track[i].variance[at[i]]);
    for (size_t i = 0; i < bodies; i++) {
        /* a body at rest is the origin, whose acceleration is exactly that of the frame; a share of
         * the smallest variance keeps the equations regular */
        const double variance = q->variance[i] = fmax(track[i].variance[at[i]], 1e-6 * least);
        for (int d = 0; d < dims; d++) {
            memset(row, 0, sizeof row);
            row[d] = 1;
            for (size_t p = (size_t)dims; p < q->unknowns; p++)
                for (size_t side = 0; side < 2; side++)
                    if (q->body[p][side] == i)
                        row[p] = (side ? -1 : 1) * q->e[p][d] / sr_motion_mass(&track[i], bodies);
            add_equation(q, row, track[i].acceleration[(size_t)d * track[i].n + at[i]],
                         1 / variance);
        }
    }
    if (bodies > 2)
        add_priors(track, at, bodies, dims, q);
}

/* The sum of squared residuals over variances, per degree of freedom; 0 without degrees of freedom.
 * *share: the residuals over the accelerations, both rms about their mean over the bodies, which is
 * that of the frame. */
static double left_over(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                        const struct equations *q, double *share)
{
    const size_t all = bodies * (size_t)dims;
    double squares = 0, left = 0, sizes = 0;
    for (int d = 0; d < dims; d++) {
        double off[B], mean = 0, mean_size = 0;
        for (size_t i = 0; i < bodies; i++) {
            const double a = track[i].acceleration[(size_t)d * track[i].n + at[i]];
            off[i] = a - q->b[d];
            for (size_t p = (size_t)dims; p < q->unknowns; p++)
                for (size_t side = 0; side < 2; side++)
                    if (q->body[p][side] == i)
                        off[i] -= (side ? -1 : 1) * q->e[p][d] / sr_motion_mass(&track[i], bodies) *
                                  q->b[p];
            if (track[i].variance[at[i]] > 0)
                squares += off[i] * off[i] / track[i].variance[at[i]];
            mean += off[i] / (double)bodies;
            mean_size += a / (double)bodies;
        }
        for (size_t i = 0; i < bodies; i++) {
            const double a = track[i].acceleration[(size_t)d * track[i].n + at[i]] - mean_size;
            left += (off[i] - mean) * (off[i] - mean);
            sizes += a * a;
        }
    }
    *share = all > q->unknowns && sizes > 0 ? sqrt(left / sizes) : 0;
    return all > q->unknowns ? squares / (double)(all - q->unknowns) : 0;
}

/* The parts of the force of pair p: row p of the inverse of the equations, times the weighted
 * equations of each body. column: (unknowns) that row. */
static void fill_parts(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                       const struct equations *q, const double *column, struct sr_motion_part *part)
{
    for (size_t i = 0; i < bodies; i++) {
        part[i] = (struct sr_motion_part){.track = &track[i], .at = at[i]};
        for (int d = 0; d < dims; d++) {
            double sum = column[d];
            for (size_t p = (size_t)dims; p < q->unknowns; p++)
                for (size_t side = 0; side < 2; side++)
                    if (q->body[p][side] == i)
                        sum += (side ? -1 : 1) * q->e[p][d] / sr_motion_mass(&track[i], bodies) *
                               column[p];
            part[i].weight[d] = sum / q->variance[i];
        }
    }
}

static int add_pairs(const struct sr_track *track, const size_t *at, size_t bodies, int dims,
                     struct equations *q, struct sr_motion_table *table)
{
    const size_t n = q->unknowns;
    if (!sr_cholesky(q->A, n, UNKNOWNS, 0)) {
        table->weak += n - (size_t)dims;
        return 0; /* singular: bodies at one point */
    }
    sr_cholesky_solve(q->A, n, UNKNOWNS, q->b);
    double share;
    const double across = left_over(track, at, bodies, dims, q, &share);
    for (size_t p = (size_t)dims; p < n; p++) {
        double work[UNKNOWNS];
        const double variance = sr_cholesky_inverse(q->A, n, UNKNOWNS, p, work);
        const struct sr_track *one = &track[q->body[p][0]], *two = &track[q->body[p][1]];
        const struct sr_motion_row row = {.track = one,
                                          .other = two,
                                          .t = track->t[at[0]],
                                          .r = q->r[p],
                                          .r_variance = one->smooth_variance[at[q->body[p][0]]] +
                                                        two->smooth_variance[at[q->body[p][1]]],
                                          .m1 = one->mass,
                                          .m2 = two->mass,
                                          .value = q->b[p],
                                          .sigma = sqrt(variance),
                                          .expected = q->expected[p],
                                          .across = across,
                                          .aside = share * fabs(q->b[p])};
        double column[UNKNOWNS] = {0};
        struct sr_motion_part part[B];
        column[p] = 1;
        sr_cholesky_solve(q->A, n, UNKNOWNS, column);
        fill_parts(track, at, bodies, dims, q, column, part);
        TRY(sr_motion_add(table, &row, part, bodies));
    }
    return 0;
}

static int check_system(const struct sr_tracks *tracks, size_t first, size_t bodies)
{
    const struct sr_track *track = tracks->track + first;
    if (bodies < 2)
        return ORR_FAIL(ORR_EINVAL,
                        "%s:%zu: %s%s has one body%s%s%s: a force needs two; --centre %.*s is a "
                        "point that pulls, --centre fit finds it, --general is for accelerations "
                        "of any kind",
                        tracks->file, track->line[0], *track->system ? "system " : "the file",
                        track->system, *track->body ? ", \"" : "", track->body,
                        *track->body ? "\"" : "", 2 * tracks->dims - 1, "0,0,0");
    if (bodies > SR_MOTION_BODIES)
        return ORR_FAIL(ORR_EINVAL, "%s:%zu: expected at most %d bodies of a system, found %zu",
                        tracks->file, track->line[0], SR_MOTION_BODIES, bodies);
    if (bodies > 2 && !(track->mass > 0))
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: forces between %zu bodies need their masses: give --mass COLUMN, or "
                        "--centre NAME for accelerations towards one of them",
                        tracks->file, bodies);
    return 0;
}

/* Time to the next row: the gap of the body with the largest acceleration variance. */
static double gap_of(const struct sr_track *track, const size_t *at, size_t bodies)
{
    size_t worst = 0;
    for (size_t k = 1; k < bodies; k++)
        if (track[k].variance[at[k]] > track[worst].variance[at[worst]])
            worst = k;
    return track[worst].gap[at[worst]];
}

/* Moves at[] to the next time that all bodies have, without the ends of tracks. at[0] is the row to
 * begin with. False after the last one. */
static bool next_common(const struct sr_track *track, size_t bodies, size_t *at)
{
    for (; at[0] + 1 < track[0].n; at[0]++) {
        const double t = track[0].t[at[0]];
        bool all = at[0] > 0;
        for (size_t k = 1; k < bodies; k++) {
            at[k] = sr_track_at(&track[k], t, at[k]);
            all = all && at[k] + 1 < track[k].n && at[k] > 0 && !(track[k].t[at[k]] > t);
        }
        if (all)
            return true;
    }
    return false;
}

static int system_rows(const struct sr_track *track, size_t bodies, int dims, struct equations *q,
                       struct sr_motion_table *table)
{
    size_t at[B] = {0};
    double next = -HUGE_VAL;
    for (; next_common(track, bodies, at); at[0]++) {
        if (track[0].t[at[0]] < next)
            continue;
        next = track[0].t[at[0]] + gap_of(track, at, bodies);
        fill_equations(track, at, bodies, dims, q);
        TRY(add_pairs(track, at, bodies, dims, q, table));
    }
    return 0;
}

/* The slope of the heaviest bodies' pulls, of all systems of three bodies and more. */
static double find_slope(const struct sr_tracks *tracks)
{
    struct sr_slope slope = {.n = 0};
    struct sr_pulls pulls;
    for (size_t first = 0, size; first < tracks->count; first += size) {
        size_t at[B] = {0};
        size = sr_system_size(tracks, first);
        for (; size > 2 && next_common(tracks->track + first, size, at); at[0]++) {
            sr_pulls_measure(tracks->track + first, at, size, tracks->dims, &pulls);
            sr_slope_add(&slope, &pulls);
        }
    }
    return sr_slope_value(&slope);
}

int sr_motion_pairs(const struct sr_tracks *tracks, struct sr_motion_table *table)
{
    struct equations *q = orr_alloc(1, sizeof *q);
    int rc = q ? 0 : ORR_ENOMEM;
    table->force = tracks->track[0].mass > 0;
    for (size_t first = 0, size; first < tracks->count && !rc; first += size) {
        size = sr_system_size(tracks, first);
        rc = check_system(tracks, first, size);
    }
    if (!rc)
        q->slope = find_slope(tracks);
    for (size_t first = 0, size; first < tracks->count && !rc; first += size) {
        size = sr_system_size(tracks, first);
        rc = system_rows(tracks->track + first, size, tracks->dims, q, table);
    }
    free(q);
    if (!rc && !table->count && !table->weak)
        rc = ORR_FAIL(ORR_EINVAL,
                      "%s: no time at which all bodies of a system have a position; --centre NAME "
                      "or --centre 0,0 need fewer",
                      tracks->file);
    return rc;
}
