/* tree.h - sums gradients of micro-batches in a fixed order; inside model/ only. */
#ifndef GPT_TREE_H
#define GPT_TREE_H

#include "model/model.h"

/* Sums over passes of weight x loss, and of weights. The weight of a micro-batch is the share of
 * its rows with non-zero weight, so that the mean over a step is the mean over all its rows,
 * however the step is divided. */
struct gpt_sum {
    double loss, weight;
};
enum { GPT_TREE_DEPTH = 32 };
struct gpt_tree {
    const struct k_ops *ops;
    real *sum; /* (count), owned by the caller: the current leaf, finally the sum */
    real
        /* (depth) buffers of (count): left halves that are kept until their right halves are
         * complete */
        *aside[GPT_TREE_DEPTH];
    size_t count;
    int leaves, depth; /* 2^depth >= leaves */
    int (*leaf)(void *context, int index, struct gpt_sum *sum);
    void *context;
    /* of the last leaf: the number of left halves to add to it, and the element from which on
     * they have been added */
    int waiting;
    size_t folded;
};
/* A tree over `leaves` >= 1 vectors of `count` reals in memory of the backend. ORR_ENOMEM. */
int gpt_tree_create(struct gpt_tree *tree, const struct k_ops *ops, real *sum, size_t count,
                    int leaves);
void gpt_tree_free(struct gpt_tree *tree);
/* Computes the leaves first .. first + leaves - 1 in this order. leaf() adds its vector to
 * tree->sum, which is zero, and sets its loss and weight. Afterwards tree->sum and *out have the
 * sums over all leaves. Returns the first failure of a leaf. */
int gpt_tree_sum(struct gpt_tree *tree, int first,
                 int (*leaf)(void *context, int index, struct gpt_sum *sum), void *context,
                 struct gpt_sum *out);
/* Called while the last leaf is computed: the leaf's elements from `from` on are final, and on
 * return so are those of tree->sum, with unchanged bits. Before the last leaf it does nothing.
 * `from` decreases from call to call. */
int gpt_tree_fold(struct gpt_tree *tree, size_t from);

#endif
