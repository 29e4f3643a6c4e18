/* collectives.cu - exchanges with the devices of other ranks, by NCCL.
 *
 * The library is opened when ranks join ($ORRERY_NCCL_LIBRARY, or libnccl.so.2), so that neither
 * a build nor a training on one GPU needs it. NCCL's reductions are not used, because the
 * library chooses their order. Shares go from device to device unchanged, and the caller sums
 * them. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "nccl_interface.h"

extern "C" {
#include "kernels/collectives.h"
}

static struct {
    void *loaded; /* the library */
    ncclResult_t (*get_unique_id)(ncclUniqueId *);
    ncclResult_t (*init_rank)(ncclComm_t *, int, ncclUniqueId, int);
    ncclResult_t (*destroy)(ncclComm_t);
    const char *(*error_string)(ncclResult_t);
    ncclResult_t (*group_start)(void);
    ncclResult_t (*group_end)(void);
    ncclResult_t (*send)(const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
    ncclResult_t (*receive)(void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
    ncclComm_t ranks;
    int rank, size;
} nccl;

static int check(ncclResult_t status, const char *what)
{
    if (status == ncclSuccess)
        return 0;
    return ORR_FAIL(ORR_EDEVICE, "NCCL, %s: %s", what, nccl.error_string(status));
}

/* *function (a pointer to a function) = the library's function of this name. */
static int take(void *function, const char *name)
{
    void *symbol = dlsym(nccl.loaded, name);
    if (!symbol)
        return ORR_FAIL(ORR_EDEVICE, "NCCL: the library has no %s", name);
    /* ISO C does not cast pointers to objects to pointers to functions */
    memcpy(function, &symbol, sizeof symbol);
    return 0;
}

static int open_library(void)
{
    const char *given = getenv("ORRERY_NCCL_LIBRARY");
    const char *name = given && *given ? given : "libnccl.so.2";
    if (nccl.loaded)
        return 0;
    nccl.loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!nccl.loaded)
        return ORR_FAIL(ORR_EDEVICE, "several ranks on GPUs need NCCL: %s", dlerror());
    const struct {
        void *function;
        const char *name;
    } wanted[] = {
        {&nccl.get_unique_id, "ncclGetUniqueId"},
        {&nccl.init_rank, "ncclCommInitRank"},
        {&nccl.destroy, "ncclCommDestroy"},
        {&nccl.error_string, "ncclGetErrorString"},
        {&nccl.group_start, "ncclGroupStart"},
        {&nccl.group_end, "ncclGroupEnd"},
        {&nccl.send, "ncclSend"},
        {&nccl.receive, "ncclRecv"},
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !rc; i++)
        rc = take(wanted[i].function, wanted[i].name);
    if (rc) {
        dlclose(nccl.loaded);
        nccl.loaded = NULL;
    }
    return rc;
}

static int collectives_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
        count = 0;
    (void)cudaGetLastError();
    return count;
}

static int collectives_device(char name[K_COLLECTIVES_DEVICE])
{
    return k_cuda_check(cudaDeviceGetPCIBusId(name, K_COLLECTIVES_DEVICE, k_cuda_device()),
                        "bus id");
}

static int collectives_identify(unsigned char id[K_COLLECTIVES_ID])
{
    ncclUniqueId made;
    static_assert(sizeof made == K_COLLECTIVES_ID, "an id of NCCL");
    int rc = open_library();
    if (!rc)
        rc = check(nccl.get_unique_id(&made), "id");
    if (!rc)
        memcpy(id, &made, sizeof made);
    return rc;
}

static int collectives_open(const unsigned char id[K_COLLECTIVES_ID], int rank, int size)
{
    ncclUniqueId given;
    memcpy(&given, id, sizeof given);
    TRY(open_library());
    TRY(check(nccl.init_rank(&nccl.ranks, size, given, rank), "joining the ranks"));
    nccl.rank = rank;
    nccl.size = size;
    return 0;
}

static void collectives_close(void)
{
    if (nccl.ranks)
        (void)nccl.destroy(nccl.ranks);
    nccl.ranks = NULL;
}

/* Sends one message; an empty share sends none. */
static int send_one(const real *x, size_t count, int to)
{
    return count ? check(nccl.send(x, count, ncclFloat32, to, nccl.ranks, k_cuda_stream()), "send")
                 : 0;
}

static int receive_one(real *x, size_t count, int from)
{
    return count ? check(nccl.receive(x, count, ncclFloat32, from, nccl.ranks, k_cuda_stream()),
                         "receive")
                 : 0;
}

/* Ends the group even after a failure in it. */
static int end_group(int rc)
{
    const ncclResult_t end = nccl.group_end();
    return rc ? rc : check(end, "exchange");
}

static int peers_all_to_all(const real *x, real *parts, const size_t *first)
{
    const size_t own = first[nccl.rank + 1] - first[nccl.rank];
    int rc = check(nccl.group_start(), "exchange");
    if (rc)
        return rc;
    for (int r = 0; r < nccl.size && !rc; r++) {
        rc = send_one(x + first[r], first[r + 1] - first[r], r);
        if (!rc)
            rc = receive_one(parts + (size_t)r * own, own, r);
    }
    return end_group(rc);
}

static int peers_all_gather(real *x, const size_t *first)
{
    const size_t own = first[nccl.rank + 1] - first[nccl.rank];
    int rc = check(nccl.group_start(), "gathering");
    if (rc)
        return rc;
    for (int r = 0; r < nccl.size && !rc; r++) {
        if (r == nccl.rank)
            continue;
        rc = send_one(x + first[nccl.rank], own, r);
        if (!rc)
            rc = receive_one(x + first[r], first[r + 1] - first[r], r);
    }
    return end_group(rc);
}

void k_cuda_install_collectives(struct k_ops *ops)
{
    static const struct k_collectives collectives = {
        collectives_count, collectives_device, collectives_identify, collectives_open,
        collectives_close, peers_all_to_all,   peers_all_gather};
    ops->collectives = &collectives;
}
