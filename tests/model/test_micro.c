/* test_micro.c - micro-batches: the order of their tree, the same bits however a batch is cut into
 * passes and on any number of threads, and the mean over all rows that count. */
#include "tiny.h"

#include "model/ranks/tree.h"

static char *const dir = scratch_dir;

enum { NUMBERS = 37 };

/* Leaf i of a tree adds these numbers. */
static real leaf_value(int i, size_t n)
{
    return (real)(ldexp(tiny_uniform(700 + (uint64_t)i, n) - 0.4, 3 * (i % 5)));
}

struct leaves {
    real *sum;
    struct gpt_tree *tree;
    int next;   /* the leaf that is asked for next: they come in order */
    int pieces; /* every leaf says so many times from where on it is final */
};

static int add_leaf(void *context, int index, struct gpt_sum *sum)
{
    struct leaves *leaves = context;
    assert_int_equal(index, leaves->next++);
    for (size_t n = NUMBERS; n-- > 0;) {
        assert_true(memcmp(&leaves->sum[n], &(real){0}, sizeof(real)) == 0);
        leaves->sum[n] += leaf_value(index, n);
        if (leaves->pieces && n % (size_t)leaves->pieces == 1)
            assert_int_equal(gpt_tree_fold(leaves->tree, n), 0);
    }
    *sum = (struct gpt_sum){.loss = 1.7 * index, .weight = 0.3 + index};
    return 0;
}

/* The sum of leaves first .. first + count - 1 by the rule of the header. */
static real expected(int first, int count, size_t n)
{
    if (count == 1)
        return leaf_value(first, n);
    return expected(first, count / 2, n) + expected(first + count / 2, count - count / 2, n);
}

TEST(test_order)
{
    real sum[NUMBERS];
    for (int first = 0; first < 6; first += 5)
        for (int count = 1; count <= 13; count++) {
            struct gpt_tree tree;
            struct leaves leaves = {
                .sum = sum, .tree = &tree, .next = first, .pieces = first ? count : 0};
            struct gpt_sum total;
            double loss = 0, weight = 0;
            assert_int_equal(gpt_tree_create(&tree, &k_ref, sum, NUMBERS, count), 0);
            assert_true(tree.depth == 0 || 1 << (tree.depth - 1) < count);
            assert_int_equal(gpt_tree_sum(&tree, first, add_leaf, &leaves, &total), 0);
            assert_int_equal(leaves.next, first + count);
            for (size_t n = 0; n < NUMBERS; n++) {
                const real want = expected(first, count, n);
                double plain = 0, size = 0;
                assert_memory_equal(&sum[n], &want, sizeof want);
                for (int i = first; i < first + count; i++) {
                    plain += (double)leaf_value(i, n);
                    size += fabs((double)leaf_value(i, n));
                }
                assert_true(fabs((double)sum[n] - plain) <= tree.depth * 0x1p-24 * size);
            }
            for (int i = first; i < first + count; i++) {
                loss += 1.7 * i;
                weight += 0.3 + i;
            }
            assert_true(fabs(total.loss - loss) <= 1e-14 * loss + 1e-300);
            assert_true(fabs(total.weight - weight) <= 1e-14 * weight);
            gpt_tree_free(&tree);
        }
    /* shares of ranks: trees of 3 leaves each, summed by a tree over 4, are the tree of 12 */
    for (size_t n = 0; n < NUMBERS; n++) {
        const real left = expected(0, 3, n) + expected(3, 3, n);
        const real right = expected(6, 3, n) + expected(9, 3, n);
        const real shares = left + right, whole = expected(0, 12, n);
        assert_memory_equal(&shares, &whole, sizeof whole);
    }
}

TEST(test_numbers)
{
    const double x[] = {1, 0x1p-53, 0x1p-53, -1, 3};
    assert_true(gpt_tree_of(x, 0) == 0);
    assert_true(gpt_tree_of(x, 1) == 1);
    assert_true(gpt_tree_of(x, 4) == 0x1p-53 - 1 + 1); /* (1 + 2^-53) + (2^-53 - 1) */
    assert_true(gpt_tree_of(x + 1, 4) == 0x1p-52 + 2);
}

/* Rows that count are few, and some sequences have none. */
struct data {
    struct tiny_data tiny;
    bool sparse;
};

static int fill(void *context, long step, int pass, struct gpt_batch *batch)
{
    const struct data *data = context;
    assert_int_equal(tiny_task_fill(context, step, pass, batch), 0);
    const long first = (step * data->tiny.passes + pass) * batch->B;
    for (int b = 0; b < batch->B && data->sparse; b++)
        for (int t = 0; t < batch->T; t++) {
            const long sequence = (first + b) % 8;
            batch->weight[b * batch->T + t] = sequence != 3 && t > sequence;
        }
    return 0;
}

static void train(struct gpt_model *model, const struct gpt_config *c, const struct k_ops *ops,
                  const struct orr_train_settings *t, bool sparse)
{
    struct data data = {.sparse = sparse};
    char folder[4096];
    long step = 0;
    scratch_path(folder, dir, "run");
    tiny_data_create(&data.tiny, c, 40);
    data.tiny.passes = gpt_passes_of(t).count;
    assert_int_equal(gpt_create(model, c, ops, 9), 0);
    struct gpt_task task = tiny_task(&data.tiny, folder);
    task.context = &data;
    task.fill = fill;
    assert_int_equal(gpt_train(model, t, &task, &step), 0);
    gpt_batch_free(&data.tiny.held_out);
}

static struct orr_train_settings training(int batch, int accumulation, int micro_batches)
{
    struct orr_train_settings t = tiny_training(5, batch);
    t.accumulation = accumulation;
    t.micro_batches = micro_batches;
    t.clip = 0.3;
    t.ema = 0.8;
    t.weight_decay = 0.5;
    return t;
}

static void check_same(const struct gpt_model *a, const struct gpt_model *b)
{
    assert_true(tiny_same(a->param, b->param, a->total));
    assert_true(tiny_same(a->m, b->m, a->total));
    assert_true(tiny_same(a->v, b->v, a->total));
    assert_true(tiny_same(a->average, b->average, a->total));
}

/* Whatever the passes, threads or attention: the micro-batches decide. */
TEST(test_same_bits)
{
    static const int cut[][2] = {{24, 1}, {12, 2}, {6, 4}, {1, 24}};
    for (int kind = 0; kind < 2; kind++) {
        struct gpt_config c = kind ? tiny_tokens() : tiny_continuous();
        struct orr_train_settings t = training(24, 1, 8);
        struct gpt_model first, next;
        c.context = 45;
        snprintf(c.attention, sizeof c.attention, "%s", kind ? "softmax" : "lssar");
        assert_int_equal(k_cpu()->open(1, K_PRECISION_FP32), 0);
        train(&first, &c, k_cpu(), &t, true);
        k_cpu()->close();
        for (int i = 0; i < 4; i++)
            for (int threads = 1; threads <= 3; threads++) {
                t = training(cut[i][0], cut[i][1], 8);
                assert_int_equal(k_cpu()->open(threads, K_PRECISION_FP32), 0);
                train(&next, &c, k_cpu(), &t, true);
                k_cpu()->close();
                check_same(&first, &next);
                gpt_free(&next);
            }
        t = training(24, 1, 4); /* another tree, other bits */
        assert_int_equal(k_cpu()->open(1, K_PRECISION_FP32), 0);
        train(&next, &c, k_cpu(), &t, true);
        k_cpu()->close();
        assert_false(tiny_same(first.param, next.param, first.total));
        gpt_free(&next);
        gpt_free(&first);
    }
}

/* Loss and gradient norm of the first step in the log. */
static void first_line(double *loss, double *norm)
{
    char path[4096], line[1024];
    scratch_path(path, scratch_at(dir, "run"), "log.jsonl");
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    assert_non_null(fgets(line, sizeof line, stream));
    fclose(stream);
    const char *at[] = {strstr(line, "\"loss\": "), strstr(line, "\"grad_norm\": ")};
    assert_true(at[0] && at[1]);
    *loss = strtod(at[0] + 8, NULL);
    *norm = strtod(at[1] + 13, NULL);
}

/* The mean over all rows of a step, not over those of each part. */
TEST(test_mean)
{
    const struct gpt_config c = tiny_continuous();
    for (int sparse = 0; sparse < 2; sparse++) {
        const struct orr_train_settings whole = training(8, 1, 0), parts = training(8, 1, 8);
        struct gpt_model a, b, start;
        double moved = 0, apart = 0, loss[2], norm[2];
        train(&a, &c, &k_ref, &whole, sparse);
        first_line(&loss[0], &norm[0]);
        train(&b, &c, &k_ref, &parts, sparse);
        first_line(&loss[1], &norm[1]);
        assert_true(fabs(loss[1] - loss[0]) < 1e-5 * loss[0]);
        assert_true(fabs(norm[1] - norm[0]) < 1e-5 * norm[0]);
        assert_int_equal(gpt_create(&start, &c, &k_ref, 9), 0);
        for (size_t i = 0; i < a.total; i++) {
            moved = fmax(moved, fabs((double)a.param[i] - (double)start.param[i]));
            apart = fmax(apart, fabs((double)a.param[i] - (double)b.param[i]));
        }
        assert_true(moved > 1e-2);
        if (!(apart < 2e-3 * moved))
            fail_msg("largest difference %g where weights moved by %g", apart, moved);
        gpt_free(&a);
        gpt_free(&b);
        gpt_free(&start);
    }
}

/* By blocks and in one go: the same number but for rounding, and what diverged is named. */
TEST(test_norm)
{
    struct gpt_config c = tiny_continuous();
    struct gpt_model model;
    double whole, blocks;
    c.width = 96;
    c.ffn = 200;
    assert_int_equal(gpt_create(&model, &c, &k_ref, 6), 0);
    assert_true(model.total > 5 * GPT_BLOCK && model.total % GPT_BLOCK != 0);
    for (int i = 0; i < model.parameters; i++) /* what lies between parameters stays zero */
        for (size_t j = 0; j < model.table[i].count; j++)
            gpt_grad(&model, i)[j] = (real)(tiny_uniform(5 + (uint64_t)i, j) - 0.5);
    assert_int_equal(gpt_gradient_norm(&model, 0, 1, model.total, &whole), 0);
    assert_int_equal(gpt_gradient_norm(&model, 0, 3, GPT_BLOCK, &blocks), 0);
    assert_true(fabs(3 * blocks - whole) < 1e-13 * whole);
    gpt_grad(&model, model.parameters - 1)[0] = INFINITY;
    assert_int_equal(gpt_gradient_norm(&model, 0, 3, GPT_BLOCK, &blocks), ORR_EDIVERGED);
    assert_non_null(strstr(orr_error(), model.table[model.parameters - 1].name));
    gpt_free(&model);
}

TEST(test_passes)
{
    struct orr_train_settings t = training(12, 4, 0);
    assert_int_equal(gpt_passes_of(&t).count, 4);
    assert_int_equal(gpt_passes_of(&t).batch, 12);
    t.micro_batches = 16;
    assert_int_equal(gpt_passes_of(&t).count, 16);
    assert_int_equal(gpt_passes_of(&t).batch, 3);
}

TESTS(scratch_setup, scratch_teardown)
