/* cuda_host_stream.cc - streams, events, and graphs: lists of what was asked for, to be done
 * later, each with a copy of its arguments. */
#include "cuda_host_internal.h"

#include <stdlib.h>
#include <time.h>

struct node { /* of a graph */
    int (*run)(void *arguments);
    void (*drop)(void *arguments);
    void *arguments;
};
struct cuda_host_graph {
    struct node *nodes;
    size_t count, room;
    bool valid;
    int owners; /* the graph and what was instantiated from it */
};
struct cuda_host_stream {
    int unused;
};
struct cuda_host_event {
    struct timespec recorded;
};

static struct cuda_host_graph *capture; /* the graph under way */
/* what of graphs fails */
static int broken = getenv("ORR_CUDA_HOST_GRAPHS") ? atoi(getenv("ORR_CUDA_HOST_GRAPHS")) : 0;
static long launched;

extern "C" void cuda_host_fail_graphs(int what)
{
    broken = what;
}

extern "C" long cuda_host_graphs(void)
{
    return launched;
}

static cudaError_t refuse(const char *what)
{
    return cuda_host_fail(broken % 2 ? cudaErrorNotSupported : cudaErrorMemoryAllocation,
                          "%s was told to fail", what);
}

bool cuda_host_capturing(void)
{
    return capture != NULL;
}

void cuda_host_spoil_capture(void)
{
    capture->valid = false;
}

/* ---- streams and graphs */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = new struct cuda_host_stream();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    if (!capture)
        return cudaSuccess;
    capture->valid = false;
    return cuda_host_fail(cudaErrorStreamCaptureUnsupported, "waiting during a capture");
}

cudaError_t cudaDeviceSynchronize(void)
{
    return cudaStreamSynchronize(NULL);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new struct cuda_host_event();
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    clock_gettime(CLOCK_MONOTONIC, &event->recorded);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)(1e3 * (double)(to->recorded.tv_sec - from->recorded.tv_sec) +
                  1e-6 * (double)(to->recorded.tv_nsec - from->recorded.tv_nsec));
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaStreamSynchronize(NULL);
}

bool cuda_host_no_launch(void)
{
    if (!capture || broken != CUDA_HOST_NO_LAUNCH)
        return false;
    capture->valid = false;
    refuse("a launch during a capture");
    return true;
}

bool cuda_host_keep(int (*run)(void *arguments), void (*drop)(void *arguments), void *arguments)
{
    if (!capture)
        return false;
    if (capture->count == capture->room) {
        capture->room = 2 * capture->room + 64;
        void *more = realloc(capture->nodes, capture->room * sizeof(*capture->nodes));
        if (!more)
            abort();
        capture->nodes = (struct node *)more;
    }
    capture->nodes[capture->count++] = {run, drop, arguments};
    return true;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode)
{
    if (capture)
        return cuda_host_fail(cudaErrorStreamCaptureUnsupported, "two captures at once");
    if (broken == CUDA_HOST_NO_BEGIN)
        return refuse("cudaStreamBeginCapture");
    capture = new struct cuda_host_graph();
    capture->valid = true;
    capture->owners = 1;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    *graph = NULL;
    if (!capture)
        return cuda_host_fail(cudaErrorInvalidValue, "no capture is under way");
    struct cuda_host_graph *done = capture;
    capture = NULL;
    if (broken == CUDA_HOST_NO_END) {
        cudaGraphDestroy(done);
        return refuse("cudaStreamEndCapture");
    }
    if (!done->valid) {
        cudaGraphDestroy(done);
        return cuda_host_fail(cudaErrorStreamCaptureInvalidated, "the capture was broken");
    }
    *graph = done;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    if (broken == CUDA_HOST_NO_INSTANTIATE)
        return refuse("cudaGraphInstantiate");
    graph->owners++;
    *exec = graph;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t)
{
    if (broken == CUDA_HOST_NO_REPLAY)
        return refuse("cudaGraphLaunch");
    launched++;
    for (size_t i = 0; i < exec->count; i++)
        if (exec->nodes[i].run(exec->nodes[i].arguments))
            return cudaPeekAtLastError() ? cudaPeekAtLastError() : cudaErrorLaunchFailure;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (--graph->owners)
        return cudaSuccess;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i].drop(graph->nodes[i].arguments);
    free(graph->nodes);
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return cudaGraphDestroy(exec);
}

/* ---- host functions in place of kernels */

struct host_call {
    void (*function)(const void *arguments);
    const char *name;
    void *arguments;
};

static int run_host_call(void *arguments)
{
    const struct host_call *c = (const struct host_call *)arguments;
    cuda_host_memory_watch(true);
    c->function(c->arguments);
    cuda_host_memory_watch(false);
    const char *overwritten = cuda_host_memory_close();
    return overwritten
               ? (int)cuda_host_fail(cudaErrorIllegalAddress, "%s: %s", c->name, overwritten)
               : 0;
}

static void drop_host_call(void *arguments)
{
    struct host_call *c = (struct host_call *)arguments;
    free(c->arguments);
    delete c;
}

int cuda_host_do(const char *name, void (*function)(const void *arguments), const void *arguments,
                 size_t bytes)
{
    struct host_call *c = new host_call{function, name, malloc(bytes)};
    if (!c->arguments)
        abort();
    memcpy(c->arguments, arguments, bytes);
    if (cuda_host_keep(run_host_call, drop_host_call, c))
        return 0;
    const int code = run_host_call(c);
    drop_host_call(c);
    return code;
}
