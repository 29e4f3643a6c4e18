/* cluster.h - the ranks of a job: processes that a launcher (mpirun, srun) started together, and
 * what they do together.
 *
 * Orrery launches nothing itself. Where an environment says that a launcher started more than one
 * process, cluster_open() loads the MPI plugin (orrery_mpi.so), so that programs are free of libmpi
 * and run without it; otherwise there is one rank, and everything here does nothing. A call marked
 * collective is made by all ranks, in the same order. The state is that of the process, as MPI's
 * is; what is declared here is called by its main thread, or by another one that the main thread
 * waits for before it calls anything here again. */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

/* Joins the ranks of a program of this name; collective, before anything else, once in a process.
 * Ranks above 0 print nothing to stdout from here on. More than one rank without the plugin:
 * ORR_EDEVICE naming both. */
int cluster_open(const char *program);
/* Leaves them with this exit status, and returns it. A failure that cluster_agree() has not told
 * the others of ends all ranks at once, since they may wait for this one. */
int cluster_close(int status);
/* 0 .. size - 1; 0 of 1 without a launcher. */
int cluster_rank(void);
int cluster_size(void);
/* Whether this is rank 0, which alone judges, evaluates, prints and writes files. */
bool cluster_leads(void);

/* ORR_OK where every rank comes with it. Otherwise all get the code of the lowest rank that failed,
 * and its message, which that rank alone will print, says which one it is unless all did. Where no
 * rank failed but some come with ORR_EINTR, all get that. Collective. */
int cluster_agree(int rc);
/* After a failure rc in the midst of what all ranks do together, where others may wait for what
 * will not come and cannot be told: cluster_agree() returns failures at once from here on, and
 * cluster_close() ends all ranks. The message names this rank. Returns rc. Failures of the
 * functions below do this by themselves. */
int cluster_break(int rc);
bool cluster_broken(void);
/* The same where not even memory can be given back: prints the message and ends all ranks. */
int cluster_end(int rc);
/* For struct orr_program: agrees on what the command line came to; later, on what the work came
 * to, only arranges that a stop is told once. */
int cluster_settle(int rc);

/* `data` of rank `root` goes to all. Collective. Failures of these are of the network or of another
 * rank: ORR_EIO. */
int cluster_broadcast(void *data, size_t bytes, int root);
/* all (size, bytes) = `mine` (bytes) of every rank, in their order. Collective. */
int cluster_gather(const void *mine, void *all, size_t bytes);

/* A vector of `count` elements of so many bytes, cut into shares of `share` elements in the order
 * of the ranks: the last ones may be shorter, or empty. */
struct cluster_vector {
    size_t count, share, bytes;
};
/* Elements of one rank's share, and the index of its first. */
size_t cluster_share(const struct cluster_vector *v, int rank, size_t *first);
/* parts (size, own share) = this rank's share of every rank's `x` (count). Collective. */
int cluster_all_to_all(const void *x, void *parts, const struct cluster_vector *v);
/* x (count): every rank's own share of it goes to all. Collective. */
int cluster_all_gather(void *x, const struct cluster_vector *v);
/* x (count) of rank 0 = every rank's `own` (own share); the others' x may be NULL. Collective. */
int cluster_collect(const void *own, void *x, const struct cluster_vector *v);
/* The way back: own = this rank's share of rank 0's x. Collective. */
int cluster_distribute(const void *x, void *own, const struct cluster_vector *v);

#endif
