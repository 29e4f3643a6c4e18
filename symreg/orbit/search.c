/* search.c - from peaks of the periodogram to the likeliest orbits of no, one and two planets. A
 * peak may be of a harmonic of an eccentric orbit, so that its multiples are tried as periods;
 * Kepler's orbits of several eccentricities and phases start there. */
#include "orbit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formula/expr.h"

enum {
    PEAKS = 12,
    MULTIPLES = 4,
    PHASES = 16,
    FROM_EACH = 2, /* eccentric starts of a period that are fitted */
    KEPT = 8,      /* fits that are kept, and refined with their jitter */
    BASES = 3,     /* orbits of one planet to which another is added */
};
static const double eccentricity[] = {0.05, 0.4, 0.65, 0.82, 0.93};
enum { ECCENTRICITIES = sizeof eccentricity / sizeof *eccentricity };

/* Memory of a search: velocities that a base leaves (n), two waves (n), weights (n). */
struct search {
    const struct sr_velocities *data;
    struct sr_orbit_work *work;
    double *left, *cosine, *sine, *weight;
    struct sr_orbit base; /* to which a planet is added, and whose jitter weighs */
    struct sr_orbit kept[KEPT];
    int count;
};

/* A start, and the chi^2 that it leaves. */
struct start {
    double x[SR_ORBIT_SHAPE], chi2;
};

/* Sums of a wave pair against the velocities that are left, without instruments' means. */
struct sums {
    double YC, YS, CC, CS, SS, YY;
};

static void wave_sums(const struct search *s, struct sums *sums)
{
    double W[SR_ORBIT_INSTRUMENTS] = {0}, C[SR_ORBIT_INSTRUMENTS] = {0},
           S[SR_ORBIT_INSTRUMENTS] = {0}, Y[SR_ORBIT_INSTRUMENTS] = {0};
    *sums = (struct sums){0};
    for (size_t i = 0; i < s->data->n; i++) {
        const double w = s->weight[i], c = s->cosine[i], d = s->sine[i], y = s->left[i];
        const int k = s->data->instrument[i];
        W[k] += w;
        C[k] += w * c;
        S[k] += w * d;
        Y[k] += w * y;
        sums->YC += w * y * c;
        sums->YS += w * y * d;
        sums->CC += w * c * c;
        sums->CS += w * c * d;
        sums->SS += w * d * d;
        sums->YY += w * y * y;
    }
    for (int k = 0; k < s->data->instruments; k++) {
        sums->YC -= Y[k] * C[k] / W[k];
        sums->YS -= Y[k] * S[k] / W[k];
        sums->CC -= C[k] * C[k] / W[k];
        sums->CS -= C[k] * S[k] / W[k];
        sums->SS -= S[k] * S[k] / W[k];
        sums->YY -= Y[k] * Y[k] / W[k];
    }
}

/* The best amplitude and omega for a period, eccentricity and mean anomaly: K cos(omega) and
 * -K sin(omega) are coefficients of cos(nu) + e and sin(nu). */
static void make_start(const struct search *s, double motion, double e, double M,
                       struct start *start)
{
    struct sums sums;
    sr_orbit_waves(s->data->n, s->data->t, motion, M, e, s->cosine, s->sine);
    wave_sums(s, &sums);
    const double D = sums.CC * sums.SS - sums.CS * sums.CS;
    start->chi2 = HUGE_VAL;
    if (!(D > 1e-10 * sums.CC * sums.SS))
        return;
    const double A = (sums.SS * sums.YC - sums.CS * sums.YS) / D;
    const double B = (sums.CC * sums.YS - sums.CS * sums.YC) / D;
    const double K = sqrt(A * A + B * B), omega = sr_op_value(NULL, SR_ATAN2, -B, A);
    start->chi2 = sums.YY - A * sums.YC - B * sums.YS;
    start->x[SR_ORBIT_N] = motion;
    start->x[SR_ORBIT_LONGITUDE] = M + omega;
    start->x[SR_ORBIT_X] = K > 0 ? e * A / K : e;
    start->x[SR_ORBIT_Y] = K > 0 ? -e * B / K : 0;
    start->x[SR_ORBIT_AMPLITUDE] = K;
}

/* Whether two orbits are one to rounding: their last planets have the same period within a
 * thousandth of the resolution. */
static bool same_orbit(const struct search *s, const struct sr_orbit *a, const struct sr_orbit *b)
{
    const int last = SR_ORBIT_SHAPE * (a->planets - 1);
    return fabs(a->x[last] - b->x[last]) * s->data->span < 0.05 &&
           fabs(a->likelihood - b->likelihood) < 0.01;
}

/* By what orbits are ranked: the logarithm of the likelihood, and of the share of its period,
 * (1 - e)^(3/2), in which a planet passes its periastron. Without this a periastron that falls on
 * one outlier, with e near 1 and any K, would be the likeliest orbit of many tables. */
static double rank_of(const struct sr_orbit *orbit)
{
    double rank = orbit->likelihood;
    for (int p = 0; p < orbit->planets; p++)
        rank += 1.5 * orr_log(1 - sr_orbit_element(orbit, p, SR_ELEMENT_E));
    return rank;
}

/* Keeps the best orbits, in their order. */
static void keep(struct search *s, const struct sr_orbit *orbit)
{
    int at = s->count;
    if (sr_orbit_has_twins(orbit))
        return;
    for (int k = 0; k < s->count; k++)
        if (same_orbit(s, &s->kept[k], orbit))
            return;
    while (at > 0 && rank_of(&s->kept[at - 1]) < rank_of(orbit))
        at--;
    if (at == KEPT)
        return;
    const int moved = (s->count < KEPT ? s->count : KEPT - 1) - at;
    memmove(&s->kept[at + 1], &s->kept[at], (size_t)moved * sizeof *orbit);
    s->kept[at] = *orbit;
    s->count = s->count < KEPT ? s->count + 1 : KEPT;
}

/* The base with one more planet, which begins at `start`. */
static struct sr_orbit with_planet(const struct sr_orbit *base, const struct start *start)
{
    struct sr_orbit orbit = *base;
    const int shape = sr_orbit_shape(base);
    orbit.planets++;
    memcpy(orbit.x + shape, start->x, sizeof start->x);
    memcpy(orbit.x + shape + SR_ORBIT_SHAPE, base->x + shape,
           (size_t)base->instruments * sizeof *base->x);
    return orbit;
}

/* Fits an orbit from a start, and keeps it. */
static void try_start(struct search *s, const struct start *start)
{
    struct sr_orbit orbit = with_planet(&s->base, start);
    if (isfinite(start->chi2) && sr_orbit_refine(s->data, NULL, false, &orbit, s->work))
        keep(s, &orbit);
}

/* The best phase of a period and eccentricity. */
static struct start best_phase(const struct search *s, double period, double e)
{
    struct start best = {.chi2 = HUGE_VAL}, start = best;
    for (int phase = 0; phase < PHASES; phase++) {
        make_start(s, SR_ORBIT_TURN / period, e, phase * SR_ORBIT_TURN / PHASES, &start);
        best = start.chi2 < best.chi2 ? start : best;
    }
    return best;
}

/* Fits orbits of a period: from a nearly circular start, and from the best eccentric ones. */
static void try_period(struct search *s, double period)
{
    struct start best[FROM_EACH], start = best_phase(s, period, eccentricity[0]);
    for (int k = 0; k < FROM_EACH; k++)
        best[k] = (struct start){.chi2 = HUGE_VAL};
    try_start(s, &start);
    for (int j = 1; j < ECCENTRICITIES; j++) {
        start = best_phase(s, period, eccentricity[j]);
        int at = FROM_EACH;
        while (at > 0 && start.chi2 < best[at - 1].chi2)
            at--;
        if (at == FROM_EACH)
            continue;
        memmove(best + at + 1, best + at, (size_t)(FROM_EACH - 1 - at) * sizeof *best);
        best[at] = start;
    }
    for (int k = 0; k < FROM_EACH; k++)
        try_start(s, &best[k]);
}

/* What the base leaves, and weights with its jitter. */
static void set_base(struct search *s, const struct sr_orbit *base)
{
    s->base = *base;
    sr_orbit_model(base, s->data->n, s->data->t, s->data->instrument, s->left, NULL);
    for (size_t i = 0; i < s->data->n; i++) {
        s->left[i] = s->data->v[i] - s->left[i];
        s->weight[i] = 1 / sr_orbit_variance(s->data, base, i);
    }
}

/* Adds orbits of the base and one more planet to those kept. */
static int add_planet(struct search *s, const struct sr_orbit *base,
                      const struct sr_orbit_options *o, double *period, double *tries)
{
    struct sr_periodogram of;
    size_t peak[PEAKS];
    set_base(s, base);
    int rc = sr_periodogram_make(s->data, s->left, base, o->periods, &of);
    if (!rc) {
        const int peaks = sr_periodogram_peaks(&of, s->data->span, PEAKS, peak);
        const double longest = 1 / of.low;
        for (int k = 0; k < peaks * MULTIPLES && !orr_signal_seen(); k++) {
            const int at_peak = k / MULTIPLES;
            const double first = 1 / (of.low + (double)peak[at_peak] * of.step);
            const double at = first * (1 + k % MULTIPLES);
            if (at <= longest * 1.0001)
                try_period(s, at);
        }
        *period = peaks ? 1 / (of.low + (double)peak[0] * of.step) : NAN;
        *tries = of.independent;
    }
    sr_periodogram_free(&of);
    return rc;
}

/* Refines those kept with their jitter, and orders them. */
static void refine_kept(struct search *s)
{
    struct sr_orbit orbit[KEPT];
    const int count = s->count;
    memcpy(orbit, s->kept, sizeof orbit);
    s->count = 0;
    for (int k = 0; k < count; k++)
        if (sr_orbit_refine(s->data, NULL, true, &orbit[k], s->work))
            keep(s, &orbit[k]);
}

/* Adds orbits at aliases of the best orbit where these are clearly likelier, as those of a planet
 * whose period is shorter than the periodogram looks for. */
static void try_aliases(struct search *s)
{
    enum { HOPS = 4 };
    struct sr_alias alias[SR_ORBIT_ALIASES];
    const double longest = sr_periodogram_shortest(s->data->span);
    for (int hop = 0; hop < HOPS && s->count && !orr_signal_seen(); hop++) {
        const struct sr_orbit best = s->kept[0];
        for (int p = 0; p < best.planets; p++) {
            const int count = sr_orbit_aliases(s->data, &best, p, longest, alias, s->work);
            for (int k = 0; k < count; k++)
                if (rank_of(&alias[k].orbit) > rank_of(&best) + 0.5 * SR_ORBIT_EVIDENCE)
                    keep(s, &alias[k].orbit);
        }
        if (s->kept[0].likelihood == best.likelihood)
            break;
    }
}

/* Whether orbits are different maxima of the likelihood, not points of one. */
static bool are_apart(const struct search *s, const struct sr_orbit *a, const struct sr_orbit *b)
{
    bool apart = false;
    for (int p = 0; p < a->planets; p++) {
        const double *x = a->x + SR_ORBIT_SHAPE * p, *y = b->x + SR_ORBIT_SHAPE * p;
        apart = apart || fabs(x[SR_ORBIT_N] - y[SR_ORBIT_N]) * s->data->span > 1 ||
                fabs(x[SR_ORBIT_X] - y[SR_ORBIT_X]) > 0.1 ||
                fabs(x[SR_ORBIT_Y] - y[SR_ORBIT_Y]) > 0.1;
    }
    return apart;
}

/* Planets in the order of their periods. */
static void order_planets(struct sr_orbit *orbit)
{
    double first[SR_ORBIT_SHAPE];
    if (orbit->planets < 2 || orbit->x[SR_ORBIT_N] >= orbit->x[SR_ORBIT_SHAPE + SR_ORBIT_N])
        return;
    memcpy(first, orbit->x, sizeof first);
    memcpy(orbit->x, orbit->x + SR_ORBIT_SHAPE, sizeof first);
    memcpy(orbit->x + SR_ORBIT_SHAPE, first, sizeof first);
}

/* The best one of the other maxima that are nearly as likely as the best orbit. */
static struct sr_orbit find_rival(const struct search *s)
{
    struct sr_orbit best = s->kept[0];
    order_planets(&best);
    for (int k = 1; k < s->count; k++) {
        struct sr_orbit other = s->kept[k];
        order_planets(&other);
        if (2 * (best.likelihood - other.likelihood) < SR_ORBIT_EVIDENCE &&
            2 * (rank_of(&best) - rank_of(&other)) < SR_ORBIT_EVIDENCE &&
            are_apart(s, &best, &other))
            return other;
    }
    return (struct sr_orbit){0};
}

/* The highest peak of what the recommended planets leave, where more are not fitted: the chance of
 * a circular orbit in noise. */
static int look_for_more(struct search *s, const struct sr_orbit_options *o,
                         struct sr_orbits *found)
{
    struct sr_periodogram of;
    size_t peak;
    found->left_period = found->left_chance = NAN;
    if (found->recommended < SR_ORBIT_PLANETS)
        return 0;
    const struct sr_orbit *orbit = &found->orbit[found->recommended];
    const double n = (double)s->data->n, freedom = n - sr_orbit_count(orbit) - SR_ORBIT_SHAPE;
    set_base(s, orbit);
    int rc = sr_periodogram_make(s->data, s->left, orbit, o->periods, &of);
    if (!rc && freedom > 0 && sr_periodogram_peaks(&of, s->data->span, 1, &peak)) {
        found->left_period = 1 / (of.low + (double)peak * of.step);
        found->left_chance =
            sr_orbit_chance(of.independent, n, freedom, 0, -0.5 * n * orr_log(1 - of.power[peak]));
    }
    sr_periodogram_free(&of);
    return rc;
}

static double bic_of(const struct sr_velocities *data, const struct sr_orbit *orbit)
{
    return sr_orbit_count(orbit) * orr_log((double)data->n) - 2 * orbit->likelihood;
}

static int find_orbits(struct search *s, const struct sr_orbit_options *o, int most,
                       struct sr_orbits *found)
{
    struct sr_orbit base[BASES];
    double tries = 1;
    int bases = 1;
    if (!sr_orbit_constant(s->data, &base[0], s->work))
        return ORR_FAIL(ORR_EDOM, "%s: no finite likelihood of a constant velocity", s->data->file);
    found->orbit[0] = base[0];
    found->bic[0] = bic_of(s->data, &base[0]);
    for (int planets = 1; planets <= most; planets++) {
        s->count = 0;
        for (int k = 0; k < bases; k++) {
            double period;
            TRY(add_planet(s, &base[k], o, &period, &tries));
            found->peak[planets] = k == 0 ? period : found->peak[planets];
        }
        if (orr_signal_seen())
            return ORR_FAIL(ORR_EINTR,
                            "%s: stopped before the orbits were found; nothing is "
                            "written",
                            s->data->file);
        refine_kept(s);
        if (!o->periods)
            try_aliases(s);
        if (!s->count)
            break;
        found->most = planets;
        found->rival[planets] = find_rival(s);
        found->orbit[planets] = s->kept[0];
        found->bic[planets] = bic_of(s->data, &s->kept[0]);
        found->chance[planets] = sr_orbit_chance(
            tries, (double)s->data->n, (double)s->data->n - sr_orbit_count(&s->kept[0]),
            sr_orbit_element(&s->kept[0], planets - 1, SR_ELEMENT_E),
            s->kept[0].likelihood - base[0].likelihood);
        bases = s->count < BASES ? s->count : BASES;
        memcpy(base, s->kept, (size_t)bases * sizeof *base);
    }
    return 0;
}

int sr_orbits_search(const struct sr_velocities *data, const struct sr_orbit_options *o, int most,
                     struct sr_orbits *found, struct sr_orbit_work *work)
{
    struct search *s = orr_alloc(1, sizeof *s);
    double *block = orr_alloc(4 * data->n, sizeof *block);
    int rc = s && block ? 0 : ORR_ENOMEM;
    *found = (struct sr_orbits){0};
    if (!rc) {
        *s = (struct search){.data = data,
                             .work = work,
                             .left = block,
                             .cosine = block + data->n,
                             .sine = block + 2 * data->n,
                             .weight = block + 3 * data->n};
        while (most > 0 && (size_t)(SR_ORBIT_SHAPE * most + 2 * data->instruments) + 1 > data->n)
            most--; /* more parameters than velocities */
        rc = find_orbits(s, o, most, found);
    }
    for (int k = 1; k <= found->most && !rc; k++) {
        order_planets(&found->orbit[k]);
        if (found->bic[k] < found->bic[found->recommended] - SR_ORBIT_EVIDENCE &&
            found->chance[k] < SR_ORBIT_CHANCE)
            found->recommended = k;
    }
    if (!rc)
        rc = look_for_more(s, o, found);
    free(block);
    free(s);
    return rc;
}
