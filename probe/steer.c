/* steer.c - see steer.h. */
#include "steer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEVIATIONS = 3 };

void probe_steer_direction(const double *weight, int width, int stride, double *direction)
{
    double square = 0;
    for (int c = 0; c < width; c++)
        square += weight[c * stride] * weight[c * stride];
    for (int c = 0; c < width; c++)
        direction[c] = square > 0 ? weight[c * stride] / square : 0;
}

/* What is added to the state of sequence i: as long as the direction times `by`. */
static void addition(const struct probe_subject *s, const struct probe_steering *how, double by,
                     gsl_rng *rng, real *to)
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

/* How body 1 of the orbit moves at the horizons when the quantity is changed: move (horizons, 2);
 * false where there is no such orbit. */
static bool orbit_moves(const struct probe_subject *s, const struct probe_orbit *orbit,
                        enum probe_change change, double by, double *move)
{
    struct probe_orbit is = *orbit, would = *orbit;
    bool there = probe_change_orbit(&would, change, by);
    int at = 0;
    for (int h = 0; h < s->horizons && there; h++) {
        double a[4], b[4];
        there = probe_orbit_advance(&is, s->horizon[h] - at) &&
                probe_orbit_advance(&would, s->horizon[h] - at);
        at = s->horizon[h];
        probe_orbit_places(&is, a);
        probe_orbit_places(&would, b);
        for (int c = 0; c < 2; c++)
            move[2 * h + c] = b[c] - a[c];
    }
    return there;
}

/* All sequences with t standard deviations more. */
static int one(const struct probe_subject *s, const struct probe_steering *how, int t, gsl_rng *rng,
               real *vector, double *place, double *move, struct probe_moved *moved)
{
    const double by = t * how->sd;
    const size_t H = (size_t)s->horizons;
    for (int i = 0; i < s->n; i++)
        addition(s, how, by, rng, vector + (size_t)i * (size_t)s->width);
    TRY(s->follow(s->of, how->layer, vector, place));
    for (size_t i = 0; i < (size_t)s->n; i++) {
        if (!orbit_moves(s, &how->orbit[i], how->change, by, move))
            continue;
        for (size_t h = 0; h < H; h++)
            for (size_t c = 0; c < 2; c++) {
                const size_t k = 2 * (i * H + h) + c;
                const double a = place[k] - how->base[k], b = move[2 * h + c];
                struct probe_moved *to = &moved[h * (size_t)s->n + i];
                to->ab += a * b;
                to->bb += b * b;
                to->aa += a * a;
            }
    }
    return 0;
}

int probe_steer(const struct probe_subject *s, const struct probe_steering *how,
                struct probe_moved *moved)
{
    const size_t n = (size_t)s->n, H = (size_t)s->horizons;
    gsl_rng *rng = orr_rng_create(how->seed, ORR_STAGE_BOOTSTRAP, 2ull << 40);
    real *vector = orr_alloc(n * (size_t)s->width, sizeof *vector);
    double *place = orr_alloc(n * H * 2, sizeof *place), *move = orr_alloc(H * 2, sizeof *move);
    int rc = rng && vector && place && move ? 0 : ORR_FAIL(ORR_ENOMEM, "steering: out of memory");
    memset(moved, 0, n * H * sizeof *moved);
    for (int t = -DEVIATIONS; t <= DEVIATIONS && !rc; t++)
        if (t)
            rc = one(s, how, t, rng, vector, place, move, moved);
    if (rng)
        gsl_rng_free(rng);
    free(vector);
    free(place);
    free(move);
    return rc;
}
