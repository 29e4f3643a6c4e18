/* test_adamw.c - the optimiser against plain loops in double: moments, bias corrections, decay,
 * clipping, weight average; the learning rate by formula. */
#include "tiny.h"

#include <float.h>

static const double pi = 3.14159265358979323846;

/* What one number goes through (Loshchilov & Hutter 2019). size is m with the absolute values of
 * all gradients: the rounding errors of m are in proportion to it, also where gradients cancel. */
struct plain {
    double w, m, v, average, size;
};

static void plain_update(struct plain *x, double g, double decay,
                         const struct orr_train_settings *t, double lr, long step)
{
    x->m = t->beta1 * x->m + (1 - t->beta1) * g;
    x->size = t->beta1 * x->size + (1 - t->beta1) * fabs(g);
    x->v = t->beta2 * x->v + (1 - t->beta2) * g * g;
    const double m = x->m / (1 - pow(t->beta1, (double)step));
    const double v = x->v / (1 - pow(t->beta2, (double)step));
    x->w -= lr * (m / (sqrt(v) + 1e-8) + decay * x->w);
}

/* Gradient of number j of parameter i at a step, of every magnitude. */
static double gradient(int i, size_t j, long step)
{
    const uint64_t stream = 100 + 50 * (uint64_t)step + (uint64_t)i;
    return (tiny_uniform(stream, 2 * j) - 0.5) * pow(10, 4 * tiny_uniform(stream, 2 * j + 1) - 3);
}

static double set_gradients(struct gpt_model *model, long step, double factor)
{
    double square = 0;
    gpt_zero_grad(model);
    for (int i = 0; i < model->parameters; i++)
        for (size_t j = 0; j < model->table[i].count; j++) {
            const double g = gradient(i, j, step);
            gpt_grad(model, i)[j] = (real)(factor * g);
            square += g * g;
        }
    return sqrt(square);
}

/* Both moments are sums of at most `steps` terms in float. A term of v has 5 epsilon of error at
 * first (half an epsilon each: gradient, scale and their product, twice as they are squared, then
 * square, coefficient and product), and every further step adds 1.5 (coefficient, product, sum).
 * Terms of m have fewer. */
static void compare_moments(const struct gpt_model *model, size_t at, const struct plain *plain,
                            int steps)
{
    const double tolerance = (5 + 1.5 * steps) * FLT_EPSILON;
    const double m = (double)model->m[at], v = (double)model->v[at];
    if (!(fabs(m - plain->m) <= tolerance * plain->size))
        fail_msg("%s: m[%zu] = %.9g, expected %.9g", model->ops->name, at, m, plain->m);
    if (!(fabs(v - plain->v) <= tolerance * plain->v))
        fail_msg("%s: v[%zu] = %.9g, expected %.9g", model->ops->name, at, v, plain->v);
}

static void compare(struct gpt_model *model, const struct plain *plain, int steps,
                    bool with_average)
{
    size_t n = 0;
    for (int i = 0; i < model->parameters; i++)
        for (size_t j = 0; j < model->table[i].count; j++, n++) {
            const double w = (double)gpt_param(model, i)[j];
            const size_t at = model->table[i].offset + j;
            if (!(fabs(w - plain[n].w) <= 2e-6 * (1 + fabs(plain[n].w))))
                fail_msg("%s: %s[%zu] = %.9g, expected %.9g", model->ops->name,
                         model->table[i].name, j, w, plain[n].w);
            compare_moments(model, at, &plain[n], steps);
            if (with_average && !(fabs((double)model->average[at] - plain[n].average) <= 3e-6))
                fail_msg("average of %s[%zu]: %.9g, expected %.9g", model->table[i].name, j,
                         (double)model->average[at], plain[n].average);
        }
}

static void check_updates(const struct k_ops *ops, struct orr_train_settings t, int steps,
                          int layers)
{
    struct gpt_config c = tiny_tokens();
    c.layers = layers;
    struct gpt_model model;
    assert_int_equal(gpt_create(&model, &c, ops, 4), 0);
    tiny_enlarge(&model);
    struct plain *plain = calloc(model.count, sizeof *plain);
    assert_non_null(plain);
    for (size_t i = 0, n = 0; i < (size_t)model.parameters; i++)
        for (size_t j = 0; j < model.table[i].count; j++, n++)
            plain[n].w = (double)gpt_param(&model, (int)i)[j];
    for (long step = 0; step < steps; step++) {
        /* gradients of several passes arrive summed: the update is that of their mean */
        const double norm = set_gradients(&model, step, t.accumulation);
        const double clip = t.clip > 0 && norm > t.clip ? t.clip / norm : 1;
        double found;
        assert_int_equal(gpt_update(&model, &t, step, &found), 0);
        assert_true(fabs(found - norm) <= 1e-5 * norm);
        size_t n = 0;
        for (int i = 0; i < model.parameters; i++) {
            const double decay = model.table[i].ndim == 2 ? t.weight_decay : 0;
            for (size_t j = 0; j < model.table[i].count; j++, n++) {
                plain_update(&plain[n], clip * gradient(i, j, step), decay, &t, gpt_lr(&t, step),
                             step + 1);
                const double d =
                    step ? fmin(t.ema, (1.0 + (double)step) / (10.0 + (double)step)) : 0;
                plain[n].average = d * plain[n].average + (1 - d) * plain[n].w;
            }
        }
    }
    assert_int_equal(t.ema > 0, model.average != NULL);
    compare(&model, plain, steps, t.ema > 0);
    free(plain);
    gpt_free(&model);
}

TEST(test_updates)
{
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        struct orr_train_settings t = tiny_training(100, 1);
        assert_int_equal((*ops)->open(1, false), 0);
        check_updates(*ops, t, 1, 2);
        check_updates(*ops, t, 7, 2);
        t.weight_decay = 3.5; /* large, so that losing or misplacing it shows */
        check_updates(*ops, t, 7, 2);
        t.clip = 2;
        t.accumulation = 3;
        t.warmup = 4;
        t.schedule = ORR_SCHEDULE_COSINE;
        check_updates(*ops, t, 7, 2);
        t.ema = 0.3;  /* reached within these steps */
        t.clip = 1e6; /* never reached: must change nothing */
        check_updates(*ops, t, 9, 2);
        check_updates(*ops, t, 2, K_DECAYS / 6); /* more ranges of decay than one call takes */
        (*ops)->close();
    }
}

/* Decay acts on the weight itself, not through the gradient: with zero gradients matrices shrink
 * by lr * decay exactly, everything else stays bit for bit. */
static void check_decay(int layers)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model, before;
    struct orr_train_settings t = tiny_training(10, 1);
    double norm;
    t.weight_decay = 2;
    c.layers = layers;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 4), 0);
    assert_int_equal(gpt_create(&before, &c, &k_ref, 4), 0);
    tiny_enlarge(&model);
    tiny_enlarge(&before);
    gpt_zero_grad(&model);
    assert_int_equal(gpt_update(&model, &t, 0, &norm), 0);
    assert_true(norm == 0);
    for (int i = 0; i < model.parameters; i++)
        for (size_t j = 0; j < model.table[i].count; j++) {
            const double was = (double)gpt_param(&before, i)[j];
            const double now = (double)gpt_param(&model, i)[j];
            if (model.table[i].ndim == 1)
                assert_true(now == was);
            else
                assert_true(fabs(now - was * (1 - t.lr * 2)) <= 1e-7 * fabs(was));
        }
    gpt_free(&model);
    gpt_free(&before);
}

TEST(test_decay)
{
    check_decay(2);
    check_decay(K_DECAYS / 6); /* more ranges than one call takes */
}

static void lr_is(const struct orr_train_settings *t, long step, double expected)
{
    if (fabs(gpt_lr(t, step) - expected) > 1e-12 * t->lr)
        fail_msg("learning rate of step %ld: %.15g, expected %.15g", step, gpt_lr(t, step),
                 expected);
}

TEST(test_schedules)
{
    struct orr_train_settings t = tiny_training(210, 1);
    t.lr = 0.7;
    lr_is(&t, 0, 0.7);
    lr_is(&t, 209, 0.7);
    t.warmup = 10;
    lr_is(&t, 0, 0.07);
    lr_is(&t, 4, 0.35);
    lr_is(&t, 9, 0.7);
    lr_is(&t, 10, 0.7);
    lr_is(&t, 209, 0.7);
    t.schedule = ORR_SCHEDULE_COSINE;
    t.lr_final = 0.1;
    lr_is(&t, 4, 0.35);
    lr_is(&t, 9, 0.7);
    lr_is(&t, 10, 0.7);
    lr_is(&t, 60, 0.07 + 0.5 * 0.63 * (1 + sqrt(0.5)));
    lr_is(&t, 110, 0.385);
    lr_is(&t, 209, 0.07 + 0.5 * 0.63 * (1 + cos(pi * 199 / 200)));
    lr_is(&t, 210, 0.07);
    lr_is(&t, 500, 0.07); /* beyond the end it stays */
    for (long step = 11; step < 210; step++)
        assert_true(gpt_lr(&t, step) < gpt_lr(&t, step - 1));
    t.schedule = ORR_SCHEDULE_LINEAR;
    lr_is(&t, 4, 0.35);
    lr_is(&t, 10, 0.7);
    lr_is(&t, 110, 0.385);
    lr_is(&t, 160, 0.07 + 0.63 / 4);
    lr_is(&t, 500, 0.07);
    t.schedule = ORR_SCHEDULE_INVERSE_SQRT;
    lr_is(&t, 4, 0.35);
    lr_is(&t, 9, 0.7);
    lr_is(&t, 39, 0.35);
    lr_is(&t, 89, 0.7 / 3);
    t.warmup = 0;
    lr_is(&t, 0, 0.7);
    lr_is(&t, 99, 0.07);
    t.schedule = ORR_SCHEDULE_COSINE;
    t.warmup = 300; /* longer than the training */
    lr_is(&t, 209, 0.7 * 210 / 300);
    t.warmup = 0;
    t.lr_final = 0;
    lr_is(&t, 105, 0.35);
}

/* A gradient that is not finite is named and changes nothing. */
TEST(test_diverged)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model, before;
    struct orr_train_settings t = tiny_training(10, 1);
    double norm;
    t.ema = 0.5;
    static const double bad[] = {INFINITY, -INFINITY, NAN};
    for (int kind = 0; kind < 3; kind++) {
        assert_int_equal(gpt_create(&model, &c, &k_ref, 4), 0);
        assert_int_equal(gpt_create(&before, &c, &k_ref, 4), 0);
        set_gradients(&model, 1, 1);
        assert_int_equal(gpt_update(&model, &t, 0, &norm), 0);
        set_gradients(&before, 1, 1);
        assert_int_equal(gpt_update(&before, &t, 0, &norm), 0);
        gpt_grad(&model, model.block[1].up_b)[7] = (real)bad[kind];
        assert_int_equal(gpt_update(&model, &t, 41, &norm), ORR_EDIVERGED);
        error_names("step 42", "block.1.ffn.up.bias", NULL);
        assert_true(tiny_same(model.param, before.param, model.total));
        assert_true(tiny_same(model.m, before.m, model.total));
        assert_true(tiny_same(model.v, before.v, model.total));
        assert_true(tiny_same(model.average, before.average, model.total));
        gpt_free(&model);
        gpt_free(&before);
    }
}

TESTS(NULL, NULL)
