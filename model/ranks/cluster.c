/* cluster.c - detects whether a launcher started this process as one of several, and passes
 * messages between them. */
#include "cluster.h"
#include "plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

/* Seconds that the ranks above 0 wait for rank 0 to report what is missing on all of them. */
enum { PATIENCE_S = 3 };

static const struct cluster_ops *ops; /* NULL: one rank */
static int rank, size = 1;
static bool told; /* the other ranks know about the failure with which this rank ends */
static bool broken;
static const char *program;

static int number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* Number of processes that a launcher started, from its environment variables; *at = this
 * process's number. Slurm sets its variables in every shell of a job, so that only PMIx shows
 * that this process is one of its tasks. */
static int launched_ranks(int *at)
{
    const int open_mpi = number_of("OMPI_COMM_WORLD_SIZE");
    *at = number_of(open_mpi ? "OMPI_COMM_WORLD_RANK" : "PMIX_RANK");
    if (open_mpi || !getenv("PMIX_NAMESPACE"))
        return open_mpi;
    const int step = number_of("SLURM_STEP_NUM_TASKS");
    return step ? step : number_of("SLURM_NTASKS");
}

/* Without the plugin ranks cannot communicate. Rank 0 reports what is missing, and the launcher
 * ends the others while they wait; where only others lack the plugin, these report it. */
static int find_plugin(int count, int at)
{
    char why[2048];
    const int rc = cluster_plugin_find(&ops);
    if (!rc)
        return 0;
    snprintf(why, sizeof why, "%.2000s", orr_error());
    if (at > 0)
        sleep(PATIENCE_S);
    return ORR_FAIL(rc, "started as rank %d of %d, which needs the MPI plugin: %s", at, count, why);
}

int cluster_open(const char *name)
{
    int at;
    program = name;
    const int count = launched_ranks(&at);
    if (count < 2)
        return 0;
    TRY(find_plugin(count, at));
    TRY(ops->open(&rank, &size));
    orr_trace("rank %d of %d", rank, size);
    if (rank > 0 && !freopen("/dev/null", "w", stdout))
        return ORR_FAIL(ORR_EIO, "/dev/null: cannot open");
    if (size == count)
        return 0;
    return ORR_FAIL(ORR_EDEVICE,
                    "the launcher started %d processes, and MPI found %d ranks: expected a "
                    "launcher of the MPI that the plugin was built with",
                    count, size);
}

int cluster_close(int status)
{
    if (!ops)
        return status;
    if (status && !told)
        ops->abort(status);
    ops->close();
    return status;
}

int cluster_break(int rc)
{
    char why[3072];
    if (!rc || size < 2 || broken)
        return rc;
    broken = true;
    snprintf(why, sizeof why, "%.3000s", orr_error());
    return ORR_FAIL(rc, "rank %d of %d: %s", rank, size, why);
}

bool cluster_broken(void)
{
    return broken;
}

int cluster_end(int rc)
{
    (void)cluster_break(rc);
    ops->abort(orr_error_exit(program, rc));
    return rc;
}

int cluster_rank(void)
{
    return rank;
}

int cluster_size(void)
{
    return size;
}

bool cluster_leads(void)
{
    return rank == 0;
}

int cluster_broadcast(void *data, size_t bytes, int root)
{
    return size > 1 ? cluster_break(ops->broadcast(data, bytes, root)) : 0;
}

int cluster_gather(const void *mine, void *all, size_t bytes)
{
    if (size > 1)
        return cluster_break(ops->gather(mine, all, bytes));
    memcpy(all, mine, bytes);
    return 0;
}

size_t cluster_share(const struct cluster_vector *v, int of, size_t *first)
{
    const size_t from = (size_t)of * v->share;
    *first = from < v->count ? from : v->count;
    return v->count - *first < v->share ? v->count - *first : v->share;
}

int cluster_all_to_all(const void *x, void *parts, const struct cluster_vector *v)
{
    if (size > 1)
        return cluster_break(ops->all_to_all(x, parts, v));
    memcpy(parts, x, v->count * v->bytes);
    return 0;
}

int cluster_all_gather(void *x, const struct cluster_vector *v)
{
    return size > 1 ? cluster_break(ops->all_gather(x, v)) : 0;
}

int cluster_collect(const void *own, void *x, const struct cluster_vector *v)
{
    if (size > 1)
        return cluster_break(ops->collect(own, x, v));
    memcpy(x, own, v->count * v->bytes);
    return 0;
}

int cluster_distribute(const void *x, void *own, const struct cluster_vector *v)
{
    if (size > 1)
        return cluster_break(ops->distribute(x, own, v));
    memcpy(own, x, v->count * v->bytes);
    return 0;
}

/* ----------------------------------------- errors of several ranks: one reports them, all end */

/* The lowest rank that failed, -1 where none did; *failed = the number of ranks that failed. */
static int first_failed(const int *codes, int *failed)
{
    int first = -1;
    *failed = 0;
    for (int i = size - 1; i >= 0; i--)
        if (codes[i] && codes[i] != ORR_EINTR) {
            first = i;
            ++*failed;
        }
    return first;
}

/* Prints the error on the rank that is to report it, with the number of the rank in the message. */
static int fail_together(const int *codes, int first, int failed)
{
    char why[3072];
    told = true;
    snprintf(why, sizeof why, "%.3000s", orr_error());
    if (first != rank) {
        orr_error_told();
        return ORR_FAIL(codes[first], "rank %d failed", first);
    }
    return failed < size ? ORR_FAIL(codes[first], "rank %d of %d: %s", first, size, why)
                         : codes[first];
}

static int decide_code(const int *codes)
{
    int failed;
    const int first = first_failed(codes, &failed);
    if (first >= 0)
        return fail_together(codes, first, failed);
    for (int i = 0; i < size; i++)
        if (codes[i])
            return ORR_EINTR;
    return 0;
}

int cluster_agree(int rc)
{
    if (size < 2 || told)
        return rc;
    if (broken)
        return rc ? rc : ORR_EIO; /* the error message is already set */
    int *codes = orr_alloc((size_t)size, sizeof *codes);
    if (!codes)
        return cluster_break(ORR_ENOMEM);
    const int lost = cluster_gather(&rc, codes, sizeof rc);
    const int agreed = lost ? lost : decide_code(codes);
    free(codes);
    return agreed;
}

int cluster_settle(int rc)
{
    static bool parsed;
    if (!parsed) {
        parsed = true;
        return cluster_agree(rc);
    }
    if (rc == ORR_EINTR && rank > 0)
        orr_error_told(); /* rank 0 reports what was saved */
    return rc;
}
