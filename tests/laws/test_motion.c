/* test_motion.c - laws of motion: forces between bodies from their positions alone, for every law
 * of sim/law.c. Tolerances are standard errors that follow from the noise. */
#include "symreg/motion/decide.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "laws/analysis.h"
#include "sim/sim.h"
#include "symreg/motion/arcs.h"
#include "testing.h"

enum { SYSTEMS = 20, STEPS = 40, TERMS = 4 };

struct made {
    struct sr_tracks tracks;
    struct sr_motion_table table;
    char system[SYSTEMS][8];
};

/* Two tracks of each sequence of preset quick's prior; noise: standard deviation of every
 * coordinate, AU. */
static void make(struct made *made, const struct orr_settings *settings, double noise)
{
    size_t rows[2 * SYSTEMS];
    struct sim_sequence s;
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 43);
    *made = (struct made){.tracks.file = "positions"};
    for (size_t k = 0; k < 2 * SYSTEMS; k++)
        rows[k] = STEPS;
    assert_int_equal(sr_tracks_create(&made->tracks, 2, 2 * SYSTEMS, rows), 0);
    assert_int_equal(sim_sequence_create(&s, settings, SIM_SPLIT_TWO_BODY_TEST), 0);
    for (size_t k = 0; k < 2 * SYSTEMS; k++) {
        struct sr_track *track = &made->tracks.track[k];
        const size_t body = k % 2;
        if (body == 0)
            assert_int_equal(sim_sequence_make(&s, settings, SIM_SPLIT_TWO_BODY_TEST, k / 2), 0);
        snprintf(made->system[k / 2], sizeof made->system[0], "%zu", k / 2);
        track->system = made->system[k / 2];
        track->mass = (double)s.full_state[6 * 2 + 4 + body];
        for (size_t i = 0; i < STEPS; i++) {
            track->t[i] = (double)i * orr_exp((double)s.coords[0]);
            for (size_t d = 0; d < 2; d++)
                track->x[d * STEPS + i] =
                    (double)s.coords[2 * (1 + 2 * i + body) + d] + gsl_ran_gaussian(rng, noise);
        }
    }
    sim_sequence_free(&s);
    gsl_rng_free(rng);
    assert_int_equal(sr_motion_make(&made->tracks, NULL, 2, &made->table), 0);
}

static void unmake(struct made *made)
{
    sr_motion_free(&made->table);
    sr_tracks_free(&made->tracks);
}

/* ln of F over the law's is a + b ln r + c ln m1 + d ln m2: b, c, d are errors of exponents, which
 * are to be 0 within their standard errors. */
static void fit_exponents(const struct sr_motion_table *table, const struct sim_dynamics *d,
                          double exponent[TERMS], double error[TERMS])
{
    double A[TERMS * TERMS] = {0};
    memset(exponent, 0, TERMS * sizeof *exponent);
    for (size_t i = 0; i < table->count; i++) {
        const struct sr_motion_row *row = &table->row[i];
        const double x[TERMS] = {1, log(row->r), log(row->m1), log(row->m2)};
        const double law = d->law->force(&d->params, row->m1, row->m2, row->r);
        const double w = row->value > 0 && law > 0 ? pow(row->value / row->sigma, 2) : 0;
        for (size_t j = 0; j < TERMS && w > 0; j++) {
            for (size_t k = 0; k < TERMS; k++)
                A[j * TERMS + k] += w * x[j] * x[k];
            exponent[j] += w * x[j] * log(row->value / law);
        }
    }
    assert_true(sr_cholesky(A, TERMS, TERMS, 0));
    sr_cholesky_solve(A, TERMS, TERMS, exponent);
    for (size_t k = 0; k < TERMS; k++) {
        double work[TERMS];
        error[k] = sqrt(sr_cholesky_inverse(A, TERMS, TERMS, k, work));
    }
}

static double median_noise(const struct sr_tracks *tracks)
{
    double noise[2 * SYSTEMS];
    for (size_t k = 0; k < 2 * SYSTEMS; k++)
        noise[k] = tracks->track[k].noise;
    return orr_median(noise, 2 * SYSTEMS);
}

/* Exponents to 4 of their standard errors, and the largest that a standard error may be. */
static void law_holds(const char *const settings[3], double noise, double largest)
{
    struct orr_settings given;
    struct sim_dynamics dynamics;
    struct made made;
    double exponent[TERMS], error[TERMS];
    assert_int_equal(orr_settings_load(&given, "quick"), 0);
    assert_int_equal(orr_settings_set(&given, "orbits.positions=81"), 0);
    if (noise > 0.005) /* a periapsis that few noisy samples see errs by more: docs/motion.md */
        assert_int_equal(orr_settings_set(&given, "orbits.e_max=0.6"), 0);
    for (int k = 0; k < 3 && settings[k]; k++)
        assert_int_equal(orr_settings_set(&given, settings[k]), 0);
    assert_int_equal(sim_dynamics_create(&dynamics, &given), 0);
    make(&made, &given, noise);
    assert_true(made.table.force);
    assert_true(made.table.count > 100);
    fit_exponents(&made.table, &dynamics, exponent, error);
    for (int k = 1; k < TERMS; k++) {
        if (!(fabs(exponent[k]) < 4 * error[k]) || !(error[k] < largest))
            print_message("%s, noise %g: exponent %d off by %g +- %g\n", settings[0], noise, k,
                          exponent[k], error[k]);
        assert_true(fabs(exponent[k]) < 4 * error[k]);
        assert_true(error[k] < largest);
    }
    if (noise > 0)
        assert_true(fabs(median_noise(&made.tracks) / noise - 1) < 0.1);
    unmake(&made);
    sim_dynamics_free(&dynamics);
}

static const char *const laws[][3] = {{"orbits.law=newton"},
                                      {"orbits.law=power", "orbits.law_exponent=-1"},
                                      {"orbits.law=power", "orbits.law_exponent=-2.5"},
                                      {"orbits.law=yukawa"},
                                      {"orbits.law=mond", "orbits.law_a0=9.869604401089358"},
                                      {"orbits.law=plummer", "orbits.law_softening_au=0.5"},
                                      {"orbits.law=post_newtonian"},
                                      {"orbits.law=hooke"},
                                      {"orbits.law=lambda", "orbits.law_constant=0.5"}};
enum { LAWS = sizeof laws / sizeof *laws };

/* The law of a run, or a multiple of it. */
struct multiple {
    const struct sim_dynamics *d;
    double factor;
};

static double multiple_of(void *context, double r, double m1, double m2)
{
    const struct multiple *m = context;
    return m->factor * m->d->law->force(&m->d->params, m1, m2, r);
}

/* The largest distance of the positions from the law's, over the sizes of the tracks, median of the
 * tracks. Of two bodies the second one moves relative to the first, which has no model. */
static double distance_from_model(const struct made *made, struct multiple *of, size_t most)
{
    const size_t values = (size_t)made->tracks.dims * STEPS;
    double *model = orr_alloc(2 * SYSTEMS * values, sizeof *model), largest[2 * SYSTEMS] = {0};
    const struct sr_motion_law law = {multiple_of, of};
    assert_non_null(model);
    assert_int_equal(sr_motion_model(&made->tracks, NULL, &made->table, &law, most, model), 0);
    size_t models = 0;
    for (size_t k = 0; k < 2 * SYSTEMS; k++) {
        const bool is = isfinite(model[k * values]);
        assert_true(!is || (k % 2 && k < most));
        for (size_t i = k * values; i < (k + 1) * values; i++) {
            const struct sr_track *track = &made->tracks.track[k];
            assert_true(isfinite(model[i]) == is);
            if (is)
                largest[models] =
                    fmax(largest[models], fabs(track->x[i - k * values] - model[i]) / track->size);
        }
        models += is;
    }
    free(model);
    assert_true(models > most / 4); /* a system whose forces are noise has none */
    return orr_median(largest, models);
}

/* The law's positions are those of the file; those of a law that is wrong by 10% are not, and
 * bodies beyond those asked for have none. */
TEST(models_follow_their_law)
{
    struct orr_settings settings;
    struct sim_dynamics dynamics;
    struct made made;
    struct multiple of = {&dynamics, 1};
    assert_int_equal(orr_settings_load(&settings, "quick"), 0);
    assert_int_equal(orr_settings_set(&settings, "orbits.positions=81"), 0);
    assert_int_equal(orr_settings_set(&settings, "orbits.e_max=0.6"), 0);
    assert_int_equal(sim_dynamics_create(&dynamics, &settings), 0);
    make(&made, &settings, 0);
    const double right = distance_from_model(&made, &of, 2 * SYSTEMS);
    of.factor = 1.1;
    const double wrong = distance_from_model(&made, &of, 2 * SYSTEMS);
    distance_from_model(&made, &of, 6);
    if (!(right < 1e-4) || !(wrong > 0.02))
        fail_msg("the law is %g from its tracks, 1.1 times the law %g", right, wrong);
    unmake(&made);
    sim_dynamics_free(&dynamics);
}

TEST(every_law_without_noise)
{
    for (int k = 0; k < LAWS; k++)
        law_holds(laws[k], 0, 1e-3);
}

TEST(every_law_with_noise_of_a_thousandth)
{
    for (int k = 0; k < LAWS; k++)
        law_holds(laws[k], 0.001, 0.02);
}

TEST(every_law_with_noise_of_a_hundredth)
{
    for (int k = 0; k < LAWS; k++)
        law_holds(laws[k], 0.01, 0.1);
}

/* ---- laws judged by the tracks */

static const char *const columns[] = {"r", "m1", "m2"};

static void prepare(struct orr_settings *settings, const char *const law[3])
{
    static const char *const searched[] = {"orbits.positions=81", "symreg.binary=+,*,/",
                                           "symreg.unary=exp,sqrt", "symreg.maxsize=24",
                                           "symreg.loss=l2"};
    assert_int_equal(orr_settings_load(settings, "quick"), 0);
    for (size_t k = 0; k < sizeof searched / sizeof *searched; k++)
        assert_int_equal(orr_settings_set(settings, searched[k]), 0);
    for (int k = 0; k < 3 && law[k]; k++)
        assert_int_equal(orr_settings_set(settings, law[k]), 0);
}

/* The table as the search has it: (5, rows) r, m1, m2, value, weight. */
static struct sr_data data_of(const struct sr_motion_table *table, double *x, double low[3],
                              double high[3])
{
    const size_t n = table->count;
    for (size_t i = 0; i < n; i++) {
        const struct sr_motion_row *row = &table->row[i];
        const double at[3] = {row->r, row->m1, row->m2};
        for (size_t f = 0; f < 3; f++) {
            x[f * n + i] = at[f];
            low[f] = i ? fmin(low[f], at[f]) : at[f];
            high[f] = i ? fmax(high[f], at[f]) : at[f];
        }
        x[3 * n + i] = row->value;
        x[4 * n + i] = 1 / (row->sigma * row->sigma);
    }
    sr_weights_level(x + 4 * n, n);
    return (struct sr_data){.rows = n, .features = 3, .x = x, .y = x + 3 * n, .weight = x + 4 * n};
}

/* From a front that has an inverse square alone, the tracks choose the law, or a multiple of it. */
static void tracks_choose(const char *const law[3], double noise)
{
    struct orr_settings given;
    struct sr_settings settings;
    struct law_true truth;
    struct made made;
    struct sr_motion_verdict verdict;
    double low[3], high[3], k;
    bool is_true[SR_NODES + 1] = {false};
    struct sr_front *front = orr_alloc(1, sizeof *front);
    struct sr_hall_of_fame *hall = orr_alloc(1, sizeof *hall);
    prepare(&given, law);
    assert_int_equal(law_true_create(&truth, &given), 0);
    assert_int_equal(sr_settings_init(&settings, &given), 0);
    make(&made, &given, noise);
    double *x = orr_alloc(5 * made.table.count, sizeof *x);
    const struct sr_data data = data_of(&made.table, x, low, high);
    struct sr_expr square;
    assert_int_equal(sr_expr_parse(NULL, "39.0*m1*m2/(r*r)", columns, 3, &square), 0);
    sr_hall_of_fame_clear(hall);
    sr_hall_of_fame_offer(hall, NULL, &square, 1e9);
    sr_front_make(hall, front);
    const struct sr_motion_court court = {
        .tracks = &made.tracks, .table = &made.table, .settings = &settings, .features = columns};
    assert_int_equal(sr_motion_judge(&court, &data, front, &verdict), 0);
    if (!verdict.judged)
        fail_msg("%s, noise %g: no law follows the tracks: %g", law[0], noise, verdict.misfit);
    law_true_find(&truth, front, low, high, 0.005 + 5 * noise, is_true, &k);
    const int chosen = sr_front_select(front, SR_BEST);
    char text[SR_TEXT];
    sr_expr_print(NULL, &front->expr[chosen], columns, text, sizeof text);
    if (!is_true[chosen])
        fail_msg("%s, noise %g: the tracks chose %s", law[0], noise, text);
    free(x);
    free(hall);
    free(front);
    unmake(&made);
    law_true_free(&truth);
}

TEST(tracks_choose_a_softened_law)
{
    tracks_choose(laws[5], 0);
    tracks_choose(laws[5], 0.005);
}

TEST(tracks_choose_a_law_of_two_terms)
{
    tracks_choose(laws[8], 0);
}

TEST(tracks_choose_a_response)
{
    tracks_choose(laws[4], 0.005);
}

/* An exponent by the tracks, at a noise of 1% and with eccentricities up to 0.9, where that of the
 * table errs by more. */
TEST(exponents_by_the_tracks_are_unbiased)
{
    struct orr_settings settings;
    struct made made;
    struct sr_paths paths;
    struct sr_form form;
    struct sr_expr power;
    struct sr_arcs_fit fit;
    prepare(&settings, laws[0]);
    make(&made, &settings, 0.01);
    assert_int_equal(sr_paths_create(&made.tracks, &made.table, columns, 3, 10000, &paths), 0);
    assert_int_equal(paths.count, SYSTEMS);
    assert_int_equal(sr_expr_parse(NULL, "38.0*m1*m2/r^1.9", columns, 3, &power), 0);
    sr_form_make(&power, &form);
    assert_int_equal(form.params, 2);
    for (size_t rows = 5; rows <= STEPS; rows *= 2)
        assert_int_equal(sr_arcs_fit(&paths, rows, 20, 0, &form, paths.state, &fit), 0);
    const double off = fit.value[1] - 2, error = fit.u.error[1];
    if (!(fabs(off) < 4 * error) || !(fabs(off) < 0.01) || !(error < 0.003))
        fail_msg("the exponent is off by %g +- %g", off, error);
    sr_paths_free(&paths);
    unmake(&made);
}

TESTS(NULL, NULL)
