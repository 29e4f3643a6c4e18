/* test_vec.c - the block solver: every variant gives the same bits, and those bits are right. */
#include "base/scratch.h"
#include "sim.h"
#include "under_valgrind.h"
#include "vec.h"

#include <float.h>
#include <math.h>

#include <gsl/gsl_math.h>

static const double eccentricities[] = {0, 1e-9, 0.0167, 0.2056, 0.61, 0.9, 0.98, 0.999};
enum { ECCENTRICITIES = sizeof eccentricities / sizeof *eccentricities, BLOCKS = 150 };

/* Mean anomalies within [-pi, pi]: even, crowded at 0 (1e-16 .. pi) and at pi, and special ones.
 * No product is added to, so that they are the same bits in
 * builds that fuse the two. */
static void fill(struct sim_vec_block *b, int block)
{
    static const double special[] = {0, -0.0, M_PI, -M_PI, DBL_MIN, -1e-300, M_PI_2, -M_PI_4};
    double u = 0.5 + block * 0.0001;
    for (int k = 0; k < SIM_VEC_BLOCK; k++) {
        u = u + 0.6180339887498949 < 1 ? u + 0.6180339887498949 : u + 0.6180339887498949 - 1;
        double x = u;
        for (int i = 0; i < block % 3 * 8; i++)
            x *= block % 2 ? u : 1;
        x = block % 3 == 2 && block % 2 == 0 ? 1 - x * 0x1p-30 : x;
        b->M[k] = (k % 2 ? -M_PI : M_PI) * x;
    }
    if (block == 0)
        memcpy(b->M, special, sizeof special);
}

static uint64_t hash(uint64_t h, const void *data, size_t bytes) /* FNV-1a */
{
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    return h;
}

/* Checksum of what a variant makes of orbits of all eccentricities, bins of them included. */
static uint64_t checksum(const struct sim_vec *vec)
{
    static struct sim_vec_block b;
    static double x[SIM_VEC_BLOCK], y[SIM_VEC_BLOCK], row[SIM_VEC_BLOCK];
    uint64_t h = 0xcbf29ce484222325u;
    for (int k = 0; k < ECCENTRICITIES; k++)
        for (int block = 0; block < BLOCKS; block++) {
            const double e = eccentricities[k], step = 0.0123 * (1 + block) * (1 + block);
            fill(&b, block);
            if (block % 5 == 4) {
                vec->anomalies(&b, SIM_VEC_BLOCK, 5.1, step, 128.0 * k);
                vec->reduce(&b, SIM_VEC_BLOCK);
                h = hash(h, b.turns, sizeof b.turns);
            }
            assert_int_equal(vec->kepler(&b, SIM_VEC_BLOCK, e), 0);
            vec->combine(&b, SIM_VEC_BLOCK, e, 23.1, -7.3, 1.7, x);
            vec->combine(&b, SIM_VEC_BLOCK, e, 11.9, 17.3, -31, y);
            const long outside = vec->bin(SIM_VEC_BLOCK, x, y, 7000, 50, row);
            h = hash(h, &outside, sizeof outside);
            h = hash(h, row, sizeof row);
            h = hash(h, b.E, sizeof b.E);
            h = hash(h, b.cosine, sizeof b.cosine);
            h = hash(h, b.sine, sizeof b.sine);
            vec->sincos(SIM_VEC_BLOCK, x, b.sine, b.cosine);
            h = hash(h, b.sine, sizeof b.sine);
            h = hash(h, b.cosine, sizeof b.cosine);
        }
    return h;
}

/* The same number in every build, on every CPU: it holds for other compilers, levels of
 * optimisation and instruction sets, too. */
TEST(test_same_bits)
{
    int found = 0;
    assert_non_null(sim_vec_best());
    for (int v = 0; v < ORR_ISA_COUNT; v++) {
        const struct sim_vec *vec = sim_vec_here(v);
        if (!vec)
            continue;
        const uint64_t h = checksum(vec);
        print_message("%s: %016llx\n", orr_isa_name((enum orr_isa)v), (unsigned long long)h);
        assert_true(h == 0x39add44eae016cc2u);
        found++;
    }
    assert_true(found >= 1);
}

/* Residual in long double, and the sine and cosine of the E returned. */
TEST(test_kepler)
{
    static struct sim_vec_block b;
    const struct sim_vec *vec = sim_vec_best();
    double worst = 0, worst_sine = 0, worst_bracketed = 0, worst_root = 0;
    for (int k = 0; k < ECCENTRICITIES; k++)
        for (int block = 0; block < BLOCKS; block++) {
            const double e = eccentricities[k];
            fill(&b, block);
            assert_int_equal(vec->kepler(&b, SIM_VEC_BLOCK, e), 0);
            for (int i = 0; i < SIM_VEC_BLOCK; i++) {
                const long double E = b.E[i], slope = 1 - e * cosl(E);
                const double other = sim_kepler_bracketed(vec, b.M[i], e);
                worst = fmax(worst, (double)fabsl(E - e * sinl(E) - b.M[i]));
                worst_sine = fmax(worst_sine, (double)fabsl(b.sine[i] - sinl(E)));
                worst_sine = fmax(worst_sine, (double)fabsl(b.cosine[i] - cosl(E)));
                worst_bracketed =
                    fmax(worst_bracketed, fabs((double)(other - e * sinl(other) - b.M[i])));
                worst_root = fmax(worst_root, (double)(fabsl(E - other) * slope));
                assert_true(signbit(b.E[i]) == signbit(b.M[i]) || fabs(b.M[i]) < 1e-15);
            }
        }
    print_message("residual %.2g, sine and cosine %.2g; bracketed %.2g, difference %.2g\n", worst,
                  worst_sine, worst_bracketed, worst_root);
    assert_true(worst < 1e-15 && worst_sine < 4e-16);
    assert_true(worst_bracketed < 2e-15 && worst_root < 3e-15);
}

/* Where e is all but 1, lanes may miss, and the bracketed solver must find the root. */
TEST(test_almost_parabolic)
{
    static const double gaps[] = {1e-5, 1e-8, 1e-12, 0x1p-53};
    static struct sim_vec_block b;
    double worst = 0;
    size_t missed = 0;
    for (int g = 0; g < 4; g++)
        for (int block = 0; block < BLOCKS; block++) {
            const double e = 1 - gaps[g];
            fill(&b, block);
            missed += sim_vec_best()->kepler(&b, SIM_VEC_BLOCK, e);
            for (int i = 0; i < SIM_VEC_BLOCK; i++) {
                const long double E = sim_kepler_bracketed(sim_vec_best(), b.M[i], e);
                worst = fmax(worst, (double)fabsl(E - e * sinl(E) - b.M[i]));
                if (!isnan(b.E[i]))
                    worst = fmax(worst, (double)fabsl(b.E[i] - e * sinl(b.E[i]) - b.M[i]));
            }
        }
    print_message("1 - e <= 1e-5: residual %.2g, lanes missed %zu\n", worst, missed);
    assert_true(worst < 2e-15);
}

/* Near 0 the error stays relative, though the slope is only 1 - e there. */
TEST(test_relative_near_periapsis)
{
    static struct sim_vec_block b;
    const struct sim_vec *vec = sim_vec_best();
    for (int k = 0; k < SIM_VEC_BLOCK; k++)
        b.M[k] = 1e-9 / (1 + k * k);
    assert_int_equal(vec->kepler(&b, SIM_VEC_BLOCK, 0.999), 0);
    for (int k = 0; k < SIM_VEC_BLOCK; k++) { /* E = M / (1 - e) - ..., e and 1 - e as they are */
        const double slope = 1 - 0.999, linear = b.M[k] / slope;
        const double cubic = linear * (1 - 0.999 * linear * linear / (6 * slope));
        assert_true(fabs(b.E[k] / cubic - 1) < 1e-12);
        assert_true(fabs(b.sine[k] / b.E[k] - 1) < 1e-12);
    }
}

/* Lanes that do not converge are counted, marked, and leave the others alone. */
TEST(test_missed_lanes)
{
    static struct sim_vec_block b, clean;
    for (int v = 0; v < ORR_ISA_COUNT; v++) {
        const struct sim_vec *vec = sim_vec_here(v);
        if (!vec)
            continue;
        fill(&b, 1);
        fill(&clean, 1);
        b.M[3] = b.M[77] = NAN;
        assert_int_equal(vec->kepler(&b, SIM_VEC_BLOCK, 0.5), 2);
        assert_int_equal(vec->kepler(&clean, SIM_VEC_BLOCK, 0.5), 0);
        for (int i = 0; i < SIM_VEC_BLOCK; i++) {
            assert_int_equal(isnan(b.E[i]) != 0, i == 3 || i == 77);
            if (i != 3 && i != 77)
                assert_true(b.E[i] == clean.E[i] && b.sine[i] == clean.sine[i]);
        }
    }
}

TEST(test_sincos)
{
    enum { N = 100000 };
    static double x[N], s[N], c[N];
    double worst = 0, relative = 0;
    if (!has_long_double())
        skip();
    for (int i = 0; i < N; i++)
        x[i] = 8 * M_PI * (2.0 * i / (N - 1) - 1);
    for (int i = 0; i < 320; i++) /* multiples of pi / 4, where reduction is hardest, and small x */
        x[i] = i < 65 ? (i - 32) * M_PI_4 : ldexp(1.37, 65 - i);
    sim_vec_best()->sincos(N, x, s, c);
    for (int i = 0; i < N; i++) {
        worst = fmax(worst, (double)fabsl(s[i] - sinl(x[i])));
        worst = fmax(worst, (double)fabsl(c[i] - cosl(x[i])));
        if (fabs(x[i]) < M_PI_4 && x[i] != 0)
            relative = fmax(relative, (double)fabsl(s[i] / sinl(x[i]) - 1));
    }
    print_message("sine and cosine %.3g, sine relative to itself %.3g\n", worst, relative);
    assert_true(worst < 2e-16 && relative < 2.5e-16);
}

/* Up to 2^28 turns nothing is lost but the rounding of M and of turns * SIM_TURN_LOW; pi as the
 * long double has it, which differs between architectures. */
TEST(test_reduction)
{
    static struct sim_vec_block b;
    const long double turn = 6.28318530717958647692528676655900576839L;
    const long double share = LDBL_EPSILON + DBL_EPSILON * SIM_TURN_LOW / SIM_TURN_HIGH;
    if (!has_long_double())
        skip();
    for (int power = -3; power < 31; power++) {
        double M[SIM_VEC_BLOCK];
        for (int k = 0; k < SIM_VEC_BLOCK; k++)
            M[k] = b.M[k] = ldexp((k % 2 ? -1 : 1) * (1 + k / 128.0 * 0.9), power);
        sim_vec_best()->reduce(&b, SIM_VEC_BLOCK);
        for (int k = 0; k < SIM_VEC_BLOCK; k++) {
            assert_true(b.turns[k] == rint(b.turns[k]) && fabs(b.M[k]) <= M_PI * (1 + 1e-9));
            const long double exact = M[k] - b.turns[k] * turn;
            assert_true(fabsl(b.M[k] - exact) <= 5e-16L + share * fabsl(M[k]));
        }
    }
}

/* The same bins and counts as sim_bin, also of parts of groups, at edges and outside. */
TEST(test_bins)
{
    static const struct {
        int bins;
        double extent;
    } grids[] = {{7000, 50}, {200, 50}, {1, 2.385}, {65532, 1e-9}, {37, 1e9}};
    double x[48], y[48], row[48];
    for (int v = 0; v < ORR_ISA_COUNT; v++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
            for (size_t n = 0; n <= 41; n++) {
                const struct sim_vec *vec = sim_vec_here(v);
                const double extent = grids[g].extent;
                long expected = 0;
                if (!vec)
                    continue;
                for (size_t k = 0; k < 48; k++) {
                    x[k] = extent * ((double)k - 23.5) / 20;
                    y[k] = k % 3 ? -extent + 2 * extent * (double)k / grids[g].bins
                                 : nextafter(k % 2 ? extent : -extent, k % 4 ? 0 : x[k] * 9);
                }
                const long outside = vec->bin(n, x, y, grids[g].bins, extent, row);
                for (size_t k = 0; k < n; k++) {
                    const double column = sim_bin(x[k], grids[g].bins, extent, &expected);
                    const double line = sim_bin(y[k], grids[g].bins, extent, &expected);
                    assert_true(row[k] == column + 65536 * line);
                }
                assert_int_equal(outside, expected);
            }
}

/* Places are those of the states, for any number of steps, and shares of them. */
TEST(test_places)
{
    enum { N = 300 };
    static double states[4 * N], x[2][N + 8], y[2][N + 8];
    double *const to[2][SIM_AXES] = {{x[0], y[0]}, {x[1], y[1]}};
    const double share[2] = {0.7, -0.3}, origin[2] = {0.37, -2.1};
    const struct sim_elements el = {2.3, 0.83, 5.5, 4.4, false, false, 0, 0};
    for (size_t n = 0; n <= N; n += n < 20 ? 1 : 40) {
        assert_int_equal(sim_orbit_places(&el, 1.9, 0.0173, n, 2, share, origin, to), 0);
        assert_int_equal(sim_orbit_states(&el, 1.9, 0.0173, n, states), 0);
        for (size_t k = 0; k < n; k++)
            for (int i = 0; i < 2; i++) {
                assert_true(fabs(x[i][k] - origin[0] - share[i] * states[4 * k]) < 2e-15);
                assert_true(fabs(y[i][k] - origin[1] - share[i] * states[4 * k + 1]) < 2e-15);
            }
    }
    struct sim_elements bad = el;
    bad.e = 1;
    assert_int_equal(sim_orbit_places(&bad, 1, 1, 1, 2, share, origin, to), ORR_EDOM);
    error_names("eccentricity", "[0, 1)", NULL);
}

/* Place of a body at step k in long double; M = phase + motion dt k in double, as documented. */
static void exact_place(const struct sim_system *s, int body, size_t k, long double xy[2])
{
    const int i = body == s->planets ? 0 : body;
    const struct sim_elements *el = &s->orbit[i];
    const double total = s->mass[i] + s->star_mass;
    const double step = 2 * M_PI / sim_period_yr(el->a_au, total) * s->dt_yr;
    const long double e = el->e, M = remainderl(el->phase_rad + step * (double)k,
                                                6.283185307179586476925286766559L);
    long double low = M - e, high = M + e;
    for (int n = 0; n < 80; n++) {
        const long double middle = (low + high) / 2;
        if (middle - e * sinl(middle) > M)
            high = middle;
        else
            low = middle;
    }
    const long double x = el->a_au * (cosl(low) - e), y = el->a_au * sqrtl(1 - e * e) * sinl(low);
    const long double so = sinl(el->omega_rad), co = cosl(el->omega_rad);
    long double share = s->star_moves ? s->star_mass / total : 1;
    if (body == s->planets)
        share = s->star_moves ? -s->mass[0] / total : 0;
    xy[0] = s->com_au[0] + share * (co * x - so * y);
    xy[1] = s->com_au[1] + share * (so * x + co * y);
}

/* A token differs from that of long double only within 1e-11 AU of the edge of its bin. */
TEST(test_tokens_are_exact)
{
    static const enum sim_split splits[] = {SIM_SPLIT_TRAIN, SIM_SPLIT_TWO_BODY_TRAIN};
    struct orr_settings p;
    struct sim_sequence q;
    int off = 0;
    orr_settings_defaults(&p);
    p.seed = 29;
    p.orbits.train = 50;
    p.orbits.two_body_train = 40;
    for (int split = 0; split < 2; split++) {
        assert_int_equal(sim_sequence_create(&q, &p, splits[split]), 0);
        for (uint64_t index = 0; index < 20; index++) {
            struct sim_system s;
            assert_int_equal(sim_sequence_make(&q, &p, splits[split], index), 0);
            assert_int_equal(sim_system_draw(&p, splits[split], index, q.rng, &s), 0);
            for (size_t row = 1; row < 1000; row++) {
                const size_t bodies = (size_t)s.planets + 1;
                long double xy[2];
                exact_place(&s, (int)((row - 1) % bodies), (row - 1) / bodies, xy);
                for (int c = 0; c < 2; c++) {
                    const long double place = fminl(fmaxl((xy[c] + 50) * 70, 0), 6999.5L);
                    const long double bin = q.tokens[2 * row + (size_t)c];
                    off += bin != floorl(place);
                    assert_true(place > bin - 70e-11L && place < bin + 1 + 70e-11L);
                }
            }
        }
        sim_sequence_free(&q);
    }
    print_message("%d of 79920 tokens differ\n", off);
    assert_true(off <= 1);
}

/* Phases beyond any count of turns still give points of the ellipse; no number stays none. */
TEST(test_unreasonable)
{
    double states[4 * 20], one[4];
    struct sim_elements el = {1, 0.6, 0, 1e15, false, false, 0, 0}, turned = el;
    assert_int_equal(sim_orbit_states(&el, 1, 1e17, 20, states), 0);
    for (int k = 0; k < 20; k++) {
        const double x = states[4 * k] + 0.6, y = states[4 * k + 1] / 0.8;
        assert_true(fabs(x * x + y * y - 1) < 1e-14);
        turned.phase_rad = fmod(1e15 + 2 * M_PI * 1e17 * k, 2 * M_PI);
        assert_int_equal(sim_orbit_states(&turned, 1, 1, 1, one), 0);
        assert_true(hypot(states[4 * k] - one[0], states[4 * k + 1] - one[1]) < 1e-14);
    }
    el.phase_rad = NAN;
    assert_int_equal(sim_orbit_states(&el, 1, 1, 3, states), 0);
    assert_true(isnan(states[0]) && isnan(states[9]));
}

TESTS(NULL, NULL)
