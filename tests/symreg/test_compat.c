/* test_compat.c - the compatible mode, early stops, and searches that go on from a checkpoint. */
#include <gsl/gsl_errno.h>

#include "symreg/formulas.h"
#include "evolve/search.h"

static struct sr_settings settings_of(void)
{
    struct sr_settings s = {
        .binary = {SR_ADD, SR_MUL},
        .unary = {SR_INV, SR_SIN},
        .binary_count = 2,
        .unary_count = 2,
        .loss = ORR_SR_L1,
        .maxsize = 14,
        .iterations = 6,
        .populations = 4,
        .population_size = 27,
        .cycles = 60,
        .restarts = 2,
        .seed = 3,
        .enumerate = 5000,
    };
    return s;
}

static void table_of(struct table *t, const char *text, double noise)
{
    const struct sr_expr truth = formula(text);
    gsl_rng *rng = random_stream(5);
    table_create(t, 150, 4, false);
    assert_true(sr_eval(&truth, &t->data, t->y));
    for (size_t i = 0; i < t->data.rows; i++)
        t->y[i] *= 1 + noise * gsl_ran_gaussian(rng, 1);
    gsl_rng_free(rng);
}

static void same_front(const struct sr_front *a, const struct sr_front *b)
{
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        assert_true(sr_expr_hash(&a->expr[i]) == sr_expr_hash(&b->expr[i]));
        assert_memory_equal(&a->loss[i], &b->loss[i], sizeof a->loss[i]);
    }
}

/* Interrupted anywhere and by whatever end, the search goes on as if nothing had been. */
TEST(resume_equals_the_uninterrupted_run)
{
    static struct sr_fit whole[2], part[2];
    char folder[64], path[4096];
    (void)state;
    struct table t[2];
    struct sr_settings s = settings_of();
    table_of(&t[0], "m1 * sin(r) + m2", 0.05);
    table_of(&t[1], "m1 * m2 * inv(r * r + 0.5)", 0.02);
    scratch_create(folder);
    scratch_path(path, folder, "search.checkpoint");
    for (int compat = 0; compat < 2; compat++) {
        s.algorithm = compat ? &sr_algorithm_pysr : &sr_algorithm_orrery;
        s.checkpoint = NULL;
        s.max_evaluations = 0;
        for (uint64_t f = 0; f < 2; f++)
            whole[f] = part[f] = (struct sr_fit){.data = t[f].data, .stream = f};
        assert_int_equal(sr_search(&s, whole, 2, 2, NULL), 0);
        s.checkpoint = path;
        for (int stop = 1; stop <= 3; stop++) {
            s.resume = stop > 1;
            s.max_evaluations = stop < 3 ? 1000 * stop : 0;
            assert_int_equal(sr_search(&s, part, 2, stop, NULL), 0);
            if (stop < 3 && !(part[0].evaluations < whole[0].evaluations))
                fail_msg("%g evaluations of %g", part[0].evaluations, whole[0].evaluations);
        }
        for (int f = 0; f < 2; f++) {
            same_front(&part[f].front, &whole[f].front);
            assert_true(part[f].evaluations == whole[f].evaluations);
        }
        s.seed++; /* other settings, other data */
        assert_int_equal(sr_search(&s, part, 2, 1, NULL), ORR_EINVAL);
        error_names("search.checkpoint", "--seed was", NULL);
        s.seed--;
        t[0].y[3] += 1;
        assert_int_equal(sr_search(&s, part, 2, 1, NULL), ORR_EINVAL);
        t[0].y[3] -= 1;
    }
    table_free(&t[0]);
    table_free(&t[1]);
    scratch_remove(folder);
}

/* A search that was asked for more epochs afterwards is the one that was asked for all at once. */
TEST(more_epochs_go_on)
{
    static struct sr_fit whole, part;
    char folder[64], path[4096];
    struct table t;
    struct sr_settings s = settings_of();
    table_of(&t, "m1 * sin(r) + m2", 0.05);
    s.iterations = 6;
    s.patience = 100;
    whole = part = (struct sr_fit){.data = t.data};
    assert_int_equal(sr_search(&s, &whole, 1, 2, NULL), 0);
    scratch_create(folder);
    scratch_path(path, folder, "search.checkpoint");
    s.checkpoint = path;
    for (s.iterations = 2; s.iterations <= 6; s.iterations += 2) {
        assert_int_equal(sr_search(&s, &part, 1, 2, NULL), 0);
        assert_int_equal(part.end, SR_END_ITERATIONS);
        s.resume = true;
        s.patience++;
    }
    same_front(&part.front, &whole.front);
    assert_true(part.evaluations == whole.evaluations);
    table_free(&t);
    scratch_remove(folder);
}

/* A search that patience ended continues where the time given is to be used. */
TEST(patience_ends_no_time_given)
{
    static struct sr_fit fit;
    char folder[64], path[4096];
    struct table t;
    struct sr_settings s = settings_of();
    table_of(&t, "m1 * sin(r) + m2", 0.05);
    s.iterations = 100;
    s.patience = 1;
    fit = (struct sr_fit){.data = t.data};
    scratch_create(folder);
    scratch_path(path, folder, "search.checkpoint");
    s.checkpoint = path;
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    assert_int_equal(fit.end, SR_END_PATIENCE);
    s.resume = s.restarts_fresh = true;
    s.max_evaluations = 2 * fit.evaluations;
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    assert_int_equal(fit.end, SR_END_EVALUATIONS);
    table_free(&t);
    scratch_remove(folder);
}

TEST(damaged_checkpoints_are_told)
{
    char folder[64], path[4096], *text;
    (void)state;
    double a[4] = {1, 2, 3, 4}, b = 5;
    size_t bytes;
    int epoch = -1;
    const struct sr_block block[2] = {{a, sizeof a}, {&b, sizeof b}};
    scratch_create(folder);
    scratch_path(path, folder, "block.checkpoint");
    assert_int_equal(sr_checkpoint_write(path, "a=1\nb=2\n", 9, block, 2), 0);
    a[2] = b = 0;
    assert_int_equal(sr_checkpoint_read(path, "a=1\nb=2\n", &epoch, block, 2), 0);
    assert_true(a[2] == 3 && b == 5 && epoch == 9);
    assert_int_equal(sr_checkpoint_read(path, "a=1\nb=3\n", &epoch, block, 2), ORR_EINVAL);
    error_names("block.checkpoint: b was \"2\", is \"3\" here", NULL);
    assert_int_equal(sr_checkpoint_read(path, "a=1\n", &epoch, block, 2), ORR_EINVAL);
    assert_int_equal(sr_checkpoint_read(path, "a=1\nb=2\nc=3\n", &epoch, block, 2), ORR_EINVAL);
    assert_int_equal(sr_checkpoint_read(path, "a=1\nb=2\n", &epoch, block, 1), ORR_EFORMAT);
    assert_int_equal(orr_file_read(path, &text, &bytes), 0);
    for (size_t cut = 0; cut < bytes; cut += 7) { /* a flipped bit anywhere, a cut anywhere */
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        text[cut] ^= 4;
        assert_true(fwrite(text, 1, bytes, file) == bytes && fclose(file) == 0);
        text[cut] ^= 4;
        assert_true(sr_checkpoint_read(path, "a=1\nb=2\n", &epoch, block, 2) != 0);
        file = fopen(path, "wb");
        assert_non_null(file);
        assert_true(fwrite(text, 1, cut, file) == cut && fclose(file) == 0);
        assert_int_equal(sr_checkpoint_read(path, "a=1\nb=2\n", &epoch, block, 2), ORR_EFORMAT);
    }
    assert_true(a[2] == 3 && b == 5);
    free(text);
    scratch_remove(folder);
}

TEST(ends_early)
{
    static struct sr_fit fit;
    struct table t;
    struct sr_settings s = settings_of();
    table_of(&t, "m1 * sin(r) + m2", 0.05);
    s.iterations = 1000000;
    fit = (struct sr_fit){.data = t.data};
    s.max_evaluations = 20000;
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    assert_int_equal(fit.end, SR_END_EVALUATIONS);
    assert_true(fit.evaluations >= 20000 && fit.evaluations < 20000 + 10 * s.populations);
    s.max_evaluations = 0;
    s.max_seconds = 0.05;
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    assert_true(fit.front.count > 0);
    s.max_seconds = 0;
    s.stop_loss = 0.2;
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    assert_true(fit.front.loss[fit.front.count - 1] <= 0.2);
    table_free(&t);
}

/* The last epoch, and the first one whose front has the law but for its digits. */
struct epochs {
    int last, law;
};

static void note_epoch(void *observer, const struct sr_observation *seen)
{
    struct epochs *epochs = observer;
    const double least = seen->front->loss[seen->front->count - 1];
    epochs->last = seen->epoch;
    epochs->law = epochs->law || !(least < 1e-4) ? epochs->law : seen->epoch;
}

/* A law whose table has 7 digits: what larger formulas make of their rounding is no news. */
TEST(rounding_keeps_no_search_alive)
{
    static struct sr_fit fit;
    struct table t;
    struct sr_settings s = settings_of();
    struct epochs epochs = {0};
    char text[32];
    table_of(&t, "39.4784176 * m1 * m2 * inv(r * r)", 0);
    for (size_t i = 0; i < t.data.rows; i++) {
        snprintf(text, sizeof text, "%.7g", t.y[i]);
        t.y[i] = strtod(text, NULL);
    }
    s.iterations = 60;
    s.restarts = 1;
    s.maxsize = 20;
    s.patience = 4;
    s.cycles = 200;
    s.observe = note_epoch;
    s.observer = &epochs;
    s.seed = 7; /* with it larger formulas improve on the law's rounding until epoch 8 */
    fit = (struct sr_fit){.data = t.data};
    assert_int_equal(sr_search(&s, &fit, 1, 2, NULL), 0);
    /* in the epoch after the law's its constants are refined */
    if (!epochs.law || epochs.last > epochs.law + 1 + s.patience)
        fail_msg("the law was found in epoch %d, and the search went on until epoch %d", epochs.law,
                 epochs.last);
    table_free(&t);
}

/* Start, sizes and cost of the compatible mode. */
TEST(compat_starts_as_it_should)
{
    gsl_rng *rng = random_stream(6);
    struct sr_settings s = settings_of();
    int largest = 0, smallest = 99;
    s.algorithm = &sr_algorithm_pysr;
    for (int k = 0; k < 500; k++) { /* three appends to a leaf: 4 to 7 nodes */
        struct sr_expr expr;
        s.algorithm->start(&s, 3, rng, &expr);
        assert_true(sr_expr_measure(NULL, &expr));
        largest = expr.count > largest ? expr.count : largest;
        smallest = expr.count < smallest ? expr.count : smallest;
    }
    assert_true(smallest == 4 && largest == 7);
    gsl_rng_free(rng);
}

/* Settings without an algorithm search with the engine's own, also by their checkpoint; the
 * compatible one takes its place only where it is named. */
TEST(own_algorithm_is_the_default)
{
    static struct sr_fit fit[3];
    const struct sr_algorithm *const algorithm[3] = {NULL, &sr_algorithm_orrery,
                                                     &sr_algorithm_pysr};
    char folder[64], path[4096];
    struct table t;
    table_of(&t, "m1 * sin(r) + m2", 0.05);
    scratch_create(folder);
    scratch_path(path, folder, "search.checkpoint");
    for (int k = 0; k < 3; k++) {
        struct sr_settings s = settings_of();
        s.algorithm = algorithm[k];
        s.iterations = 2;
        s.checkpoint = k == 0 ? path : NULL;
        fit[k] = (struct sr_fit){.data = t.data};
        assert_int_equal(sr_search(&s, &fit[k], 1, 2, NULL), 0);
        struct sr_fit again = {.data = t.data};
        s.checkpoint = path;
        s.resume = true;
        assert_int_equal(sr_search(&s, &again, 1, 2, NULL), k < 2 ? 0 : ORR_EINVAL);
        if (k < 2)
            same_front(&fit[0].front, &again.front);
        else
            error_names("search.checkpoint", "--compat", NULL);
    }
    same_front(&fit[0].front, &fit[1].front);
    assert_true(fit[0].screened >= fit[1].screened && fit[0].screened <= fit[1].screened);
    assert_true(fit[2].evaluations > fit[1].evaluations || fit[2].evaluations < fit[1].evaluations);
    scratch_remove(folder);
    table_free(&t);
}

TEST(compat_finds_a_law)
{
    static struct sr_fit one, two;
    struct table t;
    struct sr_settings s = settings_of();
    table_of(&t, "2 * m1 * m2 + r", 0);
    s.algorithm = &sr_algorithm_pysr;
    s.iterations = 15;
    s.cycles = 200;
    one = two = (struct sr_fit){.data = t.data};
    assert_int_equal(sr_search(&s, &one, 1, 1, NULL), 0);
    assert_int_equal(sr_search(&s, &two, 1, 3, NULL), 0);
    same_front(&one.front, &two.front);
    const int best = one.front.count - 1;
    if (!(one.front.loss[best] < 1e-4))
        fail_msg("the best is %s, loss %g", text_of(&one.front.expr[best]), one.front.loss[best]);
    table_free(&t);
}

/* Fits the constants of a formula; returns the loss, and the constants in `constant`. */
static double fit_of(const struct sr_loss *loss, const char *text, struct sr_thread *worker,
                     double *constant)
{
    struct sr_expr expr = formula(text);
    const double before = sr_eval_plain(&expr, loss, &worker->work);
    sr_compat_constants(loss, &expr, worker);
    const double after = sr_eval_plain(&expr, loss, &worker->work);
    sr_expr_constants(&expr, constant);
    assert_true(after <= before);
    return after;
}

/* One constant by Newton's method, more by BFGS, within eight steps: at the optimum of smooth
 * losses, near it where the loss has kinks, and never worse. */
TEST(compat_fits_constants)
{
    struct table t;
    struct sr_loss square, absolute;
    struct sr_thread worker = {.rng = random_stream(9)};
    double constant[SR_NODES];
    table_of(&t, "3 * m1 + 0.5", 0);
    assert_int_equal(sr_loss_init(&square, ORR_SR_L2, &t.data), 0);
    assert_int_equal(sr_loss_init(&absolute, ORR_SR_L1, &t.data), 0);
    assert_int_equal(sr_work_init(&worker.work, t.data.rows, 20), 0);

    assert_true(fit_of(&square, "1 * m1 + 1", &worker, constant) < 1e-9);
    assert_true(near(constant[0], 3, 1e-4) && near(constant[1], 0.5, 1e-4));
    assert_true(fit_of(&absolute, "1 * m1 + 1", &worker, constant) < 0.1);

    /* a parabola is at its lowest after one of Newton's steps, from either side, flat or steep */
    for (int k = 0; k < 4; k++) {
        static const char *const text[] = {"-40 * m1 + m1", "70 * m1 + m1",
                                           "-40 * inv(exp(r)) + m1", "70 * inv(exp(r)) + m1"};
        const double *const r = t.data.x, *const m1 = r + t.data.rows;
        double xx = 0, xy = 0;
        for (size_t i = 0; i < t.data.rows; i++) {
            const double x = k < 2 ? m1[i] : exp(-r[i]);
            xx += x * x;
            xy += x * (t.y[i] - m1[i]);
        }
        fit_of(&square, text[k], &worker, constant);
        if (!near(constant[0], xy / xx, 1e-8))
            fail_msg("%s: %.10g, expected %.10g", text[k], constant[0], xy / xx);
    }
    /* where it is no parabola */
    assert_true(fit_of(&square, "3 * m1 + sin(0.1)", &worker, constant) < 1e-12);
    assert_true(near(constant[0], 3, 1e-6));
    sr_loss_free(&square);
    sr_loss_free(&absolute);
    sr_work_free(&worker.work);
    gsl_rng_free(worker.rng);
    table_free(&t);
}

/* Against central differences of the loss that the search sees, for every kind of loss. */
TEST(compat_gradient_is_exact)
{
    static const char *const text[] = {
        "3.1 * m1 + 0.4", "1.7 * inv(r * r + 0.6) * m1 + sin(0.3 * m2)",
        "m1 * sin(2.5 * r + 0.7) + 1.2", "m1 * sin(2.5 + exp(0.7)) * sin(r) + 1.2 * inv(r)"};
    static const enum orr_symreg_loss kind[] = {ORR_SR_L1,       ORR_SR_L2,    ORR_SR_STUDY,
                                                ORR_SR_RELATIVE, ORR_SR_HUBER, ORR_SR_LOGCOSH,
                                                ORR_SR_QUANTILE};
    struct table t;
    struct sr_work work;
    table_of(&t, "3 * m1 + 0.5 * sin(r)", 0.1);
    double *const weight = calloc(t.data.rows, sizeof *weight);
    assert_non_null(weight);
    for (size_t i = 0; i < t.data.rows; i++)
        weight[i] = 0.5 + (double)(i % 7);
    assert_int_equal(sr_work_init(&work, t.data.rows, 20), 0);
    for (size_t k = 0; k < 2 * sizeof kind / sizeof *kind; k++) {
        struct sr_loss loss;
        t.data.weight = k % 2 ? weight : NULL;
        assert_int_equal(sr_loss_init_with(&loss, kind[k / 2], 0.3, &t.data), 0);
        for (size_t e = 0; e < sizeof text / sizeof *text; e++) {
            const struct sr_expr expr = formula(text[e]);
            struct sr_expr moved = expr;
            double constant[SR_NODES], gradient[SR_NODES], side[2];
            const int n = sr_expr_constants(&expr, constant);
            const double value = sr_eval_plain(&expr, &loss, &work);
            assert_true(sr_compat_gradient(&loss, &expr, &work, gradient));
            for (int c = 0; c < n; c++) {
                const double here = constant[c], step = 1e-7;
                for (int i = 0; i < 2; i++) {
                    constant[c] = i ? here - step : here + step;
                    sr_expr_set_constants(&moved, constant);
                    assert_true(sr_eval(&moved, &t.data, work.trial));
                    side[i] = sr_loss_value(&loss, work.trial, 1);
                }
                constant[c] = here;
                const double slope = (side[0] - side[1]) / (2 * step);
                if (!(fabs(gradient[c] - slope) <= 1e-5 * (fabs(slope) + value)))
                    fail_msg("loss %d, %s, constant %d: %.10g, differences give %.10g",
                             (int)kind[k / 2], text[e], c, gradient[c], slope);
            }
        }
        sr_loss_free(&loss);
    }
    sr_work_free(&work);
    free(weight);
    t.data.weight = NULL;
    table_free(&t);
}

/* Errors below 1e-8 do not count: no slope there. A formula that is not finite has none. */
TEST(compat_gradient_knows_its_limits)
{
    struct table t;
    struct sr_work work;
    struct sr_loss loss;
    double gradient[SR_NODES];
    table_of(&t, "3 * m1", 0);
    assert_int_equal(sr_loss_init(&loss, ORR_SR_STUDY, &t.data), 0);
    assert_int_equal(sr_work_init(&work, t.data.rows, 20), 0);
    struct sr_expr expr = formula("3.0000000001 * m1");
    assert_true(sr_compat_gradient(&loss, &expr, &work, gradient));
    assert_true(fabs(gradient[0]) <= 0);
    expr = formula("3 * inv(m1 * 0)");
    assert_false(sr_compat_gradient(&loss, &expr, &work, gradient));
    sr_loss_free(&loss);
    sr_work_free(&work);
    table_free(&t);
}

int main(void)
{
    gsl_set_error_handler_off();
    return tests_run(NULL, NULL);
}
