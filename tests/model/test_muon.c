/* test_muon.c - a training by Muon against plain loops in double: which tensors it takes, momentum,
 * scale by shape, its learning rate and decay, AdamW for the rest; the layout of moments;
 * checkpoints. The orthogonalisation alone: tests/kernels/test_muon.c. */
#include "tiny.h"

#include <float.h>

/* What one number goes through. */
struct number {
    double w, m, v;
};

static double gradient(int i, size_t j, long step)
{
    return tiny_uniform(900 + 50 * (uint64_t)step + (uint64_t)i, j) - 0.5;
}

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* The rule, written down again: the number of matrices in a tensor that Muon takes. */
static size_t matrices_of(const char *name)
{
    const char *part = starts(name, "block.") ? strchr(name + 6, '.') + 1 : "";
    if (!strcmp(part, "attention.qkv.weight"))
        return 3;
    return !strcmp(part, "attention.proj.weight") || !strcmp(part, "ffn.up.weight") ||
           !strcmp(part, "ffn.down.weight");
}

/* x (rows, cols) = phi(x x^T) x, four times, from x of norm 1: the coefficients of
 * k_muon_polynomial, written down again. */
static void orthogonalise(double *x, size_t rows, size_t cols)
{
    double *a = calloc(rows * rows, sizeof *a), *y = calloc(rows * cols, sizeof *y), norm = 0;
    assert_true(a && y);
    for (size_t i = 0; i < rows * cols; i++)
        norm += x[i] * x[i];
    for (size_t i = 0; i < rows * cols; i++)
        x[i] /= sqrt(norm);
    static const double phi[4][3] = {{8.4170, -24.4880, 17.8174},
                                     {4.1935, -3.0529, 0.5565},
                                     {4.1257, -3.0068, 0.5513},
                                     {3.8712, -2.8337, 0.5325}};
    for (int step = 0; step < 4; step++) {
        for (size_t i = 0; i < rows * rows; i++) {
            a[i] = 0;
            for (size_t k = 0; k < cols; k++)
                a[i] += x[i / rows * cols + k] * x[i % rows * cols + k];
        }
        /* y = A x, then x = a x + b y + c A y */
        double *ay = calloc(rows * cols, sizeof *ay);
        assert_non_null(ay);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++) {
                y[i * cols + j] = 0;
                for (size_t k = 0; k < rows; k++)
                    y[i * cols + j] += a[i * rows + k] * x[k * cols + j];
            }
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++)
                for (size_t k = 0; k < rows; k++)
                    ay[i * cols + j] += a[i * rows + k] * y[k * cols + j];
        for (size_t i = 0; i < rows * cols; i++)
            x[i] = phi[step][0] * x[i] + phi[step][1] * y[i] + phi[step][2] * ay[i];
        free(ay);
    }
    free(a);
    free(y);
}

static void plain_adamw(struct number *x, double g, double decay,
                        const struct orr_train_settings *t, long step)
{
    const double lr = gpt_lr(t, step);
    x->m = t->beta1 * x->m + (1 - t->beta1) * g;
    x->v = t->beta2 * x->v + (1 - t->beta2) * g * g;
    const double m = x->m / (1 - pow(t->beta1, (double)step + 1));
    const double v = x->v / (1 - pow(t->beta2, (double)step + 1));
    x->w -= lr * (m / (sqrt(v) + 1e-8) + decay * x->w);
}

static void plain_muon(struct number *x, int parameter, size_t first, size_t rows, size_t cols,
                       double clip, const struct orr_train_settings *t, long step)
{
    const double mu = t->muon_momentum, lr = gpt_lr(t, step) * t->muon_lr / t->lr;
    double *u = calloc(rows * cols, sizeof *u);
    assert_non_null(u);
    for (size_t j = 0; j < rows * cols; j++) {
        const double g = clip * gradient(parameter, first + j, step);
        x[j].m = mu * x[j].m + (1 - mu) * g;
        u[j] = (1 - mu) * g + mu * x[j].m;
    }
    orthogonalise(u, rows, cols);
    for (size_t j = 0; j < rows * cols; j++)
        x[j].w -= lr * (t->weight_decay * x[j].w +
                        u[j] * (rows > cols ? sqrt((double)rows / (double)cols) : 1));
    free(u);
}

static double set_gradients(struct gpt_model *model, long step, double factor)
{
    double square = 0;
    gpt_zero_grad(model);
    for (int i = 0; i < model->parameters; i++)
        for (size_t j = 0; j < model->table[i].count; j++) {
            gpt_grad(model, i)[j] = (real)(factor * gradient(i, j, step));
            square += pow(gradient(i, j, step), 2);
        }
    return sqrt(square);
}

static void plain_step(const struct gpt_model *model, struct number *x, double clip,
                       const struct orr_train_settings *t, long step)
{
    for (int i = 0; i < model->parameters; i++) {
        const struct gpt_parameter *p = &model->table[i];
        const size_t matrices = matrices_of(p->name);
        for (size_t j = 0; !matrices && j < p->count; j++)
            plain_adamw(&x[j], clip * gradient(i, j, step), p->ndim == 2 ? t->weight_decay : 0, t,
                        step);
        for (size_t m = 0; m < matrices; m++)
            plain_muon(&x[m * p->count / matrices], i, m * p->count / matrices,
                       p->shape[0] / matrices, p->shape[1], clip, t, step);
        x += p->count;
    }
}

/* A float's rounding, amplified by the iteration (tests/kernels/test_muon.c), in each step. */
static void compare(struct gpt_model *model, const struct number *x,
                    const struct orr_train_settings *t, int steps)
{
    for (int i = 0; i < model->parameters; i++) {
        const struct gpt_parameter *p = &model->table[i];
        const bool whole = matrices_of(p->name) > 0;
        for (size_t j = 0; j < p->count; j++, x++) {
            const double w = (double)gpt_param(model, i)[j];
            const double allowed =
                whole ? steps * (1000.0 * FLT_EPSILON * 2 * t->muon_lr + FLT_EPSILON) : 2e-6;
            if (!(fabs(w - x->w) <= allowed * (1 + fabs(x->w))))
                fail_msg("%s: %s[%zu] = %.9g, expected %.9g", model->ops->name, p->name, j, w,
                         x->w);
            if (!(fabs((double)model->m[p->offset + j] - x->m) <= 10.0 * steps * FLT_EPSILON))
                fail_msg("%s: the momentum of %s[%zu] is off", model->ops->name, p->name, j);
            if (!whole && !(fabs((double)model->v[p->second + j] - x->v) <= 1e-5 * x->v))
                fail_msg("%s: the second moment of %s[%zu] is off", model->ops->name, p->name, j);
        }
    }
}

static struct orr_train_settings muon_training(void)
{
    struct orr_train_settings t = tiny_training(100, 1);
    t.optimizer = ORR_OPTIMIZER_MUON;
    t.muon_lr = 0.013;
    t.muon_momentum = 0.93;
    t.muon_steps = 4;
    return t;
}

static void check_updates(const struct k_ops *ops, struct gpt_config c,
                          const struct orr_train_settings *t, int steps)
{
    struct gpt_model model;
    assert_int_equal(gpt_create(&model, &c, ops, 4), 0);
    tiny_enlarge(&model);
    struct number *x = calloc(model.count, sizeof *x), *at = x;
    assert_non_null(x);
    for (int i = 0; i < model.parameters; i++)
        for (size_t j = 0; j < model.table[i].count; j++)
            at++->w = (double)gpt_param(&model, i)[j];
    for (long step = 0; step < steps; step++) {
        const double norm = set_gradients(&model, step, t->accumulation);
        double found;
        assert_int_equal(gpt_update(&model, t, step, &found), 0);
        assert_true(fabs(found - norm) <= 1e-5 * norm);
        plain_step(&model, x, t->clip > 0 && norm > t->clip ? t->clip / norm : 1, t, step);
    }
    compare(&model, x, t, steps);
    free(x);
    gpt_free(&model);
}

TEST(updates_agree_with_plain_loops)
{
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        struct orr_train_settings t = muon_training();
        struct gpt_config gated = tiny_tokens();
        gated.gate = K_GATE_SIGMOID;
        assert_int_equal((*ops)->open(1, false), 0);
        check_updates(*ops, tiny_tokens(), &t, 1);
        check_updates(*ops, tiny_continuous(), &t, 4);
        t.weight_decay = 3.5; /* large, so that losing or misplacing it shows */
        t.clip = 2;
        t.accumulation = 3;
        t.warmup = 3;
        t.schedule = ORR_SCHEDULE_COSINE;
        check_updates(*ops, tiny_tokens(), &t, 5);
        check_updates(*ops, gated, &t, 3);
        struct gpt_config deep = tiny_continuous();
        deep.layers = K_MATRICES / 4 + 3; /* more matrices of a shape than one call takes */
        check_updates(*ops, deep, &t, 1);
        (*ops)->close();
    }
}

/* One moment for matrices of blocks, two for all else. */
TEST(second_moments_are_those_of_adamw_alone)
{
    struct gpt_config c = tiny_tokens();
    struct gpt_model model;
    size_t numbers = 0, padding = 0;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 4), 0);
    assert_int_equal(model.seconds, model.total);
    assert_int_equal(gpt_choose_optimizer(&model, ORR_OPTIMIZER_MUON), 0);
    for (int i = 0; i < model.parameters; i++) {
        assert_int_equal(gpt_takes_matrices(&model, i), matrices_of(model.table[i].name) > 0);
        if (!matrices_of(model.table[i].name))
            numbers += model.table[i].count;
        padding += 15;
    }
    assert_true(model.seconds >= numbers && model.seconds <= numbers + padding);
    assert_true(model.seconds < model.total);
    gpt_free(&model);
}

static void step_model(struct gpt_model *model, const struct orr_train_settings *t, long step)
{
    double norm;
    set_gradients(model, step, 1);
    assert_int_equal(gpt_update(model, t, step, &norm), 0);
}

/* Frozen weights keep their bits. */
TEST(frozen_matrices_stay)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model, before;
    struct orr_train_settings t = muon_training();
    assert_int_equal(gpt_create(&model, &c, &k_ref, 4), 0);
    assert_int_equal(gpt_create(&before, &c, &k_ref, 4), 0);
    gpt_freeze(&model, ORR_TRAINED_LAST_BLOCK);
    step_model(&model, &t, 0);
    const size_t kept = model.table[model.frozen].offset;
    assert_true(kept > 0 && tiny_same(model.param, before.param, kept));
    for (int i = model.frozen; i < model.parameters; i++)
        if (tiny_same(gpt_param(&model, i), gpt_param(&before, i), model.table[i].count))
            fail_msg("%s did not move", model.table[i].name);
    gpt_free(&model);
    gpt_free(&before);
}

/* A checkpoint has the moments, and a training continued from it has the bits of one that was not
 * interrupted; another optimiser is refused. */
TEST(checkpoints_continue_bit_for_bit)
{
    struct gpt_config c = tiny_tokens();
    struct gpt_model model, loaded;
    struct orr_train_settings t = muon_training(), other = t;
    char path[4096];
    long step = 0;
    double norm;
    scratch_path(path, scratch_dir, "muon.safetensors");
    t.ema = 0.5;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 4), 0);
    for (; step < 3; step++)
        step_model(&model, &t, step);
    assert_int_equal(gpt_save(&model, path, step, true, NULL), 0);
    assert_int_equal(gpt_load(&loaded, path, &k_ref, &step), 0);
    assert_int_equal(step, 3);
    assert_int_equal(loaded.optimizer, ORR_OPTIMIZER_MUON);
    for (int i = 0; i < model.parameters; i++) {
        const struct gpt_parameter *p = &model.table[i];
        assert_true(tiny_same(loaded.m + p->offset, model.m + p->offset, p->count));
        if (!matrices_of(p->name))
            assert_true(tiny_same(loaded.v + p->second, model.v + p->second, p->count));
    }
    step_model(&model, &t, 3);
    step_model(&loaded, &t, 3);
    assert_true(tiny_same(loaded.param, model.param, model.total));
    assert_true(tiny_same(loaded.average, model.average, model.total));
    other.optimizer = ORR_OPTIMIZER_ADAMW;
    assert_int_equal(gpt_update(&loaded, &other, 4, &norm), ORR_EINVAL);
    error_names("muon", "adamw", NULL);
    gpt_free(&model);
    gpt_free(&loaded);
}

TESTS(scratch_setup, scratch_teardown)
