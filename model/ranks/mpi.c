/* mpi.c - the MPI plugin: implements struct cluster_ops with MPI-3, which no other file uses.
 *
 * A rank that waits polls, and after a moment sleeps between polls. Ranks that share cores with
 * it can then compute: rank 0 evaluates and saves while the others wait. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "plugin.h"

enum {
    LOOKS = 2000,         /* polls before a rank sleeps */
    SLEEP_NS = 50000,     /* between polls from then on */
    MOST_BYTES = 1 << 30, /* of one message, since counts are int */
};

static int ranks, self;

static int check_code(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return 0;
    MPI_Error_string(code, text, &length);
    return ORR_FAIL(ORR_EIO, "MPI, %s: %s", what, text);
}

/* Waits for a request, unless starting it failed. */
static int await_request(int code, MPI_Request *request, const char *what)
{
    int done = 0;
    TRY(check_code(code, what));
    for (long look = 0; !done; look++) {
        TRY(check_code(MPI_Test(request, &done, MPI_STATUS_IGNORE), what));
        if (!done && look > LOOKS)
            (void)nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    }
    return 0;
}

static int mpi_open(int *rank, int *size)
{
    int provided;
    TRY(check_code(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided), "start"));
    TRY(check_code(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "start"));
    TRY(check_code(MPI_Comm_rank(MPI_COMM_WORLD, &self), "start"));
    TRY(check_code(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "start"));
    *rank = self;
    *size = ranks;
    return provided >= MPI_THREAD_SERIALIZED
               ? 0
               : ORR_FAIL(ORR_EDEVICE, "MPI, start: expected a library that allows threads");
}

static void mpi_close(void)
{
    (void)MPI_Finalize();
}

static void mpi_abort(int status)
{
    (void)MPI_Abort(MPI_COMM_WORLD, status);
}

static int mpi_broadcast(void *data, size_t bytes, int root)
{
    for (size_t at = 0; at < bytes; at += MOST_BYTES) {
        const int part = (int)(bytes - at < MOST_BYTES ? bytes - at : MOST_BYTES);
        MPI_Request request;
        const int code =
            MPI_Ibcast((char *)data + at, part, MPI_BYTE, root, MPI_COMM_WORLD, &request);
        TRY(await_request(code, &request, "broadcast"));
    }
    return 0;
}

static int mpi_gather(const void *mine, void *all, size_t bytes)
{
    MPI_Request request;
    const int code = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                                    MPI_COMM_WORLD, &request);
    return await_request(code, &request, "gather");
}

/* Counts and offsets in the form that MPI takes: of every rank's share of the vector, and of
 * `ranks` parts that are each as long as the own share. */
struct layout {
    int *memory, *count, *first, *own, *part;
};

static int layout_create(struct layout *layout, const struct cluster_vector *v)
{
    size_t first;
    const size_t own = cluster_share(v, self, &first), n = (size_t)ranks;
    layout->memory = calloc(4 * n, sizeof *layout->memory);
    if (!layout->memory)
        return ORR_FAIL(ORR_ENOMEM, "MPI: out of memory");
    layout->count = layout->memory;
    layout->first = layout->memory + n;
    layout->own = layout->memory + 2 * n;
    layout->part = layout->memory + 3 * n;
    for (int i = 0; i < ranks; i++) {
        layout->count[i] = (int)cluster_share(v, i, &first);
        layout->first[i] = (int)first;
        layout->own[i] = (int)own;
        layout->part[i] = (int)((size_t)i * own);
    }
    return 0;
}

static MPI_Datatype type_of(const struct cluster_vector *v)
{
    return v->bytes == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}

static int mpi_all_to_all(const void *x, void *parts, const struct cluster_vector *v)
{
    struct layout l;
    MPI_Request request;
    TRY(layout_create(&l, v));
    const int code = MPI_Ialltoallv(x, l.count, l.first, type_of(v), parts, l.own, l.part,
                                    type_of(v), MPI_COMM_WORLD, &request);
    const int rc = await_request(code, &request, "exchange of gradients");
    free(l.memory);
    return rc;
}

static int mpi_all_gather(void *x, const struct cluster_vector *v)
{
    struct layout l;
    MPI_Request request;
    TRY(layout_create(&l, v));
    const int code = MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x, l.count, l.first,
                                     type_of(v), MPI_COMM_WORLD, &request);
    const int rc = await_request(code, &request, "gathering of shares");
    free(l.memory);
    return rc;
}

static int mpi_collect(const void *own, void *x, const struct cluster_vector *v)
{
    struct layout l;
    MPI_Request request;
    TRY(layout_create(&l, v));
    const int code = MPI_Igatherv(own, l.own[0], type_of(v), x, l.count, l.first, type_of(v), 0,
                                  MPI_COMM_WORLD, &request);
    const int rc = await_request(code, &request, "gathering at rank 0");
    free(l.memory);
    return rc;
}

static int mpi_distribute(const void *x, void *own, const struct cluster_vector *v)
{
    struct layout l;
    MPI_Request request;
    TRY(layout_create(&l, v));
    const int code = MPI_Iscatterv(x, l.count, l.first, type_of(v), own, l.own[0], type_of(v), 0,
                                   MPI_COMM_WORLD, &request);
    const int rc = await_request(code, &request, "scattering from rank 0");
    free(l.memory);
    return rc;
}

extern const struct cluster_ops cluster_mpi;
const struct cluster_ops cluster_mpi = {
    .open = mpi_open,
    .close = mpi_close,
    .abort = mpi_abort,
    .broadcast = mpi_broadcast,
    .gather = mpi_gather,
    .all_to_all = mpi_all_to_all,
    .all_gather = mpi_all_gather,
    .collect = mpi_collect,
    .distribute = mpi_distribute,
};
