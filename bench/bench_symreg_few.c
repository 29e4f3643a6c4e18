/* bench_symreg_few.c - which correction of the loss chooses laws from tables of few rows.
 *
 * Tables of 5 to 50 rows of eleven laws with noise of 2, 10 and 30% of the spread of y, x and z
 * uniform in [0.5, 5]; noise 0 is left out, as every rule has the law there. Each table is searched
 * with the operators of presets/table.json, --maxsize 15 and 3 epochs; then the default rule
 * (`best`: the highest score among losses <= 1.5 times the smallest) chooses by
 *   published  the loss as it is
 *   aicc       loss exp(2 (k + 1) / (n - k - 2)), k constants; infinite from k = n - 2 on
 *   gcv        loss / (1 - k / n)^2; infinite from k = n on
 *   nodes      as aicc with all nodes for constants
 *   length     sr_front_correct(): 2 / n times what the formula costs in the description length
 *   evidence   as length, with what it costs in the evidence (sr_front_find_evidence())
 * and beside them `mdl` is the row of the smallest description length.
 * A choice counts as right when it is as near to the law without noise, at 512 new points over the
 * same ranges, as twice the law's own form fitted to the same rows, and 2% of the spread beside.
 *     bench_symreg_few [--samples 2] [--threads 1]
 * Writes bench/results/symreg_few.json. About 5 minutes. */
#include <gsl/gsl_randist.h>

#include "bench.h"
#include "symreg_settings.h"
#include "symreg/symreg.h"

enum { FRESH = 512, MOST_ROWS = 50, COLUMNS = 2 };
static const char *const names[COLUMNS] = {"x", "z"};
static const char *const laws[] = {"2 * x + 1",
                                   "3.1 * x",
                                   "1.5 * square(x)",
                                   "0.7 * square(x) - 2 * x",
                                   "4 / x",
                                   "2 * exp(x * (0 - 0.5))",
                                   "1.7 * sin(x) + 2",
                                   "3 * sqrt(x)",
                                   "2 * x * z",
                                   "1.3 * x / square(z)",
                                   "x / z + 1.5"};
static const int rows_of[] = {5, 8, 12, 20, 50};
static const double noise_of[] = {0.02, 0.1, 0.3};
enum { LAWS = sizeof laws / sizeof *laws, SIZES = sizeof rows_of / sizeof *rows_of, NOISES = 3 };
enum way { PUBLISHED, AICC, GCV, NODES, LENGTH, EVIDENCE, MDL, WAYS };
static const char *const way_name[WAYS] = {"published", "aicc",     "gcv", "nodes",
                                           "length",    "evidence", "mdl"};

struct table {
    double x[COLUMNS * MOST_ROWS], y[MOST_ROWS];
    double fresh_x[COLUMNS * FRESH], fresh_y[FRESH], spread;
    struct sr_data data, fresh;
    struct sr_expr law;
};

static double draw(struct table *t, double noise, gsl_rng *rng)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < COLUMNS * FRESH; i++)
        t->fresh_x[i] = 0.5 + 4.5 * gsl_rng_uniform(rng);
    for (size_t i = 0; i < COLUMNS * t->data.rows; i++)
        t->x[i] = 0.5 + 4.5 * gsl_rng_uniform(rng);
    if (!sr_eval(&t->law, &t->fresh, t->fresh_y) || !sr_eval(&t->law, &t->data, t->y))
        return 0;
    for (size_t i = 0; i < FRESH; i++) {
        mean += t->fresh_y[i] / FRESH;
        square += t->fresh_y[i] * t->fresh_y[i] / FRESH;
    }
    const double spread = sqrt(square - mean * mean);
    for (size_t i = 0; i < t->data.rows; i++)
        t->y[i] += noise * spread * gsl_ran_ugaussian(rng);
    return spread;
}

/* Of the law without noise, in spreads. */
static double error_of(const struct table *t, const struct sr_expr *expr)
{
    double value[FRESH], square = 0;
    if (!sr_eval(expr, &t->fresh, value))
        return HUGE_VAL;
    for (size_t i = 0; i < FRESH; i++)
        square += (value[i] - t->fresh_y[i]) * (value[i] - t->fresh_y[i]) / FRESH;
    return sqrt(square) / t->spread;
}

/* Puts what a way makes of the losses into a described front. */
static int correct(enum way way, struct sr_front *front, const struct sr_loss *loss)
{
    const double n = (double)loss->data->rows;
    double constant[SR_NODES];
    for (int i = 0; i < front->count; i++)
        front->evidence[i] = 0;
    if (way == EVIDENCE)
        TRY(sr_front_find_evidence(front, loss->data));
    if (way == LENGTH || way == EVIDENCE)
        sr_front_correct(front, loss);
    for (int i = 0; i < front->count && way != LENGTH && way != EVIDENCE; i++) {
        const int count = sr_expr_constants(&front->expr[i], constant);
        const double k = way == NODES ? front->complexity[i] : count;
        const double kept = front->loss[i];
        front->fair[i] = kept;
        if (way == AICC || way == NODES)
            front->fair[i] = k < n - 2 ? kept * exp(2 * (k + 1) / (n - k - 2)) : HUGE_VAL;
        if (way == GCV)
            front->fair[i] = k < n ? kept / ((1 - k / n) * (1 - k / n)) : HUGE_VAL;
        front->score[i] = 0;
        if (i && front->fair[i] < HUGE_VAL)
            front->score[i] = -log(front->fair[i] / front->fair[i - 1]) /
                              (front->complexity[i] - front->complexity[i - 1]);
    }
    return 0;
}

static int try_table(struct table *t, int threads, uint64_t stream, bool right[WAYS])
{
    static struct sr_fit fit;
    const struct sr_settings settings = {TABLE_SETTINGS,    .maxsize = 15, .iterations = 3,
                                         .populations = 16, .cycles = 100, .seed = 1};
    struct sr_loss loss;
    struct sr_work work = {0};
    struct sr_expr own = t->law;
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 31);
    fit = (struct sr_fit){.data = t->data, .stream = stream};
    int rc = rng ? sr_search(&settings, &fit, 1, threads, NULL) : ORR_ENOMEM;
    if (!rc)
        rc = sr_front_describe(&fit.front, &t->data);
    if (!rc)
        rc = sr_front_weigh_rows(&fit.front, &t->data);
    if (rc)
        return rc;
    rc = sr_loss_init(&loss, ORR_SR_L2, &t->data);
    if (!rc)
        rc = sr_front_find_pole(&fit.front, &loss);
    if (!rc)
        rc = sr_work_init(&work, t->data.rows, SR_NODES);
    if (!rc) {
        sr_constants_fit(&loss, &own, false, 50, 2, rng, &work);
        const double limit = 2 * error_of(t, &own) + 0.02;
        for (int way = 0; way < WAYS && !rc; way++) {
            rc = correct((enum way)way, &fit.front, &loss);
            const int row = sr_front_select(&fit.front, way == MDL ? SR_MDL : SR_BEST);
            right[way] = row >= 0 && error_of(t, &fit.front.expr[row]) <= limit;
        }
    }
    sr_loss_free(&loss);
    sr_work_free(&work);
    gsl_rng_free(rng);
    return rc;
}

static int count_right(int rows, int samples, int threads, int right[WAYS], int *tables)
{
    static struct table t;
    int rc = 0;
    for (int key = 0; key < LAWS * NOISES * samples && !rc; key++) {
        const uint64_t stream = (uint64_t)(rows * 10000 + key);
        gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 100000 + stream);
        bool good[WAYS] = {false};
        const char *const law = laws[key % LAWS];
        const int features = strchr(law, 'z') ? 2 : 1;
        t.data = (struct sr_data){.rows = (size_t)rows, .features = features, .x = t.x, .y = t.y};
        t.fresh =
            (struct sr_data){.rows = FRESH, .features = features, .x = t.fresh_x, .y = t.fresh_y};
        rc = rng ? sr_expr_parse(NULL, law, names, features, &t.law) : ORR_ENOMEM;
        if (!rc)
            t.spread = draw(&t, noise_of[key / LAWS % NOISES], rng);
        if (!rc)
            rc = try_table(&t, threads, stream, good);
        for (int way = 0; way < WAYS; way++)
            right[way] += good[way];
        ++*tables;
        gsl_rng_free(rng);
    }
    return rc;
}

int main(int argc, char **argv)
{
    bench_help(argc, argv, "bench_symreg_few [--samples 2] [--threads 1]\n");
    int samples = 2, threads = 1, rc = 0;
    for (int i = 1; i < argc && !rc; i += 2)
        rc = !strcmp(argv[i], "--samples")   ? bench_number(argv[i], argv[i + 1], 1, &samples)
             : !strcmp(argv[i], "--threads") ? bench_number(argv[i], argv[i + 1], 1, &threads)
                                             : ORR_FAIL(ORR_EUSAGE, "no option \"%s\"", argv[i]);
    struct bench_results results = {0};
    if (!rc)
        rc = bench_open(&results, "symreg_few", threads);
    printf("rows  tables");
    for (int way = 0; way < WAYS; way++)
        printf("  %9s", way_name[way]);
    printf("\n");
    for (int n = 0; n < SIZES && !rc; n++) {
        int right[WAYS] = {0}, tables = 0;
        rc = count_right(rows_of[n], samples, threads, right, &tables);
        printf("%4d  %6d", rows_of[n], tables);
        for (int way = 0; way < WAYS && !rc; way++) {
            char name[64];
            const double percent = 100.0 * right[way] / tables;
            printf("  %8.0f%%", percent);
            snprintf(name, sizeof name, "%s, %d rows", way_name[way], rows_of[n]);
            bench_add(&results, name, (struct bench_value){percent, NAN}, "%", NULL, NAN);
        }
        printf("\n");
        fflush(stdout);
    }
    rc = bench_close(&results, rc);
    if (rc)
        fprintf(stderr, "bench_symreg_few: %s\n", orr_error());
    return rc != 0;
}
