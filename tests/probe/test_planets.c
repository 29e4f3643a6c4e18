/* test_planets.c - what probe planets measures, on the simulator's own planets in the place of the
 * real ones: next positions as the evaluation of planet runs has them, forces as the run's table.
 * */
#include "probe/asked.h"

#include "probe/planets/planets.h"

static struct probe_arena arena;

#define assert_near(found, expected, tolerance)                                                    \
    assert_true(fabs((found) - (expected)) <= (tolerance))

static struct orr_settings settings;
static double shift_steps; /* a planet that starts so many steps later on its orbit */

static struct sim_system system_of(int planet)
{
    struct sim_system drawn;
    gsl_rng *rng = gsl_rng_alloc(orr_rng_philox);
    assert_int_equal(
        sim_system_draw(&settings, SIM_SPLIT_PLANETS_SOLAR, (uint64_t)planet, rng, &drawn), 0);
    gsl_rng_free(rng);
    return drawn;
}

static int simulated(int planet, double t_yr, double place[3])
{
    const struct sim_system s = system_of(planet);
    double state[8];
    t_yr += shift_steps * s.dt_yr;
    assert_int_equal(sim_orbit_states(&s.orbit[0], s.mass[0] + 1, t_yr, 2, state), 0);
    place[0] = state[4], place[1] = state[5], place[2] = 0;
    return 0;
}

static void make_tracks(struct probe_track track[PROBE_PLANETS])
{
    for (int i = 0; i < PROBE_PLANETS; i++) {
        const struct sim_system s = system_of(i);
        assert_int_equal(probe_track_make(&arena, &track[i], 2, i, s.mass[0],
                                          settings.planets.steps, 40, s.dt_yr, simulated),
                         0);
    }
}

/* The same error as gpt_evaluate_next_state() has of these sequences. */
TEST(test_next_places)
{
    struct probe_track track[PROBE_PLANETS];
    struct gpt_config config;
    struct gpt_model model;
    struct gpt_source *source;
    struct gpt_next_state expected;
    double error[PROBE_PLANETS], mean = 0, stays = 0;
    tiny_preset(&settings, false);
    shift_steps = 0;
    const int P = sim_split_positions(&settings, SIM_SPLIT_PLANETS_SOLAR);
    assert_int_equal(gpt_config_from_preset(&config, &settings, "softmax", P), 0);
    config.init_std = 0.3;
    assert_int_equal(gpt_create(&model, &config, &k_ref, 3), 0);
    assert_int_equal(
        gpt_source_open(&source, &settings, NULL, SIM_SPLIT_PLANETS_SOLAR, &model.config), 0);
    assert_int_equal(gpt_evaluate_next_state(&model, source, PROBE_PLANETS, 0, &expected), 0);
    make_tracks(track);
    const int held_out = (P - 2) / 2;
    assert_int_equal(probe_planets_errors(&model, track, P - 1, held_out, error), 0);
    for (int i = 0; i < PROBE_PLANETS; i++) {
        mean += error[i] / PROBE_PLANETS;
        for (int k = 1; k <= held_out; k++)
            stays += probe_track_stays(&track[i], k) / held_out / PROBE_PLANETS;
    }
    assert_near(mean / expected.teacher_forced, 1, 1e-6);
    assert_near(stays / expected.persistence, 1, 1e-6);
    probe_rewind(&arena, 0);
    gpt_source_close(source);
    gpt_free(&model);
}

/* The rows of a probe of forces with the run's own head at these tracks. */
static void measure(struct probe_planets *p, const struct tiny *tiny)
{
    static const struct probe_options options = {.ops = &k_ref};
    *p = (struct probe_planets){.s.options = &options, .axes = 2, .T = 2 * settings.planets.steps};
    p->s.probe.settings = settings;
    p->arrows.first = settings.orbits.label_from_step;
    p->arrows.count = settings.planets.steps - 1 - p->arrows.first;
    tiny_path(p->arrows.path[0], tiny, "untrained", "vector.safetensors");
    assert_int_equal(probe_resamples_create(&p->s.arena, &p->s.resamples, 3, PROBE_PLANETS), 0);
    make_tracks(p->real);
    assert_int_equal(probe_arrows_measure(p), 0);
}

static void done(struct probe_planets *p)
{
    probe_rewind(&arena, 0);
    probe_rewind(&p->s.arena, 0);
    probe_results_free(&p->s.results);
}

static double row_of(const struct probe_planets *p, const char *quantity, const char *measure_of,
                     double *raw)
{
    for (size_t i = 0; i < p->s.results.table.count; i++) {
        const struct orr_row *row = &p->s.results.table.row[i];
        if (strcmp(row->quantity, quantity) != 0 || strcmp(row->measure, measure_of) != 0)
            continue;
        *raw = row->raw;
        return row->value;
    }
    fail_msg("no row of %s, %s", quantity, measure_of);
    return NAN;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* On the orbits that the head was fine-tuned on: truth and predictions of forces_vector.csv. */
static void check_table(const struct probe_planets *p, const char *path)
{
    char line[512], name[64];
    double cosine = 0, mean_raw = NAN, error[64];
    int planet, step, labelled, rows = 0, of_mars = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        double x, y, truth[2], f[2], found_truth[2], found[2];
        assert_int_equal(sscanf(line, "%d,%63[^,],%d,%lf,%lf,%lf,%lf,%lf,%lf,%d", &planet, name,
                                &step, &x, &y, &truth[0], &truth[1], &f[0], &f[1], &labelled),
                         10);
        if (planet >= PROBE_PLANETS)
            continue;
        probe_arrows_truth(p, planet, step, found_truth);
        probe_arrows_at(p, 0, planet, step, found);
        assert_near(p->real[planet].state[4 * step], x, 1e-5 * (1 + fabs(x)));
        for (int c = 0; c < 2; c++) {
            assert_near(found_truth[c], truth[c], 1e-5);
            assert_near(found[c], f[c], 1e-4);
        }
        rows++;
        if (planet != 3)
            continue;
        const double size = hypot(f[0], f[1]), true_size = hypot(truth[0], truth[1]);
        cosine += (f[0] * truth[0] + f[1] * truth[1]) / (size * true_size) / p->arrows.count;
        error[of_mars++] = fabs(size - true_size) / true_size;
    }
    fclose(file);
    assert_int_equal(rows, PROBE_PLANETS * p->arrows.count);
    assert_near(row_of(p, "force, Mars", "cosine", &mean_raw), cosine, 1e-4);
    assert_near(mean_raw, 1, 1e-12); /* towards the Sun */
    assert_int_equal(of_mars, 19);
    qsort(error, 19, sizeof *error, ascending);
    assert_near(row_of(p, "force, Mars", "error of size", &mean_raw), error[9], 1e-4);
    assert_true(mean_raw < 0.4 && mean_raw != error[9]);
}

/* What a model sees does not tell how large the first distance is: the force there is the same
 * number wherever on its orbit the planet starts. */
static void check_shifted(const struct probe_planets *p, const struct probe_planets *shifted)
{
    for (int i = 0; i < PROBE_PLANETS; i++) {
        double f[2], g[2];
        const double *a = p->real[i].state, *b = shifted->real[i].state;
        probe_arrows_truth(p, i, 0, f);
        probe_arrows_truth(shifted, i, 0, g);
        assert_near(hypot(g[0], g[1]) / hypot(f[0], f[1]), 1, 1e-6);
        /* towards the Sun */
        assert_near((f[0] * a[0] + f[1] * a[1]) / hypot(f[0], f[1]) / hypot(a[0], a[1]), -1, 1e-12);
        assert_near((g[0] * b[0] + g[1] * b[1]) / hypot(g[0], g[1]) / hypot(b[0], b[1]), -1, 1e-12);
    }
}

TEST(test_forces)
{
    struct tiny tiny;
    struct probe_planets *p = calloc(2, sizeof *p);
    char path[4096];
    assert_non_null(p);
    tiny_preset(&tiny.settings, false);
    tiny.settings.finetune.vector.ema = 0.9; /* predictions are those of averaged weights */
    tiny.settings.finetune.vector.lr = 0.03;
    tiny_open(&tiny);
    settings = tiny.settings;
    assert_int_equal(ft_vector_model(&tiny.run, "untrained", "softmax", NULL), 0);
    shift_steps = 0;
    measure(&p[0], &tiny);
    tiny_path(path, &tiny, "untrained", "forces_vector.csv");
    check_table(&p[0], path);
    shift_steps = 7.3;
    measure(&p[1], &tiny);
    check_shifted(&p[0], &p[1]);
    done(&p[0]);
    done(&p[1]);
    free(p);
    tiny_close(&tiny);
}

TESTS(NULL, NULL)
