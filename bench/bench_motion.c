/* bench_motion.c - which laws of force come back from positions alone, by noise.
 *
 * For every law of sim/law.c and noise of 0, 0.1 and 1% (of the rms distance of the two bodies, on
 * every coordinate): 60 systems of two bodies of preset quick's prior, 40 steps each, through the
 * same way as `symreg motion --system --body --mass`, and 10 s for a search and its judgement by
 * the tracks (symreg/motion/decide.c), with the operators that can write all laws (docs/laws.md:
 * + * / exp sqrt, --maxsize 24). Columns:
 *   rows      of the table of forces
 *   exponent  of r by least squares of log F on log r, log m1, log m2 with the rows' weights, less
 *             that of the law itself on the same rows
 *   error     median of |F / law - 1|
 *   of best   the same exponent of the formula of rule `best`, which the tracks have judged
 *   best      whether the formula of rule `best` is k times the law: the ratio varies by at most
 *             0.5% + 5 noises of its mean over twice the range of r, m1, m2 both ways
 *   front     whether any formula of the front is
 *   told      whether the true form would be, with its constants fitted to all paths from the true
 *             ones on: where it is not, the noise hides the law
 *   sigma     the largest error of these constants, in their standard errors
 *     bench_motion [--seconds 10] [--threads 1] [--laws 9] [--law N] [--noise 1 to 3]
 *                  [--from 1] [--samples 3]
 * Each sample has other systems and other noise. Writes bench/results/motion.json. About 20
 * minutes.
 *     bench_motion --methods 1
 * instead compares ways to the force under Newton's law on the same data, at every inner row:
 * median of |F / law - 1|. The weak form (test function (1 - s^2)^4 of a window, integrals by the
 * trapezoidal rule) and a local polynomial of degree 4 have the half-width that is best in
 * hindsight, of 3 to 12 rows; the process of symreg/motion/ chooses for itself.
 *     bench_motion --planets FILE.csv
 * instead writes positions of the eight planets and the Sun by VSOP87 (libnova), every 8 days from
 * J2000 on, with their masses: docs/data/planet_tracks.csv. */
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_randist.h>

#include "bench.h"
#include "laws/analysis.h"
#include "motion_told.h"
#include "probe/planets/ephemeris.h"
#include "sim/sim.h"
#include "symreg/motion/decide.h"

enum { SYSTEMS = 60, STEPS = 40, LAWS = 9, NOISES = 3, TERMS = 4 };
static const char *const settings_of[LAWS][3] = {
    {"orbits.law=newton"},
    {"orbits.law=power", "orbits.law_exponent=-1"},
    {"orbits.law=power", "orbits.law_exponent=-2.5"},
    {"orbits.law=yukawa", "orbits.law_alpha=2", "orbits.law_lambda_au=1"},
    {"orbits.law=mond", "orbits.law_a0=9.869604401089358"},
    {"orbits.law=plummer", "orbits.law_softening_au=0.5"},
    {"orbits.law=post_newtonian"},
    {"orbits.law=hooke"},
    {"orbits.law=lambda", "orbits.law_constant=0.5"}};
static const char *const law_name[LAWS] = {"newton",         "power -1", "power -2.5",
                                           "yukawa",         "mond",     "plummer",
                                           "post_newtonian", "hooke",    "lambda"};
static const double noise_of[NOISES] = {0, 0.001, 0.01};

struct result {
    double rows, exponent, error, noise, of_best; /* of_best: exponent of the chosen formula */
    bool best, front;
    struct told told;
};

/* Two tracks of a sequence. */
static void take_sequence(const struct sim_sequence *s, double noise, gsl_rng *rng,
                          struct sr_track *track)
{
    double square = 0;
    for (int step = 0; step < STEPS; step++) {
        const float *state = s->full_state + 6 * (2 * step + 2);
        square += (double)(state[0] * state[0] + state[1] * state[1]) / STEPS;
    }
    for (size_t body = 0; body < 2; body++) {
        track[body].system = "system";
        track[body].mass = (double)s->full_state[6 * 2 + 4 + body];
        for (size_t step = 0; step < STEPS; step++) {
            track[body].t[step] = (double)step * exp((double)s->coords[0]);
            for (size_t d = 0; d < 2; d++)
                track[body].x[d * STEPS + step] = (double)s->coords[2 * (1 + 2 * step + body) + d] +
                                                  gsl_ran_gaussian(rng, noise * sqrt(square));
        }
    }
}

/* The systems of sample number `sample`, each one of its own: rows of pairs are made system by
 * system. */
static int make_table(const struct orr_settings *settings, double noise, int sample, int threads,
                      struct sr_tracks *tracks, struct sr_motion_table *table)
{
    static char names[SYSTEMS][8];
    size_t rows[2 * SYSTEMS];
    struct sim_sequence sequence;
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 43 + ((uint64_t)sample << 8));
    for (size_t k = 0; k < 2 * SYSTEMS; k++)
        rows[k] = STEPS;
    *tracks = (struct sr_tracks){.file = "positions"};
    int rc = rng ? sr_tracks_create(tracks, 2, 2 * SYSTEMS, rows) : ORR_ENOMEM;
    if (!rc)
        rc = sim_sequence_create(&sequence, settings, SIM_SPLIT_TWO_BODY_TEST);
    for (size_t i = 0; i < SYSTEMS && !rc; i++) {
        rc = sim_sequence_make(&sequence, settings, SIM_SPLIT_TWO_BODY_TEST,
                               (uint64_t)sample * SYSTEMS + i);
        if (rc)
            break;
        take_sequence(&sequence, noise, rng, tracks->track + 2 * i);
        snprintf(names[i], sizeof names[i], "%zu", i);
        tracks->track[2 * i].system = tracks->track[2 * i + 1].system = names[i];
    }
    sim_sequence_free(&sequence);
    gsl_rng_free(rng);
    return rc ? rc : sr_motion_make(tracks, NULL, threads, table);
}

/* The exponent of r of these values, by weighted least squares. */
static double exponent_of(const struct sr_motion_table *table, const double *force)
{
    gsl_matrix *X = gsl_matrix_alloc(table->count, TERMS), *cov = gsl_matrix_alloc(TERMS, TERMS);
    gsl_vector *y = gsl_vector_alloc(table->count), *w = gsl_vector_alloc(table->count);
    gsl_vector *c = gsl_vector_alloc(TERMS);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(table->count, TERMS);
    double chi2;
    for (size_t i = 0; i < table->count; i++) {
        const struct sr_motion_row *row = &table->row[i];
        const double relative = row->sigma / fabs(row->value), good = force[i] > 0;
        const double x[TERMS] = {1, log(row->r), log(row->m1), log(row->m2)};
        for (size_t k = 0; k < TERMS; k++)
            gsl_matrix_set(X, i, k, x[k]);
        gsl_vector_set(y, i, good > 0 ? log(force[i]) : 0);
        gsl_vector_set(w, i, good / (relative * relative));
    }
    gsl_multifit_wlinear(X, w, y, c, cov, &chi2, work);
    const double exponent = gsl_vector_get(c, 1);
    gsl_multifit_linear_free(work);
    gsl_matrix_free(X);
    gsl_matrix_free(cov);
    gsl_vector_free(y);
    gsl_vector_free(w);
    gsl_vector_free(c);
    return exponent;
}

static void measure(const struct sim_dynamics *d, const struct sr_motion_table *table,
                    struct result *result)
{
    double *law = orr_alloc(3 * table->count, sizeof *law), *found = law + table->count;
    double *error = found + table->count;
    for (size_t i = 0; i < table->count; i++) {
        const struct sr_motion_row *row = &table->row[i];
        law[i] = d->law->force(&d->params, row->m1, row->m2, row->r);
        found[i] = row->value;
        error[i] = fabs(found[i] / law[i] - 1);
    }
    result->rows = (double)table->count;
    result->exponent = exponent_of(table, found) - exponent_of(table, law);
    result->error = orr_median(error, table->count);
    free(law);
}

static int search(const struct orr_settings *given, double seconds, int threads,
                  const struct sr_tracks *tracks, const struct sr_motion_table *table,
                  struct law_true *law, double tolerance, struct result *result)
{
    const size_t n = table->count;
    struct sr_settings settings;
    struct sr_fit *fit = orr_alloc(1, sizeof *fit);
    double *x = orr_alloc(5 * n, sizeof *x), *y = x + 3 * n, *weight = y + n, total = 0, k;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {0};
    for (size_t i = 0; i < n; i++) {
        const struct sr_motion_row *row = &table->row[i];
        const double at[3] = {row->r, row->m1, row->m2};
        for (size_t f = 0; f < 3; f++) {
            x[f * n + i] = at[f];
            low[f] = fmin(low[f], at[f]);
            high[f] = fmax(high[f], at[f]);
        }
        y[i] = row->value;
        weight[i] = 1 / (row->sigma * row->sigma);
        total += weight[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        weight[i] /= total;
    int rc = sr_settings_init(&settings, given);
    settings.max_seconds = (1 - SR_MOTION_JUDGE_SHARE) * seconds;
    fit->data = (struct sr_data){.rows = n, .features = 3, .x = x, .y = y, .weight = weight};
    if (!rc)
        rc = sr_search(&settings, fit, 1, threads, NULL);
    bool is_true[SR_NODES + 1] = {false};
    if (!rc)
        rc = sr_front_describe(&fit->front, &fit->data);
    const char *const features[] = {"r", "m1", "m2"};
    const struct sr_motion_court court = {.tracks = tracks,
                                          .table = table,
                                          .settings = &settings,
                                          .features = features,
                                          .seconds = SR_MOTION_JUDGE_SHARE * seconds};
    struct sr_motion_verdict verdict;
    if (!rc)
        rc = told_fit(tracks, table, settings.language, law, low, high, tolerance, &result->told);
    if (!rc)
        rc = sr_motion_judge(&court, &fit->data, &fit->front, &verdict);
    if (!rc) {
        const int chosen = sr_front_select(&fit->front, SR_BEST);
        result->front = law_true_find(law, &fit->front, low, high, tolerance, is_true, &k) >= 0;
        result->best = chosen >= 0 && is_true[chosen];
        result->of_best = NAN;
        if (chosen >= 0 && sr_eval(&fit->front.expr[chosen], &fit->data, y)) {
            double *const exact = orr_alloc(n, sizeof *exact);
            for (size_t i = 0; i < n; i++) {
                const struct sr_motion_row *row = &table->row[i];
                exact[i] =
                    law->dynamics.law->force(&law->dynamics.params, row->m1, row->m2, row->r);
            }
            result->of_best = exponent_of(table, y) - exponent_of(table, exact);
            free(exact);
        }
    }
    free(x);
    free(fit);
    return rc;
}

static int settings_for(int law, struct orr_settings *settings)
{
    int rc = orr_settings_load(settings, "quick");
    static const char *const searched[] = {"orbits.positions=81",   "symreg.binary=+,*,/",
                                           "symreg.unary=exp,sqrt", "symreg.maxsize=24",
                                           "symreg.loss=l2",        "symreg.iterations=100000"};
    for (size_t k = 0; k < sizeof searched / sizeof *searched && !rc; k++)
        rc = orr_settings_set(settings, searched[k]);
    for (int k = 0; k < 3 && !rc && settings_of[law][k]; k++)
        rc = orr_settings_set(settings, settings_of[law][k]);
    return rc;
}

static int run(int law, double noise, int sample, double seconds, int threads,
               struct result *result)
{
    struct orr_settings settings;
    struct sr_tracks tracks = {0};
    struct sr_motion_table table = {0};
    struct law_true truth = {0};
    *result = (struct result){0};
    int rc = settings_for(law, &settings);
    if (!rc)
        rc = law_true_create(&truth, &settings);
    if (!rc)
        rc = make_table(&settings, noise, sample, threads, &tracks, &table);
    if (!rc) {
        measure(&truth.dynamics, &table, result);
        rc =
            search(&settings, seconds, threads, &tracks, &table, &truth, 0.005 + 5 * noise, result);
    }
    law_true_free(&truth);
    sr_motion_free(&table);
    sr_tracks_free(&tracks);
    return rc;
}

/* ---- other ways to an acceleration */

/* Second derivative at row i of x (STEPS), rows i - half to i + half; NaN where they are not there.
 * */
static double weak_form(const double *x, double dt, size_t i, size_t half)
{
    double up = 0, down = 0;
    for (size_t k = i - half; k <= i + half; k++) {
        const double s = ((double)k - (double)i) / (double)(half + 1), q = 1 - s * s;
        const double width = dt * (double)(half + 1);
        up += (48 * s * s * q * q - 8 * q * q * q) / (width * width) * x[k];
        down += q * q * q * q;
    }
    return up / down;
}

static double polynomial(const double *x, double dt, size_t i, size_t half)
{
    enum { DEGREE = 4 };
    double A[(DEGREE + 1) * (DEGREE + 1)] = {0}, b[DEGREE + 1] = {0};
    for (size_t k = i - half; k <= i + half; k++) {
        double power[DEGREE + 1] = {1};
        for (int p = 1; p <= DEGREE; p++)
            power[p] = power[p - 1] * ((double)k - (double)i) / (double)half;
        for (int p = 0; p <= DEGREE; p++) {
            for (int q = 0; q <= DEGREE; q++)
                A[p * (DEGREE + 1) + q] += power[p] * power[q];
            b[p] += power[p] * x[k];
        }
    }
    if (!sr_cholesky(A, DEGREE + 1, DEGREE + 1, 0))
        return NAN;
    sr_cholesky_solve(A, DEGREE + 1, DEGREE + 1, b);
    return 2 * b[2] / (dt * dt * (double)(half * half));
}

static double process(const double *x, double dt, size_t i, size_t half)
{
    (void)dt, (void)half;
    return x[i]; /* of accelerations that are there */
}

enum { LEAST = 3, MOST = 12 };

/* Median error of the force between two bodies: way(x) of the difference of their positions, or of
 * their accelerations. */
static double median_error(const struct sr_tracks *tracks, const struct sim_dynamics *d,
                           double (*way)(const double *, double, size_t, size_t), size_t half,
                           double *error)
{
    size_t n = 0;
    for (size_t s = 0; s < SYSTEMS; s++) {
        const struct sr_track *a = &tracks->track[2 * s], *b = a + 1;
        double x[2][STEPS], at[2][STEPS];
        for (size_t k = 0; k < 2 * STEPS; k++) {
            at[k / STEPS][k % STEPS] = a->smooth[k] - b->smooth[k];
            x[k / STEPS][k % STEPS] =
                way == process ? a->acceleration[k] - b->acceleration[k] : a->x[k] - b->x[k];
        }
        for (size_t i = MOST; i + MOST < STEPS; i++) {
            const double r = sqrt(at[0][i] * at[0][i] + at[1][i] * at[1][i]);
            const double inward =
                -(way(x[0], a->t[1], i, half) * at[0][i] + way(x[1], a->t[1], i, half) * at[1][i]) /
                r;
            const double force = inward * a->mass * b->mass / (a->mass + b->mass);
            error[n++] = fabs(force / d->law->force(&d->params, a->mass, b->mass, r) - 1);
        }
    }
    return orr_median(error, n);
}

static double best_error(const struct sr_tracks *tracks, const struct sim_dynamics *d,
                         double (*way)(const double *, double, size_t, size_t), double *error)
{
    double best = HUGE_VAL;
    for (size_t half = LEAST; half <= MOST; half++)
        best = fmin(best, median_error(tracks, d, way, half, error));
    return best;
}

static int compare_ways(int threads)
{
    struct orr_settings settings;
    struct sim_dynamics d;
    double *error = orr_alloc(SYSTEMS * STEPS, sizeof *error);
    int rc = error ? settings_for(0, &settings) : ORR_ENOMEM;
    if (!rc)
        rc = sim_dynamics_create(&d, &settings);
    printf("noise    process  weak form  polynomial\n");
    for (int k = 0; k < NOISES && !rc; k++) {
        struct sr_tracks tracks = {0};
        struct sr_motion_table table = {0};
        rc = make_table(&settings, noise_of[k], 0, threads, &tracks, &table);
        if (!rc)
            printf("%4.1f%%  %9.2g  %9.2g  %10.2g\n", 100 * noise_of[k],
                   median_error(&tracks, &d, process, 0, error),
                   best_error(&tracks, &d, weak_form, error),
                   best_error(&tracks, &d, polynomial, error));
        sr_motion_free(&table);
        sr_tracks_free(&tracks);
    }
    free(error);
    return rc;
}

/* ---- real planets */

/* Masses of the planets in solar masses, the Earth with the Moon (IAU 2009). */
static const double planet_mass[8] = {1 / 6023682.155, 1 / 408523.719,  1 / 328900.5596,
                                      1 / 3098703.59,  1 / 1047.348644, 1 / 3497.9018,
                                      1 / 22902.98,    1 / 19412.26};

static int write_planets(const char *path)
{
    enum { ROWS = 100 };
    struct orr_file file;
    int rc = probe_ephemeris_check();
    if (rc || (rc = orr_file_create(&file, path)))
        return rc;
    orr_file_printf(&file, "t_yr,body,mass_msun,x_au,y_au,z_au\n");
    for (int step = 0; step < ROWS && !rc; step++) {
        const double t_yr = step * 8 / PROBE_YEAR_DAYS;
        orr_file_printf(&file, "%.9f,sun,1,0,0,0\n", t_yr);
        for (int p = 0; p < 8 && !rc; p++) {
            double at[3];
            rc = probe_ephemeris_place(p, t_yr, at);
            orr_file_printf(&file, "%.9f,%s,%.8g,%.9f,%.9f,%.9f\n", t_yr, sim_sun_bodies[p].name,
                            planet_mass[p], at[0], at[1], at[2]);
        }
    }
    if (!rc)
        rc = orr_file_commit(&file);
    orr_file_close(&file);
    return rc;
}

/* ---- the table */

static void add(struct bench_results *results, const char *law, double noise, int sample,
                const struct result *r)
{
    const struct {
        const char *what, *unit;
        double value;
    } row[] = {{"rows", "rows", r->rows},
               {"exponent less the law's", "", r->exponent},
               {"median error", "", r->error},
               {"exponent of best less the law's", "", r->of_best},
               {"best is the law", "", r->best},
               {"on the front", "", r->front},
               {"its form told, is the law", "", r->told.is_law}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        char name[96], which[32] = "";
        if (sample)
            snprintf(which, sizeof which, ", sample %d", sample + 1);
        snprintf(name, sizeof name, "%s, noise %g%%%s: %s", law, 100 * noise, which, row[k].what);
        bench_add(results, name, (struct bench_value){row[k].value, NAN}, row[k].unit, NULL, NAN);
    }
}

/* only: the one law that is measured, from 1 on; 0: all; likewise noise_only. Samples, from `from`
 * on, outside, so that the first lines have every cell once. */
static int run_all(int laws, int only, int noise_only, int from, int samples, int seconds,
                   int threads)
{
    struct bench_results results = {0};
    int rc = bench_open(&results, "motion", threads);
    printf("law              noise  sample   rows  exponent     error  of best  best  front  told  "
           "sigma\n");
    const int first = only ? only - 1 : 0, count = (only ? only : laws) - first;
    for (int k = (from - 1) * count * NOISES; k < samples * count * NOISES && !rc; k++) {
        const int sample = k / (count * NOISES), law = first + k / NOISES % count;
        const double noise = noise_of[k % NOISES];
        struct result r;
        if (noise_only && k % NOISES != noise_only - 1)
            continue;
        rc = run(law, noise, sample, seconds, threads, &r);
        printf("%-15s %5.1f%%  %6d %6.0f  %+8.4f  %8.2g  %+7.4f  %4s  %5s  %4s  %5.1f\n",
               law_name[law], 100 * noise, sample + 1, r.rows, r.exponent, r.error, r.of_best,
               r.best ? "yes" : "no", r.front ? "yes" : "no", r.told.is_law ? "yes" : "no",
               r.told.sigma);
        fflush(stdout);
        add(&results, law_name[law], noise, sample, &r);
    }
    return bench_close(&results, rc);
}

int main(int argc, char **argv)
{
    bench_help(argc, argv,
               "bench_motion [--seconds 10] [--threads 1] [--laws 9] [--law N]\n"
               "             [--noise 1: none, 2: 0.1%, 3: 1%] [--from 1] [--samples 3]\n"
               "bench_motion --methods 1\n"
               "bench_motion --planets FILE.csv\n");
    int seconds = 10, threads = 1, laws = LAWS, methods = 0, only = 0, noise_only = 0, from = 1,
        samples = 3;
    int rc = 0;
    const char *planets = NULL;
    for (int i = 1; i < argc && !rc; i += 2)
        if (!strcmp(argv[i], "--planets") && argv[i + 1])
            planets = argv[i + 1];
        else
            rc = !strcmp(argv[i], "--seconds")   ? bench_number(argv[i], argv[i + 1], 1, &seconds)
                 : !strcmp(argv[i], "--threads") ? bench_number(argv[i], argv[i + 1], 1, &threads)
                 : !strcmp(argv[i], "--methods") ? bench_number(argv[i], argv[i + 1], 1, &methods)
                 : !strcmp(argv[i], "--samples") ? bench_number(argv[i], argv[i + 1], 1, &samples)
                 : !strcmp(argv[i], "--law")     ? bench_number(argv[i], argv[i + 1], 1, &only)
                 : !strcmp(argv[i], "--noise") ? bench_number(argv[i], argv[i + 1], 1, &noise_only)
                 : !strcmp(argv[i], "--from")  ? bench_number(argv[i], argv[i + 1], 1, &from)
                 : !strcmp(argv[i], "--laws")  ? bench_number(argv[i], argv[i + 1], 1, &laws)
                                               : ORR_FAIL(ORR_EUSAGE, "no option \"%s\"", argv[i]);
    if (!rc && noise_only > NOISES)
        rc = ORR_FAIL(ORR_EUSAGE, "--noise: expected 1 to %d; see --help", NOISES);
    if (!rc)
        rc = planets   ? write_planets(planets)
             : methods ? compare_ways(threads)
                       : run_all(laws < LAWS ? laws : LAWS, only < LAWS ? only : LAWS, noise_only,
                                 from, samples, seconds, threads);
    if (rc)
        fprintf(stderr, "bench_motion: %s\n", orr_error());
    return rc != 0;
}
