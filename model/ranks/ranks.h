/* ranks.h - one training by the ranks of a job (model/ranks/cluster.h); inside model/ only. With
 * one rank these functions do nothing. All ranks make the calls that are marked collective, in
 * equal order. */
#ifndef GPT_RANKS_H
#define GPT_RANKS_H

#include "cluster.h"
#include "stage/cli.h"
#include "tree.h"

#include <pthread.h>

/* Reals in a bucket of the gradient, which ranks exchange bucket by bucket: 64 blocks (4 MB), or
 * a few less so that shares are equal; one block per rank where there are more than 64 ranks. */
size_t gpt_bucket_capacity(void);

/* This rank's contiguous share of a step's `parts`; the first parts % size ranks have one more. */
void gpt_ranks_share(int parts, int *first, int *count);

/* State and memory of sums over the ranks. */
struct gpt_ranks {
    const struct k_ops *ops;
    size_t count;          /* of elements in the gradient */
    real *parts;           /* (size, a rank's share of a bucket), in memory of the backend */
    struct gpt_sum *sums;  /* (size) */
    double *loss, *weight; /* (size) */
    /* ---- exchange.c: the sum in progress */
    bool overlaps; /* whether a thread may send while the gradient is computed */
    /* begun: between gpt_ranks_begin() and gpt_ranks_end(); whole: its argument */
    bool begun, whole;
    bool follows;   /* whether the thread is running */
    real *gradient; /* (count) */
    size_t from;    /* the gradient is final from this element on; protected by the mutex */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t lowered; /* `from` was lowered */
    int rc;
    char message[4096];
};
int gpt_ranks_create(struct gpt_ranks *ranks, const struct k_ops *ops, size_t count);
void gpt_ranks_free(struct gpt_ranks *ranks);
/* *sum = the sum of *sum over the ranks. Collective. */
int gpt_ranks_sum(const struct gpt_ranks *ranks, struct gpt_sum *sum);
/* From begin to end, replaces gradient (count) by its sum over the ranks. Where the number of
 * ranks is a power of two that divides the number of micro-batches, the bits equal those of one
 * rank. Without `whole`, only this rank's shares of the buckets are valid afterwards. Elements
 * that gpt_ranks_ready() declares final are sent while the caller computes, unless
 * $ORRERY_OVERLAP is 0 or the backend has its own memory; meanwhile no rank may call functions
 * of cluster.h. begin and end are collective, even for a rank that has nothing to send. */
void gpt_ranks_begin(struct gpt_ranks *ranks, real *gradient, bool whole);
/* The gradient is final from element `from` on; `from` decreases from call to call. */
void gpt_ranks_ready(struct gpt_ranks *ranks, size_t from);
/* The whole gradient is final; waits for the sums. */
int gpt_ranks_end(struct gpt_ranks *ranks);
/* The next bucket when `left` reals remain, and how ranks share it: in whole blocks, so that
 * sums of squares are shared too. */
struct cluster_vector gpt_bucket(size_t left);
/* *stop = whether *stop is set on any rank. Collective. */
int gpt_ranks_stop(bool *stop);

/* Copies rank 0's model (weights and, unless weights_only, average and moments) and step to all
 * ranks; the models of the others are created here. Collective. */
int gpt_ranks_share_model(struct gpt_model *model, const struct k_ops *ops, bool weights_only,
                          long *step);
/* ---- device_memory.c: the functions of cluster.h for memory of the backend; collective */

int gpt_all_to_all(const struct k_ops *ops, const real *x, real *parts,
                   const struct cluster_vector *v);
int gpt_all_gather(const struct k_ops *ops, real *x, const struct cluster_vector *v);
int gpt_collect(const struct k_ops *ops, const real *own, real *x, const struct cluster_vector *v);
int gpt_distribute(const struct k_ops *ops, const real *x, real *own,
                   const struct cluster_vector *v);
/* Copies rank 0's x (count) to all ranks. */
int gpt_broadcast(const struct k_ops *ops, real *x, size_t count);

/* ---- ranks_agree.c, devices.c: checks whether ranks can train together */

/* Checks that the ranks of a job have equal version, settings and options, and makes them use
 * rank 0's instruction set. ORR_EUSAGE naming the difference, or ORR_EDEVICE. Collective. */
int gpt_ranks_alike(const struct orr_cli *cli);
/* Whether the ranks of this job can share a training; if not, ORR_EUSAGE naming the
 * requirements. */
int gpt_ranks_suit(const char *stage, const struct orr_train_settings *train,
                   const struct k_ops *ops);
/* Call it before the backend is opened: ranks on GPUs choose one by their number on the machine,
 * unless `asked` >= 0 gives the device. Collective. */
int gpt_ranks_choose(const struct k_ops *ops, int asked);
/* Call it after the backend is opened: checks that all ranks have one backend, and joins ranks
 * on GPUs. Different backends, or two ranks on one GPU: ORR_EUSAGE naming both; no NCCL:
 * ORR_EDEVICE. Collective. */
int gpt_ranks_join(const struct k_ops *ops);

/* Copies rank 0's text to all ranks; free() it. Collective. */
int gpt_ranks_share_text(char **text);

#endif
