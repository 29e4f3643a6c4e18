/* central_point.c - accelerations towards a fixed point, given or fitted, or towards a body. */
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The next row whose acceleration error is nearly independent of row i's. */
static size_t next_row(const struct sr_track *track, size_t i)
{
    return sr_track_at(track, track->t[i] + track->gap[i], i + 1);
}

/* ---- fitting the centre */

/* Finds the centre c that minimises, over the rows with position x and acceleration a, the sum of
 *
 *   w (x - c)^T (|a|^2 I - a a^T - (dims - 1) v I) (x - c),
 *
 * the squared components of a across the direction to c, minus the contribution of the variance v
 * of a. That contribution grows with the distance and would bias the centre towards the track. */
struct meeting {
    double A[SR_MOTION_DIMS * SR_MOTION_DIMS], b[SR_MOTION_DIMS];
    double squares, count, independent;
};

static void add_line(const struct sr_track *track, int dims, size_t i, const double *c,
                     struct meeting *m)
{
    const double v = track->variance[i];
    double a[SR_MOTION_DIMS], x[SR_MOTION_DIMS], a2 = 0, r2 = 0, along = 0;
    for (int d = 0; d < dims; d++) {
        a[d] = track->acceleration[(size_t)d * track->n + i];
        x[d] = track->smooth[(size_t)d * track->n + i];
        a2 += a[d] * a[d];
        r2 += (x[d] - c[d]) * (x[d] - c[d]);
        along += a[d] * (x[d] - c[d]);
    }
    if (!(a2 > 4 * v))
        return;
    const double w = 1 / (v * r2 + a2 * track->smooth_variance[i]);
    for (int d = 0; d < dims; d++)
        for (int e = 0; e < dims; e++) {
            const double p = (d == e ? a2 - (dims - 1) * v : 0) - a[d] * a[e];
            m->A[d * SR_MOTION_DIMS + e] += w * p;
            m->b[d] += w * p * x[e];
        }
    m->squares += w * (a2 * r2 - along * along) / (dims - 1);
    m->count++;
}

static void add_track(const struct sr_track *track, int dims, const double *c, struct meeting *m)
{
    for (size_t i = 1; i + 1 < track->n; i++)
        add_line(track, dims, i, c, m);
    for (size_t i = 1; i + 1 < track->n; i = next_row(track, i))
        m->independent++;
}

static int fit_centre(const struct sr_tracks *tracks, struct sr_motion_table *table)
{
    struct meeting m;
    const int dims = tracks->dims;
    double *c = table->centre;
    if (dims == 1)
        return ORR_FAIL(ORR_EUSAGE, "--centre fit: needs 2 or 3 columns of --position, found 1");
    for (int pass = 0; pass < 12; pass++) { /* weights depend on the centre */
        m = (struct meeting){.squares = 0};
        for (size_t k = 0; k < tracks->count; k++)
            add_track(&tracks->track[k], dims, c, &m);
        if (!sr_cholesky(m.A, (size_t)dims, SR_MOTION_DIMS, 0))
            return ORR_FAIL(ORR_EINVAL,
                            "%s: --centre fit: the accelerations do not meet in a point; give its "
                            "coordinates",
                            tracks->file);
        memcpy(c, m.b, sizeof m.b);
        sr_cholesky_solve(m.A, (size_t)dims, SR_MOTION_DIMS, c);
    }
    double error2 = 0;
    for (int d = 0; d < dims; d++) { /* trace of the inverse */
        double work[SR_MOTION_DIMS];
        error2 += sr_cholesky_inverse(m.A, (size_t)dims, SR_MOTION_DIMS, (size_t)d, work) / dims;
    }
    table->centre_error = sqrt(error2 * fmax(1, m.squares / fmax(m.count, 1)) *
                               fmax(1, m.count / fmax(m.independent, 1)));
    return 0;
}

/* Parses comma-separated coordinates. False where the text is not a list of numbers. */
static bool read_point(const char *text, double *c, int *count)
{
    for (*count = 0;; text++) {
        char *end;
        const double value = strtod(text, &end);
        if (end == text || !isfinite(value) || *count == SR_MOTION_DIMS)
            return false;
        c[(*count)++] = value;
        text = end + strspn(end, " ");
        if (*text != ',')
            return !*text;
    }
}

/* Adds the row of an acceleration (dims) at an offset from the centre: its component along the
 * offset, and those across it. part: what the acceleration is the sum of, with signs. */
static int add_row(const double *offset, const double *a, int dims, struct sr_motion_row row,
                   struct sr_motion_part *part, size_t parts, struct sr_motion_table *table)
{
    double r2 = 0, inward = 0, a2 = 0;
    for (int d = 0; d < dims; d++) {
        r2 += offset[d] * offset[d];
        inward += offset[d] * a[d];
        a2 += a[d] * a[d];
    }
    if (!(r2 > 0))
        return 0;
    row.r = sqrt(r2);
    row.value = inward / row.r;
    if (dims > 1) {
        row.aside = sqrt(fmax(0, a2 - row.value * row.value));
        row.across = row.aside * row.aside / (dims - 1) / (row.sigma * row.sigma);
    }
    for (size_t k = 0; k < parts; k++)
        for (int d = 0; d < dims; d++)
            part[k].weight[d] = (k ? -1 : 1) * offset[d] / row.r;
    return sr_motion_add(table, &row, part, parts);
}

static int point_rows(const struct sr_tracks *tracks, struct sr_motion_table *table)
{
    for (size_t k = 0; k < tracks->count; k++) {
        const struct sr_track *track = &tracks->track[k];
        for (size_t i = 1; i + 1 < track->n; i = next_row(track, i)) {
            double offset[SR_MOTION_DIMS], a[SR_MOTION_DIMS];
            for (size_t d = 0; d < (size_t)tracks->dims; d++) {
                offset[d] = table->centre[d] - track->smooth[d * track->n + i];
                a[d] = track->acceleration[d * track->n + i];
            }
            const struct sr_motion_row row = {.track = track,
                                              .t = track->t[i],
                                              .m1 = track->mass,
                                              .r_variance = track->smooth_variance[i],
                                              .sigma = sqrt(track->variance[i])};
            struct sr_motion_part part = {track, i, {0}};
            TRY(add_row(offset, a, tracks->dims, row, &part, 1, table));
        }
    }
    return 0;
}

/* ---- a body as the centre */

static int add_relative(const struct sr_track *track, size_t i, const struct sr_track *centre,
                        size_t j, int dims, struct sr_motion_table *table)
{
    double offset[SR_MOTION_DIMS], a[SR_MOTION_DIMS];
    for (size_t d = 0; d < (size_t)dims; d++) {
        offset[d] = centre->smooth[d * centre->n + j] - track->smooth[d * track->n + i];
        a[d] = track->acceleration[d * track->n + i] - centre->acceleration[d * centre->n + j];
    }
    const struct sr_motion_row row = {.track = track,
                                      .other = centre,
                                      .t = track->t[i],
                                      .m1 = track->mass,
                                      .m2 = centre->mass,
                                      .r_variance =
                                          track->smooth_variance[i] + centre->smooth_variance[j],
                                      .sigma = sqrt(track->variance[i] + centre->variance[j])};
    struct sr_motion_part part[] = {{track, i, {0}}, {centre, j, {0}}};
    return add_row(offset, a, dims, row, part, 2, table);
}

/* One row per time that both tracks contain. */
static int body_rows(const struct sr_tracks *tracks, const char *name,
                     struct sr_motion_table *table)
{
    for (size_t first = 0, size; first < tracks->count; first += size) {
        const struct sr_track *track = tracks->track + first, *centre = NULL;
        size = sr_system_size(tracks, first);
        for (size_t k = 0; k < size; k++)
            centre = strcmp(track[k].body, name) ? centre : &track[k];
        if (!centre)
            return ORR_FAIL(ORR_EINVAL,
                            "%s:%zu: --centre: no body \"%s\"%s%s; expected one, fit, or "
                            "coordinates as in 0,0",
                            tracks->file, track->line[0], name, *track->system ? " in system " : "",
                            track->system);
        for (size_t k = 0; k < size; k++)
            for (size_t i = 1, j = 0; i + 1 < track[k].n && &track[k] != centre;) {
                j = sr_track_at(centre, track[k].t[i], j);
                const bool both = j < centre->n && !(centre->t[j] > track[k].t[i]);
                if (both)
                    TRY(add_relative(&track[k], i, centre, j, tracks->dims, table));
                i = both ? next_row(&track[k], i) : i + 1;
            }
    }
    return 0;
}

const char *sr_centre_body(const char *centre)
{
    double point[SR_MOTION_DIMS];
    int count;
    return !centre || !strcmp(centre, "fit") || read_point(centre, point, &count) ? NULL : centre;
}

int sr_motion_centre(const struct sr_tracks *tracks, const char *text,
                     struct sr_motion_table *table)
{
    int count;
    if (!strcmp(text, "fit"))
        TRY(fit_centre(tracks, table));
    else if (!read_point(text, table->centre, &count))
        return body_rows(tracks, text, table);
    else if (count != tracks->dims)
        return ORR_FAIL(ORR_EUSAGE,
                        "--centre: expected %d coordinates, as --position has, found %d",
                        tracks->dims, count);
    return point_rows(tracks, table);
}
