/* bench_motion_errors.c - how often 95% intervals of a law's constants contain the true ones.
 *
 * Tracks are integrated under a known law, sampled and given normal noise, and go the way of
 * `symreg motion`; the amplitude k of F = k f(r) m1 m2 is fitted with the rows' weights, as the
 * constant of `k m1 m2 / r^2` is. Its standard error is that of report.md: sr_motion_error(). With
 * --paths k and the exponent are instead fitted to the paths themselves, whole at the end, from 5%
 * beside the true ones on (sr_arcs_fit_whole()).
 * Per case: sd and mean of z = (fitted - true) / standard error, share of |z| < 1.96, and chi^2 per
 * row of the true law. The random numbers of a sample are those of its case and number.
 *     bench_motion_errors [--paths] [--samples 40] [--threads 1] [--cases N] [--first 0]
 * Writes bench/results/motion_errors.json, or motion_path_errors.json. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_odeiv2.h>
#include <gsl/gsl_randist.h>

#include "bench.h"
#include "symreg/motion/arcs.h"

enum { MOST = 4 };

struct kind {
    const char *name;
    int bodies;    /* 1: about a point */
    int systems;   /* of such bodies, with other orbits */
    double e;      /* eccentricity, under Newton's law, of the first pair */
    int rows;      /* of a track */
    double orbits; /* length of a track in periods of the first pair */
    bool uneven;
    double power; /* of r in the law */
    double noise; /* of a coordinate, over the semi-major axis 1 */
};
static const struct kind kinds[] = {
    {"point, e 0.2, even", 1, 1, 0.2, 200, 8, false, -2, 1e-2},
    {"point, e 0.2, even", 1, 1, 0.2, 200, 8, false, -2, 1e-3},
    {"point, e 0.4, even", 1, 1, 0.4, 100, 5, false, -2, 1e-3},
    {"point, e 0.4, uneven", 1, 1, 0.4, 200, 8, true, -2, 1e-3},
    {"point, e 0.4, uneven", 1, 1, 0.4, 200, 8, true, -2, 1e-2},
    {"point, e 0.5, even", 1, 1, 0.5, 150, 6, false, -2, 1e-4},
    {"point, e 0.7, even", 1, 1, 0.7, 150, 4, false, -2, 1e-3},
    {"point, e 0.7, uneven", 1, 1, 0.7, 200, 5, true, -2, 1e-4},
    {"point, 1/r, even", 1, 1, 0.5, 150, 6, false, -1, 1e-3},
    {"point, r^-2.5, uneven", 1, 1, 0.3, 150, 6, true, -2.5, 1e-3},
    {"two bodies, e 0.3, even", 2, 1, 0.3, 120, 5, false, -2, 1e-3},
    {"two bodies, e 0.6, uneven", 2, 1, 0.6, 150, 5, true, -2, 1e-3},
    {"two bodies, 1/r, even", 2, 1, 0.5, 120, 5, false, -1, 1e-2},
    {"ten systems of two, e 0.3", 2, 10, 0.3, 60, 3, false, -2, 1e-3},
    {"ten systems of two, e 0.5", 2, 10, 0.5, 60, 3, true, -2, 1e-2},
    {"star and two planets, even", 3, 1, 0.2, 150, 6, false, -2, 1e-4},
    {"star and two planets, uneven", 3, 1, 0.3, 150, 6, true, -2, 1e-3},
    {"star, planet, two moons", 4, 1, 0.2, 160, 1, false, -2, 1e-4},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const double amplitude = 39.478417604357434;

/* ---- motion */

struct system {
    int bodies;
    double mass[MOST], power;
};

/* y: positions (bodies, 2), then velocities. The only body of a system is drawn to the origin. */
static int derive(double t, const double y[], double f[], void *of)
{
    (void)t;
    const struct system *s = of;
    const int n = 2 * s->bodies;
    for (int i = 0; i < n; i++) {
        f[i] = y[n + i];
        f[n + i] = 0;
    }
    for (int a = 0; a < s->bodies; a++)
        for (int b = s->bodies == 1 ? -1 : 0; b < a; b++) {
            const double dx = (b < 0 ? 0 : y[2 * b]) - y[2 * a],
                         dy = (b < 0 ? 0 : y[2 * b + 1]) - y[2 * a + 1];
            const double pull = amplitude * pow(hypot(dx, dy), s->power - 1);
            const double mb = b < 0 ? 1 : s->mass[b];
            f[n + 2 * a] += mb * pull * dx;
            f[n + 2 * a + 1] += mb * pull * dy;
            if (b >= 0) {
                f[n + 2 * b] -= s->mass[a] * pull * dx;
                f[n + 2 * b + 1] -= s->mass[a] * pull * dy;
            }
        }
    return GSL_SUCCESS;
}

/* Puts body a on an orbit about body b (-1: the origin) at its periapsis, at an angle. */
static void place(struct system *s, double *y, int a, int b, double axis, double e, double angle)
{
    const double total = b < 0 ? 1 : s->mass[a] + s->mass[b], r = axis * (1 - e);
    const double speed = sqrt(amplitude * total * pow(r, s->power + 1) * (1 + e));
    const double state[4] = {r * cos(angle), r * sin(angle), -speed * sin(angle),
                             speed * cos(angle)};
    for (int k = 0; k < 4; k++) {
        const int at = 2 * s->bodies * (k / 2) + k % 2;
        y[at + 2 * a] = state[k] + (b < 0 ? 0 : y[at + 2 * b]);
    }
}

static void start(const struct kind *kind, gsl_rng *rng, struct system *s, double *y)
{
    const double angle = 2 * M_PI * gsl_rng_uniform(rng),
                 e = fmin(0.8, kind->e * (kind->systems > 1 ? 0.5 + gsl_rng_uniform(rng) : 1));
    *s = (struct system){.bodies = kind->bodies, .mass = {1, 0.3}, .power = kind->power};
    memset(y, 0, 4 * MOST * sizeof *y);
    if (kind->bodies == 1) {
        place(s, y, 0, -1, 1, e, angle);
        return;
    }
    if (kind->systems > 1)
        s->mass[1] = 0.1 + gsl_rng_uniform(rng);
    if (kind->bodies == 3) {
        s->mass[1] = 0.001;
        s->mass[2] = 0.003;
        place(s, y, 2, 0, 2.3, 0.1, angle + 2);
    }
    if (kind->bodies == 4) {
        s->mass[1] = 1e-3;
        s->mass[2] = s->mass[3] = 1e-6;
    }
    place(s, y, 1, 0, 1, e, angle);
    if (kind->bodies == 4) {
        place(s, y, 2, 1, 0.02, 0.05, angle + 1);
        place(s, y, 3, 1, 0.035, 0.02, angle + 3);
    }
}

/* Fills the tracks of one system. */
static int integrate(const struct kind *kind, gsl_rng *rng, const char *name,
                     struct sr_track *track)
{
    struct system s;
    double y[4 * MOST], t = 0;
    start(kind, rng, &s, y);
    gsl_odeiv2_system ode = {derive, NULL, (size_t)(4 * s.bodies), &s};
    gsl_odeiv2_driver *driver =
        gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-4, 1e-13, 1e-13);
    int rc = driver ? 0 : ORR_ENOMEM;
    const double step = kind->orbits / kind->rows / sqrt(s.bodies > 1 ? s.mass[0] + s.mass[1] : 1);
    for (int i = 0; i < kind->rows && !rc; i++) {
        const double to = step * (i + 1 + (kind->uneven ? 0.8 * (gsl_rng_uniform(rng) - 0.5) : 0));
        if (gsl_odeiv2_driver_apply(driver, &t, to, y))
            rc = ORR_FAIL(ORR_EDOM, "%s: the integration failed", kind->name);
        for (int b = 0; b < s.bodies; b++) {
            track[b].t[i] = t;
            for (int d = 0; d < 2; d++)
                track[b].x[d * kind->rows + i] = y[2 * b + d] + gsl_ran_gaussian(rng, kind->noise);
        }
    }
    for (int b = 0; b < s.bodies; b++) {
        track[b].system = name;
        track[b].mass = s.bodies > 1 ? s.mass[b] : 0;
    }
    gsl_odeiv2_driver_free(driver);
    return rc;
}

/* ---- the amplitude */

struct sample {
    double z, chi2, off, rows;
    double z_power; /* of the exponent; NAN: not fitted */
    bool lost;      /* no solution follows whole paths within 1.5 standard deviations */
};

static void measure(const struct kind *kind, const struct sr_motion_table *table,
                    struct sample *sample)
{
    double up = 0, down = 0, chi2 = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < table->count; i++) {
            const struct sr_motion_row *row = &table->row[i];
            const double f = pow(row->r, kind->power) * (table->force ? row->m1 * row->m2 : 1);
            const double w = 1 / (row->sigma * row->sigma);
            up += pass ? 0 : w * f * row->value;
            down += pass ? 0 : w * f * f;
            chi2 += pass ? w * pow(row->value - up / down * f, 2) : 0;
        }
    const double n = (double)table->count;
    const double error = sqrt(sr_motion_variance(table->inflation, chi2, n - 1) / down);
    *sample = (struct sample){
        (up / down - amplitude) / error, chi2 / n, up / down / amplitude - 1, n, NAN, false};
}

/* Fits k and the exponent to the paths of all bodies. */
static int measure_paths(const struct kind *kind, const struct sr_tracks *tracks,
                         const struct sr_motion_table *table, gsl_rng *rng, struct sample *sample)
{
    static const char *const names[] = {"r", "m1", "m2"};
    char text[64];
    struct sr_paths paths;
    struct sr_form form;
    struct sr_expr expr;
    struct sr_arcs_fit fit;
    snprintf(text, sizeof text, "%.17g*r^(%.17g)%s", amplitude * (1 + gsl_ran_gaussian(rng, 0.05)),
             kind->power * (1 + gsl_ran_gaussian(rng, 0.05)), table->force ? "*m1*m2" : "");
    int rc = sr_paths_create(tracks, table, names, 3, 100000, &paths);
    rc = rc ? rc : sr_expr_parse(NULL, text, names, 3, &expr);
    if (!rc) {
        sr_form_make(&expr, &form);
        rc = sr_arcs_fit_whole(&paths, 5, 0, &form, paths.state, &fit);
    }
    if (!rc) {
        const double spare = (double)(fit.numbers - fit.starts) - form.params;
        const double scale = sqrt(fit.chi2 / spare);
        *sample = (struct sample){(fit.value[0] - amplitude) / fit.u.error[0] / scale,
                                  fit.chi2 / spare,
                                  fit.value[0] / amplitude - 1,
                                  (double)paths.rows,
                                  (fit.value[1] - kind->power) / fit.u.error[1] / scale,
                                  !fit.whole || !(scale < 1.5)};
    }
    sr_paths_free(&paths);
    return rc;
}

static int run(int number, int index, int threads, bool by_paths, struct sample *sample)
{
    const struct kind *kind = &kinds[number];
    static const char *const name[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    size_t rows[10 * MOST];
    struct sr_tracks tracks = {.file = "tracks"};
    struct sr_motion_table table = {0};
    const size_t count = (size_t)(kind->bodies * kind->systems);
    for (size_t k = 0; k < count; k++)
        rows[k] = (size_t)kind->rows;
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, (uint64_t)(1000 * (number + 1) + index));
    int rc = rng ? sr_tracks_create(&tracks, 2, count, rows) : ORR_ENOMEM;
    for (int s = 0; s < kind->systems && !rc; s++)
        rc = integrate(kind, rng, name[s], tracks.track + s * kind->bodies);
    if (!rc)
        rc = sr_motion_make(&tracks, kind->bodies == 1 ? "0,0" : NULL, threads, &table);
    if (!rc && by_paths)
        rc = measure_paths(kind, &tracks, &table, rng, sample);
    else if (!rc)
        measure(kind, &table, sample);
    gsl_rng_free(rng);
    sr_motion_free(&table);
    sr_tracks_free(&tracks);
    return rc;
}

/* ---- the table */

struct total {
    double fits, inside, inside_power, lost;
};

static int run_kind(int number, int samples, int threads, bool by_paths,
                    struct bench_results *results, struct total *total)
{
    double sum = 0, squares = 0, chi2 = 0, off = 0, rows = 0, sum_power = 0, squares_power = 0;
    struct total of = {0};
    for (int i = 0; i < samples; i++) {
        struct sample s;
        TRY(run(number, i, threads, by_paths, &s));
        of.lost += s.lost;
        if (s.lost)
            continue;
        of.fits++;
        sum += s.z;
        squares += s.z * s.z;
        of.inside += fabs(s.z) < 1.959964;
        sum_power += s.z_power;
        squares_power += s.z_power * s.z_power;
        of.inside_power += fabs(s.z_power) < 1.959964;
        chi2 += s.chi2;
        off += s.off * s.off;
        rows += s.rows;
    }
    const double n = of.fits, mean = sum / n, sd = sqrt(squares / n - mean * mean);
    const double sd_power = sqrt(squares_power / n - pow(sum_power / n, 2));
    total->fits += n;
    total->inside += of.inside;
    total->inside_power += of.inside_power;
    total->lost += of.lost;
    printf("%-30s %6g  %5.0f  %8.2g  %5.2f  %+5.2f  %6.2f  %5.1f%%  %5.1f%%  %4g\n",
           kinds[number].name, kinds[number].noise, rows / n, sqrt(off / n), sd, mean, chi2 / n,
           100 * of.inside / n, by_paths ? 100 * of.inside_power / n : (double)NAN, of.lost);
    fflush(stdout);
    const struct {
        const char *what;
        double value;
    } row[] = {{"rows", rows / n},
               {"rms relative error", sqrt(off / n)},
               {"sd of z", sd},
               {"mean of z", mean},
               {"chi^2 per row", chi2 / n},
               {"share inside", of.inside / n},
               {"sd of z of the exponent", sd_power},
               {"share inside of the exponent", of.inside_power / n},
               {"lost", of.lost}};
    for (size_t k = 0; k < (by_paths ? sizeof row / sizeof *row : 6); k++) {
        char name[128];
        snprintf(name, sizeof name, "%s, noise %g: %s", kinds[number].name, kinds[number].noise,
                 row[k].what);
        bench_add(results, name, (struct bench_value){row[k].value, NAN}, "", NULL, NAN);
    }
    return 0;
}

static int run_all(int first, int cases, int samples, int threads, bool by_paths)
{
    struct bench_results results = {0};
    struct total total = {0};
    int rc = bench_open(&results, by_paths ? "motion_path_errors" : "motion_errors", threads);
    printf("case                            noise   rows     error  sd(z)   mean  chi^2  inside  "
           "exponent  lost\n");
    for (int k = first; k < first + cases && k < KINDS && !rc; k++)
        rc = run_kind(k, samples, threads, by_paths, &results, &total);
    const double share = total.inside / total.fits;
    printf("all: %.1f%% of %.0f, exponents %.1f%%, %g lost\n", 100 * share, total.fits,
           by_paths ? 100 * total.inside_power / total.fits : (double)NAN, total.lost);
    bench_add(&results, "all: share inside", (struct bench_value){share, NAN}, "", NULL, NAN);
    bench_add(&results, "all: samples", (struct bench_value){total.fits, NAN}, "", NULL, NAN);
    if (by_paths) {
        bench_add(&results, "all: share inside of the exponent",
                  (struct bench_value){total.inside_power / total.fits, NAN}, "", NULL, NAN);
        bench_add(&results, "all: lost", (struct bench_value){total.lost, NAN}, "", NULL, NAN);
    }
    return bench_close(&results, rc);
}

int main(int argc, char **argv)
{
    bench_help(argc, argv,
               "bench_motion_errors [--paths] [--samples 40] [--threads 1] [--cases N] "
               "[--first 0]\n");
    const bool by_paths = argc > 1 && !strcmp(argv[1], "--paths");
    int samples = 40, threads = 1, cases = KINDS, first = 0, rc = 0;
    for (int i = 1 + by_paths; i < argc && !rc; i += 2)
        rc = !strcmp(argv[i], "--samples")   ? bench_number(argv[i], argv[i + 1], 1, &samples)
             : !strcmp(argv[i], "--threads") ? bench_number(argv[i], argv[i + 1], 1, &threads)
             : !strcmp(argv[i], "--cases")   ? bench_number(argv[i], argv[i + 1], 1, &cases)
             : !strcmp(argv[i], "--first")   ? bench_number(argv[i], argv[i + 1], 0, &first)
                                             : ORR_FAIL(ORR_EUSAGE, "no option \"%s\"", argv[i]);
    if (!rc)
        rc = run_all(first, cases, samples, threads, by_paths);
    if (rc)
        fprintf(stderr, "bench_motion_errors: %s\n", orr_error());
    return rc != 0;
}
