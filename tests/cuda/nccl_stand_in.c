/* nccl_stand_in.c - the few functions of NCCL that the CUDA backend calls, by MPI: for ranks whose
 * device is the emulation ($ORRERY_CUDA_PLUGIN), which copies to and from its memory.
 *
 * From NCCL's documentation: sends and receives between ncclGroupStart and ncclGroupEnd are one
 * operation, in which each send meets the receive of the other rank; messages of a pair of ranks
 * keep their order. A send without its receive, or one of another size, is an error here, where the
 * library would hang or write too far. ORRERY_NCCL_FAIL=name makes that function fail. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_USAGE = 5, FLOAT32 = 7, MOST = 4096 };

typedef struct {
    char internal[128];
} unique_id;

struct comm {
    MPI_Comm ranks;
};

/* what the backend looks for */
const char *ncclGetErrorString(int status);
int ncclGetUniqueId(unique_id *id);
int ncclCommInitRank(struct comm **comm, int size, unique_id id, int rank);
int ncclCommDestroy(struct comm *comm);
int ncclGroupStart(void);
int ncclSend(const void *x, size_t count, int type, int to, struct comm *comm, void *stream);
int ncclRecv(void *x, size_t count, int type, int from, struct comm *comm, void *stream);
int ncclGroupEnd(void);

static struct {
    int depth, count, failed;
    MPI_Request request[MOST];
    void *stage[MOST];
    void *to[MOST];     /* in memory of the device; NULL of a send */
    int expected[MOST]; /* numbers of a receive, -1 of a send */
} group;

/* The emulation's own: bytes to the device, or from it. */
static int copy(void *to, const void *from, size_t bytes, int to_device)
{
    static int (*function)(void *, const void *, size_t, int);
    void *library = function ? NULL : dlopen(getenv("ORRERY_CUDA_PLUGIN"), RTLD_NOW | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, "cuda_host_copy") : NULL;
    if (symbol)
        memcpy(&function, &symbol, sizeof function);
    return function && !function(to, from, bytes, to_device) ? SUCCESS : SYSTEM_ERROR;
}

static int asked_to_fail(const char *name)
{
    const char *which = getenv("ORRERY_NCCL_FAIL");
    return which && !strcmp(which, name);
}

const char *ncclGetErrorString(int status)
{
    return status == SUCCESS         ? "no error"
           : status == SYSTEM_ERROR  ? "unhandled system error"
           : status == INVALID_USAGE ? "invalid usage"
                                     : "unknown result code";
}

int ncclGetUniqueId(unique_id *id)
{
    memset(id, 0, sizeof *id);
    strcpy(id->internal, "stand-in");
    return asked_to_fail("ncclGetUniqueId") ? SYSTEM_ERROR : SUCCESS;
}

int ncclCommInitRank(struct comm **comm, int size, unique_id id, int rank)
{
    int mpi_size, mpi_rank;
    if (asked_to_fail("ncclCommInitRank"))
        return SYSTEM_ERROR;
    MPI_Comm_size(MPI_COMM_WORLD, &mpi_size);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank);
    if (strcmp(id.internal, "stand-in") || size != mpi_size || rank != mpi_rank)
        return INVALID_USAGE;
    *comm = malloc(sizeof **comm);
    return *comm && MPI_Comm_dup(MPI_COMM_WORLD, &(*comm)->ranks) == MPI_SUCCESS ? SUCCESS
                                                                                 : SYSTEM_ERROR;
}

int ncclCommDestroy(struct comm *comm)
{
    MPI_Comm_free(&comm->ranks);
    free(comm);
    return SUCCESS;
}

int ncclGroupStart(void)
{
    group.depth++;
    return asked_to_fail("ncclGroupStart") ? SYSTEM_ERROR : SUCCESS;
}

/* A message of the group under way, with its stage. */
static int add(size_t count, int type, void *to)
{
    if (group.depth < 1 || type != FLOAT32 || group.count == MOST)
        return -1;
    group.stage[group.count] = malloc(count * sizeof(float));
    group.to[group.count] = to;
    group.expected[group.count] = to ? (int)count : -1;
    return group.stage[group.count] ? group.count++ : -1;
}

int ncclSend(const void *x, size_t count, int type, int to, struct comm *comm, void *stream)
{
    const int i = add(count, type, NULL);
    (void)stream;
    if (i < 0)
        return INVALID_USAGE;
    if (asked_to_fail("ncclSend") || copy(group.stage[i], x, count * sizeof(float), 0) ||
        MPI_Isend(group.stage[i], (int)count, MPI_FLOAT, to, 1, comm->ranks, &group.request[i]) !=
            MPI_SUCCESS)
        group.failed = 1;
    return group.failed ? SYSTEM_ERROR : SUCCESS;
}

int ncclRecv(void *x, size_t count, int type, int from, struct comm *comm, void *stream)
{
    const int i = add(count, type, x);
    (void)stream;
    if (i < 0)
        return INVALID_USAGE;
    return MPI_Irecv(group.stage[i], (int)count, MPI_FLOAT, from, 1, comm->ranks,
                     &group.request[i]) == MPI_SUCCESS
               ? SUCCESS
               : SYSTEM_ERROR;
}

/* What came, to the device. */
static int deliver(int i, MPI_Status *status)
{
    int got = -1;
    if (!group.to[i])
        return SUCCESS;
    MPI_Get_count(status, MPI_FLOAT, &got);
    return got != group.expected[i]
               ? INVALID_USAGE
               : copy(group.to[i], group.stage[i], (size_t)got * sizeof(float), 1);
}

int ncclGroupEnd(void)
{
    MPI_Status status[MOST];
    int result = group.depth > 0 ? SUCCESS : INVALID_USAGE;
    if (result || --group.depth > 0)
        return result;
    if (group.failed) /* nobody waits for what was not sent */
        return SYSTEM_ERROR;
    if (MPI_Waitall(group.count, group.request, status) != MPI_SUCCESS)
        result = SYSTEM_ERROR;
    for (int i = 0; i < group.count; i++) {
        if (!result)
            result = deliver(i, &status[i]);
        free(group.stage[i]);
    }
    group.count = 0;
    return asked_to_fail("ncclGroupEnd") ? SYSTEM_ERROR : result;
}
