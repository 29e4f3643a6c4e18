/* grow_arcs.c - paths whose solution went astray are solved anew, from where they are easy.
 *
 * Where a body passes another one closely, rows are few and bend sharply, and a velocity that
 * smoothing took from them may lead least squares to a wrong minimum, in which one path leaves
 * thousands of times what the others do. The law is then fitted to this one path, and all others
 * with it. Such a path begins elsewhere: at the few rows that the law follows best, as those far
 * from the other body. From there the solution grows by a few rows at a time, onwards and, with
 * time mirrored, back, and its start is fitted again each time, until it has the whole path. */
#include "bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 5, PART = 4 }; /* rows of the first arc; it grows by this part of itself */

/* Chi^2 of a number, over that of most arcs, above which an arc is astray. */
static const double astray = 100;

/* The least that counts as chi^2 of most arcs: within the noise none is astray. */
static const double least_typical = 0.01;

/* One path in one direction of time, and solutions of one arc of it. */
struct direction {
    struct sr_paths paths;
    struct sr_path path;
    struct sr_arcs s, other;
    double *block; /* of a mirrored path */
};

/* One path and its two directions of time. */
struct growth {
    struct direction on, back;
    double *state; /* (n, states) */
    size_t n, states, first, last;
};

static double excess_of(const struct sr_arc *arc, size_t dims)
{
    return arc->chi2 / (double)((arc->last + 1 - arc->first) * arc->path->bodies * dims);
}

static int open_direction(struct direction *d, const struct sr_paths *all,
                          const struct sr_form *form, size_t rows, double until_s)
{
    d->path.from = 0;
    d->paths = *all;
    d->paths.path = &d->path;
    d->paths.count = 1;
    d->paths.bodies = d->path.bodies;
    d->paths.rows = d->path.n * d->path.bodies;
    d->paths.states = 2 * (size_t)all->dims * d->paths.rows;
    TRY(sr_arcs_create(&d->paths, form, rows, &d->s));
    TRY(sr_arcs_create(&d->paths, form, rows, &d->other));
    d->s.until_s = d->other.until_s = until_s;
    return 0;
}

static void close_direction(struct direction *d)
{
    sr_arcs_free(&d->s);
    sr_arcs_free(&d->other);
    free(d->block);
}

/* The same path with its rows in reverse, at times that are mirrored. */
static int mirror(const struct sr_path *path, size_t dims, struct direction *d)
{
    const size_t n = path->n, series = path->bodies * dims;
    double *const t = d->block = orr_alloc((1 + series) * n, sizeof *t), *const x = t + n;
    if (!t)
        return ORR_ENOMEM;
    d->path = *path;
    for (size_t i = 0; i < n; i++) {
        t[i] = -path->t[n - 1 - i];
        for (size_t k = 0; k < series; k++)
            x[k * n + i] = path->x[k * n + n - 1 - i];
    }
    d->path.t = t;
    d->path.x = x;
    return 0;
}

/* Copies a state; its velocities by a sign. */
static void copy_state(const double *from, size_t states, double sign, double *to)
{
    for (size_t k = 0; k < states; k++)
        to[k] = k < states / 2 ? from[k] : sign * from[k];
}

/* Fits the start of rows first to last of the path, in one direction, and keeps the solution. False
 * where it has none. */
static bool fit_rows(struct growth *g, struct direction *d, size_t first, size_t last)
{
    const bool back = d == &g->back;
    const double sign = back ? -1 : 1;
    struct sr_arc *const arc = &d->s.arc[0], *const twin = &d->other.arc[0];
    arc->first = twin->first = back ? g->n - 1 - last : first;
    arc->last = twin->last = back ? g->n - 1 - first : last;
    copy_state(g->state + (back ? last : first) * g->states, g->states, sign, arc->start);
    sr_arcs_settle(&d->s, &d->other);
    if (!(d->s.chi2 < HUGE_VAL))
        return false;
    for (size_t i = first; i <= last; i++)
        copy_state(d->s.state + (back ? g->n - 1 - i : i) * g->states, g->states, sign,
                   g->state + i * g->states);
    return true;
}

/* Grows the solution to the whole path; in the end its start is that of the first row. */
static bool grow(struct growth *g)
{
    while (g->first > 0 || g->last + 1 < g->n) {
        const size_t rows = g->last + 1 - g->first, more = rows / PART > 1 ? rows / PART : 1;
        const size_t last = g->last + more < g->n ? g->last + more : g->n - 1,
                     first = g->first > more ? g->first - more : 0;
        if (sr_arcs_over(g->on.s.until_s) || !fit_rows(g, &g->on, g->first, last) ||
            !fit_rows(g, &g->back, first, last))
            return false;
        g->first = first;
        g->last = last;
    }
    return fit_rows(g, &g->on, 0, g->n - 1);
}

/* Fits short arcs of the path from the smoothed track, and takes the one that is followed best. */
static int find_seed(struct growth *g, const struct sr_paths *all, const struct sr_path *path,
                     const struct sr_form *form, double until_s)
{
    struct direction d = {.path = *path};
    double least = HUGE_VAL;
    const size_t S = g->states;
    int rc = open_direction(&d, all, form, SEED, until_s);
    for (size_t p = 0; p < d.s.count && !rc; p++)
        memcpy(d.s.arc[p].start, all->state + path->from + d.s.arc[p].first * S,
               S * sizeof(double));
    if (!rc)
        sr_arcs_settle(&d.s, &d.other);
    for (size_t p = 0; p < d.s.count && !rc; p++) {
        const struct sr_arc *arc = &d.s.arc[p];
        const double excess = excess_of(arc, (size_t)all->dims);
        if (!(excess < least))
            continue;
        least = excess;
        g->first = arc->first;
        g->last = arc->last;
    }
    if (least < HUGE_VAL)
        memcpy(g->state + g->first * S, d.s.state + g->first * S,
               (g->last + 1 - g->first) * S * sizeof(double));
    else
        g->last = g->n; /* none */
    close_direction(&d);
    return rc;
}

/* Solves a path anew; *grown: g->state is its solution. */
static int grow_path(const struct sr_paths *all, const struct sr_path *path,
                     const struct sr_form *form, double until_s, struct growth *g, bool *grown)
{
    *grown = false;
    g->on.path = *path;
    int rc = mirror(path, (size_t)all->dims, &g->back);
    rc = rc ? rc : open_direction(&g->on, all, form, path->n, until_s);
    rc = rc ? rc : open_direction(&g->back, all, form, path->n, until_s);
    rc = rc ? rc : find_seed(g, all, path, form, until_s);
    if (!rc && g->last < g->n)
        *grown = grow(g);
    close_direction(&g->on);
    close_direction(&g->back);
    return rc;
}

/* Puts the arcs of a path on its grown solution where that leaves less. */
static void take_solution(struct sr_arcs *s, struct sr_arcs *other, const struct sr_path *path,
                          const struct growth *g)
{
    double before = 0, after = 0;
    for (size_t p = 0; p < s->count; p++) {
        struct sr_arc *const arc = &other->arc[p];
        arc->idle = arc->path != path;
        if (!arc->idle)
            memcpy(arc->start, g->state + arc->first * g->states, g->states * sizeof(double));
    }
    sr_arcs_follow(other);
    for (size_t p = 0; p < s->count; p++)
        if (!other->arc[p].idle) {
            before += s->arc[p].chi2;
            after += other->arc[p].chi2;
        }
    for (size_t p = 0; p < s->count; p++) {
        if (!other->arc[p].idle && after < before)
            sr_arcs_take(s, other, p);
    }
    for (size_t p = 0; p < s->count; p++)
        s->arc[p].idle = other->arc[p].idle = false;
    sr_arcs_add_up(s);
}

/* Chi^2 of a number in the median arc. */
static int typical_excess(const struct sr_arcs *s, double *typical)
{
    double *const excess = orr_alloc(s->count, sizeof *excess);
    if (!excess)
        return ORR_ENOMEM;
    for (size_t p = 0; p < s->count; p++)
        excess[p] = excess_of(&s->arc[p], (size_t)s->paths->dims);
    *typical = fmax(orr_median(excess, s->count), least_typical);
    free(excess);
    return 0;
}

int sr_arcs_regrow(struct sr_arcs *s, struct sr_arcs *other, const struct sr_form *form)
{
    const struct sr_paths *const all = s->paths;
    const size_t dims = (size_t)all->dims;
    double typical;
    TRY(typical_excess(s, &typical));
    for (size_t p = 0; p < s->count && !sr_arcs_over(s->until_s);) {
        const struct sr_path *const path = s->arc[p].path;
        bool is_astray = false, grown;
        for (; p < s->count && s->arc[p].path == path; p++)
            is_astray = is_astray || excess_of(&s->arc[p], dims) > astray * typical;
        if (!is_astray)
            continue;
        struct growth g = {.n = path->n, .states = 2 * path->bodies * dims};
        g.state = orr_alloc(g.n * g.states, sizeof *g.state);
        int rc = g.state ? grow_path(all, path, form, s->until_s, &g, &grown) : ORR_ENOMEM;
        if (!rc && grown)
            take_solution(s, other, path, &g);
        free(g.state);
        if (rc)
            return rc;
    }
    return 0;
}
