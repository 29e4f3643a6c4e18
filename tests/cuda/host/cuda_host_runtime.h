/* cuda_host_runtime.h - the host's side of the emulation: memory, streams, graphs, launches. */
#ifndef CUDA_HOST_RUNTIME_H
#define CUDA_HOST_RUNTIME_H

/* ---- the runtime's functions, as in CUDA. cudaGetErrorString of the last error has details. */

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaDeviceAttr {
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum { cudaStreamDefault, cudaStreamNonBlocking };
enum { cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming };
typedef struct cuda_host_stream *cudaStream_t;
typedef struct cuda_host_event *cudaEvent_t;
typedef struct cuda_host_graph *cudaGraph_t;
typedef struct cuda_host_graph *cudaGraphExec_t;

/* The machine is as the environment says: ORR_CUDA_HOST_DEVICES=1 GPUs, of the compute capability
 * ORR_CUDA_HOST_CAPABILITY=90, with the driver of a version of CUDA, ORR_CUDA_HOST_DRIVER=13000, or
 * 0 for none; the toolkit is 13.0. */
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetPCIBusId(char *id, int room, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);

cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemset(void *memory, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
template <typename T> static inline cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    return cudaMalloc((void **)memory, bytes);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value);
template <typename... P>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...),
                                               enum cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}

/* ---- maps of tensors: the driver's function and its types, as in <cuda.h> */

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_NOT_SUPPORTED = 801 };
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
struct CUtensorMap_st {
    alignas(128) cuuint64_t opaque[16];
};
typedef struct CUtensorMap_st CUtensorMap;
enum CUtensorMapDataType {
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT16,
    CU_TENSOR_MAP_DATA_TYPE_UINT32,
    CU_TENSOR_MAP_DATA_TYPE_INT32,
    CU_TENSOR_MAP_DATA_TYPE_UINT64,
    CU_TENSOR_MAP_DATA_TYPE_INT64,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
};
enum CUtensorMapInterleave {
    CU_TENSOR_MAP_INTERLEAVE_NONE,
    CU_TENSOR_MAP_INTERLEAVE_16B,
    CU_TENSOR_MAP_INTERLEAVE_32B
};
enum CUtensorMapSwizzle {
    CU_TENSOR_MAP_SWIZZLE_NONE,
    CU_TENSOR_MAP_SWIZZLE_32B,
    CU_TENSOR_MAP_SWIZZLE_64B,
    CU_TENSOR_MAP_SWIZZLE_128B
};
enum CUtensorMapL2promotion {
    CU_TENSOR_MAP_L2_PROMOTION_NONE,
    CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_256B
};
enum CUtensorMapFloatOOBfill {
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
};
/* cuTensorMapEncodeTiled, of which interleaved layouts, packed types, steps of more than one
 * element and the fill with NaN are refused as if they were wrong. */
typedef CUresult (*PFN_cuTensorMapEncodeTiled_v12000)(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

enum { cudaEnableDefault };
enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess,
    cudaDriverEntryPointSymbolNotFound,
    cudaDriverEntryPointVersionNotSufficent
};
/* Knows cuTensorMapEncodeTiled alone, from version 12000 on. */
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status = NULL);

/* ---- launches */

struct cuda_host_launch {
    const char *name;
    const void *kernel;
    dim3 grid, block;
    size_t shared;
    void (*call)(const void *arguments); /* one thread */
    void (*drop)(void *arguments);
    void *arguments; /* the launch owns them */
};
/* Runs it, or keeps it for the graph under way; 0 or ORR_EDEVICE with the kernel named. */
int cuda_host_start(struct cuda_host_launch *launch);
/* The dynamic shared memory of the block that runs. */
void *k_cuda_host_shared(void);

template <typename... P> struct cuda_host_kernel {
    struct launched {
        void (*kernel)(P...);
        std::tuple<P...> arguments;
    };
    const char *name;
    void (*kernel)(P...);
    dim3 grid, block;
    size_t shared;
    /* Arguments are evaluated and converted here, as by <<<>>>: a replay sees the same. */
    int operator()(P... arguments) const
    {
        struct cuda_host_launch l;
        l.name = name;
        l.kernel = (const void *)kernel;
        l.grid = grid;
        l.block = block;
        l.shared = shared;
        l.call = [](const void *a) {
            const launched *call = (const launched *)a;
            std::apply(call->kernel, call->arguments);
        };
        l.drop = [](void *a) { delete (launched *)a; };
        l.arguments = new launched{kernel, std::tuple<P...>(arguments...)};
        return cuda_host_start(&l);
    }
};
template <typename... P>
static inline cuda_host_kernel<P...> cuda_host_make(const char *name, void (*kernel)(P...),
                                                    dim3 grid, dim3 block, size_t shared)
{
    return {name, kernel, grid, block, shared};
}

/* ---- the emulation itself */

/* What of graphs fails from now on; at first what ORR_CUDA_HOST_GRAPHS=NUMBER says. */
enum cuda_host_graph_failure {
    CUDA_HOST_GRAPHS_WORK,
    CUDA_HOST_NO_BEGIN,       /* cudaStreamBeginCapture */
    CUDA_HOST_NO_LAUNCH,      /* kernels while capturing */
    CUDA_HOST_NO_END,         /* cudaStreamEndCapture */
    CUDA_HOST_NO_INSTANTIATE, /* cudaGraphInstantiate */
    CUDA_HOST_NO_REPLAY,      /* cudaGraphLaunch */
    CUDA_HOST_GRAPH_FAILURES
};
extern "C" void cuda_host_fail_graphs(int what);
/* Graphs that were launched so far. */
extern "C" long cuda_host_graphs(void);

/* ORR_CUDA_HOST_ORDER=forward|reverse|shuffle sets the first; forward is the default. */
enum cuda_host_order { CUDA_HOST_FORWARD, CUDA_HOST_REVERSE, CUDA_HOST_SHUFFLE, CUDA_HOST_ORDERS };
extern "C" void cuda_host_set_order(int order);
extern "C" int cuda_host_order(void);
/* A host function in place of a kernel (the matmul): it may touch device memory; in a graph it is
 * kept with a copy of its `bytes` of arguments. */
int cuda_host_do(const char *name, void (*function)(const void *arguments), const void *arguments,
                 size_t bytes);

#endif
