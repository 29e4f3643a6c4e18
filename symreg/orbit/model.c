/* model.c - velocities of Keplerian orbits at given times, and their derivatives, by the operators
 * of formulas, whose bits are the same on every CPU. */
#include "orbit.h"

#include <math.h>

#include "symreg/value/value.h"

#define E_MOST 0.995

/* Values of one planet, a tile of rows at a time. */
struct tile {
    int n;
    double M[SR_TILE], nu[SR_TILE], sine[SR_TILE], cosine[SR_TILE];
};

static void tile_anomalies(struct tile *tile, const double *t, double motion, double M0, double e)
{
    double eccentricity[SR_TILE];
    for (int i = 0; i < tile->n; i++) {
        tile->M[i] = motion * t[i] + M0;
        eccentricity[i] = e;
    }
    sr_op_apply(NULL, SR_TRUE_ANOMALY, tile->n, tile->M, eccentricity, tile->nu);
}

static void tile_waves(struct tile *tile, const double *angle)
{
    sr_op_apply(NULL, SR_SIN, tile->n, angle, angle, tile->sine);
    sr_op_apply(NULL, SR_COS, tile->n, angle, angle, tile->cosine);
}

void sr_orbit_waves(size_t n, const double *t, double motion, double M, double e, double *cosine,
                    double *sine)
{
    struct tile tile;
    for (size_t from = 0; from < n; from += SR_TILE) {
        tile.n = (int)(n - from < SR_TILE ? n - from : SR_TILE);
        tile_anomalies(&tile, t + from, motion, M, e);
        tile_waves(&tile, tile.nu);
        for (int i = 0; i < tile.n; i++) {
            cosine[from + (size_t)i] = tile.cosine[i] + e;
            sine[from + (size_t)i] = tile.sine[i];
        }
    }
}

/* An orbit by its elements. */
struct ellipse {
    double motion, M, e, K, cosine, sine, omega;
};

/* e: at least `least`, as omega has no meaning at 0, but derivatives by e cos(omega) and e
 * sin(omega) have: they are those of a slightly eccentric orbit. */
static bool make_ellipse(const double *x, double least, struct ellipse *o)
{
    const double size = sqrt(x[SR_ORBIT_X] * x[SR_ORBIT_X] + x[SR_ORBIT_Y] * x[SR_ORBIT_Y]);
    o->e = size > least ? size : least;
    o->cosine = size > 0 ? x[SR_ORBIT_X] / size : 1;
    o->sine = size > 0 ? x[SR_ORBIT_Y] / size : 0;
    o->omega = sr_op_value(NULL, SR_ATAN2, o->sine, o->cosine);
    o->motion = x[SR_ORBIT_N];
    o->M = x[SR_ORBIT_LONGITUDE] - o->omega;
    o->K = x[SR_ORBIT_AMPLITUDE];
    return o->e < E_MOST && o->motion > 0 && isfinite(o->M) && isfinite(o->K);
}

/* Derivatives of K (cos(nu + omega) + e cos(omega)) by K, by M, e and omega, then by the shape. */
static void row_slopes(const struct ellipse *o, double t, double cosine, double sine, double *slope)
{
    const double c = cosine * o->cosine - sine * o->sine, s = sine * o->cosine + cosine * o->sine;
    const double whole = (1 - o->e) * (1 + o->e), plus = 1 + o->e * cosine;
    const double by_M = -o->K * s * plus * plus / (whole * sqrt(whole));
    const double by_omega = -o->K * (s + o->e * o->sine);
    const double by_e = o->K * (o->cosine - s * sine * (1 + plus) / whole);
    const double turned = (by_omega - by_M) / o->e; /* at a fixed mean longitude */
    slope[SR_ORBIT_N] = by_M * t;
    slope[SR_ORBIT_LONGITUDE] = by_M;
    slope[SR_ORBIT_X] = by_e * o->cosine - turned * o->sine;
    slope[SR_ORBIT_Y] = by_e * o->sine + turned * o->cosine;
    slope[SR_ORBIT_AMPLITUDE] = c + o->e * o->cosine;
}

/* Adds the velocities of an ellipse where v is not NULL, and writes its slopes, one every `stride`,
 * where slope is not NULL. */
static void add_ellipse(const struct ellipse *o, size_t n, const double *t, double *v,
                        double *slope, size_t stride)
{
    struct tile tile;
    for (size_t from = 0; from < n; from += SR_TILE) {
        tile.n = (int)(n - from < SR_TILE ? n - from : SR_TILE);
        tile_anomalies(&tile, t + from, o->motion, o->M, o->e);
        tile_waves(&tile, tile.nu);
        for (int i = 0; i < tile.n; i++) {
            const size_t row = from + (size_t)i;
            if (v)
                v[row] +=
                    o->K * (tile.cosine[i] * o->cosine - tile.sine[i] * o->sine + o->e * o->cosine);
            if (slope)
                row_slopes(o, t[row], tile.cosine[i], tile.sine[i], slope + row * stride);
        }
    }
}

bool sr_orbit_model(const struct sr_orbit *orbit, size_t n, const double *t, const int *instrument,
                    double *v, double *slope)
{
    const double least = 1e-7;
    const size_t count = (size_t)sr_orbit_shape(orbit);
    for (size_t i = 0; i < n; i++)
        v[i] = instrument ? orbit->x[count + (size_t)instrument[i]] : 0;
    for (int p = 0; p < orbit->planets; p++) {
        const double *x = orbit->x + SR_ORBIT_SHAPE * p;
        double *const own = slope ? slope + SR_ORBIT_SHAPE * p : NULL;
        struct ellipse o, bent;
        if (!make_ellipse(x, 0, &o) || !make_ellipse(x, least, &bent))
            return false;
        const bool same = o.e >= least;
        add_ellipse(&o, n, t, v, same ? own : NULL, count);
        if (own && !same)
            add_ellipse(&bent, n, t, NULL, own, count);
    }
    return true;
}
