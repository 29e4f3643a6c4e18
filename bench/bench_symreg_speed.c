/* bench_symreg_speed.c - formulas per second and core, part by part.
 *
 * One full evaluation = the values in double precision on all of 1000 rows of three features, the
 * outer scale that minimises the loss exactly, and the loss: what the search does for every formula
 * it meets. As in a search, one or two unary operators of a single feature are read from the
 * columns of the table (symreg.h, struct sr_loss), which are there after the run to warm up; `bare`
 * is the same without columns, every operator computed on every row. `values` and `jacobian` are
 * without columns. Counted apart: screened = the loss on SR_SCREEN_ROWS rows alone.
 *
 * Two mixes of formulas of 10 nodes:
 *   drawn at random, 64: every inner node is one of the default operators + - * / inv square sqrt
 *   exp log sin cos, all alike (unary with probability 7/11, where both fit); a leaf is one of the
 *   features, one in four a constant. Those that are not finite on the table are drawn again: the
 *   counts of operators that are left are printed. This is the figure to quote;
 *   eight written by hand, from a polynomial to towers of exp, sin and log, with operators beyond
 *   the default (cube, abs, neg, tanh, ^) and one chain of seven elementary functions: heavier. One
 *   by one; rates are 8 / (sum of the eight medians).
 * Time is that of the thread on its core. Every figure is the median of several runs after one to
 * warm up. Writes bench/results/symreg_speed.json. */
#include <gsl/gsl_randist.h>

#include "bench.h"
#include "symreg/symreg.h"

enum { ROWS = 1000, FEATURES = 3, RUNS = 15, REPEATS = 1536 };
static const char *const names[FEATURES] = {"r", "m1", "m2"};
static const char *const formulas[] = {
    "cube(r) + m1 * (m2 - r * 0.2)",     "m1 * m2 * inv(r * r + 0.3)",
    "(r + m1) * (m2 - 0.5) / square(r)", "m1 * exp(neg(0.7 * r)) / square(r)",
    "sqrt(r) * log(r + m1) - abs(m2)",   "sin(r * m1) + exp(m2) * cos(r)",
    "r ^ 1.5 * m1 - tanh(m2 + 0.2)",     "sin(exp(inv(cos(sin(exp(cos(r * m1)))))))",
};
enum { FORMULAS = sizeof formulas / sizeof formulas[0] };

static const struct {
    enum orr_symreg_loss kind;
    const char *name;
} losses[] = {{ORR_SR_L1, "l1"}, {ORR_SR_L2, "l2"}, {ORR_SR_STUDY, "study"}};
enum { LOSSES = sizeof losses / sizeof losses[0] };

struct table {
    struct sr_data data;
    double *x, *y;
};

/* Newton's law over the ranges of two-body orbits, with 3% noise. */
static int table_create(struct table *t)
{
    gsl_rng *rng = orr_rng_create(1, ORR_STAGE_TEST_SUITE, 1);
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
        t->y[i] = 39.4784 * m1 * m2 / (r * r) * (1 + 0.03 * gsl_ran_ugaussian(rng));
    }
    gsl_rng_free(rng);
    t->data = (struct sr_data){.rows = ROWS, .features = FEATURES, .x = t->x, .y = t->y};
    return 0;
}

enum part { VALUES, SCALE, LOSS, WHOLE, BARE, SCREENED, JACOBIAN, PARTS };
static const char *const part_name[PARTS] = {"values", "scale",    "loss",    "full",
                                             "bare",   "screened", "jacobian"};

static double once(const struct sr_expr *expr, const struct sr_loss *loss,
                   const struct sr_screen *screen, struct sr_work *work, enum part part)
{
    double scale = 1;
    switch (part) {
    case VALUES:
        return sr_eval(expr, loss->data, work->value);
    case JACOBIAN:
        return sr_eval_jacobian(expr, loss->data, work->value, work->jacobian);
    case SCALE:
        return sr_loss_scale(loss, work->value, work->scratch);
    case LOSS:
        return sr_loss_value(loss, work->value, 1.5);
    case SCREENED:
        return sr_screen_loss(screen, expr, work);
    case BARE:
        if (!sr_eval(expr, loss->data, work->value))
            return HUGE_VAL;
        scale = sr_loss_scale(loss, work->value, work->scratch);
        return sr_loss_value(loss, work->value, scale);
    default:
        return sr_eval_loss(expr, loss, work, &scale);
    }
}

/* Of this thread alone: other programs on the same core do not count. */
static double cpu_time_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Microseconds of one part, median of the runs. */
static struct bench_value part_us(const struct sr_expr *expr, const struct sr_loss *loss,
                                  const struct sr_screen *screen, struct sr_work *work,
                                  enum part part)
{
    double us[RUNS];
    volatile double sink = 0;
    once(expr, loss, screen, work, VALUES);
    for (int run = -1; run < RUNS; run++) {
        const double start = cpu_time_s();
        for (int i = 0; i < REPEATS; i++)
            sink = sink + once(expr, loss, screen, work, part);
        if (run >= 0)
            us[run] = 1e6 * (cpu_time_s() - start) / REPEATS;
    }
    return bench_median(us, RUNS);
}

/* ---- the mix of the search: random formulas of the default operators */

enum { DRAWN = 64 };

/* Appends a random subtree of `size` nodes: leaves are features, one in four a constant. */
static void grow(struct sr_expr *expr, gsl_rng *rng, int size)
{
    static const uint8_t binary[] = {SR_ADD, SR_SUB, SR_MUL, SR_DIV};
    static const uint8_t unary[] = {SR_INV, SR_SQUARE, SR_SQRT, SR_EXP, SR_LOG, SR_SIN, SR_COS};
    struct sr_node node = {.op = SR_FEATURE};
    if (size == 1) {
        node.feature = (uint8_t)gsl_rng_uniform_int(rng, FEATURES);
        if (gsl_rng_uniform(rng) < 0.25)
            node = (struct sr_node){.op = SR_CONSTANT, .value = gsl_ran_gaussian(rng, 1)};
    } else if (size == 2 ||
               gsl_rng_uniform(rng) < sizeof unary / (double)(sizeof unary + sizeof binary)) {
        grow(expr, rng, size - 1);
        node.op = unary[gsl_rng_uniform_int(rng, sizeof unary)];
    } else {
        const int left = 1 + (int)gsl_rng_uniform_int(rng, (unsigned long)size - 2);
        grow(expr, rng, left);
        grow(expr, rng, size - 1 - left);
        node.op = binary[gsl_rng_uniform_int(rng, sizeof binary)];
    }
    expr->node[expr->count++] = node;
}

/* Formulas that are finite on the table and not constant. */
static int draw(const struct table *t, struct sr_work *work, struct sr_expr expr[DRAWN])
{
    gsl_rng *rng = orr_rng_create(2, ORR_STAGE_TEST_SUITE, 2);
    if (!rng)
        return ORR_ENOMEM;
    for (int k = 0; k < DRAWN;) {
        expr[k].count = 0;
        grow(&expr[k], rng, 10);
        if (sr_expr_measure(NULL, &expr[k]) && sr_eval(&expr[k], &t->data, work->value) &&
            fabs(work->value[0] - work->value[1]) > 0)
            k++;
    }
    gsl_rng_free(rng);
    return 0;
}

static void print_operators(const struct sr_expr expr[DRAWN])
{
    int count[SR_ALL_OPS] = {0};
    for (int k = 0; k < DRAWN; k++)
        for (int i = 0; i < expr[k].count; i++)
            count[expr[k].node[i].op]++;
    printf("\n%d random formulas:", (int)DRAWN);
    for (int op = 0; op < SR_OPS; op++)
        if (count[op])
            printf(" %d %s", count[op], sr_op_table[op].name);
    printf("\n");
}

static int bench_drawn(const struct table *t, int which, struct sr_work *work,
                       struct bench_results *results)
{
    static struct sr_expr expr[DRAWN];
    static const enum part parts[] = {VALUES, WHOLE, BARE, SCREENED};
    struct sr_loss loss;
    struct sr_screen screen = {0};
    int rc = sr_loss_init(&loss, losses[which].kind, &t->data);
    if (!rc)
        rc = sr_screen_init(&screen, &loss);
    if (!rc)
        rc = draw(t, work, expr);
    if (!rc)
        print_operators(expr);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !rc; i++) {
        double rate[RUNS];
        char name[160];
        volatile double sink = 0;
        for (int run = -1; run < RUNS; run++) {
            const double start = cpu_time_s();
            for (int k = 0; k < REPEATS; k++)
                sink = sink + once(&expr[k % DRAWN], &loss, &screen, work, parts[i]);
            if (run >= 0)
                rate[run] = REPEATS / (cpu_time_s() - start);
        }
        const struct bench_value value = bench_median(rate, RUNS);
        snprintf(name, sizeof name, "%s, random formulas: %s per second and core",
                 losses[which].name, part_name[parts[i]]);
        bench_add(results, name, value, "1/s", NULL, 0);
        printf("%9.0f %s per second and core, random formulas (spread %.1f%%)\n", value.median,
               part_name[parts[i]], 100 * value.spread);
    }
    sr_screen_free(&screen);
    sr_loss_free(&loss);
    return rc;
}

/* One loss: a line per formula, and the rates of the mix. */
static int bench_loss(const struct table *t, int which, struct sr_work *work,
                      struct bench_results *results)
{
    struct sr_loss loss;
    double sum[PARTS] = {0}, spread[PARTS] = {0};
    char name[160];
    struct sr_screen screen = {0};
    int rc = sr_loss_init(&loss, losses[which].kind, &t->data);
    if (rc)
        return rc;
    rc = sr_screen_init(&screen, &loss);
    printf("\nloss %s: microseconds\n", losses[which].name);
    for (int part = 0; part < PARTS; part++)
        printf("%9s", part_name[part]);
    printf("  formula\n");
    for (int k = 0; k < FORMULAS && !rc; k++) {
        struct sr_expr expr;
        rc = sr_expr_parse(NULL, formulas[k], names, FEATURES, &expr);
        if (!rc && expr.count != 10)
            rc = ORR_FAIL(ORR_EINVAL, "%s has %d nodes, expected 10", formulas[k], expr.count);
        for (int part = 0; part < PARTS && !rc; part++) {
            const struct bench_value us = part_us(&expr, &loss, &screen, work, (enum part)part);
            sum[part] += us.median;
            spread[part] = fmax(spread[part], us.spread);
            snprintf(name, sizeof name, "%s, %s of %s", losses[which].name, part_name[part],
                     formulas[k]);
            bench_add(results, name, us, "us", NULL, 0);
            printf("%9.3f", us.median);
        }
        if (!rc)
            printf("  %s\n", formulas[k]);
    }
    for (int part = 0; part < PARTS && !rc; part++) {
        const struct bench_value rate = {1e6 * FORMULAS / sum[part], spread[part]};
        snprintf(name, sizeof name, "%s, mix: %s per second and core", losses[which].name,
                 part_name[part]);
        bench_add(results, name, rate, "1/s", NULL, 0);
        printf("%9.0f", rate.median);
    }
    if (!rc)
        printf("  per second and core, the mix\n");
    sr_screen_free(&screen);
    sr_loss_free(&loss);
    return rc;
}

int main(void)
{
    struct table t = {0};
    struct sr_work work = {0};
    struct bench_results results;
    int rc = bench_open(&results, "symreg_speed", 1);
    if (!rc)
        rc = table_create(&t);
    if (!rc)
        rc = sr_work_init(&work, ROWS, SR_NODES);
    if (!rc)
        printf("%d formulas of 10 nodes on %d rows, one thread\n", (int)FORMULAS, (int)ROWS);
    for (int which = 0; which < LOSSES && !rc; which++) {
        rc = bench_loss(&t, which, &work, &results);
        if (!rc)
            rc = bench_drawn(&t, which, &work, &results);
    }
    rc = bench_close(&results, rc);
    sr_work_free(&work);
    free(t.x);
    return orr_error_exit("bench_symreg_speed", rc);
}
