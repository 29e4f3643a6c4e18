/* ranks.h - one training by the ranks of a job (model/ranks/cluster.h); inside model/ only. One
 * rank does nothing here. Calls marked collective are made by all ranks, in the same order. */
#ifndef GPT_RANKS_H
#define GPT_RANKS_H

#include "cluster.h"
#include "stage/cli.h"
#include "tree.h"

#include <pthread.h>

/* Gradients go from rank to rank in buckets of so many reals: 64 blocks, 4 MB, or a few less, so
 * that shares are alike; a block for each rank where there are more of them. */
size_t gpt_bucket_room(void);

/* This rank's share of a step's parts: contiguous, and one more for the first parts % size. */
void gpt_ranks_share(int parts, int *first, int *count);

/* Room for sums over the ranks. */
struct gpt_ranks {
    const struct k_ops *ops;
    size_t count;          /* of the gradient */
    real *parts;           /* (size, a rank's share of a bucket), of the backend's memory */
    struct gpt_sum *sums;  /* (size) */
    double *loss, *weight; /* (size) */
    /* ---- exchange.c: the sum under way */
    bool overlaps;     /* a thread may send while the gradient is computed */
    bool begun, whole; /* gpt_ranks_begin() to gpt_ranks_end(), and its argument */
    bool follows;      /* the thread is there */
    real *gradient;    /* (count) */
    size_t from;       /* the gradient is final from here on; under the mutex */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t lowered; /* from is */
    int rc;
    char message[4096];
};
int gpt_ranks_create(struct gpt_ranks *ranks, const struct k_ops *ops, size_t count);
void gpt_ranks_free(struct gpt_ranks *ranks);
/* *sum = its sum over the ranks. Collective. */
int gpt_ranks_sum(const struct gpt_ranks *ranks, struct gpt_sum *sum);
/* Between begin and end: gradient (count) = its sum over the ranks, with the bits that one rank
 * comes to where the ranks are a power of two that divides the micro-batches. Not `whole`: this
 * rank's shares of the buckets alone, the rest is undefined. What gpt_ranks_ready() says to be
 * final is sent while the caller goes on, unless $ORRERY_OVERLAP is 0 or the backend's memory is
 * its own; meanwhile no rank calls anything of cluster.h. begin and end are collective: a rank that
 * has nothing to send makes them, too. */
void gpt_ranks_begin(struct gpt_ranks *ranks, real *gradient, bool whole);
/* The gradient is final from number `from` on, which goes down from call to call. */
void gpt_ranks_ready(struct gpt_ranks *ranks, size_t from);
/* All of it is; waits for the sums. */
int gpt_ranks_end(struct gpt_ranks *ranks);
/* The bucket of which `left` reals or more are left, and how ranks share it: whole blocks, so that
 * sums of squares are shared, too. */
struct cluster_vector gpt_bucket(size_t left);
/* *stop = whether any rank has it set. Collective. */
int gpt_ranks_stop(bool *stop);

/* Rank 0's model (weights, and unless weights_only average and moments) and step on all ranks;
 * those of the others are made here. Collective. */
int gpt_ranks_share_model(struct gpt_model *model, const struct k_ops *ops, bool weights_only,
                          long *step);
/* ---- device_memory.c: as the functions of cluster.h, of memory of the backend; collective */

int gpt_all_to_all(const struct k_ops *ops, const real *x, real *parts,
                   const struct cluster_vector *v);
int gpt_all_gather(const struct k_ops *ops, real *x, const struct cluster_vector *v);
int gpt_collect(const struct k_ops *ops, const real *own, real *x, const struct cluster_vector *v);
int gpt_distribute(const struct k_ops *ops, const real *x, real *own,
                   const struct cluster_vector *v);
/* Rank 0's x (count) goes to all. */
int gpt_broadcast(const struct k_ops *ops, real *x, size_t count);

/* ---- alike.c, devices.c: whether ranks can train together */

/* The ranks of a job have the same version, settings and options, and take the instruction set of
 * rank 0: else ORR_EUSAGE naming what differs, or ORR_EDEVICE. Collective. */
int gpt_ranks_alike(const struct orr_cli *cli);
/* Whether the ranks of this job can share a training: ORR_EUSAGE naming what that takes. */
int gpt_ranks_suit(const char *stage, const struct orr_train_settings *train,
                   const struct k_ops *ops);
/* Before the backend is opened: those on GPUs choose theirs, by their place among the ranks of the
 * machine, unless one is asked for (0 and above). Collective. */
int gpt_ranks_choose(const struct k_ops *ops, int asked);
/* After it: all ranks have the same one, and those on GPUs are joined. Another one, or two ranks on
 * one GPU: ORR_EUSAGE naming both; no NCCL: ORR_EDEVICE. Collective. */
int gpt_ranks_join(const struct k_ops *ops);

/* Rank 0's text on all ranks; free() it. Collective. */
int gpt_ranks_share_text(char **text);

#endif
