/* context.cu - the table of the CUDA backend, its device, its stream, and its memory.
 *
 * One stream does all the work in the order of the calls; the host waits for it only in download
 * and wait. */
#include <string.h>

#include "cuda.h"
#include "matmul.h"

enum { UPLOAD_BYTES = 4 << 20, UPLOADS = 2, RETIRED = 64, BLOCKS_PER_SM = 8 };

static struct {
    bool open;
    int device;
    enum k_precision precision;
    int processors; /* streaming multiprocessors */
    int shared;     /* most bytes of shared memory per block */
    int capability; /* 10 major + minor */
    cudaStream_t stream;
    struct {
        void *memory;
        size_t bytes;
    } slot[K_CUDA_SLOTS];
    /* old scratch memory whose address a recording still uses */
    void *retired[RETIRED];
    int retired_count;
    /* pinned buffers for uploads: the copy is asynchronous, and the caller may reuse its memory
     * at once */
    struct {
        void *memory;
        cudaEvent_t done;
    } upload[UPLOADS];
    int next_upload;
} cuda;

/* ---- errors and launch configuration */

cudaStream_t k_cuda_stream(void)
{
    return cuda.stream;
}

int k_cuda_check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return 0;
    const int code = status == cudaErrorMemoryAllocation ? ORR_ENOMEM : ORR_EDEVICE;
    /* clears the error, so that the next launch does not report it again */
    (void)cudaGetLastError();
    return ORR_FAIL(code, "cuda: %s: %s", what, cudaGetErrorString(status));
}

int k_cuda_launched(const char *kernel)
{
    return k_cuda_check(cudaGetLastError(), kernel);
}

int k_cuda_blocks(size_t n, int block)
{
    const size_t wanted = (n + (size_t)block - 1) / (size_t)block;
    const size_t fill = (size_t)(cuda.processors ? cuda.processors : 1) * BLOCKS_PER_SM *
                        (block >= 256 ? 1 : (size_t)(256 / block));
    return (int)(wanted < 1 ? 1 : wanted < fill ? wanted : fill);
}

size_t k_cuda_shared_most(void)
{
    return (size_t)cuda.shared;
}

int k_cuda_capability(void)
{
    return cuda.capability;
}

int k_cuda_device(void)
{
    return cuda.device;
}

enum k_precision k_cuda_precision(void)
{
    return cuda.precision;
}

/* ---- scratch */

int k_cuda_scratch(enum k_cuda_slot slot, size_t bytes, void **memory)
{
    if (bytes > cuda.slot[slot].bytes) {
        if (k_cuda_recording())
            return ORR_FAIL(ORR_EINVAL,
                            "cuda: scratch memory %d grows to %zu bytes while recording", (int)slot,
                            bytes);
        void *larger;
        TRY(k_cuda_check(cudaMalloc(&larger, bytes), "scratch memory"));
        void *old = cuda.slot[slot].memory;
        if (old && k_cuda_recordings() && cuda.retired_count == RETIRED) {
            cudaFree(larger);
            return ORR_FAIL(ORR_ENOMEM, "cuda: scratch memory grew too often beside recordings");
        }
        if (old && k_cuda_recordings())
            cuda.retired[cuda.retired_count++] = old;
        else
            cudaFree(old); /* waits for the device */
        cuda.slot[slot].memory = larger;
        cuda.slot[slot].bytes = bytes;
    }
    *memory = cuda.slot[slot].memory;
    return 0;
}

void k_cuda_free_retired(void)
{
    while (cuda.retired_count)
        cudaFree(cuda.retired[--cuda.retired_count]);
}

/* ---- memory */

static int cuda_zero(void *memory, size_t bytes)
{
    return bytes ? k_cuda_check(cudaMemsetAsync(memory, 0, bytes, cuda.stream), "zero") : 0;
}

static int cuda_alloc(void **memory, size_t bytes)
{
    *memory = NULL;
    const cudaError_t status = cudaMalloc(memory, bytes ? bytes : 1);
    if (status == cudaErrorMemoryAllocation) {
        size_t left = 0, all = 0;
        (void)cudaGetLastError();
        cudaMemGetInfo(&left, &all);
        return ORR_FAIL(ORR_ENOMEM, "the GPU has no memory for %.1f MiB: %.1f of %.1f MiB are free",
                        (double)bytes / 0x1p20, (double)left / 0x1p20, (double)all / 0x1p20);
    }
    int rc = k_cuda_check(status, "alloc");
    if (!rc)
        rc = cuda_zero(*memory, bytes);
    if (rc) {
        cudaFree(*memory);
        *memory = NULL;
    }
    return rc;
}

static void cuda_release(void *memory)
{
    cudaFree(memory);
}

static int cuda_copy(void *to, const void *from, size_t bytes)
{
    return bytes ? k_cuda_check(
                       cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda.stream),
                       "copy")
                 : 0;
}

static int cuda_upload(void *to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t piece = bytes - at < UPLOAD_BYTES ? bytes - at : (size_t)UPLOAD_BYTES;
        const int i = cuda.next_upload;
        int rc = k_cuda_check(cudaEventSynchronize(cuda.upload[i].done), "upload");
        if (rc)
            return rc;
        memcpy(cuda.upload[i].memory, (const char *)from + at, piece);
        rc = k_cuda_check(cudaMemcpyAsync((char *)to + at, cuda.upload[i].memory, piece,
                                          cudaMemcpyHostToDevice, cuda.stream),
                          "upload");
        if (!rc)
            rc = k_cuda_check(cudaEventRecord(cuda.upload[i].done, cuda.stream), "upload");
        if (rc)
            return rc;
        cuda.next_upload = (i + 1) % UPLOADS;
        at += piece;
    }
    return 0;
}

static int cuda_download(void *to, const void *from, size_t bytes)
{
    if (bytes) {
        TRY(k_cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, cuda.stream),
                         "download"));
    }
    return k_cuda_check(cudaStreamSynchronize(cuda.stream), "download");
}

/* ---- the device */

static void cuda_close(void)
{
    if (!cuda.open)
        return;
    cudaStreamSynchronize(cuda.stream);
    k_cuda_matmul_close();
    k_cuda_results_close();
    k_cuda_free_retired();
    for (int i = 0; i < K_CUDA_SLOTS; i++)
        cudaFree(cuda.slot[i].memory);
    for (int i = 0; i < UPLOADS; i++) {
        if (cuda.upload[i].done)
            cudaEventDestroy(cuda.upload[i].done);
        cudaFreeHost(cuda.upload[i].memory);
    }
    if (cuda.stream)
        cudaStreamDestroy(cuda.stream);
    const int device = cuda.device;
    memset(&cuda, 0, sizeof(cuda));
    cuda.device = device;
}

static int open_uploads(void)
{
    int rc = 0;
    for (int i = 0; !rc && i < UPLOADS; i++) {
        rc = k_cuda_check(cudaMallocHost(&cuda.upload[i].memory, UPLOAD_BYTES), "pinned memory");
        if (!rc)
            rc = k_cuda_check(
                cudaEventCreateWithFlags(&cuda.upload[i].done, cudaEventDisableTiming), "event");
    }
    return rc;
}

static void cuda_choose(int device)
{
    cuda.device = device;
}

/* The oldest driver that supports a version of CUDA (Release Notes, table "CUDA Toolkit and
 * Minimum Required Driver Version for CUDA Minor Version Compatibility"). */
static int first_driver(int major)
{
    return major >= 13 ? 580 : major == 12 ? 525 : 450;
}

/* Checks that a driver is installed and not older than the toolkit of this build. Versions are
 * 1000 major + 10 minor; a driver runs programs built for an older minor version or for the same
 * major version. */
static int check_driver(void)
{
    int driver = 0, toolkit = 0;
    if (cudaRuntimeGetVersion(&toolkit) != cudaSuccess ||
        cudaDriverGetVersion(&driver) != cudaSuccess)
        (void)cudaGetLastError();
    const int needed = first_driver(toolkit / 1000);
    if (driver == 0)
        return ORR_FAIL(ORR_EDEVICE,
                        "no NVIDIA driver was found (libcuda.so.1): %d or later is needed", needed);
    if (driver / 1000 < toolkit / 1000)
        return ORR_FAIL(
            ORR_EDEVICE,
            "the NVIDIA driver is too old: it is for CUDA %d.%d, and this build is of CUDA "
            "%d.%d: a driver of version %d or later, or a build with nvcc of CUDA %d",
            driver / 1000, driver % 1000 / 10, toolkit / 1000, toolkit % 1000 / 10, needed,
            driver / 1000);
    return 0;
}

/* Checks that the chosen device exists and that kernels were compiled for its compute
 * capability, which is stored in *capability. */
static int check_device(int *capability)
{
    int count = 0, major = 0, minor = 0;
    const cudaError_t found = cudaGetDeviceCount(&count);
    if (found != cudaSuccess || count < 1) {
        (void)cudaGetLastError();
        return ORR_FAIL(ORR_EDEVICE, "no NVIDIA GPU was found: %s",
                        found != cudaSuccess ? cudaGetErrorString(found) : "no device");
    }
    if (cuda.device >= count)
        return ORR_FAIL(ORR_EDEVICE, "no GPU %d: GPUs here are 0 to %d", cuda.device, count - 1);
    int rc =
        k_cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, cuda.device),
                     "compute capability");
    if (!rc)
        rc = k_cuda_check(
            cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, cuda.device),
            "compute capability");
    if (!rc && major < 8)
        rc = ORR_FAIL(
            ORR_EDEVICE,
            "GPU %d is too old: it has compute capability %d.%d, and 8.0 (A100, RTX 30) or "
            "later is needed",
            cuda.device, major, minor);
    *capability = 10 * major + minor;
    return rc;
}

static int cuda_open(int threads, enum k_precision precision)
{
    (void)threads;
    int capability = 0, rc = check_driver();
    if (!rc)
        rc = check_device(&capability);
    if (rc)
        return rc;
    cuda_close();
    cuda.open = true;
    cuda.capability = capability;
    cuda.precision = precision;
    rc = k_cuda_check(cudaSetDevice(cuda.device), "taking the GPU");
    if (!rc)
        rc = k_cuda_check(
            cudaDeviceGetAttribute(&cuda.processors, cudaDevAttrMultiProcessorCount, cuda.device),
            "multiprocessors");
    if (!rc)
        rc = k_cuda_check(cudaDeviceGetAttribute(
                              &cuda.shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda.device),
                          "shared memory of a block");
    if (!rc)
        rc = k_cuda_check(cudaStreamCreateWithFlags(&cuda.stream, cudaStreamNonBlocking), "stream");
    if (!rc)
        rc = open_uploads();
    if (!rc)
        rc = k_cuda_results_open();
    if (rc)
        cuda_close();
    return rc;
}

/* ---- the table */

static struct k_ops table(void)
{
    struct k_ops t;
    memset(&t, 0, sizeof(t));
    t.name = "cuda";
    t.open = cuda_open;
    t.close = cuda_close;
    t.choose = cuda_choose;
    t.peak = k_cuda_matmul_peak;
    t.host = false;
    t.alloc = cuda_alloc;
    t.release = cuda_release;
    t.zero = cuda_zero;
    t.copy = cuda_copy;
    t.upload = cuda_upload;
    t.download = cuda_download;
    k_cuda_install_record(&t);
    k_cuda_install_round(&t);
    k_cuda_install_linear(&t);
    k_cuda_install_elements(&t);
    k_cuda_install_rows(&t);
    k_cuda_install_embed(&t);
    k_cuda_install_attention(&t);
    k_cuda_install_loss(&t);
    k_cuda_install_update(&t);
    k_cuda_install_muon(&t);
    k_cuda_install_collectives(&t);
    return t;
}

/* The symbols that k_find loads from the library. */
extern "C" const struct k_ops k_cuda;
extern "C" int k_cuda_available(void);
const struct k_ops k_cuda = table();

/* Whether there is a GPU; for --device auto. */
int k_cuda_available(void)
{
    int count = 0;
    const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    (void)cudaGetLastError();
    return found;
}
