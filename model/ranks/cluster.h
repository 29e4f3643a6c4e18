/* cluster.h - the ranks of a job, which are processes that a launcher (mpirun, srun) started
 * together, and their communication.
 *
 * Orrery does not launch processes. Where the environment shows that a launcher started more
 * than one process, cluster_open() loads the MPI plugin (orrery_mpi.so), so that programs are
 * not linked with libmpi and run without it. Otherwise there is one rank, and the functions here
 * do nothing. All ranks make the calls that are marked collective, in equal order. There is one
 * state per process, as in MPI. Only one thread at a time may call these functions: the main
 * thread, or a thread that the main thread waits for before its next call. */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

/* Joins the ranks of a program of this name. Collective; call it first, and once per process.
 * Afterwards ranks above 0 print nothing to stdout. More than one rank without the plugin:
 * ORR_EDEVICE naming both. */
int cluster_open(const char *program);
/* Leaves the ranks with this exit status, and returns it. If cluster_agree() has not told the
 * other ranks of a failure, all ranks are ended at once, since they may be waiting for this one. */
int cluster_close(int status);
/* The number of this rank, from 0, and the number of ranks; 0 and 1 without a launcher. */
int cluster_rank(void);
int cluster_size(void);
/* Whether this is rank 0, which alone evaluates, decides, prints and writes files. */
bool cluster_leads(void);

/* Returns ORR_OK where every rank passes ORR_OK. Otherwise all ranks return the code of the
 * lowest rank that failed. That rank alone will print its message, which names the rank unless
 * all failed. Where no rank failed but some pass ORR_EINTR, all return ORR_EINTR. Collective. */
int cluster_agree(int rc);
/* Reports a failure rc in the middle of a collective operation, when other ranks may be waiting
 * and cannot be told: cluster_agree() returns failures at once from now on, and cluster_close()
 * ends all ranks. The message names this rank. Returns rc. The functions below call it when they
 * fail. */
int cluster_break(int rc);
bool cluster_broken(void);
/* As cluster_break, for failures after which memory cannot even be released: prints the message
 * and ends all ranks. */
int cluster_end(int rc);
/* For struct orr_program. The first call agrees on the status of parsing the command line; later
 * calls, with the status of the work, only make sure that a stop is reported once. */
int cluster_settle(int rc);

/* Copies `data` of rank `root` to all ranks. Collective. Failures of these functions come from
 * the network or another rank: ORR_EIO. */
int cluster_broadcast(void *data, size_t bytes, int root);
/* all (size, bytes) = `mine` (bytes) of every rank, in rank order. Collective. */
int cluster_gather(const void *mine, void *all, size_t bytes);

/* A vector of `count` elements of `bytes` bytes, cut into shares of `share` elements in rank
 * order. The last shares may be shorter or empty. */
struct cluster_vector {
    size_t count, share, bytes;
};
/* Number of elements in a rank's share; *first = index of its first element. */
size_t cluster_share(const struct cluster_vector *v, int rank, size_t *first);
/* parts (size, own share) = this rank's share of every rank's `x` (count). Collective. */
int cluster_all_to_all(const void *x, void *parts, const struct cluster_vector *v);
/* Sends every rank's own share of x (count) to all ranks. Collective. */
int cluster_all_gather(void *x, const struct cluster_vector *v);
/* x (count) on rank 0 = every rank's `own` (own share); x may be NULL on other ranks.
 * Collective. */
int cluster_collect(const void *own, void *x, const struct cluster_vector *v);
/* The inverse of cluster_collect: own = this rank's share of rank 0's x. Collective. */
int cluster_distribute(const void *x, void *own, const struct cluster_vector *v);

#endif
