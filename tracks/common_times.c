/* common_times.c - bodies of a system at common times with one time step. */
#include "tracks.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times may be rounded: they count as even up to this share of a step. */
#define EVEN 1e-3
enum { NEAR = 6, FEWER = 4 }; /* rows that an interpolation passes through */

/* ------------------------------------------------------------------------ the file's times */

static int check_times(const struct tracks_source *source, const struct tracks_system *system)
{
    const struct tracks_body *first = &source->body[system->first];
    const size_t n = first->n;
    const double step = (first->t[n - 1] - first->t[0]) / (double)(n - 1);
    for (size_t b = 0; b < system->bodies; b++) {
        const struct tracks_body *body = first + b;
        for (size_t i = 0; i < n && i < body->n; i++) {
            const double wanted = first->t[0] + (double)i * step;
            if (fabs(body->t[i] - wanted) > EVEN * step)
                return ORR_FAIL(
                    ORR_EINVAL,
                    "%s: %s: body \"%s\": uneven times: expected %.*g, by the mean step %.6g, "
                    "found %.*g; --resample STEP interpolates to one step",
                    source->file, system->name, body->name, orr_digits(wanted, body->t[i]), wanted,
                    step, orr_digits(wanted, body->t[i]), body->t[i]);
        }
        if (body->n != n)
            return ORR_FAIL(ORR_EINVAL,
                            "%s: %s: body \"%s\": expected %zu times, as body \"%s\" has, found "
                            "%zu; --resample STEP takes the time that they share",
                            source->file, system->name, body->name, n, first->name, body->n);
    }
    return 0;
}

static double value_at(const struct tracks_body *body, const double *of, size_t i, size_t c)
{
    return of[c * body->axis + i * body->stride];
}

/* -------------------------------------------------------------------------- interpolation */

/* Lagrange's polynomial through `count` rows around row i, at a time. */
static double lagrange(const struct tracks_body *body, const double *of, size_t c, size_t i,
                       size_t count, double t)
{
    size_t from = i + 1 > count / 2 ? i + 1 - count / 2 : 0;
    from = from + count > body->n ? body->n - count : from;
    double sum = 0;
    for (size_t j = from; j < from + count; j++) {
        double product = value_at(body, of, j, c);
        for (size_t k = from; k < from + count; k++)
            if (k != j)
                product *= (t - body->t[k]) / (body->t[j] - body->t[k]);
        sum += product;
    }
    return sum;
}

/* The standard deviation of a track around its mean, all coordinates together. */
static double size_of(const struct tracks_body *body, int dimensions)
{
    double variance = 0;
    for (size_t c = 0; c < (size_t)dimensions; c++) {
        double mean = 0;
        for (size_t i = 0; i < body->n; i++)
            mean += value_at(body, body->x, i, c) / (double)body->n;
        for (size_t i = 0; i < body->n; i++) {
            const double d = value_at(body, body->x, i, c) - mean;
            variance += d * d / (double)body->n;
        }
    }
    return sqrt(variance);
}

static double largest_size(const struct tracks_source *source, const struct tracks_system *system)
{
    double largest = 0;
    for (size_t b = 0; b < system->bodies; b++)
        largest = fmax(largest, size_of(&source->body[system->first + b], source->dimensions));
    return largest;
}

struct resampling {
    const struct tracks_source *source;
    const struct tracks_system *system;
    const struct sim_track_system *to;
    double start, step, size;  /* size: of the system's largest track */
    double position, velocity; /* scales */
    double error;
};

static int resample_body(struct resampling *r, size_t b)
{
    const struct tracks_body *body = &r->source->body[r->system->first + b];
    double *const x = r->to->position, *const v = r->to->velocity;
    const size_t axes = (size_t)r->source->dimensions;
    size_t i = 0;
    for (size_t k = 0; k < r->to->steps; k++) {
        const double t = r->start + (double)k * r->step;
        while (i + 2 < body->n && body->t[i + 1] <= t)
            i++;
        for (size_t c = 0; c < axes; c++) {
            const size_t at = (k * (size_t)r->to->bodies + b) * axes + c;
            const double value = lagrange(body, body->x, c, i, NEAR, t);
            const double error = fabs(value - lagrange(body, body->x, c, i, FEWER, t)) / r->size;
            r->error = fmax(r->error, error);
            if (!(error <= TRACKS_ERROR))
                return ORR_FAIL(ORR_EINVAL,
                                "%s: %s: body \"%s\": the rows near time %.9g are too far apart to "
                                "interpolate: the error is about %.2g of the track's size, above "
                                "%g",
                                r->source->file, r->system->name, body->name, t, error,
                                TRACKS_ERROR);
            x[at] = value * r->position;
            if (v)
                v[at] = lagrange(body, body->v, c, i, NEAR, t) * r->velocity;
        }
    }
    return 0;
}

static void copy_body(struct resampling *r, size_t b)
{
    const struct tracks_body *body = &r->source->body[r->system->first + b];
    double *const x = r->to->position, *const v = r->to->velocity;
    const size_t axes = (size_t)r->source->dimensions;
    for (size_t k = 0; k < r->to->steps; k++)
        for (size_t c = 0; c < axes; c++) {
            const size_t at = (k * (size_t)r->to->bodies + b) * axes + c;
            x[at] = value_at(body, body->x, k, c) * r->position;
            if (v)
                v[at] = value_at(body, body->v, k, c) * r->velocity;
        }
}

/* ------------------------------------------------------------------------------- systems */

/* The span that all bodies of a system share. */
static int find_span(const struct tracks_source *source, const struct tracks_system *system,
                     double step, double *start, size_t *steps)
{
    double from = -INFINITY, to = INFINITY;
    for (size_t b = 0; b < system->bodies; b++) {
        const struct tracks_body *body = &source->body[system->first + b];
        from = fmax(from, body->t[0]);
        to = fmin(to, body->t[body->n - 1]);
    }
    const double count = floor((to - from) / step * (1 + 1e-12) + 1e-9) + 1;
    if (!(count >= 2 && count <= 1e9))
        return ORR_FAIL(ORR_EINVAL,
                        "%s: %s: expected a time that all bodies share of at least one step "
                        "--resample %g, found %.*g to %.*g",
                        source->file, system->name, step, orr_digits(from, to), from,
                        orr_digits(from, to), to);
    *start = from;
    *steps = (size_t)count;
    return 0;
}

static int make_system(const struct tracks_source *source, const struct tracks_system *system,
                       double resample, const struct tracks_units *units,
                       struct sim_track_system *to, double *worst)
{
    const struct tracks_body *first = &source->body[system->first];
    struct resampling r = {.source = source,
                           .system = system,
                           .to = to,
                           .step = resample,
                           .size = largest_size(source, system),
                           .position = units->scale[1],
                           .velocity = units->scale[1] / units->scale[0]};
    *to = (struct sim_track_system){
        .name = system->name, .steps = first->n, .bodies = (int)(system->bodies + source->origin)};
    if (resample > 0)
        TRY(find_span(source, system, resample, &r.start, &to->steps));
    else
        TRY(check_times(source, system));
    to->dt = (resample > 0 ? resample
                           : (first->t[first->n - 1] - first->t[0]) / (double)(first->n - 1)) *
             units->scale[0];
    const size_t numbers =
        to->steps * (size_t)to->bodies * (size_t)source->dimensions; /* zeros: the origin */
    to->position = orr_alloc(numbers, sizeof *to->position);
    to->velocity = source->velocities ? orr_alloc(numbers, sizeof *to->velocity) : NULL;
    to->mass = source->masses ? orr_alloc(system->bodies, sizeof *to->mass) : NULL;
    if (!to->position || (source->velocities && !to->velocity) || (source->masses && !to->mass))
        return ORR_ENOMEM;
    if (!(r.size > 0))
        r.size = 1; /* all bodies rest */
    for (size_t b = 0; b < system->bodies; b++) {
        if (to->mass)
            to->mass[b] = first[b].mass * units->scale[2];
        if (resample > 0)
            TRY(resample_body(&r, b));
        else
            copy_body(&r, b);
    }
    *worst = fmax(*worst, r.error);
    return 0;
}

int tracks_common_make(const struct tracks_source *source, double resample,
                       const struct tracks_units *units, struct tracks_common *common)
{
    *common = (struct tracks_common){.dimensions = source->dimensions,
                                     .systems = source->systems,
                                     .system = orr_alloc(source->systems, sizeof *common->system)};
    if (!common->system)
        return ORR_ENOMEM;
    for (size_t s = 0; s < source->systems; s++)
        TRY(make_system(source, &source->system[s], resample, units, &common->system[s],
                        &common->error));
    return 0;
}

void tracks_common_free(struct tracks_common *common)
{
    for (size_t s = 0; common->system && s < common->systems; s++) {
        free(common->system[s].position);
        free(common->system[s].velocity);
        free(common->system[s].mass);
    }
    free(common->system);
    *common = (struct tracks_common){0};
}
