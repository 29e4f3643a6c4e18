/* tree.c - gradients of the micro-batches of a step, summed by a fixed binary tree.
 *
 * Sums of floats depend on their order. Here the order depends only on the number of terms: the
 * tree of n leaves adds the tree of the first n / 2 (rounded down) and the tree of the rest. If
 * 2^k processes each sum an equal share of the leaves, and a tree over the processes sums the
 * shares, the result has the bits of a single process. */
#include "tree.h"
#include "model/activations.h"

#include <string.h>

/* The least depth of a tree with so many leaves. */
static int depth_of(int leaves)
{
    int depth = 0;
    for (int most = 1; most < leaves; most *= 2)
        depth++;
    return depth;
}

int gpt_tree_create(struct gpt_tree *tree, const struct k_ops *ops, real *sum, size_t count,
                    int leaves)
{
    *tree = (struct gpt_tree){
        .ops = ops, .sum = sum, .count = count, .leaves = leaves, .depth = depth_of(leaves)};
    int rc = 0;
    for (int i = 0; i < tree->depth && !rc; i++)
        rc = gpt_tensor_alloc(ops, &tree->aside[i], count);
    if (rc)
        gpt_tree_free(tree);
    return rc;
}

void gpt_tree_free(struct gpt_tree *tree)
{
    for (int i = 0; i < tree->depth; i++)
        tree->ops->release(tree->aside[i]);
    memset(tree, 0, sizeof *tree);
}

int gpt_tree_fold(struct gpt_tree *tree, size_t from)
{
    if (from >= tree->folded)
        return 0;
    for (int level = tree->waiting - 1; level >= 0; level--)
        TRY(tree->ops->add(tree->sum + from, tree->aside[level] + from, tree->sum + from,
                           tree->folded - from));
    tree->folded = from;
    return 0;
}

/* Computes a leaf. The last leaf of the whole tree is the right half of every level above it. */
static int sum_leaf(struct gpt_tree *tree, int index, int level, bool last, struct gpt_sum *out)
{
    TRY(tree->ops->zero(tree->sum, tree->count * sizeof(real)));
    if (last) {
        tree->waiting = level;
        tree->folded = tree->count;
    }
    TRY(tree->leaf(tree->context, index, out));
    return last ? gpt_tree_fold(tree, 0) : 0;
}

/* Sums leaves first .. first + count - 1 into tree->sum. The left half is kept in a buffer of
 * this level while the right one is computed. last: the range includes the last leaf of the
 * whole tree, which adds the kept halves itself. */
static int sum_node(struct gpt_tree *tree, int first, int count, int level, bool last,
                    struct gpt_sum *out)
{
    const struct k_ops *k = tree->ops;
    struct gpt_sum left, right;
    if (count == 1)
        return sum_leaf(tree, first, level, last, out);
    TRY(sum_node(tree, first, count / 2, level + 1, false, &left));
    TRY(k->copy(tree->aside[level], tree->sum, tree->count * sizeof(real)));
    TRY(sum_node(tree, first + count / 2, count - count / 2, level + 1, last, &right));
    *out = (struct gpt_sum){.loss = left.loss + right.loss, .weight = left.weight + right.weight};
    return last ? 0 : k->add(tree->sum, tree->aside[level], tree->sum, tree->count);
}

int gpt_tree_sum(struct gpt_tree *tree, int first,
                 int (*leaf)(void *context, int index, struct gpt_sum *sum), void *context,
                 struct gpt_sum *out)
{
    tree->leaf = leaf;
    tree->context = context;
    tree->folded = 0;
    return sum_node(tree, first, tree->leaves, 0, true, out);
}
