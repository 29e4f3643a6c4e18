/* ptx_spaces.h - the state spaces: every access is checked for its bounds and its alignment, and
 * ends the launch with the kernel, the instruction and the address named. */
#ifndef PTX_SPACES_H
#define PTX_SPACES_H

struct ptx_range {
    const char *from;
    size_t bytes;
};
/* Variables of the module in global memory; the last has no bytes. */
extern const struct ptx_range ptx_globals[];

[[noreturn]] static void ptx_trap(const char *site, const char *format, ...)
{
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cuda_host_stop("%s: %s", site, text);
}

static inline void ptx_aligned(uint64_t address, size_t bytes, const char *site)
{
    if (__builtin_expect(address % bytes != 0, 0))
        ptx_trap(site, "address 0x%llx is not a multiple of %zu", (unsigned long long)address,
                 bytes);
}

static inline bool ptx_inside(const struct ptx_range &r, uint64_t address, size_t bytes)
{
    return address - (uint64_t)(uintptr_t)r.from < r.bytes &&
           r.bytes - (address - (uint64_t)(uintptr_t)r.from) >= bytes;
}

/* Parameters, or the thread's own memory. */
static inline char *ptx_within(const struct ptx_range &r, uint64_t address, size_t bytes,
                               const char *site)
{
    ptx_aligned(address, bytes, site);
    if (!ptx_inside(r, address, bytes))
        ptx_trap(site, "address 0x%llx: byte %lld of %zu", (unsigned long long)address,
                 (long long)(address - (uint64_t)(uintptr_t)r.from), r.bytes);
    return (char *)(uintptr_t)address;
}

/* ---- shared memory: addresses count from its start */

static inline char *ptx_shared(uint32_t address, size_t bytes, const char *site)
{
    const size_t all = cuda_host_ptx_shared_bytes();
    ptx_aligned(address, bytes, site);
    if (__builtin_expect(address > all || all - address < bytes, 0))
        ptx_trap(site, "address 0x%x: shared memory has %zu bytes", address, all);
    return (char *)k_cuda_host_shared() + address;
}

static inline uint64_t ptx_from_shared(uint64_t address)
{
    return (uint64_t)(uintptr_t)k_cuda_host_shared() + address;
}

static inline uint64_t ptx_to_shared(uint64_t address)
{
    return address - (uint64_t)(uintptr_t)k_cuda_host_shared();
}

/* ---- global memory: allocations, of which the last used ones are kept at hand for a launch */

static char *ptx_global_found(uint64_t address, size_t bytes, const char *site);

enum { PTX_AT_HAND = 4 };
static struct {
    unsigned launch;
    unsigned next;
    struct ptx_range range[PTX_AT_HAND];
} ptx_at_hand;

static inline char *ptx_global(uint64_t address, size_t bytes, const char *site)
{
    ptx_aligned(address, bytes, site);
    if (__builtin_expect(ptx_at_hand.launch == cuda_host_ptx_launches, 1))
        for (const struct ptx_range &r : ptx_at_hand.range)
            if (ptx_inside(r, address, bytes))
                return (char *)(uintptr_t)address;
    return ptx_global_found(address, bytes, site);
}

__attribute__((noinline)) static char *ptx_global_found(uint64_t address, size_t bytes,
                                                        const char *site)
{
    struct ptx_range r = {NULL, 0};
    if (ptx_at_hand.launch != cuda_host_ptx_launches)
        memset(&ptx_at_hand, 0, sizeof(ptx_at_hand));
    ptx_at_hand.launch = cuda_host_ptx_launches;
    for (const struct ptx_range *g = ptx_globals; g->bytes; g++)
        if (ptx_inside(*g, address, bytes))
            r = *g;
    if (!r.bytes)
        cuda_host_memory_find((const void *)(uintptr_t)address, &r.from, &r.bytes);
    if (!ptx_inside(r, address, bytes)) {
        char where[192];
        cuda_host_memory_describe((const void *)(uintptr_t)address, where, sizeof(where));
        ptx_trap(site, "%zu bytes at 0x%llx: %s", bytes, (unsigned long long)address, where);
    }
    ptx_at_hand.range[ptx_at_hand.next++ % PTX_AT_HAND] = r;
    return (char *)(uintptr_t)address;
}

static inline char *ptx_generic(const struct ptx_range &local, uint64_t address, size_t bytes,
                                const char *site)
{
    const struct ptx_range shared = {(const char *)k_cuda_host_shared(),
                                     cuda_host_ptx_shared_bytes()};
    if (address - (uint64_t)(uintptr_t)shared.from < shared.bytes)
        return ptx_within(shared, address, bytes, site);
    if (address - (uint64_t)(uintptr_t)local.from < local.bytes)
        return ptx_within(local, address, bytes, site);
    return ptx_global(address, bytes, site);
}

/* A map of a tensor, in a parameter or in global memory. */
static inline const CUtensorMap *ptx_tensor_map(const struct ptx_range &parameters,
                                                uint64_t address, const char *site)
{
    ptx_aligned(address, 64, site);
    if (!ptx_inside(parameters, address, sizeof(CUtensorMap))) {
        ptx_global(address, 64, site);
        ptx_global(address + 64, 64, site);
    }
    return (const CUtensorMap *)(uintptr_t)address;
}

/* ---- what is there */

template <typename T> static inline T ptx_get(const char *at)
{
    T x;
    memcpy(&x, at, sizeof(T));
    return x;
}

template <typename T> static inline void ptx_set(char *at, T x)
{
    memcpy(at, &x, sizeof(T));
}

#define PTX_ATOMIC(name, expression)                                                               \
    template <typename T> static inline T ptx_atomic_##name(char *at, T x)                         \
    {                                                                                              \
        const T old = ptx_get<T>(at);                                                              \
        ptx_set<T>(at, (T)(expression));                                                           \
        return old;                                                                                \
    }
PTX_ATOMIC(add, old + x)
PTX_ATOMIC(min, x < old ? x : old)
PTX_ATOMIC(max, x > old ? x : old)
PTX_ATOMIC(and, old &x)
PTX_ATOMIC(or, old | x)
PTX_ATOMIC(xor, old ^ x)
PTX_ATOMIC(exch, x)
PTX_ATOMIC(inc, old >= x ? 0 : old + 1)
PTX_ATOMIC(dec, old == 0 || old > x ? x : old - 1)
#undef PTX_ATOMIC
template <typename T> static inline T ptx_atomic_cas(char *at, T expected, T x)
{
    const T old = ptx_get<T>(at);
    if (old == expected)
        ptx_set<T>(at, x);
    return old;
}

/* After a store that may be one to shared memory. */
static inline void ptx_wrote(const char *at, size_t bytes)
{
    const size_t place = (size_t)(at - (const char *)k_cuda_host_shared());
    if (place < cuda_host_ptx_shared_bytes())
        cuda_host_shared_written((unsigned)place, (unsigned)bytes);
}

/* cp.async: of `bytes` bytes, with zeros behind them. The emulation spoils the destination, and
 * delivers when the thread waits for the group. */
static inline void ptx_copy_async(char *to, uint64_t from, uint32_t bytes, const char *site)
{
    ptx_aligned(from, 16, site);
    if (bytes > 16)
        ptx_trap(site, "a copy of %u bytes out of 16", bytes);
    if (bytes)
        ptx_global(from & ~(uint64_t)15, 16, site);
    cuda_host_copy_async(to, (const void *)(uintptr_t)from, (int)bytes);
}

#endif
