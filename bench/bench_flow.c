/* bench_flow.c - how good constants are that are fitted to tracks by integrating: how often their
 * 95% intervals contain the true ones, what their errors and their bias are, and what a fit costs.
 *
 * Tracks are solutions of a known system from random starts (each 20% around the case's), with
 * normal noise that is a share of each coordinate's root mean square. A fit begins with constants
 * that are off by 5% at random, and at the measured values themselves: without smoothing. In one
 * case six tracks have a constant of their own beside a common one. Per case:
 * share of constants inside of their 95% interval, mean and standard deviation of z = (fitted -
 * true) / standard error, chi^2 per degree of freedom, fits that did not converge to the true
 * system, processor time of a fit; of the last constant also its mean error, with a standard error.
 *     bench_flow [--samples 200] [--cases N] [--first 0]
 * Writes bench/results/flow.json. */
#include <gsl/gsl_randist.h>

#include "bench.h"
#include "symreg/dynamics/flow.h"

enum { DIMS = 3, STATES = 6, KINDS_OF_TRACKS = 6 };

struct kind {
    const char *name;
    int dims, order;
    const char *equation[DIMS];
    double start[STATES], end;
    int rows;
    double noise;
    bool known; /* the noise is given */
    /* tracks of so many categories, in which the constant c has these values; 0: one track */
    int categories;
    double each[KINDS_OF_TRACKS];
};
#define ORBIT "/ (x * x + y * y)^1.5"
static const struct kind kinds[] = {
    {"hunters and prey",
     2,
     1,
     {"1.1 * x - 0.4 * x * y", "0.1 * x * y - 0.4 * y"},
     {10, 5},
     30,
     150,
     0.01,
     true,
     0,
     {0}},
    {"hunters and prey",
     2,
     1,
     {"1.1 * x - 0.4 * x * y", "0.1 * x * y - 0.4 * y"},
     {10, 5},
     30,
     150,
     0.05,
     true,
     0,
     {0}},
    {"hunters and prey, sigma unknown",
     2,
     1,
     {"1.1 * x - 0.4 * x * y", "0.1 * x * y - 0.4 * y"},
     {10, 5},
     30,
     150,
     0.05,
     false,
     0,
     {0}},
    {"pendulum with friction",
     1,
     2,
     {"-2.1 * sin(x) - 0.15 * u"},
     {2, 0.4},
     20,
     150,
     0.01,
     true,
     0,
     {0}},
    {"pendulum with friction",
     1,
     2,
     {"-2.1 * sin(x) - 0.15 * u"},
     {2, 0.4},
     20,
     150,
     0.05,
     true,
     0,
     {0}},
    {"Lorenz's system",
     3,
     1,
     {"10 * (y - x)", "x * (28 - z) - y", "x * y - 2.667 * z"},
     {1, 2, 20},
     10,
     500,
     0.01,
     true,
     0,
     {0}},
    {"orbits of e about 0.3",
     2,
     2,
     {"-39.478 * x " ORBIT, "-39.478 * y " ORBIT},
     {1.3, 0, 0, 4.61},
     4,
     300,
     0.01,
     true,
     0,
     {0}},
    {"orbits of e about 0.6",
     2,
     2,
     {"-39.478 * x " ORBIT, "-39.478 * y " ORBIT},
     {1.6, 0, 0, 3.14},
     4,
     300,
     0.01,
     true,
     0,
     {0}},
    {"orbits of e about 0.9",
     2,
     2,
     {"-39.478 * x " ORBIT, "-39.478 * y " ORBIT},
     {1.9, 0, 0, 1.44},
     4,
     300,
     0.01,
     true,
     0,
     {0}},
    {"1,000 rows",
     2,
     1,
     {"1.1 * x - 0.4 * x * y", "0.1 * x * y - 0.4 * y"},
     {10, 5},
     60,
     1000,
     0.01,
     true,
     0,
     {0}},
    {"10,000 rows",
     2,
     1,
     {"1.1 * x - 0.4 * x * y", "0.1 * x * y - 0.4 * y"},
     {10, 5},
     60,
     10000,
     0.01,
     true,
     0,
     {0}},
    {"friction of each of 6 pendulums",
     1,
     2,
     {"-2.1 * sin(x) - c * u"},
     {2, 0.4},
     20,
     150,
     0.01,
     true,
     KINDS_OF_TRACKS,
     {0.05, 0.12, 0.2, 0.31, 0.44, 0.6}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- tracks */

struct system {
    struct sr_flow flow;
    struct sr_expr equation[DIMS];
    struct sr_each each;
};
struct rows {
    double *t, *truth, *x, *sigma;
    void *block;
};

static int make_system(const struct kind *kind, struct system *system)
{
    static const char *const state[] = {"x", "y", "z"}, *const velocity[] = {"u", "v", "w"};
    const char *name[SR_EACH_FIRST + 1] = {0};
    int names = 0;
    for (int d = 0; d < kind->dims; d++)
        name[names++] = state[d];
    for (int d = 0; d < kind->dims && kind->order == 2; d++)
        name[names++] = velocity[d];
    name[names++] = "t";
    while (names < SR_EACH_FIRST)
        name[names++] = "";
    name[names++] = "c";
    for (int d = 0; d < kind->dims; d++)
        TRY(sr_expr_parse(NULL, kind->equation[d], name, names, &system->equation[d]));
    memcpy(system->each.value[0], kind->each, sizeof kind->each);
    system->flow = (struct sr_flow){.dims = kind->dims,
                                    .order = kind->order,
                                    .equation = system->equation,
                                    .each = &system->each,
                                    .categories = kind->categories};
    return 0;
}

static int make_track(const struct kind *kind, const struct system *system, int category,
                      gsl_rng *rng, struct rows *track)
{
    struct sr_expr settled[DIMS];
    struct sr_flow flow = system->flow;
    flow.equation = settled;
    for (int d = 0; d < kind->dims; d++) {
        settled[d] = system->equation[d];
        sr_each_settle(&system->each, (size_t)category, &settled[d]);
    }
    double start[STATES];
    const size_t n = (size_t)kind->rows, states = (size_t)(kind->dims * kind->order);
    track->block = orr_alloc(n * (1 + states + 2 * (size_t)kind->dims), sizeof(double));
    TRY(track->block ? 0 : ORR_ENOMEM);
    track->t = track->block;
    track->truth = track->t + n;
    track->x = track->truth + states * n;
    track->sigma = track->x + (size_t)kind->dims * n;
    for (size_t k = 0; k < states; k++)
        start[k] = kind->start[k] * (0.9 + 0.2 * gsl_rng_uniform(rng));
    for (size_t i = 0; i < n; i++)
        track->t[i] = kind->end * (double)i / (double)(n - 1);
    TRY(sr_flow_solve(&flow, start, n, track->t, NULL, 1e-11, track->truth));
    for (size_t d = 0; d < (size_t)kind->dims; d++) {
        double squares = 0;
        for (size_t i = 0; i < n; i++)
            squares += track->truth[d * n + i] * track->truth[d * n + i];
        for (size_t i = d * n; i < (d + 1) * n; i++) {
            track->sigma[i] = kind->noise * sqrt(squares / (double)n);
            track->x[i] = track->truth[i] + gsl_ran_gaussian(rng, track->sigma[i]);
        }
    }
    return 0;
}

/* ---- a case */

struct sums {
    double constants, inside, z, squares, chi2, lost, seconds, off, off_squares, fits;
};

/* Adds a fit. One whose chi^2 is far from that of the truth has found another optimum. */
static void add_fit(const struct kind *kind, const double *exact, double seconds,
                    const struct sr_flow_result *r, struct sums *sum)
{
    const double freedom = (double)r->rows - r->constants - r->starts * kind->dims * kind->order;
    double chi2 = r->chi2 / freedom;
    sum->seconds += seconds;
    if (!r->converged || (kind->known && !(chi2 < 2))) {
        sum->lost++;
        return;
    }
    sum->fits++;
    sum->chi2 += chi2;
    for (int c = 0; c < r->constants; c++) {
        const double z = (r->value[c] - exact[c]) / r->error[c];
        sum->constants++;
        sum->inside += fabs(z) < 1.959964;
        sum->z += z;
        sum->squares += z * z;
    }
    const double off = r->value[r->constants - 1] - exact[r->constants - 1];
    sum->off += off;
    sum->off_squares += off * off;
}

/* The constants of the system, in the order of a fit, into `exact`; then they are 5% off. */
static void spoil(const struct kind *kind, gsl_rng *rng, struct system *system, double *exact)
{
    double value[SR_NODES];
    int numbers = 0;
    for (int d = 0; d < kind->dims; d++) {
        const int count = sr_expr_constants(&system->equation[d], value);
        for (int c = 0; c < count; c++) {
            exact[numbers++] = value[c];
            value[c] *= 1 + gsl_ran_gaussian(rng, 0.05);
        }
        sr_expr_set_constants(&system->equation[d], value);
    }
    for (int k = 0; k < kind->categories; k++) {
        exact[numbers++] = kind->each[k];
        system->each.value[0][k] *= 1 + gsl_ran_gaussian(rng, 0.05);
    }
}

static int run(const struct kind *kind, uint64_t stream, struct sums *sum)
{
    const struct sr_flow_options options = {.free_exponents = true};
    const int tracks = kind->categories ? kind->categories : 1;
    struct system system;
    struct rows rows[KINDS_OF_TRACKS] = {{.block = NULL}};
    struct sr_flow_track measured[KINDS_OF_TRACKS];
    struct sr_flow_result result = {0};
    double exact[DIMS * SR_NODES];
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, stream);
    int rc = rng ? make_system(kind, &system) : ORR_ENOMEM;
    for (int k = 0; k < tracks && !rc; k++) {
        rc = make_track(kind, &system, k, rng, &rows[k]);
        measured[k] = (struct sr_flow_track){.n = (size_t)kind->rows,
                                             .category = (size_t)k,
                                             .t = rows[k].t,
                                             .x = rows[k].x,
                                             .sigma = kind->known ? rows[k].sigma : NULL};
    }
    if (!rc) {
        spoil(kind, rng, &system, exact);
        const double begin = bench_processor_s();
        rc = sr_flow_fit(&system.flow, (size_t)tracks, measured, &options, &result);
        if (!rc)
            add_fit(kind, exact, bench_processor_s() - begin, &result, sum);
        sr_flow_result_free(&result);
    }
    gsl_rng_free(rng);
    for (int k = 0; k < tracks; k++)
        free(rows[k].block);
    return rc;
}

static int run_kind(int number, int samples, struct bench_results *results)
{
    const struct kind *kind = &kinds[number];
    struct sums s = {0};
    for (int i = 0; i < samples; i++)
        TRY(run(kind, (uint64_t)(10000 * (number + 1) + i), &s));
    const double mean = s.z / s.constants, off = s.off / s.fits;
    const double sd = sqrt(s.squares / s.constants - mean * mean);
    const double error = sqrt((s.off_squares / s.fits - off * off) / (s.fits - 1));
    printf("%-32s %5g  %5.1f%%  %+5.2f %5.2f  %5.3f  %4g  %7.4f  %+9.2g +- %.2g\n", kind->name,
           kind->noise, 100 * s.inside / s.constants, mean, sd, s.chi2 / s.fits, s.lost,
           s.seconds / samples, off, error);
    fflush(stdout);
    const struct {
        const char *what, *unit;
        double value;
    } row[] = {{"share inside", "", s.inside / s.constants},
               {"mean of z", "", mean},
               {"sd of z", "", sd},
               {"chi^2 per degree of freedom", "", s.chi2 / s.fits},
               {"other optima", "", s.lost},
               {"a fit", "s", s.seconds / samples},
               {"mean error of the last constant", "", off},
               {"standard error of that mean", "", error}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        char name[128];
        snprintf(name, sizeof name, "%s, noise %g: %s", kind->name, kind->noise, row[k].what);
        bench_add(results, name, (struct bench_value){row[k].value, NAN}, row[k].unit, NULL, NAN);
    }
    return 0;
}

static int run_all(int first, int cases, int samples)
{
    struct bench_results results = {0};
    int rc = bench_open(&results, "flow", 1);
    printf("case                             noise  inside   mean sd(z)   chi^2  lost   seconds  "
           "error of the last constant\n");
    for (int k = first; k < first + cases && k < KINDS && !rc; k++)
        rc = run_kind(k, samples, &results);
    return bench_close(&results, rc);
}

int main(int argc, char **argv)
{
    bench_help(argc, argv, "bench_flow [--samples 200] [--cases N] [--first 0]\n");
    int samples = 200, cases = KINDS, first = 0, rc = 0;
    for (int i = 1; i < argc && !rc; i += 2)
        rc = !strcmp(argv[i], "--samples") ? bench_number(argv[i], argv[i + 1], 1, &samples)
             : !strcmp(argv[i], "--cases") ? bench_number(argv[i], argv[i + 1], 1, &cases)
             : !strcmp(argv[i], "--first") ? bench_number(argv[i], argv[i + 1], 0, &first)
                                           : ORR_FAIL(ORR_EUSAGE, "no option \"%s\"", argv[i]);
    if (!rc)
        rc = run_all(first, cases, samples);
    if (rc)
        fprintf(stderr, "bench_flow: %s\n", orr_error());
    return rc != 0;
}
