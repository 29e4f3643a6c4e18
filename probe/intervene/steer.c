/* steer.c - see steer.h. */
#include "steer.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

enum { DEVIATIONS = 3 };

void probe_steer_shortest(const double *weight, int width, int stride, double *direction)
{
    double square = 0;
    for (int c = 0; c < width; c++)
        square += weight[c * stride] * weight[c * stride];
    for (int c = 0; c < width; c++)
        direction[c] = square > 0 ? weight[c * stride] / square : 0;
}

/* Solves A z = e for the first unit vector e and a covariance matrix A. False where a readout is
 * determined by the previous ones up to a millionth of its variance. */
static bool first_column(gsl_matrix *A, gsl_vector *z)
{
    const double least = 1e-6;
    double variance[PROBE_STEER_HELD] = {0};
    for (size_t k = 0; k < A->size1; k++)
        variance[k] = gsl_matrix_get(A, k, k);
    gsl_vector_set_basis(z, 0);
    if (gsl_linalg_cholesky_decomp1(A) != GSL_SUCCESS)
        return false;
    for (size_t k = 0; k < A->size1; k++)
        if (!(pow(gsl_matrix_get(A, k, k), 2) > least * variance[k]))
            return false;
    return gsl_linalg_cholesky_svx(A, z) == GSL_SUCCESS;
}

/* The chosen readouts of row i, centred. */
static void centre_readouts(const double *y, int count, const int *chosen, const double *mean,
                            double *to)
{
    for (int k = 0; k < count; k++)
        to[k] = y[chosen[k]] - mean[chosen[k]];
}

int probe_steer_likeliest(struct probe_arena *arena, long n, int width, const double *x,
                          int readouts, const double *y, int count, const int *chosen,
                          double *direction)
{
    const size_t K = (size_t)count, C = (size_t)width, R = (size_t)readouts, kept = arena->count;
    double *square = probe_take(arena, K * K, sizeof *square);
    double *basis = probe_take(arena, K, sizeof *basis);
    double *mean = probe_take(arena, R, sizeof *mean), *row = probe_take(arena, K, sizeof *row);
    TRY(arena->failed);
    gsl_matrix_view A = gsl_matrix_view_array(square, K, K);
    gsl_vector_view z = gsl_vector_view_array(basis, K);
    memset(direction, 0, C * sizeof *direction);
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t k = 0; k < R; k++)
            mean[k] += y[i * R + k] / (double)n;
    for (size_t i = 0; i < (size_t)n; i++) {
        centre_readouts(y + i * R, count, chosen, mean, row);
        for (size_t a = 0; a < K; a++)
            for (size_t b = 0; b < K; b++)
                square[a * K + b] += row[a] * row[b];
    }
    const bool solved = first_column(&A.matrix, &z.vector);
    for (size_t i = 0; i < (size_t)n && solved; i++) {
        double weight = 0; /* centred weights sum to 0, so x need not be centred */
        centre_readouts(y + i * R, count, chosen, mean, row);
        for (size_t k = 0; k < K; k++)
            weight += row[k] * basis[k];
        for (size_t c = 0; c < C; c++)
            direction[c] += weight * x[i * C + c];
    }
    probe_rewind(arena, kept);
    return 0;
}

/* The vector added to the state of sequence i: the direction times `by`, or a random direction of
 * equal length. */
static void make_addition(const struct probe_subject *s, const struct probe_steering *how,
                          double by, gsl_rng *rng, real *to)
{
    double length = 0, drawn = 0;
    double scale = by;
    for (int c = 0; c < s->width; c++)
        length += how->direction[c] * how->direction[c];
    for (int c = 0; c < s->width && how->random; c++) {
        const double x = orr_draw_normal(rng);
        to[c] = (real)x;
        drawn += x * x;
    }
    if (how->random)
        scale = by * sqrt(length / drawn);
    for (int c = 0; c < s->width; c++)
        to[c] = (real)(scale * (how->random ? (double)to[c] : how->direction[c]));
}

/* The displacement of body 1 at the horizons when the quantity is changed: move (horizons, d);
 * false where the changed orbit does not exist. */
static bool orbit_moves(const struct probe_subject *s, const struct probe_orbit *orbit,
                        enum probe_change change, double by, double *move)
{
    struct probe_orbit is = *orbit, would = *orbit;
    bool there = probe_change_orbit(&would, change, by);
    int at = 0;
    for (int h = 0; h < s->horizons && there; h++) {
        double a[PROBE_BODIES * SIM_AXES], b[PROBE_BODIES * SIM_AXES];
        there = probe_orbit_advance(&is, s->horizon[h] - at) &&
                probe_orbit_advance(&would, s->horizon[h] - at);
        at = s->horizon[h];
        probe_orbit_places(&is, a);
        probe_orbit_places(&would, b);
        for (int c = 0; c < orbit->axes; c++)
            move[orbit->axes * h + c] = b[c] - a[c];
    }
    return there;
}

/* Changes all sequences by t standard deviations. */
static int steer_by(const struct probe_subject *s, const struct probe_steering *how, int t,
                    gsl_rng *rng, real *vector, double *place, double *move,
                    struct probe_moved *moved)
{
    const double by = t * how->sd;
    const size_t H = (size_t)s->horizons, axes = (size_t)how->orbit->axes;
    for (int i = 0; i < s->n; i++)
        make_addition(s, how, by, rng, vector + (size_t)i * (size_t)s->width);
    TRY(s->follow(s->of, how->layer, vector, place));
    for (size_t i = 0; i < (size_t)s->n; i++) {
        if (!orbit_moves(s, &how->orbit[i], how->change, by, move))
            continue;
        for (size_t h = 0; h < H; h++)
            for (size_t c = 0; c < axes; c++) {
                const size_t k = axes * (i * H + h) + c;
                const double a = place[k] - how->base[k], b = move[axes * h + c];
                struct probe_moved *to = &moved[h * (size_t)s->n + i];
                to->ab += a * b;
                to->bb += b * b;
                to->aa += a * a;
            }
    }
    return 0;
}

int probe_steer(struct probe_arena *arena, const struct probe_subject *s,
                const struct probe_steering *how, struct probe_moved *moved)
{
    const size_t n = (size_t)s->n, H = (size_t)s->horizons, kept = arena->count;
    const size_t axes = (size_t)how->orbit->axes;
    real *vector = probe_take(arena, n * (size_t)s->width, sizeof *vector);
    double *place = probe_take(arena, n * H * axes, sizeof *place);
    double *move = probe_take(arena, H * axes, sizeof *move);
    bool has_no_direction = true;
    int rc = 0;
    TRY(arena->failed);
    gsl_rng *rng = orr_rng_create(how->seed, ORR_STAGE_BOOTSTRAP, 2ull << 40);
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "steering: out of memory");
    for (int c = 0; c < s->width; c++)
        has_no_direction &= how->direction[c] == 0;
    memset(moved, 0, n * H * sizeof *moved);
    for (int t = -DEVIATIONS; t <= DEVIATIONS && !rc; t++)
        if (t && !has_no_direction)
            rc = steer_by(s, how, t, rng, vector, place, move, moved);
    gsl_rng_free(rng);
    probe_rewind(arena, kept);
    return rc;
}
