/* test_flow.c - systems of equations along tracks: solutions against closed forms, tangents against
 * finite differences, fits against the constants of noisy tracks. */
#include "symreg/dynamics/lanes.h"
#include "symreg/formulas.h"

#include <gsl/gsl_math.h>

enum { MOST_ROWS = 2000, MOST_STATES = 6 };
static double times[MOST_ROWS], truth[MOST_STATES * MOST_ROWS], measured[MOST_STATES * MOST_ROWS],
    sigma[MOST_STATES * MOST_ROWS];

/* A system by its texts, in the names x, y, z, their velocities u, v, w, the time t, an input f. */
struct system {
    const char *name;
    int dims, order, inputs;
    const char *equation[3], *first[3]; /* the true ones, and those that a fit starts from */
    double start[MOST_STATES], end;
    int rows;
};
static struct sr_flow flow_of(const struct system *s, const char *const *text, struct sr_expr *expr)
{
    static const char *const state[] = {"x", "y", "z"}, *const velocity[] = {"u", "v", "w"};
    const char *names[2 * 3 + 2];
    int count = 0;
    for (int d = 0; d < s->dims; d++)
        names[count++] = state[d];
    for (int d = 0; d < s->dims && s->order == 2; d++)
        names[count++] = velocity[d];
    names[count++] = "t";
    if (s->inputs)
        names[count++] = "f";
    for (int d = 0; d < s->dims; d++)
        if (sr_expr_parse(NULL, text[d], names, count, &expr[d]))
            fail_msg("%s: %s", s->name, orr_error());
    return (struct sr_flow){
        .dims = s->dims, .order = s->order, .inputs = s->inputs, .equation = expr};
}

static void fill_times(const struct system *s)
{
    for (int i = 0; i < s->rows; i++)
        times[i] = s->end * i / (s->rows - 1);
}

/* Solves the system at even times, to `truth`. */
static void solve(const struct system *s, double tolerance)
{
    struct sr_expr expr[3];
    const struct sr_flow flow = flow_of(s, s->equation, expr);
    fill_times(s);
    if (sr_flow_solve(&flow, s->start, (size_t)s->rows, times, NULL, tolerance, truth))
        fail_msg("%s: %s", s->name, orr_error());
}

static const struct system oscillator = {.name = "oscillator",
                                         .dims = 2,
                                         .order = 1,
                                         .equation = {"1.3 * y", "-0.9 * x"},
                                         .first = {"1.1 * y", "-1.1 * x"},
                                         .start = {0.7, -0.35},
                                         .end = 17.3,
                                         .rows = 150};
static const struct system damped = {.name = "damped oscillator",
                                     .dims = 1,
                                     .order = 2,
                                     .equation = {"-2.3 * x - 0.31 * u"},
                                     .first = {"-2 * x - 0.2 * u"},
                                     .start = {1.1, 0.4},
                                     .end = 12.7,
                                     .rows = 120};
static const struct system kepler = {
    .name = "Kepler's orbit of eccentricity 0.6",
    .dims = 2,
    .order = 2,
    .equation = {"-39.478 * x / (x * x + y * y)^1.5", "-39.478 * y / (x * x + y * y)^1.5"},
    .first = {"-38 * x / (x * x + y * y)^1.47", "-40 * y / (x * x + y * y)^1.52"},
    .start = {1.6, 0, 0, 3.14159},
    .end = 4,
    .rows = 300};
static const struct system hunters = {
    .name = "hunters and prey",
    .dims = 2,
    .order = 1,
    .equation = {"1.1 * x - 0.4 * x * y", "0.1 * x * y - 0.4 * y"},
    .first = {"1 * x - 0.37 * x * y", "0.11 * x * y - 0.43 * y"},
    .start = {10, 5},
    .end = 30,
    .rows = 150};
static const struct system lorenz = {
    .name = "Lorenz's system",
    .dims = 3,
    .order = 1,
    .equation = {"10 * (y - x)", "x * (28 - z) - y", "x * y - 2.667 * z"},
    .first = {"9.5 * (y - x)", "x * (27.5 - z) - y", "x * y - 2.5 * z"},
    .start = {1, 2, 20},
    .end = 40,
    .rows = 2000};

TEST(solutions_are_those_of_closed_forms)
{
    const double w = sqrt(1.3 * 0.9), b = 0.31 / 2, wd = sqrt(2.3 - b * b);
    solve(&oscillator, 1e-11);
    for (int i = 0; i < oscillator.rows; i++) {
        const double x = 0.7 * cos(w * times[i]) - 0.35 * 1.3 / w * sin(w * times[i]);
        if (!(fabs(truth[i] - x) < 1e-9))
            fail_msg("the oscillator is at %.12g, not %.12g, at the time %g", truth[i], x,
                     times[i]);
    }
    solve(&damped, 1e-11);
    for (int i = 0; i < damped.rows; i++) {
        const double t = times[i];
        const double x = exp(-b * t) * (1.1 * cos(wd * t) + (0.4 + 1.1 * b) / wd * sin(wd * t));
        if (!(fabs(truth[i] - x) < 1e-9))
            fail_msg("the damped oscillator is at %.12g, not %.12g, at the time %g", truth[i], x,
                     t);
    }
}

TEST(an_error_falls_as_the_tolerance_does)
{
    const double ends[] = {0, oscillator.end}, w = sqrt(1.3 * 0.9);
    const double exact = 0.7 * cos(w * ends[1]) - 0.35 * 1.3 / w * sin(w * ends[1]);
    double error[2], x[4];
    struct sr_expr expr[3];
    const struct sr_flow flow = flow_of(&oscillator, oscillator.equation, expr);
    for (int k = 0; k < 2; k++) {
        const double tolerance = k ? 1e-10 : 1e-5;
        assert_int_equal(sr_flow_solve(&flow, oscillator.start, 2, ends, NULL, tolerance, x), 0);
        error[k] = fabs(x[1] - exact);
        if (!(error[k] < 200 * tolerance))
            fail_msg("an error of %g at a tolerance of %g", error[k], tolerance);
    }
    if (!(error[1] < 1e-3 * error[0]))
        fail_msg("errors of %g and %g at tolerances of 1e-5 and 1e-10", error[0], error[1]);
}

TEST(an_orbit_keeps_its_energy_and_momentum)
{
    solve(&kepler, 1e-12);
    const int n = kepler.rows;
    for (int i = 0; i < n; i++) {
        const double x = truth[i], y = truth[n + i], u = truth[2 * n + i], v = truth[3 * n + i];
        const double energy = (u * u + v * v) / 2 - 39.478 / hypot(x, y), moment = x * v - y * u;
        if (!(fabs(energy / (3.14159 * 3.14159 / 2 - 39.478 / 1.6) - 1) < 1e-9) ||
            !(fabs(moment / (1.6 * 3.14159) - 1) < 1e-9))
            fail_msg("energy %.12g and momentum %.12g at the time %g", energy, moment, times[i]);
    }
}

TEST(time_and_inputs_are_features)
{
    static const struct system driven = {
        .name = "driven", .dims = 1, .order = 1, .inputs = 1, .equation = {"f + 2 * t"}};
    static const double t[] = {-1.5, 0.25, 0.75, 3}, input[] = {2, -1, 4, 4.5};
    const double start = 0.3;
    double x[4], exact = start;
    struct sr_expr expr[1];
    const struct sr_flow flow = flow_of(&driven, driven.equation, expr);
    assert_int_equal(sr_flow_solve(&flow, &start, 4, t, input, 1e-10, x), 0);
    for (int i = 0; i < 4; i++) {
        if (i)
            exact += (input[i] + input[i - 1]) / 2 * (t[i] - t[i - 1]) + t[i] * t[i] -
                     t[i - 1] * t[i - 1];
        if (!(fabs(x[i] - exact) < 1e-12))
            fail_msg("x is %.15g, not %.15g, at the time %g", x[i], exact, t[i]);
    }
}

/* ---- tangents */

/* The states of two lanes after two intervals, with starts and constants changed by `by`. */
static void follow(const struct system *s, const double *by, struct sr_lanes *lanes)
{
    static struct sr_expr expr[3];
    static struct sr_flow flow;
    static struct sr_flow_numbers numbers;
    double start[2 * MOST_STATES], value[3 * SR_NODES];
    flow = flow_of(s, s->equation, expr);
    sr_flow_numbers_find(&flow, true, &numbers);
    const int states = sr_flow_states(&flow);
    sr_flow_numbers_get(&flow, &numbers, value);
    for (int c = 0; c < numbers.count; c++)
        value[c] += by[states + c];
    sr_flow_numbers_set(&numbers, value, &flow);
    for (int k = 0; k < states; k++)
        for (int lane = 0; lane < 2; lane++)
            start[2 * k + lane] = s->start[k] * (1 + 0.2 * lane) + by[k];
    assert_int_equal(sr_lanes_create(lanes, &flow, &numbers, 2, 1e-12), 0);
    sr_lanes_start(lanes, start, 2);
    for (int i = 0; i < 2; i++) {
        for (int lane = 0; lane < 2; lane++) {
            lanes->t[lane] = 0.1 + 0.3 * i + lane;
            lanes->dt[lane] = 0.3 - 0.1 * lane;
            if (s->inputs) {
                lanes->input[lane] = 0.5 + lane + i;
                lanes->input_end[lane] = 1.5 + lane + i;
            }
        }
        assert_true(sr_lanes_advance(lanes));
    }
}

static const struct system forced = {.name = "forced pendulum",
                                     .dims = 1,
                                     .order = 2,
                                     .inputs = 1,
                                     .equation = {"0.7 * f - 2.1 * sin(x) - 0.15 * u^2 * t^1.7"},
                                     .start = {0.8, 0.6}};

TEST(tangents_are_finite_differences)
{
    const struct system *const all[] = {&hunters, &kepler, &forced, &lorenz};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        double by[MOST_STATES + 3 * SR_NODES] = {0};
        struct sr_lanes lanes, sides[2];
        follow(all[k], by, &lanes);
        for (int c = 0; c < lanes.columns; c++) {
            const double step = 1e-5;
            for (int side = 0; side < 2; side++) {
                by[c] = side ? step : -step;
                follow(all[k], by, &sides[side]);
            }
            by[c] = 0;
            for (int i = 0; i < 2 * lanes.states; i++) {
                const double slope = (sides[1].x[i] - sides[0].x[i]) / (2 * step);
                const double tangent =
                    lanes.tangent[(size_t)(i / 2 * lanes.columns + c) * 2 + (size_t)(i % 2)];
                if (!(fabs(slope - tangent) < 1e-6 * (1 + fabs(slope))))
                    fail_msg("%s: state %d of lane %d by parameter %d: tangent %.9g, difference "
                             "%.9g",
                             all[k]->name, i / 2, i % 2, c, tangent, slope);
            }
            sr_lanes_free(&sides[0]);
            sr_lanes_free(&sides[1]);
        }
        sr_lanes_free(&lanes);
    }
}

/* ---- fits */

/* Measures the solution with a noise that is a share of each coordinate's size. */
static void measure(const struct system *s, double noise, uint64_t seed)
{
    gsl_rng *rng = random_stream(seed);
    solve(s, 1e-12);
    for (int d = 0; d < s->dims; d++) {
        double size = 0;
        for (int i = 0; i < s->rows; i++)
            size += truth[d * s->rows + i] * truth[d * s->rows + i] / s->rows;
        for (int i = 0; i < s->rows; i++) {
            const int at = d * s->rows + i;
            sigma[at] = noise * sqrt(size);
            measured[at] = truth[at] + gsl_ran_gaussian(rng, sigma[at]);
        }
    }
    gsl_rng_free(rng);
}

static struct sr_flow fit(const struct system *s, bool with_sigma,
                          const struct sr_flow_options *options, struct sr_expr *expr,
                          struct sr_flow_result *result)
{
    struct sr_flow flow = flow_of(s, s->first, expr);
    const struct sr_flow_track track = {
        .n = (size_t)s->rows, .t = times, .x = measured, .sigma = with_sigma ? sigma : NULL};
    if (sr_flow_fit(&flow, 1, &track, options, result))
        fail_msg("%s: %s", s->name, orr_error());
    return flow;
}

/* The constants of the fit are those of the truth within `most` standard errors. */
static void check_constants(const struct system *s, const struct sr_flow_result *result,
                            double most)
{
    struct sr_expr expr[3];
    struct sr_flow_numbers numbers;
    double value[3 * SR_NODES];
    const struct sr_flow flow = flow_of(s, s->equation, expr);
    sr_flow_numbers_find(&flow, true, &numbers);
    sr_flow_numbers_get(&flow, &numbers, value);
    for (int c = 0; c < result->constants; c++)
        if (!(fabs(result->value[c] - value[c]) < most * result->error[c]) ||
            !(result->error[c] < 0.1 * fabs(value[c])))
            fail_msg("%s: constant %d is %.8g +- %.2g, not %.8g", s->name, c, result->value[c],
                     result->error[c], value[c]);
}

TEST(fits_recover_constants_of_noisy_tracks)
{
    static const struct system *const all[] = {&oscillator, &damped, &kepler, &hunters};
    const struct sr_flow_options options = {.free_exponents = true};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int known = 0; known < 2; known++) {
            struct sr_flow_result result;
            struct sr_expr expr[3];
            measure(all[k], known ? 0.01 : 0.003, 11 + k);
            fit(all[k], known, &options, expr, &result);
            const double freedom = (double)result.rows - result.constants;
            if (!result.converged || result.starts != 1)
                fail_msg("%s: %d starts, %s", all[k]->name, result.starts,
                         result.converged ? "converged" : "not converged");
            if (known && !(fabs(result.chi2 - freedom) < 5 * sqrt(2 * freedom)))
                fail_msg("%s: chi^2 is %g of %g", all[k]->name, result.chi2, freedom);
            check_constants(all[k], &result, 4);
            sr_flow_result_free(&result);
        }
}

TEST(a_track_without_noise_gives_its_constants)
{
    const struct sr_flow_options options = {.free_exponents = true};
    struct sr_flow_result result;
    struct sr_expr expr[3];
    measure(&kepler, 0, 1);
    fit(&kepler, false, &options, expr, &result);
    const double exact[] = {-39.478, 1.5, -39.478, 1.5};
    assert_int_equal(result.constants, 4);
    for (int c = 0; c < 4; c++)
        if (!(fabs(result.value[c] / exact[c] - 1) < 1e-8))
            fail_msg("constant %d is %.12g, not %.12g", c, result.value[c], exact[c]);
    sr_flow_result_free(&result);
}

TEST(chaos_is_followed_in_parts)
{
    const struct sr_flow_options options = {0};
    struct sr_flow_result result;
    struct sr_expr expr[3];
    measure(&lorenz, 0.01, 3);
    fit(&lorenz, true, &options, expr, &result);
    const double freedom = (double)result.rows;
    if (result.starts < 2 || result.starts > 10)
        fail_msg("%d starts on 40 units of time, over which errors grow by exp(36)", result.starts);
    if (!(fabs(result.chi2 - freedom) < 5 * sqrt(2 * freedom)))
        fail_msg("chi^2 is %g of %g", result.chi2, freedom);
    check_constants(&lorenz, &result, 4);
    sr_flow_result_free(&result);
}

TEST(segments_have_starts_of_their_own)
{
    const struct sr_flow_options options = {.segments = 5};
    struct sr_flow_result result;
    struct sr_expr expr[3];
    measure(&hunters, 0.01, 3);
    fit(&hunters, true, &options, expr, &result);
    assert_int_equal(result.starts, 5);
    check_constants(&hunters, &result, 4);
    sr_flow_result_free(&result);
}

TEST(the_model_of_a_track_is_its_solution)
{
    const struct sr_flow_options options = {.tolerance = 1e-11};
    static double model[MOST_STATES * MOST_ROWS], again[MOST_STATES * MOST_ROWS];
    struct sr_flow_result result;
    struct sr_expr expr[3];
    measure(&kepler, 0.01, 3);
    const size_t n = (size_t)kepler.rows;
    struct sr_flow flow = flow_of(&kepler, kepler.equation, expr);
    const struct sr_flow_track track = {
        .n = n, .t = times, .x = measured, .sigma = sigma, .model = model};
    if (sr_flow_fit(&flow, 1, &track, &options, &result) ||
        sr_flow_solve(&flow, result.start, n, times, NULL, 1e-11, again))
        fail_msg("%s", orr_error());
    double chi2 = 0;
    for (size_t i = 0; i < 4 * n; i++) {
        if (!(fabs(model[i] - again[i]) < 1e-6 * (1 + fabs(again[i]))))
            fail_msg("state %zu is %g in row %zu, not %g", i / n, model[i], i % n, again[i]);
        if (i < 2 * n)
            chi2 += pow((model[i] - measured[i]) / sigma[i], 2);
    }
    if (!(fabs(chi2 - result.chi2) < 1e-6 * chi2))
        fail_msg("chi^2 of the model is %.9g, of the fit %.9g", chi2, result.chi2);
    sr_flow_result_free(&result);
}

TEST(several_tracks_share_constants_and_rows_may_lack)
{
    struct system other = hunters;
    struct sr_flow_result result;
    struct sr_expr expr[3];
    const struct sr_flow_options options = {0};
    static double second[MOST_STATES * MOST_ROWS], second_times[MOST_ROWS];
    other.start[0] = 3;
    other.rows = 90;
    other.end = 9;
    measure(&other, 0.01, 21);
    memcpy(second, measured, sizeof second);
    memcpy(second_times, times, sizeof times);
    measure(&hunters, 0.01, 22);
    /* rows whose second coordinate is missing, where no piece starts without a guess */
    for (int i = 5; i < 150; i += 7)
        if (i * 12 / 150 == (i - 1) * 12 / 150)
            measured[150 + i] = NAN;
    struct sr_flow flow = flow_of(&hunters, hunters.first, expr);
    const struct sr_flow_track tracks[] = {
        {.n = 150, .t = times, .x = measured, .guess = truth},
        {.n = 90, .t = second_times, .x = second},
    };
    if (sr_flow_fit(&flow, 2, tracks, &options, &result))
        fail_msg("%s", orr_error());
    assert_int_equal(result.starts, 2);
    assert_true(result.rows < 480 && result.rows > 400);
    check_constants(&hunters, &result, 4);
    if (!(fabs(result.start[2] - 3) < 0.2))
        fail_msg("the second track starts at %g, not 3", result.start[2]);
    sr_flow_result_free(&result);
}

/* Five tracks of dx/dt = 0.4 - k x in three categories, whose k are not in the order of tracks. */
enum { DECAYS = 5, KINDS = 3, DECAY_ROWS = 80 };
static const double decay_of_kind[KINDS] = {0.35, 2.4, 1.1};
static const size_t kind_of_track[DECAYS] = {2, 0, 1, 0, 2};
static double decay_t[DECAY_ROWS], decay_x[DECAYS][DECAY_ROWS], decay_sigma[DECAY_ROWS];

static void make_decays(struct sr_flow_track *track)
{
    gsl_rng *const rng = random_stream(31);
    for (int i = 0; i < DECAY_ROWS; i++) {
        decay_t[i] = 0.05 * i;
        decay_sigma[i] = 0.01;
    }
    for (int k = 0; k < DECAYS; k++) {
        const double rate = decay_of_kind[kind_of_track[k]], rest = 0.4 / rate;
        for (int i = 0; i < DECAY_ROWS; i++)
            decay_x[k][i] =
                rest + (2 + 0.3 * k - rest) * exp(-rate * decay_t[i]) + gsl_ran_gaussian(rng, 0.01);
        track[k] = (struct sr_flow_track){.n = DECAY_ROWS,
                                          .category = kind_of_track[k],
                                          .t = decay_t,
                                          .x = decay_x[k],
                                          .sigma = decay_sigma};
    }
    gsl_rng_free(rng);
}

/* A formula of x and c, a constant of each category. */
static struct sr_flow decay_flow(const char *text, struct sr_each *each, struct sr_expr *expr)
{
    static const char *name[SR_EACH_FIRST + 1];
    for (int k = 0; k < SR_EACH_FIRST; k++)
        name[k] = "";
    name[0] = "x";
    name[SR_EACH_FIRST] = "c";
    if (sr_expr_parse(NULL, text, name, SR_EACH_FIRST + 1, expr))
        fail_msg("%s: %s", text, orr_error());
    for (int k = 0; k < KINDS; k++)
        each->value[0][k] = 0.8;
    return (struct sr_flow){
        .dims = 1, .order = 1, .equation = expr, .each = each, .categories = KINDS};
}

TEST(categories_have_constants_of_their_own)
{
    static struct sr_each each;
    struct sr_flow_track track[DECAYS];
    struct sr_expr expr;
    struct sr_flow_result all, own;
    const struct sr_flow_options options = {0};
    make_decays(track);
    struct sr_flow flow = decay_flow("0.5 - c * x", &each, &expr);
    assert_int_equal(sr_flow_fit(&flow, DECAYS, track, &options, &all), 0);
    assert_int_equal(all.shared, 1);
    assert_int_equal(all.constants, 1 + KINDS);
    for (int k = 0; k < all.constants; k++) {
        const double exact = k ? decay_of_kind[k - 1] : 0.4;
        if (!(fabs(all.value[k] - exact) < 3 * all.error[k]) || !(all.error[k] < 0.03 * exact))
            fail_msg("constant %d is %.6g +- %.2g, not %g", k, all.value[k], all.error[k], exact);
        if (k && !(fabs(each.value[0][k - 1] - all.value[k]) <= 0))
            fail_msg("category %d has %g in the formula, %g in the result", k - 1,
                     each.value[0][k - 1], all.value[k]);
    }
    if (!(fabs(all.chi2 / (double)all.rows - 1) < 0.2))
        fail_msg("chi^2 is %g of %zu rows", all.chi2, all.rows);
    sr_flow_result_free(&all);
    /* with nothing in common, the tracks of one category give its constant and error */
    flow = decay_flow("0.4 - c * x", &each, &expr);
    expr.node[0].feature = SR_FIXED;
    assert_int_equal(sr_flow_fit(&flow, DECAYS, track, &options, &all), 0);
    assert_int_equal(all.constants, KINDS);
    for (size_t k = 0; k < KINDS; k++) {
        struct sr_flow_track part[DECAYS];
        size_t count = 0;
        for (int i = 0; i < DECAYS; i++)
            if (kind_of_track[i] == k)
                part[count++] = track[i];
        flow = decay_flow("0.4 - 0.8 * x", &each, &expr);
        expr.node[0].feature = SR_FIXED;
        assert_int_equal(sr_flow_fit(&flow, count, part, &options, &own), 0);
        if (!(fabs(all.value[k] - own.value[0]) < 1e-3 * own.error[0]) ||
            !(fabs(all.error[k] / own.error[0] - 1) < 1e-4))
            fail_msg("category %zu: %.9g +- %.5g, by its tracks alone %.9g +- %.5g", k,
                     all.value[k], all.error[k], own.value[0], own.error[0]);
        sr_flow_result_free(&own);
    }
    sr_flow_result_free(&all);
}

TEST(constants_that_are_held_stay)
{
    static struct sr_each each;
    struct sr_flow_track track[DECAYS];
    struct sr_expr expr;
    struct sr_flow_result result;
    const struct sr_flow_options options = {0};
    make_decays(track);
    struct sr_flow flow = decay_flow("0.5 - c * x", &each, &expr);
    flow.held = 1;
    assert_int_equal(sr_flow_fit(&flow, DECAYS, track, &options, &result), 0);
    assert_int_equal(result.constants, 1);
    for (int k = 0; k < KINDS; k++)
        assert_true(each.value[0][k] == 0.8);
    assert_true(result.chi2 > 10 * (double)result.rows);
    sr_flow_result_free(&result);
}

TEST(whole_exponents_stay)
{
    static const struct system cubic = {.name = "cubic",
                                        .dims = 1,
                                        .order = 2,
                                        .equation = {"-1.2 * x^3 - 0.1 * u"},
                                        .first = {"-1.1 * x^3 - 0.12 * u"},
                                        .start = {1.5, 0},
                                        .end = 15,
                                        .rows = 150};
    const struct sr_flow_options options = {0};
    struct sr_flow_result result;
    struct sr_expr expr[3];
    measure(&cubic, 0.01, 5);
    fit(&cubic, true, &options, expr, &result);
    assert_int_equal(result.constants, 2);
    const double exact[] = {-1.2, 0.1};
    for (int c = 0; c < 2; c++)
        if (!(fabs(result.value[c] - exact[c]) < 4 * result.error[c]))
            fail_msg("constant %d is %g +- %g, not %g", c, result.value[c], result.error[c],
                     exact[c]);
    sr_flow_result_free(&result);
}

/* ---- refusals */

TEST(a_solution_that_diverges_ends_where_it_does)
{
    static const struct system explosion = {
        .name = "explosion", .dims = 1, .order = 1, .equation = {"x * x"}};
    static const double t[] = {0, 0.3, 0.6, 0.9, 1.2, 1.5};
    const double start = 1;
    double x[6];
    struct sr_expr expr[1];
    const struct sr_flow flow = flow_of(&explosion, explosion.equation, expr);
    assert_int_equal(sr_flow_solve(&flow, &start, 6, t, NULL, 1e-10, x), ORR_EINVAL);
    double end = 0;
    const char *const at = strstr(orr_error(), "the time ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "the time %lf", &end), 1);
    if (!(fabs(end - 1) < 1e-6))
        fail_msg("1 / (1 - t) ends at %.10g", end);
    for (int i = 0; i < 6; i++)
        if (i < 4 ? !(fabs(x[i] * (1 - t[i]) - 1) < 1e-8) : !isnan(x[i]))
            fail_msg("x is %g at the time %g", x[i], t[i]);
}

TEST(bad_input_is_refused)
{
    struct sr_expr expr[3];
    const struct sr_flow flow = flow_of(&oscillator, oscillator.equation, expr);
    static const double falls[] = {0, 1, 0.5}, rises[] = {0, 1, 2};
    const double start[] = {1, NAN}, good[] = {1, 2};
    double x[6];
    assert_int_equal(sr_flow_solve(&flow, start, 3, rises, NULL, 1e-9, x), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "found nan as number 2"));
    assert_int_equal(sr_flow_solve(&flow, good, 3, falls, NULL, 1e-9, x), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "found 0.5 as number 3"));
    const struct sr_flow_options options = {0};
    struct sr_flow_result result;
    struct sr_flow changed = flow;
    struct sr_flow_track track = {.n = 3, .t = falls, .x = truth};
    assert_int_equal(sr_flow_fit(&changed, 1, &track, &options, &result), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "track 1: expected rising times, found 0.5 in row 3"));
    sr_flow_result_free(&result);
    track = (struct sr_flow_track){.n = 1, .t = rises, .x = truth};
    assert_int_equal(sr_flow_fit(&changed, 1, &track, &options, &result), ORR_EINVAL);
    assert_non_null(strstr(orr_error(), "expected at least 2 rows, found 1"));
    sr_flow_result_free(&result);
}

/* A system without a solution along the track: the constants stay. */
TEST(what_cannot_be_followed_has_no_chi2)
{
    static const struct system outside = {
        .name = "outside", .dims = 1, .order = 1, .first = {"sqrt(-1.5 - x * x)"}};
    struct sr_expr expr[3];
    struct sr_flow_result result;
    const struct sr_flow_options options = {0};
    fill_times(&oscillator);
    solve(&oscillator, 1e-9);
    struct sr_flow flow = flow_of(&outside, outside.first, expr);
    const struct sr_flow_track track = {.n = 150, .t = times, .x = truth};
    assert_int_equal(sr_flow_fit(&flow, 1, &track, &options, &result), 0);
    assert_true(isinf(result.chi2) && !result.converged);
    double value[SR_NODES];
    assert_int_equal(sr_expr_constants(&expr[0], value), 1);
    assert_true(value[0] == -1.5);
    sr_flow_result_free(&result);
}

/* A stiff solution takes thousands of steps to its end, and none beyond its seconds. */
TEST(solutions_end_with_their_seconds)
{
    static const char *const name[] = {"x", "t"};
    struct sr_expr equation;
    struct sr_lanes lanes;
    const double start = 1;
    assert_int_equal(sr_expr_parse(NULL, "-3000 * (x - cos(t))", name, 2, &equation), 0);
    const struct sr_flow flow = {.dims = 1, .order = 1, .equation = &equation};
    assert_int_equal(sr_lanes_create(&lanes, &flow, NULL, 1, 1e-8), 0);
    for (int k = 0; k < 2; k++) {
        sr_lanes_start(&lanes, &start, 1);
        lanes.t[0] = 0;
        lanes.dt[0] = 1;
        lanes.until_s = k ? 1e-9 : 0; /* long past */
        assert_true(sr_lanes_advance(&lanes) == !k);
        assert_true(k ? lanes.done < 0.5 : lanes.done == 1);
    }
    sr_lanes_free(&lanes);
}

TESTS(NULL, NULL)
