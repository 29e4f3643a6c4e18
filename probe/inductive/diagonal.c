/* diagonal.c - see diagonal.h. */
#include "diagonal.h"
#include "rank.h"
#include "probe/results.h"

#include <math.h>

static double edge_of(const struct probe_bins *bins, int b)
{
    return b == PROBE_BINS ? bins->high
                           : bins->low + (bins->high - bins->low) * b / (double)PROBE_BINS;
}

static int bin_of(const struct probe_bins *bins, double distance, bool open)
{
    const double width = bins->high - bins->low;
    int b = width > 0 ? (int)(PROBE_BINS * ((distance - bins->low) / width)) : 0;
    b = b < PROBE_BINS ? b : PROBE_BINS - 1;
    while (b > 0 && distance < edge_of(bins, b)) /* corrects the rounding of the quotient */
        b--;
    while (b < PROBE_BINS - 1 && distance >= edge_of(bins, b + 1))
        b++;
    if (open && (distance <= edge_of(bins, b) || distance >= edge_of(bins, b + 1)))
        return PROBE_BINS;
    return b;
}

int probe_bins_make(struct probe_arena *arena, struct probe_bins *bins, size_t points, int sets,
                    const double *const oracle[], bool open)
{
    *bins = (struct probe_bins){.points = points, .pairs = probe_pairs(points)};
    bins->bin = probe_take(arena, bins->pairs + 1, sizeof *bins->bin);
    const size_t kept = arena->count;
    double *distance = probe_take(arena, bins->pairs + 1, sizeof *distance);
    TRY(arena->failed);
    for (int d = 0; d < sets; d++) {
        size_t pair = 0;
        for (size_t i = 0; i < points; i++)
            for (size_t j = i + 1; j < points; j++)
                distance[pair++] += fabs(oracle[d][i] - oracle[d][j]);
    }
    bins->low = INFINITY;
    for (size_t k = 0; k < bins->pairs; k++) {
        distance[k] /= sets;
        bins->low = fmin(bins->low, distance[k]);
        bins->high = fmax(bins->high, distance[k]);
    }
    double sum[PROBE_BINS + 1] = {0};
    for (size_t k = 0; k < bins->pairs; k++) {
        const int b = bin_of(bins, distance[k], open);
        bins->bin[k] = (unsigned char)b;
        sum[b] += distance[k];
        if (b < PROBE_BINS)
            bins->count[b]++;
    }
    for (int b = 0; b < PROBE_BINS; b++)
        bins->diagonal[b] = sum[b] / (double)bins->count[b];
    probe_rewind(arena, kept);
    return 0;
}

void probe_bins_mean(const struct probe_bins *bins, const double *value, double mean[PROBE_BINS])
{
    double sum[PROBE_BINS + 1] = {0};
    const unsigned char *bin = bins->bin;
    for (size_t i = 0; i < bins->points; i++)
        for (size_t j = i + 1; j < bins->points; j++)
            sum[*bin++] += fabs(value[i] - value[j]);
    for (int b = 0; b < PROBE_BINS; b++)
        mean[b] = sum[b] / (double)bins->count[b];
}

double probe_departure_of(const void *of, int sets, const unsigned short times[])
{
    const struct probe_departure *departure = of;
    double predicted[PROBE_BINS], oracle[PROBE_BINS];
    for (int b = 0; b < PROBE_BINS; b++) {
        double count = 0;
        predicted[b] = oracle[b] = 0;
        for (int d = 0; d < sets; d++) {
            predicted[b] += times[d] * departure->predicted[d * PROBE_BINS + b];
            oracle[b] += times[d] * departure->oracle[d * PROBE_BINS + b];
            count += times[d];
        }
        predicted[b] /= count;
        oracle[b] /= count;
    }
    return probe_to_diagonal(predicted, oracle);
}

double probe_to_diagonal(const double predicted[PROBE_BINS], const double diagonal[PROBE_BINS])
{
    double sum = 0;
    int count = 0;
    for (int b = 0; b < PROBE_BINS; b++)
        if (isfinite(diagonal[b])) {
            sum += fabs(predicted[b] - diagonal[b]);
            count++;
        }
    return sum / count;
}
