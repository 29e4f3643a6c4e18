/* ranks.h - one training by the ranks of a job (cluster/cluster.h); inside model/ only. One rank
 * does nothing here. Calls marked collective are made by all ranks, in the same order. */
#ifndef GPT_RANKS_H
#define GPT_RANKS_H

#include "cluster/cluster.h"
#include "model.h"

/* Gradients go from rank to rank in buckets of so many reals: 16 MB. */
enum { GPT_BUCKET = 256 * GPT_BLOCK };

/* This rank's share of a step's parts: contiguous, and one more for the first parts % size. */
void gpt_ranks_share(int parts, int *first, int *count);

/* Room for sums over the ranks, of the host's memory. */
struct gpt_ranks {
    const struct k_ops *ops;
    size_t count;          /* of the gradient */
    real *parts;           /* (size, a rank's share of a bucket) */
    struct gpt_sum *sums;  /* (size) */
    double *loss, *weight; /* (size) */
};
int gpt_ranks_create(struct gpt_ranks *ranks, const struct k_ops *ops, size_t count);
void gpt_ranks_free(struct gpt_ranks *ranks);
/* gradient (count) and *sum = their sums over the ranks, with the bits that one rank comes to where
 * the ranks are a power of two that divides the micro-batches. Collective. */
int gpt_ranks_sum(const struct gpt_ranks *ranks, real *gradient, struct gpt_sum *sum);
/* *stop = whether any rank has it set. Collective. */
int gpt_ranks_stop(bool *stop);

/* Rank 0's model (weights, average, moments) and step on all ranks; those of the others are made
 * here. Collective. */
int gpt_ranks_share_model(struct gpt_model *model, const struct k_ops *ops, long *step);
/* Rank 0's text on all ranks; free() it. Collective. */
int gpt_ranks_share_text(char **text);

#endif
