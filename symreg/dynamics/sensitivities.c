/* sensitivities.c - what terms of the equations would change of the states. Where a little of a
 * term is added to one equation, the change of the solution solves a linear equation along it,
 * ds/dt = J s + term in the row of this equation, with the Jacobian J of the equations. Steps lead
 * from row to row: the propagator by Runge and Kutta's rule of order four, the term by Simpson's.
 */
#include <math.h>
#include <stdlib.h>

#include "joint_terms.h"

enum { MOST_ROWS = 1200 }; /* numbers that are compared, about */

/* One track between its rows: nodes are rows and middles of intervals. */
struct path {
    size_t n, nodes;
    double *table;       /* (names, nodes) */
    double *slope;       /* (dims, names, nodes) derivatives of the equations by the names */
    double *value;       /* (nodes) of a term */
    double *sensitivity; /* (width, dims) */
};

static void path_free(struct path *p)
{
    free(p->table);
    free(p->slope);
    free(p->value);
    free(p->sensitivity);
}

/* Evaluates the equations and their slopes at the nodes. */
static bool slopes_at(const struct sr_sensitivities *j, const struct path *p, double *rate)
{
    const struct sr_states *const s = j->along;
    const struct sr_data data = {
        .rows = p->nodes, .features = s->names, .x = p->table, .language = j->judge->language};
    bool ok = true;
    for (int d = 0; d < s->dims && ok; d++)
        ok = sr_eval_slopes(&j->equation[d], &data, rate + (size_t)d * p->nodes,
                            p->slope + (size_t)(d * s->names) * p->nodes);
    return ok;
}

/* The names at rows, and in the middle of rows by cubics through the solution. */
static int path_create(const struct sr_sensitivities *j, const struct sr_state_track *track,
                       struct path *p, bool *ok)
{
    const struct sr_states *const s = j->along;
    const size_t n = track->n, nodes = 2 * n - 1, names = (size_t)s->names, dims = (size_t)s->dims;
    *p = (struct path){.n = n, .nodes = nodes};
    p->table = orr_alloc(names * nodes, sizeof *p->table);
    p->slope = orr_alloc(dims * names * nodes, sizeof *p->slope);
    p->value = orr_alloc(dims * nodes, sizeof *p->value);
    p->sensitivity = orr_alloc(j->width * dims, sizeof *p->sensitivity);
    if (!p->table || !p->slope || !p->value || !p->sensitivity)
        return ORR_ENOMEM;
    for (int name = 0; name < s->names; name++)
        for (size_t i = 0; i < n; i++) {
            double *const at = p->table + (size_t)name * nodes + 2 * i;
            at[0] = sr_state_value(s, track, name, i);
            if (i)
                at[-1] = 0.5 * (at[-2] + at[0]);
        }
    *ok = slopes_at(j, p, p->value);
    for (size_t d = 0; d < dims && *ok; d++)
        for (size_t i = 0; i + 1 < n; i++) {
            const double *const f = p->value + d * nodes + 2 * i;
            p->table[d * nodes + 2 * i + 1] += (track->t[i + 1] - track->t[i]) / 8 * (f[0] - f[2]);
        }
    *ok = *ok && slopes_at(j, p, p->value);
    return 0;
}

/* out = J x at a mean of two nodes. */
static void multiply(const struct path *p, int dims, int names, size_t a, size_t b, const double *x,
                     double *out)
{
    for (int d = 0; d < dims; d++) {
        out[d] = 0;
        for (int e = 0; e < dims; e++) {
            const double *const slope = p->slope + (size_t)(d * names + e) * p->nodes;
            out[d] += 0.5 * (slope[a] + slope[b]) * x[e];
        }
    }
}

/* The change of a state from node a to node b by Runge and Kutta's rule of order four. */
static void transport(const struct path *p, int dims, int names, size_t a, size_t middle[2],
                      size_t b, double h, double *x)
{
    double k[4][SR_STATES], at[SR_STATES];
    multiply(p, dims, names, a, a, x, k[0]);
    for (int d = 0; d < dims; d++)
        at[d] = x[d] + h / 2 * k[0][d];
    multiply(p, dims, names, middle[0], middle[1], at, k[1]);
    for (int d = 0; d < dims; d++)
        at[d] = x[d] + h / 2 * k[1][d];
    multiply(p, dims, names, middle[0], middle[1], at, k[2]);
    for (int d = 0; d < dims; d++)
        at[d] = x[d] + h * k[2][d];
    multiply(p, dims, names, b, b, at, k[3]);
    for (int d = 0; d < dims; d++)
        x[d] += h / 6 * (k[0][d] + 2 * k[1][d] + 2 * k[2][d] + k[3][d]);
}

/* Propagators over an interval and over its second half, each (dims, dims) by columns. */
static void propagators(const struct path *p, int dims, int names, size_t i, double h,
                        double whole[SR_STATES][SR_STATES], double half[SR_STATES][SR_STATES])
{
    const size_t a = 2 * i, m = a + 1, b = a + 2;
    for (int e = 0; e < dims; e++) {
        for (int d = 0; d < dims; d++)
            whole[e][d] = half[e][d] = d == e;
        transport(p, dims, names, a, (size_t[]){m, m}, b, h, whole[e]);
        transport(p, dims, names, m, (size_t[]){m, b}, b, h / 2, half[e]);
    }
}

/* Steps the sensitivities by one interval, values of terms at the nodes known: (terms, nodes). */
static void step(const struct sr_sensitivities *j, struct path *p, size_t i, double h,
                 const double *values)
{
    const int dims = j->along->dims, names = j->along->names;
    double whole[SR_STATES][SR_STATES], half[SR_STATES][SR_STATES];
    propagators(p, dims, names, i, h, whole, half);
    for (int k = 0; k < j->terms + dims; k++) {
        double *const x = p->sensitivity + k * dims, next[SR_STATES] = {0};
        for (int e = 0; e < dims; e++)
            for (int d = 0; d < dims; d++)
                next[d] += whole[e][d] * x[e];
        if (k < j->terms) {
            const int e = j->term[k].equation;
            const double *const f = values + (size_t)k * p->nodes + 2 * i;
            for (int d = 0; d < dims; d++)
                next[d] += h / 6 * (whole[e][d] * f[0] + 4 * half[e][d] * f[1]);
            next[e] += h / 6 * f[2];
        }
        memcpy(x, next, (size_t)dims * sizeof *x);
    }
}

/* Writes the rows of row i of a track, weighted. */
static void put_rows(const struct sr_sensitivities *j, const struct path *p,
                     const struct sr_flow_track *measured, const struct sr_state_track *track,
                     size_t i, double *row)
{
    const size_t dims = (size_t)j->along->dims;
    for (size_t d = 0; d < dims; d++, row += j->width) {
        const size_t at = d * track->n + i;
        const double weight = 1 / measured->sigma[at];
        for (size_t k = 0; k + 1 < j->width; k++)
            row[k] = weight * p->sensitivity[k * dims + d];
        row[j->width - 1] = weight * (measured->x[at] - track->smooth[at]);
    }
}

/* Values of all terms at the nodes of a track (terms, nodes). False where one of the present
 * equations has none. */
static bool values_of(struct sr_sensitivities *j, const struct path *p, double *values)
{
    const struct sr_data data = {.rows = p->nodes,
                                 .features = j->along->names,
                                 .x = p->table,
                                 .language = j->judge->language};
    bool ok = true;
    for (int k = 0; k < j->terms; k++) {
        double *const value = values + (size_t)k * p->nodes;
        if (sr_eval(&j->term[k].expr, &data, value))
            continue;
        memset(value, 0, p->nodes * sizeof *value);
        j->term[k].undefined = true;
        ok = ok && k >= j->present;
    }
    return ok;
}

/* Takes from all columns what the start of a track determines in its rows. */
static void project(const struct sr_sensitivities *j, size_t rows, double *column, double *dot)
{
    const size_t width = j->width;
    for (int d = 0; d < j->along->dims; d++) {
        const size_t at = (size_t)(j->terms + d);
        double norm = 0;
        memset(dot, 0, width * sizeof *dot);
        for (size_t i = 0; i < rows; i++) {
            const double *const row = column + i * width;
            norm += row[at] * row[at];
            for (size_t k = 0; k < width; k++)
                dot[k] += row[at] * row[k];
        }
        for (size_t i = 0; i < rows && norm > 0; i++) {
            double *const row = column + i * width;
            const double share = row[at] / norm;
            for (size_t k = 0; k < width; k++)
                row[k] -= k == at ? 0 : share * dot[k];
        }
    }
}

/* Rows of a track that are compared. */
static size_t rows_of(const struct sr_sensitivities *j, size_t track)
{
    return (j->along->track[track].n + j->each - 1) / j->each;
}

/* Fills in the columns' rows of a track. */
static int fill_track(struct sr_sensitivities *j, size_t t, double *column, bool *ok)
{
    const struct sr_state_track *const track = &j->along->track[t];
    const size_t dims = (size_t)j->along->dims;
    struct path p;
    double *const values = orr_alloc((size_t)j->terms * (2 * track->n - 1), sizeof *values);
    int rc = path_create(j, track, &p, ok);
    rc = values ? rc : ORR_ENOMEM;
    if (!rc && *ok)
        *ok = values_of(j, &p, values);
    for (size_t d = 0; d < dims && !rc; d++)
        p.sensitivity[((size_t)j->terms + d) * dims + d] = 1;
    for (size_t i = 0; i < track->n && !rc && *ok; i++) {
        if (i)
            step(j, &p, i - 1, track->t[i] - track->t[i - 1], values);
        if (i % j->each == 0)
            put_rows(j, &p, &j->judge->track[t], track, i, column + i / j->each * dims * j->width);
    }
    free(values);
    path_free(&p);
    return rc;
}

int sr_sensitivities_fill(struct sr_sensitivities *j, bool *ok)
{
    const struct sr_states *const s = j->along;
    const size_t dims = (size_t)s->dims;
    size_t rows = 0;
    j->each = s->rows * dims / MOST_ROWS + 1;
    for (size_t t = 0; t < s->count; t++)
        j->rows += rows_of(j, t) * dims;
    j->width = (size_t)j->terms + dims + 1;
    j->column = orr_alloc(j->rows * j->width, sizeof *j->column);
    double *const work = orr_alloc(j->width, sizeof *work);
    int rc = j->column && work ? 0 : ORR_ENOMEM;
    *ok = true;
    for (size_t t = 0; t < s->count && !rc && *ok; t++) {
        double *const column = j->column + rows * j->width;
        rc = fill_track(j, t, column, ok);
        if (!rc && *ok)
            project(j, rows_of(j, t) * dims, column, work);
        rows += rows_of(j, t) * dims;
    }
    free(work);
    return rc;
}
