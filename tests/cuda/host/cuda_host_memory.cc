/* cuda_host_memory.cc - device memory, copies and errors.
 *
 * An allocation lies between two pages that nobody may touch, its end as near to the second as an
 * alignment of 256 bytes lets it be; what is left of its own pages holds a pattern. Outside of
 * kernels and copies nobody may touch the allocation either, and a kernel opens what it touches, a
 * piece at a time. Under AddressSanitizer it comes from malloc, with its redzones, and is poisoned
 * instead. New memory holds NaNs. */
#include "cuda_host_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <vector>

#if CUDA_HOST_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum { PAGE = 4096, ALIGN = 256, PATTERN = 0xa5, PIECE = 16 * PAGE, DOUBLINGS = 10 };
static const size_t LIMIT = (size_t)16 << 30; /* of one allocation: a device has an end */

struct piece {
    size_t allocation;
    char *from;
    size_t bytes;
};
struct allocation {
    char *map; /* what lies between the two pages */
    size_t map_bytes;
    char *memory;
    size_t bytes;
    int faults; /* pieces that the kernel under way has opened */
};
static struct allocation *allocations;
static size_t allocation_count, allocation_room;
/* What is open, of which allocation. */
static std::vector<struct piece> opened;
static cudaError_t last_error;
static char last_text[1024];

/* ---- errors */

cudaError_t cuda_host_fail(cudaError_t error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_text, sizeof(last_text), format, args);
    va_end(args);
    return last_error = error;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : last_text;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaSuccess ? "cudaSuccess" : last_text;
}

/* ---- the device */

static int machine(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = machine("ORR_CUDA_HOST_DRIVER", 13000);
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    int driver, toolkit;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&toolkit);
    *count = machine("ORR_CUDA_HOST_DEVICES", 1);
    if (driver < toolkit)
        return cuda_host_fail(cudaErrorInsufficientDriver, "the driver is older than the toolkit");
    return *count > 0 ? cudaSuccess : cuda_host_fail(cudaErrorNoDevice, "no device");
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int room, int device)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || device < 0 || device >= count || room < 13)
        return cuda_host_fail(cudaErrorInvalidValue, "bus id of device %d", device);
    snprintf(id, (size_t)room, "0000:%02x:00.0", (unsigned)device + 1);
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return device >= 0 && device < machine("ORR_CUDA_HOST_DEVICES", 1)
               ? cudaSuccess
               : cuda_host_fail(cudaErrorInvalidValue, "no such device");
}

int cuda_host_capability(void)
{
    return machine("ORR_CUDA_HOST_CAPABILITY", 90);
}

/* Of a block, by compute capability (CUDA C++ Programming Guide, Technical Specifications). */
static int shared_most()
{
    const int capability = cuda_host_capability();
    return 1024 * (capability == 80 || capability == 87                        ? 163
                   : capability == 86 || capability == 89 || capability == 120 ? 99
                                                                               : 227);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrMultiProcessorCount            ? 4
             : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? shared_most()
             : attribute == cudaDevAttrComputeCapabilityMajor       ? cuda_host_capability() / 10
             : attribute == cudaDevAttrComputeCapabilityMinor       ? cuda_host_capability() % 10
                                                                    : 0;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = LIMIT;
    for (size_t i = 0; i < allocation_count; i++)
        *free_bytes -= allocations[i].bytes < *free_bytes ? allocations[i].bytes : *free_bytes;
    return cudaSuccess;
}

/* ---- memory */

/* The pages with `bytes` from `from` on; under AddressSanitizer the whole allocation. */
static void allow(const struct allocation *a, const char *from, size_t bytes, bool access)
{
#if CUDA_HOST_ASAN
    (void)from, (void)bytes;
    if (access)
        ASAN_UNPOISON_MEMORY_REGION(a->memory, a->bytes);
    else
        ASAN_POISON_MEMORY_REGION(a->memory, a->bytes);
#else
    const size_t first = (size_t)(from - a->map) / PAGE * PAGE;
    const size_t end = ((size_t)(from - a->map) + bytes + PAGE - 1) / PAGE * PAGE;
    if (mprotect(a->map + first, end - first, access ? PROT_READ | PROT_WRITE : PROT_NONE)) {
        perror("the emulation of a GPU: mprotect");
        abort();
    }
#endif
}

/* The allocation that has all the bytes, or NULL. */
static struct allocation *find(const void *memory, size_t bytes)
{
    const uintptr_t at = (uintptr_t)memory;
    for (size_t i = 0; i < allocation_count; i++) {
        const uintptr_t first = (uintptr_t)allocations[i].memory;
        if (at >= first && at - first <= allocations[i].bytes &&
            bytes <= allocations[i].bytes - (at - first))
            return &allocations[i];
    }
    return NULL;
}

static bool touches_device(const void *memory, size_t bytes)
{
    const uintptr_t at = (uintptr_t)memory;
    for (size_t i = 0; i < allocation_count; i++) {
        const uintptr_t first = (uintptr_t)allocations[i].map;
        if (at < first + allocations[i].map_bytes && first < at + bytes)
            return true;
    }
    return false;
}

void cuda_host_memory_open(void)
{
    for (size_t i = 0; i < allocation_count; i++) {
        allow(&allocations[i], allocations[i].map, allocations[i].map_bytes, true);
        opened.push_back({i, allocations[i].map, allocations[i].map_bytes});
    }
}

bool cuda_host_memory_touched(const void *address)
{
    for (size_t i = 0; i < allocation_count; i++) {
        struct allocation *a = &allocations[i];
        const size_t at = (uintptr_t)address - (uintptr_t)a->map;
        if ((uintptr_t)address < (uintptr_t)a->map || at >= a->map_bytes)
            continue;
        const size_t size = (size_t)PIECE << (a->faults < DOUBLINGS ? a->faults : DOUBLINGS);
        const size_t from = at / size * size;
        const size_t bytes = a->map_bytes - from < size ? a->map_bytes - from : size;
        for (const struct piece &p : opened) /* it is open: another fault */
            if (p.allocation == i && (const char *)address >= p.from &&
                (const char *)address < p.from + p.bytes)
                return false;
        a->faults++;
        allow(a, a->map + from, bytes, true);
        opened.push_back({i, a->map + from, bytes});
        return true;
    }
    return false;
}

static bool untouched(const char *from, const char *end)
{
    for (; from < end; from++)
        if (*(const unsigned char *)from != PATTERN)
            return false;
    return true;
}

/* Whether the pattern that [from, end) had was written to; makes it again. */
static bool spoilt(char *from, char *end)
{
    if (untouched(from, end))
        return false;
    memset(from, PATTERN, (size_t)(end - from));
    return true;
}

const char *cuda_host_memory_close(void)
{
    static char text[128];
    const char *where = NULL;
    for (const struct piece &p : opened) {
        struct allocation *a = &allocations[p.allocation];
        char *const end = a->map + a->map_bytes;
        const char *here = NULL;
        if (p.from + p.bytes == end && spoilt(a->memory + a->bytes, end))
            here = "past the end of";
        if (p.from == a->map && spoilt(a->map, a->memory))
            here = "before";
        if (here)
            snprintf(text, sizeof(text), "wrote %s an allocation of %zu bytes", here, a->bytes);
        where = here ? text : where;
        a->faults = 0;
    }
    for (const struct piece &p : opened) /* they may overlap */
        allow(&allocations[p.allocation], p.from, p.bytes, false);
    opened.clear();
    return where;
}

void cuda_host_memory_find(const void *address, const char **from, size_t *bytes)
{
    const struct allocation *a = find(address, 1);
    if (a) {
        *from = a->memory;
        *bytes = a->bytes;
    }
}

void cuda_host_memory_describe(const void *address, char *text, size_t size)
{
    const uintptr_t at = (uintptr_t)address;
    snprintf(text, size, "no device memory");
    for (size_t i = 0; i < allocation_count; i++) {
        const struct allocation *a = &allocations[i];
        const uintptr_t first = (uintptr_t)a->memory;
        if (at >= (uintptr_t)a->map - PAGE && at < first)
            snprintf(text, size, "%zu bytes before an allocation of %zu bytes", first - at,
                     a->bytes);
        else if (at >= first && at < (uintptr_t)a->map + a->map_bytes + PAGE)
            snprintf(text, size, "byte %zu of an allocation of %zu bytes", at - first, a->bytes);
    }
}

static bool map_memory(struct allocation *a, size_t bytes)
{
    a->bytes = bytes;
    a->faults = 0;
#if CUDA_HOST_ASAN
    void *memory;
    if (posix_memalign(&memory, ALIGN, bytes))
        return false;
    a->map = a->memory = (char *)memory;
    a->map_bytes = bytes;
#else
    const size_t aligned = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    a->map_bytes = (aligned + PAGE - 1) / PAGE * PAGE;
    char *map = (char *)mmap(NULL, a->map_bytes + 2 * PAGE, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == (char *)MAP_FAILED)
        return false;
    a->map = map + PAGE;
    a->memory = a->map + a->map_bytes - aligned;
    allow(a, a->map, a->map_bytes, true);
    memset(a->map, PATTERN, (size_t)(a->memory - a->map));
    memset(a->memory + bytes, PATTERN, aligned - bytes);
#endif
    memset(a->memory, 0xff, bytes);
    allow(a, a->map, a->map_bytes, false);
    return true;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    *memory = NULL;
    if (cuda_host_capturing())
        return cuda_host_fail(cudaErrorStreamCaptureUnsupported, "cudaMalloc during a capture");
    if (!bytes)
        return cudaSuccess;
    if (allocation_count == allocation_room) {
        const size_t room = 2 * allocation_room + 16;
        void *more = realloc(allocations, room * sizeof(*allocations));
        if (!more)
            return cuda_host_fail(cudaErrorMemoryAllocation, "out of memory");
        allocations = (struct allocation *)more;
        allocation_room = room;
    }
    if (bytes > LIMIT || !map_memory(&allocations[allocation_count], bytes))
        return cuda_host_fail(cudaErrorMemoryAllocation, "out of memory");
    *memory = allocations[allocation_count++].memory;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    if (!memory)
        return cudaSuccess;
    struct allocation *a = find(memory, 0);
    if (cuda_host_capturing() || !a || a->memory != memory)
        return cuda_host_fail(cudaErrorInvalidValue, "cudaFree of what cudaMalloc did not give");
    allow(a, a->map, a->map_bytes, true);
#if CUDA_HOST_ASAN
    free(a->memory);
#else
    munmap(a->map - PAGE, a->map_bytes + 2 * PAGE);
#endif
    *a = allocations[--allocation_count];
    if (!allocation_count) {
        free(allocations);
        allocations = NULL;
        allocation_room = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    *memory = malloc(bytes);
    return *memory ? cudaSuccess : cuda_host_fail(cudaErrorMemoryAllocation, "out of memory");
}

cudaError_t cudaFreeHost(void *memory)
{
    free(memory);
    return cudaSuccess;
}

/* ---- copies */

struct copy {
    void *to;
    const void *from; /* NULL: bytes of `value` */
    size_t bytes;
    int value;
};

static int do_copy(void *arguments)
{
    const struct copy *c = (const struct copy *)arguments;
    struct allocation *to = find(c->to, c->bytes), *from = c->from ? find(c->from, c->bytes) : NULL;
    if (to)
        allow(to, (const char *)c->to, c->bytes, true);
    if (from)
        allow(from, (const char *)c->from, c->bytes, true);
    if (c->from)
        memmove(c->to, c->from, c->bytes);
    else
        memset(c->to, c->value, c->bytes);
    if (to)
        allow(to, (const char *)c->to, c->bytes, false);
    if (from)
        allow(from, (const char *)c->from, c->bytes, false);
    return 0;
}

static void drop_copy(void *arguments)
{
    delete (struct copy *)arguments;
}

static cudaError_t do_or_keep(struct copy c, bool to_device, bool from_device, bool keep)
{
    if (!c.bytes)
        return cudaSuccess;
    if (to_device ? !find(c.to, c.bytes) : touches_device(c.to, c.bytes))
        return cuda_host_fail(cudaErrorInvalidValue, "a copy to %p of %zu bytes: that is %s", c.to,
                              c.bytes, to_device ? "no device memory" : "device memory");
    if (c.from && (from_device ? !find(c.from, c.bytes) : touches_device(c.from, c.bytes)))
        return cuda_host_fail(cudaErrorInvalidValue, "a copy from %p of %zu bytes: that is %s",
                              c.from, c.bytes, from_device ? "no device memory" : "device memory");
    if (!cuda_host_capturing()) {
        do_copy(&c);
        return cudaSuccess;
    }
    if (!keep) {
        cuda_host_spoil_capture();
        return cuda_host_fail(cudaErrorStreamCaptureUnsupported, "a copy that waits in a capture");
    }
    struct copy *kept = new struct copy(c);
    cuda_host_keep(do_copy, drop_copy, kept);
    return cudaSuccess;
}

static cudaError_t copy_kind(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                             bool keep)
{
    const bool to_device = kind == cudaMemcpyDefault
                               ? touches_device(to, bytes)
                               : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDefault ? touches_device(from, bytes)
                                                       : kind == cudaMemcpyDeviceToHost ||
                                                             kind == cudaMemcpyDeviceToDevice;
    return do_or_keep({to, from, bytes, 0}, to_device, from_device, keep);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_kind(to, from, bytes, kind, false);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t)
{
    return copy_kind(to, from, bytes, kind, true);
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    return do_or_keep({memory, NULL, bytes, value}, true, false, false);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t)
{
    return do_or_keep({memory, NULL, bytes, value}, true, false, true);
}

/* ---- attributes of kernels */

static struct {
    const void *kernel;
    size_t bytes;
} limits[256];

size_t cuda_host_shared_limit(const void *kernel)
{
    for (int i = 0; i < 256 && limits[i].kernel; i++)
        if (limits[i].kernel == kernel)
            return limits[i].bytes;
    return 48 * 1024;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute, int value)
{
    if (value < 0 || value > shared_most())
        return cuda_host_fail(cudaErrorInvalidValue, "%d bytes of shared memory", value);
    int i = 0;
    while (i < 255 && limits[i].kernel && limits[i].kernel != kernel)
        i++;
    limits[i].kernel = kernel;
    limits[i].bytes = (size_t)value;
    return cudaSuccess;
}

/* For what stands in for other libraries of CUDA. */
extern "C" int cuda_host_copy(void *to, const void *from, size_t bytes, int to_device);
int cuda_host_copy(void *to, const void *from, size_t bytes, int to_device)
{
    return cudaMemcpy(to, from, bytes,
                      to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost) != cudaSuccess;
}
