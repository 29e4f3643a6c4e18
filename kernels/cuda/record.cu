/* record.cu - results that entries return through pointers, and recordings of work (CUDA
 * graphs).
 *
 * A result is computed into a device double; wait() copies all results to pinned memory at once
 * and writes each to the pointer that its entry was given. Results outside recordings have a
 * place until the next wait. Results of a recording keep theirs while the recording exists, and
 * every replay makes them due again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

enum { PASSING = 256, KEPT = 1024, PLACES = PASSING + KEPT };

struct result {
    double *number;
    long *whole; /* number or whole is NULL */
    int place;
};

struct k_recording {
    cudaGraphExec_t exec;
    struct result *results;
    int count, capacity;
    bool due; /* replayed since the last wait */
    struct k_recording *next;
};

static struct {
    double *device, *pinned;
    struct result passing[PASSING];
    int passing_count;
    bool taken[KEPT];
    struct k_recording *all, *under_way;
} results;

bool k_cuda_recording(void)
{
    return results.under_way != NULL;
}

bool k_cuda_recordings(void)
{
    return results.all != NULL;
}

int k_cuda_results_open(void)
{
    void *device = NULL, *pinned = NULL;
    int rc = k_cuda_check(cudaMalloc(&device, PLACES * sizeof(double)), "results");
    if (!rc)
        rc = k_cuda_check(cudaMemsetAsync(device, 0, PLACES * sizeof(double), k_cuda_stream()),
                          "results");
    if (!rc)
        rc = k_cuda_check(cudaMallocHost(&pinned, PLACES * sizeof(double)), "results");
    results.device = (double *)device;
    results.pinned = (double *)pinned;
    return rc;
}

static void cuda_record_free(struct k_recording *recording);

void k_cuda_results_close(void)
{
    if (results.under_way) {
        cudaGraph_t graph = NULL;
        cudaStreamEndCapture(k_cuda_stream(), &graph);
        if (graph)
            cudaGraphDestroy(graph);
        free(results.under_way->results);
        free(results.under_way);
        results.under_way = NULL;
    }
    while (results.all)
        cuda_record_free(results.all);
    cudaFree(results.device);
    cudaFreeHost(results.pinned);
    results.device = results.pinned = NULL;
    results.passing_count = 0;
}

/* ---- results */

static void deliver(const struct result *list, int count)
{
    for (int i = 0; i < count; i++) {
        const double x = results.pinned[list[i].place];
        if (list[i].number)
            *list[i].number = x;
        else
            *list[i].whole = lround(x);
    }
}

static int cuda_wait(void)
{
    bool any = results.passing_count > 0;
    int rc = 0;
    for (const struct k_recording *r = results.all; r; r = r->next)
        any = any || (r->due && r->count);
    if (any)
        rc = k_cuda_check(cudaMemcpyAsync(results.pinned, results.device, PLACES * sizeof(double),
                                          cudaMemcpyDeviceToHost, k_cuda_stream()),
                          "results");
    if (!rc)
        rc = k_cuda_check(cudaStreamSynchronize(k_cuda_stream()), "wait");
    if (!rc && any) /* older results first: a pointer that was given twice gets the last result */
        deliver(results.passing, results.passing_count);
    results.passing_count = 0;
    for (struct k_recording *r = results.all; r; r = r->next) {
        if (!rc && r->due)
            deliver(r->results, r->count);
        r->due = false;
    }
    return rc;
}

/* Gives a result a place in the recording under way. */
static int keep_result(struct result result, double **device)
{
    struct k_recording *r = results.under_way;
    int place = 0;
    while (place < KEPT && results.taken[place])
        place++;
    if (place == KEPT)
        return ORR_FAIL(ORR_ENOMEM, "cuda: more than %d numbers in recordings", (int)KEPT);
    if (r->count == r->capacity) {
        const int capacity = 2 * r->capacity + 16;
        void *more = realloc(r->results, (size_t)capacity * sizeof(*r->results));
        if (!more)
            return ORR_FAIL(ORR_ENOMEM, "cuda: no memory for the numbers of a recording");
        r->results = (struct result *)more;
        r->capacity = capacity;
    }
    results.taken[place] = true;
    result.place = PASSING + place;
    r->results[r->count++] = result;
    *device = results.device + result.place;
    return 0;
}

static int take_result(struct result result, double **device)
{
    if (results.under_way)
        return keep_result(result, device);
    if (results.passing_count == PASSING) { /* all places are full: deliver them early */
        TRY(cuda_wait());
    }
    result.place = results.passing_count;
    results.passing[results.passing_count++] = result;
    *device = results.device + result.place;
    return 0;
}

int k_cuda_result(double *host, double **device)
{
    return take_result({host, NULL, 0}, device);
}

int k_cuda_result_long(long *host, double **device)
{
    return take_result({NULL, host, 0}, device);
}

/* ---- recordings */

static int cuda_record_begin(void)
{
    if (results.under_way)
        return ORR_FAIL(ORR_EINVAL, "cuda: a recording is under way already");
    struct k_recording *r = (struct k_recording *)calloc(1, sizeof(*r));
    if (!r)
        return ORR_FAIL(ORR_ENOMEM, "cuda: no memory for a recording");
    const int rc = k_cuda_check(
        cudaStreamBeginCapture(k_cuda_stream(), cudaStreamCaptureModeThreadLocal), "record");
    if (rc) {
        free(r);
        return rc;
    }
    results.under_way = r;
    return 0;
}

static int cuda_record_end(struct k_recording **recording)
{
    *recording = NULL;
    struct k_recording *r = results.under_way;
    if (!r)
        return ORR_FAIL(ORR_EINVAL, "cuda: no recording is under way");
    results.under_way = NULL;
    r->next = results.all; /* from here on record_free cleans up */
    results.all = r;
    cudaGraph_t graph = NULL;
    int rc = k_cuda_check(cudaStreamEndCapture(k_cuda_stream(), &graph), "end of the recording");
    if (!rc)
        rc = k_cuda_check(cudaGraphInstantiate(&r->exec, graph, 0), "recording");
    if (graph)
        cudaGraphDestroy(graph);
    if (rc)
        cuda_record_free(r);
    else
        *recording = r;
    return rc;
}

static int cuda_replay(const struct k_recording *recording)
{
    const int rc = k_cuda_check(cudaGraphLaunch(recording->exec, k_cuda_stream()), "replay");
    for (struct k_recording *r = results.all; !rc && r; r = r->next)
        if (r == recording)
            r->due = true;
    return rc;
}

static void cuda_record_free(struct k_recording *recording)
{
    struct k_recording **at = &results.all;
    while (*at && *at != recording)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = recording->next;
    if (recording->exec) {
        cudaStreamSynchronize(k_cuda_stream()); /* the graph may still be running */
        cudaGraphExecDestroy(recording->exec);
    }
    for (int i = 0; i < recording->count; i++)
        results.taken[recording->results[i].place - PASSING] = false;
    free(recording->results);
    free(recording);
    if (!results.all)
        k_cuda_free_retired();
}

void k_cuda_install_record(struct k_ops *ops)
{
    const char *graphs = getenv("ORRERY_CUDA_GRAPHS");
    ops->wait = cuda_wait;
    if (graphs && !strcmp(graphs, "0"))
        return;
    ops->record_begin = cuda_record_begin;
    ops->record_end = cuda_record_end;
    ops->replay = cuda_replay;
    ops->record_free = cuda_record_free;
}
