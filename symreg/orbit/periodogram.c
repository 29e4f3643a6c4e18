/* periodogram.c - the generalised Lomb-Scargle periodogram of Zechmeister & Kuerster (2009, A&A
 * 496, 577), with an offset per instrument. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formula/expr.h"

/* Frequencies in a peak, whose width is 1 / span; turns of a wave between exact sines. */
enum { OVERSAMPLED = 10, EXACT = 256, MOST_FREQUENCIES = 2000000 };

int sr_orbit_periods(const char *text, double *low, double *high)
{
    char *end, *last;
    *low = strtod(text, &end);
    *high = *end == ',' ? strtod(end + 1, &last) : NAN;
    if (end == text || *end != ',' || last == end + 1 || *last || !(*low > 0) || !(*high > *low) ||
        !isfinite(*high))
        return ORR_FAIL(ORR_EUSAGE,
                        "--period: expected LOW,HIGH with 0 < LOW < HIGH, such as 0.5,1000, found "
                        "\"%s\"",
                        text);
    return 0;
}

/* Rows: weights that sum to 1, velocities without their instruments' means, and a wave. */
struct rows {
    double *weight, *v, *cosine, *sine, *turn_cosine, *turn_sine;
    double share[SR_ORBIT_INSTRUMENTS], all; /* weights of the instruments; all: squares of v */
};

static void set_wave(const struct sr_velocities *data, double frequency, double *cosine,
                     double *sine)
{
    for (size_t i = 0; i < data->n; i++) {
        const double turns = frequency * data->t[i], angle = SR_ORBIT_TURN * (turns - rint(turns));
        cosine[i] = sr_op_value(NULL, SR_COS, angle, 0);
        sine[i] = sr_op_value(NULL, SR_SIN, angle, 0);
    }
}

static int make_rows(const struct sr_velocities *data, const double *v,
                     const struct sr_orbit *orbit, struct rows *rows)
{
    const size_t n = data->n;
    double *block = orr_alloc(6 * n, sizeof *block), mean[SR_ORBIT_INSTRUMENTS] = {0}, total = 0;
    if (!block)
        return ORR_ENOMEM;
    *rows = (struct rows){block,         block + n,     block + 2 * n, block + 3 * n,
                          block + 4 * n, block + 5 * n, {0},           0};
    for (size_t i = 0; i < n; i++) {
        rows->weight[i] = 1 / sr_orbit_variance(data, orbit, i);
        total += rows->weight[i];
    }
    for (size_t i = 0; i < n; i++) {
        rows->weight[i] /= total;
        rows->share[data->instrument[i]] += rows->weight[i];
        mean[data->instrument[i]] += rows->weight[i] * v[i];
    }
    for (size_t i = 0; i < n; i++) {
        const int k = data->instrument[i];
        rows->v[i] = v[i] - mean[k] / rows->share[k];
        rows->all += rows->weight[i] * rows->v[i] * rows->v[i];
    }
    return 0;
}

/* The power of the present wave, Eqs. (4) to (16), with the sums of (9) and (10) per instrument. */
static double power_of(const struct sr_velocities *data, const struct rows *rows)
{
    double C[SR_ORBIT_INSTRUMENTS] = {0}, S[SR_ORBIT_INSTRUMENTS] = {0};
    double YC = 0, YS = 0, CC = 0, CS = 0, SS = 0;
    for (size_t i = 0; i < data->n; i++) {
        const double w = rows->weight[i], c = rows->cosine[i], s = rows->sine[i];
        C[data->instrument[i]] += w * c;
        S[data->instrument[i]] += w * s;
        YC += w * rows->v[i] * c;
        YS += w * rows->v[i] * s;
        CC += w * c * c;
        CS += w * c * s;
        SS += w * s * s;
    }
    for (int k = 0; k < data->instruments; k++) {
        CC -= C[k] * C[k] / rows->share[k];
        CS -= C[k] * S[k] / rows->share[k];
        SS -= S[k] * S[k] / rows->share[k];
    }
    const double D = CC * SS - CS * CS;
    const double taken = (SS * YC * YC + CC * YS * YS - 2 * CS * YC * YS) / D;
    return D > 1e-12 * (CC + SS) * (CC + SS) && rows->all > 0 ? taken / rows->all : 0;
}

static void turn_wave(const struct rows *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double c = rows->cosine[i], s = rows->sine[i];
        rows->cosine[i] = c * rows->turn_cosine[i] - s * rows->turn_sine[i];
        rows->sine[i] = s * rows->turn_cosine[i] + c * rows->turn_sine[i];
    }
}

double sr_periodogram_shortest(double span)
{
    return fmin(1, span / 100);
}

static int choose_frequencies(const struct sr_velocities *data, const char *periods,
                              struct sr_periodogram *of)
{
    double low = sr_periodogram_shortest(data->span), high = 2 * data->span;
    if (periods)
        TRY(sr_orbit_periods(periods, &low, &high));
    of->step = 1 / (OVERSAMPLED * data->span);
    of->low = 1 / high;
    const double count = floor((1 / low - of->low) / of->step) + 1;
    if (count > MOST_FREQUENCIES)
        return ORR_FAIL(ORR_EUSAGE,
                        "%s: periods from %g on over a span of %g are %.3g frequencies, expected "
                        "at most %d; give --period LOW,HIGH",
                        data->file, low, data->span, count, MOST_FREQUENCIES);
    of->count = (size_t)count;
    of->independent = fmax(1, data->span * (1 / low - of->low));
    return 0;
}

int sr_periodogram_make(const struct sr_velocities *data, const double *v,
                        const struct sr_orbit *orbit, const char *periods,
                        struct sr_periodogram *of)
{
    struct rows rows = {0};
    *of = (struct sr_periodogram){0};
    TRY(choose_frequencies(data, periods, of));
    of->power = orr_alloc(of->count, sizeof *of->power);
    TRY(of->power ? 0 : ORR_ENOMEM);
    TRY(make_rows(data, v, orbit, &rows));
    set_wave(data, of->step, rows.turn_cosine, rows.turn_sine);
    for (size_t k = 0; k < of->count; k++) {
        if (k % EXACT == 0)
            set_wave(data, of->low + (double)k * of->step, rows.cosine, rows.sine);
        else
            turn_wave(&rows, data->n);
        of->power[k] = power_of(data, &rows);
    }
    free(rows.weight);
    return 0;
}

void sr_periodogram_free(struct sr_periodogram *of)
{
    free(of->power);
    of->power = NULL;
}

int sr_periodogram_peaks(const struct sr_periodogram *of, double span, int most, size_t *peak)
{
    const size_t apart = (size_t)ceil(1 / (span * of->step));
    int count = 0;
    while (count < most) {
        size_t best = of->count;
        for (size_t k = 0; k < of->count; k++) {
            const bool top = (k == 0 || of->power[k] >= of->power[k - 1]) &&
                             (k + 1 == of->count || of->power[k] >= of->power[k + 1]);
            bool known = !top || (best < of->count && of->power[k] <= of->power[best]);
            for (int j = 0; j < count && !known; j++)
                known = k < peak[j] + apart && peak[j] < k + apart;
            best = known ? best : k;
        }
        if (best == of->count)
            break;
        peak[count++] = best;
    }
    return count;
}

double sr_orbit_chance(double tries, double rows, double freedom, double e, double gain)
{
    /* of Gaussian noise of unknown size: four parameters take the share p of chi^2 */
    const double left = orr_exp(-2 * gain / rows), p = 1 - left;
    const double one = orr_pow(left, freedom / 2) * (1 + p * freedom / 2);
    const double phases = orr_pow(1 - e, -1.5);
    return fmin(1, fmax(tries, 1) * phases * one);
}
