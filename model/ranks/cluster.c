/* cluster.c - whether a launcher started this process among others, and messages between them. */
#include "cluster.h"
#include "plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

/* Seconds that the ranks above 0 leave rank 0 to say what is missing everywhere. */
enum { PATIENCE_S = 3 };

static const struct cluster_ops *ops; /* NULL: one rank */
static int rank, size = 1;
static bool told; /* the other ranks know of the failure that this one ends with */
static bool broken;
static const char *program;

static int number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* How many processes a launcher started, by what it tells them; *at: which of them this is. Slurm
 * tells every shell of a job about tasks: only PMIx says that this process is one of them. */
static int launched_ranks(int *at)
{
    const int open_mpi = number_of("OMPI_COMM_WORLD_SIZE");
    *at = number_of(open_mpi ? "OMPI_COMM_WORLD_RANK" : "PMIX_RANK");
    if (open_mpi || !getenv("PMIX_NAMESPACE"))
        return open_mpi;
    const int step = number_of("SLURM_STEP_NUM_TASKS");
    return step ? step : number_of("SLURM_NTASKS");
}

/* Without the plugin ranks cannot talk. Rank 0 tells what is missing, and the launcher ends the
 * others while they wait; where only others miss it, these tell. */
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

/* ------------------------------------------- one error of many ranks: one tells it, all end */

/* The lowest rank that failed, -1 where none did; *failed: how many did. */
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

/* This rank prints the error, where it is the one to do so; the message names it. */
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
        return rc ? rc : ORR_EIO; /* its message is there */
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
        orr_error_told(); /* rank 0 says what was saved */
    return rc;
}
