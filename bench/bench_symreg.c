/* bench_symreg.c - formulas per second of the regression engine, and the time to find a law.
 *
 * One evaluation = the values of a formula of 10 nodes on 1000 rows, its best outer scale and its
 * loss, as the search does for every formula it meets. Every figure is the median of several runs
 * after one to warm up, on one thread; the searches use the threads asked for. A run is
 *     bench_symreg [threads]
 * Writes bench/results/symreg.json, too. */
#include <gsl/gsl_randist.h>

#include "bench.h"
#include "symreg/symreg.h"

enum { ROWS = 1000, FEATURES = 3, RUNS = 9, REPEATS = 3000 };
static const char *const names[FEATURES] = {"r", "m1", "m2"};

struct table {
    struct sr_data data;
    double *x, *y;
};

/* Newton's law over the ranges of two-body orbits, times 1 + noise. */
static int table_create(struct table *t, uint64_t seed, double noise)
{
    gsl_rng *rng = orr_rng_create(seed, ORR_STAGE_TEST_SUITE, 1);
    t->x = orr_alloc((FEATURES + 1) * ROWS, sizeof *t->x);
    if (!rng || !t->x) {
        gsl_rng_free(rng);
        return ORR_FAIL(ORR_ENOMEM, "out of memory");
    }
    t->y = t->x + FEATURES * ROWS;
    for (size_t i = 0; i < ROWS; i++) {
        const double r = t->x[i] = 0.3 + 3.2 * gsl_rng_uniform(rng);
        const double m1 = t->x[ROWS + i] = 0.1 + 1.9 * gsl_rng_uniform(rng);
        const double m2 = t->x[2 * ROWS + i] = 0.1 + 1.9 * gsl_rng_uniform(rng);
        t->y[i] = 39.4784 * m1 * m2 / (r * r) * (1 + noise * gsl_ran_ugaussian(rng));
    }
    gsl_rng_free(rng);
    t->data = (struct sr_data){.rows = ROWS, .features = FEATURES, .x = t->x, .y = t->y};
    return 0;
}

/* ---- evaluations */

enum part { VALUES, LOSS, SCALE, WHOLE, JACOBIAN, PARTS };
static const char *const part_name[PARTS] = {"values", "loss", "scale", "evaluation", "jacobian"};
/* 10 nodes each, of the study's operators and of others */
static const char *const formulas[] = {
    "m1 * m2 * inv(r * r + 0.3)",
    "sin(r * m1) + exp(m2) * cos(r)",
    "sin(exp(inv(cos(sin(exp(cos(r * m1)))))))",
    "sqrt(r) * log(r + m1) - abs(m2)",
};
enum { FORMULAS = sizeof formulas / sizeof formulas[0] };

static double once(const struct sr_expr *expr, const struct sr_loss *loss, struct sr_work *work,
                   enum part part)
{
    double scale = 1, kept = 0;
    if ((part == VALUES || part == WHOLE) && !sr_eval(expr, loss->data, work->value))
        return HUGE_VAL;
    if (part == JACOBIAN && !sr_eval_jacobian(expr, loss->data, work->value, work->jacobian))
        return HUGE_VAL;
    if (part == SCALE || part == WHOLE)
        kept += scale = sr_loss_scale(loss, work->value, work->scratch);
    if (part == LOSS || part == WHOLE)
        kept += sr_loss_value(loss, work->value, scale);
    return kept;
}

/* Microseconds of one part, median of the runs. */
static struct bench_value part_us(const struct sr_expr *expr, const struct sr_loss *loss,
                                  struct sr_work *work, enum part part)
{
    double us[RUNS];
    volatile double sink = 0;
    once(expr, loss, work, VALUES);
    for (int run = -1; run < RUNS; run++) {
        const double start = orr_time_s();
        for (int i = 0; i < REPEATS; i++)
            sink = sink + once(expr, loss, work, part);
        if (run >= 0)
            us[run] = 1e6 * (orr_time_s() - start) / REPEATS;
    }
    return bench_median(us, RUNS);
}

static int bench_evaluations(const struct table *t, struct bench_results *results)
{
    struct sr_work work;
    struct sr_loss loss;
    int rc = sr_work_init(&work, ROWS, SR_NODES);
    if (rc)
        return rc;
    rc = sr_loss_init(&loss, ORR_SR_L1, &t->data);
    printf("10 nodes x %d rows, one thread, l1: microseconds\n", ROWS);
    printf("  values    loss   scale   whole  jacobian  evaluations/s  formula\n");
    for (int k = 0; k < FORMULAS && !rc; k++) {
        struct sr_expr expr;
        struct bench_value us[PARTS];
        rc = sr_expr_parse(formulas[k], names, FEATURES, &expr);
        if (rc)
            break;
        for (int part = 0; part < PARTS; part++) {
            char name[128];
            us[part] = part_us(&expr, &loss, &work, (enum part)part);
            snprintf(name, sizeof name, "%s of %s", part_name[part], formulas[k]);
            bench_add(results, name, us[part], "us", NULL, 0);
        }
        printf("%8.2f%8.2f%8.2f%8.2f%10.2f%15.0f  %s (%d nodes)\n", us[VALUES].median,
               us[LOSS].median, us[SCALE].median, us[WHOLE].median, us[JACOBIAN].median,
               1e6 / us[WHOLE].median, formulas[k], expr.count);
    }
    if (!rc)
        sr_loss_free(&loss);
    sr_work_free(&work);
    return rc;
}

/* ---- whole searches */

struct outcome {
    int on_front, selected[SR_RULES];
    double seconds, evaluations;
};

/* One search per seed, each over its own table. */
static int search_all(const struct sr_settings *settings, double noise, int seeds, int threads,
                      struct outcome *o)
{
    static const double low[3] = {0.3, 0.1, 0.1}, high[3] = {3.5, 2, 2};
    const double tolerance = 0.001;
    *o = (struct outcome){0};
    for (int seed = 0; seed < seeds; seed++) {
        struct table t;
        struct sr_fit *fit = orr_alloc(1, sizeof *fit);
        int rc = fit ? table_create(&t, (uint64_t)seed, noise) : ORR_ENOMEM;
        if (!rc) {
            *fit = (struct sr_fit){.data = t.data, .stream = (uint64_t)seed};
            const double start = orr_time_s();
            rc = sr_search(settings, fit, 1, threads, NULL);
            o->seconds += (orr_time_s() - start) / seeds;
            o->evaluations += fit->evaluations / seeds;
            double k;
            o->on_front += sr_law_find(&fit->front, low, high, tolerance, &k) >= 0;
            for (int rule = 0; rule < SR_RULES; rule++) {
                const int row = sr_front_select(&fit->front, (enum sr_rule)rule);
                o->selected[rule] +=
                    row >= 0 && sr_law_check(&fit->front.expr[row], low, high, tolerance, &k);
            }
            free(t.x);
        }
        free(fit);
        if (rc)
            return rc;
    }
    return 0;
}

static void add_outcome(struct bench_results *results, double percent, const struct outcome *o)
{
    const struct {
        const char *what, *unit;
        double value;
    } rows[] = {
        {"seconds", "s", o->seconds},
        {"evaluations", "", o->evaluations},
        {"on front", "of 12", o->on_front},
        {"selected by accuracy", "of 12", o->selected[SR_ACCURACY]},
        {"selected by score", "of 12", o->selected[SR_SCORE]},
        {"selected by best", "of 12", o->selected[SR_BEST]},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[128];
        snprintf(name, sizeof name, "Newton's law, %g%% noise: %s", percent, rows[i].what);
        bench_add(results, name, (struct bench_value){rows[i].value, NAN}, rows[i].unit, NULL, 0);
    }
}

static int bench_searches(const char *preset_name, int threads, struct bench_results *results)
{
    enum { SEEDS = 12 };
    static const double noises[] = {0, 0.03, 0.1, 0.2};
    struct orr_preset preset;
    struct sr_settings settings;
    int rc = orr_preset_load(&preset, preset_name);
    if (!rc)
        rc = sr_settings_init(&settings, &preset);
    if (rc)
        return rc;
    printf("\nk m1 m2 / r^2, %d rows, preset %s, %d threads, %d seeds\n", ROWS, preset_name,
           threads, SEEDS);
    printf("   noise  seconds  evaluations  evaluations/s  on front  accuracy  score  best\n");
    for (size_t n = 0; n < sizeof noises / sizeof *noises && !rc; n++) {
        struct outcome o;
        rc = search_all(&settings, noises[n], SEEDS, threads, &o);
        if (rc)
            break;
        printf("%7.0f%%%9.2f%13.0f%15.0f%10d%10d%7d%6d\n", 100 * noises[n], o.seconds,
               o.evaluations, o.evaluations / o.seconds, o.on_front, o.selected[SR_ACCURACY],
               o.selected[SR_SCORE], o.selected[SR_BEST]);
        add_outcome(results, 100 * noises[n], &o);
    }
    return rc;
}

int main(int argc, char **argv)
{
    struct table t = {0};
    const int threads = argc > 1 ? atoi(argv[1]) : 2;
    struct bench_results results;
    int rc = bench_open(&results, "symreg", threads);
    if (!rc)
        rc = table_create(&t, 1, 0.03);
    if (!rc)
        rc = bench_evaluations(&t, &results);
    if (!rc)
        rc = bench_searches("quick", threads, &results);
    rc = bench_close(&results, rc);
    free(t.x);
    return orr_error_exit("bench_symreg", rc);
}
