/* agreement.c - how well predicted force vectors agree with the truth. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* The length of a vector; in the plane, where z is 0, that of x and y bit for bit. */
static double length_of(double x, double y, double z)
{
    return hypot(hypot(x, y), z);
}

struct judged {
    double error, weight;
};

/* The size of the force for a baseline that knows the direction, from the labels of a body: the
 * mean of |F|, or the median of |F| r^2. ORR_ENOMEM. */
static int from_labels(const struct report_orbit *orbit, enum report_baseline baseline,
                       double *size)
{
    double *value = orr_alloc(orbit->count ? orbit->count : 1, sizeof *value), sum = 0;
    size_t labels = 0, n = 0;
    if (!value)
        return ORR_ENOMEM;
    for (size_t i = 0; i < orbit->count; i++)
        labels += orbit->at[i].labelled;
    for (size_t i = 0; i < orbit->count; i++) {
        const struct report_position *at = &orbit->at[i];
        const double r2 = at->x_au * at->x_au + at->y_au * at->y_au + at->z_au * at->z_au;
        if (labels && !at->labelled)
            continue;
        value[n] = length_of(at->fx_true, at->fy_true, at->fz_true) *
                   (baseline == REPORT_BASELINE_SQUARE ? r2 : 1);
        sum += value[n++];
    }
    *size = baseline == REPORT_BASELINE_SQUARE ? orr_median(value, n) : n ? sum / (double)n : 0;
    free(value);
    return 0;
}

static void cross_of(const struct report_position *a, const struct report_position *b, double n[3])
{
    n[0] = a->y_au * b->z_au - a->z_au * b->y_au;
    n[1] = a->z_au * b->x_au - a->x_au * b->z_au;
    n[2] = a->x_au * b->y_au - a->y_au * b->x_au;
}

/* The side from which angles are seen: in the plane that of z, in space the normal of most
 * steps. */
static void normal_of(const struct report_orbit *orbit, double normal[3])
{
    bool flat = true;
    double sum[3] = {0}, n[3];
    for (size_t i = 0; i < orbit->count; i++) {
        flat &= !(orbit->at[i].z_au > 0 || orbit->at[i].z_au < 0);
        if (i == 0)
            continue;
        cross_of(&orbit->at[i - 1], &orbit->at[i], n);
        const double sign = n[0] * sum[0] + n[1] * sum[1] + n[2] * sum[2] < 0 ? -1 : 1;
        for (int c = 0; c < 3; c++)
            sum[c] += sign * n[c];
    }
    const double length = length_of(sum[0], sum[1], sum[2]);
    for (int c = 0; c < 3; c++)
        normal[c] = flat || !(length > 0) ? c == 2 : sum[c] / length;
}

/* Angle around the Sun from one position to another, in (-pi, pi]. */
static double angle_between(const struct report_position *a, const struct report_position *b,
                            const double normal[3])
{
    double n[3];
    cross_of(a, b, n);
    return atan2(normal[0] * n[0] + normal[1] * n[1] + normal[2] * n[2],
                 a->x_au * b->x_au + a->y_au * b->y_au + a->z_au * b->z_au);
}

/* 1 for a counter-clockwise orbit, -1 for a clockwise one, by the direction of most of its
 * steps. */
static double sense_of(const struct report_orbit *orbit, const double normal[3])
{
    int sense = 0;
    for (size_t i = 1; i < orbit->count; i++)
        sense += angle_between(&orbit->at[i - 1], &orbit->at[i], normal) >= 0 ? 1 : -1;
    return sense >= 0 ? 1 : -1;
}

/* The true anomaly covered from position i - 1 to i; near the Sun it can exceed half a turn. */
static double covered_angle(const struct report_orbit *orbit, size_t i, double sense,
                            const double normal[3])
{
    const double angle = sense * angle_between(&orbit->at[i - 1], &orbit->at[i], normal);
    return angle < 0 ? angle + 2 * acos(-1) : angle;
}

/* The angle assigned to position i: half the angle to each neighbour. */
static double swept_angle(const struct report_orbit *orbit, size_t i, double sense,
                          const double normal[3])
{
    double sum = 0;
    if (i > 0)
        sum += covered_angle(orbit, i, sense, normal) / 2;
    if (i + 1 < orbit->count)
        sum += covered_angle(orbit, i + 1, sense, normal) / 2;
    return sum;
}

static int by_error(const void *a, const void *b)
{
    const double x = ((const struct judged *)a)->error, y = ((const struct judged *)b)->error;
    return (x > y) - (x < y);
}

/* The weighted median of the errors; the mean of the two middle ones where half of the weight falls
 * between them, as with equal weights. */
static double weighted_median(struct judged *judged, size_t n)
{
    double total = 0, below = 0;
    qsort(judged, n, sizeof *judged, by_error);
    for (size_t i = 0; i < n; i++)
        total += judged[i].weight;
    for (size_t i = 0; i < n; i++) {
        below += judged[i].weight;
        const bool between = fabs(below - total / 2) <= 1e-9 * total && i + 1 < n;
        if (between)
            return (judged[i].error + judged[i + 1].error) / 2;
        if (below > total / 2)
            return judged[i].error;
    }
    return NAN;
}

int report_agree(const struct report_orbit *orbit, size_t n, enum report_weights weights,
                 enum report_baseline baseline, struct report_agreement *result)
{
    size_t total = 0, m = 0;
    for (size_t o = 0; o < n; o++)
        total += orbit[o].count;
    struct judged *judged = orr_alloc(total ? total : 1, sizeof *judged);
    int rc = judged ? 0 : ORR_ENOMEM;
    double cosine = 0, weight = 0;
    for (size_t o = 0; o < n && !rc; o++) {
        double size = 0, normal[3];
        normal_of(&orbit[o], normal);
        const double sense = sense_of(&orbit[o], normal);
        if (baseline != REPORT_NO_BASELINE)
            rc = from_labels(&orbit[o], baseline, &size);
        for (size_t i = 0; i < orbit[o].count && !rc; i++) {
            const struct report_position *at = &orbit[o].at[i];
            if (at->labelled)
                continue;
            const double r_au = length_of(at->x_au, at->y_au, at->z_au);
            const double own = baseline == REPORT_BASELINE_SQUARE ? size / (r_au * r_au) : size;
            const double fx = baseline == REPORT_NO_BASELINE ? at->fx : -own * at->x_au / r_au;
            const double fy = baseline == REPORT_NO_BASELINE ? at->fy : -own * at->y_au / r_au;
            const double fz = baseline == REPORT_NO_BASELINE ? at->fz : -own * at->z_au / r_au;
            const double f = length_of(fx, fy, fz);
            const double f_true = length_of(at->fx_true, at->fy_true, at->fz_true);
            const double w =
                weights == REPORT_EVEN_IN_TIME ? 1 : swept_angle(&orbit[o], i, sense, normal);
            /* a zero prediction has no direction and counts as cosine 0 */
            if (f > 0)
                cosine +=
                    w * (fx * at->fx_true + fy * at->fy_true + fz * at->fz_true) / (f * f_true);
            weight += w;
            judged[m++] = (struct judged){
                length_of(fx - at->fx_true, fy - at->fy_true, fz - at->fz_true) / f_true, w};
        }
    }
    if (!rc)
        *result = (struct report_agreement){.count = m,
                                            .cosine = weight > 0 ? cosine / weight : (double)NAN,
                                            .relative_error = weighted_median(judged, m)};
    free(judged);
    return rc;
}
