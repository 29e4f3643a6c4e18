/* test_sequence.c - rows of a sequence: layout, bodies, labels, binning, compatibility switches. */
#include "base/scratch.h"
#include "sim.h"

#include <float.h>
#include <math.h>

#include <gsl/gsl_math.h>

static void tokens_preset(struct orr_settings *p)
{
    orr_settings_defaults(p);
    p->seed = 29;
    p->orbits.train = 50;
    p->orbits.two_body_train = 40;
}

static void continuous_preset(struct orr_settings *p)
{
    orr_settings_defaults(p);
    p->seed = 31;
    p->orbits.protocol = ORR_PROTOCOL_IDENTIFIABLE;
    p->orbits.output = ORR_OUTPUT_CONTINUOUS;
    p->orbits.mass_prior = ORR_MASS_UNIFORM;
    p->orbits.positions = 66; /* cuts the last time step in two */
    p->orbits.a_min_au = 0.7;
    p->orbits.a_max_au = 2.3;
    p->orbits.com_sigma_au = 0.37;
    p->orbits.two_body_train = 40;
    p->planets.enabled = true;
    p->planets.train = p->planets.val = 20;
    assert_int_equal(orr_settings_check(p), 0);
}

/* ------------------------------------------------------------------------------ binning */

TEST(test_binning)
{
    static const struct {
        int bins;
        double extent;
    } grids[] = {{7000, 50}, {200, 50}, {1, 2.385}, {65532, 1e-9}, {37, 1e9}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        const int bins = grids[g].bins;
        const double extent = grids[g].extent, width = 2 * extent / bins;
        long clipped = 0;
        for (int i = 0; i < bins; i++) { /* the middle of a bin comes back */
            const double x = -extent + (i + 0.5) * width;
            assert_int_equal(sim_bin(x, bins, extent, &clipped), i);
        }
        for (int i = 0; i < 1000; i++) { /* the bin's middle is within half a width */
            const double x = extent * (2 * ((i * 0.6180339887) - floor(i * 0.6180339887)) - 1);
            const double middle = -extent + (sim_bin(x, bins, extent, &clipped) + 0.5) * width;
            assert_true(fabs(x - middle) <= width * 0.5 * (1 + 1e-9));
        }
        assert_int_equal(sim_bin(-extent, bins, extent, &clipped), 0);
        assert_int_equal(sim_bin(extent, bins, extent, &clipped), bins - 1);
        assert_int_equal(sim_bin(nextafter(extent, 0), bins, extent, &clipped), bins - 1);
        assert_int_equal(clipped, 0);
        assert_int_equal(sim_bin(nextafter(extent, INFINITY), bins, extent, &clipped), bins - 1);
        assert_int_equal(sim_bin(nextafter(-extent, -INFINITY), bins, extent, &clipped), 0);
        assert_int_equal(sim_bin(1e300, bins, extent, &clipped), bins - 1);
        assert_int_equal(sim_bin(-1e300, bins, extent, &clipped), 0);
        assert_int_equal(clipped, 4);
    }
    assert_true(sim_token_dt_yr(7000, 7000) == 7 * 0.0027);
    assert_true(sim_token_dt_yr(7001, 7000) == 180 * 0.0027);
}

/* --------------------------------------------------------------------------- positions */

/* Places of all bodies from the drawn system, without the code under test: at[k][i] = x, y. */
static void place_bodies(const struct sim_system *s, size_t steps, double *at)
{
    static double orbit[4 * 1000];
    const size_t bodies = (size_t)s->planets + 1;
    for (int i = 0; i < s->planets; i++) {
        assert_int_equal(
            sim_orbit_states(&s->orbit[i], s->mass[i] + s->star_mass, s->dt_yr, steps, orbit), 0);
        for (size_t k = 0; k < steps; k++)
            for (size_t c = 0; c < 2; c++) {
                const double r = orbit[4 * k + c], share = s->mass[0] / (s->mass[0] + s->star_mass);
                double *planet = at + 2 * (k * bodies + (size_t)i) + c;
                double *star = at + 2 * (k * bodies + bodies - 1) + c;
                *star = s->com_au[c] - (s->planets == 1 ? share * r : 0);
                *planet = *star + r;
            }
    }
}

/* Every split of tokens: row 0 the step, planets in order, the sun last, cut at 1000 rows. */
TEST(test_token_rows)
{
    static double at[2 * 2000];
    struct orr_settings p;
    struct sim_sequence q;
    tokens_preset(&p);
    for (int split = 0; split <= SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY; split++) {
        const enum sim_split here = (enum sim_split)split;
        assert_int_equal(sim_sequence_create(&q, &p, here), 0);
        assert_int_equal(q.positions, 1000);
        assert_null(q.coords);
        const uint64_t count = GSL_MIN(sim_split_count(&p, here), 12);
        for (uint64_t index = 0; index < count; index++) {
            struct sim_system s;
            assert_int_equal(sim_sequence_make(&q, &p, here, index), 0);
            assert_int_equal(sim_system_draw(&p, here, index, q.rng, &s), 0);
            assert_int_equal(q.num_bodies, s.planets + 1);
            assert_int_equal(q.tokens[0], 7000 + s.dt_token);
            assert_int_equal(q.tokens[1], 7000 + s.dt_token);
            const int bodies = s.planets + 1;
            place_bodies(&s, (size_t)(999 / bodies + 1), at);
            int off = 0;
            long clipped = 0;
            for (int row = 1; row < 1000; row++)
                for (int c = 0; c < 2; c++) {
                    const double x = at[2 * (row - 1) + c];
                    const int bin = (int)floor((x + 50) * 70);
                    clipped += x < -50 || x > 50;
                    off += abs(q.tokens[2 * row + c] - GSL_MAX(0, GSL_MIN(bin, 6999)));
                }
            assert_true(off <= 1); /* the last bit of x at the edge of a bin */
            assert_int_equal(q.clipped, clipped);
        }
        sim_sequence_free(&q);
    }
}

/* A narrow extent clips, and the count is right. */
TEST(test_clipping_is_counted)
{
    struct orr_settings p;
    struct sim_sequence q;
    long clipped = 0;
    tokens_preset(&p);
    p.orbits.extent_au = 7;
    p.orbits.bins = 100;
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_VAL), 0);
    for (uint64_t index = 0; index < 20; index++) {
        static double at[2 * 2000];
        struct sim_system s;
        long outside = 0;
        assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_VAL, index), 0);
        assert_int_equal(sim_system_draw(&p, SIM_SPLIT_VAL, index, q.rng, &s), 0);
        place_bodies(&s, (size_t)(999 / (s.planets + 1) + 1), at);
        for (int i = 0; i < 2 * 999; i++)
            outside += fabs(at[i]) > 7;
        assert_int_equal(q.clipped, outside);
        clipped += outside;
    }
    assert_true(clipped > 1000);
    sim_sequence_free(&q);
}

/* Coordinates: ln dt in row 0, then both bodies; the barycentre stands still. */
TEST(test_coordinate_rows)
{
    static double at[2 * 100];
    struct orr_settings p;
    struct sim_sequence q;
    continuous_preset(&p);
    for (int split = 0; split <= SIM_SPLIT_TWO_BODY_TEST; split++) {
        assert_int_equal(sim_sequence_create(&q, &p, (enum sim_split)split), 0);
        assert_null(q.tokens);
        for (uint64_t index = 0; index < 20; index++) {
            struct sim_system s;
            assert_int_equal(sim_sequence_make(&q, &p, (enum sim_split)split, index), 0);
            assert_int_equal(sim_system_draw(&p, (enum sim_split)split, index, q.rng, &s), 0);
            assert_true(q.coords[0] == (float)log(0.04) && q.coords[1] == 0 && q.scale == 1);
            place_bodies(&s, 33, at);
            for (int i = 0; i < 2 * 65; i++)
                assert_true(fabs((double)q.coords[2 + i] - at[i]) <= FLT_EPSILON * fabs(at[i]));
            const double m1 = s.mass[0], m2 = s.star_mass;
            for (int k = 0; k < 32; k++)
                for (int c = 0; c < 2; c++) {
                    const double x1 = q.coords[2 + 4 * k + c], x2 = q.coords[4 + 4 * k + c];
                    assert_true(fabs((m1 * x1 + m2 * x2) / (m1 + m2) - s.com_au[c]) < 1e-6);
                }
        }
        sim_sequence_free(&q);
    }
}

/* ------------------------------------------------------------------------------ labels */

/* A labelled row: r and the force from its own state; the vector points to the other body. */
static void check_label(const struct sim_sequence *q, size_t row)
{
    const float *s = q->full_state + 6 * row, *f = q->force_vector + 2 * row;
    const double r2 = (double)s[0] * s[0] + (double)s[1] * s[1];
    const double F = 4 * M_PI * M_PI * (double)s[4] * (double)s[5] / r2;
    assert_true(fabs((double)q->force_magnitude[row] / F - 1) < 1e-6);
    assert_true(fabs(hypot((double)f[0], (double)f[1]) / F - 1) < 1e-6);
    assert_true(fabs((double)f[0] * s[1] - (double)f[1] * s[0]) < 1e-6 * F * sqrt(r2));
    assert_true((double)f[0] * s[0] + (double)f[1] * s[1] < 0);
}

static bool unlabelled(const struct sim_sequence *q, size_t row)
{
    const float a = q->force_magnitude[row], *b = q->force_vector + 2 * row;
    assert_true((isinf(a) && a > 0) == (isinf(b[0]) && isinf(b[1]) && b[0] > 0 && b[1] > 0));
    return isinf(a);
}

static bool all_zero(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0)
            return false;
    return true;
}

/* Tokens: planet rows carry state and label, sun rows m2 alone, row 0 nothing. */
TEST(test_token_labels)
{
    static const enum sim_split splits[] = {SIM_SPLIT_TWO_BODY_TRAIN, SIM_SPLIT_TWO_BODY_TEST,
                                            SIM_SPLIT_SOLAR_SYSTEM,
                                            SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY};
    struct orr_settings p;
    struct sim_sequence q;
    tokens_preset(&p);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sim_sequence_create(&q, &p, splits[i]), 0);
        assert_int_equal(sim_sequence_make(&q, &p, splits[i], 0), 0);
        const size_t bodies = (size_t)q.num_bodies;
        assert_true(all_zero(q.full_state, 6) && all_zero(q.state, 5) && unlabelled(&q, 0));
        for (size_t row = 1; row < 1000; row++) {
            const float *s = q.full_state + 6 * row, *t = q.state + 5 * row;
            if ((row - 1) % bodies == bodies - 1) {
                assert_true(all_zero(s, 5) && s[5] > 0 && all_zero(t, 5) && unlabelled(&q, row));
                continue;
            }
            assert_false(unlabelled(&q, row));
            check_label(&q, row);
            assert_memory_equal(s, t, 4 * sizeof *s);
            assert_true(fabsf(t[4] / (s[4] / s[5]) - 1) < 3e-7f);
        }
        sim_sequence_free(&q);
    }
}

/* Coordinates: on the last body's row, from step 8 on; the state is the difference of what the
 * two rows of the step show. */
TEST(test_coordinate_labels)
{
    struct orr_settings p;
    struct sim_sequence q;
    continuous_preset(&p);
    for (int from = 0; from < 9; from += 8) {
        p.orbits.label_from_step = from;
        assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TWO_BODY_VAL), 0);
        assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_TWO_BODY_VAL, 5), 0);
        for (size_t row = 0; row < 66; row++) {
            const float *s = q.full_state + 6 * row, *t = q.state + 5 * row;
            const bool last = row > 0 && row % 2 == 0;
            assert_int_equal(unlabelled(&q, row), !(last && (row - 1) / 2 >= (size_t)from));
            if (!last) {
                assert_true(all_zero(s, 6) && all_zero(t, 5));
                continue;
            }
            for (size_t c = 0; c < 2; c++)
                assert_true(fabsf(q.coords[2 * row - 2 + c] - q.coords[2 * row + c] - s[c]) <
                            1e-6f);
            assert_true(s[4] > 0 && s[5] > 0 && fabsf(t[4] / (s[4] / s[5]) - 1) < 3e-7f);
            assert_memory_equal(s, t, 4 * sizeof *s);
            if (!unlabelled(&q, row))
                check_label(&q, row);
        }
        sim_sequence_free(&q);
    }
}

/* The last tenth of the force training set has two labels each, spread over the rows. */
TEST(test_two_labels)
{
    struct orr_settings p;
    struct sim_sequence q;
    size_t sum = 0;
    tokens_preset(&p);
    p.orbits.two_body_train = 333; /* 33 of them */
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TWO_BODY_TRAIN), 0);
    for (uint64_t index = 295; index < 333; index++) {
        size_t labels = 0;
        assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_TWO_BODY_TRAIN, index), 0);
        for (size_t row = 0; row < 1000; row++)
            if (!unlabelled(&q, row)) {
                labels++;
                check_label(&q, row);
                sum += index >= 300 ? row : 0;
            }
        assert_int_equal(labels, index < 300 ? 500 : 2);
    }
    /* the mean row of 66 draws from 1, 3, .. 999: 5 standard errors */
    assert_true(fabs((double)sum / 66 - 500) < 5 * 1000 / sqrt(12 * 66));
    sim_sequence_free(&q);
}

/* ------------------------------------------------------------------ published behaviour */

TEST(test_compatibility)
{
    struct orr_settings p, v, r;
    struct sim_sequence a, b, c;
    double radial = 0, moved = 0;
    tokens_preset(&p);
    v = r = p;
    v.orbits.compat_velocity_sign = true;
    r.orbits.compat_relative_state = true;
    const enum sim_split split = SIM_SPLIT_SOLAR_SYSTEM_TWO_BODY;
    assert_int_equal(sim_sequence_create(&a, &p, split), 0);
    assert_int_equal(sim_sequence_create(&b, &v, split), 0);
    assert_int_equal(sim_sequence_create(&c, &r, split), 0);
    for (uint64_t index = 0; index < 8; index++) {
        assert_int_equal(sim_sequence_make(&a, &p, split, index), 0);
        assert_int_equal(sim_sequence_make(&b, &v, split, index), 0);
        assert_int_equal(sim_sequence_make(&c, &r, split, index), 0);
        assert_memory_equal(a.tokens, b.tokens, 4000);
        assert_memory_equal(a.tokens, c.tokens, 4000);
        assert_memory_equal(a.force_vector, b.force_vector, 8000);
        assert_memory_equal(a.force_vector, c.force_vector, 8000);
        for (size_t row = 1; row < 1000; row += 2) {
            const float *s = a.full_state + 6 * row, *f = b.full_state + 6 * row;
            const float *g = c.full_state + 6 * row;
            const double x = s[0], y = s[1], m = (double)s[4] / ((double)s[4] + (double)s[5]);
            /* r . v changes its sign, r x v does not */
            const double dot = x * s[2] + y * s[3], scale = hypot(x, y) * hypot(s[2], s[3]);
            assert_true(fabs(dot + x * f[2] + y * f[3]) < 1e-6 * scale);
            assert_true(fabs(x * s[3] - y * s[2] - x * f[3] + y * f[2]) < 1e-6 * scale);
            radial = fmax(radial, fabs(dot) / scale);
            assert_memory_equal(s, f, 2 * sizeof *s);
            /* planet(t) - star(0) = r(t) + (m1 / M) (r(0) - r(t)) */
            const double first[2] = {a.full_state[6], a.full_state[7]};
            for (int k = 0; k < 2; k++) {
                const double expected = s[k] + m * (first[k] - s[k]);
                assert_true(fabs(g[k] - expected) < 2e-7 * hypot(x, y));
                moved = fmax(moved, fabs(g[k] - s[k]));
            }
            assert_memory_equal(s + 2, g + 2, 4 * sizeof *s);
        }
    }
    assert_true(radial > 0.1 && moved > 1e-3); /* both switches did something */
    sim_sequence_free(&a);
    sim_sequence_free(&b);
    sim_sequence_free(&c);
}

/* Without the switch, velocities are the slopes of positions (Mercury: radial parts of 20%). */
TEST(test_velocity_is_the_slope)
{
    struct orr_settings p;
    struct sim_sequence q;
    continuous_preset(&p);
    p.planets.samples_per_orbit = 400;
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_PLANETS_SOLAR), 0);
    assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_PLANETS_SOLAR, 0), 0);
    const double dt = exp((double)q.coords[0]);
    for (size_t row = 4; row + 2 < 97; row += 2) {
        const float *s = q.full_state + 6 * row;
        for (int c = 0; c < 2; c++) {
            const double slope = ((double)s[12 + c] - (double)s[c - 12]) / (2 * dt);
            assert_true(fabs(slope - (double)s[2 + c]) < 1e-3 * hypot(s[2], s[3]));
        }
    }
    sim_sequence_free(&q);
}

/* ------------------------------------------------------------------------- planet runs */

/* Scaled by the first separation, 48 steps, one whole orbit of each planet with 40 samples. */
TEST(test_planet_runs)
{
    struct orr_settings p;
    struct sim_sequence q;
    continuous_preset(&p);
    p.orbits.com_sigma_au = 0;
    assert_true(p.planets.samples_per_orbit >= 40 && p.planets.steps >= 48);
    for (int split = SIM_SPLIT_PLANETS_TRAIN; split <= SIM_SPLIT_PLANETS_TEST; split++) {
        assert_int_equal(sim_sequence_create(&q, &p, (enum sim_split)split), 0);
        assert_int_equal(q.positions, 97);
        assert_int_equal(q.full_state != NULL, split == SIM_SPLIT_PLANETS_SOLAR);
        for (uint64_t index = 0; index < 8; index++) {
            struct sim_system s;
            assert_int_equal(sim_sequence_make(&q, &p, (enum sim_split)split, index), 0);
            assert_int_equal(sim_system_draw(&p, (enum sim_split)split, index, q.rng, &s), 0);
            const float *x = q.coords;
            assert_true(fabs((double)x[0] - log(s.dt_yr)) < 1e-6);
            assert_true(fabs(hypot((double)x[2] - x[4], (double)x[3] - x[5]) - 1) < 1e-6);
            const double a = s.orbit[0].a_au, e = s.orbit[0].e, scale = (double)q.scale;
            assert_true(scale > a * (1 - e) * (1 - 1e-6) && scale < a * (1 + e) * (1 + 1e-6));
            if (split != SIM_SPLIT_PLANETS_SOLAR)
                continue;
            for (size_t i = 2; i < 6; i++) /* step 40 is step 0: the orbit closes */
                assert_true(fabsf(x[i] - x[i + 160]) < 1e-5f);
            for (size_t k = 0; k < 48; k++) { /* states are in AU */
                const float *full = q.full_state + 6 * (2 + 2 * k);
                for (size_t c = 0; c < 2; c++)
                    assert_true(fabs(scale * (x[2 + 4 * k + c] - x[4 + 4 * k + c]) - full[c]) <
                                1e-6 * scale);
                assert_int_equal(unlabelled(&q, 2 + 2 * k), k < 8);
                if (k >= 8)
                    check_label(&q, 2 + 2 * k);
            }
        }
        sim_sequence_free(&q);
    }
}

/* Smallest sequences of most bodies, and reuse: earlier contents never show. */
TEST(test_awkward_sizes)
{
    struct orr_settings p;
    struct sim_sequence q, fresh;
    tokens_preset(&p);
    p.orbits.positions = 5;
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TWO_BODY_TRAIN), 0);
    for (uint64_t index = 40; index-- > 0;) {
        assert_int_equal(sim_sequence_create(&fresh, &p, SIM_SPLIT_TWO_BODY_TRAIN), 0);
        assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_TWO_BODY_TRAIN, index), 0);
        assert_int_equal(sim_sequence_make(&fresh, &p, SIM_SPLIT_TWO_BODY_TRAIN, index), 0);
        assert_memory_equal(q.tokens, fresh.tokens, 20);
        assert_memory_equal(q.full_state, fresh.full_state, 120);
        assert_memory_equal(q.force_vector, fresh.force_vector, 40);
        sim_sequence_free(&fresh);
    }
    sim_sequence_free(&q);
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TRAIN), 0);
    for (uint64_t index = 0; index < 50; index++)
        assert_int_equal(sim_sequence_make(&q, &p, SIM_SPLIT_TRAIN, index), 0);
    sim_sequence_free(&q);
    sim_sequence_free(&q);
}

/* No sequence is simulated in place of imported tracks. */
TEST(test_tracks_are_not_simulated)
{
    struct orr_settings p;
    struct sim_sequence q;
    continuous_preset(&p);
    strcpy(p.tracks, "folder/of_mine");
    for (int split = 0; split < SIM_SPLITS; split++)
        assert_int_equal(sim_sequence_create(&q, &p, (enum sim_split)split), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "folder/of_mine: imported tracks: making a sequence needs "
                                        "simulated orbits"));
    orr_error_clear();
    *p.tracks = '\0';
    assert_int_equal(sim_sequence_create(&q, &p, SIM_SPLIT_TRAIN), 0);
    sim_sequence_free(&q);
}

TESTS(NULL, NULL)
