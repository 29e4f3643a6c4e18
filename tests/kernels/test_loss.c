/* test_loss.c - the token head with its cross entropy. Built in double: its gradients against
 * central differences, and closed forms. Built in float: its parts one after another give the same,
 * and what is wrong with targets is said. */
#include "op_calls.h"
#include "test_data.h"

enum { N = 11, C = 12, V = 9, CHANNELS = 2 };

struct problem {
    struct outputs memory;
    real *inp, *w, *weight, *dinp, *dw;
    uint16_t *target;
};

static void problem_make(struct problem *p)
{
    struct stream r = {.seed = 41};
    *p = (struct problem){0};
    p->inp = input(&p->memory, &r, N * C, 1);
    p->w = input(&p->memory, &r, CHANNELS * V * C, 0.5);
    p->weight = input(&p->memory, &r, N, 1);
    p->dinp = input(&p->memory, &r, N * C, 1);
    p->dw = input(&p->memory, &r, CHANNELS * V * C, 0);
    p->target = input_tokens(&p->memory, &r, N * CHANNELS, V);
    for (int n = 0; n < N; n++)
        p->weight[n] = n == 3 ? 0 : (real)(0.5 + uniform(&r));
}

static double head(const struct k_ops *ops, struct problem *p, real *dinp, real *dw)
{
    double loss;
    assert_int_equal(call_head_cross_entropy(ops, &loss, dinp, dw, p->inp, p->w, p->target,
                                             p->weight, N, C, V, CHANNELS),
                     0);
    return loss;
}

#ifdef K_DOUBLE
static void differences(struct problem *p, real *x, const real *gradient, size_t n)
{
    const double h = 1e-5; /* error h^2 of the difference and 1e-16 / h of the loss: 1e-10 */
    struct stream r = {.seed = 43};
    real *dinp = input(&p->memory, &r, N * C, 1), *dw = input(&p->memory, &r, CHANNELS * V * C, 1);
    for (size_t i = 0; i < n; i++) {
        const real at = x[i];
        x[i] = at + h;
        const double up = head(&k_ref, p, dinp, dw);
        x[i] = at - h;
        const double down = head(&k_ref, p, dinp, dw);
        x[i] = at;
        assert_near((double)gradient[i], (up - down) / (2 * h), 1e-9);
    }
}

TEST(gradients_are_differences)
{
    struct problem p;
    problem_make(&p);
    head(&k_ref, &p, p.dinp, p.dw);
    differences(&p, p.inp, p.dinp, N * C);
    differences(&p, p.w, p.dw, CHANNELS * V * C);
    outputs_free(&p.memory);
}
#else
/* The head is linear_forward, cross_entropy per channel, their mean, linear_backward. */
TEST(head_is_its_parts)
{
    for (const struct k_ops *const *ops = k_backends(); *ops; ops++) {
        struct problem p;
        problem_make(&p);
        assert_int_equal((*ops)->open(2, false), 0);
        const double loss = head(*ops, &p, p.dinp, p.dw);
        struct stream r = {.seed = 47};
        real *logits = input(&p.memory, &r, N * CHANNELS * V, 0);
        real *dinp = input(&p.memory, &r, N * C, 1);
        real *dw = input(&p.memory, &r, CHANNELS * V * C, 0);
        double sum = 0, one;
        call_linear_forward(*ops, logits, p.inp, p.w, NULL, N, C, CHANNELS * V);
        for (int c = 0; c < CHANNELS; c++) {
            call_cross_entropy(*ops, &one, logits, logits, CHANNELS * V, c * V, p.target + c,
                               CHANNELS, p.weight, N, V);
            sum += one / CHANNELS;
        }
        for (int i = 0; i < N * CHANNELS * V; i++)
            logits[i] /= CHANNELS;
        call_linear_backward(*ops, dinp, dw, NULL, logits, p.inp, p.w, N, C, CHANNELS * V);
        assert_near(loss, sum, 1e-6);
        for (int i = 0; i < N * C; i++)
            assert_near((double)p.dinp[i], (double)dinp[i], 1e-6);
        for (int i = 0; i < CHANNELS * V * C; i++)
            assert_near((double)p.dw[i], (double)dw[i], 1e-6);
        (*ops)->close();
        outputs_free(&p.memory);
    }
}

TEST(a_target_beyond_the_classes_is_an_error)
{
    if (strcmp(k_cpu()->name, "cpu"))
        skip(); /* the host does not see the targets of a GPU */
    struct problem p;
    double loss;
    problem_make(&p);
    assert_int_equal(k_cpu()->open(2, false), 0);
    p.target[3 * CHANNELS] = V; /* of the row that does not count */
    head(k_cpu(), &p, p.dinp, p.dw);
    p.target[5] = V;
    assert_int_equal(call_head_cross_entropy(k_cpu(), &loss, p.dinp, p.dw, p.inp, p.w, p.target,
                                             p.weight, N, C, V, CHANNELS),
                     ORR_EINVAL);
    k_cpu()->close();
    outputs_free(&p.memory);
}
#endif

/* With zero weights every class is as probable: log V. */
TEST(nothing_known_costs_log_v)
{
    struct problem p;
    problem_make(&p);
    memset(p.w, 0, CHANNELS * V * C * sizeof *p.w);
    assert_near(head(&k_ref, &p, p.dinp, p.dw), log(V), 1e-6);
    for (int i = 0; i < N * C; i++)
        assert_true(p.dinp[i] == 0);
    outputs_free(&p.memory);
}

TESTS(NULL, NULL)
