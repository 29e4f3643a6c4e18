/* bench_symreg_categories.c - how often a law of several objects is found with --category.
 *
 * Eight laws, each with ten objects of 50 rows, whose constants are drawn for every object (or are
 * common to all); noise of 0, 0.1, 1 and 10% of the spread of y over all rows. Each table is
 * searched for some seconds of processor time with the operators and sizes of presets/table.json,
 * and the default rule (`best`) chooses. A law counts as found when the form of that row, with its
 * constants fitted to the rows without noise, leaves less than 1e-10 of their variance, and the row
 * as it stands is within 0.001 + noise spreads of the law at 90% of them. `front`: some row is so.
 *     bench_symreg_categories [--seconds 10] [--samples 1] [--threads 1]
 * Writes bench/results/symreg_categories.json. About 6 minutes. */
#include <gsl/gsl_randist.h>

#include "base/stop.h"
#include "bench.h"
#include "symreg_settings.h"
#include "symreg/solve/solve.h"

#include <pthread.h>
#include <stdatomic.h>

enum { OBJECTS = 10, EACH = 50, ROWS = OBJECTS * EACH, COLUMNS = 2, CONSTANTS = 3, NOISES = 4 };
static const double noise_of[NOISES] = {0, 0.001, 0.01, 0.1};

static double oscillator(const double *x, const double *p)
{
    return p[0] * exp(-0.1 * x[0]) * sin(p[1] * x[0] + 0.5);
}
static double decay(const double *x, const double *p)
{
    return p[0] * exp(-x[0] / p[1]) + p[2];
}
static double lorentz(const double *x, const double *p)
{
    return p[0] / (1 + p[1] * x[0] * x[0]);
}
static double newton(const double *x, const double *p)
{
    return p[0] * x[0] / (x[1] * x[1]);
}
static double kepler(const double *x, const double *p)
{
    return x[0] * sqrt(x[0]) / sqrt(p[0]);
}
static double arrhenius(const double *x, const double *p)
{
    return p[0] * exp(-p[1] / x[0]);
}
static double michaelis(const double *x, const double *p)
{
    return p[0] * x[0] / (p[1] + x[0]) + 0.3 * x[1];
}
static double drag(const double *x, const double *p)
{
    return p[0] * x[0] - p[1] * x[0] * x[0] + 2.5;
}
static const struct law {
    const char *name;
    double (*value)(const double *x, const double *p);
    int columns;
    double low, high; /* of the columns */
    double least[CONSTANTS], most[CONSTANTS];
} laws[] = {
    {"oscillator a exp(-0.1 t) sin(w t + 0.5)", oscillator, 1, 0, 10, {1, 1, 0}, {3, 3, 0}},
    {"decay a exp(-t / tau) + c", decay, 1, 0, 8, {1, 1, 0.5}, {5, 4, 2}},
    {"Lorentz a / (1 + b x^2)", lorentz, 1, -4, 4, {1, 0.3, 0}, {5, 2, 0}},
    {"Newton k m / r^2", newton, 2, 0.5, 5, {1, 0, 0}, {10, 0, 0}},
    {"Kepler a^1.5 / sqrt(M)", kepler, 1, 0.3, 10, {0.5, 0, 0}, {3, 0, 0}},
    {"Arrhenius a exp(-e / T)", arrhenius, 1, 1, 5, {1, 2, 0}, {10, 6, 0}},
    {"Michaelis a s / (k + s) + 0.3 u", michaelis, 2, 0.1, 6, {2, 0.5, 0}, {8, 3, 0}},
    {"drag v t - g t^2 + 2.5", drag, 1, 0, 4, {5, 1, 0}, {15, 5, 0}},
};
enum { LAWS = sizeof laws / sizeof *laws };

struct problem {
    double x[(COLUMNS + SR_PARAMETERS) * ROWS], clean[ROWS], y[ROWS], spread;
    int object[ROWS];
    struct sr_table table;
    struct sr_data data; /* without noise */
};

static int draw(struct problem *p, const struct law *law, double noise, int sample)
{
    static char *name[1] = {"object"};
    static double label[ROWS];
    static size_t line[ROWS];
    const struct orr_csv csv = {
        .rows = ROWS, .cols = 1, .names = name, .values = label, .line = line};
    gsl_rng *rng =
        orr_rng_create((uint64_t)sample, ORR_STAGE_TEST_SUITE, 400 + (uint64_t)(law - laws));
    double constant[CONSTANTS] = {0}, mean = 0, square = 0, point[COLUMNS] = {0};
    if (!rng)
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    for (int i = 0; i < ROWS; i++) {
        for (int c = 0; c < CONSTANTS && i % EACH == 0; c++)
            constant[c] = law->least[c] + (law->most[c] - law->least[c]) * gsl_rng_uniform(rng);
        label[i] = i / EACH;
        for (int f = 0; f < law->columns; f++)
            p->x[f * ROWS + i] = point[f] =
                law->low + (law->high - law->low) * gsl_rng_uniform(rng);
        p->clean[i] = law->value(point, constant);
        mean += p->clean[i] / ROWS;
        square += p->clean[i] * p->clean[i] / ROWS;
    }
    p->spread = sqrt(square - mean * mean);
    for (int i = 0; i < ROWS; i++)
        p->y[i] = p->clean[i] + noise * p->spread * gsl_ran_ugaussian(rng);
    gsl_rng_free(rng);
    p->data = (struct sr_data){.rows = ROWS, .features = law->columns, .x = p->x, .y = p->clean};
    p->table = (struct sr_table){.data = p->data};
    p->table.data.y = p->y;
    const int rc = sr_category_read(&csv, "table", 0, NULL, &p->table.category);
    if (!rc)
        p->table.category->column = p->x + law->columns * ROWS;
    return rc;
}

/* Whether a row of the front is the law. */
static bool is_law(struct problem *p, const struct sr_categories *clean, struct sr_work *work,
                   const struct sr_front *front, int row, double noise)
{
    const struct sr_category *category = p->table.category;
    const int features = p->data.features;
    struct sr_expr form = front->expr[row];
    double value[ROWS];
    int close = 0;
    sr_category_enter(category, category, ROWS, row);
    if (!sr_eval(&form, &p->table.data, value))
        return false;
    for (int i = 0; i < ROWS; i++)
        close += fabs(value[i] - p->clean[i]) <= (0.001 + noise) * p->spread;
    for (int i = 0; i < form.count; i++)
        if (form.node[i].op == SR_FEATURE && form.node[i].feature >= features)
            form.node[i] = sr_constant_node(
                category->row[row]
                    .value[(form.node[i].feature - features) * OBJECTS + clean->reference]);
    const double left = sr_categories_fit(clean, &form, 100, 40, HUGE_VAL, work, NULL);
    return close >= 0.9 * ROWS && left <= 1e-10 * p->spread * p->spread;
}

/* Ends the search after its seconds of processor time, which other programs do not shorten. */
struct watch {
    struct orr_stop stop;
    double until_s;
    atomic_bool over;
};
static void *watch_time(void *of)
{
    struct watch *w = of;
    const struct timespec pause = {.tv_nsec = 20000000};
    while (!atomic_load(&w->over)) {
        if ((double)clock() / CLOCKS_PER_SEC >= w->until_s)
            atomic_store(&w->stop.asked, true);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static int search(const struct sr_settings *settings, struct sr_fit *fit, double seconds,
                  int threads)
{
    struct watch w = {.until_s = (double)clock() / CLOCKS_PER_SEC + seconds};
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch_time, &w))
        return ORR_FAIL(ORR_ENOMEM, "cannot start a thread");
    orr_stop_of_call = &w.stop;
    const int rc = sr_search(settings, fit, 1, threads, NULL);
    orr_stop_of_call = NULL;
    atomic_store(&w.over, true);
    pthread_join(thread, NULL);
    return rc == ORR_EINTR ? 0 : rc;
}

struct score {
    int tables, found, on_front;
    double seconds;
};

static int try_law(const struct law *law, double noise, int sample, double seconds, int threads,
                   struct score *score)
{
    static struct problem p;
    static struct sr_fit fit;
    const struct sr_settings settings = {
        TABLE_SETTINGS, .maxsize = 30,  .iterations = 100,      .populations = 31,
        .cycles = 380,  .patience = 30, .restarts_fresh = true, .seed = (uint64_t)sample};
    struct sr_categories clean = {0};
    struct sr_work work = {0};
    const double start = (double)clock();
    TRY(draw(&p, law, noise, sample));
    fit = (struct sr_fit){.data = p.table.data, .stream = 1};
    sr_category_give(&p.table, &fit);
    int rc = search(&settings, &fit, seconds, threads);
    if (!rc)
        rc = sr_category_finish(&settings, 0, &p.table, &fit);
    score->seconds += ((double)clock() - start) / CLOCKS_PER_SEC;
    if (!rc)
        rc = sr_categories_init(&clean, ORR_SR_L2, 0.5, &p.data, p.table.category->of_row, OBJECTS);
    if (!rc)
        rc = sr_work_init(&work, ROWS, SR_NODES);
    const int chosen = sr_front_select(&fit.front, SR_BEST);
    bool any = false;
    for (int i = 0; i < fit.front.count && !rc; i++) {
        const bool right = is_law(&p, &clean, &work, &fit.front, i, noise);
        any = any || right;
        score->found += right && i == chosen;
    }
    score->on_front += any;
    score->tables++;
    sr_categories_free(&clean);
    sr_work_free(&work);
    sr_category_free(p.table.category);
    return rc;
}

int main(int argc, char **argv)
{
    bench_help(argc, argv, "bench_symreg_categories [--seconds 10] [--samples 1] [--threads 1]\n");
    int seconds = 10, samples = 1, threads = 1, rc = 0;
    for (int i = 1; i < argc && !rc; i += 2)
        rc = !strcmp(argv[i], "--samples")   ? bench_number(argv[i], argv[i + 1], 1, &samples)
             : !strcmp(argv[i], "--seconds") ? bench_number(argv[i], argv[i + 1], 1, &seconds)
             : !strcmp(argv[i], "--threads") ? bench_number(argv[i], argv[i + 1], 1, &threads)
                                             : ORR_FAIL(ORR_EUSAGE, "no option \"%s\"", argv[i]);
    struct bench_results results = {0};
    if (!rc)
        rc = bench_open(&results, "symreg_categories", threads);
    printf("%-42s  noise  tables  found  front  seconds\n", "law");
    for (int k = 0; k < NOISES && !rc; k++) {
        struct score all = {0};
        char name[80];
        for (int l = 0; l < LAWS && !rc; l++) {
            struct score one = {0};
            for (int sample = 1; sample <= samples && !rc; sample++)
                rc = try_law(&laws[l], noise_of[k], sample, seconds, threads, &one);
            printf("%-42s  %4g%%  %6d  %5d  %5d  %7.1f\n", laws[l].name, 100 * noise_of[k],
                   one.tables, one.found, one.on_front, one.seconds / fmax(one.tables, 1));
            fflush(stdout);
            all.tables += one.tables;
            all.found += one.found;
            all.on_front += one.on_front;
        }
        const double tables = fmax(all.tables, 1);
        snprintf(name, sizeof name, "found by the default rule, %g%% noise", 100 * noise_of[k]);
        bench_add(&results, name, (struct bench_value){100 * all.found / tables, NAN}, "%", NULL,
                  NAN);
        snprintf(name, sizeof name, "on the front, %g%% noise", 100 * noise_of[k]);
        bench_add(&results, name, (struct bench_value){100 * all.on_front / tables, NAN}, "%", NULL,
                  NAN);
    }
    rc = bench_close(&results, rc);
    if (rc)
        fprintf(stderr, "bench_symreg_categories: %s\n", orr_error());
    return rc != 0;
}
