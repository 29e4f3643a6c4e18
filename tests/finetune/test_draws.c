/* test_draws.c - the random numbers of a fine-tuning: no two sequences that go into it have the
 * same noise, neither of one batch, of one step nor of two steps; seeds have heads of their own. */
#include "on_ref.h"
#include "tiny.h"

#include "train_head.h"

static struct tiny tiny;

enum { STEPS = 3, ACCUMULATION = 5, MOST = 200 };
static int length, batch_rows;                /* T; sequences of a training batch */
static double place[MOST][2], noise[MOST][2]; /* AU: of the first body at step 0 */
static int count;

static int watching_linear(const struct k_linear *layer)
{
    if (layer->fp32_only && layer->C == 3 &&
        layer->N == batch_rows * length) { /* x, y and the mark of the time step */
        for (int s = 0; s < batch_rows; s++, count++) {
            assert_in_range(count, 0, MOST - 1);
            place[count][0] = (double)layer->inp[3 * (s * length + 1)];
            place[count][1] = (double)layer->inp[3 * (s * length + 1) + 1];
        }
    }
    return k_ref.linear_forward(layer);
}

/* coords: places without noise of the sequences of a batch, `apart` numbers between sequences. */
static void check_noise(const float *coords, size_t apart)
{
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 2; c++)
            noise[i][c] =
                place[i][c] - (double)coords[(size_t)(i % batch_rows) * apart + 2 + (size_t)c];
    for (int i = 0; i < count; i++) { /* deviations of 0.01; differences are exact to 1e-6 */
        assert_true(hypot(noise[i][0], noise[i][1]) < 0.08);
        for (int k = 0; k < i; k++)
            if (hypot(noise[i][0] - noise[k][0], noise[i][1] - noise[k][1]) < 1e-5)
                fail_msg("sequences %d and %d of %d a batch had the same noise", k, i, batch_rows);
    }
}

static void open_watched(struct k_ops *watching)
{
    *watching = k_ref;
    watching->linear_forward = watching_linear;
    tiny_open(&tiny);
    tiny.run.ops = watching;
    count = 0;
}

/* A training set of one sequence: whatever was drawn, only noise tells rows apart. */
TEST(test_noise_of_magnitudes)
{
    struct k_ops watching;
    tiny_preset(&tiny.settings, false);
    tiny.settings.orbits.two_body_train = 1;
    tiny.settings.finetune.magnitude.steps = STEPS;
    tiny.settings.finetune.magnitude.accumulation = ACCUMULATION;
    tiny.settings.finetune.magnitude.noise_au = 0.01;
    open_watched(&watching);
    batch_rows = tiny.settings.finetune.magnitude.batch;
    length = tiny.run.train.positions - 1;
    assert_int_equal(batch_rows, 4); /* 5 sequences are validated, 17 predicted */
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
    assert_int_equal(count, STEPS * ACCUMULATION * batch_rows);
    check_noise(tiny.run.train.coords, 0);
    tiny_close(&tiny);
}

TEST(test_noise_of_vectors)
{
    struct k_ops watching;
    tiny_preset(&tiny.settings, false);
    tiny.settings.finetune.vector.steps = STEPS;
    tiny.settings.finetune.vector.accumulation = ACCUMULATION;
    tiny.settings.finetune.vector.noise_au = 0.01;
    open_watched(&watching);
    batch_rows = (int)tiny.run.planets.n;
    length = tiny.run.planets.positions - 1;
    assert_int_equal(ft_vector_model(&tiny.run, "lssar", "lssar", NULL), 0);
    count -= batch_rows; /* the last pass predicts */
    assert_int_equal(count, STEPS * ACCUMULATION * batch_rows);
    check_noise(tiny.run.planets.coords, 2 * (size_t)tiny.run.planets.positions);
    tiny_close(&tiny);
}

/* Without noise: the sequences of accumulated passes are other draws. */
TEST(test_draws_of_magnitudes)
{
    struct k_ops watching;
    tiny_preset(&tiny.settings, false);
    tiny.settings.finetune.magnitude.steps = 1;
    tiny.settings.finetune.magnitude.accumulation = ACCUMULATION;
    open_watched(&watching);
    batch_rows = tiny.settings.finetune.magnitude.batch;
    length = tiny.run.train.positions - 1;
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
    assert_int_equal(count, ACCUMULATION * batch_rows);
    int repeated = 0;
    for (int i = batch_rows; i < count; i++)
        repeated += memcmp(place[i], place[i % batch_rows], sizeof place[i]) == 0;
    assert_true(repeated < (ACCUMULATION - 1) * batch_rows / 2); /* 1 of 23 by chance */
    tiny_close(&tiny);
}

TEST(test_heads_of_seeds)
{
    struct gpt_model first, again, other;
    tiny_preset(&tiny.settings, false);
    tiny_open(&tiny);
    assert_int_equal(ft_model_open(&first, &tiny.run, "lssar", NULL, 33, 2), 0);
    assert_int_equal(ft_model_open(&again, &tiny.run, "lssar", NULL, 33, 2), 0);
    tiny.settings.seed++;
    assert_int_equal(ft_model_open(&other, &tiny.run, "lssar", NULL, 33, 2), 0);
    const size_t n = first.table[first.head_w].count;
    const real *const head = gpt_param(&first, first.head_w);
    size_t same = 0;
    assert_memory_equal(head, gpt_param(&again, again.head_w), n * sizeof *head);
    for (size_t i = 0; i < n; i++)
        same += !(fabs((double)head[i] - (double)gpt_param(&other, other.head_w)[i]) > 1e-9);
    assert_true(n == 16 && same == 0);
    gpt_free(&first);
    gpt_free(&again);
    gpt_free(&other);
    tiny_close(&tiny);
}

TESTS_ON_REF(NULL, NULL)
