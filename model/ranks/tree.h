/* tree.h - gradients of micro-batches, summed in one order; inside model/ only. */
#ifndef GPT_TREE_H
#define GPT_TREE_H

#include "model/model.h"

/* Sums over passes of weight x loss, and of weights. A micro-batch weighs as much as the share of
 * its rows that count, so that the mean over a step is that over all its rows, however the step is
 * cut. */
struct gpt_sum {
    double loss, weight;
};
enum { GPT_TREE_DEPTH = 32 };
struct gpt_tree {
    const struct k_ops *ops;
    real *sum; /* (count): the leaf that is computed, then the sum; the caller's */
    real
        *aside[GPT_TREE_DEPTH]; /* (depth) of (count): left halves that wait for their right ones */
    size_t count;
    int leaves, depth; /* 2^depth >= leaves */
    int (*leaf)(void *context, int index, struct gpt_sum *sum);
    void *context;
    /* of the last leaf: left halves that it is added to, and from where on it has been */
    int waiting;
    size_t folded;
};
/* A tree over `leaves` >= 1 vectors of `count` reals in memory of the backend. ORR_ENOMEM. */
int gpt_tree_create(struct gpt_tree *tree, const struct k_ops *ops, real *sum, size_t count,
                    int leaves);
void gpt_tree_free(struct gpt_tree *tree);
/* Asks for the leaves first .. first + leaves - 1 in this order: leaf() adds its vector to
 * tree->sum, which is zero, and says what it came to. tree->sum = the sum of all, and *out. The
 * first failure of a leaf comes back. */
int gpt_tree_sum(struct gpt_tree *tree, int first,
                 int (*leaf)(void *context, int index, struct gpt_sum *sum), void *context,
                 struct gpt_sum *out);
/* For the last leaf, while it is computed: its numbers from `from` on are final, and so are those
 * of tree->sum when this returns; the same bits. Before the last leaf: nothing. `from` goes down
 * from call to call. */
int gpt_tree_fold(struct gpt_tree *tree, size_t from);

#endif
