/* test_gradient.c - backward of every operation. Built in double: the reference against central
 * differences. Built in float: every other backend against the reference's gradients.
 *
 * A problem is an operation followed by a fixed random linear form (its outputs times `form`), so
 * that the loss is one number and the gradient by the outputs is `form`. */
#include "op_calls.h"
#include "test_data.h"

#include "phi.h"

enum { VARIABLES = 4 };

struct problem {
    const char *name;
    void (*run)(const struct k_ops *ops, struct problem *p, bool backward);
    struct outputs memory;
    struct stream stream;
    struct variable {
        const char *name;
        size_t n;
        real *x, *gradient;
        bool adds; /* backward adds to the gradient */
    } variable[VARIABLES];
    int variables;
    int N, C, OC;
    const real *form;
    real *out, *extra, *mean, *rstd;
    uint16_t *token;
    real *weight;
    struct k_attention_shape shape;
    enum k_gate gate;
    size_t samples;   /* differences per variable */
    double tolerance; /* of other backends */
    double delta;     /* of the pseudo-Huber loss */
    double loss;
};

static real *variable(struct problem *p, const char *name, size_t n, double scale, bool adds)
{
    struct variable *v = &p->variable[p->variables++];
    assert_true(p->variables <= VARIABLES);
    *v = (struct variable){.name = name, .n = n, .adds = adds};
    v->x = input(&p->memory, &p->stream, n, scale);
    v->gradient = input(&p->memory, &p->stream, n, 1);
    return v->x;
}

static void results(struct problem *p, size_t n)
{
    p->form = input(&p->memory, &p->stream, n, 1);
    p->out = input(&p->memory, &p->stream, n, 0);
    p->extra = input(&p->memory, &p->stream, n, 0);
    p->mean = input(&p->memory, &p->stream, n, 0);
    p->rstd = input(&p->memory, &p->stream, n, 0);
}

static void take_loss(struct problem *p, size_t n)
{
    p->loss = 0;
    for (size_t i = 0; i < n; i++)
        p->loss += (double)p->out[i] * (double)p->form[i];
}

static size_t product(int a, int b)
{
    return (size_t)a * (size_t)b;
}

/* ---- the operations */

static void run_linear(const struct k_ops *ops, struct problem *p, bool backward)
{
    const struct variable *v = p->variable;
    const int N = p->N, C = p->C, OC = p->OC;
    assert_int_equal(call_linear_forward(ops, p->out, v[0].x, v[1].x, v[2].x, N, C, OC), 0);
    if (backward)
        assert_int_equal(call_linear_backward(ops, v[0].gradient, v[1].gradient, v[2].gradient,
                                              p->form, v[0].x, v[1].x, N, C, OC),
                         0);
    take_loss(p, product(N, OC));
}

static void run_linear_fp32_only(const struct k_ops *ops, struct problem *p, bool backward)
{
    const struct variable *v = p->variable;
    const int N = p->N, C = p->C, OC = p->OC;
    assert_int_equal(call_linear_fp32_only_forward(ops, p->out, v[0].x, v[1].x, v[2].x, N, C, OC),
                     0);
    if (backward)
        assert_int_equal(call_linear_fp32_only_backward(ops, v[0].gradient, v[1].gradient,
                                                        v[2].gradient, p->form, v[0].x, v[1].x, N,
                                                        C, OC),
                         0);
    take_loss(p, product(N, OC));
}

static void run_linear_gelu(const struct k_ops *ops, struct problem *p, bool backward)
{
    const struct variable *v = p->variable;
    const int N = p->N, C = p->C, OC = p->OC;
    real *pre = p->extra, *dpre = p->mean;
    assert_int_equal(call_linear_gelu_forward(ops, p->out, pre, v[0].x, v[1].x, v[2].x, N, C, OC),
                     0);
    if (backward) {
        assert_int_equal(ops->gelu_backward(dpre, p->form, pre, product(N, OC)), 0);
        assert_int_equal(call_linear_backward(ops, v[0].gradient, v[1].gradient, v[2].gradient,
                                              dpre, v[0].x, v[1].x, N, C, OC),
                         0);
    }
    take_loss(p, product(N, OC));
}

static void run_layernorm(const struct k_ops *ops, struct problem *p, bool backward)
{
    const struct variable *v = p->variable;
    assert_int_equal(
        call_layernorm_forward(ops, p->out, p->mean, p->rstd, v[0].x, v[1].x, v[2].x, p->N, p->C),
        0);
    if (backward)
        assert_int_equal(call_layernorm_backward(ops, v[0].gradient, v[1].gradient, v[2].gradient,
                                                 p->form, v[0].x, p->mean, p->rstd, v[1].x, p->N,
                                                 p->C),
                         0);
    take_loss(p, product(p->N, p->C));
}

enum { POSITIONS = 5 }; /* T of the position table */

static void run_position(const struct k_ops *ops, struct problem *p, bool backward)
{
    memcpy(p->out, p->extra, product(p->N, p->C) * sizeof *p->out);
    assert_int_equal(ops->position_forward(p->out, p->variable[0].x, p->N, POSITIONS, p->C), 0);
    if (backward)
        assert_int_equal(
            ops->position_backward(p->variable[0].gradient, p->form, p->N, POSITIONS, p->C), 0);
    take_loss(p, product(p->N, p->C));
}

static void run_embed(const struct k_ops *ops, struct problem *p, bool backward)
{
    const struct variable *v = p->variable;
    const int stride = p->C + 3;
    assert_int_equal(
        call_embed_forward(ops, p->out, stride, 2, v[0].x, p->token, 2, p->N, p->OC, p->C), 0);
    if (backward)
        assert_int_equal(call_embed_backward(ops, v[0].gradient, p->form, stride, 2, p->token, 2,
                                             p->N, p->OC, p->C),
                         0);
    take_loss(p, product(p->N, stride));
}

static void run_attention(const struct k_ops *ops, struct problem *p, bool backward)
{
    struct variable *v = p->variable;
    const struct k_attention_shape *s = &p->shape;
    assert_int_equal(ops->attention_forward(p->out, p->extra, v->x, s), 0);
    if (backward)
        assert_int_equal(ops->attention_backward(v->gradient, p->form, p->out, p->extra, v->x, s),
                         0);
    take_loss(p, product(s->B * s->T, s->H * s->D));
}

static void run_attention_generic(const struct k_ops *ops, struct problem *p, bool backward)
{
    struct variable *v = p->variable;
    const struct k_attention_shape *s = &p->shape;
    assert_int_equal(ops->attention_generic_forward(p->out, p->extra, v->x, s), 0);
    if (backward)
        assert_int_equal(
            ops->attention_generic_backward(v->gradient, p->form, p->out, p->extra, v->x, s), 0);
    take_loss(p, product(s->B * s->T, s->H * s->D));
}

static void run_gate(const struct k_ops *ops, struct problem *p, bool backward)
{
    const struct variable *y = &p->variable[0], *pre = &p->variable[1];
    assert_int_equal(call_gate_forward(ops, p->out, y->x, pre->x, p->gate, y->n), 0);
    if (backward)
        assert_int_equal(call_gate_backward(ops, y->gradient, pre->gradient, p->form, y->x, pre->x,
                                            p->gate, y->n),
                         0);
    take_loss(p, y->n);
}

/* The transpose of a rotation is the rotation back. */
static void run_rope(const struct k_ops *ops, struct problem *p, bool backward)
{
    struct variable *v = p->variable;
    const struct k_attention_shape *s = &p->shape;
    memcpy(p->out, v->x, v->n * sizeof *v->x);
    assert_int_equal(call_rope(ops, p->out, s->B, s->T, s->H, s->D, 100, 3, false), 0);
    if (backward) {
        memcpy(v->gradient, p->form, v->n * sizeof *v->x);
        assert_int_equal(call_rope(ops, v->gradient, s->B, s->T, s->H, s->D, 100, 3, true), 0);
    }
    take_loss(p, v->n);
}

static void run_cross_entropy(const struct k_ops *ops, struct problem *p, bool backward)
{
    struct variable *v = p->variable;
    assert_int_equal(call_cross_entropy(ops, &p->loss, backward ? v->gradient : NULL, v->x, p->OC,
                                        0, p->token, 2, p->weight, p->N, p->OC),
                     0);
}

static void run_regression(const struct k_ops *ops, struct problem *p, bool backward)
{
    struct variable *v = p->variable;
    assert_int_equal(call_regression(ops, &p->loss, backward ? v->gradient : NULL, v->x, p->form,
                                     p->weight, p->N, p->C, p->delta),
                     0);
}

/* ---- the checks */

#ifdef K_DOUBLE
/* The loss where number k of a variable has moved by `by`. */
static double loss_at(struct problem *p, struct variable *v, size_t k, double by)
{
    const real keep = v->x[k];
    v->x[k] = keep + by;
    p->run(&k_ref, p, false);
    v->x[k] = keep;
    return p->loss;
}

/* Fourth-order differences, h = 1e-5: good to about 1e-10 of the loss and, where a row has
 * curvature of scale r, to (h / r)^4. */
static void check(struct problem *p)
{
    const double h = 1e-5;
    real *start[VARIABLES];
    for (int i = 0; i < p->variables; i++) {
        struct variable *v = &p->variable[i];
        start[i] = input(&p->memory, &p->stream, v->n, 0);
        memcpy(start[i], v->gradient, v->n * sizeof(real));
        for (size_t k = 0; k < v->n && !v->adds; k++) {
            v->gradient[k] = NAN;
            start[i][k] = 0;
        }
    }
    p->run(&k_ref, p, true);
    for (int i = 0; i < p->variables; i++) {
        struct variable *v = &p->variable[i];
        const size_t step = v->n > p->samples ? v->n / p->samples : 1;
        for (size_t k = 0; k < v->n; k += step) {
            const double near = loss_at(p, v, k, h) - loss_at(p, v, k, -h);
            const double far = loss_at(p, v, k, 2 * h) - loss_at(p, v, k, -2 * h);
            const double numeric = (8 * near - far) / (12 * h);
            const double found = v->gradient[k] - start[i][k];
            if (!(fabs(found - numeric) <= 1e-8 + 1e-7 * fabs(numeric)))
                fail_msg("%s: d%s[%zu] is %.12g, differences give %.12g", p->name, v->name, k,
                         found, numeric);
        }
    }
}
#else
static void check(struct problem *p)
{
    for (const struct k_ops *const *all = k_backends(); *all; all++) {
        if (*all == &k_ref)
            continue;
        struct outputs expected = {0}, found = {0};
        for (int pass = 0; pass < 2; pass++) {
            const struct k_ops *ops = pass ? *all : &k_ref;
            struct outputs *to = pass ? &found : &expected;
            struct problem copy = *p;
            for (int i = 0; i < p->variables; i++) {
                struct variable *v = &copy.variable[i];
                v->gradient = output(to, v->name, v->n);
                if (v->adds)
                    memcpy(v->gradient, p->variable[i].gradient, v->n * sizeof(real));
            }
            assert_int_equal(ops->open(2, false), 0);
            copy.run(ops, &copy, true);
            ops->close();
            output_number(to, "loss", copy.loss);
        }
        outputs_near(p->name, &found, &expected, p->tolerance);
        outputs_free(&expected);
        outputs_free(&found);
    }
}
#endif

static struct problem begin(const char *name,
                            void (*run)(const struct k_ops *, struct problem *, bool))
{
    return (struct problem){.name = name,
                            .run = run,
                            .stream = {5, 0},
                            .N = 13,
                            .C = 6,
                            .OC = 5,
                            .samples = 400,
                            .tolerance = 5e-5};
}

static void end(struct problem *p)
{
    check(p);
    outputs_free(&p->memory);
}

TEST(linear_layers)
{
    static const struct {
        const char *name;
        void (*run)(const struct k_ops *, struct problem *, bool);
    } kinds[] = {{"linear", run_linear},
                 {"linear fp32_only", run_linear_fp32_only},
                 {"linear gelu", run_linear_gelu}};
    static const int widths[][2] = {{6, 5}, {1, 3}, {3, 1}, {17, 19}};
    for (size_t k = 0; k < 3; k++)
        for (size_t w = 0; w < 4; w++) {
            struct problem p = begin(kinds[k].name, kinds[k].run);
            p.C = widths[w][0];
            p.OC = widths[w][1];
            results(&p, product(p.N, p.OC));
            variable(&p, "inp", product(p.N, p.C), 1, false);
            variable(&p, "w", product(p.OC, p.C), 1, true);
            variable(&p, "b", (size_t)p.OC, 1, true);
            end(&p);
        }
}

TEST(norms)
{
    for (int C = 2; C < 24; C += 7) {
        struct problem p = begin("layernorm", run_layernorm);
        p.C = C;
        results(&p, product(p.N, C));
        variable(&p, "x", product(p.N, C), 2, true);
        variable(&p, "gamma", (size_t)C, 1, true);
        variable(&p, "beta", (size_t)C, 1, true);
        end(&p);
    }
}

TEST(tables_of_rows)
{
    struct problem p = begin("position", run_position);
    results(&p, product(p.N, p.C));
    variable(&p, "table", product(POSITIONS, p.C), 1, true);
    end(&p);
    p = begin("embed", run_embed);
    results(&p, product(p.N, p.C + 3));
    variable(&p, "table", product(p.OC, p.C), 1, true);
    p.token = input_tokens(&p.memory, &p.stream, 2 * (size_t)p.N, p.OC);
    end(&p);
}

TEST(losses)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        struct problem p = begin("cross entropy", run_cross_entropy);
        variable(&p, "logits", product(p.N, p.OC), 2, false);
        p.token = input_tokens(&p.memory, &p.stream, 2 * (size_t)p.N, p.OC);
        if (weighted) {
            p.weight = input(&p.memory, &p.stream, (size_t)p.N, 0);
            for (int n = 0; n < p.N; n++)
                p.weight[n] = n % 4 ? (real)(0.1 + uniform(&p.stream)) : 0;
        }
        real *weight = p.weight;
        check(&p);
        struct problem q = begin("mse", run_regression);
        q.weight = weight;
        results(&q, product(q.N, q.C));
        variable(&q, "pred", product(q.N, q.C), 2, false);
        end(&q);
        struct problem h = begin("pseudo-Huber", run_regression);
        h.weight = weight;
        h.delta = 1.7;
        results(&h, product(h.N, h.C));
        variable(&h, "pred", product(h.N, h.C), 2, false);
        end(&h);
        outputs_free(&p.memory);
    }
}

/* Vector `which` (q, k, v) of head h at position t of the first sequence. */
static real *vector(const struct problem *p, int t, int which, int h)
{
    const int H = p->shape.H, D = p->shape.D;
    return p->variable[0].x + (size_t)((t * 3 + which) * H + h) * (size_t)D;
}

/* Whether no score is near a corner of phi: a difference across one is no derivative. */
static bool clear_of_corners(const struct problem *p)
{
    const struct k_attention_shape *s = &p->shape;
    for (int h = 0; h < s->H; h++)
        for (int i = 0; i < s->T; i++)
            for (int j = 0; j <= i; j++) {
                double dot = 0;
                for (int c = 0; c < s->D; c++)
                    dot += (double)vector(p, i, 0, h)[c] * (double)vector(p, j, 1, h)[c];
                const double score = dot / sqrt(s->D), margin = 0.02;
                if (fabs(score) < margin || fabs(score - 6) < margin)
                    return false;
            }
    return true;
}

/* Inputs with a zero query and a zero key, or, where the line has corners there, inputs away from
 * them; RELU6 also has scores above 6. */
static void attention_inputs(struct problem *p)
{
    const struct k_attention *v = p->shape.variant;
    const int T = p->shape.T, D = p->shape.D;
    const double scale = v->phi == K_PHI_RELU6 ? 2 : 1;
    do
        for (size_t i = 0; i < p->variable[0].n; i++)
            p->variable[0].x[i] = (real)bell(&p->stream, scale);
    while (v->score == K_SCORE_DOT && phi_has_corner(v->phi) && !clear_of_corners(p));
    if (T <= 2 || phi_has_corner(v->phi))
        return;
    real value = 0;
#ifdef K_DOUBLE
    value = v->score == K_SCORE_COS_LOGN; /* no derivative at 0: the gradient is 0 */
#endif
    for (int c = 0; c < D; c++)
        vector(p, 2, 0, 0)[c] = vector(p, 1, 1, 0)[c] = value;
}

static void attention_of(const struct k_attention *variant, double p_power, int window, int T,
                         int D)
{
    const bool one_path = k_ref.attention_forward == k_ref.attention_generic_forward;
    const int paths = sizeof(real) == sizeof(double) && one_path ? 1 : 2;
    for (int generic = 0; generic < paths; generic++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s%s, p %g, window %d, T %d, D %d", variant->name,
                 variant->reweight ? " sharpened" : "", generic ? " generic" : "", p_power, window,
                 T, D);
        struct problem p = begin(name, generic ? run_attention_generic : run_attention);
        p.shape = (struct k_attention_shape){
            .B = 1, .T = T, .H = 2, .D = D, .variant = variant, .power = p_power, .window = window};
        p.samples = 75;
        p.tolerance = variant->reweight ? 5e-5 * fmax(1, p_power / 15) : 5e-5;
        const size_t n = product(T, 2 * D), rows = product(T, 2 * 6);
        results(&p, n > rows ? n : rows);
        variable(&p, "qkv", 3 * n, 1, false);
        attention_inputs(&p);
        p.extra = input(&p.memory, &p.stream, k_attention_row_stats(NULL, &p.shape), 0);
        end(&p);
    }
}

/* Every line, and every line with re-weighting added after training. */
TEST(attention_of_every_line)
{
    static const double powers[] = {1, 2, 2.5, 3, 15, 50};
    static const int windows[] = {0, 1, 3, 4};
    for (const struct k_attention *a = k_attention_table; a->name; a++)
        for (int added = 0; added <= (k_attention_reweightable(a) && !a->reweight); added++) {
            struct k_attention line = *a;
            if (added)
                line.reweight = true, line.unshifted_rows = 3;
            for (size_t k = 0; k < (line.reweight ? 6 : 1); k++)
                for (size_t w = 0; w < 4; w++) {
                    attention_of(&line, powers[k], windows[w], 9, 4);
                    attention_of(&line, powers[k], windows[w], 1, 2);
                }
        }
}

TEST(gates)
{
    static const enum k_gate acts[] = {K_GATE_NONE, K_GATE_SIGMOID, K_GATE_SOFTPLUS};
    for (int i = 0; i < 3; i++) {
        struct problem p = begin("gate", run_gate);
        p.gate = acts[i];
        results(&p, 77);
        variable(&p, "y", 77, 1, false);
        variable(&p, "pre", 77, 3, false);
        end(&p);
    }
}

TEST(rotation)
{
    struct problem p = begin("rope", run_rope);
    p.shape = (struct k_attention_shape){.B = 2, .T = 5, .H = 3, .D = 6};
    const size_t n = 2 * 5 * 3 * 3 * 6;
    results(&p, n);
    variable(&p, "qkv", n, 1, false);
    end(&p);
}

TESTS(NULL, NULL)
